// SPDX-License-Identifier: MIT
// Attributes of pointers, for every kind of memory.
#include "../harness.h"

static char mine[8192] __attribute__((aligned(4096)));

static unsigned long long word(CUdeviceptr p, CUpointer_attribute attribute)
{
    unsigned long long v = 0;
    EXPECT_OK(cuPointerGetAttribute(&v, attribute, p));
    return v;
}

TEST(device)
{
    CUcontext c = test_context();
    CUdeviceptr p;
    unsigned long long v;
    MUST(cuMemAlloc(&p, 1000));
    EXPECT_EQ(word(p + 10, CU_POINTER_ATTRIBUTE_CONTEXT), (uintptr_t)c);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(word(p + 10, CU_POINTER_ATTRIBUTE_DEVICE_POINTER), p + 10);
    EXPECT_EQ(word(p + 10, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), p);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_RANGE_SIZE), 1000);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE), 1);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MAPPING_SIZE), 2 << 20);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT(word(p, CU_POINTER_ATTRIBUTE_BUFFER_ID) != 0);
    v = 5;
    EXPECT_ERROR(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(v, 0);
}

TEST(host)
{
    void *h;
    test_context();
    MUST(cuMemAllocHost(&h, 1000));
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)h;
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
    EXPECT_EQ(word(p + 10, CU_POINTER_ATTRIBUTE_HOST_POINTER), p + 10);
    EXPECT_EQ(word(p + 10, CU_POINTER_ATTRIBUTE_DEVICE_POINTER), p + 10);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), 0);
    MUST(cuMemHostRegister(mine + 100, 5000, 0));
    p = (CUdeviceptr)(uintptr_t)mine + 100;
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_HOST);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR), (uintptr_t)mine);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MAPPING_SIZE), 8192);
}

TEST(managed)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAllocManaged(&p, 1000, CU_MEM_ATTACH_GLOBAL));
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_IS_MANAGED), 1);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(word(p + 1, CU_POINTER_ATTRIBUTE_HOST_POINTER), p + 1);
}

TEST(pooled)
{
    CUdeviceptr p;
    CUmemoryPool pool;
    test_context();
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    MUST(cuMemAllocAsync(&p, 1000, NULL));
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), (uintptr_t)pool);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_CONTEXT), 0);
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_MAPPING_SIZE), 32 << 20);
}

// "this function will not return an error when the ptr encountered is not a valid CUDA pointer.
// Instead, the attributes are assigned default NULL values"
TEST(unknown_pointer)
{
    int type = 7, ordinal = 7;
    void *host = NULL;
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *data[] = {&type, &ordinal, &host};
    test_context();
    EXPECT_ERROR(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       (CUdeviceptr)(uintptr_t)mine),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(type, 7);
    EXPECT_OK(cuPointerGetAttributes(3, list, data, (CUdeviceptr)(uintptr_t)mine));
    EXPECT_EQ(type, 0);
    EXPECT_EQ(ordinal, -2);
    EXPECT(host == mine);
}

TEST(bad_arguments)
{
    CUdeviceptr p;
    unsigned long long v[4];
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_P2P_TOKENS};
    void *data[] = {v, v + 1};
    test_context();
    MUST(cuMemAlloc(&p, 64));
    EXPECT_ERROR(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttribute(v, 0, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttribute(v, 1000, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(0, list, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(2, list, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuPointerGetAttributes(1, list, data, p));
    data[0] = NULL;
    EXPECT_ERROR(cuPointerGetAttributes(1, list, data, p), CUDA_ERROR_INVALID_VALUE);
}

TEST(set_sync_memops)
{
    CUdeviceptr p;
    unsigned on = 2, off = 0;
    test_context();
    MUST(cuMemAlloc(&p, 64));
    EXPECT_OK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + 10));
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), 0);
    EXPECT_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    EXPECT_EQ(word(p, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), 1);
    EXPECT_ERROR(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_BUFFER_ID, p),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0x1000),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
                 CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(device), CASE(host), CASE(managed), CASE(pooled), CASE(unknown_pointer),
      CASE(bad_arguments), CASE(set_sync_memops))
