// SPDX-License-Identifier: MIT
// The order of operations: a topological order in which every loop is contiguous, after its head
// (a weak topological order: Bourdoncle, "Efficient chaotic iteration strategies with widenings",
// 1993).
//
//     A ─▶ B ─▶ C ─▶ D         the order A  B C  D: a lane that leaves the loop waits at D,
//          ▲    │              because lanes at B and C come first
//          └────┘
//
// Strongly connected components are found by Tarjan's algorithm without recursion; the inside of a
// loop is ordered in the same way, without the edges to its head.
#include "flow.h"
#include "alloc.h"

#include <stdlib.h>
#include <string.h>

#include "body.h"

enum { LOOPS_MOST = 200 }; // nested; deeper loops are left in the order of a depth-first search

struct block {
    uint32_t first, end; // operations
    uint32_t region;     // of the set that is ordered now
    uint32_t number, low;
    bool on_stack;
};

struct visit {
    uint32_t block, successor;
};

struct flow {
    struct px_lower *l;
    struct block *blocks;
    uint32_t block_count;
    uint32_t *block_of; // by operations that begin a block, UINT32_MAX for others
    uint32_t *order;    // result
    uint32_t order_count;
    uint32_t *stack;
    struct visit *visits;
    uint32_t number, region;
};

static bool ends_block(const struct px_op *op)
{
    switch (op->code) {
    case PX_BRANCH:
    case PX_BRANCH_TABLE:
    case PX_RETURN:
    case PX_EXIT:
    case PX_TRAP:
        return true;
    default:
        return false;
    }
}

static bool falls(const struct px_op *op)
{
    return !ends_block(op) || op->guard != PX_NONE;
}

// The n-th block after a block, or UINT32_MAX after the last one. Branches come first and the
// next block last, so that it follows in the order if it can.
static uint32_t successor(const struct flow *f, uint32_t block, uint32_t n)
{
    const struct block *b = &f->blocks[block];
    const struct px_op *op = &f->l->ops[b->end - 1];
    if (op->code == PX_BRANCH) {
        if (!n)
            return f->block_of[op->target];
        n--;
    } else if (op->code == PX_BRANCH_TABLE) {
        if (n < op->target_count)
            return f->block_of[op->targets[n]];
        n -= op->target_count;
    }
    return !n && falls(op) ? f->block_of[b->end] : UINT32_MAX;
}

static void blocks_find(struct flow *f)
{
    struct px_lower *l = f->l;
    const uint32_t count = (uint32_t)l->op_count;
    for (uint32_t i = 0; i <= count; i++)
        f->block_of[i] = i ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct px_op *op = &l->ops[i];
        if (op->code == PX_BRANCH)
            f->block_of[op->target] = 0;
        for (uint32_t k = 0; op->code == PX_BRANCH_TABLE && k < op->target_count; k++)
            f->block_of[op->targets[k]] = 0;
        if (ends_block(op))
            f->block_of[i + 1] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (f->block_of[i] == UINT32_MAX)
            continue;
        if (f->block_count)
            f->blocks[f->block_count - 1].end = i;
        f->blocks[f->block_count] = (struct block){.first = i, .region = UINT32_MAX};
        f->block_of[i] = f->block_count++;
    }
    f->blocks[f->block_count - 1].end = count;
}

// Pops one component from the stack to the end of `out`, which is filled from its end. Returns its
// size; its blocks stand in out[*at …].
static uint32_t component_pop(struct flow *f, uint32_t root, uint32_t *stack_count, uint32_t *out,
                              uint32_t *at)
{
    uint32_t size = 0, block;
    do {
        block = f->stack[--*stack_count];
        f->blocks[block].on_stack = false;
        out[--*at] = block;
        size++;
    } while (block != root);
    return size;
}

// Tarjan's search from `root` over the blocks of f->region. Writes components to out, the last one
// first, from *at down, and each component's size at its first block.
static void search(struct flow *f, uint32_t root, uint32_t *out, uint32_t *at, uint32_t *sizes)
{
    uint32_t depth = 0, stack_count = 0;
    f->visits[depth++] = (struct visit){root, 0};
    f->blocks[root].number = f->blocks[root].low = ++f->number;
    f->blocks[root].on_stack = true;
    f->stack[stack_count++] = root;
    while (depth) {
        struct visit *v = &f->visits[depth - 1];
        struct block *b = &f->blocks[v->block];
        const uint32_t next = successor(f, v->block, v->successor);
        if (next == UINT32_MAX) {
            if (b->low == b->number) {
                const uint32_t size = component_pop(f, v->block, &stack_count, out, at);
                sizes[*at] = size;
            }
            depth--;
            if (depth && f->blocks[f->visits[depth - 1].block].low > b->low)
                f->blocks[f->visits[depth - 1].block].low = b->low;
            continue;
        }
        v->successor++;
        struct block *n = &f->blocks[next];
        if (n->region != f->region)
            continue;
        if (!n->number) {
            n->number = n->low = ++f->number;
            n->on_stack = true;
            f->stack[stack_count++] = next;
            f->visits[depth++] = (struct visit){next, 0};
        } else if (n->on_stack && n->number < b->low) {
            b->low = n->number;
        }
    }
}

// Orders the blocks list[0 … count). A search that begins later comes earlier in the order.
static void order_set(struct flow *f, const uint32_t *list, uint32_t count, unsigned depth)
{
    uint32_t *out = dm_alloc(count * sizeof(*out)), *sizes = dm_calloc(count + 1, sizeof(*sizes));
    if (!out || !sizes) {
        px_lower_no_memory(f->l);
        dm_free(out);
        dm_free(sizes);
        return;
    }
    const uint32_t region = ++f->region;
    uint32_t at = count;
    for (uint32_t i = 0; i < count; i++) {
        f->blocks[list[i]].region = region;
        f->blocks[list[i]].number = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!f->blocks[list[i]].number)
            search(f, list[i], out, &at, sizes);
    for (uint32_t i = at; i < count && !f->l->error; i += sizes[i]) {
        f->order[f->order_count++] = out[i];
        if (sizes[i] > 1 && depth < LOOPS_MOST)
            order_set(f, out + i + 1, sizes[i] - 1, depth + 1);
        else if (sizes[i] > 1)
            for (uint32_t k = 1; k < sizes[i]; k++)
                f->order[f->order_count++] = out[i + k];
    }
    dm_free(out);
    dm_free(sizes);
}

// Blocks that can be reached from the first one, in a list that begins with it.
static uint32_t reach(struct flow *f, uint32_t *list)
{
    uint32_t count = 0;
    list[count++] = 0;
    f->blocks[0].region = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next;
        for (uint32_t n = 0; (next = successor(f, list[i], n)) != UINT32_MAX; n++)
            if (f->blocks[next].region) {
                f->blocks[next].region = 0;
                list[count++] = next;
            }
    }
    return count;
}

// A block's last operation is a branch to the block that follows it: it can be dropped.
static bool branch_is_idle(const struct flow *f, uint32_t position)
{
    const struct px_op *op = &f->l->ops[f->blocks[f->order[position]].end - 1];
    return op->code == PX_BRANCH && position + 1 < f->order_count &&
           f->block_of[op->target] == f->order[position + 1];
}

static uint32_t missing_branch(const struct flow *f, uint32_t position)
{
    const struct block *b = &f->blocks[f->order[position]];
    const struct px_op *op = &f->l->ops[b->end - 1];
    if (!falls(op))
        return UINT32_MAX;
    const uint32_t next = f->block_of[b->end];
    return position + 1 < f->order_count && f->order[position + 1] == next ? UINT32_MAX : next;
}

// Writes the operations in their new order. `starts` gets each block's new first operation.
static size_t write_ops(struct flow *f, struct px_op *out, uint32_t *starts)
{
    size_t count = 0;
    for (uint32_t i = 0; i < f->order_count; i++) {
        const struct block *b = &f->blocks[f->order[i]];
        const bool idle = branch_is_idle(f, i);
        const uint32_t missing = idle ? UINT32_MAX : missing_branch(f, i);
        starts[f->order[i]] = (uint32_t)count;
        for (uint32_t k = b->first; k < b->end - idle; k++)
            out[count++] = f->l->ops[k];
        // An idle branch with a guard still has a next block, which may be elsewhere.
        const uint32_t next = idle ? missing_branch(f, i) : missing;
        if (next != UINT32_MAX) {
            struct px_op branch = f->l->ops[b->end - 1];
            branch = (struct px_op){.code = PX_BRANCH,
                                    .members = PX_NONE,
                                    .guard = PX_NONE,
                                    .line = branch.line,
                                    .function = branch.function,
                                    .target = f->blocks[next].first};
            if (idle) { // lanes that do not take the branch go there
                branch.guard = f->l->ops[b->end - 1].guard;
                branch.guard_not = !f->l->ops[b->end - 1].guard_not;
            }
            out[count++] = branch;
        }
    }
    return count;
}

static void targets_write(struct flow *f, struct px_op *ops, size_t count, const uint32_t *starts)
{
    for (size_t i = 0; i < count; i++) {
        if (ops[i].code == PX_BRANCH)
            ops[i].target = starts[f->block_of[ops[i].target]];
        uint32_t *targets = (uint32_t *)(uintptr_t)ops[i].targets;
        for (uint32_t k = 0; ops[i].code == PX_BRANCH_TABLE && k < ops[i].target_count; k++)
            targets[k] = starts[f->block_of[targets[k]]];
    }
}

static bool *meets_make(struct px_lower *l)
{
    bool *meets = px_arena_array(&l->arena, l->op_count + 1, sizeof(*meets));
    for (size_t i = 0; meets && i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        if (op->code == PX_BRANCH)
            meets[op->target] = true;
        for (uint32_t k = 0; op->code == PX_BRANCH_TABLE && k < op->target_count; k++)
            meets[op->targets[k]] = true;
        if (ends_block(op))
            meets[i + 1] = true;
    }
    return meets;
}

static void order_all(struct flow *f)
{
    struct px_lower *l = f->l;
    blocks_find(f);
    uint32_t *list = dm_calloc(f->block_count, sizeof(*list));
    uint32_t *starts = dm_calloc(f->block_count, sizeof(*starts));
    struct px_op *ops = dm_calloc(l->op_count + f->block_count, sizeof(*ops));
    if (list && starts && ops) {
        order_set(f, list, reach(f, list), 0);
        if (!l->error) {
            const size_t count = write_ops(f, ops, starts);
            targets_write(f, ops, count, starts);
            dm_free(l->ops);
            l->ops = ops;
            l->op_capacity = l->op_count + f->block_count;
            l->op_count = count;
            ops = NULL;
        }
    } else {
        px_lower_no_memory(l);
    }
    dm_free(list);
    dm_free(starts);
    dm_free(ops);
}

void px_flow_order(struct px_lower *l, bool **meets)
{
    struct flow f = {.l = l};
    const size_t count = l->op_count + 1;
    f.blocks = dm_calloc(count, sizeof(*f.blocks));
    f.block_of = dm_calloc(count, sizeof(*f.block_of));
    f.order = dm_calloc(count, sizeof(*f.order));
    f.stack = dm_calloc(count, sizeof(*f.stack));
    f.visits = dm_calloc(count, sizeof(*f.visits));
    if (f.blocks && f.block_of && f.order && f.stack && f.visits)
        order_all(&f);
    else
        px_lower_no_memory(l);
    dm_free(f.blocks);
    dm_free(f.block_of);
    dm_free(f.order);
    dm_free(f.stack);
    dm_free(f.visits);
    *meets = l->error ? NULL : meets_make(l);
    if (!l->error && !*meets)
        px_lower_no_memory(l);
}
