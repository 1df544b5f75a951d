// SPDX-License-Identifier: MIT
// The command of a launch, for the files that launch. In memory:
//
//     │ struct em_launch_command │ accesses │ objects │ arguments │
//
// There is an access for each address argument, and one for each level of each texture and surface.
#pragma once
#include "alloc.h"
#include "command.h"
#include "function.h"
#include "kernel_launch.h"

struct em_launch_command {
    struct em_command command;
    struct em_function *function; // a reference
    struct em_extent3 blocks, threads, cluster;
    unsigned shared_B;
    bool cooperative;
    bool detached;                     // runs as the only command that does (detached.h)
    uint32_t objects_at, arguments_at; // in bytes from the start of this struct
    uint32_t object_count;
};

// The memory in which a command is built: the heap for large ones.
struct em_launch_space {
    union {
        struct em_launch_command command;
        unsigned char bytes[1536];
    };
    struct em_launch_command *at;
};

// Checks a launch, and builds its command. Precondition: the lock is held. After CUDA_SUCCESS the
// command is at space->at; other results leave nothing.
CUresult em_launch_build(const struct em_launch_config *config, struct em_function *f,
                         struct em_launch_space *space);
// Gives a command that was built its reference to the function. To be called before it is issued or
// cloned. Precondition: em_lock held.
void em_launch_hold(struct em_launch_command *command);
// Frees the memory of a command that was issued or cloned.
static inline void em_launch_space_free(struct em_launch_space *space)
{
    if (space->at != &space->command)
        dm_free(space->at);
}
// Adds a launch to the trace: "scale<<<(4,1,1), (32,1,1), 0>>>(0xa0000000000, 3, 100)".
void em_launch_note(const struct em_launch_config *config, const struct em_code *code,
                    const unsigned char *arguments);
