// SPDX-License-Identifier: MIT
// The ordering checker: messages.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "check_result.h"
#include "config.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"

enum { PAIRS = 4096, PIECES = 8 };

const char *(*em_order_memory_text)(uint64_t address, char *out, size_t size);

// ---- pairs that were reported ----

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t mix_access(uint64_t hash, const struct em_order_who *who,
                           const struct em_footprint *bytes)
{
    hash = mix(hash, (uintptr_t)who->entry);
    hash = mix(hash, (uintptr_t)who->name);
    hash = mix(hash, who->key);
    hash = mix(hash, bytes->first);
    return mix(hash, bytes->end);
}

static uint64_t mix_who(uint64_t hash, const struct em_order_who *who)
{
    hash = mix(hash, who->key);
    hash = mix(hash, who->sequence);
    hash = mix(hash, who->step);
    return mix(hash, who->call);
}

// Whether these two accesses were reported already, because a third one had split the record of the
// older one. All reports of the newer access follow each other.
static bool is_same_pair(const struct em_order_who *older, const struct em_footprint *bytes,
                         const struct em_order_who *who)
{
    static uint64_t newer, reported[PIECES];
    static unsigned count;
    const uint64_t hash = mix(mix(mix_who(1, who), bytes->first), bytes->end),
                   old = mix_who(2, older);
    if (hash != newer)
        count = 0;
    newer = hash;
    for (unsigned i = 0; i < count; i++)
        if (reported[i] == old)
            return true;
    if (count < PIECES)
        reported[count++] = old;
    return false;
}

// Whether the same two calls, in the same streams, were reported for the same bytes before: a loop
// that makes a mistake makes it each time.
static bool is_repeated(const struct em_order_record *older, const struct em_footprint *bytes,
                        const struct em_order_who *who)
{
    static uint64_t pairs[PAIRS];
    uint64_t hash = mix_access(mix_access(1, &older->who, &older->bytes), who, bytes) | 1;
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t *at = &pairs[(hash + i) % PAIRS];
        if (*at == hash)
            return true;
        if (*at)
            continue;
        *at = hash;
        return false;
    }
    return false;
}

// ---- texts ----

struct text {
    char bytes[1024];
};

// A function of its own, so that the compiler does not count the bytes of texts in texts.
static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t->bytes, sizeof t->bytes, format, args);
    va_end(args);
}

static struct text stream_text(const struct em_order_who *who)
{
    struct text t;
    if (!who->key)
        put(&t, "the host");
    else if (who->stream_kind == EM_STREAM_LEGACY)
        put(&t, "the legacy default stream");
    else if (who->stream_kind == EM_STREAM_OF_THREAD)
        put(&t, "the per-thread default stream");
    else
        put(&t, "CUstream #%u", who->stream_number);
    return t;
}

static struct text call_text(uint64_t call, const struct em_entry *entry)
{
    struct text t;
    char number[64];
    em_call_text(call, number, sizeof number);
    put(&t, "%s (%s)", entry ? entry->name : "cardless", number);
    return t;
}

static const char *act_text(const struct em_order_who *who)
{
    static const char *const texts[] = {[EM_ORDER_READ] = "reads",
                                        [EM_ORDER_WRITE] = "writes",
                                        [EM_ORDER_ALLOCATE] = "allocates",
                                        [EM_ORDER_FREE] = "frees"};
    return texts[who->act];
}

// The stream that has the component now, or NULL.
static const struct em_stream *stream_of(uint64_t key)
{
    for (const struct em_context *c = em_context_next(NULL); c; c = em_context_next(c)) {
        for (const struct em_stream *s = c->streams; s; s = s->next)
            if (s->order.key == key)
                return s;
    }
    return NULL;
}

// The work that the program has ordered after the older access.
static struct text after_text(const struct em_order_who *older)
{
    struct text t, stream = stream_text(older);
    const struct em_stream *s = stream_of(older->key);
    if (!s || !s->order.recorded.call) {
        put(&t, "no event was recorded in %s", stream.bytes);
        return t;
    }
    struct text call = call_text(s->order.recorded.call, s->order.recorded.entry);
    put(&t, "the last event in %s was recorded %s it, by %s", stream.bytes,
        s->order.recorded_sequence > older->sequence ? "after" : "before", call.bytes);
    return t;
}

// The last wait before the newer access.
static struct text before_text(const struct em_order_who *who, const struct em_order_point *p)
{
    struct text t, stream = stream_text(who);
    const struct em_order_call *wait = p ? &p->waited : &em_order.host_wait;
    if (!wait->call) {
        put(&t, "%s has waited for no other work", stream.bytes);
        return t;
    }
    struct text call = call_text(wait->call, wait->entry);
    put(&t, "%s has last waited in %s", stream.bytes, call.bytes);
    return t;
}

// `first` was submitted before `second`.
static struct text missing_edge(const struct em_order_who *first, const struct em_order_who *second)
{
    struct text t, from = stream_text(first), to = stream_text(second),
                   before = call_text(first->call, first->entry),
                   after = call_text(second->call, second->entry);
    if (!second->key)
        put(&t, "synchronise with %s after %s and before %s", from.bytes, before.bytes,
            after.bytes);
    else
        put(&t, "record an event in %s after %s, and let %s wait for it before %s", from.bytes,
            before.bytes, to.bytes, after.bytes);
    return t;
}

// The order that is missing, and how to add it. The older access ran first, but may have been
// submitted later.
static struct text advice(const struct em_order_who *older, const struct em_order_who *who,
                          const struct em_order_point *point)
{
    struct text t;
    if (older->key == who->key) {
        put(&t, "nothing orders the two; add an edge between the two nodes of the graph");
    } else if (older->key && who->key && older->sequence > who->sequence) {
        struct text after = after_text(who), edge = missing_edge(who, older);
        put(&t, "nothing orders the two, so that the later call ran first: %s; %s", after.bytes,
            edge.bytes);
    } else {
        struct text after = after_text(older), before = before_text(who, point),
                    edge = missing_edge(older, who);
        put(&t, "nothing orders the two: %s, and %s; %s", after.bytes, before.bytes, edge.bytes);
    }
    return t;
}

// ---- the report ----

static enum em_diagnostic diagnostic_of(const struct em_order_who *older,
                                        const struct em_order_who *who)
{
    if (who->act == EM_ORDER_FREE || older->act == EM_ORDER_FREE)
        return EM_DIAG_O02;
    return older->act == EM_ORDER_ALLOCATE ? EM_DIAG_O03 : EM_DIAG_O01;
}

static void report(const struct em_order_record *older, const struct em_footprint *bytes,
                   const struct em_order_who *who, const struct em_order_point *point)
{
    char memory[256] = "";
    uint64_t first = 0, end = 0;
    em_footprints_meet(bytes, &older->bytes, &first, &end);
    if (em_order_memory_text)
        em_order_memory_text(first, memory, sizeof memory);
    struct text of = stream_text(&older->who), in = stream_text(who),
                call = call_text(older->who.call, older->who.entry),
                order = advice(&older->who, who, point);
    em_report(diagnostic_of(&older->who, who), CUDA_SUCCESS,
              "the %s in %s %s %llu bytes from %#llx on (%s), which the %s of %s in %s %s, and %s",
              who->name, in.bytes, act_text(who), (unsigned long long)(end - first),
              (unsigned long long)first, memory, older->who.name, call.bytes, of.bytes,
              act_text(&older->who), order.bytes);
}

void em_order_report(const struct em_order_record *older, const struct em_footprint *bytes,
                     const struct em_order_who *who, const struct em_order_point *point)
{
    em_assert_locked();
    if (is_same_pair(&older->who, bytes, who))
        return;
    if (is_repeated(older, bytes, who)) {
        em_order.repeated++;
        return;
    }
    em_order.found++;
    // In the name of the call that submitted the newer access, whichever thread runs it.
    struct em_thread *self = &em_self;
    const struct em_entry *entry = self->entry, *caller = self->caller,
                          *entry_caller = self->entry_caller;
    uint64_t number = self->number, calls = self->calls;
    self->entry = who->entry;
    self->caller = self->entry_caller = em_is_of_library(who->entry) ? who->entry : NULL;
    self->number = who->call >> 40;
    self->calls = who->call & ((UINT64_C(1) << 40) - 1);
    report(older, bytes, who, point);
    self->entry = entry;
    self->caller = caller;
    self->entry_caller = entry_caller;
    self->number = number;
    self->calls = calls;
    em_check_found();
}
