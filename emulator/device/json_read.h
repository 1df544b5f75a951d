// SPDX-License-Identifier: MIT
// Reads values of a JSON text (RFC 8259), which ends with a 0.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Returns the end of the value that `text` begins with, after spaces, or NULL if there is no valid
// one. Values may be nested up to 1000 levels deep.
const char *em_json_end(const char *text);

// Returns the value of the object's member `name`, in any mixture of upper and lower case, because
// Vulkan's loader reads manifests so. Returns NULL if `value` is not an object, or has no such
// member. Precondition: the text is valid.
const char *em_json_find(const char *value, const char *name);

// Decodes a string. Returns false if `value` is not one, contains U+0000 or half of a surrogate
// pair, or is longer than out_B. Precondition: the text is valid.
bool em_json_string(const char *value, char *out, size_t out_B);

// Whether `value` is true. Precondition: the text is valid.
bool em_json_is_true(const char *value);
