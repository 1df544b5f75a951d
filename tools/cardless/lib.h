// SPDX-License-Identifier: MIT
// Finds the folder of our libcuda.so.1.
#pragma once
#include <stddef.h>

// Writes the folder that holds our libcuda.so.1 into `out`: $CARDLESS_LIBDIR, a folder near
// the program (lib/, ../lib, …), or the installation folder. Returns 0, or -1 after printing a
// message.
int lib_folder(char *out, size_t capacity);

// Puts the folder first in a variable of the environment that holds a path. Returns 0, or -1 if
// memory ran out.
int lib_prepend(const char *variable, const char *folder);
