// SPDX-License-Identifier: MIT
// Mirrors: the device memory that stands for a GL object while it is mapped, and which of its bytes are newer on which side. Bytes move when CUDA
// first touches them (a buffer in up to 64 pieces, an image by levels), and back at unmap where CUDA wrote; what neither side uses never moves.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "gl_object.h"
#include "graphics.h"
#include "touch.h"

enum { EM_GL_PARTS_MAX = 8 };

// Boxes of a level, which may overlap: together what was written, and no more as long as there are no more of them.
struct em_gl_dirty {
    unsigned count;
    struct em_gl_box box[EM_GL_PARTS_MAX];
};

// Ranges of a buffer likewise.
struct em_gl_ranges {
    unsigned count;
    struct em_gl_range {
        uint64_t first, end;
    } range[EM_GL_PARTS_MAX];
};

// All resources of one object and one shape have one mirror, as on a card they have one memory.
struct em_gl_mirror {
    struct em_gl_mirror *next;
    unsigned references;
    struct em_gl_object *object;
    struct em_graphics_shape shape;
    const struct em_device *device;
    struct em_graphics_memory *memory; // a reference
    uint64_t address;                  // device address of its first byte
    struct dm_layout layout;           // of an image: linear rows
    uint64_t size_B;                   // of a buffer; 0: an image
    unsigned maps;                     // by how many resources it is mapped
    bool keep;                         // one of them at least is not for reading only: what CUDA writes goes to the GL
    // Since it was mapped first, in level (a buffer: [0]): which pieces have the GL's bytes, a bit each (an image is one piece, all bits), and how
    // many writes of all of it make those needless.
    uint64_t fetched[EM_GL_LEVELS_MAX];
    uint32_t overwrites[EM_GL_LEVELS_MAX];
    struct em_gl_dirty dirty[EM_GL_LEVELS_MAX]; // what CUDA has written since then
    struct em_gl_ranges written;                // the same of a buffer
    uint64_t mapped_size_B;                     // a buffer's size when it was first touched since it was mapped; 0: not touched yet
    bool said_resized, said_refused;
    uint64_t to_cuda_B, to_graphics_B; // moved since it was made
};

// The mirror of an object that CUDA shows on `device` as `shape` says: one that is there, to which a reference is taken, or a new one. The object is
// the mirror's from then on, also on failure. Precondition: em_lock NOT held.
CUresult em_gl_mirror_open(struct em_gl_object *object, const struct em_graphics_shape *shape, const struct em_device *device,
                           struct em_gl_mirror **out);
// Precondition: em_lock held.
void em_gl_mirror_unref(struct em_gl_mirror *mirror);

// A resource is mapped: from now on CUDA may touch the object. Where no other one has it mapped the GL has the newest bytes. Silicon (recorded:
// buffer/flags-1-0, flags-1-1): what is written through a READ_ONLY mapping reaches OpenGL if another mapping of the object is none (`keep`).
void em_gl_mirror_map(struct em_gl_mirror *mirror, bool keep);
// CUDA is about to read or write these bytes, or is done with a write: they are fetched where they must be. Nothing while the mirror is
// not mapped. May be called with em_lock held.
void em_gl_mirror_touch(struct em_gl_mirror *mirror, uint64_t offset, uint64_t size, enum em_touch touch);
void em_gl_mirror_touch_box(struct em_gl_mirror *mirror, unsigned level, const struct em_gl_box *box, enum em_touch touch);
// The same of all bytes: code is about to run that may do anything with them.
void em_gl_mirror_touch_all(struct em_gl_mirror *mirror, enum em_touch touch);
// What the GL has is not wanted: nothing is fetched any more until the next map. False: others have the mirror mapped, and want it.
bool em_gl_mirror_discard(struct em_gl_mirror *mirror);
// A resource is unmapped: what CUDA has written goes to the GL, or (`push` false) does not. False: the GL did not take it, which has been told.
bool em_gl_mirror_unmap(struct em_gl_mirror *mirror, bool push);
