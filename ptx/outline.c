// SPDX-License-Identifier: MIT
// Functions that cannot be inlined. A call passes values in registers that all functions share:
//
//     caller                                function
//     shared registers ← arguments          frame, back ← shared registers
//     save own registers in the frame       parameters  ← shared registers
//     frame ← after the caller's frame      …
//     back  ← the call's number             shared registers ← returned values
//     branch ─────────────────────────────▶ branch by `back` to one of all calls
//     restore own registers
//     returned values ← shared registers
//
// Arrays are passed by their addresses in local memory. Own registers are saved only if the call
// may come back to the function that calls, because each function has one set of registers.
#include "outline.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"

enum {
    SHARED_FRAME = PX_SHARED_TOP + 1, // px_register_info.index of the shared registers
    SHARED_BACK,
    SHARED_VALUE,
    FRAME_SIZES = 1 << 24, // of constants that are known at the end: plus the instance + 1
};

px_register px_outline_shared(struct px_lower *l, char letter, uint32_t index)
{
    return px_filled(l, &(struct px_register_info){.letter = letter, .index = index});
}

static px_register shared(struct px_lower *l, char letter, uint32_t index)
{
    return px_outline_shared(l, letter, index);
}

static px_register frame_size(struct px_lower *l, uint32_t instance)
{
    return px_filled(l, &(struct px_register_info){.letter = 'w',
                                                   .fill = PX_FILL_CONSTANT,
                                                   .index = FRAME_SIZES + 1 + instance});
}

px_register px_outline_frame_end(struct px_lower *l)
{
    const px_register size = frame_size(l, l->outline->instance);
    if (l->outline->instance == PX_MAIN)
        return size;
    const px_register end = px_temporary(l, 'w');
    px_emit(l, "add.32", end, l->frame, size);
    return end;
}

static uint32_t instance_of(struct px_lower *l, uint32_t function)
{
    struct px_outline *o = l->outline;
    for (size_t i = 0; i < o->instance_count; i++)
        if (o->instances[i].function == function)
            return (uint32_t)i;
    struct px_instance *grown =
        px_grow(o->instances, o->instance_count, &o->instance_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return 0;
    }
    o->instances = grown;
    grown[o->instance_count] = (struct px_instance){.function = function};
    return (uint32_t)o->instance_count++;
}

static bool same_formals(const struct px_formals *a, const struct px_formals *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].size_B != b->list[i].size_B || a->list[i].is_array != b->list[i].is_array ||
            px_type_letter(a->list[i].type) != px_type_letter(b->list[i].type))
            return false;
    return true;
}

static bool is_listed(const struct px_body *b, const struct px_targets *targets, uint32_t function)
{
    for (size_t i = 0; targets && i < targets->count; i++) {
        const struct px_name *name =
            px_symbol_find(&b->r, targets->names[i].at, targets->names[i].length);
        if (name && name->kind == PX_NAME_FUNCTION && name->value == function)
            return true;
    }
    return !targets;
}

// The functions that a call through a register may reach. Without any, the call traps.
static void callees_find(struct px_body *b, struct px_outline_call *call,
                         const struct px_formals *prototype, const struct px_targets *targets)
{
    struct px_lower *l = b->l;
    const struct px_module *m = l->module;
    call->callees = px_arena_array(&l->arena, m->function_count + 1, sizeof(*call->callees));
    if (!call->callees) {
        px_lower_no_memory(l);
        return;
    }
    for (uint32_t i = 0; i < m->function_count && !l->error; i++) {
        const struct px_function_text *t = &m->state->functions[i];
        if (m->functions[i].defined && !m->functions[i].is_kernel && is_listed(b, targets, i) &&
            (!prototype || (same_formals(&prototype[0], &t->returns) &&
                            same_formals(&prototype[1], &t->parameters))))
            call->callees[call->callee_count++] = instance_of(l, i);
    }
}

static char value_letter(const struct px_formal *formal)
{
    return formal->is_array ? 'w' : px_type_letter(formal->type);
}

// Puts the arguments into the shared registers: addresses of arrays that are returned come first.
static void arguments_pass(struct px_body *b, const struct px_formals *returns,
                           const struct px_formals *parameters, const struct px_operand *to,
                           const struct px_operand *from)
{
    struct px_lower *l = b->l;
    for (size_t i = 0; i < returns->count && !l->error; i++)
        if (returns->list[i].is_array)
            px_move(l, shared(l, 'w', SHARED_VALUE + (uint32_t)i),
                    px_call_value(b, &returns->list[i], px_list_part(to, i)));
    for (size_t i = 0; i < parameters->count && !l->error; i++) {
        const struct px_formal *formal = &parameters->list[i];
        px_move(l, shared(l, value_letter(formal), SHARED_VALUE + (uint32_t)(returns->count + i)),
                px_call_value(b, formal, px_list_part(from, i)));
    }
}

static void call_emit(struct px_body *b, struct px_outline_call *call, px_register number)
{
    struct px_lower *l = b->l;
    struct px_outline *o = l->outline;
    const uint32_t index = (uint32_t)o->call_count;
    const px_register frame = shared(l, 'w', SHARED_FRAME), size = frame_size(l, o->instance);
    if (o->instance == PX_MAIN)
        px_emit(l, "mov.32", frame, size);
    else
        px_emit(l, "add.32", frame, l->frame, size);
    px_emit(l, "mov.32", shared(l, 'w', SHARED_BACK), px_constant(l, 'w', index));
    call->caller = o->instance;
    px_emit_code(l, PX_CALL, 0, NULL, 0, NULL, 0); // saves registers
    call->save = (uint32_t)l->op_count - 1;
    if (call->indirect)
        px_emit_code(l, PX_BRANCH_TABLE, 0, NULL, 0, &number, 1);
    else
        px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0);
    call->branch = (uint32_t)l->op_count - 1;
    px_emit_code(l, PX_RETURN, 0, NULL, 0, NULL, 0); // restores registers
    call->restore = (uint32_t)l->op_count - 1;
    struct px_outline_call *grown =
        px_grow(o->calls, o->call_count, &o->call_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return;
    }
    o->calls = grown;
    grown[o->call_count++] = *call;
}

// The index of an address in the table of a call: addresses that are too large get the last one.
static px_register address_number(struct px_lower *l, px_register address)
{
    const px_register least = px_temporary(l, 'l');
    px_emit(l, "min.u64", least, px_widen(l, address, 'l'),
            px_constant(l, 'l', px_function_address(l->module->function_count)));
    return px_widen(l, least, 'w');
}

static const struct px_function_text *function_text(const struct px_lower *l, uint32_t instance)
{
    return &l->module->state->functions[l->outline->instances[instance].function];
}

void px_outline_call(struct px_body *b, const struct px_operand *function,
                     const struct px_formals *prototype, const struct px_targets *targets,
                     const struct px_operand *returns, const struct px_operand *arguments)
{
    struct px_lower *l = b->l;
    struct px_outline_call call = {.indirect = function->kind == PX_OPERAND_REGISTER};
    px_register number = PX_NONE;
    if (call.indirect) {
        callees_find(b, &call, prototype, targets);
        number = address_number(l, px_value(l, function, PX_U64));
    } else {
        call.callees = px_arena_array(&l->arena, 1, sizeof(*call.callees));
        if (!call.callees) {
            px_lower_no_memory(l);
            return;
        }
        call.callees[call.callee_count++] = instance_of(l, function->symbol);
    }
    if (l->error)
        return;
    if (!call.callee_count && !prototype) {
        px_refuse(l, "the list of targets names no function that is defined");
        return;
    }
    const struct px_function_text *t =
        call.callee_count
            ? function_text(l, call.callees[0])
            : &(const struct px_function_text){.returns = prototype[0], .parameters = prototype[1]};
    if (t->returns.count != px_list_count(returns) ||
        t->parameters.count != px_list_count(arguments)) {
        px_refuse(l, "the function returns %zu values for %zu arguments; the call has %u and %u",
                  t->returns.count, t->parameters.count, px_list_count(returns),
                  px_list_count(arguments));
        return;
    }
    const px_register guard = l->guard;
    uint32_t skip = UINT32_MAX;
    if (guard != PX_NONE) { // lanes that do not call go around
        struct px_op *op = px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0);
        op->guard_not = !op->guard_not;
        skip = (uint32_t)l->op_count - 1;
        l->guard = PX_NONE;
        l->guard_not = false;
    }
    arguments_pass(b, &t->returns, &t->parameters, returns, arguments);
    call_emit(b, &call, number);
    for (size_t i = 0; i < t->returns.count && !l->error; i++) {
        const struct px_formal *formal = &t->returns.list[i];
        if (!formal->is_array)
            px_move(l, px_call_target(b, formal, px_list_part(returns, i)),
                    shared(l, value_letter(formal), SHARED_VALUE + (uint32_t)i));
    }
    if (skip != UINT32_MAX && !l->error)
        l->ops[skip].target = (uint32_t)l->op_count;
}

void px_outline_return(struct px_body *b)
{
    struct px_lower *l = b->l;
    struct px_outline *o = l->outline;
    const struct px_instance *instance = &o->instances[o->instance];
    const struct px_formals *returns = &l->module->state->functions[b->function].returns;
    for (size_t i = 0; i < returns->count && !l->error; i++)
        if (!returns->list[i].is_array)
            px_move(l, shared(l, value_letter(&returns->list[i]), SHARED_VALUE + (uint32_t)i),
                    px_slot_register(l, &b->slots[i]));
    px_emit(l, "mov.32", shared(l, 'w', SHARED_FRAME), instance->frame);
    px_stack_leave(l, instance->stack);
    const px_register back = instance->back;
    px_emit_code(l, PX_BRANCH_TABLE, 0, NULL, 0, &back, 1);
    uint32_t *grown = px_grow(o->returns, o->return_count + 1, &o->return_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return;
    }
    o->returns = grown;
    if (!l->error) {
        grown[o->return_count++] = (uint32_t)l->op_count - 1;
        grown[o->return_count++] = o->instance;
    }
}

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
                    shared(l, value_letter(formal), SHARED_VALUE + (uint32_t)i));
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
    instance->back = px_temporary(l, 'w');
    l->frame_B = 0;
    px_emit(l, "mov.32", instance->frame, shared(l, 'w', SHARED_FRAME));
    px_emit(l, "mov.32", instance->back, shared(l, 'w', SHARED_BACK));
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

// Whether calls from `from` may lead to `to`. `seen` has a mark for each instance.
static bool reaches(const struct px_outline *o, uint32_t from, uint32_t to, bool *seen)
{
    bool changed = true;
    memset(seen, 0, o->instance_count);
    seen[from] = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < o->call_count; i++) {
            const struct px_outline_call *call = &o->calls[i];
            if (call->caller == PX_MAIN || !seen[call->caller])
                continue;
            for (uint32_t k = 0; k < call->callee_count; k++) {
                changed = changed || !seen[call->callees[k]];
                seen[call->callees[k]] = true;
            }
        }
    }
    return seen[to];
}

static void spill_all(struct px_lower *l, const struct px_outline_call *call, bool restore,
                      uint64_t *frame_B)
{
    const struct px_instance *instance = &l->outline->instances[call->caller];
    uint64_t at_B = (instance->frame_B + 15) & ~UINT64_C(15);
    if (restore) // the shared register has the callee's frame, which follows this one
        px_emit(l, "sub.32", instance->frame, shared(l, 'w', SHARED_FRAME),
                frame_size(l, call->caller));
    for (size_t i = instance->first; i < instance->end && !l->error; i++)
        if (l->registers[i].fill == PX_FILL_BY_OPS && l->registers[i].index < PX_SHARED_TOP &&
            i != instance->frame)
            px_stack_spill(l, (px_register)i, instance->frame, &at_B, restore);
    *frame_B = at_B;
}

// Call tables and return tables, while operations still have their first indices.
static void tables_fill(struct px_lower *l)
{
    struct px_outline *o = l->outline;
    const uint32_t trap = (uint32_t)l->op_count;
    px_emit_code(l, PX_TRAP, PX_TRAP_CALL, NULL, 0, NULL, 0);
    for (size_t i = 0; i < o->call_count && !l->error; i++) {
        const struct px_outline_call *call = &o->calls[i];
        struct px_op *op = &l->ops[call->branch];
        if (!call->indirect) {
            op->target = o->instances[call->callees[0]].entry;
            continue;
        }
        op->target_count = l->module->function_count + 2; // the last one is for wild addresses
        uint32_t *targets = px_arena_array(&l->arena, op->target_count, sizeof(*targets));
        if (!targets) {
            px_lower_no_memory(l);
            return;
        }
        for (uint32_t k = 0; k < op->target_count; k++)
            targets[k] = trap;
        for (uint32_t k = 0; k < call->callee_count; k++)
            targets[px_function_address(o->instances[call->callees[k]].function)] =
                o->instances[call->callees[k]].entry;
        op->targets = targets;
    }
    for (size_t i = 0; i < o->return_count && !l->error; i += 2) {
        uint32_t *targets = px_arena_array(&l->arena, o->call_count, sizeof(*targets));
        if (!targets) {
            px_lower_no_memory(l);
            return;
        }
        for (size_t c = 0; c < o->call_count; c++) {
            targets[c] = trap;
            for (uint32_t k = 0; k < o->calls[c].callee_count; k++)
                if (o->calls[c].callees[k] == o->returns[i + 1])
                    targets[c] = o->calls[c].restore;
        }
        l->ops[o->returns[i]].targets = targets;
        l->ops[o->returns[i]].target_count = (uint32_t)o->call_count;
    }
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
static void expand(struct px_lower *l, uint32_t *moved, bool *seen)
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
        bool again = false;
        for (uint32_t k = 0; call->caller != PX_MAIN && k < call->callee_count; k++)
            again = again || reaches(o, call->callees[k], call->caller, seen);
        l->recurses = l->recurses || again;
        uint64_t frame_B = 0;
        if (again) {
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
    bool *seen = dm_calloc(o->instance_count + 1, sizeof(*seen));
    if (moved && seen && !l->error) {
        expand(l, moved, seen);
        if (!l->error)
            targets_move(l, moved);
    } else {
        px_lower_no_memory(l);
    }
    dm_free(moved);
    dm_free(seen);
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
        if (r->fill == PX_FILL_CONSTANT && r->index >= FRAME_SIZES) {
            const uint32_t instance = r->index - FRAME_SIZES - 1;
            r->value = instance == PX_MAIN ? l->local_B : o->instances[instance].total_B;
        }
    }
}

void px_outline_finish(struct px_lower *l)
{
    dm_free(l->outline->instances);
    dm_free(l->outline->calls);
    dm_free(l->outline->returns);
}
