// SPDX-License-Identifier: MIT
// Reservations, physical handles, mappings and access; sharing by descriptor, by IPC handle, by
// dma-buf; and what happens to work that touches memory it may not (each of those in a process of
// its own, groups fault-*). x_vmm [group] runs one group. `--kid what hex` is the other process of
// the sharing cases.
#include "probe.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
extern CUresult one_IpcOpenMemHandle(CUdeviceptr *, CUipcMemHandle,
                                     unsigned) __asm__("cuIpcOpenMemHandle");
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
#define G ((size_t)2 << 20) // the granularity of device memory
#define PAGE ((size_t)4096)
typedef CUmemGenericAllocationHandle H;
static int lowbits(uint64_t v, int most)
{
    int k = 0;
    while (k < most && !(v >> k & 1))
        k++;
    return k;
}
static CUmemAllocationProp props(void)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}
static H mem(size_t n, int types)
{
    CUmemAllocationProp p = props();
    p.requestedHandleTypes = types;
    H h = 0;
    MUST(cuMemCreate(&h, n, &p, 0));
    return h;
}
static CUdeviceptr va(size_t n)
{
    CUdeviceptr p = 0;
    MUST(cuMemAddressReserve(&p, n, 0, 0, 0));
    return p;
}
static CUresult may(CUdeviceptr p, size_t n, int flags)
{
    CUmemAccessDesc d;
    memset(&d, 0, sizeof d);
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.flags = flags;
    return cuMemSetAccess(p, n, &d, 1);
}
static CUdeviceptr whole(size_t n, H h)
{
    CUdeviceptr p = va(n);
    MUST(cuMemMap(p, n, 0, h, 0));
    MUST(may(p, n, 3));
    return p;
}
static void gone(CUdeviceptr p, size_t n, H h)
{
    cuMemUnmap(p, n);
    cuMemAddressFree(p, n);
    if (h)
        cuMemRelease(h);
}
static void put(CUdeviceptr p, size_t n, unsigned seed)
{
    static char t[4 << 20];
    fill(t, n, seed);
    MUST(cuMemcpyHtoD(p, t, n));
}
static void sum(CUdeviceptr p, size_t n)
{
    static char t[4 << 20];
    CUresult r = cuMemcpyDtoH(t, p, n);
    if (r)
        OUT(" sum=%s", R(r));
    else
        OUT(" sum=%08x", f32(t, n));
}
static void acc(CUdeviceptr p)
{
    CUmemLocation d = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned long long f = 77;
    CUresult r = cuMemGetAccess(&f, &d, p);
    if (r)
        OUT(" access=%s", R(r));
    else
        OUT(" access=%llu", f);
}

// Runs this program again as `--kid what hex`, with fd (if any) as its descriptor 60; what it
// prints is added to the line.
static void kid(const char *what, int fd, const void *blob, size_t n)
{
    static char hex[2100], got[3000];
    size_t have = 0;
    int p[2];
    if (n > 1000)
        n = 1000;
    for (size_t i = 0; i < n; i++)
        sprintf(hex + 2 * i, "%02x", ((const unsigned char *)blob)[i]);
    hex[2 * n] = 0;
    char *av[] = {"x", "--kid", (char *)what, hex, 0};
    if (pipe(p)) {
        OUT(" pipe-failed");
        return;
    }
    pid_t c = fork();
    if (!c) {
        dup2(p[1], 1);
        close(p[0]);
        if (fd >= 0)
            dup2(fd, 60);
        execv("/proc/self/exe", av);
        _exit(126);
    }
    close(p[1]);
    ssize_t k;
    while (have < sizeof got - 1 && (k = read(p[0], got + have, sizeof got - 1 - have)) > 0)
        have += k;
    got[have] = 0;
    close(p[0]);
    int st = 0;
    waitpid(c, &st, 0);
    for (size_t i = 0; i < have; i++)
        if (got[i] == '\n')
            got[i] = ' ';
    OUT("%skid{%s}", sep(), got);
    if (WIFSIGNALED(st))
        OUT(" kid-signal=%d", WTERMSIG(st));
    else if (WEXITSTATUS(st))
        OUT(" kid-exit=%d", WEXITSTATUS(st));
}

// ------------------------------------------------------------------ granularity
GROUP(granularity)
{
    probe_ctx();
    int ids[] = {-1, 0, 1, 99}, ht[] = {0, 1, 2, 4, 8, 9, 16};
#define SHOW(P_, label)                                                                            \
    do {                                                                                           \
        size_t a_ = 777, b_ = 777;                                                                 \
        CUresult r_ = cuMemGetAllocationGranularity(&a_, P_, 0),                                   \
                 q_ = cuMemGetAllocationGranularity(&b_, P_, 1);                                   \
        OUT("%s%s:", sep(), label);                                                                \
        if (r_)                                                                                    \
            OUT("%s", R(r_));                                                                      \
        else                                                                                       \
            OUT("%zu", a_);                                                                        \
        if (q_ != r_)                                                                              \
            OUT("/%s", R(q_));                                                                     \
        else if (!q_ && b_ != a_)                                                                  \
            OUT("/%zu", b_);                                                                       \
        else if (r_ && (a_ != 777 || b_ != 777))                                                   \
            OUT("/touched");                                                                       \
    } while (0)
    for (int ty = -1; ty <= 3; ty++)
        for (int lt = 0; lt <= 5; lt++)
            CASE("type%d-location%d", ty, lt)
            for (int i = 0; i < 4; i++) for (int k = 0; k < N(ht); k++)
            {
                CUmemAllocationProp p = props();
                char nm[32];
                snprintf(nm, 32, "id%d,h%x", ids[i], ht[k]);
                p.type = ty;
                p.location.type = lt;
                p.location.id = ids[i];
                p.requestedHandleTypes = ht[k];
                SHOW(&p, nm);
            }
    CASE("compression") for (int c = 0; c <= 3; c++)
    {
        CUmemAllocationProp p = props();
        char nm[32];
        snprintf(nm, 32, "%d", c);
        p.allocFlags.compressionType = c;
        SHOW(&p, nm);
    }
    CASE("rdma") for (int c = 0; c <= 3; c++)
    {
        CUmemAllocationProp p = props();
        char nm[32];
        snprintf(nm, 32, "%d", c);
        p.allocFlags.gpuDirectRDMACapable = c;
        SHOW(&p, nm);
    }
    CASE("usage") for (int c = 0; c <= 8; c++)
    {
        CUmemAllocationProp p = props();
        char nm[32];
        snprintf(nm, 32, "%d", c);
        p.allocFlags.usage = c;
        SHOW(&p, nm);
    }
    CASE("all-flags") for (int c = 0; c < 8; c++)
    {
        CUmemAllocationProp p = props();
        char nm[32];
        snprintf(nm, 32, "%d", c);
        p.allocFlags.compressionType = c & 1;
        p.allocFlags.gpuDirectRDMACapable = c >> 1 & 1;
        p.allocFlags.usage = c >> 2;
        SHOW(&p, nm);
    }
    CASE("reserved") for (int c = 0; c < 4; c++)
    {
        CUmemAllocationProp p = props();
        char nm[32];
        snprintf(nm, 32, "%d", c);
        p.allocFlags.reserved[c] = 1;
        SHOW(&p, nm);
    }
    CASE("win32")
    {
        CUmemAllocationProp p = props();
        p.win32HandleMetaData = &p;
        SHOW(&p, "set");
    }
    CASE("options") for (int o = -1; o <= 4; o++)
    {
        CUmemAllocationProp p = props();
        size_t g = 777;
        CUresult r = cuMemGetAllocationGranularity(&g, &p, o);
        OUT("%s%d:%s/%zu", sep(), o, R(r), g);
    }
    CASE("nulls")
    {
        CUmemAllocationProp p = props();
        size_t g;
        L("out", cuMemGetAllocationGranularity(0, &p, 0));
        L("prop", cuMemGetAllocationGranularity(&g, 0, 0));
        L("both", cuMemGetAllocationGranularity(0, 0, 0));
        L("both-badoption", cuMemGetAllocationGranularity(0, 0, 9));
        p.location.id = 99;
        L("out-baddev", cuMemGetAllocationGranularity(0, &p, 0));
        L("baddev-badoption", cuMemGetAllocationGranularity(&g, &p, 9));
        p.type = 0;
        L("badtype-baddev", cuMemGetAllocationGranularity(&g, &p, 0));
    }
}

// ------------------------------------------------------------------ address space
GROUP(reserve)
{
    probe_ctx();
    size_t sz[] = {0,
                   1,
                   4095,
                   PAGE,
                   3 * PAGE,
                   65536,
                   G - 1,
                   G - PAGE,
                   G,
                   G + 1,
                   G + PAGE,
                   3 * G,
                   (size_t)1 << 30,
                   (size_t)1 << 36,
                   (size_t)1 << 40,
                   (size_t)1 << 45,
                   (size_t)1 << 46,
                   (size_t)1 << 47,
                   (size_t)1 << 48,
                   (size_t)1 << 62,
                   SIZE_MAX & ~(PAGE - 1),
                   SIZE_MAX};
    for (int i = 0; i < N(sz); i++)
        CASE("size-%zx", sz[i])
        {
            CUdeviceptr p = JUNK;
            CUresult r = cuMemAddressReserve(&p, sz[i], 0, 0, 0);
            OUT("%s out=%s", R(r), p == JUNK ? "kept" : p ? "set" : "zero");
            if (!r) {
                OUT(" align=2^%d", lowbits(p, 21));
                L("free", cuMemAddressFree(p, sz[i]));
            }
        }
    size_t al[] = {1,
                   2,
                   3,
                   256,
                   4095,
                   PAGE,
                   3 * PAGE,
                   65536,
                   65537,
                   G / 2,
                   G,
                   3 << 20,
                   2 * G,
                   3 * G,
                   32 << 20,
                   (size_t)1 << 30,
                   (size_t)1 << 33,
                   (size_t)1 << 40,
                   (size_t)1 << 46,
                   (size_t)1 << 47,
                   (size_t)1 << 63,
                   SIZE_MAX};
    size_t as[] = {G, 4 * G, 65536};
    for (int k = 0; k < 3; k++)
        CASE("alignments-size-%zx", as[k]) for (int i = 0; i < N(al); i++)
        {
            CUdeviceptr p = JUNK;
            CUresult r = cuMemAddressReserve(&p, as[k], al[i], 0, 0);
            OUT("%s%zx:%s", sep(), al[i], R(r));
            if (!r) {
                if (!(al[i] & (al[i] - 1)))
                    OUT("/%d", !(p % al[i]));
                cuMemAddressFree(p, as[k]);
            }
        }
    struct {
        const char *n;
        CUdeviceptr a;
    } hi[] = {{"one", 1},
              {"page", PAGE},
              {"64k", 65536},
              {"2m", G},
              {"64g", 1ull << 36},
              {"64g+page", (1ull << 36) + PAGE},
              {"64g+1", (1ull << 36) + 1},
              {"64g+1m", (1ull << 36) + G / 2},
              {"16t", 1ull << 44},
              {"64t", 1ull << 46},
              {"128t-4m", (1ull << 47) - 2 * G},
              {"128t", 1ull << 47},
              {"256t", 1ull << 48},
              {"2^56", 1ull << 56},
              {"2^57", 1ull << 57},
              {"top", 0ull - G},
              {"kernel", 0xffff800000000000ull}};
    for (int i = 0; i < N(hi); i++)
        CASE("hint-%s", hi[i].n)
        {
            for (int k = 0; k < 2; k++) {
                CUdeviceptr p = JUNK;
                CUresult r = cuMemAddressReserve(&p, G, k ? G : 0, hi[i].a, 0);
                OUT("%s%s", sep(), R(r));
                if (!r) {
                    OUT("/%s/2^%d", p == hi[i].a ? "honoured" : "elsewhere", lowbits(p, 21));
                    cuMemAddressFree(p, G);
                } else
                    OUT("/%s", out64(p, JUNK));
            }
        }
    CASE("hint-taken")
    {
        CUdeviceptr a = va(4 * G), p = 0;
        S(cuMemAddressReserve(&p, G, 0, a, 0));
        OUT(" %s", p == a ? "honoured" : "elsewhere");
        cuMemAddressFree(p, G);
        p = 0;
        S(cuMemAddressReserve(&p, 2 * G, 0, a - G, 0));
        OUT(" overlap-front=%s", p == a - G ? "honoured" : "elsewhere");
        cuMemAddressFree(p, 2 * G);
        cuMemAddressFree(a, 4 * G);
    }
    CASE("hint-freed")
    {
        CUdeviceptr a = va(4 * G), p = 0;
        cuMemAddressFree(a, 4 * G);
        S(cuMemAddressReserve(&p, 2 * G, 0, a + G, 0));
        OUT(" %s", p == a + G ? "honoured" : "elsewhere");
        cuMemAddressFree(p, 2 * G);
    }
    CASE("hint-of-allocation")
    {
        CUdeviceptr d, p = 0;
        MUST(cuMemAlloc(&d, 4 * G));
        S(cuMemAddressReserve(&p, G, 0, d, 0));
        OUT(" %s", p == d ? "honoured" : "elsewhere");
        cuMemAddressFree(p, G);
        cuMemFree(d);
    }
    CASE("hint-of-host")
    {
        char *m = mmap(0, 4 * G, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CUdeviceptr h = ((CUdeviceptr)m + G - 1) & ~(G - 1), p = 0;
        S(cuMemAddressReserve(&p, G, 0, h, 0));
        OUT(" %s", p == h ? "honoured" : "elsewhere");
        cuMemAddressFree(p, G);
        munmap(m, 4 * G);
    }
    CASE("neighbours")
    {
        CUdeviceptr a = va(G), b = 0, c = 0;
        S(cuMemAddressReserve(&b, G, 0, a + G, 0));
        OUT(" after=%d", b == a + G);
        S(cuMemAddressReserve(&c, G, 0, a - G, 0));
        OUT(" before=%d", c == a - G);
        cuMemAddressFree(b, G);
        cuMemAddressFree(c, G);
        cuMemAddressFree(a, G);
    }
    CASE("distance-of-two")
    {
        CUdeviceptr a = va(G), b = va(G);
        OUT("%s", a - b == G || b - a == G ? "adjacent" : "apart");
        cuMemAddressFree(a, G);
        cuMemAddressFree(b, G);
    }
    CASE("same-again")
    {
        CUdeviceptr a = va(8 * G);
        cuMemAddressFree(a, 8 * G);
        CUdeviceptr b = va(8 * G);
        OUT("same=%d", a == b);
        cuMemAddressFree(b, 8 * G);
    }
    CASE("flags")
    {
        CUdeviceptr p = JUNK;
        unsigned long long f[] = {1, 2, 4, 1ull << 32, 1ull << 63};
        for (int i = 0; i < N(f); i++)
            S(cuMemAddressReserve(&p, G, 0, 0, f[i]));
        OUT(" out=%s", out64(p, JUNK));
    }
    CASE("nulls")
    {
        CUdeviceptr p;
        L("out", cuMemAddressReserve(0, G, 0, 0, 0));
        L("out-size0", cuMemAddressReserve(0, 0, 0, 0, 0));
        L("out-flags", cuMemAddressReserve(0, G, 0, 0, 1));
        L("size0-flags", cuMemAddressReserve(&p, 0, 0, 0, 1));
        L("size0-badalign", cuMemAddressReserve(&p, 0, 3, 0, 0));
        L("oddsize-badalign", cuMemAddressReserve(&p, 5000, 3, 0, 0));
    }
    CASE("free-errors")
    {
        CUdeviceptr p = va(4 * G);
        L("size0", cuMemAddressFree(p, 0));
        L("smaller", cuMemAddressFree(p, 2 * G));
        L("larger", cuMemAddressFree(p, 5 * G));
        L("odd", cuMemAddressFree(p, 4 * G - 1));
        L("interior", cuMemAddressFree(p + G, 3 * G));
        L("interior-page", cuMemAddressFree(p + PAGE, 4 * G - PAGE));
        L("null", cuMemAddressFree(0, 4 * G));
        L("null-0", cuMemAddressFree(0, 0));
        L("low", cuMemAddressFree(PAGE, G));
        L("ok", cuMemAddressFree(p, 4 * G));
        L("twice", cuMemAddressFree(p, 4 * G));
    }
    CASE("free-of-allocation")
    {
        CUdeviceptr d;
        MUST(cuMemAlloc(&d, 4 * G));
        S(cuMemAddressFree(d, 4 * G));
        S(cuMemFree(d));
    }
    CASE("free-two-at-once")
    {
        CUdeviceptr a = va(G), b = 0;
        cuMemAddressReserve(&b, G, 0, a + G, 0);
        if (b == a + G)
            S(cuMemAddressFree(a, 2 * G));
        cuMemAddressFree(a, G);
        cuMemAddressFree(b, G);
    }
    CASE("memfree-of-reservation")
    {
        CUdeviceptr p = va(G);
        S(cuMemFree(p));
        S(cuMemAddressFree(p, G));
    }
    CASE("free-mapped")
    {
        CUdeviceptr p = va(2 * G);
        H h = mem(G, 0);
        MUST(cuMemMap(p, G, 0, h, 0));
        S(cuMemAddressFree(p, 2 * G));
        S(cuMemUnmap(p, G));
        S(cuMemAddressFree(p, 2 * G));
        cuMemRelease(h);
    }
    CASE("range-of-reservation")
    {
        CUdeviceptr p = va(4 * G), b = JUNK;
        size_t z = 777;
        CUresult r = cuMemGetAddressRange(&b, &z, p);
        OUT("%s/%zu", R(r), z);
        r = cuMemGetAddressRange(&b, &z, p + G + 5);
        OUT(" %s/%zu", R(r), z);
        cuMemAddressFree(p, 4 * G);
    }
    CASE("other-calls-on-reservation")
    {
        CUdeviceptr p = va(4 * G);
        unsigned f;
        H h;
        acc(p);
        L("retain", cuMemRetainAllocationHandle(&h, (void *)p));
        L("type", cuPointerGetAttribute(&f, 2, p));
        L("unmap", cuMemUnmap(p, 4 * G));
        L("setaccess", may(p, 4 * G, 3));
        CUipcMemHandle ih;
        L("ipc", cuIpcGetMemHandle(&ih, p));
        L("register", cuMemHostRegister((void *)p, PAGE, 0));
        cuMemAddressFree(p, 4 * G);
    }
    CASE("memory-info")
    {
        size_t a, b, t;
        cuMemGetInfo(&a, &t);
        CUdeviceptr p = va((size_t)1 << 36);
        cuMemGetInfo(&b, &t);
        OUT("taken=%lld", (long long)(a - b));
        cuMemAddressFree(p, (size_t)1 << 36);
    }
}

// ------------------------------------------------------------------ physical handles
static void hprops(H h)
{
    CUmemAllocationProp p;
    memset(&p, 0x5a, sizeof p);
    CUresult r = cuMemGetAllocationPropertiesFromHandle(&p, h);
    if (r)
        OUT(" props=%s", R(r));
    else
        OUT(" props=%d/h%x/l%d,%d/w%d/c%d/r%d/u%d/%x", p.type, p.requestedHandleTypes,
            p.location.type, p.location.id, p.win32HandleMetaData != 0,
            p.allocFlags.compressionType, p.allocFlags.gpuDirectRDMACapable, p.allocFlags.usage,
            p.allocFlags.reserved[0]);
}
GROUP(create)
{
    probe_ctx();
#define TRY(nm, size, ...)                                                                         \
    {                                                                                              \
        CUmemAllocationProp p = props();                                                           \
        H h = JUNK;                                                                                \
        __VA_ARGS__;                                                                               \
        CUresult r = cuMemCreate(&h, size, &p, 0);                                                 \
        OUT("%s[%s]%s", sep(), nm, R(r));                                                          \
        if (r) {                                                                                   \
            if (h != JUNK)                                                                         \
                OUT("/touched");                                                                   \
        } else {                                                                                   \
            hprops(h);                                                                             \
            CUresult q = cuMemRelease(h);                                                          \
            if (q)                                                                                 \
                OUT(" release=%s", R(q));                                                          \
        }                                                                                          \
    }
    size_t sz[] = {0,
                   1,
                   PAGE,
                   65536,
                   G / 2,
                   G - 1,
                   G,
                   G + 1,
                   G + PAGE,
                   G + 65536,
                   3 * G,
                   5 * G,
                   32 << 20,
                   (32 << 20) + G,
                   (size_t)1 << 40,
                   (size_t)1 << 47,
                   (size_t)1 << 62,
                   (size_t)1 << 63,
                   SIZE_MAX & ~(G - 1),
                   SIZE_MAX};
    for (int i = 0; i < N(sz); i++)
        CASE("size-%zx", sz[i])
        {
            TRY("plain", sz[i], (void)0) TRY("fd", sz[i], p.requestedHandleTypes = 1)
        }
    for (int ty = -1; ty <= 4; ty++)
        if (ty != 2)
            CASE("type%d", ty)
            TRY("plain", G, p.type = ty) // 2 is managed memory
                for (int lt = -1; lt <= 5; lt++) CASE("location%d", lt)
            {
                TRY("id-1", G, p.location.type = lt; p.location.id = -1)
                TRY("id0", G, p.location.type = lt)
                    TRY("id1", G, p.location.type = lt; p.location.id = 1)
                        TRY("id99", G, p.location.type = lt; p.location.id = 99)
                            TRY("id0-fd", G, p.location.type = lt; p.requestedHandleTypes = 1)
                                TRY("id0-4k", PAGE, p.location.type = lt)
                                    TRY("id0-64k", 65536, p.location.type = lt)
            }
    int ht[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64, 0x7fffffff, -1};
    for (int i = 0; i < N(ht); i++)
        CASE("handles%x", ht[i])
        {
            TRY("device", G, p.requestedHandleTypes = ht[i])
            TRY("numa", G, p.requestedHandleTypes = ht[i]; p.location.type = 3)
                TRY("host", G, p.requestedHandleTypes = ht[i]; p.location.type = 2)
        }
    for (int c = 0; c <= 4; c++)
        CASE("compression%d", c)
        {
            TRY("device", G, p.allocFlags.compressionType = c)
            TRY("fd", G, p.allocFlags.compressionType = c; p.requestedHandleTypes = 1)
                TRY("numa", G, p.allocFlags.compressionType = c; p.location.type = 3)
        }
    for (int c = 0; c <= 3; c++)
        CASE("rdma%d", c)
        {
            TRY("device", G, p.allocFlags.gpuDirectRDMACapable = c)
            TRY("fd", G, p.allocFlags.gpuDirectRDMACapable = c; p.requestedHandleTypes = 1)
                TRY("numa", G, p.allocFlags.gpuDirectRDMACapable = c; p.location.type = 3)
                    TRY("compressed", G, p.allocFlags.gpuDirectRDMACapable = c;
                        p.allocFlags.compressionType = 1)
        }
    for (int c = 0; c <= 8; c++)
        CASE("usage%d", c)
        {
            TRY("device", G, p.allocFlags.usage = c)
            TRY("numa", G, p.allocFlags.usage = c; p.location.type = 3)
                TRY("compressed", G, p.allocFlags.usage = c; p.allocFlags.compressionType = 1)
        }
    CASE("reserved"){TRY("0", G, p.allocFlags.reserved[0] = 1)
                         TRY("3", G, p.allocFlags.reserved[3] = 1)} CASE("win32")
        TRY("set", G, p.win32HandleMetaData = &p) CASE("flags")
    {
        CUmemAllocationProp p = props();
        H h = JUNK;
        unsigned long long f[] = {1, 2, 4, 1ull << 32, 1ull << 63};
        for (int i = 0; i < N(f); i++)
            S(cuMemCreate(&h, G, &p, f[i]));
        OUT(" out=%s", out64(h, JUNK));
    }
    CASE("nulls")
    {
        CUmemAllocationProp p = props();
        H h;
        L("out", cuMemCreate(0, G, &p, 0));
        L("prop", cuMemCreate(&h, G, 0, 0));
        L("both", cuMemCreate(0, G, 0, 0));
        L("out-size0", cuMemCreate(0, 0, &p, 0));
        L("out-flags", cuMemCreate(0, G, &p, 1));
        L("prop-size0", cuMemCreate(&h, 0, 0, 0));
        p.location.id = 99;
        L("baddev-size0", cuMemCreate(&h, 0, &p, 0));
        L("baddev-oddsize", cuMemCreate(&h, 5, &p, 0));
        L("baddev-flags", cuMemCreate(&h, G, &p, 1));
        p.type = 0;
        L("badtype-baddev", cuMemCreate(&h, G, &p, 0));
        p = props();
        p.requestedHandleTypes = 64;
        L("badhandles-oddsize", cuMemCreate(&h, 5, &p, 0));
        p.location.id = 99;
        L("badhandles-baddev", cuMemCreate(&h, G, &p, 0));
    }
#undef TRY
    CASE("memory-info")
    {
        size_t a, b, c, d, t;
        cuMemGetInfo(&a, &t);
        H h = mem(32 << 20, 0);
        cuMemGetInfo(&b, &t);
        H k = mem(G, 0);
        cuMemGetInfo(&c, &t);
        cuMemRelease(h);
        cuMemRelease(k);
        cuMemGetInfo(&d, &t);
        OUT("32m=%lld 2m=%lld left=%lld", (long long)(a - b), (long long)(b - c),
            (long long)(a - d));
    }
    CASE("fresh-memory-zero")
    {
        H h = mem(G, 0);
        CUdeviceptr p = whole(G, h);
        static char t[2 << 20];
        MUST(cuMemcpyDtoH(t, p, G));
        int nz = 0;
        for (size_t i = 0; i < G; i++)
            nz |= t[i];
        OUT("zero=%d", !nz);
        gone(p, G, h);
    }
    CASE("release-errors")
    {
        S(cuMemRelease(0));
        H h = mem(G, 0);
        S(cuMemRelease(h));
    }
    CASE("release-twice")
    {
        H h = mem(G, 0);
        S(cuMemRelease(h));
        S(cuMemRelease(h));
    }
    CASE("release-one") S(cuMemRelease(1));
    CASE("release-garbage")
    {
        static char z[8192];
        S(cuMemRelease((H)z));
    }
    CASE("release-pointer")
    {
        CUdeviceptr d;
        MUST(cuMemAlloc(&d, 4 * G));
        S(cuMemRelease(d));
        cuMemFree(d);
    }
    CASE("props-errors")
    {
        CUmemAllocationProp p;
        H h = mem(G, 0);
        L("null-out", cuMemGetAllocationPropertiesFromHandle(0, h));
        L("handle0", cuMemGetAllocationPropertiesFromHandle(&p, 0));
        L("both", cuMemGetAllocationPropertiesFromHandle(0, 0));
        cuMemRelease(h);
    }
    CASE("props-released")
    {
        CUmemAllocationProp p;
        H h = mem(G, 0);
        cuMemRelease(h);
        S(cuMemGetAllocationPropertiesFromHandle(&p, h));
    }
    CASE("props-garbage")
    {
        static char z[8192];
        CUmemAllocationProp p;
        S(cuMemGetAllocationPropertiesFromHandle(&p, (H)z));
    }
    CASE("map-released")
    {
        H h = mem(G, 0);
        cuMemRelease(h);
        CUdeviceptr p = va(G);
        S(cuMemMap(p, G, 0, h, 0));
        cuMemUnmap(p, G);
        cuMemAddressFree(p, G);
    }
    CASE("map-garbage")
    {
        static char z[8192];
        CUdeviceptr p = va(G);
        S(cuMemMap(p, G, 0, (H)z, 0));
        cuMemAddressFree(p, G);
    }
    CASE("export-released")
    {
        int fd = -1;
        H h = mem(G, 1);
        cuMemRelease(h);
        S(cuMemExportToShareableHandle(&fd, h, 1, 0));
        OUT(" fd=%d", fd >= 0);
    }
    CASE("handles-differ")
    {
        H a = mem(G, 0), b = mem(G, 0);
        OUT("%d", a != b);
        cuMemRelease(a);
        cuMemRelease(b);
    }
}

// ------------------------------------------------------------------ mappings
GROUP(map)
{
    probe_ctx();
    H h = mem(4 * G, 0), small = mem(G, 0);
    CUdeviceptr p = va(8 * G);
#define TRY(nm, a, n, off, hh, fl)                                                                 \
    CASE("%s", nm)                                                                                 \
    {                                                                                              \
        CUresult r = cuMemMap(a, n, off, hh, fl);                                                  \
        S(r);                                                                                      \
        if (!r) {                                                                                  \
            acc(a);                                                                                \
            CUdeviceptr b = JUNK;                                                                  \
            size_t z = 777;                                                                        \
            CUresult q = cuMemGetAddressRange(&b, &z, a);                                          \
            OUT(" range=%s/%lld/%zu", R(q), df(b, p), z);                                          \
            L("unmap", cuMemUnmap(a, n));                                                          \
        }                                                                                          \
    }
    TRY("whole", p, 4 * G, 0, h, 0)
    TRY("inside", p + G, 4 * G, 0, h, 0) TRY("at-end", p + 4 * G, 4 * G, 0, h, 0)
        TRY("past-end", p + 5 * G, 4 * G, 0, h, 0) TRY("size-half", p, 2 * G, 0, h, 0)
            TRY("size-one", p, G, 0, h, 0) TRY("size-more", p, 5 * G, 0, h, 0) TRY(
                "size0", p, 0, 0, h, 0) TRY("size-4k", p, PAGE, 0, h, 0)
                TRY("size-64k", p, 65536, 0, h, 0) TRY("size-odd", p, G + 1, 0, h, 0) TRY(
                    "size-page-less", p, 4 * G - PAGE, 0, h, 0) TRY("offset-1g", p, 3 * G, G, h, 0)
                    TRY("offset-1g-one", p, G, G, h, 0) TRY("offset-1g-last", p, G, 3 * G, h, 0)
                        TRY("offset-1g-too-much", p, 4 * G, G,
                            h, 0) TRY("offset-end", p, G, 4 * G, h,
                                      0) TRY("offset-4k", p, G, PAGE, h, 0)
                            TRY("offset-64k", p, G, 65536, h, 0) TRY("offset-1", p, G, 1, h, 0)
                                TRY("offset-huge", p, G, SIZE_MAX & ~(G - 1),
                                    h, 0) TRY("flags1", p, 4 * G, 0,
                                              h, 1) TRY("flags-high", p, 4 * G, 0, h, 1ull << 63)
                                    TRY("handle0", p, 4 * G, 0, 0, 0) TRY("null", 0, 4 * G, 0, h, 0)
                                        TRY("unreserved-low", G, 4 * G, 0, h,
                                            0) TRY("unreserved-before", p - 4 * G, 4 * G, 0, h, 0)
                                            TRY("straddle-front", p - G, 4 * G, 0, h,
                                                0) TRY("unaligned-4k", p + PAGE, G, 0, h, 0)
                                                TRY("unaligned-64k", p + 65536, G, 0, h,
                                                    0) TRY("unaligned-1", p + 1, G, 0, h, 0)
                                                    TRY("unaligned-and-odd-size", p + 1, 5, 0, h, 0)
                                                        TRY("null-handle0", 0, 4 * G, 0, 0, 0)
                                                            TRY("handle0-flags1", p, 4 * G, 0, 0, 1)
                                                                TRY("handle0-size0", p, 0, 0, 0, 0)
                                                                    TRY("size-more-flags1", p,
                                                                        5 * G, 0, h, 1)
                                                                        TRY("size-huge", p,
                                                                            SIZE_MAX & ~(G - 1), 0,
                                                                            h, 0)
#undef TRY
                                                                            CASE("on-allocation")
    {
        CUdeviceptr d;
        MUST(cuMemAlloc(&d, 4 * G));
        S(cuMemMap(d, 4 * G, 0, h, 0));
        S(cuMemFree(d));
    }
    CASE("on-host")
    {
        void *m;
        MUST(cuMemAllocHost(&m, 4 * G));
        S(cuMemMap(((CUdeviceptr)m + G - 1) & ~(G - 1), G, 0, small, 0));
        cuMemFreeHost(m);
    }
    struct {
        const char *n;
        size_t o, z;
    } ov[] = {{"same", 2 * G, 2 * G}, {"inside", 2 * G, G},   {"inside-last", 3 * G, G},
              {"front", G, 2 * G},    {"back", 3 * G, 2 * G}, {"over", G, 4 * G},
              {"before", G, G},       {"after", 4 * G, G}};
    for (int i = 0; i < N(ov); i++)
        CASE("overlap-%s", ov[i].n)
        {
            H k = mem(2 * G, 0);
            MUST(cuMemMap(p + 2 * G, 2 * G, 0, k, 0));
            H l = mem(ov[i].z, 0);
            CUresult r = cuMemMap(p + ov[i].o, ov[i].z, 0, l, 0);
            S(r);
            if (!r)
                L("unmap-second", cuMemUnmap(p + ov[i].o, ov[i].z));
            L("unmap-first", cuMemUnmap(p + 2 * G, 2 * G));
            cuMemRelease(k);
            cuMemRelease(l);
        }
    struct {
        const char *n;
        size_t o, z;
    } um[] = {{"exact", 0, 4 * G},
              {"first-half", 0, 2 * G},
              {"second-half", 2 * G, 2 * G},
              {"middle", G, G},
              {"more", 0, 5 * G},
              {"more-behind", 0, 8 * G},
              {"size0", 0, 0},
              {"page", 0, PAGE},
              {"unaligned", PAGE, 4 * G - PAGE},
              {"unaligned-size", 0, 4 * G - PAGE},
              {"one-byte-more", 0, 4 * G + 1},
              {"hole-only", 4 * G, 4 * G}};
    for (int i = 0; i < N(um); i++)
        CASE("unmap-%s", um[i].n)
        {
            MUST(cuMemMap(p, 4 * G, 0, h, 0));
            S(cuMemUnmap(p + um[i].o, um[i].z));
            L("rest", cuMemUnmap(p, 4 * G));
            cuMemUnmap(p, 2 * G);
            cuMemUnmap(p + 2 * G, 2 * G);
            cuMemUnmap(p, G);
            cuMemUnmap(p + 2 * G, 2 * G);
        }
    CASE("unmap-two-at-once")
    {
        MUST(cuMemMap(p, G, 0, small, 0));
        H k = mem(G, 0);
        MUST(cuMemMap(p + G, G, 0, k, 0));
        S(cuMemUnmap(p, 2 * G));
        cuMemUnmap(p, G);
        cuMemUnmap(p + G, G);
        cuMemRelease(k);
    }
    CASE("unmap-two-with-hole")
    {
        MUST(cuMemMap(p, G, 0, small, 0));
        H k = mem(G, 0);
        MUST(cuMemMap(p + 2 * G, G, 0, k, 0));
        S(cuMemUnmap(p, 3 * G));
        L("first", cuMemUnmap(p, G));
        L("second", cuMemUnmap(p + 2 * G, G));
        cuMemRelease(k);
    }
    CASE("unmap-half-of-second")
    {
        MUST(cuMemMap(p, G, 0, small, 0));
        H k = mem(2 * G, 0);
        MUST(cuMemMap(p + G, 2 * G, 0, k, 0));
        S(cuMemUnmap(p, 2 * G));
        L("first", cuMemUnmap(p, G));
        L("second", cuMemUnmap(p + G, 2 * G));
        cuMemRelease(k);
    }
    CASE("unmap-errors")
    {
        L("unmapped", cuMemUnmap(p, 4 * G));
        L("null", cuMemUnmap(0, G));
        L("null-0", cuMemUnmap(0, 0));
        L("low", cuMemUnmap(G, G));
        CUdeviceptr d;
        MUST(cuMemAlloc(&d, 4 * G));
        L("allocation", cuMemUnmap(d, 4 * G));
        cuMemFree(d);
        MUST(cuMemMap(p, 4 * G, 0, h, 0));
        L("ok", cuMemUnmap(p, 4 * G));
        L("twice", cuMemUnmap(p, 4 * G));
    }
    CASE("memfree-of-mapping")
    {
        MUST(cuMemMap(p, 4 * G, 0, h, 0));
        MUST(may(p, 4 * G, 3));
        S(cuMemFree(p));
        L("memset", cuMemsetD8(p, 1, 16));
        L("unmap", cuMemUnmap(p, 4 * G));
    }
    CASE("across-two-reservations")
    {
        CUdeviceptr a = va(G), b = 0;
        cuMemAddressReserve(&b, G, 0, a + G, 0);
        H k = mem(2 * G, 0);
        if (b == a + G) {
            CUresult r = cuMemMap(a, 2 * G, 0, k, 0);
            S(r);
            if (!r)
                S(cuMemUnmap(a, 2 * G));
        } else
            OUT("not adjacent");
        cuMemRelease(k);
        cuMemAddressFree(a, G);
        cuMemAddressFree(b, G);
    }
    CASE("fill-with-many")
    {
        H k[8];
        for (int i = 0; i < 8; i++) {
            k[i] = mem(G, 0);
            CUresult r = cuMemMap(p + i * G, G, 0, k[i], 0);
            OUT("%s", i ? "" : "map:");
            if (r)
                OUT(" %d=%s", i, R(r));
        }
        L("access", may(p, 8 * G, 3));
        put(p + G - 1000, 4000, 1);
        sum(p + G - 1000, 4000);
        L("memset", cuMemsetD8(p + 3 * G - 50, 9, 100));
        sum(p + 3 * G - 100, 200);
        for (int i = 0; i < 8; i++) {
            CUdeviceptr b = 0;
            size_t z = 0;
            cuMemGetAddressRange(&b, &z, p + i * G + 5);
            if (i < 2)
                OUT(" range=%lld/%zu", df(b, p), z);
        }
        for (int i = 0; i < 8; i++) {
            CUresult r = cuMemUnmap(p + i * G, G);
            if (r)
                OUT(" unmap%d=%s", i, R(r));
            cuMemRelease(k[i]);
        }
    }
    CASE("order-of-unmapping")
    {
        H k[4];
        for (int i = 0; i < 4; i++) {
            k[i] = mem(G, 0);
            MUST(cuMemMap(p + i * G, G, 0, k[i], 0));
        }
        int o[] = {2, 0, 3, 1};
        for (int i = 0; i < 4; i++)
            S(cuMemUnmap(p + o[i] * G, G));
        for (int i = 0; i < 4; i++)
            cuMemRelease(k[i]);
    }
    CASE("small-page-mapping")
    {
        CUmemAllocationProp q = props();
        q.location.type = CU_MEM_LOCATION_TYPE_HOST;
        size_t g = 0;
        cuMemGetAllocationGranularity(&g, &q, 0);
        H k = 0;
        CUresult r = cuMemCreate(&k, g, &q, 0);
        OUT("host-granularity=%zu %s", g, R(r));
        if (!r) {
            r = cuMemMap(p, g, 0, k, 0);
            L("map", r);
            if (!r)
                cuMemUnmap(p, g);
            r = cuMemMap(p + g, g, 0, k, 0);
            L("map-at-g", r);
            if (!r)
                cuMemUnmap(p + g, g);
            cuMemRelease(k);
        }
    }
}

// ------------------------------------------------------------------ access
GROUP(access)
{
    probe_ctx();
    H h = mem(4 * G, 0);
    CUdeviceptr p = va(8 * G);
    MUST(cuMemMap(p, 4 * G, 0, h, 0));
    for (int f = -1; f <= 5; f++)
        CASE("flags%d", f)
        {
            S(may(p, 4 * G, f));
            acc(p);
            acc(p + 2 * G);
            may(p, 4 * G, 0);
            acc(p);
        }
    for (int lt = 0; lt <= 5; lt++)
        CASE("location%d", lt) for (int id = -1; id <= 2; id++)
        {
            CUmemAccessDesc d = {{lt, id}, 3};
            CUmemLocation l = {lt, id};
            unsigned long long f = 77;
            OUT("%s[%d]", sep(), id);
            S(cuMemSetAccess(p, 4 * G, &d, 1));
            CUresult r = cuMemGetAccess(&f, &l, p);
            OUT(" get=%s/%llu", R(r), f);
            d.flags = 0;
            cuMemSetAccess(p, 4 * G, &d, 1);
        }
    struct {
        const char *n;
        long long o;
        size_t z;
    } rg[] = {{"first-half", 0, 2 * G},
              {"second-half", 2 * G, 2 * G},
              {"one", G, G},
              {"page", 0, PAGE},
              {"64k", 0, 65536},
              {"page-in", PAGE, PAGE},
              {"unaligned", 1, G},
              {"odd-size", 0, G + 1},
              {"size0", 0, 0},
              {"into-hole", 2 * G, 4 * G},
              {"whole-reservation", 0, 8 * G},
              {"hole", 4 * G, G},
              {"past-reservation", 0, 9 * G},
              {"before", -(2ll << 20), 2 * G}};
    for (int i = 0; i < N(rg); i++)
        CASE("range-%s", rg[i].n)
        {
            S(may(p + rg[i].o, rg[i].z, 3));
            for (int k = 0; k < 4; k++)
                acc(p + k * G);
            may(p, 4 * G, 0);
            for (int k = 0; k < 4; k++)
                may(p + k * G, G, 0);
        }
    CASE("nulls")
    {
        CUmemAccessDesc d = {{1, 0}, 3};
        L("ptr", cuMemSetAccess(0, 4 * G, &d, 1));
        L("desc", cuMemSetAccess(p, 4 * G, 0, 1));
        L("count0", cuMemSetAccess(p, 4 * G, &d, 0));
        L("desc-count0", cuMemSetAccess(p, 4 * G, 0, 0));
        L("all", cuMemSetAccess(0, 0, 0, 0));
        L("ptr-desc", cuMemSetAccess(0, 4 * G, 0, 1));
        d.location.id = 99;
        L("baddev", cuMemSetAccess(p, 4 * G, &d, 1));
        L("baddev-null", cuMemSetAccess(0, 4 * G, &d, 1));
        d.flags = 2;
        L("baddev-badflags", cuMemSetAccess(p, 4 * G, &d, 1));
        d.location.id = 0;
        L("badflags-null", cuMemSetAccess(0, 4 * G, &d, 1));
        acc(p);
    }
    CASE("two-descs")
    {
        CUmemAccessDesc d[2] = {{{1, 0}, 1}, {{1, 0}, 3}};
        S(cuMemSetAccess(p, 4 * G, d, 2));
        acc(p);
        d[0].flags = 3;
        d[1].flags = 0;
        S(cuMemSetAccess(p, 4 * G, d, 2));
        acc(p);
        d[1].location.id = 99;
        d[0].flags = 1;
        S(cuMemSetAccess(p, 4 * G, d, 2));
        acc(p);
        may(p, 4 * G, 0);
    }
    CASE("get-errors")
    {
        CUmemLocation l = {1, 0};
        unsigned long long f = 77;
        L("null-out", cuMemGetAccess(0, &l, p));
        L("null-location", cuMemGetAccess(&f, 0, p));
        L("null-ptr", cuMemGetAccess(&f, &l, 0));
        L("hole", cuMemGetAccess(&f, &l, p + 4 * G));
        L("low", cuMemGetAccess(&f, &l, PAGE));
        L("outside", cuMemGetAccess(&f, &l, p + 64 * G));
        l.id = 99;
        L("baddev", cuMemGetAccess(&f, &l, p));
        L("baddev-null", cuMemGetAccess(&f, &l, 0));
        OUT(" out=%llu", f);
        L("interior", (l.id = 0, cuMemGetAccess(&f, &l, p + 12345)));
        OUT("/%llu", f);
    }
    CASE("of-allocation")
    {
        CUdeviceptr d;
        MUST(cuMemAlloc(&d, 4 * G));
        acc(d);
        L("set", may(d, 4 * G, 3));
        L("set-ro", may(d, 4 * G, 1));
        L("memset", cuMemsetD8(d, 1, 16));
        cuMemFree(d);
    }
    CASE("of-pinned")
    {
        void *m;
        MUST(cuMemAllocHost(&m, 4 * G));
        acc((CUdeviceptr)m);
        L("set", may((CUdeviceptr)m, 4 * G, 3));
        cuMemFreeHost(m);
    }
    CASE("of-pool")
    {
        CUdeviceptr d;
        MUST(cuMemAllocAsync(&d, 4 * G, 0));
        MUST(cuStreamSynchronize(0));
        acc(d);
        L("set", may(d, 4 * G, 3));
        cuMemFree(d);
    }
    CASE("lost-by-remap")
    {
        MUST(may(p, 4 * G, 3));
        acc(p);
        S(cuMemUnmap(p, 4 * G));
        acc(p);
        S(cuMemMap(p, 4 * G, 0, h, 0));
        acc(p);
    }
    CASE("granted-twice")
    {
        S(may(p, 4 * G, 3));
        S(may(p, 4 * G, 3));
        acc(p);
        S(may(p, 4 * G, 0));
        acc(p);
    }
    CASE("write-then-read-only-read")
    {
        MUST(may(p, 4 * G, 3));
        put(p, 5000, 4);
        S(may(p, 4 * G, 1));
        acc(p);
        sum(p, 5000);
        may(p, 4 * G, 0);
    }
    CASE("mixed-over-two-mappings")
    {
        H k = mem(G, 0);
        MUST(cuMemMap(p + 4 * G, G, 0, k, 0));
        S(may(p, 4 * G, 1));
        S(may(p + 4 * G, G, 3));
        acc(p);
        acc(p + 4 * G);
        S(may(p, 5 * G, 3));
        acc(p);
        acc(p + 4 * G);
        may(p, 5 * G, 0);
        cuMemUnmap(p + 4 * G, G);
        cuMemRelease(k);
    }
}

// ------------------------------------------------------------------ what the mappings hold
GROUP(contents)
{
    probe_ctx();
    static char t[4 << 20];
    XCASE("alias-two-ranges")
    {
        H h = mem(2 * G, 0);
        CUdeviceptr a = whole(2 * G, h), b = whole(2 * G, h);
        put(a, 100000, 1);
        sum(b, 100000);
        S(cuMemsetD8(b + 50, 7, 1000));
        sum(a, 100000);
        S(cuMemUnmap(a, 2 * G));
        sum(b, 100000);
        cuMemAddressFree(a, 2 * G);
        gone(b, 2 * G, h);
    }
    XCASE("alias-in-one-range")
    {
        H h = mem(G, 0);
        CUdeviceptr p = va(2 * G);
        S(cuMemMap(p, G, 0, h, 0));
        S(cuMemMap(p + G, G, 0, h, 0));
        S(may(p, 2 * G, 3));
        put(p, 5000, 2);
        sum(p + G, 5000);
        S(cuMemUnmap(p, G));
        sum(p + G, 5000);
        S(cuMemUnmap(p + G, G));
        cuMemAddressFree(p, 2 * G);
        cuMemRelease(h);
    }
    XCASE("alias-copy-between")
    {
        H h = mem(G, 0);
        CUdeviceptr a = whole(G, h), b = whole(G, h);
        put(a, 4096, 3);
        S(cuMemcpyDtoD(b + 8192, a, 4096));
        sum(a, 16384);
        gone(a, G, 0);
        gone(b, G, h);
    }
    XCASE("alias-read-only-and-writable")
    {
        H h = mem(G, 0);
        CUdeviceptr a = whole(G, h), b = va(G);
        MUST(cuMemMap(b, G, 0, h, 0));
        S(may(b, G, 1));
        put(a, 4096, 4);
        sum(b, 4096);
        acc(a);
        acc(b);
        gone(a, G, 0);
        gone(b, G, h);
    }
    XCASE("ids-of-aliases")
    {
        H h = mem(G, 0);
        CUdeviceptr a = whole(G, h), b = whole(G, h);
        unsigned long long i[2] = {0, 0}, k[2] = {0, 0};
        cuPointerGetAttribute(&i[0], CU_POINTER_ATTRIBUTE_BUFFER_ID, a);
        cuPointerGetAttribute(&i[1], CU_POINTER_ATTRIBUTE_BUFFER_ID, b);
        cuPointerGetAttribute(&k[0], CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, a);
        cuPointerGetAttribute(&k[1], CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, b);
        OUT("buffer-ids-same=%d block-ids-same=%d", i[0] == i[1], k[0] == k[1]);
        gone(a, G, 0);
        gone(b, G, h);
    }
    XCASE("kept-while-unmapped")
    {
        H h = mem(G, 0);
        CUdeviceptr a = whole(G, h);
        put(a, 5000, 5);
        S(cuMemUnmap(a, G));
        S(cuMemMap(a, G, 0, h, 0));
        S(may(a, G, 3));
        sum(a, 5000);
        gone(a, G, h);
    }
    XCASE("moved-to-another-address")
    {
        H h = mem(G, 0);
        CUdeviceptr a = whole(G, h);
        put(a, 5000, 6);
        gone(a, G, 0);
        CUdeviceptr b = whole(G, h);
        sum(b, 5000);
        gone(b, G, h);
    }
    XCASE("swap")
    {
        H h = mem(G, 0), k = mem(G, 0);
        CUdeviceptr a = whole(G, h), b = whole(G, k);
        put(a, 5000, 7);
        put(b, 5000, 8);
        cuMemUnmap(a, G);
        cuMemUnmap(b, G);
        S(cuMemMap(a, G, 0, k, 0));
        S(cuMemMap(b, G, 0, h, 0));
        S(may(a, G, 3));
        S(may(b, G, 3));
        sum(a, 5000);
        sum(b, 5000);
        gone(a, G, k);
        gone(b, G, h);
    }
    XCASE("growing")
    {
        CUdeviceptr p = va(4 * G);
        H k[4];
        for (int i = 0; i < 4; i++) {
            k[i] = mem(G, 0);
            MUST(cuMemMap(p + i * G, G, 0, k[i], 0));
            S(may(p, (i + 1) * G, 3));
            put(p + i * G, G, 10 + i);
        }
        fill(t, 4 << 20, 99);
        S(cuMemcpyDtoH(t, p, 4 * G > sizeof t ? sizeof t : 4 * G));
        OUT(" %08x", f32(t, sizeof t));
        for (int i = 0; i < 4; i++) {
            cuMemUnmap(p + i * G, G);
            cuMemRelease(k[i]);
        }
        cuMemAddressFree(p, 4 * G);
    }
    XCASE("release-before-use")
    {
        H h = mem(G, 0);
        CUdeviceptr p = whole(G, h);
        S(cuMemRelease(h));
        put(p, 5000, 9);
        sum(p, 5000);
        S(cuMemUnmap(p, G));
        cuMemAddressFree(p, G);
    }
    XCASE("release-before-access")
    {
        H h = mem(G, 0);
        CUdeviceptr p = va(G);
        MUST(cuMemMap(p, G, 0, h, 0));
        S(cuMemRelease(h));
        S(may(p, G, 3));
        put(p, 5000, 9);
        sum(p, 5000);
        H k = 0;
        L("retain", cuMemRetainAllocationHandle(&k, (void *)p));
        OUT(" same=%d", k == h);
        hprops(k);
        L("release", cuMemRelease(k));
        S(cuMemUnmap(p, G));
        cuMemAddressFree(p, G);
    }
    XCASE("release-frees-after-unmap")
    {
        size_t a, b, c, d, z;
        cuMemGetInfo(&a, &z);
        H h = mem(64 << 20, 0);
        CUdeviceptr p = whole(64 << 20, h);
        cuMemGetInfo(&b, &z);
        cuMemRelease(h);
        cuMemGetInfo(&c, &z);
        cuMemUnmap(p, 64 << 20);
        cuMemGetInfo(&d, &z);
        OUT("created=%lld released=%lld unmapped=%lld", (long long)(a - b), (long long)(a - c),
            (long long)(a - d));
        cuMemAddressFree(p, 64 << 20);
    }
    XCASE("unmap-frees-after-release")
    {
        size_t a, b, c, z;
        cuMemGetInfo(&a, &z);
        H h = mem(64 << 20, 0);
        CUdeviceptr p = whole(64 << 20, h);
        cuMemUnmap(p, 64 << 20);
        cuMemGetInfo(&b, &z);
        cuMemRelease(h);
        cuMemGetInfo(&c, &z);
        OUT("unmapped=%lld released=%lld", (long long)(a - b), (long long)(a - c));
        cuMemAddressFree(p, 64 << 20);
    }
    XCASE("copy-kinds")
    {
        H h = mem(G, 0);
        CUdeviceptr p = whole(G, h), d;
        void *m;
        MUST(cuMemAlloc(&d, G));
        MUST(cuMemAllocHost(&m, G));
        fill(m, 10000, 11);
        S(cuMemcpy(p, (CUdeviceptr)m, 10000));
        S(cuMemcpyDtoD(d, p, 10000));
        sum(d, 10000);
        S(cuMemcpy((CUdeviceptr)m, d, 10000));
        OUT(" %08x", f32(m, 10000));
        CUDA_MEMCPY2D c;
        memset(&c, 0, sizeof c);
        c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        c.srcDevice = p;
        c.srcPitch = 100;
        c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        c.dstDevice = d;
        c.dstPitch = 128;
        c.WidthInBytes = 60;
        c.Height = 20;
        S(cuMemcpy2D(&c));
        sum(d, 10000);
        cuMemFree(d);
        cuMemFreeHost(m);
        gone(p, G, h);
    }
    XCASE("copy-past-end")
    {
        H h = mem(G, 0);
        CUdeviceptr p = whole(G, h);
        static char u[64];
        L("HtoD", cuMemcpyHtoD(p + G - 10, u, 20));
        L("DtoH", cuMemcpyDtoH(u, p + G - 10, 20));
        L("at-end", cuMemcpyDtoH(u, p + G, 1));
        gone(p, G, h);
    }
    XCASE("copy-over-two-handles")
    {
        H h = mem(G, 0), k = mem(G, 0);
        CUdeviceptr p = va(2 * G);
        MUST(cuMemMap(p, G, 0, h, 0));
        MUST(cuMemMap(p + G, G, 0, k, 0));
        MUST(may(p, 2 * G, 3));
        put(p + G - 3000, 6000, 12);
        sum(p + G - 3000, 6000);
        S(cuMemsetD32(p + G - 400, 0x01020304, 200));
        sum(p + G - 3000, 6000);
        S(cuMemcpyDtoD(p, p + G - 3000, 6000));
        sum(p, 6000);
        S(cuMemsetD2D8(p + G - 1000, 300, 5, 100, 8));
        sum(p + G - 3000, 6000);
        cuMemUnmap(p, G);
        cuMemUnmap(p + G, G);
        cuMemAddressFree(p, 2 * G);
        cuMemRelease(h);
        cuMemRelease(k);
    }
    XCASE("texture-over-mapping")
    {
        H h = mem(G, 0);
        CUdeviceptr p = whole(G, h);
        CUDA_RESOURCE_DESC r;
        CUDA_TEXTURE_DESC x;
        memset(&r, 0, sizeof r);
        memset(&x, 0, sizeof x);
        r.resType = CU_RESOURCE_TYPE_LINEAR;
        r.res.linear.devPtr = p;
        r.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
        r.res.linear.numChannels = 1;
        r.res.linear.sizeInBytes = G;
        CUtexObject o = 0;
        S(cuTexObjectCreate(&o, &r, &x, 0));
        if (o)
            cuTexObjectDestroy(o);
        gone(p, G, h);
    }
    for (int c = 0; c < 6; c++)
        XCASE("flags-usable-%d", c)
        {
            CUmemAllocationProp p = props();
            if (c == 1)
                p.allocFlags.compressionType = 1;
            if (c == 2)
                p.allocFlags.gpuDirectRDMACapable = 1;
            if (c == 3)
                p.allocFlags.usage = 1;
            if (c == 4)
                p.allocFlags.usage = 2;
            if (c == 5)
                p.requestedHandleTypes = 1;
            H h = 0;
            CUresult r = cuMemCreate(&h, G, &p, 0);
            L("create", r);
            if (r)
                continue;
            CUdeviceptr a = va(G);
            r = cuMemMap(a, G, 0, h, 0);
            L("map", r);
            if (!r) {
                r = may(a, G, 3);
                L("access", r);
                if (!r) {
                    put(a, 5000, 13);
                    sum(a, 5000);
                }
            }
            gone(a, G, h);
        }
}
GROUP(hostmem)
{
    probe_ctx();
    int lt[] = {CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA,
                CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT};
    for (int i = 0; i < 3; i++)
        for (int w = 0; w < 3; w++)
            XCASE("location%d-%s", lt[i],
                  w == 0   ? "device-access"
                  : w == 1 ? "host-access"
                           : "both")
            {
                CUmemAllocationProp p = props();
                p.location.type = lt[i];
                H h = 0;
                CUresult r = cuMemCreate(&h, G, &p, 0);
                S(r);
                if (r)
                    continue;
                hprops(h);
                CUdeviceptr a = va(G);
                L("map", cuMemMap(a, G, 0, h, 0));
                CUmemAccessDesc d[2] = {{{1, 0}, 3}, {{lt[i] == 4 ? 3 : lt[i], 0}, 3}};
                CUresult ok = cuMemSetAccess(a, G, w == 1 ? d + 1 : d, w == 2 ? 2 : 1);
                L("access", ok);
                for (int k = 1; k <= 3; k++) {
                    CUmemLocation l = {k, 0};
                    unsigned long long f = 77;
                    r = cuMemGetAccess(&f, &l, a);
                    OUT(" get%d=%s/%llu", k, R(r), f);
                }
                unsigned ty = 77;
                r = cuPointerGetAttribute(&ty, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a);
                OUT(" type=%s/%u", R(r), ty);
                if (w != 1) {
                    r = cuMemsetD8(a, 0x42, 5000);
                    L("memset", r);
                    settle();
                }
                if (w == 2 && !ok) {
                    cuCtxSynchronize();
                    OUT(" cpu=%08x", f32((void *)a, 5000));
                    fill((void *)a, 5000, 3);
                }
                if (w != 1)
                    sum(a, 5000);
                if (w == 1 && !ok) {
                    fill((void *)a, 5000, 3);
                    OUT(" cpu=%08x", f32((void *)a, 5000));
                }
                gone(a, G, h);
            }
    CASE("device-memory-host-access")
    {
        H h = mem(G, 0);
        CUdeviceptr a = va(G);
        MUST(cuMemMap(a, G, 0, h, 0));
        for (int k = 2; k <= 4; k++) {
            CUmemAccessDesc d = {{k, 0}, 3};
            OUT("%s%d:", sep(), k);
            OUT("%s", R(cuMemSetAccess(a, G, &d, 1)));
        }
        gone(a, G, h);
    }
    CASE("both-locations-in-one-range")
    {
        CUmemAllocationProp p = props();
        p.location.type = 2;
        H h = 0, k = mem(G, 0);
        CUresult r = cuMemCreate(&h, G, &p, 0);
        S(r);
        if (!r) {
            CUdeviceptr a = va(2 * G);
            S(cuMemMap(a, G, 0, h, 0));
            S(cuMemMap(a + G, G, 0, k, 0));
            S(may(a, 2 * G, 3));
            put(a + G - 1000, 2000, 5);
            sum(a + G - 1000, 2000);
            cuMemUnmap(a, G);
            cuMemUnmap(a + G, G);
            cuMemAddressFree(a, 2 * G);
            cuMemRelease(h);
        }
        cuMemRelease(k);
    }
    CASE("register-again")
    {
        CUmemAllocationProp p = props();
        p.location.type = 2;
        H h = 0;
        if (!cuMemCreate(&h, G, &p, 0)) {
            CUdeviceptr a = va(G);
            CUmemAccessDesc d[2] = {{{1, 0}, 3}, {{2, 0}, 3}};
            MUST(cuMemMap(a, G, 0, h, 0));
            S(cuMemSetAccess(a, G, d, 2));
            L("register", cuMemHostRegister((void *)a, G, 0));
            CUdeviceptr q;
            L("devptr", cuMemHostGetDevicePointer(&q, (void *)a, 0));
            unsigned f;
            L("hostflags", cuMemHostGetFlags(&f, (void *)a));
            L("freehost", cuMemFreeHost((void *)a));
            gone(a, G, h);
        }
    }
}

// ------------------------------------------------------------------ pointer attributes
static void pattrs(CUdeviceptr p, CUdeviceptr base, CUcontext c)
{
    for (int a = 1; a <= 21; a++) {
        if (a == 5)
            continue;
        unsigned char x[64], y[64];
        memset(x, 0xa5, 64);
        memset(y, 0x5a, 64);
        CUresult r = cuPointerGetAttribute(x, a, p);
        cuPointerGetAttribute(y, a, p);
        int w = 0;
        for (int i = 0; i < 64; i++)
            if (x[i] == y[i])
                w = i + 1;
        uint64_t v = 0;
        memcpy(&v, x, w > 8 ? 8 : w);
        OUT("%s%d:%s", sep(), a, r ? R(r) : "ok");
        if (!w)
            continue;
        OUT("/%dB", w);
        switch (a) {
        case 1:
            OUT("=%s", (CUcontext)v == c ? "cur" : v ? "other" : "null");
            break;
        case 3:
        case 4:
        case 11:
        case 19:
            if (!v)
                OUT("=null");
            else
                OUT("=base%+lld", df(v, base));
            break;
        case 7:
        case 20:
            OUT("=%s", v ? "set" : "zero");
            break;
        case 17:
            OUT("=%s", v ? "set" : "null");
            break;
        default:
            OUT("=%lld", w == 4 ? (long long)(int)v : (long long)v);
        }
    }
}
GROUP(attributes)
{
    CUcontext c = probe_ctx();
    H h = mem(2 * G, 0), k = mem(G, 1);
    CUdeviceptr p = va(8 * G);
    MUST(cuMemMap(p + G, 2 * G, 0, h, 0));
    MUST(cuMemMap(p + 3 * G, G, 0, k, 0));
    MUST(may(p + G, 2 * G, 3));
    MUST(cuMemMap(p + 6 * G, G, 0, k, 0));
    MUST(may(p + 6 * G, G, 1));
    struct {
        const char *n;
        size_t o;
    } at[] = {{"reserved-only", 0},        {"mapped", G},       {"mapped-interior", 2 * G + 777},
              {"mapped-no-access", 3 * G}, {"hole", 4 * G + 5}, {"read-only-alias", 6 * G},
              {"last-byte", 8 * G - 1}};
    for (int i = 0; i < N(at); i++)
        CASE("%s", at[i].n) pattrs(p + at[i].o, p, c);
    for (int i = 0; i < N(at); i++)
        CASE("list-%s", at[i].n)
        {
            CUpointer_attribute l[] = {2, 3, 9, 11, 12, 13, 14, 16, 18, 19};
            uint64_t v[10];
            void *d[10];
            for (int q = 0; q < 10; q++) {
                v[q] = 0;
                d[q] = &v[q];
            }
            S(cuPointerGetAttributes(10, l, d, p + at[i].o));
            OUT(" type=%d dev=%s ord=%d start=%s size=%llu mapped=%d handles=%llx access=%d "
                "msize=%llu mbase=%s",
                (int)v[0],
                !v[1]                 ? "null"
                : v[1] == p + at[i].o ? "p"
                                      : "other",
                (int)v[2],
                !v[3]       ? "null"
                : v[3] == p ? "reservation"
                            : "other",
                (unsigned long long)v[4], (int)v[5] & 255, (unsigned long long)v[6], (int)v[7],
                (unsigned long long)v[8],
                !v[9]               ? "null"
                : v[9] == p + G     ? "first"
                : v[9] == p + 3 * G ? "second"
                : v[9] == p + 6 * G ? "third"
                                    : "other");
        }
    for (int i = 0; i < N(at); i++)
        CASE("range-%s", at[i].n)
        {
            CUdeviceptr b = JUNK;
            size_t z = 777;
            CUresult r = cuMemGetAddressRange(&b, &z, p + at[i].o);
            OUT("%s base=%lld size=%zu", R(r), df(b, p), z);
            acc(p + at[i].o);
            unsigned on = 1;
            L("syncmemops",
              cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + at[i].o));
            CUipcMemHandle ih;
            L("ipc", cuIpcGetMemHandle(&ih, p + at[i].o));
            H q = 0;
            CUresult s = cuMemRetainAllocationHandle(&q, (void *)(p + at[i].o));
            L("retain", s);
            if (!s) {
                OUT("/%s", q == h ? "first" : q == k ? "second" : "other");
                cuMemRelease(q);
            }
            L("free", cuMemFree(p + at[i].o));
        }
}
GROUP(retain)
{
    probe_ctx();
    H h = mem(2 * G, 0);
    CUdeviceptr p = whole(2 * G, h);
    CASE("base")
    {
        H k = 0;
        S(cuMemRetainAllocationHandle(&k, (void *)p));
        OUT(" same=%d", k == h);
        hprops(k);
        S(cuMemRelease(k));
        hprops(h);
    }
    CASE("interior")
    {
        H k = 0;
        S(cuMemRetainAllocationHandle(&k, (void *)(p + G + 5)));
        OUT(" same=%d", k == h);
        S(cuMemRelease(k));
    }
    CASE("end")
    {
        H k = JUNK;
        S(cuMemRetainAllocationHandle(&k, (void *)(p + 2 * G)));
        OUT(" out=%s", out64(k, JUNK));
    }
    CASE("nulls")
    {
        H k;
        L("out", cuMemRetainAllocationHandle(0, (void *)p));
        L("address", cuMemRetainAllocationHandle(&k, 0));
        L("both", cuMemRetainAllocationHandle(0, 0));
        L("low", cuMemRetainAllocationHandle(&k, (void *)PAGE));
    }
    CASE("of-allocation")
    {
        CUdeviceptr d;
        H k = JUNK;
        MUST(cuMemAlloc(&d, 4 * G));
        S(cuMemRetainAllocationHandle(&k, (void *)d));
        OUT(" out=%s", out64(k, JUNK));
        if (k != JUNK && k) {
            hprops(k);
            cuMemRelease(k);
        }
        cuMemFree(d);
    }
    CASE("of-small-allocation")
    {
        CUdeviceptr d;
        H k = JUNK;
        MUST(cuMemAlloc(&d, 100));
        S(cuMemRetainAllocationHandle(&k, (void *)d));
        OUT(" out=%s", out64(k, JUNK));
        cuMemFree(d);
    }
    CASE("of-pool")
    {
        CUdeviceptr d;
        H k = JUNK;
        MUST(cuMemAllocAsync(&d, 4 * G, 0));
        MUST(cuStreamSynchronize(0));
        S(cuMemRetainAllocationHandle(&k, (void *)d));
        OUT(" out=%s", out64(k, JUNK));
        cuMemFree(d);
    }
    CASE("of-pinned")
    {
        void *m;
        H k = JUNK;
        MUST(cuMemAllocHost(&m, 4 * G));
        S(cuMemRetainAllocationHandle(&k, m));
        OUT(" out=%s", out64(k, JUNK));
        cuMemFreeHost(m);
    }
    CASE("of-pageable")
    {
        static char z[64];
        H k = JUNK;
        S(cuMemRetainAllocationHandle(&k, z));
        OUT(" out=%s", out64(k, JUNK));
    }
    CASE("many")
    {
        H k = 0;
        for (int i = 0; i < 100; i++)
            MUST(cuMemRetainAllocationHandle(&k, (void *)p));
        int ok = 0;
        for (int i = 0; i < 100; i++)
            ok += !cuMemRelease(k);
        OUT("%d", ok);
        hprops(h);
    }
    CASE("keeps-alive")
    {
        H a = mem(G, 0), k = 0;
        CUdeviceptr q = whole(G, a);
        put(q, 5000, 3);
        S(cuMemRetainAllocationHandle(&k, (void *)q));
        S(cuMemRelease(a));
        S(cuMemUnmap(q, G));
        S(cuMemMap(q, G, 0, k, 0));
        S(may(q, G, 3));
        sum(q, 5000);
        gone(q, G, k);
    }
}

// ------------------------------------------------------------------ sharing by descriptor
GROUP(share)
{
    probe_ctx();
    for (int t = 0; t <= 9; t++)
        CASE("export-type%d", t)
        {
            int want[] = {0, 1, 8, 9};
            for (int i = 0; i < 4; i++) {
                CUmemAllocationProp p = props();
                p.requestedHandleTypes = want[i];
                H h = 0;
                CUresult r = cuMemCreate(&h, G, &p, 0);
                OUT("%swanted%d:", sep(), want[i]);
                if (r) {
                    OUT("create-%s", R(r));
                    continue;
                }
                char o[256];
                memset(o, 0x5a, 256);
                r = cuMemExportToShareableHandle(o, h, t, 0);
                int by = 0;
                for (int q = 0; q < 256; q++)
                    if (o[q] != 0x5a)
                        by = q + 1;
                OUT("%s/%dB", R(r), by);
                if (!r && t == 1)
                    close(*(int *)o);
                cuMemRelease(h);
            }
        }
    CASE("export-args")
    {
        H h = mem(G, 1);
        int fd = -1;
        L("flags1", cuMemExportToShareableHandle(&fd, h, 1, 1));
        L("null-out", cuMemExportToShareableHandle(0, h, 1, 0));
        L("handle0", cuMemExportToShareableHandle(&fd, 0, 1, 0));
        L("both", cuMemExportToShareableHandle(0, 0, 1, 0));
        L("handle0-badtype", cuMemExportToShareableHandle(&fd, 0, 64, 0));
        L("badtype-flags", cuMemExportToShareableHandle(&fd, h, 64, 1));
        OUT(" fd=%d", fd);
        cuMemRelease(h);
    }
    CASE("export-twice")
    {
        H h = mem(G, 1);
        int a = -1, b = -1;
        S(cuMemExportToShareableHandle(&a, h, 1, 0));
        S(cuMemExportToShareableHandle(&b, h, 1, 0));
        struct stat s;
        memset(&s, 0, sizeof s);
        fstat(a, &s);
        OUT(" differ=%d cloexec=%d mode=%o size=%lld", a != b,
            fcntl(a, F_GETFD) & FD_CLOEXEC ? 1 : 0, s.st_mode & S_IFMT, (long long)s.st_size);
        close(a);
        close(b);
        cuMemRelease(h);
    }
    CASE("import-own")
    {
        H h = mem(2 * G, 1), k = 0;
        CUdeviceptr p = whole(2 * G, h);
        put(p, 5000, 21);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        S(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, 1));
        OUT(" same=%d", h == k);
        hprops(k);
        CUdeviceptr q = whole(2 * G, k);
        sum(q, 5000);
        S(cuMemsetD8(q, 3, 100));
        sum(p, 5000);
        H m = 0;
        cuMemRetainAllocationHandle(&m, (void *)q);
        OUT(" retained-is-import=%d", m == k);
        cuMemRelease(m);
        close(fd);
        sum(q, 5000);
        gone(q, 2 * G, k);
        sum(p, 5000);
        gone(p, 2 * G, h);
    }
    CASE("import-twice")
    {
        H h = mem(G, 1), a = 0, b = 0;
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        S(cuMemImportFromShareableHandle(&a, (void *)(intptr_t)fd, 1));
        S(cuMemImportFromShareableHandle(&b, (void *)(intptr_t)fd, 1));
        OUT(" same=%d", a == b);
        close(fd);
        S(cuMemRelease(a));
        S(cuMemRelease(b));
        S(cuMemRelease(h));
    }
    CASE("import-outlives-exporter")
    {
        H h = mem(G, 1), k = 0;
        CUdeviceptr p = whole(G, h);
        put(p, 5000, 22);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        gone(p, G, h);
        S(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, 1));
        close(fd);
        if (k) {
            CUdeviceptr q = whole(G, k);
            sum(q, 5000);
            gone(q, G, k);
        }
    }
    CASE("import-dup")
    {
        H h = mem(G, 1), k = 0;
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        int d = dup(fd);
        close(fd);
        S(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)d, 1));
        close(d);
        if (k)
            cuMemRelease(k);
        cuMemRelease(h);
    }
    CASE("fd-alone-keeps-memory")
    {
        size_t a, b, c, z;
        cuMemGetInfo(&a, &z);
        H h = mem(64 << 20, 1);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        cuMemRelease(h);
        cuMemGetInfo(&b, &z);
        close(fd);
        cuMemGetInfo(&c, &z);
        OUT("with-fd=%lld closed=%lld", (long long)(a - b), (long long)(a - c));
    }
    CASE("import-reexport")
    {
        H h = mem(G, 1), k = 0, m = 0;
        int fd = -1, fe = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        MUST(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, 1));
        S(cuMemExportToShareableHandle(&fe, k, 1, 0));
        S(cuMemImportFromShareableHandle(&m, (void *)(intptr_t)fe, 1));
        close(fd);
        close(fe);
        if (m)
            cuMemRelease(m);
        cuMemRelease(k);
        cuMemRelease(h);
    }
    CASE("import-bad-fd")
    {
        H k = JUNK;
        int n = open("/dev/null", O_RDWR), f = open("/proc/self/exe", O_RDONLY), pp[2];
        if (pipe(pp))
            pp[0] = pp[1] = -1;
        L("neg", cuMemImportFromShareableHandle(&k, (void *)-1l, 1));
        L("closed", cuMemImportFromShareableHandle(&k, (void *)999l, 1));
        L("huge", cuMemImportFromShareableHandle(&k, (void *)0x7fffffffl, 1));
        L("devnull", cuMemImportFromShareableHandle(&k, (void *)(intptr_t)n, 1));
        L("file", cuMemImportFromShareableHandle(&k, (void *)(intptr_t)f, 1));
        L("pipe", cuMemImportFromShareableHandle(&k, (void *)(intptr_t)pp[0], 1));
        OUT(" out=%s", out64(k, JUNK));
        close(n);
        close(f);
        close(pp[0]);
        close(pp[1]);
    }
    CASE("import-types")
    {
        H h = mem(G, 1);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        for (int t = 0; t <= 9; t++)
            if (t != 8) {
                H k = 0;
                CUresult r = cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, t);
                OUT("%s%d:%s", sep(), t, R(r));
                if (!r && k)
                    cuMemRelease(k);
            }
        L("null-out", cuMemImportFromShareableHandle(0, (void *)(intptr_t)fd, 1));
        close(fd);
        cuMemRelease(h);
    }
    CASE("import-fabric-null")
    {
        H k;
        S(cuMemImportFromShareableHandle(&k, 0, 8));
    }
    CASE("import-fabric-zero")
    {
        CUmemFabricHandle f;
        memset(&f, 0, sizeof f);
        H k;
        S(cuMemImportFromShareableHandle(&k, &f, 8));
    }
    CASE("import-pool-fd")
    {
        CUmemPoolProps pp;
        memset(&pp, 0, sizeof pp);
        pp.allocType = 1;
        pp.location.type = 1;
        pp.handleTypes = 1;
        CUmemoryPool m = 0;
        MUST(cuMemPoolCreate(&m, &pp));
        int fd = -1;
        MUST(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        H k = 0;
        S(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, 1));
        close(fd);
        cuMemPoolDestroy(m);
    }
    CASE("external-memory-of-fd")
    {
        CUexternalMemory x = 0;
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
        memset(&d, 0, sizeof d);
        d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
        d.handle.fd = probe_vmm_fd(2 * G);
        d.size = 2 * G;
        S(cuImportExternalMemory(&x, &d));
        if (x) {
            CUDA_EXTERNAL_MEMORY_BUFFER_DESC b;
            memset(&b, 0, sizeof b);
            b.size = 2 * G;
            CUdeviceptr p = 0;
            S(cuExternalMemoryGetMappedBuffer(&p, x, &b));
            H k = 0;
            L("retain", cuMemRetainAllocationHandle(&k, (void *)p));
            CUdeviceptr e;
            size_t z = 0;
            L("range", cuMemGetAddressRange(&e, &z, p));
            OUT("/%zu", z);
            acc(p);
            L("free", cuMemFree(p));
            cuDestroyExternalMemory(x);
        }
    }
    CASE("child")
    {
        H h = mem(2 * G, 1);
        CUdeviceptr p = whole(2 * G, h);
        put(p, 2 * G, 23);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        kid("memfd", fd, "", 0);
        sum(p, 2 * G);
        close(fd);
        gone(p, 2 * G, h);
    }
    CASE("child-after-parent-let-go")
    {
        H h = mem(2 * G, 1);
        CUdeviceptr p = whole(2 * G, h);
        put(p, 2 * G, 24);
        int fd = -1;
        MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
        gone(p, 2 * G, h);
        kid("memfd", fd, "", 0);
        close(fd);
    }
    CASE("child-of-rdma-memory")
    {
        CUmemAllocationProp q = props();
        q.requestedHandleTypes = 1;
        q.allocFlags.gpuDirectRDMACapable = 1;
        H h = 0;
        CUresult r = cuMemCreate(&h, 2 * G, &q, 0);
        S(r);
        if (!r) {
            CUdeviceptr p = whole(2 * G, h);
            put(p, 2 * G, 25);
            int fd = -1;
            MUST(cuMemExportToShareableHandle(&fd, h, 1, 0));
            kid("memfd", fd, "", 0);
            sum(p, 2 * G);
            close(fd);
            gone(p, 2 * G, h);
        }
    }
    CASE("child-without-fd") kid("memfd", -1, "", 0);
    CASE("numa-child")
    {
        CUmemAllocationProp q = props();
        q.location.type = 3;
        q.requestedHandleTypes = 1;
        H h = 0;
        CUresult r = cuMemCreate(&h, 2 * G, &q, 0);
        S(r);
        if (!r) {
            CUdeviceptr p = va(2 * G);
            MUST(cuMemMap(p, 2 * G, 0, h, 0));
            S(may(p, 2 * G, 3));
            put(p, 2 * G, 26);
            int fd = -1;
            r = cuMemExportToShareableHandle(&fd, h, 1, 0);
            S(r);
            if (!r) {
                kid("memfd", fd, "", 0);
                sum(p, 2 * G);
                close(fd);
            }
            gone(p, 2 * G, h);
        }
    }
}

// ------------------------------------------------------------------ legacy IPC
static CUipcMemHandle ipc(CUdeviceptr p)
{
    CUipcMemHandle h;
    memset(&h, 0, sizeof h);
    MUST(cuIpcGetMemHandle(&h, p));
    return h;
}
GROUP(ipcmem)
{
    probe_ctx();
    CUdeviceptr d, s;
    MUST(cuMemAlloc(&d, 4 * G));
    MUST(cuMemAlloc(&s, 1000));
    CUipcMemHandle h;
#define GET(nm, a)                                                                                 \
    CASE("get-%s", nm)                                                                             \
    {                                                                                              \
        memset(&h, 0x5a, sizeof h);                                                                \
        CUresult r = cuIpcGetMemHandle(&h, a);                                                     \
        S(r);                                                                                      \
        int by = 0;                                                                                \
        for (int i = 0; i < 64; i++)                                                               \
            if (h.reserved[i] != 0x5a)                                                             \
                by = i + 1;                                                                        \
        OUT(" wrote=%d", by);                                                                      \
    }
    GET("large", d)
    GET("large-interior", d + G) GET("large-interior-1", d + 1) GET("large-end", d + 4 * G)
        GET("small", s) GET("small-interior", s + 10) GET("null", 0) GET("low", PAGE)
            GET("pageable", (CUdeviceptr)&h) CASE("get-pinned")
    {
        void *m;
        MUST(cuMemAllocHost(&m, 4 * G));
        S(cuIpcGetMemHandle(&h, (CUdeviceptr)m));
        cuMemFreeHost(m);
    }
    CASE("get-pool")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4 * G, 0));
        MUST(cuStreamSynchronize(0));
        S(cuIpcGetMemHandle(&h, p));
        cuMemFree(p);
    }
    CASE("get-vmm")
    {
        H k = mem(G, 1);
        CUdeviceptr p = whole(G, k);
        S(cuIpcGetMemHandle(&h, p));
        gone(p, G, k);
    }
    CASE("get-freed")
    {
        CUdeviceptr p;
        MUST(cuMemAlloc(&p, 4 * G));
        cuMemFree(p);
        S(cuIpcGetMemHandle(&h, p));
    }
    CASE("get-null-out")
    {
        S(cuIpcGetMemHandle(0, d));
        S(cuIpcGetMemHandle(0, 0));
    }
    CASE("get-pitched")
    {
        CUdeviceptr p;
        size_t z;
        MUST(cuMemAllocPitch(&p, &z, 1000, 10, 4));
        S(cuIpcGetMemHandle(&h, p));
        cuMemFree(p);
    }
    CASE("get-equal")
    {
        CUipcMemHandle a = ipc(d), b = ipc(d), c = ipc(s);
        OUT("same-pointer=%d other=%d", !memcmp(&a, &b, 64), !memcmp(&a, &c, 64));
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 1000));
        CUipcMemHandle e = ipc(t);
        OUT(" two-small=%d", !memcmp(&c, &e, 64));
        cuMemFree(t);
        CUdeviceptr p, q;
        MUST(cuMemAlloc(&p, 4 * G));
        a = ipc(p);
        cuMemFree(p);
        MUST(cuMemAlloc(&q, 4 * G));
        b = ipc(q);
        OUT(" reallocated: address=%d handle=%d", p == q, !memcmp(&a, &b, 64));
        cuMemFree(q);
    }
    CASE("legacy-capable")
    {
        int v[4] = {7, 7, 7, 7};
        cuPointerGetAttribute(&v[0], CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, d);
        cuPointerGetAttribute(&v[1], CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, s);
        H k = mem(G, 1);
        CUdeviceptr p = whole(G, k);
        cuPointerGetAttribute(&v[2], CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p);
        gone(p, G, k);
        OUT("large=%d small=%d vmm=%d", v[0] & 255, v[1] & 255, v[2] & 255);
    }
    for (unsigned f = 0; f <= 4; f++)
        CASE("open-own-flags%u", f)
        {
            CUdeviceptr p = JUNK;
            CUresult r = cuIpcOpenMemHandle(&p, ipc(d), f);
            OUT("%s out=%s", R(r), p == d ? "same" : out64(p, JUNK));
            if (!r)
                L("close", cuIpcCloseMemHandle(p));
            p = JUNK;
            r = one_IpcOpenMemHandle(&p, ipc(d), f);
            OUT(" v1=%s", R(r));
            if (!r)
                cuIpcCloseMemHandle(p);
        }
    CASE("open-own-small")
    {
        CUdeviceptr p = JUNK;
        CUresult r = cuIpcOpenMemHandle(&p, ipc(s), 1);
        S(r);
        if (!r)
            cuIpcCloseMemHandle(p);
    }
    CASE("open-garbage")
    {
        CUdeviceptr p = JUNK;
        memset(&h, 0, 64);
        L("zero", cuIpcOpenMemHandle(&p, h, 1));
        memset(&h, 0x5a, 64);
        L("5a", cuIpcOpenMemHandle(&p, h, 1));
        memset(&h, 0xff, 64);
        L("ff", cuIpcOpenMemHandle(&p, h, 1));
        h = ipc(d);
        h.reserved[0] ^= 1;
        L("first-bit", cuIpcOpenMemHandle(&p, h, 1));
        h = ipc(d);
        h.reserved[63] ^= 1;
        L("last-bit", cuIpcOpenMemHandle(&p, h, 1));
        L("null-out", cuIpcOpenMemHandle(0, ipc(d), 1));
        memset(&h, 0, 64);
        L("zero-flags0", cuIpcOpenMemHandle(&p, h, 0));
        L("null-out-zero", cuIpcOpenMemHandle(0, h, 1));
        OUT(" out=%s", out64(p, JUNK));
    }
    CASE("close-errors")
    {
        L("null", cuIpcCloseMemHandle(0));
        L("own", cuIpcCloseMemHandle(d));
        L("low", cuIpcCloseMemHandle(PAGE));
        L("interior", cuIpcCloseMemHandle(d + 5));
        CUdeviceptr b;
        size_t z = 0;
        CUresult r = cuMemGetAddressRange(&b, &z, d);
        OUT(" still=%s/%zu", R(r), z);
    }
    CASE("child-large")
    {
        put(d, 4 << 20, 31);
        h = ipc(d);
        kid("ipcmem", -1, &h, sizeof h);
        sum(d, 4 << 20);
    }
    CASE("child-small")
    {
        put(s, 1000, 32);
        h = ipc(s);
        kid("ipcmem", -1, &h, sizeof h);
        sum(s, 1000);
    }
    CASE("child-second-small")
    {
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 5000));
        put(t, 5000, 33);
        h = ipc(t);
        kid("ipcmem", -1, &h, sizeof h);
        sum(t, 5000);
        cuMemFree(t);
    }
    CASE("child-medium")
    {
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 1 << 20));
        put(t, 1 << 20, 34);
        h = ipc(t);
        kid("ipcmem", -1, &h, sizeof h);
        sum(t, 1 << 20);
        cuMemFree(t);
    }
    CASE("child-interior")
    {
        memset(&h, 0, sizeof h);
        CUresult r = cuIpcGetMemHandle(&h, d + G);
        S(r);
        if (!r) {
            put(d + G, G, 35);
            kid("ipcmem", -1, &h, sizeof h);
        }
    }
    CASE("child-two-handles")
    {
        CUipcMemHandle two[2] = {ipc(d), ipc(s)};
        put(d, 4096, 36);
        put(s, 1000, 37);
        kid("ipctwo", -1, two, sizeof two);
    }
    CASE("child-freed")
    {
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 8 * G));
        h = ipc(t);
        cuMemFree(t);
        kid("ipcmem", -1, &h, sizeof h);
    }
    CASE("child-garbage")
    {
        memset(&h, 0x11, sizeof h);
        kid("ipcmem", -1, &h, sizeof h);
    }
    CASE("child-twice-over")
    {
        h = ipc(d);
        put(d, 4096, 38);
        kid("ipcmem", -1, &h, sizeof h);
        kid("ipcmem", -1, &h, sizeof h);
    }
    CASE("parent-frees-after-child")
    {
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 8 * G));
        put(t, 4096, 39);
        h = ipc(t);
        kid("ipcmem", -1, &h, sizeof h);
        S(cuMemFree(t));
    }
#undef GET
}
GROUP(ipcevent)
{
    probe_ctx();
    CUipcEventHandle h;
    CUevent e, f;
    for (unsigned fl = 0; fl < 16; fl++)
        CASE("create-flags-%x", fl)
        {
            e = 0;
            CUresult r = cuEventCreate(&e, fl);
            S(r);
            if (r)
                continue;
            memset(&h, 0x5a, sizeof h);
            r = cuIpcGetEventHandle(&h, e);
            int by = 0;
            for (int i = 0; i < 64; i++)
                if (h.reserved[i] != 0x5a)
                    by = i + 1;
            OUT(" get=%s wrote=%d", R(r), by);
            cuEventDestroy(e);
        }
    CASE("get-args")
    {
        MUST(cuEventCreate(&e, 6));
        L("null-out", cuIpcGetEventHandle(0, e));
        L("null-event", cuIpcGetEventHandle(&h, 0));
        L("both", cuIpcGetEventHandle(0, 0));
        CUipcEventHandle k;
        cuIpcGetEventHandle(&h, e);
        cuIpcGetEventHandle(&k, e);
        OUT(" same=%d", !memcmp(&h, &k, 64));
        cuEventDestroy(e);
    }
    CASE("open-own")
    {
        MUST(cuEventCreate(&e, 6));
        MUST(cuIpcGetEventHandle(&h, e));
        f = (CUevent)JUNK;
        S(cuIpcOpenEventHandle(&f, h));
        OUT(" out=%s", f == e ? "same" : out64((uint64_t)f, JUNK));
        if (f != (CUevent)JUNK && f && f != e) {
            L("query", cuEventQuery(f));
            L("record", cuEventRecord(f, 0));
            L("sync", cuEventSynchronize(f));
            L("query-first", cuEventQuery(e));
            L("destroy", cuEventDestroy(f));
        }
        cuEventDestroy(e);
    }
    CASE("open-garbage")
    {
        f = (CUevent)JUNK;
        memset(&h, 0, 64);
        L("zero", cuIpcOpenEventHandle(&f, h));
        memset(&h, 0x5a, 64);
        L("5a", cuIpcOpenEventHandle(&f, h));
        MUST(cuEventCreate(&e, 6));
        MUST(cuIpcGetEventHandle(&h, e));
        L("null-out", cuIpcOpenEventHandle(0, h));
        CUdeviceptr d;
        CUipcMemHandle m;
        MUST(cuMemAlloc(&d, 4 * G));
        m = ipc(d);
        memcpy(&h, &m, 64);
        L("memory-handle", cuIpcOpenEventHandle(&f, h));
        OUT(" out=%s", out64((uint64_t)f, JUNK));
        cuMemFree(d);
        cuEventDestroy(e);
    }
    CASE("event-handle-as-memory")
    {
        MUST(cuEventCreate(&e, 6));
        MUST(cuIpcGetEventHandle(&h, e));
        CUipcMemHandle m;
        memcpy(&m, &h, 64);
        CUdeviceptr d;
        S(cuIpcOpenMemHandle(&d, m, 1));
        cuEventDestroy(e);
    }
    CASE("elapsed")
    {
        MUST(cuEventCreate(&e, 6));
        MUST(cuEventCreate(&f, 6));
        cuEventRecord(e, 0);
        cuEventRecord(f, 0);
        cuCtxSynchronize();
        float ms;
        S(cuEventElapsedTime(&ms, e, f));
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("child-recorded")
    {
        MUST(cuEventCreate(&e, 6));
        S(cuEventRecord(e, 0));
        S(cuEventSynchronize(e));
        MUST(cuIpcGetEventHandle(&h, e));
        kid("ipcevent", -1, &h, sizeof h);
        S(cuEventQuery(e));
        S(cuEventSynchronize(e));
        cuEventDestroy(e);
    }
    CASE("child-never-recorded")
    {
        MUST(cuEventCreate(&e, 6));
        MUST(cuIpcGetEventHandle(&h, e));
        kid("ipcevent", -1, &h, sizeof h);
        S(cuEventQuery(e));
        cuEventDestroy(e);
    }
    CASE("child-blocking-sync")
    {
        MUST(cuEventCreate(&e, 7));
        cuEventRecord(e, 0);
        MUST(cuIpcGetEventHandle(&h, e));
        kid("ipcevent", -1, &h, sizeof h);
        cuEventDestroy(e);
    }
    CASE("child-destroyed")
    {
        MUST(cuEventCreate(&e, 6));
        MUST(cuIpcGetEventHandle(&h, e));
        cuEventDestroy(e);
        kid("ipcevent", -1, &h, sizeof h);
    }
    CASE("child-garbage")
    {
        memset(&h, 0x11, sizeof h);
        kid("ipcevent", -1, &h, sizeof h);
    }
}

// ------------------------------------------------------------------ dma-buf
static void dmabuf(CUdeviceptr p, size_t n, int type, unsigned long long fl)
{
    int fd = -77;
    CUresult r = cuMemGetHandleForAddressRange(&fd, p, n, type, fl);
    S(r);
    if (r) {
        if (fd != -77)
            OUT("/touched");
        return;
    }
    OUT("/fd=%d/size=%lld/cloexec=%d", fd >= 0, (long long)lseek(fd, 0, SEEK_END),
        fcntl(fd, F_GETFD) & FD_CLOEXEC ? 1 : 0);
    close(fd);
}
GROUP(dmabuf)
{
    probe_ctx();
    CUdeviceptr d, s;
    MUST(cuMemAlloc(&d, 4 * G));
    MUST(cuMemAlloc(&s, 1000));
    struct {
        const char *n;
        size_t o, z;
    } rg[] = {{"whole", 0, 4 * G},
              {"half", 0, 2 * G},
              {"second-half", 2 * G, 2 * G},
              {"page", 0, PAGE},
              {"page-inside", PAGE, PAGE},
              {"64k", 0, 65536},
              {"64k-inside", 65536, 65536},
              {"last-page", 4 * G - PAGE, PAGE},
              {"unaligned-pointer", 1, PAGE},
              {"unaligned-512", 512, PAGE},
              {"unaligned-size", 0, 5000},
              {"size0", 0, 0},
              {"past-end", 0, 4 * G + PAGE},
              {"last-past-end", 4 * G - PAGE, 2 * PAGE},
              {"at-end", 4 * G, PAGE},
              {"huge", 0, (size_t)1 << 40}};
    for (int i = 0; i < N(rg); i++)
        CASE("range-%s", rg[i].n) dmabuf(d + rg[i].o, rg[i].z, 1, 0);
    for (int t = -1; t <= 3; t++)
        CASE("type%d", t) dmabuf(d, 4 * G, t, 0);
    for (int f = 0; f <= 4; f++)
        CASE("flags%d", f) dmabuf(d, 4 * G, 1, f);
    CASE("flags-high") dmabuf(d, 4 * G, 1, 1ull << 63);
    CASE("nulls")
    {
        L("out", cuMemGetHandleForAddressRange(0, d, 4 * G, 1, 0));
        L("out-type", cuMemGetHandleForAddressRange(0, d, 4 * G, 9, 0));
        int fd = -77;
        L("pointer", cuMemGetHandleForAddressRange(&fd, 0, 4 * G, 1, 0));
        L("pointer-0", cuMemGetHandleForAddressRange(&fd, 0, 0, 1, 0));
        L("all", cuMemGetHandleForAddressRange(0, 0, 0, 0, 1));
        L("badtype-unaligned", cuMemGetHandleForAddressRange(&fd, d + 1, 5, 9, 0));
        L("badflags-unaligned", cuMemGetHandleForAddressRange(&fd, d + 1, 5, 1, 8));
        OUT(" fd=%d", fd);
    }
    CASE("small")
    {
        dmabuf(s, PAGE, 1, 0);
        dmabuf(s, 1000, 1, 0);
        dmabuf(s & ~(PAGE - 1), PAGE, 1, 0);
    }
    CASE("freed")
    {
        CUdeviceptr t;
        MUST(cuMemAlloc(&t, 4 * G));
        cuMemFree(t);
        dmabuf(t, 4 * G, 1, 0);
    }
    CASE("pinned")
    {
        void *m;
        MUST(cuMemAllocHost(&m, 4 * G));
        dmabuf((CUdeviceptr)m, 4 * G, 1, 0);
        dmabuf((CUdeviceptr)m, PAGE, 1, 0);
        cuMemFreeHost(m);
    }
    CASE("pageable")
    {
        static char z[8192] __attribute__((aligned(4096)));
        dmabuf((CUdeviceptr)z, PAGE, 1, 0);
        dmabuf(PAGE, PAGE, 1, 0);
    }
    CASE("pool")
    {
        CUdeviceptr t;
        MUST(cuMemAllocAsync(&t, 4 * G, 0));
        MUST(cuStreamSynchronize(0));
        dmabuf(t, 4 * G, 1, 0);
        cuMemFree(t);
    }
    CASE("pitched")
    {
        CUdeviceptr t;
        size_t z;
        MUST(cuMemAllocPitch(&t, &z, 4096, 1024, 4));
        dmabuf(t, 4 << 20, 1, 0);
        cuMemFree(t);
    }
    for (int c = 0; c < 4; c++)
        CASE("vmm-%s", c == 0 ? "plain" : c == 1 ? "rdma" : c == 2 ? "rdma-fd" : "compressed")
        {
            CUmemAllocationProp p = props();
            p.allocFlags.gpuDirectRDMACapable = c == 1 || c == 2;
            p.requestedHandleTypes = c == 2;
            p.allocFlags.compressionType = c == 3;
            H h = 0;
            CUresult r = cuMemCreate(&h, 2 * G, &p, 0);
            S(r);
            if (r)
                continue;
            CUdeviceptr a = va(4 * G);
            MUST(cuMemMap(a, 2 * G, 0, h, 0));
            dmabuf(a, 2 * G, 1, 0);
            MUST(may(a, 2 * G, 3));
            dmabuf(a, 2 * G, 1, 0);
            dmabuf(a, 2 * G, 1, 1);
            dmabuf(a, PAGE, 1, 0);
            dmabuf(a, 4 * G, 1, 0);
            dmabuf(a + 2 * G, G, 1, 0);
            cuMemUnmap(a, 2 * G);
            dmabuf(a, 2 * G, 1, 0);
            cuMemAddressFree(a, 4 * G);
            cuMemRelease(h);
        }
    CASE("vmm-two-handles")
    {
        CUmemAllocationProp p = props();
        p.allocFlags.gpuDirectRDMACapable = 1;
        H h = 0, k = 0;
        MUST(cuMemCreate(&h, G, &p, 0));
        MUST(cuMemCreate(&k, G, &p, 0));
        CUdeviceptr a = va(2 * G);
        MUST(cuMemMap(a, G, 0, h, 0));
        MUST(cuMemMap(a + G, G, 0, k, 0));
        MUST(may(a, 2 * G, 3));
        dmabuf(a, 2 * G, 1, 0);
        cuMemUnmap(a, G);
        cuMemUnmap(a + G, G);
        cuMemAddressFree(a, 2 * G);
        cuMemRelease(h);
        cuMemRelease(k);
    }
    CASE("vmm-host")
    {
        CUmemAllocationProp p = props();
        p.location.type = 2;
        H h = 0;
        if (!cuMemCreate(&h, 2 * G, &p, 0)) {
            CUdeviceptr a = va(2 * G);
            MUST(cuMemMap(a, 2 * G, 0, h, 0));
            S(may(a, 2 * G, 3));
            dmabuf(a, 2 * G, 1, 0);
            gone(a, 2 * G, h);
        }
    }
    CASE("twice")
    {
        int a = -1, b = -1;
        CUresult r = cuMemGetHandleForAddressRange(&a, d, 4 * G, 1, 0),
                 q = cuMemGetHandleForAddressRange(&b, d, 4 * G, 1, 0);
        OUT("%s %s differ=%d", R(r), R(q), a != b);
        if (!r)
            close(a);
        if (!q)
            close(b);
    }
    CASE("keeps-memory")
    {
        size_t x, y, z, t;
        cuMemGetInfo(&x, &t);
        CUdeviceptr p;
        MUST(cuMemAlloc(&p, 64 << 20));
        int fd = -1;
        CUresult r = cuMemGetHandleForAddressRange(&fd, p, 64 << 20, 1, 0);
        cuMemFree(p);
        cuMemGetInfo(&y, &t);
        if (!r)
            close(fd);
        cuMemGetInfo(&z, &t);
        OUT("%s with-fd=%lld closed=%lld", R(r), (long long)(x - y), (long long)(x - z));
    }
    CASE("as-vmm-handle")
    {
        int fd = -1;
        CUresult r = cuMemGetHandleForAddressRange(&fd, d, 4 * G, 1, 0);
        if (!r) {
            H k = 0;
            S(cuMemImportFromShareableHandle(&k, (void *)(intptr_t)fd, 1));
            close(fd);
        } else
            OUT("none");
    }
}

// ------------------------------------------------------------------ work that touches what it may
// not: a process for each
static int fault_no;
static const char *fault_names[] = {"reserved-only-memset",
                                    "no-access-memset",
                                    "no-access-memset-async",
                                    "no-access-DtoH",
                                    "no-access-HtoD",
                                    "no-access-DtoD-source",
                                    "no-access-DtoD-target",
                                    "read-only-memset",
                                    "read-only-HtoD",
                                    "read-only-DtoD-target",
                                    "read-only-DtoH",
                                    "memset-into-hole",
                                    "copy-into-hole",
                                    "DtoH-over-hole",
                                    "memset-into-no-access",
                                    "after-unmap",
                                    "after-unmap-async",
                                    "after-access-none",
                                    "after-address-free",
                                    "unmap-with-work-queued",
                                    "release-with-work-queued",
                                    "access-none-with-work-queued",
                                    "cpu-reads-device-mapping",
                                    "cpu-writes-device-mapping",
                                    "cpu-reads-reservation",
                                    "cpu-reads-host-memory-without-access",
                                    "gpu-writes-host-memory-without-access",
                                    "memset-2D-over-hole",
                                    "async-copy-from-no-access",
                                    "freed-allocation-memset",
                                    "past-allocation-memset"};
static void after(void)
{
    L("sync", cuCtxSynchronize());
    CUdeviceptr q = 0;
    size_t f, t;
    unsigned v;
    CUcontext c;
    L("alloc", cuMemAlloc(&q, 16));
    L("info", cuMemGetInfo(&f, &t));
    L("query", cuStreamQuery(0));
    L("again", cuCtxSynchronize());
    L("flags", cuCtxGetFlags(&v));
    L("current", cuCtxGetCurrent(&c));
    CUevent e;
    L("event", cuEventCreate(&e, 0));
}
static void fault(void)
{
    probe_ctx();
    CUdeviceptr p = va(4 * G), d = 0;
    H h = mem(2 * G, 0);
    static char t[8192];
    MUST(cuMemAlloc(&d, G));
    CUresult r = 0;
    CASE("%s", fault_names[fault_no])
    {
        if (fault_no)
            MUST(cuMemMap(p, 2 * G, 0, h, 0));
        memset(t, 0, sizeof t);
        switch (fault_no) {
        case 0:
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 1:
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 2:
            L("memset", cuMemsetD8Async(p, 1, 4096, 0));
            break;
        case 3:
            L("copy", cuMemcpyDtoH(t, p, 4096));
            break;
        case 4:
            L("copy", cuMemcpyHtoD(p, t, 4096));
            break;
        case 5:
            L("copy", cuMemcpyDtoD(d, p, 4096));
            break;
        case 6:
            L("copy", cuMemcpyDtoD(p, d, 4096));
            break;
        case 7:
            L("access", may(p, 2 * G, 1));
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 8:
            L("access", may(p, 2 * G, 1));
            L("copy", cuMemcpyHtoD(p, t, 4096));
            break;
        case 9:
            L("access", may(p, 2 * G, 1));
            L("copy", cuMemcpyDtoD(p, d, 4096));
            break;
        case 10:
            MUST(may(p, 2 * G, 3));
            put(p, 4096, 1);
            L("access", may(p, 2 * G, 1));
            sum(p, 4096);
            break;
        case 11:
            MUST(may(p, 2 * G, 3));
            L("memset", cuMemsetD8(p + 2 * G - 4096, 1, 8192));
            break;
        case 12:
            MUST(may(p, 2 * G, 3));
            L("copy", cuMemcpyHtoD(p + 2 * G - 4096, t, 8192));
            break;
        case 13:
            MUST(may(p, 2 * G, 3));
            L("copy", cuMemcpyDtoH(t, p + 2 * G - 4096, 8192));
            break;
        case 14: {
            MUST(may(p, 2 * G, 3));
            H k = mem(G, 0);
            MUST(cuMemMap(p + 2 * G, G, 0, k, 0));
            L("memset", cuMemsetD8(p + 2 * G - 4096, 1, 8192));
            break;
        }
        case 15:
            MUST(may(p, 2 * G, 3));
            L("memset", cuMemsetD8(p, 1, 4096));
            L("unmap", cuMemUnmap(p, 2 * G));
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 16:
            MUST(may(p, 2 * G, 3));
            L("unmap", cuMemUnmap(p, 2 * G));
            L("memset", cuMemsetD8Async(p, 1, 4096, 0));
            break;
        case 17:
            MUST(may(p, 2 * G, 3));
            L("memset", cuMemsetD8(p, 1, 4096));
            L("none", may(p, 2 * G, 0));
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 18:
            MUST(may(p, 2 * G, 3));
            cuMemUnmap(p, 2 * G);
            L("free", cuMemAddressFree(p, 4 * G));
            L("memset", cuMemsetD8(p, 1, 4096));
            break;
        case 19:
            MUST(may(p, 2 * G, 3));
            for (int i = 0; i < 200; i++)
                r |= cuMemsetD8Async(p, i, 2 * G, 0);
            L("memsets", r);
            L("unmap", cuMemUnmap(p, 2 * G));
            break;
        case 20:
            MUST(may(p, 2 * G, 3));
            for (int i = 0; i < 200; i++)
                r |= cuMemsetD8Async(p, i, 2 * G, 0);
            L("memsets", r);
            L("release", cuMemRelease(h));
            L("sync", cuCtxSynchronize());
            sum(p, 4096);
            break;
        case 21:
            MUST(may(p, 2 * G, 3));
            for (int i = 0; i < 200; i++)
                r |= cuMemsetD8Async(p, i, 2 * G, 0);
            L("memsets", r);
            L("none", may(p, 2 * G, 0));
            break;
        case 22:
            MUST(may(p, 2 * G, 3));
            OUT("reading");
            t[0] = *(volatile char *)p;
            OUT(" read");
            break;
        case 23:
            MUST(may(p, 2 * G, 3));
            OUT("writing");
            *(volatile char *)p = 1;
            OUT(" wrote");
            break;
        case 24:
            cuMemUnmap(p, 2 * G);
            OUT("reading");
            t[0] = *(volatile char *)p;
            OUT(" read");
            break;
        case 25:
        case 26: {
            cuMemUnmap(p, 2 * G);
            CUmemAllocationProp q = props();
            q.location.type = CU_MEM_LOCATION_TYPE_HOST;
            H k = 0;
            r = cuMemCreate(&k, G, &q, 0);
            L("create", r);
            if (r)
                break;
            L("map", cuMemMap(p, G, 0, k, 0));
            if (fault_no == 25) {
                L("access", may(p, G, 3));
                OUT(" reading");
                t[0] = *(volatile char *)p;
                OUT(" read");
            } else {
                CUmemAccessDesc a = {{2, 0}, 3};
                L("access", cuMemSetAccess(p, G, &a, 1));
                L("memset", cuMemsetD8(p, 1, 4096));
            }
            break;
        }
        case 27:
            MUST(may(p, 2 * G, 3));
            L("memset", cuMemsetD2D8(p + 2 * G - 8192, 4096, 1, 100, 4));
            break;
        case 28:
            L("copy", cuMemcpyDtoHAsync(t, p, 4096, 0));
            break;
        case 29: {
            CUdeviceptr q;
            MUST(cuMemAlloc(&q, 64 << 20));
            cuMemFree(q);
            L("memset", cuMemsetD8(q, 1, 4096));
            break;
        }
        case 30: {
            CUdeviceptr q;
            MUST(cuMemAlloc(&q, 64 << 20));
            L("memset", cuMemsetD8(q + (64 << 20) - 16, 1, 32));
            break;
        }
        }
        after();
    }
}

// ------------------------------------------------------------------ the other process
#define P(label, r) printf("%s=%s ", label, R(r))
static unsigned kid_sum(CUdeviceptr p, size_t n, CUresult *r)
{
    static char t[4 << 20];
    *r = cuMemcpyDtoH(t, p, n);
    return *r ? 0 : f32(t, n);
}
static int kid_run(const char *what, const unsigned char *blob)
{
    probe_ctx();
    CUresult r, q;
    if (!strcmp(what, "memfd")) {
        H h = 0;
        r = cuMemImportFromShareableHandle(&h, (void *)60l, 1);
        P("import", r);
        if (r)
            return 0;
        close(60);
        CUmemAllocationProp p;
        memset(&p, 0x5a, sizeof p);
        r = cuMemGetAllocationPropertiesFromHandle(&p, h);
        printf("props=%s/%d/h%x/l%d,%d/r%d ", R(r), p.type, p.requestedHandleTypes, p.location.type,
               p.location.id, p.allocFlags.gpuDirectRDMACapable);
        CUdeviceptr a = va(2 * G);
        P("map-more", cuMemMap(a, 4 * G, 0, h, 0));
        r = cuMemMap(a, 2 * G, 0, h, 0);
        P("map", r);
        if (!r) {
            r = may(a, 2 * G, 3);
            P("access", r);
            if (!r) {
                unsigned s = kid_sum(a, 2 * G, &q);
                printf("read=%s/%08x ", R(q), s);
                P("write", cuMemsetD8(a + 100, 0x77, 5000));
                P("sync", cuCtxSynchronize());
            }
            int fd = -1;
            r = cuMemExportToShareableHandle(&fd, h, 1, 0);
            P("re-export", r);
            P("release", cuMemRelease(h));
            P("unmap", cuMemUnmap(a, 2 * G));
        }
        P("free", cuMemAddressFree(a, 2 * G));
        return 0;
    }
    if (!strcmp(what, "ipcmem")) {
        CUipcMemHandle h;
        memcpy(&h, blob, sizeof h);
        CUdeviceptr p = 0, p2 = 0, b = 0;
        size_t z = 0;
        for (unsigned f = 0; f <= 2; f += 2) {
            r = cuIpcOpenMemHandle(&p, h, f);
            printf("flags%u=%s ", f, R(r));
            if (!r)
                cuIpcCloseMemHandle(p);
        }
        r = cuIpcOpenMemHandle(&p, h, 1);
        P("open", r);
        if (r)
            return 0;
        r = cuMemGetAddressRange(&b, &z, p);
        printf("range=%s/%lld/%zu ", R(r), df(p, b), z);
        unsigned s = kid_sum(p, z > (4 << 20) ? 4 << 20 : z, &q);
        printf("read=%s/%08x ", R(q), s);
        s = kid_sum(p, 1000, &q);
        printf("first=%s/%08x ", R(q), s);
        P("write", cuMemsetD8(p + 10, 0x66, 500));
        P("sync", cuCtxSynchronize());
        r = cuIpcOpenMemHandle(&p2, h, 1);
        printf("again=%s/%s ", R(r), p2 == p ? "same" : "other");
        int ty = 77;
        r = cuPointerGetAttribute(&ty, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
        printf("type=%s/%d ", R(r), ty);
        ty = 77;
        r = cuPointerGetAttribute(&ty, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p);
        printf("capable=%s/%d ", R(r), ty & 255);
        CUipcMemHandle g;
        P("get-of-imported", cuIpcGetMemHandle(&g, p));
        P("memfree", cuMemFree(p));
        P("close", cuIpcCloseMemHandle(p));
        r = cuMemGetAddressRange(&b, &z, p);
        P("range-after-one-close", r);
        P("close", cuIpcCloseMemHandle(p));
        P("range-after", cuMemGetAddressRange(&b, &z, p));
        P("close", cuIpcCloseMemHandle(p));
        return 0;
    }
    if (!strcmp(what, "ipctwo")) {
        CUipcMemHandle h[2];
        memcpy(h, blob, sizeof h);
        for (int i = 0; i < 2; i++) {
            CUdeviceptr p = 0;
            r = cuIpcOpenMemHandle(&p, h[i], 1);
            P("open", r);
            if (r)
                continue;
            unsigned s = kid_sum(p, i ? 1000 : 4096, &q);
            printf("read=%s/%08x ", R(q), s);
            if (i)
                P("close", cuIpcCloseMemHandle(p));
        }
        return 0;
    }
    if (!strcmp(what, "ipcevent")) {
        CUipcEventHandle h;
        memcpy(&h, blob, sizeof h);
        CUevent e = 0, f = 0;
        r = cuIpcOpenEventHandle(&e, h);
        P("open", r);
        if (r)
            return 0;
        P("query", cuEventQuery(e));
        P("sync", cuEventSynchronize(e));
        P("wait", cuStreamWaitEvent(0, e, 0));
        P("record", cuEventRecord(e, 0));
        P("sync", cuEventSynchronize(e));
        P("query", cuEventQuery(e));
        CUipcEventHandle g;
        P("get-of-imported", cuIpcGetEventHandle(&g, e));
        r = cuIpcOpenEventHandle(&f, h);
        printf("again=%s/%s ", R(r), f == e ? "same" : f ? "other" : "zero");
        if (f && f != e)
            P("destroy-again", cuEventDestroy(f));
        float ms;
        cuEventCreate(&f, 2);
        P("elapsed", cuEventElapsedTime(&ms, e, e));
        P("destroy", cuEventDestroy(e));
        return 0;
    }
    return 3;
}
int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "--kid")) {
        static unsigned char blob[1100];
        alarm(25);
        for (int i = 0; i < 1000 && argv[3][2 * i]; i++) {
            unsigned v;
            sscanf(argv[3] + 2 * i, "%2x", &v);
            blob[i] = v;
        }
        int r = kid_run(argv[2], blob);
        fflush(stdout);
        _exit(r);
    }
    if (argc > 1)
        probe_only = argv[1];
    RUN(granularity);
    RUN(reserve);
    RUN(create);
    RUN(map);
    RUN(access);
    RUN(contents);
    RUN(hostmem);
    RUN(attributes);
    RUN(retain);
    RUN(share);
    RUN(ipcmem);
    RUN(ipcevent);
    RUN(dmabuf);
    for (fault_no = 0; fault_no < N(fault_names); fault_no++) {
        char nm[80];
        snprintf(nm, 80, "fault-%d", fault_no);
        if (probe_only && !strcmp(probe_only, "fault")) {
            probe_only = 0;
            probe_run(nm, fault);
            probe_only = "fault";
        } else
            probe_run(nm, fault);
    }
    return 0;
}
