// SPDX-License-Identifier: MIT
// A copy that has been checked: what copy_check.c finds out and copy_run.c carries out.
#pragma once
#include "access.h"
#include "box.h"
#include "command.h"
#include "copy.h"
#include "memory.h"
#include "record_content.h"

struct em_storage;
struct dm_fault;

// One end of a checked copy.
struct em_copy_place {
    struct dm_surface surface;
    struct dm_position at;
    struct em_storage *storage; // of an array; NULL: linear memory. The access holds a reference
    enum em_residence residence;
    bool pageable;  // the program's own memory, which the driver does not know
    bool may_fault; // someone else may take the bytes away while the copy runs
};

enum { EM_COPY_READS, EM_COPY_WRITES, EM_COPY_ACCESSES };

struct em_copy_command {
    struct em_command command;
    struct dm_box_extent extent;
    struct em_copy_place dst, src;
    struct em_access access[EM_COPY_ACCESSES];
};

// Prepares the command of a copy without its places and accesses.
void em_copy_init(struct em_copy_command *command);

// Checks one end of a copy that is not empty and fills in its place and its access. `name` names
// the end in messages. Precondition: em_lock held.
CUresult em_copy_check_end(const struct em_copy *copy, bool is_dst, const char *name,
                           struct em_copy_command *command);

// A copy of at most so many bytes may be a shared call (share.h). Longer ones take so long
// that em_lock does not matter to them, and may need the workers or dm_guarded_foreign.
enum { EM_SHARED_MOST_B = 64 << 10 };
// Fills in the places, the accesses and the extent of a row of bytes in linear memory that nobody
// watches and that cannot fault. Returns false for all other copies, and if anything is wrong with
// this one.
// Precondition: em_lock held or shared.
bool em_copy_check_row(const struct em_copy *copy, struct em_copy_command *command);

// Fills in one end of such a row, which begins in `memory`, or in memory of the program if that is
// NULL. Precondition: em_lock held or shared.
void em_copy_set_row_end(struct em_copy_command *command, bool is_dst, uint64_t address,
                         uint64_t size_B, struct em_allocation *memory);

// Whether the call returns only when the copy is done.
bool em_copy_has_to_wait(const struct em_copy_command *command, bool async);
// Whether the error `r` of the copy is returned by the next call instead of this one.
bool em_copy_is_found_later(const struct em_copy_command *command, CUresult r);

// Records the bytes of an end that is in host memory. To be called if em_recording_contents is set.
void em_copy_record(const struct em_copy_command *command, const struct em_copy_place *end,
                    enum rf_role role);

// em_command_ops.run of a copy.
CUresult em_copy_run(struct em_command *command);
// Reports that the copy has run into a fault, and returns the error.
CUresult em_copy_faulted(const struct em_copy_command *command, const struct dm_fault *fault);

// ---- copy_direct.c ----

// Whether the copy is so large that it pays not to make the bytes of a mapped resource resident
// for it, and the memory of its ends may be accessed by another library. Precondition: em_lock
// held.
bool em_copy_may_be_direct(const struct em_copy_command *command);
// For a copy one of whose accesses is absent: has its watcher copy the bytes and returns true, with
// the result of the copy, or makes the bytes resident and returns false. Precondition: em_lock not
// held.
bool em_copy_run_directly(struct em_copy_command *command, CUresult *result);
