// SPDX-License-Identifier: MIT
// Lays out registers. A compiler gives every value a register of its own. The files of a block's
// warps should fit the first-level cache, so temporary registers share places:
//
//     add.s64  %rd3, %rd1, %rd2       %rd3 has place 0
//     ld.f32   %f1, [%rd3]            %f1 has place 1; %rd3 is not read again
//     add.s64  %rd4, %rd1, 16         %rd4 has place 0
//
// A register is temporary if one operation writes it, for all lanes that are active, and only
// operations after it in the same stretch read it. A stretch is a list of forms without a branch, a
// wait, or a place where lanes meet, so that no other lanes of the warp run in between. Lanes that
// are not active never read such a register, so it does not matter which values they have there.
#include "layout.h"

#include <string.h>

#include "alloc.h"
#include "kn_chain.h"

uint32_t px_register_size(char letter)
{
    switch (letter) {
    case 'p':
        return sizeof(uint32_t);
    case 'h':
        return KN_LANES * sizeof(uint16_t);
    case 'w':
        return KN_LANES * sizeof(uint32_t);
    case 'l':
        return KN_LANES * sizeof(uint64_t);
    default:
        return KN_LANES * 2 * sizeof(uint64_t);
    }
}

// ---- copies ----

static bool is_copy(const struct px_layout *l, const struct px_op *op)
{
    const struct px_register_info *registers = l->program->registers;
    return op->code == PX_FORM && op->guard == PX_NONE && op->destinations == 1 &&
           op->sources == 1 && !strncmp(l->forms[op->form].name, "mov.", 4) &&
           registers[op->operands[0]].letter == registers[op->operands[1]].letter;
}

void px_layout_copies(struct px_layout *l, bool skip, uint32_t *writes)
{
    const struct px_program *program = l->program;
    for (uint32_t i = 0; i < program->register_count; i++) {
        l->same[i] = i;
        writes[i] = 0;
    }
    for (uint32_t i = 0; i < program->op_count; i++)
        for (unsigned n = 0; n < program->ops[i].destinations; n++)
            if (program->ops[i].operands[n] < program->register_count)
                writes[program->ops[i].operands[n]]++;
    for (uint32_t i = 0; skip && i < program->op_count; i++) {
        const struct px_op *op = &program->ops[i];
        if (!is_copy(l, op))
            continue;
        if (op->operands[0] == op->operands[1]) {
            l->skips[i] = true;
            continue;
        }
        if (writes[op->operands[0]] != 1)
            continue;
        const px_register from = l->same[op->operands[1]];
        if (program->registers[from].fill == PX_FILL_BY_OPS)
            continue;
        l->same[op->operands[0]] = from;
        l->skips[i] = true;
    }
}

// ---- temporary registers ----

enum {
    CLASSES = 4,       // of places: by letter
    NONE = UINT32_MAX, // no stretch, operation or place
};

struct sharing {
    const struct px_layout *layout;
    uint32_t *stretch; // by register: in which it is written, or NONE
    uint32_t *last;    // by register: the last operation that reads it, or that writes it
    uint32_t *place;   // by register: of its class, or NONE
    bool *temporary;   // by register
    uint32_t *free;    // by place of any class: the next free one
    uint32_t first_free[CLASSES], count[CLASSES];
};

static unsigned class_of(char letter)
{
    return letter == 'h' ? 0 : letter == 'w' ? 1 : letter == 'l' ? 2 : 3;
}

static bool is_form(const struct px_op *op)
{
    return op->code == PX_FORM;
}

static void note_read(struct sharing *s, px_register reg, uint32_t i, uint32_t stretch)
{
    if (reg >= s->layout->program->register_count)
        return;
    s->temporary[reg] &= s->stretch[reg] == stretch;
    s->last[reg] = i;
}

// The guard of an operation that ends a stretch is read for the lanes of that stretch.
static void note_operation(struct sharing *s, uint32_t i, uint32_t stretch)
{
    const struct px_op *op = &s->layout->program->ops[i];
    const px_register *r = op->operands;
    const bool ends = !is_form(op) && !s->layout->joins[i];
    note_read(s, op->guard, i, stretch - ends);
    if (op->code == PX_FORM_TOGETHER)
        note_read(s, op->members, i, stretch);
    for (unsigned n = op->destinations; n < (unsigned)op->destinations + op->sources; n++)
        note_read(s, r[n], i, stretch);
    for (unsigned n = 0; n < op->destinations; n++) {
        if (r[n] >= s->layout->program->register_count)
            continue;
        s->temporary[r[n]] &= s->stretch[r[n]] == NONE && op->guard == PX_NONE && is_form(op) &&
                              s->last[r[n]] == NONE;
        s->stretch[r[n]] = stretch;
        s->last[r[n]] = i;
    }
}

static void find_temporary(struct sharing *s)
{
    const struct px_program *program = s->layout->program;
    uint32_t stretch = 0;
    for (uint32_t i = 0; i < program->register_count; i++) {
        const struct px_register_info *r = &program->registers[i];
        s->stretch[i] = s->last[i] = s->place[i] = NONE;
        s->temporary[i] = r->fill == PX_FILL_BY_OPS && s->layout->same[i] == i &&
                          !(s->layout->pins && s->layout->pins[i]);
    }
    for (uint32_t i = 0; i < program->op_count; i++) {
        const bool form = is_form(&program->ops[i]);
        stretch += s->layout->joins[i] || !form;
        if (!s->layout->skips[i])
            note_operation(s, i, stretch);
        stretch += !form;
    }
}

static bool is_whole(const struct sharing *s, uint32_t i)
{
    const struct px_op *op = &s->layout->program->ops[i];
    if (s->layout->skips[i] || !is_form(op) || op->guard != PX_NONE ||
        (unsigned)op->form >= kn_forms_arithmetic())
        return false;
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] < s->layout->program->register_count && !s->temporary[op->operands[n]])
            return false;
    return true;
}

// Gives a register a place of its class, in which no other register is now.
static void take_place(struct sharing *s, px_register reg)
{
    const unsigned c = class_of(s->layout->program->registers[reg].letter);
    if (s->first_free[c] == NONE) {
        s->place[reg] = s->count[c]++;
        return;
    }
    s->place[reg] = s->first_free[c];
    s->first_free[c] = s->free[CLASSES * s->first_free[c] + c];
}

static void give_place(struct sharing *s, px_register reg)
{
    const unsigned c = class_of(s->layout->program->registers[reg].letter);
    s->free[CLASSES * s->place[reg] + c] = s->first_free[c];
    s->first_free[c] = s->place[reg];
    s->last[reg] = NONE;
}

static bool shares(const struct sharing *s, px_register reg)
{
    const struct px_program *program = s->layout->program;
    return reg < program->register_count && s->temporary[reg] &&
           program->registers[reg].letter != 'p';
}

static void find_places(struct sharing *s)
{
    const struct px_program *program = s->layout->program;
    for (unsigned c = 0; c < CLASSES; c++)
        s->first_free[c] = NONE;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct px_op *op = &program->ops[i];
        const unsigned operands = (unsigned)op->destinations + op->sources;
        if (s->layout->skips[i])
            continue;
        for (unsigned n = 0; n < op->destinations; n++)
            if (shares(s, op->operands[n]))
                take_place(s, op->operands[n]);
        for (unsigned n = 0; n < operands; n++)
            if (shares(s, op->operands[n]) && s->last[op->operands[n]] == i)
                give_place(s, op->operands[n]);
    }
}

static bool sharing_init(struct sharing *s, const struct px_layout *l)
{
    const uint64_t count = l->program->register_count + 1ull;
    *s = (struct sharing){.layout = l};
    s->stretch = dm_alloc(count * ((3 + CLASSES) * sizeof(uint32_t) + sizeof(bool)));
    if (!s->stretch)
        return false;
    s->last = s->stretch + count;
    s->place = s->last + count;
    s->free = s->place + count;
    s->temporary = (bool *)(s->free + CLASSES * count);
    return true;
}

// ---- all ----

// Predicates come first, after the one of operations without a guard, which is always 0.
uint64_t px_layout(struct px_layout *l, bool share)
{
    static const char letters[CLASSES] = {'h', 'w', 'l', 'x'};
    const struct px_program *program = l->program;
    uint64_t at = sizeof(uint32_t), first[CLASSES];
    struct sharing s;
    if (!sharing_init(&s, l))
        return 0;
    find_temporary(&s);
    if (share)
        find_places(&s);
    for (uint32_t i = 0; share && i < program->op_count; i++)
        l->whole[i] = is_whole(&s, i);
    for (int predicates = 1; predicates >= 0; predicates--) {
        for (uint32_t i = 0; i < program->register_count; i++) {
            const char letter = program->registers[i].letter;
            if (l->same[i] != i || (letter == 'p') != predicates || s.place[i] != NONE ||
                (l->unread && l->unread[i]))
                continue;
            l->offsets[i] = (uint32_t)at;
            at += px_register_size(letter);
        }
        at = (at + 63) / 64 * 64;
    }
    for (unsigned c = 0; c < CLASSES; c++) {
        first[c] = at;
        at += (uint64_t)s.count[c] * px_register_size(letters[c]);
    }
    for (uint32_t i = 0; i < program->register_count; i++) {
        const char letter = program->registers[i].letter;
        const unsigned c = class_of(letter);
        if (s.place[i] != NONE)
            l->offsets[i] = (uint32_t)(first[c] + (uint64_t)s.place[i] * px_register_size(letter));
    }
    for (uint32_t i = 0; i < program->register_count; i++)
        l->offsets[i] = l->offsets[l->same[i]];
    dm_free(s.stretch);
    return (at + 63) / 64 * 64;
}
