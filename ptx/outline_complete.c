// SPDX-License-Identifier: MIT
// Reads the functions that are not inlined, and completes calls and returns: their tables of
// targets, and the registers that they save.
#include "outline.h"

#include <errno.h>

#include "alloc.h"

// Takes the parameters from the shared registers.
static void parameters_take(struct px_body *b)
{
    struct px_lower *l = b->l;
    const struct px_function_text *t = &l->module->state->functions[b->function];
    const size_t count = t->returns.count + t->parameters.count;
    for (size_t i = 0; i < count && !l->error; i++) {
        const bool returned = i < t->returns.count;
        const struct px_formal *formal =
            returned ? &t->returns.list[i] : &t->parameters.list[i - t->returns.count];
        if (formal->in_register) {
            px_unsupported(l, "parameters in registers of functions that are not inlined");
            return;
        }
        struct px_slot *slot = px_slot_add(b, formal);
        if (!slot)
            return;
        if (slot->kind == PX_SLOT_LOCAL)
            slot->reg = px_temporary(l, 'w'); // its address
        if (slot->kind == PX_SLOT_LOCAL || !returned)
            px_move(l, px_slot_register(l, slot),
                    px_outline_shared(l, px_outline_letter(formal), PX_SHARED_VALUE + (uint32_t)i));
    }
}

static void instance_read(struct px_lower *l, uint32_t index)
{
    struct px_outline *o = l->outline;
    struct px_body b;
    struct px_instance *instance = &o->instances[index];
    o->instance = index;
    instance->entry = (uint32_t)l->op_count;
    instance->first = l->register_count;
    l->function = instance->function;
    px_body_start(&b, l, NULL, instance->function);
    b.outlined = true;
    l->body = &b;
    l->frame = instance->frame = px_temporary(l, 'w');
    instance->return_number = px_temporary(l, 'w');
    l->frame_B = 0;
    px_emit(l, "mov.32", instance->frame, px_outline_shared(l, 'w', PX_SHARED_FRAME));
    px_emit(l, "mov.32", instance->return_number, px_outline_shared(l, 'w', PX_SHARED_RETURN));
    instance->stack = px_stack_enter(l);
    px_names_open(&b.names);
    parameters_take(&b);
    if (!l->error)
        px_body_read(&b);
    if (!l->error)
        px_outline_return(&b);
    o->instances[index].end = l->register_count;
    o->instances[index].frame_B = (l->frame_B + 15) & ~UINT64_C(15);
    px_body_finish(&b);
    l->frame = PX_NONE;
}

static void spill_all(struct px_lower *l, const struct px_outline_call *call, bool restore,
                      uint64_t *frame_B)
{
    const struct px_instance *instance = &l->outline->instances[call->caller];
    uint64_t at_B = (instance->frame_B + 15) & ~UINT64_C(15);
    if (restore) // the shared register has the callee's frame, which follows this one
        px_emit(l, "sub.32", instance->frame, px_outline_shared(l, 'w', PX_SHARED_FRAME),
                px_outline_frame_size(l, call->caller));
    for (size_t i = instance->first; i < instance->end && !l->error; i++)
        if (l->registers[i].fill == PX_FILL_BY_OPS && l->registers[i].index < PX_SHARED_TOP &&
            i != instance->frame)
            px_stack_spill(l, (px_register)i, instance->frame, &at_B, restore);
    *frame_B = at_B;
}

// ---- tables, while operations still have their first indices ----

// Emits a branch by a register to one of `count` targets, which are at first `trap`.
static uint32_t *table_emit(struct px_lower *l, uint32_t index, size_t count, uint32_t trap,
                            uint32_t *at)
{
    const px_register number = px_outline_shared(l, 'w', index);
    uint32_t *targets = px_arena_array(&l->arena, count, sizeof(*targets));
    px_emit_code(l, PX_BRANCH_TABLE, 0, NULL, 0, &number, 1);
    if (!targets || l->error) {
        px_lower_no_memory(l);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        targets[i] = trap;
    *at = (uint32_t)l->op_count - 1;
    l->ops[*at].targets = targets;
    l->ops[*at].target_count = (uint32_t)count;
    return targets;
}

// The branch table of a list, by the functions' addresses. The last target is for wild addresses.
static void list_table(struct px_lower *l, struct px_callees *list, uint32_t trap)
{
    const struct px_outline *o = l->outline;
    uint32_t *targets =
        table_emit(l, PX_SHARED_NUMBER, l->module->function_count + 2ul, trap, &list->call_table);
    for (uint32_t k = 0; targets && k < list->count; k++) {
        const struct px_instance *callee = &o->instances[list->list[k]];
        targets[px_function_address(callee->function)] = callee->entry;
    }
}

static bool has_callee(const struct px_callees *list, uint32_t instance)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->list[k] == instance)
            return true;
    return false;
}

// The table of the calls that functions return to: those of one list, or one instance.
static uint32_t return_table(struct px_lower *l, uint32_t list, uint32_t instance, uint32_t trap)
{
    const struct px_outline *o = l->outline;
    uint32_t at = 0;
    uint32_t *targets = table_emit(l, PX_SHARED_RETURN, o->call_count, trap, &at);
    for (size_t c = 0; targets && c < o->call_count; c++) {
        const struct px_outline_call *call = &o->calls[c];
        if (call->list == PX_DIRECT
                ? call->callee == instance
                : call->list == list || has_callee(&o->lists[call->list], instance))
            targets[c] = call->restore;
    }
    return at;
}

// Finds the functions that only calls of one list reach. They share the table of their returns.
static void sole_lists_find(struct px_outline *o)
{
    const uint32_t unknown = PX_DIRECT - 1;
    for (size_t i = 0; i < o->instance_count; i++)
        o->instances[i].sole_list = unknown;
    for (uint32_t i = 0; i < o->list_count; i++)
        for (uint32_t k = 0; k < o->lists[i].count; k++) {
            uint32_t *sole = &o->instances[o->lists[i].list[k]].sole_list;
            *sole = *sole == unknown ? i : PX_DIRECT;
        }
    for (size_t i = 0; i < o->call_count; i++)
        if (o->calls[i].list == PX_DIRECT)
            o->instances[o->calls[i].callee].sole_list = PX_DIRECT;
    for (size_t i = 0; i < o->instance_count; i++)
        if (o->instances[i].sole_list == unknown)
            o->instances[i].sole_list = PX_DIRECT;
}

static void returns_fill(struct px_lower *l, uint32_t trap)
{
    struct px_outline *o = l->outline;
    sole_lists_find(o);
    for (size_t i = 0; i < o->return_count && !l->error; i++) {
        const uint32_t instance = o->returns[i].instance, list = o->instances[instance].sole_list;
        uint32_t table;
        if (list == PX_DIRECT)
            table = return_table(l, PX_DIRECT, instance, trap);
        else if (o->lists[list].return_table)
            table = o->lists[list].return_table;
        else
            table = o->lists[list].return_table = return_table(l, list, PX_MAIN, trap);
        if (!l->error)
            l->ops[o->returns[i].branch].target = table;
    }
}

static void tables_fill(struct px_lower *l)
{
    struct px_outline *o = l->outline;
    const uint32_t trap = (uint32_t)l->op_count;
    px_emit_code(l, PX_TRAP, PX_TRAP_CALL, NULL, 0, NULL, 0);
    for (size_t i = 0; i < o->list_count && !l->error; i++)
        list_table(l, &o->lists[i], trap);
    for (size_t i = 0; i < o->call_count && !l->error; i++) {
        const struct px_outline_call *call = &o->calls[i];
        l->ops[call->branch].target = call->list == PX_DIRECT ? o->instances[call->callee].entry
                                                              : o->lists[call->list].call_table;
    }
    returns_fill(l, trap);
}

static void targets_move(struct px_lower *l, const uint32_t *moved)
{
    for (size_t i = 0; i < l->op_count; i++) {
        struct px_op *op = &l->ops[i];
        uint32_t *targets = (uint32_t *)(uintptr_t)op->targets;
        if (op->code == PX_BRANCH)
            op->target = moved[op->target];
        for (uint32_t k = 0; op->code == PX_BRANCH_TABLE && k < op->target_count; k++)
            targets[k] = moved[targets[k]];
    }
}

// Replaces the operations that stand for saving and restoring.
static void expand(struct px_lower *l, uint32_t *moved)
{
    struct px_outline *o = l->outline;
    struct px_op *old = l->ops;
    const size_t count = l->op_count;
    size_t next = 0; // calls are in the order of their operations
    l->ops = NULL;
    l->op_count = l->op_capacity = 0;
    for (size_t i = 0; i < count && !l->error; i++) {
        moved[i] = (uint32_t)l->op_count;
        const struct px_outline_call *call = next < o->call_count ? &o->calls[next] : NULL;
        if (!call || (i != call->save && i != call->restore)) {
            px_emit_code(l, old[i].code, 0, NULL, 0, NULL, 0);
            if (!l->error)
                l->ops[l->op_count - 1] = old[i];
            continue;
        }
        l->recurses = l->recurses || call->may_reenter;
        uint64_t frame_B = 0;
        if (call->may_reenter) {
            spill_all(l, call, i == call->restore, &frame_B);
            o->instances[call->caller].total_B = (frame_B + 15) & ~UINT64_C(15);
        }
        next += i == call->restore;
    }
    moved[count] = (uint32_t)l->op_count;
    dm_free(old);
}

static void calls_complete(struct px_lower *l)
{
    struct px_outline *o = l->outline;
    tables_fill(l);
    for (uint32_t i = 0; i < o->instance_count; i++)
        o->instances[i].total_B = o->instances[i].frame_B;
    uint32_t *moved = dm_calloc(l->op_count + 1, sizeof(*moved));
    if (!px_outline_find_cycles(o))
        px_lower_no_memory(l);
    if (moved && !l->error) {
        expand(l, moved);
        if (!l->error)
            targets_move(l, moved);
    } else {
        px_lower_no_memory(l);
    }
    dm_free(moved);
    l->calls = true;
}

void px_outline_complete(struct px_lower *l)
{
    struct px_outline *o = l->outline;
    for (uint32_t i = 0; i < o->instance_count && !l->error; i++)
        instance_read(l, i);
    if (l->error || (!o->call_count && !l->allocas))
        return;
    if (o->call_count)
        calls_complete(l);
    l->local_B = (l->local_B + 15) & ~UINT64_C(15);
    for (size_t i = 0; i < l->register_count; i++) {
        struct px_register_info *r = &l->registers[i];
        if (r->fill == PX_FILL_CONSTANT && r->index >= PX_FRAME_SIZES) {
            const uint32_t instance = r->index - PX_FRAME_SIZES - 1;
            r->value = instance == PX_MAIN ? l->local_B : o->instances[instance].total_B;
        }
    }
}

void px_outline_finish(struct px_lower *l)
{
    dm_free(l->outline->instance_of);
    dm_free(l->outline->lists);
    dm_free(l->outline->instances);
    dm_free(l->outline->calls);
    dm_free(l->outline->returns);
}
