// SPDX-License-Identifier: MIT
// The model of the fuzz target `tensor`, for its files.
#pragma once
#include "fuzz.h"

enum {
    RANK_MOST = 5,
    MAPS = 4,
    STEPS = 24,
    MAP_B = sizeof(CUtensorMap),
    GUARD_B = 128,
    SHARED_B = 227 << 10,
};
enum device { HOPPER, TURING, WIDE };

// The verdict. UNSUPPORTED: the manual does not say with which code.
enum verdict { VALID, INVALID, UNSUPPORTED };

enum kind { TILED, IM2COL, IM2COL_WIDE };

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

struct map {
    bool alive;
    struct request request;
    uint8_t bytes[MAP_B];
};

struct model {
    enum device device;
    struct map maps[MAPS];
};

// ---- rules (tensor_rules.c)

unsigned tm_align_B(const struct request *r);
bool tm_as_driver(void);
unsigned tm_bits_of(unsigned type);
unsigned tm_corners_of(const struct request *r);
bool tm_has_null(const struct request *r);
bool tm_ignores_pixels(const struct request *r);
bool tm_is_align16(unsigned type);
bool tm_is_as_judged(CUresult r, enum verdict verdict);
enum verdict tm_judge(const struct model *m, const struct request *r, bool aligned);
