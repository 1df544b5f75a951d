// SPDX-License-Identifier: MIT
// The last changes to a message before it is written: grammar, and the names that the program
// knows.
#pragma once
#include <stddef.h>

// Changes "1 bytes" to "1 byte", and likewise for other units.
void em_wording_singular(char *text);

// Replaces the names of a driver function's arguments by those of the library function that called
// it. `ours` and `theirs` are the argument lists of the two, as in C. Arguments correspond in their
// order as long as their types do; an enumeration that only the library's function has is skipped.
void em_wording_arguments(char *text, size_t size_B, const char *ours, const char *theirs);
