// SPDX-License-Identifier: MIT
// The table of places that are kept: one for each program at most.
#include "spare.h"

#include <stdatomic.h>
#include <stddef.h>

#include "single.h"

enum { SPARE_MOST = 16, SPARE_MOST_B = 64 << 10 };

// A thread that takes or gives a place exchanges it, so no two threads have the same one. `of` is a
// hint that spares launches of other programs the exchange. A place may be put back after its
// program has ended: no other one gets it then, because their numbers differ.
static struct spare {
    _Atomic uint64_t of;
    struct px_cluster *_Atomic cluster;
} spares[SPARE_MOST];

static struct spare *spare_of(uint64_t number)
{
    return &spares[number % SPARE_MOST];
}

static struct px_cluster *exchange(struct spare *spare, struct px_cluster *cluster)
{
    if (!dm_is_single_threaded())
        return atomic_exchange_explicit(&spare->cluster, cluster, memory_order_acq_rel);
    struct px_cluster *before = atomic_load_explicit(&spare->cluster, memory_order_relaxed);
    atomic_store_explicit(&spare->cluster, cluster, memory_order_relaxed);
    return before;
}

struct px_cluster *px_spare_take(struct px_grid *grid, const struct px_decoded *decoded,
                                 bool single)
{
    struct spare *spare = spare_of(decoded->number);
    if (atomic_load_explicit(&spare->of, memory_order_relaxed) != decoded->number)
        return NULL;
    struct px_cluster *cluster = exchange(spare, NULL);
    if (!cluster)
        return NULL;
    if (px_cluster_renew(cluster, grid, decoded, single))
        return cluster;
    px_cluster_free(cluster);
    return NULL;
}

static void put(struct px_cluster *cluster)
{
    struct spare *spare = spare_of(cluster->program);
    if (atomic_load_explicit(&spare->of, memory_order_relaxed) != cluster->program)
        atomic_store_explicit(&spare->of, cluster->program, memory_order_relaxed);
    cluster = exchange(spare, cluster);
    if (cluster)
        px_cluster_free(cluster);
}

void px_spare_give(struct px_cluster *cluster)
{
    if (px_cluster_is_plain(cluster) && cluster->size_B <= SPARE_MOST_B)
        put(cluster);
    else
        px_cluster_free(cluster);
}

void px_spare_drop(const struct px_decoded *decoded)
{
    struct px_cluster *cluster = exchange(spare_of(decoded->number), NULL);
    if (cluster && cluster->program != decoded->number)
        put(cluster);
    else if (cluster)
        px_cluster_free(cluster);
}
