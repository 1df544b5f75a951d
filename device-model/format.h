// SPDX-License-Identifier: MIT
// Array formats: bytes, channels, blocks and planes of the elements of each CUDA array format.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Numbers are those of the driver API's CUarray_format. Only this list holds them.
//
//   X(name, number, kind, channel_B, channels_mask, element_B, block_px, sampling)
//
//   channel_B      bytes of one channel; 0 if channels are not whole bytes (packed, compressed)
//   channels_mask  bit n is set if the driver can create arrays with n channels
//   element_B      bytes of one addressable element; 0 if it is channel_B times the number of
//   channels block_px       an element covers block_px by block_px texels sampling       how the
//   planes of a YUV format are divided (enum dm_sampling)
#define DM_FORMAT_LIST(X)                                                                          \
    X(UNSIGNED_INT8, 0x01, UINT, 1, 0x16, 0, 1, NONE)                                              \
    X(UNSIGNED_INT16, 0x02, UINT, 2, 0x16, 0, 1, NONE)                                             \
    X(UNSIGNED_INT32, 0x03, UINT, 4, 0x16, 0, 1, NONE)                                             \
    X(SIGNED_INT8, 0x08, SINT, 1, 0x16, 0, 1, NONE)                                                \
    X(SIGNED_INT16, 0x09, SINT, 2, 0x16, 0, 1, NONE)                                               \
    X(SIGNED_INT32, 0x0a, SINT, 4, 0x16, 0, 1, NONE)                                               \
    X(HALF, 0x10, FLOAT, 2, 0x16, 0, 1, NONE)                                                      \
    X(FLOAT, 0x20, FLOAT, 4, 0x16, 0, 1, NONE)                                                     \
    X(UNORM_INT_101010_2, 0x50, UNORM, 0, 0x10, 4, 1, NONE)                                        \
    X(BC1_UNORM, 0x91, BLOCK, 0, 0x10, 8, 4, NONE)                                                 \
    X(BC1_UNORM_SRGB, 0x92, BLOCK, 0, 0x10, 8, 4, NONE)                                            \
    X(BC2_UNORM, 0x93, BLOCK, 0, 0x10, 16, 4, NONE)                                                \
    X(BC2_UNORM_SRGB, 0x94, BLOCK, 0, 0x10, 16, 4, NONE)                                           \
    X(BC3_UNORM, 0x95, BLOCK, 0, 0x10, 16, 4, NONE)                                                \
    X(BC3_UNORM_SRGB, 0x96, BLOCK, 0, 0x10, 16, 4, NONE)                                           \
    X(BC4_UNORM, 0x97, BLOCK, 0, 0x02, 8, 4, NONE)                                                 \
    X(BC4_SNORM, 0x98, BLOCK, 0, 0x02, 8, 4, NONE)                                                 \
    X(BC5_UNORM, 0x99, BLOCK, 0, 0x04, 16, 4, NONE)                                                \
    X(BC5_SNORM, 0x9a, BLOCK, 0, 0x04, 16, 4, NONE)                                                \
    X(BC6H_UF16, 0x9b, BLOCK, 0, 0x08, 16, 4, NONE)                                                \
    X(BC6H_SF16, 0x9c, BLOCK, 0, 0x08, 16, 4, NONE)                                                \
    X(BC7_UNORM, 0x9d, BLOCK, 0, 0x10, 16, 4, NONE)                                                \
    X(BC7_UNORM_SRGB, 0x9e, BLOCK, 0, 0x10, 16, 4, NONE)                                           \
    X(P010, 0x9f, YUV, 2, 0, 0, 1, SEMIPLANAR_420)                                                 \
    X(P016, 0xa1, YUV, 2, 0, 0, 1, SEMIPLANAR_420)                                                 \
    X(NV16, 0xa2, YUV, 1, 0, 0, 1, SEMIPLANAR_422)                                                 \
    X(P210, 0xa3, YUV, 2, 0, 0, 1, SEMIPLANAR_422)                                                 \
    X(P216, 0xa4, YUV, 2, 0, 0, 1, SEMIPLANAR_422)                                                 \
    X(YUY2, 0xa5, YUV, 1, 0, 2, 1, PACKED)                                                         \
    X(Y210, 0xa6, YUV, 2, 0, 4, 1, PACKED)                                                         \
    X(Y216, 0xa7, YUV, 2, 0, 4, 1, PACKED)                                                         \
    X(AYUV, 0xa8, YUV, 1, 0, 4, 1, PACKED)                                                         \
    X(Y410, 0xa9, YUV, 0, 0, 4, 1, PACKED)                                                         \
    X(NV12, 0xb0, YUV, 1, 0, 0, 1, SEMIPLANAR_420)                                                 \
    X(Y416, 0xb1, YUV, 2, 0, 8, 1, PACKED)                                                         \
    X(Y444_PLANAR8, 0xb2, YUV, 1, 0, 0, 1, PLANAR_444)                                             \
    X(Y444_PLANAR10, 0xb3, YUV, 2, 0, 0, 1, PLANAR_444)                                            \
    X(YUV444_8bit_SemiPlanar, 0xb4, YUV, 1, 0, 0, 1, SEMIPLANAR_444)                               \
    X(YUV444_16bit_SemiPlanar, 0xb5, YUV, 2, 0, 0, 1, SEMIPLANAR_444)                              \
    X(UNORM_INT8X1, 0xc0, UNORM, 1, 0x02, 0, 1, NONE)                                              \
    X(UNORM_INT8X2, 0xc1, UNORM, 1, 0x04, 0, 1, NONE)                                              \
    X(UNORM_INT8X4, 0xc2, UNORM, 1, 0x10, 0, 1, NONE)                                              \
    X(UNORM_INT16X1, 0xc3, UNORM, 2, 0x02, 0, 1, NONE)                                             \
    X(UNORM_INT16X2, 0xc4, UNORM, 2, 0x04, 0, 1, NONE)                                             \
    X(UNORM_INT16X4, 0xc5, UNORM, 2, 0x10, 0, 1, NONE)                                             \
    X(SNORM_INT8X1, 0xc6, SNORM, 1, 0x02, 0, 1, NONE)                                              \
    X(SNORM_INT8X2, 0xc7, SNORM, 1, 0x04, 0, 1, NONE)                                              \
    X(SNORM_INT8X4, 0xc8, SNORM, 1, 0x10, 0, 1, NONE)                                              \
    X(SNORM_INT16X1, 0xc9, SNORM, 2, 0x02, 0, 1, NONE)                                             \
    X(SNORM_INT16X2, 0xca, SNORM, 2, 0x04, 0, 1, NONE)                                             \
    X(SNORM_INT16X4, 0xcb, SNORM, 2, 0x10, 0, 1, NONE)

enum dm_format {
#define DM_FORMAT_ENUM(name, number, kind, channel_B, mask, element_B, block, sampling)            \
    DM_FORMAT_##name = number,
    DM_FORMAT_LIST(DM_FORMAT_ENUM)
#undef DM_FORMAT_ENUM
};

enum dm_format_kind {
    DM_FORMAT_KIND_UINT,
    DM_FORMAT_KIND_SINT,
    DM_FORMAT_KIND_FLOAT,
    DM_FORMAT_KIND_UNORM,
    DM_FORMAT_KIND_SNORM,
    DM_FORMAT_KIND_BLOCK, // block-compressed (BC1 to BC7)
    DM_FORMAT_KIND_YUV,   // video formats, packed or planar
};

enum dm_sampling {
    DM_SAMPLING_NONE,
    DM_SAMPLING_PACKED,         // YUV in one plane
    DM_SAMPLING_SEMIPLANAR_420, // Y, then UV at half width and half height
    DM_SAMPLING_SEMIPLANAR_422, // Y, then UV at half width
    DM_SAMPLING_SEMIPLANAR_444, // Y, then UV at full size
    DM_SAMPLING_PLANAR_444,     // Y, U, V at full size
};

struct dm_format_info {
    const char *name;
    enum dm_format format;
    enum dm_format_kind kind;
    enum dm_sampling sampling;
    uint8_t channel_B;
    uint8_t channels_mask;
    uint8_t element_B;
    uint8_t block_px;
};

// One plane of a planar format: an array of a plain format, with extents divided by powers of two.
struct dm_format_plane {
    enum dm_format format;
    uint8_t channels;
    uint8_t width_log2_divisor;
    uint8_t height_log2_divisor;
};

// Finds the row of a format number from any source; NULL if there is no such format.
const struct dm_format_info *dm_format_info(uint32_t format);

// Finds a row by name, ignoring case. Returns NULL if no format has this name.
const struct dm_format_info *dm_format_by_name(const char *name);

// Returns all rows in ascending order of number, and their count.
const struct dm_format_info *dm_format_all(unsigned *count);

// Returns true if the driver can create arrays of this format with this number of channels
// (recorded).
bool dm_format_channels_legal(const struct dm_format_info *info, uint32_t channels);

// Bytes of one element: for compressed formats a block of 4 by 4 texels. 0 if the driver cannot
// create arrays with this number of channels.
uint32_t dm_format_element_B(const struct dm_format_info *info, uint32_t channels);

// Bytes of one texel of linear memory. `channels` counts only for formats that leave the number of
// channels open. A planar format counts as its first plane.
uint32_t dm_format_texel_B(const struct dm_format_info *info, uint32_t channels);

// Bytes of one texel of a packed video format, as sparse tiles and linear memory count them: for
// YUY2, a pair of texels. 0 for other formats.
uint32_t dm_format_video_word_B(const struct dm_format_info *info);

// Number of channels of an array of a video format; 0 for other formats.
uint32_t dm_format_video_channels(const struct dm_format_info *info);

// Number of planes: 2 or 3 for planar formats, otherwise 1.
unsigned dm_format_planes(const struct dm_format_info *info);

// Describes plane number `plane` of a planar format. Returns 0, or -EINVAL if the format is not
// planar or has fewer planes.
int dm_format_plane(const struct dm_format_info *info, uint32_t plane, struct dm_format_plane *out);
