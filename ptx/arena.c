// SPDX-License-Identifier: MIT
// Arenas: many small pieces of memory that are freed together.
#include "arena.h"
#include "alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_B = 64 << 10 };

struct px_arena_block {
    struct px_arena_block *next;
    size_t size_B;
    alignas(max_align_t) char bytes[];
};

static struct px_arena_block *arena_block(struct px_arena *arena, size_t size_B)
{
    const size_t bytes = size_B > BLOCK_B ? size_B : BLOCK_B;
    struct px_arena_block *block = dm_alloc(sizeof(*block) + bytes);
    if (!block)
        return NULL;
    block->size_B = bytes;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used_B = 0;
    return block;
}

void *px_arena_take(struct px_arena *arena, size_t size_B)
{
    if (size_B > SIZE_MAX / 2)
        return NULL;
    const size_t aligned_B =
        (size_B + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    struct px_arena_block *block = arena->blocks;
    if (!block || block->size_B - arena->used_B < aligned_B)
        block = arena_block(arena, aligned_B);
    if (!block)
        return NULL;
    void *out = block->bytes + arena->used_B;
    arena->used_B += aligned_B;
    return memset(out, 0, size_B);
}

void *px_arena_array(struct px_arena *arena, size_t count, size_t size_B)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size_B, &bytes))
        return NULL;
    return px_arena_take(arena, bytes);
}

char *px_arena_text(struct px_arena *arena, const char *text, size_t length)
{
    char *out = px_arena_take(arena, length + 1);
    if (out)
        memcpy(out, text, length);
    return out;
}

void px_arena_finish(struct px_arena *arena)
{
    while (arena->blocks) {
        struct px_arena_block *next = arena->blocks->next;
        dm_free(arena->blocks);
        arena->blocks = next;
    }
    arena->used_B = 0;
}

void *px_grow(void *array, size_t count, size_t *capacity, size_t size_B)
{
    if (count < *capacity)
        return array;
    const size_t more = *capacity ? *capacity * 2 : 16;
    size_t bytes;
    if (__builtin_mul_overflow(more, size_B, &bytes))
        return NULL;
    void *out = dm_realloc(array, bytes);
    if (out)
        *capacity = more;
    return out;
}
