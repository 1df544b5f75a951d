// SPDX-License-Identifier: MIT
// The functions of the x86 sets, by family.
#pragma once

#include "convert_table.h"
#include "kn_dsp.h"

kn_copy_fn kn_copy_avx2;
kn_copy_rows_fn kn_copy_rows_avx2, kn_copy_rows_avx512;
kn_fill_fn kn_fill_avx2, kn_fill_avx512;
kn_fill_rows_fn kn_fill_rows_avx2, kn_fill_rows_avx512;
kn_tile_fn kn_tile_box_avx2, kn_tile_box_avx512;
kn_untile_fn kn_untile_box_avx2, kn_untile_box_avx512;
kn_retile_fn kn_retile_box_avx2, kn_retile_box_avx512;
KN_CONVERT_DECLARE(avx2);
KN_CONVERT_DECLARE(avx512);
kn_repack_fn kn_repack_8_avx2, kn_repack_16_avx2, kn_repack_32_avx2;
