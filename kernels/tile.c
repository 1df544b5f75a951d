// SPDX-License-Identifier: MIT
// The tile family: entry points, and the references in C.
#include "kn_tile.h"
#include "gob.h"
#include "kn_dsp.h"
#include "tile_path.h"

// The C reference moves 16 bytes of a row at a time: a GOB is 8 x 4 such cells.
KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, enum tile_path path)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 4; column++)
            memcpy(gob + gob_cell_B(column, row), linear + row * pitch_B + column * 16, 16);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B,
                          enum tile_path path)
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 4; column++)
            memcpy(linear + row * pitch_B + column * 16, gob + gob_cell_B(column, row), 16);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, enum tile_path path)
{
    memcpy(dst, src, KN_GOB_B);
}

#define TILE_STREAM 0
#include "tile_part.inc.h"
#include "tile_row.inc.h"
#define TILE_FENCE() ((void)0)
#define TILE_SUFFIX(name) name##_c
#include "tile_box.inc.h"

static bool has_bytes(const struct kn_box *box)
{
    return box->width_B && box->rows && box->slices;
}

// Whether a box lies in one cell: most often it is a texel.
static bool is_in_cell(const struct kn_surface *s, const struct kn_box *box)
{
    return box->rows == 1 && box->slices == 1 && (s->x_B & 15) + box->width_B <= 16;
}

static uint8_t *cell_at(const struct kn_surface *s)
{
    return s->base + kn_tiled_offset_B(&s->tiled, s->x_B, s->y, s->z);
}

void kn_tile_box(const struct kn_surface *dst, const struct kn_linear *src,
                 const struct kn_box *box)
{
    if (!has_bytes(box))
        return;
    if (is_in_cell(dst, box))
        memcpy(cell_at(dst), src->first, box->width_B);
    else
        kn_dsp()->tile.tile(dst, src, box);
}

void kn_untile_box(const struct kn_linear *dst, const struct kn_surface *src,
                   const struct kn_box *box)
{
    if (!has_bytes(box))
        return;
    if (is_in_cell(src, box))
        memcpy(dst->first, cell_at(src), box->width_B);
    else
        kn_dsp()->tile.untile(dst, src, box);
}

void kn_retile_box(const struct kn_surface *dst, const struct kn_surface *src,
                   const struct kn_box *box)
{
    if (has_bytes(box))
        kn_dsp()->tile.retile(dst, src, box);
}
