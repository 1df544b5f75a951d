// SPDX-License-Identifier: MIT
// The virtual graphics API: checks of its calls, and its side of mapping.
#include "virtual_graphics.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "config.h"
#include "format.h"
#include "graphics.h"
#include "guard.h"
#include "kn_copy.h"
#include "lock.h"
#include "memory_device.h"
#include "object.h"
#include "pkey.h"
#include "virtual_storage.h"

// A buffer or texture.
struct object {
    struct em_object object; // type EM_VIRTUAL_BUFFER or EM_VIRTUAL_TEXTURE
    struct em_virtual_storage *storage;
};

enum { EXTENT_MAX = 16384, LAYERS_MAX = 2048 };

static enum em_type type_of(enum em_virtual_kind kind)
{
    return kind == EM_VIRTUAL_BUFFER_OBJECT ? EM_VIRTUAL_BUFFER : EM_VIRTUAL_TEXTURE;
}

// Precondition: em_lock held.
static CUresult get(enum em_virtual_kind kind, uint64_t handle, struct object **out)
{
    return em_object_get(type_of(kind), handle, CUDA_ERROR_INVALID_HANDLE, out);
}

// ---- objects ----

static void object_finish(struct em_object *object)
{
    struct object *o = (struct object *)object;
    em_virtual_storage_unref(o->storage);
    dm_free(o);
}

static CUresult create(enum em_virtual_kind kind, const struct em_graphics_shape *shape, uint64_t *out)
{
    em_lock();
    struct object *o = dm_calloc(1, sizeof *o);
    CUresult r = o ? em_virtual_storage_new(shape, &o->storage) : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a virtual graphics object");
    if (r)
        goto free_object;
    if ((r = em_object_start(&o->object, type_of(kind), NULL, object_finish)))
        goto drop_storage;
    *out = o->object.handle;
    goto unlock;
drop_storage:
    em_virtual_storage_unref(o->storage);
free_object:
    dm_free(o);
unlock:
    em_unlock();
    return r;
}

// Mistakes are the program's to make on purpose; under `driver-580` nobody says so.
static bool strict(void)
{
    return em_config()->personality == EM_MANUAL;
}

static CUresult resize(enum em_virtual_kind kind, uint64_t handle, const struct em_graphics_shape *shape)
{
    struct object *o;
    struct em_virtual_storage *storage;
    char text[128];
    em_lock();
    CUresult r = get(kind, handle, &o);
    if (!r && !(r = em_virtual_storage_new(shape, &storage))) {
        if (o->storage->mapped && strict())
            em_mistake(G07, CUDA_SUCCESS, "%s gets new storage while CUDA has it mapped", em_object_text(&o->object, text, sizeof text));
        em_virtual_storage_unref(o->storage);
        o->storage = storage;
    }
    em_unlock();
    return r;
}

CUresult em_virtual_destroy(enum em_virtual_kind kind, uint64_t handle)
{
    struct object *o;
    char text[128];
    em_lock();
    CUresult r = get(kind, handle, &o);
    if (!r && o->storage->mapped && strict())
        em_mistake(G13, CUDA_SUCCESS, "%s is destroyed while CUDA has it mapped", em_object_text(&o->object, text, sizeof text));
    if (!r)
        em_object_retire(&o->object);
    em_unlock();
    return r;
}

static CUresult buffer_shape(uint64_t size, struct em_graphics_shape *out)
{
    if (!size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a buffer of 0 bytes");
    *out = (struct em_graphics_shape){.kind = EM_GRAPHICS_BUFFER, .size_B = size};
    return CUDA_SUCCESS;
}

// Whether an extent is there exactly where the kind has it.
static bool fits(unsigned extent, bool wanted, unsigned most)
{
    return wanted ? extent && extent <= most : !extent;
}

static CUresult texture_shape(const cardlessTextureDesc *d, struct em_graphics_shape *out)
{
    const struct dm_format_info *format = dm_format_info((uint32_t)d->format);
    int kind = (int)d->kind;
    bool array = kind == CARDLESS_TEXTURE_1D_ARRAY || kind == CARDLESS_TEXTURE_2D_ARRAY, cube = kind == CARDLESS_TEXTURE_CUBE;
    if (kind < CARDLESS_TEXTURE_1D || kind > CARDLESS_TEXTURE_CUBE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "kind %d is no cardlessTextureKind", kind);
    if (!format || format->kind > DM_FORMAT_KIND_FLOAT || (d->channels != 1 && d->channels != 2 && d->channels != 4))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a texture of %u channels of format %#x", d->channels, (unsigned)d->format);
    bool high = kind != CARDLESS_TEXTURE_1D && kind != CARDLESS_TEXTURE_1D_ARRAY;
    if (!fits(d->width, true, EXTENT_MAX) || !fits(d->height, high, EXTENT_MAX) || !fits(d->depth, kind == CARDLESS_TEXTURE_3D, EXTENT_MAX) ||
        !fits(d->layers, array, LAYERS_MAX) || (cube && d->width != d->height))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "width %u, height %u, depth %u, layers %u do not go with kind %d", d->width, d->height, d->depth,
                       d->layers, kind);
    uint32_t most = dm_layout_levels_most(d->width, d->height, d->depth);
    if (!d->levels || d->levels > most)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%u levels of a texture that can have 1 to %u", d->levels, most);
    *out = (struct em_graphics_shape){
        .kind = EM_GRAPHICS_IMAGE,
        .width = d->width,
        .height = d->height,
        .depth = d->depth,
        .layers = cube ? 6 : d->layers,
        .cube = cube,
        .levels = d->levels,
        .format = d->format,
        .channels = d->channels,
        .element_B = format->channel_B * d->channels,
    };
    return CUDA_SUCCESS;
}

CUresult em_virtual_buffer_create(uint64_t size, cardlessBuffer *out)
{
    struct em_graphics_shape shape;
    uint64_t handle;
    CUresult r = buffer_shape(size, &shape);
    if (!r && !(r = create(EM_VIRTUAL_BUFFER_OBJECT, &shape, &handle)))
        *out = (cardlessBuffer)(uintptr_t)handle;
    return r;
}

CUresult em_virtual_buffer_resize(cardlessBuffer buffer, uint64_t size)
{
    struct em_graphics_shape shape;
    CUresult r = buffer_shape(size, &shape);
    return r ? r : resize(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, &shape);
}

CUresult em_virtual_texture_create(const cardlessTextureDesc *desc, cardlessTexture *out)
{
    struct em_graphics_shape shape;
    uint64_t handle;
    CUresult r = texture_shape(desc, &shape);
    if (!r && !(r = create(EM_VIRTUAL_TEXTURE_OBJECT, &shape, &handle)))
        *out = (cardlessTexture)(uintptr_t)handle;
    return r;
}

CUresult em_virtual_texture_resize(cardlessTexture texture, const cardlessTextureDesc *desc)
{
    struct em_graphics_shape shape;
    CUresult r = texture_shape(desc, &shape);
    return r ? r : resize(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, &shape);
}

// ---- boxes ----

// Bytes [offset, offset + size) of a buffer. Precondition: em_lock held.
static CUresult buffer_end(cardlessBuffer buffer, uint64_t offset, uint64_t size, struct em_virtual_end *end)
{
    struct object *o;
    char text[128];
    CUresult r = get(EM_VIRTUAL_BUFFER_OBJECT, (uint64_t)(uintptr_t)buffer, &o);
    if (r)
        return r;
    uint64_t have = o->storage->shape.size_B;
    if (offset > have || size > have - offset)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%llu bytes from %llu on leave %s of %llu", (unsigned long long)size, (unsigned long long)offset,
                       em_object_text(&o->object, text, sizeof text), (unsigned long long)have);
    *end = (struct em_virtual_end){.storage = o->storage, .at = {offset, 0, 0}};
    return CUDA_SUCCESS;
}

// A box of a level; NULL: all of it. Precondition: em_lock held.
static CUresult texture_end(cardlessTexture texture, unsigned level, const cardlessBox *box, struct em_virtual_end *end, struct dm_box_extent *extent)
{
    struct object *o;
    char text[128];
    CUresult r = get(EM_VIRTUAL_TEXTURE_OBJECT, (uint64_t)(uintptr_t)texture, &o);
    if (r)
        return r;
    const struct em_virtual_storage *s = o->storage;
    if (level >= s->shape.levels)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "level %u of %s, which has %u", level, em_object_text(&o->object, text, sizeof text),
                       s->shape.levels);
    const struct dm_layout_level *l = &s->layout.level[level];
    cardlessBox all = {0, 0, 0, l->width_px, l->height_px ? l->height_px : 1, (unsigned)dm_layout_depth(&s->layout, level)};
    const cardlessBox *b = box ? box : &all;
    if (b->x > all.width || b->width > all.width - b->x || b->y > all.height || b->height > all.height - b->y || b->z > all.depth ||
        b->depth > all.depth - b->z || !b->width || !b->height || !b->depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the box %ux%ux%u at %u, %u, %u is empty or leaves level %u of %s, which has %ux%ux%u", b->width,
                       b->height, b->depth, b->x, b->y, b->z, level, em_object_text(&o->object, text, sizeof text), all.width, all.height, all.depth);
    uint64_t element_B = s->shape.element_B;
    *end = (struct em_virtual_end){.storage = o->storage, .level = level, .at = {b->x * element_B, b->y, b->z}};
    *extent = (struct dm_box_extent){b->width * element_B, b->height, b->depth};
    return CUDA_SUCCESS;
}

static void look_for_mapped(const struct em_virtual_end *end, const char *what)
{
    if (end->storage && end->storage->mapped && strict())
        em_mistake(G07, CUDA_SUCCESS, "%s %s that CUDA has mapped", what, end->storage->shape.kind == EM_GRAPHICS_BUFFER ? "a buffer" : "a texture");
}

// ---- memory of the program ----

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
    if (!dm_guarded(copy_host, &c, &fault))
        return CUDA_SUCCESS;
    dm_fault_text(&fault, text, sizeof text);
    return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: the pointer is not good for %llu bytes", text, (unsigned long long)size_B);
}

static CUresult new_command(uint64_t bytes_B, struct em_virtual_command **out)
{
    *out = dm_calloc(1, sizeof **out + bytes_B);
    return *out ? CUDA_SUCCESS : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a command with %llu bytes", (unsigned long long)bytes_B);
}

// ---- commands ----

// A write or a fill of what `end` and `extent` say. Precondition: em_lock held.
static CUresult issue_bytes(const struct em_virtual_end *end, struct dm_box_extent extent, enum em_virtual_work work, uint64_t texel_B,
                            const void *bytes)
{
    struct em_virtual_command *c;
    uint64_t size_B = work == EM_VIRTUAL_FILL ? texel_B : extent.width_B * extent.height * extent.depth;
    if (!size_B)
        return CUDA_SUCCESS;
    CUresult r = new_command(size_B, &c);
    if (r)
        return r;
    if ((r = fetch(c->bytes, bytes, size_B))) {
        dm_free(c);
        return r;
    }
    c->to = *end;
    c->extent = extent;
    c->repeat_B = work == EM_VIRTUAL_FILL ? (uint32_t)texel_B : 0;
    look_for_mapped(end, work == EM_VIRTUAL_FILL ? "a fill of" : "a write of");
    em_virtual_issue(c);
    return CUDA_SUCCESS;
}

CUresult em_virtual_write_buffer(cardlessBuffer buffer, uint64_t offset, uint64_t size, enum em_virtual_work work, const void *bytes)
{
    struct em_virtual_end end;
    em_lock();
    CUresult r = buffer_end(buffer, offset, size, &end);
    if (!r && size)
        r = issue_bytes(&end, (struct dm_box_extent){size, 1, 1}, work, 1, bytes);
    em_unlock();
    return r;
}

CUresult em_virtual_write_texture(cardlessTexture texture, unsigned level, const cardlessBox *box, enum em_virtual_work work, const void *texels)
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

static CUresult issue_copy(const struct em_virtual_end *to, const struct em_virtual_end *from, struct dm_box_extent extent)
{
    struct em_virtual_command *c;
    CUresult r = new_command(0, &c);
    if (r)
        return r;
    c->to = *to;
    c->from = *from;
    c->extent = extent;
    look_for_mapped(to, "a copy to");
    if (from->storage != to->storage)
        look_for_mapped(from, "a copy from");
    em_virtual_issue(c);
    return CUDA_SUCCESS;
}

CUresult em_virtual_copy_buffer(cardlessBuffer to, uint64_t to_offset, cardlessBuffer from, uint64_t from_offset, uint64_t size)
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

CUresult em_virtual_copy_texture(cardlessTexture to, unsigned to_level, const cardlessBox *to_corner, cardlessTexture from, unsigned from_level,
                                 const cardlessBox *box)
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
    if ((r = texture_end(to, to_level, &place, &dst, &same)))
        goto unlock;
    if (dst.storage->shape.element_B != element_B)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "elements of %u bytes are copied to elements of %u bytes", element_B, dst.storage->shape.element_B);
    else if (dst.storage == src.storage && dst.level == src.level && !apart(dst.at.x_B, src.at.x_B, extent.width_B) &&
             !apart(dst.at.y, src.at.y, extent.height) && !apart(dst.at.z, src.at.z, extent.depth))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the two boxes of level %u overlap", dst.level);
    if (!r)
        r = issue_copy(&dst, &src, extent);
unlock:
    em_unlock();
    return r;
}

// ---- waiting ----

// Runs all commands up to a tick, and waits for the CUDA work that they wait for, and `end` too. Precondition: em_lock held, which is released
// meanwhile.
static CUresult run_and_wait(uint64_t tick, const struct em_virtual_end *end)
{
    while (!em_virtual_run(tick) || (end && em_virtual_end_waits(end))) {
        if (em_self.inside)
            return em_fail(CUDA_ERROR_NOT_PERMITTED, "a host function must not wait for graphics commands that wait for the stream");
        em_wait_progress();
    }
    return CUDA_SUCCESS;
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
    struct dm_fault fault;
    char text[160];
    look_for_mapped(end, "a read of");
    end->after = end->storage->unmaps;
    em_virtual_storage_ref(end->storage); // the object may be resized while the lock is free
    CUresult r = run_and_wait(em_virtual_tick(), end);
    if (!r) {
        struct read read = {
            .to = {.base = bytes, .pitch_B = extent.width_B, .slice_B = extent.width_B * extent.height},
            .from = em_virtual_surface(end),
            .at = end->at,
            .extent = extent,
        };
        uint32_t keys = dm_pkey_enter();
        int status = dm_guarded(read_box, &read, &fault);
        dm_pkey_leave(keys);
        if (status) {
            dm_fault_text(&fault, text, sizeof text);
            r = em_fail(CUDA_ERROR_INVALID_VALUE, "%s: the pointer is not good for what is read", text);
        }
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

CUresult em_virtual_read_texture(cardlessTexture texture, unsigned level, const cardlessBox *box, void *texels)
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
    bool all = em_virtual_run(em_virtual_issued());
    em_unlock();
    return all ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
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

// ---- mapping ----

// An object that is registered.
struct registered {
    struct object *object; // a reference
    enum em_virtual_kind kind;
    struct em_virtual_storage *storage; // a reference: what it was at registration
    unsigned flags;                     // of the mapping that was acquired
    bool acquired, written;
    // READ_ONLY: "CUDA will not write to this resource". What it writes all the same, graphics never sees: the bytes before the first write.
    unsigned char *before;
};

static enum em_graphics_health check(void *owner)
{
    const struct registered *r = owner;
    if (!em_object_peek(type_of(r->kind), r->object->object.handle))
        return EM_GRAPHICS_DELETED;
    return r->object->storage == r->storage ? EM_GRAPHICS_FINE : EM_GRAPHICS_RESIZED;
}

static const char *text(void *owner, char *out, size_t room)
{
    const struct registered *r = owner;
    snprintf(out, room, "%s #%u", em_type_name(type_of(r->kind)), r->object->object.number);
    return out;
}

// What graphics was told to do before is done before CUDA has the bytes.
static uint64_t mapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped++;
    return em_virtual_issued();
}

static void unmapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped--;
    r->storage->unmaps++;
}

static bool ready(void *owner, uint64_t fence)
{
    (void)owner;
    return em_virtual_can_run(fence);
}

static void keep_bytes(struct registered *r)
{
    const struct em_graphics_memory *m = r->storage->memory;
    if (r->before || !(r->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY) || !(r->before = dm_alloc(m->size_B)))
        return;
    uint32_t keys = dm_pkey_enter();
    kn_copy(r->before, (const void *)(uintptr_t)m->address, m->size_B);
    dm_pkey_leave(keys);
}

static CUresult acquire(void *owner, uint64_t fence, unsigned flags)
{
    struct registered *r = owner;
    em_virtual_run(fence);
    r->flags = flags;
    r->acquired = true;
    if (r->written)
        keep_bytes(r);
    return CUDA_SUCCESS;
}

static void touch(void *owner, const struct em_graphics_part *part, bool write)
{
    struct registered *r = owner;
    (void)part;
    if (!write)
        return;
    r->written = true;
    if (r->acquired)
        keep_bytes(r);
}

static CUresult release(void *owner, uint64_t sequence, bool keep)
{
    struct registered *r = owner;
    const struct em_graphics_memory *m = r->storage->memory;
    (void)sequence;
    if (r->before && !keep) {
        uint32_t keys = dm_pkey_enter();
        kn_copy((void *)(uintptr_t)m->address, r->before, m->size_B);
        dm_pkey_leave(keys);
    }
    dm_free(r->before);
    r->before = NULL;
    r->acquired = r->written = false;
    r->storage->unmaps_done++;
    return CUDA_SUCCESS;
}

static void close_registered(void *owner)
{
    struct registered *r = owner;
    dm_free(r->before);
    em_virtual_storage_unref(r->storage);
    em_object_unref(&r->object->object);
    dm_free(r);
}

static const struct em_graphics_ops virtual_graphics = {
    .api = "the virtual graphics API",
    .held_back = true,
    .check = check,
    .text = text,
    .mapped = mapped,
    .unmapped = unmapped,
    .ready = ready,
    .acquire = acquire,
    .touch = touch,
    .release = release,
    .close = close_registered,
};

CUresult em_virtual_register(enum em_virtual_kind kind, uint64_t handle, unsigned flags, CUgraphicsResource *out)
{
    CUresult r = em_graphics_check_flags(kind == EM_VIRTUAL_BUFFER_OBJECT ? EM_GRAPHICS_BUFFER : EM_GRAPHICS_IMAGE, flags);
    if (r)
        return r;
    struct registered *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    em_lock();
    if (!(r = get(kind, handle, &g->object))) {
        g->kind = kind;
        g->storage = g->object->storage;
        em_object_ref(&g->object->object);
        em_virtual_storage_ref(g->storage);
    }
    em_unlock();
    if (r) {
        dm_free(g);
        return r;
    }
    if ((r = em_graphics_register(&virtual_graphics, g, &g->storage->shape, flags, NULL, out))) {
        em_lock();
        close_registered(g);
        em_unlock();
    }
    return r;
}
