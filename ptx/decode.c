// SPDX-License-Identifier: MIT
// Decodes programs: operations become kn_op, and registers become offsets.
//
//     px_op                 kn_op
//     a branch's target ──▶ meet          lanes that wait there join
//     @p bar.sync       ──▶ branch (!p) past it; meet after it
//     shfl.sync         ──▶ together      waits for the member mask; then the form
#include "decode_state.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "block.h"
#include "chain.h"
#include "checker.h"
#include "index.h"
#include "layout.h"
#include "spare.h"
#include "stall.h"
#include "stepping.h"
#include "unwritten.h"

enum {
    DIRECT_SOURCES = 3,
    // Of one operation: meet, step, branch over, together, check, four of affine.h or a comparison
    // before a branch, and itself.
    OPS_MOST = 10,
    CLEARED_MOST = 8 // registers; more are cleared faster with the rest of the file
};

static _Atomic uint64_t decoded_count; // of the process

static uint32_t offset_of(const struct px_decoder *d, px_register reg)
{
    return reg < d->program->register_count ? d->out->offsets[reg] : 0;
}

// ---- operations ----

static bool is_branched_over(const struct px_op *op)
{
    if (op->guard == PX_NONE)
        return false;
    switch (op->code) {
    case PX_FORM_TOGETHER:
    case PX_WARP_BARRIER:
    case PX_BARRIER:
    case PX_CLUSTER_BARRIER:
    case PX_BUILTIN:
    case PX_CALL:
    case PX_CALL_REGISTER:
    case PX_RETURN:
    case PX_BREAKPOINT:
    case PX_YIELD:
    case PX_NANOSLEEP:
        return true;
    default:
        return false;
    }
}

static bool is_affine(const struct px_decoder *d, uint32_t i)
{
    return d->affine.of && d->affine.of[i].add != PX_NONE;
}

// Whether the place where lanes meet is an operation of its own.
static bool has_meet(const struct px_decoder *d, uint32_t i)
{
    return d->meets[i] && (d->skips[i] || d->checked || d->stepped);
}

// The comparison of an operation that px_op_branch_row_… can decide for the branch after it. `b`
// may be PX_NONE.
struct comparison {
    kn_lane_fn *run;
    px_register a, b;
    int64_t plus; // to b
    bool flip;    // it is true if the other one is false
};

// Whether the predicate of a comparison decides the branch that follows.
static bool decides_branch(const struct px_decoder *d, uint32_t i)
{
    const struct px_op *op = &d->program->ops[i], *next = op + 1;
    return op->code == PX_FORM && op->guard == PX_NONE && op->destinations == 1 &&
           i + 1 < d->program->op_count && next->code == PX_BRANCH && !d->meets[i + 1] &&
           next->guard == op->operands[0];
}

static bool find_comparison(const struct px_decoder *d, uint32_t i, struct comparison *out)
{
    const struct px_op *op = &d->program->ops[i];
    const struct px_known_form *known = d->known.of ? &d->known.of[i] : NULL;
    if (!known || d->skips[i] || !decides_branch(d, i))
        return false;
    const bool constant = known->constant != PX_NONE;
    const char *name = d->forms[constant ? known->form : op->form].name;
    char relation[3] = "", type[4] = "";
    if (sscanf(name, "setp.%2[a-z].%3[su0-9]", relation, type) != 2 || op->sources != 2)
        return false;
    const bool equal = !strcmp(relation, "eq") || !strcmp(relation, "ne");
    const bool is_signed = !strcmp(type, "s32");
    if (equal ? strcmp(type, "32") : !is_signed && strcmp(type, "u32"))
        return false;
    *out = (struct comparison){.a = constant ? known->other : op->operands[1],
                               .b = constant ? PX_NONE : op->operands[2]};
    bool less = relation[0] == 'l';
    const bool or_equal = relation[1] == 'e';
    if (!constant && px_known_stride(&d->known, out->b)) {
        out->a = op->operands[2];
        out->b = op->operands[1];
        less = !less;
    }
    if (px_known_stride(&d->known, out->a) == PX_VARYING ||
        (!constant && px_known_stride(&d->known, out->b)))
        return false;
    if (constant)
        out->plus = is_signed ? (int32_t)known->value : (int64_t)known->value;
    out->run = is_signed ? px_op_branch_row_lt_s32 : px_op_branch_row_lt_u32;
    if (equal)
        out->run = px_op_branch_row_eq;
    out->flip = equal ? relation[0] == 'n' : !less;
    // a <= b is a < b + 1, and a > b is not.
    out->plus += !equal && less == or_equal;
    return true;
}

kn_abreast_fn *px_decided_abreast(const struct px_decoder *d, uint32_t i)
{
    struct comparison c;
    if (!find_comparison(d, i, &c))
        return NULL;
    if (c.run == px_op_branch_row_eq)
        return px_abreast_row_eq;
    return c.run == px_op_branch_row_lt_s32 ? px_abreast_row_lt_s32 : px_abreast_row_lt_u32;
}

static uint32_t ops_for(const struct px_decoder *d, uint32_t i)
{
    struct comparison unused;
    const struct px_op *op = &d->program->ops[i];
    return !d->skips[i] + has_meet(d, i) + (d->stepped && px_step_begins(d->program, i)) +
           is_branched_over(op) + (op->code == PX_FORM_TOGETHER) +
           (!d->skips[i] && px_check_of(d, op)) +
           (is_affine(d, i) ? px_affine_count(&d->affine, i) : 0) + find_comparison(d, i, &unused);
}

static void set_guard(const struct px_decoder *d, const struct px_op *op, struct kn_op *to,
                      bool flip)
{
    if (op->guard == PX_NONE)
        return;
    to->guard = offset_of(d, op->guard);
    to->guard_flip = op->guard_not != flip ? UINT32_MAX : 0;
}

static void set_operands(struct px_decoder *d, const struct px_op *op, struct kn_op *to)
{
    uint32_t *direct[DIRECT_SOURCES] = {&to->a, &to->b, &to->c};
    const px_register *r = op->operands;
    const uint32_t first = d->more_count;
    for (unsigned i = 0; i < op->destinations; i++)
        if (i == 0)
            to->d = offset_of(d, r[i]);
        else
            d->more[d->more_count++] = offset_of(d, r[i]);
    r += op->destinations;
    for (unsigned i = 0; i < op->sources; i++)
        if (i < DIRECT_SOURCES)
            *direct[i] = offset_of(d, r[i]);
        else
            d->more[d->more_count++] = offset_of(d, r[i]);
    if (d->more_count > first)
        to->more = d->more + first;
}

// The number of registers for each '*' of a form's operands.
static uint32_t star_count(const char *operands, const struct px_op *op)
{
    uint32_t single = 0, stars = 0;
    for (const char *c = operands; *c; c++) {
        stars += *c == '*';
        single += *c != '*' && *c != '=' && *c != 'i' && c[1] != '*';
    }
    return stars ? (op->destinations + op->sources - single) / stars : 0;
}

// The form of an operation: red for an atomic whose result no operation reads, unless a person may
// look at the register.
static const struct kn_form *form_of(const struct px_decoder *d, const struct px_op *op)
{
    char name[64];
    if (!op->unread || d->stepped)
        return &d->forms[op->form];
    snprintf(name, sizeof name, "red%s", strchr(d->forms[op->form].name, '.'));
    const int red = kn_form_find(name);
    return &d->forms[red >= 0 ? red : op->form];
}

static void put_form(struct px_decoder *d, const struct px_op *op, struct kn_op *to)
{
    const struct px_known_form *known = d->known.of ? &d->known.of[op - d->program->ops] : NULL;
    const struct kn_form *form =
        known && known->form >= 0 ? &d->forms[known->form] : form_of(d, op);
    const bool whole = d->whole[op - d->program->ops];
    px_op_start(op, to, form->run[op->guard != PX_NONE && !is_branched_over(op)],
                form->run[!whole]);
    set_operands(d, op, to);
    to->i = op->immediate;
    if (known && known->form >= 0 && known->constant != PX_NONE) {
        to->a = offset_of(d, known->other);
        to->i = known->value;
    }
    to->count = star_count(form->operands, op);
    if (d->links[op - d->program->ops])
        to->run[0] = to->run[1] = d->links[op - d->program->ops];
    if (!is_branched_over(op))
        set_guard(d, op, to, false);
}

int px_affine_form(const struct px_decoder *d, uint32_t i)
{
    const struct px_affine *a = &d->affine.of[i];
    const bool row = px_known_stride(&d->known, a->index) == 1;
    char name[32];
    snprintf(name, sizeof name, "%s.affine.%s%s", d->program->ops[i].destinations ? "ld" : "st",
             a->is_signed ? "s32" : "u32", row ? ".row" : "");
    return kn_form_find(name);
}

// Puts the form of affine.h before an access, and the operations that make its address.
static struct kn_op *put_affine(struct px_decoder *d, uint32_t i, struct kn_op *to)
{
    const struct px_op *ops = d->program->ops, *op = &ops[i];
    const struct px_affine *a = &d->affine.of[i];
    const bool store = !op->destinations;
    const struct kn_form *form = &d->forms[px_affine_form(d, i)];
    px_op_start(op, to, form->run[0], form->run[1]);
    to->a = offset_of(d, a->index);
    to->b = offset_of(d, a->base);
    to->c = store ? offset_of(d, op->operands[1]) : 0;
    to->d = store ? 0 : offset_of(d, op->operands[0]);
    to->i = op->immediate;
    to->count = px_affine_count(&d->affine, i);
    if (to->count > 3)
        put_form(d, &ops[a->convert], to + 1);
    if (to->count > 2)
        put_form(d, &ops[a->multiply], to + to->count - 2);
    if (to->count > 1)
        put_form(d, &ops[a->add], to + to->count - 1);
    return to + to->count;
}

static const struct kn_op *op_at(const struct px_decoder *d, uint32_t index)
{
    return &d->out->ops[d->out->at[index]];
}

static bool is_constant(const struct px_decoder *d, px_register reg)
{
    return reg < d->program->register_count && d->program->registers[reg].fill == PX_FILL_CONSTANT;
}

// An enum px_back for a branch.
static uint32_t back_of(const struct px_decoder *d, uint32_t from, uint32_t target)
{
    if (target > from)
        return PX_FORWARD;
    if (!d->program->waits)
        return PX_BACK_ALONE;
    return d->acts[from + 1] == d->acts[target] ? PX_BACK_PURE : PX_BACK;
}

static void put_branch(struct px_decoder *d, uint32_t i, struct kn_op *to)
{
    const struct px_op *op = &d->program->ops[i];
    const bool guarded = op->guard != PX_NONE;
    px_op_start(op, to, guarded ? px_op_branch : px_op_jump,
                guarded ? px_op_branch_some : px_op_jump_some);
    set_guard(d, op, to, false);
    to->to = op_at(d, op->target);
    to->count = back_of(d, i, op->target);
}

// Register 0 of the file is a predicate that is always 0.
static struct kn_op *put_comparison(const struct px_decoder *d, uint32_t i, struct kn_op *to)
{
    struct comparison c;
    if (!find_comparison(d, i, &c))
        return to;
    const struct px_op *op = &d->program->ops[i];
    px_op_start(op, to, c.run, px_op_nothing);
    to->d = offset_of(d, op->operands[0]);
    to->a = offset_of(d, c.a);
    to->b = c.b == PX_NONE ? 0 : offset_of(d, c.b);
    to->i = c.plus;
    to->guard_flip = c.flip ? UINT32_MAX : 0;
    to->count = (uint32_t)(px_known_stride(&d->known, c.a) * (KN_LANES - 1));
    return to + 1;
}

static void put_table(struct px_decoder *d, uint32_t i, struct kn_op *to)
{
    const struct px_op *op = &d->program->ops[i];
    px_op_start(op, to, px_op_branch_table, px_op_branch_table);
    set_guard(d, op, to, false);
    set_operands(d, op, to);
    to->more = d->more + d->more_count;
    for (uint32_t k = 0; k < op->target_count; k++) {
        d->more[d->more_count++] = (uint32_t)(op_at(d, op->targets[k]) - to);
        const uint32_t back = back_of(d, i, op->targets[k]);
        to->count = back > to->count ? back : to->count;
    }
    to->i = op->target_count;
}

static kn_lane_fn *run_of(const struct px_op *op)
{
    switch (op->code) {
    case PX_EXIT:
        return px_op_exit;
    case PX_TRAP:
        return px_op_trap;
    case PX_BARRIER:
        return px_op_barrier;
    case PX_CLUSTER_BARRIER:
        return px_op_cluster_barrier;
    case PX_WARP_BARRIER:
        return px_op_together;
    case PX_PHASE_WAIT:
        return px_op_phase_wait;
    case PX_CLOCK:
        return px_op_clock;
    case PX_NANOSLEEP:
    case PX_YIELD:
        return px_op_yield;
    case PX_BREAKPOINT:
        return px_op_breakpoint;
    case PX_BUILTIN:
        return px_op_builtin;
    default:
        return px_op_unsupported;
    }
}

// A barrier with constants: kn_op.count is true; and one for all threads of the block, of which
// whole warps arrive almost always: kn_op.count is its number and 1.
static void put_barrier(const struct px_decoder *d, const struct px_op *op, struct kn_op *to)
{
    const px_register *sources = op->operands + op->destinations;
    if (op->sources < 2 || !is_constant(d, sources[0]) || !is_constant(d, sources[1]))
        return;
    const uint64_t number = d->program->registers[sources[0]].value;
    to->count = 1;
    if (d->checked || op->immediate != PX_BARRIER_SYNC || number >= PX_BARRIERS ||
        d->program->registers[sources[1]].value)
        return;
    to->count += (uint32_t)number;
    to->run[0] = to->run[1] = px_op_barrier_all;
}

static void put_other(struct px_decoder *d, const struct px_op *op, struct kn_op *to)
{
    kn_lane_fn *run = run_of(op);
    px_op_start(op, to, run, run);
    set_operands(d, op, to);
    to->i = op->immediate;
    if (!is_branched_over(op))
        set_guard(d, op, to, false);
    if (op->code == PX_BARRIER)
        put_barrier(d, op, to);
}

// Returns the place after its operations.
static struct kn_op *put(struct px_decoder *d, uint32_t i)
{
    const struct px_op *op = &d->program->ops[i];
    struct kn_op *to = &d->out->ops[d->out->at[i]];
    if (has_meet(d, i)) {
        px_op_start(op, to, px_op_nothing, px_op_meet);
        to++;
    }
    if (d->stepped && px_step_begins(d->program, i)) {
        px_op_start(op, to, px_op_step, px_op_step);
        set_guard(d, op, to, false);
        to->i = i;
        to++;
    }
    if (d->skips[i])
        return to;
    if (is_branched_over(op)) {
        px_op_start(op, to, px_op_branch, px_op_branch_some);
        set_guard(d, op, to, true);
        to->to = op_at(d, i + 1);
        to++;
    }
    switch (op->code) {
    case PX_FORM_TOGETHER:
        px_op_start(op, to, px_op_nothing, px_op_together);
        to->a = offset_of(d, op->members);
        to = px_put_check_members(d, op, to + 1, to->a);
        put_form(d, op, to);
        return to + 1;
    case PX_FORM:
        to = is_affine(d, i) ? put_affine(d, i, to) : px_put_check(d, op, to);
        to = put_comparison(d, i, to);
        put_form(d, op, to);
        return to + 1;
    case PX_WARP_BARRIER:
        put_other(d, op, to);
        return px_put_check_members(d, op, to + 1, to->a);
    case PX_BRANCH:
        put_branch(d, i, to);
        return to + 1;
    case PX_BRANCH_TABLE:
        put_table(d, i, to);
        return to + 1;
    case PX_CLUSTER_BARRIER:
    case PX_PHASE_WAIT:
        if (px_check_of(d, op) == px_op_fence)
            to = px_put_check(d, op, to);
        put_other(d, op, to);
        to++;
        if (px_check_of(d, op) == px_op_passed)
            px_op_start(op, to++, px_op_passed, px_op_passed);
        return to;
    default:
        put_other(d, op, to);
        return to + 1;
    }
}

// ---- all ----

// Puts an operation at which some lanes of a warp meet first.
static const struct kn_op *put_all(struct px_decoder *d, uint32_t i)
{
    struct kn_op *first = &d->out->ops[d->out->at[i]];
    const struct kn_op *next = put(d, i);
    if (d->meets[i] && !has_meet(d, i)) {
        d->out->met[d->out->at[i]] = first->run[1];
        first->run[1] = px_op_meet_first;
    }
    return next;
}

// The registers of an earlier launch that must be cleared.
static void list_unwritten(struct px_decoder *d, const bool *unwritten, px_register *list)
{
    struct px_decoded *out = d->out;
    out->unwritten.registers = list;
    for (uint32_t i = 0; i < d->program->register_count; i++)
        if (unwritten[i] && !(d->known.unread && d->known.unread[i]))
            list[out->unwritten.count++] = i;
    out->clears_all = out->unwritten.count > CLEARED_MOST;
}

// Makes the decoded program and the decoder's lists, in one piece of memory. `*fills` is the place
// for the lists of registers that are filled in. Returns false if host memory is short.
static bool decoder_init(struct px_decoder *d, const struct px_program *program, unsigned flags,
                         px_register **fills)
{
    const uint64_t count = program->op_count;
    uint64_t most = 1, more = 1;
    for (uint32_t i = 0; i < count; i++) {
        most += OPS_MOST;
        more +=
            program->ops[i].destinations + program->ops[i].sources + program->ops[i].target_count;
    }
    const uint64_t size_B = sizeof(struct px_decoded) + most * sizeof(struct kn_op) +
                            (count + most) * sizeof(kn_lane_fn *) +
                            (count + 1) * (2 * sizeof(uint32_t) + 3 * sizeof(bool)) +
                            (4ull * program->register_count + more) * sizeof(uint32_t);
    struct px_decoded *out = dm_calloc(1, size_B);
    if (!out)
        return false;
    *d = (struct px_decoder){.program = program,
                             .out = out,
                             .checked = flags & PX_DECODE_CHECKED,
                             .stepped = flags & PX_DECODE_STEPPED};
    d->forms = kn_forms(&d->form_count);
    out->number = atomic_fetch_add_explicit(&decoded_count, 1, memory_order_relaxed) + 1;
    out->program = program;
    out->ops = (struct kn_op *)(out + 1);
    d->links = (kn_lane_fn **)(out->ops + most);
    out->met = d->links + count;
    out->at = (uint32_t *)(out->met + most);
    out->offsets = out->at + count + 1;
    *fills = out->offsets + program->register_count;
    d->more = *fills + 3 * (size_t)program->register_count;
    d->acts = d->more + more;
    d->meets = (bool *)(d->acts + count + 1);
    d->skips = d->meets + count + 1;
    d->whole = d->skips + count + 1;
    return true;
}

static void find_meets(struct px_decoder *d)
{
    const struct px_program *program = d->program;
    if (program->meets)
        memcpy(d->meets, program->meets, program->op_count * sizeof *d->meets);
    for (uint32_t i = 0; i + 1 < program->op_count; i++)
        if (is_branched_over(&program->ops[i]))
            d->meets[i + 1] = true;
}

// Until the fills are listed, `fills` has the register that each one is the same as.
static bool find_places(struct px_decoder *d, unsigned flags, px_register *fills)
{
    struct px_decoded *out = d->out;
    struct px_layout layout = {.program = d->program,
                               .forms = d->forms,
                               .joins = d->meets,
                               .skips = d->skips,
                               .whole = d->whole,
                               .same = fills,
                               .offsets = out->offsets};
    px_layout_copies(&layout, !d->stepped, out->offsets);
    if (!flags && (!px_indices_find(out, &layout) || !px_known_find(&d->known, &layout) ||
                   !px_affine_find(&d->affine, &layout)))
        return false;
    layout.pins = d->affine.pins;
    layout.unread = d->known.unread;
    for (uint32_t i = 0; i < d->program->op_count; i++) {
        out->at[i] = out->op_count;
        out->op_count += ops_for(d, i);
    }
    out->at[d->program->op_count] = out->op_count;
    out->file_B = (uint32_t)px_layout(&layout, !flags && !d->program->waits);
    for (uint32_t i = 0; i < out->index_count; i++)
        out->indices[i].at = out->offsets[out->indices[i].at];
    return out->file_B;
}

// The lists of registers take the place of `fills`, after the chains have been planned.
static void list_fills(struct px_decoder *d, unsigned flags, px_register *fills)
{
    struct px_decoded *out = d->out;
    bool *unwritten = dm_calloc(d->program->register_count + 1ul, sizeof *unwritten);
    out->clears_all = !unwritten || !px_unwritten_find(d->program, fills, unwritten);
    if (!flags)
        px_chain_plan(d->program, d->meets, d->skips, d->known.of, fills, d->links);
    px_register *list = px_fills_list(out, d->known.unread, fills);
    if (!out->clears_all)
        list_unwritten(d, unwritten, list);
    dm_free(unwritten);
}

static void put_program(struct px_decoder *d)
{
    static const struct px_op end = {.code = PX_EXIT};
    struct px_decoded *out = d->out;
    for (uint32_t i = 0; i < d->program->op_count; i++) {
        const struct kn_op *next = put_all(d, i);
        assert(next == op_at(d, i + 1)); // ops_for has the same rules
        (void)next;
    }
    px_op_start(&end, &out->ops[out->op_count++], px_op_exit, px_op_exit);
}

static struct px_decoded *decode(const struct px_program *program, unsigned flags)
{
    struct px_decoder d;
    px_register *fills;
    if (!decoder_init(&d, program, flags, &fills))
        return NULL;
    find_meets(&d);
    if (program->waits)
        px_stall_count(program, d.acts);
    const bool complete = find_places(&d, flags, fills);
    if (complete) {
        list_fills(&d, flags, fills);
        put_program(&d);
    }
    if (complete && !flags)
        d.out->abreast = px_abreast_find(&d);
    px_affine_free(&d.affine);
    px_known_free(&d.known);
    if (complete)
        return d.out;
    dm_free(d.out);
    return NULL;
}

const struct px_decoded *px_decode(const struct px_program *program, unsigned flags)
{
    // Several threads may run the first launch.
    struct px_program *to = (struct px_program *)program;
    struct px_decoded *_Atomic *const slot = (struct px_decoded * _Atomic *)&to->decoded[flags];
    struct px_decoded *found = atomic_load_explicit(slot, memory_order_acquire);
    if (found)
        return found;
    struct px_decoded *made = decode(program, flags);
    if (!made || atomic_compare_exchange_strong(slot, &found, made))
        return made;
    px_decoded_free(made);
    return found;
}

void px_decoded_free(struct px_decoded *decoded)
{
    if (decoded)
        px_spare_drop(decoded);
    if (decoded)
        dm_free(decoded->abreast);
    dm_free(decoded);
}
