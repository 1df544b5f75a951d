// SPDX-License-Identifier: MIT
// cuMemMapArrayAsync for arrays with deferred mapping.
#include "array_map.h"

TEST(deferred)
{
    test_context();
    CUarray a = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_DEFERRED_MAPPING),
            b = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_DEFERRED_MAPPING);
    CUmemGenericAllocationHandle h = tile_pool(4 * MIB);
    CUarrayMapInfo m[2] = {info(a, h), info(b, h)};
    unsigned char *want = pattern(16384, 1), got[16384];
    m[0].offset = m[1].offset = TILE_B;
    EXPECT_OK(cuMemMapArrayAsync(m, 2, NULL));
    round_trip(a, 256, 64, 1, 1);
    EXPECT_OK(move(b, got, (struct box){0, 0, 0, 256, 64, 1}, false)); // the same memory
    EXPECT(!memcmp(want, got, sizeof got));
    m[0] = info(a, 0);
    EXPECT_OK(cuMemMapArrayAsync(m, 1, NULL));
    EXPECT_OK(cuMemMapArrayAsync(m, 1, NULL));
    m[0] = info(a, h);
    m[0].offset = 2 * TILE_B;
    EXPECT_OK(cuMemMapArrayAsync(m, 1, NULL));
    round_trip(a, 256, 64, 1, 2);
    EXPECT_OK(move(b, got, (struct box){0, 0, 0, 256, 64, 1}, false));
    EXPECT(!memcmp(want, got, sizeof got));
    EXPECT_OK(cuMemRelease(h)); // mappings keep their memory
    round_trip(a, 256, 64, 1, 3);
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_OK(cuArrayDestroy(b));
    free(want);
}

TEST(deferred_refused)
{
    test_context();
    CUarray a = array(1024, 1024, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_DEFERRED_MAPPING),
            plain = array(64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    CUmemGenericAllocationHandle h = tile_pool(4 * MIB), little = tile_pool(2 * MIB),
                                 ordinary = memory(4 * MIB, 0);
    CUarrayMapInfo m = info(a, h);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        m = info(a, h);                                                                            \
        change;                                                                                    \
        EXPECT_ERROR(cuMemMapArrayAsync(&m, 1, NULL), CUDA_ERROR_INVALID_VALUE);                   \
    } while (0)
    REFUSED(m.offset = 4096);
    REFUSED(m.offset = TILE_B); // then the range exceeds the memory
    REFUSED(m.offset = ~0ull << 16);
    REFUSED(m.memHandle.memHandle = little);
    REFUSED(m.memHandle.memHandle = ordinary);
    REFUSED(m.memHandle.memHandle = 0);
    REFUSED(m.memHandle.memHandle = 0x1234);
    REFUSED(m.resource.array = plain);
    REFUSED(m.resource.array = NULL);
    REFUSED(m.resource.array = (CUarray)0x1234);
    REFUSED(m.resourceType = CU_RESOURCE_TYPE_LINEAR);
    REFUSED(m.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    REFUSED(m.memOperationType = (CUmemOperationType)3);
    REFUSED(m.memHandleType = (CUmemHandleType)1);
    REFUSED(m.deviceBitMask = 3);
    REFUSED(m.deviceBitMask = 0);
    REFUSED(m.flags = 1);
    REFUSED(m.reserved[1] = 1);
    m = info(a, h);
    EXPECT_ERROR(cuMemMapArrayAsync(NULL, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMapArrayAsync(&m, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMapArrayAsync(&m, 1, (CUstream)0x1234), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuMemMapArrayAsync(&m, 1, NULL));
    round_trip(a, 4096, 1024, 1, 4);
}

TESTS(CASE(deferred), CASE(deferred_refused))
