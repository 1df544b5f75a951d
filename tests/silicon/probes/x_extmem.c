// SPDX-License-Identifier: MIT
// External memory and external semaphores: every argument wrong alone and in pairs, and what the
// mapped buffers, mipmapped arrays and semaphores then do. `x_extmem GROUP` runs one group. A
// Vulkan group is one line without Vulkan.
#include "probe.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <vulkan/vulkan.h>
typedef unsigned long long u64;
typedef CUDA_EXTERNAL_MEMORY_HANDLE_DESC HandleDesc;
typedef CUDA_EXTERNAL_MEMORY_BUFFER_DESC BufferDesc;
typedef CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC MipDesc;
typedef CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC SemDesc;
typedef CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS Signal;
typedef CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS Wait;
#define N(a) (int)(sizeof(a) / sizeof *(a))
#define MIB (1ull << 20)
#define SIZE (4 * MIB)                   // the memory object of most groups
#define JUNK ((void *)0x5e175e175e17ull) // what an out-parameter holds before the call
#define U8 CU_AD_FORMAT_UNSIGNED_INT8
#define U32 CU_AD_FORMAT_UNSIGNED_INT32
#define F32 CU_AD_FORMAT_FLOAT

// ---- kinds of case ----
// SC: in the group's own context. An error left stuck there ends the process; the group goes on in
// a fresh one.
static void health(void)
{
    CUresult r = cuCtxSynchronize();
    if (r) {
        OUT(" [stuck %s]", R(r));
        _exit(77);
    }
}
#define SC(...) CASE(__VA_ARGS__) for (int k_ = 1; k_; k_ = 0, health())
// NC: with no context current
#define NC(...)                                                                                    \
    CASE(__VA_ARGS__) for (int k_ = (cuCtxSetCurrent(0), 1); k_; k_ = 0, cuCtxSetCurrent(ctx))
// ISO: in a process of its own, for what may corrupt the driver's memory. Only in groups that never
// start CUDA.
static int iso_begin(void)
{
    fflush(stdout);
    pid_t p = fork();
    if (!p) {
        alarm(25);
        return 1;
    }
    int st;
    waitpid(p, &st, 0);
    if (!WIFEXITED(st) || WEXITSTATUS(st))
        OUT(" CRASH %d", WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st));
    return 0;
}
#define ISO(...) CASE(__VA_ARGS__) for (int k_ = iso_begin(); k_; _exit(0))

// ---- what a line says ----
static CUresult say(const char *label, CUresult r)
{
    OUT("%s%s=%s", probe_st->line[0] ? " " : "", label, R(r));
    return r;
}
static const char *L(const char *fmt, ...)
{
    static char b[4][64];
    static int k;
    k = (k + 1) & 3;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b[k], 64, fmt, ap);
    va_end(ap);
    return b[k];
}
#define SAY(r, ...) say(L(__VA_ARGS__), r)
static const char *Z(const void *v)
{
    return v == JUNK ? "kept" : v ? "set" : "null";
}
// what power of two, up to a cap, divides it: an alignment that tells nothing of the address
static u64 pow2(u64 x, u64 cap)
{
    u64 a = x & -x;
    return !a || a > cap ? cap : a;
}
static u64 fnv(const void *p, size_t n)
{
    u64 h = 14695981039346656037ull;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
    return h;
}

// An fd handed to the driver, and a twin of it that stays here and tells what became of the number.
typedef struct {
    int fd, twin;
} Watch;
static Watch watch(int fd)
{
    Watch w = {fd, fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 200) : -1};
    return w;
}
static const char *fate(Watch w)
{
    if (w.twin < 0)
        return "none";
    int f = fcntl(w.fd, F_GETFL), t = fcntl(w.twin, F_GETFL);
    if (f < 0)
        return "closed";
    fcntl(w.twin, F_SETFL, t ^ O_NONBLOCK);
    int g = fcntl(w.fd, F_GETFL);
    fcntl(w.twin, F_SETFL, t);
    return g != f ? "open" : "other";
}
static void unwatch(Watch w, int failed)
{
    if (failed && w.twin >= 0 && !strcmp(fate(w), "open"))
        close(w.fd);
    if (w.twin >= 0)
        close(w.twin);
}

// ---- descriptors and attempts ----
static HandleDesc hd(int type, int fd, u64 size, unsigned flags)
{
    HandleDesc d;
    memset(&d, 0, sizeof d);
    d.type = type;
    d.handle.fd = fd;
    d.size = size;
    d.flags = flags;
    return d;
}
static BufferDesc bd(u64 off, u64 size)
{
    BufferDesc d;
    memset(&d, 0, sizeof d);
    d.offset = off;
    d.size = size;
    return d;
}
static MipDesc md(u64 off, size_t w, size_t h, size_t dep, int fmt, unsigned ch, unsigned flags,
                  unsigned levels)
{
    MipDesc d;
    memset(&d, 0, sizeof d);
    d.offset = off;
    d.numLevels = levels;
    CUDA_ARRAY3D_DESCRIPTOR *a = &d.arrayDesc;
    a->Width = w;
    a->Height = h;
    a->Depth = dep;
    a->Format = fmt;
    a->NumChannels = ch;
    a->Flags = flags;
    return d;
}
// label=result/out-parameter/fd, and after success what destroying it gives and leaves of the fd
static CUresult try_import(const char *label, HandleDesc d)
{
    Watch w = watch(d.handle.fd);
    CUexternalMemory m = JUNK;
    CUresult r = say(label, cuImportExternalMemory(&m, &d));
    OUT("/%s/%s", Z(m), fate(w));
    if (!r) {
        say("destroy", cuDestroyExternalMemory(m));
        OUT("/%s", fate(w));
    }
    unwatch(w, r != 0);
    return r;
}
static CUresult map_buf(CUdeviceptr *p, CUexternalMemory m, u64 off, u64 size)
{
    BufferDesc d = bd(off, size);
    *p = 0;
    return cuExternalMemoryGetMappedBuffer(p, m, &d);
}
static CUresult map_mip(CUmipmappedArray *mm, CUexternalMemory m, MipDesc d)
{
    *mm = 0;
    return cuExternalMemoryGetMappedMipmappedArray(mm, m, &d);
}
static CUresult import_fd(CUexternalMemory *m, int fd, u64 size)
{
    HandleDesc d = hd(1, fd, size, 0);
    *m = 0;
    return cuImportExternalMemory(m, &d);
}
static CUexternalMemory ext_of(int fd, u64 size)
{
    CUexternalMemory m;
    MUST(import_fd(&m, fd, size));
    return m;
}
static CUdeviceptr buf_of(CUexternalMemory m, u64 off, u64 size)
{
    CUdeviceptr p;
    MUST(map_buf(&p, m, off, size));
    return p;
}
static CUmipmappedArray mip_of(CUexternalMemory m, MipDesc d)
{
    CUmipmappedArray mm;
    MUST(map_mip(&mm, m, d));
    return mm;
}
static CUarray level_of(CUmipmappedArray mm, unsigned l)
{
    CUarray a = 0;
    MUST(cuMipmappedArrayGetLevel(&a, mm, l));
    return a;
}
static void desc3(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    memset(&d, 0xEE, sizeof d);
    CUresult r = cuArray3DGetDescriptor(&d, a);
    if (r)
        say("desc", r);
    else
        OUT(" [%zux%zux%zu f%x c%u F%x]", d.Width, d.Height, d.Depth, d.Format, d.NumChannels,
            d.Flags);
}
// map, describe level 0, destroy
static CUresult try_mip(const char *label, CUexternalMemory m, MipDesc d)
{
    CUmipmappedArray mm = JUNK;
    CUresult r = say(label, cuExternalMemoryGetMappedMipmappedArray(&mm, m, &d)), q;
    if (r) {
        if (mm != JUNK)
            OUT(" out=%s", Z(mm));
        return r;
    }
    CUarray a = 0;
    if ((q = cuMipmappedArrayGetLevel(&a, mm, 0)))
        say("level", q);
    else
        desc3(a);
    if ((q = cuMipmappedArrayDestroy(mm)))
        say("destroy", q);
    return r;
}
static int byte_at(CUdeviceptr p)
{
    unsigned char b = 0;
    CUresult r = cuMemcpyDtoH(&b, p, 1);
    return r ? -(int)r : b;
}
static u64 sum_of(CUdeviceptr p, size_t n)
{
    unsigned char *h = calloc(1, n);
    CUresult r = cuMemcpyDtoH(h, p, n);
    u64 s = r ? r : fnv(h, n);
    free(h);
    return s;
}
static void scribble(void *p, size_t n, unsigned seed)
{
    unsigned x = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        ((unsigned char *)p)[i] = x >> 24;
    }
}
static CUresult put_pattern(CUdeviceptr p, size_t n, unsigned seed)
{
    unsigned char *h = malloc(n);
    scribble(h, n, seed);
    CUresult r = cuMemcpyHtoD(p, h, n);
    free(h);
    return r;
}
static unsigned esz(int f, unsigned c)
{
    return c * (f == 1 || f == 8 ? 1 : f == 2 || f == 9 || f == 0x10 ? 2 : 4);
}
// the whole of an array from or to host memory
static CUresult whole(CUarray a, void *host, int to_array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor(&d, a);
    if (r)
        return r;
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = d.Width * esz(d.Format, d.NumChannels);
    c.Height = d.Height ? d.Height : 1;
    c.Depth = d.Depth ? d.Depth : 1;
    if (to_array) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = host;
        c.srcPitch = c.WidthInBytes;
        c.srcHeight = c.Height;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = host;
        c.dstPitch = c.WidthInBytes;
        c.dstHeight = c.Height;
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = a;
    }
    return cuMemcpy3D(&c);
}
static size_t array_bytes(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (cuArray3DGetDescriptor(&d, a))
        return 0;
    return d.Width * (d.Height ? d.Height : 1) * (d.Depth ? d.Depth : 1) *
           esz(d.Format, d.NumChannels);
}
static CUresult array_fill(CUarray a, unsigned seed)
{
    size_t n = array_bytes(a);
    unsigned char *h = calloc(1, n + 1);
    scribble(h, n, seed);
    CUresult r = whole(a, h, 1);
    free(h);
    return r;
}
static u64 array_sum(CUarray a)
{
    size_t n = array_bytes(a);
    unsigned char *h = calloc(1, n + 1);
    CUresult r = whole(a, h, 0);
    u64 s = r ? r : fnv(h, n);
    free(h);
    return s;
}
// first and past-last byte that is not zero
static void hits(CUdeviceptr raw, size_t n)
{
    unsigned char *h = calloc(1, n);
    size_t a = n, b = 0, c = 0;
    CUresult r = cuMemcpyDtoH(h, raw, n);
    if (r)
        say("raw", r);
    else {
        for (size_t i = 0; i < n; i++)
            if (h[i]) {
                if (a == n)
                    a = i;
                b = i + 1;
                c++;
            }
        if (c)
            OUT(" hits=%zu..%zu/%zu", a, b, c);
        else
            OUT(" hits=none");
    }
    free(h);
}

// ---- before cuInit ----
GROUP(noinit)
{
    HandleDesc h = hd(1, -1, SIZE, 0);
    BufferDesc b = bd(0, 65536);
    MipDesc d = md(0, 64, 64, 0, U8, 4, 0, 1);
    CUexternalMemory m = JUNK;
    CUdeviceptr p = 7;
    CUmipmappedArray mm = JUNK;
    CUexternalSemaphore s = JUNK;
    SemDesc sd;
    memset(&sd, 0, sizeof sd);
    sd.type = 1;
    sd.handle.fd = -1;
    Signal sg;
    Wait wt;
    memset(&sg, 0, sizeof sg);
    memset(&wt, 0, sizeof wt);
    CUarray a = JUNK;
    CASE("import-nulls")
    {
        say("both", cuImportExternalMemory(0, 0));
        say("out", cuImportExternalMemory(0, &h));
        say("desc", cuImportExternalMemory(&m, 0));
    }
    CASE("import")
    {
        say("r", cuImportExternalMemory(&m, &h));
        OUT(" out=%s", Z(m));
    }
    CASE("import-type0")
    {
        HandleDesc t = hd(0, -1, 0, ~0u);
        say("r", cuImportExternalMemory(&m, &t));
    }
    CASE("import-memfd")
    {
        int fd = memfd_create("x", 0);
        HandleDesc t = hd(1, fd, SIZE, 0);
        Watch w = watch(fd);
        say("r", cuImportExternalMemory(&m, &t));
        OUT(" fd=%s", fate(w));
        unwatch(w, 1);
    }
    CASE("buffer-nulls")
    {
        say("all", cuExternalMemoryGetMappedBuffer(0, 0, 0));
        say("ext", cuExternalMemoryGetMappedBuffer(&p, 0, &b));
        OUT(" out=%s", p == 7 ? "kept" : "set");
    }
    CASE("buffer-junk") say("r", cuExternalMemoryGetMappedBuffer(&p, JUNK, &b));
    CASE("mip-nulls")
    {
        say("all", cuExternalMemoryGetMappedMipmappedArray(0, 0, 0));
        say("ext", cuExternalMemoryGetMappedMipmappedArray(&mm, 0, &d));
    }
    CASE("mip-junk") say("r", cuExternalMemoryGetMappedMipmappedArray(&mm, JUNK, &d));
    CASE("destroy-null") say("r", cuDestroyExternalMemory(0));
    CASE("destroy-junk") say("r", cuDestroyExternalMemory(JUNK));
    CASE("getlevel-nulls") say("r", cuMipmappedArrayGetLevel(0, 0, 0));
    CASE("getlevel-junk") say("r", cuMipmappedArrayGetLevel(&a, JUNK, 0));
    CASE("mipdestroy-null") say("r", cuMipmappedArrayDestroy(0));
    CASE("mipdestroy-junk") say("r", cuMipmappedArrayDestroy(JUNK));
    CASE("sem-import")
    {
        say("nulls", cuImportExternalSemaphore(0, 0));
        say("fd-minus1", cuImportExternalSemaphore(&s, &sd));
        OUT(" out=%s", Z(s));
    }
    CASE("sem-signal")
    {
        say("count0", cuSignalExternalSemaphoresAsync(0, 0, 0, 0));
        say("null", cuSignalExternalSemaphoresAsync(0, &sg, 1, 0));
    }
    CASE("sem-wait")
    {
        say("count0", cuWaitExternalSemaphoresAsync(0, 0, 0, 0));
        say("null", cuWaitExternalSemaphoresAsync(0, &wt, 1, 0));
    }
    CASE("sem-destroy-null") say("r", cuDestroyExternalSemaphore(0));
    CASE("sem-destroy-junk") say("r", cuDestroyExternalSemaphore(JUNK));
}

// ---- no context current: which complaint comes first, and what works all the same ----
GROUP(noctx)
{
    CUcontext ctx = probe_ctx();
    CUdevice dev;
    MUST(cuDeviceGet(&dev, 0));
    int vmm = probe_vmm_fd(SIZE);
    CUexternalMemory m = probe_extmem(SIZE), x = JUNK;
    CUdeviceptr p = 0, q = 7;
    map_buf(&p, m, 0, SIZE);
    CUmipmappedArray mm = 0, mx = JUNK;
    map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, 7));
    CUarray a = 0, ax;
    if (mm)
        cuMipmappedArrayGetLevel(&a, mm, 0);
    BufferDesc b = bd(0, 65536);
    MipDesc d = md(0, 64, 64, 0, U8, 4, 0, 1);
    NC("import") try_import("import", hd(1, dup(vmm), SIZE, 0));
    NC("import-wrong")
    {
        HandleDesc h = hd(1, -1, SIZE, 0);
        say("out", cuImportExternalMemory(0, &h));
        say("desc", cuImportExternalMemory(&x, 0));
        try_import("type0", hd(0, dup(vmm), SIZE, 0));
        try_import("type2", hd(2, dup(vmm), SIZE, 0));
        try_import("size0", hd(1, dup(vmm), 0, 0));
        try_import("flags2", hd(1, dup(vmm), SIZE, 2));
        try_import("fd-minus1", hd(1, -1, SIZE, 0));
    }
    NC("buffer")
    {
        say("r", cuExternalMemoryGetMappedBuffer(&q, m, &b));
        OUT(" out=%s", q == 7 ? "kept" : "set");
    }
    NC("buffer-wrong")
    {
        BufferDesc t = bd(0, 0), u = bd(0, 2 * SIZE);
        say("out", cuExternalMemoryGetMappedBuffer(0, m, &b));
        say("ext", cuExternalMemoryGetMappedBuffer(&q, 0, &b));
        say("desc", cuExternalMemoryGetMappedBuffer(&q, m, 0));
        say("size0", cuExternalMemoryGetMappedBuffer(&q, m, &t));
        say("beyond", cuExternalMemoryGetMappedBuffer(&q, m, &u));
    }
    NC("mip")
    {
        say("r", cuExternalMemoryGetMappedMipmappedArray(&mx, m, &d));
        OUT(" out=%s", Z(mx));
    }
    NC("mip-wrong")
    {
        MipDesc t = d, u = d;
        t.arrayDesc.Format = 0;
        u.arrayDesc.Width = 0;
        say("out", cuExternalMemoryGetMappedMipmappedArray(0, m, &d));
        say("ext", cuExternalMemoryGetMappedMipmappedArray(&mx, 0, &d));
        say("desc", cuExternalMemoryGetMappedMipmappedArray(&mx, m, 0));
        say("format0", cuExternalMemoryGetMappedMipmappedArray(&mx, m, &t));
        say("width0", cuExternalMemoryGetMappedMipmappedArray(&mx, m, &u));
    }
    NC("getlevel") say("r", cuMipmappedArrayGetLevel(&ax, mm, 1));
    NC("getlevel-wrong")
    {
        say("range", cuMipmappedArrayGetLevel(&ax, mm, 7));
        say("null", cuMipmappedArrayGetLevel(0, mm, 0));
    }
    NC("array3d-descriptor")
    {
        CUDA_ARRAY3D_DESCRIPTOR t;
        say("r", cuArray3DGetDescriptor(&t, a));
    }
    NC("array-descriptor")
    {
        CUDA_ARRAY_DESCRIPTOR t;
        say("r", cuArrayGetDescriptor(&t, a));
    }
    NC("memory-requirements")
    {
        CUDA_ARRAY_MEMORY_REQUIREMENTS t;
        say("mip", cuMipmappedArrayGetMemoryRequirements(&t, mm, dev));
        say("level", cuArrayGetMemoryRequirements(&t, a, dev));
    }
    NC("sparse-properties")
    {
        CUDA_ARRAY_SPARSE_PROPERTIES t;
        say("mip", cuMipmappedArrayGetSparseProperties(&t, mm));
        say("level", cuArrayGetSparseProperties(&t, a));
    }
    NC("plane") say("r", cuArrayGetPlane(&ax, a, 0));
    NC("copy-array")
    {
        static unsigned char host[16384];
        say("r", whole(a, host, 0));
    }
    NC("memset-mapping") say("r", cuMemsetD8(p, 1, 16));
    NC("copy-mapping")
    {
        char c[16];
        say("dtoh", cuMemcpyDtoH(c, p, 16));
        say("htod", cuMemcpyHtoD(p, c, 16));
    }
    NC("address-range")
    {
        CUdeviceptr base;
        size_t z;
        say("r", cuMemGetAddressRange(&base, &z, p));
    }
    NC("attributes") for (int t = 1; t <= 21; t++)
    {
        char u[64];
        SAY(cuPointerGetAttribute(u, t, p), "%d", t);
    }
    NC("ipc-handle")
    {
        CUipcMemHandle h;
        say("r", cuIpcGetMemHandle(&h, p));
    }
    NC("tex-create")
    {
        CUDA_RESOURCE_DESC rd;
        CUDA_TEXTURE_DESC td;
        memset(&rd, 0, sizeof rd);
        memset(&td, 0, sizeof td);
        rd.res.array.hArray = a;
        CUtexObject t;
        say("r", cuTexObjectCreate(&t, &rd, &td, 0));
    }
    NC("destroy-null") say("r", cuDestroyExternalMemory(0));
    NC("mipdestroy-null") say("r", cuMipmappedArrayDestroy(0));
    NC("sem-import-wrong")
    {
        SemDesc s;
        memset(&s, 0, sizeof s);
        s.handle.fd = -1;
        CUexternalSemaphore t;
        say("nulls", cuImportExternalSemaphore(0, 0));
        say("type0", cuImportExternalSemaphore(&t, &s));
        s.type = 1;
        say("fd-minus1", cuImportExternalSemaphore(&t, &s));
    }
    NC("sem-signal-0") say("r", cuSignalExternalSemaphoresAsync(0, 0, 0, 0));
    NC("sem-wait-0") say("r", cuWaitExternalSemaphoresAsync(0, 0, 0, 0));
    NC("sem-destroy-null") say("r", cuDestroyExternalSemaphore(0));
    CASE("memfree")
    {
        CUdeviceptr t = buf_of(m, 65536, 65536);
        cuCtxSetCurrent(0);
        say("r", cuMemFree(t));
        cuCtxSetCurrent(ctx);
        say("again-with-context", cuMemFree(t));
    }
    CASE("mipdestroy")
    {
        CUmipmappedArray t = mip_of(m, d);
        cuCtxSetCurrent(0);
        CUresult r = say("r", cuMipmappedArrayDestroy(t));
        cuCtxSetCurrent(ctx);
        if (r)
            say("with-context", cuMipmappedArrayDestroy(t));
    }
    CASE("destroy")
    {
        CUexternalMemory t = ext_of(dup(vmm), SIZE);
        cuCtxSetCurrent(0);
        CUresult r = say("r", cuDestroyExternalMemory(t));
        cuCtxSetCurrent(ctx);
        if (r)
            say("with-context", cuDestroyExternalMemory(t));
    }
}

// ---- two contexts of one device ----
static CUcontext ctx_new(void)
{
    CUcontext c;
    CUdevice d;
    MUST(cuDeviceGet(&d, 0));
    MUST(cuCtxCreate(&c, 0, 0, d));
    return c;
}
GROUP(twoctx)
{
    ISO("map-in-other")
    {
        CUcontext A = probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUcontext B = ctx_new();
        CUdeviceptr p, q;
        CUresult r = say("map-in-b", map_buf(&p, m, 0, SIZE));
        if (!r) {
            CUcontext c = 0;
            cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p);
            OUT(" owner=%s", c == A ? "a" : c == B ? "b" : "?");
            say("set-in-b", cuMemsetD8(p, 1, SIZE));
            say("sync", cuCtxSynchronize());
        }
        cuCtxSetCurrent(A);
        if (!r) {
            say("set-in-a", cuMemsetD8(p, 2, SIZE));
            say("sync", cuCtxSynchronize());
        }
        if (!say("map-in-a", map_buf(&q, m, 0, SIZE)))
            OUT(" byte=%d same=%d", byte_at(q), p == q);
    }
    ISO("free-in-other")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        ctx_new();
        say("set-in-b", cuMemsetD8(p, 3, SIZE));
        say("free-in-b", cuMemFree(p));
        say("set", cuMemsetD8(p, 3, 16));
        say("destroy-in-b", cuDestroyExternalMemory(m));
    }
    ISO("destroy-in-other")
    {
        CUcontext A = probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        ctx_new();
        say("destroy-in-b", cuDestroyExternalMemory(m));
        cuCtxSetCurrent(A);
        say("set-in-a", cuMemsetD8(p, 3, SIZE));
        OUT(" byte=%d", byte_at(p));
        say("free-in-a", cuMemFree(p));
    }
    ISO("context-gone-mapping")
    {
        CUcontext A = probe_ctx(), B = ctx_new();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        say("destroy-context", cuCtxDestroy(B));
        cuCtxSetCurrent(A);
        say("set", cuMemsetD8(p, 3, 16));
        say("free", cuMemFree(p));
        int t = -1;
        say("type", cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    }
    ISO("context-gone-map")
    {
        CUcontext A = probe_ctx(), B = ctx_new();
        CUexternalMemory m = probe_extmem(SIZE);
        cuCtxDestroy(B);
        cuCtxSetCurrent(A);
        CUdeviceptr p;
        say("map", map_buf(&p, m, 0, SIZE));
    }
    ISO("context-gone-destroy")
    {
        CUcontext A = probe_ctx(), B = ctx_new();
        CUexternalMemory m = probe_extmem(SIZE);
        cuCtxDestroy(B);
        cuCtxSetCurrent(A);
        say("destroy", cuDestroyExternalMemory(m));
    }
    ISO("context-stale-current")
    {
        probe_ctx();
        CUcontext B = ctx_new();
        CUexternalMemory m = probe_extmem(SIZE);
        int fd = probe_vmm_fd(SIZE);
        cuCtxDestroy(B);
        CUcontext c = 0;
        say("get-current", cuCtxGetCurrent(&c));
        OUT(" current=%s", c ? c == B ? "b" : "other" : "null");
        CUexternalMemory n;
        say("import", import_fd(&n, fd, SIZE));
        CUdeviceptr p;
        say("map", map_buf(&p, m, 0, SIZE));
    }
    ISO("array-in-other")
    {
        CUcontext A = probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUmipmappedArray mm = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        CUarray a = level_of(mm, 0);
        say("fill-in-a", array_fill(a, 1));
        u64 s = array_sum(a);
        ctx_new();
        OUT(" sum-in-b=%d", array_sum(a) == s);
        CUarray c;
        say("level-in-b", cuMipmappedArrayGetLevel(&c, mm, 1));
        say("destroy-in-b", cuMipmappedArrayDestroy(mm));
        cuCtxSetCurrent(A);
        say("destroy-ext", cuDestroyExternalMemory(m));
    }
    ISO("mip-map-in-other")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        ctx_new();
        CUmipmappedArray mm;
        if (!say("map-in-b", map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, 7)))) {
            CUarray a = level_of(mm, 0);
            say("fill", array_fill(a, 1));
            say("destroy", cuMipmappedArrayDestroy(mm));
        }
    }
    ISO("peer-copy")
    {
        CUcontext A = probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUcontext B = ctx_new();
        CUdeviceptr q;
        MUST(cuMemAlloc(&q, SIZE));
        MUST(cuMemsetD8(q, 0x5a, SIZE));
        say("b-to-a", cuMemcpyPeer(p, A, q, B, SIZE));
        say("sync", cuCtxSynchronize());
        OUT(" byte=%d", byte_at(p + SIZE - 1));
        say("swapped", cuMemcpyPeer(p, B, q, A, SIZE));
        say("null-dst", cuMemcpyPeer(p, 0, q, B, SIZE));
        say("null-src", cuMemcpyPeer(p, A, q, 0, SIZE));
        say("past-end", cuMemcpyPeer(p, A, q, B, SIZE + 1));
    }
}

// ---- cuImportExternalMemory ----
GROUP(import)
{
    probe_ctx();
    int vmm = probe_vmm_fd(SIZE);
    CUexternalMemory m = JUNK;
    SC("null-out")
    {
        Watch w = watch(dup(vmm));
        HandleDesc d = hd(1, w.fd, SIZE, 0);
        say("r", cuImportExternalMemory(0, &d));
        OUT(" fd=%s", fate(w));
        unwatch(w, 1);
    }
    SC("null-desc")
    {
        say("r", cuImportExternalMemory(&m, 0));
        OUT(" out=%s", Z(m));
    }
    SC("null-both") say("r", cuImportExternalMemory(0, 0));
    static const int types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 100, 0x7fffffff, -1};
    for (int t = 0; t < N(types); t++) {
        SC("type-%d", types[t])
        {
            try_import("plain", hd(types[t], dup(vmm), SIZE, 0));
            try_import("dedicated", hd(types[t], dup(vmm), SIZE, 1));
            try_import("fd-minus1", hd(types[t], -1, SIZE, 0));
            try_import("size0", hd(types[t], dup(vmm), 0, 0));
        }
    }
    static const unsigned flags[] = {2, 3, 4, 0x80000000u, ~0u};
    static const int ft[] = {0, 1, 2, 5, 8, 9, 10};
    for (int t = 0; t < N(ft); t++)
        SC("type-%d-flags", ft[t])
        for (int f = 0; f < N(flags); f++)
            try_import(L("%x", flags[f]), hd(ft[t], dup(vmm), SIZE, flags[f]));
    for (int t = 2; t <= 8; t++)
        SC("type-%d-handles", t)
        {
            HandleDesc d = hd(t, 0, SIZE, t >= 5 && t <= 7);
            d.handle.win32.handle = 0;
            say("no-handle", cuImportExternalMemory(&m, &d));
            OUT("/%s", Z(m));
            d.handle.win32.name = L"x";
            say("name", cuImportExternalMemory(&m, &d));
            d.handle.win32.handle = &d;
            say("both", cuImportExternalMemory(&m, &d));
        }
    SC("reserved")
    {
        static const int res[] = {0, 1, 7, 8, 15};
        for (int i = 0; i < N(res); i++) {
            HandleDesc d = hd(1, dup(vmm), SIZE, 0);
            d.reserved[res[i]] = 1;
            try_import(L("%d", res[i]), d);
        }
        HandleDesc d = hd(1, dup(vmm), SIZE, 0);
        memset(d.reserved, 0xff, sizeof d.reserved);
        try_import("all", d);
    }
    SC("union-rest")
    {
        HandleDesc d = hd(1, dup(vmm), SIZE, 0);
        memset((char *)&d.handle + 4, 0xff, 4);
        try_import("high-half", d);
        d = hd(1, dup(vmm), SIZE, 0);
        d.handle.win32.name = JUNK;
        try_import("tail", d);
    }
    SC("desc-unchanged")
    {
        HandleDesc d = hd(1, dup(vmm), SIZE, 0), e = d;
        CUresult r = say("r", cuImportExternalMemory(&m, &d));
        OUT(" same=%d", !memcmp(&d, &e, sizeof d));
        if (!r)
            cuDestroyExternalMemory(m);
    }
    SC("high-fd") try_import("import", hd(1, fcntl(vmm, F_DUPFD, 900), SIZE, 0));
    SC("cloexec-fd") try_import("import", hd(1, fcntl(vmm, F_DUPFD_CLOEXEC, 3), SIZE, 0));
    SC("same-fd-again-after-failure")
    {
        int fd = dup(vmm);
        HandleDesc d = hd(1, fd, SIZE, 2);
        say("first", cuImportExternalMemory(&m, &d));
        d.flags = 0;
        if (!say("second", cuImportExternalMemory(&m, &d)))
            say("destroy", cuDestroyExternalMemory(m));
    }
}
// fd numbers that the driver itself may reuse
GROUP(import_number)
{
    ISO("stdin-dev-null")
    {
        probe_ctx();
        CUexternalMemory m = JUNK;
        dup2(open("/dev/null", O_RDWR), 0);
        HandleDesc d = hd(1, 0, SIZE, 0);
        say("r", cuImportExternalMemory(&m, &d));
        OUT(" open=%d", fcntl(0, F_GETFD) >= 0);
    }
    ISO("stdin-valid")
    {
        probe_ctx();
        dup2(probe_vmm_fd(SIZE), 0);
        try_import("import", hd(1, 0, SIZE, 0));
    }
    ISO("again-after-success")
    {
        probe_ctx();
        CUexternalMemory m, n = JUNK;
        HandleDesc d = hd(1, probe_vmm_fd(SIZE), SIZE, 0);
        say("first", cuImportExternalMemory(&m, &d));
        say("second", cuImportExternalMemory(&n, &d));
        OUT(" out=%s", Z(n));
        CUdeviceptr p;
        say("map", map_buf(&p, m, 0, SIZE));
    }
    ISO("again-after-destroy")
    {
        probe_ctx();
        CUexternalMemory m, n = JUNK;
        HandleDesc d = hd(1, probe_vmm_fd(SIZE), SIZE, 0);
        say("first", cuImportExternalMemory(&m, &d));
        say("destroy", cuDestroyExternalMemory(m));
        say("second", cuImportExternalMemory(&n, &d));
        OUT(" out=%s", Z(n));
    }
    ISO("fd-closed-by-us-after")
    {
        probe_ctx();
        CUexternalMemory m;
        HandleDesc d = hd(1, probe_vmm_fd(SIZE), SIZE, 0);
        Watch w = watch(d.handle.fd);
        say("import", cuImportExternalMemory(&m, &d));
        const char *f = fate(w);
        OUT(" fd=%s", f);
        if (!strcmp(f, "open"))
            OUT(" close=%d", close(w.fd));
        CUdeviceptr p;
        if (!say("map", map_buf(&p, m, 0, SIZE))) {
            say("set", cuMemsetD8(p, 4, SIZE));
            OUT(" read=%d", byte_at(p));
        }
        say("destroy", cuDestroyExternalMemory(m));
    }
    ISO("twin-closed-before-map")
    {
        probe_ctx();
        int fd = probe_vmm_fd(SIZE), keep = dup(fd);
        CUexternalMemory m = ext_of(fd, SIZE);
        close(keep);
        CUdeviceptr p;
        if (!say("map", map_buf(&p, m, 0, SIZE))) {
            say("set", cuMemsetD8(p, 4, SIZE));
            OUT(" read=%d", byte_at(p));
        }
    }
}
// two arguments wrong at once
static const char *const import_bad[] = {"out", "desc",  "type0", "type2",
                                         "fd",  "size0", "flags", "reserved"};
GROUP(import_pair)
{
    probe_ctx();
    int vmm = probe_vmm_fd(SIZE);
    for (int i = 0; i < 8; i++)
        SC("%s", import_bad[i])
        for (int j = i; j < 8;
             j++) if ((i != 1 || j == 1) && (j != 1 || i <= 1) && !(i == 2 && j == 3))
        {
            unsigned w = 1u << i | 1u << j;
            Watch v = watch(dup(vmm));
            HandleDesc d = hd(w & 4   ? 0
                              : w & 8 ? 2
                                      : 1,
                              w & 16 ? -1 : v.fd, w & 32 ? 0 : SIZE, w & 64 ? 2 : 0);
            d.reserved[0] = !!(w & 128);
            CUexternalMemory m = JUNK;
            CUresult r = say(i == j ? "alone" : L("+%s", import_bad[j]),
                             cuImportExternalMemory(w & 1 ? 0 : &m, w & 2 ? 0 : &d));
            OUT("/%s/%s", Z(m), fate(v));
            unwatch(v, r != 0);
            if (!r && m != JUNK)
                cuDestroyExternalMemory(m);
        }
}
// the stated size against the allocation's, and what may then be mapped
GROUP(import_size)
{
    static const u64 z[] = {
        0,          1,          512,          4095,           4096,         4097,
        65536,      65537,      2 * MIB,      2 * MIB + 1,    SIZE - 65536, SIZE - 1,
        SIZE,       SIZE + 1,   SIZE + 65536, SIZE + 2 * MIB, 2 * SIZE,     1ull << 32,
        1ull << 40, 1ull << 63, ~0ull - 4095, ~0ull};
    for (int i = 0; i < N(z); i++)
        ISO("size-%llx", z[i])
        {
            probe_ctx();
            CUexternalMemory m = JUNK;
            HandleDesc d = hd(1, probe_vmm_fd(SIZE), z[i], 0);
            Watch w = watch(d.handle.fd);
            CUresult r = say("import", cuImportExternalMemory(&m, &d));
            OUT(" fd=%s", fate(w));
            if (!r) {
                static const u64 len[] = {1,        65536,        SIZE - 65536, SIZE,
                                          SIZE + 1, SIZE + 65536, 2 * SIZE};
                CUdeviceptr p;
                for (int k = 0; k < N(len); k++) {
                    const char *l = L("map-%llx", len[k]);
                    if (!say(l, map_buf(&p, m, 0, len[k])))
                        cuMemFree(p);
                }
                if (!say("map-all", map_buf(&p, m, 0, z[i]))) {
                    size_t n = 0;
                    CUdeviceptr b = 0;
                    if (!cuMemGetAddressRange(&b, &n, p))
                        OUT(" range=%zx", n);
                    cuMemFree(p);
                }
                if (!say("map-last", map_buf(&p, m, z[i] - 1, 1)))
                    cuMemFree(p);
                if (!say("map-end", map_buf(&p, m, z[i], 1)))
                    cuMemFree(p);
                say("mip", map_mip(&(CUmipmappedArray){0}, m, md(0, 64, 64, 0, U8, 4, 0, 1)));
                say("destroy", cuDestroyExternalMemory(m));
            }
        }
    static const u64 alloc[] = {2, 4, 6, 32, 64, 130};
    for (int i = 0; i < N(alloc); i++)
        ISO("alloc-%lluM", alloc[i])
        {
            probe_ctx();
            u64 n = alloc[i] * MIB;
            CUexternalMemory m = probe_extmem(n);
            CUdeviceptr p;
            if (!say("map", map_buf(&p, m, 0, n))) {
                say("set", cuMemsetD8(p, 0x77, n));
                OUT(" last=%d align=%llx", byte_at(p + n - 1), pow2(p, 2 * MIB));
                say("past", cuMemsetD8(p, 1, n + 1));
                say("free", cuMemFree(p));
            }
        }
}
// fds that are something else
enum {
    K_MINUS1,
    K_MINUS2,
    K_MIN,
    K_MAX,
    K_CLOSED,
    K_REGULAR,
    K_READONLY,
    K_DIR,
    K_PATH,
    K_NULL,
    K_ZERO,
    K_MEMFD,
    K_MEMFD0,
    K_PIPER,
    K_PIPEW,
    K_SOCKET,
    K_DGRAM,
    K_EVENT,
    K_EPOLL,
    K_POOL,
    K_DMABUF,
    K_KINDS
};
static const char *const kind_name[] = {
    "minus1", "minus2", "int-min",  "int-max",  "closed", "regular",     "readonly",
    "dir",    "o-path", "dev-null", "dev-zero", "memfd",  "memfd-empty", "pipe-r",
    "pipe-w", "socket", "dgram",    "eventfd",  "epoll",  "mempool",     "dmabuf"};
static int fd_of_kind(int k)
{
    int p[2], fd = -1;
    switch (k) {
    case K_MINUS1:
        return -1;
    case K_MINUS2:
        return -2;
    case K_MIN:
        return -2147483647 - 1;
    case K_MAX:
        return 2147483647;
    case K_CLOSED:
        fd = fcntl(1, F_DUPFD, 150);
        close(fd);
        return fd;
    case K_REGULAR: {
        FILE *f = tmpfile();
        fd = f ? dup(fileno(f)) : -1;
        if (f)
            fclose(f);
        if (fd >= 0 && ftruncate(fd, SIZE)) {
        }
        return fd;
    }
    case K_READONLY:
        return open("/proc/self/exe", O_RDONLY);
    case K_DIR:
        return open("/", O_RDONLY | O_DIRECTORY);
    case K_PATH:
        return open("/", O_PATH);
    case K_NULL:
        return open("/dev/null", O_RDWR);
    case K_ZERO:
        return open("/dev/zero", O_RDWR);
    case K_MEMFD:
        fd = memfd_create("probe", 0);
        if (ftruncate(fd, SIZE)) {
        }
        return fd;
    case K_MEMFD0:
        return memfd_create("probe", 0);
    case K_PIPER:
        if (pipe(p))
            return -1;
        close(p[1]);
        return p[0];
    case K_PIPEW:
        if (pipe(p))
            return -1;
        close(p[0]);
        return p[1];
    case K_SOCKET:
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, p))
            return -1;
        close(p[1]);
        return p[0];
    case K_DGRAM:
        return socket(AF_UNIX, SOCK_DGRAM, 0);
    case K_EVENT:
        return eventfd(0, 0);
    case K_EPOLL:
        return epoll_create1(0);
    case K_POOL: {
        CUmemPoolProps q;
        memset(&q, 0, sizeof q);
        q.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        q.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemoryPool o;
        CUresult r = cuMemPoolCreate(&o, &q);
        if (r || (r = cuMemPoolExportToShareableHandle(
                      &fd, o, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))) {
            SAY(r, "no-fd");
            return -1;
        }
        return fd;
    }
    case K_DMABUF: {
        CUdeviceptr d;
        CUresult r = cuMemAlloc(&d, 2 * MIB);
        if (r || (r = cuMemGetHandleForAddressRange(&fd, d, 2 * MIB,
                                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0))) {
            SAY(r, "no-fd");
            return -1;
        }
        return fd;
    }
    }
    return -1;
}
GROUP(import_fd)
{
    probe_ctx();
    for (int k = 0; k < K_KINDS; k++) {
        SC("%s", kind_name[k])
        {
            try_import("opaque", hd(1, fd_of_kind(k), SIZE, 0));
            try_import("size0", hd(1, fd_of_kind(k), 0, 0));
            try_import("dmabuf", hd(9, fd_of_kind(k), SIZE, 0));
        }
    }
}

// ---- one allocation imported several ways ----
static CUdeviceptr vmm_map(CUmemGenericAllocationHandle h, size_t n)
{
    CUdeviceptr p = 0;
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    MUST(cuMemAddressReserve(&p, n, 0, 0, 0));
    MUST(cuMemMap(p, n, 0, h, 0));
    MUST(cuMemSetAccess(p, n, &a, 1));
    return p;
}
static CUmemGenericAllocationHandle vmm_new(size_t n, int *fd)
{
    CUmemAllocationProp q;
    memset(&q, 0, sizeof q);
    q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    q.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    q.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle h;
    MUST(cuMemCreate(&h, n, &q, 0));
    MUST(cuMemExportToShareableHandle(fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return h;
}
GROUP(share)
{
    probe_ctx();
    SC("dup-imported-twice")
    {
        int fd = probe_vmm_fd(SIZE);
        CUexternalMemory a = ext_of(dup(fd), SIZE), b = ext_of(fd, SIZE);
        CUdeviceptr p = buf_of(a, 0, SIZE), q = buf_of(b, 0, SIZE);
        OUT("same-handle=%d same-va=%d", a == b, p == q);
        MUST(cuMemsetD8(p, 0x11, SIZE));
        MUST(cuCtxSynchronize());
        OUT(" read=%d", byte_at(q + SIZE - 1));
        MUST(cuMemsetD8(q + 100, 0x22, 1));
        MUST(cuCtxSynchronize());
        OUT(" read=%d", byte_at(p + 100));
        say("free-p", cuMemFree(p));
        say("destroy-a", cuDestroyExternalMemory(a));
        OUT(" read=%d", byte_at(q + 100));
        say("free-q", cuMemFree(q));
        say("destroy-b", cuDestroyExternalMemory(b));
    }
    SC("eight-imports")
    {
        int fd = probe_vmm_fd(SIZE), eq = 0, ok = 0;
        CUexternalMemory m[8];
        CUdeviceptr p[8];
        for (int i = 0; i < 8; i++) {
            m[i] = ext_of(dup(fd), SIZE);
            p[i] = buf_of(m[i], 0, SIZE);
            MUST(cuMemsetD8(p[i] + i, 10 + i, 1));
        }
        MUST(cuCtxSynchronize());
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                ok += byte_at(p[i] + j) == 10 + j;
                eq += i != j && p[i] == p[j];
            }
        OUT("seen=%d equal-va=%d", ok, eq);
        for (int i = 0; i < 8; i++) {
            MUST(cuMemFree(p[i]));
            MUST(cuDestroyExternalMemory(m[i]));
        }
    }
    SC("two-exports")
    {
        int f1, f2 = -1;
        CUmemGenericAllocationHandle h = vmm_new(SIZE, &f1);
        say("export",
            cuMemExportToShareableHandle(&f2, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CUdeviceptr p = buf_of(ext_of(f1, SIZE), 0, SIZE), q = buf_of(ext_of(f2, SIZE), 0, SIZE);
        MUST(cuMemsetD8(p, 0x33, SIZE));
        MUST(cuCtxSynchronize());
        OUT(" read=%d", byte_at(q));
    }
    SC("with-vmm-mapping")
    {
        int fd;
        CUmemGenericAllocationHandle h = vmm_new(SIZE, &fd);
        CUdeviceptr v = vmm_map(h, SIZE), p = buf_of(ext_of(fd, SIZE), 0, SIZE);
        MUST(cuMemsetD8(v, 0x44, SIZE));
        MUST(cuCtxSynchronize());
        OUT("same=%d read=%d", v == p, byte_at(p + 5));
        MUST(cuMemsetD8(p + 5, 0x45, 1));
        MUST(cuCtxSynchronize());
        OUT(" read=%d", byte_at(v + 5));
        say("unmap", cuMemUnmap(v, SIZE));
        say("release", cuMemRelease(h));
        OUT(" read=%d", byte_at(p + 5));
    }
    SC("handle-released-first")
    {
        int fd;
        CUmemGenericAllocationHandle h = vmm_new(SIZE, &fd);
        say("release", cuMemRelease(h));
        CUexternalMemory m;
        if (!say("import", import_fd(&m, fd, SIZE))) {
            CUdeviceptr p;
            if (!say("map", map_buf(&p, m, 0, SIZE))) {
                say("set", cuMemsetD8(p, 0x46, SIZE));
                OUT(" read=%d", byte_at(p + SIZE - 1));
            }
        }
    }
    SC("content-from-vmm")
    {
        int fd;
        CUmemGenericAllocationHandle h = vmm_new(SIZE, &fd);
        CUdeviceptr v = vmm_map(h, SIZE);
        MUST(put_pattern(v, SIZE, 7));
        u64 s = sum_of(v, SIZE);
        MUST(cuMemUnmap(v, SIZE));
        MUST(cuMemRelease(h));
        CUdeviceptr p = buf_of(ext_of(fd, SIZE), 0, SIZE);
        OUT("same=%d sum=%016llx", sum_of(p, SIZE) == s, s);
    }
    SC("content-outlives-import")
    {
        int fd = probe_vmm_fd(SIZE);
        CUexternalMemory m = ext_of(dup(fd), SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(put_pattern(p, SIZE, 8));
        MUST(cuMemFree(p));
        MUST(cuDestroyExternalMemory(m));
        p = buf_of(ext_of(fd, SIZE), 0, SIZE);
        OUT("sum=%016llx", sum_of(p, SIZE));
    }
    SC("also-imported-as-vmm")
    {
        int fd = probe_vmm_fd(SIZE);
        CUexternalMemory m = ext_of(dup(fd), SIZE);
        CUmemGenericAllocationHandle h;
        if (!say("import-vmm",
                 cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))) {
            CUdeviceptr v = vmm_map(h, SIZE), p = buf_of(m, 0, SIZE);
            MUST(cuMemsetD8(p, 0x47, SIZE));
            MUST(cuCtxSynchronize());
            OUT(" read=%d", byte_at(v));
        }
    }
    SC("partial-size-second-import")
    {
        int fd = probe_vmm_fd(SIZE);
        CUexternalMemory a = ext_of(dup(fd), SIZE), b;
        CUdeviceptr p = buf_of(a, 0, SIZE), q;
        MUST(put_pattern(p, SIZE, 9));
        if (!say("import", import_fd(&b, fd, MIB))) {
            if (!say("map", map_buf(&q, b, 0, MIB)))
                OUT(" same=%d", sum_of(q, MIB) == sum_of(p, MIB));
            say("map-more", map_buf(&q, b, 0, MIB + 65536));
        }
    }
    static const char *const pn[] = {"compressible", "rdma",       "tile-pool",
                                     "host",         "host-numa0", "host-numa-current"};
    for (int i = 0; i < N(pn); i++)
        SC("kind-%s", pn[i])
        {
            CUmemAllocationProp q;
            memset(&q, 0, sizeof q);
            q.type = CU_MEM_ALLOCATION_TYPE_PINNED;
            q.location.type = i < 3    ? CU_MEM_LOCATION_TYPE_DEVICE
                              : i == 3 ? CU_MEM_LOCATION_TYPE_HOST
                              : i == 4 ? CU_MEM_LOCATION_TYPE_HOST_NUMA
                                       : CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
            q.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            q.allocFlags.compressionType = i == 0 ? CU_MEM_ALLOCATION_COMP_GENERIC : 0;
            q.allocFlags.gpuDirectRDMACapable = i == 1;
            q.allocFlags.usage = i == 2 ? CU_MEM_CREATE_USAGE_TILE_POOL : 0;
            CUmemGenericAllocationHandle h;
            int fd = -1;
            CUexternalMemory m;
            CUdeviceptr p;
            if (!say("create", cuMemCreate(&h, SIZE, &q, 0)) &&
                !say("export", cuMemExportToShareableHandle(
                                   &fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)) &&
                !say("import", import_fd(&m, fd, SIZE))) {
                if (!say("map", map_buf(&p, m, 0, SIZE))) {
                    say("set", cuMemsetD8(p, 0x48, SIZE));
                    int t = -1;
                    cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
                    OUT(" read=%d type=%d", byte_at(p), t);
                    cuMemFree(p);
                }
                try_mip("mip", m, md(0, 64, 64, 0, U8, 4, 0, 1));
                say("destroy", cuDestroyExternalMemory(m));
            }
        }
    SC("dedicated")
    {
        HandleDesc d = hd(1, probe_vmm_fd(SIZE), SIZE, 1);
        CUexternalMemory m;
        if (!say("import", cuImportExternalMemory(&m, &d))) {
            CUdeviceptr p;
            if (!say("all", map_buf(&p, m, 0, SIZE)))
                cuMemFree(p);
            if (!say("at-64k", map_buf(&p, m, 65536, 65536)))
                cuMemFree(p);
            if (!say("part", map_buf(&p, m, 0, 65536)))
                cuMemFree(p);
            try_mip("mip", m, md(0, 64, 64, 0, U8, 4, 0, 1));
            try_mip("mip-at-64k", m, md(65536, 64, 64, 0, U8, 4, 0, 1));
            try_mip("mip-exact", m, md(0, 1024, 1024, 0, U8, 4, 0, 1));
        }
    }
}
// the fd crosses to another process
GROUP(crossproc)
{
    for (int early = 0; early < 2; early++)
        CASE(early ? "exporter-gone" : "exporter-alive")
        {
            int sk[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, sk))
                continue;
            fflush(stdout);
            char cb[CMSG_SPACE(sizeof(int))];
            memset(cb, 0, sizeof cb);
            char c = 'x';
            struct iovec io = {&c, 1};
            struct msghdr mh;
            memset(&mh, 0, sizeof mh);
            mh.msg_iov = &io;
            mh.msg_iovlen = 1;
            mh.msg_control = cb;
            mh.msg_controllen = sizeof cb;
            pid_t e = fork();
            if (!e) {
                alarm(20);
                probe_ctx();
                int fd = probe_vmm_fd(SIZE);
                CUdeviceptr p = buf_of(ext_of(dup(fd), SIZE), 0, SIZE);
                MUST(put_pattern(p, SIZE, 5));
                MUST(cuCtxSynchronize());
                struct cmsghdr *h = CMSG_FIRSTHDR(&mh);
                h->cmsg_level = SOL_SOCKET;
                h->cmsg_type = SCM_RIGHTS;
                h->cmsg_len = CMSG_LEN(sizeof fd);
                memcpy(CMSG_DATA(h), &fd, sizeof fd);
                if (sendmsg(sk[0], &mh, 0) < 0)
                    _exit(5);
                if (!early) {
                    if (read(sk[0], &c, 1) != 1)
                        _exit(6);
                    OUT(" exporter-reads=%d", byte_at(p));
                }
                _exit(0);
            }
            int st = 0;
            if (early)
                waitpid(e, &st, 0);
            pid_t i = fork();
            if (!i) {
                alarm(20);
                probe_ctx();
                if (recvmsg(sk[1], &mh, 0) < 1)
                    _exit(7);
                int fd = -1;
                struct cmsghdr *h = CMSG_FIRSTHDR(&mh);
                if (h)
                    memcpy(&fd, CMSG_DATA(h), sizeof fd);
                CUexternalMemory m;
                CUdeviceptr p;
                if (!say("import", import_fd(&m, fd, SIZE)) &&
                    !say("map", map_buf(&p, m, 0, SIZE))) {
                    OUT(" sum=%016llx", sum_of(p, SIZE));
                    say("set", cuMemsetD8(p, 0x61, SIZE));
                    say("sync", cuCtxSynchronize());
                }
                if (!early && write(sk[1], &c, 1) != 1)
                    _exit(8);
                _exit(0);
            }
            int s2 = 0;
            waitpid(i, &s2, 0);
            close(sk[1]);
            close(sk[0]);
            if (!early)
                waitpid(e, &st, 0);
            OUT(" status=%d,%d", st, s2);
        }
}

// ---- destroying in every order, twice, and what is none ----
GROUP(destroy)
{
    ISO("null")
    {
        probe_ctx();
        say("r", cuDestroyExternalMemory(0));
    }
    ISO("twice")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        say("first", cuDestroyExternalMemory(m));
        say("second", cuDestroyExternalMemory(m));
    }
    ISO("twice-with-mapping")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        say("first", cuDestroyExternalMemory(m));
        say("second", cuDestroyExternalMemory(m));
        say("free", cuMemFree(p));
    }
    ISO("junk")
    {
        probe_ctx();
        say("r", cuDestroyExternalMemory(JUNK));
    }
    ISO("small-number")
    {
        probe_ctx();
        say("r", cuDestroyExternalMemory((void *)1));
    }
    ISO("a-context")
    {
        CUcontext c = probe_ctx();
        say("r", cuDestroyExternalMemory((void *)c));
    }
    ISO("zeroed-memory")
    {
        probe_ctx();
        void *z = calloc(1, 65536);
        say("r", cuDestroyExternalMemory(z));
    }
    ISO("map-zeroed-memory")
    {
        probe_ctx();
        void *z = calloc(1, 65536);
        CUdeviceptr p;
        say("r", map_buf(&p, z, 0, 65536));
    }
    ISO("map-stale")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        MUST(cuDestroyExternalMemory(m));
        CUdeviceptr p;
        say("map", map_buf(&p, m, 0, SIZE));
    }
    ISO("mip-stale")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        MUST(cuDestroyExternalMemory(m));
        CUmipmappedArray mm;
        say("map", map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, 1)));
    }
    ISO("before-free")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(put_pattern(p, SIZE, 1));
        u64 s = sum_of(p, SIZE);
        say("destroy", cuDestroyExternalMemory(m));
        OUT(" kept=%d", sum_of(p, SIZE) == s);
        say("set", cuMemsetD8(p, 9, SIZE));
        say("sync", cuCtxSynchronize());
        OUT(" read=%d", byte_at(p + SIZE - 1));
        size_t n = 0;
        CUdeviceptr b = 0;
        say("range", cuMemGetAddressRange(&b, &n, p + 4096));
        OUT(" %lld+%zx", (long long)(p - b), n);
        say("free", cuMemFree(p));
        say("free", cuMemFree(p));
        say("set", cuMemsetD8(p, 9, 16));
    }
    ISO("before-free-of-three")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p[3];
        for (int i = 0; i < 3; i++)
            p[i] = buf_of(m, i * MIB, MIB);
        say("destroy", cuDestroyExternalMemory(m));
        for (int i = 0; i < 3; i++) {
            say("set", cuMemsetD8(p[i], i, MIB));
            say("free", cuMemFree(p[i]));
        }
    }
    ISO("before-mip")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUmipmappedArray mm = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        say("destroy", cuDestroyExternalMemory(m));
        CUarray a = 0;
        say("level", cuMipmappedArrayGetLevel(&a, mm, 0));
        desc3(a);
        say("fill", array_fill(a, 3));
        OUT(" sum=%016llx", array_sum(a));
        say("mipdestroy", cuMipmappedArrayDestroy(mm));
    }
    ISO("mip-twice")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        say("first", cuMipmappedArrayDestroy(mm));
        say("second", cuMipmappedArrayDestroy(mm));
    }
    ISO("mip-twice-with-level")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        level_of(mm, 0);
        level_of(mm, 3);
        say("first", cuMipmappedArrayDestroy(mm));
        say("second", cuMipmappedArrayDestroy(mm));
    }
    ISO("mip-then-level-descriptor")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        CUarray a = level_of(mm, 0);
        say("destroy", cuMipmappedArrayDestroy(mm));
        desc3(a);
    }
    ISO("mip-then-level-copy")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        CUarray a = level_of(mm, 0);
        static unsigned char h[16384];
        say("destroy", cuMipmappedArrayDestroy(mm));
        CUDA_MEMCPY2D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = a;
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = h;
        c.dstPitch = 256;
        c.WidthInBytes = 256;
        c.Height = 64;
        say("copy", cuMemcpy2D(&c));
    }
    ISO("mip-then-getlevel")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        say("destroy", cuMipmappedArrayDestroy(mm));
        CUarray a = JUNK;
        say("level", cuMipmappedArrayGetLevel(&a, mm, 0));
    }
    ISO("level")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        CUarray a = level_of(mm, 0);
        say("array-destroy", cuArrayDestroy(a));
        desc3(a);
        say("fill", array_fill(a, 3));
        CUarray b = 0;
        say("level", cuMipmappedArrayGetLevel(&b, mm, 0));
        OUT(" same=%d", a == b);
        say("array-destroy", cuArrayDestroy(b));
        say("mipdestroy", cuMipmappedArrayDestroy(mm));
    }
    ISO("mip-as-array")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        say("r", cuArrayDestroy((CUarray)mm));
    }
    ISO("level-as-mip")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        say("r", cuMipmappedArrayDestroy((CUmipmappedArray)level_of(mm, 0)));
    }
    ISO("ext-as-mip")
    {
        probe_ctx();
        say("r", cuMipmappedArrayDestroy((CUmipmappedArray)probe_extmem(SIZE)));
    }
    ISO("mip-as-ext")
    {
        probe_ctx();
        say("r", cuDestroyExternalMemory(
                     (CUexternalMemory)mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7))));
    }
    ISO("ext-as-semaphore")
    {
        probe_ctx();
        say("r", cuDestroyExternalSemaphore((CUexternalSemaphore)probe_extmem(SIZE)));
    }
    ISO("mip-null")
    {
        probe_ctx();
        say("mip", cuMipmappedArrayDestroy(0));
        say("array", cuArrayDestroy(0));
    }
    ISO("texture-outlives-mip")
    {
        probe_ctx();
        CUmipmappedArray mm = mip_of(probe_extmem(SIZE), md(0, 64, 64, 0, U8, 4, 0, 7));
        CUDA_RESOURCE_DESC rd, out;
        CUDA_TEXTURE_DESC td;
        memset(&rd, 0, sizeof rd);
        memset(&td, 0, sizeof td);
        rd.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        rd.res.mipmap.hMipmappedArray = mm;
        td.flags = CU_TRSF_NORMALIZED_COORDINATES;
        td.maxMipmapLevelClamp = 6;
        CUtexObject t = 0;
        say("tex", cuTexObjectCreate(&t, &rd, &td, 0));
        say("destroy", cuMipmappedArrayDestroy(mm));
        say("resource", cuTexObjectGetResourceDesc(&out, t));
        OUT(" same=%d", out.res.mipmap.hMipmappedArray == mm);
        say("tex-destroy", cuTexObjectDestroy(t));
        say("tex-destroy", cuTexObjectDestroy(t));
    }
    ISO("memory-info")
    {
        probe_ctx();
        size_t f[9], t;
        int fd = probe_vmm_fd(SIZE * 16);
        cuMemGetInfo(&f[0], &t);
        CUexternalMemory m = ext_of(fd, SIZE * 16);
        cuMemGetInfo(&f[1], &t);
        CUdeviceptr p = buf_of(m, 0, SIZE * 16);
        cuMemGetInfo(&f[2], &t);
        CUdeviceptr q = buf_of(m, 0, SIZE * 16);
        cuMemGetInfo(&f[3], &t);
        CUmipmappedArray mm = mip_of(m, md(0, 1024, 1024, 0, U8, 4, 0, 11));
        cuMemGetInfo(&f[4], &t);
        cuMipmappedArrayDestroy(mm);
        cuMemGetInfo(&f[5], &t);
        cuMemFree(p);
        cuMemFree(q);
        cuMemGetInfo(&f[6], &t);
        cuDestroyExternalMemory(m);
        cuMemGetInfo(&f[7], &t);
        static const char *const n[] = {"",    "import",     "map",  "map-again",
                                        "mip", "mipdestroy", "free", "destroy"};
        for (int i = 1; i < 8; i++)
            OUT("%s%s=%lldK", i > 1 ? " " : "", n[i],
                ((long long)f[i] - (long long)f[i - 1]) / 1024);
    }
}

// ---- cuExternalMemoryGetMappedBuffer: arguments ----
static const char *const buf_bad[] = {"out",    "ext",           "desc",     "flags",  "size0",
                                      "beyond", "offset-beyond", "reserved", "offset1"};
GROUP(buffer_args)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(SIZE);
    CUdeviceptr raw = buf_of(m, 0, SIZE);
    // every argument wrong alone, then any two
    for (int i = 0; i < 9; i++)
        SC("bad-%s", buf_bad[i])
        for (int j = i; j < 9; j++) if ((i != 2 || j == 2) && (j != 2 || i <= 2) &&
                                        !(i == 4 && j == 5) && !(i == 6 && j == 8))
        {
            unsigned w = 1u << i | 1u << j;
            BufferDesc d = bd(w & 64    ? SIZE
                              : w & 256 ? 1
                                        : 0,
                              w & 16   ? 0
                              : w & 32 ? SIZE + 65536
                                       : 65536);
            d.flags = !!(w & 8);
            d.reserved[0] = !!(w & 128);
            CUdeviceptr p = (CUdeviceptr)JUNK;
            CUresult r =
                say(i == j ? "alone" : L("+%s", buf_bad[j]),
                    cuExternalMemoryGetMappedBuffer(w & 1 ? 0 : &p, w & 2 ? 0 : m, w & 4 ? 0 : &d));
            OUT("/%s", Z((void *)p));
            if (!r && p != (CUdeviceptr)JUNK)
                cuMemFree(p);
        }
    SC("bad-out+ext+desc") say("r", cuExternalMemoryGetMappedBuffer(0, 0, 0));
    static const unsigned fl[] = {1, 2, 4, 8, 0x10, 0x100, 0x8000, 0x10000, 0x80000000u, ~0u};
    SC("flags") for (int i = 0; i < N(fl); i++)
    {
        BufferDesc d = bd(0, 65536);
        d.flags = fl[i];
        CUdeviceptr p = (CUdeviceptr)JUNK;
        if (!SAY(cuExternalMemoryGetMappedBuffer(&p, m, &d), "%x", fl[i]))
            cuMemFree(p);
        else
            OUT("/%s", Z((void *)p));
    }
    SC("reserved") for (int i = 0; i < 16; i++)
    {
        BufferDesc d = bd(0, 65536);
        d.reserved[i] = 0x80;
        CUdeviceptr p = 0;
        if (!SAY(cuExternalMemoryGetMappedBuffer(&p, m, &d), "%d", i))
            cuMemFree(p);
    }
    SC("desc-unchanged")
    {
        BufferDesc d = bd(65536, 4096), e = d;
        CUdeviceptr p;
        if (!say("r", cuExternalMemoryGetMappedBuffer(&p, m, &d)))
            cuMemFree(p);
        OUT(" same=%d", !memcmp(&d, &e, sizeof d));
    }
    static const u64 z[] = {0,
                            1,
                            2,
                            3,
                            4,
                            16,
                            100,
                            255,
                            256,
                            511,
                            512,
                            1000,
                            4095,
                            4096,
                            4097,
                            65535,
                            65536,
                            65537,
                            100000,
                            MIB,
                            2 * MIB - 1,
                            2 * MIB,
                            2 * MIB + 1,
                            SIZE - 1,
                            SIZE,
                            SIZE + 1,
                            SIZE + 65536,
                            2 * SIZE,
                            1ull << 32,
                            1ull << 63,
                            ~0ull - 4095,
                            ~0ull};
    for (int i = 0; i < N(z); i++)
        SC("size-%llx", z[i])
        {
            BufferDesc d = bd(0, z[i]);
            CUdeviceptr p = (CUdeviceptr)JUNK, b = 0;
            size_t n = 0;
            CUresult r = say("r", cuExternalMemoryGetMappedBuffer(&p, m, &d));
            if (r) {
                OUT(" out=%s", Z((void *)p));
                continue;
            }
            say("range", cuMemGetAddressRange(&b, &n, p));
            OUT("(%lld+%zx) align=%llx", (long long)(p - b), n, pow2(p, 65536));
            if (z[i] && z[i] <= SIZE) {
                say("set", cuMemsetD8(p, 0x5c, z[i]));
                OUT(" last=%d", byte_at(p + z[i] - 1));
                say("set+1", cuMemsetD8(p, 0x5d, z[i] + 1));
            }
            say("free", cuMemFree(p));
        }
    static const u64 off[] = {0,
                              1,
                              2,
                              3,
                              4,
                              8,
                              16,
                              64,
                              100,
                              128,
                              255,
                              256,
                              257,
                              512,
                              1000,
                              1024,
                              4095,
                              4096,
                              4097,
                              32768,
                              65535,
                              65536,
                              65537,
                              65536 + 256,
                              MIB,
                              2 * MIB - 4096,
                              2 * MIB,
                              2 * MIB + 256,
                              SIZE - 65536,
                              SIZE - 4096,
                              SIZE - 4095,
                              SIZE - 1,
                              SIZE,
                              SIZE + 1,
                              2 * SIZE,
                              1ull << 32,
                              1ull << 63,
                              ~0ull - 65535,
                              ~0ull - 4095,
                              ~0ull};
    for (int i = 0; i < N(off); i++)
        SC("offset-%llx", off[i])
        {
            BufferDesc d = bd(off[i], 4096);
            CUdeviceptr p = (CUdeviceptr)JUNK, b = 0;
            size_t n = 0;
            CUresult r = say("r", cuExternalMemoryGetMappedBuffer(&p, m, &d));
            if (r) {
                OUT(" out=%s", Z((void *)p));
                continue;
            }
            say("range", cuMemGetAddressRange(&b, &n, p));
            OUT("(%lld+%zx) align=%llx congruent=%llx", (long long)(p - b), n, pow2(p, 65536),
                pow2(p - off[i], 65536));
            MUST(cuMemsetD8(raw, 0, SIZE));
            MUST(cuCtxSynchronize());
            say("set", cuMemsetD8(p, 0x5e, 4096));
            cuCtxSynchronize();
            hits(raw, SIZE);
            say("free", cuMemFree(p));
        }
    static const u64 o2[] = {1, 256, 4096, 65536, 2 * MIB, SIZE - 65536, SIZE - 1};
    for (int i = 0; i < N(o2); i++)
        SC("fit-%llx", o2[i])
        {
            u64 s2[] = {
                1,    255,           4096,         65536,        SIZE - o2[i], SIZE - o2[i] + 1,
                SIZE, ~0ull - o2[i], 0ull - o2[i], 1ull - o2[i], ~0ull};
            static const char *const sn[] = {"1",   "255",    "4096", "64k",    "rest", "rest+1",
                                             "all", "wrap-1", "wrap", "wrap+1", "max"};
            for (int k = 0; k < N(s2); k++) {
                CUdeviceptr p;
                if (!say(sn[k], map_buf(&p, m, o2[i], s2[k])))
                    cuMemFree(p);
            }
        }
    static const u64 obj[] = {4096, 65536, MIB, MIB + 100, SIZE - 65536};
    for (int i = 0; i < N(obj); i++)
        SC("object-%llx", obj[i])
        {
            CUexternalMemory t;
            if (say("import", import_fd(&t, probe_vmm_fd(SIZE), obj[i])))
                continue;
            u64 s2[] = {obj[i] - 1, obj[i], obj[i] + 1, obj[i] + 65536, SIZE, SIZE + 1};
            CUdeviceptr p;
            for (int k = 0; k < 6; k++) {
                if (!say(k == 0   ? "less"
                         : k == 1 ? "exact"
                         : k == 2 ? "+1"
                         : k == 3 ? "+64k"
                         : k == 4 ? "allocation"
                                  : "more",
                         map_buf(&p, t, 0, s2[k])))
                    cuMemFree(p);
            }
            if (!say("at-end", map_buf(&p, t, obj[i], 1)))
                cuMemFree(p);
            if (!say("last", map_buf(&p, t, obj[i] - 1, 1)))
                cuMemFree(p);
            say("destroy", cuDestroyExternalMemory(t));
        }
}

// ---- several mappings of one object ----
static const char *related(CUdeviceptr p, u64 o, CUdeviceptr q, u64 s)
{
    return p == q && o == s ? "same" : q - p == s - o ? "consistent" : p == q ? "equal" : "apart";
}
GROUP(buffer_maps)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(SIZE);
    CUdeviceptr raw = buf_of(m, 0, SIZE);
    static const struct {
        const char *n;
        u64 o1, s1, o2, s2;
    } v[] = {{"whole-whole", 0, SIZE, 0, SIZE},
             {"64k-64k", 65536, 65536, 65536, 65536},
             {"4k-4k", 4096, 4096, 4096, 4096},
             {"whole-start", 0, SIZE, 0, 65536},
             {"whole-middle", 0, SIZE, MIB, 65536},
             {"whole-end", 0, SIZE, SIZE - 65536, 65536},
             {"partial", 65536, 131072, 131072, 131072},
             {"sub-page", 0, 65536, 256, 4096},
             {"unaligned", 65536, 100000, 65536 + 512, 777},
             {"in-2M-page", 0, 2 * MIB, MIB, 2 * MIB},
             {"middle-whole", MIB, 65536, 0, SIZE}};
    for (int i = 0; i < N(v); i++)
        SC("overlap-%s", v[i].n)
        {
            CUdeviceptr p, q;
            if (say("first", map_buf(&p, m, v[i].o1, v[i].s1)))
                continue;
            if (say("second", map_buf(&q, m, v[i].o2, v[i].s2))) {
                cuMemFree(p);
                continue;
            }
            u64 lo = v[i].o1 > v[i].o2 ? v[i].o1 : v[i].o2;
            OUT(" va=%s raw=%s", related(p, v[i].o1, q, v[i].o2), related(raw, 0, p, v[i].o1));
            MUST(cuMemsetD8(raw, 0, SIZE));
            MUST(cuCtxSynchronize());
            say("set-first", cuMemsetD8(p, 0x21, v[i].s1));
            cuCtxSynchronize();
            OUT(" second-sees=%d", byte_at(q + lo - v[i].o2));
            hits(raw, SIZE);
            say("set-second", cuMemsetD8(q + lo - v[i].o2, 0x22, 1));
            cuCtxSynchronize();
            OUT(" first-sees=%d raw-sees=%d", byte_at(p + lo - v[i].o1), byte_at(raw + lo));
            say("free-first", cuMemFree(p));
            say("set-second", cuMemsetD8(q, 0x23, v[i].s2));
            say("free-second", cuMemFree(q));
            OUT(" raw-sees=%d", byte_at(raw + lo));
        }
    static const struct {
        const char *n;
        u64 o1, s1, o2, s2;
    } w[] = {{"adjacent-64k", 0, 65536, 65536, 65536},
             {"adjacent-4k", 0, 4096, 4096, 4096},
             {"adjacent-100", 0, 100, 100, 100},
             {"adjacent-2M", 0, 2 * MIB, 2 * MIB, 2 * MIB},
             {"far", 0, 4096, 3 * MIB, 4096}};
    for (int i = 0; i < N(w); i++)
        SC("disjoint-%s", w[i].n)
        {
            CUdeviceptr p, q;
            if (say("first", map_buf(&p, m, w[i].o1, w[i].s1)) ||
                say("second", map_buf(&q, m, w[i].o2, w[i].s2)))
                continue;
            OUT(" va=%s", related(p, w[i].o1, q, w[i].o2));
            MUST(cuMemsetD8(raw, 0, SIZE));
            MUST(cuCtxSynchronize());
            say("set-first", cuMemsetD8(p, 0x31, w[i].s1));
            cuCtxSynchronize();
            OUT(" second-sees=%d", byte_at(q));
            hits(raw, SIZE);
            say("copy", cuMemcpyDtoD(q, p, w[i].s2 < w[i].s1 ? w[i].s2 : w[i].s1));
            cuCtxSynchronize();
            OUT(" second-sees=%d", byte_at(q));
            hits(raw, SIZE);
            say("free", cuMemFree(p));
            say("free", cuMemFree(q));
        }
    SC("lifetimes")
    {
        CUdeviceptr p = buf_of(m, MIB, MIB);
        MUST(put_pattern(p, MIB, 4));
        u64 s = sum_of(p, MIB);
        MUST(cuMemFree(p));
        CUdeviceptr q = buf_of(m, MIB, MIB);
        OUT("va-again=%d kept=%d", p == q, sum_of(q, MIB) == s);
        MUST(cuMemFree(q));
    }
    SC("sixty-four")
    {
        CUdeviceptr p[64];
        int eq = 0, ok = 0, al = 0, fr = 0;
        for (int i = 0; i < 64; i++) {
            p[i] = buf_of(m, i * 65536ull, 65536);
            al += !(p[i] & 0xffff);
            for (int j = 0; j < i; j++)
                eq += p[i] == p[j];
            cuMemsetD8(p[i], i, 65536);
        }
        cuCtxSynchronize();
        for (int i = 0; i < 64; i++)
            ok += byte_at(raw + i * 65536ull + 65535) == i;
        for (int i = 63; i >= 0; i--)
            fr += cuMemFree(p[i]) == 0;
        OUT("equal=%d seen=%d aligned=%d freed=%d", eq, ok, al, fr);
    }
    SC("sixty-four-of-one")
    {
        CUdeviceptr p[64];
        int eq = 0, ok = 0, fr = 0;
        for (int i = 0; i < 64; i++) {
            p[i] = buf_of(m, 0, SIZE);
            for (int j = 0; j < i; j++)
                eq += p[i] == p[j];
        }
        cuMemsetD8(p[40] + 9, 0x55, 1);
        cuCtxSynchronize();
        for (int i = 0; i < 64; i++)
            ok += byte_at(p[i] + 9) == 0x55;
        for (int i = 0; i < 64; i++)
            fr += cuMemFree(p[i]) == 0;
        OUT("equal-pairs=%d seen=%d freed=%d", eq, ok, fr);
    }
    SC("thousand-cycles")
    {
        int ok = 0;
        for (int i = 0; i < 1000; i++) {
            CUdeviceptr p;
            if (!map_buf(&p, m, (i % 32) * 65536ull, 65536))
                ok += cuMemFree(p) == 0;
        }
        OUT("ok=%d", ok);
    }
    SC("free-while-busy")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE), q;
        MUST(cuMemAlloc(&q, SIZE));
        MUST(cuMemsetD8(q, 0x6b, SIZE));
        say("async", cuMemcpyDtoDAsync(p, q, SIZE, 0));
        say("free", cuMemFree(p));
        OUT(" raw-sees=%d", byte_at(raw + SIZE - 1));
        cuMemFree(q);
    }
    SC("two-objects-distinct")
    {
        CUexternalMemory n = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(n, 0, SIZE);
        MUST(cuMemsetD8(raw, 1, SIZE));
        MUST(cuMemsetD8(p, 2, SIZE));
        MUST(cuCtxSynchronize());
        OUT("va=%d raw-sees=%d", p == raw, byte_at(raw));
        MUST(cuMemFree(p));
        say("destroy", cuDestroyExternalMemory(n));
    }
    for (int k = 0; k < 4; k++)
        SC("stream-%s", k == 0   ? "legacy"
                        : k == 1 ? "per-thread"
                        : k == 2 ? "blocking"
                                 : "non-blocking")
        {
            CUstream s = k == 0 ? CU_STREAM_LEGACY : k == 1 ? CU_STREAM_PER_THREAD : 0;
            if (k > 1)
                MUST(cuStreamCreate(&s, k == 3));
            CUdeviceptr p = buf_of(m, 0, SIZE);
            say("set", cuMemsetD8Async(p, 0x70 + k, SIZE, s));
            say("sync", cuStreamSynchronize(s));
            OUT(" raw-sees=%d", byte_at(raw + 12345));
            MUST(cuMemFree(p));
        }
}

// ---- using a mapping up to its end and past it ----
enum {
    O_SET8,
    O_SET16,
    O_SET32,
    O_SET2D,
    O_HTOD,
    O_DTOH,
    O_DTOD_TO,
    O_DTOD_FROM,
    O_CPY,
    O_PEER,
    O_ASYNC_TO,
    O_ASYNC_FROM,
    O_2D,
    O_3D,
    O_OPS
};
static const char *const op_name[] = {"set8",     "set16",      "set32",     "set2d8", "htod",
                                      "dtoh",     "dtod-to",    "dtod-from", "memcpy", "peer",
                                      "async-to", "async-from", "2d-to",     "3d-from"};
static CUresult op(int o, CUdeviceptr p, size_t n, CUdeviceptr other, void *host, CUcontext ctx)
{
    switch (o) {
    case O_SET8:
        return cuMemsetD8(p, 0x41, n);
    case O_SET16:
        return cuMemsetD16(p, 0x4142, (n + 1) / 2);
    case O_SET32:
        return cuMemsetD32(p, 0x41424344, (n + 3) / 4);
    case O_SET2D:
        return cuMemsetD2D8(p, 50, 0x41, n % 50 ? n % 50 : 50, (n + 49) / 50);
    case O_HTOD:
        return cuMemcpyHtoD(p, host, n);
    case O_DTOH:
        return cuMemcpyDtoH(host, p, n);
    case O_DTOD_TO:
        return cuMemcpyDtoD(p, other, n);
    case O_DTOD_FROM:
        return cuMemcpyDtoD(other, p, n);
    case O_CPY:
        return cuMemcpy(p, other, n);
    case O_PEER:
        return cuMemcpyPeer(p, ctx, other, ctx, n);
    case O_ASYNC_TO:
        return cuMemcpyHtoDAsync(p, host, n, 0);
    case O_ASYNC_FROM:
        return cuMemcpyDtoHAsync(host, p, n, 0);
    case O_2D: {
        CUDA_MEMCPY2D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = host;
        c.srcPitch = 512;
        c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        c.dstDevice = p;
        c.dstPitch = 512;
        c.WidthInBytes = n % 512 ? n % 512 : 512;
        c.Height = (n + 511) / 512;
        return cuMemcpy2D(&c);
    }
    case O_3D: {
        CUDA_MEMCPY3D c;
        memset(&c, 0, sizeof c);
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = host;
        c.dstPitch = 512;
        c.dstHeight = (n + 511) / 512;
        c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        c.srcDevice = p;
        c.srcPitch = 512;
        c.srcHeight = (n + 511) / 512;
        c.WidthInBytes = n % 512 ? n % 512 : 512;
        c.Height = (n + 511) / 512;
        c.Depth = 1;
        return cuMemcpy3D(&c);
    }
    }
    return CUDA_ERROR_UNKNOWN;
}
GROUP(buffer_use)
{
    CUcontext ctx = probe_ctx();
    CUexternalMemory m = probe_extmem(SIZE);
    CUdeviceptr other;
    MUST(cuMemAlloc(&other, 2 * SIZE));
    unsigned char *host = calloc(1, 2 * SIZE);
    static const struct {
        const char *n;
        u64 o, s;
    } v[] = {{"whole", 0, SIZE}, {"part", 65536, 100000}, {"tiny", 4096, 100}};
    for (int o = 0; o < O_OPS; o++)
        SC("%s", op_name[o]) for (int i = 0; i < N(v); i++)
        {
            CUdeviceptr p;
            if (say(v[i].n, map_buf(&p, m, v[i].o, v[i].s)))
                continue;
            u64 s = v[i].s;
            say("end", op(o, p, s, other, host, ctx));
            say("end+1", op(o, p, s + 1, other, host, ctx));
            say("last", op(o, p + s - 1, 1, other, host, ctx));
            say("shifted", op(o, p + 1, s, other, host, ctx));
            say("none", op(o, p, 0, other, host, ctx));
            cuCtxSynchronize();
            say("free", cuMemFree(p));
        }
    // out of every mapping
    for (int o = 0; o < O_OPS; o++)
        SC("past-%s", op_name[o])
        {
            CUdeviceptr p;
            if (say("map", map_buf(&p, m, 0, SIZE)))
                continue;
            say("+64k", op(o, p, SIZE + 65536, other, host, ctx));
            cuCtxSynchronize();
            say("free", cuMemFree(p));
        }
    SC("misaligned-set16")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        say("r", cuMemsetD16(p + 1, 5, 4));
        cuMemFree(p);
    }
    SC("misaligned-set32")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        say("+1", cuMemsetD32(p + 1, 5, 4));
        say("+2", cuMemsetD32(p + 2, 5, 4));
        cuMemFree(p);
    }
    SC("dtod-overlap")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE), q = buf_of(m, 0, SIZE);
        MUST(put_pattern(p, 65536, 2));
        say("through-other-va", cuMemcpyDtoD(q + 65536, p, 65536));
        OUT(" same=%d", sum_of(p + 65536, 65536) == sum_of(p, 65536));
        cuMemFree(p);
        cuMemFree(q);
    }
    SC("range-nulls")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE), b;
        size_t z;
        say("both", cuMemGetAddressRange(&b, &z, p));
        say("base", cuMemGetAddressRange(&b, 0, p));
        say("size", cuMemGetAddressRange(0, &z, p));
        say("none", cuMemGetAddressRange(0, 0, p));
        cuMemFree(p);
    }
    static const struct {
        const char *n;
        u64 o, s;
    } rg[] = {{"whole", 0, SIZE},
              {"64k", 65536, 65536},
              {"part", 65536, 100000},
              {"off256", 256, 1000},
              {"4k", 4096, 4096}};
    for (int i = 0; i < N(rg); i++)
        SC("range-%s", rg[i].n)
        {
            CUdeviceptr p;
            if (say("map", map_buf(&p, m, rg[i].o, rg[i].s)))
                continue;
            const struct {
                const char *n;
                long long d;
            } at[] = {{"start", 0},          {"1", 1},         {"middle", rg[i].s / 2},
                      {"last", rg[i].s - 1}, {"end", rg[i].s}, {"before", -1}};
            for (int k = 0; k < N(at); k++) {
                CUdeviceptr b = 0;
                size_t z = 0;
                CUresult r = say(at[k].n, cuMemGetAddressRange(&b, &z, p + at[k].d));
                if (!r && k < 4)
                    OUT("(%lld+%zx)", (long long)(p - b), z);
                else if (!r)
                    OUT("(own=%d)", b == p);
            }
            cuMemFree(p);
        }
    SC("ipc-handle")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUipcMemHandle h, g;
        say("start", cuIpcGetMemHandle(&h, p));
        say("middle", cuIpcGetMemHandle(&g, p + MIB));
        say("null", cuIpcGetMemHandle(0, p));
        CUdeviceptr q;
        say("open-here", cuIpcOpenMemHandle(&q, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        cuMemFree(p);
    }
    SC("ipc-handle-part")
    {
        CUdeviceptr p = buf_of(m, 65536, 65536);
        CUipcMemHandle h;
        say("r", cuIpcGetMemHandle(&h, p));
        cuMemFree(p);
    }
    SC("retain-handle")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUmemGenericAllocationHandle h = 7;
        if (!say("start", cuMemRetainAllocationHandle(&h, (void *)p))) {
            CUmemAllocationProp q;
            say("prop", cuMemGetAllocationPropertiesFromHandle(&q, h));
            say("release", cuMemRelease(h));
        } else
            OUT(" out=%s", h == 7 ? "kept" : h ? "set" : "null");
        say("middle", cuMemRetainAllocationHandle(&h, (void *)(p + MIB)));
        say("null", cuMemRetainAllocationHandle(0, (void *)p));
        cuMemFree(p);
    }
    SC("host-pointer")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE), q = 7;
        unsigned f = 7;
        say("device-pointer", cuMemHostGetDevicePointer(&q, (void *)p, 0));
        say("flags", cuMemHostGetFlags(&f, (void *)p));
        say("free-host", cuMemFreeHost((void *)p));
        say("unregister", cuMemHostUnregister((void *)p));
        say("free", cuMemFree(p));
    }
    SC("vmm-calls")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        u64 f = 7;
        CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemAccessDesc a;
        memset(&a, 0, sizeof a);
        a.location = l;
        a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (!say("get-access", cuMemGetAccess(&f, &l, p)))
            OUT("(%llu)", f);
        say("set-access", cuMemSetAccess(p, SIZE, &a, 1));
        say("unmap", cuMemUnmap(p, SIZE));
        say("address-free", cuMemAddressFree(p, SIZE));
        say("set", cuMemsetD8(p, 1, SIZE));
        say("free", cuMemFree(p));
    }
    SC("free-async")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUresult r = say("async", cuMemFreeAsync(p, 0));
        say("sync", cuCtxSynchronize());
        say("set", cuMemsetD8(p, 1, 16));
        if (r)
            say("free", cuMemFree(p));
    }
    SC("range-handle")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        int fd = -1;
        say("dmabuf",
            cuMemGetHandleForAddressRange(&fd, p, SIZE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        OUT(" fd=%d", fd >= 0);
        say("size0",
            cuMemGetHandleForAddressRange(&fd, p, 0, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        say("unaligned", cuMemGetHandleForAddressRange(&fd, p + 1, 4096,
                                                       CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        cuMemFree(p);
    }
    SC("advise")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        say("advise", cuMemAdvise(p, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, l));
        say("prefetch", cuMemPrefetchAsync(p, SIZE, l, 0, 0));
        int v = 0;
        say("range-attribute",
            cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, SIZE));
        cuMemFree(p);
    }
    SC("set-attribute")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        unsigned v = 1, g = 9;
        say("sync-memops-1", cuPointerSetAttribute(&v, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
        cuPointerGetAttribute(&g, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p);
        OUT("(%u)", g);
        v = 0;
        say("sync-memops-0", cuPointerSetAttribute(&v, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + MIB));
        cuPointerGetAttribute(&g, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p);
        OUT("(%u)", g);
        say("other", cuPointerSetAttribute(&v, CU_POINTER_ATTRIBUTE_BUFFER_ID, p));
        say("null", cuPointerSetAttribute(0, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
        cuMemFree(p);
    }
    SC("linear-texture")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUDA_RESOURCE_DESC rd, o;
        CUDA_TEXTURE_DESC td;
        memset(&rd, 0, sizeof rd);
        memset(&td, 0, sizeof td);
        memset(&o, 0, sizeof o);
        CUtexObject t = 0;
        rd.resType = CU_RESOURCE_TYPE_LINEAR;
        rd.res.linear.devPtr = p;
        rd.res.linear.format = F32;
        rd.res.linear.numChannels = 4;
        rd.res.linear.sizeInBytes = SIZE;
        if (!say("all", cuTexObjectCreate(&t, &rd, &td, 0))) {
            say("resource", cuTexObjectGetResourceDesc(&o, t));
            OUT("(%d,%zx)", o.res.linear.devPtr == p, o.res.linear.sizeInBytes);
            cuTexObjectDestroy(t);
        }
        rd.res.linear.sizeInBytes = SIZE + 16;
        say("more", cuTexObjectCreate(&t, &rd, &td, 0));
        rd.res.linear.sizeInBytes = 4096;
        rd.res.linear.devPtr = p + 16;
        say("offset-16", cuTexObjectCreate(&t, &rd, &td, 0));
        cuMemFree(p);
    }
    SC("pitch-texture")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUDA_RESOURCE_DESC rd;
        CUDA_TEXTURE_DESC td;
        memset(&rd, 0, sizeof rd);
        memset(&td, 0, sizeof td);
        CUtexObject t = 0;
        rd.resType = CU_RESOURCE_TYPE_PITCH2D;
        rd.res.pitch2D.devPtr = p;
        rd.res.pitch2D.format = U8;
        rd.res.pitch2D.numChannels = 4;
        rd.res.pitch2D.width = 100;
        rd.res.pitch2D.height = 100;
        rd.res.pitch2D.pitchInBytes = 512;
        if (!say("512", cuTexObjectCreate(&t, &rd, &td, 0)))
            cuTexObjectDestroy(t);
        rd.res.pitch2D.pitchInBytes = 416;
        if (!say("416", cuTexObjectCreate(&t, &rd, &td, 0)))
            cuTexObjectDestroy(t);
        rd.res.pitch2D.pitchInBytes = 400;
        if (!say("400", cuTexObjectCreate(&t, &rd, &td, 0)))
            cuTexObjectDestroy(t);
        cuMemFree(p);
    }
    SC("batch-write-value")
    {
        CUdeviceptr p = buf_of(m, 0, SIZE);
        CUresult r = say("write32", cuStreamWriteValue32(0, p + 8, 0x01020304, 0));
        say("write64", cuStreamWriteValue64(0, p + 16, 0x0102030405060708ull, 0));
        if (!r)
            say("wait32-reached",
                cuStreamWaitValue32(0, p + 8, 0x01020304, CU_STREAM_WAIT_VALUE_EQ));
        say("sync", cuCtxSynchronize());
        OUT(" sum=%016llx", sum_of(p + 8, 4) ^ sum_of(p + 16, 8));
        cuMemFree(p);
    }
}

// ---- pointer attributes ----
// How many bytes the driver wrote (one that two different fillings agree on), and the value, or how
// it relates to the pointer.
static void attribute(int t, CUdeviceptr q, CUdeviceptr base, CUcontext ctx)
{
    unsigned char a[64], b[64], c[64];
    memset(a, 0xEE, 64);
    memset(b, 0x11, 64);
    memset(c, 0xEE, 64);
    CUresult r = cuPointerGetAttribute(a, t, q);
    cuPointerGetAttribute(b, t, q);
    OUT("%s", R(r));
    CUpointer_attribute l = t;
    void *d = c;
    CUresult g = cuPointerGetAttributes(1, &l, &d, q);
    int n = 0;
    for (int i = 0; i < 64; i++)
        if (a[i] == b[i])
            n = i + 1;
    if (!r) {
        u64 v = 0;
        memcpy(&v, a, n > 8 ? 8 : n);
        OUT("/%d:", n);
        switch (t) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            OUT("%s", v == (u64)ctx ? "current" : v ? "other" : "null");
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            if (v)
                OUT("base%+lld", (long long)(v - base));
            else
                OUT("null");
            break;
        case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
            OUT("-");
            break;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            OUT("%s", v ? "set" : "null");
            break;
        default:
            OUT("%llx", v);
        }
    }
    OUT(" list=%s%s", R(g), g || !memcmp(a, c, 64) ? "" : "(differs)");
}
GROUP(attributes)
{
    CUcontext ctx = probe_ctx();
    CUexternalMemory m = probe_extmem(SIZE);
    CUdeviceptr p = buf_of(m, 0, SIZE), s = 0;
    map_buf(&s, m, 65536, 100000);
    for (int t = 0; t <= 25; t++)
        SC("attribute-%d", t)
        {
            OUT("start=");
            attribute(t, p, p, ctx);
            OUT(" middle=");
            attribute(t, p + 1234567, p, ctx);
            OUT(" last=");
            attribute(t, p + SIZE - 1, p, ctx);
            OUT(" part=");
            attribute(t, s + 5, s, ctx);
        }
    SC("attribute-max")
    {
        unsigned char a[64];
        say("26", cuPointerGetAttribute(a, 26, p));
        say("100", cuPointerGetAttribute(a, 100, p));
        say("-1", cuPointerGetAttribute(a, -1, p));
    }
    SC("nulls")
    {
        say("null-data", cuPointerGetAttribute(0, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
        int v = -1;
        say("null-pointer", cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
        CUpointer_attribute l = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        void *d = &v;
        say("count0", cuPointerGetAttributes(0, &l, &d, p));
        say("null-list", cuPointerGetAttributes(1, 0, &d, p));
        say("null-data-list", cuPointerGetAttributes(1, &l, 0, p));
    }
    SC("list-of-all")
    {
        CUpointer_attribute l[21];
        unsigned char d[21][64];
        void *q[21];
        memset(d, 0xEE, sizeof d);
        int n = 0;
        for (int t = 1; t <= 21; t++)
            if (t != CU_POINTER_ATTRIBUTE_P2P_TOKENS) {
                l[n] = t;
                q[n] = d[n];
                n++;
            }
        say("r", cuPointerGetAttributes(n, l, q, p));
        for (int i = 0; i < n; i++) {
            unsigned char a[64];
            memset(a, 0xEE, 64);
            CUresult r = cuPointerGetAttribute(a, l[i], p);
            OUT(" %d=%s", l[i], r ? "error" : memcmp(a, d[i], 64) ? "differs" : "same");
        }
    }
    SC("buffer-ids")
    {
        u64 a = 0, b = 0, c = 0, d = 0;
        CUdeviceptr q = buf_of(m, 0, SIZE), o;
        MUST(cuMemAlloc(&o, 4096));
        cuPointerGetAttribute(&a, CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
        cuPointerGetAttribute(&b, CU_POINTER_ATTRIBUTE_BUFFER_ID, p + MIB);
        cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_BUFFER_ID, q);
        cuPointerGetAttribute(&d, CU_POINTER_ATTRIBUTE_BUFFER_ID, o);
        OUT("within=%d across-mappings=%d to-alloc=%d grows=%d", a == b, a == c, a == d, c > a);
        cuMemFree(q);
        cuMemFree(o);
    }
    SC("block-ids")
    {
        u64 a = 0, b = 0, c = 0;
        CUdeviceptr q = buf_of(m, 0, SIZE);
        CUexternalMemory n = probe_extmem(SIZE);
        CUdeviceptr o = buf_of(n, 0, SIZE);
        say("r", cuPointerGetAttribute(&a, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p));
        cuPointerGetAttribute(&b, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, q);
        cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, o);
        OUT(" across-mappings=%d across-objects=%d", a == b, a == c);
        cuMemFree(q);
        cuMemFree(o);
        cuDestroyExternalMemory(n);
    }
}

// ---- freeing mappings wrongly; a mapping that is gone ----
GROUP(buffer_free)
{
#define ALL_ATTRIBUTES(p)                                                                          \
    for (int t = 1; t <= 25; t++) {                                                                \
        unsigned char u[64];                                                                       \
        SAY(cuPointerGetAttribute(u, t, p), "%d", t);                                              \
    }
    static const u64 in[] = {1,   2,       256,      512,  4096,        65536,
                             MIB, 2 * MIB, SIZE - 1, SIZE, SIZE + 65536};
    for (int i = 0; i < N(in); i++)
        ISO("free-plus-%llx", in[i])
        {
            probe_ctx();
            CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
            say("interior", cuMemFree(p + in[i]));
            say("set", cuMemsetD8(p, 1, SIZE));
            say("free", cuMemFree(p));
        }
    ISO("free-minus-1")
    {
        probe_ctx();
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
        say("before", cuMemFree(p - 1));
        say("free", cuMemFree(p));
    }
    ISO("free-aligned-down")
    {
        probe_ctx();
        CUdeviceptr p;
        if (!say("map", map_buf(&p, probe_extmem(SIZE), 65536 + 256, 4096))) {
            say("aligned", cuMemFree(p & ~0xffffull));
            say("free", cuMemFree(p));
        }
    }
    ISO("free-twice")
    {
        probe_ctx();
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
        say("first", cuMemFree(p));
        say("second", cuMemFree(p));
    }
    ISO("free-one-of-two")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE), q = buf_of(m, 0, SIZE);
        OUT("same=%d", p == q);
        say("free", cuMemFree(p));
        say("set-other", cuMemsetD8(q, 2, SIZE));
        say("set-freed", p == q ? CUDA_SUCCESS : cuMemsetD8(p, 2, SIZE));
        say("free", cuMemFree(q));
        say("destroy", cuDestroyExternalMemory(m));
    }
    ISO("used-after-free")
    {
        probe_ctx();
        char c[16] = {0};
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE), b;
        size_t z;
        MUST(cuMemFree(p));
        say("set8", cuMemsetD8(p, 1, 16));
        say("set32", cuMemsetD32(p, 1, 4));
        say("dtoh", cuMemcpyDtoH(c, p, 16));
        say("htod", cuMemcpyHtoD(p, c, 16));
        say("dtod", cuMemcpyDtoD(p, p + 4096, 16));
        say("range", cuMemGetAddressRange(&b, &z, p));
        say("ipc", cuIpcGetMemHandle(&(CUipcMemHandle){{0}}, p));
        say("retain", cuMemRetainAllocationHandle(&(CUmemGenericAllocationHandle){0}, (void *)p));
        say("sync", cuCtxSynchronize());
    }
    ISO("attributes-after-free")
    {
        probe_ctx();
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
        MUST(cuMemFree(p));
        ALL_ATTRIBUTES(p);
    }
    ISO("attributes-at-end")
    {
        probe_ctx();
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
        ALL_ATTRIBUTES(p + SIZE);
    }
    ISO("attributes-after-destroy")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(cuDestroyExternalMemory(m));
        ALL_ATTRIBUTES(p);
    }
    ISO("texture-outlives-mapping")
    {
        probe_ctx();
        CUdeviceptr p = buf_of(probe_extmem(SIZE), 0, SIZE);
        CUDA_RESOURCE_DESC rd, o;
        CUDA_TEXTURE_DESC td;
        memset(&rd, 0, sizeof rd);
        memset(&td, 0, sizeof td);
        rd.resType = CU_RESOURCE_TYPE_LINEAR;
        rd.res.linear.devPtr = p;
        rd.res.linear.format = F32;
        rd.res.linear.numChannels = 1;
        rd.res.linear.sizeInBytes = 4096;
        CUtexObject t = 0;
        say("tex", cuTexObjectCreate(&t, &rd, &td, 0));
        say("free", cuMemFree(p));
        say("resource", cuTexObjectGetResourceDesc(&o, t));
        say("tex-destroy", cuTexObjectDestroy(t));
    }
    ISO("primary-reset")
    {
        probe_ctx();
        CUexternalMemory m = probe_extmem(SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE), b;
        size_t z;
        CUdevice d;
        cuDeviceGet(&d, 0);
        say("reset", cuDevicePrimaryCtxReset(d));
        say("range", cuMemGetAddressRange(&b, &z, p));
        say("set", cuMemsetD8(p, 1, 16));
        say("free", cuMemFree(p));
    }
}

// ---- cuExternalMemoryGetMappedMipmappedArray: arguments ----
#define BIG (64 * MIB)
static const char *const mip_bad[] = {"out",       "ext",           "desc",    "format0",
                                      "channels3", "width0",        "flag200", "cubemap-depth5",
                                      "offset1",   "offset-beyond", "reserved"};
GROUP(mip_args)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(SIZE);
    for (int i = 0; i < 11; i++)
        SC("bad-%s", mip_bad[i])
        for (int j = i; j < 11; j++) if ((i != 2 || j == 2) && (j != 2 || i <= 2) &&
                                         !(i == 8 && j == 9) && !(i == 6 && j == 7))
        {
            unsigned w = 1u << i | 1u << j;
            MipDesc d = md(w & 256   ? 1
                           : w & 512 ? SIZE
                                     : 0,
                           w & 32 ? 0 : 64, 64, w & 128 ? 5 : 0, w & 8 ? 0 : U8, w & 16 ? 3 : 4,
                           w & 64    ? 0x200
                           : w & 128 ? CUDA_ARRAY3D_CUBEMAP
                                     : 0,
                           1);
            d.reserved[0] = !!(w & 1024);
            CUmipmappedArray mm = JUNK;
            CUresult r = say(i == j ? "alone" : L("+%s", mip_bad[j]),
                             cuExternalMemoryGetMappedMipmappedArray(w & 1 ? 0 : &mm, w & 2 ? 0 : m,
                                                                     w & 4 ? 0 : &d));
            OUT("/%s", Z(mm));
            if (!r && mm != JUNK)
                cuMipmappedArrayDestroy(mm);
        }
    SC("bad-out+ext+desc") say("r", cuExternalMemoryGetMappedMipmappedArray(0, 0, 0));
    SC("reserved") for (int i = 0; i < 16; i++)
    {
        MipDesc d = md(0, 64, 64, 0, U8, 4, 0, 1);
        d.reserved[i] = 0x80;
        try_mip(L("%d", i), m, d);
    }
    SC("desc-unchanged")
    {
        MipDesc d = md(65536, 64, 64, 0, U8, 4, 0, 7), e = d;
        CUmipmappedArray mm;
        if (!say("r", cuExternalMemoryGetMappedMipmappedArray(&mm, m, &d)))
            cuMipmappedArrayDestroy(mm);
        OUT(" same=%d", !memcmp(&d, &e, sizeof d));
    }
    static const u64 off[] = {0,
                              1,
                              2,
                              3,
                              4,
                              8,
                              16,
                              64,
                              255,
                              256,
                              512,
                              1024,
                              4096,
                              8192,
                              32768,
                              65535,
                              65536,
                              65537,
                              65536 + 512,
                              MIB,
                              2 * MIB,
                              2 * MIB + 4096,
                              SIZE - 65536,
                              SIZE - 16384,
                              SIZE - 4096,
                              SIZE - 512,
                              SIZE - 1,
                              SIZE,
                              SIZE + 1,
                              2 * SIZE,
                              1ull << 32,
                              1ull << 63,
                              ~0ull - 65535,
                              ~0ull - 4095,
                              ~0ull};
    CUdeviceptr raw = buf_of(m, 0, SIZE);
    static const struct {
        const char *n;
        size_t w, h, d;
        unsigned ch, fl, lv;
    } sh[] = {
        {"2d", 64, 64, 0, 4, 0, 1}, {"mips", 64, 64, 0, 4, 0, 7}, {"small", 4, 4, 0, 1, 0, 1}};
    for (int i = 0; i < N(off); i++)
        SC("offset-%llx", off[i]) for (int k = 0; k < N(sh); k++)
        {
            CUmipmappedArray mm = JUNK;
            MipDesc d = md(off[i], sh[k].w, sh[k].h, sh[k].d, U8, sh[k].ch, sh[k].fl, sh[k].lv);
            if (say(sh[k].n, cuExternalMemoryGetMappedMipmappedArray(&mm, m, &d))) {
                OUT("/%s", Z(mm));
                continue;
            }
            if (off[i] <= SIZE - 65536) {
                MUST(cuMemsetD8(raw, 0, SIZE));
                MUST(cuCtxSynchronize());
                for (unsigned l = 0; l < sh[k].lv; l++) {
                    CUarray a = level_of(mm, l);
                    unsigned char *h = malloc(array_bytes(a));
                    memset(h, 0xA5, array_bytes(a));
                    CUresult r = whole(a, h, 1);
                    if (r)
                        say("fill", r);
                    free(h);
                }
                cuCtxSynchronize();
                hits(raw, SIZE);
            }
            CUresult r = cuMipmappedArrayDestroy(mm);
            if (r)
                say("destroy", r);
        }
    // whether the array has to lie within the object; nothing is touched
    static const struct {
        const char *n;
        u64 off;
        size_t w, h, d;
        int ch;
        unsigned fl, lv;
    } fit[] = {{"exact", 0, 1024, 1024, 0, 4, 0, 1},
               {"exact-at-64k", 65536, 1024, 1024, 0, 4, 0, 1},
               {"row-more", 0, 1024, 1025, 0, 4, 0, 1},
               {"column-more", 0, 1025, 1024, 0, 4, 0, 1},
               {"gob-more", 0, 1024, 1032, 0, 4, 0, 1},
               {"double", 0, 2048, 1024, 0, 4, 0, 1},
               {"mips-more", 0, 1024, 1024, 0, 4, 0, 2},
               {"mips-all", 0, 1024, 1024, 0, 4, 0, 11},
               {"half-mips", 0, 1024, 512, 0, 4, 0, 11},
               {"3d-exact", 0, 128, 128, 64, 4, 0, 1},
               {"3d-more", 0, 128, 128, 65, 4, 0, 1},
               {"layers-exact", 0, 512, 512, 4, 4, 1, 1},
               {"layers-more", 0, 512, 512, 5, 4, 1, 1},
               {"cube-fits", 0, 256, 256, 6, 4, 4, 1},
               {"cube-more", 0, 512, 512, 6, 4, 4, 1},
               {"1d-wide", 0, 131072, 0, 0, 4, 0, 1},
               {"1d-wide-mips", 0, 32768, 0, 0, 4, 0, 16},
               {"1gib", 0, 16384, 16384, 0, 4, 0, 1},
               {"16gib", 0, 131072, 32768, 0, 4, 0, 1},
               {"last-64k", SIZE - 65536, 64, 64, 0, 4, 0, 1},
               {"last-64k-full", SIZE - 65536, 128, 128, 0, 4, 0, 1},
               {"last-64k-more", SIZE - 65536, 128, 129, 0, 4, 0, 1}};
    for (int i = 0; i < N(fit); i++)
        SC("fit-%s", fit[i].n)
        {
            try_mip(
                "r", m,
                md(fit[i].off, fit[i].w, fit[i].h, fit[i].d, U8, fit[i].ch, fit[i].fl, fit[i].lv));
            try_mip("surface", m,
                    md(fit[i].off, fit[i].w, fit[i].h, fit[i].d, U8, fit[i].ch,
                       fit[i].fl | CUDA_ARRAY3D_SURFACE_LDST, fit[i].lv));
        }
    static const u64 obj[] = {4096, 16384, 65536, MIB};
    for (int i = 0; i < N(obj); i++)
        SC("object-%llx", obj[i])
        {
            CUexternalMemory t;
            if (say("import", import_fd(&t, probe_vmm_fd(SIZE), obj[i])))
                continue;
            try_mip("4k", t, md(0, 32, 32, 0, U8, 4, 0, 1));
            try_mip("16k", t, md(0, 64, 64, 0, U8, 4, 0, 1));
            try_mip("64k", t, md(0, 128, 128, 0, U8, 4, 0, 1));
            try_mip("1m", t, md(0, 512, 512, 0, U8, 4, 0, 1));
            try_mip("2m", t, md(0, 1024, 512, 0, U8, 4, 0, 1));
            say("destroy", cuDestroyExternalMemory(t));
        }
}
GROUP(mip_formats)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    // every value below 0x31 and from 0x90 to 0xcb, and some others: the defined ones a line each,
    // over the channel counts
    static const unsigned char defined[] = {
        1,    2,    3,    8,    9,    0x0a, 0x10, 0x20, 0x50, 0x91, 0x92, 0x93, 0x94,
        0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa1, 0xa2,
        0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5,
        0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb};
    for (int i = 0; i < N(defined); i++)
        SC("format-%02x", defined[i])
        for (unsigned c = 0; c < 6; c++)
            try_mip(L("%u", c), m, md(0, 64, 64, 0, defined[i], c, 0, 1));
    for (unsigned b = 0; b < 0xd0; b += b == 0x30 ? 0x60 : 8)
        SC("undefined-%02x", b)
        for (unsigned f = b; f < b + 8;
             f++) if (!memchr(defined, f, N(defined))) for (unsigned c = 0; c < 6; c++)
            try_mip(L("%02x-%u", f, c), m, md(0, 64, 64, 0, f, c, 0, 1));
    static const unsigned more[] = {0x38, 0x3f, 0x40, 0x4f, 0x51,  0x60,  0x70,       0x7f,
                                    0x80, 0x8f, 0xd0, 0xff, 0x100, 0x101, 0x7fffffff, 0xffffffffu};
    SC("undefined-others")
    for (int i = 0; i < N(more); i++)
        try_mip(L("%x", more[i]), m, md(0, 64, 64, 0, more[i], 4, 0, 1));
    SC("channels-large")
    {
        static const unsigned c[] = {8, 16, 255, 256, 0x80000000u, ~0u};
        for (int i = 0; i < N(c); i++) {
            const char *l = L("%x", c[i]);
            try_mip(l, m, md(0, 64, 64, 0, U8, c[i], 0, 1));
        }
    }
    // the defined formats, with their own channel count, over flags, shapes, levels and sizes that
    // are no multiple of a block
    static const struct {
        unsigned f, c;
    } fc[] = {{1, 4},    {2, 4},    {3, 4},    {8, 4},    {9, 4},    {0x0a, 4}, {0x10, 4},
              {0x20, 4}, {0x50, 4}, {0x91, 4}, {0x92, 4}, {0x93, 4}, {0x95, 4}, {0x97, 1},
              {0x98, 1}, {0x99, 2}, {0x9a, 2}, {0x9b, 3}, {0x9c, 3}, {0x9d, 4}, {0x9e, 4},
              {0x9f, 3}, {0xa1, 3}, {0xa2, 3}, {0xa5, 2}, {0xa8, 4}, {0xb0, 3}, {0xb1, 4},
              {0xb2, 3}, {0xb4, 3}, {0xc0, 1}, {0xc1, 2}, {0xc2, 4}, {0xc3, 1}, {0xc5, 4},
              {0xc6, 1}, {0xc8, 4}, {0xcb, 4}};
    for (int i = 0; i < N(fc); i++) {
        unsigned f = fc[i].f, c = fc[i].c;
        SC("format-%02x-more", f)
        {
            static const unsigned fl[] = {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100};
            for (int k = 0; k < 9; k++)
                try_mip(L("%x", fl[k]), m,
                        md(0, 64, 64, fl[k] == 1 || fl[k] == 4 ? 6 : 0, f, c, fl[k], 1));
            try_mip("1d", m, md(0, 64, 0, 0, f, c, 0, 1));
            try_mip("3d", m, md(0, 64, 64, 8, f, c, 0, 1));
            try_mip("mips", m, md(0, 64, 64, 0, f, c, 0, 7));
            try_mip("odd", m, md(0, 63, 61, 0, f, c, 0, 1));
            try_mip("tiny", m, md(0, 2, 2, 0, f, c, 0, 1));
            try_mip("odd-mips", m, md(0, 63, 61, 0, f, c, 0, 6));
        }
    }
}
GROUP(mip_dims)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    const u64 G = 1ull << 32;
    const struct {
        u64 w, h, d;
        unsigned fl;
    } v[] = {{0, 0, 0, 0},       {0, 1, 0, 0},           {0, 0, 1, 0},      {0, 1, 1, 0},
             {1, 0, 1, 0},       {1, 0, 8, 0},           {1, 0, 0, 0},      {2, 0, 0, 0},
             {17, 0, 0, 0},      {32767, 0, 0, 0},       {32768, 0, 0, 0},  {32769, 0, 0, 0},
             {65536, 0, 0, 0},   {131071, 0, 0, 0},      {131072, 0, 0, 0}, {131073, 0, 0, 0},
             {1 << 20, 0, 0, 0}, {1 << 28, 0, 0, 0},     {G, 0, 0, 0},      {G + 1, 0, 0, 0},
             {G + 64, 0, 0, 0},  {1ull << 63, 0, 0, 0},  {~0ull, 0, 0, 0},  {1, 1, 0, 0},
             {1, 64, 0, 0},      {64, 1, 0, 0},          {32768, 1, 0, 0},  {32769, 1, 0, 0},
             {131072, 1, 0, 0},  {131073, 1, 0, 0},      {1, 32768, 0, 0},  {1, 32769, 0, 0},
             {1, 65536, 0, 0},   {1, 65537, 0, 0},       {1, G, 0, 0},      {1, G + 64, 0, 0},
             {64, ~0ull, 0, 0},  {G + 64, G + 64, 0, 0}, {1, 1, 1, 0},      {64, 64, 1, 0},
             {2, 1, 1, 0},       {16384, 1, 1, 0},       {16385, 1, 1, 0},  {1, 16384, 1, 0},
             {1, 16385, 1, 0},   {1, 1, 16384, 0},       {1, 1, 16385, 0},  {1, 1, 32768, 0},
             {1, 1, 32769, 0},   {8192, 1, 2, 0},        {32768, 1, 1, 0},  {1, 1, G + 1, 0},
             {64, 64, ~0ull, 0}, {64, 0, 0, 1},          {64, 0, 1, 1},     {64, 0, 2, 1},
             {32768, 0, 1, 1},   {32769, 0, 1, 1},       {1, 0, 2048, 1},   {1, 0, 2049, 1},
             {1, 0, 65536, 1},   {0, 0, 6, 1},           {64, 64, 0, 1},    {64, 64, 1, 1},
             {32768, 1, 1, 1},   {32769, 1, 1, 1},       {1, 32768, 1, 1},  {1, 32769, 1, 1},
             {1, 1, 2048, 1},    {1, 1, 2049, 1},        {0, 64, 6, 1},     {64, 64, 5, 4},
             {64, 64, 6, 4},     {64, 64, 7, 4},         {64, 64, 12, 4},   {64, 32, 6, 4},
             {32, 64, 6, 4},     {64, 0, 6, 4},          {0, 0, 6, 4},      {0, 64, 6, 4},
             {64, 64, 0, 4},     {64, 64, 1, 4},         {1, 1, 6, 4},      {3, 3, 6, 4},
             {64, 64, 5, 5},     {64, 64, 6, 5},         {64, 64, 7, 5},    {64, 64, 12, 5},
             {64, 32, 12, 5},    {64, 0, 12, 5},         {64, 64, 0, 5},    {1, 1, 2046, 5},
             {1, 1, 2048, 5},    {1, 1, 2052, 5},        {32768, 0, 0, 2},  {32769, 0, 0, 2},
             {131072, 0, 0, 2},  {32768, 1, 0, 2},       {65536, 1, 0, 2},  {131072, 1, 0, 2},
             {131073, 1, 0, 2},  {1, 65536, 0, 2},       {1, 65537, 0, 2},  {16384, 1, 1, 2},
             {16385, 1, 1, 2},   {1, 0, 2048, 3},        {1, 0, 2049, 3},   {1, 1, 2048, 3},
             {1, 1, 2049, 3},    {32768, 1, 0, 8},       {32769, 1, 0, 8},  {1, 32768, 0, 8},
             {1, 32769, 0, 8},   {64, 64, 6, 9},         {64, 64, 6, 12},   {64, 0, 0, 8},
             {64, 64, 8, 8}};
    for (int i = 0; i < N(v); i += 3)
        SC("%llxx%llxx%llx-%x", v[i].w, v[i].h, v[i].d, v[i].fl)
        for (int k = i; k < i + 3 && k < N(v); k++)
        {
            if (k > i)
                OUT(" ; %llxx%llxx%llx-%x", v[k].w, v[k].h, v[k].d, v[k].fl);
            try_mip("one", m, md(0, v[k].w, v[k].h, v[k].d, U8, 1, v[k].fl, 1));
            if (v[k].w > 1 || v[k].h > 1 || (v[k].d > 1 && !(v[k].fl & 5)))
                try_mip("two", m, md(0, v[k].w, v[k].h, v[k].d, U8, 1, v[k].fl, 2));
        }
}
GROUP(mip_flags)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    static const struct {
        const char *n;
        size_t w, h, d;
    } sh[] = {{"1d", 64, 0, 0},   {"2d", 64, 64, 0},   {"3d", 64, 64, 8},
              {"1dx6", 64, 0, 6}, {"2dx6", 64, 64, 6}, {"2dx12", 64, 64, 12}};
#define FLAGS(fl)                                                                                  \
    for (int s = 0; s < N(sh); s++) {                                                              \
        try_mip(sh[s].n, m, md(0, sh[s].w, sh[s].h, sh[s].d, U8, 4, fl, 1));                       \
    }                                                                                              \
    try_mip("f32", m, md(0, 64, 64, 0, F32, 1, fl, 1));                                            \
    try_mip("u16", m, md(0, 64, 64, 0, 2, 1, fl, 1));                                              \
    try_mip("mips", m, md(0, 64, 64, 0, U8, 4, fl, 3));
    for (int b = 0; b < 17; b++)
        SC("flag-%x",
           1u << b){FLAGS(1u << b)} SC("flag-80000000"){FLAGS(0x80000000u)} SC("flag-ffffffff")
        {
            FLAGS(~0u)
        }
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            SC("flags-%x", 1u << i | 1u << j)
            {
                FLAGS(1u << i | 1u << j)
            }
    static const unsigned tri[] = {7, 0x0d, 0x15, 0x25, 0x45, 0x85, 0x0b, 0x23, 0x32, 0xc2, 0x1ff};
    for (int i = 0; i < N(tri); i++)
        SC("flags-%x", tri[i])
        {
            FLAGS(tri[i])
        }
}
static const struct {
    const char *n;
    size_t w, h, d;
    unsigned fl, max;
} lv_shape[] = {
    {"1d", 100, 0, 0, 0, 7},          {"2d", 64, 64, 0, 0, 7},         {"2d-wide", 100, 3, 0, 0, 7},
    {"2d-one", 1, 1, 0, 0, 1},        {"3d-deep", 16, 8, 64, 0, 7},    {"3d-odd", 5, 5, 5, 0, 3},
    {"1d-layers", 100, 0, 300, 1, 7}, {"2d-layers", 16, 16, 64, 1, 5}, {"cube", 64, 64, 6, 4, 7},
    {"cubes", 16, 16, 12, 5, 5},      {"surface", 64, 64, 0, 2, 7}};
GROUP(mip_levels)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    for (int i = 0; i < N(lv_shape); i++)
        for (unsigned n = 1; n <= lv_shape[i].max; n++)
            if (n == 1 || n == 3 || n == lv_shape[i].max)
                SC("%s-%u", lv_shape[i].n, n)
                {
                    CUmipmappedArray mm;
                    if (say("r", map_mip(&mm, m,
                                         md(0, lv_shape[i].w, lv_shape[i].h, lv_shape[i].d, U8, 4,
                                            lv_shape[i].fl, n))))
                        continue;
                    for (unsigned l = 0; l < n + 2; l++) {
                        CUarray a = JUNK, b = 0;
                        const char *s = L("%u", l);
                        if (say(s, cuMipmappedArrayGetLevel(&a, mm, l))) {
                            OUT(" out=%s", Z(a));
                            continue;
                        }
                        desc3(a);
                        CUDA_ARRAY_DESCRIPTOR d;
                        memset(&d, 0xEE, sizeof d);
                        CUresult r = cuArrayGetDescriptor(&d, a);
                        if (r)
                            say("2d", r);
                        else
                            OUT("[%zux%zu f%x c%u]", d.Width, d.Height, d.Format, d.NumChannels);
                        cuMipmappedArrayGetLevel(&b, mm, l);
                        if (a != b)
                            OUT(" new-handle");
                    }
                    say("destroy", cuMipmappedArrayDestroy(mm));
                }
    CUmipmappedArray mm = 0;
    map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, 7));
    CUarray a = JUNK;
    CUdevice dev;
    MUST(cuDeviceGet(&dev, 0));
    SC("getlevel-nulls")
    {
        say("out", cuMipmappedArrayGetLevel(0, mm, 0));
        say("mip", cuMipmappedArrayGetLevel(&a, 0, 0));
        OUT(" out=%s", Z(a));
        say("both", cuMipmappedArrayGetLevel(0, 0, 0));
        say("out+range", cuMipmappedArrayGetLevel(0, mm, 99));
        say("mip+range", cuMipmappedArrayGetLevel(&a, 0, 99));
    }
    SC("getlevel-far")
    {
        static const unsigned far[] = {7, 8, 255, 0x7fffffff, 0x80000000u, ~0u};
        for (int i = 0; i < N(far); i++) {
            CUarray b = JUNK;
            SAY(cuMipmappedArrayGetLevel(&b, mm, far[i]), "%x", far[i]);
            OUT("/%s", Z(b));
        }
    }
    SC("descriptor-nulls")
    {
        CUarray b = level_of(mm, 0);
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUDA_ARRAY_DESCRIPTOR e;
        say("3d-out", cuArray3DGetDescriptor(0, b));
        say("3d-array", cuArray3DGetDescriptor(&d, 0));
        say("3d-both", cuArray3DGetDescriptor(0, 0));
        say("2d-out", cuArrayGetDescriptor(0, b));
        say("2d-array", cuArrayGetDescriptor(&e, 0));
        say("2d-both", cuArrayGetDescriptor(0, 0));
    }
    SC("requirement-nulls")
    {
        CUarray b = level_of(mm, 0);
        CUDA_ARRAY_MEMORY_REQUIREMENTS q;
        CUDA_ARRAY_SPARSE_PROPERTIES s;
        say("mip-out", cuMipmappedArrayGetMemoryRequirements(0, mm, dev));
        say("mip-null", cuMipmappedArrayGetMemoryRequirements(&q, 0, dev));
        say("mip-device", cuMipmappedArrayGetMemoryRequirements(&q, mm, 99));
        say("array-out", cuArrayGetMemoryRequirements(0, b, dev));
        say("array-null", cuArrayGetMemoryRequirements(&q, 0, dev));
        say("array-device", cuArrayGetMemoryRequirements(&q, b, -1));
        say("sparse-mip-out", cuMipmappedArrayGetSparseProperties(0, mm));
        say("sparse-mip-null", cuMipmappedArrayGetSparseProperties(&s, 0));
        say("sparse-array-out", cuArrayGetSparseProperties(0, b));
        say("sparse-array-null", cuArrayGetSparseProperties(&s, 0));
    }
    for (int i = 0; i < N(lv_shape); i++)
        SC("requirements-%s", lv_shape[i].n)
        {
            CUmipmappedArray t;
            if (say("map", map_mip(&t, m,
                                   md(0, lv_shape[i].w, lv_shape[i].h, lv_shape[i].d, U8, 4,
                                      lv_shape[i].fl, lv_shape[i].max))))
                continue;
            CUarray b = level_of(t, 0), c = level_of(t, lv_shape[i].max - 1);
            CUDA_ARRAY_MEMORY_REQUIREMENTS q;
            CUDA_ARRAY_SPARSE_PROPERTIES s;
            memset(&q, 0, sizeof q);
            if (!say("mip", cuMipmappedArrayGetMemoryRequirements(&q, t, dev)))
                OUT("(%zx,%zx)", q.size, q.alignment);
            memset(&q, 0, sizeof q);
            if (!say("first", cuArrayGetMemoryRequirements(&q, b, dev)))
                OUT("(%zx,%zx)", q.size, q.alignment);
            memset(&q, 0, sizeof q);
            if (!say("last", cuArrayGetMemoryRequirements(&q, c, dev)))
                OUT("(%zx,%zx)", q.size, q.alignment);
            memset(&s, 0, sizeof s);
            if (!say("sparse-mip", cuMipmappedArrayGetSparseProperties(&s, t)))
                OUT("(%ux%ux%u,%u,%llx,%x)", s.tileExtent.width, s.tileExtent.height,
                    s.tileExtent.depth, s.miptailFirstLevel, s.miptailSize, s.flags);
            if (!say("sparse-level", cuArrayGetSparseProperties(&s, b)))
                OUT("(%ux%ux%u)", s.tileExtent.width, s.tileExtent.height, s.tileExtent.depth);
            for (int p = 0; p < 4; p++) {
                CUarray e = JUNK;
                SAY(cuArrayGetPlane(&e, b, p), "plane%d", p);
                if (e != JUNK)
                    OUT(" out=%s", Z(e));
            }
            cuMipmappedArrayDestroy(t);
        }
    static const unsigned planar[] = {0x9f, 0xa1, 0xa2, 0xa3, 0xb0, 0xb2, 0xb3, 0xb4, 0xb5};
    for (int i = 0; i < N(planar); i++)
        SC("planes-%x", planar[i])
        {
            CUmipmappedArray t;
            if (say("map", map_mip(&t, m, md(0, 64, 64, 0, planar[i], 3, 0, 1))) &&
                say("map-surface", map_mip(&t, m, md(0, 64, 64, 0, planar[i], 3, 2, 1))))
                continue;
            CUarray b = level_of(t, 0);
            desc3(b);
            for (int p = 0; p < 4; p++) {
                CUarray e = JUNK;
                const char *l = L("plane%d", p);
                if (!say(l, cuArrayGetPlane(&e, b, p)))
                    desc3(e);
            }
            say("destroy", cuMipmappedArrayDestroy(t));
        }
    SC("plane-nulls")
    {
        CUarray b = level_of(mm, 0), e;
        say("out", cuArrayGetPlane(0, b, 0));
        say("array", cuArrayGetPlane(&e, 0, 0));
        say("99", cuArrayGetPlane(&e, b, 99));
    }
}
// level counts that no chain has: the driver may corrupt its own memory, so each has a process to
// itself
GROUP(mip_levels_bad)
{
    static const int pick[] = {0, 1, 3, 4, 7, 8};
    for (int k = 0; k < N(pick); k++) {
        const typeof(*lv_shape) *s = &lv_shape[pick[k]];
        unsigned n[] = {0, s->max + 1, s->max + 2, 33, 0x7fffffff, ~0u};
        for (int i = 0; i < (k < 2 ? 6 : 4); i++)
            ISO("%s-%x", s->n, n[i])
            {
                probe_ctx();
                CUexternalMemory m = probe_extmem(BIG);
                CUmipmappedArray mm = JUNK;
                MipDesc d = md(0, s->w, s->h, s->d, U8, 4, s->fl, n[i]);
                CUresult r = say("r", cuExternalMemoryGetMappedMipmappedArray(&mm, m, &d));
                OUT(" out=%s", Z(mm));
                if (!r) {
                    CUarray a = JUNK;
                    if (!say("level0", cuMipmappedArrayGetLevel(&a, mm, 0)))
                        desc3(a);
                    if (n[i] && n[i] < 64 &&
                        !say("last", cuMipmappedArrayGetLevel(&a, mm, n[i] - 1)))
                        desc3(a);
                    say("destroy", cuMipmappedArrayDestroy(mm));
                }
                say("again", map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, 7)));
            }
    }
}

// ---- the same memory as array and as bytes ----
GROUP(mip_content)
{
    CUcontext ctx = probe_ctx();
    (void)ctx;
    CUexternalMemory m = probe_extmem(SIZE);
    CUdeviceptr raw = buf_of(m, 0, SIZE);
    CUdevice dev;
    MUST(cuDeviceGet(&dev, 0));
    static const struct {
        const char *n;
        size_t w, h, d;
        int f;
        unsigned c, fl, lv;
    } v[] = {{"1d", 1000, 0, 0, 1, 4, 0, 1},       {"2d", 64, 64, 0, 1, 4, 0, 7},
             {"2d-odd", 77, 33, 0, 2, 2, 0, 6},    {"3d", 20, 30, 10, 0x20, 1, 0, 4},
             {"layers", 40, 24, 5, 0x10, 4, 1, 4}, {"cube", 32, 32, 6, 3, 1, 4, 6},
             {"wide", 64, 64, 0, 0x20, 4, 2, 3},   {"byte", 130, 70, 0, 8, 1, 0, 8}};
    for (int i = 0; i < N(v); i++) {
        SC("array-to-raw-%s", v[i].n)
        {
            MUST(cuMemsetD8(raw, 0, SIZE));
            CUmipmappedArray mm;
            if (say("map",
                    map_mip(&mm, m,
                            md(0, v[i].w, v[i].h, v[i].d, v[i].f, v[i].c, v[i].fl, v[i].lv))))
                continue;
            for (unsigned l = 0; l < v[i].lv; l++) {
                CUresult r = array_fill(level_of(mm, l), l);
                if (r)
                    say("fill", r);
            }
            cuCtxSynchronize();
            OUT(" raw=%016llx", sum_of(raw, SIZE));
            say("destroy", cuMipmappedArrayDestroy(mm));
            OUT(" kept=%016llx", sum_of(raw, SIZE));
        }
        SC("raw-to-array-%s", v[i].n)
        {
            MUST(put_pattern(raw, SIZE, 77));
            CUmipmappedArray mm;
            if (say("map",
                    map_mip(&mm, m,
                            md(0, v[i].w, v[i].h, v[i].d, v[i].f, v[i].c, v[i].fl, v[i].lv))))
                continue;
            for (unsigned l = 0; l < v[i].lv; l++)
                OUT(" %016llx", array_sum(level_of(mm, l)));
            MUST(cuMipmappedArrayDestroy(mm));
            OUT(" raw-kept=%016llx", sum_of(raw, SIZE));
        }
    }
    SC("mapped-twice")
    {
        MipDesc d = md(65536, 64, 64, 0, U8, 4, 0, 7);
        CUmipmappedArray p = mip_of(m, d), q = mip_of(m, d);
        CUarray a = level_of(p, 2), b = level_of(q, 2);
        OUT("same-mip=%d same-level=%d", p == q, a == b);
        say("fill", array_fill(a, 3));
        OUT(" same=%d", array_sum(a) == array_sum(b));
        say("fill", array_fill(b, 4));
        OUT(" same=%d", array_sum(a) == array_sum(b));
        say("destroy", cuMipmappedArrayDestroy(p));
        OUT(" kept=%016llx", array_sum(b));
        say("destroy", cuMipmappedArrayDestroy(q));
    }
    SC("mapped-at-two-offsets")
    {
        CUmipmappedArray p = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 1)),
                         q = mip_of(m, md(65536, 64, 64, 0, U8, 4, 0, 1));
        CUarray a = level_of(p, 0), b = level_of(q, 0);
        array_fill(a, 1);
        array_fill(b, 2);
        OUT("a=%016llx b=%016llx", array_sum(a), array_sum(b));
        MUST(cuMemcpyDtoD(raw + 65536, raw, 65536));
        MUST(cuCtxSynchronize());
        OUT(" copied=%d", array_sum(a) == array_sum(b));
        cuMipmappedArrayDestroy(p);
        cuMipmappedArrayDestroy(q);
    }
    SC("two-formats-one-place")
    {
        CUmipmappedArray p = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 1)), q;
        if (!say("float", map_mip(&q, m, md(0, 64, 64, 0, F32, 1, 0, 1)))) {
            array_fill(level_of(p, 0), 6);
            OUT(" same=%d", array_sum(level_of(p, 0)) == array_sum(level_of(q, 0)));
            cuMipmappedArrayDestroy(q);
        }
        if (!say("wide", map_mip(&q, m, md(0, 16, 64, 0, U32, 4, 0, 1)))) {
            OUT(" same=%d sum=%016llx", array_sum(level_of(p, 0)) == array_sum(level_of(q, 0)),
                array_sum(level_of(q, 0)));
            cuMipmappedArrayDestroy(q);
        }
        if (!say("surface", map_mip(&q, m, md(0, 64, 64, 0, U8, 4, 2, 1)))) {
            OUT(" same=%d", array_sum(level_of(p, 0)) == array_sum(level_of(q, 0)));
            cuMipmappedArrayDestroy(q);
        }
        if (!say("colour", map_mip(&q, m, md(0, 64, 64, 0, U8, 4, 0x20, 1)))) {
            OUT(" same=%d", array_sum(level_of(p, 0)) == array_sum(level_of(q, 0)));
            cuMipmappedArrayDestroy(q);
        }
        cuMipmappedArrayDestroy(p);
    }
    SC("buffer-over-array")
    {
        CUmipmappedArray p = mip_of(m, md(65536, 64, 64, 0, U8, 4, 0, 1));
        CUdeviceptr b = buf_of(m, 65536, 65536);
        array_fill(level_of(p, 0), 9);
        cuCtxSynchronize();
        OUT("bytes=%016llx", sum_of(b, 65536));
        say("set", cuMemsetD8(b, 0x3c, 65536));
        cuCtxSynchronize();
        OUT(" array=%016llx", array_sum(level_of(p, 0)));
        say("free", cuMemFree(b));
        OUT(" array=%016llx", array_sum(level_of(p, 0)));
        say("destroy", cuMipmappedArrayDestroy(p));
    }
    SC("level-kept-across-map")
    {
        CUmipmappedArray p = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        array_fill(level_of(p, 6), 2);
        u64 s = array_sum(level_of(p, 6));
        MUST(cuMipmappedArrayDestroy(p));
        p = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        OUT("kept=%d", array_sum(level_of(p, 6)) == s);
        cuMipmappedArrayDestroy(p);
    }
    SC("fewer-levels-same-place")
    {
        CUmipmappedArray p = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        for (int l = 0; l < 7; l++)
            array_fill(level_of(p, l), l);
        for (unsigned n = 1; n < 7; n++) {
            CUmipmappedArray q;
            if (map_mip(&q, m, md(0, 64, 64, 0, U8, 4, 0, n)))
                continue;
            int ok = 0;
            for (unsigned l = 0; l < n; l++)
                ok += array_sum(level_of(q, l)) == array_sum(level_of(p, l));
            OUT("%s%u:%d", n > 1 ? " " : "", n, ok);
            cuMipmappedArrayDestroy(q);
        }
        cuMipmappedArrayDestroy(p);
    }
    SC("many-mips")
    {
        CUmipmappedArray mm[64];
        int ok = 0, fr = 0;
        for (int i = 0; i < 64; i++)
            ok += map_mip(&mm[i], m, md(i * 65536ull, 64, 64, 0, U8, 4, 0, 7)) == 0;
        for (int i = 0; i < 64; i++)
            if (mm[i])
                fr += cuMipmappedArrayDestroy(mm[i]) == 0;
        OUT("mapped=%d destroyed=%d", ok, fr);
    }
    SC("thousand-cycles")
    {
        int ok = 0;
        for (int i = 0; i < 1000; i++) {
            CUmipmappedArray mm;
            if (!map_mip(&mm, m, md((i % 60) * 65536ull, 64, 64, 0, U8, 4, 0, 7)))
                ok += cuMipmappedArrayDestroy(mm) == 0;
        }
        OUT("ok=%d", ok);
    }
    SC("copy-beyond-level")
    {
        CUmipmappedArray mm = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        static unsigned char h[65536];
        CUDA_MEMCPY2D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = h;
        c.srcPitch = 512;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = level_of(mm, 1);
        c.WidthInBytes = 128;
        c.Height = 32;
        say("exact", cuMemcpy2D(&c));
        c.Height = 33;
        say("row", cuMemcpy2D(&c));
        c.Height = 32;
        c.WidthInBytes = 132;
        say("column", cuMemcpy2D(&c));
        c.WidthInBytes = 126;
        say("half-element", cuMemcpy2D(&c));
        c.WidthInBytes = 128;
        c.dstXInBytes = 4;
        say("x", cuMemcpy2D(&c));
        c.dstXInBytes = 2;
        c.WidthInBytes = 4;
        say("x-half", cuMemcpy2D(&c));
        c.dstXInBytes = 0;
        c.dstY = 1;
        say("y", cuMemcpy2D(&c));
        cuMipmappedArrayDestroy(mm);
    }
    SC("map-array-async")
    {
        CUmipmappedArray mm = mip_of(m, md(0, 64, 64, 0, U8, 4, 0, 7));
        CUarrayMapInfo i;
        memset(&i, 0, sizeof i);
        i.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        i.resource.mipmap = mm;
        i.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
        i.subresource.sparseLevel.extentWidth = 64;
        i.subresource.sparseLevel.extentHeight = 64;
        i.subresource.sparseLevel.extentDepth = 1;
        i.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
        i.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
        i.deviceBitMask = 1;
        say("unmap", cuMemMapArrayAsync(&i, 1, 0));
        cuMipmappedArrayDestroy(mm);
    }
}

// ---- textures and surfaces over mapped arrays ----
static CUDA_RESOURCE_DESC res_level(CUarray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = a;
    return r;
}
static CUDA_RESOURCE_DESC res_mip(CUmipmappedArray a)
{
    CUDA_RESOURCE_DESC r;
    memset(&r, 0, sizeof r);
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.res.mipmap.hMipmappedArray = a;
    return r;
}
static CUDA_TEXTURE_DESC tex_desc(int addr, int filter, int mip, unsigned flags)
{
    CUDA_TEXTURE_DESC t;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < 3; i++)
        t.addressMode[i] = addr;
    t.filterMode = filter;
    t.mipmapFilterMode = mip;
    t.flags = flags;
    t.maxMipmapLevelClamp = 6;
    return t;
}
// create, ask for the three descriptors back, destroy; `+` when all come back as given
static CUresult try_tex(const char *label, CUDA_RESOURCE_DESC rd, CUDA_TEXTURE_DESC td,
                        const CUDA_RESOURCE_VIEW_DESC *vd)
{
    CUtexObject t = (CUtexObject)JUNK;
    CUresult r = say(label, cuTexObjectCreate(&t, &rd, &td, vd));
    if (r) {
        if (t != (CUtexObject)JUNK)
            OUT(" out=%s", Z((void *)t));
        return r;
    }
    CUDA_RESOURCE_DESC ro;
    CUDA_TEXTURE_DESC to;
    CUDA_RESOURCE_VIEW_DESC vo;
    memset(&ro, 0, sizeof ro);
    memset(&to, 0, sizeof to);
    memset(&vo, 0xEE, sizeof vo);
    CUresult q;
    if ((q = cuTexObjectGetResourceDesc(&ro, t)))
        say("resource", q);
    else
        OUT("%s", ro.resType == rd.resType && ro.flags == rd.flags &&
                          ro.res.array.hArray == rd.res.array.hArray
                      ? "+"
                      : "(resource-differs)");
    if ((q = cuTexObjectGetTextureDesc(&to, t)))
        say("texture", q);
    else if (!memcmp(&to, &td, sizeof td))
        OUT("+");
    else
        OUT("(a%d,%d,%d f%d F%x n%u m%d %g %g %g)", to.addressMode[0], to.addressMode[1],
            to.addressMode[2], to.filterMode, to.flags, to.maxAnisotropy, to.mipmapFilterMode,
            to.mipmapLevelBias, to.minMipmapLevelClamp, to.maxMipmapLevelClamp);
    if ((q = cuTexObjectGetResourceViewDesc(&vo, t))) {
        if (vd || q != CUDA_ERROR_INVALID_VALUE)
            say("view", q);
        else
            OUT("-");
    } else if (vd && !memcmp(vd, &vo, sizeof vo))
        OUT("+");
    else
        OUT("(v%x %zux%zux%zu l%u-%u y%u-%u)", vo.format, vo.width, vo.height, vo.depth,
            vo.firstMipmapLevel, vo.lastMipmapLevel, vo.firstLayer, vo.lastLayer);
    if ((q = cuTexObjectDestroy(t)))
        say("destroy", q);
    return r;
}
GROUP(textures)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    static const struct {
        const char *n;
        size_t w, h, d;
        int f;
        unsigned c, fl, lv;
    } v[] = {{"u8x4", 64, 64, 0, 1, 4, 0, 7},     {"f32", 64, 64, 0, 0x20, 1, 0, 7},
             {"half4", 64, 64, 0, 0x10, 4, 2, 7}, {"u32x2", 64, 64, 0, 3, 2, 0, 7},
             {"1d", 64, 0, 0, 1, 4, 0, 7},        {"3d", 64, 64, 64, 1, 4, 0, 7},
             {"layers", 64, 64, 6, 1, 4, 1, 7},   {"cube", 64, 64, 6, 1, 4, 4, 7},
             {"cubes", 64, 64, 12, 1, 4, 5, 7},   {"gather", 64, 64, 0, 1, 4, 8, 1}};
    CUmipmappedArray mm[N(v)];
    CUarray l0[N(v)];
    for (int i = 0; i < N(v); i++) {
        l0[i] = 0;
        if (!map_mip(&mm[i], m,
                     md(i * 4 * MIB, v[i].w, v[i].h, v[i].d, v[i].f, v[i].c, v[i].fl, v[i].lv)))
            cuMipmappedArrayGetLevel(&l0[i], mm[i], 0);
    }
    // every filter and mip filter, for each address mode
    for (int i = 0; i < N(v); i++)
        for (int a = 0; a < 5; a++)
            if (i < 2 || a == 1) {
                SC("%s-address%d", v[i].n, a)
                for (int f = 0; f < 3; f++) for (int p = 0; p < 3; p++)
                {
                    try_tex(L("%d%d", f, p), res_level(l0[i]), tex_desc(a, f, p, 0), 0);
                    try_tex("mip", res_mip(mm[i]), tex_desc(a, f, p, 2), 0);
                }
            }
    static const unsigned fl[] = {0,    1,    2,    3,    4,    8,    0x10,
                                  0x12, 0x20, 0x40, 0x42, 0x80, 0x73, 0x80000000u};
    for (int k = 0; k < N(fl); k++)
        SC("flags-%x", fl[k])
        {
            for (int i = 0; i < N(v); i++) {
                try_tex(v[i].n, res_level(l0[i]), tex_desc(1, 0, 0, fl[k]), 0);
                try_tex("mip", res_mip(mm[i]), tex_desc(1, 0, 0, fl[k]), 0);
            }
            for (int i = 0; i < 4; i++) {
                try_tex(L("linear-%s", v[i].n), res_level(l0[i]), tex_desc(1, 1, 0, fl[k]), 0);
                try_tex("mip", res_mip(mm[i]), tex_desc(1, 1, 1, fl[k]), 0);
            }
        }
    for (unsigned q = 0; q < 0x26; q += 2)
        SC("view-format-%02x", q) for (unsigned k = q; k < q + 2; k++) for (int i = 0; i < 4; i++)
        {
            CUDA_RESOURCE_VIEW_DESC w;
            memset(&w, 0, sizeof w);
            int bc = k >= 0x19 && k <= 0x22;
            w.format = k;
            w.width = w.height = bc ? 256 : 64;
            w.lastMipmapLevel = 6;
            try_tex(L("%02x-%s", k, v[i].n), res_mip(mm[i]), tex_desc(1, 0, 0, 2), &w);
            w.lastMipmapLevel = 0;
            try_tex("level", res_level(l0[i]), tex_desc(1, 0, 0, 2), &w);
        }
    static const struct {
        const char *n;
        int i;
        size_t w, h, d;
        unsigned f0, f1, y0, y1;
    } vw[] = {
        {"exact", 0, 64, 64, 0, 0, 6, 0, 0},          {"width0", 0, 0, 64, 0, 0, 6, 0, 0},
        {"smaller", 0, 32, 32, 0, 0, 5, 0, 0},        {"larger", 0, 128, 128, 0, 0, 6, 0, 0},
        {"depth1", 0, 64, 64, 1, 0, 6, 0, 0},         {"from1", 0, 64, 64, 0, 1, 6, 0, 0},
        {"from1-half", 0, 32, 32, 0, 1, 6, 0, 0},     {"one-level", 0, 64, 64, 0, 3, 3, 0, 0},
        {"reversed", 0, 64, 64, 0, 3, 2, 0, 0},       {"level-beyond", 0, 64, 64, 0, 0, 7, 0, 0},
        {"layer", 0, 64, 64, 0, 0, 6, 0, 1},          {"layers-all", 6, 64, 64, 6, 0, 6, 0, 5},
        {"layers-depth0", 6, 64, 64, 0, 0, 6, 0, 5},  {"layers-some", 6, 64, 64, 6, 0, 6, 1, 3},
        {"layers-beyond", 6, 64, 64, 6, 0, 6, 0, 6},  {"layers-reversed", 6, 64, 64, 6, 0, 6, 3, 1},
        {"cube-all", 7, 64, 64, 6, 0, 6, 0, 5},       {"cube-some", 7, 64, 64, 6, 0, 6, 0, 2},
        {"cubes-second", 8, 64, 64, 12, 0, 6, 6, 11}, {"3d", 5, 64, 64, 64, 0, 6, 0, 0},
        {"3d-depth0", 5, 64, 64, 0, 0, 6, 0, 0},      {"1d", 4, 64, 0, 0, 0, 6, 0, 0},
        {"1d-height1", 4, 64, 1, 0, 0, 6, 0, 0}};
    for (int k = 0; k < N(vw); k++)
        SC("view-%s", vw[k].n)
        {
            CUDA_RESOURCE_VIEW_DESC w;
            memset(&w, 0, sizeof w);
            w.width = vw[k].w;
            w.height = vw[k].h;
            w.depth = vw[k].d;
            w.firstMipmapLevel = vw[k].f0;
            w.lastMipmapLevel = vw[k].f1;
            w.firstLayer = vw[k].y0;
            w.lastLayer = vw[k].y1;
            for (int f = 0; f < 2; f++) {
                w.format = f ? CU_RES_VIEW_FORMAT_UINT_4X8 : 0;
                try_tex(f ? "4x8" : "none", res_mip(mm[vw[k].i]), tex_desc(1, 0, 0, 2), &w);
            }
            try_tex("level", res_level(l0[vw[k].i]), tex_desc(1, 0, 0, 2), &w);
        }
    SC("view-reserved")
    {
        CUDA_RESOURCE_VIEW_DESC w;
        memset(&w, 0, sizeof w);
        w.format = CU_RES_VIEW_FORMAT_UINT_4X8;
        w.width = w.height = 64;
        w.lastMipmapLevel = 6;
        w.reserved[0] = 1;
        try_tex("r", res_mip(mm[0]), tex_desc(1, 0, 0, 2), &w);
    }
    SC("anisotropy")
    {
        static const unsigned n[] = {0, 1, 2, 3, 15, 16, 17, 32, ~0u};
        for (int i = 0; i < N(n); i++) {
            CUDA_TEXTURE_DESC t = tex_desc(1, 1, 1, 2);
            t.maxAnisotropy = n[i];
            const char *l = L("%u", n[i]);
            try_tex(l, res_mip(mm[1]), t, 0);
        }
    }
    SC("clamps")
    {
        static const float n[][3] = {{0, 0, 0},   {1, 0, 6},    {-1, 0, 6},
                                     {0, 3, 2},   {0, -1, 6},   {0, 0, 100},
                                     {100, 0, 6}, {-100, 0, 6}, {0, 2.5f, 3.5f}};
        for (int i = 0; i < N(n); i++) {
            CUDA_TEXTURE_DESC t = tex_desc(1, 1, 1, 2);
            t.mipmapLevelBias = n[i][0];
            t.minMipmapLevelClamp = n[i][1];
            t.maxMipmapLevelClamp = n[i][2];
            const char *l = L("%d", i);
            try_tex(l, res_mip(mm[1]), t, 0);
        }
    }
    SC("border")
    {
        CUDA_TEXTURE_DESC t = tex_desc(3, 1, 0, 2);
        for (int i = 0; i < 4; i++)
            t.borderColor[i] = i + 0.5f;
        try_tex("float", res_level(l0[1]), t, 0);
        try_tex("bytes", res_level(l0[0]), t, 0);
    }
    SC("mixed-address-modes")
    {
        CUDA_TEXTURE_DESC t = tex_desc(0, 0, 0, 2);
        t.addressMode[1] = 1;
        t.addressMode[2] = 2;
        try_tex("2d", res_level(l0[0]), t, 0);
        t.addressMode[2] = 9;
        try_tex("unused-bad", res_level(l0[0]), t, 0);
        t.addressMode[1] = 9;
        try_tex("used-bad", res_level(l0[0]), t, 0);
    }
    SC("reserved")
    {
        CUDA_TEXTURE_DESC t = tex_desc(1, 0, 0, 0);
        t.reserved[0] = 1;
        try_tex("texture", res_level(l0[0]), t, 0);
        CUDA_RESOURCE_DESC r = res_level(l0[0]);
        r.flags = 1;
        try_tex("resource-flags", r, tex_desc(1, 0, 0, 0), 0);
        r.flags = 0;
        r.res.reserved.reserved[31] = 1;
        try_tex("resource-tail", r, tex_desc(1, 0, 0, 0), 0);
    }
    SC("resource-types") for (int t = -1; t < 7; t++)
    {
        CUDA_RESOURCE_DESC r = t == 1 ? res_mip(mm[0]) : res_level(l0[0]);
        r.resType = t;
        const char *l = L("%d", t);
        if (t < 2 || t > 3)
            try_tex(l, r, tex_desc(1, 0, 0, 0), 0);
    }
    SC("tex-nulls")
    {
        CUDA_RESOURCE_DESC r = res_level(l0[0]), n = res_level(0), q = res_mip(0);
        CUDA_TEXTURE_DESC t = tex_desc(1, 0, 0, 0);
        CUtexObject o = 0;
        say("out", cuTexObjectCreate(0, &r, &t, 0));
        say("resource", cuTexObjectCreate(&o, 0, &t, 0));
        say("texture", cuTexObjectCreate(&o, &r, 0, 0));
        say("array", cuTexObjectCreate(&o, &n, &t, 0));
        say("mip", cuTexObjectCreate(&o, &q, &t, 0));
        say("get-null", cuTexObjectGetResourceDesc(0, 0));
        say("get-0", cuTexObjectGetResourceDesc(&r, 0));
        say("destroy-0", cuTexObjectDestroy(0));
    }
    SC("same-twice")
    {
        CUDA_RESOURCE_DESC r = res_level(l0[0]);
        CUDA_TEXTURE_DESC t = tex_desc(1, 0, 0, 0);
        CUtexObject o = 0, p = 0;
        say("a", cuTexObjectCreate(&o, &r, &t, 0));
        say("b", cuTexObjectCreate(&p, &r, &t, 0));
        OUT(" same=%d", o == p);
        cuTexObjectDestroy(o);
        cuTexObjectDestroy(p);
    }
    SC("every-level") for (unsigned l = 0; l < 7; l++)
    {
        CUarray a = level_of(mm[0], l);
        try_tex(L("%u", l), res_level(a), tex_desc(1, 0, 0, 0), 0);
    }
}
GROUP(surfaces)
{
    probe_ctx();
    CUexternalMemory m = probe_extmem(BIG);
    static const struct {
        const char *n;
        size_t w, h, d;
        int f;
        unsigned c, fl, lv;
    } v[] = {{"2d", 64, 64, 0, 1, 4, 0, 7},
             {"2d-ldst", 64, 64, 0, 1, 4, 2, 7},
             {"1d-ldst", 64, 0, 0, 1, 4, 2, 7},
             {"3d-ldst", 64, 64, 64, 1, 4, 2, 7},
             {"layers-ldst", 64, 64, 6, 1, 4, 3, 7},
             {"cube-ldst", 64, 64, 6, 1, 4, 6, 7},
             {"cubes-ldst", 64, 64, 12, 1, 4, 7, 7},
             {"cube", 64, 64, 6, 1, 4, 4, 7},
             {"float-ldst", 64, 64, 0, 0x20, 4, 2, 7},
             {"colour", 64, 64, 0, 1, 4, 0x20, 7},
             {"colour-ldst", 64, 64, 0, 1, 4, 0x22, 7},
             {"gather-ldst", 64, 64, 0, 1, 4, 0xa, 1},
             {"unorm-ldst", 64, 64, 0, 0xc2, 4, 2, 1},
             {"bc1-ldst", 64, 64, 0, 0x91, 4, 2, 1}};
    for (int i = 0; i < N(v); i++)
        SC("%s", v[i].n)
        {
            CUmipmappedArray mm;
            if (say("map",
                    map_mip(&mm, m,
                            md(0, v[i].w, v[i].h, v[i].d, v[i].f, v[i].c, v[i].fl, v[i].lv))))
                continue;
            for (unsigned l = 0; l < v[i].lv; l += 3) {
                CUDA_RESOURCE_DESC r = res_level(level_of(mm, l)), o;
                memset(&o, 0, sizeof o);
                CUsurfObject s = (CUsurfObject)JUNK;
                const char *t = L("%u", l);
                if (say(t, cuSurfObjectCreate(&s, &r))) {
                    OUT(" out=%s", Z((void *)s));
                    continue;
                }
                say("get", cuSurfObjectGetResourceDesc(&o, s));
                OUT("(%d,%d)", o.resType, o.res.array.hArray == r.res.array.hArray);
                say("destroy", cuSurfObjectDestroy(s));
            }
            CUDA_RESOURCE_DESC r = res_mip(mm);
            CUsurfObject s;
            say("mip", cuSurfObjectCreate(&s, &r));
            try_tex("texture", res_level(level_of(mm, 0)), tex_desc(1, 0, 0, 0), 0);
            cuMipmappedArrayDestroy(mm);
        }
    SC("arguments")
    {
        CUmipmappedArray mm = mip_of(m, md(0, 64, 64, 0, U8, 4, 2, 7));
        CUDA_RESOURCE_DESC r = res_level(level_of(mm, 0)), n = res_level(0);
        CUsurfObject s = 0;
        say("out", cuSurfObjectCreate(0, &r));
        say("desc", cuSurfObjectCreate(&s, 0));
        say("array", cuSurfObjectCreate(&s, &n));
        r.flags = 1;
        say("flags", cuSurfObjectCreate(&s, &r));
        r.flags = 0;
        for (int t = -1; t < 6; t++)
            if (t) {
                r.resType = t;
                SAY(cuSurfObjectCreate(&s, &r), "type%d", t);
            }
        say("get-null", cuSurfObjectGetResourceDesc(0, 0));
        say("destroy-0", cuSurfObjectDestroy(0));
        cuMipmappedArrayDestroy(mm);
    }
}

// ---- semaphores: arguments, no Vulkan needed ----
static SemDesc sd(int type, int fd, unsigned flags)
{
    SemDesc d;
    memset(&d, 0, sizeof d);
    d.type = type;
    d.handle.fd = fd;
    d.flags = flags;
    return d;
}
static Signal sig(u64 v)
{
    Signal s;
    memset(&s, 0, sizeof s);
    s.params.fence.value = v;
    return s;
}
static Wait wai(u64 v)
{
    Wait s;
    memset(&s, 0, sizeof s);
    s.params.fence.value = v;
    return s;
}
static CUresult try_sem(const char *label, SemDesc d)
{
    Watch w = watch(d.handle.fd);
    CUexternalSemaphore m = JUNK;
    CUresult r = say(label, cuImportExternalSemaphore(&m, &d));
    OUT("/%s/%s", Z(m), fate(w));
    if (!r) {
        say("destroy", cuDestroyExternalSemaphore(m));
        OUT("/%s", fate(w));
    }
    unwatch(w, r != 0);
    return r;
}
static const char *const sem_bad[] = {"out", "desc", "type0", "type2", "fd", "flags", "reserved"};
GROUP(sem_args)
{
    probe_ctx();
    int vmm = probe_vmm_fd(2 * MIB);
    CUexternalSemaphore x = JUNK;
    for (int i = 0; i < 7; i++)
        SC("bad-%s", sem_bad[i])
        for (int j = i; j < 7;
             j++) if ((i != 1 || j == 1) && (j != 1 || i <= 1) && !(i == 2 && j == 3))
        {
            unsigned w = 1u << i | 1u << j;
            Watch v = watch(memfd_create("x", 0));
            SemDesc d = sd(w & 4 ? 0 : w & 8 ? 2 : 1, w & 16 ? -1 : v.fd, w & 32 ? 1 : 0);
            d.reserved[0] = !!(w & 64);
            CUexternalSemaphore s = JUNK;
            CUresult r = say(i == j ? "alone" : L("+%s", sem_bad[j]),
                             cuImportExternalSemaphore(w & 1 ? 0 : &s, w & 2 ? 0 : &d));
            OUT("/%s/%s", Z(s), fate(v));
            unwatch(v, r != 0);
        }
    static const int types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100, -1};
    for (int t = 0; t < N(types); t++)
        SC("type-%d", types[t])
        {
            try_sem("fd-minus1", sd(types[t], -1, 0));
            try_sem("memfd", sd(types[t], memfd_create("x", 0), 0));
            try_sem("flags-1", sd(types[t], -1, 1));
            try_sem("flags-all", sd(types[t], -1, ~0u));
        }
    for (int t = 2; t <= 10; t++)
        if (t != 9)
            SC("type-%d-handles", t)
            {
                SemDesc d = sd(t, 0, 0);
                d.handle.win32.handle = 0;
                say("no-handle", cuImportExternalSemaphore(&x, &d));
                OUT("/%s", Z(x));
                d.handle.win32.name = L"x";
                say("name", cuImportExternalSemaphore(&x, &d));
                d.handle.win32.handle = &d;
                say("both", cuImportExternalSemaphore(&x, &d));
            }
    for (int q = 0; q < K_KINDS; q += 3)
        SC("fd-%s", kind_name[q]) for (int k = q; k < q + 3; k++)
        {
            try_sem(kind_name[k], sd(1, fd_of_kind(k), 0));
            try_sem("timeline", sd(9, fd_of_kind(k), 0));
        }
    SC("fd-vmm")
    {
        try_sem("opaque", sd(1, dup(vmm), 0));
        try_sem("timeline", sd(9, dup(vmm), 0));
    }
    SC("reserved") for (int i = 0; i < 16; i++)
    {
        SemDesc d = sd(1, -1, 0);
        d.reserved[i] = 1;
        try_sem(L("%d", i), d);
    }
    SC("destroy-null") say("r", cuDestroyExternalSemaphore(0));
    Signal s1 = sig(1);
    Wait w1 = wai(1);
    CUexternalSemaphore none = 0;
    SC("signal-none")
    {
        say("nulls", cuSignalExternalSemaphoresAsync(0, 0, 0, 0));
        say("arrays", cuSignalExternalSemaphoresAsync(&none, &s1, 0, 0));
    }
    SC("signal-null-array") say("r", cuSignalExternalSemaphoresAsync(0, &s1, 1, 0));
    SC("signal-null-params") say("r", cuSignalExternalSemaphoresAsync(&none, 0, 1, 0));
    SC("signal-null-both") say("r", cuSignalExternalSemaphoresAsync(0, 0, 1, 0));
    SC("signal-null-element") say("r", cuSignalExternalSemaphoresAsync(&none, &s1, 1, 0));
    SC("wait-none")
    {
        say("nulls", cuWaitExternalSemaphoresAsync(0, 0, 0, 0));
        say("arrays", cuWaitExternalSemaphoresAsync(&none, &w1, 0, 0));
    }
    SC("wait-null-array") say("r", cuWaitExternalSemaphoresAsync(0, &w1, 1, 0));
    SC("wait-null-params") say("r", cuWaitExternalSemaphoresAsync(&none, 0, 1, 0));
    SC("wait-null-both") say("r", cuWaitExternalSemaphoresAsync(0, 0, 1, 0));
    SC("wait-null-element") say("r", cuWaitExternalSemaphoresAsync(&none, &w1, 1, 0));
    SC("graph-nodes")
    {
        CUgraph g;
        CUgraphNode n;
        MUST(cuGraphCreate(&g, 0));
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS sp = {&none, &s1, 0};
        CUDA_EXT_SEM_WAIT_NODE_PARAMS wp = {&none, &w1, 0};
        say("signal-count0", cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, &sp));
        say("wait-count0", cuGraphAddExternalSemaphoresWaitNode(&n, g, 0, 0, &wp));
        sp.numExtSems = wp.numExtSems = 1;
        say("signal-null-element", cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, &sp));
        say("wait-null-element", cuGraphAddExternalSemaphoresWaitNode(&n, g, 0, 0, &wp));
        say("signal-null-params", cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, 0));
        say("wait-null-params", cuGraphAddExternalSemaphoresWaitNode(&n, g, 0, 0, 0));
        say("signal-null-out", cuGraphAddExternalSemaphoresSignalNode(0, g, 0, 0, &sp));
        say("signal-null-graph", cuGraphAddExternalSemaphoresSignalNode(&n, 0, 0, 0, &sp));
        size_t c = 0;
        cuGraphGetNodes(g, 0, &c);
        OUT(" nodes=%zu", c);
        cuGraphDestroy(g);
    }
}
GROUP(sem_handles)
{
    ISO("destroy-junk")
    {
        probe_ctx();
        say("r", cuDestroyExternalSemaphore(JUNK));
    }
    ISO("destroy-zeroed")
    {
        probe_ctx();
        say("r", cuDestroyExternalSemaphore(calloc(1, 65536)));
    }
    ISO("signal-junk")
    {
        probe_ctx();
        CUexternalSemaphore s = JUNK;
        Signal p = sig(1);
        say("r", cuSignalExternalSemaphoresAsync(&s, &p, 1, 0));
    }
    ISO("wait-junk")
    {
        probe_ctx();
        CUexternalSemaphore s = JUNK;
        Wait p = wai(1);
        say("r", cuWaitExternalSemaphoresAsync(&s, &p, 1, 0));
    }
    ISO("signal-junk-stream")
    {
        probe_ctx();
        CUexternalSemaphore s = 0;
        Signal p = sig(1);
        say("r", cuSignalExternalSemaphoresAsync(&s, &p, 1, JUNK));
        say("count0", cuSignalExternalSemaphoresAsync(&s, &p, 0, JUNK));
    }
}

// ---- Vulkan ----
static VkPhysicalDevice vkp;
static VkDevice vkd;
static VkQueue vkq;
static VkCommandPool vkpool;
static uint32_t vk_local = ~0u, vk_host = ~0u;
static char vk_why[64];
static PFN_vkGetMemoryFdKHR get_mem_fd;
static PFN_vkGetSemaphoreFdKHR get_sem_fd;
static PFN_vkWaitSemaphores wait_sems;
static PFN_vkSignalSemaphore signal_sem;
static PFN_vkGetSemaphoreCounterValue counter_of;
static int vk_start(int semaphores)
{
    VkApplicationInfo ai = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                            .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo ici = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &ai};
    VkInstance in;
    VkResult r = vkCreateInstance(&ici, 0, &in);
    if (r) {
        snprintf(vk_why, 64, "vkCreateInstance %d", r);
        return -1;
    }
    VkPhysicalDevice pd[8];
    uint32_t n = 8;
    r = vkEnumeratePhysicalDevices(in, &n, pd);
    if (r < 0 || !n) {
        snprintf(vk_why, 64, "no physical device %d", r);
        return -1;
    }
    vkp = pd[0];
    for (uint32_t i = 0; i < n; i++) {
        VkPhysicalDeviceProperties q;
        vkGetPhysicalDeviceProperties(pd[i], &q);
        if (q.vendorID == 0x10de) {
            vkp = pd[i];
            break;
        }
    }
    static const char *const ex[] = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
    float pr = 1;
    VkPhysicalDeviceTimelineSemaphoreFeatures tl = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = 1};
    VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                 .queueCount = 1,
                                 .pQueuePriorities = &pr};
    VkDeviceCreateInfo dc = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = semaphores ? &tl : 0,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &q,
                             .enabledExtensionCount = 1 + semaphores,
                             .ppEnabledExtensionNames = ex};
    r = vkCreateDevice(vkp, &dc, 0, &vkd);
    if (r) {
        snprintf(vk_why, 64, "vkCreateDevice %d", r);
        return -1;
    }
    vkGetDeviceQueue(vkd, 0, 0, &vkq);
    VkCommandPoolCreateInfo pc = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    vkCreateCommandPool(vkd, &pc, 0, &vkpool);
    VkPhysicalDeviceMemoryProperties mp;
    vkGetPhysicalDeviceMemoryProperties(vkp, &mp);
    VkMemoryPropertyFlags hf =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = mp.memoryTypeCount; i-- > 0;) {
        VkMemoryPropertyFlags f = mp.memoryTypes[i].propertyFlags;
        if (f & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
            vk_local = i;
        if ((f & hf) == hf)
            vk_host = i;
    }
    get_mem_fd = (void *)vkGetDeviceProcAddr(vkd, "vkGetMemoryFdKHR");
    get_sem_fd = (void *)vkGetDeviceProcAddr(vkd, "vkGetSemaphoreFdKHR");
    wait_sems = (void *)vkGetDeviceProcAddr(vkd, "vkWaitSemaphores");
    signal_sem = (void *)vkGetDeviceProcAddr(vkd, "vkSignalSemaphore");
    counter_of = (void *)vkGetDeviceProcAddr(vkd, "vkGetSemaphoreCounterValue");
    if (!get_mem_fd || (semaphores && (!get_sem_fd || !wait_sems || !signal_sem || !counter_of))) {
        snprintf(vk_why, 64, "missing entry points");
        return -1;
    }
    return 0;
}
// exportable memory; its fd, or -1 with the reason said
static int mem_fd(VkDeviceMemory m)
{
    int fd = -1;
    VkMemoryGetFdInfoKHR gi = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                               .memory = m,
                               .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkResult r = get_mem_fd(vkd, &gi, &fd);
    if (r) {
        OUT(" vkGetMemoryFd=%d", r);
        return -1;
    }
    return fd;
}
static VkDeviceMemory vk_alloc(u64 size, uint32_t type, const void *next)
{
    VkExportMemoryAllocateInfo e = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                    .pNext = next,
                                    .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo ma = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                               .pNext = &e,
                               .allocationSize = size,
                               .memoryTypeIndex = type};
    VkDeviceMemory m = 0;
    VkResult r = vkAllocateMemory(vkd, &ma, 0, &m);
    if (r) {
        OUT(" vkAllocateMemory=%d", r);
        return 0;
    }
    return m;
}
static int vk_fd(u64 size)
{
    VkDeviceMemory m = vk_alloc(size, vk_local, 0);
    return m ? mem_fd(m) : -1;
}
static VkBuffer vk_buffer(u64 size)
{
    VkExternalMemoryBufferCreateInfo e = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo bi = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .pNext = &e,
                             .size = size,
                             .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer b = 0;
    vkCreateBuffer(vkd, &bi, 0, &b);
    return b;
}
static VkCommandBuffer cmd_begin(void)
{
    VkCommandBufferAllocateInfo a = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = vkpool,
                                     .commandBufferCount = 1};
    VkCommandBuffer c = 0;
    vkAllocateCommandBuffers(vkd, &a, &c);
    VkCommandBufferBeginInfo b = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vkBeginCommandBuffer(c, &b);
    return c;
}
// submit (no command buffer if 0) with a semaphore to wait for and one to signal, and wait up to 5
// s
static VkResult cmd_end(VkCommandBuffer c, VkSemaphore wait, uint64_t wv, VkSemaphore sign,
                        uint64_t sv, int block)
{
    if (c)
        vkEndCommandBuffer(c);
    VkPipelineStageFlags st = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo ti = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = !!wait,
                                        .pWaitSemaphoreValues = &wv,
                                        .signalSemaphoreValueCount = !!sign,
                                        .pSignalSemaphoreValues = &sv};
    VkSubmitInfo si = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .pNext = &ti,
                       .commandBufferCount = !!c,
                       .pCommandBuffers = &c,
                       .waitSemaphoreCount = !!wait,
                       .pWaitSemaphores = &wait,
                       .pWaitDstStageMask = &st,
                       .signalSemaphoreCount = !!sign,
                       .pSignalSemaphores = &sign};
    VkFenceCreateInfo fi = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence f;
    vkCreateFence(vkd, &fi, 0, &f);
    VkResult r = vkQueueSubmit(vkq, 1, &si, f);
    if (r || !block)
        return r;
    return vkWaitForFences(vkd, 1, &f, 1, 5000000000ull);
}
#define NO_VULKAN(semaphores)                                                                      \
    if (vk_start(semaphores)) {                                                                    \
        CASE("skipped") OUT("%s", vk_why);                                                         \
        return;                                                                                    \
    }
GROUP(vkmem)
{
    NO_VULKAN(0) probe_ctx();
    SC("types") for (int t = 0; t <= 12; t++) try_import(L("%d", t), hd(t, vk_fd(SIZE), SIZE, 0));
    SC("dedicated-flag") try_import("import", hd(1, vk_fd(SIZE), SIZE, 1));
    SC("flags-2") try_import("import", hd(1, vk_fd(SIZE), SIZE, 2));
    SC("whole")
    {
        CUexternalMemory m;
        Watch w = watch(vk_fd(SIZE));
        if (say("import", import_fd(&m, w.fd, SIZE)))
            continue;
        OUT(" fd=%s", fate(w));
        CUdeviceptr p, b;
        size_t z;
        if (!say("map", map_buf(&p, m, 0, SIZE))) {
            say("set", cuMemsetD8(p, 0x3d, SIZE));
            OUT(" read=%d", byte_at(p + SIZE - 1));
            say("range", cuMemGetAddressRange(&b, &z, p + 77));
            OUT("(%lld+%zx) align=%llx", (long long)(p - b), z, pow2(p, 2 * MIB));
            say("past", cuMemsetD8(p, 1, SIZE + 1));
            say("free", cuMemFree(p));
        }
        say("destroy", cuDestroyExternalMemory(m));
        OUT(" fd=%s", fate(w));
        unwatch(w, 0);
    }
    static const u64 z[] = {1,      100, 4096,    65536,       65537,
                            100000, MIB, 2 * MIB, SIZE + 4096, 32 * MIB};
    SC("allocations") for (int i = 0; i < N(z); i++)
    {
        CUexternalMemory m;
        CUdeviceptr p;
        if (SAY(import_fd(&m, vk_fd(z[i]), z[i]), "%llx", z[i]))
            continue;
        if (!say("map", map_buf(&p, m, 0, z[i]))) {
            say("set", cuMemsetD8(p, 0x3e, z[i]));
            say("set+1", cuMemsetD8(p, 0x3e, z[i] + 1));
            cuMemFree(p);
        }
        if (!say("more", map_buf(&p, m, 0, z[i] + 1)))
            cuMemFree(p);
        say("destroy", cuDestroyExternalMemory(m));
    }
    static const u64 im[] = {0,        1,          4096, MIB, SIZE - 1, SIZE + 1, SIZE + 65536,
                             2 * SIZE, 1ull << 40, ~0ull};
    SC("sizes") for (int i = 0; i < N(im); i++)
    {
        CUexternalMemory m;
        CUdeviceptr p;
        if (SAY(import_fd(&m, vk_fd(SIZE), im[i]), "%llx", im[i]))
            continue;
        if (!say("map-4k", map_buf(&p, m, 0, 4096)))
            cuMemFree(p);
        if (!say("map-allocation", map_buf(&p, m, 0, SIZE)))
            cuMemFree(p);
        if (!say("map-all", map_buf(&p, m, 0, im[i])))
            cuMemFree(p);
        say("destroy", cuDestroyExternalMemory(m));
    }
    static const u64 off[] = {1,     16,  256,     512,         4096,     65536,
                              65537, MIB, 2 * MIB, SIZE - 4096, SIZE - 1, SIZE};
    SC("offsets") for (int i = 0; i < N(off); i++)
    {
        CUexternalMemory m = ext_of(vk_fd(SIZE), SIZE);
        CUdeviceptr p, b;
        size_t s;
        if (!SAY(map_buf(&p, m, off[i], 1), "%llx", off[i])) {
            say("range", cuMemGetAddressRange(&b, &s, p));
            OUT("(%lld+%zx) congruent=%llx", (long long)(p - b), s, pow2(p - off[i], 65536));
            cuMemFree(p);
        }
        try_mip("mip", m, md(off[i], 64, 64, 0, U8, 4, 0, 1));
        say("destroy", cuDestroyExternalMemory(m));
    }
    SC("mip-content")
    {
        CUexternalMemory m = ext_of(vk_fd(SIZE), SIZE);
        CUdeviceptr raw = buf_of(m, 0, SIZE);
        MUST(cuMemsetD8(raw, 0, SIZE));
        CUmipmappedArray mm;
        if (!say("map", map_mip(&mm, m, md(65536, 77, 33, 0, U8, 4, 0, 7)))) {
            for (int l = 0; l < 7; l++)
                array_fill(level_of(mm, l), l);
            cuCtxSynchronize();
            OUT(" raw=%016llx", sum_of(raw, SIZE));
            say("destroy", cuMipmappedArrayDestroy(mm));
        }
    }
    SC("exported-twice")
    {
        VkDeviceMemory v = vk_alloc(SIZE, vk_local, 0);
        if (!v)
            continue;
        CUexternalMemory a = ext_of(mem_fd(v), SIZE), b = ext_of(mem_fd(v), SIZE);
        CUdeviceptr p = buf_of(a, 0, SIZE), q = buf_of(b, 0, SIZE);
        OUT("same-handle=%d same-va=%d", a == b, p == q);
        MUST(cuMemsetD8(p, 0x51, SIZE));
        MUST(cuCtxSynchronize());
        OUT(" read=%d", byte_at(q));
        say("free", cuMemFree(p));
        say("destroy", cuDestroyExternalMemory(a));
        OUT(" read=%d", byte_at(q));
        cuMemFree(q);
        cuDestroyExternalMemory(b);
    }
    SC("freed-by-vulkan-first")
    {
        VkDeviceMemory v = vk_alloc(SIZE, vk_local, 0);
        if (!v)
            continue;
        CUexternalMemory m = ext_of(mem_fd(v), SIZE);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(put_pattern(p, SIZE, 3));
        vkFreeMemory(vkd, v, 0);
        OUT("sum=%016llx", sum_of(p, SIZE));
        CUdeviceptr q;
        say("map", map_buf(&q, m, 0, SIZE));
        say("free", cuMemFree(p));
        say("destroy", cuDestroyExternalMemory(m));
    }
    SC("freed-before-import")
    {
        VkDeviceMemory v = vk_alloc(SIZE, vk_local, 0);
        if (!v)
            continue;
        int fd = mem_fd(v);
        vkFreeMemory(vkd, v, 0);
        CUexternalMemory m;
        CUdeviceptr p;
        if (!say("import", import_fd(&m, fd, SIZE)) && !say("map", map_buf(&p, m, 0, SIZE))) {
            say("set", cuMemsetD8(p, 0x52, SIZE));
            OUT(" read=%d", byte_at(p));
        }
    }
    SC("as-vmm-handle")
    {
        CUmemGenericAllocationHandle h;
        say("r", cuMemImportFromShareableHandle(&h, (void *)(intptr_t)vk_fd(SIZE),
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    }
    for (int flag = 0; flag < 2; flag++)
        SC("dedicated-buffer-flags-%d", flag)
        {
            VkBuffer b = vk_buffer(SIZE);
            VkMemoryRequirements q;
            vkGetBufferMemoryRequirements(vkd, b, &q);
            VkMemoryDedicatedAllocateInfo di = {
                .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = b};
            VkDeviceMemory v = vk_alloc(q.size, vk_local, &di);
            if (!v)
                continue;
            vkBindBufferMemory(vkd, b, v, 0);
            HandleDesc d = hd(1, mem_fd(v), q.size, flag);
            CUexternalMemory m;
            CUdeviceptr p;
            if (say("import", cuImportExternalMemory(&m, &d)))
                continue;
            if (!say("map", map_buf(&p, m, 0, SIZE))) {
                say("set", cuMemsetD8(p, 0x53, SIZE));
                cuMemFree(p);
            }
            if (!say("part", map_buf(&p, m, 65536, 65536)))
                cuMemFree(p);
            try_mip("mip", m, md(0, 64, 64, 0, U8, 4, 0, 1));
            say("destroy", cuDestroyExternalMemory(m));
        }
    SC("host-visible")
    {
        if (vk_host == ~0u) {
            OUT("no-type");
            continue;
        }
        VkDeviceMemory v = vk_alloc(SIZE, vk_host, 0);
        if (!v)
            continue;
        unsigned char *h = 0;
        if (vkMapMemory(vkd, v, 0, SIZE, 0, (void **)&h)) {
            OUT(" no-map");
            continue;
        }
        scribble(h, SIZE, 6);
        u64 s = fnv(h, SIZE);
        CUexternalMemory m;
        CUdeviceptr p;
        if (say("import", import_fd(&m, mem_fd(v), SIZE)) || say("map", map_buf(&p, m, 0, SIZE)))
            continue;
        OUT(" cuda-sees=%d", sum_of(p, SIZE) == s);
        say("set", cuMemsetD8(p, 0x54, SIZE));
        say("sync", cuCtxSynchronize());
        OUT(" host-sees=%d", h[0] == 0x54 && h[SIZE - 1] == 0x54);
        int t = -1;
        void *hp = JUNK;
        say("type", cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
        OUT("(%d)", t);
        say("host-pointer", cuPointerGetAttribute(&hp, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
        try_mip("mip", m, md(0, 64, 64, 0, U8, 4, 0, 1));
        say("free", cuMemFree(p));
        say("destroy", cuDestroyExternalMemory(m));
    }
    SC("vulkan-fills")
    {
        VkBuffer b = vk_buffer(SIZE);
        VkMemoryRequirements q;
        vkGetBufferMemoryRequirements(vkd, b, &q);
        VkDeviceMemory v = vk_alloc(q.size, vk_local, 0);
        if (!v)
            continue;
        OUT("bind=%d", vkBindBufferMemory(vkd, b, v, 0));
        CUexternalMemory m = ext_of(mem_fd(v), q.size);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(cuMemsetD8(p, 0, SIZE));
        MUST(cuCtxSynchronize());
        VkCommandBuffer c = cmd_begin();
        vkCmdFillBuffer(c, b, 65536, 65536, 0x5a5a5a5a);
        OUT(" submit=%d", cmd_end(c, 0, 0, 0, 0, 1));
        hits(p, SIZE);
        OUT(" read=%d", byte_at(p + 65536));
        say("free", cuMemFree(p));
    }
    SC("vulkan-copies")
    {
        VkBuffer b = vk_buffer(SIZE);
        VkMemoryRequirements q;
        vkGetBufferMemoryRequirements(vkd, b, &q);
        VkDeviceMemory v = vk_alloc(q.size, vk_local, 0);
        if (!v)
            continue;
        vkBindBufferMemory(vkd, b, v, 0);
        CUexternalMemory m = ext_of(mem_fd(v), q.size);
        CUdeviceptr p = buf_of(m, 0, SIZE);
        MUST(put_pattern(p, SIZE, 12));
        MUST(cuCtxSynchronize());
        VkCommandBuffer c = cmd_begin();
        VkBufferCopy r = {0, 2 * MIB, 2 * MIB};
        vkCmdCopyBuffer(c, b, b, 1, &r);
        OUT("submit=%d", cmd_end(c, 0, 0, 0, 0, 1));
        OUT(" same=%d", sum_of(p, 2 * MIB) == sum_of(p + 2 * MIB, 2 * MIB));
        cuMemFree(p);
    }
    for (int mips = 1; mips <= 7; mips += 6)
        SC("vulkan-clears-image-%d", mips)
        {
            VkExternalMemoryImageCreateInfo e = {
                .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
                .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
            VkImageCreateInfo ii = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .pNext = &e,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UINT,
                                    .extent = {64, 64, 1},
                                    .mipLevels = mips,
                                    .arrayLayers = 1,
                                    .samples = 1,
                                    .tiling = VK_IMAGE_TILING_OPTIMAL,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                             VK_IMAGE_USAGE_SAMPLED_BIT};
            VkImage im;
            VkResult vr = vkCreateImage(vkd, &ii, 0, &im);
            if (vr) {
                OUT("vkCreateImage=%d", vr);
                continue;
            }
            VkMemoryRequirements q;
            vkGetImageMemoryRequirements(vkd, im, &q);
            VkMemoryDedicatedAllocateInfo di = {
                .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = im};
            VkDeviceMemory v = vk_alloc(q.size, vk_local, &di);
            if (!v)
                continue;
            OUT("bind=%d", vkBindImageMemory(vkd, im, v, 0));
            HandleDesc d = hd(1, mem_fd(v), q.size, 1);
            CUexternalMemory m;
            CUmipmappedArray mm;
            if (say("import", cuImportExternalMemory(&m, &d)) ||
                say("map", map_mip(&mm, m, md(0, 64, 64, 0, U8, 4, 0, mips))))
                continue;
            VkCommandBuffer c = cmd_begin();
            VkImageSubresourceRange rg = {VK_IMAGE_ASPECT_COLOR_BIT, 0, mips, 0, 1};
            VkImageMemoryBarrier ba = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                       .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                       .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .image = im,
                                       .subresourceRange = rg};
            vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                 VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, 0, 0, 0, 1, &ba);
            VkClearColorValue cc = {.uint32 = {1, 2, 3, 4}};
            vkCmdClearColorImage(c, im, VK_IMAGE_LAYOUT_GENERAL, &cc, 1, &rg);
            OUT(" submit=%d", cmd_end(c, 0, 0, 0, 0, 1));
            for (int l = 0; l < mips; l++) {
                static unsigned char h[16384];
                memset(h, 0, sizeof h);
                CUarray a = level_of(mm, l);
                size_t n = array_bytes(a), ok = 0;
                if (n > sizeof h || whole(a, h, 0))
                    continue;
                for (size_t i = 0; i < n; i++)
                    ok += h[i] == i % 4 + 1;
                OUT(" %zu/%zu", ok, n);
            }
            say("destroy", cuMipmappedArrayDestroy(mm));
        }
}

// ---- semaphores of Vulkan ----
static VkSemaphore vk_semaphore(int timeline, u64 value)
{
    VkSemaphoreTypeCreateInfo ty = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                    .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                              : VK_SEMAPHORE_TYPE_BINARY,
                                    .initialValue = value};
    VkExportSemaphoreCreateInfo ex = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                      .pNext = &ty,
                                      .handleTypes =
                                          VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreCreateInfo ci = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &ex};
    VkSemaphore s = 0;
    VkResult r = vkCreateSemaphore(vkd, &ci, 0, &s);
    if (r) {
        OUT(" vkCreateSemaphore=%d", r);
        return 0;
    }
    return s;
}
static int sem_fd(VkSemaphore s)
{
    int fd = -1;
    VkSemaphoreGetFdInfoKHR gi = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                  .semaphore = s,
                                  .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkResult r = s ? get_sem_fd(vkd, &gi, &fd) : -1;
    if (r) {
        OUT(" vkGetSemaphoreFd=%d", r);
        return -1;
    }
    return fd;
}
typedef struct {
    VkSemaphore v;
    CUexternalSemaphore c;
} Sem;
static int sem_new(Sem *s, int timeline, u64 value)
{
    s->v = vk_semaphore(timeline, value);
    SemDesc d = sd(timeline ? 9 : 1, sem_fd(s->v), 0);
    CUresult r = cuImportExternalSemaphore(&s->c, &d);
    if (r) {
        say("import", r);
        return -1;
    }
    return 0;
}
static u64 value_of(Sem s)
{
    uint64_t v = ~0ull;
    counter_of(vkd, s.v, &v);
    return v;
}
static VkResult host_wait(Sem s, uint64_t v, u64 ms)
{
    VkSemaphoreWaitInfo w = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                             .semaphoreCount = 1,
                             .pSemaphores = &s.v,
                             .pValues = &v};
    return wait_sems(vkd, &w, ms * 1000000);
}
static VkResult host_signal(Sem s, u64 v)
{
    VkSemaphoreSignalInfo w = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s.v, .value = v};
    return signal_sem(vkd, &w);
}
static CUresult cu_signal(Sem s, u64 v, CUstream st)
{
    Signal p = sig(v);
    return cuSignalExternalSemaphoresAsync(&s.c, &p, 1, st);
}
static CUresult cu_wait(Sem s, u64 v, CUstream st)
{
    Wait p = wai(v);
    return cuWaitExternalSemaphoresAsync(&s.c, &p, 1, st);
}
static CUresult settle(CUstream st, int ms)
{
    CUresult r;
    while ((r = cuStreamQuery(st)) == CUDA_ERROR_NOT_READY && ms-- > 0)
        usleep(1000);
    return r;
}
static CUstream stream_new(void)
{
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}
// Ends a case: a wait that is still pending is released (and said), then the semaphore and the
// streams go.
static void t_done(Sem s, CUstream a, CUstream b)
{
    if (settle(a, 20) == CUDA_ERROR_NOT_READY || settle(b, 20) == CUDA_ERROR_NOT_READY) {
        OUT(" released=%d", host_signal(s, value_of(s) + (1u << 20)));
        settle(a, 3000);
        settle(b, 3000);
    }
    cuDestroyExternalSemaphore(s.c);
    if (a)
        cuStreamDestroy(a);
    if (b)
        cuStreamDestroy(b);
}
static void b_done(Sem s, CUstream a, CUstream b)
{
    if (settle(a, 20) == CUDA_ERROR_NOT_READY) {
        CUstream o = stream_new();
        OUT(" released");
        cu_signal(s, 0, o);
        settle(a, 3000);
        cuStreamDestroy(o);
    }
    cuDestroyExternalSemaphore(s.c);
    if (a)
        cuStreamDestroy(a);
    if (b)
        cuStreamDestroy(b);
}
struct later {
    Sem s;
    u64 v;
};
static void *signal_later(void *a)
{
    struct later *l = a;
    usleep(50000);
    host_signal(l->s, l->v);
    return 0;
}
#define TL(s, v)                                                                                   \
    Sem s;                                                                                         \
    if (sem_new(&s, 1, v))                                                                         \
        continue;
#define BIN(s)                                                                                     \
    Sem s;                                                                                         \
    if (sem_new(&s, 0, 0))                                                                         \
        continue;
GROUP(vksem)
{
    NO_VULKAN(1) probe_ctx();
    SC("types-of-binary")
    for (int t = 0; t <= 12; t++) try_sem(L("%d", t), sd(t, sem_fd(vk_semaphore(0, 0)), 0));
    SC("types-of-timeline")
    for (int t = 0; t <= 12; t++) try_sem(L("%d", t), sd(t, sem_fd(vk_semaphore(1, 3)), 0));
    static const unsigned fl[] = {1, 2, 4, 0x80000000u, ~0u};
    SC("flags") for (int i = 0; i < N(fl); i++)
    {
        try_sem(L("binary-%x", fl[i]), sd(1, sem_fd(vk_semaphore(0, 0)), fl[i]));
        try_sem(L("timeline-%x", fl[i]), sd(9, sem_fd(vk_semaphore(1, 0)), fl[i]));
    }
    SC("reserved")
    {
        SemDesc d = sd(1, sem_fd(vk_semaphore(0, 0)), 0);
        d.reserved[3] = 1;
        try_sem("import", d);
    }
    SC("null-out")
    {
        Watch w = watch(sem_fd(vk_semaphore(1, 0)));
        SemDesc d = sd(9, w.fd, 0);
        CUresult r = say("r", cuImportExternalSemaphore(0, &d));
        OUT(" fd=%s", fate(w));
        unwatch(w, r != 0);
    }
    SC("as-memory") try_import("import", hd(1, sem_fd(vk_semaphore(0, 0)), SIZE, 0));
    SC("timeline-as-memory") try_import("import", hd(1, sem_fd(vk_semaphore(1, 0)), 4096, 0));
    SC("memory-as-semaphore")
    {
        try_sem("binary", sd(1, vk_fd(SIZE), 0));
        try_sem("timeline", sd(9, vk_fd(SIZE), 0));
    }
    // timeline
    SC("t-signal")
    {
        TL(s, 0) say("signal", cu_signal(s, 1, 0));
        say("sync", cuCtxSynchronize());
        OUT(" wait=%d value=%llu", host_wait(s, 1, 5000), value_of(s));
        say("destroy", cuDestroyExternalSemaphore(s.c));
        OUT(" value=%llu", value_of(s));
    }
    static const u64 sv[][3] = {{0, 5, 7},
                                {0, 5, 3},
                                {4, 4, 5},
                                {0, 0, 1},
                                {10, 2, 11},
                                {0, 1ull << 32, (1ull << 32) + 1},
                                {0, 0x7fffffff, 0x80000000u},
                                {0, 1ull << 63, ~0ull}};
    for (int i = 0; i < N(sv); i++)
        SC("t-signal-%llx-%llx-%llx", sv[i][0], sv[i][1], sv[i][2])
        {
            TL(s, sv[i][0]) for (int k = 1; k < 3; k++)
            {
                SAY(cu_signal(s, sv[i][k], 0), "%llx", sv[i][k]);
                say("sync", cuCtxSynchronize());
                OUT(" value=%llx", value_of(s));
            }
            cuDestroyExternalSemaphore(s.c);
        }
    SC("t-wait-reached")
    {
        TL(s, 5) CUstream st = stream_new();
        say("wait-5", cu_wait(s, 5, st));
        say("settle", settle(st, 5000));
        say("wait-1", cu_wait(s, 1, st));
        say("settle", settle(st, 5000));
        say("wait-0", cu_wait(s, 0, st));
        say("settle", settle(st, 5000));
        OUT(" value=%llu", value_of(s));
        t_done(s, st, 0);
    }
    SC("t-wait-then-host-signal")
    {
        TL(s, 0) CUstream st = stream_new();
        say("wait", cu_wait(s, 2, st));
        say("after-100ms", settle(st, 100));
        OUT(" signal-1=%d", host_signal(s, 1));
        say("after-100ms", settle(st, 100));
        OUT(" signal-2=%d", host_signal(s, 2));
        say("settle", settle(st, 5000));
        t_done(s, st, 0);
    }
    SC("t-wait-then-overshoot")
    {
        TL(s, 0) CUstream st = stream_new();
        say("wait", cu_wait(s, 2, st));
        say("after-100ms", settle(st, 100));
        OUT(" signal=%d", host_signal(s, 1000));
        say("settle", settle(st, 5000));
        t_done(s, st, 0);
    }
    SC("t-thread-signals")
    {
        TL(s, 0) CUstream st = stream_new();
        struct later l = {s, 4};
        pthread_t th;
        say("wait", cu_wait(s, 4, st));
        pthread_create(&th, 0, signal_later, &l);
        say("sync", cuStreamSynchronize(st));
        pthread_join(th, 0);
        OUT(" value=%llu", value_of(s));
        t_done(s, st, 0);
    }
    SC("t-host-waits-for-cuda")
    {
        TL(s, 0) CUstream st = stream_new();
        OUT("early=%d", host_wait(s, 1, 20));
        say("signal", cu_signal(s, 1, st));
        OUT(" wait=%d value=%llu", host_wait(s, 1, 5000), value_of(s));
        t_done(s, st, 0);
    }
    SC("t-orders-copies")
    {
        TL(s, 0) CUstream a = stream_new(), b = stream_new();
        CUdeviceptr p, q;
        MUST(cuMemAlloc(&p, MIB));
        MUST(cuMemAlloc(&q, MIB));
        MUST(cuMemsetD8(p, 1, MIB));
        MUST(cuMemsetD8(q, 0, MIB));
        MUST(cuCtxSynchronize());
        say("wait", cu_wait(s, 1, b));
        say("copy", cuMemcpyDtoDAsync(q, p, MIB, b));
        say("pending", settle(b, 50));
        say("set", cuMemsetD8Async(p, 9, MIB, a));
        say("signal", cu_signal(s, 1, a));
        say("settle", settle(b, 5000));
        OUT(" read=%d", byte_at(q + MIB - 1));
        cuMemFree(p);
        cuMemFree(q);
        t_done(s, a, b);
    }
    SC("t-vulkan-queue-signals")
    {
        TL(s, 0) CUstream st = stream_new();
        say("wait", cu_wait(s, 3, st));
        OUT(" submit=%d", cmd_end(0, 0, 0, s.v, 3, 0));
        say("settle", settle(st, 5000));
        OUT(" value=%llu", value_of(s));
        t_done(s, st, 0);
    }
    SC("t-vulkan-queue-waits")
    {
        TL(s, 0) say("signal", cu_signal(s, 3, 0));
        OUT(" submit=%d", cmd_end(0, s.v, 3, 0, 0, 1));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("t-ping-pong")
    {
        TL(s, 0) CUstream st = stream_new();
        int bad = 0;
        for (u64 i = 1; i <= 20; i += 2) {
            bad += cu_signal(s, i, st) != 0;
            bad += cu_wait(s, i + 1, st) != 0;
            bad += host_wait(s, i, 3000) != 0;
            bad += host_signal(s, i + 1) != 0;
            if (bad)
                break;
        }
        OUT("bad=%d", bad);
        say("settle", settle(st, 5000));
        OUT(" value=%llu", value_of(s));
        t_done(s, st, 0);
    }
    SC("t-two-imports")
    {
        VkSemaphore v = vk_semaphore(1, 0);
        Sem s = {v, 0}, t = {v, 0};
        SemDesc d = sd(9, sem_fd(v), 0), e = sd(9, sem_fd(v), 0);
        if (say("a", cuImportExternalSemaphore(&s.c, &d)) ||
            say("b", cuImportExternalSemaphore(&t.c, &e)))
            continue;
        OUT(" same=%d", s.c == t.c);
        say("signal-a", cu_signal(s, 6, 0));
        say("wait-b", cu_wait(t, 6, 0));
        say("settle", settle(0, 5000));
        say("destroy-a", cuDestroyExternalSemaphore(s.c));
        say("signal-b", cu_signal(t, 7, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        say("destroy-b", cuDestroyExternalSemaphore(t.c));
    }
    SC("t-vulkan-destroys-first")
    {
        TL(s, 1) vkDestroySemaphore(vkd, s.v, 0);
        say("signal", cu_signal(s, 2, 0));
        say("settle", settle(0, 5000));
        say("wait", cu_wait(s, 2, 0));
        say("settle", settle(0, 5000));
        say("destroy", cuDestroyExternalSemaphore(s.c));
    }
    SC("t-two-in-one-call")
    {
        TL(s, 0) TL(t, 0) CUexternalSemaphore c[2] = {s.c, t.c};
        Signal p[2] = {sig(3), sig(4)};
        Wait w[2] = {wai(3), wai(4)};
        if (!say("signal", cuSignalExternalSemaphoresAsync(c, p, 2, 0)))
            say("wait", cuWaitExternalSemaphoresAsync(c, w, 2, 0));
        say("settle", settle(0, 5000));
        OUT(" values=%llu,%llu", value_of(s), value_of(t));
        cuDestroyExternalSemaphore(s.c);
        cuDestroyExternalSemaphore(t.c);
    }
    SC("t-one-twice-in-a-call")
    {
        TL(s, 0) CUexternalSemaphore c[2] = {s.c, s.c};
        Signal p[2] = {sig(3), sig(4)};
        say("signal", cuSignalExternalSemaphoresAsync(c, p, 2, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        Signal q[2] = {sig(9), sig(8)};
        say("signal-down", cuSignalExternalSemaphoresAsync(c, q, 2, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("t-second-null")
    {
        TL(s, 0) CUexternalSemaphore c[2] = {s.c, 0};
        Signal p[2] = {sig(3), sig(4)};
        Wait w[2] = {wai(0), wai(0)};
        say("signal", cuSignalExternalSemaphoresAsync(c, p, 2, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        say("wait", cuWaitExternalSemaphoresAsync(c, w, 2, 0));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("t-count0")
    {
        TL(s, 0) Signal p = sig(3);
        Wait w = wai(3);
        say("signal", cuSignalExternalSemaphoresAsync(&s.c, &p, 0, 0));
        say("wait", cuWaitExternalSemaphoresAsync(&s.c, &w, 0, 0));
        say("settle", settle(0, 1000));
        OUT(" value=%llu", value_of(s));
        say("null-params", cuSignalExternalSemaphoresAsync(&s.c, 0, 1, 0));
        say("null-wait-params", cuWaitExternalSemaphoresAsync(&s.c, 0, 1, 0));
        cuDestroyExternalSemaphore(s.c);
    }
    static const unsigned pf[] = {1, 2, 3, 4, 0x80000000u};
    SC("t-param-flags") for (int i = 0; i < N(pf); i++)
    {
        TL(s, 0) Signal p = sig(3);
        p.flags = pf[i];
        SAY(cuSignalExternalSemaphoresAsync(&s.c, &p, 1, 0), "%x", pf[i]);
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        Wait w = wai(0);
        w.flags = pf[i];
        say("wait", cuWaitExternalSemaphoresAsync(&s.c, &w, 1, 0));
        say("settle", settle(0, 5000));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("t-param-reserved")
    {
        TL(s, 0) Signal p = sig(3);
        p.reserved[0] = 1;
        say("signal", cuSignalExternalSemaphoresAsync(&s.c, &p, 1, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        Signal q = sig(4);
        q.params.reserved[0] = 1;
        say("signal-params", cuSignalExternalSemaphoresAsync(&s.c, &q, 1, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        Wait w = wai(0);
        w.reserved[0] = 1;
        say("wait", cuWaitExternalSemaphoresAsync(&s.c, &w, 1, 0));
        say("settle", settle(0, 5000));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("t-other-params-ignored")
    {
        TL(s, 0) Signal p = sig(3);
        p.params.keyedMutex.key = 99;
        p.params.nvSciSync.reserved = ~0ull;
        say("signal", cuSignalExternalSemaphoresAsync(&s.c, &p, 1, 0));
        say("settle", settle(0, 5000));
        Wait w = wai(3);
        w.params.keyedMutex.key = 99;
        w.params.keyedMutex.timeoutMs = 1;
        w.params.nvSciSync.reserved = ~0ull;
        say("wait", cuWaitExternalSemaphoresAsync(&s.c, &w, 1, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(s));
        cuDestroyExternalSemaphore(s.c);
    }
    for (int k = 0; k < 5; k++)
        SC("t-stream-%s", k == 0   ? "null"
                          : k == 1 ? "legacy"
                          : k == 2 ? "per-thread"
                          : k == 3 ? "blocking"
                                   : "non-blocking")
        {
            TL(s, 0) CUstream st = k == 1 ? CU_STREAM_LEGACY : k == 2 ? CU_STREAM_PER_THREAD : 0;
            if (k > 2)
                MUST(cuStreamCreate(&st, k == 4));
            if (!say("signal", cu_signal(s, 1, st)))
                say("wait", cu_wait(s, 1, st));
            say("settle", settle(st, 5000));
            OUT(" value=%llu", value_of(s));
            cuDestroyExternalSemaphore(s.c);
        }
    SC("t-wait-blocks-null-stream")
    {
        TL(s, 0) CUstream st, nb = stream_new();
        MUST(cuStreamCreate(&st, 0));
        CUdeviceptr p;
        MUST(cuMemAlloc(&p, 64));
        MUST(cuCtxSynchronize());
        say("wait", cu_wait(s, 1, 0));
        say("set", cuMemsetD8Async(p, 1, 64, st));
        say("blocking-stream", settle(st, 50));
        say("set", cuMemsetD8Async(p, 1, 64, nb));
        say("non-blocking", settle(nb, 2000));
        OUT(" signal=%d", host_signal(s, 1));
        say("settle", settle(st, 5000));
        t_done(s, st, nb);
        cuMemFree(p);
    }
    SC("t-event-after-wait")
    {
        TL(s, 0) CUstream st = stream_new();
        CUevent e;
        MUST(cuEventCreate(&e, 0));
        say("wait", cu_wait(s, 1, st));
        say("record", cuEventRecord(e, st));
        say("query", cuEventQuery(e));
        OUT(" signal=%d", host_signal(s, 1));
        say("settle", settle(st, 5000));
        say("query", cuEventQuery(e));
        cuEventDestroy(e);
        t_done(s, st, 0);
    }
    SC("t-no-context")
    {
        TL(s, 0) CUcontext c;
        cuCtxGetCurrent(&c);
        cuCtxSetCurrent(0);
        say("signal", cu_signal(s, 1, 0));
        say("wait", cu_wait(s, 0, 0));
        CUexternalSemaphore x = JUNK;
        Watch w = watch(sem_fd(vk_semaphore(1, 0)));
        SemDesc d = sd(9, w.fd, 0);
        CUresult r = say("import", cuImportExternalSemaphore(&x, &d));
        OUT(" out=%s fd=%s", Z(x), fate(w));
        unwatch(w, r != 0);
        say("destroy", cuDestroyExternalSemaphore(s.c));
        cuCtxSetCurrent(c);
    }
    SC("t-captured")
    {
        TL(s, 0) CUstream st = stream_new();
        CUgraph g;
        MUST(cuStreamBeginCapture(st, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        say("signal", cu_signal(s, 5, st));
        say("wait", cu_wait(s, 5, st));
        if (say("end", cuStreamEndCapture(st, &g)))
            continue;
        CUgraphNode n[4];
        size_t k = 4;
        say("nodes", cuGraphGetNodes(g, n, &k));
        OUT("(%zu)", k);
        for (size_t i = 0; i < k; i++) {
            CUgraphNodeType t = -1;
            cuGraphNodeGetType(n[i], &t);
            OUT(" type%d", t);
            if (t == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL) {
                CUDA_EXT_SEM_SIGNAL_NODE_PARAMS p;
                say("get", cuGraphExternalSemaphoresSignalNodeGetParams(n[i], &p));
                OUT("(%u,%d,%llu)", p.numExtSems, p.extSemArray[0] == s.c,
                    p.paramsArray[0].params.fence.value);
            }
            if (t == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT) {
                CUDA_EXT_SEM_WAIT_NODE_PARAMS p;
                say("get", cuGraphExternalSemaphoresWaitNodeGetParams(n[i], &p));
                OUT("(%u,%d,%llu)", p.numExtSems, p.extSemArray[0] == s.c,
                    p.paramsArray[0].params.fence.value);
            }
        }
        OUT(" before=%llu", value_of(s));
        CUgraphExec e;
        if (!say("instantiate", cuGraphInstantiate(&e, g, 0))) {
            say("launch", cuGraphLaunch(e, st));
            say("settle", settle(st, 5000));
            OUT(" value=%llu", value_of(s));
            say("launch", cuGraphLaunch(e, st));
            say("settle", settle(st, 5000));
            OUT(" value=%llu", value_of(s));
            cuGraphExecDestroy(e);
        }
        cuGraphDestroy(g);
        t_done(s, st, 0);
    }
    SC("t-graph-set-params")
    {
        TL(s, 0) CUstream st = stream_new();
        CUgraph g;
        CUgraphNode n;
        MUST(cuGraphCreate(&g, 0));
        Signal p = sig(5), q = sig(8), z = sig(9);
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS a = {&s.c, &p, 1}, b = {&s.c, &q, 1}, c = {&s.c, &z, 1};
        if (say("add", cuGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, &a)))
            continue;
        CUgraphExec e;
        say("set", cuGraphExternalSemaphoresSignalNodeSetParams(n, &b));
        if (!say("instantiate", cuGraphInstantiate(&e, g, 0))) {
            say("launch", cuGraphLaunch(e, st));
            say("settle", settle(st, 5000));
            OUT(" value=%llu", value_of(s));
            say("exec-set", cuGraphExecExternalSemaphoresSignalNodeSetParams(e, n, &c));
            say("launch", cuGraphLaunch(e, st));
            say("settle", settle(st, 5000));
            OUT(" value=%llu", value_of(s));
            cuGraphExecDestroy(e);
        }
        say("set-null", cuGraphExternalSemaphoresSignalNodeSetParams(n, 0));
        CUDA_EXT_SEM_WAIT_NODE_PARAMS w;
        say("get-as-wait", cuGraphExternalSemaphoresWaitNodeGetParams(n, &w));
        cuGraphDestroy(g);
        t_done(s, st, 0);
    }
    // binary
    SC("b-signal-wait")
    {
        BIN(s) if (!say("signal", cu_signal(s, 0, 0))) say("wait", cu_wait(s, 0, 0));
        say("settle", settle(0, 5000));
        if (!say("again", cu_signal(s, 77, 0)))
            say("wait", cu_wait(s, 99, 0));
        say("settle", settle(0, 5000));
        say("destroy", cuDestroyExternalSemaphore(s.c));
    }
    SC("b-vulkan-signals")
    {
        BIN(s) CUstream st = stream_new();
        OUT("submit=%d", cmd_end(0, 0, 0, s.v, 0, 1));
        say("wait", cu_wait(s, 0, st));
        say("settle", settle(st, 5000));
        b_done(s, st, 0);
    }
    SC("b-vulkan-waits")
    {
        BIN(s) say("signal", cu_signal(s, 0, 0));
        OUT(" submit=%d", cmd_end(0, s.v, 0, 0, 0, 1));
        cuDestroyExternalSemaphore(s.c);
    }
    SC("b-wait-first")
    {
        BIN(s) CUstream a = stream_new(), b = stream_new();
        say("wait", cu_wait(s, 0, a));
        say("pending", settle(a, 50));
        say("signal", cu_signal(s, 0, b));
        say("settle", settle(a, 5000));
        b_done(s, a, b);
    }
    SC("b-reset-by-wait")
    {
        BIN(s) CUstream a = stream_new(), b = stream_new();
        say("signal", cu_signal(s, 0, a));
        say("wait", cu_wait(s, 0, a));
        say("settle", settle(a, 5000));
        say("wait-again", cu_wait(s, 0, a));
        say("pending", settle(a, 100));
        say("signal", cu_signal(s, 0, b));
        say("settle", settle(a, 5000));
        b_done(s, a, b);
    }
    SC("b-signalled-twice")
    {
        BIN(s) CUstream a = stream_new(), b = stream_new();
        say("signal", cu_signal(s, 0, a));
        say("signal", cu_signal(s, 0, a));
        say("wait", cu_wait(s, 0, a));
        say("settle", settle(a, 5000));
        say("wait", cu_wait(s, 0, a));
        CUresult r = say("second", settle(a, 100));
        if (r) {
            say("signal", cu_signal(s, 0, b));
            say("settle", settle(a, 5000));
        }
        b_done(s, a, b);
    }
    SC("b-two-imports")
    {
        VkSemaphore v = vk_semaphore(0, 0);
        Sem s = {v, 0}, t = {v, 0};
        SemDesc d = sd(1, sem_fd(v), 0), e = sd(1, sem_fd(v), 0);
        if (say("a", cuImportExternalSemaphore(&s.c, &d)) ||
            say("b", cuImportExternalSemaphore(&t.c, &e)))
            continue;
        say("signal-a", cu_signal(s, 0, 0));
        say("wait-b", cu_wait(t, 0, 0));
        CUresult r = say("settle", settle(0, 2000));
        if (r) {
            CUstream o = stream_new();
            OUT(" released");
            cu_signal(t, 0, o);
            settle(0, 2000);
            cuStreamDestroy(o);
        }
        say("destroy", cuDestroyExternalSemaphore(s.c));
        say("destroy", cuDestroyExternalSemaphore(t.c));
    }
    SC("b-two-in-one-call")
    {
        BIN(s) BIN(t) CUexternalSemaphore c[2] = {s.c, t.c};
        Signal p[2] = {sig(0), sig(0)};
        Wait w[2] = {wai(0), wai(0)};
        if (!say("signal", cuSignalExternalSemaphoresAsync(c, p, 2, 0)))
            say("wait", cuWaitExternalSemaphoresAsync(c, w, 2, 0));
        say("settle", settle(0, 5000));
        cuDestroyExternalSemaphore(s.c);
        cuDestroyExternalSemaphore(t.c);
    }
    SC("b-with-timeline")
    {
        BIN(s) TL(t, 0) CUexternalSemaphore c[2] = {s.c, t.c};
        Signal p[2] = {sig(1), sig(4)};
        Wait w[2] = {wai(1), wai(4)};
        if (!say("signal", cuSignalExternalSemaphoresAsync(c, p, 2, 0)))
            say("wait", cuWaitExternalSemaphoresAsync(c, w, 2, 0));
        say("settle", settle(0, 5000));
        OUT(" value=%llu", value_of(t));
        cuDestroyExternalSemaphore(s.c);
        cuDestroyExternalSemaphore(t.c);
    }
    SC("b-param-flags")
    {
        BIN(s) for (int i = 0; i < N(pf); i++)
        {
            Signal p = sig(0);
            p.flags = pf[i];
            CUresult r = cuSignalExternalSemaphoresAsync(&s.c, &p, 1, 0);
            SAY(r, "signal-%x", pf[i]);
            if (!r) {
                say("wait", cu_wait(s, 0, 0));
                say("settle", settle(0, 5000));
            }
        }
        cuDestroyExternalSemaphore(s.c);
    }
    SC("b-vulkan-destroys-first")
    {
        BIN(s) vkDestroySemaphore(vkd, s.v, 0);
        if (!say("signal", cu_signal(s, 0, 0)))
            say("wait", cu_wait(s, 0, 0));
        say("settle", settle(0, 5000));
        say("destroy", cuDestroyExternalSemaphore(s.c));
    }
}
// what ends with a stale handle: nothing is enqueued after the destruction
GROUP(vksem_stale)
{
    ISO("twice-timeline")
    {
        if (vk_start(1)) {
            OUT("skipped: %s", vk_why);
            continue;
        }
        probe_ctx();
        Sem s;
        if (sem_new(&s, 1, 0))
            continue;
        say("first", cuDestroyExternalSemaphore(s.c));
        say("second", cuDestroyExternalSemaphore(s.c));
    }
    ISO("twice-binary")
    {
        if (vk_start(1)) {
            OUT("skipped: %s", vk_why);
            continue;
        }
        probe_ctx();
        Sem s;
        if (sem_new(&s, 0, 0))
            continue;
        say("first", cuDestroyExternalSemaphore(s.c));
        say("second", cuDestroyExternalSemaphore(s.c));
    }
    ISO("as-memory")
    {
        if (vk_start(1)) {
            OUT("skipped: %s", vk_why);
            continue;
        }
        probe_ctx();
        Sem s;
        if (sem_new(&s, 1, 0))
            continue;
        say("r", cuDestroyExternalMemory((CUexternalMemory)s.c));
    }
    ISO("fd-used-again")
    {
        if (vk_start(1)) {
            OUT("skipped: %s", vk_why);
            continue;
        }
        probe_ctx();
        SemDesc d = sd(9, sem_fd(vk_semaphore(1, 0)), 0);
        CUexternalSemaphore a, b = JUNK;
        say("first", cuImportExternalSemaphore(&a, &d));
        say("second", cuImportExternalSemaphore(&b, &d));
        OUT(" out=%s", Z(b));
    }
}
int main(int argc, char **argv)
{
    if (argc > 1)
        probe_only = argv[1];
    RUN(noinit);
    RUN(noctx);
    RUN(twoctx);
    RUN(import);
    RUN(import_number);
    RUN(import_pair);
    RUN(import_size);
    RUN(import_fd);
    RUN(share);
    RUN(crossproc);
    RUN(destroy);
    RUN(buffer_args);
    RUN(buffer_maps);
    RUN(buffer_use);
    RUN(attributes);
    RUN(buffer_free);
    RUN(mip_args);
    RUN(mip_formats);
    RUN(mip_dims);
    RUN(mip_flags);
    RUN(mip_levels);
    RUN(mip_levels_bad);
    RUN(mip_content);
    RUN(textures);
    RUN(surfaces);
    RUN(sem_args);
    RUN(sem_handles);
    RUN(vkmem);
    RUN(vksem);
    RUN(vksem_stale);
    return 0;
}
