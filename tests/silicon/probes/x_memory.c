// SPDX-License-Identifier: MIT
// Devices, contexts and memory: errors and their precedence, sizes, alignments, attributes, copies
// and their contents. x_memory [group] runs one group; without it all of them, in order. `--kid` is
// the importing side of the pool case.
#include "probe.h"
#include <fcntl.h>
#include <limits.h>
extern CUresult one_DeviceGetUuid(CUuuid *, CUdevice) __asm__("cuDeviceGetUuid");
extern CUresult one_PrimaryCtxRelease(CUdevice) __asm__("cuDevicePrimaryCtxRelease");
extern CUresult one_PrimaryCtxReset(CUdevice) __asm__("cuDevicePrimaryCtxReset");
extern CUresult one_PrimaryCtxSetFlags(CUdevice, unsigned) __asm__("cuDevicePrimaryCtxSetFlags");
extern CUresult two_CtxCreate(CUcontext *, unsigned, CUdevice) __asm__("cuCtxCreate_v2");
extern CUresult three_CtxCreate(CUcontext *, CUexecAffinityParam *, int, unsigned,
                                CUdevice) __asm__("cuCtxCreate_v3");
extern CUresult one_MemcpyBatchAsync(CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                                     CUmemcpyAttributes *, size_t *, size_t, size_t *,
                                     CUstream) __asm__("cuMemcpyBatchAsync");
extern CUresult one_Memcpy3DBatchAsync(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *,
                                       unsigned long long,
                                       CUstream) __asm__("cuMemcpy3DBatchAsync");
extern CUresult one_MemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice) __asm__("cuMemAdvise");
extern CUresult one_MemPrefetchAsync(CUdeviceptr, size_t, CUdevice,
                                     CUstream) __asm__("cuMemPrefetchAsync");
extern CUresult one_MemHostRegister(void *, size_t, unsigned) __asm__("cuMemHostRegister");

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
#define JUNK ((CUdeviceptr)0x5a5a5a5a5a5a5a5aull)
static char hbuf[1 << 21] __attribute__((aligned(4096))),
    hbuf2[1 << 21] __attribute__((aligned(4096)));
static CUdeviceptr dal(size_t n)
{
    CUdeviceptr p = 0;
    MUST(cuMemAlloc(&p, n));
    return p;
}
static void dfill(CUdeviceptr p, size_t n, unsigned seed)
{
    static char t[1 << 21];
    fill(t, n, seed);
    MUST(cuMemcpyHtoD(p, t, n));
}
static void dsum(CUdeviceptr p, size_t n)
{
    static char t[1 << 21];
    CUresult r = cuMemcpyDtoH(t, p, n);
    if (r)
        OUT(" sum=%s", R(r));
    else
        OUT(" sum=%08x", f32(t, n));
}
static int lowbits(uint64_t v, int most)
{
    int k = 0;
    while (k < most && !(v >> k & 1))
        k++;
    return k;
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

// ------------------------------------------------------------------ before cuInit, and without a
// context
static void every_call(void)
{
    static char buf[8192] __attribute__((aligned(4096)));
    static CUdeviceptr dp;
    static void *hp;
    static size_t sz, sz2;
    static int i, j;
    static unsigned u;
    static unsigned long long ull;
    static CUcontext c;
    static CUdevice d;
    static CUarray a;
    static CUmipmappedArray m;
    static CUstream s;
    static CUevent e;
    static CUmemoryPool pool;
    static CUmodule mod;
    static const char *cs;
    static CUgraph g;
    static CUmemGenericAllocationHandle h;
    static CUtexObject t;
    static CUsurfObject sf;
    static CUipcMemHandle ih;
    static CUipcEventHandle ie;
    static CUfunc_cache fc;
    static CUexecAffinityParam ea;
    static CUmemAccess_flags af;
    static CUmemAllocationProp mp = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    static CUmemPoolProps pp = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    static CUDA_ARRAY_DESCRIPTOR ad = {16, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    static CUDA_ARRAY3D_DESCRIPTOR a3 = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    static CUDA_RESOURCE_DESC rd;
    static CUDA_TEXTURE_DESC td;
    static CUmemLocation loc = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    static CUDA_MEMCPY2D c2;
    static CUDA_MEMCPY3D c3;
    static CUpointer_attribute pa = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    static void *pd = &u;
#define A(call)                                                                                    \
    do {                                                                                           \
        OUT("%s%s=", sep(), #call);                                                                \
        OUT("%s", R(call));                                                                        \
    } while (0);
    XCASE("driver"){A(cuDriverGetVersion(&i)) A(cuDriverGetVersion(0)) A(cuGetErrorName(1, &cs))
                        A(cuGetErrorString(1, &cs)) A(cuGetProcAddress("cuInit", &hp, 13000, 0, 0))
                            A(cuGetProcAddress("cuInit", 0, 13000, 0, 0))} XCASE("device-get"){
        A(cuDeviceGet(&d, 0)) A(cuDeviceGet(0, 0)) A(cuDeviceGet(&d, 99)) A(cuDeviceGetCount(&i))
            A(cuDeviceGetCount(0)) A(cuDeviceGetName(buf, 64, 0)) A(cuDeviceGetName(0, 0, 99))
                A(cuDeviceGetUuid((CUuuid *)buf, 0))
                    A(cuDeviceTotalMem(&sz, 0))} XCASE("device-attr"){
        A(cuDeviceGetAttribute(&i, 1, 0)) A(cuDeviceGetAttribute(0, 0, 99))
            A(cuDeviceGetPCIBusId(buf, 64, 0)) A(cuDeviceGetByPCIBusId(&d, "ffff:ff:1f.0"))
                A(cuDeviceCanAccessPeer(&i, 0, 0)) A(cuDeviceGetP2PAttribute(&i, 1, 0, 0))
                    A(cuDeviceGetDefaultMemPool(&pool, 0))
                        A(cuDeviceGetMemPool(&pool, 0))} XCASE("device-more"){
        A(cuDeviceGetTexture1DLinearMaxWidth(&sz, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0))
            A(cuDeviceGetExecAffinitySupport(&i, 0, 0))
                A(cuFlushGPUDirectRDMAWrites(0, 100))} XCASE("primary"){
        A(cuDevicePrimaryCtxGetState(0, &u, &i)) A(cuDevicePrimaryCtxSetFlags(0, 0))
            A(cuDevicePrimaryCtxRelease(0)) A(cuDevicePrimaryCtxReset(0))
                A(cuDevicePrimaryCtxRetain(0, 0))
                    A(cuDevicePrimaryCtxRetain(&c, 99))} XCASE("context"){
        A(cuCtxCreate(0, 0, 0, 0)) A(cuCtxCreate(&c, 0, 0, 99)) A(cuCtxGetCurrent(&c))
            A(cuCtxGetCurrent(0)) A(cuCtxSetCurrent(0)) A(cuCtxPushCurrent(0))
                A(cuCtxPopCurrent(&c)) A(cuCtxPopCurrent(0)) A(cuCtxGetDevice(&d))
                    A(cuCtxGetDevice(0)) A(cuCtxGetDevice_v2(&d, 0)) A(cuCtxGetFlags(&u))
                        A(cuCtxGetFlags(0)) A(cuCtxSetFlags(0))} XCASE("context-ask"){
        A(cuCtxGetId(0, &ull)) A(cuCtxSynchronize()) A(cuCtxSynchronize_v2(0))
            A(cuCtxSetLimit(0, 1024)) A(cuCtxGetLimit(&sz, 0)) A(cuCtxGetLimit(0, 99))
                A(cuCtxGetCacheConfig(&fc)) A(cuCtxSetCacheConfig(0)) A(cuCtxGetApiVersion(0, &u))
                    A(cuCtxGetStreamPriorityRange(&i, &j)) A(cuCtxGetStreamPriorityRange(0, 0))
                        A(cuCtxResetPersistingL2Cache()) A(cuCtxGetExecAffinity(&ea, 0))
                            A(cuCtxDestroy(0))} XCASE("memory"){
        A(cuMemGetInfo(&sz, &sz2)) A(cuMemGetInfo(0, 0)) A(cuMemAlloc(&dp, 16)) A(cuMemAlloc(0, 0))
            A(cuMemAllocPitch(&dp, &sz, 16, 1, 4)) A(cuMemFree(0)) A(cuMemFree(0x1000))
                A(cuMemGetAddressRange(&dp, &sz, 0x1000)) A(cuMemGetAddressRange(0, 0, 0))
                    A(cuMemAllocHost(&hp, 16)) A(cuMemAllocHost(0, 0)) A(cuMemHostAlloc(&hp, 16, 0))
                        A(cuMemHostAlloc(&hp, 16, 99)) A(cuMemFreeHost(0))
                            A(cuMemFreeHost(buf))} XCASE("host"){
        A(cuMemHostGetDevicePointer(&dp, buf, 0)) A(cuMemHostGetFlags(&u, buf))
            A(cuMemHostRegister(buf, 4096, 0)) A(cuMemHostRegister(0, 0, 99))
                A(cuMemHostUnregister(buf)) A(cuMemHostUnregister(0))} XCASE("copies"){
        A(cuMemcpy(0, 0, 0)) A(cuMemcpy(0x1000, 0x2000, 4)) A(cuMemcpyHtoD(0x1000, buf, 4))
            A(cuMemcpyDtoH(buf, 0x1000, 4)) A(cuMemcpyDtoD(0x1000, 0x2000, 4))
                A(cuMemcpyHtoD(0, 0, 0)) A(cuMemcpyAsync(0x1000, 0x2000, 4, 0))
                    A(cuMemcpyPeer(0x1000, 0, 0x2000, 0, 4)) A(cuMemcpy2D(&c2)) A(cuMemcpy2D(0))
                        A(cuMemcpy3D(&c3)) A(cuMemcpyAtoH(buf, 0, 0, 4)) A(cuMemsetD8(0x1000, 0, 4))
                            A(cuMemsetD8(0, 0, 0)) A(cuMemsetD32Async(0x1000, 0, 4, 0))
                                A(cuMemsetD2D8(0, 0, 0, 0, 0))} XCASE("arrays"){
        A(cuArrayCreate(&a, &ad)) A(cuArrayCreate(0, 0)) A(cuArray3DCreate(&a, &a3))
            A(cuArrayDestroy(0)) A(cuArrayGetDescriptor(&ad, 0))
                A(cuMipmappedArrayCreate(&m, &a3, 1)) A(cuMipmappedArrayDestroy(0))
                    A(cuTexObjectCreate(&t, &rd, &td, 0)) A(cuTexObjectDestroy(0))
                        A(cuSurfObjectCreate(&sf, &rd))
                            A(cuSurfObjectDestroy(0))} XCASE("pointers"){
        A(cuPointerGetAttribute(&u, 2, (CUdeviceptr)buf)) A(cuPointerGetAttribute(0, 0, 0))
            A(cuPointerGetAttributes(1, &pa, &pd, (CUdeviceptr)buf))
                A(cuPointerSetAttribute(&u, 6, (CUdeviceptr)buf))} XCASE("vmm"){
        A(cuMemAddressReserve(&dp, 2 << 20, 0, 0, 0)) A(cuMemAddressFree(0, 0))
            A(cuMemCreate(&h, 2 << 20, &mp, 0)) A(cuMemCreate(0, 0, 0, 1)) A(cuMemRelease(0))
                A(cuMemMap(0, 0, 0, 0, 0)) A(cuMemUnmap(0, 0)) A(cuMemSetAccess(0, 0, 0, 0))
                    A(cuMemGetAccess(&ull, &loc, 0x200000))
                        A(cuMemGetAllocationGranularity(&sz, &mp, 0))
                            A(cuMemRetainAllocationHandle(&h, buf))
                                A(cuMemImportFromShareableHandle(&h, 0, 1))} XCASE("pools"){
        A(cuMemPoolCreate(&pool, &pp)) A(cuMemPoolCreate(0, 0)) A(cuMemPoolDestroy(0))
            A(cuMemPoolTrimTo(0, 0)) A(cuMemPoolGetAccess(&af, 0, &loc))
                A(cuMemAllocAsync(&dp, 16, 0)) A(cuMemAllocAsync(0, 0, 0))
                    A(cuMemFreeAsync(0x1000, 0)) A(cuMemFreeAsync(0, 0))
                        A(cuMemAllocFromPoolAsync(&dp, 16, 0, 0))
                            A(cuMemGetDefaultMemPool(&pool, &loc, 1))} XCASE("advise-ipc"){
        A(cuMemAdvise(0x1000, 4096, 1, loc)) A(cuMemPrefetchAsync(0x1000, 4096, loc, 0, 0))
            A(cuMemRangeGetAttribute(&u, 4, 1, 0x1000, 4096)) A(cuIpcGetMemHandle(&ih, 0x1000))
                A(cuIpcOpenMemHandle(&dp, ih, 1)) A(cuIpcCloseMemHandle(0x1000))
                    A(cuIpcGetEventHandle(&ie, 0)) A(cuIpcOpenEventHandle(&e, ie))} XCASE("objects")
    {
        A(cuStreamCreate(&s, 0))
        A(cuStreamQuery(0)) A(cuStreamSynchronize(0)) A(cuEventCreate(&e, 0))
            A(cuModuleLoadData(&mod, buf)) A(cuGraphCreate(&g, 0))
    }
#undef A
}
GROUP(uninit)
{
    every_call();
}
GROUP(noctx)
{
    MUST(cuInit(0));
    every_call();
}
GROUP(init)
{
    CASE("flags-1") S(cuInit(1));
    CASE("flags-all") S(cuInit(~0u));
    CASE("count-after-failed-init")
    {
        int n;
        S(cuDeviceGetCount(&n));
    }
    CASE("flags-0") S(cuInit(0));
    CASE("again") S(cuInit(0));
    CASE("flags-1-after") S(cuInit(1));
    CASE("version")
    {
        int v = 0;
        CUresult r = cuDriverGetVersion(&v);
        OUT("%s %d", R(r), v);
    }
}
GROUP(errors)
{
    for (int b = 0; b < 1000; b += 100)
        CASE("names-%d", b)
        {
            for (int i = b; i < b + 100; i++) {
                const char *s = 0;
                if (!cuGetErrorName(i, &s))
                    OUT(" %d:%s", i, s ? s : "null");
            }
        }
    for (int b = 0; b < 1000; b += 50)
        CASE("texts-%d", b)
        {
            for (int i = b; i < b + 50; i++) {
                const char *s = 0;
                if (!cuGetErrorString(i, &s))
                    OUT(" %d:%s;", i, s ? s : "null");
            }
        }
    int odd[] = {-1, 6, 99, 1000, 9999, 10000, INT_MAX, INT_MIN};
    CASE("odd-codes") for (int i = 0; i < N(odd); i++)
    {
        const char *s = (char *)odd, *t = (char *)odd;
        CUresult r = cuGetErrorName(odd[i], &s), q = cuGetErrorString(odd[i], &t);
        OUT("%s[%d] name %d %s, text %d %s;", sep(), odd[i], r,
            s == (char *)odd ? "kept"
            : s              ? s
                             : "null",
            q,
            t == (char *)odd ? "kept"
            : t              ? t
                             : "null");
    }
    CASE("null-out")
    {
        S(cuGetErrorName(0, 0));
        S(cuGetErrorString(0, 0));
        S(cuGetErrorName(12345, 0));
    }
}

// ------------------------------------------------------------------ devices
static const int bad_dev[] = {-2, -1, 1, 99, INT_MAX};
GROUP(device)
{
    MUST(cuInit(0));
    int ords[] = {0, 1, 2, 7, 1000, INT_MAX, -1, INT_MIN};
    char b[512];
    unsigned char ub[64];
    CASE("get") for (int i = 0; i < N(ords); i++)
    {
        CUdevice d = 777;
        CUresult r = cuDeviceGet(&d, ords[i]);
        OUT("%s%d:%s/%d", sep(), ords[i], R(r), d);
    }
    CASE("get-null") S(cuDeviceGet(0, 0));
    CASE("get-null-bad") S(cuDeviceGet(0, 99));
    CASE("count")
    {
        int n = -1;
        CUresult r = cuDeviceGetCount(&n);
        OUT("%s >0=%d", R(r), n > 0);
    }
    CASE("count-null") S(cuDeviceGetCount(0));
    CASE("version-null") S(cuDriverGetVersion(0));
    CASE("name")
    {
        CUresult r = cuDeviceGetName(b, 256, 0);
        OUT("%s %s", R(r), b);
    }
    int lens[] = {0, 1, 2, 8, 18, 19, 20, -1, INT_MIN, 512};
    CASE("name-lengths") for (int i = 0; i < N(lens); i++)
    {
        memset(b, 0x55, sizeof b);
        CUresult r = cuDeviceGetName(b, lens[i], 0);
        int k = 0;
        while (k < 511 && b[k] && b[k] != 0x55)
            k++;
        int last = 511;
        while (last >= 0 && b[last] == 0x55)
            last--;
        OUT("%s[%d] %s text=%d nul=%d touched=%d;", sep(), lens[i], R(r), k, b[k] == 0, last + 1);
    }
    CASE("name-null") S(cuDeviceGetName(0, 64, 0));
    CASE("name-null-baddev") S(cuDeviceGetName(0, 64, 99));
    CASE("name-len0-baddev") S(cuDeviceGetName(b, 0, 99));
    CASE("name-null-len0") S(cuDeviceGetName(0, 0, 0));
    for (int i = 0; i < N(bad_dev); i++)
        CASE("baddev-%d", bad_dev[i])
        {
            int x = bad_dev[i], v, w;
            size_t z;
            unsigned f;
            CUcontext c;
            CUmemoryPool p;
            L("name", cuDeviceGetName(b, 64, x));
            L("uuid", cuDeviceGetUuid((CUuuid *)ub, x));
            L("uuid1", one_DeviceGetUuid((CUuuid *)ub, x));
            L("luid", cuDeviceGetLuid(b, &f, x));
            L("mem", cuDeviceTotalMem(&z, x));
            L("attr", cuDeviceGetAttribute(&v, 1, x));
            L("badattr", cuDeviceGetAttribute(&v, 0, x));
            L("nullattr", cuDeviceGetAttribute(0, 1, x));
            L("pci", cuDeviceGetPCIBusId(b, 64, x));
            L("tex1d", cuDeviceGetTexture1DLinearMaxWidth(&z, 1, 1, x));
            L("affinity", cuDeviceGetExecAffinitySupport(&v, 0, x));
            L("peer0x", cuDeviceCanAccessPeer(&v, 0, x));
            L("peerx0", cuDeviceCanAccessPeer(&v, x, 0));
            L("p2p", cuDeviceGetP2PAttribute(&v, 1, x, 0));
            L("cc", cuDeviceComputeCapability(&v, &w, x));
            L("retain", cuDevicePrimaryCtxRetain(&c, x));
            L("release", cuDevicePrimaryCtxRelease(x));
            L("reset", cuDevicePrimaryCtxReset(x));
            L("setflags", cuDevicePrimaryCtxSetFlags(x, 0));
            L("state", cuDevicePrimaryCtxGetState(x, &f, &v));
            L("defpool", cuDeviceGetDefaultMemPool(&p, x));
            L("pool", cuDeviceGetMemPool(&p, x));
            L("setpool", cuDeviceSetMemPool(x, 0));
            L("ctx", cuCtxCreate(&c, 0, 0, x));
        }
    CASE("uuid")
    {
        CUuuid a, c;
        memset(&a, 1, 16);
        memset(&c, 2, 16);
        L("v2", cuDeviceGetUuid(&a, 0));
        L("v1", one_DeviceGetUuid(&c, 0));
        OUT(" same=%d", !memcmp(&a, &c, 16));
    }
    CASE("uuid-null")
    {
        S(cuDeviceGetUuid(0, 0));
        S(cuDeviceGetUuid(0, 99));
    }
    CASE("luid")
    {
        unsigned m = 77;
        memset(b, 0x55, 16);
        CUresult r = cuDeviceGetLuid(b, &m, 0);
        OUT("%s mask=%s", R(r), m == 77 ? "kept" : "set");
        L("null-luid", cuDeviceGetLuid(0, &m, 0));
        L("null-mask", cuDeviceGetLuid(b, 0, 0));
        L("null-both", cuDeviceGetLuid(0, 0, 0));
        L("null-both-bad", cuDeviceGetLuid(0, 0, 99));
    }
    CASE("totalmem-null")
    {
        S(cuDeviceTotalMem(0, 0));
        S(cuDeviceTotalMem(0, 99));
    }
    CASE("totalmem")
    {
        size_t z = 0;
        CUresult r = cuDeviceTotalMem(&z, 0);
        OUT("%s align64k=%d", R(r), !(z % 65536));
    }
    int at[] = {-1, 0, 1, 147, 148, 149, 1000, INT_MAX, INT_MIN};
    CASE("attr-edges") for (int i = 0; i < N(at); i++)
    {
        int v = 777;
        CUresult r = cuDeviceGetAttribute(&v, at[i], 0);
        OUT("%s[%d] %s %s", sep(), at[i], R(r), v == 777 ? "kept" : "set");
        L("null", cuDeviceGetAttribute(0, at[i], 0));
        L("baddev", cuDeviceGetAttribute(&v, at[i], 99));
        L("null-baddev", cuDeviceGetAttribute(0, at[i], 99));
    }
    CASE("pci")
    {
        CUresult r = cuDeviceGetPCIBusId(b, 64, 0);
        char m[512];
        strcpy(m, b);
        for (char *p = m; *p; p++)
            if (strchr("0123456789abcdefABCDEF", *p))
                *p = *p >= 'a' ? 'h' : *p >= 'A' ? 'H' : '0';
        for (char *p = m; *p; p++)
            if (*p == 'h' || *p == 'H')
                *p = *p == 'h' ? '0' : 'X';
        CUdevice d = 777;
        CUresult q = cuDeviceGetByPCIBusId(&d, b);
        OUT("%s length=%zu shape=%.12s back %s dev=%d", R(r), strlen(b),
            strlen(m) >= 12 ? "dddd:dd:dd.d" : m, R(q), d);
    }
    int pl[] = {-1, 0, 1, 2, 11, 12, 13, 14, 64};
    CASE("pci-lengths") for (int i = 0; i < N(pl); i++)
    {
        memset(b, 0x55, sizeof b);
        CUresult r = cuDeviceGetPCIBusId(b, pl[i], 0);
        int last = 511;
        while (last >= 0 && b[last] == 0x55)
            last--;
        OUT("%s[%d] %s touched=%d nul=%d;", sep(), pl[i], R(r), last + 1, last >= 0 && !b[last]);
    }
    CASE("pci-null")
    {
        S(cuDeviceGetPCIBusId(0, 64, 0));
        S(cuDeviceGetPCIBusId(0, 64, 99));
        S(cuDeviceGetPCIBusId(0, 0, 0));
        S(cuDeviceGetPCIBusId(b, 0, 99));
    }
    CASE("bypci-forms")
    {
        char full[64], up[80];
        CUdevice d = 777;
        MUST(cuDeviceGetPCIBusId(full, 64, 0));
        for (int i = 0; i < 64; i++)
            up[i] = full[i] >= 'a' && full[i] <= 'f' ? full[i] - 32 : full[i];
        L("upper", cuDeviceGetByPCIBusId(&d, up));
        for (int i = 0; i < 64; i++)
            up[i] = full[i] >= 'A' && full[i] <= 'F' ? full[i] + 32 : full[i];
        L("lower", cuDeviceGetByPCIBusId(&d, up));
        L("no-domain", cuDeviceGetByPCIBusId(&d, strchr(full, ':') ? strchr(full, ':') + 1 : full));
        snprintf(up, 80, "0000%s", full);
        L("long-domain", cuDeviceGetByPCIBusId(&d, up));
        snprintf(up, 80, "%s", full);
        if (strchr(up, '.'))
            *strchr(up, '.') = 0;
        L("no-function", cuDeviceGetByPCIBusId(&d, up));
        snprintf(up, 80, "%s ", full);
        L("trailing-space", cuDeviceGetByPCIBusId(&d, up));
        snprintf(up, 80, " %s", full);
        L("leading-space", cuDeviceGetByPCIBusId(&d, up));
    }
    CASE("bypci-errors")
    {
        CUdevice d = 777;
        L("absent", cuDeviceGetByPCIBusId(&d, "fffe:fe:1e.0"));
        L("empty", cuDeviceGetByPCIBusId(&d, ""));
        L("text", cuDeviceGetByPCIBusId(&d, "hello"));
        L("digit", cuDeviceGetByPCIBusId(&d, "0"));
        L("null-text", cuDeviceGetByPCIBusId(&d, 0));
        L("null-dev", cuDeviceGetByPCIBusId(0, "fffe:fe:1e.0"));
        L("null-both", cuDeviceGetByPCIBusId(0, 0));
        OUT(" dev=%d", d);
    }
    CASE("capability")
    {
        int x = -1, y = -1;
        CUresult r = cuDeviceComputeCapability(&x, &y, 0);
        OUT("%s %d.%d", R(r), x, y);
        L("null-major", cuDeviceComputeCapability(0, &y, 0));
        L("null-minor", cuDeviceComputeCapability(&x, 0, 0));
        L("null-both", cuDeviceComputeCapability(0, 0, 0));
    }
    CASE("properties")
    {
        CUdevprop p;
        memset(&p, 0x55, sizeof p);
        CUresult r = cuDeviceGetProperties(&p, 0);
        OUT("%s threads=%d dim=%d,%d,%d grid=%d,%d,%d shared=%d const=%d warp=%d pitch=%d regs=%d "
            "texalign=%d",
            R(r), p.maxThreadsPerBlock, p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2],
            p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2], p.sharedMemPerBlock,
            p.totalConstantMemory, p.SIMDWidth, p.memPitch, p.regsPerBlock, p.textureAlign);
        L("null", cuDeviceGetProperties(0, 0));
        L("baddev", cuDeviceGetProperties(&p, 99));
    }
    unsigned fm[] = {0,    1,    2,    3,    8,    9,    10,   0x10, 0x20,
                     0x50, 0x91, 0x9d, 0xb0, 0xc0, 0xc2, 0xc5, 0xca, 0x7fffffff};
    for (int i = 0; i < N(fm); i++)
        CASE("tex1dlinear-format-%x", fm[i])
        {
            for (unsigned ch = 0; ch <= 5; ch++) {
                size_t z = 777;
                CUresult r = cuDeviceGetTexture1DLinearMaxWidth(&z, fm[i], ch, 0);
                OUT("%s%u:%s/%zu", sep(), ch, R(r), z);
            }
        }
    CASE("tex1dlinear-null")
    {
        S(cuDeviceGetTexture1DLinearMaxWidth(0, 1, 1, 0));
        S(cuDeviceGetTexture1DLinearMaxWidth(0, 0, 1, 0));
        S(cuDeviceGetTexture1DLinearMaxWidth(0, 1, 3, 99));
    }
    CASE("affinity") for (int t = -1; t <= 2; t++)
    {
        int v = 777;
        CUresult r = cuDeviceGetExecAffinitySupport(&v, t, 0);
        OUT("%s[%d] %s %d", sep(), t, R(r), v);
        L("null", cuDeviceGetExecAffinitySupport(0, t, 0));
    }
    CASE("p2p-self") for (int t = 0; t <= 6; t++)
    {
        int v = 777;
        CUresult r = cuDeviceGetP2PAttribute(&v, t, 0, 0);
        OUT("%s[%d] %s %d", sep(), t, R(r), v);
        L("null", cuDeviceGetP2PAttribute(0, t, 0, 0));
        L("to-99", cuDeviceGetP2PAttribute(&v, t, 0, 99));
    }
    CASE("peer-self")
    {
        int v = 777;
        CUresult r = cuDeviceCanAccessPeer(&v, 0, 0);
        OUT("%s %d", R(r), v);
        L("null", cuDeviceCanAccessPeer(0, 0, 0));
    }
    CUatomicOperation ops[16];
    for (int i = 0; i < 16; i++)
        ops[i] = i;
    CASE("atomics") for (int i = 0; i < 15; i++)
    {
        unsigned v = 0x777;
        CUresult r = cuDeviceGetHostAtomicCapabilities(&v, ops + i, 1, 0);
        OUT("%s[%d] %s %#x", sep(), i, R(r), v);
        v = 0x777;
        r = cuDeviceGetP2PAtomicCapabilities(&v, ops + i, 1, 0, 0);
        OUT(" p2p %s %#x", R(r), v);
    }
    CASE("host-atomic-args")
    {
        unsigned v[16];
        L("all", cuDeviceGetHostAtomicCapabilities(v, ops, 13, 0));
        L("count0", cuDeviceGetHostAtomicCapabilities(v, ops, 0, 0));
        L("null-out", cuDeviceGetHostAtomicCapabilities(0, ops, 1, 0));
        L("null-ops", cuDeviceGetHostAtomicCapabilities(v, 0, 1, 0));
        L("null-count0", cuDeviceGetHostAtomicCapabilities(0, 0, 0, 0));
        L("baddev", cuDeviceGetHostAtomicCapabilities(v, ops, 1, 99));
        L("baddev-null", cuDeviceGetHostAtomicCapabilities(0, 0, 1, 99));
        L("one-bad-of-2", cuDeviceGetHostAtomicCapabilities(v, ops + 12, 2, 0));
    }
    CASE("async-notify")
    {
        CUasyncCallbackHandle h = 0;
        L("null-fn", cuDeviceRegisterAsyncNotification(0, 0, 0, &h));
        L("null-out", cuDeviceRegisterAsyncNotification(0, (CUasyncCallback)(void *)settle, 0, 0));
        L("baddev", cuDeviceRegisterAsyncNotification(99, (CUasyncCallback)(void *)settle, 0, &h));
        L("unregister-null", cuDeviceUnregisterAsyncNotification(0, 0));
    }
}

// ------------------------------------------------------------------ the primary context
static void state(void)
{
    unsigned f = 0xabcd;
    int a = -7;
    CUresult r = cuDevicePrimaryCtxGetState(0, &f, &a);
    OUT("%sstate=%s/%#x/%d", sep(), R(r), f, a);
}
static void drain(void)
{
    cuCtxSetCurrent(0);
    for (int i = 0; i < 20 && !cuDevicePrimaryCtxRelease(0); i++)
        ;
}
GROUP(primary)
{
    MUST(cuInit(0));
    CUcontext c = 0, e = 0;
    unsigned f;
    int a;
    CASE("state-initial") state();
    CASE("state-null-flags")
    {
        a = -7;
        CUresult r = cuDevicePrimaryCtxGetState(0, 0, &a);
        OUT("%s active=%d", R(r), a);
    }
    CASE("state-null-active")
    {
        f = 77;
        CUresult r = cuDevicePrimaryCtxGetState(0, &f, 0);
        OUT("%s flags=%u", R(r), f);
    }
    CASE("state-null-both") S(cuDevicePrimaryCtxGetState(0, 0, 0));
    CASE("state-null-baddev") S(cuDevicePrimaryCtxGetState(99, 0, 0));
    unsigned fl[] = {0,    1,    2,    3,     4,     5,      6,          7,
                     8,    0xc,  0x10, 0x18,  0x1f,  0x20,   0x40,       0x80,
                     0x84, 0x9f, 0xff, 0x100, 0x200, 0x1000, 0x80000000, 0xffffffff};
    CASE("setflags-inactive") for (int i = 0; i < N(fl); i++)
    {
        OUT("%s[%x]", sep(), fl[i]);
        S(cuDevicePrimaryCtxSetFlags(0, fl[i]));
        state();
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
    CASE("setflags-v1")
    {
        for (int i = 0; i < 10; i++)
            S(one_PrimaryCtxSetFlags(0, fl[i]));
        state();
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
    CASE("setflags-baddev-badflags") S(cuDevicePrimaryCtxSetFlags(99, 0x80000000));
    CASE("retain-null")
    {
        S(cuDevicePrimaryCtxRetain(0, 0));
        S(cuDevicePrimaryCtxRetain(0, 99));
        state();
    }
    CASE("retain-counts")
    {
        L("1", cuDevicePrimaryCtxRetain(&c, 0));
        L("2", cuDevicePrimaryCtxRetain(&e, 0));
        OUT(" same=%d", c == e);
        state();
        L("rel", cuDevicePrimaryCtxRelease(0));
        state();
        L("rel", cuDevicePrimaryCtxRelease(0));
        state();
        L("rel", cuDevicePrimaryCtxRelease(0));
        state();
        drain();
    }
    CASE("retain-does-not-make-current")
    {
        CUcontext k = (CUcontext)1;
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        CUresult r = cuCtxGetCurrent(&k);
        OUT("%s cur=%s", R(r), k ? "some" : "null");
        drain();
    }
    CASE("release-unretained")
    {
        S(cuDevicePrimaryCtxRelease(0));
        L("v1", one_PrimaryCtxRelease(0));
        state();
    }
    CASE("reset-inactive")
    {
        S(cuDevicePrimaryCtxReset(0));
        L("v1", one_PrimaryCtxReset(0));
        state();
    }
    CASE("reset-retained")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        S(cuDevicePrimaryCtxReset(0));
        state();
        L("rel", cuDevicePrimaryCtxRelease(0));
        state();
        drain();
    }
    CASE("reset-current")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        CUdeviceptr p;
        L("reset", cuDevicePrimaryCtxReset(0));
        state();
        CUcontext k = (CUcontext)1;
        CUresult r = cuCtxGetCurrent(&k);
        OUT(" cur=%s/%s", R(r), k == c ? "same" : k ? "other" : "null");
        L("alloc", cuMemAlloc(&p, 16));
        state();
        drain();
    }
    CASE("reset-flags-kept")
    {
        MUST(cuDevicePrimaryCtxSetFlags(0, 4));
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        cuDevicePrimaryCtxReset(0);
        state();
        drain();
        state();
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
    unsigned fa[] = {0, 1, 2, 4, 7, 8, 0x10, 0x80, 0x100};
    CASE("setflags-active") for (int i = 0; i < N(fa); i++)
    {
        OUT("%s[%x]", sep(), fa[i]);
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        S(cuDevicePrimaryCtxSetFlags(0, fa[i]));
        state();
        f = 777;
        L("ctxflags", cuCtxGetFlags(&f));
        OUT("/%#x", f);
        cuDevicePrimaryCtxSetFlags(0, 0);
        drain();
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
    unsigned fb[] = {0, 1, 2, 4, 8, 0x10, 0x80};
    CASE("flags-then-retain") for (int i = 0; i < N(fb); i++)
    {
        OUT("%s[%x]", sep(), fb[i]);
        S(cuDevicePrimaryCtxSetFlags(0, fb[i]));
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        state();
        f = 777;
        L("ctxflags", cuCtxGetFlags(&f));
        OUT("/%#x", f);
        unsigned v = 7;
        L("api", cuCtxGetApiVersion(c, &v));
        OUT("/%u", v);
        drain();
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
    CASE("release-last-while-current")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        L("rel", cuDevicePrimaryCtxRelease(0));
        state();
        CUcontext k = (CUcontext)1;
        CUresult r = cuCtxGetCurrent(&k);
        OUT(" cur=%s/%s", R(r), k == c ? "same" : k ? "other" : "null");
        CUdevice d = 7;
        L("dev", cuCtxGetDevice(&d));
        L("flags", cuCtxGetFlags(&f));
        L("sync", cuCtxSynchronize());
        CUdeviceptr p;
        L("alloc", cuMemAlloc(&p, 16));
        L("stream", cuStreamQuery(0));
        L("limit", cuCtxSetLimit(0, 2048));
        drain();
    }
    CASE("stale-set-current")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        drain();
        S(cuCtxSetCurrent(c));
        L("flags", cuCtxGetFlags(&f));
        CUdeviceptr p;
        L("alloc", cuMemAlloc(&p, 16));
        drain();
    }
    CASE("stale-push")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        drain();
        S(cuCtxPushCurrent(c));
        drain();
    }
    CASE("stale-queries")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        drain();
        unsigned v;
        unsigned long long id;
        CUdevice d;
        L("api", cuCtxGetApiVersion(c, &v));
        L("id", cuCtxGetId(c, &id));
        L("dev", cuCtxGetDevice_v2(&d, c));
        L("sync", cuCtxSynchronize_v2(c));
        drain();
    }
    CASE("retain-again-same-handle")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        unsigned long long i1 = 0, i2 = 0;
        cuCtxGetId(c, &i1);
        drain();
        MUST(cuDevicePrimaryCtxRetain(&e, 0));
        cuCtxGetId(e, &i2);
        OUT("handle=%d id=%d", c == e, i1 == i2);
        drain();
    }
    CASE("memory-gone-after-release")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        CUdeviceptr p = dal(4096), b;
        size_t z;
        drain();
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        L("range", cuMemGetAddressRange(&b, &z, p));
        L("attr", cuPointerGetAttribute(&f, 2, p));
        L("free", cuMemFree(p));
        drain();
    }
    CASE("destroy-primary")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        S(cuCtxDestroy(c));
        state();
        L("detach", cuCtxDetach(c));
        state();
        drain();
    }
    CASE("attach-primary")
    {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        e = 0;
        S(cuCtxAttach(&e, 0));
        OUT(" same=%d", e == c);
        L("detach", cuCtxDetach(c));
        state();
        drain();
    }
    CASE("mempool-default-before-retain")
    {
        CUmemoryPool p = 0, q = 0;
        S(cuDeviceGetDefaultMemPool(&p, 0));
        state();
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        S(cuDeviceGetDefaultMemPool(&q, 0));
        OUT(" same=%d", p == q);
        drain();
    }
}

// ------------------------------------------------------------------ contexts of one's own
static CUcontext cA, cB;
static const char *who(CUcontext x)
{
    return !x ? "null" : x == cA ? "A" : x == cB ? "B" : x == (CUcontext)1 ? "kept" : "other";
}
static void cur(void)
{
    CUcontext x = (CUcontext)1;
    CUresult r = cuCtxGetCurrent(&x);
    OUT("%scur=%s", sep(), r ? R(r) : who(x));
}
static void pop(void)
{
    CUcontext x = (CUcontext)1;
    CUresult r = cuCtxPopCurrent(&x);
    OUT("%spop=%s/%s", sep(), R(r), who(x));
}
static CUcontext mk(void)
{
    CUcontext c = 0, x;
    MUST(cuCtxCreate(&c, 0, 0, 0));
    cuCtxPopCurrent(&x);
    return c;
}
static void empty(void)
{
    CUcontext x;
    for (int i = 0; i < 30 && !cuCtxPopCurrent(&x); i++)
        ;
    cuCtxSetCurrent(0);
}
GROUP(ctx)
{
    MUST(cuInit(0));
    unsigned fl[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x18, 0x80, 0x84, 0x100, 0x200, 0x80000000};
    cA = mk();
    cB = mk();
    empty();
    CASE("create-flags") for (int i = 0; i < N(fl); i++)
    {
        CUcontext c = (CUcontext)1;
        CUresult r = cuCtxCreate(&c, 0, fl[i], 0);
        OUT("%s[%x]", sep(), fl[i]);
        S(r);
        if (!r) {
            unsigned f = 777, v = 7;
            CUcontext k = 0;
            L("flags", cuCtxGetFlags(&f));
            OUT("/%#x", f);
            L("api", cuCtxGetApiVersion(c, &v));
            OUT("/%u", v);
            cuCtxGetCurrent(&k);
            OUT(" current=%d", k == c);
            L("destroy", cuCtxDestroy(c));
            cur();
        } else
            OUT(" out=%s", who(c));
        empty();
    }
    CASE("create-v2-flags") for (int i = 0; i < 3; i++)
    {
        CUcontext c = 0;
        CUresult r = two_CtxCreate(&c, fl[i * 7], 0);
        OUT("%s[%x]", sep(), fl[i * 7]);
        S(r);
        if (!r) {
            unsigned f = 777, v = 7;
            cuCtxGetFlags(&f);
            cuCtxGetApiVersion(c, &v);
            OUT(" flags=%#x api=%u", f, v);
            cuCtxDestroy(c);
        }
        empty();
    }
    CASE("create-null")
    {
        S(cuCtxCreate(0, 0, 0, 0));
        S(cuCtxCreate(0, 0, 0x80000000, 99));
        S(two_CtxCreate(0, 0, 0));
        S(three_CtxCreate(0, 0, 0, 0, 0));
    }
    CASE("create-badflags-baddev")
    {
        CUcontext c;
        S(cuCtxCreate(&c, 0, 0x80000000, 99));
        S(cuCtxCreate(&c, 0, 3, 99));
    }
    {
        CUctxCreateParams p;
        CUexecAffinityParam ea;
        CUctxCigParam cg;
#define TRY(nm, ...)                                                                               \
    {                                                                                              \
        OUT("%s[%s]", sep(), nm);                                                                  \
        memset(&p, 0, sizeof p);                                                                   \
        memset(&ea, 0, sizeof ea);                                                                 \
        memset(&cg, 0, sizeof cg);                                                                 \
        __VA_ARGS__;                                                                               \
        CUcontext c = (CUcontext)1;                                                                \
        CUresult r = cuCtxCreate(&c, &p, 0, 0);                                                    \
        S(r);                                                                                      \
        if (!r) {                                                                                  \
            CUexecAffinityParam g;                                                                 \
            memset(&g, 0, sizeof g);                                                               \
            CUresult q = cuCtxGetExecAffinity(&g, 0);                                              \
            OUT(" affinity=%s/%u", R(q), g.param.smCount.val);                                     \
            cuCtxDestroy(c);                                                                       \
        } else                                                                                     \
            OUT(" out=%s", who(c));                                                                \
        empty();                                                                                   \
    }
        CASE("params-affinity")
        {
            TRY("zero", (void)0)
            TRY("affinity-null-count1", p.numExecAffinityParams = 1) TRY("affinity-count0",
                                                                         p.execAffinityParams = &ea)
                TRY("affinity-count-neg", p.execAffinityParams = &ea;
                    p.numExecAffinityParams = -1) static const int sm[] = {0, 1, 8, 66, 132, 1000};
            for (int i = 0; i < N(sm); i++) {
                char nm[40];
                snprintf(nm, 40, "affinity-sm-%d", sm[i]);
                TRY(nm, p.execAffinityParams = &ea; p.numExecAffinityParams = 1;
                    ea.param.smCount.val = sm[i])
            }
            TRY("affinity-badtype", p.execAffinityParams = &ea; p.numExecAffinityParams = 1;
                ea.type = 1; ea.param.smCount.val = 8)
            TRY("affinity-badtype-neg", p.execAffinityParams = &ea; p.numExecAffinityParams = 1;
                ea.type = -1)
        }
        CASE("params-cig")
        {
            TRY("cig-type0", p.cigParams = &cg)
            TRY("cig-d3d12-null", p.cigParams = &cg; cg.sharedDataType = 1)
                TRY("cig-blob-null", p.cigParams = &cg; cg.sharedDataType = 2)
                    TRY("cig-type3", p.cigParams = &cg; cg.sharedDataType = 3)
        }
#undef TRY
        CASE("v3-affinity")
        {
            CUcontext c;
            memset(&ea, 0, sizeof ea);
            ea.param.smCount.val = 8;
            L("sm8", three_CtxCreate(&c, &ea, 1, 0, 0));
            L("null1", three_CtxCreate(&c, 0, 1, 0, 0));
            L("neg", three_CtxCreate(&c, &ea, -1, 0, 0));
            CUresult r = three_CtxCreate(&c, 0, 0, 0, 0);
            L("none", r);
            if (!r)
                cuCtxDestroy(c);
            empty();
        }
    }
    CASE("create-nests")
    {
        CUcontext c, e, sA = cA, sB = cB;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        MUST(cuCtxCreate(&e, 0, 0, 0));
        cA = c;
        cB = e;
        cur();
        pop();
        cur();
        pop();
        cur();
        pop();
        cuCtxDestroy(c);
        cuCtxDestroy(e);
        cA = sA;
        cB = sB;
        empty();
    }
    CASE("pop-null-out")
    {
        MUST(cuCtxPushCurrent(cA));
        S(cuCtxPopCurrent(0));
        cur();
        empty();
    }
    CASE("pop-null-out-empty")
    {
        S(cuCtxPopCurrent(0));
        cur();
    }
    CASE("pop-empty")
    {
        pop();
        cur();
    }
    CASE("getcurrent-null")
    {
        S(cuCtxGetCurrent(0));
        MUST(cuCtxPushCurrent(cA));
        S(cuCtxGetCurrent(0));
        empty();
    }
    CASE("push-null")
    {
        S(cuCtxPushCurrent(0));
        cur();
        pop();
        empty();
    }
    CASE("push-null-on-A")
    {
        MUST(cuCtxPushCurrent(cA));
        S(cuCtxPushCurrent(0));
        cur();
        pop();
        pop();
        empty();
    }
    CASE("push-same-twice")
    {
        S(cuCtxPushCurrent(cA));
        S(cuCtxPushCurrent(cA));
        cur();
        pop();
        cur();
        pop();
        cur();
        pop();
    }
    CASE("push-AB-set-null")
    {
        cuCtxPushCurrent(cA);
        cuCtxPushCurrent(cB);
        S(cuCtxSetCurrent(0));
        cur();
        pop();
        cur();
        pop();
        empty();
    }
    CASE("push-A-set-null")
    {
        cuCtxPushCurrent(cA);
        S(cuCtxSetCurrent(0));
        cur();
        pop();
        empty();
    }
    CASE("push-A-set-B")
    {
        cuCtxPushCurrent(cA);
        S(cuCtxSetCurrent(cB));
        cur();
        pop();
        cur();
        pop();
        empty();
    }
    CASE("push-AB-set-A")
    {
        cuCtxPushCurrent(cA);
        cuCtxPushCurrent(cB);
        S(cuCtxSetCurrent(cA));
        cur();
        pop();
        cur();
        pop();
        cur();
        empty();
    }
    CASE("set-on-empty")
    {
        S(cuCtxSetCurrent(cA));
        cur();
        pop();
        cur();
        pop();
        empty();
    }
    CASE("set-null-on-empty")
    {
        S(cuCtxSetCurrent(0));
        cur();
        pop();
    }
    CASE("set-null-twice")
    {
        cuCtxPushCurrent(cA);
        cuCtxPushCurrent(cB);
        cuCtxSetCurrent(0);
        cur();
        cuCtxSetCurrent(0);
        cur();
        pop();
        empty();
    }
    CASE("push-deep")
    {
        int n = 0;
        CUresult r = 0;
        for (; n < 1000 && !r; n++)
            r = cuCtxPushCurrent(n & 1 ? cA : cB);
        OUT("%s %d", R(r), n);
        CUcontext x;
        int m = 0;
        while (m < 2000 && !cuCtxPopCurrent(&x))
            m++;
        OUT(" popped=%d", m);
        empty();
    }
    CASE("destroy-null") S(cuCtxDestroy(0));
    CASE("destroy-null-with-current")
    {
        cuCtxPushCurrent(cA);
        S(cuCtxDestroy(0));
        cur();
        empty();
    }
    CASE("destroy-current")
    {
        CUcontext c, s = cA;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        cA = c;
        S(cuCtxDestroy(c));
        cur();
        pop();
        cA = s;
        empty();
    }
    CASE("destroy-current-with-B-below")
    {
        CUcontext c, s = cA;
        cuCtxPushCurrent(cB);
        MUST(cuCtxCreate(&c, 0, 0, 0));
        cA = c;
        S(cuCtxDestroy(c));
        cur();
        pop();
        pop();
        cA = s;
        empty();
    }
    CASE("destroy-below")
    {
        CUcontext c, s = cA;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        cA = c;
        cuCtxPushCurrent(cB);
        S(cuCtxDestroy(c));
        cur();
        pop();
        cur();
        CUdeviceptr p;
        L("alloc", cuMemAlloc(&p, 16));
        pop();
        cA = s;
        empty();
    }
    CASE("destroy-pushed-twice")
    {
        CUcontext c, s = cA;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        cA = c;
        cuCtxPushCurrent(c);
        S(cuCtxDestroy(c));
        cur();
        CUdevice d;
        L("dev", cuCtxGetDevice(&d));
        pop();
        cA = s;
        empty();
    }
    CASE("destroy-not-current")
    {
        CUcontext c = mk();
        cuCtxPushCurrent(cB);
        S(cuCtxDestroy(c));
        cur();
        empty();
    }
    CASE("destroy-twice")
    {
        CUcontext c = mk();
        S(cuCtxDestroy(c));
        S(cuCtxDestroy(c));
        empty();
    }
    CASE("destroyed-push")
    {
        CUcontext c = mk();
        cuCtxDestroy(c);
        S(cuCtxPushCurrent(c));
        cur();
        empty();
    }
    CASE("destroyed-set")
    {
        CUcontext c = mk();
        cuCtxDestroy(c);
        S(cuCtxSetCurrent(c));
        cur();
        empty();
    }
    CASE("destroyed-api")
    {
        CUcontext c = mk();
        unsigned v;
        cuCtxDestroy(c);
        S(cuCtxGetApiVersion(c, &v));
    }
    CASE("destroyed-id")
    {
        CUcontext c = mk();
        unsigned long long v;
        cuCtxDestroy(c);
        S(cuCtxGetId(c, &v));
    }
    CASE("destroyed-sync")
    {
        CUcontext c = mk();
        cuCtxDestroy(c);
        S(cuCtxSynchronize_v2(c));
    }
    CASE("destroyed-device")
    {
        CUcontext c = mk();
        CUdevice d;
        cuCtxDestroy(c);
        S(cuCtxGetDevice_v2(&d, c));
    }
    CASE("garbage-push")
    {
        static char z[4096];
        S(cuCtxPushCurrent((CUcontext)z));
        cur();
        empty();
    }
    CASE("garbage-set")
    {
        static char z[4096];
        S(cuCtxSetCurrent((CUcontext)z));
        cur();
        empty();
    }
    CASE("garbage-destroy")
    {
        static char z[4096];
        S(cuCtxDestroy((CUcontext)z));
    }
    CASE("garbage-api")
    {
        static char z[4096];
        unsigned v;
        S(cuCtxGetApiVersion((CUcontext)z, &v));
    }
    CASE("device")
    {
        CUdevice d = 77, e = 77, k = 77;
        cuCtxPushCurrent(cA);
        L("cur", cuCtxGetDevice(&d));
        L("of-B", cuCtxGetDevice_v2(&e, cB));
        L("of-null", cuCtxGetDevice_v2(&k, 0));
        OUT(" %d %d %d", d, e, k);
        L("null-out", cuCtxGetDevice(0));
        L("null-out-v2", cuCtxGetDevice_v2(0, cB));
        L("null-both", cuCtxGetDevice_v2(0, 0));
        empty();
        L("none", cuCtxGetDevice_v2(&k, 0));
        L("none-of-B", cuCtxGetDevice_v2(&k, cB));
    }
    CASE("id")
    {
        unsigned long long a = 0, b = 0, c = 0, d = 0;
        L("A", cuCtxGetId(cA, &a));
        L("B", cuCtxGetId(cB, &b));
        L("A", cuCtxGetId(cA, &c));
        OUT(" A==A %d A<B %d", a == c, a < b);
        L("null-none", cuCtxGetId(0, &d));
        cuCtxPushCurrent(cB);
        L("null-B", cuCtxGetId(0, &d));
        OUT(" is-B=%d", d == b);
        L("null-out", cuCtxGetId(cA, 0));
        L("null-both", cuCtxGetId(0, 0));
        empty();
    }
    CASE("api")
    {
        unsigned v = 7;
        L("A", cuCtxGetApiVersion(cA, &v));
        OUT("/%u", v);
        v = 7;
        L("null-none", cuCtxGetApiVersion(0, &v));
        OUT("/%u", v);
        cuCtxPushCurrent(cA);
        v = 7;
        L("null-A", cuCtxGetApiVersion(0, &v));
        OUT("/%u", v);
        L("null-out", cuCtxGetApiVersion(cA, 0));
        L("null-both", cuCtxGetApiVersion(0, 0));
        empty();
    }
    CASE("sync-v2")
    {
        L("none-null", cuCtxSynchronize_v2(0));
        L("none-A", cuCtxSynchronize_v2(cA));
        cuCtxPushCurrent(cB);
        L("B-null", cuCtxSynchronize_v2(0));
        L("B-A", cuCtxSynchronize_v2(cA));
        empty();
    }
    CASE("attach")
    {
        CUcontext x = (CUcontext)1;
        L("none", cuCtxAttach(&x, 0));
        OUT("/%s", who(x));
        cuCtxPushCurrent(cA);
        x = (CUcontext)1;
        L("A", cuCtxAttach(&x, 0));
        OUT("/%s", who(x));
        L("flags1", cuCtxAttach(&x, 1));
        L("null", cuCtxAttach(0, 0));
        L("detach-B", cuCtxDetach(cB));
        L("detach-A", cuCtxDetach(cA));
        cur();
        L("detach-null", cuCtxDetach(0));
        empty();
    }
    CASE("detach-last")
    {
        CUcontext c, s = cA;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        cA = c;
        S(cuCtxDetach(c));
        cur();
        unsigned v;
        L("api", cuCtxGetApiVersion(c, &v));
        cA = s;
        empty();
    }
    CASE("memory-of-other-context")
    {
        CUcontext o = 0;
        cuCtxPushCurrent(cA);
        CUdeviceptr p = dal(4096), b;
        size_t z = 0;
        cuCtxPushCurrent(cB);
        L("owner", cuPointerGetAttribute(&o, CU_POINTER_ATTRIBUTE_CONTEXT, p));
        OUT("/%s", who(o));
        CUresult r = cuMemGetAddressRange(&b, &z, p);
        L("range", r);
        OUT("/%zu", z);
        L("memset", cuMemsetD8(p, 7, 4096));
        CUdeviceptr q = dal(4096);
        L("copy", cuMemcpyDtoD(q, p, 4096));
        dsum(q, 4096);
        L("peer-ABctx", cuMemcpyPeer(q, cB, p, cA, 4096));
        L("peer-wrongctx", cuMemcpyPeer(q, cA, p, cB, 4096));
        L("peer-same", cuMemcpyPeer(q, cB, p, cB, 4096));
        L("free", cuMemFree(p));
        L("free-again", cuMemFree(p));
        cuMemFree(q);
        empty();
    }
    CASE("memory-of-destroyed-context")
    {
        CUcontext c;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        CUdeviceptr p = dal(4096), b;
        size_t z;
        void *h = 0;
        MUST(cuMemAllocHost(&h, 4096));
        unsigned f;
        cuCtxPushCurrent(cB);
        cuCtxDestroy(c);
        L("range", cuMemGetAddressRange(&b, &z, p));
        L("attr", cuPointerGetAttribute(&f, 2, p));
        L("free", cuMemFree(p));
        L("hostflags", cuMemHostGetFlags(&f, h));
        L("freehost", cuMemFreeHost(h));
        empty();
    }
    CASE("registered-by-destroyed-context")
    {
        CUcontext c;
        MUST(cuCtxCreate(&c, 0, 0, 0));
        MUST(cuMemHostRegister(hbuf, 65536, 0));
        unsigned f;
        cuCtxPushCurrent(cB);
        cuCtxDestroy(c);
        L("hostflags", cuMemHostGetFlags(&f, hbuf));
        L("register-again", cuMemHostRegister(hbuf, 65536, 0));
        L("unregister", cuMemHostUnregister(hbuf));
        L("again", cuMemHostUnregister(hbuf));
        empty();
    }
    CASE("registered-in-other-context")
    {
        cuCtxPushCurrent(cA);
        MUST(cuMemHostRegister(hbuf, 65536, 0));
        cuCtxPushCurrent(cB);
        CUdeviceptr p;
        unsigned f;
        L("devptr", cuMemHostGetDevicePointer(&p, hbuf, 0));
        L("flags", cuMemHostGetFlags(&f, hbuf));
        L("again", cuMemHostRegister(hbuf, 65536, 0));
        L("unregister", cuMemHostUnregister(hbuf));
        L("again", cuMemHostUnregister(hbuf));
        empty();
    }
    CASE("stream-of-other-context")
    {
        CUstream s;
        cuCtxPushCurrent(cA);
        MUST(cuStreamCreate(&s, 0));
        CUdeviceptr p = dal(64), q;
        CUarray ar;
        cuCtxPushCurrent(cB);
        q = dal(64);
        L("query", cuStreamQuery(s));
        L("memset-A", cuMemsetD8Async(p, 1, 64, s));
        L("memset-B", cuMemsetD8Async(q, 1, 64, s));
        L("copy", cuMemcpyDtoDAsync(q, p, 64, s));
        L("sync", cuStreamSynchronize(s));
        (void)ar;
        cuMemFree(q);
        cuCtxPopCurrent(0);
        L("destroy", cuStreamDestroy(s));
        cuMemFree(p);
        empty();
    }
    CASE("array-of-other-context")
    {
        CUDA_ARRAY_DESCRIPTOR ad = {16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1}, g;
        CUarray ar = 0;
        cuCtxPushCurrent(cA);
        MUST(cuArrayCreate(&ar, &ad));
        cuCtxPushCurrent(cB);
        L("desc", cuArrayGetDescriptor(&g, ar));
        L("HtoA", cuMemcpyHtoA(ar, 0, hbuf, 16));
        L("destroy", cuArrayDestroy(ar));
        empty();
    }
    CASE("event-of-other-context")
    {
        CUevent e = 0;
        cuCtxPushCurrent(cA);
        MUST(cuEventCreate(&e, 0));
        cuCtxPushCurrent(cB);
        L("query", cuEventQuery(e));
        L("record", cuEventRecord(e, 0));
        L("ctx-record-B", cuCtxRecordEvent(cB, e));
        L("ctx-record-A", cuCtxRecordEvent(cA, e));
        L("ctx-wait-A", cuCtxWaitEvent(cA, e));
        L("ctx-wait-B", cuCtxWaitEvent(cB, e));
        L("ctx-record-null", cuCtxRecordEvent(0, e));
        L("destroy", cuEventDestroy(e));
        empty();
    }
}

// ------------------------------------------------------------------ what a context is asked and
// told
GROUP(ctxset)
{
    CUcontext c = probe_ctx();
    CASE("limits-get") for (int l = 0; l < 12; l++)
    {
        size_t v = 777;
        CUresult r = cuCtxGetLimit(&v, l);
        OUT("%s[%d] %s %zu", sep(), l, R(r), v);
        L("null", cuCtxGetLimit(0, l));
    }
    CASE("limit-neg-get")
    {
        size_t v;
        S(cuCtxGetLimit(&v, -1));
        S(cuCtxGetLimit(0, -1));
        S(cuCtxSetLimit(-1, 0));
    }
    static const size_t lv[12][12] = {
        {0, 1, 15, 16, 17, 1000, 1024, 1025, 2048, 4096, (size_t)1 << 40, SIZE_MAX},
        {0, 1, 1000, 1 << 16, 1 << 20, 8650752, 16 << 20, 64 << 20, (size_t)1 << 40,
         (size_t)1 << 60, SIZE_MAX - 4095, SIZE_MAX},
        {0, 1, 1000, 1 << 20, 4 << 20, 8 << 20, (8 << 20) + 1, 64 << 20, (size_t)1 << 48,
         (size_t)1 << 60, SIZE_MAX - 4095, SIZE_MAX},
        {0, 1, 2, 24, 25, SIZE_MAX},
        {0, 1, 2, 1000, 2047, 2048, 2049, 4096, 32768, 65536, (size_t)1 << 40, SIZE_MAX},
        {0, 1, 16, 31, 32, 33, 63, 64, 65, 128, 129, SIZE_MAX},
        {0, 1, 1000, 1 << 20, 9830400, 32768000 - 1, 32768000, 32768001, 52428800, (size_t)1 << 32,
         (size_t)1 << 40, SIZE_MAX},
        {0, 1000, 232448, SIZE_MAX},
        {0, 1, 2, SIZE_MAX},
        {0, 1, 2, SIZE_MAX},
        {0, 1},
        {0, 1}};
    static const int ln[12] = {12, 12, 12, 6, 12, 12, 12, 4, 4, 4, 2, 2};
    for (int l = 0; l < 12; l++)
        XCASE("limit-%d-set", l) for (int i = 0; i < ln[l]; i++)
        {
            size_t was = 0, v = 777;
            CUresult g = cuCtxGetLimit(&was, l);
            OUT("%s[%zx]", sep(), lv[l][i]);
            S(cuCtxSetLimit(l, lv[l][i]));
            cuCtxGetLimit(&v, l);
            OUT(" now=%zu", v);
            if (!g)
                cuCtxSetLimit(l, was);
            settle();
        }
    CASE("cache") for (int k = -1; k <= 4; k++)
    {
        OUT("%s[%d]", sep(), k);
        S(cuCtxSetCacheConfig(k));
        CUfunc_cache f = 99;
        CUresult r = cuCtxGetCacheConfig(&f);
        OUT(" %s %d", R(r), f);
        cuCtxSetCacheConfig(0);
    }
    CASE("cache-null") S(cuCtxGetCacheConfig(0));
    CASE("shared") for (int k = -1; k <= 3; k++)
    {
        OUT("%s[%d]", sep(), k);
        S(cuCtxSetSharedMemConfig(k));
        CUsharedconfig f = 99;
        CUresult r = cuCtxGetSharedMemConfig(&f);
        OUT(" %s %d", R(r), f);
        cuCtxSetSharedMemConfig(0);
    }
    CASE("shared-null") S(cuCtxGetSharedMemConfig(0));
    CASE("priority")
    {
        int a = 77, b = 77;
        CUresult r = cuCtxGetStreamPriorityRange(&a, &b);
        OUT("%s %d %d", R(r), a, b);
        a = b = 77;
        L("null-greatest", cuCtxGetStreamPriorityRange(&a, 0));
        L("null-least", cuCtxGetStreamPriorityRange(0, &b));
        OUT("/%d/%d", a, b);
        L("null-both", cuCtxGetStreamPriorityRange(0, 0));
    }
    unsigned fl[] = {0, 1, 2, 3, 4, 7, 8, 0x10, 0x18, 0x80, 0x84, 0x100, 0x80000000};
    for (int i = 0; i < N(fl); i++)
        CASE("setflags-%x", fl[i])
        {
            unsigned was = 0, f = 777;
            cuCtxGetFlags(&was);
            S(cuCtxSetFlags(fl[i]));
            CUresult r = cuCtxGetFlags(&f);
            OUT(" %s %#x", R(r), f);
            unsigned g = 0;
            int a;
            cuDevicePrimaryCtxGetState(0, &g, &a);
            OUT(" primary=%#x", g);
            cuCtxSetFlags(was);
        }
    CASE("getflags-null") S(cuCtxGetFlags(0));
    CASE("persisting-l2-reset") S(cuCtxResetPersistingL2Cache());
    CASE("affinity") for (int t = -1; t <= 1; t++)
    {
        CUexecAffinityParam p;
        memset(&p, 0, sizeof p);
        CUresult r = cuCtxGetExecAffinity(&p, t);
        OUT("%s[%d] %s type=%d val=%u", sep(), t, R(r), p.type, p.param.smCount.val);
        L("null", cuCtxGetExecAffinity(0, t));
    }
    int tg[] = {-1, 0, 1}, sc[] = {0, 99, 100, 101, 200, 201, 300};
    CASE("flush-rdma") for (int i = 0; i < 3; i++)
    {
        OUT("%s[%d]", sep(), tg[i]);
        for (int k = 0; k < N(sc); k++) {
            OUT("%s%d:", sep(), sc[k]);
            OUT("%s", R(cuFlushGPUDirectRDMAWrites(tg[i], sc[k])));
        }
    }
    CASE("peer-self")
    {
        S(cuCtxEnablePeerAccess(c, 0));
        S(cuCtxEnablePeerAccess(c, 1));
        S(cuCtxEnablePeerAccess(0, 0));
        S(cuCtxDisablePeerAccess(c));
        S(cuCtxDisablePeerAccess(0));
    }
}

// ------------------------------------------------------------------ device memory
GROUP(alloc)
{
    probe_ctx();
    CUdeviceptr warm = dal(1);
    cuMemFree(warm);
    size_t sz[] = {1,
                   2,
                   255,
                   256,
                   257,
                   511,
                   512,
                   513,
                   1000,
                   4095,
                   4096,
                   65535,
                   65536,
                   65537,
                   1 << 20,
                   (1 << 20) - 1,
                   (1 << 20) + 1,
                   (2 << 20) - 1,
                   2 << 20,
                   (2 << 20) + 1,
                   3 << 20,
                   4 << 20,
                   (4 << 20) + 1,
                   33 << 20};
    for (int i = 0; i < N(sz); i++)
        CASE("size-%zu", sz[i])
        {
            CUdeviceptr p = JUNK, q = JUNK, b = 0;
            size_t z = 0;
            L("p", cuMemAlloc(&p, sz[i]));
            L("q", cuMemAlloc(&q, sz[i]));
            CUresult r = cuMemGetAddressRange(&b, &z, p);
            OUT(" align>=512 %d %d apart=%lld range=%s/%zu/%lld", lowbits(p, 9) == 9,
                lowbits(q, 9) == 9,
                llabs((long long)(q - p)) < (256 << 20) ? llabs((long long)(q - p)) : -1LL, R(r), z,
                df(p, b));
            unsigned long long id1 = 0, id2 = 0;
            cuPointerGetAttribute(&id1, CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
            cuPointerGetAttribute(&id2, CU_POINTER_ATTRIBUTE_BUFFER_ID, q);
            OUT(" ids-differ=%d", id1 != id2);
            L("free", cuMemFree(p));
            L("free", cuMemFree(q));
        }
    size_t big[] = {0,
                    (size_t)1 << 40,
                    (size_t)1 << 47,
                    (size_t)1 << 48,
                    (size_t)1 << 62,
                    (size_t)1 << 63,
                    SIZE_MAX - 511,
                    SIZE_MAX - 510,
                    SIZE_MAX};
    CASE("refused") for (int i = 0; i < N(big); i++)
    {
        CUdeviceptr p = JUNK;
        CUresult r = cuMemAlloc(&p, big[i]);
        OUT("%s[%zx] %s out=%s", sep(), big[i], R(r), out64(p, JUNK));
        if (!r)
            cuMemFree(p);
        L("null", cuMemAlloc(0, big[i]));
    }
    CASE("null-out") S(cuMemAlloc(0, 16));
    CASE("total-plus")
    {
        size_t f, t;
        MUST(cuMemGetInfo(&f, &t));
        CUdeviceptr p = JUNK;
        S(cuMemAlloc(&p, t + 1));
        OUT(" out=%s", out64(p, JUNK));
    }
    CASE("free-null") S(cuMemFree(0));
    CASE("free-twice")
    {
        CUdeviceptr p = dal(4096);
        S(cuMemFree(p));
        S(cuMemFree(p));
    }
    CASE("free-interior")
    {
        CUdeviceptr p = dal(4096);
        S(cuMemFree(p + 1));
        S(cuMemFree(p + 512));
        S(cuMemFree(p + 4096));
        S(cuMemFree(p));
    }
    CASE("free-interior-large")
    {
        CUdeviceptr p = dal(8 << 20);
        S(cuMemFree(p + (2 << 20)));
        S(cuMemFree(p + 1));
        S(cuMemFree(p));
    }
    CASE("free-unknown")
    {
        S(cuMemFree(1));
        S(cuMemFree(0x1000));
        S(cuMemFree((CUdeviceptr)hbuf));
        S(cuMemFree((CUdeviceptr)SIZE_MAX));
        S(cuMemFree((CUdeviceptr)1 << 63));
    }
    CASE("free-pinned")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 4096));
        S(cuMemFree((CUdeviceptr)h));
        S(cuMemFreeHost(h));
    }
    CASE("free-registered")
    {
        MUST(cuMemHostRegister(hbuf, 4096, 0));
        S(cuMemFree((CUdeviceptr)hbuf));
        S(cuMemHostUnregister(hbuf));
    }
    CASE("freehost-of-device")
    {
        CUdeviceptr p = dal(4096);
        S(cuMemFreeHost((void *)p));
        S(cuMemHostUnregister((void *)p));
        S(cuMemFree(p));
    }
    CASE("reuse")
    {
        CUdeviceptr p = dal(4096), q;
        cuMemFree(p);
        q = dal(4096);
        OUT("same=%d", p == q);
        cuMemFree(q);
    }
    CASE("reuse-large")
    {
        CUdeviceptr p = dal(64 << 20), q;
        cuMemFree(p);
        q = dal(64 << 20);
        OUT("same=%d", p == q);
        cuMemFree(q);
    }
    CASE("fresh-memory-zero")
    {
        CUdeviceptr p = dal(1 << 20);
        static char t[1 << 20];
        MUST(cuMemcpyDtoH(t, p, 1 << 20));
        int nz = 0;
        for (int i = 0; i < 1 << 20; i++)
            nz |= t[i];
        OUT("zero=%d", !nz);
        cuMemFree(p);
    }
    unsigned es[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 32, 64, 0x80000000, 0xffffffff};
    size_t wd[] = {1,   4,   16,  31,   32,   33,   255,  256,   257,
                   511, 512, 513, 1024, 1025, 4096, 5000, 65536, 65537};
    for (int i = 0; i < N(es); i++)
        CASE("pitch-element-%u", es[i])
        {
            for (int k = 0; k < N(wd); k++) {
                CUdeviceptr p = JUNK;
                size_t z = 777;
                CUresult r = cuMemAllocPitch(&p, &z, wd[k], 3, es[i]);
                if (r)
                    OUT("%s%zu:%s%s", sep(), wd[k], R(r), p == JUNK && z == 777 ? "" : "/touched");
                else {
                    OUT("%s%zu:%zu", sep(), wd[k], z);
                    cuMemFree(p);
                }
            }
        }
    size_t ht[] = {1, 2, 3, 7, 8, 100, 4097};
    CASE("pitch-heights") for (int i = 0; i < N(ht); i++)
    {
        OUT("%s[%zu]", sep(), ht[i]);
        for (int k = 0; k < N(wd); k += 3) {
            CUdeviceptr p = 0, b = 0;
            size_t z = 0, n = 0;
            CUresult r = cuMemAllocPitch(&p, &z, wd[k], ht[i], 4);
            cuMemGetAddressRange(&b, &n, p);
            OUT("%s%zu:%s/%zu/%zu", sep(), wd[k], R(r), z, n);
            cuMemFree(p);
        }
    }
    CASE("pitch-width0")
    {
        CUdeviceptr p = JUNK;
        size_t z = 777;
        CUresult r = cuMemAllocPitch(&p, &z, 0, 4, 4);
        OUT("%s %s pitch=%zu", R(r), out64(p, JUNK), z);
    }
    CASE("pitch-height0")
    {
        CUdeviceptr p = JUNK;
        size_t z = 777;
        CUresult r = cuMemAllocPitch(&p, &z, 4, 0, 4);
        OUT("%s %s pitch=%zu", R(r), out64(p, JUNK), z);
    }
    CASE("pitch-both0")
    {
        CUdeviceptr p = JUNK;
        size_t z = 777;
        CUresult r = cuMemAllocPitch(&p, &z, 0, 0, 4);
        OUT("%s %s pitch=%zu", R(r), out64(p, JUNK), z);
    }
    CASE("pitch-null")
    {
        CUdeviceptr p;
        size_t z;
        L("ptr", cuMemAllocPitch(0, &z, 4, 4, 4));
        L("pitch", cuMemAllocPitch(&p, 0, 4, 4, 4));
        L("both", cuMemAllocPitch(0, 0, 4, 4, 4));
        L("both-badelement", cuMemAllocPitch(0, 0, 4, 4, 3));
        L("both-width0", cuMemAllocPitch(0, 0, 0, 4, 4));
    }
    CASE("pitch-precedence")
    {
        CUdeviceptr p;
        size_t z;
        L("width0-badelement", cuMemAllocPitch(&p, &z, 0, 4, 3));
        L("height0-badelement", cuMemAllocPitch(&p, &z, 4, 0, 3));
        L("huge-badelement", cuMemAllocPitch(&p, &z, SIZE_MAX, 4, 3));
    }
    size_t hw[][2] = {{(size_t)1 << 31, 1},
                      {((size_t)1 << 31) - 1, 1 << 20},
                      {(size_t)1 << 40, 1},
                      {SIZE_MAX, 1},
                      {SIZE_MAX - 600, 1},
                      {1, (size_t)1 << 40},
                      {1, SIZE_MAX},
                      {SIZE_MAX, SIZE_MAX},
                      {(size_t)1 << 32, (size_t)1 << 32}};
    CASE("pitch-huge") for (int i = 0; i < N(hw); i++)
    {
        CUdeviceptr p = JUNK;
        size_t z = 777;
        CUresult r = cuMemAllocPitch(&p, &z, hw[i][0], hw[i][1], 16);
        OUT("%s[%zx*%zx] %s pitch=%zu", sep(), hw[i][0], hw[i][1], R(r), z);
        if (!r)
            cuMemFree(p);
    }
    {
        CUdeviceptr p = dal(100000), b;
        size_t z;
        void *h = 0;
        MUST(cuMemAllocHost(&h, 100000));
        long long at[] = {0, 1, 511, 512, 99999, 100000, 100351, 100352, 131072, -1};
        CASE("range-at") for (int i = 0; i < N(at); i++)
        {
            b = JUNK;
            z = 777;
            CUresult r = cuMemGetAddressRange(&b, &z, p + at[i]);
            OUT("%s[%+lld] ", sep(), at[i]);
            if (!r && b != p)
                OUT("%s other-allocation", R(r));
            else
                OUT("%s base=%lld size=%zu", R(r), df(b, p), z);
        }
        CASE("range-null-outs")
        {
            b = JUNK;
            z = 777;
            L("base", cuMemGetAddressRange(0, &z, p));
            OUT("/%zu", z);
            L("size", cuMemGetAddressRange(&b, 0, p));
            OUT("/%d", b == p);
            L("both", cuMemGetAddressRange(0, 0, p));
            L("both-bad", cuMemGetAddressRange(0, 0, 0x1000));
            L("both-zero", cuMemGetAddressRange(0, 0, 0));
        }
        long long hat[] = {0, 1, 99999, 100000, 102399, 102400, -1};
        CASE("range-pinned-at") for (int i = 0; i < N(hat); i++)
        {
            b = JUNK;
            z = 777;
            CUresult r = cuMemGetAddressRange(&b, &z, (CUdeviceptr)h + hat[i]);
            OUT("%s[%+lld] %s base=%lld size=%zu", sep(), hat[i], R(r), df(b, (CUdeviceptr)h), z);
        }
        CASE("range-unknown")
        {
            CUdeviceptr u[] = {0, 1, 0x1000, (CUdeviceptr)hbuf, SIZE_MAX, (CUdeviceptr)1 << 48};
            for (int i = 0; i < N(u); i++) {
                b = JUNK;
                z = 777;
                CUresult r = cuMemGetAddressRange(&b, &z, u[i]);
                OUT("%s%s/%s/%zu", sep(), R(r), out64(b, JUNK), z);
            }
        }
        CASE("range-registered")
        {
            MUST(cuMemHostRegister(hbuf + 100, 5000, 0));
            for (int o = 0; o <= 12288; o += 4096) {
                b = JUNK;
                z = 777;
                CUresult r = cuMemGetAddressRange(&b, &z, (CUdeviceptr)hbuf + o);
                OUT("%s%d:%s/%lld/%zu", sep(), o, R(r), df(b, (CUdeviceptr)hbuf), z);
            }
            cuMemHostUnregister(hbuf + 100);
        }
        CASE("range-freed")
        {
            CUdeviceptr q = dal(12345);
            cuMemFree(q);
            S(cuMemGetAddressRange(&b, &z, q));
        }
        cuMemFree(p);
        cuMemFreeHost(h);
    }
    CASE("info-null")
    {
        size_t v = 777;
        L("free", cuMemGetInfo(0, &v));
        OUT("/%s", v == 777 ? "kept" : "set");
        v = 777;
        L("total", cuMemGetInfo(&v, 0));
        OUT("/%s", v == 777 ? "kept" : "set");
        L("both", cuMemGetInfo(0, 0));
    }
    CASE("info-total")
    {
        size_t f = 0, t = 0, m = 0;
        cuMemGetInfo(&f, &t);
        cuDeviceTotalMem(&m, 0);
        OUT("total==device %d free<total %d free%%64k=%zu", t == m, f < t, f % 65536);
    }
    size_t ds[] = {1,       65536,    1 << 20,        2 << 20,  (2 << 20) + 1, 3 << 20, 4 << 20,
                   5 << 20, 16 << 20, (16 << 20) + 1, 64 << 20, 100 << 20,     1 << 30};
    for (int i = 0; i < N(ds); i++)
        CASE("info-delta-%zu", ds[i])
        {
            size_t a, b, c, t;
            cuMemGetInfo(&a, &t);
            CUdeviceptr p = dal(ds[i]);
            cuMemGetInfo(&b, &t);
            cuMemFree(p);
            cuMemGetInfo(&c, &t);
            OUT("taken=%lld after-free=%lld", (long long)(a - b), (long long)(a - c));
        }
    CASE("info-delta-many-small")
    {
        size_t a, b, c, t;
        CUdeviceptr p[3000];
        cuMemGetInfo(&a, &t);
        for (int i = 0; i < 3000; i++)
            p[i] = dal(1000);
        cuMemGetInfo(&b, &t);
        for (int i = 0; i < 3000; i++)
            cuMemFree(p[i]);
        cuMemGetInfo(&c, &t);
        OUT("taken=%lld after-free=%lld", (long long)(a - b), (long long)(a - c));
    }
}

// ------------------------------------------------------------------ host memory
static void hdesc(void *h)
{
    unsigned f = 777, t = 777;
    CUdeviceptr d = JUNK;
    CUresult r = cuMemHostGetFlags(&f, h), q;
    OUT(" flags=%s/%#x", R(r), f);
    q = cuMemHostGetDevicePointer(&d, h, 0);
    OUT(" dev=%s/%s", R(q), d == JUNK ? "kept" : d == (CUdeviceptr)h ? "same" : "other");
    r = cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)h);
    OUT(" type=%s/%u", R(r), t);
}
GROUP(host)
{
    probe_ctx();
    size_t sz[] = {1, 100, 4095, 4096, 4097, 65536, 1 << 20, (2 << 20) + 1};
    for (int i = 0; i < N(sz); i++)
        CASE("allochost-%zu", sz[i])
        {
            void *h = (void *)JUNK;
            CUdeviceptr b = 0;
            size_t z = 0;
            CUresult r = cuMemAllocHost(&h, sz[i]);
            S(r);
            if (r)
                continue;
            cuMemGetAddressRange(&b, &z, (CUdeviceptr)h);
            OUT(" page-aligned=%d range=%zu writable=", !((uintptr_t)h & 4095), z);
            memset(h, 7, sz[i]);
            OUT("1");
            hdesc(h);
            L("free", cuMemFreeHost(h));
        }
    size_t big[] = {0, (size_t)1 << 47, (size_t)1 << 62, SIZE_MAX - 4095, SIZE_MAX};
    CASE("allochost-refused") for (int i = 0; i < N(big); i++)
    {
        void *h = (void *)JUNK;
        CUresult r = cuMemAllocHost(&h, big[i]);
        OUT("%s[%zx] %s out=%s", sep(), big[i], R(r), out64((uint64_t)h, JUNK));
        if (!r)
            cuMemFreeHost(h);
        h = (void *)JUNK;
        r = cuMemHostAlloc(&h, big[i], 0);
        OUT(" hostalloc %s out=%s", R(r), out64((uint64_t)h, JUNK));
        if (!r)
            cuMemFreeHost(h);
    }
    CASE("allochost-null")
    {
        S(cuMemAllocHost(0, 16));
        S(cuMemAllocHost(0, 0));
        S(cuMemHostAlloc(0, 16, 0));
        S(cuMemHostAlloc(0, 16, 99));
        S(cuMemHostAlloc(0, 0, 99));
    }
    CASE("hostalloc-size0-badflags")
    {
        void *h;
        S(cuMemHostAlloc(&h, 0, 99));
    }
    unsigned fl[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 32, 0x100, 0x80000000};
    for (int i = 0; i < N(fl); i++)
        CASE("hostalloc-flags-%x", fl[i])
        {
            void *h = (void *)JUNK;
            CUresult r = cuMemHostAlloc(&h, 5000, fl[i]);
            S(r);
            if (r) {
                OUT(" out=%s", out64((uint64_t)h, JUNK));
                continue;
            }
            hdesc(h);
            hdesc((char *)h + 4999);
            L("free", cuMemFreeHost(h));
        }
    CASE("freehost-null") S(cuMemFreeHost(0));
    CASE("freehost-twice")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 4096));
        S(cuMemFreeHost(h));
        S(cuMemFreeHost(h));
    }
    CASE("freehost-interior")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 8192));
        S(cuMemFreeHost((char *)h + 1));
        S(cuMemFreeHost((char *)h + 4096));
        S(cuMemFreeHost(h));
    }
    CASE("freehost-unknown")
    {
        S(cuMemFreeHost(hbuf));
        S(cuMemFreeHost((void *)0x1000));
        S(cuMemFreeHost((void *)SIZE_MAX));
    }
    CASE("freehost-registered")
    {
        MUST(cuMemHostRegister(hbuf, 4096, 0));
        S(cuMemFreeHost(hbuf));
        S(cuMemHostUnregister(hbuf));
    }
    for (unsigned f = 0; f <= 32; f++)
        if (f <= 16 || f == 32)
            CASE("register-flags-%x", f)
            {
                CUresult r = cuMemHostRegister(hbuf, 8192, f);
                S(r);
                hdesc(hbuf);
                if (!r)
                    L("unregister", cuMemHostUnregister(hbuf));
            }
    CASE("register-flags-80000000") S(cuMemHostRegister(hbuf, 4096, 0x80000000));
    CASE("register-v1")
    {
        for (unsigned f = 0; f <= 8; f++) {
            CUresult r = one_MemHostRegister(hbuf, 8192, f);
            S(r);
            if (!r)
                cuMemHostUnregister(hbuf);
        }
    }
    CASE("register-null")
    {
        S(cuMemHostRegister(0, 4096, 0));
        S(cuMemHostRegister(0, 0, 0));
        S(cuMemHostRegister(hbuf, 0, 0));
        S(cuMemHostRegister(hbuf, 0, 0x80));
        S(cuMemHostRegister(0, 4096, 0x80));
    }
    size_t ro[][2] = {{0, 1},    {1, 1},    {1, 4095}, {1, 4096},   {100, 5000},
                      {4095, 1}, {4095, 2}, {0, 4097}, {64, 65536}, {3, 1 << 20}};
    for (int i = 0; i < N(ro); i++)
        CASE("register-at-%zu-size-%zu", ro[i][0], ro[i][1])
        {
            char *p = hbuf + ro[i][0];
            CUresult r = cuMemHostRegister(p, ro[i][1], 0);
            S(r);
            if (r)
                continue;
            hdesc(p);
            OUT(" page:");
            hdesc(hbuf);
            OUT(" last:");
            hdesc(p + ro[i][1] - 1);
            OUT(" past:");
            hdesc(p + ro[i][1]);
            L("unregister-page", p != hbuf ? cuMemHostUnregister(hbuf) : 0);
            L("unregister", cuMemHostUnregister(p));
            cuMemHostUnregister(hbuf);
        }
    struct {
        const char *n;
        size_t o, z;
    } ov[] = {{"same", 65536, 65536},
              {"inside", 69632, 4096},
              {"inside-bytes", 65636, 10},
              {"over", 61440, 73728},
              {"front", 61440, 8192},
              {"back", 126976, 8192},
              {"before", 61440, 4096},
              {"after", 131072, 4096},
              {"touching-page-front", 61440, 4097},
              {"same-start-shorter", 65536, 4096},
              {"same-start-longer", 65536, 131072}};
    for (int i = 0; i < N(ov); i++)
        CASE("register-overlap-%s", ov[i].n)
        {
            MUST(cuMemHostRegister(hbuf + 65536, 65536, 0));
            CUresult r = cuMemHostRegister(hbuf + ov[i].o, ov[i].z, 0);
            S(r);
            L("unregister-first", cuMemHostUnregister(hbuf + 65536));
            L("unregister-second", cuMemHostUnregister(hbuf + ov[i].o));
        }
    CASE("register-two-in-one-page")
    {
        S(cuMemHostRegister(hbuf + 16, 100, 0));
        S(cuMemHostRegister(hbuf + 200, 100, 0));
        S(cuMemHostUnregister(hbuf + 16));
        S(cuMemHostUnregister(hbuf + 200));
    }
    CASE("register-pinned")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 8192));
        S(cuMemHostRegister(h, 8192, 0));
        S(cuMemHostRegister((char *)h + 4096, 4096, 0));
        S(cuMemHostUnregister(h));
        S(cuMemFreeHost(h));
    }
    CASE("register-device")
    {
        CUdeviceptr p = dal(4 << 20);
        S(cuMemHostRegister((void *)p, 4096, 0));
        cuMemFree(p);
    }
    CASE("register-unmapped")
    {
        char *m = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(m, 65536);
        S(cuMemHostRegister(m, 65536, 0));
        S(cuMemHostUnregister(m));
    }
    CASE("register-half-unmapped")
    {
        char *m = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(m + 32768, 32768);
        S(cuMemHostRegister(m, 65536, 0));
        S(cuMemHostUnregister(m));
        munmap(m, 32768);
    }
    CASE("register-prot-none")
    {
        char *m = mmap(0, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        S(cuMemHostRegister(m, 65536, 0));
        S(cuMemHostUnregister(m));
        munmap(m, 65536);
    }
    CASE("register-kernel-address")
    {
        S(cuMemHostRegister((void *)0xffff800000000000ull, 4096, 0));
        S(cuMemHostRegister((void *)4096, 4096, 0));
        S(cuMemHostRegister((void *)(SIZE_MAX - 4095), 8192, 0));
    }
    for (int f = 0; f <= 10; f += 2)
        CASE("register-readonly-map-flags-%x", f)
        {
            char *m = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memset(m, 1, 65536);
            mprotect(m, 65536, PROT_READ);
            CUresult r = cuMemHostRegister(m, 65536, f);
            S(r);
            hdesc(m);
            if (!r)
                cuMemHostUnregister(m);
            munmap(m, 65536);
        }
    CASE("register-readonly-file")
    {
        int fd = open("/proc/self/exe", O_RDONLY);
        char *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
        S(cuMemHostRegister(m, 4096, 0));
        cuMemHostUnregister(m);
        S(cuMemHostRegister(m, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
        cuMemHostUnregister(m);
        munmap(m, 4096);
        close(fd);
    }
    CASE("register-shared-map")
    {
        char *m = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CUresult r = cuMemHostRegister(m, 65536, 2);
        S(r);
        hdesc(m);
        if (!r)
            S(cuMemHostUnregister(m));
        munmap(m, 65536);
    }
    CASE("register-stack")
    {
        char st[20000];
        CUresult r = cuMemHostRegister(st, sizeof st, 0);
        S(r);
        if (!r)
            S(cuMemHostUnregister(st));
    }
    CASE("register-two-maps")
    {
        char *m = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mmap(m + 32768, 32768, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
        CUresult r = cuMemHostRegister(m, 65536, 0);
        S(r);
        if (!r)
            S(cuMemHostUnregister(m));
        munmap(m, 65536);
    }
    CASE("unregister-null") S(cuMemHostUnregister(0));
    CASE("unregister-unknown")
    {
        S(cuMemHostUnregister(hbuf2));
        S(cuMemHostUnregister((void *)0x1000));
    }
    CASE("unregister-twice")
    {
        MUST(cuMemHostRegister(hbuf, 4096, 0));
        S(cuMemHostUnregister(hbuf));
        S(cuMemHostUnregister(hbuf));
    }
    CASE("unregister-interior")
    {
        MUST(cuMemHostRegister(hbuf, 8192, 0));
        S(cuMemHostUnregister(hbuf + 1));
        S(cuMemHostUnregister(hbuf + 4096));
        S(cuMemHostUnregister(hbuf));
    }
    CASE("unregister-pinned")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 4096));
        S(cuMemHostUnregister(h));
        S(cuMemFreeHost(h));
    }
    CASE("devptr-flags")
    {
        void *h;
        CUdeviceptr d = JUNK;
        MUST(cuMemAllocHost(&h, 4096));
        L("1", cuMemHostGetDevicePointer(&d, h, 1));
        L("80000000", cuMemHostGetDevicePointer(&d, h, 0x80000000));
        OUT(" out=%s", out64(d, JUNK));
        L("null-out", cuMemHostGetDevicePointer(0, h, 0));
        L("null-host", cuMemHostGetDevicePointer(&d, 0, 0));
        OUT(" out=%s", out64(d, JUNK));
        L("null-both", cuMemHostGetDevicePointer(0, 0, 0));
        L("null-badflags", cuMemHostGetDevicePointer(0, 0, 1));
        L("unknown", cuMemHostGetDevicePointer(&d, hbuf2, 0));
        OUT(" out=%s", out64(d, JUNK));
        L("unknown-badflags", cuMemHostGetDevicePointer(&d, hbuf2, 1));
        cuMemFreeHost(h);
    }
    CASE("devptr-interior")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 8192));
        int o[] = {0, 1, 4096, 8191, 8192};
        for (int i = 0; i < 5; i++) {
            CUdeviceptr d = JUNK;
            CUresult r = cuMemHostGetDevicePointer(&d, (char *)h + o[i], 0);
            OUT("%s%d:%s/%lld", sep(), o[i], R(r), df(d, (CUdeviceptr)h));
        }
        cuMemFreeHost(h);
    }
    CASE("devptr-of-device")
    {
        CUdeviceptr p = dal(4096), d = JUNK;
        S(cuMemHostGetDevicePointer(&d, (void *)p, 0));
        unsigned f;
        S(cuMemHostGetFlags(&f, (void *)p));
        cuMemFree(p);
    }
    CASE("devptr-freed")
    {
        void *h;
        CUdeviceptr d = JUNK;
        MUST(cuMemAllocHost(&h, 4096));
        cuMemFreeHost(h);
        S(cuMemHostGetDevicePointer(&d, h, 0));
        OUT(" out=%s", out64(d, JUNK));
    }
    CASE("getflags-args")
    {
        void *h;
        unsigned f = 777;
        MUST(cuMemHostAlloc(&h, 4096, 3));
        L("null-out", cuMemHostGetFlags(0, h));
        L("null-ptr", cuMemHostGetFlags(&f, 0));
        L("null-both", cuMemHostGetFlags(0, 0));
        L("unknown", cuMemHostGetFlags(&f, hbuf2));
        OUT(" out=%u", f);
        L("interior", cuMemHostGetFlags(&f, (char *)h + 100));
        OUT("/%u", f);
        cuMemFreeHost(h);
    }
    XCASE("registered-write-by-device")
    {
        MUST(cuMemHostRegister(hbuf, 8192, 2));
        CUdeviceptr d = 0;
        memset(hbuf, 0, 8192);
        MUST(cuMemHostGetDevicePointer(&d, hbuf, 0));
        S(cuMemsetD8(d + 10, 0x5a, 100));
        S(cuCtxSynchronize());
        OUT(" sum=%08x", f32(hbuf, 8192));
        S(cuMemHostUnregister(hbuf));
        S(cuMemsetD8(d + 10, 0x5b, 100));
    }
    CASE("mlocked-fork-visible-content")
    {
        MUST(cuMemHostRegister(hbuf, 4096, 0));
        fill(hbuf, 4096, 3);
        CUdeviceptr d = dal(4096);
        S(cuMemcpyHtoD(d, hbuf, 4096));
        dsum(d, 4096);
        cuMemHostUnregister(hbuf);
        cuMemFree(d);
    }
}

// ------------------------------------------------------------------ attributes of pointers
static void pattr(int a, CUdeviceptr p, CUcontext c, CUmemoryPool def)
{
    unsigned char x[64], y[64];
    memset(x, 0xa5, 64);
    memset(y, 0x5a, 64);
    CUresult r = cuPointerGetAttribute(x, a, p);
    cuPointerGetAttribute(y, a, p);
    int w = 0;
    for (int i = 0; i < 64; i++)
        if (x[i] == y[i])
            w = i + 1;
    OUT("%s%s", sep(), R(r));
    if (!w)
        return;
    uint64_t v = 0;
    memcpy(&v, x, w > 8 ? 8 : w);
    OUT("/%dB", w);
    switch (a) {
    case 1:
        OUT(" ctx=%s", (CUcontext)v == c ? "cur" : v ? "other" : "null");
        break;
    case 3:
    case 4:
        if (!v)
            OUT(" null");
        else if (llabs((long long)(v - p)) < 1ll << 30)
            OUT(" p%+lld", (long long)(v - p));
        else
            OUT(" other");
        break;
    case 11:
    case 19:
        if (!v)
            OUT(" null");
        else
            OUT(" p%+lld", df(v, p));
        break;
    case 5:
        break;
    case 7:
    case 20:
        OUT(" id=%s", v ? "set" : "zero");
        break;
    case 17:
        OUT(" pool=%s", (CUmemoryPool)v == def ? "default" : v ? "other" : "null");
        break;
    default:
        OUT(" %lld", w == 4 ? (long long)(int)v : (long long)v);
    }
}
static void pattrs(CUdeviceptr p, CUcontext c, CUmemoryPool def)
{
    static const CUpointer_attribute all[] = {1,  2,  3,  4,  6,  7,  8,  9,  10, 11,
                                              12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
    uint64_t v[2][20];
    void *d[20];
    CUresult r = 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 20; i++) {
            v[k][i] = k ? 0x5a5a5a5a5a5a5a5aull : 0xa5a5a5a5a5a5a5a5ull;
            d[i] = &v[k][i];
        }
        r = cuPointerGetAttributes(20, (CUpointer_attribute *)all, d, p);
    }
    S(r);
    for (int i = 0; i < 20; i++) {
        unsigned char *x = (void *)&v[0][i], *y = (void *)&v[1][i];
        int w = 0;
        for (int b = 0; b < 8; b++)
            if (x[b] == y[b])
                w = b + 1;
        uint64_t q = 0;
        memcpy(&q, x, w);
        int a = all[i];
        OUT(" %d:%dB", a, w);
        if (!w)
            continue;
        switch (a) {
        case 1:
            OUT("=%s", (CUcontext)q == c ? "cur" : q ? "other" : "null");
            break;
        case 3:
        case 4:
        case 11:
        case 19:
            if (!q)
                OUT("=null");
            else
                OUT("=p%+lld", df(q, p));
            break;
        case 7:
        case 20:
            OUT("=%s", q ? "set" : "zero");
            break;
        case 17:
            OUT("=%s", (CUmemoryPool)q == def ? "default" : q ? "other" : "null");
            break;
        default:
            OUT("=%lld", w == 4 ? (long long)(int)q : (long long)q);
        }
    }
}
GROUP(ptrattr)
{
    CUcontext c = probe_ctx();
    CUmemoryPool def = 0;
    cuDeviceGetDefaultMemPool(&def, 0);
    CUdeviceptr dev = dal(1 << 20), sm = dal(100), wcd = 0, freed = dal(1000), pool = 0;
    void *pin, *port, *wc;
    MUST(cuMemAllocHost(&pin, 10000));
    MUST(cuMemHostAlloc(&port, 10000, 3));
    MUST(cuMemHostAlloc(&wc, 10000, 4));
    cuMemHostGetDevicePointer(&wcd, wc, 0);
    MUST(cuMemHostRegister(hbuf, 10000, 0));
    MUST(cuMemHostRegister(hbuf + 65536, 10000, 3));
    MUST(cuMemHostRegister(hbuf + 131072 + 100, 5000, 0));
    MUST(cuMemAllocAsync(&pool, 100000, 0));
    MUST(cuStreamSynchronize(0));
    cuMemFree(freed);
    struct {
        const char *n;
        CUdeviceptr p;
        int each;
    } k[] = {{"device", dev, 1},
             {"device+1000", dev + 1000, 0},
             {"device-last", dev + (1 << 20) - 1, 0},
             {"device-small", sm, 0},
             {"device-small+50", sm + 50, 0},
             {"pinned", (CUdeviceptr)pin, 0},
             {"pinned+100", (CUdeviceptr)pin + 100, 0},
             {"pinned-portable", (CUdeviceptr)port, 0},
             {"pinned-wc", (CUdeviceptr)wc, 0},
             {"pinned-wc-dev", wcd, 0},
             {"registered", (CUdeviceptr)hbuf, 0},
             {"registered+9999", (CUdeviceptr)hbuf + 9999, 0},
             {"registered-tail-of-page", (CUdeviceptr)hbuf + 12287, 0},
             {"registered-mapped", (CUdeviceptr)hbuf + 65536, 0},
             {"registered-unaligned", (CUdeviceptr)hbuf + 131072 + 100, 0},
             {"registered-unaligned-page", (CUdeviceptr)hbuf + 131072, 0},
             {"unregistered", (CUdeviceptr)hbuf2, 0},
             {"null", 0, 0},
             {"one", 1, 0},
             {"low", 0x1000, 0},
             {"top", SIZE_MAX, 0},
             {"freed", freed, 0},
             {"pool", pool, 0},
             {"pool+100", pool + 100, 0}};
    for (int i = 0; i < N(k); i++) {
        if (k[i].each) {
            for (int a = 0; a <= 22; a++)
                CASE("%s-attr-%d", k[i].n, a) pattr(a, k[i].p, c, def);
        }
        if (!k[i].each)
            CASE("%s-each", k[i].n)
            {
                for (int a = 1; a <= 21; a++) {
                    OUT(" [%d]", a);
                    pattr(a, k[i].p, c, def);
                }
            }
        CASE("%s-all", k[i].n) pattrs(k[i].p, c, def);
    }
    CASE("null-data")
    {
        for (int a = 0; a <= 22; a++) {
            OUT(" %d:", a);
            OUT("%s", R(cuPointerGetAttribute(0, a, dev)));
        }
    }
    CASE("null-data-unknown")
    {
        for (int a = 0; a <= 22; a++) {
            OUT(" %d:", a);
            OUT("%s", R(cuPointerGetAttribute(0, a, 0x1000)));
        }
    }
    CASE("bad-attr")
    {
        unsigned v;
        S(cuPointerGetAttribute(&v, -1, dev));
        S(cuPointerGetAttribute(&v, 1000, dev));
        S(cuPointerGetAttribute(&v, 1000, 0x1000));
    }
    CUpointer_attribute at[4] = {2, 8, 9, 2};
    uint64_t v[4];
    void *d[4] = {&v[0], &v[1], &v[2], &v[3]};
    CASE("list-count0") S(cuPointerGetAttributes(0, at, d, dev));
    CASE("list-count0-nulls") S(cuPointerGetAttributes(0, 0, 0, dev));
    CASE("list-null-attrs") S(cuPointerGetAttributes(1, 0, d, dev));
    CASE("list-null-data") S(cuPointerGetAttributes(1, at, 0, dev));
    CASE("list-null-entry")
    {
        void *e[2] = {&v[0], 0};
        S(cuPointerGetAttributes(2, at, e, dev));
    }
    CASE("list-null-entry-unknown")
    {
        void *e[2] = {&v[0], 0};
        S(cuPointerGetAttributes(2, at, e, 0x1000));
    }
    CASE("list-duplicates")
    {
        v[0] = v[3] = 0;
        S(cuPointerGetAttributes(4, at, d, dev));
        OUT(" %d", (int)v[0] == (int)v[3]);
    }
    for (int a = 0; a <= 22; a++)
        if (a == 0 || a == 5 || a == 22)
            CASE("list-with-%d", a)
            {
                CUpointer_attribute l[3] = {2, a, 9};
                uint64_t w[3][4];
                void *e[3] = {w[0], w[1], w[2]};
                memset(w, 0x5a, sizeof w);
                S(cuPointerGetAttributes(3, l, e, dev));
                OUT(" first=%s last=%s", out64(w[0][0], JUNK), out64(w[2][0], JUNK));
                memset(w, 0x5a, sizeof w);
                S(cuPointerGetAttributes(3, l, e, 0x1000));
                OUT(" first=%s last=%s", out64(w[0][0], JUNK), out64(w[2][0], JUNK));
            }
    CASE("set-attr") for (int a = 0; a <= 22; a++)
    {
        OUT("%s[%d]", sep(), a);
        unsigned on = 1, off = 0, g = 777;
        L("device", cuPointerSetAttribute(&on, a, dev));
        L("unknown", cuPointerSetAttribute(&on, a, 0x1000));
        L("null", cuPointerSetAttribute(0, a, dev));
        if (a == 6) {
            cuPointerGetAttribute(&g, 6, dev);
            OUT(" now=%u", g & 255);
            cuPointerSetAttribute(&off, 6, dev);
            cuPointerGetAttribute(&g, 6, dev);
            OUT(" then=%u", g & 255);
        }
    }
    struct {
        const char *n;
        CUdeviceptr p;
    } sk[] = {{"device+1000", dev + 1000},
              {"small", sm},
              {"pinned", (CUdeviceptr)pin},
              {"wc", (CUdeviceptr)wc},
              {"registered", (CUdeviceptr)hbuf},
              {"unregistered", (CUdeviceptr)hbuf2},
              {"null", 0},
              {"pool", pool},
              {"freed", freed}};
    for (int i = 0; i < N(sk); i++)
        CASE("set-syncmemops-%s", sk[i].n)
        {
            unsigned vals[] = {1, 2, 0};
            for (int q = 0; q < 3; q++) {
                unsigned g = 0;
                CUresult r = cuPointerSetAttribute(&vals[q], 6, sk[i].p);
                S(r);
                cuPointerGetAttribute(&g, 6, sk[i].p);
                OUT("/%u", g & 255);
            }
        }
}

// ------------------------------------------------------------------ memset
typedef struct {
    const char *n;
    int bits;
} ms_t;
static const ms_t ms[] = {{"D8", 8}, {"D16", 16}, {"D32", 32}};
static CUresult mset(int bits, CUdeviceptr p, unsigned v, size_t n, int async)
{
    if (async)
        return bits == 8    ? cuMemsetD8Async(p, v, n, 0)
               : bits == 16 ? cuMemsetD16Async(p, v, n, 0)
                            : cuMemsetD32Async(p, v, n, 0);
    return bits == 8    ? cuMemsetD8(p, v, n)
           : bits == 16 ? cuMemsetD16(p, v, n)
                        : cuMemsetD32(p, v, n);
}
static CUresult mset2(int bits, CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h,
                      int async)
{
    if (async)
        return bits == 8    ? cuMemsetD2D8Async(p, pitch, v, w, h, 0)
               : bits == 16 ? cuMemsetD2D16Async(p, pitch, v, w, h, 0)
                            : cuMemsetD2D32Async(p, pitch, v, w, h, 0);
    return bits == 8    ? cuMemsetD2D8(p, pitch, v, w, h)
           : bits == 16 ? cuMemsetD2D16(p, pitch, v, w, h)
                        : cuMemsetD2D32(p, pitch, v, w, h);
}
GROUP(memset)
{
    probe_ctx();
    CUdeviceptr p = dal(8192), freed = dal(4096);
    void *h;
    MUST(cuMemAllocHost(&h, 8192));
    cuMemFree(freed);
    for (int b = 0; b < 3; b++)
        XCASE("%s-offsets", ms[b].n) for (int o = 0; o <= 5; o++)
        {
            OUT("%s[%d]", sep(), o);
            size_t n[] = {0, 1, 2, 5, 1000};
            for (int i = 0; i < 5; i++) {
                dfill(p, 8192, 1);
                CUresult r = mset(ms[b].bits, p + 64 + o, 0x81c3a5e7, n[i], 0);
                OUT("%s%zu:%s", sep(), n[i], R(r));
                dsum(p, 8192);
            }
        }
    for (int b = 0; b < 3; b++)
        XCASE("%s-sizes", ms[b].n)
        {
            size_t n[] = {3,  4,   7,   8,   15,  16,  17,  31,  32,   33,   63,  64,
                          65, 127, 128, 129, 255, 257, 511, 513, 1023, 1025, 2048};
            for (int i = 0; i < N(n); i++) {
                dfill(p, 8192, 1);
                S(mset(ms[b].bits, p, 0x12345678, n[i], 0));
                dsum(p, 8192);
            }
        }
    for (int b = 0; b < 3; b++)
        for (int as = 0; as < 2; as++) {
            size_t es = ms[b].bits / 8, all = 8192 / es;
            const char *t = as ? "Async" : "";
            struct {
                const char *n;
                CUdeviceptr q;
                size_t c;
            } e[] = {{"null-0", 0, 0},
                     {"null-1", 0, 1},
                     {"unknown-0", 0x1000, 0},
                     {"unknown-1", 0x1000, 1},
                     {"pageable", (CUdeviceptr)hbuf, 16},
                     {"pinned", (CUdeviceptr)h, 16},
                     {"freed", freed, 4},
                     {"whole", p, all},
                     {"past-by-one", p, all + 1},
                     {"last", p + 8192 - es, 1},
                     {"last-two", p + 8192 - es, 2},
                     {"at-end-0", p + 8192, 0},
                     {"huge", p, (size_t)1 << 36},
                     {"odd-null", 1, 1},
                     {"odd-0", p + 1, 0},
                     {"odd-past", p + 1, all + 1},
                     {"odd-unknown", 0x1001, 1}};
            XCASE("%s%s-edges", ms[b].n, t) for (int i = 0; i < N(e); i++)
            {
                memset(h, 0, 8192);
                dfill(p, 8192, 2);
                CUresult r = mset(ms[b].bits, e[i].q, 0xdeadbeef, e[i].c, as);
                OUT("%s%s:%s", sep(), e[i].n, R(r));
                settle();
                if (!r && e[i].q == (CUdeviceptr)h)
                    OUT(" host=%08x", f32(h, 8192));
                if (!r)
                    dsum(p, 8192);
            }
        }
    for (int b = 0; b < 3; b++) {
        size_t es = ms[b].bits / 8;
        struct {
            const char *n;
            size_t o, pitch, w, h;
        } g[] = {{"plain", 0, 128, 16, 8},
                 {"width0", 0, 128, 0, 8},
                 {"height0", 0, 128, 16, 0},
                 {"both0", 0, 128, 0, 0},
                 {"pitch0", 0, 0, 16, 8},
                 {"pitch0-height1", 0, 0, 16, 1},
                 {"pitch-short", 0, 16 * es - es, 16, 8},
                 {"pitch-short-height1", 0, 16 * es - es, 16, 1},
                 {"pitch-exact", 0, 16 * es, 16, 8},
                 {"pitch-odd", 0, 16 * es + 1, 16, 8},
                 {"pitch-odd2", 0, 16 * es + 2, 16, 8},
                 {"pitch-odd-height1", 0, 16 * es + 1, 16, 1},
                 {"offset1", 1, 128, 16, 8},
                 {"offset2", 2, 128, 16, 8},
                 {"offset1-width0", 1, 128, 0, 8},
                 {"rows-fit", 0, 1024, 1024 / es, 8},
                 {"rows-past", 0, 1024, 1024 / es, 9},
                 {"last-row-past", 8192 - 1024 * 2 + es, 1024, 1024 / es, 2},
                 {"last-row-short-fits", 8192 - 1024 - 16 * es, 1024, 16, 2},
                 {"pitch-huge", 0, (size_t)1 << 31, 16, 1},
                 {"pitch-max", 0, SIZE_MAX & ~(size_t)3, 16, 1},
                 {"pitch-max-rows", 0, SIZE_MAX & ~(size_t)3, 16, 2},
                 {"width-huge", 0, 128, SIZE_MAX, 1},
                 {"height-huge", 0, 128, 16, (size_t)1 << 20}};
        for (int i = 0; i < N(g); i++)
            XCASE("D2%s-%s", ms[b].n, g[i].n) for (int as = 0; as < 2; as++)
            {
                dfill(p, 8192, 3);
                CUresult r =
                    mset2(ms[b].bits, p + g[i].o, g[i].pitch, 0x9b7e3c51, g[i].w, g[i].h, as);
                L(as ? "async" : "now", r);
                settle();
                dsum(p, 8192);
            }
        XCASE("D2%s-pointers", ms[b].n)
        {
            memset(h, 0, 8192);
            L("null", mset2(ms[b].bits, 0, 128, 1, 4, 4, 0));
            L("null-0", mset2(ms[b].bits, 0, 128, 1, 0, 4, 0));
            L("unknown", mset2(ms[b].bits, 0x1000, 128, 1, 4, 4, 0));
            L("pageable", mset2(ms[b].bits, (CUdeviceptr)hbuf, 128, 1, 4, 4, 0));
            L("pinned", mset2(ms[b].bits, (CUdeviceptr)h, 128, 1, 4, 4, 0));
            cuCtxSynchronize();
            OUT(" host=%08x", f32(h, 8192));
            L("null-badpitch", mset2(ms[b].bits, 0, 1, 1, 4, 4, 0));
            L("unknown-badpitch", mset2(ms[b].bits, 0x1000, 1, 1, 4, 4, 0));
        }
    }
}

// ------------------------------------------------------------------ one-dimensional copies
static CUcontext ctx_;
static CUdeviceptr kbuf[4][2];
enum { KSZ = 8192 }; // kinds D P G M, [0] source [1] destination
static const char kn[] = "DPGM";
static void kmake(void)
{
    void *a, *b;
    kbuf[0][0] = dal(KSZ);
    kbuf[0][1] = dal(KSZ);
    MUST(cuMemAllocHost(&a, KSZ));
    MUST(cuMemAllocHost(&b, KSZ));
    kbuf[1][0] = (CUdeviceptr)a;
    kbuf[1][1] = (CUdeviceptr)b;
    MUST(cuMemHostRegister(hbuf, 1 << 18, 0));
    kbuf[2][0] = (CUdeviceptr)hbuf;
    kbuf[2][1] = (CUdeviceptr)hbuf + (1 << 16);
    kbuf[3][0] = (CUdeviceptr)hbuf2;
    kbuf[3][1] = (CUdeviceptr)hbuf2 + (1 << 16);
}
static void kset(int k)
{
    static char t[KSZ];
    fill(t, KSZ, 10 + k);
    if (!k) {
        MUST(cuMemcpyHtoD(kbuf[0][0], t, KSZ));
        memset(t, 0xee, KSZ);
        MUST(cuMemcpyHtoD(kbuf[0][1], t, KSZ));
    } else {
        memcpy((void *)kbuf[k][0], t, KSZ);
        memset((void *)kbuf[k][1], 0xee, KSZ);
    }
}
static unsigned kgot(int k)
{
    static char t[KSZ];
    cuCtxSynchronize();
    if (k)
        return f32((void *)kbuf[k][1], KSZ);
    memset(t, 0, KSZ);
    cuMemcpyDtoH(t, kbuf[0][1], KSZ);
    return f32(t, KSZ);
}
typedef CUresult (*cp_t)(CUdeviceptr, CUdeviceptr, size_t);
static CUresult cp_any(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpy(d, s, n);
}
static CUresult cp_hd(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyHtoD(d, (void *)s, n);
}
static CUresult cp_dh(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyDtoH((void *)d, s, n);
}
static CUresult cp_dd(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyDtoD(d, s, n);
}
static CUresult cp_anya(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyAsync(d, s, n, 0);
}
static CUresult cp_hda(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyHtoDAsync(d, (void *)s, n, 0);
}
static CUresult cp_dha(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyDtoHAsync((void *)d, s, n, 0);
}
static CUresult cp_dda(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyDtoDAsync(d, s, n, 0);
}
static CUresult cp_peer(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyPeer(d, ctx_, s, ctx_, n);
}
static CUresult cp_peera(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    return cuMemcpyPeerAsync(d, ctx_, s, ctx_, n, 0);
}
static const struct {
    const char *n;
    cp_t f;
    int d, s;
} cps[] = {{"Memcpy", cp_any, 0, 0},       {"HtoD", cp_hd, 0, 3},
           {"DtoH", cp_dh, 3, 0},          {"DtoD", cp_dd, 0, 0},
           {"MemcpyAsync", cp_anya, 0, 0}, {"HtoDAsync", cp_hda, 0, 3},
           {"DtoHAsync", cp_dha, 3, 0},    {"DtoDAsync", cp_dda, 0, 0},
           {"Peer", cp_peer, 0, 0},        {"PeerAsync", cp_peera, 0, 0}};
GROUP(copy1d)
{
    ctx_ = probe_ctx();
    kmake();
    CUdeviceptr freed = dal(4096);
    cuMemFree(freed);
    for (int f = 0; f < N(cps); f++)
        for (int d = 0; d < 4; d++)
            XCASE("%s-kinds-to-%c", cps[f].n, kn[d]) for (int s = 0; s < 4; s++)
            {
                kset(s);
                kset(d);
                CUresult r = cps[f].f(kbuf[d][1] + 5, kbuf[s][0] + 3, 4001);
                OUT("%s%c:%s", sep(), kn[s], R(r));
                settle();
                unsigned g = kgot(d);
                OUT("/%08x", g);
            }
    size_t sz[] = {0,  1,  2,  3,  4,   5,   7,   8,   9,    15,   16,   17,   31,  32,
                   33, 63, 64, 65, 127, 255, 256, 257, 1023, 4095, 4096, 8191, 8192};
    for (int f = 0; f < N(cps); f++)
        XCASE("%s-sizes", cps[f].n) for (int i = 0; i < N(sz); i++)
        {
            kset(cps[f].s);
            kset(cps[f].d);
            CUresult r = cps[f].f(kbuf[cps[f].d][1], kbuf[cps[f].s][0], sz[i]);
            if (r)
                OUT(" %zu:%s", sz[i], R(r));
            else
                OUT(" %08x", kgot(cps[f].d));
        }
    int off[] = {0, 1, 2, 3, 4, 5, 8, 13};
    for (int f = 0; f < N(cps); f++)
        XCASE("%s-offsets", cps[f].n) for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k += 3)
        {
            kset(cps[f].s);
            kset(cps[f].d);
            CUresult r = cps[f].f(kbuf[cps[f].d][1] + off[k], kbuf[cps[f].s][0] + off[i], 777);
            if (r)
                OUT(" %s", R(r));
            else
                OUT(" %08x", kgot(cps[f].d));
        }
    for (int f = 0; f < N(cps); f++) {
        CUdeviceptr d = kbuf[cps[f].d][1], s = kbuf[cps[f].s][0];
        struct {
            const char *n;
            CUdeviceptr d, s;
            size_t z;
        } e[] = {{"null-src", d, 0, 16},   {"null-dst", 0, s, 16},          {"null-both", 0, 0, 16},
                 {"null-both-0", 0, 0, 0}, {"null-src-0", d, 0, 0},         {"null-dst-0", 0, s, 0},
                 {"same", d, d, 64},       {"unknown-0", 0x1000, 0x2000, 0}};
        XCASE("%s-nulls", cps[f].n) for (int i = 0; i < N(e); i++)
        {
            kset(cps[f].s);
            kset(cps[f].d);
            CUresult r = cps[f].f(e[i].d, e[i].s, e[i].z);
            OUT("%s%s:%s", sep(), e[i].n, R(r));
            settle();
        }
    }
    for (int f = 0; f < N(cps); f++) {
        CUdeviceptr d = kbuf[cps[f].d][1], s = kbuf[cps[f].s][0];
        struct {
            const char *n;
            CUdeviceptr d, s;
            size_t z;
        } e[] = {{"src-past-by-one", d, s, KSZ + 1}, {"src-end-1", d, s + KSZ, 1},
                 {"src-end-0", d, s + KSZ, 0},       {"src-tail-2", d, s + KSZ - 1, 2},
                 {"dst-end-1", d + KSZ, s, 1},       {"dst-end-0", d + KSZ, s, 0},
                 {"dst-tail-2", d + KSZ - 1, s, 2},  {"src-freed", d, freed, 16},
                 {"dst-freed", freed, s, 16},        {"src-low", d, 0x1000, 16},
                 {"dst-low", 0x1000, s, 16},         {"huge", d, s, (size_t)1 << 36}};
        XCASE("%s-ranges", cps[f].n) for (int i = 0; i < N(e); i++)
        {
            int dev = i < 4 || i == 7 || i == 9 || i == 11 ? !cps[f].s : !cps[f].d;
            if (!(i == 11 ? !(cps[f].s | cps[f].d) : dev))
                continue;
            CUresult r = cps[f].f(e[i].d, e[i].s, e[i].z);
            OUT("%s%s:%s", sep(), e[i].n, R(r));
            settle();
        }
    }
    int ov[] = {-64, -16, -4, -1, 0, 1, 4, 16, 64, 200};
    XCASE("DtoD-overlap") for (int i = 0; i < N(ov); i++)
    {
        OUT("%s[%+d]", sep(), ov[i]);
        static char t[KSZ], u[KSZ];
        fill(t, KSZ, 9);
        MUST(cuMemcpyHtoD(kbuf[0][0], t, KSZ));
        S(cuMemcpyDtoD(kbuf[0][0] + 512 + ov[i], kbuf[0][0] + 512, 256));
        memmove(t + 512 + ov[i], t + 512, 256);
        MUST(cuMemcpyDtoH(u, kbuf[0][0], KSZ));
        OUT(" like-memmove=%d", !memcmp(t, u, KSZ));
    }
    XCASE("pinned-past-end")
    {
        CUdeviceptr q = dal(1 << 20);
        L("HtoD", cuMemcpyHtoD(q, (void *)kbuf[1][0], KSZ + 1));
        L("Memcpy", cuMemcpy(q, kbuf[1][0] + KSZ - 1, 2));
        L("DtoH", cuMemcpyDtoH((void *)(kbuf[1][1] + KSZ - 1), q, 2));
        cuMemFree(q);
    }
    XCASE("registered-past-end")
    {
        CUdeviceptr q = dal(1 << 20);
        L("HtoD", cuMemcpyHtoD(q, hbuf + (1 << 18) - 10, 20));
        L("Memcpy", cuMemcpy(q, (CUdeviceptr)hbuf + (1 << 18) - 10, 20));
        L("MemcpyAsync", cuMemcpyAsync(q, (CUdeviceptr)hbuf + (1 << 18) - 10, 20, 0));
        L("DtoH", cuMemcpyDtoH(hbuf + (1 << 18) - 10, q, 20));
        cuMemFree(q);
    }
    size_t bg[] = {65535, 65536, 65537, (1 << 20) - 1, 1 << 20, (2 << 20) - 3};
    for (int i = 0; i < N(bg); i++)
        XCASE("large-%zu", bg[i])
        {
            static char t[2 << 20];
            CUdeviceptr q = dal(2 << 20), w = dal(2 << 20);
            fill(t, bg[i], 5);
            S(cuMemcpyHtoD(q + 1, t, bg[i]));
            S(cuMemcpyDtoD(w + 2, q + 1, bg[i]));
            memset(t, 0, sizeof t);
            S(cuMemcpyDtoH(t, w + 2, bg[i]));
            OUT(" %08x", f32(t, sizeof t));
            cuMemFree(q);
            cuMemFree(w);
        }
    size_t pr[] = {1, 1000, 4096, 65536, 65537, 1 << 20};
    for (int i = 0; i < N(pr); i++)
        XCASE("pageable-source-reused-%zu", pr[i])
        {
            static char t[1 << 20];
            CUdeviceptr q = dal(1 << 20);
            fill(t, pr[i], 6);
            S(cuMemcpyHtoDAsync(q, t, pr[i], 0));
            memset(t, 0, pr[i]);
            S(cuStreamSynchronize(0));
            dsum(q, pr[i]);
            cuMemFree(q);
        }
    CUstream st;
    MUST(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    struct {
        const char *n;
        CUstream s;
    } ss[] = {{"default", 0},
              {"legacy", CU_STREAM_LEGACY},
              {"per-thread", CU_STREAM_PER_THREAD},
              {"own", st}};
    for (int i = 0; i < 4; i++)
        XCASE("streams-%s", ss[i].n)
        {
            kset(0);
            kset(3);
            kset(1);
            L("HtoD", cuMemcpyHtoDAsync(kbuf[0][1], (void *)kbuf[1][0], 100, ss[i].s));
            L("DtoD", cuMemcpyDtoDAsync(kbuf[0][1] + 100, kbuf[0][0], 100, ss[i].s));
            L("any", cuMemcpyAsync(kbuf[0][1] + 200, kbuf[3][0], 100, ss[i].s));
            L("DtoH", cuMemcpyDtoHAsync((void *)kbuf[1][1], kbuf[0][1], 300, ss[i].s));
            L("peer", cuMemcpyPeerAsync(kbuf[0][1] + 300, ctx_, kbuf[0][0], ctx_, 100, ss[i].s));
            L("sync", cuStreamSynchronize(ss[i].s));
            OUT(" %08x %08x", kgot(0), kgot(1));
        }
    XCASE("peer-contexts")
    {
        L("null-null", cuMemcpyPeer(kbuf[0][1], 0, kbuf[0][0], 0, 16));
        L("null-dst", cuMemcpyPeer(kbuf[0][1], 0, kbuf[0][0], ctx_, 16));
        L("null-src", cuMemcpyPeer(kbuf[0][1], ctx_, kbuf[0][0], 0, 16));
        L("null-ctx-0", cuMemcpyPeer(kbuf[0][1], 0, kbuf[0][0], 0, 0));
        L("async-null", cuMemcpyPeerAsync(kbuf[0][1], 0, kbuf[0][0], 0, 16, 0));
        L("null-all", cuMemcpyPeer(0, 0, 0, 0, 16));
    }
    XCASE("peer-garbage-context")
    {
        static char z[8192];
        S(cuMemcpyPeer(kbuf[0][1], (CUcontext)z, kbuf[0][0], ctx_, 16));
    }
}

// ------------------------------------------------------------------ two- and three-dimensional
// copies
typedef struct {
    char s, d;
} dir_t;
static const dir_t dirs[] = {{'H', 'D'}, {'D', 'H'}, {'D', 'D'}, {'H', 'H'}, {'H', 'A'},
                             {'A', 'H'}, {'D', 'A'}, {'A', 'D'}, {'A', 'A'}, {'u', 'D'},
                             {'v', 'u'}, {'u', 'v'}}; // u: unified device, v: unified pinned host
enum { PITCH = 64, ROWS = 16, FLAT = PITCH * ROWS, R3 = 8, L3 = 4, VOL = PITCH * R3 * L3 };
static CUdeviceptr gs, gd;
static CUarray as2, ad2, as3, ad3;
static char *ps, *pd, hs[1 << 20], hd[1 << 20];
static void gmake(void)
{
    ctx_ = probe_ctx();
    gs = dal(VOL);
    gd = dal(VOL);
    void *a, *b;
    MUST(cuMemAllocHost(&a, 65536));
    MUST(cuMemAllocHost(&b, 65536));
    ps = a;
    pd = b;
    CUDA_ARRAY_DESCRIPTOR d = {PITCH / 4, ROWS, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    MUST(cuArrayCreate(&as2, &d));
    MUST(cuArrayCreate(&ad2, &d));
    CUDA_ARRAY3D_DESCRIPTOR e = {PITCH / 4, R3, L3, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    MUST(cuArray3DCreate(&as3, &e));
    MUST(cuArray3DCreate(&ad3, &e));
}
static CUresult arr(CUarray a, void *h, int put, int three)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.WidthInBytes = PITCH;
    c.Height = three ? R3 : ROWS;
    c.Depth = three ? L3 : 1;
    if (put) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
        c.srcHost = h;
        c.srcPitch = PITCH;
        c.srcHeight = c.Height;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = a;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = h;
        c.dstPitch = PITCH;
        c.dstHeight = c.Height;
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = a;
    }
    return cuMemcpy3D(&c);
}
static void greset(const dir_t *d, int three)
{
    static char t[VOL];
    int n = three ? VOL : FLAT;
    fill(t, n, d->s);
    switch (d->s) {
    case 'H':
        memcpy(hs, t, n);
        break;
    case 'v':
        memcpy(ps, t, n);
        break;
    case 'A':
        MUST(arr(three ? as3 : as2, t, 1, three));
        break;
    default:
        MUST(cuMemcpyHtoD(gs, t, n));
    }
    memset(t, 0xee, n);
    switch (d->d) {
    case 'H':
        memcpy(hd, t, n);
        break;
    case 'v':
        memcpy(pd, t, n);
        break;
    case 'A':
        MUST(arr(three ? ad3 : ad2, t, 1, three));
        break;
    default:
        MUST(cuMemcpyHtoD(gd, t, n));
    }
}
static unsigned ggot(const dir_t *d, int three)
{
    static char t[VOL];
    int n = three ? VOL : FLAT;
    cuCtxSynchronize();
    memset(t, 0, n);
    switch (d->d) {
    case 'H':
        return f32(hd, n);
    case 'v':
        return f32(pd, n);
    case 'A':
        arr(three ? ad3 : ad2, t, 0, three);
        break;
    default:
        cuMemcpyDtoH(t, gd, n);
    }
    return f32(t, n);
}
static void base3(CUDA_MEMCPY3D *c, const dir_t *d, int three)
{
    memset(c, 0, sizeof *c);
    c->WidthInBytes = 32;
    c->Height = three ? 4 : 8;
    c->Depth = three ? 2 : 1;
    c->srcPitch = c->dstPitch = PITCH;
    c->srcHeight = c->dstHeight = three ? R3 : ROWS;
    switch (d->s) {
    case 'H':
        c->srcMemoryType = CU_MEMORYTYPE_HOST;
        c->srcHost = hs;
        break;
    case 'A':
        c->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c->srcArray = three ? as3 : as2;
        break;
    case 'D':
        c->srcMemoryType = CU_MEMORYTYPE_DEVICE;
        c->srcDevice = gs;
        break;
    default:
        c->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        c->srcDevice = d->s == 'u' ? gs : (CUdeviceptr)ps;
    }
    switch (d->d) {
    case 'H':
        c->dstMemoryType = CU_MEMORYTYPE_HOST;
        c->dstHost = hd;
        break;
    case 'A':
        c->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c->dstArray = three ? ad3 : ad2;
        break;
    case 'D':
        c->dstMemoryType = CU_MEMORYTYPE_DEVICE;
        c->dstDevice = gd;
        break;
    default:
        c->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        c->dstDevice = d->d == 'u' ? gd : (CUdeviceptr)pd;
    }
}
// variants: each changes the plain copy in one or two ways; '!' before the name: a line for each
// direction with pageable memory in it; '~': no such direction, because nothing bounds that memory
#define VAR(nm, ...)                                                                               \
    if (i == n++) {                                                                                \
        __VA_ARGS__;                                                                               \
        return nm;                                                                                 \
    }
static const char *var_flat(int i, CUDA_MEMCPY3D *c)
{
    int n = 0;
    VAR("plain", (void)0)
    VAR("width0", c->WidthInBytes = 0) VAR("height0", c->Height = 0) VAR(
        "both0", c->WidthInBytes = c->Height =
                     0) VAR("width1", c->WidthInBytes = 1) VAR("width3", c->WidthInBytes = 3)
        VAR("width-full", c->WidthInBytes = 64) VAR("width-past", c->WidthInBytes = 65) VAR(
            "width-past-by-element",
            c->WidthInBytes = 68) VAR("height1", c->Height = 1) VAR("src-x4", c->srcXInBytes = 4)
            VAR("dst-x4", c->dstXInBytes = 4) VAR("src-x3", c->srcXInBytes = 3) VAR(
                "dst-x3", c->dstXInBytes = 3) VAR("src-x32", c->srcXInBytes = 32)
                VAR("dst-x32", c->dstXInBytes = 32) VAR("src-x36-past", c->srcXInBytes = 36) VAR(
                    "dst-x36-past",
                    c->dstXInBytes = 36) VAR("both-x-odd", c->srcXInBytes = 5; c->dstXInBytes = 7;
                                             c->WidthInBytes = 9) VAR("src-pitch0", c->srcPitch = 0)
                    VAR("dst-pitch0", c->dstPitch = 0) VAR("src-pitch-short", c->srcPitch = 31) VAR(
                        "dst-pitch-short",
                        c->dstPitch = 31) VAR("src-pitch-exact", c->srcPitch = 32)
                        VAR("dst-pitch-exact", c->dstPitch = 32) VAR(
                            "src-pitch-odd",
                            c->srcPitch = 37) VAR("dst-pitch-odd", c->dstPitch = 37)
                            VAR("src-pitch-short-height1", c->srcPitch = 31; c->Height = 1)
                                VAR("dst-pitch0-height1", c->dstPitch = 0; c->Height = 1)
                                    VAR("src-pitch-2g-height1", c->srcPitch = (size_t)1 << 31;
                                        c->Height =
                                            1) VAR("dst-pitch-2g-height1",
                                                   c->dstPitch = (size_t)1 << 31;
                                                   c->Height =
                                                       1) VAR("src-pitch-2g-less1-height1",
                                                              c->srcPitch = ((size_t)1 << 31) - 1;
                                                              c->Height = 1)
                                        VAR("src-pitch-2g-height0", c->srcPitch = (size_t)1 << 31;
                                            c->Height =
                                                0) VAR("src-type0", c->srcMemoryType =
                                                                        0) VAR("dst-type0",
                                                                               c->dstMemoryType = 0)
                                            VAR("src-type5", c->srcMemoryType = 5) VAR(
                                                "dst-type5",
                                                c->dstMemoryType = 5) VAR("types-bad",
                                                                          c->srcMemoryType =
                                                                              c->dstMemoryType = 99)
                                                VAR("src-type-bad-width0", c->srcMemoryType = 99;
                                                    c->WidthInBytes =
                                                        0) VAR("!src-null", c->srcHost = 0;
                                                               c->srcDevice = 0; c->srcArray = 0)
                                                    VAR("!dst-null", c->dstHost = 0;
                                                        c->dstDevice = 0; c->dstArray = 0)
                                                        VAR("src-null-width0", c->srcHost = 0;
                                                            c->srcDevice = 0; c->srcArray = 0;
                                                            c->WidthInBytes = 0)
                                                            VAR("dst-null-height0", c->dstHost = 0;
                                                                c->dstDevice = 0; c->dstArray = 0;
                                                                c->Height =
                                                                    0) VAR("src-null-pitch-short",
                                                                           c->srcHost = 0;
                                                                           c->srcDevice = 0;
                                                                           c->srcArray = 0;
                                                                           c->srcPitch =
                                                                               31)
                                                                VAR("pitch-short-width0",
                                                                    c->srcPitch = 1;
                                                                    c->WidthInBytes = 0)
                                                                    VAR("pitch-short-height0",
                                                                        c->srcPitch = 1;
                                                                        c->Height = 0)
                                                                        VAR("x-past-width0",
                                                                            c->srcXInBytes = 68;
                                                                            c->WidthInBytes = 0)
                                                                            VAR("x-past-height0",
                                                                                c->srcXInBytes = 68;
                                                                                c->Height =
                                                                                    0) return 0;
}
static const char *var_2d(int i, CUDA_MEMCPY3D *c)
{
    const char *s = var_flat(i, c);
    static int base;
    if (s)
        return s;
    if (!base) {
        CUDA_MEMCPY3D t;
        while (var_flat(base, &t))
            base++;
    }
    i -= base;
    int n = 0;
    VAR("height-full", c->Height = 16)
    VAR("src-y8", c->srcY = 8) VAR("dst-y8", c->dstY = 8) VAR("height-past", c->Height = 17)
        VAR("src-y-past", c->srcY = 9) VAR("dst-y-past", c->dstY = 9) VAR("src-y16", c->srcY = 16)
            VAR("~src-y-far", c->srcY = 1 << 14) VAR("~dst-y-far", c->dstY = 1 << 13)
                VAR("y-past-height0", c->srcY = 17; c->Height = 0)
                    VAR("last-row-fits", c->srcY = 15; c->Height = 1; c->srcXInBytes = 32)
                        VAR("~height-huge", c->Height = (size_t)1 << 20)
                            VAR("~width-huge", c->WidthInBytes = (size_t)1 << 40)
                                VAR("~x-huge", c->srcXInBytes = SIZE_MAX - 7)
                                    VAR("~y-huge", c->srcY = (size_t)1 << 24) return 0;
}
static const char *var_3d(int i, CUDA_MEMCPY3D *c)
{
    const char *s = var_flat(i, c);
    static int base;
    if (s)
        return s;
    if (!base) {
        CUDA_MEMCPY3D t;
        while (var_flat(base, &t))
            base++;
    }
    i -= base;
    int n = 0;
    VAR("depth0", c->Depth = 0)
    VAR("depth1", c->Depth = 1) VAR("depth-full", c->Depth = 4) VAR("depth-past", c->Depth = 5) VAR(
        "all0", c->WidthInBytes = c->Height = c->Depth = 0) VAR("height-full", c->Height = 8)
        VAR("height-past", c->Height = 9) VAR("src-y4", c->srcY = 4) VAR("dst-y4", c->dstY = 4) VAR(
            "src-y-past", c->srcY = 5) VAR("dst-y-past", c->dstY = 5) VAR("src-z2", c->srcZ = 2)
            VAR("dst-z2", c->dstZ = 2) VAR("src-z-past", c->srcZ = 3) VAR("dst-z-past", c->dstZ = 3)
                VAR("src-lod1", c->srcLOD = 1) VAR("dst-lod1", c->dstLOD = 1)
                    VAR("lod1-width0", c->srcLOD = 1;
                        c->WidthInBytes = 0) VAR("reserved0", c->reserved0 = (void *)1)
                        VAR("reserved1", c->reserved1 = (void *)1)
                            VAR("src-rows0", c->srcHeight = 0) VAR("dst-rows0", c->dstHeight = 0)
                                VAR("src-rows0-depth1", c->srcHeight = 0; c->Depth = 1) VAR(
                                    "dst-rows0-depth1", c->dstHeight = 0;
                                    c->Depth = 1) VAR("src-rows-short", c->srcHeight = 3)
                                    VAR("dst-rows-short", c->dstHeight = 3) VAR(
                                        "src-rows-short-depth1", c->srcHeight = 3;
                                        c->Depth = 1) VAR("src-rows-exact", c->srcHeight = 4)
                                        VAR("dst-rows-exact", c->dstHeight = 4) VAR(
                                            "src-rows-odd",
                                            c->srcHeight = 5) VAR("dst-rows-odd", c->dstHeight = 5)
                                            VAR("src-rows-exact-y", c->srcHeight = 4; c->srcY = 1)
                                                VAR("rows-short-height0", c->srcHeight = 1;
                                                    c->Height = 0) VAR("rows-short-depth0",
                                                                       c->srcHeight = 1;
                                                                       c->Depth = 0)
                                                    VAR("~depth-huge", c->Depth = (size_t)1 << 20)
                                                        VAR("~z-huge",
                                                            c->srcZ = (size_t)1 << 24) return 0;
}
enum { F2, F2U, F2A, F3, F3A, F3P, F3PA };
static const char *fn3[] = {"2D",      "2DUnaligned", "2DAsync",    "3D",
                            "3DAsync", "3DPeer",      "3DPeerAsync"};
static CUresult run3(int f, const CUDA_MEMCPY3D *c)
{
    CUDA_MEMCPY2D t;
    CUDA_MEMCPY3D_PEER p;
    memset(&t, 0, sizeof t);
    memset(&p, 0, sizeof p);
    t.srcXInBytes = c->srcXInBytes;
    t.srcY = c->srcY;
    t.srcMemoryType = c->srcMemoryType;
    t.srcHost = c->srcHost;
    t.srcDevice = c->srcDevice;
    t.srcArray = c->srcArray;
    t.srcPitch = c->srcPitch;
    t.dstXInBytes = c->dstXInBytes;
    t.dstY = c->dstY;
    t.dstMemoryType = c->dstMemoryType;
    t.dstHost = c->dstHost;
    t.dstDevice = c->dstDevice;
    t.dstArray = c->dstArray;
    t.dstPitch = c->dstPitch;
    t.WidthInBytes = c->WidthInBytes;
    t.Height = c->Height;
    p.srcXInBytes = c->srcXInBytes;
    p.srcY = c->srcY;
    p.srcZ = c->srcZ;
    p.srcLOD = c->srcLOD;
    p.srcMemoryType = c->srcMemoryType;
    p.srcHost = c->srcHost;
    p.srcDevice = c->srcDevice;
    p.srcArray = c->srcArray;
    p.srcContext = ctx_;
    p.srcPitch = c->srcPitch;
    p.srcHeight = c->srcHeight;
    p.dstXInBytes = c->dstXInBytes;
    p.dstY = c->dstY;
    p.dstZ = c->dstZ;
    p.dstLOD = c->dstLOD;
    p.dstMemoryType = c->dstMemoryType;
    p.dstHost = c->dstHost;
    p.dstDevice = c->dstDevice;
    p.dstArray = c->dstArray;
    p.dstContext = ctx_;
    p.dstPitch = c->dstPitch;
    p.dstHeight = c->dstHeight;
    p.WidthInBytes = c->WidthInBytes;
    p.Height = c->Height;
    p.Depth = c->Depth;
    switch (f) {
    case F2:
        return cuMemcpy2D(&t);
    case F2U:
        return cuMemcpy2DUnaligned(&t);
    case F2A:
        return cuMemcpy2DAsync(&t, 0);
    case F3:
        return cuMemcpy3D(c);
    case F3A:
        return cuMemcpy3DAsync(c, 0);
    case F3P:
        return cuMemcpy3DPeer(&p);
    default:
        return cuMemcpy3DPeerAsync(&p, 0);
    }
}
static void sweep3(int f, int most)
{
    int three = f >= F3;
    CUDA_MEMCPY3D c;
    const char *nm;
    memset(&c, 0, sizeof c);
    for (int v = 0; v < most && (nm = three ? var_3d(v, &c) : var_2d(v, &c)); v++) {
        if ((f == F3P || f == F3PA) && !strncmp(nm, "reserved", 8))
            continue;
        int solo = *nm == '!', bound = *nm == '~';
        nm += solo | bound;
        if (solo) {
            for (int d = 0; d < N(dirs); d++)
                if (dirs[d].s == 'H' || dirs[d].d == 'H')
                    XCASE("%s-%s-%c-to-%c", fn3[f], nm, dirs[d].s, dirs[d].d)
                    {
                        greset(&dirs[d], three);
                        base3(&c, &dirs[d], three);
                        if (three)
                            var_3d(v, &c);
                        else
                            var_2d(v, &c);
                        CUresult r = run3(f, &c);
                        OUT("%s %08x", R(r), ggot(&dirs[d], three));
                    }
        }
        XCASE("%s-%s", fn3[f], nm) for (int d = 0; d < N(dirs); d++)
        {
            if ((solo | bound) && (dirs[d].s == 'H' || dirs[d].d == 'H'))
                continue;
            greset(&dirs[d], three);
            base3(&c, &dirs[d], three);
            if (three)
                var_3d(v, &c);
            else
                var_2d(v, &c);
            CUresult r = run3(f, &c);
            OUT("%s%c%c:%s", sep(), dirs[d].s, dirs[d].d, R(r));
            settle();
            unsigned g = ggot(&dirs[d], three);
            OUT("/%08x", g);
        }
    }
}
GROUP(copy2d)
{
    gmake();
    sweep3(F2, 999);
    XCASE("2D-null")
    {
        S(cuMemcpy2D(0));
        S(cuMemcpy2DUnaligned(0));
        S(cuMemcpy2DAsync(0, 0));
    }
    XCASE("2D-overlap-down")
    {
        const dir_t d = {'D', 'D'};
        CUDA_MEMCPY3D c;
        greset(&d, 0);
        base3(&c, &d, 0);
        c.dstDevice = gs + 8 * PITCH;
        c.Height = 8;
        S(run3(F2, &c));
        dsum(gs, FLAT);
    }
    XCASE("2D-same-array-rows")
    {
        const dir_t d = {'A', 'A'};
        static char t[FLAT];
        CUDA_MEMCPY3D c;
        greset(&d, 0);
        base3(&c, &d, 0);
        c.dstArray = as2;
        c.dstY = 8;
        S(run3(F2, &c));
        cuCtxSynchronize();
        arr(as2, t, 0, 0);
        OUT(" %08x", f32(t, FLAT));
    }
    XCASE("2D-of-3D-array")
    {
        const dir_t d = {'H', 'A'};
        static char t[VOL];
        CUDA_MEMCPY3D c;
        greset(&d, 1);
        base3(&c, &d, 1);
        c.srcHeight = 0;
        c.Depth = 1;
        S(run3(F2, &c));
        cuCtxSynchronize();
        arr(ad3, t, 0, 1);
        OUT(" %08x", f32(t, VOL));
    }
}
GROUP(copy2du)
{
    gmake();
    sweep3(F2U, 999);
}
GROUP(copy2da)
{
    gmake();
    sweep3(F2A, 10);
}
GROUP(copy3d)
{
    gmake();
    sweep3(F3, 999);
    XCASE("3D-null")
    {
        S(cuMemcpy3D(0));
        S(cuMemcpy3DAsync(0, 0));
        S(cuMemcpy3DPeer(0));
        S(cuMemcpy3DPeerAsync(0, 0));
    }
}
GROUP(copy3da)
{
    gmake();
    sweep3(F3A, 10);
    sweep3(F3PA, 10);
}
GROUP(copy3dp)
{
    gmake();
    sweep3(F3P, 30);
    CUDA_MEMCPY3D_PEER p;
    memset(&p, 0, sizeof p);
    p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = gs;
    p.dstDevice = gd;
    p.srcPitch = p.dstPitch = 64;
    p.srcHeight = p.dstHeight = 8;
    p.WidthInBytes = 32;
    p.Height = 4;
    p.Depth = 2;
    XCASE("3DPeer-contexts")
    {
        p.srcContext = 0;
        p.dstContext = ctx_;
        L("null-src", cuMemcpy3DPeer(&p));
        p.srcContext = ctx_;
        p.dstContext = 0;
        L("null-dst", cuMemcpy3DPeer(&p));
        p.srcContext = 0;
        L("null-both", cuMemcpy3DPeer(&p));
        p.WidthInBytes = 0;
        L("null-both-width0", cuMemcpy3DPeer(&p));
        p.WidthInBytes = 32;
        p.srcMemoryType = 99;
        L("null-both-badtype", cuMemcpy3DPeer(&p));
    }
}

// ------------------------------------------------------------------ copies between a run of bytes
// and an array
GROUP(copyarray)
{
    ctx_ = probe_ctx();
    CUdeviceptr dv = dal(8192);
    CUarray a[5], b[5];
    static char t[8192];
    const char *an[] = {"1D-u8", "1D-f32x4", "2D-u8x4", "3D-u8", "1D-layered"};
    CUDA_ARRAY3D_DESCRIPTOR d[5] = {
        {64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0},
        {16, 0, 0, CU_AD_FORMAT_FLOAT, 4, 0},
        {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0},
        {16, 4, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0},
        {64, 0, 3, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED}};
    for (int i = 0; i < 5; i++) {
        MUST(cuArray3DCreate(&a[i], &d[i]));
        MUST(cuArray3DCreate(&b[i], &d[i]));
    }
    size_t on[][2] = {{0, 0},   {0, 1},   {0, 16},   {0, 64},   {1, 3},       {16, 16},
                      {60, 4},  {63, 1},  {63, 2},   {64, 0},   {64, 1},      {0, 65},
                      {0, 256}, {32, 64}, {0, 1024}, {0, 1025}, {1 << 20, 0}, {1 << 20, 1}};
    const char *fn[] = {"HtoA", "AtoH", "DtoA", "AtoD", "HtoAAsync", "AtoHAsync", "AtoA"};
    for (int f = 0; f < 7; f++)
        for (int i = 0; i < 5; i++)
            XCASE("%s-%s", fn[f], an[i]) for (int k = 0; k < N(on); k++)
            {
                size_t o = on[k][0], n = on[k][1];
                fill(t, 8192, 40 + f);
                dfill(dv, 8192, 41);
                CUresult r = f == 0   ? cuMemcpyHtoA(a[i], o, t, n)
                             : f == 1 ? cuMemcpyAtoH(t, a[i], o, n)
                             : f == 2 ? cuMemcpyDtoA(a[i], o, dv, n)
                             : f == 3 ? cuMemcpyAtoD(dv, a[i], o, n)
                             : f == 4 ? cuMemcpyHtoAAsync(a[i], o, t, n, 0)
                             : f == 5 ? cuMemcpyAtoHAsync(t, a[i], o, n, 0)
                                      : cuMemcpyAtoA(b[i], o, a[i], o, n);
                CUresult q = cuCtxSynchronize();
                OUT("%s%zu+%zu:%s", sep(), o, n, R(r));
                if (q)
                    OUT("!%s", R(q));
                if (!r && (f == 1 || f == 5))
                    OUT("/%08x", f32(t, 8192));
                else if (!r && f == 3) {
                    cuMemcpyDtoH(t, dv, 8192);
                    OUT("/%08x", f32(t, 8192));
                }
            }
    XCASE("round-trip-1D")
    {
        fill(t, 64, 7);
        S(cuMemcpyHtoA(a[0], 0, t, 64));
        S(cuMemcpyAtoA(b[0], 8, a[0], 0, 40));
        S(cuMemcpyAtoD(dv, b[0], 8, 40));
        dsum(dv, 40);
        S(cuMemcpyDtoA(a[0], 20, dv, 40));
        memset(t, 0, 64);
        S(cuMemcpyAtoH(t, a[0], 0, 64));
        OUT(" %08x", f32(t, 64));
    }
    XCASE("AtoA-overlap")
    {
        fill(t, 64, 7);
        cuMemcpyHtoA(a[0], 0, t, 64);
        S(cuMemcpyAtoA(a[0], 8, a[0], 0, 32));
        cuMemcpyAtoH(t, a[0], 0, 64);
        S(cuMemcpyAtoA(a[0], 0, a[0], 0, 64));
    }
    XCASE("AtoA-formats-differ")
    {
        S(cuMemcpyAtoA(a[1], 0, a[0], 0, 16));
        S(cuMemcpyAtoA(a[0], 0, a[1], 0, 16));
        S(cuMemcpyAtoA(a[0], 0, a[2], 0, 16));
        S(cuMemcpyAtoA(a[2], 0, a[0], 0, 16));
    }
    XCASE("null-arrays")
    {
        S(cuMemcpyHtoA(0, 0, t, 4));
        S(cuMemcpyAtoH(t, 0, 0, 4));
        S(cuMemcpyDtoA(0, 0, dv, 4));
        S(cuMemcpyAtoD(dv, 0, 0, 4));
        S(cuMemcpyAtoA(0, 0, a[0], 0, 4));
        S(cuMemcpyAtoA(a[0], 0, 0, 0, 4));
        S(cuMemcpyHtoAAsync(0, 0, t, 4, 0));
        S(cuMemcpyAtoHAsync(t, 0, 0, 4, 0));
    }
    XCASE("null-arrays-0")
    {
        S(cuMemcpyHtoA(0, 0, t, 0));
        S(cuMemcpyAtoH(t, 0, 0, 0));
        S(cuMemcpyDtoA(0, 0, dv, 0));
        S(cuMemcpyAtoD(dv, 0, 0, 0));
        S(cuMemcpyAtoA(0, 0, 0, 0, 0));
    }
    XCASE("null-HtoA") S(cuMemcpyHtoA(a[0], 0, 0, 4));
    XCASE("null-AtoH") S(cuMemcpyAtoH(0, a[0], 0, 4));
    XCASE("null-DtoA") S(cuMemcpyDtoA(a[0], 0, 0, 4));
    XCASE("null-AtoD") S(cuMemcpyAtoD(0, a[0], 0, 4));
    XCASE("null-pointers-0")
    {
        S(cuMemcpyHtoA(a[0], 0, 0, 0));
        S(cuMemcpyAtoH(0, a[0], 0, 0));
        S(cuMemcpyDtoA(a[0], 0, 0, 0));
        S(cuMemcpyAtoD(0, a[0], 0, 0));
    }
    XCASE("kinds-DtoA-from-pageable") S(cuMemcpyDtoA(a[0], 0, (CUdeviceptr)t, 16));
    XCASE("kinds-AtoD-to-pageable") S(cuMemcpyAtoD((CUdeviceptr)t, a[0], 0, 16));
    XCASE("kinds-HtoA-from-device") S(cuMemcpyHtoA(a[0], 0, (void *)dv, 16));
    XCASE("kinds-AtoH-to-device") S(cuMemcpyAtoH((void *)dv, a[0], 0, 16));
    XCASE("kinds-unknown")
    {
        S(cuMemcpyDtoA(a[0], 0, 0x1000, 16));
        S(cuMemcpyAtoD(0x1000, a[0], 0, 16));
    }
    XCASE("kinds-DtoA-past-end")
    {
        S(cuMemcpyDtoA(a[0], 0, dv + 8190, 4));
        S(cuMemcpyAtoD(dv + 8190, a[0], 0, 4));
    }
}

// ------------------------------------------------------------------ batches
GROUP(batch)
{
    ctx_ = probe_ctx();
    kmake();
    CUstream st;
    MUST(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    CUdeviceptr d[4], s[4];
    size_t z[4], ix[4], fail;
    CUmemcpyAttributes at[4];
#define SET()                                                                                      \
    do {                                                                                           \
        kset(0);                                                                                   \
        kset(1);                                                                                   \
        kset(3);                                                                                   \
        for (int q = 0; q < 4; q++) {                                                              \
            d[q] = kbuf[0][1] + 1000 * q;                                                          \
            s[q] = kbuf[0][0] + 500 * q;                                                           \
            z[q] = 100 + q;                                                                        \
            ix[q] = q;                                                                             \
            memset(&at[q], 0, sizeof at[q]);                                                       \
            at[q].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;                              \
        }                                                                                          \
        fail = 777;                                                                                \
    } while (0)
#define TRY(nm, cnt, na, ...) XCASE("%s", nm) ALSO(cnt, na, __VA_ARGS__)
#define ALSO(cnt, na, ...)                                                                         \
    {                                                                                              \
        SET();                                                                                     \
        __VA_ARGS__;                                                                               \
        S(cuMemcpyBatchAsync(d, s, z, cnt, at, ix, na, st));                                       \
        L("sync", cuStreamSynchronize(st));                                                        \
        OUT(" %08x", kgot(0));                                                                     \
        SET();                                                                                     \
        __VA_ARGS__;                                                                               \
        L("v1", one_MemcpyBatchAsync(d, s, z, cnt, at, ix, na, &fail, st));                        \
        if (fail == SIZE_MAX)                                                                      \
            OUT(" fail=max");                                                                      \
        else                                                                                       \
            OUT(" fail=%zu", fail);                                                                \
        cuStreamSynchronize(st);                                                                   \
        OUT(" %08x", kgot(0));                                                                     \
    }
    TRY("plain", 4, 1, (void)0)
    TRY("count1", 1, 1, (void)0) TRY("count0", 0, 0, (void)0) TRY("count0-attrs1", 0, 1, (void)0)
        TRY("attrs0", 4, 0, (void)0) TRY("attrs2", 4, 2, ix[1] = 2) TRY("attrs4", 4, 4, (void)0)
            TRY("attrs-more-than-count", 2, 3, (void)0) TRY("index-first-not-0", 4, 1, ix[0] = 1)
                TRY("index-equal", 4, 2, ix[1] = 0)
                    TRY("index-descending", 4, 3, ix[1] = 2; ix[2] = 1)
                        TRY("index-past", 4, 2, ix[1] = 4) TRY("index-far", 4, 2, ix[1] = 1000)
                            XCASE("orders") for (int o = -1; o <= 4; o++)
    {
        OUT("%s[%d]", sep(), o);
        ALSO(4, 1, at[0].srcAccessOrder = o)
    }
    XCASE("flags") for (unsigned f = 0; f <= 4; f++)
    {
        OUT("%s[%u]", sep(), f);
        ALSO(4, 1, at[0].flags = f)
    }
    TRY("flags-high", 4, 1, at[0].flags = 0x80000000)
    TRY("second-order-bad", 4, 2, ix[1] = 2; at[1].srcAccessOrder = 0)
    TRY("second-flags-bad", 4, 2, ix[1] = 2; at[1].flags = 8)
        XCASE("hint-types") for (int t = 0; t <= 5; t++)
    {
        OUT("%s[%d]", sep(), t);
        ALSO(4, 1, at[0].srcLocHint.type = at[0].dstLocHint.type = t;
             at[0].srcLocHint.id = at[0].dstLocHint.id = 0)
    }
    TRY("hint-device99", 4, 1, at[0].srcLocHint.type = 1; at[0].srcLocHint.id = 99)
    TRY("hint-device99-dst", 4, 1, at[0].dstLocHint.type = 1;
        at[0].dstLocHint.id = 99) TRY("size0-one", 4, 1, z[1] = 0)
        TRY("size0-all", 4, 1, z[0] = z[1] = z[2] = z[3] = 0) TRY("null-dst-one", 4, 1, d[2] = 0)
            TRY("null-src-one", 4, 1, s[1] = 0) TRY("null-dst-size0", 4, 1, d[2] = 0; z[2] = 0)
                TRY("unknown-src", 4, 1, s[3] = 0x1000) TRY("unknown-dst", 4, 1, d[3] = 0x1000)
                    TRY("src-past-end", 4, 1, s[3] = kbuf[0][0] + KSZ - 1)
                        TRY("dst-past-end", 4, 1, d[3] = kbuf[0][1] + KSZ - 1) TRY(
                            "from-pinned", 4, 1, s[0] = kbuf[1][0]; s[1] = kbuf[1][0] + 600)
                            TRY("from-pageable", 4, 1, s[0] = kbuf[3][0]; s[2] = kbuf[3][0] + 600)
                                TRY("from-pageable-during-call", 4, 1, s[0] = kbuf[3][0];
                                    s[2] = kbuf[3][0] + 600; at[0].srcAccessOrder = 2)
                                    TRY("from-pageable-any", 4, 1, s[0] = kbuf[3][0];
                                        at[0].srcAccessOrder = 3)
                                        TRY("to-pinned", 4, 1, d[0] = kbuf[1][1])
                                            TRY("to-pageable", 4, 1, d[0] = kbuf[3][1])
                                                TRY("pageable-to-pageable", 4, 1, d[0] = kbuf[3][1];
                                                    s[0] = kbuf[3][0])
                                                    TRY("same-pointer", 4, 1, s[0] = d[0])
                                                        TRY("bad-order-bad-pointer", 4, 1,
                                                            at[0].srcAccessOrder = 0;
                                                            d[0] = 0x1000)
                                                            TRY("bad-flags-bad-index", 4, 1,
                                                                at[0].flags = 64;
                                                                ix[0] = 1)
#undef TRY
#undef ALSO
                                                                XCASE("nulls")
    {
        SET();
        L("dsts", cuMemcpyBatchAsync(0, s, z, 4, at, ix, 1, st));
        L("srcs", cuMemcpyBatchAsync(d, 0, z, 4, at, ix, 1, st));
        L("sizes", cuMemcpyBatchAsync(d, s, 0, 4, at, ix, 1, st));
        L("attrs", cuMemcpyBatchAsync(d, s, z, 4, 0, ix, 1, st));
        L("idxs", cuMemcpyBatchAsync(d, s, z, 4, at, 0, 1, st));
        L("all-count0", cuMemcpyBatchAsync(0, 0, 0, 0, 0, 0, 0, st));
        L("all", cuMemcpyBatchAsync(0, 0, 0, 4, 0, 0, 1, st));
        L("v1-fail", one_MemcpyBatchAsync(d, s, z, 4, at, ix, 1, 0, st));
    }
    XCASE("streams")
    {
        SET();
        L("null", cuMemcpyBatchAsync(d, s, z, 4, at, ix, 1, 0));
        L("legacy", cuMemcpyBatchAsync(d, s, z, 4, at, ix, 1, CU_STREAM_LEGACY));
        L("per-thread", cuMemcpyBatchAsync(d, s, z, 4, at, ix, 1, CU_STREAM_PER_THREAD));
        L("null-count0", cuMemcpyBatchAsync(d, s, z, 0, at, ix, 0, 0));
        L("null-nulls", cuMemcpyBatchAsync(0, 0, 0, 4, 0, 0, 1, 0));
        cuCtxSynchronize();
        L("v1-null", one_MemcpyBatchAsync(d, s, z, 4, at, ix, 1, &fail, 0));
    }
    // three-dimensional
    CUDA_ARRAY3D_DESCRIPTOR ad = {16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0},
                            bd = {16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0};
    CUarray aa, ab, ac;
    MUST(cuArray3DCreate(&aa, &ad));
    MUST(cuArray3DCreate(&ab, &ad));
    MUST(cuArray3DCreate(&ac, &bd));
    CUDA_MEMCPY3D_BATCH_OP o[2];
#define SET3()                                                                                     \
    do {                                                                                           \
        kset(0);                                                                                   \
        kset(3);                                                                                   \
        memset(o, 0, sizeof o);                                                                    \
        fail = 777;                                                                                \
        for (int q = 0; q < 2; q++) {                                                              \
            o[q].src.type = o[q].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;                        \
            o[q].src.op.ptr.ptr = kbuf[0][0] + 2048 * q;                                           \
            o[q].dst.op.ptr.ptr = kbuf[0][1] + 2048 * q;                                           \
            o[q].src.op.ptr.rowLength = 40;                                                        \
            o[q].dst.op.ptr.rowLength = 50;                                                        \
            o[q].src.op.ptr.layerHeight = 6;                                                       \
            o[q].dst.op.ptr.layerHeight = 7;                                                       \
            o[q].extent.width = 32;                                                                \
            o[q].extent.height = 4;                                                                \
            o[q].extent.depth = 2;                                                                 \
            o[q].srcAccessOrder = 1;                                                               \
        }                                                                                          \
    } while (0)
#define PUT(q_, arr_, x_, y_, z_)                                                                  \
    do {                                                                                           \
        (q_).type = CU_MEMCPY_OPERAND_TYPE_ARRAY;                                                  \
        memset(&(q_).op, 0, sizeof(q_).op);                                                        \
        (q_).op.array.array = arr_;                                                                \
        (q_).op.array.offset.x = x_;                                                               \
        (q_).op.array.offset.y = y_;                                                               \
        (q_).op.array.offset.z = z_;                                                               \
    } while (0)
#define TRY(nm, cnt, fl, ...) XCASE("3D-%s", nm) ALSO(cnt, fl, __VA_ARGS__)
#define ALSO(cnt, fl, ...)                                                                         \
    {                                                                                              \
        SET3();                                                                                    \
        __VA_ARGS__;                                                                               \
        S(cuMemcpy3DBatchAsync(cnt, o, fl, st));                                                   \
        L("sync", cuStreamSynchronize(st));                                                        \
        OUT(" %08x", kgot(0));                                                                     \
        SET3();                                                                                    \
        __VA_ARGS__;                                                                               \
        L("v1", one_Memcpy3DBatchAsync(cnt, o, &fail, fl, st));                                    \
        if (fail == SIZE_MAX)                                                                      \
            OUT(" fail=max");                                                                      \
        else                                                                                       \
            OUT(" fail=%zu", fail);                                                                \
        cuStreamSynchronize(st);                                                                   \
        OUT(" %08x", kgot(0));                                                                     \
    }
    TRY("plain", 2, 0, (void)0)
    TRY("one", 1, 0, (void)0) TRY("none", 0, 0, (void)0) TRY("flags1", 2, 1, (void)0)
        TRY("none-flags1", 0, 1, (void)0) TRY("width0", 2, 0, o[1].extent.width = 0)
            TRY("height0", 2, 0, o[1].extent.height = 0) TRY("depth0", 2, 0, o[1].extent.depth = 0)
                TRY("row0", 2, 0, o[0].src.op.ptr.rowLength = 0) TRY("row-short", 2, 0,
                                                                     o[0].src.op.ptr.rowLength = 31)
                    TRY("row-exact", 2, 0, o[0].src.op.ptr.rowLength = 32)
                        TRY("dst-row-short", 2, 0, o[0].dst.op.ptr.rowLength = 31)
                            TRY("layer0", 2, 0, o[0].src.op.ptr.layerHeight = 0)
                                TRY("layer-short", 2, 0, o[0].src.op.ptr.layerHeight = 3) TRY(
                                    "dst-layer-short", 2, 0, o[0].dst.op.ptr.layerHeight = 3)
                                    TRY("layer-short-depth1", 2, 0, o[0].src.op.ptr.layerHeight = 3;
                                        o[0].extent.depth = 1)
                                        XCASE("3D-types") for (int q = -1; q <= 3; q++) if (q != 2)
    {
        OUT("%s[%d]", sep(), q);
        ALSO(2, 0, o[1].src.type = q)
    }
    XCASE("3D-orders") for (int q = -1; q <= 4; q++)
    {
        OUT("%s[%d]", sep(), q);
        ALSO(2, 0, o[1].srcAccessOrder = q)
    }
    XCASE("3D-op-flags") for (int q = 1; q <= 4; q *= 2)
    {
        OUT("%s[%d]", sep(), q);
        ALSO(2, 0, o[1].flags = q)
    }
    TRY("null-src", 2, 0, o[1].src.op.ptr.ptr = 0)
    TRY("null-dst", 2, 0, o[1].dst.op.ptr.ptr = 0) TRY("unknown-src", 2, 0,
                                                       o[1].src.op.ptr.ptr = 0x1000)
        TRY("src-past-end", 2, 0, o[1].src.op.ptr.ptr = kbuf[0][0] + KSZ - 100)
            TRY("from-pageable", 2, 0, o[0].src.op.ptr.ptr = kbuf[3][0]) TRY(
                "to-pageable", 2, 0, o[0].dst.op.ptr.ptr = kbuf[3][1])
                TRY("hint-bad", 2, 0, o[0].src.op.ptr.locHint.type = 77) TRY(
                    "hint-device99", 2, 0, o[0].src.op.ptr.locHint.type = 1;
                    o[0].src.op.ptr.locHint.id = 99)
                    TRY("to-array-and-back", 2, 0, o[0].extent.width = 16; o[0].extent.depth = 1;
                        PUT(o[0].dst, aa, 0, 0, 0); o[1] = o[0]; PUT(o[1].dst, ab, 0, 2, 0))
                        TRY("from-array", 1, 0, o[0].extent.width = 8; o[0].extent.depth = 1;
                            PUT(o[0].src, aa, 4, 1, 0))
                            TRY("array-x-past", 1, 0, o[0].extent.width = 8; o[0].extent.depth = 1;
                                PUT(o[0].src, aa, 9, 0, 0))
                                TRY("array-y-past", 1, 0, o[0].extent.width = 8;
                                    o[0].extent.depth = 1; PUT(o[0].src, aa, 0, 5, 0))
                                    TRY("array-z-past", 1, 0, o[0].extent.width = 8;
                                        o[0].extent.depth = 1; PUT(o[0].src, aa, 0, 0, 1))
                                        TRY("array-depth2", 1, 0, o[0].extent.width = 8;
                                            PUT(o[0].src, aa, 0, 0, 0))
                                            TRY("array-null", 1, 0, o[0].extent.width = 8;
                                                o[0].extent.depth = 1; PUT(o[0].src, 0, 0, 0, 0))
                                                TRY("array-to-array", 1, 0, o[0].extent.width = 8;
                                                    o[0].extent.depth = 1;
                                                    PUT(o[0].src, aa, 0, 0, 0);
                                                    PUT(o[0].dst, ab, 8, 4, 0))
                                                    TRY("array-elements-differ", 1, 0,
                                                        o[0].extent.width = 8;
                                                        o[0].extent.depth = 1;
                                                        PUT(o[0].src, aa, 0, 0, 0);
                                                        PUT(o[0].dst, ac, 0, 0, 0))
#undef TRY
                                                        XCASE("3D-nulls-and-streams")
    {
        SET3();
        L("null-list", cuMemcpy3DBatchAsync(2, 0, 0, st));
        L("null-list-0", cuMemcpy3DBatchAsync(0, 0, 0, st));
        L("stream0", cuMemcpy3DBatchAsync(2, o, 0, 0));
        L("legacy", cuMemcpy3DBatchAsync(2, o, 0, CU_STREAM_LEGACY));
        L("per-thread", cuMemcpy3DBatchAsync(2, o, 0, CU_STREAM_PER_THREAD));
        L("stream0-0", cuMemcpy3DBatchAsync(0, 0, 0, 0));
        L("stream0-flags1", cuMemcpy3DBatchAsync(2, 0, 1, 0));
        cuCtxSynchronize();
        L("v1-null-fail", one_Memcpy3DBatchAsync(2, o, 0, 0, st));
    }
}

// ------------------------------------------------------------------ the stream-ordered allocator
static CUmemPoolProps pprops(void)
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}
static CUmemoryPool pmake(int types)
{
    CUmemPoolProps p = pprops();
    p.handleTypes = types;
    CUmemoryPool m = 0;
    MUST(cuMemPoolCreate(&m, &p));
    return m;
}
static void pnum(CUmemoryPool m)
{
    static const char *nm[] = {"reserved", "reserved-high", "used", "used-high"};
    for (int a = 5; a <= 8; a++) {
        uint64_t v = 0x7777;
        CUresult r = cuMemPoolGetAttribute(m, a, &v);
        if (r)
            OUT(" %s=%s", nm[a - 5], R(r));
        else
            OUT(" %s=%llu", nm[a - 5], (unsigned long long)v);
    }
}
static void keep(CUmemoryPool m)
{
    uint64_t v = UINT64_MAX;
    MUST(cuMemPoolSetAttribute(m, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v));
}
GROUP(pool)
{
    ctx_ = probe_ctx();
    CUmemoryPool def = 0;
    CUstream st, su;
    MUST(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&su, CU_STREAM_NON_BLOCKING));
    MUST(cuDeviceGetDefaultMemPool(&def, 0));
    CASE("default-pool")
    {
        CUmemoryPool a = 0, b = 0;
        S(cuDeviceGetDefaultMemPool(&a, 0));
        S(cuDeviceGetMemPool(&b, 0));
        OUT(" same=%d", a == b);
        S(cuDeviceGetDefaultMemPool(0, 0));
        S(cuDeviceGetMemPool(0, 0));
        S(cuDeviceGetDefaultMemPool(0, 99));
        S(cuDeviceGetMemPool(0, 99));
    }
    for (int w = 0; w < 2; w++)
        CASE("%s-attrs", w ? "own" : "default") for (int a = 0; a <= 10; a++)
        {
            OUT("%s[%d] ", sep(), a);
            CUmemoryPool m = w ? pmake(0) : def;
            uint64_t v = 0x5a5a5a5a5a5a5a5aull, x = 0xa5a5a5a5a5a5a5a5ull;
            CUresult r = cuMemPoolGetAttribute(m, a, &v);
            cuMemPoolGetAttribute(m, a, &x);
            int by = 0;
            for (int i = 0; i < 8; i++)
                if (((char *)&v)[i] == ((char *)&x)[i])
                    by = i + 1;
            uint64_t k = 0;
            memcpy(&k, &v, by);
            OUT("%s %dB %llu", R(r), by, (unsigned long long)k);
            L("null", cuMemPoolGetAttribute(m, a, 0));
            L("null-pool", cuMemPoolGetAttribute(0, a, &v));
            L("set-null", cuMemPoolSetAttribute(m, a, 0));
            if (w)
                cuMemPoolDestroy(m);
        }
    for (int a = 0; a <= 9; a++)
        CASE("set-attr-%d", a)
        {
            CUmemoryPool m = pmake(0);
            uint64_t vs[] = {1, 0, 2, 4096, UINT64_MAX};
            for (int i = 0; i < 5; i++) {
                uint64_t v = vs[i], g = 0;
                CUresult r = cuMemPoolSetAttribute(m, a, &v);
                cuMemPoolGetAttribute(m, a, &g);
                OUT("%s%llx:%s/%llx", sep(), (unsigned long long)vs[i], R(r),
                    (unsigned long long)g);
            }
            uint64_t v = 0;
            L("null-pool", cuMemPoolSetAttribute(0, a, &v));
            cuMemPoolDestroy(m);
        }
#define MAKE(nm, ...) CASE("create-%s", nm) MORE(__VA_ARGS__)
#define MORE(...)                                                                                  \
    {                                                                                              \
        CUmemPoolProps p = pprops();                                                               \
        CUmemoryPool m = (CUmemoryPool)JUNK;                                                       \
        __VA_ARGS__;                                                                               \
        CUresult r = cuMemPoolCreate(&m, &p);                                                      \
        S(r);                                                                                      \
        if (r)                                                                                     \
            OUT(" out=%s", out64((uint64_t)m, JUNK));                                              \
        else {                                                                                     \
            CUmemLocation dv = {CU_MEM_LOCATION_TYPE_DEVICE, 0},                                   \
                          ho = {CU_MEM_LOCATION_TYPE_HOST, 0};                                     \
            CUmemAccess_flags f = 77;                                                              \
            CUresult q = cuMemPoolGetAccess(&f, m, &dv);                                           \
            OUT(" dev=%s/%d", R(q), f);                                                            \
            f = 77;                                                                                \
            q = cuMemPoolGetAccess(&f, m, &ho);                                                    \
            OUT(" host=%s/%d", R(q), f);                                                           \
            CUdeviceptr x = 0;                                                                     \
            q = cuMemAllocFromPoolAsync(&x, 1000, m, st);                                          \
            OUT(" alloc=%s", R(q));                                                                \
            if (!q) {                                                                              \
                cuMemFreeAsync(x, st);                                                             \
                cuStreamSynchronize(st);                                                           \
            }                                                                                      \
            L("destroy", cuMemPoolDestroy(m));                                                     \
        }                                                                                          \
    }
    MAKE("plain", (void)0)
    MAKE("type0", p.allocType = 0) MAKE("type3", p.allocType = 3)
        MAKE("type-neg", p.allocType = -1) for (int t = 0; t <= 5; t++)
            CASE("create-location%d", t) for (int id = -1; id <= 1; id++)
    {
        OUT("%s[%d]", sep(), id);
        MORE(p.location.type = t; p.location.id = id)
    }
    MAKE("location1-id99", p.location.id = 99)
    MAKE("location-neg", p.location.type = -1) int ht[] = {1, 2, 3, 4, 8, 9, 16, 64, 0x7fffffff};
    CASE("create-handles") for (int i = 0; i < N(ht); i++)
    {
        OUT("%s[%x]", sep(), ht[i]);
        MORE(p.handleTypes = ht[i])
    }
    MAKE("handles1-host", p.handleTypes = 1; p.location.type = 2)
    MAKE("handles1-numa", p.handleTypes = 1; p.location.type = 3) size_t mx[] = {1,
                                                                                 1000,
                                                                                 4096,
                                                                                 1 << 20,
                                                                                 2 << 20,
                                                                                 (2 << 20) + 1,
                                                                                 32 << 20,
                                                                                 1 << 30,
                                                                                 (size_t)1 << 40,
                                                                                 (size_t)1 << 60,
                                                                                 SIZE_MAX};
    CASE("create-max") for (int i = 0; i < N(mx); i++)
    {
        OUT("%s[%zx]", sep(), mx[i]);
        MORE(p.maxSize = mx[i])
    }
    CASE("create-usage") for (int u = 1; u <= 4; u++)
    {
        OUT("%s[%d]", sep(), u);
        MORE(p.usage = u)
    }
    MAKE("reserved-first", p.reserved[0] = 1)
    MAKE("reserved-last", p.reserved[53] = 1) MAKE("win32", p.win32SecurityAttributes = &p)
        MAKE("bad-type-bad-location", p.allocType = 0; p.location.type = 0)
            MAKE("bad-device-bad-handles", p.location.id = 99; p.handleTypes = 64)
#undef MAKE
#undef MORE
                CASE("create-null")
    {
        CUmemPoolProps p = pprops();
        CUmemoryPool m;
        S(cuMemPoolCreate(0, &p));
        S(cuMemPoolCreate(&m, 0));
        S(cuMemPoolCreate(0, 0));
        p.location.id = 99;
        S(cuMemPoolCreate(0, &p));
    }
    CASE("destroy-null") S(cuMemPoolDestroy(0));
    CASE("destroy-default") S(cuMemPoolDestroy(def));
    CASE("destroy-twice")
    {
        CUmemoryPool m = pmake(0);
        S(cuMemPoolDestroy(m));
        S(cuMemPoolDestroy(m));
    }
    CASE("destroy-current")
    {
        CUmemoryPool m = pmake(0), x = 0;
        S(cuDeviceSetMemPool(0, m));
        S(cuMemPoolDestroy(m));
        S(cuDeviceGetMemPool(&x, 0));
        OUT(" default=%d", x == def);
    }
    CASE("destroy-outstanding")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p;
        MUST(cuMemAllocFromPoolAsync(&p, 4096, m, st));
        S(cuMemPoolDestroy(m));
        S(cuMemsetD8Async(p, 1, 4096, st));
        S(cuStreamSynchronize(st));
        unsigned f;
        S(cuPointerGetAttribute(&f, 2, p));
        S(cuMemFreeAsync(p, st));
        S(cuStreamSynchronize(st));
    }
    CASE("garbage-pool")
    {
        static char g[4096];
        uint64_t v;
        S(cuMemPoolGetAttribute((CUmemoryPool)g, 4, &v));
    }
    CASE("garbage-pool-alloc")
    {
        static char g[4096];
        CUdeviceptr p;
        S(cuMemAllocFromPoolAsync(&p, 16, (CUmemoryPool)g, st));
    }
    CASE("set-device-pool")
    {
        CUmemoryPool m = pmake(0), g = 0;
        CUdeviceptr p = 0;
        uint64_t h = 0;
        S(cuDeviceSetMemPool(0, m));
        cuDeviceGetMemPool(&g, 0);
        OUT(" is-set=%d", g == m);
        S(cuMemAllocAsync(&p, 1000, st));
        cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
        OUT(" from-it=%d", h == (uint64_t)m);
        S(cuMemFreeAsync(p, st));
        cuStreamSynchronize(st);
        S(cuDeviceSetMemPool(0, def));
        S(cuDeviceSetMemPool(0, 0));
        S(cuDeviceSetMemPool(99, m));
        S(cuDeviceSetMemPool(99, 0));
        cuMemPoolDestroy(m);
    }
    for (int t = 0; t <= 5; t++)
        CASE("by-location-%d", t)
        {
            for (int id = -1; id <= 1; id++)
                for (int ty = 0; ty <= 3; ty++)
                    if (ty != 2) {
                        CUmemLocation l = {t, id};
                        CUmemoryPool a = 0, b = 0;
                        CUresult r = cuMemGetDefaultMemPool(&a, &l, ty),
                                 q = cuMemGetMemPool(&b, &l, ty);
                        OUT("%sid%d,type%d:%s/%s", sep(), id, ty, R(r), R(q));
                        if (!r)
                            OUT("/%s%s", a == def ? "device-default" : "another",
                                a == b ? "" : ",current-differs");
                    }
        }
    CASE("by-location-nulls")
    {
        CUmemLocation l = {1, 0};
        CUmemoryPool a;
        S(cuMemGetDefaultMemPool(0, &l, 1));
        S(cuMemGetDefaultMemPool(&a, 0, 1));
        S(cuMemGetMemPool(0, &l, 1));
        S(cuMemGetMemPool(&a, 0, 1));
        S(cuMemSetMemPool(0, 1, def));
        S(cuMemSetMemPool(&l, 1, 0));
        S(cuMemSetMemPool(&l, 0, def));
        S(cuMemSetMemPool(&l, 1, def));
        l.id = 99;
        S(cuMemSetMemPool(&l, 1, def));
        l.id = 0;
        l.type = 2;
        S(cuMemSetMemPool(&l, 1, def));
    }
    size_t az[] = {1,
                   2,
                   255,
                   256,
                   257,
                   511,
                   512,
                   513,
                   1000,
                   4096,
                   65536,
                   65537,
                   1 << 20,
                   (2 << 20) - 1,
                   2 << 20,
                   (2 << 20) + 1,
                   32 << 20,
                   (32 << 20) + 1,
                   33 << 20,
                   64 << 20,
                   (64 << 20) + 1};
    for (int i = 0; i < N(az); i++)
        CASE("alloc-%zu", az[i])
        {
            CUmemoryPool m = pmake(0);
            CUdeviceptr p = JUNK, q = JUNK, b = 0;
            size_t z = 0;
            S(cuMemAllocFromPoolAsync(&p, az[i], m, st));
            pnum(m);
            CUresult r = cuMemGetAddressRange(&b, &z, p);
            OUT(" range=%s/%zu/%lld align512=%d", R(r), z, df(p, b), lowbits(p, 9) == 9);
            S(cuMemAllocFromPoolAsync(&q, az[i], m, st));
            OUT(" apart=%lld",
                llabs((long long)(q - p)) < 1 << 29 ? llabs((long long)(q - p)) : -1LL);
            pnum(m);
            S(cuMemFreeAsync(p, st));
            S(cuMemFreeAsync(q, st));
            pnum(m);
            S(cuStreamSynchronize(st));
            pnum(m);
            cuMemPoolDestroy(m);
        }
    size_t bz[] = {0, (size_t)1 << 40, (size_t)1 << 47, (size_t)1 << 62, SIZE_MAX};
    CASE("alloc-refused") for (int i = 0; i < N(bz); i++)
    {
        CUdeviceptr p = JUNK;
        CUresult r = cuMemAllocAsync(&p, bz[i], st);
        OUT("%s[%zx] %s out=%s", sep(), bz[i], R(r), out64(p, JUNK));
        p = JUNK;
        r = cuMemAllocFromPoolAsync(&p, bz[i], def, st);
        OUT(" pool %s out=%s", R(r), out64(p, JUNK));
        L("null", cuMemAllocAsync(0, bz[i], st));
    }
    CASE("alloc-nulls")
    {
        CUdeviceptr p = JUNK;
        S(cuMemAllocAsync(0, 16, st));
        S(cuMemAllocFromPoolAsync(0, 16, def, st));
        S(cuMemAllocFromPoolAsync(&p, 16, 0, st));
        S(cuMemAllocFromPoolAsync(0, 0, 0, st));
        S(cuMemAllocFromPoolAsync(&p, 0, 0, st));
        OUT(" out=%s", out64(p, JUNK));
    }
    CASE("streams")
    {
        CUstream v[] = {0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, st};
        for (int i = 0; i < 4; i++) {
            CUdeviceptr p = 0;
            S(cuMemAllocAsync(&p, 1000, v[i]));
            S(cuMemFreeAsync(p, v[i]));
        }
        cuCtxSynchronize();
    }
    CASE("max-size-exceeded")
    {
        CUmemPoolProps p = pprops();
        p.maxSize = 4 << 20;
        CUmemoryPool m;
        MUST(cuMemPoolCreate(&m, &p));
        CUdeviceptr a = 0, b = 0;
        S(cuMemAllocFromPoolAsync(&a, 3 << 20, m, st));
        S(cuMemAllocFromPoolAsync(&b, 3 << 20, m, st));
        pnum(m);
        CUdeviceptr c = JUNK;
        S(cuMemAllocFromPoolAsync(&c, 40 << 20, m, st));
        OUT(" out=%s", out64(c, JUNK));
        if (a)
            cuMemFreeAsync(a, st);
        if (b)
            cuMemFreeAsync(b, st);
        cuStreamSynchronize(st);
        cuMemPoolDestroy(m);
    }
    CASE("free-nulls")
    {
        S(cuMemFreeAsync(0, st));
        S(cuMemFreeAsync(0, 0));
        S(cuMemFreeAsync(0x1000, st));
        S(cuMemFreeAsync((CUdeviceptr)hbuf, st));
        S(cuMemFreeAsync(SIZE_MAX, st));
    }
    CASE("free-twice-async")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4096, st));
        S(cuMemFreeAsync(p, st));
        S(cuMemFreeAsync(p, st));
        S(cuStreamSynchronize(st));
        S(cuMemFreeAsync(p, st));
        S(cuMemFree(p));
    }
    CASE("free-interior-async")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4096, st));
        S(cuMemFreeAsync(p + 512, st));
        S(cuMemFree(p + 512));
        S(cuMemFreeAsync(p, st));
        cuStreamSynchronize(st);
    }
    CASE("free-plain-of-async")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4096, st));
        MUST(cuStreamSynchronize(st));
        S(cuMemFree(p));
        S(cuMemFree(p));
    }
    CASE("free-async-of-plain")
    {
        CUdeviceptr p = dal(4096), b;
        size_t z;
        S(cuMemFreeAsync(p, st));
        S(cuStreamSynchronize(st));
        S(cuMemGetAddressRange(&b, &z, p));
        S(cuMemFree(p));
    }
    CASE("free-async-of-pinned")
    {
        void *h;
        MUST(cuMemAllocHost(&h, 4096));
        S(cuMemFreeAsync((CUdeviceptr)h, st));
        S(cuStreamSynchronize(st));
        S(cuMemFreeHost(h));
    }
    CASE("free-in-other-stream")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4096, st));
        MUST(cuStreamSynchronize(st));
        S(cuMemFreeAsync(p, su));
        S(cuStreamSynchronize(su));
    }
    CASE("free-in-null-stream")
    {
        CUdeviceptr p;
        MUST(cuMemAllocAsync(&p, 4096, st));
        MUST(cuStreamSynchronize(st));
        S(cuMemFreeAsync(p, 0));
        S(cuCtxSynchronize());
    }
    CASE("range-after-free")
    {
        CUdeviceptr p, b;
        size_t z;
        MUST(cuMemAllocAsync(&p, 4096, st));
        MUST(cuMemFreeAsync(p, st));
        S(cuMemGetAddressRange(&b, &z, p));
        S(cuStreamSynchronize(st));
        S(cuMemGetAddressRange(&b, &z, p));
        unsigned f;
        S(cuPointerGetAttribute(&f, 2, p));
    }
    CASE("reuse-same-stream")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p = 0, q = 0;
        MUST(cuMemAllocFromPoolAsync(&p, 4096, m, st));
        MUST(cuMemFreeAsync(p, st));
        MUST(cuMemAllocFromPoolAsync(&q, 4096, m, st));
        OUT("same=%d", p == q);
        cuMemFreeAsync(q, st);
        cuStreamSynchronize(st);
        cuMemPoolDestroy(m);
    }
    CASE("reuse-smaller")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p = 0, q = 0;
        MUST(cuMemAllocFromPoolAsync(&p, 65536, m, st));
        MUST(cuMemFreeAsync(p, st));
        MUST(cuMemAllocFromPoolAsync(&q, 4096, m, st));
        OUT("same=%d", p == q);
        cuMemFreeAsync(q, st);
        cuStreamSynchronize(st);
        cuMemPoolDestroy(m);
    }
    CASE("reuse-after-sync")
    {
        CUmemoryPool m = pmake(0);
        keep(m);
        CUdeviceptr p = 0, q = 0;
        MUST(cuMemAllocFromPoolAsync(&p, 4096, m, st));
        MUST(cuMemFreeAsync(p, st));
        MUST(cuStreamSynchronize(st));
        MUST(cuMemAllocFromPoolAsync(&q, 4096, m, su));
        OUT("same=%d", p == q);
        cuMemFreeAsync(q, su);
        cuStreamSynchronize(su);
        cuMemPoolDestroy(m);
    }
    CASE("threshold-0")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p;
        MUST(cuMemAllocFromPoolAsync(&p, 8 << 20, m, st));
        pnum(m);
        cuMemFreeAsync(p, st);
        pnum(m);
        cuStreamSynchronize(st);
        pnum(m);
        cuMemPoolDestroy(m);
    }
    CASE("threshold-max")
    {
        CUmemoryPool m = pmake(0);
        keep(m);
        CUdeviceptr p;
        MUST(cuMemAllocFromPoolAsync(&p, 8 << 20, m, st));
        cuMemFreeAsync(p, st);
        cuStreamSynchronize(st);
        pnum(m);
        S(cuMemPoolTrimTo(m, 4 << 20));
        pnum(m);
        S(cuMemPoolTrimTo(m, 0));
        pnum(m);
        S(cuMemPoolTrimTo(m, SIZE_MAX));
        pnum(m);
        cuMemPoolDestroy(m);
    }
    CASE("threshold-ctx-sync")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p;
        MUST(cuMemAllocFromPoolAsync(&p, 8 << 20, m, st));
        cuMemFreeAsync(p, st);
        cuCtxSynchronize();
        pnum(m);
        cuMemPoolDestroy(m);
    }
    CASE("threshold-event-sync")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p;
        CUevent e;
        MUST(cuEventCreate(&e, 0));
        MUST(cuMemAllocFromPoolAsync(&p, 8 << 20, m, st));
        cuMemFreeAsync(p, st);
        cuEventRecord(e, st);
        cuEventSynchronize(e);
        pnum(m);
        cuEventDestroy(e);
        cuMemPoolDestroy(m);
    }
    CASE("trim-outstanding")
    {
        CUmemoryPool m = pmake(0);
        keep(m);
        CUdeviceptr p, q;
        MUST(cuMemAllocFromPoolAsync(&p, 8 << 20, m, st));
        MUST(cuMemAllocFromPoolAsync(&q, 40 << 20, m, st));
        cuMemFreeAsync(q, st);
        cuStreamSynchronize(st);
        pnum(m);
        S(cuMemPoolTrimTo(m, 0));
        pnum(m);
        cuMemFreeAsync(p, st);
        cuStreamSynchronize(st);
        S(cuMemPoolTrimTo(m, 1));
        pnum(m);
        cuMemPoolDestroy(m);
    }
    CASE("trim-null")
    {
        S(cuMemPoolTrimTo(0, 0));
        S(cuMemPoolTrimTo(def, 0));
    }
    CASE("high-watermark-reset")
    {
        CUmemoryPool m = pmake(0);
        keep(m);
        CUdeviceptr p;
        uint64_t z = 0, one = 1;
        MUST(cuMemAllocFromPoolAsync(&p, 1 << 20, m, st));
        cuMemFreeAsync(p, st);
        cuStreamSynchronize(st);
        pnum(m);
        S(cuMemPoolSetAttribute(m, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &z));
        S(cuMemPoolSetAttribute(m, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &z));
        S(cuMemPoolSetAttribute(m, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one));
        pnum(m);
        cuMemPoolDestroy(m);
    }
    for (int t = 0; t <= 4; t++)
        CASE("access-location-%d", t)
        {
            CUmemoryPool m = pmake(0);
            for (int id = -1; id <= 1; id++) {
                CUmemAccessDesc d = {{t, id}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
                CUmemLocation l = {t, id};
                CUmemAccess_flags f = 77;
                CUresult r = cuMemPoolGetAccess(&f, m, &l);
                OUT("%sid%d:get=%s/%d", sep(), id, R(r), f);
                L("set", cuMemPoolSetAccess(m, &d, 1));
                f = 77;
                cuMemPoolGetAccess(&f, m, &l);
                OUT("/%d", f);
            }
            cuMemPoolDestroy(m);
        }
    CASE("access-flags") for (int f = -1; f <= 4; f++)
    {
        OUT("%s[%d]", sep(), f);
        CUmemoryPool m = pmake(0);
        CUmemAccessDesc d = {{1, 0}, f};
        CUmemLocation l = {1, 0};
        CUmemAccess_flags g = 77;
        S(cuMemPoolSetAccess(m, &d, 1));
        CUresult r = cuMemPoolGetAccess(&g, m, &l);
        OUT(" %s/%d", R(r), g);
        cuMemPoolDestroy(m);
    }
    CASE("access-nulls")
    {
        CUmemAccessDesc d = {{1, 0}, 3};
        CUmemLocation l = {1, 0};
        CUmemAccess_flags g;
        S(cuMemPoolSetAccess(0, &d, 1));
        S(cuMemPoolSetAccess(def, 0, 1));
        S(cuMemPoolSetAccess(def, 0, 0));
        S(cuMemPoolSetAccess(def, &d, 0));
        S(cuMemPoolGetAccess(0, def, &l));
        S(cuMemPoolGetAccess(&g, 0, &l));
        S(cuMemPoolGetAccess(&g, def, 0));
    }
    CASE("pointer-pool-handle")
    {
        CUmemoryPool m = pmake(0);
        CUdeviceptr p;
        uint64_t h = 0;
        MUST(cuMemAllocFromPoolAsync(&p, 4096, m, st));
        S(cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
        OUT(" same=%d", h == (uint64_t)m);
        cuMemFreeAsync(p, st);
        cuStreamSynchronize(st);
        cuMemPoolDestroy(m);
    }
    CASE("content-kept-across-stream-order")
    {
        CUdeviceptr p;
        static char t[4096];
        MUST(cuMemAllocAsync(&p, 4096, st));
        S(cuMemsetD32Async(p, 0x01020304, 1024, st));
        S(cuMemcpyDtoHAsync(t, p, 4096, st));
        S(cuMemFreeAsync(p, st));
        S(cuStreamSynchronize(st));
        OUT(" %08x", f32(t, 4096));
    }
    // sharing
    CASE("export-types") for (int t = 0; t <= 9; t++)
    {
        OUT("%s[%d] ", sep(), t);
        CUmemoryPool m = pmake(1), n = pmake(0);
        char o[256];
        memset(o, 0x5a, 256);
        CUresult r = cuMemPoolExportToShareableHandle(o, m, t, 0);
        OUT("fd-pool=%s", R(r));
        int by = 0;
        for (int i = 0; i < 256; i++)
            if (o[i] != 0x5a)
                by = i + 1;
        OUT(" wrote=%d", by);
        if (!r && t == 1)
            close(*(int *)o);
        L("plain-pool", cuMemPoolExportToShareableHandle(o, n, t, 0));
        cuMemPoolDestroy(m);
        cuMemPoolDestroy(n);
    }
    CASE("export-args")
    {
        CUmemoryPool m = pmake(1);
        int fd = -1;
        L("flags1", cuMemPoolExportToShareableHandle(&fd, m, 1, 1));
        L("null-out", cuMemPoolExportToShareableHandle(0, m, 1, 0));
        L("null-pool", cuMemPoolExportToShareableHandle(&fd, 0, 1, 0));
        L("default", cuMemPoolExportToShareableHandle(&fd, def, 1, 0));
        OUT(" fd=%d", fd);
        cuMemPoolDestroy(m);
    }
    CASE("export-twice")
    {
        CUmemoryPool m = pmake(1);
        int a = -1, b = -1;
        S(cuMemPoolExportToShareableHandle(&a, m, 1, 0));
        S(cuMemPoolExportToShareableHandle(&b, m, 1, 0));
        OUT(" differ=%d cloexec=%d", a != b, fcntl(a, F_GETFD) & FD_CLOEXEC ? 1 : 0);
        close(a);
        close(b);
        cuMemPoolDestroy(m);
    }
    CASE("import-own")
    {
        CUmemoryPool m = pmake(1), n = 0;
        int fd = -1;
        MUST(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        S(cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)fd, 1, 0));
        OUT(" same=%d", n == m);
        close(fd);
        if (n) {
            CUdeviceptr p;
            L("alloc", cuMemAllocFromPoolAsync(&p, 16, n, st));
            L("destroy", cuMemPoolDestroy(n));
        }
        cuMemPoolDestroy(m);
    }
    CASE("import-bad")
    {
        CUmemoryPool n;
        int dn = open("/dev/null", O_RDWR);
        L("neg", cuMemPoolImportFromShareableHandle(&n, (void *)-1l, 1, 0));
        L("closed", cuMemPoolImportFromShareableHandle(&n, (void *)999l, 1, 0));
        L("devnull", cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)dn, 1, 0));
        L("type0", cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)dn, 0, 0));
        L("type2", cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)dn, 2, 0));
        L("flags1", cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)dn, 1, 1));
        L("null", cuMemPoolImportFromShareableHandle(0, (void *)(intptr_t)dn, 1, 0));
        close(dn);
    }
    CASE("import-memory-fd")
    {
        CUmemoryPool n = 0;
        int fd = probe_vmm_fd(2 << 20);
        S(cuMemPoolImportFromShareableHandle(&n, (void *)(intptr_t)fd, 1, 0));
        close(fd);
    }
    CASE("export-pointer-args")
    {
        CUmemoryPool m = pmake(1), n = pmake(0);
        CUdeviceptr p, q, o = dal(4096);
        CUmemPoolPtrExportData x;
        MUST(cuMemAllocFromPoolAsync(&p, 4096, m, st));
        MUST(cuMemAllocFromPoolAsync(&q, 4096, n, st));
        memset(&x, 0, sizeof x);
        L("not-exported-yet", cuMemPoolExportPointer(&x, p));
        int fd = -1;
        MUST(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        L("ok", cuMemPoolExportPointer(&x, p));
        L("interior", cuMemPoolExportPointer(&x, p + 100));
        L("null-out", cuMemPoolExportPointer(0, p));
        L("null-ptr", cuMemPoolExportPointer(&x, 0));
        L("plain-pool", cuMemPoolExportPointer(&x, q));
        L("plain-alloc", cuMemPoolExportPointer(&x, o));
        L("import-own", cuMemPoolImportPointer(&q, m, &x));
        L("import-null-pool", cuMemPoolImportPointer(&q, 0, &x));
        L("import-null-data", cuMemPoolImportPointer(&q, m, 0));
        L("import-null-out", cuMemPoolImportPointer(0, m, &x));
        close(fd);
        cuMemFree(o);
    }
    CASE("share-with-child")
    {
        CUmemoryPool m = pmake(1);
        CUdeviceptr p;
        CUmemPoolPtrExportData x;
        int fd = -1;
        MUST(cuMemAllocFromPoolAsync(&p, 65536, m, st));
        MUST(cuStreamSynchronize(st));
        dfill(p, 65536, 77);
        S(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        S(cuMemPoolExportPointer(&x, p));
        kid("pool", fd, &x, sizeof x);
        dsum(p, 65536);
        S(cuMemFreeAsync(p, st));
        S(cuStreamSynchronize(st));
        S(cuMemPoolDestroy(m));
        close(fd);
    }
    CASE("share-interior-with-child")
    {
        CUmemoryPool m = pmake(1);
        CUdeviceptr a, p;
        CUmemPoolPtrExportData x;
        int fd = -1;
        MUST(cuMemAllocFromPoolAsync(&a, 1000, m, st));
        MUST(cuMemAllocFromPoolAsync(&p, 65536, m, st));
        MUST(cuStreamSynchronize(st));
        dfill(p, 65536, 78);
        S(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        S(cuMemPoolExportPointer(&x, p));
        kid("pool", fd, &x, sizeof x);
        dsum(p, 65536);
        cuMemFreeAsync(p, st);
        cuMemFreeAsync(a, st);
        cuStreamSynchronize(st);
        cuMemPoolDestroy(m);
        close(fd);
    }
    CASE("share-garbage-with-child")
    {
        CUmemoryPool m = pmake(1);
        CUmemPoolPtrExportData x;
        memset(&x, 0x11, sizeof x);
        int fd = -1;
        MUST(cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
        kid("pool", fd, &x, sizeof x);
        cuMemPoolDestroy(m);
        close(fd);
    }
    CASE("share-no-fd-with-child")
    {
        CUmemPoolPtrExportData x;
        memset(&x, 0, sizeof x);
        kid("pool", -1, &x, sizeof x);
    }
}
static int kid_pool(const unsigned char *blob)
{
#define P(label, r) printf("%s=%s ", label, R(r))
    probe_ctx();
    CUmemoryPool m = 0;
    CUdeviceptr p = 0, b = 0, q;
    size_t z = 0;
    CUmemPoolPtrExportData x;
    memcpy(&x, blob, sizeof x);
    CUresult r = cuMemPoolImportFromShareableHandle(&m, (void *)60l,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    P("import", r);
    if (r)
        return 0;
    uint64_t v = 0;
    for (int a = 1; a <= 8; a++) {
        v = 0;
        r = cuMemPoolGetAttribute(m, a, &v);
        printf("a%d=%s/%llx ", a, R(r), (unsigned long long)v);
    }
    P("alloc", cuMemAllocFromPoolAsync(&q, 16, m, 0));
    P("set-current", cuDeviceSetMemPool(0, m));
    int fd;
    P("re-export", cuMemPoolExportToShareableHandle(&fd, m, 1, 0));
    CUmemLocation l = {1, 0};
    CUmemAccess_flags f = 77;
    r = cuMemPoolGetAccess(&f, m, &l);
    printf("access=%s/%d ", R(r), f);
    r = cuMemPoolImportPointer(&p, m, &x);
    P("pointer", r);
    if (!r) {
        static char t[65536];
        r = cuMemGetAddressRange(&b, &z, p);
        printf("range=%s/%zu/%lld ", R(r), z, df(p, b));
        r = cuMemcpyDtoH(t, p, 65536);
        printf("read=%s/%08x ", R(r), f32(t, 65536));
        P("write", cuMemsetD8(p, 0x42, 100));
        P("sync", cuCtxSynchronize());
        CUdeviceptr again = 0;
        r = cuMemPoolImportPointer(&again, m, &x);
        printf("again=%s/%s ", R(r), again == p ? "same" : again ? "other" : "zero");
        if (!r)
            P("free-again", cuMemFree(again));
        P("free", cuMemFree(p));
        P("free-twice", cuMemFree(p));
    }
    P("trim", cuMemPoolTrimTo(m, 0));
    P("destroy", cuMemPoolDestroy(m));
    return 0;
#undef P
}

// ------------------------------------------------------------------ advice and prefetch where the
// memory is not managed
GROUP(advise)
{
    probe_ctx();
    CUdeviceptr d = dal(2 << 20);
    void *h;
    MUST(cuMemAllocHost(&h, 65536));
    MUST(cuMemHostRegister(hbuf, 65536, 0));
    CUstream st;
    MUST(cuStreamCreate(&st, CU_STREAM_NON_BLOCKING));
    CUdeviceptr pl;
    MUST(cuMemAllocAsync(&pl, 65536, 0));
    MUST(cuStreamSynchronize(0));
    struct {
        const char *n;
        CUdeviceptr p;
    } k[] = {{"device", d},
             {"pinned", (CUdeviceptr)h},
             {"registered", (CUdeviceptr)hbuf},
             {"pageable", (CUdeviceptr)hbuf2},
             {"pool", pl},
             {"unknown", 0x1000},
             {"null", 0}};
    for (int i = 0; i < N(k); i++)
        CASE("advise-%s", k[i].n) for (int a = 0; a <= 7; a++) for (int t = 0; t <= 5; t++)
        {
            if (!t)
                OUT("%s[%d]", sep(), a);
            CUmemLocation l = {t, 0};
            OUT("%s%d:", sep(), t);
            OUT("%s", R(cuMemAdvise(k[i].p, 4096, a, l)));
        }
    for (int i = 0; i < N(k); i++)
        CASE("advise-v1-%s", k[i].n) for (int a = 1; a <= 6; a++)
        {
            L("dev0", one_MemAdvise(k[i].p, 4096, a, 0));
            L("cpu", one_MemAdvise(k[i].p, 4096, a, -1));
            L("dev99", one_MemAdvise(k[i].p, 4096, a, 99));
        }
    CASE("advise-sizes")
    {
        CUmemLocation l = {1, 0}, b = {1, 99};
        L("0", cuMemAdvise(d, 0, 1, l));
        L("huge", cuMemAdvise(d, SIZE_MAX, 1, l));
        L("null-0", cuMemAdvise(0, 0, 1, l));
        L("baddev", cuMemAdvise(d, 4096, 3, b));
        L("baddev-null", cuMemAdvise(0, 0, 3, b));
        L("badadvice-baddev", cuMemAdvise(d, 4096, 99, b));
        L("readmostly-baddev", cuMemAdvise(d, 4096, 1, b));
    }
    for (int i = 0; i < N(k); i++)
        CASE("prefetch-%s", k[i].n)
        {
            for (int t = 0; t <= 5; t++) {
                CUmemLocation l = {t, 0};
                OUT("%s%d:", sep(), t);
                OUT("%s", R(cuMemPrefetchAsync(k[i].p, 4096, l, 0, st)));
            }
            L("v1", one_MemPrefetchAsync(k[i].p, 4096, 0, st));
            L("v1-cpu", one_MemPrefetchAsync(k[i].p, 4096, -1, st));
        }
    CASE("prefetch-args")
    {
        CUmemLocation l = {1, 0}, b = {1, 99};
        L("size0", cuMemPrefetchAsync(d, 0, l, 0, st));
        L("flags1", cuMemPrefetchAsync(d, 4096, l, 1, st));
        L("baddev", cuMemPrefetchAsync(d, 4096, b, 0, st));
        L("baddev-flags1", cuMemPrefetchAsync(d, 4096, b, 1, st));
        L("null-0", cuMemPrefetchAsync(0, 0, l, 0, st));
        L("stream0", cuMemPrefetchAsync(d, 4096, l, 0, 0));
        L("past-end", cuMemPrefetchAsync(d, 64 << 20, l, 0, st));
        L("v1-dev99", one_MemPrefetchAsync(d, 4096, 99, st));
    }
    for (int i = 0; i < N(k); i++)
        CASE("batch-%s", k[i].n)
        {
            CUdeviceptr p[1] = {k[i].p};
            size_t z[1] = {4096}, x[1] = {0};
            CUmemLocation l[1] = {{1, 0}};
            L("prefetch", cuMemPrefetchBatchAsync(p, z, 1, l, x, 1, 0, st));
            L("discard", cuMemDiscardBatchAsync(p, z, 1, 0, st));
            L("both", cuMemDiscardAndPrefetchBatchAsync(p, z, 1, l, x, 1, 0, st));
        }
    CASE("batch-args")
    {
        CUdeviceptr p[2] = {d, d};
        size_t z[2] = {4096, 4096}, x[2] = {0, 1}, w[2] = {1, 0};
        CUmemLocation l[2] = {{1, 0}, {1, 0}}, b[2] = {{77, 0}, {1, 0}};
        L("count0", cuMemPrefetchBatchAsync(p, z, 0, l, x, 1, 0, st));
        L("null-ptrs", cuMemPrefetchBatchAsync(0, z, 2, l, x, 1, 0, st));
        L("null-sizes", cuMemPrefetchBatchAsync(p, 0, 2, l, x, 1, 0, st));
        L("null-locs", cuMemPrefetchBatchAsync(p, z, 2, 0, x, 1, 0, st));
        L("null-idx", cuMemPrefetchBatchAsync(p, z, 2, l, 0, 1, 0, st));
        L("locs0", cuMemPrefetchBatchAsync(p, z, 2, l, x, 0, 0, st));
        L("locs3", cuMemPrefetchBatchAsync(p, z, 2, l, x, 3, 0, st));
        L("idx-bad", cuMemPrefetchBatchAsync(p, z, 2, l, w, 2, 0, st));
        L("loc-bad", cuMemPrefetchBatchAsync(p, z, 2, b, x, 1, 0, st));
        L("flags1", cuMemPrefetchBatchAsync(p, z, 2, l, x, 1, 1, st));
        L("stream0", cuMemPrefetchBatchAsync(p, z, 2, l, x, 1, 0, 0));
        L("discard-count0", cuMemDiscardBatchAsync(p, z, 0, 0, st));
        L("discard-null", cuMemDiscardBatchAsync(0, 0, 1, 0, st));
        L("discard-flags1", cuMemDiscardBatchAsync(p, z, 1, 1, st));
        L("discard-stream0", cuMemDiscardBatchAsync(p, z, 1, 0, 0));
        L("both-count0", cuMemDiscardAndPrefetchBatchAsync(p, z, 0, l, x, 1, 0, st));
        L("both-stream0", cuMemDiscardAndPrefetchBatchAsync(p, z, 1, l, x, 1, 0, 0));
    }
    for (int i = 0; i < N(k); i++)
        CASE("range-attr-%s", k[i].n) for (int a = 0; a <= 9; a++)
        {
            int v[4] = {77, 77, 77, 77};
            CUresult r = cuMemRangeGetAttribute(v, 4, a, k[i].p, 4096);
            OUT("%s%d:%s/%d", sep(), a, R(r), v[0]);
        }
    CASE("range-attr-args")
    {
        int v[4];
        L("null-data", cuMemRangeGetAttribute(0, 4, 1, d, 4096));
        L("size0", cuMemRangeGetAttribute(v, 0, 1, d, 4096));
        L("size3", cuMemRangeGetAttribute(v, 3, 1, d, 4096));
        L("size8", cuMemRangeGetAttribute(v, 8, 1, d, 4096));
        L("count0", cuMemRangeGetAttribute(v, 4, 1, d, 0));
        L("accessed-by-size6", cuMemRangeGetAttribute(v, 6, 3, d, 4096));
        void *q[2] = {v, v + 1};
        size_t z[2] = {4, 4};
        CUmem_range_attribute a[2] = {1, 2}, b[2] = {1, 99};
        L("list", cuMemRangeGetAttributes(q, z, a, 2, d, 4096));
        L("list-0", cuMemRangeGetAttributes(q, z, a, 0, d, 4096));
        L("list-bad", cuMemRangeGetAttributes(q, z, b, 2, d, 4096));
        L("list-null", cuMemRangeGetAttributes(0, 0, 0, 2, d, 4096));
    }
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
        int r = kid_pool(blob);
        fflush(stdout);
        _exit(r);
    }
    if (argc > 1)
        probe_only = argv[1];
    RUN(uninit);
    RUN(init);
    RUN(noctx);
    RUN(errors);
    RUN(device);
    RUN(primary);
    RUN(ctx);
    RUN(ctxset);
    RUN(alloc);
    RUN(host);
    RUN(ptrattr);
    RUN(memset);
    RUN(copy1d);
    RUN(copy2d);
    RUN(copy2du);
    RUN(copy2da);
    RUN(copy3d);
    RUN(copy3da);
    RUN(copy3dp);
    RUN(copyarray);
    RUN(batch);
    RUN(pool);
    RUN(advise);
    return 0;
}
