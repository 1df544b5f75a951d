// SPDX-License-Identifier: MIT
// Functions of the program that would end a thread: kernels, host functions and destructors that
// call pthread_exit, and kernels whose stack is full. Threads that kernels start.
#include "../harness.h"

#include <cardless.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include "kernels.h"

static CUcontext context;
static CUdeviceptr memory;
static CUmodule module;

static CUfunction start(int kernel)
{
    CUfunction f;
    context = test_context();
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
    MUST(cuModuleGetFunction(&f, module, kernels_table.kernels[kernel].name));
    MUST(cuMemAlloc(&memory, 1 << 16));
    return f;
}

// Four blocks of 32 threads.
static void expect_failure(int kernel, CUresult code, const char *text)
{
    CUfunction f = start(kernel);
    void *arguments[] = {&memory};
    EXPECT_OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), code);
    EXPECT_ERROR(cuMemsetD8(memory, 0, 4), code);
    EXPECT(test_was_reported(text));
}

// ---- pthread_exit ----

TEST(exit_in_kernel)
{
    expect_failure(KERNEL_EXIT, CUDA_ERROR_LAUNCH_FAILED,
                   "kernel exit, block (1,0,0), thread (3,0,0): pthread_exit ends");
    EXPECT_EQ(kernels_cleaned, 1);
}

TEST(exit_in_worker)
{
    test_setting("CARDLESS_POLICY", "parallel");
    expect_failure(KERNEL_EXIT, CUDA_ERROR_LAUNCH_FAILED,
                   "kernel exit, block (1,0,0), thread (3,0,0): pthread_exit ends");
}

// Threads that wait for each other have stacks of their own.
TEST(exit_in_fiber)
{
    if (THREAD_SANITIZER)
        SKIP("ThreadSanitizer stops the program at pthread_exit in a fiber");
    expect_failure(KERNEL_EXIT_BARRIER, CUDA_ERROR_LAUNCH_FAILED,
                   "kernel exit_barrier, block (1,0,0), thread (3,0,0): pthread_exit ends");
}

// The thread that launched the kernel is the program's: it goes on, and ends as it likes.
static void *launch_and_end(void *kernel)
{
    CUfunction f = kernel;
    MUST(cuCtxSetCurrent(context));
    int *ended = malloc(sizeof *ended);
    *ended = (int)cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    pthread_cleanup_push(kernel_clean, NULL);
    if (!*ended)
        pthread_exit(ended);
    pthread_cleanup_pop(0);
    free(ended);
    return NULL;
}

TEST(exit_in_own_thread)
{
    CUfunction f = start(KERNEL_EXIT);
    pthread_t thread;
    void *ended = NULL;
    kernels_cleaned = 0;
    EXPECT_EQ(pthread_create(&thread, NULL, launch_and_end, f), 0);
    EXPECT_EQ(pthread_join(thread, &ended), 0);
    EXPECT(ended != NULL);
    EXPECT_EQ(kernels_cleaned, 2); // the kernel's handler and the thread's own
    free(ended);
}

static CUresult seen; // by a callback, which then posts `has_seen`
static sem_t go_on, has_seen;

static void CUDA_CB exit_thread(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

static void CUDA_CB exit_in_callback(CUstream s, CUresult status, void *unused)
{
    (void)s;
    (void)status;
    (void)unused;
    pthread_exit(NULL);
}

static void CUDA_CB see(CUstream s, CUresult status, void *unused)
{
    (void)s;
    (void)unused;
    seen = status;
    sem_post(&has_seen);
}

static void CUDA_CB wait_here(void *unused)
{
    (void)unused;
    sem_wait(&go_on);
}

// The thread that runs host functions lives on: it calls a callback that was submitted after the
// function and before its error.
static void expect_host_thread(bool callback, const char *text)
{
    CUstream s;
    test_context();
    sem_init(&go_on, 0, 0);
    sem_init(&has_seen, 0, 0);
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuLaunchHostFunc(s, wait_here, NULL));
    if (callback)
        EXPECT_OK(cuStreamAddCallback(s, exit_in_callback, NULL, 0));
    else
        EXPECT_OK(cuLaunchHostFunc(s, exit_thread, NULL));
    EXPECT_OK(cuStreamAddCallback(s, see, NULL, 0));
    sem_post(&go_on);
    EXPECT_ERROR(cuStreamSynchronize(s), CUDA_ERROR_LAUNCH_FAILED);
    sem_wait(&has_seen); // an error does not wait
    EXPECT_EQ(seen, CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(test_was_reported(text));
}

TEST(exit_in_host_function)
{
    expect_host_thread(false, "a host function called pthread_exit");
}

TEST(exit_in_callback)
{
    expect_host_thread(true, "a stream callback called pthread_exit");
}

static void CUDA_CB post(void *unused)
{
    (void)unused;
    sem_post(&go_on);
}

// The thread that runs destructors lives on, too, and nothing fails.
TEST(exit_in_destructor)
{
    CUuserObject first, second;
    test_context();
    sem_init(&go_on, 0, 0);
    MUST(cuUserObjectCreate(&first, NULL, exit_thread, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectCreate(&second, NULL, post, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    EXPECT_OK(cuUserObjectRelease(first, 1));
    EXPECT_OK(cuUserObjectRelease(second, 1));
    sem_wait(&go_on);
    EXPECT(test_was_reported("the destructor of a user object called pthread_exit"));
    EXPECT_OK(cuCtxSynchronize());
}

// ---- stacks that are full ----

TEST(full_stack)
{
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    expect_failure(KERNEL_RECURSE, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "kernel recurse, block (0,0,0), thread (0,0,0): the stack of ");
    EXPECT(test_was_reported(" KiB is full"));
}

TEST(full_stack_of_fiber)
{
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    expect_failure(
        KERNEL_RECURSE_BARRIER, CUDA_ERROR_ILLEGAL_ADDRESS,
        "kernel recurse_barrier, block (0,0,0), thread (0,0,0): the stack of 128 KiB is full");
}

static void *expect_full_stack(void *unused)
{
    (void)unused;
    expect_failure(KERNEL_RECURSE, CUDA_ERROR_ILLEGAL_ADDRESS, "the stack of 256 KiB is full");
    return NULL;
}

TEST(full_stack_of_thread)
{
    pthread_attr_t small;
    pthread_t thread;
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    EXPECT_EQ(pthread_attr_init(&small), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&small, 256 << 10), 0);
    EXPECT_EQ(pthread_create(&thread, &small, expect_full_stack, NULL), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
}

// Other accesses to unmapped memory are no overflow.
TEST(bad_address)
{
    expect_failure(KERNEL_BAD_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, "kernel bad_address");
    EXPECT(!test_was_reported("KiB is full"));
}

// ---- threads of kernels ----

static sem_t kernel_has_ended;
static pthread_t thread_of_kernel;

// Uses the memory while the kernel runs, and after it.
static void *use_memory(void *data)
{
    unsigned *words = data;
    __atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
    sem_wait(&kernel_has_ended);
    words[1] = words[0] + 1;
    return NULL;
}

static void kernel_threads(unsigned *data)
{
    if (pthread_create(&thread_of_kernel, NULL, use_memory, data))
        abort();
    while (!__atomic_load_n(data, __ATOMIC_ACQUIRE))
        sched_yield();
}

// A thread has the access of the thread that started it, as long as it lives.
TEST(thread_of_kernel_uses_device_memory)
{
    static const cardlessKernelDesc list[] = {{KERNEL(threads), ONE_POINTER}};
    static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                             .version = CARDLESS_VERSION,
                                             .kernel_count = 1,
                                             .kernels = list};
    CUfunction f;
    unsigned words[2];
    start(KERNEL_SCALE);
    MUST(cuModuleLoadData(&module, &table));
    MUST(cuModuleGetFunction(&f, module, "threads"));
    MUST(cuMemsetD8(memory, 0, 64));
    EXPECT_EQ(sem_init(&kernel_has_ended, 0, 0), 0);
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&memory}, NULL));
    EXPECT_OK(cuCtxSynchronize());
    sem_post(&kernel_has_ended);
    EXPECT_EQ(pthread_join(thread_of_kernel, NULL), 0);
    EXPECT_OK(cuMemcpyDtoH(words, memory, sizeof words));
    EXPECT_EQ(words[0], 1);
    EXPECT_EQ(words[1], 2);
}

TESTS(CASE(exit_in_kernel), CASE(exit_in_worker), CASE(exit_in_fiber), CASE(exit_in_own_thread),
      CASE(exit_in_host_function), CASE(exit_in_callback), CASE(exit_in_destructor),
      CASE(full_stack), CASE(full_stack_of_fiber), CASE(full_stack_of_thread), CASE(bad_address),
      CASE(thread_of_kernel_uses_device_memory))
