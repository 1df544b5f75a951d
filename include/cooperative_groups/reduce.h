/* SPDX-License-Identifier: MIT */
/* reduce() of a group, and the operations of reduce() and of the functions of scan.h. */
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDACC__)
#include "../cardless/runtime/groups_reduce.h"
#endif

#endif
