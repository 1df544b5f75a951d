// SPDX-License-Identifier: MIT
// Registers that are filled in before warps run.
#include "block_fill.h"

#include "cluster.h"

#include <string.h>

#define FILL(to, type, value)                                                                      \
    do {                                                                                           \
        for (int i = 0; i < KN_LANES; i++)                                                         \
            ((type *)(void *)(to))[i] = (type)(value);                                             \
    } while (0)

// Writes one value to all lanes of a register.
static void fill(char *to, char letter, uint64_t value, uint64_t high)
{
    switch (letter) {
    case 'p':
        *(uint32_t *)(void *)to = value ? UINT32_MAX : 0;
        break;
    case 'h':
        FILL(to, uint16_t, value);
        break;
    case 'w':
        FILL(to, uint32_t, value);
        break;
    case 'l':
        FILL(to, uint64_t, value);
        break;
    default:
        FILL(to, unsigned __int128, (unsigned __int128)high << 64 | value);
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
        return px_up(px_shared_size(grid), SHARED_UNIT_B);
    case PX_SPECIAL_AGGR_SMEM_SIZE:
        return (uint64_t)px_shared_size(grid) + SHARED_RESERVED_B; // (recorded: sreg/smem-size)
    case PX_SPECIAL_ENVREG1:
        return grid->workspace >> 32;
    case PX_SPECIAL_ENVREG2:
        return (uint32_t)grid->workspace;
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

static void read_argument(uint64_t value[2], const char *from, uint32_t size_B)
{
    value[0] = value[1] = 0;
    if (size_B == sizeof *value)
        memcpy(value, from, sizeof *value);
    else
        memcpy(value, from, size_B < 2 * sizeof *value ? size_B : 2 * sizeof *value);
}

// The first `count` registers of a launch.
static void fill_launch(const struct px_block *block, char *file, uint32_t count)
{
    const struct px_grid *grid = block->grid;
    const struct px_decoded *decoded = block->decoded;
    for (uint32_t n = 0; n < count; n++) {
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
        case PX_FILL_STACK:
            value[0] = grid->program->local_B + grid->stack_B;
            break;
        case PX_FILL_FUNCTION:
            value[0] = px_function_address(r->index);
            break;
        case PX_FILL_ARGUMENT:
            read_argument(value, (const char *)grid->arguments + r->value, r->size_B);
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

void px_fill_launch(const struct px_block *block, char *file)
{
    *(uint32_t *)(void *)file = 0; // the predicate of operations without a guard
    fill_launch(block, file, block->decoded->launch.count);
}

void px_fill_again(const struct px_block *block, char *file)
{
    const struct px_decoded *decoded = block->decoded;
    const struct px_fills *list = &decoded->unwritten;
    if (decoded->clears_all) {
        memset(file, 0, decoded->file_B);
        px_fill_launch(block, file);
        return;
    }
    for (uint32_t n = 0; n < list->count; n++)
        fill(file + decoded->offsets[list->registers[n]],
             decoded->program->registers[list->registers[n]].letter, 0, 0);
    fill_launch(block, file, decoded->changing);
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
        return block->rank;
    case PX_SPECIAL_SMID:
        return grid->sm_count ? block->linear % grid->sm_count : 0;
    default:
        return 0;
    }
}

// Addresses in shared memory contain the rank of the block.
static void fill_rank(const struct px_block *block, char *file)
{
    const struct px_fills *ranks = &block->decoded->ranks;
    const struct px_grid *grid = block->grid;
    const uint64_t rank = (uint64_t)block->rank << PX_RANK_SHIFT;
    for (uint32_t n = 0; n < ranks->count; n++) {
        const px_register reg = ranks->registers[n];
        const struct px_register_info *r = &grid->program->registers[reg];
        const uint64_t address = r->fill == PX_FILL_VARIABLE
                                     ? variable_address(grid, r)
                                     : r->value + (r->generic ? window_of(grid, r->index) : 0);
        fill(file + block->decoded->offsets[reg], r->letter, address + rank, 0);
    }
}

void px_fill_block(const struct px_block *block, char *file)
{
    const struct px_decoded *decoded = block->decoded;
    for (uint32_t n = 0; n < decoded->block.count; n++) {
        const px_register reg = decoded->block.registers[n];
        const struct px_register_info *r = &decoded->program->registers[reg];
        fill(file + decoded->offsets[reg], r->letter, special_of_block(block, r->index), 0);
    }
    if (block->cluster->count > 1)
        fill_rank(block, file);
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

void px_fill_list(const struct px_block *block, char *to, uint32_t warp)
{
    const struct px_decoded *decoded = block->decoded;
    struct thread_indices indices;
    if (decoded->index_count)
        indices_find(&indices, block->grid->threads, warp);
    for (uint32_t n = 0; n < decoded->index_count; n++, to += PX_INDEX_B) {
        const uint32_t special = decoded->indices[n].thread;
        if (special == PX_SPECIAL_WARPID)
            fill(to, 'w', warp, 0);
        else
            memcpy(to, indices.of[special - PX_SPECIAL_TID_X], PX_INDEX_B);
    }
}

void px_fill_bases(struct px_block *block)
{
    const struct px_index *index = block->decoded->indices;
    for (uint32_t n = 0; n < block->decoded->index_count; n++, index++) {
        if (index->block == PX_NONE)
            continue;
        const uint32_t factor = index->extent == PX_NONE
                                    ? index->factor
                                    : block->grid->threads[index->extent - PX_SPECIAL_NTID_X];
        block->bases[n] = block->number[index->block - PX_SPECIAL_CTAID_X] * factor;
    }
}
