// SPDX-License-Identifier: MIT
// Shared memory of blocks. Each block's ends at a page that faults, so that a kernel cannot use
// more than it has:
//
//     │ unused │ static │ dynamic │ page without access │
//              ▲ aligned to 16 bytes
#include <stdint.h>
#include <sys/mman.h>

#include "alloc.h"
#include "arithmetic.h"
#include "error.h"
#include "host_lane.h"
#include "mutex.h"

enum { GUARD_B = 1 << 20, ALIGNMENT_B = 16, PAGE_B = 64 << 10 };

// Memory for one block or, in a cooperative grid, for several.
struct em_host_shared {
    struct em_host_shared *next;
    char *base;
    uint64_t each_B, blocks; // without the page after it
};

enum { KEPT_MOST = 64 };

static struct {
    struct dm_mutex lock;
    struct em_host_shared *first; // of one block each
    unsigned count;
} spare = {.lock = DM_MUTEX_INITIALIZER(LEAF)};

static uint64_t static_B(const struct em_grid *grid)
{
    return dm_div_up(grid->code->static_shared_B, ALIGNMENT_B) * ALIGNMENT_B;
}

static uint64_t total_B(const struct em_grid *grid)
{
    return dm_div_up(static_B(grid) + grid->dynamic_shared_B, ALIGNMENT_B) * ALIGNMENT_B;
}

static void free_shared(struct em_host_shared *s)
{
    munmap(s->base, s->blocks * (s->each_B + GUARD_B));
    dm_free(s);
}

static struct em_host_shared *new_shared(uint64_t each_B, uint64_t blocks)
{
    struct em_host_shared *s = dm_alloc(sizeof *s);
    if (!s)
        return NULL;
    const uint64_t stride_B = each_B + GUARD_B;
    *s = (struct em_host_shared){.each_B = each_B, .blocks = blocks};
    s->base = mmap(NULL, blocks * stride_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (s->base == MAP_FAILED) {
        dm_free(s);
        return NULL;
    }
    for (uint64_t i = 0; i < blocks; i++) {
        if (mprotect(s->base + i * stride_B, each_B, PROT_READ | PROT_WRITE)) {
            free_shared(s);
            return NULL;
        }
    }
    return s;
}

static struct em_host_shared *take_spare(void)
{
    dm_mutex_lock(&spare.lock);
    struct em_host_shared *s = spare.first;
    if (s) {
        spare.first = s->next;
        spare.count--;
    }
    dm_mutex_unlock(&spare.lock);
    return s;
}

void em_host_shared_give_back(void)
{
    for (struct em_host_shared *s = take_spare(); s; s = take_spare())
        free_shared(s);
}

CUresult em_host_shared_get(struct em_host_part *part, uint64_t blocks)
{
    const uint64_t each_B = dm_div_up(total_B(part->grid), PAGE_B) * PAGE_B;
    struct em_host_shared *s = NULL;
    part->shared = NULL;
    if (!each_B)
        return CUDA_SUCCESS;
    if (blocks == 1)
        s = take_spare();
    if (s && s->each_B < each_B) {
        free_shared(s);
        s = NULL;
    }
    if (!s)
        s = new_shared(each_B, blocks);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for the shared memory of %llu blocks (%llu bytes each)",
                       (unsigned long long)blocks, (unsigned long long)each_B);
    part->shared = s;
    return CUDA_SUCCESS;
}

void em_host_shared_place(struct em_host_part *part, struct em_host_lane *lane, uint64_t block)
{
    const struct em_host_shared *s = part->shared;
    if (!s)
        return;
    char *end = s->base + block * (s->each_B + GUARD_B) + s->each_B;
    lane->self.shared = end - total_B(part->grid);
    lane->self.dynamic_shared = end - total_B(part->grid) + static_B(part->grid);
    lane->self.dynamic_shared_size = part->grid->dynamic_shared_B;
}

bool em_host_past_shared(const struct em_host_lane *lane, uint64_t address, uint64_t *past_B)
{
    const uint64_t end = (uintptr_t)lane->self.dynamic_shared + lane->self.dynamic_shared_size;
    *past_B = address - end;
    return lane->self.dynamic_shared && address >= end &&
           address < dm_div_up(end, ALIGNMENT_B) * ALIGNMENT_B + GUARD_B;
}

void em_host_shared_put(struct em_host_part *part)
{
    struct em_host_shared *s = part->shared;
    if (!s)
        return;
    dm_mutex_lock(&spare.lock);
    const bool keeps = s->blocks == 1 && spare.count < KEPT_MOST;
    if (keeps) {
        s->next = spare.first;
        spare.first = s;
        spare.count++;
    }
    dm_mutex_unlock(&spare.lock);
    if (!keeps)
        free_shared(s);
}
