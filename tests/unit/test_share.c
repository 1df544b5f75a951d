// SPDX-License-Identifier: MIT
// Calls that run at the same time without em_lock (share.h): which ones do, and that whoever takes
// em_lock meanwhile finds their commands in the scheduler. The linker puts the function below in
// the place of kn_copy, so that a copy can be held while it runs.
#include "sharing.h"

#include <sched.h>

enum { WORDS = 64, SIZE_B = 4 * WORDS, MOMENT_US = 20000, VALUE = 0x1234567 };

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

// ---- a record whose thread is late ----

static _Thread_local bool late; // this thread waits after it has looked at the clock
static atomic_bool looked, recorded;
static CUevent twice;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int r = __real_clock_gettime(clock, now);
    if (late) {
        late = false;
        atomic_store(&looked, true);
        while (!atomic_load(&recorded))
            usleep(50);
    }
    return r;
}

static void *record_late(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    atomic_store(&ready, true);
    while (!atomic_load(&go))
        sched_yield();
    late = true;
    EXPECT_OK(cuEventRecord(twice, stream));
    return NULL;
}

// Of two records of an event at once, the one that looked at the clock last counts, even if the
// other one stores its time later.
TEST(event_recorded_twice)
{
    CUevent start;
    CUstream other;
    pthread_t thread;
    float ms;
    make_objects();
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&start, CU_EVENT_DEFAULT));
    MUST(cuEventCreate(&twice, CU_EVENT_DEFAULT));
    MUST(cuEventRecord(start, other));
    MUST(cuEventRecord(twice, other));
    must_start(&thread, record_late, NULL);
    while (!atomic_load(&ready))
        sched_yield();
    share_now(stream);
    atomic_store(&go, true);
    while (!atomic_load(&looked))
        usleep(50);
    EXPECT(em_is_sharing());
    EXPECT_OK(cuEventRecord(start, other));
    EXPECT_OK(cuEventRecord(twice, other));
    atomic_store(&recorded, true);
    pthread_join(thread, NULL);
    EXPECT_OK(cuEventElapsedTime(&ms, start, twice));
    EXPECT(ms >= 0);
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

TEST(process_forks)
{
    act_during_copy(fork_child, false, CUDA_SUCCESS, CUDA_SUCCESS);
    expect_copied();
}

TESTS(CASE(small_calls), CASE(event_times), CASE(event_recorded_twice), CASE(mistakes),
      CASE(states_that_do_not_share), CASE(adopted), CASE(context_synchronize),
      CASE(stream_synchronize), CASE(memory_is_freed), CASE(stream_is_destroyed),
      CASE(context_ends), CASE(process_forks))
