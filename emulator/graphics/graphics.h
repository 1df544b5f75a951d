// SPDX-License-Identifier: MIT
// Graphics resources: objects of a graphics API (a backend) that were registered with CUDA, and the
// state machine of mapping and unmapping them.
//
// graphics.c owns what the program sees of a CUgraphicsResource: flags, the mapped state,
// duplicates, the arrays of layers and levels, poison, and the order of the streams. A backend
// (OpenGL; the virtual graphics API) owns the graphics object, and does five things with it through
// em_graphics_ops. This is a resource's life:
//
//     register   The backend checks its own object and the flags that are its own, fills
//     em_graphics_shape, and calls em_graphics_register. Where
//                shape.physical is NULL the core makes device memory for the bytes (a mirror); else
//                CUDA sees the graphics object's own bytes in place, and nothing is ever copied.
//     map        For each resource, before anything has changed: ops->check. Then ops->flush once
//     for each backend in the call, in the calling
//                thread, em_lock not held: graphics work issued before is complete when it returns.
//                Then the resource is mapped; ops->acquire follows.
//     access     A command that reads or writes a mapped resource is submitted: ops->access with
//     the
//                part of it, then ops->make_resident with the same part (em_lock not held). When a
//                write has completed or failed, ops->written.
//     unmap      Handles end at once; ops->release comes when all CUDA work that was in the stream
//     is complete. unregister ops->close: also when the context ends, and then also while it is
//     mapped (ops->release comes before it).
//
// When acquire and release run depends on whether later graphics work can be held back:
//   - ops->held_back false (OpenGL: nobody can stop the program's next GL call): acquire runs in
//   cuGraphicsMapResources itself, and
//     cuGraphicsUnmapResources returns only when the stream's work is complete and release has run.
//   - ops->held_back true (the virtual API, whose commands wait by themselves): both are commands
//   of the stream, asynchronous; `ready` says when
//     acquire may run.
// An access never comes before acquire where held_back is false; where it is true it may, and then
// the bytes are not to be looked at yet.
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

// What CUDA shows of a graphics object; it stays what it was at registration.
struct em_graphics_shape {
    enum em_graphics_kind kind;
    uint64_t size_B; // of a buffer

    // Of an image: level 0 in texels.
    uint32_t width, height; // height 0: one-dimensional
    uint32_t depth;         // slices of a 3D image, else 0
    uint32_t layers;        // 0: not layered; a cube has 6
    bool cube;
    uint32_t levels;      // that can be asked for
    uint32_t first_level; // what the graphics API calls the first one, and so
                          // cuGraphicsSubResourceGetMappedArray
    CUarray_format format;
    unsigned channels;
    uint32_t element_B;
    enum dm_layout_kind layout; // how the bytes lie that CUDA sees
    // An EGL image: CUDA has it from registration until it is unregistered, and mapping it is
    // CUDA_ERROR_UNKNOWN; arrayIndex and mipLevel are not looked at. `egl_format` is the
    // CUeglColorFormat of its frame.
    bool standing;
    unsigned egl_format;

    // The graphics object's own bytes, from `physical_offset` on, laid out as above: a reference is
    // taken. NULL: there is a mirror.
    struct dm_physical *physical;
    uint64_t physical_offset;
    // The backend's own memory for a mirror, which several resources may have: a reference is
    // taken. NULL: the core makes it.
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

// How a graphics object fares at map.
enum em_graphics_health {
    EM_GRAPHICS_FINE,
    EM_GRAPHICS_RESIZED, // not of the shape that was registered: G14
    EM_GRAPHICS_DELETED, // the program has deleted it: G13; its bytes may live on
    EM_GRAPHICS_LOST,    // it cannot be reached any more (display closed): the call fails
};

struct em_graphics_ops {
    const char *api; // "OpenGL", "the virtual graphics API": for sentences
    bool held_back;

    // em_lock NOT held; the calling thread's graphics work is completed. A failure is the result of
    // cuGraphicsMapResources. NULL: nothing to do.
    CUresult (*flush)(void);

    // em_lock NOT held. Whether the calling thread may unmap and unregister; the result of those
    // calls where it may not. NULL: every thread may.
    CUresult (*present)(void);

    // `owner` is what em_graphics_register was given. NULL: nothing to do (check: fine; ready:
    // always).

    // em_lock NOT held.
    enum em_graphics_health (*check)(void *owner);
    // em_lock NOT held. Fetches the bytes that a command needs before it is submitted. `part` NULL:
    // any byte, by code that cannot be watched.
    void (*make_resident)(void *owner, const struct em_graphics_part *part,
                          enum em_access_mode mode);

    // All that follow: precondition: em_lock held.

    // How the object is called in sentences: "buffer 7".
    const char *(*text)(void *owner, char *out, size_t room);
    // Told when the state changes, at the calls themselves. What `mapped` returns (0 where it is
    // NULL) goes to that mapping's ready and acquire: up to where graphics work was issued before.
    uint64_t (*mapped)(void *owner);
    void (*unmapped)(void *owner);
    // Of held_back: whether that work is done, or can be done now, so that acquire may run.
    bool (*ready)(void *owner, uint64_t fence);
    // From now on CUDA may use the bytes, which are as graphics work has left them. flags:
    // CU_GRAPHICS_MAP_RESOURCE_FLAGS_* in force for this mapping: those of
    // cuGraphicsResourceSetMapFlags, and before its first call those of registration.
    CUresult (*acquire)(void *owner, uint64_t fence, unsigned flags);
    // A command is about to use a part. NULL: any byte, by code that cannot be watched.
    void (*access)(void *owner, const struct em_graphics_part *part, enum em_access_mode mode);
    // A command that writes a part has completed; if `result` is an error it has failed, or never
    // ran.
    void (*written)(void *owner, const struct em_graphics_part *part, CUresult result);
    // What graphics has left there is not wanted: nothing needs to be fetched in this mapping.
    // NULL: nothing is fetched anyway. False: another mapping still needs it.
    bool (*discard)(void *owner);
    // CUDA is done with mapping `sequence`, counted from 1. keep: what it has written goes to the
    // graphics object, unless the mapping is READ_ONLY; else graphics must never see it. em_lock
    // may be released meanwhile where `keep` is set and `held_back` is not.
    CUresult (*release)(void *owner, uint64_t sequence, bool keep);
    // How many bytes have been copied so far, for the report at exit. NULL: none ever are.
    void (*copied)(void *owner, uint64_t *to_cuda_B, uint64_t *to_graphics_B);
    // The resource is gone.
    void (*close)(void *owner);
};

// How the bytes of an image lie that CUDA shows so. Fails where it has none of that shape.
CUresult em_graphics_layout(const struct em_graphics_shape *shape, struct dm_layout *out);

// Registers an object in the current context. `flags`: CU_GRAPHICS_REGISTER_FLAGS_*, checked here
// (a buffer takes NONE, READ_ONLY or WRITE_DISCARD; an image any of the four bits) by
// em_graphics_check_flags, which a backend may call before it looks at its own object. On failure
// `owner` stays the caller's and ops->close is not called. Takes the lock: precondition: em_lock
// NOT held.
CUresult em_graphics_register(const struct em_graphics_ops *ops, void *owner,
                              const struct em_graphics_shape *shape, unsigned flags,
                              CUgraphicsResource *out);
CUresult em_graphics_check_flags(enum em_graphics_kind kind, unsigned flags);

// The entry points. NULL handles and lists are checked here; where a result goes is checked before.
// All take the lock.
// Whether a list names resources that can be mapped or unmapped. The driver checks the list before
// it looks for a context and a stream.
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

// Tells every mapped resource of the context that code is launched which may use any pointer,
// array, texture or surface of it, and makes their bytes resident. Takes the lock: precondition:
// em_lock not held.
void em_graphics_access_all(struct em_context *context, bool write);

// Observes the end of contexts: then bytes that CUDA has written to mapped resources are written
// back. Listens for synchronisation: then the same happens to resources that are never unmapped
// and to those that are used while they are not mapped, which `driver-580` allows; bytes that
// graphics writes from then on are seen by later work. Called when the driver starts.
// Precondition: em_lock NOT held.
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

// The backend's owner of a handle, if it is a resource of that backend; NULL otherwise.
// Precondition: em_lock held.
void *em_graphics_owner(CUgraphicsResource resource, const struct em_graphics_ops *ops);
