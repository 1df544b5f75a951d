// SPDX-License-Identifier: MIT
// Virtual memory management: reservations, physical memory, mappings, and access.
#include <time.h>

#include "read_byte.h"
#include "vmm.h"

static size_t free_now(void)
{
    size_t free_B = 0;
    EXPECT_OK(cuMemGetInfo(&free_B, NULL));
    return free_B;
}

TEST(reserve)
{
    CUdeviceptr va = 77, other;
    MUST(cuInit(0));
    EXPECT_ERROR(cuMemAddressReserve(&va, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressReserve(&va, G + 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressReserve(&va, G, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressReserve(&va, G, 0, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressReserve(&va, G, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressReserve(&va, UINT64_C(1) << 62, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAddressReserve(&va, UINT64_MAX & ~(G - 1), 0, 0, 0),
                 CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemAddressReserve(NULL, G, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(va, 77);
    EXPECT_OK(cuMemAddressReserve(&va, 3 * G, 64 * MIB, 0, 0));
    EXPECT_EQ(va % (64 * MIB), 0);
    EXPECT_OK(cuMemAddressReserve(&other, G, 0, 0, 0));
    EXPECT(other + G <= va || va + 3 * G <= other);
    EXPECT_ERROR(cuMemAddressFree(va, G), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressFree(va + G, 2 * G), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAddressFree(va, 3 * G));
    EXPECT_ERROR(cuMemAddressFree(va, 3 * G), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAddressFree(other, G));
}

TEST(create)
{
    CUmemGenericAllocationHandle h = 77;
    CUmemAllocationProp p = device_memory(0), got;
    size_t granularity, before;
    test_context();
    before = free_now();
    EXPECT_OK(cuMemGetAllocationGranularity(&granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT_EQ(granularity, G);
    EXPECT_ERROR(
        cuMemGetAllocationGranularity(&granularity, &p, (CUmemAllocationGranularity_flags)2),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemCreate(&h, 0, &p, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemCreate(&h, G - 1, &p, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemCreate(&h, G, &p, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemCreate(&h, G, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemCreate(&h, UINT64_C(1) << 50, &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemCreate(&h, UINT64_MAX & ~(G - 1), &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
    p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    EXPECT_ERROR(cuMemCreate(&h, G, &p, 0), CUDA_ERROR_INVALID_VALUE);
    p = device_memory(0);
    p.location.id = 99;
    EXPECT_ERROR(cuMemCreate(&h, G, &p, 0), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(h, 77);
    EXPECT_EQ(free_now(), before);

    p = device_memory(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    EXPECT_OK(cuMemCreate(&h, 3 * G, &p, 0));
    EXPECT_EQ(before - free_now(), 3 * G);
    EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&got, h));
    EXPECT_EQ(got.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    EXPECT_EQ(got.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_OK(cuMemRelease(h));
    EXPECT_EQ(free_now(), before);
    EXPECT_ERROR(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemGetAllocationPropertiesFromHandle(&got, h), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRelease(UINT64_MAX), CUDA_ERROR_INVALID_VALUE);
}

TEST(map_and_use)
{
    unsigned word;
    test_context();
    size_t before = free_now();
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(3 * G);
    EXPECT_ERROR(cuMemsetD32(va, 1, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemMap(va + G, G, 0, h, 0));
    EXPECT_ERROR(cuMemsetD32(va + G, 1, 4),
                 CUDA_ERROR_INVALID_VALUE); // mapped, but not yet accessible
    EXPECT_OK(allow(va + G, G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    EXPECT_OK(cuMemsetD32(va + G, 0x12345678, G / 4));
    EXPECT_OK(cuMemcpyDtoH(&word, va + 2 * G - 4, 4));
    EXPECT_EQ(word, 0x12345678);
    EXPECT_ERROR(cuMemsetD32(va + G, 1, G / 4 + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAddressFree(va, 3 * G), CUDA_ERROR_INVALID_VALUE); // a mapping is still there
    EXPECT_ERROR(cuMemFree(va + G), CUDA_ERROR_INVALID_VALUE);

    // "cuMemRelease: the memory is freed when all mappings are gone as well"
    EXPECT_OK(cuMemRelease(h));
    EXPECT_EQ(before - free_now(), G);
    EXPECT_OK(cuMemcpyDtoH(&word, va + G, 4));
    EXPECT_EQ(word, 0x12345678);
    EXPECT_OK(cuMemUnmap(va + G, G));
    EXPECT_EQ(free_now(), before);
    EXPECT_ERROR(cuMemcpyDtoH(&word, va + G, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAddressFree(va, 3 * G));
}

TEST(map_refused)
{
    test_context();
    CUmemGenericAllocationHandle h = create(2 * G, 0), other = create(G, 0);
    CUdeviceptr va = reserve(32 * MIB), ordinary;
    MUST(cuMemAlloc(&ordinary, 4 * MIB));
    EXPECT_ERROR(cuMemMap(va, 0, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(va, 2 * G, 0, h, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(va, 2 * G, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(va, G, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED); // only a part of the memory
    EXPECT_ERROR(cuMemMap(va, G, G, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemMap(va + 4096, G, 0, h, 0),
                 CUDA_ERROR_NOT_SUPPORTED); // the size is checked first
    EXPECT_ERROR(cuMemMap(va + 4096, 2 * G, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(0, G, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(ordinary, 2 * G, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMap(va + 30 * MIB, 2 * G, 0, h, 0),
                 CUDA_ERROR_INVALID_VALUE); // exceeds the reservation
    EXPECT_OK(cuMemMap(va, 2 * G, 0, h, 0));
    EXPECT_ERROR(cuMemMap(va + G, G, 0, other, 0), CUDA_ERROR_INVALID_VALUE); // already mapped
    EXPECT_OK(cuMemMap(va + 2 * G, G, 0, other, 0));
    EXPECT_ERROR(cuMemUnmap(va, G), CUDA_ERROR_INVALID_VALUE); // half of a mapping
    EXPECT_ERROR(cuMemUnmap(ordinary, 4 * MIB), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemUnmap(va, UINT64_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemUnmap(va, 3 * G)); // both mappings
    EXPECT_OK(cuMemRelease(h));
    EXPECT_ERROR(cuMemMap(va, 2 * G, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemRelease(other));
    EXPECT_OK(cuMemAddressFree(va, 32 * MIB));
    EXPECT_OK(cuMemFree(ordinary));
}

TEST(aliases_and_neighbours)
{
    unsigned word;
    test_context();
    CUmemGenericAllocationHandle a = create(G, 0), b = create(G, 0);
    CUdeviceptr va = reserve(4 * G);
    EXPECT_OK(cuMemMap(va, G, 0, a, 0));
    EXPECT_OK(cuMemMap(va + G, G, 0, b, 0));
    EXPECT_OK(cuMemMap(va + 3 * G, G, 0, a, 0)); // the same memory once more
    EXPECT_ERROR(allow(va, 4 * G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                 CUDA_ERROR_INVALID_VALUE); // the range has a hole
    EXPECT_OK(allow(va, 2 * G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    EXPECT_OK(allow(va + 3 * G, G, CU_MEM_ACCESS_FLAGS_PROT_READ));
    EXPECT_OK(cuMemsetD32(va + G - 8, 0xabcd, 4)); // across the seam
    EXPECT_OK(cuMemcpyDtoH(&word, va + 4 * G - 4, 4));
    EXPECT_EQ(word, 0xabcd);
    EXPECT_OK(cuMemcpyDtoH(&word, va + G + 4, 4));
    EXPECT_EQ(word, 0xabcd);
    EXPECT_ERROR(cuMemsetD32(va + 3 * G, 0, 1),
                 CUDA_ERROR_INVALID_VALUE); // mapped for reading only
    EXPECT_OK(cuMemUnmap(va, 4 * G));
    EXPECT_OK(cuMemAddressFree(va, 4 * G));
    EXPECT_OK(cuMemRelease(a));
    EXPECT_OK(cuMemRelease(b));
}

TEST(access)
{
    unsigned long long flags = 77;
    CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                  none = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 9};
    CUmemAccessDesc bad = {.location = none, .flags = CU_MEM_ACCESS_FLAGS_PROT_READ};
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(G);
    EXPECT_ERROR(allow(va, G, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemMap(va, G, 0, h, 0));
    EXPECT_OK(cuMemGetAccess(&flags, &device, va));
    EXPECT_EQ(flags, 0);
    EXPECT_ERROR(allow(va, G, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(va, G, &bad, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(va, G, &bad, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(va, G, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(allow(va, G, CU_MEM_ACCESS_FLAGS_PROT_READ));
    EXPECT_OK(cuMemGetAccess(&flags, &device, va + 12345));
    EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_ERROR(cuMemGetAccess(&flags, &none, va), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_OK(cuMemUnmap(va, G));
    EXPECT_ERROR(cuMemGetAccess(&flags, &device, va), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAddressFree(va, G));
    EXPECT_OK(cuMemRelease(h));
}

TEST(retain)
{
    CUmemGenericAllocationHandle again = 77;
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(2 * G), ordinary;
    MUST(cuMemAlloc(&ordinary, G));
    EXPECT_OK(cuMemMap(va, G, 0, h, 0));
    EXPECT_OK(cuMemRelease(h));
    EXPECT_ERROR(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(va + 100)));
    EXPECT_EQ(again, h);
    EXPECT_OK(cuMemMap(va + G, G, 0, again, 0));
    EXPECT_OK(cuMemRelease(again));
    EXPECT_ERROR(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)ordinary),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)16),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemUnmap(va, 2 * G));
    EXPECT_ERROR(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)va),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemAddressFree(va, 2 * G));
    EXPECT_OK(cuMemFree(ordinary));
}

static void sleep_a_while(void *data)
{
    (void)data;
    usleep(100000);
}

// Memory should not be freed before the work that uses it has run.
TEST(unmap_with_work_pending)
{
    unsigned word = 0;
    CUstream s;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(2 * G);
    MUST(cuMemMap(va, G, 0, h, 0));
    MUST(allow(va, G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    MUST(cuLaunchHostFunc(s, sleep_a_while, NULL));
    MUST(cuMemsetD32Async(va, 7, G / 4, s));
    EXPECT_OK(allow(va, G, CU_MEM_ACCESS_FLAGS_PROT_READ));
    EXPECT_OK(cuMemcpyDtoH(&word, va + G - 4, 4));
    EXPECT_EQ(word, 7);
    MUST(allow(va, G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    MUST(cuLaunchHostFunc(s, sleep_a_while, NULL));
    MUST(cuMemsetD32Async(va, 8, G / 4, s));
    EXPECT_OK(cuMemUnmap(va, G));
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cuMemMap(va + G, G, 0, h, 0));
    MUST(allow(va + G, G, CU_MEM_ACCESS_FLAGS_PROT_READ));
    EXPECT_OK(cuMemcpyDtoH(&word, va + 2 * G - 4, 4));
    EXPECT_EQ(word, 8);
}

static void map_for(CUdeviceptr va, CUmemGenericAllocationHandle h, CUmemAccess_flags access)
{
    MUST(cuMemMap(va, G, 0, h, 0));
    MUST(allow(va, G, access));
}

// A program may map memory in the same place again and again. Each time it has the bytes and the
// access of that memory.
TEST(mapped_again)
{
    unsigned word;
    test_context();
    CUfunction function = load_reader();
    size_t before = free_now();
    CUmemGenericAllocationHandle h[] = {create(G, 0), create(G, 0)};
    CUdeviceptr va = reserve(G);
    for (unsigned i = 0; i < 12; i++) {
        unsigned n = i / 3 % 2;
        map_for(va, h[n], CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        if (i > 5) {
            EXPECT_OK(cuMemcpyDtoH(&word, va, sizeof word));
            EXPECT_EQ(word, 100 * n + (i + 2) % 3);
        }
        word = 100 * n + i % 3;
        EXPECT_OK(cuMemcpyHtoD(va, &word, sizeof word));
        if (i % 2)
            EXPECT_OK(read_in_kernel(function, va));
        EXPECT_OK(cuMemUnmap(va, G));
        EXPECT_ERROR(cuMemcpyHtoD(va, &word, sizeof word), CUDA_ERROR_INVALID_VALUE);
        map_for(va, h[n], CU_MEM_ACCESS_FLAGS_PROT_READ);
        EXPECT_ERROR(cuMemcpyHtoD(va, &word, sizeof word), CUDA_ERROR_INVALID_VALUE);
        EXPECT_OK(cuMemcpyDtoH(&word, va, sizeof word));
        EXPECT_EQ(word, 100 * n + i % 3);
        EXPECT_OK(cuMemUnmap(va, G));
    }
    EXPECT_OK(cuMemRelease(h[0]));
    EXPECT_OK(cuMemRelease(h[1]));
    EXPECT_EQ(free_now(), before);
    EXPECT_OK(cuMemAddressFree(va, G));
}

// A kernel cannot reach memory that was unmapped, though other memory is mapped there.
TEST(unmapped_is_gone)
{
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0), other = create(G, 0);
    CUdeviceptr va = reserve(G);
    CUfunction function = load_reader();
    map_for(va, h, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_OK(read_in_kernel(function, va));
    EXPECT_OK(cuMemUnmap(va, G));
    MUST(cuMemMap(va, G, 0, other, 0));
    EXPECT_ERROR(read_in_kernel(function, va), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(unmapped_for_writing)
{
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(G);
    CUfunction function = load_reader();
    map_for(va, h, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_OK(cuMemUnmap(va, G));
    map_for(va, h, CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_ERROR(read_in_kernel(function, va), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Prints a figure instead of testing a limit, because a busy machine would exceed it.
TEST(speed)
{
    enum { ROUNDS = 2000 };
    struct timespec from, to;
    test_context();
    CUmemGenericAllocationHandle h = create(G, 0);
    CUdeviceptr va = reserve(G);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuMemMap(va, G, 0, h, 0));
        MUST(allow(va, G, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        MUST(cuMemUnmap(va, G));
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("# cuMemMap + cuMemSetAccess + cuMemUnmap of 2 MiB: %.2f us\n",
           ((double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3) /
               ROUNDS);
}

TESTS(CASE(reserve), CASE(create), CASE(map_and_use), CASE(map_refused),
      CASE(aliases_and_neighbours), CASE(access), CASE(retain), CASE(unmap_with_work_pending),
      CASE(mapped_again), CASE(unmapped_is_gone), CASE(unmapped_for_writing), CASE(speed))
