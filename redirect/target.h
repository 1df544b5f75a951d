// SPDX-License-Identifier: MIT
// The functions of our libcudart.so.13, to which calls are redirected. The library is loaded when
// the program calls one of them for the first time, because the loader must not load anything while
// it calls us.
#pragma once
#include <stddef.h>

// Finds the folder of this library and reads the names of the functions. Returns 0, or -1 if there
// is no libcudart.so.13 beside this library. May be called again.
int rd_targets_read(void);

// Our libcudart.so.13.
const char *rd_target_path(void);

// The cell of a function, or NULL if the library has no such function. A stub loads the cell's
// address into r11 and jumps to the address in the cell.
void *const *rd_target_cell(const char *name);
