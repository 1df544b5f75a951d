// SPDX-License-Identifier: MIT
// The commands that signal semaphores and wait for them.
#include "semaphore_command.h"

#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "deadlock.h"
#include "external_semaphore.h"
#include "lock.h"
#include "order.h"
#include "record.h"
#include "scheduler.h"
#include "semaphore_check.h"
#include "stream.h"

// One semaphore of a command.
struct step {
    struct em_external_semaphore *semaphore; // a reference
    uint64_t value;
    uint64_t mark; // of a binary semaphore's signal, for the ordering checker
};

// The steps follow in the same block of memory, so that a byte copy of the command is complete.
//
// A wait acquires its semaphores one after the other, in the order of the call, and parks on the
// condition of the first one that it cannot acquire. So a binary semaphore late in the list stays
// signalled until its turn, as it does on a card.
struct semaphores {
    struct em_command command;
    unsigned count, done; // a wait has acquired `done` semaphores
    bool acquired;        // and by `ready` the next one
    bool reported;        // S03
};

// A command with at most FEW steps needs no memory unless it has to wait.
enum { FEW = 4 };
struct few_semaphores {
    struct semaphores head;
    struct step steps[FEW];
};

static struct step *steps_of(const struct semaphores *s)
{
    return (struct step *)((char *)s + offsetof(struct few_semaphores, steps));
}

static struct em_payload *payload_of(const struct semaphores *s, unsigned step)
{
    return steps_of(s)[step].semaphore->payload;
}

// ---- the commands ----

static void drop_steps(struct semaphores *s, unsigned count)
{
    em_assert_locked();
    for (unsigned i = 0; i < count; i++)
        em_object_unref(&steps_of(s)[i].semaphore->object);
}

static CUresult clone_steps(struct em_command *copy)
{
    const struct semaphores *s = (const struct semaphores *)copy;
    em_assert_locked();
    for (unsigned i = 0; i < s->count; i++)
        em_object_ref(&steps_of(s)[i].semaphore->object);
    return CUDA_SUCCESS;
}

static void release_steps(struct em_command *command)
{
    struct semaphores *s = (struct semaphores *)command;
    drop_steps(s, s->count);
}

// For the ordering checker: who waits may go on before the command has completed.
static void order_signals(struct em_command *command)
{
    const struct semaphores *s = (const struct semaphores *)command;
    em_lock();
    for (unsigned i = 0; i < s->count; i++)
        steps_of(s)[i].mark =
            em_payload_order_signal(payload_of(s, i), command, steps_of(s)[i].value);
    em_unlock();
}

static void order_waits(struct em_command *command)
{
    const struct semaphores *s = (const struct semaphores *)command;
    em_lock();
    for (unsigned i = 0; i < s->count; i++)
        em_payload_order_wait(payload_of(s, i), command, steps_of(s)[i].value, steps_of(s)[i].mark);
    em_unlock();
}

// Called before a signal, and after a wait.
static void record_steps(const struct em_command *command, bool signals)
{
    const struct semaphores *s = (const struct semaphores *)command;
    em_lock();
    for (unsigned i = 0; i < s->count; i++) {
        const struct em_payload *p = payload_of(s, i);
        const bool binary = p->semaphore.kind == DM_SEMAPHORE_BINARY;
        const uint64_t value = binary ? 0 : steps_of(s)[i].value;
        if (signals)
            em_record_signalled((uintptr_t)p, value, command->sequence);
        else
            em_record_awaited((uintptr_t)p, value, !binary, command->sequence, "semaphore");
    }
    em_unlock();
}

static CUresult run_signal(struct em_command *command)
{
    const struct semaphores *s = (const struct semaphores *)command;
    if (em_unlikely(em_order_on))
        order_signals(command);
    if (em_unlikely(em_recording))
        record_steps(command, true);
    for (unsigned i = 0; i < s->count; i++) {
        const struct step *step = &steps_of(s)[i];
        em_payload_signal(step->semaphore->payload, step->value, step->mark,
                          &step->semaphore->object);
    }
    return CUDA_SUCCESS;
}

// Commands of this process that wait for the semaphores go on without the help of the thread that
// watches them.
static void finish_signal(struct em_command *command)
{
    if (!command->result) // otherwise nothing was signalled
        em_outside_ask_changed();
}

static bool acquire(const struct semaphores *s)
{
    struct step *step = &steps_of(s)[s->done];
    return dm_semaphore_acquire_mark(&payload_of(s, s->done)->semaphore, step->value, &step->mark);
}

// Reports if another stream waits for the same binary semaphore.
static void check_waits(struct semaphores *s)
{
    const struct em_payload *p = payload_of(s, s->done);
    const struct em_command *other = p->source.condition.first;
    if (s->reported || p->semaphore.kind != DM_SEMAPHORE_BINARY || !other ||
        other->stream == s->command.stream) // this one, perhaps as a step of a graph
        return;
    char text[128];
    s->reported = true;
    em_mistake(S03, CUDA_SUCCESS,
               "two streams wait for %s at the same time, and one signal ends only one of the "
               "waits",
               em_object_text(&steps_of(s)[s->done].semaphore->object, text, sizeof text));
}

static bool wait_ready(struct em_command *command)
{
    struct semaphores *s = (struct semaphores *)command;
    em_assert_locked();
    if (s->done == s->count)
        return true;
    s->acquired = s->acquired || acquire(s);
    if (!s->acquired)
        check_waits(s);
    return s->acquired;
}

static CUresult run_wait(struct em_command *command)
{
    struct semaphores *s = (struct semaphores *)command;
    s->done += s->acquired;
    s->acquired = false;
    while (s->done < s->count && acquire(s))
        s->done++;
    if (em_unlikely(em_order_on) && s->done == s->count)
        order_waits(command);
    if (em_unlikely(em_recording) && s->done == s->count)
        record_steps(command, false);
    if (s->done == s->count)
        return CUDA_SUCCESS;
    command->condition = &payload_of(s, s->done)->source.condition;
    return EM_RUN_AGAIN;
}

static const struct em_command_ops signal_ops;

// Whether the command signals what a wait, the argument, needs next.
static bool brings(const struct em_command *c, const void *argument)
{
    const struct semaphores *wait = argument, *s = (const struct semaphores *)c;
    const struct em_payload *p = payload_of(wait, wait->done);
    if (c->ops != &signal_ops)
        return false;
    for (unsigned i = 0; i < s->count; i++)
        if (payload_of(s, i)->semaphore.identity == p->semaphore.identity &&
            (p->semaphore.kind == DM_SEMAPHORE_BINARY ||
             steps_of(s)[i].value >= steps_of(wait)[wait->done].value))
            return true;
    return false;
}

static void explain_wait(const struct em_command *c, struct em_need *need)
{
    const struct semaphores *s = (const struct semaphores *)c;
    char text[128];
    if (s->done >= s->count)
        return;
    const struct em_payload *p = payload_of(s, s->done);
    em_object_text(&steps_of(s)[s->done].semaphore->object, text, sizeof text);
    if (p->semaphore.kind == DM_SEMAPHORE_BINARY)
        snprintf(need->text, sizeof need->text, "a signal of %s", text);
    else
        snprintf(need->text, sizeof need->text, "value %llu of %s, which is %llu now",
                 (unsigned long long)steps_of(s)[s->done].value, text,
                 (unsigned long long)dm_semaphore_value(&p->semaphore));
    em_need_find(need, brings, s);
}

static const struct em_command_ops signal_ops = {.name = "semaphore signal",
                                                 .run = run_signal,
                                                 .finish = finish_signal,
                                                 .clone = clone_steps,
                                                 .release = release_steps};
static const struct em_command_ops wait_ops = {.name = "semaphore wait",
                                               .ready = wait_ready,
                                               .run = run_wait,
                                               .explain = explain_wait,
                                               .clone = clone_steps,
                                               .release = release_steps};
static const struct em_command_ops wait_none_ops = {
    .name = "semaphore wait", .run = run_wait, .clone = clone_steps, .release = release_steps};
// For more than one semaphore.
static const struct em_command_ops wait_all_ops = {.name = "semaphore wait",
                                                   .ready = wait_ready,
                                                   .run = run_wait,
                                                   .explain = explain_wait,
                                                   .clone = clone_steps,
                                                   .release = release_steps,
                                                   .resumes = true};

// ---- prepare and issue ----

// The driver refuses a stream of another context of the device too (recorded with the card's own
// Vulkan: both kinds of semaphores, signals and waits, streams and the NULL stream, whichever
// context is current).
static CUresult check_stream(const struct em_stream *stream, const struct semaphores *s)
{
    char text[128];
    for (unsigned i = 0; i < s->count; i++) {
        const struct em_object *o = &steps_of(s)[i].semaphore->object;
        if (o->context != stream->object.context)
            return em_mistake(S08, CUDA_ERROR_INVALID_VALUE,
                              "extSemArray[%u] is %s, which was imported in another context than "
                              "the stream's",
                              i, em_object_text(o, text, sizeof text));
    }
    return CUDA_SUCCESS;
}

// The arguments of a call.
struct semaphore_call {
    const struct em_command_ops *ops;
    unsigned count;
    const CUexternalSemaphore *list;
    const void *params;
    em_semaphore_request_fn *request;
};

static struct semaphore_call signal_call(unsigned count, const CUexternalSemaphore *list,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params)
{
    return (struct semaphore_call){&signal_ops, count, list, params, em_signal_request};
}

static struct semaphore_call wait_call(unsigned count, const CUexternalSemaphore *list,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params)
{
    const struct em_command_ops *ops = &wait_none_ops;
    if (count)
        ops = count == 1 ? &wait_ops : &wait_all_ops;
    return (struct semaphore_call){ops, count, list, params, em_wait_request};
}

static uint64_t size_of(unsigned count)
{
    return offsetof(struct few_semaphores, steps) + count * (uint64_t)sizeof(struct step);
}

// A command's size is a 32-bit number, so that 2^28 semaphores are too many.
static CUresult new_command(unsigned count, struct semaphores **out)
{
    *out = size_of(count) > UINT32_MAX ? NULL : dm_alloc(size_of(count));
    return *out ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u semaphores", count);
}

static CUresult fill(const struct em_context *context, const struct semaphore_call *call,
                     struct semaphores *s)
{
    em_assert_locked();
    em_command_init(&s->command, call->ops, size_of(call->count));
    s->count = call->count;
    s->done = 0;
    s->acquired = s->reported = false;
    for (unsigned i = 0; i < call->count; i++) {
        struct em_semaphore_request q = call->request(call->params, i);
        struct step *step = &steps_of(s)[i];
        q.handle = call->list[i];
        CUresult r = em_semaphore_check(context, i, &q, &step->semaphore);
        if (r) {
            drop_steps(s, i);
            return r;
        }
        step->value = q.value;
        em_object_ref(&step->semaphore->object);
    }
    if (call->ops->ready)
        s->command.condition = &payload_of(s, 0)->source.condition;
    return CUDA_SUCCESS;
}

static CUresult submit(struct em_stream *stream, const struct semaphore_call *call)
{
    struct few_semaphores few;
    struct semaphores *s = &few.head;
    CUresult r = call->count > FEW ? new_command(call->count, &s) : CUDA_SUCCESS;
    if (r)
        return r;
    em_lock();
    r = fill(stream->object.context, call, s);
    s->command.stream = stream; // `ready` is asked before the submission
    if (!r) {
        r = check_stream(stream, s);
        if (r)
            drop_steps(s, s->count);
    }
    if (!r)
        r = em_issue(stream, &s->command, EM_SUBMIT_ASYNC);
    em_unlock();
    if (s != &few.head)
        dm_free(s);
    return r;
}

static CUresult prepare(const struct em_context *context, const struct semaphore_call *call,
                        struct em_command **out)
{
    em_assert_locked();
    struct semaphores *s;
    CUresult r = new_command(call->count, &s);
    if (r)
        return r;
    r = fill(context, call, s);
    if (r)
        dm_free(s);
    else
        *out = &s->command;
    return r;
}

CUresult em_semaphores_signal(struct em_stream *stream, unsigned count,
                              const CUexternalSemaphore *list,
                              const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params)
{
    const struct semaphore_call call = signal_call(count, list, params);
    if (em_stream_is_captured(stream)) {
        const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                                     .extSemSignal = {(CUexternalSemaphore *)list, params, count}};
        return em_capture->add(stream, &p);
    }
    return submit(stream, &call);
}

CUresult em_semaphores_wait(struct em_stream *stream, unsigned count,
                            const CUexternalSemaphore *list,
                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params)
{
    const struct semaphore_call call = wait_call(count, list, params);
    if (em_stream_is_captured(stream)) {
        const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
                                     .extSemWait = {(CUexternalSemaphore *)list, params, count}};
        return em_capture->add(stream, &p);
    }
    em_ordered();
    return submit(stream, &call);
}

CUresult em_semaphores_signal_prepare(const struct em_context *context, unsigned count,
                                      const CUexternalSemaphore *list,
                                      const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                                      struct em_command **out)
{
    em_assert_locked();
    const struct semaphore_call call = signal_call(count, list, params);
    return prepare(context, &call, out);
}

CUresult em_semaphores_wait_prepare(const struct em_context *context, unsigned count,
                                    const CUexternalSemaphore *list,
                                    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                                    struct em_command **out)
{
    em_assert_locked();
    const struct semaphore_call call = wait_call(count, list, params);
    return prepare(context, &call, out);
}

// ---- pending commands ----

static bool uses(const struct em_command *c, const struct em_external_semaphore *semaphore)
{
    if (c->ops != &signal_ops && c->ops != &wait_ops && c->ops != &wait_all_ops)
        return false;
    const struct semaphores *s = (const struct semaphores *)c;
    for (unsigned i = 0; i < s->count; i++) // not from `done`, which a running command changes
        if (steps_of(s)[i].semaphore == semaphore)
            return true;
    return false;
}

static const struct em_command *find_in(const struct em_command_list *list,
                                        const struct em_external_semaphore *semaphore)
{
    const struct em_command *c = list->first;
    while (c && !uses(c, semaphore))
        c = c->next;
    return c;
}

const struct em_command *em_semaphore_pending(const struct em_external_semaphore *semaphore)
{
    em_assert_locked();
    const struct em_command *found = NULL;
    for (struct em_context *c = em_context_next(NULL); c && !found; c = em_context_next(c)) {
        found = find_in(&c->work.ordered, semaphore);
        if (!found)
            found = find_in(&c->work.unordered, semaphore);
    }
    return found;
}
