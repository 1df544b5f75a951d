// SPDX-License-Identifier: MIT
// Fuzzes the resources of OpenGL and EGL: buffers, textures of all targets, renderbuffers and
// EGLImages are registered, mapped in lists, read and written by both sides, unmapped, unregistered
// and deleted, with one of two contexts that share them or without one. A model predicts each
// result and each descriptor, and keeps the bytes of all levels.
//
// What the manual leaves undefined is left out, or its bytes are unknown: writes through READ_ONLY
// mappings, reads through WRITE_DISCARD mappings, and use of mapped objects by OpenGL.
#include "gl_model.h"

enum {
    READ_ONLY = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,
    WRITE_DISCARD = CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
    HINTS = READ_ONLY | WRITE_DISCARD,
    SURFACE_LDST = CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST,
    GATHER = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER,
};

static bool as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

static void expect(const char *call, CUresult got, CUresult wanted)
{
    FUZZ_CHECK(got == wanted, "%s: %d, expected %d", call, (int)got, (int)wanted);
}

static struct object *any_object(struct fuzz_input *in, const struct model *m)
{
    return m->objects[fuzz_below(in, OBJECTS)];
}

// Mostly one that is registered.
static struct resource *any_resource(struct fuzz_input *in, struct model *m)
{
    unsigned n = fuzz_below(in, RESOURCES);
    for (unsigned i = 0; i < RESOURCES && !m->resources[n].handle && !fuzz_chance(in, 12); i++)
        n = (n + 1) % RESOURCES;
    return &m->resources[n];
}

// Whether CUDA may have newer bytes than OpenGL, or reads them.
static bool is_mapped(const struct model *m, const struct object *o)
{
    for (unsigned i = 0; i < RESOURCES; i++)
        if (m->resources[i].object == o && m->resources[i].mapped)
            return true;
    return false;
}

static bool has_resource(const struct model *m, const struct object *o, bool of_image)
{
    for (unsigned i = 0; i < RESOURCES; i++)
        if (m->resources[i].object == o && m->resources[i].of_image == of_image)
            return true;
    return false;
}

// ---- registering

static void begin(struct resource *r, CUgraphicsResource handle, struct object *o, unsigned flags)
{
    *r = (struct resource){
        .handle = handle, .object = o, .registered = flags, .flags = flags & HINTS};
    o->references++;
}

// "flags": 0, READ_ONLY or WRITE_DISCARD for buffers; images also take SURFACE_LDST and
// TEXTURE_GATHER, in any combination (recorded: register-flags-*), but 3D textures and 2D arrays
// cannot be gathered from. Targets and flags are checked first, and then that there is a context.
static void register_object(struct fuzz_input *in, struct model *m, struct resource *r)
{
    static const GLenum wrong_targets[] = {GL_TEXTURE_1D,
                                           GL_TEXTURE_1D_ARRAY,
                                           GL_TEXTURE_CUBE_MAP_ARRAY,
                                           GL_TEXTURE_BUFFER,
                                           GL_TEXTURE_2D_MULTISAMPLE,
                                           0,
                                           GL_TEXTURE_CUBE_MAP_POSITIVE_X,
                                           GL_ARRAY_BUFFER};
    struct object *o = any_object(in, m);
    unsigned flags = fuzz_chance(in, 3) ? (unsigned)(1u << fuzz_below(in, 5)) & 15u : 0;
    if (fuzz_chance(in, 12))
        flags = (unsigned)fuzz_take(in, fuzz_chance(in, 2) ? 1 : 4);
    const bool buffer = fuzz_chance(in, 24) ? fuzz_below(in, 2) : o && !o->target;
    GLenum target = o ? o->target : GL_TEXTURE_2D;
    if (fuzz_chance(in, 12))
        target = wrong_targets[fuzz_below(in, FUZZ_COUNT(wrong_targets))];
    const bool wrong_target = o && target != o->target;
    GLuint name = o ? o->name : 0;
    if (fuzz_chance(in, 16))
        name = fuzz_chance(in, 2) ? 0 : 0x7ffffff0u + fuzz_below(in, 8);
    if (r->handle || !o || o->deleted || has_resource(m, o, true) || buffer != !o->target)
        return;
    bool flags_are_valid = buffer ? flags <= 2 : flags < 16;
    if (flags & GATHER && (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY))
        flags_are_valid = false;
    CUgraphicsResource handle = NULL;
    const CUresult got = buffer ? cuGraphicsGLRegisterBuffer(&handle, name, flags)
                                : cuGraphicsGLRegisterImage(&handle, name, target, flags);
    CUresult wanted = CUDA_SUCCESS;
    if (!flags_are_valid || !name || (!buffer && wrong_target))
        wanted = CUDA_ERROR_INVALID_VALUE;
    else if (m->context < 0)
        wanted = CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    else if (name != o->name)
        wanted = CUDA_ERROR_INVALID_HANDLE;
    FUZZ_CHECK(got == wanted, "name %u of target %#x (%#x), flags %#x, context %d: %d, expected %d",
               name, target, o->target, flags, m->context, (int)got, (int)wanted);
    if (!got)
        begin(r, handle, o, flags);
}

// "flags": 0, READ_ONLY or WRITE_DISCARD. An image is mapped as long as it is registered.
static void register_image(struct fuzz_input *in, struct model *m, struct resource *r)
{
    struct object *o = any_object(in, m);
    const unsigned flags = fuzz_chance(in, 4) ? (unsigned)fuzz_take(in, 1) : 0;
    const bool null = fuzz_chance(in, 16);
    if (r->handle || !o || o->deleted || m->context < 0 || has_resource(m, o, false))
        return;
    fg_make_image(o);
    if (!o->image)
        return;
    CUgraphicsResource handle = NULL;
    const CUresult got = cuGraphicsEGLRegisterImage(&handle, null ? NULL : o->image, flags);
    if (flags <= 2 && !null && !o->format->as_egl_image) {
        FUZZ_CHECK(got, "an EGLImage of format %#x was registered", o->format->internal);
        return;
    }
    expect("cuGraphicsEGLRegisterImage", got,
           flags > 2 ? CUDA_ERROR_INVALID_VALUE
           : null    ? CUDA_ERROR_UNKNOWN
                     : CUDA_SUCCESS);
    if (got)
        return;
    begin(r, handle, o, flags);
    r->of_image = r->mapped = true;
    r->mapped_as = flags;
}

static void unregister(struct model *m, struct resource *r)
{
    if (!r->handle)
        return;
    const CUresult got = cuGraphicsUnregisterResource(r->handle);
    const CUresult wanted = r->mapped && !r->of_image        ? CUDA_ERROR_ALREADY_MAPPED
                            : m->context < 0 && !r->of_image ? CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
                                                             : CUDA_SUCCESS;
    expect("cuGraphicsUnregisterResource", got, wanted);
    if (got)
        return;
    struct object *o = r->object;
    memset(r, 0, sizeof *r);
    o->references--;
    if (o->deleted)
        fg_release(o);
}

// ---- mapping

// The list is checked in this order: entries that are no resources, their states, the context of
// OpenGL, and at last entries that are there twice (docs/reference/graphics.md). Under driver-580 a
// wrong list may change the resources, so no list has entries twice, or is used without a context.
static void map_or_unmap(struct fuzz_input *in, struct model *m, bool map)
{
    CUgraphicsResource list[LIST];
    struct resource *chosen[LIST];
    const unsigned count = fuzz_chance(in, 3) ? 1 + fuzz_below(in, LIST) : 1;
    bool bad = false, twice = false, wrong_state = false, image = false;
    for (unsigned i = 0; i < count; i++) {
        struct resource *r = chosen[i] = any_resource(in, m);
        list[i] = r->handle;
        bad |= !r->handle;
        wrong_state |= r->mapped == map;
        image |= r->of_image;
        for (unsigned k = 0; k < i; k++)
            twice |= chosen[k] == r;
    }
    if (image && count > 1)
        return;
    if (as_driver() && (twice || m->context < 0))
        return;
    const CUstream stream = fuzz_below(in, 2) ? m->stream : NULL;
    const CUresult got = map ? cuGraphicsMapResources(count, list, stream)
                             : cuGraphicsUnmapResources(count, list, stream);
    const CUresult wrong = map ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_NOT_MAPPED;
    const CUresult wanted = image            ? CUDA_ERROR_UNKNOWN
                            : bad            ? CUDA_ERROR_INVALID_HANDLE
                            : wrong_state    ? wrong
                            : m->context < 0 ? CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
                            : twice          ? CUDA_ERROR_INVALID_HANDLE
                                             : CUDA_SUCCESS;
    expect(map ? "cuGraphicsMapResources" : "cuGraphicsUnmapResources", got, wanted);
    for (unsigned i = 0; i < count && !got; i++) {
        struct resource *r = chosen[i];
        r->mapped = map;
        r->mapped_as = r->flags;
        if (map && r->flags & WRITE_DISCARD)
            fg_forget(r->object);
    }
}

static void set_flags(struct fuzz_input *in, struct resource *r)
{
    const unsigned flags = fuzz_chance(in, 3) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 3);
    if (!r->handle || r->of_image)
        return;
    const CUresult got = cuGraphicsResourceSetMapFlags(r->handle, flags);
    expect("cuGraphicsResourceSetMapFlags", got,
           flags > 2   ? CUDA_ERROR_INVALID_VALUE
           : r->mapped ? CUDA_ERROR_ALREADY_MAPPED
                       : CUDA_SUCCESS);
    if (!got)
        r->flags = flags;
}

// ---- use by CUDA

// Whether the bytes mean something: an access against the mapping's hint is left out.
static bool may_access(const struct resource *r, bool write)
{
    return !(r->mapped_as & (write ? READ_ONLY : WRITE_DISCARD));
}

static void note_row(struct level *l, size_t at, const uint8_t *row, size_t row_B, bool write)
{
    if (write) {
        memcpy(l->bytes + at, row, row_B);
        memset(l->known + at, 1, row_B);
        return;
    }
    for (size_t i = 0; i < row_B; i++)
        FUZZ_CHECK(!l->known[at + i] || row[i] == l->bytes[at + i],
                   "byte %zu in CUDA: %#x, expected %#x", at + i, row[i], l->bytes[at + i]);
}

static void use_buffer(struct fuzz_input *in, struct model *m, struct resource *r, bool write)
{
    static uint8_t row[BUFFER_MOST_B];
    CUdeviceptr address = 0;
    CUarray array = NULL;
    CUmipmappedArray mip = NULL;
    size_t size_B = 0;
    struct level *l = &r->object->levels[0];
    const CUresult state = r->mapped ? CUDA_SUCCESS : CUDA_ERROR_NOT_MAPPED;
    expect("cuGraphicsResourceGetMappedPointer",
           cuGraphicsResourceGetMappedPointer(&address, &size_B, r->handle), state);
    expect("cuGraphicsSubResourceGetMappedArray",
           cuGraphicsSubResourceGetMappedArray(&array, r->handle, 0, 0),
           state ? state : CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    expect("cuGraphicsResourceGetMappedMipmappedArray",
           cuGraphicsResourceGetMappedMipmappedArray(&mip, r->handle),
           state ? state : CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    if (state)
        return;
    FUZZ_CHECK(size_B == l->size_B, "%zu bytes, expected %zu", size_B, l->size_B);
    const struct box b = fg_any_box(in, l);
    const uint8_t value = (uint8_t)fuzz_take(in, 1);
    if (!may_access(r, write))
        return;
    if (write) {
        memset(row, value, b.width);
        FUZZ_OK(fuzz_below(in, 2) ? cuMemsetD8Async(address + b.x, value, b.width, m->stream)
                                  : cuMemcpyHtoD(address + b.x, row, b.width));
    } else {
        FUZZ_OK(cuMemcpyDtoH(row, address + b.x, b.width));
    }
    note_row(l, b.x, row, b.width, write);
}

// "arrayIndex": the layer, or the face of a cubemap. The arrays of layers are two-dimensional, and
// the mipmapped array has all layers; that of a cubemap has CUDA_ARRAY3D_CUBEMAP and no depth
// (docs/reference/opengl.md).
static void check_array(const struct resource *r, CUarray array, unsigned n, bool of_mip)
{
    const struct object *o = r->object;
    const struct level *l = &o->levels[n];
    const bool cube = o->target == GL_TEXTURE_CUBE_MAP;
    CUDA_ARRAY3D_DESCRIPTOR d;
    FUZZ_OK(cuArray3DGetDescriptor(&d, array));
    unsigned depth = o->target == GL_TEXTURE_3D ? l->depth : 0, flags = 0;
    if (of_mip && fg_is_layered(o)) {
        depth = cube ? 0 : l->depth;
        flags = cube ? CUDA_ARRAY3D_CUBEMAP : CUDA_ARRAY3D_LAYERED;
    }
    if (r->of_image || r->registered & SURFACE_LDST)
        flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (r->of_image || r->registered & GATHER)
        flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
    FUZZ_CHECK(d.Width == l->width && d.Height == l->height && d.Depth == depth &&
                   d.Format == o->format->array && d.NumChannels == o->format->channels &&
                   d.Flags == flags,
               "target %#x, level %u of %u x %u x %u: %zu x %zu x %zu, format %d x %u, flags %#x, "
               "expected depth %u, format %d x %u, flags %#x",
               o->target, n, l->width, l->height, l->depth, d.Width, d.Height, d.Depth,
               (int)d.Format, d.NumChannels, d.Flags, depth, (int)o->format->array,
               o->format->channels, flags);
}

// Copies a box between the host and an array, whose slices begin at `z` of the level.
static void copy_box(struct fuzz_input *in, const struct object *o, struct level *l, CUarray array,
                     const struct box *b, unsigned z, bool write)
{
    static uint8_t host[EXTENT_MOST * EXTENT_MOST * 16];
    const size_t row_B = (size_t)b->width * o->format->texel_B, x_B = b->x * o->format->texel_B;
    CUDA_MEMCPY3D c = {.WidthInBytes = row_B, .Height = b->height, .Depth = 1};
    c.srcHost = c.dstHost = host;
    if (write) {
        const uint8_t seed = (uint8_t)fuzz_take(in, 1);
        for (size_t i = 0; i < row_B * b->height; i++)
            host[i] = (uint8_t)(((i * 7 + seed) & 0x3b) | 0x20);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array;
        c.dstXInBytes = x_B, c.dstY = b->y, c.dstZ = z;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = array;
        c.srcXInBytes = x_B, c.srcY = b->y, c.srcZ = z;
    }
    FUZZ_OK(cuMemcpy3D(&c));
    for (unsigned row = 0; row < b->height; row++)
        note_row(l, fg_place_of(o, l, b, row), host + row * row_B, row_B, write);
}

static void check_states(const struct resource *r, unsigned layer, unsigned n)
{
    CUdeviceptr address = 0;
    size_t size_B = 0;
    CUarray array = NULL;
    CUmipmappedArray mip = NULL;
    const struct object *o = r->object;
    const unsigned layers = fg_is_layered(o) ? o->levels[0].depth : 1;
    const CUresult state = r->mapped ? CUDA_SUCCESS : CUDA_ERROR_NOT_MAPPED;
    const CUresult place = layer < layers && n < o->chain ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    expect("cuGraphicsResourceGetMappedPointer",
           cuGraphicsResourceGetMappedPointer(&address, &size_B, r->handle),
           state ? state : CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    expect("cuGraphicsSubResourceGetMappedArray",
           cuGraphicsSubResourceGetMappedArray(&array, r->handle, layer, n), state ? state : place);
    expect("cuGraphicsResourceGetMappedMipmappedArray",
           cuGraphicsResourceGetMappedMipmappedArray(&mip, r->handle), state);
    if (!state)
        expect("cuMipmappedArrayGetLevel", cuMipmappedArrayGetLevel(&array, mip, n),
               n < o->chain ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static void use_image(struct fuzz_input *in, struct resource *r, bool write)
{
    const struct object *o = r->object;
    const unsigned n = fuzz_below(in, o->count);
    struct level *l = &r->object->levels[n];
    const struct box b = fg_any_box(in, l);
    const bool by_layer = fuzz_below(in, 2);
    CUmipmappedArray mip;
    CUarray array;
    if (!r->of_image)
        check_states(r, fuzz_below(in, 8), fuzz_below(in, LEVELS_MOST));
    if (!r->mapped)
        return;
    const unsigned layer = fg_is_layered(o) ? b.z : 0;
    if (by_layer || r->of_image) {
        FUZZ_OK(cuGraphicsSubResourceGetMappedArray(&array, r->handle, layer, n));
    } else {
        FUZZ_OK(cuGraphicsResourceGetMappedMipmappedArray(&mip, r->handle));
        FUZZ_OK(cuMipmappedArrayGetLevel(&array, mip, n));
    }
    check_array(r, array, n, !by_layer && !r->of_image);
    if (!may_access(r, write) ||
        (!by_layer && !r->of_image && b.z && o->target == GL_TEXTURE_CUBE_MAP))
        return;                  // the descriptor of a cubemap has no depth
    FUZZ_OK(cuCtxSynchronize()); // an EGLImage shows OpenGL's writes after that
    copy_box(in, o, l, array, &b, by_layer && fg_is_layered(o) ? 0 : b.z, write);
}

// The frame of an EGLImage (recorded: x_runtime egl_image). Other resources have no frame.
static void check_frame(const struct resource *r)
{
    CUeglFrame frame;
    CUarray array;
    memset(&frame, 0xee, sizeof frame);
    const CUresult got = cuGraphicsResourceGetMappedEglFrame(&frame, r->handle, 0, 0);
    if (!r->of_image) {
        FUZZ_CHECK(got, "a resource of OpenGL has an EGL frame");
        return;
    }
    const struct object *o = r->object;
    const unsigned color = o->format->channels == 1   ? CU_EGL_COLOR_FORMAT_L
                           : o->format->channels == 2 ? CU_EGL_COLOR_FORMAT_RG
                                                      : CU_EGL_COLOR_FORMAT_ABGR;
    expect("cuGraphicsResourceGetMappedEglFrame", got, CUDA_SUCCESS);
    FUZZ_OK(cuGraphicsSubResourceGetMappedArray(&array, r->handle, 0, 0));
    FUZZ_CHECK(frame.frameType == CU_EGL_FRAME_TYPE_ARRAY && frame.planeCount == 1 &&
                   frame.width == o->levels[0].width && frame.height == o->levels[0].height &&
                   frame.numChannels == o->format->channels && frame.cuFormat == o->format->array &&
                   !frame.pitch && frame.frame.pArray[0] == array,
               "type %d, %u planes, %u x %u, pitch %u, %u channels of %d, array %p, expected %p",
               (int)frame.frameType, frame.planeCount, frame.width, frame.height, frame.pitch,
               frame.numChannels, (int)frame.cuFormat, (void *)frame.frame.pArray[0],
               (void *)array);
    FUZZ_CHECK(o->format->channels == 1 || (unsigned)frame.eglColorFormat == color,
               "color %d, expected %u", (int)frame.eglColorFormat, color);
}

static void use(struct fuzz_input *in, struct model *m, struct resource *r)
{
    const bool write = fuzz_below(in, 2);
    if (!r->handle)
        return;
    if (fuzz_chance(in, 8))
        check_frame(r);
    if (!r->object->target)
        use_buffer(in, m, r, write);
    else
        use_image(in, r, write);
}

// ---- OpenGL's side

static bool is_at_rest(const struct model *m, const struct object *o)
{
    return o && !o->deleted && m->context >= 0 && (!is_mapped(m, o) || has_resource(m, o, true));
}

static void replace(struct fuzz_input *in, struct model *m)
{
    struct object **o = &m->objects[fuzz_below(in, OBJECTS)];
    if (m->context < 0)
        return;
    if (*o) {
        fg_delete(*o);
        fg_release(*o); // or its last resource does
    }
    *o = fuzz_below(in, 4) ? fg_create(in) : NULL;
}

static void step(struct fuzz_input *in, struct model *m)
{
    struct resource *r = any_resource(in, m), *slot = &m->resources[fuzz_below(in, RESOURCES)];
    struct object *o = any_object(in, m);
    switch (fuzz_below(in, 18)) {
    case 0:
    case 1:
    case 2:
        register_object(in, m, slot);
        break;
    case 3:
        register_image(in, m, slot);
        break;
    case 4:
    case 5:
    case 6:
        map_or_unmap(in, m, true);
        break;
    case 7:
    case 8:
        map_or_unmap(in, m, false);
        break;
    case 9:
        if (fuzz_chance(in, 3))
            set_flags(in, r);
        else
            unregister(m, r);
        break;
    case 10:
        if (is_at_rest(m, o))
            fg_write(in, o);
        break;
    case 11:
        if (is_at_rest(m, o))
            fg_check(o);
        break;
    case 12:
        if (fuzz_chance(in, 3))
            replace(in, m);
        else
            fg_use_context(m, fuzz_chance(in, 4) ? -1 : (int)fuzz_below(in, CONTEXTS));
        break;
    case 13:
        if (m->context < 0)
            fg_use_context(m, (int)fuzz_below(in, CONTEXTS));
        break;
    default:
        use(in, m, r);
    }
}

// ---- one input

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    setenv("GALLIUM_DRIVER", "llvmpipe", 1);
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    CUcontext context = fuzz_context();
    memset(&m, 0, sizeof m);
    fg_begin();
    fg_use_context(&m, 0);
    FUZZ_OK(cuStreamCreate(&m.stream, 0));
    for (unsigned i = 0; i < OBJECTS; i++)
        m.objects[i] = fg_create(&in);
    for (unsigned n = 0; n < STEPS && fuzz_more(&in); n++)
        step(&in, &m);
    fg_use_context(&m, 0);
    for (unsigned i = 0; i < RESOURCES; i++) {
        struct resource *r = &m.resources[i];
        if (r->mapped && !r->of_image) {
            FUZZ_OK(cuGraphicsUnmapResources(1, &r->handle, NULL));
            r->mapped = false;
        }
        unregister(&m, r);
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        if (!m.objects[i])
            continue;
        fg_check(m.objects[i]);
        fg_delete(m.objects[i]);
        fg_release(m.objects[i]);
    }
    FUZZ_OK(cuStreamDestroy(m.stream));
    FUZZ_OK(cuCtxDestroy(context));
    fg_use_context(&m, -1);
    return 0;
}
