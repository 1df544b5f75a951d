// SPDX-License-Identifier: MIT
// Managed memory, advice and prefetches.
#include <limits.h>

#include "../harness.h"

static const CUmemLocation device_0 = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                           on_host = {.type = CU_MEM_LOCATION_TYPE_HOST};

static CUdeviceptr managed(size_t size)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL));
    return p;
}

static int number(CUdeviceptr p, size_t size, CUmem_range_attribute attribute)
{
    int v = 77;
    EXPECT_OK(cuMemRangeGetAttribute(&v, sizeof v, attribute, p, size));
    return v;
}

TEST(both_sides)
{
    CUdeviceptr p = managed(100000);
    char *h = (char *)(uintptr_t)p;
    EXPECT_OK(cuMemsetD8(p, 5, 100000));
    EXPECT_EQ(h[99999], 5);
    h[0] = 6;
    char first = 0;
    EXPECT_OK(cuMemcpyDtoH(&first, p, 1));
    EXPECT_EQ(first, 6);
    EXPECT_OK(cuMemFree(p));
}

TEST(refused)
{
    CUdeviceptr p;
    test_context();
    EXPECT_ERROR(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocManaged(&p, 64, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAllocManaged(&p, SIZE_MAX, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
}

// Advice applies to whole pages. A range has an advice if all of its pages have it.
TEST(advice)
{
    int by[3];
    CUdeviceptr p = managed(4 << 20);
    EXPECT_EQ(number(p, 4 << 20, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
    EXPECT_OK(cuMemAdvise(p + 5000, 10, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0));
    EXPECT_EQ(number(p + 4096, 4096, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
    EXPECT_EQ(number(p + 4096, 4097, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
    EXPECT_EQ(number(p, 1, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
    EXPECT_OK(cuMemAdvise(p, 4 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device_0));
    EXPECT_EQ(number(p, 4 << 20, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), 0);
    EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host));
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
    EXPECT_EQ(number(p, 4 << 20, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
    EXPECT_OK(cuMemAdvise(p, 4 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, device_0));
    EXPECT_OK(
        cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4 << 20));
    EXPECT_EQ(by[0], 0);
    EXPECT_EQ(by[1], CU_DEVICE_INVALID);
    EXPECT_EQ(by[2], CU_DEVICE_INVALID);
    // Devices are in front of the CPU, also if there is no room for both.
    EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, on_host));
    EXPECT_OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    EXPECT_EQ(by[0], 0);
    EXPECT_EQ(by[1], CU_DEVICE_CPU);
    EXPECT_EQ(by[2], CU_DEVICE_INVALID);
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY), 0);
    EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY, device_0));
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY), CU_DEVICE_CPU);
}

// Advice without a location ignores the id; advice with one refuses an id that is no device.
TEST(advice_with_odd_ids)
{
    static const int ids[] = {-5, INT_MIN, 64, INT_MAX};
    CUdeviceptr p = managed(4096);
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
        CUmemLocation l = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ids[i]};
        EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, l));
        EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
        EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_UNSET_READ_MOSTLY, l));
        EXPECT_OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, l));
        EXPECT_ERROR(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, l),
                     CUDA_ERROR_INVALID_VALUE);
        EXPECT_ERROR(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, l),
                     CUDA_ERROR_INVALID_VALUE);
        EXPECT_ERROR(cuMemAdvise(p, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY, l),
                     CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_OK(cuMemFree(p));
}

TEST(advice_refused)
{
    CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99},
                  node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA};
    CUdeviceptr p = managed(4096), d;
    MUST(cuMemAlloc(&d, 4096));
    EXPECT_ERROR(cuMemAdvise(p, 4096, 99, device_0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(p, 4097, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(d, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, node),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemAdvise(d, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, node),
                 CUDA_ERROR_INVALID_VALUE);
}

// The driver does not check the range if the location is a NUMA node.
TEST(advice_as_the_driver)
{
    CUmemLocation node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    EXPECT_OK(cuMemAdvise(0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, node));
}

TEST(prefetch)
{
    CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 99};
    CUdeviceptr p = managed(8192);
    EXPECT_OK(cuMemPrefetchAsync(p, 4096, device_0, 0, NULL));
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    EXPECT_EQ(number(p, 8192, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE),
              CU_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_ERROR(cuMemPrefetchAsync(p, 8193, device_0, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPrefetchAsync(p, 4096, device_0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPrefetchAsync(p, 4096, nowhere, 0, NULL), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_OK(cuStreamSynchronize(NULL));
}

TEST(prefetch_batch)
{
    CUstream s;
    CUdeviceptr p = managed(8192), both[] = {p, p + 4096};
    size_t sizes[] = {4096, 4096}, firsts[3] = {0, 1}, wrong[] = {1, 0};
    CUmemLocation places[3] = {device_0, on_host};
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuMemPrefetchBatchAsync(both, sizes, 2, places, firsts, 2, 0, s));
    EXPECT_EQ(number(p, 4096, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    EXPECT_EQ(number(p + 4096, 4096, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
    EXPECT_OK(cuMemDiscardBatchAsync(both, sizes, 2, 0, s));
    EXPECT_OK(cuMemDiscardAndPrefetchBatchAsync(both, sizes, 2, places, firsts, 1, 0, s));
    EXPECT_ERROR(cuMemPrefetchBatchAsync(both, sizes, 2, places, wrong, 2, 0, s),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPrefetchBatchAsync(both, sizes, 2, places, firsts, 3, 0, s),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemPrefetchBatchAsync(both, sizes, 2, places, firsts, 2, 0, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemDiscardBatchAsync(both, sizes, 0, 0, s), CUDA_ERROR_INVALID_VALUE);
}

TEST(range_attributes)
{
    int v[2] = {77, 77};
    void *data[] = {&v[0], &v[1]};
    size_t sizes[] = {4, 4};
    CUmem_range_attribute list[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE};
    CUdeviceptr p = managed(4096);
    EXPECT_OK(cuMemRangeGetAttributes(data, sizes, list, 2, p, 4096));
    EXPECT_EQ(v[0], 0);
    EXPECT_EQ(v[1], CU_MEM_LOCATION_TYPE_INVALID);
    sizes[1] = 8;
    EXPECT_ERROR(cuMemRangeGetAttributes(data, sizes, list, 2, p, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(NULL, 4, list[0], p, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(v, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(v, 4, 99, p, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(v, 4, list[0], p, 0), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(both_sides), CASE(refused), CASE(advice), CASE(advice_with_odd_ids),
      CASE(advice_refused), CASE(advice_as_the_driver), CASE(prefetch), CASE(prefetch_batch),
      CASE(range_attributes))
