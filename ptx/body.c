// SPDX-License-Identifier: MIT
// Reads bodies: declarations, labels and nested scopes.
#include "body.h"
#include "alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instructions_table.h"

uint32_t px_local_take(struct px_lower *l, uint64_t size_B, uint32_t alignment_B)
{
    const uint64_t mask = (alignment_B ? alignment_B : 1) - 1;
    uint64_t *end = l->frame == PX_NONE ? &l->local_B : &l->frame_B;
    const uint64_t at_B = (*end + mask) & ~mask;
    if (size_B > INT32_MAX || at_B + size_B > INT32_MAX) {
        px_refuse(l, "local memory exceeds 2 GiB per thread");
        return 0;
    }
    *end = at_B + size_B;
    return (uint32_t)at_B;
}

uint32_t px_shared_take(struct px_lower *l, const char *name, size_t length, uint64_t size_B,
                        uint32_t alignment_B)
{
    const uint64_t mask = (alignment_B ? alignment_B : 1) - 1;
    const uint64_t at_B = (l->shared_B + mask) & ~mask;
    if (size_B > 1 << 20 || at_B + size_B > 1 << 20) {
        px_refuse(l, "static shared memory exceeds 1 MiB");
        return 0;
    }
    l->shared_B = at_B + size_B;
    struct px_shared *shared = px_arena_array(&l->arena, 1, sizeof(*shared));
    if (!shared) {
        px_lower_no_memory(l);
        return 0;
    }
    *shared = (struct px_shared){.name = name,
                                 .length = (uint32_t)length,
                                 .at_B = (uint32_t)at_B,
                                 .size_B = (uint32_t)size_B,
                                 .next = l->shared};
    l->shared = shared;
    return (uint32_t)at_B;
}

// Whether the scope in which declarations are read has this name. The parameters are names of the
// body's outermost scope.
static bool is_declared_here(const struct px_body *b, const char *text, size_t length)
{
    const struct px_name *name = px_names_find(&b->names, text, length);
    const uint32_t depth = b->names.depth;
    return name && (name->scope == depth || (depth == 1 && !name->scope));
}

int px_body_name(struct px_body *b, const char *text, size_t length, enum px_name_kind kind,
                 uint64_t value)
{
    if (is_declared_here(b, text, length))
        return -EEXIST;
    return px_names_add(&b->names, text, length, kind, value);
}

struct px_slot *px_slot_add(struct px_body *b, const struct px_formal *formal)
{
    struct px_slot *grown = px_grow(b->slots, b->slot_count, &b->slot_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(b->l);
        return NULL;
    }
    b->slots = grown;
    if (formal->name_length && !(formal->name_length == 1 && *formal->name == '_')) {
        const int rc =
            px_body_name(b, formal->name, formal->name_length, PX_NAME_PARAMETER, b->slot_count);
        if (rc) {
            px_reader_fail(&b->r, rc == -EEXIST ? -EINVAL : rc, "\"%.*s\" is declared twice",
                           (int)(formal->name_length < 60 ? formal->name_length : 60),
                           formal->name);
            return NULL;
        }
    }
    struct px_slot *slot = &grown[b->slot_count++];
    *slot = (struct px_slot){.kind = PX_SLOT_REGISTER, .formal = *formal, .reg = PX_NONE};
    if (formal->is_array || px_type_bits(formal->type) > 64) {
        slot->kind = PX_SLOT_LOCAL;
        slot->at_B = UINT32_MAX; // taken when it is used first
    }
    return slot;
}

// A .param variable of a body: `.param .b32 a, b;`
static void parameter_variable(struct px_body *b)
{
    struct px_formal formal = {0};
    bool good = px_formal_read(&b->r, &formal);
    while (good) {
        px_slot_add(b, &formal);
        if (b->l->error || !px_lex_take(&b->r.x, ","))
            break;
        good = px_formal_name_read(&b->r, &formal);
    }
    px_reader_expect(&b->r, ";");
}

// The module's variable that loading has made of a declaration in a body.
static bool module_symbol(const struct px_reader *r, const struct px_token *name, uint32_t *out)
{
    const struct px_module *m = r->module;
    for (*out = 0; *out < m->variable_count; ++*out)
        if (m->variables[*out].declared_at == name->at)
            return true;
    return false;
}

static void own_variable(struct px_reader *r, const struct px_variable *variable,
                         const struct px_token *name, void *context)
{
    struct px_body *b = context;
    struct px_own own = {.space = variable->space, .element_B = variable->element_B};
    if (variable->external || !variable->size_B)
        px_reader_fail(r, -EINVAL, "a variable inside a function cannot be extern or without size");
    else if (variable->space == PX_SHARED)
        own.at_B =
            px_shared_take(b->l, name->at, name->length, variable->size_B, variable->alignment_B);
    else if (variable->space == PX_LOCAL)
        own.at_B = px_local_take(b->l, variable->size_B, variable->alignment_B);
    else if (!module_symbol(r, name, &own.symbol))
        px_reader_fail(r, -ENOTSUP, "references inside functions are not supported");
    struct px_own *grown = px_grow(b->own, b->own_count, &b->own_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(b->l);
        return;
    }
    b->own = grown;
    const int rc = px_body_name(b, name->at, name->length, PX_NAME_VARIABLE, b->own_count);
    if (rc)
        px_reader_fail(r, rc == -EEXIST ? -EINVAL : rc, "\"%.*s\" is declared twice",
                       (int)(name->length < 60 ? name->length : 60), name->at);
    else
        grown[b->own_count++] = own;
}

void px_label_use(struct px_body *b, const struct px_text *name, uint32_t entry)
{
    struct px_use *grown = px_grow(b->uses, b->use_count, &b->use_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(b->l);
        return;
    }
    b->uses = grown;
    if (!b->l->error)
        grown[b->use_count++] = (struct px_use){*name, (uint32_t)b->l->op_count - 1, entry,
                                                b->l->now ? b->l->now->line : 0, b->names.depth};
}

static void use_resolve(struct px_lower *l, const struct px_use *use, uint32_t op)
{
    if (use->entry == UINT32_MAX)
        l->ops[use->op].target = op;
    else
        ((uint32_t *)(uintptr_t)l->ops[use->op].targets)[use->entry] = op;
}

// At the end of a scope: uses of its labels become operations; the others wait for the scope
// around it.
static void scope_close(struct px_body *b)
{
    const uint32_t depth = b->names.depth;
    size_t kept = 0;
    for (size_t i = 0; i < b->use_count; i++) {
        struct px_use *use = &b->uses[i];
        bool found = false;
        if (use->depth >= depth) {
            const struct px_name *name =
                px_names_find(&b->label_names, use->name.at, use->name.length);
            found = name && name->scope == b->label_names.depth;
            if (found)
                use_resolve(b->l, use, (uint32_t)name->value);
        }
        if (!found) {
            b->uses[kept] = *use;
            if (b->uses[kept].depth >= depth)
                b->uses[kept].depth = depth ? depth - 1 : 0;
            kept++;
        }
    }
    b->use_count = kept;
    px_names_close(&b->names);
    px_names_close(&b->label_names);
    px_names_close(&b->range_names);
}

static void label_add(struct px_body *b, const struct px_token *name)
{
    const int rc = is_declared_here(b, name->at, name->length)
                       ? -EEXIST
                       : px_names_add(&b->label_names, name->at, name->length, 0, b->l->op_count);
    if (rc)
        px_reader_fail(&b->r, rc == -EEXIST ? -EINVAL : rc, "the label \"%.*s\" is defined twice",
                       (int)(name->length < 60 ? name->length : 60), name->at);
}

// name: .branchtargets a, b;
static void targets_read(struct px_body *b, const struct px_token *name)
{
    struct px_targets *grown =
        px_grow(b->targets, b->targets_count, &b->targets_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(b->l);
        return;
    }
    b->targets = grown;
    struct px_targets *list = &grown[b->targets_count];
    *list = (struct px_targets){0};
    const int rc =
        px_names_add(&b->names, name->at, name->length, PX_NAME_TARGETS, b->targets_count++);
    if (rc)
        px_reader_fail(&b->r, rc == -EEXIST ? -EINVAL : rc, "the label is defined twice");
    do {
        struct px_text *texts = px_grow(list->names, list->count, &list->capacity, sizeof(*texts));
        if (!texts) {
            px_lower_no_memory(b->l);
            return;
        }
        list->names = texts;
        texts[list->count++] = (struct px_text){b->r.x.token.at, b->r.x.token.length};
        if (b->r.x.token.kind != PX_TOKEN_NAME)
            px_reader_fail(&b->r, -EINVAL, "\"%.*s\" is not a label", PX_TOKEN_ARGUMENTS(&b->r));
        px_lex_next(&b->r.x);
    } while (!b->r.error && px_lex_take(&b->r.x, ","));
    px_reader_expect(&b->r, ";");
}

// name: .callprototype (.param .b32 _) _ (.param .b32 _);
static void prototype_read(struct px_body *b, const struct px_token *name)
{
    struct px_formals pair[2] = {{0}, {0}};
    if (px_lex_is(&b->r.x, "("))
        px_formals_read(&b->r, &pair[0]);
    px_reader_expect(&b->r, "_");
    if (!b->r.error && px_lex_is(&b->r.x, "("))
        px_formals_read(&b->r, &pair[1]);
    while (!b->r.error && b->r.x.token.kind != PX_TOKEN_END && !px_lex_is(&b->r.x, ";"))
        px_lex_next(&b->r.x); // .noreturn, .abi_preserve 1
    px_reader_expect(&b->r, ";");
    struct px_formals *grown =
        px_grow(b->prototypes, b->prototype_count + 1, &b->prototype_capacity, sizeof(*grown));
    int rc = -ENOMEM;
    if (grown) {
        b->prototypes = grown;
        rc = px_names_add(&b->names, name->at, name->length, PX_NAME_PROTOTYPE, b->prototype_count);
    }
    if (rc) {
        dm_free(pair[0].list);
        dm_free(pair[1].list);
        px_reader_fail(&b->r, rc == -EEXIST ? -EINVAL : rc, "the prototype cannot be kept");
        return;
    }
    grown[b->prototype_count++] = pair[0];
    grown[b->prototype_count++] = pair[1];
}

static void labelled(struct px_body *b, const struct px_token *name)
{
    if (px_lex_take(&b->r.x, ".branchtargets") || px_lex_take(&b->r.x, ".calltargets"))
        targets_read(b, name);
    else if (px_lex_take(&b->r.x, ".callprototype"))
        prototype_read(b, name);
    else
        label_add(b, name);
}

// Whether the tokens are a label and its colon: goes on after them.
static bool label_take(struct px_body *b, struct px_token *name)
{
    const struct px_lexer held = b->r.x;
    *name = held.token;
    if (name->kind != PX_TOKEN_NAME)
        return false;
    px_lex_next(&b->r.x);
    if (px_lex_take(&b->r.x, ":"))
        return true;
    b->r.x = held;
    return false;
}

static void item_read(struct px_body *b)
{
    struct px_reader *r = &b->r;
    struct px_linkage linkage = {0};
    struct px_token name;
    enum px_space space;
    if (px_lex_is(&r->x, ".file"))
        px_reader_fail(r, -EINVAL, ".file is not possible inside a function");
    if (px_lex_take(&r->x, ";") || px_debug_skip(r))
        return;
    if (px_lex_take(&r->x, ".reg")) {
        px_registers_read(b);
    } else if (px_lex_take(&r->x, ".param")) {
        parameter_variable(b);
    } else if (px_space_read(r, &space)) {
        px_variables_read(r, linkage, own_variable, b);
    } else if (px_lex_take(&r->x, ".extern")) {
        linkage.external = true;
        px_variables_read(r, linkage, own_variable, b);
    } else if (px_lex_take(&r->x, ".maxnreg")) {
        px_constant_integer(r, UINT32_MAX, "the directive's value");
    } else if (label_take(b, &name)) {
        labelled(b, &name);
    } else {
        px_statement_read(b);
    }
}

void px_body_read(struct px_body *b)
{
    struct px_reader *r = &b->r;
    unsigned depth = 0;
    do {
        if (px_lex_take(&r->x, "{")) {
            px_names_open(&b->names);
            px_names_open(&b->label_names);
            px_names_open(&b->range_names);
            if (++depth > PX_NESTING_MOST)
                px_reader_fail(r, -EINVAL, "scopes are nested deeper than %d", PX_NESTING_MOST);
        } else if (px_lex_take(&r->x, "}")) {
            depth--;
            scope_close(b);
        } else if (r->x.token.kind == PX_TOKEN_END) {
            px_reader_fail(r, -EINVAL, "the body has no }");
        } else {
            item_read(b);
        }
    } while (depth && !r->error && !b->l->error);
    if (r->error && !b->l->error)
        b->l->error = r->error; // the reader has written the report
    if (!b->l->error && b->use_count) {
        r->x.token.line = b->uses[0].line;
        px_reader_fail(r, -EINVAL, "the label \"%.*s\" is not defined",
                       (int)(b->uses[0].name.length < 60 ? b->uses[0].name.length : 60),
                       b->uses[0].name.at);
        b->l->error = r->error;
    }
}

void px_body_start(struct px_body *b, struct px_lower *l, struct px_body *caller, uint32_t function)
{
    const struct px_function *f = &l->module->functions[function];
    const struct px_function_text *t = &l->module->state->functions[function];
    const struct px_part *part = &l->module->state->parts[t->part];
    *b = (struct px_body){
        .r = {.module = l->module, .part = t->part, .report = l->report},
        .l = l,
        .caller = caller,
        .function = function,
        .depth = caller ? caller->depth + 1 : 0,
    };
    px_lex_start(&b->r.x, part->text + f->body_at, part->text + f->body_end, f->body_line);
}

void px_body_finish(struct px_body *b)
{
    for (size_t i = 0; i < b->targets_count; i++)
        dm_free(b->targets[i].names);
    for (size_t i = 0; i < b->prototype_count; i++)
        dm_free(b->prototypes[i].list);
    px_names_finish(&b->names);
    px_names_finish(&b->label_names);
    px_names_finish(&b->range_names);
    dm_free(b->declared);
    dm_free(b->slots);
    dm_free(b->own);
    dm_free(b->uses);
    dm_free(b->targets);
    dm_free(b->prototypes);
    dm_free(b->returns);
    dm_free(b->range_keys);
    dm_free(b->range_registers);
    px_arena_finish(&b->scratch);
}
