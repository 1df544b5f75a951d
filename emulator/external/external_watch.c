// SPDX-License-Identifier: MIT
// Notices mistakes in the use of mapped external buffers.
#include "external_watch.h"

#include "command.h"
#include "error.h"
#include "exporter.h"
#include "quirk.h"

// "writes made via one address are not guaranteed to be visible via the other address, even if they
// are issued by the same thread"
static void look_for_alias(struct em_external_mapping *m, uint64_t first, uint64_t end)
{
    uint64_t epoch = __atomic_load_n(&em_order_epoch, __ATOMIC_RELAXED);
    for (struct em_external_mapping *o = m->imported->mappings; o && !m->said_alias; o = o->next) {
        if (o == m || o->dirty_epoch != epoch || first >= o->dirty_end || end <= o->dirty_first)
            continue;
        m->said_alias = true;
        em_mistake(B05, CUDA_SUCCESS,
                   "bytes %llu to %llu of CUexternalMemory #%u are read through the mapping at "
                   "%#llx after a write through the "
                   "one at %#llx, and nothing ordered them",
                   (unsigned long long)(first > o->dirty_first ? first : o->dirty_first),
                   (unsigned long long)(end < o->dirty_end ? end : o->dirty_end),
                   m->imported->number, (unsigned long long)m->allocation.base,
                   (unsigned long long)o->allocation.base);
    }
}

static void note_write(struct em_external_mapping *m, uint64_t first, uint64_t end)
{
    uint64_t epoch = __atomic_load_n(&em_order_epoch, __ATOMIC_RELAXED);
    if (m->dirty_epoch != epoch) {
        m->dirty_epoch = epoch;
        m->dirty_first = first;
        m->dirty_end = end;
        return;
    }
    m->dirty_first = first < m->dirty_first ? first : m->dirty_first;
    m->dirty_end = end > m->dirty_end ? end : m->dirty_end;
}

static bool begin_access(struct em_access *access)
{
    const struct em_allocation *a = access->owner;
    struct em_external_mapping *m = a->owner;
    uint64_t first = m->offset + (access->address - a->base), end = first + access->size_B;
    // "Any existing buffers … mapped onto this object must no longer be used": the driver does not
    // mind, and under its personality nor do we.
    if (m->imported->destroyed && !m->said_destroyed && em_config()->personality == EM_MANUAL) {
        m->said_destroyed = true;
        em_mistake(B06, CUDA_SUCCESS,
                   "the buffer at %#llx is used after CUexternalMemory #%u was destroyed",
                   (unsigned long long)a->base, m->imported->number);
    }
    if (em_access_writes(access)) {
        note_write(m, first, end);
        return false;
    }
    look_for_alias(m, first, end);
    em_exporter_look_at_read(m->imported, first, end, &m->said_unflushed);
    return false;
}

static const struct em_watch_ops watch_ops = {.begin = begin_access};

static bool overlap(const struct em_external_mapping *a, const struct em_external_mapping *b)
{
    return a->offset < b->offset + b->allocation.size && b->offset < a->offset + a->allocation.size;
}

void em_external_watch(struct em_external_mapping *m)
{
    // Only mappings that share bytes, with each other or with a host that must flush, need to be
    // told of every use.
    if (em_exporter_needs_flush(m->imported))
        m->allocation.watch = &watch_ops;
    m->dirty_epoch = UINT64_MAX;
    for (struct em_external_mapping *o = m->imported->mappings; o; o = o->next)
        if (overlap(m, o))
            m->allocation.watch = o->allocation.watch = &watch_ops;
    m->next = m->imported->mappings;
    m->imported->mappings = m;
}

void em_external_unwatch(struct em_external_mapping *m)
{
    for (struct em_external_mapping **i = &m->imported->mappings; *i; i = &(*i)->next) {
        if (*i == m) {
            *i = m->next;
            return;
        }
    }
}

void em_external_watch_destroyed(struct em_imported *imported)
{
    for (struct em_external_mapping *m = imported->mappings; m; m = m->next)
        m->allocation.watch = &watch_ops;
}
