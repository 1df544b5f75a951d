// SPDX-License-Identifier: MIT
// Checks the two ends of a copy: whether the box lies in memory that may be read or written.
#include <string.h>

#include "arithmetic.h"
#include "array.h"
#include "call.h"
#include "copy_command.h"
#include "error.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "quirk.h"

// From this size on, the system calls of dm_guarded_foreign do not matter to a copy of the
// program's own memory.
enum { LARGE_PAGEABLE_B = 256 << 10 };

// The bytes from the first to the last one of a box in linear memory.
struct span {
    uint64_t first, size_B;
};

static CUresult wraps(const char *name, const char *quantity)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: the %s exceeds 64 bits", name, quantity);
}

// "srcPitch must be greater than or equal to WidthInBytes + srcXInBytes, and srcHeight must be
// greater than or equal to Height + srcY."
static CUresult check_pitches(const struct em_end *end, const struct em_copy *c, const char *name,
                              uint64_t *row_B, uint64_t *rows)
{
    if (!dm_add(end->x_B, c->width_B, row_B))
        return wraps(name, "end of a row (x + width)");
    if (!dm_add(end->y, c->height, rows))
        return wraps(name, "end of a slice (y + height)");
    if (end->pitch_B && end->pitch_B < *row_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: the pitch (%llu bytes) is less than x + width (%llu bytes)", name,
                       (unsigned long long)end->pitch_B, (unsigned long long)*row_B);
    if (end->rows && end->rows < *rows)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: the height of a slice (%llu rows) is less than y + height (%llu rows)",
                       name, (unsigned long long)end->rows, (unsigned long long)*rows);
    return CUDA_SUCCESS;
}

static CUresult linear_span(const struct em_end *end, const struct em_copy *c, const char *name,
                            struct em_copy_place *place, struct span *span)
{
    uint64_t row_B, rows, slice_B, offset, t;
    CUresult r = check_pitches(end, c, name, &row_B, &rows);
    if (r)
        return r;
    uint64_t pitch_B = end->pitch_B ? end->pitch_B : row_B;
    uint64_t slice_rows = end->rows ? end->rows : rows;
    // offset = z * slice + y * pitch + x
    // size = (depth - 1) * slice + (height - 1) * pitch + width
    // The slice and the pitch count as 0 if nothing is multiplied by them: a copy of one row may
    // give any pitch.
    if (c->depth == 1 && !end->z)
        slice_B = 0;
    else if (!dm_mul(pitch_B, slice_rows, &slice_B))
        return wraps(name, "size of a slice");
    if (c->height == 1 && !end->y)
        pitch_B = 0;
    if (!dm_mul(end->z, slice_B, &offset) || !dm_mul(end->y, pitch_B, &t) ||
        !dm_add(offset, t, &offset) || !dm_add(offset, end->x_B, &offset) ||
        !dm_mul(c->depth - 1, slice_B, &span->size_B) || !dm_mul(c->height - 1, pitch_B, &t) ||
        !dm_add(span->size_B, t, &span->size_B) ||
        !dm_add(span->size_B, c->width_B, &span->size_B) ||
        !dm_add(end->address, offset, &span->first) || !dm_add(span->first, span->size_B, &t))
        return wraps(name, "last address of the box");
    place->surface = (struct dm_surface){.base = (void *)(uintptr_t)end->address,
                                         .pitch_B = pitch_B ? pitch_B : row_B,
                                         .slice_B = slice_B};
    place->at = (struct dm_position){end->x_B, end->y, end->z};
    return CUDA_SUCCESS;
}

// In memory of cuMemMap and of pools, the driver checks that a box of this size fits at the address
// itself and that the pitch fits the width. It does not check how far x, y and z move the box from
// there, and that computation may wrap. The memory must exist at the moved place; the card finds
// out while it copies.
static CUresult moved_span(const struct em_end *end, const struct em_copy *c, const char *name,
                           struct em_copy_place *place, struct span *span)
{
    struct em_end unmoved = *end;
    unmoved.x_B = unmoved.y = unmoved.z = 0;
    uint64_t pitch_B = end->pitch_B ? end->pitch_B : end->x_B + c->width_B,
             rows = end->rows ? end->rows : end->y + c->height;
    unmoved.pitch_B = c->height == 1 && c->depth == 1 ? end->pitch_B : pitch_B;
    unmoved.rows = c->depth == 1 ? end->rows : rows;
    struct em_pointer_range checked;
    CUresult r = linear_span(&unmoved, c, name, place, span);
    if (r)
        return r;
    r = em_memory_check(NULL, span->first, span->size_B, CU_MEM_ACCESS_FLAGS_PROT_READ, name,
                        CUDA_ERROR_INVALID_VALUE, &checked);
    if (r)
        return r;
    span->first += (end->z * rows + end->y) * pitch_B + end->x_B;
    place->surface.base = (void *)(uintptr_t)span->first;
    return CUDA_SUCCESS;
}

// Whether the driver treats a box at this address as moved_span describes.
static bool moves_freely(uint64_t address)
{
    const struct em_allocation *a = em_quirk(MAPPED_POSITIONS) ? em_memory_find(address, 1) : NULL;
    return a && (a->kind == EM_MEMORY_VIRTUAL || a->kind == EM_MEMORY_POOLED);
}

// Likewise, the driver does not check the memory type of an address that cuMemMap made.
static CUresult check_type(const struct em_end *end, const char *name)
{
    const struct em_allocation *a =
        em_quirk(MAPPED_POSITIONS) ? em_memory_find(end->address, 1) : NULL;
    if (a && a->kind == EM_MEMORY_VIRTUAL)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: memory type %d is not a CUmemorytype", name,
                   end->type);
}

// The bytes from the first to the last one of the box as it lies in memory.
static struct span box_span(const struct em_copy_place *p, const struct dm_box_extent *e)
{
    const struct dm_surface *s = &p->surface;
    uint64_t offset = p->at.z * s->slice_B + p->at.y * s->pitch_B + p->at.x_B;
    return (struct span){.first = (uint64_t)(uintptr_t)s->base + offset,
                         .size_B = (e->depth - 1) * s->slice_B + (e->height - 1) * s->pitch_B +
                                   e->width_B};
}

static void linear_rows(struct em_access *access, const struct em_copy_place *place,
                        const struct dm_box_extent *extent)
{
    const struct dm_surface *s = &place->surface;
    access->form = EM_FORM_ROWS;
    access->row_B = extent->width_B;
    access->pitch_B = extent->height > 1 ? s->pitch_B : extent->width_B;
    access->slice_rows_B = (extent->height - 1) * s->pitch_B + extent->width_B;
    access->slice_B = extent->depth > 1 ? s->slice_B : access->slice_rows_B;
    if (extent->depth > 1 && access->slice_B == extent->height * s->pitch_B) { // one set of rows
        access->pitch_B = s->pitch_B;
        access->slice_rows_B = access->slice_B = access->size_B;
    }
}

static void linear_access(struct em_access *access, const struct em_copy_place *place,
                          const struct dm_box_extent *extent, bool is_dst,
                          struct em_allocation *memory)
{
    struct span span = box_span(place, extent);
    bool gaps = span.size_B != extent->width_B * extent->height * extent->depth;
    enum em_access_mode mode = !is_dst ? EM_ACCESS_READ
                               : gaps  ? EM_ACCESS_WRITE_SOME
                                       : EM_ACCESS_WRITE;
    if (memory) {
        em_memory_access(access, memory, span.first, span.size_B, mode);
    } else {
        em_access_init(access, NULL, NULL, mode);
        access->address = span.first;
        access->size_B = span.size_B;
    }
    if (gaps)
        linear_rows(access, place, extent);
}

static CUresult check_linear(const struct em_end *end, const struct em_copy *c, bool is_dst,
                             const char *name, struct em_copy_place *place,
                             struct em_access *access)
{
    const struct dm_box_extent extent = {c->width_B, c->height, c->depth};
    struct span span;
    CUresult r = CUDA_SUCCESS;
    if (!end->address)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", name);
    if (end->kind == EM_END_UNNAMED)
        r = check_type(end, name);
    if (r)
        return r;
    bool moved = (end->x_B || end->y || end->z) && moves_freely(end->address);
    r = (moved ? moved_span : linear_span)(end, c, name, place, &span);
    if (r)
        return r;
    // The device's address space holds nothing but the driver's memory. Outside of it, an address
    // that the driver does not know belongs to the program.
    bool known =
        end->kind != EM_END_ANY || moved || em_memory_overlapping(span.first, span.size_B) ||
        em_is_device_address(span.first) || em_is_device_address(span.first + span.size_B - 1);
    if (!known) {
        place->pageable = true;
        place->residence = EM_ON_HOST;
        place->may_fault = span.size_B >= LARGE_PAGEABLE_B;
        linear_access(access, place, &extent, is_dst, NULL);
        return CUDA_SUCCESS;
    }
    struct em_pointer_range checked;
    // A copy reaches the memory of every context; only fills are bound to the current one
    // (recorded: x_extmem twoctx/map-in-other).
    r = em_memory_check(NULL, span.first, span.size_B,
                        is_dst ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ,
                        name, CUDA_ERROR_INVALID_VALUE, &checked);
    if (r)
        return r;
    place->may_fault = checked.may_fault;
    place->residence = checked.residence;
    linear_access(access, place, &extent, is_dst, checked.first);
    return CUDA_SUCCESS;
}

// Reports the first dimension in which the box exceeds the array.
static CUresult exceeds_array(const struct em_array *a, const struct em_end *end,
                              const struct em_copy *c, const struct dm_surface *surface,
                              const char *name)
{
    const struct dm_layout *layout = surface->layout;
    const struct dm_layout_level *level = &layout->level[surface->level];
    unsigned long long width_B = (unsigned long long)level->width_el * layout->element_B;
    const bool wide = end->x_B > width_B || c->width_B > width_B - end->x_B;
    const bool high = end->y > level->height_el || c->height > level->height_el - end->y;
    char array[128];
    em_object_text(&a->object, array, sizeof array);
    if (wide)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: the copy (%llu bytes wide, from x = %llu bytes) exceeds %s, which is "
                       "%u elements (%llu bytes) wide; keep x + width within these bytes",
                       name, (unsigned long long)c->width_B, (unsigned long long)end->x_B, array,
                       level->width_el, width_B);
    if (high)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: the copy (%llu rows high, from y = %llu) exceeds %s, which is %u rows "
                       "high; keep y + height within these rows",
                       name, (unsigned long long)c->height, (unsigned long long)end->y, array,
                       level->height_el);
    return em_fail(
        CUDA_ERROR_INVALID_VALUE,
        "%s: the copy (%llu slices deep, from z = %llu) exceeds %s, which is %llu slices "
        "deep; keep z + depth within these slices",
        name, (unsigned long long)c->depth, (unsigned long long)end->z, array,
        (unsigned long long)dm_layout_depth(layout, surface->level));
}

static CUresult check_array(const struct em_end *end, const struct em_copy *c, bool is_dst,
                            const char *name, struct em_copy_place *place, struct em_access *access)
{
    struct em_array *a;
    if (!end->array)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: the array is NULL", name);
    CUresult r = em_array_get(end->array, &a);
    if (!r)
        r = em_array_surface(a, &place->surface);
    if (r)
        return r;
    place->at = (struct dm_position){end->x_B, end->y, end->z};
    struct dm_box_extent extent = {c->width_B, c->height, c->depth};
    if (dm_box_check(&place->surface, place->at, extent))
        return exceeds_array(a, end, c, &place->surface, name);
    place->storage = a->storage;
    place->may_fault = a->storage->may_fault;
    em_storage_access(access, a->storage, a->level, &place->at, &extent,
                      is_dst ? EM_ACCESS_WRITE : EM_ACCESS_READ);
    return CUDA_SUCCESS;
}

// ---- shared calls ----

void em_copy_set_row_end(struct em_copy_command *c, bool is_dst, uint64_t address, uint64_t size_B,
                         struct em_allocation *memory)
{
    em_assert_readable();
    const enum em_access_mode mode = is_dst ? EM_ACCESS_WRITE : EM_ACCESS_READ;
    struct em_copy_place *place = is_dst ? &c->dst : &c->src;
    struct em_access *access = &c->access[is_dst ? EM_COPY_WRITES : EM_COPY_READS];
    place->surface = (struct dm_surface){.base = (void *)(uintptr_t)address, .pitch_B = size_B};
    place->at = (struct dm_position){0, 0, 0};
    place->storage = NULL;
    place->pageable = !memory;
    place->residence = memory ? em_memory_residence(memory) : EM_ON_HOST;
    place->may_fault = memory && em_memory_may_fault(memory);
    if (memory) {
        em_memory_access(access, memory, address, size_B, mode);
    } else {
        em_access_init(access, NULL, NULL, mode);
        access->address = address;
        access->size_B = size_B;
    }
}

static bool check_row_end(const struct em_end *end, uint64_t size_B, bool is_dst,
                          struct em_copy_command *command)
{
    const uint64_t address = end->address, last = address + size_B - 1;
    const unsigned needs =
        is_dst ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    if ((end->kind != EM_END_ANY && end->kind != EM_END_DEVICE) || end->x_B || end->y || end->z ||
        end->pitch_B || end->rows || !address || last < address)
        return false;
    struct em_allocation *a = em_memory_find_plain(address, size_B, needs);
    if (!a && (end->kind == EM_END_DEVICE || em_memory_overlapping(address, size_B) ||
               em_is_device_address(address) || em_is_device_address(last)))
        return false;
    em_copy_set_row_end(command, is_dst, address, size_B, a);
    return true;
}

bool em_copy_check_row(const struct em_copy *copy, struct em_copy_command *command)
{
    em_assert_readable();
    if (copy->width_B > EM_SHARED_MOST_B || copy->height != 1 || copy->depth != 1)
        return false;
    command->extent = (struct dm_box_extent){copy->width_B, 1, 1};
    return check_row_end(&copy->dst, copy->width_B, true, command) &&
           check_row_end(&copy->src, copy->width_B, false, command);
}

CUresult em_copy_check_end(const struct em_copy *copy, bool is_dst, const char *name,
                           struct em_copy_command *command)
{
    em_assert_locked();
    const struct em_end *end = is_dst ? &copy->dst : &copy->src;
    struct em_copy_place *place = is_dst ? &command->dst : &command->src;
    struct em_access *access = &command->access[is_dst ? EM_COPY_WRITES : EM_COPY_READS];
    place->storage = NULL;
    place->pageable = place->may_fault = false;
    place->residence = EM_ON_DEVICE; // arrays are
    return end->kind == EM_END_ARRAY ? check_array(end, copy, is_dst, name, place, access)
                                     : check_linear(end, copy, is_dst, name, place, access);
}
