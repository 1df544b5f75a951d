// SPDX-License-Identifier: MIT
// Lowering of calls: functions are inlined, and the driver's own functions become operations.
#include <errno.h>
#include <string.h>

#include "body.h"

// Calls are inlined while a kernel has fewer operations than this.
enum { OPERATIONS_MOST = 1 << 20 };

static void move(struct px_lower *l, px_register to, px_register from)
{
    static const char *const forms[] = {['p'] = "mov.pred",
                                        ['h'] = "mov.16",
                                        ['w'] = "mov.32",
                                        ['l'] = "mov.64",
                                        ['x'] = "mov.128"};
    if (!px_failed(l))
        px_emit(l, forms[(int)px_letter(l, to)], to, from);
}

static px_register slot_register(struct px_lower *l, struct px_slot *slot)
{
    if (slot->reg == PX_NONE)
        slot->reg = px_temporary(l, px_type_letter(slot->formal.type));
    return slot->reg;
}

// The caller's slot that an operand names, or NULL.
static struct px_slot *slot_of(struct px_body *caller, const struct px_operand *operand)
{
    return operand->kind == PX_OPERAND_PARAMETER && !operand->value
               ? &caller->slots[operand->symbol]
               : NULL;
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
        slot_register(l, slot);
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
        slot->reg = slot_register(l, from);
    } else {
        px_slot_address(l, from, 0, 'w'); // takes its place
        slot->at_B = from->at_B;
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

static const struct px_operand *list_part(const struct px_operand *list, size_t i)
{
    return list->kind == PX_OPERAND_LIST ? &list->parts[i] : list;
}

static unsigned list_count(const struct px_operand *list)
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
    for (size_t i = 0; i < t->returns.count && !l->error; i++)
        back[i] = bind(callee, caller, &t->returns.list[i], list_part(returns, i));
    for (size_t i = 0; i < t->parameters.count && !l->error; i++) {
        const struct px_formal *formal = &t->parameters.list[i];
        const struct px_operand *operand = list_part(arguments, i);
        const px_register to = bind(callee, caller, formal, operand);
        const struct px_slot *slot = formal->in_register || !callee->slot_count
                                         ? NULL
                                         : &callee->slots[callee->slot_count - 1];
        if (formal->in_register)
            move(l, to, px_value(l, operand, formal->type));
        else if (slot && operand->kind != PX_OPERAND_PARAMETER)
            move(l, slot->reg, px_value(l, operand, formal->type));
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
    if (!l->error)
        px_body_read(callee);
    returns_resolve(callee);
    l->function = function;
    l->now = now;
    l->body = caller;
    for (size_t i = 0; i < t->returns.count && !l->error; i++) {
        const struct px_operand *operand = list_part(returns, i);
        struct px_slot *slot = slot_of(caller, operand);
        if (back[i] != PX_NONE)
            move(l, slot ? slot_register(l, slot) : px_target(l, operand, t->returns.list[i].type),
                 back[i]);
        else if (!slot)
            move(l, px_target(l, operand, t->returns.list[i].type), callee->slots[i].reg);
    }
    if (skip != UINT32_MAX && !l->error)
        l->ops[skip].target = (uint32_t)l->op_count;
}

void px_call_inline(struct px_body *caller, uint32_t function, const struct px_operand *returns,
                    const struct px_operand *arguments)
{
    struct px_lower *l = caller->l;
    const struct px_function_text *t = &l->module->state->functions[function];
    if (t->returns.count != list_count(returns) || t->parameters.count != list_count(arguments) ||
        t->returns.count + t->parameters.count > 2 * PX_OPERANDS_MOST * 8u ||
        t->returns.count > PX_OPERANDS_MOST) {
        px_refuse(l, "\"%s\" returns %zu values for %zu arguments; the call has %u and %u",
                  l->module->functions[function].name, t->returns.count, t->parameters.count,
                  list_count(returns), list_count(arguments));
        return;
    }
    if (calls_itself(caller, function)) {
        px_unsupported(l, "recursion (\"%s\" calls itself) is not supported",
                       l->module->functions[function].name);
        return;
    }
    if (caller->depth + 1 >= PX_BODY_DEPTH_MOST || l->op_count > OPERATIONS_MOST) {
        px_unsupported(l, "calls are nested too deeply, or the kernel is too large");
        return;
    }
    struct px_body callee;
    px_body_start(&callee, l, caller, function);
    inline_bound(&callee, caller, returns, arguments);
    px_body_finish(&callee);
}

// vprintf, __assertfail, malloc and free.
static bool builtin(struct px_body *b, const char *name, const struct px_operand *returns,
                    const struct px_operand *arguments)
{
    static const struct {
        const char *name;
        enum px_builtin builtin;
        unsigned results, sources;
    } all[] = {
        {"vprintf", PX_BUILTIN_VPRINTF, 1, 2},
        {"__assertfail", PX_BUILTIN_ASSERTFAIL, 0, 5},
        {"malloc", PX_BUILTIN_MALLOC, 1, 1},
        {"free", PX_BUILTIN_FREE, 0, 1},
    };
    struct px_lower *l = b->l;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (strcmp(name, all[i].name))
            continue;
        px_register to[1], from[5];
        bool right =
            list_count(returns) == all[i].results && list_count(arguments) == all[i].sources;
        for (unsigned k = 0; k < all[i].results && right; k++) {
            struct px_slot *slot = slot_of(b, list_part(returns, k));
            right = slot && slot->kind == PX_SLOT_REGISTER;
            to[k] = right ? slot_register(l, slot) : PX_NONE;
        }
        for (unsigned k = 0; k < all[i].sources && right; k++) {
            struct px_slot *slot = slot_of(b, list_part(arguments, k));
            right = slot && slot->kind == PX_SLOT_REGISTER;
            from[k] = right ? slot_register(l, slot) : PX_NONE;
        }
        if (!right)
            px_refuse(l, "%s needs %u results and %u arguments of one value each", name,
                      all[i].results, all[i].sources);
        px_emit_code(l, PX_BUILTIN, all[i].builtin, to, all[i].results, from, all[i].sources);
        l->prints = l->prints || all[i].builtin == PX_BUILTIN_VPRINTF;
        px_ordered(l);
        return true;
    }
    return false;
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
        px_unsupported(l, "calls through registers are not supported");
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
    else if (!builtin(b, f->name, returns, arguments))
        px_refuse(l, "the function \"%s\" is not defined", f->name);
}
