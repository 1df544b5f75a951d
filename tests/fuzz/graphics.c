// SPDX-License-Identifier: MIT
// Fuzzes the life of graphics resources with the virtual graphics API: registering, mapping lists,
// pointers and arrays, use, unmapping, unregistering, resizing and destroying objects. A model of
// the manual's states predicts each result, and the bytes of buffers.
#include <cardless.h>

#include "fuzz.h"

enum { OBJECTS = 4, RESOURCES = 6, BUFFER_B = 3000, STEPS = 96, LIST = 4 };

struct object {
    bool is_buffer, alive;
    cardlessBuffer buffer;
    cardlessTexture texture;
    bool known; // the model knows the bytes
    uint8_t model[BUFFER_B];
};

struct resource {
    CUgraphicsResource handle;
    struct object *object;
    unsigned generation; // of the object's storage when it was registered
    unsigned flags;      // how it is mapped
    bool registered, mapped;
};

struct world {
    struct object object[OBJECTS];
    struct resource resource[RESOURCES];
    bool manual; // the personality whose codes the model predicts
};

// ---- objects ----

static void make_object(struct fuzz_input *in, struct object *o)
{
    memset(o, 0, sizeof *o);
    o->alive = true;
    o->is_buffer = !fuzz_chance(in, 3);
    o->known = o->is_buffer;
    if (o->is_buffer) {
        FUZZ_OK(cardlessBufferCreate(&o->buffer, BUFFER_B));
        return;
    }
    cardlessTextureDesc d = {.kind = CARDLESS_TEXTURE_2D,
                             .width = 1 + fuzz_below(in, 64),
                             .height = 1 + fuzz_below(in, 64),
                             .levels = 1,
                             .format = CU_AD_FORMAT_UNSIGNED_INT8,
                             .channels = 4};
    FUZZ_OK(cardlessTextureCreate(&o->texture, &d));
}

// Any extents: the call succeeds, or it is refused and changes nothing.
static void hostile_texture(struct fuzz_input *in)
{
    cardlessTexture t = NULL;
    cardlessTextureDesc d = {.kind = (cardlessTextureKind)fuzz_below(in, 9),
                             .width = (unsigned)fuzz_size(in, 64),
                             .height = (unsigned)fuzz_size(in, 64),
                             .depth = (unsigned)fuzz_size(in, 8),
                             .layers = (unsigned)fuzz_size(in, 8),
                             .levels = (unsigned)fuzz_size(in, 4),
                             .format = (CUarray_format)fuzz_take(in, 1),
                             .channels = fuzz_below(in, 6)};
    if ((uint64_t)d.width * (d.height + 1ull) > 1 << 20 || d.depth > 64 || d.layers > 64)
        return; // skipped, because the texture might be created and would be large
    CUresult r = cardlessTextureCreate(&t, &d);
    FUZZ_CHECK(!r == (t != NULL), "result %d, handle %p", (int)r, (void *)t);
    if (!r)
        FUZZ_OK(cardlessTextureDestroy(t));
}

static bool is_mapped(const struct world *w, const struct object *o)
{
    for (unsigned i = 0; i < RESOURCES; i++)
        if (w->resource[i].mapped && w->resource[i].object == o)
            return true;
    return false;
}

static bool is_registered(const struct world *w, const struct object *o)
{
    for (unsigned i = 0; i < RESOURCES; i++)
        if (w->resource[i].registered && w->resource[i].object == o)
            return true;
    return false;
}

// ---- the calls, and the model's predictions ----

static void expect(const struct world *w, const char *call, CUresult got, CUresult wanted)
{
    if (w->manual)
        FUZZ_CHECK(got == wanted, "%s returned %d, expected %d", call, (int)got, (int)wanted);
}

static void register_object(struct fuzz_input *in, struct world *w, struct resource *r)
{
    struct object *o = &w->object[fuzz_below(in, OBJECTS)];
    unsigned flags = fuzz_chance(in, 6) ? (unsigned)fuzz_take(in, 4) : 0;
    if (r->registered || !o->alive)
        return;
    // "flags": NONE, READ_ONLY, WRITE_DISCARD; images also SURFACE_LDST and TEXTURE_GATHER.
    bool valid = o->is_buffer ? flags <= 2 : flags < 16;
    CUgraphicsResource handle = NULL;
    CUresult got = o->is_buffer ? cardlessRegisterBuffer(&handle, o->buffer, flags)
                                : cardlessRegisterTexture(&handle, o->texture, flags);
    expect(w, "register", got, valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    if (got)
        return;
    if (flags)
        o->known = false; // hints: writes may not arrive, and bytes may be discarded
    *r = (struct resource){.handle = handle, .object = o, .registered = true, .flags = flags};
}

// "If any of resources is currently mapped …, then CUDA_ERROR_ALREADY_MAPPED is returned"; an entry
// that is not a resource is CUDA_ERROR_INVALID_HANDLE and is found first, a repeated one is too and
// is found last.
static void map_or_unmap(struct fuzz_input *in, struct world *w, bool map)
{
    CUgraphicsResource list[LIST];
    struct resource *chosen[LIST];
    unsigned count = 1 + fuzz_below(in, LIST);
    bool bad = false, twice = false, wrong_state = false;
    for (unsigned i = 0; i < count; i++) {
        struct resource *r = chosen[i] = &w->resource[fuzz_below(in, RESOURCES)];
        list[i] = fuzz_chance(in, 32) ? (CUgraphicsResource)(uintptr_t)fuzz_take(in, 8) : r->handle;
        bad |= !r->registered || list[i] != r->handle;
        wrong_state |= r->mapped == map;
        for (unsigned j = 0; j < i; j++)
            twice |= chosen[j] == r;
    }
    CUresult got = map ? cuGraphicsMapResources(count, list, NULL)
                       : cuGraphicsUnmapResources(count, list, NULL);
    CUresult wrong = map ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_NOT_MAPPED;
    CUresult wanted = bad           ? CUDA_ERROR_INVALID_HANDLE
                      : wrong_state ? wrong
                      : twice       ? CUDA_ERROR_INVALID_HANDLE
                                    : CUDA_SUCCESS;
    expect(w, map ? "map" : "unmap", got, wanted);
    // The driver may have mapped a part of the list, so the bytes are unknown.
    if (!w->manual && got) {
        for (unsigned i = 0; i < OBJECTS; i++)
            w->object[i].known = false;
    }
    for (unsigned i = 0; i < count && !got; i++)
        chosen[i]->mapped = map;
}

static void use_mapped(struct fuzz_input *in, struct world *w, struct resource *r)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    CUarray array = NULL;
    if (!r->registered)
        return;
    struct object *o = r->object;
    CUresult pointer = cuGraphicsResourceGetMappedPointer(&address, &size, r->handle);
    CUresult level = cuGraphicsSubResourceGetMappedArray(&array, r->handle, 0, 0);
    expect(w, "pointer", pointer,
           !r->mapped     ? CUDA_ERROR_NOT_MAPPED
           : o->is_buffer ? CUDA_SUCCESS
                          : CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    expect(w, "array", level,
           !r->mapped     ? CUDA_ERROR_NOT_MAPPED
           : o->is_buffer ? CUDA_ERROR_NOT_MAPPED_AS_ARRAY
                          : CUDA_SUCCESS);
    if (level == CUDA_SUCCESS) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        FUZZ_OK(cuArray3DGetDescriptor(&d, array));
    }
    if (pointer)
        return;
    FUZZ_CHECK(size == BUFFER_B || !w->manual, "%zu bytes", size);
    uint64_t offset = fuzz_below(in, BUFFER_B), bytes = fuzz_below(in, BUFFER_B);
    uint8_t value = (uint8_t)fuzz_take(in, 1);
    bool fits = offset + bytes <= BUFFER_B;
    if (!fits)
        return;
    CUresult fill = cuMemsetD8(address + offset, value, bytes);
    FUZZ_CHECK(!fill, "a fill of a mapped buffer returned %d", (int)fill);
    memset(o->model + offset, value, bytes);
}

static void set_flags(struct fuzz_input *in, struct world *w, struct resource *r)
{
    unsigned flags = fuzz_chance(in, 3) ? (unsigned)fuzz_take(in, 4) : 0;
    if (!r->registered)
        return;
    CUresult got = cuGraphicsResourceSetMapFlags(r->handle, flags);
    expect(w, "flags", got,
           flags > 2   ? CUDA_ERROR_INVALID_VALUE
           : r->mapped ? CUDA_ERROR_ALREADY_MAPPED
                       : CUDA_SUCCESS);
    if (!got && flags)
        r->object->known = false;
}

static void unregister(struct world *w, struct resource *r)
{
    if (!r->registered)
        return;
    CUresult got = cuGraphicsUnregisterResource(r->handle);
    expect(w, "unregister", got, r->mapped ? CUDA_ERROR_ALREADY_MAPPED : CUDA_SUCCESS);
    if (!got)
        r->registered = r->mapped = false;
}

static void graphics_work(struct fuzz_input *in, struct world *w, struct object *o)
{
    uint64_t offset = fuzz_below(in, BUFFER_B), bytes = fuzz_below(in, BUFFER_B);
    uint8_t value = (uint8_t)fuzz_take(in, 1);
    if (!o->alive || !o->is_buffer)
        return;
    bool fits = bytes && offset + bytes <= BUFFER_B;
    if (is_mapped(w, o))
        o->known = false; // G07: the outcome is undefined
    CUresult r = cardlessFillBuffer(o->buffer, offset, bytes, value);
    FUZZ_CHECK(!bytes || !r == fits, "a fill of %llu bytes at %llu: %d", (unsigned long long)bytes,
               (unsigned long long)offset, (int)r);
    if (!r)
        memset(o->model + offset, value, bytes);
}

static void look(struct world *w, struct object *o)
{
    static uint8_t bytes[BUFFER_B];
    if (!o->alive || !o->is_buffer || is_mapped(w, o))
        return;
    FUZZ_OK(cardlessReadBuffer(o->buffer, 0, BUFFER_B, bytes));
    for (unsigned i = 0; o->known && i < BUFFER_B; i++)
        FUZZ_CHECK(bytes[i] == o->model[i], "byte %u is %#x, expected %#x", i, bytes[i],
                   o->model[i]);
}

static void replace(struct fuzz_input *in, struct world *w, struct object *o)
{
    if (is_registered(w, o) && !fuzz_chance(in, 4))
        return;
    if (o->alive) {
        bool orphan = is_registered(w, o);
        if (o->is_buffer)
            FUZZ_OK(cardlessBufferDestroy(o->buffer));
        else
            FUZZ_OK(cardlessTextureDestroy(o->texture));
        o->alive = false;
        if (orphan)
            w->manual = false; // G13, G14: undefined from here on
    } else if (!is_registered(w, o)) {
        make_object(in, o);
    }
}

static void step(struct fuzz_input *in, struct world *w)
{
    struct resource *r = &w->resource[fuzz_below(in, RESOURCES)];
    struct object *o = &w->object[fuzz_below(in, OBJECTS)];
    switch (fuzz_below(in, 16)) {
    case 0:
    case 1:
    case 2:
        register_object(in, w, r);
        break;
    case 3:
    case 4:
    case 5:
        map_or_unmap(in, w, true);
        break;
    case 6:
    case 7:
        map_or_unmap(in, w, false);
        break;
    case 8:
        set_flags(in, w, r);
        break;
    case 9:
        unregister(w, r);
        break;
    case 10:
        graphics_work(in, w, o);
        break;
    case 11:
        look(w, o);
        break;
    case 12:
        replace(in, w, o);
        break;
    case 13:
        hostile_texture(in);
        break;
    default:
        use_mapped(in, w, r);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    struct fuzz_input in = {data, data + size};
    CUcontext context = fuzz_context();
    memset(&w, 0, sizeof w);
    w.manual = !fuzz_is_driver_580();
    for (unsigned i = 0; i < OBJECTS; i++)
        make_object(&in, &w.object[i]);
    for (unsigned n = 0; n < STEPS && fuzz_more(&in); n++)
        step(&in, &w);
    for (unsigned i = 0; i < RESOURCES; i++) {
        struct resource *r = &w.resource[i];
        if (r->mapped)
            expect(&w, "unmap", cuGraphicsUnmapResources(1, &r->handle, NULL), CUDA_SUCCESS);
        r->mapped = false;
        unregister(&w, r);
    }
    for (unsigned i = 0; i < OBJECTS; i++)
        look(&w, &w.object[i]);
    FUZZ_OK(cuCtxDestroy(context));
    for (unsigned i = 0; i < OBJECTS; i++) {
        struct object *o = &w.object[i];
        if (o->alive && o->is_buffer)
            FUZZ_OK(cardlessBufferDestroy(o->buffer));
        else if (o->alive)
            FUZZ_OK(cardlessTextureDestroy(o->texture));
    }
    return 0;
}
