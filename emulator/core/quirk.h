// SPDX-License-Identifier: MIT
// The table of disagreements between the manual and driver 580. em_quirk(NAME) is true if that row
// follows the driver. Under CARDLESS_PERSONALITY=driver-580 all rows do, under `manual` all follow
// the manual, and CARDLESS_QUIRKS switches single rows.
#pragma once
#include "config.h"

enum em_quirk_id {
#define EM_QUIRK(name, section, manual, driver, recording) EM_QUIRK_##name,
#include "quirks.def"
#undef EM_QUIRK
    EM_QUIRK_COUNT
};

_Static_assert(EM_QUIRK_COUNT <= 64, "em_config.quirks has one bit for each row");

#define em_quirk(name) ((em_config()->quirks >> EM_QUIRK_##name & 1) != 0)
