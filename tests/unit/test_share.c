// SPDX-License-Identifier: MIT
// Calls that run at the same time without em_lock (share.h): which ones do, and that whoever takes
// em_lock meanwhile finds their commands in the scheduler. The linker puts the function below in
// the place of kn_copy, so that a copy can be held while it runs.
#include "../harness.h"

#include <pthread.h>
#include <sched.h>

#include "command.h"
#include "lock.h"
#include "stream.h"

enum { WORDS = 64, SIZE_B = 4 * WORDS, MOMENT_US = 20000, VALUE = 0x1234567, OFFERS = 100 };

// ---- a copy that is held ----

static atomic_bool hold, held;

void __real_kn_copy(void *dst, const void *src, uint64_t size_B);
void __wrap_kn_copy(void *dst, const void *src, uint64_t size_B);
void __wrap_kn_copy(void *dst, const void *src, uint64_t size_B)
{
    if (atomic_load(&hold)) {
        atomic_store(&held, true);
        while (atomic_load(&hold))
            usleep(50);
    }
    __real_kn_copy(dst, src, size_B);
}

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static unsigned from[WORDS];

static void make_objects(void)
{
    context = test_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&memory, SIZE_B));
    for (int i = 0; i < WORDS; i++)
        from[i] = VALUE + (unsigned)i;
}

// Does what threads do that compete for em_lock. Sharing stays off while a thread waits for work.
static void share_now(CUstream handle)
{
    struct em_stream *s;
    if (em_stream_get(handle, &s))
        return;
    for (int i = 0; i < OFFERS && !em_is_sharing(); i++) { // while commands run, one is not enough
        em_lock();
        em_sharing_wanted = true;
        em_offer_sharing(s);
        em_unlock();
    }
    em_stream_put(s);
    em_cancel_restore(em_thread());
}

static void must_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument))
        abort();
}

static pthread_t copier;
static atomic_bool ready, go;
static CUresult copied;

static void *copy_once(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    atomic_store(&ready, true);
    while (!atomic_load(&go))
        sched_yield();
    copied = cuMemcpyHtoDAsync(memory, from, SIZE_B, stream);
    return NULL;
}

// Another thread makes a shared copy, which stays in kn_copy until let_copy_end.
static void hold_copy(void)
{
    must_start(&copier, copy_once, NULL);
    while (!atomic_load(&ready))
        sched_yield();
    share_now(stream);
    EXPECT(em_is_sharing());
    uint64_t before = dm_mutex_taken(&em_mutex);
    atomic_store(&hold, true);
    atomic_store(&go, true);
    while (!atomic_load(&held))
        usleep(50);
    EXPECT(em_is_sharing());
    EXPECT_EQ(dm_mutex_taken(&em_mutex), before); // it has not taken em_lock
}

static void let_copy_end(CUresult code)
{
    atomic_store(&hold, false);
    pthread_join(copier, NULL);
    EXPECT_ERROR(copied, code);
}

static void expect_copied(void)
{
    unsigned back[WORDS] = {0};
    EXPECT_OK(cuMemcpyDtoH(back, memory, SIZE_B));
    EXPECT_EQ(memcmp(back, from, SIZE_B), 0);
}

// ---- without em_lock ----

static void expect_attributes(CUdeviceptr p)
{
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                  CU_POINTER_ATTRIBUTE_CONTEXT};
    CUmemorytype type[2] = {0};
    size_t size = 0, range = 0;
    CUcontext owner = NULL;
    CUdeviceptr base = 0;
    void *values[] = {&type[0], &size, &owner};
    EXPECT_OK(cuPointerGetAttributes(3, list, values, p));
    EXPECT_OK(cuPointerGetAttribute(&type[1], CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    EXPECT_OK(cuMemGetAddressRange(&base, &range, p));
    EXPECT_EQ(type[0], CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(type[1], CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(size, SIZE_B);
    EXPECT_EQ(range, SIZE_B);
    EXPECT_EQ(base, memory);
    EXPECT(owner == context);
}

TEST(small_calls)
{
    CUevent event;
    CUdeviceptr other;
    CUcontext second, now;
    unsigned back[WORDS];
    make_objects();
    MUST(cuCtxCreate(&second, NULL, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuMemAlloc(&other, SIZE_B));
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
    MUST(cuEventRecord(event, stream));
    share_now(stream);
    uint64_t before = dm_mutex_taken(&em_mutex);
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(cuMemcpyHtoDAsync(memory, from, SIZE_B, stream));
        EXPECT_OK(cuMemcpyAsync(other, memory, SIZE_B, stream));
        EXPECT_OK(cuMemsetD32Async(other, 7, WORDS / 2, stream));
        EXPECT_OK(cuEventRecord(event, stream));
        EXPECT_OK(cuEventQuery(event));
        EXPECT_OK(cuEventSynchronize(event));
        EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
        EXPECT_OK(cuMemcpyDtoHAsync(back, other, SIZE_B, stream));
        EXPECT_OK(cuStreamQuery(stream));
        EXPECT_OK(cuStreamSynchronize(stream));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_OK(cuCtxSetCurrent(context));
        EXPECT_OK(cuCtxPushCurrent(context));
        EXPECT_OK(cuCtxPushCurrent(second));
        EXPECT_OK(cuCtxSetCurrent(context));
        EXPECT_OK(cuCtxPopCurrent(&now));
        EXPECT(now == context);
        EXPECT_OK(cuCtxSetCurrent(second));
        EXPECT_OK(cuCtxSetCurrent(NULL));
        EXPECT_OK(cuCtxGetCurrent(&now));
        EXPECT(now == context);
        expect_attributes(memory + 8);
    }
    EXPECT_EQ(dm_mutex_taken(&em_mutex), before);
    EXPECT(em_is_sharing());
    EXPECT_EQ(back[WORDS / 2 - 1], 7);
    EXPECT_EQ(back[WORDS / 2], VALUE + WORDS / 2);
    EXPECT_OK(cuMemcpyHtoD(memory, from, SIZE_B)); // in the legacy stream
    EXPECT(!em_is_sharing());
}

// The times of records that share a marker are right.
TEST(event_times)
{
    CUevent start, end;
    float ms;
    make_objects();
    MUST(cuEventCreate(&start, CU_EVENT_DEFAULT));
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    MUST(cuEventRecord(start, stream));
    MUST(cuEventRecord(end, stream));
    usleep(20000);
    share_now(stream);
    EXPECT_OK(cuEventRecord(end, stream));
    EXPECT(em_is_sharing());
    EXPECT_OK(cuEventElapsedTime(&ms, start, end));
    EXPECT(ms >= 20);
}

TEST(mistakes)
{
    make_objects();
    void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUevent event;
    for (int sharing = 0; sharing < 2; sharing++) {
        if (sharing)
            share_now(stream);
        EXPECT_EQ(em_is_sharing(), sharing);
        EXPECT_ONE_SENTENCE(cuMemcpyHtoDAsync(memory, page, 4, stream), CUDA_ERROR_INVALID_VALUE);
        if (sharing)
            share_now(stream);
        EXPECT_ONE_SENTENCE(cuMemcpyHtoDAsync(memory + SIZE_B - 2, from, 4, stream),
                            CUDA_ERROR_INVALID_VALUE);
        if (sharing)
            share_now(stream);
        EXPECT_ONE_SENTENCE(cuMemsetD32Async(memory + 1, 1, 1, stream), CUDA_ERROR_INVALID_VALUE);
        MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
        MUST(cuEventDestroy(event));
        if (sharing)
            share_now(stream);
        EXPECT_ONE_SENTENCE(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    }
    EXPECT_OK(cuStreamSynchronize(stream));
}

// Calls whose effects depend on others do not share: while work waits, and in captured streams.
TEST(states_that_do_not_share)
{
    CUstream other;
    CUgraph graph;
    make_objects();
    MUST(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    atomic_uint *word = test_hold(other);
    share_now(stream);
    EXPECT(!em_is_sharing()); // a copy may write the word
    atomic_store(word, 1);
    MUST(cuStreamSynchronize(other));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    share_now(other);
    EXPECT(em_is_sharing());
    EXPECT_OK(cuMemsetD32Async(memory, 9, WORDS, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    EXPECT_OK(cuGraphGetNodes(graph, NULL, &nodes));
    EXPECT_EQ(nodes, 1);
}

// ---- em_lock is taken while a command runs ----

TEST(adopted)
{
    make_objects();
    hold_copy();
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT(!em_is_sharing());
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    share_now(stream); // a command that was adopted once is not lost when sharing begins again
    EXPECT(em_is_sharing());
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuMemsetD32Async(memory, 1, 1, stream)); // waits for the copy
    let_copy_end(CUDA_SUCCESS);
    EXPECT_OK(cuStreamSynchronize(stream));
    from[0] = 1;
    expect_copied();
}

// Without a list of the scheduler, a running command is seen by those who synchronise.
static atomic_bool ended;
static CUresult (*action)(void);

static void *act(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    CUresult r = action();
    atomic_store(&ended, true);
    return (void *)(uintptr_t)r;
}

// Makes a call while a copy runs. `waits`: it returns only after the copy.
static void act_during_copy(CUresult (*call)(void), bool waits, CUresult code, CUresult copy_code)
{
    pthread_t thread;
    void *r;
    make_objects();
    action = call;
    hold_copy();
    must_start(&thread, act, NULL);
    if (waits) {
        usleep(MOMENT_US);
        EXPECT(!atomic_load(&ended));
    } else {
        while (!atomic_load(&ended))
            usleep(50);
    }
    let_copy_end(copy_code);
    pthread_join(thread, &r);
    EXPECT_ERROR((CUresult)(uintptr_t)r, code);
}

static CUresult synchronize_context(void)
{
    return cuCtxSynchronize();
}

TEST(context_synchronize)
{
    act_during_copy(synchronize_context, true, CUDA_SUCCESS, CUDA_SUCCESS);
    expect_copied();
}

static CUresult synchronize_stream(void)
{
    return cuStreamSynchronize(stream);
}

TEST(stream_synchronize)
{
    act_during_copy(synchronize_stream, true, CUDA_SUCCESS, CUDA_SUCCESS);
    expect_copied();
}

static CUresult free_memory(void)
{
    return cuMemFree(memory);
}

TEST(memory_is_freed)
{
    act_during_copy(free_memory, true, CUDA_SUCCESS, CUDA_SUCCESS);
}

static CUresult destroy_stream(void)
{
    return cuStreamDestroy(stream);
}

TEST(stream_is_destroyed)
{
    act_during_copy(destroy_stream, false, CUDA_SUCCESS, CUDA_SUCCESS);
    expect_copied();
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

static CUresult reset_context(void)
{
    return cuDevicePrimaryCtxReset(0);
}

TEST(context_ends)
{
    act_during_copy(reset_context, true, CUDA_SUCCESS, CUDA_SUCCESS);
    EXPECT_ERROR(cuMemsetD32Async(memory, 1, 1, stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

static CUresult fork_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 5 : 6);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

TEST(process_forks)
{
    act_during_copy(fork_child, false, CUDA_SUCCESS, CUDA_SUCCESS);
    expect_copied();
}

// ---- many threads ----

enum { HAMMERS = 3, ROUNDS = SANITIZED ? 1500 : 6000, FORKS = 5, CANCELS = 40 };

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
    // The memory may be gone. Either the copy finds it, or it says so.
    CUresult r = cuMemcpyDtoHAsync(back, atomic_load(&shared_victim), 4, s);
    EXPECT(!r || r == CUDA_ERROR_INVALID_VALUE);
    // So may the context.
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
        EXPECT_OK(cuMemcpyHtoD(memory, from, SIZE_B));
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

static void cancel_one(void)
{
    pthread_t thread;
    void *result;
    must_start(&thread, hammer, (void *)(uintptr_t)INT32_MAX);
    usleep(500);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    EXPECT(result == PTHREAD_CANCELED);
}

TEST(hammered)
{
    pthread_t threads[HAMMERS], other;
    make_objects();
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
    expect_copied();
}

TESTS(CASE(small_calls), CASE(event_times), CASE(mistakes), CASE(states_that_do_not_share),
      CASE(adopted), CASE(context_synchronize), CASE(stream_synchronize), CASE(memory_is_freed),
      CASE(stream_is_destroyed), CASE(context_ends), CASE(process_forks), CASE(hammered))
