/* SPDX-License-Identifier: MIT */
/* The CUDA runtime API for C++: the C functions, vectors, and overloads with types. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#include "cardless/runtime/clang_device.h"
#include "cardless/runtime/clang_math.h"
#include "cardless/runtime/typed_kernel.h"
#include "cardless/runtime/typed_memory.h"
#include "cardless/runtime/typed_object.h"
#include "cardless/runtime/typed_occupancy.h"
#include "cardless/runtime/typed_symbol.h"

#endif
