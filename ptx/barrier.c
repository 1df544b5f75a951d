// SPDX-License-Identifier: MIT
// bar and barrier: arrivals, and the release of those that wait.
#include "barrier.h"

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "checker.h"
#include "fault.h"
#include "lanes/lanes.inc.h"
#include "race.h"

static uint32_t live_threads(const struct px_block *block)
{
    return block->running * KN_LANES;
}

// The threads of a warp that wait. A warp that is complete counts as 32.
static uint32_t waiting_in(const struct px_warp *warp, const struct px_barrier_state *b)
{
    const uint32_t lanes = b->lanes[warp->index];
    if (!lanes)
        return 0;
    return warp->w.lanes & ~lanes ? (uint32_t)__builtin_popcount(lanes) : KN_LANES;
}

// Writes the result of red for the lanes of a fragment.
static void write_result(struct px_warp *warp, const struct px_fragment *f,
                         const struct px_barrier_state *b)
{
    struct kn_warp *w = &warp->w;
    const struct kn_op *op = f->at;
    uint32_t *d;
    switch ((enum px_barrier)op->i) {
    case PX_BARRIER_POPC:
        d = KN_REGISTER(uint32_t, op->d);
        for (uint32_t rest = f->lanes; rest; rest &= rest - 1)
            d[__builtin_ctz(rest)] = b->count;
        return;
    case PX_BARRIER_AND:
    case PX_BARRIER_OR:
        d = &KN_PREDICATE(op->d);
        *d = (op->i == PX_BARRIER_AND ? b->all : b->any) ? *d | f->lanes : *d & ~f->lanes;
        return;
    default:
        return;
    }
}

// What the barrier orders.
static void note_release(const struct px_block *block, uint32_t number)
{
    const struct px_barrier_state *b = &block->barriers.of[number];
    struct px_race *race = block->checker ? block->checker->race : NULL;
    if (!race)
        return;
    if (!b->expected)
        px_race_all_arrived(race, number);
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (b->lanes[i])
            px_race_release(race, i, b->lanes[i] | ~block->warps[i].w.lanes, number);
    px_race_released(race, number);
}

static void release_fragment(struct px_warp *warp, struct px_fragment *f,
                             const struct px_barrier_state *b, uint32_t number)
{
    if (f->state != PX_AT_BARRIER || f->barrier != number)
        return;
    if (f->at->i != PX_BARRIER_SYNC)
        write_result(warp, f, b);
    f->state = PX_READY;
    f->at++;
}

static __attribute__((noinline)) void release(struct px_block *block, uint32_t number)
{
    struct px_barrier_state *b = &block->barriers.of[number];
    const uint32_t count = block->warp_count;
    note_release(block, number);
    struct px_warp *warp = block->warps;
    for (uint32_t i = 0; i < count; i++, warp++) {
        if (!b->lanes[i])
            continue;
        b->lanes[i] = 0;
        for (uint32_t k = 0; k < warp->count; k++)
            release_fragment(warp, &warp->fragments[k], b, number);
    }
    memset(b, 0, offsetof(struct px_barrier_state, lanes));
    block->barriers.used &= ~(UINT32_C(1) << number);
}

// Releases those that wait if all have arrived.
static void check(struct px_block *block, uint32_t number)
{
    const struct px_barrier_state *b = &block->barriers.of[number];
    const uint32_t expected = b->expected ? b->expected : live_threads(block);
    if (b->arrived + b->waiting >= expected)
        release(block, number);
}

void px_barriers_ended(struct px_block *block)
{
    for (uint32_t rest = block->barriers.used; rest; rest &= rest - 1) {
        const uint32_t number = (uint32_t)__builtin_ctz(rest);
        struct px_barrier_state *b = &block->barriers.of[number];
        b->waiting = 0; // a warp may have become complete
        for (uint32_t i = 0; i < block->warp_count; i++)
            b->waiting += waiting_in(&block->warps[i], b);
        check(block, number);
    }
}

static void arrive(struct px_barrier_state *b, const struct px_warp *warp, uint32_t lanes,
                   const struct kn_op *op)
{
    const struct kn_warp *w = &warp->w;
    const uint32_t before = waiting_in(warp, b);
    const struct px_checker *checker = warp->block->checker;
    if (checker && checker->race)
        px_race_arrive(checker->race, warp->index, (uint32_t)(b - warp->block->barriers.of));
    if (!b->arrived && !b->line)
        b->all = 1;
    b->line = op->line;
    if (op->i == PX_BARRIER_ARRIVE) { // these threads go on, and may come again
        b->arrived += lanes == w->lanes ? KN_LANES : (uint32_t)__builtin_popcount(lanes);
        return;
    }
    b->lanes[warp->index] |= lanes;
    b->waiting += waiting_in(warp, b) - before;
    if (op->i == PX_BARRIER_SYNC)
        return;
    const uint32_t values = KN_PREDICATE(op->c) & lanes;
    b->count += (uint32_t)__builtin_popcount(values);
    b->any |= values != 0;
    b->all &= values == lanes;
}

// The lanes of `rest` that name the same barrier and count as the lowest of them.
static uint32_t same_barrier(const uint32_t *numbers, const uint32_t *counts, uint32_t rest)
{
    const int first = __builtin_ctz(rest);
    uint32_t same = 0;
    for (; rest; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        if (numbers[i] == numbers[first] && counts[i] == counts[first])
            same |= rest & -rest;
    }
    return same;
}

// Some threads arrive, or in another way than in px_op_barrier_all.
static __attribute__((noinline)) const struct kn_op *arrive_slowly(const struct kn_op *op,
                                                                   struct px_warp *warp)
{
    struct kn_warp *w = &warp->w;
    struct px_block *block = warp->block;
    const uint32_t *numbers = KN_REGISTER(uint32_t, op->a);
    const uint32_t *counts = KN_REGISTER(uint32_t, op->b);
    const uint32_t all = w->active;
    for (uint32_t rest = all, lanes; rest; rest &= ~lanes) {
        lanes = op->count ? rest : same_barrier(numbers, counts, rest);
        const uint32_t number = numbers[__builtin_ctz(lanes)], count = counts[__builtin_ctz(lanes)];
        if (number >= PX_BARRIERS)
            return px_fail(warp, PX_FAILED_INSTRUCTION, lanes, op,
                           "barrier %u does not exist; a block has barriers 0 to 15", number);
        // "the thread count must be a multiple of the warp size"
        if (count % KN_LANES)
            return px_fail(warp, PX_FAILED_INSTRUCTION, lanes, op,
                           "the count of threads at a barrier (%u) must be a multiple of 32",
                           count);
        struct px_barrier_state *b = &block->barriers.of[number];
        b->expected = count;
        arrive(b, warp, lanes, op);
        block->barriers.used |= UINT32_C(1) << number;
        px_warp_put(warp, (struct px_fragment){.at = op,
                                               .lanes = lanes,
                                               .turn = warp->turn,
                                               .state = PX_AT_BARRIER,
                                               .barrier = number});
        if (op->i == PX_BARRIER_ARRIVE) {
            warp->fragments[warp->count - 1].state = PX_READY;
            warp->fragments[warp->count - 1].at = op + 1;
        }
        check(block, number);
    }
    return px_warp_next(warp);
}

// Sources: a, the barrier's number; b, the count of threads, or 0; c, the predicate of red. kn_op.i
// is an enum px_barrier.
const struct kn_op *px_op_barrier(const struct kn_op *op, struct kn_warp *w)
{
    const struct kn_op *next = arrive_slowly(op, px_warp_of(w));
    if (!next)
        return NULL;
    KN_GO(next);
}

// bar.sync with constants, for all threads of the block. Almost always, a whole warp arrives.
const struct kn_op *px_op_barrier_all(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    struct px_block *block = warp->block;
    const uint32_t number = op->count - 1, lanes = w->lanes;
    struct px_barrier_state *b = &block->barriers.of[number];
    if (__builtin_expect(w->active != lanes, 0))
        return px_op_barrier(op, w);
    if (!b->arrived && !b->line)
        b->all = 1;
    b->line = op->line;
    b->expected = 0;
    const uint32_t waiting = b->waiting + KN_LANES;
    if (b->arrived + waiting >= live_threads(block)) { // the last one need not wait
        release(block, number);
        KN_NEXT;
    }
    b->lanes[warp->index] = lanes;
    b->waiting = waiting;
    block->barriers.used |= UINT32_C(1) << number;
    struct px_fragment *f = &warp->fragments[warp->count++];
    f->at = op;
    f->lanes = lanes;
    f->turn = warp->turn;
    f->backward = 0;
    f->state = PX_AT_BARRIER;
    f->barrier = (uint16_t)number;
#ifdef KN_TAIL_CALLS
    struct px_warp *next = px_block_turn(block);
    if (next) {
        w = &next->w;
        KN_GO(px_warp_go_on(next));
    }
#endif
    return px_warp_wait(warp);
}

// A thread that has not arrived, of a barrier for all threads: the first one of its warp. Returns
// false if all have, or if the barrier is for some threads only.
static bool find_missing(const struct px_block *block, const struct px_barrier_state *b,
                         uint32_t *thread)
{
    for (uint32_t i = 0; !b->expected && i < block->warp_count; i++) {
        const uint32_t missing = block->warps[i].w.lanes & ~b->lanes[i];
        if (!missing)
            continue;
        *thread = i * KN_LANES + (uint32_t)__builtin_ctz(missing);
        return true;
    }
    return false;
}

void px_barriers_text(const struct px_block *block, char *out, size_t size_B)
{
    const uint32_t *size = block->grid->threads;
    size_t used = 0;
    *out = 0;
    for (uint32_t rest = block->barriers.used; rest && used < size_B; rest &= rest - 1) {
        const uint32_t number = (uint32_t)__builtin_ctz(rest);
        const struct px_barrier_state *b = &block->barriers.of[number];
        uint32_t thread;
        used += (size_t)snprintf(out + used, size_B - used,
                                 "; at barrier %u (line %u) %u of %u threads have arrived", number,
                                 b->line, b->arrived + b->waiting,
                                 b->expected ? b->expected : live_threads(block));
        if (used < size_B && find_missing(block, b, &thread))
            used += (size_t)snprintf(out + used, size_B - used, ", and thread (%u,%u,%u) has not",
                                     thread % size[0], thread / size[0] % size[1],
                                     thread / size[0] / size[1]);
    }
}
