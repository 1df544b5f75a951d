// SPDX-License-Identifier: MIT
// Arenas: many small pieces of memory that are freed together.
#pragma once
#include <stddef.h>

struct px_arena_block;
struct px_arena {
    struct px_arena_block *blocks;
    size_t used_B; // of the newest block
};

// Returns size_B bytes of zeros, aligned for any type, or NULL if there is no memory.
void *px_arena_take(struct px_arena *arena, size_t size_B);
// The same for `count` elements; NULL also if the product is too large.
void *px_arena_array(struct px_arena *arena, size_t count, size_t size_B);
// A copy of a text with a final 0. Callers should check for NULL, as with the others.
char *px_arena_text(struct px_arena *arena, const char *text, size_t length);
void px_arena_finish(struct px_arena *arena);

// Makes room for one more element in an array that malloc made: returns the array, which may have
// moved, or NULL if there is no memory (the old array stays valid). *capacity counts elements.
void *px_grow(void *array, size_t count, size_t *capacity, size_t size_B);
