// SPDX-License-Identifier: MIT
// Every cuGraphics* entry point over GL buffers, textures and renderbuffers, one state per case.
#include "probe.h"
#define LINE(...) OUT(__VA_ARGS__)
#include "glctx.h"
#include <cudaGL.h>
typedef CUgraphicsResource Res;
static GLuint mkbuf(size_t n)
{
    GLuint b;
    glGenBuffers_(1, &b);
    glBindBuffer_(GL_ARRAY_BUFFER, b);
    unsigned char *z = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        z[i] = (unsigned char)(i * 7 + 3);
    glBufferData_(GL_ARRAY_BUFFER, n, z, GL_DYNAMIC_DRAW);
    free(z);
    return b;
}
static Res regbuf(size_t n, unsigned f, GLuint *o)
{
    GLuint b = mkbuf(n);
    Res r = 0;
    if (o)
        *o = b;
    return cuGraphicsGLRegisterBuffer(&r, b, f) ? 0 : r;
}
static GLuint tex(GLenum t, GLenum f, int lv, int w, int h, int d)
{
    GLuint x;
    glGenTextures(1, &x);
    glBindTexture(t, x);
    switch (t) {
    case GL_TEXTURE_1D:
        glTexStorage1D_(t, lv, f, w);
        break;
    case GL_TEXTURE_2D:
    case GL_TEXTURE_CUBE_MAP:
    case GL_TEXTURE_RECTANGLE:
    case GL_TEXTURE_1D_ARRAY:
        glTexStorage2D_(t, lv, f, w, h);
        break;
    default:
        glTexStorage3D_(t, lv, f, w, h, d);
    }
    if (glGetError())
        OUT("gl-error ");
    return x;
}
static void desc(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    memset(&d, 0, sizeof d);
    CUresult r = cuArray3DGetDescriptor(&d, a);
    OUT("[%s %zux%zux%zu fmt%d ch%u fl0x%x]", R(r), d.Width, d.Height, d.Depth, d.Format,
        d.NumChannels, d.Flags);
}
static unsigned fnv(const unsigned char *p, size_t n)
{
    unsigned h = 2166136261u;
    while (n--)
        h = (h ^ *p++) * 16777619u;
    return h;
}
static const GLenum TG[] = {GL_TEXTURE_1D,
                            GL_TEXTURE_2D,
                            GL_TEXTURE_3D,
                            GL_TEXTURE_1D_ARRAY,
                            GL_TEXTURE_2D_ARRAY,
                            GL_TEXTURE_CUBE_MAP,
                            GL_TEXTURE_CUBE_MAP_ARRAY,
                            GL_TEXTURE_RECTANGLE};
static const char *TN[] = {"1D", "2D", "3D", "1DARRAY", "2DARRAY", "CUBE", "CUBEARRAY", "RECT"};
static GLuint mk(int i, int lv)
{
    return tex(TG[i], GL_RGBA8, lv, 32, i == 3 ? 5 : 32, i == 2 ? 16 : i == 6 ? 12 : 5);
}

GROUP(noinit)
{
    if (gl_start())
        _exit(7);
    Res r = 0;
    CUdeviceptr p;
    size_t s;
    CUarray a;
    CUmipmappedArray m;
    CASE("map") OUT("%s", R(cuGraphicsMapResources(1, &r, 0)));
    CASE("unmap") OUT("%s", R(cuGraphicsUnmapResources(1, &r, 0)));
    CASE("unregister") OUT("%s", R(cuGraphicsUnregisterResource(0)));
    CASE("ptr") OUT("%s", R(cuGraphicsResourceGetMappedPointer(&p, &s, r)));
    CASE("sub") OUT("%s", R(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0)));
    CASE("mip") OUT("%s", R(cuGraphicsResourceGetMappedMipmappedArray(&m, r)));
    CASE("flags") OUT("%s", R(cuGraphicsResourceSetMapFlags(r, 0)));
    CASE("regbuf") OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, 1, 0)));
    CASE("regimg") OUT("%s", R(cuGraphicsGLRegisterImage(&r, 1, GL_TEXTURE_2D, 0)));
}
GROUP(noctx)
{
    if (gl_start())
        _exit(7);
    MUST(cuInit(0));
    Res r = 0;
    CUdeviceptr p;
    size_t s;
    CUarray a;
    CUmipmappedArray m;
    CASE("map-null-entry") OUT("%s", R(cuGraphicsMapResources(1, &r, 0)));
    CASE("map-0") OUT("%s", R(cuGraphicsMapResources(0, &r, 0)));
    CASE("map-nullarray") OUT("%s", R(cuGraphicsMapResources(1, 0, 0)));
    CASE("unmap") OUT("%s", R(cuGraphicsUnmapResources(1, &r, 0)));
    CASE("unregister") OUT("%s", R(cuGraphicsUnregisterResource(0)));
    CASE("ptr") OUT("%s", R(cuGraphicsResourceGetMappedPointer(&p, &s, r)));
    CASE("sub") OUT("%s", R(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0)));
    CASE("mip") OUT("%s", R(cuGraphicsResourceGetMappedMipmappedArray(&m, r)));
    CASE("flags") OUT("%s", R(cuGraphicsResourceSetMapFlags(r, 0)));
    CASE("flags-bad") OUT("%s", R(cuGraphicsResourceSetMapFlags(r, 99)));
    CASE("regbuf") OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, mkbuf(64), 0)));
    CASE("regimg") OUT("%s", R(cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_2D, 0)));
}
GROUP(buffer)
{
    if (gl_start())
        _exit(7);
    probe_ctx();
    CUdeviceptr p = 0, q;
    size_t s = 77;
    CUarray a;
    CUmipmappedArray m;
    GLuint b;
    for (unsigned f = 0; f < 40; f++)
        CASE("register-flags-%u", f)
        {
            Res r = 0;
            OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, mkbuf(4096), f)));
        }
    CASE("register-missing")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, 9999, 0)));
    }
    CASE("register-0")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, 0, 0)));
    }
    CASE("register-null-out") OUT("%s", R(cuGraphicsGLRegisterBuffer(0, mkbuf(16), 0)));
    CASE("register-null-out-missing") OUT("%s", R(cuGraphicsGLRegisterBuffer(0, 9999, 99)));
    CASE("register-missing-badflags")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, 9999, 99)));
    }
    size_t sz[] = {0,    1,    3,     100,     255,           256,    4095,
                   4096, 4097, 65536, 1 << 20, (1 << 20) + 1, 5 << 20};
    for (int i = 0; i < 13; i++)
        CASE("size-%zu", sz[i])
        {
            Res r = 0;
            CUresult e = cuGraphicsGLRegisterBuffer(&r, mkbuf(sz[i]), 0);
            OUT("%s", R(e));
            if (!e) {
                OUT(" map %s", R(cuGraphicsMapResources(1, &r, 0)));
                OUT(" ptr %s", R(cuGraphicsResourceGetMappedPointer(&p, &s, r)));
                OUT(" size %zu al256 %d al512 %d", s, p % 256 == 0, p % 512 == 0);
                unsigned char *h = calloc(1, sz[i] + 1);
                OUT(" read %s", R(cuMemcpyDtoH(h, p, sz[i])));
                OUT(" sum %x", fnv(h, sz[i]));
                OUT(" past %s", R(cuMemcpyDtoH(h, p, sz[i] + 1)));
                OUT(" unmap %s", R(cuGraphicsUnmapResources(1, &r, 0)));
                OUT(" unreg %s", R(cuGraphicsUnregisterResource(r)));
            }
        }
    CASE("register-twice")
    {
        Res r, r2;
        b = mkbuf(64);
        OUT("%s", R(cuGraphicsGLRegisterBuffer(&r, b, 0)));
        OUT(" %s", R(cuGraphicsGLRegisterBuffer(&r2, b, 0)));
        OUT(" same %d", r == r2);
        OUT(" map1 %s", R(cuGraphicsMapResources(1, &r, 0)));
        OUT(" map2 %s", R(cuGraphicsMapResources(1, &r2, 0)));
    }
#define UNM(name, x)                                                                               \
    CASE("unmapped-" name)                                                                         \
    {                                                                                              \
        Res r = regbuf(4096, 0, 0);                                                                \
        OUT("%s", R(x));                                                                           \
    }
    UNM("ptr", cuGraphicsResourceGetMappedPointer(&p, &s, r))
    UNM("ptr-nulls", cuGraphicsResourceGetMappedPointer(0, 0, r)) UNM(
        "sub", cuGraphicsSubResourceGetMappedArray(
                   &a, r, 0, 0)) UNM("sub-null", cuGraphicsSubResourceGetMappedArray(0, r, 0, 0))
        UNM("mip", cuGraphicsResourceGetMappedMipmappedArray(&m, r)) UNM(
            "mip-null", cuGraphicsResourceGetMappedMipmappedArray(
                            0, r)) UNM("unmap", cuGraphicsUnmapResources(1, &r, 0))
            UNM("unregister", cuGraphicsUnregisterResource(r)) UNM(
                "map", cuGraphicsMapResources(1, &r, 0)) UNM("map-0",
                                                             cuGraphicsMapResources(0, &r, 0))
                UNM("map-0-null", cuGraphicsMapResources(0, 0, 0)) UNM(
                    "map-null", cuGraphicsMapResources(
                                    1, 0, 0)) UNM("unmap-0", cuGraphicsUnmapResources(0, &r, 0))
                    UNM("unmap-0-null", cuGraphicsUnmapResources(0, 0, 0)) UNM(
                        "unmap-null", cuGraphicsUnmapResources(1, 0, 0))
#define MPD(name, x)                                                                               \
    CASE("mapped-" name)                                                                           \
    {                                                                                              \
        Res r = regbuf(4096, 0, 0);                                                                \
        cuGraphicsMapResources(1, &r, 0);                                                          \
        OUT("%s", R(x));                                                                           \
    }
                        MPD("ptr", cuGraphicsResourceGetMappedPointer(&p, &s, r)) MPD(
                            "ptr-null-size", cuGraphicsResourceGetMappedPointer(&p, 0, r))
                            MPD("ptr-null-ptr", cuGraphicsResourceGetMappedPointer(0, &s, r)) MPD(
                                "ptr-nulls",
                                cuGraphicsResourceGetMappedPointer(
                                    0, 0, r)) MPD("ptr-null-res",
                                                  cuGraphicsResourceGetMappedPointer(&p, &s, 0))
                                MPD("sub", cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0)) MPD(
                                    "sub-null",
                                    cuGraphicsSubResourceGetMappedArray(0, r, 0, 0))
                                    MPD("sub-bad-index",
                                        cuGraphicsSubResourceGetMappedArray(&a, r, 99, 99))
                                        MPD("mip", cuGraphicsResourceGetMappedMipmappedArray(&m, r))
                                            MPD("map-again", cuGraphicsMapResources(1, &r, 0))
                                                MPD("unmap", cuGraphicsUnmapResources(1, &r, 0))
                                                    MPD("unregister", cuGraphicsUnregisterResource(
                                                                          r)) for (unsigned f = 0;
                                                                                   f < 10; f++)
    {
        CASE("setflags-%u", f)
        {
            Res r = regbuf(64, 0, 0);
            OUT("%s", R(cuGraphicsResourceSetMapFlags(r, f)));
        }
        CASE("setflags-mapped-%u", f)
        {
            Res r = regbuf(64, 0, 0);
            cuGraphicsMapResources(1, &r, 0);
            OUT("%s", R(cuGraphicsResourceSetMapFlags(r, f)));
        }
    }
    CASE("setflags-null") OUT("%s", R(cuGraphicsResourceSetMapFlags(0, 0)));
    CASE("setflags-null-bad") OUT("%s", R(cuGraphicsResourceSetMapFlags(0, 77)));
#define ST(r) R(cuGraphicsResourceGetMappedPointer(&p, &s, r))
    CASE("map-duplicate")
    {
        Res r = regbuf(64, 0, 0), d[2] = {r, r};
        OUT("%s", R(cuGraphicsMapResources(2, d, 0)));
        OUT(" after %s", ST(r));
    }
    CASE("map-dup-last")
    {
        Res r = regbuf(64, 0, 0), q = regbuf(64, 0, 0), d[3] = {q, r, r};
        OUT("%s", R(cuGraphicsMapResources(3, d, 0)));
        OUT(" q %s", ST(q));
        OUT(" r %s", ST(r));
    }
    CASE("map-null-second")
    {
        Res r = regbuf(64, 0, 0), d[2] = {r, 0};
        OUT("%s", R(cuGraphicsMapResources(2, d, 0)));
        OUT(" after %s", ST(r));
    }
    CASE("map-null-first")
    {
        Res r = regbuf(64, 0, 0), d[2] = {0, r};
        OUT("%s", R(cuGraphicsMapResources(2, d, 0)));
        OUT(" after %s", ST(r));
    }
    CASE("map-mix-mapped-last")
    {
        Res r = regbuf(64, 0, 0), q = regbuf(64, 0, 0), d[2] = {q, r};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsMapResources(2, d, 0)));
        OUT(" q %s r %s", ST(q), "-");
        OUT(" r %s", ST(r));
    }
    CASE("map-mix-mapped-first")
    {
        Res r = regbuf(64, 0, 0), q = regbuf(64, 0, 0), d[2] = {r, q};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsMapResources(2, d, 0)));
        OUT(" q %s", ST(q));
        OUT(" r %s", ST(r));
    }
    CASE("unmap-duplicate")
    {
        Res r = regbuf(64, 0, 0), d[2] = {r, r};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsUnmapResources(2, d, 0)));
        OUT(" after %s", ST(r));
    }
    CASE("unmap-mix-unmapped-last")
    {
        Res r = regbuf(64, 0, 0), q = regbuf(64, 0, 0), d[2] = {r, q};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsUnmapResources(2, d, 0)));
        OUT(" r %s", ST(r));
    }
    CASE("unmap-mix-unmapped-first")
    {
        Res r = regbuf(64, 0, 0), q = regbuf(64, 0, 0), d[2] = {q, r};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsUnmapResources(2, d, 0)));
        OUT(" r %s", ST(r));
    }
    CASE("unmap-null-second")
    {
        Res r = regbuf(64, 0, 0), d[2] = {r, 0};
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsUnmapResources(2, d, 0)));
        OUT(" r %s", ST(r));
    }
    CASE("map-many")
    {
        Res d[8];
        for (int i = 0; i < 8; i++)
            d[i] = regbuf(64 << i, 0, 0);
        OUT("%s", R(cuGraphicsMapResources(8, d, 0)));
        for (int i = 0; i < 8; i++) {
            cuGraphicsResourceGetMappedPointer(&p, &s, d[i]);
            OUT(" %zu", s);
        }
        OUT(" %s", R(cuGraphicsUnmapResources(8, d, 0)));
    }
    CASE("unmap-on-other-stream")
    {
        CUstream st;
        cuStreamCreate(&st, CU_STREAM_NON_BLOCKING);
        Res r = regbuf(64, 0, 0);
        OUT("%s", R(cuGraphicsMapResources(1, &r, st)));
        OUT(" %s", R(cuGraphicsUnmapResources(1, &r, 0)));
    }
    CASE("per-thread-stream")
    {
        Res r = regbuf(64, 0, 0);
        OUT("%s", R(cuGraphicsMapResources(1, &r, (CUstream)2)));
        OUT(" %s", R(cuGraphicsUnmapResources(1, &r, (CUstream)1)));
    }
    CASE("map-bogus-stream")
    {
        Res r = regbuf(64, 0, 0);
        OUT("%s", R(cuGraphicsMapResources(1, &r, (CUstream)0x77770)));
    }
    CASE("map-bogus-res")
    {
        Res r = (Res)0x12340;
        OUT("%s", R(cuGraphicsMapResources(1, &r, 0)));
    }
    CASE("unmap-bogus-res")
    {
        Res r = (Res)0x12340;
        OUT("%s", R(cuGraphicsUnmapResources(1, &r, 0)));
    }
    CASE("unregister-bogus") OUT("%s", R(cuGraphicsUnregisterResource((Res)0x12340)));
    CASE("unregister-null") OUT("%s", R(cuGraphicsUnregisterResource(0)));
    CASE("unregister-twice")
    {
        Res r = regbuf(64, 0, 0);
        OUT("%s", R(cuGraphicsUnregisterResource(r)));
        OUT(" %s", R(cuGraphicsUnregisterResource(r)));
    }
    CASE("map-after-unregister")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsUnregisterResource(r);
        OUT("%s", R(cuGraphicsMapResources(1, &r, 0)));
    }
    CASE("map-after-gldelete")
    {
        Res r = regbuf(64, 0, &b);
        glDeleteBuffers_(1, &b);
        OUT("%s", R(cuGraphicsMapResources(1, &r, 0)));
    }
    CASE("unregister-mapped-then-unmap")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        OUT("%s", R(cuGraphicsUnregisterResource(r)));
        OUT(" %s", R(cuGraphicsUnmapResources(1, &r, 0)));
        OUT(" %s", R(cuGraphicsUnregisterResource(r)));
    }
    CASE("write-visible-to-gl")
    {
        Res r = regbuf(4096, 0, &b);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        OUT("%s", R(cuMemsetD8(p, 7, 4096)));
        cuGraphicsUnmapResources(1, &r, 0);
        unsigned char h[4096];
        glBindBuffer_(GL_ARRAY_BUFFER, b);
        glGetBufferSubData_(GL_ARRAY_BUFFER, 0, 4096, h);
        OUT(" %d %d", h[0], h[4095]);
    }
    for (unsigned f = 0; f < 3; f++)
        CASE("flag-%u-write-then-gl", f)
        {
            Res r = regbuf(256, f, &b);
            cuGraphicsMapResources(1, &r, 0);
            cuGraphicsResourceGetMappedPointer(&p, &s, r);
            unsigned char h[256];
            OUT("read %s", R(cuMemcpyDtoH(h, p, 256)));
            OUT(" sum %x", fnv(h, 256));
            OUT(" write %s", R(cuMemsetD8(p, 9, 256)));
            OUT(" unmap %s", R(cuGraphicsUnmapResources(1, &r, 0)));
            glBindBuffer_(GL_ARRAY_BUFFER, b);
            glGetBufferSubData_(GL_ARRAY_BUFFER, 0, 256, h);
            OUT(" gl %d", h[5]);
        }
    CASE("use-after-unmap")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        cuGraphicsUnmapResources(1, &r, 0);
        OUT("%s", R(cuMemsetD8(p, 1, 64)));
    }
    CASE("same-address-after-remap")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        q = p;
        cuGraphicsUnmapResources(1, &r, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        OUT("%d", p == q);
    }
    CASE("same-address-twice")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        cuGraphicsResourceGetMappedPointer(&q, &s, r);
        OUT("%d", p == q);
    }
    CASE("addressrange")
    {
        Res r = regbuf(4096, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        CUdeviceptr ba = 0;
        size_t bz = 0;
        OUT("%s", R(cuMemGetAddressRange(&ba, &bz, p)));
        OUT(" off %lld size %zu", (long long)(p - ba), bz);
        OUT(" mid %s", R(cuMemGetAddressRange(&ba, &bz, p + 100)));
    }
    for (int at = 1; at <= 22; at++)
        CASE("pointer-attr-%d", at)
        {
            Res r = regbuf(4096, 0, 0);
            cuGraphicsMapResources(1, &r, 0);
            cuGraphicsResourceGetMappedPointer(&p, &s, r);
            unsigned long long v[4] = {0};
            CUresult e = cuPointerGetAttribute(v, at, p);
            OUT("%s", R(e));
            if (!e && (at == 2 || at == 6 || at == 8 || at == 9 || at == 10 || at == 12 ||
                       at == 13 || at == 14 || at == 15 || at == 16))
                OUT(" %u", (unsigned)v[0]);
            if (!e && at == 3)
                OUT(" same %d", v[0] == p);
        }
    CASE("memfree-mapped")
    {
        Res r = regbuf(64, 0, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsResourceGetMappedPointer(&p, &s, r);
        OUT("%s", R(cuMemFree(p)));
        OUT(" set %s", R(cuMemsetD8(p, 1, 64)));
        OUT(" unmap %s", R(cuGraphicsUnmapResources(1, &r, 0)));
    }
    CASE("ctx-destroyed")
    {
        CUcontext c;
        CUdevice dv;
        cuDeviceGet(&dv, 0);
        cuCtxCreate(&c, 0, 0, dv);
        Res r = regbuf(64, 0, 0);
        OUT("reg %d", r != 0);
        cuCtxDestroy(c);
        OUT(" %s", R(cuGraphicsMapResources(1, &r, 0)));
    }
}
GROUP(image)
{
    if (gl_start())
        _exit(7);
    probe_ctx();
    CUdeviceptr p = 0;
    size_t s;
    CUarray a, a2;
    CUmipmappedArray m;
    for (int i = 0; i < 8; i++)
        for (int lv = 1; lv <= 4; lv += 3) {
            if (i == 7 && lv > 1)
                continue;
            CASE("register-%s-L%d", TN[i], lv)
            {
                Res r = 0;
                OUT("%s", R(cuGraphicsGLRegisterImage(&r, mk(i, lv), TG[i], 0)));
            }
            if (i == 0 || i == 3 || i == 6)
                continue;
            CASE("unmapped-%s-L%d", TN[i], lv)
            {
                Res r = 0;
                cuGraphicsGLRegisterImage(&r, mk(i, lv), TG[i], 0);
                OUT("sub %s", R(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0)));
                OUT(" sub-bad %s", R(cuGraphicsSubResourceGetMappedArray(&a, r, 99, 99)));
                OUT(" mip %s", R(cuGraphicsResourceGetMappedMipmappedArray(&m, r)));
                OUT(" ptr %s", R(cuGraphicsResourceGetMappedPointer(&p, &s, r)));
            }
            for (unsigned ai = 0; ai < 14; ai++)
                for (unsigned ml = 0; ml < 7; ml++)
                    CASE("sub-%s-L%d-%u-%u", TN[i], lv, ai, ml)
                    {
                        Res r = 0;
                        cuGraphicsGLRegisterImage(&r, mk(i, lv), TG[i], 0);
                        cuGraphicsMapResources(1, &r, 0);
                        CUresult e = cuGraphicsSubResourceGetMappedArray(&a, r, ai, ml);
                        OUT("%s ", R(e));
                        if (!e)
                            desc(a);
                    }
            CASE("mip-%s-L%d", TN[i], lv)
            {
                Res r = 0;
                cuGraphicsGLRegisterImage(&r, mk(i, lv), TG[i], 0);
                cuGraphicsMapResources(1, &r, 0);
                CUresult e = cuGraphicsResourceGetMappedMipmappedArray(&m, r);
                OUT("%s", R(e));
                for (unsigned l = 0; !e && l < 7; l++) {
                    CUresult g = cuMipmappedArrayGetLevel(&a, m, l);
                    OUT(" L%u %s", l, R(g));
                    if (!g)
                        desc(a);
                }
                OUT(" destroy %s", R(cuMipmappedArrayDestroy(m)));
            }
            CASE("mapped-%s-L%d", TN[i], lv)
            {
                Res r = 0;
                cuGraphicsGLRegisterImage(&r, mk(i, lv), TG[i], 0);
                OUT("map %s", R(cuGraphicsMapResources(1, &r, 0)));
                OUT(" ptr %s", R(cuGraphicsResourceGetMappedPointer(&p, &s, r)));
                OUT(" sub-null %s", R(cuGraphicsSubResourceGetMappedArray(0, r, 0, 0)));
                OUT(" mip-null %s", R(cuGraphicsResourceGetMappedMipmappedArray(0, r)));
                cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
                cuGraphicsSubResourceGetMappedArray(&a2, r, 0, 0);
                OUT(" same %d", a == a2);
                OUT(" destroy %s", R(cuArrayDestroy(a)));
                OUT(" unmap %s", R(cuGraphicsUnmapResources(1, &r, 0)));
                OUT(" unreg %s", R(cuGraphicsUnregisterResource(r)));
            }
        }
    struct {
        GLenum f;
        const char *n;
    } F[] = {{GL_R8, "R8"},
             {GL_RG8, "RG8"},
             {GL_RGB8, "RGB8"},
             {GL_RGBA8, "RGBA8"},
             {GL_R16, "R16"},
             {GL_RG16, "RG16"},
             {GL_RGBA16, "RGBA16"},
             {GL_R16F, "R16F"},
             {GL_RG16F, "RG16F"},
             {GL_RGBA16F, "RGBA16F"},
             {GL_R32F, "R32F"},
             {GL_RG32F, "RG32F"},
             {GL_RGB32F, "RGB32F"},
             {GL_RGBA32F, "RGBA32F"},
             {GL_R8I, "R8I"},
             {GL_R8UI, "R8UI"},
             {GL_RG8I, "RG8I"},
             {GL_RG8UI, "RG8UI"},
             {GL_RGBA8I, "RGBA8I"},
             {GL_RGBA8UI, "RGBA8UI"},
             {GL_R16I, "R16I"},
             {GL_R16UI, "R16UI"},
             {GL_RGBA16I, "RGBA16I"},
             {GL_RGBA16UI, "RGBA16UI"},
             {GL_R32I, "R32I"},
             {GL_R32UI, "R32UI"},
             {GL_RG32I, "RG32I"},
             {GL_RGBA32I, "RGBA32I"},
             {GL_RGBA32UI, "RGBA32UI"},
             {GL_SRGB8, "SRGB8"},
             {GL_SRGB8_ALPHA8, "SRGBA8"},
             {GL_DEPTH_COMPONENT16, "D16"},
             {GL_DEPTH_COMPONENT24, "D24"},
             {GL_DEPTH_COMPONENT32F, "D32F"},
             {GL_DEPTH24_STENCIL8, "D24S8"},
             {GL_RGB10_A2, "RGB10A2"},
             {GL_R11F_G11F_B10F, "R11G11B10F"},
             {GL_RGB9_E5, "RGB9E5"},
             {GL_RGBA8_SNORM, "RGBA8SN"},
             {GL_R8_SNORM, "R8SN"},
             {GL_RGB565, "RGB565"},
             {GL_RGBA4, "RGBA4"},
             {GL_RGB5_A1, "RGB5A1"},
             {0x83F1, "DXT1A"},
             {0x83F3, "DXT5"},
             {0x8DBB, "RGTC1"},
             {0x8E8C, "BPTC"}};
    for (unsigned i = 0; i < sizeof F / sizeof *F; i++)
        for (unsigned fl = 0; fl <= 8; fl += 4)
            CASE("format-%s-flags%u", F[i].n, fl == 8 ? 2 : fl)
            {
                Res r = 0;
                CUresult e = cuGraphicsGLRegisterImage(&r, tex(GL_TEXTURE_2D, F[i].f, 1, 32, 24, 1),
                                                       GL_TEXTURE_2D, fl == 8 ? 2 : fl);
                OUT("%s ", R(e));
                if (!e) {
                    cuGraphicsMapResources(1, &r, 0);
                    e = cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
                    OUT("sub %s", R(e));
                    if (!e)
                        desc(a);
                }
            }
    for (unsigned f = 0; f < 40; f++)
        CASE("register-flags-%u", f)
        {
            Res r = 0;
            CUresult e = cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_2D, f);
            OUT("%s ", R(e));
            if (!e) {
                cuGraphicsMapResources(1, &r, 0);
                if (!cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0))
                    desc(a);
            }
        }
    CASE("wrong-target-3D")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_3D, 0)));
    }
    CASE("bad-target")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, mk(1, 1), 0x1234, 0)));
    }
    CASE("image-0")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, 0, GL_TEXTURE_2D, 0)));
    }
    CASE("image-missing")
    {
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, 12345, GL_TEXTURE_2D, 0)));
    }
    CASE("null-out") OUT("%s", R(cuGraphicsGLRegisterImage(0, mk(1, 1), GL_TEXTURE_2D, 0)));
    CASE("no-storage")
    {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0)));
    }
    CASE("mutable-incomplete")
    {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, 0);
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0)));
    }
    CASE("mutable-nearest")
    {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, 0);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        Res r;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0)));
    }
    for (unsigned f = 0; f < 5; f++)
        CASE("renderbuffer-flags%u", f)
        {
            GLuint rb;
            glGenRenderbuffers_(1, &rb);
            glBindRenderbuffer_(GL_RENDERBUFFER, rb);
            glRenderbufferStorage_(GL_RENDERBUFFER, GL_RGBA8, 20, 10);
            Res r = 0;
            CUresult e = cuGraphicsGLRegisterImage(&r, rb, GL_RENDERBUFFER, f);
            OUT("%s ", R(e));
            if (!e) {
                cuGraphicsMapResources(1, &r, 0);
                e = cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
                OUT("%s", R(e));
                if (!e)
                    desc(a);
            }
        }
    CASE("renderbuffer-depth")
    {
        GLuint rb;
        glGenRenderbuffers_(1, &rb);
        glBindRenderbuffer_(GL_RENDERBUFFER, rb);
        glRenderbufferStorage_(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 20, 10);
        Res r = 0;
        OUT("%s ", R(cuGraphicsGLRegisterImage(&r, rb, GL_RENDERBUFFER, 0)));
    }
    CASE("multisample")
    {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, t);
        glTexStorage2DMultisample_(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 16, 16, 1);
        Res r = 0;
        OUT("%s", R(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D_MULTISAMPLE, 0)));
    }
    for (unsigned fl = 0; fl < 3; fl++)
        CASE("data-flags%u", fl)
        {
            GLuint t = tex(GL_TEXTURE_2D, GL_RGBA8, 1, 40, 24, 1);
            unsigned char px[40 * 24 * 4], o[40 * 24 * 4] = {0};
            for (unsigned i = 0; i < sizeof px; i++)
                px[i] = i * 11 + 1;
            glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 40, 24, GL_RGBA, GL_UNSIGNED_BYTE, px);
            Res r = 0;
            OUT("%s", R(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, fl)));
            cuGraphicsMapResources(1, &r, 0);
            cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
            CUDA_MEMCPY2D c;
            memset(&c, 0, sizeof c);
            c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            c.srcArray = a;
            c.dstMemoryType = CU_MEMORYTYPE_HOST;
            c.dstHost = o;
            c.WidthInBytes = 160;
            c.Height = 24;
            c.dstPitch = 160;
            OUT(" copy %s sum %x", R(cuMemcpy2D(&c)), fnv(o, sizeof o));
            for (unsigned i = 0; i < sizeof px; i++)
                px[i] = 255 - (i & 127);
            memset(&c, 0, sizeof c);
            c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
            c.dstArray = a;
            c.srcMemoryType = CU_MEMORYTYPE_HOST;
            c.srcHost = px;
            c.WidthInBytes = 80;
            c.Height = 10;
            c.srcPitch = 160;
            c.dstXInBytes = 20;
            c.dstY = 3;
            OUT(" write %s", R(cuMemcpy2D(&c)));
            OUT(" unmap %s", R(cuGraphicsUnmapResources(1, &r, 0)));
            glBindTexture(GL_TEXTURE_2D, t);
            glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, o);
            OUT(" gl %x", fnv(o, sizeof o));
            memset(&c, 0, sizeof c);
            c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            c.srcArray = a;
            c.dstMemoryType = CU_MEMORYTYPE_HOST;
            c.dstHost = o;
            c.WidthInBytes = 160;
            c.Height = 24;
            c.dstPitch = 160;
            OUT(" after-unmap %s", R(cuMemcpy2D(&c)));
        }
    CASE("same-array-after-remap")
    {
        Res r = 0;
        cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_2D, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
        cuGraphicsUnmapResources(1, &r, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsSubResourceGetMappedArray(&a2, r, 0, 0);
        OUT("%d", a == a2);
    }
    CASE("surface-without-flag")
    {
        Res r = 0;
        cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_2D, 0);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
        CUDA_RESOURCE_DESC d;
        memset(&d, 0, sizeof d);
        d.resType = CU_RESOURCE_TYPE_ARRAY;
        d.res.array.hArray = a;
        CUsurfObject so;
        OUT("%s", R(cuSurfObjectCreate(&so, &d)));
        CUtexObject to;
        CUDA_TEXTURE_DESC td;
        memset(&td, 0, sizeof td);
        OUT(" tex %s", R(cuTexObjectCreate(&to, &d, &td, 0)));
    }
    CASE("surface-with-flag")
    {
        Res r = 0;
        cuGraphicsGLRegisterImage(&r, mk(1, 1), GL_TEXTURE_2D,
                                  CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
        cuGraphicsMapResources(1, &r, 0);
        cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
        CUDA_RESOURCE_DESC d;
        memset(&d, 0, sizeof d);
        d.resType = CU_RESOURCE_TYPE_ARRAY;
        d.res.array.hArray = a;
        CUsurfObject so;
        OUT("%s", R(cuSurfObjectCreate(&so, &d)));
        OUT(" null-res %s", R(cuGraphicsSubResourceGetMappedArray(&a, 0, 0, 0)));
    }
}
int main(int c, char **v)
{
    probe_only = c > 1 ? v[1] : 0;
    RUN(noinit);
    RUN(noctx);
    RUN(buffer);
    RUN(image);
    return 0;
}
