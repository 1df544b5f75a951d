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

// The call that made such a command identifies it.
static uint64_t shared_id(void)
{
    return UINT64_C(1) << 63 | em_call_now();
}

// Whether the call in progress, which submits the command, is the innermost one that is recorded.
static inline bool is_of_call(const struct em_thread *self, const struct em_record_thread *t)
{
    return self->entry && t->depth && t->calls[t->depth - 1].number == self->calls;
}

static inline bool is_shared(const struct em_thread *self, uint64_t id)
{
    return id == (UINT64_C(1) << 63 | self->number << 40 | self->calls);
}

// What a call site often submits again.
struct command_numbers {
    size_t count;
    uint64_t of[3 + 3 * ACCESSES_MOST]; // stream, name (a constant), number of accesses, accesses
};
enum { NAME = 1 };

static inline struct command_numbers numbers_of(const struct em_stream *s, const char *kind,
                                                uint32_t accesses)
{
    struct command_numbers n;
    n.count = 3;
    n.of[0] = s->id;
    n.of[NAME] = (uintptr_t)kind;
    n.of[2] = accesses;
    return n;
}

static inline void add_access(struct command_numbers *n, unsigned mode, uint64_t address,
                              uint64_t size_B)
{
    n->of[n->count++] = mode;
    n->of[n->count++] = address;
    n->of[n->count++] = size_B;
}

// Whether the last command of the site in the window, of those that are kept, has these numbers.
static inline bool command_repeats(const struct em_record_thread *t,
                                   const struct em_record_site *site,
                                   const struct command_numbers *n)
{
    if (site->submit_window != t->sequence + 1)
        return false;
    for (size_t i = 0; i < n->count; i++)
        if (site->submitted[i] != n->of[i])
            return false;
    return true;
}

enum { OTHERS = 5 }; // numbers of a SUBMIT besides those

static __attribute__((noinline)) uint8_t *
write_slowly(struct em_thread *self, uint64_t id, struct em_stream *s, unsigned flags,
             uint64_t ticks, const struct command_numbers *n, uint64_t launch, uint64_t length)
{
    uint64_t out[3 + 3 * ACCESSES_MOST + OTHERS], *to = out;
    if (!s->recorded)
        name_stream(s);
    const uint32_t name = em_record_name((const char *)(uintptr_t)n->of[NAME]);
    struct em_record_thread *t =
        em_record_thread_of(self, EM_RECORD_HEAD_B + (n->count + OTHERS) * (size_t)EM_FIELD_MOST_B);
    if (!t)
        return NULL;
    if (!(flags & RF_SUBMIT_SHARED)) {
        *to++ = em_zigzag(id - t->last_command);
        t->last_command = id;
    }
    *to++ = n->of[0];
    *to++ = name;
    if (!(flags & RF_SUBMIT_OF_CALL))
        *to++ = self->entry ? self->calls : 0;
    memcpy(to, n->of + NAME + 1, (n->count - NAME - 1) * sizeof *to);
    to += n->count - NAME - 1;
    *to++ = launch;
    if (flags & RF_SUBMIT_ENDED)
        *to++ = length;
    struct em_record_site *site = flags & RF_SUBMIT_OF_CALL ? t->calls[t->depth - 1].site : NULL;
    if (site && !launch && n->count <= EM_RECORD_SUBMITTED) {
        site->submit_window = t->sequence + 1;
        memcpy(site->submitted, n->of, n->count * sizeof *n->of);
    } else if (site) {
        site->submit_window = 0;
    }
    return em_record_numbers(RF_SUBMIT, flags, ticks, out, (size_t)(to - out));
}

// Writes a SUBMIT. `launch`: the command that a step belongs to, or 0. `length`: the ticks until
// its end, with RF_SUBMIT_ENDED. Returns the record, or NULL if nothing can be recorded.
static inline uint8_t *write_submission(uint64_t id, struct em_stream *s, unsigned flags,
                                        uint64_t ticks, const struct command_numbers *n,
                                        uint64_t launch, uint64_t length)
{
    struct em_thread *self = em_thread();
    struct em_record_thread *t =
        em_record_thread_of(self, EM_RECORD_HEAD_B + OTHERS * (size_t)EM_FIELD_MOST_B);
    if (em_unlikely(!t))
        return NULL;
    const bool of_call = is_of_call(self, t);
    if (of_call)
        flags |= RF_SUBMIT_OF_CALL | (is_shared(self, id) ? RF_SUBMIT_SHARED : 0);
    const struct em_record_site *site = of_call ? t->calls[t->depth - 1].site : NULL;
    if (em_unlikely(!site || launch || n->count > EM_RECORD_SUBMITTED ||
                    !command_repeats(t, site, n)))
        return write_slowly(self, id, s, flags, ticks, n, launch, length);
    uint8_t *p = em_record_at(t, ticks);
    if (!(flags & RF_SUBMIT_SHARED)) {
        p = em_varint_small(p, em_zigzag(id - t->last_command));
        t->last_command = id;
    }
    if (flags & RF_SUBMIT_ENDED)
        p = em_varint(p, length);
    em_record_put_at(t, RF_SUBMIT, flags | RF_SUBMIT_REPEATS, ticks, p);
    return t->last;
}

static void record_submission(const struct em_command *c, uint64_t id, uint64_t ticks,
                              uint64_t launch)
{
    const uint32_t count = c->access_count < ACCESSES_MOST ? c->access_count : ACCESSES_MOST;
    const struct em_access *accesses = em_command_accesses(c);
    struct command_numbers n = numbers_of(c->stream, c->ops->name, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct em_access *a = &accesses[i];
        uint64_t first = a->address, end = a->address + a->size_B;
        unsigned form = a->form;
        if (a->ops && a->ops->span) {
            a->ops->span(a, &first, &end);
            form = RF_ACCESS_BOX;
        }
        add_access(&n, (unsigned)a->mode | form << 4, first, end - first);
    }
    write_submission(id, c->stream, 0, ticks, &n, launch, 0);
}

void em_record_submitted(struct em_command *c)
{
    em_assert_locked();
    record_submission(c, c->sequence, em_record_in_order(), 0);
}

// The command whose submission was the last record has started in this thread. The call that has
// submitted it returns soon after its end.
static inline void start_at_once(uint64_t id)
{
    struct em_record_thread *t = em_self.record;
    if (em_unlikely(!t || !t->last || t->last[2] != RF_SUBMIT || !em_record_is_open(t)))
        return;
    t->last[3] |= RF_SUBMIT_AT_ONCE;
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
    em_record_numbers(RF_START, 0, em_record_clock(), &c->sequence, 1);
}

// `other`: the number of the adopted command, or 0. Returns the record, or NULL if nothing can be
// recorded.
static uint8_t *record_end(uint64_t id, uint64_t end, CUresult result, unsigned flags,
                           uint64_t other)
{
    const uint64_t numbers[] = {id, (uint64_t)result, other};
    return em_record_numbers(RF_END, flags, end, numbers, flags & RF_END_ADOPTED ? 3 : 2);
}

// The end of a command that has succeeded. If it has started at once, and its submission is the
// last record, adds the time to that.
static void end_well(uint64_t id, uint64_t end)
{
    struct em_record_thread *t = em_self.record;
    const bool at_once = t && t->at_once == id && t->last && em_record_is_open(t);
    uint8_t *record = at_once ? t->last : NULL;
    if (em_unlikely(!at_once || record[2] != RF_SUBMIT ||
                    !em_record_extend(t, record, end, RF_SUBMIT_ENDED)))
        record = record_end(id, end, CUDA_SUCCESS, 0, 0);
    if (at_once)
        t->ended = record;
}

void em_record_ended(const struct em_command *c)
{
    em_assert_locked();
    if (em_likely(!c->result))
        end_well(c->sequence, em_record_end());
    else
        record_end(c->sequence, em_record_end(), c->result, 0, 0);
}

uint64_t em_record_step_begin(const struct em_command *step)
{
    static uint64_t steps;
    em_assert_locked();
    const struct em_command *launch = step->stream->first;
    const uint64_t id = UINT64_C(1) << 62 | ++steps;
    record_submission(step, id, em_record_in_order(), launch ? launch->sequence : 0);
    em_stop(EM_STOP_COMMAND, step->ops->name, id);
    em_record_flag_last(RF_SUBMIT, RF_SUBMIT_AT_ONCE);
    return id;
}

void em_record_step_end(uint64_t number, CUresult result)
{
    record_end(number, em_record_end(), result, result == EM_RUN_AGAIN ? RF_END_ADOPTED : 0, 0);
}

void em_record_shared_begin(struct em_command *c, uint64_t begin)
{
    em_assert_unlocked();
    record_submission(c, shared_id(), begin, 0);
    em_stop(EM_STOP_COMMAND, c->ops->name, shared_id());
    start_at_once(shared_id());
}

void em_record_shared_end(const struct em_command *c, uint64_t end, bool adopted)
{
    if (em_likely(!adopted && !c->result))
        end_well(shared_id(), end);
    else
        record_end(shared_id(), end, c->result, adopted ? RF_END_ADOPTED : 0,
                   adopted ? c->sequence : 0);
}

// A command that has started at `begin`, and has ended at `end` if that is not 0.
static void record_run(struct em_stream *s, uint64_t id, const char *kind, uint64_t begin,
                       uint64_t end, const struct em_record_run *run)
{
    struct command_numbers n = numbers_of(s, kind, run->count);
    for (unsigned i = 0; i < run->count; i++)
        add_access(&n, run->spans[i].writes ? EM_ACCESS_WRITE : EM_ACCESS_READ,
                   run->spans[i].address, run->spans[i].size_B);
    const unsigned flags = RF_SUBMIT_AT_ONCE | (end ? RF_SUBMIT_ENDED : 0);
    uint8_t *record = write_submission(id, s, flags, begin, &n, 0, end - begin);
    if (end && record)
        em_self.record->ended = record;
}

void em_record_in_place(struct em_stream *s, const char *kind, uint64_t begin,
                        const struct em_record_run *run)
{
    em_assert_locked();
    // Commands are in the order of their numbers.
    record_run(s, ++em_scheduler.last_sequence, kind, begin, em_record_end(), run);
}

void em_record_detached(struct em_stream *s, const char *kind, uint64_t begin, uint64_t end,
                        const struct em_record_run *run, const struct em_command *adopted)
{
    em_assert_unlocked();
    record_run(s, shared_id(), kind, begin, adopted ? 0 : end, run);
    if (adopted)
        record_end(shared_id(), end, CUDA_SUCCESS, RF_END_ADOPTED, adopted->sequence);
}
