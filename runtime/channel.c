// SPDX-License-Identifier: MIT
// Channel descriptors.
#include "channel.h"

// The kinds that fix the bits and the number of components.
static const struct fixed_kind {
    struct rt_element element;
    int x, y, z, w;
} fixed_kinds[] = {
    [cudaChannelFormatKindNV12] = {{CU_AD_FORMAT_NV12, 3}, 8, 8, 8, 0},
    [cudaChannelFormatKindUnsignedNormalized8X1] = {{CU_AD_FORMAT_UNORM_INT8X1, 1}, 8, 0, 0, 0},
    [cudaChannelFormatKindUnsignedNormalized8X2] = {{CU_AD_FORMAT_UNORM_INT8X2, 2}, 8, 8, 0, 0},
    [cudaChannelFormatKindUnsignedNormalized8X4] = {{CU_AD_FORMAT_UNORM_INT8X4, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedNormalized16X1] = {{CU_AD_FORMAT_UNORM_INT16X1, 1}, 16, 0, 0, 0},
    [cudaChannelFormatKindUnsignedNormalized16X2] = {{CU_AD_FORMAT_UNORM_INT16X2, 2}, 16, 16, 0, 0},
    [cudaChannelFormatKindUnsignedNormalized16X4] =
        {{CU_AD_FORMAT_UNORM_INT16X4, 4}, 16, 16, 16, 16},
    [cudaChannelFormatKindSignedNormalized8X1] = {{CU_AD_FORMAT_SNORM_INT8X1, 1}, 8, 0, 0, 0},
    [cudaChannelFormatKindSignedNormalized8X2] = {{CU_AD_FORMAT_SNORM_INT8X2, 2}, 8, 8, 0, 0},
    [cudaChannelFormatKindSignedNormalized8X4] = {{CU_AD_FORMAT_SNORM_INT8X4, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindSignedNormalized16X1] = {{CU_AD_FORMAT_SNORM_INT16X1, 1}, 16, 0, 0, 0},
    [cudaChannelFormatKindSignedNormalized16X2] = {{CU_AD_FORMAT_SNORM_INT16X2, 2}, 16, 16, 0, 0},
    [cudaChannelFormatKindSignedNormalized16X4] = {{CU_AD_FORMAT_SNORM_INT16X4, 4}, 16, 16, 16, 16},
    [cudaChannelFormatKindUnsignedBlockCompressed1] = {{CU_AD_FORMAT_BC1_UNORM, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed1SRGB] =
        {{CU_AD_FORMAT_BC1_UNORM_SRGB, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed2] = {{CU_AD_FORMAT_BC2_UNORM, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed2SRGB] =
        {{CU_AD_FORMAT_BC2_UNORM_SRGB, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed3] = {{CU_AD_FORMAT_BC3_UNORM, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed3SRGB] =
        {{CU_AD_FORMAT_BC3_UNORM_SRGB, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed4] = {{CU_AD_FORMAT_BC4_UNORM, 1}, 8, 0, 0, 0},
    [cudaChannelFormatKindSignedBlockCompressed4] = {{CU_AD_FORMAT_BC4_SNORM, 1}, 8, 0, 0, 0},
    [cudaChannelFormatKindUnsignedBlockCompressed5] = {{CU_AD_FORMAT_BC5_UNORM, 2}, 8, 8, 0, 0},
    [cudaChannelFormatKindSignedBlockCompressed5] = {{CU_AD_FORMAT_BC5_SNORM, 2}, 8, 8, 0, 0},
    [cudaChannelFormatKindUnsignedBlockCompressed6H] = {{CU_AD_FORMAT_BC6H_UF16, 3}, 16, 16, 16, 0},
    [cudaChannelFormatKindSignedBlockCompressed6H] = {{CU_AD_FORMAT_BC6H_SF16, 3}, 16, 16, 16, 0},
    [cudaChannelFormatKindUnsignedBlockCompressed7] = {{CU_AD_FORMAT_BC7_UNORM, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedBlockCompressed7SRGB] =
        {{CU_AD_FORMAT_BC7_UNORM_SRGB, 4}, 8, 8, 8, 8},
    [cudaChannelFormatKindUnsignedNormalized1010102] =
        {{CU_AD_FORMAT_UNORM_INT_101010_2, 4}, 10, 10, 10, 2},
};
enum {
    FIRST_FIXED_KIND = cudaChannelFormatKindNV12,
    KINDS = sizeof(fixed_kinds) / sizeof(fixed_kinds[0]),
};

// The formats whose components have all the same bits, in any number that a texel can have.
static const struct plain_format {
    CUarray_format format;
    enum cudaChannelFormatKind kind;
    int bits;
} plain_formats[] = {
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};
enum { PLAIN_FORMATS = sizeof(plain_formats) / sizeof(plain_formats[0]) };

// The number of components: 1, 2 or 4 of equal size, without gaps; otherwise 0.
static unsigned int channel_count(const struct cudaChannelFormatDesc *d)
{
    if (!d->y && !d->z && !d->w)
        return 1;
    if (d->y == d->x && !d->z && !d->w)
        return 2;
    return d->y == d->x && d->z == d->x && d->w == d->x ? 4 : 0;
}

static cudaError_t channel_fail(const struct cudaChannelFormatDesc *d)
{
    return rt_fail(cudaErrorInvalidChannelDescriptor,
                   "the channel description (%d, %d, %d, %d bits of kind %d) is not a format of "
                   "elements; use 1, 2 or 4 components of the same size, such as "
                   "cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat)",
                   d->x, d->y, d->z, d->w, (int)d->f);
}

cudaError_t rt_element_of(const struct cudaChannelFormatDesc *desc, struct rt_element *element)
{
    const unsigned int kind = desc->f;
    if (kind >= FIRST_FIXED_KIND && kind < KINDS) {
        const struct fixed_kind *k = &fixed_kinds[kind];
        if (desc->x != k->x || desc->y != k->y || desc->z != k->z || desc->w != k->w)
            return channel_fail(desc);
        *element = k->element;
        return cudaSuccess;
    }
    element->channels = channel_count(desc);
    for (int i = 0; i < PLAIN_FORMATS && element->channels; i++)
        if (plain_formats[i].kind == desc->f && plain_formats[i].bits == desc->x) {
            element->format = plain_formats[i].format;
            return cudaSuccess;
        }
    return channel_fail(desc);
}

cudaError_t rt_channel_of(struct rt_element element, struct cudaChannelFormatDesc *desc)
{
    for (int i = 0; i < PLAIN_FORMATS; i++)
        if (plain_formats[i].format == element.format) {
            const int bits = plain_formats[i].bits;
            *desc = rt_cudaCreateChannelDesc(
                bits, element.channels > 1 ? bits : 0, element.channels > 2 ? bits : 0,
                element.channels > 3 ? bits : 0, plain_formats[i].kind);
            return cudaSuccess;
        }
    for (int kind = FIRST_FIXED_KIND; kind < KINDS; kind++) {
        const struct fixed_kind *k = &fixed_kinds[kind];
        if (k->element.format == element.format) {
            *desc =
                rt_cudaCreateChannelDesc(k->x, k->y, k->z, k->w, (enum cudaChannelFormatKind)kind);
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidChannelDescriptor;
}

size_t rt_element_bytes(struct rt_element element)
{
    struct cudaChannelFormatDesc d;
    switch ((int)element.format) {
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB:
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM:
        return 8;
    case CU_AD_FORMAT_BC2_UNORM:
    case CU_AD_FORMAT_BC2_UNORM_SRGB:
    case CU_AD_FORMAT_BC3_UNORM:
    case CU_AD_FORMAT_BC3_UNORM_SRGB:
    case CU_AD_FORMAT_BC5_UNORM:
    case CU_AD_FORMAT_BC5_SNORM:
    case CU_AD_FORMAT_BC6H_UF16:
    case CU_AD_FORMAT_BC6H_SF16:
    case CU_AD_FORMAT_BC7_UNORM:
    case CU_AD_FORMAT_BC7_UNORM_SRGB:
        return 16;
    case CU_AD_FORMAT_NV12:
        return 1;
    default:
        return rt_channel_of(element, &d) ? 0 : (size_t)(d.x + d.y + d.z + d.w) / 8;
    }
}

struct cudaChannelFormatDesc rt_cudaCreateChannelDesc(int x, int y, int z, int w,
                                                      enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

cudaError_t rt_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!array)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument array is NULL");
    RT_TRY(rt_cu.cuArray3DGetDescriptor(&d, (CUarray)array));
    return rt_channel_of((struct rt_element){d.Format, d.NumChannels}, desc);
}

cudaError_t rt_cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                    const struct cudaChannelFormatDesc *fmtDesc,
                                                    int device)
{
    struct rt_element element;
    cudaError_t r = rt_element_of(fmtDesc, &element);
    return r ? r
             : rt_error(rt_cu.cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, element.format,
                                                                 element.channels, device));
}
