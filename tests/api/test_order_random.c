// SPDX-License-Identifier: MIT
// The ordering checker against a reference, on random programs of copies, fills, events and
// synchronising calls. The reference knows the calls of a program and the rules of the manual, and
// computes the transitive closure of all edges. Each report must name two accesses that it leaves
// unordered, and a program with such accesses must be reported.
#include "../harness.h"

enum {
    PROGRAMS = SANITIZED ? 100 : 1000, // for each policy
    CALLS = 40,
    NODES = 2 * CALLS, // call i is node i, its command is node CALLS + i
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
    struct access access[CALLS];
    unsigned stream_of[CALLS]; // of the command; STREAMS: the call submits no command
    int recorded[EVENTS];      // by which call; -1: not recorded
    bool after[NODES][NODES];  // whether the second node is a direct successor of the first; then
                               // whether it is any successor
} t;

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

static void edge(unsigned from, unsigned to)
{
    t.after[from][to] = true;
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
    for (unsigned i = 0; i < call; i++)
        if (t.stream_of[i] < STREAMS && implies(t.stream_of[i], stream))
            edge(command_of(i), command_of(call));
}

// The host goes on after all work of a stream, or of all streams (STREAMS).
static void waited(unsigned call, unsigned stream)
{
    for (unsigned i = 0; i <= call; i++) {
        unsigned s = t.stream_of[i];
        bool covered = stream == STREAMS || s == stream || (stream == LEGACY && is_ordered(s));
        if (s < STREAMS && covered && call + 1 < CALLS)
            edge(command_of(i), call + 1);
    }
}

static void close_transitively(void)
{
    for (unsigned i = 0; i < NODES; i++)
        for (unsigned j = 0; j < NODES; j++)
            for (unsigned k = 0; t.after[j][i] && k < NODES; k++)
                t.after[j][k] |= t.after[i][k];
}

static bool is_before(unsigned a, unsigned b)
{
    return t.after[command_of(a)][command_of(b)];
}

static bool is_race(unsigned a, unsigned b)
{
    const struct access *x = &t.access[a], *y = &t.access[b];
    return (x->writes || y->writes) && x->first < y->end && y->first < x->end && !is_before(a, b) &&
           !is_before(b, a);
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

static void record_or_wait(unsigned call)
{
    unsigned s = draw(STREAMS), e = draw(EVENTS);
    if (draw(2)) {
        submitted(call, s);
        EXPECT_OK(cuEventRecord(t.event[e], t.stream[s]));
        t.recorded[e] = (int)call;
        return;
    }
    if (t.recorded[e] >= 0) {
        submitted(call, s);
        edge(command_of((unsigned)t.recorded[e]), command_of(call));
    }
    EXPECT_OK(cuStreamWaitEvent(t.stream[s], t.event[e], 0));
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
    else if (t.recorded[e] >= 0 && call + 1 < CALLS)
        edge(command_of((unsigned)t.recorded[e]), call + 1);
}

// The driver's number of the next call.
static uint64_t next_call(void)
{
    unsigned long long n = 0;
    EXPECT_ERROR(cuMemsetD8Async(0, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    const char *at = strstr(test_last_line(), "\"call\":\"call ");
    EXPECT(at && sscanf(at, "\"call\":\"call %llu", &n) == 1);
    return n + 1;
}

static void run_program(unsigned number)
{
    memset(t.after, 0, sizeof t.after);
    memset(t.access, 0, sizeof t.access);
    memset(t.recorded, -1, sizeof t.recorded);
    for (unsigned i = 0; i < CALLS; i++)
        t.stream_of[i] = STREAMS;
    t.bytes = t.arena + number * BYTES;
    t.random = number + 1;
    unsigned accesses = 1 + draw(6); // of 20 calls: programs with few often have no race
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned what = draw(20);
        if (i + 1 < CALLS)
            edge(i, i + 1);
        if (what < accesses)
            access_bytes(i);
        else if (what < 13)
            record_or_wait(i);
        else if (what < 19)
            synchronise(i);
        else
            read_bytes(i);
    }
    close_transitively();
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
    return newer < CALLS && older < CALLS && is_race((unsigned)newer, (unsigned)older);
}

static unsigned count_races(void)
{
    unsigned races = 0;
    for (unsigned i = 0; i < CALLS; i++)
        for (unsigned j = 0; j < i; j++)
            races += is_race(j, i);
    return races;
}

static void compare(const char *policy)
{
    char line[8192];
    unsigned with = 0, reports = 0;
    FILE *f = fopen(test_diagnostics, "r");
    EXPECT(f != NULL);
    while (f && fgets(line, sizeof line, f))
        continue;
    for (unsigned i = 0; f && i < PROGRAMS; i++) {
        unsigned found = 0;
        run_program(i);
        MUST(cuCtxSynchronize());
        clearerr(f);
        while (fgets(line, sizeof line, f)) {
            found++;
            if (!reports_race(line)) {
                test_failed(__FILE__, __LINE__);
                printf("%s, program %u: these are in order: %s", policy, i, line);
            }
        }
        unsigned races = count_races();
        if (!found != !races) {
            test_failed(__FILE__, __LINE__);
            printf("%s, program %u: %u races, %u reports\n", policy, i, races, found);
        }
        with += races != 0;
        reports += found;
        t.first_call += CALLS + 1;
    }
    printf("# %s: %u of %u programs have races; %u reports\n", policy, with, PROGRAMS, reports);
    EXPECT(with > PROGRAMS / 10 && with < PROGRAMS);
    if (f)
        fclose(f);
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
    t.first_call = next_call();
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
