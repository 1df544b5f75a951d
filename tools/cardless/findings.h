// SPDX-License-Identifier: MIT
// The diagnostics of a run: reads the file of CARDLESS_FINDINGS (emulator/core/findings.h), finds
// the call sites, and puts equal diagnostics together.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "call_site.h"

// As SARIF has them. NOTE: an error code that a call returned, which may be what the program
// expects.
enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_ERROR };

// A diagnostic of one call site, which may have come many times.
struct finding {
    char *key;                                   // what equal diagnostics have in common
    char *id, *severity, *entry, *call, *result; // never NULL
    char *title, *advice, *text, *object, *test; // empty if unknown
    uint64_t offset;                             // of the call site in `object`
    long pid;                                    // of the first one
    unsigned long count;                         // at least so many
    enum level level;
    struct call_site site;
    char *file;             // the site's, relative to the root of the sources if it is below that
    const char *suppressed; // the rule that hides it ("FILE:LINE"), or NULL
    char fingerprint[40];
};

struct findings {
    struct finding **list; // in the order in which they came first
    size_t count, started; // started: how many processes have started the driver
    char root[4096];       // of the sources: the folder above with .git, or the working folder
    // Private.
    struct table *table;
    char *rest; // an incomplete last line
    size_t rest_size;
    off_t at;
    int fd;
};

// One time that a diagnostic came. `before` says how often its message came before in its process.
struct occurrence {
    const char *call, *text;
    unsigned long before;
};

// Called for each occurrence of a diagnostic in the order in which they came.
typedef void findings_listener(void *argument, struct finding *finding,
                               const struct occurrence *occurrence);

// `fd` is open for reading, and stays the caller's.
void findings_init(struct findings *f, int fd);
// Reads the lines that are new. `listener` may be NULL. Returns false if memory ran out or the file
// cannot be read, after printing a message.
bool findings_read(struct findings *f, findings_listener *listener, void *argument);
// Gives each finding its fingerprint: a number that stays the same if lines of the source move.
void findings_fingerprint(struct findings *f);
void findings_finish(struct findings *f);

// Prints a diagnostic as the driver does, with its call site. `occurrence` is NULL for the first
// one.
void finding_print(const struct finding *f, const struct occurrence *occurrence, FILE *to);
