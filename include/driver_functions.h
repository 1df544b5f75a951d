/* SPDX-License-Identifier: MIT */
/* Positions, sizes and pitched pointers from their components, for copies of boxes. */
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

/* `pitch` is the distance between rows in bytes. `width` is the size of a row in elements, and
 * `height` the number of rows in a slice. */
static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch,
                                                                     size_t width, size_t height)
{
    struct cudaPitchedPtr p;
    p.ptr = pointer;
    p.pitch = pitch;
    p.xsize = width;
    p.ysize = height;
    return p;
}

static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos p;
    p.x = x;
    p.y = y;
    p.z = z;
    return p;
}

static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t width, size_t height,
                                                             size_t depth)
{
    struct cudaExtent e;
    e.width = width;
    e.height = height;
    e.depth = depth;
    return e;
}

#endif
