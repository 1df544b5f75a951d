// SPDX-License-Identifier: MIT
// Whether two accesses have bytes in common, or all.
#include "order_history.h"

static bool spans_meet(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
    return a < b_end && b < a_end;
}

// The bytes of a row that follow each other, for any kind but a box.
static uint64_t row_B(const struct em_footprint *f)
{
    return f->kind == EM_ROWS ? f->row_B : f->end - f->first;
}

static uint64_t pitch_B(const struct em_footprint *f)
{
    return f->kind == EM_ROWS ? f->pitch_B : f->end - f->first;
}

// Whether [first, end) meets a row of f. If so, *row is the first one.
static bool meets_a_row(const struct em_footprint *f, uint64_t first, uint64_t end, uint64_t *row)
{
    // The first row that ends after `first`.
    *row = f->first;
    if (first >= f->first + row_B(f))
        *row += ((first - f->first - row_B(f)) / pitch_B(f) + 1) * pitch_B(f);
    return *row < end && *row < f->end;
}

enum { ROWS_MOST = 1 << 16 }; // of two pitches that are compared

// Rows against rows of another pitch: those of the access that has fewer of them are compared one
// by one, which costs less than to copy them.
static bool rows_meet(const struct em_footprint *a, const struct em_footprint *b, uint64_t *row)
{
    if ((a->end - a->first) / pitch_B(a) > (b->end - b->first) / pitch_B(b)) {
        const struct em_footprint *t = a;
        a = b;
        b = t;
    }
    uint64_t at = a->first, skipped;
    if (b->first > at + row_B(a)) { // the rows before b
        skipped = (b->first - at - row_B(a)) / pitch_B(a);
        at += skipped * pitch_B(a);
    }
    for (unsigned i = 0; i < ROWS_MOST && at < a->end && at < b->end; i++, at += pitch_B(a)) {
        if (!meets_a_row(b, at, at + row_B(a), row))
            continue;
        if (*row < at)
            *row = at;
        return true;
    }
    return false;
}

// Rows of the same pitch: the columns of `b`, as they lie between the rows of `a`, meet those of
// `a`, or wrap around into the next row.
static bool same_pitch_meet(const struct em_footprint *a, const struct em_footprint *b)
{
    if (a->first > b->first) {
        const struct em_footprint *t = a;
        a = b;
        b = t;
    }
    uint64_t rows_a = (a->end - a->first - a->row_B) / a->pitch_B + 1,
             below = (b->first - a->first) / a->pitch_B,
             column = (b->first - a->first) % a->pitch_B;
    return (column < a->row_B && below < rows_a) ||
           (column + b->row_B > a->pitch_B && below + 1 < rows_a);
}

static bool boxes_meet(const struct em_footprint *a, const struct em_footprint *b)
{
    return a->storage == b->storage && a->level == b->level &&
           spans_meet(a->at.x_B, a->at.x_B + a->extent.width_B, b->at.x_B,
                      b->at.x_B + b->extent.width_B) &&
           spans_meet(a->at.y, a->at.y + a->extent.height, b->at.y, b->at.y + b->extent.height) &&
           spans_meet(a->at.z, a->at.z + a->extent.depth, b->at.z, b->at.z + b->extent.depth);
}

// A span meets a box only if it is all of the array's memory, because the addresses of single
// texels are not compared.
static bool span_meets_box(const struct em_footprint *span, const struct em_footprint *box)
{
    return span->kind == EM_SPAN && span->first <= box->first && span->end >= box->end;
}

bool em_footprints_meet(const struct em_footprint *a, const struct em_footprint *b, uint64_t *first,
                        uint64_t *end)
{
    if (!spans_meet(a->first, a->end, b->first, b->end))
        return false;
    *first = a->first > b->first ? a->first : b->first;
    *end = a->end < b->end ? a->end : b->end;
    if (a->kind == EM_SPAN && b->kind == EM_SPAN)
        return true;
    if (a->kind == EM_BOX && b->kind == EM_BOX)
        return boxes_meet(a, b);
    if (a->kind == EM_BOX || b->kind == EM_BOX)
        return a->kind == EM_BOX ? span_meets_box(b, a) : span_meets_box(a, b);
    if (a->kind == EM_ROWS && b->kind == EM_ROWS && a->pitch_B == b->pitch_B)
        return same_pitch_meet(a, b);
    return rows_meet(a, b, first);
}

bool em_footprints_are_same(const struct em_footprint *a, const struct em_footprint *b)
{
    if (a->kind != b->kind || a->first != b->first || a->end != b->end)
        return false;
    if (a->kind == EM_ROWS)
        return a->row_B == b->row_B && a->pitch_B == b->pitch_B;
    return a->kind == EM_SPAN ||
           (a->storage == b->storage && a->level == b->level && a->at.x_B == b->at.x_B &&
            a->at.y == b->at.y && a->at.z == b->at.z && a->extent.width_B == b->extent.width_B &&
            a->extent.height == b->extent.height && a->extent.depth == b->extent.depth);
}
