// SPDX-License-Identifier: MIT
// Texture units, of as many contexts as there are textures to hold.
#include "gl_shelf.h"

#include "alloc.h"

void em_gl_shelf_prepare(const struct gl_functions *gl)
{
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->ClampColor(GL_CLAMP_READ_COLOR, 0);
}

void em_gl_shelf_init(struct em_gl_shelves *s, const struct em_gl_own *home, const struct gl_functions *gl)
{
    gl_int units = 0;
    gl->GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    s->home = home;
    s->current = &s->first;
    s->unit_count = units < GL_UNITS_MAX ? (unsigned)units : GL_UNITS_MAX;
}

void em_gl_shelf_finish(struct em_gl_shelves *s)
{
    while (s->first.next) {
        struct em_gl_shelf *shelf = s->first.next;
        s->first.next = shelf->next;
        em_gl_window_close(&shelf->own);
        dm_free(shelf);
    }
    em_gl_window_use(s->home);
}

static unsigned take_unit(struct em_gl_shelf *shelf, unsigned count, unsigned slot)
{
    for (unsigned i = 1; i < count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (shelf->units[slot][i / 64] & bit)
            continue;
        shelf->units[slot][i / 64] |= bit;
        return i;
    }
    return 0;
}

static struct em_gl_shelf *add_shelf(struct em_gl_shelves *s, const struct gl_functions *gl)
{
    const struct em_gl_current home = {.system = s->home->system, .display = s->home->display, .context = s->home->context};
    struct em_gl_shelf *shelf = dm_calloc(1, sizeof *shelf);
    if (!shelf)
        return NULL;
    if (em_gl_window_open(&home, &shelf->own)) {
        em_gl_window_use(s->home);
        s->current = &s->first;
        dm_free(shelf);
        return NULL;
    }
    em_gl_shelf_prepare(gl);
    s->current = shelf;
    shelf->next = s->first.next;
    s->first.next = shelf;
    return shelf;
}

unsigned em_gl_shelf_take(struct em_gl_shelves *s, const struct gl_functions *gl, unsigned slot, struct em_gl_shelf **out)
{
    unsigned unit = 0;
    for (struct em_gl_shelf *shelf = &s->first; shelf && !unit; shelf = shelf->next) {
        unit = take_unit(shelf, s->unit_count, slot);
        *out = shelf;
    }
    if (!unit && s->unit_count > 1 && (*out = add_shelf(s, gl)))
        unit = take_unit(*out, s->unit_count, slot);
    return unit;
}

void em_gl_shelf_free(struct em_gl_shelf *shelf, unsigned slot, unsigned unit)
{
    shelf->units[slot][unit / 64] &= ~(UINT64_C(1) << unit % 64);
}

void em_gl_shelf_use(struct em_gl_shelves *s, const struct em_gl_shelf *shelf)
{
    if (!shelf)
        shelf = &s->first;
    if (s->current == shelf)
        return;
    s->current = shelf;
    em_gl_window_use(shelf == &s->first ? s->home : &shelf->own);
}
