// SPDX-License-Identifier: MIT
// Stepping a warp: stops, and the values of registers.
#include "stepping.h"

#include <string.h>

#include "alloc.h"
#include "lanes/lanes.inc.h"

struct px_stepping *px_stepping_new(struct px_block *block)
{
    struct px_stepping *s = dm_calloc(1, sizeof *s + block->decoded->file_B);
    if (!s)
        return NULL;
    s->stepper = block->grid->host->stepper;
    s->block = block;
    s->warp = PX_NONE;
    s->before = (char *)(s + 1);
    return s;
}

void px_stepping_free(struct px_stepping *stepping)
{
    dm_free(stepping);
}

void px_stepping_start(struct px_stepping *stepping)
{
    stepping->warp = stepping->stepper->warp(stepping->stepper->context, stepping->block->number);
}

void px_stepping_warp(struct px_stepping *stepping, const struct px_warp *warp)
{
    if (stepping->warp == warp->index)
        memcpy(stepping->before, warp->w.r, stepping->block->decoded->file_B);
}

// ---- stops ----

static enum px_step_state state_of(const struct px_fragment *f)
{
    static const enum px_step_state states[] = {[PX_READY] = PX_STEP_READY,
                                                [PX_AT_MEMBERS] = PX_STEP_AT_MEMBERS,
                                                [PX_AT_BARRIER] = PX_STEP_AT_BARRIER,
                                                [PX_AT_CLUSTER] = PX_STEP_AT_CLUSTER,
                                                [PX_AT_PHASE] = PX_STEP_AT_PHASE};
    _Static_assert(sizeof states / sizeof *states == PX_FRAGMENT_STATES, "a state is missing");
    return states[f->state];
}

static struct px_step *describe(struct px_stepping *s, const struct px_warp *warp)
{
    const struct px_block *block = s->block;
    struct px_step *stop = &s->stop;
    *stop = (struct px_step){.program = block->decoded->program,
                             .warp = warp->index,
                             .op = PX_NONE,
                             .lanes = warp->w.lanes,
                             .active = warp->w.active,
                             .fragment_count = warp->count,
                             .now = warp->w.r,
                             .before = s->before,
                             .offsets = block->decoded->offsets};
    memcpy(stop->block, block->number, sizeof stop->block);
    for (uint32_t i = 0; i < warp->count; i++) {
        const struct px_fragment *f = &warp->fragments[i];
        stop->fragments[i] = (struct px_step_fragment){
            .lanes = f->lanes, .line = f->at->line, .state = state_of(f), .barrier = f->barrier};
    }
    return stop;
}

static void call(struct px_stepping *s, const struct px_warp *warp)
{
    s->stepper->stop(s->stepper->context, &s->stop);
    memcpy(s->before, warp->w.r, s->block->decoded->file_B);
}

void px_stepping_end(struct px_stepping *stepping, struct px_warp *warp)
{
    if (warp->index != stepping->warp)
        return;
    describe(stepping, warp)->active = 0;
    call(stepping, warp);
}

const struct kn_op *px_op_step(const struct kn_op *op, struct kn_warp *w)
{
    const struct px_warp *warp = px_warp_of(w);
    struct px_stepping *s = warp->block->stepping;
    if (warp->index != s->warp)
        KN_NEXT;
    struct px_step *stop = describe(s, warp);
    const struct px_op *at = &stop->program->ops[op->i];
    stop->op = (uint32_t)op->i;
    stop->line = at->line;
    stop->function = at->function;
    stop->taking = kn_mask_of(op, w);
    call(s, warp);
    KN_NEXT;
}

// ---- for steppers ----

static void value_in(const char *file, const struct px_step *stop, px_register reg, int lane,
                     uint64_t out[2])
{
    const char *r = file + stop->offsets[reg];
    out[0] = out[1] = 0;
    switch (stop->program->registers[reg].letter) {
    case 'p':
        out[0] = *(const uint32_t *)(const void *)r >> lane & 1;
        break;
    case 'h':
        out[0] = ((const uint16_t *)(const void *)r)[lane];
        break;
    case 'w':
        out[0] = ((const uint32_t *)(const void *)r)[lane];
        break;
    case 'l':
        out[0] = ((const uint64_t *)(const void *)r)[lane];
        break;
    default:
        memcpy(out, r + lane * 16, 16);
    }
}

void px_step_value(const struct px_step *stop, px_register reg, int lane, uint64_t out[2])
{
    value_in(stop->now, stop, reg, lane, out);
}

uint32_t px_step_changed(const struct px_step *stop, px_register reg)
{
    uint32_t lanes = 0;
    for (int i = 0; i < KN_LANES; i++) {
        uint64_t now[2], before[2];
        value_in(stop->now, stop, reg, i, now);
        value_in(stop->before, stop, reg, i, before);
        if (now[0] != before[0] || now[1] != before[1])
            lanes |= UINT32_C(1) << i;
    }
    return lanes;
}

bool px_step_begins(const struct px_program *program, uint32_t op)
{
    const struct px_op *o = &program->ops[op];
    return !op || o[-1].line != o->line || o[-1].function != o->function;
}

bool px_step_writes(const struct px_program *program, uint32_t op, px_register reg)
{
    do {
        const struct px_op *o = &program->ops[op];
        for (unsigned i = 0; i < o->destinations; i++)
            if (o->operands[i] == reg)
                return true;
        op++;
    } while (op < program->op_count && !px_step_begins(program, op));
    return false;
}
