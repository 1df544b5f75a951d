// SPDX-License-Identifier: MIT
// The policies `lazy` and `seed:N`: work is postponed, a program that waits or polls gets ahead,
// and a seed draws the same order each time.
#include <time.h>

#include "../harness.h"

enum { STREAMS = 6, EACH = 3, RECORDS = STREAMS * EACH, SEEDS = 8, PATIENCE_S = 20 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// A byte of page-locked memory that a stream of its own sets to 7.
struct fill {
    CUstream stream;
    volatile unsigned char *byte;
    double start;
};

static struct fill start_fill(void)
{
    struct fill f;
    test_context();
    MUST(cuStreamCreate(&f.stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemHostAlloc((void **)&f.byte, 1, CU_MEMHOSTALLOC_DEVICEMAP));
    *f.byte = 0;
    f.start = seconds();
    MUST(cuMemsetD8Async((CUdeviceptr)(uintptr_t)f.byte, 7, 1, f.stream));
    return f;
}

// Whether the driver's own thread may have run the command because this process was slow.
static bool is_late(const struct fill *f)
{
    return seconds() - f->start > 0.05;
}

TEST(lazy_runs_when_a_thread_synchronises)
{
    test_setting("CARDLESS_POLICY", "lazy");
    struct fill f = start_fill();
    EXPECT(*f.byte == 0 || is_late(&f));
    EXPECT_OK(cuStreamSynchronize(f.stream));
    EXPECT_EQ(*f.byte, 7);
    EXPECT_OK(cuStreamQuery(f.stream));
}

TEST(lazy_runs_for_a_program_that_polls)
{
    unsigned asked = 0;
    CUresult r;
    test_setting("CARDLESS_POLICY", "lazy");
    struct fill f = start_fill();
    CUevent after;
    MUST(cuEventCreate(&after, 0));
    MUST(cuEventRecord(after, f.stream));
    EXPECT(*f.byte == 0 || is_late(&f));
    while ((r = cuEventQuery(after)) == CUDA_ERROR_NOT_READY && asked < 1000)
        asked++;
    EXPECT_ERROR(r, CUDA_SUCCESS);
    EXPECT_EQ(*f.byte, 7);
}

TEST(lazy_runs_for_a_program_that_makes_no_call)
{
    test_setting("CARDLESS_POLICY", "lazy");
    struct fill f = start_fill();
    while (*f.byte != 7 && seconds() - f.start < PATIENCE_S)
        ;
    EXPECT_EQ(*f.byte, 7);
}

// A call that returns after its work is done needs earlier work of its stream, and gets it.
TEST(lazy_does_synchronous_work_at_once)
{
    CUdeviceptr p;
    unsigned word = 0;
    test_setting("CARDLESS_POLICY", "lazy");
    test_context();
    MUST(cuMemAlloc(&p, 4));
    for (unsigned i = 1; i <= 3; i++) {
        EXPECT_OK(cuMemsetD32Async(p, i, 1, NULL));
        EXPECT_OK(cuMemcpyDtoH(&word, p, 4));
        EXPECT_EQ(word, i);
    }
}

// What a process does under a policy: the order in which its records completed, as one letter for
// each.
static void print_order(const char *policy, int to)
{
    CUstream stream[STREAMS];
    CUevent first, event[RECORDS];
    float after[RECORDS];
    char order[RECORDS];
    test_setting("CARDLESS_POLICY", policy);
    test_context();
    MUST(cuEventCreate(&first, 0));
    MUST(cuEventRecord(first, NULL));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++)
        MUST(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < RECORDS; i++) {
        MUST(cuEventCreate(&event[i], 0));
        MUST(cuEventRecord(event[i], stream[i % STREAMS]));
    }
    MUST(cuCtxSynchronize());
    for (int i = 0; i < RECORDS; i++)
        MUST(cuEventElapsedTime(&after[i], first, event[i]));
    for (int i = 0; i < RECORDS; i++) {
        int place = 0;
        for (int j = 0; j < RECORDS; j++)
            place += after[j] < after[i] || (after[j] == after[i] && j < i);
        order[place] = (char)('a' + i);
    }
    EXPECT_EQ(write(to, order, sizeof order), sizeof order);
}

// Runs print_order in a process of its own.
static void order_under(const char *policy, char order[RECORDS + 1])
{
    int ends[2], status = -1;
    EXPECT_EQ(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        print_order(policy, ends[1]);
        exit(test_failures > 0);
    }
    close(ends[1]);
    EXPECT_EQ(read(ends[0], order, RECORDS), RECORDS);
    order[RECORDS] = 0;
    close(ends[0]);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    printf("# %s: %s\n", policy, order);
}

static void expect_stream_order(const char *order)
{
    for (int i = STREAMS; i < RECORDS; i++)
        EXPECT(strchr(order, 'a' + i) > strchr(order, 'a' + i - STREAMS));
}

TEST(seeds_draw_orders)
{
    char order[SEEDS][RECORDS + 1], again[RECORDS + 1], eager[RECORDS + 1];
    unsigned different = 0;
    order_under("eager", eager);
    EXPECT_STR(eager, "abcdefghijklmnopqr");
    for (int seed = 0; seed < SEEDS; seed++) {
        char policy[16];
        snprintf(policy, sizeof policy, "seed:%d", seed);
        order_under(policy, order[seed]);
        order_under(policy, again);
        EXPECT_STR(again, order[seed]);
        expect_stream_order(order[seed]);
        different += strcmp(order[seed], order[0]) != 0;
    }
    EXPECT(different >= SEEDS - 2);
}

TESTS(CASE(lazy_runs_when_a_thread_synchronises), CASE(lazy_runs_for_a_program_that_polls),
      CASE(lazy_runs_for_a_program_that_makes_no_call), CASE(lazy_does_synchronous_work_at_once),
      CASE(seeds_draw_orders))
