// SPDX-License-Identifier: MIT
#pragma once
#include <cuda.h>

// Prints a table of copies between OpenGL objects and the program's memory, beside those that
// OpenGL makes itself. An OpenGL and a CUDA context are current.
void graphics_copies(CUstream stream);
