// SPDX-License-Identifier: MIT
// What `cardless trace` does with recorded runs.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace_model.h"

// Which calls and commands are shown. NULL and 0: all.
struct trace_filter {
    const char *name;     // a pattern for the names of calls: of the driver or the runtime
    const char *stream;   // a pattern for names of streams
    const char *result;   // a pattern for names of results
    uint32_t thread;      // as messages count them
    uint32_t depth_end;   // of calls: 1 + how many others they may be inside of; 0: any number
    uint64_t first, end;  // an address range that arguments or accesses meet; first == end: all
    uint64_t from, until; // nanoseconds; until == 0: all
    bool any;
};

// Reads "name=cuMem*,thread=2,…" into the filter. Returns false after a message.
bool trace_filter_read(struct trace_filter *filter, char *text);
bool trace_filter_call(const struct trace_filter *filter, const struct trace_model *model,
                       const struct trace_call *call);
bool trace_filter_command(const struct trace_filter *filter, const struct trace_model *model,
                          const struct trace_command *command);

void trace_print(const struct trace_model *model, const struct trace_filter *filter, FILE *out);
void trace_print_summary(const struct trace_model *model, FILE *out);
// Writes Chrome's trace events, which Perfetto reads. Returns false after a message.
bool trace_write_perfetto(const struct trace_model *model, const char *path);
// Prints the first difference of two runs, of which trace_find_places should know the places.
// Returns 0 if they do not, 1 if they do, 3 if memory runs out.
int trace_compare(const struct trace_model *a, const struct trace_model *b, FILE *out);
