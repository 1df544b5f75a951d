// SPDX-License-Identifier: MIT
// Describes failures of grids.
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

#include "cluster.h"
#include "guard.h"
#include "lanes/lanes.inc.h"

static void place(struct px_warp *warp, uint32_t lanes, const struct kn_op *at)
{
    const struct px_block *block = warp->block;
    struct px_failure *f = &block->grid->failure;
    const uint32_t *size = block->grid->threads;
    const uint32_t thread = warp->index * KN_LANES + (lanes ? (uint32_t)__builtin_ctz(lanes) : 0);
    f->placed = true;
    f->line = at ? at->line : 0;
    for (int i = 0; i < 3; i++)
        f->block[i] = block->number[i];
    f->thread[0] = thread % size[0];
    f->thread[1] = thread / size[0] % size[1];
    f->thread[2] = thread / size[0] / size[1];
}

const struct kn_op *px_fail(struct px_warp *warp, enum px_failure_kind kind, uint32_t lanes,
                            const struct kn_op *at, const char *format, ...)
{
    struct px_failure *f = &warp->block->grid->failure;
    va_list list;
    *f = (struct px_failure){.kind = kind};
    place(warp, lanes, at);
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
    warp->w.stop = (enum kn_stop)PX_STOP_FAILED;
    return NULL;
}

// Returns true if the address names a rank outside the cluster.
static bool is_other_rank(const struct px_block *block, uint32_t address)
{
    return block->cluster->named && address >> PX_RANK_SHIFT >= block->cluster->count;
}

static enum px_failure_kind kind_of(const struct px_warp *warp)
{
    const struct kn_memory *m = &warp->block->memory;
    const struct kn_fault *f = &warp->w.fault;
    switch (f->kind) {
    case KN_FAULT_MISALIGNED:
        return PX_FAILED_MISALIGNED;
    case KN_FAULT_TEXTURE:
        return PX_FAILED_TEXTURE;
    case KN_FAULT_SURFACE:
        return PX_FAILED_SURFACE;
    case KN_FAULT_OUTSIDE:
        return PX_FAILED_OUTSIDE;
    default:
        break;
    }
    const uint64_t window = f->space == KN_FAULT_GENERIC ? f->address >> 32 : 0;
    if (f->space == KN_FAULT_SHARED || (window && window == m->shared_window >> 32))
        return is_other_rank(warp->block, (uint32_t)f->address) ? PX_FAILED_RANK : PX_FAILED_SHARED;
    if (f->space == KN_FAULT_LOCAL || (window && window == m->local_window >> 32))
        return PX_FAILED_LOCAL;
    return PX_FAILED_ADDRESS;
}

static void describe(struct px_warp *warp, enum px_failure_kind kind, uint32_t lanes,
                     const struct kn_op *at, uint64_t address, uint32_t size_B, bool write)
{
    static const char *const rules[] = {
        [PX_FAILED_ADDRESS] = "which the kernel may not access",
        [PX_FAILED_MISALIGNED] = "which is not a multiple of that size",
        [PX_FAILED_SHARED] = "outside the shared memory of the block",
        [PX_FAILED_RANK] = "of a block rank that the cluster does not have",
        [PX_FAILED_LOCAL] = "outside the local memory of the thread",
    };
    px_fail(warp, kind, lanes, at, "%u-byte %s at 0x%llx, %s", size_B, write ? "write" : "read",
            (unsigned long long)address, rules[kind]);
    struct px_failure *f = &warp->block->grid->failure;
    f->address = address;
    f->size_B = size_B;
    f->write = write;
}

// Frames of functions end with local memory, so an access after it is that of a call that is too
// deep.
static bool is_overflow(const struct px_warp *warp, enum px_failure_kind kind, uint64_t address)
{
    return kind == PX_FAILED_LOCAL && warp->block->grid->program->recurses &&
           (uint32_t)address >= warp->w.local_B;
}

static void describe_overflow(struct px_warp *warp)
{
    const struct kn_fault *f = &warp->w.fault;
    px_fail(warp, PX_FAILED_STACK, f->lanes, warp->w.at,
            "calls are too deep for the stack of %u bytes (CU_LIMIT_STACK_SIZE, which "
            "cuCtxSetLimit sets, but at least 16,384)",
            warp->block->grid->stack_B);
    warp->block->grid->failure.address = f->address;
}

static void describe_object(struct px_warp *warp, enum px_failure_kind kind)
{
    const struct kn_fault *f = &warp->w.fault;
    if (kind == PX_FAILED_OUTSIDE)
        px_fail(warp, kind, f->lanes, warp->w.at,
                "%u-byte %s outside of the surface, at x = %d, y = %d, z = %d, layer = %d",
                f->size_B, f->write ? "write" : "read", f->at[0], f->at[1], f->at[2], f->at[3]);
    else
        px_fail(warp, kind, f->lanes, warp->w.at, "the handle 0x%llx is not that of a %s",
                (unsigned long long)f->address, kind == PX_FAILED_TEXTURE ? "texture" : "surface");
    warp->block->grid->failure.address = f->address;
}

void px_fail_access(struct px_warp *warp)
{
    const struct kn_fault *f = &warp->w.fault;
    const enum px_failure_kind kind = kind_of(warp);
    if (kind == PX_FAILED_TEXTURE || kind == PX_FAILED_SURFACE || kind == PX_FAILED_OUTSIDE)
        describe_object(warp, kind);
    else if (is_overflow(warp, kind, f->address))
        describe_overflow(warp);
    else
        describe(warp, kind, f->lanes, warp->w.at, f->address, f->size_B, f->write);
}

// The access's lane is that of the nearest address at or below the fault's.
void px_fail_fault(struct px_warp *warp, const struct dm_fault *fault)
{
    enum { ACCESS_MOST_B = 32 };
    px_block_locate(warp->block);
    const struct kn_op *at = warp->w.at;
    const uint64_t *a = at ? (const uint64_t *)(const void *)(warp->w.r + at->a) : NULL;
    uint64_t address = fault->address, distance = ACCESS_MOST_B;
    uint32_t lane = warp->w.active;
    for (uint32_t rest = a ? warp->w.active : 0; rest; rest &= rest - 1) {
        const uint64_t x = a[__builtin_ctz(rest)] + at->u;
        if (fault->address - x >= distance)
            continue;
        distance = fault->address - x;
        lane = rest & -rest;
        address = x;
    }
    struct px_failure *f = &warp->block->grid->failure;
    const struct px_cluster *cluster = warp->block->cluster;
    const uint64_t offset = fault->address - (uintptr_t)cluster->shared;
    if (cluster->shared && offset < cluster->count * PX_RANK_B) {
        px_fail(warp, PX_FAILED_SHARED, lane ? lane : warp->w.active, at,
                "%s at 0x%llx, outside the shared memory of block rank %u",
                fault->write ? "write" : "read", (unsigned long long)offset,
                (unsigned)(offset >> PX_RANK_SHIFT));
        f->address = offset;
        f->write = fault->write;
        return;
    }
    describe(warp, PX_FAILED_ADDRESS, lane, at, address, 0, fault->write);
    snprintf(f->text, sizeof f->text, "%s of address 0x%llx, which the kernel may not access",
             fault->write ? "write" : "read", (unsigned long long)address);
}
