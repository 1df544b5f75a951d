// SPDX-License-Identifier: MIT
// Which shadow an object has.
#include "gl_shadow.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "graphics_memory.h"
#include "layout.h"
#include "lock.h"

static struct em_gl_shadow *shadows; // guarded by em_lock

// ---- shadows and objects

static bool is_same_image(const struct em_gl_image *a, const struct em_gl_image *b)
{
    return a->target == b->target && a->base == b->base && a->width == b->width &&
           a->height == b->height && a->depth == b->depth && a->levels == b->levels &&
           !memcmp(a->present, b->present, sizeof a->present) &&
           a->format.number == b->format.number;
}

static bool is_same_shape(const struct em_graphics_shape *a, const struct em_graphics_shape *b)
{
    return a->kind == b->kind && a->size_B == b->size_B && a->depth == b->depth &&
           a->layers == b->layers && a->cube == b->cube && a->levels == b->levels && !a->standing &&
           !b->standing;
}

// The next one after `m` that may be the object's; the first one for NULL. Precondition: em_lock
// held.
static struct em_gl_shadow *next_like(struct em_gl_shadow *m, const struct em_gl_object *o,
                                      const struct em_graphics_shape *shape,
                                      const struct em_device *device)
{
    for (m = m ? m->next : shadows; m; m = m->next)
        if (m->object->group == o->group && m->object->kind == o->kind &&
            m->object->name == o->name && m->device == device && is_same_shape(&m->shape, shape) &&
            is_same_image(&m->object->image, &o->image))
            break;
    if (m)
        m->references++;
    return m;
}

// The oldest one that was there before `own`; NULL: of all. (Two threads that make one each then
// agree which to keep.)
static struct em_gl_shadow *find_shadow(struct em_gl_shadow *own, const struct em_gl_object *o,
                                        const struct em_graphics_shape *shape,
                                        const struct em_device *device)
{
    struct em_gl_shadow *found = NULL, *m, *next;
    em_lock();
    for (m = next_like(own, o, shape, device); m; m = next) {
        em_unlock();
        bool same = em_gl_object_is_named(m->object);
        em_lock();
        next = next_like(m, o, shape, device);
        if (same && found)
            em_gl_shadow_unref(found);
        if (same)
            found = m;
        else
            em_gl_shadow_unref(m);
    }
    em_unlock();
    return found;
}

static CUresult make_shadow(struct em_gl_object *o, const struct em_graphics_shape *shape,
                            const struct em_device *device, struct em_gl_shadow **out)
{
    bool image = shape->kind == EM_GRAPHICS_IMAGE;
    struct em_gl_shadow *m = dm_calloc(1, sizeof *m);
    if (!m)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
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
    if (!r && !(m->levels = dm_calloc(m->level_count, sizeof *m->levels)))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    if (!r)
        r = em_graphics_memory_new(device, shape, memory_B, &m->memory);
    if (!r) {
        m->address = m->memory->address;
        m->next = shadows;
        shadows = m;
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
    struct em_gl_shadow *there = shape->standing ? NULL : find_shadow(NULL, object, shape, device),
                        *own = NULL;
    CUresult r = there ? CUDA_SUCCESS : make_shadow(object, shape, device, &own);
    if (there || r)
        em_gl_object_close(object);
    // Another thread may have made one meanwhile.
    else if (!shape->standing && (there = find_shadow(own, object, shape, device))) {
        em_lock();
        em_gl_shadow_unref(own);
        em_unlock();
    }
    *out = there ? there : own;
    return r;
}

void em_gl_shadow_unref(struct em_gl_shadow *shadow)
{
    if (--shadow->references)
        return;
    struct em_gl_shadow **at = &shadows;
    while (*at != shadow)
        at = &(*at)->next;
    *at = shadow->next;
    em_gl_object_close(shadow->object);
    em_graphics_memory_unref(shadow->memory);
    dm_free(shadow->levels);
    dm_free(shadow);
}
