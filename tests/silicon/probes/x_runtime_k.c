// SPDX-License-Identifier: MIT
// What libcudart.so.13 answers where compiled kernels are needed: launches, function attributes,
// occupancy, symbols, errors that stay, device printf, relocatable device code, the per-thread
// default stream. The kernels are PTX in x_runtime_k.cu. Groups whose name begins with jit_ depend
// on the compiler that turned the PTX into code.
#include "probe.h"
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
typedef unsigned long long u64;
#define N(a) (int)(sizeof(a) / sizeof *(a))
#define JUNK ((void *)0x5e175e175e17ull)
#define EACH(v, ...) for (const int *v = (const int[]){__VA_ARGS__, -99}; *v != -99; v++)
static const char *E(cudaError_t e)
{
    static __thread char b[8][64];
    static __thread int k;
    k = (k + 1) & 7;
    const char *s = cudaGetErrorName(e);
    if (!s || strncmp(s, "cuda", 4))
        snprintf(b[k], 64, "code-%d", (int)e);
    else
        snprintf(b[k], 64, "%s", s + 4);
    return b[k];
}
static const char *L(const char *fmt, ...)
{
    static char b[8][96];
    static int k;
    k = (k + 1) & 7;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b[k], 96, fmt, ap);
    va_end(ap);
    return b[k];
}
// ---- a call that crashes ----
// The case runs again without it, and the line says `label=CRASH 11`: the calls behind it are
// recorded too.
static struct calls {
    int at, n, inside, quick, skips;
    struct {
        int at, n, how;
    } skip[500];
} * calls;
static int call_begin(void)
{
    if (!calls)
        return 1;
    if (calls->at != probe_st->index) {
        calls->at = probe_st->index;
        calls->n = 0;
    }
    int n = calls->n++;
    for (int i = 0; i < calls->skips; i++)
        if (calls->skip[i].at == calls->at && calls->skip[i].n == n) {
            calls->inside = -1 - i;
            return 0;
        }
    calls->inside = 1;
    return 1;
}
static int call_retry(int st)
{
    if (calls->inside != 1 || calls->quick || calls->skips == N(calls->skip))
        return 0;
    calls->skip[calls->skips].at = probe_st->index;
    calls->skip[calls->skips].n = calls->n - 1;
    calls->skip[calls->skips++].how = WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st);
    calls->inside = 0;
    calls->at = -1;
    return 1;
}
static void calls_reset(void)
{
    if (!calls)
        calls = mmap(0, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(calls, 0, sizeof *calls);
    calls->at = -1;
    probe_retry = call_retry;
}
static cudaError_t said_crash(const char *label)
{
    OUT("%s%s=CRASH %d", probe_st->line[0] ? " " : "", label, calls->skip[-1 - calls->inside].how);
    calls->inside = 0;
    return cudaErrorUnknown;
}
static cudaError_t said(const char *label, cudaError_t e)
{
    if (calls)
        calls->inside = 0;
    cudaError_t p = cudaPeekAtLastError();
    OUT("%s%s=%s", probe_st->line[0] ? " " : "", label, E(e));
    if (p != e)
        OUT("(last %s)", E(p));
    if (p)
        cudaGetLastError();
    return e;
}
#define say(label, ...) (call_begin() ? said(label, (__VA_ARGS__)) : said_crash(label))
#define SAY(r, ...) say(L(__VA_ARGS__), r)
static const char *Z(const void *v)
{
    return v == JUNK ? "kept" : v ? "set" : "null";
}
static void health(void)
{
    cudaGetLastError();
    cudaError_t e = cudaDeviceSynchronize();
    if (!e)
        return;
    OUT(" [then %s]", E(e));
    probe_fresh();
}
#define SC(...) CASE(__VA_ARGS__) for (int k_ = 1; k_; k_ = 0, health())
static int iso_begin(void)
{
    for (;;) {
        fflush(stdout);
        pid_t p = fork();
        if (!p) {
            alarm(25);
            calls->at = -1;
            return 1;
        }
        int st;
        waitpid(p, &st, 0);
        if (WIFEXITED(st) && !WEXITSTATUS(st))
            return 0;
        if (call_retry(st)) {
            probe_st->line[0] = 0;
            continue;
        }
        OUT(" CRASH %d", WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st));
        return 0;
    }
}
#define ISO(...) CASE(__VA_ARGS__) for (int k_ = iso_begin(); k_; fflush(stdout), _exit(0))
#define MUSTR(x)                                                                                   \
    do {                                                                                           \
        cudaError_t r_ = (x);                                                                      \
        if (r_) {                                                                                  \
            fprintf(stderr, "set-up failed: %s -> %d\n", #x, r_);                                  \
            fflush(stderr);                                                                        \
            _exit(9);                                                                              \
        }                                                                                          \
    } while (0)
// a launch through <<<>>> says what it did only through the last error
#define GO(label, call)                                                                            \
    do {                                                                                           \
        cudaGetLastError();                                                                        \
        call;                                                                                      \
        cudaError_t r_ = cudaGetLastError();                                                       \
        OUT("%s%s=%s", probe_st->line[0] ? " " : "", label, E(r_));                                \
    } while (0)
#define X_CFG int gx, int gy, int gz, int bx, int by, int bz, size_t sh, cudaStream_t s
extern const void *symbol(int), *kernel(int), *kernel90(int), *rdc_kernel(void), *rdc_symbol(void);
extern void go_nop(X_CFG), go_ids(X_CFG, unsigned *), go_dynamic(X_CFG, unsigned *),
    go_bounds(X_CFG, unsigned *), go_cluster(X_CFG, unsigned *), go_vars(cudaStream_t, unsigned *),
    go_trap(cudaStream_t), go_assert(cudaStream_t, int), go_illegal(cudaStream_t, void *),
    go_add(cudaStream_t, unsigned *, unsigned), go_printf(cudaStream_t, int, int),
    go_templates(unsigned *), go_args(unsigned *), go_big(unsigned *), go_rdc(unsigned *),
    go_rdc2(unsigned *);
extern void pt_launch(cudaStream_t, unsigned *, unsigned);
extern cudaError_t pt_query(cudaStream_t), pt_sync(cudaStream_t),
    pt_memcpy(void *, const void *, size_t), pt_memset(void *, int, size_t), pt_record(cudaEvent_t),
    pt_capture(cudaStream_t), pt_end(cudaStream_t, cudaGraph_t *),
    pt_kernel(cudaStream_t, unsigned *);
extern u64 pt_id(cudaStream_t);
enum {
    NOP,
    SET,
    ADD,
    ARGS,
    BIG,
    STATIC,
    DYNAMIC,
    BOUNDS,
    LOCAL,
    IDS,
    TRAP,
    ASSERT,
    ILLEGAL,
    PRINTF,
    MALLOC,
    VARS,
    TEMPLATE3,
    TEMPLATE4,
    FILE_,
    PRINT_RET,
    PRINT_MANY,
    NK
};
static const char *const kn[] = {
    "nop",    "set",   "add",       "args",      "big",    "static",    "dynamic",
    "bounds", "local", "ids",       "trap",      "assert", "illegal",   "printf",
    "malloc", "vars",  "template3", "template4", "file",   "print_ret", "print_many"};
static unsigned *dev, *h;
static char *page;
static cudaStream_t st, nb;
static cudaEvent_t ev;
static volatile uint32_t *volatile gh;
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
        if (++n > 40) {
            gdog = 1;
            *gh = gseq;
            n = 0;
        }
    }
    return 0;
}
static void gate(cudaStream_t s)
{
    gdog = 0;
    CUresult r = cuStreamWaitValue32((CUstream)s, gd, ++gseq, CU_STREAM_WAIT_VALUE_GEQ);
    if (r)
        OUT(" gate %s", R(r));
}
static void gopen(void)
{
    if (gdog)
        OUT(" (watchdog)");
    *gh = gseq;
}
static uint32_t still;
static void unwatch(void)
{
    gh = &still;
    gseq = 0;
    usleep(1000);
} // before the gate's memory goes
static void S(void)
{
    MUSTR(cudaSetDevice(0));
    MUSTR(cudaFree(0));
    MUSTR(cudaMalloc((void **)&dev, 1 << 20));
    MUSTR(cudaMemset(dev, 0, 1 << 20));
    MUSTR(cudaMallocHost((void **)&h, 65536));
    page = calloc(1, 1 << 20);
    gh = (void *)(h + 16000);
    gd = (CUdeviceptr)(h + 16000);
    *gh = gseq = 0;
    MUSTR(cudaStreamCreate(&st));
    MUSTR(cudaStreamCreateWithFlags(&nb, cudaStreamNonBlocking));
    MUSTR(cudaEventCreate(&ev));
    pthread_t t;
    pthread_create(&t, 0, watchdog, 0);
}
static unsigned rd(int i)
{
    unsigned v = 0xdead;
    cudaError_t r = cudaMemcpy(&v, dev + i, 4, 2);
    if (r) {
        OUT(" read %s", E(r));
        cudaGetLastError();
    }
    return v;
}
static void zero(void)
{
    cudaMemset(dev, 0, 4096);
    cudaDeviceSynchronize();
}
static void state(void)
{
    CUcontext c = 0;
    CUresult r = cuCtxGetCurrent(&c);
    OUT(" driver=%s", R(r));
    if (r)
        return;
    unsigned f = 77;
    int a = 77;
    cuDevicePrimaryCtxGetState(0, &f, &a);
    OUT(" active=%d current=%s", a, c ? "some" : "none");
}
static dim3 D(unsigned x, unsigned y, unsigned z)
{
    dim3 d = {x, y, z};
    return d;
}

GROUP(start)
{
    int i;
    void *p;
    size_t z;
    struct cudaFuncAttributes fa;
    cudaFunction_t fn;
    cudaKernel_t k;
    int n;
    ISO("nothing")
    {
        state();
        CUmoduleLoadingMode m;
        OUT(" mode=%s", R(cuModuleGetLoadingMode(&m)));
    }
    ISO("launch")
    {
        GO("r", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        state();
        say("sync", cudaDeviceSynchronize());
    }
    ISO("launch-bad")
    {
        GO("r", go_nop(0, 1, 1, 1, 1, 1, 0, 0));
        state();
    }
    ISO("attributes")
    {
        say("r", cudaFuncGetAttributes(&fa, kernel(NOP)));
        state();
    }
    ISO("set-attribute")
    {
        say("r", cudaFuncSetAttribute(kernel(NOP), 8, 100));
        state();
    }
    ISO("cache-config")
    {
        say("r", cudaFuncSetCacheConfig(kernel(NOP), 1));
        state();
    }
    ISO("occupancy")
    {
        say("r", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel(NOP), 64, 0));
        state();
    }
    ISO("symbol-address")
    {
        say("r", cudaGetSymbolAddress(&p, symbol(0)));
        state();
    }
    ISO("symbol-size")
    {
        say("r", cudaGetSymbolSize(&z, symbol(0)));
        state();
    }
    ISO("to-symbol")
    {
        say("r", cudaMemcpyToSymbol(symbol(0), "abcd", 4, 0, 1));
        state();
    }
    ISO("func-by-symbol")
    {
        say("r", cudaGetFuncBySymbol(&fn, kernel(NOP)));
        state();
    }
    ISO("get-kernel")
    {
        say("r", cudaGetKernel(&k, kernel(NOP)));
        state();
    }
    ISO("func-name")
    {
        const char *c = 0;
        say("r", cudaFuncGetName(&c, kernel(NOP)));
        OUT(" %s", c ? c : "null");
        state();
    }
    ISO("param-info")
    {
        size_t a, b;
        say("r", cudaFuncGetParamInfo(kernel(SET), 0, &a, &b));
        state();
    }
    ISO("loading-mode-after-free")
    {
        cudaFree(0);
        CUmoduleLoadingMode m = 77;
        OUT("%s", R(cuModuleGetLoadingMode(&m)));
        OUT(" %d", m);
    }
    ISO("eager-env")
    {
        setenv("CUDA_MODULE_LOADING", "EAGER", 1);
        cudaFree(0);
        CUmoduleLoadingMode m = 77;
        OUT("%s", R(cuModuleGetLoadingMode(&m)));
        OUT(" %d", m);
        GO("launch", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        say("sync", cudaDeviceSynchronize());
    }
    ISO("launch-in-other-context")
    {
        CUcontext c;
        cuInit(0);
        OUT("%s", R(cuCtxCreate(&c, 0, 0, 0)));
        GO("launch", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        say("sync", cudaDeviceSynchronize());
        state();
        p = 0;
        say("symbol", cudaGetSymbolAddress(&p, symbol(0)));
        CUcontext o = 0;
        cuPointerGetAttribute(&o, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)p);
        OUT(" in=%s", o == c ? "mine" : "other");
    }
    ISO("symbol-in-two-contexts")
    {
        void *q = 0;
        p = 0;
        cudaGetSymbolAddress(&p, symbol(0));
        CUcontext c;
        cuCtxCreate(&c, 0, 0, 0);
        say("second", cudaGetSymbolAddress(&q, symbol(0)));
        OUT(" same %d", p == q);
    }
    ISO("no-device")
    {
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        GO("launch", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        i = -7;
        say("count", cudaGetDeviceCount(&i));
        OUT(" %d", i);
        say("get", cudaGetDevice(&i));
        say("set", cudaSetDevice(0));
        say("malloc", cudaMalloc(&p, 4));
        say("sync", cudaDeviceSynchronize());
        say("attributes", cudaFuncGetAttributes(&fa, kernel(NOP)));
        int v;
        say("driver-version", cudaDriverGetVersion(&v));
        say("reset", cudaDeviceReset());
    }
    ISO("reset-then-launch")
    {
        unsigned *d, v = 0;
        cudaMalloc((void **)&d, 64);
        go_vars(0, d);
        cudaDeviceSynchronize();
        go_vars(0, d);
        cudaMemcpy(&v, d, 4, 2);
        OUT("second sees %u", v);
        say("reset", cudaDeviceReset());
        cudaMalloc((void **)&d, 64);
        GO("launch", go_vars(0, d));
        cudaMemcpy(&v, d, 4, 2);
        OUT(" after reset %u", v);
    }
    ISO("symbol-after-reset")
    {
        void *q = 0;
        p = 0;
        cudaGetSymbolAddress(&p, symbol(0));
        cudaDeviceReset();
        say("r", cudaGetSymbolAddress(&q, symbol(0)));
        unsigned v = 0;
        say("read", cudaMemcpyFromSymbol(&v, symbol(0), 4, 0, 2));
        OUT(" %u", v);
    }
    ISO("function-after-reset")
    {
        cudaGetFuncBySymbol(&fn, kernel(NOP));
        cudaDeviceReset();
        cudaFunction_t f2 = 0;
        say("again", cudaGetFuncBySymbol(&f2, kernel(NOP)));
        cudaFree(0);
        OUT(" launch-old=%s", R(cuLaunchKernel((CUfunction)f2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)));
    }
}

GROUP(launch)
{
    S();
    static const struct {
        const char *n;
        int g[3], b[3];
        size_t sh;
    } K[] = {{"plain", {1, 1, 1}, {1, 1, 1}, 0},
             {"grid-x0", {0, 1, 1}, {1, 1, 1}, 0},
             {"grid-y0", {1, 0, 1}, {1, 1, 1}, 0},
             {"grid-z0", {1, 1, 0}, {1, 1, 1}, 0},
             {"block-x0", {1, 1, 1}, {0, 1, 1}, 0},
             {"block-y0", {1, 1, 1}, {1, 0, 1}, 0},
             {"block-z0", {1, 1, 1}, {1, 1, 0}, 0},
             {"all-0", {0, 0, 0}, {0, 0, 0}, 0},
             {"block-1024", {1, 1, 1}, {1024, 1, 1}, 0},
             {"block-1025", {1, 1, 1}, {1025, 1, 1}, 0},
             {"block-32x32", {1, 1, 1}, {32, 32, 1}, 0},
             {"block-32x33", {1, 1, 1}, {32, 33, 1}, 0},
             {"block-y1024", {1, 1, 1}, {1, 1024, 1}, 0},
             {"block-y1025", {1, 1, 1}, {1, 1025, 1}, 0},
             {"block-z64", {1, 1, 1}, {1, 1, 64}, 0},
             {"block-z65", {1, 1, 1}, {1, 1, 65}, 0},
             {"block-10x10x10", {1, 1, 1}, {10, 10, 10}, 0},
             {"block-11x10x10", {1, 1, 1}, {11, 10, 10}, 0},
             {"block-65536x65536", {1, 1, 1}, {65536, 65536, 1}, 0},
             {"grid-y65535", {1, 65535, 1}, {1, 1, 1}, 0},
             {"grid-y65536", {1, 65536, 1}, {1, 1, 1}, 0},
             {"grid-z65535", {1, 1, 65535}, {1, 1, 1}, 0},
             {"grid-z65536", {1, 1, 65536}, {1, 1, 1}, 0},
             {"grid-x-negative", {-1, 1, 1}, {1, 1, 1}, 0},
             {"grid-x-2g", {INT_MIN, 1, 1}, {1, 1, 1}, 0},
             {"block-negative", {1, 1, 1}, {-1, 1, 1}, 0},
             {"shared-48k", {1, 1, 1}, {1, 1, 1}, 49152},
             {"shared-48k1", {1, 1, 1}, {1, 1, 1}, 49153},
             {"shared-227k", {1, 1, 1}, {1, 1, 1}, 232448},
             {"shared-1m", {1, 1, 1}, {1, 1, 1}, 1 << 20},
             {"shared-4g", {1, 1, 1}, {1, 1, 1}, 1ull << 32},
             {"shared-max", {1, 1, 1}, {1, 1, 1}, ~0ull}};
    for (int i = 0; i < N(K); i++)
        SC("%s", K[i].n)
        {
            const int *g = K[i].g, *b = K[i].b;
            zero();
            void *p = dev, *a[] = {&p};
            GO("chevrons", go_ids(g[0], g[1], g[2], b[0], b[1], b[2], K[i].sh, 0, dev));
            say("function", cudaLaunchKernel(kernel(IDS), D(g[0], g[1], g[2]), D(b[0], b[1], b[2]),
                                             a, K[i].sh, 0));
            say("stream", cudaLaunchKernel(kernel(IDS), D(g[0], g[1], g[2]), D(b[0], b[1], b[2]), a,
                                           K[i].sh, st));
            cudaLaunchConfig_t c;
            memset(&c, 0, sizeof c);
            c.gridDim = D(g[0], g[1], g[2]);
            c.blockDim = D(b[0], b[1], b[2]);
            c.dynamicSmemBytes = K[i].sh;
            say("ex", cudaLaunchKernelExC(&c, kernel(IDS), a));
            say("cooperative", cudaLaunchCooperativeKernel(kernel(IDS), D(g[0], g[1], g[2]),
                                                           D(b[0], b[1], b[2]), a, K[i].sh, 0));
            say("sync", cudaDeviceSynchronize());
            OUT(" ran %u block %u thread %u", rd(0), rd(1), rd(2));
        }
    SC("bounds-128")
    {
        GO("r", go_bounds(1, 1, 1, 128, 1, 1, 0, 0, dev));
    }
    SC("bounds-129")
    {
        GO("r", go_bounds(1, 1, 1, 129, 1, 1, 0, 0, dev));
    }
    SC("bounds-1025")
    {
        GO("r", go_bounds(1, 1, 1, 1025, 1, 1, 0, 0, dev));
    }
    SC("null-function") say("r", cudaLaunchKernel(0, D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("junk-function") say("r", cudaLaunchKernel(JUNK, D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("host-function") say("r", cudaLaunchKernel((void *)said, D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("variable-as-function")
    say("r", cudaLaunchKernel(symbol(0), D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("null-args-no-parameters")
    say("r", cudaLaunchKernel(kernel(NOP), D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("null-args-with-parameters")
    say("r", cudaLaunchKernel(kernel(SET), D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("null-args-bad-grid") say("r", cudaLaunchKernel(0, D(0, 1, 1), D(1, 1, 1), 0, 0, 0));
    SC("junk-stream") say("r", cudaLaunchKernel(kernel(NOP), D(1, 1, 1), D(1, 1, 1), 0, 0, JUNK));
    SC("destroyed-stream")
    {
        cudaStream_t s;
        cudaStreamCreate(&s);
        cudaStreamDestroy(s);
        say("r", cudaLaunchKernel(kernel(NOP), D(1, 1, 1), D(1, 1, 1), 0, 0, s));
    }
    SC("legacy-and-per-thread")
    {
        GO("legacy", go_nop(1, 1, 1, 1, 1, 1, 0, cudaStreamLegacy));
        GO("per-thread", go_nop(1, 1, 1, 1, 1, 1, 0, cudaStreamPerThread));
    }
    SC("arguments")
    {
        zero();
        GO("r", go_args(dev));
        for (int i = 0; i < 6; i++)
            OUT(" %u", rd(i));
    }
    SC("big-argument")
    {
        zero();
        GO("r", go_big(dev));
        OUT(" %u", rd(0));
    }
    SC("templates-and-static")
    {
        zero();
        GO("r", go_templates(dev));
        OUT(" %u %u %u", rd(0), rd(1), rd(2));
    }
    SC("dynamic-shared")
    {
        zero();
        GO("r", go_dynamic(1, 1, 1, 64, 1, 1, 256, 0, dev));
        OUT(" %u %u", rd(0), rd(63));
        GO("large-refused", go_dynamic(1, 1, 1, 64, 1, 1, 65536, 0, dev));
        say("opt-in", cudaFuncSetAttribute(kernel(DYNAMIC),
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
        GO("large", go_dynamic(1, 1, 1, 64, 1, 1, 65536, 0, dev));
        GO("larger", go_dynamic(1, 1, 1, 64, 1, 1, 65540, 0, dev));
    }
    SC("failed-launch-then-good")
    {
        go_nop(0, 1, 1, 1, 1, 1, 0, 0);
        go_nop(1, 1, 1, 1, 1, 1, 0, 0);
        say("sync", cudaDeviceSynchronize());
        cudaError_t e = cudaGetLastError();
        OUT(" last %s", E(e));
    }
    SC("failed-launch-peek")
    {
        go_nop(0, 1, 1, 1, 1, 1, 0, 0);
        OUT("peek %s", E(cudaPeekAtLastError()));
        cudaError_t s = cudaDeviceSynchronize();
        OUT(" sync %s", E(s));
        OUT(" get %s", E(cudaGetLastError()));
        OUT(" get %s", E(cudaGetLastError()));
    }
    // the pieces that <<<>>> is made of
    unsigned (*push)(dim3, dim3, size_t, cudaStream_t) =
        dlsym(RTLD_DEFAULT, "__cudaPushCallConfiguration");
    cudaError_t (*pop)(dim3 *, dim3 *, size_t *, void *) =
        dlsym(RTLD_DEFAULT, "__cudaPopCallConfiguration");
    SC("push-pop")
    {
        dim3 g = D(7, 7, 7), b = D(7, 7, 7);
        size_t z = 7;
        cudaStream_t s = JUNK;
        OUT("push %u", push(D(1, 2, 3), D(4, 5, 6), 99, st));
        OUT(" push %u", push(D(8, 9, 10), D(11, 12, 13), 98, 0));
        say("pop", pop(&g, &b, &z, &s));
        OUT(" %u %u %u %u %zu %s", g.x, g.z, b.x, b.z, z, Z(s));
        say("pop", pop(&g, &b, &z, &s));
        OUT(" %u %u %zu %d", g.x, b.z, z, s == st);
        g.x = 55;
        say("pop-empty", pop(&g, &b, &z, &s));
        OUT(" %u", g.x);
    }
    SC("push-bad")
    {
        dim3 g, b;
        size_t z;
        cudaStream_t s;
        OUT("push %u", push(D(0, 0, 0), D(0, 0, 0), ~0ull, JUNK));
        say("pop", pop(&g, &b, &z, &s));
        OUT(" %u %d", g.x, s == JUNK);
    }
    SC("in-capture")
    {
        for (int m = 0; m < 3; m++) {
            cudaStreamBeginCapture(nb, m);
            GO("launch", go_add(nb, dev, 1));
            cudaGraph_t g = 0;
            say("end", cudaStreamEndCapture(nb, &g));
            size_t n = 0;
            if (g)
                cudaGraphGetNodes(g, 0, &n);
            OUT(" %zu", n);
        }
    }
    SC("bad-in-capture")
    {
        cudaStreamBeginCapture(nb, 0);
        GO("grid0", go_nop(0, 1, 1, 1, 1, 1, 0, nb));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
        OUT(" %s", Z(g));
    }
    SC("other-stream-in-capture")
    {
        cudaStreamBeginCapture(nb, 0);
        GO("st", go_nop(1, 1, 1, 1, 1, 1, 0, st));
        GO("null", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
    }
    SC("null-stream-in-blocking-capture")
    {
        cudaStreamBeginCapture(st, 0);
        GO("null", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(st, &g));
    }
}
static void ex_attr(const char *n, int id, cudaLaunchAttributeValue v, const void *k, unsigned grid,
                    unsigned *p)
{
    cudaLaunchAttribute a;
    memset(&a, 0, sizeof a);
    a.id = id;
    a.val = v;
    cudaLaunchConfig_t c;
    memset(&c, 0, sizeof c);
    c.gridDim = D(grid, 1, 1);
    c.blockDim = D(32, 1, 1);
    c.stream = st;
    c.attrs = &a;
    c.numAttrs = 1;
    void *ar[] = {&p};
    say(n, cudaLaunchKernelExC(&c, k, ar));
}
GROUP(launch_ex)
{
    S();
    cudaLaunchAttributeValue v;
    cudaLaunchConfig_t c;
    memset(&c, 0, sizeof c);
    c.gridDim = c.blockDim = D(1, 1, 1);
    void *p = dev, *ar[] = {&p};
    SC("null-config") say("r", cudaLaunchKernelExC(0, kernel(NOP), 0));
    SC("null-function") say("r", cudaLaunchKernelExC(&c, 0, 0));
    SC("null-attrs-1")
    {
        c.numAttrs = 1;
        say("r", cudaLaunchKernelExC(&c, kernel(NOP), 0));
    }
    SC("null-args") say("r", cudaLaunchKernelExC(&c, kernel(SET), 0));
    for (int id = -1; id <= 17; id++)
        for (int val = 0; val < 3; val++)
            SC("attribute-%d-value-%d", id, val)
            {
                memset(&v, 0, sizeof v);
                *(int *)&v = val;
                ex_attr("r", id, v, kernel90(0) ? kernel(IDS) : 0, 1, dev);
                say("sync", cudaStreamSynchronize(st));
            }
    static const int CD[][4] = {{1, 1, 1, 4},   {2, 1, 1, 4}, {2, 1, 1, 3},
                                {0, 1, 1, 4},   {8, 1, 1, 8}, {9, 1, 1, 9},
                                {16, 1, 1, 16}, {1, 2, 1, 4}, {4, 4, 1, 16}};
    for (int i = 0; i < N(CD); i++)
        SC("cluster-%d-%d-%d-grid%d", CD[i][0], CD[i][1], CD[i][2], CD[i][3])
        {
            zero();
            memset(&v, 0, sizeof v);
            v.clusterDim.x = CD[i][0];
            v.clusterDim.y = CD[i][1];
            v.clusterDim.z = CD[i][2];
            ex_attr("plain", 4, v, kernel(IDS), CD[i][3], dev);
            zero();
            ex_attr("cluster-kernel", 4, v, kernel90(2), CD[i][3], dev);
            say("sync", cudaStreamSynchronize(st));
            OUT(" blocks %u", rd(0));
            ex_attr("fixed-kernel", 4, v, kernel90(1), CD[i][3], dev);
        }
    SC("fixed-cluster")
    {
        zero();
        GO("even", go_cluster(4, 1, 1, 1, 1, 1, 0, 0, dev));
        GO("odd", go_cluster(3, 1, 1, 1, 1, 1, 0, 0, dev));
        OUT(" %u", rd(0));
    }
    SC("two-attributes")
    {
        cudaLaunchAttribute a[2];
        memset(a, 0, sizeof a);
        a[0].id = 2;
        a[0].val.cooperative = 1;
        a[1].id = 4;
        a[1].val.clusterDim.x = a[1].val.clusterDim.y = a[1].val.clusterDim.z = 1;
        c.attrs = a;
        c.numAttrs = 2;
        say("r", cudaLaunchKernelExC(&c, kernel(IDS), ar));
        a[1].id = 2;
        say("twice-same", cudaLaunchKernelExC(&c, kernel(IDS), ar));
        c.numAttrs = 0;
        c.attrs = 0;
    }
    int sm = 0, n = 0;
    cudaDeviceGetAttribute(&sm, cudaDevAttrMultiProcessorCount, 0);
    SC("cooperative")
    {
        zero();
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel90(0), 32, 0);
        say("fits",
            cudaLaunchCooperativeKernel(kernel90(0), D(sm * n, 1, 1), D(32, 1, 1), ar, 0, st));
        say("one-more",
            cudaLaunchCooperativeKernel(kernel90(0), D(sm * n + 1, 1, 1), D(32, 1, 1), ar, 0, st));
        say("sync", cudaStreamSynchronize(st));
        say("null-stream",
            cudaLaunchCooperativeKernel(kernel90(0), D(1, 1, 1), D(32, 1, 1), ar, 0, 0));
        say("sync", cudaDeviceSynchronize());
    }
    SC("cooperative-null")
    say("r", cudaLaunchCooperativeKernel(0, D(1, 1, 1), D(1, 1, 1), ar, 0, st));
    SC("cooperative-in-capture")
    {
        cudaStreamBeginCapture(nb, 0);
        say("r", cudaLaunchCooperativeKernel(kernel90(0), D(1, 1, 1), D(32, 1, 1), ar, 0, nb));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
    }
}
GROUP(jit_functions)
{
    S();
    for (int i = 0; i < NK + 3; i++) {
        const void *k = i < NK ? kernel(i) : kernel90(i - NK);
        const char *n = i < NK        ? kn[i]
                        : i == NK     ? "coop"
                        : i == NK + 1 ? "cluster"
                                      : "cluster_free";
        SC("attributes-%s", n)
        {
            struct cudaFuncAttributes f;
            memset(&f, 0x55, sizeof f);
            say("r", cudaFuncGetAttributes(&f, k));
            OUT(" shared %zu const %zu local %zu max %d regs %d ptx %d binary %d ca %d dyn %d "
                "carve %d must %d cluster %d %d %d policy %d nonportable %d",
                f.sharedSizeBytes, f.constSizeBytes, f.localSizeBytes, f.maxThreadsPerBlock,
                f.numRegs, f.ptxVersion, f.binaryVersion, f.cacheModeCA,
                f.maxDynamicSharedSizeBytes, f.preferredShmemCarveout, f.clusterDimMustBeSet,
                f.requiredClusterWidth, f.requiredClusterHeight, f.requiredClusterDepth,
                f.clusterSchedulingPolicyPreference, f.nonPortableClusterSizeAllowed);
        }
        SC("occupancy-%s", n)
        {
            EACH(b, 0, 1, 32, 33, 64, 128, 129, 256, 512, 1000, 1024, 1025, -1)
            {
                int v = -7;
                cudaError_t r = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, k, *b, 0);
                OUT("%d:%s%s%d ", *b, r ? E(r) : "", r ? " " : "", v);
                cudaGetLastError();
            }
        }
    }
    EACH(s, 0, 1, 1000, 1024, 16384, 49152, 49153, 65536, 232448, 232449)
    SC("occupancy-dynamic-shared-%d", *s)
    {
        int v = -7;
        say("r", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, kernel(DYNAMIC), 128, *s));
        OUT(" %d", v);
        EACH(f, 0, 1, 2)
        {
            v = -7;
            SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&v, kernel(DYNAMIC), 128, *s,
                                                                       *f),
                "flags%d", *f);
            OUT(" %d", v);
        }
        cudaFuncSetAttribute(kernel(DYNAMIC), 8, 65536);
        v = -7;
        say("opted", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, kernel(DYNAMIC), 128, *s));
        OUT(" %d", v);
        cudaFuncSetAttribute(kernel(DYNAMIC), 8, 0);
    }
    EACH(nbk, 0, 1, 2, 3, 4, 8, 16, 32, 33, -1)
    EACH(bs, 0, 32, 128, 1024, 1025) SC("available-shared-blocks%d-size%d", *nbk, *bs)
    {
        size_t z = 77;
        say("r", cudaOccupancyAvailableDynamicSMemPerBlock(&z, kernel(DYNAMIC), *nbk, *bs));
        OUT(" %zu", z);
    }
    SC("occupancy-nulls")
    {
        int v;
        say("out", cudaOccupancyMaxActiveBlocksPerMultiprocessor(0, kernel(NOP), 32, 0));
        say("function", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, 0, 32, 0));
        size_t z;
        say("shared-out", cudaOccupancyAvailableDynamicSMemPerBlock(0, kernel(NOP), 1, 32));
    }
    SC("occupancy-junk")
    {
        int v;
        say("r", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, JUNK, 32, 0));
    }
    SC("clusters")
    {
        cudaLaunchConfig_t c;
        memset(&c, 0, sizeof c);
        c.gridDim = D(16, 1, 1);
        c.blockDim = D(128, 1, 1);
        int v = -7;
        say("potential", cudaOccupancyMaxPotentialClusterSize(&v, kernel90(2), &c));
        OUT(" %d", v);
        cudaLaunchAttribute a;
        memset(&a, 0, sizeof a);
        a.id = 4;
        a.val.clusterDim.x = 2;
        a.val.clusterDim.y = a.val.clusterDim.z = 1;
        c.attrs = &a;
        c.numAttrs = 1;
        v = -7;
        say("active", cudaOccupancyMaxActiveClusters(&v, kernel90(2), &c));
        OUT(" %d", v);
        c.numAttrs = 0;
        v = -7;
        say("active-none", cudaOccupancyMaxActiveClusters(&v, kernel90(2), &c));
        OUT(" %d", v);
        say("null-config", cudaOccupancyMaxActiveClusters(&v, kernel90(2), 0));
    }
}
GROUP(functions)
{
    S();
    struct cudaFuncAttributes f;
    for (int i = 0; i < NK; i++)
        SC("parameters-%s", kn[i])
        {
            const char *c = 0;
            say("name", cudaFuncGetName(&c, kernel(i)));
            OUT(" %s", c ? c : "null");
            for (int q = 0; q < 9; q++) {
                size_t o = 77, z = 77;
                cudaError_t r = cudaFuncGetParamInfo(kernel(i), q, &o, &z);
                if (r) {
                    SAY(r, "param%d", q);
                    OUT(" %zu %zu", o, z);
                    break;
                }
                OUT(" %zu+%zu", o, z);
            }
        }
    SC("parameter-nulls")
    {
        size_t o, z;
        say("offset", cudaFuncGetParamInfo(kernel(SET), 0, 0, &z));
        say("size", cudaFuncGetParamInfo(kernel(SET), 0, &o, 0));
        say("function", cudaFuncGetParamInfo(0, 0, &o, &z));
        const char *c;
        say("name-out", cudaFuncGetName(0, kernel(SET)));
        say("name-function", cudaFuncGetName(&c, 0));
    }
    SC("attributes-nulls")
    {
        say("out", cudaFuncGetAttributes(0, kernel(SET)));
        say("function", cudaFuncGetAttributes(&f, 0));
    }
    SC("attributes-host-function") say("r", cudaFuncGetAttributes(&f, (void *)said));
    SC("attributes-variable") say("r", cudaFuncGetAttributes(&f, symbol(0)));
    SC("attributes-junk") say("r", cudaFuncGetAttributes(&f, JUNK));
    for (int a = 0; a <= 17; a++)
        SC("set-%d", a)
        {
            static const int V[] = {-2,  -1,   0,     1,     2,     3,      50,     100,
                                    101, 1024, 49152, 49153, 65536, 232448, 232449, INT_MAX};
            for (int i = 0; i < N(V); i++) {
                cudaError_t r = cudaFuncSetAttribute(kernel(SET), a, V[i]);
                cudaError_t p = cudaGetLastError();
                memset(&f, 0, sizeof f);
                cudaFuncGetAttributes(&f, kernel(SET));
                int g = a == 8    ? f.maxDynamicSharedSizeBytes
                        : a == 9  ? f.preferredShmemCarveout
                        : a == 10 ? f.clusterDimMustBeSet
                        : a == 11 ? f.requiredClusterWidth
                        : a == 12 ? f.requiredClusterHeight
                        : a == 13 ? f.requiredClusterDepth
                        : a == 14 ? f.nonPortableClusterSizeAllowed
                        : a == 15 ? f.clusterSchedulingPolicyPreference
                                  : -7;
                OUT("%d:%s=%d%s ", V[i], E(r), g, p == r ? "" : " other-last");
            }
        }
    SC("set-static-shared-kernel")
    {
        EACH(v, 0, 45152, 45153, 49152, 228448, 228449)
        SAY(cudaFuncSetAttribute(kernel(STATIC), 8, *v), "%d", *v);
    }
    SC("set-nulls")
    {
        say("function", cudaFuncSetAttribute(0, 8, 1));
        say("cache", cudaFuncSetCacheConfig(0, 1));
        say("shared", cudaFuncSetSharedMemConfig(0, 1));
    }
    SC("set-junk") say("r", cudaFuncSetAttribute(JUNK, 8, 1));
    for (int c = -1; c < 5; c++)
        SC("cache-config-%d", c)
        {
            say("cache", cudaFuncSetCacheConfig(kernel(SET), c));
            say("shared", cudaFuncSetSharedMemConfig(kernel(SET), c));
        }
    SC("by-symbol")
    {
        cudaFunction_t a = JUNK, b = 0;
        cudaKernel_t k = JUNK, k2;
        say("function", cudaGetFuncBySymbol(&a, kernel(SET)));
        say("again", cudaGetFuncBySymbol(&b, kernel(SET)));
        OUT(" same %d", a == b);
        say("kernel", cudaGetKernel(&k, kernel(SET)));
        cudaGetKernel(&k2, kernel(SET));
        OUT(" same %d other-than-function %d", k == k2, (void *)k != (void *)a);
        zero();
        void *p = dev;
        unsigned v = 0x77;
        void *ar[] = {&p, &v};
        OUT(" driver-launch=%s", R(cuLaunchKernel((CUfunction)a, 1, 1, 1, 1, 1, 1, 0, 0, ar, 0)));
        OUT(" %x", rd(0));
        v = 0x78;
        say("launch-kernel", cudaLaunchKernel((void *)k, D(1, 1, 1), D(1, 1, 1), ar, 0, 0));
        OUT(" %x", rd(0));
        OUT(" driver-launch-kernel=%s",
            R(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, 0, ar, 0)));
        CUfunction cf = 0;
        OUT(" kernel-function=%s", R(cuKernelGetFunction(&cf, (CUkernel)k)));
        OUT(" same %d", cf == (CUfunction)a);
        const char *nm = 0;
        cuFuncGetName(&nm, (CUfunction)a);
        OUT(" %s", nm ? nm : "null");
        say("launch-function-handle",
            cudaLaunchKernel((void *)a, D(1, 1, 1), D(1, 1, 1), ar, 0, 0));
    }
    SC("by-symbol-nulls")
    {
        cudaFunction_t a = JUNK;
        cudaKernel_t k = JUNK;
        say("out", cudaGetFuncBySymbol(0, kernel(SET)));
        say("symbol", cudaGetFuncBySymbol(&a, 0));
        OUT(" %s", Z(a));
        say("kernel-out", cudaGetKernel(0, kernel(SET)));
        say("kernel-symbol", cudaGetKernel(&k, 0));
        OUT(" %s", Z(k));
    }
    SC("by-symbol-host-function")
    {
        cudaFunction_t a = JUNK;
        cudaKernel_t k = JUNK;
        say("function", cudaGetFuncBySymbol(&a, (void *)said));
        OUT(" %s", Z(a));
        say("kernel", cudaGetKernel(&k, (void *)said));
        OUT(" %s", Z(k));
    }
    SC("by-symbol-variable")
    {
        cudaFunction_t a = JUNK;
        say("r", cudaGetFuncBySymbol(&a, symbol(0)));
    }
}
GROUP(symbols)
{
    S();
    void *p, *q;
    size_t z;
    unsigned v[32];
    static const char *const sn[] = {"d_var", "d_arr", "c_arr", "d_static", "d_unused"};
    for (int i = 0; i < 5; i++)
        SC("%s", sn[i])
        {
            p = JUNK;
            z = 77;
            say("address", cudaGetSymbolAddress(&p, symbol(i)));
            OUT(" %s", Z(p));
            say("size", cudaGetSymbolSize(&z, symbol(i)));
            OUT(" %zu", z);
            q = 0;
            cudaGetSymbolAddress(&q, symbol(i));
            OUT(" same %d", p == q);
            struct cudaPointerAttributes a;
            memset(&a, 0, sizeof a);
            say("attributes", cudaPointerGetAttributes(&a, p));
            OUT(" type %d device-pointer %d", a.type, a.devicePointer == p);
            memset(v, 0, sizeof v);
            say("from", cudaMemcpyFromSymbol(v, symbol(i), z, 0, 2));
            OUT(" %x %x", v[0], v[1]);
            say("free", cudaFree(p));
        }
    for (int k = -1; k <= 5; k++)
        SC("kinds-%d", k)
        {
            memset(v, 1, sizeof v);
            say("to-host", cudaMemcpyToSymbol(symbol(1), v, 64, 0, k));
            say("to-device", cudaMemcpyToSymbol(symbol(1), dev, 64, 0, k));
            say("from-host", cudaMemcpyFromSymbol(v, symbol(1), 64, 0, k));
            say("from-device", cudaMemcpyFromSymbol(dev, symbol(1), 64, 0, k));
            say("to-async", cudaMemcpyToSymbolAsync(symbol(1), v, 64, 0, k, st));
            say("from-async", cudaMemcpyFromSymbolAsync(v, symbol(1), 64, 0, k, st));
            say("sync", cudaStreamSynchronize(st));
        }
    static const size_t O[][2] = {{0, 64},    {0, 65},    {1, 63},    {1, 64},         {60, 4},
                                  {60, 5},    {64, 0},    {64, 1},    {65, 0},         {0, 0},
                                  {~0ull, 1}, {~0ull, 2}, {0, ~0ull}, {32, 1ull << 40}};
    for (int i = 0; i < N(O); i++)
        SC("range-offset%zx-count%zx", O[i][0], O[i][1])
        {
            memset(v, 1, sizeof v);
            say("to", cudaMemcpyToSymbol(symbol(1), v, O[i][1], O[i][0], 1));
            say("from", cudaMemcpyFromSymbol(v, symbol(1), O[i][1], O[i][0], 2));
            say("to-async", cudaMemcpyToSymbolAsync(symbol(1), v, O[i][1], O[i][0], 1, st));
        }
    SC("null-address-out") say("r", cudaGetSymbolAddress(0, symbol(0)));
    SC("null-size-out") say("r", cudaGetSymbolSize(0, symbol(0)));
    SC("nulls")
    {
        say("address-symbol", cudaGetSymbolAddress(&p, 0));
        say("size-symbol", cudaGetSymbolSize(&z, 0));
        say("to-symbol", cudaMemcpyToSymbol(0, v, 4, 0, 1));
        say("to-symbol-0", cudaMemcpyToSymbol(0, v, 0, 0, 1));
        say("from-symbol", cudaMemcpyFromSymbol(v, 0, 4, 0, 2));
    }
    SC("null-source") say("r", cudaMemcpyToSymbol(symbol(0), 0, 4, 0, 1));
    SC("null-destination") say("r", cudaMemcpyFromSymbol(0, symbol(0), 4, 0, 2));
    SC("host-variable")
    {
        static int x;
        p = JUNK;
        say("address", cudaGetSymbolAddress(&p, &x));
        OUT(" %s", Z(p));
        z = 77;
        say("size", cudaGetSymbolSize(&z, &x));
        OUT(" %zu", z);
        say("to", cudaMemcpyToSymbol(&x, v, 4, 0, 1));
    }
    SC("inside-of-variable")
    {
        say("r", cudaGetSymbolAddress(&p, (char *)symbol(1) + 4));
    }
    SC("name-as-symbol") say("r", cudaGetSymbolAddress(&p, "d_var"));
    SC("kernel-as-symbol")
    {
        say("address", cudaGetSymbolAddress(&p, kernel(SET)));
        say("size", cudaGetSymbolSize(&z, kernel(SET)));
    }
    SC("kernel-sees-it")
    {
        zero();
        v[0] = 41;
        cudaMemcpyToSymbol(symbol(0), v, 4, 0, 1);
        v[0] = 17;
        cudaMemcpyToSymbol(symbol(1), v, 4, 12, 1);
        v[0] = 19;
        cudaMemcpyToSymbol(symbol(2), v, 4, 8, 1);
        GO("launch", go_vars(0, dev));
        for (int i = 0; i < 4; i++)
            OUT(" %u", rd(i));
        cudaMemcpyFromSymbol(v, symbol(0), 4, 0, 2);
        OUT(" after %u", v[0]);
    }
    SC("in-capture")
    {
        cudaStreamBeginCapture(nb, 0);
        say("address", cudaGetSymbolAddress(&p, symbol(0)));
        say("size", cudaGetSymbolSize(&z, symbol(0)));
        say("to-async", cudaMemcpyToSymbolAsync(symbol(0), dev, 4, 0, 3, nb));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
    }
    SC("to-in-capture")
    {
        cudaStreamBeginCapture(nb, 0);
        say("to", cudaMemcpyToSymbol(symbol(0), v, 4, 0, 1));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
    }
    SC("graph-nodes")
    {
        cudaGraph_t g;
        cudaGraphNode_t a, b;
        cudaGraphCreate(&g, 0);
        v[0] = 0x99;
        say("to", cudaGraphAddMemcpyNodeToSymbol(&a, g, 0, 0, symbol(0), v, 4, 0, 1));
        say("from", cudaGraphAddMemcpyNodeFromSymbol(&b, g, &a, 1, dev, symbol(0), 4, 0, 3));
        struct cudaMemcpy3DParms m;
        memset(&m, 0, sizeof m);
        say("get", cudaGraphMemcpyNodeGetParams(a, &m));
        OUT(" kind %d width %zu pitch %zu", m.kind, m.extent.width, m.srcPtr.pitch);
        say("set-to", cudaGraphMemcpyNodeSetParamsToSymbol(a, symbol(0), v, 4, 0, 1));
        say("set-from", cudaGraphMemcpyNodeSetParamsFromSymbol(b, dev, symbol(0), 4, 0, 3));
        say("past", cudaGraphMemcpyNodeSetParamsToSymbol(a, symbol(0), v, 8, 0, 1));
        say("null-symbol", cudaGraphAddMemcpyNodeToSymbol(&b, g, 0, 0, 0, v, 4, 0, 1));
        cudaGraphExec_t x;
        say("instantiate", cudaGraphInstantiate(&x, g, 0));
        say("exec-set", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, a, symbol(0), v, 4, 0, 1));
        say("launch", cudaGraphLaunch(x, st));
        say("sync", cudaStreamSynchronize(st));
        OUT(" %x", rd(0));
    }
}
GROUP(kernel_nodes)
{
    S();
    cudaGraph_t g;
    cudaGraphNode_t n;
    cudaGraphExec_t x;
    cudaGraphCreate(&g, 0);
    void *p = dev;
    unsigned v = 5;
    void *ar[] = {&p, &v};
    SC("round-trip")
    {
        struct cudaKernelNodeParams K = {(void *)kernel(SET), {1, 1, 1}, {1, 1, 1}, 0, ar, 0}, q;
        say("add", cudaGraphAddKernelNode(&n, g, 0, 0, &K));
        memset(&q, 0, sizeof q);
        say("get", cudaGraphKernelNodeGetParams(n, &q));
        cudaKernel_t k;
        cudaGetKernel(&k, kernel(SET));
        cudaFunction_t f;
        cudaGetFuncBySymbol(&f, kernel(SET));
        OUT(" func %s", q.func == kernel(SET) ? "host-function"
                        : q.func == (void *)k ? "kernel"
                        : q.func == (void *)f ? "function"
                                              : "other");
        zero();
        say("instantiate", cudaGraphInstantiate(&x, g, 0));
        v = 6;
        say("launch", cudaGraphLaunch(x, st));
        cudaStreamSynchronize(st);
        OUT(" %u", rd(0));
        say("exec-set", cudaGraphExecKernelNodeSetParams(x, n, &K));
        say("launch", cudaGraphLaunch(x, st));
        cudaStreamSynchronize(st);
        OUT(" %u", rd(0));
        K.func = (void *)kernel(ADD);
        say("exec-set-other-function", cudaGraphExecKernelNodeSetParams(x, n, &K));
        say("launch", cudaGraphLaunch(x, st));
        cudaStreamSynchronize(st);
        OUT(" %u", rd(0));
        K.gridDim.x = 0;
        say("exec-set-grid0", cudaGraphExecKernelNodeSetParams(x, n, &K));
        K.gridDim.x = 1;
        K.func = (void *)said;
        say("exec-set-host-function", cudaGraphExecKernelNodeSetParams(x, n, &K));
    }
    SC("trap-in-graph")
    {
        struct cudaKernelNodeParams K = {(void *)kernel(TRAP), {1, 1, 1}, {1, 1, 1}, 0, 0, 0};
        cudaGraphCreate(&g, 0);
        cudaGraphAddKernelNode(&n, g, 0, 0, &K);
        cudaGraphInstantiate(&x, g, 0);
        say("launch", cudaGraphLaunch(x, st));
        say("sync", cudaStreamSynchronize(st));
    }
}
static int fault(int w)
{
    switch (w) {
    case 0:
        go_trap(st);
        break;
    case 1:
        go_assert(st, 1);
        break;
    case 2:
        go_illegal(st, 0);
        break;
    case 3:
        go_illegal(st, (char *)dev + 1);
        break;
    case 4:
        go_illegal(st, (void *)0x7000000000ull);
        break;
    case 5:
        go_illegal(st, page);
        break;
    case 6:
        go_illegal(st, (char *)dev + (1ull << 40));
    }
    return 0;
}
static void *peek_thread(void *o)
{
    int *r = o;
    r[0] = cudaPeekAtLastError();
    void *p;
    r[1] = cudaMalloc(&p, 4);
    r[2] = cudaGetLastError();
    r[3] = cudaGetLastError();
    return 0;
}
// clang-format does not agree with itself about the following macros.
// clang-format off
GROUP(sticky)
{
    static const char *const wn[] = {"trap",     "assert",   "null", "misaligned",
                                     "unmapped", "pageable", "far"};
    int n;
    size_t z, z2;
    void *p;
    struct cudaPointerAttributes pa;
    struct cudaFuncAttributes fa;
    cudaStream_t s;
    cudaEvent_t e;
    float ms;
    cudaArray_t a;
    struct cudaChannelFormatDesc c = {32, 0, 0, 0, 2};
    cudaGraph_t g;
    int o[4];
#define ST(name, ...)                                                                              \
    ISO("%s-" name, wn[w])                                                                         \
    {                                                                                              \
        S();                                                                                       \
        freopen("/dev/null", "w", stderr);                                                         \
        OUT("launch %s", (fault(w), E(cudaGetLastError())));                                       \
        __VA_ARGS__;                                                                               \
    }
    for (int w = 0; w < 7; w++) {
        ST("sync", {
            say("sync", cudaStreamSynchronize(st));
            say("again", cudaStreamSynchronize(st));
        })
        ST("last-error", {
            OUT(" sync %s", E(cudaStreamSynchronize(st)));
            OUT(" peek %s", E(cudaPeekAtLastError()));
            OUT(" peek %s", E(cudaPeekAtLastError()));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" peek %s", E(cudaPeekAtLastError()));
            OUT(" get-device %s", E(cudaGetDevice(&n)));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" malloc %s", E(cudaMalloc(&p, 4)));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" bad %s", E(cudaMalloc(0, 4)));
            OUT(" get %s", E(cudaGetLastError()));
            OUT(" get %s", E(cudaGetLastError()));
        })
        ST("query", {
            usleep(200000);
            say("query", cudaStreamQuery(st));
            say("query", cudaStreamQuery(st));
        })
        ST("device-sync", say("sync", cudaDeviceSynchronize()))
        ST("memcpy", say("memcpy", cudaMemcpy(page, dev, 4, 2)))
        ST("malloc", {
            usleep(200000);
            say("malloc", cudaMalloc(&p, 4));
            say("free", cudaFree(p));
        })
        ST("no-sync-get", {
            usleep(200000);
            OUT(" get %s", E(cudaGetLastError()));
        })
    }
    for (int w = 0; w < 3; w++) {
        ST("then-everything", {
            say("sync", cudaDeviceSynchronize());
            say("malloc", cudaMalloc(&p, 4));
            say("free", cudaFree(dev));
            say("free-null", cudaFree(0));
            say("malloc-host", cudaMallocHost(&p, 4));
            unwatch();
            say("free-host", cudaFreeHost(h));
            say("memset", cudaMemset(dev, 0, 4));
            say("memcpy-0", cudaMemcpy(page, dev, 0, 2));
            say("memcpy-hh", cudaMemcpy(page, page + 8, 4, 0));
            say("async", cudaMemcpyAsync(page, dev, 4, 2, st));
            say("malloc-null", cudaMalloc(0, 4));
            say("get-device", cudaGetDevice(&n));
            say("set-device", cudaSetDevice(0));
            say("set-device-bad", cudaSetDevice(9));
            say("count", cudaGetDeviceCount(&n));
            say("attribute", cudaDeviceGetAttribute(&n, 1, 0));
            say("mem-info", cudaMemGetInfo(&z, &z2));
            say("pointer", cudaPointerGetAttributes(&pa, dev));
            say("stream-create", cudaStreamCreate(&s));
            say("stream-query", cudaStreamQuery(st));
            say("stream-query-null", cudaStreamQuery(0));
            say("stream-destroy", cudaStreamDestroy(st));
            say("flags", cudaStreamGetFlags(nb, (unsigned *)&n));
            say("event-create", cudaEventCreate(&e));
            say("event-record", cudaEventRecord(ev, nb));
            say("event-query", cudaEventQuery(ev));
            say("event-destroy", cudaEventDestroy(ev));
            say("elapsed", cudaEventElapsedTime(&ms, ev, ev));
        })
        ST("then-more", {
            say("sync", cudaDeviceSynchronize());
            say("array", cudaMallocArray(&a, &c, 4, 4, 0));
            say("channel", (cudaCreateChannelDesc(8, 0, 0, 0, 0), cudaSuccess));
            say("graph", cudaGraphCreate(&g, 0));
            say("attributes", cudaFuncGetAttributes(&fa, kernel(SET)));
            say("attributes-new", cudaFuncGetAttributes(&fa, kernel(LOCAL)));
            say("symbol", cudaGetSymbolAddress(&p, symbol(0)));
            GO("launch", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
            GO("launch-bad", go_nop(0, 1, 1, 1, 1, 1, 0, 0));
            say("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel(SET), 32, 0));
            say("limit", cudaDeviceGetLimit(&z, 0));
            say("host-func", cudaLaunchHostFunc(nb, (void *)free, 0));
            say("begin", cudaStreamBeginCapture(nb, 0));
            say("capturing", cudaStreamIsCapturing(nb, (void *)&n));
            say("priority", cudaDeviceGetStreamPriorityRange(&n, &n));
            say("register", cudaHostRegister(page, 4096, 0));
            say("malloc-async", cudaMallocAsync(&p, 4, nb));
            say("pool", cudaDeviceGetDefaultMemPool((void *)&p, 0));
            say("version", cudaRuntimeGetVersion(&n));
            OUT(" driver %s", R(cuCtxSynchronize()));
        })
        ST("then-reset", {
            unwatch();
            say("sync", cudaDeviceSynchronize());
            say("reset", cudaDeviceReset());
            say("get", cudaGetLastError());
            say("malloc", cudaMalloc(&p, 4));
            GO("launch", go_nop(1, 1, 1, 1, 1, 1, 0, 0));
            say("sync", cudaDeviceSynchronize());
        })
        ST("reset-at-once", {
            unwatch();
            say("reset", cudaDeviceReset());
            say("malloc", cudaMalloc(&p, 4));
        })
        ST("other-thread", {
            say("sync", cudaDeviceSynchronize());
            pthread_t t;
            pthread_create(&t, 0, peek_thread, o);
            pthread_join(t, 0);
            OUT(" peek %s malloc %s get %s %s", E(o[0]), E(o[1]), E(o[2]), E(o[3]));
        })
        ST("other-stream", {
            say("launch-nb", (go_nop(1, 1, 1, 1, 1, 1, 0, nb), cudaGetLastError()));
            usleep(200000);
            say("nb", cudaStreamSynchronize(nb));
        })
        ST("event",
           {
               say("record", cudaEventRecord(ev, st));
               say("sync", cudaEventSynchronize(ev));
               say("query", cudaEventQuery(ev));
           })
        ST("second-context", {
            say("sync", cudaDeviceSynchronize());
            CUcontext cx;
            OUT(" create %s", R(cuCtxCreate(&cx, 0, 0, 0)));
            say("malloc", cudaMalloc(&p, 4));
        }) ST("hostfunc-behind", {
            volatile static int ran;
            cudaLaunchHostFunc(st, (void *)free, 0);
            say("sync", cudaStreamSynchronize(st));
        })
    }
}
// clang-format on
static void capture_stdout(void)
{
    fflush(stdout);
    int fd = open("/tmp/xrk.out", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char nm[64];
    snprintf(nm, 64, "/tmp/xrk.%d", getpid());
    close(fd);
    unlink("/tmp/xrk.out");
    fd = open(nm, O_RDWR | O_CREAT | O_TRUNC, 0600);
    unlink(nm);
    dup2(fd, 1);
    close(fd);
}
static void shown(void)
{
    char b[3000];
    fflush(stdout);
    ssize_t n = pread(1, b, sizeof b - 1, 0);
    if (n < 0)
        n = 0;
    b[n] = 0;
    OUT(" [%zd: ", n);
    for (int i = 0; i < n && i < 700; i++)
        if (b[i] == '\n')
            OUT("\\n");
        else
            OUT("%c", b[i]);
    OUT("]");
}
GROUP(print)
{
    ISO("lines")
    {
        S();
        capture_stdout();
        go_printf(0, 1, 3);
        say("sync", cudaDeviceSynchronize());
        shown();
    }
    ISO("flush-by-stream-sync")
    {
        S();
        capture_stdout();
        go_printf(st, 1, 1);
        say("sync", cudaStreamSynchronize(st));
        shown();
    }
    ISO("flush-by-event-sync")
    {
        S();
        capture_stdout();
        go_printf(st, 1, 1);
        cudaEventRecord(ev, st);
        say("sync", cudaEventSynchronize(ev));
        shown();
    }
    ISO("flush-by-memcpy")
    {
        S();
        capture_stdout();
        go_printf(0, 1, 1);
        say("memcpy", cudaMemcpy(page, dev, 4, 2));
        shown();
    }
    ISO("flush-by-reset")
    {
        S();
        unwatch();
        capture_stdout();
        go_printf(0, 1, 1);
        say("reset", cudaDeviceReset());
        shown();
    }
    ISO("flush-by-free")
    {
        S();
        capture_stdout();
        go_printf(0, 1, 1);
        say("free", cudaFree(dev));
        shown();
    }
    ISO("flush-by-malloc")
    {
        S();
        capture_stdout();
        go_printf(0, 1, 1);
        usleep(100000);
        void *p;
        say("malloc", cudaMalloc(&p, 1 << 24));
        shown();
    }
    ISO("returns")
    {
        S();
        capture_stdout();
        void *p = dev, *a[] = {&p};
        say("launch", cudaLaunchKernel(kernel(PRINT_RET), D(1, 1, 1), D(1, 1, 1), a, 0, 0));
        say("sync", cudaDeviceSynchronize());
        OUT(" %d %d %d", (int)rd(0), (int)rd(1), (int)rd(2));
        shown();
    }
    ISO("overflow")
    {
        S();
        capture_stdout();
        size_t z = 0;
        cudaDeviceGetLimit(&z, cudaLimitPrintfFifoSize);
        OUT("fifo %zu", z);
        say("set", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4096));
        cudaDeviceGetLimit(&z, cudaLimitPrintfFifoSize);
        OUT(" %zu", z);
        int n = 100000;
        void *a[] = {&n};
        say("launch", cudaLaunchKernel(kernel(PRINT_MANY), D(1, 1, 1), D(1, 1, 1), a, 0, 0));
        say("sync", cudaDeviceSynchronize());
    }
    ISO("assert-message")
    {
        S();
        int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
        dup2(fd, 2);
        go_assert(st, 1);
        say("sync", cudaDeviceSynchronize());
        char b[400];
        fflush(stderr);
        ssize_t n = pread(2, b, 399, 0);
        b[n < 0 ? 0 : n] = 0;
        char *s = strrchr(b, '/');
        if (n > 0)
            OUT(" stderr %s%s", s ? ".../" : "", s ? s + 1 : b);
    }
    ISO("device-malloc")
    {
        S();
        zero();
        void *p = dev, *a[] = {&p};
        say("launch", cudaLaunchKernel(kernel(MALLOC), D(1, 1, 1), D(1, 1, 1), a, 0, 0));
        say("sync", cudaDeviceSynchronize());
        OUT(" %u %u", rd(0), rd(1));
        size_t z;
        cudaDeviceGetLimit(&z, cudaLimitMallocHeapSize);
        OUT(" heap %zu", z);
        say("limit-after-use", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24));
    }
}
GROUP(relocatable)
{
    S();
    void *p;
    size_t z;
    SC("across-units")
    {
        zero();
        GO("launch", go_rdc(dev));
        say("sync", cudaDeviceSynchronize());
        OUT(" %u %u %u", rd(0), rd(1), rd(2));
    }
    SC("variable-shared-between-units")
    {
        zero();
        go_rdc(dev);
        GO("second", go_rdc2(dev + 8));
        OUT(" %u", rd(8));
    }
    SC("symbol")
    {
        p = JUNK;
        z = 77;
        say("address", cudaGetSymbolAddress(&p, rdc_symbol()));
        say("size", cudaGetSymbolSize(&z, rdc_symbol()));
        OUT(" %zu", z);
        unsigned v = 55;
        say("to", cudaMemcpyToSymbol(rdc_symbol(), &v, 4, 0, 1));
        zero();
        go_rdc2(dev);
        OUT(" %u", rd(0));
    }
    SC("attributes")
    {
        struct cudaFuncAttributes f;
        memset(&f, 0, sizeof f);
        say("r", cudaFuncGetAttributes(&f, rdc_kernel()));
        OUT(" max %d ptx %d binary %d", f.maxThreadsPerBlock, f.ptxVersion, f.binaryVersion);
        const char *c = 0;
        cudaFuncGetName(&c, rdc_kernel());
        OUT(" %s", c ? c : "null");
    }
}
static void *pt_thread(void *o)
{
    u64 *r = o;
    r[0] = pt_id(0);
    r[1] = pt_query(0);
    return 0;
}
GROUP(per_thread)
{
    S();
    pt_launch(0, dev, 1);
    go_add(0, dev, 1);
    MUSTR(cudaDeviceSynchronize()); // a module's first launch waits for all work: not here
    SC("ids")
    {
        u64 a = 0, l = 0, t = 0, r[2] = {0};
        a = pt_id(0);
        cudaStreamGetId(0, &l);
        cudaStreamGetId(cudaStreamPerThread, &t);
        pthread_t th;
        pthread_create(&th, 0, pt_thread, r);
        pthread_join(th, 0);
        OUT("null is per-thread %d legacy %d; legacy handle %d; other thread differs %d query %s",
            a == t, a == l, pt_id(cudaStreamLegacy) == l, r[0] != a, E(r[1]));
    }
    SC("launch")
    {
        zero();
        GO("r", pt_launch(0, dev, 23));
        say("sync", pt_sync(0));
        OUT(" %u", rd(0));
        say("function", pt_kernel(0, dev));
        say("sync", pt_sync(0));
        OUT(" %u", rd(0));
    }
    SC("held-by-legacy")
    {
        gate(0);
        pt_launch(0, dev, 1);
        say("query", pt_query(0));
        gopen();
        say("sync", pt_sync(0));
    }
    SC("not-held-by-other-stream")
    {
        gate(st);
        GO("launch", pt_launch(0, dev, 1));
        usleep(50000);
        say("query", pt_query(0));
        gopen();
        cudaDeviceSynchronize();
    }
    SC("legacy-held-by-per-thread")
    {
        gate(cudaStreamPerThread);
        go_add(0, dev, 1);
        say("legacy", cudaStreamQuery(0));
        gopen();
        say("sync", cudaStreamSynchronize(0));
    }
    SC("memset-memcpy")
    {
        say("memset", pt_memset(dev, 0x13, 64));
        unsigned v = 0;
        say("memcpy", pt_memcpy(&v, dev, 4));
        OUT(" %x", v);
    }
    SC("capture-null")
    {
        say("begin", pt_capture(0));
        GO("launch", pt_launch(0, dev, 1));
        cudaGraph_t g = 0;
        say("end", pt_end(0, &g));
        size_t n = 0;
        if (g)
            cudaGraphGetNodes(g, 0, &n);
        OUT(" nodes %zu", n);
    }
    SC("capture-legacy-handle")
    {
        say("begin", pt_capture(cudaStreamLegacy));
    }
    SC("record")
    {
        gate(cudaStreamPerThread);
        say("record", pt_record(ev));
        say("query", cudaEventQuery(ev));
        gopen();
        say("sync", cudaEventSynchronize(ev));
    }
}
static void *launcher(void *o)
{
    int *r = o;
    unsigned *d;
    for (int i = 0; i < 200; i++)
        go_add(cudaStreamPerThread, dev, 1);
    r[0] = cudaGetLastError();
    r[1] = cudaStreamSynchronize(cudaStreamPerThread);
    go_nop(0, 1, 1, 1, 1, 1, 0, 0);
    r[2] = cudaPeekAtLastError();
    int q;
    r[3] = cudaGetDevice(&q);
    r[4] = q;
    return 0;
}
GROUP(threads)
{
    S();
    SC("eight")
    {
        zero();
        pthread_t t[8];
        int o[8][8];
        for (int i = 0; i < 8; i++)
            pthread_create(&t[i], 0, launcher, o[i]);
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], 0);
        OUT("sum %u", rd(0));
        int same = 1;
        for (int i = 0; i < 8; i++)
            same &= !memcmp(o[i], o[0], 5 * sizeof(int));
        OUT(" all-same %d launch %s sync %s bad %s get %s %d", same, E(o[0][0]), E(o[0][1]),
            E(o[0][2]), E(o[0][3]), o[0][4]);
        OUT(" here %s", E(cudaGetLastError()));
    }
    SC("first-use-race")
    {
        zero();
        pthread_t t[4];
        int o[4][8];
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], 0, launcher, o[i]);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], 0);
        OUT("sum %u", rd(0));
    }
    SC("capture-in-one-malloc-in-another")
    {
        cudaStreamBeginCapture(nb, 0);
        int o[4] = {0};
        pthread_t t;
        pthread_create(&t, 0, peek_thread, o);
        pthread_join(t, 0);
        OUT("global: there %s", E(o[1]));
        cudaGraph_t g = 0;
        say("end", cudaStreamEndCapture(nb, &g));
        cudaStreamBeginCapture(nb, 1);
        pthread_create(&t, 0, peek_thread, o);
        pthread_join(t, 0);
        OUT(" thread-local: there %s", E(o[1]));
        say("end", cudaStreamEndCapture(nb, &g));
        cudaStreamBeginCapture(nb, 2);
        pthread_create(&t, 0, peek_thread, o);
        pthread_join(t, 0);
        OUT(" relaxed: there %s", E(o[1]));
        say("end", cudaStreamEndCapture(nb, &g));
    }
}
// a library with a kernel of its own, opened and closed while the runtime lives (built beside this
// program as x_runtime_k.so)
static void *so;
static const void *(*so_symbol)(void), *(*so_kernel)(void);
static void (*so_go)(unsigned *);
static int so_open(void)
{
    char p[4096];
    ssize_t n = readlink("/proc/self/exe", p, sizeof p - 4);
    p[n < 0 ? 0 : n] = 0;
    strcat(p, ".so");
    so = dlopen(p, RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        OUT("no library");
        return 0;
    }
    so_symbol = dlsym(so, "so_symbol");
    so_kernel = dlsym(so, "so_kernel");
    so_go = dlsym(so, "so_go");
    return 1;
}
static void so_run(const char *n)
{
    zero();
    GO(n, so_go(dev));
    OUT(" %u", rd(0));
    OUT(" %u", rd(1));
}
GROUP(modules)
{
    struct cudaFuncAttributes f;
    void *p, *q;
    const void *k, *y;
    void **(*reg)(void *) = dlsym(RTLD_DEFAULT, "__cudaRegisterFatBinary");
    void (*unreg)(void **) = dlsym(RTLD_DEFAULT, "__cudaUnregisterFatBinary");
    ISO("open-before-start")
    {
        if (!so_open())
            continue;
        state();
        S();
        so_run("launch");
        so_run("again");
    }
    ISO("open-after-start")
    {
        S();
        if (so_open()) {
            so_run("launch");
            so_run("again");
        }
    }
    ISO("close-and-reopen")
    {
        S();
        if (!so_open())
            continue;
        so_run("launch");
        OUT(" close %d", dlclose(so));
        so_open();
        so_run("reopened");
    }
    ISO("open-twice")
    {
        S();
        if (!so_open())
            continue;
        void *a = so;
        so_run("launch");
        so_open();
        OUT(" same %d", a == so);
        so_run("launch");
        dlclose(so);
        so_run("closed-once");
    }
    ISO("stale-function")
    {
        S();
        if (!so_open())
            continue;
        k = so_kernel();
        y = so_symbol();
        so_run("launch");
        cudaGetSymbolAddress(&p, y);
        dlclose(so);
        say("attributes", cudaFuncGetAttributes(&f, k));
        say("launch", cudaLaunchKernel(k, D(1, 1, 1), D(1, 1, 1), 0, 0, 0));
        say("symbol", cudaGetSymbolAddress(&q, y));
        unsigned v = 0;
        say("read-old-address", cudaMemcpy(&v, p, 4, 2));
    }
    ISO("close-while-running")
    {
        S();
        if (!so_open())
            continue;
        so_run("launch");
        gate(0);
        so_go(dev);
        OUT(" close started");
        gopen();
        OUT(" %d", dlclose(so));
        say("sync", cudaDeviceSynchronize());
        OUT(" %u", rd(1));
    }
    ISO("close-before-first-use")
    {
        S();
        if (!so_open())
            continue;
        OUT("close %d", dlclose(so));
        say("sync", cudaDeviceSynchronize());
        so_open();
        so_run("launch");
    }
    ISO("reset-between")
    {
        S();
        if (!so_open())
            continue;
        so_run("launch");
        so_run("launch");
        unwatch();
        say("reset", cudaDeviceReset());
        cudaMalloc((void **)&dev, 4096);
        so_run("after");
    }
    ISO("register-null")
    {
        void **h = reg(0);
        OUT("%s", h ? "handle" : "null");
    }
    ISO("register-bad-magic")
    {
        int w[8] = {0x12345678, 1};
        void **h = reg(w);
        OUT("%s", h ? "handle" : "null");
        say("free", cudaFree(0));
    }
    ISO("register-null-data")
    {
        struct {
            int m, v;
            void *d, *e;
        } w = {0x466243b1, 1, 0, 0};
        void **h = reg(&w);
        OUT("%s", h ? "handle" : "null");
        say("free", cudaFree(0));
    }
    ISO("unregister-null")
    {
        unreg(0);
        OUT("back");
    }
}
// which calls wait for work that is held back (as in x_runtime): a kernel's first use loads its
// module
static volatile int opened;
static void *opener(void *z)
{
    (void)z;
    usleep(300000);
    opened = 1;
    *gh = gseq;
    return 0;
}
#define HOLD(name, stream, ...)                                                                    \
    SC(name)                                                                                       \
    {                                                                                              \
        pthread_t t_;                                                                              \
        opened = 0;                                                                                \
        gate(stream);                                                                              \
        pthread_create(&t_, 0, opener, 0);                                                         \
        cudaError_t r_ = (__VA_ARGS__);                                                            \
        int o_ = opened;                                                                           \
        OUT("r=%s %s", E(r_), o_ ? "waits" : "returns");                                           \
        pthread_join(t_, 0);                                                                       \
        cudaGetLastError();                                                                        \
    }
GROUP(waiting)
{
    S();
    struct cudaFuncAttributes f;
    int v = 0;
    void *p = dev, *ar[] = {&p, &v};
    cudaFunction_t fn;
    cudaKernel_t k;
    size_t z;
    HOLD("first-launch-same", st, cudaLaunchKernel(kernel(SET), D(1, 1, 1), D(1, 1, 1), ar, 0, st))
    HOLD("second-launch-same", st, cudaLaunchKernel(kernel(SET), D(1, 1, 1), D(1, 1, 1), ar, 0, st))
    HOLD("first-launch-of-another-kernel", st,
         cudaLaunchKernel(kernel(ADD), D(1, 1, 1), D(1, 1, 1), ar, 0, st))
    HOLD("first-launch-other-stream", st,
         cudaLaunchKernel(kernel(IDS), D(1, 1, 1), D(1, 1, 1), ar, 0, nb))
    HOLD("second-launch-other-stream", st,
         cudaLaunchKernel(kernel(IDS), D(1, 1, 1), D(1, 1, 1), ar, 0, nb))
    HOLD("launch-null-stream", st, cudaLaunchKernel(kernel(SET), D(1, 1, 1), D(1, 1, 1), ar, 0, 0))
    HOLD("first-attributes", st, cudaFuncGetAttributes(&f, kernel(STATIC)))
    HOLD("second-attributes", st, cudaFuncGetAttributes(&f, kernel(STATIC)))
    HOLD("first-function", st, cudaGetFuncBySymbol(&fn, kernel(DYNAMIC)))
    HOLD("first-kernel", st, cudaGetKernel(&k, kernel(BOUNDS)))
    HOLD("first-occupancy", st,
         cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, kernel(LOCAL), 32, 0))
    HOLD("launch-with-local-memory", st,
         cudaLaunchKernel(kernel(LOCAL), D(1, 1, 1), D(1, 1, 1), ar, 0, st))
    v = 0;
    HOLD("first-printf-kernel", st,
         cudaLaunchKernel(kernel(PRINT_MANY), D(1, 1, 1), D(1, 1, 1), (void *[]){&v}, 0, st))
    HOLD("second-printf-kernel", st,
         cudaLaunchKernel(kernel(PRINT_MANY), D(1, 1, 1), D(1, 1, 1), (void *[]){&v}, 0, st))
    HOLD("cooperative", st,
         cudaLaunchCooperativeKernel(kernel90(0), D(1, 1, 1), D(32, 1, 1), ar, 0, st))
    HOLD("symbol-address", st, cudaGetSymbolAddress(&p, symbol(0)))
    HOLD("symbol-size", st, cudaGetSymbolSize(&z, symbol(0)))
    HOLD("to-symbol", st, cudaMemcpyToSymbol(symbol(0), &v, 4, 0, 1))
    HOLD("to-symbol-async", st, cudaMemcpyToSymbolAsync(symbol(0), &v, 4, 0, 1, st))
    HOLD("from-symbol-async", st, cudaMemcpyFromSymbolAsync(&v, symbol(0), 4, 0, 2, st))
    HOLD("open-library", st, (so_open(), cudaSuccess))
    HOLD("library-first-launch", st, (so_go(dev), cudaGetLastError()))
    HOLD("close-library", st, (dlclose(so), cudaSuccess))
}
#define GROUPS(X)                                                                                  \
    X(start)                                                                                       \
    X(launch)                                                                                      \
    X(launch_ex)                                                                                   \
    X(jit_functions)                                                                               \
    X(functions)                                                                                   \
    X(symbols)                                                                                     \
    X(kernel_nodes) X(sticky) X(print) X(relocatable) X(per_thread) X(threads) X(modules) X(waiting)
int main(int c, char **v)
{
    if (c > 1 && !strcmp(v[1], "-l")) {
#define X(n) puts(#n);
        GROUPS(X) return 0;
    }
#undef X
#define X(n)                                                                                       \
    calls_reset();                                                                                 \
    RUN(n);
    probe_only = c > 1 ? v[1] : 0;
    GROUPS(X) return 0;
}
