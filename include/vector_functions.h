/* SPDX-License-Identifier: MIT */
/* make_int2(x, y) and its like: vectors from their components. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define CARDLESS_FUNCTION static __inline__ __host__ __device__

#define CARDLESS_MAKE(name, type)                                                                  \
    CARDLESS_FUNCTION name##1 make_##name##1(type x)                                               \
    {                                                                                              \
        name##1 v;                                                                                 \
        v.x = x;                                                                                   \
        return v;                                                                                  \
    }                                                                                              \
    CARDLESS_FUNCTION name##2 make_##name##2(type x, type y)                                       \
    {                                                                                              \
        name##2 v;                                                                                 \
        v.x = x;                                                                                   \
        v.y = y;                                                                                   \
        return v;                                                                                  \
    }                                                                                              \
    CARDLESS_FUNCTION name##3 make_##name##3(type x, type y, type z)                               \
    {                                                                                              \
        name##3 v;                                                                                 \
        v.x = x;                                                                                   \
        v.y = y;                                                                                   \
        v.z = z;                                                                                   \
        return v;                                                                                  \
    }                                                                                              \
    CARDLESS_MAKE4(name##4, type)

#define CARDLESS_MAKE4(name, type)                                                                 \
    CARDLESS_FUNCTION name make_##name(type x, type y, type z, type w)                             \
    {                                                                                              \
        name v;                                                                                    \
        v.x = x;                                                                                   \
        v.y = y;                                                                                   \
        v.z = z;                                                                                   \
        v.w = w;                                                                                   \
        return v;                                                                                  \
    }

/* Vectors of four wide components exist with two alignments. */
#define CARDLESS_MAKE_WIDE(name, type)                                                             \
    CARDLESS_MAKE(name, type)                                                                      \
    CARDLESS_MAKE4(name##4_16a, type)                                                              \
    CARDLESS_MAKE4(name##4_32a, type)

CARDLESS_MAKE(char, signed char)
CARDLESS_MAKE(uchar, unsigned char)
CARDLESS_MAKE(short, short)
CARDLESS_MAKE(ushort, unsigned short)
CARDLESS_MAKE(int, int)
CARDLESS_MAKE(uint, unsigned int)
CARDLESS_MAKE(float, float)
CARDLESS_MAKE_WIDE(long, long)
CARDLESS_MAKE_WIDE(ulong, unsigned long)
CARDLESS_MAKE_WIDE(longlong, long long)
CARDLESS_MAKE_WIDE(ulonglong, unsigned long long)
CARDLESS_MAKE_WIDE(double, double)

#undef CARDLESS_FUNCTION
#undef CARDLESS_MAKE
#undef CARDLESS_MAKE4
#undef CARDLESS_MAKE_WIDE

#endif
