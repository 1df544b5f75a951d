// SPDX-License-Identifier: MIT
// Texture units: coordinates, weights, sums, levels, gradients, cubes, gathers, borders, block
// formats and planes. Every case says in its name what is sampled; its rows give inputs and answers
// (floats as bits, coordinates as decimals if that is exact). A row is `group/case.row | …`, the
// case's last line `group/case | n=<answers> sum=<FNV-1a 64 of all their words>`.
//   x_tex                  run everything      PROBE_ONLY=group x_tex    one group
#include "texkit.h"
enum {
    WRAP = CU_TR_ADDRESS_MODE_WRAP,
    CLAMP = CU_TR_ADDRESS_MODE_CLAMP,
    MIRROR = CU_TR_ADDRESS_MODE_MIRROR,
    BORDER = CU_TR_ADDRESS_MODE_BORDER,
    NORM = CU_TRSF_NORMALIZED_COORDINATES,
    ASINT = CU_TRSF_READ_AS_INTEGER,
    SRGB = CU_TRSF_SRGB,
    SEAMLESS = CU_TRSF_SEAMLESS_CUBEMAP
};
#define U8 CU_AD_FORMAT_UNSIGNED_INT8
#define U16 CU_AD_FORMAT_UNSIGNED_INT16
#define U32 CU_AD_FORMAT_UNSIGNED_INT32
#define S8 CU_AD_FORMAT_SIGNED_INT8
#define S16 CU_AD_FORMAT_SIGNED_INT16
#define F16 CU_AD_FORMAT_HALF
#define F32 CU_AD_FORMAT_FLOAT
static uint64_t sum_;
static int total_;
static char row_[1 << 16];
static int rowno;
static void rowstart(void)
{
    row_[0] = 0;
}
static void put(const char *f, ...)
{
    size_t n = strlen(row_);
    va_list ap;
    va_start(ap, f);
    vsnprintf(row_ + n, sizeof row_ - n, f, ap);
    va_end(ap);
}
static void rowend(const char *label)
{
    if (label)
        printf("%s/%s.%s | %s\n", probe_group_name, probe_st->name, label, row_);
    else
        printf("%s/%s.%d | %s\n", probe_group_name, probe_st->name, rowno, row_);
    rowno++;
    fflush(stdout);
    rowstart();
}
static image_t im;
static CUtexObject ob;
static sampler_t sa;
static int open_;
static void done(void)
{
    if (open_) {
        cuTexObjectDestroy(ob);
        tk_free(&im);
        open_ = 0;
    }
}
static int B(const char *f, ...)
{
    char n[150];
    va_list ap;
    va_start(ap, f);
    vsnprintf(n, sizeof n, f, ap);
    va_end(ap);
    done();
    sum_ = 0xcbf29ce484222325ull;
    total_ = 0;
    rowno = 0;
    rowstart();
    memset(tk_in, 0, sizeof tk_in);
    return probe_begin("%s", n);
}
#define C(...) if (B(__VA_ARGS__))
#define SAMPLER(...)                                                                               \
    (sampler_t)                                                                                    \
    {                                                                                              \
        .am = {CLAMP, CLAMP, CLAMP}, .hi = 100, __VA_ARGS__                                        \
    }
// makes im and ob of one level of data (or of `levels`, one behind another); says why not
static int open_tex(image_t i, sampler_t s, const void *data, size_t levelbytes)
{
    im = i;
    sa = s;
    CUresult r = tk_image(&im);
    if (r) {
        OUT("array %s", R(r));
        return 0;
    }
    for (int l = 0; l < (im.levels ? im.levels : 1); l++)
        if ((r = tk_upload(&im, l, (const char *)data + l * levelbytes))) {
            OUT("upload %s", R(r));
            tk_free(&im);
            return 0;
        }
    r = tk_texture(&im, &s, &ob);
    if (r) {
        OUT("texture %s", R(r));
        tk_free(&im);
        return 0;
    }
    open_ = 1;
    return 1;
}
static int fetch(const char *op, const char *geom, const char *dst, const char *ct, int n)
{
    CUresult r;
    const char *w = tk_fetch(ob, op, geom, dst, ct, n, &r);
    if (w) {
        OUT("%s %s", w, R(r));
        if (!strcmp(w, "sync"))
            _exit(2);
        return 0;
    }
    for (int i = 0; i < n * 4; i++) {
        sum_ ^= tk_out[i];
        sum_ *= 0x100000001b3ull;
    }
    total_ += n;
    return 1;
}
static void end(void)
{
    OUT("n=%d sum=%016llx", total_, (unsigned long long)sum_);
    done();
}
static float of(int i)
{
    return tk_float(tk_out[i * 4]);
}
static float step(float f, int n)
{
    int32_t u = (int32_t)tk_bits(f);
    return tk_float((uint32_t)(f < 0 ? u - n : u + n));
} // n representable values further (f not 0)

// ---- the weight of a linear filter: texels 0 and 1, so the answer is the weight ----
GROUP(weight)
{
    tk_setup();
    static float ramp[140000];
    for (int i = 0; i < 140000; i++)
        ramp[i] = i;
    {
        static const float t[2] = {0, 1};
        C("f32-texels-0-1-at-0.5+k/2048")
        {
            if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 2}, SAMPLER(.linear = 1), t, 0)) {
                int n = 2049;
                for (int k = 0; k < n; k++)
                    tk_in[k].x = 0.5f + k / 2048.0f;
                if (fetch("tex", "1d", "f32", "f32", n)) {
                    put("answers are multiples of 1/256:");
                    int all = 1;
                    for (int k = 0; k < n; k++)
                        if (of(k) * 256 != (int)(of(k) * 256))
                            all = 0;
                    put(" %s; first k of each weight*256 = 0,1,2..:", all ? "yes" : "no");
                    int last = -1;
                    for (int k = 0; k < n; k++) {
                        int m = (int)(of(k) * 256);
                        if (m != last)
                            put(" %d@%d", m, k), last = m;
                    }
                    rowend("thresholds");
                    end();
                }
            }
        }
    }
    {
        static const float t[2] = {0, 1};
        C("tie-of-two-weights-plus-minus-ulp")
        {
            if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 2}, SAMPLER(.linear = 1), t, 0)) {
                int n = 0;
                for (int j = 0; j < 256; j++)
                    for (int u = -1; u <= 1; u++)
                        tk_in[n++].x = step(0.5f + (2 * j + 1) / 512.0f, u);
                if (fetch("tex", "1d", "f32", "f32", n)) {
                    put("x = 0.5+(2j+1)/512 -ulp,0,+ulp -> weight*256, j = 0..255:");
                    for (int j = 0; j < 256; j++)
                        put(" %g,%g,%g", of(3 * j) * 256, of(3 * j + 1) * 256, of(3 * j + 2) * 256);
                    rowend(0);
                    end();
                }
            }
        }
    }
    // the same far from the origin: texel i holds i, so the answer less floor is the weight
    {
        static const int at[] = {1, 2, 3, 7, 31, 100, 1000, 8191, 16384, 32766};
        for (int a = 0; a < 10; a++)
            C("f32-ramp-unnormalised-at-%d.5", at[a])
            {
                if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 32768}, SAMPLER(.linear = 1), ramp,
                             0)) {
                    int n = 0;
                    for (int k = 0; k <= 512; k++)
                        tk_in[n++].x = at[a] + 0.5f + k / 512.0f;
                    if (fetch("tex", "1d", "f32", "f32", n)) {
                        put("(answer-%d)*256 for x = %d.5+k/512:", at[a], at[a]);
                        for (int k = 0; k < n; k++)
                            put(" %g", (of(k) - at[a]) * 256);
                        rowend(0);
                        end();
                    }
                }
            }
    }
    // normalised: u*W in which arithmetic? a ramp again, random u
    {
        static const int W[] = {
            1,    2,    3,    4,     5,     6,     7,     10,    13,    64,    100,    255,   256,
            257,  1000, 1023, 4097,  16383, 16384, 32768, 2048,  4096,  5000,  6000,   7000,  8000,
            8191, 8192, 8193, 10000, 12000, 14000, 16385, 20000, 32769, 65536, 100000, 131072};
        for (int a = 0; a < 38; a++)
            C("f32-ramp-normalised-width-%d", W[a])
            {
                if (open_tex((image_t){.fmt = F32, .ch = 1, .w = W[a]},
                             SAMPLER(.linear = 1, .flags = NORM), ramp, 0)) {
                    int n = 128;
                    tk_rs = 100 + a;
                    for (int k = 0; k < n; k++)
                        tk_in[k].x = (tk_r32() >> 8) / 16777216.0f;
                    if (a >= 20)
                        for (int k = 64; k < n; k++)
                            tk_in[k].x = step(tk_in[k - 64].x, 1 + k % 3);
                    if (fetch("tex", "1d", "f32", "f32", n)) {
                        put("u bits>answer*256:");
                        for (int k = 0; k < n; k++)
                            put(" %x>%.0f", tk_bits(tk_in[k].x), of(k) * 256.0);
                        rowend(0);
                        end();
                    }
                }
            }
    }
    // ties of the normalised product: u = nearest float to (m + 1/512)/W and its neighbours
    {
        static const int W[] = {3, 5, 7, 100, 1000};
        for (int a = 0; a < 5; a++)
            C("normalised-ties-width-%d", W[a])
            {
                if (open_tex((image_t){.fmt = F32, .ch = 1, .w = W[a]},
                             SAMPLER(.linear = 1, .flags = NORM), ramp, 0)) {
                    int n = 0;
                    for (int j = 0; j < 32; j++) {
                        float u =
                            (float)(((j * W[a] / 40) + 0.5 + (2 * (j * 29 % 256) + 1) / 512.0) /
                                    W[a]);
                        for (int s = -3; s <= 3; s++)
                            tk_in[n++].x = step(u, s);
                    }
                    if (fetch("tex", "1d", "f32", "f32", n)) {
                        put("u bits>answer*256 of 7 neighbours:");
                        for (int j = 0; j < 32; j++) {
                            put(" %x>", tk_bits(tk_in[7 * j + 3].x));
                            for (int s = 0; s < 7; s++)
                                put("%s%.0f", s ? "," : "", of(7 * j + s) * 256.0);
                        }
                        rowend(0);
                        end();
                    }
                }
            }
    }
    done();
}

// ---- which texel a point sample takes ----
GROUP(point)
{
    tk_setup();
    static float ramp[70000];
    for (int i = 0; i < 70000; i++)
        ramp[i] = i;
    C("unnormalised-round-integers")
    {
        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 32768}, SAMPLER(.linear = 0), ramp, 0)) {
            static const float at[] = {1, 2, 3, 4, 5, 7, 8, 100, 1000, 8192, 16384, 32767};
            int n = 0;
            for (int a = 0; a < 12; a++)
                for (int s = -4; s <= 4; s++)
                    tk_in[n++].x = step(at[a], s);
            if (fetch("tex", "1d", "f32", "f32", n)) {
                put("texel for x = integer -4..+4 ulp:");
                for (int a = 0; a < 12; a++) {
                    put(" %g>", at[a]);
                    for (int s = 0; s < 9; s++)
                        put("%s%g", s ? "," : "", of(9 * a + s));
                }
                rowend(0);
                end();
            }
        }
    }
    {
        static const int W[] = {1,  2,   3,   5,   6,    7,    9,     10,   13,
                                64, 100, 255, 257, 1000, 4097, 16384, 32768};
        for (int a = 0; a < 17; a++)
            C("normalised-edges-width-%d", W[a])
            {
                if (open_tex((image_t){.fmt = F32, .ch = 1, .w = W[a]},
                             SAMPLER(.linear = 0, .flags = NORM), ramp, 0)) {
                    int n = 0, ks[24], m = 0;
                    for (int j = 0; j < 24 && j < W[a]; j++) {
                        int k = W[a] <= 24 ? j + 1 : 1 + (int)((int64_t)j * (W[a] - 1) / 23);
                        if (k > W[a])
                            break;
                        ks[m++] = k;
                        for (int s = -4; s <= 4; s++)
                            tk_in[n++].x = step((float)((double)k / W[a]), s);
                    }
                    if (fetch("tex", "1d", "f32", "f32", n)) {
                        put("texel for u = float(k/W) -4..+4 ulp:");
                        for (int j = 0; j < m; j++) {
                            put(" %d:%x>", ks[j], tk_bits(tk_in[9 * j + 4].x));
                            for (int s = 0; s < 9; s++)
                                put("%s%g", s ? "," : "", of(9 * j + s));
                        }
                        rowend(0);
                        end();
                    }
                }
            }
    }
    done();
}

// ---- address modes, and coordinates far out ----
static const float odd[] = {
    0.0f,         -0.0f,         1e-45f,       -1e-45f,      1e-38f,        -1e-38f,    1e-10f,
    -1e-10f,      0.99999994f,   1.0f,         1.0000001f,   -0.99999994f,  -1,         2,
    -2,           127.75f,       255.9f,       256,          257.3f,        1000.6f,    -1000.6f,
    4095.9f,      65535.7f,      65536.3f,     1e6f + 0.25f, -1e6f - 0.25f, 8388607.5f, 8388608,
    16777215,     16777216,      16777218,     -16777215,    33554432,      1e9f,       -1e9f,
    2147483647.f, -2147483648.f, 4294967296.f, 1e15f,        -1e15f,        1e20f,      -1e20f,
    1e30f,        3.4e38f,       -3.4e38f,     INFINITY,     -INFINITY,     NAN};
static const char *const AMN[] = {"wrap", "clamp", "mirror", "border"};
GROUP(address)
{
    tk_setup();
    static const int W[] = {4, 5, 6};
    static float t[64];
    for (int i = 0; i < 64; i++)
        t[i] = i + 1;
    for (int am = 0; am < 4; am++)
        for (int w = 0; w < 3; w++)
            for (int lin = 0; lin < 2; lin++)
                for (int nr = 0; nr < 2; nr++) {
                    C("%s-width-%d-%s-%s", AMN[am], W[w], lin ? "linear" : "point",
                      nr ? "normalised" : "unnormalised")
                    {
                        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = W[w]},
                                     (sampler_t){
                                         .am = {am, am, am}, .linear = lin, .flags = nr ? NORM : 0},
                                     t, 0)) {
                            int n = 0;
                            for (int k = -40; k <= 56; k++)
                                tk_in[n++].x = nr ? k / 16.0f : k / 4.0f;
                            if (fetch("tex", "1d", "f32", "f32", n)) {
                                put("texels hold 1..%d; x = k/%d, k = -40..56:", W[w], nr ? 16 : 4);
                                for (int i = 0; i < n; i++)
                                    put(" %g", of(i));
                                rowend("sweep");
                            }
                            memset(tk_in, 0, sizeof tk_in);
                            n = sizeof odd / 4;
                            for (int i = 0; i < n; i++)
                                tk_in[i].x = odd[i];
                            if (fetch("tex", "1d", "f32", "f32", n)) {
                                put("x>answer:");
                                for (int i = 0; i < n; i++)
                                    put(" %.9g>%g", odd[i], of(i));
                                rowend("odd");
                                end();
                            }
                        }
                    }
                }
    for (int am = 0; am < 4; am++)
        C("%s-per-axis-2d", AMN[am])
        {
            float q[16];
            for (int i = 0; i < 16; i++)
                q[i] = i;
            if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 4, .h = 4},
                         (sampler_t){.am = {am, (am + 1) & 3, CLAMP},
                                     .flags = NORM,
                                     .border = {99, 0, 0, 0}},
                         q, 0)) {
                int n = 0;
                for (int y = -6; y <= 10; y += 2)
                    for (int x = -6; x <= 10; x += 2)
                        tk_in[n].x = x / 4.0f + 0.125f, tk_in[n++].y = y / 4.0f + 0.125f;
                if (fetch("tex", "2d", "f32", "f32", n)) {
                    put("x %s, y %s:", AMN[am], AMN[(am + 1) & 3]);
                    for (int i = 0; i < n; i++)
                        put(" %g", of(i));
                    rowend(0);
                    end();
                }
            }
        }
    C("s32-coordinates")
    {
        for (int am = 0; am < 4; am++) {
            done();
            if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 5}, (sampler_t){.am = {am, am, am}}, t,
                         0)) {
                static const int v[] = {0,     1,          4,  5,  6,  9,  10,    1000,
                                        65536, 0x7fffffff, -1, -2, -5, -6, -1000, (int)0x80000000};
                for (int i = 0; i < 16; i++)
                    memcpy(&tk_in[i].x, &v[i], 4);
                if (fetch("tex", "1d", "f32", "s32", 16)) {
                    put("x>answer:");
                    for (int i = 0; i < 16; i++)
                        put(" %d>%g", v[i], of(i));
                    rowend(AMN[am]);
                }
            }
        }
        end();
    }
    C("s32-coordinates-of-linear-memory")
    {
        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 16, .mem = 1},
                     (sampler_t){.am = {CLAMP, CLAMP, CLAMP}}, t, 0)) {
            static const int v[] = {0, 1, 15, 16, 17, 100, 0x7fffffff, -1, -2, (int)0x80000000};
            for (int i = 0; i < 10; i++)
                memcpy(&tk_in[i].x, &v[i], 4);
            if (fetch("tex", "1d", "f32", "s32", 10)) {
                for (int i = 0; i < 10; i++)
                    put(" %d>%g", v[i], of(i));
                rowend(0);
                end();
            }
        }
    }
    C("layers-outside")
    {
        static float q[24];
        for (int i = 0; i < 24; i++)
            q[i] = i;
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 2, .h = 2, .d = 6, .flags = CUDA_ARRAY3D_LAYERED},
                (sampler_t){.am = {BORDER, BORDER, BORDER}}, q, 0)) {
            static const int v[] = {
                0, 1, 5, 6, 7, 100, 2048, 0x7fffffff, -1, -100, (int)0x80000000, 65536};
            for (int i = 0; i < 12; i++)
                tk_in[i].x = tk_in[i].y = 0.5f, tk_in[i].layer = v[i];
            if (fetch("tex", "a2d", "f32", "f32", 12)) {
                for (int i = 0; i < 12; i++)
                    put(" %d>%g", v[i], of(i));
                rowend(0);
                end();
            }
        }
    }
    done();
}

// ---- what one texel becomes: every value of the narrow formats ----
static void every(CUarray_format f, int ch, const void *data, int w, int h, unsigned flags, int all)
{
    if (!open_tex((image_t){.fmt = f, .ch = ch, .w = w, .h = h}, SAMPLER(.flags = flags), data, 0))
        return;
    int n = w * h, k = 0;
    uint64_t hsh = 0;
    (void)hsh;
    for (int b = 0; b < n; b += TK_MAX) {
        int m = n - b < TK_MAX ? n - b : TK_MAX;
        for (int i = 0; i < m; i++)
            tk_in[i].x = (b + i) % w + 0.5f, tk_in[i].y = (b + i) / w + 0.5f;
        if (!fetch("tex", "2d", "f32", "f32", m))
            return;
        for (int i = 0; i < m; i++, k++)
            if (all || k % 509 == 0 || k < 8 || (k & 0x3ff) == 0 || (k & 0x3ff) == 0x3ff)
                put(all ? " %x" : " %x>%x", all ? tk_out[i * 4] : (unsigned)k, tk_out[i * 4]);
    }
    rowend("bits");
    end();
}
GROUP(decode)
{
    tk_setup();
    static uint8_t b8[256];
    static uint16_t b16[65536];
    for (int i = 0; i < 256; i++)
        b8[i] = i;
    for (int i = 0; i < 65536; i++)
        b16[i] = i;
    C("u8-normalised") every(U8, 1, b8, 256, 1, 0, 1);
    C("s8-normalised") every(S8, 1, b8, 256, 1, 0, 1);
    C("u16-normalised") every(U16, 1, b16, 256, 256, 0, 0);
    C("s16-normalised") every(S16, 1, b16, 256, 256, 0, 0);
    C("f16") every(F16, 1, b16, 256, 256, 0, 0);
    {
        static uint8_t q[1024];
        for (int i = 0; i < 256; i++)
            q[4 * i] = i, q[4 * i + 1] = 255 - i, q[4 * i + 2] = i ^ 0x55, q[4 * i + 3] = i;
        C("u8x4-srgb-red") every(U8, 4, q, 256, 1, SRGB, 1);
        C("u8x4-srgb-all-channels")
        {
            if (open_tex((image_t){.fmt = U8, .ch = 4, .w = 256}, SAMPLER(.flags = SRGB), q, 0)) {
                for (int i = 0; i < 256; i++)
                    tk_in[i].x = i + 0.5f;
                if (fetch("tex", "1d", "f32", "f32", 256)) {
                    put("alpha:");
                    for (int i = 0; i < 256; i += 5)
                        put(" %x", tk_out[i * 4 + 3]);
                    put(" blue:");
                    for (int i = 0; i < 256; i += 5)
                        put(" %x", tk_out[i * 4 + 2]);
                    rowend(0);
                    end();
                }
            }
        }
    }
    C("u8x1-srgb") every(U8, 1, b8, 256, 1, SRGB, 1);
    C("u8x2-srgb")
    {
        static uint8_t q[512];
        for (int i = 0; i < 512; i++)
            q[i] = i;
        every(U8, 2, q, 256, 1, SRGB, 1);
    }
    {
        static const struct {
            int f, ch;
            const char *n;
        } N[] = {{0xc0, 1, "unorm8x1"},      {0xc1, 2, "unorm8x2"},  {0xc2, 4, "unorm8x4"},
                 {0xc3, 1, "unorm16x1"},     {0xc4, 2, "unorm16x2"}, {0xc5, 4, "unorm16x4"},
                 {0xc6, 1, "snorm8x1"},      {0xc7, 2, "snorm8x2"},  {0xc8, 4, "snorm8x4"},
                 {0xc9, 1, "snorm16x1"},     {0xca, 2, "snorm16x2"}, {0xcb, 4, "snorm16x4"},
                 {0x50, 4, "unorm-101010-2"}};
        static uint32_t w[64];
        tk_rs = 5;
        for (int i = 0; i < 64; i++)
            w[i] = i < 4 ? (uint32_t[]){0, 0xffffffff, 0x7fff7f80, 0x80018081}[i] : tk_r32();
        for (int k = 0; k < 13; k++)
            for (int ai = 0; ai < 2; ai++)
                C("%s%s", N[k].n, ai ? "-read-as-integer" : "")
                {
                    if (open_tex((image_t){.fmt = N[k].f, .ch = N[k].ch, .w = 16},
                                 SAMPLER(.flags = ai ? ASINT : 0), w, 0)) {
                        for (int i = 0; i < 16; i++)
                            tk_in[i].x = i + 0.5f;
                        if (fetch("tex", "1d", "f32", "f32", 16)) {
                            put("as f32:");
                            for (int i = 0; i < 64; i++)
                                put(" %x", tk_out[i]);
                            rowend("f32");
                        }
                        if (fetch("tex", "1d", "u32", "f32", 16)) {
                            put("as u32:");
                            for (int i = 0; i < 64; i++)
                                put(" %x", tk_out[i]);
                            rowend("u32");
                        }
                        end();
                    }
                }
    }
    {
        static const struct {
            CUarray_format f;
            const char *n;
        } I[] = {{U8, "u8"},   {S8, "s8"},   {U16, "u16"},
                 {S16, "s16"}, {U32, "u32"}, {CU_AD_FORMAT_SIGNED_INT32, "s32"},
                 {F16, "f16"}, {F32, "f32"}};
        static uint32_t w[64];
        tk_rs = 9;
        for (int i = 0; i < 64; i++)
            w[i] =
                i < 4 ? (uint32_t[]){0x3f800000, 0xffffffff, 0x7fc12345, 0x7f800001}[i] : tk_r32();
        for (int k = 0; k < 8; k++)
            for (int ch = 1; ch <= 4; ch *= 2)
                for (int fl = 0; fl < 2; fl++)
                    C("%sx%d-%s-read-into-f32-u32-s32", I[k].n, ch, fl ? "as-integer" : "plain")
                    {
                        if (open_tex((image_t){.fmt = I[k].f, .ch = ch, .w = 4},
                                     SAMPLER(.flags = fl ? ASINT : 0), w, 0)) {
                            for (int i = 0; i < 4; i++)
                                tk_in[i].x = i + 0.5f;
                            static const char *const dt[] = {"f32", "u32", "s32"};
                            for (int d = 0; d < 3; d++)
                                if (fetch("tex", "1d", dt[d], "f32", 4)) {
                                    for (int i = 0; i < 16; i++)
                                        put(" %x", tk_out[i]);
                                    rowend(dt[d]);
                                }
                            end();
                        }
                    }
    }
    done();
}

// ---- sums of the linear filter ----
static const int WS[] = {0, 1, 2, 3, 5, 31, 64, 85, 100, 127, 128, 129, 171, 200, 254, 255};
static void pairs(CUarray_format f, const char *what, const uint32_t (*p)[2], int np,
                  unsigned flags, const char *const *names)
{
    (void)what;
    int es = tk_size(f);
    for (int k = 0; k < np; k++) {
        uint8_t t[8];
        memcpy(t, &p[k][0], es);
        memcpy(t + es, &p[k][1], es);
        done();
        if (!open_tex((image_t){.fmt = f, .ch = 1, .w = 2}, SAMPLER(.linear = 1, .flags = flags), t,
                      0))
            return;
        memset(tk_in, 0, sizeof tk_in);
        for (int i = 0; i < 16; i++)
            tk_in[i].x = 0.5f + WS[i] / 256.0f;
        if (!fetch("tex", "1d", "f32", "f32", 16))
            return;
        put("%s%s%x %x, weights 0 1 2 3 5 31 64 85 100 127 128 129 171 200 254 255:",
            names ? names[k] : "", names ? ": " : "", p[k][0], p[k][1]);
        for (int i = 0; i < 16; i++)
            put(" %x", tk_out[i * 4]);
        rowend(0);
    }
    end();
}
GROUP(sum1d)
{
    tk_setup();
    {
        static const uint32_t p[][2] = {{0x3f800000, 0x3f800001},
                                        {0x3f800000, 0x3f800003},
                                        {0x3f800001, 0x3f800000},
                                        {0x3f800000, 0x40000000},
                                        {0x3f800000, 0x40400000},
                                        {0x3dcccccd, 0x3f333333},
                                        {0, 1},
                                        {0, 0x100},
                                        {0, 0x007fffff},
                                        {0, 0x00800000},
                                        {0x00800000, 0x80800000},
                                        {0x7149f2ca, 0xf149f2ca},
                                        {0x3f800000, 0x30800000},
                                        {0x3f800000, 0x33800000},
                                        {0x3f800000, 0xb3800000},
                                        {0x4b800000, 0x3f800000},
                                        {0x3f800000, 0xbf800000},
                                        {0x7f7fffff, 0x7f7fffff},
                                        {0x7f7fffff, 0xff7fffff},
                                        {0x7f800000, 0x3f800000},
                                        {0x3f800000, 0x7f800000},
                                        {0x7f800000, 0xff800000},
                                        {0x7fc00000, 0x3f800000},
                                        {0x3f800000, 0xffc12345},
                                        {0x7f812345, 0x3f800000},
                                        {0x80000000, 0x80000000},
                                        {0x80000000, 0},
                                        {0x00000001, 0x00000001},
                                        {0x3eaaaaab, 0x3eaaaaab},
                                        {0x42f6e979, 0xc2f6e979},
                                        {0x42f6e979, 0xc2f6e978}};
        C("f32-chosen-pairs") pairs(F32, 0, p, sizeof p / 8, 0, 0);
    }
    {
        static uint32_t p[48][2];
        tk_rs = 21;
        for (int i = 0; i < 48; i++)
            for (int j = 0; j < 2; j++)
                p[i][j] = (tk_r32() & 0x807fffff) | (uint32_t)(120 + tk_rn(i < 24 ? 3 : 16)) << 23;
        C("f32-random-pairs") pairs(F32, 0, p, 48, 0, 0);
    }
    {
        static const uint32_t p[][2] = {
            {0x3c00, 0x3c01}, {0x3c00, 0x4000}, {0, 1},           {0, 0x3ff},
            {0x0001, 0x8001}, {0x7bff, 0x7bff}, {0x7bff, 0xfbff}, {0x3c00, 0x1400},
            {0x7c00, 0x3c00}, {0x3c00, 0xfc00}, {0x7c00, 0xfc00}, {0x7e00, 0x3c00},
            {0x3c00, 0x7d01}, {0x2e66, 0x399a}, {0x3555, 0x3555}, {0x8000, 0x8000},
            {0x5640, 0xd640}, {0x3c01, 0xbc00}, {0x6400, 0x3c00}, {0x7800, 0x0001}};
        C("f16-chosen-pairs") pairs(F16, 0, p, sizeof p / 8, 0, 0);
    }
    {
        static uint32_t p[32][2];
        tk_rs = 22;
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 2; j++)
                p[i][j] = (tk_r32() & 0x83ff) | (uint32_t)(8 + tk_rn(i < 16 ? 3 : 16)) << 10;
        C("f16-random-pairs") pairs(F16, 0, p, 32, 0, 0);
    }
    {
        static const uint32_t p[][2] = {{0, 255},   {255, 0},   {0, 1},     {1, 0},     {1, 2},
                                        {254, 255}, {255, 254}, {127, 128}, {128, 129}, {37, 201},
                                        {201, 37},  {17, 17},   {255, 255}, {3, 250},   {85, 170},
                                        {10, 11},   {100, 101}, {200, 203}};
        C("u8-pairs") pairs(U8, 0, p, sizeof p / 8, 0, 0);
        C("u8-srgb-pairs") pairs(U8, 0, p, sizeof p / 8, SRGB, 0);
    }
    {
        static const uint32_t p[][2] = {{0, 127},   {127, 0},   {0, 1},     {0, 255}, {128, 127},
                                        {128, 128}, {129, 127}, {127, 129}, {128, 0}, {129, 0},
                                        {1, 2},     {60, 61},   {200, 100}, {255, 1}};
        C("s8-pairs") pairs(S8, 0, p, sizeof p / 8, 0, 0);
    }
    {
        static const uint32_t p[][2] = {
            {0, 65535},     {65535, 0},     {0, 1},         {1, 0},
            {65534, 65535}, {65535, 65535}, {32767, 32768}, {12345, 54321},
            {54321, 12345}, {257, 514},     {1000, 1001},   {21845, 43690},
            {4660, 4660},   {3, 60000},     {256, 255},     {40000, 40003}};
        C("u16-pairs") pairs(U16, 0, p, sizeof p / 8, 0, 0);
    }
    {
        static const uint32_t p[][2] = {{0, 32767},     {32767, 0},     {0, 1},
                                        {0, 65535},     {32768, 32767}, {32768, 32768},
                                        {32769, 32767}, {12345, 54321}, {1000, 1001},
                                        {40000, 100},   {32768, 0},     {32769, 0}};
        C("s16-pairs") pairs(S16, 0, p, sizeof p / 8, 0, 0);
    }
    C("s8-every-texel-beside-0")
    {
        static int8_t t[512];
        for (int i = 0; i < 256; i++)
            t[2 * i + 1] = (int8_t)(i - 128);
        static const int w[] = {1, 2, 64, 85, 127, 128, 129, 200, 254, 255, 256};
        for (int k = 0; k < 11; k++) {
            done();
            if (!open_tex((image_t){.fmt = S8, .ch = 1, .w = 512}, SAMPLER(.linear = 1), t, 0))
                break;
            for (int i = 0; i < 256; i++)
                tk_in[i].x = 2 * i + 0.5f + w[k] / 256.0f;
            if (!fetch("tex", "1d", "f32", "f32", 256))
                break;
            put("weight %d, s = -128..127 (answer*32767):", w[k]);
            for (int i = 0; i < 256; i++)
                put(" %.9g", of(i) * 32767.0);
            rowend(0);
        }
        end();
    }
    {
        static const int fm[] = {0x20, 0x10, 1, 8, 2, 9};
        static const char *const nm[] = {"f32", "f16", "u8", "s8", "u16", "s16"};
        static const uint32_t pr[6][2] = {
            {0x3dcccccd, 0x3f9e0419}, {0x2e66, 0x3cf0}, {37, 201}, {37, 201},
            {12345, 54321},           {12345, 54321}};
        for (int k = 0; k < 6; k++)
            C("%s-all-256-weights", nm[k])
            {
                uint8_t t[8];
                int es = tk_size(fm[k]);
                memcpy(t, &pr[k][0], es);
                memcpy(t + es, &pr[k][1], es);
                if (open_tex((image_t){.fmt = fm[k], .ch = 1, .w = 2}, SAMPLER(.linear = 1), t,
                             0)) {
                    for (int i = 0; i < 257; i++)
                        tk_in[i].x = 0.5f + i / 256.0f;
                    if (fetch("tex", "1d", "f32", "f32", 257)) {
                        put("%x %x:", pr[k][0], pr[k][1]);
                        for (int i = 0; i < 257; i++)
                            put(" %x", tk_out[i * 4]);
                        rowend(0);
                        end();
                    }
                }
            }
    }
    done();
}

static uint32_t rtexel(CUarray_format f, int narrow)
{
    switch ((int)f) {
    case 0x20:
        return (tk_r32() & 0x807fffff) | (uint32_t)(124 + tk_rn(narrow ? 3 : 20)) << 23;
    case 0x10:
        return (tk_r32() & 0x83ff) | (uint32_t)(10 + tk_rn(narrow ? 3 : 14)) << 10;
    default:
        return tk_r32();
    }
}
static void multi(CUarray_format f, int dims, int narrow, int n)
{
    int es = tk_size(f), c = 1 << dims;
    const char *geom =
        dims == 2 ? "2d" : "3d"; // n little textures of 2x2(x2) texels, eight sample points each
    for (int k = 0; k < n; k++) {
        uint8_t t[32];
        uint32_t v[8];
        for (int i = 0; i < c; i++) {
            v[i] = rtexel(f, narrow);
            if (es == 1)
                v[i] &= 255;
            if (es == 2)
                v[i] &= 65535;
            memcpy(t + i * es, &v[i], es);
        }
        done();
        if (!open_tex((image_t){.fmt = f, .ch = 1, .w = 2, .h = 2, .d = dims == 3 ? 2 : 0},
                      SAMPLER(.linear = 1), t, 0))
            return;
        int w[8][3];
        memset(tk_in, 0, sizeof tk_in);
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < 3; j++)
                w[i][j] = i == 0   ? 128
                          : i == 1 ? (j == 0) * 77
                          : i == 2 ? (j == 1) * 77
                                   : tk_rn(256);
            tk_in[i].x = 0.5f + w[i][0] / 256.0f;
            tk_in[i].y = 0.5f + w[i][1] / 256.0f;
            tk_in[i].z = 0.5f + w[i][2] / 256.0f;
        }
        if (!fetch("tex", geom, "f32", "f32", 8))
            return;
        put("texels x fastest:");
        for (int i = 0; i < c; i++)
            put(" %x", v[i]);
        put("; weights*256>answer:");
        for (int i = 0; i < 8; i++) {
            put(" %d,%d", w[i][0], w[i][1]);
            if (dims == 3)
                put(",%d", w[i][2]);
            put(">%x", tk_out[i * 4]);
        }
        rowend(0);
    }
    end();
}
GROUP(sum2d3d)
{
    tk_setup();
    static const int fm[] = {0x20, 0x10, 1, 8, 2, 9};
    static const char *const nm[] = {"f32", "f16", "u8", "s8", "u16", "s16"};
    for (int k = 0; k < 6; k++)
        for (int d = 2; d <= 3; d++)
            C("%s-%dd-random", nm[k], d)
            {
                tk_rs = 300 + k * 4 + d;
                multi(fm[k], d, 0, k < 2 ? 24 : 16);
            }
    for (int k = 0; k < 2; k++)
        for (int d = 2; d <= 3; d++)
            C("%s-%dd-close-exponents", nm[k], d)
            {
                tk_rs = 400 + k * 4 + d;
                multi(fm[k], d, 1, 24);
            }
    // one texel at a time is 1, the others 0: the product of the weights as the unit has it
    for (int k = 0; k < 2; k++)
        for (int d = 2; d <= 3; d++)
            C("%s-%dd-weight-products", nm[k], d)
            {
                static const int w[][3] = {{1, 1, 1},       {1, 255, 128},  {128, 128, 128},
                                           {3, 5, 7},       {85, 85, 85},   {100, 200, 50},
                                           {255, 255, 255}, {17, 129, 254}, {64, 192, 32},
                                           {0, 77, 77},     {77, 0, 77},    {127, 129, 3}};
                for (int c = 0; c < 1 << d; c++) {
                    done();
                    uint8_t t[32] = {0};
                    if (fm[k] == 0x20)
                        ((float *)t)[c] = 1;
                    else
                        ((uint16_t *)t)[c] = 0x3c00;
                    if (!open_tex(
                            (image_t){.fmt = fm[k], .ch = 1, .w = 2, .h = 2, .d = d == 3 ? 2 : 0},
                            SAMPLER(.linear = 1), t, 0))
                        break;
                    memset(tk_in, 0, sizeof tk_in);
                    for (int i = 0; i < 12; i++)
                        tk_in[i].x = 0.5f + w[i][0] / 256.0f, tk_in[i].y = 0.5f + w[i][1] / 256.0f,
                        tk_in[i].z = 0.5f + w[i][2] / 256.0f;
                    if (!fetch("tex", d == 2 ? "2d" : "3d", "f32", "f32", 12))
                        break;
                    put("texel %d is 1:", c);
                    for (int i = 0; i < 12; i++) {
                        put(" %d,%d", w[i][0], w[i][1]);
                        if (d == 3)
                            put(",%d", w[i][2]);
                        put(">%x", tk_out[i * 4]);
                    }
                    rowend(0);
                }
                end();
            }
    // the same for many weights, ties of the products among them: the four or eight weights * 256
    // in texel order
    for (int d = 2; d <= 3; d++)
        C("f32-%dd-weight-table", d)
        {
            enum { NW = 200 };
            static int w[NW][3], r[NW][8];
            tk_rs = 4242 + d;
            for (int i = 0; i < NW; i++)
                for (int j = 0; j < 3; j++)
                    w[i][j] = i % 4 == 0       ? tk_rn(256)
                              : i % 4 == 1     ? tk_rn(16) * 16 + (j == 1 ? tk_rn(2) * 8 : 0)
                              : i % 4 == 2     ? tk_rn(128) * 2
                              : j == i / 4 % 3 ? 128
                                               : tk_rn(256);
            int ok = 1;
            for (int c = 0; c < 1 << d && ok; c++) {
                done();
                float t[8] = {0};
                t[c] = 1;
                if (!open_tex((image_t){.fmt = F32, .ch = 1, .w = 2, .h = 2, .d = d == 3 ? 2 : 0},
                              SAMPLER(.linear = 1), t, 0)) {
                    ok = 0;
                    break;
                }
                memset(tk_in, 0, sizeof tk_in[0] * NW);
                for (int i = 0; i < NW; i++)
                    tk_in[i].x = 0.5f + w[i][0] / 256.0f, tk_in[i].y = 0.5f + w[i][1] / 256.0f,
                    tk_in[i].z = 0.5f + w[i][2] / 256.0f;
                if (!fetch("tex", d == 2 ? "2d" : "3d", "f32", "f32", NW)) {
                    ok = 0;
                    break;
                }
                for (int i = 0; i < NW; i++)
                    r[i][c] = (int)(of(i) * 256);
            }
            if (ok)
                for (int i = 0; i < NW; i++) {
                    put(" %d,%d", w[i][0], w[i][1]);
                    if (d == 3)
                        put(",%d", w[i][2]);
                    put(">");
                    for (int c = 0; c < 1 << d; c++)
                        put("%s%d", c ? "," : "", r[i][c]);
                    if (i % 40 == 39)
                        rowend(0);
                }
            end();
        }
    // order of addition: values of very different size that cancel in one order only
    for (int d = 2; d <= 3; d++)
        C("f32-%dd-cancellation", d)
        {
            static const float vals[] = {1e30f, -1e30f, 1, 1};
            for (int p = 0; p < 24; p++) {
                int o[4], u = p, used = 0;
                for (int i = 0; i < 4; i++) {
                    int m = u % (4 - i);
                    u /= 4 - i;
                    for (int j = 0; j < 4; j++)
                        if (!(used >> j & 1) && m-- == 0) {
                            o[i] = j;
                            used |= 1 << j;
                            break;
                        }
                }
                float t[8];
                for (int i = 0; i < 8; i++)
                    t[i] = vals[o[i & 3]];
                done();
                if (!open_tex((image_t){.fmt = F32, .ch = 1, .w = 2, .h = 2, .d = d == 3 ? 2 : 0},
                              SAMPLER(.linear = 1), t, 0))
                    break;
                memset(tk_in, 0, sizeof tk_in);
                for (int i = 0; i < 4; i++)
                    tk_in[i].x = i & 1 ? 0.75f : 1.0f, tk_in[i].y = i & 2 ? 0.75f : 1.0f,
                    tk_in[i].z = 1.0f;
                if (!fetch("tex", d == 2 ? "2d" : "3d", "f32", "f32", 4))
                    break;
                put("%g %g %g %g; weights 128,128 64,128 128,64 64,64:", t[0], t[1], t[2], t[3]);
                for (int i = 0; i < 4; i++)
                    put(" %x", tk_out[i * 4]);
                rowend(0);
            }
            end();
        }
    C("u8x4-2d-four-channels-alike")
    {
        uint8_t t[16];
        for (int i = 0; i < 16; i++)
            t[i] = (i / 4) * 71 + (i & 3 ? 0 : 0);
        if (open_tex((image_t){.fmt = U8, .ch = 4, .w = 2, .h = 2}, SAMPLER(.linear = 1), t, 0)) {
            for (int i = 0; i < 64; i++)
                tk_in[i].x = 0.5f + (i * 37 % 256) / 256.0f,
                tk_in[i].y = 0.5f + (i * 91 % 256) / 256.0f;
            if (fetch("tex", "2d", "f32", "f32", 64)) {
                int same = 1;
                for (int i = 0; i < 64; i++)
                    for (int c = 1; c < 4; c++)
                        same &= tk_out[i * 4] == tk_out[i * 4 + c];
                put("channels alike %d:", same);
                for (int i = 0; i < 64; i++)
                    put(" %x", tk_out[i * 4]);
                rowend(0);
                end();
            }
        }
    }
    done();
}

// ---- level of detail: level l holds l everywhere, so the answer is the level ----
static float lv[9][256 * 256];
static int lvok;
static void levels(void)
{
    if (!lvok)
        for (int l = 0; l < 9; l++)
            for (int i = 0; i < 65536; i++)
                lv[l][i] = l;
    lvok = 1;
}
static int openmip(sampler_t s)
{
    levels();
    return open_tex((image_t){.fmt = F32, .ch = 1, .w = 256, .h = 256, .levels = 9}, s, lv,
                    sizeof lv[0]);
}
static void lods(const char *label, int n)
{
    (void)label;
    for (int i = 0; i < n; i++)
        tk_in[i].x = tk_in[i].y = 0.4f;
}
#define MIPS(...) SAMPLER(.linear = 1, .mip = 1, .flags = NORM, __VA_ARGS__)
GROUP(lod)
{
    tk_setup();
    C("level-linear-k/1024")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 2200);
            for (int k = -64; k < 2100; k++)
                tk_in[n++].lod = k / 1024.0f;
            if (fetch("level", "2d", "f32", "f32", n)) {
                put("first k of each answer*256 (k from -64):");
                float last = -1;
                for (int i = 0; i < n; i++)
                    if (of(i) != last)
                        put(" %g@%d", of(i) * 256, i - 64), last = of(i);
                rowend(0);
                end();
            }
        }
    }
    C("level-linear-ties")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 1000);
            for (int j = 0; j < 64; j++)
                for (int s = -1; s <= 1; s++)
                    tk_in[n++].lod = step(0.0f + (2 * (j * 29) + 1) / 512.0f, s);
            if (fetch("level", "2d", "f32", "f32", n)) {
                put("lod (2m+1)/512 -ulp,0,+ulp > answer*256:");
                for (int j = 0; j < 64; j++)
                    put(" m%d>%g,%g,%g", j * 29, of(3 * j) * 256, of(3 * j + 1) * 256,
                        of(3 * j + 2) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("level-point")
    {
        if (openmip(SAMPLER(.linear = 1, .flags = NORM))) {
            int n = 0;
            lods(0, 300);
            for (int k = 0; k < 8; k++)
                for (int s = -3; s <= 3; s++)
                    tk_in[n++].lod = step(k + 0.5f, s);
            static const float e[] = {-INFINITY,  -1e30f, -5,          -0.0f, 0,    0.499f,
                                      0.4990234f, 0.498f, 0.49804688f, 0.5f,  7.4f, 7.6f,
                                      8,          8.4f,   8.6f,        9,     15,   16,
                                      100,        1e30f,  INFINITY,    NAN};
            for (int k = 0; k < 22; k++)
                tk_in[n++].lod = e[k];
            if (fetch("level", "2d", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %.9g>%g", tk_in[i].lod, of(i));
                rowend(0);
                end();
            }
        }
    }
    C("level-linear-odd")
    {
        if (openmip(MIPS())) {
            static const float e[] = {-INFINITY, -1e30f, -5,     -1, -0.0f, 7.9f,  7.999f,   8,
                                      8.5f,      9,      15.99f, 16, 100,   1e30f, INFINITY, NAN};
            lods(0, 16);
            for (int k = 0; k < 16; k++)
                tk_in[k].lod = e[k];
            if (fetch("level", "2d", "f32", "f32", 16)) {
                for (int i = 0; i < 16; i++)
                    put(" %.9g>%x", e[i], tk_out[i * 4]);
                rowend(0);
                end();
            }
        }
    }
    C("bias-precision")
    {
        static const float b[] = {0,         1,          0.5f,      0.25f,     1 / 64.f, 1 / 128.f,
                                  1 / 256.f, 1.5f / 256, 1 / 512.f, 3 / 512.f, 0.3f,     0.7f,
                                  2.999f,    -0.3f,      -1,        -2.5f,     15,       15.99f,
                                  16,        20,         -15,       -16,       -20};
        for (int k = 0; k < 23; k++) {
            done();
            if (!openmip(MIPS(.bias = b[k])))
                break;
            lods(0, 12);
            for (int i = 0; i < 12; i++)
                tk_in[i].lod = i < 8 ? 3 + i / 1024.0f : (float[]){0, 1, 7, -3}[i - 8];
            if (!fetch("level", "2d", "f32", "f32", 12))
                break;
            put("bias %.9g; lod 3+i/1024, i = 0..7, then 0 1 7 -3 > answer*256:", b[k]);
            for (int i = 0; i < 12; i++)
                put(" %g", of(i) * 256);
            rowend(0);
        }
        end();
    }
    C("bias-of-plain-tex")
    {
        static const float b[] = {0, 0.3f, 1, 2.5f, -1, 7, 20};
        for (int k = 0; k < 7; k++) {
            done();
            if (!openmip(MIPS(.bias = b[k])))
                break;
            lods(0, 1);
            if (!fetch("tex", "2d", "f32", "f32", 1))
                break;
            put("bias %g>%g", b[k], of(0));
            rowend(0);
        }
        end();
    }
    C("clamps")
    {
        static const float lo[] = {0, 0.3f, 1.5f, 2, 3, 0.001f, 1 / 512.f, 1 / 256.f,
                                   5, -2,   0,    0, 0, 0,      0},
                           hi[] = {0, 8, 8,    8,      3.3f,      8,         8,  8,
                                   2, 8, 0.7f, 3.999f, 1 / 256.f, 1 / 512.f, 100};
        for (int k = 0; k < 15; k++) {
            done();
            if (!openmip(SAMPLER(.linear = 1, .mip = 1, .flags = NORM, .lo = lo[k], .hi = hi[k])))
                break;
            sa.hi = hi[k];
            lods(0, 8);
            static const float q[] = {-1, 0, 0.2f, 1, 2.5f, 3.7f, 7.9f, 20};
            for (int i = 0; i < 8; i++)
                tk_in[i].lod = q[i];
            if (!fetch("level", "2d", "f32", "f32", 8))
                break;
            put("min %g max %g; lod -1 0 0.2 1 2.5 3.7 7.9 20 > answer*256:", lo[k], hi[k]);
            for (int i = 0; i < 8; i++)
                put(" %g", of(i) * 256);
            rowend(0);
        }
        end();
    }
    C("clamps-of-point-mip")
    {
        static const float lo[] = {0, 0.3f, 0.5f, 1.5f, 2, 0, 0, 0},
                           hi[] = {8, 8, 8, 8, 8, 0.7f, 3.4f, 3.6f};
        for (int k = 0; k < 8; k++) {
            done();
            if (!openmip(SAMPLER(.linear = 1, .flags = NORM, .lo = lo[k], .hi = hi[k])))
                break;
            lods(0, 8);
            static const float q[] = {-1, 0, 0.2f, 0.6f, 2.5f, 3.7f, 7.9f, 20};
            for (int i = 0; i < 8; i++)
                tk_in[i].lod = q[i];
            if (!fetch("level", "2d", "f32", "f32", 8))
                break;
            put("min %g max %g; lod -1 0 0.2 0.6 2.5 3.7 7.9 20 > level:", lo[k], hi[k]);
            for (int i = 0; i < 8; i++)
                put(" %g", of(i));
            rowend(0);
        }
        end();
    }
    C("unnormalised-coordinates")
    {
        if (openmip(SAMPLER(.linear = 1, .mip = 1))) {
            lods(0, 4);
            for (int i = 0; i < 4; i++)
                tk_in[i].lod = i * 0.7f;
            if (fetch("level", "2d", "f32", "f32", 4)) {
                for (int i = 0; i < 4; i++)
                    put(" %g", of(i));
                rowend(0);
                end();
            }
        }
    }
    // the sum of two levels: level 0 holds a, level 1 holds b
    C("sum-of-two-levels")
    {
        static float two[2][4 * 4];
        static const uint32_t p[][2] = {{0x3f800000, 0x3f800001},
                                        {0x3dcccccd, 0x3f333333},
                                        {0x3f800000, 0x33800000},
                                        {0x7149f2ca, 0xf149f2ca},
                                        {0, 1},
                                        {0x3f800000, 0x7f800000},
                                        {0x42f6e979, 0xc2f6e978},
                                        {0x3eaaaaab, 0x3eaaaaab}};
        for (int k = 0; k < 8; k++) {
            done();
            for (int i = 0; i < 16; i++)
                two[0][i] = tk_float(p[k][0]), two[1][i] = tk_float(p[k][1]);
            if (!open_tex((image_t){.fmt = F32, .ch = 1, .w = 4, .h = 4, .levels = 2}, MIPS(), two,
                          sizeof two[0]))
                break;
            lods(0, 16);
            for (int i = 0; i < 16; i++)
                tk_in[i].lod = WS[i] / 256.0f;
            if (!fetch("level", "2d", "f32", "f32", 16))
                break;
            put("%x %x, lod*256 0 1 2 3 5 31 64 85 100 127 128 129 171 200 254 255:", p[k][0],
                p[k][1]);
            for (int i = 0; i < 16; i++)
                put(" %x", tk_out[i * 4]);
            rowend(0);
        }
        end();
    }
    C("sum-of-two-u8-levels")
    {
        static uint8_t two[2][16];
        static const int p[][2] = {{0, 255}, {37, 201}, {1, 2}, {254, 255}, {85, 170}};
        for (int k = 0; k < 5; k++) {
            done();
            memset(two[0], p[k][0], 16);
            memset(two[1], p[k][1], 16);
            if (!open_tex((image_t){.fmt = U8, .ch = 1, .w = 4, .h = 4, .levels = 2}, MIPS(), two,
                          sizeof two[0]))
                break;
            lods(0, 16);
            for (int i = 0; i < 16; i++)
                tk_in[i].lod = WS[i] / 256.0f;
            if (!fetch("level", "2d", "f32", "f32", 16))
                break;
            put("%d %d:", p[k][0], p[k][1]);
            for (int i = 0; i < 16; i++)
                put(" %x", tk_out[i * 4]);
            rowend(0);
        }
        end();
    }
    C("trilinear-random")
    {
        static float tri[2][16];
        for (int k = 0; k < 24; k++) {
            done();
            tk_rs = 900 + k;
            for (int i = 0; i < 16; i++)
                tri[0][i] = tk_float(rtexel(F32, k & 1)), tri[1][i] = tk_float(rtexel(F32, k & 1));
            if (!open_tex((image_t){.fmt = F32, .ch = 1, .w = 4, .h = 4, .levels = 2}, MIPS(), tri,
                          sizeof tri[0]))
                break;
            memset(tk_in, 0, sizeof tk_in);
            for (int i = 0; i < 4; i++)
                tk_in[i].x = 0.375f + tk_rn(64) / 256.0f, tk_in[i].y = 0.375f + tk_rn(64) / 256.0f,
                tk_in[i].lod = tk_rn(256) / 256.0f;
            if (!fetch("level", "2d", "f32", "f32", 4))
                break;
            put("level0");
            for (int i = 0; i < 16; i++)
                put(" %x", tk_bits(tri[0][i]));
            put(" level1");
            for (int i = 0; i < 4; i++)
                put(" %x", tk_bits(tri[1][i]));
            put("; x*256,y*256,lod*256>answer:");
            for (int i = 0; i < 4; i++)
                put(" %g,%g,%g>%x", tk_in[i].x * 256, tk_in[i].y * 256, tk_in[i].lod * 256,
                    tk_out[i * 4]);
            rowend(0);
        }
        end();
    }
    done();
}

GROUP(grad)
{
    tk_setup();
    C("along-x-powers")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 700);
            for (int k = -64; k <= 576; k++)
                tk_in[n++].dx[0] = (float)exp2(k / 64.0) / 256;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("texels a step 2^(k/64), k = -64..576 > answer*256:");
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("along-x-1-to-2-fine")
    {
        if (openmip(MIPS())) {
            int n = 1025;
            lods(0, n);
            for (int k = 0; k < n; k++)
                tk_in[k].dx[0] = (1 + k / 1024.0f) / 256;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("first k of each answer*256, texels a step 1+k/1024:");
                float last = -1;
                for (int i = 0; i < n; i++)
                    if (of(i) != last)
                        put(" %g@%d", of(i) * 256, i), last = of(i);
                rowend(0);
                end();
            }
        }
    }
    C("along-x-1-to-2-very-fine")
    {
        if (openmip(MIPS())) {
            float last = -1;
            put("first k of each answer*256, texels a step 1+k/65536:");
            for (int b = 0; b < 8; b++) {
                int n = 8192;
                lods(0, n);
                for (int k = 0; k < n; k++)
                    tk_in[k].dx[0] = (1 + (b * 8192 + k) / 65536.0f) / 256;
                if (!fetch("grad", "2d", "f32", "f32", n))
                    break;
                for (int i = 0; i < n; i++)
                    if (of(i) != last)
                        put(" %g@%d", of(i) * 256, b * 8192 + i), last = of(i);
            }
            rowend(0);
            end();
        }
    }
    C("along-x-ulps-at-powers-of-two")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 200);
            for (int e = 0; e < 8; e++)
                for (int s = -8; s <= 8; s++)
                    tk_in[n++].dx[0] = step((float)(1 << e) / 256, s);
            if (fetch("grad", "2d", "f32", "f32", n)) {
                for (int e = 0; e < 8; e++) {
                    put(" 2^%d>", e);
                    for (int s = 0; s < 17; s++)
                        put("%s%g", s ? "," : "", of(17 * e + s) * 256);
                }
                rowend(0);
                end();
            }
        }
    }
    C("two-components")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 2000);
            static const float q[] = {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 4, 6, 8, 12, 16};
            for (int a = 0; a < 12; a++)
                for (int b = 0; b < 12; b++)
                    tk_in[n].dx[0] = q[a] / 256, tk_in[n++].dx[1] = q[b] / 256;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("dx = (a,b) texels, a, b of 0 .5 1 1.5 2 2.5 3 4 6 8 12 16, b faster > "
                    "answer*256:");
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("angles")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 400);
            for (int k = 0; k < 129; k++)
                tk_in[n].dx[0] = (float)(4 * cos(k * M_PI / 256)) / 256,
                tk_in[n++].dx[1] = (float)(4 * sin(k * M_PI / 256)) / 256;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("dx of 4 texels at angle k*pi/256 > answer*256:");
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("dx-against-dy")
    {
        if (openmip(MIPS())) {
            int n = 0;
            lods(0, 200);
            static const float q[] = {0, 1, 1.5f, 2, 3, 4, 8, 16};
            for (int a = 0; a < 8; a++)
                for (int b = 0; b < 8; b++)
                    tk_in[n].dx[0] = q[a] / 256, tk_in[n++].dy[1] = q[b] / 256;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("dx = (a,0), dy = (0,b), of 0 1 1.5 2 3 4 8 16, b faster > answer*256:");
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("parallel-and-skew")
    {
        if (openmip(MIPS())) {
            int n = 256;
            lods(0, n);
            tk_rs = 77;
            for (int k = 0; k < n; k++) {
                for (int j = 0; j < 2; j++)
                    tk_in[k].dx[j] = (tk_rn(4096) - 2048) / 256.0f / 256,
                    tk_in[k].dy[j] = (tk_rn(4096) - 2048) / 256.0f / 256;
            }
            if (fetch("grad", "2d", "f32", "f32", n)) {
                put("dx, dy in 1/65536 > answer*256:");
                for (int i = 0; i < n; i++)
                    put(" %g,%g,%g,%g>%g", tk_in[i].dx[0] * 65536, tk_in[i].dx[1] * 65536,
                        tk_in[i].dy[0] * 65536, tk_in[i].dy[1] * 65536, of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("odd")
    {
        if (openmip(MIPS())) {
            static const float q[] = {0,   -0.0f, 1e-45f, 1e-38f, 1e-20f,   -0.01f,    0.5f, 1,
                                      100, 1e10f, 1e20f,  1e38f,  INFINITY, -INFINITY, NAN};
            lods(0, 45);
            for (int i = 0; i < 15; i++)
                tk_in[i].dx[0] = q[i], tk_in[15 + i].dy[1] = q[i], tk_in[30 + i].dx[0] = q[i],
                tk_in[30 + i].dy[0] = 4 / 256.0f;
            if (fetch("grad", "2d", "f32", "f32", 45)) {
                for (int i = 0; i < 45; i++)
                    put(" %g>%x", q[i % 15], tk_out[i * 4]);
                rowend(0);
                end();
            }
        }
    }
    C("width-unlike-height")
    {
        levels();
        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 256, .h = 32, .levels = 9}, MIPS(), lv,
                     sizeof lv[0])) {
            int n = 64;
            lods(0, n);
            for (int k = 0; k < 32; k++)
                tk_in[k].dx[0] = (k + 1) / 1024.0f, tk_in[32 + k].dx[1] = (k + 1) / 1024.0f;
            if (fetch("grad", "2d", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("1d")
    {
        levels();
        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 256, .levels = 9}, MIPS(), lv,
                     sizeof lv[0])) {
            int n = 64;
            lods(0, n);
            for (int k = 0; k < n; k++)
                tk_in[k].dx[0] = (float)exp2(k / 16.0) / 256,
                tk_in[k].dy[0] = k & 1 ? 3 / 256.0f : 0;
            if (fetch("grad", "1d", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("3d")
    {
        levels();
        if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 32, .h = 32, .d = 32, .levels = 6}, MIPS(),
                     lv, sizeof lv[0])) {
            int n = 96;
            lods(0, n);
            tk_rs = 88;
            for (int k = 0; k < n; k++) {
                tk_in[k].z = 0.4f;
                for (int j = 0; j < 3; j++)
                    tk_in[k].dx[j] = k < 32   ? (j == 0) * (k + 1) / 512.0f
                                     : k < 64 ? (j == 2) * (k - 31) / 512.0f
                                              : (tk_rn(512) - 256) / 4096.0f;
            }
            if (fetch("grad", "3d", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %g,%g,%g>%g", tk_in[i].dx[0] * 4096, tk_in[i].dx[1] * 4096,
                        tk_in[i].dx[2] * 4096, of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("cube")
    {
        levels();
        if (open_tex((image_t){.fmt = F32,
                               .ch = 1,
                               .w = 64,
                               .h = 64,
                               .d = 6,
                               .levels = 7,
                               .flags = CUDA_ARRAY3D_CUBEMAP},
                     MIPS(), lv, sizeof lv[0])) {
            int n = 96;
            tk_rs = 89;
            memset(tk_in, 0, sizeof tk_in);
            for (int k = 0; k < n; k++) {
                tk_in[k].x = 1 + (k >= 64) * k / 64.0f;
                tk_in[k].y = k < 32 ? 0 : 0.25f;
                tk_in[k].z = k < 32 ? 0 : -0.5f;
                tk_in[k].dx[k < 64 ? 1 : 0] = (k % 32 + 1) / 256.0f;
            }
            if (fetch("grad", "cube", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %g", of(i) * 256);
                rowend(0);
                end();
            }
        }
    }
    C("bias-adds-to-the-computed-lod")
    {
        static const float b[] = {0, 0.3f, 1, -1, -0.01f};
        for (int k = 0; k < 5; k++) {
            done();
            if (!openmip(MIPS(.bias = b[k])))
                break;
            lods(0, 8);
            for (int i = 0; i < 8; i++)
                tk_in[i].dx[0] = (float)exp2(i * 0.77) / 256;
            if (!fetch("grad", "2d", "f32", "f32", 8))
                break;
            put("bias %g:", b[k]);
            for (int i = 0; i < 8; i++)
                put(" %g", of(i) * 256);
            rowend(0);
        }
        end();
    }
    done();
}

// ---- anisotropy ----
GROUP(aniso)
{
    tk_setup();
    static const int A[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 17, 100};
    for (int a = 0; a < 11; a++)
        C("level-of-max-%d", A[a])
        {
            if (openmip(MIPS(.aniso = A[a]))) {
                int n = 0;
                lods(0, 200);
                static const float q[] = {0.5f, 1, 1.5f, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
                for (int i = 0; i < 13; i++)
                    for (int j = 0; j < 4; j++)
                        tk_in[n].dx[0] = q[i] / 256,
                        tk_in[n++].dy[1] = (float[]){0, 1, 2, 3}[j] / 256;
                if (fetch("grad", "2d", "f32", "f32", n)) {
                    put("dx of .5 1 1.5 2 3 4 6 8 12 16 24 32 64, dy of 0 1 2 3 texels > "
                        "answer*256:");
                    for (int i = 0; i < n; i++)
                        put(" %g", of(i) * 256);
                    rowend(0);
                    end();
                }
            }
        }
    // footprint: one column of 256 is 1, the sample is moved across it
    static float imp[9][65536];
    memset(imp, 0, sizeof imp);
    for (int y = 0; y < 256; y++)
        imp[0][y * 256 + 128] = 256;
    for (int y = 0; y < 128; y++)
        imp[1][y * 128 + 64] = 256;
    for (int a = 4; a <= 16; a *= 2)
        for (int L = 2; L <= 16; L *= 2)
            C("footprint-max-%d-%d-texels-along-x", a, L)
            {
                if (open_tex((image_t){.fmt = F32, .ch = 1, .w = 256, .h = 256, .levels = 9},
                             MIPS(.aniso = a), imp, sizeof imp[0])) {
                    int n = 0;
                    memset(tk_in, 0, sizeof tk_in);
                    for (int k = -80; k <= 80; k++)
                        tk_in[n].x = (128.5f + k / 8.0f) / 256, tk_in[n].y = 0.5f,
                        tk_in[n].dx[0] = L / 256.0f, tk_in[n++].dy[1] = 1 / 256.0f;
                    if (fetch("grad", "2d", "f32", "f32", n)) {
                        put("column 128 holds 256; x = 128.5+k/8, k = -80..80 >");
                        for (int i = 0; i < n; i++)
                            put(" %g", of(i));
                        rowend(0);
                        end();
                    }
                }
            }
    done();
}

// ---- cube maps ----
GROUP(cube)
{
    tk_setup();
    static float face[6];
    for (int i = 0; i < 6; i++)
        face[i] = i;
    static float tex4[6][16];
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 16; i++)
            tex4[f][i] = f * 100 + i;
    static float big[6][64 * 64];
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 4096; i++)
            big[f][i] = f * 4096 + i;
    C("face-of-26-directions-and-odd-ones")
    {
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 1, .h = 1, .d = 6, .flags = CUDA_ARRAY3D_CUBEMAP},
                SAMPLER(.flags = NORM), face, 0)) {
            int n = 0;
            for (int z = -1; z <= 1; z++)
                for (int y = -1; y <= 1; y++)
                    for (int x = -1; x <= 1; x++)
                        tk_in[n].x = x, tk_in[n].y = y, tk_in[n++].z = z;
            static const float e[][3] = {{-0.0f, 0, 0},
                                         {NAN, 0, 1},
                                         {1, NAN, 0},
                                         {1, 0, NAN},
                                         {NAN, NAN, NAN},
                                         {INFINITY, 1, 1},
                                         {1, INFINITY, 1},
                                         {1, 1, -INFINITY},
                                         {INFINITY, INFINITY, INFINITY},
                                         {INFINITY, -INFINITY, 0},
                                         {1e-45f, 0, 0},
                                         {0, -1e-45f, 0},
                                         {1e-45f, 1e-45f, 1e-45f},
                                         {1e38f, 1, 1},
                                         {1, 1.0000001f, 1},
                                         {1, 1, 1.0000001f},
                                         {-1, -1.0000001f, -1},
                                         {-1.0000001f, 1.0000001f, 1},
                                         {1e-30f, 2e-30f, -3e-30f}};
            for (int i = 0; i < 19; i++)
                tk_in[n].x = e[i][0], tk_in[n].y = e[i][1], tk_in[n++].z = e[i][2];
            if (fetch("tex", "cube", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" (%g %g %g)>%x", tk_in[i].x, tk_in[i].y, tk_in[i].z, tk_out[i * 4]);
                rowend(0);
                end();
            }
        }
    }
    C("texel-of-each-face-4x4")
    {
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 4, .h = 4, .d = 6, .flags = CUDA_ARRAY3D_CUBEMAP},
                SAMPLER(.flags = NORM), tex4, 0)) {
            for (int f = 0; f < 6; f++) {
                int n = 0;
                for (int b = -3; b <= 3; b += 2)
                    for (int a = -3; a <= 3; a += 2) {
                        float m = f & 1 ? -1 : 1, v[3];
                        v[f / 2] = m;
                        v[(f / 2 + 1) % 3] = a / 4.0f;
                        v[(f / 2 + 2) % 3] = b / 4.0f;
                        tk_in[n].x = v[0];
                        tk_in[n].y = v[1];
                        tk_in[n++].z = v[2];
                    }
                if (!fetch("tex", "cube", "f32", "f32", n))
                    break;
                put("major axis %c%c, the next axis fastest -3/4..3/4:", "+-"[f & 1], "xyz"[f / 2]);
                for (int i = 0; i < n; i++)
                    put(" %g", of(i));
                rowend(0);
            }
            end();
        }
    }
    for (int sm = 0; sm < 2; sm++)
        for (int am = 0; am < 4; am++)
            C("linear-seams-%s-%s", sm ? "seamless" : "seamed", AMN[am])
            {
                if (open_tex((image_t){.fmt = F32,
                                       .ch = 1,
                                       .w = 4,
                                       .h = 4,
                                       .d = 6,
                                       .flags = CUDA_ARRAY3D_CUBEMAP},
                             (sampler_t){.am = {am, am, am},
                                         .linear = 1,
                                         .flags = NORM | (sm ? SEAMLESS : 0)},
                             tex4, 0)) {
                    for (int f = 0; f < 6; f++) {
                        int n = 0;
                        static const float q[] = {-1, -0.96875f, -0.875f, -0.8125f, -0.75f,
                                                  0,  0.75f,     0.875f,  0.96875f, 1};
                        for (int b = 0; b < 10; b++)
                            for (int a = 0; a < 10; a++) {
                                float v[3];
                                v[f / 2] = f & 1 ? -1 : 1;
                                v[(f / 2 + 1) % 3] = q[a];
                                v[(f / 2 + 2) % 3] = q[b];
                                tk_in[n].x = v[0];
                                tk_in[n].y = v[1];
                                tk_in[n++].z = v[2];
                            }
                        if (!fetch("tex", "cube", "f32", "f32", n))
                            break;
                        put("major %c%c, others of -1 -31/32 -7/8 -13/16 -3/4 0 3/4 7/8 31/32 1:",
                            "+-"[f & 1], "xyz"[f / 2]);
                        for (int i = 0; i < n; i++)
                            put(" %g", of(i));
                        rowend(0);
                    }
                    end();
                }
            }
    C("division-precision-64x64-linear-random")
    {
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 64, .h = 64, .d = 6, .flags = CUDA_ARRAY3D_CUBEMAP},
                SAMPLER(.linear = 1, .flags = NORM), big, 0)) {
            int n = 512;
            tk_rs = 61;
            for (int i = 0; i < n; i++)
                tk_in[i].x = (int)(tk_r32() >> 8) / 8388608.0f - 1,
                tk_in[i].y = (int)(tk_r32() >> 8) / 8388608.0f - 1,
                tk_in[i].z = (int)(tk_r32() >> 8) / 8388608.0f - 1;
            if (fetch("tex", "cube", "f32", "f32", n)) {
                put("x y z bits>answer bits, texel i of face f holds 4096f+i:");
                for (int i = 0; i < n; i++)
                    put(" %x,%x,%x>%x", tk_bits(tk_in[i].x), tk_bits(tk_in[i].y),
                        tk_bits(tk_in[i].z), tk_out[i * 4]);
                rowend(0);
                end();
            }
        }
    }
    C("coordinate-quantum-64x64")
    {
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 64, .h = 64, .d = 6, .flags = CUDA_ARRAY3D_CUBEMAP},
                SAMPLER(.linear = 1, .flags = NORM), big, 0)) {
            int n = 1024;
            for (int i = 0; i < n; i++)
                tk_in[i].x = 1, tk_in[i].y = -0.015625f, tk_in[i].z = i / 16384.0f;
            if (fetch("tex", "cube", "f32", "f32", n)) {
                put("direction (1,-1/64,i/16384) > first i of each answer*256:");
                float last = -1;
                for (int i = 0; i < n; i++)
                    if (of(i) != last)
                        put(" %.0f@%d", of(i) * 256.0, i), last = of(i);
                rowend(0);
                end();
            }
        }
    }
    C("array-of-cubes-layers")
    {
        static float q[18];
        for (int i = 0; i < 18; i++)
            q[i] = i;
        if (open_tex((image_t){.fmt = F32,
                               .ch = 1,
                               .w = 1,
                               .h = 1,
                               .d = 18,
                               .flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
                     SAMPLER(.flags = NORM), q, 0)) {
            int n = 0;
            static const int L[] = {0, 1, 2, 3, 100, -1, 0x7fffffff};
            for (int l = 0; l < 7; l++)
                for (int f = 0; f < 6; f++) {
                    (&tk_in[n].x)[f / 2] = f & 1 ? -1 : 1;
                    tk_in[n++].layer = L[l];
                }
            if (fetch("tex", "acube", "f32", "f32", n)) {
                for (int i = 0; i < n; i++)
                    put(" %g", of(i));
                rowend(0);
                end();
            }
        }
    }
    done();
}

// ---- gathers ----
GROUP(gather)
{
    tk_setup();
    static float q[64];
    for (int i = 0; i < 64; i++)
        q[i] = (i / 4) * 10 + (i & 3); // texel i, channel c holds 10i+c
    static const char *const op[] = {"tld4.r", "tld4.g", "tld4.b", "tld4.a"};
    for (int c = 0; c < 4; c++)
        C("%s-order-4x4x4", op[c])
        {
            if (open_tex(
                    (image_t){
                        .fmt = F32, .ch = 4, .w = 4, .h = 4, .flags = CUDA_ARRAY3D_TEXTURE_GATHER},
                    SAMPLER(), q, 0)) {
                int n = 0;
                static const float x[] = {0, 0.5f, 1, 1.5f, 1.498f, 1.502f, 2.25f, 3.5f, 4, -1};
                for (int b = 0; b < 10; b++)
                    for (int a = 0; a < 10; a++)
                        tk_in[n].x = x[a], tk_in[n++].y = x[b];
                if (fetch(op[c], "2d", "f32", "f32", n)) {
                    put("x, y of 0 .5 1 1.5 1.498 1.502 2.25 3.5 4 -1, x faster:");
                    for (int i = 0; i < n; i++)
                        put(" %g,%g,%g,%g", tk_float(tk_out[i * 4]), tk_float(tk_out[i * 4 + 1]),
                            tk_float(tk_out[i * 4 + 2]), tk_float(tk_out[i * 4 + 3]));
                    rowend(0);
                    end();
                }
            }
        }
    C("position-precision")
    {
        if (open_tex(
                (image_t){
                    .fmt = F32, .ch = 1, .w = 4, .h = 4, .flags = CUDA_ARRAY3D_TEXTURE_GATHER},
                SAMPLER(), q, 0)) {
            int n = 0;
            for (int k = -40; k <= 40; k++)
                tk_in[n].x = 1.5f + k / 8192.0f, tk_in[n++].y = 1.0f;
            if (fetch("tld4.r", "2d", "f32", "f32", n)) {
                put("first component, x = 1.5+k/8192, k = -40..40:");
                for (int i = 0; i < n; i++)
                    put(" %g", of(i));
                rowend(0);
                end();
            }
        }
    }
    for (int am = 0; am < 4; am++)
        for (int lin = 0; lin < 2; lin++)
            C("address-%s-%s", AMN[am], lin ? "linear" : "point")
            {
                if (open_tex((image_t){.fmt = F32,
                                       .ch = 1,
                                       .w = 4,
                                       .h = 4,
                                       .flags = CUDA_ARRAY3D_TEXTURE_GATHER},
                             (sampler_t){.am = {am, am, am},
                                         .linear = lin,
                                         .flags = NORM,
                                         .border = {77, 78, 79, 80}},
                             q, 0)) {
                    int n = 0;
                    for (int b = -2; b <= 6; b += 2)
                        for (int a = -2; a <= 6; a += 2)
                            tk_in[n].x = a / 4.0f, tk_in[n++].y = b / 4.0f;
                    if (fetch("tld4.r", "2d", "f32", "f32", n)) {
                        for (int i = 0; i < n; i++)
                            put(" %g,%g,%g,%g", tk_float(tk_out[i * 4]),
                                tk_float(tk_out[i * 4 + 1]), tk_float(tk_out[i * 4 + 2]),
                                tk_float(tk_out[i * 4 + 3]));
                        rowend(0);
                        end();
                    }
                }
            }
    C("missing-channels-of-x1-x2")
    {
        for (int ch = 1; ch <= 2; ch++)
            for (int c = 0; c < 4; c++) {
                done();
                if (!open_tex((image_t){.fmt = F32,
                                        .ch = ch,
                                        .w = 4,
                                        .h = 4,
                                        .flags = CUDA_ARRAY3D_TEXTURE_GATHER},
                              SAMPLER(), q, 0))
                    break;
                tk_in[0].x = tk_in[0].y = 2;
                if (!fetch(op[c], "2d", "f32", "f32", 1))
                    break;
                put("x%d %s: %x %x %x %x", ch, op[c], tk_out[0], tk_out[1], tk_out[2], tk_out[3]);
                rowend(0);
            }
        end();
    }
    C("u8-normalised-and-integer")
    {
        static uint8_t b[64];
        for (int i = 0; i < 64; i++)
            b[i] = i * 4;
        for (int k = 0; k < 2; k++) {
            done();
            if (!open_tex(
                    (image_t){
                        .fmt = U8, .ch = 4, .w = 4, .h = 4, .flags = CUDA_ARRAY3D_TEXTURE_GATHER},
                    SAMPLER(.flags = k ? ASINT : 0), b, 0))
                break;
            for (int i = 0; i < 4; i++)
                tk_in[i].x = 1.3f + i * 0.4f, tk_in[i].y = 2;
            if (!fetch("tld4.g", "2d", k ? "u32" : "f32", "f32", 4))
                break;
            for (int i = 0; i < 16; i++)
                put(" %x", tk_out[i]);
            rowend(0);
        }
        end();
    }
    for (int gf = 0; gf < 2; gf++)
        C("cube-order-%s", gf ? "gather-flag" : "no-flag")
        {
            static float t6[6][16];
            for (int f = 0; f < 6; f++)
                for (int i = 0; i < 16; i++)
                    t6[f][i] = f * 100 + i;
            if (open_tex((image_t){.fmt = F32,
                                   .ch = 1,
                                   .w = 4,
                                   .h = 4,
                                   .d = 6,
                                   .flags = CUDA_ARRAY3D_CUBEMAP |
                                            (gf ? CUDA_ARRAY3D_TEXTURE_GATHER : 0)},
                         SAMPLER(.flags = NORM), t6, 0)) {
                int n = 0;
                for (int f = 0; f < 6; f++)
                    for (int k = 0; k < 3; k++) {
                        float v[3];
                        v[f / 2] = f & 1 ? -1 : 1;
                        v[(f / 2 + 1) % 3] = (float[]){0.1f, 0.6f, 0.99f}[k];
                        v[(f / 2 + 2) % 3] = -0.3f;
                        tk_in[n].x = v[0];
                        tk_in[n].y = v[1];
                        tk_in[n++].z = v[2];
                    }
                if (fetch("tld4.r", "cube", "f32", "f32", n)) {
                    for (int i = 0; i < n; i++)
                        put(" %g,%g,%g,%g", tk_float(tk_out[i * 4]), tk_float(tk_out[i * 4 + 1]),
                            tk_float(tk_out[i * 4 + 2]), tk_float(tk_out[i * 4 + 3]));
                    rowend(0);
                    end();
                }
            }
        }
    done();
}

// ---- border colours ----
GROUP(border)
{
    tk_setup();
    static const struct {
        int f;
        const char *n;
    } F[] = {{1, "u8"},  {8, "s8"},   {2, "u16"},  {9, "s16"},
             {3, "u32"}, {10, "s32"}, {16, "f16"}, {32, "f32"}};
    static const float col[][4] = {{0.25f, 0.3f, 0.7f, 0.999f},
                                   {2, -1, 300, -300},
                                   {1e-3f, 1e-8f, 1e30f, 70000},
                                   {INFINITY, -INFINITY, NAN, -0.0f},
                                   {5, 6, 7, 8}};
    static uint8_t z[64];
    memset(z, 0x11, 64);
    for (int k = 0; k < 8; k++)
        for (int ch = 1; ch <= 4; ch *= 2)
            for (int ai = 0; ai < 2; ai++)
                C("%sx%d-%s", F[k].n, ch, ai ? "as-integer" : "plain")
                {
                    for (int c = 0; c < 5; c++) {
                        done();
                        if (!open_tex(
                                (image_t){.fmt = F[k].f, .ch = ch, .w = 4},
                                (sampler_t){.am = {BORDER, BORDER, BORDER},
                                            .flags = ai ? ASINT : 0,
                                            .border = {col[c][0], col[c][1], col[c][2], col[c][3]}},
                                z, 0))
                            break;
                        tk_in[0].x = -3;
                        const char *dst = ai && k < 6 ? (k & 1 ? "s32" : "u32") : "f32";
                        if (!fetch("tex", "1d", dst, "f32", 1))
                            break;
                        put("%g %g %g %g > %x %x %x %x", col[c][0], col[c][1], col[c][2], col[c][3],
                            tk_out[0], tk_out[1], tk_out[2], tk_out[3]);
                        rowend(0);
                    }
                    end();
                }
    C("half-way-between-texel-and-border")
    {
        for (int k = 0; k < 8; k++) {
            if (k == 4 || k == 5)
                continue;
            done();
            static const uint32_t one[] = {0xff, 0x7f, 0xffff, 0x7fff, 0, 0, 0x3c00, 0x3f800000};
            uint8_t t[16];
            for (int i = 0; i < 4; i++)
                memcpy(t + i * tk_size(F[k].f), &one[k], tk_size(F[k].f));
            if (!open_tex((image_t){.fmt = F[k].f, .ch = 1, .w = 4},
                          (sampler_t){.am = {BORDER, BORDER, BORDER},
                                      .linear = 1,
                                      .border = {0.3f, 0, 0, 0}},
                          t, 0))
                break;
            for (int i = 0; i < 9; i++)
                tk_in[i].x = -0.5f + i / 8.0f;
            if (!fetch("tex", "1d", "f32", "f32", 9))
                break;
            put("%s all ones, border .3, x = -0.5+i/8:", F[k].n);
            for (int i = 0; i < 9; i++)
                put(" %x", tk_out[i * 4]);
            rowend(0);
        }
        end();
    }
    C("srgb-border")
    {
        if (open_tex((image_t){.fmt = U8, .ch = 4, .w = 4},
                     (sampler_t){.am = {BORDER, BORDER, BORDER},
                                 .flags = SRGB,
                                 .border = {0.25f, 0.5f, 0.75f, 0.5f}},
                     z, 0)) {
            tk_in[0].x = -3;
            if (fetch("tex", "1d", "f32", "f32", 1)) {
                put("%x %x %x %x", tk_out[0], tk_out[1], tk_out[2], tk_out[3]);
                rowend(0);
                end();
            }
        }
    }
    done();
}

// ---- block formats ----
static int upload_blocks(CUarray a, const void *data, int bw, int bh, int bytes)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = data;
    c.srcPitch = bw * bytes;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.WidthInBytes = bw * bytes;
    c.Height = bh;
    CUresult r = cuMemcpy2D(&c);
    if (r)
        OUT("copy %s", R(r));
    return !r;
}
GROUP(blocks)
{
    tk_setup();
    static const struct {
        int f, ch, bytes, view, base, bch;
        const char *n;
    } F[] = {{0x91, 4, 8, 0x11, 3, 2, "bc1"},        {0x92, 4, 8, 0x11, 3, 2, "bc1-srgb"},
             {0x93, 4, 16, 0x12, 3, 4, "bc2"},       {0x95, 4, 16, 0x13, 3, 4, "bc3"},
             {0x97, 1, 8, 0x14, 3, 2, "bc4-unorm"},  {0x98, 1, 8, 0x15, 3, 2, "bc4-snorm"},
             {0x99, 2, 16, 0x16, 3, 4, "bc5-unorm"}, {0x9a, 2, 16, 0x17, 3, 4, "bc5-snorm"},
             {0x9b, 3, 16, 0x18, 3, 4, "bc6h-uf16"}, {0x9c, 3, 16, 0x19, 3, 4, "bc6h-sf16"},
             {0x9d, 4, 16, 0x1a, 3, 4, "bc7"},       {0x9e, 4, 16, 0x1a, 3, 4, "bc7-srgb"}};
    for (int k = 0; k < 12; k++)
        for (int view = 0; view < 2; view++)
            C("%s-%s", F[k].n, view ? "as-a-view-of-u32" : "array")
            {
                uint8_t data[16 * 16];
                tk_rs = 700 + k;
                for (int i = 0; i < 16 * F[k].bytes; i += 4) {
                    uint32_t v = tk_r32();
                    memcpy(data + i, &v, 4);
                }
                memset(data, 0, F[k].bytes);
                memset(data + F[k].bytes, 0xff, F[k].bytes);
                if (F[k].bytes == 8) {
                    uint8_t b[8] = {0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0x1b, 0x1b};
                    memcpy(data + 2 * 8, b, 8);
                    b[0] = 0x1f;
                    b[1] = 0;
                    b[2] = 0;
                    b[3] = 0xf8;
                    memcpy(data + 3 * 8, b, 8);
                }
                if (k >= 10)
                    for (int i = 2; i < 16; i++) {
                        int mode = i % 8;
                        data[i * 16] = (data[i * 16] & ~((2u << mode) - 1)) | 1u << mode;
                    } // BC7: every mode
                CUresult r;
                CUarray a = 0;
                CUDA_ARRAY_DESCRIPTOR d = {.Width = view ? 4 : 16,
                                           .Height = view ? 4 : 16,
                                           .Format = view ? F[k].base : F[k].f,
                                           .NumChannels = view ? F[k].bch : F[k].ch};
                if ((r = cuArrayCreate(&a, &d))) {
                    OUT("array %s", R(r));
                    continue;
                }
                if (!upload_blocks(a, data, 4, 4, F[k].bytes)) {
                    cuArrayDestroy(a);
                    continue;
                }
                CUDA_RESOURCE_DESC rd;
                memset(&rd, 0, sizeof rd);
                rd.resType = CU_RESOURCE_TYPE_ARRAY;
                rd.res.array.hArray = a;
                CUDA_TEXTURE_DESC td;
                memset(&td, 0, sizeof td);
                td.addressMode[0] = td.addressMode[1] = CLAMP;
                CUDA_RESOURCE_VIEW_DESC v;
                memset(&v, 0, sizeof v);
                v.format = 0x1c + (F[k].f - 0x91) * 0;
                v.width = 16;
                v.height = 16;
                if (view) {
                    static const int VF[] = {
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC1,  CU_RES_VIEW_FORMAT_UNSIGNED_BC1,
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC2,  CU_RES_VIEW_FORMAT_UNSIGNED_BC3,
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC4,  CU_RES_VIEW_FORMAT_SIGNED_BC4,
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC5,  CU_RES_VIEW_FORMAT_SIGNED_BC5,
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC6H, CU_RES_VIEW_FORMAT_SIGNED_BC6H,
                        CU_RES_VIEW_FORMAT_UNSIGNED_BC7,  CU_RES_VIEW_FORMAT_UNSIGNED_BC7};
                    v.format = VF[k];
                }
                if (k == 1 || k == 11)
                    td.flags = SRGB;
                CUtexObject o;
                if ((r = cuTexObjectCreate(&o, &rd, &td, view ? &v : 0))) {
                    OUT("texture %s", R(r));
                    cuArrayDestroy(a);
                    continue;
                }
                ob = o;
                int n = 0;
                for (int y = 0; y < 16; y++)
                    for (int x = 0; x < 16; x++)
                        tk_in[n].x = x + 0.5f, tk_in[n++].y = y + 0.5f;
                if (fetch("tex", "2d", "f32", "f32", n)) {
                    int ch = F[k].ch;
                    for (int by = 0; by < 4; by++)
                        for (int bx = 0; bx < 4; bx++) {
                            put("block");
                            for (int i = 0; i < F[k].bytes; i++)
                                put("%s%02x", i ? "" : " ", data[(by * 4 + bx) * F[k].bytes + i]);
                            put(" > rows of texels, channels together:");
                            for (int i = 0; i < 16; i++) {
                                int p = (by * 4 + i / 4) * 16 + bx * 4 + i % 4;
                                put(" ");
                                for (int c = 0; c < ch; c++)
                                    put("%s%x", c ? "," : "", tk_out[p * 4 + c]);
                            }
                            if (!by && !bx)
                                put(" (all four channels of the first: %x %x %x %x)", tk_out[0],
                                    tk_out[1], tk_out[2], tk_out[3]);
                            rowend(0);
                        }
                    OUT("n=%d sum=%016llx", total_, (unsigned long long)sum_);
                }
                cuTexObjectDestroy(o);
                cuArrayDestroy(a);
            }
    C("bc1-linear-filter")
    {
        uint8_t b[8] = {0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0x1b, 0x1b};
        CUarray a;
        CUDA_ARRAY_DESCRIPTOR d = {.Width = 4, .Height = 4, .Format = 0x91, .NumChannels = 4};
        CUresult r = cuArrayCreate(&a, &d);
        if (r)
            OUT("array %s", R(r));
        else if (upload_blocks(a, b, 1, 1, 8)) {
            CUDA_RESOURCE_DESC rd;
            memset(&rd, 0, sizeof rd);
            rd.resType = CU_RESOURCE_TYPE_ARRAY;
            rd.res.array.hArray = a;
            CUDA_TEXTURE_DESC td;
            memset(&td, 0, sizeof td);
            td.addressMode[0] = td.addressMode[1] = CLAMP;
            td.filterMode = CU_TR_FILTER_MODE_LINEAR;
            if ((r = cuTexObjectCreate(&ob, &rd, &td, 0)))
                OUT("texture %s", R(r));
            else {
                for (int i = 0; i < 49; i++)
                    tk_in[i].x = 0.5f + i % 7 / 2.0f + 1 / 256.0f, tk_in[i].y = 0.5f + i / 7 / 2.0f;
                if (fetch("tex", "2d", "f32", "f32", 49)) {
                    for (int i = 0; i < 49; i++)
                        put(" %x,%x,%x", tk_out[i * 4], tk_out[i * 4 + 1], tk_out[i * 4 + 2]);
                    rowend(0);
                    end();
                }
            }
        }
    }
    done();
}

// ---- planes of video formats ----
GROUP(video)
{
    tk_setup();
    static const struct {
        int f, ch;
        const char *n;
    } F[] = {{0xb0, 3, "nv12"},
             {0x9f, 3, "p010"},
             {0xa1, 3, "p016"},
             {0xa2, 3, "nv16"},
             {0xa3, 3, "p210"},
             {0xa4, 3, "p216"},
             {0xa5, 2, "yuy2"},
             {0xa6, 2, "y210"},
             {0xa7, 2, "y216"},
             {0xa8, 4, "ayuv"},
             {0xa9, 4, "y410"},
             {0xb1, 4, "y416"},
             {0xb2, 3, "y444-planar8"},
             {0xb3, 3, "y444-planar10"},
             {0xb4, 3, "yuv444-semiplanar8"},
             {0xb5, 3, "yuv444-semiplanar16"}};
    for (int k = 0; k < 16; k++)
        C("%s", F[k].n)
        {
            CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 128, .Height = 64, .Format = F[k].f};
            CUarray a = 0;
            CUresult r = CUDA_ERROR_UNKNOWN;
            static const unsigned fl[] = {
                0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CUDA_ARRAY3D_SURFACE_LDST,
                CUDA_ARRAY3D_VIDEO_ENCODE_DECODE | CUDA_ARRAY3D_SURFACE_LDST};
            for (int i = 0; i < 4 && r; i++)
                for (int c = 0; c < 5 && r; c++) {
                    d.Flags = fl[i];
                    d.NumChannels = c ? c : F[k].ch;
                    r = cuArray3DCreate(&a, &d);
                }
            if (r) {
                OUT("array %s for flags none, video, surface, both and channels 1..4", R(r));
                continue;
            }
            put("flags %x channels %u", d.Flags, d.NumChannels);
            rowend("made-with");
            for (int p = -1; p < 3; p++) {
                CUarray pl = a;
                if (p >= 0 && (r = cuArrayGetPlane(&pl, a, p))) {
                    put("plane %d %s", p, R(r));
                    rowend(0);
                    continue;
                }
                CUDA_ARRAY3D_DESCRIPTOR q;
                memset(&q, 0, sizeof q);
                if ((r = cuArray3DGetDescriptor(&q, pl)))
                    put("descriptor %s ", R(r));
                put("%s %zux%zu format %x channels %u:", p < 0 ? "whole" : "plane", q.Width,
                    q.Height, (int)q.Format, q.NumChannels);
                if (p >= 0) {
                    static uint8_t data[1 << 16];
                    for (int i = 0; i < 1 << 16; i++)
                        data[i] = i * 73 + 11;
                    image_t pi = {.fmt = q.Format,
                                  .ch = q.NumChannels,
                                  .w = (int)q.Width,
                                  .h = (int)q.Height,
                                  .a = pl};
                    if ((r = tk_upload(&pi, 0, data)))
                        put(" upload %s", R(r));
                }
                CUDA_RESOURCE_DESC rd;
                memset(&rd, 0, sizeof rd);
                rd.resType = CU_RESOURCE_TYPE_ARRAY;
                rd.res.array.hArray = pl;
                CUDA_TEXTURE_DESC td;
                memset(&td, 0, sizeof td);
                td.addressMode[0] = td.addressMode[1] = CLAMP;
                if ((r = cuTexObjectCreate(&ob, &rd, &td, 0))) {
                    put(" texture %s", R(r));
                    rowend(0);
                    continue;
                }
                for (int i = 0; i < 4; i++)
                    tk_in[i].x = i * 2 + 0.5f, tk_in[i].y = i % 2 + 1.5f;
                if (p >= 0 && fetch("tex", "2d", "f32", "f32", 4))
                    for (int i = 0; i < 16; i++)
                        put(" %x", tk_out[i]);
                if (p < 0)
                    put(" texture SUCCESS");
                cuTexObjectDestroy(ob);
                rowend(0);
            }
            OUT("n=%d sum=%016llx", total_, (unsigned long long)sum_);
            cuArrayDestroy(a);
        }
    done();
}

// ---- queries, offsets, other forms of the instruction ----
GROUP(forms)
{
    tk_setup();
    static float q[8 * 4 * 4];
    for (int i = 0; i < 128; i++)
        q[i] = i;
    static const char *const Q[] = {"txq.width.b32",
                                    "txq.height.b32",
                                    "txq.depth.b32",
                                    "txq.channel_data_type.b32",
                                    "txq.channel_order.b32",
                                    "txq.array_size.b32",
                                    "txq.num_mipmap_levels.b32",
                                    "txq.num_samples.b32"};
    static const image_t I[] = {
        {.fmt = F32, .ch = 1, .w = 8},
        {.fmt = F32, .ch = 1, .w = 8, .h = 4},
        {.fmt = F32, .ch = 1, .w = 8, .h = 4, .d = 4},
        {.fmt = F32, .ch = 1, .w = 8, .h = 4, .d = 3, .flags = CUDA_ARRAY3D_LAYERED},
        {.fmt = U8, .ch = 4, .w = 8, .h = 4},
        {.fmt = F32, .ch = 1, .w = 8, .h = 4, .levels = 3}};
    static const char *const IN[] = {"1d", "2d", "3d", "a2d", "u8x4", "mip"};
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 6; i++)
            C("%s-%s", Q[k], IN[i])
            {
                char ins[100];
                snprintf(ins, sizeof ins, "%s %%v0,[%%t];", Q[k]);
                if (open_tex(I[i], SAMPLER(), q, 0)) {
                    if (fetch(ins, "q", "u32", IN[i], 1)) {
                        OUT("%d ", (int)tk_out[0]);
                    }
                    done();
                }
            }
    for (int i = 1; i < 6; i++)
        for (int l = 0; l < 4; l++)
            C("txq.level-%s-%d", IN[i], l)
            {
                char ins[200];
                snprintf(ins, sizeof ins,
                         "mov.b32 %%lod,%d;\ntxq.level.width.b32 "
                         "%%v0,[%%t],%%lod;\ntxq.level.height.b32 "
                         "%%v1,[%%t],%%lod;\ntxq.level.depth.b32 %%v2,[%%t],%%lod;",
                         l);
                if (open_tex(I[i], SAMPLER(), q, 0)) {
                    if (fetch(ins, "q", "u32", "l", 1))
                        OUT("%d %d %d ", (int)tk_out[0], (int)tk_out[1], (int)tk_out[2]);
                    done();
                }
            }
    static const char *const G[] = {"1d", "2d", "3d", "a2d"};
    static const char *const O1[] = {"3", "3,-2", "3,-2,1,1", "3,-2,1,1"}, *const CC[] = {
                                                                               "{%c0}", "{%c0,%c1}",
                                                                               "{%c0,%c1,%c2,%c2}",
                                                                               "{%ly,%c0,%c1,%c1}"};
    for (int i = 0; i < 4; i++)
        for (int am = 0; am < 4; am++)
            C("texel-offset-%s-%s", G[i], AMN[am])
            {
                char ins[200];
                snprintf(ins, sizeof ins, "tex.%s.v4.f32.f32 {%%v0,%%v1,%%v2,%%v3},[%%t,%s],{%s};",
                         G[i], CC[i],
                         i == 0   ? "%i3"
                         : i == 1 ? "%i3,%im2"
                                  : "%i3,%im2,%i1,%i1");
                if (open_tex(I[i], (sampler_t){.am = {am, am, am}, .flags = NORM, .border = {99}},
                             q, 0)) {
                    for (int k = 0; k < 16; k++)
                        tk_in[k].x = k / 8.0f - 0.4375f, tk_in[k].y = (k % 5) / 4.0f - 0.125f,
                        tk_in[k].z = (k % 3) / 4.0f + 0.125f, tk_in[k].layer = k % 3;
                    if (fetch(ins, "o", "f32", "o", 16)) {
                        for (int k = 0; k < 16; k++)
                            put(" %g", of(k));
                        rowend(0);
                        end();
                    }
                }
            }
    (void)O1;
    C("v2-and-scalar-destinations")
    {
        if (open_tex((image_t){.fmt = F32, .ch = 4, .w = 8, .h = 4}, SAMPLER(), q, 0)) {
            static const char *const ins[] = {
                "tex.2d.v2.f32.f32 {%v0,%v1},[%t,{%c0,%c1}];",
                "tex.2d.v1.f32.f32 %v0,[%t,{%c0,%c1}];",
                "tex.2d.f32.f32 %v0,[%t,{%c0,%c1}];",
                ".reg .b16 %e<4>;\ntex.2d.v4.f16.f32 {%e0,%e1,%e2,%e3},[%t,{%c0,%c1}];\nmov.b32 "
                "%v0,{%e0,%e1};\nmov.b32 %v1,{%e2,%e3};",
                "tex.2d.v2.f16x2.f32 {%v0,%v1},[%t,{%c0,%c1}];",
                "tex.base.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%t,{%c0,%c1}];",
                ".reg .pred %rs;\ntex.2d.v4.f32.f32 "
                "{%v0,%v1,%v2,%v3}|%rs,[%t,{%c0,%c1}];\nselp.b32 %v3,5,6,%rs;",
                "tld4.r.2d.v4.f32.f32 {%v0,%v1,%v2,%v3},[%t,{%c0,%c1}];"};
            for (int k = 0; k < 8; k++) {
                tk_in[0].x = 2.5f;
                tk_in[0].y = 1.5f;
                char id[4] = {'0' + k, 0};
                size_t l = strlen(probe_st->line);
                (void)l;
                if (fetch(ins[k], "f", "x", id, 1)) {
                    put("%.60s: %x %x %x %x", ins[k], tk_out[0], tk_out[1], tk_out[2], tk_out[3]);
                    for (char *c = row_; *c; c++)
                        if (*c == '\n')
                            *c = ' ';
                    rowend(0);
                } else
                    OUT(" (%d); ", k);
            }
            end();
        }
    }
    done();
}
int main(void)
{
    probe_only = getenv("PROBE_ONLY");
    RUN(weight);
    RUN(point);
    RUN(address);
    RUN(decode);
    RUN(sum1d);
    RUN(sum2d3d);
    RUN(lod);
    RUN(grad);
    RUN(aniso);
    RUN(cube);
    RUN(gather);
    RUN(border);
    RUN(blocks);
    RUN(video);
    RUN(forms);
    return 0;
}
