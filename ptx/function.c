// SPDX-License-Identifier: MIT
// Heads of kernels and functions: parameters and directives.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instructions_table.h"
#include "module_state.h"
#include "alloc.h"

// "The maximum size of the parameters of a kernel is 32764 bytes from PTX 8.1 on, and 4352 before."
enum { ARGUMENTS_MOST_B = 32764, ARGUMENTS_FORMERLY_B = 4352, ARGUMENTS_VERSION = 81 };

// Words between .param and the name.
static void formal_words(struct px_reader *r, struct px_formal *out)
{
    bool pointer = false;
    while (!r->error && r->x.token.kind == PX_TOKEN_DOTTED) {
        enum px_space space;
        if (px_lex_take(&r->x, ".align")) {
            const uint32_t value = (uint32_t)px_constant_integer(r, 1 << 20, "an alignment");
            if (!value || (value & (value - 1)))
                px_reader_fail(r, -EINVAL, "the alignment must be a power of two");
            else if (!pointer)
                out->alignment_B = value;
        } else if (px_lex_take(&r->x, ".ptr")) {
            pointer = out->is_pointer = true;
            out->pointer_space = PX_GENERIC;
        } else if (pointer && px_space_read(r, &space)) {
            out->pointer_space = space;
            px_lex_next(&r->x);
        } else {
            out->type = (uint16_t)px_type_read(r);
            if (!out->type)
                px_reader_fail(r, -EINVAL, "\"%.*s\" is not a type of parameters",
                               PX_TOKEN_ARGUMENTS(r));
            px_lex_next(&r->x);
        }
    }
}

bool px_formal_read(struct px_reader *r, struct px_formal *out)
{
    formal_words(r, out);
    if (!r->error && !out->type)
        px_reader_fail(r, -EINVAL, "the parameter has no type");
    return px_formal_name_read(r, out);
}

bool px_formal_name_read(struct px_reader *r, struct px_formal *out)
{
    out->is_array = false;
    uint64_t size_B = (px_type_bits(out->type) + 7) / 8;
    if (!out->alignment_B)
        out->alignment_B = (uint32_t)size_B;
    if (r->x.token.kind == PX_TOKEN_NAME) {
        out->name = r->x.token.at;
        out->name_length = r->x.token.length;
        px_lex_next(&r->x);
    }
    while (!r->error && px_lex_take(&r->x, "[")) {
        out->is_array = true;
        size_B *=
            px_lex_is(&r->x, "]") ? 0 : px_constant_integer(r, 1 << 20, "an array's dimension");
        if (size_B > 1 << 24)
            px_reader_fail(r, -EINVAL, "the parameter is larger than 16 MiB");
        px_reader_expect(r, "]");
    }
    out->size_B = (uint32_t)size_B;
    return !r->error;
}

void px_formals_add(struct px_reader *r, struct px_formals *list, const struct px_formal *formal)
{
    struct px_formal *grown =
        px_grow(list->list, list->count, &list->capacity, sizeof(*list->list));
    if (!grown) {
        px_reader_fail(r, -ENOMEM, "out of host memory");
        return;
    }
    list->list = grown;
    grown[list->count++] = *formal;
}

void px_formals_read(struct px_reader *r, struct px_formals *out)
{
    px_reader_expect(r, "(");
    while (!r->error && !px_lex_is(&r->x, ")")) {
        struct px_formal formal = {.in_register = px_lex_is(&r->x, ".reg")};
        if (!px_lex_take(&r->x, ".reg"))
            px_reader_expect(r, ".param");
        if (px_formal_read(r, &formal))
            px_formals_add(r, out, &formal);
        if (!px_lex_take(&r->x, ","))
            break;
    }
    px_reader_expect(r, ")");
}

// Moves a list that malloc made into the module's arena.
static void formals_keep(struct px_reader *r, struct px_formals *list)
{
    struct px_formal *kept =
        r->error ? NULL : px_arena_array(&r->module->state->arena, list->count, sizeof(*kept));
    if (kept && list->count)
        memcpy(kept, list->list, list->count * sizeof(*kept));
    if (!kept && !r->error)
        px_reader_fail(r, -ENOMEM, "out of host memory");
    dm_free(list->list);
    list->list = kept;
    list->count = kept ? list->count : 0;
}

// One to three integers, which a block's dimensions need to be positive.
static void triple(struct px_reader *r, uint32_t *out, bool positive)
{
    for (unsigned i = 0; i < 3; i++)
        out[i] = 1;
    for (unsigned i = 0; i < 3; i++) {
        out[i] = (uint32_t)px_constant_integer(r, UINT32_MAX, "a dimension");
        if (!out[i] && positive)
            px_reader_fail(r, -EINVAL, "a dimension of blocks must not be 0");
        if (!px_lex_take(&r->x, ","))
            return;
    }
}

static uint32_t single(struct px_reader *r, bool positive)
{
    const uint32_t value = (uint32_t)px_constant_integer(r, UINT32_MAX, "the directive's value");
    if (!value && positive)
        px_reader_fail(r, -EINVAL, "the directive's value must not be 0");
    return value;
}

// "Performance-tuning and cluster directives" between the head and the body.
static void directives_read(struct px_reader *r, struct px_function *f, struct px_function_text *t)
{
    struct px_limits *limits = &f->limits;
    while (!r->error && r->x.token.kind == PX_TOKEN_DOTTED) {
        if (px_lex_take(&r->x, ".maxntid"))
            triple(r, limits->most_threads, true);
        else if (px_lex_take(&r->x, ".reqntid"))
            triple(r, limits->required_threads, true);
        else if (px_lex_take(&r->x, ".minnctapersm"))
            limits->least_blocks = single(r, true);
        else if (px_lex_take(&r->x, ".maxnctapersm"))
            t->most_blocks = single(r, true);
        else if (px_lex_take(&r->x, ".maxnreg"))
            limits->most_registers = single(r, true);
        else if (px_lex_take(&r->x, ".reqnctapercluster"))
            triple(r, limits->required_cluster, false);
        else if (px_lex_take(&r->x, ".maxclusterrank"))
            limits->most_cluster = single(r, false);
        else if (px_lex_take(&r->x, ".explicitcluster"))
            limits->explicit_cluster = true;
        else if (px_lex_take(&r->x, ".noreturn"))
            t->no_return = true;
        else if (px_lex_take(&r->x, ".abi_preserve") || px_lex_take(&r->x, ".abi_preserve_control"))
            single(r, false);
        else if (!px_debug_skip(r))
            px_reader_fail(r, px_lex_is(&r->x, ".blocksareclusters") ? -ENOTSUP : -EINVAL,
                           "the directive %.*s is not supported here", PX_TOKEN_ARGUMENTS(r));
    }
}

// Directives that do not go together (recorded on a card).
static void kernel_directives(struct px_reader *r, const struct px_function *f,
                              const struct px_function_text *t)
{
    const struct px_limits *limits = &f->limits;
    const char *wrong = NULL;
    if (limits->most_threads[0] && limits->required_threads[0])
        wrong = ".maxntid and .reqntid exclude each other";
    else if (limits->most_cluster && limits->required_cluster[0])
        wrong = ".maxclusterrank and .reqnctapercluster exclude each other";
    else if (t->most_blocks && !limits->most_threads[0] && !limits->required_threads[0])
        wrong = ".maxnctapersm needs .maxntid";
    else if (t->no_return)
        wrong = ".noreturn is for functions, not for kernels";
    else if (t->returns.count)
        wrong = "a kernel returns no values";
    if (wrong)
        px_reader_fail(r, -EINVAL, "%s", wrong);
}

static void kernel_parameters(struct px_reader *r, struct px_function *f,
                              const struct px_formals *formals)
{
    uint64_t at_B = 0;
    const unsigned most_B = r->module->state->parts[r->part].version < ARGUMENTS_VERSION
                                ? ARGUMENTS_FORMERLY_B
                                : ARGUMENTS_MOST_B;
    struct px_parameter *out =
        px_arena_array(&r->module->state->arena, formals->count, sizeof(*out));
    if (!out) {
        px_reader_fail(r, -ENOMEM, "out of host memory");
        return;
    }
    for (size_t i = 0; i < formals->count; i++) {
        const struct px_formal *formal = &formals->list[i];
        at_B = (at_B + formal->alignment_B - 1) & ~(uint64_t)(formal->alignment_B - 1);
        out[i] = (struct px_parameter){
            .name = px_arena_text(&r->module->state->arena, formal->name ? formal->name : "",
                                  formal->name_length),
            .offset_B = (uint32_t)at_B,
            .size_B = formal->size_B,
            .alignment_B = formal->alignment_B,
            .is_pointer = formal->is_pointer,
            .pointer_space = formal->pointer_space,
        };
        at_B += formal->size_B;
        if (!out[i].name)
            px_reader_fail(r, -ENOMEM, "out of host memory");
        if (at_B > most_B) {
            px_reader_fail(r, -EINVAL, "the parameters exceed %u bytes%s", most_B,
                           most_B < ARGUMENTS_MOST_B ? ", the limit before .version 8.1" : "");
            return;
        }
    }
    f->parameters = out;
    f->parameter_count = (unsigned)formals->count;
    f->parameters_B = (uint32_t)at_B;
}

static bool arrays_grow(struct px_reader *r)
{
    struct px_module *m = r->module;
    struct px_function *functions =
        px_grow(m->functions, m->function_count, &m->state->function_capacity, sizeof(*functions));
    if (functions)
        m->functions = functions;
    struct px_function_text *texts = px_grow(m->state->functions, m->function_count,
                                             &m->state->function_text_capacity, sizeof(*texts));
    if (texts)
        m->state->functions = texts;
    if (!functions || !texts)
        px_reader_fail(r, -ENOMEM, "out of host memory");
    return functions && texts;
}

static bool same_values(const struct px_formals *a, const struct px_formals *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].size_B != b->list[i].size_B || a->list[i].is_array != b->list[i].is_array)
            return false;
    return true;
}

// Adds the function, or completes the one that was declared.
static void function_add(struct px_reader *r, struct px_function *f,
                         const struct px_function_text *t, const struct px_token *name,
                         struct px_linkage linkage)
{
    struct px_module *m = r->module;
    if (!arrays_grow(r))
        return;
    const uint32_t index = px_symbol_add(r, name, linkage, PX_NAME_FUNCTION, m->function_count);
    if (r->error)
        return;
    if (index == m->function_count) {
        f->name = px_arena_text(&m->state->arena, name->at, name->length);
        if (!f->name) {
            px_reader_fail(r, -ENOMEM, "out of host memory");
            return;
        }
        m->functions[index] = *f;
        m->state->functions[index] = *t;
        m->function_count++;
        return;
    }
    struct px_function *old = &m->functions[index];
    const struct px_function_text *earlier = &m->state->functions[index];
    const bool same_text = earlier->part == t->part;
    const int error = same_text ? -EINVAL : -EEXIST;
    if (old->defined && f->defined && (same_text || (!f->weak && !old->weak))) {
        px_reader_fail(r, error, "the function \"%s\" is defined twice", old->name);
        return;
    }
    if (same_text && !f->defined && !f->external) {
        px_reader_fail(r, error, "the function \"%s\" is declared twice", old->name);
        return;
    }
    if (old->is_kernel != f->is_kernel || !same_values(&earlier->returns, &t->returns) ||
        !same_values(&earlier->parameters, &t->parameters)) {
        px_reader_fail(r, error, "the function \"%s\" was declared with other parameters",
                       old->name);
        return;
    }
    if (!f->defined || (old->defined && f->weak))
        return;
    f->name = old->name;
    f->visible = f->visible || old->visible;
    *old = *f;
    m->state->functions[index] = *t;
}

// A global or constant variable that a body declares: the module has it, and only the body knows
// its name.
static void body_variable(struct px_reader *r, const struct px_variable *variable,
                          const struct px_token *name, void *context)
{
    struct px_variable *added = px_variable_append(r, variable);
    if (added)
        added->declared_at = name->at;
}

// Whether a body may declare such variables: ".global" after a space, a sign or a comment. The end
// of the text is a zero byte.
static bool may_declare(const char *at, const char *end)
{
    for (; at < end; at++) {
        at = memchr(at, '.', (size_t)(end - at));
        if (!at)
            return false;
        const char *word = at[1] == 'g' ? ".global" : ".const";
        if (at[1] == word[1] && !strncmp(at, word, strlen(word)) && strchr(" \t\r\n;{}:/", at[-1]))
            return true;
    }
    return false;
}

static void body_variables_read(struct px_reader *r, const struct px_function *f)
{
    const char *text = r->module->state->parts[r->part].text;
    const struct px_lexer held = r->x;
    const struct px_linkage linkage = {0};
    bool first = true; // the token begins a statement
    if (!may_declare(text + f->body_at + 1, text + f->body_end))
        return;
    px_lex_start(&r->x, text + f->body_at, text + f->body_end, f->body_line);
    while (!r->error && r->x.token.kind != PX_TOKEN_END) {
        if (first && (px_lex_is(&r->x, ".global") || px_lex_is(&r->x, ".const"))) {
            px_variables_read(r, linkage, body_variable, NULL);
            continue;
        }
        if (first && px_debug_skip(r))
            continue;
        first = px_lex_is(&r->x, "{") || px_lex_is(&r->x, "}") || px_lex_is(&r->x, ";") ||
                px_lex_is(&r->x, ":");
        px_lex_next(&r->x);
    }
    r->x = held;
}

static void body_read(struct px_reader *r, struct px_function *f)
{
    const char *text = r->module->state->parts[r->part].text;
    f->defined = true;
    f->body_at = (size_t)(r->x.token.at - text);
    f->body_line = r->x.token.line;
    if (!px_lex_skip_body(&r->x)) {
        px_reader_fail(r, -EINVAL, "the body that begins in line %u has no }", f->body_line);
        return;
    }
    f->body_end = (size_t)(r->x.token.at - text);
    body_variables_read(r, f);
}

void px_function_read(struct px_reader *r, struct px_linkage linkage)
{
    struct px_function f = {.is_kernel = px_lex_is(&r->x, ".entry"),
                            .line = r->x.token.line,
                            .target = r->module->state->parts[r->part].target};
    struct px_function_text t = {.part = r->part};
    px_lex_next(&r->x);
    if (px_lex_take(&r->x, ".attribute"))
        while (!px_lex_take(&r->x, ")") && r->x.token.kind != PX_TOKEN_END)
            px_lex_next(&r->x);
    if (px_lex_is(&r->x, "("))
        px_formals_read(r, &t.returns);
    // Several results must be registers.
    for (size_t i = 0; !r->error && t.returns.count > 1 && i < t.returns.count; i++)
        if (!t.returns.list[i].in_register)
            px_reader_fail(r, -EINVAL, "a function that returns several values returns .reg");
    directives_read(r, &f, &t); // .noreturn
    const struct px_token name = r->x.token;
    if (!r->error && name.kind != PX_TOKEN_NAME)
        px_reader_fail(r, -EINVAL, "\"%.*s\" is not a function's name", PX_TOKEN_ARGUMENTS(r));
    px_lex_next(&r->x);
    if (!r->error && px_lex_is(&r->x, "("))
        px_formals_read(r, &t.parameters);
    directives_read(r, &f, &t);
    formals_keep(r, &t.returns);
    formals_keep(r, &t.parameters);
    if (!r->error && f.is_kernel) {
        kernel_directives(r, &f, &t);
        kernel_parameters(r, &f, &t.parameters);
    }
    f.visible = linkage.visible;
    f.external = linkage.external;
    f.weak = linkage.weak;
    if (!r->error && px_lex_is(&r->x, "{"))
        body_read(r, &f);
    else
        px_reader_expect(r, ";");
    if (!r->error)
        function_add(r, &f, &t, &name, linkage);
}
