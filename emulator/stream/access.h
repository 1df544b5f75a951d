// SPDX-License-Identifier: MIT
// Accesses: the memory that a command reads and writes.
//
// A command carries a list of its accesses, filled in when it is prepared. At submission,
// em_accesses_begin notifies whoever watches that memory (a mapped graphics resource, an imported
// buffer, a sparse array) and lets it fetch the bytes that the command needs. When the command
// completes, or is refused, em_accesses_finish passes its result to the same watchers.
//
//     prepared ──begin──▶ watched ──make resident──▶ resident ──end──▶ prepared
//
// A prepared command can be cloned at any time; only begin and end are paired. The rooms above
// this one own the memory and its watchers, and are called through the operations below.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "box.h"

struct em_access;
struct em_command;
struct em_rows;

enum em_access_mode {
    EM_ACCESS_READ,
    EM_ACCESS_WRITE,      // every byte of the range or box
    EM_ACCESS_WRITE_SOME, // some of the bytes: rows with gaps between them
};

// The bytes of an access to linear memory.
enum em_access_form {
    EM_FORM_SPAN, // all of them
    EM_FORM_ROWS, // of a 2D or 3D box
    EM_FORM_WORD, // a word that orders work (cuStreamWaitValue32 …)
};

// How a watcher of memory learns about commands. All run with em_lock held, except make_resident.
struct em_watch_ops {
    // A checked command is about to be submitted. Takes the references that the watcher needs until
    // `end` and keeps them in access->watcher. Returns whether make_resident must run before the
    // command does.
    bool (*begin)(struct em_access *);
    // Fetches the bytes that the access needs. If `may_wait` is set, other commands may run between
    // this call and the command, so bytes that it will overwrite must be fetched too.
    // Precondition: em_lock not held.
    void (*make_resident)(struct em_access *, bool may_wait);
    // Does the work of a copy between this memory, all of the access, and `rows`, which need not be
    // resident for it. Returns false if it cannot, or if it has copied a part only: then the bytes
    // have to be made resident. NULL: it never can. Precondition: em_lock not held.
    bool (*copy_directly)(struct em_access *, const struct em_rows *rows);
    // The command has completed, has failed or was refused. Drops the references. NULL: nothing to
    // do.
    void (*end)(struct em_access *, CUresult result);
};

// The kind of memory that is accessed. All run with em_lock held.
struct em_access_ops {
    // Returns the watcher of this memory, or NULL. Called when the command is submitted, which may
    // be long after it was prepared: the memory may be gone by then.
    const struct em_watch_ops *(*watch)(struct em_access *);
    // Take and drop the reference to the memory that the access holds while its command exists.
    // NULL: the access holds no reference.
    void (*retain)(struct em_access *);
    void (*release)(struct em_access *);
    // For boxes of arrays: the addresses of the array's memory. NULL: linear memory.
    void (*span)(const struct em_access *, uint64_t *first, uint64_t *end);
};

struct em_access {
    const struct em_access_ops *ops; // NULL: the program's own memory, which nobody watches
    enum em_access_mode mode;
    enum em_access_form form; // of linear memory
    void *owner;              // the storage or the allocation; belongs to `ops`
    union {
        struct {
            uint64_t address, size_B;
            // EM_FORM_ROWS: a row, from one to the next, and the same for slices
            uint64_t row_B, pitch_B, slice_rows_B, slice_B;
        }; // linear memory
        struct {
            struct dm_position at;
            struct dm_box_extent extent;
            uint32_t level;
        }; // a box of an array
    };
    uint64_t epoch; // belongs to `ops`

    // Valid from begin to end.
    const struct em_watch_ops *watch; // NULL: nobody watches
    bool absent;                      // make_resident has yet to run
    bool passed_by;                   // copy_directly has done the work: nothing became resident
    void *watcher;                    // belongs to `watch`
    uint64_t mark;                    // likewise
};

// Fills in an access but for its range or box. Cheaper than assigning a whole struct, which matters
// to a copy of a few bytes.
static inline void em_access_init(struct em_access *access, const struct em_access_ops *ops,
                                  void *owner, enum em_access_mode mode)
{
    access->ops = ops;
    access->mode = mode;
    access->form = EM_FORM_SPAN;
    access->owner = owner;
    access->watch = NULL;
}

// The other end of a copy, in linear memory that anyone can access: where the first byte lies, and
// how far rows and slices are apart.
struct em_rows {
    void *first;
    uint64_t pitch_B, slice_B;
};

static inline bool em_access_writes(const struct em_access *access)
{
    return access->mode != EM_ACCESS_READ;
}

// Notifies the watchers of the command's memory and makes the bytes resident. Returns whether
// em_lock was released meanwhile, so that the caller must check the stream again. Each command that
// was begun must be ended. A command with ops->fetches that runs at once (`may_wait` is not set) is
// left without the bytes of its one watched access if copy_directly may make them unnecessary.
// Precondition: em_lock held.
bool em_accesses_begin(struct em_command *command, bool may_wait);
// Whether nobody watches the command's memory now. Then it need not be begun, nor ended if its
// accesses hold no references. Precondition: em_lock held.
bool em_accesses_are_plain(struct em_command *command);
// For the `run` of such a command: makes the bytes resident. Precondition: em_lock not held.
void em_access_fetch(struct em_access *access);
// Notifies the watchers that the command has ended, and drops the references that its accesses
// hold. A command that was not begun has no watchers to notify. Precondition: em_lock held.
void em_accesses_finish(struct em_command *command, CUresult result);
// Ends one access before its command has ended. Precondition: em_lock held.
void em_access_end(struct em_access *access, CUresult result);
