// SPDX-License-Identifier: MIT
// Writes errors and diagnostics as the user asked: as text on stderr, or as JSON lines in a file.
#include "error.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_names.h"
#include "argument_names.h"
#include "call.h"
#include "config.h"
#include "findings.h"
#include "inject.h"
#include "json_text.h"
#include "log.h"
#include "record.h"
#include "sink.h"
#include "wording.h"

static const struct {
    const char *id, *title, *advice;
    enum em_severity severity;
} catalogue[] = {
#define EM_DIAGNOSTIC(id, severity, title, advice) {#id, title, advice, EM_##severity},
#include "diagnostics.def"
#include "startup.h"
#undef EM_DIAGNOSTIC
};

static const char *const severity_names[] = {"error", "undefined", "portability"};

// Each message of the source is shown at most 8 times on stderr, so that a loop that fails a
// million times does not fill the disk.
enum { SHOWN_MAX = 8, MESSAGES = 1024 };

static struct {
    struct dm_mutex lock;
    struct em_sink_file json;
    struct {
        const void *origin;
        unsigned long count;
    } seen[MESSAGES];
} sink = {.lock = DM_MUTEX_INITIALIZER(DIAGNOSTICS)};

// Counts this message, and returns how often it was counted before. `origin` identifies the
// message; it is the address of its format or of its subject. Precondition: sink.lock held.
static unsigned long count_message(const void *origin)
{
    dm_assert_locked(&sink.lock);
    size_t at = ((uintptr_t)origin >> 3) % MESSAGES;
    for (size_t i = 0; i < MESSAGES; i++, at = (at + 1) % MESSAGES) {
        if (!sink.seen[at].origin)
            sink.seen[at].origin = origin;
        if (sink.seen[at].origin == origin)
            return sink.seen[at].count++;
    }
    return 0;
}

// Returns false if the file cannot be opened or written.
static bool write_json(const struct em_finding *f)
{
    char line[4096] = "{";
    size_t used = 1, size = sizeof line - 4;
    em_finding_head(f, line, size, &used);
    em_json_member(line, size, &used, "text", f->text);
    em_json_member(line, size, &used, "advice", f->advice);
    if (*f->title) {
        char page[96];
        snprintf(page, sizeof page, "docs/generated/diagnostics.md#%c%s, which tools/docs makes",
                 f->id[0] | 0x20, f->id + 1);
        em_json_member(line, size, &used, "see", page);
    }
    used += (size_t)snprintf(line + used, sizeof line - used, "}\n");
    return em_sink_write(&sink.json, "CARDLESS_DIAGNOSTICS", em_config()->sink_path, line, used);
}

static void write_text(const struct em_finding *f, bool failed)
{
    char line[4096];
    int n;
    if (!*f->title)
        n = snprintf(line, sizeof line, "cardless: %s (%s): %s: %s\n", f->entry, f->call, f->result,
                     f->text);
    else
        n = snprintf(line, sizeof line, "cardless: [%s %s] %s (%s)%s%s: %s\n    %s; %s\n", f->id,
                     f->severity, f->entry, f->call, failed ? ": " : "", failed ? f->result : "",
                     f->text, f->title, f->advice);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    em_sink_write_all(STDERR_FILENO, line, used);
    if (f->before + 1 == SHOWN_MAX) {
        n = snprintf(line, sizeof line,
                     "cardless: further errors like the last one will not be shown\n");
        em_sink_write_all(STDERR_FILENO, line, (size_t)n);
    }
}

DM_STARTUP void em_diagnostics_start(void)
{
    const struct em_config *config = em_config();
    em_cancel_off();
    dm_mutex_lock(&sink.lock);
    if (config->sink == EM_SINK_JSON)
        em_sink_write(&sink.json, "CARDLESS_DIAGNOSTICS", config->sink_path, "", 0);
    em_findings_start();
    dm_mutex_unlock(&sink.lock);
}

static void message_push(struct em_message *m, bool held)
{
    m->text[0] = 0;
    m->held = held;
    m->outer = em_self.message;
    em_self.message = m;
}

void em_message_begin(struct em_message *m)
{
    message_push(m, false);
}

void em_message_hold(struct em_message *m)
{
    message_push(m, true);
}

void em_message_end(const struct em_message *m)
{
    assert(em_self.message == m);
    em_self.message = m->outer;
}

static void keep_text(struct em_message *m, const char *text)
{
    size_t used = strlen(m->text);
    if (used && used + 1 < sizeof m->text) {
        m->text[used++] = '\n';
        m->text[used] = 0;
    }
    snprintf(m->text + used, sizeof m->text - used, "%s", text);
}

// The innermost message of the thread receives the text, and so do those that hold it back.
static bool keep_texts(const char *text)
{
    bool held = false;
    for (struct em_message *m = em_self.message; m; m = m->outer) {
        if (m == em_self.message || m->held)
            keep_text(m, text);
        held |= m->held;
    }
    return held;
}

static bool reports_wanted(void)
{
    return em_config()->sink != EM_SINK_OFF || em_findings_wanted();
}

// Uses the names of the API whose call is explained: the driver's, or a library's.
static void use_names(char *text, size_t size)
{
    const struct em_entry *named = em_named_entry();
    if (em_is_of_library(named) && named->names)
        em_api_names(text, size, named->names);
}

// Shows a text to the user as it was asked for. Precondition: sink.lock held.
static void show_text(enum em_diagnostic id, const void *origin, const char *result,
                      const char *text)
{
    dm_assert_locked(&sink.lock);
    char where[64], title[512], advice[512];
    em_call_text(em_call_now(), where, sizeof where);
    snprintf(title, sizeof title, "%s", id == EM_DIAG_GENERAL ? "" : catalogue[id].title);
    snprintf(advice, sizeof advice, "%s", catalogue[id].advice);
    use_names(title, sizeof title);
    use_names(advice, sizeof advice);
    const struct em_finding finding = {
        .id = catalogue[id].id,
        .severity = severity_names[catalogue[id].severity],
        .title = title,
        .advice = advice,
        .entry = em_entry_name(),
        .call = where,
        .result = result ? result : em_error_name(CUDA_SUCCESS),
        .text = text,
        .origin = origin,
        .site = em_call_site(),
        .before = count_message(origin),
    };
    const enum em_sink wanted = em_config()->sink;
    bool written = wanted == EM_SINK_JSON && write_json(&finding);
    const bool recorded = em_findings_wanted() && em_finding_write(&finding);
    written |= wanted == EM_SINK_OFF || (wanted == EM_SINK_READER && recorded);
    if (!written && finding.before < SHOWN_MAX)
        write_text(&finding, result != NULL);
}

// `result` is the name of the code, or NULL if the call goes on. `origin` identifies the message.
static void report_text(enum em_diagnostic id, const void *origin, const char *result,
                        const char *text)
{
    em_cancel_off();
    dm_mutex_lock(&sink.lock);
    em_log_add(result ? CU_LOG_LEVEL_ERROR : CU_LOG_LEVEL_WARNING, text);
    if (reports_wanted())
        show_text(id, origin, result, text);
    dm_mutex_unlock(&sink.lock);
}

static void report(enum em_diagnostic id, const void *origin, CUresult code, const char *format,
                   va_list args)
{
    const int saved = errno;
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    em_wording_singular(text);
    const struct em_entry *entry = em_self.entry, *named = em_named_entry();
    if (named != entry && entry->list && named->list)
        em_argument_names(text, sizeof text, entry->list, named->list);
    use_names(text, sizeof text);
    const bool held = keep_texts(text);
    if (em_unlikely(em_recording))
        em_record_diagnostic(catalogue[id].id, code, text);
    if (!held)
        report_text(id, origin, code ? em_error_name(code) : NULL, text);
    if (!held && __atomic_load_n(&em_aborts, __ATOMIC_RELAXED))
        em_abort_if_wanted(id != EM_DIAG_GENERAL, code, catalogue[id].id, text);
    errno = saved;
}

void em_explain_for(const void *origin, const char *result, const char *given)
{
    const int saved = errno;
    char text[2048];
    snprintf(text, sizeof text, "%s", given);
    em_wording_singular(text);
    const bool held = keep_texts(text);
    if (!held) {
        report_text(EM_DIAG_GENERAL, origin, result, text);
        char returning[256];
        snprintf(returning, sizeof returning, "Returning %s from %s", result, em_entry_name());
        dm_mutex_lock(&sink.lock);
        em_log_add(CU_LOG_LEVEL_ERROR, returning);
        dm_mutex_unlock(&sink.lock);
    }
    if (!held && __atomic_load_n(&em_aborts, __ATOMIC_RELAXED))
        em_abort_if_wanted(false, CUDA_ERROR_UNKNOWN, catalogue[EM_DIAG_GENERAL].id, text);
    errno = saved;
}

void em_explain(CUresult code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(EM_DIAG_GENERAL, format, code, format, args);
    va_end(args);
}

void em_explain_of(const void *subject, CUresult code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(EM_DIAG_GENERAL, subject, code, format, args);
    va_end(args);
}

void em_report(enum em_diagnostic id, CUresult code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(id, format, code, format, args);
    va_end(args);
}

void em_error_lock(void)
{
    em_cancel_off();
    dm_mutex_lock(&sink.lock);
}

void em_error_unlock(void)
{
    dm_mutex_unlock(&sink.lock);
}
