// SPDX-License-Identifier: MIT
// Finds the shadow of an object, or makes one.
#include "gl_shadow.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "graphics_memory.h"
#include "hash_table.h"
#include "layout.h"
#include "lock.h"

// ---- the table

// Two registrations are of the same object only if these are equal. Equal keys are not sufficient,
// because OpenGL reuses the names of deleted objects.
struct em_gl_named_key {
    const struct em_gl_group *group;
    const struct em_device *device;
    uint64_t kind, name;
};

// The shadows of all objects that have or had a name; the newest comes first.
struct em_gl_named {
    struct em_gl_named_key key;
    struct em_gl_shadow *newest;
    UT_hash_handle hh;
};

static struct em_gl_named *gl_shadow_names; // guarded by em_lock

static struct em_gl_named_key gl_shadow_key(const struct em_gl_object *o,
                                            const struct em_device *device)
{
    return (struct em_gl_named_key){
        .group = o->group, .device = device, .kind = o->kind, .name = o->name};
}

// Precondition: em_lock held.
static CUresult gl_shadow_enter(struct em_gl_shadow *s)
{
    em_assert_locked();
    struct em_gl_named_key key = gl_shadow_key(s->object, s->device);
    struct em_gl_named *n = DM_TABLE_FIND(gl_shadow_names, &key);
    if (!n) {
        n = dm_calloc(1, sizeof *n);
        if (!n)
            goto no_memory;
        n->key = key;
        if (DM_TABLE_ADD(gl_shadow_names, key, n)) {
            dm_free(n);
            goto no_memory;
        }
    }
    s->named = n;
    s->older = n->newest;
    n->newest = s;
    return CUDA_SUCCESS;
no_memory:
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while registering %s %u",
                   em_gl_kind_text(s->object->kind), s->object->name);
}

// Precondition: em_lock held.
static void gl_shadow_leave(struct em_gl_shadow *s)
{
    em_assert_locked();
    struct em_gl_named *n = s->named;
    if (!n)
        return;
    struct em_gl_shadow **at = &n->newest;
    while (*at != s)
        at = &(*at)->older;
    *at = s->older;
    if (n->newest)
        return;
    DM_TABLE_REMOVE(gl_shadow_names, n);
    dm_free(n);
}

// ---- look-up

static bool gl_shadow_is_same_image(const struct em_gl_image *a, const struct em_gl_image *b)
{
    return a->target == b->target && a->base == b->base && a->width == b->width &&
           a->height == b->height && a->depth == b->depth && a->levels == b->levels &&
           !memcmp(a->present, b->present, sizeof a->present) &&
           a->format.number == b->format.number;
}

static bool gl_shadow_is_same_shape(const struct em_graphics_shape *a,
                                    const struct em_graphics_shape *b)
{
    return a->kind == b->kind && a->size_B == b->size_B && a->depth == b->depth &&
           a->layers == b->layers && a->cube == b->cube && a->levels == b->levels &&
           !a->persistent && !b->persistent;
}

// Returns the next older shadow than `s` that may be the object's, with a reference; the newest one
// if `s` is NULL. Precondition: em_lock held.
static struct em_gl_shadow *gl_shadow_next_like(struct em_gl_shadow *s,
                                                const struct em_gl_object *o,
                                                const struct em_graphics_shape *shape,
                                                const struct em_device *device)
{
    em_assert_locked();
    if (s) {
        s = s->older;
    } else {
        struct em_gl_named_key key = gl_shadow_key(o, device);
        const struct em_gl_named *n = DM_TABLE_FIND(gl_shadow_names, &key);
        s = n ? n->newest : NULL;
    }
    while (s && !(gl_shadow_is_same_shape(&s->shape, shape) &&
                  gl_shadow_is_same_image(&s->object->image, &o->image)))
        s = s->older;
    if (s)
        s->references++;
    return s;
}

// Returns the oldest shadow of the object that is older than `own`; of all if `own` is NULL. Two
// threads that both make one agree in this way which of them to keep.
static struct em_gl_shadow *gl_shadow_find(struct em_gl_shadow *own, const struct em_gl_object *o,
                                           const struct em_graphics_shape *shape,
                                           const struct em_device *device)
{
    struct em_gl_shadow *found = NULL, *s, *next;
    em_lock();
    for (s = gl_shadow_next_like(own, o, shape, device); s; s = next) {
        em_unlock();
        bool same = em_gl_object_is_named(s->object);
        em_lock();
        next = gl_shadow_next_like(s, o, shape, device);
        if (same && found)
            em_gl_shadow_unref(found);
        if (same)
            found = s;
        else
            em_gl_shadow_unref(s);
    }
    em_unlock();
    return found;
}

static CUresult gl_shadow_make(struct em_gl_object *o, const struct em_graphics_shape *shape,
                               const struct em_device *device, struct em_gl_shadow **out)
{
    bool image = shape->kind == EM_GRAPHICS_IMAGE;
    struct em_gl_shadow *m = dm_calloc(1, sizeof *m);
    if (!m)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a shadow buffer");
    *m = (struct em_gl_shadow){
        .references = 1, .object = o, .shape = *shape, .device = device, .size_B = shape->size_B};
    uint64_t memory_B;
    CUresult r =
        image ? em_graphics_layout(shape, &m->layout) : em_graphics_capacity(shape, &memory_B);
    if (image)
        memory_B = m->layout.total_B;
    em_lock();
    m->level_count =
        image ? (o->image.levels < m->layout.levels ? o->image.levels : m->layout.levels) : 1;
    if (!r)
        m->levels = dm_calloc(m->level_count, sizeof *m->levels);
    if (!r && !m->levels)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a shadow buffer");
    if (!r)
        r = em_graphics_memory_new(device, shape, memory_B, &m->memory);
    if (!r)
        m->address = m->memory->address;
    if (!r && !shape->persistent) {
        r = gl_shadow_enter(m);
        if (r)
            em_graphics_memory_unref(m->memory);
    }
    em_unlock();
    if (!r) {
        *out = m;
        return CUDA_SUCCESS;
    }
    dm_free(m->levels);
    dm_free(m);
    return r;
}

CUresult em_gl_shadow_open(struct em_gl_object *object, const struct em_graphics_shape *shape,
                           const struct em_device *device, struct em_gl_shadow **out)
{
    em_assert_unlocked();
    struct em_gl_shadow *there =
                            shape->persistent ? NULL : gl_shadow_find(NULL, object, shape, device),
                        *own = NULL;
    CUresult r = there ? CUDA_SUCCESS : gl_shadow_make(object, shape, device, &own);
    if (there || r)
        em_gl_object_close(object);
    else if (!shape->persistent) // another thread may have made one meanwhile
        there = gl_shadow_find(own, object, shape, device);
    if (there && own) {
        em_lock();
        em_gl_shadow_unref(own);
        em_unlock();
    }
    *out = there ? there : own;
    return r;
}

void em_gl_shadow_unref(struct em_gl_shadow *shadow)
{
    em_assert_locked();
    if (--shadow->references)
        return;
    gl_shadow_leave(shadow);
    em_gl_object_close(shadow->object);
    em_graphics_memory_unref(shadow->memory);
    dm_free(shadow->levels);
    dm_free(shadow);
}
