// SPDX-License-Identifier: MIT
// Handles after very many objects: the driver gives the memory of its table back after a peak, and
// a slot of the table has a limited number of generations. No handle should ever be used twice.
#include "../harness.h"
#include "../sanitizers.h"

enum { PEAK = 140000, SHORT = SANITIZED ? 20 : 1 };

static void start(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
}

static int by_value(const void *a, const void *b)
{
    CUevent x = *(CUevent const *)a, y = *(CUevent const *)b;
    return (x > y) - (x < y);
}

static CUevent *raise_peak(void)
{
    CUevent *peak = malloc(PEAK * sizeof *peak);
    for (int i = 0; i < PEAK; i++)
        MUST(cuEventCreate(&peak[i], 0));
    return peak;
}

static void create_and_destroy(int count, const CUevent *peak)
{
    unsigned used_again = 0;
    CUevent event;
    for (int i = 0; i < count; i++) {
        MUST(cuEventCreate(&event, 0));
        used_again += bsearch(&event, peak, PEAK, sizeof *peak, by_value) != NULL;
        MUST(cuEventDestroy(event));
    }
    EXPECT_EQ(used_again, 0);
}

TEST(after_a_peak)
{
    start();
    CUevent *peak = raise_peak();
    for (int i = 0; i < PEAK; i++)
        MUST(cuEventDestroy(peak[i]));
    qsort(peak, PEAK, sizeof *peak, by_value);
    unsigned twice = 0;
    for (int i = 1; i < PEAK; i++)
        twice += peak[i - 1] == peak[i];
    EXPECT_EQ(twice, 0);
    create_and_destroy(600000 / SHORT, peak);
    free(peak);
}

TEST(after_a_context_with_many_objects)
{
    CUcontext context;
    start();
    MUST(cuCtxGetCurrent(&context));
    CUevent *peak = raise_peak();
    qsort(peak, PEAK, sizeof *peak, by_value);
    MUST(cuCtxDestroy(context));
    start();
    create_and_destroy(600000 / SHORT, peak);
    for (int i = 0; i < PEAK; i += 1000)
        EXPECT_ERROR(cuEventQuery(peak[i]), CUDA_ERROR_INVALID_HANDLE);
    free(peak);
}

// Without a peak 4,097 slots take turns. Each has 1,024 generations; later objects get new slots.
TEST(last_generations)
{
    enum { ROUNDS = 4500000 / SHORT, OFTEN = 4096 };
    CUevent event, first;
    CUstream stream;
    start();
    MUST(cuEventCreate(&first, 0));
    MUST(cuEventDestroy(first));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuEventCreate(&event, 0));
        EXPECT(event != first);
        if (i % OFTEN == 0)
            EXPECT_OK(cuEventQuery(event));
        MUST(cuEventDestroy(event));
        if (i % OFTEN == 0)
            EXPECT_ERROR(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    }
    MUST(cuStreamCreate(&stream, 0));
    EXPECT_ERROR(cuEventQuery((CUevent)stream), CUDA_ERROR_INVALID_HANDLE);
}

TESTS(CASE(after_a_peak), CASE(after_a_context_with_many_objects), CASE(last_generations))
