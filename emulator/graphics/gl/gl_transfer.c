// SPDX-License-Identifier: MIT
// What of a shadow is newer than what the GL has, or older; and moving it.
#include <pthread.h>

#include "error.h"
#include "gl_shadow.h"
#include "lock.h"

// Tells once in a mapping what is wrong with an object. Whether its bytes were moved, or as many as
// it still has.
static bool tell(struct em_gl_shadow *m, enum em_gl_status status)
{
    bool changed = status == EM_GL_RESIZED || status == EM_GL_REFORMATTED,
         good = !status || changed || status == EM_GL_MISSING;
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

void em_gl_shadow_map(struct em_gl_shadow *m, bool keep)
{
    m->keep = keep || (m->maps && m->keep);
    if (m->maps++)
        return;
    for (unsigned i = 0; i < m->level_count; i++) {
        struct em_gl_level *l = &m->levels[i];
        l->have.count = l->dirty.count = l->coming.count = l->fetches = 0;
        l->all = false;
    }
    m->mapped_size_B = 0;
    m->said_resized = m->said_refused = false;
}

static struct em_gl_bytes bytes_of(const struct em_gl_shadow *m, unsigned level)
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

static uint64_t element_B(const struct em_gl_shadow *m)
{
    return m->size_B ? 1 : m->object->image.transfer.element_B;
}

static struct em_gl_box whole(const struct em_gl_shadow *m, unsigned level)
{
    struct em_gl_bytes b = bytes_of(m, level);
    return (struct em_gl_box){.width = b.width, .height = b.height, .depth = b.depth};
}

static void have_all(struct em_gl_shadow *m, unsigned level)
{
    struct em_gl_level *l = &m->levels[level];
    l->have.count = 1;
    l->have.box[0] = whole(m, level);
    l->all = true;
}

bool em_gl_shadow_discard(struct em_gl_shadow *m)
{
    if (m->maps > 1)
        return false;
    for (unsigned level = 0; level < m->level_count; level++)
        have_all(m, level);
    return true;
}

// ---- writes that are not complete

static unsigned find_coming(const struct em_gl_level *l, const void *by,
                            const struct em_gl_box *box)
{
    unsigned i = 0;
    while (i < l->coming.count &&
           (l->writes[i].by != by || !em_gl_box_is_same(&l->coming.box[i], box)))
        i++;
    return i;
}

// Whether one more box can be written and be noted exactly when that is done.
static bool has_room(const struct em_gl_level *l)
{
    unsigned taken = l->dirty.count;
    for (unsigned i = 0; i < l->coming.count; i++)
        taken += l->writes[i].uses;
    return taken < EM_GL_BOXES_MAX;
}

// Notes a write whose end will be told. Where there is no room, which may be with `all` only, it
// counts as done.
static void expect(struct em_gl_level *l, const void *by, const struct em_gl_box *box)
{
    unsigned at = find_coming(l, by, box);
    if (at == EM_GL_BOXES_MAX) {
        em_gl_region_grow(&l->dirty, box);
        return;
    }
    if (at == l->coming.count) {
        l->coming.box[l->coming.count++] = *box;
        l->writes[at] = (struct em_gl_coming){.by = by};
    }
    l->writes[at].uses++;
}

static void forget(struct em_gl_level *l, unsigned at)
{
    l->coming.box[at] = l->coming.box[--l->coming.count];
    l->writes[at] = l->writes[l->coming.count];
}

void em_gl_shadow_end_write(struct em_gl_shadow *m, const void *by, unsigned level,
                            const struct em_gl_box *box, bool complete)
{
    if (!m->maps || level >= m->level_count)
        return;
    struct em_gl_level *l = &m->levels[level];
    unsigned at = find_coming(l, by, box);
    if (at < l->coming.count && !--l->writes[at].uses)
        forget(l, at);
    if (complete) {
        em_gl_region_grow(&l->dirty, box);
    } else { // it may have begun, or nothing was fetched there because of it: the GL has it all
        l->have.count = 0;
        l->all = false;
    }
}

// The pointers and arrays of a mapping end before its last commands do, so that the end of their
// writes is not told: at unmap they are complete.
static void end_writes(struct em_gl_level *l, const void *by)
{
    for (unsigned i = 0; i < l->coming.count;) {
        if (l->writes[i].by != by) {
            i++;
            continue;
        }
        em_gl_region_grow(&l->dirty, &l->coming.box[i]);
        forget(l, i);
    }
}

// ---- fetching

static pthread_cond_t idle = PTHREAD_COND_INITIALIZER; // with em_lock: a shadow is busy no more

void em_gl_shadow_wait(struct em_gl_shadow *m)
{
    while (m->busy) // with the GL's work, which waits for nothing of CUDA's
        em_lock_wait(&idle);
}

// em_lock is released until the end.
static void begin_moving(struct em_gl_shadow *m)
{
    m->busy = true;
    em_unlock();
}

static void end_moving(struct em_gl_shadow *m)
{
    em_lock();
    m->busy = false;
    pthread_cond_broadcast(&idle);
}

// What is to be fetched, and what must not be overwritten.
struct fetch {
    struct em_gl_shadow *shadow;
    const void *by;
    unsigned level;
    struct em_gl_box box;
    struct em_gl_region without[3];
    struct em_gl_bytes bytes;
    uint64_t moved; // texels, or bytes of a buffer
    bool any;
    enum em_gl_status status;
};

static void note_part(void *arg, const struct em_gl_box *part)
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
    f->moved += em_gl_box_volume(part);
}

// Whether a part of a box is only in the GL. Fills in the rest of `f`.
static bool lacks(struct fetch *f, const struct em_gl_box *box)
{
    const struct em_gl_level *l = &f->shadow->levels[f->level];
    f->without[0] = l->have;
    f->without[1] = l->dirty;
    f->without[2] = l->coming;
    f->bytes = bytes_of(f->shadow, f->level);
    f->box = *box;
    f->any = false;
    em_gl_region_rest(f->without, 3, box, note_part, f);
    return f->any;
}

// Small reads fetch what they need; when they go on, bands or pieces, since each fetch costs as
// much as some hundred KiB.
static struct em_gl_box widen(const struct em_gl_level *l, const struct em_gl_box *box,
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

// Plans the fetch that an access asks for, and notes its outcome. `told`: of a write the end will
// be told. False: nothing is to be fetched.
static bool plan(struct fetch *f, const struct em_gl_box *box, enum em_access_mode mode, bool told)
{
    struct em_gl_level *l = &f->shadow->levels[f->level];
    struct em_gl_box all = whole(f->shadow, f->level), area = *box;
    bool writes = mode != EM_ACCESS_READ, exact = told && has_room(l), any = false;
    if (!l->all && ((writes && !exact) || (mode != EM_ACCESS_WRITE && lacks(f, box)))) {
        if (writes && !exact)
            area = all;
        else if (!writes)
            area = widen(l, box, &all);
        any = lacks(f, &area);
        l->fetches++;
        if (em_gl_box_is_same(&area, &all) || !em_gl_region_add(&l->have, &area)) {
            any = lacks(f, &all);
            have_all(f->shadow, f->level);
        }
    }
    if (writes && told)
        expect(l, f->by, box);
    return any;
}

static void make_level_resident(struct em_gl_shadow *m, const void *by, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode, bool told)
{
    struct fetch f = {.shadow = m, .by = by, .level = level, .status = EM_GL_OK};
    // What is written now goes to the storage that the buffer has now: nowhere, if the program
    // gives it another one before unmap.
    bool measure = m->size_B && !m->mapped_size_B && mode != EM_ACCESS_READ,
         any = plan(&f, box, mode, told);
    uint64_t size_B = 0;
    if (any || measure) {
        begin_moving(m);
        if (measure)
            em_gl_buffer_size(m->object, &size_B);
        if (any)
            em_gl_region_rest(f.without, 3, &f.box, fetch_part, &f);
        end_moving(m);
        if (!tell(m, f.status)) { // asked for again when it is next needed
            m->levels[level].have.count = 0;
            m->levels[level].all = false;
        }
        m->to_cuda_B += f.moved * element_B(m);
        m->mapped_size_B = measure ? size_B : m->mapped_size_B;
    }
    if (!told && mode != EM_ACCESS_READ)
        em_gl_region_grow(&m->levels[level].dirty, box);
}

void em_gl_shadow_make_resident(struct em_gl_shadow *m, const void *by, unsigned level,
                                const struct em_gl_box *box, enum em_access_mode mode)
{
    if (box && level < m->level_count)
        make_level_resident(m, by, level, box, mode, true);
    for (level = 0; !box && level < m->level_count && m->maps; level++) {
        struct em_gl_box all = whole(m, level);
        make_level_resident(m, by, level, &all, mode, false);
        em_gl_shadow_wait(m);
    }
}

// ---- giving back

// Writes what is dirty of a level to the GL; em_lock is released meanwhile. The worst that
// happened.
static enum em_gl_status push_level(struct em_gl_shadow *m, unsigned level)
{
    const struct em_gl_region dirty = m->levels[level].dirty;
    const struct em_gl_bytes bytes = bytes_of(m, level);
    enum em_gl_status worst = EM_GL_OK;
    if (!dirty.count)
        return worst;
    begin_moving(m);
    for (unsigned i = 0; i < dirty.count; i++) {
        const struct em_gl_box *box = &dirty.box[i];
        enum em_gl_status status =
            m->size_B ? em_gl_buffer_write(m->object, box->x, box->width,
                                           (const char *)bytes.base + box->x, m->mapped_size_B)
                      : em_gl_image_write(m->object, level, box, &bytes);
        worst = status > worst ? status : worst;
    }
    end_moving(m);
    for (unsigned i = 0; i < dirty.count; i++)
        m->to_graphics_B += em_gl_box_volume(&dirty.box[i]) * element_B(m);
    return worst;
}

bool em_gl_shadow_unmap(struct em_gl_shadow *m, const void *by, bool push)
{
    bool good = true;
    if (push)
        em_gl_shadow_wait(m);
    for (unsigned level = 0; push && m->keep && level < m->level_count;
         level++) { // what others write meanwhile goes with them
        end_writes(&m->levels[level], by);
        good &= tell(m, push_level(m, level));
        em_gl_shadow_wait(m);
    }
    m->maps--;
    return good;
}
