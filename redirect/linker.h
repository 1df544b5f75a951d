// SPDX-License-Identifier: MIT
// Puts our libnvJitLink.so.13 and .12 in the place of NVIDIA's, which make machine code. Ours need
// NVIDIA's for LTO-IR (companions/jitlink/lto.c): they ask for the one that they have replaced, or
// for a path, with the prefix "cardless-original:".
#pragma once
#include <stdbool.h>

// Whether the loader searches for a linker. Then *path is the file to open, or NULL.
bool rd_linker_search(const char *name, const char **path);
