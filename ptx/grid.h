// SPDX-License-Identifier: MIT
// Grids: runs all blocks of a launch.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "kn_lanes.h"
#include "program.h"
#include "step.h"

enum px_failure_kind {
    PX_FAILED_ADDRESS, // the access was outside memory that kernels may access
    PX_FAILED_MISALIGNED,
    PX_FAILED_SHARED, // outside shared memory
    PX_FAILED_LOCAL,
    PX_FAILED_RANK,        // in shared memory of a block that the cluster does not have
    PX_FAILED_TEXTURE,     // `address` is not the handle of a texture
    PX_FAILED_SURFACE,     // `address` is not the handle of a surface
    PX_FAILED_OUTSIDE,     // outside of the surface whose handle is `address`
    PX_FAILED_INSTRUCTION, // an operation that this launch cannot do
    PX_FAILED_TRAP,
    PX_FAILED_ASSERT,
    PX_FAILED_FREE, // free() of memory that malloc() has not given
    PX_FAILED_DEADLOCK,
    PX_FAILED_ENDLESS, // px_grid.branches_most
    PX_FAILED_STACK,   // calls too deep
    PX_FAILED_MEMORY,  // out of host memory
};

// Why a grid has failed.
struct px_failure {
    enum px_failure_kind kind;
    bool placed; // in this block and thread, at this line
    uint32_t block[3], thread[3];
    unsigned line;
    uint64_t address;
    uint32_t size_B;
    bool write;
    char text[512]; // a sentence without a full stop
};

// Position of a block that has run for a long time.
enum { PX_SLOW_LINES = 4 };
struct px_slow {
    uint32_t block[3], thread[3]; // of the first place
    unsigned lines[PX_SLOW_LINES];
    uint32_t threads[PX_SLOW_LINES]; // of the block, that are at that line
    unsigned count;
};

// What a grid needs from its surroundings.
struct px_host {
    void *context; // for the functions below
    bool (*foreign)(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write);
    // The texture or surface of a handle (kn_objects.find), or NULL. What it returns stays valid
    // until px_run returns. NULL: there are no such objects.
    const void *(*object)(void *context, enum kn_object_kind kind, uint64_t handle);
    // The text of one call of vprintf, in the order in which threads make them. The call has
    // record_B bytes in the buffer of the launch.
    void (*print)(void *context, const char *text, size_t size_B, uint64_t record_B);
    // The line of a failed assertion.
    void (*complain)(void *context, const char *line, size_t size_B);
    // malloc and free in kernels. `allocate` returns 0 if the heap is full. `free` returns false
    // for an address that `allocate` has not returned, or that was freed, and writes the reason: a
    // clause without a full stop.
    uint64_t (*allocate)(void *context, uint64_t size_B);
    bool (*free)(void *context, uint64_t address, char *why, size_t why_B);
    // "cudaGraphSetConditional: sets the condition value associated with a conditional node". NULL:
    // nothing happens.
    void (*set_conditional)(uint64_t handle, uint32_t value);
    // Called once by each px_run that has run for so long, in processor time; 0: never.
    uint64_t patience_ns;
    void (*slow)(void *context, const struct px_slow *slow);
    const struct px_checks *checks;   // NULL: accesses are not checked
    const struct px_stepper *stepper; // NULL: no warp is stepped
    uint64_t device_first, device_end;
    uint64_t shared_window, local_window;
};

// Scratch memory for texts: grows, and lasts as long as a call of px_run.
struct px_lines {
    char *bytes;
    size_t used, capacity;
    size_t text; // where the text of a call begins
};

struct px_grid {
    const struct px_program *program;
    const struct px_host *host;
    uint32_t blocks[3], threads[3], cluster[3];
    uint32_t dynamic_shared_B;
    uint32_t stack_B; // of each thread, for functions that cannot be inlined
    bool cooperative;
    // Two words of device memory that begin as 0, for the toolkit's grid barrier, which finds them
    // in %envreg1 (high) and %envreg2 (low) and takes the second. 0: not a cooperative grid.
    uint64_t workspace;
    const void *arguments;
    const uint64_t *variables; // addresses, by the module's variables; 0 for shared and local ones
    // The grid fails after about so many backward branches of a block's warps. 0: any number.
    uint64_t branches_most;
    uint64_t seed; // 0, or blocks, warps and fragments run in an order drawn from it
    uint32_t sm_count;
    uint64_t grid_id; // if the program reads it
    // The rest is of this room. Failures are not initialised before there is one.
    struct px_lines lines;
    uint32_t asserted; // threads whose assertion has failed
    struct px_failure failure;
    struct px_failure assertion; // of the first thread whose assertion has failed
};

// Runs the blocks from `first` to `end`, in the order x, y, z. Blocks that must run at the same
// time (a cooperative grid, a cluster) are given in one call. Allocates its memory before it starts
// and may be called by several threads for different blocks of one grid, if each has its own copy
// of *grid. The thread's floating-point state has no effect on the kernel, and does not change.
// Returns 0, or a negative errno after a failure, which grid->failure then describes.
int px_run(struct px_grid *grid, uint64_t first, uint64_t end);
