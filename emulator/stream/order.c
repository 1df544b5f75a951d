// SPDX-License-Identifier: MIT
// The ordering checker: the clocks of streams and of the host.
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"
#include "scheduler.h"

enum { EXIT_CODE = 66, SPARE_SEARCHED = 4 };

bool em_order_on;
struct em_order em_order;

static uint32_t last_component = EM_ORDER_STREAMS;

// A component of a stream that has ended. A new stream takes it over if all that the old one did is
// ordered before the new one, which then goes on like the old one. So clocks do not grow in a
// program that creates streams again and again.
struct em_order_spare {
    uint32_t component;
    bool ordered;
    uint64_t sequence;
    struct em_order_spare *next;
};

void em_order_start(void)
{
    em_assert_unlocked();
    em_order_on = em_config()->check_order;
}

// The checker is not worth more than the program: without memory it stops, and the program goes on.
static void stop_if_failed(void)
{
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
    fprintf(stderr, "cardless: CARDLESS_CHECK=order: ");
    if (em_order.found)
        fprintf(stderr, "%llu accesses without order were found",
                (unsigned long long)em_order.found);
    else
        fprintf(stderr, "no access without order was found");
    if (em_order.repeated)
        fprintf(stderr, ", and %llu repetitions of them", (unsigned long long)em_order.repeated);
    fprintf(stderr, "%s\n", em_order.stopped ? "; it stopped early, without memory" : "");
    bool fails = em_order.found && em_config()->check_exits;
    em_unlock();
    if (!fails)
        return;
    fflush(NULL);
    _exit(EXIT_CODE);
}

// ---- components ----

uint64_t em_order_new_key(uint64_t sibling)
{
    em_assert_locked();
    return em_order_sibling(sibling, ++last_component);
}

static uint64_t take_spare(struct em_context *context)
{
    struct em_order_spare **at = &context->work.order_spare;
    for (unsigned i = 0; *at && i < SPARE_SEARCHED; i++, at = &(*at)->next) {
        struct em_order_spare *s = *at;
        const struct em_order_who last = {.key = em_order_key(context->id, s->component),
                                          .sequence = s->sequence,
                                          .ordered = s->ordered};
        if (!em_order_knows(em_order.host, &last))
            continue;
        *at = s->next;
        dm_free(s);
        return last.key;
    }
    return em_order_key(context->id, ++last_component);
}

struct em_order_point *em_order_point_of(struct em_stream *s)
{
    em_assert_locked();
    if (em_unlikely(!s->order.key))
        s->order.key = s->kind == EM_STREAM_LEGACY
                           ? em_order_key(s->object.context->id, EM_ORDER_ORDERED)
                           : take_spare(s->object.context);
    return &s->order;
}

void em_order_stream_ends(struct em_stream *s)
{
    em_assert_locked();
    em_clock_unref(s->order.known);
    s->order.known = NULL;
    if (!s->order.key || s->dead || s->kind == EM_STREAM_LEGACY)
        return;
    struct em_order_spare *spare = dm_alloc(sizeof *spare);
    if (!spare)
        return;
    struct em_context_work *work = &s->object.context->work;
    *spare = (struct em_order_spare){(uint32_t)s->order.key, s->blocking, s->order.sequence,
                                     work->order_spare};
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
    em_clock_unref(work->order_all);
    em_clock_unref(work->order_ordered);
    work->order_all = work->order_ordered = NULL;
    for (struct em_order_spare *s = work->order_spare, *next; s; s = next) {
        next = s->next;
        dm_free(s);
    }
    work->order_spare = NULL;
}

// ---- what is before what ----

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

// Adds a mark to a clock that nothing is known about.
static void join_mark(struct em_clock **known, const struct em_order_mark *m)
{
    if (covers(*known, m->key, m->sequence))
        return;
    if (!covers(*known, m->base, m->base_sequence))
        em_clock_join(known, m->known);
    if (m->key)
        em_clock_raise(known, m->key, m->sequence);
}

// Adds a mark to what a point knows.
static void add_mark(struct em_order_point *p, const struct em_order_mark *m)
{
    if (covers(p->known, m->key, m->sequence))
        return;
    if (m->key && covers(m->known, p->base, p->base_sequence)) { // the mark knows all of it
        em_clock_unref(p->known);
        p->known = em_clock_ref(m->known);
        em_clock_raise(&p->known, m->key, m->sequence);
        p->base = m->key;
        p->base_sequence = m->sequence;
        return;
    }
    join_mark(&p->known, m);
    p->base = 0;
}

void em_order_mark_drop(struct em_order_mark *m)
{
    em_assert_locked();
    em_clock_unref(m->known);
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
        em_order_release_step(p, &m->known);
    else
        *m = (struct em_order_mark){em_clock_ref(p->known), p->base, p->base_sequence, p->key,
                                    p->sequence};
    stop_if_failed();
}

void em_order_acquire_mark(struct em_command *c, const struct em_order_mark *m)
{
    em_assert_locked();
    struct em_order_point *p = c->order;
    const struct em_stream *s = c->stream;
    if (!p || em_order.stopped)
        return;
    add_mark(p, m);
    p->waited = (struct em_order_call){c->call, c->entry};
    struct em_context_work *work = &s->object.context->work;
    join_mark(&work->order_all, m);
    if (s->blocking || s->kind == EM_STREAM_LEGACY)
        join_mark(&work->order_ordered, m);
    stop_if_failed();
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
    c->entry = em_self.entry;
    if (s->of_graph || em_order.stopped)
        return;
    if (em_order.host_changed) { // the commands from here on know it
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
                                 .step = c->order->step,
                                 .ordered = s->blocking || s->kind == EM_STREAM_LEGACY,
                                 .stream_kind = (uint8_t)s->kind,
                                 .stream_number = s->object.number,
                                 .name = c->ops->name,
                                 .call = c->call,
                                 .entry = c->entry};
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
    stop_if_failed();
}

// The command knows all that ran before it in `other`.
static void join_stream(struct em_order_point *p, const struct em_stream *other)
{
    if (!other || !other->order.key)
        return;
    const struct em_order_point *o = &other->order;
    add_mark(p, &(struct em_order_mark){o->known, o->base, o->base_sequence, o->key, o->sequence});
}

// The host had waited for this when it submitted the stream's next command.
static void add_host(struct em_order_point *p, struct em_clock *host)
{
    const uint64_t version = em_clock_get(host, EM_ORDER_HOST);
    const struct em_order_mark m = {.known = host, .key = EM_ORDER_HOST, .sequence = version};
    if (!version)
        return;
    // Whoever knows the stream's last command knows all that the stream does.
    if (p->sequence && em_clock_get(host, p->key) >= p->sequence) {
        p->base = p->key;
        p->base_sequence = p->sequence;
    }
    add_mark(p, &m);
}

void em_order_started(struct em_command *c)
{
    em_assert_locked();
    struct em_stream *s = c->stream;
    const struct em_context *context = s->object.context;
    if (c->order || s->of_graph || em_order.stopped)
        return;
    struct em_order_point *p = c->order = em_order_point_of(s);
    add_host(p, c->order_host);
    p->sequence = c->sequence;
    em_clock_unref(c->order_host);
    c->order_host = NULL;
    // All legacy commands that have run by now were submitted before this one.
    if (s->blocking)
        join_stream(p, context->default_stream);
    else if (s->kind == EM_STREAM_LEGACY)
        add_mark(p, &(struct em_order_mark){.known = context->work.order_ordered});
    if (em_unlikely(c->order_barrier))
        join_stream(p, context->work.barrier);
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

// ---- order between commands ----

void em_order_release(struct em_command *c, struct em_clock **to)
{
    em_assert_locked();
    if (!c->order || em_order.stopped)
        return;
    if (c->order->launch) {
        em_order_release_step(c->order, to);
    } else {
        em_clock_join(to, c->order->known);
        em_clock_raise(to, c->order->key, c->order->sequence);
    }
    stop_if_failed();
}

void em_order_acquire(struct em_command *c, struct em_clock *from)
{
    em_assert_locked();
    struct em_order_point *p = c->order;
    struct em_stream *s = c->stream;
    if (!p || em_order.stopped)
        return;
    add_mark(p, &(struct em_order_mark){.known = from});
    p->waited = (struct em_order_call){c->call, c->entry};
    // For those who wait for many streams at once.
    struct em_context_work *work = &s->object.context->work;
    em_clock_join(&work->order_all, from);
    if (s->blocking || s->kind == EM_STREAM_LEGACY)
        em_clock_join(&work->order_ordered, from);
    stop_if_failed();
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
    em_clock_join(to, context->work.order_all);
    em_clock_prune(to, em_order_key(context->id, 0), em_order_key(context->id, UINT32_MAX), up_to);
    em_clock_raise(to, em_order_key(context->id, EM_ORDER_ALL), up_to);
    stop_if_failed();
}

// ---- the host ----

static void host_waited(void)
{
    em_order.host_changed = true;
    em_order.host_wait = (struct em_order_call){em_call_now(), em_self.entry};
    stop_if_failed();
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
    join_mark(&em_order.host, m);
    host_waited();
}

void em_order_host_release(struct em_clock **to)
{
    em_assert_locked();
    if (!em_order.stopped)
        em_clock_join(to, em_order.host);
    stop_if_failed();
}

void em_order_host_waited(struct em_command *c)
{
    em_assert_locked();
    if (!c->order || em_order.stopped)
        return;
    struct em_order_mark m = {.known = NULL};
    em_order_mark(c, &m);
    join_mark(&em_order.host, &m);
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
    join_mark(&em_order.host, &m);
    if (s->kind == EM_STREAM_LEGACY)
        em_clock_join(&em_order.host, s->object.context->work.order_ordered);
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
