// SPDX-License-Identifier: MIT
// Reads the file of a recorded run (emulator/core/record_format.h). A file that was cut, or that
// anybody made up, is read as far as it makes sense; nothing in it can lead out of it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "describe.h"
#include "record_format.h"

// A block of records, in the order of the thread.
struct trace_block {
    uint32_t thread, sequence;
    uint64_t ticks;
    const uint8_t *records;
    size_t size_B;
    bool is_window;
    uint64_t offset; // in the file
};

enum { TRACE_TYPES_MAX = 8 };

struct trace_file {
    uint8_t *bytes; // the whole file
    size_t size_B;
    struct rf_header header; // texts end with 0
    struct trace_block *blocks;
    size_t block_count;
    // The driver's, and those of libraries.
    struct trace_types {
        uint32_t id;
        cardlessTypes description; // its pointers lead into `bytes`
        uint32_t stream_type;      // of handles: the number of CUstream, or UINT32_MAX
    } types[TRACE_TYPES_MAX];
    uint32_t types_count;
    uint32_t lost; // blocks that are missing or unreadable
};

// Reads a file, which trace_file_close should free. Returns false, and prints the reason on stderr,
// if it is not a recorded run.
bool trace_file_open(struct trace_file *file, const char *path);
// The same for bytes in memory, which it takes over (from malloc). `name` is for messages; NULL: no
// messages.
bool trace_file_read(struct trace_file *file, uint8_t *bytes, size_t size_B, const char *name);
void trace_file_close(struct trace_file *file);

// Nanoseconds since the start, from the ticks of a record.
uint64_t trace_file_ns(const struct trace_file *file, uint64_t ticks);

// A record. `fields` are the bytes after its time, if its kind has one.
struct trace_record {
    enum rf_kind kind;
    unsigned flags;
    uint64_t ticks; // of the last time in the block
    const uint8_t *at, *end;
};

// Steps through the records of a block. *position and *ticks should be 0 and the block's at first.
bool trace_next(const struct trace_block *block, size_t *position, uint64_t *ticks,
                struct trace_record *record);
// The next field, or 0 after the last one.
uint64_t trace_field(struct trace_record *record);
// The next text, which is not ended by 0. Returns its length.
size_t trace_text(struct trace_record *record, const char **text);
// The same as a string of its own, from malloc. Control characters, which would act on the terminal
// that it is printed on, become '?'. Returns NULL if memory is exhausted.
char *trace_copy_text(struct trace_record *record);
// Makes place for one more element at the end of a list, which doubles if it is full, and returns
// the place. Returns NULL if memory is exhausted.
void *trace_append(void **list, size_t *count, size_t *capacity, size_t size_B);
// The tables with this id, or NULL.
const struct trace_types *trace_types_of(const struct trace_file *file, uint64_t id);
// Whether an entry point's arguments may be printed by the tables.
bool trace_arguments_are_valid(const struct trace_types *types, uint64_t first, uint64_t count);
// Checks tables of types, and adds them to the file. Called by trace_file_read.
void trace_tables_read(struct trace_file *file, uint32_t id, const uint8_t *tables, size_t size_B);
