// SPDX-License-Identifier: MIT
// Faults of kernels with all the ways in which a program can use their signals: kernels that run in
// the driver's own threads, threads that block signals, and handlers installed after the table was
// loaded.
#include <cardless.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "../harness.h"
#include "kernels.h"

static CUdeviceptr memory;
static CUstream stream;
static CUmodule module;
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static void start(void)
{
    test_context();
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
    MUST(cuMemAlloc(&memory, 1 << 16));
    MUST(cuMemsetD8(memory, 0, 1 << 16));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUresult launch(int kernel)
{
    CUfunction f;
    void *arguments[] = {&memory};
    MUST(cuModuleGetFunction(&f, module, kernels_table.kernels[kernel].name));
    return cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL);
}

static void expect_fault(int kernel, CUresult code)
{
    EXPECT_OK(launch(kernel));
    EXPECT_ERROR(cuStreamSynchronize(stream), code);
}

// A division by zero is a fault on x86-64 only.
#if defined(__x86_64__)
enum { DIVIDES = 1 };
#else
enum { DIVIDES = 0 };
#endif

// ---- threads of the driver ----

static void wait_for_pipe(void *pipe)
{
    char byte;
    EXPECT_EQ(read(*(int *)pipe, &byte, 1), 1);
}

// The host function ends in a thread of the driver, which then runs the kernel.
static void fail_after_host_function(int kernel, CUresult code)
{
    int ends[2];
    start();
    EXPECT(!pipe(ends));
    EXPECT_OK(cuLaunchHostFunc(stream, wait_for_pipe, &ends[0]));
    EXPECT_OK(launch(kernel));
    EXPECT_EQ(write(ends[1], "", 1), 1);
    EXPECT_ERROR(cuStreamSynchronize(stream), code);
    EXPECT_ERROR(cuMemsetD8(memory, 0, 4), code);
}

TEST(trap_in_own_thread)
{
    fail_after_host_function(KERNEL_BUILTIN_TRAP, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(division_in_own_thread)
{
    if (!DIVIDES)
        SKIP("the processor does not report divisions by zero");
    fail_after_host_function(KERNEL_DIVIDE, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(bad_address_in_own_thread)
{
    fail_after_host_function(KERNEL_BAD_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
}

// ---- threads that block signals ----

static void block_all(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

// The thread blocks signals only after a launch, and immediately before the next one.
static void fail_blocked(int kernel, CUresult code)
{
    sigset_t after;
    start();
    for (int i = 0; i < 100; i++)
        EXPECT_OK(launch(KERNEL_INDICES));
    block_all(NULL);
    expect_fault(kernel, code);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        EXPECT(sigismember(&after, signals[i]));
}

TEST(trap_while_blocked)
{
    fail_blocked(KERNEL_BUILTIN_TRAP, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(division_while_blocked)
{
    if (!DIVIDES)
        SKIP("the processor does not report divisions by zero");
    fail_blocked(KERNEL_DIVIDE, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(bad_address_while_blocked)
{
    fail_blocked(KERNEL_BAD_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Each lane has its own guarded call.
TEST(fiber_while_blocked)
{
    fail_blocked(KERNEL_BAD_AFTER_BARRIER, CUDA_ERROR_ILLEGAL_ADDRESS);
}

// A launch leaves the mask of its thread as it was.
TEST(masks_stay)
{
    sigset_t before, after;
    start();
    for (int i = 0; i < 4; i++) {
        if (i % 2)
            block_all(&before);
        EXPECT_OK(launch(KERNEL_INDICES));
        EXPECT_OK(cuStreamSynchronize(stream));
        pthread_sigmask(SIG_SETMASK, NULL, &after);
        EXPECT_EQ(sigismember(&after, SIGSEGV), i % 2);
        EXPECT_EQ(sigismember(&after, SIGUSR1), i % 2);
        if (i % 2)
            pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

// ---- handlers of the program ----

static sigjmp_buf back;
static volatile int handled;

static void handle(int sig)
{
    handled = sig;
    siglongjmp(back, 1);
}

static volatile unsigned *volatile nowhere = (volatile unsigned *)16;

static void expect_own_fault_handled(void)
{
    handled = 0;
    if (!sigsetjmp(back, 1))
        *nowhere = 1;
    EXPECT_EQ(handled, SIGSEGV);
}

// As test frameworks do around each test, after the kernels were loaded and used.
static void fail_with_handlers(int kernel, CUresult code)
{
    if (SANITIZED)
        SKIP("a sanitizer has its own handlers");
    start();
    for (int i = 0; i < 100; i++)
        EXPECT_OK(launch(KERNEL_INDICES));
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], handle);
    expect_fault(kernel, code);
    EXPECT_EQ(handled, 0);
    expect_own_fault_handled();
}

TEST(trap_with_handlers)
{
    fail_with_handlers(KERNEL_BUILTIN_TRAP, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(division_with_handlers)
{
    if (!DIVIDES)
        SKIP("the processor does not report divisions by zero");
    fail_with_handlers(KERNEL_DIVIDE, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(bad_address_with_handlers)
{
    fail_with_handlers(KERNEL_BAD_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(trap_in_own_thread), CASE(division_in_own_thread), CASE(bad_address_in_own_thread),
      CASE(trap_while_blocked), CASE(division_while_blocked), CASE(bad_address_while_blocked),
      CASE(fiber_while_blocked), CASE(masks_stay), CASE(trap_with_handlers),
      CASE(division_with_handlers), CASE(bad_address_with_handlers))
