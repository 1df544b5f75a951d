// SPDX-License-Identifier: MIT
// Graphics objects of the virtual graphics API, registered with CUDA.
#pragma once
#include <cardless.h>

#include "../harness.h"

static inline cardlessBuffer virtual_buffer(size_t size)
{
    cardlessBuffer b;
    MUST(cardlessBufferCreate(&b, size));
    return b;
}

static inline CUgraphicsResource registered(cardlessBuffer buffer, unsigned flags)
{
    CUgraphicsResource r;
    MUST(cardlessRegisterBuffer(&r, buffer, flags));
    return r;
}

static inline cardlessTexture virtual_texture(cardlessTextureKind kind, unsigned width,
                                              unsigned height, unsigned depth, unsigned layers,
                                              unsigned levels)
{
    cardlessTexture t;
    cardlessTextureDesc d = {kind, width, height, depth, layers, levels, CU_AD_FORMAT_UNSIGNED_INT8,
                             4};
    MUST(cardlessTextureCreate(&t, &d));
    return t;
}

static inline CUgraphicsResource registered_texture(cardlessTexture texture, unsigned flags)
{
    CUgraphicsResource r;
    MUST(cardlessRegisterTexture(&r, texture, flags));
    return r;
}

static inline CUdeviceptr mapped_pointer(CUgraphicsResource r)
{
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &r, NULL));
    MUST(cuGraphicsResourceGetMappedPointer(&p, &size, r));
    return p;
}

// Returns a byte of a buffer, as graphics reads it.
static inline unsigned char byte_of(cardlessBuffer b, size_t at)
{
    unsigned char byte = 0;
    MUST(cardlessReadBuffer(b, at, 1, &byte));
    return byte;
}

// Copies a box of an array to or from packed memory of the program.
static inline CUresult copy_array(CUarray array, void *host, bool to_array, size_t width_B,
                                  size_t height)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = width_B;
    c.Height = height;
    c.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcArray = c.dstArray = array;
    c.srcHost = c.dstHost = host;
    c.srcPitch = c.dstPitch = width_B;
    return cuMemcpy2D(&c);
}

static inline CUstream stream(void)
{
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}
