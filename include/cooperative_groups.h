/* SPDX-License-Identifier: MIT */
/* Groups of threads in kernels (namespace cooperative_groups): the grid, the block, tiles of it,
 * and the threads of a warp that run together. cooperative_groups/reduce.h and scan.h reduce
 * and scan the values of a group's threads. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)
#include "cardless/runtime/groups.h"
#include "cardless/runtime/groups_warp.h"
#include "cardless/runtime/groups_partition.h"
#endif

#endif
