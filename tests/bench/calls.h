// SPDX-License-Identifier: MIT
// Median nanoseconds of driver calls, each beside the time that the real card's driver took. The
// benchmark programs share this file.
#pragma once
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 31 };

static char recording[1 << 14];

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void must(CUresult r, const char *what)
{
    if (r) {
        fprintf(stderr, "%s: CUresult %d\n", what, (int)r);
        exit(1);
    }
}
#define MUST(call) must((call), #call)

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns the recorded time of a call, or 0. A line of the recording has a name in 44 columns, then
// nanoseconds.
static inline double recorded_ns(const char *name)
{
    size_t n = strlen(name);
    for (const char *line = recording; *line;
         line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
        if (!strncmp(line, name, n) && line[n] == ' ')
            return atof(line + n);
    return 0;
}

static inline void report(const char *name, double ns)
{
    double card = recorded_ns(name);
    if (card)
        printf("%-44s %12.0f %14.0f %10.3f\n", name, ns, card, ns / card);
    else
        printf("%-44s %12.0f %14s\n", name, ns, "-");
    fflush(stdout);
}

#define BENCH(name, count, ...)                                                                    \
    do {                                                                                           \
        double runs[RUNS];                                                                         \
        for (int run = 0; run < RUNS; run++) {                                                     \
            double start = now_ns();                                                               \
            for (int i_ = 0; i_ < (count); i_++) {                                                 \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
            runs[run] = (now_ns() - start) / (count);                                              \
        }                                                                                          \
        qsort(runs, RUNS, sizeof *runs, by_value);                                                 \
        report(name, runs[RUNS / 2]);                                                              \
    } while (0)

// Reads the recording if one is named, and prints the table's head.
static inline void begin(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (f) {
        recording[fread(recording, 1, sizeof recording - 1, f)] = 0;
        fclose(f);
    }
    printf("%-44s %12s %14s %10s\n", "call", "ours (ns)", "the card (ns)", "ratio");
}
