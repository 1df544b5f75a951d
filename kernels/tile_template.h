// SPDX-License-Identifier: MIT
// How a box is walked, once for every instruction set. The file that includes this one has defined
// strip_tile() and strip_untile() (tile_strip.h makes them of whole and partial GOBs), gob_copy(),
// TILE_SUFFIX() and TILE_STREAM (whether stores can pass by the caches); if it has a way of its own
// for boxes from surface to surface, TILE_EDGE, and whether that takes whole GOBs in a ragged box
// along as well (TILE_EDGES_INSIDE).
#define KN_TILE_GROUP_GOB 4

KN_INLINE enum tile_way tile_way(uint64_t bytes, uintptr_t streamed, uint64_t pitch_B,
                                 uint64_t slice_B)
{
    if (TILE_STREAM && bytes >= kn_stream_min_B && !((streamed | pitch_B | slice_B) & 63))
        return TILE_STREAMED;
    return bytes >= kn_prefetch_min_B ? TILE_PREFETCHED : TILE_CACHED;
}

// The rows of GOBs of bytes x_B to x_B + width_B, from top to bottom.
KN_INLINE void slice_tile(uint8_t *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y,
                          uint64_t z, const uint8_t *linear, uint64_t pitch_B, uint64_t width_B,
                          uint64_t rows, enum tile_way way)
{
    uint64_t step_B = (uint64_t)KN_GOB_B << (desc->block_height_log2 + desc->block_depth_log2);

    for (uint64_t row = 0, next; row < rows; row = next) {
        unsigned y0 = (y + row) & 7;
        next = row + 8 - y0 < rows ? row + 8 - y0 : rows;
        strip_tile(tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z), step_B, x_B,
                   x_B + width_B, y0, y0 + (unsigned)(next - row), linear + row * pitch_B, pitch_B,
                   way);
    }
}

KN_INLINE void slice_untile(struct strip_state *state, const uint8_t *tiled,
                            const struct kn_tiled *desc, uint64_t x_B, uint64_t y, uint64_t z,
                            uint8_t *linear, uint64_t pitch_B, uint64_t width_B, uint64_t rows,
                            enum tile_way way)
{
    uint64_t step_B = (uint64_t)KN_GOB_B << (desc->block_height_log2 + desc->block_depth_log2);

    for (uint64_t row = 0, next; row < rows; row = next) {
        unsigned y0 = (y + row) & 7;
        next = row + 8 - y0 < rows ? row + 8 - y0 : rows;
        strip_untile(state, tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z), step_B,
                     x_B, x_B + width_B, y0, y0 + (unsigned)(next - row), linear + row * pitch_B,
                     pitch_B, way);
    }
}

// Block by block in memory's order, a few blocks abreast so that stores to a row come in longer
// runs.
KN_INLINE void box_untile_blocks(const uint8_t *tiled, const struct kn_tiled *desc, uint64_t x_B,
                                 uint64_t y, uint64_t z, uint8_t *linear, uint64_t pitch_B,
                                 uint64_t slice_B, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    struct strip_state state;
    uint64_t height = 8u << desc->block_height_log2, depth = 1u << desc->block_depth_log2,
             group_B = KN_TILE_GROUP_GOB * 64;

    strip_begin(&state);
    for (uint64_t slice = 0, behind; slice < slices; slice = behind) {
        behind = ((z + slice) | (depth - 1)) + 1 - z;
        behind = behind < slices ? behind : slices;
        for (uint64_t row = 0, below; row < rows; row = below) {
            below = ((y + row) | (height - 1)) + 1 - y;
            below = below < rows ? below : rows;
            for (uint64_t x = 0, next; x < width_B; x = next) {
                next = ((x_B + x) / group_B + 1) * group_B - x_B;
                next = next < width_B ? next : width_B;
                for (uint64_t i = slice; i < behind; i++)
                    slice_untile(&state, tiled, desc, x_B + x, y + row, z + i,
                                 linear + i * slice_B + row * pitch_B + x, pitch_B, next - x,
                                 below - row, TILE_STREAMED);
            }
        }
    }
}

// The whole GOBs of two boxes that begin at a GOB in both surfaces. Down each column, since that is
// memory's order in both as long as the blocks are.
KN_INLINE void box_regob(uint8_t *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B,
                         uint64_t dst_y, uint64_t dst_z, const uint8_t *src,
                         const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y,
                         uint64_t src_z, uint64_t width_gob, uint64_t height_gob, uint64_t slices,
                         int stream)
{
    uint64_t run = UINT64_C(1) << (dst_desc->block_height_log2 > src_desc->block_height_log2
                                       ? dst_desc->block_height_log2
                                       : src_desc->block_height_log2);
    uint64_t deep = UINT64_C(1) << (dst_desc->block_depth_log2 > src_desc->block_depth_log2
                                        ? dst_desc->block_depth_log2
                                        : src_desc->block_depth_log2);

    for (uint64_t z = 0, behind; z < slices; z = behind) {
        behind = z + deep < slices ? z + deep : slices;
        for (uint64_t top = 0, below; top < height_gob; top = below) {
            below = top + run < height_gob ? top + run : height_gob;
            for (uint64_t x = 0; x < width_gob; x++)
                for (uint64_t i = z; i < behind; i++)
                    for (uint64_t gy = top; gy < below; gy++)
                        gob_copy(dst + kn_tiled_offset_B(dst_desc, dst_x_B + x * 64, dst_y + gy * 8,
                                                         dst_z + i),
                                 src + kn_tiled_offset_B(src_desc, src_x_B + x * 64, src_y + gy * 8,
                                                         src_z + i),
                                 stream);
        }
    }
}

void TILE_SUFFIX(kn_tile_box)(void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y,
                              uint64_t z, const void *linear, uint64_t pitch_B, uint64_t slice_B,
                              uint64_t width_B, uint64_t rows, uint64_t slices)
{
    enum tile_way way = tile_way(width_B * rows * slices, (uintptr_t)tiled, 0, 0);

    for (uint64_t slice = 0; slice < slices; slice++) {
        const uint8_t *l = (const uint8_t *)linear + slice * slice_B;
        if (way == TILE_CACHED)
            slice_tile(tiled, desc, x_B, y, z + slice, l, pitch_B, width_B, rows, TILE_CACHED);
        else if (way == TILE_PREFETCHED)
            slice_tile(tiled, desc, x_B, y, z + slice, l, pitch_B, width_B, rows, TILE_PREFETCHED);
        else if (TILE_STREAM)
            slice_tile(tiled, desc, x_B, y, z + slice, l, pitch_B, width_B, rows, TILE_STREAMED);
    }
    if (way == TILE_STREAMED)
        TILE_FENCE();
}

void TILE_SUFFIX(kn_untile_box)(const void *tiled, const struct kn_tiled *desc, uint64_t x_B,
                                uint64_t y, uint64_t z, void *linear, uint64_t pitch_B,
                                uint64_t slice_B, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    struct strip_state state;
    enum tile_way way = tile_way(width_B * rows * slices, (uintptr_t)linear - x_B, pitch_B,
                                 slices > 1 ? slice_B : 0);

    strip_begin(&state);
    if (TILE_STREAM && way == TILE_STREAMED) {
        box_untile_blocks(tiled, desc, x_B, y, z, linear, pitch_B, slice_B, width_B, rows, slices);
        TILE_FENCE();
        return;
    }
    for (uint64_t slice = 0; slice < slices; slice++) {
        uint8_t *l = (uint8_t *)linear + slice * slice_B;
        if (way == TILE_CACHED)
            slice_untile(&state, tiled, desc, x_B, y, z + slice, l, pitch_B, width_B, rows,
                         TILE_CACHED);
        else
            slice_untile(&state, tiled, desc, x_B, y, z + slice, l, pitch_B, width_B, rows,
                         TILE_PREFETCHED);
    }
}

#ifndef TILE_EDGE
#define TILE_EDGE box_restage
#define TILE_EDGES_INSIDE 0
// Any two boxes, by way of a strip of GOBs on the stack.
static void box_restage(uint8_t *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B,
                        uint64_t dst_y, uint64_t dst_z, const uint8_t *src,
                        const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y,
                        uint64_t src_z, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    enum { STAGE_WIDTH_B = 512 };
    struct strip_state state;
    _Alignas(64) uint8_t stage[8 * STAGE_WIDTH_B];
    uint64_t dst_step_B = (uint64_t)KN_GOB_B
                          << (dst_desc->block_height_log2 + dst_desc->block_depth_log2);
    uint64_t src_step_B = (uint64_t)KN_GOB_B
                          << (src_desc->block_height_log2 + src_desc->block_depth_log2);

    strip_begin(&state);
    for (uint64_t slice = 0; slice < slices; slice++) {
        for (uint64_t row = 0, next_row; row < rows; row = next_row) {
            unsigned y0 = (dst_y + row) & 7,
                     high = rows - row < 8 - y0 ? (unsigned)(rows - row) : 8 - y0, upper;
            uint8_t *d =
                dst + kn_tiled_offset_B(dst_desc, 0, (dst_y + row) & ~UINT64_C(7), dst_z + slice);
            uint64_t sy = src_y + row;

            // The rows of one GOB there lie in one or two here.
            upper = 8 - (unsigned)(sy & 7) < high ? 8 - (unsigned)(sy & 7) : high;
            next_row = row + high;
            for (uint64_t x = 0, next; x < width_B; x = next) {
                uint64_t dx = dst_x_B + x, sx = src_x_B + x;
                // Up to where GOBs begin in the destination, so that the strips after the first are
                // whole there.
                next = x + STAGE_WIDTH_B - (dx & 63);
                next = next < width_B ? next : width_B;
                strip_untile(&state,
                             src + kn_tiled_offset_B(src_desc, 0, sy & ~UINT64_C(7), src_z + slice),
                             src_step_B, sx, sx + (next - x), sy & 7, (unsigned)(sy & 7) + upper,
                             stage, STAGE_WIDTH_B, TILE_CACHED);
                if (upper < high)
                    strip_untile(&state,
                                 src + kn_tiled_offset_B(src_desc, 0, sy + upper, src_z + slice),
                                 src_step_B, sx, sx + (next - x), 0, high - upper,
                                 stage + upper * STAGE_WIDTH_B, STAGE_WIDTH_B, TILE_CACHED);
                strip_tile(d, dst_step_B, dx, dx + (next - x), y0, y0 + high, stage, STAGE_WIDTH_B,
                           TILE_CACHED);
            }
        }
    }
}

#endif

// Surface to surface: whole GOBs that lie alike are copied as they are, and the edges around them
// through the stage.
void TILE_SUFFIX(kn_retile_box)(void *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B,
                                uint64_t dst_y, uint64_t dst_z, const void *src,
                                const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y,
                                uint64_t src_z, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    uint64_t left = -dst_x_B & 63, top = -dst_y & 7, across, down, right, bottom;

#define EDGE(x, y, width, height)                                                                  \
    do {                                                                                           \
        if ((width) && (height))                                                                   \
            TILE_EDGE(dst, dst_desc, dst_x_B + (x), dst_y + (y), dst_z, src, src_desc,             \
                      src_x_B + (x), src_y + (y), src_z, width, height, slices);                   \
    } while (0)

    if (((dst_x_B ^ src_x_B) & 63) || ((dst_y ^ src_y) & 7) || left + 64 > width_B ||
        top + 8 > rows ||
        (TILE_EDGES_INSIDE && (left || top || width_B & 63 || rows & 7) &&
         width_B * rows * slices < kn_prefetch_min_B)) {
        EDGE(0, 0, width_B, rows);
        return;
    }
    across = (width_B - left) / 64 * 64;
    down = (rows - top) / 8 * 8;
    right = width_B - left - across;
    bottom = rows - top - down;
    EDGE(0, 0, width_B, top);
    EDGE(0, top, left, down);
    if (TILE_STREAM && width_B * rows * slices >= kn_stream_min_B && !((uintptr_t)dst & 63)) {
        box_regob(dst, dst_desc, dst_x_B + left, dst_y + top, dst_z, src, src_desc, src_x_B + left,
                  src_y + top, src_z, across / 64, down / 8, slices, 1);
        TILE_FENCE();
    } else {
        box_regob(dst, dst_desc, dst_x_B + left, dst_y + top, dst_z, src, src_desc, src_x_B + left,
                  src_y + top, src_z, across / 64, down / 8, slices, 0);
    }
    EDGE(left + across, top, right, down);
    EDGE(0, top + down, width_B, bottom);
#undef EDGE
}
