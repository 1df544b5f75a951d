/* SPDX-License-Identifier: MIT */
/* The CUDA driver API of version 13.0: types by hand in cardless/abi/, prototypes made from the
 * table of entry points. */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#define CUDA_VERSION 13000

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "cardless/abi/base.h"
#include "cardless/abi/result.h"
#include "cardless/abi/device.h"
#include "cardless/abi/context.h"
#include "cardless/abi/module.h"
#include "cardless/abi/memory.h"
#include "cardless/abi/vmm.h"
#include "cardless/abi/pool.h"
#include "cardless/abi/array.h"
#include "cardless/abi/resource.h"
#include "cardless/abi/texture.h"
#include "cardless/abi/tensor.h"
#include "cardless/abi/event.h"
#include "cardless/abi/stream.h"
#include "cardless/abi/external.h"
#include "cardless/abi/launch.h"
#include "cardless/abi/graph.h"
#include "cardless/abi/graphics.h"
#include "cardless/abi/green.h"
#include "cardless/abi/misc.h"

#ifdef __cplusplus
}
#endif

#include "cuda_functions.h"

#endif
