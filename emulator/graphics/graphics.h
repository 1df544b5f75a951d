// SPDX-License-Identifier: MIT
// Graphics resources: objects of a graphics API (a backend) that are registered with CUDA, and the
// state machine that maps and unmaps them.
//
// The core (graphics*.c) owns the parts of a CUgraphicsResource that the program sees: flags, the
// mapped state, duplicates, the arrays of layers and levels, poison, and the order in streams. A
// backend (OpenGL, the virtual graphics API) owns the graphics object. The core calls it through
// em_graphics_ops:
//
//   registration   The backend checks its object and its own flags, fills em_graphics_shape and
//                  calls em_graphics_register. If shape.physical is NULL, CUDA gets device memory
//                  of its own (a shadow buffer). Otherwise CUDA sees the graphics object's own
//                  bytes, and nothing is ever copied.
//   map            ops->check for each resource, before any state changes. Then ops->flush once for
//                  each backend in the list, in the calling thread, without em_lock: graphics work
//                  that was issued before has completed when it returns. Then the resources are
//                  mapped, and ops->acquire follows.
//   access         Before a command that uses a mapped resource is submitted: ops->access with the
//                  part that it uses, then ops->make_resident with the same part, without em_lock.
//                  After a write has completed or failed: ops->written.
//   unmap          Handles end at once. ops->release follows when all CUDA work that was in the
//                  stream has completed.
//   end            ops->close, when the resource is unregistered or its context ends. If it is
//                  still mapped then, ops->release comes first.
//
// The time of acquire and release depends on whether later graphics work can be held back:
//
//   held_back      (The virtual graphics API, whose commands can wait.) Both are commands in the
//                  stream and asynchronous. `ready` says when acquire may run. An access may come
//                  before acquire; the backend must not look at the bytes yet.
//   not held_back  (OpenGL: nothing can stop the program's next GL call.) acquire runs inside
//                  cuGraphicsMapResources. cuGraphicsUnmapResources returns when the stream's work
//                  has completed and release has run. An access never comes before acquire.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "layout.h"
#include "object.h"

struct em_allocation;
struct em_graphics;
struct em_graphics_memory;
struct em_stream;
struct em_storage;
struct dm_block;
struct dm_physical;

enum em_graphics_kind { EM_GRAPHICS_BUFFER, EM_GRAPHICS_IMAGE };

// How CUDA shows a graphics object. Fixed at registration.
struct em_graphics_shape {
    enum em_graphics_kind kind;
    uint64_t size_B; // of a buffer

    // Of an image: level 0 in texels.
    uint32_t width, height; // height 0: one-dimensional
    uint32_t depth;         // slices of a 3D image, else 0
    uint32_t layers;        // 0: not layered; a cube has 6
    bool cube;
    uint32_t levels;      // that CUDA shows
    uint32_t first_level; // number of the first one in the graphics API and in
                          // cuGraphicsSubResourceGetMappedArray
    CUarray_format format;
    unsigned channels;
    uint32_t element_B;
    enum dm_layout_kind layout; // of the bytes that CUDA sees
    // An EGLImage: mapped from registration until it is unregistered. Mapping it is
    // CUDA_ERROR_UNKNOWN, and arrayIndex and mipLevel are ignored. `egl_format` is the
    // CUeglColorFormat of its frame.
    bool persistent;
    unsigned egl_format;

    // The graphics object's own bytes, which begin at `physical_offset` and have the layout above.
    // The resource takes a reference. NULL: there is a shadow buffer.
    struct dm_physical *physical;
    uint64_t physical_offset;
    // The backend's memory for a shadow buffer, which several resources may share. The resource
    // takes a reference. NULL: the core makes it.
    struct em_graphics_memory *memory;
};

// A part of a resource that CUDA is about to use: of a buffer bytes [offset_B, offset_B + size_B),
// of an image a box of one level, in texels; z is the slice, layer or face. Extents that the image
// does not have count as 1.
struct em_graphics_part {
    uint64_t offset_B, size_B;
    uint32_t level;
    uint32_t x, y, z, width, height, depth;
};

// Status of a graphics object, checked when it is mapped.
enum em_graphics_status {
    EM_GRAPHICS_OK,
    EM_GRAPHICS_RESIZED, // its shape differs from the registered one (G14)
    EM_GRAPHICS_DELETED, // the program has deleted it (G13); its bytes may live on
    EM_GRAPHICS_LOST,    // its display is closed, so the call fails
};

struct em_graphics_ops {
    const char *api; // for messages: "OpenGL", "the virtual graphics API"
    bool held_back;

    // Any function may be NULL if there is nothing to do. `owner` is the one that was passed to
    // em_graphics_register.

    // The object's name in messages: "buffer 7". em_lock may be held, so this reads only what never
    // changes after registration.
    const char *(*text)(void *owner, char *out, size_t capacity);

    // Precondition of the next five: em_lock not held.

    // Completes the calling thread's graphics work. A failure is the result of
    // cuGraphicsMapResources.
    CUresult (*flush)(void);
    // Whether the calling thread may unmap and unregister. A failure is the result of those calls.
    // NULL: every thread may.
    CUresult (*present)(void);
    // NULL: always EM_GRAPHICS_OK.
    enum em_graphics_status (*check)(void *owner);
    // Fetches the bytes that a command needs before it is submitted. `part` is NULL if code that
    // cannot be watched may access any byte.
    void (*make_resident)(void *owner, const struct em_graphics_part *part,
                          enum em_access_mode mode);
    // Copies a part, which is mapped, between the graphics object and linear memory, and to the
    // object if `write` is set. Returns false if CUDA may have newer bytes than the object, or if
    // the copy is not complete. NULL: never does that.
    bool (*copy_directly)(void *owner, const struct em_graphics_part *part, bool write,
                          const struct em_rows *rows);

    // Precondition of all that follow: em_lock held.

    // Called by the map and unmap calls themselves. `mapped` returns a fence for the graphics work
    // that was issued before (0 if `mapped` is NULL); it is passed to `ready` and `acquire` of this
    // mapping.
    uint64_t (*mapped)(void *owner);
    void (*unmapped)(void *owner);
    // held_back only: whether the work before the fence has completed, or can complete now.
    bool (*ready)(void *owner, uint64_t fence);
    // Hands the bytes to CUDA, as graphics work has left them. `flags` are the
    // CU_GRAPHICS_MAP_RESOURCE_FLAGS_* of this mapping: those of cuGraphicsResourceSetMapFlags, or
    // of registration if that was never called.
    CUresult (*acquire)(void *owner, uint64_t fence, unsigned flags);
    // A command is about to use a part; NULL as for make_resident.
    void (*access)(void *owner, const struct em_graphics_part *part, enum em_access_mode mode);
    // A command that writes a part has completed; if `result` is an error it has failed, or never
    // ran.
    void (*written)(void *owner, const struct em_graphics_part *part, CUresult result);
    // Drops the object's contents: nothing is fetched in this mapping. Returns false if another
    // mapping still needs them. NULL: nothing is ever fetched.
    bool (*discard)(void *owner);
    // Ends mapping `sequence`, counted from 1. If `write_back` is set, CUDA's writes go to the
    // graphics object unless the mapping is READ_ONLY; otherwise graphics must never see them. May
    // release em_lock if `write_back` is set and `held_back` is not.
    CUresult (*release)(void *owner, uint64_t sequence, bool write_back);
    // Whether there is nothing to write back, so that `release` would do it at once, without
    // releasing em_lock. NULL: no.
    bool (*is_clean)(void *owner);
    // The bytes copied so far, for the report at exit. NULL: nothing is ever copied.
    void (*copied)(void *owner, uint64_t *to_cuda_B, uint64_t *to_graphics_B);
    // The resource has ended.
    void (*close)(void *owner);
};

// The layout of an image of this shape. Returns an error if CUDA has no such images.
CUresult em_graphics_layout(const struct em_graphics_shape *shape, struct dm_layout *out);

// Registers an object in the current context. Checks `flags` (CU_GRAPHICS_REGISTER_FLAGS_*) with
// em_graphics_check_flags, which a backend may also call before it looks at its object: a buffer
// takes NONE, READ_ONLY or WRITE_DISCARD, an image any of the four bits. On failure the caller
// keeps `owner`, and ops->close is not called. Takes em_lock. Precondition: em_lock not held.
CUresult em_graphics_register(const struct em_graphics_ops *ops, void *owner,
                              const struct em_graphics_shape *shape, unsigned flags,
                              CUgraphicsResource *out);
CUresult em_graphics_check_flags(enum em_graphics_kind kind, unsigned flags);

// The entry points. They check handles and lists for NULL; the caller has checked the addresses of
// results. All take em_lock.

// Checks that a list names resources that can be mapped or unmapped. The driver checks the list
// before it looks for a context and a stream.
CUresult em_graphics_check_list(unsigned count, const CUgraphicsResource *resources);
CUresult em_graphics_map(unsigned count, const CUgraphicsResource *resources,
                         struct em_stream *stream);
CUresult em_graphics_unmap(unsigned count, const CUgraphicsResource *resources,
                           struct em_stream *stream);
CUresult em_graphics_pointer(CUgraphicsResource resource, CUdeviceptr *address,
                             size_t *size); // both may be NULL
CUresult em_graphics_array(CUgraphicsResource resource, unsigned index, unsigned level,
                           CUarray *out);
CUresult em_graphics_mipmap(CUgraphicsResource resource, CUmipmappedArray *out);
CUresult em_graphics_set_flags(CUgraphicsResource resource, unsigned flags);
CUresult em_graphics_unregister(CUgraphicsResource resource);

// Code is about to be launched that may use any pointer, array, texture or surface of the context:
// counts as an access of all its mapped resources, and makes their bytes resident. Takes em_lock.
// Precondition: em_lock not held.
void em_graphics_access_all(struct em_context *context, bool write);

// Called when the driver starts. Writes CUDA's bytes back when a context ends, to all its mapped
// resources, and when the program synchronises, to persistent resources and to those that are
// acquired implicitly, because `driver-580` lets programs use them while they are not mapped. Later
// CUDA work sees the bytes that graphics has written by then. Precondition: em_lock not held.
void em_graphics_start(void);

// A resource that is a frame of a stream. It is mapped from the time it is acquired until it is
// released, and CUDA shows its planes instead of one pointer or one list of arrays.
struct em_graphics_frame;
struct em_graphics_frame_ops {
    // Whether the planes are arrays; else they are pitched memory. Precondition: em_lock held.
    bool (*has_arrays)(const struct em_graphics_frame *frame);
};
struct em_graphics_frame {
    struct em_object object; // type EM_EGL_FRAME
    const struct em_graphics_frame_ops *ops;
};
// The frame of a handle, or NULL if the handle is not a frame's. Precondition: em_lock held.
struct em_graphics_frame *em_graphics_frame(CUgraphicsResource resource);

// The owner of a resource, or NULL if the handle is not a resource of this backend.
// Precondition: em_lock held.
void *em_graphics_owner(CUgraphicsResource resource, const struct em_graphics_ops *ops);
