// SPDX-License-Identifier: MIT
// Surfaces and textures in kernels: queries, boundaries, misaligned coordinates, bad handles, other
// geometries, formats, and forms of the instructions. One line a case. After a fault, which is the
// code of the synchronisation, a fresh process goes on.
#include "probe.h"
#include <math.h>
static CUdeviceptr dO, dI;
static uint32_t out[512];
static void setup(void)
{
    probe_ctx();
    MUST(cuMemAlloc(&dO, 65536));
    MUST(cuMemAlloc(&dI, 65536));
}
static CUmodule mod;
static CUfunction fn;
static int build(const char *ver, const char *target, const char *decl, const char *params,
                 const char *body)
{
    static char t[9000];
    snprintf(t, sizeof t,
             ".version %s\n.target %s\n.address_size 64\n%s\n.visible .entry k(.param .u64 "
             "po,.param .u64 pi,.param .u64 ph,.param .u64 pg%s)\n{\n.reg .pred %%p<4>;\n.reg .b16 "
             "%%h<8>;\n.reg .b32 %%r<20>,%%t,%%x,%%y,%%z,%%l,%%v<8>;\n.reg .f32 %%f<8>;\n.reg .b64 "
             "%%X<8>,%%O,%%I,%%H,%%G;\nld.param.u64 %%O,[po];\nld.param.u64 "
             "%%I,[pi];\nld.param.u64 %%H,[ph];\nld.param.u64 %%G,[pg];\nmov.u32 "
             "%%t,%%tid.x;\nmad.wide.u32 %%X0,%%t,16,%%I;\nld.global.v4.b32 "
             "{%%x,%%y,%%z,%%l},[%%X0];\nmov.b32 %%v0,0xdead;\nmov.b32 %%v1,0xdead;\nmov.b32 "
             "%%v2,0xdead;\nmov.b32 %%v3,0xdead;\n%s\nmad.wide.u32 "
             "%%X1,%%t,16,%%O;\nst.global.v4.b32 [%%X1],{%%v0,%%v1,%%v2,%%v3};\nret;\n}\n",
             ver, target, decl, params, body);
    mod = 0;
    fn = 0;
    CUresult r = cuModuleLoadData(&mod, t);
    if (r) {
        OUT("load %s ", R(r));
        return 0;
    }
    r = cuModuleGetFunction(&fn, mod, "k");
    if (r) {
        OUT("get %s ", R(r));
        return 0;
    }
    return 1;
}
#define B(body) build("8.5", "sm_90", "", "", body)
// runs n threads; prints w words of each; returns 1 if it worked
static int go(unsigned long long h, unsigned long long g, int n, int w)
{
    memset(out, 0, sizeof out);
    cuMemsetD8(dO, 0, 4096);
    void *p[] = {&dO, &dI, &h, &g};
    CUresult r = cuLaunchKernel(fn, 1, 1, 1, n, 1, 1, 0, 0, p, 0);
    if (r) {
        OUT("launch %s ", R(r));
        return 0;
    }
    r = cuCtxSynchronize();
    if (r) {
        OUT("sync %s ", R(r));
        return 0;
    }
    MUST(cuMemcpyDtoH(out, dO, n * 16));
    OUT("[");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < w; k++)
            OUT("%s%x", i + k ? " " : "", out[i * 4 + k]);
    OUT("] ");
    return 1;
}
static void in4(const int *v, int n)
{
    MUST(cuMemcpyHtoD(dI, v, n * 16));
}
static void ramp(void)
{
    int v[128];
    for (int i = 0; i < 32; i++) {
        v[i * 4] = i;
        v[i * 4 + 1] = 0;
        v[i * 4 + 2] = 0;
        v[i * 4 + 3] = 0;
    }
    in4(v, 32);
}
typedef struct {
    CUarray a;
    CUmipmappedArray m;
    CUsurfObject s;
    CUtexObject t;
    size_t n, row;
    int h, d;
} img;
static img mk(int fmt, int ch, int esz, int w, int h, int d, unsigned flags, int levels)
{
    img g;
    memset(&g, 0, sizeof g);
    CUDA_ARRAY3D_DESCRIPTOR D = {
        .Width = w,
        .Height = h,
        .Depth = d,
        .Format = fmt,
        .NumChannels = ch,
        .Flags = flags | (fmt < 0x90 || fmt > 0xb0 ? CUDA_ARRAY3D_SURFACE_LDST : 0)};
    CUresult r;
    if (levels) {
        r = cuMipmappedArrayCreate(&g.m, &D, levels);
        if (!r)
            r = cuMipmappedArrayGetLevel(&g.a, g.m, 0);
    } else
        r = cuArray3DCreate(&g.a, &D);
    if (r) {
        OUT("array %s ", R(r));
        return g;
    }
    g.row = (size_t)w * esz;
    g.h = h ? h : 1;
    g.d = d ? d : 1;
    g.n = g.row * g.h * g.d;
    static unsigned char b[1 << 20];
    for (size_t i = 0; i < g.n; i++)
        b[i] = (unsigned char)(i * 7 + (i >> 8) * 3 + 1);
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = b;
    c.srcPitch = g.row;
    c.srcHeight = g.h;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = g.a;
    c.WidthInBytes = g.row;
    c.Height = g.h;
    c.Depth = g.d;
    MUST(cuMemcpy3D(&c));
    CUDA_RESOURCE_DESC rd;
    memset(&rd, 0, sizeof rd);
    rd.resType = CU_RESOURCE_TYPE_ARRAY;
    rd.res.array.hArray = g.a;
    r = cuSurfObjectCreate(&g.s, &rd);
    if (r)
        OUT("surf %s ", R(r));
    if (g.m) {
        rd.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        rd.res.mipmap.hMipmappedArray = g.m;
    }
    CUDA_TEXTURE_DESC td;
    memset(&td, 0, sizeof td);
    for (int i = 0; i < 3; i++)
        td.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    td.flags = CU_TRSF_READ_AS_INTEGER;
    td.maxMipmapLevelClamp = 9;
    r = cuTexObjectCreate(&g.t, &rd, &td, 0);
    if (r)
        OUT("tex %s ", R(r));
    return g;
}
static void dump(img *g, int from, int n, const char *end)
{
    static unsigned char b[1 << 20];
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = b;
    c.dstPitch = g->row;
    c.dstHeight = g->h;
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = g->a;
    c.WidthInBytes = g->row;
    c.Height = g->h;
    c.Depth = g->d;
    CUresult r = cuMemcpy3D(&c);
    if (r) {
        OUT("dump %s", R(r));
        return;
    }
    for (int i = from; i < from + n && i < (int)g->n; i++)
        OUT("%02x", b[i]);
    OUT("%s", end);
}
#define U8 1
#define U16 2
#define U32 3
#define S8 8
#define S16 9
#define S32 10
#define F16 16
#define F32 32
#define LAY CUDA_ARRAY3D_LAYERED
#define CUBE CUDA_ARRAY3D_CUBEMAP
static const char *ZQ[] = {"clamp", "zero", "trap"};

GROUP(query)
{
    setup();
    static const char *tq[] = {"width",         "height",
                               "depth",         "channel_data_type",
                               "channel_order", "normalized_coords",
                               "array_size",    "num_mipmap_levels",
                               "num_samples"};
    static const char *sq[] = {"width",         "height",     "depth",        "channel_data_type",
                               "channel_order", "array_size", "memory_layout"};
    static const char *smp[] = {"force_unnormalized_coords", "filter_mode", "addr_mode_0",
                                "addr_mode_1", "addr_mode_2"};
    char b[300];
    img im[7];
    static const char *nm[] = {"1d-u8x1-8",       "2d-u8x4-8x6",       "3d-f32x2-8x6x4",
                               "a2d-f16x4-8x6x3", "mip-s16x2-16x16x4", "cube-u8x4-4",
                               "a1d-s32-8x3"};
    probe_st->open = 0;
    im[0] = mk(U8, 1, 1, 8, 0, 0, 0, 0);
    im[1] = mk(U8, 4, 4, 8, 6, 0, 0, 0);
    im[2] = mk(F32, 2, 8, 8, 6, 4, 0, 0);
    im[3] = mk(F16, 4, 8, 8, 6, 3, LAY, 0);
    im[4] = mk(S16, 2, 4, 16, 16, 0, 0, 4);
    im[5] = mk(U8, 4, 4, 4, 4, 6, CUBE, 0);
    im[6] = mk(S32, 1, 4, 8, 0, 3, LAY, 0);
    for (int q = 0; q < 9; q++)
        CASE("txq.%s", tq[q])
        {
            snprintf(b, sizeof b, "txq.%s.b32 %%v0,[%%H];", tq[q]);
            if (B(b))
                for (int i = 0; i < 7; i++) {
                    OUT("%s ", nm[i]);
                    go(im[i].t, 0, 1, 1);
                }
        }
    for (int q = 0; q < 3; q++)
        CASE("txq.level.%s", tq[q])
        {
            snprintf(
                b, sizeof b,
                "txq.level.%s.b32 %%v0,[%%H],0;\ntxq.level.%s.b32 %%v1,[%%H],1;\ntxq.level.%s.b32 "
                "%%v2,[%%H],7;\nmov.b32 %%r5,-1;\ntxq.level.%s.b32 %%v3,[%%H],%%r5;",
                tq[q], tq[q], tq[q], tq[q]);
            if (B(b))
                for (int i = 0; i < 7; i++) {
                    OUT("%s ", nm[i]);
                    go(im[i].t, 0, 1, 4);
                }
        }
    for (int q = 0; q < 5; q++)
        CASE("txq.%s", smp[q])
        {
            snprintf(b, sizeof b, "txq.%s.b32 %%v0,[%%H];", smp[q]);
            if (B(b))
                go(im[1].t, 0, 1, 1);
        }
    for (int q = 0; q < 7; q++)
        CASE("suq.%s", sq[q])
        {
            snprintf(b, sizeof b, "suq.%s.b32 %%v0,[%%H];", sq[q]);
            if (B(b))
                for (int i = 0; i < 7; i++) {
                    OUT("%s ", nm[i]);
                    go(im[i].s, 0, 1, 1);
                }
        }
    CASE("txq-on-texref-variable")
    {
        if (build("8.5", "sm_90", ".visible .global .texref tx;", "",
                  "txq.width.b32 %v0,[tx];\ntxq.height.b32 %v1,[tx];\ntxq.depth.b32 "
                  "%v2,[tx];\ntxq.channel_order.b32 %v3,[tx];")) {
            CUtexref t;
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, im[1].a, CU_TRSA_OVERRIDE_FORMAT)));
            go(0, 0, 1, 4);
        }
    }
    CASE("suq-on-surfref-variable")
    {
        if (build("8.5", "sm_90", ".visible .global .surfref sx;", "",
                  "suq.width.b32 %v0,[sx];\nsuq.height.b32 %v1,[sx];\nsuq.depth.b32 "
                  "%v2,[sx];\nsuq.channel_order.b32 %v3,[sx];")) {
            CUsurfref t;
            OUT("%s ", R(cuModuleGetSurfRef(&t, mod, "sx")));
            OUT("%s ", R(cuSurfRefSetArray(t, im[1].a, 0)));
            go(0, 0, 1, 4);
        }
    }
    CASE("istypep")
    {
        if (B("istypep.texref %p0,%H;\nistypep.surfref %p1,%H;\nistypep.samplerref "
              "%p2,%H;\nselp.b32 %v0,1,0,%p0;\nselp.b32 %v1,1,0,%p1;\nselp.b32 %v2,1,0,%p2;")) {
            go(im[1].t, 0, 1, 3);
            go(im[1].s, 0, 1, 3);
            go(0, 0, 1, 3);
            go(12345, 0, 1, 3);
        }
    }
}

GROUP(misaligned)
{
    setup();
    ramp();
    probe_st->open = 0;
    img a = mk(U32, 1, 4, 8, 4, 0, 0, 0), e = mk(U8, 1, 1, 13, 3, 0, 0, 0),
        v = mk(F32, 4, 16, 3, 2, 0, 0, 0);
    for (int z = 0; z < 2; z++) {
        char b[300];
        const char *m = ZQ[z];
        CASE("suld.b16-odd-%s", m)
        {
            snprintf(b, sizeof b, "suld.b.2d.b16.%s %%h0,[%%H,{%%x,%%y}];\ncvt.u32.u16 %%v0,%%h0;",
                     m);
            if (B(b)) {
                if (!go(a.s, 0, 32, 1))
                    probe_fresh();
            }
        }
        CASE("suld.b32-odd-%s", m)
        {
            snprintf(b, sizeof b, "suld.b.2d.b32.%s %%v0,[%%H,{%%x,%%y}];", m);
            if (B(b)) {
                if (!go(a.s, 0, 32, 1))
                    probe_fresh();
            }
        }
        CASE("suld.v4.b32-odd-%s", m)
        {
            snprintf(b, sizeof b, "suld.b.2d.v4.b32.%s {%%v0,%%v1,%%v2,%%v3},[%%H,{%%x,%%y}];", m);
            if (B(b)) {
                if (!go(a.s, 0, 32, 4))
                    probe_fresh();
            }
        }
        CASE("suld.b64-of-f32x4-%s", m)
        {
            snprintf(b, sizeof b,
                     "shl.b32 %%x,%%x,2;\nsuld.b.2d.v2.b32.%s {%%v0,%%v1},[%%H,{%%x,%%y}];", m);
            if (B(b)) {
                if (!go(v.s, 0, 16, 2))
                    probe_fresh();
            }
        }
        CASE("suld.b32-of-13-bytes-%s", m)
        {
            snprintf(b, sizeof b, "suld.b.2d.b32.%s %%v0,[%%H,{%%x,%%y}];", m);
            if (B(b)) {
                if (!go(e.s, 0, 32, 1))
                    probe_fresh();
            }
        }
        CASE("suld.b32-of-13-bytes-aligned-%s", m)
        {
            snprintf(b, sizeof b, "shl.b32 %%x,%%x,2;\nsuld.b.2d.b32.%s %%v0,[%%H,{%%x,%%y}];", m);
            if (B(b)) {
                if (!go(e.s, 0, 6, 1))
                    probe_fresh();
            }
        }
        CASE("suld.v4.b32-of-13-bytes-aligned-%s", m)
        {
            snprintf(
                b, sizeof b,
                "shl.b32 %%x,%%x,4;\nsuld.b.2d.v4.b32.%s {%%v0,%%v1,%%v2,%%v3},[%%H,{%%x,%%y}];",
                m);
            if (B(b)) {
                if (!go(e.s, 0, 3, 4))
                    probe_fresh();
            }
        }
        CASE("sust.b32-odd-%s", m)
        {
            img w = mk(U32, 1, 4, 8, 2, 0, 0, 0);
            snprintf(b, sizeof b,
                     "setp.eq.u32 %%p0,%%t,5;\n@%%p0 sust.b.2d.b32.%s [%%H,{%%x,%%y}],0xaabbccdd;",
                     m);
            if (B(b)) {
                if (!go(w.s, 0, 32, 1))
                    probe_fresh();
                dump(&w, 0, 16, " ");
            }
        }
        CASE("sured-odd-%s", m)
        {
            img w = mk(U32, 1, 4, 8, 2, 0, 0, 0);
            snprintf(
                b, sizeof b,
                "setp.eq.u32 %%p0,%%t,5;\n@%%p0 sured.b.add.2d.u32.%s [%%H,{%%x,%%y}],0x1010101;",
                m);
            if (B(b)) {
                if (!go(w.s, 0, 32, 1))
                    probe_fresh();
                dump(&w, 0, 16, " ");
            }
        }
        CASE("sured-outside-%s", m)
        {
            img w = mk(U32, 1, 4, 4, 2, 0, 0, 0);
            snprintf(b, sizeof b,
                     "shl.b32 %%x,%%x,2;\nsub.u32 %%x,%%x,8;\nsured.b.add.2d.u32.%s "
                     "[%%H,{%%x,%%y}],0x1010101;",
                     m);
            if (B(b)) {
                if (!go(w.s, 0, 8, 1))
                    probe_fresh();
                dump(&w, 0, 32, " ");
            }
        }
        CASE("sured.p-outside-%s", m)
        {
            img w = mk(U32, 1, 4, 4, 2, 0, 0, 0);
            snprintf(b, sizeof b,
                     "sub.u32 %%x,%%x,2;\nsured.p.add.2d.b32.%s [%%H,{%%x,%%y}],0x1010101;", m);
            if (B(b)) {
                if (!go(w.s, 0, 8, 1))
                    probe_fresh();
                dump(&w, 0, 32, " ");
            }
        }
        CASE("sust.b-wide-outside-%s", m)
        {
            img w = mk(U32, 1, 4, 6, 2, 0, 0, 0);
            snprintf(b, sizeof b,
                     "setp.eq.u32 %%p0,%%t,0;\nmov.b32 %%x,16;\n@%%p0 sust.b.2d.v4.b32.%s "
                     "[%%H,{%%x,%%y}],{1,2,3,4};",
                     m);
            if (B(b)) {
                if (!go(w.s, 0, 8, 1))
                    probe_fresh();
                dump(&w, 0, 48, " ");
            }
        }
    }
}

GROUP(trap)
{
    setup();
    ramp();
    probe_st->open = 0;
    img a = mk(U32, 1, 4, 8, 4, 0, 0, 0), l = mk(U32, 1, 4, 8, 4, 3, LAY, 0),
        v = mk(U32, 1, 4, 8, 4, 3, 0, 0);
#define T(name, im, body)                                                                          \
    CASE(name)                                                                                     \
    {                                                                                              \
        if (B(body)) {                                                                             \
            if (!go(im.s, 0, 1, 1))                                                                \
                probe_fresh();                                                                     \
        }                                                                                          \
    }
    T("suld-x", a, "mov.b32 %x,32;\nsuld.b.2d.b32.trap %v0,[%H,{%x,%y}];")
    T("suld-x-negative", a, "mov.b32 %x,-4;\nsuld.b.2d.b32.trap %v0,[%H,{%x,%y}];")
        T("suld-y", a, "mov.b32 %y,4;\nsuld.b.2d.b32.trap %v0,[%H,{%x,%y}];") T(
            "suld-z", v, "mov.b32 %z,3;\nsuld.b.3d.b32.trap %v0,[%H,{%x,%y,%z,%z}];")
            T("suld-layer", l, "mov.b32 %l,3;\nsuld.b.a2d.b32.trap %v0,[%H,{%l,%x,%y,%y}];") T(
                "sust-x", a, "mov.b32 %x,32;\nsust.b.2d.b32.trap [%H,{%x,%y}],7;")
                T("sust-y", a, "mov.b32 %y,9;\nsust.b.2d.b32.trap [%H,{%x,%y}],7;") T(
                    "sust.p-x", a, "mov.b32 %x,8;\nsust.p.2d.b32.trap [%H,{%x,%y}],7;")
                    T("sured-x", a, "mov.b32 %x,32;\nsured.b.add.2d.u32.trap [%H,{%x,%y}],7;") T(
                        "suld-misaligned", a, "mov.b32 %x,2;\nsuld.b.2d.b32.trap %v0,[%H,{%x,%y}];")
                        T("sust-misaligned", a, "mov.b32 %x,2;\nsust.b.2d.b32.trap [%H,{%x,%y}],7;")
                            T("suld-no-modifier", a,
                              "mov.b32 %x,32;\nsuld.b.2d.b32.trap %v0,[%H,{%x,%y}];")
}

GROUP(handles)
{
    setup();
    ramp();
    probe_st->open = 0;
    img a = mk(U32, 1, 4, 8, 4, 0, 0, 0), b = mk(U32, 1, 4, 8, 4, 0, 0, 0);
    static const char *su = "suld.b.2d.b32.zero %v0,[%H,{%x,%y}];",
                      *te = "tex.2d.v4.u32.s32 {%v0,%v1,%v2,%v3},[%H,{%x,%y}];",
                      *st = "sust.b.2d.b32.zero [%H,{%x,%y}],5;";
#define HH(name, body, h)                                                                          \
    CASE(name)                                                                                     \
    {                                                                                              \
        if (B(body)) {                                                                             \
            if (!go(h, 0, 4, 1))                                                                   \
                probe_fresh();                                                                     \
        }                                                                                          \
    }
    HH("suld-0", su, 0)
    HH("suld-1", su, 1) HH("suld-4095", su, 4095) HH("suld-garbage", su, 0x123456789abcull)
        HH("suld-texture-handle", su, a.t) HH("suld-array-handle", su, (uintptr_t)a.a)
            HH("sust-0", st, 0) HH("sust-garbage", st, 0x123456789abcull) HH("tex-0", te, 0)
                HH("tex-1", te, 1) HH("tex-4095", te, 4095) HH("tex-garbage", te, 0x123456789abcull)
                    HH("tex-surface-handle", te, a.s) HH("tex-array-handle", te, (uintptr_t)a.a)
                        CASE("suld-destroyed")
    {
        unsigned long long h = b.s;
        OUT("%s ", R(cuSurfObjectDestroy(h)));
        if (B(su) && !go(h, 0, 4, 1))
            probe_fresh();
    }
    CASE("tex-destroyed")
    {
        unsigned long long h = b.t;
        OUT("%s ", R(cuTexObjectDestroy(h)));
        if (B(te) && !go(h, 0, 4, 1))
            probe_fresh();
    }
    CASE("suld-array-destroyed")
    {
        OUT("%s ", R(cuArrayDestroy(b.a)));
        if (B(su) && !go(b.s, 0, 4, 1))
            probe_fresh();
    }
    CASE("tex-array-destroyed")
    {
        OUT("%s ", R(cuArrayDestroy(b.a)));
        if (B(te) && !go(b.t, 0, 4, 1))
            probe_fresh();
    }
    CASE("tex-two-handles-in-a-warp")
    {
        if (B("and.b32 %r1,%t,1;\nsetp.eq.u32 %p0,%r1,0;\nselp.b64 "
              "%H,%H,%G,%p0;\ntex.2d.v4.u32.s32 {%v0,%v1,%v2,%v3},[%H,{%x,%y}];") &&
            !go(a.t, b.t, 8, 1))
            probe_fresh();
    }
    CASE("suld-two-handles-in-a-warp")
    {
        if (B("and.b32 %r1,%t,1;\nsetp.eq.u32 %p0,%r1,0;\nselp.b64 "
              "%H,%H,%G,%p0;\nsuld.b.2d.b32.zero %v0,[%H,{%x,%y}];") &&
            !go(a.s, b.s, 8, 1))
            probe_fresh();
    }
    CASE("handle-values")
    {
        OUT("tex %llx %llx surf %llx %llx", (unsigned long long)a.t & 0xfffff,
            (unsigned long long)(b.t - a.t), (unsigned long long)a.s & 0xfffff,
            (unsigned long long)(b.s - a.s));
    }
}

GROUP(geometry)
{
    setup();
    int v[32];
    for (int i = 0; i < 8; i++) {
        v[i * 4] = i & 1;
        v[i * 4 + 1] = i >> 1 & 1;
        v[i * 4 + 2] = i >> 2;
        v[i * 4 + 3] = i >> 2;
    }
    in4(v, 8);
    probe_st->open = 0;
    img im[6];
    static const char *nm[] = {"1d", "2d", "3d", "a1d", "a2d", "cube"};
    im[0] = mk(U32, 1, 4, 8, 0, 0, 0, 0);
    im[1] = mk(U32, 1, 4, 8, 4, 0, 0, 0);
    im[2] = mk(U32, 1, 4, 8, 4, 3, 0, 0);
    im[3] = mk(U32, 1, 4, 8, 0, 3, LAY, 0);
    im[4] = mk(U32, 1, 4, 8, 4, 3, LAY, 0);
    im[5] = mk(U32, 1, 4, 4, 4, 6, CUBE, 0);
    static const char *gm[] = {"1d", "2d", "3d", "a1d", "a2d"},
                      *cc[] = {"{%x}", "{%x,%y}", "{%x,%y,%z,%z}", "{%l,%x}", "{%l,%x,%y,%y}"};
    char b[400];
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 5; g++)
            if (strcmp(nm[i], gm[g])) {
                CASE("suld.%s-of-%s", gm[g], nm[i])
                {
                    snprintf(b, sizeof b, "shl.b32 %%x,%%x,2;\nsuld.b.%s.b32.zero %%v0,[%%H,%s];",
                             gm[g], cc[g]);
                    if (B(b)) {
                        if (!go(im[i].s, 0, 8, 1))
                            probe_fresh();
                    }
                }
            }
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 5; g++)
            if (strcmp(nm[i], gm[g])) {
                CASE("tex.%s-of-%s", gm[g], nm[i])
                {
                    snprintf(b, sizeof b,
                             "cvt.rn.f32.s32 %%x,%%x;\ncvt.rn.f32.s32 %%y,%%y;\ncvt.rn.f32.s32 "
                             "%%z,%%z;\ntex.%s.v4.u32.f32 {%%v0,%%v1,%%v2,%%v3},[%%H,%s];",
                             gm[g], cc[g]);
                    if (B(b)) {
                        if (!go(im[i].t, 0, 8, 1))
                            probe_fresh();
                    }
                }
            }
    for (int i = 0; i < 5; i++)
        CASE("tex.cube-of-%s", nm[i])
        {
            if (B("mov.b32 %r1,0f3f800000;\nmov.b32 %r2,0f3e000000;\ntex.cube.v4.u32.f32 "
                  "{%v0,%v1,%v2,%v3},[%H,{%r1,%r2,%r2,%r2}];")) {
                if (!go(im[i].t, 0, 2, 1))
                    probe_fresh();
            }
        }
    for (int i = 0; i < 6; i++)
        for (int g = 0; g < 3; g++) {
            CASE("tex.s32.%s-of-%s", gm[g], nm[i])
            {
                snprintf(b, sizeof b, "tex.%s.v4.u32.s32 {%%v0,%%v1,%%v2,%%v3},[%%H,%s];", gm[g],
                         cc[g]);
                if (B(b)) {
                    if (!go(im[i].t, 0, 8, 1))
                        probe_fresh();
                }
            }
        }
}

GROUP(formatted)
{
    setup();
    static const struct {
        const char *n;
        int f, ch, e;
    } F[] = {{"u8x1", U8, 1, 1},        {"u8x4", U8, 4, 4},       {"s8x4", S8, 4, 4},
             {"u16x2", U16, 2, 4},      {"s16x2", S16, 2, 4},     {"u32x4", U32, 4, 16},
             {"s32x2", S32, 2, 8},      {"f16x1", F16, 1, 2},     {"f16x4", F16, 4, 8},
             {"f32x1", F32, 1, 4},      {"f32x4", F32, 4, 16},    {"unorm8x4", 0xc2, 4, 4},
             {"unorm16x2", 0xc4, 2, 4}, {"snorm8x4", 0xc8, 4, 4}, {"snorm16x2", 0xca, 2, 4},
             {"unorm10_2", 0x50, 4, 4}};
    static const uint32_t vals[32] = {
        0,          1,          127,        128,        255,        256,        300,
        32767,      32768,      65535,      65536,      0x7fffffff, 0x80000000, 0xffffffff,
        0xffffff80, 0xffff8000, 0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
        0x3b808081, 0x3eaaaaab, 0x7fc00000, 0x7f800000, 0xff800000, 0x3f7f8000, 0x477fe000,
        0x477ff000, 0x33800000, 0x38801000, 0x3f801000};
    int v[128];
    for (int i = 0; i < 32; i++) {
        v[i * 4] = i;
        v[i * 4 + 1] = vals[i];
        v[i * 4 + 2] = vals[31 - i];
        v[i * 4 + 3] = 0x3f800000;
    }
    in4(v, 32);
    for (unsigned f = 0; f < sizeof F / sizeof *F; f++)
        for (int c = 1; c <= 4; c *= 2)
            CASE("sust.p-%s-v%d", F[f].n, c)
            {
                img w = mk(F[f].f, F[f].ch, F[f].e, 32, 1, 0, 0, 0);
                if (w.s &&
                    B(c == 1 ? "mov.b32 %r9,0;\nsust.p.2d.b32.zero [%H,{%x,%r9}],%y;"
                      : c == 2
                          ? "mov.b32 %r9,0;\nsust.p.2d.v2.b32.zero [%H,{%x,%r9}],{%y,%z};"
                          : "mov.b32 %r9,0;\nsust.p.2d.v4.b32.zero [%H,{%x,%r9}],{%y,%z,%l,%y};")) {
                    go(w.s, 0, 32, 0);
                    dump(&w, 0, 32 * F[f].e, "");
                }
                if (w.a)
                    cuArrayDestroy(w.a);
            }
    static const char *ops[] = {"add", "min", "max", "and", "or"};
    char b[300];
    for (unsigned f = 0; f < 11; f++)
        for (int o = 0; o < 5; o++)
            if (F[f].f != F16)
                CASE("sured.p.%s-%s", ops[o], F[f].n)
                {
                    img w = mk(F[f].f, F[f].ch, F[f].e, 32, 1, 0, 0, 0);
                    snprintf(b, sizeof b,
                             "mov.b32 %%r9,0;\nsured.p.%s.2d.b32.zero [%%H,{%%x,%%r9}],%%y;",
                             ops[o]);
                    if (B(b)) {
                        if (!go(w.s, 0, 32, 0))
                            probe_fresh();
                        dump(&w, 0, 8 * F[f].e, "");
                    }
                    if (w.a)
                        cuArrayDestroy(w.a);
                }
    CASE("sust.b-of-bc1-array")
    {
        img w = mk(0x91, 4, 8, 4, 4, 0, 0, 0);
        OUT("%d", (int)w.s);
    }
}

GROUP(syntax)
{
    setup();
    ramp();
    probe_st->open = 0;
    img a = mk(F32, 4, 16, 8, 4, 0, CUDA_ARRAY3D_TEXTURE_GATHER, 0),
        l = mk(F32, 4, 16, 8, 4, 3, LAY | CUDA_ARRAY3D_TEXTURE_GATHER, 0);
    CUtexObject fl;
    {
        CUDA_RESOURCE_DESC rd;
        memset(&rd, 0, sizeof rd);
        rd.resType = CU_RESOURCE_TYPE_ARRAY;
        rd.res.array.hArray = a.a;
        float t[128];
        for (int i = 0; i < 128; i++)
            t[i] = i * 0.37f - 3;
        t[5] = NAN;
        t[6] = 1e6f;
        t[7] = 1e-7f;
        CUDA_MEMCPY3D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = t;
        c.srcPitch = 128;
        c.srcHeight = 4;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a.a;
        c.WidthInBytes = 128;
        c.Height = 4;
        c.Depth = 1;
        MUST(cuMemcpy3D(&c));
        CUDA_TEXTURE_DESC td;
        memset(&td, 0, sizeof td);
        MUST(cuTexObjectCreate(&fl, &rd, &td, 0));
    }
#define X(name, body)                                                                              \
    CASE(name)                                                                                     \
    {                                                                                              \
        if (B("cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\n" body)) {                         \
            if (!go(fl, 0, 4, 4))                                                                  \
                probe_fresh();                                                                     \
        }                                                                                          \
    }
    X("tex.v2.f16x2", "tex.2d.v2.f16x2.f32 {%v0,%v1},[%H,{%f0,%f1}];")
    X("tex.v4.f16", ".reg .f16 %k<4>;\ntex.2d.v4.f16.f32 "
                    "{%k0,%k1,%k2,%k3},[%H,{%f0,%f1}];\nmov.b32 %v0,{%k0,%k1};\nmov.b32 "
                    "%v1,{%k2,%k3};") X("tex-offset-vector", "tex.2d.v4.f32.f32 "
                                                             "{%v0,%v1,%v2,%v3},[%H,{%f0,%f1}],{1,"
                                                             "1};") X(
        "tex-depth-compare", "mov.b32 %f2,0f00000000;\ntex.2d.v4.f32.f32 "
                             "{%v0,%v1,%v2,%v3},[%H,{%f0,%f1}],%f2;") X("tex-resident-predicate",
                                                                        "tex.2d.v4.f32.f32 "
                                                                        "{%v0,%v1,%v2,%v3}|%p0,[%H,"
                                                                        "{%f0,%f1}];\nselp.b32 "
                                                                        "%v3,1,0,%p0;")
        X("tex-scalar-1d", "tex.1d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,%f0];") X(
            "tex.v1",
            "tex.2d.f32.f32 %v0,[%H,{%f0,%f1}];") X("tex-sink",
                                                    "tex.2d.v4.f32.f32 {%v0,_,_,_},[%H,{%f0,%f1}];")
            X("tex-3d-three-elements", "tex.3d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%f0,%f1,%f1}];") X(
                "tex.2d-three-elements",
                "tex.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%f0,%f1,%f1}];") X("tex.2d-four-elements",
                                                                             "tex.2d.v4.f32.f32 "
                                                                             "{%v0,%v1,%v2,%v3},[%"
                                                                             "H,{%f0,%f1,%f1,%f1}]"
                                                                             ";")
                X("tld4.a2d", "tld4.g.a2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%y,%f0,%f1,%f1}];") X(
                    "tld4-offset", "tld4.g.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%f0,%f1}],{1,0};")
                    X("tex.2dms", "tex.2dms.v4.f32.s32 {%v0,%v1,%v2,%v3},[%H,{%y,%x,%y,%y}];") X(
                        "tex.level-not-mipmapped",
                        "tex.level.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%f0,%f1}],%f1;")
                        X("tex.base-1d", "tex.base.1d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%f0}];") X(
                            "tex.level-s32",
                            "tex.level.2d.v4.f32.s32 {%v0,%v1,%v2,%v3},[%H,{%x,%y}],%y;")
                            X("tex.v4.s32-f32-coordinates", "tex.2d.v4.s32.f32 "
                                                            "{%v0,%v1,%v2,%v3},[%H,{%f0,%f1}];") X(
                                "suld-scalar-1d",
                                "suld.b.1d.b32.zero %v0,[%H,%x];") X("suld-3d-three-elements",
                                                                     "suld.b.3d.b32.zero "
                                                                     "%v0,[%H,{%x,%y,%z}];")
                                X("suld-a2d-three-elements", "suld.b.a2d.b32.zero "
                                                             "%v0,[%H,{%l,%x,%y}];") X(
                                    "suld-without-boundary", "suld.b.2d.b32 %v0,[%H,{%x,%y}];")
                                    X("suld-v4-b64", "suld.b.2d.v4.b64.zero "
                                                     "{%X2,%X3,%X4,%X5},[%H,{%x,%y}];") X(
                                        "suld-b8-in-b32-register",
                                        "suld.b.2d.b8.zero %v0,[%H,{%x,%y}];")
                                        X("sured-xor", "sured.b.xor.2d.b32.zero [%H,{%x,%y}],1;") X(
                                            "sured-inc", "sured.b.inc.2d.u32.zero [%H,{%x,%y}],1;")
                                            X("sured-add-b32",
                                              "sured.b.add.2d.b32.zero [%H,{%x,%y}],1;")
                                                X("sured-add-s64", "sured.b.add.2d.s64.zero "
                                                                   "[%H,{%x,%y}],%X0;") X(
                                                    "sured-and-b64",
                                                    "sured.b.and.2d.b64.zero [%H,{%x,%y}],%X0;")
                                                    X("sured-and-u32", "sured.b.and.2d.u32.zero "
                                                                       "[%H,{%x,%y}],1;") X(
                                                        "sured.p-add-u32",
                                                        "sured.p.add.2d.u32.zero [%H,{%x,%y}],1;")
                                                        X("sured.p-b64", "sured.p.min.2d.b64.zero "
                                                                         "[%H,{%x,%y}],%X0;")
                                                            X("sust.p-b8",
                                                              "sust.p.2d.b8.zero [%H,{%x,%y}],%h0;")
                                                                X("suld.p",
                                                                  "suld.p.2d.v4.u32.zero "
                                                                  "{%v0,%v1,%v2,%v3},[%H,{%x,%y}];")
                                                                    CASE("texref-variable-bound")
    {
        if (build("8.5", "sm_90", ".visible .global .texref tx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
                  "{%v0,%v1,%v2,%v3},[tx,{%f0,%f1}];")) {
            CUtexref t;
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, a.a, CU_TRSA_OVERRIDE_FORMAT)));
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("texref-variable-unbound")
    {
        if (build("8.5", "sm_90", ".visible .global .texref tx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
                  "{%v0,%v1,%v2,%v3},[tx,{%f0,%f1}];")) {
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("surfref-variable-bound")
    {
        if (build("8.5", "sm_90", ".visible .global .surfref sx;", "",
                  "shl.b32 %x,%x,2;\nsuld.b.2d.b32.zero %v0,[sx,{%x,%y}];")) {
            CUsurfref t;
            OUT("%s ", R(cuModuleGetSurfRef(&t, mod, "sx")));
            OUT("%s ", R(cuSurfRefSetArray(t, a.a, 0)));
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("surfref-variable-unbound")
    {
        if (build("8.5", "sm_90", ".visible .global .surfref sx;", "",
                  "shl.b32 %x,%x,2;\nsuld.b.2d.b32.zero %v0,[sx,{%x,%y}];")) {
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("texref-array-destroyed")
    {
        if (build("8.5", "sm_90", ".visible .global .texref tx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
                  "{%v0,%v1,%v2,%v3},[tx,{%f0,%f1}];")) {
            CUtexref t;
            img w = mk(F32, 4, 16, 8, 4, 0, 0, 0);
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, w.a, CU_TRSA_OVERRIDE_FORMAT)));
            cuArrayDestroy(w.a);
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("old-tex-directive")
    {
        if (build("8.5", "sm_90", ".visible .tex .u64 tx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
                  "{%v0,%v1,%v2,%v3},[tx,{%f0,%f1}];")) {
            CUtexref t;
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, a.a, CU_TRSA_OVERRIDE_FORMAT)));
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("texref-address-taken")
    {
        if (build("8.5", "sm_90", ".visible .global .texref tx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\nmov.u64 "
                  "%X2,tx;\ntex.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%X2,{%f0,%f1}];")) {
            CUtexref t;
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, a.a, CU_TRSA_OVERRIDE_FORMAT)));
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("texmode_independent")
    {
        if (build("8.5", "sm_90,texmode_independent",
                  ".visible .global .texref tx;\n.visible .global .samplerref sx;", "",
                  "cvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
                  "{%v0,%v1,%v2,%v3},[tx,sx,{%f0,%f1}];")) {
            CUtexref t;
            OUT("%s ", R(cuModuleGetTexRef(&t, mod, "tx")));
            OUT("%s ", R(cuTexRefSetArray(t, a.a, CU_TRSA_OVERRIDE_FORMAT)));
            if (!go(0, 0, 4, 4))
                probe_fresh();
        }
    }
    CASE("samplerref-in-unified-mode")
    {
        if (B(".reg .u64 %q;\ncvt.rn.f32.s32 %f0,%x;\nmov.f32 %f1,0f3f000000;\ntex.2d.v4.f32.f32 "
              "{%v0,%v1,%v2,%v3},[%H,%G,{%f0,%f1}];")) {
            if (!go(fl, fl, 4, 4))
                probe_fresh();
        }
    }
}
int main(int argc, char **argv)
{
    probe_only = argc > 1 ? argv[1] : 0;
    RUN(query);
    RUN(misaligned);
    RUN(trap);
    RUN(handles);
    RUN(geometry);
    RUN(formatted);
    RUN(syntax);
    return 0;
}
