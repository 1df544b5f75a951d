// SPDX-License-Identifier: MIT
// A call that is made again: its arguments, and what it should return.
#pragma once
#include "replay.h"

enum { REPLAY_DEPTH_MAX = 6 };

// Memory that an argument of the new call leads to.
struct replay_memory {
    struct replay_memory *next;
    uint64_t recorded; // its address in the recorded process
    uint64_t size_B;
    uint8_t *bytes;
};

struct replay_job {
    struct replay *replay;
    const struct trace_call *call;
    const struct replay_entry *entry;
    uint32_t index; // of the call
    uint64_t recorded[TRACE_ARGUMENTS_MAX], values[TRACE_ARGUMENTS_MAX];
    const struct trace_bytes *bytes; // of the call
    const struct trace_fd *fds;
    size_t byte_count, fd_count;
    struct replay_memory *memory;
    bool is_kept; // `memory` is used after the call
    int given[2]; // descriptors that the call gets
    unsigned given_count;
    bool takes; // the call has succeeded, and the driver owns its descriptors
    enum replay_reason reason;
    unsigned notes; // bits of enum replay_note
    char difference[REPLAY_TEXT_B];
};

// The struct (or the list of arguments) that a value is a member of, as it was recorded.
struct replay_scope {
    const uint8_t *siblings;
    uint32_t first; // in the members of the tables
    unsigned depth;
    const struct trace_blobs *blobs; // of the recorded process, with the siblings
};

uint64_t replay_load(const uint8_t *bytes, uint32_t size);
// Recorded memory. *size_B: the least number of bytes; set to how many there are from there on.
const uint8_t *replay_recorded(const struct replay_job *job, const struct trace_blobs *blobs,
                               uint64_t address, uint64_t *size_B);
// The number of elements that a pointer leads to.
uint64_t replay_count(const struct replay_job *job, const struct replay_scope *at,
                      const cardlessMember *m);
// The member of a union that its discriminator selects, or NULL.
const cardlessMember *replay_chosen(const cardlessMember *m, const cardlessShape *s,
                                    const struct replay_scope *outer, const uint8_t *bytes);
const char *replay_name(uint32_t name);

// ---- functions of the program (replay_function.c)

// Whether the call puts a function into a stream.
bool replay_is_function_call(const struct replay_job *job);
// Replaces a pointer to a function of type `type`, or the argument of a function in a stream. Sets
// job->reason if the call needs the function's result. Returns false if the value is neither.
// Precondition: lock held.
bool replay_function(struct replay_job *job, const char *type, uint8_t *value);
// Whether a function waits in the call's stream. When it runs, it sets the bytes in memory of the
// driver that the call reads. Precondition: lock held.
bool replay_function_waits(const struct replay_job *job);
// The call has failed, so its function never runs. Precondition: lock held.
void replay_function_drop(const struct replay_job *job);

// ---- arguments

// Fills in `values`. Sets job->reason if the call cannot be made.
void replay_prepare(struct replay_job *job);
void replay_release(struct replay_job *job);
// Outputs have these bytes before the call, so that those which it leaves unwritten are known.
enum { REPLAY_UNWRITTEN = 0xc3 };
// Compares the outputs with the recorded ones, and notes handles and addresses. Returns false after
// it has set job->difference.
bool replay_outputs(struct replay_job *job);
// The call was not made: its outputs are unknown from now on.
void replay_lose_outputs(struct replay_job *job);
