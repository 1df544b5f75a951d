// SPDX-License-Identifier: MIT
// Inside kernels/ and its tests only: the tables of functions, one struct for each family, and the
// functions that fill them.
#pragma once

#include "kn_convert.h"
#include "kn_cpu.h"
#include "kn_tile.h"

// The type of each kernel. Tables hold pointers to it, and functions are declared with it.
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

// Conversions go through a 32-bit form of one of these classes. `count` is in channels, a multiple
// of `channels`. Rows have any alignment and do not overlap.
enum { KN_CLASS_FLOAT, KN_CLASS_UINT, KN_CLASS_SINT, KN_CLASS_COUNT };
typedef void kn_decode_fn(void *wide, const void *src, uint64_t count, unsigned channels);
typedef void kn_encode_fn(void *dst, const void *wide, uint64_t count, unsigned channels);
typedef void kn_cast_fn(void *dst, const void *src, uint64_t count);
// Channel c of each of the `count` elements is channel from[c] of the source, or 0, or the bit
// pattern `one`.
enum { KN_REPACK_ZERO = 4, KN_REPACK_ONE = 5 };
struct kn_repack {
    uint8_t dst_channels, src_channels, from[4];
    uint32_t one;
    // For shuffles of 16 bytes, `group` elements at a time: the source of each byte (0x80 if
    // the byte is zero), and bytes that are combined with the result by or.
    uint8_t group, shuffle[16], over[16];
};
// Computes the fields for shuffles from the others. Rows of KN_REPACK_SHORT elements and more need
// them.
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
    kn_decode_fn *decode[KN_KIND_COUNT]; // null if the kind is the 32-bit form itself
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

// The table for exactly these flags, which must be among the detected ones. Tests compare the
// tables.
const struct kn_dsp *kn_dsp_for(unsigned flags);

// Each set overrides the functions that it improves, in ascending order.
void kn_dsp_init_avx2(struct kn_dsp *dsp);
void kn_dsp_init_avx512(struct kn_dsp *dsp);
void kn_dsp_init_neon(struct kn_dsp *dsp);

// Sizes at which functions change their path, the same for all sets. Tests lower them, so that
// small sizes take every path.
#pragma GCC visibility push(hidden)
// From here on, tiled boxes do not fit in the caches, and streaming stores pay. Set before the
// first table is used.
extern uint64_t kn_stream_min_B;
extern uint64_t kn_stream_shifted_min_B; // the same of rows that do not begin where lines do
extern uint64_t kn_prefetch_min_B;       // from here on, tiling prefetches its destination
extern uint64_t kn_far_min_B;            // from here on, tiled boxes are probably not in L2
extern uint64_t kn_copy_prefetch_min_B;  // from here on, straight copies prefetch both sides
extern uint64_t kn_copy_string_min_B;    // from here on, straight copies use string moves
extern uint64_t kn_copy_stream_min_B;    // from here on, they use streaming stores
extern unsigned kn_copy_stream_pages;    // in so many pages beside each other, 1 or 8
extern uint64_t
    kn_wide_max_B; // from here on, rows do not fit in the caches, and wider registers lose
extern uint64_t kn_string_max_B;      // up to here, fills use string stores
extern uint64_t kn_fill_stream_min_B; // from here on, they use streaming stores
// Streamed untiling writes 512 bytes of a row at a time if the distance of rows is a multiple of
// this power of two; 0: never.
extern uint64_t kn_untile_rows_pitch_B;
#pragma GCC visibility pop

// The references, and the pieces that the sets share.
kn_copy_fn kn_copy_c, kn_move_c;
kn_copy_rows_fn kn_copy_rows_c;
kn_fill_fn kn_fill_c;
kn_fill_rows_fn kn_fill_rows_c;
kn_tile_fn kn_tile_box_c;
kn_untile_fn kn_untile_box_c;
kn_retile_fn kn_retile_box_c;
kn_repack_fn kn_repack_8_c, kn_repack_16_c, kn_repack_32_c;
