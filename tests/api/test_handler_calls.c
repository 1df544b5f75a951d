// SPDX-License-Identifier: MIT
// Calls of signal handlers. They work between calls; one that interrupts a call which holds a lock,
// waits or runs a command fails with a sentence, because it might never return.
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../harness.h"

enum { SECONDS = 30 };

static CUcontext context;
static CUdeviceptr memory;
static CUstream stream;
static volatile sig_atomic_t succeeded, refused, others, rounds;

static void count(CUresult r)
{
    if (r == CUDA_SUCCESS)
        succeeded++;
    else if (r == CUDA_ERROR_NOT_PERMITTED)
        refused++;
    else
        others++;
}

// Calls that allocate nothing, because the signal may have interrupted malloc.
static void make_calls(int signal)
{
    (void)signal;
    CUcontext current = NULL;
    size_t free_B, total_B;
    unsigned kind;
    const char *name;
    count(cuCtxGetCurrent(&current));
    count(cuMemGetInfo(&free_B, &total_B));
    count(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    count(cuStreamQuery(stream));
    count(cuGetErrorName(CUDA_SUCCESS, &name));
    rounds++;
}

static void handle(int signal, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    EXPECT_EQ(sigaction(signal, &action, NULL), 0);
}

static void start(void)
{
    context = test_context();
    MUST(cuMemAlloc(&memory, 1 << 20));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

TEST(between_calls)
{
    start();
    handle(SIGUSR1, make_calls);
    raise(SIGUSR1);
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(succeeded, 5);
}

// ---- while a call holds a lock ----

// The harness uses the timer of SIGALRM.
static void set_timer(long us)
{
    static timer_t timer;
    static bool made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct timespec every = {0, 1000 * us};
    if (!made)
        EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    made = true;
    EXPECT_EQ(timer_settime(timer, 0, &(struct itimerspec){every, every}, NULL), 0);
}

static void allocate(void)
{
    CUdeviceptr p;
    EXPECT_OK(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuMemFree(p));
}

static void make_streams(void)
{
    CUstream s;
    EXPECT_OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    EXPECT_OK(cuStreamDestroy(s));
}

static void fail(void)
{
    EXPECT_EQ(cuMemFree(memory + 1), CUDA_ERROR_INVALID_VALUE);
}

static void copy(void)
{
    static const char bytes[4096] = "a pattern";
    EXPECT_OK(cuMemcpyHtoD(memory, bytes, sizeof bytes));
}

// Repeats `work` until a call of the handler was refused.
static void interrupt(void (*work)(void))
{
    start();
    handle(SIGUSR2, make_calls);
    set_timer(100);
    const time_t end = time(NULL) + SECONDS;
    while (!refused && time(NULL) < end)
        for (int i = 0; i < 100; i++)
            work();
    set_timer(0);
    EXPECT(refused > 0);
    EXPECT_EQ(others, 0);
    EXPECT_EQ(succeeded + refused, 5 * rounds);
    // Nothing has changed.
    const int before = refused;
    make_calls(SIGUSR2);
    EXPECT_EQ(refused, before);
    allocate();
    copy();
    char text[16] = "";
    EXPECT_OK(cuMemcpyDtoH(text, memory, sizeof text));
    EXPECT_STR(text, "a pattern");
}

TEST(allocation_interrupted)
{
    interrupt(allocate);
}

TEST(stream_interrupted)
{
    interrupt(make_streams);
}

TEST(error_interrupted)
{
    interrupt(fail);
}

TEST(copy_interrupted)
{
    interrupt(copy);
}

// ---- while a call waits ----

static uint32_t *word;

static void end_wait(int signal)
{
    (void)signal;
    CUcontext current = NULL;
    size_t free_B, total_B;
    count(cuCtxGetCurrent(&current));
    count(cuMemGetInfo(&free_B, &total_B));
    count(cuStreamQuery(stream));
    rounds++;
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
}

static void *send_signal(void *thread)
{
    usleep(100000); // the other thread begins to wait meanwhile
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

TEST(while_waiting)
{
    pthread_t self = pthread_self(), sender;
    CUdeviceptr address;
    start();
    MUST(cuMemAllocHost((void **)&word, sizeof *word));
    *word = 0;
    MUST(cuMemHostGetDevicePointer(&address, word, 0));
    handle(SIGUSR1, end_wait);
    EXPECT_OK(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_EQ(pthread_create(&sender, NULL, send_signal, &self), 0);
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(pthread_join(sender, NULL), 0);
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(succeeded + refused, 3);
    EXPECT(refused > 0);
    EXPECT_EQ(others, 0);
}

// ---- while the thread runs a command ----

static void wait_for_all(int signal)
{
    (void)signal;
    unsigned value = 0;
    count(cuCtxSynchronize());
    count(cuStreamSynchronize(NULL));
    count(cuMemcpyDtoH(&value, memory, sizeof value));
    count(cuMemcpyHtoD(memory, &value, sizeof value));
    count(cuMemsetD32(memory, value, 1));
    rounds++;
}

// Either another thread copies, and the handler waits for it, or this one does, and it must not.
TEST(wait_inside_a_copy)
{
    enum { COPY_B = 64 << 20 };
    start();
    char *bytes = calloc(1, COPY_B);
    CUdeviceptr large;
    MUST(cuMemAlloc(&large, COPY_B));
    handle(SIGUSR2, wait_for_all);
    set_timer(2000);
    for (int i = 0; i < 10; i++) {
        EXPECT_OK(cuMemcpyHtoDAsync(large, bytes, COPY_B, stream));
        EXPECT_OK(cuStreamSynchronize(stream));
        EXPECT_OK(cuMemcpyDtoH(bytes, large, COPY_B));
    }
    set_timer(0);
    EXPECT_EQ(others, 0);
    EXPECT_EQ(succeeded + refused, 5 * rounds);
    EXPECT_OK(cuCtxSynchronize());
    free(bytes);
}

TESTS(CASE(between_calls), CASE(allocation_interrupted), CASE(stream_interrupted),
      CASE(error_interrupted), CASE(copy_interrupted), CASE(while_waiting),
      CASE(wait_inside_a_copy))
