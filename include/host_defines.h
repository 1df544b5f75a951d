/* SPDX-License-Identifier: MIT */
/* Words of CUDA C++ for compilers of the host. They mean nothing to a C or C++ compiler; clang's
 * CUDA mode has attributes of the same names. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

/* clang's CUDA mode without NVIDIA's headers (-nocudainc): this header is the first that knows. */
#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDACC__)
#define __CUDACC__
#endif

#define CUDARTAPI
#define CUDARTAPI_CDECL

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __no_return__ __attribute__((noreturn))
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl
#define __specialization_static
#define __inline_hint__ __attribute__((nv_inline_hint))
#define __maxnreg__(n) __attribute__((maxnreg(n)))
#define __local_maxnreg__(n) __attribute__((local_maxnreg(n)))
#define __block_size__(...) __attribute__((block_size(__VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#undef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))

#ifdef __CUDACC__
#define __annotate__(a) __attribute__((a))
#define __launch_bounds__(...) __annotate__(launch_bounds(__VA_ARGS__))
#else
#define __annotate__(a)
#endif
#define __location__(a) __annotate__(a)

/* A compiler or a program may have defined these words before. */
#if defined(__CUDACC__) || !defined(__host__)
#define __host__ __location__(host)
#endif
#if defined(__CUDACC__) || !defined(__device__)
#define __device__ __location__(device)
#endif
#if defined(__CUDACC__) || !defined(__global__)
#define __global__ __location__(global)
#endif
#if defined(__CUDACC__) || !defined(__shared__)
#define __shared__ __location__(shared)
#endif
#if defined(__CUDACC__) || !defined(__constant__)
#define __constant__ __location__(constant)
#endif
#if defined(__CUDACC__) || !defined(__managed__)
#define __managed__ __location__(managed)
#endif
#if defined(__CUDACC__) || !defined(__grid_constant__)
#define __grid_constant__ __location__(grid_constant)
#endif
#if defined(__CUDACC__) || !defined(__nv_pure__)
#define __nv_pure__ __location__(nv_pure)
#endif
#if defined(__CUDACC__) || !defined(__tile__)
#define __tile__ __location__(tile)
#endif
#if defined(__CUDACC__) || !defined(__tile_global__)
#define __tile_global__ __location__(tile_global)
#endif
#if defined(__CUDACC__) || !defined(__tile_builtin__)
#define __tile_builtin__ __location__(tile_builtin)
#endif

#if defined(__CUDACC__) && !defined(__clang__)
#define __device_builtin__ __location__(device_builtin)
#define __device_builtin_texture_type__ __location__(device_builtin_texture_type)
#define __device_builtin_surface_type__ __location__(device_builtin_surface_type)
#define __cudart_builtin__ __location__(cudart_builtin)
#else
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define CARDLESS_CONSTEXPR constexpr
#else
#define CARDLESS_CONSTEXPR
#endif

#endif
