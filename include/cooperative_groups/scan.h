/* SPDX-License-Identifier: MIT */
/* inclusive_scan() and exclusive_scan() of a group. */
#ifndef _CG_SCAN_H
#define _CG_SCAN_H

#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDACC__)
#include "../cardless/runtime/groups_scan.h"
#endif

#endif
