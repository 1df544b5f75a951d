// SPDX-License-Identifier: MIT
// The cost of the ordering checker: programs with and without CARDLESS_CHECK=order, each in a
// process of its own, in turn, so that a busy machine slows both alike. Prints the least processor
// time of each, in nanoseconds per command, and their ratio.
//   order [WORD]    only programs with WORD in their names
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { TRIES = 5, SLOT_B = 64, MOST_STREAMS = 10000, COMMANDS = 60000 };

static CUdeviceptr memory;
static CUstream streams[MOST_STREAMS];
static CUevent fork_event, ends[MOST_STREAMS];
static unsigned stream_count;

static void start(unsigned count)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuMemAlloc(&memory, (size_t)(count + 1) * SLOT_B));
    MUST(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    stream_count = count;
    for (unsigned i = 0; i < count; i++) {
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        MUST(cuEventCreate(&ends[i], CU_EVENT_DISABLE_TIMING));
    }
}

static CUdeviceptr slot(unsigned i)
{
    return memory + (CUdeviceptr)i * SLOT_B;
}

// ---- programs; each returns the number of its commands ----

static unsigned small_copies(void)
{
    for (unsigned i = 0; i < COMMANDS; i++)
        MUST(cuMemcpyDtoDAsync(slot(1), slot(0), 4, streams[0]));
    MUST(cuStreamSynchronize(streams[0]));
    return COMMANDS;
}

static unsigned events(void)
{
    for (unsigned i = 0; i < COMMANDS / 4; i++) {
        MUST(cuMemsetD32Async(slot(0), i, 1, streams[0]));
        MUST(cuEventRecord(fork_event, streams[0]));
        MUST(cuStreamWaitEvent(streams[1], fork_event, 0));
        MUST(cuMemcpyDtoDAsync(slot(1), slot(0), 4, streams[1]));
        MUST(cuEventRecord(fork_event, streams[1]));
        MUST(cuStreamWaitEvent(streams[0], fork_event, 0));
    }
    MUST(cuStreamSynchronize(streams[0]));
    return COMMANDS / 4 * 6;
}

// The first stream forks into all others and joins them.
static unsigned fork_join(void)
{
    unsigned rounds = COMMANDS / (3 * stream_count) + 2;
    for (unsigned round = 0; round < rounds; round++) {
        MUST(cuMemsetD32Async(slot(0), round, 1, streams[0]));
        MUST(cuEventRecord(fork_event, streams[0]));
        for (unsigned i = 1; i < stream_count; i++) {
            MUST(cuStreamWaitEvent(streams[i], fork_event, 0));
            MUST(cuMemcpyDtoDAsync(slot(i), slot(0), 4, streams[i]));
            MUST(cuEventRecord(ends[i], streams[i]));
        }
        for (unsigned i = 1; i < stream_count; i++)
            MUST(cuStreamWaitEvent(streams[0], ends[i], 0));
    }
    MUST(cuStreamSynchronize(streams[0]));
    return rounds * (4 * (stream_count - 1) + 2);
}

// All streams read the same bytes, which are written once.
static unsigned readers(void)
{
    unsigned rounds = COMMANDS / stream_count + 1;
    MUST(cuMemsetD32(slot(0), 1, 1));
    MUST(cuCtxSynchronize()); // these streams do not wait for the legacy stream
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < stream_count; i++)
            MUST(cuMemcpyDtoDAsync(slot(i + 1), slot(0), 4, streams[i]));
    MUST(cuCtxSynchronize());
    return rounds * stream_count;
}

// Each stream waits for the one before.
static unsigned chain(void)
{
    unsigned rounds = COMMANDS / (3 * stream_count) + 2;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < stream_count; i++) {
            unsigned before = i ? i - 1 : stream_count - 1;
            MUST(cuStreamWaitEvent(streams[i], ends[before], 0));
            MUST(cuMemsetD32Async(slot(0), i, 1, streams[i]));
            MUST(cuEventRecord(ends[i], streams[i]));
        }
    }
    MUST(cuCtxSynchronize());
    return rounds * stream_count * 3;
}

static unsigned graphs(void)
{
    CUgraph graph;
    CUgraphExec exec;
    enum { NODES = 100, LAUNCHES = 400 };
    MUST(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (unsigned i = 0; i < NODES; i++)
        MUST(cuMemsetD32Async(slot(0), i, 1, streams[0]));
    MUST(cuStreamEndCapture(streams[0], &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned i = 0; i < LAUNCHES; i++)
        MUST(cuGraphLaunch(exec, streams[0]));
    MUST(cuStreamSynchronize(streams[0]));
    return NODES * LAUNCHES;
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

// Launches of a graph with a row of host functions.
static unsigned host_nodes(void)
{
    CUgraph graph;
    CUgraphExec exec;
    enum { NODES = 100, LAUNCHES = 20 };
    MUST(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (unsigned i = 0; i < NODES; i++) {
        MUST(cuMemsetD32Async(slot(0), i, 1, streams[0]));
        MUST(cuLaunchHostFunc(streams[0], nothing, NULL));
    }
    MUST(cuStreamEndCapture(streams[0], &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned i = 0; i < LAUNCHES; i++)
        MUST(cuGraphLaunch(exec, streams[0]));
    MUST(cuStreamSynchronize(streams[0]));
    return 2 * NODES * LAUNCHES;
}

static const struct program {
    const char *name;
    unsigned (*run)(void);
    unsigned streams;
} programs[] = {
    {"copies of 4 bytes", small_copies, 2},
    {"event record and wait", events, 2},
    {"fork and join, 100 streams", fork_join, 100},
    {"fork and join, 1,000 streams", fork_join, 1000},
    {"fork and join, 10,000 streams", fork_join, 10000},
    {"readers of one word, 100 streams", readers, 100},
    {"readers of one word, 10,000 streams", readers, 10000},
    {"chain of waits, 100 streams", chain, 100},
    {"chain of waits, 10,000 streams", chain, 10000},
    {"graph of 100 memset nodes", graphs, 1},
    {"graph of 100 host functions", host_nodes, 1},
};

// ---- running them ----

// The processor time of this process.
static double used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(const struct program *p)
{
    start(p->streams);
    double from = used_ns();
    unsigned commands = p->run();
    return (used_ns() - from) / commands;
}

// The time of a program in a process of its own, or a negative number.
static double time_apart(const struct program *p, bool checked)
{
    int ends_of_pipe[2], status = -1;
    double ns = -1;
    if (pipe(ends_of_pipe))
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        unsetenv("CARDLESS_CHECK");
        if (checked)
            setenv("CARDLESS_CHECK", "order", 1);
        ns = time_of(p);
        _exit(write(ends_of_pipe[1], &ns, sizeof ns) != sizeof ns);
    }
    close(ends_of_pipe[1]);
    if (read(ends_of_pipe[0], &ns, sizeof ns) != sizeof ns)
        ns = -1;
    close(ends_of_pipe[0]);
    waitpid(child, &status, 0);
    return status ? -1 : ns;
}

int main(int argc, char **argv)
{
    printf("%-38s %10s %10s %6s\n", "ns per command", "off", "order", "ratio");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        double best[2] = {0, 0};
        if (argc > 1 && !strstr(p->name, argv[1]))
            continue;
        for (unsigned n = 0; n < 2 * TRIES; n++) {
            double ns = time_apart(p, n % 2);
            if (ns < 0) {
                printf("%s failed\n", p->name);
                return 1;
            }
            if (!best[n % 2] || ns < best[n % 2])
                best[n % 2] = ns;
        }
        printf("%-38s %10.0f %10.0f %6.2f\n", p->name, best[0], best[1], best[1] / best[0]);
        fflush(stdout);
    }
    return 0;
}
