// SPDX-License-Identifier: MIT
// The functions of the NEON set, by family.
#pragma once

#include "convert_table.h"
#include "kn_dsp.h"

kn_copy_rows_fn kn_copy_rows_neon;
kn_fill_fn kn_fill_neon;
kn_fill_rows_fn kn_fill_rows_neon;
kn_tile_fn kn_tile_box_neon;
kn_untile_fn kn_untile_box_neon;
kn_retile_fn kn_retile_box_neon;
KN_CONVERT_DECLARE(neon);
kn_repack_fn kn_repack_8_neon, kn_repack_16_neon, kn_repack_32_neon;
