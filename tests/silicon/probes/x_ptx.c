// SPDX-License-Identifier: MIT
// PTX instruction semantics: each case assembles one module as text, runs its entry `k` on one
// block (mostly) and prints `sum` (FNV-1a 64 over the output bytes) and the first few values in
// hex. Float outputs are summed with every NaN made canonical; ` raw` follows when the bits with
// NaNs as they came sum differently.
//   x_ptx                    run everything     PROBE_ONLY=group x_ptx    one group
//   x_ptx --dump DIR         write each case's PTX to DIR/group__case.ptx; makes no driver call
//   XPTX_RAW=FILE x_ptx      also append every case's inputs' count and whole output in hex to FILE
// All driver symbols are weak and libcuda.so.1 is opened at start, so that --dump runs where there
// is no driver.
#pragma weak cuInit
#pragma weak cuDeviceGet
#pragma weak cuGetErrorName
#pragma weak cuDevicePrimaryCtxRetain
#pragma weak cuCtxSetCurrent
#pragma weak cuModuleLoadData
#pragma weak cuModuleLoadDataEx
#pragma weak cuModuleUnload
#pragma weak cuModuleGetFunction
#pragma weak cuModuleGetGlobal_v2
#pragma weak cuMemAlloc_v2
#pragma weak cuMemFree_v2
#pragma weak cuMemcpyHtoD_v2
#pragma weak cuMemcpyDtoH_v2
#pragma weak cuMemsetD8_v2
#pragma weak cuMemsetD32_v2
#pragma weak cuLaunchKernel
#pragma weak cuLaunchKernelEx
#pragma weak cuCtxSynchronize
#pragma weak cuFuncSetAttribute
#pragma weak cuFuncGetAttribute
#pragma weak cuCtxSetLimit
#pragma weak cuArrayCreate_v2
#pragma weak cuArray3DCreate_v2
#pragma weak cuArrayDestroy
#pragma weak cuMipmappedArrayCreate
#pragma weak cuMipmappedArrayGetLevel
#pragma weak cuMipmappedArrayDestroy
#pragma weak cuMemcpy3D_v2
#pragma weak cuTexObjectCreate
#pragma weak cuTexObjectDestroy
#pragma weak cuSurfObjectCreate
#pragma weak cuSurfObjectDestroy
#pragma weak cuMemExportToShareableHandle
#pragma weak cuMemCreate
#pragma weak cuImportExternalMemory
#include "probe.h"
#include <dlfcn.h>
#include <math.h>

static const char *dumpdir;
static int ncases, nptx;
static char kname[160];
static FILE *rawf;
static unsigned char outb[1 << 23];
static unsigned char inb[3][1 << 20];
static CUdeviceptr dO, dI[3];
static CUcontext cx;
#define OUTMAX (1 << 23)
#define INMAX (1 << 20)

static uint64_t fnv(const void *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull;
    const unsigned char *b = p;
    while (n--) {
        h ^= *b++;
        h *= 0x100000001b3ull;
    }
    return h;
}
static uint32_t seed_;
static uint32_t lcg(void)
{
    seed_ = seed_ * 1664525u + 1013904223u;
    uint32_t x = seed_;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 12;
    x *= 0x297a2d39u;
    x ^= x >> 15;
    return x;
}
static uint64_t lcg64(void)
{
    uint64_t h = lcg();
    return h << 32 | lcg();
}

// template: $1..$9 are the arguments that follow, $$ is a dollar
static const char *T_(const char *t, ...)
{
    static char buf[24][16384];
    static int k;
    char *d = buf[k = (k + 1) % 24], *s = d;
    const char *a[10] = {0};
    va_list ap;
    va_start(ap, t);
    for (int i = 1; i < 10; i++) {
        a[i] = va_arg(ap, const char *);
        if (!a[i])
            break;
    }
    va_end(ap);
    for (; *t; t++) {
        if (*t == '$' && t[1] == '$') {
            *d++ = '$';
            t++;
        } else if (*t == '$' && t[1] >= '1' && t[1] <= '9' && a[t[1] - '0']) {
            const char *x = a[*++t - '0'];
            while (*x)
                *d++ = *x++;
        } else
            *d++ = *t;
        if (d - s > 16000) {
            fprintf(stderr, "template too long\n");
            exit(1);
        }
    }
    *d = 0;
    return s;
}
#define T(...) T_(__VA_ARGS__, NULL)
static const char *N(long v)
{
    static char b[16][32];
    static int k;
    snprintf(b[k = (k + 1) & 15], 32, "%ld", v);
    return b[k];
}
static const char *X(unsigned v)
{
    static char b[16][32];
    static int k;
    snprintf(b[k = (k + 1) & 15], 32, "0x%x", v);
    return b[k];
}
static const char *C1(char c)
{
    static char b[16][2];
    static int k;
    b[k = (k + 1) & 15][0] = c;
    return b[k];
}

static char ptx[1 << 17];
static int pn;
static void P0(void)
{
    pn = 0;
    ptx[0] = 0;
}
static void P(const char *s)
{
    size_t n = strlen(s);
    if (pn + n + 1 > sizeof ptx) {
        fprintf(stderr, "ptx too long\n");
        exit(1);
    }
    memcpy(ptx + pn, s, n + 1);
    pn += n;
}
#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
#define SIG                                                                                        \
    ".visible .entry k(.param .u64 po,.param .u64 p0,.param .u64 p1,.param .u64 p2,.param .u32 "   \
    "pn)\n"

static int B(const char *name)
{
    snprintf(kname, sizeof kname, "%s", name);
    for (char *c = kname; *c; c++)
        if (*c < 32)
            *c = ' ';
    if (dumpdir) {
        ncases++;
        return 1;
    }
    return probe_begin("%s", kname);
}
static void dump_(void)
{
    char f[600], s[400];
    snprintf(s, sizeof s, "%s__%s", probe_group_name, kname);
    for (char *c = s; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *c))
            *c = '+';
    snprintf(f, sizeof f, "%s/%s.ptx", dumpdir, s);
    if (!access(f, F_OK)) {
        fprintf(stderr, "two cases are named %s\n", s);
        exit(1);
    }
    FILE *o = fopen(f, "w");
    if (!o) {
        perror(f);
        exit(1);
    }
    fputs(ptx, o);
    fclose(o);
    nptx++;
}
static void bail(const char *what, CUresult r)
{
    OUT("%s %s", what, R(r));
    _exit(2);
} // the group goes on behind this case in a fresh process
static void raw(const void *p, size_t n)
{
    if (!rawf)
        return;
    fprintf(rawf, "%s/%s ", probe_group_name, kname);
    for (size_t i = 0; i < n; i++)
        fprintf(rawf, "%02x", ((const unsigned char *)p)[i]);
    fputc('\n', rawf);
    fflush(rawf);
}

// group set-up: context and buffers; input words that hand-written kernels read
static void S(void)
{
    if (dumpdir)
        return;
    cx = probe_ctx();
    MUST(cuMemAlloc(&dO, OUTMAX));
    for (int i = 0; i < 3; i++)
        MUST(cuMemAlloc(&dI[i], INMAX));
}
static int std_ok;
static void std_inputs(void)
{
    if (std_ok)
        return;
    std_ok = 1; // A: 4096 random words; B: word i = i; C: small whole numbers as f16x2, bf16x2, f32
                // (1024 words of each), f64 (512)
    uint32_t *a = (void *)inb[0], *b = (void *)inb[1], *c = (void *)inb[2];
    seed_ = 12345;
    for (int i = 0; i < 4096; i++)
        a[i] = lcg(), b[i] = i;
    static const uint16_t h[16] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                                   0xbc00, 0xc000, 0xc200, 0xc400, 0xc500, 0xc600, 0xc700, 0x4800},
                          bf[16] = {0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0,
                                    0xbf80, 0xc000, 0xc040, 0xc080, 0xc0a0, 0xc0c0, 0xc0e0, 0x4100};
    static const float f[16] = {0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7, 8};
    for (int i = 0; i < 1024; i++) {
        c[i] = h[lcg() & 15] | (uint32_t)h[lcg() & 15] << 16;
        c[1024 + i] = bf[lcg() & 15] | (uint32_t)bf[lcg() & 15] << 16;
        memcpy(&c[2048 + i], &f[lcg() & 15], 4);
    }
    for (int i = 0; i < 512; i++) {
        double d = f[lcg() & 15];
        memcpy(&c[3072 + 2 * i], &d, 8);
    }
    if (!dumpdir) {
        MUST(cuMemcpyHtoD(dI[0], a, 16384));
        MUST(cuMemcpyHtoD(dI[1], b, 16384));
        MUST(cuMemcpyHtoD(dI[2], c, 16384));
    }
}
static CUmodule ld(CUfunction *f)
{
    CUmodule m;
    CUresult r = cuModuleLoadData(&m, ptx);
    if (r) {
        OUT("load %s", R(r));
        return 0;
    }
    if (f && (r = cuModuleGetFunction(f, m, "k"))) {
        OUT("get %s", R(r));
        cuModuleUnload(m);
        return 0;
    }
    return m;
}
// runs entry k(out, in0, in1, in2, n); returns 1 when outb holds the first `bytes` of output
static int go3(unsigned gx, unsigned bx, unsigned by, unsigned bz, unsigned shm, unsigned n,
               size_t bytes, CUdeviceptr p1)
{
    if (dumpdir) {
        dump_();
        return 0;
    }
    CUfunction f;
    CUmodule m = ld(&f);
    if (!m)
        return 0;
    CUresult r;
    if ((r = cuMemsetD8(dO, 0xcd, bytes)))
        bail("memset", r);
    if (shm > 48 * 1024 &&
        (r = cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shm)))
        OUT("attr %s ", R(r));
    void *pp[] = {&dO, &dI[0], p1 ? &p1 : &dI[1], &dI[2], &n};
    if ((r = cuLaunchKernel(f, gx, 1, 1, bx, by, bz, shm, 0, pp, 0))) {
        OUT("launch %s", R(r));
        cuModuleUnload(m);
        return 0;
    }
    if ((r = cuCtxSynchronize()))
        bail("sync", r);
    if ((r = cuMemcpyDtoH(outb, dO, bytes)))
        bail("copy", r);
    if ((r = cuModuleUnload(m)))
        OUT("unload %s ", R(r));
    return 1;
}
static int go(unsigned bx, unsigned n, size_t bytes)
{
    return go3(1, bx, 1, 1, 0, n, bytes, 0);
}

// ---- edge values ----
static const uint64_t e_b[] = {0, 1, 0xff, 0x80, 0x7f, 0x81, 0x55, 0x10, 0xfe},
                      e_h[] = {1, 0x8000, 0xffff, 0,      0x7fff, 0x8001, 3,      0x1234, 0xff80,
                               2, 0x00ff, 0x0100, 0xaaaa, 0x5555, 0xff00, 0xfffe, 100,    0xff9c};
static const uint64_t e_w[] = {1,       0x80000000, 0xffffffff, 0,          0x7fffffff, 0x80000001,
                               3,       0x12345678, 0xffff8000, 2,          0xdeadbeef, 0xffff,
                               0x10000, 0xaaaaaaaa, 0x55555555, 0xfffffffe, 31,         32,
                               33,      0x00ffffff, 0xff800000, 0x01000000, 7,          0xfffffff9};
static const uint64_t e_l[] = {1,
                               0x8000000000000000ull,
                               ~0ull,
                               0,
                               0x7fffffffffffffffull,
                               0x8000000000000001ull,
                               3,
                               0x123456789abcdef0ull,
                               0xffffffff80000000ull,
                               2,
                               0xdeadbeefcafebabeull,
                               0xffffffffull,
                               0x100000000ull,
                               0x7fffffff,
                               0x80000000,
                               0xfffffffffffffffeull,
                               63,
                               64,
                               0xffff,
                               0xffffffff00000000ull,
                               10,
                               0xfffffffffffffff6ull};
static const uint64_t e_F[] = {
    0x3f800000, 0x80000000, 0x7f800000, 0x7fc12345, 0x00000001, 0xbfc00000, 0x7f7fffff, 0,
    0xff800000, 0x007fffff, 0x00800000, 0x80800000, 0x807fffff, 0x7f812345, 0xffc00001, 0x3dcccccd,
    0x3f800001, 0x3f7fffff, 0x40490fdb, 0x4b800001, 0xcb000001, 0x34000000, 0x5f000000, 0xff7fffff};
static const uint64_t e_D[] = {0x3ff0000000000000ull,
                               0x8000000000000000ull,
                               0x7ff0000000000000ull,
                               0x7ff8123456789abcull,
                               1,
                               0xbff8000000000000ull,
                               0x7fefffffffffffffull,
                               0,
                               0xfff0000000000000ull,
                               0x000fffffffffffffull,
                               0x0010000000000000ull,
                               0x8010000000000000ull,
                               0x800fffffffffffffull,
                               0x7ff4123456789abcull,
                               0xfff8000000000001ull,
                               0x3fb999999999999aull,
                               0x3ff0000000000001ull,
                               0x3fefffffffffffffull,
                               0x400921fb54442d18ull,
                               0x4340000000000001ull,
                               0xc330000000000001ull,
                               0x3cb0000000000000ull,
                               0xffefffffffffffffull};
static const uint64_t e_H[] = {0x3c00, 0x8000, 0x7c00, 0x7e55, 0x0001, 0xbe00, 0x7bff, 0,
                               0xfc00, 0x03ff, 0x0400, 0x8400, 0x83ff, 0x7d01, 0xfe01, 0x2e66,
                               0x3c01, 0x3bff, 0x4248, 0x6801, 0xe801, 0x1400, 0xfbff, 0x5640};
static const uint64_t e_B[] = {0x3f80, 0x8000, 0x7f80, 0x7fd5, 0x0001, 0xbfc0, 0x7f7f, 0,
                               0xff80, 0x007f, 0x0080, 0x8080, 0x807f, 0x7f81, 0xffc1, 0x3dcd,
                               0x3f81, 0x3f7f, 0x4049, 0x4381, 0xc381, 0x3c00, 0xff7f, 0x5f00};
static const uint64_t e_s[] = {0,  1,   31,  32,  33,         0xffffffff, 8,  16, 63, 64,
                               65, 255, 256, 257, 0x80000000, 15,         17, 7,  24, 100},
                      e_p[] = {0,  1,  31, 32, 8,  64, 255, 17,  5,  33,
                               63, 65, 4,  15, 16, 24, 100, 128, 200};
static const uint64_t e_m[] = {0, 1,   -1u, 2,    -2u, 5,    -5u, 32,  -32u,
                               3, -3u, 31,  -31u, 33,  -33u, 16,  -16u},
                      e_q[] = {0x3210,     0x7654, 0x0123, 0x8888, 0xfedc, 0x1357,  0x4040, 0xba98,
                               0xffff0000, 0,      1,      2,      3,      0x12345, 0x6420, 0x7531};
static const uint64_t e_k[] = {
    0,          0x01020304, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x807f01ff, 0x00ff00ff, 0x7fff8000,
    0x80007fff, 0x12345678, 0xfedcba98, 0x80000001, 0xff00ff00, 0x01010101, 0xfffefdfc, 0x0000ffff};
static const uint64_t e_0[] = {0};
static int width(char t)
{
    switch (t) {
    case 'b':
        return 1;
    case 'h':
    case 'H':
    case 'B':
    case 'X':
        return 2;
    case 'l':
    case 'D':
    case 'G':
        return 8;
    default:
        return 4;
    }
}
static const uint64_t *etab(char t, int *n)
{
#define Q(c, v)                                                                                    \
    case c:                                                                                        \
        *n = sizeof v / sizeof *v;                                                                 \
        return v;
    switch (t) {
        Q('b', e_b)
        Q('h', e_h)
        Q('w', e_w) Q('l', e_l) Q('F', e_F) Q('C', e_F) Q('D', e_D) Q('G', e_D) Q('H', e_H)
            Q('B', e_B) Q('s', e_s) Q('p', e_p) Q('m', e_m) Q('q', e_q) Q('k', e_k) Q('0', e_0)
    }
#undef Q
    fprintf(stderr, "no value set %c\n", t);
    exit(1);
}
static uint64_t pick(const uint64_t *e, int n)
{
    return e[lcg() % n];
}
static uint64_t rnd(char t)
{
    int n;
    const uint64_t *e;
    uint64_t v = lcg64();
    switch (t) {
    case 'b':
        return v & 0xff;
    case 'h':
        return (v & 0xffff) >> (lcg() % 4 ? 0 : lcg() % 16);
    case 'w':
        return (v & 0xffffffff) >> (lcg() % 4 ? 0 : lcg() % 32);
    case 'l':
        return v >> (lcg() % 4 ? 0 : lcg() % 64);
    case 'F':
    case 'C':
        return lcg() % 2 ? v & 0xffffffff : (v & 0x807fffff) | (uint64_t)(120 + lcg() % 14) << 23;
    case 'D':
    case 'G':
        return lcg() % 2 ? v : (v & 0x800fffffffffffffull) | (uint64_t)(1015 + lcg() % 16) << 52;
    case 'H':
        return lcg() % 2 ? v & 0xffff : (v & 0x83ff) | (uint64_t)(12 + lcg() % 6) << 10;
    case 'B':
        return lcg() % 2 ? v & 0xffff : (v & 0x807f) | (uint64_t)(122 + lcg() % 10) << 7;
    case 'k':
        return v & 0xffffffff;
    case 'q':
        return v & 0xffff;
    }
    e = etab(t, &n);
    return pick(e, n);
}
static uint64_t val(char t, int rank, int total)
{
    (void)total;
    int n;
    const uint64_t *e;
    if (t == 'P') {
        e = e_H;
        n = sizeof e_H / 8;
        return e[rank % n] | e[(rank * 7 + 3) % n] << 16;
    }
    if (t == 'Q') {
        e = e_B;
        n = sizeof e_B / 8;
        return e[rank % n] | e[(rank * 7 + 3) % n] << 16;
    }
    e = etab(t, &n);
    return e[rank % n];
}
static uint64_t rv(char t)
{
    if (t == 'P')
        return rnd('H') | rnd('H') << 16;
    if (t == 'Q')
        return rnd('B') | rnd('B') << 16;
    return rnd(t);
}
static int ecount(char t)
{
    int n;
    if (t == 'P' || t == 'Q')
        return 24;
    etab(t, &n);
    return n;
}
// boundary values of f32 -> narrower and f64 -> f32 conversions
static int cvt_f32(uint64_t *v)
{
    int n = 0;
    static const float sp[] = {0.5f,
                               1.5f,
                               2.5f,
                               -0.5f,
                               -1.5f,
                               -2.5f,
                               0.49999997f,
                               -0.49999997f,
                               127.5f,
                               128,
                               -128.5f,
                               -129,
                               255.5f,
                               256,
                               254.5f,
                               32767.5f,
                               32768,
                               -32768.5f,
                               65535.5f,
                               65536,
                               2147483520.f,
                               2147483648.f,
                               -2147483648.f,
                               -2147483904.f,
                               4294967040.f,
                               4294967296.f,
                               9.2233715e18f,
                               9.223372e18f,
                               -9.223372e18f,
                               -9.223373e18f,
                               1.8446743e19f,
                               1.8446744e19f,
                               65504,
                               65519.996f,
                               65520,
                               65536,
                               448,
                               464,
                               463.99997f,
                               480,
                               57344,
                               61440,
                               61439.996f,
                               5.9604645e-8f,
                               2.9802322e-8f,
                               2.980233e-8f,
                               0.001953125f,
                               0.0009765625f,
                               0.00097656256f,
                               1e-30f,
                               3.3895314e38f,
                               3.3961776e38f,
                               3.4e38f,
                               0.9999999f,
                               -0.9999999f,
                               1.0000001f,
                               8388607.5f,
                               4194303.75f,
                               16777217.f};
    for (unsigned i = 0; i < sizeof e_F / 8; i++)
        v[n++] = e_F[i];
    for (unsigned i = 0; i < sizeof sp / 4; i++) {
        uint32_t u;
        memcpy(&u, &sp[i], 4);
        v[n++] = u;
        v[n++] = u ^ 0x80000000;
    }
    for (int i = 0; i < 96; i++) {
        uint32_t s = (lcg() & 1) << 31, e = (103 + lcg() % 40) << 23, m = lcg() & 0x7fe000;
        static const uint32_t tail[] = {0x1000, 0xfff, 0x1001, 0};
        v[n++] = s | e | m | tail[i & 3];
    }
    for (int i = 0; i < 64; i++) {
        uint32_t s = (lcg() & 1) << 31, e = (1 + lcg() % 253) << 23, m = lcg() & 0x7f0000;
        static const uint32_t tail[] = {0x8000, 0x7fff, 0x8001, 0};
        v[n++] = s | e | m | tail[i & 3];
    }
    for (int i = 0; i < 64; i++) {
        uint32_t s = (lcg() & 1) << 31, e = (112 + lcg() % 26) << 23, m = lcg() & 0x700000;
        static const uint32_t tail[] = {0x80000, 0x7ffff, 0x80001, 0x100000, 0xfffff, 0x40000};
        v[n++] = s | e | m | tail[i % 6];
    }
    for (int i = 0; i < 128; i++)
        v[n++] = rnd('F');
    for (int i = 0; i < 64; i++) {
        float f = (int)(lcg() % 2000) / 4.0f - 250;
        uint32_t u;
        memcpy(&u, &f, 4);
        v[n++] = u;
    }
    return n;
}
static int cvt_f64(uint64_t *v)
{
    int n = 0;
    static const double sp[] = {0.5,
                                1.5,
                                2.5,
                                0.49999999999999994,
                                127.5,
                                128,
                                255.5,
                                32767.5,
                                65535.5,
                                2147483647.0,
                                2147483647.5,
                                2147483648.0,
                                2147483648.5,
                                2147483649.0,
                                4294967295.0,
                                4294967295.5,
                                4294967296.0,
                                9223372036854774784.0,
                                9223372036854775808.0,
                                18446744073709549568.0,
                                18446744073709551616.0,
                                3.4028234663852886e38,
                                3.4028235677973366e38,
                                3.4028235677973362e38,
                                1e300,
                                1.1754943508222875e-38,
                                1.1754942807573643e-38,
                                1.401298464324817e-45,
                                7.006492321624085e-46,
                                7.006492321624087e-46,
                                1e-300,
                                65504,
                                65520,
                                65519.99999999999,
                                2.98023223876953125e-8,
                                0.9999999999999999,
                                1.0000000596046448,
                                1.0000000596046450,
                                1.0000000596046446,
                                4503599627370497.5,
                                2251799813685249.25};
    for (unsigned i = 0; i < sizeof e_D / 8; i++)
        v[n++] = e_D[i];
    for (unsigned i = 0; i < sizeof sp / 8; i++) {
        uint64_t u;
        memcpy(&u, &sp[i], 8);
        v[n++] = u;
        v[n++] = u ^ 1ull << 63;
    }
    for (int i = 0; i < 128; i++) {
        uint64_t s = (uint64_t)(lcg() & 1) << 63, e = (uint64_t)(870 + lcg() % 290) << 52,
                 m = lcg64() & 0x000fffffe0000000ull;
        static const uint32_t tail[] = {0x10000000, 0x0fffffff, 0x10000001, 0};
        v[n++] = s | e | m | tail[i & 3];
    }
    for (int i = 0; i < 128; i++)
        v[n++] = rnd('D');
    for (int i = 0; i < 64; i++) {
        double f = (int)(lcg() % 2000) / 4.0 - 250;
        memcpy(&v[n++], &f, 8);
    }
    return n;
}
static void put(int k, int i, int w, uint64_t v)
{
    memcpy(inb[k] + (size_t)i * w, &v, w);
}
static uint64_t get(const unsigned char *p, int i, int w)
{
    uint64_t v = 0;
    memcpy(&v, p + (size_t)i * w, w);
    return v;
}
static uint64_t canon16(uint64_t v, int bf)
{
    uint64_t m = v & 0x7fff;
    return bf ? (m > 0x7f80 ? 0x7fff : v) : (m > 0x7c00 ? 0x7fff : v);
}
static uint64_t canon(char t, uint64_t v)
{
    switch (t) {
    case 'F':
        return (v & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : v;
    case 'D':
        return (v & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7fffffffffffffffull : v;
    case 'H':
        return canon16(v, 0);
    case 'B':
        return canon16(v, 1);
    case 'P':
        return canon16(v & 0xffff, 0) | canon16(v >> 16, 0) << 16;
    case 'Q':
        return canon16(v & 0xffff, 1) | canon16(v >> 16, 1) << 16;
    }
    return v;
}
static int inputs(const char *in)
{
    int k = strlen(in), n = 0;
    seed_ = 777;
    for (const char *c = in; *c; c++)
        seed_ = seed_ * 31 + *c;
    static uint64_t v[3][70000];
    if (k == 1 && in[0] == 'X') {
        for (n = 0; n < 65536; n++)
            v[0][n] = n;
    } else if (k == 1 && in[0] == 'b') {
        for (n = 0; n < 256; n++)
            v[0][n] = n;
    } else if (k == 1 && in[0] == 'C')
        n = cvt_f32(v[0]);
    else if (k == 1 && in[0] == 'G')
        n = cvt_f64(v[0]);
    else {
        if (k == 1) {
            for (; n < ecount(in[0]); n++)
                v[0][n] = val(in[0], n, 0);
        }
        if (k == 2)
            for (int a = 0; a < ecount(in[0]); a++)
                for (int b = 0; b < ecount(in[1]); b++, n++) {
                    v[0][n] = val(in[0], a, 0);
                    v[1][n] = val(in[1], b, 0);
                }
        if (k == 3) {
            int m[3];
            for (int j = 0; j < 3; j++) {
                m[j] = ecount(in[j]);
                if (m[j] > 9)
                    m[j] = 9;
            }
            for (int a = 0; a < m[0]; a++)
                for (int b = 0; b < m[1]; b++)
                    for (int c = 0; c < m[2]; c++, n++) {
                        v[0][n] = val(in[0], a, 0);
                        v[1][n] = val(in[1], b, 0);
                        v[2][n] = val(in[2], c, 0);
                    }
        }
        int e = n;
        for (; n < e + 256; n++)
            for (int j = 0; j < k; j++)
                v[j][n] = rv(in[j]);
    }
    if (n < 65536)
        for (int i = n - 1; i > 0; i--) {
            int j = lcg() % (i + 1);
            for (int q = 0; q < k; q++) {
                uint64_t t = v[q][i];
                v[q][i] = v[q][j];
                v[q][j] = t;
            }
        }
    for (int q = 0; q < k; q++)
        for (int i = 0; i < n; i++)
            put(q, i, width(in[q]), v[q][i]);
    return n;
}

// an element-wise kernel; sig "outs:ins", a type letter each; registers %d %e %f %g %o4..%o15 out,
// %a %b %c in; scratch %p %h %t %x; %sglobal %sshared: 16 bytes a thread
static const char *on[] = {"d",  "e",  "f",   "g",   "o4",  "o5",  "o6",  "o7",
                           "o8", "o9", "o10", "o11", "o12", "o13", "o14", "o15"},
                  *in_[] = {"a", "b", "c"};
static size_t out_off(const char *outs, int k, int n)
{
    size_t o = 0;
    for (int i = 0; i < k; i++)
        o += ((size_t)n * width(outs[i]) + 15) & ~15ull;
    return o;
}
static void emit_elem(const char *outs, const char *ins, const char *body, const char *decl, int n)
{
    char b[400];
    int sc = strstr(body, "%sglobal") || strstr(body, "%sshared");
    P0();
    P(HEAD);
    if (decl) {
        P(decl);
        P("\n");
    }
    if (sc)
        P(".global .align 16 .b8 SG[2048];\n");
    P(SIG "{\n.reg .pred %pp,%p<6>;\n.reg .b16 %h<10>;\n.reg .b32 %t<12>,%i,%n,%nt;\n.reg .b64 "
          "%x<12>,%po,%pa,%pb,%pc,%ad;\n");
    if (sc)
        P(".reg .b64 %sglobal,%sshared;\n.shared .align 16 .b8 SS[2048];\n");
    for (int i = 0; outs[i]; i++) {
        snprintf(b, sizeof b, ".reg .b%d %%%s;\n", width(outs[i]) == 1 ? 16 : width(outs[i]) * 8,
                 on[i]);
        P(b);
    }
    for (int i = 0; ins[i]; i++) {
        snprintf(b, sizeof b, ".reg .b%d %%%s;\n", width(ins[i]) == 1 ? 16 : width(ins[i]) * 8,
                 in_[i]);
        P(b);
    }
    P("ld.param.u64 %po,[po];\ncvta.to.global.u64 %po,%po;\n");
    for (int i = 0; ins[i]; i++) {
        snprintf(b, sizeof b, "ld.param.u64 %%p%s,[p%d];\ncvta.to.global.u64 %%p%s,%%p%s;\n",
                 in_[i], i, in_[i], in_[i]);
        P(b);
    }
    P("ld.param.u32 %n,[pn];\nmov.u32 %i,%tid.x;\nmov.u32 %nt,%ntid.x;\n");
    if (sc)
        P("mov.u64 %sglobal,SG;\nmad.wide.u32 %sglobal,%i,16,%sglobal;\nmov.u64 "
          "%sshared,SS;\nmad.wide.u32 %sshared,%i,16,%sshared;\n");
    P("LOOP:\nsetp.ge.u32 %pp,%i,%n;\n@%pp bra DONE;\n");
    for (int i = 0; ins[i]; i++) {
        snprintf(b, sizeof b, "mad.wide.u32 %%ad,%%i,%d,%%p%s;\nld.global.b%d %%%s,[%%ad];\n",
                 width(ins[i]), in_[i], width(ins[i]) * 8, in_[i]);
        P(b);
    }
    P("{\n");
    P(body);
    P("\n}\n");
    for (int i = 0; outs[i]; i++) {
        snprintf(b, sizeof b, "mad.wide.u32 %%ad,%%i,%d,%%po;\nst.global.b%d [%%ad+%zu],%%%s;\n",
                 width(outs[i]), width(outs[i]) * 8, out_off(outs, i, n), on[i]);
        P(b);
    }
    P("add.u32 %i,%i,%nt;\nbra LOOP;\nDONE:\nret;\n}\n");
}
static int run_elem(const char *outs, const char *ins, const char *body, const char *decl)
{
    int n = inputs(ins);
    emit_elem(outs, ins, body, decl, n);
    std_ok = 0;
    if (!dumpdir)
        for (int i = 0; ins[i]; i++) {
            CUresult r = cuMemcpyHtoD(dI[i], inb[i], (size_t)n * width(ins[i]));
            if (r)
                bail("in", r);
        }
    return go(128, n, out_off(outs, strlen(outs), n)) ? n : 0;
}
static void split(const char *sig, char *o, char *i)
{
    const char *c = strchr(sig, ':');
    memcpy(o, sig, c - sig);
    o[c - sig] = 0;
    strcpy(i, c + 1);
}
// prints n, then for each output its sum, its sum with NaNs as they came where that differs, and
// its first values
static void ED(const char *name, const char *sig, const char *decl, const char *body)
{
    if (!B(name))
        return;
    char outs[20], ins[8];
    split(sig, outs, ins);
    int n = run_elem(outs, ins, body, decl);
    if (!n)
        return;
    OUT("n=%d", n);
    int no = strlen(outs);
    for (int k = 0; outs[k]; k++) {
        int w = width(outs[k]);
        unsigned char *p = outb + out_off(outs, k, n);
        static unsigned char cb[70000 * 8];
        for (int i = 0; i < n; i++) {
            uint64_t c = canon(outs[k], get(p, i, w));
            memcpy(cb + (size_t)i * w, &c, w);
        }
        uint64_t s = fnv(cb, (size_t)n * w), q = fnv(p, (size_t)n * w);
        OUT(" sum=%016llx", (unsigned long long)s);
        if (q != s)
            OUT(" raw=%016llx", (unsigned long long)q);
        OUT(" [");
        for (int i = 0; i < (no == 1 ? 6 : 4) && i < n; i++)
            OUT("%s%0*llx", i ? " " : "", w * 2, (unsigned long long)get(p, i, w));
        OUT("]");
        raw(p, (size_t)n * w);
    }
}
static void E(const char *name, const char *sig, const char *body)
{
    ED(name, sig, NULL, body);
}
static void I(const char *ins, const char *sig)
{
    int k = strlen(strchr(sig, ':') + 1);
    E(ins, sig, T("$1 %d,$2;", ins, k == 1 ? "%a" : k == 2 ? "%a,%b" : "%a,%b,%c"));
}
static const char *sg(char o, char i, int k)
{
    static char b[16][8];
    static int q;
    char *s = b[q = (q + 1) & 15];
    *s++ = o;
    *s++ = ':';
    while (k--)
        *s++ = i;
    *s = 0;
    return b[q];
}

// a hand-written kernel: module declarations, body, block (x,y,z), grid, dynamic shared bytes,
// 32-bit output words (sorted first: the order is not defined)
static void emit_hand(const char *decl, const char *body)
{
    P0();
    P(HEAD);
    if (decl) {
        P(decl);
        P("\n");
    }
    P(SIG "{\n.reg .pred %p<12>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n.reg .b64 %x<40>;\n.reg "
          ".b32 %t,%n,%l;\n.reg .b64 %O,%A,%B,%C,%o;\n"
          "ld.param.u64 %O,[po];\nld.param.u64 %A,[p0];\nld.param.u64 %B,[p1];\nld.param.u64 "
          "%C,[p2];\nld.param.u32 %n,[pn];\ncvta.to.global.u64 %O,%O;\ncvta.to.global.u64 "
          "%A,%A;\ncvta.to.global.u64 %B,%B;\ncvta.to.global.u64 %C,%C;\n"
          "mov.u32 %t,%tid.x;\nmov.u32 %l,%laneid;\nmad.wide.u32 %o,%t,4,%O;\n");
    P(body);
    P("\nret;\n}\n");
}
static int cmpw(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}
static void show_words(unsigned nw)
{
    OUT("sum=%016llx [", (unsigned long long)fnv(outb, nw * 4));
    for (unsigned i = 0; i < nw && i < 40; i++)
        OUT("%s%x", i ? " " : "", ((uint32_t *)outb)[i]);
    OUT("]");
    raw(outb, nw * 4);
}
static void HG(const char *name, const char *decl, const char *body, unsigned gx, unsigned bx,
               unsigned by, unsigned bz, unsigned shm, unsigned nw, int sorted)
{
    if (!B(name))
        return;
    emit_hand(decl, body);
    std_inputs();
    if (!go3(gx, bx, by, bz, shm, bx, nw * 4, 0))
        return;
    if (sorted)
        qsort(outb, nw, 4, cmpw);
    show_words(nw);
}
static void H(const char *name, const char *decl, unsigned bx, unsigned nw, const char *body)
{
    HG(name, decl, body, 1, bx, 1, 1, 0, nw, 0);
}

// template `t` once for each argument $1 with outputs $2 = %d %e ...
static const char *R4(const char *t, const char *const *v, const char *const *o)
{
    static char b[8][16384];
    static int q;
    char *s = b[q = (q + 1) & 7];
    *s = 0;
    for (int i = 0; v[i]; i++) {
        strcat(s, T(t, v[i], T("%$1", on[i]), o ? o[i] : ""));
        strcat(s, "\n");
    }
    return s;
}
static const char *const RND[] = {"rn", "rz", "rm", "rp", NULL}, *const RNDI[] = {"rni", "rzi",
                                                                                  "rmi", "rpi",
                                                                                  NULL};
static const char *osig(const char *c4, const char *ins)
{
    static char b[16][32];
    static int q;
    char *s = b[q = (q + 1) & 15];
    snprintf(s, 32, "%s:%s", c4, ins);
    return s;
}
static const char *IT[] = {"u16", "s16", "u32", "s32", "u64", "s64"};
static const char IC[] = "hhwwll";
#define EACH(v, ...) for (const char **v = (const char *[]){__VA_ARGS__, NULL}; *v; v++)

GROUP(int_add)
{
    S();
    for (int i = 0; i < 6; i++) {
        char c = IC[i], s2[8] = {c, c, ':', c, c, 0};
        E(T("add-sub.$1", IT[i]), s2, T("add.$1 %d,%a,%b;\nsub.$1 %e,%a,%b;", IT[i]));
        E(T("min-max.$1", IT[i]), s2, T("min.$1 %d,%a,%b;\nmax.$1 %e,%a,%b;", IT[i]));
        I(T("sad.$1", IT[i]), sg(c, c, 3));
        if (i & 1) {
            char s1[8] = {c, c, ':', c, 0};
            E(T("neg-abs.$1", IT[i]), s1, T("neg.$1 %d,%a;\nabs.$1 %e,%a;", IT[i]));
        }
    }
    E("add-sub.sat.s32", "ww:ww", "add.sat.s32 %d,%a,%b;\nsub.sat.s32 %e,%a,%b;");
    E("add.x2", "ww:ww", "add.u16x2 %d,%a,%b;\nadd.s16x2 %e,%a,%b;");
    E("min-max.x2", "wwww:ww",
      "min.u16x2 %d,%a,%b;\nmax.u16x2 %e,%a,%b;\nmin.s16x2 %f,%a,%b;\nmax.s16x2 %g,%a,%b;");
    E("min-max.relu", "wwww:ww",
      "min.relu.s32 %d,%a,%b;\nmax.relu.s32 %e,%a,%b;\nmin.relu.s16x2 %f,%a,%b;\nmax.relu.s16x2 "
      "%g,%a,%b;");
}

GROUP(int_carry)
{
    S();
    E("add.cc.u32-addc", "ww:ww", "add.cc.u32 %d,%a,%b;\naddc.u32 %e,%a,%b;");
    E("add.cc.s32-addc", "ww:ww", "add.cc.s32 %d,%a,%b;\naddc.s32 %e,0,0;");
    E("addc.cc-chain", "www:www", "add.cc.u32 %d,%a,%b;\naddc.cc.u32 %e,%b,%c;\naddc.u32 %f,0,0;");
    E("add-4words", "wwww:ww",
      "add.cc.u32 %d,%a,%b;\naddc.cc.u32 %e,%a,%a;\naddc.cc.u32 %f,%b,%b;\naddc.u32 %g,%a,%b;");
    E("add.cc.u64-addc", "ll:ll", "add.cc.u64 %d,%a,%b;\naddc.u64 %e,%a,0;");
    E("addc.cc.s64", "lll:ll", "add.cc.s64 %d,%a,%b;\naddc.cc.s64 %e,%b,%b;\naddc.s64 %f,0,0;");
    E("sub.cc.u32-subc", "ww:www", "sub.cc.u32 %d,%a,%b;\nsubc.u32 %e,%a,%c;");
    E("subc.cc-chain", "www:www", "sub.cc.u32 %d,%a,%b;\nsubc.cc.u32 %e,%b,%c;\nsubc.u32 %f,0,0;");
    E("sub.cc.s32", "ww:ww", "sub.cc.s32 %d,%a,%b;\nsubc.s32 %e,0,0;");
    E("sub.cc.u64-subc", "ll:ll", "sub.cc.u64 %d,%a,%b;\nsubc.u64 %e,%a,0;");
    E("sub-then-addc", "ww:ww", "sub.cc.u32 %d,%a,%b;\naddc.u32 %e,0,0;");
    E("add-then-subc", "ww:ww", "add.cc.u32 %d,%a,%b;\nsubc.u32 %e,0,0;");
    E("mad.lo.cc-madc.hi", "ww:www", "mad.lo.cc.u32 %d,%a,%b,%c;\nmadc.hi.u32 %e,%a,%b,0;");
    E("mad.lo.cc-madc.hi.s32", "ww:www", "mad.lo.cc.s32 %d,%a,%b,%c;\nmadc.hi.s32 %e,%a,%b,0;");
    E("mad.hi.cc.u32", "ww:www", "mad.hi.cc.u32 %d,%a,%b,%c;\naddc.u32 %e,0,0;");
    E("madc.lo.cc.u32", "www:www",
      "add.cc.u32 %d,%a,%b;\nmadc.lo.cc.u32 %e,%a,%b,%c;\naddc.u32 %f,0,0;");
    E("madc.hi.cc.s32", "www:www",
      "add.cc.u32 %d,%a,%b;\nmadc.hi.cc.s32 %e,%a,%b,%c;\naddc.u32 %f,0,0;");
    E("mad.lo.cc.u64", "ll:lll", "mad.lo.cc.u64 %d,%a,%b,%c;\nmadc.hi.u64 %e,%a,%b,0;");
    E("madc.hi.cc.u64", "lll:lll",
      "add.cc.u64 %d,%a,%b;\nmadc.hi.cc.u64 %e,%a,%b,%c;\naddc.u64 %f,0,0;");
    E("mul-128", "ll:ll", "mul.lo.u64 %d,%a,%b;\nmul.hi.u64 %e,%a,%b;");
}

GROUP(int_mul)
{
    S();
    for (int i = 0; i < 6; i++) {
        char c = IC[i];
        char s2[8] = {c, c, ':', c, c, 0}, s3[8] = {c, c, ':', c, c, c, 0};
        E(T("mul.lo-hi.$1", IT[i]), s2, T("mul.lo.$1 %d,%a,%b;\nmul.hi.$1 %e,%a,%b;", IT[i]));
        E(T("mad.lo-hi.$1", IT[i]), s3, T("mad.lo.$1 %d,%a,%b,%c;\nmad.hi.$1 %e,%a,%b,%c;", IT[i]));
    }
    for (int i = 0; i < 4; i++) {
        I(T("mul.wide.$1", IT[i]), i < 2 ? "w:hh" : "l:ww");
        I(T("mad.wide.$1", IT[i]), i < 2 ? "w:hhw" : "l:wwl");
    }
    I("mad.hi.sat.s32", "w:www");
    EACH(t, "u32", "s32")
    {
        E(T("mul24.lo-hi.$1", *t), "ww:ww", T("mul24.lo.$1 %d,%a,%b;\nmul24.hi.$1 %e,%a,%b;", *t));
        E(T("mad24.lo-hi.$1", *t), "ww:www",
          T("mad24.lo.$1 %d,%a,%b,%c;\nmad24.hi.$1 %e,%a,%b,%c;", *t));
    }
    I("mad24.hi.sat.s32", "w:www");
}

GROUP(int_div)
{
    S();
    for (int i = 0; i < 6; i++) {
        const char *t = IT[i], *w = t + 1;
        char c = IC[i], s2[8] = {c, c, ':', c, c, 0}, s0[8] = {c, c, ':', c, '0', 0};
        const char *rg = c == 'h' ? "h0" : c == 'w' ? "t0" : "x0";
        E(T("div-rem.$1", t), s2,
          T("setp.eq.s$1 %p0,%b,0;\nselp.b$1 %b,7,%b,%p0;\ndiv.$2 %d,%a,%b;\nrem.$2 %e,%a,%b;", w,
            t));
        E(T("div-rem.$1-by-zero", t), s0,
          T("cvt.u$1.u32 %$3,%b;\ndiv.$2 %d,%a,%$3;\nrem.$2 %e,%a,%$3;", w, t, rg));
    }
    EACH(k, "3", "7", "-5", "0x80000000", "1000000007")
    E(T("div-rem.32-by-$1", *k), "wwww:w",
      T("div.s32 %d,%a,$1;\nrem.s32 %e,%a,$1;\ndiv.u32 %f,%a,$1;\nrem.u32 %g,%a,$1;", *k));
    EACH(k, "10", "-7")
    E(T("div-rem.64-by-$1", *k), "llll:l",
      T("div.s64 %d,%a,$1;\nrem.s64 %e,%a,$1;\ndiv.u64 %f,%a,$1;\nrem.u64 %g,%a,$1;", *k));
}

GROUP(int_bits)
{
    S();
    E("popc-clz.b32", "ww:w", "popc.b32 %d,%a;\nclz.b32 %e,%a;");
    E("popc-clz.b64", "ww:l", "popc.b64 %d,%a;\nclz.b64 %e,%a;");
    for (int i = 2; i < 6; i++) {
        char s1[8] = {'w', 'w', ':', IC[i], 0};
        E(T("bfind.$1", IT[i]), s1, T("bfind.$1 %d,%a;\nbfind.shiftamt.$1 %e,%a;", IT[i]));
    }
    I("brev.b32", "w:w");
    I("brev.b64", "l:l");
    E("fns.b32", "w:wwm", "and.b32 %b,%b,31;\nfns.b32 %d,%a,%b,%c;");
    E("fns.b32-offset-0", "w:ww", "and.b32 %b,%b,31;\nfns.b32 %d,%a,%b,0;");
    E("fns.b32-const", "ww:w", "fns.b32 %d,%a,0,3;\nfns.b32 %e,%a,31,-2;");
    for (int i = 2; i < 6; i++) {
        char s[8] = {IC[i], ':', IC[i], 'p', 'p', 0};
        I(T("bfe.$1", IT[i]), s);
    }
    E("bfi.b32", "w:wwp", "and.b32 %t0,%b,63;\nbfi.b32 %d,%a,%b,%c,%t0;");
    E("bfi.b32-pos", "w:wpp", "bfi.b32 %d,%a,0x5a5a5a5a,%b,%c;");
    E("bfi.b64-pos", "l:lpp", "bfi.b64 %d,%a,0x5a5a5a5a12345678,%b,%c;");
    E("bfi.b64", "l:llp", "cvt.u32.u64 %t0,%b;\nand.b32 %t0,%t0,127;\nbfi.b64 %d,%a,%b,%c,%t0;");
    EACH(m, "clamp", "wrap")
    {
        E(T("szext.$1", *m), "ww:ws", T("szext.$1.u32 %d,%a,%b;\nszext.$1.s32 %e,%a,%b;", *m));
        I(T("bmsk.$1.b32", *m), "w:ss");
    }
    EACH(a, "u32", "s32") EACH(b, "u32", "s32")
    {
        I(T("dp4a.$1.$2", *a, *b), "w:kkw");
        E(T("dp2a.lo-hi.$1.$2", *a, *b), "ww:kkw",
          T("dp2a.lo.$1.$2 %d,%a,%b,%c;\ndp2a.hi.$1.$2 %e,%a,%b,%c;", *a, *b));
    }
    E("cnot-not.b16", "hh:h", "cnot.b16 %d,%a;\nnot.b16 %e,%a;");
    E("cnot-not.b32", "ww:w", "cnot.b32 %d,%a;\nnot.b32 %e,%a;");
    E("cnot-not.b64", "ll:l", "cnot.b64 %d,%a;\nnot.b64 %e,%a;");
    E("and-or-xor.b16", "hhh:hh", "and.b16 %d,%a,%b;\nor.b16 %e,%a,%b;\nxor.b16 %f,%a,%b;");
    E("and-or-xor.b32", "www:ww", "and.b32 %d,%a,%b;\nor.b32 %e,%a,%b;\nxor.b32 %f,%a,%b;");
    E("and-or-xor.b64", "lll:ll", "and.b64 %d,%a,%b;\nor.b64 %e,%a,%b;\nxor.b64 %f,%a,%b;");
    E("and-or-xor-not.pred", "wwww:ww",
      "setp.lt.s32 %p0,%a,%b;\nsetp.lo.u32 %p1,%a,%b;\nand.pred %p2,%p0,%p1;\nselp.b32 "
      "%d,1,0,%p2;\nor.pred %p2,%p0,%p1;\nselp.b32 %e,1,0,%p2;\nxor.pred %p2,%p0,%p1;\nselp.b32 "
      "%f,1,0,%p2;\nnot.pred %p2,%p0;\nselp.b32 %g,1,0,%p2;");
}

GROUP(int_shift)
{
    S();
    EACH(w, "16", "32", "64")
    {
        const char *g = **w == '1' ? "hhhh:hs" : **w == '3' ? "wwww:ws" : "llll:ls";
        E(T("shl-shr.$1", *w), g,
          T("shl.b$1 %d,%a,%b;\nshr.b$1 %e,%a,%b;\nshr.u$1 %f,%a,%b;\nshr.s$1 %g,%a,%b;", *w));
    }
    E("shf", "wwww:wws",
      "shf.l.clamp.b32 %d,%a,%b,%c;\nshf.r.clamp.b32 %e,%a,%b,%c;\nshf.l.wrap.b32 "
      "%f,%a,%b,%c;\nshf.r.wrap.b32 %g,%a,%b,%c;");
    EACH(k, "0", "1", "31", "32", "255")
    E(T("shifts-by-$1", *k), "wwww:ww",
      T("shl.b32 %d,%a,$1;\nshr.u32 %e,%a,$1;\nshr.s32 %f,%a,$1;\nshf.l.wrap.b32 %g,%a,%b,$1;",
        *k));
    EACH(k, "0", "32", "63", "64")
    E(T("shifts64-by-$1", *k), "lll:l",
      T("shl.b64 %d,%a,$1;\nshr.u64 %e,%a,$1;\nshr.s64 %f,%a,$1;", *k));
    I("prmt.b32", "w:kkq");
    E("prmt-modes", "wwwwww:kkw",
      "prmt.b32.f4e %d,%a,%b,%c;\nprmt.b32.b4e %e,%a,%b,%c;\nprmt.b32.rc8 "
      "%f,%a,%b,%c;\nprmt.b32.ecl %g,%a,%b,%c;\nprmt.b32.ecr %o4,%a,%b,%c;\nprmt.b32.rc16 "
      "%o5,%a,%b,%c;");
    E("prmt-constants", "wwwwww:kk",
      "prmt.b32 %d,%a,%b,0x0123;\nprmt.b32 %e,%a,%b,0x7654;\nprmt.b32 %f,%a,%b,0xba98;\nprmt.b32 "
      "%g,%a,%b,0xfedc;\nprmt.b32 %o4,%a,%b,0x8808;\nprmt.b32 %o5,%a,%b,0x5410;");
    static const char *const lut[3][5] = {{"0x00", "0xff", "0x80", "0xfe", 0},
                                          {"0x96", "0xe8", "0xca", "0x3c", 0},
                                          {"0x1b", "0x6a", "0xaa", "0x7f", 0}};
    for (int i = 0; i < 3; i++)
        E(T("lop3-$1-$2-$3-$4", lut[i][0], lut[i][1], lut[i][2], lut[i][3]), "wwww:www",
          R4("lop3.b32 $2,%a,%b,%c,$1;", lut[i], 0));
    EACH(o, "or", "and")
    E(T("lop3.$1", *o), "ww:www",
      T("setp.lt.s32 %p1,%a,0;\nlop3.$1.b32 %d|%p0,%a,%b,%c,0x96,%p1;\nselp.b32 %e,1,0,%p0;", *o));
    E("lop3.or-sink", "w:www",
      "setp.lt.s32 %p1,%a,0;\nlop3.or.b32 _|%p0,%a,%b,%c,0x80,%p1;\nselp.b32 %d,1,0,%p0;");
}

GROUP(video)
{
    S();
    EACH(o, "vadd", "vsub", "vabsdiff", "vmin", "vmax")
    {
        E(T("$1-types-and-sat", *o), "wwwwwwww:kk",
          T("$1.u32.u32.u32 %d,%a,%b;\n$1.s32.s32.s32 %e,%a,%b;\n$1.s32.u32.s32 "
            "%f,%a,%b;\n$1.u32.s32.u32 %g,%a,%b;\n$1.u32.u32.u32.sat "
            "%o4,%a,%b;\n$1.s32.s32.s32.sat %o5,%a,%b;\n$1.s32.u32.s32.sat "
            "%o6,%a,%b;\n$1.u32.s32.u32.sat %o7,%a,%b;",
            *o));
        E(T("$1-selectors", *o), "wwww:kk",
          T("$1.s32.s32.u32 %d,%a.b0,%b.h1;\n$1.s32.s32.u32 %e,%a.b3,%b.h0;\n$1.s32.s32.s32 "
            "%f,%a.h0,%b.b1;\n$1.u32.u32.s32 %g,%a.h1,%b.b2;",
            *o));
        E(T("$1-second-op", *o), "www:kkk",
          T("$1.s32.s32.s32.add %d,%a.h1,%b.b2,%c;\n$1.s32.s32.s32.min "
            "%e,%a.h1,%b.b2,%c;\n$1.s32.s32.s32.max %f,%a.h1,%b.b2,%c;",
            *o));
        E(T("$1-merge", *o), "www:kkk",
          T("$1.s32.s32.s32 %d.b1,%a.h0,%b.h1,%c;\n$1.s32.s32.s32.sat "
            "%e.h1,%a,%b.h1,%c;\n$1.u32.u32.u32.sat %f.b3,%a,%b,%c;",
            *o));
    }
    EACH(o, "vshl", "vshr")
    E(T("$1", *o), "wwww:ks",
      T("$1.u32.u32.u32.clamp %d,%a,%b;\n$1.u32.u32.u32.wrap %e,%a,%b;\n$1.s32.s32.u32.clamp "
        "%f,%a,%b;\n$1.s32.s32.u32.wrap %g,%a,%b;",
        *o));
    E("vshr.sat-acc", "w:ksk", "vshr.s32.s32.u32.sat.wrap.add %d,%a.h1,%b,%c;");
    EACH(s, "", ".shr7", ".shr15", ".sat", ".sat.shr7")
    E(T("vmad$1", *s), "ww:kkk",
      T("vmad.s32.s32.s32$1 %d,%a.h0,%b.h1,%c;\nvmad.u32.u32.u32$1 %e,%a.h1,%b.b0,%c;", *s));
    E("vmad.po", "w:kkk", "vmad.u32.u32.u32.po %d,%a,%b,%c;");
    EACH(c, "eq", "ne", "lt", "le", "gt", "ge")
    E(T("vset.$1", *c), "www:kkk",
      T("vset.s32.u32.$1 %d,%a,%b.h0;\nvset2.s32.s32.$1 %e,%a,%b,%c;\nvset4.u32.u32.$1 "
        "%f,%a,%b,%c;",
        *c));
    EACH(o, "vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax") EACH(w, "2", "4")
    {
        int v = !strcmp(*o, "vavrg");
        E(T("$1$2", *o, *w), v ? "wwww:kkk" : "wwwwww:kkk",
          T(v ? "$1$2.u32.u32.u32 %d,%a,%b,%c;\n$1$2.s32.s32.s32 "
                "%e,%a,%b,%c;\n$1$2.u32.u32.u32.add %f,%a,%b,%c;\n$1$2.s32.s32.s32.add %g,%a,%b,%c;"
              : "$1$2.u32.u32.u32 %d,%a,%b,%c;\n$1$2.s32.s32.s32 "
                "%e,%a,%b,%c;\n$1$2.u32.u32.u32.add %f,%a,%b,%c;\n$1$2.s32.s32.s32.add "
                "%g,%a,%b,%c;\n$1$2.u32.u32.u32.sat %o4,%a,%b,%c;\n$1$2.s32.s32.s32.sat "
                "%o5,%a,%b,%c;",
            *o, *w));
    }
    E("vadd2-mask-select", "w:kkk", "vadd2.u32.u32.u32 %d.h0,%a.h31,%b.h12,%c;");
    E("vadd4-mask-select", "w:kkk", "vadd4.u32.u32.u32 %d.b20,%a.b7531,%b.b0123,%c;");
}
GROUP(f32_arith)
{
    S();
    EACH(z, "", ".ftz")
    {
        EACH(s, "", ".sat")
        {
            EACH(o, "add", "sub", "mul")
            E(T("$1$2$3.f32", *o, *z, *s), "FFFF:FF",
              R4(T("$1.$$1$2$3.f32 $$2,%a,%b;", *o, *z, *s), RND, 0));
            E(T("fma$1$2.f32", *z, *s), "FFFF:FFF",
              R4(T("fma.$$1$1$2.f32 $$2,%a,%b,%c;", *z, *s), RND, 0));
        }
        E(T("div$1.f32", *z), "FFFF:FF", R4(T("div.$$1$1.f32 $$2,%a,%b;", *z), RND, 0));
        EACH(o, "rcp", "sqrt")
        E(T("$1$2.f32", *o, *z), "FFFF:F", R4(T("$1.$$1$2.f32 $$2,%a;", *o, *z), RND, 0));
        I(T("neg$1.f32", *z), "F:F");
        I(T("abs$1.f32", *z), "F:F");
        E(T("mad$1.f32", *z), "FFFF:FFF", R4(T("mad.$$1$1.f32 $$2,%a,%b,%c;", *z), RND, 0));
    }
    I("copysign.f32", "F:FF");
    E("fma-chain", "F:FFF",
      "fma.rn.f32 %d,%a,%b,%c;\nfma.rn.f32 %d,%d,%b,%a;\nadd.rn.f32 %d,%d,%c;");
    E("sub-self", "F:F", "sub.rn.f32 %d,%a,%a;");
    E("mul-zero", "F:F", "mul.rn.f32 %d,%a,0f00000000;");
    E("add-negzero", "F:F", "add.rn.f32 %d,%a,0f80000000;");
    E("const-fold", "FF:F",
      "mov.f32 %d,0f3dcccccd;\nmul.rn.f32 %d,%d,%d;\nadd.rn.f32 %d,%d,%a;\nmul.rp.f32 "
      "%e,%a,0f40490fdb;");
    E("div-const3", "F:F", "div.rn.f32 %d,%a,0f40400000;");
    E("rcp-of-div", "F:FF", "div.rn.f32 %d,%a,%b;\nrcp.rn.f32 %d,%d;");
    E("mul-then-add-not-fused", "F:FFF", "mul.rn.f32 %d,%a,%b;\nadd.rn.f32 %d,%d,%c;");
    static const char *const tp[] = {"finite", "infinite",  "number", "notanumber",
                                     "normal", "subnormal", 0};
    E("testp.f32", "wwwwww:F", R4("testp.$1.f32 %p0,%a;\nselp.b32 $2,1,0,%p0;", tp, 0));
    E("testp.f64", "wwwwww:D", R4("testp.$1.f64 %p0,%a;\nselp.b32 $2,1,0,%p0;", tp, 0));
}

GROUP(f64_arith)
{
    S();
    EACH(o, "add", "sub", "mul", "div")
    E(T("$1.f64", *o), "DDDD:DD", R4(T("$1.$$1.f64 $$2,%a,%b;", *o), RND, 0));
    EACH(o, "fma", "mad")
    E(T("$1.f64", *o), "DDDD:DDD", R4(T("$1.$$1.f64 $$2,%a,%b,%c;", *o), RND, 0));
    EACH(o, "rcp", "sqrt") E(T("$1.f64", *o), "DDDD:D", R4(T("$1.$$1.f64 $$2,%a;", *o), RND, 0));
    I("neg.f64", "D:D");
    I("abs.f64", "D:D");
    I("copysign.f64", "D:DD");
    I("min.f64", "D:DD");
    I("max.f64", "D:DD");
    E("sub-self", "D:D", "sub.rn.f64 %d,%a,%a;");
    E("div-const10", "D:D", "div.rn.f64 %d,%a,0d4024000000000000;");
}

GROUP(minmax)
{
    S();
    EACH(m, "", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".ftz.xorsign.abs", ".NaN.xorsign.abs",
         ".ftz.NaN.xorsign.abs")
    {
        E(T("min-max$1.f32", *m), "FF:FF", T("min$1.f32 %d,%a,%b;\nmax$1.f32 %e,%a,%b;", *m));
        E(T("min-max$1.f16", *m), "HH:HH", T("min$1.f16 %d,%a,%b;\nmax$1.f16 %e,%a,%b;", *m));
        E(T("min-max$1.f16x2", *m), "PP:PP", T("min$1.f16x2 %d,%a,%b;\nmax$1.f16x2 %e,%a,%b;", *m));
        if (!strstr(*m, "ftz")) {
            E(T("min-max$1.bf16", *m), "BB:BB",
              T("min$1.bf16 %d,%a,%b;\nmax$1.bf16 %e,%a,%b;", *m));
            E(T("min-max$1.bf16x2", *m), "QQ:QQ",
              T("min$1.bf16x2 %d,%a,%b;\nmax$1.bf16x2 %e,%a,%b;", *m));
        }
    }
}

GROUP(half)
{
    S();
    EACH(o, "add", "sub", "mul") EACH(z, "", ".ftz")
    {
        E(T("$1.rn$2.f16", *o, *z), "HH:HH",
          T("$1.rn$2.f16 %d,%a,%b;\n$1.rn$2.sat.f16 %e,%a,%b;", *o, *z));
        E(T("$1.rn$2.f16x2", *o, *z), "PP:PP",
          T("$1.rn$2.f16x2 %d,%a,%b;\n$1.rn$2.sat.f16x2 %e,%a,%b;", *o, *z));
    }
    EACH(z, "", ".ftz")
    {
        E(T("fma.rn$1.f16", *z), "HHH:HHH",
          T("fma.rn$1.f16 %d,%a,%b,%c;\nfma.rn$1.sat.f16 %e,%a,%b,%c;\nfma.rn$1.relu.f16 "
            "%f,%a,%b,%c;",
            *z));
        E(T("fma.rn$1.f16x2", *z), "PPP:PPP",
          T("fma.rn$1.f16x2 %d,%a,%b,%c;\nfma.rn$1.sat.f16x2 %e,%a,%b,%c;\nfma.rn$1.relu.f16x2 "
            "%f,%a,%b,%c;",
            *z));
    }
    E("add-sub-mul.rn.bf16", "BBB:BB",
      "add.rn.bf16 %d,%a,%b;\nsub.rn.bf16 %e,%a,%b;\nmul.rn.bf16 %f,%a,%b;");
    E("add-sub-mul.rn.bf16x2", "QQQ:QQ",
      "add.rn.bf16x2 %d,%a,%b;\nsub.rn.bf16x2 %e,%a,%b;\nmul.rn.bf16x2 %f,%a,%b;");
    E("fma.rn.bf16", "BB:BBB", "fma.rn.bf16 %d,%a,%b,%c;\nfma.rn.relu.bf16 %e,%a,%b,%c;");
    E("fma.rn.bf16x2", "QQ:QQQ", "fma.rn.bf16x2 %d,%a,%b,%c;\nfma.rn.relu.bf16x2 %e,%a,%b,%c;");
    EACH(t, "f16", "f16x2", "bf16", "bf16x2")
    {
        char c = !strcmp(*t, "f16")     ? 'H'
                 : !strcmp(*t, "f16x2") ? 'P'
                 : !strcmp(*t, "bf16")  ? 'B'
                                        : 'Q',
             g[8] = {c, c, ':', c, c, c, 0};
        E(T("fma.rn.oob.$1", *t), g,
          T("fma.rn.oob.$1 %d,%a,%b,%c;\nfma.rn.oob.relu.$1 %e,%a,%b,%c;", *t));
    }
    E("neg-abs.f16", "HHHH:H",
      "neg.f16 %d,%a;\nneg.ftz.f16 %e,%a;\nabs.f16 %f,%a;\nabs.ftz.f16 %g,%a;");
    E("neg-abs.f16x2", "PPPP:P",
      "neg.f16x2 %d,%a;\nneg.ftz.f16x2 %e,%a;\nabs.f16x2 %f,%a;\nabs.ftz.f16x2 %g,%a;");
    E("neg-abs.bf16", "BB:B", "neg.bf16 %d,%a;\nabs.bf16 %e,%a;");
    E("neg-abs.bf16x2", "QQ:Q", "neg.bf16x2 %d,%a;\nabs.bf16x2 %e,%a;");
    E("add-noround-f16", "H:HH", "add.f16 %d,%a,%b;");
    E("f32-fma-from-f16", "F:HHF",
      "cvt.f32.f16 %t0,%a;\ncvt.f32.f16 %t1,%b;\nfma.rn.f32 %d,%t0,%t1,%c;");
    E("bf16-mul-add-f32", "F:BBF",
      "cvt.f32.bf16 %t0,%a;\ncvt.f32.bf16 %t1,%b;\nmul.rn.f32 %t0,%t0,%t1;\nadd.rn.f32 %d,%t0,%c;");
}

// every comparison of one type as one bit each of a word; the counts of set bits follow
static void CMP(const char *name, const char *ty, const char *in2, const char *const *ops, int x2)
{
    if (!B(name))
        return;
    static char b[8192];
    strcpy(b, "mov.b32 %d,0;\n");
    int k = 0;
    for (; ops[k]; k++)
        strcat(b,
               x2 ? T("setp.$1.$2 %p0|%p1,%a,%b;\n@%p0 or.b32 %d,%d,$3;\n@%p1 or.b32 %d,%d,$4;\n",
                      ops[k], ty, X(1u << k), X(1u << (16 + k)))
                  : T("setp.$1.$2 %p0,%a,%b;\n@%p0 or.b32 %d,%d,$3;\n", ops[k], ty, X(1u << k)));
    int n = run_elem("w", in2, b, NULL);
    if (!n)
        return;
    OUT("n=%d sum=%016llx counts", n, (unsigned long long)fnv(outb, n * 4));
    for (int j = 0; j < (x2 ? 32 : k); j++) {
        if (j % 16 >= k)
            continue;
        int c = 0;
        for (int i = 0; i < n; i++)
            c += get(outb, i, 4) >> j & 1;
        OUT(" %s%s=%d", ops[j % 16], j >= 16 ? "'" : "", c);
    }
    raw(outb, n * 4);
}
static const char *const SC[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL},
                         *const UC[] = {"eq", "ne", "lt", "le", "gt", "ge",
                                        "lo", "ls", "hi", "hs", NULL},
                         *const BC[] = {"eq", "ne", NULL}, *const FC[] = {"eq",  "ne",  "lt",
                                                                          "le",  "gt",  "ge",
                                                                          "equ", "neu", "ltu",
                                                                          "leu", "gtu", "geu",
                                                                          "num", "nan", NULL};
GROUP(compare)
{
    S();
    for (int i = 0; i < 6; i++)
        CMP(T("setp.$1", IT[i]), IT[i], sg('w', IC[i], 2) + 2, i & 1 ? SC : UC, 0);
    CMP("setp.b16", "b16", "hh", BC, 0);
    CMP("setp.b32", "b32", "ww", BC, 0);
    CMP("setp.b64", "b64", "ll", BC, 0);
    static const char *fz[][2] = {{"f32", "FF"},  {"f64", "DD"},   {"f16", "HH"},
                                  {"bf16", "BB"}, {"f16x2", "PP"}, {"bf16x2", "QQ"}};
    for (int i = 0; i < 6; i++) {
        CMP(T("setp.$1", fz[i][0]), fz[i][0], fz[i][1], FC, i > 3);
    }
    static const char *const FZ[] = {"eq.ftz",  "ne.ftz",  "lt.ftz",  "le.ftz",  "gt.ftz",
                                     "ge.ftz",  "equ.ftz", "neu.ftz", "ltu.ftz", "leu.ftz",
                                     "gtu.ftz", "geu.ftz", "num.ftz", "nan.ftz", NULL};
    CMP("setp.ftz.f32", "f32", "FF", FZ, 0);
    CMP("setp.ftz.f16", "f16", "HH", FZ, 0);
    CMP("setp.ftz.f16x2", "f16x2", "PP", FZ, 1);
    E("setp-immediate", "wwww:w",
      "setp.lt.s32 %p0,%a,-5;\nselp.b32 %d,1,0,%p0;\nsetp.hi.u32 %p0,%a,0x7fffffff;\nselp.b32 "
      "%e,1,0,%p0;\nsetp.ge.f32 %p0,%a,0f3f800000;\nselp.b32 %f,1,0,%p0;\nsetp.ne.b32 "
      "%p0,%a,3;\nselp.b32 %g,1,0,%p0;");
    EACH(b, "and", "or", "xor")
    {
        E(T("setp.lt.$1.s32-two", *b), "ww:www",
          T("setp.ne.s32 %p2,%c,0;\nsetp.lt.$1.s32 %p0|%p1,%a,%b,%p2;\nselp.b32 "
            "%d,1,0,%p0;\nselp.b32 %e,1,0,%p1;",
            *b));
        E(T("setp.gtu.$1.f32-not", *b), "ww:FFw",
          T("setp.gt.s32 %p2,%c,0;\nsetp.gtu.$1.f32 %p0|%p1,%a,%b,!%p2;\nselp.b32 "
            "%d,1,0,%p0;\nselp.b32 %e,1,0,%p1;",
            *b));
        E(T("setp.le.$1.f64", *b), "ww:DDw",
          T("setp.gt.s32 %p2,%c,0;\nsetp.le.$1.f64 %p0|%p1,%a,%b,%p2;\nselp.b32 "
            "%d,1,0,%p0;\nselp.b32 %e,1,0,%p1;",
            *b));
    }
    E("setp-sink", "w:ww", "setp.lt.s32 _|%p1,%a,%b;\nselp.b32 %d,1,0,%p1;");
}

GROUP(select)
{
    S();
    EACH(c, "lt", "geu", "nan")
    {
        E(T("set.$1.X.f32", *c), "wwFF:FF",
          T("set.$1.u32.f32 %d,%a,%b;\nset.$1.s32.f32 %e,%a,%b;\nset.$1.f32.f32 "
            "%f,%a,%b;\nset.$1.ftz.f32.f32 %g,%a,%b;",
            *c));
        E(T("set.$1.X.f64", *c), "wwF:DD",
          T("set.$1.u32.f64 %d,%a,%b;\nset.$1.s32.f64 %e,%a,%b;\nset.$1.f32.f64 %f,%a,%b;", *c));
        E(T("set.$1.X.f16", *c), "Hhw:HH",
          T("set.$1.f16.f16 %d,%a,%b;\nset.$1.u16.f16 %e,%a,%b;\nset.$1.ftz.u32.f16 %f,%a,%b;",
            *c));
        I(T("set.$1.f16x2.f16x2", *c), "P:PP");
        I(T("set.$1.bf16.bf16", *c), "B:BB");
        I(T("set.$1.bf16x2.bf16x2", *c), "Q:QQ");
    }
    for (int i = 0; i < 6; i++) {
        char s[8] = {'w', 'w', 'F', ':', IC[i], IC[i], 0};
        E(T("set.X.$1", IT[i]), s,
          T("set.ge.u32.$1 %d,%a,%b;\nset.lt.s32.$1 %e,%a,%b;\nset.eq.f32.$1 %f,%a,%b;", IT[i]));
    }
    E("set.lt.and.u32.s32", "w:www", "setp.gt.s32 %p0,%c,0;\nset.lt.and.u32.s32 %d,%a,%b,%p0;");
    E("set.lt.or.f32.f32-not", "F:FFw", "setp.gt.s32 %p0,%c,0;\nset.lt.or.f32.f32 %d,%a,%b,!%p0;");
    E("set.eq.xor.s32.b32", "w:www", "setp.gt.s32 %p0,%c,0;\nset.eq.xor.s32.b32 %d,%a,%b,%p0;");
    E("selp-16", "hhh:hhw",
      "setp.gt.s32 %p0,%c,0;\nselp.b16 %d,%a,%b,%p0;\nselp.u16 %e,%b,%a,%p0;\nselp.s16 "
      "%f,%a,-1,%p0;");
    E("selp-32", "wwww:www",
      "setp.gt.s32 %p0,%c,0;\nselp.b32 %d,%a,%b,%p0;\nselp.u32 %e,%b,%a,%p0;\nselp.s32 "
      "%f,-7,%a,%p0;\nselp.f32 %g,%a,0f3f800000,%p0;");
    E("selp-64", "llll:llw",
      "setp.gt.s32 %p0,%c,0;\nselp.b64 %d,%a,%b,%p0;\nselp.u64 %e,%b,%a,%p0;\nselp.s64 "
      "%f,-7,%a,%p0;\nselp.f64 %g,%a,%b,%p0;");
    static const char *const c16[] = {"b16", "u16", "s16", 0},
                             *const c32[] = {"b32", "u32", "s32", "f32", 0},
                             *const c64[] = {"b64", "u64", "s64", "f64", 0};
    E("slct.16.s32", "hhh:hhw", R4("slct.$1.s32 $2,%a,%b,%c;", c16, 0));
    E("slct.16.f32", "hhh:hhF", R4("slct.$1.f32 $2,%a,%b,%c;", c16, 0));
    E("slct.32.s32", "wwww:www", R4("slct.$1.s32 $2,%a,%b,%c;", c32, 0));
    E("slct.32.f32", "wwww:wwF", R4("slct.$1.f32 $2,%a,%b,%c;", c32, 0));
    E("slct.ftz.32.f32", "wwww:wwF", R4("slct.ftz.$1.f32 $2,%a,%b,%c;", c32, 0));
    E("slct.64.s32", "llll:llw", R4("slct.$1.s32 $2,%a,%b,%c;", c64, 0));
    E("slct.64.f32", "llll:llF", R4("slct.$1.f32 $2,%a,%b,%c;", c64, 0));
    E("predicated-exec", "w:ww",
      "mov.b32 %d,0;\nsetp.lt.s32 %p0,%a,%b;\n@%p0 add.s32 %d,%a,%b;\n@!%p0 sub.s32 %d,%a,%b;");
    E("predicated-setp", "w:ww",
      "setp.lt.s32 %p0,%a,%b;\nsetp.eq.b32 %p1,%a,%a;\n@%p0 setp.gt.s32 %p1,%a,0;\nselp.b32 "
      "%d,1,0,%p1;");
    E("predicated-mov-chain", "w:ww",
      "mov.b32 %d,%b;\nsetp.gt.s32 %p0,%a,0;\n@%p0 mov.b32 %d,%a;\nsetp.gt.s32 %p1,%b,%d;\n@!%p1 "
      "xor.b32 %d,%d,-1;");
}

static const char *const CT[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", NULL};
static const char CC[] = "bbhhwwll";
GROUP(cvt_int)
{
    S();
    for (int s = 0; s < 8; s++) {
        E(T("cvt.X.$1", CT[s]), osig("bbhhwwll", C1(CC[s])),
          R4(T("cvt.$$1.$1 $$2,%a;", CT[s]), CT, 0));
        const char *ok[9];
        char os[9];
        int k = 0;
        for (int d = 0; d < 8; d++) {
            int ws = width(CC[s]), wd = width(CC[d]), ss = s & 1, ds = d & 1;
            if (s != d && !(ds == ss && wd >= ws) && !(ds && !ss && wd > ws))
                ok[k] = CT[d], os[k++] = CC[d];
        }
        ok[k] = 0;
        os[k] = 0;
        if (k)
            E(T("cvt.sat.X.$1", CT[s]), osig(os, C1(CC[s])),
              R4(T("cvt.sat.$$1.$1 $$2,%a;", CT[s]), ok, 0));
    }
    EACH(t, "u8", "s8", "u16", "s16")
    E(T("cvt-wide-registers-$1", *t), "wwl:w",
      T("cvt.$1.u32 %d,%a;\ncvt.u32.$1 %e,%a;\ncvt.u64.u32 %x0,%a;\nshl.b64 %x0,%x0,5;\ncvt.s64.$1 "
        "%f,%x0;",
        *t));
    EACH(t, "u8", "s8")
    E(T("cvt.pack.sat.$1.s32.b32", *t), "w:www", T("cvt.pack.sat.$1.s32.b32 %d,%a,%b,%c;", *t));
    EACH(t, "u16", "s16")
    E(T("cvt.pack.sat.$1.s32", *t), "w:ww", T("cvt.pack.sat.$1.s32 %d,%a,%b;", *t));
    EACH(t, "u4", "s4", "u2", "s2")
    E(T("cvt.pack.sat.$1.s32.b32", *t), "w:mmw", T("cvt.pack.sat.$1.s32.b32 %d,%a,%b,%c;", *t));
}

GROUP(cvt_float)
{
    S();
    static const struct {
        const char *t;
        char c;
        const char *in;
    } f[] = {{"f32", 'F', "C"}, {"f64", 'D', "G"}, {"f16", 'H', "X"}, {"bf16", 'B', "X"}};
    for (int s = 0; s < 4; s++)
        EACH(r, "rni", "rzi", "rmi", "rpi")
    E(T("cvt.$2.X.$1", f[s].t, *r), osig(s == 3 ? "hhwwll" : "hhhhwwll", f[s].in),
      R4(T("cvt.$2.$$1.$1 $$2,%a;", f[s].t, *r), s == 3 ? CT + 2 : CT, 0));
    EACH(r, "rni", "rzi", "rmi", "rpi")
    E(T("cvt.$1.ftz.X.f32", *r), "hhhhwwll:C", R4(T("cvt.$1.ftz.$$1.f32 $$2,%a;", *r), CT, 0));
    for (int s = 0; s < 8; s++) {
        char g[20] = "", body[4000] = "";
        int k = 0;
        for (int d = 0; d < (s < 2 ? 3 : 4); d++)
            for (int r = 0; r < 4; r++) {
                g[k] = f[d].c;
                strcat(body, T("cvt.$1.$2.$3 %$4,%a;\n", RND[r], f[d].t, CT[s], on[k]));
                k++;
            }
        E(T("cvt.rX.floats.$1", CT[s]), osig(g, C1(CC[s])), body);
    }
    EACH(z, "", ".ftz") EACH(s, "", ".sat")
    {
        E(T("cvt.rX$1$2.f32.f64", *z, *s), "FFFF:G",
          R4(T("cvt.$$1$1$2.f32.f64 $$2,%a;", *z, *s), RND, 0));
        E(T("cvt.rXi$1$2.f32.f32", *z, *s), "FFFF:C",
          R4(T("cvt.$$1$1$2.f32.f32 $$2,%a;", *z, *s), RNDI, 0));
        E(T("cvt$1$2.X.f32", *z, *s), "DF:C",
          T("cvt$1$2.f64.f32 %d,%a;\ncvt$1$2.f32.f32 %e,%a;", *z, *s));
        E(T("cvt$1$2.f32.f16", *z, *s), "F:X", T("cvt$1$2.f32.f16 %d,%a;", *z, *s));
    }
    EACH(s, "", ".sat")
    {
        E(T("cvt$1.f64.f64", *s), "D:G", T("cvt$1.f64.f64 %d,%a;", *s));
        E(T("cvt.rXi$1.f64.f64", *s), "DDDD:G", R4(T("cvt.$$1$1.f64.f64 $$2,%a;", *s), RNDI, 0));
        E(T("cvt.rXi$1.f16.f16", *s), "HHHH:X", R4(T("cvt.$$1$1.f16.f16 $$2,%a;", *s), RNDI, 0));
        E(T("cvt$1.f64.f16", *s), "D:X", T("cvt$1.f64.f16 %d,%a;", *s));
    }
    E("cvt.sat.f16.f16", "H:X", "cvt.sat.f16.f16 %d,%a;");
    EACH(s, "", ".ftz", ".sat")
    E(T("cvt.rX$1.f16.f32", *s), "HHHH:C", R4(T("cvt.$$1$1.f16.f32 $$2,%a;", *s), RND, 0));
    E("cvt.rX.f16.f64", "HHHH:G", R4("cvt.$1.f16.f64 $2,%a;", RND, 0));
    E("cvt.rX.bf16.f64", "BBBB:G", R4("cvt.$1.bf16.f64 $2,%a;", RND, 0));
    E("cvt.rX.bf16.f32", "BBBB:C", R4("cvt.$1.bf16.f32 $2,%a;", RND, 0));
    E("cvt.X.bf16", "FD:X", "cvt.f32.bf16 %d,%a;\ncvt.f64.bf16 %e,%a;");
    E("cvt.rX.bf16.f16", "BBBB:X", R4("cvt.$1.bf16.f16 $2,%a;", RND, 0));
    E("cvt.rX.f16.bf16", "HHHH:X", R4("cvt.$1.f16.bf16 $2,%a;", RND, 0));
    E("cvt.rXi.bf16.bf16", "BBBB:X", R4("cvt.$1.bf16.bf16 $2,%a;", RNDI, 0));
    EACH(r, "rn", "rz")
    {
        E(T("cvt.$1.f16.f32-modes", *r), "HHHH:C",
          T("cvt.$1.f16.f32 %d,%a;\ncvt.$1.relu.f16.f32 %e,%a;\ncvt.$1.satfinite.f16.f32 "
            "%f,%a;\ncvt.$1.relu.satfinite.f16.f32 %g,%a;",
            *r));
        E(T("cvt.$1.bf16.f32-modes", *r), "BBBB:C",
          T("cvt.$1.bf16.f32 %d,%a;\ncvt.$1.relu.bf16.f32 %e,%a;\ncvt.$1.satfinite.bf16.f32 "
            "%f,%a;\ncvt.$1.relu.satfinite.bf16.f32 %g,%a;",
            *r));
        E(T("cvt.$1.f16x2.f32", *r), "PPPP:FF",
          T("cvt.$1.f16x2.f32 %d,%a,%b;\ncvt.$1.relu.f16x2.f32 "
            "%e,%a,%b;\ncvt.$1.satfinite.f16x2.f32 %f,%a,%b;\ncvt.$1.relu.satfinite.f16x2.f32 "
            "%g,%a,%b;",
            *r));
        E(T("cvt.$1.bf16x2.f32", *r), "QQQQ:FF",
          T("cvt.$1.bf16x2.f32 %d,%a,%b;\ncvt.$1.relu.bf16x2.f32 "
            "%e,%a,%b;\ncvt.$1.satfinite.bf16x2.f32 %f,%a,%b;\ncvt.$1.relu.satfinite.bf16x2.f32 "
            "%g,%a,%b;",
            *r));
    }
    E("cvt.tf32.f32", "wwwww:C",
      "cvt.rna.tf32.f32 %d,%a;\ncvt.rn.tf32.f32 %e,%a;\ncvt.rz.tf32.f32 "
      "%f,%a;\ncvt.rn.relu.tf32.f32 %g,%a;\ncvt.rz.relu.tf32.f32 %o4,%a;");
    I("cvt.rna.satfinite.tf32.f32", "w:C");
    EACH(t, "e4m3x2", "e5m2x2")
    {
        E(T("cvt.$1.f32", *t), "hh:CC",
          T("cvt.rn.satfinite.$1.f32 %d,%a,%b;\ncvt.rn.satfinite.relu.$1.f32 %e,%a,%b;", *t));
        E(T("cvt.$1.f16x2", *t), "hh:P",
          T("cvt.rn.satfinite.$1.f16x2 %d,%a;\ncvt.rn.satfinite.relu.$1.f16x2 %e,%a;", *t));
        E(T("cvt.f16x2.$1", *t), "PP:X",
          T("cvt.rn.f16x2.$1 %d,%a;\ncvt.rn.relu.f16x2.$1 %e,%a;", *t));
        E(T("cvt.$1.f32-edges", *t), "h:C", T("cvt.rn.satfinite.$1.f32 %d,%a,%a;", *t));
        E(T("cvt.$1.f16x2-all", *t), "h:X",
          T("mov.b32 %t0,{%a,%a};\ncvt.rn.satfinite.$1.f16x2 %d,%t0;", *t));
    }
}

// approximations: how many of n results lie within the documented error of the double reference,
// then results at special inputs
static double (*m_sin)(double), (*m_cos)(double), (*m_exp2)(double), (*m_log2)(double),
    (*m_tanh)(double), (*m_sqrt)(double);
static double h2d(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? (1024 + m) * (1.0 / 1024) : m * (1.0 / 1024);
    if (e && e < 31) {
        for (int i = e; i < 15; i++)
            v /= 2;
        for (int i = 15; i < e; i++)
            v *= 2;
    } else if (!e)
        for (int i = 1; i < 15; i++)
            v /= 2;
    return h & 0x8000 ? -v : v;
}
static double todbl(char t, uint64_t v)
{
    uint32_t u = v;
    float f;
    double d;
    switch (t) {
    case 'F':
        memcpy(&f, &u, 4);
        return f;
    case 'D':
        memcpy(&d, &v, 8);
        return d;
    case 'H':
        return h2d(v);
    default:
        u = (uint32_t)v << 16;
        memcpy(&f, &u, 4);
        return f;
    }
}
static uint64_t fromdbl(char t, double d)
{
    float f = d;
    uint32_t u;
    uint64_t q;
    memcpy(&u, &f, 4);
    memcpy(&q, &d, 8);
    if (t == 'F')
        return u;
    if (t == 'D')
        return q;
    if (t == 'B')
        return u >> 16;
    uint32_t best = 0;
    double bd = 1e30;
    int lo = 0, hi = 0x7bff;
    double ad = d < 0 ? -d : d;
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (h2d(m) < ad)
            lo = m + 1;
        else
            hi = m;
    }
    best = lo;
    (void)bd;
    return best | (d < 0 ? 0x8000 : 0);
}
static void A(const char *ins, char t, int arity, int fn, double lo, double hi, double rel,
              double abs_)
{
    if (!B(ins))
        return;
    char in[4] = {t, arity == 2 ? t : 0, 0}, o[2] = {t, 0};
    int w = width(t), n = 512, ns = 0;
    static const double sp[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0};
    seed_ = 99;
    for (int i = 0; i < n; i++) {
        double a = lo + (hi - lo) * (i + 0.5) / n, b = 0.75 + (lcg() % 1000) / 100.0;
        put(0, i, w, fromdbl(t, a));
        put(1, i, w, fromdbl(t, b));
    }
    for (unsigned i = 0; i < 7; i++, ns++) {
        put(0, n + i, w, fromdbl(t, sp[i]));
        put(1, n + i, w, fromdbl(t, sp[(i * 3) % 7]));
        if (t == 'H' && (sp[i] > 1e10 || sp[i] < -1e10 || sp[i] != sp[i])) {
            put(0, n + i, w, sp[i] != sp[i] ? 0x7e00 : sp[i] > 0 ? 0x7c00 : 0xfc00);
        }
    }
    emit_elem(o, in, T(arity == 2 ? "$1 %d,%a,%b;" : "$1 %d,%a;", ins), NULL, n + ns);
    if (!dumpdir)
        for (int i = 0; i < arity; i++) {
            CUresult r = cuMemcpyHtoD(dI[i], inb[i], (n + ns) * w);
            if (r)
                bail("in", r);
        }
    std_ok = 0;
    if (!go(128, n + ns, (n + ns) * 8))
        return;
    int ok = 0;
    for (int i = 0; i < n; i++) {
        double a = todbl(t, get(inb[0], i, w)), b = todbl(t, get(inb[1], i, w)),
               g = todbl(t, get(outb, i, w)), r = 0;
        switch (fn) {
        case 0:
            r = 1 / a;
            break;
        case 1:
            r = m_sqrt(a);
            break;
        case 2:
            r = 1 / m_sqrt(a);
            break;
        case 3:
            r = m_sin(a);
            break;
        case 4:
            r = m_cos(a);
            break;
        case 5:
            r = m_exp2(a);
            break;
        case 6:
            r = m_log2(a);
            break;
        case 7:
            r = m_tanh(a);
            break;
        case 8:
            r = a / b;
            break;
        }
        double e = g - r;
        if (e < 0)
            e = -e;
        double ar = r < 0 ? -r : r;
        if (e <= ar * rel || e <= abs_)
            ok++;
    }
    OUT("within %d/%d special [", ok, n);
    for (int i = 0; i < ns; i++)
        OUT("%s%0*llx", i ? " " : "", w * 2, (unsigned long long)canon(t, get(outb, n + i, w)));
    OUT("]");
    raw(outb, (n + ns) * w);
}
GROUP(approx)
{
    S();
    if (!dumpdir) {
        void *m = dlopen("libm.so.6", RTLD_NOW);
        if (!m) {
            fprintf(stderr, "no libm\n");
            _exit(9);
        }
        m_sin = dlsym(m, "sin");
        m_cos = dlsym(m, "cos");
        m_exp2 = dlsym(m, "exp2");
        m_log2 = dlsym(m, "log2");
        m_tanh = dlsym(m, "tanh");
        m_sqrt = dlsym(m, "sqrt");
    }
#define P2(k) (1.0 / (double)(1ull << (k)))
    EACH(z, "", ".ftz")
    {
        A(T("rcp.approx$1.f32", *z), 'F', 1, 0, 0.001, 900, P2(23) * 1.01, 0);
        A(T("sqrt.approx$1.f32", *z), 'F', 1, 1, 0.001, 900, P2(22), 0);
        A(T("rsqrt.approx$1.f32", *z), 'F', 1, 2, 0.001, 900, P2(22), 0);
        A(T("sin.approx$1.f32", *z), 'F', 1, 3, -3.14, 3.14, 0, P2(20));
        A(T("cos.approx$1.f32", *z), 'F', 1, 4, -3.14, 3.14, 0, P2(20));
        A(T("ex2.approx$1.f32", *z), 'F', 1, 5, -120, 120, P2(21), 0);
        A(T("lg2.approx$1.f32", *z), 'F', 1, 6, 0.001, 900, P2(21), P2(21));
        A(T("div.approx$1.f32", *z), 'F', 2, 8, -50, 50, P2(21), 0);
        A(T("div.full$1.f32", *z), 'F', 2, 8, -50, 50, P2(21), 0);
    }
    A("tanh.approx.f32", 'F', 1, 7, -6, 6, P2(10), 0);
    A("rcp.approx.ftz.f64", 'D', 1, 0, 0.001, 900, P2(19), 0);
    A("rsqrt.approx.f64", 'D', 1, 2, 0.001, 900, P2(19), 0);
    A("rsqrt.approx.ftz.f64", 'D', 1, 2, 0.001, 900, P2(19), 0);
    A("ex2.approx.f16", 'H', 1, 5, -10, 10, P2(9), 0);
    A("tanh.approx.f16", 'H', 1, 7, -6, 6, 0, P2(10));
    A("ex2.approx.ftz.bf16", 'B', 1, 5, -20, 20, P2(7), 0);
    A("tanh.approx.bf16", 'B', 1, 7, -6, 6, 0, P2(8) * 1.01);
    I("ex2.approx.f16x2", "P:0");
    I("tanh.approx.f16x2", "P:0");
    I("ex2.approx.ftz.bf16x2", "Q:0");
    I("tanh.approx.bf16x2", "Q:0");
}
// ---- memory ----
struct mt {
    const char *t, *rg;
    int w;
};
static const struct mt MT[] = {
    {"b8", "b32", 1},  {"u8", "b32", 1},  {"s8", "b32", 1},  {"b16", "b32", 2}, {"u16", "b32", 2},
    {"s16", "b32", 2}, {"b32", "b32", 4}, {"u32", "b32", 4}, {"s32", "b32", 4}, {"f32", "f32", 4},
    {"b64", "b64", 8}, {"u64", "b64", 8}, {"s64", "b64", 8}, {"f64", "f64", 8}};
// each of 128 threads loads v elements of one type into (wider) registers through `space`, stores
// the registers whole, then stores them again with the type
static void mem_case(const char *space, const struct mt *m, int v)
{
    const char *vec = v == 1 ? "" : v == 2 ? ".v2" : ".v4";
    if (!B(T("$1$2.$3", space, vec, m->t)))
        return;
    char b[4000], L[100], Rg[100] = "";
    int sz = m->w * v, rw = m->w == 8 ? 8 : 4;
    for (int i = 0; i < v; i++) {
        char q[16];
        snprintf(q, 16, "%s%%v%d", i ? "," : "", i);
        strcat(Rg, q);
    }
    snprintf(L, sizeof L, v > 1 ? "{%s}" : "%s", Rg);
    char body[4000] = "", decl[9000] = "";
    int nw = 128 * v * rw / 4 + 128 * sz / 4;
    snprintf(b, sizeof b, ".reg .%s %%v<4>;\nmad.wide.u32 %%x0,%%t,%d,%%A;\n", m->rg, sz);
    strcat(body, b);
    if (!strcmp(space, "global")) {
        snprintf(b, sizeof b, "ld.global%s.%s %s,[%%x0];\n", vec, m->t, L);
        strcat(body, b);
    } else if (!strcmp(space, "generic")) {
        snprintf(b, sizeof b, "cvta.global.u64 %%x0,%%x0;\nld%s.%s %s,[%%x0];\n", vec, m->t, L);
        strcat(body, b);
    } else if (!strcmp(space, "shared")) {
        strcat(decl, ".shared .align 16 .b8 sm[4096];");
        snprintf(b, sizeof b,
                 "ld.global%s.%s %s,[%%x0];\nmov.u32 %%r0,sm;\nmad.lo.u32 "
                 "%%r1,%%t,%d,%%r0;\nst.shared%s.%s [%%r1],%s;\nbar.sync 0;\nxor.b32 "
                 "%%r2,%%t,5;\nmad.lo.u32 %%r1,%%r2,%d,%%r0;\nld.shared%s.%s %s,[%%r1];\n",
                 vec, m->t, L, sz, vec, m->t, L, sz, vec, m->t, L);
        strcat(body, b);
    } else if (!strcmp(space, "local")) {
        snprintf(b, sizeof b,
                 ".local .align 16 .b8 lm[256];\nld.global%s.%s %s,[%%x0];\nand.b32 "
                 "%%r2,%%t,7;\nmov.u64 %%x1,lm;\nmad.wide.u32 %%x1,%%r2,%d,%%x1;\nst.local%s.%s "
                 "[%%x1],%s;\nld.local%s.%s %s,[%%x1];\n",
                 vec, m->t, L, sz, vec, m->t, L, vec, m->t, L);
        strcat(body, b);
    } else if (!strcmp(space, "const")) {
        strcat(decl, ".const .align 16 .b32 cm[128]={");
        seed_ = 4242;
        for (int i = 0; i < 128; i++) {
            char q[20];
            snprintf(q, 20, "%s0x%x", i ? "," : "", lcg());
            strcat(decl, q);
        }
        strcat(decl, "};");
        snprintf(b, sizeof b,
                 "and.b32 %%r2,%%t,15;\nmov.u64 %%x1,cm;\nmad.wide.u32 "
                 "%%x1,%%r2,%d,%%x1;\nld.const%s.%s %s,[%%x1];\n",
                 sz, vec, m->t, L);
        strcat(body, b);
    }
    snprintf(b, sizeof b,
             "mad.wide.u32 %%x2,%%t,%d,%%O;\nst.global%s.b%d [%%x2],%s;\nmad.wide.u32 "
             "%%x3,%%t,%d,%%O;\nst.global%s.%s [%%x3+%d],%s;\n",
             v * rw, vec, rw * 8, L, sz, vec, m->t, 128 * v * rw, L);
    strcat(body, b);
    emit_hand(decl, body);
    if (!go(128, 128, nw * 4))
        return;
    show_words(nw);
}
GROUP(ld_st)
{
    S();
    std_inputs();
    EACH(s, "global", "generic", "shared", "local", "const")
    for (unsigned i = 0; i < sizeof MT / sizeof *MT; i++)
        for (int v = 1; v <= 4; v *= 2) {
            if (v == 4 && MT[i].w == 8)
                continue;
            const char *t = MT[i].t;
            int top = MT[i].w == 8 ? 2 : 4;
            if ((t[0] == 'u' || t[0] == 's') && MT[i].w > 2)
                continue;
            if (**s != 'g' || (*s)[1] == 'e') {
                if (!strcmp(t, "b16") || !strcmp(t, "u8") || t[0] == 'f')
                    continue;
                if (v != 1 && v != top)
                    continue;
                if ((*s)[1] == 'e' && t[0] != 'b')
                    continue;
            }
            mem_case(*s, &MT[i], v);
        }
}

// `n` words a thread: four instructions in one module, whose outputs are 512 bytes apart
static void QUAD(const char *name, const char *decl, const char *pre, const char *each,
                 const char *const *v)
{
    char b[8000];
    snprintf(b, sizeof b, "%s", pre);
    int k = 0;
    for (; v[k]; k++)
        strcat(b, T(each, v[k], N(k * 512)));
    H(name, decl, 128, 128 * k, b);
}
GROUP(ld_cache)
{
    S();
    std_inputs();
    static const char *const lq[][6] = {
        {"cached", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", 0},
        {"weak-volatile", "ld.global.cv", "ld.volatile.global", "ld.weak.global", "ldu.global", 0},
        {"relaxed", "ld.relaxed.cta.global", "ld.relaxed.gpu.global", "ld.relaxed.sys.global",
         "ld.mmio.relaxed.sys.global", 0},
        {"acquire", "ld.acquire.cta.global", "ld.acquire.gpu.global", "ld.acquire.sys.global",
         "ld.acquire.cluster.global", 0},
        {"nc", "ld.global.nc", "ld.global.ca.nc", "ld.global.cg.nc", "ld.global.nc.L1::no_allocate",
         0},
        {"evict", "ld.global.L1::evict_normal", "ld.global.L1::evict_first",
         "ld.global.L1::evict_last", "ld.global.L1::evict_unchanged", 0},
        {"prefetch-size", "ld.global.L2::64B", "ld.global.L2::128B", "ld.global.L2::256B",
         "ld.global.nc.L1::evict_last.L2::128B", 0}};
    for (int i = 0; i < 7; i++) {
        QUAD(T("ld-$1.u32", lq[i][0]), NULL, "mad.wide.u32 %x0,%t,4,%A;\n",
             "$1.u32 %r0,[%x0];\nst.global.u32 [%o+$2],%r0;\n", lq[i] + 1);
        if (i != 2)
            QUAD(T("ld-$1.v4.u8", lq[i][0]), NULL, "mad.wide.u32 %x0,%t,4,%A;\n",
                 "$1.v4.u8 {%r0,%r1,%r2,%r3},[%x0];\nprmt.b32 %r0,%r0,%r1,0x5140;\nprmt.b32 "
                 "%r2,%r2,%r3,0x5140;\nprmt.b32 %r0,%r0,%r2,0x5410;\nst.global.u32 [%o+$2],%r0;\n",
                 lq[i] + 1);
    }
    static const char *const
        hint[] = {"", ".cg", ".nc", 0},
        *const pol[] = {
            "createpolicy.fractional.L2::evict_first.b64 %x1",
            "createpolicy.fractional.L2::evict_normal.b64 %x1,1.0",
            "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %x1,0.25",
            "createpolicy.fractional.L2::evict_unchanged.b64 %x1,1.0",
            "createpolicy.range.global.L2::evict_last.b64 %x1,[%A],0x1000,0x2000",
            "createpolicy.range.L2::evict_first.L2::evict_unchanged.b64 %x1,[%x2],0x1000,0x2000",
            0};
    QUAD("ld-cache_hint", NULL,
         "mad.wide.u32 %x0,%t,4,%A;\ncreatepolicy.fractional.L2::evict_last.b64 %x1,0.5;\n",
         "ld.global$1.L2::cache_hint.u32 %r0,[%x0],%x1;\nst.global.u32 [%o+$2],%r0;\n", hint);
    QUAD("createpolicy", NULL, "cvta.global.u64 %x2,%A;\nmad.wide.u32 %x0,%t,4,%A;\n",
         "$1;\nld.global.L2::cache_hint.u32 %r0,[%x0],%x1;\nst.global.L2::cache_hint.u32 "
         "[%o+$2],%r0,%x1;\n",
         pol);
    static const char *const sq[][6] = {
        {"cached", "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", 0},
        {"volatile-release", "st.volatile.global", "st.weak.global", "st.release.gpu.global",
         "st.release.sys.global", 0},
        {"relaxed", "st.relaxed.cta.global", "st.relaxed.gpu.global", "st.relaxed.sys.global",
         "st.mmio.relaxed.sys.global", 0},
        {"evict", "st.global.L1::evict_last", "st.global.L1::no_allocate",
         "st.global.L1::evict_first", "st.global.L1::evict_unchanged", 0}};
    for (int i = 0; i < 4; i++)
        QUAD(T("st-$1.u32", sq[i][0]), NULL,
             "mad.wide.u32 %x0,%t,4,%A;\nld.global.u32 %r0,[%x0];\n",
             "add.u32 %r0,%r0,1;\n$1.u32 [%o+$2],%r0;\n", sq[i] + 1);
    static const char *const sh[] = {
        "ld.volatile.shared", "ld.relaxed.cta.shared", "ld.acquire.cta.shared", "ld.weak.shared",
        "ld.shared::cta",     "ld.shared::cluster",    "ld.relaxed.gpu.shared", 0};
    QUAD("ld-shared-forms", ".shared .u32 sm[128];",
         "mad.wide.u32 %x0,%t,4,%A;\nld.global.u32 %r0,[%x0];\nmov.u32 %r1,sm;\nmad.lo.u32 "
         "%r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nbar.sync 0;\nxor.b32 %r3,%t,127;\nmad.lo.u32 "
         "%r2,%r3,4,%r1;\n",
         "$1.u32 %r4,[%r2];\nst.global.u32 [%o+$2],%r4;\n", sh);
    static const char *const pf[] = {"prefetch.global.L1 [%A]",
                                     "prefetch.global.L2 [%A]",
                                     "prefetch.L1 [%x0]",
                                     "prefetchu.L1 [%x0]",
                                     "prefetch.global.L2::evict_last [%A]",
                                     "applypriority.global.L2::evict_normal [%A],128",
                                     "cp.async.bulk.prefetch.L2.global [%A],256",
                                     "nanosleep.u32 100",
                                     "pmevent 1",
                                     0},
                             *const fe[] = {"membar.cta",        "membar.gl",
                                            "membar.sys",        "fence.sc.cta",
                                            "fence.sc.gpu",      "fence.sc.sys",
                                            "fence.acq_rel.cta", "fence.acq_rel.gpu",
                                            "fence.acq_rel.sys", "fence.acq_rel.cluster",
                                            "bar.warp.sync -1",  0},
                             *const pr[] = {"fence.proxy.alias",
                                            "fence.proxy.async",
                                            "fence.proxy.async.global",
                                            "fence.proxy.async.shared::cta",
                                            "fence.mbarrier_init.release.cluster",
                                            "fence.proxy.tensormap::generic.release.gpu",
                                            0},
                             *const gd[] = {"griddepcontrol.wait",
                                            "griddepcontrol.launch_dependents", 0};
    const char *st =
                   "cvta.global.u64 %x0,%A;\nmad.wide.u32 %x1,%t,4,%A;\nld.global.u32 %r0,[%x1];\n",
               *ea = "$1;\nadd.u32 %r0,%r0,1;\nst.global.u32 [%o+$2],%r0;\n";
    QUAD("prefetch-and-hints", NULL, st, ea, pf);
    QUAD("fences", NULL, st, ea, fe);
    QUAD("proxy-fences", NULL, st, ea, pr);
    QUAD("griddepcontrol", NULL, st, ea, gd);
}

// ---- atomics ----
GROUP(atomics)
{
    S();
    // both spaces in one case: old value, new value, value after the red; global first, then shared
    static const char *const two[] = {"global", "shared", 0};
#define ONE(sp, op, wd, o0, o1, o2)                                                                \
    T("st.$1.b$3 [%s$1],%a;\natom.$1.$2 %$4,[%s$1],%b;\nld.$1.b$3 %$5,[%s$1];\nst.$1.b$3 "         \
      "[%s$1],%a;\nred.$1.$2 [%s$1],%b;\nld.$1.b$3 %$6,[%s$1];\n",                                 \
      sp, op, wd, o0, o1, o2)
#define AT(op, o, i)                                                                               \
    E(op, o o o o o o ":" i,                                                                       \
      T("$1$2", ONE("global", op, N(width(o[0]) * 8), "d", "e", "f"),                              \
        ONE("shared", op, N(width(o[0]) * 8), "g", "o4", "o5")))
    EACH(op, "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "inc.u32", "dec.u32",
         "and.b32", "or.b32", "xor.b32")
    AT(*op, "w", "ww");
    EACH(op, "add.u64", "min.u64", "max.u64", "min.s64", "max.s64", "and.b64", "or.b64", "xor.b64")
    AT(*op, "l", "ll");
    AT("add.f32", "F", "FF");
    AT("add.f64", "D", "DD");
    AT("add.noftz.f16", "H", "HH");
    AT("add.noftz.f16x2", "P", "PP");
    AT("add.noftz.bf16", "B", "BB");
    AT("add.noftz.bf16x2", "Q", "QQ");
    E("exch.b32", "wwww:ww",
      "st.global.b32 [%sglobal],%a;\natom.global.exch.b32 %d,[%sglobal],%b;\nld.global.b32 "
      "%e,[%sglobal];\nst.shared.b32 [%sshared],%a;\natom.shared.exch.b32 "
      "%f,[%sshared],%b;\nld.shared.b32 %g,[%sshared];");
    E("exch.b64", "llll:ll",
      "st.global.b64 [%sglobal],%a;\natom.global.exch.b64 %d,[%sglobal],%b;\nld.global.b64 "
      "%e,[%sglobal];\nst.shared.b64 [%sshared],%a;\natom.shared.exch.b64 "
      "%f,[%sshared],%b;\nld.shared.b64 %g,[%sshared];");
    for (int i = 0; two[i]; i++) {
        const char *s = two[i];
        E(T("$1.cas.b32", s), "ww:www",
          T("and.b32 %a,%a,3;\nand.b32 %b,%b,3;\nst.$1.b32 [%s$1],%a;\natom.$1.cas.b32 "
            "%d,[%s$1],%b,%c;\nld.$1.b32 %e,[%s$1];",
            s));
        E(T("$1.cas.b64", s), "ll:lll",
          T("and.b64 %a,%a,3;\nand.b64 %b,%b,3;\nst.$1.b64 [%s$1],%a;\natom.$1.cas.b64 "
            "%d,[%s$1],%b,%c;\nld.$1.b64 %e,[%s$1];",
            s));
        E(T("$1.cas.b16", s), "hh:hhh",
          T("and.b16 %a,%a,3;\nand.b16 %b,%b,3;\nst.$1.b16 [%s$1+2],%a;\natom.$1.cas.b16 "
            "%d,[%s$1+2],%b,%c;\nld.$1.b16 %e,[%s$1+2];",
            s));
        E(T("$1.cas.b128", s), "llll:ll",
          T(".reg .b128 %w<3>;\nand.b64 %x0,%a,1;\nand.b64 %x1,%b,1;\nst.$1.b64 "
            "[%s$1],%x0;\nst.$1.b64 [%s$1+8],%x1;\nmov.b64 %x2,0;\nmov.b64 %x3,1;\nmov.b128 "
            "%w0,{%x2,%x3};\nmov.b128 %w1,{%a,%b};\natom.$1.cas.b128 %w2,[%s$1],%w0,%w1;\nmov.b128 "
            "{%d,%e},%w2;\nld.$1.b64 %f,[%s$1];\nld.$1.b64 %g,[%s$1+8];",
            s));
        E(T("$1.exch.b128", s), "llll:ll",
          T(".reg .b128 %w<3>;\nst.$1.b64 [%s$1],%b;\nst.$1.b64 [%s$1+8],%a;\nmov.b128 "
            "%w1,{%a,%b};\natom.$1.exch.b128 %w2,[%s$1],%w1;\nmov.b128 {%d,%e},%w2;\nld.$1.b64 "
            "%f,[%s$1];\nld.$1.b64 %g,[%s$1+8];",
            s));
    }
    EACH(q, "relaxed.cta", "relaxed.gpu", "relaxed.sys", "acquire.gpu", "release.gpu",
         "acq_rel.gpu", "acq_rel.cta", "acq_rel.sys", "acq_rel.cluster")
    E(T("atom.$1", *q), "wwww:www",
      T("st.global.b32 [%sglobal],%a;\natom.$1.global.add.u32 %d,[%sglobal],%b;\nld.global.b32 "
        "%e,[%sglobal];\natom.$1.global.cas.b32 %f,[%sglobal],%e,%c;\nld.global.b32 %g,[%sglobal];",
        *q));
    EACH(q, "relaxed.cta", "relaxed.gpu", "relaxed.sys", "release.gpu", "release.sys")
    E(T("red.$1.xor", *q), "w:ww",
      T("st.global.b32 [%sglobal],%a;\nred.$1.global.xor.b32 [%sglobal],%b;\nld.global.b32 "
        "%d,[%sglobal];",
        *q));
    E("atom-generic-global", "ww:ww",
      "cvta.global.u64 %x0,%sglobal;\nst.b32 [%x0],%a;\natom.add.u32 %d,[%x0],%b;\nld.b32 "
      "%e,[%x0];");
    E("atom-generic-shared", "ww:ww",
      "cvta.shared.u64 %x0,%sshared;\nst.b32 [%x0],%a;\natom.max.s32 %d,[%x0],%b;\nld.b32 "
      "%e,[%x0];");
    E("atom-generic-f32-shared", "FF:FF",
      "cvta.shared.u64 %x0,%sshared;\nst.b32 [%x0],%a;\natom.add.f32 %d,[%x0],%b;\nld.b32 "
      "%e,[%x0];");
    E("atom-generic-f32-global", "FF:FF",
      "cvta.global.u64 %x0,%sglobal;\nst.b32 [%x0],%a;\natom.add.f32 %d,[%x0],%b;\nld.b32 "
      "%e,[%x0];");
    E("atom.add.v2.f32", "FFFF:FF",
      "st.global.v2.f32 [%sglobal],{%a,%b};\natom.global.add.v2.f32 "
      "{%d,%e},[%sglobal],{%b,%a};\nld.global.v2.f32 {%f,%g},[%sglobal];");
    E("atom.add.v4.f32", "FFFF:FF",
      "st.global.v4.f32 [%sglobal],{%a,%b,%a,%b};\natom.global.add.v4.f32 "
      "{%d,%e,%t0,%t1},[%sglobal],{%b,%a,%a,%b};\nld.global.v4.f32 {%t2,%t3,%f,%g},[%sglobal];");
    E("red.add.v4.f32", "FFFF:FF",
      "st.global.v4.f32 [%sglobal],{%a,%b,%a,%b};\nred.global.add.v4.f32 "
      "[%sglobal],{%b,%a,%a,%b};\nld.global.v4.f32 {%d,%e,%f,%g},[%sglobal];");
    E("atom.add.v4.f16", "HHHH:HH",
      "st.global.v4.b16 [%sglobal],{%a,%b,%a,%b};\natom.global.add.noftz.v4.f16 "
      "{%h0,%h1,%h2,%h3},[%sglobal],{%b,%a,%a,%b};\nld.global.v4.b16 {%d,%e,%f,%g},[%sglobal];");
    E("atom.min.v2.f16x2", "PPPP:PP",
      "st.global.v2.b32 [%sglobal],{%a,%b};\natom.global.min.noftz.v2.f16x2 "
      "{%d,%e},[%sglobal],{%b,%a};\nld.global.v2.b32 {%f,%g},[%sglobal];");
    E("red.max.v4.bf16", "BBBB:BB",
      "st.global.v4.b16 [%sglobal],{%a,%b,%a,%b};\nred.global.max.noftz.v4.bf16 "
      "[%sglobal],{%b,%a,%a,%b};\nld.global.v4.b16 {%d,%e,%f,%g},[%sglobal];");
    E("red.add.v2.bf16x2", "QQ:QQ",
      "st.global.v2.b32 [%sglobal],{%a,%b};\nred.global.add.noftz.v2.bf16x2 "
      "[%sglobal],{%b,%a};\nld.global.v2.b32 {%d,%e},[%sglobal];");
    E("atom.cache_hint", "ww:ww",
      "createpolicy.fractional.L2::evict_last.b64 %x0,1.0;\nst.global.b32 "
      "[%sglobal],%a;\natom.global.add.L2::cache_hint.u32 %d,[%sglobal],%b,%x0;\nld.global.b32 "
      "%e,[%sglobal];");
    E("atom-sink", "w:ww",
      "st.global.b32 [%sglobal],%a;\natom.global.add.u32 _,[%sglobal],%b;\nld.global.b32 "
      "%d,[%sglobal];");
}

// many threads on one address: the old values are sorted before they are summed; the last words are
// the final memory
GROUP(atomics_shared_address)
{
    S();
    std_inputs();
    EACH(sp, "global", "shared")
    {
        const char *s = *sp;
        const char *d = **sp == 'g' ? ".global .align 16 .u32 M[4]={100,0,0,0};"
                                    : ".shared .align 16 .u32 M[4];";
        const char *pre = strdup(T(
            "setp.ne.u32 %p0,%t,0;\n@%p0 bra I0;\nmov.u32 %r9,100;\nst.$1.u32 [M],%r9;\nmov.u32 "
            "%r9,0;\nst.$1.u32 [M+4],%r9;\nst.$1.u32 [M+8],%r9;\nst.$1.u32 "
            "[M+12],%r9;\nI0:\nbar.sync 0;\nmad.wide.u32 %x9,%t,4,%A;\nld.global.u32 %r8,[%x9];\n",
            s));
        const char *post = strdup(
            T("bar.sync 0;\nmembar.gl;\nst.global.u32 [%o],%r0;\n@%p0 bra I1;\nld.volatile.$1.u32 "
              "%r9,[M];\nst.global.u32 [%O+512],%r9;\nld.volatile.$1.u32 %r9,[M+4];\nst.global.u32 "
              "[%O+516],%r9;\nI1:",
              s));
#define AC(nm, op) HG(T("$1.$2", s, nm), d, T("$1$2\n$3", pre, op, post), 1, 128, 1, 1, 0, 130, 1)
        AC("add-1", T("atom.$1.add.u32 %r0,[M],1;", s));
        AC("add-tid", T("red.$1.add.u32 [M],%t;\nmov.u32 %r0,0;", s));
        AC("inc-9", T("atom.$1.inc.u32 %r0,[M],9;", s));
        AC("inc-200", T("atom.$1.inc.u32 %r0,[M],200;", s));
        AC("dec-50", T("atom.$1.dec.u32 %r0,[M],50;", s));
        AC("dec-300", T("atom.$1.dec.u32 %r0,[M],300;", s));
        AC("max-random", T("red.$1.max.u32 [M],%r8;\nmov.u32 %r0,0;", s));
        AC("min.s32-random", T("red.$1.min.s32 [M],%r8;\nmov.u32 %r0,0;", s));
        AC("xor-random", T("red.$1.xor.b32 [M],%r8;\nmov.u32 %r0,0;", s));
        AC("and-random", T("or.b32 %r8,%r8,0x64;\nred.$1.and.b32 [M],%r8;\nmov.u32 %r0,0;", s));
        AC("or-bit",
           T("mov.u32 %r1,1;\nshl.b32 %r1,%r1,%l;\nred.$1.or.b32 [M],%r1;\nmov.u32 %r0,0;", s));
        AC("exch-tid", T("atom.$1.exch.b32 %r0,[M],%t;", s));
        AC("cas-loop",
           T("L0:\nld.volatile.$1.u32 %r1,[M];\nmad.lo.u32 %r2,%t,3,%r1;\natom.$1.cas.b32 "
             "%r3,[M],%r1,%r2;\nsetp.ne.u32 %p1,%r3,%r1;\n@%p1 bra L0;\nmov.u32 %r0,0;",
             s));
        AC("add.f32-whole",
           T("cvt.rn.f32.u32 %r1,%t;\nmov.b32 %r2,0;\nred.$1.add.f32 [M+4],%r1;\nmov.u32 %r0,0;",
             s));
        AC("add.f16x2-whole",
           T("mov.b32 %r1,0x3c003c00;\nred.$1.add.noftz.f16x2 [M+4],%r1;\nmov.u32 %r0,0;", s));
        AC("add.u64", T("cvt.u64.u32 %x1,%r8;\nred.$1.add.u64 [M],%x1;\nmov.u32 %r0,0;", s));
        AC("ticket",
           T("atom.$1.add.u32 %r1,[M+4],1;\natom.$1.add.u32 %r2,[M],%r1;\nmov.u32 %r0,%r1;", s));
        AC("half-lanes", T("and.b32 %r1,%t,1;\nsetp.eq.u32 %p1,%r1,0;\nmov.u32 %r0,0;\n@%p1 "
                           "atom.$1.add.u32 %r0,[M],2;",
                           s));
    }
    HG("grid-of-8-blocks", ".global .u32 G;",
       "mov.u32 %r1,%ctaid.x;\nred.global.add.u32 [G],%r1;\nmov.u32 %r3,%ntid.x;\nmad.lo.u32 "
       "%r2,%r1,%r3,%t;\nmad.wide.u32 %x0,%r2,4,%O;\nst.global.u32 [%x0],%r2;",
       8, 64, 1, 1, 0, 512, 0);
    HG("last-block", ".global .u32 G;\n.global .u32 SUM;\n.shared .u32 last;",
       "mov.u32 %r1,%ctaid.x;\nadd.u32 %r4,%r1,1;\nsetp.ne.u32 %p0,%t,0;\n@%p0 bra "
       "W;\nred.global.add.u32 [SUM],%r4;\nmembar.gl;\natom.global.inc.u32 "
       "%r2,[G],0xffffffff;\nsetp.ne.u32 %p1,%r2,15;\n@%p1 bra W;\nld.volatile.global.u32 "
       "%r3,[SUM];\nst.global.u32 [%O],%r3;\nW:",
       16, 32, 1, 1, 0, 1, 0);
}
// ---- warp-wide ----
#define LDA "mad.wide.u32 %x0,%t,4,%A;\nld.global.u32 %r0,[%x0];\n"
GROUP(shfl)
{
    S();
    std_inputs();
    EACH(m, "up", "down", "bfly", "idx")
    {
        EACH(w, "32", "16", "8", "4", "2", "1")
        {
            int wd = atoi(*w);
            unsigned c = ((32 - wd) << 8) | (!strcmp(*m, "up") ? 0 : 31);
            char b[6000];
            strcpy(b, LDA);
            int k = 0;
            EACH(dl, "0", "1", "2", "3", "7", "16", "31", "33")
            {
                strcat(b,
                       T("shfl.sync.$1.b32 %r1|%p1,%r0,$2,$3,0xffffffff;\nselp.b32 "
                         "%r2,1,0,%p1;\nst.global.u32 [%o+$4],%r1;\nst.global.u32 [%o+$5],%r2;\n",
                         *m, *dl, X(c), N(k * 256), N(k * 256 + 128)));
                k++;
            }
            H(T("$1-width$2", *m, *w), NULL, 32, 512, b);
        }
        {
            char b[8000];
            strcpy(b, LDA);
            int k = 0;
            EACH(c, "0x5", "0x0a1f", "0x1c03", "0x1f00") EACH(dl, "1", "4", "9")
            {
                strcat(b,
                       T("shfl.sync.$1.b32 %r1|%p1,%r0,$2,$3,-1;\nselp.b32 "
                         "%r2,1,0,%p1;\nst.global.u32 [%o+$4],%r1;\nst.global.u32 [%o+$5],%r2;\n",
                         *m, *dl, *c, N(k * 256), N(k * 256 + 128)));
                k++;
            }
            H(T("$1-clamps", *m), NULL, 32, 768, b);
        }
        H(T("$1-lane-register", *m), NULL, 64, 64,
          T(LDA "and.b32 %r3,%r0,63;\nmov.u32 %r4,$2;\nshfl.sync.$1.b32 "
                "%r1,%r0,%r3,%r4,-1;\nst.global.u32 [%o],%r1;",
            *m, !strcmp(*m, "up") ? "0" : "31"));
        H(T("$1-half-warp-mask", *m), NULL, 32, 32,
          T(LDA "setp.ge.u32 %p2,%l,16;\n@%p2 bra HI;\nshfl.sync.$1.b32 "
                "%r1|%p1,%r0,3,$2,0xffff;\nselp.b32 %r2,0x1000,0,%p1;\nxor.b32 %r1,%r1,%r2;\nbra "
                "J;\nHI:\nshfl.sync.$1.b32 %r1|%p1,%r0,1,$2,0xffff0000;\nselp.b32 "
                "%r2,0x2000,0,%p1;\nxor.b32 %r1,%r1,%r2;\nJ:\nst.global.u32 [%o],%r1;",
            *m, !strcmp(*m, "up") ? "0x1000" : "0x101f"));
    }
    H("reduce-bfly", NULL, 64, 64,
      LDA
      "shfl.sync.bfly.b32 %r1,%r0,16,31,-1;\nadd.u32 %r0,%r0,%r1;\nshfl.sync.bfly.b32 "
      "%r1,%r0,8,31,-1;\nadd.u32 %r0,%r0,%r1;\nshfl.sync.bfly.b32 %r1,%r0,4,31,-1;\nadd.u32 "
      "%r0,%r0,%r1;\nshfl.sync.bfly.b32 %r1,%r0,2,31,-1;\nadd.u32 %r0,%r0,%r1;\nshfl.sync.bfly.b32 "
      "%r1,%r0,1,31,-1;\nadd.u32 %r0,%r0,%r1;\nst.global.u32 [%o],%r0;");
    H("scan-up", NULL, 32, 32,
      "mov.u32 %r0,%l;\nmov.u32 %r5,1;\nL:\nshfl.sync.up.b32 %r1|%p1,%r0,%r5,0,-1;\n@%p1 add.u32 "
      "%r0,%r0,%r1;\nshl.b32 %r5,%r5,1;\nsetp.lt.u32 %p2,%r5,32;\n@%p2 bra L;\nst.global.u32 "
      "[%o],%r0;");
    H("up-odd-lanes-mask", NULL, 32, 32,
      LDA "and.b32 %r2,%l,1;\nsetp.eq.u32 %p2,%r2,0;\nmov.u32 %r1,7;\n@%p2 bra "
          "J;\nshfl.sync.up.b32 %r1|%p1,%r0,2,0,0xaaaaaaaa;\nJ:\nst.global.u32 [%o],%r1;");
    H("partial-warp-20", NULL, 20, 20,
      LDA "shfl.sync.idx.b32 %r1|%p1,%r0,5,31,0xfffff;\nst.global.u32 [%o],%r1;");
}

GROUP(vote)
{
    S();
    std_inputs();
    static const char *pr[][2] = {{"all-true", "setp.lt.u32 %p0,%l,64;"},
                                  {"all-false", "setp.gt.u32 %p0,%l,64;"},
                                  {"lane-31", "setp.eq.u32 %p0,%l,31;"},
                                  {"random", "and.b32 %r1,%r0,4;\nsetp.ne.u32 %p0,%r1,0;"},
                                  {"by-warp", "shr.u32 %r1,%t,5;\nsetp.eq.u32 %p0,%r1,1;"}};
    for (unsigned i = 0; i < 5; i++) {
        char b[4000];
        strcpy(b, T(LDA "$1\nmov.u32 %r2,0;\n", pr[i][1]));
        int k = 0;
        EACH(v, "all", "any", "uni")
        {
            strcat(b, T("vote.sync.$1.pred %p1,%p0,-1;\nvote.sync.$1.pred %p2,!%p0,-1;\n@%p1 "
                        "or.b32 %r2,%r2,$2;\n@%p2 or.b32 %r2,%r2,$3;\n",
                        *v, X(1u << k), X(16u << k)));
            k++;
        }
        strcat(b,
               "vote.sync.ballot.b32 %r3,%p0,-1;\nvote.sync.ballot.b32 %r4,!%p0,-1;\nst.global.u32 "
               "[%o],%r2;\nst.global.u32 [%o+512],%r3;\nst.global.u32 [%o+1024],%r4;");
        H(pr[i][0], NULL, 128, 384, b);
    }
    EACH(v, "all", "any", "uni")
    H(T("$1-half-mask", *v), NULL, 32, 32,
      T(LDA "setp.lt.u32 %p0,%l,20;\nmov.u32 %r2,9;\nsetp.ge.u32 %p3,%l,16;\n@%p3 bra "
            "HI;\nvote.sync.$1.pred %p1,%p0,0xffff;\nselp.b32 %r2,1,0,%p1;\nbra "
            "J;\nHI:\nvote.sync.$1.pred %p1,%p0,0xffff0000;\nselp.b32 "
            "%r2,3,2,%p1;\nJ:\nst.global.u32 [%o],%r2;",
        *v));
    H("ballot-half-mask", NULL, 32, 32,
      LDA "and.b32 %r1,%r0,1;\nsetp.ne.u32 %p0,%r1,0;\nsetp.ge.u32 %p3,%l,11;\n@%p3 bra "
          "HI;\nvote.sync.ballot.b32 %r2,%p0,0x7ff;\nbra J;\nHI:\nvote.sync.ballot.b32 "
          "%r2,%p0,0xfffff800;\nJ:\nst.global.u32 [%o],%r2;");
    H("ballot-partial-warp", NULL, 45, 45,
      LDA "setp.lt.u32 %p0,%t,40;\nmov.u32 %r3,0x1fff;\nsetp.lt.u32 %p1,%t,32;\n@%p1 mov.u32 "
          "%r3,-1;\nvote.sync.ballot.b32 %r2,%p0,%r3;\nst.global.u32 [%o],%r2;");
    EACH(k, "1", "2", "5", "32")
    {
        H(T("match.any-mod-$1", *k), NULL, 64, 128,
          T(LDA
            "rem.u32 %r1,%t,$1;\nmatch.any.sync.b32 %r2,%r1,-1;\nst.global.u32 [%o],%r2;\nmov.b64 "
            "%x1,{%r1,%r1};\nmatch.any.sync.b64 %r2,%x1,-1;\nst.global.u32 [%o+256],%r2;",
            *k));
        H(T("match.all-mod-$1", *k), NULL, 64, 256,
          T(LDA "rem.u32 %r1,%t,$1;\nmatch.all.sync.b32 %r2|%p0,%r1,-1;\nselp.b32 "
                "%r3,1,0,%p0;\nst.global.u32 [%o],%r2;\nst.global.u32 [%o+256],%r3;\nshr.u32 "
                "%r1,%t,5;\nrem.u32 %r4,%t,$1;\nmov.b64 %x1,{%r4,%r1};\nmatch.all.sync.b64 "
                "%r2|%p0,%x1,-1;\nselp.b32 %r3,1,0,%p0;\nst.global.u32 "
                "[%o+512],%r2;\nst.global.u32 [%o+768],%r3;",
            *k));
    }
    H("match.any-half-mask", NULL, 32, 32,
      LDA "and.b32 %r1,%l,3;\nmov.u32 %r2,0;\nsetp.ge.u32 %p3,%l,16;\n@%p3 bra "
          "HI;\nmatch.any.sync.b32 %r2,%r1,0xffff;\nbra J;\nHI:\nmatch.any.sync.b32 "
          "%r2,%r1,0xffff0000;\nJ:\nst.global.u32 [%o],%r2;");
    EACH(o, "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
         "xor.b32")
    H(T("redux.$1", *o), NULL, 96, 288,
      T(LDA "redux.sync.$1 %r1,%r0,-1;\nst.global.u32 [%o],%r1;\nmov.u32 %r1,0;\nsetp.lt.u32 "
            "%p3,%l,13;\n@%p3 bra HI;\nredux.sync.$1 %r1,%r0,0xffffe000;\nbra "
            "J;\nHI:\nredux.sync.$1 %r1,%r0,0x1fff;\nJ:\nst.global.u32 [%o+384],%r1;\nmov.u32 "
            "%r1,0;\nbar.warp.sync -1;\nsetp.ne.u32 %p4,%l,9;\n@%p4 bra K;\nredux.sync.$1 "
            "%r1,%r0,0x200;\nK:\nst.global.u32 [%o+768],%r1;",
        *o));
    H("elect-full", NULL, 64, 128,
      "elect.sync %r1|%p0,-1;\nselp.b32 %r2,1,0,%p0;\nst.global.u32 [%o],%r1;\nst.global.u32 "
      "[%o+256],%r2;");
    H("elect-upper-half", NULL, 32, 64,
      "mov.u32 %r1,77;\nmov.u32 %r2,5;\nsetp.lt.u32 %p1,%l,16;\n@%p1 bra J;\nelect.sync "
      "%r1|%p0,0xffff0000;\nselp.b32 %r2,1,0,%p0;\nJ:\nst.global.u32 [%o],%r1;\nst.global.u32 "
      "[%o+128],%r2;");
    H("elect-sink", NULL, 32, 32,
      "elect.sync _|%p0,-1;\nselp.b32 %r2,1,0,%p0;\nst.global.u32 [%o],%r2;");
    H("activemask-full", NULL, 64, 64, "activemask.b32 %r1;\nst.global.u32 [%o],%r1;");
    H("activemask-partial-warp", NULL, 40, 40, "activemask.b32 %r1;\nst.global.u32 [%o],%r1;");
    H("activemask-contains-self", NULL, 64, 64,
      LDA "mov.u32 %r3,0;\nand.b32 %r1,%r0,1;\nsetp.eq.u32 %p0,%r1,0;\n@%p0 bra J;\nactivemask.b32 "
          "%r1;\nshr.u32 %r1,%r1,%l;\nand.b32 %r3,%r1,1;\nJ:\nst.global.u32 [%o],%r3;");
}

GROUP(barrier)
{
    S();
    std_inputs();
    H("bar.sync-reverse", ".shared .u32 sm[128];", 128, 128,
      LDA
      "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nbar.sync 0;\nsub.u32 "
      "%r3,127,%t;\nmad.lo.u32 %r2,%r3,4,%r1;\nld.shared.u32 %r4,[%r2];\nst.global.u32 [%o],%r4;");
    H("barrier.sync-id-15", ".shared .u32 sm[128];", 128, 128,
      LDA "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nbarrier.sync "
          "15;\nxor.b32 %r3,%t,64;\nmad.lo.u32 %r2,%r3,4,%r1;\nld.shared.u32 "
          "%r4,[%r2];\nst.global.u32 [%o],%r4;");
    H("barrier.cta.sync-register", ".shared .u32 sm[128];", 128, 128,
      LDA "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nmov.u32 "
          "%r5,3;\nmov.u32 %r6,128;\nbarrier.cta.sync %r5,%r6;\nxor.b32 %r3,%t,33;\nmad.lo.u32 "
          "%r2,%r3,4,%r1;\nld.shared.u32 %r4,[%r2];\nst.global.u32 [%o],%r4;");
    H("bar.sync-half-the-block", ".shared .u32 sm[128];", 128, 128,
      LDA "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nsetp.ge.u32 "
          "%p0,%t,64;\n@%p0 bra HI;\nbar.sync 1,64;\nxor.b32 %r3,%t,63;\nbra J;\nHI:\nbar.sync "
          "2,64;\nxor.b32 %r3,%t,32;\nJ:\nmad.lo.u32 %r2,%r3,4,%r1;\nld.shared.u32 "
          "%r4,[%r2];\nst.global.u32 [%o],%r4;");
    H("bar.arrive-producer-consumer", ".shared .u32 sm[64];", 128, 128,
      LDA "mov.u32 %r1,sm;\nmov.u32 %r4,5;\nsetp.ge.u32 %p0,%t,64;\n@%p0 bra CONS;\nmad.lo.u32 "
          "%r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nbar.arrive 1,128;\nbra J;\nCONS:\nbar.sync "
          "1,128;\nsub.u32 %r3,%t,64;\nxor.b32 %r3,%r3,21;\nmad.lo.u32 "
          "%r2,%r3,4,%r1;\nld.shared.u32 %r4,[%r2];\nJ:\nst.global.u32 [%o],%r4;");
    H("barrier.arrive", ".shared .u32 sm[64];", 128, 128,
      LDA "mov.u32 %r1,sm;\nmov.u32 %r4,5;\nsetp.lt.u32 %p0,%t,64;\n@%p0 bra CONS;\nsub.u32 "
          "%r3,%t,64;\nmad.lo.u32 %r2,%r3,4,%r1;\nst.shared.u32 [%r2],%r0;\nbarrier.arrive "
          "7,128;\nbra J;\nCONS:\nbarrier.sync 7,128;\nmad.lo.u32 %r2,%t,4,%r1;\nld.shared.u32 "
          "%r4,[%r2];\nJ:\nst.global.u32 [%o],%r4;");
    EACH(k, "0", "1", "64", "127", "128")
    H(T("bar.red-$1", *k), NULL, 128, 256,
      T("setp.lt.u32 %p0,%t,$1;\nbar.red.popc.u32 %r1,0,%p0;\nbar.red.and.pred "
        "%p1,0,%p0;\nbar.red.and.pred %p2,0,!%p0;\nbar.red.or.pred %p3,0,%p0;\nbar.red.or.pred "
        "%p4,0,!%p0;\nselp.b32 %r2,1,0,%p1;\n@%p2 or.b32 %r2,%r2,2;\n@%p3 or.b32 %r2,%r2,4;\n@%p4 "
        "or.b32 %r2,%r2,8;\nst.global.u32 [%o],%r1;\nst.global.u32 [%o+512],%r2;",
        *k));
    H("barrier.red.popc-subset", NULL, 128, 128,
      "mov.u32 %r1,1000;\nsetp.ge.u32 %p1,%t,96;\n@%p1 bra J;\nand.b32 %r2,%t,1;\nsetp.ne.u32 "
      "%p0,%r2,0;\nbarrier.red.popc.u32 %r1,2,96,%p0;\nJ:\nst.global.u32 [%o],%r1;");
    H("bar.red-aligned", NULL, 64, 64,
      "setp.lt.u32 %p0,%t,9;\nbarrier.cta.red.popc.aligned.u32 %r1,4,64,%p0;\nst.global.u32 "
      "[%o],%r1;");
    H("many-rounds", ".shared .u32 sm[128];", 128, 128,
      LDA
      "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nmov.u32 "
      "%r6,1;\nL:\nbar.sync 0;\nadd.u32 %r3,%t,%r6;\nand.b32 %r3,%r3,127;\nmad.lo.u32 "
      "%r3,%r3,4,%r1;\nld.shared.u32 %r4,[%r3];\nbar.sync 0;\nld.shared.u32 %r5,[%r2];\nadd.u32 "
      "%r5,%r5,%r4;\nst.shared.u32 [%r2],%r5;\nshl.b32 %r6,%r6,1;\nsetp.lt.u32 %p0,%r6,128;\n@%p0 "
      "bra L;\nbar.sync 0;\nld.shared.u32 %r0,[%r2];\nst.global.u32 [%o],%r0;");
    H("bar.warp.sync-exchange", ".shared .u32 sm[64];", 64, 64,
      LDA "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 [%r2],%r0;\nbar.warp.sync "
          "-1;\nxor.b32 %r3,%t,31;\nmad.lo.u32 %r3,%r3,4,%r1;\nld.shared.u32 "
          "%r4,[%r3];\nst.global.u32 [%o],%r4;");
    H("early-exit-then-barrier", NULL, 128, 128,
      "st.global.u32 [%o],%t;\nsetp.ge.u32 %p0,%t,96;\n@%p0 exit;\nbar.sync 0;\nadd.u32 "
      "%r0,%t,1000;\nst.global.u32 [%o],%r0;");
}

// ---- control flow ----
GROUP(control)
{
    S();
    std_inputs();
    H("divergent-if", NULL, 64, 64,
      LDA "and.b32 %r1,%r0,1;\nsetp.eq.u32 %p0,%r1,0;\n@%p0 bra EV;\nmul.lo.u32 %r2,%r0,3;\nbra "
          "J;\nEV:\nshr.u32 %r2,%r0,1;\nJ:\nst.global.u32 [%o],%r2;");
    H("nested-if", NULL, 64, 64,
      LDA "mov.u32 %r5,0;\nand.b32 %r1,%r0,1;\nsetp.eq.u32 %p0,%r1,0;\n@%p0 bra A0;\nand.b32 "
          "%r2,%r0,2;\nsetp.eq.u32 %p1,%r2,0;\n@%p1 bra A1;\nadd.u32 %r5,%r5,10;\nbra "
          "A2;\nA1:\nadd.u32 %r5,%r5,20;\nA2:\nadd.u32 %r5,%r5,1;\nbra J;\nA0:\nand.b32 "
          "%r2,%r0,4;\nsetp.eq.u32 %p1,%r2,0;\n@%p1 bra A3;\nadd.u32 %r5,%r5,40;\nbra "
          "J;\nA3:\nadd.u32 %r5,%r5,80;\nJ:\nst.global.u32 [%o],%r5;");
    H("loop-trip-by-lane", NULL, 64, 64,
      "mov.u32 %r0,0;\nmov.u32 %r1,0;\nL:\nsetp.ge.u32 %p0,%r1,%t;\n@%p0 bra E;\nmad.lo.u32 "
      "%r0,%r1,%r1,%r0;\nadd.u32 %r1,%r1,1;\nbra L;\nE:\nst.global.u32 [%o],%r0;");
    H("collatz", NULL, 128, 128,
      "add.u32 %r0,%t,1;\nmov.u32 %r1,0;\nL:\nsetp.le.u32 %p0,%r0,1;\n@%p0 bra E;\nadd.u32 "
      "%r1,%r1,1;\nand.b32 %r2,%r0,1;\nsetp.ne.u32 %p1,%r2,0;\n@%p1 bra OD;\nshr.u32 "
      "%r0,%r0,1;\nbra L;\nOD:\nmad.lo.u32 %r0,%r0,3,1;\nbra L;\nE:\nst.global.u32 [%o],%r1;");
    H("gcd", NULL, 64, 64,
      LDA "and.b32 %r0,%r0,0xffff;\nadd.u32 %r1,%t,12;\nL:\nsetp.eq.u32 %p0,%r1,0;\n@%p0 bra "
          "E;\nrem.u32 %r2,%r0,%r1;\nmov.u32 %r0,%r1;\nmov.u32 %r1,%r2;\nbra L;\nE:\nst.global.u32 "
          "[%o],%r0;");
    H("break-continue", NULL, 64, 64,
      "mov.u32 %r0,0;\nmov.u32 %r1,0;\nL:\nadd.u32 %r1,%r1,1;\nsetp.gt.u32 %p0,%r1,40;\n@%p0 bra "
      "E;\nrem.u32 %r2,%r1,3;\nsetp.eq.u32 %p1,%r2,0;\n@%p1 bra L;\nadd.u32 "
      "%r0,%r0,%r1;\nmul.lo.u32 %r3,%t,7;\nsetp.gt.u32 %p2,%r0,%r3;\n@%p2 bra E;\nbra "
      "L;\nE:\nst.global.u32 [%o],%r0;");
    H("nested-loops", NULL, 64, 64,
      "mov.u32 %r0,0;\nmov.u32 %r1,0;\nLI:\nmov.u32 %r2,0;\nLJ:\nadd.u32 %r3,%r1,%r2;\nxor.b32 "
      "%r0,%r0,%r3;\nmad.lo.u32 %r0,%r0,5,%t;\nadd.u32 %r2,%r2,1;\nsetp.le.u32 %p0,%r2,%r1;\n@%p0 "
      "bra LJ;\nadd.u32 %r1,%r1,1;\nand.b32 %r4,%t,7;\nsetp.lt.u32 %p1,%r1,%r4;\n@%p1 bra "
      "LI;\nst.global.u32 [%o],%r0;");
    H("irreducible", NULL, 32, 32,
      "mov.u32 %r0,%t;\nmov.u32 %r5,0;\nand.b32 %r1,%t,1;\nsetp.ne.u32 %p0,%r1,0;\n@%p0 bra "
      "M;\nT0:\nadd.u32 %r0,%r0,3;\nM:\nadd.u32 %r0,%r0,5;\nadd.u32 %r5,%r5,1;\nsetp.lt.u32 "
      "%p1,%r0,100;\n@%p1 bra T0;\nmad.lo.u32 %r0,%r0,100,%r5;\nst.global.u32 [%o],%r0;");
    H("predicated-exit", NULL, 64, 64,
      "st.global.u32 [%o],%t;\nand.b32 %r1,%t,3;\nsetp.eq.u32 %p0,%r1,0;\n@%p0 exit;\nadd.u32 "
      "%r2,%t,500;\nst.global.u32 [%o],%r2;");
    H("predicated-ret", NULL, 64, 64,
      "st.global.u32 [%o],%t;\nand.b32 %r1,%t,3;\nsetp.eq.u32 %p0,%r1,1;\n@%p0 ret;\nadd.u32 "
      "%r2,%t,600;\nst.global.u32 [%o],%r2;");
    H("bra.uni", NULL, 32, 32,
      "mov.u32 %r0,0;\nbra.uni X;\nmov.u32 %r0,9;\nX:\nadd.u32 %r0,%r0,%t;\nst.global.u32 "
      "[%o],%r0;\nret.uni;");
    H("negated-branch", NULL, 32, 32,
      "setp.lt.u32 %p0,%t,10;\nmov.u32 %r0,1;\n@!%p0 bra X;\nmov.u32 %r0,2;\nX:\nst.global.u32 "
      "[%o],%r0;");
    H("brx.idx", NULL, 64, 64,
      "and.b32 %r1,%t,3;\nts: .branchtargets L0,L1,L2,L3;\nmov.u32 %r0,0;\nbrx.idx "
      "%r1,ts;\nL0:\nadd.u32 %r0,%r0,100;\nbra J;\nL1:\nadd.u32 %r0,%r0,200;\nL2:\nadd.u32 "
      "%r0,%r0,300;\nbra J;\nL3:\nadd.u32 %r0,%r0,400;\nJ:\nadd.u32 %r0,%r0,%t;\nst.global.u32 "
      "[%o],%r0;");
    H("brx.idx.uni", NULL, 32, 32,
      "ld.global.u32 %r1,[%B+8];\nts: .branchtargets L0,L1,L2;\nmov.u32 %r0,0;\nbrx.idx.uni "
      "%r1,ts;\nL0:\nadd.u32 %r0,%r0,100;\nbra J;\nL1:\nadd.u32 %r0,%r0,200;\nbra J;\nL2:\nadd.u32 "
      "%r0,%r0,300;\nJ:\nst.global.u32 [%o],%r0;");
    H("brx.idx-state-machine", NULL, 64, 64,
      "mov.u32 %r1,0;\nmov.u32 %r2,0;\nmov.u32 %r3,%t;\nts: .branchtargets "
      "SA,SB,SC,SE;\nNX:\nbrx.idx %r1,ts;\nSA:\nadd.u32 %r2,%r2,1;\nand.b32 %r4,%r3,1;\nadd.u32 "
      "%r1,%r4,1;\nbra NX;\nSB:\nmad.lo.u32 %r2,%r2,2,1;\nshr.u32 %r3,%r3,1;\nmov.u32 "
      "%r1,2;\nsetp.eq.u32 %p0,%r3,0;\n@%p0 mov.u32 %r1,3;\nbra NX;\nSC:\nadd.u32 "
      "%r2,%r2,7;\nshr.u32 %r3,%r3,1;\nmov.u32 %r1,0;\nsetp.eq.u32 %p0,%r3,0;\n@%p0 mov.u32 "
      "%r1,3;\nbra NX;\nSE:\nst.global.u32 [%o],%r2;");
    H("loop-with-divergent-exit-and-shfl", NULL, 32, 32,
      LDA "mov.u32 %r5,0;\nmov.u32 %r6,0;\nL:\nshfl.sync.down.b32 %r1|%p1,%r0,1,31,-1;\nadd.u32 "
          "%r5,%r5,%r1;\nmov.u32 %r0,%r1;\nadd.u32 %r6,%r6,1;\nsetp.lt.u32 %p0,%r6,10;\n@%p0 bra "
          "L;\nst.global.u32 [%o],%r5;");
    H("reconverge-then-ballot", NULL, 32, 32,
      LDA "mov.u32 %r2,0;\nand.b32 %r1,%l,1;\nsetp.ne.u32 %p0,%r1,0;\n@%p0 bra OD;\nadd.u32 "
          "%r2,%r2,5;\nbra J;\nOD:\nadd.u32 %r2,%r2,8;\nJ:\nbar.warp.sync -1;\nsetp.gt.u32 "
          "%p1,%r2,6;\nvote.sync.ballot.b32 %r3,%p1,-1;\nst.global.u32 [%o],%r3;");
    H("diverged-lanes-meet-by-shfl", NULL, 32, 32,
      LDA "and.b32 %r1,%l,1;\nsetp.ne.u32 %p0,%r1,0;\n@%p0 bra OD;\nadd.u32 "
          "%r2,%r0,5;\nshfl.sync.bfly.b32 %r3,%r2,1,31,-1;\nbra J;\nOD:\nadd.u32 "
          "%r2,%r0,8;\nshfl.sync.bfly.b32 %r3,%r2,1,31,-1;\nJ:\nst.global.u32 [%o],%r3;");
    H("spin-on-other-lane", ".shared .u32 flag;", 32, 32,
      "setp.ne.u32 %p0,%t,0;\n@%p0 bra R0;\nmov.u32 %r1,0;\nst.shared.u32 "
      "[flag],%r1;\nR0:\nbar.warp.sync -1;\nsetp.eq.u32 %p1,%l,31;\n@%p1 bra SET;\nmov.u32 "
      "%r4,0;\nW:\nld.volatile.shared.u32 %r2,[flag];\nadd.u32 %r4,%r4,1;\nsetp.gt.u32 "
      "%p3,%r4,1000000;\n@%p3 bra J;\nsetp.eq.u32 %p2,%r2,0;\n@%p2 bra W;\nbra J;\nSET:\nmov.u32 "
      "%r2,42;\nst.volatile.shared.u32 [flag],%r2;\nJ:\nadd.u32 %r3,%r2,%l;\nst.global.u32 "
      "[%o],%r3;");
    H("lock-in-warp", ".shared .u32 lk;\n.shared .u32 ct;", 32, 32,
      "setp.ne.u32 %p0,%t,0;\n@%p0 bra R0;\nmov.u32 %r1,0;\nst.shared.u32 [lk],%r1;\nst.shared.u32 "
      "[ct],%r1;\nR0:\nbar.warp.sync -1;\nmov.u32 %r6,0;\nL:\natom.shared.cas.b32 "
      "%r2,[lk],0,1;\nadd.u32 %r6,%r6,1;\nsetp.gt.u32 %p3,%r6,1000000;\n@%p3 bra J;\nsetp.ne.u32 "
      "%p1,%r2,0;\n@%p1 bra L;\nld.volatile.shared.u32 %r3,[ct];\nadd.u32 "
      "%r3,%r3,%l;\nst.volatile.shared.u32 [ct],%r3;\nmembar.cta;\natom.shared.exch.b32 "
      "%r4,[lk],0;\nJ:\nbar.warp.sync -1;\nld.volatile.shared.u32 %r5,[ct];\nst.global.u32 "
      "[%o],%r5;");
    H("sort-in-local", NULL, 32, 512,
      ".local .align 4 .b32 v[16];\nmov.u64 %x5,v;\nmov.u32 %r0,0;\nF:\nmad.lo.u32 "
      "%r1,%t,16,%r0;\nmad.wide.u32 %x1,%r1,4,%A;\nld.global.u32 %r2,[%x1];\nmad.wide.u32 "
      "%x2,%r0,4,%x5;\nst.local.u32 [%x2],%r2;\nadd.u32 %r0,%r0,1;\nsetp.lt.u32 %p0,%r0,16;\n@%p0 "
      "bra F;\nmov.u32 %r0,1;\nSI:\nmad.wide.u32 %x2,%r0,4,%x5;\nld.local.u32 %r2,[%x2];\nmov.u32 "
      "%r3,%r0;\nSJ:\nsetp.eq.u32 %p1,%r3,0;\n@%p1 bra SP;\nmad.wide.u32 "
      "%x3,%r3,4,%x5;\nld.local.u32 %r4,[%x3+-4];\nsetp.le.u32 %p2,%r4,%r2;\n@%p2 bra "
      "SP;\nst.local.u32 [%x3],%r4;\nsub.u32 %r3,%r3,1;\nbra SJ;\nSP:\nmad.wide.u32 "
      "%x3,%r3,4,%x5;\nst.local.u32 [%x3],%r2;\nadd.u32 %r0,%r0,1;\nsetp.lt.u32 %p3,%r0,16;\n@%p3 "
      "bra SI;\nmov.u32 %r0,0;\nG:\nmad.lo.u32 %r1,%t,16,%r0;\nmad.wide.u32 "
      "%x1,%r1,4,%O;\nmad.wide.u32 %x2,%r0,4,%x5;\nld.local.u32 %r2,[%x2];\nst.global.u32 "
      "[%x1],%r2;\nadd.u32 %r0,%r0,1;\nsetp.lt.u32 %p4,%r0,16;\n@%p4 bra G;");
    H("crc32", NULL, 64, 64,
      LDA "not.b32 %r1,%r0;\nmov.u32 %r2,0;\nL:\nand.b32 %r3,%r1,1;\nneg.s32 %r3,%r3;\nand.b32 "
          "%r3,%r3,0xedb88320;\nshr.u32 %r1,%r1,1;\nxor.b32 %r1,%r1,%r3;\nadd.u32 "
          "%r2,%r2,1;\nsetp.lt.u32 %p0,%r2,32;\n@%p0 bra L;\nst.global.u32 [%o],%r1;");
    H("sieve-shared", ".shared .b8 c[1024];", 64, 64,
      "mov.u32 %r1,c;\nmov.u32 %r2,%t;\nZ:\nadd.u32 %r3,%r1,%r2;\nmov.u32 %r4,0;\nst.shared.u8 "
      "[%r3],%r4;\nadd.u32 %r2,%r2,64;\nsetp.lt.u32 %p0,%r2,1024;\n@%p0 bra Z;\nbar.sync "
      "0;\nadd.u32 %r5,%t,2;\nadd.u32 %r6,%r5,%r5;\nM:\nsetp.ge.u32 %p1,%r6,1024;\n@%p1 bra "
      "D;\nadd.u32 %r3,%r1,%r6;\nmov.u32 %r4,1;\nst.shared.u8 [%r3],%r4;\nadd.u32 "
      "%r6,%r6,%r5;\nbra M;\nD:\nbar.sync 0;\nmov.u32 %r7,0;\nmov.u32 %r2,%t;\nS0:\nadd.u32 "
      "%r3,%r1,%r2;\nld.shared.u8 %r4,[%r3];\nxor.b32 %r4,%r4,1;\nmad.lo.u32 "
      "%r7,%r7,2,%r4;\nadd.u32 %r2,%r2,64;\nsetp.lt.u32 %p2,%r2,1024;\n@%p2 bra S0;\nst.global.u32 "
      "[%o],%r7;");
    H("xorshift-1000", NULL, 64, 64,
      LDA "mov.u32 %r2,0;\nL:\nshl.b32 %r1,%r0,13;\nxor.b32 %r0,%r0,%r1;\nshr.u32 "
          "%r1,%r0,17;\nxor.b32 %r0,%r0,%r1;\nshl.b32 %r1,%r0,5;\nxor.b32 %r0,%r0,%r1;\nadd.u32 "
          "%r2,%r2,1;\nsetp.lt.u32 %p0,%r2,1000;\n@%p0 bra L;\nst.global.u32 [%o],%r0;");
    H("matmul-8x8-f32", NULL, 64, 64,
      "shr.u32 %r1,%t,3;\nand.b32 %r2,%t,7;\nmov.f32 %r5,0f00000000;\nmov.u32 "
      "%r3,0;\nL:\nmad.lo.u32 %r4,%r1,8,%r3;\nmad.wide.u32 %x1,%r4,4,%C;\nld.global.f32 "
      "%r6,[%x1+8192];\nmad.lo.u32 %r4,%r3,8,%r2;\nmad.wide.u32 %x1,%r4,4,%C;\nld.global.f32 "
      "%r7,[%x1+8448];\nfma.rn.f32 %r5,%r6,%r7,%r5;\nadd.u32 %r3,%r3,1;\nsetp.lt.u32 "
      "%p0,%r3,8;\n@%p0 bra L;\nst.global.f32 [%o],%r5;");
}
// ---- functions ----
#define CALL1(f)                                                                                   \
    "{\n.param .b32 pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall (rv)," f                    \
    ",(pa);\nld.param.b32 %r1,[rv];\n}\n"
GROUP(functions)
{
    S();
    std_inputs();
    H("direct",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
      "%q0,[a];\nmad.lo.u32 %q1,%q0,3,7;\nst.param.b32 [r],%q1;\nret;\n}",
      64, 64, LDA CALL1("f") "st.global.u32 [%o],%r1;");
    H("call.uni",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q0,[a];\nnot.b32 "
      "%q1,%q0;\nst.param.b32 [r],%q1;\nret.uni;\n}",
      64, 64,
      LDA "{\n.param .b32 pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall.uni "
          "(rv),f,(pa);\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("register-arguments",
      ".func (.reg .b32 %q1) f(.reg .b32 %q0,.reg .b32 %q2)\n{\nadd.u32 %q1,%q0,%q2;\nret;\n}", 64,
      64, LDA "call (%r1),f,(%r0,%t);\nst.global.u32 [%o],%r1;");
    H("no-arguments", ".global .u32 G;\n.func f()\n{\nred.global.add.u32 [G],2;\nret;\n}", 64, 1,
      "call f;\nbar.sync 0;\nmembar.gl;\nld.volatile.global.u32 %r0,[G];\nst.global.u32 [%O],%r0;");
    H("predicated-call",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q0,[a];\nadd.u32 "
      "%q1,%q0,1000;\nst.param.b32 [r],%q1;\nret;\n}",
      64, 64,
      "mov.u32 %r0,%t;\nmov.u32 %r1,%t;\nsetp.lt.u32 %p0,%t,20;\n@!%p0 bra J;\n" CALL1(
          "f") "J:\nst.global.u32 [%o],%r1;");
    H("chain-of-3",
      ".func (.param .b32 r) h(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q0,[a];\nxor.b32 "
      "%q1,%q0,0x55;\nst.param.b32 [r],%q1;\nret;\n}\n.func (.param .b32 r) g(.param .b32 "
      "a)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q0,[a];\nadd.u32 %q0,%q0,11;\n{\n.param .b32 "
      "x;\n.param .b32 y;\nst.param.b32 [x],%q0;\ncall (y),h,(x);\nld.param.b32 "
      "%q1,[y];\n}\nadd.u32 %q1,%q1,%q0;\nst.param.b32 [r],%q1;\nret;\n}\n.func (.param .b32 r) "
      "f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q0,[a];\n{\n.param .b32 x;\n.param "
      ".b32 y;\nst.param.b32 [x],%q0;\ncall (y),g,(x);\nld.param.b32 %q1,[y];\n}\nmul.lo.u32 "
      "%q1,%q1,%q0;\nst.param.b32 [r],%q1;\nret;\n}",
      64, 64, LDA CALL1("f") "st.global.u32 [%o],%r1;");
    H("recursive-factorial",
      ".func (.param .b32 r) f(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a)\n{\n.reg "
      ".b32 %q<4>;\n.reg .pred %z;\nld.param.b32 %q0,[a];\nmov.u32 %q1,1;\nsetp.le.u32 "
      "%z,%q0,1;\n@%z bra D;\nsub.u32 %q2,%q0,1;\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 "
      "[x],%q2;\ncall (y),f,(x);\nld.param.b32 %q3,[y];\n}\nmul.lo.u32 "
      "%q1,%q3,%q0;\nD:\nst.param.b32 [r],%q1;\nret;\n}",
      32, 32, "and.b32 %r0,%t,15;\n" CALL1("f") "st.global.u32 [%o],%r1;");
    H("recursive-fibonacci",
      ".func (.param .b32 r) f(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a)\n{\n.reg "
      ".b32 %q<6>;\n.reg .pred %z;\nld.param.b32 %q0,[a];\nmov.u32 %q1,%q0;\nsetp.lt.u32 "
      "%z,%q0,2;\n@%z bra D;\nsub.u32 %q2,%q0,1;\nsub.u32 %q4,%q0,2;\n{\n.param .b32 x;\n.param "
      ".b32 y;\nst.param.b32 [x],%q2;\ncall (y),f,(x);\nld.param.b32 %q3,[y];\n}\n{\n.param .b32 "
      "x;\n.param .b32 y;\nst.param.b32 [x],%q4;\ncall (y),f,(x);\nld.param.b32 "
      "%q5,[y];\n}\nadd.u32 %q1,%q3,%q5;\nD:\nst.param.b32 [r],%q1;\nret;\n}",
      32, 32, "and.b32 %r0,%t,11;\n" CALL1("f") "st.global.u32 [%o],%r1;");
    H("mutual-recursion",
      ".func (.param .b32 r) od(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a)\n{\n.reg "
      ".b32 %q<4>;\n.reg .pred %z;\nld.param.b32 %q0,[a];\nmov.u32 %q1,1;\nsetp.eq.u32 "
      "%z,%q0,0;\n@%z bra D;\nsub.u32 %q2,%q0,1;\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 "
      "[x],%q2;\ncall (y),od,(x);\nld.param.b32 %q1,[y];\n}\nD:\nst.param.b32 "
      "[r],%q1;\nret;\n}\n.func (.param .b32 r) od(.param .b32 a)\n{\n.reg .b32 %q<4>;\n.reg .pred "
      "%z;\nld.param.b32 %q0,[a];\nmov.u32 %q1,0;\nsetp.eq.u32 %z,%q0,0;\n@%z bra D;\nsub.u32 "
      "%q2,%q0,1;\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x],%q2;\ncall "
      "(y),f,(x);\nld.param.b32 %q1,[y];\n}\nD:\nst.param.b32 [r],%q1;\nret;\n}",
      32, 32, "mov.u32 %r0,%t;\n" CALL1("f") "st.global.u32 [%o],%r1;");
    const char *four = ".func (.param .b32 r) f0(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
                       "%q0,[a];\nadd.u32 %q1,%q0,1;\nst.param.b32 [r],%q1;\nret;\n}\n.func "
                       "(.param .b32 r) f1(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
                       "%q0,[a];\nmul.lo.u32 %q1,%q0,5;\nst.param.b32 [r],%q1;\nret;\n}\n.func "
                       "(.param .b32 r) f2(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
                       "%q0,[a];\nnot.b32 %q1,%q0;\nst.param.b32 [r],%q1;\nret;\n}\n";
    char d[4000];
    H("indirect-table-global", T("$1.global .u64 tb[3]={f0,f1,f2};", four), 64, 64,
      LDA "rem.u32 %r3,%t,3;\nmov.u64 %x1,tb;\nmad.wide.u32 %x1,%r3,8,%x1;\nld.global.u64 "
          "%x2,[%x1];\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n{\n.param .b32 "
          "pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall (rv),%x2,(pa),proto;\nld.param.b32 "
          "%r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("indirect-table-const", T("$1.const .u64 tb[3]={f2,f0,f1};", four), 64, 64,
      LDA "rem.u32 %r3,%t,3;\nmov.u64 %x1,tb;\nmad.wide.u32 %x1,%r3,8,%x1;\nld.const.u64 "
          "%x2,[%x1];\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n{\n.param .b32 "
          "pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall (rv),%x2,(pa),proto;\nld.param.b32 "
          "%r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("indirect-mov-address", four, 64, 64,
      LDA
      "mov.u64 %x2,f1;\nsetp.lt.u32 %p0,%t,32;\n@%p0 mov.u64 %x2,f2;\nproto: .callprototype "
      "(.param .b32 _) _ (.param .b32 _);\n{\n.param .b32 pa;\n.param .b32 rv;\nst.param.b32 "
      "[pa],%r0;\ncall (rv),%x2,(pa),proto;\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("indirect-calltargets", four, 64, 64,
      LDA
      "mov.u64 %x2,f0;\nand.b32 %r2,%t,1;\nsetp.eq.u32 %p0,%r2,0;\n@%p0 mov.u64 %x2,f1;\ntgts: "
      ".calltargets f0,f1,f2;\n{\n.param .b32 pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall "
      "(rv),%x2,(pa),tgts;\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("call.uni-indirect", four, 64, 64,
      LDA "mov.u64 %x2,f2;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n{\n.param "
          ".b32 pa;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\ncall.uni "
          "(rv),%x2,(pa),proto;\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    (void)d;
    H("struct-by-value",
      ".func (.param .b64 r) f(.param .align 8 .b8 s[24])\n{\n.reg .b32 %q<4>;\n.reg .b64 "
      "%y<4>;\nld.param.u8 %q0,[s];\nld.param.u16 %q1,[s+2];\nld.param.b32 "
      "%q2,[s+4];\nld.param.b64 %y0,[s+8];\nld.param.b64 %y1,[s+16];\nadd.u32 "
      "%q0,%q0,%q1;\nadd.u32 %q0,%q0,%q2;\ncvt.u64.u32 %y2,%q0;\nxor.b64 %y0,%y0,%y1;\nadd.u64 "
      "%y0,%y0,%y2;\nst.param.b64 [r],%y0;\nret;\n}",
      64, 128,
      LDA "cvt.u64.u32 %x1,%r0;\nshl.b64 %x2,%x1,20;\n{\n.param .align 8 .b8 ps[24];\n.param .b64 "
          "rv;\ncvt.u16.u32 %h0,%r0;\nst.param.b8 [ps],%h0;\nst.param.b16 "
          "[ps+2],%h0;\nst.param.b32 [ps+4],%t;\nst.param.b64 [ps+8],%x1;\nst.param.b64 "
          "[ps+16],%x2;\ncall (rv),f,(ps);\nld.param.b64 %x3,[rv];\n}\nmad.wide.u32 "
          "%x4,%t,8,%O;\nst.global.u64 [%x4],%x3;");
    H("struct-returned",
      ".func (.param .align 16 .b8 r[32]) f(.param .b32 a)\n{\n.reg .b32 %q<5>;\nld.param.b32 "
      "%q0,[a];\nadd.u32 %q1,%q0,1;\nadd.u32 %q2,%q0,2;\nadd.u32 %q3,%q0,3;\nst.param.v4.b32 "
      "[r],{%q0,%q1,%q2,%q3};\nst.param.v2.b32 [r+16],{%q3,%q2};\nst.param.b32 "
      "[r+24],%q1;\nst.param.b32 [r+28],%q0;\nret;\n}",
      32, 256,
      LDA "{\n.param .b32 pa;\n.param .align 16 .b8 rv[32];\nst.param.b32 [pa],%r0;\ncall "
          "(rv),f,(pa);\nld.param.v4.b32 {%r1,%r2,%r3,%r4},[rv];\nld.param.v4.b32 "
          "{%r5,%r6,%r7,%r8},[rv+16];\n}\nmad.wide.u32 %x1,%t,32,%O;\nst.global.v4.b32 "
          "[%x1],{%r1,%r2,%r3,%r4};\nst.global.v4.b32 [%x1+16],{%r5,%r6,%r7,%r8};");
    H("array-param",
      ".func (.param .b32 r) f(.param .align 4 .b32 v[8],.param .b32 i)\n{\n.reg .b32 %q<4>;\n.reg "
      ".b64 %y<3>;\n.reg .pred %z;\nld.param.b32 %q0,[i];\nld.param.b32 %q1,[v];\nsetp.eq.u32 "
      "%z,%q0,1;\n@%z ld.param.b32 %q1,[v+4];\nsetp.eq.u32 %z,%q0,2;\n@%z ld.param.b32 "
      "%q1,[v+8];\nld.param.b32 %q2,[v+28];\nadd.u32 %q1,%q1,%q2;\nst.param.b32 [r],%q1;\nret;\n}",
      64, 64,
      "rem.u32 %r3,%t,3;\n{\n.param .align 4 .b32 pv[8];\n.param .b32 pi;\n.param .b32 "
      "rv;\nst.param.b32 [pv],10;\nst.param.b32 [pv+4],20;\nst.param.b32 [pv+8],30;\nst.param.b32 "
      "[pv+12],40;\nst.param.b32 [pv+16],50;\nst.param.b32 [pv+20],60;\nst.param.b32 "
      "[pv+24],70;\nst.param.b32 [pv+28],%t;\nst.param.b32 [pi],%r3;\ncall "
      "(rv),f,(pv,pi);\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("many-arguments",
      ".func (.param .b64 r) f(.param .b32 a,.param .b64 b,.param .f32 c,.param .f64 d,.param .b32 "
      "e,.param .b64 g,.param .b32 h,.param .b32 i)\n{\n.reg .b32 %q<6>;\n.reg .b64 "
      "%y<6>;\nld.param.b32 %q0,[a];\nld.param.b64 %y0,[b];\nld.param.b32 %q1,[c];\nld.param.b64 "
      "%y1,[d];\nld.param.b32 %q2,[e];\nld.param.b64 %y2,[g];\nld.param.b32 %q3,[h];\nld.param.b32 "
      "%q4,[i];\nxor.b32 %q0,%q0,%q1;\nadd.u32 %q0,%q0,%q2;\nsub.u32 %q0,%q0,%q3;\nxor.b32 "
      "%q0,%q0,%q4;\nxor.b64 %y0,%y0,%y1;\nadd.u64 %y0,%y0,%y2;\ncvt.u64.u32 %y3,%q0;\nadd.u64 "
      "%y0,%y0,%y3;\nst.param.b64 [r],%y0;\nret;\n}",
      32, 64,
      LDA "cvt.u64.u32 %x1,%r0;\nmul.lo.u64 %x2,%x1,0x123456789;\ncvt.rn.f64.u32 "
          "%x3,%r0;\n{\n.param .b32 a;\n.param .b64 b;\n.param .f32 c;\n.param .f64 d;\n.param "
          ".b32 e;\n.param .b64 g;\n.param .b32 h;\n.param .b32 i;\n.param .b64 rv;\nst.param.b32 "
          "[a],%r0;\nst.param.b64 [b],%x2;\nst.param.f32 [c],0f3f800000;\nst.param.b64 "
          "[d],%x3;\nst.param.b32 [e],%t;\nst.param.b64 [g],%x1;\nst.param.b32 "
          "[h],17;\nst.param.b32 [i],%l;\ncall (rv),f,(a,b,c,d,e,g,h,i);\nld.param.b64 "
          "%x4,[rv];\n}\nmad.wide.u32 %x5,%t,8,%O;\nst.global.u64 [%x5],%x4;");
    H("narrow-byte-arrays",
      ".func (.param .b32 r) f(.param .align 4 .b8 a[4],.param .align 2 .b8 b[2],.param .align 1 "
      ".b8 c[1])\n{\n.reg .b32 %q<4>;\n.reg .b16 %w<4>;\nld.param.u8 %q0,[a];\nld.param.u16 "
      "%q1,[b];\nld.param.s8 %q2,[c];\nmad.lo.u32 %q3,%q0,100000,%q1;\nadd.u32 "
      "%q3,%q3,%q2;\nst.param.b32 [r],%q3;\nret;\n}",
      64, 64,
      LDA "cvt.u16.u32 %h0,%r0;\n{\n.param .align 4 .b8 a[4];\n.param .align 2 .b8 b[2];\n.param "
          ".align 1 .b8 c[1];\n.param .b32 rv;\nst.param.b8 [a],%h0;\nst.param.b16 "
          "[b],%h0;\nst.param.b8 [c],%h0;\ncall (rv),f,(a,b,c);\nld.param.b32 "
          "%r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("pointer-to-local",
      ".func f(.param .b64 p,.param .b32 n)\n{\n.reg .b64 %y<3>;\n.reg .b32 %q<4>;\n.reg .pred "
      "%z;\nld.param.b64 %y0,[p];\nld.param.b32 %q0,[n];\nmov.u32 %q1,0;\nL:\nmul.lo.u32 "
      "%q2,%q1,%q0;\nst.u32 [%y0],%q2;\nadd.u64 %y0,%y0,4;\nadd.u32 %q1,%q1,1;\nsetp.lt.u32 "
      "%z,%q1,8;\n@%z bra L;\nret;\n}",
      32, 32,
      ".local .align 8 .b8 v[32];\nmov.u64 %x1,v;\ncvta.local.u64 %x1,%x1;\n{\n.param .b64 "
      "p;\n.param .b32 n;\nst.param.b64 [p],%x1;\nst.param.b32 [n],%t;\ncall "
      "f,(p,n);\n}\nld.local.u32 %r1,[v+28];\nld.local.u32 %r2,[v+4];\nadd.u32 "
      "%r1,%r1,%r2;\nst.global.u32 [%o],%r1;");
    H("divergent-call",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\n.reg .pred %z;\nld.param.b32 "
      "%q0,[a];\nmov.u32 %q1,0;\nL:\nand.b32 %q2,%q0,1;\nadd.u32 %q1,%q1,%q2;\nshr.u32 "
      "%q0,%q0,1;\nsetp.ne.u32 %z,%q0,0;\n@%z bra L;\nst.param.b32 [r],%q1;\nret;\n}",
      64, 64,
      LDA "mov.u32 %r1,99;\nand.b32 %r2,%t,1;\nsetp.eq.u32 %p0,%r2,0;\n@%p0 bra J;\n" CALL1(
          "f") "J:\nst.global.u32 [%o],%r1;");
    H("early-return",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\n.reg .pred %z;\nld.param.b32 "
      "%q0,[a];\nsetp.gt.s32 %z,%q0,0;\nst.param.b32 [r],7;\n@%z ret;\nst.param.b32 "
      "[r],9;\nret;\n}",
      64, 64, LDA CALL1("f") "st.global.u32 [%o],%r1;");
    H("barrier-inside",
      ".shared .u32 sm[64];\n.func (.param .b32 r) f(.param .b32 a,.param .b32 t)\n{\n.reg .b32 "
      "%q<6>;\nld.param.b32 %q0,[a];\nld.param.b32 %q1,[t];\nmov.u32 %q2,sm;\nmad.lo.u32 "
      "%q3,%q1,4,%q2;\nst.shared.u32 [%q3],%q0;\nbar.sync 0;\nxor.b32 %q1,%q1,9;\nmad.lo.u32 "
      "%q3,%q1,4,%q2;\nld.shared.u32 %q4,[%q3];\nst.param.b32 [r],%q4;\nret;\n}",
      64, 64,
      LDA
      "{\n.param .b32 pa;\n.param .b32 pt;\n.param .b32 rv;\nst.param.b32 [pa],%r0;\nst.param.b32 "
      "[pt],%t;\ncall (rv),f,(pa,pt);\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
    H("exit-inside-function",
      ".func f(.param .b32 a)\n{\n.reg .b32 %q<3>;\n.reg .pred %z;\nld.param.b32 "
      "%q0,[a];\nsetp.lt.u32 %z,%q0,10;\n@%z exit;\nret;\n}",
      32, 32,
      "st.global.u32 [%o],%t;\n{\n.param .b32 pa;\nst.param.b32 [pa],%t;\ncall f,(pa);\n}\nadd.u32 "
      "%r1,%t,100;\nst.global.u32 [%o],%r1;");
    H("weak-func",
      ".weak .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
      "%q0,[a];\nadd.u32 %q1,%q0,3;\nst.param.b32 [r],%q1;\nret;\n}",
      32, 32, "mov.u32 %r0,%t;\n" CALL1("f") "st.global.u32 [%o],%r1;");
    H("visible-func",
      ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
      "%q0,[a];\nadd.u32 %q1,%q0,4;\nst.param.b32 [r],%q1;\nret;\n}",
      32, 32, "mov.u32 %r0,%t;\n" CALL1("f") "st.global.u32 [%o],%r1;");
    H("alias",
      ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
      "%q0,[a];\nadd.u32 %q1,%q0,6;\nst.param.b32 [r],%q1;\nret;\n}\n.visible .func (.param .b32 "
      "r) g(.param .b32 a);\n.alias g,f;",
      32, 32, "mov.u32 %r0,%t;\n" CALL1("g") "st.global.u32 [%o],%r1;");
    H("local-array-per-call",
      ".func (.param .b32 r) f(.param .b32 a)\n{\n.local .align 4 .b8 st[64];\n.reg .b32 "
      "%q<4>;\n.reg .b64 %y<3>;\nld.param.b32 %q0,[a];\nand.b32 %q1,%q0,15;\nmov.u64 "
      "%y0,st;\nmad.wide.u32 %y1,%q1,4,%y0;\nst.local.u32 [%y1],%q0;\nxor.b32 "
      "%q1,%q1,0;\nmad.wide.u32 %y1,%q1,4,%y0;\nld.local.u32 %q2,[%y1];\nadd.u32 "
      "%q2,%q2,1;\nst.param.b32 [r],%q2;\nret;\n}",
      32, 32, LDA CALL1("f") "st.global.u32 [%o],%r1;");
    H("alloca", NULL, 32, 32,
      "add.u32 %r1,%l,4;\nmul.wide.u32 %x1,%r1,4;\nalloca.u64 %x2,%x1,16;\nmov.u32 "
      "%r2,0;\nL:\nmad.wide.u32 %x3,%r2,4,%x2;\nmul.lo.u32 %r3,%r2,%t;\nst.local.u32 "
      "[%x3],%r3;\nadd.u32 %r2,%r2,1;\nsetp.lt.u32 %p0,%r2,%r1;\n@%p0 bra L;\nmov.u32 "
      "%r4,0;\nmov.u32 %r2,0;\nM:\nmad.wide.u32 %x3,%r2,4,%x2;\nld.local.u32 %r3,[%x3];\nadd.u32 "
      "%r4,%r4,%r3;\nadd.u32 %r2,%r2,1;\nsetp.lt.u32 %p0,%r2,%r1;\n@%p0 bra M;\nst.global.u32 "
      "[%o],%r4;");
    H("stacksave", NULL, 32, 32,
      "stacksave.u64 %x5;\nalloca.u64 %x2,64;\nst.local.u32 [%x2+12],%t;\nld.local.u32 "
      "%r0,[%x2+12];\nstackrestore.u64 %x5;\nst.global.u32 [%o],%r0;");
    H("noreturn", ".func f(.param .b32 a)\n.noreturn\n{\nexit;\n}", 32, 32,
      "st.global.u32 [%o],%t;\nsetp.lt.u32 %p0,%t,32;\n@!%p0 bra J;\n{\n.param .b32 "
      "pa;\nst.param.b32 [pa],%t;\ncall f,(pa);\n}\nJ:");
    H("variadic",
      ".func (.param .b32 r) f(.param .b32 n,.param .align 8 .b8 va[])\n{\n.reg .b32 %q<4>;\n.reg "
      ".b64 %y<3>;\nld.param.b32 %q0,[n];\nld.param.b32 %q1,[va];\nld.param.b64 "
      "%y0,[va+8];\ncvt.u32.u64 %q2,%y0;\nadd.u32 %q1,%q1,%q2;\nadd.u32 %q1,%q1,%q0;\nst.param.b32 "
      "[r],%q1;\nret;\n}",
      32, 32,
      "cvt.u64.u32 %x1,%l;\n{\n.param .b32 n;\n.param .align 8 .b8 va[16];\n.param .b32 "
      "rv;\nst.param.b32 [n],2;\nst.param.b32 [va],%t;\nst.param.b64 [va+8],%x1;\ncall "
      "(rv),f,(n,va);\nld.param.b32 %r1,[rv];\n}\nst.global.u32 [%o],%r1;");
}

// ---- address spaces, initialisers ----
GROUP(spaces)
{
    S();
    std_inputs();
#define DUMP(n) "L:\nsetp.ge.u32 %p0,%t," #n ";\n@%p0 bra D;\n"
    H("global-init-u32", ".global .u32 g[6]={1,2,0xffffffff,-5};", 8, 6,
      "setp.ge.u32 %p0,%t,6;\n@%p0 bra D;\nmov.u64 %x1,g;\nmad.wide.u32 "
      "%x1,%t,4,%x1;\nld.global.u32 %r0,[%x1];\nst.global.u32 [%o],%r0;\nD:");
    H("global-init-mixed",
      ".global .align 4 .b8 a[7]={1,2,3,255,-1};\n.global .f32 f=0f40490fdb;\n.global .f64 "
      "d=0d400921fb54442d18;\n.global .s16 s[3]={-1,32767,7};\n.global .u64 "
      "q[2]={0x123456789abcdef,5};\n.global .f32 fl[2]={1.5,-2.25};",
      1, 12,
      "ld.global.u32 %r0,[a];\nst.global.u32 [%O],%r0;\nld.global.u8 %r0,[a+4];\nst.global.u32 "
      "[%O+4],%r0;\nld.global.u8 %r0,[a+6];\nst.global.u32 [%O+8],%r0;\nld.global.b32 "
      "%r0,[f];\nst.global.u32 [%O+12],%r0;\nld.global.b64 %x0,[d];\nst.global.u64 "
      "[%O+16],%x0;\nld.global.s16 %r0,[s];\nst.global.u32 [%O+24],%r0;\nld.global.s16 "
      "%r0,[s+2];\nst.global.u32 [%O+28],%r0;\nld.global.u64 %x0,[q];\nst.global.u64 "
      "[%O+32],%x0;\nld.global.b32 %r0,[fl];\nst.global.u32 [%O+40],%r0;\nld.global.b32 "
      "%r0,[fl+4];\nst.global.u32 [%O+44],%r0;");
    H("global-init-2d", ".global .u32 g[3][4]={{1,2,3,4},{5,6},{9}};", 12, 12,
      "mov.u64 %x1,g;\nmad.wide.u32 %x1,%t,4,%x1;\nld.global.u32 %r0,[%x1];\nst.global.u32 "
      "[%o],%r0;");
    H("global-address-init",
      ".global .u32 v[4]={10,20,30,40};\n.global .u64 p[3]={v,v+8,generic(v)+12};", 1, 3,
      "ld.global.u64 %x1,[p];\nld.global.u32 %r0,[%x1];\nst.global.u32 [%O],%r0;\nld.global.u64 "
      "%x1,[p+8];\nld.global.u32 %r0,[%x1];\nst.global.u32 [%O+4],%r0;\nld.global.u64 "
      "%x1,[p+16];\nld.u32 %r0,[%x1];\nst.global.u32 [%O+8],%r0;");
    H("global-address-bytes",
      ".global .u32 v=77;\n.global .u8 "
      "p[8]={0xff(v),0xff00(v),0xff0000(v),0xff000000(v),0xff00000000(v),0xff0000000000(v),"
      "0xff000000000000(v),0xff00000000000000(v)};",
      1, 1,
      "mov.u64 %x0,0;\nmov.u32 %r1,0;\nL:\nmov.u64 %x1,p;\ncvt.u64.u32 %x2,%r1;\nadd.u64 "
      "%x1,%x1,%x2;\nld.global.u8 %x3,[%x1];\nshl.b32 %r2,%r1,3;\nshl.b64 %x3,%x3,%r2;\nor.b64 "
      "%x0,%x0,%x3;\nadd.u32 %r1,%r1,1;\nsetp.lt.u32 %p0,%r1,8;\n@%p0 bra L;\nld.global.u32 "
      "%r0,[%x0];\nst.global.u32 [%O],%r0;");
    H("global-zero", ".global .align 16 .b8 z[512];", 128, 128,
      "mov.u64 %x1,z;\nmad.wide.u32 %x1,%t,4,%x1;\nld.global.u32 %r0,[%x1];\nst.global.u32 "
      "[%o],%r0;");
    H("const-init", ".const .u32 c[5]={11,22,33,44,55};", 8, 8,
      "rem.u32 %r1,%t,5;\nmov.u64 %x1,c;\nmad.wide.u32 %x1,%r1,4,%x1;\nld.const.u32 "
      "%r0,[%x1];\nst.global.u32 [%o],%r0;");
    H("const-fixed-offset", ".const .align 8 .b8 c[16]={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16};",
      1, 4,
      "ld.const.v2.u32 {%r0,%r1},[c+8];\nst.global.v2.u32 [%O],{%r0,%r1};\nld.const.u16 "
      "%r2,[c+2];\nld.const.s8 %r3,[c+15];\nst.global.v2.u32 [%O+8],{%r2,%r3};");
    H("const-uninitialised", ".const .u32 c[4];", 4, 4,
      "mov.u64 %x1,c;\nmad.wide.u32 %x1,%t,4,%x1;\nld.const.u32 %r0,[%x1];\nst.global.u32 "
      "[%o],%r0;");
    H("const-generic", ".const .u32 c[4]={7,8,9,10};", 4, 4,
      "mov.u64 %x1,c;\ncvta.const.u64 %x1,%x1;\nmad.wide.u32 %x1,%t,4,%x1;\nld.u32 "
      "%r0,[%x1];\nst.global.u32 [%o],%r0;");
    H("const-64k", ".const .u32 c[16380]={1,2,3};", 32, 32,
      "mul.lo.u32 %r1,%t,528;\nmov.u64 %x1,c;\nmad.wide.u32 %x1,%r1,4,%x1;\nld.const.u32 "
      "%r0,[%x1];\nst.global.u32 [%o],%r0;");
    H("const-pointer-to-const",
      ".const .u32 c[4]={7,8,9,10};\n.const .u64 p=c+8;\n.const .u64 gp=generic(c)+4;", 1, 2,
      "ld.const.u64 %x1,[p];\nld.const.u32 %r0,[%x1];\nst.global.u32 [%O],%r0;\nld.const.u64 "
      "%x1,[gp];\nld.u32 %r0,[%x1];\nst.global.u32 [%O+4],%r0;");
    H("shared-two-arrays", ".shared .align 8 .u32 s1[32];\n.shared .align 8 .u64 s2[32];", 32, 96,
      "mov.u32 %r1,s1;\nmov.u32 %r2,s2;\nmad.lo.u32 %r1,%t,4,%r1;\nmad.lo.u32 "
      "%r2,%t,8,%r2;\nst.shared.u32 [%r1],%t;\nmul.wide.u32 %x1,%t,0x10001;\nst.shared.u64 "
      "[%r2],%x1;\nbar.sync 0;\nxor.b32 %r3,%t,3;\nmov.u32 %r1,s1;\nmov.u32 %r2,s2;\nmad.lo.u32 "
      "%r1,%r3,4,%r1;\nmad.lo.u32 %r2,%r3,8,%r2;\nld.shared.u32 %r4,[%r1];\nld.shared.u64 "
      "%x2,[%r2];\nst.global.u32 [%o],%r4;\nmad.wide.u32 %x3,%t,8,%O;\nst.global.u64 "
      "[%x3+128],%x2;");
    HG("shared-dynamic", ".extern .shared .align 16 .b8 dy[];",
       "mov.u32 %r1,dy;\nmad.lo.u32 %r2,%t,8,%r1;\nst.shared.v2.u32 [%r2],{%t,%l};\nbar.sync "
       "0;\nxor.b32 %r3,%t,17;\nmad.lo.u32 %r2,%r3,8,%r1;\nld.shared.v2.u32 "
       "{%r4,%r5},[%r2];\nmad.lo.u32 %r4,%r4,1000,%r5;\nst.global.u32 [%o],%r4;",
       1, 64, 1, 1, 512, 64, 0);
    HG("shared-dynamic-100K", ".extern .shared .align 16 .b8 dy[];",
       "mov.u32 %r1,dy;\nmad.lo.u32 %r2,%t,1600,%r1;\nst.shared.u32 [%r2],%t;\nbar.sync "
       "0;\nxor.b32 %r3,%t,63;\nmad.lo.u32 %r2,%r3,1600,%r1;\nld.shared.u32 "
       "%r4,[%r2];\nst.global.u32 [%o],%r4;",
       1, 64, 1, 1, 102400, 64, 0);
    HG("shared-static-and-dynamic",
       ".shared .align 4 .u32 st[16];\n.extern .shared .align 16 .b8 dy[];",
       "mov.u32 %r1,dy;\nmov.u32 %r2,st;\nsub.u32 %r3,%r1,%r2;\nsetp.ge.u32 %p0,%r3,64;\nand.b32 "
       "%r4,%r1,15;\nselp.b32 %r5,1,0,%p0;\nmad.lo.u32 %r5,%r4,16,%r5;\nst.global.u32 [%o],%r5;",
       1, 1, 1, 1, 256, 1, 0);
    HG("shared-two-externs-alias",
       ".extern .shared .align 16 .b8 d1[];\n.extern .shared .align 4 .b32 d2[];",
       "mov.u32 %r1,d1;\nmov.u32 %r2,d2;\nsetp.eq.u32 %p0,%r1,%r2;\nselp.b32 "
       "%r5,1,0,%p0;\nst.global.u32 [%o],%r5;",
       1, 1, 1, 1, 256, 1, 0);
    H("generic-to-all", ".global .u32 g=5;\n.shared .u32 s;\n.const .u32 c=6;", 1, 4,
      ".local .u32 lv;\nmov.u32 %r1,7;\nst.shared.u32 [s],%r1;\nmov.u32 %r2,8;\nst.local.u32 "
      "[lv],%r2;\nmov.u64 %x0,g;\ncvta.global.u64 %x0,%x0;\nmov.u64 %x1,s;\ncvta.shared.u64 "
      "%x1,%x1;\nmov.u64 %x2,c;\ncvta.const.u64 %x2,%x2;\nmov.u64 %x3,lv;\ncvta.local.u64 "
      "%x3,%x3;\nld.u32 %r3,[%x0];\nld.u32 %r4,[%x1];\nld.u32 %r5,[%x2];\nld.u32 "
      "%r6,[%x3];\nst.global.v4.u32 [%O],{%r3,%r4,%r5,%r6};");
    H("generic-store", ".global .u32 g=5;\n.shared .u32 s;", 1, 3,
      ".local .u32 lv;\nmov.u64 %x0,g;\ncvta.global.u64 %x0,%x0;\nmov.u64 %x1,s;\ncvta.shared.u64 "
      "%x1,%x1;\nmov.u64 %x3,lv;\ncvta.local.u64 %x3,%x3;\nst.u32 [%x0],11;\nst.u32 "
      "[%x1],12;\nst.u32 [%x3],13;\nld.global.u32 %r3,[g];\nld.shared.u32 %r4,[s];\nld.local.u32 "
      "%r5,[lv];\nst.global.u32 [%O],%r3;\nst.global.u32 [%O+4],%r4;\nst.global.u32 [%O+8],%r5;");
    H("cvta.to-round-trip", ".global .u32 g=5;\n.shared .u32 s;\n.const .u32 c=6;", 1, 4,
      ".local .u32 lv;\nmov.u64 %x0,g;\ncvta.global.u64 %x4,%x0;\ncvta.to.global.u64 "
      "%x4,%x4;\nsetp.eq.u64 %p0,%x0,%x4;\nmov.u64 %x1,s;\ncvta.shared.u64 "
      "%x4,%x1;\ncvta.to.shared.u64 %x4,%x4;\nsetp.eq.u64 %p1,%x1,%x4;\nmov.u64 "
      "%x2,c;\ncvta.const.u64 %x4,%x2;\ncvta.to.const.u64 %x4,%x4;\nsetp.eq.u64 "
      "%p2,%x2,%x4;\nmov.u64 %x3,lv;\ncvta.local.u64 %x4,%x3;\ncvta.to.local.u64 "
      "%x4,%x4;\nsetp.eq.u64 %p3,%x3,%x4;\nselp.b32 %r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nselp.b32 "
      "%r2,1,0,%p2;\nselp.b32 %r3,1,0,%p3;\nst.global.v4.u32 [%O],{%r0,%r1,%r2,%r3};");
    H("shared-in-32-bits", ".shared .u32 s[4];", 1, 1,
      "mov.u64 %x1,s;\ncvta.shared.u64 %x1,%x1;\ncvta.to.shared.u64 %x2,%x1;\ncvt.u32.u64 "
      "%r1,%x2;\nst.shared.u32 [%r1+4],77;\nld.shared.u32 %r0,[s+4];\nst.global.u32 [%O],%r0;");
    {
        char b[6000];
        strcpy(b, ".local .u32 lv;\nst.local.u32 [lv],1;\nmov.u64 %x0,g;\ncvta.global.u64 "
                  "%x0,%x0;\nmov.u64 %x1,s;\ncvta.shared.u64 %x1,%x1;\nmov.u64 "
                  "%x2,c;\ncvta.const.u64 %x2,%x2;\nmov.u64 %x3,lv;\ncvta.local.u64 "
                  "%x3,%x3;\ncvta.global.u64 %x4,%A;\nmov.u64 %x5,po;\ncvta.param.u64 %x5,%x5;\n");
        int k = 0;
        EACH(sp, "global", "shared", "local", "const", "shared::cta", "shared::cluster", "param",
             "param::entry")
        {
            strcat(b, "mov.u32 %r0,0;\n");
            for (int i = 0; i < 6; i++)
                strcat(b, T("isspacep.$1 %p0,%x$2;\n@%p0 or.b32 %r0,%r0,$3;\n", *sp, N(i),
                            X(1u << i)));
            strcat(b, T("st.global.u32 [%O+$1],%r0;\n", N(4 * k)));
            k++;
        }
        H("isspacep", ".global .u32 g=5;\n.shared .u32 s;\n.const .u32 c=6;", 1, 8, b);
    }
    H("isspacep-null", NULL, 1, 4,
      "mov.u64 %x0,0;\nisspacep.global %p0,%x0;\nisspacep.shared %p1,%x0;\nisspacep.local "
      "%p2,%x0;\nisspacep.const %p3,%x0;\nselp.b32 %r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nselp.b32 "
      "%r2,1,0,%p2;\nselp.b32 %r3,1,0,%p3;\nst.global.v4.u32 [%O],{%r0,%r1,%r2,%r3};");
    H("local-array-index", NULL, 32, 32,
      ".local .align 8 .b8 v[128];\nmov.u64 %x1,v;\nmov.u32 %r1,0;\nL:\nmad.wide.u32 "
      "%x2,%r1,4,%x1;\nmad.lo.u32 %r2,%r1,%r1,%t;\nst.local.u32 [%x2],%r2;\nadd.u32 "
      "%r1,%r1,1;\nsetp.lt.u32 %p0,%r1,32;\n@%p0 bra L;\nxor.b32 %r3,%t,21;\nmad.wide.u32 "
      "%x2,%r3,4,%x1;\nld.local.u32 %r0,[%x2];\nst.global.u32 [%o],%r0;");
    H("local-private-per-thread", NULL, 64, 64,
      ".local .u32 v;\nst.local.u32 [v],%t;\nbar.sync 0;\nld.local.u32 %r0,[v];\nst.global.u32 "
      "[%o],%r0;");
    H("local-8K", NULL, 32, 32,
      ".local .align 4 .b8 v[8192];\nmov.u64 %x1,v;\nmov.u32 %r1,0;\nL:\nmad.wide.u32 "
      "%x2,%r1,4,%x1;\nadd.u32 %r2,%r1,%t;\nst.local.u32 [%x2],%r2;\nadd.u32 "
      "%r1,%r1,1;\nsetp.lt.u32 %p0,%r1,2048;\n@%p0 bra L;\nmov.u32 %r0,0;\nmov.u32 "
      "%r1,0;\nM:\nmad.wide.u32 %x2,%r1,4,%x1;\nld.local.u32 %r2,[%x2];\nmad.lo.u32 "
      "%r0,%r0,31,%r2;\nadd.u32 %r1,%r1,7;\nsetp.lt.u32 %p0,%r1,2048;\n@%p0 bra M;\nst.global.u32 "
      "[%o],%r0;");
    H("local-v4-and-bytes", NULL, 32, 32,
      ".local .align 16 .b8 v[64];\nst.local.v4.u32 [v+16],{%t,%l,%t,%l};\nst.local.u8 "
      "[v+17],%t;\nld.local.u32 %r0,[v+16];\nld.local.u16 %r1,[v+20];\nadd.u32 "
      "%r0,%r0,%r1;\nst.global.u32 [%o],%r0;");
    H("misc-align-decl",
      ".global .align 256 .b8 big[64];\n.global .align 1 .b8 odd[3];\n.global .align 128 .u32 "
      "q;\n.shared .align 1024 .b8 sa[16];",
      1, 3,
      "mov.u64 %x0,big;\nand.b64 %x0,%x0,255;\ncvt.u32.u64 %r0,%x0;\nmov.u64 %x1,q;\nand.b64 "
      "%x1,%x1,127;\ncvt.u32.u64 %r1,%x1;\nmov.u32 %r2,sa;\nand.b32 %r2,%r2,1023;\nst.global.u32 "
      "[%O],%r0;\nst.global.u32 [%O+4],%r1;\nst.global.u32 [%O+8],%r2;");
    H("negative-offset", NULL, 32, 32,
      "mad.wide.u32 %x0,%t,4,%A;\nadd.u64 %x0,%x0,64;\nld.global.u32 %r0,[%x0+-64];\nld.global.u32 "
      "%r1,[%x0+-60];\nxor.b32 %r0,%r0,%r1;\nst.global.u32 [%o],%r0;");
    H("v2-with-sink", NULL, 32, 32,
      "mad.wide.u32 %x0,%t,16,%A;\nld.global.v4.u32 {%r0,_,%r2,_},[%x0];\nadd.u32 "
      "%r0,%r0,%r2;\nst.global.u32 [%o],%r0;");
    H("vector-register", NULL, 32, 128,
      ".reg .v4 .b32 V;\nmad.wide.u32 %x0,%t,16,%A;\nld.global.v4.b32 V,[%x0];\nadd.u32 "
      "%r0,V.x,V.w;\nxor.b32 %r1,V.y,V.z;\nmov.b32 V.x,%r0;\nmov.b32 V.b,%r1;\nmad.wide.u32 "
      "%x1,%t,16,%O;\nst.global.v4.b32 [%x1],V;");
}

// ---- mov, pack, unpack ----
GROUP(pack)
{
    S();
    E("mov.b32-2x16", "w:hh", "mov.b32 %d,{%a,%b};");
    E("mov.b32-unpack", "hh:w", "mov.b32 {%d,%e},%a;");
    E("mov.b64-2x32", "l:ww", "mov.b64 %d,{%a,%b};");
    E("mov.b64-unpack", "ww:l", "mov.b64 {%d,%e},%a;");
    E("mov.b64-4x16", "l:hhh", "mov.b64 %d,{%a,%b,%c,%a};");
    E("mov.b64-unpack4", "hhhh:l", "mov.b64 {%d,%e,%f,%g},%a;");
    E("mov.b128", "ll:ll", ".reg .b128 %w;\nmov.b128 %w,{%a,%b};\nmov.b128 {%e,%d},%w;");
    E("mov.b64-unpack-sink", "w:l", "mov.b64 {_,%d},%a;");
    E("mov.b32-4x8", "w:w",
      ".reg .b8 %q<4>;\nmov.b32 {%q0,%q1,%q2,%q3},%a;\nmov.b32 %d,{%q3,%q2,%q1,%q0};");
    E("mov.b16-2x8", "h:h", ".reg .b8 %q<2>;\nmov.b16 {%q0,%q1},%a;\nmov.b16 %d,{%q1,%q0};");
    E("mov.f32-bits", "F:F", "mov.f32 %d,%a;");
    E("mov.f64-bits", "D:D", "mov.f64 %d,%a;");
    E("mov.pred", "w:w", "setp.gt.s32 %p0,%a,0;\nmov.pred %p1,%p0;\nselp.b32 %d,1,0,%p1;");
    E("mov-immediates", "wwll:0",
      "mov.b32 %d,0x80000000;\nmov.f32 %e,0d3ff8000000000000;\nmov.f64 %f,0f3fc00000;\nmov.s64 "
      "%g,-1;");
    E("constant-expressions", "wwww:0",
      "mov.u32 %d,(3+4)*5-2;\nmov.s32 %e,-7/2;\nmov.u32 %f,(1<<20)|0xff;\nmov.s32 %g,5>3?~0:12;");
    E("constant-expressions-2", "wwll:0",
      "mov.s32 %d,-7*3;\nmov.u32 %e,!5+!0;\nmov.u64 %f,0xffffffffU*2;\nmov.s64 %g,(.s64)-1>>1;");
    E("immediate-radix", "wwww:0",
      "mov.u32 %d,0b1011;\nmov.u32 %e,0777;\nmov.u32 %f,0xFfU;\nmov.u32 %g,4294967295;");
    E("float-immediates", "FFDD:0",
      "mov.f32 %d,1.1;\nmov.f32 %e,-3.0e10;\nmov.f64 %f,1.1;\nmov.f64 %g,1e-300;");
    E("WARP_SZ", "w:0", "mov.u32 %d,WARP_SZ;");
    E("f16x2-pack-arith", "P:HH", "mov.b32 %t0,{%a,%b};\nadd.rn.f16x2 %d,%t0,%t0;");
    E("cvt-and-pack", "w:FF",
      "cvt.rn.f16.f32 %h0,%a;\ncvt.rn.f16.f32 %h1,%b;\nmov.b32 %d,{%h0,%h1};");
    E("shift-pack-chain", "l:ww",
      "mov.b64 %x0,{%a,%b};\nshl.b64 %x1,%x0,13;\nshr.s64 %x2,%x0,7;\nxor.b64 %d,%x1,%x2;");
    E("movmatrix-like-swap", "ww:ww", "mov.b64 %x0,{%a,%b};\nmov.b64 {%e,%d},%x0;");
    E("istypep-free-nop", "w:w", "mov.b32 %d,%a;");
    E("subword-regs", "w:w",
      "cvt.u16.u32 %h0,%a;\nadd.u16 %h1,%h0,0xffff;\nmul.wide.u16 %d,%h0,%h1;");
    E("szext-chain", "w:w", "bfe.s32 %t0,%a,4,8;\nbfi.b32 %d,%t0,%a,16,12;");
}

// ---- special registers ----
GROUP(sreg)
{
    S();
    std_inputs();
    static const char *q[][5] = {
        {"tid", "%tid.x", "%tid.y", "%tid.z", 0},
        {"ntid", "%ntid.x", "%ntid.y", "%ntid.z", 0},
        {"ctaid", "%ctaid.x", "%ctaid.y", "%ctaid.z", 0},
        {"nctaid", "%nctaid.x", "%nctaid.y", "%nctaid.z", 0},
        {"lanemask-less", "%laneid", "%lanemask_le", "%lanemask_lt", 0},
        {"lanemask-greater", "%lanemask_eq", "%lanemask_ge", "%lanemask_gt", 0},
        {"nwarpid", "%nwarpid", "%laneid", "%tid.x", 0},
        {"smem-size", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", 0},
        {"clusterid", "%clusterid.x", "%clusterid.y", "%clusterid.z", 0},
        {"nclusterid", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z", 0},
        {"cluster_ctaid", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", 0},
        {"cluster_nctaid", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", 0},
        {"cluster_rank", "%cluster_ctarank", "%cluster_nctarank", "%cluster_ctarank", 0}};
    for (unsigned i = 0; i < sizeof q / sizeof *q; i++) {
        char b[2000];
        strcpy(b, "mov.u32 %r0,%tid.x;\nmov.u32 %r1,%tid.y;\nmov.u32 %r2,%tid.z;\nmad.lo.u32 "
                  "%r1,%r2,3,%r1;\nmad.lo.u32 %r0,%r1,5,%r0;\nmov.u32 %r3,%ctaid.x;\nmad.lo.u32 "
                  "%r0,%r3,60,%r0;\nmad.wide.u32 %x0,%r0,12,%O;\n");
        for (int k = 0; k < 3; k++)
            strcat(b, T("mov.u32 %r4,$1;\nst.global.u32 [%x0+$2],%r4;\n", q[i][k + 1], N(4 * k)));
        HG(q[i][0], NULL, b, 3, 5, 3, 4, i == 7 ? 777 : 0, 540, 0);
    }
    HG("shared-sizes-static", ".shared .b8 st[1000];",
       "mov.u32 %r0,%dynamic_smem_size;\nst.global.u32 [%O],%r0;\nmov.u32 "
       "%r0,%total_smem_size;\nst.global.u32 [%O+4],%r0;\nst.shared.u8 [st+5],%r0;\nmov.u32 "
       "%r0,%aggr_smem_size;\nst.global.u32 [%O+8],%r0;",
       1, 1, 1, 1, 100, 3, 0);
    H("reserved_smem", NULL, 1, 3,
      "mov.b32 %r0,%reserved_smem_offset_begin;\nmov.b32 %r1,%reserved_smem_offset_end;\nmov.b32 "
      "%r2,%reserved_smem_offset_cap;\nst.global.u32 [%O],%r0;\nst.global.u32 "
      "[%O+4],%r1;\nst.global.u32 [%O+8],%r2;");
    H("is_explicit_cluster", NULL, 1, 1,
      "mov.pred %p0,%is_explicit_cluster;\nselp.b32 %r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    H("current_graph_exec", NULL, 1, 2,
      "mov.u64 %x0,%current_graph_exec;\nst.global.u64 [%O],%x0;");
    H("smid-below-nsmid", NULL, 1, 1,
      "mov.u32 %r0,%smid;\nmov.u32 %r1,%nsmid;\nsetp.lt.u32 %p0,%r0,%r1;\nselp.b32 "
      "%r2,1,0,%p0;\nst.global.u32 [%O],%r2;");
    H("warpid-distinct", ".shared .u32 w[4];", 128, 128,
      "mov.u32 %r0,%warpid;\nshr.u32 %r1,%t,5;\nmov.u32 %r2,w;\nmad.lo.u32 "
      "%r3,%r1,4,%r2;\nst.shared.u32 [%r3],%r0;\nbar.sync 0;\nmov.u32 %r4,0;\nmov.u32 "
      "%r5,0;\nL:\nmad.lo.u32 %r6,%r5,4,%r2;\nld.shared.u32 %r7,[%r6];\nsetp.eq.u32 "
      "%p0,%r7,%r0;\n@%p0 add.u32 %r4,%r4,1;\nadd.u32 %r5,%r5,1;\nsetp.lt.u32 %p1,%r5,4;\n@%p1 bra "
      "L;\nmov.u32 %r8,%nwarpid;\nsetp.lt.u32 %p2,%r0,%r8;\nselp.b32 %r9,100,0,%p2;\nadd.u32 "
      "%r4,%r4,%r9;\nst.global.u32 [%o],%r4;");
    H("gridid-same", ".global .u64 g;", 64, 64,
      "mov.u64 %x1,%gridid;\nsetp.ne.u32 %p0,%t,0;\n@!%p0 st.global.u64 [g],%x1;\nbar.sync "
      "0;\nld.volatile.global.u64 %x2,[g];\nsetp.eq.u64 %p1,%x1,%x2;\nselp.b32 "
      "%r0,1,0,%p1;\nst.global.u32 [%o],%r0;");
    H("clock-readable", NULL, 1, 2,
      "mov.u32 %r1,%clock;\nand.b32 %r1,%r1,0;\nst.global.u32 [%O],%r1;\nmov.u32 "
      "%r1,%clock_hi;\nand.b32 %r1,%r1,0;\nst.global.u32 [%O+4],%r1;");
    EACH(c, "clock64", "globaltimer")
    H(T("$1-not-decreasing", *c), NULL, 1, 1,
      T("mov.u64 %x1,%$1;\nnanosleep.u32 2000;\nmov.u64 %x2,%$1;\nsetp.ge.u64 "
        "%p0,%x2,%x1;\nselp.b32 %r0,1,0,%p0;\nst.global.u32 [%O],%r0;",
        *c));
    H("clock64-advances", NULL, 1, 1,
      "mov.u64 %x1,%clock64;\nmov.u32 %r1,0;\nL:\nadd.u32 %r1,%r1,1;\nld.volatile.global.u32 "
      "%r2,[%A];\nsetp.lt.u32 %p0,%r1,20;\n@%p0 bra L;\nmov.u64 %x2,%clock64;\nsetp.gt.u64 "
      "%p0,%x2,%x1;\nselp.b32 %r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    H("globaltimer_lo_hi", NULL, 1, 1,
      "mov.u32 %r0,%globaltimer_hi;\nmov.u64 %x0,%globaltimer;\nshr.u64 %x0,%x0,32;\ncvt.u32.u64 "
      "%r1,%x0;\nsub.u32 %r2,%r1,%r0;\nsetp.le.u32 %p0,%r2,1;\nselp.b32 "
      "%r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    H("tid-v4", NULL, 8, 32,
      ".reg .v4 .b32 V;\nmov.v4.u32 V,%tid;\nmad.wide.u32 %x0,%t,16,%O;\nst.global.v4.b32 "
      "[%x0],V;");
    H("ntid-v4", NULL, 8, 4, ".reg .v4 .b32 V;\nmov.v4.u32 V,%ntid;\nst.global.v4.b32 [%O],V;");
    H("tid-u16", NULL, 32, 32,
      "mov.u16 %h0,%tid.x;\ncvt.u32.u16 %r0,%h0;\nst.global.u32 [%o],%r0;");
}
// ---- whole modules: several entries, own signatures, parameters by value ----
// runs the named entries in order, each with the same parameter bytes (64-bit output address first)
static void M(const char *name, const char *text, const char *entries, const void *par, size_t npar,
              unsigned bx, unsigned nw)
{
    if (!B(name))
        return;
    P0();
    P(text);
    if (dumpdir) {
        dump_();
        return;
    }
    CUmodule m = ld(0);
    if (!m)
        return;
    CUresult r;
    unsigned char pb[4200];
    if (npar)
        memcpy(pb, par, npar);
    memcpy(pb, &dO, 8);
    if (npar < 8)
        npar = 8;
    if ((r = cuMemsetD8(dO, 0xcd, nw * 4)))
        bail("memset", r);
    char e[200];
    snprintf(e, sizeof e, "%s", entries);
    for (char *s = strtok(e, " "); s; s = strtok(0, " ")) {
        CUfunction f;
        if ((r = cuModuleGetFunction(&f, m, s))) {
            OUT("get %s %s ", s, R(r));
            continue;
        }
        void *ex[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, pb, CU_LAUNCH_PARAM_BUFFER_SIZE, &npar,
                      CU_LAUNCH_PARAM_END};
        if ((r = cuLaunchKernel(f, 1, 1, 1, bx, 1, 1, 0, 0, 0, ex))) {
            OUT("launch %s %s ", s, R(r));
            continue;
        }
        if ((r = cuCtxSynchronize()))
            bail("sync", r);
    }
    if ((r = cuMemcpyDtoH(outb, dO, nw * 4)))
        bail("copy", r);
    cuModuleUnload(m);
    show_words(nw);
}
#define KE(nm, body)                                                                               \
    ".visible .entry " nm "(.param .u64 o)\n{\n.reg .b64 %x<9>;\n.reg .b32 %r<9>;\n.reg .b16 "     \
    "%h<9>;\n.reg .pred %p<9>;\nld.param.u64 %x0,[o];\ncvta.to.global.u64 "                        \
    "%x0,%x0;\nmov.u32 %r0,%tid.x;\nmad.wide.u32 %x1,%r0,4,%x0;\n" body "\nret;\n}\n"
#define V(v, t) ".version " v "\n.target " t "\n.address_size 64\n"
GROUP(modules)
{
    S();
    struct {
        uint64_t o;
        uint32_t a[1022];
    } p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 1022; i++)
        p.a[i] = 0x01010101u * i + 7;
    M("two-entries",
      HEAD ".global .u32 g=3;\n" KE(
          "a", "st.global.u32 [%x1],%r0;\n@!%p0 bra X;\nX:\nst.global.u32 [g],9;")
          KE("b", "ld.global.u32 %r1,[g];\nld.global.u32 %r2,[%x1];\nmad.lo.u32 "
                  "%r2,%r2,100,%r1;\nst.global.u32 [%x1],%r2;"),
      "a b", 0, 0, 32, 32);
    M("global-persists-between-launches",
      HEAD ".global .u32 g=3;\n" KE(
          "a", "mov.u32 %r2,0;\nsetp.eq.u32 %p1,%r0,0;\n@%p1 atom.global.add.u32 %r2,[g],5;\n@%p1 "
               "st.global.u32 [%x0],%r2;"),
      "a a a", 0, 0, 32, 1);
    M("entry-not-visible",
      HEAD ".entry a(.param .u64 o)\n{\nret;\n}\n" KE("b", "st.global.u32 [%x1],%r0;"), "a b", 0, 0,
      4, 4);
    M("entry-weak",
      HEAD ".weak .entry a(.param .u64 o)\n{\n.reg .b64 %x<2>;\nld.param.u64 %x0,[o];\nst.u32 "
           "[%x0],5;\nret;\n}\n",
      "a", 0, 0, 1, 1);
    M("weak-global",
      HEAD ".weak .global .u32 g=31;\n" KE("a", "ld.global.u32 %r1,[g];\nst.global.u32 [%x1],%r1;"),
      "a", 0, 0, 1, 1);
    M("visible-globals",
      HEAD ".visible .global .u32 g=32;\n.visible .const .u32 c=33;\n" KE(
          "a", "ld.global.u32 %r1,[g];\nld.const.u32 %r2,[c];\nadd.u32 %r1,%r1,%r2;\nst.global.u32 "
               "[%x1],%r1;"),
      "a", 0, 0, 1, 1);
    M("common-global",
      HEAD ".common .global .u32 g;\n" KE("a", "ld.global.u32 %r1,[g];\nst.global.u32 [%x1],%r1;"),
      "a", 0, 0, 1, 1);
    M("extern-declared-and-defined",
      HEAD ".extern .global .u32 g;\n.visible .global .u32 g=8;\n" KE(
          "a", "ld.global.u32 %r1,[g];\nst.global.u32 [%x1],%r1;"),
      "a", 0, 0, 1, 1);
    M("func-declared-then-defined",
      HEAD
      ".visible .func (.param .b32 r) f(.param .b32 a);\n.visible .func (.param .b32 r) f(.param "
      ".b32 a)\n{\n.reg .b32 %q<2>;\nld.param.b32 %q0,[a];\nadd.u32 %q0,%q0,9;\nst.param.b32 "
      "[r],%q0;\nret;\n}\n" KE("a", CALL1("f") "st.global.u32 [%x1],%r1;"),
      "a", 0, 0, 8, 8);
    M("params-mixed",
      HEAD ".visible .entry a(.param .u64 o,.param .u8 b,.param .u16 h,.param .f32 f,.param .u64 "
           "q,.param .align 16 .b8 s[20])\n{\n.reg .b64 %x<4>;\n.reg .b32 %r<8>;\nld.param.u64 "
           "%x0,[o];\nld.param.u8 %r0,[b];\nld.param.u16 %r1,[h];\nld.param.b32 "
           "%r2,[f];\nld.param.u64 %x1,[q];\nld.param.v4.u32 {%r3,%r4,%r5,%r6},[s];\nld.param.u8 "
           "%r7,[s+19];\nst.v2.u32 [%x0],{%r0,%r1};\nst.u32 [%x0+8],%r2;\nst.u64 "
           "[%x0+16],%x1;\nst.v4.u32 [%x0+32],{%r3,%r4,%r5,%r6};\nst.u32 [%x0+48],%r7;\nret;\n}\n",
      "a", &p, 52, 1, 13);
    M("params-4092-bytes",
      HEAD ".visible .entry a(.param .u64 o,.param .align 4 .b8 s[4084])\n{\n.reg .b64 "
           "%x<4>;\n.reg .b32 %r<8>;\nld.param.u64 %x0,[o];\nld.param.u32 %r0,[s];\nld.param.u32 "
           "%r1,[s+2048];\nld.param.u32 %r2,[s+4080];\nst.u32 [%x0],%r0;\nst.u32 "
           "[%x0+4],%r1;\nst.u32 [%x0+8],%r2;\nret;\n}\n",
      "a", &p, 4092, 1, 3);
    M("param-array-dynamic-index",
      HEAD ".visible .entry a(.param .u64 o,.param .align 4 .b8 s[256])\n{\n.reg .b64 %x<6>;\n.reg "
           ".b32 %r<8>;\nld.param.u64 %x0,[o];\nmov.u32 %r0,%tid.x;\nmov.u64 %x1,s;\nxor.b32 "
           "%r1,%r0,5;\nmad.wide.u32 %x2,%r1,4,%x1;\nld.param.u32 %r2,[%x2];\nmad.wide.u32 "
           "%x3,%r0,4,%x0;\nst.u32 [%x3],%r2;\nret;\n}\n",
      "a", &p, 264, 32, 32);
    M("param-generic-address",
      HEAD ".visible .entry a(.param .u64 o,.param .align 8 .b8 s[64])\n{\n.reg .b64 %x<6>;\n.reg "
           ".b32 %r<8>;\nld.param.u64 %x0,[o];\nmov.u64 %x1,s;\ncvta.param.u64 %x1,%x1;\nld.u32 "
           "%r0,[%x1+12];\nst.u32 [%x0],%r0;\nret;\n}\n",
      "a", &p, 72, 1, 1);
    M("param-ptr-attributes",
      HEAD ".visible .entry a(.param .u64 .ptr .global .align 16 o)\n{\n.reg .b64 "
           "%x<2>;\nld.param.u64 %x0,[o];\nst.global.u32 [%x0],21;\nret;\n}\n",
      "a", 0, 0, 1, 1);
    M("param-no-args-but-o",
      HEAD ".global .u32 g;\n.visible .entry z()\n{\nred.global.add.u32 [g],4;\nret;\n}\n" KE(
          "b", "ld.global.u32 %r1,[g];\nst.global.u32 [%x1],%r1;"),
      "b", 0, 0, 1, 1);
    EACH(d, ".maxntid 64", ".maxntid 32,2,1", ".reqntid 32", ".minnctapersm 4\n.maxntid 128",
         ".maxnreg 32", ".maxntid 128\n.maxnreg 24")
    M(T("directive-$1", *d),
      T(HEAD
        ".visible .entry a(.param .u64 o)\n$1\n{\n.reg .b64 %x<3>;\n.reg .b32 %r<3>;\nld.param.u64 "
        "%x0,[o];\nmov.u32 %r0,%tid.x;\nmad.wide.u32 %x1,%r0,4,%x0;\nst.u32 [%x1],%r0;\nret;\n}\n",
        *d),
      "a", 0, 0, 32, 32);
    M("reqntid-wrong-block", HEAD ".visible .entry a(.param .u64 o)\n.reqntid 64\n{\nret;\n}\n",
      "a", 0, 0, 32, 1);
    M("maxntid-exceeded", HEAD ".visible .entry a(.param .u64 o)\n.maxntid 16\n{\nret;\n}\n", "a",
      0, 0, 32, 1);
    EACH(v, "9.0", "8.8", "7.8", "6.0", "5.0", "3.2")
    {
        M(T("version-$1", *v),
          T(".version $1\n.target $2\n.address_size 64\n" KE("a", "st.global.u32 [%x1],%r0;"), *v,
            (*v)[0] < '5' ? "sm_30" : "sm_50"),
          "a", 0, 0, 4, 4);
    }
    EACH(t, "sm_52", "sm_70", "sm_80", "sm_89")
    M(T("target-$1", *t),
      T(".version 8.5\n.target $1\n.address_size 64\n" KE("a", "st.global.u32 [%x1],%r0;"), *t),
      "a", 0, 0, 4, 4);
    M("sm_30-vote-without-sync",
      V("6.0", "sm_30")
          KE("a", "setp.lt.u32 %p0,%r0,5;\nvote.ballot.b32 %r1,%p0;\nst.global.u32 [%x1],%r1;"),
      "a", 0, 0, 32, 32);
    M("sm_30-shfl-without-sync",
      V("6.0", "sm_30")
          KE("a", "mul.lo.u32 %r1,%r0,3;\nshfl.bfly.b32 %r2,%r1,1,31;\nst.global.u32 [%x1],%r2;"),
      "a", 0, 0, 32, 32);
    M("texmode_independent",
      V("8.5", "sm_90,texmode_independent") KE("a", "st.global.u32 [%x1],%r0;"), "a", 0, 0, 4, 4);
    M("comments-and-tabs",
      "/* c */ // d\n\t.version\t8.5 // e\n.target sm_90 /* x\ny */\n.address_size 64\n" KE(
          "a", "/*q*/st.global.u32\t[ %x1 ] , %r0 ; // z"),
      "a", 0, 0, 4, 4);
    M("crlf",
      ".version 8.5\r\n.target sm_90\r\n.address_size 64\r\n.visible .entry a(.param .u64 "
      "o)\r\n{\r\n.reg .b64 %x<2>;\r\nld.param.u64 %x0,[o];\r\nst.u32 [%x0],6;\r\nret;\r\n}\r\n",
      "a", 0, 0, 1, 1);
    M("loc-and-file",
      HEAD ".file 1 \"a.cu\"\n" KE("a", ".loc 1 3 4\nst.global.u32 [%x1],%r0;\n.loc 1 5 1"), "a", 0,
      0, 4, 4);
    M("pragma",
      HEAD ".pragma \"nounroll\";\n" KE("a", ".pragma \"nounroll\";\nst.global.u32 [%x1],%r0;"),
      "a", 0, 0, 4, 4);
    M("section-debug",
      HEAD KE("a", "st.global.u32 [%x1],%r0;") ".section .debug_str\n{\n.b8 97,98,0\n}\n", "a", 0,
      0, 4, 4);
    M("names-with-dollar-and-underscore",
      HEAD ".global .u32 $g_1=5;\n.global .u32 _x$=6;\n.global .u32 %pc=7;\n" KE(
          "$k$_1",
          "ld.global.u32 %r1,[$g_1];\nld.global.u32 %r2,[_x$];\nld.global.u32 %r3,[%pc];\nadd.u32 "
          "%r1,%r1,%r2;\nadd.u32 %r1,%r1,%r3;\nst.global.u32 [%x1],%r1;"),
      "$k$_1", 0, 0, 1, 1);
    M("scoped-registers",
      HEAD KE("a", "mov.u32 %r1,1;\n{\n.reg .b32 %r1;\nmov.u32 %r1,50;\nadd.u32 "
                   "%r0,%r0,%r1;\n}\nadd.u32 %r0,%r0,%r1;\nst.global.u32 [%x1],%r0;"),
      "a", 0, 0, 4, 4);
    M("scoped-labels",
      HEAD KE("a", "{\nbra L;\nL:\nadd.u32 %r0,%r0,1;\n}\n{\nbra L;\nL:\nadd.u32 "
                   "%r0,%r0,2;\n}\nst.global.u32 [%x1],%r0;"),
      "a", 0, 0, 4, 4);
    M("grid-constant-attributes",
      HEAD ".visible .entry a(.param .u64 o)\n.explicitcluster\n{\nret;\n}\n" KE(
          "b", "st.global.u32 [%x1],%r0;"),
      "b", 0, 0, 4, 4);
    M("blocksareclusters-free", V("9.0", "sm_90") KE("a", "st.global.u32 [%x1],%r0;"), "a", 0, 0, 4,
      4);
}

// ---- textures ----
struct tx {
    const char *geom;
    CUarray_format fmt;
    int ch, w, h, d, flags, levels;
    CUaddress_mode am;
    int linear;
    unsigned tf;
    const char *rt, *ct, *op;
    float border;
    int mip;
    float bias, lo, hi;
    int mem;
};
static int fsize(CUarray_format f)
{
    switch (f) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    default:
        return 4;
    }
}
static void texels(unsigned char *p, CUarray_format f, size_t n, int level)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t k = i * 37 + 11 + level * 64;
        float v = (int)((i * 7 + level * 16) % 61) - 20;
        uint32_t u;
        memcpy(&u, &v, 4);
        switch (f) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            p[i] = k;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
            ((uint16_t *)p)[i] = k * 263;
            break;
        case CU_AD_FORMAT_HALF:
            ((uint16_t *)p)[i] = fromdbl('H', v);
            break;
        case CU_AD_FORMAT_FLOAT:
            ((uint32_t *)p)[i] = u;
            break;
        default:
            ((uint32_t *)p)[i] = k * 0x9e3779b1u;
        }
    }
}
static const char *fn(CUarray_format f)
{
    switch (f) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return "u8";
    case CU_AD_FORMAT_SIGNED_INT8:
        return "s8";
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return "u16";
    case CU_AD_FORMAT_SIGNED_INT16:
        return "s16";
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return "u32";
    case CU_AD_FORMAT_SIGNED_INT32:
        return "s32";
    case CU_AD_FORMAT_HALF:
        return "f16";
    default:
        return "f32";
    }
}
static int coords(const struct tx *t)
{ // sample points (x,y,z,layer) at quarters of a texel, in and out of range
    static const float q[] = {0.5f, 1.5f, 2.25f, 3.0f,  -0.5f,  -1.25f, 0.0f,  7.75f,
                              8.0f, 9.5f, 4.75f, 16.5f, -9.25f, 5.5f,   6.25f, 1.0f};
    int n = 64;
    float *f = (void *)inb[0];
    int norm = t->tf & CU_TRSF_NORMALIZED_COORDINATES,
        cube = !strcmp(t->geom, "cube") || !strcmp(t->geom, "acube");
    for (int i = 0; i < n; i++) {
        float x = q[i % 16], y = q[(i * 5 + i / 16) % 16], z = q[(i * 3 + 2 + i / 16) % 16];
        int layer = i % 7 - 1;
        if (cube) {
            static const float c[] = {1, -1, 0.5f, -0.5f, 0.25f, -0.75f, 0.125f, 0};
            x = c[i % 8];
            y = c[(i / 8 + i) % 8];
            z = c[(i * 3 + 1) % 8];
            if (x == 0 && y == 0 && z == 0)
                x = 1;
        } else if (norm) {
            x /= t->w;
            y /= t->h ? t->h : 1;
            z /= t->d ? t->d : 1;
        }
        if (!strcmp(t->ct, "s32")) {
            int v[4] = {(int)x + i % 3, (int)y, (int)z, layer};
            memcpy(f + i * 4, v, 16);
        } else {
            f[i * 4] = x;
            f[i * 4 + 1] = y;
            f[i * 4 + 2] = z;
            memcpy(&f[i * 4 + 3], &layer, 4);
        }
    }
    return n;
}
static const char *crd(const char *g)
{
    if (!strcmp(g, "1d"))
        return "{%c0}";
    if (!strcmp(g, "2d"))
        return "{%c0,%c1}";
    if (!strcmp(g, "3d") || !strcmp(g, "cube"))
        return "{%c0,%c1,%c2,%c2}";
    if (!strcmp(g, "a1d"))
        return "{%r3,%c0}";
    if (!strcmp(g, "a2d"))
        return "{%r3,%c0,%c1,%c1}";
    return "{%r3,%c0,%c1,%c2}";
}
static void texkernel(const char *geom, const char *ct, const char *inst)
{
    P0();
    P(HEAD SIG
      "{\n.reg .pred %p<4>;\n.reg .b32 %r<20>,%t;\n.reg .b64 %x<8>,%O,%A,%H;\n.reg .b32 "
      "%c<4>,%v<4>;\nld.param.u64 %O,[po];\nld.param.u64 %A,[p0];\nld.param.u64 "
      "%H,[p1];\ncvta.to.global.u64 %O,%O;\ncvta.to.global.u64 %A,%A;\nmov.u32 "
      "%t,%tid.x;\nmad.wide.u32 %x0,%t,16,%A;\nld.global.v4.b32 {%c0,%c1,%c2,%r3},[%x0];\n");
    (void)geom;
    (void)ct;
    P(inst);
    P("\nmad.wide.u32 %x1,%t,16,%O;\nst.global.v4.b32 [%x1],{%v0,%v1,%v2,%v3};\nret;\n}\n");
}
static CUarray mkarr(const struct tx *t, CUmipmappedArray *mm)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = t->w,
                                 .Height = t->h,
                                 .Depth = t->d,
                                 .Format = t->fmt,
                                 .NumChannels = t->ch,
                                 .Flags = t->flags};
    CUarray a = 0;
    CUresult r;
    int L = t->levels ? t->levels : 1;
    if (t->levels) {
        if ((r = cuMipmappedArrayCreate(mm, &d, t->levels))) {
            OUT("mip %s", R(r));
            return 0;
        }
    } else if ((r = cuArray3DCreate(&a, &d))) {
        OUT("array %s", R(r));
        return 0;
    }
    for (int l = 0; l < L; l++) {
        CUarray la = a;
        int w = t->w >> l ?: 1, h = t->h ? t->h >> l ?: 1 : 1;
        int dd = !t->d                                                          ? 1
                 : t->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) ? t->d
                                                                            : t->d >> l ?: 1;
        if (t->levels)
            MUST(cuMipmappedArrayGetLevel(&la, *mm, l));
        static unsigned char tb[1 << 18];
        size_t es = fsize(t->fmt) * t->ch;
        texels(tb, t->fmt, (size_t)w * h * dd * t->ch, l);
        CUDA_MEMCPY3D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = tb;
        c.srcPitch = w * es;
        c.srcHeight = h;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = la;
        c.WidthInBytes = w * es;
        c.Height = h;
        c.Depth = dd;
        if ((r = cuMemcpy3D(&c))) {
            OUT("copy %s", R(r));
            return 0;
        }
        if (t->levels)
            a = la;
    }
    return a;
}
static void TX(const char *name, struct tx t, int quantise)
{
    if (!B(name))
        return;
    char in[600];
    int n = coords(&t);
    if (t.op)
        snprintf(in, sizeof in, "%s", t.op);
    else
        snprintf(in, sizeof in, "tex.%s.v4.%s.%s {%%v0,%%v1,%%v2,%%v3},[%%H,%s];", t.geom, t.rt,
                 t.ct, crd(t.geom));
    texkernel(t.geom, t.ct, in);
    if (dumpdir) {
        dump_();
        return;
    }
    CUmipmappedArray mm = 0;
    CUarray a = 0;
    CUDA_RESOURCE_DESC rd;
    memset(&rd, 0, sizeof rd);
    CUdeviceptr lin = 0;
    CUresult r;
    if (t.mem) {
        static unsigned char tb[1 << 16];
        size_t es = fsize(t.fmt) * t.ch, pitch = 512;
        memset(tb, 0, sizeof tb);
        MUST(cuMemAlloc(&lin, 1 << 16));
        if (t.mem == 1) {
            texels(tb, t.fmt, (size_t)t.w * t.ch, 0);
            rd.resType = CU_RESOURCE_TYPE_LINEAR;
            rd.res.linear.devPtr = lin;
            rd.res.linear.format = t.fmt;
            rd.res.linear.numChannels = t.ch;
            rd.res.linear.sizeInBytes = t.w * es;
        } else {
            for (int y = 0; y < t.h; y++)
                texels(tb + y * pitch, t.fmt, (size_t)t.w * t.ch, y);
            rd.resType = CU_RESOURCE_TYPE_PITCH2D;
            rd.res.pitch2D.devPtr = lin;
            rd.res.pitch2D.format = t.fmt;
            rd.res.pitch2D.numChannels = t.ch;
            rd.res.pitch2D.width = t.w;
            rd.res.pitch2D.height = t.h;
            rd.res.pitch2D.pitchInBytes = pitch;
        }
        MUST(cuMemcpyHtoD(lin, tb, 1 << 16));
    } else {
        a = mkarr(&t, &mm);
        if (!a)
            return;
        if (t.levels) {
            rd.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            rd.res.mipmap.hMipmappedArray = mm;
        } else {
            rd.resType = CU_RESOURCE_TYPE_ARRAY;
            rd.res.array.hArray = a;
        }
    }
    CUDA_TEXTURE_DESC td;
    memset(&td, 0, sizeof td);
    for (int i = 0; i < 3; i++)
        td.addressMode[i] = t.am;
    td.filterMode = t.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    td.flags = t.tf;
    td.mipmapFilterMode = t.mip ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    td.mipmapLevelBias = t.bias;
    td.minMipmapLevelClamp = t.lo;
    td.maxMipmapLevelClamp = t.hi;
    for (int i = 0; i < 4; i++)
        td.borderColor[i] = t.border * (i + 1);
    CUtexObject o = 0;
    r = cuTexObjectCreate(&o, &rd, &td, 0);
    if (r)
        OUT("texobject %s", R(r));
    else {
        MUST(cuMemcpyHtoD(dI[0], inb[0], n * 16));
        if (go3(1, n, 1, 1, 0, n, n * 16, o)) {
            if (quantise)
                for (int i = 0; i < n * 4; i++) {
                    float f;
                    memcpy(&f, outb + i * 4, 4);
                    int32_t v = (int32_t)(f * 256 + (f < 0 ? -0.5f : 0.5f));
                    memcpy(outb + i * 4, &v, 4);
                }
            show_words(n * 4);
        }
        cuTexObjectDestroy(o);
    }
    if (lin)
        cuMemFree(lin);
    if (mm)
        cuMipmappedArrayDestroy(mm);
    else if (a)
        cuArrayDestroy(a);
}
static const CUarray_format FM[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                    CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                    CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                    CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
static const char *AM[] = {"wrap", "clamp", "mirror", "border"};
#define F32 CU_AD_FORMAT_FLOAT
#define U8 CU_AD_FORMAT_UNSIGNED_INT8
#define NRM CU_TRSF_NORMALIZED_COORDINATES
GROUP(tex)
{
    S();
    for (int f = 0; f < 8; f++)
        for (int c = 1; c <= 4; c *= 2) {
            if (c > 1 && f != 0 && f != 2 && f < 6)
                continue;
            if (c == 2 && f != 7)
                continue;
            const char *rt = f < 6 ? (f & 1 ? "s32" : "u32") : "f32";
            TX(T("1d-$1x$2-read", fn(FM[f]), N(c)),
               (struct tx){.geom = "1d",
                           .fmt = FM[f],
                           .ch = c,
                           .w = 8,
                           .am = CU_TR_ADDRESS_MODE_CLAMP,
                           .tf = f < 6 ? CU_TRSF_READ_AS_INTEGER : 0,
                           .rt = rt,
                           .ct = "f32"},
               0);
            if (f < 4)
                TX(T("1d-$1x$2-normalised-float", fn(FM[f]), N(c)),
                   (struct tx){.geom = "1d",
                               .fmt = FM[f],
                               .ch = c,
                               .w = 8,
                               .am = CU_TR_ADDRESS_MODE_CLAMP,
                               .rt = "f32",
                               .ct = "f32"},
                   0);
        }
    for (int a = 0; a < 4; a++)
        for (int nr = 0; nr < 2; nr++)
            for (int l = 0; l < 2; l++) {
                const char *x =
                    T("$1-$2-$3", AM[a], nr ? "normalised" : "texels", l ? "linear" : "point");
                x = strdup(x);
                TX(T("2d-f32-$1", x),
                   (struct tx){.geom = "2d",
                               .fmt = F32,
                               .ch = 1,
                               .w = 8,
                               .h = 8,
                               .am = a,
                               .linear = l,
                               .tf = nr ? NRM : 0,
                               .rt = "f32",
                               .ct = "f32"},
                   0);
                if (nr)
                    TX(T("2d-u8x4-$1", x),
                       (struct tx){.geom = "2d",
                                   .fmt = U8,
                                   .ch = 4,
                                   .w = 8,
                                   .h = 8,
                                   .am = a,
                                   .linear = l,
                                   .tf = nr ? NRM : 0,
                                   .rt = "f32",
                                   .ct = "f32"},
                       l);
                if (nr && l)
                    TX(T("1d-f32-$1", x),
                       (struct tx){.geom = "1d",
                                   .fmt = F32,
                                   .ch = 2,
                                   .w = 8,
                                   .am = a,
                                   .linear = l,
                                   .tf = nr ? NRM : 0,
                                   .rt = "f32",
                                   .ct = "f32"},
                       0);
                if (nr)
                    TX(T("3d-f32-$1", x),
                       (struct tx){.geom = "3d",
                                   .fmt = F32,
                                   .ch = 1,
                                   .w = 8,
                                   .h = 8,
                                   .d = 8,
                                   .am = a,
                                   .linear = l,
                                   .tf = nr ? NRM : 0,
                                   .rt = "f32",
                                   .ct = "f32"},
                       0);
                if (nr && l)
                    TX(T("a2d-f32-$1", x),
                       (struct tx){.geom = "a2d",
                                   .fmt = F32,
                                   .ch = 1,
                                   .w = 8,
                                   .h = 8,
                                   .d = 4,
                                   .flags = CUDA_ARRAY3D_LAYERED,
                                   .am = a,
                                   .linear = l,
                                   .tf = NRM,
                                   .rt = "f32",
                                   .ct = "f32"},
                       0);
            }
    for (int a = 0; a < 4; a++)
        TX(T("2d-f32-6x5-$1", AM[a]),
           (struct tx){.geom = "2d",
                       .fmt = F32,
                       .ch = 1,
                       .w = 6,
                       .h = 5,
                       .am = a,
                       .tf = NRM,
                       .rt = "f32",
                       .ct = "f32"},
           0);
    TX("2d-border-colour-f32",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 4,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .border = 3,
                   .rt = "f32",
                   .ct = "f32"},
       0);
    TX("2d-border-colour-linear",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .linear = 1,
                   .border = 16,
                   .rt = "f32",
                   .ct = "f32"},
       0);
    TX("2d-border-colour-u8-float",
       (struct tx){.geom = "2d",
                   .fmt = U8,
                   .ch = 4,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .border = 0.25f,
                   .rt = "f32",
                   .ct = "f32"},
       1);
    TX("2d-border-u32",
       (struct tx){.geom = "2d",
                   .fmt = CU_AD_FORMAT_UNSIGNED_INT32,
                   .ch = 2,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .tf = CU_TRSF_READ_AS_INTEGER,
                   .rt = "u32",
                   .ct = "f32"},
       0);
    TX("2d-s32-coordinates",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    TX("1d-s32-coordinates",
       (struct tx){.geom = "1d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    TX("3d-s32-coordinates-border",
       (struct tx){.geom = "3d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .d = 8,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    TX("linear-of-integer-refused",
       (struct tx){.geom = "2d",
                   .fmt = CU_AD_FORMAT_UNSIGNED_INT32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .linear = 1,
                   .tf = CU_TRSF_READ_AS_INTEGER,
                   .rt = "u32",
                   .ct = "f32"},
       0);
    TX("a1d-f32",
       (struct tx){.geom = "a1d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .d = 5,
                   .flags = CUDA_ARRAY3D_LAYERED,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "f32"},
       0);
    TX("a1d-s32-coordinates",
       (struct tx){.geom = "a1d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .d = 5,
                   .flags = CUDA_ARRAY3D_LAYERED,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    TX("a2d-u8x4-read",
       (struct tx){.geom = "a2d",
                   .fmt = U8,
                   .ch = 4,
                   .w = 8,
                   .h = 8,
                   .d = 5,
                   .flags = CUDA_ARRAY3D_LAYERED,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = CU_TRSF_READ_AS_INTEGER,
                   .rt = "u32",
                   .ct = "f32"},
       0);
    TX("a2d-f16x2-linear",
       (struct tx){.geom = "a2d",
                   .fmt = CU_AD_FORMAT_HALF,
                   .ch = 2,
                   .w = 8,
                   .h = 8,
                   .d = 5,
                   .flags = CUDA_ARRAY3D_LAYERED,
                   .am = CU_TR_ADDRESS_MODE_WRAP,
                   .linear = 1,
                   .tf = NRM,
                   .rt = "f32",
                   .ct = "f32"},
       0);
    for (int l = 0; l < 2; l++) {
        TX(l ? "cube-linear" : "cube-point",
           (struct tx){.geom = "cube",
                       .fmt = F32,
                       .ch = 1,
                       .w = 8,
                       .h = 8,
                       .d = 6,
                       .flags = CUDA_ARRAY3D_CUBEMAP,
                       .am = CU_TR_ADDRESS_MODE_CLAMP,
                       .linear = l,
                       .tf = NRM,
                       .rt = "f32",
                       .ct = "f32"},
           l);
        TX(l ? "acube-linear" : "acube-point",
           (struct tx){.geom = "acube",
                       .fmt = F32,
                       .ch = 1,
                       .w = 8,
                       .h = 8,
                       .d = 18,
                       .flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
                       .am = CU_TR_ADDRESS_MODE_CLAMP,
                       .linear = l,
                       .tf = NRM,
                       .rt = "f32",
                       .ct = "f32"},
           l);
    }
    TX("cube-seamless-linear",
       (struct tx){.geom = "cube",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .d = 6,
                   .flags = CUDA_ARRAY3D_CUBEMAP,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .linear = 1,
                   .tf = NRM | CU_TRSF_SEAMLESS_CUBEMAP,
                   .rt = "f32",
                   .ct = "f32"},
       1);
    TX("cube-u8x4",
       (struct tx){.geom = "cube",
                   .fmt = U8,
                   .ch = 4,
                   .w = 4,
                   .h = 4,
                   .d = 6,
                   .flags = CUDA_ARRAY3D_CUBEMAP,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM | CU_TRSF_READ_AS_INTEGER,
                   .rt = "u32",
                   .ct = "f32"},
       0);
    TX("2d-srgb-point",
       (struct tx){.geom = "2d",
                   .fmt = U8,
                   .ch = 4,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = CU_TRSF_SRGB,
                   .rt = "f32",
                   .ct = "f32"},
       1);
    TX("2d-arbitrary-fractions",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .linear = 1,
                   .rt = "f32",
                   .ct = "f32",
                   .op =
                       "mul.rn.f32 %c0,%c0,0f3f9e0419;\nmul.rn.f32 "
                       "%c1,%c1,0f3f8ccccd;\ntex.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];"},
       0);
    TX("2d-v4.s32-of-float-array",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 4,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "s32",
                   .ct = "f32"},
       0);
    TX("2d-nan-inf-coordinates",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "and.b32 %r4,%t,3;\nmov.b32 %c0,0f7fc00000;\nsetp.eq.u32 %p0,%r4,1;\n@%p0 "
                         "mov.b32 %c0,0f7f800000;\nsetp.eq.u32 %p0,%r4,2;\n@%p0 mov.b32 "
                         "%c0,0fff800000;\nsetp.eq.u32 %p0,%r4,3;\n@%p0 mov.b32 "
                         "%c0,0f7f7fffff;\ntex.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];"},
       0);
    for (int f = 0; f < 8; f++)
        for (int c = 1; c <= 4; c *= 4)
            if (c == 1 || f == 0 || f == 7)
                TX(T("linear-memory-$1x$2", fn(FM[f]), N(c)),
                   (struct tx){.geom = "1d",
                               .fmt = FM[f],
                               .ch = c,
                               .w = 16,
                               .mem = 1,
                               .am = CU_TR_ADDRESS_MODE_CLAMP,
                               .tf = f < 6 ? CU_TRSF_READ_AS_INTEGER : 0,
                               .rt = f < 6 ? (f & 1 ? "s32" : "u32") : "f32",
                               .ct = "s32"},
                   0);
    TX("linear-memory-u8-normalised",
       (struct tx){.geom = "1d",
                   .fmt = U8,
                   .ch = 4,
                   .w = 16,
                   .mem = 1,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    TX("linear-memory-border",
       (struct tx){.geom = "1d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .mem = 1,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .rt = "f32",
                   .ct = "s32"},
       0);
    for (int a = 0; a < 4; a++)
        for (int l = a & 1; l < 2; l++)
            TX(T("pitch2d-$1-$2", AM[a], l ? "linear" : "point"),
               (struct tx){.geom = "2d",
                           .fmt = F32,
                           .ch = 1,
                           .w = 8,
                           .h = 8,
                           .mem = 2,
                           .am = a,
                           .linear = l,
                           .tf = NRM,
                           .rt = "f32",
                           .ct = "f32"},
               0);
    EACH(c, "r", "g", "b", "a")
    {
        if (**c != 'b')
            TX(T("tld4.$1-f32", *c),
               (struct tx){.geom = "2d",
                           .fmt = F32,
                           .ch = 4,
                           .w = 8,
                           .h = 8,
                           .flags = CUDA_ARRAY3D_TEXTURE_GATHER,
                           .am = CU_TR_ADDRESS_MODE_CLAMP,
                           .rt = "f32",
                           .ct = "f32",
                           .op = T("tld4.$1.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];", *c)},
               0);
        TX(T("tld4.$1-u8-wrap", *c),
           (struct tx){.geom = "2d",
                       .fmt = U8,
                       .ch = 4,
                       .w = 8,
                       .h = 8,
                       .flags = CUDA_ARRAY3D_TEXTURE_GATHER,
                       .am = CU_TR_ADDRESS_MODE_WRAP,
                       .tf = NRM | CU_TRSF_READ_AS_INTEGER,
                       .rt = "u32",
                       .ct = "f32",
                       .op = T("tld4.$1.2d.v4.u32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];", *c)},
           0);
    }
    TX("tld4.r-one-channel-border",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 8,
                   .h = 8,
                   .flags = CUDA_ARRAY3D_TEXTURE_GATHER,
                   .am = CU_TR_ADDRESS_MODE_BORDER,
                   .border = 5,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "tld4.r.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];"},
       0);
    EACH(lv, "0f00000000", "0f3f800000", "0f3f000000", "0f3fc00000", "0f41200000", "0fbf800000")
    for (int m = 0; m < 2; m++)
        TX(T("level-$1-$2", *lv, m ? "linear" : "point"),
           (struct tx){.geom = "2d",
                       .fmt = F32,
                       .ch = 1,
                       .w = 16,
                       .h = 16,
                       .levels = 4,
                       .am = CU_TR_ADDRESS_MODE_CLAMP,
                       .tf = NRM,
                       .mip = m,
                       .hi = 10,
                       .rt = "f32",
                       .ct = "f32",
                       .op =
                           T("tex.level.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}],$1;", *lv)},
           0);
    TX("level-clamped-below-2",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .h = 16,
                   .levels = 4,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM,
                   .lo = 2,
                   .hi = 10,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "tex.level.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}],0f00000000;"},
       0);
    TX("level-clamped-above-1",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .h = 16,
                   .levels = 4,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM,
                   .hi = 1,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "tex.level.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}],0f40400000;"},
       0);
    TX("level-bias-1",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .h = 16,
                   .levels = 4,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM,
                   .bias = 1,
                   .hi = 10,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "tex.level.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}],0f3f800000;"},
       0);
    TX("mip-plain-tex",
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .h = 16,
                   .levels = 4,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM,
                   .hi = 10,
                   .rt = "f32",
                   .ct = "f32",
                   .op = "tex.base.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];"},
       0);
    EACH(g, "0f3d800000", "0f3e000000", "0f3e800000", "0f3c000000")
    TX(T("grad-$1", *g),
       (struct tx){.geom = "2d",
                   .fmt = F32,
                   .ch = 1,
                   .w = 16,
                   .h = 16,
                   .levels = 4,
                   .am = CU_TR_ADDRESS_MODE_CLAMP,
                   .tf = NRM,
                   .hi = 10,
                   .rt = "f32",
                   .ct = "f32",
                   .op = T("mov.b32 %r5,$1;\nmov.b32 %r6,0;\ntex.grad.2d.v4.f32.f32 "
                           "{%v0,%v1,%v2,%v3},[%H,{%c0,%c1}],{%r5,%r6},{%r6,%r5};",
                           *g)},
       0);
    TX("level-3d",
       (struct tx){
           .geom = "3d",
           .fmt = F32,
           .ch = 1,
           .w = 8,
           .h = 8,
           .d = 8,
           .levels = 3,
           .am = CU_TR_ADDRESS_MODE_WRAP,
           .tf = NRM,
           .linear = 1,
           .mip = 1,
           .hi = 10,
           .rt = "f32",
           .ct = "f32",
           .op = "tex.level.3d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1,%c2,%c2}],0f3f000000;"},
       0);
    TX("level-a2d",
       (struct tx){
           .geom = "a2d",
           .fmt = F32,
           .ch = 1,
           .w = 8,
           .h = 8,
           .d = 3,
           .flags = CUDA_ARRAY3D_LAYERED,
           .levels = 3,
           .am = CU_TR_ADDRESS_MODE_WRAP,
           .tf = NRM,
           .hi = 10,
           .rt = "f32",
           .ct = "f32",
           .op = "tex.level.a2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%H,{%r3,%c0,%c1,%c1}],0f3f800000;"},
       0);
    static const struct {
        const char *n;
        struct tx t;
    } qs[] = {{"1d-u8x1", {.geom = "1d", .fmt = U8, .ch = 1, .w = 8}},
              {"2d-u8x4", {.geom = "2d", .fmt = U8, .ch = 4, .w = 8, .h = 6}},
              {"3d-f32x2", {.geom = "3d", .fmt = F32, .ch = 2, .w = 8, .h = 6, .d = 4}},
              {"a2d-f16x4",
               {.geom = "a2d",
                .fmt = CU_AD_FORMAT_HALF,
                .ch = 4,
                .w = 8,
                .h = 6,
                .d = 3,
                .flags = CUDA_ARRAY3D_LAYERED}},
              {"mip-s16x2",
               {.geom = "2d",
                .fmt = CU_AD_FORMAT_SIGNED_INT16,
                .ch = 2,
                .w = 16,
                .h = 16,
                .levels = 4,
                .hi = 4}},
              {"linear-s32",
               {.geom = "1d", .fmt = CU_AD_FORMAT_SIGNED_INT32, .ch = 1, .w = 16, .mem = 1}}};
    for (unsigned i = 0; i < 6; i++) {
        struct tx t = qs[i].t;
        t.rt = "f32";
        t.ct = "f32";
        t.am = CU_TR_ADDRESS_MODE_CLAMP;
        t.tf = CU_TRSF_READ_AS_INTEGER;
        t.op = "mov.b32 %v2,0;\nmov.b32 %v3,0;\ntxq.width.b32 %v0,[%H];\ntxq.height.b32 "
               "%v1,[%H];\ntxq.depth.b32 %v2,[%H];\ntxq.num_mipmap_levels.b32 %v3,[%H];";
        TX(T("txq-size-$1", qs[i].n), t, 0);
        t.op = "txq.channel_data_type.b32 %v0,[%H];\ntxq.channel_order.b32 "
               "%v1,[%H];\ntxq.array_size.b32 %v2,[%H];\ntxq.num_samples.b32 %v3,[%H];";
        TX(T("txq-format-$1", qs[i].n), t, 0);
    }
    {
        struct tx t = qs[4].t;
        t.rt = t.ct = "f32";
        t.am = CU_TR_ADDRESS_MODE_CLAMP;
        t.tf = CU_TRSF_READ_AS_INTEGER;
        t.op = "txq.level.width.b32 %v0,[%H],1;\ntxq.level.height.b32 "
               "%v1,[%H],2;\ntxq.level.width.b32 %v2,[%H],3;\nmov.b32 %r5,2;\ntxq.level.width.b32 "
               "%v3,[%H],%r5;";
        TX("txq.level", t, 0);
    }
}

// ---- surfaces ----
// kernel writes and reads; the case prints the kernel's words and a checksum of the array's bytes
// afterwards
static void SF(const char *name, struct tx t, const char *inst)
{
    if (!B(name))
        return;
    texkernel("", "", inst);
    if (dumpdir) {
        dump_();
        return;
    }
    t.flags |= CUDA_ARRAY3D_SURFACE_LDST;
    CUmipmappedArray mm = 0;
    CUarray a = mkarr(&t, &mm);
    if (!a)
        return;
    CUDA_RESOURCE_DESC rd;
    memset(&rd, 0, sizeof rd);
    rd.resType = CU_RESOURCE_TYPE_ARRAY;
    rd.res.array.hArray = a;
    CUsurfObject o = 0;
    CUresult r = cuSurfObjectCreate(&o, &rd);
    if (r)
        OUT("surfobject %s", R(r));
    else {
        int32_t *c = (void *)inb[0];
        for (int i = 0; i < 64; i++) {
            c[i * 4] = i % 8;
            c[i * 4 + 1] = i / 8;
            c[i * 4 + 2] = i % 4;
            c[i * 4 + 3] = i % 3;
        }
        MUST(cuMemcpyHtoD(dI[0], inb[0], 1024));
        if (go3(1, 64, 1, 1, 0, 64, 1024, o)) {
            show_words(256);
            static unsigned char tb[1 << 18];
            size_t es = fsize(t.fmt) * t.ch;
            int h = t.h ?: 1, d = t.d ?: 1;
            CUDA_MEMCPY3D m;
            memset(&m, 0, sizeof m);
            m.dstMemoryType = CU_MEMORYTYPE_HOST;
            m.dstHost = tb;
            m.dstPitch = t.w * es;
            m.dstHeight = h;
            m.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            m.srcArray = a;
            m.WidthInBytes = t.w * es;
            m.Height = h;
            m.Depth = d;
            r = cuMemcpy3D(&m);
            if (r)
                OUT(" readback %s", R(r));
            else {
                OUT(" array=%016llx", (unsigned long long)fnv(tb, t.w * es * h * d));
                raw(tb, t.w * es * h * d);
            }
        }
        cuSurfObjectDestroy(o);
    }
    cuArrayDestroy(a);
}
GROUP(surf)
{
    S();
    static const struct tx
        s1 = {.geom = "1d", .fmt = CU_AD_FORMAT_UNSIGNED_INT32, .ch = 1, .w = 64},
        s2 = {.geom = "2d", .fmt = CU_AD_FORMAT_UNSIGNED_INT32, .ch = 1, .w = 8, .h = 8},
        s3 = {.geom = "3d", .fmt = CU_AD_FORMAT_UNSIGNED_INT32, .ch = 1, .w = 8, .h = 8, .d = 4},
        sa1 = {.geom = "a1d",
               .fmt = CU_AD_FORMAT_UNSIGNED_INT32,
               .ch = 1,
               .w = 8,
               .d = 3,
               .flags = CUDA_ARRAY3D_LAYERED},
        sa2 = {.geom = "a2d",
               .fmt = CU_AD_FORMAT_UNSIGNED_INT32,
               .ch = 1,
               .w = 8,
               .h = 8,
               .d = 3,
               .flags = CUDA_ARRAY3D_LAYERED},
        f4 = {.geom = "2d", .fmt = F32, .ch = 4, .w = 8, .h = 8},
        b4 = {.geom = "2d", .fmt = U8, .ch = 4, .w = 8, .h = 8},
        h2 = {.geom = "2d", .fmt = CU_AD_FORMAT_HALF, .ch = 2, .w = 8, .h = 8};
#define RD4 "mov.b32 %v1,0;\nmov.b32 %v2,0;\nmov.b32 %v3,0;\n"
    EACH(m, "clamp", "zero", "trap")
    {
        SF(T("suld.1d.b32-$1", *m), s1,
           T(RD4 "shl.b32 %c0,%t,2;\nsuld.b.1d.b32.$1 %v0,[%H,{%c0}];", *m));
        SF(T("suld.2d.b32-$1", *m), s2,
           T(RD4 "shl.b32 %c0,%c0,2;\nsuld.b.2d.b32.$1 %v0,[%H,{%c0,%c1}];", *m));
        if (**m == 't')
            continue;
        SF(T("suld.3d.b32-$1", *m), s3,
           T(RD4 "shl.b32 %c0,%c0,2;\nsuld.b.3d.b32.$1 %v0,[%H,{%c0,%c1,%c2,%c2}];", *m));
        SF(T("suld.a1d.b32-$1", *m), sa1,
           T(RD4 "shl.b32 %c0,%c0,2;\nsuld.b.a1d.b32.$1 %v0,[%H,{%r3,%c0}];", *m));
        SF(T("suld.a2d.b32-$1", *m), sa2,
           T(RD4 "shl.b32 %c0,%c0,2;\nsuld.b.a2d.b32.$1 %v0,[%H,{%r3,%c0,%c1,%c1}];", *m));
        SF(T("suld.2d.v4.b32-$1", *m), f4,
           T("shl.b32 %c0,%c0,4;\nsuld.b.2d.v4.b32.$1 {%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];", *m));
        SF(T("suld.2d.v2.b32-$1", *m), f4,
           T(RD4 "shl.b32 %c0,%c0,3;\nsuld.b.2d.v2.b32.$1 {%v0,%v1},[%H,{%c0,%c1}];", *m));
        SF(T("suld.2d.b64-$1", *m), f4,
           T(RD4 "shl.b32 %c0,%c0,3;\nsuld.b.2d.b64.$1 %x4,[%H,{%c0,%c1}];\nmov.b64 {%v0,%v1},%x4;",
             *m));
        SF(T("suld.2d.v2.b64-$1", *m), f4,
           T("shl.b32 %c0,%c0,4;\nsuld.b.2d.v2.b64.$1 {%x4,%x5},[%H,{%c0,%c1}];\nmov.b64 "
             "{%v0,%v1},%x4;\nmov.b64 {%v2,%v3},%x5;",
             *m));
        SF(T("suld.2d.b8-$1", *m), b4,
           T(RD4 ".reg .b16 %h<4>;\nshl.b32 %c0,%c0,2;\nadd.u32 %c0,%c0,1;\nsuld.b.2d.b8.$1 "
                 "%h0,[%H,{%c0,%c1}];\ncvt.u32.u16 %v0,%h0;",
             *m));
        SF(T("suld.2d.v4.b8-$1", *m), b4,
           T(".reg .b16 %h<4>;\nshl.b32 %c0,%c0,2;\nsuld.b.2d.v4.b8.$1 "
             "{%h0,%h1,%h2,%h3},[%H,{%c0,%c1}];\ncvt.u32.u16 %v0,%h0;\ncvt.u32.u16 "
             "%v1,%h1;\ncvt.u32.u16 %v2,%h2;\ncvt.u32.u16 %v3,%h3;",
             *m));
        SF(T("suld.2d.v2.b16-$1", *m), h2,
           T(RD4 ".reg .b16 %h<4>;\nshl.b32 %c0,%c0,2;\nsuld.b.2d.v2.b16.$1 "
                 "{%h0,%h1},[%H,{%c0,%c1}];\ncvt.u32.u16 %v0,%h0;\ncvt.u32.u16 %v1,%h1;",
             *m));
    }
    EACH(m, "clamp", "zero")
    {
        SF(T("suld.2d-outside-$1", *m), s2,
           T(RD4 "sub.s32 %c0,%c0,4;\nshl.b32 %c0,%c0,2;\nsub.s32 %c1,%c1,3;\nsuld.b.2d.b32.$1 "
                 "%v0,[%H,{%c0,%c1}];",
             *m));
        SF(T("suld.1d-outside-$1", *m), s1,
           T(RD4 "mul.lo.u32 %c0,%t,8;\nsub.s32 %c0,%c0,32;\nsuld.b.1d.b32.$1 %v0,[%H,{%c0}];",
             *m));
        SF(T("suld.3d-outside-$1", *m), s3,
           T(RD4 "shl.b32 %c0,%c0,2;\nmul.lo.u32 %c2,%c2,2;\nsub.u32 %c2,%c2,1;\nsuld.b.3d.b32.$1 "
                 "%v0,[%H,{%c0,%c1,%c2,%c2}];",
             *m));
        SF(T("suld.a2d-layer-outside-$1", *m), sa2,
           T(RD4 "shl.b32 %c0,%c0,2;\nadd.u32 %r3,%r3,2;\nsuld.b.a2d.b32.$1 "
                 "%v0,[%H,{%r3,%c0,%c1,%c1}];",
             *m));
        SF(T("sust.2d-outside-$1", *m), s2,
           T(RD4 "mov.b32 %v0,0;\nsub.s32 %c0,%c0,4;\nshl.b32 %c0,%c0,2;\nsub.s32 "
                 "%c1,%c1,3;\nmad.lo.u32 %r5,%t,3,1000;\nsetp.lt.s32 %p0,%c0,0;\n@%p0 mov.b32 "
                 "%r5,77;\nsetp.lt.s32 %p0,%c1,0;\n@%p0 mov.b32 %r5,77;\nsust.b.2d.b32.$1 "
                 "[%H,{%c0,%c1}],77;",
             *m));
        SF(T("sust.1d-outside-$1", *m), s1,
           T(RD4 "mov.b32 %v0,0;\nmul.lo.u32 %c0,%t,8;\nsub.s32 %c0,%c0,64;\nsust.b.1d.b32.$1 "
                 "[%H,{%c0}],99;",
             *m));
        SF(T("suld.2d.v4-outside-$1", *m), f4,
           T("sub.s32 %c0,%c0,4;\nshl.b32 %c0,%c0,4;\nsuld.b.2d.v4.b32.$1 "
             "{%v0,%v1,%v2,%v3},[%H,{%c0,%c1}];",
             *m));
        SF(T("suld.2d-partly-outside-$1", *m), f4,
           T("mul.lo.u32 %c0,%c0,4;\nadd.u32 %c0,%c0,104;\nand.b32 %c0,%c0,0xfffffff8;\nmov.b32 "
             "%v2,0;\nmov.b32 %v3,0;\nsuld.b.2d.v2.b32.$1 {%v0,%v1},[%H,{%c0,%c1}];",
             *m));
    }
    SF("sust.1d.b32", s1,
       RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%t,2;\nmul.lo.u32 %r5,%t,0x1010101;\nsust.b.1d.b32.clamp "
           "[%H,{%c0}],%r5;");
    SF("sust.2d.b32-then-suld", s2,
       RD4 "shl.b32 %c0,%c0,2;\nmul.lo.u32 %r5,%t,0x1010101;\nsust.b.2d.b32.trap "
           "[%H,{%c0,%c1}],%r5;\nsuld.b.2d.b32.trap %v0,[%H,{%c0,%c1}];");
    SF("sust.3d.b32", s3,
       RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,2;\nmul.lo.u32 %r5,%t,0x1010101;\nsust.b.3d.b32.clamp "
           "[%H,{%c0,%c1,%c2,%c2}],%r5;");
    SF("sust.a1d.b32", sa1,
       RD4 "mov.b32 %v0,0;\nmul.lo.u32 %r5,%c0,0x1010;\nmad.lo.u32 %r5,%r3,3,%r5;\nshl.b32 "
           "%c0,%c0,2;\nsust.b.a1d.b32.clamp [%H,{%r3,%c0}],%r5;");
    SF("sust.a2d.b32", sa2,
       RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,2;\nmul.lo.u32 %r5,%t,0x1010101;\nsust.b.a2d.b32.clamp "
           "[%H,{%r3,%c0,%c1,%c1}],%r5;");
    SF("sust.2d.b8", b4,
       RD4 "mov.b32 %v0,0;\n.reg .b16 %h<2>;\ncvt.u16.u32 %h0,%t;\nshl.b32 %c0,%c0,2;\nadd.u32 "
           "%c0,%c0,3;\nsust.b.2d.b8.clamp [%H,{%c0,%c1}],%h0;");
    SF("sust.2d.v4.b8", b4,
       RD4
       "mov.b32 %v0,0;\n.reg .b16 %h<4>;\ncvt.u16.u32 %h0,%t;\nadd.u16 %h1,%h0,1;\nadd.u16 "
       "%h2,%h0,250;\nshl.b32 %c0,%c0,2;\nsust.b.2d.v4.b8.clamp [%H,{%c0,%c1}],{%h0,%h1,%h2,%h0};");
    SF("sust.2d.v2.b16", h2,
       RD4 "mov.b32 %v0,0;\n.reg .b16 %h<4>;\ncvt.u16.u32 %h0,%t;\nshl.b32 "
           "%c0,%c0,2;\nsust.b.2d.v2.b16.clamp [%H,{%c0,%c1}],{%h0,%h0};");
    SF("sust.2d.v4.b32", f4,
       RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,4;\nsust.b.2d.v4.b32.clamp "
           "[%H,{%c0,%c1}],{%t,%c1,%t,%r3};");
    SF("sust.2d.v2.b64", f4,
       RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,4;\nmul.wide.u32 "
           "%x4,%t,0x10001;\nsust.b.2d.v2.b64.clamp [%H,{%c0,%c1}],{%x4,%x4};");
    SF("sust.p.2d.f32x4", f4,
       RD4 "mov.b32 %v0,0;\ncvt.rn.f32.u32 %r5,%t;\nsust.p.2d.v4.b32.trap "
           "[%H,{%c0,%c1}],{%r5,%r5,%r5,%r5};");
    SF("sust.p.2d.u8x4", b4,
       RD4 "mov.b32 %v0,0;\nmul.lo.u32 %r5,%t,5;\nsust.p.2d.v4.b32.trap "
           "[%H,{%c0,%c1}],{%r5,%t,%r5,%t};");
    SF("sust.p.2d.f16x2", h2,
       RD4
       "mov.b32 %v0,0;\ncvt.rn.f32.u32 %r5,%t;\nsust.p.2d.v2.b32.trap [%H,{%c0,%c1}],{%r5,%r5};");
    SF("sust.p.2d.u32-outside-zero", s2,
       RD4 "mov.b32 %v0,0;\nadd.u32 %c0,%c0,4;\nsust.p.2d.b32.zero [%H,{%c0,%c1}],5;");
    EACH(o, "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32")
    {
        SF(T("sured.b.2d.$1", *o), s2,
           T(RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,2;\nmul.lo.u32 "
                 "%r5,%t,0x2345671;\nsured.b.$2.2d.$3.clamp [%H,{%c0,%c1}],%r5;",
             *o, strtok(strdup(*o), "."), *o + 4 - (**o == 'o')));
    }
    SF("sured.p.2d.add.b32", s2, RD4 "mov.b32 %v0,0;\nsured.p.add.2d.b32.clamp [%H,{%c0,%c1}],%t;");
    SF("sured.b.1d-contended", s1,
       RD4 "mov.b32 %v0,0;\nmov.b32 %c0,8;\nsured.b.add.1d.u32.clamp [%H,{%c0}],%t;");
    SF("sured.b.3d", s3,
       RD4
       "mov.b32 %v0,0;\nshl.b32 %c0,%c0,2;\nsured.b.add.3d.u32.clamp [%H,{%c0,%c1,%c2,%c2}],%t;");
    {
        struct tx u = {.geom = "2d", .fmt = CU_AD_FORMAT_UNSIGNED_INT32, .ch = 2, .w = 8, .h = 8};
        SF("sured.b.add.u64", u,
           RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,3;\nmul.wide.u32 "
               "%x4,%t,0x10001;\nsured.b.add.2d.u64.clamp [%H,{%c0,%c1}],%x4;");
        SF("sured.b.min.s64", u,
           RD4 "mov.b32 %v0,0;\nshl.b32 %c0,%c0,3;\nmul.wide.u32 "
               "%x4,%t,0x70001;\nsured.b.min.2d.s64.clamp [%H,{%c0,%c1}],%x4;");
    }
    SF("suq-size-1d", s1,
       "suq.width.b32 %v0,[%H];\nsuq.height.b32 %v1,[%H];\nsuq.depth.b32 "
       "%v2,[%H];\nsuq.array_size.b32 %v3,[%H];");
    SF("suq-size-3d", s3,
       "suq.width.b32 %v0,[%H];\nsuq.height.b32 %v1,[%H];\nsuq.depth.b32 "
       "%v2,[%H];\nsuq.array_size.b32 %v3,[%H];");
    SF("suq-size-a2d", sa2,
       "suq.width.b32 %v0,[%H];\nsuq.height.b32 %v1,[%H];\nsuq.depth.b32 "
       "%v2,[%H];\nsuq.array_size.b32 %v3,[%H];");
    SF("suq-format-u8x4", b4,
       RD4 "suq.channel_data_type.b32 %v0,[%H];\nsuq.channel_order.b32 %v1,[%H];");
    SF("suq-format-f32x4", f4,
       RD4 "suq.channel_data_type.b32 %v0,[%H];\nsuq.channel_order.b32 %v1,[%H];");
    SF("suq-format-f16x2", h2,
       RD4 "suq.channel_data_type.b32 %v0,[%H];\nsuq.channel_order.b32 %v1,[%H];");
}
// ---- asynchronous copies, mbarrier ----
#define MB ".shared .align 8 .b64 mb;\n"
#define MINIT(n)                                                                                   \
    "mov.u32 %r20,mb;\nsetp.ne.u32 %p9,%t,0;\n@%p9 bra MI;\nmbarrier.init.shared.b64 [%r20]," n    \
    ";\nfence.mbarrier_init.release.cluster;\nMI:\nbar.sync 0;\n"
#define SPIN(cond)                                                                                 \
    "mov.u32 %r21,0;\nW:\n" cond                                                                   \
    "\nadd.u32 %r21,%r21,1;\nsetp.gt.u32 %p8,%r21,200000;\n@%p8 bra WD;\n@!%p7 bra W;\nWD:\n"
GROUP(async)
{
    S();
    std_inputs();
    H("mbarrier-arrive-test_wait", MB ".shared .u32 sm[128];", 128, 128,
      LDA MINIT("128") "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 "
                       "[%r2],%r0;\nmbarrier.arrive.shared.b64 %x1,[%r20];\n" SPIN(
                           "mbarrier.test_wait.shared.b64 %p7,[%r20],%x1;") "xor.b32 "
                                                                            "%r3,%t,77;\nmad.lo."
                                                                            "u32 "
                                                                            "%r2,%r3,4,%r1;\nld."
                                                                            "shared.u32 "
                                                                            "%r4,[%r2];\nst.global."
                                                                            "u32 [%o],%r4;");
    H("mbarrier-try_wait", MB ".shared .u32 sm[128];", 128, 128,
      LDA MINIT("128") "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 "
                       "[%r2],%r0;\nmbarrier.arrive.shared.b64 %x1,[%r20];\n" SPIN(
                           "mbarrier.try_wait.shared.b64 %p7,[%r20],%x1;") "xor.b32 "
                                                                           "%r3,%t,78;\nmad.lo.u32 "
                                                                           "%r2,%r3,4,%r1;\nld."
                                                                           "shared.u32 "
                                                                           "%r4,[%r2];\nst.global."
                                                                           "u32 [%o],%r4;");
    H("mbarrier-parity", MB, 64, 64,
      MINIT("64") "mbarrier.arrive.shared.b64 %x1,[%r20];\n" SPIN(
          "mbarrier.test_wait.parity.shared.b64 %p7,[%r20],0;") "selp.b32 "
                                                                "%r1,1,0,%p7;\nst.global.u32 "
                                                                "[%o],%r1;");
    H("mbarrier-try_wait-parity-hint", MB, 64, 64,
      MINIT("64") "mbarrier.arrive.shared.b64 %x1,[%r20];\n" SPIN(
          "mbarrier.try_wait.parity.shared.b64 %p7,[%r20],0,1000;") "selp.b32 "
                                                                    "%r1,1,0,%p7;\nst.global.u32 "
                                                                    "[%o],%r1;");
    H("mbarrier-phases", MB, 1, 6,
      MINIT("2") "mbarrier.test_wait.parity.shared.b64 "
                 "%p0,[%r20],1;\nmbarrier.test_wait.parity.shared.b64 %p1,[%r20],0;\nselp.b32 "
                 "%r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nst.global.v2.u32 "
                 "[%O],{%r0,%r1};\nmbarrier.arrive.shared.b64 "
                 "%x1,[%r20];\nmbarrier.test_wait.shared.b64 %p0,[%r20],%x1;\nselp.b32 "
                 "%r0,1,0,%p0;\nst.global.u32 [%O+8],%r0;\nmbarrier.arrive.shared.b64 "
                 "%x2,[%r20];\nmbarrier.test_wait.shared.b64 "
                 "%p0,[%r20],%x1;\nmbarrier.test_wait.parity.shared.b64 "
                 "%p1,[%r20],0;\nmbarrier.test_wait.parity.shared.b64 %p2,[%r20],1;\nselp.b32 "
                 "%r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nselp.b32 %r2,1,0,%p2;\nst.global.u32 "
                 "[%O+12],%r0;\nst.global.v2.u32 [%O+16],{%r1,%r2};");
    H("mbarrier-pending_count", MB, 1, 4,
      MINIT("5") "mbarrier.arrive.shared.b64 %x1,[%r20];\nmbarrier.pending_count.b64 "
                 "%r0,%x1;\nmbarrier.arrive.shared.b64 %x2,[%r20],2;\nmbarrier.pending_count.b64 "
                 "%r1,%x2;\nmbarrier.arrive.shared.b64 %x3,[%r20];\nmbarrier.pending_count.b64 "
                 "%r2,%x3;\nmbarrier.arrive.shared.b64 %x4,[%r20];\nmbarrier.pending_count.b64 "
                 "%r3,%x4;\nst.global.v4.u32 [%O],{%r0,%r1,%r2,%r3};");
    H("mbarrier-arrive_drop", MB, 1, 5,
      MINIT("3") "mbarrier.arrive_drop.shared.b64 %x1,[%r20];\nmbarrier.pending_count.b64 "
                 "%r0,%x1;\nmbarrier.arrive.shared.b64 %x2,[%r20];\nmbarrier.arrive.shared.b64 "
                 "%x3,[%r20];\nmbarrier.test_wait.shared.b64 %p0,[%r20],%x3;\nselp.b32 "
                 "%r1,1,0,%p0;\nmbarrier.arrive.shared.b64 %x4,[%r20];\nmbarrier.pending_count.b64 "
                 "%r2,%x4;\nmbarrier.arrive.shared.b64 %x5,[%r20];\nmbarrier.test_wait.shared.b64 "
                 "%p0,[%r20],%x4;\nselp.b32 %r3,1,0,%p0;\nst.global.v4.u32 "
                 "[%O],{%r0,%r1,%r2,%r3};\nst.global.u32 [%O+16],0;");
    H("mbarrier-noComplete", MB, 1, 2,
      MINIT("4") "mbarrier.arrive.noComplete.shared.b64 %x1,[%r20],2;\nmbarrier.pending_count.b64 "
                 "%r0,%x1;\nmbarrier.arrive_drop.noComplete.shared.b64 "
                 "%x2,[%r20],1;\nmbarrier.pending_count.b64 %r1,%x2;\nst.global.v2.u32 "
                 "[%O],{%r0,%r1};");
    H("mbarrier-expect_tx-complete_tx", MB, 1, 4,
      MINIT(
          "1") "mbarrier.arrive.expect_tx.shared.b64 %x1,[%r20],64;\nmbarrier.test_wait.shared.b64 "
               "%p0,[%r20],%x1;\nmbarrier.complete_tx.relaxed.cluster.shared::cta.b64 "
               "[%r20],32;\nmbarrier.test_wait.shared.b64 "
               "%p1,[%r20],%x1;\nmbarrier.complete_tx.relaxed.cluster.shared::cta.b64 "
               "[%r20],32;\nmbarrier.test_wait.shared.b64 %p2,[%r20],%x1;\nselp.b32 "
               "%r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nselp.b32 %r2,1,0,%p2;\nst.global.v2.u32 "
               "[%O],{%r0,%r1};\nst.global.v2.u32 [%O+8],{%r2,0};");
    H("mbarrier-expect_tx-alone", MB, 1, 2,
      MINIT(
          "1") "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
               "[%r20],16;\nmbarrier.arrive.shared.b64 %x1,[%r20];\nmbarrier.test_wait.shared.b64 "
               "%p0,[%r20],%x1;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
               "[%r20],16;\nmbarrier.test_wait.shared.b64 %p1,[%r20],%x1;\nselp.b32 "
               "%r0,1,0,%p0;\nselp.b32 %r1,1,0,%p1;\nst.global.v2.u32 [%O],{%r0,%r1};");
    H("mbarrier-inval-reinit", MB, 1, 1,
      MINIT("1") "mbarrier.inval.shared.b64 [%r20];\nmbarrier.init.shared.b64 "
                 "[%r20],2;\nmbarrier.arrive.shared.b64 %x1,[%r20];\nmbarrier.pending_count.b64 "
                 "%r0,%x1;\nst.global.u32 [%O],%r0;");
    H("mbarrier-arrive-sink", MB, 1, 1,
      MINIT("1") "mbarrier.arrive.shared::cluster.b64 "
                 "_,[%r20];\nmbarrier.test_wait.parity.shared.b64 %p0,[%r20],0;\nselp.b32 "
                 "%r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    H("mbarrier-generic", MB, 1, 1,
      MINIT("1") "mov.u64 %x5,mb;\ncvta.shared.u64 %x5,%x5;\nmbarrier.arrive.b64 "
                 "%x1,[%x5];\nmbarrier.test_wait.b64 %p0,[%x5],%x1;\nselp.b32 "
                 "%r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    H("mbarrier-release.cluster", MB, 1, 1,
      MINIT("1") "mbarrier.arrive.release.cluster.shared::cta.b64 "
                 "%x1,[%r20];\nmbarrier.test_wait.acquire.cluster.shared::cta.b64 "
                 "%p0,[%r20],%x1;\nselp.b32 %r0,1,0,%p0;\nst.global.u32 [%O],%r0;");
    EACH(s, "ca.shared.global [%r2],[%x1],4;", "ca.shared.global [%r2],[%x1],8;",
         "ca.shared.global [%r2],[%x1],16;", "cg.shared.global [%r2],[%x1],16;",
         "ca.shared::cta.global [%r2],[%x1],16;", "cg.shared.global.L2::128B [%r2],[%x1],16;",
         "ca.shared.global.L2::64B [%r2],[%x1],8;", "ca.shared.global [%r2],[%x1],16,5;",
         "ca.shared.global [%r2],[%x1],8,0;", "cg.shared.global [%r2],[%x1],16,16;",
         "cg.shared.global [%r2],[%x1],16,%r5;", "ca.shared.global [%r2],[%x1],16,%p4;")
    {
        char n[80];
        snprintf(n, 80, "cp.async.%s", *s);
        for (char *c = n; *c; c++)
            if (*c == '%' || *c == ' ')
                *c = '_';
        n[strlen(n) - 1] = 0;
        H(n, ".shared .align 16 .b8 sm[1024];", 64, 256,
          T("mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmov.u32 %r3,0xeeeeeeee;\nst.shared.v4.u32 "
            "[%r2],{%r3,%r3,%r3,%r3};\nmad.wide.u32 %x1,%t,16,%A;\nrem.u32 %r5,%t,17;\nand.b32 "
            "%r6,%t,1;\nsetp.ne.u32 "
            "%p4,%r6,0;\ncp.async.$1\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync "
            "0;\nxor.b32 %r4,%t,3;\nmad.lo.u32 %r2,%r4,16,%r1;\nld.shared.v4.u32 "
            "{%r7,%r8,%r9,%r10},[%r2];\nmad.wide.u32 %x2,%t,16,%O;\nst.global.v4.u32 "
            "[%x2],{%r7,%r8,%r9,%r10};",
            *s));
    }
    H("cp.async-groups", ".shared .align 16 .b8 sm[2048];", 64, 128,
      "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmad.wide.u32 "
      "%x1,%t,16,%A;\ncp.async.cg.shared.global "
      "[%r2],[%x1],16;\ncp.async.commit_group;\ncp.async.cg.shared.global "
      "[%r2+1024],[%x1+1024],16;\ncp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 "
      "%r3,[%r2];\ncp.async.wait_all;\nld.shared.u32 %r4,[%r2+1028];\nst.global.u32 "
      "[%o],%r3;\nst.global.u32 [%o+256],%r4;");
    H("cp.async.mbarrier.arrive", MB ".shared .align 16 .b8 sm[1024];", 64, 64,
      MINIT("128") "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmad.wide.u32 "
                   "%x1,%t,16,%A;\ncp.async.cg.shared.global "
                   "[%r2],[%x1],16;\ncp.async.mbarrier.arrive.noinc.shared.b64 "
                   "[%r20];\nmbarrier.arrive.shared.b64 %x3,[%r20];\n" SPIN(
                       "mbarrier.test_wait.shared.b64 %p7,[%r20],%x3;") "xor.b32 "
                                                                        "%r4,%t,31;\nmad.lo.u32 "
                                                                        "%r2,%r4,16,%r1;\nld."
                                                                        "shared.u32 "
                                                                        "%r5,[%r2];\nst.global.u32 "
                                                                        "[%o],%r5;");
    H("cp.async.mbarrier.arrive-inc", MB ".shared .align 16 .b8 sm[1024];", 64, 64,
      MINIT("64") "mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmad.wide.u32 "
                  "%x1,%t,16,%A;\ncp.async.cg.shared.global "
                  "[%r2],[%x1],16;\ncp.async.mbarrier.arrive.shared.b64 "
                  "[%r20];\nmbarrier.arrive.shared.b64 %x3,[%r20];\n" SPIN(
                      "mbarrier.test_wait.shared.b64 %p7,[%r20],%x3;") "ld.shared.u32 "
                                                                       "%r5,[%r2+12];\nst.global."
                                                                       "u32 [%o],%r5;");
    EACH(n, "16", "256", "1024")
    {
        H(T("bulk-global-to-shared-$1", *n), MB ".shared .align 16 .b8 sm[1024];", 64, 256,
          T("mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmov.u32 %r3,0xeeeeeeee;\nst.shared.v4.u32 "
            "[%r2],{%r3,%r3,%r3,%r3};\nfence.proxy.async.shared::cta;\n" MINIT(
                "1") "setp.ne.u32 %p9,%t,0;\n@%p9 bra G0;\nmbarrier.arrive.expect_tx.shared.b64 "
                     "%x3,[%r20],$1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                     "bytes [%r1],[%A],$1,[%r20];\nG0:\n" SPIN("mbarrier.try_wait.parity.shared."
                                                               "b64 %p7,[%r20],0;") "ld.shared.v4."
                                                                                    "u32 "
                                                                                    "{%r7,%r8,%r9,%"
                                                                                    "r10},[%r2];"
                                                                                    "\nmad.wide."
                                                                                    "u32 "
                                                                                    "%x2,%t,16,%O;"
                                                                                    "\nst.global."
                                                                                    "v4.u32 "
                                                                                    "[%x2],{%r7,%"
                                                                                    "r8,%r9,%r10};",
            *n));
        H(T("bulk-shared-to-global-$1", *n), ".shared .align 16 .b8 sm[1024];", 64, 256,
          T("mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\nmul.lo.u32 %r3,%t,0x1010101;\nadd.u32 "
            "%r4,%r3,1;\nst.shared.v4.u32 "
            "[%r2],{%r3,%r4,%t,%l};\nfence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 "
            "%p9,%t,0;\n@%p9 bra G0;\ncp.async.bulk.global.shared::cta.bulk_group "
            "[%O],[%r1],$1;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read "
            "0;\ncp.async.bulk.wait_group 0;\nG0:",
            *n));
    }
    H("bulk-shared-to-shared", MB ".shared .align 16 .b8 sm[512];\n.shared .align 16 .b8 s2[512];",
      32, 128,
      "mov.u32 %r1,sm;\nmov.u32 %r4,s2;\nmad.lo.u32 %r2,%t,16,%r1;\nmul.lo.u32 "
      "%r3,%t,0x1010101;\nst.shared.v4.u32 "
      "[%r2],{%r3,%t,%t,%l};\nfence.proxy.async.shared::cta;\n" MINIT(
          "1") "setp.ne.u32 %p9,%t,0;\n@%p9 bra G0;\nmbarrier.arrive.expect_tx.shared.b64 "
               "%x3,[%r20],512;\ncp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
               "bytes [%r4],[%r1],512,[%r20];\nG0:\n" SPIN("mbarrier.try_wait.parity.shared.b64 "
                                                           "%p7,[%r20],0;") "mad.lo.u32 "
                                                                            "%r5,%t,16,%r4;\nld."
                                                                            "shared.v4.u32 "
                                                                            "{%r7,%r8,%r9,%r10},[%"
                                                                            "r5];\nmad.wide.u32 "
                                                                            "%x2,%t,16,%O;\nst."
                                                                            "global.v4.u32 "
                                                                            "[%x2],{%r7,%r8,%r9,%"
                                                                            "r10};");
    EACH(o, "add.u32", "add.s32", "min.u32", "max.s32", "inc.u32", "dec.u32", "and.b32", "or.b32",
         "xor.b32", "add.noftz.f16", "add.noftz.bf16", "min.f16", "max.bf16", "add.u64", "and.b64")
    {
        int fl = strchr(*o, 'f') != 0, c = strstr(*o, "bf16")  ? 4096
                                           : strstr(*o, "f16") ? 0
                                           : strstr(*o, "f32") ? 8192
                                                               : 12288;
        const char *ld_ =
            fl ? T("mad.wide.u32 %x4,%t,16,%C;\nld.global.v4.u32 "
                   "{%r3,%r4,%r5,%r6},[%x4+$1];\nld.global.v4.u32 {%r7,%r8,%r9,%r10},[%x4+$2];",
                   N(c), N(c + 1024))
               : "mad.wide.u32 %x4,%t,16,%A;\nld.global.v4.u32 "
                 "{%r3,%r4,%r5,%r6},[%x4];\nld.global.v4.u32 {%r7,%r8,%r9,%r10},[%x4+1024];";
        ld_ = strdup(ld_);
        H(T("bulk-reduce-$1", *o), ".shared .align 16 .b8 sm[1024];", 64, 256,
          T("mov.u32 %r1,sm;\nmad.lo.u32 %r2,%t,16,%r1;\n$1\nst.shared.v4.u32 "
            "[%r2],{%r3,%r4,%r5,%r6};\nmad.wide.u32 %x2,%t,16,%O;\nst.global.v4.u32 "
            "[%x2],{%r7,%r8,%r9,%r10};\nfence.proxy.async;\nbar.sync 0;\nsetp.ne.u32 "
            "%p9,%t,0;\n@%p9 bra G0;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.$2 "
            "[%O],[%r1],1024;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nG0:",
            ld_, *o));
    }
    H("bulk-shared-reduce-add", MB ".shared .align 16 .b8 sm[128];\n.shared .align 16 .b8 s2[128];",
      32, 32,
      "mov.u32 %r1,sm;\nmov.u32 %r4,s2;\nmad.lo.u32 %r2,%t,4,%r1;\nst.shared.u32 "
      "[%r2],%t;\nmad.lo.u32 %r5,%t,4,%r4;\nmov.u32 %r6,1000;\nst.shared.u32 "
      "[%r5],%r6;\nfence.proxy.async.shared::cta;\n" MINIT("1") "setp.ne.u32 %p9,%t,0;\n@%p9 bra "
                                                                "G0;\nmbarrier.arrive.expect_tx."
                                                                "shared.b64 "
                                                                "%x3,[%r20],128;\ncp.reduce.async."
                                                                "bulk.shared::cluster.shared::cta."
                                                                "mbarrier::complete_tx::bytes.add."
                                                                "u32 "
                                                                "[%r4],[%r1],128,[%r20];\nG0:"
                                                                "\n" SPIN("mbarrier.try_wait."
                                                                          "parity.shared.b64 "
                                                                          "%p7,[%r20],0;") "ld."
                                                                                           "shared."
                                                                                           "u32 "
                                                                                           "%r7,[%"
                                                                                           "r5];"
                                                                                           "\nst."
                                                                                           "global."
                                                                                           "u32 "
                                                                                           "[%o],%"
                                                                                           "r7;");
    H("st.async-own-cta", MB ".shared .u32 v;", 1, 2,
      MINIT("1") "mov.u32 %r1,v;\nmapa.shared::cluster.u32 %r2,%r1,0;\nmapa.shared::cluster.u32 "
                 "%r3,%r20,0;\nmbarrier.arrive.expect_tx.shared.b64 "
                 "%x3,[%r20],4;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                 "[%r2],1234,[%r3];\n" SPIN(
                     "mbarrier.try_wait.parity.shared.b64 %p7,[%r20],0;") "ld.shared.u32 "
                                                                          "%r4,[v];\nselp.b32 "
                                                                          "%r5,1,0,%p7;\nst.global."
                                                                          "v2.u32 [%O],{%r4,%r5};");
    H("mapa-own-cta", ".shared .u32 v;", 1, 1,
      "mov.u32 %r1,v;\nmapa.shared::cluster.u32 %r2,%r1,0;\nst.shared::cluster.u32 "
      "[%r2],55;\nld.shared.u32 %r3,[v];\nst.global.u32 [%O],%r3;");
    H("getctarank", ".shared .u32 v;", 1, 1,
      "mov.u32 %r1,v;\ngetctarank.shared::cluster.u32 %r2,%r1;\nst.global.u32 [%O],%r2;");
}

// ---- matrix ----
#define LD4(dst, base, k)                                                                          \
    "mad.wide.u32 %x1,%l,16," base ";\nld.global.v4.b32 {" dst "},[%x1+" k "];\n"
GROUP(matrix)
{
    S();
    std_inputs();
    EACH(q, "1", "2", "4")
    {
        int n = atoi(*q);
        const char *regs = n == 1 ? "{%r1}" : n == 2 ? "{%r1,%r2}" : "{%r1,%r2,%r3,%r4}";
        EACH(tr, "", ".trans")
        {
            H(T("ldmatrix.x$1$2", *q, *tr), ".shared .align 16 .b8 sm[512];", 32, 128,
              T("mov.u32 %r10,sm;\nmad.wide.u32 %x1,%l,16,%A;\nld.global.v4.b32 "
                "{%r1,%r2,%r3,%r4},[%x1];\nmad.lo.u32 %r11,%l,16,%r10;\nst.shared.v4.b32 "
                "[%r11],{%r1,%r2,%r3,%r4};\nbar.warp.sync -1;\nmov.b32 %r1,0;\nmov.b32 "
                "%r2,0;\nmov.b32 %r3,0;\nmov.b32 "
                "%r4,0;\nldmatrix.sync.aligned.m8n8.x$1$2.shared.b16 $3,[%r11];\nmad.wide.u32 "
                "%x2,%l,16,%O;\nst.global.v4.b32 [%x2],{%r1,%r2,%r3,%r4};",
                *q, *tr, regs));
            H(T("stmatrix.x$1$2", *q, *tr), ".shared .align 16 .b8 sm[512];", 32, 128,
              T("mov.u32 %r10,sm;\nmad.lo.u32 %r11,%l,16,%r10;\nmov.b32 "
                "%r1,0x77777777;\nst.shared.v4.b32 [%r11],{%r1,%r1,%r1,%r1};\nmad.wide.u32 "
                "%x1,%l,16,%A;\nld.global.v4.b32 {%r1,%r2,%r3,%r4},[%x1];\nbar.warp.sync "
                "-1;\nstmatrix.sync.aligned.m8n8.x$1$2.shared.b16 [%r11],$3;\nbar.warp.sync "
                "-1;\nld.shared.v4.b32 {%r5,%r6,%r7,%r8},[%r11];\nmad.wide.u32 "
                "%x2,%l,16,%O;\nst.global.v4.b32 [%x2],{%r5,%r6,%r7,%r8};",
                *q, *tr, regs));
        }
    }
    H("movmatrix", NULL, 32, 32,
      LDA "movmatrix.sync.aligned.m8n8.trans.b16 %r1,%r0;\nst.global.u32 [%o],%r1;");
#define FR                                                                                         \
    "mad.wide.u32 %x1,%l,16,$2;\nld.global.v4.b32 {%r1,%r2,%r3,%r4},[%x1+$3];\nld.global.v4.b32 "  \
    "{%r5,%r6,%r7,%r8},[%x1+$4];\n"
#define MMA(nm, base, off, cvals, inst)                                                            \
    H(nm, NULL, 32, 128,                                                                           \
      T(FR cvals "$1\nmad.wide.u32 %x2,%l,16,%O;\nst.global.v4.b32 [%x2],{%r11,%r12,%r13,%r14};",  \
        inst, base, off, N(atoi(off) + 512)))
#define CI "mad.wide.u32 %x3,%l,16,%B;\nld.global.v4.b32 {%r11,%r12,%r13,%r14},[%x3];\n"
#define CF "mad.wide.u32 %x3,%l,16,%C;\nld.global.v4.b32 {%r11,%r12,%r13,%r14},[%x3+9216];\n"
#define CH                                                                                         \
    "mov.b32 %r13,0;\nmov.b32 %r14,0;\nmad.wide.u32 %x3,%l,8,%C;\nld.global.v2.b32 "               \
    "{%r11,%r12},[%x3+2048];\n"
    EACH(a, "s8", "u8") EACH(b, "s8", "u8") EACH(s, "", ".satfinite")
    {
        if (**s && strcmp(*a, *b))
            continue;
        MMA(T("m16n8k32.$1.$2$3", *a, *b, *s), "%A", "0", CI,
            T("mma.sync.aligned.m16n8k32.row.col$3.s32.$1.$2.s32 "
              "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};",
              *a, *b, *s));
        if (!**s)
            MMA(T("m16n8k16.$1.$2$3", *a, *b, *s), "%A", "0", CI,
                T("mma.sync.aligned.m16n8k16.row.col$3.s32.$1.$2.s32 "
                  "{%r11,%r12,%r13,%r14},{%r1,%r2},{%r5},{%r11,%r12,%r13,%r14};",
                  *a, *b, *s));
        if (!**s)
            MMA(T("m8n8k16.$1.$2$3", *a, *b, *s), "%A", "0", CI,
                T("mma.sync.aligned.m8n8k16.row.col$3.s32.$1.$2.s32 "
                  "{%r11,%r12},{%r1},{%r5},{%r11,%r12};",
                  *a, *b, *s));
    }
    EACH(a, "s4", "u4")
    {
        MMA(T("m16n8k64.$1", *a), "%A", "0", CI,
            T("mma.sync.aligned.m16n8k64.row.col.s32.$1.$1.s32 "
              "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};",
              *a));
        MMA(T("m8n8k32.$1", *a), "%A", "0", CI,
            T("mma.sync.aligned.m8n8k32.row.col.s32.$1.$1.s32 {%r11,%r12},{%r1},{%r5},{%r11,%r12};",
              *a));
    }
    EACH(o, "xor", "and")
    MMA(T("m16n8k256.b1.$1.popc", *o), "%A", "0", CI,
        T("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.$1.popc "
          "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};",
          *o));
    MMA("m8n8k128.b1.xor.popc", "%A", "0", CI,
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc "
        "{%r11,%r12},{%r1},{%r5},{%r11,%r12};");
    MMA("m16n8k16.f32.f16-whole-numbers", "%C", "0", CF,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};");
    MMA("m16n8k8.f32.f16-whole-numbers", "%C", "0", CF,
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2},{%r5},{%r11,%r12,%r13,%r14};");
    MMA("m16n8k16.f16.f16-whole-numbers", "%C", "0", CH,
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%r11,%r12},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12};");
    MMA("m16n8k16.f32.bf16-whole-numbers", "%C", "4096", CF,
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};");
    MMA("m16n8k8.f32.bf16-whole-numbers", "%C", "4096", CF,
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2},{%r5},{%r11,%r12,%r13,%r14};");
    MMA("m16n8k8.f32.tf32-whole-numbers", "%C", "8192", CF,
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};");
    MMA("m16n8k4.f32.tf32-whole-numbers", "%C", "8192", CF,
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2},{%r5},{%r11,%r12,%r13,%r14};");
    MMA("m8n8k4.f64-whole-numbers", "%C", "12288",
        "mov.b64 %x4,{%r1,%r2};\nmov.b64 %x5,{%r5,%r6};\nmov.b64 %x6,{%r7,%r8};\nmov.b64 "
        "%x7,{%r3,%r4};\n",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x6,%x7},{%x4},{%x5},{%x6,%x7};\nmov.b64 "
        "{%r11,%r12},%x6;\nmov.b64 {%r13,%r14},%x7;");
    MMA("m16n8k8.f64-whole-numbers", "%C", "12288",
        "mov.b64 %x4,{%r1,%r2};\nmov.b64 %x5,{%r5,%r6};\nmov.b64 %x6,{%r7,%r8};\nmov.b64 "
        "%x7,{%r3,%r4};\n",
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%x6,%x7,%x8,%x9},{%x4,%x5,%x4,%x5},{%x5,%x4},{%x4,%x5,%x4,%x5};\nadd.rn.f64 "
        "%x6,%x6,%x8;\nadd.rn.f64 %x7,%x7,%x9;\nmov.b64 {%r11,%r12},%x6;\nmov.b64 "
        "{%r13,%r14},%x7;");
    EACH(t, "e4m3", "e5m2")
    MMA(T("m16n8k32.f32.$1-zeros-and-powers", *t), "%A", "0", CF,
        T("and.b32 %r1,%r1,0x08080808;\nmul.lo.u32 %r1,%r1,7;\nand.b32 "
          "%r2,%r2,0x08080808;\nmul.lo.u32 %r2,%r2,7;\nand.b32 %r3,%r3,0x08080808;\nmul.lo.u32 "
          "%r3,%r3,7;\nand.b32 %r4,%r4,0x08080808;\nmul.lo.u32 %r4,%r4,7;\nand.b32 "
          "%r5,%r5,0x08080808;\nmul.lo.u32 %r5,%r5,7;\nand.b32 %r6,%r6,0x08080808;\nmul.lo.u32 "
          "%r6,%r6,7;\nmma.sync.aligned.m16n8k32.row.col.f32.$1.$1.f32 "
          "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r11,%r12,%r13,%r14};",
          *t));
    MMA("sparse.m16n8k64.s8", "%A", "0", CI "mov.b32 %r9,0x44444444;\n",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r11,%r12,%r13,%r14},%r9,0x0;");
    MMA("sparse.m16n8k32.f16-whole-numbers", "%C", "0", CF "mov.b32 %r9,0xeeeeeeee;\n",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r11,%r12,%r13,%r14},%r9,0x0;");
    MMA("sparse.m16n8k32.s8-selector-1", "%A", "0", CI "mov.b32 %r9,0x9c84de4e;\n",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%r11,%r12,%r13,%r14},{%r1,%r2},{%r5,%r6},{%r11,%r12,%r13,%r14},%r9,0x1;");
    EACH(l, "row", "col")
    {
        H(T("wmma.m16n16k16.f16-$1-whole-numbers", *l), NULL, 32, 256,
          T("wmma.load.a.sync.aligned.$1.m16n16k16.global.f16 "
            "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8},[%C],16;\nwmma.load.b.sync.aligned.$1.m16n16k16."
            "global.f16 "
            "{%r9,%r10,%r11,%r12,%r13,%r14,%r15,%r16},[%C+512],16;\nwmma.load.c.sync.aligned.row."
            "m16n16k16.global.f32 "
            "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},[%C+8192],16;\nwmma.mma.sync.aligned.$1.$1."
            "m16n16k16.f32.f32 "
            "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8},{%r9,%r10,"
            "%r11,%r12,%r13,%r14,%r15,%r16},{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24};\nwmma.store."
            "d.sync.aligned.row.m16n16k16.global.f32 "
            "[%O],{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},16;",
            *l));
        H(T("wmma.m16n16k16.s8-$1", *l), NULL, 32, 256,
          T("wmma.load.a.sync.aligned.$1.m16n16k16.global.s8 "
            "{%r1,%r2},[%A],16;\nwmma.load.b.sync.aligned.$1.m16n16k16.global.s8 "
            "{%r9,%r10},[%A+512],16;\nwmma.load.c.sync.aligned.row.m16n16k16.global.s32 "
            "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},[%B],16;\nwmma.mma.sync.aligned.$1.$1."
            "m16n16k16.s32.s8.s8.s32 "
            "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},{%r1,%r2},{%r9,%r10},{%r17,%r18,%r19,%r20,%"
            "r21,%r22,%r23,%r24};\nwmma.store.d.sync.aligned.row.m16n16k16.global.s32 "
            "[%O],{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},16;",
            *l));
    }
    H("wmma.m32n8k16.u8", NULL, 32, 256,
      "wmma.load.a.sync.aligned.row.m32n8k16.global.u8 "
      "{%r1,%r2,%r3,%r4},[%A],16;\nwmma.load.b.sync.aligned.col.m32n8k16.global.u8 "
      "{%r9},[%A+512],16;\nwmma.load.c.sync.aligned.row.m32n8k16.global.s32 "
      "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},[%B],8;\nwmma.mma.sync.aligned.row.col.m32n8k16."
      "s32.u8.u8.s32 "
      "{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},{%r1,%r2,%r3,%r4},{%r9},{%r17,%r18,%r19,%r20,%r21,"
      "%r22,%r23,%r24};\nwmma.store.d.sync.aligned.row.m32n8k16.global.s32 "
      "[%O],{%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r24},8;");
    H("wmma.m8n8k4.f64-whole-numbers", NULL, 32, 128,
      "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 "
      "{%x10},[%C+12288],4;\nwmma.load.b.sync.aligned.col.m8n8k4.global.f64 "
      "{%x11},[%C+12800],4;\nwmma.load.c.sync.aligned.row.m8n8k4.global.f64 "
      "{%x12,%x13},[%C+13312],8;\nwmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 "
      "{%x12,%x13},{%x10},{%x11},{%x12,%x13};\nwmma.store.d.sync.aligned.row.m8n8k4.global.f64 "
      "[%O],{%x12,%x13},8;");
}

#define RUNX(n)                                                                                    \
    do {                                                                                           \
        if (dumpdir) {                                                                             \
            probe_group_name = #n;                                                                 \
            int a_ = ncases, b_ = nptx;                                                            \
            group_##n();                                                                           \
            printf("%-24s %4d cases %4d modules\n", #n, ncases - a_, nptx - b_);                   \
        } else                                                                                     \
            RUN(n);                                                                                \
    } while (0)
int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--dump"))
        dumpdir = argv[2];
    else {
        if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL)) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        probe_only = getenv("PROBE_ONLY");
        if (getenv("XPTX_RAW"))
            rawf = fopen(getenv("XPTX_RAW"), "a");
    }
    RUNX(int_add);
    RUNX(int_carry);
    RUNX(int_mul);
    RUNX(int_div);
    RUNX(int_bits);
    RUNX(int_shift);
    RUNX(video);
    RUNX(f32_arith);
    RUNX(f64_arith);
    RUNX(minmax);
    RUNX(half);
    RUNX(compare);
    RUNX(select);
    RUNX(cvt_int);
    RUNX(cvt_float);
    RUNX(approx);
    RUNX(pack);
    RUNX(ld_st);
    RUNX(ld_cache);
    RUNX(spaces);
    RUNX(atomics);
    RUNX(atomics_shared_address);
    RUNX(shfl);
    RUNX(vote);
    RUNX(barrier);
    RUNX(control);
    RUNX(functions);
    RUNX(sreg);
    RUNX(modules);
    RUNX(tex);
    RUNX(surf);
    RUNX(async);
    RUNX(matrix);
    if (dumpdir)
        printf("%d cases, %d modules\n", ncases, nptx);
    return 0;
}
