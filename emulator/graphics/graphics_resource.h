// SPDX-License-Identifier: MIT
// What the files of the graphics core share. Precondition of everything here, unless it says
// otherwise: em_lock held.
#pragma once
#include "array.h"
#include "condition.h"
#include "graphics.h"
#include "graphics_memory.h"
#include "memory.h"

// Notified when the bytes of a mapping have gone back to the graphics API: maps and unmaps wait for
// the mappings before them.
extern struct em_condition em_graphics_returned;

struct em_graphics {
    struct em_object object; // type EM_GRAPHICS
    const struct em_graphics_ops *ops;
    void *owner;
    struct em_graphics_shape shape;
    struct dm_layout layout; // of an image
    struct em_graphics_memory *memory;

    unsigned register_flags; // CU_GRAPHICS_REGISTER_FLAGS_*
    unsigned map_flags;      // CU_GRAPHICS_MAP_RESOURCE_FLAGS_*, for the next mapping
    bool mapped;
    // An unmap has failed at it: it is not mapped, but map and unregister treat it as mapped, as
    // the driver does.
    bool half_unmapped;
    // It is used while it is not mapped: CUDA has the bytes until the program next synchronises.
    bool implicit;
    uint64_t sequence;  // number of the last mapping, from 1
    uint64_t acquired;  // the last mapping whose bytes CUDA has got
    uint64_t released;  // the last mapping whose bytes graphics has got back, or is getting back
    unsigned releasing; // threads inside ops->release
    uint64_t fence;     // result of ops->mapped for the last mapping
    unsigned flags;     // of the last mapping: bits of register_flags and map_flags
    uint64_t mark;      // of the call that looks for duplicates
    // The lists of em_graphics_link.
    struct em_graphics *previous_mapped, *next_mapped, *previous_sync, *next_sync;
    bool in_sync_list;

    uint32_t journal; // its place in the report at exit

    // The program's view of the mapping. Under `manual` it ends at unmap, under `driver-580` with
    // the resource.
    struct em_graphics_window *window;
    struct em_allocation *allocation; // of a buffer
    struct em_storage *storage;       // of an image; NULL until the program asks for it
    struct em_storage **layer;        // the parts of the layers, likewise
    struct view_storage *spare;       // memory for the next storage, or NULL
    struct em_array **array;          // [layer * levels + level], likewise; a reference to each
    struct em_mipmap *mipmap;         // likewise

    // How the mapping is used (graphics_access.c).
    bool poisoned, reported_write, reported_read;
    // The mapping whose bytes must be poisoned when CUDA gets them, which may be after its unmap.
    uint64_t poison_sequence;
    unsigned writes; // by commands that have not completed
    // The bytes of a buffer that CUDA has written; of an image, written_end is 1 after a write.
    uint64_t written_first, written_end;
};

// Begins the program's view of a mapping: pointers and arrays work. Returns
// CUDA_ERROR_OUT_OF_MEMORY if it cannot.
CUresult em_graphics_view_begin(struct em_graphics *g);
// Ends it: pointers and arrays stop working.
void em_graphics_view_end(struct em_graphics *g);
// Does the work that had to wait for ops->acquire.
void em_graphics_view_acquired(struct em_graphics *g, uint64_t sequence);

// The part of the view that differs for buffers (graphics_pointer.c).
CUresult em_graphics_pointer_begin(struct em_graphics *g);

// How accesses of a mapped resource are watched, for both kinds of views. An access keeps the
// resource and the window that it goes through, because its command may end after the program has
// unmapped or unregistered the resource.
void em_graphics_watch_begin(struct em_access *access, struct em_graphics *g);
void em_graphics_watch_end(struct em_access *access, const struct em_graphics_part *part,
                           enum em_access_mode mode, CUresult result);
// The window that an access under watch goes through. em_lock need not be held.
struct em_graphics_window *em_graphics_watch_window(const struct em_access *access);

// A command is about to use a part of a resource; NULL if code that cannot be watched may use any
// part. Returns whether em_graphics_make_resident must run before the command does. The caller
// holds a reference until the end.
bool em_graphics_access_begin(struct em_graphics *g, const struct em_graphics_part *part,
                              enum em_access_mode mode);
// Has the backend fetch the bytes that the command needs (em_watch_ops.make_resident).
// Precondition: em_lock not held.
void em_graphics_make_resident(struct em_graphics *g, const struct em_graphics_part *part,
                               enum em_access_mode mode, bool may_wait);
// Has the backend do the work of a copy of the part (em_watch_ops.copy_directly). Precondition:
// em_lock not held.
bool em_graphics_copy_directly(struct em_graphics *g, const struct em_graphics_part *part,
                               enum em_access_mode mode, const struct em_rows *rows);
// The command has ended. `part` is NULL if the addresses that it used have ended before it: the
// backend counted the write as complete when it took the bytes back, or if it was copied directly.
void em_graphics_access_end(struct em_graphics *g, const struct em_graphics_part *part,
                            enum em_access_mode mode, CUresult result);

// The resource of a handle.
CUresult em_graphics_get(CUgraphicsResource handle, struct em_graphics **out);
// "CUgraphicsResource #3 (the virtual graphics API's buffer 7)". em_lock need not be held.
const char *em_graphics_text(const struct em_graphics *g, char *out, size_t size);

// Maps a resource. If graphics work cannot be held back, this includes acquire. On failure the
// resource stays unmapped.
CUresult em_graphics_begin(struct em_graphics *g);
// Unmaps it; under `manual` the program's view ends. The caller releases the bytes separately.
void em_graphics_end(struct em_graphics *g);
// Acquires a resource that is used although it is not mapped, as the driver allows: CUDA has the
// bytes until the program next synchronises. Returns false if the resource cannot be used so.
bool em_graphics_begin_implicit(struct em_graphics *g);
// Ends that. The caller releases the bytes separately.
void em_graphics_end_implicit(struct em_graphics *g);

// A resource is in one list while it is mapped or implicitly acquired, and also in a second one if
// its bytes are written back when the program synchronises.
void em_graphics_link(struct em_graphics *g);
void em_graphics_unlink(struct em_graphics *g);

// ops->acquire and ops->release of one mapping. A mapping is released once: later calls do nothing.
// With `write_back` em_lock may be released meanwhile.
CUresult em_graphics_acquire(struct em_graphics *g, uint64_t sequence, uint64_t fence,
                             unsigned flags);
CUresult em_graphics_release(struct em_graphics *g, uint64_t sequence, bool write_back);
// Writes back a resource that is persistent or implicitly acquired. May release em_lock; the caller
// holds a reference.
void em_graphics_write_back(struct em_graphics *g);
