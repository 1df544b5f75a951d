// SPDX-License-Identifier: MIT
// Puts our libnvJitLink.so.13 in the place of NVIDIA's, which makes machine code. Ours needs
// NVIDIA's for LTO-IR (companions/jitlink/lto.c): it asks for the one that it has replaced, or for
// a path, with the prefix "cardless-original:".
#pragma once
#include <stdbool.h>

// Whether the loader searches for a linker. Then *path is the file to open, or NULL.
bool rd_linker_search(const char *name, const char **path);
