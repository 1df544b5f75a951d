// SPDX-License-Identifier: MIT
// Records commands: their submission with the memory that they access, their start and their end.
#include <stdbool.h>

#include "access.h"
#include "call.h"
#include "command.h"
#include "record.h"
#include "record_command.h"
#include "stop.h"
#include "stream.h"

enum { ACCESSES_MOST = 64, SHARED_SHIFT = 40 };

static void name_stream(struct em_stream *s)
{
    char text[64];
    const char *name = em_stream_text(s, text, sizeof text);
    struct em_context *context = s->object.context;
    s->recorded = true;
    struct em_record r = em_record_begin(RF_STREAM, 0, 4 * EM_FIELD_MOST_B + sizeof text + 2);
    em_field(&r, s->id);
    em_field(&r, s->object.number);
    em_field(&r, s->object.handle);
    em_field(&r, context ? em_context_base(context)->object.handle : 0);
    em_field_text(&r, name);
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

// `launch`: the command that a step belongs to, or 0.
static void record_submission(const struct em_command *c, uint64_t id, uint64_t launch)
{
    const uint32_t name = em_record_name(c->ops->name);
    uint32_t count = c->access_count;
    if (em_unlikely(!c->stream->recorded))
        name_stream(c->stream);
    count = count < ACCESSES_MOST ? count : ACCESSES_MOST;
    struct em_record r =
        em_record_begin_now(RF_SUBMIT, 0, (6 + 3 * (size_t)count) * EM_FIELD_MOST_B);
    em_field(&r, id);
    em_field(&r, c->stream->id);
    em_field(&r, name);
    em_field(&r, em_self.entry ? em_self.calls : 0);
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

void em_record_started(const struct em_command *c, bool at_once)
{
    em_assert_locked();
    em_stop(EM_STOP_COMMAND, c->ops->name, c->sequence);
    if (at_once) {
        em_record_flag_last(RF_SUBMIT, RF_SUBMIT_AT_ONCE);
        return;
    }
    struct em_record r = em_record_begin_now(RF_START, 0, EM_FIELD_MOST_B);
    em_field(&r, c->sequence);
    em_record_put(&r);
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

// These commands are told apart by the call that made them.
static uint64_t shared_id(void)
{
    return UINT64_C(1) << 63 | em_call_now();
}

void em_record_shared_begin(struct em_command *c)
{
    em_assert_unlocked();
    record_submission(c, shared_id(), 0);
    em_stop(EM_STOP_COMMAND, c->ops->name, shared_id());
    em_record_flag_last(RF_SUBMIT, RF_SUBMIT_AT_ONCE);
}

void em_record_shared_end(const struct em_command *c, bool adopted)
{
    record_end(shared_id(), c->result, adopted ? RF_END_ADOPTED : 0, adopted ? c->sequence : 0);
}
