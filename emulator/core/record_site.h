// SPDX-License-Identifier: MIT
// Call sites of a program (struct em_record_site).
#pragma once
#include <stdbool.h>

#include "call.h"
#include "record_write.h"

enum { EM_RECORD_ARGUMENTS = 31 }; // arguments of calls with more are not recorded

// Fills in a new site. `unknown`: its arguments are, and so they are not in the record. Writes
// records.
void em_record_site_fill(struct em_record_site *site, bool unknown);

// Finds a site that is not in its first place, which is at `position`. A new site gets a place, and
// is filled in.
struct em_record_site *em_record_site_other(struct em_record_thread *thread, size_t position,
                                            const struct em_entry *entry, const struct em_entry *by,
                                            const void *caller);

static inline bool em_record_site_is(const struct em_record_site *s, const struct em_entry *entry,
                                     const struct em_entry *by, const void *caller)
{
    return s->caller == caller && s->entry == entry && s->by == by;
}

// The site of a call in the thread's list.
static inline struct em_record_site *em_record_site_find(struct em_record_thread *t,
                                                         const struct em_entry *entry,
                                                         const struct em_entry *by,
                                                         const void *caller)
{
    const uint64_t hash = ((uintptr_t)caller ^ (uintptr_t)entry) * UINT64_C(0x9e3779b97f4a7c15);
    _Static_assert(RF_SITES == 1 << (64 - 57), "the hash has as many bits as a position");
    struct em_record_site *s = &t->sites[hash >> 57];
    return em_likely(em_record_site_is(s, entry, by, caller))
               ? s
               : em_record_site_other(t, hash >> 57, entry, by, caller);
}
