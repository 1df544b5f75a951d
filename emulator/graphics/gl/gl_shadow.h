// SPDX-License-Identifier: MIT
// Shadow buffers: device memory that stands in for a mapped OpenGL object.
//
// A shadow tracks, for each mip level, which bytes are valid on the CUDA side and which bytes CUDA
// has modified. Bytes are copied from OpenGL the first time CUDA reads them, and copied back at
// unmap if CUDA wrote them. Bytes that neither side uses are never copied.
//
// All resources registered for the same object with the same shape share one shadow, because on a
// card they share the same memory.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "gl_object.h"
#include "graphics.h"

// Transfer state of one mip level since it was mapped. A buffer has a single level. Bytes outside
// all three regions are valid in OpenGL only.
struct em_gl_level {
    struct em_gl_region valid;   // the shadow matches OpenGL
    struct em_gl_region dirty;   // CUDA has written; copied back at unmap
    struct em_gl_region pending; // submitted commands will write here
    // The writers of each pending box.
    struct em_gl_pending {
        const void *resource;
        unsigned commands;
    } writers[EM_GL_BOXES_MAX];
    unsigned fetches;
    bool fully_valid; // `valid` covers the level, so dirty boxes may be merged generously
};

struct em_gl_shadow {
    struct em_gl_named *named;  // the shadows of its object's name; NULL: it is never shared
    struct em_gl_shadow *older; // of the same name
    unsigned references;
    struct em_gl_object *object;
    struct em_graphics_shape shape;
    const struct em_device *device;
    struct em_graphics_memory *memory; // a reference
    uint64_t address;                  // device address of its first byte
    struct dm_layout layout;           // of an image: linear rows
    uint64_t size_B;                   // of a buffer; 0 for an image
    unsigned level_count;              // of the object; CUDA may show more
    struct em_gl_level *levels;
    unsigned maps;   // resources that map it
    bool write_back; // at least one of them is not READ_ONLY
    bool busy;       // a thread copies bytes without em_lock
    // A buffer's size at its first write since it was mapped; 0 before that.
    uint64_t mapped_size_B;
    bool reported_resized, reported_refused;
    uint64_t to_cuda_B, to_graphics_B; // copied since the shadow was made
};

// Returns the shadow for `object` on `device` with the given shape, and takes a reference. Creates
// the shadow if it does not exist. Takes ownership of `object`, also on failure. Precondition:
// em_lock not held.
CUresult em_gl_shadow_open(struct em_gl_object *object, const struct em_graphics_shape *shape,
                           const struct em_device *device, struct em_gl_shadow **out);

// Precondition of everything that follows: em_lock held.

void em_gl_shadow_unref(struct em_gl_shadow *shadow);

// Counts one more resource that maps this shadow. If it is the first one, the shadow starts out
// invalid because OpenGL holds the newest bytes. Pass write_back = false for READ_ONLY resources.
// On a card, writes through a READ_ONLY mapping still reach OpenGL if another resource maps the
// same object without READ_ONLY (recorded: buffer/flags-1-0, buffer/flags-1-1).
void em_gl_shadow_map(struct em_gl_shadow *shadow, bool write_back);
// Drops OpenGL's contents: nothing is fetched until the next map. Returns false if another resource
// still maps the shadow and needs the contents.
bool em_gl_shadow_discard(struct em_gl_shadow *shadow);
// Makes the bytes that an access needs valid in the shadow. `box` is NULL if the access may use
// any byte. `resource` identifies the resource that is used. May release em_lock while it copies.
void em_gl_shadow_make_resident(struct em_gl_shadow *shadow, const void *resource, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode);
// Copies a box of a level between the object and linear memory, and to the object if `write` is
// set. Returns false if the shadow has, or is about to get, bytes of the box, if the box is a small
// part of the level, or if OpenGL has not copied all of it. Releases em_lock while it copies.
bool em_gl_shadow_copy_directly(struct em_gl_shadow *shadow, unsigned level,
                                const struct em_gl_box *box, bool write,
                                const struct em_rows *rows);
// A write of such a box has ended. `complete` is false if it failed or never ran.
void em_gl_shadow_end_write(struct em_gl_shadow *shadow, const void *resource, unsigned level,
                            const struct em_gl_box *box, bool complete);
// Waits until no thread copies bytes. Releases em_lock meanwhile.
void em_gl_shadow_wait(struct em_gl_shadow *shadow);
// Whether CUDA has written nothing that OpenGL does not have. Precondition: em_lock held.
bool em_gl_shadow_is_clean(const struct em_gl_shadow *shadow);
// Removes one resource's mapping and, if `write_back` is set, copies CUDA's writes to OpenGL.
// Returns false if OpenGL rejected them; the diagnostic has already been reported. May release
// em_lock if `write_back` is set.
bool em_gl_shadow_unmap(struct em_gl_shadow *shadow, const void *resource, bool write_back);
