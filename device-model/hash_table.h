// SPDX-License-Identifier: MIT
// Hash tables: uthash with this project's allocator, and without its habit of ending the process
// when memory runs out.
//
// An element embeds `UT_hash_handle hh`; a table is a pointer to an element, NULL when it is empty.
//
//     struct window { uint32_t name; UT_hash_handle hh; } *windows, *w;
//
//     if (DM_TABLE_ADD(windows, name, w)) ...   // -ENOMEM: w is not in the table
//     w = DM_TABLE_FIND(windows, &name);        // NULL if no entry has this name
//     DM_TABLE_REMOVE(windows, w);              // needs no memory
//     DM_TABLE_EACH(windows, w, next) ...       // in the order of addition; may remove w
//
// Keys are compared as bytes, so a struct that is a key has no padding, or is cleared first. An
// element must not be added if its key is in the table. The caller serialises, as for a
// dm_rangemap.
#pragma once
#include <errno.h>

#include "alloc.h"

#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) dm_alloc(size)
#define uthash_free(pointer, size) dm_free(pointer)
#include <uthash.h>

// Adds an element by a field of its own. 0 or -ENOMEM, which leaves the table as it was.
#define DM_TABLE_ADD(table, field, element)                                                        \
    ({                                                                                             \
        HASH_ADD(hh, table, field, sizeof(element)->field, element);                               \
        (element)->hh.tbl ? 0 : -ENOMEM;                                                           \
    })

// Adds an element by a key that lies elsewhere and lives as long as the element: a string.
#define DM_TABLE_ADD_KEY(table, key, size_B, element)                                              \
    ({                                                                                             \
        HASH_ADD_KEYPTR(hh, table, key, size_B, element);                                          \
        (element)->hh.tbl ? 0 : -ENOMEM;                                                           \
    })

// The element with the key at `key`, whose type is that of the key field.
#define DM_TABLE_FIND(table, key) DM_TABLE_FIND_KEY(table, key, sizeof *(key))
#define DM_TABLE_FIND_KEY(table, key, size_B)                                                      \
    ({                                                                                             \
        __typeof__(table) found_;                                                                  \
        HASH_FIND(hh, table, key, size_B, found_);                                                 \
        found_;                                                                                    \
    })

#define DM_TABLE_REMOVE(table, element)                                                            \
    do {                                                                                           \
        HASH_DELETE(hh, table, element);                                                           \
        if (table)                                                                                 \
            dm_table_shrink((table)->hh.tbl);                                                      \
    } while (0)

#define DM_TABLE_EACH(table, element, next) HASH_ITER(hh, table, element, next)

static inline unsigned dm_table_count(const UT_hash_table *t)
{
    return t ? t->num_items : 0;
}
#define DM_TABLE_COUNT(table) dm_table_count((table) ? (table)->hh.tbl : NULL)

// Halves the buckets until the table is no longer nearly empty, so that the memory of a peak is
// given back. uthash itself only ever grows. Without memory for a smaller array the large one
// stays.
void dm_table_shrink(UT_hash_table *t);
