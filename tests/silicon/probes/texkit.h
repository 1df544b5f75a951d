// SPDX-License-Identifier: MIT
// Shared by the texture probes: arrays, texture objects and one small kernel for each texture
// instruction.
#ifndef TEXKIT_H
#define TEXKIT_H
#include "probe.h"
#include <math.h>
typedef struct {
    float x, y, z;
    int32_t layer;
    float lod, dx[3], dy[3], spare;
} sample_t; // as the kernels read it: 48 bytes
typedef struct {
    CUarray_format fmt;
    int ch, w, h, d, levels;
    unsigned flags;
    int mem;
    CUarray a;
    CUmipmappedArray m;
    CUdeviceptr p;
    size_t pitch;
} image_t; // mem: 0 array, 1 linear memory, 2 pitched memory
typedef struct {
    CUaddress_mode am[3];
    int linear, mip;
    unsigned flags, aniso;
    float bias, lo, hi, border[4];
    CUDA_RESOURCE_VIEW_DESC *view;
} sampler_t;
enum { TK_MAX = 8192 };
static uint32_t tk_out[TK_MAX * 4];
static CUdeviceptr tk_dout, tk_din;
static sample_t tk_in[TK_MAX];
static uint64_t tk_fnv(const void *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull;
    const unsigned char *b = p;
    while (n--) {
        h ^= *b++;
        h *= 0x100000001b3ull;
    }
    return h;
}
static uint32_t tk_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float tk_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint64_t tk_rs;
static uint32_t tk_r32(void)
{
    uint64_t z = (tk_rs += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}
static int tk_rn(int n)
{
    return (int)(tk_r32() % (unsigned)n);
}
static uint16_t tk_half(float f)
{
    uint32_t u = tk_bits(f), s = u >> 16 & 0x8000;
    int e = (int)(u >> 23 & 255) - 112;
    uint32_t m = u & 0x7fffff;
    if ((u >> 23 & 255) == 255)
        return s | 0x7c00 | (m ? 0x200 : 0);
    if (e >= 31)
        return s | 0x7c00;
    if (e <= 0) {
        if (e < -10)
            return s;
        m |= 0x800000;
        int sh = 14 - e;
        uint32_t r = m >> sh, rest = m & ((1u << sh) - 1), half = 1u << (sh - 1);
        if (rest > half || (rest == half && (r & 1)))
            r++;
        return s | r;
    }
    uint32_t r = (uint32_t)e << 10 | m >> 13, rest = m & 0x1fff;
    if (rest > 0x1000 || (rest == 0x1000 && (r & 1)))
        r++;
    return s | r;
}
static int tk_size(CUarray_format f)
{
    switch ((int)f) {
    case 0x01:
    case 0x08:
        return 1;
    case 0x02:
    case 0x09:
    case 0x10:
        return 2;
    case 0x03:
    case 0x0a:
    case 0x20:
        return 4;
    case 0xc0:
    case 0xc6:
        return 1;
    case 0xc1:
    case 0xc7:
    case 0xc3:
    case 0xc9:
        return 2;
    case 0xc2:
    case 0xc8:
    case 0xc4:
    case 0xca:
    case 0x50:
        return 4;
    case 0xc5:
    case 0xcb:
        return 8;
    }
    return 1;
} // of the new formats: the whole texel
static size_t tk_texel(const image_t *t)
{
    int f = (int)t->fmt;
    return f >= 0x50 ? (size_t)tk_size(t->fmt) : (size_t)tk_size(t->fmt) * t->ch;
}
static int tk_dim(int n, int l)
{
    return n >> l > 1 ? n >> l : 1;
}
static int tk_layers(const image_t *t)
{
    return t->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

// one kernel for op (tex, level, grad, tld4.r ...), geometry, result type, coordinate type; made on
// first use
static struct {
    char name[400];
    CUfunction f;
    CUresult r;
} tk_k[400];
static int tk_nk;
static CUresult tk_kernel(const char *op, const char *geom, const char *dst, const char *ct,
                          CUfunction *f)
{
    char name[400];
    snprintf(name, sizeof name, "%s.%s.%s.%s", op, geom, dst, ct);
    for (int i = 0; i < tk_nk; i++)
        if (!strcmp(tk_k[i].name, name)) {
            *f = tk_k[i].f;
            return tk_k[i].r;
        }
    const char *c = !strcmp(geom, "1d")      ? "{%c0}"
                    : !strcmp(geom, "2d")    ? "{%c0,%c1}"
                    : !strcmp(geom, "a1d")   ? "{%ly,%c0}"
                    : !strcmp(geom, "a2d")   ? "{%ly,%c0,%c1,%c1}"
                    : !strcmp(geom, "acube") ? "{%ly,%c0,%c1,%c2}"
                                             : "{%c0,%c1,%c2,%c2}";
    int dims = !strcmp(geom, "1d") || !strcmp(geom, "a1d")   ? 1
               : !strcmp(geom, "2d") || !strcmp(geom, "a2d") ? 2
                                                             : 3;
    const char *g = dims == 1   ? "{%g0},{%h0}"
                    : dims == 2 ? "{%g0,%g1},{%h0,%h1}"
                                : "{%g0,%g1,%g2,%g2},{%h0,%h1,%h2,%h2}";
    char in[1200];
    if (!strcmp(op, "tex"))
        snprintf(in, sizeof in, "tex.%s.v4.%s.%s {%%v0,%%v1,%%v2,%%v3},[%%t,%s];", geom, dst, ct,
                 c);
    else if (!strcmp(op, "level"))
        snprintf(in, sizeof in, "tex.level.%s.v4.%s.f32 {%%v0,%%v1,%%v2,%%v3},[%%t,%s],%%lod;",
                 geom, dst, c);
    else if (!strcmp(op, "grad"))
        snprintf(in, sizeof in, "tex.grad.%s.v4.%s.f32 {%%v0,%%v1,%%v2,%%v3},[%%t,%s],%s;", geom,
                 dst, c, g);
    else if (!strncmp(op, "offset", 6))
        snprintf(in, sizeof in, "tex.%s.v4.%s.%s {%%v0,%%v1,%%v2,%%v3},[%%t,%s],{%s};", geom, dst,
                 ct, c,
                 dims == 1   ? "%i3"
                 : dims == 2 ? "%i3,%im2"
                             : "%i3,%im2,%i1,%i1");
    else if (!strncmp(op, "tld4", 4))
        snprintf(in, sizeof in, "%s.%s.v4.%s.f32 {%%v0,%%v1,%%v2,%%v3},[%%t,%s];", op, geom, dst,
                 c);
    else
        snprintf(in, sizeof in, "%s", op); // the instruction itself
    static char t[6000];
    snprintf(
        t, sizeof t,
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 po,.param "
        ".u64 pc,.param .u64 pt,.param .u32 pn)\n{\n.reg .pred %%p;\n.reg .b32 "
        "%%i,%%n,%%c<3>,%%ly,%%lod,%%g<3>,%%h<3>,%%sp,%%v<4>,%%i3,%%im2,%%i1;\n.reg .b64 "
        "%%o,%%c,%%t,%%x,%%y;\nmov.u32 %%i,%%ctaid.x;\nmov.u32 %%n,%%ntid.x;\nmov.u32 "
        "%%sp,%%tid.x;\nmad.lo.u32 %%i,%%i,%%n,%%sp;\nld.param.u32 %%n,[pn];\nsetp.ge.u32 "
        "%%p,%%i,%%n;\n@%%p ret;\nld.param.u64 %%o,[po];\nld.param.u64 %%c,[pc];\nld.param.u64 "
        "%%t,[pt];\nmad.wide.u32 %%x,%%i,48,%%c;\nmad.wide.u32 %%y,%%i,16,%%o;\nmov.b32 "
        "%%i3,3;\nmov.b32 %%im2,-2;\nmov.b32 %%i1,1;\nmov.b32 %%v0,0;\nmov.b32 %%v1,0;\nmov.b32 "
        "%%v2,0;\nmov.b32 %%v3,0;\nld.global.v4.b32 {%%c0,%%c1,%%c2,%%ly},[%%x];\nld.global.v4.b32 "
        "{%%lod,%%g0,%%g1,%%g2},[%%x+16];\nld.global.v4.b32 "
        "{%%h0,%%h1,%%h2,%%sp},[%%x+32];\n%s\nst.global.v4.b32 "
        "[%%y],{%%v0,%%v1,%%v2,%%v3};\nret;\n}\n",
        in);
    if (getenv("TK_PTX")) {
        fprintf(stderr, "%s// ----\n", t);
    }
    CUmodule m;
    CUresult r = cuModuleLoadData(&m, t);
    if (!r)
        r = cuModuleGetFunction(f, m, "k");
    else
        *f = 0;
    if (tk_nk < 400) {
        strcpy(tk_k[tk_nk].name, name);
        tk_k[tk_nk].f = *f;
        tk_k[tk_nk++].r = r;
    }
    return r;
}
static void tk_setup(void)
{
    probe_ctx();
    tk_nk = 0;
    MUST(cuMemAlloc(&tk_dout, sizeof tk_out));
    MUST(cuMemAlloc(&tk_din, sizeof tk_in));
}

static CUresult tk_image(image_t *t)
{
    CUresult r;
    t->a = 0;
    t->m = 0;
    t->p = 0;
    if (t->mem) {
        size_t row = (size_t)t->w * tk_texel(t);
        t->pitch = t->mem == 2 ? (row + 511) / 512 * 512 : row;
        return cuMemAlloc(&t->p, t->pitch * (t->h ? t->h : 1) + 512);
    }
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = t->w,
                                 .Height = t->h,
                                 .Depth = t->d,
                                 .Format = t->fmt,
                                 .NumChannels = t->ch,
                                 .Flags = t->flags};
    if (t->levels) {
        r = cuMipmappedArrayCreate(&t->m, &d, t->levels);
        return r;
    }
    return cuArray3DCreate(&t->a, &d);
}
static CUresult tk_upload(image_t *t, int level, const void *data)
{ // tight rows; layers and faces one behind another
    size_t es = tk_texel(t);
    int w = tk_dim(t->w, level), h = t->h ? tk_dim(t->h, level) : 1,
        d = t->d ? (tk_layers(t) ? t->d : tk_dim(t->d, level)) : 1;
    CUarray a = t->a;
    CUresult r;
    if (t->levels && (r = cuMipmappedArrayGetLevel(&a, t->m, level)))
        return r;
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = data;
    c.srcPitch = w * es;
    c.srcHeight = h;
    c.WidthInBytes = w * es;
    c.Height = h;
    c.Depth = d;
    if (t->mem) {
        c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        c.dstDevice = t->p;
        c.dstPitch = t->pitch;
        c.dstHeight = h;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
    }
    return cuMemcpy3D(&c);
}
static void tk_free(image_t *t)
{
    if (t->a)
        cuArrayDestroy(t->a);
    if (t->m)
        cuMipmappedArrayDestroy(t->m);
    if (t->p)
        cuMemFree(t->p);
}
static void tk_resource(const image_t *t, CUDA_RESOURCE_DESC *rd)
{
    memset(rd, 0, sizeof *rd);
    if (t->mem == 1) {
        rd->resType = CU_RESOURCE_TYPE_LINEAR;
        rd->res.linear.devPtr = t->p;
        rd->res.linear.format = t->fmt;
        rd->res.linear.numChannels = t->ch;
        rd->res.linear.sizeInBytes = t->w * tk_texel(t);
    } else if (t->mem == 2) {
        rd->resType = CU_RESOURCE_TYPE_PITCH2D;
        rd->res.pitch2D.devPtr = t->p;
        rd->res.pitch2D.format = t->fmt;
        rd->res.pitch2D.numChannels = t->ch;
        rd->res.pitch2D.width = t->w;
        rd->res.pitch2D.height = t->h;
        rd->res.pitch2D.pitchInBytes = t->pitch;
    } else if (t->m) {
        rd->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        rd->res.mipmap.hMipmappedArray = t->m;
    } else {
        rd->resType = CU_RESOURCE_TYPE_ARRAY;
        rd->res.array.hArray = t->a;
    }
}
static CUresult tk_texture(const image_t *t, const sampler_t *s, CUtexObject *o)
{
    CUDA_RESOURCE_DESC rd;
    tk_resource(t, &rd);
    CUDA_TEXTURE_DESC td;
    memset(&td, 0, sizeof td);
    for (int i = 0; i < 3; i++)
        td.addressMode[i] = s->am[i];
    td.filterMode = s->linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    td.mipmapFilterMode = s->mip ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    td.flags = s->flags;
    td.maxAnisotropy = s->aniso;
    td.mipmapLevelBias = s->bias;
    td.minMipmapLevelClamp = s->lo;
    td.maxMipmapLevelClamp = s->hi;
    memcpy(td.borderColor, s->border, 16);
    return cuTexObjectCreate(o, &rd, &td, s->view);
}
// samples tk_in[0..n) -> tk_out; 0, or the failing step's name with the code in *r. After a fault
// the process is of no more use.
static const char *tk_fetch(unsigned long long o, const char *op, const char *geom, const char *dst,
                            const char *ct, int n, CUresult *r)
{
    CUfunction f;
    if ((*r = tk_kernel(op, geom, dst, ct, &f)))
        return "kernel";
    if ((*r = cuMemcpyHtoD(tk_din, tk_in, n * sizeof *tk_in)))
        return "copy";
    if ((*r = cuMemsetD32(tk_dout, 0xabababab, n * 4)))
        return "memset";
    unsigned un = n;
    void *pp[] = {&tk_dout, &tk_din, &o, &un};
    if ((*r = cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, 0, pp, 0)))
        return "launch";
    if ((*r = cuCtxSynchronize()))
        return "sync";
    if ((*r = cuMemcpyDtoH(tk_out, tk_dout, n * 16)))
        return "copy-back";
    return 0;
}
#endif
