// SPDX-License-Identifier: MIT
// Fragments of warps, and the operations that split and join them.
#include "warp.h"

#include "block_fill.h"
#include "cluster.h"
#include "draw.h"
#include "fault.h"
#include "stepping.h"
#include "lanes/lanes.inc.h"

enum { TURN_BRANCHES = 64 };

static const struct kn_op *stop(struct px_warp *warp, enum px_stop why)
{
    warp->w.stop = (enum kn_stop)why;
    return NULL;
}

const struct kn_op *px_warp_wait(struct px_warp *warp)
{
    return stop(warp, PX_STOP_WAITS);
}

static void activate(struct px_warp *warp, uint32_t lanes)
{
    if (lanes != warp->w.active)
        kn_warp_activate(&warp->w, lanes);
}

// The members that are needed are read before, one by one: a processor waits if it loads at once
// what has just been stored in parts.
static void drop(struct px_warp *warp, unsigned index)
{
    if (index != --warp->count)
        warp->fragments[index] = warp->fragments[warp->count];
}

bool px_waits_for_phase(const struct px_warp *warp, const struct px_fragment *f)
{
    return f->state == PX_AT_PHASE && f->phases == *warp->w.memory->phases;
}

static bool is_ready(const struct px_warp *warp, const struct px_fragment *f)
{
    return f->state == PX_READY || (f->state == PX_AT_PHASE && !px_waits_for_phase(warp, f)) ||
           (f->state == PX_AT_MEMBERS && !(f->needed & warp->w.lanes & ~f->lanes));
}

static uint64_t rank(const struct px_warp *warp, const struct px_fragment *f)
{
    const uint64_t at = (uint64_t)(f->at - warp->block->decoded->ops);
    const uint64_t seed = warp->block->grid->seed;
    return seed ? px_drawn(seed + warp->block->linear + warp->index, at) : at;
}

static bool comes_before(const struct px_warp *warp, const struct px_fragment *f,
                         const struct px_fragment *g)
{
    return f->turn != g->turn ? f->turn < g->turn : rank(warp, f) < rank(warp, g);
}

// Joins the ready fragments at `at`, and returns their lanes.
static uint32_t join(struct px_warp *warp, const struct kn_op *at)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < warp->count;) {
        const struct px_fragment *f = &warp->fragments[i];
        if (f->at != at || f->state != PX_READY) {
            i++;
            continue;
        }
        if (f->turn < warp->turn) {
            warp->turn = f->turn;
            warp->backward = f->backward;
        }
        lanes |= f->lanes;
        drop(warp, i);
    }
    return lanes;
}

// All fragments wait, and at least one for lanes of this warp: those lanes may be at other
// operations with a member mask, which counts as an arrival (the card waits for an arrival, not for
// one place).
static int find_arrived_elsewhere(const struct px_warp *warp)
{
    uint32_t arrived = 0;
    int best = -1;
    for (unsigned i = 0; i < warp->count; i++)
        if (warp->fragments[i].state == PX_AT_MEMBERS)
            arrived |= warp->fragments[i].lanes;
    for (unsigned i = 0; i < warp->count; i++) {
        const struct px_fragment *f = &warp->fragments[i];
        if (f->state == PX_AT_MEMBERS && !(f->needed & warp->w.lanes & ~arrived) &&
            (best < 0 || comes_before(warp, f, &warp->fragments[best])))
            best = (int)i;
    }
    return best;
}

const struct kn_op *px_warp_next(struct px_warp *warp)
{
    int best = -1;
    if (px_warp_is_simple(warp))
        return px_warp_go_on(warp);
    if (!warp->count)
        return stop(warp, PX_STOP_ENDED);
    for (unsigned i = 0; i < warp->count; i++)
        if (is_ready(warp, &warp->fragments[i]) &&
            (best < 0 || comes_before(warp, &warp->fragments[i], &warp->fragments[best])))
            best = (int)i;
    if (best < 0)
        best = find_arrived_elsewhere(warp);
    if (best < 0)
        return stop(warp, PX_STOP_WAITS);
    const struct px_fragment *f = &warp->fragments[best];
    const struct kn_op *at = f->at;
    const uint32_t lanes = f->lanes;
    const bool at_members = f->state == PX_AT_MEMBERS;
    warp->turn = f->turn;
    warp->backward = f->backward;
    drop(warp, (unsigned)best);
    if (at_members) { // its mask is complete, so it passes the operation
        activate(warp, lanes);
        return at + 1;
    }
    activate(warp, lanes | join(warp, at));
    return at;
}

// Active lanes at another operation.
static inline struct px_fragment part(const struct px_warp *warp, uint32_t lanes,
                                      const struct kn_op *at)
{
    return (struct px_fragment){
        .at = at, .lanes = lanes, .turn = warp->turn, .backward = warp->backward};
}

const struct kn_op *px_warp_end(struct px_warp *warp, uint32_t lanes, const struct kn_op *next)
{
    warp->w.lanes &= ~lanes;
    warp->block->running -= !warp->w.lanes;
    if (!warp->w.lanes && warp->block->stepping)
        px_stepping_end(warp->block->stepping, warp);
    if (warp->block->barriers.used)
        px_barriers_ended(warp->block);
    px_cluster_ended(warp->block->cluster);
    if (warp->w.active & ~lanes) {
        activate(warp, warp->w.active & ~lanes);
        return next;
    }
    warp->w.active = 0;
    return px_warp_next(warp);
}

void px_warp_start(struct px_warp *warp, const struct kn_op *first, uint32_t lanes)
{
    warp->w.lanes = lanes;
    warp->turn = warp->last_turn = warp->backward = warp->cluster_lanes = 0;
    warp->fragments[0] = (struct px_fragment){.at = first, .lanes = lanes};
    warp->count = 1;
    if (warp->block->stepping)
        px_stepping_warp(warp->block->stepping, warp);
}

unsigned px_warp_run(struct px_warp *warp)
{
    const struct kn_op *op = px_warp_next(warp);
    if (!op)
        return (enum px_stop)warp->w.stop == PX_STOP_WAITS ? PX_STOP_STUCK : warp->w.stop;
    while (op) { // of the warp that runs, which px_block_turn changes
        struct kn_warp *w = &warp->block->current->w;
        op = op->run[w->partial](op, w);
    }
    return warp->block->current->w.stop;
}

// ---- branches ----

// The lanes that take a branch. kn_op.count is an enum px_back.
static inline struct px_fragment branch(struct px_warp *warp, uint32_t lanes,
                                        const struct kn_op *op, const struct kn_op *to)
{
    struct px_fragment f = part(warp, lanes, to);
    if (!op->count)
        return f;
    warp->budget--;
    if (op->count == PX_BACK_ALONE)
        return f;
    warp->block->moved |= op->count == PX_BACK;
    if (++f.backward >= TURN_BRANCHES) {
        f.backward = 0;
        f.turn = ++warp->last_turn;
    }
    return f;
}

// The next fragment, unless the warp has used up its budget.
static const struct kn_op *next_in_budget(struct px_warp *warp)
{
    if (warp->budget >= 0)
        return px_warp_next(warp);
    warp->w.active = 0;
    return stop(warp, PX_STOP_TURN);
}

// Whether the other fragments are all ready after `to`, in the turn of the one that runs, so that
// it would be the next one there.
static bool others_are_later(const struct px_warp *warp, const struct kn_op *to)
{
    if (warp->block->grid->seed)
        return false;
    for (unsigned i = 0; i < warp->count; i++) {
        const struct px_fragment *f = &warp->fragments[i];
        if (f->at <= to || f->turn < warp->turn)
            return false;
    }
    return true;
}

// The usual case: no other fragment comes first, and the budget is not used up. With others, a
// fragment that branches backwards has turns only if the program waits.
static inline bool go_alone(const struct kn_op *op, struct px_warp *warp)
{
    if (op->count && warp->budget <= 0)
        return false;
    if (warp->count && (op->count > PX_BACK_ALONE || !others_are_later(warp, op->to)))
        return false;
    if (!op->count)
        return true;
    warp->budget--;
    warp->block->moved |= op->count == PX_BACK;
    return true;
}

static const struct kn_op *go(const struct kn_op *op, struct px_warp *warp)
{
    if (go_alone(op, warp))
        return op->to;
    px_warp_put(warp, branch(warp, warp->w.active, op, op->to));
    return next_in_budget(warp);
}

const struct kn_op *px_op_jump(const struct kn_op *op, struct kn_warp *w)
{
    if (go_alone(op, px_warp_of(w)))
        KN_GO(op->to);
    return go(op, px_warp_of(w));
}

const struct kn_op *px_op_jump_some(const struct kn_op *op, struct kn_warp *w)
{
    return go(op, px_warp_of(w));
}

// Adds a ready fragment, or its lanes to one that is at the same operation in the same turn.
static void put_ready(struct px_warp *warp, struct px_fragment fragment)
{
    for (unsigned i = 0; i < warp->count; i++) {
        struct px_fragment *f = &warp->fragments[i];
        if (f->at == fragment.at && f->turn == fragment.turn && f->state == PX_READY) {
            f->lanes |= fragment.lanes;
            return;
        }
    }
    px_warp_put(warp, fragment);
}

// Lanes that do not take a branch forward are the next ones, unless others come first.
static const struct kn_op *split(const struct kn_op *op, struct kn_warp *w, uint32_t taken)
{
    struct px_warp *warp = px_warp_of(w);
    if (!op->count && op->to > op + 1 && warp->budget >= 0 && others_are_later(warp, op + 1)) {
        const uint32_t rest = w->active & ~taken;
        px_warp_put(warp, part(warp, taken, op->to));
        kn_warp_activate(w, rest);
        KN_GO(op + 1);
    }
    put_ready(warp, part(warp, w->active & ~taken, op + 1));
    px_warp_put(warp, branch(warp, taken, op, op->to));
    return next_in_budget(warp);
}

const struct kn_op *px_op_branch(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t taken = KN_PREDICATE(op->guard) ^ op->guard_flip;
    if (!taken)
        KN_NEXT;
    if (taken != UINT32_MAX)
        return split(op, w, taken);
    if (go_alone(op, px_warp_of(w)))
        KN_GO(op->to);
    return go(op, px_warp_of(w));
}

const struct kn_op *px_op_branch_some(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t taken = kn_mask_of(op, w);
    if (!taken)
        KN_NEXT;
    if (taken != w->active)
        return split(op, w, taken);
    if (go_alone(op, px_warp_of(w)))
        KN_GO(op->to);
    return go(op, px_warp_of(w));
}

// These operations come before a comparison of 32 bits and the branch that it decides. The values
// of register a have a known difference from each thread to its neighbour in x, and register b plus
// kn_op.i is the same for all. So if the first and the last lane agree, the branch is decided, and
// both operations are skipped. kn_op.count: the difference of the last lane and the first.
static inline const struct kn_op *decided(const struct kn_op *op, struct kn_warp *w, bool is)
{
    const struct kn_op *branch = op + 2;
    const uint32_t bits = (is ? UINT32_MAX : 0) ^ op->guard_flip;
    KN_PREDICATE(op->d) = bits;
    if (bits == branch->guard_flip)
        KN_GO(op + 3);
    if (go_alone(branch, px_warp_of(w)))
        KN_GO(branch->to);
    return go(branch, px_warp_of(w));
}

// `is` and `is_not` are conditions on the least and the greatest value: the comparison is true, or
// false, for all lanes. decide_name returns 1, 0, or -1 if neither is so.
#define BRANCH_ROW(name, T, is, is_not)                                                            \
    static inline int decide_##name(const struct kn_op *op, const struct kn_warp *w)               \
    {                                                                                              \
        const int64_t first = *KN_REGISTER(T, op->a), last = first + (int32_t)op->count;           \
        const int64_t limit = *KN_REGISTER(T, op->b) + op->i;                                      \
        const int64_t least = first < last ? first : last, most = first < last ? last : first;     \
        if (w->row != KN_LANES || last != (T)last)                                                 \
            return -1;                                                                             \
        return is ? 1 : is_not ? 0 : -1;                                                           \
    }                                                                                              \
    const struct kn_op *px_op_branch_row_##name(const struct kn_op *op, struct kn_warp *w)         \
    {                                                                                              \
        const int decision = decide_##name(op, w);                                                 \
        if (decision < 0)                                                                          \
            KN_NEXT;                                                                               \
        return decided(op, w, decision);                                                           \
    }                                                                                              \
    bool px_abreast_row_##name(const struct kn_op *op, struct kn_warp *w, uint32_t warps,          \
                               uint32_t file_B)                                                    \
    {                                                                                              \
        const uint32_t goes_on = op[2].guard_flip; /* the predicate with which no lane branches */ \
        const bool needed = goes_on != op->guard_flip; /* the result of the comparison */          \
        const int64_t step = (int32_t)op->count, limit = *KN_REGISTER(T, op->b) + op->i;           \
        const char *a = w->r + op->a;                                                              \
        int64_t least = INT64_MAX, most = INT64_MIN;                                               \
        bool wraps = false;                                                                        \
        for (uint32_t k = 0; k < warps; k++, a += file_B) {                                        \
            const int64_t first = *(const T *)(const void *)a, last = first + step;                \
            wraps |= last != (T)last;                                                              \
            least = first < least ? first : least;                                                 \
            most = first > most ? first : most;                                                    \
        }                                                                                          \
        least += step < 0 ? step : 0;                                                              \
        most += step < 0 ? 0 : step;                                                               \
        if (w->row != KN_LANES || wraps || !(needed ? (is) : (is_not)))                            \
            return false;                                                                          \
        for (uint32_t k = 0; k < warps; k++)                                                       \
            *(uint32_t *)(void *)(w->r + k * file_B + op->d) = goes_on;                            \
        return true;                                                                               \
    }
BRANCH_ROW(lt_s32, int32_t, most < limit, least >= limit)
BRANCH_ROW(lt_u32, uint32_t, most < limit, least >= limit)
BRANCH_ROW(eq, uint32_t, least == limit && most == limit, least > limit || most < limit)

// A branch to one of a list of targets (kn_op.more has indices of operations, from this one on), by
// the register a. An index past the end is undefined; the last target is taken. kn_op.i: their
// number.
const struct kn_op *px_op_branch_table(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    const uint32_t *index = KN_REGISTER(uint32_t, op->a);
    const uint32_t taken = kn_mask_of(op, w), last = (uint32_t)op->i - 1;
    if (!taken)
        KN_NEXT;
    if (w->active & ~taken)
        px_warp_put(warp, part(warp, w->active & ~taken, op + 1));
    for (uint32_t rest = taken; rest;) {
        const uint32_t n = index[__builtin_ctz(rest)];
        uint32_t same = 0;
        for (uint32_t left = rest; left; left &= left - 1)
            if (index[__builtin_ctz(left)] == n)
                same |= left & -left;
        rest &= ~same;
        const struct kn_op *to = op + (int32_t)op->more[n < last ? n : last];
        px_warp_put(warp, branch(warp, same, op, to));
    }
    return next_in_budget(warp);
}

// ---- joins ----

const struct kn_op *px_op_nothing(const struct kn_op *op, struct kn_warp *w)
{
    KN_NEXT;
}

// Lanes may be waiting here for those that arrive.
const struct kn_op *px_op_meet(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    if (warp->count) {
        const uint32_t more = join(warp, op);
        if (more)
            activate(warp, w->active | more);
    }
    KN_NEXT;
}

// The same before an operation: px_decoded.met, or the one for all lanes.
const struct kn_op *px_op_meet_first(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    if (warp->count) {
        const uint32_t more = join(warp, op);
        if (more)
            activate(warp, w->active | more);
    }
    const struct px_decoded *decoded = warp->block->decoded;
    return (w->partial ? decoded->met[op - decoded->ops] : op->run[0])(op, w);
}

// Waits until all lanes of the member masks (register a) have arrived here or have ended.
const struct kn_op *px_op_together(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    const uint32_t *members = KN_REGISTER(uint32_t, op->a);
    uint32_t needed = 0;
    if (w->active == w->lanes)
        KN_NEXT;
    for (uint32_t rest = w->active; rest; rest &= rest - 1)
        needed |= members[__builtin_ctz(rest)];
    uint32_t lanes = w->active;
    for (unsigned i = 0; i < warp->count;) {
        const struct px_fragment *f = &warp->fragments[i];
        if (f->at != op || f->state != PX_AT_MEMBERS) {
            i++;
            continue;
        }
        needed |= f->needed;
        lanes |= f->lanes;
        drop(warp, i);
    }
    if (!(needed & w->lanes & ~lanes)) {
        activate(warp, lanes);
        KN_NEXT;
    }
    px_warp_put(warp, (struct px_fragment){.at = op,
                                           .lanes = lanes,
                                           .needed = needed,
                                           .turn = warp->turn,
                                           .state = PX_AT_MEMBERS});
    w->active = 0;
    return px_warp_next(warp);
}

// The lanes for which the operation before, a test of an mbarrier object, was false will repeat it.
const struct kn_op *px_op_phase_wait(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    const uint32_t lanes = kn_mask_of(op, w) & ~KN_PREDICATE(op->a);
    if (!lanes)
        KN_NEXT;
    struct px_fragment f = part(warp, lanes, op - 1);
    f.state = PX_AT_PHASE;
    f.phases = *warp->w.memory->phases;
    px_warp_put(warp, f);
    if (w->active & ~lanes) {
        activate(warp, w->active & ~lanes);
        KN_NEXT;
    }
    w->active = 0;
    return px_warp_next(warp);
}

bool px_warp_time_out(struct px_warp *warp)
{
    enum { TEST_AND_WAIT = 2 };
    bool some = false;
    for (unsigned i = 0; i < warp->count; i++) {
        struct px_fragment *f = &warp->fragments[i];
        if (f->state != PX_AT_PHASE)
            continue;
        f->state = PX_READY;
        f->at += TEST_AND_WAIT;
        some = true;
    }
    return some;
}

// ---- ends ----

// All threads of a warp, which had not diverged, have ended: starts the next warp in its place.
static inline const struct kn_op *start_next(struct px_warp *warp)
{
    struct px_block *block = warp->block;
    warp->index = ++block->next_warp;
    if (block->abreast)
        warp->w.r += block->decoded->file_B;
    else
        px_fill_warps(block, warp->w.r, warp->index, 1);
    warp->w.lanes = px_block_lanes(block, warp->index);
    warp->turn = warp->last_turn = warp->backward = 0;
    activate(warp, warp->w.lanes);
    return block->first;
}

static __attribute__((noinline)) const struct kn_op *end_lanes(const struct kn_op *op,
                                                               struct kn_warp *w, uint32_t lanes)
{
    const struct kn_op *next = px_warp_end(px_warp_of(w), lanes, op + 1);
    if (!next)
        return NULL;
    KN_GO(next);
}

const struct kn_op *px_op_exit(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    const uint32_t lanes = kn_mask_of(op, w);
    if (!lanes)
        KN_NEXT;
    if (lanes == w->active && !warp->count && warp->block->next_warp + 1 < warp->block->in_place)
        KN_GO(start_next(warp));
    return end_lanes(op, w, lanes);
}

// A fragment that waits lets others run.
const struct kn_op *px_op_yield(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    if (!warp->count)
        KN_NEXT;
    struct px_fragment f = part(warp, w->active, op + 1);
    f.turn = ++warp->last_turn;
    px_warp_put(warp, f);
    return px_warp_next(warp);
}
