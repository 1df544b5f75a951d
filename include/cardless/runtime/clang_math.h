/* SPDX-License-Identifier: MIT */
/* Device functions in clang's CUDA mode that are one instruction or a few: integers, bits,
 * conversions, arithmetic with a rounding mode, square roots, and the fast approximations. Other
 * mathematical functions (sinf, expf, powf …) need NVIDIA's libdevice. */
#ifndef CARDLESS_RUNTIME_CLANG_MATH_H
#define CARDLESS_RUNTIME_CLANG_MATH_H

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#define CARDLESS_DEVICE static __inline__ __attribute__((device, always_inline))
/* A function of one expression. */
#define CARDLESS_RETURN(type, name, arguments, expression)                                         \
    CARDLESS_DEVICE type name arguments                                                            \
    {                                                                                              \
        return expression;                                                                         \
    }

/* ---- integers */

#define CARDLESS_MIN_MAX(type)                                                                     \
    static __inline__ __attribute__((host, device)) type min(type a, type b)                       \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static __inline__ __attribute__((host, device)) type max(type a, type b)                       \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
CARDLESS_MIN_MAX(int)
CARDLESS_MIN_MAX(unsigned int)
CARDLESS_MIN_MAX(long)
CARDLESS_MIN_MAX(unsigned long)
CARDLESS_MIN_MAX(long long)
CARDLESS_MIN_MAX(unsigned long long)
#undef CARDLESS_MIN_MAX

CARDLESS_RETURN(int, abs, (int x), x < 0 ? -x : x)
CARDLESS_RETURN(long, labs, (long x), x < 0 ? -x : x)
CARDLESS_RETURN(long long, llabs, (long long x), x < 0 ? -x : x)
CARDLESS_RETURN(int, __popc, (unsigned int x), __builtin_popcount(x))
CARDLESS_RETURN(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
CARDLESS_RETURN(int, __clz, (int x), x ? __builtin_clz((unsigned int)x) : 32)
CARDLESS_RETURN(int, __clzll, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
CARDLESS_RETURN(int, __ffs, (int x), __builtin_ffs(x))
CARDLESS_RETURN(int, __ffsll, (long long x), __builtin_ffsll(x))
CARDLESS_RETURN(unsigned int, __brev, (unsigned int x), __builtin_bitreverse32(x))
CARDLESS_RETURN(unsigned long long, __brevll, (unsigned long long x), __builtin_bitreverse64(x))
CARDLESS_RETURN(int, __mulhi, (int a, int b), (int)(((long long)a * b) >> 32))
CARDLESS_RETURN(unsigned int, __umulhi, (unsigned int a, unsigned int b),
                (unsigned int)(((unsigned long long)a * b) >> 32))
CARDLESS_RETURN(long long, __mul64hi, (long long a, long long b), __nvvm_mulhi_ll(a, b))
CARDLESS_RETURN(unsigned long long, __umul64hi, (unsigned long long a, unsigned long long b),
                __nvvm_mulhi_ull(a, b))
CARDLESS_RETURN(unsigned int, __byte_perm, (unsigned int a, unsigned int b, unsigned int selector),
                (unsigned int)__nvvm_prmt(a, b, selector))

/* ---- the bits of a number */

#define CARDLESS_BITS(from, to, name)                                                              \
    CARDLESS_DEVICE to name(from value)                                                            \
    {                                                                                              \
        to bits;                                                                                   \
        __builtin_memcpy(&bits, &value, sizeof bits);                                              \
        return bits;                                                                               \
    }
CARDLESS_BITS(float, int, __float_as_int)
CARDLESS_BITS(float, unsigned int, __float_as_uint)
CARDLESS_BITS(int, float, __int_as_float)
CARDLESS_BITS(unsigned int, float, __uint_as_float)
CARDLESS_BITS(double, long long, __double_as_longlong)
CARDLESS_BITS(long long, double, __longlong_as_double)
#undef CARDLESS_BITS

/* ---- arithmetic and conversions, rounded to the nearest (rn), to zero (rz), up (ru), down (rd) */

#define CARDLESS_ROUNDED(name, mode)                                                               \
    CARDLESS_RETURN(float, __fadd_##name, (float a, float b), __nvvm_add_##mode##_f(a, b))         \
    CARDLESS_RETURN(float, __fsub_##name, (float a, float b), __nvvm_add_##mode##_f(a, -b))        \
    CARDLESS_RETURN(float, __fmul_##name, (float a, float b), __nvvm_mul_##mode##_f(a, b))         \
    CARDLESS_RETURN(float, __fdiv_##name, (float a, float b), __nvvm_div_##mode##_f(a, b))         \
    CARDLESS_RETURN(float, __fsqrt_##name, (float x), __nvvm_sqrt_##mode##_f(x))                   \
    CARDLESS_RETURN(float, __frcp_##name, (float x), __nvvm_rcp_##mode##_f(x))                     \
    CARDLESS_RETURN(float, __fmaf_##name, (float a, float b, float c),                             \
                    __nvvm_fma_##mode##_f(a, b, c))                                                \
    CARDLESS_RETURN(double, __dadd_##name, (double a, double b), __nvvm_add_##mode##_d(a, b))      \
    CARDLESS_RETURN(double, __dmul_##name, (double a, double b), __nvvm_mul_##mode##_d(a, b))      \
    CARDLESS_RETURN(double, __ddiv_##name, (double a, double b), __nvvm_div_##mode##_d(a, b))      \
    CARDLESS_RETURN(double, __dsqrt_##name, (double x), __nvvm_sqrt_##mode##_d(x))                 \
    CARDLESS_RETURN(double, __fma_##name, (double a, double b, double c),                          \
                    __nvvm_fma_##mode##_d(a, b, c))                                                \
    CARDLESS_RETURN(int, __float2int_##name, (float x), __nvvm_f2i_##mode(x))                      \
    CARDLESS_RETURN(unsigned int, __float2uint_##name, (float x),                                  \
                    (unsigned int)__nvvm_f2ui_##mode(x))                                           \
    CARDLESS_RETURN(int, __double2int_##name, (double x), __nvvm_d2i_##mode(x))                    \
    CARDLESS_RETURN(float, __double2float_##name, (double x), __nvvm_d2f_##mode(x))                \
    CARDLESS_RETURN(float, __int2float_##name, (int x), __nvvm_i2f_##mode(x))                      \
    CARDLESS_RETURN(float, __uint2float_##name, (unsigned int x), __nvvm_ui2f_##mode(x))
CARDLESS_ROUNDED(rn, rn)
CARDLESS_ROUNDED(rz, rz)
CARDLESS_ROUNDED(ru, rp)
CARDLESS_ROUNDED(rd, rm)
#undef CARDLESS_ROUNDED

/* ---- functions of the C library that are instructions */

#define CARDLESS_OF_ONE(name)                                                                      \
    CARDLESS_RETURN(float, name##f, (float x), __builtin_##name##f(x))                             \
    CARDLESS_RETURN(double, name, (double x), __builtin_##name(x))
CARDLESS_OF_ONE(fabs)
CARDLESS_OF_ONE(floor)
CARDLESS_OF_ONE(ceil)
CARDLESS_OF_ONE(trunc)
CARDLESS_OF_ONE(rint)
CARDLESS_OF_ONE(nearbyint)
#undef CARDLESS_OF_ONE
#define CARDLESS_OF_TWO(name)                                                                      \
    CARDLESS_RETURN(float, name##f, (float a, float b), __builtin_##name##f(a, b))                 \
    CARDLESS_RETURN(double, name, (double a, double b), __builtin_##name(a, b))
CARDLESS_OF_TWO(fmin)
CARDLESS_OF_TWO(fmax)
CARDLESS_OF_TWO(copysign)
#undef CARDLESS_OF_TWO
CARDLESS_RETURN(float, sqrtf, (float x), __nvvm_sqrt_rn_f(x))
CARDLESS_RETURN(double, sqrt, (double x), __nvvm_sqrt_rn_d(x))
CARDLESS_RETURN(float, fmaf, (float a, float b, float c), __nvvm_fma_rn_f(a, b, c))
CARDLESS_RETURN(double, fma, (double a, double b, double c), __nvvm_fma_rn_d(a, b, c))
CARDLESS_RETURN(float, rsqrtf, (float x), __nvvm_rsqrt_approx_f(x))

/* ---- fast approximations */

CARDLESS_RETURN(float, __sinf, (float x), __nvvm_sin_approx_f(x))
CARDLESS_RETURN(float, __cosf, (float x), __nvvm_cos_approx_f(x))
CARDLESS_RETURN(float, __log2f, (float x), __nvvm_lg2_approx_f(x))
CARDLESS_RETURN(float, __logf, (float x), 0.693147181f * __nvvm_lg2_approx_f(x))
CARDLESS_RETURN(float, __expf, (float x), __nvvm_ex2_approx_f(1.44269504f * x))
CARDLESS_RETURN(float, __powf, (float x, float y), __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(x) * y))
CARDLESS_RETURN(float, __fdividef, (float a, float b), __nvvm_div_approx_f(a, b))
CARDLESS_RETURN(float, __saturatef, (float x), __nvvm_saturate_f(x))

#undef CARDLESS_RETURN
#undef CARDLESS_DEVICE
#endif

#endif
