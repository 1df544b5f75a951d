// SPDX-License-Identifier: MIT
// The rules for array descriptors: cuArray3DCreate, cuMipmappedArrayCreate,
// cuExternalMemoryGetMappedMipmappedArray.
#include "array.h"

#include "call.h"
#include "device.h"
#include "format.h"
#include "quirk.h"

// The shape of an array, which follows from its extents and flags.
enum shape {
    SHAPE_1D,
    SHAPE_2D,
    SHAPE_3D,
    SHAPE_1D_LAYERED,
    SHAPE_2D_LAYERED,
    SHAPE_CUBE,
    SHAPE_CUBE_LAYERED
};

static const char *const shape_names[] = {
    "1D array",
    "2D array",
    "3D array",
    "1D layered array",
    "2D layered array",
    "cubemap",
    "cubemap layered array",
};

#define LIMIT(name) DM_ATTRIBUTE_maximum_##name
enum { NO_LIMIT = -1 };

// Which device attributes limit the width, height and depth (or layers) of each shape.
static const struct limits {
    int width, height, depth;
} texture_limits[] =
    {
        [SHAPE_1D] = {LIMIT(texture1d_width), NO_LIMIT, NO_LIMIT},
        [SHAPE_2D] = {LIMIT(texture2d_width), LIMIT(texture2d_height), NO_LIMIT},
        [SHAPE_3D] = {LIMIT(texture3d_width), LIMIT(texture3d_height), LIMIT(texture3d_depth)},
        [SHAPE_1D_LAYERED] = {LIMIT(texture1d_layered_width), NO_LIMIT,
                              LIMIT(texture1d_layered_layers)},
        [SHAPE_2D_LAYERED] = {LIMIT(texture2d_layered_width), LIMIT(texture2d_layered_height),
                              LIMIT(texture2d_layered_layers)},
        [SHAPE_CUBE] = {LIMIT(texturecubemap_width), NO_LIMIT, NO_LIMIT},
        [SHAPE_CUBE_LAYERED] = {LIMIT(texturecubemap_layered_width), NO_LIMIT,
                                LIMIT(texturecubemap_layered_layers)},
},
  surface_limits[] =
      {
          [SHAPE_1D] = {LIMIT(surface1d_width), NO_LIMIT, NO_LIMIT},
          [SHAPE_2D] = {LIMIT(surface2d_width), LIMIT(surface2d_height), NO_LIMIT},
          [SHAPE_3D] = {LIMIT(surface3d_width), LIMIT(surface3d_height), LIMIT(surface3d_depth)},
          [SHAPE_1D_LAYERED] = {LIMIT(surface1d_layered_width), NO_LIMIT,
                                LIMIT(surface1d_layered_layers)},
          [SHAPE_2D_LAYERED] = {LIMIT(surface2d_layered_width), LIMIT(surface2d_layered_height),
                                LIMIT(surface2d_layered_layers)},
          [SHAPE_CUBE] = {LIMIT(surfacecubemap_width), NO_LIMIT, NO_LIMIT},
          [SHAPE_CUBE_LAYERED] = {LIMIT(surfacecubemap_layered_width), NO_LIMIT,
                                  LIMIT(surfacecubemap_layered_layers)},
},
  mipmap_limits[] =
      {
          [SHAPE_1D] = {LIMIT(texture1d_mipmapped_width), NO_LIMIT, NO_LIMIT},
          [SHAPE_2D] = {LIMIT(texture2d_mipmapped_width), LIMIT(texture2d_mipmapped_height),
                        NO_LIMIT},
},
  alternate_limits = {LIMIT(texture3d_width_alternate), LIMIT(texture3d_height_alternate),
                      LIMIT(texture3d_depth_alternate)},
  gather_limits = {LIMIT(texture2d_gather_width), LIMIT(texture2d_gather_height), NO_LIMIT};

// A bit without a name in the header. Driver 580 accepts it for 2D arrays.
#define UNNAMED_FLAG 0x80000000u

// The driver uses only the low 32 bits of the extents.
static void plan_truncate(CUDA_ARRAY3D_DESCRIPTOR *d)
{
    d->Width = (uint32_t)d->Width;
    d->Height = (uint32_t)d->Height;
    d->Depth = (uint32_t)d->Depth;
}

static CUresult plan_bad_shape(const CUDA_ARRAY3D_DESCRIPTOR *d, const char *why)
{
    return em_fail(CUDA_ERROR_INVALID_VALUE, "Width %zu, Height %zu, Depth %zu, Flags %#x: %s",
                   d->Width, d->Height, d->Depth, d->Flags, why);
}

static CUresult plan_bad_cube(const CUDA_ARRAY3D_DESCRIPTOR *d, const char *why)
{
    return em_mistake(I03, CUDA_ERROR_INVALID_VALUE,
                      "Width %zu, Height %zu, Depth %zu, Flags %#x: %s", d->Width, d->Height,
                      d->Depth, d->Flags, why);
}

static CUresult plan_check_cube(const CUDA_ARRAY3D_DESCRIPTOR *d, enum shape *shape)
{
    // "If CUDA_ARRAY3D_CUBEMAP is set, Width must be equal to Height, and Depth must be six. If
    // CUDA_ARRAY3D_LAYERED is set also, Depth must be a multiple of six."
    if (d->Width != d->Height || !d->Width)
        return plan_bad_cube(d, "the faces of a cubemap must be square");
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    if (layered ? !d->Depth || d->Depth % 6 : d->Depth != 6)
        return plan_bad_cube(d, layered ? "Depth of a layered cubemap must be a multiple of 6"
                                        : "Depth of a cubemap must be 6");
    *shape = layered ? SHAPE_CUBE_LAYERED : SHAPE_CUBE;
    return CUDA_SUCCESS;
}

static CUresult plan_find_shape(const CUDA_ARRAY3D_DESCRIPTOR *d, enum shape *shape)
{
    if (!d->Width)
        return plan_bad_shape(d, "Width must not be 0");
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return plan_check_cube(d, shape);
    if (d->Flags & CUDA_ARRAY3D_LAYERED) {
        // "Depth determines the number of layers"
        if (!d->Depth)
            return em_mistake(
                I02, CUDA_ERROR_INVALID_VALUE,
                "Depth is 0 with CUDA_ARRAY3D_LAYERED; it must be the number of layers");
        *shape = d->Height ? SHAPE_2D_LAYERED : SHAPE_1D_LAYERED;
        return CUDA_SUCCESS;
    }
    // "A 1D array is allocated if Height and Depth extents are both zero. A 2D array is allocated
    // if only Depth extent is zero."
    if (d->Depth && !d->Height)
        return plan_bad_shape(
            d, "a 3D array needs a Height; a 1D layered array needs CUDA_ARRAY3D_LAYERED");
    *shape = d->Depth ? SHAPE_3D : d->Height ? SHAPE_2D : SHAPE_1D;
    return CUDA_SUCCESS;
}

static CUresult plan_check_flags(const CUDA_ARRAY3D_DESCRIPTOR *d, enum shape shape,
                                 enum em_array_use use)
{
    unsigned allowed = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST |
                       CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    if (use == EM_MIPMAP_EXTERNAL)
        allowed |=
            CUDA_ARRAY3D_COLOR_ATTACHMENT; // "the flag can only be used on mapped external memory"
    else
        allowed |= CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING;
    if (shape == SHAPE_2D && em_quirk(ARRAY_FLAG_31))
        allowed |= UNNAMED_FLAG;
    if (d->Flags & ~allowed)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Flags are %#x; clear %#x, which is not allowed for this array", d->Flags,
                       d->Flags & ~allowed);
    if (d->Flags & CUDA_ARRAY3D_SPARSE) {
        // "sparse mapping is only supported for 2D and 3D arrays and layered ones": neither
        // for cubemaps nor 1D arrays, nor together with deferred mapping
        bool has_tiles = shape == SHAPE_2D || shape == SHAPE_3D || shape == SHAPE_2D_LAYERED;
        if (!has_tiles)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "Flags are %#x; a %s cannot have CUDA_ARRAY3D_SPARSE", d->Flags,
                           shape_names[shape]);
        if (d->Flags & (CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SURFACE_LDST))
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "Flags are %#x; CUDA_ARRAY3D_SPARSE excludes "
                           "CUDA_ARRAY3D_DEFERRED_MAPPING and CUDA_ARRAY3D_SURFACE_LDST",
                           d->Flags);
    }
    return CUDA_SUCCESS;
}

static CUresult plan_check_video(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels,
                                 enum shape shape, enum em_array_use use,
                                 const struct dm_format_info *info)
{
    if (d->NumChannels != dm_format_video_channels(info))
        return em_mistake(I06, CUDA_ERROR_INVALID_VALUE,
                          "NumChannels is %u; it must be %u for format %s", d->NumChannels,
                          dm_format_video_channels(info), info->name);
    // "CUDA_ARRAY3D_VIDEO_ENCODE_DECODE: the array is used by the video encoder or decoder". On
    // this card only mapped NV12 has other uses.
    bool other_use = info->format == DM_FORMAT_NV12 && use == EM_MIPMAP_EXTERNAL;
    if (!other_use && !(d->Flags & CUDA_ARRAY3D_VIDEO_ENCODE_DECODE))
        return em_mistake(I06, CUDA_ERROR_INVALID_VALUE,
                          "Flags are %#x; format %s needs CUDA_ARRAY3D_VIDEO_ENCODE_DECODE",
                          d->Flags, info->name);
    if (shape != SHAPE_2D && shape != SHAPE_2D_LAYERED)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "video format %s is not allowed for a %s; use a 2D or 2D layered array",
                       info->name, shape_names[shape]);
    if (levels > 1)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "numMipmapLevels is %u; it must be 1 for video format %s", levels,
                       info->name);
    // The rule also holds if every plane has the full size.
    if (d->Width % 2 || d->Height % 2)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Width %zu, Height %zu must be even for video format %s", d->Width,
                       d->Height, info->name);
    return CUDA_SUCCESS;
}

static CUresult plan_check_format(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels,
                                  enum shape shape, enum em_array_use use,
                                  const struct dm_format_info **out)
{
    // The driver uses only the low byte of the number.
    const struct dm_format_info *info =
        dm_format_info((uint32_t)d->Format & (em_quirk(ARRAY_FORMAT_LOW_BYTE) ? 0xff : UINT32_MAX));
    if (!info)
        return em_mistake(I06, CUDA_ERROR_INVALID_VALUE, "Format %#x is not a CUarray_format",
                          (unsigned)d->Format);
    *out = info;
    bool video = info->kind == DM_FORMAT_KIND_YUV, block = info->kind == DM_FORMAT_KIND_BLOCK;
    // "NumChannels specifies the number of packed components per CUDA array element; it may be 1,
    // 2, or 4"
    if (!video && !dm_format_channels_legal(info, d->NumChannels))
        return em_mistake(I06, CUDA_ERROR_INVALID_VALUE,
                          "NumChannels is %u, which format %s does not allow", d->NumChannels,
                          info->name);
    if (block && (d->Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "Flags are %#x; clear CUDA_ARRAY3D_SURFACE_LDST for block-compressed format %s",
            d->Flags, info->name);
    // "CUDA_ARRAY3D_TEXTURE_GATHER can only be set for 2D CUDA arrays"
    if ((d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && shape != SHAPE_2D)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Flags are %#x; a %s cannot have CUDA_ARRAY3D_TEXTURE_GATHER, which is for "
                       "2D arrays only",
                       d->Flags, shape_names[shape]);
    if (block && (shape == SHAPE_1D || shape == SHAPE_1D_LAYERED))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "block-compressed format %s is not allowed for a %s; use at least 2 dimensions",
            info->name, shape_names[shape]);
    return video ? plan_check_video(d, levels, shape, use, info) : CUDA_SUCCESS;
}

static bool plan_within(const struct em_device *device, size_t extent, int limit)
{
    return limit == NO_LIMIT ||
           extent <= (size_t)em_device_attribute(device, (enum dm_attribute)limit);
}

static bool plan_all_within(const struct em_device *device, const CUDA_ARRAY3D_DESCRIPTOR *d,
                            const struct limits *l)
{
    return plan_within(device, d->Width, l->width) && plan_within(device, d->Height, l->height) &&
           plan_within(device, d->Depth, l->depth);
}

static CUresult plan_check_limits(const struct em_device *device, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                  enum shape shape, enum em_array_use use)
{
    bool surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST,
         good = plan_all_within(device, d, &texture_limits[shape]);
    if (shape == SHAPE_3D && !surface)
        good |= plan_all_within(device, d, &alternate_limits);
    if (surface)
        good &= plan_all_within(device, d, &surface_limits[shape]);
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        good &= plan_all_within(device, d, &gather_limits);
    if (use != EM_ARRAY_CREATE && (shape == SHAPE_1D || shape == SHAPE_2D))
        good &= plan_all_within(device, d, &mipmap_limits[shape]);
    return good ? CUDA_SUCCESS
                : em_fail(
                      CUDA_ERROR_INVALID_VALUE,
                      "Width %zu, Height %zu, Depth %zu exceed the limits of a %s%s on device %d",
                      d->Width, d->Height, d->Depth, surface ? "surface of a " : "",
                      shape_names[shape], device->ordinal);
}

// A planar array has the layout of its first plane, in memory that holds all planes.
static CUresult plan_planes(const struct dm_layout_desc *layout,
                            const struct dm_format_info *format, bool mapped,
                            struct em_array_plan *plan)
{
    struct dm_planes planes;
    if (dm_planes_init(&planes, format, layout, mapped))
        return plan_bad_shape(&plan->desc, "the planes have no layout");
    plan->layout = planes.layout[0];
    plan->layout.total_B = plan->layout.size_B = planes.total_B;
    plan->least_B = em_quirk(PLANES_SIZE) ? planes.layout[0].total_B : planes.total_B;
    return CUDA_SUCCESS;
}

CUresult em_array_plan(const struct em_device *device, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                       unsigned levels, enum em_array_use use, enum dm_layout_kind kind,
                       struct em_array_plan *plan)
{
    const struct dm_format_info *format;
    enum shape shape = SHAPE_1D;
    plan->desc = *desc;
    plan_truncate(&plan->desc);
    CUresult r = plan_find_shape(&plan->desc, &shape);
    if (!r)
        r = plan_check_flags(&plan->desc, shape, use);
    if (!r)
        r = plan_check_format(&plan->desc, levels, shape, use, &format);
    if (!r)
        r = plan_check_limits(device, &plan->desc, shape, use);
    if (r)
        return r;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &plan->desc;
    bool layered = shape >= SHAPE_1D_LAYERED;
    uint32_t most = dm_layout_levels_most(d->Width, d->Height, layered ? 0 : d->Depth);
    if (use == EM_MIPMAP_EXTERNAL && (!levels || levels > most))
        return em_mistake(I05, CUDA_ERROR_INVALID_VALUE,
                          "numLevels is %u; it must be between 1 and %u for this image", levels,
                          most);
    // "This value is clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]"
    plan->levels = !levels ? 1 : levels > most ? most : levels;
    struct dm_layout_desc layout = {
        .kind = kind,
        .element_B = format->kind == DM_FORMAT_KIND_YUV
                         ? format->element_B
                         : dm_format_element_B(format, d->NumChannels),
        .block_px = format->block_px,
        .width_px = d->Width,
        .height_px = d->Height,
        .depth = layered ? 0 : d->Depth,
        .layers = layered ? d->Depth : 0,
        .levels = plan->levels,
        .cube = shape == SHAPE_CUBE || shape == SHAPE_CUBE_LAYERED,
        .sparse = d->Flags & CUDA_ARRAY3D_SPARSE,
    };
    bool video = format->kind == DM_FORMAT_KIND_YUV, mapped = use == EM_MIPMAP_EXTERNAL;
    if (video && dm_format_planes(format) > 1)
        return plan_planes(&layout, format, mapped, plan);
    if (video) {
        dm_video_blocks(&layout, format, mapped);
        layout.word_B = dm_format_video_word_B(format);
    }
    if (dm_layout_init(&plan->layout, &layout))
        return plan_bad_shape(d, "the array has no layout");
    plan->least_B = plan->layout.total_B;
    return CUDA_SUCCESS;
}
