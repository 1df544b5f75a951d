// SPDX-License-Identifier: MIT
// Texture units, of as many contexts as there are textures to hold.
#include "gl_unit_pool.h"

#include "alloc.h"

void em_gl_unit_pool_prepare(const struct gl_functions *gl)
{
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->ClampColor(GL_CLAMP_READ_COLOR, 0);
}

void em_gl_unit_pool_init(struct em_gl_shelves *s, const struct em_gl_own *home,
                          const struct gl_functions *gl)
{
    gl_int units = 0;
    gl->GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    s->home = home;
    s->current = &s->first;
    s->unit_count = units < GL_UNITS_MAX ? (unsigned)units : GL_UNITS_MAX;
}

void em_gl_unit_pool_finish(struct em_gl_shelves *s)
{
    while (s->first.next) {
        struct em_gl_unit_pool *pool = s->first.next;
        s->first.next = pool->next;
        em_gl_window_close(&pool->own);
        dm_free(pool);
    }
    em_gl_window_use(s->home);
}

static unsigned take_unit(struct em_gl_unit_pool *pool, unsigned count, unsigned slot)
{
    for (unsigned i = 1; i < count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (pool->units[slot][i / 64] & bit)
            continue;
        pool->units[slot][i / 64] |= bit;
        return i;
    }
    return 0;
}

static struct em_gl_unit_pool *add_pool(struct em_gl_shelves *s, const struct gl_functions *gl)
{
    const struct em_gl_current home = {
        .system = s->home->system, .display = s->home->display, .context = s->home->context};
    struct em_gl_unit_pool *pool = dm_calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    if (em_gl_window_open(&home, &pool->own)) {
        em_gl_window_use(s->home);
        s->current = &s->first;
        dm_free(pool);
        return NULL;
    }
    em_gl_unit_pool_prepare(gl);
    s->current = pool;
    pool->next = s->first.next;
    s->first.next = pool;
    return pool;
}

unsigned em_gl_unit_pool_take(struct em_gl_shelves *s, const struct gl_functions *gl, unsigned slot,
                              struct em_gl_unit_pool **out)
{
    unsigned unit = 0;
    for (struct em_gl_unit_pool *pool = &s->first; pool && !unit; pool = pool->next) {
        unit = take_unit(pool, s->unit_count, slot);
        *out = pool;
    }
    if (!unit && s->unit_count > 1 && (*out = add_pool(s, gl)))
        unit = take_unit(*out, s->unit_count, slot);
    return unit;
}

void em_gl_unit_pool_free(struct em_gl_unit_pool *pool, unsigned slot, unsigned unit)
{
    pool->units[slot][unit / 64] &= ~(UINT64_C(1) << unit % 64);
}

void em_gl_unit_pool_use(struct em_gl_shelves *s, const struct em_gl_unit_pool *pool)
{
    if (!pool)
        pool = &s->first;
    if (s->current == pool)
        return;
    s->current = pool;
    em_gl_window_use(pool == &s->first ? s->home : &pool->own);
}
