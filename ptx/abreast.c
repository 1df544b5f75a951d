// SPDX-License-Identifier: MIT
// Finds and runs the operations of warps abreast.
#include "abreast.h"

#include "alloc.h"
#include "block.h"
#include "decode_state.h"
#include "warp.h"

enum {
    OPS_MOST = 64,      // operations of a list; a kernel with more of them does not just move data
    OPS_LEAST = 4,      // with a function of their own
    FILES_B = 24 << 10, // of the registers of warps abreast, for a first-level cache
    BLOCKS_LEAST = 8,   // of a grid: a block needs more memory, which must be prepared
    PAIR = 2,
};

// ---- operations without a function of their own ----

static const struct kn_op *end_pair(const struct kn_op *op, struct kn_warp *w)
{
    (void)w;
    return op;
}

// `op` is a copy that is no link of a chain, and end_pair follows it. Returns false if a warp has
// stopped, for example after a fault; w->r are its registers.
static bool run_each(const struct kn_op *op, struct kn_warp *w, uint32_t warps, uint32_t file_B)
{
    char *const r = w->r;
    for (uint32_t k = 0; k < warps; k++) {
        w->r = r + k * file_B;
        if (!op->run[0](op, w))
            return false;
    }
    w->r = r;
    return true;
}

// ---- the list ----

struct list {
    const struct px_decoder *d;
    struct px_abreast *out; // NULL: operations are only counted
    struct kn_op *pairs;
    uint32_t count, pair_count;
    bool accesses; // some access memory
    const struct kn_op *next;
};

static void add(struct list *l, kn_abreast_fn *run, const struct kn_op *op,
                const struct kn_op *alone)
{
    if (l->out)
        l->out->of[l->count] = (struct px_abreast_op){run, op, alone};
    l->count++;
}

static void add_pair(struct list *l, const struct kn_op *op, kn_lane_fn *run)
{
    struct kn_op *pair = l->out ? l->pairs + PAIR * l->pair_count : NULL;
    if (pair) {
        pair[0] = *op;
        pair[0].run[0] = pair[0].run[1] = run;
        pair[1] = (struct kn_op){.run = {end_pair, end_pair}};
    }
    l->pair_count++;
    add(l, run_each, pair, NULL);
}

static const struct kn_op *first_of(const struct px_decoder *d, uint32_t i)
{
    return &d->out->ops[d->out->at[i]];
}

static bool add_affine(struct list *l, uint32_t i)
{
    kn_abreast_fn *run = kn_abreast()[px_affine_form(l->d, i)];
    if (!run)
        return false;
    add(l, run, first_of(l->d, i), first_of(l->d, i));
    l->accesses = true;
    return true;
}

static void add_form(struct list *l, uint32_t i)
{
    const struct px_decoder *d = l->d;
    const struct px_known_form *known = &d->known.of[i];
    const int form = known->form >= 0 ? known->form : d->program->ops[i].form;
    const struct kn_op *op = first_of(d, i + 1) - 1;
    if (kn_abreast()[form])
        add(l, kn_abreast()[form], op, NULL);
    else
        add_pair(l, op, d->links[i] ? d->forms[form].run[0] : op->run[0]);
}

// Returns the number of the program's operations that it has added from `i` on, or 0.
static uint32_t add_some(struct list *l, uint32_t i)
{
    const struct px_decoder *d = l->d;
    const struct px_op *op = &d->program->ops[i];
    if (d->skips[i])
        return 1;
    if (op->code != PX_FORM || op->guard != PX_NONE)
        return 0;
    kn_abreast_fn *branch = px_decided_abreast(d, i);
    if (branch && op[1].target <= i)
        return 0;
    if (branch) {
        add(l, branch, first_of(d, i), first_of(d, i));
        return 2;
    }
    if (d->affine.of[i].add != PX_NONE)
        return add_affine(l, i);
    add_form(l, i);
    return 1;
}

static bool find(struct list *l)
{
    const struct px_program *program = l->d->program;
    uint32_t i = 0, added = 1;
    l->count = l->pair_count = 0;
    while (i < program->op_count && added && l->count <= OPS_MOST) {
        added = add_some(l, i);
        i += added;
    }
    const struct px_op *last = &program->ops[i];
    const bool ends = i == program->op_count || (last->code == PX_EXIT && last->guard == PX_NONE);
    l->next = ends ? NULL : first_of(l->d, i);
    return l->count <= OPS_MOST && l->accesses && l->count >= 2 * l->pair_count &&
           l->count - l->pair_count >= OPS_LEAST;
}

struct px_abreast *px_abreast_find(const struct px_decoder *d)
{
    struct list l = {.d = d};
    if (!d->known.of || !d->affine.of || d->program->uses_barriers || d->program->waits ||
        !find(&l))
        return NULL;
    l.out = dm_alloc(sizeof *l.out + l.count * sizeof *l.out->of +
                     (uint64_t)PAIR * l.pair_count * sizeof *l.pairs);
    if (!l.out)
        return NULL;
    l.pairs = (struct kn_op *)(void *)(l.out->of + l.count);
    find(&l);
    l.out->count = l.count;
    l.out->next = l.next;
    return l.out;
}

// ---- running ----

uint32_t px_abreast_warps(const struct px_grid *grid, const struct px_decoded *decoded)
{
    const uint64_t blocks = (uint64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
    const uint32_t threads = grid->threads[0] * grid->threads[1] * grid->threads[2];
    const uint32_t fit = FILES_B / decoded->file_B, warps = threads / KN_LANES;
    const uint32_t most = fit < KN_ABREAST_MOST ? fit : KN_ABREAST_MOST;
    if (!decoded->abreast || grid->seed || threads % KN_LANES || blocks < BLOCKS_LEAST)
        return 0;
    if (warps < 2 || most < 2)
        return 0;
    return warps < most ? warps : most;
}

enum px_abreast_result px_abreast_run(const struct px_decoded *decoded, struct kn_warp *w,
                                      uint32_t warps, const struct kn_op **next)
{
    const struct px_abreast *list = decoded->abreast;
    const struct px_abreast_op *at = list->of, *end = at + list->count;
    for (; at < end; at++) {
        if (at->run(at->op, w, warps, decoded->file_B))
            continue;
        *next = at->alone;
        return at->alone ? PX_ABREAST_ALONE : PX_ABREAST_STOPPED;
    }
    *next = list->next;
    return list->next ? PX_ABREAST_ALONE : PX_ABREAST_ENDED;
}
