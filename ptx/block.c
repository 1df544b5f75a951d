// SPDX-License-Identifier: MIT
// Blocks: the registers that are filled in before warps run, and the turns of warps.
//
// The memory of a block:
//
//     │ struct px_warp … │ a register file for each │ shared memory │ local memory of each warp │
#include "block.h"

#include <string.h>

#include "checker.h"
#include "draw.h"
#include "fault.h"
#include "stepping.h"

static uint64_t up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint32_t shared_size(const struct px_grid *grid)
{
    return grid->program->static_shared_B + grid->dynamic_shared_B;
}

// Of each lane. An odd number of lines, so that lanes do not compete for the same sets of a cache.
static uint32_t local_size(const struct px_grid *grid)
{
    const uint64_t stack_B = grid->program->has_stack ? grid->stack_B : 0;
    const uint64_t lines = up(grid->program->local_B + stack_B, 64) / 64;
    return (uint32_t)(lines ? (lines | 1) * 64 : 0);
}

static uint32_t thread_count(const struct px_grid *grid)
{
    return grid->threads[0] * grid->threads[1] * grid->threads[2];
}

static uint32_t warp_count(const struct px_grid *grid)
{
    return (thread_count(grid) + KN_LANES - 1) / KN_LANES;
}

uint64_t px_block_size(const struct px_grid *grid, const struct px_decoded *decoded, bool single)
{
    const uint64_t warps = single ? 1 : warp_count(grid);
    return sizeof(struct px_block) + up(warps * sizeof(struct px_warp), 64) +
           warps * decoded->file_B + up(shared_size(grid), 64) +
           warps * KN_LANES * local_size(grid) + 2 * 64;
}

// ---- registers ----

#define FILL(type, value)                                                                          \
    for (int i = 0; i < KN_LANES; i++)                                                             \
    ((type *)(void *)to)[i] = (type)(value)

// Writes one value to all lanes of a register.
static void fill(char *to, char letter, uint64_t value, uint64_t high)
{
    switch (letter) {
    case 'p':
        *(uint32_t *)(void *)to = value ? UINT32_MAX : 0;
        break;
    case 'h':
        FILL(uint16_t, value);
        break;
    case 'w':
        FILL(uint32_t, value);
        break;
    case 'l':
        FILL(uint64_t, value);
        break;
    default:
        FILL(unsigned __int128, (unsigned __int128)high << 64 | value);
    }
}

static void fill_lane(char *to, char letter, int i, uint64_t value)
{
    if (letter == 'h')
        ((uint16_t *)(void *)to)[i] = (uint16_t)value;
    else if (letter == 'w')
        ((uint32_t *)(void *)to)[i] = (uint32_t)value;
    else if (letter == 'l')
        ((uint64_t *)(void *)to)[i] = value;
}

static uint64_t variable_address(const struct px_grid *grid, const struct px_register_info *r)
{
    const struct px_program *program = grid->program;
    const struct px_variable *v = &program->module->variables[r->index];
    switch (v->space) {
    case PX_SHARED:
        return program->shared_at[r->index] + r->value +
               (r->generic ? grid->host->shared_window : 0);
    case PX_LOCAL:
        return program->local_at[r->index] + r->value + (r->generic ? grid->host->local_window : 0);
    default:
        return grid->variables[r->index] + r->value;
    }
}

static uint64_t special_of_launch(const struct px_grid *grid, uint32_t special, bool *per_lane)
{
    // Of reserved shared memory, 288 bytes are in use (recorded: sreg/reserved_smem).
    enum { WARPS_OF_SM = 64, SHARED_UNIT_B = 128, SHARED_RESERVED_B = 1024, RESERVED_USED_B = 288 };
    const uint32_t *cluster = grid->cluster;
    const uint32_t size[3] = {cluster[0] ? cluster[0] : 1, cluster[0] ? cluster[1] : 1,
                              cluster[0] ? cluster[2] : 1};
    switch ((enum px_special)special) {
    case PX_SPECIAL_NTID_X:
    case PX_SPECIAL_NTID_Y:
    case PX_SPECIAL_NTID_Z:
        return grid->threads[special - PX_SPECIAL_NTID_X];
    case PX_SPECIAL_NCTAID_X:
    case PX_SPECIAL_NCTAID_Y:
    case PX_SPECIAL_NCTAID_Z:
        return grid->blocks[special - PX_SPECIAL_NCTAID_X];
    case PX_SPECIAL_NWARPID:
        return WARPS_OF_SM;
    case PX_SPECIAL_NSMID:
        return grid->sm_count;
    case PX_SPECIAL_GRIDID:
        return grid->grid_id;
    case PX_SPECIAL_NCLUSTERID_X:
    case PX_SPECIAL_NCLUSTERID_Y:
    case PX_SPECIAL_NCLUSTERID_Z:
        return grid->blocks[special - PX_SPECIAL_NCLUSTERID_X] /
               size[special - PX_SPECIAL_NCLUSTERID_X];
    case PX_SPECIAL_CLUSTER_NCTAID_X:
    case PX_SPECIAL_CLUSTER_NCTAID_Y:
    case PX_SPECIAL_CLUSTER_NCTAID_Z:
        return size[special - PX_SPECIAL_CLUSTER_NCTAID_X];
    case PX_SPECIAL_CLUSTER_NCTARANK:
        return size[0] * size[1] * size[2];
    case PX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return cluster[0] != 0;
    case PX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return grid->dynamic_shared_B;
    case PX_SPECIAL_TOTAL_SMEM_SIZE:
        return up(shared_size(grid), SHARED_UNIT_B);
    case PX_SPECIAL_AGGR_SMEM_SIZE:
        return (uint64_t)shared_size(grid) + SHARED_RESERVED_B; // (recorded: sreg/smem-size)
    case PX_SPECIAL_RESERVED_SMEM_END:
        return RESERVED_USED_B;
    case PX_SPECIAL_RESERVED_SMEM_CAP:
        return SHARED_RESERVED_B;
    case PX_SPECIAL_RESERVED_SMEM_BEGIN:
    case PX_SPECIAL_RESERVED_SMEM_0:
    case PX_SPECIAL_RESERVED_SMEM_1:
    case PX_SPECIAL_CURRENT_GRAPH_EXEC: // kernels of graphs do not see it
        return 0;
    default:
        *per_lane = true;
        return 0;
    }
}

static uint64_t special_of_lane(uint32_t special, int lane)
{
    const uint32_t bit = UINT32_C(1) << lane;
    switch ((enum px_special)special) {
    case PX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PX_SPECIAL_LANEMASK_LT:
        return bit - 1;
    case PX_SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case PX_SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case PX_SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return (uint64_t)lane;
    }
}

static uint64_t window_of(const struct px_grid *grid, uint32_t space)
{
    return space == PX_SHARED      ? grid->host->shared_window
           : space == PX_PARAMETER ? (uintptr_t)grid->arguments
                                   : grid->host->local_window;
}

static void fill_for_launch(const struct px_block *block, char *file)
{
    const struct px_grid *grid = block->grid;
    const struct px_decoded *decoded = block->decoded;
    *(uint32_t *)(void *)file = 0; // the predicate of operations without a guard
    for (uint32_t n = 0; n < decoded->launch.count; n++) {
        const px_register reg = decoded->launch.registers[n];
        const struct px_register_info *r = &grid->program->registers[reg];
        char *to = file + decoded->offsets[reg];
        uint64_t value[2] = {r->value, r->value_high};
        bool per_lane = false;
        switch (r->fill) {
        case PX_FILL_VARIABLE:
            value[0] = variable_address(grid, r);
            break;
        case PX_FILL_WINDOW:
            if (r->generic)
                value[0] += window_of(grid, r->index);
            break;
        case PX_FILL_FUNCTION:
            value[0] = px_function_address(r->index);
            break;
        case PX_FILL_ARGUMENT:
            memset(value, 0, sizeof value);
            memcpy(value, (const char *)grid->arguments + r->value,
                   r->size_B < sizeof value ? r->size_B : sizeof value);
            break;
        case PX_FILL_SPECIAL:
            value[0] = special_of_launch(grid, r->index, &per_lane);
            break;
        default:
            break;
        }
        if (!per_lane)
            fill(to, r->letter, value[0], value[1]);
        for (int i = 0; per_lane && i < KN_LANES; i++)
            fill_lane(to, r->letter, i, special_of_lane(r->index, i));
    }
}

static uint64_t special_of_block(const struct px_block *block, uint32_t special)
{
    const struct px_grid *grid = block->grid;
    const uint32_t *c = grid->cluster;
    const uint32_t size[3] = {c[0] ? c[0] : 1, c[0] ? c[1] : 1, c[0] ? c[2] : 1};
    const uint32_t *at = block->number;
    switch ((enum px_special)special) {
    case PX_SPECIAL_CTAID_X:
    case PX_SPECIAL_CTAID_Y:
    case PX_SPECIAL_CTAID_Z:
        return at[special - PX_SPECIAL_CTAID_X];
    case PX_SPECIAL_CLUSTERID_X:
    case PX_SPECIAL_CLUSTERID_Y:
    case PX_SPECIAL_CLUSTERID_Z:
        return at[special - PX_SPECIAL_CLUSTERID_X] / size[special - PX_SPECIAL_CLUSTERID_X];
    case PX_SPECIAL_CLUSTER_CTAID_X:
    case PX_SPECIAL_CLUSTER_CTAID_Y:
    case PX_SPECIAL_CLUSTER_CTAID_Z:
        return at[special - PX_SPECIAL_CLUSTER_CTAID_X] %
               size[special - PX_SPECIAL_CLUSTER_CTAID_X];
    case PX_SPECIAL_CLUSTER_CTARANK:
        return at[0] % size[0] + size[0] * (at[1] % size[1] + size[1] * (at[2] % size[2]));
    case PX_SPECIAL_SMID:
        return grid->sm_count ? block->linear % grid->sm_count : 0;
    default:
        return 0;
    }
}

static void fill_for_block(const struct px_block *block, char *file)
{
    const struct px_decoded *decoded = block->decoded;
    for (uint32_t n = 0; n < decoded->block.count; n++) {
        const px_register reg = decoded->block.registers[n];
        const struct px_register_info *r = &decoded->program->registers[reg];
        fill(file + decoded->offsets[reg], r->letter, special_of_block(block, r->index), 0);
    }
}

// The indices of a warp's threads in their block. A division for each thread would take longer than
// many a kernel.
struct thread_indices {
    uint32_t of[3][KN_LANES];
};

static void indices_find(struct thread_indices *out, const uint32_t *size, uint32_t warp)
{
    const uint32_t first = warp * KN_LANES;
    uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
    for (int i = 0; i < KN_LANES; i++) {
        out->of[0][i] = x;
        out->of[1][i] = y;
        out->of[2][i] = z;
        if (++x < size[0])
            continue;
        x = 0;
        if (++y < size[1])
            continue;
        y = 0;
        z++;
    }
}

static void fill_for_warp(const struct px_block *block, char *file, uint32_t warp)
{
    const struct px_decoded *decoded = block->decoded;
    struct thread_indices indices;
    if (decoded->warp.count)
        indices_find(&indices, block->grid->threads, warp);
    for (uint32_t n = 0; n < decoded->warp.count; n++) {
        const px_register reg = decoded->warp.registers[n];
        const struct px_register_info *r = &decoded->program->registers[reg];
        char *to = file + decoded->offsets[reg];
        if (r->index == PX_SPECIAL_WARPID)
            fill(to, r->letter, warp, 0);
        else // special registers of threads have 32 bits
            memcpy(to, indices.of[r->index - PX_SPECIAL_TID_X], sizeof *indices.of);
    }
}

// ---- life ----

static uint32_t lanes_of(const struct px_block *block, uint32_t warp)
{
    const uint32_t left = block->thread_count - warp * KN_LANES;
    return left >= KN_LANES ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

static const void *find_object(const struct kn_objects *objects, enum kn_object_kind kind,
                               uint64_t handle)
{
    const struct px_host *host = objects->owner;
    return host->object(host->context, kind, handle);
}

void px_block_init(struct px_block *block, struct px_grid *grid, const struct px_decoded *decoded,
                   bool single)
{
    char *at = (char *)up((uintptr_t)(block + 1), 64);
    const uint32_t warps = single ? 1 : warp_count(grid), local_B = local_size(grid);
    *block = (struct px_block){
        .grid = grid,
        .decoded = decoded,
        .thread_count = thread_count(grid),
        .warp_count = warp_count(grid),
        .single = single,
        .warps = (struct px_warp *)(void *)at,
        .memory = {.shared_B = shared_size(grid),
                   .parameters = grid->arguments,
                   .parameters_B =
                       grid->program->module->functions[grid->program->function].parameters_B,
                   .shared_window = grid->host->shared_window,
                   .local_window = grid->host->local_window,
                   .device_first = grid->host->device_first,
                   .device_end = grid->host->device_end,
                   .foreign = grid->host->foreign,
                   .watch = grid->host->checks ? px_checker_watch : NULL,
                   .owner = grid->host->context,
                   .objects = grid->host->object ? &block->objects : NULL,
                   .phases = &block->phases},
        .objects = {.find = find_object, .owner = (void *)(uintptr_t)grid->host},
    };
    at += up(warps * sizeof(struct px_warp), 64);
    for (uint32_t i = 0; i < warps; i++, at += decoded->file_B) {
        memset(&block->warps[i], 0, sizeof block->warps[i]);
        block->warps[i].block = block;
        block->warps[i].index = i;
        block->warps[i].w.r = at;
        block->warps[i].w.memory = &block->memory;
        block->warps[i].w.local_B = local_B;
        memset(at, 0, decoded->file_B);
        fill_for_launch(block, at);
        fill_for_warp(block, at, i);
    }
    block->memory.shared = at;
    at += up(block->memory.shared_B, 64);
    for (uint32_t i = 0; i < warps; i++, at += (uint64_t)KN_LANES * local_B)
        block->warps[i].w.local = at;
}

void px_block_start(struct px_block *block, uint64_t linear)
{
    const struct px_grid *grid = block->grid;
    const struct kn_op *first = block->decoded->ops;
    block->linear = linear;
    block->number[0] = (uint32_t)(linear % grid->blocks[0]);
    block->number[1] = (uint32_t)(linear / grid->blocks[0] % grid->blocks[1]);
    block->number[2] = (uint32_t)(linear / grid->blocks[0] / grid->blocks[1]);
    memset(block->memory.shared, 0, block->memory.shared_B);
    block->running = block->warp_count;
    block->next_warp = 0;
    block->clock = 0;
    block->branches = 0;
    if (block->barriers.used)
        memset(&block->barriers, 0, sizeof block->barriers);
    if (block->checker)
        px_checker_start(block->checker);
    if (block->stepping)
        px_stepping_start(block->stepping);
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++) {
        fill_for_block(block, block->warps[i].w.r);
        px_warp_start(&block->warps[i], first, lanes_of(block, i));
    }
}

// ---- running ----

// The warp that has turn i of `round`.
static uint32_t warp_at(const struct px_block *block, uint64_t round, uint32_t i)
{
    const uint64_t seed = block->grid->seed;
    return !seed ? i
                 : (uint32_t)px_drawn_order(px_drawn(seed + block->linear, round) | 1, i,
                                            block->warp_count);
}

static enum px_progress run_single(struct px_block *block, int64_t budget)
{
    struct px_warp *warp = block->warps;
    warp->budget = budget;
    block->current = warp;
    for (; block->next_warp < block->warp_count; block->next_warp++) {
        const uint32_t index = warp_at(block, 0, block->next_warp);
        if (index != warp->index) {
            warp->index = index;
            fill_for_warp(block, warp->w.r, index);
        }
        px_warp_start(warp, block->decoded->ops, lanes_of(block, index));
        switch (px_warp_run(warp)) {
        case PX_STOP_ENDED:
            break;
        case KN_STOP_FAULT:
            px_fail_access(warp);
            return PX_BLOCK_FAILED;
        case PX_STOP_TURN:
            return PX_BLOCK_TURN;
        case PX_STOP_WAITS:
        case PX_STOP_STUCK:
            return PX_BLOCK_STUCK;
        default:
            return PX_BLOCK_FAILED;
        }
    }
    return PX_BLOCK_ENDED;
}

// Whether the warp has a fragment that may run.
static bool can_run(const struct px_warp *warp)
{
    for (uint32_t i = 0; i < warp->count; i++)
        if (warp->fragments[i].state != PX_AT_BARRIER &&
            !px_waits_for_phase(warp, &warp->fragments[i]))
            return true;
    return false;
}

bool px_block_is_stuck(const struct px_block *block)
{
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++) {
        const struct px_warp *warp = &block->warps[i];
        for (uint32_t k = 0; k < warp->count; k++)
            if (warp->fragments[k].state != PX_AT_BARRIER &&
                warp->fragments[k].state != PX_AT_MEMBERS)
                return false;
    }
    return true;
}

bool px_block_time_out(struct px_block *block)
{
    bool some = false;
    for (uint32_t i = 0; !block->single && i < block->warp_count; i++)
        some |= px_warp_time_out(&block->warps[i]);
    return some;
}

enum px_progress px_block_run(struct px_block *block, int64_t budget)
{
    bool progress, turn = false;
    uint64_t round = 0;
    if (block->single)
        return run_single(block, budget);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].budget = budget;
    do {
        progress = turn = false;
        round++;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct px_warp *warp = &block->warps[warp_at(block, round, i)];
            if (!warp->count || !can_run(warp))
                continue;
            if (warp->budget < 0) {
                turn = true;
                continue;
            }
            block->current = warp;
            switch (px_warp_run(warp)) {
            case PX_STOP_ENDED:
                progress = true;
                break;
            case PX_STOP_STUCK:
                break;
            case PX_STOP_WAITS:
                progress = true;
                break;
            case PX_STOP_TURN:
                turn = progress = true;
                break;
            case KN_STOP_FAULT:
                px_fail_access(warp);
                return PX_BLOCK_FAILED;
            default:
                return PX_BLOCK_FAILED;
            }
        }
    } while (progress && block->running);
    return !block->running ? PX_BLOCK_ENDED : turn ? PX_BLOCK_TURN : PX_BLOCK_STUCK;
}
