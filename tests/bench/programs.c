// SPDX-License-Identifier: MIT
// Kernels of usual kinds on this driver, and beside it on an OpenCL platform for processors if
// there is one: processor time of all threads, which also holds on a busy machine. Both run in
// turn, and the median of the launches counts.
//   programs FILE.ptx FILE.cl [WORD]    only kernels with WORD in their names
#include "programs.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 15, SMALL_REPEATS = 1000, FLOATS = 1 << 20, OUT_FLOATS = FLOATS };

// The result of the first `compared` floats must agree; 0: whole numbers, which must be equal.
struct program {
    const char *kernel, *unit;
    unsigned blocks[2], threads[2];
    int n;
    double elements, tolerance;
};

static const struct program programs[] = {
    {"saxpy", "element", {4096, 1}, {256, 1}, 1 << 20, 1 << 20, 1e-6},
    {"transpose", "element", {64, 64}, {16, 16}, 1024, 1 << 20, 0},
    {"multiply", "product", {16, 16}, {16, 16}, 256, 1 << 24, 1e-4},
    {"bodies", "pair", {8, 1}, {256, 1}, 2048, 1 << 22, 1e-2},
    {"iterate", "pixel", {16, 32}, {32, 8}, 512, 1 << 17, 0},
    {"reduce", "element", {4096, 1}, {256, 1}, 1 << 20, 1 << 20, 1e-5},
    {"shuffle", "element", {4096, 1}, {256, 1}, 1 << 20, 1 << 20, 1e-5},
    {"count", "element", {256, 1}, {256, 1}, 1 << 20, 1 << 20, 0},
    {"functions", "element", {4096, 1}, {256, 1}, 1 << 20, 1 << 20, 1e-4},
};

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

char *bench_text(const char *path)
{
    enum { MOST_B = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = calloc(1, MOST_B);
    if (!file || !text) {
        fprintf(stderr, "programs: cannot read %s\n", path);
        exit(1);
    }
    text[fread(text, 1, MOST_B - 1, file)] = 0;
    fclose(file);
    return text;
}

static void *checked_alloc(size_t count)
{
    void *p = calloc(count, sizeof(float));
    if (p)
        return p;
    fprintf(stderr, "programs: out of memory\n");
    exit(1);
}

static int is_less(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, is_less);
    return times[count / 2];
}

// Numbers from 0 to 1 that are the same in every run.
static void fill(float *to, int count)
{
    uint32_t state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (float)(state >> 8) / (1 << 24);
    }
}

// ---- one kernel ----

struct run {
    const struct bench_machine *machine;
    struct bench_launch launch;
    double times[REPEATS];
    float *result;
};

static void start(struct run *r, const struct bench_machine *machine, const struct program *p,
                  const float *in)
{
    float *zeros = checked_alloc(OUT_FLOATS);
    r->machine = machine;
    r->launch = (struct bench_launch){.kernel = p->kernel,
                                      .blocks = {p->blocks[0], p->blocks[1]},
                                      .threads = {p->threads[0], p->threads[1]},
                                      .n = p->n};
    r->launch.buffers[0] = machine->buffer(in, FLOATS * sizeof *in);
    r->launch.buffers[1] = machine->buffer(in + FLOATS, FLOATS * sizeof *in);
    r->launch.buffers[2] = machine->buffer(zeros, OUT_FLOATS * sizeof *zeros);
    machine->launch(&r->launch);
    machine->wait();
    r->result = zeros;
    machine->read(r->launch.buffers[2], r->result, OUT_FLOATS * sizeof *r->result);
}

static void measure(struct run *r, int repeat)
{
    const double before = processor_time();
    r->machine->launch(&r->launch);
    r->machine->wait();
    r->times[repeat] = processor_time() - before;
}

static void finish(struct run *r)
{
    for (int i = 0; i < BENCH_BUFFERS; i++)
        r->machine->free(r->launch.buffers[i]);
    free(r->result);
}

static int differ(const float *a, const float *b, double tolerance)
{
    int count = 0;
    for (int i = 0; i < OUT_FLOATS; i++)
        count += tolerance == 0 ? memcmp(&a[i], &b[i], sizeof *a) != 0
                                : !(fabs((double)a[i] - b[i]) <= tolerance * (1 + fabs(b[i])));
    return count;
}

static void run_program(const struct program *p, int has_other, const float *in)
{
    struct run own, other;
    const double unit = 1e9 / p->elements;
    bench_cuda.has(p->kernel);
    start(&own, &bench_cuda, p, in);
    has_other = has_other && bench_opencl.has(p->kernel);
    if (has_other)
        start(&other, &bench_opencl, p, in);
    for (int i = 0; i < REPEATS; i++) {
        measure(&own, i);
        if (has_other)
            measure(&other, i);
    }
    const double time = median(own.times, REPEATS) * unit;
    if (has_other) {
        const double other_time = median(other.times, REPEATS) * unit;
        const int different = differ(own.result, other.result, p->tolerance);
        printf("%-10s %8.3f %8.3f %6.2f  ns a %s", p->kernel, time, other_time, time / other_time,
               p->unit);
        printf(different ? ", %d results differ\n" : "\n", different);
        finish(&other);
    } else {
        printf("%-10s %8.3f %8s %6s  ns a %s\n", p->kernel, time, "-", "-", p->unit);
    }
    fflush(stdout);
    finish(&own);
}

// ---- launches ----

static void run_launches(void)
{
    struct bench_launch nothing = {.kernel = "nothing", .blocks = {1, 1}, .threads = {32, 1}};
    double times[REPEATS];
    for (int waits = 0; waits < 2; waits++) {
        for (int i = 0; i < REPEATS; i++) {
            const double before = processor_time();
            for (int k = 0; k < SMALL_REPEATS; k++) {
                bench_cuda.launch(&nothing);
                if (waits)
                    bench_cuda.wait();
            }
            bench_cuda.wait();
            times[i] = (processor_time() - before) / SMALL_REPEATS;
        }
        printf("%-27s %8.3f  us\n", waits ? "launch and wait" : "launch of an empty kernel",
               median(times, REPEATS) * 1e6);
    }
}

int main(int count, char **arguments)
{
    const char *word = count > 3 ? arguments[3] : "";
    if (count < 3) {
        fprintf(stderr, "usage: programs FILE.ptx FILE.cl [WORD]\n");
        return 2;
    }
    float *in = checked_alloc(2 * FLOATS);
    fill(in, 2 * FLOATS);
    bench_cuda.open(arguments[1]);
    const int has_other = bench_opencl.open(arguments[2]);
    printf("%-10s %8s %8s %6s\n", "kernel", bench_cuda.name, bench_opencl.name, "ratio");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strstr(programs[i].kernel, word))
            run_program(&programs[i], has_other, in);
    if (!*word)
        run_launches();
    free(in);
    return 0;
}
