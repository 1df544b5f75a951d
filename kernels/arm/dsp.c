// SPDX-License-Identifier: MIT
// Puts the NEON functions into the tables.
#include "kn_arm.h"

void kn_dsp_init_neon(struct kn_dsp *dsp)
{
    dsp->copy.rows = kn_copy_rows_neon;
    dsp->fill.fill = kn_fill_neon;
    dsp->fill.rows = kn_fill_rows_neon;
    dsp->tile.tile = kn_tile_box_neon;
    dsp->tile.untile = kn_untile_box_neon;
    dsp->tile.retile = kn_retile_box_neon;
    dsp->convert = (struct kn_convert_dsp)KN_CONVERT_TABLE(neon);
    dsp->repack = (struct kn_repack_dsp){{kn_repack_8_neon, kn_repack_16_neon, kn_repack_32_neon}};
}
