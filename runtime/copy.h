// SPDX-License-Identifier: MIT
// What all copies share: the direction, and copies of boxes of rows.
#pragma once
#include <stdbool.h>

#include "copy_params.h"

// A call of one of the forms: synchronous in a default stream, or asynchronous in any stream.
struct rt_copy_call {
    cudaStream_t stream;
    bool async;
};

// Copies a rectangle.
cudaError_t rt_copy_2d(const CUDA_MEMCPY2D *rectangle, struct rt_copy_call call);

// Whether rows of `width` bytes overlap. The pitch of a single row does not matter (recorded:
// copy_ranges/copy2d-kind4-pitch-0-height1).
static inline bool rt_rows_overlap(size_t pitch, size_t width, size_t height)
{
    return height > 1 && pitch < width;
}

// Sets the pointer of an end whose kind of memory is `type`.
void rt_copy_from(CUDA_MEMCPY2D *rectangle, CUmemorytype type, const void *pointer, size_t pitch);
void rt_copy_to(CUDA_MEMCPY2D *rectangle, CUmemorytype type, void *pointer, size_t pitch);

// The primary contexts of the two devices of a copy. They are retained while the copy is made.
struct rt_peers {
    CUcontext dst, src;
    CUdevice dst_device, src_device;
};
cudaError_t rt_peers_enter(struct rt_peers *peers, int dst_device, int src_device);
// Returns the translated result of the copy.
cudaError_t rt_peers_leave(const struct rt_peers *peers, CUresult result);
