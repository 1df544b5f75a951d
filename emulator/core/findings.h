// SPDX-License-Identifier: MIT
// The file of CARDLESS_FINDINGS: each diagnostic with its call site, for programs that read it
// (`cardless run --report=…`, the plugin for pytest).
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct em_finding {
    const char *id, *severity, *title, *advice; // of the catalogue
    const char *entry, *call, *result, *text;
    const void *origin;   // identifies the message
    const void *site;     // the address that the call returns to, or NULL
    unsigned long before; // how often the message came before
};

// Appends the members of a JSON line that name the diagnostic and the call, as em_json_member does.
void em_finding_head(const struct em_finding *finding, char *out, size_t size, size_t *used);

bool em_findings_wanted(void);
// Writes a line that says that the driver has started. Precondition: the lock of error.c held, as
// for the next function.
void em_findings_start(void);
// Appends a finding. Of more than 10,000 of one message and call site, it writes those whose number
// is a power of two, so that a loop does not fill the disk. Returns false if the file cannot be
// written, which has been reported.
bool em_finding_write(const struct em_finding *finding);
