// SPDX-License-Identifier: MIT
// For functions that run once, when the driver starts.
#pragma once

// The linker places these functions together, next to the library's constructors, so that the
// kernel has to map few pages for them: page faults take most of the time of cuInit.
#define DM_STARTUP __attribute__((section(".text.startup")))
