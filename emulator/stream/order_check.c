// SPDX-License-Identifier: MIT
// The ordering checker: compares accesses with the history of their memory.
#include "alloc.h"
#include "call.h"
#include "context.h"
#include "lock.h"
#include "order_signal.h"
#include "order_state.h"
#include "scheduler.h"

enum {
    SLICES_MOST = 1 << 14, // of a box in linear memory that is checked; no array has more
    FEW = 4096,            // records that are always kept
    MOST = 1 << 20,        // records that are never exceeded
    PENDING_MOST = 64,     // commands that are compared before records are dropped
};

static bool judge(const struct em_order_record *older, const struct em_footprint *bytes,
                  const struct em_order_who *who, bool conflict, void *point)
{
    em_order_steps++;
    // A clock that could not grow lacks an order that the program has.
    if (em_clock_failed || em_order_is_before(&older->who, point))
        return true;
    // "Callers must ensure that all accesses to these pointer have completed before invoking
    // ::cuMemFree": the allocation is not one of them.
    if (!point && older->who.act == EM_ORDER_ALLOCATE)
        return true;
    if (conflict)
        em_order_report(older, bytes, who, point);
    return false;
}

// ---- accesses ----

static void add(const struct em_footprint *bytes, const struct em_order_who *who,
                const struct em_order_point *point)
{
    if (!em_history_add(bytes, who, judge, (void *)point))
        em_clock_failed = true;
}

static struct em_footprint span_of(uint64_t first, uint64_t size_B)
{
    return (struct em_footprint){.first = first, .end = first + size_B, .kind = EM_SPAN};
}

static void add_rows(const struct em_access *a, const struct em_order_who *who,
                     const struct em_order_point *point)
{
    struct em_footprint rows = span_of(a->address, a->slice_rows_B);
    rows.kind = EM_ROWS;
    rows.row_B = a->row_B;
    rows.pitch_B = a->pitch_B;
    uint64_t end = a->address + a->size_B;
    if (!a->pitch_B || !a->slice_B)
        return;
    if (a->size_B / a->slice_B > SLICES_MOST) {
        em_order.incomplete = true;
        return;
    }
    for (; rows.first < end; rows.first += a->slice_B, rows.end += a->slice_B)
        add(&rows, who, point);
}

static void add_box(const struct em_access *a, const struct em_order_who *who,
                    const struct em_order_point *point)
{
    struct em_footprint box = {
        .kind = EM_BOX, .storage = a->owner, .level = a->level, .at = a->at, .extent = a->extent};
    a->ops->span(a, &box.first, &box.end);
    add(&box, who, point);
}

void em_order_check(const struct em_order_point *point, const struct em_order_who *who,
                    const struct em_access *a)
{
    em_assert_locked();
    struct em_order_who w = *who;
    w.act = em_access_writes(a) ? EM_ORDER_WRITE : EM_ORDER_READ;
    if (a->ops && a->ops->span) {
        add_box(a, &w, point);
    } else if (a->form == EM_FORM_ROWS) {
        add_rows(a, &w, point);
    } else if (a->form == EM_FORM_SPAN && a->size_B) { // not a step without a word
        struct em_footprint span = span_of(a->address, a->size_B);
        add(&span, &w, point);
    }
}

void em_order_check_span(const struct em_order_point *point, const struct em_order_who *who,
                         uint64_t first, uint64_t size_B)
{
    em_assert_locked();
    struct em_footprint span = span_of(first, size_B);
    add(&span, who, point);
}

// ---- memory that begins and ends ----

static struct em_order_who host(enum em_order_act act, const char *name)
{
    return (struct em_order_who){
        .act = (uint8_t)act, .name = name, .call = em_call_now(), .entry = em_named_entry()};
}

void em_order_free(uint64_t first, uint64_t size_B)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    struct em_footprint span = span_of(first, size_B);
    struct em_order_who who = host(EM_ORDER_FREE, "free");
    em_history_end(&span, &who, judge, NULL);
}

void em_order_forget(uint64_t first, uint64_t size_B)
{
    em_assert_locked();
    em_history_forget(first, first + size_B);
    em_order_forget_words(first, size_B);
}

// The allocation is an access of a command that need not exist: it has a sequence number alone.
void em_order_allocate(struct em_stream *s, uint64_t first, uint64_t size_B)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    struct em_footprint span = span_of(first, size_B);
    struct em_order_who who = host(EM_ORDER_ALLOCATE, "allocation");
    em_history_forget(first, first + size_B);
    who.key = em_order_point_of(s)->key;
    who.ordered = s->blocking || s->kind == EM_STREAM_LEGACY;
    who.stream_kind = (uint8_t)s->kind;
    who.stream_number = s->object.number;
    who.sequence = s->order.allocated = ++em_scheduler.last_sequence;
    add(&span, &who, &s->order);
}

// ---- the size of the history ----

// The clocks that a pending command may still start from.
struct pending {
    struct em_clock *known[PENDING_MOST];
    unsigned count;
};

static bool list_pending(const struct em_command_list *list, struct pending *p)
{
    for (const struct em_command *c = list->first; c; c = c->next) {
        if (p->count == PENDING_MOST)
            return false;
        if (!c->stream->of_graph)
            p->known[p->count++] = c->order_host ? c->order_host : c->stream->order.known;
    }
    return true;
}

// A record that is ordered before all commands to come.
static bool is_over(const struct em_order_record *r, void *argument)
{
    const struct pending *p = argument;
    for (unsigned i = 0; i < p->count; i++)
        if (!em_order_knows(p->known[i], &r->who))
            return false;
    return em_order_knows(em_order.host, &r->who);
}

static bool is_older(const struct em_order_record *r, void *sequence)
{
    return r->who.sequence < *(uint64_t *)sequence;
}

static bool lowest(const struct em_order_record *r, void *sequence)
{
    uint64_t *at = sequence;
    if (r->who.sequence < *at)
        *at = r->who.sequence;
    return false;
}

static void collect(void)
{
    struct pending p = {.count = 0};
    bool all = true;
    for (struct em_context *c = em_context_next(NULL); c && all; c = em_context_next(c))
        all = list_pending(&c->work.ordered, &p) && list_pending(&c->work.unordered, &p);
    if (all)
        em_history_sweep(is_over, &p);
    // Nothing but a limit bounds the records of a program that never synchronises. The older half
    // of time goes, in which the checker then misses mistakes.
    while (em_history_count() > MOST / 2) {
        uint64_t first = UINT64_MAX;
        em_order.incomplete = true;
        em_history_sweep(lowest, &first);
        first += (em_scheduler.last_sequence - first) / 2 + 1;
        em_history_sweep(is_older, &first);
    }
    em_order.limit = 2 * em_history_count() > FEW ? 2 * em_history_count() : FEW;
}

void em_order_collect(void)
{
    em_assert_locked();
    if (em_history_count() > em_order.limit)
        collect();
}
