// SPDX-License-Identifier: MIT
// Copies between shadows and OpenGL objects: tracks the newest bytes, fetches them and writes them
// back.
#include <pthread.h>

#include "error.h"
#include "gl_shadow.h"
#include "lock.h"

// Reports a failed copy, once in each mapping. Returns whether the bytes were copied, or as many of
// them as the object still has.
static bool transfer_report(struct em_gl_shadow *m, enum em_gl_status status)
{
    bool changed = status == EM_GL_RESIZED || status == EM_GL_REFORMATTED,
         good = !status || changed || status == EM_GL_MISSING;
    bool *reported = changed ? &m->reported_resized : &m->reported_refused;
    if (!status || *reported)
        return good;
    *reported = true;
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

void em_gl_shadow_map(struct em_gl_shadow *m, bool write_back)
{
    em_assert_locked();
    m->write_back = write_back || (m->maps && m->write_back);
    if (m->maps++)
        return;
    for (unsigned i = 0; i < m->level_count; i++) {
        struct em_gl_level *l = &m->levels[i];
        l->valid.count = l->dirty.count = l->pending.count = l->fetches = 0;
        l->fully_valid = false;
    }
    m->mapped_size_B = 0;
    m->reported_resized = m->reported_refused = false;
}

static struct em_gl_bytes transfer_bytes(const struct em_gl_shadow *m, unsigned level)
{
    if (m->size_B)
        return (struct em_gl_bytes){
            .base = (void *)(uintptr_t)m->address, .width = m->size_B, .height = 1, .depth = 1};
    const struct dm_layout_level *l = &m->layout.level[level];
    struct dm_layout_rows rows = dm_layout_rows(&m->layout, level);
    return (struct em_gl_bytes){
        .base = (void *)(uintptr_t)(m->address + rows.offset_B),
        .pitch_B = rows.pitch_B,
        .slice_B = rows.slice_B,
        .width = l->width_el,
        .height = l->height_el,
        .depth = (uint32_t)dm_layout_depth(&m->layout, level),
    };
}

static uint64_t transfer_element_B(const struct em_gl_shadow *m)
{
    return m->size_B ? 1 : m->object->image.transfer.element_B;
}

static struct em_gl_box transfer_whole(const struct em_gl_shadow *m, unsigned level)
{
    struct em_gl_bytes b = transfer_bytes(m, level);
    return (struct em_gl_box){.width = b.width, .height = b.height, .depth = b.depth};
}

static void transfer_set_valid(struct em_gl_shadow *m, unsigned level)
{
    struct em_gl_level *l = &m->levels[level];
    l->valid.count = 1;
    l->valid.box[0] = transfer_whole(m, level);
    l->fully_valid = true;
}

bool em_gl_shadow_discard(struct em_gl_shadow *m)
{
    em_assert_locked();
    if (m->maps > 1)
        return false;
    for (unsigned level = 0; level < m->level_count; level++)
        transfer_set_valid(m, level);
    return true;
}

// ---- pending writes

static unsigned pending_find(const struct em_gl_level *l, const void *resource,
                             const struct em_gl_box *box)
{
    unsigned i = 0;
    while (i < l->pending.count &&
           (l->writers[i].resource != resource || !em_gl_box_is_same(&l->pending.box[i], box)))
        i++;
    return i;
}

// Whether the end of one more write can be tracked exactly.
static bool pending_has_capacity(const struct em_gl_level *l)
{
    unsigned taken = l->dirty.count;
    for (unsigned i = 0; i < l->pending.count; i++)
        taken += l->writers[i].commands;
    return taken < EM_GL_BOXES_MAX;
}

// Tracks a write until it ends. If there is no capacity, which happens only in a fully valid level,
// the write counts as complete.
static void pending_add(struct em_gl_level *l, const void *resource, const struct em_gl_box *box)
{
    unsigned at = pending_find(l, resource, box);
    if (at == EM_GL_BOXES_MAX) {
        em_gl_region_grow(&l->dirty, box);
        return;
    }
    if (at == l->pending.count) {
        l->pending.box[l->pending.count++] = *box;
        l->writers[at] = (struct em_gl_pending){.resource = resource};
    }
    l->writers[at].commands++;
}

static void pending_remove(struct em_gl_level *l, unsigned at)
{
    l->pending.box[at] = l->pending.box[--l->pending.count];
    l->writers[at] = l->writers[l->pending.count];
}

void em_gl_shadow_end_write(struct em_gl_shadow *m, const void *resource, unsigned level,
                            const struct em_gl_box *box, bool complete)
{
    em_assert_locked();
    if (!m->maps || level >= m->level_count)
        return;
    struct em_gl_level *l = &m->levels[level];
    unsigned at = pending_find(l, resource, box);
    if (at < l->pending.count && !--l->writers[at].commands)
        pending_remove(l, at);
    if (complete) {
        em_gl_region_grow(&l->dirty, box);
    } else { // it may have begun, or may have made a fetch unnecessary: fetch everything again
        l->valid.count = 0;
        l->fully_valid = false;
    }
}

// At unmap all commands of the mapping have completed, but the end of some writes is never
// reported, because pointers and arrays end before the last commands. Counts these writes as
// complete.
static void pending_end_all(struct em_gl_level *l, const void *resource)
{
    for (unsigned i = 0; i < l->pending.count;) {
        if (l->writers[i].resource != resource) {
            i++;
            continue;
        }
        em_gl_region_grow(&l->dirty, &l->pending.box[i]);
        pending_remove(l, i);
    }
}

// ---- fetching

// Signalled, with em_lock held, when a shadow is no longer busy.
static pthread_cond_t transfer_idle = PTHREAD_COND_INITIALIZER;

void em_gl_shadow_wait(struct em_gl_shadow *m)
{
    em_assert_locked();
    while (m->busy) // a copy inside OpenGL, which waits for no CUDA work
        em_lock_wait(&transfer_idle);
}

// Releases em_lock until transfer_end.
static void transfer_begin(struct em_gl_shadow *m)
{
    m->busy = true;
    em_unlock();
}

static void transfer_end(struct em_gl_shadow *m)
{
    em_lock();
    m->busy = false;
    pthread_cond_broadcast(&transfer_idle);
}

// The bytes to fetch, and the regions that must not be overwritten.
struct fetch {
    struct em_gl_shadow *shadow;
    const void *resource;
    unsigned level;
    struct em_gl_box box;
    struct em_gl_region except[3];
    struct em_gl_bytes bytes;
    uint64_t copied; // texels, or bytes of a buffer
    bool any;
    enum em_gl_status status;
};

static void fetch_note_part(void *arg, const struct em_gl_box *part)
{
    (void)part;
    ((struct fetch *)arg)->any = true;
}

static void fetch_part(void *arg, const struct em_gl_box *part)
{
    struct fetch *f = arg;
    struct em_gl_object *o = f->shadow->object;
    enum em_gl_status status =
        f->shadow->size_B
            ? em_gl_buffer_read(o, part->x, part->width, (char *)f->bytes.base + part->x)
            : em_gl_image_read(o, f->level, part, &f->bytes);
    f->status = status ? status : f->status;
    f->copied += em_gl_box_volume(part);
}

// Whether a part of a box is valid in OpenGL only. Fills in the rest of `f`.
static bool fetch_is_needed(struct fetch *f, const struct em_gl_box *box)
{
    const struct em_gl_level *l = &f->shadow->levels[f->level];
    f->except[0] = l->valid;
    f->except[1] = l->dirty;
    f->except[2] = l->pending;
    f->bytes = transfer_bytes(f->shadow, f->level);
    f->box = *box;
    f->any = false;
    em_gl_region_rest(f->except, 3, box, fetch_note_part, f);
    return f->any;
}

// The first small reads fetch exactly what they need. Later ones fetch bands or pieces, because a
// fetch costs as much as copying some hundred KiB.
static struct em_gl_box fetch_widen(const struct em_gl_level *l, const struct em_gl_box *box,
                                    const struct em_gl_box *all)
{
    enum { EXACT_FETCHES = 8, BANDS = 16, PIECES = 64, PAGE_B = 4096 };
    struct em_gl_box b = *box;
    if (em_gl_box_volume(box) * 2 >= em_gl_box_volume(all))
        return *all;
    if (l->fetches < EXACT_FETCHES)
        return b;
    b.x = 0;
    b.width = all->width;
    if (all->height > 1) {
        uint32_t step = (all->height + BANDS - 1) / BANDS,
                 end = (box->y + box->height + step - 1) / step * step;
        b.y = box->y / step * step;
        b.height = (end < all->height ? end : all->height) - b.y;
    } else {
        uint64_t step = (all->width / PIECES / PAGE_B + 1) * PAGE_B,
                 end = (box->x + box->width + step - 1) / step * step;
        b.x = box->x / step * step;
        b.width = (end < all->width ? end : all->width) - b.x;
    }
    return b;
}

// Plans the fetch for an access, and updates the level's state as if it had been done. `tracked`:
// the end of a write will be reported. Returns whether there is anything to fetch.
static bool fetch_plan(struct fetch *f, const struct em_gl_box *box, enum em_access_mode mode,
                       bool tracked)
{
    struct em_gl_level *l = &f->shadow->levels[f->level];
    struct em_gl_box all = transfer_whole(f->shadow, f->level), area = *box;
    bool writes = mode != EM_ACCESS_READ, exact = tracked && pending_has_capacity(l), any = false;
    if (!l->fully_valid &&
        ((writes && !exact) || (mode != EM_ACCESS_WRITE && fetch_is_needed(f, box)))) {
        if (writes && !exact)
            area = all;
        else if (!writes)
            area = fetch_widen(l, box, &all);
        any = fetch_is_needed(f, &area);
        l->fetches++;
        if (em_gl_box_is_same(&area, &all) || !em_gl_region_add(&l->valid, &area)) {
            any = fetch_is_needed(f, &all);
            transfer_set_valid(f->shadow, f->level);
        }
    }
    if (writes && tracked)
        pending_add(l, f->resource, box);
    return any;
}

static void make_level_resident(struct em_gl_shadow *m, const void *resource, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode, bool tracked)
{
    struct fetch f = {.shadow = m, .resource = resource, .level = level, .status = EM_GL_OK};
    // Bytes that are written now belong to the storage that the buffer has now. If the program
    // gives it another storage before unmap, they are dropped.
    bool measure = m->size_B && !m->mapped_size_B && mode != EM_ACCESS_READ,
         any = fetch_plan(&f, box, mode, tracked);
    uint64_t size_B = 0;
    if (any || measure) {
        transfer_begin(m);
        if (measure)
            em_gl_buffer_size(m->object, &size_B);
        if (any)
            em_gl_region_rest(f.except, 3, &f.box, fetch_part, &f);
        transfer_end(m);
        if (!transfer_report(m, f.status)) { // fetch it again at the next access
            m->levels[level].valid.count = 0;
            m->levels[level].fully_valid = false;
        }
        m->to_cuda_B += f.copied * transfer_element_B(m);
        m->mapped_size_B = measure ? size_B : m->mapped_size_B;
    }
    if (!tracked && mode != EM_ACCESS_READ)
        em_gl_region_grow(&m->levels[level].dirty, box);
}

void em_gl_shadow_make_resident(struct em_gl_shadow *m, const void *resource, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode)
{
    em_assert_locked();
    if (box && level < m->level_count)
        make_level_resident(m, resource, level, box, mode, true);
    for (level = 0; !box && level < m->level_count && m->maps; level++) {
        struct em_gl_box all = transfer_whole(m, level);
        make_level_resident(m, resource, level, &all, mode, false);
        em_gl_shadow_wait(m);
    }
}

// ---- copies that pass the shadow by

// The rows as those of a level, or of a buffer, of which they are a box. Returns false if OpenGL
// cannot be told where they are: it counts in whole elements, and its rows begin with whole
// channels.
static bool direct_bytes(const struct em_gl_shadow *m, unsigned level, const struct em_gl_box *box,
                         const struct em_rows *rows, struct em_gl_bytes *out)
{
    const uint64_t element_B = transfer_element_B(m);
    const uint64_t channel_B = m->size_B ? 1 : element_B / m->object->image.transfer.channels;
    *out = transfer_bytes(m, level);
    out->pitch_B = rows->pitch_B;
    out->slice_B = rows->slice_B;
    out->base =
        (char *)rows->first - box->z * rows->slice_B - box->y * rows->pitch_B - box->x * element_B;
    return !(rows->pitch_B % element_B) && !(rows->slice_B % rows->pitch_B) &&
           !((uintptr_t)rows->first % channel_B) && rows->pitch_B / element_B <= INT32_MAX &&
           rows->slice_B / rows->pitch_B <= INT32_MAX;
}

// A program that copies many small parts gets them from the shadow in less time than from OpenGL.
static bool direct_is_large(const struct em_gl_shadow *m, unsigned level,
                            const struct em_gl_box *box)
{
    enum { LARGE_B = 1 << 20 };
    const struct em_gl_box all = transfer_whole(m, level);
    return em_gl_box_volume(box) * transfer_element_B(m) >= LARGE_B ||
           em_gl_box_volume(box) * 2 >= em_gl_box_volume(&all);
}

bool em_gl_shadow_copy_directly(struct em_gl_shadow *m, unsigned level, const struct em_gl_box *box,
                                bool write, const struct em_rows *rows)
{
    em_assert_locked();
    struct em_gl_bytes bytes;
    if (level >= m->level_count || (write && !m->write_back) || !direct_is_large(m, level, box) ||
        !direct_bytes(m, level, box, rows, &bytes))
        return false;
    const struct em_gl_level *l = &m->levels[level];
    if (em_gl_region_meets(&l->valid, box) || em_gl_region_meets(&l->dirty, box) ||
        em_gl_region_meets(&l->pending, box))
        return false;
    char *first = (char *)bytes.base + box->x; // of a buffer
    enum em_gl_status status;
    transfer_begin(m);
    if (m->size_B)
        status = write ? em_gl_buffer_write(m->object, box->x, box->width, first, 0)
                       : em_gl_buffer_read(m->object, box->x, box->width, first);
    else
        status = write ? em_gl_image_write(m->object, level, box, &bytes)
                       : em_gl_image_read(m->object, level, box, &bytes);
    transfer_end(m);
    if (status != EM_GL_OK)
        return false;
    *(write ? &m->to_graphics_B : &m->to_cuda_B) += em_gl_box_volume(box) * transfer_element_B(m);
    return true;
}

// ---- writing back

// Copies the dirty boxes of a level to OpenGL, and returns the worst status. Releases em_lock
// meanwhile.
static enum em_gl_status write_back_level(struct em_gl_shadow *m, unsigned level)
{
    const struct em_gl_region dirty = m->levels[level].dirty;
    const struct em_gl_bytes bytes = transfer_bytes(m, level);
    enum em_gl_status worst = EM_GL_OK;
    if (!dirty.count)
        return worst;
    transfer_begin(m);
    for (unsigned i = 0; i < dirty.count; i++) {
        const struct em_gl_box *box = &dirty.box[i];
        enum em_gl_status status =
            m->size_B ? em_gl_buffer_write(m->object, box->x, box->width,
                                           (const char *)bytes.base + box->x, m->mapped_size_B)
                      : em_gl_image_write(m->object, level, box, &bytes);
        worst = status > worst ? status : worst;
    }
    transfer_end(m);
    for (unsigned i = 0; i < dirty.count; i++)
        m->to_graphics_B += em_gl_box_volume(&dirty.box[i]) * transfer_element_B(m);
    return worst;
}

bool em_gl_shadow_is_clean(const struct em_gl_shadow *m)
{
    em_assert_locked();
    bool clean = !m->busy;
    for (unsigned level = 0; level < m->level_count && clean; level++)
        clean = !m->levels[level].dirty.count && !m->levels[level].pending.count;
    return clean;
}

bool em_gl_shadow_unmap(struct em_gl_shadow *m, const void *resource, bool write_back)
{
    em_assert_locked();
    bool good = true;
    if (write_back)
        em_gl_shadow_wait(m);
    for (unsigned level = 0; write_back && m->write_back && level < m->level_count; level++) {
        pending_end_all(&m->levels[level], resource);
        good &= transfer_report(m, write_back_level(m, level)); // with other resources' writes
        em_gl_shadow_wait(m);
    }
    m->maps--;
    return good;
}
