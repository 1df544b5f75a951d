// SPDX-License-Identifier: MIT
// Finds loops, and how often they run:
//
//          mov.32    %c, 3
//     L:   …
//          sub.32    %c, %c, 1
//          setp.ne   %p, %c, 0
//      @p  bra       L            3 times
#include "nan_loops.h"

#include <string.h>

#include "alloc.h"
#include "kn_lanes.h"

enum {
    FAR = 4096,          // operations that are looked at for each loop
    TRIPS_MOST = 1 << 16 // of a loop that counts as one whose trips are known
};

static bool is_form(const struct px_op *op, const char *name)
{
    unsigned count;
    return op->code == PX_FORM && op->guard == PX_NONE &&
           !strcmp(kn_forms(&count)[op->form].name, name);
}

static bool writes(const struct px_op *op, px_register reg)
{
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] == reg)
            return true;
    return false;
}

// The last operation before `i`, and not before `least`, that writes a register; or NULL.
static const struct px_op *last_write(const struct px_lower *l, px_register reg, uint32_t i,
                                      uint32_t least)
{
    const uint32_t from = i - least > FAR ? i - FAR : least;
    while (i-- > from)
        if (writes(&l->ops[i], reg))
            return &l->ops[i];
    return NULL;
}

static bool is_constant(const struct px_lower *l, px_register reg)
{
    return reg < l->register_count && l->registers[reg].fill == PX_FILL_CONSTANT;
}

static uint32_t count_trips(const struct px_lower *l, uint32_t begin, uint32_t end)
{
    const struct px_op *branch = &l->ops[end];
    if (branch->guard == PX_NONE || branch->guard_not)
        return 0;
    const struct px_op *test = last_write(l, branch->guard, end, begin);
    if (!test || !is_form(test, "setp.ne.32") || !is_constant(l, test->operands[2]))
        return 0;
    const px_register c = test->operands[1];
    const struct px_op *step = last_write(l, c, end, begin);
    const bool down = step && is_form(step, "sub.32");
    if (!step || step > test || !(down || is_form(step, "add.32")) || step->operands[1] != c ||
        !is_constant(l, step->operands[2]) || last_write(l, c, (uint32_t)(step - l->ops), begin))
        return 0;
    const struct px_op *start = last_write(l, c, begin, 0);
    if (!start || !is_form(start, "mov.32") || !is_constant(l, start->operands[1]))
        return 0;
    const uint32_t by = (uint32_t)l->registers[step->operands[2]].value;
    const uint32_t last = (uint32_t)l->registers[test->operands[2]].value;
    uint32_t value = (uint32_t)l->registers[start->operands[1]].value;
    for (uint32_t trips = 1; trips <= TRIPS_MOST; trips++) {
        value = down ? value - by : value + by;
        if (value == last)
            return trips;
    }
    return 0;
}

bool px_loops_find(const struct px_lower *l, struct px_loop **loops, uint32_t *count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < l->op_count; i++)
        most += l->ops[i].code == PX_BRANCH && l->ops[i].target <= i;
    *count = 0;
    *loops = dm_calloc(most + 1ull, sizeof **loops);
    if (!*loops)
        return false;
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        if (op->code != PX_BRANCH || op->target > i)
            continue;
        const uint32_t trips = count_trips(l, op->target, i);
        if (trips != 1)
            (*loops)[(*count)++] = (struct px_loop){op->target, i, trips};
    }
    return true;
}
