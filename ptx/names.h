// SPDX-License-Identifier: MIT
// Tables of names with nested scopes: an inner name hides an outer one.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_name {
    const char *text;
    uint32_t length, hash;
    uint32_t next;  // 1 + the older name in the same slot, or 0
    uint32_t scope; // the number of the scope's depth
    uint32_t kind;  // the caller's
    uint64_t value; // the caller's
};

struct px_names {
    struct px_name *names;
    size_t count, capacity;
    uint32_t *slots; // 1 + the newest name
    size_t slot_count;
    uint32_t depth;
};

// Adds a name to the innermost scope. The text must outlive the table. Returns -ENOMEM, or -EEXIST
// if the scope has it.
int px_names_add(struct px_names *table, const char *text, size_t length, uint32_t kind,
                 uint64_t value);
// Returns the innermost name with this text, or NULL. Valid until the next change.
struct px_name *px_names_find(const struct px_names *table, const char *text, size_t length);
void px_names_open(struct px_names *table);
// Forgets the names of the innermost scope.
void px_names_close(struct px_names *table);
void px_names_finish(struct px_names *table);
