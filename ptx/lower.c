// SPDX-License-Identifier: MIT
// Lowering: emits operations, and makes registers and sentences of refusal.
#include "lower.h"

#include "alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions_table.h"
#include "lower_state.h"
#include "module_state.h"

static void fail_write(struct px_lower *l, int error, const char *format, va_list list)
{
    if (l->error)
        return;
    l->error = error;
    struct px_report *report = l->report;
    const struct px_module_state *state = l->module->state;
    const char *name = state->parts[state->functions[l->function].part].name;
    int at = 0;
    report->line = l->now ? l->now->line : 0;
    if (l->now)
        at =
            snprintf(report->text, sizeof(report->text), "%s%sline %u: %.*s: ", name,
                     *name ? ", " : "", l->now->line,
                     (int)(l->now->text.length < 100 ? l->now->text.length : 100), l->now->text.at);
    vsnprintf(report->text + at, sizeof(report->text) - (size_t)at, format, list);
}

void px_lower_fail(struct px_lower *l, int error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail_write(l, error, format, list);
    va_end(list);
}

void px_refuse(struct px_lower *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail_write(l, -EINVAL, format, list);
    va_end(list);
}

void px_unsupported(struct px_lower *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail_write(l, -ENOTSUP, format, list);
    va_end(list);
}

void px_left_out(struct px_lower *l, const char *sentence)
{
    px_lower_fail(l, -ENOENT, "%s", sentence);
}

void px_not_loaded(struct px_lower *l, const char *sentence)
{
    px_lower_fail(l, -ENODEV, "%s", sentence);
}

void px_refused_by_card(struct px_lower *l, const char *sentence)
{
    px_lower_fail(l, -ENOSYS, "%s", sentence);
}

void px_lower_no_memory(struct px_lower *l)
{
    px_lower_fail(l, -ENOMEM, "out of host memory");
}

bool px_failed(const struct px_lower *l)
{
    return l->error;
}

const char *px_name(struct px_lower *l, const char *format, ...)
{
    char *out = l->names[l->name_turn++ % 4];
    va_list list;
    va_start(list, format);
    vsnprintf(out, sizeof(l->names[0]), format, list);
    va_end(list);
    return out;
}

static px_register register_add(struct px_lower *l, const struct px_register_info *info)
{
    if (l->error)
        return PX_NONE;
    struct px_register_info *grown =
        px_grow(l->registers, l->register_count, &l->register_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return PX_NONE;
    }
    l->registers = grown;
    grown[l->register_count] = *info;
    return (px_register)l->register_count++;
}

px_register px_temporary(struct px_lower *l, char letter)
{
    return register_add(l, &(struct px_register_info){.letter = letter});
}

static bool filled_same(const struct px_register_info *a, const struct px_register_info *b)
{
    return a->fill == b->fill && a->letter == b->letter && a->value == b->value &&
           a->value_high == b->value_high && a->index == b->index && a->size_B == b->size_B &&
           a->generic == b->generic && a->own == b->own;
}

// The slot of a register in the hash table, or a free slot.
static uint32_t *filled_slot(const struct px_lower *l, const struct px_register_info *info)
{
    uint64_t h = (info->value ^ info->value_high * 31) * 0x9e3779b97f4a7c15u;
    h ^= ((uint64_t)info->index << 20 ^ (uint64_t)info->size_B << 8 ^ (uint64_t)info->fill << 4 ^
          (unsigned char)info->letter) *
         0xc2b2ae3d27d4eb4fu;
    size_t i = (size_t)(h >> 24) & (l->filled_capacity - 1);
    while (l->filled[i] && !filled_same(&l->registers[l->filled[i] - 1], info))
        i = (i + 1) & (l->filled_capacity - 1);
    return &l->filled[i];
}

static bool filled_grow(struct px_lower *l)
{
    if (l->filled_count * 2 < l->filled_capacity)
        return true;
    uint32_t *old = l->filled;
    const size_t capacity = l->filled_capacity;
    l->filled_capacity = capacity ? capacity * 2 : 64;
    l->filled = dm_calloc(l->filled_capacity, sizeof(*l->filled));
    if (!l->filled) {
        l->filled = old;
        l->filled_capacity = capacity;
        px_lower_no_memory(l);
        return false;
    }
    for (size_t i = 0; i < capacity; i++)
        if (old[i])
            *filled_slot(l, &l->registers[old[i] - 1]) = old[i];
    dm_free(old);
    return true;
}

px_register px_filled(struct px_lower *l, const struct px_register_info *info)
{
    if (l->error || !filled_grow(l))
        return PX_NONE;
    uint32_t *slot = filled_slot(l, info);
    if (*slot)
        return *slot - 1;
    const px_register reg = register_add(l, info);
    if (reg != PX_NONE) {
        *slot = reg + 1;
        l->filled_count++;
    }
    return reg;
}

px_register px_constant(struct px_lower *l, char letter, uint64_t value)
{
    static const uint64_t masks[] = {['p'] = 1, ['h'] = 0xffff, ['w'] = UINT32_MAX};
    const uint64_t mask =
        (unsigned char)letter < sizeof(masks) / sizeof(*masks) && masks[(unsigned char)letter]
            ? masks[(unsigned char)letter]
            : UINT64_MAX;
    return px_filled(l, &(struct px_register_info){
                            .letter = letter, .fill = PX_FILL_CONSTANT, .value = value & mask});
}

px_register px_special(struct px_lower *l, enum px_special special)
{
    if (special == PX_SPECIAL_ENVREG1 || special == PX_SPECIAL_ENVREG2)
        l->reads_workspace = true;
    l->reads_grid_id |= special == PX_SPECIAL_GRIDID;
    return px_filled(
        l,
        &(struct px_register_info){
            .letter = special == PX_SPECIAL_GRIDID || special == PX_SPECIAL_CURRENT_GRAPH_EXEC ? 'l'
                      : special == PX_SPECIAL_IS_EXPLICIT_CLUSTER                              ? 'p'
                                                                  : 'w',
            .fill = PX_FILL_SPECIAL,
            .index = special,
        });
}

px_register px_carry(struct px_lower *l)
{
    return px_filled(l,
                     &(struct px_register_info){.letter = 'p', .index = UINT32_MAX, .name = "CC"});
}

char px_letter(const struct px_lower *l, px_register reg)
{
    return reg < l->register_count ? l->registers[reg].letter : '?';
}

px_register px_widen(struct px_lower *l, px_register reg, char letter)
{
    const char from = px_letter(l, reg);
    static const char *const bits[] = {['h'] = "16", ['w'] = "32", ['l'] = "64"};
    if (l->error || from == letter)
        return reg;
    if ((from != 'h' && from != 'w' && from != 'l') ||
        (letter != 'h' && letter != 'w' && letter != 'l')) {
        px_refuse(l, "an operand's register has another width");
        return PX_NONE;
    }
    const px_register out = px_temporary(l, letter);
    px_emit(l, px_name(l, "cvt.u%s.u%s", bits[(int)letter], bits[(int)from]), out, reg);
    return out;
}

// An operation for px_emit functions that have failed, which callers may write to.
static struct px_op *op_none(void)
{
    static _Thread_local struct px_op none;
    return &none;
}

static struct px_op *op_add(struct px_lower *l, const px_register *operands, unsigned count)
{
    struct px_op *grown = px_grow(l->ops, l->op_count, &l->op_capacity, sizeof(*grown));
    if (grown)
        l->ops = grown;
    px_register *copy = px_arena_array(&l->arena, count, sizeof(*copy));
    if (!grown || !copy) {
        px_lower_no_memory(l);
        return op_none();
    }
    if (count)
        memcpy(copy, operands, count * sizeof(*copy));
    struct px_op *op = &l->ops[l->op_count++];
    *op = (struct px_op){
        .operands = copy,
        .members = PX_NONE,
        .guard = l->guard,
        .guard_not = l->guard_not,
        .line = l->now ? l->now->line : 0,
        .function = l->function,
    };
    return op;
}

// The number of registers for each '*' of a form's operands, if there are `count` in all.
static unsigned star_times(const char *operands, unsigned count)
{
    unsigned single = 0, stars = 0;
    for (const char *c = operands; *c; c++) {
        stars += *c == '*';
        single += *c != '*' && *c != '=' && *c != 'i' && c[1] != '*';
    }
    return stars && count > single ? (count - single) / stars : 1;
}

struct px_op *px_emit_form(struct px_lower *l, const char *form, int64_t immediate,
                           px_register members, const px_register *operands, unsigned count)
{
    if (l->error)
        return op_none();
    const int index = kn_form_find(form);
    if (index < 0) {
        px_unsupported(l, "this instruction is not supported (operation %s)", form);
        return op_none();
    }
    unsigned forms, n = 0, destinations = 0;
    const struct kn_form *rows = kn_forms(&forms);
    bool fits = true;
    const unsigned times = star_times(rows[index].operands, count);
    for (const char *c = rows[index].operands; *c; c++) {
        if (*c == '=')
            destinations = n;
        if (*c == '=' || *c == 'i' || *c == '*')
            continue;
        for (unsigned k = c[1] == '*' ? times : 1; k; k--, n++)
            fits = fits && n < count && px_letter(l, operands[n]) == *c;
    }
    if (!fits || n != count) {
        px_unsupported(l, "the operands do not fit the operation %s (%s)", form,
                       rows[index].operands);
        return op_none();
    }
    struct px_op *op = op_add(l, operands, count);
    op->code = members == PX_NONE ? PX_FORM : PX_FORM_TOGETHER;
    op->form = index;
    op->members = members;
    op->immediate = immediate;
    op->destinations = (uint8_t)destinations;
    op->sources = (uint8_t)(count - destinations);
    return op;
}

struct px_op *px_emit_code(struct px_lower *l, enum px_code code, int64_t immediate,
                           const px_register *destinations, unsigned destination_count,
                           const px_register *sources, unsigned source_count)
{
    px_register all[2 * PX_OPERANDS_MOST] = {0};
    if (l->error)
        return op_none();
    if (destination_count + source_count > 2 * PX_OPERANDS_MOST) {
        px_refuse(l, "there are too many operands");
        return op_none();
    }
    if (destination_count)
        memcpy(all, destinations, destination_count * sizeof(*all));
    if (source_count)
        memcpy(all + destination_count, sources, source_count * sizeof(*all));
    struct px_op *op = op_add(l, all, destination_count + source_count);
    op->code = code;
    op->immediate = immediate;
    op->destinations = (uint8_t)destination_count;
    op->sources = (uint8_t)source_count;
    return op;
}

void px_waits(struct px_lower *l)
{
    l->waits = true;
    if (!l->error && l->op_count)
        l->ops[l->op_count - 1].waits = true;
}

void px_joins(struct px_lower *l, bool joins)
{
    l->ops[l->op_count - 1].joins = joins;
}

void px_selects(struct px_lower *l)
{
    if (!l->error && l->op_count)
        l->ops[l->op_count - 1].selects = true;
}

void px_ordered(struct px_lower *l)
{
    l->ordered++;
}

void px_uses_barriers(struct px_lower *l)
{
    l->uses_barriers = true;
}

const char *px_modifier_name(unsigned modifier)
{
    return modifier && modifier < PX_MOD_COUNT ? px_modifiers[modifier].name : "";
}

unsigned px_type_bits(unsigned type)
{
    return type < PX_TYPE_COUNT ? px_modifiers[type].bits : 0;
}

char px_type_kind(unsigned type)
{
    return type && type < PX_TYPE_COUNT ? px_modifiers[type].kind : ' ';
}

char px_type_letter(unsigned type)
{
    const unsigned bits = px_type_bits(type);
    if (px_type_kind(type) == 'p')
        return 'p';
    return bits <= 16 ? 'h' : bits == 32 ? 'w' : bits == 64 ? 'l' : 'x';
}

struct px_guard px_guard_also(struct px_lower *l, px_register also)
{
    const struct px_guard held = {l->guard, l->guard_not};
    if (held.predicate != PX_NONE) {
        const px_register taken = px_temporary(l, 'p'), both = px_temporary(l, 'p');
        px_guard_set(l, (struct px_guard){.predicate = PX_NONE});
        px_emit(l, held.negated ? "not.pred" : "mov.pred", taken, held.predicate);
        px_emit(l, "and.pred", both, also, taken);
        also = both;
    }
    px_guard_set(l, (struct px_guard){.predicate = also});
    return held;
}

void px_guard_set(struct px_lower *l, struct px_guard guard)
{
    l->guard = guard.predicate;
    l->guard_not = guard.negated;
}

void px_trap_if(struct px_lower *l, px_register condition, int trap)
{
    const struct px_guard held = px_guard_also(l, condition);
    px_emit_code(l, PX_TRAP, trap, NULL, 0, NULL, 0);
    px_guard_set(l, held);
}

void px_need_cluster(struct px_lower *l)
{
    const px_register missing = px_temporary(l, 'p');
    px_emit(l, "not.pred", missing, px_special(l, PX_SPECIAL_IS_EXPLICIT_CLUSTER));
    px_trap_if(l, missing, PX_TRAP_CLUSTER);
}
