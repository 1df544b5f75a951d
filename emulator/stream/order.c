// SPDX-License-Identifier: MIT
// The ordering checker: its start and end, the commands of streams, and the host.
#include "order.h"

#include <stdio.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"
#include "scheduler.h"
#include "startup.h"

bool em_order_on;
struct em_order em_order;

DM_STARTUP void em_order_start(void)
{
    em_assert_unlocked();
    em_order_on = em_config()->check_order;
}

// The checker is not worth more than the program: without memory it stops, and the program goes on.
void em_order_stop_if_failed(void)
{
    em_assert_locked();
    if (em_likely(!em_clock_failed) || em_order.stopped)
        return;
    em_order.stopped = true;
    em_explain(CUDA_SUCCESS, "out of host memory for CARDLESS_CHECK=order, which checks nothing "
                             "from here on");
}

void em_order_finish(void)
{
    em_assert_unlocked();
    if (!em_order_on)
        return;
    em_lock();
    em_order_stop_if_failed();
    fprintf(stderr, "cardless: CARDLESS_CHECK=order: ");
    if (em_order.found)
        fprintf(stderr, "%llu %s without order %s found", (unsigned long long)em_order.found,
                em_order.found == 1 ? "access" : "accesses", em_order.found == 1 ? "was" : "were");
    else
        fprintf(stderr, "no access without order was found");
    if (em_order.repeated)
        fprintf(stderr, ", and %llu repetitions of them", (unsigned long long)em_order.repeated);
    if (em_order.incomplete)
        fprintf(stderr, "; there were too many accesses to compare all of them");
    fprintf(stderr, "%s\n", em_order.stopped ? "; it stopped early, without memory" : "");
    em_unlock();
}

// ---- commands ----

void em_order_submitted(struct em_command *c)
{
    em_assert_locked();
    const struct em_stream *s = c->stream, *barrier = s->object.context->work.barrier;
    c->order = NULL;
    c->order_host = NULL;
    c->order_barrier = false;
    c->call = em_call_now();
    c->entry = em_named_entry();
    if (s->of_graph || em_order.stopped)
        return;
    // Commands that are submitted from now on come after all that the host has waited for.
    if (em_order.host_changed) {
        em_clock_raise(&em_order.host, EM_ORDER_HOST, ++em_order.host_version);
        em_order.host_changed = false;
    }
    c->order_host = em_clock_ref(em_order.host);
    c->order_barrier = barrier && barrier != s;
}

static struct em_order_who who_of(const struct em_command *c)
{
    const struct em_stream *s = c->stream;
    return (struct em_order_who){.key = c->order->key,
                                 .sequence = c->order->sequence,
                                 .launch = c->order->launch,
                                 .step = c->order->step,
                                 .ordered = c->order->ordered,
                                 .stream_kind = (uint8_t)s->kind,
                                 .stream_number = s->object.number,
                                 .name = c->ops->name,
                                 .call = c->call,
                                 .entry = c->entry,
                                 .near = c->order->near};
}

void em_order_check_all(const struct em_command *c)
{
    em_assert_locked();
    if (c->access_count && !em_order.stopped) {
        struct em_order_who who = who_of(c);
        const struct em_access *list = em_command_accesses(c);
        for (unsigned i = 0; i < c->access_count; i++)
            em_order_check(c->order, &who, &list[i]);
        em_order_collect();
    }
    em_order_stop_if_failed();
}

// Orders the command after all that ran before it in `other`.
static void join_stream(struct em_order_point *p, const struct em_stream *other)
{
    if (!other || !other->order.key)
        return;
    const struct em_order_point *o = &other->order;
    em_order_add_mark(p, &(struct em_order_mark){.known = o->known,
                                                 .base = o->base,
                                                 .base_sequence = o->base_sequence,
                                                 .key = o->key,
                                                 .sequence = o->sequence});
}

// The stream's next command comes after all that the host had waited for when it submitted the
// command.
static void add_host(struct em_order_point *p, struct em_clock *host)
{
    if (host == p->host)
        return;
    em_clock_unref(p->host);
    p->host = em_clock_ref(host);
    const uint64_t version = em_clock_get(host, EM_ORDER_HOST);
    const struct em_order_mark m = {.known = host, .key = EM_ORDER_HOST, .sequence = version};
    if (!version)
        return;
    const struct em_order_who last = {
        .key = p->key, .sequence = p->sequence, .ordered = p->ordered};
    if (p->acquired_late || !p->sequence || !em_order_knows(host, &last)) {
        em_order_add_mark(p, &m);
        return;
    }
    // Whoever knows the stream's last command knows all that the stream does.
    em_clock_unref(p->known);
    p->known = em_clock_ref(host);
    p->base = EM_ORDER_HOST;
    p->base_sequence = version;
}

// The command knows all that the host knew when it submitted the command.
static void join_host(struct em_order_point *p, struct em_command *c)
{
    add_host(p, c->order_host);
    em_clock_unref(c->order_host);
    c->order_host = NULL;
}

// The legacy default stream and the blocking streams wait for each other. All legacy commands that
// have run by now were submitted before this one.
static void join_ordered(struct em_order_point *p, struct em_stream *s)
{
    struct em_context *context = s->object.context;
    if (s->blocking) {
        join_stream(p, context->default_stream);
    } else if (s->kind == EM_STREAM_LEGACY) {
        em_order_join_waiters(context);
        em_order_add_mark(p, &(struct em_order_mark){.known = context->work.order_ordered});
    }
}

void em_order_started(struct em_command *c)
{
    em_assert_locked();
    struct em_stream *s = c->stream;
    if (c->order || s->of_graph || em_order.stopped)
        return;
    struct em_order_point *p = c->order = em_order_point_of(s);
    join_host(p, c);
    p->sequence = c->sequence;
    p->acquired_late = false;
    join_ordered(p, s);
    if (em_unlikely(c->order_barrier))
        join_stream(p, s->object.context->work.barrier);
    em_order_check_all(c);
}

void em_order_left(struct em_command *c)
{
    em_assert_locked();
    em_clock_unref(c->order_host); // it never started
    c->order_host = NULL;
}

void em_order_access(struct em_command *c, uint64_t first, uint64_t size_B, enum em_order_act act)
{
    em_assert_locked();
    if (!c->order || em_order.stopped)
        return;
    struct em_order_who who = who_of(c);
    who.act = (uint8_t)act;
    em_order_check_span(c->order, &who, first, size_B);
}

// ---- the host ----

static void host_waited(void)
{
    em_order.host_changed = true;
    em_order.host_wait = (struct em_order_call){em_call_now(), em_named_entry()};
    em_order_stop_if_failed();
}

void em_order_host_acquire(struct em_clock *from)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    em_clock_join(&em_order.host, from);
    host_waited();
}

void em_order_host_acquire_mark(const struct em_order_mark *m)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    em_order_join_mark(&em_order.host, m);
    host_waited();
}

void em_order_host_release(struct em_clock **to)
{
    em_assert_locked();
    if (!em_order.stopped)
        em_clock_join(to, em_order.host);
    em_order_stop_if_failed();
}

void em_order_host_waited(struct em_command *c)
{
    em_assert_locked();
    if (!c->order || em_order.stopped)
        return;
    struct em_order_mark m = {.known = NULL};
    em_order_mark(c, &m);
    em_order_join_mark(&em_order.host, &m);
    em_order_mark_drop(&m);
    host_waited();
}

void em_order_host_waited_stream(struct em_stream *s, uint64_t up_to)
{
    em_assert_locked();
    if (em_order.stopped || (!s->order.key && s->kind != EM_STREAM_LEGACY))
        return;
    const struct em_order_point *p = em_order_point_of(s);
    const uint64_t last = p->sequence > p->allocated ? p->sequence : p->allocated;
    if (s->kind != EM_STREAM_LEGACY && em_clock_get(em_order.host, p->key) >= last)
        return; // it has waited for this before
    const struct em_order_mark m = {
        .known = p->known, .base = p->base, .base_sequence = p->base_sequence};
    em_order_join_mark(&em_order.host, &m);
    if (s->kind == EM_STREAM_LEGACY) {
        em_order_join_waiters(s->object.context);
        em_clock_join(&em_order.host, s->object.context->work.order_ordered);
    }
    em_clock_raise(&em_order.host, p->key, up_to);
    host_waited();
}

void em_order_host_waited_context(struct em_context *context, uint64_t up_to)
{
    em_assert_locked();
    if (em_order.stopped)
        return;
    em_order_release_context(context, up_to, &em_order.host);
    host_waited();
}
