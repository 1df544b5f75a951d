// SPDX-License-Identifier: MIT
// Tiling, untiling and copying between surfaces, once for every instruction set: the order in which
// a box is walked.
//
// The file that includes this one has defined
//   gob_copy()                         a whole GOB
//   TILE_STREAM, TILE_FENCE()          whether there are non-temporal stores, and their fence
//   TILE_SUFFIX()                      the name of a function of this set
//   TILE_UNTILE_SHIFTED                optional: untiles to rows that do not begin where lines do,
//                                      with non-temporal stores; returns false if it cannot
//   TILE_RETILE_APART                  optional: copies between surfaces if the boxes do not begin
//                                      at the same byte of a GOB
// and has included tile_row.inc.h.
#define TILE_GROUP_GOBS 4

// The row of GOBs that holds row `y`.
KN_INLINE uint64_t row_of_gobs_B(const struct kn_surface *s, uint64_t y)
{
    return kn_tiled_offset_B(&s->tiled, 0, y & ~UINT64_C(7), s->z);
}

KN_INLINE void row_tile(uint8_t *gobs_at, uint64_t step_B, const struct gob_row *row,
                        const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    TILE_BY_PATH(row_tile, path, gobs_at, step_B, row, linear, pitch_B);
}

KN_INLINE void row_untile(const uint8_t *gobs_at, uint64_t step_B, const struct gob_row *row,
                          uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    TILE_BY_PATH(row_untile, path, gobs_at, step_B, row, linear, pitch_B);
}

// Tiles one slice of a box, a row of GOBs at a time from top to bottom. `last` is true if no slice
// follows.
KN_INLINE void slice_tile(struct kn_surface s, const uint8_t *linear, uint64_t pitch_B,
                          uint64_t width_B, uint64_t rows, bool last, enum tile_path path)
{
    struct kn_surface after = {s.base, s.tiled, s.x_B, s.y, last ? s.z : s.z + 1};
    const uint8_t *first_after = s.base + row_of_gobs_B(&after, s.y);
    uint64_t step_B = kn_tiled_step_B(&s.tiled);

    for (uint64_t y = 0, next; y < rows; y = next) {
        unsigned y0 = (s.y + y) & 7;
        struct gob_row row;

        next = y + 8 - y0 < rows ? y + 8 - y0 : rows;
        row = (struct gob_row){s.x_B, s.x_B + width_B, y0, y0 + (unsigned)(next - y), 0};
        row.next = (uintptr_t)(next < rows ? s.base + row_of_gobs_B(&s, s.y + next) : first_after);
        row_tile(s.base + row_of_gobs_B(&s, s.y + y), step_B, &row, linear + y * pitch_B, pitch_B,
                 path);
    }
}

// `after` is the first byte of the next slice, or of this one if no slice follows.
KN_INLINE void slice_untile(struct kn_surface s, uint8_t *linear, uint64_t pitch_B,
                            uint64_t width_B, uint64_t rows, const uint8_t *after,
                            enum tile_path path)
{
    uint64_t step_B = kn_tiled_step_B(&s.tiled);

    for (uint64_t y = 0, next; y < rows; y = next) {
        unsigned y0 = (s.y + y) & 7;
        struct gob_row row;

        next = y + 8 - y0 < rows ? y + 8 - y0 : rows;
        row = (struct gob_row){s.x_B, s.x_B + width_B, y0, y0 + (unsigned)(next - y), 0};
        row.next = (uintptr_t)(next < rows ? linear + next * pitch_B : after);
        row_untile(s.base + row_of_gobs_B(&s, s.y + y), step_B, &row, linear + y * pitch_B, pitch_B,
                   path);
    }
}

// Untiles block by block in the order of memory. Some blocks side by side make up a group, so that
// the stores to a row of linear memory come in longer runs:
//
//   +---+---+---+---+---+---+---
//   | a group of 4  | the next      each group: all slices of the blocks, and in each slice
//   | blocks        | group         all rows, before the next group
//   +---+---+---+---+---+---+---
KN_INLINE void box_untile_blocks(struct kn_surface s, struct kn_linear linear, struct kn_box box)
{
    uint64_t height = 8u << s.tiled.block_height_log2, depth = 1u << s.tiled.block_depth_log2;
#ifdef TILE_UNTILE_BY_ROWS
    const uint64_t group_B = 64 * (tile_by_rows(linear.pitch_B) ? TILE_ROWS_GOBS : TILE_GROUP_GOBS);
#else
    const uint64_t group_B = 64 * TILE_GROUP_GOBS;
#endif

    for (uint64_t slice = 0, slice_end; slice < box.slices; slice = slice_end) {
        slice_end = ((s.z + slice) | (depth - 1)) + 1 - s.z;
        slice_end = slice_end < box.slices ? slice_end : box.slices;
        for (uint64_t row = 0, row_end; row < box.rows; row = row_end) {
            row_end = ((s.y + row) | (height - 1)) + 1 - s.y;
            row_end = row_end < box.rows ? row_end : box.rows;
            for (uint64_t x_B = 0, x_end_B; x_B < box.width_B; x_B = x_end_B) {
                x_end_B = ((s.x_B + x_B) / group_B + 1) * group_B - s.x_B;
                x_end_B = x_end_B < box.width_B ? x_end_B : box.width_B;
                for (uint64_t z = slice; z < slice_end; z++) {
                    struct kn_surface part = {s.base, s.tiled, s.x_B + x_B, s.y + row, s.z + z};
                    uint8_t *to = linear.first + z * linear.slice_B + row * linear.pitch_B + x_B;

                    slice_untile(part, to, linear.pitch_B, x_end_B - x_B, row_end - row, to,
                                 TILE_STREAMED);
                }
            }
        }
    }
}

// The offset of a GOB is the sum of three: that of its column (kn_tiled_step_B), its row and slice.
KN_INLINE uint64_t gob_row_B(const struct kn_tiled *t, uint64_t gob_row)
{
    unsigned a = t->block_height_log2;

    return (gob_row >> a) * ((uint64_t)t->width_gob << (9 + a + t->block_depth_log2)) +
           ((gob_row & ((1u << a) - 1)) << 9);
}

KN_INLINE uint64_t gob_slice_B(const struct kn_tiled *t, uint64_t z)
{
    unsigned a = t->block_height_log2, b = t->block_depth_log2;

    return (z >> b) * ((uint64_t)t->width_gob * t->height_gob << (9 + b)) +
           ((z & ((1u << b) - 1)) << (9 + a));
}

// Copies a box that begins at the same byte of a GOB in both surfaces, so that every GOB, or part
// of one at the edges, comes from one GOB. Walks down each column of GOBs, because that is the
// order of memory in both surfaces, up to the height of the higher blocks.
KN_INLINE void box_copy_gobs(const struct kn_surface *dst, const struct kn_surface *src,
                             const struct kn_box *box, enum tile_path path)
{
    const struct kn_tiled d = dst->tiled, s = src->tiled;
    const unsigned x0 = dst->x_B & 63, y0 = dst->y & 7;
    const uint64_t x1 = x0 + box->width_B, y1 = y0 + box->rows, across = (x1 + 63) / 64,
                   down = (y1 + 7) / 8, slices = box->slices;
    const uint64_t dst_step_B = kn_tiled_step_B(&d), src_step_B = kn_tiled_step_B(&s);
    uint8_t *to = dst->base + (dst->x_B >> 6) * dst_step_B;
    const uint8_t *from = src->base + (src->x_B >> 6) * src_step_B;
    uint64_t block_rows = UINT64_C(1)
                          << (d.block_height_log2 > s.block_height_log2 ? d.block_height_log2
                                                                        : s.block_height_log2);
    uint64_t block_depth = UINT64_C(1)
                           << (d.block_depth_log2 > s.block_depth_log2 ? d.block_depth_log2
                                                                       : s.block_depth_log2);

    for (uint64_t slice = 0, slice_end; slice < slices; slice = slice_end) {
        slice_end = slice + block_depth < slices ? slice + block_depth : slices;
        for (uint64_t top = 0, end; top < down; top = end) {
            end = top + block_rows < down ? top + block_rows : down;
            const uint8_t *last = to + (across - 1) * dst_step_B +
                                  gob_slice_B(&d, dst->z + slice_end - 1) +
                                  gob_row_B(&d, (dst->y >> 3) + end - 1);
            for (uint64_t x = 0; x < across; x++) {
                const unsigned xa = x ? 0 : x0, xb = x + 1 < across ? 64 : (unsigned)(x1 - x * 64);
                for (uint64_t z = slice; z < slice_end; z++) {
                    uint8_t *to_column = to + x * dst_step_B + gob_slice_B(&d, dst->z + z);
                    const uint8_t *from_column =
                        from + x * src_step_B + gob_slice_B(&s, src->z + z);
                    for (uint64_t y = top; y < end; y++) {
                        const unsigned ya = y ? 0 : y0,
                                       yb = y + 1 < down ? 8 : (unsigned)(y1 - y * 8);
                        uint8_t *to_gob = to_column + gob_row_B(&d, (dst->y >> 3) + y);
                        const uint8_t *gob = from_column + gob_row_B(&s, (src->y >> 3) + y);

                        if (tile_path_prefetches(path)) {
                            const uintptr_t ahead = (uintptr_t)to_gob + RETILE_AHEAD_B;
                            tile_write_ahead(ahead < (uintptr_t)last ? ahead : (uintptr_t)last, 64);
                        }
                        if (path == TILE_STREAMED)
                            tile_read_ahead(gob, TILE_STREAM_GOBS_B, 64);
                        if (xb - xa == 64 && yb - ya == 8)
                            gob_copy(to_gob, gob, path);
                        else
                            gob_copy_part(to_gob, gob, xa, xb, ya, yb);
                    }
                }
            }
        }
    }
}

void TILE_SUFFIX(kn_tile_box)(const struct kn_surface *dst, const struct kn_linear *src,
                              const struct kn_box *box)
{
    struct kn_surface s = *dst;
    const uint64_t pitch_B = src->pitch_B, width_B = box->width_B, rows = box->rows,
                   slices = box->slices;
    enum tile_path path = tile_path(width_B * rows * slices, (uintptr_t)s.base, TILE_STREAM);

    for (uint64_t slice = 0; slice < slices; slice++, s.z++)
        slice_tile(s, src->first + slice * src->slice_B, pitch_B, width_B, rows,
                   slice + 1 == slices, path);
    if (path == TILE_STREAMED)
        TILE_FENCE();
}

void TILE_SUFFIX(kn_untile_box)(const struct kn_linear *dst, const struct kn_surface *src,
                                const struct kn_box *box)
{
    struct kn_surface s = *src;
    const uint64_t pitch_B = dst->pitch_B, width_B = box->width_B, rows = box->rows,
                   slices = box->slices;
    uintptr_t alignment =
        ((uintptr_t)dst->first - s.x_B) | pitch_B | (slices > 1 ? dst->slice_B : 0);
    enum tile_path path = tile_path(width_B * rows * slices, alignment, TILE_STREAM);

    if (TILE_STREAM && path == TILE_STREAMED) {
        box_untile_blocks(s, *dst, *box);
        TILE_FENCE();
        return;
    }
#ifdef TILE_UNTILE_SHIFTED
    if (width_B * rows * slices >= tile_limit(&kn_stream_shifted_min_B) &&
        TILE_UNTILE_SHIFTED(dst, src, box)) {
        TILE_FENCE();
        return;
    }
#endif
    for (uint64_t slice = 0; slice < slices; slice++, s.z++) {
        uint8_t *linear = dst->first + slice * dst->slice_B;
        const uint8_t *after = slice + 1 < slices ? linear + dst->slice_B : linear;

        slice_untile(s, linear, pitch_B, width_B, rows, after, path);
    }
}

#ifndef TILE_RETILE_APART
#define TILE_RETILE_APART box_restage
// Copies any box between surfaces by way of a buffer on the stack, which holds a part of a row of
// the destination's GOBs. Its rows lie in one or two rows of the source's GOBs.
static void box_restage(const struct kn_surface *dst, const struct kn_surface *src,
                        const struct kn_box *box)
{
    enum { STAGE_WIDTH_B = 512 };
    _Alignas(64) uint8_t stage[8 * STAGE_WIDTH_B];
    struct kn_surface d = *dst, s = *src;
    uint64_t dst_step_B = kn_tiled_step_B(&d.tiled), src_step_B = kn_tiled_step_B(&s.tiled);
    const uint64_t width_B = box->width_B, rows = box->rows, slices = box->slices;

    for (uint64_t slice = 0; slice < slices; slice++, d.z++, s.z++) {
        for (uint64_t y = 0, next_y; y < rows; y = next_y) {
            unsigned y0 = (d.y + y) & 7, high = rows - y < 8 - y0 ? (unsigned)(rows - y) : 8 - y0;
            unsigned src_y0 = (s.y + y) & 7;
            unsigned upper =
                8 - src_y0 < high ? 8 - src_y0 : high; // rows in the source's first GOB
            uint8_t *dst_gobs = d.base + row_of_gobs_B(&d, d.y + y);
            const uint8_t *upper_gobs = s.base + row_of_gobs_B(&s, s.y + y);
            const uint8_t *lower_gobs =
                upper < high ? s.base + row_of_gobs_B(&s, s.y + y + upper) : upper_gobs;

            next_y = y + high;
            for (uint64_t x = 0, next; x < width_B; x = next) {
                uint64_t dx = d.x_B + x, sx = s.x_B + x;
                struct gob_row part;
                // End at a GOB of the destination, so that the parts after the first are whole.
                next = x + STAGE_WIDTH_B - (dx & 63);
                next = next < width_B ? next : width_B;
                part = (struct gob_row){sx, sx + (next - x), src_y0, src_y0 + upper, 0};
                row_untile(upper_gobs, src_step_B, &part, stage, STAGE_WIDTH_B, TILE_CACHED);
                if (upper < high) {
                    part = (struct gob_row){sx, sx + (next - x), 0, high - upper, 0};
                    row_untile(lower_gobs, src_step_B, &part, stage + upper * STAGE_WIDTH_B,
                               STAGE_WIDTH_B, TILE_CACHED);
                }
                part = (struct gob_row){dx, dx + (next - x), y0, y0 + high, 0};
                row_tile(dst_gobs, dst_step_B, &part, stage, STAGE_WIDTH_B, TILE_CACHED);
            }
        }
    }
}
#endif

void TILE_SUFFIX(kn_retile_box)(const struct kn_surface *dst, const struct kn_surface *src,
                                const struct kn_box *box)
{
    enum tile_path path =
        tile_path(box->width_B * box->rows * box->slices, (uintptr_t)dst->base, TILE_STREAM);

    if (((dst->x_B ^ src->x_B) & 63) || ((dst->y ^ src->y) & 7)) {
        TILE_RETILE_APART(dst, src, box);
    } else if (TILE_STREAM && path == TILE_STREAMED) {
        box_copy_gobs(dst, src, box, TILE_STREAMED);
        TILE_FENCE();
    } else if (path == TILE_CACHED) {
        box_copy_gobs(dst, src, box, TILE_CACHED);
    } else {
        box_copy_gobs(dst, src, box, TILE_PREFETCHED);
    }
}
