// SPDX-License-Identifier: MIT
// For tests of memory that must not be resident.
#pragma once
#include <stdio.h>

// Returns the KiB of shared memory that the process has accessed.
static inline long touched_KiB(void)
{
    char line[256];
    long KiB = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && KiB < 0 && fgets(line, sizeof line, f))
        sscanf(line, "RssShmem: %ld", &KiB);
    if (f)
        fclose(f);
    return KiB;
}
