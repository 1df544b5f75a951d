// SPDX-License-Identifier: MIT
// Makes one recorded call again.
#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "replay_job.h"

// The tables name handles by the driver's objects, which are not known here.
bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size);
bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size)
{
    return false;
}

// What the table of entry points does not say.
static const struct {
    const char *pattern; // of names
    enum replay_reason reason;
} exceptions[] = {
    {"cuGL*", REPLAY_GRAPHICS},
    {"cuGraphicsGL*", REPLAY_GRAPHICS},
    {"cuGraphicsEGL*", REPLAY_GRAPHICS},
    {"cuEventCreateFromEGLSync", REPLAY_GRAPHICS},
    {"cuVDPAU*", REPLAY_GRAPHICS},
    {"cuGraphicsVDPAU*", REPLAY_GRAPHICS},
    {"cuGraphDebugDotPrint", REPLAY_OUTSIDE},
    {"cuLogs*", REPLAY_OUTSIDE},
    {"cuCheckpoint*", REPLAY_OUTSIDE},
    {"cuCoredumpSet*", REPLAY_OUTSIDE},
};
// Their outputs are times, or how far work has come.
static const char *const timed[] = {"cuEventElapsedTime*", "cardlessGetClock",
                                    "cardlessSemaphoreGetValue", "cardlessCardGetProcesses"};
// Other programs may open the memory.
static const char *const exports[] = {
    "cuMemExportToShareableHandle",
    "cuMemGetHandleForAddressRange",
    "cuMemPoolExport*",
    "cuIpcGetMemHandle",
};
// They ask if work has ended, and there is a call that waits for it.
static const struct {
    const char *query, *wait;
} queries[] = {
    {"cuStreamQuery", "cuStreamSynchronize"},
    {"cuStreamQuery_ptsz", "cuStreamSynchronize_ptsz"},
    {"cuEventQuery", "cuEventSynchronize"},
    {"cardlessQuery", "cardlessFinish"},
};

static const char *name_of(const struct replay *r, const struct trace_call *c)
{
    const char *name = c->entry == TRACE_NONE ? NULL : r->model->entries[c->entry].name;
    return name ? name : "";
}

// Whether a callback made the call, and not a function of the runtime.
static bool is_inside(const struct replay *r, uint32_t call)
{
    const struct trace_model *m = r->model;
    uint32_t depth = m->calls[call].depth;
    if (!strncmp(m->threads[m->calls[call].thread].name, "cardless ", strlen("cardless ")))
        return true; // a thread of the driver, which runs host functions
    for (uint32_t i = call; depth && i--;) {
        const struct trace_call *outer = &m->calls[i];
        if (outer->thread != m->calls[call].thread || outer->depth >= depth)
            continue;
        if (!outer->of_library)
            return true;
        depth = outer->depth;
    }
    return false;
}

static enum replay_reason reason_of(const struct replay *r, const struct replay_job *job)
{
    const char *name = name_of(r, job->call);
    for (unsigned i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (!fnmatch(exceptions[i].pattern, name, 0))
            return exceptions[i].reason;
    if (!job->entry || !r->functions[job->call->entry])
        return REPLAY_UNKNOWN;
    if (job->call->argument_count != job->entry->count)
        return REPLAY_ARGUMENTS;
    if (job->call->end == TRACE_NEVER)
        return REPLAY_OPEN;
    return is_inside(r, job->index) ? REPLAY_INSIDE : REPLAY_MADE;
}

// A query whose answer depends on time. If the work had ended in the recorded run, the program may
// rely on it, so the replay waits for it.
static CUresult settle(struct replay_job *job, CUresult result, uint32_t *made)
{
    const char *name = job->entry->name;
    for (unsigned i = 0; i < sizeof queries / sizeof *queries; i++) {
        if (strcmp(name, queries[i].query))
            continue;
        if (job->call->result == CUDA_ERROR_NOT_READY && result == CUDA_SUCCESS) {
            job->notes |= 1u << REPLAY_NOTE_TIME;
            return CUDA_ERROR_NOT_READY;
        }
        void *wait = result == CUDA_ERROR_NOT_READY && !job->call->result
                         ? dlsym(job->replay->library, queries[i].wait)
                         : NULL;
        if (!wait)
            return result;
        job->notes |= 1u << REPLAY_NOTE_TIME;
        ++*made;
        return job->entry->call(wait, job->values);
    }
    return result;
}

static bool matches(const char *name, const char *const *patterns, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!fnmatch(patterns[i], name, 0))
            return true;
    return false;
}

static bool compare(struct replay_job *job, CUresult result)
{
    char old[64], now[64];
    if (result != (CUresult)job->call->result) {
        trace_result_name(job->replay->model, job->call->result, old, sizeof old);
        trace_result_name(job->replay->model, result, now, sizeof now);
        snprintf(job->difference, sizeof job->difference, "the result was %s, and is now %s", old,
                 now);
        return false;
    }
    if (replay_outputs(job))
        return true;
    if (!matches(job->entry->name, timed, sizeof timed / sizeof *timed))
        return false;
    job->notes |= 1u << REPLAY_NOTE_TIME;
    return true;
}

static void tell(struct replay_job *job)
{
    struct replay_shared *s = job->replay->shared;
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&s->differs, &expected, job->index + 1, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        memcpy(s->difference, job->difference, sizeof s->difference);
}

static void make(struct replay_job *job, uint32_t *made)
{
    struct replay *r = job->replay;
    struct replay_call *state = &r->shared->calls[job->index];
    state->number = ++*made;
    state->state = REPLAY_RUNS;
    __atomic_add_fetch(&r->shared->progress, 1, __ATOMIC_RELAXED);
    CUresult result = job->entry->call(r->functions[job->call->entry], job->values);
    __atomic_add_fetch(&r->shared->progress, 1, __ATOMIC_RELAXED);
    // "The driver takes ownership of the file descriptor" of imports of external objects.
    job->takes = !result && !strncmp(job->entry->name, "cuImportExternal", 16);
    if (result != (CUresult)job->call->result)
        result = settle(job, result, made);
    pthread_mutex_lock(&r->lock);
    const bool same = compare(job, result);
    if (result)
        replay_function_drop(job);
    else if (matches(job->entry->name, exports, sizeof exports / sizeof *exports))
        job->notes |= 1u << REPLAY_NOTE_EXPORT;
    pthread_mutex_unlock(&r->lock);
    state->state = same ? REPLAY_SAME : REPLAY_DIFFERS;
    if (!same)
        tell(job);
}

void replay_one(struct replay *r, uint32_t call, uint32_t *made)
{
    const struct trace_call *c = &r->model->calls[call];
    struct replay_job job = {.replay = r, .call = c, .index = call};
    struct replay_call *state = &r->shared->calls[call];
    if (c->of_library) // the driver's calls inside are made
        return;
    job.entry = c->entry == TRACE_NONE ? NULL : r->entries[c->entry];
    trace_call_values(c, job.recorded);
    job.byte_count = trace_bytes_of(r->contents, call, &job.bytes);
    job.fd_count = trace_fds_of(r->contents, call, &job.fds);
    job.reason = reason_of(r, &job);
    state->thread = (uint32_t)gettid();
    pthread_mutex_lock(&r->lock);
    if (!job.reason)
        replay_prepare(&job);
    if (job.reason)
        replay_lose_outputs(&job);
    pthread_mutex_unlock(&r->lock);
    if (!job.reason)
        make(&job, made);
    else
        state->state = REPLAY_SKIPPED;
    state->reason = (uint8_t)job.reason;
    state->notes = (uint8_t)job.notes;
    replay_release(&job);
}
