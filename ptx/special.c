// SPDX-License-Identifier: MIT
// The names of special registers, and when registers are filled in.
#include "decode.h"

#include <string.h>

static const char *const names[] = {
#define PX_SPECIAL_NAME(name, text) text,
    PX_SPECIAL_LIST(PX_SPECIAL_NAME)
#undef PX_SPECIAL_NAME
};

int px_special_find(const char *name, size_t length)
{
    for (int i = 0; i < PX_SPECIAL_COUNT; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    return -1;
}

// ONCE: at the first launch, because the value is the same in all launches.
enum time { NEVER, AT_LAUNCH, ONCE, AT_BLOCK, AT_WARP };

static enum time time_of(const struct px_register_info *r)
{
    if (r->fill == PX_FILL_BY_OPS)
        return NEVER;
    if (r->fill == PX_FILL_CONSTANT || r->fill == PX_FILL_FUNCTION)
        return ONCE;
    if (r->fill != PX_FILL_SPECIAL)
        return AT_LAUNCH;
    switch ((enum px_special)r->index) {
    case PX_SPECIAL_TID_X:
    case PX_SPECIAL_TID_Y:
    case PX_SPECIAL_TID_Z:
    case PX_SPECIAL_WARPID:
        return AT_WARP;
    case PX_SPECIAL_LANEID:
    case PX_SPECIAL_LANEMASK_EQ:
    case PX_SPECIAL_LANEMASK_LE:
    case PX_SPECIAL_LANEMASK_LT:
    case PX_SPECIAL_LANEMASK_GE:
    case PX_SPECIAL_LANEMASK_GT:
        return ONCE;
    case PX_SPECIAL_CTAID_X:
    case PX_SPECIAL_CTAID_Y:
    case PX_SPECIAL_CTAID_Z:
    case PX_SPECIAL_CLUSTERID_X:
    case PX_SPECIAL_CLUSTERID_Y:
    case PX_SPECIAL_CLUSTERID_Z:
    case PX_SPECIAL_CLUSTER_CTAID_X:
    case PX_SPECIAL_CLUSTER_CTAID_Y:
    case PX_SPECIAL_CLUSTER_CTAID_Z:
    case PX_SPECIAL_CLUSTER_CTARANK:
    case PX_SPECIAL_SMID:
        return AT_BLOCK;
    default:
        return AT_LAUNCH;
    }
}

// Whether the register has an address in the block's own shared memory.
static bool has_rank(const struct px_program *program, const struct px_register_info *r)
{
    if (r->fill == PX_FILL_WINDOW)
        return r->index == PX_SHARED && r->own;
    return r->fill == PX_FILL_VARIABLE && program->module->variables[r->index].space == PX_SHARED;
}

px_register *px_fills_list(struct px_decoded *decoded, const bool *unread, px_register *list)
{
    const struct px_program *program = decoded->program;
    struct px_fills *const fills[] = {NULL, &decoded->launch, &decoded->launch, &decoded->block};
    for (int when = AT_LAUNCH; when <= AT_BLOCK; when++) {
        struct px_fills *to = fills[when];
        if (!to->registers)
            to->registers = list;
        for (uint32_t i = 0; i < program->register_count; i++)
            if ((int)time_of(&program->registers[i]) == when && !(unread && unread[i])) {
                *list++ = i;
                to->count++;
            }
        if (when == AT_LAUNCH)
            decoded->changing = to->count;
    }
    for (uint32_t i = 0; i < program->register_count; i++)
        if (time_of(&program->registers[i]) == AT_WARP && !(unread && unread[i]))
            decoded->indices[decoded->index_count++] =
                (struct px_index){.at = decoded->offsets[i],
                                  .thread = program->registers[i].index,
                                  .block = PX_NONE,
                                  .extent = PX_NONE};
    decoded->ranks.registers = list;
    for (uint32_t i = 0; i < program->register_count; i++)
        if (has_rank(program, &program->registers[i]))
            list[decoded->ranks.count++] = i;
    return list + decoded->ranks.count;
}
