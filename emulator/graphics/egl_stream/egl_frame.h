// SPDX-License-Identifier: MIT
// Frames of EGL streams: the frame that is kept while it is in a stream, and the consumer's view of
// it. Precondition of everything here: em_lock held.
#pragma once
#include "array.h"
#include "condition.h"
#include "egl_stream.h"
#include "graphics.h"
#include "hash_table.h"

struct dm_physical;
struct em_allocation;
struct em_graphics_memory;

enum {
    EM_EGL_PLANES_MAX = 3,
    EM_EGL_KEY_WORDS = 10 // an even number, so that the key has no padding
};

// The bytes of a plane.
struct em_egl_plane {
    struct em_storage *storage; // of an array: a reference
    uint32_t level;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    // Of pitched memory: a reference. NULL: host memory, which the consumer sees at its own
    // address.
    struct dm_physical *physical;
    uint64_t offset_B; // of the plane's first byte
    uint64_t have_B;   // from there to the end of the allocation
    bool whole;        // it begins with its allocation
};

// The fields by which the driver tells frames apart: the same memory with another size, or with
// another plane, is another frame. Planes beyond the number of planes are 0. Compared as bytes.
struct em_egl_key {
    uint64_t plane[EM_EGL_PLANES_MAX];
    unsigned rest[EM_EGL_KEY_WORDS]; // from `width` on
};

// A frame between its presentation and its return.
struct em_egl_kept {
    unsigned references;
    struct em_egl_frame data; // as the producer gave it
    struct em_egl_key key;
    UT_hash_handle hh; // in the stream's table of frames
    bool listed;       // it is in that table
    struct em_egl_plane plane[EM_EGL_PLANES_MAX];
    bool ready;                  // the producer's work on it is complete
    bool held;                   // the consumer has acquired it
    unsigned releases;           // by the consumer, in whose streams work on it may still wait
    struct em_condition changed; // commands that wait for `ready`, or until `releases` is 0
    struct em_egl_kept *next;
};

// Checks a frame by the rules of cuEGLStreamProducerPresentFrame and keeps its planes.
CUresult em_egl_keep(const struct em_egl_frame *frame, struct em_egl_kept **out);
void em_egl_unref(struct em_egl_kept *kept);

// A consumer's view of all frames that show the same memory: a resource, with addresses and arrays
// of its own for the producer's bytes.
struct em_egl_view {
    struct em_graphics_frame frame;
    const void *owner; // the connection
    struct em_egl_key key;
    UT_hash_handle hh; // in the connection's table of views
    struct em_egl_frame data, shown;
    struct em_graphics_memory *memory[EM_EGL_PLANES_MAX];
    struct em_allocation *allocation[EM_EGL_PLANES_MAX];
    struct em_array *array[EM_EGL_PLANES_MAX];
    struct em_egl_kept *kept; // the acquired frame: a reference; NULL: it was released
};

// Opens a view in a context. CUDA_ERROR_INVALID_VALUE: the frame is larger than the memory it lies
// in.
CUresult em_egl_view_open(struct em_context *context, const void *owner,
                          const struct em_egl_kept *kept, struct em_egl_view **out);
// Ends its handles, addresses and arrays; commands that are in a stream go on working.
void em_egl_view_end(struct em_egl_view *view);
