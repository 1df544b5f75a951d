// SPDX-License-Identifier: MIT
// Images of PTX texts.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "code.h"
#include "texts.h"

// Whether a text begins as PTX does, with .version after blanks and comments.
bool em_text_begins(const char *text);
// Makes one image of texts, which are linked if there are several, as `load` says. The image may
// take their bytes over, also on failure. Precondition: em_lock not held.
CUresult em_text_image(struct em_texts *texts, const struct em_load *load, struct em_image **out);
