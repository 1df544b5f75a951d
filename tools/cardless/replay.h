// SPDX-License-Identifier: MIT
// `cardless replay`: makes the calls of a recorded run again, in the order in which they were made,
// and compares their results.
//
// A child process loads libcuda and makes the calls: a thread for each recorded one. Addresses,
// handles and descriptors of the recorded process are translated to those of the child. The child
// is itself recorded, so that the parent can compare the bytes that copies have written.
#pragma once
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "describe.h"
#include "trace_contents.h"
#include "trace_model.h"

// Why a call is not made again.
#define REPLAY_REASONS(X)                                                                          \
    X(UNKNOWN, "entry points that this driver does not have")                                      \
    X(INSIDE, "calls that a function of the program made inside of another call")                  \
    X(FUNCTION, "calls that take a function of the program whose result they need")                \
    X(GRAPHICS, "calls that use graphics objects of the program")                                  \
    X(OUTSIDE, "calls that write files, or act on other processes")                                \
    X(FOREIGN, "imports of semaphores or memory of other processes, which were not recorded")      \
    X(IMAGE, "images that were not recorded, such as tables of host functions")                    \
    X(DEPENDS, "calls that use a result of one of these")                                          \
    X(ARGUMENTS, "calls whose arguments were not recorded")                                        \
    X(OPEN, "calls that never returned")

// What else a replay does not know of calls that it makes.
#define REPLAY_NOTES(X)                                                                            \
    X(EMPTY, "functions of the program in streams and graphs, replaced by empty ones")             \
    X(MISSING, "calls that read bytes that were not kept")                                         \
    X(SET, "calls that read pinned or managed memory, which was set as recorded and not compared") \
    X(SHARED, "imports of memory of another program, whose later writes are unknown")              \
    X(EXPORT, "exports of memory, to which other programs may have written")                       \
    X(TIME, "results and outputs that depend on time, and differ")

enum replay_reason {
    REPLAY_MADE,
#define X(name, text) REPLAY_##name,
    REPLAY_REASONS(X)
#undef X
        REPLAY_REASON_COUNT
};
enum replay_note {
#define X(name, text) REPLAY_NOTE_##name,
    REPLAY_NOTES(X)
#undef X
        REPLAY_NOTE_COUNT
};

enum replay_state { REPLAY_WAITS, REPLAY_RUNS, REPLAY_SAME, REPLAY_DIFFERS, REPLAY_SKIPPED };

// A recorded call in the replay. In memory that parent and child share.
struct replay_call {
    uint32_t thread, number; // of the replay: the system's number, and that of the call
    uint8_t state, reason, notes;
};

enum { REPLAY_TEXT_B = 2048 };
struct replay_shared {
    uint64_t progress; // atomic: counts calls that have begun or returned
    uint32_t complete; // the child has made all calls
    uint32_t differs;  // atomic: the call of `difference` + 1
    char failure[REPLAY_TEXT_B];
    char difference[REPLAY_TEXT_B]; // of the call that differs first
    struct replay_call calls[];
};

// ---- the tables (generated from api/table/driver.def and cardless.def) ----

struct replay_entry {
    const char *name;
    // Calls the function with the arguments, one word for each. A structure by value: its address.
    CUresult (*call)(void *function, const uint64_t *values);
    uint32_t first, count; // arguments, in the members of api_description
};
extern const struct replay_entry replay_entries[]; // sorted by name
extern const size_t replay_entry_count;
extern const cardlessTypes api_description;

// ---- the child ----

struct replay_map;
struct replay {
    const struct trace_model *model;
    const struct trace_contents *contents;
    struct replay_shared *shared;
    struct replay_map *map;
    void *library;
    void **functions;                    // by entry of the model; NULL: not in the library
    const struct replay_entry **entries; // likewise
    pthread_mutex_t lock;                // guards `map`
};

// Makes all calls. Returns false after it has set shared->failure.
bool replay_run(struct replay *replay);

// Makes a call and compares its result and outputs. `made` counts the calls of the thread.
void replay_one(struct replay *replay, uint32_t call, uint32_t *made);

// ---- addresses, handles and descriptors (replay_map.c); precondition: lock held ----

// Reserves the program's memory. Returns false if memory runs out.
bool replay_map_open(struct replay *replay);

// The place of recorded memory. *found: false if it is not known, and the result is an address that
// cannot be accessed: the same one if that is so.
uint64_t replay_address(const struct replay *replay, uint64_t address, bool *found);
// Memory of the driver that a call has returned: `address` is now `actual`. `is_lost`: the call was
// not made.
void replay_add_memory(struct replay *replay, uint32_t call, uint64_t address, uint64_t actual,
                       bool is_lost);
bool replay_is_driver_memory(const struct replay *replay, uint64_t address);
bool replay_address_is_lost(const struct replay *replay, uint64_t address);
// Whether the driver's memory at this address was born in this call.
bool replay_is_born(const struct replay *replay, uint32_t call, uint64_t address);

// Handles, and bytes that stand for something, are pairs of equal size.
enum replay_found { REPLAY_UNKNOWN_KEY, REPLAY_FOUND, REPLAY_LOST };
enum replay_found replay_find(const struct replay *replay, const void *key, size_t size_B,
                              void *value);
// `value` is NULL: the call that returned the key was not made.
void replay_add(struct replay *replay, const void *key, size_t size_B, const void *value);
// The call was not made: the objects and the memory that it made in the recorded run are unknown,
// even if its arguments were not recorded.
void replay_lose_born(struct replay *replay, uint32_t call);

// A new descriptor for one that the call takes, or -1.
int replay_fd(struct replay *replay, const struct trace_fd *fd, bool *is_foreign);
// A call has returned the descriptor `actual`, which this takes over.
void replay_add_fd(struct replay *replay, const struct trace_fd *fd, int actual);
// A file with the bytes that the call has read from a file, until *fd is closed or the next file is
// made. Returns NULL if they were not kept.
const char *replay_path(struct replay *replay, uint32_t call, int *fd);
// Writes the bytes that a call reads to their places. Returns false if some were not kept.
// *is_lost: some are results of a call that was not made. *is_set: some are in memory of the
// driver, to which commands may have written too. `is_later`: replay_refill writes those.
bool replay_fill(struct replay *replay, uint32_t call, bool is_later, bool *is_lost, bool *is_set);
// Writes only those in memory of the driver once more, after a command has written there.
void replay_refill(struct replay *replay, uint32_t call);

// Prepares for functions of the program. Returns false if memory runs out.
bool replay_function_open(struct replay *replay);

// ---- the parent ----

// The bytes that copies have written.
struct replay_writes {
    size_t compared; // copies
    size_t differ;   // calls with a copy that differs
    uint32_t first;  // of those
    char text[REPLAY_TEXT_B];
};
// `path`: the recording of the replay. Returns false, after a message, if it lacks anything.
bool replay_compare_writes(const struct trace_model *model, const struct trace_contents *contents,
                           const char *path, const struct replay_shared *shared,
                           struct replay_writes *out);
