// SPDX-License-Identifier: MIT
// Puts operations between others, and changes the targets of branches accordingly.
#include "join_insert.h"

#include <string.h>

#include "alloc.h"

void px_insert(struct px_lower *l, struct px_insertions *all, uint32_t before,
               const struct px_op *op)
{
    struct px_insertion *grown = px_grow(all->list, all->count, &all->capacity, sizeof *grown);
    if (!grown) {
        px_lower_no_memory(l);
        return;
    }
    all->list = grown;
    grown[all->count++] = (struct px_insertion){before, *op};
}

// place[i]: the new index of the first operation that is put before operation i, or of itself.
static void find_places(const struct px_insertions *all, uint32_t *place, size_t count)
{
    for (size_t i = 0; i <= count; i++)
        place[i] = 0;
    for (size_t k = 0; k < all->count; k++)
        place[all->list[k].before + 1]++;
    for (size_t i = 0; i < count; i++)
        place[i + 1] += place[i] + 1;
}

static void move_targets(struct px_lower *l, struct px_op *op, const uint32_t *place)
{
    if (op->code == PX_BRANCH)
        op->target = place[op->target];
    if (!op->target_count)
        return;
    uint32_t *targets = px_arena_array(&l->arena, op->target_count, sizeof *targets);
    if (!targets) {
        px_lower_no_memory(l);
        return;
    }
    for (uint32_t n = 0; n < op->target_count; n++)
        targets[n] = place[op->targets[n]];
    op->targets = targets;
}

static void put_all(struct px_lower *l, const struct px_insertions *all, const uint32_t *place,
                    struct px_op *ops, bool *meets, const bool *old_meets)
{
    const size_t count = l->op_count;
    uint32_t *next = px_arena_array(&l->arena, count + 1, sizeof *next);
    if (!next) {
        px_lower_no_memory(l);
        return;
    }
    memcpy(next, place, (count + 1) * sizeof *next);
    for (size_t k = 0; k < all->count; k++)
        ops[next[all->list[k].before]++] = all->list[k].op;
    for (size_t i = 0; i < count && !l->error; i++) {
        ops[next[i]] = l->ops[i];
        move_targets(l, &ops[next[i]], place);
        meets[place[i]] = old_meets[i];
    }
    meets[place[count]] = old_meets[count];
}

void px_insert_all(struct px_lower *l, struct px_insertions *all, bool **meets)
{
    const size_t count = l->op_count, most = count + all->count;
    if (all->count && !l->error) {
        uint32_t *place = dm_alloc((count + 1) * sizeof *place);
        struct px_op *ops = dm_alloc(most * sizeof *ops);
        bool *new_meets = px_arena_array(&l->arena, most + 1, sizeof *new_meets);
        if (place && ops && new_meets) {
            find_places(all, place, count);
            put_all(l, all, place, ops, new_meets, *meets);
        } else {
            px_lower_no_memory(l);
        }
        if (!l->error) {
            dm_free(l->ops);
            l->ops = ops;
            l->op_count = l->op_capacity = most;
            *meets = new_meets;
        } else {
            dm_free(ops);
        }
        dm_free(place);
    }
    dm_free(all->list);
    *all = (struct px_insertions){0};
}
