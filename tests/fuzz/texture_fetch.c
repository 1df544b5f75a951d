// SPDX-License-Identifier: MIT
// The fuzz target `texture`: predicts the texels that kernels fetch, and the bytes that they read
// and write through surfaces.
#include "texture_model.h"

static enum geometry geometry_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (d->Flags & CUDA_ARRAY3D_LAYERED)
        return d->Height ? A2D : A1D;
    return d->Depth ? D3 : d->Height ? D2 : D1;
}

// The index that a coordinate stands for, or -1: the border. Coordinates that are not normalised
// are clamped, except with CU_TR_ADDRESS_MODE_BORDER.
static int address(int i, int size, CUaddress_mode mode, bool normalised)
{
    const int period = mode == CU_TR_ADDRESS_MODE_MIRROR ? 2 * size : size;
    if (i >= 0 && i < size)
        return i;
    if (mode == CU_TR_ADDRESS_MODE_BORDER)
        return -1;
    if (mode == CU_TR_ADDRESS_MODE_CLAMP || !normalised)
        return i < 0 ? 0 : size - 1;
    i = (i % period + period) % period;
    return i < size ? i : 2 * size - 1 - i;
}

static int clamp(int i, int most)
{
    return i < 0 ? 0 : i > most ? most : i;
}

// The image that a texture fetches from, and how its channels are read.
struct source {
    const uint8_t *bytes;
    unsigned size[3], pitch_B, texel_B, channels;
    struct channel channel;
};

// The source of the fetches that the model predicts. False: others.
static bool source_of(const struct object *o, const struct level *l, struct source *s)
{
    const CUDA_RESOURCE_DESC *r = &o->resource;
    if (tx_is_array(o)) {
        *s = (struct source){.bytes = l->bytes,
                             .size = {l->width, l->height, l->depth},
                             .channels = o->on->desc.NumChannels,
                             .channel = tx_channel_of(o->on->desc.Format)};
        if (o->has_view)
            s->channel = tx_view_channel(o->view.format, &s->channels);
        s->texel_B = s->channels * s->channel.size_B;
        s->pitch_B = s->size[0] * s->texel_B;
        return s->texel_B;
    }
    const bool pitch = r->resType == CU_RESOURCE_TYPE_PITCH2D;
    const CUdeviceptr at = pitch ? r->res.pitch2D.devPtr : r->res.linear.devPtr;
    *s = (struct source){.channels = pitch ? r->res.pitch2D.numChannels : r->res.linear.numChannels,
                         .channel =
                             tx_channel_of(pitch ? r->res.pitch2D.format : r->res.linear.format)};
    s->texel_B = s->channels * s->channel.size_B;
    if (at < o->on->memory || at - o->on->memory >= LINEAR_B)
        return false;
    const uint64_t have_B = LINEAR_B - (at - o->on->memory);
    const uint64_t need_B = pitch ? (uint64_t)r->res.pitch2D.pitchInBytes * r->res.pitch2D.height
                                  : r->res.linear.sizeInBytes;
    s->bytes = o->on->levels[0].bytes + (at - o->on->memory);
    s->pitch_B = pitch ? (unsigned)r->res.pitch2D.pitchInBytes : 0;
    s->size[0] =
        pitch ? (unsigned)r->res.pitch2D.width : (unsigned)(r->res.linear.sizeInBytes / s->texel_B);
    s->size[1] = pitch ? (unsigned)r->res.pitch2D.height : 1;
    s->size[2] = 1;
    return need_B <= have_B && s->size[0] && s->size[1] > (pitch ? 1 : 0) &&
           (!pitch || (uint64_t)s->size[0] * s->texel_B <= s->pitch_B);
}

bool tx_has_resource(const struct object *o)
{
    return o->on && o->on->alive && o->on->made == o->made;
}

// Fetches some texels and compares them with the model's.
void tx_fetch(struct fuzz_input *in, struct model *m)
{
    const struct object *o = &m->textures[fuzz_below(in, OBJECTS)];
    const CUDA_TEXTURE_DESC *t = &o->texture;
    struct fetch_point points[POINTS];
    struct source sources[POINTS];
    const unsigned plain =
        CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES; // others change colours
    const bool linear = o->resource.resType == CU_RESOURCE_TYPE_LINEAR;
    if (!o->alive || !tx_has_resource(o) || (t->filterMode && !linear) || t->mipmapFilterMode ||
        t->maxAnisotropy > 1 || t->flags & ~plain || t->mipmapLevelBias ||
        t->minMipmapLevelClamp > 0 || t->maxMipmapLevelClamp < LEVELS_MOST)
        return;
    const bool normalised = t->flags & CU_TRSF_NORMALIZED_COORDINATES && !linear;
    const bool mip = o->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    unsigned first = o->level, last = mip ? o->on->count - 1 : o->level, layer = 0, layers = 1;
    enum geometry g = linear ? LINEAR : D2;
    if (tx_is_array(o)) {
        if (o->on->desc.Flags & CUDA_ARRAY3D_CUBEMAP)
            return; // fetched by direction: x_tex and `directions` compare these
        g = geometry_of(&o->on->desc);
        layers = o->on->desc.Flags & CUDA_ARRAY3D_LAYERED ? (unsigned)o->on->desc.Depth : 1;
    }
    if (o->has_view && tx_is_array(o)) {
        if (mip && o->view.firstMipmapLevel > last)
            return;
        first = mip ? o->view.firstMipmapLevel : first;
        last = mip && o->view.lastMipmapLevel < last ? o->view.lastMipmapLevel : last;
        layer = o->view.firstLayer;
        if (layer >= layers)
            return;
        if (g == A1D || g == A2D)
            layers = (o->view.lastLayer < layers ? o->view.lastLayer + 1 : layers) - layer;
    }
    for (unsigned i = 0; i < POINTS; i++) {
        struct fetch_point *p = &points[i];
        struct source *s = &sources[i];
        const int lod = mip ? (int)fuzz_below(in, 6) - 1 : 0;
        const unsigned level = first + (unsigned)clamp(lod, (int)(last - first));
        if (!source_of(o, tx_is_array(o) ? &o->on->levels[level] : NULL, s))
            return;
        memset(p, 0, sizeof *p);
        p->lod = (float)lod;
        p->layer = (int)fuzz_below(in, layers + 1);
        for (unsigned k = 0; k < 3; k++) {
            const int beyond = linear ? 0 : 3, size = (int)s->size[k];
            const int at = (int)fuzz_below(in, (unsigned)(size + 2 * beyond)) - beyond;
            p->at[k] = at;
            p->middle[k] = normalised ? ((float)at + 0.5f) / (float)size : (float)at + 0.5f;
        }
    }
    // Integers stay integers if the flag says so, and if they have 32 bits.
    const struct channel c = sources[0].channel;
    const bool promoted =
        c.type != FLOATING && c.size_B < 4 && !(t->flags & CU_TRSF_READ_AS_INTEGER);
    const enum number number = promoted ? FLOATING : c.type;
    fetch_texels(&m->fetcher, g, number, mip, o->handle, points);
    for (unsigned i = 0; i < POINTS; i++) {
        const struct source *s = &sources[i];
        const unsigned dimensions = g == D3 ? 3 : g == D1 || g == A1D || g == LINEAR ? 1 : 2;
        int at[3] = {0, 0, 0};
        bool border = false;
        for (unsigned k = 0; k < dimensions; k++) {
            at[k] = address(points[i].at[k], (int)s->size[k], t->addressMode[k], normalised);
            border |= at[k] < 0;
        }
        if (g == A1D || g == A2D)
            at[2] = (int)layer + clamp(points[i].layer, (int)layers - 1);
        const uint8_t *texel =
            border ? NULL
                   : s->bytes + ((size_t)at[2] * s->size[1] + (size_t)at[1]) * s->pitch_B +
                         (size_t)at[0] * s->texel_B;
        for (unsigned k = 0; k < s->channels; k++) {
            const uint32_t got = points[i].result[k];
            uint32_t expected = 0;
            if (!border && !expect_channel(s->channel, promoted, texel + k * c.size_B, &expected))
                continue; // a number whose bits the card changes
            FUZZ_CHECK(got == expected,
                       "texel %d, %d, %d of %u x %u, layer %d, lod %g, channel %u, modes %d %d, "
                       "flags %#x: %#x, expected %#x",
                       points[i].at[0], points[i].at[1], points[i].at[2], s->size[0], s->size[1],
                       points[i].layer, (double)points[i].lod, k, (int)t->addressMode[0],
                       (int)t->addressMode[1], t->flags, got, expected);
        }
    }
}

// Writes bytes or words through a surface, and reads others. Outside, a read gives 0, and a write
// does nothing.
void tx_access_surface(struct fuzz_input *in, struct model *m)
{
    const struct object *o = &m->surfaces[fuzz_below(in, OBJECTS)];
    struct fetch_point points[POINTS];
    if (!o->alive || !tx_has_resource(o) || !(o->on->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST) ||
        o->on->desc.Flags & CUDA_ARRAY3D_CUBEMAP)
        return;
    struct level *l = &o->on->levels[o->level];
    const enum geometry g = geometry_of(&o->on->desc);
    const unsigned row_B = l->width * tx_texel_B(&o->on->desc);
    const unsigned unit_B = tx_texel_B(&o->on->desc) >= 4 && fuzz_below(in, 2) ? 4 : 1;
    const bool write = fuzz_below(in, 2);
    uint8_t *places[POINTS];
    for (unsigned i = 0; i < POINTS; i++) {
        struct fetch_point *p = &points[i];
        memset(p, 0, sizeof *p);
        p->at[0] = ((int)fuzz_below(in, row_B / unit_B + 4) - 2) * (int)unit_B;
        p->at[1] = (int)fuzz_below(in, l->height + 4) - 2;
        p->at[2] = (int)fuzz_below(in, l->depth + 2) - 1;
        if (g == A1D || g == A2D) // layers outside are not the same for all cards
            p->at[2] = clamp(p->at[2], (int)l->depth - 1);
        if (g == D1 || g == A1D)
            p->at[1] = 0;
        if (g == D1 || g == D2)
            p->at[2] = 0;
        p->layer = p->at[2];
        // Each byte has its own value, so the order of two writes to one place does not count.
        const uint32_t value = (uint32_t)(p->at[0] * 7 + p->at[1] * 31 + p->at[2] * 13);
        p->value = value * 0x01020305u;
        const bool inside = p->at[0] >= 0 && (unsigned)p->at[0] < row_B && p->at[1] >= 0 &&
                            (unsigned)p->at[1] < l->height && p->at[2] >= 0 &&
                            (unsigned)p->at[2] < l->depth;
        places[i] =
            inside ? l->bytes + ((size_t)p->at[2] * l->height + (size_t)p->at[1]) * row_B + p->at[0]
                   : NULL;
    }
    access_texels(&m->fetcher, g, unit_B, write, o->handle, points);
    for (unsigned i = 0; i < POINTS; i++) {
        uint32_t expected = 0;
        if (write && places[i])
            memcpy(places[i], &points[i].value, unit_B);
        if (write)
            continue;
        if (places[i])
            memcpy(&expected, places[i], unit_B);
        FUZZ_CHECK(points[i].result[0] == expected,
                   "%u B at %d, %d, %d of %u B x %u x %u: %#x, expected %#x", unit_B,
                   points[i].at[0], points[i].at[1], points[i].at[2], row_B, l->height, l->depth,
                   points[i].result[0], expected);
    }
}

// Accesses any object, also one that was destroyed or that has lost its memory, at any place and in
// any way. Only a result is predicted: the kernel runs, or its context ends. The model then knows
// nothing of the bytes, so the input ends.
void tx_access_anything(struct fuzz_input *in, struct model *m)
{
    const unsigned n = fuzz_below(in, OBJECTS);
    const struct object *o = fuzz_chance(in, 3) ? &m->surfaces[n] : &m->textures[n];
    const unsigned long long handle = fuzz_chance(in, 16) ? fuzz_take(in, 8) : o->handle;
    const unsigned kind = fuzz_below(in, fetch_kinds());
    struct fetch_point points[POINTS];
    memset(points, 0, sizeof points);
    for (unsigned i = 0; i < POINTS; i++) {
        struct fetch_point *p = &points[i];
        const bool wild = fuzz_chance(in, 4);
        for (unsigned k = 0; k < 3; k++) {
            const uint32_t bits = (uint32_t)fuzz_take(in, wild ? 4 : 1);
            p->at[k] = wild ? (int)bits : (int)bits - 8;
            p->middle[k] = (float)bits / 16 - 4;
            if (wild)
                memcpy(&p->middle[k], &bits, sizeof bits);
        }
        p->layer = p->at[2];
        p->lod = p->middle[2];
    }
    const CUresult r = fetch_anything(&m->fetcher, kind, handle, points);
    FUZZ_CHECK(!r || fuzz_is_sticky(r) || r == CUDA_ERROR_MISALIGNED_ADDRESS,
               "access %u to object %#llx: %d", kind, handle, (int)r);
    FUZZ_CHECK(cuCtxSynchronize() == r, "after %d", (int)r);
    m->ended = true;
}
