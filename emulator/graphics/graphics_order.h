// SPDX-License-Identifier: MIT
// The stream commands that keep graphics work and CUDA work in order when a resource is mapped and
// unmapped.
#pragma once
#include "command.h"
#include "graphics_resource.h"

// Maps or unmaps one resource.
struct em_graphics_command {
    struct em_command command;
    struct em_graphics *graphics; // a reference
    uint64_t sequence, fence;
    unsigned flags;
    // Of an unmap: a reference, because earlier work in the stream uses the window's addresses.
    struct em_graphics_window *window;
};

enum em_graphics_direction { EM_GRAPHICS_MAP, EM_GRAPHICS_UNMAP };

// Fills in a command for the resource's last mapping. Precondition: em_lock held.
void em_graphics_prepare(struct em_graphics_command *c, enum em_graphics_direction direction);
// Submits a copy of the command, which takes over its references. An unmap waits for the command if
// graphics work cannot be held back. Precondition: em_lock not held.
CUresult em_graphics_submit(struct em_graphics_command *c, struct em_stream *stream);
