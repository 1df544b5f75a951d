// SPDX-License-Identifier: MIT
// Moves bytes between GL objects and the device memory that stands for them.
#include "gl_mirror.h"

#include <string.h>

#include "error.h"
#include "layout.h"

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

void em_gl_mirror_map(struct em_gl_mirror *m)
{
    m->mapped = true;
    memset(m->fetched, 0, sizeof m->fetched);
    memset(m->overwrites, 0, sizeof m->overwrites);
    memset(m->dirty, 0, sizeof m->dirty);
    m->dirty_first = m->dirty_end = m->mapped_size_B = 0;
    m->said_resized = m->said_refused = false;
}

// Whether a touch needs the GL's bytes, which have not been fetched yet in this mapping. `all`: it is of the whole level or buffer.
static bool needs_bytes(struct em_gl_mirror *m, unsigned level, bool all, enum em_touch touch)
{
    if (m->fetched[level] || touch == EM_TOUCH_WRITTEN)
        return false;
    uint32_t *overwrites = &m->overwrites[level];
    if (touch == EM_TOUCH_UNWRITTEN)
        return all && *overwrites && !--*overwrites;
    if (touch == EM_TOUCH_WRITE && all)
        ++*overwrites;
    return !*overwrites;
}

// ---- buffers

void em_gl_mirror_touch(struct em_gl_mirror *m, uint64_t offset, uint64_t size, enum em_touch touch)
{
    if (!m->mapped || !size || offset >= m->size_B)
        return;
    uint64_t end = size < m->size_B - offset ? offset + size : m->size_B;
    if (needs_bytes(m, 0, !offset && end == m->size_B, touch)) {
        tell(m, em_gl_buffer_read(m->object, 0, m->size_B, (void *)(uintptr_t)m->address));
        m->fetched[0] = true;
    }
    if (!em_touch_writes(touch))
        return;
    // What is written now goes to the storage that the buffer has now: nowhere, if the program gives it another one before unmap.
    if (!m->mapped_size_B)
        em_gl_buffer_size(m->object, &m->mapped_size_B);
    if (m->dirty_first == m->dirty_end || offset < m->dirty_first)
        m->dirty_first = offset;
    if (end > m->dirty_end)
        m->dirty_end = end;
}

static bool push_buffer(struct em_gl_mirror *m)
{
    uint64_t size_now;
    if (m->dirty_first == m->dirty_end)
        return true;
    if (em_gl_buffer_size(m->object, &size_now) == EM_GL_OK && size_now != m->mapped_size_B) {
        return tell(m, EM_GL_RESIZED);
    }
    return tell(m,
                em_gl_buffer_write(m->object, m->dirty_first, m->dirty_end - m->dirty_first, (const void *)(uintptr_t)(m->address + m->dirty_first)));
}

// ---- images

static struct em_gl_bytes bytes_of(const struct em_gl_mirror *m, unsigned level)
{
    const struct dm_layout_level *l = &m->layout->level[level];
    return (struct em_gl_bytes){
        .base = (void *)(uintptr_t)(m->address + l->offset_B),
        .pitch_B = l->pitch_B,
        .slice_B = m->layout->layered || m->layout->cube ? l->layer_stride_B : l->slice_B,
        .width = l->width_el,
        .height = l->height_el,
        .depth = (uint32_t)dm_layout_depth(m->layout, level),
    };
}

static struct em_gl_box whole(const struct em_gl_bytes *b)
{
    return (struct em_gl_box){.width = b->width, .height = b->height, .depth = b->depth};
}

// The smallest range that holds both; an empty one holds nothing.
static void join(uint32_t *at, uint32_t *size, uint32_t other_at, uint32_t other_size)
{
    uint32_t end = *at + *size, other_end = other_at + other_size;
    *at = other_at < *at ? other_at : *at;
    *size = (other_end > end ? other_end : end) - *at;
}

void em_gl_mirror_touch_box(struct em_gl_mirror *m, unsigned level, const struct em_gl_box *box, enum em_touch touch)
{
    // CUDA may have more levels than the texture.
    if (!m->mapped || level >= m->object->image.levels || !box->width || !box->height || !box->depth)
        return;
    struct em_gl_bytes bytes = bytes_of(m, level);
    struct em_gl_box all = whole(&bytes), *dirty = &m->dirty[level];
    if (needs_bytes(m, level, !memcmp(box, &all, sizeof all), touch)) {
        tell(m, em_gl_image_read(m->object, level, &bytes));
        m->fetched[level] = true;
    }
    if (!em_touch_writes(touch))
        return;
    if (!dirty->width) {
        *dirty = *box;
        return;
    }
    join(&dirty->x, &dirty->width, box->x, box->width);
    join(&dirty->y, &dirty->height, box->y, box->height);
    join(&dirty->z, &dirty->depth, box->z, box->depth);
}

static bool push_image(struct em_gl_mirror *m)
{
    bool good = true;
    for (unsigned level = 0; level < m->object->image.levels && level < m->layout->levels; level++) {
        struct em_gl_bytes bytes = bytes_of(m, level);
        if (m->dirty[level].width)
            good &= tell(m, em_gl_image_write(m->object, level, &m->dirty[level], &bytes));
    }
    return good;
}

// ---- either

void em_gl_mirror_touch_all(struct em_gl_mirror *m, enum em_touch touch)
{
    if (touch == EM_TOUCH_WRITE) // what is there may be needed all the same
        touch = EM_TOUCH_WRITE_SOME;
    if (!m->layout) {
        em_gl_mirror_touch(m, 0, m->size_B, touch);
        return;
    }
    for (unsigned level = 0; level < m->object->image.levels && level < m->layout->levels; level++) {
        struct em_gl_bytes bytes = bytes_of(m, level);
        struct em_gl_box all = whole(&bytes);
        em_gl_mirror_touch_box(m, level, &all, touch);
    }
}

void em_gl_mirror_discard(struct em_gl_mirror *m)
{
    memset(m->fetched, 1, sizeof m->fetched);
}

bool em_gl_mirror_unmap(struct em_gl_mirror *m, bool keep)
{
    bool good = true;
    if (m->mapped && keep)
        good = m->layout ? push_image(m) : push_buffer(m);
    m->mapped = false;
    return good;
}
