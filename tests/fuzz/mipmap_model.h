// SPDX-License-Identifier: MIT
// The model of the fuzz target `mipmap`, for its files.
#pragma once
#include "fuzz.h"

enum {
    ARRAYS = 4,
    SLOT_B = 4 << 20, // of memory, for one mapped array
    MEMORY_B = ARRAYS * SLOT_B,
    LEVELS_MOST = 8,
    STEPS = 40,
};

// A level, or a plane of a planar array.
struct level {
    unsigned width, height, depth; // at least 1
    unsigned texel_B, channels;
    CUarray_format format;
    uint8_t *bytes;
};

struct array {
    CUmipmappedArray mip; // or NULL
    CUarray plain;        // or NULL
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned count;  // of levels or planes
    unsigned planes; // or 0
    bool on_memory;
    struct level levels[LEVELS_MOST];
};

struct model {
    CUexternalMemory memory;
    CUdeviceptr bytes; // of the memory
    struct array arrays[ARRAYS];
};

// A format with planes, of which the later ones can be smaller than the first.
struct planar {
    CUarray_format format;
    unsigned planes, channel_B, log2_divisors[2];
};

// ---- rules (mipmap_rules.c)

bool mm_as_driver(void);
// The bytes of a channel, or 0.
unsigned mm_channel_of(CUarray_format format);
// NULL: the format has no planes.
const struct planar *mm_planar_of(CUarray_format format);
CUarray_format mm_any_planar(struct fuzz_input *in);
bool mm_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d);
bool mm_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d);
bool mm_planar_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d, bool mapped);
unsigned mm_clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels);
void mm_set_up_level(struct array *a, unsigned n);
void mm_set_up_plane(struct array *a, unsigned n);
size_t mm_place_of(const struct level *l, unsigned texel_B, size_t x_B, size_t y);
