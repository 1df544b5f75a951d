// SPDX-License-Identifier: MIT
// Inside kernels/ and its tests only: the tables of functions, one struct a family, and who fills
// them.
#pragma once

#include "kn_convert.h"
#include "kn_cpu.h"
#include "kn_tile.h"

// The type of each kernel: tables have pointers to it, and functions are declared by it.
typedef void kn_copy_fn(void *dst, const void *src, uint64_t size_B);
typedef void kn_copy_rows_fn(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                             uint64_t width_B, uint64_t rows);
// `pattern` is the value repeated to 32 bits; the size is a multiple of the value's size.
typedef void kn_fill_fn(void *dst, uint32_t pattern, uint64_t size_B);
typedef void kn_fill_rows_fn(void *dst, uint64_t pitch_B, uint32_t pattern, uint64_t width_B,
                             uint64_t rows);
typedef void kn_tile_fn(const struct kn_surface *dst, const struct kn_linear *src,
                        const struct kn_box *box);
typedef void kn_untile_fn(const struct kn_linear *dst, const struct kn_surface *src,
                          const struct kn_box *box);
typedef void kn_retile_fn(const struct kn_surface *dst, const struct kn_surface *src,
                          const struct kn_box *box);

// Conversions go by way of a 32-bit form, of one class or the other. `count` is in channels, a
// multiple of `channels`. Rows of elements of any alignment; no overlap.
enum { KN_CLASS_FLOAT, KN_CLASS_UINT, KN_CLASS_SINT, KN_CLASS_COUNT };
typedef void kn_decode_fn(void *wide, const void *src, uint64_t count, unsigned channels);
typedef void kn_encode_fn(void *dst, const void *wide, uint64_t count, unsigned channels);
typedef void kn_cast_fn(void *dst, const void *src, uint64_t count);
// Channel c of each of the `count` elements comes from channel from[c] of the source, or is 0 or
// the bit pattern `one`.
enum { KN_REPACK_ZERO = 4, KN_REPACK_ONE = 5 };
struct kn_repack {
    uint8_t dst_channels, src_channels, from[4];
    uint32_t one;
    // For shuffles of 16 bytes: `group` elements at a time, where each byte comes from (0x80:
    // nowhere), and what is put over it.
    uint8_t group, shuffle[16], over[16];
};
// Fills in what follows from the first fields, and works for rows of any length; without it, rows
// have less than KN_REPACK_SHORT elements.
#define KN_REPACK_SHORT 16
void kn_repack_prepare(struct kn_repack *how, unsigned channel_B);
struct kn_dsp;
// kn_convert_rows() with the functions of a given table.
void kn_convert_rows_by(const struct kn_dsp *dsp, const struct kn_texels *dst,
                        const struct kn_texels *src, uint64_t width, uint64_t rows);
typedef void kn_repack_fn(void *dst, const void *src, const struct kn_repack *how, uint64_t count);

struct kn_copy_dsp {
    kn_copy_fn *copy, *move;
    kn_copy_rows_fn *rows;
};

struct kn_fill_dsp {
    kn_fill_fn *fill;
    kn_fill_rows_fn *rows;
};

struct kn_tile_dsp {
    kn_tile_fn *tile;
    kn_untile_fn *untile;
    kn_retile_fn *retile;
};

struct kn_convert_dsp {
    kn_decode_fn *decode[KN_KIND_COUNT]; // null where the kind is the 32-bit form itself
    kn_encode_fn *encode[KN_KIND_COUNT];
    kn_cast_fn *cast[KN_CLASS_COUNT][KN_CLASS_COUNT]; // [to][from]
};

struct kn_repack_dsp {
    kn_repack_fn *repack[3]; // channels of 1, 2 and 4 bytes
};

struct kn_dsp {
    struct kn_copy_dsp copy;
    struct kn_fill_dsp fill;
    struct kn_tile_dsp tile;
    struct kn_convert_dsp convert;
    struct kn_repack_dsp repack;
};

// The table in use. Never null; costs one load after the first call.
const struct kn_dsp *kn_dsp(void);

// The table that exactly these flags would choose (tests compare the tables). `flags` are among the
// detected ones.
const struct kn_dsp *kn_dsp_for(unsigned flags);

// Each set overrides what it does better, in ascending order.
void kn_dsp_init_avx2(struct kn_dsp *dsp);
void kn_dsp_init_avx512(struct kn_dsp *dsp);
void kn_dsp_init_neon(struct kn_dsp *dsp);

// Sizes at which functions change their way, the same for all sets. Tests lower them, so that every
// way is met at small sizes.
#pragma GCC visibility push(hidden)
// From here on tiled boxes no longer live in the caches, and streaming stores pay. Set before the
// first table is used.
extern uint64_t kn_stream_min_B;
extern uint64_t
    kn_prefetch_min_B;          // from here on, tiling asks for the lines that it is about to write
extern uint64_t kn_ahead_min_B; // from here on, straight copies ask for their lines themselves
extern uint64_t
    kn_wide_max_B; // from here on, rows no longer live in the caches, and wider registers lose
extern uint64_t kn_string_max_B; // up to here, fills use the string store
#pragma GCC visibility pop

// The references, and pieces that the sets share.
kn_copy_fn kn_copy_c, kn_move_c;
kn_copy_rows_fn kn_copy_rows_c;
kn_fill_fn kn_fill_c;
kn_fill_rows_fn kn_fill_rows_c;
kn_tile_fn kn_tile_box_c;
kn_untile_fn kn_untile_box_c;
kn_retile_fn kn_retile_box_c;
kn_repack_fn kn_repack_8_c, kn_repack_16_c, kn_repack_32_c;
