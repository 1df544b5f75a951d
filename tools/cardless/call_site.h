// SPDX-License-Identifier: MIT
// Finds the function and the source line of a place in an object file.
#pragma once
#include <stdint.h>

struct call_site {
    char *function; // its symbol, or NULL if no symbol table has the place
    char *file;     // an absolute path if the debug information has one, or NULL without any
    unsigned line;  // 0 if `file` is NULL
};

// Looks at the symbol tables and the debug information of `object`, and at those of its file below
// /usr/lib/debug, for the byte at `offset` in the file. Parts that cannot be found are NULL. The
// result should be passed to call_site_finish.
void call_site_find(const char *object, uint64_t offset, struct call_site *out);
void call_site_finish(struct call_site *site);
