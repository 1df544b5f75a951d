// SPDX-License-Identifier: MIT
// The ordering checker against a reference, on random programs of copies, fills, events, binary
// semaphores, graphs of more than 64 nodes that others wait for, and synchronising calls. The
// reference knows the calls of a program and the rules of the manual, and computes the transitive
// closure of all edges. Each report must name two accesses that it leaves unordered, and a program
// with such accesses must be reported.
//
// If the checker cannot know who has ended a wait, it may assume more order than there is. The
// closure of these edges too is the order that hides mistakes.
#include "../semaphore.h"
#include "order_closure.h"

enum {
    PROGRAMS = SANITIZED ? 100 : 1000, // for each policy
    SEMAPHORES = 2,
    MARKS = 70,    // records of events in a graph
    GRAPHS = 4,    // one of so many programs has one
    NOBODY = -1,   // has signalled a semaphore, or waited for it
    THE_HOST = -2, // has
    STREAMS = 4,
    LEGACY = 3, // the others: 0 and 1 are non-blocking, 2 is blocking
    EVENTS = 3,
    BYTES = 8,
    ARENA_B = PROGRAMS * BYTES,
};

struct access {
    unsigned first, end; // if they are equal, it accesses no byte
    bool writes;
};

static struct {
    CUdeviceptr arena, bytes, other;
    CUstream stream[STREAMS];
    CUevent event[EVENTS];
    uint64_t random, first_call;
    // Of the current program.
    unsigned calls;
    struct access access[2 * CALLS]; // of node CALLS + i
    unsigned stream_of[CALLS];       // of the command; STREAMS: the call submits no command
    int recorded[EVENTS];            // by which call; -1: not recorded
    struct order sure, hidden;       // the order of the manual, and with assumptions
    struct both semaphore[SEMAPHORES];
    int signal[SEMAPHORES]; // the call that has signalled, THE_HOST for one of the host, or NOBODY
    int waiter[SEMAPHORES]; // the stream that may still wait for the last signal, or NOBODY
    bool signals[CALLS];    // the command signals a semaphore
    bool assumes[CALLS];    // the command waits for somebody whom the checker does not know
    CUevent mark[MARKS];
    CUgraphExec exec; // or NULL
    int launched;     // by which call; -1: not launched
} t;

static FILE *diagnostics; // read up to the end

static unsigned draw(unsigned below)
{
    t.random = t.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(t.random >> 33) % below;
}

// ---- the reference ----

static unsigned command_of(unsigned call)
{
    return CALLS + call;
}

// The host, once the call has returned.
static unsigned host_after(unsigned call)
{
    return call + 1 < CALLS ? call + 1 : THE_END;
}

static void edge(unsigned from, unsigned to)
{
    set_edge(&t.sure, from, to);
    set_edge(&t.hidden, from, to);
}

// From and to both commands of calls.
static void edges(unsigned from, unsigned to)
{
    for (unsigned i = 0; i < 4; i++)
        edge(command_of(from) + i % 2 * CALLS, command_of(to) + i / 2 * CALLS);
}

static bool is_ordered(unsigned stream)
{
    return stream >= 2;
}

// Whether all work of stream a is ordered before later work of stream b.
static bool implies(unsigned a, unsigned b)
{
    return a == b || (is_ordered(a) && is_ordered(b) && (a == LEGACY || b == LEGACY));
}

// The call submits a command.
static void submitted(unsigned call, unsigned stream)
{
    t.stream_of[call] = stream;
    edge(call, command_of(call));
    edge(call, command_of(call) + CALLS);
    for (unsigned i = 0; i < call; i++)
        if (t.stream_of[i] < STREAMS && implies(t.stream_of[i], stream))
            edges(i, call);
}

static bool covers(unsigned stream, unsigned other)
{
    return stream == STREAMS || stream == other || (stream == LEGACY && is_ordered(other));
}

// The host goes on after all work of a stream, or of all streams (STREAMS).
static void waited(unsigned call, unsigned stream)
{
    for (unsigned i = 0; i < SEMAPHORES; i++)
        if (t.waiter[i] >= 0 && covers(stream, (unsigned)t.waiter[i]))
            t.waiter[i] = NOBODY;
    for (unsigned i = 0; i <= call; i++) {
        unsigned s = t.stream_of[i];
        if (s < STREAMS && covers(stream, s)) {
            edge(command_of(i), host_after(call));
            edge(command_of(i) + CALLS, host_after(call));
        }
    }
}

// Whether two commands, with their numbers from 0, are a mistake.
static bool is_race(const struct order *o, unsigned a, unsigned b)
{
    const struct access *x = &t.access[a], *y = &t.access[b];
    return a != b && (x->writes || y->writes) && x->first < y->end && y->first < x->end &&
           !is_before(o, CALLS + a, CALLS + b) && !is_before(o, CALLS + b, CALLS + a);
}

// ---- programs ----

static void access_bytes(unsigned call)
{
    struct access *a = &t.access[call];
    unsigned s = draw(STREAMS);
    a->first = draw(BYTES);
    a->end = a->first + 1 + draw(BYTES - a->first);
    a->writes = draw(2);
    submitted(call, s);
    if (a->writes)
        EXPECT_OK(cuMemsetD8Async(t.bytes + a->first, 1, a->end - a->first, t.stream[s]));
    else
        EXPECT_OK(cuMemcpyDtoDAsync(t.other + BYTES * call, t.bytes + a->first, a->end - a->first,
                                    t.stream[s]));
}

static void read_bytes(unsigned call)
{
    static unsigned char host[BYTES];
    struct access *a = &t.access[call];
    a->first = draw(BYTES);
    a->end = a->first + 1;
    submitted(call, LEGACY);
    EXPECT_OK(cuMemcpyDtoH(host, t.bytes + a->first, 1));
    waited(call, LEGACY);
}

// An event that this program has not recorded has a record of an earlier one.
static void record_or_wait(unsigned call)
{
    unsigned s = draw(STREAMS), e = draw(EVENTS);
    submitted(call, s);
    if (t.recorded[e] < 0 || draw(2)) {
        EXPECT_OK(cuEventRecord(t.event[e], t.stream[s]));
        t.recorded[e] = (int)call;
        return;
    }
    edge(command_of((unsigned)t.recorded[e]), command_of(call));
    EXPECT_OK(cuStreamWaitEvent(t.stream[s], t.event[e], 0));
}

// ---- semaphores ----

// A wait has ended for a reason that the checker does not see: whoever has signalled before counts.
static void assume_signals(unsigned call, unsigned node)
{
    for (unsigned i = 0; i < call; i++)
        if (t.signals[i])
            set_edge(&t.hidden, command_of(i), node);
}

static void signal_semaphore(unsigned call, unsigned n)
{
    unsigned s = draw(STREAMS);
    if (draw(2)) {
        t.signal[n] = THE_HOST;
        EXPECT_OK(cardlessSemaphoreSignal(t.semaphore[n].host, 0));
        return;
    }
    t.signal[n] = (int)call;
    t.signals[call] = true;
    submitted(call, s);
    EXPECT_OK(cu_signal(t.semaphore[n].cuda, 0, t.stream[s]));
}

// The host waits through another handle than those that signal, and so for somebody unknown.
static void host_awaits(unsigned call, unsigned n)
{
    edge(command_of((unsigned)t.signal[n]), host_after(call));
    assume_signals(call, host_after(call));
    EXPECT_OK(cardlessSemaphoreWait(t.semaphore[n].host, 0, UINT64_MAX));
}

static void stream_awaits(unsigned call, unsigned n)
{
    unsigned s = draw(STREAMS);
    t.waiter[n] = (int)s;
    submitted(call, s);
    if (t.signal[n] >= 0) {
        edge(command_of((unsigned)t.signal[n]), command_of(call));
    } else {
        t.assumes[call] = true;
    }
    EXPECT_OK(cu_wait(t.semaphore[n].cuda, 0, t.stream[s]));
}

// Nobody uses a semaphore while a stream may still wait for its last signal.
static void use_semaphore(unsigned call)
{
    unsigned n = draw(SEMAPHORES);
    if (t.waiter[n] != NOBODY) {
        record_or_wait(call);
        return;
    }
    if (t.signal[n] == NOBODY) {
        signal_semaphore(call, n);
        return;
    }
    if (t.signal[n] >= 0 && draw(2))
        host_awaits(call, n);
    else
        stream_awaits(call, n);
    t.signal[n] = NOBODY;
}

// ---- graphs ----

static CUgraphNode add_write(CUgraph graph, struct access *a)
{
    CUcontext c;
    CUgraphNode n;
    a->first = draw(BYTES);
    a->end = a->first + 1;
    a->writes = true;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = t.bytes + a->first, .value = 1, .elementSize = 1, .width = 1, .height = 1};
    MUST(cuCtxGetCurrent(&c));
    MUST(cuGraphAddMemsetNode(&n, graph, NULL, 0, &p, c));
    return n;
}

static struct access branch[2];

// Two writes side by side, and many records after the first one.
static void make_graph(void)
{
    CUgraph graph;
    MUST(cuGraphCreate(&graph, 0));
    CUgraphNode first = add_write(graph, &branch[0]), record;
    for (unsigned i = 0; i < MARKS; i++)
        MUST(cuGraphAddEventRecordNode(&record, graph, &first, 1, t.mark[i]));
    add_write(graph, &branch[1]);
    MUST(cuGraphInstantiate(&t.exec, graph, 0));
    MUST(cuGraphDestroy(graph));
}

static void launch_or_wait(unsigned call)
{
    unsigned s = draw(STREAMS);
    submitted(call, s);
    if (t.launched >= 0 && draw(4)) {
        edge(command_of((unsigned)t.launched), command_of(call));
        EXPECT_OK(cuStreamWaitEvent(t.stream[s], t.mark[draw(MARKS)], 0));
        return;
    }
    if (t.launched >= 0)
        edges((unsigned)t.launched, call);
    t.launched = (int)call;
    t.access[call] = branch[0];
    t.access[call + CALLS] = branch[1];
    EXPECT_OK(cuGraphLaunch(t.exec, t.stream[s]));
}

static void synchronise(unsigned call)
{
    unsigned s = draw(STREAMS), e = draw(EVENTS), kind = draw(9);
    bool done = true;
    if (kind < 3)
        EXPECT_OK(cuStreamSynchronize(t.stream[s]));
    else if (kind < 5)
        done = cuStreamQuery(t.stream[s]) == CUDA_SUCCESS;
    else if (kind < 7)
        EXPECT_OK(cuEventSynchronize(t.event[e]));
    else if (kind < 8)
        done = cuEventQuery(t.event[e]) == CUDA_SUCCESS;
    else
        EXPECT_OK(cuCtxSynchronize());
    if (!done)
        return;
    if (kind < 5 || kind == 8)
        waited(call, kind < 5 ? s : STREAMS);
    else if (t.recorded[e] >= 0)
        edge(command_of((unsigned)t.recorded[e]), host_after(call));
}

// The driver's number of the next call.
static uint64_t next_call(void)
{
    unsigned long long n = 0;
    EXPECT_ERROR(cuMemsetD8Async(0, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    char line[8192], *at = NULL;
    clearerr(diagnostics);
    while (fgets(line, sizeof line, diagnostics))
        at = strstr(line, "\"call\":\"call ");
    EXPECT(at && sscanf(at, "\"call\":\"call %llu", &n) == 1);
    return n + 1;
}

// What is the same at the start of each program.
static void begin_program(unsigned number)
{
    memset(&t.sure, 0, sizeof t.sure);
    memset(&t.hidden, 0, sizeof t.hidden);
    memset(t.access, 0, sizeof t.access);
    memset(t.recorded, -1, sizeof t.recorded);
    memset(t.signals, 0, sizeof t.signals);
    memset(t.assumes, 0, sizeof t.assumes);
    for (unsigned i = 0; i < CALLS; i++)
        t.stream_of[i] = STREAMS;
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        if (t.signal[i] != NOBODY) // the program before has left it so
            MUST(cardlessSemaphoreWait(t.semaphore[i].host, 0, UINT64_MAX));
        t.signal[i] = t.waiter[i] = NOBODY;
    }
    t.bytes = t.arena + number * BYTES;
    t.random = number + 1;
    t.launched = -1;
    if (number % GRAPHS == 0)
        make_graph();
    t.first_call = next_call();
}

static void end_program(void)
{
    MUST(cuCtxSynchronize());
    if (t.exec)
        MUST(cuGraphExecDestroy(t.exec));
    t.exec = NULL;
}

static void run_program(unsigned number)
{
    begin_program(number);
    unsigned accesses = 1 + draw(6); // of 20 calls: programs with few often have no race
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned what = draw(20);
        edge(i, host_after(i));
        if (what < accesses)
            access_bytes(i);
        else if (what < 7)
            use_semaphore(i);
        else if (what < 9 && t.exec)
            launch_or_wait(i);
        else if (what < 13)
            record_or_wait(i);
        else if (what < 19)
            synchronise(i);
        else
            read_bytes(i);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        if (!t.assumes[i])
            continue;
        assume_signals(CALLS, command_of(i)); // also later ones, if the wait ends late
        set_edge(&t.hidden, THE_END, command_of(i));
    }
    close_transitively(&t.sure);
    close_transitively(&t.hidden);
    end_program();
}

// ---- comparison ----

static bool reports_race(const char *line)
{
    unsigned long long newer, older;
    const char *of_newer = strstr(line, "\"call\":\"call "), *of_older = strstr(line, "(call ");
    if (!of_newer || !of_older || sscanf(of_newer, "\"call\":\"call %llu", &newer) != 1 ||
        sscanf(of_older, "(call %llu)", &older) != 1)
        return false;
    newer -= t.first_call;
    older -= t.first_call;
    if (newer >= CALLS || older >= CALLS)
        return false;
    bool race = false;
    for (unsigned i = 0; i < 4; i++)
        race = race ||
               is_race(&t.sure, (unsigned)newer + i % 2 * CALLS, (unsigned)older + i / 2 * CALLS);
    return race;
}

static unsigned count_races(const struct order *o)
{
    unsigned races = 0;
    for (unsigned i = 0; i < 2 * CALLS; i++)
        for (unsigned j = 0; j < i; j++)
            races += is_race(o, j, i);
    return races;
}

static void compare(const char *policy)
{
    char line[8192];
    unsigned with = 0, reports = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        unsigned found = 0;
        run_program(i);
        clearerr(diagnostics);
        while (fgets(line, sizeof line, diagnostics)) {
            found++;
            if (!reports_race(line)) {
                test_failed(__FILE__, __LINE__);
                printf("%s, program %u: these are in order: %s", policy, i, line);
            }
        }
        unsigned races = count_races(&t.hidden);
        if (races && !found) {
            test_failed(__FILE__, __LINE__);
            printf("%s, program %u: %u races, no report\n", policy, i, races);
        }
        with += races != 0;
        reports += found;
    }
    printf("# %s: %u of %u programs have races; %u reports\n", policy, with, PROGRAMS, reports);
    EXPECT(with > PROGRAMS / 10 && with < PROGRAMS);
}

static void random_programs(const char *policy)
{
    test_setting("CARDLESS_CHECK", "order");
    test_setting("CARDLESS_POLICY", policy);
    test_context();
    MUST(cuMemAlloc(&t.arena, ARENA_B));
    MUST(cuMemAlloc(&t.other, CALLS * BYTES));
    for (unsigned i = 0; i < LEGACY; i++)
        MUST(cuStreamCreate(&t.stream[i], i < 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    for (unsigned i = 0; i < EVENTS; i++)
        MUST(cuEventCreate(&t.event[i], CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < MARKS; i++)
        MUST(cuEventCreate(&t.mark[i], CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        t.semaphore[i] = binary();
        t.signal[i] = NOBODY;
    }
    EXPECT_ERROR(cuMemsetD8Async(0, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE); // makes the file
    diagnostics = fopen(test_diagnostics, "r");
    EXPECT(diagnostics != NULL);
    if (diagnostics)
        compare(policy);
}

TEST(eager)
{
    random_programs("eager");
}

TEST(lazy)
{
    random_programs("lazy");
}

TEST(seeded)
{
    random_programs("seed:5");
}

TESTS(CASE(eager), CASE(lazy), CASE(seeded))
