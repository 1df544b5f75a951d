// SPDX-License-Identifier: MIT
// CUDA_MEMCPY2D, CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER in one form, which becomes an em_copy.
#pragma once
#include "copy.h"
#include "error.h"

// One end of such a struct.
struct em_copy_box_end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch_B, rows, lod, x_B, y, z;
};

struct em_copy_box {
    size_t width_B, height, depth;
    struct em_copy_box_end dst, src;
};

// The members of those structs have the same names: `side` is dst or src.
#define EM_COPY_END_2D(p, side)                                                                    \
    .type = (p)->side##MemoryType, .host = (p)->side##Host, .device = (p)->side##Device,           \
    .array = (p)->side##Array, .pitch_B = (p)->side##Pitch, .x_B = (p)->side##XInBytes,            \
    .y = (p)->side##Y
#define EM_COPY_END_3D(p, side)                                                                    \
    EM_COPY_END_2D(p, side), .rows = (p)->side##Height, .lod = (p)->side##LOD, .z = (p)->side##Z
#define EM_COPY_BOX_3D(p)                                                                          \
    {                                                                                              \
        .width_B = (p)->WidthInBytes, .height = (p)->Height, .depth = (p)->Depth,                  \
        .dst = {EM_COPY_END_3D(p, dst)}, .src = {EM_COPY_END_3D(p, src)},                          \
    }

static inline struct em_end em_end_device(CUdeviceptr address)
{
    return (struct em_end){.kind = EM_END_DEVICE, .address = address};
}

static inline struct em_end em_end_any(uint64_t address)
{
    return (struct em_end){.kind = EM_END_ANY, .address = address};
}

static inline struct em_end em_end_host(const void *pointer)
{
    return em_end_any((uintptr_t)pointer);
}

static inline struct em_end em_end_array(CUarray array, size_t offset_B)
{
    return (struct em_end){.kind = EM_END_ARRAY, .array = array, .x_B = offset_B};
}

// `side` is for the message. Inline, because the compiler then needs no struct in memory.
static inline __attribute__((always_inline)) CUresult
em_copy_box_end(const struct em_copy_box_end *end, const char *side, struct em_end *out)
{
    switch (end->type) {
    case CU_MEMORYTYPE_HOST:
        *out = em_end_host(end->host);
        break;
    case CU_MEMORYTYPE_DEVICE:
        *out = em_end_device(end->device);
        break;
    case CU_MEMORYTYPE_UNIFIED: // "srcDevice is the (unified virtual address space) base address",
                                // srcArray is ignored
        *out = em_end_any(end->device);
        break;
    case CU_MEMORYTYPE_ARRAY:
        // "srcLOD must be 0"
        if (end->lod)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "%sLOD (%zu) must be 0", side, end->lod);
        *out = em_end_array(end->array, 0);
        break;
    default:
        *out =
            (struct em_end){.kind = EM_END_UNNAMED, .address = end->device, .type = (int)end->type};
    }
    out->pitch_B = end->pitch_B;
    out->rows = end->rows;
    out->x_B = end->x_B;
    out->y = end->y;
    out->z = end->z;
    return CUDA_SUCCESS;
}

// The ends of a copy of nothing do not matter.
static inline __attribute__((always_inline)) CUresult
em_copy_from_box(const struct em_copy_box *box, struct em_copy *out)
{
    *out = (struct em_copy){.width_B = box->width_B, .height = box->height, .depth = box->depth};
    if (!box->width_B || !box->height || !box->depth)
        return CUDA_SUCCESS;
    CUresult r = em_copy_box_end(&box->dst, "dst", &out->dst);
    return r ? r : em_copy_box_end(&box->src, "src", &out->src);
}
