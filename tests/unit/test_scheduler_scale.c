// SPDX-License-Identifier: MIT
// The scheduler under load: its work should be linear in commands plus dependencies, its memory
// should go back, and the cost of synchronising should not depend on the number of idle streams.
// Counts steps and bytes instead of time.
//   test_scheduler_scale [COMMANDS [STREAMS]]
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "condition.h"
#include "context.h"
#include "event.h"
#include "lock.h"
#include "scheduler.h"
#include "stream.h"

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

static atomic_llong allocated_B, peak_B;

static void note(long long change_B)
{
    long long now = atomic_fetch_add(&allocated_B, change_B) + change_B, peak = peak_B;
    while (now > peak && !atomic_compare_exchange_weak(&peak_B, &peak, now))
        ;
}

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
    note(p ? (long long)malloc_usable_size(p) : 0);
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
    if (q)
        note((long long)malloc_usable_size(q) - before);
    return q;
}
void __wrap_dm_free(void *p)
{
    note(p ? -(long long)malloc_usable_size(p) : 0);
    __real_dm_free(p);
}

// ---- a context and its streams ----

static void free_context(struct em_object *object)
{
    dm_free(((struct em_context *)object)->default_stream);
    dm_free(object);
}

static struct em_context *new_context(void)
{
    struct em_context *c = dm_calloc(1, sizeof *c);
    CHECK(c, "out of memory");
    c->base.object.type = EM_CONTEXT;
    c->base.object.references = 1;
    c->base.object.finish = free_context;
    em_self.current = c;
    return c;
}

static void end_context(struct em_context *c)
{
    em_streams_finish(c);
    em_lock();
    while (c->base.objects)
        em_object_retire(c->base.objects);
    em_object_unref(&c->base.object);
    em_unlock();
    em_self.current = NULL;
}

static struct em_stream *get(CUstream handle)
{
    struct em_stream *s;
    MUST(em_stream_get(handle, &s));
    em_stream_put(s); // the context keeps it
    return s;
}

static struct em_stream **new_streams(unsigned count, unsigned flags)
{
    struct em_stream **all = calloc(count, sizeof *all);
    for (unsigned i = 0; i < count; i++) {
        CUstream h;
        MUST(em_stream_create(em_self.current, flags, 0, &h));
        all[i] = get(h);
    }
    return all;
}

// Numbers that are the same in each run.
static uint64_t random_state = 1;
static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

static uint64_t steps(void)
{
    em_lock();
    uint64_t n = em_scheduler.steps;
    em_unlock();
    return n;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// ---- commands ----

// Checks that a stream's commands run in order, one at a time.
struct work {
    struct em_command command;
    uint64_t *last, number;
};
static uint64_t ran;
static CUresult run_work(struct em_command *c)
{
    struct work *w = (struct work *)c;
    CHECK(*w->last + 1 == w->number, "command %llu runs after command %llu of its stream",
          (unsigned long long)w->number, (unsigned long long)*w->last);
    *w->last = w->number;
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}
static const struct em_command_ops work_ops = {.name = "work", .run = run_work};

static bool gate_is_open;
static struct em_condition gate;
static bool gate_ready(struct em_command *c)
{
    (void)c;
    return gate_is_open;
}
static CUresult run_nothing(struct em_command *c)
{
    (void)c;
    return CUDA_SUCCESS;
}
static const struct em_command_ops gate_ops = {
    .name = "gate", .ready = gate_ready, .run = run_nothing};

static void close_gate(struct em_stream *s)
{
    struct em_command c = {.ops = &gate_ops, .size_B = sizeof c, .condition = &gate};
    gate_is_open = false;
    MUST(em_submit(s, &c, EM_SUBMIT_ASYNC));
}
static void open_gate(void)
{
    em_lock();
    gate_is_open = true;
    em_condition_notify(&gate);
    em_progress();
    em_unlock();
}

// ---- random dependencies ----

struct load {
    unsigned stream_count;
    struct em_stream **streams;
    uint64_t *submitted, *last; // of each stream
    struct em_event **events;   // one a stream
    uint64_t commands, edges;
};

static void begin_load(struct load *l, unsigned stream_count)
{
    *l = (struct load){.stream_count = stream_count};
    l->streams = new_streams(stream_count, 0);
    l->submitted = calloc(stream_count, sizeof *l->submitted);
    l->last = calloc(stream_count, sizeof *l->last);
    l->events = calloc(stream_count, sizeof *l->events);
    for (unsigned i = 0; i < stream_count; i++) {
        CUevent h;
        MUST(em_event_create(em_self.current, CU_EVENT_DISABLE_TIMING, &h));
        MUST(em_event_get(h, &l->events[i]));
        em_event_put(l->events[i]);
    }
}

static void end_load(struct load *l)
{
    free(l->streams);
    free(l->submitted);
    free(l->last);
    free(l->events);
}

// One command, and with some chance a dependency on another stream, on all streams (through the
// legacy stream), or of all streams.
static void submit_random(struct load *l, struct em_stream *legacy)
{
    unsigned i = (unsigned)random_below(l->stream_count);
    if (random_below(2)) {
        unsigned other = (unsigned)random_below(l->stream_count);
        MUST(em_event_record(l->events[other], l->streams[other]));
        MUST(em_event_wait(l->events[other], l->streams[i]));
        l->commands += 2;
        l->edges++;
    }
    if (!random_below(500)) {
        struct em_command c = {.ops = &gate_ops, .size_B = sizeof c, .condition = &gate};
        MUST(em_submit(legacy, &c, EM_SUBMIT_ASYNC));
        l->commands++;
    }
    struct work w = {.command = {.ops = &work_ops, .size_B = sizeof w},
                     .last = &l->last[i],
                     .number = ++l->submitted[i]};
    MUST(em_submit(l->streams[i], &w.command, EM_SUBMIT_ASYNC));
    l->commands++;
}

// Submits waves of commands that all wait, releases each wave, and returns the steps per command.
static double run_load(uint64_t count, unsigned stream_count, bool print)
{
    enum { WAVE = 100000 }; // commands that wait at the same time
    struct em_context *context = new_context();
    struct em_stream *legacy = get(NULL);
    struct load l;
    begin_load(&l, stream_count);
    long long before_B = allocated_B;
    uint64_t before = steps(), ran_before = ran;
    double t0 = now_s();
    while (l.commands < count) {
        uint64_t wave_end = l.commands + WAVE < count ? l.commands + WAVE : count;
        close_gate(legacy);
        l.commands++;
        while (l.commands < wave_end)
            submit_random(&l, legacy);
        open_gate();
        MUST(em_context_synchronize(context));
    }
    double t1 = now_s();
    uint64_t used = steps() - before, all = 0;
    for (unsigned i = 0; i < stream_count; i++) {
        CHECK(l.last[i] == l.submitted[i], "stream %u ran %llu of %llu commands", i,
              (unsigned long long)l.last[i], (unsigned long long)l.submitted[i]);
        all += l.submitted[i];
    }
    CHECK(ran - ran_before == all, "%llu of %llu commands ran",
          (unsigned long long)(ran - ran_before), (unsigned long long)all);
    // A wave's commands were on the heap; only the markers of the events remain.
    long long kept_B = allocated_B - before_B, wave_B = peak_B - before_B;
    CHECK(kept_B <= 256LL * stream_count, "%lld bytes are still allocated", kept_B);
    CHECK(wave_B <= 640LL * WAVE, "%lld bytes were allocated at the peak", wave_B);
    if (print)
        printf("%8llu commands, %6u streams: %.2f steps, %5.0f ns, at most %.1f MB, kept %.2f MB\n",
               (unsigned long long)l.commands, stream_count, (double)used / (double)l.commands,
               (t1 - t0) * 1e9 / (double)l.commands, (double)wave_B / 1e6, (double)kept_B / 1e6);
    double per_command = (double)used / (double)(l.commands + l.edges);
    end_load(&l);
    end_context(context);
    return per_command;
}

static void test_linear(uint64_t count, unsigned stream_count)
{
    double few = run_load(count / 4, stream_count, true);
    double many = run_load(count, stream_count, true);
    // 4 states, and at most 2 edges that are added and removed; the ready queue adds the logarithm
    // of the streams that are ready at the same time.
    CHECK(many < 24, "%.2f steps a command", many);
    CHECK(many < few * 1.5, "%.2f steps a command after %.2f with a quarter of them", many, few);
}

// ---- idle streams ----

static const struct em_command_ops nothing_ops = {.name = "nothing", .run = run_nothing};

static void nop(struct em_stream *s, int how)
{
    struct em_command c = {.ops = &nothing_ops, .size_B = sizeof c};
    MUST(em_submit(s, &c, how));
}

// The steps of calls that synchronise, while one stream of `count` is busy.
static uint64_t steps_among_idle(unsigned count)
{
    struct em_context *context = new_context();
    struct em_stream *legacy = get(NULL);
    struct em_stream **all = new_streams(count, 0);
    uint64_t before = steps();
    for (int i = 0; i < 100; i++) {
        nop(all[i % count], EM_SUBMIT_ASYNC);
        nop(legacy, EM_SUBMIT_ASYNC);
        MUST(em_context_synchronize(context));
        MUST(em_stream_synchronize(legacy));
        MUST(em_stream_query(legacy));
        close_gate(all[0]);
        nop(legacy, EM_SUBMIT_ASYNC);
        nop(all[1], EM_SUBMIT_ASYNC);
        CHECK(em_stream_query(legacy) == CUDA_ERROR_NOT_READY, "the legacy stream does not wait");
        CHECK(em_stream_query(all[1]) == CUDA_ERROR_NOT_READY, "a blocking stream does not wait");
        open_gate();
        MUST(em_stream_query(all[1]));
    }
    uint64_t used = steps() - before;
    free(all);
    end_context(context);
    return used;
}

static void test_idle_streams(void)
{
    uint64_t few = steps_among_idle(2), many = steps_among_idle(10000);
    printf("100 rounds of synchronising: %llu steps among 2 streams, %llu among 10000\n",
           (unsigned long long)few, (unsigned long long)many);
    CHECK(few == many, "%llu steps, and %llu among idle streams", (unsigned long long)few,
          (unsigned long long)many);
}

// A legacy command after n blocking ones, and n blocking ones after a legacy command, cost n edges
// together, not n for each legacy command.
static uint64_t steps_of_legacy(unsigned count)
{
    struct em_context *context = new_context();
    struct em_stream *legacy = get(NULL);
    struct em_stream **all = new_streams(count, 0);
    uint64_t before = steps();
    close_gate(all[0]);
    for (unsigned i = 0; i < count; i++)
        nop(all[i], EM_SUBMIT_ASYNC);
    for (unsigned i = 0; i < count; i++)
        nop(legacy, EM_SUBMIT_ASYNC);
    for (unsigned i = 0; i < count; i++)
        nop(all[i], EM_SUBMIT_ASYNC);
    open_gate();
    MUST(em_context_synchronize(context));
    uint64_t used = steps() - before;
    free(all);
    end_context(context);
    return used;
}

static void test_legacy(void)
{
    uint64_t few = steps_of_legacy(100), many = steps_of_legacy(1000);
    printf("legacy and blocking streams: %llu steps for 100 each, %llu for 1000\n",
           (unsigned long long)few, (unsigned long long)many);
    CHECK(many < few * 15, "%llu steps after %llu for a tenth", (unsigned long long)many,
          (unsigned long long)few);
}

int main(int argc, char **argv)
{
    uint64_t commands = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
    unsigned streams = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 10000;
    setenv("CARDLESS_DIAGNOSTICS", "off", 1);
    __atomic_store_n(&em_driver_state, EM_DRIVER_READY, __ATOMIC_RELEASE);
    test_linear(commands, streams);
    test_idle_streams();
    test_legacy();
    em_lock();
    CHECK(!em_object_count(EM_STREAM), "streams are left");
    em_unlock();
    printf("ok\n");
    return 0;
}
