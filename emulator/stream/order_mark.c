// SPDX-License-Identifier: MIT
// The ordering checker: the order of two accesses, and the marks that pass it on.
#include "alloc.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"

// ---- the order of two accesses ----

bool em_order_knows(struct em_clock *known, const struct em_order_who *who)
{
    em_assert_locked();
    return em_clock_get(known, who->key) >= who->sequence ||
           (who->step && em_order_knows_step(known, who)) ||
           (who->ordered &&
            em_clock_get(known, em_order_sibling(who->key, EM_ORDER_ORDERED)) >= who->sequence) ||
           em_clock_get(known, em_order_sibling(who->key, EM_ORDER_ALL)) >= who->sequence;
}

bool em_order_is_before(const struct em_order_who *who, const struct em_order_point *p)
{
    em_assert_locked();
    if (!p)
        return em_order_knows(em_order.host, who);
    if (who->key == p->key) // of a graph's step: the same launch, or an earlier one
        return who->sequence != p->sequence || !p->launch || who->step == p->step ||
               p->launch->reaches(p->launch, who->step - 1, p->step - 1);
    // The legacy stream waits for all blocking streams.
    if (who->ordered && p->key == em_order_sibling(who->key, EM_ORDER_ORDERED) &&
        who->sequence < p->sequence)
        return true;
    return em_order_knows(p->known, who);
}

// ---- marks ----

static bool covers(const struct em_clock *known, uint64_t key, uint64_t sequence)
{
    return key && em_clock_get(known, key) >= sequence;
}

static bool mark_covers(const struct em_order_mark *m, uint64_t key, uint64_t sequence)
{
    return (key && key == m->key && sequence <= m->sequence) || covers(m->known, key, sequence);
}

static void join_unless_known(struct em_clock **known, const struct em_order_mark *m)
{
    if (!covers(*known, m->base, m->base_sequence))
        em_clock_join(known, m->known);
}

// Adds a mark to a clock that nothing is known about.
void em_order_join_mark(struct em_clock **known, const struct em_order_mark *m)
{
    if (covers(*known, m->key, m->sequence))
        return;
    join_unless_known(known, m);
    if (m->key)
        em_clock_raise(known, m->key, m->sequence);
}

bool em_order_add_mark(struct em_order_point *p, const struct em_order_mark *m)
{
    if (m->key && m->key == p->base ? m->sequence <= p->base_sequence
                                    : covers(p->known, m->key, m->sequence))
        return false;
    if (mark_covers(m, p->base, p->base_sequence)) {
        em_clock_unref(p->known);
        p->known = em_clock_ref(m->whole ? m->whole : m->known);
    } else if (!m->base || m->base != p->key || m->base_sequence > p->sequence) {
        join_unless_known(&p->known, m);
    } // else the mark knows, apart from its own command, the past of this point
    const bool whole = m->whole && p->known == m->whole,
               same = m->key && (whole || p->known == m->known); // the mark knows all of it
    if (m->key && !whole)
        em_clock_raise(&p->known, m->key, m->sequence);
    p->base = same ? m->key : 0;
    p->base_sequence = m->sequence;
    return same;
}

void em_order_mark_drop(struct em_order_mark *m)
{
    em_assert_locked();
    em_clock_unref(m->known);
    em_clock_unref(m->whole);
    *m = (struct em_order_mark){.known = NULL};
}

void em_order_mark(struct em_command *c, struct em_order_mark *m)
{
    em_assert_locked();
    const struct em_order_point *p = c->order;
    em_order_mark_drop(m);
    if (!p || em_order.stopped)
        return;
    if (p->launch)
        em_order_release_step(c->stream->object.context, p, &m->known);
    else
        *m = (struct em_order_mark){.known = em_clock_ref(p->known),
                                    .base = p->base,
                                    .base_sequence = p->base_sequence,
                                    .key = p->key,
                                    .sequence = p->sequence};
    em_order_stop_if_failed();
}

void em_order_acquire_mark(struct em_command *c, struct em_order_mark *m)
{
    em_assert_locked();
    struct em_order_point *p = c->order;
    struct em_stream *s = c->stream;
    if (!p || em_order.stopped)
        return;
    if (em_order_add_mark(p, m) && !m->whole)
        m->whole = em_clock_ref(p->known);
    p->waited = (struct em_order_call){c->call, c->entry};
    p->acquired_late = em_clock_get(em_order.host, p->key) >= p->sequence;
    em_order_list_waiter(s);
    em_order_stop_if_failed();
}

// ---- order between commands ----

void em_order_release(struct em_command *c, struct em_clock **to)
{
    em_assert_locked();
    if (!c->order || em_order.stopped)
        return;
    if (c->order->launch) {
        em_order_release_step(c->stream->object.context, c->order, to);
    } else {
        em_clock_join(to, c->order->known);
        em_clock_raise(to, c->order->key, c->order->sequence);
    }
    em_order_stop_if_failed();
}

void em_order_acquire(struct em_command *c, struct em_clock *from)
{
    em_assert_locked();
    struct em_order_point *p = c->order;
    struct em_stream *s = c->stream;
    if (!p || em_order.stopped)
        return;
    em_order_add_mark(p, &(struct em_order_mark){.known = from});
    p->waited = (struct em_order_call){c->call, c->entry};
    p->acquired_late = em_clock_get(em_order.host, p->key) >= p->sequence;
    em_order_list_waiter(s);
    em_order_stop_if_failed();
}

void em_order_recorded(struct em_command *c)
{
    em_assert_locked();
    if (!c->order)
        return;
    c->order->recorded = (struct em_order_call){c->call, c->entry};
    c->order->recorded_sequence = c->order->sequence;
}

void em_order_release_context(struct em_context *context, uint64_t up_to, struct em_clock **to)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    em_order_join_waiters(context);
    em_clock_join(to, context->work.order_all);
    em_clock_prune(to, em_order_key(context->id, 0), em_order_key(context->id, UINT32_MAX), up_to);
    em_clock_raise(to, em_order_key(context->id, EM_ORDER_ALL), up_to);
    em_order_stop_if_failed();
}
