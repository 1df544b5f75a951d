// SPDX-License-Identifier: MIT
// The driver's form of a copy: of its direction, and of the parameters of cudaMemcpy3D.
#pragma once
#include "rt.h"

// The memory types that a direction promises to the driver. An unknown direction is
// cudaErrorInvalidMemcpyDirection.
cudaError_t rt_copy_direction(enum cudaMemcpyKind kind, CUmemorytype *source,
                              CUmemorytype *destination);

// Reports that `kind` is no direction, and returns cudaErrorInvalidMemcpyDirection.
cudaError_t rt_copy_direction_fail(enum cudaMemcpyKind kind) __attribute__((cold));

// Reports that the direction contradicts the memory at one end, which `memory` names.
cudaError_t rt_copy_against(enum cudaMemcpyKind kind, const char *memory) __attribute__((cold));

// The size of an element of an array: the unit of extents and positions in it.
cudaError_t rt_array_element_size(cudaArray_const_t array, size_t *size_B);

// Checks the parameters and converts them. `out->WidthInBytes`, `Height` or `Depth` is 0 if there
// is nothing to copy.
cudaError_t rt_copy_3d_params(const struct cudaMemcpy3DParms *in, CUDA_MEMCPY3D *out);

// The other way round. Returns an error if an array does not exist.
cudaError_t rt_copy_3d_parms_of(const CUDA_MEMCPY3D *in, struct cudaMemcpy3DParms *out);
