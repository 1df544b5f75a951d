// SPDX-License-Identifier: MIT
// Prints the texels of an array, for the page of `cardless trace --html`.
#pragma once

#include <stdio.h>

#include "trace_contents.h"

// The bytes of all arrays on a page. Later arrays get none.
#define HTML_TEXELS_MOST_B (UINT64_C(16) << 20)

// Prints members of the array's object, after a comma: how to read a texel and, if the recording
// has them and they fit into *left_B, the bytes of the array's memory when it ended. `contents` may
// be NULL.
void html_texels(FILE *to, const struct trace_model *model, const struct trace_contents *contents,
                 const struct trace_array *array, uint64_t *left_B);
