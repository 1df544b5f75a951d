// SPDX-License-Identifier: MIT
// What the files of the graphics chapter share. Everything here: precondition: em_lock held.
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
    bool stuck; // an unmap that failed has left it between both: it is not mapped, but map and
                // unregister find that it is (silicon)
    bool loose; // not mapped, but used all the same: CUDA has the bytes until the program next
                // waits for its work
    uint64_t sequence;  // of the last mapping, from 1
    uint64_t acquired;  // the last mapping whose bytes are CUDA's
    uint64_t released;  // the last one that graphics has back, or gets just now: then
    unsigned releasing; // threads are in ops->release
    uint64_t fence;     // what the backend said when it was mapped
    unsigned flags;     // in force for that mapping: bits of register_flags and map_flags
    uint64_t mark;      // of the call that looks for duplicates
    struct em_graphics *previous_mapped, *next_mapped;

    uint32_t journal; // its place in the report at exit

    // What the program has of the mapping; under `manual` it ends at unmap, under `driver-580` with
    // the resource.
    struct em_graphics_window *window;
    struct em_allocation *allocation; // of a buffer
    struct em_storage *storage;       // of an image; NULL: not asked for yet
    struct em_storage **layer;        // each layer's part of it
    struct em_array **array;  // [layer * levels + level]: what was asked for, with a reference
    struct em_mipmap *mipmap; // likewise

    // How the mapping was used (graphics_access.c).
    bool scrambled, said_written, said_read;
    uint64_t spoil; // the mapping whose bytes are to be scrambled when they are CUDA's; it may have
                    // been unmapped before
    unsigned writes; // by commands that are not complete
    uint64_t written_first,
        written_end; // of a buffer; of an image: written_end is not 0 once anything was written
};

// The part of a mapping that makes pointers and arrays work. Fails with CUDA_ERROR_OUT_OF_MEMORY.
CUresult em_graphics_view_begin(struct em_graphics *g);
// They stop working.
void em_graphics_view_end(struct em_graphics *g);
// acquire has run: what was put off until then.
void em_graphics_view_acquired(struct em_graphics *g, uint64_t sequence);

// A command is about to use a part of a resource; NULL: any part, by code that cannot be watched.
// Returns whether em_graphics_make_resident must run before the command does. The caller holds a
// reference until the end.
bool em_graphics_access_begin(struct em_graphics *g, const struct em_graphics_part *part,
                              enum em_access_mode mode);
// Has the backend fetch the bytes that the command needs (em_watch_ops.make_resident).
// Precondition: em_lock not held.
void em_graphics_make_resident(struct em_graphics *g, const struct em_graphics_part *part,
                               enum em_access_mode mode, bool may_wait);
// The command has ended. `part` is NULL if the addresses that it used have ended before it: the
// backend counted the write as complete when it took the bytes back.
void em_graphics_access_end(struct em_graphics *g, const struct em_graphics_part *part,
                            enum em_access_mode mode, CUresult result);

// The resource of a handle.
CUresult em_graphics_get(CUgraphicsResource handle, struct em_graphics **out);
// "CUgraphicsResource #3 (the virtual graphics API's buffer 7)".
const char *em_graphics_text(const struct em_graphics *g, char *out, size_t room);

// Makes a resource mapped; where graphics work cannot be held back, acquire has run afterwards. On
// failure it is unmapped as before.
CUresult em_graphics_begin(struct em_graphics *g);
// Makes it unmapped; what the program has of it may end. The bytes are given back separately.
void em_graphics_end(struct em_graphics *g);
// A resource that is not mapped is used, as the driver allows: CUDA takes the bytes until the
// program waits. False: not this one.
bool em_graphics_loosen(struct em_graphics *g);

// The list of resources that are mapped or loose.
void em_graphics_link(struct em_graphics *g);
void em_graphics_unlink(struct em_graphics *g);
// A loose resource is loose no more; its bytes are given back separately.
void em_graphics_tighten(struct em_graphics *g);

// acquire and release of one mapping. Each mapping is given back once: later calls do nothing. With
// `keep` em_lock may be released meanwhile.
CUresult em_graphics_take(struct em_graphics *g, uint64_t sequence, uint64_t fence, unsigned flags);
CUresult em_graphics_give_back(struct em_graphics *g, uint64_t sequence, bool keep);
// What CUDA has written to a loose or standing resource goes to graphics. em_lock may be released
// meanwhile; the caller has a reference.
void em_graphics_settle_one(struct em_graphics *g);

// Counts resources whose bytes are written back when the program synchronises. `change`: 1 or -1.
void em_graphics_count_standing(int change);
