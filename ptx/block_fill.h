// SPDX-License-Identifier: MIT
// Registers that are filled in before warps run: constants, addresses, arguments and special
// registers. `file` is the register file of a warp.
#pragma once
#include "block.h"

enum { PX_INDEX_B = KN_LANES * sizeof(uint32_t) }; // special registers of threads have 32 bits

static inline uint64_t px_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

// Bytes of a block's shared memory.
static inline uint32_t px_shared_size(const struct px_grid *grid)
{
    return grid->program->static_shared_B + grid->dynamic_shared_B;
}

// A special register that does not depend on the thread should be filled in as rarely as possible:
// decode.c (time_of) says when.
// Those that are the same in all blocks of a launch, in all warps of a block, and in a warp.
void px_fill_launch(const struct px_block *block, char *file);
void px_fill_block(const struct px_block *block, char *file);
// Fills in a file that an earlier launch of the program has used: the registers of a launch, and
// those that must be 0.
void px_fill_again(const struct px_block *block, char *file);
// Writes the indices of a warp's threads in the block to `to`: PX_INDEX_B bytes for each of
// decoded->indices. block->indices has the lists of all warps, and px_fill_warps reads them.
void px_fill_list(const struct px_block *block, char *to, uint32_t warp);
// Finds block->bases for a block that starts, before px_fill_warps.
void px_fill_bases(struct px_block *block);
// Those of `count` warps, from `warp` on, whose files follow each other.
static inline void px_fill_warps(const struct px_block *block, char *file, uint32_t warp,
                                 uint32_t count)
{
    const struct px_decoded *decoded = block->decoded;
    const struct px_index *index = decoded->indices;
    const size_t step_B = (size_t)decoded->index_count * PX_INDEX_B;
    const char *from = block->indices + warp * step_B;
    for (uint32_t n = 0; n < decoded->index_count; n++, index++, from += PX_INDEX_B)
        block->add(file + index->at, decoded->file_B, from, step_B, block->bases[n], count);
}
