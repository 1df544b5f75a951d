/* SPDX-License-Identifier: MIT */
/*
 * How a box is walked, once for every instruction set. The file that includes this one has defined gob_tile(), gob_untile(),
 * gob_tile_part(), gob_untile_part(), TILE_SUFFIX() and TILE_STREAM (whether `stream` means something to the first two). Whole
 * GOBs take the path without bounds checks.
 */

/* One row of GOBs: bytes x0 to x1 of rows y0 to y1 (0 to 8). `gobs` is the GOB that x = 0 is in; `linear` is where (x0, y0) is. */
KN_INLINE void strip_tile(uint8_t *gobs, uint64_t step_B, uint64_t x0, uint64_t x1, unsigned y0, unsigned y1,
                          const uint8_t *linear, uint64_t pitch_B, int stream)
{
    for (uint64_t x = x0, next; x < x1; linear += next - x, x = next) {
        uint8_t *gob = gobs + (x >> 6) * step_B;
        next = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;
        if (y1 - y0 == 8 && next - x == 64)
            gob_tile(gob, linear, pitch_B, stream);
        else
            gob_tile_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(next - x), y0, y1);
    }
}

KN_INLINE void strip_untile(const uint8_t *gobs, uint64_t step_B, uint64_t x0, uint64_t x1, unsigned y0, unsigned y1,
                            uint8_t *linear, uint64_t pitch_B, int stream)
{
    for (uint64_t x = x0, next; x < x1; linear += next - x, x = next) {
        const uint8_t *gob = gobs + (x >> 6) * step_B;
        next = (x | 63) + 1 < x1 ? (x | 63) + 1 : x1;
        if (y1 - y0 == 8 && next - x == 64)
            gob_untile(gob, linear, pitch_B, stream);
        else
            gob_untile_part(gob, linear, pitch_B, x & 63, (x & 63) + (unsigned)(next - x), y0, y1);
    }
}

void TILE_SUFFIX(kn_tile_box)(void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y, uint64_t z,
                              const void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B, uint64_t rows,
                              uint64_t slices)
{
    uint64_t step_B = (uint64_t)KN_GOB_B << (desc->block_height_log2 + desc->block_depth_log2);
    int stream = TILE_STREAM && width_B * rows * slices >= kn_stream_min_B && !((uintptr_t)tiled & 63);

    for (uint64_t slice = 0; slice < slices; slice++) {
        for (uint64_t row = 0, next; row < rows; row = next) {
            unsigned y0 = (y + row) & 7;
            next = row + 8 - y0 < rows ? row + 8 - y0 : rows;
            if (stream)
            strip_tile((uint8_t *)tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z + slice), step_B, x_B,
                       x_B + width_B, y0, y0 + (unsigned)(next - row),
                       (const uint8_t *)linear + slice * slice_B + row * pitch_B, pitch_B, 1);
            else
            strip_tile((uint8_t *)tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z + slice), step_B, x_B,
                       x_B + width_B, y0, y0 + (unsigned)(next - row),
                       (const uint8_t *)linear + slice * slice_B + row * pitch_B, pitch_B, 0);
        }
    }
}

void TILE_SUFFIX(kn_untile_box)(const void *tiled, const struct kn_tiled *desc, uint64_t x_B, uint64_t y, uint64_t z,
                                void *linear, uint64_t pitch_B, uint64_t slice_B, uint64_t width_B, uint64_t rows,
                                uint64_t slices)
{
    uint64_t step_B = (uint64_t)KN_GOB_B << (desc->block_height_log2 + desc->block_depth_log2);
    int stream = TILE_STREAM && width_B * rows * slices >= kn_stream_min_B && !(((uintptr_t)linear - x_B) & 63) && !(pitch_B & 63) && !(slice_B & 63);

    for (uint64_t slice = 0; slice < slices; slice++) {
        for (uint64_t row = 0, next; row < rows; row = next) {
            unsigned y0 = (y + row) & 7;
            next = row + 8 - y0 < rows ? row + 8 - y0 : rows;
            if (stream)
            strip_untile((const uint8_t *)tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z + slice), step_B,
                         x_B, x_B + width_B, y0, y0 + (unsigned)(next - row),
                         (uint8_t *)linear + slice * slice_B + row * pitch_B, pitch_B, 1);
            else
            strip_untile((const uint8_t *)tiled + kn_tiled_offset_B(desc, 0, (y + row) & ~UINT64_C(7), z + slice), step_B,
                         x_B, x_B + width_B, y0, y0 + (unsigned)(next - row),
                         (uint8_t *)linear + slice * slice_B + row * pitch_B, pitch_B, 0);
        }
    }
}

/* Surface to surface: whole GOBs that lie alike are copied as they are; all else goes through a strip of GOBs on the stack. */
void TILE_SUFFIX(kn_retile_box)(void *dst, const struct kn_tiled *dst_desc, uint64_t dst_x_B, uint64_t dst_y, uint64_t dst_z,
                                const void *src, const struct kn_tiled *src_desc, uint64_t src_x_B, uint64_t src_y,
                                uint64_t src_z, uint64_t width_B, uint64_t rows, uint64_t slices)
{
    enum { STAGE_WIDTH_B = 512 };
    _Alignas(64) uint8_t stage[8 * STAGE_WIDTH_B];
    uint64_t dst_step_B = (uint64_t)KN_GOB_B << (dst_desc->block_height_log2 + dst_desc->block_depth_log2);
    uint64_t src_step_B = (uint64_t)KN_GOB_B << (src_desc->block_height_log2 + src_desc->block_depth_log2);
    int alike = !((dst_x_B ^ src_x_B) & 63) && !((dst_y ^ src_y) & 7);

    for (uint64_t slice = 0; slice < slices; slice++) {
        for (uint64_t row = 0, row_next; row < rows; row = row_next) {
            unsigned y0 = (dst_y + row) & 7, sy0 = (src_y + row) & 7, high;
            uint8_t *d = (uint8_t *)dst + kn_tiled_offset_B(dst_desc, 0, (dst_y + row) & ~UINT64_C(7), dst_z + slice);
            const uint8_t *s =
                (const uint8_t *)src + kn_tiled_offset_B(src_desc, 0, (src_y + row) & ~UINT64_C(7), src_z + slice);

            high = 8 - (y0 > sy0 ? y0 : sy0);
            row_next = row + high < rows ? row + high : rows;
            high = (unsigned)(row_next - row);
            for (uint64_t x = 0, next; x < width_B; x = next) {
                uint64_t dx = dst_x_B + x, sx = src_x_B + x;
                if (alike && high == 8 && !(dx & 63) && width_B - x >= 64) {
                    memcpy(d + (dx >> 6) * dst_step_B, s + (sx >> 6) * src_step_B, KN_GOB_B);
                    next = x + 64;
                    continue;
                }
                /* Up to where GOBs begin in the destination, so that the strips after the first are whole there. */
                next = x + STAGE_WIDTH_B - (dx & 63);
                if (alike && (dx & 63))
                    next = x + 64 - (dx & 63);
                if (next > width_B)
                    next = width_B;
                strip_untile(s, src_step_B, sx, sx + (next - x), sy0, sy0 + high, stage, STAGE_WIDTH_B, 0);
                strip_tile(d, dst_step_B, dx, dx + (next - x), y0, y0 + high, stage, STAGE_WIDTH_B, 0);
            }
        }
    }
}
