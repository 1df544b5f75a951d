/* SPDX-License-Identifier: MIT */
/* Complex numbers, for C programs and kernels. A number is a vector: x is its real part, and y its
 * imaginary part. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

#define CARDLESS_COMPLEX static __inline__ __host__ __device__

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CARDLESS_COMPLEX_FUNCTIONS(type, real, suffix, absolute)                                   \
    CARDLESS_COMPLEX real cuCreal##suffix(type a)                                                  \
    {                                                                                              \
        return a.x;                                                                                \
    }                                                                                              \
    CARDLESS_COMPLEX real cuCimag##suffix(type a)                                                  \
    {                                                                                              \
        return a.y;                                                                                \
    }                                                                                              \
    CARDLESS_COMPLEX type make_##type(real re, real im)                                            \
    {                                                                                              \
        type z;                                                                                    \
        z.x = re;                                                                                  \
        z.y = im;                                                                                  \
        return z;                                                                                  \
    }                                                                                              \
    CARDLESS_COMPLEX type cuConj##suffix(type a)                                                   \
    {                                                                                              \
        return make_##type(a.x, -a.y);                                                             \
    }                                                                                              \
    CARDLESS_COMPLEX type cuCadd##suffix(type a, type b)                                           \
    {                                                                                              \
        return make_##type(a.x + b.x, a.y + b.y);                                                  \
    }                                                                                              \
    CARDLESS_COMPLEX type cuCsub##suffix(type a, type b)                                           \
    {                                                                                              \
        return make_##type(a.x - b.x, a.y - b.y);                                                  \
    }                                                                                              \
    CARDLESS_COMPLEX type cuCmul##suffix(type a, type b)                                           \
    {                                                                                              \
        return make_##type(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                          \
    }                                                                                              \
    /* Both numbers are scaled by the size of b, so that its square neither overflows nor          \
     * underflows. */                                                                              \
    CARDLESS_COMPLEX type cuCdiv##suffix(type a, type b)                                           \
    {                                                                                              \
        const real scale = 1 / (absolute(b.x) + absolute(b.y));                                    \
        const type n = make_##type(a.x * scale, a.y * scale);                                      \
        const type d = make_##type(b.x * scale, b.y * scale);                                      \
        const real inverse = 1 / (d.x * d.x + d.y * d.y);                                          \
        return make_##type((n.x * d.x + n.y * d.y) * inverse, (n.y * d.x - n.x * d.y) * inverse);  \
    }                                                                                              \
    /* a * b + c, each part of it by multiply-and-add. */                                          \
    CARDLESS_COMPLEX type cuCfma##suffix(type a, type b, type c)                                   \
    {                                                                                              \
        const real re = a.x * b.x + c.x, im = a.x * b.y + c.y;                                     \
        return make_##type(re - a.y * b.y, im + a.y * b.x);                                        \
    }

CARDLESS_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, __builtin_fabsf)
CARDLESS_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , __builtin_fabs)
#undef CARDLESS_COMPLEX_FUNCTIONS

/* The magnitude, without overflow or underflow of the squares. */
CARDLESS_COMPLEX float cuCabsf(cuFloatComplex a)
{
    return hypotf(a.x, a.y);
}

CARDLESS_COMPLEX double cuCabs(cuDoubleComplex a)
{
    return hypot(a.x, a.y);
}

CARDLESS_COMPLEX cuComplex make_cuComplex(float x, float y)
{
    return make_cuFloatComplex(x, y);
}

CARDLESS_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a)
{
    return make_cuDoubleComplex(a.x, a.y);
}

CARDLESS_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a)
{
    return make_cuFloatComplex((float)a.x, (float)a.y);
}

#undef CARDLESS_COMPLEX

#endif
