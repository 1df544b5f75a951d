// SPDX-License-Identifier: MIT
// The model of the fuzz target `texture`, for its files.
#pragma once
#include "texture_kernel.h"

enum { RESOURCES = 5, OBJECTS = 4, LEVELS_MOST = 7, STEPS = 40, LINEAR_B = 32 << 10 };

enum resource_kind { ARRAY, MIPMAP, MEMORY };

struct level {
    unsigned width, height, depth; // at least 1
    uint8_t *bytes;
};

struct resource {
    enum resource_kind kind;
    bool alive;
    unsigned made; // a number that no other resource of the input has
    CUarray array;
    CUmipmappedArray mip;
    CUdeviceptr memory;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned count;
    struct level levels[LEVELS_MOST];
};

struct object {
    bool alive;
    unsigned long long handle;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct resource *on; // or NULL
    unsigned made;       // of that resource
    unsigned level;      // of a level array
};

struct model {
    struct resource resources[RESOURCES];
    struct object textures[OBJECTS], surfaces[OBJECTS];
    unsigned made;
    struct fetcher fetcher;
    bool ended; // the context
};

// Formats of arrays and linear memory.
extern const unsigned tx_formats[8];

// ---- resources (texture_resource.c)

struct channel tx_channel_of(unsigned format);
struct channel tx_view_channel(unsigned format, unsigned *channels);
unsigned tx_texel_B(const CUDA_ARRAY3D_DESCRIPTOR *d);
bool tx_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d);
CUresult tx_level_of(const struct resource *o, unsigned n, CUarray *out);
void tx_destroy(struct resource *o);
void tx_forget(struct resource *o);
void tx_create(struct fuzz_input *in, struct model *m);

// ---- rules (texture_rules.c)

bool tx_as_driver(void);
bool tx_resource_is_valid(const struct object *o);
bool tx_is_array(const struct object *o);
bool tx_texture_is_valid(const struct object *o);
bool tx_view_format_is_valid(const struct object *o, unsigned *scale);
bool tx_view_is_valid(const struct object *o);

// ---- kernels (texture_fetch.c)

bool tx_has_resource(const struct object *o);
void tx_fetch(struct fuzz_input *in, struct model *m);
void tx_access_surface(struct fuzz_input *in, struct model *m);
void tx_access_anything(struct fuzz_input *in, struct model *m);
