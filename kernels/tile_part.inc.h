// SPDX-License-Identifier: MIT
// Parts of a GOB: bytes x0 to x1 of rows y0 to y1. No other bytes are read or written. Each row is
// cut into pieces, which end where a column of 16 bytes ends. Two moves that overlap make a short
// piece:
//
//   x  16  20          32                              64
//      |   |  8 and 8  |      16       |       16      |     bytes 20 to 64 into a GOB
//      |   |  8 and 8  |              32               |     and out of one
//
// Most parts have all rows, and begin (head) or end (tail) inside the GOB but not both. For these
// there is a function for each number of whole columns and each kind of short piece, because
// everything then fits into registers: a load of an address from the stack would wait for all
// stores before it. Untiling copies row by row, because two stores to one line take as long as one.
// Other parts are copied by pieces, a piece in all rows before the next one.
//
// The file that includes this one may define
//   TILE_PAIR(to, left, right)   stores 16 bytes of each of two places side by side
//   TILE_MASKED_PARTS            copies parts by masks of bytes: it has gob_copy_part(), and
//                                gob_tile_masked() for parts with neither all rows nor all columns
#include "gob.h"

#include <stdbool.h>

typedef uint8_t part_16 __attribute__((vector_size(16)));
typedef uint8_t part_32 __attribute__((vector_size(32)));

KN_INLINE void part_move_16(uint8_t *to, const uint8_t *from)
{
    part_16 v;

    memcpy(&v, from, 16);
    memcpy(to, &v, 16);
}

// Stores 16 bytes of each of two places side by side.
KN_INLINE void part_join(uint8_t *to, const uint8_t *left, const uint8_t *right)
{
#ifdef TILE_PAIR
    TILE_PAIR(to, left, right);
#else
    part_16 a, b;
    part_32 v;

    memcpy(&a, left, 16);
    memcpy(&b, right, 16);
    v = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    memcpy(to, &v, 32);
#endif
}

// Moves a short piece. `kind` is a constant, the least length of those that are moved alike, by one
// move or by two that overlap:
//
//   kind      0    1    2       4    5         8    9
//   lengths   0    1    2, 3    4    5 to 7    8    9 to 15
//
// The ends are the addresses after its last byte.
KN_INLINE void part_short(uint8_t *to, uint8_t *to_end, const uint8_t *from,
                          const uint8_t *from_end, unsigned kind)
{
#define MOVE(type, two)                                                                            \
    do {                                                                                           \
        type first_, last_;                                                                        \
        memcpy(&first_, from, sizeof(type));                                                       \
        memcpy(to, &first_, sizeof(type));                                                         \
        if (two) {                                                                                 \
            memcpy(&last_, from_end - sizeof(type), sizeof(type));                                 \
            memcpy(to_end - sizeof(type), &last_, sizeof(type));                                   \
        }                                                                                          \
    } while (0)
    if (kind >= 8)
        MOVE(uint64_t, kind == 9);
    else if (kind >= 4)
        MOVE(uint32_t, kind == 5);
    else if (kind == 2)
        MOVE(uint16_t, true);
    else if (kind == 1)
        *to = *from;
#undef MOVE
}

// Copies all rows of a head or a tail with some whole columns and a short piece of `length_B`.
// `linear` is the address of its first byte.
typedef void part_fn(uint8_t *gob, uint8_t *linear, uint64_t pitch_B, uint64_t length_B);
// Copies the rows `rows` of a piece. `linear` is where it would be in row 0.
typedef void part_piece_fn(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, uint64_t length_B,
                           unsigned rows);

enum part_end { HEAD, TAIL };

// Addresses in row 0 of a part. The short piece begins at a fixed offset from `low` and ends at the
// same offset from `high`, which is `length_B` further on. Columns before it have fixed offsets
// from `low`, and columns after it from `high`.
struct part_side {
    uint8_t *low, *high;
    unsigned piece_B;      // of the short piece
    unsigned one_B, two_B; // of the column beside two others or alone, and of two columns
};

KN_INLINE struct part_side part_in_gob(uint8_t *gob, uint64_t length_B, enum part_end end,
                                       unsigned columns)
{
    if (end == HEAD)
        return (struct part_side){gob - length_B, gob, gob_cell_B(3 - columns, 0) + 16,
                                  gob_cell_B(4 - columns, 0), gob_cell_B(2, 0)};
    return (struct part_side){gob, gob + length_B, gob_cell_B(columns, 0),
                              gob_cell_B(columns & 2, 0), 0};
}

KN_INLINE struct part_side part_in_linear(uint8_t *linear, uint64_t length_B, enum part_end end,
                                          unsigned columns)
{
    if (end == HEAD)
        return (struct part_side){linear, linear + length_B, 0, 0, (columns & 1) * 16};
    return (struct part_side){linear, linear + length_B, columns * 16, (columns & 2) * 16, 0};
}

#define PART_FUNCTION(way, end, columns, kind)                                                     \
    static KN_NOINLINE void way##_##end##_##columns##_##kind(uint8_t *gob, uint8_t *linear,        \
                                                             uint64_t pitch_B, uint64_t length_B)  \
    {                                                                                              \
        way(gob, linear, pitch_B, length_B, end, columns, kind);                                   \
    }
#define PART_KINDS(way, end, columns)                                                              \
    PART_FUNCTION(way, end, columns, 0)                                                            \
    PART_FUNCTION(way, end, columns, 1)                                                            \
    PART_FUNCTION(way, end, columns, 2)                                                            \
    PART_FUNCTION(way, end, columns, 4)                                                            \
    PART_FUNCTION(way, end, columns, 5)                                                            \
    PART_FUNCTION(way, end, columns, 8)                                                            \
    PART_FUNCTION(way, end, columns, 9)
#define PART_POINTERS(name)                                                                        \
    name##_0, name##_1, name##_2, name##_2, name##_4, name##_5, name##_5, name##_5, name##_8,      \
        name##_9, name##_9, name##_9, name##_9, name##_9, name##_9, name##_9
#define PART_END(way, end)                                                                         \
    PART_KINDS(way, end, 0)                                                                        \
    PART_KINDS(way, end, 1)                                                                        \
    PART_KINDS(way, end, 2)                                                                        \
    PART_KINDS(way, end, 3)                                                                        \
    static part_fn *const way##_##end[4 * 16] = {                                                  \
        PART_POINTERS(way##_##end##_0), PART_POINTERS(way##_##end##_1),                            \
        PART_POINTERS(way##_##end##_2), PART_POINTERS(way##_##end##_3)};
#define PART_PIECE(way, kind)                                                                      \
    static KN_NOINLINE void way##_piece_##kind(uint8_t *gob, uintptr_t linear, uint64_t pitch_B,   \
                                               uint64_t length_B, unsigned rows)                   \
    {                                                                                              \
        way##_piece(gob, linear, pitch_B, length_B, rows, kind);                                   \
    }
// All functions of a way, which has defined way() and way_piece().
#define PART_WAY(way)                                                                              \
    PART_END(way, HEAD)                                                                            \
    PART_END(way, TAIL)                                                                            \
    PART_PIECE(way, 1)                                                                             \
    PART_PIECE(way, 2)                                                                             \
    PART_PIECE(way, 4)                                                                             \
    PART_PIECE(way, 5)                                                                             \
    PART_PIECE(way, 8)                                                                             \
    PART_PIECE(way, 9)                                                                             \
    PART_PIECE(way, 16)                                                                            \
    static part_piece_fn *const way##_pieces[17] = {                                               \
        NULL,          way##_piece_1, way##_piece_2, way##_piece_2, way##_piece_4, way##_piece_5,  \
        way##_piece_5, way##_piece_5, way##_piece_8, way##_piece_9, way##_piece_9, way##_piece_9,  \
        way##_piece_9, way##_piece_9, way##_piece_9, way##_piece_9, way##_piece_16};
// Calls them. `linear` points to (x0, y0).
#define PART_CALL(way, gob, linear, pitch_B)                                                       \
    do {                                                                                           \
        const unsigned rows_ = part_rows(y0, y1);                                                  \
        if (rows_ == 0xff && x1 == 64)                                                             \
            way##_HEAD[64 - x0](gob, linear, pitch_B, (64 - x0) & 15);                             \
        else if (rows_ == 0xff && !x0)                                                             \
            way##_TAIL[x1](gob, linear, pitch_B, x1 & 15);                                         \
        else                                                                                       \
            for (unsigned x = x0, end; x < x1; x = end) {                                          \
                end = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;                                       \
                way##_pieces[end - x]((gob) + part_B(x),                                           \
                                      (uintptr_t)(linear)-y0 * (pitch_B) + (x - x0), pitch_B,      \
                                      end - x, rows_);                                             \
            }                                                                                      \
    } while (0)

// Offset of byte `x` of row 0 in a GOB.
KN_INLINE unsigned part_B(unsigned x)
{
    return gob_cell_B(x >> 4, 0) + (x & 15);
}

KN_INLINE void part_untile(uint8_t *gob, uint8_t *linear, uint64_t pitch_B, uint64_t length_B,
                           enum part_end end, unsigned columns, unsigned kind)
{
    const struct part_side g = part_in_gob(gob, length_B, end, columns),
                           l = part_in_linear(linear, length_B, end, columns);

#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++) {
        uint8_t *low = l.low + y * pitch_B, *high = l.high + y * pitch_B;
        uint8_t *columns_at = end == HEAD ? high : low;
        const uint8_t *from = gob + gob_cell_B(0, y);
        part_short(low + l.piece_B, high + l.piece_B, g.low + g.piece_B + gob_cell_B(0, y),
                   g.high + g.piece_B + gob_cell_B(0, y), kind);
        if (columns & 1)
            part_move_16(columns_at + l.one_B, from + g.one_B);
        if (columns & 2)
            part_join(columns_at + l.two_B, from + g.two_B, from + g.two_B + 64);
    }
}

KN_INLINE void part_untile_piece(uint8_t *gob, uintptr_t linear, uint64_t pitch_B,
                                 uint64_t length_B, unsigned rows, unsigned kind)
{
#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++) {
        uint8_t *to = (uint8_t *)(linear + y * pitch_B);
        const uint8_t *from = gob + gob_cell_B(0, y);
        if (!(rows >> y & 1))
            continue;
        if (kind == 16)
            part_move_16(to, from);
        else
            part_short(to, to + length_B, from, from + length_B, kind);
    }
}

PART_WAY(part_untile)

// `linear` points to (x0, y0).
static KN_NOINLINE void gob_untile_part(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                                        unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    if (x1 - x0 == 64) {
        const unsigned rows = part_rows(y0, y1);
#pragma GCC unroll 8
        for (unsigned y = 0; y < 8; y++) {
            const uint8_t *from = gob + gob_cell_B(0, y);
            if (!(rows >> y & 1))
                continue;
            part_join(linear, from, from + 64);
            part_join(linear + 32, from + 256, from + 320);
            linear += pitch_B;
        }
        return;
    }
    PART_CALL(part_untile, (uint8_t *)gob, linear, pitch_B);
}

// In a GOB, a column has 16 bytes of each of two rows beside each other.
KN_INLINE void part_tile_column(uint8_t *to, uintptr_t from, uint64_t pitch_B, unsigned rows)
{
    if ((rows & 3) == 3)
        part_join(to, (const uint8_t *)from, (const uint8_t *)(from + pitch_B));
    else if (rows & 1)
        part_move_16(to, (const uint8_t *)from);
    else if (rows & 2)
        part_move_16(to + 16, (const uint8_t *)(from + pitch_B));
}

// All rows of a column.
KN_INLINE void part_tile_column_8(uint8_t *to, const uint8_t *from, uint64_t pitch_B)
{
#pragma GCC unroll 4
    for (unsigned y = 0; y < 8; y += 2)
        part_join(to + gob_cell_B(0, y), from + y * pitch_B, from + (y + 1) * pitch_B);
}

KN_INLINE void part_tile(uint8_t *gob, uint8_t *linear, uint64_t pitch_B, uint64_t length_B,
                         enum part_end end, unsigned columns, unsigned kind)
{
    const struct part_side g = part_in_gob(gob, length_B, end, columns),
                           l = part_in_linear(linear, length_B, end, columns);
    uint8_t *columns_at = end == HEAD ? l.high : l.low;

    // By columns, whose lines hold four rows each.
    if (columns & 2) {
        part_tile_column_8(gob + g.two_B, columns_at + l.two_B, pitch_B);
        part_tile_column_8(gob + g.two_B + 64, columns_at + l.two_B + 16, pitch_B);
    }
    if (columns & 1)
        part_tile_column_8(gob + g.one_B, columns_at + l.one_B, pitch_B);
#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++)
        part_short(g.low + g.piece_B + gob_cell_B(0, y), g.high + g.piece_B + gob_cell_B(0, y),
                   l.low + y * pitch_B + l.piece_B, l.high + y * pitch_B + l.piece_B, kind);
}

KN_INLINE void part_tile_piece(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, uint64_t length_B,
                               unsigned rows, unsigned kind)
{
#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++) {
        uint8_t *to = gob + gob_cell_B(0, y);
        const uint8_t *from = (const uint8_t *)(linear + y * pitch_B);
        if (kind == 16) {
            if (!(y & 1))
                part_tile_column(to, (uintptr_t)from, pitch_B, rows >> y);
        } else if (rows >> y & 1) {
            part_short(to, to + length_B, from, from + length_B, kind);
        }
    }
}

PART_WAY(part_tile)

static KN_NOINLINE void gob_tile_part(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B,
                                      unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    if (x1 - x0 == 64) {
        const unsigned rows = part_rows(y0, y1);
        const uintptr_t origin = (uintptr_t)linear - y0 * pitch_B;
#pragma GCC unroll 4
        for (unsigned y = 0; y < 8; y += 2)
#pragma GCC unroll 4
            for (unsigned column = 0; column < 4; column++)
                part_tile_column(gob + gob_cell_B(column, y), origin + y * pitch_B + column * 16,
                                 pitch_B, rows >> y);
        return;
    }
#ifdef TILE_MASKED_PARTS
    if (y1 - y0 != 8) {
        gob_tile_masked(gob, linear, pitch_B, x0, x1, y0, y1);
        return;
    }
#endif
    PART_CALL(part_tile, gob, (uint8_t *)linear, pitch_B);
}

#ifndef TILE_MASKED_PARTS
KN_INLINE void part_copy_column(uint8_t *to, const uint8_t *from, unsigned rows)
{
    if ((rows & 3) == 3)
        memcpy(to, from, 32);
    else if (rows & 1)
        part_move_16(to, from);
    else if (rows & 2)
        part_move_16(to + 16, from + 16);
}

// From one GOB, which is `linear`, to another.
KN_INLINE void part_copy(uint8_t *gob, uint8_t *linear, uint64_t pitch_B, uint64_t length_B,
                         enum part_end end, unsigned columns, unsigned kind)
{
    const struct part_side g = part_in_gob(gob, length_B, end, columns),
                           l = part_in_gob(linear, length_B, end, columns);

#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++) {
        const unsigned row_B = gob_cell_B(0, y);
        part_short(g.low + g.piece_B + row_B, g.high + g.piece_B + row_B, l.low + l.piece_B + row_B,
                   l.high + l.piece_B + row_B, kind);
        if (y & 3)
            continue;
        if (columns & 1)
            memcpy(gob + g.one_B + row_B, linear + g.one_B + row_B, 64);
        if (columns & 2)
            memcpy(gob + g.two_B + row_B, linear + g.two_B + row_B, 128);
    }
}

KN_INLINE void part_copy_piece(uint8_t *gob, uintptr_t linear, uint64_t pitch_B, uint64_t length_B,
                               unsigned rows, unsigned kind)
{
#pragma GCC unroll 8
    for (unsigned y = 0; y < 8; y++) {
        uint8_t *to = gob + gob_cell_B(0, y);
        const uint8_t *from = (const uint8_t *)linear + gob_cell_B(0, y);
        if (kind == 16) {
            if (!(y & 1))
                part_copy_column(to, from, rows >> y);
        } else if (rows >> y & 1) {
            part_short(to, to + length_B, from, from + length_B, kind);
        }
    }
}

PART_WAY(part_copy)

static KN_NOINLINE void gob_copy_part(uint8_t *dst, const uint8_t *src, unsigned x0, unsigned x1,
                                      unsigned y0, unsigned y1)
{
    if (x1 - x0 == 64) {
        const unsigned rows = part_rows(y0, y1);
#pragma GCC unroll 4
        for (unsigned y = 0; y < 8; y += 2)
#pragma GCC unroll 4
            for (unsigned column = 0; column < 4; column++)
                part_copy_column(dst + gob_cell_B(column, y), src + gob_cell_B(column, y),
                                 rows >> y);
        return;
    }
    if (y1 - y0 == 8 && x1 == 64)
        part_copy_HEAD[64 - x0](dst, (uint8_t *)src, 0, (64 - x0) & 15);
    else if (y1 - y0 == 8 && !x0)
        part_copy_TAIL[x1](dst, (uint8_t *)src, 0, x1 & 15);
    else
        for (unsigned x = x0, end; x < x1; x = end) {
            end = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
            part_copy_pieces[end - x](dst + part_B(x), (uintptr_t)src + part_B(x), 0, end - x,
                                      part_rows(y0, y1));
        }
}
#endif

#undef PART_CALL
#undef PART_WAY
#undef PART_PIECE
#undef PART_END
#undef PART_POINTERS
#undef PART_KINDS
#undef PART_FUNCTION
