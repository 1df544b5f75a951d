// SPDX-License-Identifier: MIT
// The image, the sampler and the fetch of the programs that record filters.
#pragma once
#include <inttypes.h>

#include "texture_draws.h"

enum { COUNT = 8192, SHOWN = 4 };

static struct image image;

// Linear filters in a level and between levels, with at most `most` anisotropic samples.
static inline CUDA_TEXTURE_DESC sampler_of(unsigned most, unsigned flags)
{
    return (CUDA_TEXTURE_DESC){.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                               CU_TR_ADDRESS_MODE_CLAMP},
                               .filterMode = CU_TR_FILTER_MODE_LINEAR,
                               .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                               .maxMipmapLevelClamp = 20,
                               .maxAnisotropy = most,
                               .flags = CU_TRSF_NORMALIZED_COORDINATES | flags};
}

// Fetches from the image at the first `count` points into `answers`.
static inline void fetch_points(const CUDA_TEXTURE_DESC *s, const char *kind, const char *geometry,
                                unsigned count)
{
    CUtexObject texture;
    char instruction[300];
    NEED(open_texture(&image, s, &texture));
    write_instruction(instruction, kind, geometry, "f32");
    NEED(fetch(instruction, texture, count));
    NEED(cuTexObjectDestroy(texture));
}
