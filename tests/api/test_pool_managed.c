// SPDX-License-Identifier: MIT
// Pools of managed memory.
#include "../harness.h"

enum { BLOCK = 32 << 20 };

static const CUmemLocation device_0 = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                           on_host = {.type = CU_MEM_LOCATION_TYPE_HOST},
                           on_node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA},
                           nowhere = {.type = CU_MEM_LOCATION_TYPE_NONE};

static CUmemoryPool new_pool(CUmemLocation location)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
                                  .location = location};
    CUmemoryPool pool;
    MUST(cuMemPoolCreate(&pool, &props));
    return pool;
}

static cuuint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t v = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, attribute, &v));
    return v;
}

static int int_attribute(CUdeviceptr p, CUpointer_attribute attribute)
{
    int v = 77;
    EXPECT_OK(cuPointerGetAttribute(&v, attribute, p));
    return v;
}

// The host and the device access the same bytes.
static void use_pool(CUmemLocation location)
{
    CUdeviceptr p;
    CUmemoryPool pool = new_pool(location), of_pointer;
    EXPECT_OK(cuMemAllocFromPoolAsync(&p, 100000, pool, NULL));
    EXPECT_OK(cuMemsetD8Async(p, 5, 100000, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    char *h = (char *)(uintptr_t)p, first = 0;
    EXPECT_EQ(h[99999], 5);
    h[0] = 6;
    EXPECT_OK(cuMemcpyDtoH(&first, p, 1));
    EXPECT_EQ(first, 6);
    EXPECT_EQ(int_attribute(p, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
    EXPECT_EQ(int_attribute(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
    EXPECT_OK(cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    EXPECT(of_pointer == pool);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 100000);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), BLOCK);
    EXPECT_OK(cuMemFreeAsync(p, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST(both_sides)
{
    test_context();
    use_pool(device_0);
    use_pool(on_host);
    use_pool(on_node);
    use_pool(nowhere);
}

// A kernel writes, and the host reads.
TEST(kernels)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %x;\nld.param.u64 %x, [p];\nst.global.u32 [%x], 42;\nret;\n}\n";
    CUdeviceptr p;
    CUmodule module;
    CUfunction f;
    test_context();
    CUmemoryPool pool = new_pool(nowhere);
    MUST(cuModuleLoadData(&module, text));
    MUST(cuModuleGetFunction(&f, module, "k"));
    MUST(cuMemAllocFromPoolAsync(&p, 4, pool, NULL));
    void *arguments[] = {&p};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(*(unsigned *)(uintptr_t)p, 42);
    EXPECT_OK(cuMemFree(p));
}

TEST(advice)
{
    int v = 77;
    CUdeviceptr p;
    test_context();
    CUmemoryPool pool = new_pool(device_0);
    MUST(cuMemAllocFromPoolAsync(&p, 8192, pool, NULL));
    EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0));
    EXPECT_OK(cuMemRangeGetAttribute(&v, sizeof v, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
    EXPECT_EQ(v, 1);
    EXPECT_OK(cuMemPrefetchAsync(p, 8192, on_host, 0, NULL));
    EXPECT_OK(cuMemRangeGetAttribute(&v, sizeof v, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p,
                                     8192));
    EXPECT_EQ(v, CU_DEVICE_CPU);
    EXPECT_OK(cuMemFree(p));
    // Another allocation at the same address has no advice.
    MUST(cuMemAllocFromPoolAsync(&p, 8192, pool, NULL));
    EXPECT_OK(cuMemRangeGetAttribute(&v, sizeof v, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
    EXPECT_EQ(v, 0);
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuMemPoolDestroy(pool));
}

// A location has a default and a current pool for each kind of memory.
TEST(pools_of_locations)
{
    static const CUmemLocation *const locations[] = {&device_0, &on_host, &on_node, &nowhere};
    CUmemoryPool standard[4], pinned, now;
    test_context();
    for (int i = 0; i < 4; i++) {
        CUmemLocation l = *locations[i];
        EXPECT_OK(cuMemGetDefaultMemPool(&standard[i], &l, CU_MEM_ALLOCATION_TYPE_MANAGED));
        EXPECT_OK(cuMemGetMemPool(&now, &l, CU_MEM_ALLOCATION_TYPE_MANAGED));
        EXPECT(now == standard[i]);
        for (int k = 0; k < i; k++)
            EXPECT(standard[k] != standard[i]);
        EXPECT_ERROR(cuMemPoolDestroy(standard[i]), CUDA_ERROR_INVALID_VALUE);
        CUresult r = cuMemGetDefaultMemPool(&pinned, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
        EXPECT_EQ(r, i == 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        if (!r)
            EXPECT(pinned != standard[i]);
        CUmemoryPool own = new_pool(l);
        EXPECT_OK(cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_MANAGED, own));
        EXPECT_ERROR(cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, own),
                     CUDA_ERROR_INVALID_VALUE);
        EXPECT_OK(cuMemGetMemPool(&now, &l, CU_MEM_ALLOCATION_TYPE_MANAGED));
        EXPECT(now == own);
        EXPECT_OK(cuMemPoolDestroy(own));
        EXPECT_OK(cuMemGetMemPool(&now, &l, CU_MEM_ALLOCATION_TYPE_MANAGED));
        EXPECT(now == standard[i]);
    }
    // A device has a current pool for each kind of memory.
    CUmemoryPool own = new_pool(device_0), of_device;
    MUST(cuDeviceGetMemPool(&of_device, 0));
    EXPECT_OK(cuDeviceSetMemPool(0, own));
    EXPECT_OK(cuDeviceGetMemPool(&now, 0));
    EXPECT(now == of_device);
    EXPECT_OK(cuMemGetMemPool(&now, &(CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              CU_MEM_ALLOCATION_TYPE_MANAGED));
    EXPECT(now == own);
    EXPECT_OK(cuMemPoolDestroy(own));
}

TEST(refused)
{
    int fd;
    CUmemoryPool pool;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                            .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    test_context();
    EXPECT_MESSAGE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE, "exported");
    props.handleTypes = 0;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    props.location = nowhere;
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    pool = new_pool(device_0);
    EXPECT_ERROR(
        cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemPoolDestroy(pool));
    pool = new_pool(on_host);
    EXPECT_ERROR(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemPoolDestroy(pool));
    props = (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED, .maxSize = BLOCK};
    EXPECT_MESSAGE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE, "maxSize");
    props = (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED, .usage = 1};
    EXPECT_MESSAGE(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE, "usage");
    props = (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
                             .location = {.type = (CUmemLocationType)99}};
    EXPECT_ERROR(cuMemPoolCreate(&pool, &props), CUDA_ERROR_NOT_SUPPORTED);
}

static CUresult set_access(CUmemoryPool pool, CUmemLocation location, CUmemAccess_flags flags)
{
    return cuMemPoolSetAccess(pool, &(CUmemAccessDesc){location, flags}, 1);
}

static int get_access(CUmemoryPool pool, CUmemLocation location)
{
    CUmemAccess_flags flags = 77;
    EXPECT_OK(cuMemPoolGetAccess(&flags, pool, &location));
    return (int)flags;
}

// As on an H200: at first, no access is noted, although all can access the memory.
TEST(access)
{
    const CUmemLocation no_device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
    test_context();
    CUmemoryPool pool = new_pool(device_0);
    EXPECT_EQ(get_access(pool, device_0), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT_EQ(get_access(pool, on_host), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT_OK(set_access(pool, device_0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    EXPECT_OK(set_access(pool, on_host, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    EXPECT_EQ(get_access(pool, device_0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_EQ(get_access(pool, on_host), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_EQ(get_access(pool, on_node), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_OK(set_access(pool, device_0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    EXPECT_EQ(get_access(pool, device_0), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT_ERROR(set_access(pool, device_0, CU_MEM_ACCESS_FLAGS_PROT_READ),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(set_access(pool, on_host, (CUmemAccess_flags)2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(set_access(pool, nowhere, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(set_access(pool, no_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                 CUDA_ERROR_INVALID_DEVICE);
    EXPECT_OK(cuMemPoolDestroy(pool));
}

// A graph has no memory from such a pool.
TEST(capture)
{
    CUdeviceptr p;
    CUstream s;
    CUgraph graph;
    test_context();
    CUmemoryPool pool = new_pool(device_0);
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_MESSAGE(cuMemAllocFromPoolAsync(&p, 64, pool, s), CUDA_ERROR_INVALID_VALUE,
                   "pool has managed memory; a captured allocation needs a pool of device memory");
    cuStreamEndCapture(s, &graph);
}

// The program writes without a call, so no byte counts as unwritten.
TEST(writes_of_the_host)
{
    CUdeviceptr p;
    char byte;
    test_setting("CARDLESS_CHECK", "memory");
    test_context();
    CUmemoryPool pool = new_pool(device_0);
    MUST(cuMemAllocFromPoolAsync(&p, 64, pool, NULL));
    *(char *)(uintptr_t)p = 1;
    EXPECT_OK(cuMemcpyDtoH(&byte, p, 1));
    EXPECT_EQ(byte, 1);
    EXPECT_OK(cuMemFree(p));
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(both_sides), CASE(kernels), CASE(advice), CASE(pools_of_locations), CASE(refused),
      CASE(access), CASE(capture), CASE(writes_of_the_host))
