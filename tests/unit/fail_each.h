// SPDX-License-Identifier: MIT
// Repeats a call and fails its first, second, … allocation, until the call succeeds.
#pragma once
#include "../harness.h"

#include "alloc.h"

static size_t free_now(void)
{
    size_t free_B = 0;
    EXPECT_OK(cuMemGetInfo(&free_B, NULL));
    return free_B;
}

static inline void fail_each(const char *name, CUresult (*call)(void), void (*undo)(void))
{
    size_t before = free_now();
    for (uint64_t n = 1; n < 1000; n++) {
        dm_alloc_fail_after(n);
        CUresult r = call();
        if (!dm_alloc_failed()) {
            EXPECT_OK(r);
            undo();
            EXPECT_OK(cuCtxSynchronize()); // waits until stream-ordered memory is freed
            EXPECT_EQ(free_now(), before);
            return;
        }
        if (r == CUDA_SUCCESS) { // the failed allocation was optional
            undo();
            continue;
        }
        if (r != CUDA_ERROR_OUT_OF_MEMORY)
            printf("# %s, allocation %d:\n", name, (int)n);
        EXPECT_ERROR(r, CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(free_now(), before);
    }
    EXPECT(!"it never succeeds");
}
