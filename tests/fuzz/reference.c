// SPDX-License-Identifier: MIT
// Fuzzes texture references and surface references: their settings, and the arrays and the memory
// that are bound to them. A model keeps the settings of each reference and predicts every result.
// Kernels fetch through the references of a module, and the model predicts their texels.
#include "texture_kernel.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { ARRAYS = 3, WIDTH = 24, HEIGHT = 10, LINEAR_B = 16 << 10, STEPS = 48, REFERENCES = 2 };
enum binding { UNBOUND, LINEAR_MEMORY, PITCHED, ARRAY, MIPMAP };

// An array with a mipmapped array of the same shape, and the bytes of both.
struct image {
    CUarray array;
    CUmipmappedArray mip;
    unsigned format, channels;
    bool surface;
    uint8_t bytes[WIDTH * HEIGHT * 16];
};

struct reference {
    CUtexref handle;
    unsigned format, mode[3], filter, mip_filter, flags;
    int channels, anisotropy;
    float bias, clamp[2], border[4];
    enum binding binding;
    CUdeviceptr address;
    size_t size_B, pitch_B, width, height;
    const struct image *image;
    bool plain; // the format is the one of the binding
};

struct model {
    struct image images[ARRAYS];
    struct reference references[REFERENCES]; // the first one is the module's
    CUsurfref surface;
    const struct image *on_surface; // or NULL
    CUmodule module;
    CUfunction kernels[3];
    CUdeviceptr memory, points;
    uint8_t bytes[LINEAR_B];
};

// linear, flat: a texel of memory, or of an array or pitched memory. write: a word of the surface.
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.global .texref t;\n.global .surfref s;\n"
    ".visible .entry linear(.param .u64 points)\n{\n.reg .b64 %p;\n.reg .b32 %i<4>, %r<4>, %t;\n"
    "ld.param.u64 %p, [points];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %p, %t, 64, %p;\n"
    "ld.global.v4.u32 {%i0, %i1, %i2, %i3}, [%p];\n"
    "tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%i0}];\n"
    "st.global.v4.u32 [%p+32], {%r0, %r1, %r2, %r3};\nret;\n}\n"
    ".visible .entry flat(.param .u64 points)\n{\n.reg .b64 %p;\n.reg .b32 %r<4>, %t;\n"
    ".reg .f32 %f<4>;\n"
    "ld.param.u64 %p, [points];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %p, %t, 64, %p;\n"
    "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%p+16];\n"
    "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [t, {%f0, %f1}];\n"
    "st.global.v4.u32 [%p+32], {%r0, %r1, %r2, %r3};\nret;\n}\n"
    ".visible .entry write(.param .u64 points)\n{\n.reg .b64 %p;\n.reg .b32 %i<4>, %v, %t;\n"
    ".reg .b16 %h;\n"
    "ld.param.u64 %p, [points];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %p, %t, 64, %p;\n"
    "ld.global.v4.u32 {%i0, %i1, %i2, %i3}, [%p];\nld.global.u32 %v, [%p+48];\n"
    "cvt.u16.u32 %h, %v;\nsust.b.2d.b8.zero [s, {%i0, %i1}], %h;\nret;\n}\n";

static const unsigned formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                   CU_AD_FORMAT_UNSIGNED_INT32};

static bool as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

static unsigned channel_B(unsigned format)
{
    return format == CU_AD_FORMAT_UNSIGNED_INT8    ? 1
           : format == CU_AD_FORMAT_UNSIGNED_INT16 ? 2
           : format == CU_AD_FORMAT_UNSIGNED_INT32 ? 4
                                                   : 0;
}

static struct reference *any_reference(struct fuzz_input *in, struct model *m)
{
    return &m->references[fuzz_chance(in, 4)];
}

#define CHECK(call, expected)                                                                      \
    do {                                                                                           \
        const CUresult result_ = (call), expected_ = (expected);                                   \
        FUZZ_CHECK(result_ == expected_, "%s: %d, expected %d", #call, (int)result_,               \
                   (int)expected_);                                                                \
    } while (0)

#define VALID(condition) ((condition) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)

// ---- settings

// "NumPackedComponents": 1, 2 or 4. The driver refuses only 3 and more than 4 (recorded:
// texref/format-*). Any format is taken.
static void set_format(struct fuzz_input *in, struct reference *r)
{
    unsigned format = formats[fuzz_below(in, FUZZ_COUNT(formats))];
    int channels = 1 << fuzz_below(in, 3);
    if (fuzz_chance(in, 4))
        format = (unsigned)fuzz_take(in, 1);
    if (fuzz_chance(in, 4))
        channels = (int)fuzz_take(in, 1) - 2;
    const bool known = channels == 1 || channels == 2 || channels == 4;
    const bool valid = as_driver() ? channels != 3 && channels <= 4 : known;
    CHECK(cuTexRefSetFormat(r->handle, (CUarray_format)format, channels), VALID(valid));
    if (!valid)
        return;
    r->format = format;
    r->channels = channels;
    r->plain = false;
}

// Recorded: texref/address-modes, filters. The driver takes an unknown address mode as CLAMP, and
// keeps an unknown filter mode.
static void set_modes(struct fuzz_input *in, struct reference *r)
{
    const int dim = fuzz_chance(in, 8) ? (int)fuzz_below(in, 6) - 1 : (int)fuzz_below(in, 3);
    const unsigned mode = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 4);
    const unsigned filter = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 2);
    const bool good_dim = dim >= 0 && dim < 3, known = mode <= CU_TR_ADDRESS_MODE_BORDER;
    CHECK(cuTexRefSetAddressMode(r->handle, dim, (CUaddress_mode)mode),
          VALID(good_dim && (known || as_driver())));
    if (good_dim && (known || as_driver()))
        r->mode[dim] = known ? mode : CU_TR_ADDRESS_MODE_CLAMP;
    if (fuzz_chance(in, 2)) {
        CHECK(cuTexRefSetMipmapFilterMode(r->handle, (CUfilter_mode)filter),
              VALID(filter <= CU_TR_FILTER_MODE_LINEAR));
        r->mip_filter = filter <= CU_TR_FILTER_MODE_LINEAR ? filter : r->mip_filter;
    } else {
        const bool valid = filter <= CU_TR_FILTER_MODE_LINEAR || as_driver();
        CHECK(cuTexRefSetFilterMode(r->handle, (CUfilter_mode)filter), VALID(valid));
        r->filter = valid ? filter : r->filter;
    }
}

// Recorded: texref/flags (bits below 0x40), aniso and bias-clamp-border (any value).
static void set_numbers(struct fuzz_input *in, struct reference *r)
{
    const unsigned flags = fuzz_chance(in, 4) ? (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1)
                                              : CU_TRSF_READ_AS_INTEGER;
    switch (fuzz_below(in, 5)) {
    case 0:
        r->anisotropy = (int)fuzz_take(in, 4);
        FUZZ_OK(cuTexRefSetMaxAnisotropy(r->handle, (unsigned)r->anisotropy));
        break;
    case 1:
        r->bias = (float)fuzz_take(in, 1) - 100;
        FUZZ_OK(cuTexRefSetMipmapLevelBias(r->handle, r->bias));
        break;
    case 2:
        r->clamp[0] = (float)fuzz_take(in, 1);
        r->clamp[1] = (float)fuzz_take(in, 1);
        FUZZ_OK(cuTexRefSetMipmapLevelClamp(r->handle, r->clamp[0], r->clamp[1]));
        break;
    case 3:
        for (unsigned i = 0; i < 4; i++)
            r->border[i] = (float)fuzz_take(in, 1);
        FUZZ_OK(cuTexRefSetBorderColor(r->handle, r->border));
        CHECK(cuTexRefSetBorderColor(r->handle, NULL), CUDA_ERROR_INVALID_VALUE);
        break;
    default:
        CHECK(cuTexRefSetFlags(r->handle, flags), VALID(flags < 0x40));
        r->flags = flags < 0x40 ? flags : r->flags;
    }
}

static void check_settings(const struct reference *r)
{
    CUarray_format format;
    CUfilter_mode filter, mip_filter;
    CUaddress_mode mode;
    float bias, clamp[2], border[4];
    int channels, anisotropy;
    unsigned flags;
    FUZZ_OK(cuTexRefGetFormat(&format, &channels, r->handle));
    FUZZ_OK(cuTexRefGetFormat(NULL, NULL, r->handle));
    FUZZ_CHECK((unsigned)format == r->format && channels == r->channels,
               "the format is %#x x %d, expected %#x x %d", (unsigned)format, channels, r->format,
               r->channels);
    for (int i = 0; i < 3; i++) {
        FUZZ_OK(cuTexRefGetAddressMode(&mode, r->handle, i));
        FUZZ_CHECK((unsigned)mode == r->mode[i], "mode %d is %d, expected %u", i, (int)mode,
                   r->mode[i]);
    }
    CHECK(cuTexRefGetAddressMode(&mode, r->handle, 3), CUDA_ERROR_INVALID_VALUE);
    FUZZ_OK(cuTexRefGetFilterMode(&filter, r->handle));
    FUZZ_OK(cuTexRefGetMipmapFilterMode(&mip_filter, r->handle));
    FUZZ_OK(cuTexRefGetMipmapLevelBias(&bias, r->handle));
    FUZZ_OK(cuTexRefGetMipmapLevelClamp(&clamp[0], &clamp[1], r->handle));
    FUZZ_OK(cuTexRefGetMaxAnisotropy(&anisotropy, r->handle));
    FUZZ_OK(cuTexRefGetBorderColor(border, r->handle));
    FUZZ_OK(cuTexRefGetFlags(&flags, r->handle));
    FUZZ_CHECK((unsigned)filter == r->filter && (unsigned)mip_filter == r->mip_filter,
               "filters %d %d, expected %u %u", (int)filter, (int)mip_filter, r->filter,
               r->mip_filter);
    FUZZ_CHECK(bias == r->bias && clamp[0] == r->clamp[0] && clamp[1] == r->clamp[1] &&
                   anisotropy == r->anisotropy && !memcmp(border, r->border, sizeof border) &&
                   flags == r->flags,
               "numbers: bias %g, clamp %g %g, anisotropy %d, flags %#x", (double)bias,
               (double)clamp[0], (double)clamp[1], anisotropy, flags);
}

// ---- bindings

static void bind(struct reference *r, enum binding binding, const struct image *image)
{
    r->binding = binding;
    r->image = image;
    r->address = 0;
}

// "ByteOffset": the distance to the address before that is aligned to 512. It may be NULL if the
// address is aligned. The number of elements is limited; it is not checked whether the memory is
// there (recorded: texref/address).
static void bind_linear(struct fuzz_input *in, struct model *m, struct reference *r)
{
    const CUdeviceptr at =
        m->memory + (fuzz_chance(in, 3) ? fuzz_below(in, 1024) : 512 * fuzz_below(in, 8));
    const size_t size_B =
        fuzz_chance(in, 8) ? fuzz_size(in, UINT64_C(1) << 32) : fuzz_below(in, LINEAR_B - 8192);
    const uint64_t each_B = channel_B(r->format) * (uint64_t)r->channels;
    uint64_t most = UINT64_C(1) << 28;
    size_t offset = 77;
    const bool ask = !fuzz_chance(in, 4);
    if (!channel_B(r->format) || r->channels < 1)
        return; // how large an element is, is not known
    if (as_driver())
        most = each_B < 4 ? UINT64_C(1) << 30 : (UINT64_C(1) << 32) / each_B;
    const bool valid = size_B / each_B <= most && (ask || at % 512 == 0);
    CHECK(cuTexRefSetAddress(ask ? &offset : NULL, r->handle, at, size_B), VALID(valid));
    if (!valid)
        return;
    FUZZ_CHECK(!ask || offset == at % 512, "the offset is %zu, expected %llu", offset,
               (unsigned long long)(at % 512));
    bind(r, LINEAR_MEMORY, NULL);
    r->address = at - at % 512;
    r->size_B = size_B + at % 512;
    r->plain = true;
}

// Recorded: texref/address2D. The memory must be aligned to 512 bytes, and the pitch to 32; a row
// must fit.
static void bind_pitched(struct fuzz_input *in, struct model *m, struct reference *r)
{
    CUDA_ARRAY_DESCRIPTOR d = {.Width = fuzz_below(in, WIDTH + 1),
                               .Height = fuzz_below(in, HEIGHT + 1),
                               .Format = (CUarray_format)formats[fuzz_below(in, 3)],
                               .NumChannels = 1u << fuzz_below(in, 3)};
    CUdeviceptr at = m->memory + 512 * fuzz_below(in, 4);
    size_t pitch_B = 32 * (size_t)(1 + fuzz_below(in, 20));
    if (fuzz_chance(in, 6))
        at += fuzz_below(in, 512);
    if (fuzz_chance(in, 6))
        pitch_B = fuzz_size(in, 2097120);
    if (fuzz_chance(in, 8))
        d.Width = (uint32_t)fuzz_size(in, 131072);
    if (fuzz_chance(in, 8))
        d.Height = (uint32_t)fuzz_size(in, 65000);
    const uint64_t row_B = d.Width * channel_B(d.Format) * d.NumChannels;
    const bool valid = at % 512 == 0 && d.Width <= 131072 && d.Height <= 65000 &&
                       pitch_B <= 2097120 && pitch_B % 32 == 0 && row_B <= pitch_B;
    CHECK(cuTexRefSetAddress2D(r->handle, &d, at, pitch_B), VALID(valid));
    if (!valid)
        return;
    bind(r, PITCHED, NULL);
    r->address = at;
    r->pitch_B = pitch_B;
    r->width = d.Width;
    r->height = d.Height;
    r->format = d.Format;
    r->channels = (int)d.NumChannels;
    r->plain = true;
}

// "Flags must be set to CU_TRSA_OVERRIDE_FORMAT." The driver also takes 0, and keeps the format of
// the reference (recorded: texref/array, mipmapped).
static void bind_image(struct fuzz_input *in, struct model *m, struct reference *r)
{
    const struct image *image = &m->images[fuzz_below(in, ARRAYS)];
    const unsigned flags =
        fuzz_chance(in, 4) ? (unsigned)fuzz_take(in, 1) % 5 : CU_TRSA_OVERRIDE_FORMAT;
    const bool mip = fuzz_chance(in, 3);
    const bool valid = flags == CU_TRSA_OVERRIDE_FORMAT || (!flags && as_driver());
    if (mip)
        CHECK(cuTexRefSetMipmappedArray(r->handle, image->mip, flags), VALID(valid));
    else
        CHECK(cuTexRefSetArray(r->handle, image->array, flags), VALID(valid));
    if (!valid)
        return;
    bind(r, mip ? MIPMAP : ARRAY, image);
    if (flags) {
        r->format = image->format;
        r->channels = (int)image->channels;
    }
    r->plain = r->format == image->format && r->channels == (int)image->channels;
}

static void check_binding(const struct model *m, const struct reference *r)
{
    CUdeviceptr address = 77;
    CUarray array = NULL;
    CUmipmappedArray mip = NULL;
    const bool memory = r->binding == LINEAR_MEMORY || r->binding == PITCHED;
    CHECK(cuTexRefGetAddress(&address, r->handle), VALID(memory));
    FUZZ_CHECK(address == (memory ? r->address : 0), "the address is %#llx, expected %#llx",
               (unsigned long long)address, (unsigned long long)r->address);
    CHECK(cuTexRefGetArray(&array, r->handle), VALID(r->binding == ARRAY));
    CHECK(cuTexRefGetMipmappedArray(&mip, r->handle), VALID(r->binding == MIPMAP));
    FUZZ_CHECK(array == (r->binding == ARRAY ? r->image->array : NULL) &&
                   mip == (r->binding == MIPMAP ? r->image->mip : NULL),
               "another array is bound");
    CHECK(cuTexRefSetArray(NULL, m->images[0].array, CU_TRSA_OVERRIDE_FORMAT),
          CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuTexRefSetArray(r->handle, NULL, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
}

// "Flags must be set to 0"; the array must have CUDA_ARRAY3D_SURFACE_LDST.
static void bind_surface(struct fuzz_input *in, struct model *m)
{
    const struct image *image = &m->images[fuzz_below(in, ARRAYS)];
    const unsigned flags = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 4) : 0;
    CUarray array = NULL;
    CHECK(cuSurfRefSetArray(m->surface, image->array, flags), VALID(!flags && image->surface));
    if (!flags && image->surface)
        m->on_surface = image;
    CHECK(cuSurfRefGetArray(&array, m->surface), VALID(m->on_surface));
    FUZZ_CHECK(array == (m->on_surface ? m->on_surface->array : NULL), "another array is bound");
}

// ---- kernels

static void run(struct model *m, unsigned kernel, struct fetch_point points[POINTS])
{
    void *parameters[] = {&m->points};
    FUZZ_OK(cuMemcpyHtoD(m->points, points, POINTS * sizeof *points));
    FUZZ_OK(cuLaunchKernel(m->kernels[kernel], 1, 1, 1, POINTS, 1, 1, 0, NULL, parameters, NULL));
    FUZZ_OK(cuMemcpyDtoH(points, m->points, POINTS * sizeof *points));
}

// Fetches texels as integers, by coordinates that are not normalised.
static void fetch(struct fuzz_input *in, struct model *m)
{
    const struct reference *r = &m->references[0];
    const unsigned size_B = channel_B(r->format), texel_B = size_B * (unsigned)r->channels;
    const bool linear = r->binding == LINEAR_MEMORY;
    struct fetch_point points[POINTS];
    unsigned width = WIDTH, height = HEIGHT, pitch_B = WIDTH * texel_B;
    if (!r->binding || !r->plain || r->binding == MIPMAP || r->filter || r->bias != 0 ||
        r->flags & ~(unsigned)CU_TRSF_READ_AS_INTEGER ||
        (!(r->flags & CU_TRSF_READ_AS_INTEGER) && size_B < 4))
        return;
    const uint8_t *bytes = r->image ? r->image->bytes : m->bytes + (r->address - m->memory);
    if (linear) {
        width = (unsigned)(r->size_B / texel_B);
        height = 1;
        if (!width || r->size_B > LINEAR_B - (r->address - m->memory))
            return;
    } else if (r->binding == PITCHED) {
        width = (unsigned)r->width, height = (unsigned)r->height, pitch_B = (unsigned)r->pitch_B;
        if (!width || height < 2 || r->pitch_B * height > LINEAR_B - (r->address - m->memory))
            return;
    }
    memset(points, 0, sizeof points);
    for (unsigned i = 0; i < POINTS; i++) {
        const int beyond = linear ? 0 : 3;
        points[i].at[0] = (int)fuzz_below(in, width + 2 * (unsigned)beyond) - beyond;
        points[i].at[1] = (int)fuzz_below(in, height + 2 * (unsigned)beyond) - beyond;
        points[i].middle[0] = (float)points[i].at[0] + 0.5f;
        points[i].middle[1] = (float)points[i].at[1] + 0.5f;
    }
    run(m, !linear, points);
    for (unsigned i = 0; i < POINTS; i++) {
        int at[2] = {points[i].at[0], linear ? 0 : points[i].at[1]};
        const int size[2] = {(int)width, (int)height};
        bool border = false;
        for (unsigned k = 0; k < 2; k++) { // all other modes clamp
            const bool outside = at[k] < 0 || at[k] >= size[k];
            border |= outside && r->mode[k] == CU_TR_ADDRESS_MODE_BORDER;
            at[k] = at[k] < 0 ? 0 : at[k] >= size[k] ? size[k] - 1 : at[k];
        }
        if (border &&
            !(r->border[0] == 0 && r->border[1] == 0 && r->border[2] == 0 && r->border[3] == 0))
            continue;
        const uint8_t *texel = bytes + (size_t)at[1] * pitch_B + (size_t)at[0] * texel_B;
        for (unsigned k = 0; k < (unsigned)r->channels; k++) {
            uint32_t expected = 0;
            if (!border)
                memcpy(&expected, texel + k * size_B, size_B);
            FUZZ_CHECK(points[i].result[k] == expected,
                       "binding %d, format %#x x %d, texel %d, %d of %u x %u, modes %u %u, channel "
                       "%u: %#x, expected %#x",
                       (int)r->binding, r->format, r->channels, points[i].at[0], points[i].at[1],
                       width, height, r->mode[0], r->mode[1], k, points[i].result[k], expected);
        }
    }
}

// Writes bytes through the surface reference. Outside, nothing is written.
static void write_surface(struct fuzz_input *in, struct model *m)
{
    struct fetch_point points[POINTS];
    struct image *image = m->on_surface ? &m->images[m->on_surface - m->images] : NULL;
    if (!image)
        return;
    const unsigned row_B = WIDTH * channel_B(image->format) * image->channels;
    memset(points, 0, sizeof points);
    for (unsigned i = 0; i < POINTS; i++) {
        struct fetch_point *p = &points[i];
        p->at[0] = (int)fuzz_below(in, row_B + 4) - 2;
        p->at[1] = (int)fuzz_below(in, HEIGHT + 4) - 2;
        p->value = (uint8_t)(p->at[0] * 7 + p->at[1] * 31); // the same for the same place
        if (p->at[0] >= 0 && (unsigned)p->at[0] < row_B && p->at[1] >= 0 && p->at[1] < HEIGHT)
            image->bytes[(unsigned)p->at[1] * row_B + (unsigned)p->at[0]] = (uint8_t)p->value;
    }
    run(m, 2, points);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void create_image(struct fuzz_input *in, struct image *image)
{
    image->format = formats[fuzz_below(in, FUZZ_COUNT(formats))];
    image->channels = 1u << fuzz_below(in, 3);
    image->surface = fuzz_below(in, 2);
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = WIDTH,
                                       .Height = HEIGHT,
                                       .Format = (CUarray_format)image->format,
                                       .NumChannels = image->channels,
                                       .Flags = image->surface ? CUDA_ARRAY3D_SURFACE_LDST : 0};
    const size_t row_B = (size_t)WIDTH * channel_B(image->format) * image->channels;
    FUZZ_OK(cuArray3DCreate(&image->array, &d));
    FUZZ_OK(cuMipmappedArrayCreate(&image->mip, &d, 2));
    for (size_t i = 0; i < row_B * HEIGHT; i++)
        image->bytes[i] = (uint8_t)(i * 11 + i / 250 + image->channels);
    const CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = image->bytes,
                             .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstArray = image->array,
                             .WidthInBytes = row_B,
                             .Height = HEIGHT};
    FUZZ_OK(cuMemcpy2D(&c));
}

// The defaults of a reference (recorded: texref/defaults).
static void begin(struct fuzz_input *in, struct model *m)
{
    static const char *const names[] = {"linear", "flat", "write"};
    CUtexref absent;
    memset(m, 0, sizeof *m);
    FUZZ_OK(cuModuleLoadData(&m->module, text));
    for (unsigned i = 0; i < FUZZ_COUNT(names); i++)
        FUZZ_OK(cuModuleGetFunction(&m->kernels[i], m->module, names[i]));
    FUZZ_OK(cuModuleGetTexRef(&m->references[0].handle, m->module, "t"));
    FUZZ_OK(cuModuleGetSurfRef(&m->surface, m->module, "s"));
    CHECK(cuModuleGetTexRef(&absent, m->module, "s"), CUDA_ERROR_NOT_FOUND);
    FUZZ_OK(cuTexRefCreate(&m->references[1].handle));
    for (unsigned i = 0; i < REFERENCES; i++) {
        m->references[i].format = CU_AD_FORMAT_FLOAT;
        m->references[i].channels = 1;
        for (unsigned k = 0; k < 3; k++)
            m->references[i].mode[k] = CU_TR_ADDRESS_MODE_CLAMP;
    }
    FUZZ_OK(cuMemAlloc(&m->memory, LINEAR_B));
    FUZZ_OK(cuMemAlloc(&m->points, POINTS * sizeof(struct fetch_point)));
    for (unsigned i = 0; i < LINEAR_B; i++)
        m->bytes[i] = (uint8_t)(i * 5 + i / 241);
    FUZZ_OK(cuMemcpyHtoD(m->memory, m->bytes, LINEAR_B));
    for (unsigned i = 0; i < ARRAYS; i++)
        create_image(in, &m->images[i]);
}

static void step(struct fuzz_input *in, struct model *m)
{
    struct reference *r = any_reference(in, m);
    switch (fuzz_below(in, 12)) {
    case 0:
        set_format(in, r);
        break;
    case 1:
        set_modes(in, r);
        break;
    case 2:
    case 3:
        set_numbers(in, r);
        break;
    case 4:
        check_settings(r);
        check_binding(m, r);
        break;
    case 5:
        bind_linear(in, m, r);
        break;
    case 6:
        bind_pitched(in, m, r);
        break;
    case 7:
        bind_image(in, m, r);
        break;
    case 8:
        bind_surface(in, m);
        break;
    case 9:
        write_surface(in, m);
        break;
    default:
        fetch(in, m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    CUcontext context = fuzz_context();
    begin(&in, &m);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    for (unsigned i = 0; i < REFERENCES; i++) {
        check_settings(&m.references[i]);
        check_binding(&m, &m.references[i]);
    }
    FUZZ_OK(cuTexRefDestroy(m.references[1].handle));
    for (unsigned i = 0; i < ARRAYS; i++) {
        FUZZ_OK(cuArrayDestroy(m.images[i].array));
        FUZZ_OK(cuMipmappedArrayDestroy(m.images[i].mip));
    }
    FUZZ_OK(cuModuleUnload(m.module));
    FUZZ_OK(cuMemFree(m.memory));
    FUZZ_OK(cuMemFree(m.points));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
