// SPDX-License-Identifier: MIT
// Moves the bytes of a checked copy, in parts if it is large, and explains faults.
#include "array.h"
#include "array_tiles.h"
#include "call.h"
#include "copy_command.h"
#include "error.h"
#include "guard.h"
#include "kn_copy.h"
#include "lock.h"
#include "memory_device.h"
#include "memory_fault.h"
#include "pkey.h"
#include "workers.h"

// A copy, or a part of it.
struct part {
    const struct em_copy_command *command;
    struct dm_position dst, src;
    struct dm_box_extent extent;
    int status;
};

// ---- moving ----

static uint8_t *linear_address(const struct dm_surface *s, struct dm_position at)
{
    return (uint8_t *)s->base + at.z * s->slice_B + at.y * s->pitch_B + at.x_B;
}

// Whether [a, a + size) and [b, b + size) share a byte.
static bool overlap(const void *a, const void *b, uint64_t size)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second ? second - first < size : first - second < size;
}

// One row between two places of linear memory. Most copies have this shape.
static void move_row(void *arg)
{
    const struct part *p = arg;
    uint8_t *to = linear_address(&p->command->dst.surface, p->dst);
    const uint8_t *from = linear_address(&p->command->src.surface, p->src);
    if (em_unlikely(overlap(to, from, p->extent.width_B)))
        kn_move(to, from, p->extent.width_B);
    else
        kn_copy(to, from, p->extent.width_B);
}

static void move_box(void *arg)
{
    struct part *p = arg;
    const struct em_copy_command *c = p->command;
    p->status = dm_box_copy(&c->dst.surface, p->dst, &c->src.surface, p->src, p->extent);
}

static bool is_row(const struct em_copy_command *c)
{
    return !c->dst.storage && !c->src.storage && c->extent.height == 1 && c->extent.depth == 1;
}

// ---- parts ----

// Whether the two ends may share bytes. Such a copy must run as a whole, so that the result is that
// of a copy through a buffer.
static bool may_overlap(const struct em_copy_command *c)
{
    const struct em_access *dst = &c->access[EM_COPY_WRITES], *src = &c->access[EM_COPY_READS];
    if (c->dst.storage || c->src.storage)
        return c->dst.storage == c->src.storage;
    return dst->address < src->address + src->size_B && src->address < dst->address + dst->size_B;
}

enum direction { BY_SLICES, BY_ROWS, BY_BYTES };

static enum direction best_direction(const struct dm_box_extent *e)
{
    if (e->depth >= 32 || (e->depth > 1 && e->height < 256))
        return BY_SLICES;
    return e->height > 1 ? BY_ROWS : BY_BYTES;
}

// Splits a large copy, parts[0], into slices, rows or bytes. If there are enough of them, parts
// begin where blocks, GOBs and pages do. Returns the number of parts.
static unsigned split(struct part parts[EM_PARTS_MAX])
{
    const struct part whole = *parts;
    const struct dm_box_extent *e = &whole.extent;
    uint64_t bytes = e->width_B * e->height * e->depth, total, unit;
    if (bytes < EM_WORKERS_MIN_B || may_overlap(whole.command))
        return 1;
    enum direction by = best_direction(e);
    if (by == BY_SLICES) {
        total = e->depth;
        unit = total >= 32 ? 16 : 1;
    } else if (by == BY_ROWS) {
        total = e->height;
        unit = total >= 256 ? 128 : 1;
    } else {
        total = e->width_B;
        unit = 4096;
    }
    unsigned count = em_parts(bytes, total / unit);

    for (unsigned i = 0; i < count && count > 1; i++) {
        struct part *p = &parts[i];
        uint64_t from, some;
        *p = whole;
        em_part(total, unit, i, count, &from, &some);
        if (by == BY_SLICES) {
            p->dst.z += from;
            p->src.z += from;
            p->extent.depth = some;
        } else if (by == BY_ROWS) {
            p->dst.y += from;
            p->src.y += from;
            p->extent.height = some;
        } else {
            p->dst.x_B += from;
            p->src.x_B += from;
            p->extent.width_B = some;
        }
    }
    return count;
}

// ---- the command ----

// Whether the driver knows the memory of the fault: the device's, or registered memory. Any other
// address is a wrong pointer of the program.
static bool is_known(const struct dm_fault *fault, bool *of_device)
{
    em_lock();
    *of_device = em_is_device_address(fault->address);
    const bool known = *of_device || em_memory_find(fault->address, 1);
    em_unlock();
    return known;
}

CUresult em_copy_faulted(const struct em_copy_command *c, const struct dm_fault *fault)
{
    const bool of_tiles = (c->src.storage && em_is_tiled(c->src.storage)) ||
                          (c->dst.storage && em_is_tiled(c->dst.storage));
    bool of_device;
    char text[160];
    dm_fault_text(fault, text, sizeof text);
    if (!is_known(fault, &of_device))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: the host pointer is not valid for the size of the copy", text);
    if (of_device && of_tiles && fault->kind != DM_FAULT_TRUNCATED)
        return em_fail(CUDA_ERROR_LAUNCH_FAILED,
                       "%s: the array has no memory there; map it with cuMemMapArrayAsync first",
                       text);
    return em_device_fault("a copy", fault,
                           (c->src.may_fault && !c->src.pageable) ||
                               (c->dst.may_fault && !c->dst.pageable));
}

static const char *poison_reason(const struct em_copy_place *p)
{
    return p->storage ? p->storage->poison_reason : NULL;
}

// Rejects poisoned arrays, and updates the source. Runs before any byte is moved.
static CUresult prepare_storage(const struct em_copy_command *c)
{
    const char *why = poison_reason(&c->dst) ? poison_reason(&c->dst) : poison_reason(&c->src);
    if (why)
        return em_fail(CUDA_ERROR_LAUNCH_FAILED, "the copy accesses %s", why);
    if (c->src.storage && c->src.storage->before_read)
        c->src.storage->before_read(c->src.storage);
    return CUDA_SUCCESS;
}

void em_copy_record(const struct em_copy_command *c, const struct em_copy_place *p,
                    enum rf_role role)
{
    if (p->residence != EM_ON_DEVICE && !p->storage)
        em_record_bytes(&(struct em_record_bytes){
            .role = role,
            .call = em_call_now(),
            .address = (uintptr_t)linear_address(&p->surface, p->at),
            .row_B = c->extent.width_B,
            .rows = c->extent.height,
            .pitch_B = p->surface.pitch_B,
            .slices = c->extent.depth,
            .slice_B = p->surface.slice_B,
        });
}

// A copy of one part.
static int run_guarded(void (*move)(void *), struct part *part, struct dm_fault *fault)
{
    const struct em_copy_command *c = part->command;
    const struct dm_box_extent *e = &c->extent;
    if (c->src.may_fault || c->dst.may_fault)
        return dm_guarded_foreign(move, part, fault);
    if (c->src.pageable || c->dst.pageable)
        return dm_guarded_host(move, part, e->width_B * e->height * e->depth, fault);
    return dm_guarded(move, part, fault);
}

static CUresult move_all(const struct em_copy_command *c)
{
    struct part parts[EM_PARTS_MAX];
    struct dm_fault fault;
    bool may_fault = c->src.may_fault || c->dst.may_fault;
    em_guarded_fn *guarded = may_fault ? dm_guarded_foreign : dm_guarded;
    void (*move)(void *) = is_row(c) ? move_row : move_box;
    parts[0] = (struct part){.command = c, .dst = c->dst.at, .src = c->src.at, .extent = c->extent};
    unsigned count = split(parts);
    uint32_t keys = dm_pkey_enter();
    int status = count == 1
                     ? run_guarded(move, parts, &fault)
                     : em_workers_run_guarded(guarded, move, parts, sizeof *parts, count, &fault);
    dm_pkey_leave(keys);
    if (status)
        return em_copy_faulted(c, &fault);
    for (unsigned i = 0; i < count; i++)
        if (parts[i].status)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "the box no longer fits its array");
    return CUDA_SUCCESS;
}

// Whether an access waits for its bytes (em_accesses_begin).
static bool is_absent(const struct em_copy_command *c)
{
    return c->command.ops->fetches &&
           (c->access[EM_COPY_READS].absent || c->access[EM_COPY_WRITES].absent);
}

CUresult em_copy_run(struct em_command *command)
{
    struct em_copy_command *c = (struct em_copy_command *)command;
    CUresult r = prepare_storage(c);
    if (r)
        return r;
    if (em_unlikely(em_recording_contents) && !c->command.ops->once) // staged copies are recorded
        em_copy_record(c, &c->src, RF_READS);
    if (em_likely(!is_absent(c)) || !em_copy_run_directly(c, &r))
        r = move_all(c);
    if (em_unlikely(em_recording_contents) && !r)
        em_copy_record(c, &c->dst, RF_WRITES);
    return r;
}
