// SPDX-License-Identifier: MIT
// The ordering checker under load: its work should be nearly linear in the commands, and its memory
// should not grow with the length of a program. Counts steps and bytes instead of time.
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

#include "alloc.h"
#include "lock.h"
#include "order_clock.h"

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult r_ = (call);                                                                      \
        CHECK(!r_, "%s is %d", #call, (int)r_);                                                    \
    } while (0)

// ---- memory: the linker sends every allocation of the driver through these ----

static atomic_llong allocated_B;

void *__real_dm_alloc(size_t size);
void *__real_dm_calloc(size_t count, size_t size);
void *__real_dm_realloc(void *p, size_t size);
void __real_dm_free(void *p);
void *__wrap_dm_alloc(size_t size);
void *__wrap_dm_calloc(size_t count, size_t size);
void *__wrap_dm_realloc(void *p, size_t size);
void __wrap_dm_free(void *p);

static void *noted(void *p)
{
    allocated_B += p ? (long long)malloc_usable_size(p) : 0;
    return p;
}
void *__wrap_dm_alloc(size_t size)
{
    return noted(__real_dm_alloc(size));
}
void *__wrap_dm_calloc(size_t count, size_t size)
{
    return noted(__real_dm_calloc(count, size));
}
void *__wrap_dm_realloc(void *p, size_t size)
{
    long long before = p ? (long long)malloc_usable_size(p) : 0;
    void *q = __real_dm_realloc(p, size);
    allocated_B += q ? (long long)malloc_usable_size(q) - before : 0;
    return q;
}
void __wrap_dm_free(void *p)
{
    allocated_B -= p ? (long long)malloc_usable_size(p) : 0;
    __real_dm_free(p);
}

// ---- programs ----

enum { MOST_STREAMS = 4000, SLOT_B = 64, NODES = 8 };

static CUdeviceptr memory;
static CUstream streams[MOST_STREAMS];
static CUevent fork_event, ends[MOST_STREAMS];

static CUdeviceptr slot(unsigned i)
{
    return memory + (CUdeviceptr)i * SLOT_B;
}

static void start(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuMemAlloc(&memory, (size_t)(MOST_STREAMS + 1) * SLOT_B));
    MUST(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < MOST_STREAMS; i++) {
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        MUST(cuEventCreate(&ends[i], CU_EVENT_DISABLE_TIMING));
    }
}

static uint64_t steps(void)
{
    em_lock();
    uint64_t n = em_order_steps;
    em_unlock();
    return n;
}

// Each returns the number of its commands.

static unsigned fork_and_join(unsigned count)
{
    MUST(cuMemsetD32Async(slot(0), 1, 1, streams[0]));
    MUST(cuEventRecord(fork_event, streams[0]));
    for (unsigned i = 1; i < count; i++) {
        MUST(cuStreamWaitEvent(streams[i], fork_event, 0));
        MUST(cuMemcpyDtoDAsync(slot(i), slot(0), 4, streams[i]));
        MUST(cuEventRecord(ends[i], streams[i]));
    }
    for (unsigned i = 1; i < count; i++)
        MUST(cuStreamWaitEvent(streams[0], ends[i], 0));
    return 4 * (count - 1) + 2;
}

static unsigned readers(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        MUST(cuMemcpyDtoDAsync(slot(i + 1), slot(0), 4, streams[i]));
    return count;
}

static unsigned chain(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        MUST(cuStreamWaitEvent(streams[i], ends[i ? i - 1 : count - 1], 0));
        MUST(cuMemsetD32Async(slot(0), i, 1, streams[i]));
        MUST(cuEventRecord(ends[i], streams[i]));
    }
    return 3 * count;
}

// ---- the cost ----

static double steps_of(unsigned (*program)(unsigned), unsigned count)
{
    enum { ROUNDS = 3 };
    unsigned commands = 0;
    uint64_t before = steps();
    for (unsigned i = 0; i < ROUNDS; i++)
        commands += program(count);
    double each = (double)(steps() - before) / commands;
    MUST(cuCtxSynchronize());
    return each;
}

static void test_linear(const char *name, unsigned (*program)(unsigned))
{
    double few = steps_of(program, MOST_STREAMS / 8), many = steps_of(program, MOST_STREAMS);
    printf("%-14s %.1f steps a command for %u streams, %.1f for %u\n", name, few, MOST_STREAMS / 8,
           many, MOST_STREAMS);
    // The depth of a clock grows with the logarithm of the streams.
    CHECK(many < 2 * few + 10, "%s takes %.1f steps a command, and %.1f with 8 times the streams",
          name, few, many);
}

// ---- memory ----

// Streams that come and go.
static void pass_streams(void)
{
    CUstream s, t;
    CUevent e;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemsetD32Async(slot(1), 1, 1, s));
    MUST(cuEventRecord(e, s));
    MUST(cuStreamWaitEvent(t, e, 0));
    MUST(cuMemsetD32Async(slot(1), 1, 1, t));
    MUST(cuStreamDestroy(s)); // before the host has waited
    MUST(cuStreamSynchronize(t));
    MUST(cuStreamDestroy(t));
    MUST(cuEventDestroy(e));
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

static CUgraphExec host_nodes;

// Host functions side by side, which the next launch knows.
static void make_graph(void)
{
    CUgraph graph;
    CUgraphNode node, write;
    CUcontext context;
    const CUDA_HOST_NODE_PARAMS p = {.fn = nothing};
    CUDA_MEMSET_NODE_PARAMS set = {.value = 1, .elementSize = 1, .width = SLOT_B, .height = 1};
    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < NODES; i++) {
        set.dst = slot(i);
        MUST(cuGraphAddMemsetNode(&write, graph, NULL, 0, &set, context));
        MUST(cuGraphAddHostNode(&node, graph, &write, 1, &p));
    }
    MUST(cuGraphInstantiate(&host_nodes, graph, 0));
}

static void pass_launches(void)
{
    MUST(cuGraphLaunch(host_nodes, streams[0]));
    MUST(cuGraphLaunch(host_nodes, streams[1]));
    MUST(cuStreamSynchronize(streams[1]));
}

// Spare streams that the host has not waited for hold nothing up.
static void pass_streams_among_others(void)
{
    static unsigned times;
    if (++times > 20) {
        pass_streams();
        return;
    }
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD32Async(slot(100 + times), 1, 1, s));
    MUST(cuStreamDestroy(s));
}

static void test_bounded(const char *name, void (*program)(void))
{
    enum { ROUNDS = 500 };
    long long at[3];
    uint64_t entries[3];
    for (unsigned n = 0; n < 3; n++) {
        for (unsigned i = 0; i < ROUNDS; i++)
            program();
        em_lock();
        entries[n] = em_order_components();
        em_unlock();
        at[n] = allocated_B;
    }
    printf("%-14s %lld bytes after %d rounds, %lld after %d; %llu components\n", name, at[1],
           2 * ROUNDS, at[2], 3 * ROUNDS, (unsigned long long)entries[2]);
    CHECK(entries[2] == entries[1], "%s: %llu components, then %llu", name,
          (unsigned long long)entries[1], (unsigned long long)entries[2]);
    // The history of handles has a few bytes for each object.
    CHECK(at[2] < at[1] + 32 * ROUNDS, "%s: %lld bytes, then %lld", name, at[1], at[2]);
}

int main(void)
{
    setenv("CARDLESS_CHECK", "order", 1);
    start();
    test_linear("fork and join", fork_and_join);
    test_linear("readers", readers);
    test_linear("chain", chain);
    make_graph();
    test_bounded("streams", pass_streams);
    test_bounded("launches", pass_launches);
    test_bounded("more streams", pass_streams_among_others);
    return 0;
}
