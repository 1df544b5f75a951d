/* SPDX-License-Identifier: MIT */
/* Device code in clang's CUDA mode without NVIDIA's headers (-nocudainc): built-in variables,
 * barriers, fences, votes, shuffles, atomics, and the functions that the driver provides.
 * clang_math.h has those that compute. */
#ifndef CARDLESS_RUNTIME_CLANG_DEVICE_H
#define CARDLESS_RUNTIME_CLANG_DEVICE_H

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include "../../vector_types.h"
#include <__clang_cuda_builtin_vars.h>

/* Code that the compiler makes for <<<>>> calls these two functions of the host. */
extern "C" unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                                    size_t sharedMem = 0, void *stream = 0);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                                  void *stream);

#define CARDLESS_DEVICE static __inline__ __attribute__((device, always_inline))

#define CARDLESS_BUILTIN(name)                                                                     \
    __attribute__((device)) inline __cuda_builtin_##name##_t::operator dim3() const                \
    {                                                                                              \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    __attribute__((device)) inline __cuda_builtin_##name##_t::operator uint3() const               \
    {                                                                                              \
        uint3 v = {x, y, z};                                                                       \
        return v;                                                                                  \
    }
CARDLESS_BUILTIN(threadIdx)
CARDLESS_BUILTIN(blockIdx)
CARDLESS_BUILTIN(blockDim)
CARDLESS_BUILTIN(gridDim)
#undef CARDLESS_BUILTIN

/* ---- functions of the driver */

extern "C" {
__attribute__((device)) int vprintf(const char *format, const char *arguments);
__attribute__((device)) int printf(const char *format, ...);
__attribute__((device)) void *malloc(size_t size) __attribute__((nothrow, malloc));
__attribute__((device)) void free(void *pointer) __attribute__((nothrow));
__attribute__((device)) void __assertfail(const char *message, const char *file, unsigned line,
                                          const char *function, size_t charSize);
/* The compiler makes loops of these two. */
CARDLESS_DEVICE void *memcpy(void *to, const void *from, size_t size)
{
    __builtin_memcpy(to, from, size);
    return to;
}
CARDLESS_DEVICE void *memset(void *to, int value, size_t size)
{
    __builtin_memset(to, value, size);
    return to;
}
/* The form that assert() of the C library calls. */
CARDLESS_DEVICE void __assert_fail(const char *message, const char *file, unsigned line,
                                   const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
}

/* ---- barriers, fences, votes, shuffles. `mask` names the lanes of the warp that take part.
 * __syncthreads is known to the compiler. */

CARDLESS_DEVICE void __syncwarp(unsigned int mask = 0xffffffff)
{
    __nvvm_bar_warp_sync(mask);
}

/* Barriers of the block that also combine the threads' values. */
CARDLESS_DEVICE int __syncthreads_count(int predicate)
{
    return __nvvm_bar0_popc(predicate);
}

CARDLESS_DEVICE int __syncthreads_and(int predicate)
{
    return __nvvm_bar0_and(predicate);
}

CARDLESS_DEVICE int __syncthreads_or(int predicate)
{
    return __nvvm_bar0_or(predicate);
}

CARDLESS_DEVICE void __threadfence_block(void)
{
    __nvvm_membar_cta();
}

CARDLESS_DEVICE void __threadfence(void)
{
    __nvvm_membar_gl();
}

CARDLESS_DEVICE void __threadfence_system(void)
{
    __nvvm_membar_sys();
}

CARDLESS_DEVICE unsigned int __activemask(void)
{
    unsigned int mask;
    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

CARDLESS_DEVICE int __all_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_all_sync(mask, predicate);
}

CARDLESS_DEVICE int __any_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_any_sync(mask, predicate);
}

CARDLESS_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_ballot_sync(mask, predicate);
}

CARDLESS_DEVICE unsigned int __match_any_sync(unsigned int mask, unsigned int value)
{
    return __nvvm_match_any_sync_i32(mask, value);
}

/* The last argument of the instruction holds the bounds of a segment of `width` lanes. */
#define CARDLESS_SHUFFLE_HALVES(name, lane, type)                                                  \
    CARDLESS_DEVICE type name(unsigned int mask, type value, lane, int width = 32)                 \
    {                                                                                              \
        int halves[2];                                                                             \
        __builtin_memcpy(halves, &value, sizeof value);                                            \
        halves[0] = name(mask, halves[0], by, width);                                              \
        halves[1] = name(mask, halves[1], by, width);                                              \
        __builtin_memcpy(&value, halves, sizeof value);                                            \
        return value;                                                                              \
    }
#define CARDLESS_SHUFFLE(name, instruction, lane, clamp)                                           \
    CARDLESS_DEVICE int name(unsigned int mask, int value, lane, int width = 32)                   \
    {                                                                                              \
        return __nvvm_shfl_sync_##instruction##_i32(mask, value, by, (32 - width) << 8 | clamp);   \
    }                                                                                              \
    CARDLESS_DEVICE unsigned int name(unsigned int mask, unsigned int value, lane, int width = 32) \
    {                                                                                              \
        return (unsigned int)name(mask, (int)value, by, width);                                    \
    }                                                                                              \
    CARDLESS_DEVICE float name(unsigned int mask, float value, lane, int width = 32)               \
    {                                                                                              \
        return __nvvm_shfl_sync_##instruction##_f32(mask, value, by, (32 - width) << 8 | clamp);   \
    }                                                                                              \
    CARDLESS_SHUFFLE_HALVES(name, lane, long)                                                      \
    CARDLESS_SHUFFLE_HALVES(name, lane, unsigned long)                                             \
    CARDLESS_SHUFFLE_HALVES(name, lane, long long)                                                 \
    CARDLESS_SHUFFLE_HALVES(name, lane, unsigned long long)                                        \
    CARDLESS_SHUFFLE_HALVES(name, lane, double)
CARDLESS_SHUFFLE(__shfl_sync, idx, int by, 31)
CARDLESS_SHUFFLE(__shfl_up_sync, up, unsigned int by, 0)
CARDLESS_SHUFFLE(__shfl_down_sync, down, unsigned int by, 31)
CARDLESS_SHUFFLE(__shfl_xor_sync, bfly, int by, 31)
#undef CARDLESS_SHUFFLE
#undef CARDLESS_SHUFFLE_HALVES

/* ---- atomics: relaxed, for all threads of the device */

#define CARDLESS_ATOMIC(name, type, operation)                                                     \
    CARDLESS_DEVICE type name(type *address, type value)                                           \
    {                                                                                              \
        return operation(address, value, __ATOMIC_RELAXED);                                        \
    }
#define CARDLESS_ATOMICS(name, operation)                                                          \
    CARDLESS_ATOMIC(name, int, operation)                                                          \
    CARDLESS_ATOMIC(name, unsigned int, operation)                                                 \
    CARDLESS_ATOMIC(name, unsigned long long, operation)
CARDLESS_ATOMICS(atomicAdd, __atomic_fetch_add)
CARDLESS_ATOMICS(atomicSub, __atomic_fetch_sub)
CARDLESS_ATOMICS(atomicMin, __atomic_fetch_min)
CARDLESS_ATOMICS(atomicMax, __atomic_fetch_max)
CARDLESS_ATOMICS(atomicAnd, __atomic_fetch_and)
CARDLESS_ATOMICS(atomicOr, __atomic_fetch_or)
CARDLESS_ATOMICS(atomicXor, __atomic_fetch_xor)
CARDLESS_ATOMICS(atomicExch, __atomic_exchange_n)
#undef CARDLESS_ATOMICS
#undef CARDLESS_ATOMIC

CARDLESS_DEVICE float atomicAdd(float *address, float value)
{
    return __nvvm_atom_add_gen_f(address, value);
}

CARDLESS_DEVICE double atomicAdd(double *address, double value)
{
    return __nvvm_atom_add_gen_d(address, value);
}

/* Counts up to `limit` and then from 0, or down to 0 and then from `limit`. */
CARDLESS_DEVICE unsigned int atomicInc(unsigned int *address, unsigned int limit)
{
    return __nvvm_atom_inc_gen_ui(address, limit);
}

CARDLESS_DEVICE unsigned int atomicDec(unsigned int *address, unsigned int limit)
{
    return __nvvm_atom_dec_gen_ui(address, limit);
}

#define CARDLESS_ATOMIC_CAS(type)                                                                  \
    CARDLESS_DEVICE type atomicCAS(type *address, type expected, type value)                       \
    {                                                                                              \
        __atomic_compare_exchange_n(address, &expected, value, 0, __ATOMIC_RELAXED,                \
                                    __ATOMIC_RELAXED);                                             \
        return expected;                                                                           \
    }
CARDLESS_ATOMIC_CAS(int)
CARDLESS_ATOMIC_CAS(unsigned int)
CARDLESS_ATOMIC_CAS(unsigned long long)
#undef CARDLESS_ATOMIC_CAS

/* ---- time, reads through the texture cache, and the end of a kernel with an error */

CARDLESS_DEVICE long long clock64(void)
{
    return (long long)__nvvm_read_ptx_sreg_clock64();
}

CARDLESS_DEVICE void __nanosleep(unsigned int ns)
{
    __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns));
}

CARDLESS_DEVICE void __trap(void)
{
    __asm__ volatile("trap;");
}

/* That cache changes no result. */
template <class T> CARDLESS_DEVICE T __ldg(const T *address)
{
    return *address;
}
#undef CARDLESS_DEVICE
#endif

#endif
