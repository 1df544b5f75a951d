// SPDX-License-Identifier: MIT
// Texture units that hold textures, so that a texture lives on after the program has deleted it.
//
// The first pool has the units of one of the group's contexts, its home. If they run out, a further
// context is made, whose units are another pool. Everything here is for jobs of the group: the home
// is current before each job.
#pragma once
#include "gl_context.h"

enum { GL_UNITS_MAX = 256, GL_UNIT_SLOTS = 8 };

// The units of one context: a set for each slot, which is a kind of texture target.
struct em_gl_unit_pool {
    struct em_gl_unit_pool *next;
    struct em_gl_own own; // empty in the first pool, whose context is the home
    uint64_t taken[GL_UNIT_SLOTS][GL_UNITS_MAX / 64];
    unsigned taken_count[GL_UNIT_SLOTS];
    // The pools with a free unit in a slot.
    struct em_gl_unit_pool *next_free[GL_UNIT_SLOTS], *previous_free[GL_UNIT_SLOTS];
};

struct em_gl_unit_pools {
    const struct em_gl_own *home;
    const struct em_gl_unit_pool *current;
    unsigned unit_count; // of each context
    bool fixed;          // no further contexts are made
    struct em_gl_unit_pool first;
    struct em_gl_unit_pool *with_free[GL_UNIT_SLOTS];
};

// Sets the state that all contexts of a group have in common.
void em_gl_unit_pool_prepare(const struct gl_functions *gl);
// `home` is current.
void em_gl_unit_pools_init(struct em_gl_unit_pools *pools, const struct em_gl_own *home,
                           const struct gl_functions *gl);
// Destroys the further contexts.
void em_gl_unit_pools_finish(struct em_gl_unit_pools *pools);

// Takes a unit of a slot. Returns 0 if all units are taken and no further context can be created.
// Unit 0 of each context is never taken, because jobs use it for textures that they hold only for a
// moment.
unsigned em_gl_unit_pool_take(struct em_gl_unit_pools *pools, const struct gl_functions *gl,
                              unsigned slot, struct em_gl_unit_pool **pool);
void em_gl_unit_pool_free(struct em_gl_unit_pools *pools, struct em_gl_unit_pool *pool,
                          unsigned slot, unsigned unit);
// Makes a pool's context current; the home if `pool` is NULL. Returns false if that fails.
bool em_gl_unit_pool_use(struct em_gl_unit_pools *pools, const struct em_gl_unit_pool *pool);
// To be called when another context than those of the pools has become current.
void em_gl_unit_pools_leave(struct em_gl_unit_pools *pools);
