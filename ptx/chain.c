// SPDX-License-Identifier: MIT
// Plans chains.
//
// A chain lies in a run: operations that follow each other without a branch or a place where lanes
// meet, and that all have links. Each operation either makes its result the value, or keeps the
// value; of the two, the one that is read first afterwards is the value.
//
//     sub %f1, %f7, %f8        BOTH                 %f1 is read by two operations
//     sub %f2, %f9, %f8        KEEP                 %f1 is read earlier than %f2
//     mul %f3, %f1, %f1        value x value, PASS  only the next operation reads %f3
//     fma %f4, %f2, %f2, %f3   … + value, STORE
#include "chain.h"

#include <string.h>

#include "kn_chain.h"

enum {
    RUN_MOST = 256,     // operations of a run; a longer one is several
    LOOK_AHEAD = 8,     // operations after which a value is not kept
    NEVER = UINT32_MAX, // is not read any more
};

struct planner {
    const struct px_program *program;
    const bool *joins, *skips;
    const struct px_known_form *known;    // by operation, or NULL
    const struct kn_chain *const *chains; // by form
    uint32_t *reads, *writes;             // by register: how often the program has it as an operand
};

// Of a run: its operations, and how each of them takes part.
struct run {
    const struct px_op *ops;
    uint32_t count;
    const struct kn_chain *chains[RUN_MOST];
    uint8_t in[RUN_MOST], link[RUN_MOST];
};

// The value of a chain, while a run is planned.
struct value {
    px_register reg; // or PX_NONE
    uint32_t maker;  // the operation whose result it is
    uint32_t reads;  // from the chain so far
    uint32_t last;   // the last operation that reads it, or `maker`
};

static void count_operands(const struct planner *p)
{
    const uint32_t registers = p->program->register_count;
    memset(p->reads, 0, registers * sizeof *p->reads);
    memset(p->writes, 0, registers * sizeof *p->writes);
    for (uint32_t i = 0; i < p->program->op_count; i++) {
        const struct px_op *op = &p->program->ops[i];
        const unsigned operands = (unsigned)op->destinations + op->sources;
        for (unsigned n = 0; n < operands; n++)
            if (op->operands[n] < registers)
                ++(n < op->destinations ? p->writes : p->reads)[op->operands[n]];
        if (op->code == PX_FORM_TOGETHER && op->members < registers)
            p->reads[op->members]++;
    }
}

static const struct kn_chain *chain_of(const struct planner *p, uint32_t i)
{
    const struct px_op *op = &p->program->ops[i];
    if (op->code != PX_FORM || op->guard != PX_NONE || p->skips[i] ||
        op->operands[0] >= p->program->register_count)
        return NULL;
    return p->chains[p->known && p->known[i].form >= 0 ? p->known[i].form : op->form];
}

// The sources of an operation that are a register, as bits.
static unsigned sources_in(const struct px_op *op, px_register reg)
{
    unsigned in = 0;
    for (unsigned n = 0; n < op->sources; n++)
        in |= (unsigned)(op->operands[op->destinations + n] == reg) << n;
    return in;
}

// Whether an operation has the register as a source, and can take it from the chain.
static bool can_take(const struct run *run, uint32_t i, px_register reg)
{
    const unsigned in = sources_in(&run->ops[i], reg);
    return in && run->chains[i]->run[KN_LINK_STORE][in];
}

// The first operation from `from` on that reads the result of `maker`, if a chain can bring it.
static uint32_t next_read(const struct run *run, uint32_t from, uint32_t maker)
{
    const px_register reg = run->ops[maker].operands[0];
    for (uint32_t i = from; i < run->count && i < from + LOOK_AHEAD; i++) {
        if (sources_in(&run->ops[i], reg))
            return can_take(run, i, reg) && !(run->chains[maker]->raw && run->chains[i]->bits)
                       ? i
                       : NEVER;
        if (run->ops[i].operands[0] == reg)
            return NEVER;
    }
    return NEVER;
}

// No operation after value->last gets the value from the chain.
static void end_value(const struct planner *p, struct run *run, struct value *value, uint32_t end)
{
    if (value->reg == PX_NONE)
        return;
    for (uint32_t i = value->last; i < end; i++)
        if (run->link[i] == KN_LINK_KEEP || i == value->maker)
            run->link[i] = KN_LINK_STORE;
    if (value->last != value->maker)
        run->link[value->maker] = p->writes[value->reg] == 1 && p->reads[value->reg] == value->reads
                                      ? KN_LINK_PASS
                                      : KN_LINK_BOTH;
    value->reg = PX_NONE;
}

static bool has_link(const struct run *run, uint32_t i, enum kn_link link)
{
    return run->chains[i]->run[link][run->in[i]];
}

static void plan_run(const struct planner *p, struct run *run)
{
    struct value value = {.reg = PX_NONE};
    for (uint32_t i = 0; i < run->count; i++) {
        const px_register result = run->ops[i].operands[0];
        run->in[i] = 0;
        run->link[i] = KN_LINK_STORE;
        if (value.reg != PX_NONE && can_take(run, i, value.reg)) {
            run->in[i] = (uint8_t)sources_in(&run->ops[i], value.reg);
            value.reads += (uint32_t)__builtin_popcount(run->in[i]);
            value.last = i;
        }
        const uint32_t mine = next_read(run, i + 1, i);
        const uint32_t theirs = value.reg == PX_NONE || value.reg == result
                                    ? NEVER
                                    : next_read(run, i + 1, value.maker);
        if (theirs < mine && has_link(run, i, KN_LINK_KEEP)) {
            run->link[i] = KN_LINK_KEEP;
            continue;
        }
        end_value(p, run, &value, i);
        if (mine != NEVER && has_link(run, i, KN_LINK_BOTH))
            value = (struct value){.reg = result, .maker = i, .last = i};
    }
    end_value(p, run, &value, run->count);
}

// The run that begins at an operation; it may be empty.
static void find_run(const struct planner *p, uint32_t first, struct run *run)
{
    run->ops = &p->program->ops[first];
    for (run->count = 0; run->count < RUN_MOST; run->count++) {
        const uint32_t i = first + run->count;
        if (i == p->program->op_count || (run->count && p->joins[i]))
            return;
        run->chains[run->count] = chain_of(p, i);
        if (!run->chains[run->count])
            return;
    }
}

void px_chain_plan(const struct px_program *program, const bool *joins, const bool *skips,
                   const struct px_known_form *known, uint32_t *scratch, kn_lane_fn **links)
{
    struct planner p = {.program = program,
                        .joins = joins,
                        .skips = skips,
                        .known = known,
                        .chains = kn_chains(),
                        .reads = scratch,
                        .writes = scratch + program->register_count};
    struct run run;
    count_operands(&p);
    for (uint32_t i = 0; i < program->op_count; i += run.count ? run.count : 1) {
        find_run(&p, i, &run);
        plan_run(&p, &run);
        for (uint32_t n = 0; n < run.count; n++)
            links[i + n] = run.chains[n]->run[run.link[n]][run.in[n]];
    }
}
