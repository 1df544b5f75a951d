// SPDX-License-Identifier: MIT
// Parts of a GOB, in pieces of up to 16 bytes, for instruction sets without byte masks.
#include "gob.h"

// Bytes x0 to x1 of rows y0 to y1 of a GOB. `linear` points to (x0, y0).
static void gob_tile_part(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, unsigned x0,
                          unsigned x1, unsigned y0, unsigned y1)
{
    for (unsigned x = x0, next; x < x1; linear += next - x, x = next) {
        const uint8_t *src = linear;
        next = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
        if (next - x == 16)
            for (unsigned y = y0; y < y1; y++, src += pitch_B)
                memcpy(gob + gob_cell_B(x >> 4, y), src, 16);
        else
            for (unsigned y = y0; y < y1; y++, src += pitch_B)
                kn_copy_upto16(gob + gob_cell_B(x >> 4, y) + (x & 15), src, next - x);
    }
}

static void gob_untile_part(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, unsigned x0,
                            unsigned x1, unsigned y0, unsigned y1)
{
    for (unsigned x = x0, next; x < x1; linear += next - x, x = next) {
        uint8_t *dst = linear;
        next = (x | 15) + 1 < x1 ? (x | 15) + 1 : x1;
        if (next - x == 16)
            for (unsigned y = y0; y < y1; y++, dst += pitch_B)
                memcpy(dst, gob + gob_cell_B(x >> 4, y), 16);
        else
            for (unsigned y = y0; y < y1; y++, dst += pitch_B)
                kn_copy_upto16(dst, gob + gob_cell_B(x >> 4, y) + (x & 15), next - x);
    }
}
