/* SPDX-License-Identifier: MIT */
/* The CUDA runtime API for C++: the C functions, vectors, and overloads with types. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

/* clang's CUDA mode without NVIDIA's headers (-nocudainc): this header is the first that knows. */
#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__
#endif

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#include "cardless/runtime/clang_device.h"
#include "cardless/runtime/typed_kernel.h"
#include "cardless/runtime/typed_memory.h"
#include "cardless/runtime/typed_object.h"
#include "cardless/runtime/typed_occupancy.h"
#include "cardless/runtime/typed_symbol.h"

#endif
