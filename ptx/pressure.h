// SPDX-License-Identifier: MIT
// An estimate of the registers that a compiler for the card would give to a kernel.
#pragma once
#include "program.h"

// The most registers of 32 bits that hold values at the same time, or 0 if host memory is short.
// Registers live from their first operation to their last one, and through loops that they are used
// in. Constants, addresses and special registers do not count.
unsigned px_pressure(const struct px_program *program);
