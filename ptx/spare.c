// SPDX-License-Identifier: MIT
// The table of places that are kept: one for each program at most.
#include "spare.h"

#include <stdatomic.h>
#include <stddef.h>

#include "single.h"

enum { SPARE_MOST = 16, SPARE_MOST_B = 64 << 10 };

// A thread that finds `busy` false and makes it true may use the place, and is the only one. It
// need not take the place out of the table, so that only one of the two ends of a launch needs an
// atomic exchange. `of` is a hint that spares launches of other programs the exchange. A place may
// stay after its program has ended: no other one gets it then, because their numbers differ.
static struct spare {
    _Atomic uint64_t of;
    _Atomic bool busy;
    struct px_cluster *cluster;
} spares[SPARE_MOST];

static struct spare *spare_of(uint64_t number)
{
    return &spares[number % SPARE_MOST];
}

// Returns false if another thread uses the place.
static bool enter(struct spare *spare)
{
    if (!dm_is_single_threaded())
        return !atomic_exchange_explicit(&spare->busy, true, memory_order_acquire);
    const bool busy = atomic_load_explicit(&spare->busy, memory_order_relaxed);
    atomic_store_explicit(&spare->busy, true, memory_order_relaxed);
    return !busy;
}

static void leave(struct spare *spare)
{
    atomic_store_explicit(&spare->busy, false, memory_order_release);
}

struct px_cluster *px_spare_take(struct px_grid *grid, const struct px_decoded *decoded,
                                 bool single)
{
    struct spare *spare = spare_of(decoded->number);
    if (atomic_load_explicit(&spare->of, memory_order_relaxed) != decoded->number || !enter(spare))
        return NULL;
    struct px_cluster *cluster = spare->cluster;
    if (cluster && px_cluster_renew(cluster, grid, decoded, single))
        return cluster;
    spare->cluster = NULL;
    leave(spare);
    if (cluster)
        px_cluster_free(cluster);
    return NULL;
}

// Keeps a place that was made for a launch, unless there is one already.
static void put(struct px_cluster *cluster)
{
    struct spare *spare = spare_of(cluster->program);
    struct px_cluster *left = cluster;
    if (enter(spare)) {
        if (!spare->cluster || spare->cluster->program != cluster->program) {
            left = spare->cluster;
            spare->cluster = cluster;
            cluster->kept = true;
            atomic_store_explicit(&spare->of, cluster->program, memory_order_relaxed);
        }
        leave(spare);
    }
    if (left)
        px_cluster_free(left);
}

void px_spare_give(struct px_cluster *cluster, bool good)
{
    struct spare *spare = spare_of(cluster->program);
    if (cluster->kept && good) {
        leave(spare);
    } else if (cluster->kept) {
        spare->cluster = NULL;
        leave(spare);
        px_cluster_free(cluster);
    } else if (good && px_cluster_is_plain(cluster) && cluster->size_B <= SPARE_MOST_B) {
        put(cluster);
    } else {
        px_cluster_free(cluster);
    }
}

void px_spare_drop(const struct px_decoded *decoded)
{
    struct spare *spare = spare_of(decoded->number);
    if (!enter(spare))
        return;
    struct px_cluster *cluster = spare->cluster;
    const bool ours = cluster && cluster->program == decoded->number;
    if (ours)
        spare->cluster = NULL;
    leave(spare);
    if (ours)
        px_cluster_free(cluster);
}
