// SPDX-License-Identifier: MIT
// Functions that stand in for those of the program.
//
// A function of the program in a stream may have written the pinned memory that later commands of
// the stream read. Their bytes are set before they are submitted. But if the function has not run
// by then, earlier commands of the stream may read or write the same memory first. So the function
// that stands in for it sets the bytes when it runs.
#include <stdlib.h>
#include <string.h>

#include "replay_job.h"

enum { WAITING_MOST = 1024 };

// A process replays one run.
static struct {
    struct replay *replay;
    bool *submits;                  // by call: it has submitted a command, and was not captured
    uint32_t waiting[WAITING_MOST]; // calls whose function has not run. Guarded by replay->lock
    unsigned count;
} functions;

bool replay_function_open(struct replay *replay)
{
    const struct trace_model *m = replay->model;
    functions.replay = replay;
    functions.submits = calloc(m->call_count + 1, sizeof *functions.submits);
    if (!functions.submits)
        return false;
    for (size_t i = 0; i < m->command_count; i++)
        if (m->commands[i].call < m->call_count)
            functions.submits[m->commands[i].call] = true;
    return true;
}

static bool is_function_call(const struct replay_entry *e)
{
    static const char *const names[] = {"cuLaunchHostFunc", "cuStreamAddCallback"};
    for (unsigned i = 0; e && i < sizeof names / sizeof *names; i++)
        if (!strncmp(e->name, names[i], strlen(names[i])))
            return true;
    return false;
}

bool replay_is_function_call(const struct replay_job *job)
{
    return is_function_call(job->entry) && functions.submits[job->index];
}

static uint64_t first_argument(const struct trace_call *c)
{
    uint64_t values[TRACE_ARGUMENTS_MAX] = {0};
    trace_call_values(c, values);
    return values[0];
}

static void drop(uint32_t call)
{
    for (unsigned i = 0; i < functions.count; i++)
        if (functions.waiting[i] == call)
            functions.waiting[i--] = functions.waiting[--functions.count];
}

// Sets the bytes that calls read that were submitted after this one, up to the next function of its
// stream.
static void run(uint32_t call)
{
    struct replay *r = functions.replay;
    const struct trace_model *m = r->model;
    const uint64_t stream = first_argument(&m->calls[call]);
    uint32_t end = call + 1;
    pthread_mutex_lock(&r->lock);
    drop(call);
    for (; end < m->call_count && r->shared->calls[end].state != REPLAY_WAITS; end++) {
        const struct trace_call *c = &m->calls[end];
        if (c->entry != TRACE_NONE && is_function_call(r->entries[c->entry]) &&
            first_argument(c) == stream)
            break;
    }
    while (--end > call) // the first reader of a byte comes last
        replay_refill(r, end);
    pthread_mutex_unlock(&r->lock);
}

static void CUDA_CB run_function(void *call)
{
    run((uint32_t)(uintptr_t)call);
}

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *call)
{
    run((uint32_t)(uintptr_t)call);
}

static CUresult empty_function(void)
{
    return CUDA_SUCCESS;
}

bool replay_function(struct replay_job *job, const char *type, uint8_t *value)
{
    const bool is_in_stream = replay_is_function_call(job);
    uint64_t now = (uintptr_t)empty_function;
    if (!strcmp(type, "void")) {
        if (!is_in_stream)
            return false;
        now = job->index;
        memcpy(value, &now, sizeof now);
        if (functions.count < WAITING_MOST)
            functions.waiting[functions.count++] = job->index;
        return true;
    }
    // Both return nothing, or a number that nobody reads.
    if (strcmp(type, "CUhostFn") != 0 && strcmp(type, "CUstreamCallback") != 0) {
        job->reason = REPLAY_FUNCTION;
        return true;
    }
    if (is_in_stream)
        now = strcmp(type, "CUhostFn") ? (uintptr_t)run_callback : (uintptr_t)run_function;
    memcpy(value, &now, sizeof now);
    job->notes |= 1u << REPLAY_NOTE_EMPTY;
    return true;
}

void replay_function_drop(const struct replay_job *job)
{
    drop(job->index);
}

// Finds the stream among the arguments.
static bool stream_of(const struct replay_job *job, uint64_t *stream)
{
    for (uint32_t i = 0; i < job->entry->count; i++) {
        const cardlessMember *m = &api_description.members[job->entry->first + i];
        if (strcmp(replay_name(api_description.shapes[m->shape].name), "CUstream") != 0)
            continue;
        *stream = job->recorded[i];
        return true;
    }
    return false;
}

bool replay_function_waits(const struct replay_job *job)
{
    uint64_t stream;
    if (!functions.count || !stream_of(job, &stream))
        return false;
    for (unsigned i = 0; i < functions.count; i++)
        if (first_argument(&functions.replay->model->calls[functions.waiting[i]]) == stream)
            return true;
    return false;
}
