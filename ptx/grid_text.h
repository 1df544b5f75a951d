// SPDX-License-Identifier: MIT
// Functions that a driver provides to kernels and that are PTX here: those that the toolkit's
// library of the device runtime (libcudadevrt.a) calls for cudaCGSynchronize and its like.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Whether the text names one of them.
bool px_grid_text_is_needed(const char *text, size_t size_B);

// Their definitions, which are weak.
extern const char px_grid_text[];
extern const size_t px_grid_text_B; // without the final 0
