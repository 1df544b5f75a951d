/* SPDX-License-Identifier: MIT */
/* The functions of cooperative_groups/scan.h. */
#ifndef CARDLESS_RUNTIME_GROUPS_SCAN_H
#define CARDLESS_RUNTIME_GROUPS_SCAN_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "groups_reduce.h"

namespace cooperative_groups
{

/* Each thread gets the result of the values of the ranks up to its own. */
template <class Group, class T, class Operation>
CARDLESS_GROUP T inclusive_scan(const Group &g, T value, Operation operation)
{
    const unsigned int rank = g.thread_rank(), size = g.size();
    for (unsigned int distance = 1; distance < size; distance *= 2) {
        const T other = g.shfl_up(value, distance);
        if (rank >= distance)
            value = operation(other, value);
    }
    return value;
}

template <class Group, class T> CARDLESS_GROUP T inclusive_scan(const Group &g, T value)
{
    return inclusive_scan(g, value, plus<T>());
}

/* The same without its own. The first thread gets 0, whatever the operation is. */
template <class Group, class T, class Operation>
CARDLESS_GROUP T exclusive_scan(const Group &g, T value, Operation operation)
{
    const T before = g.shfl_up(inclusive_scan(g, value, operation), 1);
    return g.thread_rank() ? before : T();
}

template <class Group, class T> CARDLESS_GROUP T exclusive_scan(const Group &g, T value)
{
    return exclusive_scan(g, value, plus<T>());
}

} // namespace cooperative_groups
#endif

#endif
