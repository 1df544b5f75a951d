// SPDX-License-Identifier: MIT
// The personality table: em_quirk(NAME) tells whether to do as driver 580 does where the manual
// says otherwise.
#pragma once
#include "config.h"

enum em_quirk_id {
#define EM_QUIRK(name, section, manual, driver, recording) EM_QUIRK_##name,
#include "quirks.def"
#undef EM_QUIRK
    EM_QUIRK_COUNT
};

#define em_quirk(name) ((void)EM_QUIRK_##name, em_config()->personality == EM_DRIVER_580)
