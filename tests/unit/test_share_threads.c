// SPDX-License-Identifier: MIT
// Many threads that share calls (share.h), while others take em_lock, destroy their memory and
// contexts, are cancelled, get signals and fork. Meant for the thread sanitizer, too.
#include "sharing.h"

#include <sched.h>

enum { WORDS = 64, SIZE_B = 4 * WORDS };

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;

enum { HAMMERS = 3, ROUNDS = SANITIZED ? 1500 : 30000, FORKS = 5, CANCELS = 40 };

static atomic_int hammering;
static atomic_ulong signals;
static atomic_ullong shared_victim;       // memory that one thread frees and others copy
static _Atomic(CUcontext) victim_context; // that one thread destroys and others make current

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

// Small calls on objects of the thread's own, whose results are checked.
static void hammer_round(CUstream s, CUdeviceptr p, CUevent e, unsigned value)
{
    unsigned back[WORDS];
    EXPECT_OK(cuMemsetD32Async(p, value, WORDS, s));
    EXPECT_OK(cuMemcpyHtoDAsync(p, &value, 4, s));
    EXPECT_OK(cuEventRecord(e, s));
    CUresult asked = cuEventQuery(e); // a blocking stream may have to wait for the legacy stream
    EXPECT(!asked || asked == CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuMemcpyDtoHAsync(back, p, SIZE_B, s));
    for (int i = 0; i < WORDS; i++)
        EXPECT_EQ(back[i], value);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(cuEventQuery(e));
    // The memory may be gone. Either the copy finds it, or it says so. The same memory may also
    // belong to another thread by now, a race of this test that a thread sanitizer would report.
    CUresult r = THREAD_SANITIZER ? CUDA_SUCCESS
                                  : cuMemcpyDtoHAsync(back, atomic_load(&shared_victim), 4, s);
    EXPECT(!r || r == CUDA_ERROR_INVALID_VALUE);
    // The context may be gone, too.
    r = cuCtxPushCurrent(atomic_load(&victim_context));
    EXPECT(!r || r == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (!r) {
        EXPECT_OK(cuCtxPushCurrent(context));
        EXPECT_OK(cuCtxPopCurrent(NULL));
        EXPECT_OK(cuCtxPopCurrent(NULL));
    }
}

static void *hammer(void *rounds)
{
    CUstream s;
    CUdeviceptr p;
    CUevent e;
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&s, (uintptr_t)rounds % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&p, SIZE_B));
    MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < (uintptr_t)rounds; i++) {
        hammer_round(s, p, e, i);
        pthread_testcancel();
    }
    EXPECT_OK(cuEventDestroy(e));
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuStreamDestroy(s));
    if ((uintptr_t)rounds >= ROUNDS)
        atomic_fetch_sub(&hammering, 1);
    return NULL;
}

// Calls that take em_lock: each ends sharing, which begins again.
static void *disturb(void *unused)
{
    CUdeviceptr p = 0;
    CUstream s;
    CUevent e;
    CUcontext c;
    unsigned number = 7;
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    while (atomic_load(&hammering)) {
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        MUST(cuCtxPopCurrent(NULL));
        atomic_store(&victim_context, c);
        share_now(stream);
        MUST(cuMemAlloc(&p, SIZE_B));
        atomic_store(&shared_victim, p);
        share_now(stream);
        MUST(cuStreamCreate(&s, CU_STREAM_DEFAULT));
        MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
        share_now(stream);
        EXPECT_OK(cuMemcpyHtoD(memory, &number, 4));
        EXPECT_OK(cuEventRecord(e, s));
        EXPECT_OK(cuStreamDestroy(s));
        EXPECT_OK(cuCtxSynchronize());
        share_now(stream);
        EXPECT_OK(cuEventDestroy(e));
        EXPECT_OK(cuMemFree(p));
        EXPECT_OK(cuCtxDestroy(c));
    }
    return NULL;
}

// Sanitizers do not follow a thread that is cancelled: with them, the thread ends by itself.
static void cancel_one(void)
{
    pthread_t thread;
    void *result;
    must_start(&thread, hammer, (void *)(uintptr_t)(SANITIZED ? 20 : INT32_MAX));
    usleep(500);
    if (!SANITIZED)
        pthread_cancel(thread);
    pthread_join(thread, &result);
    EXPECT(result == (SANITIZED ? NULL : PTHREAD_CANCELED));
}

TEST(hammered)
{
    pthread_t threads[HAMMERS], other;
    context = test_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&memory, SIZE_B));
    atomic_store(&shared_victim, memory);
    atomic_store(&victim_context, context);
    signal(SIGUSR1, on_signal);
    atomic_store(&hammering, HAMMERS);
    for (int i = 0; i < HAMMERS; i++)
        must_start(&threads[i], hammer, (void *)(uintptr_t)(ROUNDS + i));
    must_start(&other, disturb, NULL);
    for (int i = 0; i < CANCELS && atomic_load(&hammering); i++) {
        cancel_one();
        if (i % (CANCELS / FORKS) == 0 && !THREAD_SANITIZER)
            EXPECT_OK(fork_child());
        for (int t = 0; t < HAMMERS && atomic_load(&hammering) == HAMMERS; t++)
            pthread_kill(threads[t], SIGUSR1);
    }
    for (int i = 0; i < HAMMERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(other, NULL);
    printf("# %lu signals, sharing began and ended %u times\n", atomic_load(&signals), em_sharing);
    EXPECT(em_sharing > 2);
}

TESTS(CASE(hammered))
