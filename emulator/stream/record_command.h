// SPDX-License-Identifier: MIT
// Records commands (record.h). To be called only if em_recording is set.
// Everything here: precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_command;
struct em_stream;

void em_record_submitted(struct em_command *command);
// `at_once`: in the thread that has just submitted it.
void em_record_started(const struct em_command *command, bool at_once);
void em_record_ended(const struct em_command *command);
// A step of a launched graph, whose command is the first one in the step's stream, runs. Returns
// the step's number, which should be passed to em_record_step_end. A step that runs again later
// (EM_RUN_AGAIN) is recorded then.
uint64_t em_record_step_begin(const struct em_command *step);
void em_record_step_end(uint64_t number, CUresult result);
// A shared call (share.h), which has no sequence number, has submitted a command at `begin`
// (em_record_in_order), and it has ended at `end` (em_record_end). Other threads learn of both
// later. Precondition: em_lock NOT held.
void em_record_shared_begin(struct em_command *command, uint64_t begin);
// `adopted`: the thread that took em_lock has recorded it once more, under its sequence number.
void em_record_shared_end(const struct em_command *command, uint64_t end, bool adopted);

// The bytes that a command has accessed.
struct em_record_run {
    unsigned count;
    struct em_record_span {
        uint64_t address, size_B;
        bool writes;
    } spans[2];
};
// A command that has run in one section of em_lock (em_stream_runs_in_place), since `begin`
// (em_record_in_order).
void em_record_in_place(struct em_stream *stream, const char *kind, uint64_t begin,
                        const struct em_record_run *run);
// A command that has run without em_lock and was not entered (detached.h), since `begin`, until
// `end`. `adopted`: it was entered meanwhile, as this command; else NULL. Precondition: em_lock NOT
// held.
void em_record_detached(struct em_stream *stream, const char *kind, uint64_t begin, uint64_t end,
                        const struct em_record_run *run, const struct em_command *adopted);
