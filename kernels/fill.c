// SPDX-License-Identifier: MIT
// The fill family: entry points, and the references in C. Values of 1 and 2 bytes are first
// repeated to 4.
#include "kn_fill.h"
#include "kn_copy.h"
#include "kn_dsp.h"

#include <string.h>

void kn_fill_c(void *dst, uint32_t pattern, uint64_t size_B)
{
    uint8_t *d = dst;
    uint64_t i = 0;

    for (; i + 4 <= size_B; i += 4)
        memcpy(d + i, &pattern, 4);
    memcpy(d + i, &pattern, size_B - i);
}

void kn_fill_rows_c(void *dst, uint64_t pitch_B, uint32_t pattern, uint64_t width_B, uint64_t rows)
{
    uint8_t *d = dst;

    for (uint64_t row = 0; row < rows; row++)
        kn_fill_c(d + row * pitch_B, pattern, width_B);
}

static void fill(void *dst, uint32_t pattern, uint64_t size_B)
{
    if (size_B)
        kn_dsp()->fill.fill(dst, pattern, size_B);
}

static void fill_rows(void *dst, uint64_t pitch_B, uint32_t pattern, uint64_t width_B,
                      uint64_t rows)
{
    if (!width_B || !rows)
        return;
    if (rows == 1 || pitch_B == width_B)
        kn_dsp()->fill.fill(dst, pattern, width_B * rows);
    else
        kn_dsp()->fill.rows(dst, pitch_B, pattern, width_B, rows);
}

void kn_fill8(void *dst, uint8_t value, uint64_t count)
{
    fill(dst, value * UINT32_C(0x01010101), count);
}

void kn_fill16(void *dst, uint16_t value, uint64_t count)
{
    fill(dst, value * UINT32_C(0x00010001), count * 2);
}

void kn_fill32(void *dst, uint32_t value, uint64_t count)
{
    fill(dst, value, count * 4);
}

void kn_fill8_rows(void *dst, uint64_t pitch_B, uint8_t value, uint64_t width, uint64_t rows)
{
    fill_rows(dst, pitch_B, value * UINT32_C(0x01010101), width, rows);
}

void kn_fill16_rows(void *dst, uint64_t pitch_B, uint16_t value, uint64_t width, uint64_t rows)
{
    fill_rows(dst, pitch_B, value * UINT32_C(0x00010001), width * 2, rows);
}

void kn_fill32_rows(void *dst, uint64_t pitch_B, uint32_t value, uint64_t width, uint64_t rows)
{
    fill_rows(dst, pitch_B, value, width * 4, rows);
}

// Fills a piece of a row on the stack and copies it as often as needed. Rows without gaps
// between them are filled as one row.
void kn_fill_wide_rows(void *dst, uint64_t pitch_B, const void *value, unsigned value_B,
                       uint64_t width, uint64_t rows)
{
    enum { PIECE_B = 1024 };
    _Alignas(64) uint8_t piece[PIECE_B];
    uint8_t *d = dst;
    uint64_t width_B = width * value_B, whole;

    if (rows == 1 || pitch_B == width_B)
        width_B *= rows, rows = 1;
    for (unsigned i = 0; i < PIECE_B && i < width_B; i += value_B)
        memcpy(piece + i, value, value_B);
    if (rows == 1) {
        whole = width_B / PIECE_B;
        kn_copy_rows(d, PIECE_B, piece, 0, PIECE_B, whole);
        kn_copy(d + whole * PIECE_B, piece, width_B % PIECE_B);
        return;
    }
    for (uint64_t x_B = 0; x_B < width_B; x_B += PIECE_B)
        kn_copy_rows(d + x_B, pitch_B, piece, 0, width_B - x_B < PIECE_B ? width_B - x_B : PIECE_B,
                     rows);
}
