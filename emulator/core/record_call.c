// SPDX-License-Identifier: MIT
// Records calls: their arguments as words, and the memory that they lead to as blobs.
#include <errno.h>
#include <string.h>

#include "call.h"
#include "describe.h"
#include "record.h"
#include "record_blobs.h"
#include "record_content.h"
#include "record_site.h"
#include "stop.h"

enum {
    HANDLE_LEAST = 16,         // below are special streams, which the reader knows
    RECORD_HEAD_MOST_B = 1024, // of a call's record before its blobs
    BLOBS_FIRST_B = 1024,      // space for blobs, which few calls exceed
    BLOBS_MOST_B = RF_RECORD_MAX_B - RECORD_HEAD_MOST_B,
};

// Names that a number and a type do not give, such as those of kernels.
static __attribute__((cold, noinline)) void name_handle(const struct em_entry *entry, unsigned i,
                                                        uint64_t handle)
{
    const cardlessTypes *d = entry->description;
    const cardlessShape *s = &d->shapes[d->members[entry->first_argument + i].shape];
    const int saved = errno;
    char text[128];
    if (em_record_is_new(handle | 1) && d->handle_text(s->target, handle, text, sizeof text)) {
        struct em_record r = em_record_begin(RF_HANDLE, 0, EM_FIELD_MOST_B + sizeof text + 2);
        em_field(&r, handle);
        em_field_text(&r, text);
        em_record_put(&r);
    }
    errno = saved;
}

// `which`: bits of the arguments.
static void name_handles(struct em_record_thread *t, const struct em_record_site *site,
                         const uint64_t *values, uint64_t which)
{
    for (uint64_t left = which; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint64_t handle = values[i];
        const uint64_t place = handle * UINT64_C(0x9e3779b97f4a7c15) >> 58;
        _Static_assert(EM_RECORD_HANDLES == 1 << (64 - 58), "as many bits as a position");
        if (em_likely(handle < HANDLE_LEAST || t->handles[place] == handle))
            continue;
        t->handles[place] = handle;
        name_handle(site->entry, i, handle);
    }
}

// ---- calls

// Whether the site has a record in the window, so that its next one needs only the arguments that
// differ.
static inline bool site_repeats(const struct em_record_thread *t, const struct em_record_site *site)
{
    return site->window == t->sequence + 1;
}

// Bits of the arguments that differ from those of the site's record in the window. All of them if
// there is no such record.
static inline unsigned new_arguments(const struct em_record_thread *t,
                                     const struct em_record_site *site, const uint64_t *values)
{
    unsigned differ = 0;
    if (em_unlikely(!site_repeats(t, site)))
        return (1u << site->count) - 1;
    for (uint32_t i = site->count; i; i--)
        differ = differ << 1 | (values[i - 1] != site->values[i - 1]);
    return differ;
}

enum { CALL_NUMBERS = 7 + EM_RECORD_ARGUMENTS };
_Static_assert(RECORD_HEAD_MOST_B > EM_RECORD_HEAD_B + (1 + CALL_NUMBERS) * EM_FIELD_MOST_B,
               "a record without blobs fits");

// The numbers of a call's record after its time, without blobs. `differ`: new_arguments.
static inline size_t call_numbers(struct em_thread *self, struct em_record_thread *t,
                                  struct em_record_site *site, const uint64_t *values,
                                  unsigned differ, uint64_t numbers[CALL_NUMBERS])
{
    uint64_t *to = numbers;
    if (em_likely(!site->of_library)) {
        *to++ = em_zigzag(self->calls - t->last_call);
        t->last_call = self->calls;
    }
    *to++ = site->number;
    if (em_likely(site_repeats(t, site))) {
        *to++ = differ;
        for (unsigned left = differ; left; left &= left - 1)
            *to++ = values[__builtin_ctz(left)];
        return (size_t)(to - numbers);
    }
    *to++ = site->id;
    *to++ = site->by_id;
    *to++ = site->caller_id;
    *to++ = site->count;
    if (site->count) // else `values` may be NULL
        memcpy(to, values, site->count * sizeof *values);
    to += site->count;
    if (site->number < RF_SITES && site->count <= EM_RECORD_VALUES) {
        site->window = t->sequence + 1;
        memcpy(site->values, values, site->count * sizeof *values);
    }
    return (size_t)(to - numbers);
}

static inline unsigned call_flags(const struct em_record_thread *t,
                                  const struct em_record_site *site)
{
    return (t->depth ? RF_CALL_NESTED : 0) | (site->of_library ? RF_CALL_OF_LIBRARY : 0) |
           (site_repeats(t, site) ? RF_CALL_REPEATS : 0);
}

// The call is the thread's innermost one.
static inline void begin_call(const struct em_thread *self, struct em_record_thread *t,
                              struct em_record_site *site)
{
    if (em_unlikely(t->depth == EM_RECORD_DEPTH))
        return;
    struct em_record_call *c = &t->calls[t->depth++];
    c->entry = site->entry;
    c->site = site->number < RF_SITES ? site : NULL;
    c->number = site->of_library ? 0 : self->calls;
    c->outputs = site->outputs;
    c->failure = site->failure;
    c->of_library = site->of_library;
}

// Blobs get more space if they need it, and are cut if that is not enough. Returns whether anything
// can be recorded.
static __attribute__((noinline)) bool record_inputs(struct em_thread *self,
                                                    struct em_record_thread *t,
                                                    struct em_record_site *site,
                                                    const uint64_t *values, unsigned differ)
{
    struct em_record_blobs blobs = {.entry = site->entry, .values = values};
    struct em_record r = {.thread = NULL};
    bool fits = false;
    for (size_t blobs_B = BLOBS_FIRST_B; !fits; blobs_B = BLOBS_MOST_B) {
        t = em_record_thread_for(RECORD_HEAD_MOST_B + blobs_B); // which may change t->ticks
        if (!t)
            return false;
        const uint64_t before = t->ticks, number = t->last_call;
        uint64_t numbers[CALL_NUMBERS];
        const unsigned flags = call_flags(t, site);
        const size_t count = call_numbers(self, t, site, values, differ, numbers);
        r = em_record_begin_at(RF_CALL, flags, count * EM_FIELD_MOST_B + blobs_B,
                               em_record_clock_of(self));
        em_fields(&r, numbers, count);
        fits = em_record_add_blobs(&r, &blobs) || blobs_B == BLOBS_MOST_B;
        if (!fits) {
            t->ticks = before;
            t->last_call = number;
            site->window = 0;
        }
    }
    em_record_put(&r);
    for (unsigned i = 0; !site->of_library && i < blobs.large.count; i++)
        em_record_range(RF_READS, (const void *)(uintptr_t)blobs.large.of[i].address,
                        blobs.large.of[i].size_B);
    return r.thread != NULL;
}

// The first call of a site in the window, one with new handles, or one with blobs.
static __attribute__((noinline)) void record_slowly(struct em_thread *self,
                                                    struct em_record_site *site,
                                                    const uint64_t *values, unsigned differ)
{
    if (site->handles & differ)
        name_handles(self->record, site, values, site->handles & differ);
    struct em_record_thread *t = em_record_thread_of(self, RECORD_HEAD_MOST_B);
    if (!t)
        return;
    if (site->inputs) {
        if (!record_inputs(self, t, site, values, differ))
            return;
    } else {
        uint64_t numbers[CALL_NUMBERS];
        const unsigned flags = call_flags(t, site);
        const size_t count = call_numbers(self, t, site, values, differ, numbers);
        t->begun = em_record_numbers(RF_CALL, flags, em_record_clock_of(self), numbers, count);
    }
    begin_call(self, t, site);
}

// Precondition: the thread's window has RECORD_HEAD_MOST_B bytes.
static inline void record_call(struct em_thread *self, struct em_record_thread *t,
                               struct em_record_site *site, const uint64_t *values)
{
    const unsigned differ = new_arguments(t, site, values);
    if (em_unlikely(site->inputs || !site_repeats(t, site) || site->handles & differ)) {
        record_slowly(self, site, values, differ);
        return;
    }
    const unsigned flags = call_flags(t, site);
    const uint64_t ticks = em_record_clock_of(self);
    uint8_t *p = em_record_at(t, ticks);
    if (em_likely(!site->of_library)) {
        p = em_varint_small(p, em_zigzag(self->calls - t->last_call));
        t->last_call = self->calls;
    }
    *p++ = site->number;
    _Static_assert(RF_SITES <= 0x80, "the number of a site that is known has one byte");
    p = em_varint_small(p, differ);
    for (unsigned left = differ; left; left &= left - 1)
        p = em_varint(p, values[__builtin_ctz(left)]);
    em_record_put_at(t, RF_CALL, flags, ticks, p);
    t->begun = t->last;
    begin_call(self, t, site);
}

bool em_record_asks(const struct em_thread *self)
{
    const struct em_record_thread *t = self->record;
    return em_recording && !em_tracing_text && !self->interrupts && t && t->depth &&
           t->calls[t->depth - 1].entry == self->caller;
}

void em_record_call(struct em_thread *self, const struct em_entry *entry, const uint64_t *values,
                    const void *caller)
{
    struct em_record_thread *t =
        em_recording ? em_record_thread_of(self, RECORD_HEAD_MOST_B) : NULL;
    if (em_unlikely(!t))
        return;
    record_call(self, t, em_record_site_find(t, entry, self->caller, caller), values);
    if (em_likely(values))
        em_stop(EM_STOP_CALL, entry->name, 0);
}

// The begin of the call was not recorded.
static __attribute__((cold, noinline)) void record_unknown_call(struct em_thread *self,
                                                                const struct em_entry *entry)
{
    struct em_record_site site = {.entry = entry, .by = self->caller, .number = RF_SITES};
    if (!em_record_thread_of(self, RECORD_HEAD_MOST_B))
        return;
    em_record_site_fill(&site, true);
    site.outputs = site.failure = entry->description != NULL;
    record_slowly(self, &site, NULL, 0);
}

static inline struct em_record begin_return(const struct em_record_call *call, CUresult result,
                                            uint64_t time, size_t blobs_B)
{
    struct em_record r = em_record_begin_at(RF_RETURN, call->of_library ? RF_RETURN_OF_LIBRARY : 0,
                                            2 * EM_FIELD_MOST_B + blobs_B, time);
    if (r.thread && !call->of_library)
        em_field(&r, em_zigzag(call->number - r.thread->last_call));
    em_field(&r, (uint64_t)result);
    return r;
}

static __attribute__((noinline)) void record_outputs(const struct em_entry *entry,
                                                     const struct em_record_call *call,
                                                     CUresult result, uint64_t time,
                                                     const uint64_t *values)
{
    struct em_record_blobs blobs = {
        .entry = entry, .values = values, .returns = true, .result = result};
    struct em_record r = {.thread = NULL};
    bool fits = false;
    for (size_t blobs_B = BLOBS_FIRST_B; !fits; blobs_B = BLOBS_MOST_B) {
        struct em_record_thread *t = em_record_thread_for(RECORD_HEAD_MOST_B + blobs_B);
        if (!t)
            return;
        const uint64_t before = t->ticks;
        r = begin_return(call, result, time, blobs_B);
        fits = em_record_add_blobs(&r, &blobs) || blobs_B == BLOBS_MOST_B;
        if (!fits)
            t->ticks = before;
    }
    em_record_put(&r);
}

static inline bool is_on_stack(const struct em_record_thread *t, uint64_t address, size_t size_B)
{
    const uint64_t used = (uintptr_t)__builtin_frame_address(0);
    return used - t->stack < t->stack_B && address > used &&
           address - t->stack <= t->stack_B - size_B;
}

// A successful return whose outputs are numbers on the thread's stack, which can be read without a
// guard. Returns false if they are not.
static inline bool record_plain_outputs(struct em_record_thread *t,
                                        const struct em_record_call *call, uint64_t time,
                                        const uint64_t *values)
{
    const struct em_record_site *site = call->site;
    if (!site || site->entry != call->entry || !site->output_count ||
        (size_t)(t->end - t->at) < RECORD_HEAD_MOST_B || !em_record_is_open(t))
        return false;
    for (unsigned i = 0; i < site->output_count; i++) {
        const struct em_record_output *o = &site->output[i];
        if (values[o->argument] && !is_on_stack(t, values[o->argument], o->size_B))
            return false;
    }
    uint8_t *p = em_record_at(t, time);
    if (em_likely(!call->of_library))
        p = em_varint_small(p, em_zigzag(call->number - t->last_call));
    *p++ = CUDA_SUCCESS;
    for (unsigned i = 0; i < site->output_count; i++) {
        const struct em_record_output *o = &site->output[i];
        const uint64_t address = values[o->argument];
        if (address)
            p = em_record_blob(em_varint(p, address), (const void *)(uintptr_t)address, o->size_B);
    }
    em_record_put_at(t, RF_RETURN, call->of_library ? RF_RETURN_OF_LIBRARY : 0, time, p);
    return true;
}

// Whether the last record is the end of a command of the innermost call.
static inline bool has_just_ended(const struct em_record_thread *t)
{
    return t->last && t->last == t->ended && em_record_is_open(t);
}

// A call returns when its command has ended.
static inline uint64_t return_time(struct em_thread *self)
{
    return has_just_ended(self->record) ? em_record_recently_of(self) : em_record_clock_of(self);
}

// Calls inside of the one that returns have ended without a record.
static __attribute__((noinline)) void return_slowly(struct em_thread *self,
                                                    const struct em_entry *entry, CUresult result,
                                                    const uint64_t *values)
{
    struct em_record_thread *t = self->record;
    unsigned depth = t ? t->depth : 0;
    while (depth && t->calls[depth - 1].entry != entry)
        depth--;
    if (!depth) {
        record_unknown_call(self, entry);
        t = self->record;
        depth = t ? t->depth : 0;
    }
    if (!depth)
        return;
    const struct em_record_call *call = &t->calls[depth - 1];
    const uint64_t time = return_time(self);
    t->depth = depth - 1;
    if (em_likely(!result && call->outputs) && record_plain_outputs(t, call, time, values))
        return;
    if (result ? call->failure : call->outputs) {
        record_outputs(entry, call, result, time, values);
        return;
    }
    struct em_record r = begin_return(call, result, time, 0);
    em_record_put(&r);
}

static inline void record_return(struct em_thread *self, const struct em_entry *entry,
                                 CUresult result, const uint64_t *values)
{
    struct em_record_thread *t = self->record;
    const struct em_record_call *call = t && t->depth ? &t->calls[t->depth - 1] : NULL;
    if (em_likely(call && !result && !call->outputs && call->entry == entry && t->last)) {
        if (has_just_ended(t)) {
            t->ended[3] |= t->ended[2] == RF_END ? RF_END_RETURNS : RF_SUBMIT_RETURNS;
            t->ended = NULL;
            t->depth--;
            return;
        }
        if (t->last == t->begun && em_record_is_open(t) &&
            em_record_extend(t, t->begun, em_record_clock_of(self), RF_CALL_RETURNED)) {
            t->begun = NULL;
            t->depth--;
            return;
        }
    }
    return_slowly(self, entry, result, values);
}

void em_record_return(struct em_thread *self, const struct em_entry *entry, CUresult result,
                      const uint64_t *values)
{
    if (em_likely(em_recording))
        record_return(self, entry, result, values);
}

// ---- calls of other libraries

// A call of the driver restores this when it returns.
static void restore_cancellation(struct em_thread *self)
{
    if (!self->entry)
        em_cancel_restore(self);
}

void em_record_library_call(const struct em_entry *entry, const uint64_t *values)
{
    struct em_thread *self = em_thread();
    em_work_begin(entry);
    if (em_unlikely(!self->number || !em_recording))
        em_thread_start(); // which may begin the recording of a forked process
    struct em_record_thread *t =
        em_recording ? em_record_thread_of(self, RECORD_HEAD_MOST_B) : NULL;
    if (t) {
        struct em_record_site *site = em_record_site_find(t, entry, NULL, self->caller_returns_to);
        site->of_library = true;
        record_call(self, t, site, values);
        em_stop(EM_STOP_CALL, entry->name, 0);
    }
    em_work_end(entry);
    restore_cancellation(self);
}

static inline bool has_begun(const struct em_record_thread *t, const struct em_entry *entry)
{
    unsigned depth = t ? t->depth : 0;
    while (depth && t->calls[depth - 1].entry != entry)
        depth--;
    return depth != 0;
}

void em_record_library_return(const struct em_entry *entry, int result, const uint64_t *values)
{
    struct em_thread *self = em_thread();
    em_work_begin(entry);
    if (em_likely(em_recording && has_begun(self->record, entry)))
        record_return(self, entry, (CUresult)result, values);
    em_work_end(entry);
    restore_cancellation(self);
}
