// SPDX-License-Identifier: MIT
// Dependencies between commands, and the states that they go through.
#include "scheduler.h"

#include <assert.h>

#include "call.h"
#include "choice.h"
#include "condition.h"
#include "context.h"
#include "lock.h"
#include "order.h"
#include "outside.h"
#include "policy.h"
#include "record.h"
#include "record_command.h"
#include "service.h"
#include "stream.h"

struct em_scheduler em_scheduler = {.progress = PTHREAD_COND_INITIALIZER,
                                    .policy = &em_policy_eager};

static bool has_failed(const struct em_command *c)
{
    return em_context_has_failed(c->stream->object.context);
}

// ---- the pending commands of a context ----

static struct em_command_list *list_of(const struct em_stream *s)
{
    struct em_context_work *work = &s->object.context->work;
    return s->blocking || s->kind == EM_STREAM_LEGACY ? &work->ordered : &work->unordered;
}

// stream.c reads the heads of the lists without the lock. The release order makes the
// effects of a command visible to a thread that sees its list empty.
static void set_head(struct em_command **head, struct em_command *c)
{
    __atomic_store_n(head, c, __ATOMIC_RELEASE);
}

static void append(struct em_command_list *list, struct em_command *c)
{
    c->next = NULL;
    c->previous = list->last;
    if (list->last)
        list->last->next = c;
    else
        set_head(&list->first, c);
    list->last = c;
}

static void unlink_pending(struct em_command_list *list, struct em_command *c)
{
    if (c->previous)
        c->previous->next = c->next;
    else
        set_head(&list->first, c->next);
    if (c->next)
        c->next->previous = c->previous;
    else
        list->last = c->previous;
}

static bool starts_by(const struct em_command_list *list, uint64_t up_to)
{
    return list->first && list->first->sequence <= up_to;
}

bool em_context_ordered_is_pending(const struct em_context *context, uint64_t up_to)
{
    em_assert_locked();
    return starts_by(&context->work.ordered, up_to);
}

bool em_context_is_pending(const struct em_context *context, uint64_t up_to)
{
    em_assert_locked();
    return starts_by(&context->work.ordered, up_to) || starts_by(&context->work.unordered, up_to);
}

// ---- conditions ----

static void make_ready(struct em_command *c)
{
    struct em_context_work *work = &c->stream->object.context->work;
    em_scheduler.steps++;
    c->state = EM_READY;
    if (work->abandoned) // em_scheduler_abandon finds it in the list
        return;
    work->active++;
    bool host = c->ops->place == EM_HOST_THREAD, only_one = !em_scheduler.ready.first;
    if (em_unlikely(em_scheduler.policy->decide != NULL)) {
        em_choice_add(c, em_scheduler.policy->rank(c));
        host = false;
    } else {
        em_ready_push(host ? &em_scheduler.hosted : &em_scheduler.ready, c,
                      em_scheduler.policy->rank(c));
    }
    if (host)
        em_service_wake_host();
    else if (em_unlikely(em_scheduler.policy->late_ms && only_one))
        em_service_wake_late();
}

static void park(struct em_command *c)
{
    struct em_condition *on = c->condition;
    c->state = EM_PARKED;
    c->next_parked = NULL;
    c->previous_parked = on->last;
    if (on->last)
        on->last->next_parked = c;
    else
        on->first = c;
    on->last = c;
}

static void unpark(struct em_command *c)
{
    struct em_condition *on = c->condition;
    if (c->previous_parked)
        c->previous_parked->next_parked = c->next_parked;
    else
        on->first = c->next_parked;
    if (c->next_parked)
        c->next_parked->previous_parked = c->previous_parked;
    else
        on->last = c->previous_parked;
    c->state = EM_BLOCKED;
    if (!on->first && on->source)
        em_source_unwatch(on->source);
}

static bool is_ready(struct em_command *c)
{
    em_scheduler.steps++;
    return !c->ops->ready || has_failed(c) || c->ops->ready(c);
}

// Returns whether the command, which is parked, has become ready.
static bool ask_parked(struct em_command *c)
{
    if (!is_ready(c))
        return false;
    unpark(c);
    make_ready(c);
    return true;
}

void em_scheduler_ask(struct em_command *c)
{
    em_assert_locked();
    ask_parked(c);
}

void em_scheduler_take_turn(struct em_command *c)
{
    em_assert_locked();
    assert(!c->unfinished && (!c->ops->ready || c->condition));
    if (c->stream->object.context->work.abandoned || is_ready(c)) {
        make_ready(c);
        return;
    }
    park(c);
    // The source may have changed between the question and the beginning of the watch.
    if (c->condition->source) {
        em_source_watch(c->condition->source);
        ask_parked(c);
    }
}

void em_condition_notify(struct em_condition *condition)
{
    em_assert_locked();
    for (struct em_command *c = condition->first, *next; c; c = next) {
        next = c->next_parked;
        ask_parked(c);
    }
}

void em_condition_notify_in_order(struct em_condition *condition)
{
    em_assert_locked();
    while (condition->first && ask_parked(condition->first))
        ;
}

void em_condition_notify_some(struct em_condition *condition, unsigned count)
{
    em_assert_locked();
    const struct em_command *last = condition->last;
    bool all = false;
    for (struct em_command *c; !all && count && (c = condition->first); count--) {
        all = c == last;
        if (!ask_parked(c) && c->next_parked) { // to the end of the line
            condition->first = c->next_parked;
            condition->first->previous_parked = NULL;
            park(c);
        }
    }
}

// ---- dependencies ----

static void add_edge(struct em_command *from, struct em_edge *edge, struct em_command *to)
{
    em_scheduler.steps++;
    edge->to = to;
    edge->next = from->successors;
    from->successors = edge;
    to->unfinished++;
}

// Whether the stream's next command needs an edge from the last command of `other`. It does
// not if a pending command of the stream was submitted after that one, because that command waits
// for it already.
static bool needs_edge(const struct em_stream *s, const struct em_stream *other)
{
    return other && other != s && other->last &&
           (!s->last || s->last->sequence < other->last->sequence);
}

void em_scheduler_enter(struct em_stream *s, struct em_command *c)
{
    em_assert_locked();
    struct em_context *context = s->object.context;
    struct em_command_list *list = list_of(s);
    em_scheduler.steps++;
    assert(c->stream == s);
    c->state = EM_BLOCKED;
    c->sequence = context->work.last_sequence = ++em_scheduler.last_sequence;
    c->unfinished = 0;
    c->next_in_stream = NULL;
    c->successors = NULL;
    c->waits_for_head = s->kind == EM_STREAM_LEGACY && list->first;
    c->unfinished = c->waits_for_head;
    if (s->blocking && em_unlikely(needs_edge(s, context->default_stream)))
        add_edge(context->default_stream->last, &c->after_legacy, c);
    if (em_unlikely(needs_edge(s, context->work.barrier) && !s->of_graph))
        add_edge(context->work.barrier->last, &c->after_barrier, c);
    if (s->last) {
        s->last->next_in_stream = c;
        c->unfinished++;
    } else {
        set_head(&s->first, c);
    }
    s->last = c;
    s->pending++;
    append(list, c);
    if (em_unlikely(em_order_on))
        em_order_submitted(c);
    if (em_unlikely(em_recording))
        em_record_submitted(c);
}

void em_scheduler_start(struct em_command *c)
{
    em_assert_locked();
    assert(!c->unfinished && c == c->stream->first);
    const bool at_once = c->state != EM_READY;
    if (at_once)
        c->stream->object.context->work.active++;
    c->state = EM_RUNNING;
    if (em_unlikely(em_order_on))
        em_order_started(c);
    if (em_unlikely(em_recording))
        em_record_started(c, at_once);
}

struct em_command *em_scheduler_choose(enum em_place place)
{
    em_assert_locked();
    struct em_ready_queue *from = &em_scheduler.ready;
    const struct em_command *any = from->first, *host = em_scheduler.hosted.first;
    if (place == EM_HOST_THREAD) {
        // It helps with the other commands if threads that complete some are meant to.
        if (!em_scheduler.policy->at_completion || (host && (!any || host->rank < any->rank)))
            from = &em_scheduler.hosted;
    }
    if (!from->first)
        return NULL;
    em_scheduler.points++;
    return em_ready_pop(from);
}

void em_scheduler_again(struct em_command *c)
{
    em_assert_locked();
    struct em_stream *s = c->stream;
    s->object.context->work.active--;
    c->state = EM_BLOCKED;
    if (s->first == s->last)
        s->waiting_since = ++em_scheduler.turns;
    em_scheduler_take_turn(c);
}

static void lose_predecessor(struct em_command *c)
{
    em_scheduler.steps++;
    if (--c->unfinished == 0)
        em_scheduler_take_turn(c);
}

// The edges were added at the front: the oldest successor goes first.
static struct em_edge *in_order(struct em_edge *edges)
{
    struct em_edge *first = NULL;
    for (struct em_edge *next; edges; edges = next) {
        next = edges->next;
        edges->next = first;
        first = edges;
    }
    return first;
}

void em_scheduler_leave(struct em_command *c)
{
    em_assert_locked();
    struct em_stream *s = c->stream;
    struct em_context_work *work = &s->object.context->work;
    struct em_command_list *list = list_of(s);
    assert(c == s->first);
    if (c->state == EM_RUNNING)
        work->active--;
    c->state = EM_PREPARED;
    if (em_unlikely(em_order_on))
        em_order_left(c);
    if (em_unlikely(em_recording))
        em_record_ended(c);
    unlink_pending(list, c);
    s->pending--;
    set_head(&s->first, c->next_in_stream);
    if (s->first)
        lose_predecessor(s->first);
    else
        s->last = NULL;
    for (struct em_edge *e = in_order(c->successors), *next; e; e = next) {
        next = e->next;
        lose_predecessor(e->to);
    }
    if (list->first && list->first->waits_for_head) {
        list->first->waits_for_head = false;
        lose_predecessor(list->first);
    }
    if (em_unlikely(work->reached.first))
        em_condition_notify_in_order(&work->reached);
}

// ---- the end of a context ----

// The older one of the first commands of the two lists.
static struct em_command *oldest(const struct em_context_work *work)
{
    struct em_command *a = work->ordered.first, *b = work->unordered.first;
    return !a || (b && b->sequence < a->sequence) ? b : a;
}

static void wake_list(struct em_command *c)
{
    for (; c; c = c->next) {
        if (c->state == EM_PARKED)
            ask_parked(c);
    }
}

void em_scheduler_context_failed(struct em_context *context)
{
    em_assert_locked();
    if (context->work.failed)
        return;
    context->work.failed = true;
    wake_list(context->work.ordered.first);
    wake_list(context->work.unordered.first);
}

void em_scheduler_abandon(struct em_context *context, CUresult result)
{
    em_assert_locked();
    struct em_context_work *work = &context->work;
    struct em_command *c;
    assert(!work->active);
    work->abandoned = true;
    work->abandonments += oldest(work) != NULL;
    while ((c = oldest(work))) {
        if (c->state == EM_PARKED)
            unpark(c);
        em_command_end_waiting(c, result);
    }
    work->abandoned = work->failed = false;
}
