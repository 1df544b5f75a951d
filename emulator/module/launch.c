// SPDX-License-Identifier: MIT
// Launches: checks the context, builds the command and issues it.
#include "launch_command.h"

#include <string.h>

#include "access.h"
#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "describe.h"
#include "error.h"
#include "event.h"
#include "guard.h"
#include "lock.h"
#include "record.h"
#include "stream.h"
#include "trace.h"

enum { UPDATABLE = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE };

void em_launch_note(const struct em_launch_config *config, const struct em_code *code,
                    const unsigned char *arguments)
{
    struct em_text *note = dm_calloc(1, sizeof *note);
    if (!note)
        return;
    em_text_put(note, "%s<<<(%u,%u,%u), (%u,%u,%u), %u>>>(", code->name, config->blocks.x,
                config->blocks.y, config->blocks.z, config->threads.x, config->threads.y,
                config->threads.z, config->shared_B);
    for (unsigned i = 0; i < code->parameter_count; i++) {
        char text[64];
        code->executor->print(code, i, arguments + code->parameters[i].offset_B, text, sizeof text);
        em_text_put(note, "%s%s", i ? ", " : "", text);
    }
    em_text_put(note, ")");
    em_trace_note(note);
}

static CUresult check_context(const struct em_function *f, const struct em_stream *stream)
{
    return f->object.context == stream->object.context
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_HANDLE,
                         "kernel %s was loaded in another context than that of the stream",
                         f->code->name);
}

// The launch attributes with events record them after the kernel, when it has started and
// completed.
static CUresult record_events(const struct em_launch_attributes *attributes,
                              struct em_stream *stream)
{
    CUresult r = CUDA_SUCCESS;
    for (int i = 0; i < 2 && !r; i++) {
        struct em_event *e;
        if (!attributes->completion[i])
            continue;
        r = em_event_get(attributes->completion[i], &e);
        if (r)
            break;
        r = em_event_record(e, stream);
        em_event_put(e);
    }
    return r;
}

// "This attribute is graphs-only, and passing it to a launch in a non-capturing stream will result
// in an error", whatever its value (recorded: x_runtime_k launch_ex/attribute-13-value-2). A wrong
// value leaves the capture valid (recorded: updatable_nodes, updatable/10).
static CUresult check_updatable(const CUlaunchAttributeValue *values, bool captured)
{
    const int value = values[UPDATABLE].deviceUpdatableKernelNode.deviceUpdatable;
    if (!captured)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE is for captured launches "
                       "and kernel nodes only");
    return value == 0 || value == 1
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "deviceUpdatable (%d) must be 0 or 1", value);
}

// A detached launch has no reference to its function: nobody can destroy that without em_lock, and
// whoever takes em_lock adopts the launch first.
static void adopt_launch(void *argument)
{
    em_launch_hold(argument);
    em_command_adopt(argument);
}

// Whether nothing can hold the launch up, and nobody can tell whether it was entered into the
// scheduler: a kernel without objects that runs in place (detached.h).
static bool runs_detached(struct em_launch_command *c, const struct em_stream *stream)
{
    const struct em_code *code = c->function->code;
    return code->executor->detaches && !code->objects && !code->prints && !code->allocates &&
           !c->cooperative && !em_recording && em_stream_may_detach(stream) &&
           em_accesses_are_plain(&c->command);
}

// The call ends guarded calls if it has more to do at its end.
static void end_guarded(void)
{
    struct em_thread *self = em_thread();
    self->in_guard = self->cancel_off;
    if (!self->cancel_off)
        dm_guard_ends();
}

CUresult em_launch(const struct em_launch_config *config, struct em_stream *stream)
{
    em_assert_unlocked();
    struct em_function *f;
    struct em_launch_space space;
    CUresult r;
    const bool captured = em_stream_is_captured(stream);
    if (em_unlikely(config->attributes.given >> UPDATABLE & 1)) {
        r = check_updatable(config->attributes.values, captured);
        if (r)
            return r;
    }
    if (captured) {
        r = em_capture->add_launch(stream, config);
        return r ? r : record_events(&config->attributes, stream);
    }
    dm_guard_begins();
    em_cancel_off_if_asynchronous();
    em_lock_briefly();
    r = em_function_to_launch(config->function, &f);
    if (!r)
        r = check_context(f, stream);
    if (!r)
        r = em_launch_build(config, f, &space);
    if (em_likely(!r)) {
        if (em_unlikely(em_tracing_text))
            em_launch_note(config, f->code, (unsigned char *)space.at + space.at->arguments_at);
        if (em_likely(runs_detached(space.at, stream))) {
            space.at->detached = true;
            r = em_issue_detached(stream, &space.at->command, adopt_launch);
        } else {
            em_cancel_off();
            em_launch_hold(space.at);
            r = em_issue(stream, &space.at->command, EM_SUBMIT_ASYNC);
            em_unlock();
        }
        em_launch_space_free(&space);
    } else {
        em_unlock();
    }
    end_guarded();
    if (em_unlikely(config->attributes.given) && !r)
        r = record_events(&config->attributes, stream);
    return r;
}

CUresult em_launch_old(CUfunction function, int width, int height, struct em_stream *stream)
{
    struct em_function *f;
    struct em_old_arguments *old = NULL;
    em_lock();
    CUresult r = em_function_find(function, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r && (!f->old || !f->old->threads.x))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the function has no block; call cuFuncSetBlockShape first");
    // A copy, because another thread may set arguments meanwhile.
    if (!r)
        old = dm_alloc(sizeof *old);
    if (!r && !old)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a launch");
    if (!r)
        *old = *f->old;
    em_unlock();
    if (r)
        return r;
    size_t size_B = old->size_B;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, old->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size_B, CU_LAUNCH_PARAM_END};
    r = em_launch(&(struct em_launch_config){.function = function,
                                             .blocks = {width > 0 ? (unsigned)width : 0,
                                                        height > 0 ? (unsigned)height : 0, 1},
                                             .threads = old->threads,
                                             .shared_B = old->shared_B,
                                             .extra = extra},
                  stream);
    dm_free(old);
    return r;
}
