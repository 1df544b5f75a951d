// SPDX-License-Identifier: MIT
// Threads that use the driver at the same time: they free and destroy while others submit, share a
// stream, and use streams and events whose context is destroyed. Also a program that closes the
// driver's descriptors. The sanitizers find races here, and the time limit finds calls that hang.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../harness.h"

enum { THREADS = 3, FILL_B = 1 << 20 };

static atomic_bool stop;
static CUcontext primary;

static void start(void)
{
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT_OK(cuCtxSetCurrent(primary));
}

static void each_thread(pthread_t threads[THREADS], void *(*body)(void *), void *argument)
{
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, body, argument), 0);
}

static void join(pthread_t threads[THREADS])
{
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

// Keeps a stream of its own busy until the test stops it or a call fails.
static void *keep_busy(void *context)
{
    CUstream stream;
    CUdeviceptr p;
    cuCtxSetCurrent(context);
    if (cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) || cuMemAlloc(&p, FILL_B))
        return NULL;
    while (!atomic_load(&stop) && !cuMemsetD8Async(p, 1, FILL_B, stream))
        ;
    return NULL;
}

TEST(free_among_busy_threads)
{
    pthread_t threads[THREADS];
    const size_t granule = 2 << 20;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    start();
    each_thread(threads, keep_busy, primary);
    for (int i = 0; i < 20; i++) {
        CUmemGenericAllocationHandle memory;
        CUdeviceptr p;
        void *host;
        EXPECT_OK(cuMemAlloc(&p, 4096));
        EXPECT_OK(cuMemFree(p));
        EXPECT_OK(cuMemAllocHost(&host, 4096));
        EXPECT_OK(cuMemFreeHost(host));
        EXPECT_OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
        EXPECT_OK(cuMemCreate(&memory, granule, &prop, 0));
        EXPECT_OK(cuMemMap(p, granule, 0, memory, 0));
        EXPECT_OK(cuMemSetAccess(p, granule, &access, 1));
        EXPECT_OK(cuMemUnmap(p, granule));
        EXPECT_OK(cuMemRelease(memory));
        EXPECT_OK(cuMemAddressFree(p, granule));
    }
    join(threads);
}

TEST(destroy_among_busy_threads)
{
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < 10; i++) {
        CUcontext context;
        CUctxCreateParams none = {0};
        atomic_store(&stop, false);
        EXPECT_OK(cuCtxCreate(&context, &none, 0, 0));
        each_thread(threads, keep_busy, context);
        usleep(2000);
        EXPECT_OK(
            cuCtxDestroy(context)); // `stop` is not set: a call fails because the context ends
        join(threads);
    }
    atomic_store(&stop, false);
    each_thread(threads, keep_busy, primary);
    usleep(2000);
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    join(threads);
}

// ---- one stream for all threads ----

static CUdeviceptr counters;

static void *fill_shared(void *unused)
{
    (void)unused;
    cuCtxSetCurrent(primary);
    for (int i = 0; i < 20000; i++)
        if (cuMemsetD32Async(counters, (unsigned)i, 16, CU_STREAM_LEGACY))
            return NULL;
    return &counters;
}

TEST(one_stream_for_all)
{
    pthread_t threads[THREADS];
    unsigned last = 0;
    start();
    EXPECT_OK(cuMemAlloc(&counters, 64));
    each_thread(threads, fill_shared, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *done;
        pthread_join(threads[i], &done);
        EXPECT(done);
    }
    // Each thread runs a share of the others' commands. Somebody has to run the rest.
    while (cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY)
        usleep(100);
    EXPECT_OK(cuMemcpyDtoH(&last, counters, sizeof last));
    EXPECT_EQ(last, 19999);
}

static _Atomic unsigned ran;

static void CUDA_CB count(void *unused)
{
    (void)unused;
    ran++;
}

// A full queue should grow if its stream is stuck, because the submitting thread may be the one
// that has to end the wait.
TEST(deep_queue_that_waits)
{
    enum { DEPTH = 3000 };
    CUstream stream;
    CUdeviceptr word;
    start();
    EXPECT_OK(cuMemAlloc(&word, 4));
    EXPECT_OK(cuMemsetD32(word, 0, 1));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    for (int i = 0; i < DEPTH; i++)
        EXPECT_OK(cuLaunchHostFunc(stream, count, NULL));
    EXPECT_EQ(ran, 0);
    EXPECT_OK(cuMemsetD32(word, 1, 1));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(ran, DEPTH);
}

// The same if the first command is a host function that waits for a lock of the submitting thread.
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB wait_for_held(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

TEST(deep_queue_after_host_function)
{
    CUstream stream;
    CUdeviceptr p;
    start();
    EXPECT_OK(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pthread_mutex_lock(&held);
    EXPECT_OK(cuLaunchHostFunc(stream, wait_for_held, NULL));
    for (int i = 0; i < 3000; i++)
        EXPECT_OK(cuMemsetD8Async(p, 1, 64, stream));
    pthread_mutex_unlock(&held);
    EXPECT_OK(cuStreamSynchronize(stream));
}

// ---- objects of a context that another thread destroys ----

static _Atomic(CUstream) shared_stream;
static _Atomic(CUevent) shared_event;

static void *use_objects(void *which)
{
    CUdeviceptr p = counters;
    cuCtxSetCurrent(primary);
    while (!atomic_load(&stop)) {
        CUstream stream = shared_stream;
        CUevent event = shared_event;
        CUcontext context;
        switch ((int)(intptr_t)which) {
        case 0:
            cuMemsetD8Async(p, 1, 64, stream);
            cuStreamWriteValue32(stream, p, 1, 0);
            break;
        case 1:
            cuStreamSynchronize(stream);
            if (!cuStreamGetCtx(stream, &context) && !cuCtxPushCurrent(context)) {
                cuMemsetD8(p, 1, 3);
                cuCtxSynchronize();
                cuCtxPopCurrent(&context);
            }
            break;
        default:
            cuEventRecord(event, stream);
            cuStreamWaitEvent(stream, event, 0);
            cuEventQuery(event);
            cuEventSynchronize(event);
        }
    }
    return NULL;
}

TEST(context_goes_under_its_objects)
{
    pthread_t threads[THREADS];
    setenv("CARDLESS_DIAGNOSTICS", "off", 1); // every call may fail
    start();
    EXPECT_OK(cuMemAlloc(&counters, 4096));
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, use_objects, (void *)(intptr_t)i), 0);
    // On one processor each sched_yield may last as long as the turns of all other threads.
    double end = failing_now() + 5;
    for (int i = 0; i < 500 && failing_now() < end; i++) {
        CUcontext context;
        CUctxCreateParams none = {0};
        CUstream stream;
        CUevent event;
        EXPECT_OK(cuCtxCreate(&context, &none, 0, 0));
        EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        EXPECT_OK(cuEventCreate(&event, 0));
        shared_stream = stream;
        shared_event = event;
        for (int k = 0; k < i % 50; k++)
            sched_yield();
        EXPECT_OK(cuCtxDestroy(context));
    }
    join(threads);
}

// ---- memory of a context that another thread destroys ----

static _Atomic(CUcontext) dying;

static void *allocate_in_dying(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        CUdeviceptr p;
        void *host;
        cuCtxSetCurrent(dying);
        cuMemAlloc(&p, 1 << 20);
        cuMemAllocHost(&host, 4096);
    }
    return NULL;
}

TEST(nothing_stays_of_a_context)
{
    pthread_t threads[THREADS];
    size_t free_before, free_after, total;
    setenv("CARDLESS_DIAGNOSTICS", "off", 1); // every call may fail
    start();
    EXPECT_OK(cuMemGetInfo(&free_before, &total));
    each_thread(threads, allocate_in_dying, NULL);
    for (int i = 0; i < 50; i++) {
        CUcontext context;
        CUctxCreateParams none = {0};
        EXPECT_OK(cuCtxCreate(&context, &none, 0, 0));
        dying = context;
        usleep(500);
        EXPECT_OK(cuCtxDestroy(context));
    }
    join(threads);
    EXPECT_OK(cuCtxSetCurrent(primary));
    EXPECT_OK(cuMemGetInfo(&free_after, &total));
    EXPECT(free_before - free_after <=
           (size_t)64 << 20); // chunks that the heap keeps for the next allocation
}

// ---- a thread that is cancelled ----

static void *make_mistakes(void *unused)
{
    (void)unused;
    cuCtxSetCurrent(primary);
    for (;;) {
        cuMemFree(12345); // writes a diagnostic: a cancellation point inside the driver
        pthread_testcancel();
    }
    return NULL;
}

TEST(cancelled_thread)
{
    pthread_t thread;
    CUdeviceptr p;
    void *result;
    setenv("CARDLESS_DIAGNOSTICS", "json:/dev/null", 1);
    start();
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(pthread_create(&thread, NULL, make_mistakes, NULL), 0);
        usleep(1000);
        pthread_cancel(thread);
        EXPECT_EQ(pthread_join(thread, &result), 0);
        EXPECT(result == PTHREAD_CANCELED);
        EXPECT_OK(cuMemAlloc(&p, 4096));
        EXPECT_OK(cuMemFree(p));
    }
}

// ---- descriptors ----

TEST(allocations_take_no_descriptors)
{
    enum { MANY = 300 };
    struct rlimit limit = {64, 64};
    static CUmemGenericAllocationHandle memory[MANY];
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    start();
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < MANY; i++)
        EXPECT_OK(cuMemCreate(&memory[i], 2 << 20, &prop, 0));
    for (int i = 0; i < MANY; i++)
        EXPECT_OK(cuMemRelease(memory[i]));
}

TEST(small_files)
{
    struct rlimit limit = {256 << 20, 256 << 20};
    CUdeviceptr p;
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    start(); // opens the file of device memory
    EXPECT_OK(cuMemAlloc(&p, 64 << 20));
    EXPECT_OK(cuMemsetD8(p, 1, 64 << 20));
    EXPECT_ERROR(cuMemAlloc(&p, 512 << 20), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(closed_descriptors)
{
    enum { FILES = 32, FILE_B = 1 << 20 };
    static unsigned char mark[FILE_B], now[FILE_B];
    int files[FILES];
    CUdeviceptr large, small;
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUipcMemHandle shared;
    start();
    EXPECT_OK(cuMemAlloc(&small, 4 << 20));
    EXPECT_OK(cuMemAlloc(&large, 64 << 20));
    EXPECT_OK(cuIpcGetMemHandle(&shared, small));
    EXPECT_OK(cuMemCreate(&memory, 2 << 20, &prop, 0));
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    memset(mark, 'x', sizeof mark);
    for (int i = 0; i < FILES; i++) { // they get the numbers of the driver's descriptors
        files[i] = memfd_create("the program's own", 0);
        EXPECT_EQ(write(files[i], mark, sizeof mark), FILE_B);
    }
    EXPECT_OK(cuMemsetD8(small, 7, 4 << 20)); // mapped memory still works
    EXPECT_OK(cuMemFree(small));
    EXPECT_OK(cuMemFree(large));
    EXPECT_OK(cuMemRelease(memory));
    CUresult r = cuMemAlloc(&large, 128 << 20);
    EXPECT(r == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    for (int i = 0; i < FILES; i++) {
        struct stat st;
        EXPECT_EQ(fstat(files[i], &st), 0);
        EXPECT_EQ(st.st_size, FILE_B);
        EXPECT_EQ(pread(files[i], now, sizeof now, 0), FILE_B);
        EXPECT(!memcmp(now, mark, sizeof now));
    }
}

// ---- copies that fault beside reservations

static void *reserve_and_free(void *unused)
{
    enum { COUNT = 500 };
    CUdeviceptr p[COUNT];
    (void)unused;
    cuCtxSetCurrent(primary);
    while (!atomic_load(&stop)) {
        for (int i = 0; i < COUNT; i++)
            if (cuMemAddressReserve(&p[i], 2 << 20, 0, 0, 0))
                p[i] = 0;
        for (int i = 0; i < COUNT; i++)
            if (p[i])
                cuMemAddressFree(p[i], 2 << 20);
    }
    return NULL;
}

// To explain a fault, the driver asks whether the address is the device's, while other threads
// change the set of those addresses.
TEST(faults_beside_reservations)
{
    pthread_t threads[THREADS];
    CUdeviceptr p;
    setenv("CARDLESS_DIAGNOSTICS", "off", 1); // every copy fails
    start();
    EXPECT_OK(cuMemAlloc(&p, 4096));
    void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(bad != MAP_FAILED);
    each_thread(threads, reserve_and_free, NULL);
    for (int i = 0; i < 2000; i++)
        EXPECT_EQ(cuMemcpyHtoD(p, bad, 64), CUDA_ERROR_INVALID_VALUE);
    join(threads);
}

TESTS(CASE(free_among_busy_threads), CASE(destroy_among_busy_threads), CASE(one_stream_for_all),
      CASE(deep_queue_that_waits), CASE(deep_queue_after_host_function),
      CASE(context_goes_under_its_objects), CASE(nothing_stays_of_a_context),
      CASE(cancelled_thread), CASE(allocations_take_no_descriptors), CASE(small_files),
      CASE(closed_descriptors), CASE(faults_beside_reservations))
