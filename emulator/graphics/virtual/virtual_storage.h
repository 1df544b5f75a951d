// SPDX-License-Identifier: MIT
// The storage of virtual graphics objects, the commands that work on it, and their clock.
// Everything here: precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "box.h"
#include "graphics_memory.h"
#include "layout.h"

// An object's bytes. The object, commands and registered resources each keep a reference, so that
// an object may be resized or destroyed meanwhile.
struct em_virtual_storage {
    unsigned references;
    struct em_graphics_memory *memory;
    struct em_graphics_shape shape; // as CUDA shows it; `physical` is that of `memory`
    struct dm_layout layout;        // of a texture
    unsigned mapped;                // how often CUDA has it mapped now
    // Unmaps that were called, and those whose CUDA work has completed. Resources of the same
    // object are counted together.
    uint64_t unmaps, unmaps_done;
};

// Makes storage of this shape, with all bytes zero. The caller sets shape->kind, extents and
// format.
CUresult em_virtual_storage_new(const struct em_graphics_shape *shape,
                                struct em_virtual_storage **out);
void em_virtual_storage_ref(struct em_virtual_storage *storage);
void em_virtual_storage_unref(struct em_virtual_storage *storage);

// One end of a command: a box of a level, or bytes of a buffer (x_B = offset, one row).
struct em_virtual_end {
    struct em_virtual_storage *storage; // NULL: the command's own bytes
    uint32_t level;
    struct dm_position at;
    uint64_t after; // the unmap of the storage that it waits for
};
struct dm_surface em_virtual_surface(const struct em_virtual_end *end);

struct em_virtual_command {
    struct em_virtual_command *next;
    uint64_t tick;
    struct em_virtual_end to, from;
    struct dm_box_extent extent;
    uint32_t repeat_B; // of a fill: the bytes that are repeated; 0: the bytes follow each other
                       // without gaps
    unsigned char bytes[];
};

// Issues a command. Takes ownership of it, and references to its storages. Returns its tick.
uint64_t em_virtual_issue(struct em_virtual_command *command);
// Gives out a tick without a command, for reads.
uint64_t em_virtual_tick(void);
// The last tick that was given out, and the last one whose command has run.
uint64_t em_virtual_issued(void), em_virtual_done(void);
// Whether all commands up to a tick could run now.
bool em_virtual_can_run(uint64_t tick);
// Runs all commands up to a tick, until one has to wait. `*all`: every one has run. A command that
// faults counts as run; the first fault is the result (CUDA_ERROR_UNKNOWN).
CUresult em_virtual_run(uint64_t tick, bool *all);
// Whether an end waits for CUDA work.
bool em_virtual_end_waits(const struct em_virtual_end *end);
