// SPDX-License-Identifier: MIT
// The ordering checker: the components of clocks. Those of streams that have ended, and of steps of
// graphs, are used again, so that clocks do not grow with the length of a program.
#include "alloc.h"
#include "call.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"

static uint32_t last_component = EM_ORDER_STREAMS;

// A component of a stream that has ended. A new stream takes it over if all that the old one did is
// ordered before the new one, which then goes on like the old one. So clocks do not grow in a
// program that creates streams again and again.
struct em_order_spare {
    uint32_t component;
    bool ordered;
    uint64_t sequence;
    struct em_order_spare *next; // in a ring
};

uint32_t em_order_components(void)
{
    em_assert_locked();
    return last_component - EM_ORDER_STREAMS;
}

uint64_t em_order_new_key(uint64_t sibling)
{
    em_assert_locked();
    return em_order_sibling(sibling, ++last_component);
}

// Those that cannot be taken over yet go to the end of the line. Searches that are not needed are
// saved for later, so that in the end all are tried before a new component is made.
static uint64_t take_spare(struct em_context *context)
{
    struct em_order_spare **last = &context->work.order_spare, *end = *last;
    uint64_t *left = &context->work.order_spare_searches;
    for (*left += EM_ORDER_SEARCHES; *last && *left; --*left) {
        struct em_order_spare *first = (*last)->next;
        const struct em_order_who who = {.key = em_order_key(context->id, first->component),
                                         .sequence = first->sequence,
                                         .ordered = first->ordered};
        if (em_order_knows(em_order.host, &who)) {
            (*last)->next = first->next;
            if (first == *last)
                *last = NULL;
            dm_free(first);
            return who.key;
        }
        *last = first;
        if (first == end)
            break;
    }
    return em_order_key(context->id, ++last_component);
}

struct em_order_point *em_order_point_of(struct em_stream *s)
{
    em_assert_locked();
    if (em_unlikely(!s->order.key)) {
        s->order.near = &s->order_near;
        s->order.ordered = s->blocking || s->kind == EM_STREAM_LEGACY;
        s->order.key = s->kind == EM_STREAM_LEGACY
                           ? em_order_key(s->object.context->id, EM_ORDER_ORDERED)
                           : take_spare(s->object.context);
    }
    return &s->order;
}

// ---- streams that have waited ----

void em_order_list_waiter(struct em_stream *s)
{
    em_assert_locked();
    struct em_context_work *work = &s->object.context->work;
    if (s->order.waits || s->dead)
        return;
    s->order.waits = true;
    s->order.next_waiter = work->order_waiters;
    work->order_waiters = s;
}

// Takes all streams off the list; `join` their clocks before.
static void empty_waiters(struct em_context_work *work, bool join)
{
    for (struct em_stream *s = work->order_waiters; s; s = s->order.next_waiter) {
        const struct em_order_point *p = &s->order;
        const struct em_order_mark m = {
            .known = p->known, .base = p->base, .base_sequence = p->base_sequence};
        s->order.waits = false;
        if (!join)
            continue;
        em_order_join_mark(&work->order_all, &m);
        if (p->ordered)
            em_order_join_mark(&work->order_ordered, &m);
    }
    work->order_waiters = NULL;
}

void em_order_join_waiters(struct em_context *context)
{
    em_assert_locked();
    empty_waiters(&context->work, true);
}

// ---- the end of streams and contexts ----

void em_order_stream_ends(struct em_stream *s)
{
    em_assert_locked();
    if (s->order.waits)
        em_order_join_waiters(s->object.context);
    em_history_forget_near(&s->order_near);
    em_clock_unref(s->order.known);
    em_clock_unref(s->order.host);
    s->order.known = s->order.host = NULL;
    if (!s->order.key || s->dead || s->kind == EM_STREAM_LEGACY)
        return;
    struct em_order_spare *spare = dm_alloc(sizeof *spare);
    if (!spare)
        return;
    struct em_context_work *work = &s->object.context->work;
    const uint64_t last =
        s->order.sequence > s->order.allocated ? s->order.sequence : s->order.allocated;
    *spare = (struct em_order_spare){(uint32_t)s->order.key, s->blocking, last, spare};
    if (work->order_spare) {
        spare->next = work->order_spare->next;
        work->order_spare->next = spare;
    }
    work->order_spare = spare;
}

static bool is_of_context(const struct em_order_record *r, void *argument)
{
    return r->who.key >> 32 == *(uint64_t *)argument;
}

void em_order_context_ends(struct em_context *context)
{
    em_assert_locked();
    struct em_context_work *work = &context->work;
    uint64_t id = context->id;
    em_history_sweep(is_of_context, &id);
    em_clock_prune(&em_order.host, em_order_key(id, 0), em_order_key(id, UINT32_MAX), UINT64_MAX);
    empty_waiters(work, false);
    em_clock_unref(work->order_all);
    em_clock_unref(work->order_ordered);
    work->order_all = work->order_ordered = NULL;
    for (struct em_order_spare *s = work->order_spare, *next; s; s = next) {
        next = s->next != work->order_spare ? s->next : NULL;
        dm_free(s);
    }
    work->order_spare = NULL;
    em_order_chains_free(&work->order_chain);
}
