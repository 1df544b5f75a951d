// SPDX-License-Identifier: MIT
// For messages: the CUDA source lines of PTX lines, from .file and .loc directives, which are
// searched in the text when a message needs them; and the variables at addresses.
#include <stdio.h>
#include <string.h>

#include "module_state.h"
#include "program.h"
#include "step.h"

struct location {
    uint64_t file, line;
};

// The last .loc of a function's body before a line.
static bool location_find(const struct px_module *m, const struct px_function *f,
                          const struct px_part *part, unsigned line, struct location *out)
{
    struct px_lexer x;
    bool found = false;
    px_lex_start(&x, part->text + f->body_at, part->text + f->body_end, f->body_line);
    while (x.token.kind != PX_TOKEN_END && x.token.line <= line) {
        if (!px_lex_take(&x, ".loc")) {
            px_lex_next(&x);
            continue;
        }
        out->file = x.token.value;
        px_lex_next(&x);
        out->line = x.token.value;
        found = true;
    }
    return found;
}

// Writes the name of .file number `number`, without its folders.
static bool file_find(const struct px_part *part, uint64_t number, char *out, size_t size_B)
{
    const char *at = part->text, *end = part->text + part->text_B;
    while ((at = memmem(at, (size_t)(end - at), ".file", 5)) != NULL) {
        struct px_lexer x;
        px_lex_start(&x, at, end, 1);
        at += 5;
        if (!px_lex_take(&x, ".file") || x.token.kind != PX_TOKEN_INTEGER ||
            x.token.value != number)
            continue;
        px_lex_next(&x);
        if (x.token.kind != PX_TOKEN_STRING)
            continue;
        const char *name = x.token.at;
        for (uint32_t i = 0; i < x.token.length; i++)
            if (x.token.at[i] == '/')
                name = x.token.at + i + 1;
        snprintf(out, size_B, "%.*s", (int)(x.token.at + x.token.length - name), name);
        return true;
    }
    return false;
}

// The function whose body has the line. Of linked modules, whose parts each begin with line 1, only
// the part of the program's kernel is searched.
static const struct px_function *function_find(const struct px_module *m, unsigned part,
                                               unsigned line)
{
    const struct px_function *best = NULL;
    for (unsigned i = 0; i < m->function_count; i++) {
        const struct px_function *f = &m->functions[i];
        if (f->defined && m->state->functions[i].part == part && f->body_line <= line &&
            (!best || f->body_line > best->body_line))
            best = f;
    }
    return best;
}

size_t px_line_text(const struct px_module *module, uint32_t function, unsigned line,
                    const char **out)
{
    const struct px_function *f = &module->functions[function];
    const struct px_part *part = &module->state->parts[module->state->functions[function].part];
    const char *at = part->text + f->body_at, *end = part->text + f->body_end;
    for (unsigned n = f->body_line; at && n < line; n++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || line < f->body_line)
        return 0;
    const char *last = memchr(at, '\n', (size_t)(end - at));
    last = last ? last : end;
    while (at < last && (*at == ' ' || *at == '\t'))
        at++;
    while (at < last && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r'))
        last--;
    *out = at;
    return (size_t)(last - at);
}

bool px_source_line(const struct px_module *module, const struct px_program *program, unsigned line,
                    char *out, size_t size_B)
{
    const unsigned part = module->state->functions[program->function].part;
    const struct px_function *f = function_find(module, part, line);
    struct location location;
    char file[256];
    if (!f || !location_find(module, f, &module->state->parts[part], line, &location) ||
        !file_find(&module->state->parts[part], location.file, file, sizeof(file)))
        return false;
    snprintf(out, size_B, "%s:%llu", file, (unsigned long long)location.line);
    return true;
}

void px_shared_text(const struct px_program *program, uint64_t offset, char *out, size_t size_B)
{
    const struct px_module *m = program->module;
    for (const struct px_shared *v = program->shared; v; v = v->next) {
        if (offset - v->at_B >= v->size_B)
            continue;
        snprintf(out, size_B, "byte %llu of %.*s in shared memory",
                 (unsigned long long)(offset - v->at_B), (int)v->length, v->name);
        return;
    }
    for (unsigned i = 0; i < m->variable_count; i++) {
        const struct px_variable *v = &m->variables[i];
        if (v->space != PX_SHARED || v->size_B || offset < program->static_shared_B)
            continue;
        snprintf(out, size_B, "byte %llu of %s in shared memory",
                 (unsigned long long)(offset - program->static_shared_B), v->name);
        return;
    }
    snprintf(out, size_B, "byte %llu of shared memory", (unsigned long long)offset);
}
