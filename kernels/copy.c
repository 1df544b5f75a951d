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
    struct kn_linear to = {dst, dst_pitch_B, 0};
    struct kn_linear from = {(uint8_t *)(uintptr_t)src, src_pitch_B, 0};

    kn_copy_box(&to, &from, &(struct kn_box){width_B, rows, 1});
}

void kn_copy_box(const struct kn_linear *dst, const struct kn_linear *src, const struct kn_box *box)
{
    const struct kn_copy_dsp *dsp = &kn_dsp()->copy;
    struct kn_linear d = *dst, s = *src;
    struct kn_box b = *box;

    if (!b.width_B || !b.rows || !b.slices)
        return;
    // Drop a dimension if it has a single step. If it has no gaps, merge it with the one below it.
    if (b.rows == 1) {
        b.rows = b.slices;
        b.slices = 1;
        d.pitch_B = d.slice_B;
        s.pitch_B = s.slice_B;
    } else if (b.slices > 1 && d.slice_B == d.pitch_B * b.rows && s.slice_B == s.pitch_B * b.rows) {
        b.rows *= b.slices;
        b.slices = 1;
    }
    if (b.rows > 1 && d.pitch_B == b.width_B && s.pitch_B == b.width_B) {
        b.width_B *= b.rows;
        b.rows = 1;
    }

    for (uint64_t slice = 0; slice < b.slices; slice++) {
        if (b.rows == 1)
            dsp->copy(d.first, s.first, b.width_B);
        else
            dsp->rows(d.first, d.pitch_B, s.first, s.pitch_B, b.width_B, b.rows);
        if (slice + 1 < b.slices) {
            d.first += d.slice_B;
            s.first += s.slice_B;
        }
    }
}
