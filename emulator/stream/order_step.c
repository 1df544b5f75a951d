// SPDX-License-Identifier: MIT
// The ordering checker: the steps of launched graphs.
//
// A launch has one epoch of its stream, because everything outside is before or after all of it.
// Two exceptions need the graph's edges: two steps of the same launch, and work outside that waits
// for a step, such as the record of an event in the middle of the graph. Such a step becomes an
// epoch of a chain, which is a component whose steps follow each other:
//
//     chain  ──▶ step 3 of launch 7 ──▶ step 5 of launch 7 ──▶ step 3 of launch 8 ──▶ …
//     epoch         20                     21                     34
//
// Whoever knows the chain up to an epoch is ordered after its step, and so after the steps that the
// graph orders before it. A chain goes on with any step that is ordered after its last one, so that
// there are no more of them than steps that run side by side, however many launches there are.
#include "alloc.h"
#include "context.h"
#include "lock.h"
#include "order_state.h"
#include "scheduler.h"

struct em_order_chain {
    uint64_t key;
    struct em_order_who last;     // with a reference to its launch
    struct em_order_parts *parts; // of that launch
    struct em_order_chain *next;  // in a ring
};

// The steps of a launch in one chain, in the order of their epochs.
struct em_order_parts {
    uint64_t key;
    uint32_t count, capacity;
    struct part {
        uint64_t epoch;
        uint32_t step; // 1 + its number
    } * list;
    struct em_order_parts *next; // of the launch
};

void em_order_launch_unref(struct em_order_launch *l)
{
    em_assert_locked();
    if (!l || --l->references)
        return;
    for (struct em_order_parts *p = l->parts, *next; p; p = next) {
        next = p->next;
        dm_free(p->list);
        dm_free(p);
    }
    l->free(l);
}

void em_order_step_started(struct em_command *c, struct em_order_point *point,
                           const struct em_command *launch)
{
    em_assert_locked();
    c->order = point;
    c->call = launch->call;
    c->entry = launch->entry;
    em_order_check_all(c);
}

// ---- chains ----

// Puts a new chain at the end of the ring.
static struct em_order_chain *new_chain(struct em_order_chain **last, uint64_t key)
{
    struct em_order_chain *c = dm_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->key = key;
    c->next = *last ? (*last)->next : c;
    if (*last)
        (*last)->next = c;
    *last = c;
    return c;
}

// The chain that the step continues. Those that it cannot continue go to the end of the line, as
// spare components do (order_component.c).
static struct em_order_chain *chain_for(struct em_context *context, const struct em_order_point *p)
{
    struct em_order_chain **last = &context->work.order_chain, *end = *last;
    uint64_t *left = &context->work.order_chain_searches;
    for (*left += EM_ORDER_SEARCHES; *last && *left; --*left) {
        *last = (*last)->next;
        if (em_order_is_before(&(*last)->last, p))
            return *last;
        if (*last == end)
            break;
    }
    return new_chain(last, em_order_new_key(p->key));
}

static void chain_end_at(struct em_order_chain *c, const struct em_order_point *p)
{
    p->launch->references++;
    em_order_launch_unref(c->last.launch);
    c->last = (struct em_order_who){.key = p->key,
                                    .sequence = p->sequence,
                                    .launch = p->launch,
                                    .step = p->step,
                                    .ordered = p->ordered};
}

void em_order_chains_free(struct em_order_chain **last)
{
    em_assert_locked();
    for (struct em_order_chain *c = *last, *next; c; c = next) {
        next = c->next != *last ? c->next : NULL;
        em_order_launch_unref(c->last.launch);
        dm_free(c);
    }
    *last = NULL;
}

// ---- parts ----

static bool add_part(struct em_order_parts *p, uint64_t epoch, uint32_t step)
{
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity ? 2 * p->capacity : 4;
        struct part *more = dm_realloc(p->list, capacity * sizeof *more);
        if (!more)
            return false;
        p->list = more;
        p->capacity = capacity;
    }
    p->list[p->count++] = (struct part){epoch, step};
    return true;
}

static struct em_order_parts *new_parts(struct em_order_launch *l, uint64_t key)
{
    struct em_order_parts *p = dm_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->key = key;
    p->next = l->parts;
    l->parts = p;
    return p;
}

// The last part up to an epoch, or NULL.
static const struct part *part_at(const struct em_order_parts *p, uint64_t epoch)
{
    uint32_t low = 0, high = p->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->list[middle].epoch <= epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &p->list[low - 1] : NULL;
}

// Adds the step to a chain. Returns false if the host runs out of memory.
static bool continue_chain(struct em_context *context, const struct em_order_point *p,
                           uint64_t epoch, uint64_t *key)
{
    struct em_order_chain *c = chain_for(context, p);
    if (!c)
        return false;
    if (c->last.launch != p->launch || !c->parts)
        c->parts = new_parts(p->launch, c->key);
    if (!c->parts || !add_part(c->parts, epoch, p->step))
        return false;
    chain_end_at(c, p);
    *key = c->key;
    return true;
}

void em_order_release_step(struct em_context *context, const struct em_order_point *p,
                           struct em_clock **to)
{
    em_assert_locked();
    uint64_t key, epoch = ++em_scheduler.last_sequence;
    if (!continue_chain(context, p, epoch, &key)) {
        em_clock_failed = true;
        return;
    }
    em_clock_join(to, p->known);
    em_clock_raise(to, p->key, p->sequence - 1); // the work of the stream before the launch
    em_clock_raise(to, key, epoch);
}

bool em_order_knows_step(struct em_clock *known, const struct em_order_who *who)
{
    em_assert_locked();
    for (const struct em_order_parts *p = who->launch->parts; p; p = p->next) {
        const struct part *part = part_at(p, em_clock_get(known, p->key));
        if (part && (part->step == who->step ||
                     who->launch->reaches(who->launch, who->step - 1, part->step - 1)))
            return true;
    }
    return false;
}
