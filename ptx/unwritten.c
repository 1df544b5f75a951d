// SPDX-License-Identifier: MIT
// A register counts as written at an operation if a form without a guard has written it before
//
//     - in the same run of operations without branches, or
//     - in the first run, which all lanes go through.
#include "unwritten.h"

#include "alloc.h"

enum { FIRST_RUN = 1 };

struct search {
    const struct px_program *program;
    const px_register *same;
    uint32_t *run_of; // by register: the last run in which it was written, or 0
    bool *starts;     // by operation: a run starts there
    bool *out;
};

static void find_starts(const struct px_program *program, bool *starts)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct px_op *op = &program->ops[i];
        if (program->meets && program->meets[i])
            starts[i] = true;
        if (op->code != PX_BRANCH && op->code != PX_BRANCH_TABLE)
            continue;
        starts[i + 1] = true;
        if (op->code == PX_BRANCH)
            starts[op->target] = true;
        for (uint32_t k = 0; k < op->target_count; k++)
            starts[op->targets[k]] = true;
    }
}

// The register whose place holds the value, if operations fill it in; or PX_NONE.
static px_register place_of(const struct search *s, px_register reg)
{
    if (reg >= s->program->register_count)
        return PX_NONE;
    reg = s->same[reg];
    return s->program->registers[reg].fill == PX_FILL_BY_OPS ? reg : PX_NONE;
}

static void read(struct search *s, px_register reg, uint32_t run, bool of_other_lanes)
{
    const px_register place = place_of(s, reg);
    if (place == PX_NONE)
        return;
    const uint32_t written = s->run_of[place];
    s->out[place] |= of_other_lanes || (written != run && written != FIRST_RUN);
}

static void visit(struct search *s, const struct px_op *op, uint32_t run)
{
    // Lanes that do not take part, or do not exist, may not have written it.
    const bool of_other_lanes = op->code == PX_FORM_TOGETHER;
    for (unsigned i = 0; i < op->sources; i++)
        read(s, op->operands[op->destinations + i], run, of_other_lanes);
    read(s, op->members, run, false);
    read(s, op->guard, run, false);
    for (unsigned i = 0; i < op->destinations; i++) {
        const px_register place = place_of(s, op->operands[i]);
        if (place != PX_NONE && op->code == PX_FORM && op->guard == PX_NONE &&
            s->run_of[place] != FIRST_RUN)
            s->run_of[place] = run;
    }
}

bool px_unwritten_find(const struct px_program *program, const px_register *same, bool *out)
{
    struct search s = {.program = program, .same = same, .out = out};
    s.run_of = dm_calloc(program->register_count + 1ul, sizeof *s.run_of);
    s.starts = dm_calloc(program->op_count + 1ul, sizeof *s.starts);
    const bool found = s.run_of && s.starts;
    if (found)
        find_starts(program, s.starts);
    uint32_t run = FIRST_RUN;
    for (uint32_t i = 0; found && i < program->op_count; i++) {
        run += s.starts[i];
        visit(&s, &program->ops[i], run);
    }
    dm_free(s.run_of);
    dm_free(s.starts);
    return found;
}
