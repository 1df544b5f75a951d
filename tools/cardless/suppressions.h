// SPDX-License-Identifier: MIT
// Rules that hide diagnostics (docs/reference/reports.md).
//
// A file has one rule a line: an id, and patterns that all must match.
//     # comment
//     I08 function:create_surface*
//     GENERAL entry:cuCtxEnablePeerAccess object:*/libthird_party.so*
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "findings.h"

struct suppressions {
    struct suppression *list;
    size_t count;
};

// Appends the rules of a file. Returns false if it cannot be read or a line is wrong, after
// printing a message.
bool suppressions_read(struct suppressions *s, const char *path);
// Sets `suppressed` of a finding if a rule matches, and counts the rule.
void suppressions_apply(struct suppressions *s, struct finding *finding);
// Lists the rules that have matched nothing.
void suppressions_print_unused(const struct suppressions *s, FILE *to);
void suppressions_finish(struct suppressions *s);
