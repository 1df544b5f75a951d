// SPDX-License-Identifier: MIT
// A graph of a million nodes is built, instantiated and launched in linear time and bounded memory.
#include <sys/resource.h>
#include <time.h>

#include "../harness.h"
#include "../sanitizers.h"

enum { NODES = THREAD_SANITIZER ? 100000 : 1000000 };

static CUcontext context;
static CUstream s;
static CUdeviceptr device;

// One node on which all others depend, fills, and chains of empty nodes between them.
static CUgraph build(unsigned count)
{
    CUgraph g;
    CUgraphNode hub, last = NULL;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEmptyNode(&hub, g, NULL, 0));
    for (unsigned i = 0; i < count; i++) {
        const CUgraphNode after[2] = {hub, last};
        CUDA_MEMSET_NODE_PARAMS p = {
            .dst = device + 4 * (i % 1000), .value = i, .elementSize = 4, .width = 1, .height = 1};
        if (i % 4)
            MUST(cuGraphAddEmptyNode(&last, g, after, 2));
        else
            MUST(cuGraphAddMemsetNode(&last, g, after, 1, &p, context));
    }
    return g;
}

static double seconds_of(unsigned count)
{
    struct timespec from, to;
    CUgraphExec x;
    clock_gettime(CLOCK_MONOTONIC, &from);
    CUgraph g = build(count);
    MUST(cuGraphInstantiate(&x, g, 0));
    MUST(cuGraphLaunch(x, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuGraphExecDestroy(x));
    MUST(cuGraphDestroy(g));
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static long peak_KiB(void)
{
    struct rusage usage;
    EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

// Eight times the nodes take 8 times as long, or 64 times if any part is quadratic.
TEST(a_million_nodes)
{
    uint32_t value = 0;
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 4000));
    double small = seconds_of(NODES / 8), large = seconds_of(NODES);
    printf("# %d nodes: %.2f s; %d nodes: %.2f s\n", NODES / 8, small, NODES, large);
    EXPECT(large < 32 * small);
    MUST(cuMemcpyDtoH(&value, device, 4));
    EXPECT_EQ(value % 1000, 0);
    EXPECT(value >= NODES / 8);
    if (SANITIZED) // they keep freed memory
        return;
    // A node and its instance take less than 1 KiB, and a second graph gets the memory of the
    // first.
    long first = peak_KiB();
    seconds_of(NODES);
    printf("# peak %ld KiB; of a second graph %ld KiB\n", first, peak_KiB());
    EXPECT(first < NODES);
    EXPECT(peak_KiB() < first + first / 8);
}

TESTS(CASE(a_million_nodes))
