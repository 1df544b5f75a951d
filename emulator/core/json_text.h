// SPDX-License-Identifier: MIT
// Writes lines of JSON into a buffer: members whose values are strings or numbers.
#pragma once
#include <stddef.h>

// Appends the member "key":"value" at out[*used], with a comma before it unless it is the first
// one. Cuts the value if it does not fit into `size` bytes, and leaves a member out whose key does
// not fit. `*used` is at least 1, because the line begins with a brace.
void em_json_member(char *out, size_t size, size_t *used, const char *key, const char *value);
// The same for a number.
void em_json_number(char *out, size_t size, size_t *used, const char *key,
                    unsigned long long value);
