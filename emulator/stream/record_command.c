// SPDX-License-Identifier: MIT
// Records commands: their submission with the memory that they access, their start and their end.
#include <stdbool.h>
#include <string.h>

#include "access.h"
#include "call.h"
#include "command.h"
#include "record.h"
#include "record_command.h"
#include "scheduler.h"
#include "stop.h"
#include "stream.h"

enum { ACCESSES_MOST = 64, SHARED_SHIFT = 40 };

static void name_stream(struct em_stream *s)
{
    char text[64];
    const char *name = em_stream_text(s, text, sizeof text);
    struct em_context *context = s->object.context;
    s->recorded = true;
    struct em_record r = em_record_begin(RF_STREAM, 0, 5 * EM_FIELD_MOST_B + sizeof text + 2);
    em_field(&r, s->id);
    em_field(&r, s->object.number);
    em_field(&r, s->object.handle);
    em_field(&r, context ? em_context_base(context)->object.handle : 0);
    em_field_text(&r, name);
    em_field(&r, s->kind == EM_STREAM_LEGACY ? RF_STREAM_LEGACY
                 : s->blocking               ? RF_STREAM_BLOCKING
                                             : RF_STREAM_FREE);
    em_record_put(&r);
}

static void put_access(struct em_record *r, const struct em_access *a)
{
    uint64_t first = a->address, end = a->address + a->size_B;
    unsigned form = a->form;
    if (a->ops && a->ops->span) {
        a->ops->span(a, &first, &end);
        form = RF_ACCESS_BOX;
    }
    em_field(r, (unsigned)a->mode | form << 4);
    em_field(r, first);
    em_field(r, end - first);
}

// The first fields of a submission. `flags` has RF_SUBMIT_OF_CALL if the thread's innermost call
// has submitted it, and RF_SUBMIT_SHARED if its number is shared_id().
static void put_submission(struct em_record *r, uint64_t id, const struct em_stream *s,
                           uint32_t name, unsigned flags)
{
    struct em_record_thread *t = r->thread;
    if (!(flags & RF_SUBMIT_SHARED)) {
        em_field(r, em_zigzag(id - t->last_command));
        t->last_command = id;
    }
    em_field(r, s->id);
    em_field(r, name);
    if (!(flags & RF_SUBMIT_OF_CALL))
        em_field(r, em_self.entry ? em_self.calls : 0);
}

// The call that made such a command identifies it.
static uint64_t shared_id(void)
{
    return UINT64_C(1) << 63 | em_call_now();
}

// RF_SUBMIT_OF_CALL and RF_SUBMIT_SHARED for a command with this number.
static unsigned call_flags(uint64_t id)
{
    const struct em_record_thread *t = em_self.record;
    const bool is_innermost = t && t->depth && t->generation == *em_record_generation &&
                              t->calls[t->depth - 1].number == em_self.calls;
    if (!em_self.entry || !is_innermost)
        return 0;
    return RF_SUBMIT_OF_CALL | (id == shared_id() ? RF_SUBMIT_SHARED : 0);
}

// `launch`: the command that a step belongs to, or 0.
static void record_submission(const struct em_command *c, uint64_t id, uint64_t launch)
{
    const uint32_t name = em_record_name(c->ops->name);
    uint32_t count = c->access_count;
    if (em_unlikely(!c->stream->recorded))
        name_stream(c->stream);
    count = count < ACCESSES_MOST ? count : ACCESSES_MOST;
    const unsigned flags = call_flags(id);
    struct em_record r =
        em_record_begin_now(RF_SUBMIT, flags, (6 + 3 * (size_t)count) * EM_FIELD_MOST_B);
    if (em_unlikely(!r.thread))
        return;
    put_submission(&r, id, c->stream, name, flags);
    em_field(&r, count);
    const struct em_access *accesses = em_command_accesses(c);
    for (uint32_t i = 0; i < count; i++)
        put_access(&r, &accesses[i]);
    em_field(&r, launch);
    em_record_put(&r);
}

void em_record_submitted(struct em_command *c)
{
    em_assert_locked();
    record_submission(c, c->sequence, 0);
}

// The command whose submission was the last record has started in this thread. The call that has
// submitted it returns soon after its end.
static void start_at_once(uint64_t id)
{
    struct em_record_thread *t = em_self.record;
    em_record_flag_last(RF_SUBMIT, RF_SUBMIT_AT_ONCE);
    if (t)
        t->at_once = id;
}

void em_record_started(const struct em_command *c, bool at_once)
{
    em_assert_locked();
    em_stop(EM_STOP_COMMAND, c->ops->name, c->sequence);
    if (at_once) {
        start_at_once(c->sequence);
        return;
    }
    struct em_record r = em_record_begin_now(RF_START, 0, EM_FIELD_MOST_B);
    em_field(&r, c->sequence);
    em_record_put(&r);
}

// A command that has started at once and succeeded: adds the time of its end to its submission, if
// that is the last record. Returns false if it is not, or if the time takes too many bytes.
static bool extend_submission(uint64_t id)
{
    struct em_record_thread *t = em_self.record;
    if (em_unlikely(!t || t->at_once != id || !t->last || t->last[2] != RF_SUBMIT ||
                    !em_record_is_open(t) || !em_record_extend(t, t->last, RF_SUBMIT_ENDED)))
        return false;
    t->ended = t->last;
    return true;
}

// `other`: the number of the adopted command, or 0.
static void record_end(uint64_t id, CUresult result, unsigned flags, uint64_t other)
{
    struct em_record r = em_record_begin_now(RF_END, flags, 3 * EM_FIELD_MOST_B);
    em_field(&r, id);
    em_field(&r, (uint64_t)result);
    if (flags & RF_END_ADOPTED)
        em_field(&r, other);
    em_record_put(&r);
}

void em_record_ended(const struct em_command *c)
{
    em_assert_locked();
    if (c->result || !extend_submission(c->sequence))
        record_end(c->sequence, c->result, 0, 0);
}

uint64_t em_record_step_begin(const struct em_command *step)
{
    static uint64_t steps;
    em_assert_locked();
    const struct em_command *launch = step->stream->first;
    const uint64_t id = UINT64_C(1) << 62 | ++steps;
    record_submission(step, id, launch ? launch->sequence : 0);
    em_stop(EM_STOP_COMMAND, step->ops->name, id);
    em_record_flag_last(RF_SUBMIT, RF_SUBMIT_AT_ONCE);
    return id;
}

void em_record_step_end(uint64_t number, CUresult result)
{
    record_end(number, result, result == EM_RUN_AGAIN ? RF_END_ADOPTED : 0, 0);
}

void em_record_shared_begin(struct em_command *c)
{
    em_assert_unlocked();
    record_submission(c, shared_id(), 0);
    em_stop(EM_STOP_COMMAND, c->ops->name, shared_id());
    start_at_once(shared_id());
}

void em_record_shared_end(const struct em_command *c, bool adopted)
{
    if (adopted || c->result || !extend_submission(shared_id()))
        record_end(shared_id(), c->result, adopted ? RF_END_ADOPTED : 0, adopted ? c->sequence : 0);
}

// A command that has started at `begin`, and has ended at `end` if that is not 0.
static void record_run(struct em_stream *s, uint64_t id, const char *kind, uint64_t begin,
                       uint64_t end, const struct em_record_run *run)
{
    const uint32_t name = em_record_name(kind);
    if (em_unlikely(!s->recorded))
        name_stream(s);
    const unsigned flags = RF_SUBMIT_AT_ONCE | call_flags(id) | (end ? RF_SUBMIT_ENDED : 0);
    struct em_record r =
        em_record_begin_at(RF_SUBMIT, flags, (7 + 3 * (size_t)run->count) * EM_FIELD_MOST_B, begin);
    if (em_unlikely(!r.thread))
        return;
    put_submission(&r, id, s, name, flags);
    em_field(&r, run->count);
    for (unsigned i = 0; i < run->count; i++) {
        em_field(&r, run->spans[i].writes ? EM_ACCESS_WRITE : EM_ACCESS_READ);
        em_field(&r, run->spans[i].address);
        em_field(&r, run->spans[i].size_B);
    }
    em_field(&r, 0);
    if (end)
        em_field(&r, end - begin);
    em_record_put(&r);
    if (end)
        r.thread->ended = r.start;
}

void em_record_in_place(struct em_stream *s, const char *kind, uint64_t begin,
                        const struct em_record_run *run)
{
    em_assert_locked();
    // Commands are in the order of their numbers.
    record_run(s, ++em_scheduler.last_sequence, kind, begin, dm_ticks(), run);
}

void em_record_detached(struct em_stream *s, const char *kind, uint64_t begin,
                        const struct em_record_run *run, const struct em_command *adopted)
{
    em_assert_unlocked();
    record_run(s, shared_id(), kind, begin, adopted ? 0 : dm_ticks(), run);
    if (adopted)
        record_end(shared_id(), CUDA_SUCCESS, RF_END_ADOPTED, adopted->sequence);
}
