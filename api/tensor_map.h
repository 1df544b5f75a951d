// SPDX-License-Identifier: MIT
// Tensor maps: checks of their arguments by the manual, and the bytes of CUtensorMap.
//
// A map is an opaque value of the program's, so the driver keeps no object for it. NVIDIA's bytes
// are not documented; those here have a mark, so that other bytes are recognised.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum { API_TENSOR_RANK_MOST = 5 };

enum api_tensor_kind { API_TENSOR_TILED = 1, API_TENSOR_IM2COL, API_TENSOR_IM2COL_WIDE };

// The arguments of a cuTensorMapEncode* call.
struct api_tensor {
    enum api_tensor_kind kind;
    CUtensorMapDataType type;
    unsigned rank;
    uint64_t address;
    const cuuint64_t *dim, *strides_B; // rank and rank - 1 of them
    const cuuint32_t *steps;           // elementStrides: rank of them
    const cuuint32_t *box;             // of a tiled map: rank of them
    const int *lower, *upper;          // of the others: rank - 2, or one for `wide`
    unsigned channels, pixels;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
    CUtensorMapIm2ColWideMode mode;
};

// Returns true if an extent, a step or a count is 0. Under `driver-580` any other refused call
// overwrites the map.
bool api_tensor_has_zero(const struct api_tensor *t);
// The bytes that a load of a valid map takes in shared memory.
uint64_t api_tensor_box_B(const struct api_tensor *t);
CUresult api_tensor_check(const CUtensorMap *map, const struct api_tensor *t);
// The alignment of globalAddress.
CUresult api_tensor_check_address(uint64_t address, CUtensorMapDataType type,
                                  CUtensorMapInterleave interleave);
