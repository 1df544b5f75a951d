// SPDX-License-Identifier: MIT
// The fuzz target `texture`: resources, their formats and their bytes.
#include "texture_model.h"

const unsigned tx_formats[8] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                                CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                                CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                                CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

struct channel tx_channel_of(unsigned format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return (struct channel){UNSIGNED, 1};
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return (struct channel){UNSIGNED, 2};
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return (struct channel){UNSIGNED, 4};
    case CU_AD_FORMAT_SIGNED_INT8:
        return (struct channel){SIGNED, 1};
    case CU_AD_FORMAT_SIGNED_INT16:
        return (struct channel){SIGNED, 2};
    case CU_AD_FORMAT_SIGNED_INT32:
        return (struct channel){SIGNED, 4};
    case CU_AD_FORMAT_HALF:
        return (struct channel){FLOATING, 2};
    case CU_AD_FORMAT_FLOAT:
        return (struct channel){FLOATING, 4};
    default:
        return (struct channel){UNSIGNED, 0};
    }
}

// The channels of a view: groups of 1, 2 and 4 channels, of the types in order.
struct channel tx_view_channel(unsigned format, unsigned *channels)
{
    static const struct channel types[] = {{UNSIGNED, 1}, {SIGNED, 1},   {UNSIGNED, 2},
                                           {SIGNED, 2},   {UNSIGNED, 4}, {SIGNED, 4},
                                           {FLOATING, 2}, {FLOATING, 4}};
    const unsigned i = format - CU_RES_VIEW_FORMAT_UINT_1X8;
    *channels = 0;
    if (i >= 3 * FUZZ_COUNT(types))
        return (struct channel){UNSIGNED, 0};
    *channels = 1u << i % 3;
    return types[i / 3];
}

unsigned tx_texel_B(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return tx_channel_of(d->Format).size_B * d->NumChannels;
}

bool tx_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

static unsigned halved(size_t size, unsigned level)
{
    return size >> level ? (unsigned)(size >> level) : 1;
}

static CUDA_MEMCPY3D copy_of(const struct resource *o, unsigned n, CUarray array, bool write)
{
    const struct level *l = &o->levels[n];
    CUDA_MEMCPY3D c = {.WidthInBytes = (size_t)l->width * tx_texel_B(&o->desc),
                       .Height = l->height,
                       .Depth = l->depth};
    c.dstMemoryType = write ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcMemoryType = write ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstArray = write ? array : NULL;
    c.srcArray = write ? NULL : array;
    return c;
}

CUresult tx_level_of(const struct resource *o, unsigned n, CUarray *out)
{
    *out = o->array;
    return o->kind == MIPMAP ? cuMipmappedArrayGetLevel(out, o->mip, n) : CUDA_SUCCESS;
}

static void compare(const struct resource *o)
{
    static uint8_t host[LINEAR_B * 16];
    for (unsigned n = 0; n < o->count; n++) {
        const struct level *l = &o->levels[n];
        const size_t size_B = (size_t)l->width * l->height * l->depth * tx_texel_B(&o->desc);
        CUarray array;
        FUZZ_OK(tx_level_of(o, n, &array));
        CUDA_MEMCPY3D c = copy_of(o, n, array, false);
        c.dstHost = host;
        FUZZ_OK(cuMemcpy3D(&c));
        for (size_t i = memcmp(host, l->bytes, size_B) ? 0 : size_B; i < size_B; i++)
            FUZZ_CHECK(host[i] == l->bytes[i], "level %u, byte %zu: %#x, expected %#x", n, i,
                       host[i], l->bytes[i]);
    }
}

void tx_forget(struct resource *o)
{
    for (unsigned n = 0; n < LEVELS_MOST; n++)
        free(o->levels[n].bytes);
    memset(o, 0, sizeof *o);
}

void tx_destroy(struct resource *o)
{
    if (!o->alive)
        return;
    if (o->kind == MEMORY)
        FUZZ_OK(cuMemFree(o->memory));
    else
        compare(o);
    if (o->kind == MIPMAP)
        FUZZ_OK(cuMipmappedArrayDestroy(o->mip));
    if (o->kind == ARRAY)
        FUZZ_OK(cuArrayDestroy(o->array));
    tx_forget(o);
}

static void fill(struct resource *o, unsigned n, size_t size_B)
{
    uint32_t state = o->made * 7919 + n;
    o->levels[n].bytes = malloc(size_B);
    for (size_t i = 0; i < size_B; i++) {
        state = state * 1664525 + 1013904223;
        o->levels[n].bytes[i] = (uint8_t)(state >> 24);
    }
}

static void fill_levels(struct resource *o)
{
    for (unsigned n = 0; n < o->count; n++) {
        struct level *l = &o->levels[n];
        CUarray array;
        l->width = halved(o->desc.Width, n);
        l->height = halved(o->desc.Height, n);
        l->depth = tx_is_layered(&o->desc) ? (unsigned)o->desc.Depth : halved(o->desc.Depth, n);
        fill(o, n, (size_t)l->width * l->height * l->depth * tx_texel_B(&o->desc));
        FUZZ_OK(tx_level_of(o, n, &array));
        CUDA_MEMCPY3D c = copy_of(o, n, array, true);
        c.srcHost = l->bytes;
        FUZZ_OK(cuMemcpy3D(&c));
    }
}

// Shapes: 1D, 2D, 3D, their layered forms, and cubemaps.
static CUDA_ARRAY3D_DESCRIPTOR any_desc(struct fuzz_input *in)
{
    const unsigned shape = fuzz_below(in, 8);
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1 + fuzz_below(in, 40),
                                 .Height = shape % 3 ? 1 + fuzz_below(in, 20) : 0,
                                 .Depth = shape < 2 ? 0 : 1 + fuzz_below(in, 5),
                                 .Format = (CUarray_format)tx_formats[fuzz_below(in, 8)],
                                 .NumChannels = 1u << fuzz_below(in, 3)};
    if (fuzz_below(in, 3))
        d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (shape == 3 || shape == 4)
        d.Flags |= CUDA_ARRAY3D_LAYERED;
    if (shape >= 6) {
        d.Flags |= CUDA_ARRAY3D_CUBEMAP | (shape == 7 ? CUDA_ARRAY3D_LAYERED : 0);
        d.Height = d.Width = 1 + d.Width % 12;
        d.Depth = shape == 7 ? 12 : 6;
    }
    return d;
}

void tx_create(struct fuzz_input *in, struct model *m)
{
    struct resource *o = &m->resources[fuzz_below(in, RESOURCES)];
    tx_destroy(o);
    o->kind = (enum resource_kind)fuzz_below(in, 3);
    o->made = ++m->made;
    o->alive = true;
    if (o->kind == MEMORY) {
        FUZZ_OK(cuMemAlloc(&o->memory, LINEAR_B));
        fill(o, 0, LINEAR_B);
        FUZZ_OK(cuMemcpyHtoD(o->memory, o->levels[0].bytes, LINEAR_B));
        return;
    }
    o->desc = any_desc(in);
    o->count = 1;
    if (o->kind == ARRAY) {
        FUZZ_OK(cuArray3DCreate(&o->array, &o->desc));
    } else {
        size_t size = o->desc.Width > o->desc.Height ? o->desc.Width : o->desc.Height;
        if (!tx_is_layered(&o->desc) && o->desc.Depth > size)
            size = o->desc.Depth;
        const unsigned levels = 1 + fuzz_below(in, LEVELS_MOST);
        for (; size > 1 && o->count < levels; size /= 2)
            o->count++;
        FUZZ_OK(cuMipmappedArrayCreate(&o->mip, &o->desc, o->count));
    }
    fill_levels(o);
}
