// SPDX-License-Identifier: MIT
// Ids of entry points, names and call sites, and the records that define them.

#include "alloc.h"
#include "call.h"
#include "record.h"
#include "record_file.h"

// An id is a position, counted from 1 through all levels of a table. It is taken once.
enum { TABLE_ENTRIES, TABLE_NAMES, TABLE_CALLERS, TABLE_NUMBERS, TABLE_COUNT };
enum { LEVELS = 4, PROBES = 32 };
static const uint8_t level_log2[LEVELS] = {10, 13, 16, 19};
static uint64_t *tables[TABLE_COUNT][LEVELS];
static uint32_t modules;

void em_record_forget_ids(void)
{
    for (unsigned i = 0; i < TABLE_COUNT; i++)
        for (unsigned k = 0; k < LEVELS; k++)
            for (uint32_t at = 0; tables[i][k] && at >> level_log2[k] == 0; at++)
                tables[i][k][at] = 0;
    modules = 0;
}

// The keys of a level, which is allocated when the level before it has no place for a key. NULL if
// the host is out of memory.
static uint64_t *level_keys(unsigned table, unsigned level)
{
    uint64_t **where = &tables[table][level], *keys = __atomic_load_n(where, __ATOMIC_ACQUIRE);
    if (em_likely(keys != NULL))
        return keys;
    uint64_t *made = dm_calloc((size_t)1 << level_log2[level], sizeof *made);
    if (!made)
        return NULL;
    if (__atomic_compare_exchange_n(where, &keys, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    dm_free(made);
    return keys;
}

// Returns the id of a key, or 0 if no level has a place for it. *is_new: it was not there before.
static uint32_t find_id(unsigned table, uint64_t key, bool *is_new)
{
    const uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t first = 1;
    for (unsigned level = 0; level < LEVELS; first += 1u << level_log2[level++]) {
        uint64_t *keys = level_keys(table, level);
        const uint32_t mask = (1u << level_log2[level]) - 1;
        uint32_t at = (uint32_t)(hash >> (64 - level_log2[level]));
        for (unsigned i = 0; keys && i < PROBES; i++, at = (at + 1) & mask) {
            uint64_t found = __atomic_load_n(&keys[at], __ATOMIC_RELAXED);
            if (em_unlikely(!found))
                *is_new = __atomic_compare_exchange_n(&keys[at], &found, key, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
            if (*is_new || em_likely(found == key))
                return first + at;
        }
    }
    return 0;
}

static __attribute__((noinline)) uint32_t find_name(const char *constant)
{
    bool is_new = false;
    const uint32_t id = find_id(TABLE_NAMES, (uintptr_t)constant, &is_new);
    if (is_new) {
        struct em_record r = em_record_begin(RF_NAME, 0, EM_FIELD_MOST_B + EM_FIELD_TEXT_B);
        em_field(&r, id);
        em_field_text(&r, constant);
        em_record_put(&r);
    }
    return id;
}

uint32_t em_record_name(const char *constant)
{
    struct em_record_thread *t = em_record_thread_for(1);
    if (em_unlikely(!constant || !t))
        return 0;
    const uint64_t hash = (uintptr_t)constant * UINT64_C(0x9e3779b97f4a7c15);
    struct em_record_known *k = &t->names[hash >> 58];
    _Static_assert(EM_RECORD_NAMES == 1 << (64 - 58), "the hash has as many bits as a position");
    if (em_unlikely(k->constant != constant))
        *k = (struct em_record_known){constant, find_name(constant)};
    return k->id;
}

// The id of tables of types, which are written the first time. 0 stands for the driver's.
static uint32_t types_id(const cardlessTypes *d)
{
    bool is_new = false;
    const uint32_t id = find_id(TABLE_NUMBERS, (uintptr_t)d, &is_new);
    const bool is_library = d->handle_text == NULL;
    if (is_new)
        em_record_description(d, is_library ? id : 0);
    return is_library ? id : 0;
}

uint32_t em_record_entry(const struct em_entry *entry)
{
    bool is_new = false;
    if (!entry)
        return 0;
    const uint32_t id = find_id(TABLE_ENTRIES, (uintptr_t)entry, &is_new);
    if (is_new) {
        const uint32_t types = entry->description ? types_id(entry->description) : 0;
        struct em_record r = em_record_begin(RF_ENTRY, 0, 4 * EM_FIELD_MOST_B + EM_FIELD_TEXT_B);
        em_field(&r, id);
        em_field(&r, entry->first_argument);
        em_field(&r, entry->description ? entry->arguments : 0);
        em_field_text(&r, entry->name);
        em_field(&r, types);
        em_record_put(&r);
    }
    return id;
}

bool em_record_is_new(uint64_t number)
{
    bool is_new = false;
    find_id(TABLE_NUMBERS, number, &is_new);
    return is_new;
}

enum { MODULE_READS = 64 }; // code that no module has may call from many places

uint32_t em_record_caller(const void *address)
{
    bool is_new = false;
    if (!address)
        return 0;
    const uint32_t id = find_id(TABLE_CALLERS, (uintptr_t)address, &is_new);
    if (is_new) {
        if (__atomic_fetch_add(&modules, 1, __ATOMIC_RELAXED) < MODULE_READS)
            em_record_modules();
        struct em_record r = em_record_begin(RF_CALLER, 0, 2 * EM_FIELD_MOST_B);
        em_field(&r, id);
        em_field(&r, (uintptr_t)address);
        em_record_put(&r);
    }
    return id;
}
