// SPDX-License-Identifier: MIT
// Moves bytes between GL objects and the device memory that stands for them.
#include "gl_mirror.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "graphics_memory.h"
#include "layout.h"
#include "lock.h"

static struct em_gl_mirror *mirrors; // guarded by em_lock

// ---- mirrors and objects

static bool is_same_image(const struct em_gl_image *a, const struct em_gl_image *b)
{
    return a->target == b->target && a->base == b->base && a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->levels == b->levels && !memcmp(a->present, b->present, sizeof a->present) && a->format.number == b->format.number;
}

static bool is_same_shape(const struct em_graphics_shape *a, const struct em_graphics_shape *b)
{
    return a->kind == b->kind && a->size_B == b->size_B && a->depth == b->depth && a->layers == b->layers && a->cube == b->cube &&
           a->levels == b->levels && !a->standing && !b->standing;
}

// The next one after `m` that may be the object's; the first one for NULL. Precondition: em_lock held.
static struct em_gl_mirror *next_like(struct em_gl_mirror *m, const struct em_gl_object *o, const struct em_graphics_shape *shape,
                                      const struct em_device *device)
{
    for (m = m ? m->next : mirrors; m; m = m->next)
        if (m->object->group == o->group && m->object->kind == o->kind && m->object->name == o->name && m->device == device &&
            is_same_shape(&m->shape, shape) && is_same_image(&m->object->image, &o->image))
            break;
    if (m)
        m->references++;
    return m;
}

static struct em_gl_mirror *find_mirror(const struct em_gl_object *o, const struct em_graphics_shape *shape, const struct em_device *device)
{
    em_lock();
    struct em_gl_mirror *m = next_like(NULL, o, shape, device);
    while (m) {
        em_unlock();
        bool same = em_gl_object_is_named(m->object);
        em_lock();
        if (same)
            break;
        struct em_gl_mirror *before = m;
        m = next_like(before, o, shape, device);
        em_gl_mirror_unref(before);
    }
    em_unlock();
    return m;
}

static CUresult make_mirror(struct em_gl_object *o, const struct em_graphics_shape *shape, const struct em_device *device, struct em_gl_mirror **out)
{
    bool image = shape->kind == EM_GRAPHICS_IMAGE;
    struct em_gl_mirror *m = dm_calloc(1, sizeof *m);
    if (!m)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    *m = (struct em_gl_mirror){.references = 1, .object = o, .shape = *shape, .device = device, .size_B = shape->size_B};
    CUresult r = image ? em_graphics_layout(shape, &m->layout) : CUDA_SUCCESS;
    em_lock();
    if (!r)
        r = em_graphics_memory_new(device, shape, image ? m->layout.total_B : em_graphics_reach_B(shape), &m->memory);
    if (!r) {
        m->address = m->memory->address;
        m->next = mirrors;
        mirrors = m;
    }
    em_unlock();
    if (r)
        dm_free(m);
    else
        *out = m;
    return r;
}

CUresult em_gl_mirror_open(struct em_gl_object *object, const struct em_graphics_shape *shape, const struct em_device *device,
                           struct em_gl_mirror **out)
{
    CUresult r = CUDA_SUCCESS;
    struct em_gl_mirror *there = shape->standing ? NULL : find_mirror(object, shape, device);
    if (there)
        *out = there;
    else
        r = make_mirror(object, shape, device, out);
    if (there || r)
        em_gl_object_close(object);
    return r;
}

void em_gl_mirror_unref(struct em_gl_mirror *mirror)
{
    if (--mirror->references)
        return;
    struct em_gl_mirror **at = &mirrors;
    while (*at != mirror)
        at = &(*at)->next;
    *at = mirror->next;
    em_gl_object_close(mirror->object);
    em_graphics_memory_unref(mirror->memory);
    dm_free(mirror);
}

// ---- moving bytes

// Tells once in a mapping what is wrong with an object. Whether its bytes were moved, or as many as it still has.
static bool tell(struct em_gl_mirror *m, enum em_gl_status status)
{
    bool changed = status == EM_GL_RESIZED || status == EM_GL_REFORMATTED, good = !status || changed || status == EM_GL_MISSING;
    bool *said = changed ? &m->said_resized : &m->said_refused;
    if (!status || *said)
        return good;
    *said = true;
    const char *kind = em_gl_kind_text(m->object->kind), *why = em_gl_status_text(status);
    if (changed)
        em_mistake(G14, CUDA_SUCCESS, "OpenGL %s %u: %s", kind, m->object->name, why);
    else if (status == EM_GL_MISSING)
        em_mistake(G13, CUDA_SUCCESS, "OpenGL %s %u: %s", kind, m->object->name, why);
    else if (status == EM_GL_REFUSED)
        em_mistake(G07, CUDA_SUCCESS, "OpenGL %s %u: %s", kind, m->object->name, why);
    else
        em_explain(CUDA_SUCCESS, "OpenGL %s %u: %s", kind, m->object->name, why);
    return good;
}

void em_gl_mirror_map(struct em_gl_mirror *m, bool keep)
{
    m->keep = keep || (m->maps && m->keep);
    if (m->maps++)
        return;
    memset(m->fetched, 0, sizeof m->fetched);
    memset(m->overwrites, 0, sizeof m->overwrites);
    for (unsigned level = 0; level < EM_GL_LEVELS_MAX; level++)
        m->dirty[level].count = 0;
    m->written.count = 0;
    m->mapped_size_B = 0;
    m->said_resized = m->said_refused = false;
}

enum { PIECES = 64 };
static const uint64_t everything = UINT64_MAX;

// Whether a touch needs the GL's bytes where they have not been fetched yet in this mapping. `all`: it is of the whole level or buffer.
static bool needs_bytes(struct em_gl_mirror *m, unsigned level, bool all, enum em_touch touch)
{
    if (m->fetched[level] == everything || touch == EM_TOUCH_WRITTEN)
        return false;
    uint32_t *overwrites = &m->overwrites[level];
    if (touch == EM_TOUCH_UNWRITTEN)
        return all && *overwrites && !--*overwrites;
    if (touch == EM_TOUCH_WRITE && all)
        ++*overwrites;
    return !*overwrites;
}

// ---- buffers

static uint64_t piece_B(const struct em_gl_mirror *m)
{
    enum { PAGE_B = 4096 };
    return ((m->size_B + PIECES - 1) / PIECES + PAGE_B - 1) / PAGE_B * PAGE_B;
}

static void fetch_pieces(struct em_gl_mirror *m, uint64_t first, uint64_t end)
{
    uint64_t from = first * piece_B(m), to = end * piece_B(m) < m->size_B ? end * piece_B(m) : m->size_B;
    tell(m, em_gl_buffer_read(m->object, from, to - from, (void *)(uintptr_t)(m->address + from)));
    m->to_cuda_B += to - from;
}

// Fetches the pieces that have a byte of the range and were not fetched yet, side by side ones at once.
static void fetch_range(struct em_gl_mirror *m, struct em_gl_range r)
{
    uint64_t last = (r.end - 1) / piece_B(m), missing = PIECES; // the first of those in a row
    for (uint64_t i = r.first / piece_B(m); i <= last; i++) {
        bool have = m->fetched[0] & UINT64_C(1) << i;
        if (!have && missing == PIECES)
            missing = i;
        if (missing < PIECES && (have || i == last))
            fetch_pieces(m, missing, have ? i : i + 1);
        if (have)
            missing = PIECES;
        m->fetched[0] |= UINT64_C(1) << i;
    }
}

static bool ranges_meet(struct em_gl_range a, struct em_gl_range b)
{
    return a.first <= b.end && b.first <= a.end;
}

static struct em_gl_range range_of_both(struct em_gl_range a, struct em_gl_range b)
{
    return (struct em_gl_range){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

// Adds a range to those that are there, with those that it meets; where there is no room, with the one that it grows least by it.
static void add_range(struct em_gl_mirror *m, struct em_gl_range r)
{
    struct em_gl_ranges *all = &m->written;
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < all->count;) {
        if (ranges_meet(all->range[i], r)) {
            r = range_of_both(all->range[i], r);
            all->range[i] = all->range[--all->count];
            i = 0; // it may meet others now
            least = UINT64_MAX;
            continue;
        }
        struct em_gl_range both = range_of_both(all->range[i], r);
        uint64_t grows = both.end - both.first - (all->range[i].end - all->range[i].first);
        if (grows < least) {
            least = grows;
            best = i;
        }
        i++;
    }
    if (all->count < EM_GL_PARTS_MAX) {
        all->range[all->count++] = r;
        return;
    }
    all->range[best] = range_of_both(all->range[best], r);
    if (!m->overwrites[0])
        fetch_range(m, all->range[best]);
}

void em_gl_mirror_touch(struct em_gl_mirror *m, uint64_t offset, uint64_t size, enum em_touch touch)
{
    if (!m->maps || !size || offset >= m->size_B)
        return;
    uint64_t end = size < m->size_B - offset ? offset + size : m->size_B;
    if (needs_bytes(m, 0, !offset && end == m->size_B, touch))
        fetch_range(m, (struct em_gl_range){offset, end});
    if (!em_touch_writes(touch))
        return;
    // What is written now goes to the storage that the buffer has now: nowhere, if the program gives it another one before unmap.
    if (!m->mapped_size_B)
        em_gl_buffer_size(m->object, &m->mapped_size_B);
    add_range(m, (struct em_gl_range){offset, end});
}

static bool push_buffer(struct em_gl_mirror *m)
{
    uint64_t size_now;
    bool good = true;
    if (!m->written.count)
        return true;
    if (em_gl_buffer_size(m->object, &size_now) == EM_GL_OK && size_now != m->mapped_size_B) {
        return tell(m, EM_GL_RESIZED);
    }
    for (unsigned i = 0; i < m->written.count; i++) {
        const struct em_gl_range *r = &m->written.range[i];
        good &= tell(m, em_gl_buffer_write(m->object, r->first, r->end - r->first, (const void *)(uintptr_t)(m->address + r->first)));
        m->to_graphics_B += r->end - r->first;
    }
    return good;
}

// ---- images

static struct em_gl_bytes bytes_of(const struct em_gl_mirror *m, unsigned level)
{
    const struct dm_layout_level *l = &m->layout.level[level];
    return (struct em_gl_bytes){
        .base = (void *)(uintptr_t)(m->address + l->offset_B),
        .pitch_B = l->pitch_B,
        .slice_B = m->layout.layered || m->layout.cube ? l->layer_stride_B : l->slice_B,
        .width = l->width_el,
        .height = l->height_el,
        .depth = (uint32_t)dm_layout_depth(&m->layout, level),
    };
}

static struct em_gl_box whole(const struct em_gl_bytes *b)
{
    return (struct em_gl_box){.width = b->width, .height = b->height, .depth = b->depth};
}

// The smallest range that holds both.
static void join(uint32_t *at, uint32_t *size, uint32_t other_at, uint32_t other_size)
{
    uint32_t end = *at + *size, other_end = other_at + other_size;
    *at = other_at < *at ? other_at : *at;
    *size = (other_end > end ? other_end : end) - *at;
}

static struct em_gl_box box_of_both(const struct em_gl_box *a, const struct em_gl_box *b)
{
    struct em_gl_box both = *a;
    join(&both.x, &both.width, b->x, b->width);
    join(&both.y, &both.height, b->y, b->height);
    join(&both.z, &both.depth, b->z, b->depth);
    return both;
}

static uint64_t volume(const struct em_gl_box *b)
{
    return (uint64_t)b->width * b->height * b->depth;
}

// Whether two boxes make one that has nothing else in it: one lies in the other, or they differ in one direction only and meet there.
static bool make_a_box(const struct em_gl_box *a, const struct em_gl_box *b, const struct em_gl_box *both)
{
    bool x = a->x == b->x && a->width == b->width, y = a->y == b->y && a->height == b->height, z = a->z == b->z && a->depth == b->depth;
    if (volume(both) == volume(a) || volume(both) == volume(b))
        return true;
    return x + y + z == 2 && volume(both) <= volume(a) + volume(b);
}

// Adds a box to those that are there, with those that make a box with it; where there is no room, with the one that it grows least by it.
static void add_box(struct em_gl_dirty *all, const struct em_gl_box *box)
{
    struct em_gl_box b = *box;
    unsigned best = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < all->count;) {
        struct em_gl_box both = box_of_both(&all->box[i], &b);
        if (make_a_box(&all->box[i], &b, &both)) {
            b = both;
            all->box[i] = all->box[--all->count];
            i = 0; // it may go with others now
            least = UINT64_MAX;
            continue;
        }
        uint64_t grows = volume(&both) - volume(&all->box[i]);
        if (grows < least) {
            least = grows;
            best = i;
        }
        i++;
    }
    if (all->count < EM_GL_PARTS_MAX)
        all->box[all->count++] = b;
    else
        all->box[best] = box_of_both(&all->box[best], &b);
}

void em_gl_mirror_touch_box(struct em_gl_mirror *m, unsigned level, const struct em_gl_box *box, enum em_touch touch)
{
    // CUDA may have more levels than the texture.
    if (!m->maps || level >= m->object->image.levels || !box->width || !box->height || !box->depth)
        return;
    struct em_gl_bytes bytes = bytes_of(m, level);
    struct em_gl_box all = whole(&bytes);
    if (needs_bytes(m, level, !memcmp(box, &all, sizeof all), touch)) {
        tell(m, em_gl_image_read(m->object, level, &bytes));
        m->to_cuda_B += volume(&all) * m->object->image.transfer.element_B;
        m->fetched[level] = everything;
    }
    if (em_touch_writes(touch))
        add_box(&m->dirty[level], box);
}

static bool push_image(struct em_gl_mirror *m)
{
    bool good = true;
    for (unsigned level = 0; level < m->object->image.levels && level < m->layout.levels; level++) {
        struct em_gl_bytes bytes = bytes_of(m, level);
        for (unsigned i = 0; i < m->dirty[level].count; i++) {
            const struct em_gl_box *box = &m->dirty[level].box[i];
            good &= tell(m, em_gl_image_write(m->object, level, box, &bytes));
            m->to_graphics_B += volume(box) * m->object->image.transfer.element_B;
        }
    }
    return good;
}

// ---- either

void em_gl_mirror_touch_all(struct em_gl_mirror *m, enum em_touch touch)
{
    if (touch == EM_TOUCH_WRITE) // what is there may be needed all the same
        touch = EM_TOUCH_WRITE_SOME;
    if (m->size_B) {
        em_gl_mirror_touch(m, 0, m->size_B, touch);
        return;
    }
    for (unsigned level = 0; level < m->object->image.levels && level < m->layout.levels; level++) {
        struct em_gl_bytes bytes = bytes_of(m, level);
        struct em_gl_box all = whole(&bytes);
        em_gl_mirror_touch_box(m, level, &all, touch);
    }
}

bool em_gl_mirror_discard(struct em_gl_mirror *m)
{
    if (m->maps > 1)
        return false;
    memset(m->fetched, 0xff, sizeof m->fetched);
    return true;
}

bool em_gl_mirror_unmap(struct em_gl_mirror *m, bool push)
{
    bool good = true;
    if (push && m->keep) // what others write meanwhile goes with them
        good = m->size_B ? push_buffer(m) : push_image(m);
    m->maps--;
    return good;
}
