// SPDX-License-Identifier: MIT
// Tables of names with nested scopes.
#include "names.h"
#include "alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

static uint32_t hash(const char *text, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

// Doubles the slots if there are fewer than names, and fills them again, oldest first.
static bool names_rehash(struct px_names *table)
{
    if (table->count < table->slot_count)
        return true;
    const size_t count = table->slot_count ? table->slot_count * 2 : 64;
    uint32_t *slots = dm_calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    dm_free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (size_t i = 0; i < table->count; i++) {
        uint32_t *slot = &slots[table->names[i].hash & (count - 1)];
        table->names[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    return true;
}

int px_names_add(struct px_names *table, const char *text, size_t length, uint32_t kind,
                 uint64_t value)
{
    const struct px_name *old = px_names_find(table, text, length);
    if (old && old->scope == table->depth)
        return -EEXIST;
    struct px_name *grown = px_grow(table->names, table->count, &table->capacity, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    table->names = grown;
    if (!names_rehash(table))
        return -ENOMEM;
    const uint32_t h = hash(text, length);
    uint32_t *slot = &table->slots[h & (table->slot_count - 1)];
    grown[table->count] =
        (struct px_name){text, (uint32_t)length, h, *slot, table->depth, kind, value};
    *slot = (uint32_t)++table->count;
    return 0;
}

struct px_name *px_names_find(const struct px_names *table, const char *text, size_t length)
{
    if (!table->slot_count)
        return NULL;
    const uint32_t h = hash(text, length);
    for (uint32_t i = table->slots[h & (table->slot_count - 1)]; i; i = table->names[i - 1].next) {
        struct px_name *name = &table->names[i - 1];
        if (name->hash == h && name->length == length && !memcmp(name->text, text, length))
            return name;
    }
    return NULL;
}

void px_names_open(struct px_names *table)
{
    table->depth++;
}

void px_names_close(struct px_names *table)
{
    while (table->count && table->names[table->count - 1].scope == table->depth) {
        const struct px_name *name = &table->names[--table->count];
        table->slots[name->hash & (table->slot_count - 1)] = name->next;
    }
    table->depth--;
}

void px_names_finish(struct px_names *table)
{
    dm_free(table->names);
    dm_free(table->slots);
    *table = (struct px_names){0};
}
