// SPDX-License-Identifier: MIT
// What `cardless run` does with the diagnostics of a run: reports in files, the exit code, and
// suppressions (docs/reference/reports.md).
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "findings.h"
#include "suppressions.h"

enum report_format { REPORT_JUNIT, REPORT_SARIF };
enum error_on { ERROR_ON_UNSET, ERROR_ON_NEVER, ERROR_ON_WARNING, ERROR_ON_ERROR, ERROR_ON_IDS };
enum { REPORTS_MOST = 16, EXIT_FOUND = 66 };

struct report {
    struct {
        enum report_format format;
        const char *path;
        FILE *file;
    } outputs[REPORTS_MOST];
    unsigned count;
    enum error_on error_on;
    const char *ids; // of ERROR_ON_IDS, separated by commas
    struct suppressions suppressions;
    bool suppresses, shows_unused;
};

// How the program ended.
struct run_result {
    char **program;
    int status; // as waitpid returns it
    struct timespec begin;
    double seconds;
};

// Read the values of options. They return false after printing a message if a value is wrong.
bool report_add(struct report *r, const char *value); // junit:FILE or sarif:FILE
bool report_set_error_on(struct report *r, const char *value);
bool report_add_suppressions(struct report *r, const char *path);

// Whether `cardless run` has to stay until the program ends.
bool report_is_wanted(const struct report *r);
// Opens all files, before the program starts. Returns false after printing a message.
bool report_open(struct report *r);
// Whether a finding makes the run fail: --error-on selects it, and no rule suppresses it. Without
// --error-on, or with `never`, reports mark all mistakes of the catalogue.
bool report_selects(const struct report *r, const struct finding *f);
// Writes all files, and lists unused rules. Returns false after printing a message.
bool report_write(const struct report *r, const struct findings *f, const struct run_result *run);
void report_finish(struct report *r);

// The formats. They write to `to`, whose error state the caller should check.
void report_junit(FILE *to, const struct report *r, const struct findings *f,
                  const struct run_result *run);
void report_sarif(FILE *to, const struct report *r, const struct findings *f,
                  const struct run_result *run);

// A UTC time as ISO 8601 has it, with seconds.
void report_time(const struct timespec *t, char out[32]);
// "exit code 3", or "SIGSEGV (signal 11)". Returns false if the program ended with code 0.
bool report_ending(int status, char *out, size_t size);
