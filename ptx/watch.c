// SPDX-License-Identifier: MIT
// Finds the lines at which the threads of a slow block are.
#include "watch.h"

#include <time.h>

#include "block.h"
#include "clock.h"

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * DM_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void note(struct px_slow *slow, const struct px_fragment *f)
{
    const uint32_t threads = (uint32_t)__builtin_popcount(f->lanes);
    for (unsigned i = 0; i < slow->count; i++)
        if (slow->lines[i] == f->at->line) {
            slow->threads[i] += threads;
            return;
        }
    if (slow->count == PX_SLOW_LINES)
        return;
    slow->lines[slow->count] = f->at->line;
    slow->threads[slow->count++] = threads;
}

static void describe(const struct px_block *block, struct px_slow *slow)
{
    const uint32_t *size = block->grid->threads;
    uint32_t thread = 0;
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++) {
        const struct px_warp *warp = &block->warps[i];
        for (uint32_t k = 0; k < warp->count; k++) {
            if (!slow->count)
                thread = warp->index * KN_LANES + (uint32_t)__builtin_ctz(warp->fragments[k].lanes);
            note(slow, &warp->fragments[k]);
        }
    }
    for (int i = 0; i < 3; i++)
        slow->block[i] = block->number[i];
    slow->thread[0] = thread % size[0];
    slow->thread[1] = thread / size[0] % size[1];
    slow->thread[2] = thread / size[0] / size[1];
}

void px_watch(struct px_watch *watch, const struct px_block *block)
{
    const struct px_host *host = block ? block->grid->host : NULL;
    if (!host || !host->patience_ns || host->stepper || watch->said)
        return;
    if (!watch->start_ns) { // most grids end in their first turn
        watch->start_ns = dm_now_ns();
        watch->cpu_start_ns = processor_ns();
        return;
    }
    if (dm_now_ns() - watch->start_ns < host->patience_ns ||
        processor_ns() - watch->cpu_start_ns < host->patience_ns)
        return;
    struct px_slow slow = {.count = 0};
    describe(block, &slow);
    if (!slow.count)
        return;
    watch->said = true;
    host->slow(host->context, &slow);
}
