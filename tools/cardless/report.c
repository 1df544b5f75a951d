// SPDX-License-Identifier: MIT
// Options about diagnostics, and the files of reports.
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

bool report_add(struct report *r, const char *value)
{
    static const char *const formats[] = {[REPORT_JUNIT] = "junit:", [REPORT_SARIF] = "sarif:"};
    for (unsigned i = 0; i < 2; i++) {
        const size_t length = strlen(formats[i]);
        if (strncmp(value, formats[i], length) || !value[length])
            continue;
        if (r->count == REPORTS_MOST) {
            fprintf(stderr, "cardless: --report: at most %d files\n", REPORTS_MOST);
            return false;
        }
        r->outputs[r->count].format = (enum report_format)i;
        r->outputs[r->count++].path = value + length;
        return true;
    }
    fprintf(stderr, "cardless: --report takes junit:FILE or sarif:FILE, not %s\n", value);
    return false;
}

static bool is_id(const char *text, size_t length)
{
    static const char *const ids[] = {
#define EM_DIAGNOSTIC(id, severity, title, advice) #id,
#include "../../emulator/core/diagnostics.def"
#undef EM_DIAGNOSTIC
    };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
        if (strlen(ids[i]) == length && !strncmp(ids[i], text, length))
            return true;
    return false;
}

bool report_set_error_on(struct report *r, const char *value)
{
    static const char *const words[] = {
        [ERROR_ON_NEVER] = "never", [ERROR_ON_WARNING] = "warning", [ERROR_ON_ERROR] = "error"};
    for (unsigned i = ERROR_ON_NEVER; i <= ERROR_ON_ERROR; i++) {
        if (!strcmp(value, words[i])) {
            r->error_on = (enum error_on)i;
            return true;
        }
    }
    r->error_on = ERROR_ON_IDS;
    r->ids = value;
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        if (is_id(at, length))
            continue;
        fprintf(stderr,
                "cardless: --error-on takes never, warning, error, or ids of diagnostics separated "
                "by commas; '%.*s' is not an id\n",
                (int)length, at);
        return false;
    }
    return true;
}

bool report_add_suppressions(struct report *r, const char *path)
{
    r->suppresses = true;
    return suppressions_read(&r->suppressions, path);
}

bool report_is_wanted(const struct report *r)
{
    return r->count || r->suppresses || r->error_on > ERROR_ON_NEVER;
}

bool report_open(struct report *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        r->outputs[i].file = fopen(r->outputs[i].path, "we");
        if (r->outputs[i].file)
            continue;
        fprintf(stderr, "cardless: --report: cannot write %s: %s\n", r->outputs[i].path,
                strerror(errno));
        return false;
    }
    return true;
}

static bool is_listed(const char *list, const char *id)
{
    const size_t length = strlen(id);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == length && !strncmp(at, id, length))
            return true;
    return false;
}

bool report_selects(const struct report *r, const struct finding *f)
{
    if (f->suppressed)
        return false;
    if (r->error_on == ERROR_ON_IDS)
        return is_listed(r->ids, f->id);
    return f->level >= (r->error_on == ERROR_ON_ERROR ? LEVEL_ERROR : LEVEL_WARNING);
}

bool report_write(const struct report *r, const struct findings *f, const struct run_result *run)
{
    bool fine = true;
    for (unsigned i = 0; i < r->count; i++) {
        FILE *to = r->outputs[i].file;
        if (r->outputs[i].format == REPORT_JUNIT)
            report_junit(to, r, f, run);
        else
            report_sarif(to, r, f, run);
        if (!fflush(to) && !ferror(to))
            continue;
        fprintf(stderr, "cardless: --report: cannot write %s: %s\n", r->outputs[i].path,
                strerror(errno));
        fine = false;
    }
    if (r->shows_unused)
        suppressions_print_unused(&r->suppressions, stderr);
    return fine;
}

void report_finish(struct report *r)
{
    for (unsigned i = 0; i < r->count; i++)
        if (r->outputs[i].file)
            fclose(r->outputs[i].file);
    suppressions_finish(&r->suppressions);
}

void report_time(const struct timespec *t, char out[32])
{
    struct tm utc;
    if (!gmtime_r(&t->tv_sec, &utc) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc))
        *out = 0;
}

bool report_ending(int status, char *out, size_t size)
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(out, size, "SIG%s (signal %d)", name ? name : "?", WTERMSIG(status));
        return true;
    }
    snprintf(out, size, "exit code %d", WEXITSTATUS(status));
    return WEXITSTATUS(status) != 0;
}
