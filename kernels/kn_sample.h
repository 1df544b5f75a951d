// SPDX-License-Identifier: MIT
// Texture fetches of a warp: filters, address modes, mip levels and formats, with the bits of an
// H100.
//
//     texture object                     one instruction, 32 lanes
//     struct kn_texture                  struct kn_fetch
//     ┌───────────────────┐              ┌──────────────────┐
//     │ shape, format     │              │ active           │
//     │ level[0] … base   │  kn_texture_ │ x, y, z, layer   │   out[0]: r of 32 lanes
//     │ level[n] … base   │─────────────▶│ lod, dx, dy …    │──▶ …
//     │ address, filter … │  fetch…()    │                  │   out[3]: a of 32 lanes
//     └───────────────────┘              └──────────────────┘
//
// Fill in a kn_texture once for each texture object, call kn_texture_prepare, and use it for any
// number of fetches, also from several threads at once: a fetch changes nothing in it, allocates
// nothing and takes no lock.
//
// Results are words: the bits of an f32 for formats that are read as floating point, and of a u32
// or s32 for integers. The type that the instruction names changes nothing (recorded: decode/u8x1-…
// -read-into-f32-u32-s32). Instructions with .f16 destinations convert the f32 afterwards.
//
// Memory is read through the pointers of the levels. No coordinate leads outside of a level:
// texels outside are clamped, wrapped or replaced, and layers are clamped. So a fault means that
// the memory of the array itself is not there.
//
// docs/internals/sampling.md has the arithmetic.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kn_tile.h"

enum { KN_TEXTURE_LEVELS_MAX = 20 };

enum kn_texture_shape {
    KN_TEXTURE_1D,
    KN_TEXTURE_2D,
    KN_TEXTURE_3D,
    KN_TEXTURE_1D_LAYERED,
    KN_TEXTURE_2D_LAYERED,
    KN_TEXTURE_CUBE,         // 6 layers: +x, -x, +y, -y, +z, -z
    KN_TEXTURE_CUBE_LAYERED, // 6 layers for each cube
    KN_TEXTURE_LINEAR,       // linear memory: integer coordinates only
};

// Formats of texels: X(name, channels, bytes of an element). `channels` is 0 if there are 1, 2 or 4
// (kn_texture.channels says so); the bytes are then those of one channel. Elements of BC formats
// are blocks of 4 by 4 texels.
//
// UNORM and SNORM formats become floats, UINT and SINT stay integers. An 8-bit or 16-bit integer
// array that is read with normalisation has a UNORM or SNORM format. 32-bit integers are never
// normalised.
#define KN_TEXEL_LIST(X)                                                                           \
    X(UNORM8, 0, 1)                                                                                \
    X(SNORM8, 0, 1)                                                                                \
    X(UNORM16, 0, 2)                                                                               \
    X(SNORM16, 0, 2)                                                                               \
    X(UINT8, 0, 1)                                                                                 \
    X(SINT8, 0, 1)                                                                                 \
    X(UINT16, 0, 2)                                                                                \
    X(SINT16, 0, 2)                                                                                \
    X(UINT32, 0, 4)                                                                                \
    X(SINT32, 0, 4)                                                                                \
    X(HALF, 0, 2)                                                                                  \
    X(FLOAT, 0, 4)                                                                                 \
    X(UNORM10_2, 4, 4) /* 10, 10, 10, 2 bits from the least significant one on */                  \
    X(BC1, 4, 8)                                                                                   \
    X(BC2, 4, 16)                                                                                  \
    X(BC3, 4, 16)                                                                                  \
    X(BC4_UNORM, 1, 8)                                                                             \
    X(BC4_SNORM, 1, 8)                                                                             \
    X(BC5_UNORM, 2, 16)                                                                            \
    X(BC5_SNORM, 2, 16)                                                                            \
    X(BC6H_UFLOAT, 3, 16)                                                                          \
    X(BC6H_SFLOAT, 3, 16)                                                                          \
    X(BC7, 4, 16)

enum kn_texel {
#define KN_TEXEL_ENUM(name, channels, element_B) KN_TEXEL_##name,
    KN_TEXEL_LIST(KN_TEXEL_ENUM)
#undef KN_TEXEL_ENUM
        KN_TEXEL_COUNT
};

// The numbers are CUaddress_mode's.
enum kn_address { KN_ADDRESS_WRAP, KN_ADDRESS_CLAMP, KN_ADDRESS_MIRROR, KN_ADDRESS_BORDER };

// A mip level. Texels are elements, except for BC formats: there the sizes still count texels, and
// rows and distances are of elements.
struct kn_texture_level {
    const uint8_t *base;           // texel (0, 0, 0) of the first layer
    uint32_t width, height, depth; // in texels, each at least 1
    uint64_t layer_B;              // to the next layer or face; 0 if there are no layers
    uint64_t pitch_B, slice_B;     // to the next row and slice, unless kn_texture.block_linear
    struct kn_tiled tiled;         // if kn_texture.block_linear
};

struct kn_fetch;
struct kn_texture;
typedef void kn_fetch_fn(const struct kn_texture *t, const struct kn_fetch *f);

struct kn_texture {
    enum kn_texture_shape shape;
    enum kn_texel texel;
    uint8_t channels;  // 1, 2 or 4; ignored if the format fixes it
    bool alpha_one;    // a missing alpha channel is 1 instead of 0: arrays of BC formats
    bool srgb;         // CU_TRSF_SRGB, or a format with SRGB in its name
    bool block_linear; // level[].tiled instead of pitch_B and slice_B
    uint32_t layers;   // at least 1; a cube has 6. Ignored if the shape has no layers
    uint32_t levels;   // at least 1
    struct kn_texture_level level[KN_TEXTURE_LEVELS_MAX];
    // Levels of the resource before the first one of the texture, which gradients count from, and
    // the texels of the very first one; `whole` counts only if there are some.
    uint32_t levels_before, whole[3];

    enum kn_address address[3];
    bool normalized;     // coordinates from 0 to 1 (CU_TRSF_NORMALIZED_COORDINATES)
    bool linear;         // filter
    bool mip_linear;     // filter between levels
    bool seamless;       // CU_TRSF_SEAMLESS_CUBEMAP
    bool trilinear;      // CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    uint32_t anisotropy; // maxAnisotropy
    float bias, lod_min, lod_max;
    float border[4]; // CUDA_TEXTURE_DESC's floats as they are; kn_texture_prepare converts them

    // kn_texture_prepare fills in the rest.
    kn_fetch_fn *run, *run_level, *run_gradient, *run_gather, *run_integer;
    uint32_t element_B;
    uint32_t base_level;                        // of fetches without an LOD
    int32_t bias_256, lod_min_256, lod_max_256; // in units of 1/256
    int32_t anisotropy_256;                     // log2 of the ratio, in units of 1/256
    bool filter;                                // `linear`, and the format can be filtered
    bool sums;                                  // a single texel counts as a sum of weight 1
    uint32_t border_value[4];                   // as a texel before the filter
};

// One instruction: an array of 32 words for each operand, word i for lane i. Operands that the
// instruction lacks are NULL, and count as 0.
struct kn_fetch {
    uint32_t active;           // bit i: lane i takes part. Words of other lanes are not written
    const uint32_t *x, *y, *z; // f32 bits; s32 for kn_texture_fetch_integer
    const uint32_t *layer;     // s32; of cube arrays, the cube
    const uint32_t *offset[3]; // s32: texels, added before the address mode
    const uint32_t *lod;       // f32: kn_texture_fetch_level. s32: kn_texture_fetch_integer
    const uint32_t *dx[3];     // f32: gradients of kn_texture_fetch_gradient
    const uint32_t *dy[3];
    uint32_t component; // of kn_texture_gather: 0 to 3
    // The results r, g, b and a. They may be the arrays of operands: all operands of a fetch are
    // read before its results are written.
    uint32_t *out[4];
};

// Chooses the functions for the texture's format and filter, and converts its border colour and its
// LOD limits. Call it again after any change.
void kn_texture_prepare(struct kn_texture *t);

// The same for exactly these flags of kn_cpu.h, for tests.
void kn_texture_prepare_for(struct kn_texture *t, unsigned flags);

// Bytes of an element: a texel, or a block of a BC format.
uint32_t kn_texel_B(enum kn_texel texel, unsigned channels);

// tex with floating-point coordinates: the base level. Bias and limits do not apply.
static inline void kn_texture_fetch(const struct kn_texture *t, const struct kn_fetch *f)
{
    t->run(t, f);
}

// tex.level.
static inline void kn_texture_fetch_level(const struct kn_texture *t, const struct kn_fetch *f)
{
    t->run_level(t, f);
}

// tex.grad.
static inline void kn_texture_fetch_gradient(const struct kn_texture *t, const struct kn_fetch *f)
{
    t->run_gradient(t, f);
}

// tld4: the component of the four texels that a linear filter would use.
static inline void kn_texture_gather(const struct kn_texture *t, const struct kn_fetch *f)
{
    t->run_gather(t, f);
}

// tex with s32 coordinates: texels without a filter. Texels outside are 0, whatever the address
// mode. Of a 1D array (not linear memory, not layered), all are 0, as on the card.
static inline void kn_texture_fetch_integer(const struct kn_texture *t, const struct kn_fetch *f)
{
    t->run_integer(t, f);
}
