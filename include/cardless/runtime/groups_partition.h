/* SPDX-License-Identifier: MIT */
/* Parts of groups of cooperative_groups.h. */
#ifndef CARDLESS_RUNTIME_GROUPS_PARTITION_H
#define CARDLESS_RUNTIME_GROUPS_PARTITION_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "groups_warp.h"

namespace cooperative_groups
{

/* Tiles of a block, or of a larger tile. */
template <unsigned int Size, class Parent>
CARDLESS_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    const unsigned int first = details::lane() & ~(Size - 1), rank = parent.thread_rank();
    const unsigned int all = Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1;
    return thread_block_tile<Size, Parent>(all << first, rank / Size,
                                           ((unsigned int)parent.size() + Size - 1) / Size);
}

/* Tiles whose size is known when the program runs, a power of 2 up to 32; others trap. The last one
 * has the rest of the threads. A group of lanes that is not larger than a tile is returned. */
CARDLESS_GROUP coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size)
{
    if (!size || size > 32 || (size & (size - 1)))
        __trap();
    if (parent.size() <= size)
        return parent;
    const unsigned int part = parent.thread_rank() / size;
    unsigned int lanes = parent.cardless_mask(), mine = 0;
    for (unsigned int rank = 0; lanes; rank++, lanes &= lanes - 1)
        if (rank / size == part)
            mine |= lanes & -lanes;
    return cardless_part(mine, part, (parent.size() + size - 1) / size);
}

CARDLESS_GROUP thread_group tiled_partition(const thread_group &parent, unsigned int size)
{
    if (parent.kind == details::IS_LANES)
        return tiled_partition(cardless_part(parent.mask, parent.part, parent.parts), size);
    if (parent.kind != details::IS_BLOCK || !size || size > 32 || (size & (size - 1)))
        __trap();
    const unsigned int all = size == 32 ? 0xffffffffu : (1u << (size & 31)) - 1;
    const unsigned int rest = details::size_of_block() - (details::rank_in_block() & ~31u);
    const unsigned int exist = rest < 32 ? (1u << rest) - 1 : 0xffffffffu;
    return cardless_part(all << (details::lane() & ~(size - 1)) & exist,
                         details::rank_in_block() / size,
                         (details::size_of_block() + size - 1) / size);
}

/* One group for each label. */
template <class Group, class Label>
CARDLESS_GROUP coalesced_group labeled_partition(const Group &g, Label label)
{
    const unsigned int mine = details::match_any(g.cardless_mask(), label);
    /* The groups are numbered by their first lanes. */
    const bool first = (mine & details::lanes_before()) == 0;
    const unsigned int firsts = __ballot_sync(g.cardless_mask(), first);
    const unsigned int before = (1u << (__builtin_ffs((int)mine) - 1)) - 1;
    return cardless_part(mine, details::count(firsts & before), details::count(firsts));
}

/* Two groups: the first one has the threads with false. */
template <class Group>
CARDLESS_GROUP coalesced_group binary_partition(const Group &g, bool predicate)
{
    const unsigned int lanes = g.cardless_mask(), with = __ballot_sync(lanes, predicate);
    return cardless_part(predicate ? with : lanes & ~with, predicate, 2);
}

} // namespace cooperative_groups
#endif

#endif
