// SPDX-License-Identifier: MIT
// Writes PNG files, 8 bits RGB, uncompressed: no library is needed.
#pragma once

#include <stdint.h>

// Writes width times height pixels of three bytes. Returns 0, or a negative errno; a file begun is
// then removed.
int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);
