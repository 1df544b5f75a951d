// SPDX-License-Identifier: MIT
// The table that is made from instructions.def.
#pragma once
#include "statement.h"

// What begins a group of px_row.groups. The group's modifiers and a 0 follow; another 0 ends the
// row.
enum { PX_GROUP_LITERAL = 1, PX_GROUP_ONE, PX_GROUP_MAYBE };

struct px_modifier_info {
    const char *name;
    uint8_t bits;
    char kind;
};

extern const struct px_row px_rows[]; // sorted by root
extern const unsigned px_row_count;
extern const struct px_modifier_info px_modifiers[];
extern const uint16_t px_modifiers_sorted[];     // by name, PX_MOD_COUNT - 1 of them
extern const char *const px_unsupported_roots[]; // a NULL ends it
