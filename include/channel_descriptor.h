/* SPDX-License-Identifier: MIT */
/* cudaCreateChannelDesc<T>(): the element of an array or a texture that holds a C++ type, and
 * cudaCreateChannelDesc<KIND>() for the kinds that fix the size of their components. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#ifdef __cplusplus
#include "cuda_runtime_api.h"

/* A type that no texture can have gets an element without components. */
template <class T> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

template <cudaChannelFormatKind K>
__inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define CARDLESS_CHANNELS(what, x, y, z, w, kind)                                                  \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<what>(void)        \
    {                                                                                              \
        return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind);                     \
    }

/* A scalar, and vectors of one, two and four of them. */
#define CARDLESS_VECTORS(scalar, name, bits, kind)                                                 \
    CARDLESS_CHANNELS(scalar, bits, 0, 0, 0, kind)                                                 \
    CARDLESS_CHANNELS(name##1, bits, 0, 0, 0, kind)                                                \
    CARDLESS_CHANNELS(name##2, bits, bits, 0, 0, kind)                                             \
    CARDLESS_CHANNELS(name##4, bits, bits, bits, bits, kind)

CARDLESS_VECTORS(signed char, char, 8, Signed)
CARDLESS_VECTORS(unsigned char, uchar, 8, Unsigned)
CARDLESS_VECTORS(short, short, 16, Signed)
CARDLESS_VECTORS(unsigned short, ushort, 16, Unsigned)
CARDLESS_VECTORS(int, int, 32, Signed)
CARDLESS_VECTORS(unsigned int, uint, 32, Unsigned)
CARDLESS_VECTORS(float, float, 32, Float)
#ifdef __CHAR_UNSIGNED__
CARDLESS_CHANNELS(char, 8, 0, 0, 0, Unsigned)
#else
CARDLESS_CHANNELS(char, 8, 0, 0, 0, Signed)
#endif
#ifndef __LP64__
CARDLESS_VECTORS(long, long, 32, Signed)
CARDLESS_VECTORS(unsigned long, ulong, 32, Unsigned)
#endif

#define CARDLESS_KIND(kind, x, y, z, w)                                                            \
    CARDLESS_CHANNELS(cudaChannelFormatKind##kind, x, y, z, w, kind)

CARDLESS_KIND(SignedNormalized8X1, 8, 0, 0, 0)
CARDLESS_KIND(SignedNormalized8X2, 8, 8, 0, 0)
CARDLESS_KIND(SignedNormalized8X4, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedNormalized8X1, 8, 0, 0, 0)
CARDLESS_KIND(UnsignedNormalized8X2, 8, 8, 0, 0)
CARDLESS_KIND(UnsignedNormalized8X4, 8, 8, 8, 8)
CARDLESS_KIND(SignedNormalized16X1, 16, 0, 0, 0)
CARDLESS_KIND(SignedNormalized16X2, 16, 16, 0, 0)
CARDLESS_KIND(SignedNormalized16X4, 16, 16, 16, 16)
CARDLESS_KIND(UnsignedNormalized16X1, 16, 0, 0, 0)
CARDLESS_KIND(UnsignedNormalized16X2, 16, 16, 0, 0)
CARDLESS_KIND(UnsignedNormalized16X4, 16, 16, 16, 16)
CARDLESS_KIND(UnsignedNormalized1010102, 10, 10, 10, 2)
CARDLESS_KIND(NV12, 8, 8, 8, 0)
CARDLESS_KIND(UnsignedBlockCompressed1, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed1SRGB, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed2, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed2SRGB, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed3, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed3SRGB, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed4, 8, 0, 0, 0)
CARDLESS_KIND(SignedBlockCompressed4, 8, 0, 0, 0)
CARDLESS_KIND(UnsignedBlockCompressed5, 8, 8, 0, 0)
CARDLESS_KIND(SignedBlockCompressed5, 8, 8, 0, 0)
CARDLESS_KIND(UnsignedBlockCompressed6H, 16, 16, 16, 0)
CARDLESS_KIND(SignedBlockCompressed6H, 16, 16, 16, 0)
CARDLESS_KIND(UnsignedBlockCompressed7, 8, 8, 8, 8)
CARDLESS_KIND(UnsignedBlockCompressed7SRGB, 8, 8, 8, 8)

#undef CARDLESS_KIND
#undef CARDLESS_VECTORS
#undef CARDLESS_CHANNELS

/* Half-precision numbers have no type in C++. */
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf1(void)
{
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf(void)
{
    return cudaCreateChannelDescHalf1();
}

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf2(void)
{
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf4(void)
{
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescNV12(void)
{
    return cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindNV12);
}
#endif

#endif
