// SPDX-License-Identifier: MIT
// The functions of our libcudart.so.13 and libcudart.so.12, to which calls are redirected. A
// library is loaded when the program calls one of its functions for the first time, because the
// loader must not load anything while it calls us.
#pragma once
#include <stddef.h>

enum rd_version { RD_VERSION_12, RD_VERSION_13, RD_VERSIONS };

// Finds the folder of this library and reads the names of the functions. Returns 0, or -1 if there
// is neither runtime library beside this one. May be called again.
int rd_targets_read(void);

// Writes the path of a library that lies beside this one. Returns 0, or -1 if it does not exist.
int rd_neighbour(const char *name, char *out, size_t out_B);

// The path of our library of this version, or NULL if it is not installed.
const char *rd_target_path(enum rd_version version);

// The cell of a function, or NULL if the library has no such function. A stub loads the cell's
// address into r11 and jumps to the address in the cell.
void *const *rd_target_cell(enum rd_version version, const char *name);
