// SPDX-License-Identifier: MIT
// Register pressure.
#include "pressure.h"

#include "alloc.h"

struct life {
    uint32_t first, last; // operations; first is UINT32_MAX for a register that is not used
};

static unsigned words_of(char letter)
{
    return letter == 'p' ? 0 : letter == 'l' ? 2 : letter == 'x' ? 4 : 1;
}

static void touch(struct life *lives, const struct px_program *program, px_register reg,
                  uint32_t at)
{
    if (reg >= program->register_count || program->registers[reg].fill != PX_FILL_BY_OPS)
        return;
    struct life *life = &lives[reg];
    if (life->first == UINT32_MAX)
        life->first = at;
    life->last = at;
}

// A loop from `first` to `last`: a value from before it that it uses lives until its end.
static void extend(struct life *lives, uint32_t count, uint32_t first, uint32_t last)
{
    for (uint32_t i = 0; i < count; i++) {
        if (lives[i].first < first && lives[i].last >= first && lives[i].last < last)
            lives[i].last = last;
    }
}

static void find_lives(const struct px_program *program, struct life *lives)
{
    for (uint32_t i = 0; i < program->register_count; i++)
        lives[i] = (struct life){UINT32_MAX, 0};
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct px_op *op = &program->ops[i];
        for (unsigned n = 0; n < op->destinations + (unsigned)op->sources; n++)
            touch(lives, program, op->operands[n], i);
    }
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct px_op *op = &program->ops[i];
        if (op->code == PX_BRANCH && op->target <= i)
            extend(lives, program->register_count, op->target, i);
    }
}

unsigned px_pressure(const struct px_program *program)
{
    const uint32_t registers = program->register_count;
    struct life *lives = dm_alloc((registers + 1ul) * sizeof *lives);
    int32_t *changes = dm_calloc(program->op_count + 2ul, sizeof *changes);
    int32_t now = 0, most = 0;
    if (lives && changes) {
        find_lives(program, lives);
        for (uint32_t i = 0; i < registers; i++) {
            const int32_t words = (int32_t)words_of(program->registers[i].letter);
            if (lives[i].first == UINT32_MAX)
                continue;
            changes[lives[i].first] += words;
            changes[lives[i].last] -= words; // the operation may write to a register that it reads
        }
        for (uint32_t i = 0; i < program->op_count; i++) {
            now += changes[i];
            most = now > most ? now : most;
        }
    }
    dm_free(lives);
    dm_free(changes);
    return (unsigned)most;
}
