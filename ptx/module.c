// SPDX-License-Identifier: MIT
// Modules: reads the declarations of PTX text.
#include "module.h"
#include "alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid_text.h"
#include "kn_float.h"
#include "module_state.h"
#include "program.h"

void px_reader_fail(struct px_reader *r, int error, const char *format, ...)
{
    if (r->error)
        return;
    r->error = error;
    r->report->line = r->x.token.line;
    const char *name = r->module->state->parts[r->part].name;
    const int at = snprintf(r->report->text, sizeof(r->report->text), "%s%sline %u: ", name,
                            *name ? ", " : "", r->x.token.line);
    va_list list;
    va_start(list, format);
    vsnprintf(r->report->text + at, sizeof(r->report->text) - (size_t)at,
              error == -ENOMEM ? "out of host memory" : format, list);
    va_end(list);
    r->x.at = r->x.end; // the rest is not read
}

bool px_reader_expect(struct px_reader *r, const char *text)
{
    if (r->error)
        return false;
    if (px_lex_take(&r->x, text))
        return true;
    if (r->x.token.kind == PX_TOKEN_END)
        px_reader_fail(r, -EINVAL, "the text ends before \"%s\"", text);
    else
        px_reader_fail(r, -EINVAL, "\"%.*s\" stands in the place of \"%s\"", PX_TOKEN_ARGUMENTS(r),
                       text);
    return false;
}

struct px_name *px_symbol_find(const struct px_reader *r, const char *text, size_t length)
{
    return px_names_find(&r->module->state->parts[r->part].names, text, length);
}

uint32_t px_symbol_add(struct px_reader *r, const struct px_token *name, struct px_linkage linkage,
                       enum px_name_kind kind, uint32_t fresh)
{
    struct px_module_state *state = r->module->state;
    struct px_names *names = &state->parts[r->part].names;
    const bool shared = linkage.visible || linkage.external || linkage.weak || linkage.common;
    const struct px_name *old = px_names_find(names, name->at, name->length);
    if (!old && shared)
        old = px_names_find(&state->globals, name->at, name->length);
    if (old && old->kind != (uint32_t)kind)
        px_reader_fail(r, -EINVAL, "\"%.*s\" is declared as a function and as a variable",
                       (int)(name->length < 60 ? name->length : 60), name->at);
    const uint32_t index = old ? (uint32_t)old->value : fresh;
    int rc = px_names_add(names, name->at, name->length, kind, index);
    if ((!rc || rc == -EEXIST) && shared)
        rc = px_names_add(&state->globals, name->at, name->length, kind, index);
    if (rc && rc != -EEXIST)
        px_reader_fail(r, -ENOMEM, "out of host memory");
    return index;
}

// The error of a symbol that does not go with one of the same name.
static int join_error(const struct px_reader *r, unsigned part)
{
    return part == r->part ? -EINVAL : -EEXIST;
}

// A variable is declared again: one of the declarations must be external, or weak in another text.
static void variable_join(struct px_reader *r, struct px_variable *old,
                          const struct px_variable *variable)
{
    const int error = join_error(r, old->part);
    const bool both = !old->external && !variable->external;
    const bool weak = (old->weak || variable->weak) && old->part != r->part;
    if (both && !weak)
        px_reader_fail(r, error, "the variable \"%s\" is defined twice", old->name);
    else if (old->space != variable->space)
        px_reader_fail(r, error, "the variable \"%s\" is declared in two spaces", old->name);
    else if (old->size_B != variable->size_B && old->size_B && variable->size_B && !old->common &&
             !variable->common)
        px_reader_fail(
            r, error, "the variable \"%s\" has %llu bytes, but it was declared with %llu bytes",
            old->name, (unsigned long long)variable->size_B, (unsigned long long)old->size_B);
    else if (old->external || (both && old->weak && !variable->weak) ||
             (both && old->common && variable->common && variable->size_B > old->size_B))
        *old = *variable;
}

struct px_variable *px_variable_append(struct px_reader *r, const struct px_variable *variable)
{
    struct px_module *m = r->module;
    struct px_variable *grown =
        px_grow(m->variables, m->variable_count, &m->state->variable_capacity, sizeof(*grown));
    if (!grown) {
        px_reader_fail(r, -ENOMEM, "out of host memory");
        return NULL;
    }
    m->variables = grown;
    grown[m->variable_count] = *variable;
    return &grown[m->variable_count++];
}

static void module_variable(struct px_reader *r, const struct px_variable *variable,
                            const struct px_token *name, void *context)
{
    const struct px_linkage *linkage = context;
    const unsigned fresh = r->module->variable_count;
    const uint32_t index = px_symbol_add(r, name, *linkage, PX_NAME_VARIABLE, fresh);
    if (r->error)
        return;
    if (index == fresh)
        px_variable_append(r, variable);
    else
        variable_join(r, &r->module->variables[index], variable);
}

static void integers_skip(struct px_reader *r)
{
    while (r->x.token.kind == PX_TOKEN_INTEGER)
        px_lex_next(&r->x);
}

bool px_debug_skip(struct px_reader *r)
{
    if (px_lex_take(&r->x, ".loc")) {
        integers_skip(r);
        while (px_lex_take(&r->x, ",")) { // function_name label + 4, inlined_at 1 2 3
            px_lex_next(&r->x);
            if (r->x.token.kind == PX_TOKEN_NAME)
                px_lex_next(&r->x);
            px_lex_take(&r->x, "+");
            integers_skip(r);
        }
    } else if (px_lex_take(&r->x, ".file")) {
        r->module->state->parts[r->part].has_debug = true;
        integers_skip(r);
        if (r->x.token.kind != PX_TOKEN_STRING)
            px_reader_fail(r, -EINVAL, ".file needs a name in quotation marks");
        px_lex_next(&r->x);
        while (px_lex_take(&r->x, ",")) // time and size
            integers_skip(r);
    } else if (px_lex_take(&r->x, ".section")) {
        r->module->state->parts[r->part].has_debug = true;
        px_lex_next(&r->x);
        if (!px_lex_is(&r->x, "{") || !px_lex_skip_body(&r->x))
            px_reader_fail(r, -EINVAL, "the section has no }");
    } else if (px_lex_take(&r->x, ".pragma")) {
        do {
            if (r->x.token.kind != PX_TOKEN_STRING)
                px_reader_fail(r, -EINVAL, ".pragma needs a text in quotation marks");
            px_lex_next(&r->x);
        } while (px_lex_take(&r->x, ","));
        px_reader_expect(r, ";");
    } else {
        return false;
    }
    return true;
}

static void alias_read(struct px_reader *r)
{
    const struct px_token name = r->x.token;
    px_lex_next(&r->x);
    if (!px_reader_expect(r, ","))
        return;
    struct px_name *alias = px_symbol_find(r, name.at, name.length);
    const struct px_name *function = px_symbol_find(r, r->x.token.at, r->x.token.length);
    if (!alias || !function || alias->kind != PX_NAME_FUNCTION ||
        function->kind != PX_NAME_FUNCTION) {
        px_reader_fail(r, -EINVAL, ".alias needs two functions that are declared");
        return;
    }
    alias->value = function->value;
    px_lex_next(&r->x);
    px_reader_expect(r, ";");
}

static void register_skip(struct px_reader *r)
{
    while (!px_lex_is(&r->x, ";") && r->x.token.kind != PX_TOKEN_END)
        px_lex_next(&r->x);
    px_reader_expect(r, ";");
}

static struct px_linkage linkage_read(struct px_reader *r)
{
    struct px_linkage out = {0};
    for (;;) {
        if (px_lex_take(&r->x, ".visible"))
            out.visible = true;
        else if (px_lex_take(&r->x, ".extern"))
            out.external = true;
        else if (px_lex_take(&r->x, ".weak"))
            out.weak = true;
        else if (px_lex_take(&r->x, ".common"))
            out.common = true;
        else
            return out;
    }
}

static void declaration_read(struct px_reader *r)
{
    enum px_space space;
    if (px_debug_skip(r) || px_target_read(r) || px_lex_take(&r->x, ";"))
        return;
    if (px_lex_take(&r->x, ".alias")) {
        alias_read(r);
        return;
    }
    if (px_lex_is(&r->x, "@")) { // @@DWARF, of old: to the end of the line
        r->module->state->parts[r->part].has_debug = true;
        const char *line = memchr(r->x.token.at, '\n', (size_t)(r->x.end - r->x.token.at));
        r->x.at = line ? line : r->x.end;
        px_lex_next(&r->x);
        return;
    }
    struct px_linkage linkage = linkage_read(r);
    if (linkage.external && (linkage.visible || linkage.weak || linkage.common))
        px_reader_fail(r, -EINVAL, ".extern excludes .visible, .weak and .common");
    else if (px_lex_is(&r->x, ".entry") || px_lex_is(&r->x, ".func"))
        px_function_read(r, linkage);
    else if (px_lex_is(&r->x, ".reg")) // (recorded on a card: without effect)
        register_skip(r);
    else if (px_space_read(r, &space))
        px_variables_read(r, linkage, module_variable, &linkage);
    else
        px_reader_fail(r, -EINVAL, "\"%.*s\" does not begin a declaration", PX_TOKEN_ARGUMENTS(r));
}

// The number of bytes before the first that is not ASCII.
static size_t ascii_length(const char *text, size_t size_B)
{
    enum { STEP_B = 64 };
    size_t i = 0;
    for (; size_B - i >= STEP_B; i += STEP_B) { // the loop inside becomes a few vector instructions
        unsigned char all = 0;
        for (size_t k = 0; k < STEP_B; k++)
            all |= (unsigned char)text[i + k];
        if (all >= 0x80)
            break;
    }
    while (i < size_B && (unsigned char)text[i] < 0x80)
        i++;
    return i;
}

// "PTX source is ASCII." Comments too (recorded: load_ptx/non-ascii).
static void ascii_check(struct px_reader *r, const struct px_part *part)
{
    const size_t length = ascii_length(part->text, part->text_B);
    if (length == part->text_B)
        return;
    r->x.token.line = 1;
    for (size_t i = 0; i < length; i++)
        r->x.token.line += part->text[i] == '\n';
    px_reader_fail(r, -EINVAL, "the byte 0x%02x is not ASCII", (unsigned char)part->text[length]);
}

static int part_read(struct px_module *module, unsigned index, struct px_report *report)
{
    struct px_part *part = &module->state->parts[index];
    struct px_reader r = {.module = module, .part = index, .report = report};
    px_lex_start(&r.x, part->text, part->text + part->text_B, 1);
    ascii_check(&r, part);
    px_version_read(&r);
    if (!r.error && !px_target_read(&r))
        px_reader_expect(&r, ".target");
    if (!r.error)
        px_address_size_read(&r);
    while (!r.error && r.x.token.kind != PX_TOKEN_END)
        declaration_read(&r);
    // "If the debug option is declared, the text must have debug information."
    if (!r.error && part->debug && !part->has_debug) {
        r.x.token.line = part->debug_line;
        px_reader_fail(&r, -EINVAL, ".target has \"debug\", but the text has no DWARF sections");
    }
    if (part->version > module->version)
        module->version = part->version;
    if (part->target > module->target) {
        module->target = part->target;
        module->target_specific = part->target_specific;
    }
    return r.error;
}

static int module_create(struct px_module **out, unsigned parts)
{
    struct px_module *m = dm_calloc(1, sizeof(*m));
    struct px_module_state *state = dm_calloc(1, sizeof(*state));
    struct px_part *list = dm_calloc(parts + 1ul, sizeof(*list));
    if (!m || !state || !list) {
        dm_free(m);
        dm_free(state);
        dm_free(list);
        return -ENOMEM;
    }
    *m = (struct px_module){.address_B = 8, .state = state};
    state->parts = list;
    state->part_count = parts;
    px_module_state_init(state);
    *out = m;
    return 0;
}

enum { TEXT_MOST_B = UINT32_MAX / 2 }; // longer texts are refused

static bool text_take(struct px_part *part, const struct px_source *source)
{
    if (source->size_B > TEXT_MOST_B)
        return false;
    part->text_B = strnlen(source->text, source->size_B);
    if (source->taken) {
        part->text = *source->taken;
        *source->taken = NULL;
        return true;
    }
    part->text = dm_alloc(part->text_B + 1);
    if (!part->text)
        return false;
    memcpy(part->text, source->text, part->text_B);
    part->text[part->text_B] = 0;
    return true;
}

static int texts_load(const struct px_source *texts, unsigned count, enum px_link link,
                      struct px_module **out, struct px_report *report)
{
    struct px_module *m = NULL;
    *report = (struct px_report){0};
    int rc = module_create(&m, count);
    if (!rc)
        m->link = link;
    for (unsigned i = 0; i < count && !rc; i++) {
        struct px_part *part = &m->state->parts[i];
        snprintf(part->name, sizeof(part->name), "%s", texts[i].name ? texts[i].name : "");
        if (!text_take(part, &texts[i])) {
            rc = -ENOMEM;
            break;
        }
        const struct kn_float_state state = kn_float_enter(); // initial values are rounded
        rc = part_read(m, i, report);
        kn_float_leave(state);
    }
    if (rc == -ENOMEM)
        snprintf(report->text, sizeof(report->text), "out of host memory");
    if (rc)
        px_module_free(m);
    else
        *out = m;
    return rc;
}

int px_module_load(const char *text, size_t size_B, struct px_module **out,
                   struct px_report *report)
{
    const struct px_source source = {.text = text, .size_B = size_B};
    return px_module_link(&source, 1, PX_LINK_USED, out, report);
}

// Functions of the driver that kernels may call: see px_builtin.
static bool is_builtin(const char *name)
{
    return !strcmp(name, "vprintf") || !strcmp(name, "__assertfail") || !strcmp(name, "malloc") ||
           !strcmp(name, "free") || !strcmp(name, "cudaGraphSetConditional");
}

// "The total size of constant memory is limited to 64 KB" (recorded: load_ptx/const-64K+1).
static int constants_check(const struct px_module *m, struct px_report *report)
{
    enum { CONSTANTS_MOST_B = 64 << 10 };
    uint64_t size_B = 0;
    for (unsigned i = 0; i < m->variable_count; i++) {
        const struct px_variable *v = &m->variables[i];
        if (v->space == PX_CONSTANT)
            size_B = (size_B + v->alignment_B - 1) / v->alignment_B * v->alignment_B + v->size_B;
    }
    if (size_B <= CONSTANTS_MOST_B)
        return 0;
    snprintf(report->text, sizeof(report->text),
             "the constant variables have %llu bytes; at most %d are possible",
             (unsigned long long)size_B, CONSTANTS_MOST_B);
    return m->state->part_count > 1 ? -EEXIST : -EINVAL;
}

// "Unresolved extern" symbols, which a linked module may not have.
static int externals_check(const struct px_module *m, struct px_report *report)
{
    for (unsigned i = 0; i < m->function_count; i++) {
        const struct px_function *f = &m->functions[i];
        if ((f->external || f->is_kernel) && !f->defined && !is_builtin(f->name)) {
            snprintf(report->text, sizeof(report->text), "the function \"%s\" is not defined",
                     f->name);
            return -ESRCH;
        }
    }
    for (unsigned i = 0; i < m->variable_count; i++) {
        const struct px_variable *v = &m->variables[i];
        if (v->external && v->space != PX_SHARED) {
            snprintf(report->text, sizeof(report->text), "the variable \"%s\" is not defined",
                     v->name);
            return -ESRCH;
        }
    }
    return 0;
}

static int link_texts(const struct px_source *sources, unsigned count, enum px_link link,
                      struct px_module **out, struct px_report *report)
{
    struct px_module *m = NULL;
    int rc = texts_load(sources, count, link, &m, report);
    if (!rc && link == PX_LINK_COMPLETE)
        rc = externals_check(m, report);
    if (!rc && (link != PX_LINK_PARTIAL || count == 1))
        rc = constants_check(m, report);
    if (rc && m)
        px_module_free(m);
    else if (!rc)
        *out = m;
    return rc;
}

int px_module_link(const struct px_source *sources, unsigned count, enum px_link link,
                   struct px_module **out, struct px_report *report)
{
    unsigned i = 0;
    while (i < count && (sources[i].size_B > TEXT_MOST_B ||
                         !px_grid_text_is_needed(sources[i].text, sources[i].size_B)))
        i++;
    if (i == count)
        return link_texts(sources, count, link, out, report);
    struct px_source *more = dm_calloc(count + 1ul, sizeof *more);
    if (!more)
        return -ENOMEM;
    for (i = 0; i < count; i++)
        more[i] = sources[i];
    more[count] = (struct px_source){
        .name = "Cardless", .text = px_grid_text, .size_B = px_grid_text_B, .taken = NULL};
    const int rc = link_texts(more, count + 1, link, out, report);
    dm_free(more);
    return rc;
}

void px_module_free(struct px_module *module)
{
    if (!module)
        return;
    for (unsigned i = 0; i < module->function_count; i++)
        px_program_free(module->functions[i].program);
    for (unsigned i = 0; i < module->state->part_count; i++) {
        dm_free(module->state->parts[i].text);
        px_names_finish(&module->state->parts[i].names);
    }
    px_names_finish(&module->state->globals);
    px_arena_finish(&module->state->arena);
    dm_mutex_destroy(&module->state->lock);
    dm_free(module->state->parts);
    dm_free(module->state->functions);
    dm_free(module->state);
    dm_free(module->variables);
    dm_free(module->functions);
    dm_free(module);
}
