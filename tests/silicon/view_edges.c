// SPDX-License-Identifier: MIT
// Texture views on levels of mipmapped arrays that are given as arrays of their own, beside the
// same views on the mipmapped array: which extents, levels and layers does the driver take?
#include "draw.h"
#include "record.h"

enum { DRAWN = 1500, LEVELS = 4 };

static const CUDA_ARRAY3D_DESCRIPTOR shapes[] = {
    {.Width = 64, .NumChannels = 4},
    {.Width = 64, .Height = 48, .NumChannels = 4},
    {.Width = 64, .Height = 48, .Depth = 16, .NumChannels = 4},
    {.Width = 64, .Height = 0, .Depth = 5, .NumChannels = 4, .Flags = CUDA_ARRAY3D_LAYERED},
    {.Width = 64, .Height = 48, .Depth = 5, .NumChannels = 4, .Flags = CUDA_ARRAY3D_LAYERED},
    {.Width = 64, .Height = 64, .Depth = 6, .NumChannels = 4, .Flags = CUDA_ARRAY3D_CUBEMAP},
    {.Width = 64,
     .Height = 64,
     .Depth = 12,
     .NumChannels = 4,
     .Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
};

static CUmipmappedArray chains[COUNT(shapes)];

static void set_up(void)
{
    record_context();
    for (unsigned i = 0; i < COUNT(shapes); i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = shapes[i];
        d.Format = CU_AD_FORMAT_UNSIGNED_INT8;
        NEED(cuMipmappedArrayCreate(&chains[i], &d, LEVELS));
    }
}

static size_t level_extent(size_t extent, unsigned level)
{
    return !extent ? 0 : extent >> level ? extent >> level : 1;
}

// The extents of a level.
static CUDA_RESOURCE_VIEW_DESC view_of(unsigned shape, unsigned level)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &shapes[shape];
    const bool layers = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    return (CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UINT_4X8,
                                     .width = level_extent(d->Width, level),
                                     .height = level_extent(d->Height, level),
                                     .depth = layers ? d->Depth : level_extent(d->Depth, level)};
}

static void say_view(const CUDA_RESOURCE_DESC *resource, const CUDA_RESOURCE_VIEW_DESC *view)
{
    static const CUDA_TEXTURE_DESC sampler = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP,
                                                              CU_TR_ADDRESS_MODE_CLAMP,
                                                              CU_TR_ADDRESS_MODE_CLAMP},
                                              .flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject texture = 0;
    const CUresult r = cuTexObjectCreate(&texture, resource, &sampler, view);
    SAY(" %s", record_brief(r));
    if (r)
        return;
    CUDA_RESOURCE_VIEW_DESC got;
    memset(&got, 0xee, sizeof got);
    const CUresult read = cuTexObjectGetResourceViewDesc(&got, texture);
    if (read)
        SAY("/%s", record_brief(read));
    else
        SAY("/%zux%zux%zu,%u-%u,%u-%u", got.width, got.height, got.depth, got.firstMipmapLevel,
            got.lastMipmapLevel, got.firstLayer, got.lastLayer);
    cuTexObjectDestroy(texture);
}

static void say_both(unsigned shape, unsigned level, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    NEED(cuMipmappedArrayGetLevel(&resource.res.array.hArray, chains[shape], level));
    say_view(&resource, view);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = chains[shape];
    say_view(&resource, view);
}

// The numbers of levels, and then those of layers, with the right extents.
GROUP(numbers)
{
    set_up();
    for (unsigned shape = 0; shape < COUNT(shapes); shape++)
        for (unsigned level = 0; level < LEVELS; level++)
            for (unsigned first = 0; first < 6; first++)
                if (CASE("%u-level-%u-from-%u", shape, level, first))
                    for (unsigned last = 0; last < 6; last++) {
                        CUDA_RESOURCE_VIEW_DESC view = view_of(shape, level);
                        view.firstMipmapLevel = first;
                        view.lastMipmapLevel = last;
                        say_both(shape, level, &view);
                    }
    for (unsigned shape = 3; shape < COUNT(shapes); shape++)
        for (unsigned level = 0; level < 2; level++)
            for (unsigned first = 0; first < 8; first++)
                if (CASE("%u-level-%u-layer-%u", shape, level, first))
                    for (unsigned last = 0; last < 14; last += last < 7 ? 1 : 3) {
                        CUDA_RESOURCE_VIEW_DESC view = view_of(shape, level);
                        view.firstLayer = first;
                        view.lastLayer = last;
                        say_both(shape, level, &view);
                    }
}

// The extents of each level, on each level.
GROUP(extents)
{
    set_up();
    for (unsigned shape = 0; shape < COUNT(shapes); shape++)
        for (unsigned level = 0; level < LEVELS; level++)
            for (unsigned other = 0; other < LEVELS; other++)
                if (CASE("%u-level-%u-as-%u", shape, level, other)) {
                    CUDA_RESOURCE_VIEW_DESC view = view_of(shape, other);
                    say_both(shape, level, &view);
                    view.firstMipmapLevel = view.lastMipmapLevel = other;
                    say_both(shape, level, &view);
                }
}

GROUP(drawn)
{
    set_up();
    for (unsigned i = 0; i < DRAWN; i++) {
        if (!CASE("%u", i))
            continue;
        draw_seed(910000 + i);
        const unsigned shape = (unsigned)(draw() % COUNT(shapes)),
                       level = (unsigned)(draw() % LEVELS);
        CUDA_RESOURCE_VIEW_DESC v = view_of(shape, chance(70) ? level : 0);
        if (chance(40))
            v.firstMipmapLevel = (unsigned)(draw() % 5);
        if (chance(60))
            v.lastMipmapLevel = v.firstMipmapLevel + (unsigned)(draw() % 4);
        if (chance(30))
            v.firstLayer = (unsigned)(draw() % 8);
        if (chance(50))
            v.lastLayer = v.firstLayer + (unsigned)(draw() % 8);
        if (chance(10))
            v.depth = draw() % 8;
        if (chance(10))
            v.height = draw() % 65;
        SAY("%u level %u as %zux%zux%zu,%u-%u,%u-%u:", shape, level, v.width, v.height, v.depth,
            v.firstMipmapLevel, v.lastMipmapLevel, v.firstLayer, v.lastLayer);
        say_both(shape, level, &v);
    }
}

int main(int argc, char **argv)
{
    RUN(numbers);
    RUN(extents);
    RUN(drawn);
    return 0;
}
