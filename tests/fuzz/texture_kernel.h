// SPDX-License-Identifier: MIT
// Kernels of the fuzz target `texture`: they fetch through texture objects, and read and write
// through surface objects. Each kernel is loaded when an input needs it first.
#pragma once
#include "fuzz.h"

enum { POINTS = 8, KERNELS_MOST = 128 };

// LINEAR: a texture of linear memory, which is fetched by integers.
enum geometry { D1, D2, D3, A1D, A2D, LINEAR, GEOMETRIES };
enum number { UNSIGNED, SIGNED, FLOATING };

struct channel {
    enum number type;
    unsigned size_B;
};

// One thread's part of the memory that the kernels read and write.
struct fetch_point {
    int at[3]; // bytes and rows of a surface, or the texel of LINEAR
    int layer;
    float middle[3], lod;
    uint32_t result[4], value, unused[3];
};

struct fetcher {
    CUdeviceptr memory; // POINTS points
    CUfunction kernels[KERNELS_MOST];
    CUmodule modules[KERNELS_MOST];
};

void fetcher_start(struct fetcher *f);
void fetcher_finish(struct fetcher *f);
// Fetches at all points, with tex.level if `level` is set.
void fetch_texels(struct fetcher *f, enum geometry g, enum number number, bool level,
                  CUtexObject texture, struct fetch_point points[POINTS]);
// Reads or writes 1 or 4 bytes at all points. Outside of the array, reads give 0.
void access_texels(struct fetcher *f, enum geometry g, unsigned size_B, bool write,
                   CUsurfObject surface, struct fetch_point points[POINTS]);

// Fetches, reads, writes or reduces in one of several ways, which may fail.
unsigned fetch_kinds(void);
CUresult fetch_anything(struct fetcher *f, unsigned kind, unsigned long long object,
                        struct fetch_point points[POINTS]);

// The bits that a fetch gives for a channel. Promoted: as a part of 1. False: the bits of a NaN or
// of a denormal float, which the card does not keep.
bool expect_channel(struct channel channel, bool promoted, const uint8_t *bytes, uint32_t *out);
