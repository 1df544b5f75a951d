// SPDX-License-Identifier: MIT
// The functions that CUDA's runtime gives to kernels: vprintf, __assertfail, malloc, free and
// cudaGraphSetConditional. Lanes call them one after the other, in the order of their numbers.
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "fault.h"
#include "lanes/lanes.inc.h"
#include "print.h"

enum {
    ASSERT_TEXT_MOST = 4096, // bytes of each of the three strings
    ASSERTS_MOST = 1024,     // that are printed, about
};

static uint64_t source(const struct kn_warp *w, uint32_t at, int lane)
{
    return KN_REGISTER(uint64_t, at)[lane];
}

// "printf … returns the number of arguments parsed".
static bool lane_print(const struct kn_op *op, struct px_warp *warp, int lane)
{
    struct kn_warp *w = &warp->w;
    const struct px_bytes from = {warp, lane, op};
    const struct px_host *host = warp->block->grid->host;
    struct px_lines *lines = &warp->block->grid->lines;
    uint64_t record_B = 0;
    int count = 0;
    lines->used = 0;
    if (!px_print(&from, source(w, op->a, lane), source(w, op->b, lane), &count, &record_B))
        return false;
    host->print(host->context, lines->bytes + lines->text, lines->used - lines->text, record_B);
    int32_t *out = KN_REGISTER(int32_t, op->d);
    out[lane] = count;
    return true;
}

// The line of a failed assertion, as CUDA writes it (recorded: x_runtime_k print/assert-message).
// The sources are the condition, the file, the line, the function, and the size of a character,
// which is always 1.
static bool lane_assert(const struct kn_op *op, struct px_warp *warp, int lane)
{
    struct kn_warp *w = &warp->w;
    const struct px_bytes from = {warp, lane, op};
    const struct px_block *block = warp->block;
    const struct px_host *host = block->grid->host;
    struct px_lines *lines = &block->grid->lines;
    const uint32_t *size = block->grid->threads;
    const uint32_t thread = warp->index * KN_LANES + (uint32_t)lane;
    const uint64_t file = source(w, op->b, lane), function = source(w, op->more[0], lane);
    char part[160];
    lines->used = 0;
    snprintf(part, sizeof part, ":%u: ", KN_REGISTER(uint32_t, op->c)[lane]);
    if (!px_string_read(&from, file, ASSERT_TEXT_MOST) ||
        !px_lines_add(&from, part, strlen(part)) ||
        !px_string_read(&from, function, ASSERT_TEXT_MOST))
        return false;
    snprintf(part, sizeof part, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
             block->number[0], block->number[1], block->number[2], thread % size[0],
             thread / size[0] % size[1], thread / size[0] / size[1]);
    if (!px_lines_add(&from, part, strlen(part)) ||
        !px_string_read(&from, source(w, op->a, lane), ASSERT_TEXT_MOST) ||
        !px_lines_add(&from, "` failed.\n", 10))
        return false;
    host->complain(host->context, lines->bytes, lines->used);
    return true;
}

static bool lane_free(const struct kn_op *op, struct px_warp *warp, int lane)
{
    const struct px_host *host = warp->block->grid->host;
    const uint64_t address = source(&warp->w, op->a, lane);
    char why[256];
    // "If ptr is NULL, the call to free() is ignored."
    if (!address || host->free(host->context, address, why, sizeof why))
        return true;
    px_fail(warp, PX_FAILED_FREE, UINT32_C(1) << lane, op, "free(0x%llx): %s",
            (unsigned long long)address, why);
    warp->block->grid->failure.address = address;
    return false;
}

static void lane_allocate(const struct kn_op *op, struct px_warp *warp, int lane)
{
    const struct px_host *host = warp->block->grid->host;
    struct kn_warp *w = &warp->w;
    uint64_t *out = KN_REGISTER(uint64_t, op->d);
    out[lane] = host->allocate(host->context, source(w, op->a, lane));
}

static void lane_set_conditional(const struct kn_op *op, struct px_warp *warp, int lane)
{
    const struct px_host *host = warp->block->grid->host;
    struct kn_warp *w = &warp->w;
    if (host->set_conditional)
        host->set_conditional(source(w, op->a, lane), KN_REGISTER(uint32_t, op->b)[lane]);
}

static bool lane_run(const struct kn_op *op, struct px_warp *warp, int lane)
{
    switch ((enum px_builtin)op->i) {
    case PX_BUILTIN_VPRINTF:
        return lane_print(op, warp, lane);
    case PX_BUILTIN_ASSERTFAIL:
        return lane_assert(op, warp, lane);
    case PX_BUILTIN_MALLOC:
        lane_allocate(op, warp, lane);
        return true;
    case PX_BUILTIN_SET_CONDITIONAL:
        lane_set_conditional(op, warp, lane);
        return true;
    default:
        return lane_free(op, warp, lane);
    }
}

// On a card, blocks that run beside the one that fails go on, so that all failed assertions of a
// small grid are printed (recorded on an H200). Here all blocks go on, unless threads may wait for
// those that have ended.
static const struct kn_op *after_assert(const struct kn_op *op, struct px_warp *warp)
{
    struct px_grid *grid = warp->block->grid;
    const uint32_t lanes = warp->w.active;
    px_fail(warp, PX_FAILED_ASSERT, lanes, op, "a device-side assertion failed");
    if (!grid->asserted)
        grid->assertion = grid->failure;
    grid->failure = grid->assertion;
    grid->asserted += (uint32_t)__builtin_popcount(lanes);
    if (grid->program->waits || grid->cooperative || grid->asserted >= ASSERTS_MOST)
        return NULL;
    return px_warp_end(warp, lanes, op + 1);
}

const struct kn_op *px_op_builtin(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    for (uint32_t rest = w->active; rest; rest &= rest - 1)
        if (!lane_run(op, warp, __builtin_ctz(rest)))
            return NULL;
    if (op->i == PX_BUILTIN_ASSERTFAIL && w->active)
        return after_assert(op, warp);
    KN_NEXT;
}
