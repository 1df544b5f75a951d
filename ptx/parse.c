// SPDX-License-Identifier: MIT
// Reads one statement: guard, opcode and operands, and has it lowered.
#include <errno.h>
#include <string.h>

#include "body.h"
#include "instructions_table.h"

enum { ITEMS_MOST = 2 * PX_OPERANDS_MOST };

// Operands as they stand in the text.
struct items {
    struct px_operand list[ITEMS_MOST];
    bool after_bar[ITEMS_MOST]; // the operand follows a |
    unsigned count;
};

static void guard_read(struct px_body *b, struct px_statement *s)
{
    struct px_operand guard = {.reg = PX_NONE};
    px_lex_next(&b->r.x);
    s->guard_not = px_lex_take(&b->r.x, "!");
    const struct px_token name = b->r.x.token;
    if (!px_register_find(b, name.at, name.length, &guard) || guard.type != PX_PRED)
        px_reader_fail(&b->r, -EINVAL, "the guard \"%.*s\" is not a predicate register",
                       PX_TOKEN_ARGUMENTS(&b->r));
    s->guard = guard.reg;
    px_lex_next(&b->r.x);
}

// A modifier that no row has.
static void modifier_refuse(struct px_body *b, const struct px_text *text)
{
    const struct px_token *modifier = &b->r.x.token;
    const char *dot = memchr(text->at, '.', text->length);
    const struct px_text root = {text->at, dot ? (uint32_t)(dot - text->at) : text->length};
    const struct px_text word = {modifier->at + 1, (uint32_t)modifier->length - 1};
    const int length = (int)(text->length < 100 ? text->length : 100);
    if (px_word_is_unsupported(&root, &word))
        px_reader_fail(&b->r, -ENOTSUP, "%.*s is not supported", length, text->at);
    else
        px_reader_fail(&b->r, -ENOEXEC, "%.*s: the modifier %.*s is not known", length, text->at,
                       PX_TOKEN_ARGUMENTS(&b->r));
}

static void modifiers_read(struct px_body *b, struct px_statement *s)
{
    struct px_lexer *x = &b->r.x;
    while (x->token.kind == PX_TOKEN_DOTTED && !b->r.error) {
        const unsigned modifier = px_modifier_find(x->token.at + 1, x->token.length - 1);
        s->text.length = (uint32_t)(x->token.at + x->token.length - s->text.at);
        if (!modifier)
            modifier_refuse(b, &s->text);
        else if (s->modifier_count >= PX_MODIFIERS_MOST)
            px_reader_fail(&b->r, -EINVAL, "the instruction has too many modifiers");
        else
            s->modifiers[s->modifier_count++] = (uint16_t)modifier;
        px_lex_next(x);
    }
}

static void items_read(struct px_body *b, struct items *items)
{
    struct px_lexer *x = &b->r.x;
    items->count = 0;
    bool bar = false;
    while (!b->r.error && !px_lex_is(x, ";")) {
        if (items->count >= ITEMS_MOST) {
            px_reader_fail(&b->r, -EINVAL, "the instruction has too many operands");
            return;
        }
        items->after_bar[items->count] = bar;
        px_operand_read(b, &items->list[items->count++], 0);
        bar = px_lex_take(x, "|");
        if (!bar && !px_lex_take(x, ","))
            break;
    }
    px_reader_expect(&b->r, ";");
}

void px_operand_check(struct px_lower *l, const struct px_class *class,
                      const struct px_operand *operand, unsigned number)
{
    const enum px_operand_kind kind = operand->kind;
    const char *needed = NULL;
    switch (class->kind) {
    case PX_CLASS_ADDRESS:
        needed = kind == PX_OPERAND_ADDRESS ? NULL : "an address in [ ]";
        break;
    case PX_CLASS_CONSTANT:
        needed = kind == PX_OPERAND_INTEGER ? NULL : "an integer constant";
        break;
    case PX_CLASS_LABEL:
        needed = kind == PX_OPERAND_LABEL ? NULL : "a label";
        break;
    case PX_CLASS_VALUE:
        if (kind == PX_OPERAND_LABEL)
            px_refuse(l, "\"%.*s\" is not declared",
                      (int)(operand->text.length < 60 ? operand->text.length : 60),
                      operand->text.at);
        else if (kind == PX_OPERAND_ADDRESS || kind == PX_OPERAND_LIST ||
                 (kind == PX_OPERAND_VECTOR && !class->vector))
            needed = "a register or a constant";
        break;
    default:
        return;
    }
    if (needed)
        px_refuse(l, "operand %u must be %s", number, needed);
    else if (operand->negated && !class->negates)
        px_refuse(l, "operand %u must not have a !", number);
}

// Distributes the operands to the classes of the row.
static unsigned classes_fill(struct px_lower *l, const struct px_class *classes, unsigned count,
                             const struct items *items, unsigned at, struct px_operand *out)
{
    for (unsigned i = 0; i < count; i++) {
        const struct px_class *class = &classes[i];
        const bool there = at < items->count && items->after_bar[at] == class->paired;
        out[i] = (struct px_operand){.reg = PX_NONE};
        if (there) {
            out[i] = items->list[at++];
            px_operand_check(l, class, &out[i], at);
        } else if (!class->optional) {
            px_refuse(l, "operand %u is missing", at + 1);
        }
    }
    return at;
}

// A destination that is the guard too: the operations of this statement use a copy of the guard.
static void guard_copy(struct px_lower *l, const struct px_statement *s)
{
    bool same = false;
    for (unsigned i = 0; i < s->row->destinations; i++)
        same = same || (s->d[i].kind == PX_OPERAND_REGISTER && s->d[i].reg == s->guard);
    if (!same || s->guard == PX_NONE)
        return;
    const px_register copy = px_temporary(l, 'p');
    l->guard = PX_NONE;
    l->guard_not = false;
    px_emit(l, "mov.pred", copy, s->guard);
    l->guard = copy;
    l->guard_not = s->guard_not;
}

static void lower(struct px_lower *l, const struct px_statement *s)
{
    l->guard = s->guard;
    l->guard_not = s->guard_not;
    guard_copy(l, s);
    if (s->row->lower)
        s->row->lower(l, s);
    else if (s->row->form)
        px_lower_template(l, s);
    else
        px_unsupported(l, "this instruction is not supported");
    px_guard_selects(l, s);
    l->guard = PX_NONE;
    l->guard_not = false;
}

void (*px_lower_note)(const struct px_report *report);

// After a refusal that px_lower_note has taken: goes on after the statement.
static void statement_skip(struct px_body *b, const struct px_lexer *start)
{
    px_lower_note(b->l->report);
    b->l->error = b->r.error = 0;
    b->l->body = b;
    b->r.x = *start;
    while (b->r.x.token.kind != PX_TOKEN_END && !px_lex_is(&b->r.x, ";"))
        px_lex_next(&b->r.x);
    px_lex_take(&b->r.x, ";");
}

void px_statement_read(struct px_body *b)
{
    struct px_lower *l = b->l;
    const struct px_lexer start = b->r.x;
    struct px_statement *s = px_arena_take(&b->scratch, sizeof(*s) + sizeof(struct items));
    if (!s) {
        px_lower_no_memory(l);
        return;
    }
    struct items *items = (struct items *)(s + 1);
    *s = (struct px_statement){.line = b->r.x.token.line, .guard = PX_NONE};
    if (px_lex_is(&b->r.x, "@"))
        guard_read(b, s);
    const struct px_token root = b->r.x.token;
    s->line = root.line;
    s->text = (struct px_text){root.at, root.length};
    if (!b->r.error && root.kind != PX_TOKEN_NAME)
        px_reader_fail(&b->r, -EINVAL, "\"%.*s\" does not begin a statement",
                       PX_TOKEN_ARGUMENTS(&b->r));
    px_lex_next(&b->r.x);
    modifiers_read(b, s);
    b->reading_call = root.length == 4 && !memcmp(root.at, "call", 4);
    l->now = s;
    l->body = b;
    if (!b->r.error)
        px_match(l, s, &(struct px_text){root.at, root.length},
                 &l->module->state->parts[b->r.part]);
    if (!l->error)
        items_read(b, items);
    if (!l->error && !b->r.error) {
        unsigned at = classes_fill(l, s->row->d, s->row->destinations, items, 0, s->d);
        at = classes_fill(l, s->row->a, s->row->sources, items, at, s->a);
        if (at < items->count)
            px_refuse(l, "there are %u operands, but the instruction has %u", items->count, at);
    }
    if (!l->error && !b->r.error)
        px_operands_check(l, s);
    if (!l->error && !b->r.error)
        lower(l, s);
    l->now = NULL;
    px_arena_finish(&b->scratch);
    if (px_lower_note && (l->error || b->r.error))
        statement_skip(b, &start);
}
