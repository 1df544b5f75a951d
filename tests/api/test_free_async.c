// SPDX-License-Identifier: MIT
// cuMemFreeAsync of every kind of memory: it returns at once, the address is invalid from then on,
// and the memory is free when the stream has reached it.
#include <pthread.h>

#include "../harness.h"

enum { LARGE = 4 << 20 };

static CUstream s, t;

static void start(void)
{
    CUdeviceptr first;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&first, 64));
}

static size_t free_B(void)
{
    size_t now = 0;
    MUST(cuMemGetInfo(&now, NULL));
    return now;
}

static CUresult range_of(CUdeviceptr p)
{
    CUdeviceptr base;
    size_t size;
    return cuMemGetAddressRange(&base, &size, p);
}

static CUdeviceptr allocate(size_t size)
{
    CUdeviceptr p = 0;
    MUST(cuMemAlloc(&p, size));
    return p;
}

// The program's next statement is the only one that can end the wait: a free that waits for the
// stream never returns.
TEST(same_stream_waits)
{
    start();
    unsigned char *copy;
    MUST(cuMemHostAlloc((void **)&copy, LARGE, 0));
    size_t before = free_B();
    CUdeviceptr p = allocate(LARGE);
    atomic_uint *go_on = test_hold(s);
    MUST(cuMemsetD8Async(p, 7, LARGE, s));
    MUST(cuMemcpyDtoHAsync(copy, p, LARGE, s));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(before - free_B(), LARGE);
    EXPECT_ERROR(range_of(p), CUDA_ERROR_NOT_FOUND);
    EXPECT_MESSAGE(cuMemFreeAsync(p, s), CUDA_ERROR_INVALID_VALUE, "was freed by cuMemFreeAsync");
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8Async(p, 1, 1, s), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr other = allocate(LARGE);
    EXPECT(other != p);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(copy[0], 7); // the memory was there until the stream reached the free
    EXPECT_EQ(copy[LARGE - 1], 7);
    EXPECT_EQ(before - free_B(), LARGE); // the other allocation
    EXPECT_ERROR(cuMemFreeAsync(p, s), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemFree(other));
    EXPECT_EQ(free_B(), before);
}

TEST(other_stream_waits)
{
    start();
    CUdeviceptr kept = allocate(LARGE);
    size_t before = free_B();
    CUdeviceptr p = allocate(LARGE);
    atomic_uint *go_on = test_hold(t);
    MUST(cuMemsetD8Async(kept, 1, LARGE, t));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_EQ(free_B(), before); // nothing is ahead of it in its own stream
    EXPECT_ERROR(cuStreamQuery(t), CUDA_ERROR_NOT_READY);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(t));
}

static atomic_uint may_return;

static void CUDA_CB wait_for_program(void *unused)
{
    (void)unused;
    while (!may_return)
        usleep(100);
}

TEST(host_function_waits)
{
    start();
    size_t before = free_B();
    CUdeviceptr p = allocate(LARGE);
    MUST(cuLaunchHostFunc(s, wait_for_program, NULL));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_EQ(before - free_B(), LARGE);
    may_return = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(free_B(), before);
}

// A small block that was freed last is the next one to be allocated, but only after its stream has
// reached the free.
TEST(address_is_used_again)
{
    start();
    CUdeviceptr p = allocate(1000);
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_EQ(allocate(1000), p);
    atomic_uint *go_on = test_hold(s);
    EXPECT_OK(cuMemFreeAsync(p, s));
    CUdeviceptr meanwhile = allocate(1000);
    EXPECT(meanwhile != p);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    CUdeviceptr again = allocate(1000);
    EXPECT_EQ(again, p);
    EXPECT_OK(cuMemsetD8(again, 3, 1000));
    EXPECT_OK(cuMemFree(again));
    EXPECT_OK(cuMemFree(meanwhile));
}

// The program frees `p` in a stream that it holds.
static void free_held(CUdeviceptr p)
{
    atomic_uint *go_on = test_hold(s);
    MUST(cuMemsetD8Async(p, 1, 4096, s));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_ERROR(cuMemFreeAsync(p, s), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(range_of(p), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s)); // a fill of memory that is gone would be an error
}

TEST(kinds)
{
    CUdeviceptr p;
    size_t pitch;
    start();
    MUST(cuMemAllocPitch(&p, &pitch, 5000, 100, 4));
    free_held(p);
    MUST(cuMemAllocManaged(&p, LARGE, CU_MEM_ATTACH_GLOBAL));
    free_held(p);
    MUST(cuMemAllocAsync(&p, LARGE, s));
    free_held(p);
}

// An imported pointer ends in this pool only. Importing it again meanwhile makes a new mapping.
TEST(imported_pointer)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool, imported;
    CUmemPoolPtrExportData data;
    CUdeviceptr p, q, again;
    unsigned char byte = 0;
    int fd;
    start();
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuMemAllocFromPoolAsync(&p, 4096, pool, s));
    MUST(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemPoolExportPointer(&data, p));
    MUST(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemPoolImportPointer(&q, imported, &data));
    atomic_uint *go_on = test_hold(s);
    MUST(cuMemsetD8Async(q, 9, 4096, s));
    EXPECT_OK(cuMemFreeAsync(q, s));
    EXPECT_ERROR(range_of(q), CUDA_ERROR_NOT_FOUND);
    MUST(cuMemPoolImportPointer(&again, imported, &data));
    EXPECT(again != q);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH(&byte, again + 4095, 1));
    EXPECT_EQ(byte, 9);
    EXPECT_OK(cuMemFreeAsync(again, s));
    close(fd);
}

// A free that is refused does not wait either.
TEST(refused)
{
    void *host;
    start();
    CUdeviceptr p = allocate(LARGE);
    MUST(cuMemHostAlloc(&host, 4096, 0));
    atomic_uint *go_on = test_hold(s);
    MUST(cuMemsetD8Async(p, 1, LARGE, s));
    EXPECT_MESSAGE(cuMemFreeAsync((CUdeviceptr)(uintptr_t)host, s), CUDA_ERROR_INVALID_VALUE,
                   "must be freed by cuMemFreeHost");
    EXPECT_MESSAGE(cuMemFreeAsync(p + 512, s), CUDA_ERROR_INVALID_VALUE,
                   "dptr must be the address that the allocation returned");
    EXPECT_ERROR(cuMemFreeAsync(16, s), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(range_of(p));
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(cuMemFreeAsync(p, s));
}

// Memory of a graph is allocated again by its launches. When the graph is gone, no other allocation
// gets the addresses before the stream has reached the free.
TEST(graph_memory)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    CUDA_MEM_ALLOC_NODE_PARAMS a = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 4096};
    start();
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddMemAllocNode(&n, g, NULL, 0, &a));
    CUdeviceptr p = a.dptr;
    MUST(cuGraphInstantiate(&x, g, 0));
    MUST(cuGraphLaunch(x, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuGraphExecDestroy(x));
    MUST(cuGraphDestroy(g));
    atomic_uint *go_on = test_hold(s);
    MUST(cuMemsetD8Async(p, 1, 4096, s));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_ERROR(cuMemFreeAsync(p, s), CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddMemAllocNode(&n, g, NULL, 0, &a));
    EXPECT(a.dptr != p);
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cuGraphAddMemAllocNode(&n, g, NULL, 0, &a));
    EXPECT_EQ(a.dptr, p);
    MUST(cuGraphDestroy(g));
}

// The end of the stream's context ends the free, too: the memory is not lost.
TEST(context_ends)
{
    CUcontext first = test_context(), second;
    start();
    size_t before = free_B();
    MUST(cuCtxCreate(&second, NULL, 0, 0));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    test_hold(s);
    CUdeviceptr p = allocate(LARGE);
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_EQ(before - free_B(), LARGE);
    EXPECT_OK(cuCtxDestroy(second));
    MUST(cuCtxSetCurrent(first));
    EXPECT_EQ(free_B(), before);
}

// The stream belongs to another context than the memory, whose own context may end first.
TEST(two_contexts)
{
    CUcontext first = test_context(), second;
    start();
    size_t before = free_B();
    MUST(cuCtxCreate(&second, NULL, 0, 0));
    CUdeviceptr p = allocate(LARGE), q = allocate(LARGE);
    MUST(cuCtxSetCurrent(first));
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_EQ(before - free_B(), LARGE);
    atomic_uint *go_on = test_hold(s);
    EXPECT_OK(cuMemFreeAsync(q, s));
    EXPECT_OK(cuCtxDestroy(second));
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(free_B(), before);
}

TEST(stream_is_destroyed)
{
    start();
    size_t before = free_B();
    CUdeviceptr p = allocate(LARGE);
    atomic_uint *go_on = test_hold(s);
    EXPECT_OK(cuMemFreeAsync(p, s));
    EXPECT_OK(cuStreamDestroy(s));
    EXPECT_EQ(before - free_B(), LARGE);
    *go_on = 1;
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(free_B(), before);
}

// Several threads free the same addresses at once: one of them succeeds for each.
enum { THREADS = 4, SHARED = 200 };
static CUdeviceptr shared[SHARED];
static atomic_uint succeeded;

static void *free_all(void *context)
{
    CUstream own;
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < SHARED; i++) {
        CUresult r = i % 2 ? cuMemFreeAsync(shared[i], own) : cuMemFreeAsync(shared[i], s);
        if (r)
            EXPECT_ERROR(r, CUDA_ERROR_INVALID_VALUE);
        else
            succeeded++;
    }
    EXPECT_OK(cuStreamSynchronize(own));
    return NULL;
}

TEST(threads)
{
    pthread_t thread[THREADS];
    start();
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    size_t before = free_B();
    for (int i = 0; i < SHARED; i++)
        shared[i] = allocate(i % 3 ? 1000 : LARGE);
    atomic_uint *go_on = test_hold(s);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, free_all, context);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    EXPECT_EQ(succeeded, SHARED);
    *go_on = 1;
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(free_B(), before);
}

TESTS(CASE(same_stream_waits), CASE(other_stream_waits), CASE(host_function_waits),
      CASE(address_is_used_again), CASE(kinds), CASE(imported_pointer), CASE(refused),
      CASE(graph_memory), CASE(context_ends), CASE(two_contexts), CASE(stream_is_destroyed),
      CASE(threads))
