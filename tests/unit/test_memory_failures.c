// SPDX-License-Identifier: MIT
// Fails each allocation, and each system call that allocates, once in every memory call. Each
// failure should be CUDA_ERROR_OUT_OF_MEMORY and should change nothing, and the call should succeed
// afterwards. Linked with the rooms themselves because the library does not export the countdown.
#include "fail_each.h"

static char pages[8192] __attribute__((aligned(4096)));
static CUmemoryPool pool;

static CUdeviceptr made;
static void *made_host;

static void free_made(void)
{
    EXPECT_OK(cuMemFree(made));
}

static CUresult alloc_small(void)
{
    return cuMemAlloc(&made, 1000);
}

static CUresult alloc_large(void)
{
    return cuMemAlloc(&made, 40 << 20);
}

static CUresult alloc_pitch(void)
{
    size_t pitch;
    return cuMemAllocPitch(&made, &pitch, 5000, 1000, 4);
}

static CUresult alloc_managed(void)
{
    return cuMemAllocManaged(&made, 100000, CU_MEM_ATTACH_GLOBAL);
}

static CUresult alloc_host(void)
{
    return cuMemHostAlloc(&made_host, 100000, 0);
}

static CUresult alloc_host_large(void)
{
    return cuMemHostAlloc(&made_host, 4 << 20, CU_MEMHOSTALLOC_WRITECOMBINED);
}

static void free_host(void)
{
    EXPECT_OK(cuMemFreeHost(made_host));
}

static CUresult register_pages(void)
{
    return cuMemHostRegister(pages, sizeof pages, 0);
}

static void unregister_pages(void)
{
    EXPECT_OK(cuMemHostUnregister(pages));
}

static CUresult alloc_pooled(void)
{
    return cuMemAllocFromPoolAsync(&made, 40 << 20, pool, NULL);
}

static CUresult alloc_default_pool(void)
{
    return cuMemAllocAsync(&made, 100, NULL);
}

static void free_pooled(void)
{
    EXPECT_OK(cuMemFreeAsync(made, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
}

static CUresult create_pool(int types)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    props.handleTypes = (CUmemAllocationHandleType)types;
    return cuMemPoolCreate(&pool, &props);
}

static CUresult create_plain_pool(void)
{
    return create_pool(0);
}

static CUresult create_shared_pool(void)
{
    return create_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static void destroy_pool(void)
{
    EXPECT_OK(cuMemPoolDestroy(pool));
}

static CUdeviceptr managed;

static CUresult advise(void)
{
    CUmemLocation l = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    for (int i = 0; i < 8; i++) {
        CUresult r =
            cuMemAdvise(managed + 8192 * (unsigned)i, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, l);
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

static CUresult fill(void)
{
    return cuMemsetD8(managed, 1, 65536);
}

static void nothing(void)
{
}

// The first calls of a process: they create the address space, the heaps and the default pools.
TEST(first_calls)
{
    test_context();
    fail_each("cuMemAlloc", alloc_small, free_made);
    fail_each("cuMemHostAlloc", alloc_host, free_host);
    fail_each("cuMemAllocAsync", alloc_default_pool, free_pooled);
}

TEST(device_memory)
{
    test_context();
    fail_each("cuMemAlloc, small", alloc_small, free_made);
    fail_each("cuMemAlloc, large", alloc_large, free_made);
    fail_each("cuMemAllocPitch", alloc_pitch, free_made);
    fail_each("cuMemAllocManaged", alloc_managed, free_made);
}

TEST(host_memory)
{
    test_context();
    fail_each("cuMemHostAlloc", alloc_host, free_host);
    fail_each("cuMemHostAlloc, large", alloc_host_large, free_host);
    fail_each("cuMemHostRegister", register_pages, unregister_pages);
}

TEST(pools)
{
    test_context();
    fail_each("cuMemPoolCreate", create_plain_pool, destroy_pool);
    fail_each("cuMemPoolCreate, shared", create_shared_pool, destroy_pool);
    MUST(create_plain_pool());
    fail_each("cuMemAllocFromPoolAsync", alloc_pooled, free_pooled);
    destroy_pool();
    MUST(create_shared_pool());
    fail_each("cuMemAllocFromPoolAsync, shared", alloc_pooled, free_pooled);
    destroy_pool();
}

// A free in a stream that waits needs memory for its command. Without it, the address stays
// valid.
static CUstream stream;
static atomic_uint *go_on;

static CUresult free_later(void)
{
    return cuMemFreeAsync(made, stream);
}

static void let_go(void)
{
    EXPECT_ERROR(cuMemsetD8Async(made, 1, 100, stream), CUDA_ERROR_INVALID_VALUE);
    *go_on = 1;
}

static void free_later_fails(const char *name, CUresult (*allocate)(void))
{
    MUST(allocate()); // stays, so that the next one shares its chunk or block
    MUST(allocate());
    go_on = test_hold(stream);
    fail_each(name, free_later, let_go);
}

TEST(free_in_stream_order)
{
    test_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    free_later_fails("cuMemFreeAsync of cuMemAlloc", alloc_small);
    free_later_fails("cuMemFreeAsync of cuMemAllocManaged", alloc_managed);
    free_later_fails("cuMemFreeAsync of cuMemAllocAsync", alloc_default_pool);
}

TEST(use)
{
    test_context();
    MUST(cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    fail_each("cuMemAdvise", advise, nothing);
    fail_each("cuMemsetD8", fill, nothing);
    EXPECT_OK(cuMemFree(managed));
}

TESTS(CASE(first_calls), CASE(device_memory), CASE(host_memory), CASE(pools),
      CASE(free_in_stream_order), CASE(use))
