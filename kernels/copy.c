// SPDX-License-Identifier: MIT
// The copy family: entry points, and the references in C.
#include "kn_copy.h"
#include "kn_dsp.h"

#include <string.h>

void kn_copy_c(void *dst, const void *src, uint64_t size_B)
{
    memcpy(dst, src, size_B);
}

void kn_move_c(void *dst, const void *src, uint64_t size_B)
{
    memmove(dst, src, size_B);
}

void kn_copy_rows_c(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                    uint64_t width_B, uint64_t rows)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    for (uint64_t row = 0; row < rows; row++)
        memcpy(d + row * dst_pitch_B, s + row * src_pitch_B, width_B);
}

void kn_copy(void *dst, const void *src, uint64_t size_B)
{
    if (size_B)
        kn_dsp()->copy.copy(dst, src, size_B);
}

void kn_move(void *dst, const void *src, uint64_t size_B)
{
    if (size_B && dst != src)
        kn_dsp()->copy.move(dst, src, size_B);
}

void kn_copy_rows(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                  uint64_t width_B, uint64_t rows)
{
    kn_copy_box(dst, dst_pitch_B, 0, src, src_pitch_B, 0, width_B, rows, 1);
}

void kn_copy_box(void *dst, uint64_t dst_pitch_B, uint64_t dst_slice_B, const void *src,
                 uint64_t src_pitch_B, uint64_t src_slice_B, uint64_t width_B, uint64_t rows,
                 uint64_t slices)
{
    const struct kn_copy_dsp *dsp = &kn_dsp()->copy;
    uint8_t *d = dst;
    const uint8_t *s = src;

    if (!width_B || !rows || !slices)
        return;
    // A dimension without gaps folds into the one below it; one that has a single step folds away.
    if (rows == 1) {
        rows = slices, slices = 1;
        dst_pitch_B = dst_slice_B, src_pitch_B = src_slice_B;
    } else if (slices > 1 && dst_slice_B == dst_pitch_B * rows &&
               src_slice_B == src_pitch_B * rows) {
        rows *= slices, slices = 1;
    }
    if (rows > 1 && dst_pitch_B == width_B && src_pitch_B == width_B)
        width_B *= rows, rows = 1;

    for (uint64_t slice = 0; slice < slices; slice++) {
        if (rows == 1)
            dsp->copy(d, s, width_B);
        else
            dsp->rows(d, dst_pitch_B, s, src_pitch_B, width_B, rows);
        if (slice + 1 < slices)
            d += dst_slice_B, s += src_slice_B;
    }
}
