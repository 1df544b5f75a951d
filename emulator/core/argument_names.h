// SPDX-License-Identifier: MIT
// Names the arguments in a message as the library function does that the program has called.
#pragma once
#include <stddef.h>

// Replaces the names of a driver function's arguments in `text`. `driver` and `library` are the
// argument lists of the two functions, as in C. Arguments correspond if their types do and, in this
// order, if their names are alike, if they follow arguments that correspond, or if no other one has
// this type. The members of small structs count as arguments: "gridDimX" becomes "gridDim.x". A
// handle that the library's function does not have becomes "the handle". `text` has `size_B` bytes;
// a name that does not fit stays as it is.
void em_argument_names(char *text, size_t size_B, const char *driver, const char *library);
