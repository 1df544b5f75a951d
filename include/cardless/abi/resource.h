/* SPDX-License-Identifier: MIT */
/* The kinds of memory a texture, a surface or a sparse mapping can refer to. */
#ifndef CARDLESS_ABI_RESOURCE_H
#define CARDLESS_ABI_RESOURCE_H

typedef enum CUresourcetype_enum {
    CU_RESOURCE_TYPE_ARRAY = 0,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    CU_RESOURCE_TYPE_LINEAR = 2,
    CU_RESOURCE_TYPE_PITCH2D = 3
} CUresourcetype;

#endif
