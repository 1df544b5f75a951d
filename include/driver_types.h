/* SPDX-License-Identifier: MIT */
/* The types of the runtime API. */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__

#include <limits.h>
#include <stddef.h>

#include "host_defines.h"
#include "vector_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "cardless/runtime/base.h"
#include "cardless/runtime/error.h"
#include "cardless/runtime/device.h"
#include "cardless/runtime/memory.h"
#include "cardless/runtime/pool.h"
#include "cardless/runtime/array.h"
#include "cardless/runtime/stream.h"
#include "cardless/runtime/external.h"
#include "cardless/runtime/launch.h"
#include "cardless/runtime/graph.h"

#ifdef __cplusplus
}
#endif

#endif
