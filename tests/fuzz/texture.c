// SPDX-License-Identifier: MIT
// Fuzzes descriptors of texture and surface objects on arrays, levels, mipmapped arrays and linear
// memory. A model predicts the result of each call and the descriptors that are read back. It keeps
// the bytes of all resources, and predicts what kernels fetch through textures, and read and write
// through surfaces (texture_kernel.h).
#include <cardless_fuzz.h>

#include "texture_model.h"

// ---- descriptors

// A descriptor of a resource. It has no `on` if it is one that the call must refuse.
static void any_resource(struct fuzz_input *in, struct model *m, struct object *o)
{
    struct resource *on = &m->resources[fuzz_below(in, RESOURCES)];
    CUDA_RESOURCE_DESC *r = &o->resource;
    const unsigned format = tx_formats[fuzz_below(in, 8)], channels = 1u << fuzz_below(in, 3);
    const CUdeviceptr address = on->memory + fuzz_below(in, 8) * 512;
    o->on = on->alive ? on : NULL;
    o->made = on->made;
    if (!on->alive || on->kind == ARRAY) {
        r->resType = CU_RESOURCE_TYPE_ARRAY;
        r->res.array.hArray = on->array;
    } else if (on->kind == MIPMAP && fuzz_below(in, 3)) {
        r->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        r->res.mipmap.hMipmappedArray = on->mip;
    } else if (on->kind == MIPMAP) {
        r->resType = CU_RESOURCE_TYPE_ARRAY;
        o->level = fuzz_below(in, on->count);
        FUZZ_OK(tx_level_of(on, o->level, &r->res.array.hArray));
    } else if (fuzz_below(in, 2)) {
        r->resType = CU_RESOURCE_TYPE_LINEAR;
        r->res.linear.format = (CUarray_format)format;
        r->res.linear.numChannels = channels;
        r->res.linear.devPtr = address;
        r->res.linear.sizeInBytes =
            fuzz_chance(in, 8) ? fuzz_size(in, UINT64_C(1) << 30) : fuzz_below(in, LINEAR_B - 4096);
    } else {
        r->resType = CU_RESOURCE_TYPE_PITCH2D;
        r->res.pitch2D.format = (CUarray_format)format;
        r->res.pitch2D.numChannels = channels;
        r->res.pitch2D.devPtr = address;
        r->res.pitch2D.width = fuzz_below(in, 33);
        r->res.pitch2D.height = fuzz_below(in, 20);
        r->res.pitch2D.pitchInBytes = 32 * fuzz_below(in, 40);
    }
}

// Changes a member of the resource descriptor.
static void spoil_resource(struct fuzz_input *in, struct object *o)
{
    CUDA_RESOURCE_DESC *r = &o->resource;
    const unsigned type = r->resType;
    switch (fuzz_below(in, 6)) {
    case 0:
        r->flags = (unsigned)fuzz_take(in, 4);
        break;
    case 1: // the handle of an array is not that of a mipmapped array, and no address is either
        r->resType = (CUresourcetype)(fuzz_chance(in, 2) ? fuzz_take(in, 4) : fuzz_below(in, 6));
        if ((unsigned)r->resType != type) {
            memset(&r->res, 0, sizeof r->res);
            o->on = NULL;
        }
        break;
    case 2:
        if (type == CU_RESOURCE_TYPE_LINEAR)
            r->res.linear.devPtr += fuzz_size(in, 512);
        else if (type == CU_RESOURCE_TYPE_PITCH2D)
            r->res.pitch2D.devPtr += fuzz_size(in, 512);
        break;
    case 3:
        if (type == CU_RESOURCE_TYPE_LINEAR)
            r->res.linear.numChannels = (unsigned)fuzz_take(in, 1);
        else if (type == CU_RESOURCE_TYPE_PITCH2D)
            r->res.pitch2D.numChannels = (unsigned)fuzz_take(in, 1);
        break;
    case 4:
        if (type == CU_RESOURCE_TYPE_LINEAR)
            r->res.linear.sizeInBytes = fuzz_size(in, UINT64_C(1) << 32);
        else if (type == CU_RESOURCE_TYPE_PITCH2D)
            r->res.pitch2D.pitchInBytes = fuzz_size(in, 2097120);
        break;
    default:
        if (type == CU_RESOURCE_TYPE_PITCH2D && fuzz_chance(in, 2))
            r->res.pitch2D.width = fuzz_size(in, 131072);
        else if (type == CU_RESOURCE_TYPE_PITCH2D)
            r->res.pitch2D.height = fuzz_size(in, 65000);
    }
}

static void any_texture(struct fuzz_input *in, struct object *o)
{
    CUDA_TEXTURE_DESC *t = &o->texture;
    for (unsigned i = 0; i < 3; i++)
        t->addressMode[i] = (CUaddress_mode)fuzz_below(in, 4);
    t->flags = fuzz_below(in, 4); // read as integer, normalised coordinates
    t->filterMode = (CUfilter_mode)fuzz_chance(in, 4);
    t->mipmapFilterMode = (CUfilter_mode)fuzz_chance(in, 4);
    t->maxAnisotropy = fuzz_below(in, 18);
    t->maxMipmapLevelClamp = 20;
    if (!fuzz_chance(in, 3))
        return;
    switch (fuzz_below(in, 6)) {
    case 0:
        t->addressMode[fuzz_below(in, 3)] = (CUaddress_mode)fuzz_take(in, 4);
        break;
    case 1:
        t->flags = (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1);
        break;
    case 2:
        t->filterMode = (CUfilter_mode)fuzz_take(in, fuzz_chance(in, 2) ? 4 : 1);
        break;
    case 3:
        t->mipmapFilterMode = (CUfilter_mode)fuzz_take(in, fuzz_chance(in, 2) ? 4 : 1);
        break;
    case 4:
        t->reserved[fuzz_below(in, 12)] = (int)fuzz_take(in, 1);
        break;
    default:
        t->mipmapLevelBias = (float)fuzz_below(in, 9) - 4;
        t->minMipmapLevelClamp = (float)fuzz_below(in, 5);
        t->maxMipmapLevelClamp = (float)fuzz_below(in, 5);
    }
}

// A view of the resource's extents, and mostly of a format of its texels' size.
static void any_view(struct fuzz_input *in, struct object *o)
{
    CUDA_RESOURCE_VIEW_DESC *v = &o->view;
    const struct resource *on = o->on;
    unsigned scale;
    o->has_view = true;
    v->format = (CUresourceViewFormat)fuzz_below(in, 36);
    if (!tx_is_array(o) || !on) // of linear memory, the view is ignored
        return;
    for (unsigned i = 0; i < 36 && !tx_view_format_is_valid(o, &scale); i++)
        v->format = (CUresourceViewFormat)((v->format + 1) % 36);
    tx_view_format_is_valid(o, &scale);
    const struct level *l = &on->levels[o->level];
    v->width = (size_t)l->width * scale;
    v->height = on->desc.Height ? (size_t)l->height * scale : 0;
    v->depth = on->desc.Depth ? l->depth : 0;
    if (on->kind == MIPMAP) {
        v->firstMipmapLevel = fuzz_below(in, on->count);
        v->lastMipmapLevel = v->firstMipmapLevel + fuzz_below(in, 4);
    }
    if (on->desc.Flags & CUDA_ARRAY3D_LAYERED) {
        v->firstLayer = fuzz_below(in, (unsigned)on->desc.Depth);
        v->lastLayer = v->firstLayer + fuzz_below(in, 4);
    }
    if (!fuzz_chance(in, 3))
        return;
    size_t *const sizes[] = {&v->width, &v->height, &v->depth};
    unsigned *const numbers[] = {&v->firstMipmapLevel, &v->lastMipmapLevel, &v->firstLayer,
                                 &v->lastLayer, &v->reserved[fuzz_below(in, 16)]};
    switch (fuzz_below(in, 3)) {
    case 0:
        *sizes[fuzz_below(in, 3)] = fuzz_size(in, v->width);
        break;
    case 1:
        *numbers[fuzz_below(in, 5)] = (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1);
        break;
    default:
        v->format = (CUresourceViewFormat)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1);
    }
}

// ---- calls

static void destroy_object(struct object *o, bool surface)
{
    if (!o->alive)
        return;
    if (surface) {
        FUZZ_OK(cuSurfObjectDestroy(o->handle));
    } else {
        CUDA_TEXTURE_DESC t;
        FUZZ_OK(cuTexObjectDestroy(o->handle));
        FUZZ_CHECK(cuTexObjectGetTextureDesc(&t, o->handle) == CUDA_ERROR_INVALID_VALUE,
                   "a texture that was destroyed has a descriptor");
    }
    o->alive = false;
}

static struct object any_object(struct fuzz_input *in, struct model *m)
{
    struct object o;
    memset(&o, 0, sizeof o);
    any_resource(in, m, &o);
    if (fuzz_chance(in, 8))
        spoil_resource(in, &o);
    return o;
}

// Recorded: texdesc/args (the handle is kept) and texview/2D-dims (a view without a format, if all
// else is right: the handle is cleared).
static void create_texture(struct fuzz_input *in, struct model *m)
{
    struct object *slot = &m->textures[fuzz_below(in, OBJECTS)], o = any_object(in, m);
    CUtexObject handle = 77;
    any_texture(in, &o);
    if (fuzz_chance(in, 3))
        any_view(in, &o);
    const unsigned null = fuzz_chance(in, 24) ? 1 + fuzz_below(in, 3) : 0;
    bool valid = !null && tx_resource_is_valid(&o) && tx_texture_is_valid(&o);
    if (o.has_view && tx_is_array(&o))
        valid = valid && tx_view_is_valid(&o);
    const CUresult r =
        cuTexObjectCreate(null == 1 ? NULL : &handle, null == 2 ? NULL : &o.resource,
                          null == 3 ? NULL : &o.texture, o.has_view ? &o.view : NULL);
    FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "resource type %d, flags %#x, null %u; modes %d %d %d, filters %d %d, flags %#x; "
               "view %d: %d of %zu x %zu x %zu, levels %u to %u, layers %u to %u: %d",
               (int)o.resource.resType, o.resource.flags, null, (int)o.texture.addressMode[0],
               (int)o.texture.addressMode[1], (int)o.texture.addressMode[2],
               (int)o.texture.filterMode, (int)o.texture.mipmapFilterMode, o.texture.flags,
               o.has_view, (int)o.view.format, o.view.width, o.view.height, o.view.depth,
               o.view.firstMipmapLevel, o.view.lastMipmapLevel, o.view.firstLayer, o.view.lastLayer,
               (int)r);
    if (r) {
        FUZZ_CHECK(handle == 77 || (!handle && o.has_view && !o.view.format),
                   "a refused call wrote handle %llu", handle);
        return;
    }
    destroy_object(slot, false);
    *slot = o;
    slot->handle = handle;
    slot->alive = true;
}

// "resType … must be CU_RESOURCE_TYPE_ARRAY and hArray … must be set to a valid CUDA array handle."
static void create_surface(struct fuzz_input *in, struct model *m)
{
    struct object *slot = &m->surfaces[fuzz_below(in, OBJECTS)], o = any_object(in, m);
    CUsurfObject handle = 77;
    const bool valid = tx_resource_is_valid(&o) && o.resource.resType == CU_RESOURCE_TYPE_ARRAY;
    const CUresult r = cuSurfObjectCreate(&handle, &o.resource);
    FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "resource type %d, flags %#x: %d", (int)o.resource.resType, o.resource.flags,
               (int)r);
    if (r) {
        FUZZ_CHECK(handle == 77, "a refused call wrote handle %llu", handle);
        return;
    }
    destroy_object(slot, true);
    *slot = o;
    slot->handle = handle;
    slot->alive = true;
}

// ---- descriptors that are read back

// Of linear memory with at most one row, the driver's texture header keeps less (recorded:
// random_arrays textures/131).
static void as_in_header(CUDA_RESOURCE_DESC *r)
{
    const size_t pitch_B = r->res.pitch2D.pitchInBytes;
    if (r->resType != CU_RESOURCE_TYPE_PITCH2D || r->res.pitch2D.height > 1)
        return;
    if (r->res.pitch2D.height) {
        r->res.pitch2D.pitchInBytes = 0;
        return;
    }
    r->resType = CU_RESOURCE_TYPE_LINEAR;
    r->res.linear.sizeInBytes = pitch_B;
}

static bool same_resource(const CUDA_RESOURCE_DESC *a, const CUDA_RESOURCE_DESC *b)
{
    if (a->resType != b->resType || a->flags != b->flags)
        return false;
    switch ((unsigned)a->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return a->res.array.hArray == b->res.array.hArray;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return a->res.mipmap.hMipmappedArray == b->res.mipmap.hMipmappedArray;
    case CU_RESOURCE_TYPE_LINEAR:
        return a->res.linear.devPtr == b->res.linear.devPtr &&
               a->res.linear.format == b->res.linear.format &&
               a->res.linear.numChannels == b->res.linear.numChannels &&
               a->res.linear.sizeInBytes == b->res.linear.sizeInBytes;
    default:
        return a->res.pitch2D.devPtr == b->res.pitch2D.devPtr &&
               a->res.pitch2D.format == b->res.pitch2D.format &&
               a->res.pitch2D.numChannels == b->res.pitch2D.numChannels &&
               a->res.pitch2D.width == b->res.pitch2D.width &&
               a->res.pitch2D.height == b->res.pitch2D.height &&
               a->res.pitch2D.pitchInBytes == b->res.pitch2D.pitchInBytes;
    }
}

// An unknown mode that was accepted comes back as CLAMP (recorded: texdesc/address-*, of
// coordinates that the resource lacks).
static bool same_texture(const struct object *o, const CUDA_TEXTURE_DESC *got)
{
    const CUDA_TEXTURE_DESC *t = &o->texture;
    for (unsigned i = 0; i < 3; i++) {
        const bool known = (unsigned)t->addressMode[i] <= CU_TR_ADDRESS_MODE_BORDER;
        if (got->addressMode[i] != (known ? t->addressMode[i] : CU_TR_ADDRESS_MODE_CLAMP))
            return false;
    }
    return got->filterMode == t->filterMode && got->flags == t->flags &&
           got->maxAnisotropy == t->maxAnisotropy && got->mipmapFilterMode == t->mipmapFilterMode &&
           got->mipmapLevelBias == t->mipmapLevelBias &&
           got->minMipmapLevelClamp == t->minMipmapLevelClamp &&
           got->maxMipmapLevelClamp == t->maxMipmapLevelClamp;
}

static void read_back(struct fuzz_input *in, struct model *m)
{
    const bool surface = fuzz_chance(in, 4);
    const unsigned n = fuzz_below(in, OBJECTS);
    const struct object *o = surface ? &m->surfaces[n] : &m->textures[n];
    CUDA_RESOURCE_DESC resource, expected = o->resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view, before;
    if (!o->alive)
        return;
    memset(&resource, 0x5a, sizeof resource);
    memset(&view, 0, sizeof view);
    before = view;
    if (surface) {
        FUZZ_OK(cuSurfObjectGetResourceDesc(&resource, o->handle));
    } else {
        FUZZ_OK(cuTexObjectGetResourceDesc(&resource, o->handle));
        FUZZ_OK(cuTexObjectGetTextureDesc(&texture, o->handle));
        FUZZ_CHECK(same_texture(o, &texture), "the texture descriptor of texture %u", n);
        FUZZ_OK(cuTexObjectGetResourceViewDesc(&view, o->handle));
        // Without a view nothing is written (recorded: texview/linear-and-pitch).
        FUZZ_CHECK(!memcmp(&view, o->has_view && tx_is_array(o) ? &o->view : &before, sizeof view),
                   "the view of texture %u, which has %d", n, o->has_view);
        if (tx_as_driver())
            as_in_header(&expected);
    }
    if (tx_is_array(o) && !tx_has_resource(o))
        return; // its array was destroyed
    FUZZ_CHECK(same_resource(&resource, &expected), "the resource of object %u, type %d", n,
               (int)o->resource.resType);
}

// A number that no object has. The driver destroys any (recorded: texdesc/args).
static void destroy_nothing(struct fuzz_input *in, struct model *m)
{
    const unsigned long long number = fuzz_chance(in, 4) ? 0 : fuzz_take(in, 8);
    const CUresult expected = tx_as_driver() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC r;
    for (unsigned i = 0; i < OBJECTS; i++) {
        if ((m->textures[i].alive && m->textures[i].handle == number) ||
            (m->surfaces[i].alive && m->surfaces[i].handle == number))
            return;
    }
    FUZZ_CHECK(cuTexObjectDestroy(number) == expected && cuSurfObjectDestroy(number) == expected,
               "destroying %#llx", number);
    FUZZ_CHECK(cuTexObjectGetResourceDesc(&r, number) == CUDA_ERROR_INVALID_VALUE,
               "the resource of %#llx", number);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 12)) {
    case 0:
    case 1:
        tx_create(in, m);
        break;
    case 2:
    case 3:
    case 4:
        create_texture(in, m);
        break;
    case 5:
        create_surface(in, m);
        break;
    case 6:
        read_back(in, m);
        break;
    case 7:
        if (fuzz_chance(in, 12))
            tx_access_anything(in, m);
        else if (fuzz_chance(in, 4))
            destroy_nothing(in, m);
        else if (fuzz_chance(in, 2))
            destroy_object(&m->textures[fuzz_below(in, OBJECTS)], false);
        else
            destroy_object(&m->surfaces[fuzz_below(in, OBJECTS)], true);
        break;
    case 8:
    case 9:
        tx_access_surface(in, m);
        break;
    default:
        tx_fetch(in, m);
    }
}

// If the context has ended, its objects end with it.
static void end(struct model *m)
{
    for (unsigned i = 0; i < RESOURCES; i++) {
        if (m->ended)
            tx_forget(&m->resources[i]);
    }
    if (m->ended)
        return;
    for (unsigned i = 0; i < OBJECTS; i++) {
        destroy_object(&m->textures[i], false);
        destroy_object(&m->surfaces[i], true);
    }
    for (unsigned i = 0; i < RESOURCES; i++)
        tx_destroy(&m->resources[i]);
    fetcher_finish(&m->fetcher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    fetcher_start(&m.fetcher);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in) && !m.ended; i++)
        step(&in, &m);
    end(&m);
    FUZZ_OK(cuCtxDestroy(context));
    if (m.ended) // and with it the device of the process
        FUZZ_OK(cardlessFuzzReset());
    return 0;
}
