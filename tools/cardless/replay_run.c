// SPDX-License-Identifier: MIT
// The child of `cardless replay`: a thread for each recorded one. A call begins after all calls
// have begun that began before it in the recorded run, and after those have returned that had
// returned by then.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "replay_job.h"

// The beginning or the end of a call.
struct event {
    uint64_t time;
    uint32_t call;
    bool is_end, done, is_moved; // is_moved: to the birth of memory
};

static struct {
    struct replay *replay;
    struct event *events;        // sorted by time
    size_t count, next;          // the first event that is not done
    uint32_t *begins, *ends;     // of the calls, in `events`
    uint32_t *first, *next_call; // the first call of each thread, and the next one of each call
    pthread_mutex_t lock;
    pthread_cond_t *moved; // by thread: its call may begin
} order = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->is_end != y->is_end)
        return x->is_end ? 1 : -1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static bool names(const struct trace_call *c, uint64_t address)
{
    uint64_t values[TRACE_ARGUMENTS_MAX];
    for (unsigned i = trace_call_values(c, values); i--;)
        if (values[i] == address)
            return true;
    return false;
}

// Whether work was submitted in this time that ended later. A call that waits for all work would
// then wait for work that the recorded call did not know of. Commands are in the order of their
// submission.
static bool submits_more(const struct trace_model *m, uint64_t from, uint64_t until)
{
    size_t low = 0, high = m->command_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->commands[middle].queued < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m->command_count && m->commands[low].queued < until; low++)
        if (m->commands[low].end > until)
            return true;
    return false;
}

// `submitted`: by call, when it submitted its first command, or TRACE_NEVER.
static void move_to_birth(const struct trace_memory *a, const uint64_t *submitted)
{
    if (!a->address || a->born_call == TRACE_NONE || a->born > submitted[a->born_call])
        return;
    struct event *begin = &order.events[2 * a->born_call];
    const struct trace_call *c = &order.replay->model->calls[a->born_call];
    if (a->born < begin->time || a->born > c->end)
        return;
    begin[0].time = begin[1].time = a->born;
    begin[0].is_moved = true;
}

static void move_to_death(const struct trace_memory *a)
{
    const struct trace_model *m = order.replay->model;
    if (!a->address || a->died_call == TRACE_NONE)
        return;
    struct event *begin = &order.events[2 * a->died_call];
    const struct trace_call *c = &m->calls[a->died_call];
    if (begin->is_moved || a->died < c->start || a->died > c->end || !names(c, a->address))
        return;
    begin[1].time = a->died;
    if (!submits_more(m, c->start, a->died))
        begin[0].time = a->died;
}

// Calls that overlap may get an address one after the other. So a call that makes memory counts as
// if it began and returned at the birth of that memory, and one that is given the address and ends
// memory, at its end. Calls that began meanwhile do not wait for this one because of that: it had
// submitted no work by then, and others cannot know of the memory.
static void move_to_memory(const struct trace_model *m, const uint64_t *submitted)
{
    for (size_t i = 0; i < m->memory_count; i++)
        move_to_birth(&m->memories[i], submitted);
    for (size_t i = 0; i < m->memory_count; i++)
        move_to_death(&m->memories[i]);
}

static bool order_open(struct replay *replay)
{
    const struct trace_model *m = replay->model;
    uint64_t *submitted = malloc((m->call_count + 1) * sizeof *submitted);
    order.replay = replay;
    order.events = calloc(2 * m->call_count + 1, sizeof *order.events);
    order.begins = calloc(m->call_count + 1, sizeof *order.begins);
    order.ends = calloc(m->call_count + 1, sizeof *order.ends);
    order.first = malloc((m->thread_count + 1) * sizeof *order.first);
    order.next_call = malloc((m->call_count + 1) * sizeof *order.next_call);
    order.moved = malloc((m->thread_count + 1) * sizeof *order.moved);
    if (!order.events || !order.begins || !order.ends || !order.moved || !submitted ||
        !order.first || !order.next_call || m->call_count > UINT32_MAX / 2) {
        free(submitted);
        return false;
    }
    for (size_t i = 0; i < m->thread_count; i++) {
        pthread_cond_init(&order.moved[i], NULL);
        order.first[i] = TRACE_NONE;
    }
    for (uint32_t i = (uint32_t)m->call_count; i--;) {
        order.next_call[i] = order.first[m->calls[i].thread];
        order.first[m->calls[i].thread] = i;
    }
    for (uint32_t i = 0; i < m->call_count; i++) {
        const struct trace_call *c = &m->calls[i];
        submitted[i] = TRACE_NEVER;
        order.events[order.count++] = (struct event){.time = c->start, .call = i};
        order.events[order.count++] = (struct event){
            .time = c->end > c->start ? c->end : c->start, .call = i, .is_end = true};
    }
    for (size_t i = m->command_count; i--;) // the first one comes last
        if (m->commands[i].call < m->call_count)
            submitted[m->commands[i].call] = m->commands[i].queued;
    move_to_memory(m, submitted);
    free(submitted);
    if (order.count)
        qsort(order.events, order.count, sizeof *order.events, compare_events);
    for (uint32_t i = 0; i < order.count; i++)
        (order.events[i].is_end ? order.ends : order.begins)[order.events[i].call] = i;
    return true;
}

// Wakes the one thread that may go on: only the call whose beginning is the first event that is not
// done may begin.
// Precondition: order.lock held.
static void mark(uint32_t event)
{
    order.events[event].done = true;
    while (order.next < order.count && order.events[order.next].done)
        order.next++;
    const struct event *e = order.next < order.count ? &order.events[order.next] : NULL;
    if (e && !e->is_end)
        pthread_cond_signal(&order.moved[order.replay->model->calls[e->call].thread]);
}

static void wait_for_turn(uint32_t call)
{
    pthread_mutex_lock(&order.lock);
    while (order.next < order.begins[call])
        pthread_cond_wait(&order.moved[order.replay->model->calls[call].thread], &order.lock);
    mark(order.begins[call]);
    pthread_mutex_unlock(&order.lock);
}

static void end_turn(uint32_t call)
{
    pthread_mutex_lock(&order.lock);
    mark(order.ends[call]);
    pthread_mutex_unlock(&order.lock);
}

static void *run_thread(void *argument)
{
    const uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint32_t made = 0;
    for (uint32_t i = order.first[thread]; i != TRACE_NONE; i = order.next_call[i]) {
        wait_for_turn(i);
        replay_one(order.replay, i, &made);
        end_turn(i);
    }
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct replay_entry *)a)->name, ((const struct replay_entry *)b)->name);
}

static bool find_functions(struct replay *r)
{
    const struct trace_model *m = r->model;
    r->functions = calloc(m->entry_count + 1, sizeof *r->functions);
    r->entries = calloc(m->entry_count + 1, sizeof *r->entries);
    for (size_t i = 0; r->functions && r->entries && i < m->entry_count; i++) {
        const struct replay_entry key = {.name = m->entries[i].name};
        if (!key.name)
            continue;
        r->entries[i] =
            bsearch(&key, replay_entries, replay_entry_count, sizeof key, compare_names);
        if (r->entries[i])
            r->functions[i] = dlsym(r->library, key.name);
    }
    return r->functions && r->entries;
}

static bool fail(struct replay *r, const char *what, const char *why)
{
    snprintf(r->shared->failure, sizeof r->shared->failure, "%s: %s", what, why);
    return false;
}

static bool run_threads(struct replay *r)
{
    const struct trace_model *m = r->model;
    pthread_t *threads = calloc(m->thread_count + 1, sizeof *threads);
    size_t started = 0;
    while (threads && started < m->thread_count &&
           !pthread_create(&threads[started], NULL, run_thread, (void *)(uintptr_t)started))
        started++;
    const bool works = threads && started == m->thread_count;
    for (size_t i = 0; works && i < started; i++)
        pthread_join(threads[i], NULL);
    if (works)
        free(threads);
    return works || fail(r, "the threads cannot be started", "out of memory");
}

bool replay_run(struct replay *r)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    pthread_mutex_init(&r->lock, NULL);
    if (!replay_map_open(r) || !replay_function_open(r) || !order_open(r))
        return fail(r, "the memory of the program cannot be reserved", "out of memory");
    if (lib_folder(folder, sizeof folder))
        return fail(r, "libcuda.so.1", "not found");
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    r->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!r->library)
        return fail(r, "libcuda.so.1", dlerror());
    if (!find_functions(r))
        return fail(r, "the functions cannot be found", "out of memory");
    return run_threads(r);
}
