/* SPDX-License-Identifier: MIT */
/* Short vectors: char1 to double4, and dim3, the size of a grid or a block. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

/* Vectors of one to three components of a type. Two components are aligned to their whole size, so
 * that the GPU reads them in one access; three are not. */
#define CARDLESS_VECTORS(name, type)                                                               \
    struct name##1                                                                                 \
    {                                                                                              \
        type x;                                                                                    \
    };                                                                                             \
    struct __align__(2 * sizeof(type)) name##2                                                     \
    {                                                                                              \
        type x, y;                                                                                 \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        type x, y, z;                                                                              \
    };                                                                                             \
    typedef struct name##1 name##1;                                                                \
    typedef struct name##2 name##2;                                                                \
    typedef struct name##3 name##3

#define CARDLESS_VECTOR4(name, type, alignment)                                                    \
    struct __align__(alignment) name                                                               \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    typedef struct name name

/* Four components fill at most one access of 16 bytes. Those that are wider exist with both
 * alignments; the name without a suffix has the smaller one. */
#define CARDLESS_WIDE_VECTORS(name, type)                                                          \
    CARDLESS_VECTORS(name, type);                                                                  \
    CARDLESS_VECTOR4(name##4, type, 16);                                                           \
    CARDLESS_VECTOR4(name##4_16a, type, 16);                                                       \
    CARDLESS_VECTOR4(name##4_32a, type, 32)

CARDLESS_VECTORS(char, signed char);
CARDLESS_VECTOR4(char4, signed char, 4);
CARDLESS_VECTORS(uchar, unsigned char);
CARDLESS_VECTOR4(uchar4, unsigned char, 4);
CARDLESS_VECTORS(short, short);
CARDLESS_VECTOR4(short4, short, 8);
CARDLESS_VECTORS(ushort, unsigned short);
CARDLESS_VECTOR4(ushort4, unsigned short, 8);
CARDLESS_VECTORS(int, int);
CARDLESS_VECTOR4(int4, int, 16);
CARDLESS_VECTORS(uint, unsigned int);
CARDLESS_VECTOR4(uint4, unsigned int, 16);
CARDLESS_VECTORS(float, float);
CARDLESS_VECTOR4(float4, float, 16);
CARDLESS_WIDE_VECTORS(long, long);
CARDLESS_WIDE_VECTORS(ulong, unsigned long);
CARDLESS_WIDE_VECTORS(longlong, long long);
CARDLESS_WIDE_VECTORS(ulonglong, unsigned long long);
CARDLESS_WIDE_VECTORS(double, double);

#undef CARDLESS_VECTORS
#undef CARDLESS_VECTOR4
#undef CARDLESS_WIDE_VECTORS

/* The size of a grid in blocks, or of a block in threads. In C++, missing components are 1. */
struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ CARDLESS_CONSTEXPR dim3(unsigned int vx = 1, unsigned int vy = 1,
                                                unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
    __host__ __device__ CARDLESS_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
#if __cplusplus >= 201103L
    __host__ __device__ constexpr operator uint3(void) const
    {
        return uint3{x, y, z};
    }
#else
    __host__ __device__ operator uint3(void) const
    {
        uint3 v = {x, y, z};
        return v;
    }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
