// SPDX-License-Identifier: MIT
// Contexts: the stack, objects after their context is destroyed, primary contexts, flags and
// limits, threads.
#include <pthread.h>

#include "../harness.h"

static CUcontext make(void)
{
    CUcontext c = NULL;
    MUST(cuCtxCreate(&c, NULL, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
    return c;
}

static CUcontext current(void)
{
    CUcontext c = NULL;
    MUST(cuCtxGetCurrent(&c));
    return c;
}

TEST(create)
{
    static const unsigned good[] = {0, 1, 2, 4, 8, 0x10, 0x18, 0x80, 0x84},
                          bad[] = {3, 5, 6, 7, 0x100, 0x80000000};
    CUcontext c = NULL;
    unsigned flags;
    MUST(cuInit(0));
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        EXPECT_OK(cuCtxCreate(&c, NULL, good[i], 0));
        EXPECT(current() == c);
        EXPECT_OK(cuCtxGetFlags(&flags));
        EXPECT_EQ(flags, good[i]);
        EXPECT_OK(cuCtxDestroy(c));
        EXPECT(!current());
    }
    c = (CUcontext)1;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_ERROR(cuCtxCreate(&c, NULL, bad[i], 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(c == (CUcontext)1);
    EXPECT_ERROR(cuCtxCreate(NULL, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuCtxCreate(NULL, NULL, 0, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST(create_parameters)
{
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    CUctxCigParam cig = {.sharedDataType = CIG_DATA_TYPE_D3D12_COMMAND_QUEUE};
    CUctxCreateParams p = {0};
    CUcontext c;
    MUST(cuInit(0));
    EXPECT_OK(cuCtxCreate(&c, &p, 0, 0));
    p.numExecAffinityParams = 1;
    EXPECT_ERROR(cuCtxCreate(&c, &p, 0, 0), CUDA_ERROR_INVALID_VALUE);
    p.execAffinityParams = &affinity;
    EXPECT_ERROR(cuCtxCreate(&c, &p, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    p = (CUctxCreateParams){.cigParams = &cig};
    EXPECT_ERROR(cuCtxCreate(&c, &p, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    cig.sharedDataType = (CUcigDataType)9;
    EXPECT_ERROR(cuCtxCreate(&c, &p, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(stack)
{
    CUcontext top;
    MUST(cuInit(0));
    CUcontext a = make(), b = make();
    EXPECT_ERROR(cuCtxPopCurrent(&top), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuCtxPushCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuCtxPushCurrent(a));
    EXPECT_OK(cuCtxPushCurrent(b));
    EXPECT_OK(cuCtxSetCurrent(NULL));
    EXPECT(current() == a);
    EXPECT_OK(cuCtxSetCurrent(b));
    EXPECT_OK(cuCtxPopCurrent(&top));
    EXPECT(top == b && !current());
    for (int i = 0; i < 3000; i++)
        MUST(cuCtxPushCurrent(i & 1 ? a : b));
    for (int i = 2999; i >= 0; i--) {
        MUST(cuCtxPopCurrent(&top));
        EXPECT(top == (i & 1 ? a : b));
    }
    EXPECT_ERROR(cuCtxPopCurrent(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(destroyed_on_the_stack)
{
    CUcontext a, top;
    CUdevice d;
    unsigned flags, version;
    unsigned long long id;
    size_t value;
    MUST(cuInit(0));
    CUcontext b = make();
    MUST(cuCtxCreate(&a, NULL, 0, 0));
    MUST(cuCtxPushCurrent(b));
    EXPECT_OK(cuCtxDestroy(a));
    EXPECT(current() == b);
    EXPECT_OK(cuCtxPopCurrent(&top));
    EXPECT(current() == a);
    EXPECT_OK(cuCtxGetDevice(&d));
    EXPECT_OK(cuCtxGetFlags(&flags));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_ERROR(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_ERROR(cuCtxGetId(a, &id), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_ERROR(cuCtxGetApiVersion(a, &version), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuCtxDestroy(a), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_ERROR(cuCtxPushCurrent(a), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_OK(cuCtxPopCurrent(&top));
    EXPECT(top == a && !current());
}

TEST(garbage_handles)
{
    static char zeros[4096];
    CUcontext bad[] = {(CUcontext)zeros, (CUcontext)(uintptr_t)8,
                       (CUcontext)(uintptr_t)0xdeadbeefcafe, (CUcontext)UINTPTR_MAX};
    unsigned version;
    MUST(cuInit(0));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_ERROR(cuCtxPushCurrent(bad[i]), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_ERROR(cuCtxSetCurrent(bad[i]), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_ERROR(cuCtxDestroy(bad[i]), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_ERROR(cuCtxGetApiVersion(bad[i], &version), CUDA_ERROR_INVALID_CONTEXT);
    }
    EXPECT(!current());
}

TEST(attach_detach)
{
    CUcontext a, x = NULL;
    unsigned version;
    MUST(cuInit(0));
    EXPECT_ERROR(cuCtxAttach(&x, 0), CUDA_ERROR_INVALID_CONTEXT);
    MUST(cuCtxCreate(&a, NULL, 0, 0));
    EXPECT_OK(cuCtxAttach(&x, 0));
    EXPECT(x == a);
    EXPECT_ERROR(cuCtxAttach(&x, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuCtxDetach(a));
    EXPECT(current() == a);
    EXPECT_OK(cuCtxDetach(a));
    EXPECT(!current());
    EXPECT_ERROR(cuCtxGetApiVersion(a, &version), CUDA_ERROR_INVALID_CONTEXT);
}

static void expect_state(unsigned want_flags, int want_active)
{
    unsigned flags = 777;
    int active = 777;
    EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_EQ(flags, want_flags);
    EXPECT_EQ(active, want_active);
}

TEST(primary_counts)
{
    CUcontext a, b, again;
    unsigned long long first_id, second_id;
    MUST(cuInit(0));
    expect_state(0, 0);
    EXPECT_ERROR(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_OK(cuDevicePrimaryCtxRetain(&a, 0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&b, 0));
    EXPECT(a == b);
    EXPECT(!current());
    EXPECT_OK(cuCtxGetId(a, &first_id));
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    expect_state(0, 1);
    EXPECT_ERROR(cuCtxDestroy(a), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_OK(cuCtxSetCurrent(a));
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    expect_state(0, 0);
    EXPECT(current() == a); // it is not popped
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_OK(cuDevicePrimaryCtxRetain(&again, 0));
    EXPECT(again == a);
    EXPECT_OK(cuCtxGetId(a, &second_id));
    EXPECT(first_id != second_id);
    EXPECT_OK(cuCtxSynchronize());
}

TEST(primary_reset)
{
    CUcontext a;
    MUST(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    EXPECT_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    MUST(cuDevicePrimaryCtxRetain(&a, 0));
    MUST(cuCtxSetCurrent(a));
    expect_state(CU_CTX_SCHED_BLOCKING_SYNC, 1);
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    expect_state(0, 0);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    EXPECT_ERROR(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(flags)
{
    unsigned flags;
    test_context();
    EXPECT_OK(cuCtxGetFlags(&flags));
    EXPECT_EQ(flags, CU_CTX_MAP_HOST);
    EXPECT_OK(cuCtxSetFlags(CU_CTX_SYNC_MEMOPS));
    expect_state(CU_CTX_SYNC_MEMOPS, 1);
    EXPECT_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    EXPECT_OK(cuCtxGetFlags(&flags));
    EXPECT_EQ(flags, CU_CTX_MAP_HOST | CU_CTX_SCHED_YIELD);
    EXPECT_ERROR(cuDevicePrimaryCtxSetFlags(0, CU_CTX_MAP_HOST), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuCtxSetFlags(0x100), CUDA_ERROR_INVALID_VALUE);
}

static void expect_limit(CUlimit limit, size_t asked, CUresult result, size_t now)
{
    size_t value = 777;
    EXPECT_ERROR(cuCtxSetLimit(limit, asked), result);
    EXPECT_OK(cuCtxGetLimit(&value, limit));
    EXPECT_EQ(value, now);
}

TEST(limits)
{
    size_t value = 777;
    test_context();
    expect_limit(CU_LIMIT_STACK_SIZE, 1025, CUDA_SUCCESS, 1040);
    expect_limit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40, CUDA_ERROR_INVALID_VALUE, 1040);
    expect_limit(CU_LIMIT_PRINTF_FIFO_SIZE, 1, CUDA_SUCCESS, 524288);
    expect_limit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)1 << 60, CUDA_SUCCESS, (size_t)2 << 30);
    expect_limit(CU_LIMIT_MALLOC_HEAP_SIZE, (8 << 20) + 1, CUDA_SUCCESS, (8 << 20) + 65536);
    expect_limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 1, CUDA_SUCCESS, 32);
    expect_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129, CUDA_ERROR_INVALID_VALUE, 64);
    expect_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1, CUDA_SUCCESS, 3276800);
    expect_limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 32768001, CUDA_ERROR_INVALID_VALUE, 3276800);
    expect_limit(CU_LIMIT_SHMEM_SIZE, 1000, CUDA_ERROR_NOT_PERMITTED, 232448);
    EXPECT_ERROR(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH),
                 CUDA_ERROR_UNSUPPORTED_LIMIT);
    EXPECT_ERROR(cuCtxGetLimit(&value, (CUlimit)-1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(value, 777);
}

// If the device has compute capability 7.5, it has limits that the H100 lacks, and lacks others
// that the H100 has.
TEST(limits_of_turing)
{
    size_t value = 0;
    test_setting("CARDLESS_DEVICES", "t4");
    test_context();
    expect_limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 24, CUDA_SUCCESS, 24);
    expect_limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 25, CUDA_ERROR_INVALID_VALUE, 24);
    EXPECT_ERROR(cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE),
                 CUDA_ERROR_UNSUPPORTED_LIMIT);
}

static void *churn(void *shared)
{
    for (int i = 0; i < 300; i++) {
        CUcontext c, primary;
        MUST(cuDevicePrimaryCtxRetain(&primary, 0));
        MUST(cuCtxPushCurrent(primary));
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        MUST(cuCtxPushCurrent((CUcontext)shared));
        EXPECT_OK(cuCtxSynchronize());
        MUST(cuCtxPopCurrent(NULL));
        MUST(cuCtxDestroy(c));
        MUST(cuDevicePrimaryCtxRelease(0));
        MUST(cuCtxPopCurrent(NULL));
    }
    MUST(cuCtxPushCurrent((CUcontext)shared)); // the stack ends with the thread
    return NULL;
}

TEST(threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    MUST(cuInit(0));
    CUcontext shared = make();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, shared);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_OK(cuCtxDestroy(shared));
    expect_state(0, 0);
}

struct ending {
    CUcontext context;
    unsigned after_us;
};

static void *end_soon(void *argument)
{
    const struct ending *e = argument;
    usleep(e->after_us);
    EXPECT_OK(cuCtxDestroy(e->context));
    return NULL;
}

// A call waits for work while another thread ends the context.
static CUresult wait_for_lost_work(int round, unsigned after_us)
{
    CUstream s;
    CUevent e;
    pthread_t thread;
    CUcontext context;
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&e, 0));
    test_hold(s);
    MUST(cuEventRecord(e, s));
    struct ending ending = {context, after_us};
    EXPECT_EQ(pthread_create(&thread, NULL, end_soon, &ending), 0);
    CUresult r = round % 3 == 0   ? cuCtxSynchronize()
                 : round % 3 == 1 ? cuEventSynchronize(e)
                                  : cuStreamSynchronize(s);
    pthread_join(thread, NULL);
    cuCtxSetCurrent(NULL);
    return r;
}

// Such a call must not succeed, because the work has not run. On a busy machine the context may end
// before the call begins, which makes the handle invalid: then the other thread gives it more time.
TEST(context_ends_while_calls_wait)
{
    MUST(cuInit(0));
    unsigned after_us = 3000;
    for (int round = 0; round < 60; round++) {
        CUresult r = wait_for_lost_work(round, after_us);
        for (; r == CUDA_ERROR_INVALID_HANDLE && after_us < 1000000; after_us *= 2)
            r = wait_for_lost_work(round, after_us);
        EXPECT_ERROR(r, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

struct race {
    CUcontext context;
    atomic_bool go;
};

static void *end_at_once(void *argument)
{
    struct race *race = argument;
    while (!race->go)
        ;
    EXPECT_OK(cuCtxDestroy(race->context));
    return NULL;
}

// A call asks for work just when another thread ends the context.
static CUresult ask_for_lost_work(int round)
{
    struct race race = {.go = false};
    CUstream s;
    CUevent e;
    pthread_t thread;
    MUST(cuCtxCreate(&race.context, NULL, 0, 0));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&e, 0));
    test_hold(s);
    MUST(cuEventRecord(e, s));
    EXPECT_EQ(pthread_create(&thread, NULL, end_at_once, &race), 0);
    race.go = true;
    for (volatile int delay = round * 30; delay; delay--)
        ;
    CUresult r = round % 4 == 0   ? cuCtxSynchronize()
                 : round % 4 == 1 ? cuEventSynchronize(e)
                 : round % 4 == 2 ? cuEventQuery(e)
                                  : cuStreamSynchronize(s);
    pthread_join(thread, NULL);
    cuCtxSetCurrent(NULL);
    return r;
}

// Nor may such a call succeed: the work has not run.
TEST(context_ends_while_calls_begin)
{
    MUST(cuInit(0));
    for (int round = 0; round < 1000; round++) {
        CUresult r = ask_for_lost_work(round);
        if (r != CUDA_ERROR_INVALID_HANDLE && r != CUDA_ERROR_NOT_READY)
            EXPECT_ERROR(r, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

TESTS(CASE(create), CASE(create_parameters), CASE(stack), CASE(destroyed_on_the_stack),
      CASE(garbage_handles), CASE(attach_detach), CASE(primary_counts), CASE(primary_reset),
      CASE(flags), CASE(limits), CASE(limits_of_turing), CASE(threads),
      CASE(context_ends_while_calls_wait), CASE(context_ends_while_calls_begin))
