// SPDX-License-Identifier: MIT
// A fork while another thread makes the process's first call: the child can call the driver.
#include <pthread.h>
#include <stdlib.h>
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

TESTS(CASE(while_the_driver_starts), CASE(while_the_recording_starts))
