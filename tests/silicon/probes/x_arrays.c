// SPDX-License-Identifier: MIT
// Arrays, mipmapped and sparse arrays, planes, and the texture and surface objects over them: what
// is accepted, what the descriptors say afterwards, and how much memory a shape needs. x_arrays
// [group] runs one group. A row of letters stands for a sweep of results, one letter each: '.'
// success, V invalid value, N not supported, M out of memory, H invalid handle, U unknown, C
// invalid context, D invalid device, # any other (named behind the row).
#include "probe.h"
#include <math.h>
extern CUresult two_TexRefSetAddress2D(CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr,
                                       size_t) __asm__("cuTexRefSetAddress2D_v2");
static const char *sep(void)
{
    return probe_st->line[0] ? " " : "";
}
static void S(CUresult r)
{
    OUT("%s%s", sep(), R(r));
}
static void L(const char *label, CUresult r)
{
    OUT("%s%s=%s", sep(), label, R(r));
}
static uint64_t fnv(const void *v, size_t n)
{
    const unsigned char *b = v;
    uint64_t h = 0xcbf29ce484222325ull;
    while (n--)
        h = (h ^ *b++) * 0x100000001b3ull;
    return h;
}
static unsigned f32(const void *v, size_t n)
{
    uint64_t h = fnv(v, n);
    return (unsigned)(h ^ h >> 32);
}
static void fill(void *v, size_t n, unsigned seed)
{
    unsigned char *b = v;
    unsigned x = seed * 2654435761u + 12345;
    while (n--) {
        x = x * 1664525u + 1013904223u;
        *b++ = x >> 24;
    }
}
// a difference of two addresses, or -777 where they have nothing to do with each other
static long long df(uint64_t a, uint64_t b)
{
    long long d = a - b;
    return d > -(1ll << 34) && d < 1ll << 34 ? d : -777;
}
static const char *out64(uint64_t v, uint64_t was)
{
    return v == was ? "kept" : v ? "set" : "zero";
}
// a case that leaves a sticky error ends its process, so that the ones after it start clean
static void settle(void)
{
    CUresult r = cuCtxSynchronize();
    if (r == 700 || r == 702 || (r >= 714 && r <= 719) || r == 999) {
        OUT(" STICKY %s", R(r));
        _exit(77);
    }
}
#define XCASE(...) for (int c_ = probe_begin(__VA_ARGS__); c_; c_ = (settle(), 0))
#define N(a) ((int)(sizeof(a) / sizeof *(a)))
#define JUNK 0x5a5a5a5a5a5a5a5aull
static CUresult row_other;
static int row_used;
static void row(CUresult r)
{
    char c = r == 0     ? '.'
             : r == 1   ? 'V'
             : r == 801 ? 'N'
             : r == 2   ? 'M'
             : r == 400 ? 'H'
             : r == 999 ? 'U'
             : r == 201 ? 'C'
             : r == 101 ? 'D'
                        : '#';
    if (c == '#' && !row_used) {
        row_used = 1;
        row_other = r;
    }
    OUT("%c", c);
}
static void row_end(void)
{
    if (row_used)
        OUT(" #=%s", R(row_other));
    row_used = 0;
}

typedef struct {
    const char *n;
    unsigned v;
} fmt_t;
static const fmt_t fmts[] = {
#define F(x) {#x, CU_AD_FORMAT_##x},
    F(UNSIGNED_INT8) F(UNSIGNED_INT16) F(UNSIGNED_INT32) F(SIGNED_INT8) F(SIGNED_INT16)
        F(SIGNED_INT32) F(HALF) F(FLOAT) F(UNORM_INT8X1) F(UNORM_INT8X2) F(UNORM_INT8X4)
            F(UNORM_INT16X1) F(UNORM_INT16X2) F(UNORM_INT16X4) F(SNORM_INT8X1) F(SNORM_INT8X2)
                F(SNORM_INT8X4) F(SNORM_INT16X1) F(SNORM_INT16X2) F(SNORM_INT16X4) F(BC1_UNORM)
                    F(BC1_UNORM_SRGB) F(BC2_UNORM) F(BC2_UNORM_SRGB) F(BC3_UNORM) F(BC3_UNORM_SRGB)
                        F(BC4_UNORM) F(BC4_SNORM) F(BC5_UNORM) F(BC5_SNORM) F(BC6H_UF16)
                            F(BC6H_SF16) F(BC7_UNORM) F(BC7_UNORM_SRGB) F(UNORM_INT_101010_2)
                                F(NV12) F(P010) F(P016) F(NV16) F(P210) F(P216) F(YUY2) F(Y210)
                                    F(Y216) F(AYUV) F(Y410) F(Y416) F(Y444_PLANAR8) F(Y444_PLANAR10)
                                        F(YUV444_8bit_SemiPlanar) F(YUV444_16bit_SemiPlanar)
#undef F
};
static const unsigned odd_fmts[] = {0,    4,    5,    7,    0xb,  0x11,  0x18,      0x21,
                                    0x40, 0x4f, 0x51, 0x52, 0x90, 0xa0,  0xaa,      0xaf,
                                    0xb6, 0xb7, 0xbf, 0xcc, 0xff, 0x100, 0x7fffffff};
enum { FIRST_YUV = 35 };
#define DEFER CUDA_ARRAY3D_DEFERRED_MAPPING
static CUDA_ARRAY3D_DESCRIPTOR ad3(size_t w, size_t h, size_t d, unsigned f, unsigned ch,
                                   unsigned fl)
{
    CUDA_ARRAY3D_DESCRIPTOR a;
    memset(&a, 0, sizeof a);
    a.Width = w;
    a.Height = h;
    a.Depth = d;
    a.Format = f;
    a.NumChannels = ch;
    a.Flags = fl;
    return a;
}
static CUresult mk(CUarray *a, size_t w, size_t h, size_t d, unsigned f, unsigned ch, unsigned fl)
{
    CUDA_ARRAY3D_DESCRIPTOR x = ad3(w, h, d, f, ch, fl);
    *a = 0;
    return cuArray3DCreate(a, &x);
}
static CUresult mkm(CUmipmappedArray *a, size_t w, size_t h, size_t d, unsigned f, unsigned ch,
                    unsigned fl, unsigned lv)
{
    CUDA_ARRAY3D_DESCRIPTOR x = ad3(w, h, d, f, ch, fl);
    *a = 0;
    return cuMipmappedArrayCreate(a, &x, lv);
}
static CUresult try3(size_t w, size_t h, size_t d, unsigned f, unsigned ch, unsigned fl)
{
    CUarray a;
    CUresult r = mk(&a, w, h, d, f, ch, fl);
    if (!r)
        cuArrayDestroy(a);
    return r;
}
static CUresult trym(size_t w, size_t h, size_t d, unsigned f, unsigned ch, unsigned fl,
                     unsigned lv)
{
    CUmipmappedArray a;
    CUresult r = mkm(&a, w, h, d, f, ch, fl, lv);
    if (!r)
        cuMipmappedArrayDestroy(a);
    return r;
}
static void desc(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    memset(&d, 0x5a, sizeof d);
    CUresult r = cuArray3DGetDescriptor(&d, a);
    if (r)
        OUT("%sdesc=%s", sep(), R(r));
    else
        OUT("%s%zux%zux%zu/f%x/c%u/fl%x", sep(), d.Width, d.Height, d.Depth, d.Format,
            d.NumChannels, d.Flags);
}
static void desc2(CUarray a)
{
    CUDA_ARRAY_DESCRIPTOR d;
    memset(&d, 0x5a, sizeof d);
    CUresult r = cuArrayGetDescriptor(&d, a);
    if (r)
        OUT(" desc2=%s", R(r));
    else
        OUT(" 2D:%zux%zu/f%x/c%u", d.Width, d.Height, d.Format, d.NumChannels);
}
static void need(CUarray a)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS m;
    memset(&m, 0x5a, sizeof m);
    CUresult r = cuArrayGetMemoryRequirements(&m, a, 0);
    if (r)
        OUT(" need=%s", R(r));
    else
        OUT(" need=%zu/%zu", m.size, m.alignment);
}
static unsigned channels(unsigned f)
{
    for (unsigned c = 1; c <= 4; c++)
        if (!try3(64, 64, 0, f, c, DEFER))
            return c;
    for (unsigned c = 1; c <= 4; c++)
        if (!try3(64, 64, 0, f, c, 0))
            return c;
    return 0;
}

// ------------------------------------------------------------------ formats
GROUP(formats)
{
    probe_ctx();
    for (int i = 0; i < N(fmts); i++)
        CASE("%s-channels", fmts[i].n)
        {
            for (unsigned c = 0; c <= 5; c++) {
                CUarray a;
                CUresult r = mk(&a, 64, 32, 0, fmts[i].v, c, DEFER);
                OUT("%s%u:%s", sep(), c, R(r));
                if (!r) {
                    OUT("/");
                    desc(a);
                    desc2(a);
                    need(a);
                    cuArrayDestroy(a);
                }
            }
            L("c8", try3(64, 32, 0, fmts[i].v, 8, DEFER));
            L("c16", try3(64, 32, 0, fmts[i].v, 16, DEFER));
            L("cmax", try3(64, 32, 0, fmts[i].v, ~0u, DEFER));
            OUT(" plain:");
            for (unsigned c = 0; c <= 5; c++)
                row(try3(64, 32, 0, fmts[i].v, c, 0));
            row_end();
        }
    for (int i = 0; i < N(fmts); i++)
        CASE("%s-accepts", fmts[i].n)
        {
            unsigned f = fmts[i].v, c = channels(f);
            OUT("c%u", c);
            for (int p = 0; p < 2; p++) {
                unsigned x = p ? 0 : DEFER;
                OUT(p ? " plain-shapes:" : " shapes:");
                row(try3(64, 0, 0, f, c, x));
                row(try3(64, 64, 0, f, c, x));
                row(try3(64, 64, 8, f, c, x));
                row(try3(64, 0, 6, f, c, x | 1));
                row(try3(64, 64, 6, f, c, x | 1));
                row(try3(64, 64, 6, f, c, x | 4));
                row(try3(64, 64, 12, f, c, x | 5));
                row(trym(64, 0, 0, f, c, x, 3));
                row(trym(64, 64, 0, f, c, x, 3));
                row(trym(64, 64, 0, f, c, x, 7));
                row(trym(64, 64, 8, f, c, x, 3));
                row(trym(64, 64, 6, f, c, x | 1, 3));
                row(trym(64, 64, 6, f, c, x | 4, 3));
            }
            unsigned fl[] = {0,    2,    8,    0x10, 0x20,  0x40, 0x80, 0x100, 0x82,
                             0x88, 0x90, 0xa0, 0xc0, 0x180, 0x42, 0xa2, 0x102, 0x22};
            OUT(" flags:");
            for (int k = 0; k < N(fl); k++)
                row(try3(64, 64, 0, f, c, fl[k]));
            OUT(" mip-flags:");
            for (int k = 0; k < N(fl); k++)
                row(trym(64, 64, 0, f, c, fl[k], 2));
            OUT(" small:");
            for (unsigned w = 1; w <= 5; w++)
                for (unsigned h = 1; h <= 5; h++)
                    row(try3(w, h, 0, f, c, DEFER));
            row_end();
            CUarray a;
            unsigned dm[][2] = {{1, 1}, {2, 2}, {3, 3}, {5, 6}, {65, 33}};
            for (int k = 0; k < 5; k++)
                if (!mk(&a, dm[k][0], dm[k][1], 0, f, c, DEFER)) {
                    desc(a);
                    need(a);
                    cuArrayDestroy(a);
                }
        }
    for (int h = 0; h < 2; h++)
        CASE("odd-%d", h) for (int i = h * 12; i < N(odd_fmts) && i < h * 12 + 12; i++)
        {
            OUT("%s%x:", sep(), odd_fmts[i]);
            for (unsigned c = 0; c <= 5; c++)
                row(try3(64, 32, 0, odd_fmts[i], c, DEFER));
            OUT("/");
            for (unsigned c = 0; c <= 5; c++)
                row(try3(64, 32, 0, odd_fmts[i], c, 0));
            row_end();
            CUarray a;
            for (unsigned c = 1; c <= 4; c++)
                if (!mk(&a, 64, 32, 0, odd_fmts[i], c, DEFER)) {
                    OUT(" c%u", c);
                    desc(a);
                    need(a);
                    cuArrayDestroy(a);
                }
        }
}

// ------------------------------------------------------------------ flags and shapes
GROUP(flags)
{
    probe_ctx();
    struct {
        const char *n;
        size_t w, h, d;
    } sh[] = {{"w64", 64, 0, 0},         {"w64h64", 64, 64, 0},
              {"w64h64d1", 64, 64, 1},   {"w64h64d6", 64, 64, 6},
              {"w64h64d12", 64, 64, 12}, {"w64d6", 64, 0, 6},
              {"w64h32d6", 64, 32, 6},   {"w0", 0, 0, 0}};
    struct {
        const char *n;
        unsigned f, c;
    } ff[] = {{"u8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4}, {"f32", CU_AD_FORMAT_FLOAT, 1}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N(sh); i++)
            for (unsigned b = 0; b < 512; b += 128)
                CASE("%s-%s-from-%x", ff[k].n, sh[i].n, b)
                {
                    for (unsigned x = b; x < b + 128; x++) {
                        if (x % 32 == 0 && x > b)
                            OUT(" ");
                        row(try3(sh[i].w, sh[i].h, sh[i].d, ff[k].f, ff[k].c, x));
                    }
                    row_end();
                }
    for (int i = 0; i < N(sh); i++)
        for (unsigned b = 0; b < 512; b += 128)
            CASE("mip-%s-from-%x", sh[i].n, b)
            {
                for (unsigned x = b; x < b + 128; x++) {
                    if (x % 32 == 0 && x > b)
                        OUT(" ");
                    row(trym(sh[i].w, sh[i].h, sh[i].d, ff[0].f, ff[0].c, x, 2));
                }
                row_end();
            }
    CASE("high-bits")
    {
        for (int b = 9; b < 32; b++) {
            row(try3(64, 64, 0, 1, 1, 1u << b));
            row(try3(64, 64, 0, 1, 1, 1u << b | DEFER));
        }
        row_end();
    }
    unsigned keep[] = {0,    1,    2,    3,    4,    5,    6,     8,     0xa,   0x10,
                       0x20, 0x22, 0x40, 0x80, 0x82, 0xa0, 0x100, 0x200, 0x8000};
    for (int i = 0; i < N(sh); i++)
        CASE("kept-%s", sh[i].n) for (int k = 0; k < N(keep); k++)
        {
            CUarray a;
            if (!mk(&a, sh[i].w, sh[i].h, sh[i].d, 1, 1, keep[k])) {
                OUT("%s%x:", sep(), keep[k]);
                desc(a);
                desc2(a);
                cuArrayDestroy(a);
            }
        }
    size_t zz[][3] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 1},  {0, 1, 1}, {1, 0, 0}, {1, 1, 0},
                      {1, 0, 1}, {1, 1, 1}, {1, 0, 2},  {1, 2, 1}, {2, 2, 2}, {1, 1, 6},
                      {2, 1, 6}, {1, 1, 7}, {1, 1, 12}, {1, 0, 6}};
    unsigned zf[] = {0, 1, 2, 3, 4, 5, 8, 0x40, 0x80, 0x81, 0x84, 0x85, 0x88, 0xc0};
    for (int i = 0; i < N(zz); i++)
        CASE("dims-%zu-%zu-%zu", zz[i][0], zz[i][1], zz[i][2])
        {
            for (int k = 0; k < N(zf); k++)
                row(try3(zz[i][0], zz[i][1], zz[i][2], 1, 1, zf[k]));
            OUT(" mip:");
            for (int k = 0; k < N(zf); k++)
                row(trym(zz[i][0], zz[i][1], zz[i][2], 1, 1, zf[k], 1));
            row_end();
            CUDA_ARRAY_DESCRIPTOR d = {zz[i][0], zz[i][1], CU_AD_FORMAT_UNSIGNED_INT8, 1};
            CUarray a;
            CUresult r = cuArrayCreate(&a, &d);
            L("2D", r);
            if (!r)
                cuArrayDestroy(a);
        }
}
GROUP(limits)
{
    probe_ctx();
    struct {
        const char *n;
        int aw, ah, ad;
        unsigned fl;
        int h, d;
    } cl[] = {{"1D", 21, 0, 0, 0, 0, 0},
              {"2D", 22, 23, 0, 0, 1, 0},
              {"3D", 24, 25, 26, 0, 1, 1},
              {"3D-alternate", 47, 48, 49, 0, 1, 1},
              {"1D-layered", 42, 0, 43, 1, 0, 1},
              {"2D-layered", 27, 28, 29, 1, 1, 1},
              {"2D-gather", 45, 46, 0, 8, 1, 0},
              {"surface-1D", 55, 0, 0, 2, 0, 0},
              {"surface-2D", 56, 57, 0, 2, 1, 0},
              {"surface-3D", 58, 59, 60, 2, 1, 1},
              {"surface-1D-layered", 61, 0, 62, 3, 0, 1},
              {"surface-2D-layered", 63, 64, 65, 3, 1, 1}};
    for (int i = 0; i < N(cl); i++) {
        int v[3] = {0, 0, 0}, at[3] = {cl[i].aw, cl[i].ah, cl[i].ad};
        for (int q = 0; q < 3; q++)
            if (at[q])
                cuDeviceGetAttribute(&v[q], at[q], 0);
        for (int q = 0; q < 3; q++)
            if (at[q])
                CASE("%s-%s", cl[i].n, q == 0 ? "width" : q == 1 ? "height" : "depth")
                {
                    long long t[] = {v[q] / 2 + 1,    v[q] - 1,   v[q],
                                     v[q] + 1ll,      2ll * v[q], 1ll << 32,
                                     (1ll << 32) + 1, 1ll << 40,  -1};
                    OUT("%d", v[q]);
                    for (int k = 0; k < N(t); k++) {
                        size_t w = 1, h = cl[i].h, d = cl[i].d;
                        if (q == 0)
                            w = t[k];
                        else if (q == 1)
                            h = t[k];
                        else
                            d = t[k];
                        if (!k)
                            OUT(" ");
                        row(try3(w, h, d, 1, 1, cl[i].fl | DEFER));
                    }
                    OUT(" f32x4:");
                    for (int k = 0; k < N(t); k++) {
                        size_t w = 1, h = cl[i].h, d = cl[i].d;
                        if (q == 0)
                            w = t[k];
                        else if (q == 1)
                            h = t[k];
                        else
                            d = t[k];
                        row(try3(w, h, d, CU_AD_FORMAT_FLOAT, 4, cl[i].fl | DEFER));
                    }
                    OUT(" mip:");
                    for (int k = 0; k < N(t); k++) {
                        size_t w = 1, h = cl[i].h, d = cl[i].d;
                        if (q == 0)
                            w = t[k];
                        else if (q == 1)
                            h = t[k];
                        else
                            d = t[k];
                        row(trym(w, h, d, 1, 1, cl[i].fl | DEFER, 1));
                    }
                    row_end();
                }
    }
    int cw = 0, clw = 0, cll = 0, scw = 0, m2w = 0, m1w = 0;
    cuDeviceGetAttribute(&cw, 52, 0);
    cuDeviceGetAttribute(&clw, 53, 0);
    cuDeviceGetAttribute(&cll, 54, 0);
    cuDeviceGetAttribute(&scw, 66, 0);
    cuDeviceGetAttribute(&m2w, 73, 0);
    cuDeviceGetAttribute(&m1w, 77, 0);
    CASE("cube-depths")
    {
        for (int d = 0; d <= 24; d++)
            row(try3(16, 16, d, 1, 1, 4 | DEFER));
        OUT(" layered:");
        for (int d = 0; d <= 24; d++)
            row(try3(16, 16, d, 1, 1, 5 | DEFER));
        OUT(" mip:");
        for (int d = 0; d <= 12; d++)
            row(trym(16, 16, d, 1, 1, 4 | DEFER, 2));
        row_end();
    }
    CASE("cube-layered-most")
    {
        int t[] = {cll - 6, cll, cll + 1, cll + 6, 2048, 2046, 2052};
        OUT("%d ", cll);
        for (int k = 0; k < N(t); k++)
            row(try3(1, 1, t[k], 1, 1, 5 | DEFER));
        row_end();
    }
    CASE("cube-not-square")
    {
        row(try3(16, 15, 6, 1, 1, 4 | DEFER));
        row(try3(15, 16, 6, 1, 1, 4 | DEFER));
        row(try3(16, 0, 6, 1, 1, 4 | DEFER));
        row(try3(16, 15, 5, 1, 1, 4 | DEFER));
        row(try3(16, 15, 12, 1, 1, 5 | DEFER));
        row_end();
    }
    CASE("mip-widths")
    {
        int t[] = {m1w - 1, m1w, m1w + 1, 2 * m1w, 4 * m1w};
        OUT("%d ", m1w);
        for (int k = 0; k < N(t); k++)
            row(trym(t[k], 0, 0, 1, 1, DEFER, 2));
        int u[] = {m2w, m2w + 1, 2 * m2w};
        OUT(" 2D %d:", m2w);
        for (int k = 0; k < N(u); k++) {
            row(trym(u[k], 1, 0, 1, 1, DEFER, 2));
            row(trym(1, u[k], 0, 1, 1, DEFER, 2));
        }
        row_end();
    }
    CASE("3D-mixed")
    {
        size_t t[][3] = {{16384, 1, 16384}, {16385, 1, 1},       {1, 16385, 1},
                         {1, 1, 16385},     {8192, 8192, 32768}, {8193, 1, 32768},
                         {1, 8193, 32768},  {8192, 1, 32768},    {8192, 1, 32769},
                         {16384, 1, 16385}, {65536, 1, 1},       {65536, 16384, 1}};
        for (int k = 0; k < N(t); k++)
            if (k != 4)
                row(try3(t[k][0], t[k][1], t[k][2], 1, 1, DEFER));
        row_end();
    }
}
GROUP(args)
{
    probe_ctx();
    CUarray a = 0, b;
    CUDA_ARRAY3D_DESCRIPTOR d3 = ad3(16, 16, 0, 1, 1, 0), bad = ad3(0, 0, 0, 0, 0, 0), g;
    CUDA_ARRAY_DESCRIPTOR d2 = {16, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1}, g2;
    CUmipmappedArray m;
    CUDA_ARRAY_MEMORY_REQUIREMENTS q;
    CUDA_ARRAY_SPARSE_PROPERTIES sp;
    memset(&q, 0, sizeof q);
    memset(&sp, 0, sizeof sp);
    CASE("create-null")
    {
        L("out", cuArrayCreate(0, &d2));
        L("desc", cuArrayCreate(&a, 0));
        L("both", cuArrayCreate(0, 0));
        L("out3", cuArray3DCreate(0, &d3));
        L("desc3", cuArray3DCreate(&a, 0));
        L("both3", cuArray3DCreate(0, 0));
        L("out3-bad", cuArray3DCreate(0, &bad));
        L("outm", cuMipmappedArrayCreate(0, &d3, 1));
        L("descm", cuMipmappedArrayCreate(&m, 0, 1));
        L("bothm", cuMipmappedArrayCreate(0, 0, 1));
        L("bothm-0", cuMipmappedArrayCreate(0, 0, 0));
    }
    CASE("create-failed-out")
    {
        CUarray x = (CUarray)JUNK;
        CUmipmappedArray y = (CUmipmappedArray)JUNK;
        S(cuArray3DCreate(&x, &bad));
        OUT("/%s", out64((uint64_t)x, JUNK));
        S(cuMipmappedArrayCreate(&y, &bad, 1));
        OUT("/%s", out64((uint64_t)y, JUNK));
        x = (CUarray)JUNK;
        S(cuMipmappedArrayCreate(&y, &d3, 99));
        OUT("/%s", out64((uint64_t)y, JUNK));
    }
    CASE("precedence")
    {
        row(try3(0, 16, 0, 0x99999, 1, 0));
        row(try3(16, 16, 0, 0x99999, 3, 0));
        row(try3(16, 16, 0, CU_AD_FORMAT_NV12, 1, 0x200));
        row(try3(1 << 20, 16, 0, 0x99999, 1, 0));
        row(try3(16, 16, 0, 1, 3, 0x8000));
        row(try3(1 << 20, 1 << 20, 0, 1, 1, 0x200));
        row_end();
    }
    for (unsigned c = 0; c <= 8; c++)
        CASE("create2D-channels-%u", c)
        {
            unsigned ff[] = {1,    2,    3,    8,    9,    10,   0x10, 0x20, 0x50,
                             0x91, 0x97, 0x9d, 0xb0, 0xc0, 0xc2, 0,    4};
            for (int k = 0; k < N(ff); k++) {
                CUDA_ARRAY_DESCRIPTOR d = {64, 64, ff[k], c};
                CUresult r = cuArrayCreate(&b, &d);
                row(r);
                if (!r)
                    cuArrayDestroy(b);
            }
            row_end();
        }
    CASE("desc-null")
    {
        MUST(cuArray3DCreate(&a, &d3));
        L("out", cuArrayGetDescriptor(0, a));
        L("array", cuArrayGetDescriptor(&g2, 0));
        L("both", cuArrayGetDescriptor(0, 0));
        L("out3", cuArray3DGetDescriptor(0, a));
        L("array3", cuArray3DGetDescriptor(&g, 0));
        L("both3", cuArray3DGetDescriptor(0, 0));
        cuArrayDestroy(a);
    }
    CASE("desc-destroyed")
    {
        MUST(cuArray3DCreate(&a, &d3));
        cuArrayDestroy(a);
        S(cuArray3DGetDescriptor(&g, a));
    }
    CASE("desc-garbage")
    {
        static char z[8192];
        S(cuArray3DGetDescriptor(&g, (CUarray)z));
    }
    CASE("desc2-garbage")
    {
        static char z[8192];
        S(cuArrayGetDescriptor(&g2, (CUarray)z));
    }
    CASE("destroy-null")
    {
        S(cuArrayDestroy(0));
        S(cuMipmappedArrayDestroy(0));
    }
    CASE("destroy-twice")
    {
        MUST(cuArray3DCreate(&a, &d3));
        S(cuArrayDestroy(a));
        S(cuArrayDestroy(a));
    }
    CASE("destroy-mip-twice")
    {
        MUST(cuMipmappedArrayCreate(&m, &d3, 2));
        S(cuMipmappedArrayDestroy(m));
        S(cuMipmappedArrayDestroy(m));
    }
    CASE("destroy-garbage")
    {
        static char z[8192];
        S(cuArrayDestroy((CUarray)z));
    }
    CASE("destroy-mip-garbage")
    {
        static char z[8192];
        S(cuMipmappedArrayDestroy((CUmipmappedArray)z));
    }
    CASE("destroy-mip-as-array")
    {
        MUST(cuMipmappedArrayCreate(&m, &d3, 2));
        S(cuArrayDestroy((CUarray)m));
    }
    CASE("destroy-array-as-mip")
    {
        MUST(cuArray3DCreate(&a, &d3));
        S(cuMipmappedArrayDestroy((CUmipmappedArray)a));
    }
    CASE("destroy-level")
    {
        MUST(cuMipmappedArrayCreate(&m, &d3, 2));
        MUST(cuMipmappedArrayGetLevel(&b, m, 1));
        S(cuArrayDestroy(b));
        desc(b);
        CUarray c = 0;
        S(cuMipmappedArrayGetLevel(&c, m, 1));
        OUT(" same=%d", c == b);
        S(cuMipmappedArrayDestroy(m));
    }
    CASE("level-after-destroy")
    {
        MUST(cuMipmappedArrayCreate(&m, &d3, 2));
        MUST(cuMipmappedArrayGetLevel(&b, m, 1));
        S(cuMipmappedArrayDestroy(m));
        desc(b);
    }
    CASE("level-args")
    {
        MUST(cuMipmappedArrayCreate(&m, &d3, 3));
        CUarray x = (CUarray)JUNK;
        for (unsigned l = 2; l <= 6; l++) {
            x = (CUarray)JUNK;
            CUresult r = cuMipmappedArrayGetLevel(&x, m, l);
            OUT("%s%u:%s/%s", sep(), l, R(r), out64((uint64_t)x, JUNK));
        }
        L("max", cuMipmappedArrayGetLevel(&x, m, ~0u));
        L("null-out", cuMipmappedArrayGetLevel(0, m, 0));
        L("null-mip", cuMipmappedArrayGetLevel(&x, 0, 0));
        L("null-both", cuMipmappedArrayGetLevel(0, 0, 0));
        L("null-out-bad", cuMipmappedArrayGetLevel(0, m, 99));
        CUarray y;
        cuMipmappedArrayGetLevel(&x, m, 0);
        cuMipmappedArrayGetLevel(&y, m, 0);
        OUT(" same=%d", x == y);
        cuMipmappedArrayDestroy(m);
    }
    CASE("level-of-array")
    {
        MUST(cuArray3DCreate(&a, &d3));
        CUarray x;
        S(cuMipmappedArrayGetLevel(&x, (CUmipmappedArray)a, 0));
        cuArrayDestroy(a);
    }
    CASE("level-garbage")
    {
        static char z[8192];
        CUarray x;
        S(cuMipmappedArrayGetLevel(&x, (CUmipmappedArray)z, 0));
    }
    unsigned kf[] = {0, 2, 0x40, 0x80, 0xc0};
    for (int i = 0; i < 5; i++)
        CASE("requirements-flags-%x", kf[i])
        {
            CUresult r = mk(&a, 256, 256, 0, 1, 4, kf[i]);
            L("array", r);
            if (!r) {
                need(a);
                cuArrayDestroy(a);
            }
            r = mkm(&m, 256, 256, 0, 1, 4, kf[i], 4);
            L("mip", r);
            if (!r) {
                memset(&q, 0, sizeof q);
                r = cuMipmappedArrayGetMemoryRequirements(&q, m, 0);
                OUT(" need=%s/%zu/%zu", R(r), q.size, q.alignment);
                if (!cuMipmappedArrayGetLevel(&b, m, 1)) {
                    OUT(" level1:");
                    need(b);
                    r = cuArrayGetSparseProperties(&sp, b);
                    L("sparse", r);
                }
                cuMipmappedArrayDestroy(m);
            }
        }
    CASE("requirements-args")
    {
        MUST(mk(&a, 256, 256, 0, 1, 4, DEFER));
        MUST(mkm(&m, 256, 256, 0, 1, 4, DEFER, 2));
        L("null-out", cuArrayGetMemoryRequirements(0, a, 0));
        L("null-array", cuArrayGetMemoryRequirements(&q, 0, 0));
        L("baddev", cuArrayGetMemoryRequirements(&q, a, 99));
        L("negdev", cuArrayGetMemoryRequirements(&q, a, -1));
        L("null-both", cuArrayGetMemoryRequirements(0, 0, 99));
        L("mip-null-out", cuMipmappedArrayGetMemoryRequirements(0, m, 0));
        L("mip-null", cuMipmappedArrayGetMemoryRequirements(&q, 0, 0));
        L("mip-baddev", cuMipmappedArrayGetMemoryRequirements(&q, m, 99));
        memset(&q, 0x5a, sizeof q);
        cuArrayGetMemoryRequirements(&q, a, 0);
        OUT(" reserved=%x,%x,%x,%x", q.reserved[0], q.reserved[1], q.reserved[2], q.reserved[3]);
        cuArrayDestroy(a);
        cuMipmappedArrayDestroy(m);
    }
    CASE("requirements-plain-baddev")
    {
        MUST(mk(&a, 256, 256, 0, 1, 4, 0));
        S(cuArrayGetMemoryRequirements(&q, a, 99));
        S(cuArrayGetMemoryRequirements(0, a, 0));
        cuArrayDestroy(a);
    }
}

// ------------------------------------------------------------------ mipmapped arrays
GROUP(mip)
{
    probe_ctx();
    struct {
        const char *n;
        size_t w, h, d;
        unsigned fl;
    } sh[] = {{"1D-1", 1, 0, 0, 0},
              {"1D-2", 2, 0, 0, 0},
              {"1D-3", 3, 0, 0, 0},
              {"1D-64", 64, 0, 0, 0},
              {"1D-100", 100, 0, 0, 0},
              {"1D-32768", 32768, 0, 0, 0},
              {"2D-1x1", 1, 1, 0, 0},
              {"2D-1x2", 1, 2, 0, 0},
              {"2D-64x64", 64, 64, 0, 0},
              {"2D-65x7", 65, 7, 0, 0},
              {"2D-7x65", 7, 65, 0, 0},
              {"2D-100x75", 100, 75, 0, 0},
              {"2D-32768x1", 32768, 1, 0, 0},
              {"3D-1x1x1", 1, 1, 1, 0},
              {"3D-16x16x16", 16, 16, 16, 0},
              {"3D-4x5x33", 4, 5, 33, 0},
              {"3D-33x17x9", 33, 17, 9, 0},
              {"1Dlayered-64x5", 64, 0, 5, 1},
              {"1Dlayered-4x200", 4, 0, 200, 1},
              {"2Dlayered-16x16x3", 16, 16, 3, 1},
              {"2Dlayered-4x4x100", 4, 4, 100, 1},
              {"cube-32", 32, 32, 6, 4},
              {"cube-5", 5, 5, 6, 4},
              {"cubelayered-16x12", 16, 16, 12, 5},
              {"surface-64x64", 64, 64, 0, 2},
              {"gather-64x64", 64, 64, 0, 8},
              {"sparse-512x512", 512, 512, 0, 0x40}};
    for (int i = 0; i < N(sh); i++)
        CASE("%s-levels", sh[i].n)
        {
            unsigned most = 0;
            for (unsigned l = 0; l <= 20; l++) {
                CUresult r = trym(sh[i].w, sh[i].h, sh[i].d, 1, 4, sh[i].fl, l);
                row(r);
                if (!r)
                    most = l;
            }
            row_end();
            L("max", trym(sh[i].w, sh[i].h, sh[i].d, 1, 4, sh[i].fl, ~0u));
            CUmipmappedArray m;
            if (most && !mkm(&m, sh[i].w, sh[i].h, sh[i].d, 1, 4, sh[i].fl, most)) {
                for (unsigned l = 0; l < most; l++) {
                    CUarray a = 0;
                    CUresult r = cuMipmappedArrayGetLevel(&a, m, l);
                    if (r)
                        L("level", r);
                    else
                        desc(a);
                }
                cuMipmappedArrayDestroy(m);
            }
        }
    for (int i = 0; i < N(sh); i++)
        CASE("%s-memory", sh[i].n)
        {
            unsigned fc[][2] = {{1, 1}, {1, 4}, {0x20, 4}};
            for (int k = 0; k < 3; k++) {
                OUT("%sf%x,c%u", sep(), fc[k][0], fc[k][1]);
                for (unsigned l = 1; l <= 16; l++) {
                    CUmipmappedArray m;
                    CUDA_ARRAY_MEMORY_REQUIREMENTS q;
                    if (mkm(&m, sh[i].w, sh[i].h, sh[i].d, fc[k][0], fc[k][1], sh[i].fl | DEFER, l))
                        continue;
                    memset(&q, 0, sizeof q);
                    CUresult r = cuMipmappedArrayGetMemoryRequirements(&q, m, 0);
                    if (r)
                        OUT(" %u:%s", l, R(r));
                    else
                        OUT(" %u:%zu/%zu", l, q.size, q.alignment);
                    cuMipmappedArrayDestroy(m);
                }
            }
        }
    XCASE("contents")
    {
        CUmipmappedArray m;
        MUST(mkm(&m, 20, 12, 0, 1, 4, 0, 4));
        static char t[4][4096], u[4096];
        for (int l = 0; l < 4; l++) {
            CUarray a;
            MUST(cuMipmappedArrayGetLevel(&a, m, l));
            fill(t[l], 4096, l);
            CUDA_MEMCPY2D c;
            memset(&c, 0, sizeof c);
            c.srcMemoryType = CU_MEMORYTYPE_HOST;
            c.srcHost = t[l];
            c.srcPitch = 80;
            c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
            c.dstArray = a;
            c.WidthInBytes = (20 >> l) * 4;
            c.Height = 12 >> l;
            S(cuMemcpy2D(&c));
        }
        for (int l = 0; l < 4; l++) {
            CUarray a;
            MUST(cuMipmappedArrayGetLevel(&a, m, l));
            memset(u, 0, 4096);
            CUDA_MEMCPY2D c;
            memset(&c, 0, sizeof c);
            c.dstMemoryType = CU_MEMORYTYPE_HOST;
            c.dstHost = u;
            c.dstPitch = 80;
            c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            c.srcArray = a;
            c.WidthInBytes = (20 >> l) * 4;
            c.Height = 12 >> l;
            S(cuMemcpy2D(&c));
            int ok = 1;
            for (int y = 0; y < 12 >> l; y++)
                ok &= !memcmp(u + 80 * y, t[l] + 80 * y, (20 >> l) * 4);
            OUT("/%d", ok);
        }
        cuMipmappedArrayDestroy(m);
    }
    XCASE("level-copy-past")
    {
        CUmipmappedArray m;
        CUarray a;
        static char t[4096];
        MUST(mkm(&m, 20, 12, 0, 1, 4, 0, 4));
        MUST(cuMipmappedArrayGetLevel(&a, m, 1));
        CUDA_MEMCPY2D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = t;
        c.srcPitch = 80;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
        c.WidthInBytes = 44;
        c.Height = 6;
        S(cuMemcpy2D(&c));
        c.WidthInBytes = 40;
        c.Height = 7;
        S(cuMemcpy2D(&c));
        c.Height = 6;
        S(cuMemcpy2D(&c));
        cuMipmappedArrayDestroy(m);
    }
}

// ------------------------------------------------------------------ memory that a shape needs
static void needs(size_t w, size_t h, size_t d, unsigned fl, int mips)
{
    static const struct {
        const char *n;
        unsigned f, c;
    } e[] = {{"1", 1, 1},
             {"2", 1, 2},
             {"4", 1, 4},
             {"8", 0x20, 2},
             {"16", 0x20, 4},
             {"bc1", CU_AD_FORMAT_BC1_UNORM, 4},
             {"bc7", CU_AD_FORMAT_BC7_UNORM, 4}};
    for (int k = 0; k < N(e); k++) {
        CUDA_ARRAY_MEMORY_REQUIREMENTS q;
        memset(&q, 0, sizeof q);
        if (!mips) {
            CUarray a;
            CUresult r = mk(&a, w, h, d, e[k].f, e[k].c, fl | DEFER);
            if (!r) {
                r = cuArrayGetMemoryRequirements(&q, a, 0);
                cuArrayDestroy(a);
            }
            if (r)
                OUT("%s%s:%s", sep(), e[k].n, R(r));
            else
                OUT("%s%s:%zu/%zu", sep(), e[k].n, q.size, q.alignment);
        } else {
            size_t m = w;
            if (h > m)
                m = h;
            if (!(fl & 5) && d > m)
                m = d;
            unsigned l = 1;
            while (m >>= 1)
                l++;
            CUmipmappedArray a;
            CUresult r = mkm(&a, w, h, d, e[k].f, e[k].c, fl | DEFER, l);
            if (!r) {
                r = cuMipmappedArrayGetMemoryRequirements(&q, a, 0);
                cuMipmappedArrayDestroy(a);
            }
            if (r)
                OUT("%s%s:%s", sep(), e[k].n, R(r));
            else
                OUT("%s%s:%zu/%zu", sep(), e[k].n, q.size, q.alignment);
        }
    }
}
GROUP(memory)
{
    probe_ctx();
    size_t s1[] = {1,     16,    63,    64,    65,    127,   129,   255,   257,    511,
                   513,   1000,  1024,  2049,  4096,  4097,  5000,  8191,  8193,   10007,
                   16384, 16385, 20001, 32768, 65535, 65536, 65537, 99999, 131071, 131072};
    for (int i = 0; i < N(s1); i++)
        CASE("1D-%zu", s1[i]) needs(s1[i], 0, 0, 0, 0);
    size_t s2[][2] = {
        {1, 1},       {1, 8},      {1, 9},       {2, 3},      {15, 15},     {16, 16},
        {17, 17},     {31, 7},     {33, 9},      {63, 63},    {64, 8},      {64, 9},
        {65, 8},      {100, 75},   {127, 129},   {128, 128},  {200, 16},    {200, 17},
        {255, 33},    {256, 256},  {257, 255},   {333, 65},   {512, 64},    {512, 128},
        {513, 129},   {640, 480},  {800, 600},   {1000, 1},   {1000, 1000}, {1023, 257},
        {1024, 1024}, {1280, 720}, {1920, 1080}, {2049, 3},   {3000, 17},   {4095, 4095},
        {4097, 1},    {4097, 8},   {4097, 9},    {4097, 33},  {5000, 7},    {5001, 129},
        {6000, 4000}, {8191, 16},  {8193, 17},   {10007, 31}, {12345, 67},  {16384, 128},
        {16385, 2},   {20000, 65}, {32767, 9},   {32768, 8},  {65536, 4},   {65537, 5},
        {100003, 3},  {131072, 1}, {131072, 17}, {1, 65536},  {7, 65000},   {3, 4097},
        {9, 10007}};
    for (int i = 0; i < N(s2); i++)
        CASE("2D-%zux%zu", s2[i][0], s2[i][1])
        {
            needs(s2[i][0], s2[i][1], 0, 0, 0);
            OUT(" mips:");
            if (s2[i][0] <= 32768 && s2[i][1] <= 32768)
                needs(s2[i][0], s2[i][1], 0, 0, 1);
            OUT(" surface:");
            needs(s2[i][0], s2[i][1], 0, 2, 0);
            OUT(" attachment:");
            needs(s2[i][0], s2[i][1], 0, 0x20, 0);
        }
    size_t s3[][3] = {
        {1, 1, 1},      {1, 1, 2},       {1, 1, 33},    {2, 2, 2},       {5, 5, 5},
        {8, 8, 8},      {16, 16, 1},     {16, 16, 2},   {16, 16, 3},     {16, 16, 16},
        {17, 17, 17},   {32, 8, 40},     {33, 17, 9},   {64, 64, 1},     {64, 64, 2},
        {64, 64, 3},    {64, 64, 4},     {64, 64, 5},   {64, 64, 31},    {64, 64, 32},
        {64, 64, 33},   {64, 64, 64},    {65, 65, 65},  {100, 100, 100}, {128, 4, 40},
        {4, 128, 40},   {128, 128, 128}, {129, 1, 17},  {200, 100, 50},  {255, 255, 7},
        {256, 256, 16}, {300, 20, 10},   {512, 512, 2}, {513, 9, 33},    {1000, 10, 10},
        {2048, 2, 64},  {4097, 3, 3},    {5000, 9, 17}, {10007, 5, 2},   {16384, 1, 16},
        {1, 16384, 4},  {1, 1, 16384}};
    for (int i = 0; i < N(s3); i++)
        CASE("3D-%zux%zux%zu", s3[i][0], s3[i][1], s3[i][2])
        {
            needs(s3[i][0], s3[i][1], s3[i][2], 0, 0);
            OUT(" mips:");
            needs(s3[i][0], s3[i][1], s3[i][2], 0, 1);
            OUT(" layered:");
            if (s3[i][2] <= 2048)
                needs(s3[i][0], s3[i][1], s3[i][2], 1, 0);
            OUT(" layered-mips:");
            if (s3[i][2] <= 2048)
                needs(s3[i][0], s3[i][1], s3[i][2], 1, 1);
        }
    size_t sl[][2] = {{1, 1},    {1, 100},  {64, 2},   {65, 3},    {100, 7},
                      {512, 33}, {1000, 5}, {4097, 2}, {10007, 3}, {32768, 2}};
    for (int i = 0; i < N(sl); i++)
        CASE("1Dlayered-%zux%zu", sl[i][0], sl[i][1])
        {
            needs(sl[i][0], 0, sl[i][1], 1, 0);
            OUT(" mips:");
            needs(sl[i][0], 0, sl[i][1], 1, 1);
        }
    size_t sc[] = {1, 2, 4, 5, 16, 31, 32, 64, 65, 100, 128, 256, 500, 1000};
    for (int i = 0; i < N(sc); i++)
        CASE("cube-%zu", sc[i])
        {
            needs(sc[i], sc[i], 6, 4, 0);
            OUT(" mips:");
            needs(sc[i], sc[i], 6, 4, 1);
            OUT(" 18:");
            needs(sc[i], sc[i], 18, 5, 0);
        }
}

// ------------------------------------------------------------------ sparse arrays
static void sparse_print(CUresult r, const CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    if (r)
        OUT("%s", R(r));
    else
        OUT("tile=%ux%ux%u first=%u tail=%llu fl=%x", p->tileExtent.width, p->tileExtent.height,
            p->tileExtent.depth, p->miptailFirstLevel, p->miptailSize, p->flags);
}
GROUP(sparse)
{
    probe_ctx();
    CUDA_ARRAY_SPARSE_PROPERTIES p;
    CUarray a;
    CUmipmappedArray m;
    struct {
        const char *n;
        unsigned f, c;
    } e[] = {{"u8", 1, 1},      {"u8x2", 1, 2},       {"u8x4", 1, 4},     {"u16", 2, 1},
             {"u16x4", 2, 4},   {"f32", 0x20, 1},     {"f32x2", 0x20, 2}, {"f32x4", 0x20, 4},
             {"half", 0x10, 1}, {"half4", 0x10, 4},   {"s32x4", 0xa, 4},  {"unorm8x4", 0xc2, 4},
             {"bc1", 0x91, 4},  {"bc3", 0x95, 4},     {"bc4", 0x97, 1},   {"bc5", 0x99, 2},
             {"bc7", 0x9d, 4},  {"rgb10a2", 0x50, 4}, {"nv12", 0xb0, 3},  {"u8x3", 1, 3}};
    struct {
        const char *n;
        size_t w, h, d;
        unsigned fl;
    } sh[] = {{"1D", 4096, 0, 0, 0},       {"2D", 1024, 1024, 0, 0},
              {"2Dsmall", 16, 16, 0, 0},   {"2Dodd", 1000, 77, 0, 0},
              {"3D", 256, 256, 64, 0},     {"3Dflat", 256, 256, 1, 0},
              {"layered", 512, 512, 4, 1}, {"1Dlayered", 512, 0, 4, 1},
              {"cube", 256, 256, 6, 4},    {"cubelayered", 256, 256, 12, 5}};
    for (int i = 0; i < N(e); i++)
        CASE("array-%s", e[i].n) for (int k = 0; k < N(sh); k++)
        {
            memset(&p, 0, sizeof p);
            CUresult r = mk(&a, sh[k].w, sh[k].h, sh[k].d, e[i].f, e[i].c, sh[k].fl | 0x40);
            OUT("%s%s:", sep(), sh[k].n);
            if (r) {
                OUT("%s", R(r));
                continue;
            }
            r = cuArrayGetSparseProperties(&p, a);
            sparse_print(r, &p);
            need(a);
            cuArrayDestroy(a);
        }
    for (int i = 0; i < N(e); i++)
        CASE("mip-%s", e[i].n) for (int k = 0; k < N(sh); k++)
        {
            memset(&p, 0, sizeof p);
            CUresult r = mkm(&m, sh[k].w, sh[k].h, sh[k].d, e[i].f, e[i].c, sh[k].fl | 0x40,
                             sh[k].w < 100 ? 4 : 8);
            OUT("%s%s:", sep(), sh[k].n);
            if (r) {
                OUT("%s", R(r));
                continue;
            }
            r = cuMipmappedArrayGetSparseProperties(&p, m);
            sparse_print(r, &p);
            cuMipmappedArrayDestroy(m);
        }
    for (unsigned l = 1; l <= 11; l++)
        CASE("mip-levels-%u", l)
        {
            struct {
                size_t w, h, d;
                unsigned fl;
            } q[] = {{1024, 1024, 0, 0},
                     {1000, 300, 0, 0},
                     {64, 64, 0, 0},
                     {256, 256, 256, 0},
                     {512, 512, 3, 1}};
            for (int k = 0; k < N(q); k++) {
                memset(&p, 0, sizeof p);
                CUresult r = mkm(&m, q[k].w, q[k].h, q[k].d, 1, 4, q[k].fl | 0x40, l);
                OUT("%s%zux%zux%zu:", sep(), q[k].w, q[k].h, q[k].d);
                if (r) {
                    OUT("%s", R(r));
                    continue;
                }
                r = cuMipmappedArrayGetSparseProperties(&p, m);
                sparse_print(r, &p);
                cuMipmappedArrayDestroy(m);
            }
        }
    CASE("errors")
    {
        MUST(mk(&a, 64, 64, 0, 1, 1, 0));
        L("plain", cuArrayGetSparseProperties(&p, a));
        cuArrayDestroy(a);
        MUST(mk(&a, 64, 64, 0, 1, 1, DEFER));
        L("deferred", cuArrayGetSparseProperties(&p, a));
        cuArrayDestroy(a);
        MUST(mkm(&m, 64, 64, 0, 1, 1, 0, 2));
        L("mip-plain", cuMipmappedArrayGetSparseProperties(&p, m));
        cuMipmappedArrayDestroy(m);
        L("null-array", cuArrayGetSparseProperties(&p, 0));
        L("null-both", cuArrayGetSparseProperties(0, 0));
        L("mip-null", cuMipmappedArrayGetSparseProperties(&p, 0));
        L("mip-null-both", cuMipmappedArrayGetSparseProperties(0, 0));
        if (!mk(&a, 1024, 1024, 0, 1, 4, 0x40)) {
            L("null-out", cuArrayGetSparseProperties(0, a));
            memset(&p, 0x5a, sizeof p);
            cuArrayGetSparseProperties(&p, a);
            OUT(" reserved=%x,%x", p.reserved[0], p.reserved[3]);
            cuArrayDestroy(a);
        }
    }
}

// ------------------------------------------------------------------ planes
GROUP(planes)
{
    probe_ctx();
    CUarray a, b;
    for (int i = FIRST_YUV; i < N(fmts); i++)
        for (int v = 0; v < 3; v++)
            CASE("%s-%s", fmts[i].n, v == 0 ? "64x32" : v == 1 ? "deferred-64x32" : "odd-66x34")
            {
                unsigned c = channels(fmts[i].v);
                OUT("c%u", c);
                CUresult r =
                    mk(&a, v == 2 ? 66 : 64, v == 2 ? 34 : 32, 0, fmts[i].v, c, v == 1 ? DEFER : 0);
                S(r);
                if (r)
                    continue;
                desc(a);
                if (v == 1)
                    need(a);
                for (unsigned p = 0; p <= 4; p++) {
                    b = (CUarray)JUNK;
                    r = cuArrayGetPlane(&b, a, p);
                    OUT(" [%u]%s", p, R(r));
                    if (!r) {
                        desc(b);
                        CUarray k = 0;
                        cuArrayGetPlane(&k, a, p);
                        OUT("/same=%d", k == b);
                        if (v == 1)
                            need(b);
                    } else if ((uint64_t)b != JUNK)
                        OUT("/touched");
                }
                L("destroy", cuArrayDestroy(a));
            }
    for (int i = FIRST_YUV; i < N(fmts); i++)
        CASE("%s-sizes", fmts[i].n)
        {
            unsigned c = channels(fmts[i].v);
            OUT("c%u ", c);
            for (unsigned w = 1; w <= 6; w++) {
                for (unsigned h = 0; h <= 6; h++)
                    row(try3(w, h, 0, fmts[i].v, c, 0));
                OUT(" ");
            }
            row_end();
        }
    for (int i = 0; i < FIRST_YUV; i += 5)
        CASE("none-%s", fmts[i].n)
        {
            unsigned c = channels(fmts[i].v);
            CUresult r = mk(&a, 64, 32, 0, fmts[i].v, c, 0);
            S(r);
            if (r)
                continue;
            for (unsigned p = 0; p < 3; p++) {
                b = (CUarray)JUNK;
                r = cuArrayGetPlane(&b, a, p);
                OUT(" [%u]%s/%s", p, R(r), b == a ? "itself" : out64((uint64_t)b, JUNK));
            }
            cuArrayDestroy(a);
        }
    CASE("args")
    {
        unsigned c = channels(CU_AD_FORMAT_NV12);
        CUresult r = mk(&a, 64, 32, 0, CU_AD_FORMAT_NV12, c, 0);
        S(r);
        L("null-array", cuArrayGetPlane(&b, 0, 0));
        L("null-both", cuArrayGetPlane(0, 0, 0));
        if (!r) {
            L("null-out", cuArrayGetPlane(0, a, 0));
            L("null-out-bad", cuArrayGetPlane(0, a, 99));
            L("max", cuArrayGetPlane(&b, a, ~0u));
            cuArrayDestroy(a);
        }
    }
    CASE("plane-of-plane")
    {
        if (!mk(&a, 64, 32, 0, CU_AD_FORMAT_NV12, channels(CU_AD_FORMAT_NV12), 0)) {
            CUarray p = 0;
            S(cuArrayGetPlane(&p, a, 1));
            S(cuArrayGetPlane(&b, p, 0));
            S(cuArrayGetPlane(&b, p, 1));
            cuArrayDestroy(a);
        }
    }
    CASE("destroy-plane")
    {
        if (!mk(&a, 64, 32, 0, CU_AD_FORMAT_NV12, channels(CU_AD_FORMAT_NV12), 0)) {
            CUarray p = 0;
            S(cuArrayGetPlane(&p, a, 0));
            S(cuArrayDestroy(p));
            desc(p);
            desc(a);
            S(cuArrayDestroy(a));
        }
    }
    CASE("plane-after-destroy")
    {
        if (!mk(&a, 64, 32, 0, CU_AD_FORMAT_NV12, channels(CU_AD_FORMAT_NV12), 0)) {
            CUarray p = 0;
            S(cuArrayGetPlane(&p, a, 0));
            S(cuArrayDestroy(a));
            desc(p);
        }
    }
    for (int i = FIRST_YUV; i < N(fmts); i++)
        XCASE("%s-contents", fmts[i].n)
        {
            static char t[65536], u[65536];
            unsigned c = channels(fmts[i].v);
            CUresult r = mk(&a, 64, 32, 0, fmts[i].v, c, 0);
            S(r);
            if (r)
                continue;
            for (unsigned p = 0; p < 3; p++) {
                if (cuArrayGetPlane(&b, a, p))
                    break;
                CUDA_ARRAY3D_DESCRIPTOR d;
                if (cuArray3DGetDescriptor(&d, b))
                    break;
                size_t es = (d.Format == 1 || d.Format == 8                       ? 1
                             : d.Format == 2 || d.Format == 9 || d.Format == 0x10 ? 2
                                                                                  : 4) *
                            d.NumChannels;
                fill(t, sizeof t, p + 1);
                memset(u, 0, sizeof u);
                CUDA_MEMCPY2D k;
                memset(&k, 0, sizeof k);
                k.srcMemoryType = CU_MEMORYTYPE_HOST;
                k.srcHost = t;
                k.srcPitch = d.Width * es;
                k.dstMemoryType = CU_MEMORYTYPE_ARRAY;
                k.dstArray = b;
                k.WidthInBytes = d.Width * es;
                k.Height = d.Height;
                OUT(" [%u]", p);
                S(cuMemcpy2D(&k));
                memset(&k, 0, sizeof k);
                k.dstMemoryType = CU_MEMORYTYPE_HOST;
                k.dstHost = u;
                k.dstPitch = d.Width * es;
                k.srcMemoryType = CU_MEMORYTYPE_ARRAY;
                k.srcArray = b;
                k.WidthInBytes = d.Width * es;
                k.Height = d.Height;
                S(cuMemcpy2D(&k));
                OUT("/%d", !memcmp(t, u, d.Width * es * d.Height));
            }
            memset(u, 0, sizeof u);
            CUDA_MEMCPY2D k;
            memset(&k, 0, sizeof k);
            k.dstMemoryType = CU_MEMORYTYPE_HOST;
            k.dstHost = u;
            k.dstPitch = 1024;
            k.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            k.srcArray = a;
            k.WidthInBytes = 64;
            k.Height = 32;
            r = cuMemcpy2D(&k);
            L("whole", r);
            if (!r)
                OUT("/%08x", f32(u, sizeof u));
            k.Height = 48;
            r = cuMemcpy2D(&k);
            L("rows48", r);
            if (!r)
                OUT("/%08x", f32(u, sizeof u));
            cuArrayDestroy(a);
        }
}

// ------------------------------------------------------------------ mapping memory into arrays
static CUmemGenericAllocationHandle pool_mem(size_t n, unsigned usage)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.allocFlags.usage = usage;
    CUmemGenericAllocationHandle h = 0;
    MUST(cuMemCreate(&h, n, &p, 0));
    return h;
}
static CUarrayMapInfo mi(CUarray a, CUmemGenericAllocationHandle h)
{
    CUarrayMapInfo i;
    memset(&i, 0, sizeof i);
    i.resourceType = CU_RESOURCE_TYPE_ARRAY;
    i.resource.array = a;
    i.memOperationType = h ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP;
    i.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    i.memHandle.memHandle = h;
    i.deviceBitMask = 1;
    return i;
}
static void roundtrip(CUarray a, size_t wb, size_t h)
{
    static char t[65536], u[65536];
    fill(t, sizeof t, 5);
    memset(u, 0, sizeof u);
    CUDA_MEMCPY2D k;
    memset(&k, 0, sizeof k);
    k.srcMemoryType = CU_MEMORYTYPE_HOST;
    k.srcHost = t;
    k.srcPitch = wb;
    k.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    k.dstArray = a;
    k.WidthInBytes = wb;
    k.Height = h;
    L("put", cuMemcpy2D(&k));
    settle();
    memset(&k, 0, sizeof k);
    k.dstMemoryType = CU_MEMORYTYPE_HOST;
    k.dstHost = u;
    k.dstPitch = wb;
    k.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    k.srcArray = a;
    k.WidthInBytes = wb;
    k.Height = h;
    L("get", cuMemcpy2D(&k));
    settle();
    OUT("/%d", !memcmp(t, u, wb * h));
}
GROUP(maparray)
{
    probe_ctx();
    CUarray d, s;
    CUmemGenericAllocationHandle h = pool_mem(4 << 20, CU_MEM_CREATE_USAGE_TILE_POOL),
                                 plain = pool_mem(4 << 20, 0);
    CUstream st;
    MUST(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    MUST(mk(&d, 64, 64, 0, 1, 4, DEFER));
    XCASE("deferred-map")
    {
        CUarrayMapInfo i = mi(d, h);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        roundtrip(d, 256, 64);
        i = mi(d, 0);
        L("unmap", cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
    }
    XCASE("deferred-map-null-stream")
    {
        CUarrayMapInfo i = mi(d, h);
        S(cuMemMapArrayAsync(&i, 1, 0));
        S(cuCtxSynchronize());
        i = mi(d, 0);
        S(cuMemMapArrayAsync(&i, 1, 0));
        S(cuCtxSynchronize());
    }
    XCASE("deferred-map-offset")
    {
        size_t o[] = {1,
                      512,
                      4096,
                      65536,
                      131072,
                      2 << 20,
                      (4 << 20) - 65536,
                      4 << 20,
                      (4 << 20) + 65536,
                      (size_t)1 << 40};
        for (int k = 0; k < N(o); k++) {
            CUarrayMapInfo i = mi(d, h);
            i.offset = o[k];
            CUresult r = cuMemMapArrayAsync(&i, 1, st);
            OUT("%s%zx:%s", sep(), o[k], R(r));
            cuStreamSynchronize(st);
            if (!r) {
                i = mi(d, 0);
                cuMemMapArrayAsync(&i, 1, st);
                cuStreamSynchronize(st);
            }
        }
    }
    XCASE("deferred-map-twice")
    {
        CUarrayMapInfo i = mi(d, h);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        i = mi(d, 0);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
    }
    XCASE("deferred-unmap-unmapped")
    {
        CUarrayMapInfo i = mi(d, 0);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
    }
    XCASE("deferred-plain-memory")
    {
        CUarrayMapInfo i = mi(d, plain);
        CUresult r = cuMemMapArrayAsync(&i, 1, st);
        S(r);
        S(cuStreamSynchronize(st));
        if (!r) {
            i = mi(d, 0);
            S(cuMemMapArrayAsync(&i, 1, st));
            cuStreamSynchronize(st);
        }
    }
#define TRY(nm, ...)                                                                               \
    XCASE("%s", nm)                                                                                \
    {                                                                                              \
        CUarrayMapInfo i = mi(d, h);                                                               \
        __VA_ARGS__;                                                                               \
        CUresult r = cuMemMapArrayAsync(&i, 1, st);                                                \
        S(r);                                                                                      \
        L("sync", cuStreamSynchronize(st));                                                        \
        if (!r && i.memOperationType == CU_MEM_OPERATION_TYPE_MAP) {                               \
            i = mi(d, 0);                                                                          \
            L("unmap", cuMemMapArrayAsync(&i, 1, st));                                             \
            cuStreamSynchronize(st);                                                               \
        }                                                                                          \
    }
    TRY("operation0", i.memOperationType = 0)
    TRY("operation3", i.memOperationType = 3) TRY("handle-type1", i.memHandleType = 1)
        TRY("mask0", i.deviceBitMask = 0) TRY("mask2", i.deviceBitMask = 2)
            TRY("mask3", i.deviceBitMask = 3) TRY("flags1", i.flags = 1)
                TRY("reserved0", i.reserved[0] = 1) TRY("reserved1", i.reserved[1] = 1)
                    TRY("type1", i.resourceType = 1) TRY("type2", i.resourceType = 2)
                        TRY("type3", i.resourceType = 3) TRY("type9", i.resourceType = 9)
                            TRY("array-null", i.resource.array = 0) TRY("handle-null",
                                                                        i.memHandle.memHandle = 0)
                                TRY("unmap-with-handle", i.memOperationType = 2)
                                    TRY("subresource1", i.subresourceType = 1)
                                        TRY("subresource9", i.subresourceType = 9)
                                            TRY("level1", i.subresource.sparseLevel.level = 1)
                                                TRY("bad-mask-bad-operation", i.deviceBitMask = 0;
                                                    i.memOperationType = 7)
                                                    TRY("null-array-bad-operation",
                                                        i.resource.array = 0;
                                                        i.memOperationType = 7)
#undef TRY
                                                        XCASE("list-args")
    {
        CUarrayMapInfo i[2];
        i[0] = mi(d, h);
        i[1] = mi(d, h);
        L("count0", cuMemMapArrayAsync(i, 0, st));
        L("null", cuMemMapArrayAsync(0, 1, st));
        L("null-0", cuMemMapArrayAsync(0, 0, st));
        i[1].flags = 1;
        L("second-bad", cuMemMapArrayAsync(i, 2, st));
        cuStreamSynchronize(st);
        CUarrayMapInfo k = mi(d, 0);
        L("was-first-mapped-unmap", cuMemMapArrayAsync(&k, 1, st));
        cuStreamSynchronize(st);
    }
    XCASE("ordinary-array")
    {
        CUarray a;
        MUST(mk(&a, 64, 64, 0, 1, 4, 0));
        CUarrayMapInfo i = mi(a, h);
        S(cuMemMapArrayAsync(&i, 1, st));
        i = mi(a, 0);
        S(cuMemMapArrayAsync(&i, 1, st));
        cuStreamSynchronize(st);
        cuArrayDestroy(a);
    }
    XCASE("deferred-too-little-memory")
    {
        CUarray a;
        CUmemGenericAllocationHandle k = pool_mem(2 << 20, CU_MEM_CREATE_USAGE_TILE_POOL);
        MUST(mk(&a, 1024, 1024, 0, 1, 4, DEFER));
        need(a);
        CUarrayMapInfo i = mi(a, k);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        cuArrayDestroy(a);
        cuMemRelease(k);
    }
    XCASE("deferred-destroy-while-mapped")
    {
        CUarray a;
        MUST(mk(&a, 64, 64, 0, 1, 4, DEFER));
        CUarrayMapInfo i = mi(a, h);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        S(cuArrayDestroy(a));
    }
    XCASE("deferred-release-while-mapped")
    {
        CUarray a;
        CUmemGenericAllocationHandle k = pool_mem(2 << 20, CU_MEM_CREATE_USAGE_TILE_POOL);
        MUST(mk(&a, 64, 64, 0, 1, 4, DEFER));
        CUarrayMapInfo i = mi(a, k);
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        S(cuMemRelease(k));
        roundtrip(a, 256, 64);
        cuArrayDestroy(a);
    }
    XCASE("deferred-two-arrays-one-memory")
    {
        CUarray a, b;
        static char u[16384];
        MUST(mk(&a, 64, 64, 0, 1, 4, DEFER));
        MUST(mk(&b, 64, 64, 0, 1, 4, DEFER));
        CUarrayMapInfo i[2];
        i[0] = mi(a, h);
        i[1] = mi(b, h);
        S(cuMemMapArrayAsync(i, 2, st));
        S(cuStreamSynchronize(st));
        roundtrip(a, 256, 64);
        CUDA_MEMCPY2D k;
        memset(&k, 0, sizeof k);
        k.dstMemoryType = CU_MEMORYTYPE_HOST;
        k.dstHost = u;
        k.dstPitch = 256;
        k.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        k.srcArray = b;
        k.WidthInBytes = 256;
        k.Height = 64;
        S(cuMemcpy2D(&k));
        static char t[65536];
        fill(t, sizeof t, 5);
        OUT(" aliases=%d", !memcmp(u, t, 16384));
        i[0] = mi(a, 0);
        i[1] = mi(b, 0);
        cuMemMapArrayAsync(i, 2, st);
        cuStreamSynchronize(st);
        cuArrayDestroy(a);
        cuArrayDestroy(b);
    }
    XCASE("deferred-mip")
    {
        CUmipmappedArray m;
        MUST(mkm(&m, 64, 64, 0, 1, 4, DEFER, 3));
        CUarrayMapInfo i = mi(0, h);
        i.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        i.resource.mipmap = m;
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        CUarray a;
        cuMipmappedArrayGetLevel(&a, m, 1);
        roundtrip(a, 128, 32);
        CUarrayMapInfo k = mi(a, h);
        L("level-map", cuMemMapArrayAsync(&k, 1, st));
        i.memOperationType = 2;
        i.memHandle.memHandle = 0;
        L("unmap", cuMemMapArrayAsync(&i, 1, st));
        cuStreamSynchronize(st);
        S(cuMipmappedArrayDestroy(m));
    }
    XCASE("deferred-texture-before-map")
    {
        CUtexObject t = 0;
        CUDA_RESOURCE_DESC r;
        CUDA_TEXTURE_DESC x;
        memset(&r, 0, sizeof r);
        memset(&x, 0, sizeof x);
        r.res.array.hArray = d;
        S(cuTexObjectCreate(&t, &r, &x, 0));
        if (t)
            cuTexObjectDestroy(t);
    }
    CUresult have = mk(&s, 1024, 1024, 0, 1, 4, 0x40);
    CUDA_ARRAY_SPARSE_PROPERTIES sp;
    memset(&sp, 0, sizeof sp);
    if (!have)
        cuArrayGetSparseProperties(&sp, s);
    unsigned tw = sp.tileExtent.width ? sp.tileExtent.width : 128,
             th = sp.tileExtent.height ? sp.tileExtent.height : 128;
#define TRY(nm, ...)                                                                               \
    XCASE("sparse-%s", nm)                                                                         \
    {                                                                                              \
        CUarrayMapInfo i = mi(s, h);                                                               \
        i.subresource.sparseLevel.extentWidth = tw;                                                \
        i.subresource.sparseLevel.extentHeight = th;                                               \
        i.subresource.sparseLevel.extentDepth = 1;                                                 \
        __VA_ARGS__;                                                                               \
        CUresult r = cuMemMapArrayAsync(&i, 1, st);                                                \
        S(r);                                                                                      \
        L("sync", cuStreamSynchronize(st));                                                        \
        if (!r && i.memOperationType == 1) {                                                       \
            i.memOperationType = 2;                                                                \
            i.memHandle.memHandle = 0;                                                             \
            L("unmap", cuMemMapArrayAsync(&i, 1, st));                                             \
            cuStreamSynchronize(st);                                                               \
        }                                                                                          \
    }
    TRY("one-tile", (void)0)
    TRY("four-tiles", i.subresource.sparseLevel.extentWidth *= 2;
        i.subresource.sparseLevel.extentHeight *=
        2) TRY("whole", i.subresource.sparseLevel.extentWidth =
                            i.subresource.sparseLevel.extentHeight =
                                1024) TRY("width0", i.subresource.sparseLevel.extentWidth = 0)
        TRY("height0", i.subresource.sparseLevel.extentHeight =
                           0) TRY("depth0", i.subresource.sparseLevel.extentDepth = 0)
            TRY("depth2", i.subresource.sparseLevel.extentDepth = 2)
                TRY("width-unaligned", i.subresource.sparseLevel.extentWidth = tw / 2)
                    TRY("x-unaligned", i.subresource.sparseLevel.offsetX = 1)
                        TRY("y-unaligned", i.subresource.sparseLevel.offsetY = th / 2)
                            TRY("x-last", i.subresource.sparseLevel.offsetX = 1024 - tw)
                                TRY("x-past", i.subresource.sparseLevel.offsetX = 1024) TRY(
                                    "width-past", i.subresource.sparseLevel.extentWidth = 1024 + tw)
                                    TRY("z1", i.subresource.sparseLevel.offsetZ = 1)
                                        TRY("level1", i.subresource.sparseLevel.level = 1)
                                            TRY("layer1", i.subresource.sparseLevel.layer =
                                                              1) TRY("tail", i.subresourceType = 1)
                                                TRY("memory-offset-unaligned", i.offset = 4096)
                                                    TRY("memory-offset-64k", i.offset = 65536)
                                                        TRY("memory-offset-end", i.offset = 4 << 20)
                                                            TRY("memory-plain",
                                                                i.memHandle.memHandle = plain)
                                                                TRY("unmap-never-mapped",
                                                                    i.memOperationType = 2;
                                                                    i.memHandle.memHandle = 0)
#undef TRY
                                                                    XCASE("sparse-roundtrip")
    {
        CUarrayMapInfo i = mi(s, h);
        i.subresource.sparseLevel.extentWidth = tw;
        i.subresource.sparseLevel.extentHeight = th;
        i.subresource.sparseLevel.extentDepth = 1;
        S(cuMemMapArrayAsync(&i, 1, st));
        S(cuStreamSynchronize(st));
        roundtrip(s, 4 * (tw < 128 ? tw : 128), th < 64 ? th : 64);
    }
    XCASE("deferred-use-before-map")
    {
        roundtrip(d, 256, 64);
    }
    XCASE("sparse-use-before-map")
    {
        if (!have)
            roundtrip(s, 256, 64);
    }
}

// ------------------------------------------------------------------ texture objects
static CUDA_TEXTURE_DESC td0(void)
{
    CUDA_TEXTURE_DESC t;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < 3; i++)
        t.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    return t;
}
static CUDA_RESOURCE_DESC rda(CUarray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
}
static CUDA_RESOURCE_DESC rdm(CUmipmappedArray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = a;
    return r;
}
static CUDA_RESOURCE_DESC rdl(CUdeviceptr p, unsigned f, unsigned c, size_t n)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = p;
    r.res.linear.format = f;
    r.res.linear.numChannels = c;
    r.res.linear.sizeInBytes = n;
    return r;
}
static CUDA_RESOURCE_DESC rdp(CUdeviceptr p, unsigned f, unsigned c, size_t w, size_t h,
                              size_t pitch)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.format = f;
    r.res.pitch2D.numChannels = c;
    r.res.pitch2D.width = w;
    r.res.pitch2D.height = h;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}
static CUresult tx(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                   const CUDA_RESOURCE_VIEW_DESC *v)
{
    CUtexObject o = 0;
    CUresult q = cuTexObjectCreate(&o, r, t, v);
    if (!q)
        cuTexObjectDestroy(o);
    return q;
}
static CUresult sf(const CUDA_RESOURCE_DESC *r)
{
    CUsurfObject o = 0;
    CUresult q = cuSurfObjectCreate(&o, r);
    if (!q)
        cuSurfObjectDestroy(o);
    return q;
}
static CUdeviceptr big;
static CUarray t1, t2, t3, t2f, t2h, t2s, tl1, tl2, tc, tcl;
static CUmipmappedArray tm, tmf, tmc;
typedef struct {
    const char *n;
    CUDA_RESOURCE_DESC r;
    int norm;
} res_t;
static res_t res[16];
static int nres;
static void texsetup(void)
{
    probe_ctx();
    MUST(cuMemAlloc(&big, 4 << 20));
    MUST(mk(&t1, 64, 0, 0, 1, 4, 0));
    MUST(mk(&t2, 64, 32, 0, 1, 4, 0));
    MUST(mk(&t3, 32, 16, 8, 1, 4, 0));
    MUST(mk(&t2f, 64, 32, 0, 0x20, 1, 0));
    MUST(mk(&t2h, 64, 32, 0, 0x10, 4, 0));
    MUST(mk(&t2s, 64, 32, 0, 0xa, 2, 0));
    MUST(mk(&tl1, 64, 0, 5, 1, 4, 1));
    MUST(mk(&tl2, 64, 32, 5, 1, 4, 1));
    MUST(mk(&tc, 32, 32, 6, 1, 4, 4));
    MUST(mk(&tcl, 32, 32, 12, 1, 4, 5));
    MUST(mkm(&tm, 64, 32, 0, 1, 4, 0, 5));
    MUST(mkm(&tmf, 64, 32, 0, 0x20, 1, 0, 5));
    MUST(mkm(&tmc, 32, 32, 6, 1, 4, 4, 4));
    nres = 0;
    res_t x[] = {{"1D", rda(t1), 0},
                 {"2D", rda(t2), 0},
                 {"3D", rda(t3), 0},
                 {"2D-f32", rda(t2f), 0},
                 {"2D-half4", rda(t2h), 0},
                 {"2D-s32x2", rda(t2s), 0},
                 {"1Dlayered", rda(tl1), 0},
                 {"2Dlayered", rda(tl2), 0},
                 {"cube", rda(tc), 0},
                 {"cubelayered", rda(tcl), 0},
                 {"mip", rdm(tm), 1},
                 {"mip-f32", rdm(tmf), 1},
                 {"mip-cube", rdm(tmc), 1},
                 {"linear", rdl(big, 1, 4, 65536), 0},
                 {"pitch", rdp(big, 1, 4, 64, 32, 512), 0}};
    for (int i = 0; i < N(x); i++)
        res[nres++] = x[i];
}
GROUP(texdesc)
{
    texsetup();
    CUDA_TEXTURE_DESC t;
    for (int i = 0; i < nres; i++)
        for (int n = 0; n < 2; n++)
            CASE("address-%s-%s", res[i].n, n ? "normalised" : "plain")
            {
                for (int f = 0; f < 2; f++) {
                    OUT(f ? " linear:" : "point:");
                    for (int a = 0; a <= 4; a++)
                        for (int b = 0; b <= 4; b++) {
                            for (int c = 0; c <= 4; c++) {
                                t = td0();
                                t.addressMode[0] = a;
                                t.addressMode[1] = b;
                                t.addressMode[2] = c;
                                t.filterMode = f;
                                t.flags = n ? CU_TRSF_NORMALIZED_COORDINATES : 0;
                                row(tx(&res[i].r, &t, 0));
                            }
                        }
                }
                row_end();
            }
    for (int i = 0; i < nres; i++)
        CASE("flags-%s", res[i].n)
        {
            for (int f = 0; f < 2; f++) {
                OUT(f ? " linear:" : "point:");
                for (unsigned x = 0; x < 256; x++) {
                    if (x && x % 32 == 0)
                        OUT(" ");
                    t = td0();
                    t.filterMode = f;
                    t.flags = x;
                    row(tx(&res[i].r, &t, 0));
                }
            }
            row_end();
        }
    for (int i = 0; i < nres; i++)
        CASE("filters-%s", res[i].n)
        {
            for (int f = -1; f <= 3; f++)
                for (int m = -1; m <= 3; m++) {
                    t = td0();
                    t.flags = res[i].norm ? 2 : 0;
                    t.filterMode = f;
                    t.mipmapFilterMode = m;
                    row(tx(&res[i].r, &t, 0));
                }
            row_end();
        }
    for (int i = 1; i < nres; i += 3)
        CASE("aniso-%s", res[i].n)
        {
            unsigned an[] = {0, 1, 2, 3, 4, 8, 15, 16, 17, 32, 100, 0x7fffffff, ~0u};
            for (int k = 0; k < N(an); k++) {
                t = td0();
                t.flags = res[i].norm ? 2 : 0;
                t.maxAnisotropy = an[k];
                CUtexObject o = 0;
                CUresult r = cuTexObjectCreate(&o, &res[i].r, &t, 0);
                if (r)
                    OUT("%s%u:%s", sep(), an[k], R(r));
                else {
                    CUDA_TEXTURE_DESC g;
                    memset(&g, 0, sizeof g);
                    cuTexObjectGetTextureDesc(&g, o);
                    OUT("%s%u:%u", sep(), an[k], g.maxAnisotropy);
                    cuTexObjectDestroy(o);
                }
            }
        }
    float fv[] = {0,      0.5f, 1,     -1,     15.99f,   16,        16.5f, -16,
                  -16.5f, 100,  1e30f, -1e30f, INFINITY, -INFINITY, NAN};
    const char *fn[] = {"bias", "min", "max"};
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < 2; i++)
            CASE("%s-%s", fn[w], i ? "mip" : "2D") for (int k = 0; k < N(fv); k++)
            {
                t = td0();
                t.flags = 2;
                if (w == 0)
                    t.mipmapLevelBias = fv[k];
                else if (w == 1)
                    t.minMipmapLevelClamp = fv[k];
                else
                    t.maxMipmapLevelClamp = fv[k];
                CUtexObject o = 0;
                CUresult r = cuTexObjectCreate(&o, &res[i ? 10 : 1].r, &t, 0);
                if (r)
                    OUT("%s%g:%s", sep(), fv[k], R(r));
                else {
                    CUDA_TEXTURE_DESC g;
                    memset(&g, 0, sizeof g);
                    cuTexObjectGetTextureDesc(&g, o);
                    OUT("%s%g:%g", sep(), fv[k],
                        w == 0   ? g.mipmapLevelBias
                        : w == 1 ? g.minMipmapLevelClamp
                                 : g.maxMipmapLevelClamp);
                    cuTexObjectDestroy(o);
                }
            }
    CASE("min-over-max")
    {
        t = td0();
        t.flags = 2;
        t.minMipmapLevelClamp = 3;
        t.maxMipmapLevelClamp = 1;
        S(tx(&res[10].r, &t, 0));
    }
    CASE("border")
    {
        t = td0();
        t.flags = 2;
        for (int k = 0; k < 3; k++)
            t.addressMode[k] = 3;
        t.borderColor[0] = -1;
        t.borderColor[1] = 2;
        t.borderColor[2] = INFINITY;
        t.borderColor[3] = NAN;
        CUtexObject o = 0;
        S(cuTexObjectCreate(&o, &res[1].r, &t, 0));
        CUDA_TEXTURE_DESC g;
        memset(&g, 0, sizeof g);
        S(cuTexObjectGetTextureDesc(&g, o));
        OUT(" %g %g %g %g", g.borderColor[0], g.borderColor[1], g.borderColor[2], g.borderColor[3]);
        if (o)
            cuTexObjectDestroy(o);
    }
    CASE("reserved")
    {
        for (int k = 0; k < 12; k++) {
            t = td0();
            t.reserved[k] = 1;
            row(tx(&res[1].r, &t, 0));
        }
        row_end();
    }
    for (int i = 0; i < nres; i++)
        CASE("kept-%s", res[i].n)
        {
            t = td0();
            t.flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
            t.addressMode[0] = 0;
            t.addressMode[1] = 2;
            t.addressMode[2] = 3;
            t.mipmapFilterMode = 1;
            t.maxAnisotropy = 5;
            t.mipmapLevelBias = 0.25f;
            t.minMipmapLevelClamp = 0.5f;
            t.maxMipmapLevelClamp = 2.5f;
            t.borderColor[1] = 0.75f;
            CUtexObject o = 0;
            CUresult r = cuTexObjectCreate(&o, &res[i].r, &t, 0);
            S(r);
            if (r)
                continue;
            CUDA_TEXTURE_DESC g;
            memset(&g, 0x5a, sizeof g);
            r = cuTexObjectGetTextureDesc(&g, o);
            OUT(" %s am=%d,%d,%d f=%d fl=%x an=%u mf=%d bias=%g clamp=%g,%g border=%g,%g,%g,%g "
                "res=%x",
                R(r), g.addressMode[0], g.addressMode[1], g.addressMode[2], g.filterMode, g.flags,
                g.maxAnisotropy, g.mipmapFilterMode, g.mipmapLevelBias, g.minMipmapLevelClamp,
                g.maxMipmapLevelClamp, g.borderColor[0], g.borderColor[1], g.borderColor[2],
                g.borderColor[3], g.reserved[0]);
            CUDA_RESOURCE_DESC q;
            memset(&q, 0x5a, sizeof q);
            r = cuTexObjectGetResourceDesc(&q, o);
            OUT(" res=%s type=%d same=%d flags=%x", R(r), q.resType,
                !memcmp(&q.res, &res[i].r.res,
                        q.resType < 2    ? 8
                        : q.resType == 2 ? 24
                                         : 40),
                q.flags);
            CUDA_RESOURCE_VIEW_DESC v;
            memset(&v, 0x5a, sizeof v);
            r = cuTexObjectGetResourceViewDesc(&v, o);
            OUT(" view=%s", R(r));
            if (!r)
                OUT("/%x/%zux%zux%zu/%u-%u/%u-%u", v.format, v.width, v.height, v.depth,
                    v.firstMipmapLevel, v.lastMipmapLevel, v.firstLayer, v.lastLayer);
            cuTexObjectDestroy(o);
        }
    CASE("args")
    {
        t = td0();
        CUtexObject o = JUNK;
        L("null-out", cuTexObjectCreate(0, &res[1].r, &t, 0));
        L("null-res", cuTexObjectCreate(&o, 0, &t, 0));
        L("null-tex", cuTexObjectCreate(&o, &res[1].r, 0, 0));
        L("null-all", cuTexObjectCreate(0, 0, 0, 0));
        OUT(" out=%s", out64(o, JUNK));
        L("linear-null-tex", cuTexObjectCreate(&o, &res[13].r, 0, 0));
        L("destroy-0", cuTexObjectDestroy(0));
        L("destroy-max", cuTexObjectDestroy(~0ull));
        L("destroy-bogus", cuTexObjectDestroy(123456));
        MUST(cuTexObjectCreate(&o, &res[1].r, &t, 0));
        L("destroy", cuTexObjectDestroy(o));
        L("twice", cuTexObjectDestroy(o));
        CUDA_RESOURCE_DESC r;
        CUDA_TEXTURE_DESC g;
        CUDA_RESOURCE_VIEW_DESC v;
        L("res-of-destroyed", cuTexObjectGetResourceDesc(&r, o));
        L("tex-of-destroyed", cuTexObjectGetTextureDesc(&g, o));
        L("view-of-0", cuTexObjectGetResourceViewDesc(&v, 0));
        MUST(cuTexObjectCreate(&o, &res[1].r, &t, 0));
        L("null-res-out", cuTexObjectGetResourceDesc(0, o));
        L("null-tex-out", cuTexObjectGetTextureDesc(0, o));
        L("null-view-out", cuTexObjectGetResourceViewDesc(0, o));
        L("null-both", cuTexObjectGetResourceDesc(0, 0));
        cuTexObjectDestroy(o);
    }
    CASE("handles")
    {
        t = td0();
        CUtexObject o[5];
        for (int k = 0; k < 5; k++)
            o[k] = 0, cuTexObjectCreate(&o[k], &res[1].r, &t, 0);
        int inc = 1, small = 1;
        for (int k = 1; k < 5; k++) {
            inc &= o[k] == o[k - 1] + 1;
            small &= o[k] < 1 << 20;
        }
        OUT("consecutive=%d under-1M=%d", inc, small);
        CUtexObject f = o[2];
        cuTexObjectDestroy(f);
        CUtexObject g = 0;
        cuTexObjectCreate(&g, &res[1].r, &t, 0);
        OUT(" freed-reused=%d", f == g);
        for (int k = 0; k < 5; k++)
            if (k != 2)
                cuTexObjectDestroy(o[k]);
        cuTexObjectDestroy(g);
    }
    CASE("many")
    {
        t = td0();
        static CUtexObject o[5000];
        int n = 0;
        CUresult r = 0;
        for (; n < 5000 && !(r = cuTexObjectCreate(&o[n], &res[1].r, &t, 0)); n++)
            ;
        OUT("%d %s", n, R(r));
        while (n)
            cuTexObjectDestroy(o[--n]);
    }
    CASE("array-destroyed-under-texture")
    {
        CUarray a;
        t = td0();
        MUST(mk(&a, 64, 32, 0, 1, 4, 0));
        CUDA_RESOURCE_DESC r = rda(a);
        CUtexObject o = 0;
        S(cuTexObjectCreate(&o, &r, &t, 0));
        S(cuArrayDestroy(a));
        CUDA_RESOURCE_DESC q;
        S(cuTexObjectGetResourceDesc(&q, o));
        S(cuTexObjectDestroy(o));
    }
    CASE("order")
    {
        t = td0();
        t.filterMode = 77;
        CUDA_RESOURCE_DESC b = res[1].r;
        b.res.array.hArray = 0;
        L("null-array-bad-filter", tx(&b, &t, 0));
        b.resType = 9;
        L("bad-type-bad-filter", tx(&b, &t, 0));
        CUDA_RESOURCE_VIEW_DESC v;
        memset(&v, 0, sizeof v);
        v.format = 0x77;
        t = td0();
        b = res[1].r;
        b.flags = 1;
        L("bad-flags-bad-view", tx(&b, &t, &v));
    }
}
GROUP(texres)
{
    texsetup();
    CUDA_TEXTURE_DESC t = td0();
    for (int i = 0; i < N(fmts); i++)
        CASE("array-%s", fmts[i].n)
        {
            CUarray a;
            unsigned c = channels(fmts[i].v);
            CUresult r = mk(&a, 64, 32, 0, fmts[i].v, c, 0);
            OUT("c%u ", c);
            if (r) {
                S(r);
                continue;
            }
            CUDA_RESOURCE_DESC d = rda(a);
            unsigned fl[] = {0, 1, 2, 3, 0x10, 0x11, 0x12, 0x20, 0x40};
            for (int f = 0; f < 2; f++) {
                for (int k = 0; k < N(fl); k++) {
                    CUDA_TEXTURE_DESC q = td0();
                    q.filterMode = f;
                    q.flags = fl[k];
                    row(tx(&d, &q, 0));
                }
                OUT(" ");
            }
            OUT("surface:");
            row(sf(&d));
            row_end();
            cuArrayDestroy(a);
            r = mk(&a, 64, 32, 0, fmts[i].v, c, 2);
            L("ldst", r);
            if (r)
                continue;
            d = rda(a);
            L("surface", sf(&d));
            L("texture", tx(&d, &t, 0));
            cuArrayDestroy(a);
        }
    for (int i = 0; i < N(fmts); i++)
        CASE("linear-%s", fmts[i].n)
        {
            for (unsigned c = 0; c <= 5; c++) {
                CUDA_RESOURCE_DESC d = rdl(big, fmts[i].v, c, 65536);
                row(tx(&d, &t, 0));
            }
            OUT(" linear-filter:");
            CUDA_TEXTURE_DESC q = td0();
            q.filterMode = 1;
            for (unsigned c = 0; c <= 5; c++) {
                CUDA_RESOURCE_DESC d = rdl(big, fmts[i].v, c, 65536);
                row(tx(&d, &q, 0));
            }
            OUT(" pitch:");
            for (unsigned c = 0; c <= 5; c++) {
                CUDA_RESOURCE_DESC d = rdp(big, fmts[i].v, c, 32, 32, 512);
                row(tx(&d, &t, 0));
            }
            OUT(" pitch-linear-filter:");
            for (unsigned c = 0; c <= 5; c++) {
                CUDA_RESOURCE_DESC d = rdp(big, fmts[i].v, c, 32, 32, 512);
                row(tx(&d, &q, 0));
            }
            row_end();
        }
    CASE("linear-odd-formats")
    {
        for (int i = 0; i < N(odd_fmts); i++) {
            CUDA_RESOURCE_DESC d = rdl(big, odd_fmts[i], 1, 65536);
            row(tx(&d, &t, 0));
            d = rdp(big, odd_fmts[i], 1, 32, 32, 512);
            row(tx(&d, &t, 0));
        }
        row_end();
    }
    unsigned fc[][2] = {{1, 1}, {1, 4}, {2, 1}, {0x20, 1}, {0x20, 4}};
    for (int k = 0; k < N(fc); k++)
        CASE("linear-offsets-f%x-c%u", fc[k][0], fc[k][1])
        {
            int o[] = {0,  1,  2,  3,  4,  8,   12,  15,  16,  17,  24,  31,  32,
                       33, 48, 63, 64, 96, 127, 128, 255, 256, 511, 512, 1024};
            for (int i = 0; i < N(o); i++) {
                CUDA_RESOURCE_DESC d = rdl(big + o[i], fc[k][0], fc[k][1], 4096);
                row(tx(&d, &t, 0));
            }
            OUT(" pitch:");
            for (int i = 0; i < N(o); i++) {
                CUDA_RESOURCE_DESC d = rdp(big + o[i], fc[k][0], fc[k][1], 32, 32, 512);
                row(tx(&d, &t, 0));
            }
            row_end();
        }
    CASE("linear-sizes")
    {
        size_t z[] = {0,
                      1,
                      2,
                      3,
                      4,
                      5,
                      7,
                      8,
                      15,
                      16,
                      17,
                      100,
                      4095,
                      4096,
                      (4 << 20) - 1,
                      4 << 20,
                      (4 << 20) + 1,
                      8 << 20,
                      (size_t)1 << 28,
                      (size_t)1 << 30,
                      ((size_t)1 << 30) + 4,
                      (size_t)1 << 32,
                      (size_t)1 << 40,
                      SIZE_MAX};
        for (int k = 0; k < N(fc); k++) {
            OUT("%sf%xc%u:", sep(), fc[k][0], fc[k][1]);
            for (int i = 0; i < N(z); i++) {
                CUDA_RESOURCE_DESC d = rdl(big, fc[k][0], fc[k][1], z[i]);
                row(tx(&d, &t, 0));
            }
        }
        row_end();
    }
    CASE("linear-most")
    {
        CUdeviceptr p = 0;
        int v = 0;
        cuDeviceGetAttribute(&v, 69, 0);
        CUresult r = cuMemAlloc(&p, (size_t)v + 4096);
        OUT("%d alloc=%s", v, R(r));
        size_t z[] = {v - 1, v, v + 1, v + 4096};
        for (int i = 0; i < 4; i++) {
            CUDA_RESOURCE_DESC d = rdl(p, 1, 1, z[i]);
            OUT(" ");
            row(tx(&d, &t, 0));
        }
        row_end();
        cuMemFree(p);
    }
    CASE("linear-pointers")
    {
        CUdeviceptr p;
        void *h;
        MUST(cuMemAlloc(&p, 4096));
        MUST(cuMemAllocHost(&h, 4096));
        static char hb[8192] __attribute__((aligned(4096)));
        CUdeviceptr q[] = {0,        0x1000,         512, (CUdeviceptr)hb, (CUdeviceptr)h,
                           p + 4096, ~0ull & ~511ull};
        const char *n[] = {"null", "low", "512", "pageable", "pinned", "past-end", "top"};
        for (int i = 0; i < N(q); i++) {
            CUDA_RESOURCE_DESC d = rdl(q[i], 1, 1, 1024);
            L(n[i], tx(&d, &t, 0));
            d = rdp(q[i], 1, 1, 32, 2, 512);
            OUT("/%s", R(tx(&d, &t, 0)));
        }
        cuMemFree(p);
        CUDA_RESOURCE_DESC d = rdl(p, 1, 1, 1024);
        L("freed", tx(&d, &t, 0));
        cuMemFreeHost(h);
    }
    CASE("linear-past-allocation")
    {
        CUdeviceptr p;
        MUST(cuMemAlloc(&p, 4096));
        size_t z[] = {4096, 4097, 4608, 8192, 1 << 20};
        for (int i = 0; i < N(z); i++) {
            CUDA_RESOURCE_DESC d = rdl(p, 1, 1, z[i]);
            row(tx(&d, &t, 0));
        }
        row_end();
        cuMemFree(p);
    }
    CASE("pitch-pitches")
    {
        size_t z[] = {0,
                      1,
                      16,
                      31,
                      32,
                      33,
                      48,
                      63,
                      64,
                      96,
                      100,
                      128,
                      160,
                      255,
                      256,
                      512,
                      513,
                      1 << 20,
                      2097120,
                      2097152,
                      (size_t)1 << 31,
                      (size_t)1 << 32,
                      SIZE_MAX & ~31ul};
        for (int k = 0; k < N(fc); k++) {
            OUT("%sf%xc%u:", sep(), fc[k][0], fc[k][1]);
            for (int i = 0; i < N(z); i++) {
                CUDA_RESOURCE_DESC d = rdp(big, fc[k][0], fc[k][1], 16, 1, z[i]);
                row(tx(&d, &t, 0));
            }
        }
        OUT(" two-rows:");
        for (int i = 0; i < N(z); i++) {
            CUDA_RESOURCE_DESC d = rdp(big, 1, 1, 16, 2, z[i]);
            row(tx(&d, &t, 0));
        }
        row_end();
    }
    CASE("pitch-widths")
    {
        size_t z[] = {0, 1, 2, 16, 31, 32, 33, 512, 513, 131072, 131073, (size_t)1 << 32};
        for (int i = 0; i < N(z); i++) {
            CUDA_RESOURCE_DESC d = rdp(big, 1, 1, z[i], 1, 512);
            row(tx(&d, &t, 0));
        }
        OUT(" roomy:");
        for (int i = 0; i < N(z); i++) {
            CUDA_RESOURCE_DESC d = rdp(big, 1, 1, z[i], 1, 262144);
            row(tx(&d, &t, 0));
        }
        OUT(" heights:");
        size_t y[] = {0, 1, 2, 8192, 8193, 64999, 65000, 65001, 65536, (size_t)1 << 32};
        for (int i = 0; i < N(y); i++) {
            CUDA_RESOURCE_DESC d = rdp(big, 1, 1, 16, y[i], 32);
            row(tx(&d, &t, 0));
        }
        row_end();
    }
    for (int i = 0; i < nres; i++)
        CASE("resource-flags-%s", res[i].n)
        {
            for (int b = 0; b < 32; b += 5) {
                CUDA_RESOURCE_DESC d = res[i].r;
                CUDA_TEXTURE_DESC q = td0();
                q.flags = res[i].norm ? 2 : 0;
                d.flags = 1u << b;
                row(tx(&d, &q, 0));
            }
            OUT(" tail:");
            CUDA_RESOURCE_DESC d = res[i].r;
            CUDA_TEXTURE_DESC q = td0();
            q.flags = res[i].norm ? 2 : 0;
            d.res.reserved.reserved[31] = 1;
            row(tx(&d, &q, 0));
            d.res.reserved.reserved[31] = 0;
            d.res.reserved.reserved[12] = 7;
            row(tx(&d, &q, 0));
            row_end();
        }
    CASE("resource-types")
    {
        for (int k = -1; k <= 6; k++) {
            CUDA_RESOURCE_DESC d = res[1].r;
            d.resType = k;
            if (k != 1)
                row(tx(&d, &t, 0));
        }
        row_end();
        CUDA_RESOURCE_DESC d = rda(0);
        L("array-null", tx(&d, &t, 0));
        d = rdm(0);
        L("mip-null", tx(&d, &t, 0));
    }
    CASE("array-given-as-mip")
    {
        CUDA_RESOURCE_DESC d = rdm((CUmipmappedArray)t2);
        CUDA_TEXTURE_DESC q = td0();
        q.flags = 2;
        S(tx(&d, &q, 0));
    }
    CASE("mip-given-as-array")
    {
        CUDA_RESOURCE_DESC d = rda((CUarray)tm);
        S(tx(&d, &t, 0));
    }
    CASE("garbage-array")
    {
        static char z[8192];
        CUDA_RESOURCE_DESC d = rda((CUarray)z);
        S(tx(&d, &t, 0));
    }
    CASE("destroyed-array")
    {
        CUarray a;
        MUST(mk(&a, 64, 32, 0, 1, 4, 0));
        cuArrayDestroy(a);
        CUDA_RESOURCE_DESC d = rda(a);
        S(tx(&d, &t, 0));
    }
    CASE("level-array")
    {
        CUarray a;
        MUST(cuMipmappedArrayGetLevel(&a, tm, 1));
        CUDA_RESOURCE_DESC d = rda(a);
        S(tx(&d, &t, 0));
        S(sf(&d));
    }
    CASE("plane-array")
    {
        CUarray a, p;
        if (!mk(&a, 64, 32, 0, CU_AD_FORMAT_NV12, channels(CU_AD_FORMAT_NV12), 0)) {
            for (int k = 0; k < 2; k++) {
                MUST(cuArrayGetPlane(&p, a, k));
                CUDA_RESOURCE_DESC d = rda(p);
                S(tx(&d, &t, 0));
            }
            cuArrayDestroy(a);
        }
    }
    CASE("array-flags")
    {
        unsigned fl[] = {0, 2, 8, 0x10, 0x20, 0x40, 0x80, 0x100};
        for (int k = 0; k < N(fl); k++) {
            CUarray a;
            CUresult r = mk(&a, 64, 64, 0, 0x20, 1, fl[k]);
            OUT("%s%x:%s", sep(), fl[k], R(r));
            if (r)
                continue;
            CUDA_RESOURCE_DESC d = rda(a);
            OUT("/%s", R(tx(&d, &t, 0)));
            OUT("/%s", R(sf(&d)));
            cuArrayDestroy(a);
        }
    }
}
GROUP(texview)
{
    texsetup();
    CUDA_RESOURCE_VIEW_DESC v;
    struct {
        const char *n;
        unsigned f, c;
    } b[] = {
        {"u8", 1, 1},           {"u8x2", 1, 2},        {"u8x4", 1, 4},       {"s8x4", 8, 4},
        {"u16", 2, 1},          {"u16x2", 2, 2},       {"u16x4", 2, 4},      {"s16x2", 9, 2},
        {"u32", 3, 1},          {"u32x2", 3, 2},       {"u32x4", 3, 4},      {"s32x2", 10, 2},
        {"s32x4", 10, 4},       {"half", 0x10, 1},     {"half2", 0x10, 2},   {"half4", 0x10, 4},
        {"f32", 0x20, 1},       {"f32x2", 0x20, 2},    {"f32x4", 0x20, 4},   {"unorm8x4", 0xc2, 4},
        {"unorm16x2", 0xc4, 2}, {"snorm8x1", 0xc6, 1}, {"rgb10a2", 0x50, 4}, {"bc1", 0x91, 4},
        {"bc7", 0x9d, 4}};
    for (int i = 0; i < N(b); i++)
        for (int m = 0; m < 2; m++)
            CASE("formats-%s-%s", m ? "mip" : "array", b[i].n)
            {
                CUarray a = 0;
                CUmipmappedArray mm = 0;
                CUresult r = m ? mkm(&mm, 64, 32, 0, b[i].f, b[i].c, 0, 4)
                               : mk(&a, 64, 32, 0, b[i].f, b[i].c, 0);
                if (r) {
                    S(r);
                    continue;
                }
                CUDA_RESOURCE_DESC d = m ? rdm(mm) : rda(a);
                for (int s = 0; s < 2; s++) {
                    OUT(s ? " linear-integer:" : "point:");
                    for (int f = -1; f <= 0x24; f++) {
                        CUDA_TEXTURE_DESC t = td0();
                        t.flags = m ? 2 : 0;
                        if (s)
                            t.filterMode = 1;
                        memset(&v, 0, sizeof v);
                        v.format = f;
                        int bc = f >= 0x19 && f <= 0x22;
                        v.width = 64 * (bc ? 4 : 1);
                        v.height = 32 * (bc ? 4 : 1);
                        v.lastMipmapLevel = m ? 3 : 0;
                        row(tx(&d, &t, &v));
                    }
                }
                row_end();
                if (a)
                    cuArrayDestroy(a);
                if (mm)
                    cuMipmappedArrayDestroy(mm);
            }
#define VIEW(nm, R_, ...)                                                                          \
    {                                                                                              \
        memset(&v, 0, sizeof v);                                                                   \
        CUDA_TEXTURE_DESC t = td0();                                                               \
        CUDA_RESOURCE_DESC d = R_;                                                                 \
        t.flags = d.resType == 1 ? 2 : 0;                                                          \
        v.format = CU_RES_VIEW_FORMAT_UINT_4X8;                                                    \
        v.width = 64;                                                                              \
        v.height = 32;                                                                             \
        __VA_ARGS__;                                                                               \
        CUtexObject o = 0;                                                                         \
        CUresult r = cuTexObjectCreate(&o, &d, &t, &v);                                            \
        OUT("%s%s:%s", sep(), nm, R(r));                                                           \
        if (!r) {                                                                                  \
            CUDA_RESOURCE_VIEW_DESC g;                                                             \
            memset(&g, 0x5a, sizeof g);                                                            \
            CUresult q = cuTexObjectGetResourceViewDesc(&g, o);                                    \
            if (q)                                                                                 \
                OUT("/%s", R(q));                                                                  \
            else if (memcmp(&g, &v, sizeof v))                                                     \
                OUT("/f%x,%zux%zux%zu,%u-%u,%u-%u,res%x", g.format, g.width, g.height, g.depth,    \
                    g.firstMipmapLevel, g.lastMipmapLevel, g.firstLayer, g.lastLayer,              \
                    g.reserved[0]);                                                                \
            cuTexObjectDestroy(o);                                                                 \
        }                                                                                          \
    }
    CASE("2D-dims"){
        VIEW("exact", rda(t2), (void)0) VIEW("width0", rda(t2), v.width = 0)
            VIEW("height0", rda(t2), v.height = 0) VIEW("all0", rda(t2), v.width = v.height = 0)
                VIEW("narrower", rda(t2), v.width = 32) VIEW("wider", rda(t2), v.width = 65)
                    VIEW("lower", rda(t2), v.height = 16) VIEW("higher", rda(t2), v.height = 33)
                        VIEW("depth1", rda(t2), v.depth = 1) VIEW("depth2", rda(t2), v.depth = 2)
                            VIEW("all-zero-view", rda(t2),
                                 memset(&v, 0, sizeof v)) VIEW("none-exact", rda(t2), v.format = 0)
                                VIEW("level1", rda(t2), v.firstMipmapLevel = v.lastMipmapLevel = 1)
                                    VIEW("last-level1", rda(t2), v.lastMipmapLevel = 1)
                                        VIEW("layer1", rda(t2), v.firstLayer = v.lastLayer = 1)
                                            VIEW("last-layer1", rda(t2), v.lastLayer = 1)
                                                VIEW("reserved", rda(t2), v.reserved[0] = 1)
                                                    VIEW("reserved-last", rda(t2),
                                                         v.reserved[15] = 1)} CASE("1D-dims")
    {
        VIEW("exact", rda(t1), v.height = 0)
        VIEW("height1", rda(t1), v.height = 1) VIEW("height32", rda(t1), (void)0)
            VIEW("width32", rda(t1), v.width = 32; v.height = 0)
                VIEW("depth1", rda(t1), v.height = 0; v.depth = 1)
    }
    CASE("3D-dims")
    {
        VIEW("exact", rda(t3), v.width = 32; v.height = 16; v.depth = 8)
        VIEW("depth0", rda(t3), v.width = 32; v.height = 16)
            VIEW("depth4", rda(t3), v.width = 32; v.height = 16; v.depth = 4)
                VIEW("depth9", rda(t3), v.width = 32; v.height = 16; v.depth = 9)
                    VIEW("layers", rda(t3), v.width = 32; v.height = 16; v.depth = 8;
                         v.firstLayer = 1; v.lastLayer = 2)
    }
    CASE("layered-2D")
    {
        VIEW("all", rda(tl2), v.depth = 5; v.lastLayer = 4)
        VIEW("depth0-all", rda(tl2), v.lastLayer = 4) VIEW("depth0-first", rda(tl2), (void)0)
            VIEW("depth5-first", rda(tl2), v.depth = 5) VIEW("one", rda(tl2), v.depth = 5;
                                                             v.firstLayer = v.lastLayer = 2)
                VIEW("some", rda(tl2), v.depth = 5; v.firstLayer = 1; v.lastLayer = 3)
                    VIEW("some-depth3", rda(tl2), v.depth = 3; v.firstLayer = 1;
                         v.lastLayer = 3) VIEW("past", rda(tl2), v.depth = 5; v.lastLayer = 5)
                        VIEW("reversed", rda(tl2), v.depth = 5; v.firstLayer = 3; v.lastLayer = 1)
                            VIEW("max", rda(tl2), v.depth = 5; v.lastLayer = ~0u)
    }
    CASE("layered-1D")
    {
        VIEW("all", rda(tl1), v.height = 0; v.depth = 5; v.lastLayer = 4)
        VIEW("depth0", rda(tl1), v.height = 0; v.lastLayer = 4)
            VIEW("some", rda(tl1), v.height = 0; v.depth = 5; v.firstLayer = 1; v.lastLayer = 2)
                VIEW("past", rda(tl1), v.height = 0; v.depth = 5; v.lastLayer = 5)
    }
    CASE("cube")
    {
        VIEW("all", rda(tc), v.width = v.height = 32; v.depth = 6; v.lastLayer = 5)
        VIEW("first-only", rda(tc), v.width = v.height = 32; v.depth = 6)
            VIEW("depth0", rda(tc), v.width = v.height = 32; v.lastLayer = 5)
                VIEW("some", rda(tc), v.width = v.height = 32; v.depth = 6; v.firstLayer = 1;
                     v.lastLayer = 2)
                    VIEW("past", rda(tc), v.width = v.height = 32; v.depth = 6; v.lastLayer = 6)
                        VIEW("layered-all", rda(tcl), v.width = v.height = 32; v.depth = 12;
                             v.lastLayer = 11)
                            VIEW("layered-second", rda(tcl), v.width = v.height = 32; v.depth = 12;
                                 v.firstLayer = 6; v.lastLayer = 11)
                                VIEW("layered-split", rda(tcl), v.width = v.height = 32;
                                     v.depth = 12; v.firstLayer = 3; v.lastLayer = 8)
    }
    CASE("mip-levels")
    {
        for (unsigned f = 0; f <= 6; f++)
            for (unsigned l = 0; l <= 6; l++) {
                memset(&v, 0, sizeof v);
                CUDA_TEXTURE_DESC t = td0();
                CUDA_RESOURCE_DESC d = rdm(tm);
                t.flags = 2;
                v.format = CU_RES_VIEW_FORMAT_UINT_4X8;
                v.width = 64;
                v.height = 32;
                v.firstMipmapLevel = f;
                v.lastMipmapLevel = l;
                row(tx(&d, &t, &v));
                if (l == 6)
                    OUT(" ");
            }
        row_end();
    }
    CASE("mip-level-dims")
    {
        VIEW("base-dims-first1", rdm(tm), v.firstMipmapLevel = 1; v.lastMipmapLevel = 2)
        VIEW("level-dims-first1", rdm(tm), v.width = 32; v.height = 16; v.firstMipmapLevel = 1;
             v.lastMipmapLevel = 2) VIEW("past", rdm(tm), v.lastMipmapLevel = 5)
            VIEW("max", rdm(tm), v.lastMipmapLevel = ~0u) VIEW("width32", rdm(tm), v.width = 32)
    }
    CASE("linear-and-pitch"){VIEW("linear", rdl(big, 1, 4, 65536), (void)0)
                                 VIEW("linear-zero", rdl(big, 1, 4, 65536), memset(&v, 0, sizeof v))
                                     VIEW("pitch", rdp(big, 1, 4, 64, 32, 512), (void)0)
                                         VIEW("pitch-zero", rdp(big, 1, 4, 64, 32, 512),
                                              memset(&v, 0, sizeof v))} CASE("bc-dims")
    {
        CUarray a;
        MUST(mk(&a, 64, 32, 0, 3, 2, 0));
        VIEW("bc1-x4", rda(a), v.format = 0x19; v.width = 256; v.height = 128)
        VIEW("bc1-x1", rda(a), v.format = 0x19)
            VIEW("bc1-less", rda(a), v.format = 0x19; v.width = 253; v.height = 125)
                VIEW("bc1-more", rda(a), v.format = 0x19; v.width = 257; v.height = 128)
                    VIEW("bc1-zero", rda(a), v.format = 0x19; v.width = v.height = 0)
                        VIEW("bc2-on-2ch", rda(a), v.format = 0x1a; v.width = 256; v.height = 128)
                            cuArrayDestroy(a);
        MUST(mk(&a, 64, 32, 0, 3, 4, 0));
        VIEW("bc7-on-4ch", rda(a), v.format = 0x22; v.width = 256; v.height = 128)
        VIEW("bc1-on-4ch", rda(a), v.format = 0x19; v.width = 256; v.height = 128)
            cuArrayDestroy(a);
        MUST(mk(&a, 64, 32, 3, 3, 2, 1));
        VIEW("bc1-layered", rda(a), v.format = 0x19; v.width = 256; v.height = 128; v.depth = 3;
             v.lastLayer = 2)
        cuArrayDestroy(a);
        MUST(mk(&a, 64, 32, 3, 3, 2, 0));
        VIEW("bc1-3D", rda(a), v.format = 0x19; v.width = 256; v.height = 128; v.depth = 3)
        cuArrayDestroy(a);
    }
#undef VIEW
}
GROUP(surface)
{
    texsetup();
    CUsurfObject o;
    for (int i = 0; i < nres; i++)
        CASE("of-%s", res[i].n)
        {
            S(sf(&res[i].r));
        }
    struct {
        const char *n;
        size_t w, h, d;
        unsigned fl;
    } sh[] = {{"1D", 64, 0, 0, 2},
              {"2D", 64, 32, 0, 2},
              {"3D", 32, 16, 8, 2},
              {"1Dlayered", 64, 0, 5, 3},
              {"2Dlayered", 64, 32, 5, 3},
              {"cube", 32, 32, 6, 6},
              {"cubelayered", 32, 32, 12, 7},
              {"deferred", 64, 32, 0, 0x82},
              {"sparse", 512, 512, 0, 0x42},
              {"attachment", 64, 32, 0, 0x22}};
    for (int i = 0; i < N(sh); i++)
        CASE("ldst-%s", sh[i].n)
        {
            CUarray a;
            CUresult r = mk(&a, sh[i].w, sh[i].h, sh[i].d, 1, 4, sh[i].fl);
            S(r);
            if (r)
                continue;
            CUDA_RESOURCE_DESC d = rda(a), g;
            o = 0;
            S(cuSurfObjectCreate(&o, &d));
            memset(&g, 0x5a, sizeof g);
            r = cuSurfObjectGetResourceDesc(&g, o);
            OUT(" %s type=%d same=%d flags=%x", R(r), g.resType, g.res.array.hArray == a, g.flags);
            S(cuSurfObjectDestroy(o));
            S(cuSurfObjectDestroy(o));
            cuArrayDestroy(a);
        }
    CASE("mip-level")
    {
        CUmipmappedArray m;
        CUarray a;
        MUST(mkm(&m, 64, 32, 0, 1, 4, 2, 3));
        CUDA_RESOURCE_DESC d = rdm(m);
        L("mip", sf(&d));
        for (unsigned l = 0; l < 3; l++) {
            MUST(cuMipmappedArrayGetLevel(&a, m, l));
            d = rda(a);
            L("level", sf(&d));
        }
        cuMipmappedArrayDestroy(m);
    }
    CASE("args")
    {
        CUarray a;
        MUST(mk(&a, 64, 32, 0, 1, 4, 2));
        CUDA_RESOURCE_DESC d = rda(a);
        o = JUNK;
        L("null-out", cuSurfObjectCreate(0, &d));
        L("null-desc", cuSurfObjectCreate(&o, 0));
        L("null-both", cuSurfObjectCreate(0, 0));
        d.flags = 1;
        L("flags1", cuSurfObjectCreate(&o, &d));
        d = rda(0);
        L("null-array", cuSurfObjectCreate(&o, &d));
        d.resType = 9;
        L("bad-type", cuSurfObjectCreate(&o, &d));
        OUT(" out=%s", out64(o, JUNK));
        L("destroy-0", cuSurfObjectDestroy(0));
        L("destroy-bogus", cuSurfObjectDestroy(99999));
        L("get-0", cuSurfObjectGetResourceDesc(&d, 0));
        L("get-null", cuSurfObjectGetResourceDesc(0, 0));
        d = rda(a);
        MUST(cuSurfObjectCreate(&o, &d));
        L("get-null-out", cuSurfObjectGetResourceDesc(0, o));
        CUDA_RESOURCE_DESC g;
        L("texture-get-of-surface", cuTexObjectGetResourceDesc(&g, o));
        cuSurfObjectDestroy(o);
        d.res.reserved.reserved[31] = 1;
        L("tail", sf(&d));
        cuArrayDestroy(a);
    }
    CASE("garbage")
    {
        static char z[8192];
        CUDA_RESOURCE_DESC d = rda((CUarray)z);
        S(sf(&d));
    }
    CASE("destroy-array-under-surface")
    {
        CUarray a;
        MUST(mk(&a, 64, 32, 0, 1, 4, 2));
        CUDA_RESOURCE_DESC d = rda(a);
        o = 0;
        S(cuSurfObjectCreate(&o, &d));
        S(cuArrayDestroy(a));
        S(cuSurfObjectDestroy(o));
    }
    CASE("surface-and-texture-handles")
    {
        CUarray a;
        CUDA_TEXTURE_DESC t = td0();
        MUST(mk(&a, 64, 32, 0, 1, 4, 2));
        CUDA_RESOURCE_DESC d = rda(a);
        CUtexObject x = 0;
        MUST(cuTexObjectCreate(&x, &d, &t, 0));
        L("destroy-texture-as-surface", cuSurfObjectDestroy(x));
        L("destroy-texture", cuTexObjectDestroy(x));
        MUST(cuSurfObjectCreate(&o, &d));
        L("destroy-surface-as-texture", cuTexObjectDestroy(o));
        L("destroy-surface", cuSurfObjectDestroy(o));
        cuArrayDestroy(a);
    }
}

// ------------------------------------------------------------------ texture references
GROUP(texref)
{
    texsetup();
    CUtexref t = 0;
    CUresult have = cuTexRefCreate(&t);
    CUdeviceptr p;
    CUarray a;
    CUmipmappedArray m;
    CUaddress_mode am;
    CUfilter_mode fm;
    CUarray_format f;
    int c, an;
    float x, y, bc[4];
    unsigned fl;
    size_t off;
    CASE("create")
    {
        S(have);
        S(cuTexRefCreate(0));
        CUtexref q = 0;
        S(cuTexRefCreate(&q));
        S(cuTexRefDestroy(q));
        S(cuTexRefDestroy(0));
    }
    CASE("defaults")
    {
        p = JUNK;
        L("address", cuTexRefGetAddress(&p, t));
        OUT("/%s", out64(p, JUNK));
        a = (CUarray)JUNK;
        L("array", cuTexRefGetArray(&a, t));
        m = (CUmipmappedArray)JUNK;
        L("mip", cuTexRefGetMipmappedArray(&m, t));
        for (int d = -1; d <= 3; d++) {
            am = 77;
            CUresult r = cuTexRefGetAddressMode(&am, t, d);
            OUT(" am%d=%s/%d", d, R(r), am);
        }
        fm = 77;
        L("filter", cuTexRefGetFilterMode(&fm, t));
        OUT("/%d", fm);
        f = 77;
        c = 77;
        L("format", cuTexRefGetFormat(&f, &c, t));
        OUT("/%x/%d", f, c);
        fm = 77;
        L("mipfilter", cuTexRefGetMipmapFilterMode(&fm, t));
        OUT("/%d", fm);
        x = 77;
        L("bias", cuTexRefGetMipmapLevelBias(&x, t));
        OUT("/%g", x);
        x = y = 77;
        L("clamp", cuTexRefGetMipmapLevelClamp(&x, &y, t));
        OUT("/%g/%g", x, y);
        an = 77;
        L("aniso", cuTexRefGetMaxAnisotropy(&an, t));
        OUT("/%d", an);
        bc[0] = bc[3] = 77;
        L("border", cuTexRefGetBorderColor(bc, t));
        OUT("/%g/%g", bc[0], bc[3]);
        fl = 77;
        L("flags", cuTexRefGetFlags(&fl, t));
        OUT("/%x", fl);
    }
    for (int i = 0; i < N(fmts); i++)
        CASE("format-%s", fmts[i].n) for (int k = -1; k <= 5; k++)
        {
            CUresult r = cuTexRefSetFormat(t, fmts[i].v, k);
            row(r);
            if (k == 5)
                row_end();
        }
    CASE("format-odd")
    {
        for (int i = 0; i < N(odd_fmts); i++)
            row(cuTexRefSetFormat(t, odd_fmts[i], 1));
        row_end();
        cuTexRefSetFormat(t, 1, 4);
        f = c = 77;
        L("get", cuTexRefGetFormat(&f, &c, t));
        OUT("/%x/%d", f, c);
        L("null-format", cuTexRefGetFormat(0, &c, t));
        L("null-count", cuTexRefGetFormat(&f, 0, t));
        L("null-both", cuTexRefGetFormat(0, 0, t));
        L("null-ref", cuTexRefGetFormat(&f, &c, 0));
    }
    CASE("address-modes")
    {
        for (int d = -1; d <= 3; d++)
            for (int k = -1; k <= 4; k++) {
                CUresult r = cuTexRefSetAddressMode(t, d, k);
                am = 77;
                cuTexRefGetAddressMode(&am, t, d);
                OUT("%s%d,%d:%s/%d", sep(), d, k, R(r), am);
            }
    }
    CASE("filters")
    {
        for (int k = -1; k <= 3; k++) {
            CUresult r = cuTexRefSetFilterMode(t, k);
            fm = 77;
            cuTexRefGetFilterMode(&fm, t);
            OUT("%s%d:%s/%d", sep(), k, R(r), fm);
            r = cuTexRefSetMipmapFilterMode(t, k);
            fm = 77;
            cuTexRefGetMipmapFilterMode(&fm, t);
            OUT(" mip:%s/%d", R(r), fm);
        }
    }
    CASE("flags")
    {
        for (unsigned k = 0; k < 256; k++) {
            if (k && k % 32 == 0)
                OUT(" ");
            row(cuTexRefSetFlags(t, k));
        }
        row_end();
        L("high", cuTexRefSetFlags(t, 0x80000000));
        cuTexRefSetFlags(t, 3);
        fl = 77;
        cuTexRefGetFlags(&fl, t);
        OUT(" now=%x", fl);
        cuTexRefSetFlags(t, 0);
    }
    CASE("aniso")
    {
        unsigned v[] = {0, 1, 2, 15, 16, 17, 100, ~0u};
        for (int k = 0; k < N(v); k++) {
            CUresult r = cuTexRefSetMaxAnisotropy(t, v[k]);
            an = 77;
            cuTexRefGetMaxAnisotropy(&an, t);
            OUT("%s%u:%s/%d", sep(), v[k], R(r), an);
        }
    }
    CASE("bias-clamp-border")
    {
        float v[] = {0, 1.5f, -3, 100, INFINITY, NAN};
        for (int k = 0; k < N(v); k++) {
            CUresult r = cuTexRefSetMipmapLevelBias(t, v[k]);
            x = 77;
            cuTexRefGetMipmapLevelBias(&x, t);
            OUT("%s%g:%s/%g", sep(), v[k], R(r), x);
            r = cuTexRefSetMipmapLevelClamp(t, v[k], 2);
            x = y = 77;
            cuTexRefGetMipmapLevelClamp(&x, &y, t);
            OUT(" clamp:%s/%g/%g", R(r), x, y);
        }
        float b[4] = {1, -2, 3, 0.5f};
        L("border", cuTexRefSetBorderColor(t, b));
        bc[0] = 77;
        cuTexRefGetBorderColor(bc, t);
        OUT("/%g/%g/%g/%g", bc[0], bc[1], bc[2], bc[3]);
        L("border-null", cuTexRefSetBorderColor(t, 0));
        L("get-null", cuTexRefGetBorderColor(0, t));
    }
    CASE("address")
    {
        cuTexRefSetFormat(t, 1, 4);
        int o[] = {0, 1, 4, 16, 31, 32, 64, 128, 256, 511, 512};
        for (int k = 0; k < N(o); k++) {
            off = 777;
            CUresult r = cuTexRefSetAddress(&off, t, big + o[k], 4096);
            p = 0;
            cuTexRefGetAddress(&p, t);
            OUT("%s%d:%s/%zu/%lld", sep(), o[k], R(r), off, df(p, big));
        }
        L("null-offset", cuTexRefSetAddress(0, t, big, 4096));
        L("null-offset-odd", cuTexRefSetAddress(0, t, big + 1, 4096));
        L("null-ptr", cuTexRefSetAddress(&off, t, 0, 0));
        L("null-ptr-size", cuTexRefSetAddress(&off, t, 0, 16));
        L("unknown", cuTexRefSetAddress(&off, t, 0x1000, 16));
        L("size0", cuTexRefSetAddress(&off, t, big, 0));
        L("past", cuTexRefSetAddress(&off, t, big, 8 << 20));
        L("huge", cuTexRefSetAddress(&off, t, big, SIZE_MAX));
        L("null-ref", cuTexRefSetAddress(&off, 0, big, 16));
    }
    CASE("address2D")
    {
        CUDA_ARRAY_DESCRIPTOR d = {64, 32, CU_AD_FORMAT_UNSIGNED_INT8, 4};
        size_t pi[] = {0, 16, 32, 255, 256, 257, 272, 288, 512, 2097120, 2097152};
        for (int k = 0; k < N(pi); k++) {
            OUT("%s%zu:", sep(), pi[k]);
            OUT("%s", R(cuTexRefSetAddress2D(t, &d, big, pi[k])));
            OUT("/%s", R(two_TexRefSetAddress2D(t, &d, big, pi[k])));
        }
        int o[] = {1, 32, 256, 512};
        for (int k = 0; k < 4; k++) {
            OUT(" +%d:", o[k]);
            OUT("%s", R(cuTexRefSetAddress2D(t, &d, big + o[k], 512)));
            OUT("/%s", R(two_TexRefSetAddress2D(t, &d, big + o[k], 512)));
        }
        L("null-desc", cuTexRefSetAddress2D(t, 0, big, 512));
        L("null-ptr", cuTexRefSetAddress2D(t, &d, 0, 512));
        L("null-ref", cuTexRefSetAddress2D(0, &d, big, 512));
        d.Width = 0;
        L("width0", cuTexRefSetAddress2D(t, &d, big, 512));
        d.Width = 64;
        d.Height = 0;
        L("height0", cuTexRefSetAddress2D(t, &d, big, 512));
        d.Height = 65001;
        L("height65001", cuTexRefSetAddress2D(t, &d, big, 512));
        d.Height = 1;
        d.Width = 131073;
        L("width131073", cuTexRefSetAddress2D(t, &d, big, 1 << 20));
        d.Width = 64;
        d.NumChannels = 3;
        L("channels3", cuTexRefSetAddress2D(t, &d, big, 512));
        d.NumChannels = 1;
        d.Format = 0;
        L("format0", cuTexRefSetAddress2D(t, &d, big, 512));
    }
    CASE("array")
    {
        for (unsigned k = 0; k <= 3; k++) {
            CUresult r = cuTexRefSetArray(t, t2, k);
            OUT("%sflags%u:%s", sep(), k, R(r));
            a = 0;
            r = cuTexRefGetArray(&a, t);
            OUT("/%s/%d", R(r), a == t2);
        }
        f = c = 77;
        cuTexRefGetFormat(&f, &c, t);
        OUT(" format=%x/%d", f, c);
        p = JUNK;
        L("address", cuTexRefGetAddress(&p, t));
        L("mip", cuTexRefGetMipmappedArray(&m, t));
        L("null-array", cuTexRefSetArray(t, 0, 1));
        L("null-ref", cuTexRefSetArray(0, t2, 1));
        L("3D", cuTexRefSetArray(t, t3, 1));
        L("layered", cuTexRefSetArray(t, tl2, 1));
        L("cube", cuTexRefSetArray(t, tc, 1));
        cuTexRefSetFormat(t, 0x20, 1);
        L("other-format-no-override", cuTexRefSetArray(t, t2, 0));
    }
    CASE("mipmapped")
    {
        for (unsigned k = 0; k <= 3; k++) {
            CUresult r = cuTexRefSetMipmappedArray(t, tm, k);
            OUT("%sflags%u:%s", sep(), k, R(r));
            m = 0;
            r = cuTexRefGetMipmappedArray(&m, t);
            OUT("/%s/%d", R(r), m == tm);
        }
        a = 0;
        L("array", cuTexRefGetArray(&a, t));
        L("null-mip", cuTexRefSetMipmappedArray(t, 0, 1));
    }
    CASE("nulls")
    {
        L("address", cuTexRefGetAddress(0, t));
        L("array", cuTexRefGetArray(0, t));
        L("mip", cuTexRefGetMipmappedArray(0, t));
        L("am", cuTexRefGetAddressMode(0, t, 0));
        L("filter", cuTexRefGetFilterMode(0, t));
        L("mipfilter", cuTexRefGetMipmapFilterMode(0, t));
        L("bias", cuTexRefGetMipmapLevelBias(0, t));
        L("clamp", cuTexRefGetMipmapLevelClamp(0, 0, t));
        L("clamp-one", cuTexRefGetMipmapLevelClamp(&x, 0, t));
        L("aniso", cuTexRefGetMaxAnisotropy(0, t));
        L("flags", cuTexRefGetFlags(0, t));
        L("ref-am", cuTexRefGetAddressMode(&am, 0, 0));
        L("ref-flags", cuTexRefGetFlags(&fl, 0));
        L("ref-set-flags", cuTexRefSetFlags(0, 0));
        L("ref-set-filter", cuTexRefSetFilterMode(0, 0));
        L("ref-set-format", cuTexRefSetFormat(0, 1, 1));
        L("ref-set-am", cuTexRefSetAddressMode(0, 0, 0));
        L("ref-set-aniso", cuTexRefSetMaxAnisotropy(0, 1));
    }
    CASE("surfref-nulls")
    {
        L("set", cuSurfRefSetArray(0, t2, 0));
        L("get", cuSurfRefGetArray(&a, 0));
    }
    CASE("destroyed")
    {
        CUtexref q = 0;
        if (!cuTexRefCreate(&q)) {
            S(cuTexRefDestroy(q));
            S(cuTexRefDestroy(q));
        }
    }
    CASE("garbage")
    {
        static char z[8192];
        S(cuTexRefGetFlags(&fl, (CUtexref)z));
    }
}
int main(int argc, char **argv)
{
    if (argc > 1)
        probe_only = argv[1];
    RUN(formats);
    RUN(flags);
    RUN(limits);
    RUN(args);
    RUN(mip);
    RUN(memory);
    RUN(sparse);
    RUN(planes);
    RUN(maparray);
    RUN(texdesc);
    RUN(texres);
    RUN(texview);
    RUN(surface);
    RUN(texref);
    return 0;
}
