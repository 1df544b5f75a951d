/* SPDX-License-Identifier: MIT */
/* Groups of cooperative_groups.h that are the block, or larger. */
#ifndef CARDLESS_RUNTIME_GROUPS_H
#define CARDLESS_RUNTIME_GROUPS_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "clang_device.h"

#define CARDLESS_GROUP __attribute__((device, always_inline, unused)) inline

namespace cooperative_groups
{

namespace details
{

enum kind { IS_BLOCK, IS_LANES, IS_GRID };

CARDLESS_GROUP unsigned int lane()
{
    unsigned int lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

CARDLESS_GROUP unsigned int lanes_before()
{
    unsigned int mask;
    __asm__("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

CARDLESS_GROUP unsigned int count(unsigned int mask)
{
    return (unsigned int)__builtin_popcount(mask);
}

CARDLESS_GROUP unsigned int rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

CARDLESS_GROUP unsigned int size_of_block()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

CARDLESS_GROUP unsigned int rank_in_grid()
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

CARDLESS_GROUP unsigned int blocks_of_grid()
{
    return gridDim.x * gridDim.y * gridDim.z;
}

/* The driver gives a cooperative launch two words that begin as 0. */
CARDLESS_GROUP unsigned int *workspace()
{
    unsigned int high, low;
    __asm__("mov.u32 %0, %%envreg1;" : "=r"(high));
    __asm__("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (unsigned int *)((unsigned long long)high << 32 | low);
}

/* Waits for all blocks. The second word counts the blocks that have arrived. The last one sets the
 * count back and changes the word's highest bit, which the others wait for. */
CARDLESS_GROUP void wait_for_blocks()
{
    __syncthreads();
    if (rank_in_block() == 0) {
        volatile unsigned int *const word = workspace() + 1;
        const unsigned int bit = 0x80000000u, blocks = blocks_of_grid();
        __threadfence();
        const unsigned int before = atomicAdd((unsigned int *)word, 1u);
        if ((before & ~bit) == blocks - 1)
            atomicAdd((unsigned int *)word, bit - blocks);
        else
            while (((*word ^ before) & bit) == 0)
                ;
        __threadfence();
    }
    __syncthreads();
}

} // namespace details

/* Any group. A variable of this type stores the kind of group. */
class thread_group
{
  public:
    CARDLESS_GROUP void sync() const;
    CARDLESS_GROUP unsigned long long size() const;
    CARDLESS_GROUP unsigned long long num_threads() const
    {
        return size();
    }
    CARDLESS_GROUP unsigned long long thread_rank() const;

  protected:
    CARDLESS_GROUP thread_group(details::kind is, unsigned int lanes, unsigned int number,
                                unsigned int of)
        : kind(is), mask(lanes), part(number), parts(of)
    {
    }
    details::kind kind;
    unsigned int mask;        // lanes of the warp; IS_LANES only
    unsigned int part, parts; // the place among the groups of a partition

    friend CARDLESS_GROUP thread_group tiled_partition(const thread_group &, unsigned int);
};

class thread_block : public thread_group
{
  public:
    CARDLESS_GROUP static void sync()
    {
        __syncthreads();
    }
    CARDLESS_GROUP static unsigned int size()
    {
        return details::size_of_block();
    }
    CARDLESS_GROUP static unsigned int num_threads()
    {
        return size();
    }
    CARDLESS_GROUP static unsigned int thread_rank()
    {
        return details::rank_in_block();
    }
    CARDLESS_GROUP static dim3 group_index()
    {
        return blockIdx;
    }
    CARDLESS_GROUP static dim3 thread_index()
    {
        return threadIdx;
    }
    CARDLESS_GROUP static dim3 group_dim()
    {
        return blockDim;
    }
    CARDLESS_GROUP static dim3 dim_threads()
    {
        return blockDim;
    }

  private:
    CARDLESS_GROUP thread_block() : thread_group(details::IS_BLOCK, 0, 0, 1)
    {
    }
    friend CARDLESS_GROUP thread_block this_thread_block();
};

/* All blocks. Only those of a cooperative launch can wait for each other. */
class grid_group : public thread_group
{
  public:
    CARDLESS_GROUP bool is_valid() const
    {
        return details::workspace() != nullptr;
    }
    CARDLESS_GROUP void sync() const
    {
        if (!is_valid())
            __trap();
        details::wait_for_blocks();
    }
    CARDLESS_GROUP static unsigned long long num_blocks()
    {
        return details::blocks_of_grid();
    }
    CARDLESS_GROUP static unsigned long long block_rank()
    {
        return details::rank_in_grid();
    }
    CARDLESS_GROUP static unsigned long long size()
    {
        return num_blocks() * details::size_of_block();
    }
    CARDLESS_GROUP static unsigned long long num_threads()
    {
        return size();
    }
    CARDLESS_GROUP static unsigned long long thread_rank()
    {
        return block_rank() * details::size_of_block() + details::rank_in_block();
    }
    CARDLESS_GROUP static dim3 block_index()
    {
        return blockIdx;
    }
    CARDLESS_GROUP static dim3 dim_blocks()
    {
        return gridDim;
    }
    CARDLESS_GROUP static dim3 group_dim()
    {
        return gridDim;
    }

  private:
    CARDLESS_GROUP grid_group() : thread_group(details::IS_GRID, 0, 0, 1)
    {
    }
    friend CARDLESS_GROUP grid_group this_grid();
};

CARDLESS_GROUP thread_block this_thread_block()
{
    return thread_block();
}

CARDLESS_GROUP grid_group this_grid()
{
    return grid_group();
}

CARDLESS_GROUP void thread_group::sync() const
{
    if (kind == details::IS_LANES)
        __syncwarp(mask);
    else if (kind == details::IS_BLOCK)
        thread_block::sync();
    else
        static_cast<const grid_group *>(this)->sync();
}

CARDLESS_GROUP unsigned long long thread_group::size() const
{
    if (kind == details::IS_LANES)
        return details::count(mask);
    return kind == details::IS_BLOCK ? thread_block::size() : grid_group::size();
}

CARDLESS_GROUP unsigned long long thread_group::thread_rank() const
{
    if (kind == details::IS_LANES)
        return details::count(mask & details::lanes_before());
    return kind == details::IS_BLOCK ? thread_block::thread_rank() : grid_group::thread_rank();
}

/* ---- the same as functions */

template <class Group> CARDLESS_GROUP void sync(const Group &g)
{
    g.sync();
}

template <class Group> CARDLESS_GROUP auto thread_rank(const Group &g) -> decltype(g.thread_rank())
{
    return g.thread_rank();
}

template <class Group> CARDLESS_GROUP auto group_size(const Group &g) -> decltype(g.size())
{
    return g.size();
}

CARDLESS_GROUP dim3 group_index(const thread_block &)
{
    return thread_block::group_index();
}

CARDLESS_GROUP dim3 thread_index(const thread_block &)
{
    return thread_block::thread_index();
}

} // namespace cooperative_groups
#endif

#endif
