// SPDX-License-Identifier: MIT
// The fuzz target `mipmap`: the rules of the manual and of the recordings for descriptors, levels,
// planes and places of texels.
#include "mipmap_model.h"

bool mm_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

// The bytes of a channel, or 0.
unsigned mm_channel_of(CUarray_format format)
{
    switch ((unsigned)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

// Planar formats: the shape of their planes, of which all but the first can be smaller (recorded:
// planes created). "… CU_AD_FORMAT_NV12, then passing in 0 for planeIdx returns a CUDA array of the
// same size … with one channel … If 1 is passed …, then the returned CUDA array has half the height
// and width … with two channels".
static const struct planar planar_formats[] = {
    {CU_AD_FORMAT_NV12, 2, 1, {1, 1}},
    {CU_AD_FORMAT_P010, 2, 2, {1, 1}},
    {CU_AD_FORMAT_P016, 2, 2, {1, 1}},
    {CU_AD_FORMAT_NV16, 2, 1, {1, 0}},
    {CU_AD_FORMAT_P210, 2, 2, {1, 0}},
    {CU_AD_FORMAT_P216, 2, 2, {1, 0}},
    {CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 2, 1, {0, 0}},
    {CU_AD_FORMAT_YUV444_16bit_SemiPlanar, 2, 2, {0, 0}},
    {CU_AD_FORMAT_Y444_PLANAR8, 3, 1, {0, 0}},
    {CU_AD_FORMAT_Y444_PLANAR10, 3, 2, {0, 0}},
};

const struct planar *mm_planar_of(CUarray_format format)
{
    for (unsigned i = 0; i < FUZZ_COUNT(planar_formats); i++) {
        if (planar_formats[i].format == format)
            return &planar_formats[i];
    }
    return NULL;
}

bool mm_as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

// Arrays of planar formats are 2D or 2D layered, have even extents and three channels, and are made
// for video; mapped NV12 can have other uses (recorded: planes created/rules-*).
bool mm_planar_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d, bool mapped)
{
    const unsigned known =
        CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    const bool other_use = mapped && d->Format == CU_AD_FORMAT_NV12;
    return d->NumChannels == 3 && d->Width && d->Height && d->Width % 2 == 0 &&
           d->Height % 2 == 0 && d->Width <= 1 << 15 && d->Height <= 1 << 15 &&
           d->Depth <= 1 << 10 && !(d->Flags & ~known) &&
           !!d->Depth == !!(d->Flags & CUDA_ARRAY3D_LAYERED) &&
           (d->Flags & CUDA_ARRAY3D_VIDEO_ENCODE_DECODE || other_use);
}

// "A 1D array is allocated if Height and Depth extents are both zero. A 2D array … if only Depth
// extent is zero. A 3D array … if all three extents are non-zero. A 1D layered array … if only
// Height is zero and the CUDA_ARRAY3D_LAYERED flag is set. … A cubemap … if all three extents are
// non-zero and the CUDA_ARRAY3D_CUBEMAP flag is set. Width must be equal to Height, and Depth must
// be six. … A cubemap layered array … the first six layers …: Depth must be a multiple of six."
bool mm_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST;
    bool channels = d->NumChannels == 1 || d->NumChannels == 2 || d->NumChannels == 4;
    if (!mm_channel_of(d->Format) || !channels || d->Flags & ~known || !d->Width)
        return false;
    if (d->Width > 1 << 20 || d->Height > 1 << 20 || d->Depth > 1 << 20)
        return false; // no device has such an array
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP) {
        bool six = d->Flags & CUDA_ARRAY3D_LAYERED ? d->Depth && d->Depth % 6 == 0 : d->Depth == 6;
        return six && d->Width == d->Height;
    }
    if (d->Flags & CUDA_ARRAY3D_LAYERED)
        return d->Depth != 0;
    return d->Height || !d->Depth;
}

static size_t largest(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t most = d->Width > d->Height ? d->Width : d->Height;
    return mm_is_layered(d) || most > d->Depth ? most : d->Depth;
}

// "numMipmapLevels … is clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]".
unsigned mm_clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
    unsigned most = 1;
    for (size_t size = largest(d); size > 1; size /= 2)
        most++;
    if (!levels)
        return 1;
    return levels < most ? levels : most;
}

static unsigned halved(size_t size, unsigned level)
{
    size >>= level;
    return size ? (unsigned)size : 1;
}

CUarray_format mm_any_planar(struct fuzz_input *in)
{
    return planar_formats[fuzz_below(in, FUZZ_COUNT(planar_formats))].format;
}

void mm_set_up_level(struct array *a, unsigned n)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &a->desc;
    a->levels[n] = (struct level){
        .width = halved(d->Width, n),
        .height = halved(d->Height, n),
        .depth = mm_is_layered(d) ? (unsigned)d->Depth : halved(d->Depth, n),
        .texel_B = mm_channel_of(d->Format) * d->NumChannels,
        .channels = d->NumChannels,
        .format = d->Format,
    };
}

void mm_set_up_plane(struct array *a, unsigned n)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &a->desc;
    const struct planar *p = mm_planar_of(d->Format);
    const unsigned channels = n && p->planes == 2 ? 2 : 1;
    a->levels[n] = (struct level){
        .width = (unsigned)d->Width >> (n ? p->log2_divisors[0] : 0),
        .height = (unsigned)d->Height >> (n ? p->log2_divisors[1] : 0),
        .depth = d->Depth ? (unsigned)d->Depth : 1,
        .texel_B = p->channel_B * channels,
        .channels = channels,
        .format = p->channel_B == 1 ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT16,
    };
}

// Where byte x_B of row y of a 2D level 0 is. GOBs of 64 bytes by 8 rows are stacked into blocks:
// of 1 to 16 GOBs, the highest ones of at most 1.5 times the height, but not higher than it takes.
// Blocks follow each other row by row. In a GOB 16 bytes of four rows follow each other, then those
// to the right, below, and in the right half (docs/concepts.md; recorded: tiling).
size_t mm_place_of(const struct level *l, unsigned texel_B, size_t x_B, size_t y)
{
    size_t gobs = ((size_t)l->width * texel_B + 63) / 64, high = 16, rows = (l->height + 7) / 8;
    while (high > 1 && (high * 8 * 2 > (size_t)l->height * 3 || high / 2 >= rows))
        high /= 2;
    size_t gob_y = y / 8, gob = (gob_y / high * gobs + x_B / 64) * high + gob_y % high;
    return gob * 512 + x_B % 64 / 32 * 256 + y % 8 / 4 * 128 + x_B % 32 / 16 * 64 + y % 4 * 16 +
           x_B % 16;
}
