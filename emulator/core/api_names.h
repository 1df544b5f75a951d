// SPDX-License-Identifier: MIT
// Writes a message in the names of the API that the program uses.
#pragma once
#include <stddef.h>

// Replaces the driver's names of types, constants and functions in `text`. `names` are pairs of the
// driver's name and the other API's, sorted by the former, with a NULL after the last one. A family
// of constants, "CU_STREAM_*", is a pair whose first name ends with '_'. The name of an object,
// "CUstream #1", stays, because the trace has the same one. `text` has `size_B` bytes; a name that
// does not fit stays as it is.
void em_api_names(char *text, size_t size_B, const char *const *names);
