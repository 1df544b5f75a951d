// SPDX-License-Identifier: MIT
// Finds out which textures and surfaces a program uses: follows the handles of its operations back
// to arguments and variables.
#include <string.h>

#include "body.h"

enum { USES_MOST = 256, DEPTH_MOST = 32, VISITS_MOST = 4096 };

struct search {
    struct px_lower *l;
    const struct kn_form *forms;
    bool *seen; // by register
    struct px_object_use now;
    struct px_object_use *list;
    uint32_t count, capacity;
    bool other, other_writes; // handles that come from elsewhere
    unsigned depth, visits;
};

static const char *name_of(const struct search *s, const struct px_op *op)
{
    return op->code == PX_FORM ? s->forms[op->form].name : "";
}

static bool begins(const char *name, const char *root)
{
    const size_t length = strlen(root);
    return !strncmp(name, root, length) && (name[length] == '.' || !name[length]);
}

// Whether an operation uses an object, whose handle is its first source.
static bool uses_object(const char *name, struct px_object_use *use)
{
    *use = (struct px_object_use){.argument_B = PX_NONE, .variable = PX_NONE};
    if (begins(name, "tex") || begins(name, "tld4") || begins(name, "txq"))
        return true;
    use->kind = KN_OBJECT_SURFACE;
    use->writes = begins(name, "sust") || begins(name, "sured");
    return use->writes || begins(name, "suld");
}

static void other(struct search *s)
{
    s->other = true;
    s->other_writes |= s->now.writes;
}

static void add(struct search *s, uint32_t argument_B, uint32_t variable)
{
    struct px_object_use use = s->now;
    use.argument_B = argument_B;
    use.variable = variable;
    for (uint32_t i = 0; i < s->count; i++) {
        struct px_object_use *have = &s->list[i];
        if (have->kind == use.kind && have->argument_B == argument_B &&
            have->variable == variable) {
            have->writes |= use.writes;
            return;
        }
    }
    if (s->count == s->capacity) {
        const uint32_t more = s->capacity ? 2 * s->capacity : 4;
        struct px_object_use *grown = px_arena_array(&s->l->arena, more, sizeof *grown);
        if (!grown || more > USES_MOST) {
            if (!grown)
                px_lower_no_memory(s->l);
            other(s);
            return;
        }
        if (s->count)
            memcpy(grown, s->list, s->count * sizeof *grown);
        s->list = grown;
        s->capacity = more;
    }
    s->list[s->count++] = use;
}

static void trace(struct search *s, px_register reg);

// The sources of the moves that define a register.
static void trace_definitions(struct search *s, px_register reg)
{
    const struct px_lower *l = s->l;
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        bool defines = false;
        for (unsigned n = 0; n < op->destinations; n++)
            defines |= op->operands[n] == reg;
        if (!defines)
            continue;
        const char *name = name_of(s, op);
        const unsigned sources = !strcmp(name, "mov.64") ? 1 : !strcmp(name, "selp.64") ? 2 : 0;
        for (unsigned n = 0; n < sources; n++)
            trace(s, op->operands[op->destinations + n]);
        if (!sources)
            other(s);
    }
}

static void trace(struct search *s, px_register reg)
{
    if (reg >= s->l->register_count || s->seen[reg])
        return;
    if (s->depth == DEPTH_MOST || s->visits == VISITS_MOST) {
        other(s);
        return;
    }
    s->visits++;
    const struct px_register_info *r = &s->l->registers[reg];
    s->seen[reg] = true;
    s->depth++;
    switch (r->fill) {
    case PX_FILL_ARGUMENT:
        if (r->size_B == sizeof(uint64_t))
            add(s, (uint32_t)r->value, PX_NONE);
        break;
    case PX_FILL_VARIABLE:
        add(s, PX_NONE, r->index);
        break;
    case PX_FILL_BY_OPS:
        trace_definitions(s, reg);
        break;
    default: // a constant is not a handle
        break;
    }
    s->depth--;
}

void px_objects_find(struct px_lower *l, struct px_object_uses *out)
{
    unsigned count;
    struct search s = {.l = l, .forms = kn_forms(&count)};
    *out = (struct px_object_uses){0};
    for (size_t i = 0; i < l->op_count && !l->error; i++) {
        if (!uses_object(name_of(&s, &l->ops[i]), &s.now))
            continue;
        if (!s.seen)
            s.seen = px_arena_array(&l->arena, l->register_count, sizeof *s.seen);
        if (!s.seen) {
            px_lower_no_memory(l);
            return;
        }
        memset(s.seen, 0, l->register_count * sizeof *s.seen);
        trace(&s, l->ops[i].operands[l->ops[i].destinations]);
    }
    *out = (struct px_object_uses){
        .list = s.list, .count = s.count, .other = s.other, .other_writes = s.other_writes};
}
