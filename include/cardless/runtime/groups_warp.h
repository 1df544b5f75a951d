/* SPDX-License-Identifier: MIT */
/* Groups of cooperative_groups.h that are lanes of one warp. A lane's rank is its place among the
 * lanes of the group; masks that functions return have a bit for each rank. */
#ifndef CARDLESS_RUNTIME_GROUPS_WARP_H
#define CARDLESS_RUNTIME_GROUPS_WARP_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "groups.h"

namespace cooperative_groups
{

namespace details
{

/* Lanes exchange values of any size in words. `shuffle` does it with one. */
template <class T, class Shuffle> CARDLESS_GROUP T exchange(const T &value, const Shuffle &shuffle)
{
    int words[(sizeof(T) + 3) / 4] = {};
    T result;
    __builtin_memcpy(words, &value, sizeof value);
    for (unsigned int i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = shuffle(words[i]);
    __builtin_memcpy(&result, words, sizeof result);
    return result;
}

struct from_lane {
    unsigned int mask, lane;
    CARDLESS_GROUP int operator()(int word) const
    {
        return __shfl_sync(mask, word, (int)lane);
    }
};

/* The lane of a rank: the mask's n-th bit, which a search by halves finds. */
CARDLESS_GROUP unsigned int lane_of(unsigned int mask, unsigned int rank)
{
    unsigned int lane = 0;
    for (unsigned int step = 16; step; step /= 2) {
        const unsigned int low = count(mask >> lane & ((1u << step) - 1));
        if (rank >= low) {
            rank -= low;
            lane += step;
        }
    }
    return lane & 31;
}

/* The bits of the group's lanes, side by side. */
CARDLESS_GROUP unsigned int packed(unsigned int lanes, unsigned int mask)
{
    unsigned int bits = 0;
    if (mask == 0xffffffff)
        return lanes;
    for (unsigned int rank = 0; mask; rank++, mask &= mask - 1)
        bits |= (lanes >> (__builtin_ffs((int)mask) - 1) & 1) << rank;
    return bits;
}

template <class T> CARDLESS_GROUP unsigned int match_any(unsigned int mask, const T &value)
{
    static_assert(sizeof(T) <= 8, "values of up to 8 bytes can be compared");
    unsigned int words[2] = {};
    __builtin_memcpy(words, &value, sizeof value);
    const unsigned int same = __match_any_sync(mask, words[0]);
    return sizeof(T) > 4 ? same & __match_any_sync(mask, words[1]) : same;
}

} // namespace details

/* The common part of tiles and coalesced groups. */
class cardless_lanes : public thread_group
{
  public:
    CARDLESS_GROUP void sync() const
    {
        __syncwarp(mask);
    }
    CARDLESS_GROUP unsigned int size() const
    {
        return details::count(mask);
    }
    CARDLESS_GROUP unsigned int num_threads() const
    {
        return size();
    }
    CARDLESS_GROUP unsigned int thread_rank() const
    {
        return details::count(mask & details::lanes_before());
    }
    CARDLESS_GROUP unsigned int meta_group_rank() const
    {
        return part;
    }
    CARDLESS_GROUP unsigned int meta_group_size() const
    {
        return parts;
    }
    CARDLESS_GROUP int any(int predicate) const
    {
        return __any_sync(mask, predicate);
    }
    CARDLESS_GROUP int all(int predicate) const
    {
        return __all_sync(mask, predicate);
    }
    CARDLESS_GROUP unsigned int ballot(int predicate) const
    {
        return details::packed(__ballot_sync(mask, predicate), mask);
    }
    template <class T> CARDLESS_GROUP unsigned int match_any(T value) const
    {
        return details::packed(details::match_any(mask, value), mask);
    }
    /* All lanes, if they have the same value, else 0. */
    template <class T> CARDLESS_GROUP unsigned int match_all(T value, int &predicate) const
    {
        predicate = __all_sync(mask, details::match_any(mask, value) == mask);
        return predicate ? details::packed(mask, mask) : 0;
    }
    /* The value of another rank; a thread without that neighbour keeps its own. */
    template <class T> CARDLESS_GROUP T shfl(T value, unsigned int rank) const
    {
        const details::from_lane from = {mask, details::lane_of(mask, rank % size())};
        return details::exchange(value, from);
    }
    template <class T> CARDLESS_GROUP T shfl_up(T value, unsigned int distance) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, rank < distance ? rank : rank - distance);
    }
    template <class T> CARDLESS_GROUP T shfl_down(T value, unsigned int distance) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, distance < size() - rank ? rank + distance : rank);
    }
    /* The lanes that take part. Cardless's own; for the functions of partitions. */
    CARDLESS_GROUP unsigned int cardless_mask() const
    {
        return mask;
    }

  protected:
    CARDLESS_GROUP cardless_lanes(unsigned int lanes, unsigned int number, unsigned int of)
        : thread_group(details::IS_LANES, lanes, number, of)
    {
    }
};

/* The threads of the warp that run a statement together, or a part of a group. */
class coalesced_group : public cardless_lanes
{
    CARDLESS_GROUP coalesced_group(unsigned int lanes, unsigned int number, unsigned int of)
        : cardless_lanes(lanes, number, of)
    {
    }
    friend CARDLESS_GROUP coalesced_group coalesced_threads();
    friend CARDLESS_GROUP coalesced_group cardless_part(unsigned int, unsigned int, unsigned int);
};

CARDLESS_GROUP coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask(), 0, 1);
}

CARDLESS_GROUP coalesced_group cardless_part(unsigned int lanes, unsigned int number,
                                             unsigned int of)
{
    return coalesced_group(lanes, number, of);
}

/* `Size` threads of a group one after the other: a power of 2, at most 32. */
template <unsigned int Size, class Parent = void> class thread_block_tile : public cardless_lanes
{
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    CARDLESS_GROUP static constexpr unsigned int size()
    {
        return Size;
    }
    CARDLESS_GROUP static constexpr unsigned int num_threads()
    {
        return Size;
    }
    CARDLESS_GROUP static unsigned int thread_rank()
    {
        return details::lane() & (Size - 1);
    }
    /* The lanes of a tile are side by side, so that one instruction finds the other lane. */
    CARDLESS_GROUP unsigned int ballot(int predicate) const
    {
        return __ballot_sync(mask, predicate) >> first();
    }
    template <class T> CARDLESS_GROUP unsigned int match_any(T value) const
    {
        return details::match_any(mask, value) >> first();
    }
    template <class T> CARDLESS_GROUP T shfl(T value, unsigned int rank) const
    {
        const details::from_lane from = {mask, first() + (rank & (Size - 1))};
        return details::exchange(value, from);
    }
    template <class T> CARDLESS_GROUP T shfl_up(T value, unsigned int distance) const
    {
        return shfl(value, thread_rank() < distance ? thread_rank() : thread_rank() - distance);
    }
    template <class T> CARDLESS_GROUP T shfl_down(T value, unsigned int distance) const
    {
        return shfl(value,
                    distance < Size - thread_rank() ? thread_rank() + distance : thread_rank());
    }
    template <class T> CARDLESS_GROUP T shfl_xor(T value, unsigned int lane_mask) const
    {
        return shfl(value, thread_rank() ^ lane_mask);
    }
    /* A tile of any group can be passed to functions that do not depend on the parent. */
    template <class Other>
    CARDLESS_GROUP thread_block_tile(const thread_block_tile<Size, Other> &other)
        : cardless_lanes(other.cardless_mask(), other.meta_group_rank(), other.meta_group_size())
    {
    }

  private:
    CARDLESS_GROUP static unsigned int first()
    {
        return details::lane() & ~(Size - 1);
    }
    CARDLESS_GROUP thread_block_tile(unsigned int lanes, unsigned int number, unsigned int of)
        : cardless_lanes(lanes, number, of)
    {
    }
    template <unsigned int Other, class OfGroup>
    friend CARDLESS_GROUP thread_block_tile<Other, OfGroup> tiled_partition(const OfGroup &);
};

} // namespace cooperative_groups
#endif

#endif
