// SPDX-License-Identifier: MIT
// The fuzz target `texture`: the rules of the manual and of the recordings for descriptors.
#include "texture_model.h"

bool tx_as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

// "format and numChannels … of linear memory; devPtr must be aligned to
// CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT", which is 512. It is not checked whether the memory is
// there (recorded: texres/linear-pointers).
static bool memory_is_valid(unsigned format, unsigned channels, CUdeviceptr address)
{
    return tx_channel_of(format).size_B && (channels == 1 || channels == 2 || channels == 4) &&
           address && address % 512 == 0;
}

// "The total number of elements … cannot exceed
// CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH", 2^28. The driver takes sizes up to 4 GiB,
// but at most 2^30 (recorded: texres/linear-sizes).
static bool linear_is_valid(const CUDA_RESOURCE_DESC *r)
{
    if (!memory_is_valid(r->res.linear.format, r->res.linear.numChannels, r->res.linear.devPtr))
        return false;
    const uint64_t each_B = tx_channel_of(r->res.linear.format).size_B * r->res.linear.numChannels;
    uint64_t most = UINT64_C(1) << 28;
    if (tx_as_driver())
        most = each_B < 4 ? UINT64_C(1) << 30 : (UINT64_C(1) << 32) / each_B;
    return r->res.linear.sizeInBytes / each_B <= most;
}

// "width, height and pitchInBytes cannot exceed CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_*.
// pitchInBytes … has to be aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT", 32.
static bool pitch_is_valid(const CUDA_RESOURCE_DESC *r)
{
    return memory_is_valid(r->res.pitch2D.format, r->res.pitch2D.numChannels,
                           r->res.pitch2D.devPtr) &&
           r->res.pitch2D.width <= 131072 && r->res.pitch2D.height <= 65000 &&
           r->res.pitch2D.pitchInBytes <= 2097120 && r->res.pitch2D.pitchInBytes % 32 == 0;
}

// "flags must be set to zero."
bool tx_resource_is_valid(const struct object *o)
{
    const CUDA_RESOURCE_DESC *r = &o->resource;
    if (r->flags)
        return false;
    switch ((unsigned)r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return o->on;
    case CU_RESOURCE_TYPE_LINEAR:
        return linear_is_valid(r);
    case CU_RESOURCE_TYPE_PITCH2D:
        return pitch_is_valid(r);
    default:
        return false;
    }
}

bool tx_is_array(const struct object *o)
{
    return o->resource.resType == CU_RESOURCE_TYPE_ARRAY ||
           o->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
}

static unsigned coordinates_of(const struct object *o)
{
    if (!tx_is_array(o))
        return o->resource.resType == CU_RESOURCE_TYPE_PITCH2D ? 2 : 1;
    if (o->on->desc.Depth && !tx_is_layered(&o->on->desc))
        return 3;
    return o->on->desc.Height ? 2 : 1;
}

static bool all_zero(const void *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++) {
        if (((const uint8_t *)bytes)[i])
            return false;
    }
    return true;
}

// Modes of the coordinates that the resource has, filters, and flags: CU_TRSF_SEAMLESS_CUBEMAP is
// for cubemaps, and bits below it are not checked (recorded: texdesc). "This is ignored if resType
// is CU_RESOURCE_TYPE_LINEAR", of addressMode and filterMode; the driver does not ignore them.
bool tx_texture_is_valid(const struct object *o)
{
    const CUDA_TEXTURE_DESC *t = &o->texture;
    const bool cube = tx_is_array(o) && o->on->desc.Flags & CUDA_ARRAY3D_CUBEMAP;
    const bool ignored = o->resource.resType == CU_RESOURCE_TYPE_LINEAR && !tx_as_driver();
    for (unsigned i = 0; i < coordinates_of(o) && !ignored; i++) {
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return false;
    }
    return (ignored || (unsigned)t->filterMode <= CU_TR_FILTER_MODE_LINEAR) &&
           (unsigned)t->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR &&
           t->flags < (cube ? 0x80 : 0x40) && all_zero(t->reserved, sizeof t->reserved);
}

// "the resource must have a base format that matches": texels of the same size. Block-compressed
// views lie on 32-bit unsigned elements, 2 of them or 4, and are four times as wide and high.
bool tx_view_format_is_valid(const struct object *o, unsigned *scale)
{
    static const uint8_t block_B[] = {8, 16, 16, 8, 8, 16, 16, 16, 16, 16};
    const unsigned f = o->view.format, block = f - CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
    unsigned channels;
    const struct channel c = tx_view_channel(f, &channels);
    *scale = 1;
    if (f >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && block < FUZZ_COUNT(block_B)) {
        *scale = 4;
        return o->on->desc.Format == CU_AD_FORMAT_UNSIGNED_INT32 &&
               tx_texel_B(&o->on->desc) == block_B[block];
    }
    return channels && c.size_B * channels == tx_texel_B(&o->on->desc);
}

// The view has the extents of the resource. Levels and layers are in order, and the last ones may
// be past the end (recorded: texview).
bool tx_view_is_valid(const struct object *o)
{
    const CUDA_RESOURCE_VIEW_DESC *v = &o->view;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &o->on->desc;
    const struct level *l = &o->on->levels[o->level];
    const bool layers = d->Flags & CUDA_ARRAY3D_LAYERED, levels = o->on->kind == MIPMAP;
    unsigned scale;
    if (!tx_view_format_is_valid(o, &scale) || !all_zero(v->reserved, sizeof v->reserved))
        return false;
    return v->width == (size_t)l->width * scale &&
           v->height == (d->Height ? (size_t)l->height * scale : 0) &&
           v->depth == (d->Depth ? l->depth : 0) &&
           (levels ? v->firstMipmapLevel <= v->lastMipmapLevel
                   : !v->firstMipmapLevel && !v->lastMipmapLevel) &&
           (layers ? v->firstLayer <= v->lastLayer : !v->firstLayer && !v->lastLayer);
}
