// SPDX-License-Identifier: MIT
// Writes diagnostics as SARIF 2.1.0 ("Static Analysis Results Interchange Format", OASIS), as code
// scanning services read it. The numbers in comments are sections of that standard.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"
#include "escape.h"

static const char *const levels[] = {
    [LEVEL_NOTE] = "note", [LEVEL_WARNING] = "warning", [LEVEL_ERROR] = "error"};

static const struct {
    const char *id, *severity, *title;
} rules[] = {
#define EM_DIAGNOSTIC(id, severity, title, advice) {#id, #severity, title},
#include "../../emulator/core/diagnostics.def"
#undef EM_DIAGNOSTIC
};

enum { RULES = sizeof rules / sizeof *rules };

static void member(FILE *to, const char *name, const char *value)
{
    fprintf(to, "\"%s\": \"", name);
    json_text(to, value);
    fputc('"', to);
}

// The first finding of a rule, or NULL. Its sentences have the names of the API that the program
// uses.
static const struct finding *first_of(const struct findings *f, const char *id)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->list[i]->id, id))
            return f->list[i];
    return NULL;
}

static const char *rule_level(unsigned rule)
{
    if (!strcmp(rules[rule].id, "GENERAL"))
        return levels[LEVEL_NOTE];
    return levels[strcmp(rules[rule].severity, "PORTABILITY") ? LEVEL_ERROR : LEVEL_WARNING];
}

// Where the documentation of a rule is. Without a URL (option `help_url` of the build), the text
// names the page.
static void write_help(FILE *to, unsigned rule, const struct finding *first)
{
    const char *id = rules[rule].id;
    fputs(", \"help\": {\"text\": \"", to);
    json_text(to, *first->advice ? first->advice : "the text of the result says why");
    if (!strcmp(id, "GENERAL")) {
        fputs("\"}", to);
        return;
    }
    fprintf(to, " (docs/generated/diagnostics.md#%c%s, which tools/docs makes)\"}", id[0] | 0x20,
            id + 1);
    if (*CARDLESS_HELP_URL) {
        fputs(", \"helpUri\": \"", to);
        json_text(to, CARDLESS_HELP_URL);
        fprintf(to, "#%c%s\"", id[0] | 0x20, id + 1);
    }
}

// 3.49: the rules that results refer to, in the order of the catalogue. `index` gets their indices.
static void write_rules(FILE *to, const struct findings *f, unsigned index[RULES])
{
    unsigned count = 0;
    for (unsigned i = 0; i < RULES; i++) {
        const struct finding *first = first_of(f, rules[i].id);
        if (!first)
            continue;
        index[i] = count++;
        fprintf(to, "%s          {", count > 1 ? ",\n" : "");
        member(to, "id", rules[i].id);
        fputs(", \"shortDescription\": {", to);
        member(to, "text", *first->title ? first->title : rules[i].title);
        fprintf(to, "}, \"defaultConfiguration\": {\"level\": \"%s\"}", rule_level(i));
        write_help(to, i, first);
        fputc('}', to);
    }
}

// A path below the root of the sources is relative to it (3.4.4), any other one is a URI.
static void write_artifact(FILE *to, const char *path)
{
    fprintf(to, "\"artifactLocation\": {\"uri\": \"%s", *path == '/' ? "file://" : "");
    uri_path(to, path);
    fprintf(to, "\"%s}", *path == '/' ? "" : ", \"uriBaseId\": \"SRCROOT\"");
}

// 3.28. Some readers want a location of every result, so without a source it is the object file.
static void write_location(FILE *to, const struct finding *f, const char *program)
{
    const char *object = *f->object ? f->object : program;
    fputs(", \"locations\": [{\"physicalLocation\": {", to);
    write_artifact(to, f->file ? f->file : object);
    if (f->file)
        fprintf(to, ", \"region\": {\"startLine\": %u}", f->site.line);
    fputc('}', to);
    if (f->site.function) {
        fputs(", \"logicalLocations\": [{", to);
        member(to, "fullyQualifiedName", f->site.function);
        fputs(", \"kind\": \"function\"}]", to);
    }
    fputs("}]", to);
}

static unsigned rule_of(const char *id)
{
    unsigned i = 0;
    while (i + 1 < RULES && strcmp(rules[i].id, id))
        i++;
    return i;
}

// 3.27
static void write_result(FILE *to, const struct finding *f, const unsigned index[RULES],
                         const char *program)
{
    fputs("        {", to);
    member(to, "ruleId", f->id);
    fprintf(to, ", \"ruleIndex\": %u, \"level\": \"%s\", \"message\": {\"text\": \"",
            index[rule_of(f->id)], levels[f->level]);
    json_text(to, f->entry);
    fprintf(to, ": ");
    if (strcmp(f->result, "CUDA_SUCCESS")) {
        json_text(to, f->result);
        fputs(": ", to);
    }
    json_text(to, f->text);
    fputs("\"}", to);
    write_location(to, f, program);
    fprintf(to, ", \"occurrenceCount\": %lu, \"partialFingerprints\": {", f->count);
    member(to, "cardless/v1", f->fingerprint);
    fputc('}', to);
    if (f->suppressed) { // 3.35
        fputs(", \"suppressions\": [{\"kind\": \"external\", ", to);
        member(to, "justification", f->suppressed);
        fputs("}]", to);
    }
    fputs(", \"properties\": {", to);
    member(to, "call", f->call);
    fputs(", ", to);
    member(to, "result", f->result);
    if (*f->test) {
        fputs(", ", to);
        member(to, "test", f->test);
    }
    fprintf(to, ", \"process\": %ld}}", f->pid);
}

// 3.20
static void write_invocation(FILE *to, const struct run_result *run)
{
    char when[32], ending[64];
    struct timespec end = run->begin;
    const bool failed = report_ending(run->status, ending, sizeof ending);
    end.tv_sec += (time_t)run->seconds;
    fputs("      \"invocations\": [{\"arguments\": [", to);
    for (char **a = run->program + 1; run->program[0] && *a; a++) {
        fputs(a == run->program + 1 ? "\"" : ", \"", to);
        json_text(to, *a);
        fputc('"', to);
    }
    fprintf(to, "], \"executionSuccessful\": %s", failed ? "false" : "true");
    if (WIFSIGNALED(run->status)) {
        fputs(", ", to);
        ending[strcspn(ending, " ")] = 0;
        member(to, "exitSignalName", ending);
        fprintf(to, ", \"exitSignalNumber\": %d", WTERMSIG(run->status));
    } else {
        fprintf(to, ", \"exitCode\": %d", WEXITSTATUS(run->status));
    }
    report_time(&run->begin, when);
    fprintf(to, ", \"startTimeUtc\": \"%sZ\"", when);
    report_time(&end, when);
    fprintf(to, ", \"endTimeUtc\": \"%sZ\", \"executableLocation\": {\"uri\": \"", when);
    uri_path(to, run->program[0]);
    fputs("\"}}],\n", to);
}

void report_sarif(FILE *to, const struct report *r, const struct findings *f,
                  const struct run_result *run)
{
    unsigned index[RULES] = {0};
    fputs("{\n  \"$schema\": \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
          "sarif-schema-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n"
          "      \"tool\": {\n        \"driver\": {\"name\": \"Cardless\", \"version\": "
          "\"" CARDLESS_TOOL_VERSION "\", \"rules\": [\n",
          to);
    write_rules(to, f, index);
    fputs("]}\n      },\n      \"columnKind\": \"utf16CodeUnits\",\n", to);
    fputs("      \"originalUriBaseIds\": {\"SRCROOT\": {\"uri\": \"file://", to);
    uri_path(to, f->root);
    fprintf(to, "%s\"}},\n", f->root[1] ? "/" : "");
    write_invocation(to, run);
    fputs("      \"results\": [\n", to);
    for (size_t i = 0; i < f->count; i++) {
        write_result(to, f->list[i], index, run->program[0]);
        fputs(i + 1 < f->count ? ",\n" : "\n", to);
    }
    fputs("      ]\n    }\n  ]\n}\n", to);
}
