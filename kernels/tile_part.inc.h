// SPDX-License-Identifier: MIT
// Parts of a GOB: bytes x0 to x1 of rows y0 to y1. No other bytes are read or written. Each row is
// cut into pieces, which end where a column of 16 bytes ends. All rows of a piece are copied before
// the next piece, so that its width is looked at once. Two moves that overlap make a short piece:
//
//   x  16  20          32                              64
//      |   |  8 and 8  |      16       |       16      |     bytes 20 to 64 into a GOB
//      |   |  8 and 8  |              32               |     and out of one
//
#include "gob.h"

#include <stdbool.h>

typedef uint8_t part_16 __attribute__((vector_size(16)));
typedef uint8_t part_32 __attribute__((vector_size(32)));

#define PART_MOVE_AT(to_B, from_B)                                                                 \
    do {                                                                                           \
        part_16 v_;                                                                                \
        memcpy(&v_, from + (from_B), 16);                                                          \
        memcpy(to + (to_B), &v_, 16);                                                              \
    } while (0)
#define PART_MOVE(type, offset_B)                                                                  \
    do {                                                                                           \
        type v_;                                                                                   \
        memcpy(&v_, from + (offset_B), sizeof(v_));                                                \
        memcpy(to + (offset_B), &v_, sizeof(v_));                                                  \
    } while (0)
// Stores 16 bytes from `from` and 16 from `more` side by side.
#define PART_JOIN(more)                                                                            \
    do {                                                                                           \
        part_16 a_, b_;                                                                            \
        part_32 v_;                                                                                \
        memcpy(&a_, from, 16);                                                                     \
        memcpy(&b_, more, 16);                                                                     \
        v_ = __builtin_shufflevector(a_, b_, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,   \
                                     31);                                                          \
        memcpy(to, &v_, 32);                                                                       \
    } while (0)
// Copies the rows y0 to y1. TO(y) and FROM(y) are their addresses.
#define PART_ROWS(body)                                                                            \
    _Pragma("GCC unroll 8") for (unsigned y = 0; y < 8; y++)                                       \
    {                                                                                              \
        uint8_t *to = TO(y);                                                                       \
        const uint8_t *from = FROM(y);                                                             \
        if (y >= y0 && y < y1)                                                                     \
            body;                                                                                  \
    }
// A piece of less than 16 bytes, in two moves that overlap.
#define PART_SHORT(width_B)                                                                        \
    do {                                                                                           \
        if ((width_B) > 8)                                                                         \
            PART_ROWS({                                                                            \
                PART_MOVE(uint64_t, 0);                                                            \
                PART_MOVE(uint64_t, (width_B)-8);                                                  \
            })                                                                                     \
        else if ((width_B) == 8)                                                                   \
            PART_ROWS(PART_MOVE(uint64_t, 0))                                                      \
        else if ((width_B) > 4)                                                                    \
            PART_ROWS({                                                                            \
                PART_MOVE(uint32_t, 0);                                                            \
                PART_MOVE(uint32_t, (width_B)-4);                                                  \
            })                                                                                     \
        else if ((width_B) == 4)                                                                   \
            PART_ROWS(PART_MOVE(uint32_t, 0))                                                      \
        else if ((width_B) > 1)                                                                    \
            PART_ROWS({                                                                            \
                PART_MOVE(uint16_t, 0);                                                            \
                PART_MOVE(uint16_t, (width_B)-2);                                                  \
            })                                                                                     \
        else                                                                                       \
            PART_ROWS(*to = *from)                                                                 \
    } while (0)

// `linear` is where byte (0, 0) would be.
KN_INLINE void part_untile(const uint8_t *gob, uintptr_t linear, uint64_t pitch_B, unsigned x0,
                           unsigned x1, unsigned y0, unsigned y1)
{
    for (unsigned x = x0, next; x < x1; x = next) {
        const uint8_t *cell = gob + gob_cell_B(x >> 4, 0) + (x & 15);
        const uintptr_t first = linear + x;

        next = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
#define TO(y) ((uint8_t *)(first + (y)*pitch_B))
#define FROM(y) (cell + gob_cell_B(0, y))
        if (!(x & 31) && x1 - x >= 32) {
            next = x + 32;
            PART_ROWS(PART_JOIN(from + 64))
        } else if (next - x == 16) {
            PART_ROWS(PART_MOVE(part_16, 0))
        } else {
            PART_SHORT(next - x);
        }
#undef TO
#undef FROM
    }
}

// All bytes of the rows y0 to y1: row by row, because the pieces are always the same.
KN_INLINE void part_untile_rows(const uint8_t *gob, uintptr_t linear, uint64_t pitch_B, unsigned y0,
                                unsigned y1)
{
    for (unsigned y = y0; y < y1; y++) {
        uint8_t *to = (uint8_t *)(linear + y * pitch_B);
        const uint8_t *from = gob + gob_cell_B(0, y);

        PART_JOIN(from + 64);
        to += 32;
        from += 256;
        PART_JOIN(from + 64);
    }
}

// `linear` points to (x0, y0). Most parts have all rows.
static KN_NOINLINE void gob_untile_part(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                                        unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    const uintptr_t origin = (uintptr_t)linear - x0 - y0 * pitch_B; // of byte (0, 0)

    if (x1 - x0 == 64)
        part_untile_rows(gob, origin, pitch_B, y0, y1);
    else if (y1 - y0 == 8)
        part_untile(gob, origin, pitch_B, x0, x1, 0, 8);
    else
        part_untile(gob, origin, pitch_B, x0, x1, y0, y1);
}

#ifndef TILE_MASKED_PARTS
// A column, which in a GOB is 16 bytes of each of two rows beside each other. `pitch_B` is the
// distance of rows of the source, and `both` moves two rows.
#define PART_COLUMN(pitch_B, both)                                                                 \
    _Pragma("GCC unroll 4") for (unsigned y = 0; y < 8; y += 2)                                    \
    {                                                                                              \
        uint8_t *to = TO(y);                                                                       \
        const uint8_t *from = FROM(y);                                                             \
        const bool upper = y >= y0 && y < y1, lower = y + 1 >= y0 && y + 1 < y1;                   \
        if (upper && lower)                                                                        \
            both;                                                                                  \
        else if (upper)                                                                            \
            PART_MOVE(part_16, 0);                                                                 \
        else if (lower)                                                                            \
            PART_MOVE_AT(16, (pitch_B));                                                           \
    }

KN_INLINE void part_tile(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, unsigned x0, unsigned x1,
                         unsigned y0, unsigned y1)
{
    for (unsigned x = x0, next; x < x1; x = next) {
        uint8_t *cell = gob + gob_cell_B(x >> 4, 0) + (x & 15);
        const uintptr_t first = linear + x;

        next = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
#define TO(y) (cell + gob_cell_B(0, y))
#define FROM(y) ((const uint8_t *)(first + (y)*pitch_B))
        if (next - x < 16)
            PART_SHORT(next - x);
        else
            PART_COLUMN(pitch_B, PART_JOIN(from + pitch_B));
#undef TO
#undef FROM
    }
}

KN_INLINE void part_tile_rows(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, unsigned y0,
                              unsigned y1)
{
#define TO(y) (gob + gob_cell_B(0, y))
#define FROM(y) ((const uint8_t *)(linear + (y)*pitch_B))
    for (unsigned y = y0; y < y1; y++) {
        uint8_t *to = TO(y), *first_to = to;
        const uint8_t *from = FROM(y);
        const bool two = !(y & 1) && y + 1 < y1;

        for (unsigned column = 0; column < 4; column++, from += 16) {
            to = first_to + gob_cell_B(column, 0);
            if (two)
                PART_JOIN(from + pitch_B);
            else
                PART_MOVE(part_16, 0);
        }
        y += two;
    }
#undef TO
#undef FROM
}

KN_INLINE void part_copy(uint8_t *dst, const uint8_t *src, unsigned x0, unsigned x1, unsigned y0,
                         unsigned y1)
{
    for (unsigned x = x0, next; x < x1; x = next) {
        const unsigned at = gob_cell_B(x >> 4, 0) + (x & 15);

        next = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
#define TO(y) (dst + at + gob_cell_B(0, y))
#define FROM(y) (src + at + gob_cell_B(0, y))
        if (next - x < 16)
            PART_SHORT(next - x);
        else
            PART_COLUMN(16, PART_MOVE(part_32, 0));
#undef TO
#undef FROM
    }
}

static KN_NOINLINE void gob_tile_part(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B,
                                      unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    const uintptr_t origin = (uintptr_t)linear - x0 - y0 * pitch_B;

    if (x1 - x0 == 64)
        part_tile_rows(gob, origin, pitch_B, y0, y1);
    else if (y1 - y0 == 8)
        part_tile(gob, origin, pitch_B, x0, x1, 0, 8);
    else
        part_tile(gob, origin, pitch_B, x0, x1, y0, y1);
}

static KN_NOINLINE void gob_copy_part(uint8_t *dst, const uint8_t *src, unsigned x0, unsigned x1,
                                      unsigned y0, unsigned y1)
{
    if (y1 - y0 == 8)
        part_copy(dst, src, x0, x1, 0, 8);
    else
        part_copy(dst, src, x0, x1, y0, y1);
}

#undef PART_COLUMN
#endif

#undef PART_SHORT
#undef PART_ROWS
#undef PART_JOIN
#undef PART_MOVE
