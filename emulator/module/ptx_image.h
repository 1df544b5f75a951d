// SPDX-License-Identifier: MIT
// Images of PTX texts.
#pragma once
#include <cuda.h>

#include "code.h"

// Makes an image of a text that ends with a 0. Precondition: em_lock not held.
CUresult em_ptx_image(const char *text, struct em_image **out);
