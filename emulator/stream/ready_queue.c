// SPDX-License-Identifier: MIT
// A pairing heap of commands.
#include "ready_queue.h"

#include "command.h"
#include "lock.h"
#include "scheduler.h"

// Of two heaps, the one whose root has the higher rank becomes the first child of the other. Equal
// ranks keep the order of submission.
static struct em_command *merge(struct em_command *a, struct em_command *b)
{
    em_scheduler.steps++;
    if (b->rank < a->rank || (b->rank == a->rank && b->sequence < a->sequence)) {
        struct em_command *swap = a;
        a = b;
        b = swap;
    }
    b->sibling = a->child;
    a->child = b;
    return a;
}

void em_ready_push(struct em_ready_queue *queue, struct em_command *c, uint64_t rank)
{
    em_assert_locked();
    c->rank = rank;
    c->child = c->sibling = NULL;
    queue->first = queue->first ? merge(queue->first, c) : c;
}

struct em_command *em_ready_pop(struct em_ready_queue *queue)
{
    em_assert_locked();
    struct em_command *top = queue->first, *pairs = NULL, *all = NULL;
    // The children are merged in pairs from left to right, …
    for (struct em_command *a = top->child, *rest; a; a = rest) {
        struct em_command *b = a->sibling;
        rest = b ? b->sibling : NULL;
        if (b)
            a = merge(a, b);
        a->sibling = pairs;
        pairs = a;
    }
    // … and the pairs from right to left. Because of this a pop is logarithmic on average.
    for (struct em_command *next; pairs; pairs = next) {
        next = pairs->sibling;
        pairs->sibling = NULL;
        all = all ? merge(all, pairs) : pairs;
    }
    queue->first = all;
    return top;
}
