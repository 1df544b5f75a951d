// SPDX-License-Identifier: MIT
// Finds mistakes in the use of mapped external buffers.
#include "external_watch.h"

#include "command.h"
#include "error.h"
#include "exporter.h"
#include "lock.h"
#include "quirk.h"

static struct em_external_mapping *mapping_of_bytes(struct dm_interval *bytes)
{
    return (struct em_external_mapping *)((char *)bytes -
                                          offsetof(struct em_external_mapping, bytes));
}

static struct em_external_mapping *mapping_of_written(struct dm_interval *written)
{
    return (struct em_external_mapping *)((char *)written -
                                          offsetof(struct em_external_mapping, written));
}

// Empties the set of written bytes if a call has ordered work since. The mappings notice because
// their epoch is not the set's.
static void start_epoch(struct em_imported *imported)
{
    uint64_t now = __atomic_load_n(&em_order_epoch, __ATOMIC_RELAXED);
    if (imported->epoch == now)
        return;
    imported->epoch = now;
    imported->written.root = NULL;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// "writes made via one address are not guaranteed to be visible via the other address, even if they
// are issued by the same thread"
static void look_for_alias(struct em_external_mapping *m, uint64_t first, uint64_t end)
{
    start_epoch(m->imported);
    if (m->said_alias)
        return;
    struct dm_interval *written =
        dm_intervals_overlap(&m->imported->written, first, end, &m->written);
    if (!written)
        return;
    m->said_alias = true;
    em_mistake(B05, CUDA_SUCCESS,
               "bytes %llu to %llu of CUexternalMemory #%u are read through the mapping at %#llx "
               "after a write through the one at %#llx, and no call has ordered the two",
               (unsigned long long)later(first, written->first),
               (unsigned long long)earlier(end, written->end), m->imported->number,
               (unsigned long long)m->allocation.base,
               (unsigned long long)mapping_of_written(written)->allocation.base);
}

static void note_write(struct em_external_mapping *m, uint64_t first, uint64_t end)
{
    struct em_imported *imported = m->imported;
    start_epoch(imported);
    if (m->written_epoch == imported->epoch) {
        if (first >= m->written.first && end <= m->written.end)
            return;
        dm_intervals_remove(&imported->written, &m->written);
        first = earlier(first, m->written.first);
        end = later(end, m->written.end);
    }
    m->written_epoch = imported->epoch;
    m->written.first = first;
    m->written.end = end;
    dm_intervals_insert(&imported->written, &m->written);
}

static bool begin_access(struct em_access *access)
{
    em_assert_locked();
    const struct em_allocation *a = access->owner;
    struct em_external_mapping *m = a->owner;
    uint64_t first = m->offset + (access->address - a->base), end = first + access->size_B;
    // "Any existing buffers … mapped onto this object must no longer be used": the driver allows
    // it, and so does its personality.
    if (m->imported->destroyed && !m->said_destroyed && em_config()->personality == EM_MANUAL) {
        m->said_destroyed = true;
        em_mistake(B06, CUDA_SUCCESS,
                   "the buffer at %#llx is used after CUexternalMemory #%u was destroyed",
                   (unsigned long long)a->base, m->imported->number);
    }
    em_exporter_check_turns(m->imported);
    if (em_access_writes(access)) {
        note_write(m, first, end);
        return false;
    }
    look_for_alias(m, first, end);
    em_exporter_check_read(m->imported, first, end, &m->said_unflushed);
    return false;
}

static const struct em_watch_ops watch_ops = {.begin = begin_access};

static void watch_one(struct dm_interval *bytes, void *unused)
{
    (void)unused;
    mapping_of_bytes(bytes)->allocation.watch = &watch_ops;
}

// A mapping is watched only if it shares bytes with another one, or if the exporter's side is to be
// compared: other commands pay nothing. The first overlap makes all mappings of the object watched,
// so that a later mapping need not find those that it overlaps.
void em_external_watch(struct em_external_mapping *m)
{
    em_assert_locked();
    struct em_imported *imported = m->imported;
    __atomic_store_n(&em_order_counts, true, __ATOMIC_RELAXED);
    m->bytes.first = m->offset;
    m->bytes.end = m->offset + m->allocation.size;
    m->written_epoch = UINT64_MAX;
    if (!imported->overlapping &&
        dm_intervals_overlap(&imported->mappings, m->bytes.first, m->bytes.end, NULL)) {
        imported->overlapping = true;
        dm_intervals_each(&imported->mappings, watch_one, NULL);
    }
    if (imported->overlapping || em_exporter_watches(imported))
        m->allocation.watch = &watch_ops;
    dm_intervals_insert(&imported->mappings, &m->bytes);
}

void em_external_unwatch(struct em_external_mapping *m)
{
    em_assert_locked();
    struct em_imported *imported = m->imported;
    dm_intervals_remove(&imported->mappings, &m->bytes);
    if (m->written_epoch == imported->epoch)
        dm_intervals_remove(&imported->written, &m->written);
    if (!imported->mappings.root)
        imported->overlapping = false;
}

void em_external_watch_destroyed(struct em_imported *imported)
{
    em_assert_locked();
    dm_intervals_each(&imported->mappings, watch_one, NULL);
}
