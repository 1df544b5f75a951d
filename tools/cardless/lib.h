// SPDX-License-Identifier: MIT
// Where the software card's library is, seen from the `cardless` program.
#pragma once
#include <stddef.h>

// Writes the folder that holds our libcuda.so.1 into `out`: $CARDLESS_LIBDIR, beside the program
// (lib/, ../lib, …) or where it was installed. Returns 0, or -1 with a sentence on stderr.
int lib_folder(char *out, size_t room);
