// SPDX-License-Identifier: MIT
// Puts the x86 functions into the tables.
#include "kn_x86.h"

void kn_dsp_init_avx2(struct kn_dsp *dsp)
{
    dsp->copy.copy = kn_copy_avx2;
    dsp->copy.rows = kn_copy_rows_avx2;
    dsp->fill.fill = kn_fill_avx2;
    dsp->fill.rows = kn_fill_rows_avx2;
    dsp->tile.tile = kn_tile_box_avx2;
    dsp->tile.untile = kn_untile_box_avx2;
    dsp->tile.retile = kn_retile_box_avx2;
    dsp->convert = (struct kn_convert_dsp)KN_CONVERT_TABLE(avx2);
    dsp->repack = (struct kn_repack_dsp){{kn_repack_8_avx2, kn_repack_16_avx2, kn_repack_32_avx2}};
}

void kn_dsp_init_avx512(struct kn_dsp *dsp)
{
    dsp->copy.rows = kn_copy_rows_avx512;
    dsp->fill.fill = kn_fill_avx512;
    dsp->fill.rows = kn_fill_rows_avx512;
    dsp->tile.tile = kn_tile_box_avx512;
    dsp->tile.untile = kn_untile_box_avx512;
    dsp->tile.retile = kn_retile_box_avx512;
    dsp->convert = (struct kn_convert_dsp)KN_CONVERT_TABLE(avx512);
}
