// SPDX-License-Identifier: MIT
// Functions that cannot be inlined. A call passes values in registers that all functions share:
//
//     caller                                function
//     shared registers ← arguments          frame, return number, parameters
//     save own registers in the frame           ← shared registers
//     frame ← after the caller's frame      …
//     return number ← the call's number     shared registers ← returned values
//     branch ─────────────────────────────▶ branch by the return number to one of all calls
//       (through a register: to the branch  (one such branch for all functions of a list)
//       table of the list of functions)
//     restore own registers
//     returned values ← shared registers
//
// Arrays are passed by their addresses in local memory. Own registers are saved only if the call
// may come back to the function that calls, because each function has one set of registers.
#include "outline.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"

px_register px_outline_shared(struct px_lower *l, char letter, uint32_t index)
{
    return px_filled(l, &(struct px_register_info){.letter = letter, .index = index});
}

px_register px_outline_frame_size(struct px_lower *l, uint32_t instance)
{
    return px_filled(l, &(struct px_register_info){.letter = 'w',
                                                   .fill = PX_FILL_CONSTANT,
                                                   .index = PX_FRAME_SIZES + 1 + instance});
}

px_register px_outline_frame_end(struct px_lower *l)
{
    const px_register size = px_outline_frame_size(l, l->outline->instance);
    if (l->outline->instance == PX_MAIN)
        return size;
    const px_register end = px_temporary(l, 'w');
    px_emit(l, "add.32", end, l->frame, size);
    return end;
}

static uint32_t instance_of(struct px_lower *l, uint32_t function)
{
    struct px_outline *o = l->outline;
    if (!o->instance_of)
        o->instance_of = dm_calloc(l->module->function_count, sizeof(*o->instance_of));
    if (o->instance_of && o->instance_of[function])
        return o->instance_of[function] - 1;
    struct px_instance *grown =
        px_grow(o->instances, o->instance_count, &o->instance_capacity, sizeof(*grown));
    if (grown)
        o->instances = grown;
    if (!grown || !o->instance_of) {
        px_lower_no_memory(l);
        return 0;
    }
    grown[o->instance_count] = (struct px_instance){.function = function};
    o->instance_of[function] = (uint32_t)o->instance_count + 1;
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

static const struct px_function_text *function_text(const struct px_lower *l, uint32_t instance)
{
    return &l->module->state->functions[l->outline->instances[instance].function];
}

// ---- lists of functions that a call through a register may reach ----

static bool is_callee(const struct px_module *m, uint32_t function)
{
    return m->functions[function].defined && !m->functions[function].is_kernel;
}

// All functions of the module that have these parameters.
static void callees_by_prototype(struct px_lower *l, const struct px_formals *prototype,
                                 struct px_callees *out)
{
    const struct px_module *m = l->module;
    out->list = px_arena_array(&l->arena, m->function_count + 1, sizeof(*out->list));
    for (uint32_t i = 0; i < m->function_count && out->list && !l->error; i++) {
        const struct px_function_text *t = &m->state->functions[i];
        if (is_callee(m, i) && same_formals(&prototype[0], &t->returns) &&
            same_formals(&prototype[1], &t->parameters))
            out->list[out->count++] = instance_of(l, i);
    }
}

// Those of a .calltargets directive.
static void callees_by_name(struct px_body *b, const struct px_targets *targets,
                            struct px_callees *out)
{
    struct px_lower *l = b->l;
    out->list = px_arena_array(&l->arena, targets->count + 1, sizeof(*out->list));
    out->targets_at = targets->count ? targets->names[0].at : NULL;
    for (size_t i = 0; i < targets->count && out->list && !l->error; i++) {
        const struct px_name *name =
            px_symbol_find(&b->r, targets->names[i].at, targets->names[i].length);
        if (name && name->kind == PX_NAME_FUNCTION && is_callee(l->module, name->value))
            out->list[out->count++] = instance_of(l, name->value);
    }
}

// Whether a list that was made before is the one that is needed.
static bool is_list_of(const struct px_lower *l, const struct px_callees *c,
                       const struct px_formals *prototype, const struct px_targets *targets)
{
    if (targets)
        return targets->count && c->targets_at == targets->names[0].at;
    return !c->targets_at && c->count &&
           same_formals(&prototype[0], &function_text(l, c->list[0])->returns) &&
           same_formals(&prototype[1], &function_text(l, c->list[0])->parameters);
}

// Calls share lists, so that a call costs the same for any number of functions.
static uint32_t callees_find(struct px_body *b, const struct px_formals *prototype,
                             const struct px_targets *targets)
{
    struct px_lower *l = b->l;
    struct px_outline *o = l->outline;
    for (size_t i = 0; i < o->list_count; i++)
        if (is_list_of(l, &o->lists[i], prototype, targets))
            return (uint32_t)i;
    struct px_callees made = {.list = NULL};
    if (targets)
        callees_by_name(b, targets, &made);
    else
        callees_by_prototype(l, prototype, &made);
    struct px_callees *grown = px_grow(o->lists, o->list_count, &o->list_capacity, sizeof(*grown));
    if (grown)
        o->lists = grown;
    if (!grown || !made.list) {
        px_lower_no_memory(l);
        return 0;
    }
    grown[o->list_count] = made;
    return (uint32_t)o->list_count++;
}

// ---- calls ----

char px_outline_letter(const struct px_formal *formal)
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
            px_move(l, px_outline_shared(l, 'w', PX_SHARED_VALUE + (uint32_t)i),
                    px_call_value(b, &returns->list[i], px_list_part(to, i)));
    for (size_t i = 0; i < parameters->count && !l->error; i++) {
        const struct px_formal *formal = &parameters->list[i];
        px_move(l,
                px_outline_shared(l, px_outline_letter(formal),
                                  PX_SHARED_VALUE + (uint32_t)(returns->count + i)),
                px_call_value(b, formal, px_list_part(from, i)));
    }
}

static void call_emit(struct px_body *b, struct px_outline_call *call, px_register number)
{
    struct px_lower *l = b->l;
    struct px_outline *o = l->outline;
    const uint32_t index = (uint32_t)o->call_count;
    const px_register frame = px_outline_shared(l, 'w', PX_SHARED_FRAME),
                      size = px_outline_frame_size(l, o->instance);
    if (call->list != PX_DIRECT)
        px_emit(l, "mov.32", px_outline_shared(l, 'w', PX_SHARED_NUMBER), number);
    if (o->instance == PX_MAIN)
        px_emit(l, "mov.32", frame, size);
    else
        px_emit(l, "add.32", frame, l->frame, size);
    px_emit(l, "mov.32", px_outline_shared(l, 'w', PX_SHARED_RETURN), px_constant(l, 'w', index));
    call->caller = o->instance;
    px_emit_code(l, PX_CALL, 0, NULL, 0, NULL, 0); // saves registers
    call->save = (uint32_t)l->op_count - 1;
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

void px_outline_call(struct px_body *b, const struct px_operand *function,
                     const struct px_formals *prototype, const struct px_targets *targets,
                     const struct px_operand *returns, const struct px_operand *arguments)
{
    struct px_lower *l = b->l;
    struct px_outline_call call = {.list = PX_DIRECT};
    px_register number = PX_NONE;
    if (function->kind == PX_OPERAND_REGISTER) {
        call.list = callees_find(b, prototype, targets);
        number = address_number(l, px_value(l, function, PX_U64));
    } else {
        call.callee = instance_of(l, function->symbol);
    }
    if (l->error)
        return;
    const struct px_callees *callees =
        call.list == PX_DIRECT ? NULL : &l->outline->lists[call.list];
    if (callees && !callees->count && !prototype) {
        px_refuse(l, "the list of targets names no function that is defined");
        return;
    }
    const struct px_function_text *t =
        !callees ? function_text(l, call.callee)
        : callees->count
            ? function_text(l, callees->list[0])
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
                    px_outline_shared(l, px_outline_letter(formal), PX_SHARED_VALUE + (uint32_t)i));
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
            px_move(l,
                    px_outline_shared(l, px_outline_letter(&returns->list[i]),
                                      PX_SHARED_VALUE + (uint32_t)i),
                    px_slot_register(l, &b->slots[i]));
    px_emit(l, "mov.32", px_outline_shared(l, 'w', PX_SHARED_FRAME), instance->frame);
    px_stack_leave(l, instance->stack);
    px_emit(l, "mov.32", px_outline_shared(l, 'w', PX_SHARED_RETURN), instance->return_number);
    px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0);
    struct px_outline_return *grown =
        px_grow(o->returns, o->return_count, &o->return_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return;
    }
    o->returns = grown;
    if (!l->error)
        grown[o->return_count++] = (struct px_outline_return){.branch = (uint32_t)l->op_count - 1,
                                                              .instance = o->instance};
}
