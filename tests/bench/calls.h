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

// The rows that have a recorded time.
static struct {
    int rows, fast; // fast: at least 20 times as fast as the card
    double least;   // the least ratio of the card's time to ours
    char slowest[64];
} compared = {.least = 1e9};

static inline void note_ratio(const char *name, double ratio)
{
    enum { GOAL = 20 };
    compared.rows++;
    compared.fast += ratio >= GOAL;
    if (ratio >= compared.least)
        return;
    compared.least = ratio;
    snprintf(compared.slowest, sizeof compared.slowest, "%s", name);
}

static inline void report_compared(void)
{
    printf("%d of %d calls are at least 20 times as fast as on the card; least: %s, %.2g times\n",
           compared.fast, compared.rows, compared.slowest, compared.least);
}

// `libc_ns`: the time of the C library for the same work; 0: it has no such function.
static inline void report_beside(const char *name, double ns, double libc_ns)
{
    double card = recorded_ns(name);
    printf("%-48s %12.0f", name, ns);
    if (card)
        note_ratio(name, card / ns);
    if (card)
        printf(" %14.0f %10.3f", card, ns / card);
    else
        printf(" %14s %10s", "-", libc_ns ? "-" : "");
    if (libc_ns)
        printf(" %12.0f %10.2f", libc_ns, ns / libc_ns);
    printf("\n");
    fflush(stdout);
}

static inline void report(const char *name, double ns)
{
    report_beside(name, ns, 0);
}

// Sets `ns` to the time of the statements, run `count` times.
#define TIME_OF(ns, count, ...)                                                                    \
    do {                                                                                           \
        double start_ = now_ns();                                                                  \
        for (int i_ = 0; i_ < (count); i_++) {                                                     \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        (ns) = (now_ns() - start_) / (count);                                                      \
    } while (0)

static inline double median(double runs[RUNS])
{
    qsort(runs, RUNS, sizeof *runs, by_value);
    return runs[RUNS / 2];
}

#define BENCH(name, count, ...)                                                                    \
    do {                                                                                           \
        double runs[RUNS];                                                                         \
        for (int run = 0; run < RUNS; run++)                                                       \
            TIME_OF(runs[run], count, __VA_ARGS__);                                                \
        report(name, median(runs));                                                                \
    } while (0)

// The same beside `libc`, statements for the C library that do the same work, in turns.
#define BENCH_BESIDE(name, count, libc, ...)                                                       \
    do {                                                                                           \
        double runs[RUNS], libc_runs[RUNS];                                                        \
        for (int run = 0; run < RUNS; run++) {                                                     \
            TIME_OF(runs[run], count, __VA_ARGS__);                                                \
            TIME_OF(libc_runs[run], count, libc);                                                  \
        }                                                                                          \
        report_beside(name, median(runs), median(libc_runs));                                      \
    } while (0)

// Keeps the compiler from leaving out calls of the C library that change `p`.
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

// Reads the recording if one is named, and prints the table's head.
static inline void begin(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (f) {
        recording[fread(recording, 1, sizeof recording - 1, f)] = 0;
        fclose(f);
    }
    printf("%-48s %12s %14s %10s %12s %10s\n", "call", "ours (ns)", "the card (ns)", "ratio",
           "libc (ns)", "ratio");
}
