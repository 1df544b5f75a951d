// SPDX-License-Identifier: MIT
// Layouts of arrays in the page of `cardless trace --html`.
#pragma once

#include "layout.h"

#include <stdio.h>

// Prints a layout as the JSON object that page/layout.js reads. The names are those of struct
// dm_layout.
void trace_html_layout(FILE *to, const struct dm_layout *layout);
