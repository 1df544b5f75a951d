// SPDX-License-Identifier: MIT
// NVRTC makes machine code if a program asks for a real architecture (sm_90), which no kernel runs
// from here. It has the PTX of the same compilation too, so programs get that in its place.
#pragma once
#include <stddef.h>

#include "object.h"
#include "patch.h"

enum { RD_NVRTC_ENTRIES = 2 };

// Whether a path is that of a libnvrtc.so.
bool rd_is_nvrtc(const char *path);

// The entries of nvrtcGetCUBIN and nvrtcGetCUBINSize, which should jump to nvrtcGetPTX and
// nvrtcGetPTXSize of the same library. Returns their number: 0 if one of the four is missing or
// shorter than a jump. `cells` get the addresses that the jumps read; they must live as long as the
// jumps.
size_t rd_nvrtc_entries(const struct rd_file *file, uint64_t base, void *cells[RD_NVRTC_ENTRIES],
                        struct rd_entry *out);
