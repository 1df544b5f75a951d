// SPDX-License-Identifier: MIT
// Tiling, untiling and copying between surfaces, once for every instruction set: the order in which
// a box is walked.
//
// The file that includes this one has defined
//   row_tile(), row_untile(),          one row of GOBs; tile_row.inc.h makes them from whole GOBs
//   row_state_init()                   and parts of GOBs
//   gob_copy()                         a whole GOB
//   TILE_STREAM, TILE_FENCE()          whether there are non-temporal stores, and their fence
//   TILE_SUFFIX()                      the name of a function of this set
//   TILE_RETILE_EDGES                  optional: copies ragged boxes between surfaces
//   TILE_RETILE_WHOLE                  with it: 1 if it is also faster for the whole GOBs of small
//                                      boxes with ragged edges
#define TILE_GROUP_GOBS 4

// The row of GOBs that holds row `y`.
KN_INLINE uint64_t row_of_gobs_B(const struct kn_surface *s, uint64_t y)
{
    return kn_tiled_offset_B(&s->tiled, 0, y & ~UINT64_C(7), s->z);
}

// Tiles one slice of a box, a row of GOBs at a time from top to bottom.
KN_INLINE void slice_tile(struct kn_surface s, const uint8_t *linear, uint64_t pitch_B,
                          uint64_t width_B, uint64_t rows, enum tile_path path)
{
    uint64_t step_B = kn_tiled_step_B(&s.tiled);

    for (uint64_t y = 0, next; y < rows; y = next) {
        unsigned y0 = (s.y + y) & 7;
        struct gob_row row;

        next = y + 8 - y0 < rows ? y + 8 - y0 : rows;
        row = (struct gob_row){s.x_B, s.x_B + width_B, y0, y0 + (unsigned)(next - y)};
        row_tile(s.base + row_of_gobs_B(&s, s.y + y), step_B, row, linear + y * pitch_B, pitch_B,
                 path);
    }
}

KN_INLINE void slice_untile(struct row_state *state, struct kn_surface s, uint8_t *linear,
                            uint64_t pitch_B, uint64_t width_B, uint64_t rows, enum tile_path path)
{
    uint64_t step_B = kn_tiled_step_B(&s.tiled);

    for (uint64_t y = 0, next; y < rows; y = next) {
        unsigned y0 = (s.y + y) & 7;
        struct gob_row row;

        next = y + 8 - y0 < rows ? y + 8 - y0 : rows;
        row = (struct gob_row){s.x_B, s.x_B + width_B, y0, y0 + (unsigned)(next - y)};
        row_untile(state, s.base + row_of_gobs_B(&s, s.y + y), step_B, row, linear + y * pitch_B,
                   pitch_B, path);
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
    struct row_state state;
    uint64_t height = 8u << s.tiled.block_height_log2, depth = 1u << s.tiled.block_depth_log2;
    const uint64_t group_B = TILE_GROUP_GOBS * 64;

    row_state_init(&state, false);
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

                    slice_untile(&state, part,
                                 linear.first + z * linear.slice_B + row * linear.pitch_B + x_B,
                                 linear.pitch_B, x_end_B - x_B, row_end - row, TILE_STREAMED);
                }
            }
        }
    }
}

// Copies whole GOBs between surfaces: `gobs` is the extent in GOBs, and both boxes begin at a GOB.
// Walks down each column of GOBs, because that is the order of memory in both surfaces, up to the
// height of the higher blocks.
KN_INLINE void box_copy_gobs(struct kn_surface dst, struct kn_surface src, struct kn_box gobs,
                             int stream)
{
    const struct kn_tiled *d = &dst.tiled, *s = &src.tiled;
    uint64_t block_rows = UINT64_C(1)
                          << (d->block_height_log2 > s->block_height_log2 ? d->block_height_log2
                                                                          : s->block_height_log2);
    uint64_t block_depth = UINT64_C(1)
                           << (d->block_depth_log2 > s->block_depth_log2 ? d->block_depth_log2
                                                                         : s->block_depth_log2);

    for (uint64_t slice = 0, slice_end; slice < gobs.slices; slice = slice_end) {
        slice_end = slice + block_depth < gobs.slices ? slice + block_depth : gobs.slices;
        for (uint64_t top = 0, end; top < gobs.rows; top = end) {
            end = top + block_rows < gobs.rows ? top + block_rows : gobs.rows;
            for (uint64_t x = 0; x < gobs.width_B; x++)
                for (uint64_t z = slice; z < slice_end; z++)
                    for (uint64_t y = top; y < end; y++) {
                        const uint8_t *gob = src.base + kn_tiled_offset_B(s, src.x_B + x * 64,
                                                                          src.y + y * 8, src.z + z);
                        if (stream)
                            tile_read_ahead(gob, TILE_STREAM_GOBS_B, 64);
                        gob_copy(dst.base + kn_tiled_offset_B(d, dst.x_B + x * 64, dst.y + y * 8,
                                                              dst.z + z),
                                 gob, stream);
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

    for (uint64_t slice = 0; slice < slices; slice++, s.z++) {
        const uint8_t *linear = src->first + slice * src->slice_B;
        if (path == TILE_CACHED)
            slice_tile(s, linear, pitch_B, width_B, rows, TILE_CACHED);
        else if (path == TILE_PREFETCHED)
            slice_tile(s, linear, pitch_B, width_B, rows, TILE_PREFETCHED);
        else if (TILE_STREAM)
            slice_tile(s, linear, pitch_B, width_B, rows, TILE_STREAMED);
    }
    if (path == TILE_STREAMED)
        TILE_FENCE();
}

void TILE_SUFFIX(kn_untile_box)(const struct kn_linear *dst, const struct kn_surface *src,
                                const struct kn_box *box)
{
    struct row_state state;
    struct kn_surface s = *src;
    const uint64_t pitch_B = dst->pitch_B, width_B = box->width_B, rows = box->rows,
                   slices = box->slices;
    uintptr_t alignment =
        ((uintptr_t)dst->first - s.x_B) | pitch_B | (slices > 1 ? dst->slice_B : 0);
    enum tile_path path = tile_path(width_B * rows * slices, alignment, TILE_STREAM);
    bool stream_shifted = width_B * rows * slices >= kn_stream_shifted_min_B;

    if (TILE_STREAM && path == TILE_STREAMED) {
        box_untile_blocks(s, *dst, *box);
        TILE_FENCE();
        return;
    }
    row_state_init(&state, stream_shifted);
    for (uint64_t slice = 0; slice < slices; slice++, s.z++) {
        uint8_t *linear = dst->first + slice * dst->slice_B;
        if (path == TILE_CACHED)
            slice_untile(&state, s, linear, pitch_B, width_B, rows, TILE_CACHED);
        else
            slice_untile(&state, s, linear, pitch_B, width_B, rows, TILE_PREFETCHED);
    }
    if (stream_shifted)
        TILE_FENCE();
}

#ifndef TILE_RETILE_EDGES
#define TILE_RETILE_EDGES box_restage
#define TILE_RETILE_WHOLE 0
// Copies any box between surfaces by way of a buffer on the stack, which holds a part of a row of
// the destination's GOBs. Its rows lie in one or two rows of the source's GOBs.
static void box_restage(const struct kn_surface *dst, const struct kn_surface *src,
                        const struct kn_box *box)
{
    enum { STAGE_WIDTH_B = 512 };
    struct row_state state;
    _Alignas(64) uint8_t stage[8 * STAGE_WIDTH_B];
    struct kn_surface d = *dst, s = *src;
    uint64_t dst_step_B = kn_tiled_step_B(&d.tiled), src_step_B = kn_tiled_step_B(&s.tiled);
    const uint64_t width_B = box->width_B, rows = box->rows, slices = box->slices;

    row_state_init(&state, false);
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
                // End at a GOB of the destination, so that the parts after the first are whole.
                next = x + STAGE_WIDTH_B - (dx & 63);
                next = next < width_B ? next : width_B;
                row_untile(&state, upper_gobs, src_step_B,
                           (struct gob_row){sx, sx + (next - x), src_y0, src_y0 + upper}, stage,
                           STAGE_WIDTH_B, TILE_CACHED);
                if (upper < high)
                    row_untile(&state, lower_gobs, src_step_B,
                               (struct gob_row){sx, sx + (next - x), 0, high - upper},
                               stage + upper * STAGE_WIDTH_B, STAGE_WIDTH_B, TILE_CACHED);
                row_tile(dst_gobs, dst_step_B, (struct gob_row){dx, dx + (next - x), y0, y0 + high},
                         stage, STAGE_WIDTH_B, TILE_CACHED);
            }
        }
    }
}
#endif

// Copies the part of a box at (x_B, y), if it has any bytes.
KN_INLINE void box_copy_edge(const struct kn_surface *dst, const struct kn_surface *src,
                             uint64_t x_B, uint64_t y, struct kn_box part)
{
    struct kn_surface d = *dst, s = *src;

    if (!part.width_B || !part.rows)
        return;
    d.x_B += x_B;
    d.y += y;
    s.x_B += x_B;
    s.y += y;
    TILE_RETILE_EDGES(&d, &s, &part);
}

// Returns true if whole GOBs of the box can be copied and if it is worth dividing the box for them.
KN_INLINE bool box_has_gobs(const struct kn_surface *dst, const struct kn_surface *src,
                            const struct kn_box *box)
{
    uint64_t left_B = -dst->x_B & 63, top = -dst->y & 7;
    bool ragged = left_B || top || box->width_B & 63 || box->rows & 7;

    if (((dst->x_B ^ src->x_B) & 63) || ((dst->y ^ src->y) & 7) || left_B + 64 > box->width_B ||
        top + 8 > box->rows)
        return false;
    return !TILE_RETILE_WHOLE || !ragged ||
           box->width_B * box->rows * box->slices >= kn_prefetch_min_B;
}

void TILE_SUFFIX(kn_retile_box)(const struct kn_surface *dst, const struct kn_surface *src,
                                const struct kn_box *box)
{
    const uint64_t width_B = box->width_B, slices = box->slices;
    struct kn_surface d = *dst, s = *src;
    struct tile_edges e;
    struct kn_box gobs;

    if (!box_has_gobs(dst, src, box)) {
        TILE_RETILE_EDGES(dst, src, box);
        return;
    }
    e = tile_edges(dst->x_B, dst->y, box);
    gobs = (struct kn_box){e.across_B / 64, e.down / 8, slices};
    box_copy_edge(dst, src, 0, 0, (struct kn_box){width_B, e.top, slices});
    box_copy_edge(dst, src, 0, e.top, (struct kn_box){e.left_B, e.down, slices});
    d.x_B += e.left_B;
    d.y += e.top;
    s.x_B += e.left_B;
    s.y += e.top;
    if (tile_path(width_B * box->rows * slices, (uintptr_t)d.base, TILE_STREAM) == TILE_STREAMED) {
        box_copy_gobs(d, s, gobs, TILE_STREAM);
        TILE_FENCE();
    } else {
        box_copy_gobs(d, s, gobs, 0);
    }
    box_copy_edge(dst, src, e.left_B + e.across_B, e.top,
                  (struct kn_box){e.right_B, e.down, slices});
    box_copy_edge(dst, src, 0, e.top + e.down, (struct kn_box){width_B, e.bottom, slices});
}
