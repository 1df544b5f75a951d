// SPDX-License-Identifier: MIT
// Timing, and the table of results.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MAX_SETS 4
#define MAX_TURNS 301

static const char *only;
static uint64_t largest_B;
static double budget_s;
static unsigned sets[MAX_SETS], set_count;

// Uses processor time, because other programs on the machine then cost only their share of the
// caches.
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

const char *ca_size_text(uint64_t size_B)
{
    static char text[4][24];
    static unsigned turn;
    char *t = text[turn++ & 3];

    if (size_B >= 1 << 20 && size_B % (1 << 20) == 0)
        snprintf(t, sizeof(text[0]), "%llu MiB", (unsigned long long)size_B >> 20);
    else if (size_B >= 1 << 10 && size_B % (1 << 10) == 0)
        snprintf(t, sizeof(text[0]), "%llu KiB", (unsigned long long)size_B >> 10);
    else
        snprintf(t, sizeof(text[0]), "%llu B", (unsigned long long)size_B);
    return t;
}

void ca_bench_begin(const char *filter, uint64_t max_B, unsigned milliseconds)
{
    unsigned detected = kn_cpu_flags_detected();

    only = filter;
    largest_B = max_B;
    budget_s = milliseconds * 1e-3;
    sets[set_count++] = 0;
    for (unsigned flags = 1; flags < 1u << KN_CPU_FLAG_COUNT; flags = flags << 1 | 1)
        if ((flags & detected) != sets[set_count - 1] && set_count < MAX_SETS)
            sets[set_count++] = flags & detected;
    printf("ratio to the host's way (memcpy, memset, or a loop of them over rows; conversions: the "
           "scalar reference); medians of ratios taken in turns; "
           "* misses its target\n");
    printf("%-14s %-34s %9s", "function", "case", "host");
    for (unsigned i = 0; i < set_count; i++)
        printf(" %8s", kn_cpu_name(sets[i]));
    printf("\n");
}

// Allocates a few slots of random memory. Calls take turns with them, so that no call finds its
// operands where the last one left them.
static uint8_t *slots(unsigned count, uint64_t need_B, uint64_t *stride_B)
{
    uint8_t *base;

    *stride_B = (need_B + 4096 + 4095) & ~UINT64_C(4095);
    base = mmap(NULL, *stride_B * count + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    ca_random_bytes(base, *stride_B * count + 4096);
    return base;
}

void ca_bench_row(const struct ca_bench *b)
{
    static double taken[MAX_SETS + 1][MAX_TURNS];
    uint64_t total_B = b->dst_need_B + b->src_need_B, dst_stride_B, src_stride_B;
    unsigned slot_count = total_B <= 8 << 20 ? 4 : 2, inner, turns = 0;
    size_t dst_at[4], src_at[4];
    uint8_t *dst, *src;
    double start, host;

    if ((only && !strstr(b->name, only)) || b->bytes > largest_B)
        return;
    dst = slots(slot_count, b->dst_need_B, &dst_stride_B);
    src = slots(slot_count, b->src_need_B, &src_stride_B);
    if (!dst || !src) {
        fprintf(stderr, "checkasm: no memory for %s\n", b->name);
        return;
    }
    for (unsigned i = 0; i < slot_count; i++) {
        dst_at[i] = i * dst_stride_B + ca_below(8) * 512 + b->dst_shift_B;
        src_at[i] = i * src_stride_B + ca_below(8) * 512 + b->src_shift_B;
    }
#define RUN(set, count)                                                                            \
    do {                                                                                           \
        kn_set_cpu_mask((set) ? sets[(set)-1] : ~0u);                                              \
        const struct kn_dsp *dsp_ = (set) ? kn_dsp_for(sets[(set)-1]) : NULL;                      \
        for (unsigned i_ = 0; i_ < (count); i_++)                                                  \
            b->run(dsp_, b, dst + dst_at[i_ % slot_count], src + src_at[i_ % slot_count]);         \
    } while (0)

    RUN(0, 8);
    start = now();
    RUN(0, slot_count);
    inner = (unsigned)(40e-6 / ((now() - start) / slot_count)) + 1;
    inner = (inner + slot_count - 1) / slot_count * slot_count;
    start = now();
    while (turns < MAX_TURNS && (turns < 9 || now() - start < budget_s)) {
        for (unsigned set = 0; set <= set_count; set++) {
            double t;
            if (b->bytes <= 64 << 20) // start each function with caches that it has filled itself
                RUN(set, slot_count);
            t = now();
            RUN(set, inner);
            taken[set][turns] = (now() - t) / inner;
        }
        turns++;
    }
    for (unsigned set = 1; set <= set_count; set++)
        for (unsigned turn = 0; turn < turns; turn++)
            taken[set][turn] = taken[0][turn] / taken[set][turn];
    host = median(taken[0], turns);
    printf("%-14s %-34s %6.2f GB/s", b->name, b->detail, (double)b->bytes / host * 1e-9);
    for (unsigned set = 1; set <= set_count; set++) {
        double ratio = median(taken[set], turns);
        printf(" %7.2f%c", ratio, sets[set - 1] && b->target > 0 && ratio < b->target ? '*' : ' ');
    }
    printf("\n");
    fflush(stdout);
    munmap(dst, dst_stride_B * slot_count + 4096);
    munmap(src, src_stride_B * slot_count + 4096);
}
