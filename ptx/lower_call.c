// SPDX-License-Identifier: MIT
// Lowering of calls: functions are inlined, and the driver's own functions become operations.
#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "body.h"
#include "outline.h"

// Calls are inlined while a kernel has fewer operations than this.
enum { OPERATIONS_MOST = 1 << 20 };

void px_move(struct px_lower *l, px_register to, px_register from)
{
    static const char *const forms[] = {['p'] = "mov.pred",
                                        ['h'] = "mov.16",
                                        ['w'] = "mov.32",
                                        ['l'] = "mov.64",
                                        ['x'] = "mov.128"};
    if (!px_failed(l))
        px_emit(l, forms[(int)px_letter(l, to)], to, from);
}

// The caller's slot that an operand names, or NULL.
static struct px_slot *slot_of(struct px_body *caller, const struct px_operand *operand)
{
    return operand->kind == PX_OPERAND_PARAMETER && !operand->value
               ? &caller->slots[operand->symbol]
               : NULL;
}

// The value that a call passes for a formal parameter: the address of an array.
px_register px_call_value(struct px_body *b, const struct px_formal *formal,
                          const struct px_operand *operand)
{
    struct px_slot *slot = slot_of(b, operand);
    if (slot && slot->kind == PX_SLOT_ARGUMENT) {
        px_unsupported(b->l, "kernel parameters as arguments of calls are not supported");
        return PX_NONE;
    }
    if (formal->is_array && (!slot || slot->kind != PX_SLOT_LOCAL))
        px_refuse(b->l, "the argument for %.*s must be a .param array", (int)formal->name_length,
                  formal->name);
    else if (formal->is_array)
        return px_slot_address(b->l, slot, 0, 'w');
    else if (slot && slot->kind == PX_SLOT_REGISTER)
        return px_slot_register(b->l, slot);
    else if (!slot)
        return px_value(b->l, operand, formal->type);
    else
        px_refuse(b->l, "an array is the argument for %.*s, which is one value",
                  (int)formal->name_length, formal->name);
    return PX_NONE;
}

px_register px_call_target(struct px_body *b, const struct px_formal *formal,
                           const struct px_operand *operand)
{
    struct px_slot *slot = slot_of(b, operand);
    if (slot && slot->kind == PX_SLOT_REGISTER)
        return px_slot_register(b->l, slot);
    if (slot)
        px_refuse(b->l, "the returned value needs a .param variable of one value");
    return px_target(b->l, operand, formal->type);
}

// A formal parameter in a register: a declared register of the callee.
static px_register formal_register(struct px_body *b, const struct px_formal *formal)
{
    struct px_declared *grown =
        px_grow(b->declared, b->declared_count, &b->declared_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(b->l);
        return PX_NONE;
    }
    b->declared = grown;
    grown[b->declared_count] = (struct px_declared){
        .type = formal->type,
        .length = 1,
        .first = px_temporary(b->l, px_type_letter(formal->type)),
    };
    if (px_names_add(&b->names, formal->name, formal->name_length, PX_NAME_REGISTER,
                     b->declared_count))
        px_refuse(b->l, "a parameter's name is used twice");
    return grown[b->declared_count++].first;
}

// Gives a formal parameter of the callee the storage of the caller's operand. Returns the register
// of a formal parameter in a register, else PX_NONE.
static px_register bind(struct px_body *callee, struct px_body *caller,
                        const struct px_formal *formal, const struct px_operand *operand)
{
    struct px_lower *l = callee->l;
    if (formal->in_register)
        return formal_register(callee, formal);
    struct px_slot *slot = px_slot_add(callee, formal);
    struct px_slot *from = slot_of(caller, operand);
    if (!slot)
        return PX_NONE;
    if (!from) { // a register or a constant for a parameter
        if (slot->kind != PX_SLOT_REGISTER)
            px_refuse(l, "the argument for %.*s must be a .param variable",
                      (int)formal->name_length, formal->name);
        px_slot_register(l, slot);
        return PX_NONE;
    }
    if (from->kind == PX_SLOT_ARGUMENT) {
        px_unsupported(l, "kernel parameters as arguments of calls are not supported");
    } else if (formal->size_B != from->formal.size_B && formal->size_B) {
        px_refuse(l, "the argument has %u bytes, but the parameter %.*s has %u",
                  from->formal.size_B, (int)formal->name_length, formal->name, formal->size_B);
    } else if (from->kind != slot->kind) {
        px_unsupported(l, "an array as the argument for a value, or the reverse, is not supported");
    } else if (from->kind == PX_SLOT_REGISTER) {
        slot->reg = px_slot_register(l, from);
    } else {
        px_slot_place(l, from);
        slot->at_B = from->at_B;
        slot->reg = from->reg;
    }
    return PX_NONE;
}

static bool calls_itself(const struct px_body *caller, uint32_t function)
{
    for (const struct px_body *b = caller; b; b = b->caller)
        if (b->function == function)
            return true;
    return false;
}

const struct px_operand *px_list_part(const struct px_operand *list, size_t i)
{
    return list->kind == PX_OPERAND_LIST ? &list->parts[i] : list;
}

unsigned px_list_count(const struct px_operand *list)
{
    return list->kind == PX_OPERAND_NONE ? 0 : list->kind == PX_OPERAND_LIST ? list->count : 1;
}

// The operations that return from an inlined body go to the operation after it.
static void returns_resolve(struct px_body *callee)
{
    struct px_lower *l = callee->l;
    for (size_t i = 0; i < callee->return_count && !l->error; i++)
        l->ops[callee->returns[i]].target = (uint32_t)l->op_count;
}

static void inline_bound(struct px_body *callee, struct px_body *caller,
                         const struct px_operand *returns, const struct px_operand *arguments)
{
    struct px_lower *l = callee->l;
    const struct px_function_text *t = &l->module->state->functions[callee->function];
    px_register back[PX_OPERANDS_MOST * 2];
    size_t slots[PX_OPERANDS_MOST * 2]; // 1 + the slot of a result that is no register
    for (size_t i = 0; i < t->returns.count && !l->error; i++) {
        back[i] = bind(callee, caller, &t->returns.list[i], px_list_part(returns, i));
        slots[i] = callee->slot_count;
    }
    for (size_t i = 0; i < t->parameters.count && !l->error; i++) {
        const struct px_formal *formal = &t->parameters.list[i];
        const struct px_operand *operand = px_list_part(arguments, i);
        const px_register to = bind(callee, caller, formal, operand);
        const struct px_slot *slot = formal->in_register || !callee->slot_count
                                         ? NULL
                                         : &callee->slots[callee->slot_count - 1];
        if (formal->in_register)
            px_move(l, to, px_value(l, operand, formal->type));
        else if (slot && operand->kind != PX_OPERAND_PARAMETER)
            px_move(l, slot->reg, px_value(l, operand, formal->type));
    }
    const px_register guard = l->guard;
    const struct px_statement *now = l->now;
    const uint32_t function = l->function;
    uint32_t skip = UINT32_MAX;
    if (guard != PX_NONE) { // lanes that do not call go around
        struct px_op *op = px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0);
        op->guard_not = !op->guard_not;
        skip = (uint32_t)l->op_count - 1;
    }
    l->guard = PX_NONE;
    l->function = callee->function;
    const px_register stack = px_stack_enter(l);
    if (!l->error)
        px_body_read(callee);
    returns_resolve(callee);
    px_stack_leave(l, stack);
    l->function = function;
    l->now = now;
    l->body = caller;
    for (size_t i = 0; i < t->returns.count && !l->error; i++) {
        const struct px_operand *operand = px_list_part(returns, i);
        struct px_slot *slot = slot_of(caller, operand);
        if (back[i] != PX_NONE)
            px_move(l,
                    slot ? px_slot_register(l, slot)
                         : px_target(l, operand, t->returns.list[i].type),
                    back[i]);
        else if (!slot)
            px_move(l, px_target(l, operand, t->returns.list[i].type),
                    callee->slots[slots[i] - 1].reg);
    }
    if (skip != UINT32_MAX && !l->error)
        l->ops[skip].target = (uint32_t)l->op_count;
}

void px_call_inline(struct px_body *caller, uint32_t function, const struct px_operand *returns,
                    const struct px_operand *arguments)
{
    struct px_lower *l = caller->l;
    const struct px_function_text *t = &l->module->state->functions[function];
    if (t->returns.count != px_list_count(returns) ||
        t->parameters.count != px_list_count(arguments) ||
        t->returns.count + t->parameters.count > 2 * PX_OPERANDS_MOST * 8u ||
        t->returns.count > PX_OPERANDS_MOST) {
        px_refuse(l, "\"%s\" returns %zu values for %zu arguments; the call has %u and %u",
                  l->module->functions[function].name, t->returns.count, t->parameters.count,
                  px_list_count(returns), px_list_count(arguments));
        return;
    }
    if (calls_itself(caller, function) || caller->depth + 1 >= PX_BODY_DEPTH_MOST ||
        l->op_count > OPERATIONS_MOST) {
        const struct px_operand name = {.kind = PX_OPERAND_FUNCTION, .symbol = function};
        px_outline_call(caller, &name, NULL, NULL, returns, arguments);
        return;
    }
    if (!l->inlined) {
        l->inlined_count = l->module->function_count;
        l->inlined = dm_calloc(l->inlined_count, sizeof *l->inlined);
    }
    if (!l->inlined) {
        px_lower_no_memory(l);
        return;
    }
    l->inlined[function]++;
    struct px_body callee;
    px_body_start(&callee, l, caller, function);
    inline_bound(&callee, caller, returns, arguments);
    px_body_finish(&callee);
}

// The driver's own functions.
static const struct builtin {
    const char *name;
    enum px_builtin builtin;
    uint16_t result, sources[5]; // types, or 0
} builtins[] = {
    {"vprintf", PX_BUILTIN_VPRINTF, PX_S32, {PX_U64, PX_U64}},
    {"__assertfail", PX_BUILTIN_ASSERTFAIL, 0, {PX_U64, PX_U64, PX_U32, PX_U64, PX_U64}},
    {"malloc", PX_BUILTIN_MALLOC, PX_U64, {PX_U64}},
    {"free", PX_BUILTIN_FREE, 0, {PX_U64}},
    {"cudaGraphSetConditional", PX_BUILTIN_SET_CONDITIONAL, 0, {PX_U64, PX_U32}},
};

static const struct builtin *builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
        if (!strcmp(name, builtins[i].name))
            return &builtins[i];
    return NULL;
}

static void builtin_call(struct px_body *b, const struct builtin *f,
                         const struct px_operand *returns, const struct px_operand *arguments)
{
    struct px_lower *l = b->l;
    px_register to[1], from[5];
    unsigned count = 0, results = f->result != 0;
    while (count < 5 && f->sources[count])
        count++;
    if (px_list_count(returns) != results || px_list_count(arguments) != count) {
        px_refuse(l, "%s needs %u results and %u arguments", f->name, results, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct px_formal formal = {.type = f->sources[i], .name = ""};
        from[i] = px_widen(l, px_call_value(b, &formal, px_list_part(arguments, i)),
                           px_type_letter(f->sources[i]));
    }
    if (results) {
        const struct px_formal formal = {.type = f->result, .name = ""};
        to[0] = px_call_target(b, &formal, px_list_part(returns, 0));
        if (!px_failed(l) && px_letter(l, to[0]) != px_type_letter(f->result))
            px_refuse(l, "%s returns %u bits", f->name, px_type_bits(f->result));
    }
    px_emit_code(l, PX_BUILTIN, f->builtin, to, results, from, count);
    l->prints = l->prints || f->builtin == PX_BUILTIN_VPRINTF;
    l->allocates = l->allocates || f->builtin == PX_BUILTIN_MALLOC || f->builtin == PX_BUILTIN_FREE;
    px_ordered(l);
}

// call (ret), %r, (arguments), prototype or list;
static void call_register(struct px_body *b, const struct px_operand *function,
                          const struct px_operand *list, const struct px_operand *returns,
                          const struct px_operand *arguments)
{
    const struct px_name *name = px_names_find(&b->names, list->text.at, list->text.length);
    if (list->kind == PX_OPERAND_LABEL && name && name->kind == PX_NAME_PROTOTYPE)
        px_outline_call(b, function, &b->prototypes[name->value], NULL, returns, arguments);
    else if (list->kind == PX_OPERAND_LABEL && name && name->kind == PX_NAME_TARGETS)
        px_outline_call(b, function, NULL, &b->targets[name->value], returns, arguments);
    else
        px_refuse(b->l, "a call through a register needs a .callprototype or .calltargets");
}

void px_lower_call(struct px_lower *l, const struct px_statement *s)
{
    static const struct px_operand nothing = {.kind = PX_OPERAND_NONE};
    struct px_body *b = l->body;
    unsigned at = 0;
    const struct px_operand *returns = &nothing, *arguments = &nothing;
    if (s->a[0].kind == PX_OPERAND_LIST)
        returns = &s->a[at++];
    const struct px_operand *function = &s->a[at++];
    if (s->a[at].kind == PX_OPERAND_LIST)
        arguments = &s->a[at++];
    if (function->kind == PX_OPERAND_REGISTER) {
        call_register(b, function, &s->a[at], returns, arguments);
        return;
    }
    if (function->kind != PX_OPERAND_FUNCTION) {
        px_refuse(l, "\"%.*s\" is not a function that is declared",
                  (int)(function->text.length < 60 ? function->text.length : 60),
                  function->text.at);
        return;
    }
    const struct px_function *f = &l->module->functions[function->symbol];
    if (f->is_kernel)
        px_refuse(l, "a kernel cannot be called");
    else if (f->defined)
        px_call_inline(b, function->symbol, returns, arguments);
    else if (builtin_find(f->name))
        builtin_call(b, builtin_find(f->name), returns, arguments);
    else if (l->module->link == PX_LINK_PARTIAL)
        px_emit_code(l, PX_TRAP, PX_TRAP_CALL, NULL, 0, NULL, 0);
    // A call through a register may reach any function with the right parameters, so this one may
    // never be called.
    else if (l->module->link == PX_LINK_LENIENT && l->outline->instance != PX_MAIN)
        px_emit_code(l, PX_TRAP, PX_TRAP_MISSING, NULL, 0, NULL, 0);
    else if (l->module->link == PX_LINK_LENIENT)
        px_unsupported(l, "the function \"%s\" is not defined, as far as there is PTX", f->name);
    else
        px_refuse(l, "the function \"%s\" is not defined", f->name);
}
