/* SPDX-License-Identifier: MIT */
/* reduce() and the operations of cooperative_groups/reduce.h. */
#ifndef CARDLESS_RUNTIME_GROUPS_REDUCE_H
#define CARDLESS_RUNTIME_GROUPS_REDUCE_H

#if defined(__cplusplus) && defined(__CUDACC__)
#include "groups_partition.h"

namespace cooperative_groups
{

#define CARDLESS_OPERATION(name, expression)                                                       \
    template <class T = void> struct name {                                                        \
        CARDLESS_GROUP T operator()(const T a, const T b) const                                    \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> CARDLESS_GROUP T operator()(const T a, const T b) const                 \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };
CARDLESS_OPERATION(plus, a + b)
CARDLESS_OPERATION(less, a < b ? a : b)
CARDLESS_OPERATION(greater, a > b ? a : b)
CARDLESS_OPERATION(bit_and, a &b)
CARDLESS_OPERATION(bit_or, a | b)
CARDLESS_OPERATION(bit_xor, a ^ b)
#undef CARDLESS_OPERATION

/* Every thread gets the result. In each round the second half of the values goes to the first. */
template <class Group, class T, class Operation>
CARDLESS_GROUP T reduce(const Group &g, T value, Operation operation)
{
    const unsigned int rank = g.thread_rank();
    unsigned int left = g.size();
    while (left > 1) {
        const unsigned int half = (left + 1) / 2;
        const T other = g.shfl_down(value, half);
        if (rank + half < left)
            value = operation(value, other);
        left = half;
    }
    return g.shfl(value, 0);
}

} // namespace cooperative_groups
#endif

#endif
