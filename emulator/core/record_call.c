// SPDX-License-Identifier: MIT
// Records calls: their arguments as words, and the memory that they lead to as blobs.
#include <errno.h>
#include <string.h>

#include "call.h"
#include "describe.h"
#include "record.h"
#include "record_blobs.h"
#include "record_content.h"
#include "record_file.h"
#include "stop.h"

enum {
    HANDLE_LEAST = 16,         // below are special streams, which the reader knows
    RECORD_HEAD_MOST_B = 1024, // of a call's record before its blobs
    BLOBS_FIRST_B = 1024,      // space for blobs, which few calls exceed
    BLOBS_MOST_B = RF_RECORD_MAX_B - RECORD_HEAD_MOST_B,
};

// ---- call sites

static bool any_follows(const struct em_entry *entry, bool returns, CUresult result)
{
    const cardlessTypes *d = entry->description;
    for (uint32_t i = 0; i < entry->arguments; i++) {
        const cardlessMember *m = &d->members[entry->first_argument + i];
        const unsigned kind = d->shapes[m->shape].kind;
        if (em_record_is_wanted(m, returns, result) &&
            (kind == CARDLESS_SHAPE_POINTER || kind == CARDLESS_SHAPE_STRING ||
             m->flags & CARDLESS_MEMBER_INDIRECT))
            return true;
    }
    return false;
}

// Whether the arguments are unknown, and so not in the record.
static __attribute__((cold, noinline)) void fill_site(struct em_record_site *s, bool unknown)
{
    const struct em_entry *entry = s->entry;
    const cardlessTypes *d = unknown ? NULL : entry->description;
    const uint32_t id = em_record_entry(entry), by = em_record_entry(s->by),
                   from = em_record_caller(s->caller);
    s->count = d ? (uint8_t)entry->arguments : 0;
    uint8_t *p = em_varint(s->prefix, id);
    p = em_varint(p, by);
    p = em_varint(p, from);
    p = em_varint(p, s->count);
    s->prefix_B = (uint8_t)(p - s->prefix);
    s->inputs = s->count && any_follows(entry, false, CUDA_SUCCESS);
    s->outputs = s->count && any_follows(entry, true, CUDA_SUCCESS);
    s->failure = s->count && any_follows(entry, true, CUDA_ERROR_UNKNOWN);
    s->handles = 0;
    for (uint32_t i = 0; i < s->count && d->handle_text; i++)
        if (d->shapes[d->members[entry->first_argument + i].shape].kind == CARDLESS_SHAPE_HANDLE)
            s->handles |= UINT64_C(1) << i;
}
// Ids have at most 3 bytes, a level of record_ids.c being 1 << 19 and the largest.
_Static_assert(EM_RECORD_PREFIX_B >= 4 * 3 + EM_FIELD_MOST_B, "a prefix fits, and its last number");

static inline bool is_site(const struct em_record_site *s, const struct em_entry *entry,
                           const struct em_entry *by, const void *caller)
{
    return s->caller == caller && s->entry == entry && s->by == by;
}

// A site has two places, so that few sites of a program exclude each other.
static struct em_record_site *site_of(struct em_record_thread *t, const struct em_entry *entry,
                                      const struct em_entry *by, const void *caller)
{
    const uint64_t hash = ((uintptr_t)caller ^ (uintptr_t)entry) * UINT64_C(0x9e3779b97f4a7c15);
    struct em_record_site *s = &t->sites[hash >> 57];
    _Static_assert(RF_SITES == 1 << (64 - 57), "the hash has as many bits as a position");
    if (em_likely(is_site(s, entry, by, caller)))
        return s;
    struct em_record_site *second = &t->sites[(s - t->sites) ^ 1];
    if (em_likely(is_site(second, entry, by, caller)))
        return second;
    s = s->entry && !second->entry ? second : s;
    *s = (struct em_record_site){.caller = caller, .entry = entry, .by = by};
    fill_site(s, false);
    return s;
}

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

static void name_handles(struct em_record_thread *t, const struct em_record_site *site,
                         const uint64_t *values)
{
    for (uint64_t left = site->handles; left; left &= left - 1) {
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

static uint8_t *put_arguments(uint8_t *p, const struct em_record_site *site, const uint64_t *values)
{
    for (uint32_t i = 0; i < site->count; i++)
        p = em_varint(p, values[i]);
    return p;
}

// Writes only the arguments that differ from those of the site's record in the window.
static uint8_t *put_differences(uint8_t *p, const struct em_record_site *site,
                                const uint64_t *values)
{
    unsigned same = 0;
    for (uint32_t i = 0; i < site->count; i++)
        same |= (unsigned)(values[i] == site->values[i]) << i;
    p = em_varint(p, same);
    for (unsigned left = ~same & ((1u << site->count) - 1); left; left &= left - 1)
        p = em_varint(p, values[__builtin_ctz(left)]);
    return p;
}

// Writes the record of a call without its blobs, which get `blobs_B` bytes.
static inline struct em_record begin_call(struct em_thread *self, struct em_record_thread *t,
                                          struct em_record_site *site, const uint64_t *values,
                                          size_t blobs_B)
{
    const size_t most = (2 + (size_t)site->count) * EM_FIELD_MOST_B + EM_RECORD_PREFIX_B;
    const unsigned flags =
        (t->depth ? RF_CALL_NESTED : 0) | (site->of_library ? RF_CALL_OF_LIBRARY : 0);
    struct em_record r = em_record_begin_now(RF_CALL, flags, most + blobs_B);
    if (em_unlikely(!r.thread))
        return r;
    uint8_t *p = r.at;
    if (em_likely(!site->of_library)) {
        p = em_varint(p, em_zigzag(self->calls - t->last_call));
        t->last_call = self->calls;
    }
    const bool has_number = site >= t->sites && site < t->sites + RF_SITES;
    p = em_varint(p, has_number ? (uint64_t)(site - t->sites) : RF_SITES);
    if (site->window == t->sequence + 1) {
        r.start[3] |= RF_CALL_REPEATS;
        r.at = put_differences(p, site, values);
        return r;
    }
    memcpy(p, site->prefix, sizeof site->prefix);
    r.at = put_arguments(p + site->prefix_B, site, values);
    if (has_number && site->count <= EM_RECORD_VALUES) {
        site->window = t->sequence + 1;
        memcpy(site->values, values, site->count * sizeof *values);
    }
    return r;
}

// Blobs get more space if they need it, and are cut if that is not enough.
static __attribute__((noinline)) struct em_record record_inputs(struct em_thread *self,
                                                                struct em_record_thread *t,
                                                                struct em_record_site *site,
                                                                const uint64_t *values)
{
    struct em_record_blobs blobs = {.entry = site->entry, .values = values};
    struct em_record r = {.thread = NULL};
    bool fits = false;
    for (size_t blobs_B = BLOBS_FIRST_B; !fits; blobs_B = BLOBS_MOST_B) {
        t = em_record_thread_for(RECORD_HEAD_MOST_B + blobs_B); // which may change t->ticks
        if (!t)
            return (struct em_record){.thread = NULL};
        const uint64_t before = t->ticks, number = t->last_call;
        r = begin_call(self, t, site, values, blobs_B);
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
    return r;
}

static void record_call(struct em_thread *self, struct em_record_thread *t,
                        struct em_record_site *site, const uint64_t *values)
{
    struct em_record r;
    if (site->inputs) {
        r = record_inputs(self, t, site, values);
    } else {
        r = begin_call(self, t, site, values, 0);
        em_record_put(&r);
        t->begun = r.start;
    }
    if (em_likely(r.thread && t->depth < EM_RECORD_DEPTH))
        t->calls[t->depth++] = (struct em_record_call){.entry = site->entry,
                                                       .number = site->of_library ? 0 : self->calls,
                                                       .outputs = site->outputs,
                                                       .failure = site->failure,
                                                       .of_library = site->of_library};
}

void em_record_call(struct em_thread *self, const struct em_entry *entry, const uint64_t *values,
                    const void *caller)
{
    if (!em_recording)
        return;
    struct em_record_thread *t = em_record_thread_for(1);
    if (em_unlikely(!t))
        return;
    struct em_record_site *site = site_of(t, entry, self->caller, caller);
    name_handles(t, site, values);
    record_call(self, t, site, values);
    if (values)
        em_stop(EM_STOP_CALL, entry->name, 0);
}

// The begin of the call was not recorded.
static __attribute__((cold, noinline)) void record_unknown_call(struct em_thread *self,
                                                                const struct em_entry *entry)
{
    struct em_record_thread *t = em_record_thread_for(1);
    struct em_record_site site = {.entry = entry, .by = self->caller};
    if (!t)
        return;
    fill_site(&site, true);
    site.outputs = site.failure = entry->description != NULL;
    record_call(self, t, &site, NULL);
}

static inline struct em_record begin_return(const struct em_record_call *call, CUresult result,
                                            size_t blobs_B)
{
    struct em_record r = em_record_begin_now(RF_RETURN, call->of_library ? RF_RETURN_OF_LIBRARY : 0,
                                             2 * EM_FIELD_MOST_B + blobs_B);
    if (!call->of_library)
        em_field(&r, call->number);
    em_field(&r, (uint64_t)result);
    return r;
}

static __attribute__((noinline)) void record_outputs(const struct em_entry *entry,
                                                     const struct em_record_call *call,
                                                     CUresult result, const uint64_t *values)
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
        r = begin_return(call, result, blobs_B);
        fits = em_record_add_blobs(&r, &blobs) || blobs_B == BLOBS_MOST_B;
        if (!fits)
            t->ticks = before;
    }
    em_record_put(&r);
}

void em_record_return(const struct em_entry *entry, CUresult result, const uint64_t *values)
{
    struct em_thread *self = em_thread();
    struct em_record_thread *t = self->record;
    if (!em_recording)
        return;
    unsigned depth = t ? t->depth : 0;
    while (depth && t->calls[depth - 1].entry != entry)
        depth--;
    if (em_unlikely(!depth)) {
        record_unknown_call(self, entry);
        t = self->record;
        depth = t ? t->depth : 0;
    }
    if (!depth)
        return;
    const bool is_innermost = depth == t->depth;
    const struct em_record_call *call = &t->calls[depth - 1];
    const bool follows = result ? call->failure : call->outputs;
    t->depth = depth - 1;
    if (em_likely(!result && !follows && is_innermost && t->ended == t->last && t->ended)) {
        t->ended[3] |= RF_SUBMIT_RETURNS;
        t->ended = NULL;
        return;
    }
    if (em_likely(!result && !follows && is_innermost && t->begun == t->last && t->begun &&
                  em_record_is_open(t) && em_record_extend(t, t->begun, RF_CALL_RETURNED))) {
        t->begun = NULL;
        return;
    }
    if (follows) {
        record_outputs(entry, call, result, values);
        return;
    }
    struct em_record r = begin_return(call, result, 0);
    em_record_put(&r);
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
    struct em_record_thread *t = em_recording ? em_record_thread_for(1) : NULL;
    if (t) {
        struct em_record_site *site = site_of(t, entry, NULL, self->caller_returns_to);
        site->of_library = true;
        record_call(self, t, site, values);
        em_stop(EM_STOP_CALL, entry->name, 0);
    }
    em_work_end(entry);
    restore_cancellation(self);
}

void em_record_library_return(const struct em_entry *entry, int result, const uint64_t *values)
{
    struct em_thread *self = em_thread();
    em_work_begin(entry);
    const struct em_record_thread *t = self->record;
    unsigned depth = t && em_recording ? t->depth : 0;
    while (depth && t->calls[depth - 1].entry != entry)
        depth--;
    if (depth) // else its begin was not recorded
        em_record_return(entry, (CUresult)result, values);
    em_work_end(entry);
    restore_cancellation(self);
}
