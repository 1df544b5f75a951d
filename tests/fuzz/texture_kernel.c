// SPDX-License-Identifier: MIT
// The kernels of the fuzz target `texture`, and the result of a fetch by its texel.
#include "texture_kernel.h"

#include <math.h>

static const char *const names[GEOMETRIES] = {"1d", "2d", "3d", "a1d", "a2d", "1d"};

// A thread has the point at %p: %i0 to %i2 and %l are integers, %f0 to %f2 the middle of the texel.
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 object, .param .u64 points)\n{\n"
    ".reg .b64 %o, %p;\n.reg .b32 %i<3>, %l, %r<4>, %t;\n.reg .f32 %f<3>, %d;\n.reg .b16 %h;\n"
    "ld.param.u64 %o, [object];\nld.param.u64 %p, [points];\n"
    "mov.u32 %t, %tid.x;\nmad.wide.u32 %p, %t, 64, %p;\n"
    "ld.global.v4.u32 {%i0, %i1, %i2, %l}, [%p];\n"
    "ld.global.v4.f32 {%f0, %f1, %f2, %d}, [%p+16];\n"
    "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n";
static const char store[] = "st.global.v4.u32 [%p+32], {%r0, %r1, %r2, %r3};\n";
_Static_assert(sizeof(struct fetch_point) == 64, "the kernels' stride");

void fetcher_start(struct fetcher *f)
{
    memset(f, 0, sizeof *f);
    FUZZ_OK(cuMemAlloc(&f->memory, POINTS * sizeof(struct fetch_point)));
}

void fetcher_finish(struct fetcher *f)
{
    for (unsigned i = 0; i < KERNELS_MOST; i++) {
        if (f->modules[i])
            FUZZ_OK(cuModuleUnload(f->modules[i]));
    }
    FUZZ_OK(cuMemFree(f->memory));
}

// Returns the result of the launch and of its work.
static CUresult try(struct fetcher *f, unsigned id, const char *body, unsigned long long object,
                    struct fetch_point points[POINTS])
{
    char text[2000];
    void *parameters[] = {&object, &f->memory};
    FUZZ_CHECK(id < KERNELS_MOST, "kernel %u", id);
    if (!f->modules[id]) {
        snprintf(text, sizeof text, "%s%s%sret;\n}\n", head, body, store);
        FUZZ_OK(cuModuleLoadData(&f->modules[id], text));
        FUZZ_OK(cuModuleGetFunction(&f->kernels[id], f->modules[id], "k"));
    }
    FUZZ_OK(cuMemcpyHtoD(f->memory, points, POINTS * sizeof *points));
    CUresult r = cuLaunchKernel(f->kernels[id], 1, 1, 1, POINTS, 1, 1, 0, NULL, parameters, NULL);
    return r ? r : cuMemcpyDtoH(points, f->memory, POINTS * sizeof *points);
}

static void run(struct fetcher *f, unsigned id, const char *body, unsigned long long object,
                struct fetch_point points[POINTS])
{
    const CUresult r = try(f, id, body, object, points);
    FUZZ_CHECK(!r, "kernel %u: %d", id, (int)r);
}

void fetch_texels(struct fetcher *f, enum geometry g, enum number number, bool level,
                  CUtexObject texture, struct fetch_point points[POINTS])
{
    static const char *const types[] = {"u32", "s32", "f32"};
    static const char *const coordinates[GEOMETRIES] = {
        "{%f0}", "{%f0, %f1}", "{%f0, %f1, %f2, %f2}", "{%l, %f0}", "{%l, %f0, %f1, %f1}", "{%i0}"};
    char body[300];
    snprintf(body, sizeof body, "tex%s.%s.v4.%s.%s {%%r0, %%r1, %%r2, %%r3}, [%%o, %s]%s;\n",
             level ? ".level" : "", names[g], types[number], g == LINEAR ? "s32" : "f32",
             coordinates[g], level ? ", %d" : "");
    run(f, ((unsigned)g * 3 + number) * 2 + level, body, texture, points);
}

void access_texels(struct fetcher *f, enum geometry g, unsigned size_B, bool write,
                   CUsurfObject surface, struct fetch_point points[POINTS])
{
    static const char *const coordinates[GEOMETRIES] = {
        "{%i0}", "{%i0, %i1}", "{%i0, %i1, %i2, %i2}", "{%l, %i0}", "{%l, %i0, %i1, %i1}", ""};
    const char *bits = size_B == 4 ? "b32" : "b8", *value = size_B == 4 ? "%r0" : "%h";
    char body[300];
    if (write)
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r0, [%%p+48];\ncvt.u16.u32 %%h, %%r0;\n"
                 "sust.b.%s.%s.zero [%%o, %s], %s;\n",
                 names[g], bits, coordinates[g], value);
    else
        snprintf(body, sizeof body, "suld.b.%s.%s.zero %s, [%%o, %s];\n%s", names[g], bits, value,
                 coordinates[g], size_B == 4 ? "" : "cvt.u32.u16 %r0, %h;\n");
    const unsigned first = GEOMETRIES * 3 * 2;
    run(f, first + ((unsigned)g * 2 + write) * 2 + (size_B == 4), body, surface, points);
}

// Fetches of all kinds, of any geometry.
static const char *const any_fetches[] = {
    "tex.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0}];",
    "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1}];",
    "tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1, %f2, %f2}];",
    "tex.a1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%l, %f0}];",
    "tex.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%l, %f0, %f1, %f1}];",
    "tex.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1, %f2, %f2}];",
    "tex.acube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%l, %f0, %f1, %f2}];",
    "tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%o, {%i0}];",
    "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%o, {%i0, %i1}];",
    "tex.3d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%o, {%i0, %i1, %i2, %i2}];",
    "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1}], %d;",
    "tex.level.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1, %f2, %f2}], %d;",
    "tex.level.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%l, %f0, %f1, %f1}], %d;",
    "tex.level.cube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1, %f2, %f2}], %d;",
    "tex.grad.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0}], {%f1}, {%d};",
    "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1}], {%f2, %d}, {%d, %f0};",
    "tld4.r.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%f0, %f1}];",
    "tld4.a.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%o, {%l, %f0, %f1, %f1}];",
    "suld.b.1d.v4.b32.clamp {%r0, %r1, %r2, %r3}, [%o, {%i0}];",
    "suld.b.3d.b32.trap %r0, [%o, {%i0, %i1, %i2, %i2}];",
    "sust.b.a2d.v2.b32.clamp [%o, {%l, %i0, %i1, %i1}], {%i0, %i1};",
    "sust.p.2d.v4.b32.zero [%o, {%i0, %i1}], {%i0, %i1, %i2, %l};",
    "sured.b.add.2d.u32.clamp [%o, {%i0, %i1}], %l;",
};

unsigned fetch_kinds(void)
{
    return FUZZ_COUNT(any_fetches);
}

CUresult fetch_anything(struct fetcher *f, unsigned kind, unsigned long long object,
                        struct fetch_point points[POINTS])
{
    return try(f, KERNELS_MOST - 1 - kind, any_fetches[kind], object, points);
}

static float half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const float value =
        exponent ? ldexpf((float)(mantissa + 1024), exponent - 25) : ldexpf((float)mantissa, -24);
    return bits >> 15 ? -value : value;
}

bool expect_channel(struct channel channel, bool promoted, const uint8_t *bytes, uint32_t *out)
{
    uint32_t bits = 0;
    float value;
    memcpy(&bits, bytes, channel.size_B);
    const int number = channel.size_B == 1 ? (int8_t)bits : (int16_t)bits;
    if (channel.type == FLOATING && channel.size_B == 4) {
        const uint32_t exponent = bits >> 23 & 255;
        *out = bits;
        return exponent ? exponent < 255 || !(bits << 9) : !(bits << 1);
    }
    if (channel.type == FLOATING) {
        const bool large = (bits >> 10 & 31) == 31;
        value = large ? ((bits >> 15) ? -INFINITY : INFINITY) : half_value((uint16_t)bits);
        memcpy(out, &value, sizeof value);
        return !large || !(bits & 1023);
    }
    if (!promoted) {
        *out = channel.type == SIGNED && channel.size_B < 4 ? (uint32_t)number : bits;
        return true;
    }
    // "will be promoted to [0, 1] or [-1, 1]"; the lowest number is the same as the next one.
    const int most = (1 << (channel.size_B * 8 - (channel.type == SIGNED))) - 1;
    const int integer = channel.type == SIGNED ? number : (int)bits;
    value = (float)((double)(integer < -most ? -most : integer) / most);
    memcpy(out, &value, sizeof value);
    return true;
}
