// SPDX-License-Identifier: MIT
// Forks while another thread makes the process's first call: the child can call the driver. Forks
// of signal handlers inside calls: the child can end.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../harness.h"

enum { ROUNDS = 100, STEP_NS = 20000, PATIENCE_S = 30 };

static void *start(void *nothing)
{
    (void)nothing;
    (void)cuInit(0);
    return NULL;
}

static void pass_time(long ns)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}

// In a process that has made no call. Returns whether the child ended by itself.
static bool child_ends(long delay_ns)
{
    pthread_t thread;
    int status;
    if (pthread_create(&thread, NULL, start, NULL))
        return false;
    pass_time(delay_ns);
    const pid_t child = fork();
    if (!child) {
        alarm(PATIENCE_S);
        const CUresult r = cuInit(0);
        // The driver does not work in the child of a process that has started it.
        _exit(r && r != CUDA_ERROR_NOT_INITIALIZED);
    }
    const bool ended = waitpid(child, &status, 0) == child && status == 0;
    pthread_join(thread, NULL);
    return ended;
}

static void fork_in_each_moment(void)
{
#if SANITIZED && !THREAD_SANITIZER
    SKIP("a thread that is gone in the child may hold a lock of AddressSanitizer's allocator");
#endif
    for (int i = 0; i < ROUNDS; i++) {
        int status;
        const pid_t process = fork();
        if (!process)
            _exit(!child_ends(i * (long)STEP_NS));
        EXPECT_EQ(waitpid(process, &status, 0), process);
        EXPECT_EQ(status, 0);
    }
}

TEST(while_the_driver_starts)
{
    fork_in_each_moment();
}

TEST(while_the_recording_starts)
{
    char folder[] = "/tmp/cardless-test-XXXXXX", path[64], remove[96];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/run.cardless", folder);
    test_setting("CARDLESS_RECORD", path);
    fork_in_each_moment();
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    EXPECT_EQ(system(remove), 0);
}

static void fork_and_wait(int signal)
{
    (void)signal;
    const pid_t child = fork();
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
}

// Makes calls, the first one included, while signals come.
static void call_between_signals(void)
{
    enum { CALLS = 20000 };
    const struct sigaction action = {.sa_handler = fork_and_wait, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 400}, {0, 100}}, never = {{0, 0}, {0, 0}};
    CUcontext context;
    CUdeviceptr memory;
    alarm(PATIENCE_S);
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    for (int i = 0; i < CALLS && !test_failures; i++) {
        EXPECT_OK(cuMemAlloc(&memory, 4096));
        EXPECT_OK(cuMemFree(memory));
    }
    setitimer(ITIMER_VIRTUAL, &never, NULL);
}

TEST(in_signal_handlers)
{
    for (int i = 0; i < 3; i++) {
        int status;
        const pid_t process = fork();
        if (!process) {
            call_between_signals();
            _exit(test_failures != 0);
        }
        EXPECT_EQ(waitpid(process, &status, 0), process);
        EXPECT_EQ(status, 0);
    }
}

TESTS(CASE(in_signal_handlers), CASE(while_the_driver_starts), CASE(while_the_recording_starts))
