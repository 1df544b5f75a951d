// SPDX-License-Identifier: MIT
// Requests for tensor maps, of all kinds.
#pragma once
#include "draw.h"
#include "record.h"

enum { RANK_MOST = 5, MAP_B = sizeof(CUtensorMap), TYPES = 16 };
enum kind { TILED, IM2COL, WIDE };

struct request {
    enum kind kind;
    unsigned type, rank;
    uint64_t address;
    cuuint64_t dim[RANK_MOST], strides_B[RANK_MOST - 1];
    cuuint32_t box[RANK_MOST], steps[RANK_MOST];
    int lower[RANK_MOST], upper[RANK_MOST];
    unsigned channels, pixels, interleave, swizzle, promotion, fill, mode;
    unsigned null; // the number of the pointer that is NULL, counted from 1
};

static inline CUresult encode(CUtensorMap *map, const struct request *r)
{
    void *const address = (void *)(uintptr_t)r->address;
    const cuuint64_t *dim = r->null == 2 ? NULL : r->dim,
                     *strides = r->null == 3 ? NULL : r->strides_B;
    const cuuint32_t *steps = r->null == 4 ? NULL : r->steps, *box = r->null == 5 ? NULL : r->box;
    const int *lower = r->null == 5 ? NULL : r->lower, *upper = r->null == 6 ? NULL : r->upper;
    const CUtensorMapDataType type = (CUtensorMapDataType)r->type;
    const CUtensorMapInterleave interleave = (CUtensorMapInterleave)r->interleave;
    const CUtensorMapSwizzle swizzle = (CUtensorMapSwizzle)r->swizzle;
    const CUtensorMapL2promotion promotion = (CUtensorMapL2promotion)r->promotion;
    const CUtensorMapFloatOOBfill fill = (CUtensorMapFloatOOBfill)r->fill;
    if (r->null == 1)
        map = NULL;
    if (r->kind == TILED)
        return cuTensorMapEncodeTiled(map, type, r->rank, address, dim, strides, box, steps,
                                      interleave, swizzle, promotion, fill);
    if (r->kind == IM2COL)
        return cuTensorMapEncodeIm2col(map, type, r->rank, address, dim, strides, lower, upper,
                                       r->channels, r->pixels, steps, interleave, swizzle,
                                       promotion, fill);
    return cuTensorMapEncodeIm2colWide(
        map, type, r->rank, address, dim, strides, r->lower[0], r->upper[0], r->channels, r->pixels,
        steps, interleave, (CUtensorMapIm2ColWideMode)r->mode, swizzle, promotion, fill);
}

// Floats, and 64 bytes of channels: valid on each device that has this kind of map.
static inline struct request plain(enum kind kind, unsigned rank)
{
    struct request r = {.kind = kind,
                        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                        .rank = rank,
                        .address = 0x10000,
                        .channels = 16,
                        .pixels = 32,
                        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
    uint64_t stride_B = 256;
    for (unsigned i = 0; i < RANK_MOST; i++) {
        r.dim[i] = 16 + 16 * i; // all different: 16, 32, 48, 64, 80
        r.box[i] = i ? 4 : 16;
        r.steps[i] = 1;
        if (i + 1 < RANK_MOST) {
            r.strides_B[i] = stride_B;
            stride_B *= 128;
        }
    }
    return r;
}

static inline unsigned bits_of(unsigned type)
{
    static const uint8_t bits[TYPES] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return bits[type];
}

// Changes a member of a request.
static inline void draw_change(struct request *r)
{
    static const int offsets[] = {-32769, -32768, -129, -128, -17, -16,   15,    16,
                                  127,    128,    -64,  0,    63,  32767, 32768, INT32_MIN};
    static const unsigned numbers[] = {0,   1,   2,   7,   8,   9,    15,   16,   17,    32, 64,
                                       128, 255, 256, 257, 512, 1024, 1025, 4096, 65536, ~0u};
    const unsigned i = (unsigned)(draw() % RANK_MOST);
    const bool wide = r->kind == WIDE;
    const unsigned way = (unsigned)(draw() % (wide ? 17 : 16));
    switch (way) {
    case 0:
        r->type = (unsigned)(draw() % 18);
        break;
    case 1:
        r->rank = (unsigned)(draw() % (wide ? 6 : 7));
        break;
    case 2:
        r->address += UINT64_C(1) << draw() % 64;
        break;
    case 3:
        r->dim[i] = chance(50) ? (UINT64_C(1) << 32) + draw() % 3 - 1 : draw() % 4;
        break;
    case 4:
        r->strides_B[i % (RANK_MOST - 1)] = chance(50) ? UINT64_C(1) << draw() % 64 : draw() % 100;
        break;
    case 5:
        r->strides_B[i % (RANK_MOST - 1)] = (UINT64_C(1) << 40) - 32 + 16 * (draw() % 4);
        break;
    case 6:
        r->box[i] = PICK(numbers);
        break;
    case 7:
        r->steps[i] = PICK(numbers);
        break;
    case 8:
        r->interleave = (unsigned)(draw() % 4);
        break;
    case 9:
        r->swizzle = (unsigned)(draw() % 8);
        break;
    case 10:
        r->promotion = (unsigned)(draw() % 6);
        break;
    case 11:
        r->fill = (unsigned)(draw() % 3);
        break;
    case 12:
        r->lower[i] = PICK(offsets);
        break;
    case 13:
        r->upper[i] = PICK(offsets);
        break;
    case 14:
        r->channels = PICK(numbers);
        break;
    default:
        if (wide && way == 15)
            r->mode = (unsigned)(draw() % 4);
        else
            r->pixels = PICK(numbers);
    }
}

static inline void say_request(const struct request *r)
{
    SAY("k%d t%u r%u a%llx", (int)r->kind, r->type, r->rank, (unsigned long long)r->address);
    for (unsigned i = 0; i < RANK_MOST; i++)
        SAY("%s%llx", i ? "," : " d", (unsigned long long)r->dim[i]);
    for (unsigned i = 0; i + 1 < RANK_MOST; i++)
        SAY("%s%llx", i ? "," : " s", (unsigned long long)r->strides_B[i]);
    for (unsigned i = 0; i < RANK_MOST; i++)
        SAY("%s%x", i ? "," : " e", r->steps[i]);
    if (r->kind == TILED)
        for (unsigned i = 0; i < RANK_MOST; i++)
            SAY("%s%x", i ? "," : " b", r->box[i]);
    else {
        for (unsigned i = 0; i < 3; i++)
            SAY("%s%d..%d", i ? "," : " c", r->lower[i], r->upper[i]);
        SAY(" n%x p%x", r->channels, r->pixels);
    }
    SAY(" i%u w%u l%u f%u", r->interleave, r->swizzle, r->promotion, r->fill);
    if (r->kind == WIDE)
        SAY(" m%u", r->mode);
    SAY(":");
}
