// SPDX-License-Identifier: MIT
// Median cost of creating, using, looking up and destroying an object while 10^2, 10^3, 10^4, 10^5
// and 10^6 objects of its kind are alive, and of destroying a context, per object in it. The last
// column is the ratio of the largest count to the smallest: a call whose cost does not depend on
// the number of objects has a ratio near 1, a walk over all objects one near 10,000. Ratios up to
// about 20 are cache misses and the levels of a tree. If a process cannot have so many objects, the
// last count is as many as it can have, and a line says why.
//   scaling [WORD]    only kinds whose names contain WORD
#include "scaling.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { COUNTS = 5, FILL_SECONDS = 30, FILL_MOST_MiB = 6144, LOOKS = 4096 };
static const int counts[COUNTS] = {100, 1000, 10000, 100000, SCALING_MOST};

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

// The measurement of one count of objects.
struct result {
    double median[OPERATIONS];
    int alive;       // fewer than the count if the process cannot have more
    const char *why; // the reason, or NULL. Valid in both processes, because one forks the other
};

static long resident_MiB(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages / ((1 << 20) / sysconf(_SC_PAGESIZE));
}

static long number_in(const char *path)
{
    long number = 0;
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%ld", &number) != 1)
        number = 0;
    if (f)
        fclose(f);
    return number;
}

static long mappings(void)
{
    long lines = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (int c = f ? getc(f) : EOF; c != EOF; c = getc(f))
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

// The limit of the system that keeps this process from having more objects.
static const char *limit_reached(void)
{
    enum { SPARE = 64 }; // a call may need several
    int next = dup(STDIN_FILENO);
    if (next >= 0)
        close(next);
    if (next < 0)
        return "RLIMIT_NOFILE";
    return mappings() + SPARE > number_in("/proc/sys/vm/max_map_count") ? "vm.max_map_count"
                                                                        : "out of memory";
}

// Creates `count` objects, or as many as possible.
static void fill(const struct scaling_kind *kind, int count, struct result *result)
{
    double start = now_ns();
    int *alive = &result->alive;
    for (*alive = 0; *alive < count && !result->why; ++*alive) {
        CUresult r = kind->create(*alive);
        if (r == CUDA_ERROR_OUT_OF_MEMORY) {
            result->why = limit_reached();
            break;
        }
        must(r, kind->name);
        if (now_ns() - start > FILL_SECONDS * 1e9)
            result->why = "more would take longer than 30 seconds";
        else if (*alive % LOOKS == 0 && resident_MiB() > FILL_MOST_MiB)
            result->why = "more would take more than 6 GiB";
    }
    // Room for a batch.
    for (int i = 0; i < SCALING_BATCH && result->why && *alive; i++)
        must(kind->destroy(--*alive), kind->name);
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

static void measure(const struct scaling_kind *kind, int count, struct result *result)
{
    CUcontext context;
    double runs[OPERATIONS][RUNS];
    for (int o = 0; o < OPERATIONS; o++)
        result->median[o] = NAN;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    if (kind->start)
        kind->start(count);
    fill(kind, count, result);
    if (result->alive <= count / 10) // as many as were measured before
        return;
    for (int run = 0; run < RUNS; run++) {
        double ns[OPERATIONS];
        run_batch(kind, result->alive, ns);
        for (int o = 0; o < END; o++)
            runs[o][run] = ns[o];
    }
    for (int o = 0; o < END; o++)
        result->median[o] = median(runs[o]);
    if (kind->ends_with_context) {
        double start = now_ns();
        MUST(cuCtxDestroy(context));
        result->median[END] = (now_ns() - start) / result->alive;
    }
}

// Measures in a separate process, so that every count starts with an empty driver.
static void measure_apart(const struct scaling_kind *kind, int count, struct result *result)
{
    int ends[2], status;
    memset(result, 0, sizeof *result);
    if (pipe(ends))
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(kind, count, result);
        _exit(write(ends[1], result, sizeof *result) != (ssize_t)sizeof *result);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], result, sizeof *result) != (ssize_t)sizeof *result) {
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
    struct result results[COUNTS];
    int last = 0;
    for (int c = 0; c < COUNTS; c++) {
        measure_apart(kind, counts[c], &results[c]);
        last = c;
        if (results[c].why)
            break;
    }
    for (int o = 0; o < OPERATIONS; o++) {
        double row[COUNTS];
        for (int c = 0; c < COUNTS; c++)
            row[c] = c <= last ? results[c].median[o] : NAN;
        if (!isnan(row[0]))
            print_row(kind->name, operation_names[o], row);
    }
    if (results[last].why)
        printf("%-34s %d instead of %d: %s\n", kind->name, results[last].alive, counts[last],
               results[last].why);
}

// As many descriptors as the process may have.
static void raise_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    static const struct scaling_kind *const topics[] = {
#define X(topic) topic,
        SCALING_TOPICS(X)
#undef X
    };
    raise_limit();
    printf("%-34s %-20s %10s %10s %10s %10s %10s %8s\n", "nanoseconds a call, median of 31",
           "objects:", "100", "1000", "10000", "100000", "1000000", "ratio");
    for (size_t t = 0; t < sizeof topics / sizeof *topics; t++)
        for (const struct scaling_kind *kind = topics[t]; kind->name; kind++)
            if (argc < 2 || strstr(kind->name, argv[1]))
                run_kind(kind);
    return 0;
}
