// SPDX-License-Identifier: MIT
// The virtual graphics API: the calls that issue commands and wait for them.
#include "alloc.h"
#include "call.h"
#include "command.h"
#include "error.h"
#include "guard.h"
#include "kn_copy.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "pkey.h"
#include "record_content.h"
#include "virtual_object.h"

// ---- boxes ----

// Finds bytes [offset, offset + size) of a buffer. Precondition: em_lock held.
static CUresult buffer_end(cardlessBuffer buffer, uint64_t offset, uint64_t size,
                           struct em_virtual_end *end)
{
    em_assert_locked();
    struct em_virtual_object *o;
    char text[128];
    CUresult r = em_virtual_get(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, &o);
    if (r)
        return r;
    uint64_t have = o->storage->shape.size_B;
    if (offset > have || size > have - offset)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "offset (%llu) + size (%llu) exceeds %s, which has %llu bytes",
                       (unsigned long long)offset, (unsigned long long)size,
                       em_object_text(&o->object, text, sizeof text), (unsigned long long)have);
    *end = (struct em_virtual_end){.storage = o->storage, .at = {offset, 0, 0}};
    return CUDA_SUCCESS;
}

// Finds a box of a level; the whole level if `box` is NULL. Precondition: em_lock held.
static CUresult texture_end(cardlessTexture texture, unsigned level, const cardlessBox *box,
                            struct em_virtual_end *end, struct dm_box_extent *extent)
{
    em_assert_locked();
    struct em_virtual_object *o;
    char text[128];
    CUresult r = em_virtual_get(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, &o);
    if (r)
        return r;
    const struct em_virtual_storage *s = o->storage;
    if (level >= s->shape.levels)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "level (%u) does not exist, because %s has %u levels", level,
                       em_object_text(&o->object, text, sizeof text), s->shape.levels);
    const struct dm_layout_level *l = &s->layout.level[level];
    cardlessBox all = {0,
                       0,
                       0,
                       l->width_px,
                       l->height_px ? l->height_px : 1,
                       (unsigned)dm_layout_depth(&s->layout, level)};
    const cardlessBox *b = box ? box : &all;
    if (b->x > all.width || b->width > all.width - b->x || b->y > all.height ||
        b->height > all.height - b->y || b->z > all.depth || b->depth > all.depth - b->z ||
        !b->width || !b->height || !b->depth)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the box %ux%ux%u at %u, %u, %u is empty or exceeds level %u of %s, which is %ux%ux%u",
            b->width, b->height, b->depth, b->x, b->y, b->z, level,
            em_object_text(&o->object, text, sizeof text), all.width, all.height, all.depth);
    uint64_t element_B = s->shape.element_B;
    *end = (struct em_virtual_end){
        .storage = o->storage, .level = level, .at = {b->x * element_B, b->y, b->z}};
    *extent = (struct dm_box_extent){b->width * element_B, b->height, b->depth};
    return CUDA_SUCCESS;
}

static void virtual_check_mapped(const struct em_virtual_end *end, const char *command)
{
    if (end->storage && end->storage->mapped && em_virtual_is_strict())
        em_mistake(G07, CUDA_SUCCESS, "%s %s that CUDA has mapped", command,
                   end->storage->shape.kind == EM_GRAPHICS_BUFFER ? "a buffer" : "a texture");
}

// ---- memory of the program ----

// Whether the program may access the byte, as far as the driver knows. Precondition: em_lock held.
static bool is_host_byte(uint64_t address)
{
    em_assert_locked();
    if (!em_is_device_address(address))
        return true;
    const struct em_allocation *a = em_memory_find(address, 1);
    return a && em_memory_residence(a) != EM_ON_DEVICE;
}

// A graphics API takes host pointers only. Precondition: em_lock held.
static CUresult check_host_pointer(const void *bytes, uint64_t size_B)
{
    em_assert_locked();
    const uint64_t first = (uintptr_t)bytes;
    if (is_host_byte(first) && is_host_byte(first + size_B - 1))
        return CUDA_SUCCESS;
    return em_fail(
        CUDA_ERROR_INVALID_VALUE,
        "the %llu bytes at %p are device memory; pass host memory, or map the object and "
        "copy with CUDA",
        (unsigned long long)size_B, bytes);
}

struct host_copy {
    void *to;
    const void *from;
    uint64_t size_B;
};

static void copy_host(void *arg)
{
    const struct host_copy *c = arg;
    kn_copy(c->to, c->from, c->size_B);
}

static CUresult fetch(void *to, const void *from, uint64_t size_B)
{
    struct host_copy c = {to, from, size_B};
    struct dm_fault fault;
    char text[160];
    if (!dm_guarded_host(copy_host, &c, size_B, &fault))
        return CUDA_SUCCESS;
    dm_fault_text(&fault, text, sizeof text);
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "the %llu bytes at %p cannot be read: %s; pass memory that the process can "
                   "read",
                   (unsigned long long)size_B, from, text);
}

static CUresult new_command(uint64_t bytes_B, struct em_virtual_command **out)
{
    *out = dm_calloc(1, sizeof **out + bytes_B);
    return *out
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a command of %llu bytes",
                         (unsigned long long)bytes_B);
}

// ---- commands ----

// Records the program's bytes, of which the driver has a copy.
static __attribute__((cold, noinline)) void record_read(const void *bytes, const void *copy,
                                                        uint64_t size_B)
{
    em_record_bytes(&(struct em_record_bytes){.role = RF_READS,
                                              .call = em_call_now(),
                                              .address = (uintptr_t)bytes,
                                              .at = copy,
                                              .row_B = size_B,
                                              .rows = 1,
                                              .slices = 1});
}

// Issues a write or a fill of a box. Precondition: em_lock held.
static CUresult issue_bytes(const struct em_virtual_end *end, struct dm_box_extent extent,
                            enum em_virtual_work work, uint64_t texel_B, const void *bytes)
{
    em_assert_locked();
    struct em_virtual_command *c;
    uint64_t size_B =
        work == EM_VIRTUAL_FILL ? texel_B : extent.width_B * extent.height * extent.depth;
    if (!size_B)
        return CUDA_SUCCESS;
    CUresult r = check_host_pointer(bytes, size_B);
    if (!r)
        r = new_command(size_B, &c);
    if (r)
        return r;
    r = fetch(c->bytes, bytes, size_B);
    if (r) {
        dm_free(c);
        return r;
    }
    // The value of a buffer's fill is an argument.
    if (em_unlikely(em_recording_contents) &&
        (work == EM_VIRTUAL_WRITE || end->storage->shape.kind != EM_GRAPHICS_BUFFER))
        record_read(bytes, c->bytes, size_B);
    c->to = *end;
    c->extent = extent;
    c->repeat_B = work == EM_VIRTUAL_FILL ? (uint32_t)texel_B : 0;
    virtual_check_mapped(end, work == EM_VIRTUAL_FILL ? "a fill of" : "a write of");
    em_virtual_issue(c);
    return CUDA_SUCCESS;
}

CUresult em_virtual_write_buffer(cardlessBuffer buffer, uint64_t offset, uint64_t size,
                                 enum em_virtual_work work, const void *bytes)
{
    struct em_virtual_end end;
    em_lock();
    CUresult r = buffer_end(buffer, offset, size, &end);
    if (!r && size)
        r = issue_bytes(&end, (struct dm_box_extent){size, 1, 1}, work, 1, bytes);
    em_unlock();
    return r;
}

CUresult em_virtual_write_texture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                  enum em_virtual_work work, const void *texels)
{
    struct em_virtual_end end;
    struct dm_box_extent extent;
    em_lock();
    CUresult r = texture_end(texture, level, box, &end, &extent);
    if (!r)
        r = issue_bytes(&end, extent, work, end.storage->shape.element_B, texels);
    em_unlock();
    return r;
}

static CUresult issue_copy(const struct em_virtual_end *to, const struct em_virtual_end *from,
                           struct dm_box_extent extent)
{
    struct em_virtual_command *c;
    CUresult r = new_command(0, &c);
    if (r)
        return r;
    c->to = *to;
    c->from = *from;
    c->extent = extent;
    virtual_check_mapped(to, "a copy to");
    if (from->storage != to->storage)
        virtual_check_mapped(from, "a copy from");
    em_virtual_issue(c);
    return CUDA_SUCCESS;
}

CUresult em_virtual_copy_buffer(cardlessBuffer to, uint64_t to_offset, cardlessBuffer from,
                                uint64_t from_offset, uint64_t size)
{
    struct em_virtual_end dst, src;
    em_lock();
    CUresult r = buffer_end(to, to_offset, size, &dst);
    if (!r)
        r = buffer_end(from, from_offset, size, &src);
    if (!r && size)
        r = issue_copy(&dst, &src, (struct dm_box_extent){size, 1, 1});
    em_unlock();
    return r;
}

static bool apart(uint64_t a, uint64_t b, uint64_t extent)
{
    return a >= b + extent || b >= a + extent;
}

CUresult em_virtual_copy_texture(cardlessTexture to, unsigned to_level,
                                 const cardlessBox *to_corner, cardlessTexture from,
                                 unsigned from_level, const cardlessBox *box)
{
    struct em_virtual_end dst, src;
    struct dm_box_extent extent, same;
    em_lock();
    CUresult r = texture_end(from, from_level, box, &src, &extent);
    if (r)
        goto unlock;
    uint32_t element_B = src.storage->shape.element_B;
    cardlessBox place = *to_corner;
    place.width = (unsigned)(extent.width_B / element_B);
    place.height = (unsigned)extent.height;
    place.depth = (unsigned)extent.depth;
    r = texture_end(to, to_level, &place, &dst, &same);
    if (r)
        goto unlock;
    if (dst.storage->shape.element_B != element_B)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "elements of the source have %u bytes, but elements of the destination have %u",
                    element_B, dst.storage->shape.element_B);
    else if (dst.storage == src.storage && dst.level == src.level &&
             !apart(dst.at.x_B, src.at.x_B, extent.width_B) &&
             !apart(dst.at.y, src.at.y, extent.height) && !apart(dst.at.z, src.at.z, extent.depth))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the source and the destination overlap in level %u",
                    dst.level);
    if (!r)
        r = issue_copy(&dst, &src, extent);
unlock:
    em_unlock();
    return r;
}

// ---- waiting ----

// Runs all commands up to a tick. Waits for the CUDA work that they and `end` wait for.
// Precondition: em_lock held, which is released meanwhile.
static CUresult run_and_wait(uint64_t tick, const struct em_virtual_end *end)
{
    em_assert_locked();
    bool all;
    CUresult r = em_virtual_run(tick, &all);
    while (!all || (end && em_virtual_end_waits(end))) {
        em_wait_progress();
        CUresult later = em_virtual_run(tick, &all);
        r = r ? r : later;
    }
    em_wait_over();
    return r;
}

struct read {
    struct dm_surface to, from;
    struct dm_position at;
    struct dm_box_extent extent;
};

static void read_box(void *arg)
{
    const struct read *r = arg;
    dm_box_copy(&r->to, (struct dm_position){0}, &r->from, r->at, r->extent);
}

// Precondition: em_lock held.
static CUresult read_end(struct em_virtual_end *end, struct dm_box_extent extent, void *bytes)
{
    em_assert_locked();
    struct dm_fault fault;
    char text[160];
    CUresult r = check_host_pointer(bytes, extent.width_B * extent.height * extent.depth);
    if (r)
        return r;
    virtual_check_mapped(end, "a read of");
    end->after = end->storage->unmaps;
    em_virtual_storage_ref(end->storage); // the object may be resized while em_lock is released
    r = run_and_wait(em_virtual_tick(), end);
    struct read read = {
        .to = {.base = bytes, .pitch_B = extent.width_B, .slice_B = extent.width_B * extent.height},
        .from = em_virtual_surface(end),
        .at = end->at,
        .extent = extent,
    };
    uint32_t keys = dm_pkey_enter();
    int status =
        dm_guarded_host(read_box, &read, extent.width_B * extent.height * extent.depth, &fault);
    dm_pkey_leave(keys);
    if (status) {
        dm_fault_text(&fault, text, sizeof text);
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the %llu bytes at %p cannot be written: %s; pass memory that the process can "
                    "write",
                    (unsigned long long)(extent.width_B * extent.height * extent.depth), bytes,
                    text);
    } else if (em_unlikely(em_recording_contents)) {
        em_record_range(RF_WRITES, bytes, extent.width_B * extent.height * extent.depth);
    }
    em_virtual_storage_unref(end->storage);
    return r;
}

CUresult em_virtual_read_buffer(cardlessBuffer buffer, uint64_t offset, uint64_t size, void *bytes)
{
    struct em_virtual_end end;
    em_lock();
    CUresult r = buffer_end(buffer, offset, size, &end);
    if (!r && size)
        r = read_end(&end, (struct dm_box_extent){size, 1, 1}, bytes);
    em_unlock();
    return r;
}

CUresult em_virtual_read_texture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                                 void *texels)
{
    struct em_virtual_end end;
    struct dm_box_extent extent;
    em_lock();
    CUresult r = texture_end(texture, level, box, &end, &extent);
    if (!r)
        r = read_end(&end, extent, texels);
    em_unlock();
    return r;
}

CUresult em_virtual_finish(void)
{
    em_lock();
    CUresult r = run_and_wait(em_virtual_issued(), NULL);
    em_unlock();
    return r;
}

CUresult em_virtual_query(void)
{
    em_lock();
    bool all;
    CUresult r = em_virtual_run(em_virtual_issued(), &all);
    em_unlock();
    return r ? r : all ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void em_virtual_clock(uint64_t *issued, uint64_t *done)
{
    em_lock();
    if (issued)
        *issued = em_virtual_issued();
    if (done)
        *done = em_virtual_done();
    em_unlock();
}
