// SPDX-License-Identifier: MIT
// The table that cuGetProcAddress searches, generated from api/table/driver.def.
#pragma once
#include <stddef.h>

struct api_proc {
    const char *base; // the name to look up: without `_v2`, `_ptsz` …
    void *function;
    int since;  // the CUDA version that introduced it
    void *twin; // its `_ptsz` or `_ptds` form, or NULL
    int twin_since;
};

// Sorted by base name; the forms of one name from the newest to the oldest.
extern const struct api_proc api_procs[];
extern const size_t api_proc_count;
