// SPDX-License-Identifier: MIT
// Checks copies and moves their bytes.
#include "copy.h"

#include <string.h>

#include "array.h"
#include "array_tiles.h"
#include "box.h"
#include "call.h"
#include "command.h"
#include "graphics.h"
#include "fault.h"
#include "guard.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "pkey.h"
#include "quirk.h"
#include "workers.h"
#include "stream.h"
#include "synchronised.h"

// From this size on the system calls of dm_guarded_foreign do not matter to a copy of the program's
// own memory.
enum { LARGE_PAGEABLE_B = 256 << 10 };
// The size of the driver's staging memory for pageable memory (recorded: staged_copies).
enum { STAGED_MOST_B = 2 << 20 };

// An end that has been checked.
struct place {
    struct dm_surface surface;
    struct dm_position at;
    struct em_storage *storage;   // of an array: referenced while the command lives
    uint32_t level;               // of it
    struct em_allocation *memory; // of linear memory that the driver knows; while em_lock is held
    bool pageable;
    bool may_fault; // somebody else may take the bytes away meanwhile
    bool watched;   // somebody wants to know when they are written
};

struct copy_command {
    struct em_command command;
    struct place dst, src;
    struct dm_box_extent extent;
};

// ---- checks

static CUresult too_far(const char *what, const char *why)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: %s", what, why);
}

// The bytes from the box's first to its last in linear memory. "srcPitch must be greater than or
// equal to WidthInBytes + srcXInBytes, and srcHeight must be greater than or equal to Height +
// srcY."
static CUresult linear_span(const struct em_end *end, const struct em_copy *c, const char *what,
                            struct place *place, uint64_t *first, uint64_t *span)
{
    uint64_t row_B, rows, slice_B, offset, t;
    if (!em_add(end->x_B, c->width_B, &row_B) || !em_add(end->y, c->height, &rows))
        return too_far(what, "the position wraps around 64 bits");
    uint64_t pitch_B = end->pitch_B ? end->pitch_B : row_B;
    if (pitch_B < row_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: a pitch of %llu bytes is less than x + width = %llu bytes", what,
                       (unsigned long long)pitch_B, (unsigned long long)row_B);
    if (end->rows && end->rows < rows)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: slices of %llu rows are less than y + height = %llu rows", what,
                       (unsigned long long)end->rows, (unsigned long long)rows);
    uint64_t slice_rows = end->rows ? end->rows : rows;
    // offset = z * slice + y * pitch + x, span = (depth - 1) * slice + (height - 1) * pitch +
    // width; rows that are not there cost no address.
    if (c->depth == 1 && !end->z)
        slice_B = 0;
    else if (!em_mul(pitch_B, slice_rows, &slice_B))
        return too_far(what, "slices wrap around 64 bits");
    if (c->height == 1 && !end->y)
        pitch_B = 0;
    if (!em_mul(end->z, slice_B, &offset) || !em_mul(end->y, pitch_B, &t) ||
        !em_add(offset, t, &offset) || !em_add(offset, end->x_B, &offset) ||
        !em_mul(c->depth - 1, slice_B, span) || !em_mul(c->height - 1, pitch_B, &t) ||
        !em_add(*span, t, span) || !em_add(*span, c->width_B, span) ||
        !em_add(end->address, offset, first) || !em_add(*first, *span, &t))
        return too_far(what, "the box wraps around 64 bits");
    place->surface = (struct dm_surface){.base = (void *)(uintptr_t)end->address,
                                         .pitch_B = pitch_B ? pitch_B : row_B,
                                         .slice_B = slice_B};
    place->at = (struct dm_position){end->x_B, end->y, end->z};
    return CUDA_SUCCESS;
}

// Silicon: in memory of cuMemMap and of pools a box must fit where the address points, and the
// pitch its width. How far x, y and z move it from there is not looked at, and wraps. What it then
// reaches must be there; the card finds that out while it copies.
static CUresult moved_span(const struct em_end *end, const struct em_copy *c, const char *what,
                           struct place *place, uint64_t *first, uint64_t *span)
{
    struct em_end unmoved = *end;
    unmoved.x_B = unmoved.y = unmoved.z = 0;
    uint64_t pitch_B = end->pitch_B ? end->pitch_B : end->x_B + c->width_B,
             rows = end->rows ? end->rows : end->y + c->height;
    unmoved.pitch_B = c->height == 1 && c->depth == 1 ? end->pitch_B : pitch_B;
    unmoved.rows = c->depth == 1 ? end->rows : rows;
    struct em_reach reach;
    CUresult r = linear_span(&unmoved, c, what, place, first, span);
    if (r || (r = em_memory_reach(NULL, *first, *span, CU_MEM_ACCESS_FLAGS_PROT_READ, what,
                                  CUDA_ERROR_INVALID_VALUE, &reach)))
        return r;
    *first += (end->z * rows + end->y) * pitch_B + end->x_B;
    place->surface.base = (void *)(uintptr_t)*first;
    return CUDA_SUCCESS;
}

// Whether that goes for the memory at `address`. Precondition: em_lock held.
static bool moves_freely(uint64_t address)
{
    const struct em_allocation *a = em_quirk(MAPPED_POSITIONS) ? em_memory_find(address, 1) : NULL;
    return a && (a->kind == EM_MEMORY_VIRTUAL || a->kind == EM_MEMORY_POOLED);
}

// Nor is the type of memory looked at where cuMemMap made it. Precondition: em_lock held.
static CUresult check_type(const struct em_end *end, const char *what)
{
    const struct em_allocation *a =
        em_quirk(MAPPED_POSITIONS) ? em_memory_find(end->address, 1) : NULL;
    if (a && a->kind == EM_MEMORY_VIRTUAL)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: %d is no CUmemorytype", what, end->type);
}

// Precondition: em_lock held.
static CUresult check_linear(const struct em_end *end, const struct em_copy *c, bool write,
                             const char *what, struct place *place)
{
    uint64_t first, span;
    CUresult r = CUDA_SUCCESS;
    if (!end->address)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", what);
    if (end->kind == EM_END_UNNAMED && (r = check_type(end, what)))
        return r;
    bool moved = (end->x_B || end->y || end->z) && moves_freely(end->address);
    r = (moved ? moved_span : linear_span)(end, c, what, place, &first, &span);
    if (r)
        return r;
    // Nothing but memory of the driver's lies in the device's address space; outside of it an
    // address that the driver does not know is the program's.
    bool known = end->kind != EM_END_ANY || moved || em_memory_touches(first, span) ||
                 dm_space_contains(&em_space, first) ||
                 dm_space_contains(&em_space, first + span - 1);
    if (!known) {
        place->pageable = true;
        place->may_fault = span >= LARGE_PAGEABLE_B;
        return CUDA_SUCCESS;
    }
    struct em_reach reach;
    // Silicon: a copy reaches the memory of every context; only fills are bound to the current one.
    r = em_memory_reach(NULL, first, span,
                        write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ,
                        what, CUDA_ERROR_INVALID_VALUE, &reach);
    if (r)
        return r;
    place->memory = reach.first;
    place->may_fault = reach.may_fault;
    return CUDA_SUCCESS;
}

// Precondition: em_lock held.
static CUresult check_array(const struct em_end *end, const struct em_copy *c, const char *what,
                            struct place *place)
{
    struct em_array *a;
    if (!end->array)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s array is NULL", what);
    CUresult r = em_array_get(end->array, &a);
    if (r || (r = em_array_surface(a, &place->surface)))
        return r;
    place->at = (struct dm_position){end->x_B, end->y, end->z};
    struct dm_box_extent extent = {c->width_B, c->height, c->depth};
    if (dm_box_check(&place->surface, place->at, extent)) {
        char text[128];
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: %llu bytes x %llu x %llu at byte %llu, row %llu, slice %llu leave %s "
                       "of %zux%zux%zu elements",
                       what, (unsigned long long)c->width_B, (unsigned long long)c->height,
                       (unsigned long long)c->depth, (unsigned long long)end->x_B,
                       (unsigned long long)end->y, (unsigned long long)end->z,
                       em_object_text(&a->object, text, sizeof text), a->desc.Width, a->desc.Height,
                       a->desc.Depth);
    }
    place->storage = a->storage;
    place->level = a->level;
    place->may_fault = a->storage->may_fault;
    return CUDA_SUCCESS;
}

static CUresult check_end(const struct em_end *end, const struct em_copy *c, bool write,
                          const char *what, struct place *place)
{
    memset(place, 0, sizeof *place);
    return end->kind == EM_END_ARRAY ? check_array(end, c, what, place)
                                     : check_linear(end, c, write, what, place);
}

static bool is_empty(const struct em_copy *c)
{
    return !c->width_B || !c->height || !c->depth;
}

// ---- the command

// A copy, or a part of it.
struct move {
    const struct copy_command *command;
    struct dm_position dst, src;
    struct dm_box_extent extent;
    int status;
};

static void move_bytes(void *arg)
{
    struct move *m = arg;
    const struct copy_command *c = m->command;
    m->status = dm_box_copy(&c->dst.surface, m->dst, &c->src.surface, m->src, m->extent);
}

// From its first to behind its last byte, of linear memory without wrapping (linear_span has
// looked).
static void bytes_of(const struct place *p, const struct dm_box_extent *e, uint64_t *first,
                     uint64_t *end)
{
    const struct dm_surface *s = &p->surface;
    *first = (uint64_t)(uintptr_t)s->base + p->at.z * s->slice_B + p->at.y * s->pitch_B + p->at.x_B;
    *end = *first + (e->depth - 1) * s->slice_B + (e->height - 1) * s->pitch_B + e->width_B;
}

// Only as a whole does a copy onto itself come out as if through a buffer.
static bool may_overlap(const struct copy_command *c)
{
    uint64_t dst, dst_end, src, src_end;
    if (c->dst.storage || c->src.storage)
        return c->dst.storage == c->src.storage;
    bytes_of(&c->dst, &c->extent, &dst, &dst_end);
    bytes_of(&c->src, &c->extent, &src, &src_end);
    return dst < src_end && src < dst_end;
}

// Splits a large copy, parts[0], into slices, rows, or bytes, where blocks, GOBs and pages begin as
// far as there are enough of them. Returns how many parts.
static unsigned split(struct move parts[EM_PARTS_MAX])
{
    const struct dm_box_extent *e = &parts->extent;
    uint64_t bytes = e->width_B * e->height * e->depth;
    if (bytes < EM_SECOND_CORE_MIN_B || may_overlap(parts->command))
        return 1;
    const struct move all = *parts;
    enum {
        SLICES,
        ROWS,
        BYTES
    } by = e->depth >= 32 || (e->depth > 1 && e->height < 256) ? SLICES
           : e->height > 1                                     ? ROWS
                                                               : BYTES;
    uint64_t total = by == SLICES ? e->depth : by == ROWS ? e->height : e->width_B;
    uint64_t unit = by == SLICES ? (total >= 32 ? 16 : 1)
                    : by == ROWS ? (total >= 256 ? 128 : 1)
                                 : 4096;
    unsigned count = em_parts(bytes, total / unit);

    for (unsigned i = 0; i < count && count > 1; i++) {
        struct move *m = &parts[i];
        uint64_t from, some;
        *m = all;
        em_part(total, unit, i, count, &from, &some);
        if (by == SLICES)
            m->dst.z += from, m->src.z += from, m->extent.depth = some;
        else if (by == ROWS)
            m->dst.y += from, m->src.y += from, m->extent.height = some;
        else
            m->dst.x_B += from, m->src.x_B += from, m->extent.width_B = some;
    }
    return count;
}

static CUresult faulted(const struct copy_command *c, const struct dm_fault *fault, bool may_fault)
{
    char text[160];
    bool of_device = dm_space_contains(&em_space, fault->address);
    bool of_tiles = (c->src.storage && em_is_tiled(c->src.storage)) ||
                    (c->dst.storage && em_is_tiled(c->dst.storage));
    if (fault->kind == DM_FAULT_TRUNCATED || (of_device && !of_tiles))
        return em_device_fault("a copy", fault, may_fault);
    dm_fault_text(fault, text, sizeof text);
    if (of_device)
        return em_fail(CUDA_ERROR_LAUNCH_FAILED,
                       "%s: no memory is mapped there into an array with deferred mapping "
                       "(cuMemMapArrayAsync)",
                       text);
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "%s: the program's own pointer is not good for so many bytes", text);
}

static const char *unusable(const struct place *p)
{
    return p->storage ? p->storage->unusable : NULL;
}

static CUresult run_copy(struct em_command *command)
{
    const struct copy_command *c = (const struct copy_command *)command;
    struct move parts[EM_PARTS_MAX];
    struct dm_fault fault;
    const char *why = unusable(&c->dst) ? unusable(&c->dst) : unusable(&c->src);
    if (why)
        return em_fail(CUDA_ERROR_LAUNCH_FAILED, "a copy of %s", why);
    if (c->src.storage && c->src.storage->before_read)
        c->src.storage->before_read(c->src.storage);
    bool may_fault = c->src.may_fault || c->dst.may_fault;
    parts[0] = (struct move){.command = c, .dst = c->dst.at, .src = c->src.at, .extent = c->extent};
    unsigned count = split(parts);
    uint32_t keys = dm_pkey_enter();
    int status = em_second_core_run(may_fault ? dm_guarded_foreign : dm_guarded, move_bytes, parts,
                                    sizeof *parts, count, &fault);
    dm_pkey_leave(keys);
    if (status)
        return faulted(c, &fault, may_fault);
    for (unsigned i = 0; i < count; i++)
        if (parts[i].status)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "the box does not fit any more");
    return CUDA_SUCCESS;
}

// Tells who watches an end what is about to be done with it, or that it is done. Precondition:
// em_lock held.
static void touch(struct place *p, const struct dm_box_extent *e, enum em_touch touch)
{
    uint64_t first, end;
    if (p->storage) {
        p->watched = p->storage->watch;
        em_storage_touch(p->storage, p->level, &p->at, e, touch);
    } else if (p->memory && p->memory->watch) {
        p->watched = true;
        bytes_of(p, e, &first, &end);
        bool gaps = end - first != e->width_B * e->height * e->depth;
        em_memory_touch(p->memory, first, end - first,
                        gaps && touch == EM_TOUCH_WRITE ? EM_TOUCH_WRITE_SOME : touch);
    }
}

static void end_write(struct copy_command *c, CUresult result)
{
    uint64_t first, end;
    if (c->dst.storage) {
        touch(&c->dst, &c->extent, em_touch_end(result));
        return;
    }
    bytes_of(&c->dst, &c->extent, &first, &end);
    em_memory_written(first, end - first, result);
}

static void finish_copy(struct em_command *command)
{
    struct copy_command *c = (struct copy_command *)command;
    if (c->dst.watched)
        end_write(c, command->result);
    if (c->dst.storage)
        em_storage_unref(c->dst.storage);
    if (c->src.storage)
        em_storage_unref(c->src.storage);
}

static const struct em_command_ops copy_ops = {
    .name = "memcpy", .run = run_copy, .finish = finish_copy};

// "The function will return once the pageable buffer has been copied to the staging memory for DMA
// transfer to device memory, but the DMA to final destination may not have completed": what goes
// wrong there is found by the next call.
static bool found_later(const struct copy_command *c, CUresult r)
{
    const struct dm_box_extent *e = &c->extent;
    return r == CUDA_ERROR_LAUNCH_FAILED && em_quirk(STAGED_COPY_FAILS_LATER) && c->src.pageable &&
           c->dst.storage && e->width_B * e->height * e->depth <= STAGED_MOST_B;
}

CUresult em_copy(const struct em_copy *copy, struct em_stream *stream, bool async)
{
    struct copy_command c = {
        .command = {.ops = &copy_ops, .size_B = sizeof c},
        .extent = {copy->width_B, copy->height, copy->depth},
    };
    if (is_empty(copy))
        return CUDA_SUCCESS;
    CUresult r;
    em_lock();
    if (!(r = check_end(&copy->dst, copy, true, "destination", &c.dst)) &&
        !(r = check_end(&copy->src, copy, false, "source", &c.src))) {
        if (c.dst.storage)
            em_storage_ref(c.dst.storage);
        if (c.src.storage)
            em_storage_ref(c.src.storage);
        touch(&c.src, &c.extent, EM_TOUCH_READ);
        touch(&c.dst, &c.extent, EM_TOUCH_WRITE);
    }
    bool waits = c.dst.watched && em_stream_must_wait(stream);
    em_unlock();
    if (em_unlikely(c.src.watched | c.dst.watched))
        em_graphics_bring(waits);
    // "For transfers from or to pageable host memory" the asynchronous forms may be synchronous:
    // that memory is the program's to reuse on return.
    bool wait = !async || c.dst.pageable || c.src.pageable;
    if (!r)
        r = em_submit(stream, &c.command, wait ? EM_SUBMIT_SYNC : EM_SUBMIT_ASYNC);
    if (em_unlikely(r && found_later(&c, r)))
        r = CUDA_SUCCESS;
    if (wait) {
        em_ordered();
        em_synchronised(EM_SYNC_COPY);
    }
    return r;
}
