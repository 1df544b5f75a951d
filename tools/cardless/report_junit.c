// SPDX-License-Identifier: MIT
// Writes diagnostics as JUnit XML, in the elements that GitLab and Jenkins read.
//
// The first test case is the program itself. Each diagnostic is a test case after it: failed if it
// is selected, skipped if a rule suppresses it, otherwise passed with its text as output.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "report.h"
#include "escape.h"

static void attribute(FILE *to, const char *name, const char *value)
{
    fprintf(to, " %s=\"", name);
    xml_text(to, value);
    fputc('"', to);
}

static void write_program(FILE *to, const struct run_result *run)
{
    char ending[64];
    const bool failed = report_ending(run->status, ending, sizeof ending);
    fputs("    <testcase classname=\"cardless.run\"", to);
    attribute(to, "name", run->program[0]);
    fprintf(to, " time=\"%.3f\"", run->seconds);
    if (!failed) {
        fputs("/>\n", to);
        return;
    }
    fprintf(to, ">\n      <%s", WIFSIGNALED(run->status) ? "error" : "failure");
    attribute(to, "message", ending);
    fprintf(to, " type=\"%s\">the program ended with ",
            WIFSIGNALED(run->status) ? "signal" : "exit");
    xml_text(to, ending);
    fprintf(to, "</%s>\n    </testcase>\n", WIFSIGNALED(run->status) ? "error" : "failure");
}

// The text of a diagnostic, as it is printed, and the facts that the attributes have no place for.
static void write_text(FILE *to, const struct finding *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    finding_print(f, NULL, memory);
    if (f->count > 1)
        fprintf(memory, "    reported %lu times\n", f->count);
    if (f->level != LEVEL_NOTE)
        fprintf(memory, "    see docs/generated/diagnostics.md#%c%s, which tools/docs makes\n",
                f->id[0] | 0x20, f->id + 1);
    if (*f->test)
        fprintf(memory, "    in the test %s\n", f->test);
    fprintf(memory, "    fingerprint %s\n", f->fingerprint);
    if (!fclose(memory))
        xml_text(to, text);
    free(text);
}

static void write_finding(FILE *to, const struct report *r, const struct finding *f)
{
    char name[512];
    snprintf(name, sizeof name, "[%s] %s at %s:%u", f->id, f->entry, f->file ? f->file : "",
             f->site.line);
    if (!f->file)
        snprintf(name, sizeof name, "[%s] %s in %s", f->id, f->entry,
                 f->site.function ? f->site.function : "the program");
    const size_t used = strlen(name);
    if (*f->test)
        snprintf(name + used, sizeof name - used, " (%s)", f->test);
    fputs("    <testcase classname=\"cardless.diagnostics\"", to);
    attribute(to, "name", name);
    if (f->file) {
        attribute(to, "file", f->file);
        fprintf(to, " line=\"%u\"", f->site.line);
    }
    fputs(" time=\"0\">\n", to);
    if (f->suppressed) {
        fputs("      <skipped message=\"suppressed by ", to);
        xml_text(to, f->suppressed);
        fputs("\"/>\n", to);
    } else if (report_selects(r, f)) {
        fputs("      <failure", to);
        attribute(to, "message", f->text);
        attribute(to, "type", f->id);
        fputc('>', to);
        write_text(to, f);
        fputs("</failure>\n", to);
    } else {
        fputs("      <system-out>", to);
        write_text(to, f);
        fputs("</system-out>\n", to);
    }
    fputs("    </testcase>\n", to);
}

void report_junit(FILE *to, const struct report *r, const struct findings *f,
                  const struct run_result *run)
{
    size_t failures = 0, skipped = 0;
    char when[32], ending[64], counts[160];
    for (size_t i = 0; i < f->count; i++) {
        failures += report_selects(r, f->list[i]);
        skipped += f->list[i]->suppressed != NULL;
    }
    const bool signalled = WIFSIGNALED(run->status);
    failures += !signalled && report_ending(run->status, ending, sizeof ending);
    report_time(&run->begin, when);
    snprintf(counts, sizeof counts,
             "tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\" time=\"%.3f\"",
             f->count + 1, failures, signalled, skipped, run->seconds);
    fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cardless\" %s>\n",
            counts);
    fprintf(to, "  <testsuite name=\"cardless\" %s timestamp=\"%s\">\n", counts, when);
    write_program(to, run);
    for (size_t i = 0; i < f->count; i++)
        write_finding(to, r, f->list[i]);
    fputs("  </testsuite>\n</testsuites>\n", to);
}
