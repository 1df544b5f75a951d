// SPDX-License-Identifier: MIT
// Median cost of creating, using, looking up and destroying an object while 10^2, 10^3, 10^4 and
// 10^5 objects of its kind are alive, and of destroying a context, per object in it. The last
// column is the ratio of the largest count to the smallest: a call whose cost does not depend on
// the number of objects has a ratio near 1, a walk over all objects one near 1000. Ratios up to
// about 10 are cache misses and the levels of a tree.
//   scaling [WORD]    only kinds whose names contain WORD
#include "scaling.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { COUNTS = 4, FILL_SECONDS = 30 };
static const int counts[COUNTS] = {100, 1000, 10000, SCALING_MOST};

enum operation { CREATE, USE, LOOK_UP, DESTROY, END, OPERATIONS };
static const char *const operation_names[OPERATIONS] = {"create", "use", "look up", "destroy",
                                                        "context destruction"};

uint64_t scaling_handle[SCALING_MOST + SCALING_BATCH];

static uint64_t random_state = 1;

static int pick(int below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)below);
}

// Returns false if the process cannot hold so many objects, or if creating them takes too long.
static int fill(const struct scaling_kind *kind, int count)
{
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        CUresult r = kind->create(i);
        if (r == CUDA_ERROR_OUT_OF_MEMORY)
            return 0;
        must(r, kind->name);
        if (now_ns() - start > FILL_SECONDS * 1e9)
            return 0;
    }
    return 1;
}

static double per_call(double start)
{
    return (now_ns() - start) / SCALING_BATCH;
}

// Calls once without the clock, because the first use of memory faults its pages in, which is not
// part of the call's cost.
static double time_each(const char *name, CUresult (*call)(int), int count)
{
    int index[SCALING_BATCH];
    for (int i = 0; i < SCALING_BATCH; i++)
        must(call(index[i] = pick(count)), name);
    double start = now_ns();
    for (int i = 0; i < SCALING_BATCH; i++)
        must(call(index[i]), name);
    return per_call(start);
}

// One batch on top of `count` objects: creates objects, uses and looks up random ones, destroys
// random ones. `count` objects are alive afterwards.
static void run_batch(const struct scaling_kind *kind, int count, double ns[OPERATIONS])
{
    double start = now_ns();
    for (int i = 0; i < SCALING_BATCH; i++)
        must(kind->create(count + i), kind->name);
    ns[CREATE] = per_call(start);
    ns[USE] = kind->use ? time_each(kind->name, kind->use, count) : NAN;
    ns[LOOK_UP] = kind->look_up ? time_each(kind->name, kind->look_up, count) : NAN;
    ns[DESTROY] = 0;
    for (int i = SCALING_BATCH - 1; i >= 0; i--) {
        int index = pick(count + i + 1);
        start = now_ns();
        must(kind->destroy(index), kind->name);
        ns[DESTROY] += now_ns() - start;
        uint64_t destroyed = scaling_handle[index];
        scaling_handle[index] = scaling_handle[count + i];
        scaling_handle[count + i] = destroyed; // an address that can be used again
    }
    ns[DESTROY] /= SCALING_BATCH;
}

static void measure(const struct scaling_kind *kind, int count, double median[OPERATIONS])
{
    CUcontext context;
    double runs[OPERATIONS][RUNS];
    for (int o = 0; o < OPERATIONS; o++)
        median[o] = NAN;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    if (kind->start)
        kind->start(count);
    if (!fill(kind, count))
        return;
    for (int run = 0; run < RUNS; run++) {
        double ns[OPERATIONS];
        run_batch(kind, count, ns);
        for (int o = 0; o < END; o++)
            runs[o][run] = ns[o];
    }
    for (int o = 0; o < END; o++) {
        qsort(runs[o], RUNS, sizeof runs[o][0], by_value);
        median[o] = runs[o][RUNS / 2];
    }
    if (kind->ends_with_context) {
        double start = now_ns();
        MUST(cuCtxDestroy(context));
        median[END] = (now_ns() - start) / count;
    }
}

// Measures in a separate process, so that every count starts with an empty driver.
static void measure_apart(const struct scaling_kind *kind, int count, double median[OPERATIONS])
{
    int ends[2], status;
    size_t size = OPERATIONS * sizeof *median;
    if (pipe(ends))
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(kind, count, median);
        _exit(write(ends[1], median, size) != (ssize_t)size);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], median, size) != (ssize_t)size) {
        fprintf(stderr, "%s: the process that measures %d objects failed\n", kind->name, count);
        exit(1);
    }
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

static void print_cell(double ns)
{
    if (isnan(ns))
        printf(" %10s", "-");
    else
        printf(" %10.0f", ns);
}

static void print_row(const char *name, const char *operation, double ns[COUNTS])
{
    double last = NAN;
    printf("%-34s %-20s", name, operation);
    for (int c = 0; c < COUNTS; c++) {
        print_cell(ns[c]);
        last = isnan(ns[c]) ? last : ns[c];
    }
    printf(" %8.1f\n", last / ns[0]);
}

static void run_kind(const struct scaling_kind *kind)
{
    double median[COUNTS][OPERATIONS];
    for (int c = 0; c < COUNTS; c++)
        measure_apart(kind, counts[c], median[c]);
    for (int o = 0; o < OPERATIONS; o++) {
        double row[COUNTS];
        for (int c = 0; c < COUNTS; c++)
            row[c] = median[c][o];
        if (!isnan(row[0]))
            print_row(kind->name, operation_names[o], row);
    }
}

int main(int argc, char **argv)
{
    static const struct scaling_kind *const topics[] = {
#define X(topic) topic,
        SCALING_TOPICS(X)
#undef X
    };
    printf("%-34s %-20s %10s %10s %10s %10s %8s\n", "nanoseconds a call, median of 31",
           "objects:", "100", "1000", "10000", "100000", "ratio");
    for (size_t t = 0; t < sizeof topics / sizeof *topics; t++)
        for (const struct scaling_kind *kind = topics[t]; kind->name; kind++)
            if (argc < 2 || strstr(kind->name, argv[1]))
                run_kind(kind);
    return 0;
}
