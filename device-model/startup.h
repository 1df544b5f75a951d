// SPDX-License-Identifier: MIT
// For functions that run once, when the driver starts.
#pragma once
#include <stdint.h>

// The linker places these functions together, next to the library's constructors, so that the
// kernel has to map few pages for them: page faults take most of the time of cuInit.
#define DM_STARTUP __attribute__((section(".text.startup")))

// Lets the kernel map the pages around a function that nearly every program calls soon, so that the
// page fault is part of the start and not of that call.
#define DM_MAP_CODE(function) ((void)*(const volatile char *)(uintptr_t)(function))
