// SPDX-License-Identifier: MIT
// Texture units to hold textures in, so that they live on when the program deletes them: those of a
// group's context, and of further contexts of the driver's own where these are not enough. For jobs
// of the group; the group's own context is current before and after each job.
#pragma once
#include "gl_window.h"

enum { GL_UNITS_MAX = 256, GL_UNIT_SLOTS = 8 };

// A context, the first one being the group's own, and its units in use, a set for each target.
struct em_gl_unit_pool {
    struct em_gl_unit_pool *next;
    struct em_gl_own own; // not of the first one, which is the group's
    uint64_t units[GL_UNIT_SLOTS][GL_UNITS_MAX / 64];
};

struct em_gl_shelves {
    const struct em_gl_own *home;
    const struct em_gl_unit_pool *current;
    unsigned unit_count; // of each context
    struct em_gl_unit_pool first;
};

// Sets up what is the same in every context.
void em_gl_unit_pool_prepare(const struct gl_functions *gl);
// `home` is the group's own context, and current.
void em_gl_unit_pool_init(struct em_gl_shelves *s, const struct em_gl_own *home,
                          const struct gl_functions *gl);
// Ends the further contexts.
void em_gl_unit_pool_finish(struct em_gl_shelves *s);

// A unit for a texture of that slot's target, or 0: no context can be had. Unit 0 of each context
// is for work in between.
unsigned em_gl_unit_pool_take(struct em_gl_shelves *s, const struct gl_functions *gl, unsigned slot,
                              struct em_gl_unit_pool **pool);
void em_gl_unit_pool_free(struct em_gl_unit_pool *pool, unsigned slot, unsigned unit);
// Makes a pool's context current; NULL: the group's own.
void em_gl_unit_pool_use(struct em_gl_shelves *s, const struct em_gl_unit_pool *pool);
