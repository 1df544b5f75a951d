// SPDX-License-Identifier: MIT
// Fuzzes copies and fills between host memory, device memory and arrays, and keeps the bytes of
// every object in plain memory beside it: the model copies them one by one, and at the end both
// should be equal.
#include "fuzz.h"

enum { OBJECTS = 8, LINEAR_B = 4 << 10, STEPS = 32 };
enum kind { PAGEABLE, PINNED, DEVICE, ARRAY };

struct object {
    enum kind kind;
    uint8_t *host;       // pageable and pinned memory
    CUdeviceptr address; // device memory
    CUarray array;
    unsigned element_B;
    uint64_t width_B, height, depth; // of arrays; linear memory is one row
    uint8_t *model;
};

static uint64_t size_of(const struct object *o)
{
    return o->width_B * o->height * o->depth;
}

// ---- objects ----

static void make_array(struct fuzz_input *in, struct object *o)
{
    static const unsigned formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_HALF,
                                       CU_AD_FORMAT_FLOAT};
    unsigned shape = fuzz_below(in, 4), format = fuzz_below(in, 3),
             channels = 1u << fuzz_below(in, 3);
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 1 + fuzz_below(in, 70),
        .Height = shape == 0 ? 0 : 1 + fuzz_below(in, 40),
        .Depth = shape < 2 ? 0 : 1 + fuzz_below(in, 9),
        .Format = (CUarray_format)formats[format],
        .NumChannels = channels,
        .Flags = shape == 3 ? CUDA_ARRAY3D_LAYERED : 0,
    };
    FUZZ_OK(cuArray3DCreate(&o->array, &d));
    o->element_B = channels << format;
    o->width_B = d.Width * o->element_B;
    o->height = d.Height ? d.Height : 1;
    o->depth = d.Depth ? d.Depth : 1;
}

static CUDA_MEMCPY3D whole(const struct object *o, bool to_host, void *host)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = o->width_B, .Height = o->height, .Depth = o->depth};
    if (to_host) {
        c.srcMemoryType = o->kind == ARRAY ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
        c.srcArray = o->array;
        c.srcDevice = o->address;
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = host;
    } else {
        c.dstMemoryType = o->kind == ARRAY ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
        c.dstArray = o->array;
        c.dstDevice = o->address;
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = host;
    }
    return c;
}

static void make(struct fuzz_input *in, struct object *o, unsigned n)
{
    *o = (struct object){.kind = (enum kind)fuzz_below(in, 4),
                         .element_B = 1,
                         .width_B = LINEAR_B,
                         .height = 1,
                         .depth = 1};
    if (o->kind == PAGEABLE)
        o->host = malloc(LINEAR_B);
    else if (o->kind == PINNED)
        FUZZ_OK(cuMemHostAlloc((void **)&o->host, LINEAR_B, 0));
    else if (o->kind == DEVICE)
        FUZZ_OK(cuMemAlloc(&o->address, LINEAR_B));
    else
        make_array(in, o);
    o->model = malloc(size_of(o));
    for (uint64_t i = 0, size_B = size_of(o); i < size_B; i++)
        o->model[i] = (uint8_t)(i * 7 + n * 31 + i / 251);
    if (o->host) {
        memcpy(o->host, o->model, LINEAR_B);
        return;
    }
    CUDA_MEMCPY3D c = whole(o, false, o->model);
    FUZZ_OK(cuMemcpy3D(&c));
}

static void read_back(const struct object *o, uint8_t *bytes)
{
    CUDA_MEMCPY3D c = whole(o, true, bytes);
    FUZZ_OK(cuMemcpy3D(&c));
}

static void compare(const struct object *o, unsigned n)
{
    uint8_t *bytes = o->host;
    if (!bytes) {
        bytes = malloc(size_of(o));
        read_back(o, bytes);
    }
    uint64_t i = memcmp(bytes, o->model, size_of(o)) ? 0 : size_of(o);
    for (; i < size_of(o); i++)
        FUZZ_CHECK(bytes[i] == o->model[i], "object %u, kind %d, byte %llu: %#x, expected %#x", n,
                   (int)o->kind, (unsigned long long)i, bytes[i], o->model[i]);
    if (!o->host)
        free(bytes);
}

static void destroy(struct object *o)
{
    if (o->kind == PAGEABLE)
        free(o->host);
    else if (o->kind == PINNED)
        FUZZ_OK(cuMemFreeHost(o->host));
    else if (o->kind == DEVICE)
        FUZZ_OK(cuMemFree(o->address));
    else
        FUZZ_OK(cuArrayDestroy(o->array));
    free(o->model);
}

// ---- copies ----

// One end of a copy as the model sees it; strides of the model's bytes.
struct end {
    struct object *object;
    uint64_t offset, pitch, rows; // linear memory: of the pointer, and as given
    uint64_t x, y, z;
};

struct box {
    uint64_t width_B, height, depth;
};

static struct end any_end(struct fuzz_input *in, struct object *o, const struct box *b,
                          unsigned step)
{
    struct end e = {.object = o};
    bool array = o->kind == ARRAY;
    e.x = fuzz_below(in, 2) ? fuzz_below(in, 40) * step : 0;
    e.y = fuzz_below(in, 2) ? fuzz_below(in, 12) : 0;
    e.z = fuzz_below(in, 4) ? 0 : fuzz_below(in, 4);
    if (!array) {
        e.offset = fuzz_below(in, 2) ? 0 : fuzz_below(in, LINEAR_B);
        e.pitch =
            fuzz_below(in, 3) ? e.x + b->width_B + fuzz_below(in, 3) * 16 - fuzz_below(in, 2) : 0;
        e.rows = fuzz_below(in, 3) ? e.y + b->height + fuzz_below(in, 3) - fuzz_below(in, 2) : 0;
    }
    return e;
}

// "srcPitch must be greater than or equal to WidthInBytes + srcXInBytes, and srcHeight must be
// greater than or equal to Height + srcY", if they are given; and the box must be inside the
// object.
// The driver lets a copy run on into memory of its own that follows; the model does not.
enum verdict { VALID, INVALID, BEYOND };

static enum verdict judge(struct end *e, const struct box *b)
{
    const struct object *o = e->object;
    if (o->kind == ARRAY)
        return e->x + b->width_B <= o->width_B && e->y + b->height <= o->height &&
                       e->z + b->depth <= o->depth
                   ? VALID
                   : INVALID;
    if ((e->pitch && e->pitch < e->x + b->width_B) || (e->rows && e->rows < e->y + b->height))
        return INVALID;
    e->pitch = e->pitch ? e->pitch : e->x + b->width_B;
    e->rows = e->rows ? e->rows : e->y + b->height;
    uint64_t last = e->offset +
                    ((e->z + b->depth - 1) * e->rows + e->y + b->height - 1) * e->pitch + e->x +
                    b->width_B;
    return last <= o->width_B ? VALID : BEYOND;
}

static uint8_t *model_row(const struct end *e, uint64_t y, uint64_t z)
{
    const struct object *o = e->object;
    if (o->kind == ARRAY)
        return o->model + ((e->z + z) * o->height + e->y + y) * o->width_B + e->x;
    return o->model + e->offset + ((e->z + z) * e->rows + e->y + y) * e->pitch + e->x;
}

static void model_copy(const struct end *dst, const struct end *src, const struct box *b)
{
    uint8_t *bytes = malloc(b->width_B * b->height * b->depth), *at = bytes;
    for (uint64_t z = 0; z < b->depth; z++)
        for (uint64_t y = 0; y < b->height; y++, at += b->width_B)
            memcpy(at, model_row(src, y, z), b->width_B);
    at = bytes;
    for (uint64_t z = 0; z < b->depth; z++)
        for (uint64_t y = 0; y < b->height; y++, at += b->width_B)
            memcpy(model_row(dst, y, z), at, b->width_B);
    free(bytes);
}

static void describe(CUDA_MEMCPY3D *c, const struct end *dst, const struct end *src)
{
    static const CUmemorytype types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST,
                                         CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY};
    c->dstMemoryType = types[dst->object->kind];
    c->dstHost = dst->object->host ? dst->object->host + dst->offset : NULL;
    c->dstDevice = dst->object->address + dst->offset;
    c->dstArray = dst->object->array;
    c->dstPitch = dst->pitch, c->dstHeight = dst->rows;
    c->dstXInBytes = dst->x, c->dstY = dst->y, c->dstZ = dst->z;
    c->srcMemoryType = types[src->object->kind];
    c->srcHost = src->object->host ? src->object->host + src->offset : NULL;
    c->srcDevice = src->object->address + src->offset;
    c->srcArray = src->object->array;
    c->srcPitch = src->pitch, c->srcHeight = src->rows;
    c->srcXInBytes = src->x, c->srcY = src->y, c->srcZ = src->z;
}

static CUresult call(struct fuzz_input *in, const CUDA_MEMCPY3D *c)
{
    if (c->Depth > 1 || c->srcZ || c->dstZ || fuzz_below(in, 2))
        return fuzz_below(in, 2) ? cuMemcpy3D(c) : cuMemcpy3DAsync(c, NULL);
    CUDA_MEMCPY2D flat = {.srcXInBytes = c->srcXInBytes,
                          .srcY = c->srcY,
                          .srcMemoryType = c->srcMemoryType,
                          .srcHost = c->srcHost,
                          .srcDevice = c->srcDevice,
                          .srcArray = c->srcArray,
                          .srcPitch = c->srcPitch,
                          .dstXInBytes = c->dstXInBytes,
                          .dstY = c->dstY,
                          .dstMemoryType = c->dstMemoryType,
                          .dstHost = c->dstHost,
                          .dstDevice = c->dstDevice,
                          .dstArray = c->dstArray,
                          .dstPitch = c->dstPitch,
                          .WidthInBytes = c->WidthInBytes,
                          .Height = c->Height};
    return fuzz_below(in, 2) ? cuMemcpy2D(&flat) : cuMemcpy2DUnaligned(&flat);
}

static void copy(struct fuzz_input *in, struct object *objects)
{
    struct object *to = &objects[fuzz_below(in, OBJECTS)],
                  *from = &objects[fuzz_below(in, OBJECTS)];
    unsigned step = to->element_B > from->element_B ? to->element_B : from->element_B;
    struct box b = {fuzz_below(in, 60) * step, 1 + fuzz_below(in, 16),
                    fuzz_below(in, 2) ? 1 : fuzz_below(in, 5)};
    struct end dst = any_end(in, to, &b, step), src = any_end(in, from, &b, step);
    CUDA_MEMCPY3D c = {.WidthInBytes = b.width_B, .Height = b.height, .Depth = b.depth};
    describe(&c, &dst, &src);
    if (!b.width_B || !b.depth) { // a copy of nothing
        FUZZ_OK(cuMemcpy3D(&c));
        return;
    }
    if (b.depth == 1 && !dst.z && !src.z) // there is one slice: its height does not matter …
        dst.rows = src.rows = 0, c.dstHeight = c.srcHeight = 0; // … but it is checked nevertheless
    enum verdict to_there = judge(&dst, &b), from_there = judge(&src, &b);
    if (to_there == BEYOND || from_there == BEYOND)
        return;
    bool valid = to_there == VALID && from_there == VALID;
    CUresult r = call(in, &c);
    FUZZ_CHECK(!r == valid, "result %d, but the copy is %s: %llux%llux%llu, kinds %d <- %d", (int)r,
               valid ? "valid" : "not valid", (unsigned long long)b.width_B,
               (unsigned long long)b.height, (unsigned long long)b.depth, (int)to->kind,
               (int)from->kind);
    if (!r)
        model_copy(&dst, &src, &b);
    FUZZ_OK(cuStreamSynchronize(NULL));
}

// Descriptors with arbitrary numbers: no call may crash, and no call may write a byte if it fails.
static void hostile(struct fuzz_input *in, struct object *objects)
{
    struct object *to = &objects[fuzz_below(in, OBJECTS)],
                  *from = &objects[fuzz_below(in, OBJECTS)];
    if (to->host || from->host)
        return;
    struct end dst = {.object = to}, src = {.object = from};
    CUDA_MEMCPY3D c = {.WidthInBytes = fuzz_size(in, to->width_B),
                       .Height = fuzz_size(in, to->height),
                       .Depth = fuzz_size(in, to->depth)};
    describe(&c, &dst, &src);
    size_t *fields[] = {&c.srcXInBytes, &c.srcY, &c.srcZ, &c.srcPitch, &c.srcHeight,
                        &c.dstXInBytes, &c.dstY, &c.dstZ, &c.dstPitch, &c.dstHeight};
    for (unsigned i = 0; i < 4; i++)
        *fields[fuzz_below(in, FUZZ_COUNT(fields))] = fuzz_size(in, to->width_B);
    if (fuzz_chance(in, 8))
        c.srcMemoryType = (CUmemorytype)fuzz_take(in, 2);
    if (fuzz_chance(in, 8))
        c.srcArray = (CUarray)(uintptr_t)fuzz_take(in, 8);
    if (fuzz_chance(in, 8))
        c.srcDevice += fuzz_take(in, 8);
    if (c.srcMemoryType == CU_MEMORYTYPE_HOST || c.srcMemoryType == CU_MEMORYTYPE_UNIFIED)
        c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    if (cuMemcpy3D(&c) || !c.WidthInBytes || !c.Height || !c.Depth)
        return;
    // It succeeded, so the model takes over the bytes. A copy to linear memory may have run on into
    // the memory of other objects, pinned memory included.
    for (unsigned i = 0; i < OBJECTS; i++)
        if (to->kind == DEVICE && objects[i].kind == PINNED)
            memcpy(objects[i].model, objects[i].host, LINEAR_B);
        else if (&objects[i] == to || (to->kind == DEVICE && objects[i].kind == DEVICE))
            read_back(&objects[i], objects[i].model);
}

static void fill(struct fuzz_input *in, struct object *o)
{
    unsigned value_B = 1u << fuzz_below(in, 3);
    uint64_t offset = fuzz_below(in, LINEAR_B) / value_B * value_B, width = fuzz_below(in, 300),
             height = fuzz_below(in, 20);
    uint64_t pitch = (width + fuzz_below(in, 20)) * value_B;
    uint32_t value = (uint32_t)fuzz_take(in, 4);
    if (o->kind != DEVICE)
        return;
    CUdeviceptr at = o->address + offset;
    bool empty = !width || !height;
    if (!empty && offset + (height - 1) * pitch + width * value_B > LINEAR_B)
        return;
    CUresult r = value_B == 1   ? cuMemsetD2D8(at, pitch, (unsigned char)value, width, height)
                 : value_B == 2 ? cuMemsetD2D16(at, pitch, (unsigned short)value, width, height)
                                : cuMemsetD2D32(at, pitch, value, width, height);
    FUZZ_CHECK(!r, "result %d: offset %llu, %llux%llu values of %u bytes, pitch %llu", (int)r,
               (unsigned long long)offset, (unsigned long long)width, (unsigned long long)height,
               value_B, (unsigned long long)pitch);
    for (uint64_t y = 0; !r && !empty && y < height; y++)
        for (uint64_t x = 0; x < width; x++)
            memcpy(o->model + offset + y * pitch + x * value_B, &value, value_B);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct object objects[OBJECTS];
    CUcontext context = fuzz_context();
    for (unsigned i = 0; i < OBJECTS; i++)
        make(&in, &objects[i], i);
    for (unsigned step = 0; step < STEPS && fuzz_more(&in); step++) {
        unsigned what = fuzz_below(&in, 8);
        if (what == 0)
            hostile(&in, objects);
        else if (what == 1)
            fill(&in, &objects[fuzz_below(&in, OBJECTS)]);
        else
            copy(&in, objects);
    }
    FUZZ_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < OBJECTS; i++)
        compare(&objects[i], i);
    for (unsigned i = 0; i < OBJECTS; i++)
        destroy(&objects[i]);
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
