// SPDX-License-Identifier: MIT
// Lowers every kernel of the given PTX files, and prints why statements are refused, the most
// frequent reasons first. `forms --dump FILE` prints the operations of its kernels.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_lanes.h"
#include "lower_state.h"
#include "module.h"
#include "program.h"

enum { REASONS_MOST = 4096 };

static struct reason {
    char text[256], where[128];
    unsigned count;
} reasons[REASONS_MOST];
static unsigned reason_count, kernels, lowered;

// Notes a refusal without its line, so that equal reasons are counted together.
static void note(const char *file, const char *text)
{
    const char *reason = text;
    if (!strncmp(text, "line ", 5) && strchr(text, ':'))
        reason = strchr(text, ':') + 2;
    for (unsigned i = 0; i < reason_count; i++)
        if (!strncmp(reasons[i].text, reason, sizeof(reasons[i].text) - 1)) {
            reasons[i].count++;
            return;
        }
    if (reason_count == REASONS_MOST)
        return;
    struct reason *new = &reasons[reason_count++];
    snprintf(new->text, sizeof(new->text), "%s", reason);
    snprintf(new->where, sizeof(new->where), "%s",
             strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
    new->count = 1;
}

static const char *current;
static unsigned statements_refused;

static void note_statement(const struct px_report *report)
{
    statements_refused++;
    note(current, report->text);
}

static int compare(const void *a, const void *b)
{
    return (int)((const struct reason *)b)->count - (int)((const struct reason *)a)->count;
}

static void dump(const struct px_program *p)
{
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct px_op *op = &p->ops[i];
        printf("%4u%c line %u ", i, p->meets[i] ? '*' : ' ', op->line);
        if (op->guard != PX_NONE)
            printf("@%sr%u ", op->guard_not ? "!" : "", op->guard);
        if (op->code == PX_FORM || op->code == PX_FORM_TOGETHER)
            printf("%s", forms[op->form].name);
        else
            printf("code %d", op->code);
        for (unsigned k = 0; k < (unsigned)op->destinations + op->sources; k++) {
            const struct px_register_info *r = &p->registers[op->operands[k]];
            printf("%s r%u", k ? "," : "", op->operands[k]);
            if (r->name)
                printf("(%s)", r->name);
            if (r->fill)
                printf("(fill %d %u %llx)", r->fill, r->index, (unsigned long long)r->value);
        }
        if (op->immediate)
            printf(" #%lld", (long long)op->immediate);
        if (op->code == PX_BRANCH)
            printf(" -> %u", op->target);
        printf("\n");
    }
}

static char *read_file(const char *path, size_t *size_B)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size_B = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size_B + 1);
    if (text && fread(text, 1, *size_B, file) != *size_B) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static void lower_file(const char *path, bool dumps)
{
    size_t size_B = 0;
    struct px_report report;
    struct px_module *module = NULL;
    char *text = read_file(path, &size_B);
    if (!text || px_module_load(text, size_B, &module, &report)) {
        kernels++;
        note(path, text ? report.text : "the file cannot be read");
        free(text);
        return;
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct px_program *program = NULL;
        if (!module->functions[i].is_kernel)
            continue;
        kernels++;
        const unsigned before = statements_refused;
        current = path;
        const int rc = px_program_get(module, i, &program, &report);
        if (rc)
            note(path, report.text);
        if (rc || statements_refused > before) {
            if (dumps)
                printf("%s: %s\n", module->functions[i].name, report.text);
            continue;
        }
        lowered++;
        if (dumps)
            dump(program);
    }
    px_module_free(module);
    free(text);
}

int main(int count, char **arguments)
{
    const bool dumps = count > 1 && !strcmp(arguments[1], "--dump");
    px_lower_note = note_statement;
    for (int i = 1 + dumps; i < count; i++)
        lower_file(arguments[i], dumps);
    qsort(reasons, reason_count, sizeof(*reasons), compare);
    for (unsigned i = 0; i < reason_count; i++)
        printf("%5u  %s  (%s)\n", reasons[i].count, reasons[i].text, reasons[i].where);
    printf("%u of %u kernels are lowered\n", lowered, kernels);
    return 0;
}
