// SPDX-License-Identifier: MIT
// CARDLESS_RECORD_CONTENTS=BYTES: the recording also keeps what calls and their commands read from
// the program's memory, and hashes of what they write to it, for `cardless replay`.
//
// Everything here may be called with em_lock held or not, but only if em_recording_contents is set,
// and not between em_record_begin and em_record_put.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "record_format.h"

extern bool em_recording_contents;

// Bytes of the program's memory: `slices` times `rows` rows of `row_B` bytes.
struct em_record_bytes {
    enum rf_role role;
    uint64_t call;    // the call that they belong to (em_call_now)
    uint64_t address; // in the program
    const void *at;   // the bytes, if they are not at `address` any more; else NULL
    uint64_t row_B, rows, pitch_B, slices, slice_B;
};

// Records bytes. If they cannot be read, or as many were kept as the setting allows, the record has
// their size only.
void em_record_bytes(const struct em_record_bytes *bytes);
// The same for a row, which the call in progress reads or writes.
void em_record_range(enum rf_role role, const void *at, uint64_t size_B);
// The bytes of a file of this name, which the call in progress reads. (The name is an argument.)
void em_record_path(int fd, const char *path);
// A file descriptor that the call in progress takes or returns, with the bytes of its file if the
// call takes it. Descriptors without a file of memory are recorded without bytes.
void em_record_fd(int fd, bool is_taken);
// Notes the settings of the process in a new file, and starts to keep contents if they ask for it.
struct rf_header;
void em_record_settings(struct rf_header *of_file);
