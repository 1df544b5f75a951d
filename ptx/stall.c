// SPDX-License-Identifier: MIT
// Finds blocks that repeat the same states for ever.
#include "stall.h"

#include <string.h>

#include "alloc.h"
#include "block.h"

// ---- operations ----

static bool begins(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

static bool is_pure_form(const char *name)
{
    static const char *const others[] = {
        "ld.generic", "st.", "stmatrix", "ldmatrix", "wmma.", "atom.", "red.",      "cp.",
        "mbarrier.",  "tex", "tld4",     "suld",     "sust",  "sured", "activemask"};
    if (begins(name, "mbarrier.test_wait") || begins(name, "mbarrier.pending_count"))
        return true;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(name, others[i]))
            return false;
    return true;
}

static bool is_pure(const struct px_op *op, const struct kn_form *forms)
{
    switch (op->code) {
    case PX_FORM:
    case PX_FORM_TOGETHER:
        return is_pure_form(forms[op->form].name);
    case PX_BRANCH:
    case PX_BRANCH_TABLE:
    case PX_EXIT: // these two end the lanes that execute them
    case PX_TRAP:
    case PX_WARP_BARRIER:
    case PX_PHASE_WAIT:
    case PX_NANOSLEEP:
    case PX_YIELD:
        return true;
    default:
        return false;
    }
}

void px_stall_count(const struct px_program *program, uint32_t *counts)
{
    unsigned form_count;
    const struct kn_form *forms = kn_forms(&form_count);
    for (uint32_t i = 0; i < program->op_count; i++)
        counts[i + 1] = counts[i] + !is_pure(&program->ops[i], forms);
}

// ---- registers that decide ----

static bool uses_memory(const char *name)
{
    return begins(name, "ld.") || begins(name, "mbarrier.");
}

// Marks the register, if there is one. Returns whether that is new.
static bool mark(bool *deciding, px_register reg)
{
    if (reg == PX_NONE || deciding[reg])
        return false;
    return deciding[reg] = true;
}

// Marks the registers that an operation reads, if its result decides. Returns whether some of them
// are new.
static bool mark_sources(bool *deciding, const struct px_op *op, const struct kn_form *forms)
{
    bool decides = op->code != PX_FORM || uses_memory(forms[op->form].name), more = false;
    for (unsigned i = 0; i < op->destinations; i++)
        decides |= op->operands[i] != PX_NONE && deciding[op->operands[i]];
    if (!decides)
        return false;
    more |= mark(deciding, op->guard);
    for (unsigned i = op->destinations; i < (unsigned)op->destinations + op->sources; i++)
        more |= mark(deciding, op->operands[i]);
    more |= op->code == PX_FORM_TOGETHER && mark(deciding, op->members);
    return more;
}

static bool find_deciding(struct px_stall *stall, const struct px_program *program)
{
    unsigned form_count;
    const struct kn_form *forms = kn_forms(&form_count);
    bool more = true;
    stall->deciding = dm_calloc(program->register_count + 1ul, sizeof *stall->deciding);
    if (!stall->deciding)
        return false;
    while (more) {
        more = false;
        for (uint32_t i = program->op_count; i-- > 0;)
            more |= mark_sources(stall->deciding, &program->ops[i], forms);
    }
    return true;
}

// ---- states ----

// Of a lane: where it is, and when it has its turn.
struct lane_place {
    const struct kn_op *at;
    enum px_fragment_state state;
    uint32_t barrier;
    uint32_t turns_ago, backward; // 0 if there are no other fragments
};

static uint64_t warp_size(const struct px_stall *stall, const struct px_program *program)
{
    uint64_t size_B = KN_LANES * sizeof(struct lane_place);
    for (uint32_t i = 0; i < program->register_count; i++)
        if (stall->deciding[i])
            size_B += px_register_size(program->registers[i].letter);
    return size_B;
}

static char *write_warp(const struct px_stall *stall, const struct px_warp *warp, char *to)
{
    const struct px_decoded *decoded = warp->block->decoded;
    const struct px_program *program = decoded->program;
    struct lane_place places[KN_LANES];
    memset(places, 0, sizeof places);
    for (uint32_t i = 0; i < warp->count; i++) {
        const struct px_fragment *f = &warp->fragments[i];
        for (uint32_t rest = f->lanes; rest; rest &= rest - 1) {
            struct lane_place *place = &places[__builtin_ctz(rest)];
            place->at = f->at;
            place->state = f->state;
            place->barrier = f->state == PX_AT_BARRIER ? f->barrier : 0;
            if (warp->count == 1 || (f->state != PX_READY && f->state != PX_AT_PHASE))
                continue;
            place->turns_ago = warp->last_turn - f->turn;
            place->backward = f->backward;
        }
    }
    memcpy(to, places, sizeof places);
    to += sizeof places;
    for (uint32_t i = 0; i < program->register_count; i++) {
        if (!stall->deciding[i])
            continue;
        const uint32_t size_B = px_register_size(program->registers[i].letter);
        memcpy(to, warp->w.r + decoded->offsets[i], size_B);
        to += size_B;
    }
    return to;
}

static bool allocate(struct px_stall *stall, struct px_block *const *blocks, uint32_t count)
{
    const struct px_program *program = blocks[0]->grid->program;
    if (stall->now)
        return true;
    if (!stall->deciding && !find_deciding(stall, program))
        return false;
    stall->size_B = count * blocks[0]->warp_count * warp_size(stall, program);
    stall->now = dm_alloc(2 * stall->size_B);
    if (!stall->now)
        return false;
    stall->kept = stall->now + stall->size_B;
    return true;
}

bool px_stall_round(struct px_stall *stall, struct px_block *const *blocks, uint32_t count)
{
    bool moved = false;
    for (uint32_t i = 0; i < count; i++) {
        moved |= blocks[i]->moved;
        blocks[i]->moved = false;
    }
    if (moved || !allocate(stall, blocks, count)) {
        stall->rounds = 0;
        return false;
    }
    char *to = stall->now;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < blocks[i]->warp_count; k++)
            to = write_warp(stall, &blocks[i]->warps[k], to);
    if (stall->rounds++ && !memcmp(stall->now, stall->kept, stall->size_B))
        return true;
    if (!(stall->rounds & (stall->rounds - 1)))
        memcpy(stall->kept, stall->now, stall->size_B);
    return false;
}

void px_stall_finish(struct px_stall *stall)
{
    dm_free(stall->deciding);
    dm_free(stall->now);
}
