// SPDX-License-Identifier: MIT
// Shadow buffers: the device memory that stands for a GL object while it is mapped, and which of
// its bytes are newer on which side. Bytes move when CUDA needs them, and back at unmap where CUDA
// wrote; what neither side uses never moves. All resources of one object and one shape have one
// shadow, as on a card they have one memory.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "gl_object.h"
#include "graphics.h"

// What is known of a level since it was mapped; a buffer has one. What is in none of the three
// regions the GL alone has.
struct em_gl_level {
    struct em_gl_region have;   // the shadow has what the GL has
    struct em_gl_region dirty;  // CUDA has written it
    struct em_gl_region coming; // commands will write it that are not complete …
    struct em_gl_coming {
        const void *by; // … through this resource,
        unsigned uses;  // and so many of them
    } writes[EM_GL_BOXES_MAX];
    unsigned fetches;
    bool all; // `have` is everything: dirty boxes may grow over what is clean
};

struct em_gl_shadow {
    struct em_gl_named *named;  // the shadows of its object's name; NULL: it is not shared
    struct em_gl_shadow *older; // of the same name
    unsigned references;
    struct em_gl_object *object;
    struct em_graphics_shape shape;
    const struct em_device *device;
    struct em_graphics_memory *memory; // a reference
    uint64_t address;                  // device address of its first byte
    struct dm_layout layout;           // of an image: linear rows
    uint64_t size_B;                   // of a buffer; 0: an image
    unsigned level_count;              // that the object has; CUDA may show more
    struct em_gl_level *levels;
    unsigned maps; // by how many resources it is mapped
    bool keep;     // one of them at least is not for reading only: what CUDA writes goes to the GL
    bool busy;     // a thread moves bytes, and does not hold em_lock
    uint64_t mapped_size_B; // a buffer's size when it was first written since it was mapped; 0: it
                            // has not been
    bool said_resized, said_refused;
    uint64_t to_cuda_B, to_graphics_B; // moved since it was made
};

// The shadow of an object that CUDA shows on `device` as `shape` says: one that is there, to which
// a reference is taken, or a new one. The object is the shadow's from then on, also on failure.
// Precondition: em_lock NOT held.
CUresult em_gl_shadow_open(struct em_gl_object *object, const struct em_graphics_shape *shape,
                           const struct em_device *device, struct em_gl_shadow **out);

// Everything that follows: precondition: em_lock held.

void em_gl_shadow_unref(struct em_gl_shadow *shadow);

// A resource is mapped: from now on CUDA may touch the object. Where no other one has it mapped the
// GL has the newest bytes. Silicon (recorded: buffer/flags-1-0, flags-1-1): what is written through
// a READ_ONLY mapping reaches OpenGL if another mapping of the object is none (`keep`).
void em_gl_shadow_map(struct em_gl_shadow *shadow, bool keep);
// What the GL has is not wanted: nothing is fetched any more until the next map. False: others have
// the shadow mapped, and want it.
bool em_gl_shadow_discard(struct em_gl_shadow *shadow);
// In what follows `by` stands for one of the resources.
// A command is about to read or write a box of a level (NULL: any byte): fetches the bytes that it
// needs from OpenGL. May release em_lock meanwhile.
void em_gl_shadow_make_resident(struct em_gl_shadow *shadow, const void *by, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode);
// A write of such a box has ended. `complete` is false if it failed or never ran.
void em_gl_shadow_end_write(struct em_gl_shadow *shadow, const void *by, unsigned level,
                            const struct em_gl_box *box, bool complete);
// Waits until no other thread moves bytes; em_lock is released meanwhile.
void em_gl_shadow_wait(struct em_gl_shadow *shadow);
// A resource is unmapped: what CUDA has written goes to the GL, or (`push` false) does not. False:
// the GL did not take it, which has been told. em_lock may be released meanwhile with `push`.
bool em_gl_shadow_unmap(struct em_gl_shadow *shadow, const void *by, bool push);
