// SPDX-License-Identifier: MIT
// Prints arguments of API calls by their C types (cardless_types.h).
//
// The values belong to the program, so any pointer in them may be invalid. They are read through
// the kernel (process_vm_readv), which returns an error if the address is not mapped; or, for a
// program that has ended, from what was recorded of its memory (record_format.h).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cardless_types.h"

// A growing text. It is cut at EM_TEXT_MAX_B, or if the host is out of memory.
enum { EM_TEXT_MAX_B = 64 << 10 };
struct em_text {
    char *bytes; // em_text_finish frees it
    size_t used, size;
    bool cut;
};
void em_text_put(struct em_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void em_text_append(struct em_text *text, const struct em_text *more);
// Ends the text with a newline; if the text was cut, "…" precedes the newline.
void em_text_end_line(struct em_text *text);
void em_text_finish(struct em_text *text);

// The arguments of a call. They also lead to its outputs. `values` has one word for each.
struct em_arguments {
    const cardlessTypes *description;
    uint32_t first; // in `members`
    uint32_t count;
    const uint64_t *values;
    // Reads up to `size` bytes of memory, and returns how many it could read. NULL: that of this
    // process.
    size_t (*read)(const void *source, uint64_t address, void *out, size_t size);
    const void *source;
};
// Prints "Flags=0, dev=0". An output is printed as an address, unless the call reads it too.
void em_describe_arguments(struct em_text *text, const struct em_arguments *arguments);
// Prints "; *device=0, *count=1" for outputs that are not NULL. If the call failed, prints only the
// outputs that it writes nevertheless.
void em_describe_outputs(struct em_text *text, const struct em_arguments *arguments, bool failed);
// Returns the name of the entry point's handle argument of this type (the `target` of its shape),
// or NULL unless there is exactly one.
struct em_entry;
const char *em_describe_handle_name(const struct em_entry *entry, unsigned type);
// Prints the name of a result, or its number if it has no name.
void em_describe_result(struct em_text *text, const cardlessTypes *d, int64_t result);
