// SPDX-License-Identifier: MIT
// Streams, events, host functions, capture, memory operations, graphs, ordering; error names,
// cuGetProcAddress, export tables, occupancy, function attributes. Work is held back by a gate: a
// cuStreamWaitValue32 on host memory, opened by the case (or by a watchdog after 6 seconds, which
// the line then says), so nothing spins on the device.
//   x_streams            run everything          PROBE_ONLY=group x_streams    one group
#include "probe.h"
#include <cudaProfiler.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#undef cuGetProcAddress
extern CUresult getproc1(const char *, void **, int, cuuint64_t) __asm__("cuGetProcAddress");
extern CUresult elapsed1(float *, CUevent, CUevent) __asm__("cuEventElapsedTime");
extern CUresult beginv1(CUstream) __asm__("cuStreamBeginCapture");
extern CUresult capinfo1(CUstream, CUstreamCaptureStatus *,
                         cuuint64_t *) __asm__("cuStreamGetCaptureInfo");
extern CUresult capinfo2(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                         const CUgraphNode **, size_t *) __asm__("cuStreamGetCaptureInfo_v2");
extern CUresult instv1(CUgraphExec *, CUgraph, CUgraphNode *, char *,
                       size_t) __asm__("cuGraphInstantiate");
extern CUresult updatev1(CUgraphExec, CUgraph, CUgraphNode *,
                         CUgraphExecUpdateResult *) __asm__("cuGraphExecUpdate");
extern CUresult edgesv1(CUgraph, CUgraphNode *, CUgraphNode *, size_t *) __asm__("cuGraphGetEdges");
extern CUresult adddepv1(CUgraph, const CUgraphNode *, const CUgraphNode *,
                         size_t) __asm__("cuGraphAddDependencies");
extern CUresult wait32v1(CUstream, CUdeviceptr, cuuint32_t,
                         unsigned) __asm__("cuStreamWaitValue32");
extern CUresult write32v1(CUstream, CUdeviceptr, cuuint32_t,
                          unsigned) __asm__("cuStreamWriteValue32");
#define W(name, call)                                                                              \
    do {                                                                                           \
        CUresult w_ = (call);                                                                      \
        do {                                                                                       \
            OUT("%s", *probe_st->line ? "; " : "");                                                \
            OUT("%s", name);                                                                       \
            OUT(" %s", R(w_));                                                                     \
        } while (0);                                                                               \
    } while (0)
#define Q(name, call) CASE(name) OUT("%s", R(call))
#define EACH(v, ...) for (const int *v = (const int[]){__VA_ARGS__, -99}; *v != -99; v++)
#define NC(t, ...)                                                                                 \
    (const t[])                                                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static CUcontext cx;
static CUdevice dv;
static CUmodule mod;
static CUfunction f_nop, f_add, f_set, f_sh;
static CUdeviceptr dm;
static unsigned char *hm;
static CUdeviceptr hd;
static const char *PTX =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry nop()\n{\nret;\n}\n"
    ".visible .entry add(.param .u64 p,.param .u32 v)\n{\n.reg .b64 %x;\n.reg .b32 "
    "%r;\nld.param.u64 %x,[p];\nld.param.u32 %r,[v];\nred.global.add.u32 [%x],%r;\nret;\n}\n"
    ".visible .entry set(.param .u64 p,.param .u32 v)\n{\n.reg .b64 %x;\n.reg .b32 "
    "%r;\nld.param.u64 %x,[p];\nld.param.u32 %r,[v];\nst.global.u32 [%x],%r;\nret;\n}\n"
    ".visible .entry sh(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r;\n.shared .align 4 .b8 "
    "s[1000];\nld.param.u64 %x,[p];\nmov.u32 %r,%tid.x;\nst.shared.u32 [s+4],%r;\nbar.sync "
    "0;\nld.shared.u32 %r,[s+4];\nst.global.u32 [%x],%r;\nret;\n}\n";
// ---- gate ----
static volatile uint32_t *gh;
static CUdeviceptr gd;
static volatile uint32_t gseq;
static volatile int gdog;
static void *watchdog(void *z)
{
    (void)z;
    uint32_t seen = 0;
    int n = 0;
    for (;;) {
        usleep(100000);
        if (*gh == gseq) {
            n = 0;
            seen = gseq;
            continue;
        }
        if (seen != gseq) {
            seen = gseq;
            n = 0;
        }
        if (++n > 60) {
            gdog = 1;
            *gh = gseq;
            n = 0;
        }
    }
    return 0;
}
static CUresult gate(CUstream s)
{
    gdog = 0;
    return cuStreamWaitValue32(s, gd, ++gseq, CU_STREAM_WAIT_VALUE_GEQ);
}
static void gopen(void)
{
    if (gdog)
        OUT(" (watchdog)");
    *gh = gseq;
}
static void S(void)
{
    cx = probe_ctx();
    MUST(cuDeviceGet(&dv, 0));
    MUST(cuMemHostAlloc((void **)&hm, 65536, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    MUST(cuMemHostGetDevicePointer(&hd, hm, 0));
    memset(hm, 0, 65536);
    gh = (void *)(hm + 65000 / 8 * 8);
    gd = hd + 65000 / 8 * 8;
    *gh = gseq = 0;
    MUST(cuMemAlloc(&dm, 65536));
    MUST(cuMemsetD8(dm, 0, 65536));
    if (!cuModuleLoadData(
            &mod, PTX)) { // without PTX the cases that launch kernels differ, the others still run
        MUST(cuModuleGetFunction(&f_nop, mod, "nop"));
        MUST(cuModuleGetFunction(&f_add, mod, "add"));
        MUST(cuModuleGetFunction(&f_set, mod, "set"));
        MUST(cuModuleGetFunction(&f_sh, mod, "sh"));
    }
    pthread_t t;
    pthread_create(&t, 0, watchdog, 0);
}
static CUstream mk(unsigned fl)
{
    CUstream s;
    MUST(cuStreamCreate(&s, fl));
    return s;
}
static CUevent mkev(unsigned fl)
{
    CUevent e;
    MUST(cuEventCreate(&e, fl));
    return e;
}
// ---- log of host functions ----
static int lg[256];
static volatile int nlg;
static void CUDA_CB L(void *p)
{
    int i = __sync_fetch_and_add(&nlg, 1);
    if (i < 256)
        lg[i] = (int)(intptr_t)p;
}
static void put(CUstream s, int v)
{
    CUresult r = cuLaunchHostFunc(s, L, (void *)(intptr_t)v);
    if (r)
        OUT("hostfunc %s ", R(r));
}
static void show(void)
{
    OUT("[");
    for (int i = 0; i < nlg && i < 256; i++)
        OUT("%s%d", i ? " " : "", lg[i]);
    OUT("]");
}
static void clr(void)
{
    nlg = 0;
}
static CUresult add(CUstream s, unsigned off, unsigned v)
{
    CUdeviceptr p = dm + off;
    void *a[] = {&p, &v};
    return cuLaunchKernel(f_add, 1, 1, 1, 1, 1, 1, 0, s, a, 0);
}
static CUresult set(CUstream s, unsigned off, unsigned v)
{
    CUdeviceptr p = dm + off;
    void *a[] = {&p, &v};
    return cuLaunchKernel(f_set, 1, 1, 1, 1, 1, 1, 0, s, a, 0);
}
static unsigned rd(unsigned off)
{
    unsigned v = 0xdead;
    CUresult r = cuMemcpyDtoH(&v, dm + off, 4);
    if (r)
        OUT("read %s ", R(r));
    return v;
}
static CUstream SN(int i)
{
    return i == 0 ? NULL : i == 1 ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
}
static const char *sn[] = {"null", "legacy", "per-thread"};

// ---- names ----
GROUP(errors)
{
    for (int b = 0; b <= 1000; b += 100)
        CASE("codes-from-%d", b)
        {
            int bad = 0, badnull = 0, diff = 0;
            for (int c = b; c < b + 100 && c <= 1000; c++) {
                const char *n = (void *)1, *s = (void *)1;
                CUresult a = cuGetErrorName(c, &n), d = cuGetErrorString(c, &s);
                if (a != d)
                    diff++;
                if (a) {
                    bad++;
                    if (!n && !s)
                        badnull++;
                } else
                    OUT("%d %s: %s; ", c, n, s);
            }
            OUT("unknown %d, pointers nulled %d, name and string disagree %d", bad, badnull, diff);
        }
    CASE("unknown-result")
    {
        const char *n = (void *)1;
        CUresult r = cuGetErrorName(12345, &n);
        OUT("%d null %d", r, n == 0);
        n = (void *)1;
        r = cuGetErrorString(-1, &n);
        OUT(" %d null %d", r, n == 0);
        n = (void *)1;
        r = cuGetErrorString(998, &n);
        OUT(" %d null %d", r, n == 0);
    }
    CASE("null-pointer") do
    {
        OUT("%d", cuGetErrorName(0, 0));
        OUT(" %d", cuGetErrorString(0, 0));
    }
    while (0)
        ;
    CASE("null-pointer-unknown-code") do
    {
        OUT("%d", cuGetErrorName(12345, 0));
        OUT(" %d", cuGetErrorString(12345, 0));
    }
    while (0)
        ;
}
GROUP(version)
{
    CASE("before-init")
    {
        W("null", cuDriverGetVersion(0));
        int v = -1;
        CUresult r = cuDriverGetVersion(&v);
        do {
            OUT("%s", R(r));
            OUT(" %d", v);
        } while (0);
    }
    CASE("init")
    {
        W("flags 1", cuInit(1));
        W("all flags", cuInit(~0u));
        W("init", cuInit(0));
        W("again", cuInit(0));
        W("flags 1", cuInit(1));
    }
    cuInit(0);
    CASE("after-init")
    {
        int v = -1;
        CUresult r = cuDriverGetVersion(&v);
        do {
            OUT("%s", R(r));
            OUT(" %d", v);
        } while (0);
    }
    Q("null-after-init", cuDriverGetVersion(0));
}

static const char *PSYM[] = {"cuInit",
                             "cuGetErrorString",
                             "cuDriverGetVersion",
                             "cuDeviceGet",
                             "cuDeviceGetUuid",
                             "cuDeviceGetLuid",
                             "cuDeviceTotalMem",
                             "cuDeviceGetAttribute",
                             "cuDevicePrimaryCtxRelease",
                             "cuDevicePrimaryCtxSetFlags",
                             "cuCtxCreate",
                             "cuCtxDestroy",
                             "cuCtxGetDevice",
                             "cuCtxSynchronize",
                             "cuCtxRecordEvent",
                             "cuCtxAttach",
                             "cuCtxGetSharedMemConfig",
                             "cuModuleLoadDataEx",
                             "cuModuleGetGlobal",
                             "cuModuleGetFunctionCount",
                             "cuModuleGetTexRef",
                             "cuModuleGetLoadingMode",
                             "cuLinkCreate",
                             "cuLinkAddData",
                             "cuLibraryLoadData",
                             "cuLibraryGetKernelCount",
                             "cuKernelGetName",
                             "cuKernelGetParamInfo",
                             "cuMemAlloc",
                             "cuMemAllocPitch",
                             "cuMemGetAddressRange",
                             "cuMemAllocHost",
                             "cuMemHostGetDevicePointer",
                             "cuMemHostRegister",
                             "cuMemAllocManaged",
                             "cuMemcpy",
                             "cuMemcpyHtoD",
                             "cuMemcpyDtoHAsync",
                             "cuMemcpy2D",
                             "cuMemcpy3D",
                             "cuMemcpyBatchAsync",
                             "cuMemcpy3DBatchAsync",
                             "cuMemsetD8",
                             "cuMemsetD32Async",
                             "cuMemAllocAsync",
                             "cuMemAdvise",
                             "cuMemPrefetchAsync",
                             "cuMemCreate",
                             "cuMulticastCreate",
                             "cuArrayCreate",
                             "cuPointerGetAttribute",
                             "cuStreamCreateWithPriority",
                             "cuStreamDestroy",
                             "cuStreamQuery",
                             "cuStreamAddCallback",
                             "cuStreamBeginCapture",
                             "cuStreamIsCapturing",
                             "cuStreamGetCaptureInfo",
                             "cuStreamUpdateCaptureDependencies",
                             "cuStreamGetId",
                             "cuStreamGetCtx",
                             "cuStreamWaitValue32",
                             "cuStreamWriteValue64",
                             "cuStreamBatchMemOp",
                             "cuEventRecord",
                             "cuEventRecordWithFlags",
                             "cuEventElapsedTime",
                             "cuFuncGetName",
                             "cuFuncGetParamInfo",
                             "cuFuncSetBlockShape",
                             "cuLaunchKernel",
                             "cuLaunchKernelEx",
                             "cuLaunchCooperativeKernel",
                             "cuLaunchCooperativeKernelMultiDevice",
                             "cuLaunchHostFunc",
                             "cuLaunch",
                             "cuGraphAddKernelNode",
                             "cuGraphAddNode",
                             "cuGraphInstantiate",
                             "cuGraphInstantiateWithFlags",
                             "cuGraphInstantiateWithParams",
                             "cuGraphExecUpdate",
                             "cuGraphLaunch",
                             "cuGraphGetEdges",
                             "cuGraphKernelNodeGetParams",
                             "cuGraphConditionalHandleCreate",
                             "cuTexObjectCreate",
                             "cuTexRefSetAddress2D",
                             "cuGetProcAddress",
                             "cuGetExportTable",
                             "cuOccupancyMaxPotentialBlockSize",
                             "cuGreenCtxCreate",
                             "cuTensorMapEncodeTiled",
                             "cuCoredumpGetAttribute",
                             "cuLogsRegisterCallback",
                             "cuCheckpointProcessLock",
                             "cuProfilerStart",
                             "cuGLGetDevices",
                             "cuGraphicsGLRegisterBuffer",
                             "cuEGLStreamConsumerConnect",
                             "cuIpcOpenMemHandle",
                             "cuMemGetDefaultMemPool",
                             "cuDeviceGetUuid_v2",
                             "cuMemAlloc_v2",
                             "cuMemAlloc_v3",
                             "cuGetProcAddress_v2",
                             "cuCtxCreate_v4",
                             "cuStreamQuery_ptsz",
                             "cuMemcpyHtoD_v2_ptds",
                             "cuNoSuchThing",
                             "cuFuture",
                             "cudaMalloc",
                             "cudbgGetAPI",
                             "",
                             "cu",
                             "cuinit",
                             "CUINIT",
                             " cuInit",
                             "cuInit "};
static const int PVER[] = {0,     1,     1000,  2000,  2010,  2020,  2030,  3000,  3010,   3020,
                           4000,  4010,  4020,  5000,  5050,  6000,  6050,  7000,  7050,   8000,
                           9000,  9010,  9020,  10000, 10010, 10020, 11000, 11010, 11020,  11030,
                           11040, 11050, 11060, 11070, 11080, 12000, 12010, 12020, 12030,  12040,
                           12050, 12060, 12080, 12090, 13000, 13010, 14000, 99000, INT_MAX};
static void pname(const char *sym, void *p, char *o, void **seen, int *ns)
{
    static const char *sf[] = {"",         "_v2",      "_v3",      "_v4",      "_ptsz",   "_ptds",
                               "_v2_ptsz", "_v2_ptds", "_v3_ptsz", "_v3_ptds", "_v4_ptsz"};
    char b[200];
    if (p == (void *)0x5a) {
        strcpy(o, "untouched");
        return;
    }
    if (!p) {
        strcpy(o, "null");
        return;
    }
    for (unsigned i = 0; i < sizeof sf / sizeof *sf; i++) {
        snprintf(b, sizeof b, "%s%s", sym, sf[i]);
        void *q = dlsym(RTLD_DEFAULT, b);
        if (q && q == p) {
            sprintf(o, "%s", i ? sf[i] : "base");
            return;
        }
    }
    int k;
    for (k = 0; k < *ns; k++)
        if (seen[k] == p)
            break;
    if (k == *ns && *ns < 15)
        seen[(*ns)++] = p;
    sprintf(o, "other%d", k);
}
static void procs(int which, const char *sym, cuuint64_t fl)
{
    char last[80] = "", cur[80], o[60];
    int from = 0, prev = 0;
    void *seen[16];
    int ns = 0;
    for (unsigned i = 0; i <= sizeof PVER / sizeof *PVER; i++) {
        if (i < sizeof PVER / sizeof *PVER) {
            void *p = (void *)0x5a;
            CUdriverProcAddressQueryResult st = 77;
            CUresult r = which == 1 ? getproc1(sym, &p, PVER[i], fl)
                                    : cuGetProcAddress_v2(sym, &p, PVER[i], fl, &st);
            pname(sym, p, o, seen, &ns);
            if (which == 1)
                snprintf(cur, sizeof cur, "%s/%s", R(r), o);
            else
                snprintf(cur, sizeof cur, "%s/%d/%s", R(r), (int)st, o);
        } else
            cur[0] = 0;
        if (strcmp(cur, last)) {
            if (last[0])
                OUT("%d-%d:%s; ", from, prev, last);
            strcpy(last, cur);
            from = i < sizeof PVER / sizeof *PVER ? PVER[i] : 0;
        }
        prev = i < sizeof PVER / sizeof *PVER ? PVER[i] : 0;
    }
}
GROUP(procaddress)
{
    CASE("before-init")
    {
        procs(2, "cuInit", 0);
        procs(2, "cuMemAlloc", 0);
    }
    cuInit(0);
    for (unsigned g = 0; g < sizeof PSYM / sizeof *PSYM; g += 3)
        CASE("v2-\"%s\"-and-next", PSYM[g])
        for (unsigned i = g; i < g + 3 && i < sizeof PSYM / sizeof *PSYM; i++)
        {
            OUT("%s\"%s\" ", i > g ? " || " : "", PSYM[i]);
            procs(2, PSYM[i], 0);
            OUT("| legacy ");
            procs(2, PSYM[i], CU_GET_PROC_ADDRESS_LEGACY_STREAM);
            OUT("| per-thread ");
            procs(2, PSYM[i], CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
        }
    static const char *v1[] = {"cuInit",
                               "cuMemAlloc",
                               "cuMemcpyHtoD",
                               "cuStreamQuery",
                               "cuLaunchKernel",
                               "cuGraphInstantiate",
                               "cuCtxAttach",
                               "cuNoSuchThing",
                               "",
                               0};
    for (int i = 0; v1[i]; i++)
        CASE("v1-\"%s\"", v1[i])
        {
            procs(1, v1[i], 0);
            OUT("| per-thread ");
            procs(1, v1[i], CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
        }
    void *p;
    CUdriverProcAddressQueryResult st;
    for (unsigned fl = 3; fl <= 16; fl++)
        if (fl < 6 || !(fl & (fl - 1)))
            CASE("flags-%u", fl)
            {
                p = (void *)0x5a;
                st = 77;
                CUresult r = cuGetProcAddress_v2("cuStreamQuery", &p, 13000, fl, &st);
                do {
                    OUT("%s", R(r));
                    OUT(" status %d", (int)st);
                    OUT(" %s; v1 ", !p ? "null" : p == (void *)0x5a ? "untouched" : "set");
                } while (0);
                p = (void *)0x5a;
                r = getproc1("cuStreamQuery", &p, 13000, fl);
                do {
                    OUT("%s", R(r));
                    OUT(" %s", !p ? "null" : p == (void *)0x5a ? "untouched" : "set");
                } while (0);
            }
    CASE("flags-64-bit")
    {
        p = (void *)0x5a;
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuInit", &p, 13000, 1ull << 32, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("null-symbol")
    {
        p = (void *)0x5a;
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2(0, &p, 13000, 0, &st)));
        do {
            OUT(" status %d", (int)st);
            OUT(" %d", p == 0);
            OUT("; v1 %s", R(getproc1(0, &p, 13000, 0)));
        } while (0);
    }
    CASE("null-pfn")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuInit", 0, 13000, 0, &st)));
        do {
            OUT(" status %d", (int)st);
            OUT("; v1 %s", R(getproc1("cuInit", 0, 13000, 0)));
        } while (0);
    }
    CASE("null-status")
    {
        p = 0;
        OUT("%s", R(cuGetProcAddress_v2("cuInit", &p, 13000, 0, 0)));
        do {
            OUT(" set %d", p != 0);
            OUT("; unknown %s", R(cuGetProcAddress_v2("cuNoSuch", &p, 13000, 0, 0)));
        } while (0);
        OUT(" null %d", p == 0);
    }
    CASE("null-pfn-unknown-symbol")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuNoSuch", 0, 13000, 0, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("null-symbol-bad-flags")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2(0, &p, 13000, 64, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("unknown-symbol-bad-flags")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuNoSuch", &p, 13000, 64, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("negative-version")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuInit", &p, -1, 0, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("unknown-at-version-0")
    {
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2("cuNoSuch", &p, 0, 0, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("long-name")
    {
        static char n[5000];
        memset(n, 'a', 4999);
        st = 77;
        OUT("%s", R(cuGetProcAddress_v2(n, &p, 13000, 0, &st)));
        OUT(" status %d", (int)st);
    }
    CASE("callable")
    {
        p = 0;
        cuGetProcAddress_v2("cuDriverGetVersion", &p, 13000, 0, 0);
        int v = 0;
        CUresult r = p ? ((CUresult(*)(int *))p)(&v) : 999;
        do {
            OUT("%s", R(r));
            OUT(" %d", v);
        } while (0);
    }
}

GROUP(exporttable)
{
    const void *t;
    static const unsigned char ids[][16] = {{0},
                                            {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                             0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                            {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89,
                                             0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
                                            {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93,
                                             0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
                                            {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82,
                                             0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
                                            {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8,
                                             0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
                                            {0x0c, 0xa5, 0x0b, 0x8c, 0x10, 0x04, 0x92, 0x9a, 0x89,
                                             0xa7, 0xd0, 0xdf, 0x10, 0xe7, 0x72, 0x86},
                                            {0x19, 0x5b, 0xcb, 0xf4, 0xd6, 0x7d, 0x02, 0x4a, 0xac,
                                             0xc5, 0x1d, 0x29, 0xce, 0xa6, 0x31, 0xae},
                                            {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d,
                                             0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
                                            {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82,
                                             0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdd}};
    for (int ini = 0; ini < 2; ini++) {
        if (ini)
            cuInit(0);
        CASE("%s", ini ? "after-init" : "before-init")
        for (unsigned i = 0; i < sizeof ids / 16; i++)
        {
            t = (void *)0x5a;
            CUresult r = cuGetExportTable(&t, (const CUuuid *)ids[i]);
            do {
                OUT("%u", i);
                OUT(":%s", R(r));
                OUT(" %s; ", !t ? "null" : t == (void *)0x5a ? "untouched" : "set");
            } while (0);
        }
    }
    Q("null-table", cuGetExportTable(0, (const CUuuid *)ids[0]));
    Q("null-table-known-id", cuGetExportTable(0, (const CUuuid *)ids[2]));
    CASE("null-id")
    {
        t = (void *)0x5a;
        do {
            OUT("%s", R(cuGetExportTable(&t, 0)));
            OUT(" %d", t == (void *)0x5a);
        } while (0);
    }
    Q("null-both", cuGetExportTable(0, 0));
}

// ---- every entry point without cuInit, without a context, with a destroyed context ----
static void CUDA_CB nothing(void *z)
{
    (void)z;
}
static void CUDA_CB scb(CUstream s, CUresult r, void *z)
{
    (void)s;
    (void)r;
    (void)z;
}
static void apis(void)
{
    CUstream s;
    CUevent e;
    CUcontext c;
    CUdevice d;
    CUmodule m;
    CUgraph g;
    CUdeviceptr p;
    void *h;
    int i = 0;
    unsigned u;
    unsigned long long q;
    size_t z;
    float ms;
    CUstreamCaptureStatus cs;
    CUstreamAttrValue av;
    memset(&av, 0, sizeof av);
    CUarray a;
    CUDA_ARRAY_DESCRIPTOR ad = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    char b[64];
    CUuuid uu;
    CUlimit lim = 0;
    CUmemoryPool mp;
    CUlinkState ls;
    CUlibrary lib;
    CUuserObject uo;
    CUDA_RESOURCE_DESC rd_;
    memset(&rd_, 0, sizeof rd_);
    CUtexObject to;
    CASE("device")
    {
        W("cuDeviceGet", cuDeviceGet(&d, 0));
        W("cuDeviceGetCount", cuDeviceGetCount(&i));
        W("cuDeviceGetName", cuDeviceGetName(b, 64, 0));
        W("cuDeviceGetUuid", cuDeviceGetUuid(&uu, 0));
        W("cuDeviceGetAttribute", cuDeviceGetAttribute(&i, 1, 0));
        W("cuDeviceTotalMem", cuDeviceTotalMem(&z, 0));
        W("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState(0, &u, &i));
        W("cuDeviceCanAccessPeer", cuDeviceCanAccessPeer(&i, 0, 0));
        W("cuDeviceGetP2PAttribute", cuDeviceGetP2PAttribute(&i, 1, 0, 0));
        W("cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool(&mp, 0));
        W("cuDeviceGetPCIBusId-length-1", cuDeviceGetPCIBusId(b, 1, 0));
    }
    CASE("context")
    {
        W("cuCtxGetCurrent", cuCtxGetCurrent(&c));
        W("cuCtxGetDevice", cuCtxGetDevice(&d));
        W("cuCtxGetFlags", cuCtxGetFlags(&u));
        W("cuCtxSetFlags", cuCtxSetFlags(0));
        W("cuCtxGetId-null", cuCtxGetId(0, &q));
        W("cuCtxGetApiVersion-null", cuCtxGetApiVersion(0, &u));
        W("cuCtxSynchronize", cuCtxSynchronize());
        W("cuCtxGetLimit", cuCtxGetLimit(&z, lim));
        W("cuCtxSetLimit", cuCtxSetLimit(lim, 1024));
        W("cuCtxGetCacheConfig", cuCtxGetCacheConfig((void *)&u));
        W("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange(&i, &i));
        W("cuCtxResetPersistingL2Cache", cuCtxResetPersistingL2Cache());
        W("cuCtxPopCurrent-none", (c = 0, cuCtxGetCurrent(&c), c ? 0 : cuCtxPopCurrent(&c)));
    }
    CASE("module")
    {
        W("cuModuleLoadData", cuModuleLoadData(&m, PTX));
        W("cuModuleLoadData-null", cuModuleLoadData(&m, 0));
        W("cuModuleUnload-null", cuModuleUnload(0));
        W("cuModuleGetFunction-null", cuModuleGetFunction(&f_nop, 0, "x"));
        W("cuLinkCreate", cuLinkCreate(0, 0, 0, &ls));
        W("cuLibraryLoadData", cuLibraryLoadData(&lib, PTX, 0, 0, 0, 0, 0, 0));
    }
    CASE("memory-1")
    {
        W("cuMemGetInfo", cuMemGetInfo(&z, &z));
        W("cuMemFree-null", cuMemFree(0));
        W("cuMemFree-bad", cuMemFree(0x1000));
        W("cuMemHostAlloc", cuMemHostAlloc(&h, 64, 0));
        W("cuMemFreeHost-null", cuMemFreeHost(0));
        W("cuMemHostRegister-null", cuMemHostRegister(0, 64, 0));
        W("cuMemcpyHtoD", cuMemcpyHtoD(0x1000, b, 4));
        W("cuMemcpyHtoD-zero", cuMemcpyHtoD(0, 0, 0));
        W("cuMemcpyDtoH", cuMemcpyDtoH(b, 0x1000, 4));
        W("cuMemcpy", cuMemcpy((CUdeviceptr)b, (CUdeviceptr)b, 4));
        W("cuMemsetD8", cuMemsetD8(0x1000, 0, 4));
        W("cuMemsetD8-zero", cuMemsetD8(0, 0, 0));
        W("cuPointerGetAttribute",
          cuPointerGetAttribute(&i, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1000));
        W("cuArrayCreate", cuArrayCreate(&a, &ad));
    }
    CASE("memory-2")
    {
        W("cuTexObjectCreate-empty", cuTexObjectCreate(&to, &rd_, 0, 0));
        W("cuMemGetAllocationGranularity-null", cuMemGetAllocationGranularity(0, 0, 0));
        W("cuMemAddressReserve-zero", cuMemAddressReserve(&p, 0, 0, 0, 0));
    }
    CASE("allocate")
    {
        W("cuMemAlloc", cuMemAlloc(&p, 256));
        W("cuMemAlloc-zero", cuMemAlloc(&p, 0));
        W("cuMemAlloc-null", cuMemAlloc(0, 256));
        W("cuMemAllocHost", cuMemAllocHost(&h, 64));
        W("cuMemAllocAsync", cuMemAllocAsync(&p, 64, 0));
    }
    CASE("stream-create")
    {
        W("cuStreamCreate", cuStreamCreate(&s, 0));
        W("cuStreamCreate-null", cuStreamCreate(0, 0));
        W("cuStreamCreate-bad-flags", cuStreamCreate(&s, 99));
        W("cuStreamCreateWithPriority", cuStreamCreateWithPriority(&s, 0, 0));
    }
    CASE("stream")
    {
        W("cuStreamGetPriority", cuStreamGetPriority(0, &i));
        W("cuStreamGetCtx", cuStreamGetCtx(0, &c));
        W("cuStreamGetId", cuStreamGetId(0, &q));
        W("cuStreamGetDevice", cuStreamGetDevice(0, &d));
        W("cuStreamGetAttribute", cuStreamGetAttribute(0, 1, &av));
        W("cuStreamWaitEvent-null", cuStreamWaitEvent(0, 0, 0));
        W("cuStreamAddCallback", cuStreamAddCallback(0, scb, 0, 0));
        W("cuStreamBeginCapture-null", cuStreamBeginCapture(0, 0));
        W("cuStreamWaitValue32", cuStreamWaitValue32(0, 0x1000, 0, 0));
        W("cuStreamWriteValue32", cuStreamWriteValue32(0, 0x1000, 0, 0));
        W("cuThreadExchangeStreamCaptureMode",
          (cs = 0, cuThreadExchangeStreamCaptureMode((void *)&cs)));
    }
    CASE("event")
    {
        W("cuEventCreate", cuEventCreate(&e, 0));
        W("cuEventCreate-bad-flags", cuEventCreate(&e, 99));
        W("cuEventCreate-null", cuEventCreate(0, 0));
        W("cuEventRecord-null", cuEventRecord(0, 0));
        W("cuEventQuery-null", cuEventQuery(0));
        W("cuEventSynchronize-null", cuEventSynchronize(0));
        W("cuEventDestroy-null", cuEventDestroy(0));
        W("cuEventElapsedTime-null", cuEventElapsedTime(&ms, 0, 0));
    }
    CASE("launch")
    {
        W("cuLaunchKernel-null", cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
        W("cuLaunchKernel-null-zero-grid", cuLaunchKernel(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        W("cuFuncGetAttribute-null", cuFuncGetAttribute(&i, 0, 0));
        W("cuOccupancy-null", cuOccupancyMaxActiveBlocksPerMultiprocessor(&i, 0, 32, 0));
    }
    CASE("graph")
    {
        W("cuGraphCreate", cuGraphCreate(&g, 0));
        W("cuGraphCreate-flags", cuGraphCreate(&g, 1));
        W("cuGraphDestroy-null", cuGraphDestroy(0));
        W("cuGraphLaunch-null", cuGraphLaunch(0, 0));
        W("cuGraphInstantiate-null", cuGraphInstantiate(0, 0, 0));
        W("cuUserObjectCreate",
          cuUserObjectCreate(&uo, 0, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    }
    CASE("profiler")
    {
        W("cuProfilerStart", cuProfilerStart());
        W("cuProfilerStop", cuProfilerStop());
        W("cuProfilerInitialize", cuProfilerInitialize(0, 0, CU_OUT_KEY_VALUE_PAIR));
    }
    for (int k = 0; k < 3; k++)
        CASE("stream-%s", sn[k])
        {
            CUstream t = SN(k);
            W("query", cuStreamQuery(t));
            W("synchronize", cuStreamSynchronize(t));
            W("destroy", cuStreamDestroy(t));
            W("flags", cuStreamGetFlags(t, &u));
            W("capturing", cuStreamIsCapturing(t, &cs));
            W("hostfunc", cuLaunchHostFunc(t, nothing, 0));
        }
}
GROUP(no_init)
{
    apis();
}
GROUP(no_context)
{
    cuInit(0);
    apis();
}
static void *killer(void *c)
{
    cuCtxDestroy(c);
    return 0;
}
GROUP(destroyed_context)
{
    cuInit(0);
    CUcontext c;
    MUST(cuCtxCreate(&c, 0, 0, 0));
    pthread_t t;
    pthread_create(&t, 0, killer, c);
    pthread_join(t, 0);
    apis();
}
// ---- streams ----
static const unsigned SFL[] = {0, 1, 2, 3, 4, 8, 0x10, 0x80000000u, 0xffffffffu};
GROUP(stream_create)
{
    S();
    CUstream s;
    int p, lo, hi;
    unsigned fl;
    for (unsigned i = 0; i < 9; i++) {
        CASE("flags-0x%x", SFL[i])
        {
            s = (CUstream)0x5a;
            CUresult r = cuStreamCreate(&s, SFL[i]);
            OUT("%s", R(r));
            if (!r) {
                OUT(" flags %s", R(cuStreamGetFlags(s, &fl)));
                do {
                    OUT("=%u", fl);
                    OUT(" prio %s", R(cuStreamGetPriority(s, &p)));
                } while (0);
                do {
                    OUT("=%d", p);
                    OUT(" query %s", R(cuStreamQuery(s)));
                    OUT(" destroy %s", R(cuStreamDestroy(s)));
                } while (0);
            } else
                OUT(" untouched %d", s == (CUstream)0x5a);
        }
    }
    CASE("null-out") for (unsigned i = 0; i < 9; i++) do
    {
        OUT("0x%x", SFL[i]);
        OUT(":%s", R(cuStreamCreate(0, SFL[i])));
        OUT(" with priority %s; ", R(cuStreamCreateWithPriority(0, SFL[i], 0)));
    }
    while (0)
        ;
    static const int pr[] = {-2147483647, -100, -6, -5, -4, -1, 0, 1, 100, 2147483647};
    for (unsigned f = 0; f < 3; f++)
        CASE("priorities-flags-%u", f) for (int i = 0; i < 10; i++)
        {
            CUresult r = cuStreamCreateWithPriority(&s, f, pr[i]);
            do {
                OUT("%d", pr[i]);
                OUT(": %s", R(r));
            } while (0);
            if (!r) {
                cuStreamGetPriority(s, &p);
                cuStreamGetFlags(s, &fl);
                OUT(" priority %d flags %u; ", p, fl);
                cuStreamDestroy(s);
            } else
                OUT("; ");
        }
    CASE("priority-range")
    {
        lo = hi = 77;
        do {
            OUT("%s", R(cuCtxGetStreamPriorityRange(&lo, &hi)));
            OUT(" %d", lo);
            OUT(" %d", hi);
        } while (0);
    }
    CASE("priority-range-nulls") do
    {
        OUT("%s", R(cuCtxGetStreamPriorityRange(0, &hi)));
        OUT(" %s", R(cuCtxGetStreamPriorityRange(&lo, 0)));
        OUT(" %s", R(cuCtxGetStreamPriorityRange(0, 0)));
    }
    while (0)
        ;
    CASE("many")
    {
        CUstream a[300];
        int n = 0, same = 0;
        for (int i = 0; i < 300; i++)
            if (!cuStreamCreate(&a[i], i & 1))
                n++;
        for (int i = 1; i < n; i++)
            if (a[i] == a[i - 1])
                same++;
        for (int i = 0; i < n; i++)
            cuStreamDestroy(a[i]);
        OUT("%d created, %d equal", n, same);
    }
    CASE("ids-increase")
    {
        unsigned long long a = 0, b = 0;
        CUstream x = mk(0), y = mk(0);
        do {
            OUT("%s", R(cuStreamGetId(x, &a)));
            OUT(" %s", R(cuStreamGetId(y, &b)));
        } while (0);
        OUT(" greater %d by %lld", b > a, (long long)(b - a));
        cuStreamDestroy(x);
        cuStreamDestroy(y);
    }
}

static void handle_cases(const char *n, CUstream s, int own)
{
    unsigned fl;
    int p;
    CUcontext c;
    unsigned long long id, id2;
    CUdevice d;
    CUgreenCtx g;
    CUstreamCaptureStatus cs;
    CUstreamAttrValue av;
    CASE("%s-queries", n)
    {
        do {
            OUT("query %s", R(cuStreamQuery(s)));
            OUT(" sync %s", R(cuStreamSynchronize(s)));
        } while (0);
        fl = 77;
        OUT("; flags %s", R(cuStreamGetFlags(s, &fl)));
        OUT(" %u", fl);
        p = 77;
        OUT("; priority %s", R(cuStreamGetPriority(s, &p)));
        OUT(" %d", p);
        c = 0;
        OUT("; context %s", R(cuStreamGetCtx(s, &c)));
        OUT(" current %d", c == cx);
        c = 0;
        g = (CUgreenCtx)0x5a;
        OUT("; v2 %s", R(cuStreamGetCtx_v2(s, &c, &g)));
        OUT(" current %d green null %d", c == cx, g == 0);
        id = id2 = 0;
        OUT("; id %s", R(cuStreamGetId(s, &id)));
        cuStreamGetId(s, &id2);
        OUT(" stable %d nonzero %d", id == id2, id != 0);
        d = 77;
        OUT("; device %s", R(cuStreamGetDevice(s, &d)));
        OUT(" %d", d);
        cs = 77;
        OUT("; capturing %s", R(cuStreamIsCapturing(s, &cs)));
        OUT(" %d", cs);
    }
    CASE("%s-null-outputs", n)
    {
        W("flags", cuStreamGetFlags(s, 0));
        W("priority", cuStreamGetPriority(s, 0));
        W("context", cuStreamGetCtx(s, 0));
        W("id", cuStreamGetId(s, 0));
        W("device", cuStreamGetDevice(s, 0));
        W("capturing", cuStreamIsCapturing(s, 0));
        W("context-v2", cuStreamGetCtx_v2(s, 0, &g));
        W("context-v2-green", cuStreamGetCtx_v2(s, &c, 0));
    }
    CASE("%s-attributes", n) for (int a = 0; a < 18; a++)
    {
        memset(&av, 0x77, sizeof av);
        CUresult r = cuStreamGetAttribute(s, a, &av);
        do {
            OUT("%d", a);
            OUT(":%s", R(r));
        } while (0);
        if (!r) {
            OUT("=");
            for (unsigned k = 0; k < 4; k++)
                OUT("%02x", ((unsigned char *)&av)[k]);
        }
        OUT(" ");
    }
    CASE("%s-attribute-errors", n) do
    {
        OUT("get %s", R(cuStreamGetAttribute(s, 3, 0)));
        OUT(" set %s", R(cuStreamSetAttribute(s, 3, 0)));
        OUT("; bad id: get %s", R(cuStreamGetAttribute(s, 99, &av)));
        OUT(" set %s", R(cuStreamSetAttribute(s, -1, &av)));
    }
    while (0)
        ;
    CASE("%s-use", n)
    {
        CUevent e = mkev(0);
        OUT("record %s", R(cuEventRecord(e, s)));
        do {
            OUT(" wait %s", R(cuStreamWaitEvent(s, e, 0)));
            OUT(" sync %s", R(cuStreamSynchronize(s)));
            OUT(" query %s", R(cuEventQuery(e)));
        } while (0);
        cuEventDestroy(e);
        cuMemsetD8(dm, 0, 64);
        OUT("; launch %s", R(add(s, 0, 5)));
        do {
            OUT(" sync %s", R(cuStreamSynchronize(s)));
            OUT(" value %u", rd(0));
        } while (0);
        clr();
        put(s, 1);
        OUT("; hostfunc sync %s ", R(cuStreamSynchronize(s)));
        show();
    }
    CASE("%s-copy-attributes", n)
    {
        CUstream o = mk(0);
        do {
            OUT("to %s", R(cuStreamCopyAttributes(s, o)));
            OUT(" from %s", R(cuStreamCopyAttributes(o, s)));
            OUT(" self %s", R(cuStreamCopyAttributes(s, s)));
        } while (0);
        cuStreamDestroy(o);
    }
    if (!own) {
        CASE("%s-destroy", n) OUT("%s", R(cuStreamDestroy(s)));
        CASE("%s-begin-capture", n)
        {
            OUT("%s", R(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED)));
            CUgraph gr = 0;
            OUT(" end %s", R(cuStreamEndCapture(s, &gr)));
        }
    }
}
GROUP(stream_handles)
{
    S();
    for (int i = 0; i < 3; i++)
        handle_cases(sn[i], SN(i), 0);
    handle_cases("blocking", mk(0), 1);
    handle_cases("non-blocking", mk(1), 1);
    CASE("ids-of-null-legacy-per-thread")
    {
        unsigned long long a = 0, b = 0, c = 0;
        cuStreamGetId(0, &a);
        cuStreamGetId(CU_STREAM_LEGACY, &b);
        cuStreamGetId(CU_STREAM_PER_THREAD, &c);
        OUT("null=legacy %d null=per-thread %d", a == b, a == c);
    }
    CASE("set-sync-policy") for (int v = 0; v < 6; v++)
    {
        OUT("%d:", v);
        CUstream s = mk(0);
        CUstreamAttrValue a;
        memset(&a, 0, sizeof a);
        a.syncPolicy = v;
        OUT("%s", R(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &a)));
        a.syncPolicy = 77;
        cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &a);
        OUT(" now %d; ", a.syncPolicy);
        cuStreamDestroy(s);
    }
    CASE("set-priority-attribute") EACH(v, -9, -6, -5, -1, 0, 1, 7)
    {
        OUT("%d:", *v);
        CUstream s = mk(0);
        CUstreamAttrValue a;
        memset(&a, 0, sizeof a);
        a.priority = *v;
        OUT("%s", R(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &a)));
        int p = 77;
        cuStreamGetPriority(s, &p);
        a.priority = 77;
        cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, &a);
        OUT(" now %d, attribute %d; ", p, a.priority);
        cuStreamDestroy(s);
    }
    CASE("set-mem-sync-domain") for (int v = 0; v < 3; v++)
    {
        OUT("%d:", v);
        CUstream s = mk(0);
        CUstreamAttrValue a;
        memset(&a, 0, sizeof a);
        a.memSyncDomain = v;
        OUT("%s", R(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &a)));
        a.memSyncDomain = 77;
        cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &a);
        OUT(" now %d; ", a.memSyncDomain);
        cuStreamDestroy(s);
    }
    CASE("set-mem-sync-domain-map") EACH(v, 0, 1, 3, 4, 255)
    {
        OUT("%d:", *v);
        CUstream s = mk(0);
        CUstreamAttrValue a;
        memset(&a, 0, sizeof a);
        a.memSyncDomainMap.default_ = *v;
        a.memSyncDomainMap.remote = 1;
        OUT("%s", R(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &a)));
        memset(&a, 0x77, sizeof a);
        cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &a);
        OUT(" now %d %d; ", a.memSyncDomainMap.default_, a.memSyncDomainMap.remote);
        cuStreamDestroy(s);
    }
    for (int v = 0; v < 6; v++)
        CASE("set-access-policy-window-%d", v)
        {
            CUstream s = mk(0);
            CUstreamAttrValue a;
            memset(&a, 0, sizeof a);
            a.accessPolicyWindow.base_ptr = v == 1 ? 0 : (void *)dm;
            a.accessPolicyWindow.num_bytes = v == 2 ? 0 : v == 3 ? (size_t)1 << 40 : 4096;
            a.accessPolicyWindow.hitRatio = v == 4 ? 1.5f : 0.5f;
            a.accessPolicyWindow.hitProp = v == 5 ? 7 : CU_ACCESS_PROPERTY_PERSISTING;
            a.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
            OUT("%s", R(cuStreamSetAttribute(s, 1, &a)));
            memset(&a, 0x77, sizeof a);
            OUT(" get %s", R(cuStreamGetAttribute(s, 1, &a)));
            OUT(" same pointer %d bytes %zu hit %d miss %d",
                a.accessPolicyWindow.base_ptr == (void *)dm, a.accessPolicyWindow.num_bytes,
                a.accessPolicyWindow.hitProp, a.accessPolicyWindow.missProp);
            cuStreamDestroy(s);
        }
    CASE("set-launch-only-attributes") for (int v = 4; v < 17; v++) if (v != 8 && v != 9 && v != 10)
    {
        OUT("%d:", v);
        CUstream s = mk(0);
        CUstreamAttrValue a;
        memset(&a, 0, sizeof a);
        OUT("%s ", R(cuStreamSetAttribute(s, v, &a)));
        cuStreamDestroy(s);
    }
    Q("wait-null-event", cuStreamWaitEvent(0, 0, 0));
    CASE("wait-flags")
    {
        CUevent e = mkev(0);
        for (unsigned f = 0; f < 5; f++)
            do {
                OUT("%u", f);
                OUT(":%s ", R(cuStreamWaitEvent(0, e, f)));
            } while (0);
        cuEventRecord(e, 0);
        OUT("| recorded ");
        for (unsigned f = 0; f < 5; f++)
            do {
                OUT("%u", f);
                OUT(":%s ", R(cuStreamWaitEvent(0, e, f)));
            } while (0);
        OUT("| null event, bad flags %s", R(cuStreamWaitEvent(0, 0, 9)));
        cuEventDestroy(e);
    }
    CASE("wait-unrecorded-event")
    {
        CUevent e = mkev(0);
        CUstream s = mk(0);
        do {
            OUT("%s", R(cuStreamWaitEvent(s, e, 0)));
            OUT(" sync %s", R(cuStreamSynchronize(s)));
        } while (0);
        cuEventDestroy(e);
        cuStreamDestroy(s);
    }
    Q("handle-3-query", cuStreamQuery((CUstream)3));
    Q("handle-3-synchronize", cuStreamSynchronize((CUstream)3));
    Q("handle-3-destroy", cuStreamDestroy((CUstream)3));
    Q("handle-3-hostfunc-null-function", cuLaunchHostFunc((CUstream)3, 0, 0));
    CASE("destroy-with-work-pending")
    {
        CUstream s = mk(0);
        clr();
        OUT("%s", R(gate(s)));
        put(s, 5);
        OUT(" destroy %s", R(cuStreamDestroy(s)));
        OUT(" ran %d", nlg);
        gopen();
        OUT(" context %s ", R(cuCtxSynchronize()));
        for (int i = 0; i < 2000 && !nlg; i++)
            usleep(1000);
        show();
    }
    CASE("query-not-ready")
    {
        CUstream s = mk(0);
        gate(s);
        OUT("%s", R(cuStreamQuery(s)));
        gopen();
        do {
            OUT(" sync %s", R(cuStreamSynchronize(s)));
            OUT(" query %s", R(cuStreamQuery(s)));
        } while (0);
        cuStreamDestroy(s);
    }
    CASE("attach-mem-errors")
    {
        do {
            OUT("device pointer %s", R(cuStreamAttachMemAsync(0, dm, 0, CU_MEM_ATTACH_SINGLE)));
            OUT(" null %s", R(cuStreamAttachMemAsync(0, 0, 0, CU_MEM_ATTACH_GLOBAL)));
            OUT(" bad flags %s", R(cuStreamAttachMemAsync(0, dm, 0, 99)));
        } while (0);
    }
}

// ---- events ----
GROUP(events)
{
    S();
    CUevent e, f;
    float ms;
    for (unsigned g = 0; g < 18; g += 3)
        CASE("create-flags-from-%u", g) for (unsigned fl = g; fl < g + 3; fl++)
        {
            OUT("%s%u: ", fl > g ? "; " : "", fl);
            e = (CUevent)0x5a;
            CUresult r = cuEventCreate(&e, fl);
            OUT("%s", R(r));
            if (!r) {
                do {
                    OUT(" query %s", R(cuEventQuery(e)));
                    OUT(" record %s", R(cuEventRecord(e, 0)));
                    OUT(" sync %s", R(cuEventSynchronize(e)));
                } while (0);
                f = mkev(0);
                cuEventRecord(f, 0);
                cuEventSynchronize(f);
                OUT(" elapsed %s", R(cuEventElapsedTime(&ms, e, f)));
                CUipcEventHandle h;
                do {
                    OUT(" ipc %s", R(cuIpcGetEventHandle(&h, e)));
                    OUT(" destroy %s", R(cuEventDestroy(e)));
                } while (0);
                cuEventDestroy(f);
            } else
                OUT(" untouched %d", e == (CUevent)0x5a);
        }
    CASE("create-high-bits")
    for (unsigned b = 5; b < 32; b += 9) OUT("%s ", R(cuEventCreate(&e, 1u << b)));
    CASE("create-null") do
    {
        OUT("%s", R(cuEventCreate(0, 0)));
        OUT("; bad flags %s", R(cuEventCreate(0, 99)));
    }
    while (0)
        ;
    CASE("null-event") do
    {
        OUT("query %s", R(cuEventQuery(0)));
        OUT(" sync %s", R(cuEventSynchronize(0)));
        OUT(" destroy %s", R(cuEventDestroy(0)));
        OUT(" record %s", R(cuEventRecord(0, 0)));
        OUT(" record-with-flags %s", R(cuEventRecordWithFlags(0, 0, 9)));
    }
    while (0)
        ;
    CASE("unrecorded")
    {
        e = mkev(0);
        do {
            OUT("query %s", R(cuEventQuery(e)));
            OUT(" sync %s", R(cuEventSynchronize(e)));
        } while (0);
        cuEventDestroy(e);
    }
    CASE("record-flags")
    {
        e = mkev(0);
        for (unsigned q = 0; q < 6; q++)
            do {
                OUT("%u", q);
                OUT(":%s ", R(cuEventRecordWithFlags(e, 0, q)));
            } while (0);
        OUT("stream ");
        CUstream s = mk(0);
        for (unsigned q = 0; q < 4; q++)
            do {
                OUT("%u", q);
                OUT(":%s ", R(cuEventRecordWithFlags(e, s, q)));
            } while (0);
        cuStreamDestroy(s);
        cuEventDestroy(e);
    }
    CASE("elapsed-unrecorded")
    {
        e = mkev(0);
        f = mkev(0);
        ms = -7;
        OUT("both %s", R(cuEventElapsedTime(&ms, e, f)));
        cuEventRecord(e, 0);
        cuCtxSynchronize();
        do {
            OUT(" end %s", R(cuEventElapsedTime(&ms, e, f)));
            OUT(" start %s", R(cuEventElapsedTime(&ms, f, e)));
            OUT(" untouched %d", ms == -7);
        } while (0);
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("elapsed-same-event")
    {
        e = mkev(0);
        cuEventRecord(e, 0);
        cuEventSynchronize(e);
        OUT("%s", R(cuEventElapsedTime(&ms, e, e)));
        OUT(" zero %d", ms == 0);
        cuEventDestroy(e);
    }
    CASE("elapsed-order")
    {
        e = mkev(0);
        f = mkev(0);
        cuEventRecord(e, 0);
        cuEventRecord(f, 0);
        cuEventSynchronize(f);
        OUT("%s", R(cuEventElapsedTime(&ms, e, f)));
        OUT(" nonnegative %d", ms >= 0);
        OUT(" reversed %s", R(cuEventElapsedTime(&ms, f, e)));
        OUT(" nonpositive %d", ms <= 0);
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("elapsed-disable-timing")
    {
        e = mkev(2);
        f = mkev(0);
        cuEventRecord(e, 0);
        cuEventRecord(f, 0);
        cuCtxSynchronize();
        do {
            OUT("%s", R(cuEventElapsedTime(&ms, e, f)));
            OUT(" %s", R(cuEventElapsedTime(&ms, f, e)));
            OUT(" %s", R(cuEventElapsedTime(&ms, e, e)));
        } while (0);
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("elapsed-nulls")
    {
        e = mkev(0);
        cuEventRecord(e, 0);
        cuCtxSynchronize();
        do {
            OUT("%s", R(cuEventElapsedTime(0, e, e)));
            OUT(" %s", R(cuEventElapsedTime(&ms, 0, e)));
            OUT(" %s", R(cuEventElapsedTime(&ms, e, 0)));
            OUT(" %s", R(cuEventElapsedTime(0, 0, 0)));
            OUT(" %s", R(cuEventElapsedTime(&ms, 0, 0)));
        } while (0);
        cuEventDestroy(e);
    }
    CASE("elapsed-null-out-unrecorded")
    {
        e = mkev(0);
        f = mkev(2);
        do {
            OUT("%s", R(cuEventElapsedTime(0, e, e)));
            OUT(" disable-timing %s", R(cuEventElapsedTime(0, f, f)));
        } while (0);
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("elapsed-v1-unrecorded")
    {
        e = mkev(0);
        f = mkev(0);
        OUT("%s", R(elapsed1(&ms, e, f)));
        cuEventRecord(e, 0);
        cuEventRecord(f, 0);
        cuCtxSynchronize();
        OUT(" recorded %s", R(elapsed1(&ms, e, f)));
        cuEventDestroy(e);
        cuEventDestroy(f);
    }
    CASE("elapsed-not-ready")
    {
        CUstream s = mk(0);
        e = mkev(0);
        f = mkev(0);
        cuEventRecord(e, s);
        gate(s);
        cuEventRecord(f, s);
        OUT("end pending %s", R(cuEventElapsedTime(&ms, e, f)));
        OUT(" v1 %s", R(elapsed1(&ms, e, f)));
        OUT(" query %s", R(cuEventQuery(f)));
        gopen();
        do {
            OUT(" sync %s", R(cuEventSynchronize(f)));
            OUT(" elapsed %s", R(cuEventElapsedTime(&ms, e, f)));
        } while (0);
        cuEventDestroy(e);
        cuEventDestroy(f);
        cuStreamDestroy(s);
    }
    CASE("re-record-while-pending")
    {
        CUstream s = mk(0), t = mk(1);
        e = mkev(0);
        gate(s);
        cuEventRecord(e, s);
        OUT("%s", R(cuEventQuery(e)));
        cuEventRecord(e, t);
        cuStreamSynchronize(t);
        OUT(" then on idle stream %s", R(cuEventQuery(e)));
        gopen();
        cuStreamSynchronize(s);
        OUT(" after %s", R(cuEventQuery(e)));
        cuEventDestroy(e);
        cuStreamDestroy(s);
        cuStreamDestroy(t);
    }
    CASE("wait-captures-earlier-record")
    {
        CUstream s = mk(1), t = mk(1);
        e = mkev(2);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        gate(s);
        cuEventRecord(e, s);
        OUT("t %s", R(cuStreamSynchronize(t)));
        OUT(" e %s", R(cuEventQuery(e)));
        gopen();
        cuStreamSynchronize(s);
        cuEventDestroy(e);
        cuStreamDestroy(s);
        cuStreamDestroy(t);
    }
    CASE("destroy-while-waited-on")
    {
        CUstream s = mk(1), t = mk(1);
        e = mkev(2);
        gate(s);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        do {
            OUT("destroy %s", R(cuEventDestroy(e)));
            OUT(" t %s", R(cuStreamQuery(t)));
        } while (0);
        gopen();
        OUT(" then %s", R(cuStreamSynchronize(t)));
        cuStreamSynchronize(s);
        cuStreamDestroy(s);
        cuStreamDestroy(t);
    }
    CASE("wait-then-query")
    {
        CUstream s = mk(1), t = mk(1);
        e = mkev(2);
        gate(s);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        do {
            OUT("s %s", R(cuStreamQuery(s)));
            OUT(" t %s", R(cuStreamQuery(t)));
            OUT(" e %s", R(cuEventQuery(e)));
        } while (0);
        gopen();
        do {
            OUT(" sync t %s", R(cuStreamSynchronize(t)));
            OUT(" e %s", R(cuEventQuery(e)));
        } while (0);
        cuStreamSynchronize(s);
        cuEventDestroy(e);
        cuStreamDestroy(s);
        cuStreamDestroy(t);
    }
    CASE("ipc-needs-interprocess")
    {
        CUipcEventHandle h;
        e = mkev(2);
        OUT("%s", R(cuIpcGetEventHandle(&h, e)));
        cuEventDestroy(e);
        e = mkev(6);
        do {
            OUT(" interprocess %s", R(cuIpcGetEventHandle(&h, e)));
            OUT(" null-out %s", R(cuIpcGetEventHandle(0, e)));
            OUT(" null-event %s", R(cuIpcGetEventHandle(&h, 0)));
        } while (0);
        CUevent o = 0;
        OUT(" open-in-same-process %s", R(cuIpcOpenEventHandle(&o, h)));
        OUT(" null-out %s", R(cuIpcOpenEventHandle(0, h)));
        memset(&h, 0, sizeof h);
        OUT(" zero-handle %s", R(cuIpcOpenEventHandle(&o, h)));
        memset(&h, 0xff, sizeof h);
        OUT(" ff-handle %s", R(cuIpcOpenEventHandle(&o, h)));
        cuEventDestroy(e);
    }
    CASE("ipc-event-elapsed")
    {
        e = mkev(6);
        cuEventRecord(e, 0);
        cuCtxSynchronize();
        do {
            OUT("query %s", R(cuEventQuery(e)));
            OUT(" elapsed %s", R(cuEventElapsedTime(&ms, e, e)));
        } while (0);
        cuEventDestroy(e);
    }
    CASE("blocking-sync-event")
    {
        e = mkev(1);
        CUstream s = mk(0);
        gate(s);
        cuEventRecord(e, s);
        OUT("%s", R(cuEventQuery(e)));
        gopen();
        OUT(" %s", R(cuEventSynchronize(e)));
        cuEventDestroy(e);
        cuStreamDestroy(s);
    }
    CASE("context-record-event")
    {
        e = mkev(2);
        CUstream s = mk(0);
        gate(s);
        CUresult r = cuCtxRecordEvent(cx, e);
        OUT("%s", R(r));
        OUT(" query %s", r ? "-" : R(cuEventQuery(e)));
        gopen();
        cuCtxSynchronize();
        do {
            OUT(" after %s", R(cuEventQuery(e)));
            OUT("; wait %s", R(cuCtxWaitEvent(cx, e)));
            OUT("; null %s", R(cuCtxRecordEvent(0, e)));
            OUT(" %s", R(cuCtxRecordEvent(cx, 0)));
        } while (0);
        cuEventDestroy(e);
        cuStreamDestroy(s);
    }
    CASE("many")
    {
        CUevent a[500];
        int n = 0;
        for (int i = 0; i < 500; i++)
            if (!cuEventCreate(&a[n], i & 3))
                n++;
        for (int i = 0; i < n; i++)
            cuEventRecord(a[i], 0);
        CUresult r = cuEventSynchronize(a[n - 1]);
        int ok = 0;
        for (int i = 0; i < n; i++)
            ok += !cuEventQuery(a[i]);
        for (int i = 0; i < n; i++)
            cuEventDestroy(a[i]);
        do {
            OUT("%d", n);
            OUT(" %s", R(r));
            OUT(" %d complete", ok);
        } while (0);
    }
}

// ---- host functions ----
static CUresult inr[4];
static int inw;
static CUstream ins_;
static CUevent ine;
static CUgraph ing;
static CUgraphExec inx;
static void CUDA_CB in_cb(void *z)
{
    CUcontext c = 0;
    int i = 0;
    CUdevice d;
    size_t a, b;
    CUdeviceptr p = 0;
    CUstream s;
    CUevent e;
    CUmodule m;
    void *h;
    float ms;
    unsigned u;
    const char *n;
    CUstreamCaptureStatus cs;
    CUgraph g;
    CUgraphExec x;
    (void)z;
    CUresult r = 999;
    switch (inw) {
    case 0:
        r = cuDriverGetVersion(&i);
        break;
    case 1:
        r = cuGetErrorName(1, &n);
        break;
    case 2:
        r = cuInit(0);
        break;
    case 3:
        r = cuDeviceGet(&d, 0);
        break;
    case 4:
        r = cuDeviceGetCount(&i);
        break;
    case 5:
        r = cuDeviceGetAttribute(&i, 1, 0);
        break;
    case 6:
        r = cuCtxGetCurrent(&c);
        inr[1] = c == 0;
        break;
    case 7:
        r = cuCtxSetCurrent(cx);
        break;
    case 8:
        r = cuCtxSynchronize();
        break;
    case 9:
        r = cuMemAlloc(&p, 64);
        break;
    case 10:
        r = cuMemFree(0);
        break;
    case 11:
        r = cuMemGetInfo(&a, &b);
        break;
    case 12:
        r = cuMemcpyHtoD(dm, &i, 4);
        break;
    case 13:
        r = cuMemcpyHtoDAsync(dm, hm, 4, ins_);
        break;
    case 14:
        r = cuMemsetD8Async(dm, 0, 4, 0);
        break;
    case 15:
        r = cuStreamCreate(&s, 0);
        break;
    case 16:
        r = cuStreamQuery(ins_);
        break;
    case 17:
        r = cuStreamSynchronize(ins_);
        break;
    case 18:
        r = cuStreamQuery(0);
        break;
    case 19:
        r = cuEventCreate(&e, 0);
        break;
    case 20:
        r = cuEventQuery(ine);
        break;
    case 21:
        r = cuEventSynchronize(ine);
        break;
    case 22:
        r = cuEventRecord(ine, ins_);
        break;
    case 23:
        r = cuEventElapsedTime(&ms, ine, ine);
        break;
    case 24:
        r = add(ins_, 0, 1);
        break;
    case 25:
        r = cuLaunchHostFunc(ins_, nothing, 0);
        break;
    case 26:
        r = cuModuleLoadData(&m, PTX);
        break;
    case 27:
        r = cuMemAllocHost(&h, 64);
        break;
    case 28:
        r = cuStreamGetFlags(ins_, &u);
        break;
    case 29:
        r = cuStreamIsCapturing(ins_, &cs);
        break;
    case 30:
        r = cuGraphCreate(&g, 0);
        break;
    case 31:
        r = cuGraphInstantiate(&x, ing, 0);
        break;
    case 32:
        r = cuGraphLaunch(inx, ins_);
        break;
    case 33:
        r = cuPointerGetAttribute(&i, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dm);
        break;
    case 34:
        r = cuMemHostGetDevicePointer(&p, hm, 0);
        break;
    case 35:
        r = cuFuncGetAttribute(&i, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f_nop);
        break;
    case 36:
        r = cuCtxGetDevice(&d);
        break;
    case 37:
        r = cuStreamWaitEvent(ins_, ine, 0);
        break;
    case 38:
        r = cuCtxGetLimit(&a, 0);
        break;
    case 39:
        r = cuStreamDestroy(ins_);
        break;
    }
    inr[0] = r;
}
static const char *inn[] = {"cuDriverGetVersion",
                            "cuGetErrorName",
                            "cuInit",
                            "cuDeviceGet",
                            "cuDeviceGetCount",
                            "cuDeviceGetAttribute",
                            "cuCtxGetCurrent",
                            "cuCtxSetCurrent",
                            "cuCtxSynchronize",
                            "cuMemAlloc",
                            "cuMemFree-null",
                            "cuMemGetInfo",
                            "cuMemcpyHtoD",
                            "cuMemcpyHtoDAsync-own-stream",
                            "cuMemsetD8Async-null-stream",
                            "cuStreamCreate",
                            "cuStreamQuery-own",
                            "cuStreamSynchronize-own",
                            "cuStreamQuery-null",
                            "cuEventCreate",
                            "cuEventQuery",
                            "cuEventSynchronize",
                            "cuEventRecord",
                            "cuEventElapsedTime",
                            "cuLaunchKernel-own-stream",
                            "cuLaunchHostFunc-own-stream",
                            "cuModuleLoadData",
                            "cuMemAllocHost",
                            "cuStreamGetFlags",
                            "cuStreamIsCapturing",
                            "cuGraphCreate",
                            "cuGraphInstantiate",
                            "cuGraphLaunch",
                            "cuPointerGetAttribute",
                            "cuMemHostGetDevicePointer",
                            "cuFuncGetAttribute",
                            "cuCtxGetDevice",
                            "cuStreamWaitEvent",
                            "cuCtxGetLimit",
                            "cuStreamDestroy-own"};
static void in_setup(void)
{
    ins_ = mk(0);
    ine = mkev(0);
    cuEventRecord(ine, 0);
    cuCtxSynchronize();
    CUgraphNode n;
    MUST(cuGraphCreate(&ing, 0));
    MUST(cuGraphAddEmptyNode(&n, ing, 0, 0));
    MUST(cuGraphInstantiate(&inx, ing, 0));
}
static void CUDA_CB in_cb2(CUstream s, CUresult st, void *z)
{
    (void)s;
    inr[2] = st;
    in_cb(z);
}
GROUP(inside)
{
    S();
    in_setup();
    for (int i = 0; i < 40; i++)
        CASE("%s", inn[i]) for (int k = 0; k < (i < 30 && i % 3 ? 1 : 2); k++)
        {
            alarm(6);
            OUT("%s: ", k ? "; callback" : "hostfunc");
            inw = i;
            inr[0] = 12345;
            inr[1] = 0;
            CUresult r =
                k ? cuStreamAddCallback(ins_, in_cb2, 0, 0) : cuLaunchHostFunc(ins_, in_cb, 0);
            if (r)
                OUT("add %s ", R(r));
            r = cuCtxSynchronize();
            do {
                OUT("%s", R(inr[0]));
                OUT("; outside %s", R(r));
            } while (0);
            if (i == 6)
                OUT(" context null %d", inr[1]);
        }
}
static int cbs[8];
static void CUDA_CB rec_cb(CUstream s, CUresult st, void *z)
{
    cbs[0] = st;
    cbs[1] = s == ins_;
    cbs[2] = s == 0;
    cbs[3] = (int)(intptr_t)z;
    L(z);
}
static pthread_t maint;
static int othr;
static void CUDA_CB thr(void *z)
{
    (void)z;
    othr = !pthread_equal(pthread_self(), maint);
}
GROUP(hostfunc)
{
    S();
    CUstream s = mk(0), t = mk(1);
    ins_ = s;
    maint = pthread_self();
    CASE("null-function") do
    {
        OUT("%s", R(cuLaunchHostFunc(0, 0, 0)));
        OUT("; per-thread %s", R(cuLaunchHostFunc(CU_STREAM_PER_THREAD, 0, 0)));
    }
    while (0)
        ;
    CASE("order-in-one-stream")
    {
        clr();
        for (int i = 0; i < 20; i++)
            put(s, i);
        OUT("%s ", R(cuStreamSynchronize(s)));
        show();
    }
    CASE("order-around-kernels-and-copies")
    {
        cuMemsetD8(dm, 0, 64);
        clr();
        put(s, 1);
        add(s, 0, 7);
        put(s, 2);
        cuMemcpyDtoHAsync(hm, dm, 4, s);
        put(s, 3);
        do {
            OUT("%s", R(cuStreamSynchronize(s)));
            OUT(" value %u ", *(unsigned *)hm);
        } while (0);
        show();
    }
    CASE("runs-on-another-thread")
    {
        othr = -1;
        cuLaunchHostFunc(s, thr, 0);
        cuStreamSynchronize(s);
        OUT("%d", othr);
    }
    CASE("sees-earlier-copy")
    {
        unsigned v = 77;
        cuMemcpyHtoD(dm, &v, 4);
        *(unsigned *)hm = 0;
        cuMemcpyDtoHAsync(hm, dm, 4, s);
        clr();
        put(s, 1);
        cuStreamSynchronize(s);
        OUT("%u", *(unsigned *)hm);
    }
    CASE("not-run-while-gated")
    {
        clr();
        gate(s);
        put(s, 9);
        usleep(50000);
        do {
            OUT("ran %d", nlg);
            OUT(" query %s", R(cuStreamQuery(s)));
        } while (0);
        gopen();
        cuStreamSynchronize(s);
        OUT(" then %d", nlg);
    }
    CASE("chain-of-two-streams")
    {
        clr();
        CUevent e = mkev(2);
        put(s, 1);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        put(t, 2);
        cuEventRecord(e, t);
        cuStreamWaitEvent(s, e, 0);
        put(s, 3);
        OUT("%s ", R(cuStreamSynchronize(s)));
        show();
        cuEventDestroy(e);
    }
    CASE("1000")
    {
        clr();
        int bad = 0;
        for (int i = 0; i < 1000; i++)
            cuLaunchHostFunc(s, L, (void *)(intptr_t)i);
        cuStreamSynchronize(s);
        for (int i = 0; i < 256; i++)
            bad += lg[i] != i;
        OUT("%d run, %d out of order", nlg, bad);
    }
    CASE("null-stream")
    {
        clr();
        put(0, 4);
        OUT("%s ", R(cuStreamSynchronize(0)));
        show();
    }
    CASE("then-destroy-stream")
    {
        CUstream q = mk(0);
        clr();
        put(q, 6);
        cuStreamSynchronize(q);
        OUT("%s ", R(cuStreamDestroy(q)));
        show();
    }
    CASE("callback")
    {
        memset(cbs, 0x7f, sizeof cbs);
        clr();
        CUresult r = cuStreamAddCallback(s, rec_cb, (void *)5, 0);
        cuStreamSynchronize(s);
        do {
            OUT("%s", R(r));
            OUT(" status %s", R(cbs[0]));
            OUT(" own stream %d", cbs[1]);
            OUT(" null %d", cbs[2]);
            OUT(" data %d", cbs[3]);
        } while (0);
    }
    CASE("callback-null-stream")
    {
        memset(cbs, 0x7f, sizeof cbs);
        CUresult r = cuStreamAddCallback(0, rec_cb, (void *)6, 0);
        cuStreamSynchronize(0);
        do {
            OUT("%s", R(r));
            OUT(" status %s", R(cbs[0]));
            OUT(" null %d", cbs[2]);
            OUT(" data %d", cbs[3]);
        } while (0);
    }
    CASE("callback-legacy-stream")
    {
        memset(cbs, 0x7f, sizeof cbs);
        CUresult r = cuStreamAddCallback(CU_STREAM_LEGACY, rec_cb, (void *)6, 0);
        cuStreamSynchronize(0);
        do {
            OUT("%s", R(r));
            OUT(" status %s", R(cbs[0]));
            OUT(" null %d", cbs[2]);
        } while (0);
    }
    CASE("callback-flags") for (unsigned f = 0; f < 4; f++)
    {
        CUresult r = cuStreamAddCallback(s, rec_cb, 0, f);
        do {
            OUT("%u", f);
            OUT(":%s ", R(r));
        } while (0);
        cuStreamSynchronize(s);
    }
    CASE("callback-null-function") do
    {
        OUT("%s", R(cuStreamAddCallback(s, 0, 0, 0)));
        OUT("; bad flags %s", R(cuStreamAddCallback(s, 0, 0, 1)));
    }
    while (0)
        ;
    CASE("callback-and-hostfunc-order")
    {
        clr();
        put(s, 1);
        cuStreamAddCallback(s, rec_cb, (void *)2, 0);
        put(s, 3);
        cuStreamAddCallback(s, rec_cb, (void *)4, 0);
        cuStreamSynchronize(s);
        show();
    }
}
// ---- capture ----
static const char *cmn[] = {"global", "thread-local", "relaxed"};
static void caps(CUstream s)
{
    CUstreamCaptureStatus c = 77;
    CUresult r = cuStreamIsCapturing(s, &c);
    do {
        OUT("%s", R(r));
        OUT("/%d", c);
    } while (0);
}
static void graphinfo(CUgraph g)
{
    if (!g) {
        OUT("no graph");
        return;
    }
    size_t n = 0, e = 0, r = 0;
    cuGraphGetNodes(g, 0, &n);
    cuGraphGetEdges(g, 0, 0, 0, &e);
    cuGraphGetRootNodes(g, 0, &r);
    OUT("nodes %zu edges %zu roots %zu types", n, e, r);
    CUgraphNode nd[32];
    size_t k = n < 32 ? n : 32;
    cuGraphGetNodes(g, nd, &k);
    for (size_t i = 0; i < k; i++) {
        CUgraphNodeType t = 99;
        cuGraphNodeGetType(nd[i], &t);
        OUT(" %d", t);
    }
}
// a call that is not part of a capture, made while stream s captures
static const char *ICN[] = {"cuStreamSynchronize-own",
                            "cuStreamQuery-own",
                            "cuStreamSynchronize-other",
                            "cuStreamQuery-other",
                            "cuStreamSynchronize-null",
                            "cuStreamQuery-null",
                            "cuCtxSynchronize",
                            "cuEventQuery-captured",
                            "cuEventSynchronize-captured",
                            "cuEventElapsedTime-captured",
                            "cuEventQuery-other",
                            "cuEventSynchronize-other",
                            "cuMemAlloc",
                            "cuMemFree",
                            "cuMemAllocHost",
                            "cuMemHostAlloc",
                            "cuMemFreeHost",
                            "cuMemAllocAsync-own",
                            "cuMemAllocAsync-other",
                            "cuMemcpyHtoD",
                            "cuMemcpyDtoH",
                            "cuMemcpyDtoD",
                            "cuMemsetD8",
                            "cuMemsetD8Async-null",
                            "cuMemcpyDtoDAsync-null",
                            "cuLaunchKernel-null",
                            "cuLaunchKernel-legacy",
                            "cuLaunchKernel-per-thread",
                            "cuLaunchKernel-other-blocking",
                            "cuLaunchKernel-other-non-blocking",
                            "cuLaunchHostFunc-null",
                            "cuEventRecord-null",
                            "cuStreamWaitEvent-null",
                            "cuStreamCreate",
                            "cuEventCreate",
                            "cuStreamDestroy-other",
                            "cuEventDestroy",
                            "cuModuleLoadData",
                            "cuModuleUnload",
                            "cuStreamAddCallback-own",
                            "cuMemGetInfo",
                            "cuCtxGetLimit",
                            "cuCtxSetLimit",
                            "cuStreamBeginCapture-own",
                            "cuStreamBeginCapture-other",
                            "cuStreamDestroy-own",
                            "cuStreamWaitValue32-own",
                            "cuStreamWriteValue32-own",
                            "cuStreamAttachMemAsync",
                            "cuArrayCreate",
                            "cuGraphLaunch-own",
                            "cuGraphLaunch-other",
                            "cuGraphInstantiate",
                            "cuGraphUpload-other",
                            "cuMemcpyHtoDAsync-pageable-own",
                            "cuMemcpyDtoHAsync-pageable-own",
                            "cuLaunchCooperativeKernel-own",
                            "cuStreamGetFlags-own",
                            "cuStreamSetAttribute-own",
                            "cuMemHostRegister",
                            "cuStreamWaitEvent-own-uncaptured-event",
                            "cuCtxResetPersistingL2Cache"};
static CUresult icall(int i, CUstream s, CUstream other, CUstream nb, CUevent cap, CUevent oth)
{
    CUdeviceptr p = 0;
    static char hb[64];
    void *h = 0;
    CUstream ns;
    CUevent ne;
    CUmodule m;
    float ms;
    size_t a, b;
    CUarray ar;
    CUDA_ARRAY_DESCRIPTOR ad = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUstreamAttrValue av;
    memset(&av, 0, sizeof av);
    static char reg[8192];
    CUgraphExec x;
    CUresult r;
    switch (i) {
    case 0:
        return cuStreamSynchronize(s);
    case 1:
        return cuStreamQuery(s);
    case 2:
        return cuStreamSynchronize(other);
    case 3:
        return cuStreamQuery(other);
    case 4:
        return cuStreamSynchronize(0);
    case 5:
        return cuStreamQuery(0);
    case 6:
        return cuCtxSynchronize();
    case 7:
        return cuEventQuery(cap);
    case 8:
        return cuEventSynchronize(cap);
    case 9:
        return cuEventElapsedTime(&ms, cap, cap);
    case 10:
        return cuEventQuery(oth);
    case 11:
        return cuEventSynchronize(oth);
    case 12:
        return cuMemAlloc(&p, 4096);
    case 13:
        return cuMemFree(0);
    case 14:
        return cuMemAllocHost(&h, 64);
    case 15:
        return cuMemHostAlloc(&h, 64, 0);
    case 16:
        return cuMemFreeHost(0);
    case 17:
        return cuMemAllocAsync(&p, 64, s);
    case 18:
        return cuMemAllocAsync(&p, 64, nb);
    case 19:
        return cuMemcpyHtoD(dm, hb, 4);
    case 20:
        return cuMemcpyDtoH(hb, dm, 4);
    case 21:
        return cuMemcpyDtoD(dm, dm + 64, 4);
    case 22:
        return cuMemsetD8(dm, 0, 4);
    case 23:
        return cuMemsetD8Async(dm, 0, 4, 0);
    case 24:
        return cuMemcpyDtoDAsync(dm, dm + 64, 4, 0);
    case 25:
        return add(0, 0, 1);
    case 26:
        return add(CU_STREAM_LEGACY, 0, 1);
    case 27:
        return add(CU_STREAM_PER_THREAD, 0, 1);
    case 28:
        return add(other, 0, 1);
    case 29:
        return add(nb, 0, 1);
    case 30:
        return cuLaunchHostFunc(0, nothing, 0);
    case 31:
        return cuEventRecord(oth, 0);
    case 32:
        return cuStreamWaitEvent(0, oth, 0);
    case 33:
        return cuStreamCreate(&ns, 0);
    case 34:
        return cuEventCreate(&ne, 0);
    case 35:
        return cuStreamDestroy(other);
    case 36:
        return cuEventDestroy(oth);
    case 37:
        return cuModuleLoadData(&m, PTX);
    case 38:
        return cuModuleUnload(0);
    case 39:
        return cuStreamAddCallback(s, scb, 0, 0);
    case 40:
        return cuMemGetInfo(&a, &b);
    case 41:
        return cuCtxGetLimit(&a, 0);
    case 42:
        return cuCtxSetLimit(0, 1024);
    case 43:
        return cuStreamBeginCapture(s, 2);
    case 44:
        r = cuStreamBeginCapture(nb, 2);
        if (!r) {
            CUgraph g;
            cuStreamEndCapture(nb, &g);
        }
        return r;
    case 45:
        return cuStreamDestroy(s);
    case 46:
        return cuStreamWaitValue32(s, dm, 0, 0);
    case 47:
        return cuStreamWriteValue32(s, dm, 0, 0);
    case 48:
        return cuStreamAttachMemAsync(s, dm, 0, CU_MEM_ATTACH_GLOBAL);
    case 49:
        return cuArrayCreate(&ar, &ad);
    case 50:
        return cuGraphLaunch(inx, s);
    case 51:
        return cuGraphLaunch(inx, nb);
    case 52:
        return cuGraphInstantiate(&x, ing, 0);
    case 53:
        return cuGraphUpload(inx, nb);
    case 54:
        return cuMemcpyHtoDAsync(dm, hb, 16, s);
    case 55:
        return cuMemcpyDtoHAsync(hb, dm, 16, s);
    case 56:
        return cuLaunchCooperativeKernel(f_nop, 1, 1, 1, 1, 1, 1, 0, s, 0);
    case 57: {
        unsigned f;
        return cuStreamGetFlags(s, &f);
    }
    case 58:
        av.syncPolicy = 1;
        return cuStreamSetAttribute(s, 3, &av);
    case 59:
        r = cuMemHostRegister(reg, 4096, 0);
        if (!r)
            cuMemHostUnregister(reg);
        return r;
    case 60:
        return cuStreamWaitEvent(s, oth, 0);
    case 61:
        return cuCtxResetPersistingL2Cache();
    }
    return 999;
}
GROUP(capture_illegal)
{
    S();
    in_setup();
    for (unsigned i = 0; i < sizeof ICN / sizeof *ICN; i++)
        if (i != 45)
            CASE("%s", ICN[i]) for (int m = 0; m < 3; m++)
            {
                CUstream s = mk(0), other = mk(0), nb = mk(1);
                CUevent cap = mkev(0), oth = mkev(0);
                cuEventRecord(oth, other);
                cuCtxSynchronize();
                OUT("%s%s: ", m ? " | " : "", cmn[m]);
                CUresult r = cuStreamBeginCapture(s, m);
                if (r)
                    OUT("begin %s ", R(r));
                cuEventRecord(cap, s);
                r = icall(i, s, other, nb, cap, oth);
                OUT("%s; status ", R(r));
                caps(s);
                OUT("; next launch %s", R(add(s, 0, 1)));
                CUgraph g = 0;
                OUT("; end %s ", R(cuStreamEndCapture(s, &g)));
                graphinfo(g);
                OUT("; after %s", R(cuCtxSynchronize()));
            }
}

static CUstream bgs;
static CUresult bgr;
static int bgi;
static void *bg(void *z)
{
    (void)z;
    cuCtxSetCurrent(cx);
    CUstreamCaptureMode m;
    CUdeviceptr p;
    switch (bgi) {
    case 0:
        bgr = cuMemAlloc(&p, 64);
        break;
    case 1:
        bgr = cuStreamEndCapture(bgs, &ing);
        break;
    case 2:
        bgr = add(bgs, 0, 1);
        break;
    case 3:
        m = CU_STREAM_CAPTURE_MODE_RELAXED;
        cuThreadExchangeStreamCaptureMode(&m);
        bgr = cuMemAlloc(&p, 64);
        break;
    case 4:
        bgr = cuCtxSynchronize();
        break;
    case 5:
        bgr = cuMemsetD8(dm, 0, 4);
        break;
    case 6:
        bgr = cuEventCreate(&ine, 0);
        break;
    case 7:
        bgr = add(CU_STREAM_PER_THREAD, 0, 1);
        break;
    }
    return 0;
}
GROUP(capture)
{
    S();
    in_setup();
    CUgraph g = 0;
    CUstream s, t;
    CUevent e, e2;
    CUstreamCaptureStatus cs;
    cuuint64_t id;
    CUstreamCaptureMode cm;
    for (int i = 0; i < 3; i++)
        CASE("begin-on-%s", sn[i]) for (int m = 0; m < 3; m++)
        {
            OUT("%s%s: ", m ? "; " : "", cmn[m]);
            OUT("%s status ", R(cuStreamBeginCapture(SN(i), m)));
            caps(SN(i));
            g = 0;
            OUT(" end %s", R(cuStreamEndCapture(SN(i), &g)));
            OUT(" graph %d", g != 0);
        }
    EACH(m, -1, 3, 4, 77) CASE("begin-mode-%d", *m)
    {
        s = mk(0);
        do {
            OUT("%s", R(cuStreamBeginCapture(s, *m)));
            OUT("; null stream too %s", R(cuStreamBeginCapture(0, *m)));
        } while (0);
        cuStreamDestroy(s);
    }
    CASE("begin-v1")
    {
        s = mk(0);
        OUT("%s ", R(beginv1(s)));
        caps(s);
        CUdeviceptr p;
        OUT(" cuMemAlloc %s", R(cuMemAlloc(&p, 64)));
        g = 0;
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("begin-twice")
    {
        s = mk(0);
        cuStreamBeginCapture(s, 2);
        OUT("%s ", R(cuStreamBeginCapture(s, 2)));
        caps(s);
        g = 0;
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
    }
    CASE("end-not-capturing")
    {
        s = mk(0);
        g = (CUgraph)0x5a;
        OUT("%s", R(cuStreamEndCapture(s, &g)));
        OUT(" graph %s", !g ? "null" : g == (CUgraph)0x5a ? "untouched" : "set");
    }
    CASE("end-null-out")
    {
        s = mk(0);
        OUT("idle %s", R(cuStreamEndCapture(s, 0)));
        cuStreamBeginCapture(s, 2);
        OUT(" capturing %s status ", R(cuStreamEndCapture(s, 0)));
        caps(s);
        OUT(" then %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("end-null-stream") OUT("%s", R(cuStreamEndCapture(0, &g)));
    CASE("empty")
    {
        s = mk(0);
        cuStreamBeginCapture(s, 0);
        g = 0;
        OUT("%s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
        CUgraphExec x;
        OUT(" instantiate %s", R(cuGraphInstantiate(&x, g, 0)));
        OUT(" launch %s", R(cuGraphLaunch(x, s)));
        OUT(" sync %s", R(cuStreamSynchronize(s)));
    }
    CASE("kernel-copy-memset-host")
    {
        s = mk(1);
        cuMemsetD8(dm, 0, 4096);
        clr();
        cuStreamBeginCapture(s, 0);
        cuMemsetD32Async(dm, 5, 16, s);
        add(s, 0, 7);
        cuMemcpyDtoDAsync(dm + 256, dm, 64, s);
        cuMemcpyDtoHAsync(hm, dm + 256, 64, s);
        put(s, 3);
        OUT("not run: %u %d ", *(unsigned *)hm, nlg);
        OUT("end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
        CUgraphExec x;
        OUT(" instantiate %s", R(cuGraphInstantiate(&x, g, 0)));
        OUT(" launch %s", R(cuGraphLaunch(x, s)));
        do {
            OUT(" sync %s", R(cuStreamSynchronize(s)));
            OUT(" value %u ", *(unsigned *)hm);
        } while (0);
        show();
    }
    CASE("fork-and-join")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        e2 = mkev(2);
        cuStreamBeginCapture(s, 0);
        add(s, 0, 1);
        cuEventRecord(e, s);
        OUT("t before ");
        caps(t);
        cuStreamWaitEvent(t, e, 0);
        OUT(" after ");
        caps(t);
        add(t, 4, 1);
        add(s, 8, 1);
        cuEventRecord(e2, t);
        cuStreamWaitEvent(s, e2, 0);
        add(s, 12, 1);
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
        OUT(" t after end ");
        caps(t);
    }
    CASE("fork-unjoined")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 0);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        add(t, 0, 1);
        g = (CUgraph)0x5a;
        OUT("end %s", R(cuStreamEndCapture(s, &g)));
        OUT(" graph %s s ", !g ? "null" : g == (CUgraph)0x5a ? "untouched" : "set");
        caps(s);
        OUT(" t ");
        caps(t);
        OUT(" t launch %s", R(add(t, 0, 1)));
    }
    CASE("fork-without-work-unjoined")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 0);
        add(s, 0, 1);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        OUT("end %s t ", R((g = 0, cuStreamEndCapture(s, &g))));
        caps(t);
    }
    CASE("end-on-forked-stream")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 0);
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        OUT("end t %s t ", R((g = 0, cuStreamEndCapture(t, &g))));
        caps(t);
        OUT(" s ");
        caps(s);
        OUT(" end s %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("merge-two-captures")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        cuStreamBeginCapture(t, 2);
        add(t, 0, 1);
        cuEventRecord(e, t);
        OUT("wait %s s ", R(cuStreamWaitEvent(s, e, 0)));
        caps(s);
        OUT(" t ");
        caps(t);
        OUT(" end s %s", R((g = 0, cuStreamEndCapture(s, &g))));
        OUT(" end t %s", R((g = 0, cuStreamEndCapture(t, &g))));
    }
    CASE("wait-on-event-recorded-before-capture")
    {
        s = mk(1);
        e = mkev(2);
        cuEventRecord(e, s);
        cuStreamBeginCapture(s, 2);
        OUT("wait %s ", R(cuStreamWaitEvent(s, e, 0)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("wait-on-event-recorded-in-other-stream")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuEventRecord(e, t);
        cuStreamBeginCapture(s, 2);
        OUT("wait %s ", R(cuStreamWaitEvent(s, e, 0)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("wait-on-unrecorded-event")
    {
        s = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        OUT("wait %s ", R(cuStreamWaitEvent(s, e, 0)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("captured-event-used-after-end")
    {
        s = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        cuEventRecord(e, s);
        (g = 0, cuStreamEndCapture(s, &g));
        do {
            OUT("query %s", R(cuEventQuery(e)));
            OUT(" sync %s", R(cuEventSynchronize(e)));
            OUT(" wait %s", R(cuStreamWaitEvent(s, e, 0)));
        } while (0);
        do {
            OUT(" record %s", R(cuEventRecord(e, s)));
            OUT(" query %s", R(cuEventSynchronize(e)));
        } while (0);
    }
    CASE("captured-event-in-legacy-stream")
    {
        s = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        cuEventRecord(e, s);
        OUT("wait %s ", R(cuStreamWaitEvent(0, e, 0)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("blocking-stream-then-fork-to-null")
    {
        s = mk(0);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        cuEventRecord(e, s);
        OUT("wait %s ", R(cuStreamWaitEvent(CU_STREAM_PER_THREAD, e, 0)));
        caps(CU_STREAM_PER_THREAD);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("event-record-external")
    {
        s = mk(1);
        e = mkev(2);
        cuStreamBeginCapture(s, 2);
        OUT("record %s", R(cuEventRecordWithFlags(e, s, 1)));
        OUT(" wait-external %s", R(cuStreamWaitEvent(s, e, 1)));
        do {
            OUT(" flags-2 %s", R(cuEventRecordWithFlags(e, s, 2)));
            OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        } while (0);
        graphinfo(g);
    }
    CASE("event-wait-external-other")
    {
        s = mk(1);
        t = mk(1);
        e = mkev(2);
        cuEventRecord(e, t);
        cuStreamBeginCapture(s, 0);
        OUT("wait %s", R(cuStreamWaitEvent(s, e, 1)));
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
    }
    CASE("info")
    {
        s = mk(1);
        id = 77;
        cs = 9;
        OUT("idle v1 %s", R(capinfo1(s, &cs, &id)));
        OUT(" %d id %s", cs, id == 77 ? "untouched" : id ? "set" : "0");
        CUgraph gg = (CUgraph)0x5a;
        const CUgraphNode *dp = (void *)0x5a;
        const CUgraphEdgeData *ed = (void *)0x5a;
        size_t nd = 77;
        id = 77;
        OUT("; idle v3 %s", R(cuStreamGetCaptureInfo(s, &cs, &id, &gg, &dp, &ed, &nd)));
        OUT(" %d id %d graph %d deps %d n %zu", cs, id == 77, gg == (CUgraph)0x5a,
            dp == (void *)0x5a, nd);
        cuStreamBeginCapture(s, 2);
        id = 0;
        OUT("; active v1 %s", R(capinfo1(s, &cs, &id)));
        OUT(" %d id nonzero %d", cs, id != 0);
        OUT("; v3 %s", R(cuStreamGetCaptureInfo(s, &cs, &id, &gg, &dp, &ed, &nd)));
        OUT(" %d deps %zu graph %d", cs, nd, gg != 0 && gg != (CUgraph)0x5a);
        add(s, 0, 1);
        add(s, 0, 2);
        OUT("; after two %s", R(cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, &ed, &nd)));
        OUT(" deps %zu type %d port %d", nd, ed ? ed[0].type : -1, ed ? ed[0].from_port : -1);
        size_t nn = 0;
        cuGraphGetNodes(gg, 0, &nn);
        do {
            OUT(" nodes %zu", nn);
            OUT("; v2 %s", R(capinfo2(s, &cs, &id, &gg, &dp, &nd)));
        } while (0);
        do {
            OUT(" %zu", nd);
            OUT("; edge data without deps %s",
                R(cuStreamGetCaptureInfo(s, &cs, 0, 0, 0, &ed, &nd)));
        } while (0);
        OUT(" null status %s", R(cuStreamGetCaptureInfo(s, 0, 0, 0, 0, 0, 0)));
        OUT(" v1 null id %s", R(capinfo1(s, &cs, 0)));
        CUgraph eg;
        cuStreamEndCapture(s, &eg);
        OUT("; graph same %d", eg == gg);
    }
    CASE("info-of-null-while-capturing")
    {
        s = mk(0);
        cuStreamBeginCapture(s, 2);
        OUT("%s", R(capinfo1(0, &cs, &id)));
        do {
            OUT(" is-capturing %s", R(cuStreamIsCapturing(0, &cs)));
            OUT("; per-thread %s", R(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &cs)));
        } while (0);
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("info-of-null-while-non-blocking-captures")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        OUT("%s", R(capinfo1(0, &cs, &id)));
        OUT(" is-capturing %s ", R(cuStreamIsCapturing(0, &cs)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("ids-differ")
    {
        cuuint64_t a = 0, b = 0;
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        capinfo1(s, &cs, &a);
        (g = 0, cuStreamEndCapture(s, &g));
        cuStreamBeginCapture(s, 2);
        capinfo1(s, &cs, &b);
        (g = 0, cuStreamEndCapture(s, &g));
        OUT("%d", a != b);
    }
    CASE("info-while-invalidated")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        cuStreamSynchronize(s);
        id = 77;
        size_t nd = 77;
        CUgraph gg = (CUgraph)0x5a;
        OUT("v1 %s", R(capinfo1(s, &cs, &id)));
        do {
            OUT(" %d", cs);
            OUT(" %d", id == 77);
            OUT("; v3 %s", R(cuStreamGetCaptureInfo(s, &cs, &id, &gg, 0, 0, &nd)));
        } while (0);
        do {
            OUT(" %d", cs);
            OUT(" n %zu", nd);
            OUT("; launch %s", R(add(s, 0, 1)));
            OUT(" query %s", R(cuStreamQuery(s)));
            OUT(" record %s", R(cuEventRecord(ine, s)));
            OUT(" begin %s", R(cuStreamBeginCapture(s, 2)));
        } while (0);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
        caps(s);
    }
    CASE("update-dependencies")
    {
        s = mk(1);
        OUT("idle %s", R(cuStreamUpdateCaptureDependencies(s, 0, 0, 0, 0)));
        cuStreamBeginCapture(s, 2);
        const CUgraphNode *dp;
        const CUgraphEdgeData *ed;
        size_t nd;
        CUgraph gg;
        add(s, 0, 1);
        cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, &ed, &nd);
        CUgraphNode first = nd ? dp[0] : 0, em = 0;
        OUT(" add-empty %s", R(cuGraphAddEmptyNode(&em, gg, 0, 0)));
        OUT(" add %s",
            R(cuStreamUpdateCaptureDependencies(s, &em, 0, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES)));
        cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, &ed, &nd);
        OUT(" n %zu", nd);
        OUT(" add-again %s", R(cuStreamUpdateCaptureDependencies(s, &em, 0, 1, 0)));
        cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, &ed, &nd);
        OUT(" n %zu", nd);
        OUT(" set %s", R(cuStreamUpdateCaptureDependencies(s, &first, 0, 1,
                                                           CU_STREAM_SET_CAPTURE_DEPENDENCIES)));
        cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, &ed, &nd);
        do {
            OUT(" n %zu", nd);
            OUT(" flags-2 %s", R(cuStreamUpdateCaptureDependencies(s, &em, 0, 1, 2)));
            OUT(" null %s", R(cuStreamUpdateCaptureDependencies(s, 0, 0, 1, 1)));
        } while (0);
        OUT(" set-none %s", R(cuStreamUpdateCaptureDependencies(s, 0, 0, 0, 1)));
        add(s, 0, 2);
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
    }
    CASE("capture-to-graph")
    {
        s = mk(1);
        CUgraph tg;
        cuGraphCreate(&tg, 0);
        CUgraphNode em;
        cuGraphAddEmptyNode(&em, tg, 0, 0);
        OUT("%s", R(cuStreamBeginCaptureToGraph(s, tg, &em, 0, 1, CU_STREAM_CAPTURE_MODE_RELAXED)));
        add(s, 0, 1);
        g = 0;
        do {
            OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
            OUT(" same %d ", g == tg);
        } while (0);
        graphinfo(tg);
        OUT("; null graph %s", R(cuStreamBeginCaptureToGraph(s, 0, 0, 0, 0, 2)));
        OUT(" null deps %s", R(cuStreamBeginCaptureToGraph(s, tg, 0, 0, 1, 2)));
        do {
            OUT(" bad mode %s", R(cuStreamBeginCaptureToGraph(s, tg, 0, 0, 0, 9)));
            OUT(" null stream %s", R(cuStreamBeginCaptureToGraph(0, tg, 0, 0, 0, 2)));
        } while (0);
        cuStreamEndCapture(s, &g);
    }
    CASE("destroy-graph-being-captured")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        const CUgraphNode *dp;
        size_t nd;
        CUgraph gg;
        add(s, 0, 1);
        cuStreamGetCaptureInfo(s, &cs, 0, &gg, &dp, 0, &nd);
        OUT("instantiate while capturing %s", R(cuGraphInstantiate(&inx, gg, 0)));
        OUT(" destroy-node %s status ", R(cuGraphDestroyNode(dp[0])));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    for (int m = 0; m < 3; m++)
        CASE("exchange-mode-%s", cmn[m])
        {
            cm = m;
            do {
                OUT("%s", R(cuThreadExchangeStreamCaptureMode(&cm)));
                OUT(" was %d", cm);
            } while (0);
            CUdeviceptr p;
            s = mk(1);
            cuStreamBeginCapture(s, 0);
            OUT(" alloc %s", R(cuMemAlloc(&p, 64)));
            OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
            cm = 0;
            do {
                OUT(" restore %s", R(cuThreadExchangeStreamCaptureMode(&cm)));
                OUT(" was %d", cm);
            } while (0);
        }
    CASE("exchange-mode-bad")
    {
        cm = 3;
        do {
            OUT("%s", R(cuThreadExchangeStreamCaptureMode(&cm)));
            OUT(" %d", cm);
        } while (0);
        OUT(" null %s", R(cuThreadExchangeStreamCaptureMode(0)));
    }
    static const char *bn[] = {
        "cuMemAlloc",       "cuStreamEndCapture", "launch-into-it", "relaxed-thread-cuMemAlloc",
        "cuCtxSynchronize", "cuMemsetD8",         "cuEventCreate",  "launch-per-thread"};
    for (int i = 0; i < 8; i++)
        CASE("other-thread-%s", bn[i]) for (int m = 0; m < 3; m++)
        {
            OUT("%s%s: ", m ? "; " : "", cmn[m]);
            bgs = mk(1);
            cuStreamBeginCapture(bgs, m);
            bgi = i;
            pthread_t th;
            pthread_create(&th, 0, bg, 0);
            pthread_join(th, 0);
            OUT("%s status ", R(bgr));
            caps(bgs);
            OUT(" end %s", R((g = 0, cuStreamEndCapture(bgs, &g))));
        }
    CASE("nested-launch-of-graph")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        CUgraph cg;
        CUgraphNode n;
        CUgraphExec x;
        cuGraphCreate(&cg, 0);
        cuGraphAddEmptyNode(&n, cg, 0, 0);
        cuGraphInstantiate(&x, cg, 0);
        OUT("launch %s", R(cuGraphLaunch(x, s)));
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
    }
    CASE("async-alloc-and-free")
    {
        s = mk(1);
        CUdeviceptr p = 0;
        cuStreamBeginCapture(s, 0);
        OUT("alloc %s", R(cuMemAllocAsync(&p, 256, s)));
        do {
            OUT(" memset %s", R(cuMemsetD8Async(p, 1, 256, s)));
            OUT(" free %s", R(cuMemFreeAsync(p, s)));
        } while (0);
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
        CUgraphExec x;
        OUT(" instantiate %s", R(cuGraphInstantiate(&x, g, 0)));
        do {
            OUT(" launch %s", R(cuGraphLaunch(x, s)));
            OUT(" sync %s", R(cuStreamSynchronize(s)));
        } while (0);
    }
    CASE("replay-10-times")
    {
        s = mk(1);
        cuMemsetD8(dm, 0, 64);
        cuStreamBeginCapture(s, 0);
        add(s, 0, 1);
        add(s, 0, 2);
        (g = 0, cuStreamEndCapture(s, &g));
        CUgraphExec x;
        cuGraphInstantiate(&x, g, 0);
        for (int i = 0; i < 10; i++)
            cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        OUT("%u", rd(0));
    }
    CASE("parameters-copied-at-capture")
    {
        s = mk(1);
        cuMemsetD8(dm, 0, 64);
        unsigned v = 5;
        CUdeviceptr p = dm;
        void *a[] = {&p, &v};
        cuStreamBeginCapture(s, 0);
        cuLaunchKernel(f_add, 1, 1, 1, 1, 1, 1, 0, s, a, 0);
        v = 1000;
        (g = 0, cuStreamEndCapture(s, &g));
        CUgraphExec x;
        cuGraphInstantiate(&x, g, 0);
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        OUT("%u", rd(0));
    }
    CASE("bad-launch-while-capturing")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        OUT("%s ", R(cuLaunchKernel(f_nop, 0, 1, 1, 1, 1, 1, 0, s, 0, 0)));
        caps(s);
        OUT(" big block %s ", R(cuLaunchKernel(f_nop, 1, 1, 1, 2048, 1, 1, 0, s, 0, 0)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
    CASE("memcpy-zero-bytes-while-capturing")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        do {
            OUT("%s", R(cuMemcpyDtoDAsync(dm, dm, 0, s)));
            OUT(" %s", R(cuMemsetD8Async(dm, 0, 0, s)));
        } while (0);
        OUT(" end %s ", R((g = 0, cuStreamEndCapture(s, &g))));
        graphinfo(g);
    }
    CASE("unmapped-pointer-while-capturing")
    {
        s = mk(1);
        cuStreamBeginCapture(s, 2);
        OUT("%s ", R(cuMemsetD8Async(0x1000, 0, 16, s)));
        caps(s);
        OUT(" end %s", R((g = 0, cuStreamEndCapture(s, &g))));
    }
}
GROUP(capture_destroy)
{
    S();
    in_setup();
    CUstream s;
    for (int m = 0; m < 3; m++)
        CASE("destroy-capturing-stream-%s", cmn[m])
        {
            s = mk(m == 2 ? 0 : 1);
            cuStreamBeginCapture(s, m);
            OUT("%s", R(cuStreamDestroy(s)));
            CUdeviceptr p;
            OUT(" alloc after %s", R(cuMemAlloc(&p, 64)));
        }
}
// ---- stream memory operations ----
static CUstreamBatchMemOpParams op(int o, CUdeviceptr a, uint64_t v, unsigned fl)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = o;
    if (o == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
        p.flushRemoteWrites.flags = fl;
    else if (o == CU_STREAM_MEM_OP_BARRIER)
        p.memoryBarrier.flags = fl;
    else {
        p.waitValue.address = a;
        p.waitValue.value64 = v;
        p.waitValue.flags = fl;
    }
    return p;
}
static uint64_t rd64(unsigned off)
{
    uint64_t v = 0;
    cuMemcpyDtoH(&v, dm + off, 8);
    return v;
}
static void wr64(unsigned off, uint64_t v)
{
    cuMemcpyHtoD(dm + off, &v, 8);
}
GROUP(memops)
{
    S();
    CUstream s = mk(1), t = mk(0);
    CUstreamBatchMemOpParams p[300];
    for (int i = 0; i < 3; i++)
        CASE("write-on-%s", sn[i])
        {
            wr64(0, 0);
            W("write32", cuStreamWriteValue32(SN(i), dm, 0x11223344, 0));
            W("write64", cuStreamWriteValue64(SN(i), dm + 8, 0x1122334455667788ull, 0));
            W("wait32", cuStreamWaitValue32(SN(i), dm, 0x11223344, CU_STREAM_WAIT_VALUE_EQ));
            W("sync", cuStreamSynchronize(SN(i)));
            do {
                OUT(" values %llx", (unsigned long long)rd64(0));
                OUT(" %llx", (unsigned long long)rd64(8));
            } while (0);
        }
    CASE("write32-leaves-the-rest")
    {
        wr64(0, ~0ull);
        cuStreamWriteValue32(s, dm, 0, 0);
        cuStreamSynchronize(s);
        OUT("%llx", (unsigned long long)rd64(0));
    }
    CASE("write-flags") for (int f = 0; f < 4; f++)
    {
        do {
            OUT("32 %d", f);
            OUT(":%s ", R(cuStreamWriteValue32(s, dm, 1, f)));
        } while (0);
        do {
            OUT("64 %d", f);
            OUT(":%s ", R(cuStreamWriteValue64(s, dm, 1, f)));
        } while (0);
    }
    CASE("write-flags-high")
    {
        do {
            OUT("%s", R(cuStreamWriteValue32(s, dm, 1, 1u << 30)));
            OUT(" %s", R(cuStreamWriteValue64(s, dm, 1, 0x80000000u)));
        } while (0);
    }
    CASE("write-misaligned")
    {
        for (int o = 1; o < 8; o++) {
            do {
                OUT("+%d", o);
                OUT(" 32 %s", R(cuStreamWriteValue32(s, dm + o, 1, 0)));
                OUT(" 64 %s ", R(cuStreamWriteValue64(s, dm + o, 1, 0)));
            } while (0);
        }
        OUT("sync %s", R(cuStreamSynchronize(s)));
    }
    CASE("wait-misaligned") for (int o = 1; o < 8; o++) do
    {
        OUT("+%d", o);
        OUT(" 32 %s", R(cuStreamWaitValue32(s, dm + 64 + o, 0, 0)));
        OUT(" 64 %s ", R(cuStreamWaitValue64(s, dm + 64 + o, 0, 0)));
    }
    while (0)
        ;
    CASE("last-word-of-allocation")
    {
        W("32", cuStreamWriteValue32(s, dm + 65532, 5, 0));
        W("64", cuStreamWriteValue64(s, dm + 65528, 5, 0));
        W("sync", cuStreamSynchronize(s));
    }
    CASE("host-memory")
    {
        *(volatile uint64_t *)hm = 0;
        W("write32 to device pointer", cuStreamWriteValue32(s, hd, 7, 0));
        W("sync", cuStreamSynchronize(s));
        OUT(" %llu", (unsigned long long)*(volatile uint64_t *)hm);
        W("host pointer itself", cuStreamWriteValue32(s, (CUdeviceptr)(uintptr_t)hm, 8, 0));
        W("sync", cuStreamSynchronize(s));
        OUT(" %llu", (unsigned long long)*(volatile uint64_t *)hm);
    }
    // conditions: memory value, operand, whether the wait is satisfied at once (queried after a
    // while; opened by a host write of a satisfying value)
    static const struct {
        const char *n;
        unsigned f;
        uint64_t mem, val, fix;
    } c[] = {{"geq-equal", 0, 5, 5, 5},
             {"geq-above", 0, 6, 5, 6},
             {"geq-below", 0, 4, 5, 5},
             {"geq-wraps", 0, 0x80000001, 0xfffffffe, 0xfffffffe},
             {"geq-wrapped-below", 0, 0xfffffffe, 1, 1},
             {"geq-negative", 0, 0xffffffff, 0, 0},
             {"eq", 1, 5, 5, 5},
             {"eq-not", 1, 6, 5, 5},
             {"and", 2, 6, 2, 2},
             {"and-not", 2, 4, 2, 2},
             {"and-zero-operand", 2, 0, 1, 1},
             {"nor", 3, 0, 0, 0},
             {"nor-all-ones", 3, 0xffffffff, 0, 0},
             {"nor-one-bit-left", 3, 0xfffffffe, 0, 0}};
    for (unsigned i = 0; i < sizeof c / sizeof *c; i++)
        CASE("wait-%s", c[i].n) for (int w = 32; w <= 64; w += 32)
        {
            OUT("%s%d: ", w > 32 ? "; " : "", w);
            volatile uint64_t *v = (void *)(hm + 128);
            uint64_t m = c[i].mem, x = c[i].val, fx = c[i].fix;
            if (w == 64 && m >> 31)
                m |= 0xffffffff00000000ull;
            if (w == 64 && x >> 31)
                x |= 0xffffffff00000000ull;
            if (w == 64 && fx >> 31)
                fx |= 0xffffffff00000000ull;
            *v = m;
            CUresult r = w == 32 ? cuStreamWaitValue32(s, hd + 128, x, c[i].f)
                                 : cuStreamWaitValue64(s, hd + 128, x, c[i].f);
            OUT("%s", R(r));
            usleep(20000);
            OUT(" %s", R(cuStreamQuery(s)));
            *v = fx;
            OUT(" then %s", R(cuStreamSynchronize(s)));
        }
    CASE("wait-flags") for (unsigned f = 4; f < 9; f++) do
    {
        OUT("%u", f);
        OUT(":%s", R(cuStreamWaitValue32(s, dm, 0, f)));
        OUT("/%s ", R(cuStreamWaitValue64(s, dm, 0, f)));
    }
    while (0)
        ;
    CASE("wait-flush")
    {
        wr64(0, 9);
        OUT("%s", R(cuStreamWaitValue32(s, dm, 9, CU_STREAM_WAIT_VALUE_FLUSH | 1)));
        OUT(" %s", R(cuStreamWaitValue64(s, dm, 9, CU_STREAM_WAIT_VALUE_FLUSH)));
        OUT(" sync %s", R(cuStreamSynchronize(s)));
    }
    CASE("wait-on-device-memory-set-by-other-stream")
    {
        wr64(0, 0);
        cuStreamWaitValue32(s, dm, 3, 1);
        OUT("%s", R(cuStreamQuery(s)));
        cuStreamWriteValue32(t, dm, 3, 0);
        do {
            OUT(" %s", R(cuStreamSynchronize(t)));
            OUT(" %s", R(cuStreamSynchronize(s)));
        } while (0);
    }
    CASE("wait-then-hostfunc")
    {
        clr();
        gate(s);
        put(s, 1);
        OUT("%d ", nlg);
        gopen();
        cuStreamSynchronize(s);
        show();
    }
    CASE("v1-functions")
    {
        do {
            OUT("wait %s", R(wait32v1(s, dm, 0, 0)));
            OUT(" write %s", R(write32v1(s, dm, 0, 0)));
        } while (0);
    }
    CASE("batch-empty")
    {
        W("0 of array", cuStreamBatchMemOp(s, 0, p, 0));
        W("0 of null", cuStreamBatchMemOp(s, 0, 0, 0));
        W("1 of null", cuStreamBatchMemOp(s, 1, 0, 0));
        W("0, flags 1", cuStreamBatchMemOp(s, 0, p, 1));
        W("null stream 0", cuStreamBatchMemOp(0, 0, p, 0));
    }
    CASE("batch-flags")
    {
        p[0] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm, 1, 0);
        for (unsigned f = 1; f < 4; f++)
            OUT("%s ", R(cuStreamBatchMemOp(s, 1, p, f)));
    }
    CASE("batch-write-wait")
    {
        wr64(0, 0);
        p[0] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm, 5, 0);
        p[1] = op(CU_STREAM_MEM_OP_WAIT_VALUE_32, dm, 5, 1);
        p[2] = op(CU_STREAM_MEM_OP_WRITE_VALUE_64, dm + 8, 0x100000005ull, 0);
        p[3] = op(CU_STREAM_MEM_OP_WAIT_VALUE_64, dm + 8, 0x100000005ull, 1);
        OUT("%s", R(cuStreamBatchMemOp(s, 4, p, 0)));
        do {
            OUT(" %s", R(cuStreamSynchronize(s)));
            OUT(" %llx", (unsigned long long)rd64(0));
            OUT(" %llx", (unsigned long long)rd64(8));
        } while (0);
    }
    CASE("batch-order-last-write-wins")
    {
        for (int i = 0; i < 100; i++)
            p[i] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm + 16, i, 0);
        OUT("%s", R(cuStreamBatchMemOp(s, 100, p, 0)));
        do {
            OUT(" %s", R(cuStreamSynchronize(s)));
            OUT(" %llu", (unsigned long long)rd64(16) & 0xffffffff);
        } while (0);
    }
    EACH(n, 255, 256, 257, 300) CASE("batch-count-%d", *n)
    {
        for (int i = 0; i < 300; i++)
            p[i] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm + 16, i, 0);
        do {
            OUT("%s", R(cuStreamBatchMemOp(s, *n, p, 0)));
            OUT(" sync %s", R(cuStreamSynchronize(s)));
        } while (0);
    }
    CASE("batch-unknown-operation") for (int o = 0; o < 9; o++) if (o == 0 || o > 6)
    {
        p[0] = op(o, dm, 0, 0);
        do {
            OUT("%d", o);
            OUT(":%s ", R(cuStreamBatchMemOp(s, 1, p, 0)));
        } while (0);
    }
    CASE("batch-barrier") for (unsigned f = 0; f < 3; f++)
    {
        p[0] = op(CU_STREAM_MEM_OP_BARRIER, 0, 0, f);
        do {
            OUT("%u", f);
            OUT(":%s ", R(cuStreamBatchMemOp(s, 1, p, 0)));
        } while (0);
    }
    CASE("batch-flush-remote") for (unsigned f = 0; f < 2; f++)
    {
        p[0] = op(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0, 0, f);
        do {
            OUT("%u", f);
            OUT(":%s ", R(cuStreamBatchMemOp(s, 1, p, 0)));
        } while (0);
    }
    CASE("batch-bad-second-does-nothing")
    {
        wr64(0, 0);
        p[0] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm, 5, 0);
        p[1] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm + 1, 5, 0);
        OUT("%s", R(cuStreamBatchMemOp(s, 2, p, 0)));
        do {
            OUT(" sync %s", R(cuStreamSynchronize(s)));
            OUT(" value %llu", (unsigned long long)rd64(0));
        } while (0);
    }
    CASE("batch-write-flag-no-barrier")
    {
        p[0] = op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm, 5, 1);
        OUT("%s", R(cuStreamBatchMemOp(s, 1, p, 0)));
    }
    CASE("flush-gpu-direct-rdma")
    {
        W("current", cuFlushGPUDirectRDMAWrites(0, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
        W("all", cuFlushGPUDirectRDMAWrites(0, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
        W("bad target", cuFlushGPUDirectRDMAWrites(9, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
        W("bad scope", cuFlushGPUDirectRDMAWrites(0, 5));
    }
}

// these may reach the device and spoil the context: a process each
GROUP(memops_null)
{
    S();
    CUstream s = mk(1);
    CASE("null-address")
    {
        W("write32", cuStreamWriteValue32(s, 0, 1, 0));
        W("write64", cuStreamWriteValue64(s, 0, 1, 0));
        W("wait32", cuStreamWaitValue32(s, 0, 0, 0));
        W("wait64", cuStreamWaitValue64(s, 0, 0, 0));
        W("bad flags too", cuStreamWriteValue32(s, 0, 1, 99));
        W("sync", cuStreamSynchronize(s));
    }
}
GROUP(memops_unmapped)
{
    S();
    CUstream s = mk(1);
    CASE("unmapped-address")
    {
        W("write32", cuStreamWriteValue32(s, 0x10000, 1, 0));
        W("wait32", cuStreamWaitValue32(s, 0x10000, 0, 0));
        W("sync", cuStreamSynchronize(s));
    }
}
GROUP(memops_pageable)
{
    S();
    CUstream s = mk(1);
    CASE("pageable-host-address")
    {
        static uint64_t v;
        W("write32", cuStreamWriteValue32(s, (CUdeviceptr)(uintptr_t)&v, 8, 0));
        W("wait32", cuStreamWaitValue32(s, (CUdeviceptr)(uintptr_t)&v, 0, 0));
        W("sync", cuStreamSynchronize(s));
    }
}

// ---- order between streams ----
GROUP(ordering)
{
    S();
    CUstream b = mk(0), b2 = mk(0), n = mk(1), n2 = mk(1);
    cuCtxSynchronize();
    // a gated stream X, then work in Y: is Y held back?
    CUstream st[6] = {0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, b, n, b2};
    static const char *nm[] = {"null",     "legacy",       "per-thread",
                               "blocking", "non-blocking", "other-blocking"};
    for (int i = 0; i < 6; i++)
        CASE("%s-gated", nm[i])
        for (int j = 0; j < 6; j++) if (i != j && !(i < 2 && j < 2) && !(i == 5 && j == 3))
        {
            OUT("then %s: ", nm[j]);
            CUresult r = gate(st[i]);
            if (r)
                OUT("gate %s ", R(r));
            r = cuMemsetD8Async(dm + 64, 1, 4, st[j]);
            if (r)
                OUT("work %s ", R(r));
            usleep(50000);
            r = cuStreamQuery(st[j]);
            OUT("%s", R(r));
            gopen();
            OUT(" then %s; ", R(cuCtxSynchronize()));
        }
    CASE("blocking-work-null-work-blocking-work")
    {
        clr();
        put(b, 1);
        put(0, 2);
        put(b2, 3);
        put(0, 4);
        put(b, 5);
        cuCtxSynchronize();
        show();
    }
    CASE("null-orders-two-blocking-streams")
    {
        cuMemsetD8(dm, 0, 64);
        for (int i = 0; i < 20; i++) {
            set(b, 0, i);
            set(0, 0, 100 + i);
            set(b2, 0, 200 + i);
        }
        set(0, 4, 1);
        cuCtxSynchronize();
        OUT("%u", rd(0) == 219);
    }
    CASE("per-thread-after-null")
    {
        clr();
        put(0, 1);
        put(CU_STREAM_PER_THREAD, 2);
        put(0, 3);
        cuCtxSynchronize();
        show();
    }
    CASE("query-null-with-blocking-pending")
    {
        gate(b);
        do {
            OUT("null %s", R(cuStreamQuery(0)));
            OUT(" legacy %s", R(cuStreamQuery(CU_STREAM_LEGACY)));
            OUT(" per-thread %s", R(cuStreamQuery(CU_STREAM_PER_THREAD)));
            OUT(" non-blocking %s", R(cuStreamQuery(n)));
            OUT(" blocking %s", R(cuStreamQuery(b)));
        } while (0);
        gopen();
        cuCtxSynchronize();
    }
    CASE("event-in-null-with-blocking-pending")
    {
        CUevent e = mkev(2);
        gate(b);
        cuEventRecord(e, 0);
        usleep(20000);
        OUT("%s", R(cuEventQuery(e)));
        gopen();
        OUT(" %s", R(cuEventSynchronize(e)));
        cuCtxSynchronize();
    }
    CASE("event-in-null-with-non-blocking-pending")
    {
        CUevent e = mkev(2);
        gate(n);
        cuEventRecord(e, 0);
        OUT("%s", R(cuEventSynchronize(e)));
        gopen();
        cuCtxSynchronize();
    }
    CASE("events-order-non-blocking-streams")
    {
        clr();
        CUevent e = mkev(2);
        put(n, 1);
        cuEventRecord(e, n);
        cuStreamWaitEvent(n2, e, 0);
        put(n2, 2);
        cuEventRecord(e, n2);
        cuStreamWaitEvent(0, e, 0);
        put(0, 3);
        cuCtxSynchronize();
        show();
    }
    CASE("context-synchronize-waits-for-all")
    {
        clr();
        put(b, 1);
        put(n, 2);
        put(CU_STREAM_PER_THREAD, 3);
        put(0, 4);
        CUresult r = cuCtxSynchronize();
        do {
            OUT("%s", R(r));
            OUT(" %d", nlg);
            OUT(" run; v2 %s", R(cuCtxSynchronize_v2(cx)));
        } while (0);
        OUT(" null %s", R(cuCtxSynchronize_v2(0)));
    }
    CASE("synchronous-memset-waits-for-blocking")
    {
        gate(b);
        clr();
        put(b, 1);
        gopen();
        cuMemsetD8(dm, 0, 64);
        unsigned v;
        cuMemcpyDtoH(&v, dm, 4);
        OUT("%d run", nlg);
        cuCtxSynchronize();
    }
    CASE("dtoh-waits-for-blocking-kernel")
    {
        cuMemsetD8(dm, 0, 64);
        for (int i = 0; i < 50; i++)
            add(b, 0, 1);
        OUT("%u", rd(0));
    }
    CASE("async-copy-chain")
    {
        cuMemsetD8(dm, 0, 64);
        unsigned *h = (void *)hm;
        h[0] = 5;
        cuMemcpyHtoDAsync(dm, h, 4, n);
        add(n, 0, 10);
        cuMemcpyDtoHAsync(h + 1, dm, 4, n);
        add(n, 0, 100);
        cuMemcpyDtoHAsync(h + 2, dm, 4, n);
        cuStreamSynchronize(n);
        OUT("%u %u", h[1], h[2]);
    }
    CASE("pageable-async-copy-is-staged")
    {
        unsigned v = 77;
        cuMemcpyHtoDAsync(dm, &v, 4, n);
        v = 0;
        cuStreamSynchronize(n);
        OUT("%u", rd(0));
    }
    CASE("dtoh-async-pageable-complete-at-return")
    {
        unsigned v = 0, w = 99;
        cuMemcpyHtoD(dm, &w, 4);
        cuMemcpyDtoHAsync(&v, dm, 4, n);
        OUT("%u", v);
    }
    CASE("diamond")
    {
        clr();
        CUevent a = mkev(2), c = mkev(2), d = mkev(2);
        put(n, 1);
        cuEventRecord(a, n);
        cuStreamWaitEvent(n2, a, 0);
        cuStreamWaitEvent(b, a, 0);
        add(n2, 0, 1);
        add(b, 0, 1);
        cuEventRecord(c, n2);
        cuEventRecord(d, b);
        cuStreamWaitEvent(n, c, 0);
        cuStreamWaitEvent(n, d, 0);
        put(n, 4);
        cuStreamSynchronize(n);
        show();
        do {
            OUT(" n2 %s", R(cuStreamQuery(n2)));
            OUT(" b %s", R(cuStreamQuery(b)));
        } while (0);
    }
}

// ---- occupancy and function attributes ----
static size_t CUDA_CB b2d(int b)
{
    return b * 16;
}
GROUP(occupancy)
{
    S();
    int n, m;
    size_t z;
    CASE("active-blocks-bad-size") EACH(bs, -1, 0, 1025, 4096) do
    {
        OUT("%d", *bs);
        OUT(":%s ", R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f_nop, *bs, 0)));
    }
    while (0)
        ;
    CASE("active-blocks") EACH(bs, 1, 31, 32, 33, 64, 128, 512, 1024)
    {
        n = -7;
        do {
            OUT("%d", *bs);
            OUT(": %s", R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f_nop, *bs, 0)));
        } while (0);
        OUT(" %d, 1000 bytes static: ", n);
        n = -7;
        OUT("%s", R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f_sh, *bs, 0)));
        OUT(" %d; ", n);
    }
    static const size_t dy[] = {1,          1024,       16384,      48 * 1024, 48 * 1024 + 1,
                                100 * 1024, 227 * 1024, 228 * 1024, 1 << 20,   (size_t)-1};
    CASE("dynamic") for (int i = 0; i < 10; i++)
    {
        n = -7;
        do {
            OUT("%zu", dy[i]);
            OUT(": %s", R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f_nop, 128, dy[i])));
        } while (0);
        OUT(" %d; ", n);
    }
    CASE("flags") for (unsigned f = 0; f < 4; f++)
    {
        n = -7;
        do {
            OUT("%u", f);
            OUT(": %s",
                R(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f_nop, 128, 0, f)));
        } while (0);
        OUT(" %d, potential ", n);
        n = m = -7;
        OUT("%s", R(cuOccupancyMaxPotentialBlockSizeWithFlags(&n, &m, f_nop, 0, 0, 0, f)));
        OUT(" %d %d; ", n, m);
    }
    CASE("nulls")
    {
        W("out", cuOccupancyMaxActiveBlocksPerMultiprocessor(0, f_nop, 128, 0));
        W("function", cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, 0, 128, 0));
        W("both", cuOccupancyMaxActiveBlocksPerMultiprocessor(0, 0, 0, 0));
        W("potential grid", cuOccupancyMaxPotentialBlockSize(0, &m, f_nop, 0, 0, 0));
        W("potential block", cuOccupancyMaxPotentialBlockSize(&n, 0, f_nop, 0, 0, 0));
        W("potential function", cuOccupancyMaxPotentialBlockSize(&n, &m, 0, 0, 0, 0));
        W("available out", cuOccupancyAvailableDynamicSMemPerBlock(0, f_nop, 1, 128));
        W("available function", cuOccupancyAvailableDynamicSMemPerBlock(&z, 0, 1, 128));
    }
    CASE("potential-limit") EACH(l, -1, 0, 1, 32, 100, 1024, 5000)
    {
        n = m = -7;
        do {
            OUT("%d", *l);
            OUT(": %s", R(cuOccupancyMaxPotentialBlockSize(&n, &m, f_nop, 0, 0, *l)));
        } while (0);
        OUT(" %d %d, with 16 bytes a thread ", n, m);
        n = m = -7;
        OUT("%s", R(cuOccupancyMaxPotentialBlockSize(&n, &m, f_nop, b2d, 0, *l)));
        OUT(" %d %d; ", n, m);
    }
    CASE("available-shared") EACH(nb, -1, 0, 1, 2, 4, 8, 16, 32, 33)
    {
        z = 7;
        do {
            OUT("%d", *nb);
            OUT(": %s", R(cuOccupancyAvailableDynamicSMemPerBlock(&z, f_nop, *nb, 64)));
        } while (0);
        OUT(" %zu, static ", z);
        z = 7;
        OUT("%s", R(cuOccupancyAvailableDynamicSMemPerBlock(&z, f_sh, *nb, 64)));
        OUT(" %zu; ", z);
    }
    CASE("available-shared-block-sizes") for (int bs = 0; bs <= 2048; bs += 512)
    {
        z = 7;
        do {
            OUT("%d", bs);
            OUT(":%s", R(cuOccupancyAvailableDynamicSMemPerBlock(&z, f_nop, 1, bs)));
        } while (0);
        OUT("/%zu ", z);
    }
    CASE("clusters")
    {
        CUlaunchConfig c;
        memset(&c, 0, sizeof c);
        c.gridDimX = 16;
        c.gridDimY = c.gridDimZ = 1;
        c.blockDimX = 128;
        c.blockDimY = c.blockDimZ = 1;
        n = -7;
        OUT("potential %s", R(cuOccupancyMaxPotentialClusterSize(&n, f_nop, &c)));
        OUT(" %d", n);
        n = -7;
        OUT("; active without attribute %s", R(cuOccupancyMaxActiveClusters(&n, f_nop, &c)));
        OUT(" %d", n);
        CUlaunchAttribute a;
        memset(&a, 0, sizeof a);
        a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        a.value.clusterDim.x = 16;
        a.value.clusterDim.y = a.value.clusterDim.z = 1;
        c.attrs = &a;
        c.numAttrs = 1;
        n = -7;
        OUT("; size 16 %s", R(cuOccupancyMaxActiveClusters(&n, f_nop, &c)));
        a.value.clusterDim.x = 3;
        OUT(" size 3 %s", R(cuOccupancyMaxActiveClusters(&n, f_nop, &c)));
        do {
            OUT("; null config %s", R(cuOccupancyMaxPotentialClusterSize(&n, f_nop, 0)));
            OUT(" null out %s", R(cuOccupancyMaxPotentialClusterSize(0, f_nop, &c)));
            OUT(" null function %s", R(cuOccupancyMaxPotentialClusterSize(&n, 0, &c)));
        } while (0);
    }
}
GROUP(func_attributes)
{
    S();
    int v;
    CASE("get") for (int a = -1; a < 18; a++) if (a != CU_FUNC_ATTRIBUTE_NUM_REGS)
    {
        v = -7;
        do {
            OUT("%d", a);
            OUT(": %s", R(cuFuncGetAttribute(&v, a, f_nop)));
        } while (0);
        OUT(" %d, static shared ", v);
        v = -7;
        OUT("%s", R(cuFuncGetAttribute(&v, a, f_sh)));
        OUT(" %d; ", v);
    }
    CASE("get-number-of-registers")
    {
        v = -7;
        OUT("%s", R(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, f_nop)));
        OUT(" positive %d", v > 0);
    }
    CASE("get-nulls")
    {
        W("out", cuFuncGetAttribute(0, 0, f_nop));
        W("function", cuFuncGetAttribute(&v, 0, 0));
        W("out, bad attribute", cuFuncGetAttribute(0, 99, f_nop));
        W("function, bad attribute", cuFuncGetAttribute(&v, 99, 0));
        W("set null function", cuFuncSetAttribute(0, 8, 0));
        W("set bad attribute, null function", cuFuncSetAttribute(0, 99, 0));
    }
    for (int a = -1; a < 18; a++)
        CASE("set-%d", a)
        {
            static const int vs[] = {-2, -1, 0, 1, 2, 100, 101, 49152, 65536, 232448, 232449};
            for (int i = 0; i < 11; i++) {
                CUfunction f;
                CUmodule m;
                cuModuleLoadData(&m, PTX);
                cuModuleGetFunction(&f, m, "nop");
                do {
                    OUT("%d", vs[i]);
                    OUT(":%s ", R(cuFuncSetAttribute(f, a, vs[i])));
                } while (0);
                v = -7;
                cuFuncGetAttribute(&v, a, f);
                if (a != CU_FUNC_ATTRIBUTE_NUM_REGS)
                    OUT("=%d ", v);
                cuModuleUnload(m);
            }
        }
    CASE("cache-config") for (int c = -1; c < 5; c++) do
    {
        OUT("%d", c);
        OUT(": %s", R(cuFuncSetCacheConfig(f_nop, c)));
        OUT(" context %s; ", R(cuCtxSetCacheConfig(c)));
    }
    while (0)
        ;
    CASE("set-shared-above-with-static")
    {
        do {
            OUT("%s", R(cuFuncSetAttribute(f_sh, 8, 232448)));
            OUT(" %s", R(cuFuncSetAttribute(f_sh, 8, 232448 - 1000)));
            OUT(" %s", R(cuFuncSetAttribute(f_sh, 8, 232448 - 999)));
        } while (0);
        cuFuncGetAttribute(&v, 8, f_sh);
        OUT(" now %d", v);
    }
}
GROUP(device_misc)
{
    cuInit(0);
    int v;
    CUuuid u;
    char l[8];
    unsigned mask;
    char b[64];
    Q("uuid-null", cuDeviceGetUuid(0, 0));
    CASE("uuid-bad-device") do
    {
        OUT("%s", R(cuDeviceGetUuid(&u, -1)));
        OUT(" %s", R(cuDeviceGetUuid(&u, 99)));
        OUT("; null too %s", R(cuDeviceGetUuid(0, 99)));
    }
    while (0)
        ;
    CASE("uuid-nonzero")
    {
        memset(&u, 0, sizeof u);
        OUT("%s", R(cuDeviceGetUuid(&u, 0)));
        int z = 0;
        for (int i = 0; i < 16; i++)
            z |= u.bytes[i];
        OUT(" %d", z != 0);
    }
    CASE("luid") do
    {
        OUT("%s", R(cuDeviceGetLuid(l, &mask, 0)));
        OUT(" %s", R(cuDeviceGetLuid(0, &mask, 0)));
        OUT(" %s", R(cuDeviceGetLuid(l, 0, 0)));
    }
    while (0)
        ;
    CASE("device-get")
    {
        CUdevice d = -7;
        do {
            OUT("-1 %s", R(cuDeviceGet(&d, -1)));
            OUT(" 99 %s", R(cuDeviceGet(&d, 99)));
            OUT(" null %s", R(cuDeviceGet(0, 0)));
            OUT(" null-and-bad %s", R(cuDeviceGet(0, 99)));
        } while (0);
        OUT(" untouched %d", d == -7);
    }
    CASE("device-count")
    {
        do {
            OUT("%s", R(cuDeviceGetCount(&v)));
            OUT(" null %s", R(cuDeviceGetCount(0)));
        } while (0);
    }
    CASE("device-name")
    {
        memset(b, 'x', 64);
        OUT("null %s", R(cuDeviceGetName(0, 64, 0)));
        do {
            OUT(" length 0 %s", R(cuDeviceGetName(b, 0, 0)));
            OUT(" -1 %s", R(cuDeviceGetName(b, -1, 0)));
            OUT(" bad device %s", R(cuDeviceGetName(b, 64, 99)));
        } while (0);
        memset(b, 'x', 64);
        OUT(" length 5 %s", R(cuDeviceGetName(b, 5, 0)));
        OUT(" \"%.8s\"", b);
        memset(b, 'x', 64);
        OUT(" length 1 %s", R(cuDeviceGetName(b, 1, 0)));
        OUT(" %d", b[0]);
    }
    for (int g = -1; g < 8; g += 3)
        CASE("p2p-attributes-from-%d", g) for (int a = g; a < g + 3; a++)
        {
            v = -7;
            do {
                OUT("%d", a);
                OUT(": 0,0 %s", R(cuDeviceGetP2PAttribute(&v, a, 0, 0)));
            } while (0);
            do {
                OUT(" %d", v);
                OUT(", 0,99 %s", R(cuDeviceGetP2PAttribute(&v, a, 0, 99)));
                OUT(" 99,0 %s", R(cuDeviceGetP2PAttribute(&v, a, 99, 0)));
                OUT(" -1,0 %s", R(cuDeviceGetP2PAttribute(&v, a, -1, 0)));
                OUT(" null %s; ", R(cuDeviceGetP2PAttribute(0, a, 0, 0)));
            } while (0);
        }
    CASE("can-access-peer")
    {
        v = -7;
        OUT("0,0 %s", R(cuDeviceCanAccessPeer(&v, 0, 0)));
        do {
            OUT(" %d", v);
            OUT("; 0,99 %s", R(cuDeviceCanAccessPeer(&v, 0, 99)));
            OUT(" null %s", R(cuDeviceCanAccessPeer(0, 0, 0)));
        } while (0);
    }
    CASE("p2p-atomic")
    {
        unsigned c[3] = {7, 7, 7};
        CUatomicOperation o[3] = {0, 5, 10};
        OUT("0,0 %s", R(cuDeviceGetP2PAtomicCapabilities(c, o, 3, 0, 0)));
        do {
            OUT(" %x", c[0]);
            OUT(" %x", c[1]);
            OUT(" %x", c[2]);
            OUT("; count 0 %s", R(cuDeviceGetP2PAtomicCapabilities(c, o, 0, 0, 0)));
            OUT(" null %s", R(cuDeviceGetP2PAtomicCapabilities(0, o, 3, 0, 0)));
        } while (0);
    }
    CASE("host-atomic") for (int k = 0; k < 15; k++)
    {
        unsigned c = 777;
        CUatomicOperation o = k;
        do {
            OUT("%d", k);
            OUT(":%s", R(cuDeviceGetHostAtomicCapabilities(&c, &o, 1, 0)));
        } while (0);
        OUT("=%x ", c);
    }
    CASE("host-atomic-errors")
    {
        unsigned c;
        CUatomicOperation o = 0;
        do {
            OUT("count 0 %s", R(cuDeviceGetHostAtomicCapabilities(&c, &o, 0, 0)));
            OUT(" null %s", R(cuDeviceGetHostAtomicCapabilities(0, &o, 1, 0)));
            OUT(" null op %s", R(cuDeviceGetHostAtomicCapabilities(&c, 0, 1, 0)));
            OUT(" bad device %s", R(cuDeviceGetHostAtomicCapabilities(&c, &o, 1, 99)));
        } while (0);
    }
    CASE("exec-affinity")
    {
        OUT("%s", R(cuDeviceGetExecAffinitySupport(&v, 0, 0)));
        do {
            OUT(" %d", v);
            OUT("; bad type %s", R(cuDeviceGetExecAffinitySupport(&v, 1, 0)));
            OUT(" null %s", R(cuDeviceGetExecAffinitySupport(0, 0, 0)));
        } while (0);
    }
    CASE("loading-mode")
    {
        CUmoduleLoadingMode m = 77;
        OUT("%s", R(cuModuleGetLoadingMode(&m)));
        do {
            OUT(" %d", m);
            OUT(" null %s", R(cuModuleGetLoadingMode(0)));
        } while (0);
    }
    CASE("texture-1d-linear-max")
    {
        size_t z = 7;
        for (unsigned c = 0; c < 5; c++) {
            z = 7;
            do {
                OUT("%u", c);
                OUT(":%s", R(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_FLOAT, c, 0)));
            } while (0);
            OUT("=%zu ", z);
        }
    }
    probe_ctx();
    CUcontext c;
    cuCtxGetCurrent(&c);
    CASE("profiler")
    {
        W("start", cuProfilerStart());
        W("start", cuProfilerStart());
        W("stop", cuProfilerStop());
        W("stop", cuProfilerStop());
        W("initialize", cuProfilerInitialize("a", "b", CU_OUT_CSV));
        W("initialize bad mode", cuProfilerInitialize("a", "b", 77));
    }
    CASE("peer-with-itself")
    {
        W("enable", cuCtxEnablePeerAccess(c, 0));
        W("enable flags 1", cuCtxEnablePeerAccess(c, 1));
        W("enable null", cuCtxEnablePeerAccess(0, 0));
        W("disable", cuCtxDisablePeerAccess(c));
        W("disable null", cuCtxDisablePeerAccess(0));
    }
    CASE("coredump-attribute-sizes") for (int a = 0; a < 12; a++)
    {
        char buf[600];
        size_t z = sizeof buf;
        do {
            OUT("%d", a);
            OUT(":%s", R(cuCoredumpGetAttributeGlobal(a, buf, &z)));
        } while (0);
        OUT("/%zu ", a == 5 || a == 6 ? 0 : z);
    }
    CASE("context-limits-null")
    {
        size_t z;
        do {
            OUT("get null %s", R(cuCtxGetLimit(0, 0)));
            OUT(" bad %s", R(cuCtxGetLimit(&z, 99)));
            OUT(" set bad %s", R(cuCtxSetLimit(99, 1)));
        } while (0);
        OUT(" null-and-bad %s", R(cuCtxGetLimit(0, 99)));
    }
}
// ---- graphs ----
static CUgraph G0(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}
static CUgraphNode em(CUgraph g)
{
    CUgraphNode n;
    MUST(cuGraphAddEmptyNode(&n, g, 0, 0));
    return n;
}
static unsigned kv;
static CUdeviceptr kp;
static void *ka[2] = {&kp, &kv};
static CUDA_KERNEL_NODE_PARAMS kn(unsigned off, unsigned v)
{
    CUDA_KERNEL_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    kp = dm + off;
    kv = v;
    p.func = f_add;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = ka;
    return p;
}
static CUDA_MEMSET_NODE_PARAMS ms(unsigned off, unsigned v, unsigned es, size_t w, size_t h)
{
    CUDA_MEMSET_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.dst = dm + off;
    p.value = v;
    p.elementSize = es;
    p.width = w;
    p.height = h;
    p.pitch = 512;
    return p;
}
static CUDA_MEMCPY3D mc(CUdeviceptr d, CUdeviceptr s, size_t n)
{
    CUDA_MEMCPY3D p;
    memset(&p, 0, sizeof p);
    p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = s;
    p.dstDevice = d;
    p.WidthInBytes = n;
    p.Height = p.Depth = 1;
    return p;
}
static CUDA_HOST_NODE_PARAMS hn(int v)
{
    CUDA_HOST_NODE_PARAMS p;
    p.fn = L;
    p.userData = (void *)(intptr_t)v;
    return p;
}
static CUgraphNode ak(CUgraph g, CUgraphNode d, unsigned off, unsigned v)
{
    CUgraphNode n = 0;
    CUDA_KERNEL_NODE_PARAMS p = kn(off, v);
    CUresult r = cuGraphAddKernelNode(&n, g, d ? &d : 0, d != 0, &p);
    if (r)
        OUT("kernel-node %s ", R(r));
    return n;
}
static CUgraphNode ah(CUgraph g, CUgraphNode d, int v)
{
    CUgraphNode n = 0;
    CUDA_HOST_NODE_PARAMS p = hn(v);
    CUresult r = cuGraphAddHostNode(&n, g, d ? &d : 0, d != 0, &p);
    if (r)
        OUT("host-node %s ", R(r));
    return n;
}
static CUgraphNode am(CUgraph g, CUgraphNode d, unsigned off, unsigned v)
{
    CUgraphNode n = 0;
    CUDA_MEMSET_NODE_PARAMS p = ms(off, v, 4, 1, 1);
    CUresult r = cuGraphAddMemsetNode(&n, g, d ? &d : 0, d != 0, &p, cx);
    if (r)
        OUT("memset-node %s ", R(r));
    return n;
}
static CUgraphExec inst(CUgraph g)
{
    CUgraphExec x = 0;
    CUresult r = cuGraphInstantiate(&x, g, 0);
    if (r)
        OUT("instantiate %s ", R(r));
    return x;
}
static void run(CUgraph g)
{
    CUgraphExec x = inst(g);
    if (!x)
        return;
    CUresult r = cuGraphLaunch(x, 0);
    if (r)
        OUT("launch %s ", R(r));
    r = cuStreamSynchronize(0);
    if (r)
        OUT("sync %s ", R(r));
    cuGraphExecDestroy(x);
}
GROUP(graph_build)
{
    S();
    CUgraph g = 0;
    CUgraphNode a = 0, b = 0, c = 0, d[4];
    size_t n;
    CASE("create")
    {
        do {
            OUT("%s", R(cuGraphCreate(&g, 0)));
            OUT(" flags-1 %s", R(cuGraphCreate(&g, 1)));
            OUT(" flags-max %s", R(cuGraphCreate(&g, ~0u)));
            OUT(" null %s", R(cuGraphCreate(0, 0)));
            OUT(" null-and-flags %s", R(cuGraphCreate(0, 1)));
        } while (0);
    }
    CASE("destroy")
    {
        do {
            OUT("%s", R(cuGraphDestroy(G0())));
            OUT(" null %s", R(cuGraphDestroy(0)));
        } while (0);
    }
    CASE("empty-node")
    {
        g = G0();
        do {
            OUT("%s", R(cuGraphAddEmptyNode(&a, g, 0, 0)));
            OUT(" null-out %s", R(cuGraphAddEmptyNode(0, g, 0, 0)));
            OUT(" null-graph %s", R(cuGraphAddEmptyNode(&a, 0, 0, 0)));
            OUT(" count-without-deps %s", R(cuGraphAddEmptyNode(&b, g, 0, 1)));
            OUT(" null-dep %s", R((d[0] = 0, cuGraphAddEmptyNode(&b, g, d, 1))));
        } while (0);
        n = 0;
        cuGraphGetNodes(g, 0, &n);
        OUT(" nodes %zu", n);
    }
    CASE("dependency-of-other-graph")
    {
        g = G0();
        a = em(G0());
        OUT("%s", R(cuGraphAddEmptyNode(&b, g, &a, 1)));
        n = 9;
        cuGraphGetNodes(g, 0, &n);
        OUT(" nodes %zu", n);
    }
    CASE("duplicate-dependency")
    {
        g = G0();
        d[0] = d[1] = em(g);
        OUT("%s", R(cuGraphAddEmptyNode(&b, g, d, 2)));
        n = 9;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT(" edges %zu", n);
    }
    CASE("kernel-node-errors")
    {
        g = G0();
        CUDA_KERNEL_NODE_PARAMS p = kn(0, 1);
        OUT("ok %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        OUT("; null params %s", R(cuGraphAddKernelNode(&a, g, 0, 0, 0)));
        p.func = 0;
        OUT("; null function %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.kernelParams = 0;
        OUT("; null kernelParams %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.gridDimX = 0;
        OUT("; grid 0 %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.gridDimY = 65536;
        OUT("; grid y 65536 %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.blockDimX = 0;
        OUT("; block 0 %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p.blockDimX = 1025;
        OUT("; block 1025 %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.sharedMemBytes = 48 * 1024 + 1;
        OUT("; shared 48K+1 %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p.sharedMemBytes = 1 << 20;
        OUT("; shared 1M %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        p = kn(0, 1);
        p.extra = ka;
        OUT("; params and extra %s", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        n = 0;
        cuGraphGetNodes(g, 0, &n);
        OUT(" nodes %zu", n);
    }
    CASE("kernel-node-extra")
    {
        g = G0();
        CUDA_KERNEL_NODE_PARAMS p = kn(0, 1);
        struct {
            CUdeviceptr p;
            unsigned v;
        } pb = {dm, 9};
        size_t sz = 12;
        void *ex[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &pb, CU_LAUNCH_PARAM_BUFFER_SIZE, &sz,
                      CU_LAUNCH_PARAM_END};
        p.kernelParams = 0;
        p.extra = ex;
        cuMemsetD8(dm, 0, 64);
        OUT("%s ", R(cuGraphAddKernelNode(&a, g, 0, 0, &p)));
        pb.v = 1000;
        run(g);
        OUT("value %u", rd(0));
    }
    CASE("kernel-node-get-params")
    {
        g = G0();
        a = ak(g, 0, 8, 5);
        CUDA_KERNEL_NODE_PARAMS q;
        memset(&q, 0x77, sizeof q);
        CUresult r = cuGraphKernelNodeGetParams(a, &q);
        OUT("%s", R(r));
        if (r)
            memset(&q, 0, sizeof q);
        do {
            OUT(" func %d", q.func == f_add);
            OUT(" grid %u", q.gridDimX);
            OUT(" %u", q.gridDimY);
            OUT(" %u", q.gridDimZ);
            OUT(" block %u", q.blockDimX);
            OUT(" %u", q.blockDimY);
            OUT(" %u", q.blockDimZ);
            OUT(" shared %u", q.sharedMemBytes);
            OUT(" params %d", q.kernelParams != 0);
            OUT(" extra %d", q.extra != 0);
            OUT(" value %u", q.kernelParams ? *(unsigned *)q.kernelParams[1] : 0);
            OUT(" kern null %d", q.kern == 0);
            OUT(" ctx null %d", q.ctx == 0);
            OUT("; null out %s", R(cuGraphKernelNodeGetParams(a, 0)));
        } while (0);
        OUT(" wrong type %s", R(cuGraphKernelNodeGetParams(em(g), &q)));
        OUT(" null node %s", R(cuGraphKernelNodeGetParams(0, &q)));
    }
    CASE("kernel-node-set-params")
    {
        g = G0();
        a = ak(g, 0, 0, 5);
        CUDA_KERNEL_NODE_PARAMS p = kn(0, 50);
        cuMemsetD8(dm, 0, 64);
        OUT("%s ", R(cuGraphKernelNodeSetParams(a, &p)));
        run(g);
        do {
            OUT("value %u", rd(0));
            OUT("; null %s", R(cuGraphKernelNodeSetParams(a, 0)));
        } while (0);
        p.gridDimX = 0;
        OUT(" zero grid %s", R(cuGraphKernelNodeSetParams(a, &p)));
    }
    EACH(es, 0, 1, 2, 3, 4, 8) CASE("memset-element-size-%d", *es)
    {
        g = G0();
        CUDA_MEMSET_NODE_PARAMS p = ms(0, 0x11223344, *es, 6, 2);
        cuMemsetD8(dm, 0, 2048);
        OUT("%s ", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        run(g);
        do {
            OUT("%08x", rd(0));
            OUT(" %08x", rd(4 * 5));
            OUT(" %08x", rd(512));
        } while (0);
    }
    CASE("memset-node-errors")
    {
        g = G0();
        CUDA_MEMSET_NODE_PARAMS p = ms(0, 1, 4, 4, 1);
        OUT("null params %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, 0, cx)));
        OUT("; null context %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, 0)));
        p.width = 0;
        OUT("; width 0 %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(0, 1, 4, 4, 0);
        OUT("; height 0 %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(0, 1, 4, 4, 2);
        p.pitch = 8;
        OUT("; pitch below width %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(1, 1, 4, 4, 1);
        OUT("; misaligned %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(0, 1, 4, 4, 1);
        p.dst = 0;
        OUT("; null destination %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p.dst = 0x1000;
        OUT("; unmapped destination %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(0, 1, 4, 1 << 20, 1);
        OUT("; past the end %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
        p = ms(0, 0x1ff, 1, 4, 1);
        OUT("; value wider than element %s", R(cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx)));
    }
    CASE("memset-get-params")
    {
        g = G0();
        CUDA_MEMSET_NODE_PARAMS p = ms(0, 0x1234, 2, 6, 1), q;
        cuGraphAddMemsetNode(&a, g, 0, 0, &p, cx);
        memset(&q, 0x77, sizeof q);
        OUT("%s", R(cuGraphMemsetNodeGetParams(a, &q)));
        OUT(" dst %d pitch %zu value %x size %u width %zu height %zu", q.dst == dm, q.pitch,
            q.value, q.elementSize, q.width, q.height);
        p.value = 7;
        p.width = 3;
        OUT("; set %s", R(cuGraphMemsetNodeSetParams(a, &p)));
        cuGraphMemsetNodeGetParams(a, &q);
        OUT(" %x %zu", q.value, q.width);
    }
    CASE("memcpy-node-errors")
    {
        g = G0();
        CUDA_MEMCPY3D p = mc(dm, dm + 256, 64);
        OUT("ok %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        do {
            OUT("; null params %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, 0, cx)));
            OUT(" null context %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, 0)));
        } while (0);
        p.WidthInBytes = 0;
        OUT("; width 0 %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, dm, 64);
        p.Height = 0;
        OUT("; height 0 %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, dm, 64);
        p.srcMemoryType = 0;
        OUT("; type 0 %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p.srcMemoryType = 9;
        OUT("; type 9 %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, 0x1000, 64);
        OUT("; unmapped source %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, dm, 1 << 20);
        OUT("; past the end %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, dm, 64);
        p.srcMemoryType = CU_MEMORYTYPE_HOST;
        p.srcHost = 0;
        OUT("; null host %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
        p = mc(dm, dm, 64);
        p.Height = 2;
        p.srcPitch = 8;
        OUT("; pitch %s", R(cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx)));
    }
    CASE("memcpy-get-params")
    {
        g = G0();
        CUDA_MEMCPY3D p = mc(dm, dm + 256, 64), q;
        cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx);
        memset(&q, 0x77, sizeof q);
        OUT("%s", R(cuGraphMemcpyNodeGetParams(a, &q)));
        OUT(" src %d dst %d types %d %d extent %zu %zu %zu pitch %zu %zu height %zu %zu",
            q.srcDevice == dm + 256, q.dstDevice == dm, q.srcMemoryType, q.dstMemoryType,
            q.WidthInBytes, q.Height, q.Depth, q.srcPitch, q.dstPitch, q.srcHeight, q.dstHeight);
        p.WidthInBytes = 8;
        do {
            OUT("; set %s", R(cuGraphMemcpyNodeSetParams(a, &p)));
            OUT(" wrong node %s", R(cuGraphMemcpyNodeSetParams(em(g), &p)));
        } while (0);
    }
    CASE("host-node")
    {
        g = G0();
        CUDA_HOST_NODE_PARAMS p = hn(5), q;
        OUT("%s", R(cuGraphAddHostNode(&a, g, 0, 0, &p)));
        OUT(" get %s", R(cuGraphHostNodeGetParams(a, &q)));
        OUT(" same %d %d", q.fn == L, q.userData == (void *)5);
        p.userData = (void *)6;
        OUT(" set %s", R(cuGraphHostNodeSetParams(a, &p)));
        p.fn = 0;
        do {
            OUT(" null function add %s", R(cuGraphAddHostNode(&b, g, 0, 0, &p)));
            OUT(" set %s", R(cuGraphHostNodeSetParams(a, &p)));
            OUT(" null params %s", R(cuGraphAddHostNode(&b, g, 0, 0, 0)));
        } while (0);
        clr();
        run(g);
        OUT(" ");
        show();
    }
    CASE("child-graph")
    {
        CUgraph cg = G0(), q = 0;
        ah(cg, 0, 7);
        g = G0();
        OUT("%s", R(cuGraphAddChildGraphNode(&a, g, 0, 0, cg)));
        ah(cg, 0, 8);
        OUT(" get %s", R(cuGraphChildGraphNodeGetGraph(a, &q)));
        n = 0;
        cuGraphGetNodes(q, 0, &n);
        do {
            OUT(" copy %d", q != cg);
            OUT(" nodes %zu", n);
            OUT("; null %s", R(cuGraphAddChildGraphNode(&b, g, 0, 0, 0)));
            OUT(" self %s", R(cuGraphAddChildGraphNode(&b, g, 0, 0, g)));
            OUT(" destroy child %s", R(cuGraphDestroy(cg)));
        } while (0);
        clr();
        OUT(" ");
        n = 0;
        cuGraphGetNodes(g, 0, &n);
        OUT("outer %zu ", n);
        run(g);
        show();
    }
    CASE("child-graph-edit")
    {
        CUgraph cg = G0(), q;
        ah(cg, 0, 7);
        g = G0();
        cuGraphAddChildGraphNode(&a, g, 0, 0, cg);
        cuGraphChildGraphNodeGetGraph(a, &q);
        ah(q, 0, 9);
        clr();
        run(g);
        do {
            OUT("%d", nlg);
            OUT(" run; destroy the embedded graph %s", R(cuGraphDestroy(q)));
        } while (0);
    }
    CASE("event-nodes")
    {
        g = G0();
        CUevent e = mkev(0), f = 0;
        do {
            OUT("record %s", R(cuGraphAddEventRecordNode(&a, g, 0, 0, e)));
            OUT(" wait %s", R(cuGraphAddEventWaitNode(&b, g, &a, 1, e)));
            OUT(" null %s", R(cuGraphAddEventRecordNode(&c, g, 0, 0, 0)));
            OUT(" %s", R(cuGraphAddEventWaitNode(&c, g, 0, 0, 0)));
        } while (0);
        OUT("; get %s", R(cuGraphEventRecordNodeGetEvent(a, &f)));
        do {
            OUT(" same %d", f == e);
            OUT(" wrong type %s", R(cuGraphEventWaitNodeGetEvent(a, &f)));
            OUT(" set %s", R(cuGraphEventRecordNodeSetEvent(a, mkev(0))));
            OUT(" set null %s ", R(cuGraphEventWaitNodeSetEvent(b, 0)));
        } while (0);
        run(g);
        OUT("query %s", R(cuEventQuery(e)));
    }
    CASE("ext-sem-nodes")
    {
        g = G0();
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS p;
        memset(&p, 0, sizeof p);
        CUDA_EXT_SEM_WAIT_NODE_PARAMS q;
        memset(&q, 0, sizeof q);
        do {
            OUT("empty signal %s", R(cuGraphAddExternalSemaphoresSignalNode(&a, g, 0, 0, &p)));
            OUT(" wait %s", R(cuGraphAddExternalSemaphoresWaitNode(&b, g, 0, 0, &q)));
        } while (0);
        p.numExtSems = q.numExtSems = 1;
        do {
            OUT("; one of null %s", R(cuGraphAddExternalSemaphoresSignalNode(&a, g, 0, 0, &p)));
            OUT(" %s", R(cuGraphAddExternalSemaphoresWaitNode(&b, g, 0, 0, &q)));
        } while (0);
        do {
            OUT("; null params %s", R(cuGraphAddExternalSemaphoresSignalNode(&a, g, 0, 0, 0)));
            OUT(" %s", R(cuGraphAddExternalSemaphoresWaitNode(&b, g, 0, 0, 0)));
        } while (0);
    }
    CASE("batch-mem-op-node")
    {
        g = G0();
        CUstreamBatchMemOpParams o[2] = {op(CU_STREAM_MEM_OP_WRITE_VALUE_32, dm, 55, 0),
                                         op(CU_STREAM_MEM_OP_WAIT_VALUE_32, dm, 55, 1)};
        CUDA_BATCH_MEM_OP_NODE_PARAMS p, q;
        memset(&p, 0, sizeof p);
        p.ctx = cx;
        p.count = 2;
        p.paramArray = o;
        cuMemsetD8(dm, 0, 64);
        OUT("%s ", R(cuGraphAddBatchMemOpNode(&a, g, 0, 0, &p)));
        run(g);
        OUT("value %u", rd(0));
        CUresult r = cuGraphBatchMemOpNodeGetParams(a, &q);
        OUT("; get %s", R(r));
        if (r)
            memset(&q, 0, sizeof q);
        OUT(" count %u ctx %d flags %u op %d value %u", q.count, q.ctx == cx, q.flags,
            q.paramArray ? (int)q.paramArray[0].operation : -1,
            q.paramArray ? q.paramArray[0].writeValue.value : 0);
        p.count = 0;
        OUT("; count 0 %s", R(cuGraphAddBatchMemOpNode(&b, g, 0, 0, &p)));
        p.count = 1;
        p.ctx = 0;
        OUT(" null context %s", R(cuGraphAddBatchMemOpNode(&b, g, 0, 0, &p)));
        p.ctx = cx;
        p.flags = 1;
        OUT(" flags %s", R(cuGraphAddBatchMemOpNode(&b, g, 0, 0, &p)));
        p.flags = 0;
        o[0].writeValue.address++;
        OUT(" misaligned %s", R(cuGraphAddBatchMemOpNode(&b, g, 0, 0, &p)));
        p.paramArray = 0;
        OUT(" null array %s", R(cuGraphAddBatchMemOpNode(&b, g, 0, 0, &p)));
    }
    CASE("alloc-and-free-nodes")
    {
        g = G0();
        CUDA_MEM_ALLOC_NODE_PARAMS p, q;
        memset(&p, 0, sizeof p);
        p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        p.bytesize = 1000;
        OUT("%s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        OUT(" pointer %d aligned %d", p.dptr != 0, (int)(p.dptr % 512));
        OUT("; get %s", R(cuGraphMemAllocNodeGetParams(a, &q)));
        OUT(" bytes %zu same %d", q.bytesize, q.dptr == p.dptr);
        OUT("; free without dependency %s", R(cuGraphAddMemFreeNode(&b, g, 0, 0, p.dptr)));
        OUT(" free %s", R(cuGraphAddMemFreeNode(&b, g, &a, 1, p.dptr)));
        OUT(" free twice %s", R(cuGraphAddMemFreeNode(&c, g, &b, 1, p.dptr)));
        CUdeviceptr fp = 0;
        OUT(" get free %s", R(cuGraphMemFreeNodeGetParams(b, &fp)));
        do {
            OUT(" same %d", fp == p.dptr);
            OUT("; destroy node %s", R(cuGraphDestroyNode(a)));
            OUT(" clone %s ", R(cuGraphClone(&(CUgraph){0}, g)));
        } while (0);
        run(g);
    }
    CASE("alloc-node-errors")
    {
        g = G0();
        CUDA_MEM_ALLOC_NODE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.bytesize = 64;
        OUT("no type %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        OUT("; no location %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        p.bytesize = 0;
        OUT("; 0 bytes %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        p.bytesize = 64;
        p.poolProps.location.id = 99;
        OUT("; device 99 %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        p.poolProps.location.id = 0;
        p.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        OUT("; handle type %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, &p)));
        do {
            OUT("; null %s", R(cuGraphAddMemAllocNode(&a, g, 0, 0, 0)));
            OUT("; free null %s", R(cuGraphAddMemFreeNode(&a, g, 0, 0, 0)));
            OUT("; free foreign %s", R(cuGraphAddMemFreeNode(&a, g, 0, 0, dm)));
        } while (0);
    }
    CASE("alloc-node-never-freed")
    {
        g = G0();
        CUDA_MEM_ALLOC_NODE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        p.bytesize = 1000;
        cuGraphAddMemAllocNode(&a, g, 0, 0, &p);
        CUgraphExec x = inst(g), y = 0;
        OUT("launch %s", R(cuGraphLaunch(x, 0)));
        do {
            OUT(" sync %s", R(cuStreamSynchronize(0)));
            OUT(" again %s", R(cuGraphLaunch(x, 0)));
        } while (0);
        do {
            OUT(" memset %s", R(cuMemsetD8(p.dptr, 1, 1000)));
            OUT(" free %s", R(cuMemFree(p.dptr)));
        } while (0);
        OUT(" again %s", R(cuGraphLaunch(x, 0)));
        OUT(" freeAsync %s", R(cuMemFreeAsync(p.dptr, 0)));
        OUT(" second instance %s", R(cuGraphInstantiate(&y, g, 0)));
        cuCtxSynchronize();
        OUT(" auto-free: ");
        cuGraphExecDestroy(x);
        OUT("%s", R(cuGraphInstantiate(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)));
        if (x)
            do {
                OUT(" %s", R(cuGraphLaunch(x, 0)));
                OUT(" %s", R(cuGraphLaunch(x, 0)));
            } while (0);
        OUT(" sync %s", R(cuCtxSynchronize()));
    }
    CASE("graph-memory-attributes") for (int k = 0; k < 5; k++)
    {
        cuuint64_t v = 77;
        do {
            OUT("%d", k);
            OUT(":get %s", R(cuDeviceGetGraphMemAttribute(0, k, &v)));
        } while (0);
        v = 0;
        OUT(" set 0 %s", R(cuDeviceSetGraphMemAttribute(0, k, &v)));
        v = 5;
        OUT(" set 5 %s; ", R(cuDeviceSetGraphMemAttribute(0, k, &v)));
    }
    CASE("graph-memory-trim") do
    {
        OUT("%s", R(cuDeviceGraphMemTrim(0)));
        OUT(" bad %s", R(cuDeviceGraphMemTrim(99)));
        OUT(" null %s", R(cuDeviceGetGraphMemAttribute(0, 0, 0)));
    }
    while (0)
        ;
    CASE("add-node-empty-params") for (int t = -1; t < 16; t++)
    {
        OUT("%s%d:", t >= 0 ? "; " : "", t);
        g = G0();
        CUgraphNodeParams p;
        memset(&p, 0, sizeof p);
        p.type = t;
        OUT("%s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.reserved0[1] = 1;
        OUT(" reserved0 %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.reserved0[1] = 0;
        p.reserved2 = 1;
        OUT(" reserved2 %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
    }
    CASE("add-node-nulls")
    {
        g = G0();
        CUgraphNodeParams p;
        memset(&p, 0, sizeof p);
        p.type = CU_GRAPH_NODE_TYPE_EMPTY;
        do {
            OUT("params %s", R(cuGraphAddNode(&a, g, 0, 0, 0, 0)));
            OUT(" out %s", R(cuGraphAddNode(0, g, 0, 0, 0, &p)));
            OUT(" graph %s", R(cuGraphAddNode(&a, 0, 0, 0, 0, &p)));
        } while (0);
    }
    CASE("add-node-kernel-memset-host")
    {
        g = G0();
        CUgraphNodeParams p;
        memset(&p, 0, sizeof p);
        cuMemsetD8(dm, 0, 64);
        p.type = CU_GRAPH_NODE_TYPE_MEMSET;
        p.memset.dst = dm;
        p.memset.value = 40;
        p.memset.elementSize = 4;
        p.memset.width = p.memset.height = 1;
        p.memset.ctx = cx;
        OUT("%s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        memset(&p, 0, sizeof p);
        p.type = CU_GRAPH_NODE_TYPE_KERNEL;
        kp = dm;
        kv = 2;
        p.kernel.func = f_add;
        p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = p.kernel.blockDimX =
            p.kernel.blockDimY = p.kernel.blockDimZ = 1;
        p.kernel.kernelParams = ka;
        OUT(" %s", R(cuGraphAddNode(&b, g, &a, 0, 1, &p)));
        memset(&p, 0, sizeof p);
        p.type = CU_GRAPH_NODE_TYPE_HOST;
        p.host.fn = L;
        p.host.userData = (void *)3;
        OUT(" %s ", R(cuGraphAddNode(&c, g, &b, 0, 1, &p)));
        clr();
        run(g);
        OUT("value %u ", rd(0));
        show();
    }
    for (int v = 0; v < 3; v++)
        CASE("conditional-if-%d", v)
        {
            g = G0();
            CUgraphConditionalHandle h = 0;
            OUT("handle %s",
                R(cuGraphConditionalHandleCreate(&h, g, cx, v, CU_GRAPH_COND_ASSIGN_DEFAULT)));
            CUgraphNodeParams p;
            memset(&p, 0, sizeof p);
            p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
            p.conditional.handle = h;
            p.conditional.type = CU_GRAPH_COND_TYPE_IF;
            p.conditional.size = 1;
            p.conditional.ctx = cx;
            OUT(" add %s ", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
            cuMemsetD8(dm, 0, 64);
            if (p.conditional.phGraph_out)
                ak(p.conditional.phGraph_out[0], 0, 0, 5);
            run(g);
            OUT("value %u", rd(0));
        }
    for (int v = 0; v < 4; v++)
        CASE("conditional-switch-%d", v)
        {
            g = G0();
            CUgraphConditionalHandle h = 0;
            cuGraphConditionalHandleCreate(&h, g, cx, v, CU_GRAPH_COND_ASSIGN_DEFAULT);
            CUgraphNodeParams p;
            memset(&p, 0, sizeof p);
            p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
            p.conditional.handle = h;
            p.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
            p.conditional.size = 3;
            p.conditional.ctx = cx;
            OUT("add %s ", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
            cuMemsetD8(dm, 0, 64);
            if (p.conditional.phGraph_out)
                for (int k = 0; k < 3; k++)
                    ak(p.conditional.phGraph_out[k], 0, 0, 10 + k);
            run(g);
            OUT("value %u", rd(0));
        }
    CASE("conditional-errors")
    {
        g = G0();
        CUgraphConditionalHandle h = 0;
        do {
            OUT("null out %s", R(cuGraphConditionalHandleCreate(0, g, cx, 0, 0)));
            OUT(" null graph %s", R(cuGraphConditionalHandleCreate(&h, 0, cx, 0, 0)));
            OUT(" null context %s", R(cuGraphConditionalHandleCreate(&h, g, 0, 0, 0)));
            OUT(" flags 2 %s", R(cuGraphConditionalHandleCreate(&h, g, cx, 0, 2)));
        } while (0);
        cuGraphConditionalHandleCreate(&h, g, cx, 0, 0);
        CUgraphNodeParams p;
        memset(&p, 0, sizeof p);
        p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        p.conditional.handle = h;
        p.conditional.size = 3;
        p.conditional.ctx = cx;
        OUT("; if size 3 %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.conditional.size = 0;
        OUT(" size 0 %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.conditional.size = 1;
        p.conditional.type = 7;
        OUT(" type 7 %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.conditional.type = 0;
        p.conditional.handle = h + 1;
        OUT(" other handle %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        p.conditional.handle = h;
        OUT("; ok %s", R(cuGraphAddNode(&a, g, 0, 0, 0, &p)));
        do {
            OUT(" again %s", R(cuGraphAddNode(&b, g, 0, 0, 0, &p)));
            OUT(" clone %s ", R(cuGraphClone(&(CUgraph){0}, g)));
        } while (0);
    }
    CASE("conditional-handle-unused")
    {
        g = G0();
        CUgraphConditionalHandle h;
        cuGraphConditionalHandleCreate(&h, g, cx, 0, 0);
        em(g);
        CUDA_GRAPH_INSTANTIATE_PARAMS ip;
        memset(&ip, 0, sizeof ip);
        CUgraphExec x;
        OUT("%s", R(cuGraphInstantiateWithParams(&x, g, &ip)));
        OUT(" result %d", ip.result_out);
    }
}

GROUP(graph_topology)
{
    S();
    CUgraph g = 0;
    CUgraphNode a = 0, b = 0, c = 0, d[8], f[8], t[8];
    size_t n;
    CUgraphEdgeData ed[8];
    CASE("add-dependencies")
    {
        g = G0();
        a = em(g);
        b = em(g);
        c = em(g);
        OUT("a-b %s", R(cuGraphAddDependencies(g, &a, &b, 0, 1)));
        OUT("; again %s", R(cuGraphAddDependencies(g, &a, &b, 0, 1)));
        OUT("; self %s", R(cuGraphAddDependencies(g, &a, &a, 0, 1)));
        OUT("; b-c %s", R(cuGraphAddDependencies(g, &b, &c, 0, 1)));
        OUT("; cycle %s", R(cuGraphAddDependencies(g, &c, &a, 0, 1)));
        n = 0;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT("; edges %zu", n);
        CUgraphExec x;
        OUT(" instantiate %s", R(cuGraphInstantiate(&x, g, 0)));
    }
    CASE("add-dependencies-nulls")
    {
        g = G0();
        a = em(g);
        b = em(g);
        do {
            OUT("graph %s", R(cuGraphAddDependencies(0, &a, &b, 0, 1)));
            OUT(" from %s", R(cuGraphAddDependencies(g, 0, &b, 0, 1)));
            OUT(" to %s", R(cuGraphAddDependencies(g, &a, 0, 0, 1)));
            OUT(" none %s", R(cuGraphAddDependencies(g, 0, 0, 0, 0)));
        } while (0);
        d[0] = 0;
        OUT(" null node %s", R(cuGraphAddDependencies(g, d, &b, 0, 1)));
    }
    CASE("add-dependencies-other-graph")
    {
        g = G0();
        a = em(g);
        b = em(G0());
        do {
            OUT("%s", R(cuGraphAddDependencies(g, &a, &b, 0, 1)));
            OUT(" %s", R(cuGraphAddDependencies(g, &b, &a, 0, 1)));
        } while (0);
    }
    CASE("add-dependencies-all-or-nothing")
    {
        g = G0();
        for (int i = 0; i < 4; i++)
            d[i] = em(g);
        f[0] = d[0];
        t[0] = d[1];
        f[1] = d[2];
        t[1] = d[2];
        OUT("%s", R(cuGraphAddDependencies(g, f, t, 0, 2)));
        n = 9;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT(" edges %zu", n);
    }
    CASE("add-same-twice-in-one-call")
    {
        g = G0();
        f[0] = f[1] = em(g);
        t[0] = t[1] = em(g);
        OUT("%s", R(cuGraphAddDependencies(g, f, t, 0, 2)));
        n = 9;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT(" edges %zu", n);
    }
    CASE("remove-dependencies")
    {
        g = G0();
        a = em(g);
        b = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        OUT("%s", R(cuGraphRemoveDependencies(g, &a, &b, 0, 1)));
        do {
            OUT(" again %s", R(cuGraphRemoveDependencies(g, &a, &b, 0, 1)));
            OUT(" reversed %s", R(cuGraphRemoveDependencies(g, &b, &a, 0, 1)));
        } while (0);
        n = 9;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT(" edges %zu", n);
    }
    CASE("v1-functions")
    {
        g = G0();
        a = em(g);
        b = em(g);
        OUT("%s", R(adddepv1(g, &a, &b, 1)));
        n = 8;
        OUT(" %s", R(edgesv1(g, f, t, &n)));
        OUT(" %zu %d %d", n, f[0] == a, t[0] == b);
    }
    CASE("edge-data")
    {
        g = G0();
        a = ak(g, 0, 0, 1);
        b = ak(g, 0, 4, 1);
        memset(ed, 0, sizeof ed);
        OUT("default %s", R(cuGraphAddDependencies(g, &a, &b, ed, 1)));
        cuGraphRemoveDependencies(g, &a, &b, 0, 1);
        ed[0].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        OUT("; programmatic port 0 %s", R(cuGraphAddDependencies(g, &a, &b, ed, 1)));
        ed[0].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        OUT("; port 1 %s", R(cuGraphAddDependencies(g, &a, &b, ed, 1)));
        n = 8;
        OUT("; edges without data %s", R(edgesv1(g, f, t, &n)));
        n = 8;
        OUT("; with %s", R(cuGraphGetEdges(g, f, t, ed, &n)));
        OUT(" %zu type %d ports %d %d", n, ed[0].type, ed[0].from_port, ed[0].to_port);
        n = 8;
        OUT("; dependencies null data %s", R(cuGraphNodeGetDependencies(b, d, 0, &n)));
        ed[0].from_port = 7;
        CUgraphNode e2 = ak(g, 0, 0, 1);
        OUT("; port 7 %s", R(cuGraphAddDependencies(g, &a, &e2, ed, 1)));
        ed[0].from_port = 0;
        ed[0].type = 9;
        OUT("; type 9 %s", R(cuGraphAddDependencies(g, &a, &e2, ed, 1)));
        ed[0].type = 0;
        ed[0].to_port = 1;
        OUT("; to port 1 %s", R(cuGraphAddDependencies(g, &a, &e2, ed, 1)));
        ed[0].to_port = 0;
        ed[0].reserved[2] = 1;
        OUT("; reserved %s", R(cuGraphAddDependencies(g, &a, &e2, ed, 1)));
        ed[0].reserved[2] = 0;
        ed[0].type = 1;
        ed[0].from_port = 1;
        c = em(g);
        OUT("; to an empty node %s", R(cuGraphAddDependencies(g, &a, &c, ed, 1)));
    }
    CASE("get-nodes")
    {
        g = G0();
        for (int i = 0; i < 4; i++)
            d[i] = em(g);
        n = 77;
        OUT("count %s", R(cuGraphGetNodes(g, 0, &n)));
        OUT(" %zu", n);
        n = 2;
        memset(f, 0, sizeof f);
        OUT("; two %s", R(cuGraphGetNodes(g, f, &n)));
        OUT(" %zu %d %d third untouched %d", n, f[0] == d[0], f[1] == d[1], f[2] == 0);
        n = 8;
        memset(f, 0x77, sizeof f);
        OUT("; eight %s", R(cuGraphGetNodes(g, f, &n)));
        OUT(" %zu in order %d rest null %d", n,
            f[0] == d[0] && f[1] == d[1] && f[2] == d[2] && f[3] == d[3], f[4] == 0 && f[7] == 0);
        n = 0;
        OUT("; zero %s", R(cuGraphGetNodes(g, f, &n)));
        do {
            OUT(" %zu", n);
            OUT("; null count %s", R(cuGraphGetNodes(g, f, 0)));
            OUT(" null graph %s", R(cuGraphGetNodes(0, f, &n)));
        } while (0);
    }
    CASE("get-roots")
    {
        g = G0();
        a = em(g);
        b = em(g);
        c = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        n = 77;
        OUT("%s", R(cuGraphGetRootNodes(g, 0, &n)));
        OUT(" %zu", n);
        n = 8;
        OUT("; %s", R(cuGraphGetRootNodes(g, f, &n)));
        do {
            OUT(" %zu", n);
            OUT(" %d", f[0] == a || f[1] == a);
            OUT(" %d", f[0] == c || f[1] == c);
            OUT("; null count %s", R(cuGraphGetRootNodes(g, f, 0)));
            OUT(" null graph %s", R(cuGraphGetRootNodes(0, 0, &n)));
        } while (0);
    }
    CASE("get-edges")
    {
        g = G0();
        a = em(g);
        b = em(g);
        c = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        cuGraphAddDependencies(g, &a, &c, 0, 1);
        n = 77;
        OUT("%s", R(cuGraphGetEdges(g, 0, 0, 0, &n)));
        OUT(" %zu", n);
        n = 8;
        memset(f, 0x77, sizeof f);
        memset(ed, 0x77, sizeof ed);
        OUT("; %s", R(cuGraphGetEdges(g, f, t, ed, &n)));
        OUT(" %zu from %d %d to %d %d past end null %d", n, f[0] == a, f[1] == a,
            t[0] == b || t[1] == b, t[0] == c || t[1] == c, f[2] == 0);
        n = 1;
        OUT("; one %s", R(cuGraphGetEdges(g, f, t, ed, &n)));
        do {
            OUT(" %zu", n);
            OUT("; from only %s", R(cuGraphGetEdges(g, f, 0, 0, &n)));
            OUT(" to only %s", R(cuGraphGetEdges(g, 0, t, 0, &n)));
            OUT(" null count %s", R(cuGraphGetEdges(g, f, t, ed, 0)));
        } while (0);
    }
    CASE("get-dependencies")
    {
        g = G0();
        a = em(g);
        b = em(g);
        d[0] = a;
        d[1] = b;
        cuGraphAddEmptyNode(&c, g, d, 2);
        n = 77;
        OUT("%s", R(cuGraphNodeGetDependencies(c, 0, 0, &n)));
        OUT(" %zu", n);
        n = 8;
        OUT("; %s", R(cuGraphNodeGetDependencies(c, f, ed, &n)));
        OUT(" %zu %d; dependents of a ", n, (f[0] == a && f[1] == b) || (f[0] == b && f[1] == a));
        n = 8;
        OUT("%s", R(cuGraphNodeGetDependentNodes(a, f, ed, &n)));
        OUT(" %zu %d; none ", n, f[0] == c);
        n = 8;
        OUT("%s", R(cuGraphNodeGetDependentNodes(c, f, ed, &n)));
        do {
            OUT(" %zu", n);
            OUT("; null node %s", R(cuGraphNodeGetDependencies(0, f, 0, &n)));
            OUT(" null count %s", R(cuGraphNodeGetDependencies(c, f, 0, 0)));
        } while (0);
    }
    CASE("node-type")
    {
        g = G0();
        CUgraphNodeType ty = 77;
        a = em(g);
        OUT("%s", R(cuGraphNodeGetType(a, &ty)));
        do {
            OUT(" %d", ty);
            OUT("; null out %s", R(cuGraphNodeGetType(a, 0)));
            OUT(" null node %s", R(cuGraphNodeGetType(0, &ty)));
        } while (0);
    }
    CASE("destroy-node")
    {
        g = G0();
        a = em(g);
        b = em(g);
        c = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        cuGraphAddDependencies(g, &b, &c, 0, 1);
        OUT("%s", R(cuGraphDestroyNode(b)));
        n = 9;
        cuGraphGetEdges(g, 0, 0, 0, &n);
        OUT(" edges %zu", n);
        n = 9;
        cuGraphGetNodes(g, 0, &n);
        OUT(" nodes %zu", n);
        n = 9;
        cuGraphGetRootNodes(g, 0, &n);
        do {
            OUT(" roots %zu", n);
            OUT(" null %s", R(cuGraphDestroyNode(0)));
        } while (0);
    }
    CASE("clone")
    {
        g = G0();
        a = em(g);
        b = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        CUgraph q;
        CUgraphNode x = 0;
        OUT("%s", R(cuGraphClone(&q, g)));
        OUT(" find %s", R(cuGraphNodeFindInClone(&x, b, q)));
        n = 9;
        cuGraphNodeGetDependencies(x, 0, 0, &n);
        do {
            OUT(" differs %d", x != b);
            OUT(" dependencies %zu", n);
            OUT("; find in original %s", R(cuGraphNodeFindInClone(&x, b, g)));
            OUT(" null graph %s", R(cuGraphNodeFindInClone(&x, b, 0)));
            OUT(" null out %s", R(cuGraphNodeFindInClone(0, b, q)));
            OUT(" null node %s", R(cuGraphNodeFindInClone(&x, 0, q)));
        } while (0);
        c = em(g);
        OUT("; added later %s", R(cuGraphNodeFindInClone(&x, c, q)));
        OUT("; destroy original %s", R(cuGraphDestroy(g)));
        n = 9;
        cuGraphGetNodes(q, 0, &n);
        do {
            OUT(" clone has %zu", n);
            OUT("; clone null %s", R(cuGraphClone(&g, 0)));
            OUT(" to null %s", R(cuGraphClone(0, q)));
        } while (0);
    }
    CASE("find-in-clone-of-removed")
    {
        g = G0();
        a = em(g);
        CUgraph q;
        CUgraphNode x;
        cuGraphClone(&q, g);
        cuGraphNodeFindInClone(&x, a, q);
        cuGraphDestroyNode(x);
        OUT("%s", R(cuGraphNodeFindInClone(&x, a, q)));
    }
    CASE("debug-dot")
    {
        g = G0();
        ak(g, 0, 0, 1);
        char fn[64];
        snprintf(fn, 64, "/tmp/xs-%d.dot", (int)getpid());
        OUT("%s", R(cuGraphDebugDotPrint(g, fn, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)));
        FILE *fp = fopen(fn, "r");
        char l[40] = "";
        if (fp) {
            if (!fgets(l, 12, fp))
                l[0] = 0;
            fclose(fp);
            unlink(fn);
        }
        do {
            OUT(" \"%.7s", l);
            OUT("\"; null path %s", R(cuGraphDebugDotPrint(g, 0, 0)));
            OUT(" null graph %s", R(cuGraphDebugDotPrint(0, fn, 0)));
            OUT(" bad path %s", R(cuGraphDebugDotPrint(g, "/nonexistent/x.dot", 0)));
        } while (0);
        unlink(fn);
    }
    CASE("node-attributes")
    {
        g = G0();
        a = ak(g, 0, 0, 1);
        CUkernelNodeAttrValue v;
        for (int i = 0; i < 17; i++) {
            memset(&v, 0, sizeof v);
            do {
                OUT("%d", i);
                OUT(":%s", R(cuGraphKernelNodeGetAttribute(a, i, &v)));
            } while (0);
            OUT("/%s ", R(cuGraphKernelNodeSetAttribute(a, i, &v)));
        }
        do {
            OUT("wrong node %s", R(cuGraphKernelNodeGetAttribute(em(g), 8, &v)));
            OUT(" null %s", R(cuGraphKernelNodeGetAttribute(a, 8, 0)));
            OUT(" copy %s", R(cuGraphKernelNodeCopyAttributes(ak(g, 0, 0, 1), a)));
            OUT(" copy to other type %s", R(cuGraphKernelNodeCopyAttributes(em(g), a)));
        } while (0);
    }
    CASE("node-priority")
    {
        g = G0();
        a = ak(g, 0, 0, 1);
        CUkernelNodeAttrValue v;
        EACH(p, -9, -5, 0, 3)
        {
            memset(&v, 0, sizeof v);
            v.priority = *p;
            do {
                OUT("%d", *p);
                OUT(":%s",
                    R(cuGraphKernelNodeSetAttribute(a, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &v)));
            } while (0);
            v.priority = 77;
            cuGraphKernelNodeGetAttribute(a, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &v);
            OUT("=%d ", v.priority);
        }
    }
    CASE("user-objects")
    {
        CUuserObject o = 0;
        clr();
        OUT("%s", R(cuUserObjectCreate(&o, (void *)5, L, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)));
        do {
            OUT(" retain %s", R(cuUserObjectRetain(o, 2)));
            OUT(" release %s", R(cuUserObjectRelease(o, 2)));
        } while (0);
        OUT(" ran %d", nlg);
        g = G0();
        OUT(" graph retain %s", R(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE)));
        do {
            OUT(" ran %d", nlg);
            OUT(" destroy graph %s", R(cuGraphDestroy(g)));
        } while (0);
        for (int i = 0; i < 1000 && !nlg; i++)
            usleep(1000);
        OUT(" ran %d ", nlg);
        show();
    }
    CASE("user-object-errors")
    {
        CUuserObject o = 0;
        do {
            OUT("flags 0 %s", R(cuUserObjectCreate(&o, 0, L, 1, 0)));
            OUT(" flags 2 %s", R(cuUserObjectCreate(&o, 0, L, 1, 2)));
            OUT(" count 0 %s", R(cuUserObjectCreate(&o, 0, L, 0, 1)));
            OUT(" null out %s", R(cuUserObjectCreate(0, 0, L, 1, 1)));
            OUT(" null function %s", R(cuUserObjectCreate(&o, 0, 0, 1, 1)));
        } while (0);
        cuUserObjectCreate(&o, 0, L, 1, 1);
        g = G0();
        do {
            OUT("; retain 0 %s", R(cuUserObjectRetain(o, 0)));
            OUT(" release 0 %s", R(cuUserObjectRelease(o, 0)));
            OUT(" null %s", R(cuUserObjectRetain(0, 1)));
            OUT(" %s", R(cuUserObjectRelease(0, 1)));
            OUT(" graph retain 0 %s", R(cuGraphRetainUserObject(g, o, 0, 0)));
            OUT(" flags 2 %s", R(cuGraphRetainUserObject(g, o, 1, 2)));
            OUT(" null graph %s", R(cuGraphRetainUserObject(0, o, 1, 0)));
        } while (0);
    }
    CASE("user-object-held-by-exec")
    {
        CUuserObject o;
        clr();
        cuUserObjectCreate(&o, (void *)6, L, 1, 1);
        g = G0();
        em(g);
        cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE);
        CUgraphExec x = inst(g);
        cuGraphDestroy(g);
        usleep(20000);
        OUT("after graph %d", nlg);
        cuGraphExecDestroy(x);
        for (int i = 0; i < 1000 && !nlg; i++)
            usleep(1000);
        OUT(" after exec %d", nlg);
    }
}

GROUP(graph_exec)
{
    S();
    CUgraph g = 0;
    CUgraphNode a = 0, b = 0, c = 0;
    CUgraphExec x = 0;
    CUstream s = mk(1);
    CASE("instantiate-nulls")
    {
        do {
            OUT("exec %s", R(cuGraphInstantiate(0, G0(), 0)));
            OUT(" graph %s", R(cuGraphInstantiate(&x, 0, 0)));
            OUT(" both %s", R(cuGraphInstantiate(0, 0, 0)));
        } while (0);
    }
    for (unsigned f = 0; f <= 16; f += 8)
        CASE("instantiate-flags-from-%u", f) for (unsigned k = 0; k < 8; k++)
        {
            OUT("%u:", f + k);
            g = G0();
            em(g);
            x = 0;
            CUresult r = cuGraphInstantiate(&x, g, f + k);
            OUT("%s", R(r));
            if (!r) {
                cuuint64_t q = 77;
                OUT(" flags %s", R(cuGraphExecGetFlags(x, &q)));
                OUT(" %llu", (unsigned long long)q);
                cuGraphExecDestroy(x);
            }
            OUT("; ");
        }
    CASE("instantiate-flags-64-bit") OUT("%s", R(cuGraphInstantiate(&x, G0(), 1ull << 40)));
    CASE("device-launch-with-host-node")
    {
        g = G0();
        ah(g, 0, 1);
        OUT("%s", R(cuGraphInstantiate(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)));
        CUDA_GRAPH_INSTANTIATE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
        OUT(" with params %s", R(cuGraphInstantiateWithParams(&x, g, &p)));
        OUT(" result %d node %d", p.result_out, p.hErrNode_out != 0);
    }
    CASE("instantiate-with-params")
    {
        g = G0();
        em(g);
        CUDA_GRAPH_INSTANTIATE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.result_out = 77;
        OUT("%s", R(cuGraphInstantiateWithParams(&x, g, &p)));
        do {
            OUT(" result %d", p.result_out);
            OUT(" node %d", p.hErrNode_out != 0);
            OUT("; null params %s", R(cuGraphInstantiateWithParams(&x, g, 0)));
        } while (0);
        p.flags = 2;
        p.hUploadStream = s;
        OUT("; upload %s", R(cuGraphInstantiateWithParams(&x, g, &p)));
        p.flags = 99;
        p.result_out = 77;
        OUT("; bad flags %s", R(cuGraphInstantiateWithParams(&x, g, &p)));
        OUT(" result %d", p.result_out);
    }
    CASE("instantiate-v1")
    {
        g = G0();
        em(g);
        char log[64] = "zz";
        a = (CUgraphNode)0x5a;
        OUT("%s", R(instv1(&x, g, &a, log, 64)));
        do {
            OUT(" node %s", !a ? "null" : a == (CUgraphNode)0x5a ? "untouched" : "set");
            OUT(" log \"%s", log);
            OUT("\"; no log %s", R(instv1(&x, g, 0, 0, 0)));
        } while (0);
    }
    CASE("cycle")
    {
        g = G0();
        a = em(g);
        b = em(g);
        cuGraphAddDependencies(g, &a, &b, 0, 1);
        CUresult r = cuGraphAddDependencies(g, &b, &a, 0, 1);
        CUDA_GRAPH_INSTANTIATE_PARAMS p;
        memset(&p, 0, sizeof p);
        OUT("add %s", R(r));
        OUT(" instantiate %s", R(cuGraphInstantiateWithParams(&x, g, &p)));
        OUT(" result %d", p.result_out);
    }
    CASE("launch-nulls")
    {
        g = G0();
        em(g);
        x = inst(g);
        do {
            OUT("null exec %s", R(cuGraphLaunch(0, s)));
            OUT("; null stream %s", R(cuGraphLaunch(x, 0)));
            OUT(" legacy %s", R(cuGraphLaunch(x, CU_STREAM_LEGACY)));
            OUT(" per-thread %s", R(cuGraphLaunch(x, CU_STREAM_PER_THREAD)));
            OUT(" sync %s", R(cuCtxSynchronize()));
            OUT("; upload null exec %s", R(cuGraphUpload(0, s)));
            OUT("; destroy null %s", R(cuGraphExecDestroy(0)));
            OUT(" flags null %s", R(cuGraphExecGetFlags(x, 0)));
            OUT(" %s", R(cuGraphExecGetFlags(0, &(cuuint64_t){0})));
        } while (0);
    }
    CASE("empty-graph")
    {
        x = inst(G0());
        do {
            OUT("%s", R(cuGraphLaunch(x, s)));
            OUT(" upload %s", R(cuGraphUpload(x, s)));
        } while (0);
        OUT(" sync %s", R(cuStreamSynchronize(s)));
    }
    CASE("chain-of-host-nodes")
    {
        g = G0();
        a = 0;
        for (int i = 0; i < 10; i++)
            a = ah(g, a, i);
        clr();
        run(g);
        show();
    }
    CASE("diamond")
    {
        g = G0();
        a = ah(g, 0, 1);
        b = ah(g, a, 2);
        c = ah(g, a, 3);
        CUgraphNode d[2] = {b, c}, e;
        CUDA_HOST_NODE_PARAMS p = hn(4);
        cuGraphAddHostNode(&e, g, d, 2, &p);
        clr();
        run(g);
        OUT("%d first %d last %d", nlg, lg[0], lg[3]);
    }
    CASE("memset-kernel-copy-host")
    {
        cuMemsetD8(dm, 0xff, 1024);
        g = G0();
        a = am(g, 0, 0, 10);
        b = ak(g, a, 0, 5);
        CUDA_MEMCPY3D p = mc(dm + 256, dm, 4);
        cuGraphAddMemcpyNode(&c, g, &b, 1, &p, cx);
        p.dstMemoryType = CU_MEMORYTYPE_HOST;
        p.dstHost = hm;
        p.srcDevice = dm + 256;
        CUgraphNode d;
        cuGraphAddMemcpyNode(&d, g, &c, 1, &p, cx);
        ah(g, d, 8);
        clr();
        run(g);
        do {
            OUT("%u", rd(256));
            OUT(" %u ", *(unsigned *)hm);
        } while (0);
        show();
    }
    CASE("relaunch-20")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        a = ak(g, 0, 0, 1);
        ak(g, a, 0, 2);
        x = inst(g);
        for (int i = 0; i < 20; i++)
            cuGraphLaunch(x, s);
        do {
            OUT("%s", R(cuStreamSynchronize(s)));
            OUT(" %u", rd(0));
        } while (0);
    }
    CASE("launches-in-two-streams-do-not-overlap")
    {
        g = G0();
        a = ah(g, 0, 1);
        ah(g, a, 2);
        x = inst(g);
        clr();
        for (int i = 0; i < 5; i++) {
            cuGraphLaunch(x, s);
            cuGraphLaunch(x, 0);
        }
        cuCtxSynchronize();
        show();
    }
    CASE("stream-order-around-launch")
    {
        g = G0();
        ah(g, 0, 50);
        x = inst(g);
        clr();
        put(s, 1);
        cuGraphLaunch(x, s);
        put(s, 2);
        cuStreamSynchronize(s);
        show();
    }
    CASE("destroy-graph-then-launch")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        OUT("%s", R(cuGraphDestroy(g)));
        OUT(" %s", R(cuGraphLaunch(x, s)));
        do {
            OUT(" %s", R(cuStreamSynchronize(s)));
            OUT(" %u", rd(0));
        } while (0);
    }
    CASE("edit-graph-after-instantiate")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        ak(g, 0, 0, 100);
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        OUT("%u", rd(0));
    }
    CASE("destroy-exec-while-running")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        gate(s);
        cuGraphLaunch(x, s);
        OUT("%s", R(cuGraphExecDestroy(x)));
        gopen();
        do {
            OUT(" %s", R(cuStreamSynchronize(s)));
            OUT(" %u", rd(0));
        } while (0);
    }
    CASE("query-while-gated")
    {
        g = G0();
        em(g);
        x = inst(g);
        gate(s);
        cuGraphLaunch(x, s);
        OUT("%s", R(cuStreamQuery(s)));
        gopen();
        OUT(" %s", R(cuStreamSynchronize(s)));
    }
    CASE("chain-of-200-kernels")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        a = 0;
        for (int i = 0; i < 200; i++)
            a = ak(g, a, 0, i);
        run(g);
        OUT("%u", rd(0));
    }
    CASE("100-parallel-kernels")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        for (int i = 0; i < 100; i++)
            ak(g, 0, 0, 1);
        run(g);
        OUT("%u", rd(0));
    }
    CASE("nested-children-3-deep")
    {
        CUgraph p = G0();
        ah(p, 0, 1);
        for (int i = 0; i < 3; i++) {
            CUgraph q = G0();
            cuGraphAddChildGraphNode(&a, q, 0, 0, p);
            ah(q, a, 10 + i);
            p = q;
        }
        clr();
        run(p);
        show();
    }
    CASE("event-record-then-outside-wait")
    {
        CUevent e = mkev(2);
        g = G0();
        a = ah(g, 0, 1);
        cuGraphAddEventRecordNode(&b, g, &a, 1, e);
        x = inst(g);
        clr();
        cuGraphLaunch(x, s);
        CUstream t = mk(1);
        cuStreamWaitEvent(t, e, 0);
        put(t, 2);
        cuStreamSynchronize(t);
        show();
        OUT(" %s", R(cuEventQuery(e)));
    }
    CASE("event-wait-node-holds-graph")
    {
        CUevent e = mkev(2);
        CUstream t = mk(1);
        g = G0();
        cuGraphAddEventWaitNode(&a, g, 0, 0, e);
        ah(g, a, 1);
        x = inst(g);
        clr();
        gate(t);
        cuEventRecord(e, t);
        cuGraphLaunch(x, s);
        usleep(20000);
        do {
            OUT("%d", nlg);
            OUT(" %s", R(cuStreamQuery(s)));
        } while (0);
        gopen();
        OUT(" %s ", R(cuStreamSynchronize(s)));
        show();
        cuStreamSynchronize(t);
    }
    CASE("update-same")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        CUgraph h = G0();
        ak(h, 0, 0, 40);
        CUgraphExecUpdateResultInfo u;
        memset(&u, 0x77, sizeof u);
        OUT("%s", R(cuGraphExecUpdate(x, h, &u)));
        OUT(" result %d node %d from %d", u.result, u.errorNode != 0, u.errorFromNode != 0);
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        do {
            OUT(" value %u", rd(0));
            OUT("; null info %s", R(cuGraphExecUpdate(x, h, 0)));
            OUT(" null graph %s", R(cuGraphExecUpdate(x, 0, &u)));
            OUT(" null exec %s", R(cuGraphExecUpdate(0, h, &u)));
        } while (0);
    }
    for (int k = 0; k < 10; k++) {
        static const char *un[] = {"added-node",     "removed-node",    "node-type",
                                   "edge-added",     "kernel-function", "memset-value",
                                   "memset-size-2d", "host-function",   "memcpy-direction",
                                   "event"};
        CASE("update-changed-%s", un[k])
        {
            CUgraph h = G0();
            g = G0();
            CUDA_MEMSET_NODE_PARAMS mp;
            CUDA_MEMCPY3D cp;
            CUDA_KERNEL_NODE_PARAMS pp;
            CUgraphNode hb = 0;
            switch (k) {
            case 0:
                a = em(g);
                b = em(h);
                hb = em(h);
                break;
            case 1:
                a = em(g);
                em(g);
                em(h);
                break;
            case 2:
                am(g, 0, 0, 1);
                hb = ah(h, 0, 1);
                break;
            case 3:
                a = em(g);
                b = em(g);
                a = em(h);
                hb = em(h);
                cuGraphAddDependencies(h, &a, &hb, 0, 1);
                break;
            case 4:
                ak(g, 0, 0, 1);
                pp = kn(0, 1);
                pp.func = f_set;
                cuGraphAddKernelNode(&hb, h, 0, 0, &pp);
                break;
            case 5:
                am(g, 0, 0, 1);
                hb = am(h, 0, 0, 2);
                break;
            case 6:
                am(g, 0, 0, 1);
                mp = ms(0, 1, 4, 4, 4);
                cuGraphAddMemsetNode(&hb, h, 0, 0, &mp, cx);
                break;
            case 7:
                ah(g, 0, 1);
                hb = ah(h, 0, 2);
                break;
            case 8:
                cp = mc(dm, dm + 256, 4);
                cuGraphAddMemcpyNode(&a, g, 0, 0, &cp, cx);
                cp.dstMemoryType = CU_MEMORYTYPE_HOST;
                cp.dstHost = hm;
                cuGraphAddMemcpyNode(&hb, h, 0, 0, &cp, cx);
                break;
            case 9:
                cuGraphAddEventRecordNode(&a, g, 0, 0, mkev(0));
                cuGraphAddEventRecordNode(&hb, h, 0, 0, mkev(0));
                break;
            }
            x = inst(g);
            CUgraphExecUpdateResultInfo u;
            memset(&u, 0, sizeof u);
            u.result = 77;
            OUT("%s", R(cuGraphExecUpdate(x, h, &u)));
            OUT(" result %d node %s from %d", u.result,
                !u.errorNode        ? "null"
                : u.errorNode == hb ? "the-new-one"
                                    : "other",
                u.errorFromNode != 0);
            do {
                OUT(" launch %s", R(cuGraphLaunch(x, s)));
                OUT(" sync %s", R(cuStreamSynchronize(s)));
            } while (0);
        }
    }
    CASE("update-v1")
    {
        g = G0();
        em(g);
        x = inst(g);
        CUgraph h = G0();
        em(h);
        em(h);
        CUgraphExecUpdateResult r = 77;
        a = (CUgraphNode)0x5a;
        OUT("%s", R(updatev1(x, h, &a, &r)));
        OUT(" result %d node %d", r, a != 0);
    }
    CASE("exec-kernel-params")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        a = ak(g, 0, 0, 3);
        b = em(g);
        x = inst(g);
        CUDA_KERNEL_NODE_PARAMS p = kn(0, 70);
        OUT("%s", R(cuGraphExecKernelNodeSetParams(x, a, &p)));
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        do {
            OUT(" value %u", rd(0));
            OUT("; wrong node %s", R(cuGraphExecKernelNodeSetParams(x, b, &p)));
            OUT(" null node %s", R(cuGraphExecKernelNodeSetParams(x, 0, &p)));
            OUT(" null params %s", R(cuGraphExecKernelNodeSetParams(x, a, 0)));
        } while (0);
        p.func = f_set;
        OUT("; other function %s", R(cuGraphExecKernelNodeSetParams(x, a, &p)));
        p = kn(0, 1);
        p.gridDimX = 0;
        OUT(" zero grid %s", R(cuGraphExecKernelNodeSetParams(x, a, &p)));
        c = ak(G0(), 0, 0, 1);
        p = kn(0, 1);
        OUT(" node of other graph %s", R(cuGraphExecKernelNodeSetParams(x, c, &p)));
        c = ak(g, 0, 0, 1);
        OUT(" node added later %s", R(cuGraphExecKernelNodeSetParams(x, c, &p)));
    }
    CASE("exec-memset-params")
    {
        g = G0();
        a = am(g, 0, 0, 3);
        x = inst(g);
        CUDA_MEMSET_NODE_PARAMS p = ms(0, 9, 4, 1, 1);
        OUT("%s", R(cuGraphExecMemsetNodeSetParams(x, a, &p, cx)));
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        OUT(" value %u", rd(0));
        p = ms(0, 9, 1, 1, 1);
        OUT("; element size %s", R(cuGraphExecMemsetNodeSetParams(x, a, &p, cx)));
        p = ms(0, 9, 4, 8, 1);
        OUT(" wider %s", R(cuGraphExecMemsetNodeSetParams(x, a, &p, cx)));
        p = ms(0, 9, 4, 1, 4);
        do {
            OUT(" 2d %s", R(cuGraphExecMemsetNodeSetParams(x, a, &p, cx)));
            OUT(" null context %s", R(cuGraphExecMemsetNodeSetParams(x, a, &p, 0)));
        } while (0);
    }
    CASE("exec-memcpy-params")
    {
        g = G0();
        CUDA_MEMCPY3D p = mc(dm, dm + 256, 4);
        cuGraphAddMemcpyNode(&a, g, 0, 0, &p, cx);
        x = inst(g);
        p = mc(dm + 512, dm + 256, 8);
        OUT("%s", R(cuGraphExecMemcpyNodeSetParams(x, a, &p, cx)));
        p.Height = 2;
        OUT(" 2d %s", R(cuGraphExecMemcpyNodeSetParams(x, a, &p, cx)));
        p = mc(dm, dm, 4);
        p.dstMemoryType = CU_MEMORYTYPE_HOST;
        p.dstHost = hm;
        OUT(" to host %s", R(cuGraphExecMemcpyNodeSetParams(x, a, &p, cx)));
    }
    CASE("exec-host-params")
    {
        g = G0();
        a = ah(g, 0, 1);
        x = inst(g);
        CUDA_HOST_NODE_PARAMS p = hn(44);
        OUT("%s ", R(cuGraphExecHostNodeSetParams(x, a, &p)));
        clr();
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        show();
        p.fn = 0;
        OUT(" null function %s", R(cuGraphExecHostNodeSetParams(x, a, &p)));
    }
    CASE("exec-child-params")
    {
        CUgraph q = G0(), q2 = G0(), q3 = G0();
        ah(q, 0, 1);
        ah(q2, 0, 2);
        em(q3);
        g = G0();
        cuGraphAddChildGraphNode(&a, g, 0, 0, q);
        x = inst(g);
        OUT("%s", R(cuGraphExecChildGraphNodeSetParams(x, a, q2)));
        do {
            OUT(" other topology %s", R(cuGraphExecChildGraphNodeSetParams(x, a, q3)));
            OUT(" null %s ", R(cuGraphExecChildGraphNodeSetParams(x, a, 0)));
        } while (0);
        clr();
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        show();
    }
    CASE("exec-event-params")
    {
        g = G0();
        cuGraphAddEventRecordNode(&a, g, 0, 0, mkev(2));
        x = inst(g);
        CUevent e = mkev(2);
        OUT("%s", R(cuGraphExecEventRecordNodeSetEvent(x, a, e)));
        do {
            OUT(" wait on record node %s", R(cuGraphExecEventWaitNodeSetEvent(x, a, e)));
            OUT(" null %s", R(cuGraphExecEventRecordNodeSetEvent(x, a, 0)));
        } while (0);
    }
    CASE("exec-node-set-params")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        a = ak(g, 0, 0, 3);
        x = inst(g);
        CUgraphNodeParams p;
        memset(&p, 0, sizeof p);
        p.type = CU_GRAPH_NODE_TYPE_KERNEL;
        kp = dm;
        kv = 33;
        p.kernel.func = f_add;
        p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = p.kernel.blockDimX =
            p.kernel.blockDimY = p.kernel.blockDimZ = 1;
        p.kernel.kernelParams = ka;
        do {
            OUT("%s", R(cuGraphExecNodeSetParams(x, a, &p)));
            OUT(" node %s", R(cuGraphNodeSetParams(a, &p)));
        } while (0);
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        OUT(" value %u", rd(0));
        p.type = CU_GRAPH_NODE_TYPE_MEMSET;
        do {
            OUT(" wrong type %s", R(cuGraphExecNodeSetParams(x, a, &p)));
            OUT(" %s", R(cuGraphNodeSetParams(a, &p)));
            OUT(" null %s", R(cuGraphNodeSetParams(a, 0)));
        } while (0);
    }
    CASE("node-enabled")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        a = ak(g, 0, 0, 3);
        b = ak(g, a, 0, 5);
        c = em(g);
        CUgraphNode h = ah(g, 0, 1);
        x = inst(g);
        unsigned e = 77;
        OUT("get %s", R(cuGraphNodeGetEnabled(x, a, &e)));
        do {
            OUT(" %u", e);
            OUT(" set %s", R(cuGraphNodeSetEnabled(x, a, 0)));
        } while (0);
        cuGraphNodeGetEnabled(x, a, &e);
        OUT(" now %u", e);
        cuGraphLaunch(x, s);
        cuStreamSynchronize(s);
        do {
            OUT(" value %u", rd(0));
            OUT("; value 2 %s", R(cuGraphNodeSetEnabled(x, a, 2)));
            OUT("; empty node %s", R(cuGraphNodeSetEnabled(x, c, 0)));
            OUT(" host node %s", R(cuGraphNodeSetEnabled(x, h, 0)));
            OUT(" null node %s", R(cuGraphNodeSetEnabled(x, 0, 0)));
            OUT(" null out %s", R(cuGraphNodeGetEnabled(x, a, 0)));
        } while (0);
        e = 77;
        cuGraphNodeGetEnabled(x, a, &e);
        OUT(" then %u", e);
    }
    CASE("two-instances")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        CUgraphExec y = inst(g);
        cuGraphLaunch(x, s);
        cuGraphLaunch(y, 0);
        cuCtxSynchronize();
        OUT("%u", rd(0));
    }
    CASE("upload-then-launch")
    {
        cuMemsetD8(dm, 0, 64);
        g = G0();
        ak(g, 0, 0, 3);
        x = inst(g);
        do {
            OUT("%s", R(cuGraphUpload(x, s)));
            OUT(" %s", R(cuGraphUpload(x, 0)));
        } while (0);
        OUT(" %s", R(cuGraphLaunch(x, s)));
        do {
            OUT(" %s", R(cuStreamSynchronize(s)));
            OUT(" %u", rd(0));
        } while (0);
    }
}

int main(void)
{
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    probe_only = getenv("PROBE_ONLY");
    RUN(errors);
    RUN(version);
    RUN(procaddress);
    RUN(exporttable);
    RUN(no_init);
    RUN(no_context);
    RUN(destroyed_context);
    RUN(device_misc);
    RUN(stream_create);
    RUN(stream_handles);
    RUN(events);
    RUN(hostfunc);
    RUN(inside);
    RUN(memops);
    RUN(memops_null);
    RUN(memops_unmapped);
    RUN(memops_pageable);
    RUN(ordering);
    RUN(capture_illegal);
    RUN(capture);
    RUN(capture_destroy);
    RUN(graph_build);
    RUN(graph_topology);
    RUN(graph_exec);
    RUN(occupancy);
    RUN(func_attributes);
    return 0;
}
