// SPDX-License-Identifier: MIT
// Recordings that the fuzz target `trace` writes itself, in the format of
// emulator/core/record_format.h, and a model of their contents.
#pragma once
#include "fuzz.h"
#include "record_format.h"
#include "trace_model.h"

enum {
    WRITTEN_THREADS = 3,
    WRITTEN_BLOCKS = 9, // of records; other blocks may be between them
    WRITTEN_FILE_B = (WRITTEN_BLOCKS + 6) * RF_BLOCK_B,
    WRITTEN_EVENTS = 160,
    WRITTEN_OPEN = 8, // calls inside of each other
    WRITTEN_ARGUMENTS = 4,
    WRITTEN_ENTRIES = 5,
    WRITTEN_NAMES = 4,
    WRITTEN_SITES = 4, // with a number, in a block
    WRITTEN_ACCESSES = 2,
};

// The fields of a SUBMIT that a later one may repeat.
struct written_submission {
    bool known;
    unsigned stream, name, accesses;
    uint64_t access[WRITTEN_ACCESSES][3];
};

struct written_call {
    uint32_t thread;
    uint64_t number, start, end;
    unsigned depth, entry, count;
    bool of_library;
    int32_t result;
    uint64_t arguments[WRITTEN_ARGUMENTS];
};

// A record and its meaning.
struct written_event {
    enum rf_kind kind;
    unsigned thread, block;
    size_t end_B; // in the block
    uint64_t time, until;
    struct written_call call; // CALL
    bool nested, returned;
    uint64_t number; // of the call (RETURN, DIAGNOSTIC), the command or the object
    bool of_library, ended, returns;
    int32_t result;
    struct written_submission submission; // SUBMIT
};

struct written_block {
    unsigned thread;
    uint32_t sequence;
    enum rf_block_kind kind;
    uint64_t ticks, last; // `last`: the time of its last record
    uint64_t number, command;
    struct written_site {
        bool known;
        unsigned entry, count;
        uint64_t arguments[WRITTEN_ARGUMENTS];
    } sites[WRITTEN_SITES];
    struct written_submission submitted[WRITTEN_SITES];
    uint8_t records[RF_BLOCK_B / 4];
    size_t used_B;
    size_t at; // in the file, once it is there
};

struct written {
    struct written_block blocks[WRITTEN_BLOCKS];
    unsigned block_count;
    struct written_event events[WRITTEN_EVENTS];
    unsigned event_count;
    uint64_t time;
    struct written_thread {
        unsigned block;                               // where it writes
        uint64_t open[WRITTEN_OPEN], number, command; // open: numbers of calls; 0: of a library
        unsigned sites[WRITTEN_OPEN], depth;          // the sites of `open`
    } threads[WRITTEN_THREADS];
    uint64_t object; // the last one
    size_t size_B;   // of the file
    bool is_whole;
    bool is_cut; // a part with records is missing
};

// Writes a file of the numbers of an input. The file is the first `size_B` bytes.
void written_make(struct fuzz_input *in, struct written *w, uint8_t file[WRITTEN_FILE_B]);
// The model should have everything that is in the file (trace_written_check.c).
void written_check(const struct written *w, const struct trace_model *m);
