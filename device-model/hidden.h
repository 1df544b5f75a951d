// SPDX-License-Identifier: MIT
// For the declarations of variables that every call reads.
#pragma once

// The variable is defined in the same library as the code that uses it. So compilers address it
// directly, and do not load its address from a table first. The option -fvisibility=hidden says
// this only of definitions.
#define DM_HIDDEN __attribute__((visibility("hidden")))
