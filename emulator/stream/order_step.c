// SPDX-License-Identifier: MIT
// The ordering checker: the steps of launched graphs.
//
// A launch has one epoch of its stream, because everything outside is before or after all of it.
// Two exceptions need the graph's edges: two steps of the same launch, and work outside that waits
// for a step, such as the record of an event in the middle of the graph. Such a step becomes a
// component of its own: whoever knows it is ordered after the steps before it.
#include "alloc.h"
#include "lock.h"
#include "order_state.h"

enum { PARTS = 64 };

static struct part {
    uint64_t launch_key, sequence;  // of the launch
    uint64_t key;                   // of the step
    uint32_t step;                  // 1 + its number
    struct em_order_launch *launch; // a reference
} parts[PARTS];
static uint64_t part_count;
static uint64_t forgotten; // launches up to this one count as ordered, because parts were dropped

void em_order_launch_unref(struct em_order_launch *l)
{
    em_assert_locked();
    if (l && !--l->references)
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

void em_order_release_step(const struct em_order_point *p, struct em_clock **to)
{
    em_assert_locked();
    struct part *part = &parts[part_count++ % PARTS];
    if (part->launch && part->sequence > forgotten)
        forgotten = part->sequence;
    em_order_launch_unref(part->launch);
    *part = (struct part){.launch_key = p->key,
                          .sequence = p->sequence,
                          .key = em_order_new_key(p->key),
                          .step = p->step,
                          .launch = p->launch};
    part->launch->references++;
    em_clock_join(to, p->known);
    em_clock_raise(to, part->key, p->sequence);
}

bool em_order_knows_step(struct em_clock *known, const struct em_order_who *who)
{
    em_assert_locked();
    if (who->sequence <= forgotten)
        return true;
    for (unsigned i = 0; i < PARTS; i++) {
        const struct part *p = &parts[i];
        if (p->launch_key == who->key && p->sequence == who->sequence &&
            em_clock_get(known, p->key) >= p->sequence &&
            (p->step == who->step || p->launch->reaches(p->launch, who->step - 1, p->step - 1)))
            return true;
    }
    return false;
}
