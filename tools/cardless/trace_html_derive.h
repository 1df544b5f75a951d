// SPDX-License-Identifier: MIT
// What the page of `cardless trace --html` shows and a recorded run does not say directly: memory
// that several addresses share, layouts of arrays, and the objects that calls name.
#pragma once

#include "layout.h"
#include "trace_model.h"

// Memory that several mappings show and that is not in the model's list: the page draws it by
// offset.
struct html_shared {
    uint64_t size_B, born, died;
    uint32_t born_call;
};

struct html_array {
    struct dm_layout layout;
    uint32_t array;  // in the model's arrays; its object is known
    char format[48]; // "UNSIGNED_INT8 x4"
};

struct html_derived {
    struct html_shared *shared;
    uint32_t *below; // for each of the model's memories: the one whose bytes it shows, in the
                     // model's list with `shared` behind it; or TRACE_NONE
    size_t shared_count;
    struct html_array *arrays;
    size_t array_count;
};

// Returns false if memory runs out. html_derived_finish should be called in any case.
bool html_derive(struct html_derived *derived, const struct trace_model *model);
void html_derived_finish(struct html_derived *derived);

// Prints the arguments and outputs of a call into `text`, which em_text_finish frees. They may be
// empty (NULL).
void html_call_text(const struct trace_model *model, const struct trace_call *call,
                    struct em_text *text);

// Whether a text names an object as messages do: "CUarray #12".
bool html_names_object(const char *text, const struct trace_object *object);

// The memory that lies at the first device address in a text at a time, or TRACE_NONE.
uint32_t html_memory_in_text(const struct trace_model *model, const char *text, uint64_t time);

// Reads "NAME=123" or "NAME=0x7b" in a text. Returns `missing` if the name is not in it.
uint64_t html_number(const char *text, const char *name, uint64_t missing);
