// SPDX-License-Identifier: MIT
// The answers of libcudart.so.13, in everything that needs no compiled kernel: errors, devices,
// memory, copies, arrays, textures, external memory and semaphores, OpenGL and EGL, streams,
// events, capture, graphs, libraries. After every call the line also says what cudaPeekAtLastError
// holds if that is not what the call returned: `x=ErrorNotReady(last Success)`.
//   x_runtime            run everything
//   x_runtime GROUP...   some groups
//   x_runtime -l         the groups' names
#include "probe.h"
#include <cuda_runtime_api.h>
#include <vulkan/vulkan.h>
#define LINE(...) ((void)0)
#include "glctx.h"
#include <cuda_gl_interop.h>
#include <cuda_egl_interop.h>
#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
typedef unsigned long long u64;
#define N(a) (int)(sizeof(a) / sizeof *(a))
#define MIB (1ull << 20)
#define JUNK ((void *)0x5e175e175e17ull)
#define EACH(v, ...) for (const int *v = (const int[]){__VA_ARGS__, -99}; *v != -99; v++)

// ---- what a line says ----
static const char *E(cudaError_t e) { static __thread char b[8][64]; static __thread int k; k = (k +
    1) & 7; const char *s = cudaGetErrorName(e); if (!s || strncmp(s, "cuda", 4)) snprintf(b[k], 64,
    "code-%d", (int)e); else snprintf(b[k], 64, "%s", s + 4); return b[k]; }
static const char *L(const char *fmt, ...) { static char b[8][96]; static int k; k = (k + 1) & 7;
    va_list ap; va_start(ap, fmt); vsnprintf(b[k], 96, fmt, ap); va_end(ap); return b[k]; }
// ---- a call that crashes ----
// The case runs again without it, and the line says `label=CRASH 11`: the calls behind it are
// recorded too.
static struct calls { int at, n, inside, quick, skips; struct { int at, n, how; } skip[500]; }
    *calls;
static int call_begin(void) { if (!calls) return 1; if (calls->at != probe_st->index) { calls->at =
    probe_st->index; calls->n = 0; } int n = calls->n++; for (int i = 0; i < calls->skips; i++) if
    (calls->skip[i].at == calls->at && calls->skip[i].n == n) { calls->inside = -1 - i; return 0; }
    calls->inside = 1; return 1; }
static int call_retry(int st) { if (calls->inside != 1 || calls->quick || calls->skips ==
    N(calls->skip)) return 0; calls->skip[calls->skips].at = probe_st->index;
    calls->skip[calls->skips].n = calls->n - 1; calls->skip[calls->skips++].how = WIFSIGNALED(st) ?
    WTERMSIG(st) : 1000 + WEXITSTATUS(st); calls->inside = 0; calls->at = -1; return 1; }
static void calls_reset(void) { if (!calls) calls = mmap(0, sizeof *calls, PROT_READ | PROT_WRITE,
    MAP_SHARED | MAP_ANONYMOUS, -1, 0); memset(calls, 0, sizeof *calls); calls->at = -1; probe_retry
    = call_retry; }
static cudaError_t said_crash(const char *label) { OUT("%s%s=CRASH %d", probe_st->line[0] ? " " :
    "", label, calls->skip[-1 - calls->inside].how); calls->inside = 0; return cudaErrorUnknown; }
static cudaError_t said(const char *label, cudaError_t e) {
  if (calls) calls->inside = 0; cudaError_t p = cudaPeekAtLastError(); OUT("%s%s=%s",
      probe_st->line[0] ? " " : "", label, E(e)); if (p != e) OUT("(last %s)", E(p)); if (p)
      cudaGetLastError(); return e; }
#define say(label, ...) (call_begin() ? said(label, (__VA_ARGS__)) : said_crash(label))
#define SAY(r, ...) say(L(__VA_ARGS__), r)
static const char *Z(const void *v) { return v == JUNK ? "kept" : v ? "set" : "null"; }
static u64 fnv(const void *p, size_t n) { u64 h = 14695981039346656037ull; for (size_t i = 0; i < n;
    i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull; return h; }
static u64 pow2(u64 x, u64 cap) { u64 a = x & -x; return !a || a > cap ? cap : a; }

// ---- kinds of case ----
// SC: in the group's own process. What stays wrong ends it; the group goes on in a fresh one.
static void health(void) { cudaGetLastError(); cudaError_t e = cudaDeviceSynchronize(); if (!e)
    return; OUT(" [then %s]", E(e)); probe_fresh(); }
#define SC(...) CASE(__VA_ARGS__) for (int k_ = 1; k_; k_ = 0, health())
// ISO: in a process of its own. Only in groups that never start CUDA themselves.
static int iso_begin(void) {
  for (;;) {
    fflush(stdout); pid_t p = fork(); if (!p) { alarm(25); calls->at = -1; return 1; }
    int st; waitpid(p, &st, 0); if (WIFEXITED(st) && !WEXITSTATUS(st)) return 0;
    if (call_retry(st)) { probe_st->line[0] = 0; continue; }
    OUT(" CRASH %d", WIFSIGNALED(st) ? WTERMSIG(st) : 1000 + WEXITSTATUS(st)); return 0; } }
#define ISO(...) CASE(__VA_ARGS__) for (int k_ = iso_begin(); k_; fflush(stdout), _exit(0))
#define Q(name, ...) SC(name) say("r", __VA_ARGS__);
#define MUSTR(x) do { cudaError_t r_ = (x); if (r_) { fprintf(stderr, "set-up failed: %s -> %d\n", \
    #x, r_); fflush(stderr); _exit(9); } } while (0)

// ---- the group's own objects ----
#define DEVN (1u << 20)
static char *dev, *dev2, *pin, *pinmap, *reg, *page; static cudaStream_t st, nb; static cudaEvent_t
    ev;
static volatile uint32_t *volatile gh; static CUdeviceptr gd; static volatile uint32_t gseq; static
    volatile int gdog;
static void *watchdog(void *z) { (void)z; uint32_t seen = 0; int n = 0; for (;;) { usleep(100000);
    if (*gh == gseq) { n = 0; seen = gseq; continue; } if (seen != gseq) { seen = gseq; n = 0; } if
    (++n > 40) { gdog = 1; *gh = gseq; n = 0; } } return 0; }
// holds a stream until gopen (the driver's own wait on host memory: nothing spins on the device)
static void gate(cudaStream_t s) { gdog = 0; CUresult r = cuStreamWaitValue32((CUstream)s, gd,
    ++gseq, CU_STREAM_WAIT_VALUE_GEQ); if (r) OUT(" gate %s", R(r)); }
static void gopen(void) { if (gdog) OUT(" (watchdog)"); *gh = gseq; }
static void S(void) {
  MUSTR(cudaSetDevice(0)); MUSTR(cudaFree(0)); MUSTR(cudaMalloc((void **)&dev, DEVN));
      MUSTR(cudaMalloc((void **)&dev2, DEVN)); MUSTR(cudaMemset(dev, 0x41, DEVN));
      MUSTR(cudaMemset(dev2, 0x42, DEVN));
  MUSTR(cudaMallocHost((void **)&pin, 65536)); MUSTR(cudaHostAlloc((void **)&pinmap, 65536,
      cudaHostAllocMapped | cudaHostAllocPortable)); reg = mmap(0, 65536, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); MUSTR(cudaHostRegister(reg, 65536, 0)); page =
      malloc(DEVN);
  memset(pin, 0x43, 65536); memset(pinmap, 0x44, 65536); memset(reg, 0x45, 65536); memset(page,
      0x46, DEVN); void *d; MUSTR(cudaHostGetDevicePointer(&d, pinmap, 0)); gh = (void *)(pinmap +
      65000); gd = (CUdeviceptr)d + 65000; *gh = gseq = 0;
  MUSTR(cudaStreamCreate(&st)); MUSTR(cudaStreamCreateWithFlags(&nb, cudaStreamNonBlocking));
      MUSTR(cudaEventCreate(&ev)); pthread_t t; pthread_create(&t, 0, watchdog, 0); }
static void *vmm_map(size_t n, int fdtoo, int *fd) { CUmemAllocationProp p; memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED; p.location.type = CU_MEM_LOCATION_TYPE_DEVICE; if
    (fdtoo) p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle h; MUST(cuMemCreate(&h, n, &p, 0)); if (fdtoo)
    MUST(cuMemExportToShareableHandle(fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUdeviceptr a; MUST(cuMemAddressReserve(&a, n, 0, 0, 0)); MUST(cuMemMap(a, n, 0, h, 0));
      CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      MUST(cuMemSetAccess(a, n, &d, 1)); return (void *)a; }
static struct cudaChannelFormatDesc ch(int x, int y, int z, int w, int f) { struct
    cudaChannelFormatDesc d = {x, y, z, w, f}; return d; }
static struct cudaExtent ex(size_t w, size_t h, size_t d) { struct cudaExtent e = {w, h, d}; return
    e; }
static cudaArray_t arr(int bits, int kind, size_t w, size_t h, size_t d, unsigned fl) { struct
    cudaChannelFormatDesc c = ch(bits, 0, 0, 0, kind); cudaArray_t a = 0;
    MUSTR(cudaMalloc3DArray(&a, &c, ex(w, h, d), fl)); return a; }
static void state(void) { CUcontext c = 0, p = 0; CUresult r = cuCtxGetCurrent(&c);
    OUT(" driver=%s", R(r)); if (r) return; unsigned f = 77; int a = 77;
    cuDevicePrimaryCtxGetState(0, &f, &a); OUT(" active=%d flags=%x current=", a, f); if (!c)
    OUT("none"); else if (a) { cuDevicePrimaryCtxRetain(&p, 0); OUT("%s", p == c ? "primary" :
    "other"); cuDevicePrimaryCtxRelease(0); } else OUT("some"); }

// ---- names ----
GROUP(names) {
  for (int c = 0; c <= 1000; c++) { const char *n = cudaGetErrorName(c), *s = cudaGetErrorString(c);
      if (strcmp(n, "unrecognized error code") || strcmp(s, "unrecognized error code")) CASE("%d",
      c) OUT("%s: %s", n, s); }
  CASE("unknown-count") { int k = 0; for (int c = 0; c <= 1000; c++) if
      (!strcmp(cudaGetErrorName(c), "unrecognized error code")) k++; OUT("%d of 1001", k); }
  EACH(c, -1, 1001, 9999, 10000, 10001, 999999, INT_MAX, INT_MIN)
  CASE("odd-%d", *c) OUT("%s: %s", cudaGetErrorName(*c), cudaGetErrorString(*c));
  CASE("touches-last-error") { int n; cudaGetDeviceCount(0); cudaGetErrorName(2);
      cudaGetErrorString(12345); OUT("%s", E(cudaPeekAtLastError())); } }
GROUP(versions) {
  ISO("runtime") { int v = -7; say("r", cudaRuntimeGetVersion(&v)); OUT(" v=%d", v); state(); }
  ISO("driver") { int v = -7; say("r", cudaDriverGetVersion(&v)); OUT(" v=%d", v); state(); }
  ISO("runtime-null") { say("r", cudaRuntimeGetVersion(0)); state(); }
  ISO("driver-null") { say("r", cudaDriverGetVersion(0)); state(); }
  ISO("after-init") { cudaFree(0); int v = -7, w = -7; say("driver", cudaDriverGetVersion(&v));
      say("runtime", cudaRuntimeGetVersion(&w)); OUT(" %d %d", v, w); } }

// ---- which calls start the primary context ----
static void CUDART_CB host_nop(void *p) { (void)p; }
static void CUDART_CB stream_cb(cudaStream_t s, cudaError_t e, void *p) { (void)s; *(int *)p = 100 +
    e; }
static char buf[65536]; static struct cudaDeviceProp prop;
#define LAZY(name, ...) ISO(name) { int i = -7; unsigned u = 7; size_t z = 7, z2 = 7; void *p = \
    JUNK; (void)i; (void)u; (void)z; (void)z2; (void)p; say("r", __VA_ARGS__); state(); }
GROUP(lazy) {
  ISO("nothing") state(); ISO("error-name") { OUT("%s", cudaGetErrorName(1)); state(); }
  LAZY("GetLastError", cudaGetLastError())
  LAZY("PeekAtLastError", cudaPeekAtLastError())
  LAZY("GetDeviceCount", cudaGetDeviceCount(&i))
  LAZY("GetDeviceCount-null", cudaGetDeviceCount(0))
  LAZY("GetDevice", cudaGetDevice(&i))
  LAZY("GetDevice-null", cudaGetDevice(0))
  LAZY("SetDevice-0", cudaSetDevice(0))
  LAZY("SetDevice-bad", cudaSetDevice(99))
  LAZY("SetDevice-minus1", cudaSetDevice(-1))
  LAZY("SetDeviceFlags-0", cudaSetDeviceFlags(0))
  LAZY("SetDeviceFlags-4", cudaSetDeviceFlags(4))
  LAZY("SetDeviceFlags-bad", cudaSetDeviceFlags(0x1000))
  LAZY("GetDeviceFlags", cudaGetDeviceFlags(&u))
  LAZY("GetDeviceFlags-null", cudaGetDeviceFlags(0))
  LAZY("InitDevice-0", cudaInitDevice(0, 0, 0))
  LAZY("InitDevice-flags-valid", cudaInitDevice(0, cudaDeviceScheduleYield,
      cudaInitDeviceFlagsAreValid))
  LAZY("InitDevice-bad", cudaInitDevice(99, 0, 0))
  LAZY("GetDeviceProperties", cudaGetDeviceProperties(&prop, 0))
  LAZY("GetDeviceProperties-bad", cudaGetDeviceProperties(&prop, 9))
  LAZY("DeviceGetAttribute", cudaDeviceGetAttribute(&i, 1, 0))
  LAZY("DeviceGetAttribute-bad", cudaDeviceGetAttribute(&i, 1, 9))
  LAZY("ChooseDevice", cudaChooseDevice(&i, &prop))
  LAZY("SetValidDevices", cudaSetValidDevices(&(int){0}, 1))
  LAZY("DeviceReset", cudaDeviceReset())
  LAZY("DeviceSynchronize", cudaDeviceSynchronize())
  LAZY("DeviceGetLimit", cudaDeviceGetLimit(&z, 0))
  LAZY("DeviceSetLimit", cudaDeviceSetLimit(0, 2048))
  LAZY("DeviceGetCacheConfig", cudaDeviceGetCacheConfig((void *)&i))
  LAZY("DeviceSetCacheConfig", cudaDeviceSetCacheConfig(0))
  LAZY("DeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange(&i, &i))
  LAZY("DeviceGetPCIBusId", cudaDeviceGetPCIBusId(buf, 32, 0))
  LAZY("DeviceGetByPCIBusId-bad", cudaDeviceGetByPCIBusId(&i, "ffff:ff:ff.0"))
  LAZY("DeviceCanAccessPeer", cudaDeviceCanAccessPeer(&i, 0, 0))
  LAZY("DeviceGetP2PAttribute", cudaDeviceGetP2PAttribute(&i, 1, 0, 0))
  LAZY("DeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool((void *)&p, 0))
  LAZY("DeviceGetMemPool", cudaDeviceGetMemPool((void *)&p, 0))
  LAZY("DeviceGetTexture1DLinearMaxWidth", cudaDeviceGetTexture1DLinearMaxWidth(&z, &(struct
      cudaChannelFormatDesc){32, 0, 0, 0, 2}, 0))
  LAZY("DeviceGraphMemTrim", cudaDeviceGraphMemTrim(0))
  LAZY("DeviceGetGraphMemAttribute", cudaDeviceGetGraphMemAttribute(0, 0, &z))
  LAZY("Malloc", cudaMalloc(&p, 4))
  LAZY("Malloc-null", cudaMalloc(0, 4))
  LAZY("Malloc-0", cudaMalloc(&p, 0))
  LAZY("Free-null", cudaFree(0))
  LAZY("Free-junk", cudaFree(JUNK))
  LAZY("FreeHost-null", cudaFreeHost(0))
  LAZY("FreeArray-null", cudaFreeArray(0))
  LAZY("FreeMipmappedArray-null", cudaFreeMipmappedArray(0))
  LAZY("MallocHost", cudaMallocHost(&p, 4))
  LAZY("HostAlloc", cudaHostAlloc(&p, 4, 0))
  LAZY("HostRegister", cudaHostRegister(buf, 4096, 0))
  LAZY("HostUnregister", cudaHostUnregister(buf))
  LAZY("HostGetDevicePointer", cudaHostGetDevicePointer(&p, buf, 0))
  LAZY("HostGetFlags", cudaHostGetFlags(&u, buf))
  LAZY("MallocArray", cudaMallocArray((void *)&p, &(struct cudaChannelFormatDesc){32, 0, 0, 0, 2},
      4, 4, 0)) LAZY("MallocArray-null", cudaMallocArray(0, 0, 4, 4, 0))
  LAZY("MallocAsync", cudaMallocAsync(&p, 4, 0))
  LAZY("MemPoolCreate-null", cudaMemPoolCreate(0, 0))
  LAZY("MemGetInfo", cudaMemGetInfo(&z, &z2))
  LAZY("PointerGetAttributes-null", cudaPointerGetAttributes(0, 0))
  LAZY("PointerGetAttributes-host", cudaPointerGetAttributes((void *)buf, buf + 1024))
  LAZY("Memcpy-0", cudaMemcpy(buf, buf, 0, 0))
  LAZY("Memcpy-host-host", cudaMemcpy(buf, buf + 512, 8, 0))
  LAZY("Memcpy-bad-kind", cudaMemcpy(buf, buf + 512, 8, 9))
  LAZY("Memset-0", cudaMemset(0, 0, 0))
  LAZY("CreateChannelDesc", (cudaCreateChannelDesc(8, 0, 0, 0, 0), cudaSuccess))
  LAZY("ArrayGetInfo-null", cudaArrayGetInfo(0, 0, 0, 0))
  LAZY("CreateTextureObject-null", cudaCreateTextureObject(0, 0, 0, 0))
  LAZY("DestroyTextureObject-0", cudaDestroyTextureObject(0))
  LAZY("CreateSurfaceObject-null", cudaCreateSurfaceObject(0, 0))
  LAZY("ImportExternalMemory-null", cudaImportExternalMemory(0, 0))
  LAZY("DestroyExternalMemory-null", cudaDestroyExternalMemory(0))
  LAZY("ExternalMemoryGetMappedBuffer-null", cudaExternalMemoryGetMappedBuffer(0, 0, 0))
  LAZY("ExternalMemoryGetMappedBuffer-null-memory", cudaExternalMemoryGetMappedBuffer(&p, 0, (void
      *)buf)) LAZY("ExternalMemoryGetMappedMipmappedArray-null",
      cudaExternalMemoryGetMappedMipmappedArray(0, 0, 0))
  LAZY("SignalExternalSemaphoresAsync-null", cudaSignalExternalSemaphoresAsync(0, 0, 0, 0))
  LAZY("WaitExternalSemaphoresAsync-null", cudaWaitExternalSemaphoresAsync(0, 0, 0, 0))
  LAZY("ImportExternalSemaphore-null", cudaImportExternalSemaphore(0, 0))
  LAZY("DestroyExternalSemaphore-null", cudaDestroyExternalSemaphore(0))
  LAZY("GLGetDevices-null", cudaGLGetDevices(0, 0, 0, 1))
  LAZY("GraphicsGLRegisterBuffer-null", cudaGraphicsGLRegisterBuffer(0, 0, 0))
  LAZY("GraphicsMapResources-0", cudaGraphicsMapResources(0, 0, 0))
  LAZY("GraphicsUnregisterResource-null", cudaGraphicsUnregisterResource(0))
  LAZY("EGLStreamConsumerConnect-null", cudaEGLStreamConsumerConnect(0, 0))
  LAZY("StreamCreate", cudaStreamCreate((void *)&p))
  LAZY("StreamCreate-null", cudaStreamCreate(0))
  LAZY("StreamCreate-bad-flags", cudaStreamCreateWithFlags((void *)&p, 99))
  LAZY("StreamQuery-0", cudaStreamQuery(0))
  LAZY("StreamSynchronize-0", cudaStreamSynchronize(0))
  LAZY("StreamDestroy-0", cudaStreamDestroy(0))
  LAZY("StreamGetFlags-0", cudaStreamGetFlags(0, &u))
  LAZY("StreamIsCapturing-0", cudaStreamIsCapturing(0, (void *)&i))
  LAZY("EventCreate", cudaEventCreate((void *)&p))
  LAZY("EventCreate-null", cudaEventCreate(0))
  LAZY("EventQuery-null", cudaEventQuery(0))
  LAZY("EventDestroy-null", cudaEventDestroy(0))
  LAZY("EventElapsedTime-null", cudaEventElapsedTime(0, 0, 0))
  LAZY("LaunchHostFunc", cudaLaunchHostFunc(0, host_nop, 0))
  LAZY("StreamAddCallback-null", cudaStreamAddCallback(0, 0, 0, 0))
  LAZY("ThreadExchangeStreamCaptureMode", cudaThreadExchangeStreamCaptureMode((void *)&u))
  LAZY("GraphCreate", cudaGraphCreate((void *)&p, 0))
  LAZY("GraphCreate-null", cudaGraphCreate(0, 0))
  LAZY("GraphDestroy-null", cudaGraphDestroy(0))
  LAZY("GraphInstantiate-null", cudaGraphInstantiate((void *)&p, 0, 0))
  LAZY("UserObjectCreate", cudaUserObjectCreate((void *)&p, buf, host_nop, 1, 1))
  LAZY("IpcGetMemHandle-null", cudaIpcGetMemHandle(0, 0))
  LAZY("IpcGetEventHandle-null", cudaIpcGetEventHandle(0, 0))
  LAZY("FuncGetAttributes-null", cudaFuncGetAttributes((void *)buf, 0))
  LAZY("LaunchKernel-null", cudaLaunchKernel(0, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, 0, 0))
  LAZY("LibraryLoadData-null", cudaLibraryLoadData((void *)&p, 0, 0, 0, 0, 0, 0, 0))
  LAZY("LibraryUnload-null", cudaLibraryUnload(0))
  LAZY("GetDriverEntryPoint", cudaGetDriverEntryPoint("cuInit", &p, 0, (void *)&i))
  LAZY("GetExportTable-null", cudaGetExportTable(0, 0))
  LAZY("ProfilerStart", cudaProfilerStart())
  LAZY("ProfilerStop", cudaProfilerStop())
  LAZY("LogsCurrent", cudaLogsCurrent(&u, 0))
  LAZY("CtxResetPersistingL2Cache", cudaCtxResetPersistingL2Cache())
  LAZY("GetSymbolAddress-null", cudaGetSymbolAddress(&p, 0))
  LAZY("DeviceFlushGPUDirectRDMAWrites", cudaDeviceFlushGPUDirectRDMAWrites(0, 100))
  LAZY("PushPop", ((cudaError_t (*)(void *, void *, void *, void *))dlsym(RTLD_DEFAULT,
      "__cudaPopCallConfiguration"))(buf, buf + 64, buf + 128, buf + 192))
  ISO("cuInit-then-SetDevice") { OUT("%s", R(cuInit(0))); state(); say(" r", cudaSetDevice(0));
      state(); } ISO("cuInit-failing-flags-then-Free") { OUT("%s", R(cuInit(1))); say("r",
      cudaFree(0)); state(); } }

// ---- with the driver's own contexts ----
static CUcontext ctx_new(void) { CUcontext c = 0; CUdevice d; cuInit(0); cuDeviceGet(&d, 0);
    OUT("%screate=%s", probe_st->line[0] ? " " : "", R(cuCtxCreate(&c, 0, 0, d))); return c; }
static void *ctx_thread(void *o) { CUcontext c = 0; void *p = 0; cuCtxGetCurrent(&c);
    OUT("there before=%s", c ? "some" : "none"); int d = -7; cudaGetDevice(&d); cuCtxGetCurrent(&c);
    OUT(" after GetDevice=%s %d", c ? "some" : "none", d); say("malloc", cudaMalloc(&p, 64));
    cuCtxGetCurrent(&c); OUT(" then=%s same %d", c ? "some" : "none", c == o); return 0; }
GROUP(contexts) {
  ISO("new-thread") { cudaSetDevice(0); CUcontext c = 0; cuCtxGetCurrent(&c); pthread_t t;
      pthread_create(&t, 0, ctx_thread, c); pthread_join(t, 0); }
  ISO("new-thread-after-created-context") { CUcontext c = ctx_new(); OUT(" "); pthread_t t;
      pthread_create(&t, 0, ctx_thread, c); pthread_join(t, 0); state(); }
  ISO("created-context-used") { CUcontext c = ctx_new(); void *p = 0; say("malloc", cudaMalloc(&p,
      64)); state(); CUcontext o = 0; cuPointerGetAttribute(&o, CU_POINTER_ATTRIBUTE_CONTEXT,
      (CUdeviceptr)p); OUT(" in=%s", o == c ? "mine" : "other"); say("free", cudaFree(p)); }
  ISO("created-context-SetDevice") { CUcontext c = ctx_new(), d = 0; say("set", cudaSetDevice(0));
      cuCtxGetCurrent(&d); OUT(" current=%s", d == c ? "mine" : d ? "another" : "none"); state(); }
  ISO("created-context-GetDevice") { ctx_new(); int d = -7; say("get", cudaGetDevice(&d));
      OUT(" %d", d); state(); }
  ISO("created-context-reset") { CUcontext c = ctx_new(), d = 0; say("reset", cudaDeviceReset());
      cuCtxGetCurrent(&d); OUT(" current=%s", d == c ? "mine" : d ? "another" : "none");
      OUT(" sync=%s", R(cuCtxSynchronize())); state(); void *p; say("malloc", cudaMalloc(&p, 4));
      state(); }
  ISO("created-context-destroyed") { CUcontext c = ctx_new(); say("free", cudaFree(0));
      OUT(" destroy=%s", R(cuCtxDestroy(c))); state(); void *p; say("malloc", cudaMalloc(&p, 64));
      state(); } ISO("current-set-null") { cudaFree(0); cuCtxSetCurrent(0); void *p; say("malloc",
      cudaMalloc(&p, 64)); state(); }
  ISO("current-destroyed-primary-reset") { cudaFree(0); void *p; OUT("reset=%s",
      R(cuDevicePrimaryCtxReset(0))); state(); say("malloc", cudaMalloc(&p, 64)); state();
      say("reset", cudaDeviceReset()); say("malloc", cudaMalloc(&p, 64)); state(); }
  ISO("primary-released") { cudaFree(0); void *p; OUT("release=%s",
      R(cuDevicePrimaryCtxRelease(0))); state(); say("malloc", cudaMalloc(&p, 64)); state(); }
  ISO("pop-then-malloc") { cudaFree(0); CUcontext c; OUT("pop=%s", R(cuCtxPopCurrent(&c))); void *p;
      say("malloc", cudaMalloc(&p, 64)); state(); }
  ISO("push-mine-over-primary") { cudaFree(0); ctx_new(); void *p; say("malloc", cudaMalloc(&p,
      64)); state(); say("set", cudaSetDevice(0)); state(); CUcontext c; OUT(" pop=%s",
      R(cuCtxPopCurrent(&c))); state(); }
  ISO("stream-of-other-context") { cudaStream_t s; say("create", cudaStreamCreate(&s)); ctx_new();
      say("query", cudaStreamQuery(s)); void *p = 0; say("malloc", cudaMalloc(&p, 64));
      say("memset", cudaMemsetAsync(p, 0, 64, s)); say("destroy", cudaStreamDestroy(s)); }
  ISO("memory-of-other-context") { void *p = 0; say("malloc", cudaMalloc(&p, 64)); ctx_new();
      say("memset", cudaMemset(p, 0, 64)); say("copy", cudaMemcpy(buf, p, 64,
      cudaMemcpyDeviceToHost)); say("free", cudaFree(p)); }
  ISO("event-of-other-context") { cudaEvent_t e; say("create", cudaEventCreate(&e)); ctx_new();
      say("record", cudaEventRecord(e, 0)); say("query", cudaEventQuery(e)); say("destroy",
      cudaEventDestroy(e)); }
  ISO("flags-after-created") { ctx_new(); unsigned f = 77; say("get", cudaGetDeviceFlags(&f));
      OUT(" %x", f); say("set", cudaSetDeviceFlags(4)); say("get", cudaGetDeviceFlags(&f));
      OUT(" %x", f); state(); }
  ISO("init-device-over-mine") { CUcontext c = ctx_new(), d = 0; say("init", cudaInitDevice(0, 0,
      0)); cuCtxGetCurrent(&d); OUT(" current=%s", d == c ? "mine" : "other"); state(); }
  ISO("driver-reads-runtime-memory") { void *p = 0; cudaMalloc(&p, 64); cudaMemset(p, 7, 64);
      unsigned char b[4] = {0}; OUT("copy=%s", R(cuMemcpyDtoH(b, (CUdeviceptr)p, 4))); OUT(" %d",
      b[3]); OUT(" free=%s", R(cuMemFree((CUdeviceptr)p))); say("free", cudaFree(p)); }
  ISO("runtime-frees-driver-memory") { cudaFree(0); CUdeviceptr p; cuMemAlloc(&p, 64); say("free",
      cudaFree((void *)p)); CUarray a; CUDA_ARRAY_DESCRIPTOR d = {8, 8, CU_AD_FORMAT_FLOAT, 1};
      cuArrayCreate(&a, &d); struct cudaChannelFormatDesc c; struct cudaExtent e; unsigned f;
      say("info", cudaArrayGetInfo(&c, &e, &f, (cudaArray_t)a)); OUT(" %d %zux%zux%zu %x", c.x,
      e.width, e.height, e.depth, f); say("free-array", cudaFreeArray((cudaArray_t)a)); void *h;
      cuMemAllocHost(&h, 64); say("free-host", cudaFreeHost(h)); CUstream s; cuStreamCreate(&s, 0);
      say("stream", cudaStreamDestroy((cudaStream_t)s)); CUevent v; cuEventCreate(&v, 0);
      say("event", cudaEventDestroy((cudaEvent_t)v)); } }
GROUP(reset) {
  ISO("reset-twice") { say("free", cudaFree(0)); say("reset", cudaDeviceReset()); state();
      say("reset", cudaDeviceReset()); state(); say("free", cudaFree(0)); state(); }
  ISO("memory-gone") { void *p = 0; cudaMalloc(&p, 64); say("reset", cudaDeviceReset());
      say("memset", cudaMemset(p, 0, 64)); say("free", cudaFree(p)); }
  ISO("stream-after") { cudaStream_t s; cudaStreamCreate(&s); say("reset", cudaDeviceReset());
      say("query", cudaStreamQuery(s)); }
  ISO("event-after") { cudaEvent_t s; cudaEventCreate(&s); say("reset", cudaDeviceReset());
      say("query", cudaEventQuery(s)); }
  ISO("array-after") { cudaArray_t a; struct cudaChannelFormatDesc c = ch(8, 0, 0, 0, 0);
      cudaMallocArray(&a, &c, 8, 8, 0); say("reset", cudaDeviceReset()); say("info",
      cudaArrayGetInfo(&c, 0, 0, a)); }
  ISO("free-array-after") { cudaArray_t a; struct cudaChannelFormatDesc c = ch(8, 0, 0, 0, 0);
      cudaMallocArray(&a, &c, 8, 8, 0); say("reset", cudaDeviceReset()); say("free",
      cudaFreeArray(a)); } ISO("host-after") { void *p = 0; cudaMallocHost(&p, 64); say("reset",
      cudaDeviceReset()); say("free", cudaFreeHost(p)); }
  ISO("graph-after") { cudaGraph_t g; cudaGraphCreate(&g, 0); say("reset", cudaDeviceReset());
      cudaGraphNode_t n; say("add", cudaGraphAddEmptyNode(&n, g, 0, 0)); say("destroy",
      cudaGraphDestroy(g)); } ISO("texture-after") { void *p; cudaMalloc(&p, 4096); struct
      cudaResourceDesc r; memset(&r, 0, sizeof r); r.resType = cudaResourceTypeLinear;
      r.res.linear.devPtr = p; r.res.linear.desc = ch(8, 0, 0, 0, 1); r.res.linear.sizeInBytes =
      4096; struct cudaTextureDesc t; memset(&t, 0, sizeof t); cudaTextureObject_t o = 0;
      say("create", cudaCreateTextureObject(&o, &r, &t, 0)); say("reset", cudaDeviceReset());
      say("get", cudaGetTextureObjectResourceDesc(&r, o)); say("destroy",
      cudaDestroyTextureObject(o)); }
  ISO("limits-back") { size_t z = 0; cudaDeviceSetLimit(cudaLimitStackSize, 4096);
      cudaDeviceGetLimit(&z, 0); OUT("%zu", z); say("reset", cudaDeviceReset());
      cudaDeviceGetLimit(&z, 0); OUT(" %zu", z); }
  ISO("flags-kept") { unsigned f = 0; say("set", cudaSetDeviceFlags(cudaDeviceScheduleYield));
      cudaFree(0); cudaGetDeviceFlags(&f); OUT(" %x", f); say("reset", cudaDeviceReset());
      say("get", cudaGetDeviceFlags(&f)); OUT(" %x", f); state(); }
  ISO("last-error-kept") { cudaMalloc(0, 1); say("reset", cudaDeviceReset()); }
  ISO("last-error-peek") { cudaSetDevice(99); cudaDeviceReset(); OUT("%s",
      E(cudaPeekAtLastError())); }
  ISO("device-kept") { int d = -1; cudaSetDevice(0); cudaDeviceReset(); say("get",
      cudaGetDevice(&d)); OUT(" %d", d); }
  ISO("reset-during-work") { cudaStream_t s; cudaStreamCreate(&s); void *p; cudaMalloc(&p, MIB); for
      (int i = 0; i < 100; i++) cudaMemsetAsync(p, i, MIB, s); say("reset", cudaDeviceReset());
      state(); } ISO("reset-in-capture") { cudaStream_t s; cudaStreamCreate(&s); say("begin",
      cudaStreamBeginCapture(s, 0)); say("reset", cudaDeviceReset()); state(); }
  ISO("driver-retained") { CUcontext c; cudaFree(0); cuDevicePrimaryCtxRetain(&c, 0); say("reset",
      cudaDeviceReset()); state(); OUT(" sync=%s", R(cuCtxSynchronize())); OUT(" release=%s",
      R(cuDevicePrimaryCtxRelease(0))); state(); say("free", cudaFree(0)); state(); } }

// ---- the last error ----
static void *thread_error(void *p) { int *o = p; o[0] = cudaPeekAtLastError(); cudaMalloc(0, 1);
    o[1] = cudaPeekAtLastError(); return 0; } static void *thread_peek(void *p) { *(int *)p =
    cudaGetLastError(); return 0; }
GROUP(lasterror) { S(); int d; void *p; float ms; cudaEvent_t e2;
  CASE("clean") { OUT("%s", E(cudaGetLastError())); OUT(" %s", E(cudaPeekAtLastError())); }
  CASE("peek-keeps") { cudaMalloc(0, 4); for (int i = 0; i < 3; i++) OUT("%s ",
      E(cudaPeekAtLastError())); OUT("get %s", E(cudaGetLastError())); OUT(" %s",
      E(cudaGetLastError())); }
  CASE("later-error-wins") { cudaMalloc(0, 4); cudaSetDevice(99); OUT("%s", E(cudaGetLastError()));
      OUT(" %s", E(cudaGetLastError())); }
  CASE("success-keeps") { cudaMalloc(0, 4); cudaGetDevice(&d); cudaStreamSynchronize(0);
      cudaFree(0); cudaDeviceSynchronize(); OUT("%s", E(cudaGetLastError())); }
  CASE("same-error-twice") { cudaMalloc(0, 4); cudaMalloc(0, 4); OUT("%s", E(cudaGetLastError()));
      OUT(" %s", E(cudaGetLastError())); }
  CASE("not-ready-then-error") { gate(st); OUT("%s", E(cudaStreamQuery(st))); OUT(" last %s",
      E(cudaPeekAtLastError())); cudaMalloc(0, 1); OUT(" then %s", E(cudaStreamQuery(st)));
      OUT(" last %s", E(cudaGetLastError())); gopen(); cudaStreamSynchronize(st); }
  CASE("event-not-ready") { gate(st); cudaEventRecord(ev, st); OUT("%s", E(cudaEventQuery(ev)));
      OUT(" last %s", E(cudaGetLastError())); gopen(); cudaStreamSynchronize(st); }
  CASE("elapsed-not-ready") { cudaEventCreate(&e2); cudaEventRecord(e2, st); gate(st);
      cudaEventRecord(ev, st); OUT("%s", E(cudaEventElapsedTime(&ms, e2, ev))); OUT(" last %s",
      E(cudaGetLastError())); gopen(); cudaStreamSynchronize(st); }
  CASE("other-thread") { int o[2] = {-1, -1}, q = -1; pthread_t t; cudaSetDevice(99);
      pthread_create(&t, 0, thread_error, o); pthread_join(t, 0); OUT("there %s then %s; here %s",
      E(o[0]), E(o[1]), E(cudaGetLastError())); pthread_create(&t, 0, thread_peek, &q);
      pthread_join(t, 0); OUT("; a third %s", E(q)); }
  CASE("driver-error-not-seen") { OUT("%s", R(cuMemAlloc((CUdeviceptr *)&p, 0))); OUT(" %s",
      E(cudaGetLastError())); }
  CASE("out-of-memory") { OUT("%s", E(cudaMalloc(&p, 1ull << 50))); OUT(" last %s",
      E(cudaPeekAtLastError())); OUT(" sync %s", E(cudaDeviceSynchronize())); OUT(" get %s",
      E(cudaGetLastError())); OUT(" again %s", E(cudaMalloc(&p, 4))); cudaFree(p); }
  CASE("GetLastError-inside-callback") { OUT("%s", E(cudaLaunchHostFunc(st, host_nop, 0)));
      cudaStreamSynchronize(st); OUT(" %s", E(cudaGetLastError())); } }

// ---- devices ----
GROUP(device) { S(); int i; unsigned u; size_t z, z2; char b[64];
  EACH(d, -1, 0, 1, 2, 99, INT_MAX, INT_MIN)
  SC("set-%d", *d) { say("set", cudaSetDevice(*d)); int g = -7; say("get", cudaGetDevice(&g));
      OUT(" %d", g); }
  SC("count") { i = -7; say("r", cudaGetDeviceCount(&i)); OUT(" %d", i); say("null",
      cudaGetDeviceCount(0)); }
  SC("get-null") say("r", cudaGetDevice(0));
  SC("choose") { memset(&prop, 0, sizeof prop); i = -7; say("zero", cudaChooseDevice(&i, &prop));
      OUT(" %d", i); prop.major = 99; i = -7; say("major-99", cudaChooseDevice(&i, &prop));
      OUT(" %d", i); say("null-device", cudaChooseDevice(0, &prop)); }
  SC("choose-null-prop") { i = -7; say("r", cudaChooseDevice(&i, 0)); OUT(" %d", i); }
  SC("valid-devices") { int l[3] = {0, 0, 5}; say("null-0", cudaSetValidDevices(0, 0)); say("one",
      cudaSetValidDevices(l, 1)); say("twice", cudaSetValidDevices(l, 2)); say("bad",
      cudaSetValidDevices(l + 2, 1)); say("len-0", cudaSetValidDevices(l, 0)); say("len-minus1",
      cudaSetValidDevices(l, -1)); say("null-1", cudaSetValidDevices(0, 1)); say("len-99",
      cudaSetValidDevices(l, 99)); }
  for (unsigned f = 0; f < 0x200; f++) if (f < 0x48 || !(f & (f - 1)) || f == 0xff || f == 0x1ff ||
      f == 0x88) SC("flags-%x", f) { say("set", cudaSetDeviceFlags(f)); u = 77; say("get",
      cudaGetDeviceFlags(&u)); OUT(" %x", u); cudaSetDeviceFlags(0); }
  SC("flags-null") say("r", cudaGetDeviceFlags(0));
  EACH(f, 0, 1, 2, 3, 4, 5, 8, 16, 0x80)
  EACH(v, 0, 1, 2, 3) SC("init-flags-%x-valid-%d", *f, *v) { say("r", cudaInitDevice(0, *f, *v)); u
      = 77; cudaGetDeviceFlags(&u); OUT(" %x", u); cudaSetDeviceFlags(0); }
  EACH(d, -1, 1, 99) SC("init-device-%d", *d) say("r", cudaInitDevice(*d, 0, 0));
  for (int l = -1; l <= 9; l++)
  SC("limit-%d", l) { z = 77; say("get", cudaDeviceGetLimit(&z, l)); if (l != 1 || 1) OUT(" %zu",
      z); static const size_t V[] = {0, 1, 1000, 1024, 4096, 65536, 262144, 1 << 20, 1ull << 40};
      for (int k = 0; k < N(V); k++) { SAY(cudaDeviceSetLimit(l, V[k]), "set-%zu", V[k]); z2 = 77;
      cudaDeviceGetLimit(&z2, l); OUT("->%zu", z2); } if (l >= 0) cudaDeviceSetLimit(l, z); }
  SC("limit-null") say("r", cudaDeviceGetLimit(0, 0));
  for (int c = -1; c <= 4; c++)
  SC("cache-config-%d", c) { say("set", cudaDeviceSetCacheConfig(c)); i = -7; say("get",
      cudaDeviceGetCacheConfig((void *)&i)); OUT(" %d", i); }
  SC("cache-config-null") say("r", cudaDeviceGetCacheConfig(0)); for (int c = -1; c <= 3; c++)
  SC("shared-config-%d", c) { say("set", cudaDeviceSetSharedMemConfig(c)); i = -7; say("get",
      cudaDeviceGetSharedMemConfig((void *)&i)); OUT(" %d", i); }
  SC("shared-config-null") say("r", cudaDeviceGetSharedMemConfig(0));
  SC("priority-range") { int a = -7, c = -7; say("r", cudaDeviceGetStreamPriorityRange(&a, &c));
      OUT(" %d %d", a, c); say("null-1", cudaDeviceGetStreamPriorityRange(0, &c)); say("null-2",
      cudaDeviceGetStreamPriorityRange(&a, 0)); say("null-both", cudaDeviceGetStreamPriorityRange(0,
      0)); }
  EACH(n, -1, 0, 1, 4, 8, 12, 13, 14, 32)
  SC("pci-bus-id-length-%d", *n) { memset(b, 'x', 64); b[63] = 0; say("r", cudaDeviceGetPCIBusId(b,
      *n, 0)); OUT(" length %zu", strnlen(b, 63)); }
  SC("pci-bus-id-null") say("r", cudaDeviceGetPCIBusId(0, 32, 0));
  SC("pci-bus-id-bad-device") say("r", cudaDeviceGetPCIBusId(b, 32, 9));
  SC("by-pci-bus-id") { cudaDeviceGetPCIBusId(b, 32, 0); i = -7; say("own",
      cudaDeviceGetByPCIBusId(&i, b)); OUT(" %d", i); for (char *q = b; *q; q++) if (*q >= 'A' && *q
      <= 'F') *q += 32; i = -7; say("lower", cudaDeviceGetByPCIBusId(&i, b)); OUT(" %d", i); i = -7;
      say("no-domain", cudaDeviceGetByPCIBusId(&i, b + 5)); OUT(" %d", i); i = -7; say("domain-8",
      cudaDeviceGetByPCIBusId(&i, L("0000%s", b))); OUT(" %d", i); } static const char *const BUS[]
      = {"", "x", "0000", "0000:ff:1f.0", "ff:ff.0", "0000:00:00.0", "garbage-text", "::."}; for
      (int k = 0; k < N(BUS); k++)
  SC("by-pci-bus-id-\"%s\"", BUS[k]) { i = -7; say("r", cudaDeviceGetByPCIBusId(&i, BUS[k]));
      OUT(" %d", i); } SC("by-pci-bus-id-nulls") { say("text", cudaDeviceGetByPCIBusId(&i, 0));
      say("out", cudaDeviceGetByPCIBusId(0, "0000:00:00.0")); }
  EACH(a, -1, 0, 1, 9) EACH(c, -1, 0, 1)
  SC("peer-%d-%d", *a, *c) { i = -7; say("can", cudaDeviceCanAccessPeer(&i, *a, *c)); OUT(" %d", i);
      for (int q = 0; q <= 6; q++) { i = -7; SAY(cudaDeviceGetP2PAttribute(&i, q, *a, *c), "attr%d",
      q); OUT(":%d", i); } } SC("peer-null") { say("can", cudaDeviceCanAccessPeer(0, 0, 0));
      say("attr", cudaDeviceGetP2PAttribute(0, 1, 0, 0)); }
  EACH(d, -1, 0, 1) EACH(f, 0, 1)
  SC("peer-enable-%d-flags-%d", *d, *f) say("r", cudaDeviceEnablePeerAccess(*d, *f));
  EACH(d, -1, 0, 1) SC("peer-disable-%d", *d) say("r", cudaDeviceDisablePeerAccess(*d));
  EACH(t, -1, 0, 1) EACH(s, 0, 99, 100, 200, 300)
  SC("flush-writes-%d-%d", *t, *s) say("r", cudaDeviceFlushGPUDirectRDMAWrites(*t, *s));
  EACH(k, 0, 1, 2, 3, 5, 17) EACH(n, 0, 8, 16, 24, 32, 64)
  SC("1d-linear-width-kind%d-bits%d", *k, *n) for (int c = 1; c <= 4; c++) { struct
      cudaChannelFormatDesc d = ch(*n, c > 1 ? *n : 0, c > 2 ? *n : 0, c > 3 ? *n : 0, *k); z = 77;
      SAY(cudaDeviceGetTexture1DLinearMaxWidth(&z, &d, 0), "x%d", c); OUT(":%zu", z); }
  SC("1d-linear-width-null") { struct cudaChannelFormatDesc d = ch(8, 0, 0, 0, 0); say("out",
      cudaDeviceGetTexture1DLinearMaxWidth(0, &d, 0)); say("device",
      cudaDeviceGetTexture1DLinearMaxWidth(&z, &d, 9)); }
  SC("1d-linear-width-null-desc") say("desc", cudaDeviceGetTexture1DLinearMaxWidth(&z, 0, 0));
  SC("host-atomics") { unsigned cp[16]; enum cudaAtomicOperation op[16]; for (int k = 0; k < 16;
      k++) { op[k] = k; cp[k] = 77; } say("13", cudaDeviceGetHostAtomicCapabilities(cp, op, 13, 0));
      for (int k = 0; k < 13; k++) OUT(" %x", cp[k]); say("14",
      cudaDeviceGetHostAtomicCapabilities(cp, op, 14, 0)); say("0",
      cudaDeviceGetHostAtomicCapabilities(cp, op, 0, 0)); say("null",
      cudaDeviceGetHostAtomicCapabilities(0, op, 1, 0)); say("null-op",
      cudaDeviceGetHostAtomicCapabilities(cp, 0, 1, 0)); say("device",
      cudaDeviceGetHostAtomicCapabilities(cp, op, 1, 9)); say("p2p",
      cudaDeviceGetP2PAtomicCapabilities(cp, op, 1, 0, 0)); say("p2p-9",
      cudaDeviceGetP2PAtomicCapabilities(cp, op, 1, 0, 9)); }
  SC("nvscisync") { say("null", cudaDeviceGetNvSciSyncAttributes(0, 0, 1)); }
  SC("l2-reset") say("r", cudaCtxResetPersistingL2Cache());
  SC("mem-info") { say("both", cudaMemGetInfo(&z, &z2)); OUT(" free<=total %d total %zu", z <= z2,
      z2); say("no-free", cudaMemGetInfo(0, &z2)); say("no-total", cudaMemGetInfo(&z, 0));
      say("none", cudaMemGetInfo(0, 0)); }
  SC("profiler") { say("start", cudaProfilerStart()); say("start", cudaProfilerStart()); say("stop",
      cudaProfilerStop()); say("stop", cudaProfilerStop()); say("stop", cudaProfilerStop()); }
  SC("async-notification") { void *h = JUNK; say("null-fn", cudaDeviceRegisterAsyncNotification(0,
      0, 0, (void *)&h)); OUT(" %s", Z(h)); h = JUNK; say("device",
      cudaDeviceRegisterAsyncNotification(9, (void *)host_nop, 0, (void *)&h)); h = JUNK; if
      (!say("ok", cudaDeviceRegisterAsyncNotification(0, (void *)host_nop, 0, (void *)&h))) {
      say("wrong-device", cudaDeviceUnregisterAsyncNotification(9, h)); say("unregister",
      cudaDeviceUnregisterAsyncNotification(0, h)); } }
  SC("async-notification-null-out") say("r", cudaDeviceRegisterAsyncNotification(0, (void
      *)host_nop, 0, 0)); SC("async-notification-null-handle") say("r",
      cudaDeviceUnregisterAsyncNotification(0, 0));
  EACH(f, 0, 1) SC("logs-flags-%d", *f) { unsigned it = 7; char t[512]; z = 512; say("current",
      cudaLogsCurrent(&it, *f)); say("dump", cudaLogsDumpToMemory(&it, t, &z, *f)); OUT(" %d", z <=
      512); say("null-size", cudaLogsDumpToMemory(&it, t, 0, *f)); say("null-buffer",
      cudaLogsDumpToMemory(&it, 0, &z, *f)); }
  SC("logs-null") say("current", cudaLogsCurrent(0, 0));
  SC("logs-callback") { void *h = JUNK; say("null", cudaLogsRegisterCallback(0, 0, (void *)&h)); h =
      JUNK; say("ok", cudaLogsRegisterCallback((void *)host_nop, 0, (void *)&h)); say("un",
      cudaLogsUnregisterCallback(h)); } }
#define PI(f) SC(#f) OUT("%lld", (long long)prop.f);
#define PA(f) SC(#f) for (int k_2 = 0; k_2 < N(prop.f); k_2++) OUT("%s%lld", k_2 ? " " : "", (long \
    long)prop.f[k_2]);
GROUP(properties) { S(); memset(&prop, 0x55, sizeof prop); MUSTR(cudaGetDeviceProperties(&prop, 0));
SC("name") OUT("%s", prop.name); SC("size") OUT("%zu", sizeof prop); SC("reserved") { int a = 0; for
    (int k = 0; k < N(prop.reserved); k++) a |= prop.reserved[k]; OUT("%s", a ? "set" : "zero"); }
SC("rest-of-name") { int a = 0; for (int k = strlen(prop.name); k < 256; k++) a |= prop.name[k];
    OUT("%s", a ? "kept" : "zero"); } SC("null") say("r", cudaGetDeviceProperties(0, 0)); EACH(d,
    -1, 1, 99) SC("device-%d", *d) say("r", cudaGetDeviceProperties(&prop, *d));
    cudaGetDeviceProperties(&prop, 0);
  PI(luidDeviceNodeMask) PI(totalGlobalMem)
  PI(sharedMemPerBlock) PI(regsPerBlock)
  PI(warpSize) PI(memPitch) PI(maxThreadsPerBlock)
  PA(maxThreadsDim) PA(maxGridSize)
  PI(totalConstMem) PI(major) PI(minor)
  PI(textureAlignment) PI(texturePitchAlignment)
  PI(multiProcessorCount) PI(integrated)
  PI(canMapHostMemory) PI(maxTexture1D)
  PI(maxTexture1DMipmap) PA(maxTexture2D)
  PA(maxTexture2DMipmap) PA(maxTexture2DLinear)
  PA(maxTexture2DGather) PA(maxTexture3D)
  PA(maxTexture3DAlt) PI(maxTextureCubemap)
  PA(maxTexture1DLayered) PA(maxTexture2DLayered)
  PA(maxTextureCubemapLayered) PI(maxSurface1D)
  PA(maxSurface2D) PA(maxSurface3D)
  PA(maxSurface1DLayered) PA(maxSurface2DLayered)
  PI(maxSurfaceCubemap) PA(maxSurfaceCubemapLayered)
  PI(surfaceAlignment) PI(concurrentKernels)
  PI(ECCEnabled) PI(tccDriver) PI(asyncEngineCount)
  PI(unifiedAddressing) PI(memoryBusWidth)
  PI(l2CacheSize) PI(persistingL2CacheMaxSize)
  PI(maxThreadsPerMultiProcessor)
  PI(streamPrioritiesSupported)
  PI(globalL1CacheSupported) PI(localL1CacheSupported)
  PI(sharedMemPerMultiprocessor)
  PI(regsPerMultiprocessor) PI(managedMemory)
  PI(isMultiGpuBoard) PI(hostNativeAtomicSupported)
  PI(pageableMemoryAccess) PI(concurrentManagedAccess)
  PI(computePreemptionSupported)
  PI(canUseHostPointerForRegisteredMem)
  PI(cooperativeLaunch) PI(sharedMemPerBlockOptin)
  PI(pageableMemoryAccessUsesHostPageTables)
  PI(directManagedMemAccessFromHost)
  PI(maxBlocksPerMultiProcessor)
  PI(accessPolicyMaxWindowSize)
  PI(reservedSharedMemPerBlock)
  PI(hostRegisterSupported) PI(sparseCudaArraySupported)
  PI(hostRegisterReadOnlySupported)
  PI(timelineSemaphoreInteropSupported)
  PI(memoryPoolsSupported) PI(gpuDirectRDMASupported)
  PI(gpuDirectRDMAFlushWritesOptions)
  PI(gpuDirectRDMAWritesOrdering)
  PI(memoryPoolSupportedHandleTypes)
  PI(deferredMappingCudaArraySupported)
  PI(ipcEventSupported) PI(clusterLaunch)
  PI(unifiedFunctionPointers) PI(deviceNumaConfig)
  PI(deviceNumaId) PI(mpsEnabled)
  PI(hostNumaId) PI(gpuPciDeviceID)
  PI(gpuPciSubsystemID) PI(hostNumaMultinodeIpcSupported) }
GROUP(attributes) { S(); for (int a = -1; a <= 200; a++) { if (a == 33 || a == 34 || a == 50)
    continue; CASE("%d", a) { int v = -7777, w = -7777; cudaError_t r = cudaDeviceGetAttribute(&v,
    a, 0); CUresult q = cuDeviceGetAttribute(&w, a, 0); say("r", r); OUT(" %d driver=%s", v, !q &&
    !r && v == w ? "same" : R(q)); if (!q && (r || v != w)) OUT(" %d", w); } } SC("null") say("r",
    cudaDeviceGetAttribute(0, 1, 0)); EACH(d, -1, 1, 99) SC("device-%d", *d) { int v; say("r",
    cudaDeviceGetAttribute(&v, 1, *d)); } SC("bad-attribute-and-device") { int v; say("r",
    cudaDeviceGetAttribute(&v, 9999, 9)); } }

// ---- allocation ----
GROUP(malloc) { S(); void *p, *q; size_t z; struct cudaPitchedPtr pp;
  static const u64 SZ[] = {0, 1, 2, 255, 256, 257, 511, 512, 513, 4096, 65536, 1 << 20, (1 << 21) -
      1, 1 << 21, (1 << 21) + 1, 1ull << 37, 1ull << 40, 1ull << 47, 1ull << 63, ~0ull, ~0ull -
      511};
  for (int i = 0; i < N(SZ); i++)
  SC("size-%llx", SZ[i]) { p = JUNK; say("r", cudaMalloc(&p, SZ[i])); OUT(" %s", Z(p)); if (p && p
      != JUNK) { OUT(" align %llx", pow2((u64)p, 1 << 21)); say("free", cudaFree(p)); } } for (int i
      = 0; i < N(SZ); i++) SC("host-size-%llx", SZ[i]) { if (SZ[i] >= 1ull << 37 && SZ[i] < 1ull <<
      47) { OUT("skipped"); continue; } p = JUNK; say("r", cudaMallocHost(&p, SZ[i])); OUT(" %s",
      Z(p)); if (p && p != JUNK) { OUT(" align %llx", pow2((u64)p, 1 << 12)); say("free",
      cudaFreeHost(p)); } }
  SC("null") { say("0", cudaMalloc(0, 0)); say("4", cudaMalloc(0, 4)); say("host-0",
      cudaMallocHost(0, 0)); say("host-4", cudaMallocHost(0, 4)); say("async-0", cudaMallocAsync(0,
      0, 0)); say("async-4", cudaMallocAsync(0, 4, 0)); }
  SC("free-null") { say("device", cudaFree(0)); say("host", cudaFreeHost(0)); say("array",
      cudaFreeArray(0)); say("mipmapped", cudaFreeMipmappedArray(0)); say("async", cudaFreeAsync(0,
      0)); } SC("free-twice") { cudaMalloc(&p, 4); say("1", cudaFree(p)); say("2", cudaFree(p)); }
  SC("free-middle") { cudaMalloc(&p, 4096); say("middle", cudaFree((char *)p + 16)); say("base",
      cudaFree(p)); } SC("free-end") { cudaMalloc(&p, 4096); say("end", cudaFree((char *)p + 4096));
      cudaFree(p); } SC("free-pinned") say("r", cudaFree(pin));
  SC("free-pinned-again") say("r", cudaFreeHost(pin));
  SC("free-registered") say("r", cudaFree(reg));
  SC("free-pageable") say("r", cudaFree(page));
  SC("free-stack") { int x; say("r", cudaFree(&x)); }
  SC("free-junk") say("r", cudaFree(JUNK));
  SC("free-small-number") say("r", cudaFree((void *)8));
  SC("freehost-device") say("r", cudaFreeHost(dev));
  SC("freehost-registered") say("r", cudaFreeHost(reg));
  SC("freehost-pageable") say("r", cudaFreeHost(page));
  SC("freehost-middle") { cudaMallocHost(&p, 4096); say("middle", cudaFreeHost((char *)p + 16));
      say("base", cudaFreeHost(p)); say("again", cudaFreeHost(p)); }
  SC("freehost-junk") say("r", cudaFreeHost(JUNK));
  SC("free-mapped-device-pointer") { cudaHostGetDevicePointer(&p, pinmap, 0); OUT("same %d", p ==
      pinmap); } SC("free-busy") { cudaMalloc(&p, 4096); gate(st); cudaMemsetAsync(p, 1, 4096, st);
      pthread_t t; gopen(); say("r", cudaFree(p)); (void)t; }
  SC("free-in-order") { void *a[8]; for (int i = 0; i < 8; i++) cudaMalloc(&a[i], 512); for (int i =
      7; i >= 0; i--) SAY(cudaFree(a[i]), "%d", i); }
  static const size_t W[] = {0, 1, 31, 32, 33, 511, 512, 513, 1 << 20, 2147483647, 1ull << 31, 1ull
      << 40, ~0ull}, H[] = {0, 1, 2, 7, 65536}; for (int i = 0; i < N(W); i++) for (int j = 0; j <
      N(H); j++) SC("pitch-%zx-%zx", W[i], H[j]) { p = JUNK; z = 77; say("r", cudaMallocPitch(&p,
      &z, W[i], H[j])); OUT(" %s pitch %zu", Z(p), z); if (p && p != JUNK) say("free", cudaFree(p));
      } SC("pitch-nulls") { say("ptr", cudaMallocPitch(0, &z, 4, 4)); p = JUNK; say("pitch",
      cudaMallocPitch(&p, 0, 4, 4)); OUT(" %s", Z(p)); say("both", cudaMallocPitch(0, 0, 4, 4)); }
  static const size_t X[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1},
      {100, 10, 5}, {512, 1, 1}, {513, 3, 2}, {1ull << 40, 1, 1}, {16, 1ull << 40, 2}, {~0ull,
      ~0ull, ~0ull}}; for (int i = 0; i < N(X); i++)
  SC("malloc3d-%zx-%zx-%zx", X[i][0], X[i][1], X[i][2]) { memset(&pp, 0x55, sizeof pp); pp.ptr =
      JUNK; say("r", cudaMalloc3D(&pp, ex(X[i][0], X[i][1], X[i][2])));
      OUT(" %s pitch %zu x %zu y %zu", Z(pp.ptr), pp.pitch, pp.xsize, pp.ysize); if (pp.ptr &&
      pp.ptr != JUNK) say("free", cudaFree(pp.ptr)); }
  SC("malloc3d-null") say("r", cudaMalloc3D(0, ex(1, 1, 1))); }
GROUP(hostmem) { S(); void *p, *q; unsigned f; char *m = mmap(0, MIB, PROT_READ | PROT_WRITE,
    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(m, 1, MIB);
  for (unsigned fl = 0; fl < 0x48; fl++) if (fl < 18 || !(fl & (fl - 1)))
  SC("alloc-flags-%x", fl) { p = JUNK; say("r", cudaHostAlloc(&p, 4096, fl)); OUT(" %s", Z(p)); if
      (p && p != JUNK) { f = 77; say("flags", cudaHostGetFlags(&f, p)); OUT(" %x", f); q = JUNK;
      say("device", cudaHostGetDevicePointer(&q, p, 0)); OUT(" %s", q == p ? "same" : Z(q));
      say("free", cudaFreeHost(p)); } }
  SC("alloc-null") say("r", cudaHostAlloc(0, 4, 0));
  SC("alloc-null-bad-flags") say("r", cudaHostAlloc(0, 4, 0x100));
  SC("alloc-0-bad-flags") { p = JUNK; say("r", cudaHostAlloc(&p, 0, 0x100)); OUT(" %s", Z(p)); }
  for (unsigned fl = 0; fl < 0x88; fl++) if (fl < 34 || !(fl & (fl - 1)))
  SC("register-flags-%x", fl) { say("r", cudaHostRegister(m, 8192, fl)); f = 77; say("flags",
      cudaHostGetFlags(&f, m)); OUT(" %x", f); q = JUNK; say("device", cudaHostGetDevicePointer(&q,
      m, 0)); OUT(" %s", q == m ? "same" : Z(q)); say("un", cudaHostUnregister(m)); }
  SC("register-nulls") { say("null", cudaHostRegister(0, 4096, 0)); say("size-0",
      cudaHostRegister(m, 0, 0)); say("null-0", cudaHostRegister(0, 0, 0)); say("un-null",
      cudaHostUnregister(0)); }
  SC("register-unaligned") { say("r", cudaHostRegister(m + 100, 1000, 0)); f = 77; say("flags-base",
      cudaHostGetFlags(&f, m + 100)); say("flags-page", cudaHostGetFlags(&f, m)); say("un-page",
      cudaHostUnregister(m)); say("un", cudaHostUnregister(m + 100)); }
  SC("register-twice") { say("1", cudaHostRegister(m, 8192, 0)); say("2", cudaHostRegister(m, 8192,
      0)); say("inside", cudaHostRegister(m + 4096, 4096, 0)); say("overlap", cudaHostRegister(m +
      4096, 8192, 0)); say("next", cudaHostRegister(m + 8192, 4096, 0)); say("un-next",
      cudaHostUnregister(m + 8192)); say("un", cudaHostUnregister(m)); say("un-again",
      cudaHostUnregister(m)); }
  SC("register-pinned") say("r", cudaHostRegister(pin, 4096, 0));
  SC("register-device") say("r", cudaHostRegister(dev, 4096, 0));
  SC("register-unmapped") say("r", cudaHostRegister((void *)0x10000, 4096, 0));
  SC("register-kernel-space") say("r", cudaHostRegister((void *)~0xfffull, 4096, 0));
  SC("register-huge") say("r", cudaHostRegister(m, 1ull << 45, 0));
  SC("register-readonly") { char *ro = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      say("plain", cudaHostRegister(ro, 4096, 0)); cudaHostUnregister(ro); say("flag",
      cudaHostRegister(ro, 4096, cudaHostRegisterReadOnly)); cudaHostUnregister(ro); }
  SC("register-mapped-file") { int fd = memfd_create("x", 0); ftruncate(fd, 8192); void *a = mmap(0,
      8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); say("r", cudaHostRegister(a, 8192, 0));
      say("un", cudaHostUnregister(a)); }
  SC("unregister-wrong") { say("pinned", cudaHostUnregister(pin)); say("pageable",
      cudaHostUnregister(page)); say("device", cudaHostUnregister(dev)); say("middle",
      cudaHostUnregister(reg + 4096)); say("junk", cudaHostUnregister(JUNK)); }
  SC("device-pointer") { q = JUNK; say("flags-1", cudaHostGetDevicePointer(&q, pin, 1)); OUT(" %s",
      Z(q)); q = JUNK; say("middle", cudaHostGetDevicePointer(&q, pin + 100, 0)); OUT(" %s", q ==
      pin + 100 ? "same" : Z(q)); q = JUNK; say("end", cudaHostGetDevicePointer(&q, pin + 65536,
      0)); OUT(" %s", Z(q)); q = JUNK; say("pageable", cudaHostGetDevicePointer(&q, page, 0));
      OUT(" %s", Z(q)); q = JUNK; say("device", cudaHostGetDevicePointer(&q, dev, 0)); OUT(" %s",
      Z(q)); q = JUNK; say("null-host", cudaHostGetDevicePointer(&q, 0, 0)); OUT(" %s", Z(q));
      say("null-out", cudaHostGetDevicePointer(0, pin, 0)); }
  SC("get-flags") { say("null-out", cudaHostGetFlags(0, pin)); f = 77; say("null-host",
      cudaHostGetFlags(&f, 0)); OUT(" %x", f); f = 77; say("pageable", cudaHostGetFlags(&f, page));
      OUT(" %x", f); f = 77; say("device", cudaHostGetFlags(&f, dev)); OUT(" %x", f); f = 77;
      say("middle", cudaHostGetFlags(&f, pin + 100)); OUT(" %x", f); f = 77; say("pinned",
      cudaHostGetFlags(&f, pin)); OUT(" %x", f); f = 77; say("mapped", cudaHostGetFlags(&f,
      pinmap)); OUT(" %x", f); f = 77; say("registered", cudaHostGetFlags(&f, reg)); OUT(" %x", f);
      } }
static void attrs(const void *p, const char *base) { struct cudaPointerAttributes a; memset(&a,
    0x55, sizeof a); say("r", cudaPointerGetAttributes(&a, p));
    OUT(" type %d device %d devicePointer %s hostPointer %s reserved %s", a.type, a.device,
    !a.devicePointer ? "null" : a.devicePointer == p ? "same" : a.devicePointer == base ? "base" :
    "other", !a.hostPointer ? "null" : a.hostPointer == p ? "same" : a.hostPointer == base ? "base"
    : "other", !a.reserved[0] ? "zero" : "kept"); }
GROUP(pointers) { S(); void *p, *q; char *m = malloc(4096); int x;
  SC("null") attrs(0, 0); SC("null-out") say("r", cudaPointerGetAttributes(0, dev));
  SC("null-both") say("r", cudaPointerGetAttributes(0, 0));
  SC("stack") attrs(&x, 0); SC("heap") attrs(m, m);
  SC("code") attrs((void *)attrs, 0);
  SC("pinned") attrs(pin, pin);
  SC("pinned-middle") attrs(pin + 100, pin);
  SC("pinned-last") attrs(pin + 65535, pin);
  SC("pinned-end") attrs(pin + (1 << 21), pin);
  SC("mapped") attrs(pinmap, pinmap);
  SC("registered") attrs(reg, reg);
  SC("registered-middle") attrs(reg + 5000, reg);
  SC("registered-end") attrs(reg + 65536, reg);
  SC("device") attrs(dev, dev);
  SC("device-middle") attrs(dev + 100, dev);
  SC("device-last") attrs(dev + DEVN - 1, dev);
  SC("junk") attrs(JUNK, 0); SC("small-number") attrs((void *)16, 0);
  SC("minus-1") attrs((void *)-1, 0);
  SC("freed") { cudaMalloc(&p, 32 * MIB); cudaFree(p); attrs(p, p); }
  SC("freed-host") { cudaMallocHost(&p, 4 * MIB); cudaFreeHost(p); attrs(p, p); }
  SC("unregistered") { cudaHostRegister(m, 4096, 0); cudaHostUnregister(m); attrs(m, m); }
  SC("async") { cudaMallocAsync(&p, 4096, 0); attrs(p, p); cudaFreeAsync(p, 0);
      cudaStreamSynchronize(0); attrs(p, p); }
  SC("async-before-its-stream") { gate(st); cudaMallocAsync(&p, 4096, st); attrs(p, p); gopen();
      cudaFreeAsync(p, st); } SC("pitch") { size_t z; cudaMallocPitch(&p, &z, 100, 100); attrs((char
      *)p + z, p); cudaFree(p); }
  SC("vmm") { p = vmm_map(2 * MIB, 0, 0); attrs(p, p); attrs((char *)p + 100, p); }
  SC("vmm-reserved") { CUdeviceptr a; cuMemAddressReserve(&a, 2 * MIB, 0, 0, 0); attrs((void *)a,
      (void *)a); } SC("vmm-unmapped") { p = vmm_map(2 * MIB, 0, 0); cuMemUnmap((CUdeviceptr)p, 2 *
      MIB); attrs(p, p); } SC("extmem") { int fd; vmm_map(2 * MIB, 1, &fd); struct
      cudaExternalMemoryHandleDesc d; memset(&d, 0, sizeof d); d.type = 1; d.handle.fd = fd; d.size
      = 2 * MIB; cudaExternalMemory_t e; MUSTR(cudaImportExternalMemory(&e, &d)); struct
      cudaExternalMemoryBufferDesc b; memset(&b, 0, sizeof b); b.size = 4096;
      MUSTR(cudaExternalMemoryGetMappedBuffer(&p, e, &b)); attrs(p, p); attrs((char *)p + 8192, p);
      } SC("array-handle") attrs(arr(8, 1, 64, 64, 0, 0), 0);
  SC("write-combined") { cudaHostAlloc(&p, 4096, cudaHostAllocWriteCombined); attrs(p, p); }
  SC("read-only-registered") { char *a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
      MAP_ANONYMOUS, -1, 0); if (!cudaHostRegister(a, 4096, cudaHostRegisterReadOnly)) attrs(a, a);
      else OUT("refused"); } SC("driver-memory") { CUdeviceptr a; cuMemAlloc(&a, 64); attrs((void
      *)a, (void *)a); } SC("other-context") { CUcontext c; cuCtxCreate(&c, 0, 0, 0); CUdeviceptr a;
      cuMemAlloc(&a, 64); attrs((void *)a, (void *)a); CUcontext o; cuCtxPopCurrent(&o); attrs((void
      *)a, (void *)a); cuCtxDestroy(c); } }

// ---- copies ----
static const char *const pn[] = {"null", "junk", "pageable", "pinned", "mapped", "registered",
    "device", "device2", "vmm", "async"}; static char *pv[10];
static void places(void) { pv[0] = 0; pv[1] = JUNK; pv[2] = page; pv[3] = pin; pv[4] = pinmap; pv[5]
    = reg; pv[6] = dev; pv[7] = dev2; pv[8] = vmm_map(2 * MIB, 0, 0); MUSTR(cudaMallocAsync((void
    **)&pv[9], 65536, 0)); MUSTR(cudaStreamSynchronize(0)); MUSTR(cudaMemset(pv[8], 0x48, 2 * MIB));
    MUSTR(cudaMemset(pv[9], 0x49, 65536)); }
static int byte_of(const void *p) { unsigned char b = 0xdd; if (!p || p == JUNK) return -1;
    cudaError_t e = cudaMemcpy(&b, p, 1, cudaMemcpyDefault); if (e) { cudaGetLastError(); return
    -(int)e; } return b; }
GROUP(copy_kinds) { calls->quick = 1; S(); places(); for (int k = -1; k <= 5; k++) for (int d = 0; d
    < 10; d++) for (int s = 0; s < 10; s++) { if (s < 2 && d < 2) continue; SC("kind%d-%s-to-%s", k,
    pn[s], pn[d]) { int was = byte_of(pv[s]); say("r", cudaMemcpy(pv[d], pv[s], 64, k)); if (d > 1
    && s > 1) OUT(" %s", byte_of(pv[d]) == was ? "moved" : "not"); if (d > 1) { unsigned char b[64];
    memset(b, 0x42 + d, 64); cudaMemcpy(pv[d], b, 64, cudaMemcpyDefault); cudaGetLastError(); } } }
    }
GROUP(copy_async) { S(); places(); for (int k = -1; k <= 5; k++) EACH(d, 0, 2, 3, 5, 6) EACH(s, 0,
    2, 3, 5, 6) { if (*s == 0 && *d == 0) continue; SC("kind%d-%s-to-%s", k, pn[*s], pn[*d]) {
    say("null", cudaMemcpyAsync(pv[*d], pv[*s], 64, k, 0)); say("stream", cudaMemcpyAsync(pv[*d],
    pv[*s], 64, k, st)); say("sync", cudaStreamSynchronize(st)); } } }
GROUP(copy_ranges) { S(); places(); struct cudaExtent e; void *p;
  static const u64 SZ[] = {0, 1, DEVN - 16, DEVN, DEVN + 1, 2 * MIB, 2 * MIB + 1, 1ull << 30, 1ull
      << 40, ~0ull}; for (int i = 0; i < N(SZ); i++) { SC("h2d-%llx", SZ[i]) { if (SZ[i] > DEVN &&
      SZ[i] <= 1ull << 30) { char *big = calloc(1, SZ[i]); say("r", cudaMemcpy(dev, big, SZ[i],
      cudaMemcpyHostToDevice)); free(big); } else say("r", cudaMemcpy(dev, page, SZ[i],
      cudaMemcpyHostToDevice)); } SC("d2d-%llx", SZ[i]) say("r", cudaMemcpy(dev, dev2, SZ[i],
      cudaMemcpyDeviceToDevice)); SC("d2d-default-%llx", SZ[i]) say("r", cudaMemcpy(dev, dev2,
      SZ[i], cudaMemcpyDefault)); SC("memset-%llx", SZ[i]) say("r", cudaMemset(dev, 1, SZ[i])); }
  SC("d2h-past") { char *b = malloc(2 * DEVN + 100); say("r", cudaMemcpy(b, dev2, DEVN + 100,
      cudaMemcpyDeviceToHost)); say("half", cudaMemcpy(b, dev2 + DEVN / 2, DEVN,
      cudaMemcpyDeviceToHost)); free(b); }
  SC("pinned-past") say("r", cudaMemcpy(dev, pin, 1 << 20, cudaMemcpyHostToDevice));
  SC("zero-of-everything") { say("null", cudaMemcpy(0, 0, 0, 0)); say("kind9", cudaMemcpy(dev, dev2,
      0, 9)); say("junk", cudaMemcpy(JUNK, JUNK, 0, cudaMemcpyDeviceToDevice)); say("async",
      cudaMemcpyAsync(0, 0, 0, 4, 0)); say("2d", cudaMemcpy2D(0, 0, 0, 0, 0, 0, 4));
      say("2d-height0", cudaMemcpy2D(dev, 64, dev2, 64, 64, 0, 3)); say("2d-width0",
      cudaMemcpy2D(dev, 64, dev2, 64, 0, 4, 3)); say("2d-null-width0", cudaMemcpy2D(0, 64, 0, 64, 0,
      4, 3)); say("peer", cudaMemcpyPeer(0, 0, 0, 0, 0)); say("set", cudaMemset(0, 0, 0));
      say("set2d", cudaMemset2D(0, 0, 0, 0, 0)); }
  SC("overlap") { for (int i = 0; i < 256; i++) page[i] = i; cudaMemcpy(dev, page, 256, 1);
      say("forward", cudaMemcpy(dev + 16, dev, 128, 3)); cudaMemcpy(page + 512, dev, 256, 2);
      OUT(" %016llx", fnv(page + 512, 256)); cudaMemcpy(dev, page, 256, 1); say("back",
      cudaMemcpy(dev, dev + 16, 128, 3)); cudaMemcpy(page + 512, dev, 256, 2); OUT(" %016llx",
      fnv(page + 512, 256)); say("self", cudaMemcpy(dev, dev, 128, 3)); say("host", cudaMemcpy(page
      + 16, page, 128, 0)); }
  EACH(a, -1, 0, 1, 9) EACH(b, -1, 0, 1)
  SC("peer-%d-%d", *a, *b) { say("r", cudaMemcpyPeer(dev, *a, dev2, *b, 64)); say("async",
      cudaMemcpyPeerAsync(dev, *a, dev2, *b, 64, st)); }
  SC("peer-host") say("r", cudaMemcpyPeer(page, 0, dev2, 0, 64));
  SC("peer-null") say("r", cudaMemcpyPeer(0, 0, dev2, 0, 64));
  SC("peer-past") say("r", cudaMemcpyPeer(dev, 0, dev2, 0, 1ull << 40));
  EACH(n, 1, 2, 3) SC("memset-value-%d", *n) { static const int V[] = {0, 256 + 7, -1, 0x12345678};
      say("r", cudaMemset(dev, V[*n], 5)); unsigned char b[6]; cudaMemcpy(b, dev, 6, 2);
      OUT(" %02x %02x", b[0], b[4]); } for (int d = 0; d < 10; d++)
  SC("memset-%s", pn[d]) { say("r", cudaMemset(pv[d], 0x42 + d, 64)); say("async",
      cudaMemsetAsync(pv[d], 0x42 + d, 64, st)); }
  SC("memset-past") { say("start", cudaMemset(dev + DEVN / 2, 1, DEVN)); say("huge", cudaMemset(dev,
      1, 1ull << 40)); }
  static const struct { const char *n; size_t p, w, h; } M2[] = {{"plain", 512, 64, 8},
      {"pitch-equal", 64, 64, 8}, {"pitch-short", 63, 64, 8}, {"pitch-short-height1", 63, 64, 1},
      {"pitch-0", 0, 64, 8}, {"pitch-0-height1", 0, 64, 1}, {"width-0", 64, 0, 8}, {"height-0", 64,
      64, 0}, {"past", 65536, 64, 17}, {"past-by-row-end", 65536, 65536, 16}, {"past-far", 1 << 20,
      64, 1 << 20}, {"pitch-huge", 1ull << 40, 64, 2}, {"width-huge", ~0ull, ~0ull, 1},
      {"pitch-over-2g", (1ull << 31) + 512, 64, 1}};
  for (int i = 0; i < N(M2); i++) { SC("memset2d-%s", M2[i].n) { say("r", cudaMemset2D(dev, M2[i].p,
      1, M2[i].w, M2[i].h)); say("async", cudaMemset2DAsync(dev, M2[i].p, 1, M2[i].w, M2[i].h, st));
      } SC("memset3d-%s", M2[i].n) { struct cudaPitchedPtr q = {dev, M2[i].p, M2[i].w, 1}; for (int
      k = 0; k < 3; k++) { q.ysize = k == 2 ? 100 : 1; SAY(cudaMemset3D(q, 1, ex(M2[i].w, M2[i].h,
      k)), "depth%d", k); } q.xsize = 1; say("xsize1", cudaMemset3D(q, 1, ex(M2[i].w, M2[i].h, 1)));
      say("async", cudaMemset3DAsync(q, 1, ex(M2[i].w, M2[i].h, 1), st)); }
    EACH(k, -1, 0, 1, 2, 3, 4, 5) SC("copy2d-kind%d-%s", *k, M2[i].n) { if (M2[i].p > 1 << 20 ||
        M2[i].h > 1000 || M2[i].p * M2[i].h > DEVN || M2[i].w > DEVN) { say("d2d", cudaMemcpy2D(dev,
        M2[i].p, dev2, 512, M2[i].w, M2[i].h, 3)); say("d2d-src", cudaMemcpy2D(dev, 512, dev2,
        M2[i].p, M2[i].w, M2[i].h, 3)); continue; } char *a = *k == 1 || *k == 3 || *k == 4 ? dev :
        page, *b = *k == 2 || *k == 3 || *k == 4 ? dev2 : page + DEVN / 2; say("r", cudaMemcpy2D(a,
        M2[i].p, b, 512, M2[i].w, M2[i].h, *k)); say("src", cudaMemcpy2D(a, 512, b, M2[i].p,
        M2[i].w, M2[i].h, *k)); say("async", cudaMemcpy2DAsync(a, M2[i].p, b, 512, M2[i].w, M2[i].h,
        *k, st)); say("sync", cudaStreamSynchronize(st)); } }
  SC("copy2d-nulls") { say("dst", cudaMemcpy2D(0, 64, dev, 64, 64, 4, 3)); say("src",
      cudaMemcpy2D(dev, 64, 0, 64, 64, 4, 3)); say("dst-default", cudaMemcpy2D(0, 64, dev, 64, 64,
      4, 4)); say("host-null", cudaMemcpy2D(dev, 64, 0, 64, 64, 4, 1)); }
  SC("copy2d-wrong-place") { say("dh-as-dd", cudaMemcpy2D(dev, 64, page, 64, 64, 4, 3)); }
  SC("copy2d-hh-as-hd") { say("r", cudaMemcpy2D(page, 64, page + 4096, 64, 64, 4, 1)); }
  SC("copy2d-dd-as-hh") { say("r", cudaMemcpy2D(dev, 64, dev2, 64, 64, 4, 0)); }
  SC("sync-host-memcpy-waits") { gate(st); cudaMemsetAsync(dev, 0x77, 64, st); pthread_t t; gopen();
      say("r", cudaMemcpy(page, dev, 64, 2)); OUT(" %x", (unsigned char)page[0]); }
  SC("batch-args") { void *D[2] = {dev, dev + 64}; const void *Sx[2] = {dev2, dev2 + 64}; size_t
      z[2] = {64, 64}, ix[2] = {0, 1}; struct cudaMemcpyAttributes a[2]; memset(a, 0, sizeof a);
      a[0].srcAccessOrder = a[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream; say("ok",
      cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1, st)); say("ok2", cudaMemcpyBatchAsync(D, Sx, z, 2,
      a, ix, 2, st)); say("null-stream", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1, 0));
      say("count0", cudaMemcpyBatchAsync(D, Sx, z, 0, a, ix, 1, st)); say("attrs0",
      cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 0, st)); say("null-dst", cudaMemcpyBatchAsync(0, Sx,
      z, 2, a, ix, 1, st)); say("null-src", cudaMemcpyBatchAsync(D, 0, z, 2, a, ix, 1, st));
      say("null-sizes", cudaMemcpyBatchAsync(D, Sx, 0, 2, a, ix, 1, st)); say("null-attrs",
      cudaMemcpyBatchAsync(D, Sx, z, 2, 0, ix, 1, st)); say("null-idx", cudaMemcpyBatchAsync(D, Sx,
      z, 2, a, 0, 1, st)); ix[0] = 1; say("first-idx-1", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1,
      st)); ix[0] = 0; ix[1] = 0; say("idx-not-rising", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 2,
      st)); ix[1] = 9; say("idx-past", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 2, st)); ix[1] = 1;
      a[0].srcAccessOrder = 0; say("order0", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1, st));
      a[0].srcAccessOrder = 9; say("order9", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1, st));
      a[0].srcAccessOrder = 1; a[0].flags = 8; say("flags8", cudaMemcpyBatchAsync(D, Sx, z, 2, a,
      ix, 1, st)); a[0].flags = 0; z[1] = 0; say("size0", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix,
      1, st)); z[1] = 64; D[1] = 0; say("dst-null-entry", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix,
      1, st)); D[1] = page; say("host-entry", cudaMemcpyBatchAsync(D, Sx, z, 2, a, ix, 1, st));
      say("attrs-more", cudaMemcpyBatchAsync(D, Sx, z, 1, a, ix, 2, st)); }
  SC("batch3d-args") { struct cudaMemcpy3DBatchOp o[2]; memset(o, 0, sizeof o); for (int i = 0; i <
      2; i++) { o[i].src.type = o[i].dst.type = cudaMemcpyOperandTypePointer; o[i].src.op.ptr.ptr =
      dev2; o[i].dst.op.ptr.ptr = dev; o[i].extent = ex(16, 4, 1); o[i].srcAccessOrder = 1; }
      say("ok", cudaMemcpy3DBatchAsync(2, o, 0, st)); say("null-stream", cudaMemcpy3DBatchAsync(2,
      o, 0, 0)); say("flags1", cudaMemcpy3DBatchAsync(2, o, 1, st)); say("count0",
      cudaMemcpy3DBatchAsync(0, o, 0, st)); say("null", cudaMemcpy3DBatchAsync(1, 0, 0, st));
      o[1].src.type = 0; say("type0", cudaMemcpy3DBatchAsync(2, o, 0, st)); o[1].src.type = 1;
      o[1].extent.depth = 0; say("depth0", cudaMemcpy3DBatchAsync(2, o, 0, st)); o[1].extent.depth =
      1; o[1].srcAccessOrder = 0; say("order0", cudaMemcpy3DBatchAsync(2, o, 0, st));
      o[1].srcAccessOrder = 1; o[1].dst.op.ptr.ptr = 0; say("null-dst", cudaMemcpy3DBatchAsync(2, o,
      0, st)); }
  SC("prefetch-device-memory") { struct cudaMemLocation l = {cudaMemLocationTypeDevice, 0}; say("r",
      cudaMemPrefetchAsync(dev, 4096, l, 0, st)); say("pageable", cudaMemPrefetchAsync(page, 4096,
      l, 0, st)); say("advise", cudaMemAdvise(dev, 4096, cudaMemAdviseSetReadMostly, l)); int v = 7;
      say("range", cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, dev, 4096));
      say("attach", cudaStreamAttachMemAsync(st, dev, 0, cudaMemAttachSingle)); void *d = dev;
      size_t z = 4096, ix = 0; say("batch", cudaMemPrefetchBatchAsync(&d, &z, 1, &l, &ix, 1, 0,
      st)); say("discard", cudaMemDiscardBatchAsync(&d, &z, 1, 0, st)); say("discard-prefetch",
      cudaMemDiscardAndPrefetchBatchAsync(&d, &z, 1, &l, &ix, 1, 0, st)); } }
static unsigned el(struct cudaChannelFormatDesc c) { return (c.x + c.y + c.z + c.w) / 8; }
GROUP(copy_arrays) { S(); cudaArray_t a = arr(8, 1, 64, 16, 0, 0), b = arr(8, 1, 64, 16, 0, 0), c =
    arr(32, 2, 64, 16, 0, 0), v = arr(8, 1, 64, 0, 0, 0), d3 = arr(8, 1, 16, 8, 4, 0), ly = arr(8,
    1, 16, 8, 4, cudaArrayLayered); for (int i = 0; i < 4096; i++) page[i] = i * 7 + 1;
  for (int k = -1; k <= 5; k++) { SC("to-kind%d", k) { say("host", cudaMemcpy2DToArray(a, 0, 0,
      page, 64, 64, 16, k)); say("device", cudaMemcpy2DToArray(a, 0, 0, dev, 64, 64, 16, k));
      say("host-async", cudaMemcpy2DToArrayAsync(a, 0, 0, page, 64, 64, 16, k, st));
      say("device-async", cudaMemcpy2DToArrayAsync(a, 0, 0, dev, 64, 64, 16, k, st)); say("sync",
      cudaStreamSynchronize(st)); } SC("from-kind%d", k) { say("host", cudaMemcpy2DFromArray(page +
      8192, 64, a, 0, 0, 64, 16, k)); say("device", cudaMemcpy2DFromArray(dev, 64, a, 0, 0, 64, 16,
      k)); say("host-async", cudaMemcpy2DFromArrayAsync(page + 8192, 64, a, 0, 0, 64, 16, k, st));
      say("device-async", cudaMemcpy2DFromArrayAsync(dev, 64, a, 0, 0, 64, 16, k, st)); say("sync",
      cudaStreamSynchronize(st)); } SC("array-kind%d", k) say("r", cudaMemcpy2DArrayToArray(a, 0, 0,
      b, 0, 0, 64, 16, k)); SC("linear-kind%d", k) { say("to", cudaMemcpyToArray(a, 0, 0, page,
      1024, k)); say("from", cudaMemcpyFromArray(page + 8192, a, 0, 0, 1024, k)); say("a2a",
      cudaMemcpyArrayToArray(a, 0, 0, b, 0, 0, 1024, k)); say("to-device", cudaMemcpyToArray(a, 0,
      0, dev, 1024, k)); } }
  static const struct { const char *n; size_t x, y, p, w, h; } T[] = {{"whole", 0, 0, 64, 64, 16},
      {"x-past", 1, 0, 64, 64, 16}, {"y-past", 0, 1, 64, 64, 16}, {"inner", 5, 3, 64, 20, 10},
      {"width-0", 0, 0, 64, 0, 16}, {"height-0", 0, 0, 64, 64, 0}, {"pitch-short", 0, 0, 63, 64,
      16}, {"pitch-0", 0, 0, 0, 64, 16}, {"pitch-0-height1", 0, 0, 0, 64, 1},
      {"pitch-short-height1", 0, 0, 8, 64, 1}, {"x-huge", ~0ull, 0, 64, 64, 16}, {"y-huge", 0, 1ull
      << 40, 64, 64, 16}, {"height-huge", 0, 0, 64, 64, 1ull << 40}, {"x-at-end-width0", 64, 0, 64,
      0, 1}};
  for (int i = 0; i < N(T); i++)
  SC("box-%s", T[i].n) { say("to", cudaMemcpy2DToArray(a, T[i].x, T[i].y, page, T[i].p, T[i].w,
      T[i].h, 1)); memset(page + 8192, 0, 4096); say("from", cudaMemcpy2DFromArray(page + 8192,
      T[i].p, a, T[i].x, T[i].y, T[i].w, T[i].h, 2)); OUT(" %016llx", fnv(page + 8192, 4096));
      say("a2a", cudaMemcpy2DArrayToArray(a, T[i].x, T[i].y, b, 0, 0, T[i].w, T[i].h, 3));
      say("src", cudaMemcpy2DArrayToArray(b, 0, 0, a, T[i].x, T[i].y, T[i].w, T[i].h, 3));
      say("into-1d", cudaMemcpy2DToArray(v, T[i].x, T[i].y, page, T[i].p, T[i].w, T[i].h, 1)); }
  static const size_t LC[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 0, 64}, {0, 0, 65}, {0, 0, 100}, {0, 0,
      128}, {10, 0, 54}, {10, 0, 55}, {10, 2, 200}, {63, 15, 1}, {63, 15, 2}, {0, 0, 1024}, {0, 0,
      1025}, {64, 0, 1}, {0, 16, 1}, {3, 0, 1021}}; for (int i = 0; i < N(LC); i++)
  SC("linear-%zu-%zu-%zu", LC[i][0], LC[i][1], LC[i][2]) { cudaMemset(dev, 0, 4096);
      cudaMemcpy2DToArray(a, 0, 0, dev, 64, 64, 16, 3); say("to", cudaMemcpyToArray(a, LC[i][0],
      LC[i][1], page, LC[i][2], 1)); memset(page + 8192, 0, 4096); say("whole",
      cudaMemcpy2DFromArray(page + 8192, 64, a, 0, 0, 64, 16, 2)); OUT(" %016llx", fnv(page + 8192,
      1024)); memset(page + 8192, 0, 4096); say("from", cudaMemcpyFromArray(page + 8192, a,
      LC[i][0], LC[i][1], LC[i][2], 2)); OUT(" %016llx", fnv(page + 8192, 1024)); say("a2a",
      cudaMemcpyArrayToArray(a, LC[i][0], LC[i][1], b, 0, 0, LC[i][2], 3)); say("1d",
      cudaMemcpyToArray(v, LC[i][0], LC[i][1], page, LC[i][2], 1)); say("async",
      cudaMemcpyToArrayAsync(a, LC[i][0], LC[i][1], page, LC[i][2], 1, st)); say("from-async",
      cudaMemcpyFromArrayAsync(page + 8192, a, LC[i][0], LC[i][1], LC[i][2], 2, st));
      cudaStreamSynchronize(st); }
  SC("element-sizes") { say("float-inner-odd-x", cudaMemcpy2DToArray(c, 2, 0, page, 256, 16, 1, 1));
      say("float-odd-width", cudaMemcpy2DToArray(c, 0, 0, page, 256, 17, 1, 1)); say("u8-to-float",
      cudaMemcpy2DArrayToArray(c, 0, 0, a, 0, 0, 64, 16, 3)); say("float-to-u8",
      cudaMemcpy2DArrayToArray(a, 0, 0, c, 0, 0, 64, 16, 3)); say("2d-to-3d",
      cudaMemcpy2DToArray(d3, 0, 0, page, 64, 16, 8, 1)); say("2d-to-layered",
      cudaMemcpy2DToArray(ly, 0, 0, page, 64, 16, 8, 1)); }
  SC("null-array") { say("to", cudaMemcpy2DToArray(0, 0, 0, page, 64, 64, 16, 1)); }
  SC("null-array-from") say("r", cudaMemcpy2DFromArray(page, 64, 0, 0, 0, 64, 16, 2));
  SC("null-host") say("to", cudaMemcpy2DToArray(a, 0, 0, 0, 64, 64, 16, 1));
  SC("null-host-from") say("r", cudaMemcpy2DFromArray(0, 64, a, 0, 0, 64, 16, 2));
  SC("freed-array") { cudaArray_t f = arr(8, 1, 64, 16, 0, 0); cudaFreeArray(f); say("r",
      cudaMemcpy2DToArray(f, 0, 0, page, 64, 64, 16, 1)); }
  SC("junk-array") say("r", cudaMemcpy2DToArray(JUNK, 0, 0, page, 64, 64, 16, 1));
  SC("device-pointer-as-array") say("r", cudaMemcpy2DToArray((void *)dev, 0, 0, page, 64, 64, 16,
      1));
  // 3D: which of src/dst is array or pointer, and every way of being wrong
  static const char *const sd[] = {"host", "device", "array3d", "layered", "none", "both"}; for (int
      k = 0; k <= 5; k++) for (int s = 0; s < 6; s++) for (int d = 0; d < 6; d++)
  SC("3d-kind%d-%s-to-%s", k, sd[s], sd[d]) { struct cudaMemcpy3DParms m; memset(&m, 0, sizeof m);
      if (s < 2 || s == 5) m.srcPtr = (struct cudaPitchedPtr){s == 1 ? dev : page, 16, 16, 8}; if (s
      == 2 || s == 5) m.srcArray = d3; if (s == 3) m.srcArray = ly; if (d < 2 || d == 5) m.dstPtr =
      (struct cudaPitchedPtr){d == 1 ? dev2 : page + 8192, 16, 16, 8}; if (d == 2 || d == 5)
      m.dstArray = d3; if (d == 3) m.dstArray = ly; m.extent = ex(8, 4, 2); m.kind = k; say("r",
      cudaMemcpy3D(&m)); say("async", cudaMemcpy3DAsync(&m, st)); say("sync",
      cudaStreamSynchronize(st)); }
  static const struct { const char *n; int f; size_t v; } W[] = {{"plain", 0, 0}, {"extent-width-0",
      1, 0}, {"extent-height-0", 2, 0}, {"extent-depth-0", 3, 0}, {"extent-width-17", 1, 17},
      {"extent-height-9", 2, 9}, {"extent-depth-5", 3, 5}, {"pitch-15", 4, 15}, {"pitch-7", 4, 7},
      {"pitch-0", 4, 0}, {"ysize-1", 5, 1}, {"ysize-0", 5, 0}, {"xsize-1", 6, 1}, {"srcpos-x-1", 7,
      1}, {"srcpos-z-3", 8, 3}, {"dstpos-x-9", 9, 9}, {"dstpos-z-3", 10, 3}, {"dstpos-y-huge", 11,
      1ull << 40}, {"kind-4", 12, 4}, {"kind-0", 12, 0}, {"kind-2", 12, 2}, {"kind-7", 12, 7}};
  for (int t = 0; t < 3; t++) for (int i = 0; i < N(W); i++)
  SC("3d-%s-%s", t == 0 ? "host-to-array" : t == 1 ? "device-to-float-array" : "device-to-device",
      W[i].n) { cudaArray_t fa = arr(32, 2, 16, 8, 4, 0); struct cudaMemcpy3DParms m; memset(&m, 0,
      sizeof m); m.srcPtr = (struct cudaPitchedPtr){t ? dev : page, t == 1 ? 64 : 16, 16, 8}; if (t
      == 0) m.dstArray = d3; if (t == 1) m.dstArray = fa; if (t == 2) m.dstPtr = (struct
      cudaPitchedPtr){dev2, 32, 16, 8}; m.extent = ex(8, 4, 2); m.kind = t ? 3 : 1; size_t x =
      W[i].v; switch (W[i].f) { case 1: m.extent.width = x; break; case 2: m.extent.height = x;
      break; case 3: m.extent.depth = x; break; case 4: m.srcPtr.pitch = x; break; case 5:
      m.srcPtr.ysize = x; break; case 6: m.srcPtr.xsize = x; break; case 7: m.srcPos.x = x; break;
      case 8: m.srcPos.z = x; break; case 9: m.dstPos.x = x; break; case 10: m.dstPos.z = x; break;
      case 11: m.dstPos.y = x; break; case 12: m.kind = x; }
    cudaMemset(dev2, 0, 65536); for (int q = 0; q < 4096; q++) page[q] = q * 7 + 1; cudaMemcpy(dev,
        page, 4096, 1); say("r", cudaMemcpy3D(&m)); memset(page + 8192, 0, 4096); struct
        cudaMemcpy3DParms o; memset(&o, 0, sizeof o); o.dstPtr = (struct cudaPitchedPtr){page +
        8192, t == 1 ? 64 : 16, 16, 8}; if (t < 2) { o.srcArray = t ? fa : d3; o.extent = ex(16, 8,
        4); o.kind = 2; cudaMemcpy3D(&o); } else cudaMemcpy(page + 8192, dev2, 4096, 2);
        OUT(" %016llx", fnv(page + 8192, 4096)); say("async", cudaMemcpy3DAsync(&m, st));
        cudaStreamSynchronize(st); cudaFreeArray(fa); if (t == 0) { struct cudaMemcpy3DParms z;
        memset(&z, 0, sizeof z); z.srcPtr = (struct cudaPitchedPtr){dev2, 16, 16, 8}; z.dstArray =
        d3; z.extent = ex(16, 8, 4); z.kind = 3; cudaMemcpy3D(&z); cudaGetLastError(); } }
  SC("3d-null") say("r", cudaMemcpy3D(0));
  SC("3d-peer") { struct cudaMemcpy3DPeerParms m; memset(&m, 0, sizeof m); m.srcPtr = (struct
      cudaPitchedPtr){dev, 16, 16, 8}; m.dstArray = d3; m.extent = ex(8, 4, 2); say("ok",
      cudaMemcpy3DPeer(&m)); m.dstDevice = 9; say("dst9", cudaMemcpy3DPeer(&m)); m.dstDevice = 0;
      m.srcDevice = -1; say("src-1", cudaMemcpy3DPeer(&m)); m.srcDevice = 0; m.srcPtr.ptr = 0;
      say("null-src", cudaMemcpy3DPeer(&m)); say("null", cudaMemcpy3DPeer(0)); } }

// ---- arrays ----
static void info(cudaArray_t a) { struct cudaChannelFormatDesc c = ch(-7, -7, -7, -7, -7); struct
    cudaExtent e = ex(77, 77, 77); unsigned f = 77; say("info", cudaArrayGetInfo(&c, &e, &f, a));
    OUT(" [%d %d %d %d k%d %zux%zux%zu f%x]", c.x, c.y, c.z, c.w, c.f, e.width, e.height, e.depth,
    f); struct cudaChannelFormatDesc g = ch(-7, -7, -7, -7, -7); cudaError_t r =
    cudaGetChannelDesc(&g, a); if (r || memcmp(&g, &c, sizeof c)) { say("desc", r);
    OUT(" [%d %d %d %d k%d]", g.x, g.y, g.z, g.w, g.f); } }
GROUP(channels) { S(); for (int f = -1; f <= 33; f++) { SC("create-%d", f) { struct
    cudaChannelFormatDesc c = cudaCreateChannelDesc(8, 16, 24, 32, f); OUT("%d %d %d %d k%d", c.x,
    c.y, c.z, c.w, c.f); }
    static const int B[][4] = {{8, 0, 0, 0}, {16, 0, 0, 0}, {32, 0, 0, 0}, {8, 8, 0, 0}, {16, 16, 0,
        0}, {32, 32, 0, 0}, {8, 8, 8, 0}, {16, 16, 16, 0}, {32, 32, 32, 0}, {8, 8, 8, 8}, {16, 16,
        16, 16}, {32, 32, 32, 32}, {0, 0, 0, 0}, {4, 0, 0, 0}, {24, 0, 0, 0}, {64, 0, 0, 0}, {8, 16,
        0, 0}, {0, 8, 0, 0}, {8, 0, 8, 0}, {10, 10, 10, 2}, {-8, 0, 0, 0}, {16, 16, 0, 16}, {8, 8,
        8, 16}, {5, 6, 5, 0}};
    for (int i = 0; i < N(B); i++) SC("kind%d-%d-%d-%d-%d", f, B[i][0], B[i][1], B[i][2], B[i][3]) {
        struct cudaChannelFormatDesc c = {B[i][0], B[i][1], B[i][2], B[i][3], f}; cudaArray_t a =
        JUNK; if (!say("2d", cudaMallocArray(&a, &c, 16, 8, 0))) { info(a); cudaFreeArray(a); } else
        OUT(" %s", Z(a)); a = JUNK; if (!say("surface", cudaMallocArray(&a, &c, 16, 8,
        cudaArraySurfaceLoadStore))) { info(a); cudaFreeArray(a); } a = JUNK; if (!say("1d",
        cudaMallocArray(&a, &c, 16, 0, 0))) cudaFreeArray(a); a = JUNK; if (!say("3d",
        cudaMalloc3DArray(&a, &c, ex(16, 8, 4), 0))) cudaFreeArray(a); cudaMipmappedArray_t m =
        JUNK; if (!say("mipmapped", cudaMallocMipmappedArray(&m, &c, ex(16, 8, 0), 2, 0)))
        cudaFreeMipmappedArray(m); } } }
GROUP(arrays) { S(); struct cudaChannelFormatDesc c = ch(32, 0, 0, 0, 2), g; struct cudaExtent e;
    unsigned f; cudaArray_t a; cudaMipmappedArray_t m; struct cudaArrayMemoryRequirements q; struct
    cudaArraySparseProperties sp;
  static const size_t X[][3] = {{0, 0, 0}, {1, 0, 0}, {64, 0, 0}, {64, 64, 0}, {64, 64, 6}, {64, 64,
      12}, {64, 0, 6}, {0, 64, 0}, {0, 0, 6}, {64, 32, 6}, {1, 1, 1}, {131072, 0, 0}, {131073, 0,
      0}, {131072, 65536, 0}, {131073, 1, 0}, {16, 65537, 0}, {16384, 16, 16}, {16385, 16, 16}, {16,
      16, 16385}, {32768, 0, 2048}, {64, 64, 2049}, {~0ull, 0, 0}, {1ull << 32, 0, 0}, {1ull << 32 |
      64, 64, 0}};
  for (unsigned fl = 0; fl < 0x210; fl++) { if (fl > 0x1f && fl != 0x20 && fl != 0x21 && fl != 0x40
      && fl != 0x41 && fl != 0x42 && fl != 0x80 && fl != 0x81 && fl != 0x82 && fl != 0xc0 && fl !=
      0x100 && fl != 0x200) continue; SC("flags-%x", fl) { a = JUNK; if (!say("malloc",
      cudaMallocArray(&a, &c, 64, 64, fl))) { info(a); cudaFreeArray(a); } static const size_t
      Y[][3] = {{64, 0, 0}, {64, 64, 0}, {64, 64, 6}, {64, 64, 12}, {64, 64, 5}, {64, 0, 6}, {64,
      32, 6}}; for (int i = 0; i < N(Y); i++) { a = JUNK; if (!SAY(cudaMalloc3DArray(&a, &c,
      ex(Y[i][0], Y[i][1], Y[i][2]), fl), "%zux%zux%zu", Y[i][0], Y[i][1], Y[i][2])) { info(a);
      cudaFreeArray(a); } else OUT(" %s", Z(a)); m = JUNK; if (!say("mip",
      cudaMallocMipmappedArray(&m, &c, ex(Y[i][0], Y[i][1], Y[i][2]), 3, fl)))
      cudaFreeMipmappedArray(m); } } }
  for (int i = 0; i < N(X); i++)
  EACH(fl, 0, 1, 2, 3, 4, 5, 8)
  SC("extent-%zx-%zx-%zx-flags%x", X[i][0], X[i][1], X[i][2], *fl) { a = JUNK; if (X[i][0] == 131072
      && X[i][1] == 65536) { OUT("skipped"); continue; } if (!say("3d", cudaMalloc3DArray(&a, &c,
      ex(X[i][0], X[i][1], X[i][2]), *fl))) { info(a); cudaFreeArray(a); } else OUT(" %s", Z(a)); if
      (!X[i][2]) { a = JUNK; if (!say("2d", cudaMallocArray(&a, &c, X[i][0], X[i][1], *fl)))
      cudaFreeArray(a); } EACH(l, 0, 1, 2, 7, 17, 100) { m = JUNK; if
      (!SAY(cudaMallocMipmappedArray(&m, &c, ex(X[i][0], X[i][1], X[i][2]), *l, *fl), "levels%d",
      *l)) { int k = 0; while (k < 40 && !cudaGetMipmappedArrayLevel(&a, m, k)) k++;
      cudaGetLastError(); OUT(" %d", k); cudaFreeMipmappedArray(m); } } }
  SC("nulls-malloc") { say("out", cudaMallocArray(0, &c, 4, 4, 0)); say("3d-out",
      cudaMalloc3DArray(0, &c, ex(4, 4, 4), 0)); say("mip-out", cudaMallocMipmappedArray(0, &c,
      ex(4, 4, 0), 1, 0)); } SC("null-desc") say("r", cudaMallocArray(&a, 0, 4, 4, 0));
  SC("null-desc-3d") say("r", cudaMalloc3DArray(&a, 0, ex(4, 4, 4), 0));
  SC("null-desc-mip") say("r", cudaMallocMipmappedArray(&m, 0, ex(4, 4, 0), 1, 0));
  SC("info-nulls") { a = arr(32, 2, 8, 8, 0, 0); say("desc", cudaArrayGetInfo(0, &e, &f, a));
      say("extent", cudaArrayGetInfo(&g, 0, &f, a)); say("flags", cudaArrayGetInfo(&g, &e, 0, a));
      say("all", cudaArrayGetInfo(0, 0, 0, a)); say("channel-out", cudaGetChannelDesc(0, a)); }
  SC("info-null-array") { g = ch(-7, -7, -7, -7, -7); e = ex(77, 77, 77); f = 77; say("r",
      cudaArrayGetInfo(&g, &e, &f, 0)); OUT(" %d %zu %x", g.x, e.width, f); }
  SC("channel-null-array") { g = ch(-7, -7, -7, -7, -7); say("r", cudaGetChannelDesc(&g, 0));
      OUT(" %d", g.x); } SC("info-junk") say("r", cudaArrayGetInfo(&g, &e, &f, JUNK));
  SC("channel-junk") say("r", cudaGetChannelDesc(&g, JUNK));
  SC("info-freed") { a = arr(32, 2, 8, 8, 0, 0); cudaFreeArray(a); say("r", cudaArrayGetInfo(&g, &e,
      &f, a)); } SC("free-twice") { a = arr(32, 2, 8, 8, 0, 0); say("1", cudaFreeArray(a)); say("2",
      cudaFreeArray(a)); } SC("free-junk") say("r", cudaFreeArray(JUNK));
  SC("free-mip-junk") say("r", cudaFreeMipmappedArray(JUNK));
  SC("free-device-pointer") say("r", cudaFreeArray((void *)dev));
  SC("free-array-as-pointer") say("r", cudaFree(arr(32, 2, 8, 8, 0, 0)));
  SC("mip-level-arrays") { MUSTR(cudaMallocMipmappedArray(&m, &c, ex(64, 32, 0), 4, 0)); for (int i
      = 0; i < 6; i++) { a = JUNK; SAY(cudaGetMipmappedArrayLevel(&a, m, i), "level%d", i);
      OUT(" %s", Z(a)); if (a && a != JUNK) info(a); } cudaArray_t b; cudaGetMipmappedArrayLevel(&a,
      m, 0); cudaGetMipmappedArrayLevel(&b, m, 0); OUT(" same %d", a == b); say("null-out",
      cudaGetMipmappedArrayLevel(0, m, 0)); say("max", cudaGetMipmappedArrayLevel(&a, m, ~0u)); }
  SC("mip-level-free") { MUSTR(cudaMallocMipmappedArray(&m, &c, ex(64, 32, 0), 4, 0));
      cudaGetMipmappedArrayLevel(&a, m, 1); say("level", cudaFreeArray(a)); say("again",
      cudaFreeArray(a)); } SC("mip-level-null") say("r", cudaGetMipmappedArrayLevel(&a, 0, 0));
  SC("mip-level-junk") say("r", cudaGetMipmappedArrayLevel(&a, JUNK, 0));
  SC("mip-free-twice") { MUSTR(cudaMallocMipmappedArray(&m, &c, ex(64, 32, 0), 4, 0)); say("1",
      cudaFreeMipmappedArray(m)); say("2", cudaFreeMipmappedArray(m)); }
  SC("mip-as-array") { MUSTR(cudaMallocMipmappedArray(&m, &c, ex(64, 32, 0), 4, 0)); say("r",
      cudaFreeArray((void *)m)); }
  SC("array-as-mip") say("r", cudaFreeMipmappedArray((void *)arr(32, 2, 8, 8, 0, 0)));
  static const int PK[][2] = {{32, 2}, {8, 4}, {8, 1}}; for (int i = 0; i < 3; i++)
  SC("plane-kind%d", PK[i][1]) { struct cudaChannelFormatDesc nv = PK[i][1] == 4 ? ch(8, 8, 8, 0, 4)
      : ch(PK[i][0], 0, 0, 0, PK[i][1]); a = 0; if (say("malloc", cudaMallocArray(&a, &nv, 64, 64,
      0))) continue; info(a); EACH(p, 0, 1, 2, -1) { cudaArray_t b = JUNK; SAY(cudaArrayGetPlane(&b,
      a, *p), "plane%d", *p); OUT(" %s", Z(b)); if (b && b != JUNK) info(b); } say("null-out",
      cudaArrayGetPlane(0, a, 0)); }
  SC("plane-null") say("r", cudaArrayGetPlane(&a, 0, 0));
  SC("plane-junk") say("r", cudaArrayGetPlane(&a, JUNK, 0));
  EACH(fl, 0, 0x40, 0x80, 0x82, 0x42)
  SC("requirements-flags%x", *fl) { static const size_t Y[][3] = {{64, 0, 0}, {64, 64, 0}, {256,
      256, 0}, {64, 64, 6}, {1024, 1000, 0}}; for (int i = 0; i < N(Y); i++) { a = 0; if
      (!SAY(cudaMalloc3DArray(&a, &c, ex(Y[i][0], Y[i][1], Y[i][2]), *fl), "%zux%zux%zu", Y[i][0],
      Y[i][1], Y[i][2])) { memset(&q, 0x55, sizeof q); say("req", cudaArrayGetMemoryRequirements(&q,
      a, 0)); OUT(" %zu %zu", q.size, q.alignment); memset(&sp, 0x55, sizeof sp); say("sparse",
      cudaArrayGetSparseProperties(&sp, a)); OUT(" %ux%ux%u tail %u %llu f%x", sp.tileExtent.width,
      sp.tileExtent.height, sp.tileExtent.depth, sp.miptailFirstLevel, sp.miptailSize, sp.flags); }
      m = 0; if (!say("mip", cudaMallocMipmappedArray(&m, &c, ex(Y[i][0], Y[i][1], Y[i][2]), 3,
      *fl))) { memset(&q, 0x55, sizeof q); say("req", cudaMipmappedArrayGetMemoryRequirements(&q, m,
      0)); OUT(" %zu %zu", q.size, q.alignment); memset(&sp, 0x55, sizeof sp); say("sparse",
      cudaMipmappedArrayGetSparseProperties(&sp, m)); OUT(" %ux%ux%u tail %u %llu f%x",
      sp.tileExtent.width, sp.tileExtent.height, sp.tileExtent.depth, sp.miptailFirstLevel,
      sp.miptailSize, sp.flags); } } }
  SC("requirements-nulls") { a = arr(32, 2, 64, 64, 0, 0x80); say("out",
      cudaArrayGetMemoryRequirements(0, a, 0)); say("device9", cudaArrayGetMemoryRequirements(&q, a,
      9)); say("device-1", cudaArrayGetMemoryRequirements(&q, a, -1)); say("sparse-out",
      cudaArrayGetSparseProperties(0, a)); }
  SC("requirements-null-array") say("r", cudaArrayGetMemoryRequirements(&q, 0, 0));
  SC("requirements-null-mip") say("r", cudaMipmappedArrayGetMemoryRequirements(&q, 0, 0));
  SC("sparse-null-array") say("r", cudaArrayGetSparseProperties(&sp, 0));
  SC("sparse-null-mip") say("r", cudaMipmappedArrayGetSparseProperties(&sp, 0));
  SC("copy-into-deferred") { a = arr(32, 2, 64, 64, 0, 0x80); say("r", cudaMemcpy2DToArray(a, 0, 0,
      page, 256, 256, 64, 1)); }
  SC("copy-into-sparse") { a = arr(32, 2, 64, 64, 0, 0x40); say("r", cudaMemcpy2DToArray(a, 0, 0,
      page, 256, 256, 64, 1)); say("back", cudaMemcpy2DFromArray(page, 256, a, 0, 0, 256, 64, 2)); }
      }

// ---- textures and surfaces ----
static struct cudaResourceDesc res(int t, void *h) { struct cudaResourceDesc r; memset(&r, 0, sizeof
    r); r.resType = t; if (t == 0) r.res.array.array = h; if (t == 1) r.res.mipmap.mipmap = h; if (t
    == 2) { r.res.linear.devPtr = h; r.res.linear.desc = ch(32, 0, 0, 0, 2);
    r.res.linear.sizeInBytes = 65536; } if (t == 3) { r.res.pitch2D.devPtr = h; r.res.pitch2D.desc =
    ch(32, 0, 0, 0, 2); r.res.pitch2D.width = 64; r.res.pitch2D.height = 32;
    r.res.pitch2D.pitchInBytes = 512; } return r; }
static void show_res(struct cudaResourceDesc *r, void *h) { OUT(" [type %d flags %x ", r->resType,
    r->flags); if (r->resType < 2) OUT("%s", r->res.array.array == h ? "same" : "other"); if
    (r->resType == 2) OUT("%s %d %d %d %d k%d %zu", r->res.linear.devPtr == h ? "same" : "other",
    r->res.linear.desc.x, r->res.linear.desc.y, r->res.linear.desc.z, r->res.linear.desc.w,
    r->res.linear.desc.f, r->res.linear.sizeInBytes); if (r->resType == 3)
    OUT("%s %d %d %d %d k%d %zux%zu %zu", r->res.pitch2D.devPtr == h ? "same" : "other",
    r->res.pitch2D.desc.x, r->res.pitch2D.desc.y, r->res.pitch2D.desc.z, r->res.pitch2D.desc.w,
    r->res.pitch2D.desc.f, r->res.pitch2D.width, r->res.pitch2D.height,
    r->res.pitch2D.pitchInBytes); OUT("]"); }
static void show_tex(struct cudaTextureDesc *t) {
    OUT(" [a%d %d %d f%d r%d s%d b%g %g %g %g n%d an%u m%d bias%g %g %g dto%d sc%d]",
    t->addressMode[0], t->addressMode[1], t->addressMode[2], t->filterMode, t->readMode, t->sRGB,
    t->borderColor[0], t->borderColor[1], t->borderColor[2], t->borderColor[3], t->normalizedCoords,
    t->maxAnisotropy, t->mipmapFilterMode, t->mipmapLevelBias, t->minMipmapLevelClamp,
    t->maxMipmapLevelClamp, t->disableTrilinearOptimization, t->seamlessCubemap); }
static void show_view(struct cudaResourceViewDesc *v) { OUT(" [f%d %zux%zux%zu m%u-%u l%u-%u]",
    v->format, v->width, v->height, v->depth, v->firstMipmapLevel, v->lastMipmapLevel,
    v->firstLayer, v->lastLayer); }
// the border colour, and the view of a texture made without one, come back as whatever lay there
static void tex_try(const char *n, struct cudaResourceDesc r, struct cudaTextureDesc t, struct
    cudaResourceViewDesc *v, void *h) { cudaTextureObject_t o = 77; if (say(n,
    cudaCreateTextureObject(&o, &r, &t, v))) { if (o != 77) OUT("(out %s)", o ? "set" : "0");
    return; } struct cudaResourceDesc r2; struct cudaTextureDesc t2; struct cudaResourceViewDesc v2;
    memset(&r2, 0x55, sizeof r2); memset(&t2, 0, sizeof t2); memset(&v2, 0, sizeof v2); cudaError_t
    e = cudaGetTextureObjectResourceDesc(&r2, o); if (e) say("res", e); else show_res(&r2, h); e =
    cudaGetTextureObjectTextureDesc(&t2, o); if (e) say("tex", e); else { if (t.borderColor[0])
    OUT(" border %s", memcmp(t.borderColor, t2.borderColor, 16) ? "lost" : "kept");
    memset(t2.borderColor, 0, sizeof t2.borderColor); show_tex(&t2); } e =
    cudaGetTextureObjectResourceViewDesc(&v2, o); if (e) say("view", e); else if (v && r.resType <
    2) show_view(&v2); e = cudaDestroyTextureObject(o); if (e) say("destroy", e); }
GROUP(textures) { S(); struct cudaTextureDesc T, t; memset(&T, 0, sizeof T); struct
    cudaResourceViewDesc v; struct cudaChannelFormatDesc c = ch(32, 0, 0, 0, 2); cudaArray_t a =
    arr(32, 2, 64, 32, 0, 0), u8 = arr(8, 1, 64, 32, 0, 0), i32 = arr(32, 0, 64, 32, 0, 0), d3 =
    arr(32, 2, 16, 16, 8, 0), ly = arr(32, 2, 64, 32, 6, cudaArrayLayered), cu = arr(32, 2, 32, 32,
    6, cudaArrayCubemap), d1 = arr(32, 2, 64, 0, 0, 0), sf = arr(32, 2, 64, 32, 0,
    cudaArraySurfaceLoadStore), tg = arr(32, 2, 64, 32, 0, cudaArrayTextureGather);
    cudaMipmappedArray_t m; MUSTR(cudaMallocMipmappedArray(&m, &c, ex(64, 32, 0), 4, 0));
    cudaTextureObject_t o = 0; struct cudaResourceDesc r;
  for (int k = -1; k <= 6; k++)
  SC("resource-type-%d", k) { r = res(k, k == 0 ? (void *)a : k == 1 ? (void *)m : dev); r.resType =
      k; tex_try("r", r, T, 0, r.res.array.array); }
  static const char *const an[] = {"f32", "u8", "i32", "3d", "layered", "cubemap", "1d", "surface",
      "gather"}; cudaArray_t as[] = {a, u8, i32, d3, ly, cu, d1, sf, tg}; for (int i = 0; i < 9;
      i++) for (int rm = 0; rm < 3; rm++) for (int fm = 0; fm < 3; fm++)
  SC("array-%s-read%d-filter%d", an[i], rm, fm) for (int n = 0; n < 2; n++) { t = T; t.readMode =
      rm; t.filterMode = fm; t.normalizedCoords = n; tex_try(n ? "normalized" : "plain", res(0,
      as[i]), t, 0, as[i]); }
  for (int k = 0; k < 4; k++) for (int am = -1; am <= 4; am++)
  SC("type%d-address%d", k, am) for (int n = 0; n < 2; n++) { t = T; t.addressMode[0] =
      t.addressMode[1] = t.addressMode[2] = am; t.normalizedCoords = n; void *h = k == 0 ? (void *)a
      : k == 1 ? (void *)m : dev; tex_try(n ? "normalized" : "plain", res(k, h), t, 0, h); }
  for (int k = 0; k < 4; k++) for (int x = 0; x < 12; x++)
  SC("type%d-field%d", k, x) { t = T; void *h = k == 0 ? (void *)a : k == 1 ? (void *)m : dev;
      switch (x) { case 0: t.sRGB = 1; break; case 1: t.borderColor[0] = 1.5f; t.borderColor[3] =
      -2; break; case 2: t.maxAnisotropy = 16; break; case 3: t.maxAnisotropy = 17; break; case 4:
      t.mipmapFilterMode = 1; break; case 5: t.mipmapFilterMode = 2; break; case 6:
      t.mipmapLevelBias = 3.25f; break; case 7: t.minMipmapLevelClamp = 1; t.maxMipmapLevelClamp =
      2; break; case 8: t.minMipmapLevelClamp = 5; t.maxMipmapLevelClamp = -1; break; case 9:
      t.disableTrilinearOptimization = 1; break; case 10: t.seamlessCubemap = 1; break; case 11:
      t.normalizedCoords = 2; } tex_try("r", res(k, h), t, 0, h); }
  static const struct { const char *n; size_t off, size; int bits, kind, ch; } LI[] = {{"plain", 0,
      65536, 32, 2, 1}, {"size-0", 0, 0, 32, 2, 1}, {"size-1", 0, 1, 32, 2, 1}, {"size-4", 0, 4, 32,
      2, 1}, {"offset-1", 1, 64, 8, 1, 1}, {"offset-16", 16, 64, 32, 2, 1}, {"offset-256", 256, 64,
      32, 2, 1}, {"offset-512", 512, 64, 32, 2, 1}, {"past", 0, DEVN + 4, 32, 2, 1}, {"past-far", 0,
      64 * MIB, 32, 2, 1}, {"huge", 0, 1ull << 33, 32, 2, 4}, {"too-wide", 0, 1ull << 35, 8, 1, 1},
      {"u8-normalized", 0, 4096, 8, 1, 4}, {"three", 0, 4096, 8, 1, 3}, {"none", 0, 4096, 32, 3, 1},
      {"bits-0", 0, 4096, 0, 2, 0}, {"f16", 0, 4096, 16, 2, 2}, {"f8", 0, 4096, 8, 2, 1},
      {"bits-64", 0, 4096, 64, 2, 1}, {"unorm8x1", 0, 4096, 8, 5, 1}};
  for (int i = 0; i < N(LI); i++) for (int rm = 0; rm < 2; rm++)
  SC("linear-%s-read%d", LI[i].n, rm) { r = res(2, dev + LI[i].off); int b = LI[i].bits, q =
      LI[i].ch; r.res.linear.desc = ch(q > 0 ? b : 0, q > 1 ? b : 0, q > 2 ? b : 0, q > 3 ? b : 0,
      LI[i].kind); r.res.linear.sizeInBytes = LI[i].size; t = T; t.readMode = rm; tex_try("r", r, t,
      0, dev + LI[i].off); }
  static const struct { const char *n; size_t off, w, h, p; } PI2[] = {{"plain", 0, 64, 32, 512},
      {"w-0", 0, 0, 32, 512}, {"h-0", 0, 64, 0, 512}, {"pitch-0", 0, 64, 32, 0}, {"pitch-short", 0,
      64, 32, 255}, {"pitch-256", 0, 64, 32, 256}, {"pitch-260", 0, 64, 32, 260}, {"pitch-288", 0,
      64, 32, 288}, {"offset-16", 16, 64, 32, 512}, {"offset-256", 256, 64, 32, 512}, {"offset-512",
      512, 64, 32, 512}, {"past", 0, 64, 4096, 512}, {"wide", 0, 131073, 1, 1 << 20}, {"tall", 0, 1,
      65001, 32}, {"pitch-huge", 0, 64, 2, 1 << 21}}; for (int i = 0; i < N(PI2); i++)
  SC("pitch2d-%s", PI2[i].n) { r = res(3, dev + PI2[i].off); r.res.pitch2D.width = PI2[i].w;
      r.res.pitch2D.height = PI2[i].h; r.res.pitch2D.pitchInBytes = PI2[i].p; tex_try("r", r, T, 0,
      dev + PI2[i].off); }
  SC("border-kept") { t = T; t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = 3;
      t.normalizedCoords = 1; t.borderColor[0] = 1.5f; t.borderColor[1] = -2; t.borderColor[2] =
      0.25f; t.borderColor[3] = 1; tex_try("r", res(0, a), t, 0, a); t.addressMode[1] = 0;
      tex_try("x-only", res(0, a), t, 0, a); }
  SC("nulls") { r = res(0, a); say("out", cudaCreateTextureObject(0, &r, &T, 0)); say("res",
      cudaCreateTextureObject(&o, 0, &T, 0)); }
  SC("null-texture-desc") { r = res(0, a); say("tex", cudaCreateTextureObject(&o, &r, 0, 0)); }
  SC("null-texture-desc-linear") { r = res(2, dev); say("tex", cudaCreateTextureObject(&o, &r, 0,
      0)); } SC("null-array") tex_try("r", res(0, 0), T, 0, 0);
  SC("null-mip") tex_try("r", res(1, 0), T, 0, 0);
  SC("null-linear") tex_try("r", res(2, 0), T, 0, 0);
  SC("null-pitch") tex_try("r", res(3, 0), T, 0, 0);
  SC("junk-array") tex_try("r", res(0, JUNK), T, 0, JUNK);
  SC("junk-linear") tex_try("r", res(2, JUNK), T, 0, JUNK);
  SC("host-linear") tex_try("r", res(2, page), T, 0, page);
  SC("pinned-linear") tex_try("r", res(2, pin), T, 0, pin);
  SC("freed-linear") { void *p; cudaMalloc(&p, 4 * MIB); cudaFree(p); tex_try("r", res(2, p), T, 0,
      p); } SC("mip-level-as-array") { cudaArray_t l; cudaGetMipmappedArrayLevel(&l, m, 1);
      tex_try("r", res(0, l), T, 0, l); }
  EACH(f, 1, 2) SC("resource-flags-%x", *f) { r = res(0, a); r.flags = *f; tex_try("r", r, T, 0, a);
      }
  static const struct { const char *n; int kind; int fmt; size_t w, h, d; unsigned m0, m1, l0, l1; }
      V[] = {{"none", 0, 0, 64, 32, 0, 0, 0, 0, 0}, {"float1", 0, 23, 64, 32, 0, 0, 0, 0, 0},
      {"uint1", 0, 17, 64, 32, 0, 0, 0, 0, 0}, {"uchar4", 0, 4, 64, 32, 0, 0, 0, 0, 0}, {"half2", 0,
      21, 64, 32, 0, 0, 0, 0, 0}, {"bc1", 0, 26, 256, 128, 0, 0, 0, 0, 0}, {"float2-wrong-size", 0,
      24, 64, 32, 0, 0, 0, 0, 0}, {"width-wrong", 0, 23, 32, 32, 0, 0, 0, 0, 0}, {"format-99", 0,
      99, 64, 32, 0, 0, 0, 0, 0}, {"zero", 0, 0, 0, 0, 0, 0, 0, 0, 0}, {"mip-all", 1, 23, 64, 32, 0,
      0, 3, 0, 0}, {"mip-past", 1, 23, 64, 32, 0, 0, 4, 0, 0}, {"mip-1-2", 1, 23, 64, 32, 0, 1, 2,
      0, 0}, {"mip-1-2-small", 1, 23, 32, 16, 0, 1, 2, 0, 0}, {"mip-backward", 1, 23, 64, 32, 0, 2,
      1, 0, 0}, {"layer-all", 4, 23, 64, 32, 6, 0, 0, 0, 5}, {"layer-2-3", 4, 23, 64, 32, 6, 0, 0,
      2, 3}, {"layer-past", 4, 23, 64, 32, 6, 0, 0, 0, 6}, {"layer-depth2", 4, 23, 64, 32, 2, 0, 0,
      0, 1}, {"linear", 2, 23, 64, 0, 0, 0, 0, 0, 0}, {"pitch", 3, 23, 64, 32, 0, 0, 0, 0, 0},
      {"3d", 5, 23, 16, 16, 8, 0, 0, 0, 0}};
  for (int i = 0; i < N(V); i++)
  SC("view-%s", V[i].n) { memset(&v, 0, sizeof v); v.format = V[i].fmt; v.width = V[i].w; v.height =
      V[i].h; v.depth = V[i].d; v.firstMipmapLevel = V[i].m0; v.lastMipmapLevel = V[i].m1;
      v.firstLayer = V[i].l0; v.lastLayer = V[i].l1; int k = V[i].kind; void *h = k == 0 ? (void *)a
      : k == 1 ? (void *)m : k == 4 ? (void *)ly : k == 5 ? (void *)d3 : dev; tex_try("r", res(k > 3
      ? 0 : k, h), T, &v, h); } for (int f = 0; f <= 36; f++)
  SC("view-format-%d", f) { memset(&v, 0, sizeof v); v.format = f; v.width = 64; v.height = 32;
      tex_try("r", res(0, a), T, &v, a); }
  SC("destroy") { r = res(0, a); cudaCreateTextureObject(&o, &r, &T, 0); say("zero",
      cudaDestroyTextureObject(0)); say("1", cudaDestroyTextureObject(o)); say("2",
      cudaDestroyTextureObject(o)); }
  SC("destroy-junk") say("r", cudaDestroyTextureObject(0x5e175e17));
  SC("get-junk") { say("res", cudaGetTextureObjectResourceDesc(&r, 12345)); say("tex",
      cudaGetTextureObjectTextureDesc(&t, 12345)); say("view",
      cudaGetTextureObjectResourceViewDesc(&v, 12345)); say("res-0",
      cudaGetTextureObjectResourceDesc(&r, 0)); }
  SC("get-null") { r = res(0, a); cudaCreateTextureObject(&o, &r, &T, 0); say("res",
      cudaGetTextureObjectResourceDesc(0, o)); say("tex", cudaGetTextureObjectTextureDesc(0, o));
      say("view", cudaGetTextureObjectResourceViewDesc(0, o)); }
  SC("get-after-destroy") { r = res(0, a); cudaCreateTextureObject(&o, &r, &T, 0);
      cudaDestroyTextureObject(o); say("res", cudaGetTextureObjectResourceDesc(&r, o)); }
  SC("array-freed-under-texture") { cudaArray_t b = arr(32, 2, 64, 32, 0, 0); r = res(0, b);
      cudaCreateTextureObject(&o, &r, &T, 0); say("free", cudaFreeArray(b)); say("res",
      cudaGetTextureObjectResourceDesc(&r, o)); OUT(" same %d", r.res.array.array == b);
      say("destroy", cudaDestroyTextureObject(o)); }
  SC("handles") { r = res(0, a); cudaTextureObject_t p, q; cudaCreateTextureObject(&p, &r, &T, 0);
      cudaCreateTextureObject(&q, &r, &T, 0); OUT("different %d nonzero %d", p != q, p && q);
      cudaDestroyTextureObject(p); cudaDestroyTextureObject(q); }
  cudaSurfaceObject_t so; SC("surface-nulls") { r = res(0, sf); say("out",
      cudaCreateSurfaceObject(0, &r)); say("desc", cudaCreateSurfaceObject(&so, 0)); } for (int k =
      -1; k <= 5; k++) SC("surface-type-%d", k) { r = res(k, k == 0 ? (void *)sf : k == 1 ? (void
      *)m : dev); r.resType = k; so = 77; if (!say("r", cudaCreateSurfaceObject(&so, &r))) { struct
      cudaResourceDesc q; memset(&q, 0, sizeof q); say("get", cudaGetSurfaceObjectResourceDesc(&q,
      so)); show_res(&q, sf); say("destroy", cudaDestroySurfaceObject(so)); say("again",
      cudaDestroySurfaceObject(so)); } else OUT(" out %llu", so); } for (int i = 0; i < 9; i++)
  SC("surface-array-%s", an[i]) { r = res(0, as[i]); if (!say("r", cudaCreateSurfaceObject(&so,
      &r))) say("destroy", cudaDestroySurfaceObject(so)); }
  SC("surface-null-array") { r = res(0, 0); say("r", cudaCreateSurfaceObject(&so, &r)); }
  SC("surface-junk-array") { r = res(0, JUNK); say("r", cudaCreateSurfaceObject(&so, &r)); }
  SC("surface-destroy-0") say("r", cudaDestroySurfaceObject(0));
  SC("surface-destroy-junk") say("r", cudaDestroySurfaceObject(12345));
  SC("surface-get-junk") say("r", cudaGetSurfaceObjectResourceDesc(&r, 12345));
  SC("surface-get-0") say("r", cudaGetSurfaceObjectResourceDesc(&r, 0));
  SC("texture-as-surface") { r = res(0, sf); cudaCreateTextureObject(&o, &r, &T, 0); say("get",
      cudaGetSurfaceObjectResourceDesc(&r, o)); say("destroy", cudaDestroySurfaceObject(o));
      say("destroy", cudaDestroyTextureObject(o)); }
  SC("surface-flags-1") { r = res(0, sf); r.flags = 1; say("r", cudaCreateSurfaceObject(&so, &r)); }
  SC("surface-mip-level") { cudaMipmappedArray_t sm; MUSTR(cudaMallocMipmappedArray(&sm, &c, ex(64,
      32, 0), 4, cudaArraySurfaceLoadStore)); cudaArray_t l; cudaGetMipmappedArrayLevel(&l, sm, 1);
      r = res(0, l); say("r", cudaCreateSurfaceObject(&so, &r)); } }

// ---- pools ----
GROUP(pools) { S(); void *p; cudaMemPool_t pool, def, q; struct cudaMemPoolProps P, b; memset(&P, 0,
    sizeof P); P.allocType = cudaMemAllocationTypePinned; P.location.type =
    cudaMemLocationTypeDevice; MUSTR(cudaMemPoolCreate(&pool, &P));
    MUSTR(cudaDeviceGetDefaultMemPool(&def, 0));
  static const u64 SZ[] = {0, 1, 511, 512, 513, 65536, 1 << 20, 2 * MIB + 1, 1ull << 40, 1ull << 47,
      ~0ull}; for (int i = 0; i < N(SZ); i++)
  SC("async-size-%llx", SZ[i]) { p = JUNK; say("r", cudaMallocAsync(&p, SZ[i], st)); OUT(" %s",
      Z(p)); if (p && p != JUNK) { OUT(" align %llx", pow2((u64)p, 1 << 9)); say("free",
      cudaFreeAsync(p, st)); } p = JUNK; say("pool", cudaMallocFromPoolAsync(&p, SZ[i], pool, st));
      OUT(" %s", Z(p)); if (p && p != JUNK) say("free", cudaFreeAsync(p, st)); }
  SC("free-async-variants") { cudaMallocAsync(&p, 64, st); say("other-stream", cudaFreeAsync(p,
      nb)); say("again", cudaFreeAsync(p, nb)); cudaMallocAsync(&p, 64, st);
      cudaStreamSynchronize(st); say("sync-free", cudaFree(p)); say("after", cudaFreeAsync(p, st));
      say("host", cudaFreeAsync(pin, st)); say("pageable", cudaFreeAsync(page, st)); say("middle",
      (cudaMallocAsync(&p, 64, st), cudaFreeAsync((char *)p + 8, st))); say("junk",
      cudaFreeAsync(JUNK, st)); }
  SC("free-async-of-malloc") { cudaMalloc(&p, 64); say("r", cudaFreeAsync(p, st)); say("sync",
      cudaStreamSynchronize(st)); struct cudaPointerAttributes at; memset(&at, 0, sizeof at);
      cudaPointerGetAttributes(&at, p); OUT(" type %d", at.type); }
  SC("null-pool") say("r", cudaMallocFromPoolAsync(&p, 64, 0, st));
  SC("junk-pool") say("r", cudaMallocFromPoolAsync(&p, 64, JUNK, st));
  SC("legacy-and-per-thread") { say("1", cudaMallocAsync(&p, 64, cudaStreamLegacy)); say("2",
      cudaFreeAsync(p, cudaStreamPerThread)); say("sync", cudaDeviceSynchronize()); }
  SC("reuse-same-stream") { void *x, *y; cudaMallocAsync(&x, 4096, st); cudaFreeAsync(x, st);
      cudaMallocAsync(&y, 4096, st); OUT("same %d", x == y); cudaFreeAsync(y, st); }
  for (int at = -1; at <= 4; at++)
  SC("create-alloctype-%d", at) { b = P; b.allocType = at; q = JUNK; say("r", cudaMemPoolCreate(&q,
      &b)); OUT(" %s", Z(q)); if (q && q != JUNK && at == 1) say("destroy", cudaMemPoolDestroy(q));
      } for (int lt = -1; lt <= 5; lt++)
  EACH(id, -1, 0, 1) SC("create-location-%d-id%d", lt, *id) { b = P; b.location.type = lt;
      b.location.id = *id; q = JUNK; say("r", cudaMemPoolCreate(&q, &b)); OUT(" %s", Z(q)); if (q &&
      q != JUNK) say("destroy", cudaMemPoolDestroy(q)); }
  EACH(h, 0, 1, 2, 3, 4, 8, 9, 16)
  SC("create-handletypes-%x", *h) { b = P; b.handleTypes = *h; q = JUNK; say("r",
      cudaMemPoolCreate(&q, &b)); OUT(" %s", Z(q)); if (q && q != JUNK) { int fd = -7;
      say("export-fd", cudaMemPoolExportToShareableHandle(&fd, q, 1, 0)); OUT(" %d", fd >= 0);
      say("export-0", cudaMemPoolExportToShareableHandle(&fd, q, 0, 0)); say("export-flags",
      cudaMemPoolExportToShareableHandle(&fd, q, 1, 1)); say("destroy", cudaMemPoolDestroy(q)); } }
  SC("create-usage-max") { b = P; b.usage = 0xffff; q = JUNK; say("usage", cudaMemPoolCreate(&q,
      &b)); b = P; b.maxSize = 4 * MIB; q = JUNK; if (!say("max", cudaMemPoolCreate(&q, &b))) {
      say("small", cudaMallocFromPoolAsync(&p, MIB, q, st)); say("large",
      cudaMallocFromPoolAsync(&p, 64 * MIB, q, st)); } b = P; b.reserved[0] = 1; say("reserved",
      cudaMemPoolCreate(&q, &b)); b = P; b.win32SecurityAttributes = b.reserved; say("win32",
      cudaMemPoolCreate(&q, &b)); }
  SC("create-null") { say("out", cudaMemPoolCreate(0, &P)); }
  SC("create-null-props") say("r", cudaMemPoolCreate(&q, 0));
  SC("destroy-null") say("r", cudaMemPoolDestroy(0));
  SC("destroy-default") say("r", cudaMemPoolDestroy(def));
  SC("destroy-busy") { cudaMemPoolCreate(&q, &P); cudaMallocFromPoolAsync(&p, 64, q, st); say("r",
      cudaMemPoolDestroy(q)); say("memset", cudaMemsetAsync(p, 1, 64, st)); say("free",
      cudaFreeAsync(p, st)); say("sync", cudaStreamSynchronize(st)); }
  SC("destroy-twice") { cudaMemPoolCreate(&q, &P); say("1", cudaMemPoolDestroy(q)); say("2",
      cudaMemPoolDestroy(q)); }
  SC("destroy-junk") say("r", cudaMemPoolDestroy(JUNK));
  for (int a = -1; a <= 10; a++)
  SC("attribute-%d", a) { u64 v = 0x7777777777777777ull; cudaMemPoolCreate(&q, &P); say("get",
      cudaMemPoolGetAttribute(q, a, &v)); OUT(" %llx", v); v = 0; say("set0",
      cudaMemPoolSetAttribute(q, a, &v)); v = 1; say("set1", cudaMemPoolSetAttribute(q, a, &v)); v =
      0x7777777777777777ull; say("get", cudaMemPoolGetAttribute(q, a, &v)); OUT(" %llx", v); v = 2;
      say("set2", cudaMemPoolSetAttribute(q, a, &v)); v = 0; say("get", cudaMemPoolGetAttribute(q,
      a, &v)); OUT(" %llx", v); cudaMemPoolDestroy(q); }
  SC("attribute-used") { cudaMemPoolCreate(&q, &P); cudaMallocFromPoolAsync(&p, 1000, q, st);
  EACH(a, 5, 6, 7, 8) { u64 v = 7; cudaMemPoolGetAttribute(q, *a, &v); OUT("%llu ", v); }
      cudaFreeAsync(p, st); cudaStreamSynchronize(st); EACH(a, 5, 6, 7, 8) { u64 v = 7;
      cudaMemPoolGetAttribute(q, *a, &v); OUT("%llu ", v); } say("trim", cudaMemPoolTrimTo(q, 0));
      u64 v = 7; cudaMemPoolGetAttribute(q, 5, &v); OUT(" %llu", v); }
  SC("attribute-null-value") say("get", cudaMemPoolGetAttribute(pool, 4, 0));
  SC("attribute-null-pool") { u64 v; say("get", cudaMemPoolGetAttribute(0, 4, &v)); }
  SC("trim") { say("0", cudaMemPoolTrimTo(pool, 0)); say("max", cudaMemPoolTrimTo(pool, ~0ull));
      say("default", cudaMemPoolTrimTo(def, 0)); }
  SC("trim-null") say("r", cudaMemPoolTrimTo(0, 0));
  SC("access") { struct cudaMemLocation l = {cudaMemLocationTypeDevice, 0}; struct cudaMemAccessDesc
      d = {l, cudaMemAccessFlagsProtReadWrite}; int f = 77; say("get", cudaMemPoolGetAccess((void
      *)&f, pool, &l)); OUT(" %d", f); say("set-rw", cudaMemPoolSetAccess(pool, &d, 1)); d.flags =
      1; say("set-r", cudaMemPoolSetAccess(pool, &d, 1)); d.flags = 0; say("set-none",
      cudaMemPoolSetAccess(pool, &d, 1)); d.flags = 3; d.location.id = 9; say("device9",
      cudaMemPoolSetAccess(pool, &d, 1)); say("count0", cudaMemPoolSetAccess(pool, &d, 0)); l.id =
      9; say("get9", cudaMemPoolGetAccess((void *)&f, pool, &l)); l.id = 0; l.type =
      cudaMemLocationTypeHost; say("get-host", cudaMemPoolGetAccess((void *)&f, pool, &l)); }
  Q("access-null-description", cudaMemPoolSetAccess(pool, 0, 1))
  SC("access-null-location") { int f; say("r", cudaMemPoolGetAccess((void *)&f, pool, 0)); }
  SC("access-null-flags") { struct cudaMemLocation l = {cudaMemLocationTypeDevice, 0}; say("r",
      cudaMemPoolGetAccess(0, pool, &l)); }
  SC("device-pool") { say("get", cudaDeviceGetMemPool(&q, 0)); OUT(" default %d", q == def);
      say("set", cudaDeviceSetMemPool(0, pool)); cudaDeviceGetMemPool(&q, 0); OUT(" mine %d", q ==
      pool); say("set-null", cudaDeviceSetMemPool(0, 0)); say("device9", cudaDeviceSetMemPool(9,
      pool)); say("get9", cudaDeviceGetMemPool(&q, 9)); say("null-out", cudaDeviceGetMemPool(0, 0));
      say("default-null", cudaDeviceGetDefaultMemPool(0, 0)); say("default9",
      cudaDeviceGetDefaultMemPool(&q, 9)); say("back", cudaDeviceSetMemPool(0, def)); } for (int lt
      = 0; lt <= 4; lt++) SC("location-pool-%d", lt) { struct cudaMemLocation l = {lt, 0}; q = JUNK;
      say("default", cudaMemGetDefaultMemPool(&q, &l, cudaMemAllocationTypePinned)); OUT(" %s", q ==
      def ? "device's" : Z(q)); q = JUNK; say("current", cudaMemGetMemPool(&q, &l,
      cudaMemAllocationTypePinned)); OUT(" %s", q == def ? "device's" : Z(q)); q = JUNK;
      say("type0", cudaMemGetDefaultMemPool(&q, &l, 0)); say("set-null", cudaMemSetMemPool(&l,
      cudaMemAllocationTypePinned, 0)); }
  SC("location-pool-null") { struct cudaMemLocation l = {1, 0}; say("out",
      cudaMemGetDefaultMemPool(0, &l, 1)); }
  SC("location-pool-null-location") say("r", cudaMemGetDefaultMemPool(&q, 0, 1));
  SC("export") { b = P; b.handleTypes = 1; MUSTR(cudaMemPoolCreate(&q, &b)); int fd = -1; say("fd",
      cudaMemPoolExportToShareableHandle(&fd, q, 1, 0)); struct cudaMemPoolPtrExportData x;
      cudaMallocFromPoolAsync(&p, 4096, q, st); say("pointer", cudaMemPoolExportPointer(&x, p));
      cudaMemPool_t im = 0; say("import", cudaMemPoolImportFromShareableHandle(&im, (void
      *)(long)fd, 1, 0)); void *p2 = JUNK; if (im) { say("import-pointer",
      cudaMemPoolImportPointer(&p2, im, &x)); OUT(" %s", p2 == p ? "same" : Z(p2));
      say("malloc-from-imported", cudaMallocFromPoolAsync(&p, 64, im, st)); say("attribute",
      cudaMemPoolGetAttribute(im, 4, &x)); } say("import-bad-fd",
      cudaMemPoolImportFromShareableHandle(&im, (void *)9999L, 1, 0)); say("import-type0",
      cudaMemPoolImportFromShareableHandle(&im, (void *)(long)fd, 0, 0)); say("import-flags",
      cudaMemPoolImportFromShareableHandle(&im, (void *)(long)fd, 1, 1)); say("import-null",
      cudaMemPoolImportFromShareableHandle(0, (void *)(long)fd, 1, 0)); say("export-null-out",
      cudaMemPoolExportToShareableHandle(0, q, 1, 0)); say("export-plain-pool",
      cudaMemPoolExportToShareableHandle(&fd, pool, 1, 0)); cudaMallocFromPoolAsync(&p, 64, pool,
      st); say("pointer-plain-pool", cudaMemPoolExportPointer(&x, p)); say("pointer-malloc",
      cudaMemPoolExportPointer(&x, dev)); say("pointer-null", cudaMemPoolExportPointer(0, p)); } }
GROUP(ipc) { S(); cudaIpcMemHandle_t h; cudaIpcEventHandle_t eh; void *p; cudaEvent_t e; memset(&h,
    0, sizeof h); memset(&eh, 0, sizeof eh);
  Q("mem-get-null-out", cudaIpcGetMemHandle(0, dev))
  SC("mem-get") { say("device", cudaIpcGetMemHandle(&h, dev)); say("middle", cudaIpcGetMemHandle(&h,
      dev + 64)); say("null", cudaIpcGetMemHandle(&h, 0)); say("pinned", cudaIpcGetMemHandle(&h,
      pin)); say("pageable", cudaIpcGetMemHandle(&h, page)); cudaMallocAsync(&p, 64, st);
      say("async", cudaIpcGetMemHandle(&h, p)); say("vmm", cudaIpcGetMemHandle(&h, vmm_map(2 * MIB,
      0, 0))); } SC("mem-open-own") { cudaIpcGetMemHandle(&h, dev); p = JUNK; say("r",
      cudaIpcOpenMemHandle(&p, h, 1)); OUT(" %s", Z(p)); }
  SC("mem-open-flags-0") { cudaIpcGetMemHandle(&h, dev); say("r", cudaIpcOpenMemHandle(&p, h, 0)); }
  SC("mem-open-zero") { memset(&h, 0, sizeof h); say("r", cudaIpcOpenMemHandle(&p, h, 1)); }
  SC("mem-open-garbage") { memset(&h, 0x5a, sizeof h); say("r", cudaIpcOpenMemHandle(&p, h, 1)); }
  SC("mem-open-null") { cudaIpcGetMemHandle(&h, dev); say("r", cudaIpcOpenMemHandle(0, h, 1)); }
  SC("mem-close") { say("not-opened", cudaIpcCloseMemHandle(dev)); say("null",
      cudaIpcCloseMemHandle(0)); say("junk", cudaIpcCloseMemHandle(JUNK)); }
  EACH(f, 0, 1, 2, 3, 4, 5, 6, 7)
  SC("event-flags-%d", *f) { cudaEvent_t x = 0; say("create", cudaEventCreateWithFlags(&x, *f)); if
      (x) { say("get", cudaIpcGetEventHandle(&eh, x)); e = JUNK; say("open-own",
      cudaIpcOpenEventHandle(&e, eh)); OUT(" %s", Z(e)); } }
  SC("event-nulls") { say("out", cudaIpcGetEventHandle(0, ev)); say("open-out",
      cudaIpcOpenEventHandle(0, eh)); }
  SC("event-null") say("r", cudaIpcGetEventHandle(&eh, 0));
  SC("event-open-zero") { memset(&eh, 0, sizeof eh); say("r", cudaIpcOpenEventHandle(&e, eh)); }
  SC("event-open-garbage") { memset(&eh, 0x5a, sizeof eh); say("r", cudaIpcOpenEventHandle(&e, eh));
      } }
// the exporter is a child; the importer another
GROUP(ipc_two) {
  ISO("memory") { int a[2], b[2]; pipe(a); pipe(b); cudaIpcMemHandle_t h; if (!fork()) { void *p;
      cudaMalloc(&p, 4096); cudaMemset(p, 0x31, 4096); cudaDeviceSynchronize();
      cudaIpcGetMemHandle(&h, p); write(a[1], &h, sizeof h); char c; read(b[0], &c, 1); unsigned
      char v = 0; cudaMemcpy(&v, p, 1, 2); write(a[1], &v, 1); _exit(0); } read(a[0], &h, sizeof h);
      void *p = 0, *q = 0; say("open", cudaIpcOpenMemHandle(&p, h, 1)); unsigned char v = 0;
      say("copy", cudaMemcpy(&v, p, 1, 2)); OUT(" %x", v); struct cudaPointerAttributes t;
      memset(&t, 0, sizeof t); say("attributes", cudaPointerGetAttributes(&t, p)); OUT(" type %d",
      t.type); say("again", cudaIpcOpenMemHandle(&q, h, 1)); OUT(" same %d", p == q); say("set",
      cudaMemset(p, 0x32, 1)); cudaDeviceSynchronize(); write(b[1], "x", 1); read(a[0], &v, 1);
      OUT(" there %x", v); say("free", cudaFree(p)); say("close", cudaIpcCloseMemHandle(p));
      say("close", cudaIpcCloseMemHandle(p)); say("close", cudaIpcCloseMemHandle(p)); }
  ISO("event") { int a[2], b[2]; pipe(a); pipe(b); cudaIpcEventHandle_t h; if (!fork()) {
      cudaEvent_t e; cudaFree(0); cudaEventCreateWithFlags(&e, cudaEventInterprocess |
      cudaEventDisableTiming); cudaIpcGetEventHandle(&h, e); cudaEventRecord(e, 0); write(a[1], &h,
      sizeof h); char c; read(b[0], &c, 1); _exit(0); } read(a[0], &h, sizeof h); cudaEvent_t e = 0;
      say("open", cudaIpcOpenEventHandle(&e, h)); say("sync", cudaEventSynchronize(e)); say("query",
      cudaEventQuery(e)); say("record", cudaEventRecord(e, 0)); float ms; say("elapsed",
      cudaEventElapsedTime(&ms, e, e)); say("export", cudaIpcGetEventHandle(&h, e)); say("destroy",
      cudaEventDestroy(e)); write(b[1], "x", 1); } }

// ---- external memory ----
typedef struct cudaExternalMemoryHandleDesc HandleDesc; typedef struct cudaExternalMemoryBufferDesc
    BufferDesc; typedef struct cudaExternalMemoryMipmappedArrayDesc MipDesc; typedef struct
    cudaExternalSemaphoreHandleDesc SemDesc; typedef struct cudaExternalSemaphoreSignalParams
    Signal; typedef struct cudaExternalSemaphoreWaitParams Wait;
#define SIZE (4 * MIB)
static HandleDesc hd(int type, int fd, u64 size, unsigned flags) { HandleDesc d; memset(&d, 0,
    sizeof d); d.type = type; d.handle.fd = fd; d.size = size; d.flags = flags; return d; }
static BufferDesc bd(u64 off, u64 size) { BufferDesc d; memset(&d, 0, sizeof d); d.offset = off;
    d.size = size; return d; }
static MipDesc md(u64 off, size_t w, size_t h, size_t dep, struct cudaChannelFormatDesc c, unsigned
    fl, unsigned lv) { MipDesc d; memset(&d, 0, sizeof d); d.offset = off; d.extent = ex(w, h, dep);
    d.formatDesc = c; d.flags = fl; d.numLevels = lv; return d; }
static int ext_fd(u64 n) { return probe_vmm_fd(n); }
static cudaExternalMemory_t ext_of(int fd, u64 n) { HandleDesc d = hd(1, fd, n, 0);
    cudaExternalMemory_t m = 0; MUSTR(cudaImportExternalMemory(&m, &d)); return m; }
static void try_import(const char *n, HandleDesc d) { cudaExternalMemory_t m = JUNK; if (!say(n,
    cudaImportExternalMemory(&m, &d))) say("destroy", cudaDestroyExternalMemory(m)); else OUT(" %s",
    Z(m)); }
static void *ext_thread(void *m) { void *p = JUNK; BufferDesc b = bd(0, SIZE); CUcontext c = 0;
    say("map", cudaExternalMemoryGetMappedBuffer(&p, m, &b)); OUT(" %s", Z(p)); cuCtxGetCurrent(&c);
    OUT(" context %s", c ? "some" : "none"); say("set", cudaMemset(p, 1, SIZE)); say("free",
    cudaFree(p)); say("destroy", cudaDestroyExternalMemory(m)); return 0; }
GROUP(extmem) { S(); cudaExternalMemory_t m; void *p, *q; BufferDesc b; HandleDesc d;
    cudaMipmappedArray_t mm; cudaArray_t a;
  for (int t = -1; t <= 11; t++)
  SC("import-type-%d", t) { int fd = ext_fd(SIZE); try_import("fd", hd(t, fd, SIZE, 0)); HandleDesc
      x = hd(t, 0, SIZE, 0); x.handle.win32.handle = 0; try_import("zeros", x);
      x.handle.win32.handle = JUNK; try_import("junk-handle", x); x.handle.win32.name = "name";
      x.handle.win32.handle = 0; try_import("name", x); }
  EACH(f, 0, 1, 2, 3, 4, -1) SC("import-flags-%x", *f) try_import("r", hd(1, ext_fd(SIZE), SIZE,
      *f)); static const u64 SZ[] = {0, 1, 4096, 2 * MIB, SIZE, SIZE + 1, SIZE + 65536, 2 * SIZE,
      1ull << 40, ~0ull}; for (int i = 0; i < N(SZ); i++)
  SC("import-size-%llx", SZ[i]) try_import("r", hd(1, ext_fd(SIZE), SZ[i], 0));
  SC("import-reserved") { d = hd(1, ext_fd(SIZE), SIZE, 0); d.reserved[15] = 1; try_import("r", d);
      }
  SC("import-nulls") { d = hd(1, ext_fd(SIZE), SIZE, 0); say("out", cudaImportExternalMemory(0,
      &d)); m = JUNK; say("desc", cudaImportExternalMemory(&m, 0)); OUT(" %s", Z(m)); say("both",
      cudaImportExternalMemory(0, 0)); }
  EACH(f, -1, -2, 9999) SC("import-fd-%d", *f) try_import("r", hd(1, *f, SIZE, 0));
  SC("import-dev-null") try_import("r", hd(1, open("/dev/null", O_RDWR), SIZE, 0));
  SC("import-memfd") { int fd = memfd_create("x", 0); ftruncate(fd, SIZE); try_import("r", hd(1, fd,
      SIZE, 0)); } SC("import-pipe") { int x[2]; pipe(x); try_import("r", hd(1, x[0], SIZE, 0)); }
  SC("import-directory") try_import("r", hd(1, open("/", O_RDONLY), SIZE, 0));
  SC("import-twice-same-fd") { int fd = ext_fd(SIZE); try_import("1", hd(1, fd, SIZE, 0));
      try_import("2", hd(1, fd, SIZE, 0)); }
  SC("fd-after-import") { int fd = ext_fd(SIZE); m = ext_of(fd, SIZE); OUT("%s", fcntl(fd, F_GETFL)
      < 0 ? "closed" : "open"); }
  SC("fd-after-failed-import") { int fd = ext_fd(SIZE); try_import("r", hd(1, fd, SIZE, 77));
      OUT(" %s", fcntl(fd, F_GETFL) < 0 ? "closed" : "open"); }
  SC("destroy-null") say("r", cudaDestroyExternalMemory(0));
  SC("destroy-junk") say("r", cudaDestroyExternalMemory(JUNK));
  SC("destroy-twice") { m = ext_of(ext_fd(SIZE), SIZE); say("1", cudaDestroyExternalMemory(m));
      say("2", cudaDestroyExternalMemory(m)); }
  SC("destroy-mapped") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0, SIZE);
      cudaExternalMemoryGetMappedBuffer(&p, m, &b); say("memset", cudaMemset(p, 7, 64));
      say("destroy", cudaDestroyExternalMemory(m)); say("memset", cudaMemset(p, 7, 64)); say("free",
      cudaFree(p)); } SC("free-after-destroy-sync") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0,
      SIZE); cudaExternalMemoryGetMappedBuffer(&p, m, &b); say("free", cudaFree(p)); say("destroy",
      cudaDestroyExternalMemory(m)); say("free-again", cudaFree(p)); }
  static const struct { const char *n; u64 o, s; unsigned f; } B[] = {{"whole", 0, SIZE, 0},
      {"half", SIZE / 2, SIZE / 2, 0}, {"size-0", 0, 0, 0}, {"size-1", 0, 1, 0}, {"offset-1", 1,
      4096, 0}, {"offset-256", 256, 4096, 0}, {"offset-4096", 4096, 4096, 0}, {"last-byte", SIZE -
      1, 1, 0}, {"past-by-1", 0, SIZE + 1, 0}, {"offset-at-end", SIZE, 1, 0},
      {"offset-at-end-size0", SIZE, 0, 0}, {"offset-past", SIZE + 4096, 1, 0}, {"wraps", 4096, ~0ull
      - 4095, 0}, {"wraps-over", 4096, ~0ull, 0}, {"huge", 0, 1ull << 40, 0}, {"offset-huge", 1ull
      << 63, 4096, 0}, {"flags-1", 0, SIZE, 1}, {"flags-8", 0, SIZE, 0x80000000u}};
  for (int i = 0; i < N(B); i++)
  SC("buffer-%s", B[i].n) { m = ext_of(ext_fd(SIZE), SIZE); b = bd(B[i].o, B[i].s); b.flags =
      B[i].f; p = JUNK; say("r", cudaExternalMemoryGetMappedBuffer(&p, m, &b)); OUT(" %s", Z(p)); if
      (p && p != JUNK) { OUT(" align %llx", pow2((u64)p - B[i].o, 1 << 16)); say("set",
      cudaMemset(p, 0x5c, B[i].s)); struct cudaPointerAttributes t; memset(&t, 0, sizeof t);
      say("attributes", cudaPointerGetAttributes(&t, p)); OUT(" %d %d %d %d", t.type, t.device,
      t.devicePointer == p, t.hostPointer == 0); say("free", cudaFree(p)); say("again",
      cudaFree(p)); } say("destroy", cudaDestroyExternalMemory(m)); }
  SC("buffer-nulls") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0, SIZE); say("out",
      cudaExternalMemoryGetMappedBuffer(0, m, &b)); p = JUNK; say("desc",
      cudaExternalMemoryGetMappedBuffer(&p, m, 0)); OUT(" %s", Z(p)); }
  SC("buffer-null-ext") { b = bd(0, SIZE); p = JUNK; say("ext",
      cudaExternalMemoryGetMappedBuffer(&p, 0, &b)); OUT(" %s", Z(p)); }
  SC("buffer-junk-ext") { b = bd(0, SIZE); p = JUNK; say("ext",
      cudaExternalMemoryGetMappedBuffer(&p, JUNK, &b)); }
  SC("buffer-destroyed-ext") { m = ext_of(ext_fd(SIZE), SIZE); cudaDestroyExternalMemory(m); b =
      bd(0, SIZE); say("r", cudaExternalMemoryGetMappedBuffer(&p, m, &b)); }
  SC("buffer-reserved") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0, SIZE); b.reserved[0] = 1;
      say("r", cudaExternalMemoryGetMappedBuffer(&p, m, &b)); }
  SC("buffer-twice-aliases") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0, SIZE);
      cudaExternalMemoryGetMappedBuffer(&p, m, &b); b = bd(4096, 4096);
      cudaExternalMemoryGetMappedBuffer(&q, m, &b); OUT("consistent %d", (char *)q - (char *)p ==
      4096); cudaMemset(p, 0x11, SIZE); unsigned char v = 0; cudaMemcpy(&v, q, 1, 2);
      OUT(" seen %x", v); say("free-first", cudaFree(p)); say("second-still", cudaMemset(q, 1, 64));
      say("free", cudaFree(q)); }
  SC("buffer-contents-shared") { int fd = -1; char *v = vmm_map(SIZE, 1, &fd); m = ext_of(fd, SIZE);
      b = bd(0, SIZE); cudaExternalMemoryGetMappedBuffer(&p, m, &b); say("set", cudaMemset(v, 0x3c,
      SIZE)); unsigned char c = 0; say("read", cudaMemcpy(&c, (char *)p + 5000, 1, 2)); OUT(" %x",
      c); say("back", cudaMemset((char *)p + 6000, 0x4d, 1)); cudaMemcpy(&c, v + 6000, 1, 2);
      OUT(" %x", c); say("past", cudaMemset(p, 0, SIZE + 1)); say("free", cudaFree(p)); }
  SC("buffer-free-wrong-ways") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(4096, 8192);
      cudaExternalMemoryGetMappedBuffer(&p, m, &b); say("host", cudaFreeHost(p)); say("array", (b =
      bd(0, 4096), cudaFree((char *)p + 64))); say("before", cudaFree((char *)p - 4096));
      say("async", cudaFreeAsync(p, st)); say("sync", cudaStreamSynchronize(st)); say("free",
      cudaFree(p)); } SC("buffer-in-other-thread") { m = ext_of(ext_fd(SIZE), SIZE); pthread_t t;
      pthread_create(&t, 0, ext_thread, m); pthread_join(t, 0); }
  SC("buffer-of-other-context") { m = ext_of(ext_fd(SIZE), SIZE); CUcontext c, o; cuCtxCreate(&c, 0,
      0, 0); b = bd(0, SIZE); p = JUNK; say("map", cudaExternalMemoryGetMappedBuffer(&p, m, &b));
      OUT(" %s", Z(p)); say("destroy", cudaDestroyExternalMemory(m)); cuCtxPopCurrent(&o);
      cuCtxDestroy(c); } SC("buffer-in-capture") { m = ext_of(ext_fd(SIZE), SIZE); b = bd(0, SIZE);
      cudaStreamBeginCapture(st, 0); say("map", cudaExternalMemoryGetMappedBuffer(&p, m, &b));
      say("import", (d = hd(1, ext_fd(SIZE), SIZE, 0), cudaImportExternalMemory(&m, &d))); int s =
      -1; cudaStreamIsCapturing(st, (void *)&s); OUT(" status %d", s); cudaGraph_t g = 0; say("end",
      cudaStreamEndCapture(st, &g)); }
  static const struct { const char *n; u64 o; size_t w, h, d; int bits, kind; unsigned fl, lv; } M[]
      = {{"plain", 0, 64, 64, 0, 32, 2, 0, 1}, {"levels-4", 0, 64, 64, 0, 32, 2, 0, 4}, {"levels-7",
      0, 64, 64, 0, 32, 2, 0, 7}, {"levels-8", 0, 64, 64, 0, 32, 2, 0, 8}, {"levels-9", 0, 64, 64,
      0, 32, 2, 0, 9}, {"1d", 0, 64, 0, 0, 32, 2, 0, 1}, {"3d", 0, 32, 32, 8, 32, 2, 0, 2},
      {"layered", 0, 64, 64, 6, 32, 2, 1, 2}, {"cubemap", 0, 64, 64, 6, 32, 2, 4, 2},
      {"cube-layered", 0, 64, 64, 12, 32, 2, 5, 2}, {"cubemap-5", 0, 64, 64, 5, 32, 2, 4, 1},
      {"surface", 0, 64, 64, 0, 32, 2, 2, 1}, {"gather", 0, 64, 64, 0, 32, 2, 8, 1},
      {"color-attachment", 0, 64, 64, 0, 32, 2, 0x20, 1}, {"flag-10", 0, 64, 64, 0, 32, 2, 0x10, 1},
      {"sparse", 0, 64, 64, 0, 32, 2, 0x40, 1}, {"deferred", 0, 64, 64, 0, 32, 2, 0x80, 1},
      {"flag-100", 0, 64, 64, 0, 32, 2, 0x100, 1}, {"width-0", 0, 0, 64, 0, 32, 2, 0, 1}, {"all-0",
      0, 0, 0, 0, 32, 2, 0, 1}, {"too-big", 0, 4096, 4096, 0, 32, 2, 0, 1}, {"too-wide", 0, 200000,
      1, 0, 8, 1, 0, 1}, {"offset-64k", 65536, 64, 64, 0, 32, 2, 0, 1}, {"offset-4096", 4096, 64,
      64, 0, 32, 2, 0, 1}, {"offset-1", 1, 64, 64, 0, 32, 2, 0, 1}, {"offset-end", SIZE, 64, 64, 0,
      32, 2, 0, 1}, {"offset-huge", 1ull << 62, 64, 64, 0, 32, 2, 0, 1}, {"u8", 0, 64, 64, 0, 8, 1,
      0, 1}, {"f16", 0, 64, 64, 0, 16, 2, 0, 1}, {"bits-0", 0, 64, 64, 0, 0, 2, 0, 1}, {"bits-24",
      0, 64, 64, 0, 24, 1, 0, 1}, {"kind-none", 0, 64, 64, 0, 32, 3, 0, 1}, {"kind-99", 0, 64, 64,
      0, 32, 99, 0, 1}, {"float-8", 0, 64, 64, 0, 8, 2, 0, 1}, {"unorm8x1", 0, 64, 64, 0, 8, 5, 0,
      1}};
  for (int i = 0; i < N(M); i++)
  SC("mip-%s", M[i].n) { m = ext_of(ext_fd(SIZE), SIZE); MipDesc x = md(M[i].o, M[i].w, M[i].h,
      M[i].d, ch(M[i].bits, 0, 0, 0, M[i].kind), M[i].fl, M[i].lv); mm = JUNK; say("r",
      cudaExternalMemoryGetMappedMipmappedArray(&mm, m, &x)); OUT(" %s", Z(mm)); if (mm && mm !=
      JUNK) { for (int l = 0; l < 10; l++) { a = 0; cudaError_t r = cudaGetMipmappedArrayLevel(&a,
      mm, l); if (r) { SAY(r, "level%d", l); break; } info(a); } say("free",
      cudaFreeMipmappedArray(mm)); } say("destroy", cudaDestroyExternalMemory(m)); }
  EACH(n, 1, 2, 3, 4) EACH(w, 8, 16, 32)
  EACH(k, 0, 1, 2) SC("mip-format-x%d-%d-kind%d", *n, *w, *k) { m = ext_of(ext_fd(SIZE), SIZE);
      MipDesc x = md(0, 64, 64, 0, ch(*w, *n > 1 ? *w : 0, *n > 2 ? *w : 0, *n > 3 ? *w : 0, *k), 0,
      1); mm = JUNK; if (!say("r", cudaExternalMemoryGetMappedMipmappedArray(&mm, m, &x))) {
      cudaGetMipmappedArrayLevel(&a, mm, 0); info(a); cudaFreeMipmappedArray(mm); }
      cudaDestroyExternalMemory(m); }
  SC("mip-nulls") { m = ext_of(ext_fd(SIZE), SIZE); MipDesc x = md(0, 64, 64, 0, ch(32, 0, 0, 0, 2),
      0, 1); say("out", cudaExternalMemoryGetMappedMipmappedArray(0, m, &x)); }
  SC("mip-null-desc") { m = ext_of(ext_fd(SIZE), SIZE); mm = JUNK; say("desc",
      cudaExternalMemoryGetMappedMipmappedArray(&mm, m, 0)); OUT(" %s", Z(mm)); }
  SC("mip-null-ext") { MipDesc x = md(0, 64, 64, 0, ch(32, 0, 0, 0, 2), 0, 1); say("ext",
      cudaExternalMemoryGetMappedMipmappedArray(&mm, 0, &x)); }
  SC("mip-levels-0") { m = ext_of(ext_fd(SIZE), SIZE); MipDesc x = md(0, 64, 64, 0, ch(32, 0, 0, 0,
      2), 0, 0); mm = JUNK; say("r", cudaExternalMemoryGetMappedMipmappedArray(&mm, m, &x));
      OUT(" %s", Z(mm)); } SC("mip-reserved") { m = ext_of(ext_fd(SIZE), SIZE); MipDesc x = md(0,
      64, 64, 0, ch(32, 0, 0, 0, 2), 0, 1); x.reserved[0] = 1; say("r",
      cudaExternalMemoryGetMappedMipmappedArray(&mm, m, &x)); }
  SC("mip-copy-texture-surface") { m = ext_of(ext_fd(SIZE), SIZE); MipDesc x = md(0, 64, 64, 0,
      ch(32, 0, 0, 0, 2), cudaArraySurfaceLoadStore, 3); say("map",
      cudaExternalMemoryGetMappedMipmappedArray(&mm, m, &x)); cudaGetMipmappedArrayLevel(&a, mm, 0);
      for (int i = 0; i < 16384; i++) page[i] = i * 7; say("to", cudaMemcpy2DToArray(a, 0, 0, page,
      256, 256, 64, 1)); say("from", cudaMemcpy2DFromArray(page + 32768, 256, a, 0, 0, 256, 64, 2));
      OUT(" equal %d", !memcmp(page, page + 32768, 16384)); struct cudaResourceDesc r = res(1, mm);
      struct cudaTextureDesc t; memset(&t, 0, sizeof t); t.normalizedCoords = 1; tex_try("texture",
      r, t, 0, mm); cudaSurfaceObject_t so; r = res(0, a); say("surface",
      cudaCreateSurfaceObject(&so, &r)); say("destroy-ext", cudaDestroyExternalMemory(m)); say("to",
      cudaMemcpy2DToArray(a, 0, 0, page, 256, 256, 64, 1)); say("free-level", cudaFreeArray(a));
      say("free", cudaFreeMipmappedArray(mm)); } }
static SemDesc semd(int type, int fd, unsigned flags) { SemDesc d; memset(&d, 0, sizeof d); d.type =
    type; d.handle.fd = fd; d.flags = flags; return d; }
static Signal sig(u64 v) { Signal s; memset(&s, 0, sizeof s); s.params.fence.value = v; return s; }
static Wait wai(u64 v) { Wait s; memset(&s, 0, sizeof s); s.params.fence.value = v; return s; }
GROUP(extsem) { S(); cudaExternalSemaphore_t x; SemDesc d; Signal s = sig(1); Wait w = wai(1);
  for (int t = -1; t <= 12; t++)
  SC("import-type-%d", t) EACH(f, -1, 9999) { d = semd(t, *f, 0); x = JUNK;
      SAY(cudaImportExternalSemaphore(&x, &d), "fd%d", *f); OUT(" %s", Z(x)); }
  SC("import-nulls") { d = semd(1, -1, 0); say("out", cudaImportExternalSemaphore(0, &d));
      say("desc", cudaImportExternalSemaphore(&x, 0)); }
  EACH(f, 1, 2, 8) SC("import-flags-%x", *f) { d = semd(1, open("/dev/null", O_RDWR), *f); say("r",
      cudaImportExternalSemaphore(&x, &d)); }
  SC("import-dev-null") { d = semd(1, open("/dev/null", O_RDWR), 0); say("binary",
      cudaImportExternalSemaphore(&x, &d)); d = semd(9, open("/dev/null", O_RDWR), 0);
      say("timeline", cudaImportExternalSemaphore(&x, &d)); }
  SC("import-memory-fd") { d = semd(1, ext_fd(2 * MIB), 0); say("r", cudaImportExternalSemaphore(&x,
      &d)); } SC("destroy-null") say("r", cudaDestroyExternalSemaphore(0));
  SC("destroy-junk") say("r", cudaDestroyExternalSemaphore(JUNK));
  SC("signal-args") { x = 0; say("null-array", cudaSignalExternalSemaphoresAsync(0, &s, 1, st));
      say("null-params", cudaSignalExternalSemaphoresAsync(&x, 0, 1, st)); say("count0",
      cudaSignalExternalSemaphoresAsync(&x, &s, 0, st)); say("all-null-0",
      cudaSignalExternalSemaphoresAsync(0, 0, 0, 0)); }
  SC("wait-args") { x = 0; say("null-array", cudaWaitExternalSemaphoresAsync(0, &w, 1, st));
      say("null-params", cudaWaitExternalSemaphoresAsync(&x, 0, 1, st)); say("null-entry",
      cudaWaitExternalSemaphoresAsync(&x, &w, 1, st)); say("count0",
      cudaWaitExternalSemaphoresAsync(&x, &w, 0, st)); }
  SC("signal-null-entry") { x = 0; say("r", cudaSignalExternalSemaphoresAsync(&x, &s, 1, st)); }
  SC("signal-junk") { x = JUNK; say("r", cudaSignalExternalSemaphoresAsync(&x, &s, 1, st)); }
  SC("wait-junk") { x = JUNK; say("r", cudaWaitExternalSemaphoresAsync(&x, &w, 1, st)); } }

// ---- with Vulkan ----
static VkPhysicalDevice vkp; static VkDevice vkd; static VkQueue vkq; static VkCommandPool vkpool;
    static uint32_t vk_local = ~0u, vk_host = ~0u; static char vk_why[64];
static PFN_vkGetMemoryFdKHR get_mem_fd; static PFN_vkGetSemaphoreFdKHR get_sem_fd; static
    PFN_vkWaitSemaphores wait_sems; static PFN_vkSignalSemaphore signal_sem; static
    PFN_vkGetSemaphoreCounterValue counter_of;
static int vk_start(int semaphores) {
  VkApplicationInfo ai = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion =
      VK_API_VERSION_1_2}; VkInstanceCreateInfo ici = {.sType =
      VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &ai}; VkInstance in;
  VkResult r = vkCreateInstance(&ici, 0, &in); if (r) { snprintf(vk_why, 64, "vkCreateInstance %d",
      r); return -1; }
  VkPhysicalDevice pd[8]; uint32_t n = 8; r = vkEnumeratePhysicalDevices(in, &n, pd); if (r < 0 ||
      !n) { snprintf(vk_why, 64, "no physical device %d", r); return -1; }
  vkp = pd[0]; for (uint32_t i = 0; i < n; i++) { VkPhysicalDeviceProperties q;
      vkGetPhysicalDeviceProperties(pd[i], &q); if (q.vendorID == 0x10de) { vkp = pd[i]; break; } }
  static const char *const ex[] = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
      float pr = 1; VkPhysicalDeviceTimelineSemaphoreFeatures tl = {.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, .timelineSemaphore = 1};
  VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
      .pQueuePriorities = &pr}; VkDeviceCreateInfo dc = {.sType =
      VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = semaphores ? &tl : 0, .queueCreateInfoCount =
      1, .pQueueCreateInfos = &q, .enabledExtensionCount = 1 + semaphores, .ppEnabledExtensionNames
      = ex};
  r = vkCreateDevice(vkp, &dc, 0, &vkd); if (r) { snprintf(vk_why, 64, "vkCreateDevice %d", r);
      return -1; }
  vkGetDeviceQueue(vkd, 0, 0, &vkq); VkCommandPoolCreateInfo pc = {.sType =
      VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}; vkCreateCommandPool(vkd, &pc, 0, &vkpool);
  VkPhysicalDeviceMemoryProperties mp; vkGetPhysicalDeviceMemoryProperties(vkp, &mp);
      VkMemoryPropertyFlags hf = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = mp.memoryTypeCount; i-- > 0;) { VkMemoryPropertyFlags f =
      mp.memoryTypes[i].propertyFlags; if (f & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) vk_local = i; if
      ((f & hf) == hf) vk_host = i; }
  get_mem_fd = (void *)vkGetDeviceProcAddr(vkd, "vkGetMemoryFdKHR"); get_sem_fd = (void
      *)vkGetDeviceProcAddr(vkd, "vkGetSemaphoreFdKHR"); wait_sems = (void
      *)vkGetDeviceProcAddr(vkd, "vkWaitSemaphores"); signal_sem = (void *)vkGetDeviceProcAddr(vkd,
      "vkSignalSemaphore"); counter_of = (void *)vkGetDeviceProcAddr(vkd,
      "vkGetSemaphoreCounterValue");
  if (!get_mem_fd || (semaphores && (!get_sem_fd || !wait_sems || !signal_sem || !counter_of))) {
      snprintf(vk_why, 64, "missing entry points"); return -1; }
  return 0; }
// exportable memory; its fd, or -1 with the reason said
static int mem_fd(VkDeviceMemory m) { int fd = -1; VkMemoryGetFdInfoKHR gi = {.sType =
    VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = m, .handleType =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT}; VkResult r = get_mem_fd(vkd, &gi, &fd); if (r) {
    OUT(" vkGetMemoryFd=%d", r); return -1; } return fd; }
static VkDeviceMemory vk_alloc(u64 size, uint32_t type, const void *next) {
  VkExportMemoryAllocateInfo e = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .pNext =
      next, .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT}; VkMemoryAllocateInfo ma =
      {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &e, .allocationSize = size,
      .memoryTypeIndex = type}; VkDeviceMemory m = 0;
  VkResult r = vkAllocateMemory(vkd, &ma, 0, &m); if (r) { OUT(" vkAllocateMemory=%d", r); return 0;
      } return m; }
static int vk_fd(u64 size) { VkDeviceMemory m = vk_alloc(size, vk_local, 0); return m ? mem_fd(m) :
    -1; }
static VkBuffer vk_buffer(u64 size) { VkExternalMemoryBufferCreateInfo e = {.sType =
    VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT}; VkBufferCreateInfo bi = {.sType =
    VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &e, .size = size, .usage =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT}; VkBuffer b = 0;
    vkCreateBuffer(vkd, &bi, 0, &b); return b; }
static VkCommandBuffer cmd_begin(void) { VkCommandBufferAllocateInfo a = {.sType =
    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = vkpool, .commandBufferCount = 1};
    VkCommandBuffer c = 0; vkAllocateCommandBuffers(vkd, &a, &c); VkCommandBufferBeginInfo b =
    {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}; vkBeginCommandBuffer(c, &b); return c; }
// submit (no command buffer if 0) with a semaphore to wait for and one to signal, and wait up to 5
// s
static VkResult cmd_end(VkCommandBuffer c, VkSemaphore wait, uint64_t wv, VkSemaphore sign, uint64_t
    sv, int block) {
  if (c) vkEndCommandBuffer(c);
  VkPipelineStageFlags st = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT; VkTimelineSemaphoreSubmitInfo ti =
      {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, .waitSemaphoreValueCount = !!wait,
      .pWaitSemaphoreValues = &wv, .signalSemaphoreValueCount = !!sign, .pSignalSemaphoreValues =
      &sv};
  VkSubmitInfo si = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .pNext = &ti, .commandBufferCount =
      !!c, .pCommandBuffers = &c, .waitSemaphoreCount = !!wait, .pWaitSemaphores = &wait,
      .pWaitDstStageMask = &st, .signalSemaphoreCount = !!sign, .pSignalSemaphores = &sign};
  VkFenceCreateInfo fi = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}; VkFence f;
      vkCreateFence(vkd, &fi, 0, &f); VkResult r = vkQueueSubmit(vkq, 1, &si, f); if (r || !block)
      return r; return vkWaitForFences(vkd, 1, &f, 1, 5000000000ull); }
static VkSemaphore vk_semaphore(int timeline, u64 value) {
  VkSemaphoreTypeCreateInfo ty = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY,
      .initialValue = value}; VkExportSemaphoreCreateInfo ex = {.sType =
      VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, .pNext = &ty, .handleTypes =
      VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT}; VkSemaphoreCreateInfo ci = {.sType =
      VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &ex}; VkSemaphore s = 0; VkResult r =
      vkCreateSemaphore(vkd, &ci, 0, &s); if (r) { OUT(" vkCreateSemaphore=%d", r); return 0; }
      return s; }
static int sem_fd(VkSemaphore s) { int fd = -1; VkSemaphoreGetFdInfoKHR gi = {.sType =
    VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, .semaphore = s, .handleType =
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT}; VkResult r = s ? get_sem_fd(vkd, &gi, &fd) :
    -1; if (r) { OUT(" vkGetSemaphoreFd=%d", r); return -1; } return fd; }
typedef struct { VkSemaphore v; cudaExternalSemaphore_t c; } Sem;
static int sem_new(Sem *s, int timeline, u64 value) { s->v = vk_semaphore(timeline, value); SemDesc
    d = semd(timeline ? 9 : 1, sem_fd(s->v), 0); cudaError_t r = cudaImportExternalSemaphore(&s->c,
    &d); if (r) { say("import", r); return -1; } return 0; }
static u64 value_of(Sem s) { uint64_t v = ~0ull; counter_of(vkd, s.v, &v); return v; }
static VkResult host_wait(Sem s, uint64_t v, u64 ms) { VkSemaphoreWaitInfo w = {.sType =
    VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &s.v, .pValues = &v};
    return wait_sems(vkd, &w, ms * 1000000); }
static VkResult host_signal(Sem s, u64 v) { VkSemaphoreSignalInfo w = {.sType =
    VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s.v, .value = v}; return signal_sem(vkd,
    &w); }
static cudaError_t r_signal(Sem s, u64 v, cudaStream_t t) { Signal p = sig(v); return
    cudaSignalExternalSemaphoresAsync(&s.c, &p, 1, t); }
static cudaError_t r_wait(Sem s, u64 v, cudaStream_t t) { Wait p = wai(v); return
    cudaWaitExternalSemaphoresAsync(&s.c, &p, 1, t); }
static cudaError_t settle(cudaStream_t t, int ms) { cudaError_t r; while ((r = cudaStreamQuery(t))
    == cudaErrorNotReady && ms-- > 0) usleep(1000); return r; }
GROUP(vulkan_memory) { S(); if (vk_start(0)) { CASE("vulkan") OUT("absent: %s", vk_why); return; }
    cudaExternalMemory_t m; void *p; BufferDesc b = bd(0, SIZE);
  EACH(t, 1, 2, 3, 8, 9) SC("import-type-%d", *t) try_import("r", hd(*t, vk_fd(SIZE), SIZE, 0));
  EACH(f, 0, 1) SC("import-flags-%d", *f) try_import("r", hd(1, vk_fd(SIZE), SIZE, *f)); static
      const u64 SZ[] = {0, 1, 65536, SIZE - 1, SIZE, SIZE + 1, SIZE + 65536, 2 * SIZE, 1ull << 40};
      for (int i = 0; i < N(SZ); i++)
  SC("import-size-%llx", SZ[i]) try_import("r", hd(1, vk_fd(SIZE), SZ[i], 0));
  SC("map-fill-read") { m = ext_of(vk_fd(SIZE), SIZE); say("map",
      cudaExternalMemoryGetMappedBuffer(&p, m, &b)); say("set", cudaMemset(p, 0x6b, SIZE)); unsigned
      char v = 0; say("get", cudaMemcpy(&v, (char *)p + SIZE - 1, 1, 2)); OUT(" %x", v); attrs(p,
      p); say("free", cudaFree(p)); say("destroy", cudaDestroyExternalMemory(m)); }
  SC("vulkan-frees-first") { VkDeviceMemory v = vk_alloc(SIZE, vk_local, 0); m = ext_of(mem_fd(v),
      SIZE); vkFreeMemory(vkd, v, 0); say("map", cudaExternalMemoryGetMappedBuffer(&p, m, &b));
      say("set", cudaMemset(p, 1, SIZE)); }
  SC("host-visible-seen-by-vulkan") { if (vk_host == ~0u) { OUT("no-type"); continue; }
      VkDeviceMemory v = vk_alloc(SIZE, vk_host, 0); unsigned char *h = 0; if (!v ||
      vkMapMemory(vkd, v, 0, SIZE, 0, (void **)&h)) { OUT("no-map"); continue; } memset(h, 0x2a,
      SIZE); m = ext_of(mem_fd(v), SIZE); say("map", cudaExternalMemoryGetMappedBuffer(&p, m, &b));
      unsigned char c = 0; say("get", cudaMemcpy(&c, (char *)p + 777, 1, 2)); OUT(" %x", c);
      say("set", cudaMemset(p, 0x2b, 4096)); cudaDeviceSynchronize(); OUT(" vulkan sees %x %x",
      h[0], h[4096]); attrs(p, p); }
  SC("dedicated-buffer") { VkBuffer vb = vk_buffer(SIZE); VkMemoryRequirements q;
      vkGetBufferMemoryRequirements(vkd, vb, &q); VkMemoryDedicatedAllocateInfo di = {.sType =
      VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = vb}; VkDeviceMemory v =
      vk_alloc(q.size, vk_local, &di); if (!v) continue; int fd = mem_fd(v); try_import("plain",
      hd(1, fd, q.size, 0)); fd = mem_fd(v); try_import("dedicated", hd(1, fd, q.size, 1)); }
  SC("mipmapped") { m = ext_of(vk_fd(SIZE), SIZE); MipDesc x = md(0, 64, 64, 0, ch(8, 8, 8, 8, 1),
      0, 3); cudaMipmappedArray_t mm = 0; say("map", cudaExternalMemoryGetMappedMipmappedArray(&mm,
      m, &x)); cudaArray_t a; say("level", cudaGetMipmappedArrayLevel(&a, mm, 2)); info(a);
      say("free", cudaFreeMipmappedArray(mm)); say("destroy", cudaDestroyExternalMemory(m)); } }
#define TL(s, v) Sem s; if (sem_new(&s, 1, v)) continue;
#define BIN(s) Sem s; if (sem_new(&s, 0, 0)) continue;
GROUP(vulkan_semaphores) { S(); if (vk_start(1)) { CASE("vulkan") OUT("absent: %s", vk_why); return;
    } SemDesc d; cudaExternalSemaphore_t x;
  for (int t = 0; t <= 10; t++) for (int k = 0; k < 2; k++)
  SC("import-type-%d-of-%s", t, k ? "timeline" : "binary") { int fd = sem_fd(vk_semaphore(k, 0)); d
      = semd(t, fd, 0); x = JUNK; if (!say("r", cudaImportExternalSemaphore(&x, &d))) {
      OUT(" fd %s", fcntl(fd, F_GETFL) < 0 ? "closed" : "open"); say("destroy",
      cudaDestroyExternalSemaphore(x)); } else OUT(" %s", Z(x)); }
  EACH(f, 1, 2, 4) SC("import-flags-%d", *f) { d = semd(9, sem_fd(vk_semaphore(1, 0)), *f); say("r",
      cudaImportExternalSemaphore(&x, &d)); }
  SC("destroy-twice") { TL(s, 0) say("1", cudaDestroyExternalSemaphore(s.c)); say("2",
      cudaDestroyExternalSemaphore(s.c)); }
  SC("use-after-destroy") { TL(s, 0) cudaDestroyExternalSemaphore(s.c); say("signal", r_signal(s, 1,
      st)); }
  SC("t-signal-seen") { TL(s, 0) say("signal", r_signal(s, 5, st)); say("sync",
      cudaStreamSynchronize(st)); OUT(" value %llu", value_of(s)); }
  SC("t-signal-null-stream") { TL(s, 0) say("signal", r_signal(s, 5, 0)); say("sync",
      cudaStreamSynchronize(0)); OUT(" value %llu", value_of(s)); }
  SC("t-signal-per-thread") { TL(s, 0) say("signal", r_signal(s, 5, cudaStreamPerThread));
      say("sync", cudaStreamSynchronize(cudaStreamPerThread)); OUT(" value %llu", value_of(s)); }
  SC("t-wait-already") { TL(s, 7) say("wait", r_wait(s, 5, st)); say("settle", settle(st, 3000)); }
  SC("t-wait-then-host") { TL(s, 0) say("wait", r_wait(s, 5, st)); say("query",
      cudaStreamQuery(st)); OUT(" host %d", host_signal(s, 5)); say("settle", settle(st, 3000)); }
  SC("t-wait-own-signal") { TL(s, 0) say("wait", r_wait(s, 3, st)); say("signal", r_signal(s, 3,
      nb)); say("settle", settle(st, 3000)); }
  SC("t-signal-lower") { TL(s, 9) say("signal", r_signal(s, 3, st)); say("settle", settle(st,
      3000)); OUT(" value %llu", value_of(s)); }
  SC("t-signal-value-0") { TL(s, 0) say("signal", r_signal(s, 0, st)); say("settle", settle(st,
      3000)); OUT(" value %llu", value_of(s)); }
  SC("t-both-arrays") { TL(s, 0) TL(t, 0) cudaExternalSemaphore_t c[2] = {s.c, t.c}; Signal p[2] =
      {sig(4), sig(6)}; Wait w[2] = {wai(4), wai(6)}; say("signal",
      cudaSignalExternalSemaphoresAsync(c, p, 2, st)); say("wait",
      cudaWaitExternalSemaphoresAsync(c, w, 2, nb)); say("settle", settle(nb, 3000));
      OUT(" %llu %llu", value_of(s), value_of(t)); }
  SC("t-same-twice") { TL(s, 0) cudaExternalSemaphore_t c[2] = {s.c, s.c}; Signal p[2] = {sig(4),
      sig(6)}; say("signal", cudaSignalExternalSemaphoresAsync(c, p, 2, st)); say("settle",
      settle(st, 3000)); OUT(" %llu", value_of(s)); }
  EACH(f, 1, 2, 4) SC("t-signal-flags-%d", *f) { TL(s, 0) Signal p = sig(2); p.flags = *f;
      say("signal", cudaSignalExternalSemaphoresAsync(&s.c, &p, 1, st)); Wait w = wai(0); w.flags =
      *f; say("wait", cudaWaitExternalSemaphoresAsync(&s.c, &w, 1, st)); say("settle", settle(st,
      3000)); OUT(" %llu", value_of(s)); }
  SC("t-args") { TL(s, 0) Signal p = sig(1); Wait w = wai(1); say("null-array",
      cudaSignalExternalSemaphoresAsync(0, &p, 1, st)); say("null-params",
      cudaSignalExternalSemaphoresAsync(&s.c, 0, 1, st)); say("count0",
      cudaSignalExternalSemaphoresAsync(&s.c, &p, 0, st)); say("w-null-array",
      cudaWaitExternalSemaphoresAsync(0, &w, 1, st)); say("w-null-params",
      cudaWaitExternalSemaphoresAsync(&s.c, 0, 1, st)); say("w-count0",
      cudaWaitExternalSemaphoresAsync(&s.c, &w, 0, st)); say("settle", settle(st, 3000));
      OUT(" %llu", value_of(s)); }
  SC("t-second-null") { TL(s, 0) cudaExternalSemaphore_t c[2] = {s.c, 0}; Signal pp[2] = {sig(4),
      sig(6)}; say("r", cudaSignalExternalSemaphoresAsync(c, pp, 2, st)); }
  SC("t-in-capture") { TL(s, 0) cudaStreamBeginCapture(st, 0); say("signal", r_signal(s, 5, st));
      say("wait", r_wait(s, 5, st)); cudaGraph_t g = 0; say("end", cudaStreamEndCapture(st, &g));
      size_t n = 0; if (g) cudaGraphGetNodes(g, 0, &n); OUT(" nodes %zu", n); cudaGraphNode_t no[4];
      if (n && n < 5) { cudaGraphGetNodes(g, no, &n); for (int i = 0; i < (int)n; i++) { int ty =
      -1; cudaGraphNodeGetType(no[i], (void *)&ty); OUT(" type %d", ty); } } cudaGraphExec_t e; if
      (g) { say("instantiate", cudaGraphInstantiate(&e, g, 0)); say("launch", cudaGraphLaunch(e,
      st)); say("settle", settle(st, 3000)); OUT(" value %llu", value_of(s)); } }
  SC("t-graph-nodes") { TL(s, 0) cudaGraph_t g; cudaGraphCreate(&g, 0); Signal p = sig(8); Wait w =
      wai(8); struct cudaExternalSemaphoreSignalNodeParams sp = {&s.c, &p, 1}, sq; struct
      cudaExternalSemaphoreWaitNodeParams wp = {&s.c, &w, 1}, wq; cudaGraphNode_t a, b;
      say("add-signal", cudaGraphAddExternalSemaphoresSignalNode(&a, g, 0, 0, &sp)); say("add-wait",
      cudaGraphAddExternalSemaphoresWaitNode(&b, g, &a, 1, &wp)); memset(&sq, 0, sizeof sq);
      say("get", cudaGraphExternalSemaphoresSignalNodeGetParams(a, &sq));
      OUT(" n %u same %d copied %d value %llu", sq.numExtSems, sq.extSemArray && sq.extSemArray[0]
      == s.c, sq.paramsArray != &p, sq.paramsArray ? sq.paramsArray->params.fence.value : 0);
      memset(&wq, 0, sizeof wq); say("get-wait", cudaGraphExternalSemaphoresWaitNodeGetParams(b,
      &wq)); OUT(" n %u", wq.numExtSems); say("get-wrong",
      cudaGraphExternalSemaphoresSignalNodeGetParams(b, &sq)); p.params.fence.value = 9; say("set",
      cudaGraphExternalSemaphoresSignalNodeSetParams(a, &sp)); sp.numExtSems = 0; say("set-0",
      cudaGraphExternalSemaphoresSignalNodeSetParams(a, &sp)); say("set-null",
      cudaGraphExternalSemaphoresSignalNodeSetParams(a, 0)); sp.numExtSems = 1; say("set-9",
      cudaGraphExternalSemaphoresSignalNodeSetParams(a, &sp)); cudaGraphExec_t e; say("instantiate",
      cudaGraphInstantiate(&e, g, 0)); say("launch", cudaGraphLaunch(e, st)); say("settle",
      settle(st, 3000)); OUT(" value %llu", value_of(s)); p.params.fence.value = 12; say("exec-set",
      cudaGraphExecExternalSemaphoresSignalNodeSetParams(e, a, &sp)); say("exec-wait",
      cudaGraphExecExternalSemaphoresWaitNodeSetParams(e, b, &wp)); say("launch", cudaGraphLaunch(e,
      st)); say("settle", settle(st, 3000)); OUT(" value %llu", value_of(s)); }
  SC("b-signal-then-vulkan") { BIN(s) say("signal", r_signal(s, 0, st)); say("sync", settle(st,
      3000)); OUT(" submit %d", cmd_end(0, s.v, 0, 0, 0, 1)); }
  SC("b-vulkan-then-wait") { BIN(s) OUT("submit %d", cmd_end(0, 0, 0, s.v, 0, 1)); say("wait",
      r_wait(s, 0, st)); say("settle", settle(st, 3000)); }
  SC("b-cuda-both") { BIN(s) say("signal", r_signal(s, 0, st)); say("wait", r_wait(s, 0, st));
      say("settle", settle(st, 3000)); say("signal", r_signal(s, 0, st)); say("wait", r_wait(s, 0,
      nb)); say("settle", settle(nb, 3000)); }
  SC("b-destroy-signalled") { BIN(s) say("signal", r_signal(s, 0, st)); say("settle", settle(st,
      3000)); say("destroy", cudaDestroyExternalSemaphore(s.c)); } }

// ---- OpenGL and EGL ----
typedef cudaGraphicsResource_t Res;
static GLuint glbuf(size_t n) { GLuint b; glGenBuffers_(1, &b); glBindBuffer_(GL_ARRAY_BUFFER, b);
    glBufferData_(GL_ARRAY_BUFFER, n, 0, GL_DYNAMIC_DRAW); return b; }
static GLuint gltex(GLenum t, GLenum f, int lv, int w, int h, int d) { GLuint x; glGenTextures(1,
    &x); glBindTexture(t, x); if (t == GL_TEXTURE_1D) glTexStorage1D_(t, lv, f, w); else if (t ==
    GL_TEXTURE_3D || t == GL_TEXTURE_2D_ARRAY) glTexStorage3D_(t, lv, f, w, h, d); else
    glTexStorage2D_(t, lv, f, w, h); return x; }
GROUP(gl_absent) { S(); Res r = JUNK; unsigned n = 77; int dv[4] = {-7, -7, -7, -7};
  SC("register-buffer") { say("r", cudaGraphicsGLRegisterBuffer(&r, 1, 0)); OUT(" %s", Z(r)); }
  SC("register-image") say("r", cudaGraphicsGLRegisterImage(&r, 1, GL_TEXTURE_2D, 0));
  SC("devices") { say("r", cudaGLGetDevices(&n, dv, 4, cudaGLDeviceListAll)); OUT(" %u %d", n,
      dv[0]); } SC("set-gl-device") say("r", cudaGLSetGLDevice(0));
  SC("register-object") say("r", cudaGLRegisterBufferObject(1));
  SC("map-object") { void *p; say("r", cudaGLMapBufferObject(&p, 1)); }
  SC("unmap-object") say("r", cudaGLUnmapBufferObject(1));
  SC("unregister-object") say("r", cudaGLUnregisterBufferObject(1)); }
GROUP(graphics_null) { S(); Res r = 0, j = JUNK; void *p = JUNK; size_t z = 77; cudaArray_t a;
    cudaMipmappedArray_t m;
  SC("map-count-0") { say("null", cudaGraphicsMapResources(0, 0, 0)); say("array",
      cudaGraphicsMapResources(0, &r, st)); }
  SC("map-count-minus1") say("r", cudaGraphicsMapResources(-1, &r, 0));
  SC("map-null-array") say("r", cudaGraphicsMapResources(1, 0, 0));
  SC("map-null-entry") say("r", cudaGraphicsMapResources(1, &r, 0));
  SC("unmap-count-0") say("r", cudaGraphicsUnmapResources(0, 0, 0));
  SC("unmap-null-array") say("r", cudaGraphicsUnmapResources(1, 0, 0));
  SC("unmap-null-entry") say("r", cudaGraphicsUnmapResources(1, &r, 0));
  SC("unregister-null") say("r", cudaGraphicsUnregisterResource(0));
  SC("setflags-null") say("r", cudaGraphicsResourceSetMapFlags(0, 0));
  SC("pointer-null") { say("r", cudaGraphicsResourceGetMappedPointer(&p, &z, 0)); OUT(" %s %zu",
      Z(p), z); } SC("array-null") say("r", cudaGraphicsSubResourceGetMappedArray(&a, 0, 0, 0));
  SC("mip-null") say("r", cudaGraphicsResourceGetMappedMipmappedArray(&m, 0));
  SC("unregister-junk") say("r", cudaGraphicsUnregisterResource(j));
  SC("map-junk") say("r", cudaGraphicsMapResources(1, &j, 0));
  SC("pointer-junk") say("r", cudaGraphicsResourceGetMappedPointer(&p, &z, j));
  SC("unregister-device-pointer") say("r", cudaGraphicsUnregisterResource((Res)dev)); }
GROUP(gl_devices_first) { ISO("list-before-cuda") { if (gl_start()) { OUT("no GL"); continue; }
    unsigned n = 77; int dv[4] = {-7, -7, -7, -7}; say("r", cudaGLGetDevices(&n, dv, 4, 1));
    OUT(" %u %d %d", n, dv[0], dv[1]); state(); } ISO("set-gl-device-before-cuda") { if (gl_start())
    { OUT("no GL"); continue; } say("r", cudaGLSetGLDevice(0)); state(); }
ISO("register-before-cuda") { if (gl_start()) { OUT("no GL"); continue; } Res r; say("r",
    cudaGraphicsGLRegisterBuffer(&r, glbuf(4096), 0)); state(); } }
GROUP(gl_buffer) { S(); if (gl_start()) { CASE("gl") OUT("absent"); return; } Res r, q; void *p;
    size_t z; cudaArray_t a; cudaMipmappedArray_t m;
  EACH(l, 0, 1, 2, 3, 4, -1) SC("devices-list-%d", *l) { unsigned n = 77; int dv[4] = {-7, -7, -7,
      -7}; say("r", cudaGLGetDevices(&n, dv, 4, *l)); OUT(" %u %d %d", n, dv[0], dv[1]); n = 77;
      say("count0", cudaGLGetDevices(&n, dv, 0, *l)); OUT(" %u", n); }
  SC("devices-nulls") { unsigned n; int dv[4]; say("count", cudaGLGetDevices(0, dv, 4, 1));
      say("array", cudaGLGetDevices(&n, 0, 4, 1)); say("array0", cudaGLGetDevices(&n, 0, 0, 1)); }
  for (unsigned f = 0; f < 18; f++)
  SC("register-flags-%u", f) { r = JUNK; say("r", cudaGraphicsGLRegisterBuffer(&r, glbuf(4096), f));
      OUT(" %s", Z(r)); if (r && r != JUNK) say("un", cudaGraphicsUnregisterResource(r)); }
  SC("register-0") { r = JUNK; say("r", cudaGraphicsGLRegisterBuffer(&r, 0, 0)); OUT(" %s", Z(r)); }
  SC("register-missing") say("r", cudaGraphicsGLRegisterBuffer(&r, 12345, 0));
  SC("register-null-out") say("r", cudaGraphicsGLRegisterBuffer(0, glbuf(4096), 0));
  SC("register-no-storage") { GLuint b; glGenBuffers_(1, &b); glBindBuffer_(GL_ARRAY_BUFFER, b);
      say("r", cudaGraphicsGLRegisterBuffer(&r, b, 0)); }
  SC("register-twice") { GLuint b = glbuf(4096); say("1", cudaGraphicsGLRegisterBuffer(&r, b, 0));
      say("2", cudaGraphicsGLRegisterBuffer(&q, b, 0)); OUT(" different %d", r != q); }
  SC("register-texture-id") say("r", cudaGraphicsGLRegisterBuffer(&r, gltex(GL_TEXTURE_2D, GL_RGBA8,
      1, 16, 16, 1), 0));
#define BUF MUSTR(cudaGraphicsGLRegisterBuffer(&r, glbuf(4096), 0));
  SC("cycle") { BUF say("map", cudaGraphicsMapResources(1, &r, 0)); say("pointer",
      cudaGraphicsResourceGetMappedPointer(&p, &z, r)); OUT(" %zu align %llx", z, pow2((u64)p,
      256)); say("set", cudaMemset(p, 0x5a, z)); attrs(p, p); say("unmap",
      cudaGraphicsUnmapResources(1, &r, 0)); unsigned char b[4];
      glGetBufferSubData_(GL_ARRAY_BUFFER, 0, 4, b); OUT(" gl %x", b[3]); say("pointer-after",
      cudaGraphicsResourceGetMappedPointer(&p, &z, r)); say("un",
      cudaGraphicsUnregisterResource(r)); }
  SC("not-mapped") { BUF p = JUNK; z = 77; say("pointer", cudaGraphicsResourceGetMappedPointer(&p,
      &z, r)); OUT(" %s %zu", Z(p), z); say("array", cudaGraphicsSubResourceGetMappedArray(&a, r, 0,
      0)); say("mip", cudaGraphicsResourceGetMappedMipmappedArray(&m, r)); say("unmap",
      cudaGraphicsUnmapResources(1, &r, 0)); }
  SC("map-twice") { BUF say("1", cudaGraphicsMapResources(1, &r, 0)); say("2",
      cudaGraphicsMapResources(1, &r, 0)); say("unmap", cudaGraphicsUnmapResources(1, &r, 0));
      say("unmap", cudaGraphicsUnmapResources(1, &r, 0)); }
  SC("map-duplicate") { BUF Res d[2] = {r, r}; say("r", cudaGraphicsMapResources(2, d, 0));
      say("pointer", cudaGraphicsResourceGetMappedPointer(&p, &z, r)); say("unmap",
      cudaGraphicsUnmapResources(1, &r, 0)); }
  SC("map-two-one-mapped") { BUF q = r; BUF cudaGraphicsMapResources(1, &q, 0); Res d[2] = {r, q};
      say("r", cudaGraphicsMapResources(2, d, 0)); say("first",
      cudaGraphicsResourceGetMappedPointer(&p, &z, r)); }
  SC("unmap-two-one-unmapped") { BUF q = r; BUF cudaGraphicsMapResources(1, &q, 0); Res d[2] = {q,
      r}; say("r", cudaGraphicsUnmapResources(2, d, 0)); say("first",
      cudaGraphicsResourceGetMappedPointer(&p, &z, q)); }
  SC("image-calls-on-buffer") { BUF cudaGraphicsMapResources(1, &r, 0); a = JUNK; say("array",
      cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0)); OUT(" %s", Z(a)); m = JUNK; say("mip",
      cudaGraphicsResourceGetMappedMipmappedArray(&m, r)); OUT(" %s", Z(m)); }
  SC("pointer-nulls") { BUF cudaGraphicsMapResources(1, &r, 0); say("ptr",
      cudaGraphicsResourceGetMappedPointer(0, &z, r)); say("size",
      cudaGraphicsResourceGetMappedPointer(&p, 0, r)); say("both",
      cudaGraphicsResourceGetMappedPointer(0, 0, r)); say("array-out",
      cudaGraphicsSubResourceGetMappedArray(0, r, 0, 0)); say("mip-out",
      cudaGraphicsResourceGetMappedMipmappedArray(0, r)); }
  SC("unregister-mapped") { BUF cudaGraphicsMapResources(1, &r, 0);
      cudaGraphicsResourceGetMappedPointer(&p, &z, r); say("un", cudaGraphicsUnregisterResource(r));
      say("set", cudaMemset(p, 1, 16)); }
  SC("unregister-twice") { BUF say("1", cudaGraphicsUnregisterResource(r)); say("2",
      cudaGraphicsUnregisterResource(r)); }
  SC("use-after-unregister") { BUF cudaGraphicsUnregisterResource(r); say("map",
      cudaGraphicsMapResources(1, &r, 0)); }
  SC("free-mapped-pointer") { BUF cudaGraphicsMapResources(1, &r, 0);
      cudaGraphicsResourceGetMappedPointer(&p, &z, r); say("free", cudaFree(p)); say("unmap",
      cudaGraphicsUnmapResources(1, &r, 0)); } for (unsigned f = 0; f < 6; f++)
  SC("mapflags-%u", f) { BUF say("set", cudaGraphicsResourceSetMapFlags(r, f)); say("map",
      cudaGraphicsMapResources(1, &r, 0)); say("mapped", cudaGraphicsResourceSetMapFlags(r, f));
      say("unmap", cudaGraphicsUnmapResources(1, &r, 0)); }
  SC("gl-deletes-first") { GLuint b = glbuf(4096); MUSTR(cudaGraphicsGLRegisterBuffer(&r, b, 0));
      glDeleteBuffers_(1, &b); say("map", cudaGraphicsMapResources(1, &r, 0)); say("pointer",
      cudaGraphicsResourceGetMappedPointer(&p, &z, r)); }
  SC("map-in-capture") { BUF cudaStreamBeginCapture(st, 0); say("map", cudaGraphicsMapResources(1,
      &r, st)); int x = -1; cudaStreamIsCapturing(st, (void *)&x); OUT(" status %d", x); cudaGraph_t
      g = 0; say("end", cudaStreamEndCapture(st, &g)); }
  SC("register-in-capture") { cudaStreamBeginCapture(st, 0); say("r",
      cudaGraphicsGLRegisterBuffer(&r, glbuf(64), 0)); cudaGraph_t g = 0; say("end",
      cudaStreamEndCapture(st, &g)); }
  SC("stream-per-thread") { BUF say("map", cudaGraphicsMapResources(1, &r, cudaStreamPerThread));
      say("unmap", cudaGraphicsUnmapResources(1, &r, cudaStreamLegacy)); }
  SC("old-cycle") { GLuint b = glbuf(4096); say("register", cudaGLRegisterBufferObject(b));
      say("again", cudaGLRegisterBufferObject(b)); say("flags", cudaGLSetBufferObjectMapFlags(b,
      1)); say("flags-3", cudaGLSetBufferObjectMapFlags(b, 3)); p = JUNK; say("map",
      cudaGLMapBufferObject(&p, b)); OUT(" %s", Z(p)); say("map-again", cudaGLMapBufferObject(&p,
      b)); say("flags-mapped", cudaGLSetBufferObjectMapFlags(b, 0)); say("unmap",
      cudaGLUnmapBufferObject(b)); say("unmap", cudaGLUnmapBufferObject(b)); say("map-async",
      cudaGLMapBufferObjectAsync(&p, b, st)); say("unmap-async", cudaGLUnmapBufferObjectAsync(b,
      st)); say("unregister", cudaGLUnregisterBufferObject(b)); say("unregister",
      cudaGLUnregisterBufferObject(b)); say("map-unregistered", cudaGLMapBufferObject(&p, b));
      say("flags-unregistered", cudaGLSetBufferObjectMapFlags(b, 0)); }
  SC("old-null-out") { GLuint b = glbuf(64); cudaGLRegisterBufferObject(b); say("map",
      cudaGLMapBufferObject(0, b)); }
  SC("old-object-0") say("r", cudaGLRegisterBufferObject(0));
  SC("set-gl-device") { say("0", cudaGLSetGLDevice(0)); say("9", cudaGLSetGLDevice(9)); } }
GROUP(gl_image) { S(); if (gl_start()) { CASE("gl") OUT("absent"); return; } Res r; cudaArray_t a,
    b; cudaMipmappedArray_t m; void *p; size_t z;
  static const struct { const char *n; GLenum f; } F[] = {{"R8", GL_R8}, {"RG8", GL_RG8}, {"RGB8",
      GL_RGB8}, {"RGBA8", GL_RGBA8}, {"R16F", GL_R16F}, {"RGBA16F", GL_RGBA16F}, {"R32F", GL_R32F},
      {"RG32F", GL_RG32F}, {"RGBA32F", GL_RGBA32F}, {"R8UI", GL_R8UI}, {"R32I", GL_R32I},
      {"RGBA32UI", GL_RGBA32UI}, {"SRGB8A8", GL_SRGB8_ALPHA8}, {"D24", GL_DEPTH_COMPONENT24},
      {"D32F", GL_DEPTH_COMPONENT32F}, {"RGB10A2", GL_RGB10_A2}, {"R16", GL_R16}, {"RGBA8SN",
      GL_RGBA8_SNORM}}; for (int i = 0; i < N(F); i++)
  SC("format-%s", F[i].n) { r = JUNK; if (!say("r", cudaGraphicsGLRegisterImage(&r,
      gltex(GL_TEXTURE_2D, F[i].f, 1, 32, 24, 1), GL_TEXTURE_2D, 0))) { say("map",
      cudaGraphicsMapResources(1, &r, 0)); if (!say("sub", cudaGraphicsSubResourceGetMappedArray(&a,
      r, 0, 0))) info(a); } else OUT(" %s", Z(r)); }
  for (unsigned f = 0; f < 18; f++)
  SC("register-flags-%u", f) { r = JUNK; if (!say("r", cudaGraphicsGLRegisterImage(&r,
      gltex(GL_TEXTURE_2D, GL_RGBA8, 1, 16, 16, 1), GL_TEXTURE_2D, f))) {
      cudaGraphicsMapResources(1, &r, 0); cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
      info(a); say("unmap", cudaGraphicsUnmapResources(1, &r, 0)); say("un",
      cudaGraphicsUnregisterResource(r)); } }
  SC("wrong-target") { GLuint t = gltex(GL_TEXTURE_2D, GL_RGBA8, 1, 16, 16, 1); say("3d",
      cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_3D, 0)); say("junk",
      cudaGraphicsGLRegisterImage(&r, t, 0x1234, 0)); say("0", cudaGraphicsGLRegisterImage(&r, 0,
      GL_TEXTURE_2D, 0)); say("missing", cudaGraphicsGLRegisterImage(&r, 9999, GL_TEXTURE_2D, 0));
      say("null-out", cudaGraphicsGLRegisterImage(0, t, GL_TEXTURE_2D, 0)); }
  static const struct { const char *n; GLenum t; int lv, w, h, d; } T[] = {{"1D", GL_TEXTURE_1D, 1,
      64, 1, 1}, {"2D", GL_TEXTURE_2D, 4, 64, 32, 1}, {"2D-1", GL_TEXTURE_2D, 1, 64, 32, 1},
      {"RECT", GL_TEXTURE_RECTANGLE, 1, 64, 32, 1}, {"3D", GL_TEXTURE_3D, 3, 32, 16, 8}, {"2DARRAY",
      GL_TEXTURE_2D_ARRAY, 3, 32, 16, 4}, {"CUBE", GL_TEXTURE_CUBE_MAP, 3, 32, 32, 1}}; for (int i =
      0; i < N(T); i++) { SC("sub-%s", T[i].n) { r = 0; if (say("r", cudaGraphicsGLRegisterImage(&r,
      gltex(T[i].t, GL_RGBA8, T[i].lv, T[i].w, T[i].h, T[i].d), T[i].t, 0))) continue; say("map",
      cudaGraphicsMapResources(1, &r, 0)); EACH(l, 0, 1, 3, 4, 5, 6) EACH(v, 0, 1, 2, 3, 4) { a =
      JUNK; SAY(cudaGraphicsSubResourceGetMappedArray(&a, r, *l, *v), "%d.%d", *l, *v); if (a && a
      != JUNK && *l == 0) info(a); } m = JUNK; if (!say("mip",
      cudaGraphicsResourceGetMappedMipmappedArray(&m, r))) { for (int l = 0; l < 5; l++) { a = JUNK;
      if (SAY(cudaGetMipmappedArrayLevel(&a, m, l), "level%d", l)) break; info(a); } } p = JUNK; z =
      77; say("pointer", cudaGraphicsResourceGetMappedPointer(&p, &z, r)); } }
#define IMG(f) MUSTR(cudaGraphicsGLRegisterImage(&r, gltex(GL_TEXTURE_2D, GL_RGBA8, 1, 16, 16, 1), \
    GL_TEXTURE_2D, f));
  SC("not-mapped") { IMG(0) a = JUNK; say("sub", cudaGraphicsSubResourceGetMappedArray(&a, r, 0,
      0)); OUT(" %s", Z(a)); m = JUNK; say("mip", cudaGraphicsResourceGetMappedMipmappedArray(&m,
      r)); OUT(" %s", Z(m)); say("pointer", cudaGraphicsResourceGetMappedPointer(&p, &z, r));
      say("unmap", cudaGraphicsUnmapResources(1, &r, 0)); }
  SC("mapped-array") { IMG(4) cudaGraphicsMapResources(1, &r, 0);
      cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cudaGraphicsSubResourceGetMappedArray(&b,
      r, 0, 0); OUT("same %d", a == b); say("write", cudaMemcpy2DToArray(a, 0, 0, page, 64, 64, 16,
      1)); struct cudaResourceDesc d = res(0, a); cudaSurfaceObject_t so; say("surface",
      cudaCreateSurfaceObject(&so, &d)); struct cudaTextureDesc t; memset(&t, 0, sizeof t);
      tex_try("texture", d, t, 0, a); say("free", cudaFreeArray(a)); say("unmap",
      cudaGraphicsUnmapResources(1, &r, 0)); say("write-after", cudaMemcpy2DToArray(a, 0, 0, page,
      64, 64, 16, 1)); } SC("unregister-mapped") { IMG(0) cudaGraphicsMapResources(1, &r, 0);
      say("un", cudaGraphicsUnregisterResource(r)); }
  SC("surface-without-flag") { IMG(0) cudaGraphicsMapResources(1, &r, 0);
      cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0); struct cudaResourceDesc d = res(0, a);
      cudaSurfaceObject_t so; say("r", cudaCreateSurfaceObject(&so, &d)); }
  SC("plane-of-mapped") { IMG(0) cudaGraphicsMapResources(1, &r, 0);
      cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0); say("r", cudaArrayGetPlane(&b, a, 0)); } }
GROUP(egl) { S(); Res r = JUNK; cudaEglStreamConnection c = 0; cudaEglFrame f; memset(&f, 0, sizeof
    f); cudaEvent_t e; cudaStream_t s = st;
  SC("register-null-image") { say("r", cudaGraphicsEGLRegisterImage(&r, 0, 0)); OUT(" %s", Z(r)); }
  SC("register-null-out") say("r", cudaGraphicsEGLRegisterImage(0, 0, 0));
  SC("register-junk-image") say("r", cudaGraphicsEGLRegisterImage(&r, JUNK, 0));
  SC("register-flags") say("r", cudaGraphicsEGLRegisterImage(&r, 0, 99));
  SC("consumer-null") say("r", cudaEGLStreamConsumerConnect(0, 0));
  SC("consumer-null-stream") { say("r", cudaEGLStreamConsumerConnect(&c, 0)); say("flags",
      cudaEGLStreamConsumerConnectWithFlags(&c, 0, 0)); }
  SC("consumer-junk-stream") say("r", cudaEGLStreamConsumerConnect(&c, JUNK));
  SC("consumer-disconnect-null") { c = 0; say("conn", cudaEGLStreamConsumerDisconnect(&c)); }
  SC("consumer-disconnect-null-pointer") say("r", cudaEGLStreamConsumerDisconnect(0));
  SC("producer-null") say("r", cudaEGLStreamProducerConnect(0, 0, 0, 0));
  SC("producer-null-stream") say("r", cudaEGLStreamProducerConnect(&c, 0, 64, 64));
  SC("producer-disconnect-null") { c = 0; say("conn", cudaEGLStreamProducerDisconnect(&c)); }
  SC("acquire-null") { c = 0; say("r", cudaEGLStreamConsumerAcquireFrame(&c, &r, &s, 0)); }
  SC("acquire-null-pointer") say("r", cudaEGLStreamConsumerAcquireFrame(0, &r, &s, 0));
  SC("release-null") { c = 0; say("r", cudaEGLStreamConsumerReleaseFrame(&c, 0, &s)); }
  SC("present-null") { c = 0; say("r", cudaEGLStreamProducerPresentFrame(&c, f, &s)); }
  SC("return-null") { c = 0; say("r", cudaEGLStreamProducerReturnFrame(&c, &f, &s)); }
  SC("mapped-frame-null") say("r", cudaGraphicsResourceGetMappedEglFrame(&f, 0, 0, 0));
  SC("event-null-sync") { e = JUNK; say("r", cudaEventCreateFromEGLSync(&e, 0, 0)); OUT(" %s",
      Z(e)); } SC("event-null-out") say("r", cudaEventCreateFromEGLSync(0, 0, 0)); }
GROUP(egl_image) { S(); if (gl_start()) { CASE("gl") OUT("absent"); return; } EGLDisplay dp =
    eglGetCurrentDisplay(); EGLContext cx = eglGetCurrentContext(); PFNEGLCREATEIMAGEKHRPROC mkimg =
    (void *)eglGetProcAddress("eglCreateImageKHR"); GLuint t = gltex(GL_TEXTURE_2D, GL_RGBA8, 1, 64,
    32, 1); EGLint at[] = {EGL_NONE}; EGLImageKHR im = mkimg ? mkimg(dp, cx, EGL_GL_TEXTURE_2D_KHR,
    (EGLClientBuffer)(uintptr_t)t, at) : 0; Res r;
  SC("image") OUT("%s", im ? "made" : "none"); if (im) { for (unsigned f = 0; f < 6; f++)
  SC("register-flags-%u", f) { r = JUNK; if (!say("r", cudaGraphicsEGLRegisterImage(&r, im, f))) {
      cudaEglFrame e; memset(&e, 0, sizeof e); say("frame-unmapped",
      cudaGraphicsResourceGetMappedEglFrame(&e, r, 0, 0));
      OUT(" type %d planes %u color %d %ux%u pitch %u ch %u fmt %d/%d", e.frameType, e.planeCount,
      e.eglColorFormat, e.planeDesc[0].width, e.planeDesc[0].height, e.planeDesc[0].pitch,
      e.planeDesc[0].numChannels, e.planeDesc[0].channelDesc.x, e.planeDesc[0].channelDesc.f); if
      (e.frameType == 0 && e.frame.pArray[0]) info(e.frame.pArray[0]); say("frame-1",
      cudaGraphicsResourceGetMappedEglFrame(&e, r, 1, 0)); say("frame-mip1",
      cudaGraphicsResourceGetMappedEglFrame(&e, r, 0, 1)); say("null",
      cudaGraphicsResourceGetMappedEglFrame(0, r, 0, 0)); say("map", cudaGraphicsMapResources(1, &r,
      0)); cudaArray_t a; say("sub", cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0)); say("un",
      cudaGraphicsUnregisterResource(r)); } } } }
GROUP(vdpau) { static const char *const V[] = {"cudaVDPAUGetDevice", "cudaVDPAUSetVDPAUDevice",
    "cudaGraphicsVDPAURegisterVideoSurface", "cudaGraphicsVDPAURegisterOutputSurface",
    "cudaBindTexture", "cudaConfigureCall", "cudaThreadExit", "cudaThreadSynchronize",
    "cudaLaunchCooperativeKernelMultiDevice", "cudaGetDeviceProperties_v2",
    "cudaStreamGetCaptureInfo_v2", "cudaMemPrefetchAsync_v2", "cudaMemAdvise_v2",
    "cudaGraphicsD3D9RegisterResource", "cudaNvSciSync", "cudaDeviceGetDevResource",
    "cudaStreamGetCaptureInfo_ptsz", "cudaMemcpy_ptds", "cudaMalloc_ptds", "__cudaRegisterTexture",
    "__cudaRegisterSurface", "__cudaInitManagedRuntime", "__cudaRegisterManagedVar",
    "__cudaRegisterUnifiedTable", "cudaGraphExecUpdate", "cudaSignalExternalSemaphoresAsync_v2"};
    for (int i = 0; i < N(V); i++) CASE("symbol-%s", V[i]) OUT("%s", dlsym(RTLD_DEFAULT, V[i]) ?
    "present" : "absent");
  S(); SC("get-device-nulls") { int d = -7; cudaError_t (*f)(int *, unsigned, void *) =
      dlsym(RTLD_DEFAULT, "cudaVDPAUGetDevice"); if (f) say("r", f(&d, 0, 0)); OUT(" %d", d); }
  SC("set-device") { cudaError_t (*f)(int, unsigned, void *) = dlsym(RTLD_DEFAULT,
      "cudaVDPAUSetVDPAUDevice"); if (f) say("r", f(0, 0, 0)); }
  SC("register-video") { Res r; cudaError_t (*f)(Res *, unsigned, unsigned) = dlsym(RTLD_DEFAULT,
      "cudaGraphicsVDPAURegisterVideoSurface"); if (f) say("r", f(&r, 0, 0)); } }

// ---- streams and events ----
static cudaStream_t SN(int i) { return i == 0 ? NULL : i == 1 ? cudaStreamLegacy :
    cudaStreamPerThread; } static const char *const sn[] = {"null", "legacy", "per-thread"};
GROUP(streams) { S(); cudaStream_t s; unsigned f; int pr; u64 id, id2; int dv;
  EACH(fl, 0, 1, 2, 3, 4, 8, -1)
  SC("create-flags-%d", *fl) { s = JUNK; say("r", cudaStreamCreateWithFlags(&s, *fl)); OUT(" %s",
      Z(s)); if (s && s != JUNK) { f = 77; say("flags", cudaStreamGetFlags(s, &f)); OUT(" %u", f);
      pr = 77; say("priority", cudaStreamGetPriority(s, &pr)); OUT(" %d", pr); dv = 77;
      say("device", cudaStreamGetDevice(s, &dv)); OUT(" %d", dv); say("destroy",
      cudaStreamDestroy(s)); } }
  SC("create-null") { say("plain", cudaStreamCreate(0)); say("flags", cudaStreamCreateWithFlags(0,
      0)); say("priority", cudaStreamCreateWithPriority(0, 0, 0)); }
  EACH(p, -100, -6, -5, -3, -1, 0, 1, 5, 100)
  EACH(fl, 0, 1, 2) SC("priority-%d-flags-%d", *p, *fl) { s = JUNK; say("r",
      cudaStreamCreateWithPriority(&s, *fl, *p)); if (s && s != JUNK) { pr = 77;
      cudaStreamGetPriority(s, &pr); OUT(" %d", pr); cudaStreamDestroy(s); } }
  for (int i = 0; i < 3; i++) SC("handle-%s", sn[i]) { s = SN(i); say("query", cudaStreamQuery(s));
      say("sync", cudaStreamSynchronize(s)); f = 77; say("flags", cudaStreamGetFlags(s, &f));
      OUT(" %u", f); pr = 77; say("priority", cudaStreamGetPriority(s, &pr)); OUT(" %d", pr); dv =
      77; say("device", cudaStreamGetDevice(s, &dv)); OUT(" %d", dv); id = 0; say("id",
      cudaStreamGetId(s, &id)); cudaStreamGetId(SN(0), &id2); OUT(" same-as-null %d", id == id2);
      int c = 77; say("capturing", cudaStreamIsCapturing(s, (void *)&c)); OUT(" %d", c);
      say("record", cudaEventRecord(ev, s)); say("wait", cudaStreamWaitEvent(s, ev, 0)); say("host",
      cudaLaunchHostFunc(s, host_nop, 0)); say("begin", cudaStreamBeginCapture(s, 0)); cudaGraph_t g
      = 0; say("end", cudaStreamEndCapture(s, &g)); say("attach", cudaStreamAttachMemAsync(s, 0, 0,
      0)); } for (int i = 0; i < 3; i++)
  SC("destroy-%s", sn[i]) say("r", cudaStreamDestroy(SN(i)));
  Q("null-flags", cudaStreamGetFlags(st, 0))
  Q("null-priority", cudaStreamGetPriority(st, 0))
  Q("null-device", cudaStreamGetDevice(st, 0))
  Q("null-id", cudaStreamGetId(st, 0))
  Q("null-capturing", cudaStreamIsCapturing(st, 0))
  EACH(h, 3, 4, 16) SC("small-handle-%d", *h) say("query", cudaStreamQuery((cudaStream_t)(long)*h));
  SC("junk-query") say("r", cudaStreamQuery(JUNK));
  SC("junk-sync") say("r", cudaStreamSynchronize(JUNK));
  SC("junk-destroy") say("r", cudaStreamDestroy(JUNK));
  SC("junk-flags") say("r", cudaStreamGetFlags(JUNK, &f));
  SC("junk-memset") say("r", cudaMemsetAsync(dev, 1, 4, JUNK));
  SC("event-as-stream") say("r", cudaStreamQuery((cudaStream_t)ev));
  SC("destroyed-query") { cudaStreamCreate(&s); cudaStreamDestroy(s); say("r", cudaStreamQuery(s));
      } SC("destroyed-sync") { cudaStreamCreate(&s); cudaStreamDestroy(s); say("r",
      cudaStreamSynchronize(s)); }
  SC("destroyed-destroy") { cudaStreamCreate(&s); cudaStreamDestroy(s); say("r",
      cudaStreamDestroy(s)); } SC("destroyed-memset") { cudaStreamCreate(&s); cudaStreamDestroy(s);
      say("r", cudaMemsetAsync(dev, 1, 4, s)); }
  SC("destroyed-record") { cudaStreamCreate(&s); cudaStreamDestroy(s); say("r", cudaEventRecord(ev,
      s)); }
  SC("query-states") { say("idle", cudaStreamQuery(st)); gate(st); say("held", cudaStreamQuery(st));
      say("null-too", cudaStreamQuery(0)); say("legacy", cudaStreamQuery(cudaStreamLegacy));
      say("per-thread", cudaStreamQuery(cudaStreamPerThread)); say("non-blocking",
      cudaStreamQuery(nb)); gopen(); say("sync", cudaStreamSynchronize(st)); say("idle",
      cudaStreamQuery(st)); } SC("legacy-waits-for-blocking") { gate(st); say("memset",
      cudaMemsetAsync(dev, 1, 4, 0)); say("legacy", cudaStreamQuery(0)); gopen(); say("sync",
      cudaStreamSynchronize(0)); }
  SC("legacy-ignores-non-blocking") { gate(nb); say("memset", cudaMemsetAsync(dev, 1, 4, 0));
      say("sync", cudaStreamSynchronize(0)); say("nb", cudaStreamQuery(nb)); gopen();
      cudaStreamSynchronize(nb); }
  SC("per-thread-waits-for-legacy") { gate(0); say("memset", cudaMemsetAsync(dev, 1, 4,
      cudaStreamPerThread)); say("query", cudaStreamQuery(cudaStreamPerThread)); gopen();
      say("sync", cudaStreamSynchronize(cudaStreamPerThread)); }
  SC("per-thread-beside-blocking") { gate(st); say("memset", cudaMemsetAsync(dev, 1, 4,
      cudaStreamPerThread)); usleep(20000); say("query", cudaStreamQuery(cudaStreamPerThread));
      gopen(); cudaDeviceSynchronize(); }
  SC("destroy-busy") { cudaStreamCreate(&s); gate(s); say("destroy", cudaStreamDestroy(s)); gopen();
      }
  for (int a = 0; a <= 17; a++)
  SC("attribute-%d", a) { cudaLaunchAttributeValue v; memset(&v, 0x55, sizeof v);
      cudaStreamCreate(&s); say("get", cudaStreamGetAttribute(s, a, &v)); OUT(" %d", *(int *)&v ==
      0x55555555 ? -1 : *(int *)&v); memset(&v, 0, sizeof v); say("set0", cudaStreamSetAttribute(s,
      a, &v)); *(int *)&v = 1; say("set1", cudaStreamSetAttribute(s, a, &v)); memset(&v, 0, sizeof
      v); say("get", cudaStreamGetAttribute(s, a, &v)); OUT(" %d", *(int *)&v); say("copy",
      cudaStreamCopyAttributes(st, s)); memset(&v, 0x55, sizeof v); say("null-stream",
      cudaStreamGetAttribute(0, a, &v)); OUT(" %d", *(int *)&v == 0x55555555 ? -1 : *(int *)&v);
      cudaStreamDestroy(s); } Q("attribute-get-null", cudaStreamGetAttribute(st, 8, 0))
  Q("attribute-set-null", cudaStreamSetAttribute(st, 8, 0))
  Q("attribute-get-unknown-null", cudaStreamGetAttribute(st, 99, 0))
  Q("attribute-copy-to-null-stream", cudaStreamCopyAttributes(0, st))
  Q("attribute-copy-from-null-stream", cudaStreamCopyAttributes(st, 0))
  SC("attach") { say("pinned", cudaStreamAttachMemAsync(st, pin, 0, 1)); say("null",
      cudaStreamAttachMemAsync(st, 0, 0, 1)); say("flags-9", cudaStreamAttachMemAsync(st, dev, 0,
      9)); } }
static void *ptid(void *p) { cudaStreamGetId(cudaStreamPerThread, p); return 0; }
GROUP(events) { S(); cudaEvent_t e, e2; float ms;
  for (int f = 0; f < 10; f++) SC("create-flags-%d", f) { e = JUNK; say("r",
      cudaEventCreateWithFlags(&e, f)); OUT(" %s", Z(e)); if (e && e != JUNK) { say("query",
      cudaEventQuery(e)); say("sync", cudaEventSynchronize(e)); say("elapsed-unrecorded",
      cudaEventElapsedTime(&ms, e, e)); say("record", cudaEventRecord(e, st)); say("sync",
      cudaEventSynchronize(e)); say("elapsed", cudaEventElapsedTime(&ms, e, e)); say("destroy",
      cudaEventDestroy(e)); } }
  SC("nulls") { say("create", cudaEventCreate(0)); say("flags", cudaEventCreateWithFlags(0, 0)); }
  SC("null-record") say("r", cudaEventRecord(0, st));
  SC("null-query") say("r", cudaEventQuery(0));
  SC("null-sync") say("r", cudaEventSynchronize(0));
  SC("null-destroy") say("r", cudaEventDestroy(0));
  SC("null-wait") say("r", cudaStreamWaitEvent(st, 0, 0));
  SC("null-elapsed") { say("start", cudaEventElapsedTime(&ms, 0, ev)); say("end",
      cudaEventElapsedTime(&ms, ev, 0)); }
  SC("null-elapsed-out") { cudaEventRecord(ev, 0); cudaEventSynchronize(ev); say("r",
      cudaEventElapsedTime(0, ev, ev)); }
  SC("junk-record") say("r", cudaEventRecord(JUNK, st));
  SC("junk-query") say("r", cudaEventQuery(JUNK));
  SC("junk-destroy") say("r", cudaEventDestroy(JUNK));
  SC("destroyed-record") { cudaEventCreate(&e); cudaEventDestroy(e); say("r", cudaEventRecord(e,
      0)); } SC("destroyed-query") { cudaEventCreate(&e); cudaEventDestroy(e); say("r",
      cudaEventQuery(e)); } SC("destroyed-destroy") { cudaEventCreate(&e); cudaEventDestroy(e);
      say("r", cudaEventDestroy(e)); }
  SC("destroyed-wait") { cudaEventCreate(&e); cudaEventDestroy(e); say("r", cudaStreamWaitEvent(st,
      e, 0)); } SC("stream-as-event") say("r", cudaEventQuery((cudaEvent_t)st));
  EACH(f, 0, 1, 2, 3) SC("record-flags-%d", *f) say("r", cudaEventRecordWithFlags(ev, st, *f));
  EACH(f, 0, 1, 2, 3) SC("wait-flags-%d", *f) { cudaEventRecord(ev, st); say("r",
      cudaStreamWaitEvent(nb, ev, *f)); }
  SC("wait-unrecorded") { cudaEventCreate(&e); say("r", cudaStreamWaitEvent(st, e, 0)); say("query",
      cudaStreamQuery(st)); } SC("elapsed-one-unrecorded") { cudaEventCreate(&e);
      cudaEventCreate(&e2); cudaEventRecord(e, 0); cudaEventSynchronize(e); say("end",
      cudaEventElapsedTime(&ms, e, e2)); say("start", cudaEventElapsedTime(&ms, e2, e)); }
  SC("elapsed-order") { cudaEventCreate(&e); cudaEventCreate(&e2); cudaEventRecord(e, 0);
      cudaMemset(dev, 0, DEVN); cudaEventRecord(e2, 0); cudaEventSynchronize(e2); ms = -99;
      say("forward", cudaEventElapsedTime(&ms, e, e2)); OUT(" %s", ms > 0 ? "positive" : ms == 0 ?
      "zero" : "negative"); say("back", cudaEventElapsedTime(&ms, e2, e)); OUT(" %s", ms > 0 ?
      "positive" : ms == 0 ? "zero" : "negative"); say("same", cudaEventElapsedTime(&ms, e, e));
      OUT(" %g", ms); } SC("elapsed-no-timing") { cudaEventCreateWithFlags(&e,
      cudaEventDisableTiming); cudaEventRecord(e, 0); cudaEventRecord(ev, 0);
      cudaDeviceSynchronize(); say("r", cudaEventElapsedTime(&ms, e, ev)); }
  SC("elapsed-not-ready") { cudaEventCreate(&e); cudaEventCreate(&e2); cudaEventRecord(e, st);
      gate(st); cudaEventRecord(e2, st); say("end-held", cudaEventElapsedTime(&ms, e, e2));
      say("query", cudaEventQuery(e2)); gopen(); say("sync", cudaEventSynchronize(e2)); say("r",
      cudaEventElapsedTime(&ms, e, e2)); }
  SC("re-record-moves") { cudaEventCreate(&e); cudaEventRecord(e, nb); cudaEventSynchronize(e);
      gate(st); cudaEventRecord(e, st); say("query", cudaEventQuery(e)); gopen(); say("sync",
      cudaEventSynchronize(e)); }
  SC("destroy-pending") { cudaEventCreate(&e); gate(st); cudaEventRecord(e, st); say("wait",
      cudaStreamWaitEvent(nb, e, 0)); say("destroy", cudaEventDestroy(e)); say("nb",
      cudaStreamQuery(nb)); gopen(); say("sync", cudaStreamSynchronize(nb)); }
  SC("per-thread-ids") { u64 a = 0, b = 0, c = 0; ptid(&a); pthread_t t; pthread_create(&t, 0, ptid,
      &b); pthread_join(t, 0); cudaStreamGetId(0, &c); OUT("threads differ %d from-legacy %d", a !=
      b, a != c); } }
static volatile int seen_err; static void CUDART_CB hf_calls(void *p) { int *o = p; int n; size_t z;
    void *q = 0; o[0] = cudaMalloc(&q, 4); o[1] = cudaStreamQuery(0); o[2] =
    cudaDeviceSynchronize(); o[3] = cudaMemsetAsync(dev, 1, 1, nb); o[4] = cudaGetDevice(&n); o[5] =
    cudaEventQuery(ev); o[6] = cudaGetLastError(); o[7] = cudaEventRecord(ev, nb); } static void
    CUDART_CB hf_add(void *p) { int *o = p; o[++o[0]] = o[0]; } static void CUDART_CB
    scb_calls(cudaStream_t s, cudaError_t e, void *p) { hf_calls(p); ((int *)p)[8] = e; ((int
    *)p)[9] = s == st; }
GROUP(hostfunc) { S(); int o[16];
  SC("nulls") { say("fn", cudaLaunchHostFunc(st, 0, 0)); say("cb", cudaStreamAddCallback(st, 0, 0,
      0)); } EACH(f, 0, 1, 2) SC("callback-flags-%d", *f) { int v = 0; say("r",
      cudaStreamAddCallback(st, stream_cb, &v, *f)); cudaStreamSynchronize(st); OUT(" %d", v); }
  SC("order") { memset(o, 0, sizeof o); gate(st); for (int i = 0; i < 4; i++) cudaLaunchHostFunc(st,
      hf_add, o); OUT("before %d", o[0]); gopen(); say("sync", cudaStreamSynchronize(st));
      OUT(" after %d", o[0]); }
  SC("calls-inside-hostfunc") { memset(o, 0x55, sizeof o); say("launch", cudaLaunchHostFunc(st,
      hf_calls, o)); say("sync", cudaStreamSynchronize(st)); for (int i = 0; i < 8; i++) OUT(" %s",
      E(o[i])); } SC("calls-inside-callback") { memset(o, 0x55, sizeof o); say("add",
      cudaStreamAddCallback(st, scb_calls, o, 0)); say("sync", cudaStreamSynchronize(st)); for (int
      i = 0; i < 9; i++) OUT(" %s", E(o[i])); OUT(" own-stream %d", o[9]); } for (int i = 0; i < 3;
      i++) SC("on-%s", sn[i]) { int v = 0; memset(o, 0, sizeof o); say("host",
      cudaLaunchHostFunc(SN(i), hf_add, o)); say("callback", cudaStreamAddCallback(SN(i), stream_cb,
      &v, 0)); say("sync", cudaStreamSynchronize(SN(i))); OUT(" %d %d", o[0], v); }
  SC("junk-stream") say("r", cudaLaunchHostFunc(JUNK, host_nop, 0));
  SC("callback-in-capture") { cudaStreamBeginCapture(st, 2); say("add", cudaStreamAddCallback(st,
      stream_cb, o, 0)); cudaGraph_t g = 0; say("end", cudaStreamEndCapture(st, &g)); }
  SC("hostfunc-in-capture") { memset(o, 0, sizeof o); cudaStreamBeginCapture(st, 2); say("launch",
      cudaLaunchHostFunc(st, hf_add, o)); cudaGraph_t g = 0; say("end", cudaStreamEndCapture(st,
      &g)); cudaGraphExec_t e; say("instantiate", cudaGraphInstantiate(&e, g, 0)); say("launch",
      cudaGraphLaunch(e, st)); say("launch", cudaGraphLaunch(e, st)); cudaStreamSynchronize(st);
      OUT(" %d", o[0]); } }

// ---- capture ----
static cudaStream_t cap_other;
static void cap_end(cudaStream_t s) { int c = -7; u64 id = 0; cudaError_t r =
    cudaStreamIsCapturing(s, (void *)&c); OUT(" capturing %s %d", E(r), c); cudaGetLastError();
    cudaGraph_t g = JUNK; say("end", cudaStreamEndCapture(s, &g)); if (g && g != JUNK) { size_t n =
    77; cudaGraphGetNodes(g, 0, &n); OUT(" nodes %zu", n); cudaGraphNode_t no[8]; if (n && n <= 8) {
    cudaGraphGetNodes(g, no, &n); for (int i = 0; i < (int)n; i++) { int t = -7;
    cudaGraphNodeGetType(no[i], (void *)&t); OUT(" t%d", t); } } cudaGraphDestroy(g); } else
    OUT(" graph %s", Z(g)); }
#define CAP(name, ...) for (int md_ = 0; md_ < 3; md_++) SC(name "-mode%d", md_) { void *p = JUNK; \
    size_t z = 0; int i = 0; (void)p; (void)z; (void)i; if (cudaStreamBeginCapture(nb, md_)) \
    OUT("begin failed"); say("r", __VA_ARGS__); cap_end(nb); }
GROUP(capture) { S(); cudaGraph_t g, g2; cudaStream_t s2; cudaEvent_t e;
    MUSTR(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking)); cap_other = s2; unsigned uf;
    struct cudaPointerAttributes pa;
  EACH(m, -1, 3, 77) SC("begin-mode-%d", *m) say("r", cudaStreamBeginCapture(nb, *m)); for (int i =
      0; i < 3; i++) SC("begin-%s", sn[i]) { say("r", cudaStreamBeginCapture(SN(i), 2)); g = JUNK;
      say("end", cudaStreamEndCapture(SN(i), &g)); OUT(" %s", Z(g)); }
  SC("begin-twice") { say("1", cudaStreamBeginCapture(nb, 0)); say("2", cudaStreamBeginCapture(nb,
      0)); cap_end(nb); } SC("end-not-begun") { g = JUNK; say("r", cudaStreamEndCapture(nb, &g));
      OUT(" %s", Z(g)); } SC("end-null-out") { cudaStreamBeginCapture(nb, 0); say("r",
      cudaStreamEndCapture(nb, 0)); cap_end(nb); }
  SC("begin-destroyed") { cudaStream_t d; cudaStreamCreate(&d); cudaStreamDestroy(d); say("r",
      cudaStreamBeginCapture(d, 0)); }
  SC("destroy-capturing") { cudaStream_t d; cudaStreamCreate(&d); cudaStreamBeginCapture(d, 0);
      say("r", cudaStreamDestroy(d)); }
  SC("exchange-mode") { int m = 0; for (int i = 0; i < 3; i++) { m = i; say("x",
      cudaThreadExchangeStreamCaptureMode((void *)&m)); OUT(" %d", m); } m = 9; say("bad",
      cudaThreadExchangeStreamCaptureMode((void *)&m)); OUT(" %d", m); m = 0;
      cudaThreadExchangeStreamCaptureMode((void *)&m); }
  Q("exchange-null", cudaThreadExchangeStreamCaptureMode(0))
  SC("exchange-lets-malloc") { cudaStreamBeginCapture(nb, 0); int m = 2;
      cudaThreadExchangeStreamCaptureMode((void *)&m); void *p; say("malloc", cudaMalloc(&p, 4));
      cudaThreadExchangeStreamCaptureMode((void *)&m); cap_end(nb); }
  CAP("malloc", cudaMalloc(&p, 4))
  CAP("malloc-null", cudaMalloc(0, 4))
  CAP("malloc-0", cudaMalloc(&p, 0))
  CAP("free-null", cudaFree(0))
  CAP("free", cudaFree(dev2)) CAP("malloc-host", cudaMallocHost(&p, 4))
  CAP("host-alloc", cudaHostAlloc(&p, 4, 0))
  CAP("free-host", cudaFreeHost(0))
  CAP("host-register", cudaHostRegister(page, 4096, 0))
  CAP("malloc-array", cudaMallocArray((void *)&p, &(struct cudaChannelFormatDesc){32, 0, 0, 0, 2},
      4, 4, 0)) CAP("malloc-pitch", cudaMallocPitch(&p, &z, 4, 4))
  CAP("malloc-async-same", cudaMallocAsync(&p, 64, nb))
  CAP("malloc-async-other", cudaMallocAsync(&p, 64, st))
  CAP("mem-get-info", cudaMemGetInfo(&z, &z))
  CAP("pointer-attributes", cudaPointerGetAttributes(&pa, dev))
  CAP("memcpy", cudaMemcpy(dev, page, 4, 1))
  CAP("memcpy-d2d", cudaMemcpy(dev, dev2, 4, 3))
  CAP("memset", cudaMemset(dev, 1, 4))
  CAP("memcpy-async-same", cudaMemcpyAsync(dev, dev2, 4, 3, nb))
  CAP("memcpy-async-pageable", cudaMemcpyAsync(dev, page, 4, 1, nb))
  CAP("memcpy-async-to-pageable", cudaMemcpyAsync(page, dev, 4, 2, nb))
  CAP("memcpy-async-pinned", cudaMemcpyAsync(dev, pin, 4, 1, nb))
  CAP("memcpy-async-other", cudaMemcpyAsync(dev, dev2, 4, 3, cap_other))
  CAP("memcpy-async-null", cudaMemcpyAsync(dev, dev2, 4, 3, 0))
  CAP("memcpy-async-legacy", cudaMemcpyAsync(dev, dev2, 4, 3, cudaStreamLegacy))
  CAP("memcpy-async-per-thread", cudaMemcpyAsync(dev, dev2, 4, 3, cudaStreamPerThread))
  CAP("memcpy-async-bad-kind", cudaMemcpyAsync(dev, dev2, 4, 9, nb))
  CAP("memcpy-async-null-pointer", cudaMemcpyAsync(0, dev2, 4, 3, nb))
  CAP("memcpy2d-async", cudaMemcpy2DAsync(dev, 64, dev2, 64, 16, 4, 3, nb))
  CAP("memset-async-same", cudaMemsetAsync(dev, 1, 4, nb))
  CAP("memset-async-past", cudaMemsetAsync(dev, 1, 1ull << 40, nb))
  CAP("device-synchronize", cudaDeviceSynchronize())
  CAP("stream-sync-same", cudaStreamSynchronize(nb))
  CAP("stream-sync-other", cudaStreamSynchronize(cap_other))
  CAP("stream-sync-null", cudaStreamSynchronize(0))
  CAP("stream-query-same", cudaStreamQuery(nb))
  CAP("stream-query-other", cudaStreamQuery(cap_other))
  CAP("stream-query-null", cudaStreamQuery(0))
  CAP("event-create", cudaEventCreate((void *)&p))
  CAP("event-record-same", cudaEventRecord(ev, nb))
  CAP("event-record-null", cudaEventRecord(ev, 0))
  CAP("event-query", cudaEventQuery(ev))
  CAP("event-sync", cudaEventSynchronize(ev))
  CAP("stream-create", cudaStreamCreate((void *)&p))
  CAP("get-device", cudaGetDevice(&i))
  CAP("set-device", cudaSetDevice(0))
  CAP("set-device-bad", cudaSetDevice(9))
  CAP("set-limit", cudaDeviceSetLimit(0, 2048))
  CAP("get-limit", cudaDeviceGetLimit(&z, 0))
  CAP("get-attribute", cudaDeviceGetAttribute(&i, 1, 0))
  CAP("graph-create", cudaGraphCreate((void *)&p, 0))
  CAP("profiler-start", cudaProfilerStart())
  CAP("get-flags", cudaStreamGetFlags(nb, &uf))
  CAP("is-capturing-null", cudaStreamIsCapturing(0, (void *)&i))
  CAP("is-capturing-other", cudaStreamIsCapturing(cap_other, (void *)&i))
  CAP("host-func", cudaLaunchHostFunc(nb, host_nop, 0))
  CAP("mem-pool-trim", cudaMemPoolTrimTo(0, 0))
  CAP("init-device", cudaInitDevice(0, 0, 0))
  CAP("ipc-get", cudaIpcGetMemHandle((void *)buf, dev))
  CAP("destroy-texture-0", cudaDestroyTextureObject(0))
  CAP("get-driver-entry-point", cudaGetDriverEntryPoint("cuInit", &p, 0, (void *)&i))

#define CAPB(name, ...) SC("blocking-" name) { void *p = JUNK; if (cudaStreamBeginCapture(st, 0)) \
    OUT("begin failed"); say("r", __VA_ARGS__); cap_end(st); }
  CAPB("memcpy", cudaMemcpy(dev, page, 4, 1))
  CAPB("memcpy-host-host", cudaMemcpy(page, page + 8, 4, 0))
  CAPB("memset", cudaMemset(dev, 1, 4))
  CAPB("memcpy-async-null", cudaMemcpyAsync(dev, dev2, 4, 3, 0))
  CAPB("memcpy-async-per-thread", cudaMemcpyAsync(dev, dev2, 4, 3, cudaStreamPerThread))
  CAPB("stream-sync-null", cudaStreamSynchronize(0))
  CAPB("stream-query-null", cudaStreamQuery(0))
  CAPB("event-record-null", cudaEventRecord(ev, 0))
  CAPB("wait-event-null", cudaStreamWaitEvent(0, ev, 0))
  CAPB("malloc-async-null", cudaMallocAsync(&p, 64, 0))
  CAPB("host-func-null", cudaLaunchHostFunc(0, host_nop, 0))
  CAPB("is-capturing-null", cudaStreamIsCapturing(0, (void *)&uf))
  CAPB("capture-info-null", cudaStreamGetCaptureInfo(0, (void *)&uf, 0, 0, 0, 0, 0))
  CAPB("stream-create", cudaStreamCreate((void *)&p))
  CAPB("attribute", cudaDeviceGetAttribute((void *)&uf, 1, 0))
  CAPB("graph-instantiate", (cudaGraphCreate(&g2, 0), cudaGraphInstantiate((void *)&p, g2, 0)))
  SC("fork-join-clean") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0); cudaMemsetAsync(dev,
      1, 4, nb); cudaEventRecord(e, nb); say("wait", cudaStreamWaitEvent(s2, e, 0)); int c = -1;
      cudaStreamIsCapturing(s2, (void *)&c); OUT(" joined %d", c); cudaMemsetAsync(dev, 2, 4, s2);
      cudaEventRecord(ev, s2); say("join", cudaStreamWaitEvent(nb, ev, 0)); cudaMemsetAsync(dev, 3,
      4, nb); cap_end(nb); c = -1; cudaStreamIsCapturing(s2, (void *)&c); OUT(" other after %d", c);
      }
  SC("fork-join") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0); cudaMemsetAsync(dev, 1, 4,
      nb); cudaEventRecord(e, nb); say("wait", cudaStreamWaitEvent(s2, e, 0)); int c = -1;
      cudaStreamIsCapturing(s2, (void *)&c); OUT(" joined %d", c); cudaMemsetAsync(dev, 2, 4, s2);
      say("query-event", cudaEventQuery(e)); cudaEventRecord(ev, s2); say("join",
      cudaStreamWaitEvent(nb, ev, 0)); cudaMemsetAsync(dev, 3, 4, nb); cap_end(nb); }
  SC("fork-query-event") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0); cudaEventRecord(e,
      nb); say("query", cudaEventQuery(e)); cap_end(nb); }
  SC("fork-unjoined") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0); cudaEventRecord(e, nb);
      cudaStreamWaitEvent(s2, e, 0); cudaMemsetAsync(dev, 2, 4, s2); cap_end(nb); cap_end(s2); }
  SC("end-on-forked") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0); cudaEventRecord(e, nb);
      cudaStreamWaitEvent(s2, e, 0); cap_end(s2); cap_end(nb); }
  SC("wait-captured-event-outside") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0);
      cudaEventRecord(e, nb); say("null", cudaStreamWaitEvent(0, e, 0)); cap_end(nb); }
  SC("merge-two-captures") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 0);
      cudaStreamBeginCapture(s2, 0); cudaEventRecord(e, s2); say("wait", cudaStreamWaitEvent(nb, e,
      0)); cap_end(nb); cap_end(s2); }
  SC("blocking-stream-then-null") { cudaStreamBeginCapture(st, 0); say("null-memset",
      cudaMemsetAsync(dev, 1, 4, 0)); cap_end(st); }
  SC("blocking-stream-then-null-relaxed") { cudaStreamBeginCapture(st, 2); say("null-memset",
      cudaMemsetAsync(dev, 1, 4, 0)); cap_end(st); }
  SC("event-synchronize-captured") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 2);
      cudaEventRecord(e, nb); say("sync", cudaEventSynchronize(e)); cap_end(nb); }
  SC("event-elapsed-captured") { float ms; cudaEventCreate(&e); cudaStreamBeginCapture(nb, 2);
      cudaEventRecord(e, nb); say("r", cudaEventElapsedTime(&ms, e, e)); cap_end(nb); }
  SC("record-external-flag") { cudaEventCreate(&e); cudaStreamBeginCapture(nb, 2); say("r",
      cudaEventRecordWithFlags(e, nb, cudaEventRecordExternal)); say("wait", cudaStreamWaitEvent(nb,
      e, cudaEventWaitExternal)); cap_end(nb); }
  SC("external-flag-not-capturing") say("r", cudaEventRecordWithFlags(ev, nb,
      cudaEventRecordExternal));
  SC("capture-info") { int c = -7; u64 id = 77; g = JUNK; const cudaGraphNode_t *d = JUNK; const
      cudaGraphEdgeData *ed = JUNK; size_t n = 77; say("idle", cudaStreamGetCaptureInfo(nb, (void
      *)&c, &id, &g, &d, &ed, &n)); OUT(" %d id-kept %d graph %s deps %s n %zu", c, id == 77, Z(g),
      Z(d), n); cudaStreamBeginCapture(nb, 0); cudaMemsetAsync(dev, 1, 4, nb); c = -7; id = 77; g =
      JUNK; d = JUNK; ed = JUNK; n = 77; say("active", cudaStreamGetCaptureInfo(nb, (void *)&c, &id,
      &g, &d, &ed, &n)); OUT(" %d id-set %d graph %s deps %s edges %s n %zu", c, id != 77, Z(g),
      Z(d), Z(ed), n); say("only-status", cudaStreamGetCaptureInfo(nb, (void *)&c, 0, 0, 0, 0, 0));
      say("null-status", cudaStreamGetCaptureInfo(nb, 0, &id, 0, 0, 0, 0)); say("null-stream",
      cudaStreamGetCaptureInfo(0, (void *)&c, 0, 0, 0, 0, 0)); cap_end(nb); }
  SC("update-dependencies") { cudaStreamBeginCapture(nb, 0); cudaMemsetAsync(dev, 1, 4, nb);
      say("set-0", cudaStreamUpdateCaptureDependencies(nb, 0, 0, 0, 1)); cudaMemsetAsync(dev, 1, 4,
      nb); say("flags-9", cudaStreamUpdateCaptureDependencies(nb, 0, 0, 0, 9)); say("null-1",
      cudaStreamUpdateCaptureDependencies(nb, 0, 0, 1, 0)); cap_end(nb); say("idle",
      cudaStreamUpdateCaptureDependencies(nb, 0, 0, 0, 1)); }
  SC("begin-to-graph") { cudaGraphCreate(&g, 0); say("begin", cudaStreamBeginCaptureToGraph(nb, g,
      0, 0, 0, 0)); cudaMemsetAsync(dev, 1, 4, nb); g2 = JUNK; say("end", cudaStreamEndCapture(nb,
      &g2)); OUT(" same %d", g == g2); size_t n = 77; cudaGraphGetNodes(g, 0, &n); OUT(" nodes %zu",
      n); say("null-graph", cudaStreamBeginCaptureToGraph(nb, 0, 0, 0, 0, 0)); }
  SC("invalidated-use") { cudaStreamBeginCapture(nb, 0); cudaDeviceSynchronize(); say("memset",
      cudaMemsetAsync(dev, 1, 4, nb)); say("host", cudaLaunchHostFunc(nb, host_nop, 0));
      say("record", cudaEventRecord(ev, nb)); say("sync", cudaStreamSynchronize(nb)); say("query",
      cudaStreamQuery(nb)); cap_end(nb); say("after", cudaStreamSynchronize(nb)); say("memset",
      cudaMemsetAsync(dev, 1, 4, nb)); }
  SC("last-error-of-capture") { cudaStreamBeginCapture(nb, 0); cudaError_t r =
      cudaDeviceSynchronize(); OUT("%s last %s", E(r), E(cudaPeekAtLastError()));
      cudaGetLastError(); cap_end(nb); } }

// ---- graphs ----
#define AN(label, call) do { n = JUNK; if (say(label, call)) OUT(" %s", Z(n)); } while (0)
static const char *PTX =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 gv;\n"
    ".visible .const .align 4 .u32 cv[4];\n"
  ".visible .entry nop()\n{\nret;\n}\n"
      ".visible .entry set(.param .u64 p,.param .u32 v)\n{\n.reg .b64 %x;\n"
      ".reg .b32 %r;\nld.param.u64 %x,[p];\nld.param.u32 %r,[v];\n"
      "st.global.u32 [%x],%r;\nret;\n}\n";
GROUP(graphs) { S(); cudaGraph_t g, g2; cudaGraphNode_t n, a, b, c; cudaGraphExec_t x; size_t k; int
    ty; cudaLibrary_t lib; cudaKernel_t kn, ks; MUSTR(cudaLibraryLoadData(&lib, PTX, 0, 0, 0, 0, 0,
    0)); MUSTR(cudaLibraryGetKernel(&kn, lib, "nop")); MUSTR(cudaLibraryGetKernel(&ks, lib, "set"));
    MUSTR(cudaGraphCreate(&g, 0));
  EACH(f, 1, 2) SC("create-flags-%d", *f) { g2 = JUNK; say("r", cudaGraphCreate(&g2, *f));
      OUT(" %s", Z(g2)); } SC("create-null") say("r", cudaGraphCreate(0, 0));
  SC("destroy-null") say("r", cudaGraphDestroy(0));
  SC("destroy-twice") { cudaGraphCreate(&g2, 0); say("1", cudaGraphDestroy(g2)); say("2",
      cudaGraphDestroy(g2)); } SC("destroy-junk") say("r", cudaGraphDestroy(JUNK));
  SC("exec-destroy-null") say("r", cudaGraphExecDestroy(0));
  SC("node-destroy-null") say("r", cudaGraphDestroyNode(0));
  SC("launch-null") say("r", cudaGraphLaunch(0, st));
  SC("upload-null") say("r", cudaGraphUpload(0, st));
  SC("clone-null") say("r", cudaGraphClone(&g2, 0));
  SC("type-null") say("r", cudaGraphNodeGetType(0, (void *)&ty));
  SC("get-nodes-null") { k = 7; say("r", cudaGraphGetNodes(0, 0, &k)); }
  SC("get-nodes-null-count") say("r", cudaGraphGetNodes(g, 0, 0));
  SC("add-null-graph") AN("empty", cudaGraphAddEmptyNode(&n, 0, 0, 0));
  SC("add-null-out") say("empty", cudaGraphAddEmptyNode(0, g, 0, 0));
  SC("add-deps-null") AN("r", cudaGraphAddEmptyNode(&n, g, 0, 1));
  SC("add-deps-null-entry") { a = 0; AN("r", cudaGraphAddEmptyNode(&n, g, &a, 1)); }
  SC("add-deps-duplicate") { cudaGraphAddEmptyNode(&a, g, 0, 0); cudaGraphNode_t d[2] = {a, a};
      AN("r", cudaGraphAddEmptyNode(&n, g, d, 2)); }
  SC("add-deps-other-graph") { cudaGraphCreate(&g2, 0); cudaGraphAddEmptyNode(&a, g2, 0, 0); AN("r",
      cudaGraphAddEmptyNode(&n, g, &a, 1)); }
  // kernel nodes
  SC("kernel") { unsigned v = 7; void *p = dev; void *ar[] = {&p, &v}; struct cudaKernelNodeParams K
      = {ks, {1, 1, 1}, {1, 1, 1}, 0, ar, 0}, q; AN("add", cudaGraphAddKernelNode(&n, g, 0, 0, &K));
      if (n == JUNK || !n) continue; memset(&q, 0, sizeof q); say("get",
      cudaGraphKernelNodeGetParams(n, &q));
      OUT(" func-same %d grid %u block %u shared %u params %d extra %d", q.func == (void *)ks,
      q.gridDim.x, q.blockDim.x, q.sharedMemBytes, q.kernelParams != 0 && q.kernelParams != ar,
      q.extra != 0); if (q.kernelParams) OUT(" arg %u", *(unsigned *)q.kernelParams[1]); v = 9;
      K.gridDim.x = 2; say("set", cudaGraphKernelNodeSetParams(n, &K));
      cudaGraphKernelNodeGetParams(n, &q); OUT(" grid %u arg %u", q.gridDim.x, q.kernelParams ?
      *(unsigned *)q.kernelParams[1] : 0); K.blockDim.x = 0; say("set-block0",
      cudaGraphKernelNodeSetParams(n, &K)); K.blockDim.x = 2000; say("set-block2000",
      cudaGraphKernelNodeSetParams(n, &K)); K.blockDim.x = 1; K.func = 0; say("set-null-func",
      cudaGraphKernelNodeSetParams(n, &K)); K.func = ks; K.kernelParams = 0; say("set-no-params",
      cudaGraphKernelNodeSetParams(n, &K)); say("set-null", cudaGraphKernelNodeSetParams(n, 0));
      say("get-null", cudaGraphKernelNodeGetParams(n, 0)); }
  SC("kernel-add-errors") { struct cudaKernelNodeParams K = {kn, {1, 1, 1}, {1, 1, 1}, 0, 0, 0};
      AN("nop", cudaGraphAddKernelNode(&n, g, 0, 0, &K)); K.gridDim.x = 0; AN("grid0",
      cudaGraphAddKernelNode(&n, g, 0, 0, &K)); K.gridDim.x = 1; K.blockDim.z = 65; AN("blockz65",
      cudaGraphAddKernelNode(&n, g, 0, 0, &K)); K.blockDim.z = 1; K.sharedMemBytes = 1 << 20;
      AN("shared", cudaGraphAddKernelNode(&n, g, 0, 0, &K)); K.sharedMemBytes = 0; K.func = 0;
      AN("null-func", cudaGraphAddKernelNode(&n, g, 0, 0, &K)); AN("null",
      cudaGraphAddKernelNode(&n, g, 0, 0, 0)); }
  SC("kernel-junk-func") { struct cudaKernelNodeParams K = {(void *)said, {1, 1, 1}, {1, 1, 1}, 0,
      0, 0}; AN("r", cudaGraphAddKernelNode(&n, g, 0, 0, &K)); } for (int at = 0; at < 17; at++)
  SC("kernel-attribute-%d", at) { struct cudaKernelNodeParams K = {kn, {1, 1, 1}, {1, 1, 1}, 0, 0,
      0}; cudaGraphAddKernelNode(&n, g, 0, 0, &K); cudaLaunchAttributeValue v; memset(&v, 0x55,
      sizeof v); say("get", cudaGraphKernelNodeGetAttribute(n, at, &v)); OUT(" %d", *(int *)&v ==
      0x55555555 ? -1 : *(int *)&v); memset(&v, 0, sizeof v); *(int *)&v = 1; say("set1",
      cudaGraphKernelNodeSetAttribute(n, at, &v)); memset(&v, 0, sizeof v); say("get",
      cudaGraphKernelNodeGetAttribute(n, at, &v)); OUT(" %d", *(int *)&v);
      cudaGraphAddKernelNode(&a, g, 0, 0, &K); say("copy", cudaGraphKernelNodeCopyAttributes(a, n));
      }
  // copies and fills
  for (int kd = 0; kd <= 5; kd++)
  SC("memcpy1d-kind%d", kd) { AN("dd", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, dev, dev2, 64, kd)); if
      (n && n != JUNK) { struct cudaMemcpy3DParms m; memset(&m, 0x55, sizeof m); say("get",
      cudaGraphMemcpyNodeGetParams(n, &m));
      OUT(" src %d dst %d pitch %zu %zu xs %zu ys %zu ext %zux%zux%zu kind %d pos %zu arrays %d",
      m.srcPtr.ptr == dev2, m.dstPtr.ptr == dev, m.srcPtr.pitch, m.dstPtr.pitch, m.srcPtr.xsize,
      m.srcPtr.ysize, m.extent.width, m.extent.height, m.extent.depth, m.kind, m.srcPos.x,
      m.srcArray || m.dstArray); } AN("hd", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, dev, page, 64,
      kd)); if (n && n != JUNK) { struct cudaMemcpy3DParms m; memset(&m, 0x55, sizeof m);
      cudaGraphMemcpyNodeGetParams(n, &m); OUT(" kind %d", m.kind); } AN("dh",
      cudaGraphAddMemcpyNode1D(&n, g, 0, 0, page, dev, 64, kd)); AN("hh",
      cudaGraphAddMemcpyNode1D(&n, g, 0, 0, page, page + 64, 64, kd)); }
  SC("memcpy1d-errors") { AN("null-dst", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, 0, dev2, 64, 3));
      AN("null-src", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, dev, 0, 64, 3)); AN("size0",
      cudaGraphAddMemcpyNode1D(&n, g, 0, 0, dev, dev2, 0, 3)); AN("past",
      cudaGraphAddMemcpyNode1D(&n, g, 0, 0, dev, dev2, 1ull << 40, 3)); }
  SC("memcpy3d") { struct cudaMemcpy3DParms m; memset(&m, 0, sizeof m); m.srcPtr = (struct
      cudaPitchedPtr){dev, 64, 64, 4}; m.dstPtr = (struct cudaPitchedPtr){dev2, 128, 64, 4};
      m.extent = ex(64, 4, 1); m.kind = 3; AN("add", cudaGraphAddMemcpyNode(&n, g, 0, 0, &m)); if
      (!n || n == JUNK) continue; struct cudaMemcpy3DParms q; memset(&q, 0x55, sizeof q); say("get",
      cudaGraphMemcpyNodeGetParams(n, &q));
      OUT(" pitch %zu %zu xs %zu %zu ys %zu %zu ext %zux%zux%zu kind %d", q.srcPtr.pitch,
      q.dstPtr.pitch, q.srcPtr.xsize, q.dstPtr.xsize, q.srcPtr.ysize, q.dstPtr.ysize,
      q.extent.width, q.extent.height, q.extent.depth, q.kind); m.kind = 4; say("set-default",
      cudaGraphMemcpyNodeSetParams(n, &m)); cudaGraphMemcpyNodeGetParams(n, &q); OUT(" kind %d",
      q.kind); m.extent.depth = 0; say("set-depth0", cudaGraphMemcpyNodeSetParams(n, &m));
      m.extent.depth = 1; m.srcPtr.pitch = 63; say("set-short", cudaGraphMemcpyNodeSetParams(n,
      &m)); say("set-1d", cudaGraphMemcpyNodeSetParams1D(n, dev2, dev, 32, 3)); say("set-null",
      cudaGraphMemcpyNodeSetParams(n, 0)); say("get-null", cudaGraphMemcpyNodeGetParams(n, 0));
      AN("add-null", cudaGraphAddMemcpyNode(&n, g, 0, 0, 0)); }
  SC("memcpy-array") { cudaArray_t ar = arr(8, 1, 64, 16, 0, 0); struct cudaMemcpy3DParms m, q;
      memset(&m, 0, sizeof m); m.srcPtr = (struct cudaPitchedPtr){page, 64, 64, 16}; m.dstArray =
      ar; m.extent = ex(64, 16, 1); m.kind = 1; AN("add", cudaGraphAddMemcpyNode(&n, g, 0, 0, &m));
      if (!n || n == JUNK) continue; memset(&q, 0x55, sizeof q); say("get",
      cudaGraphMemcpyNodeGetParams(n, &q)); OUT(" array %d ext %zux%zux%zu kind %d", q.dstArray ==
      ar, q.extent.width, q.extent.height, q.extent.depth, q.kind); }
  EACH(es, 0, 1, 2, 3, 4, 8) SC("memset-element-%d", *es) { struct cudaMemsetParams m = {dev, 64,
      0x12345678, *es, 16, 1}, q; AN("add", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); if (n && n !=
      JUNK) { memset(&q, 0x55, sizeof q); say("get", cudaGraphMemsetNodeGetParams(n, &q));
      OUT(" dst %d pitch %zu value %x es %u %zux%zu", q.dst == dev, q.pitch, q.value, q.elementSize,
      q.width, q.height); } m.height = 4; AN("2d", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); if (n
      && n != JUNK) { m.value = 1; say("set", cudaGraphMemsetNodeSetParams(n, &m)); m.dst = 0;
      say("set-null-dst", cudaGraphMemsetNodeSetParams(n, &m)); say("set-null",
      cudaGraphMemsetNodeSetParams(n, 0)); say("get-null", cudaGraphMemsetNodeGetParams(n, 0)); } }
  SC("memset-errors") { struct cudaMemsetParams m = {dev, 64, 1, 1, 16, 1}; m.dst = 0;
      AN("null-dst", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); m.dst = dev; m.width = 0;
      AN("width0", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); m.width = 16; m.height = 0;
      AN("height0", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); m.height = 2; m.pitch = 4;
      AN("pitch-short", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); m.pitch = 64; m.dst = page;
      AN("host", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); m.dst = dev; m.width = 1ull << 40;
      AN("past", cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); AN("null", cudaGraphAddMemsetNode(&n, g,
      0, 0, 0)); }
  SC("host") { int o[4] = {0}; struct cudaHostNodeParams h = {hf_add, o}, q; AN("add",
      cudaGraphAddHostNode(&n, g, 0, 0, &h)); memset(&q, 0, sizeof q); say("get",
      cudaGraphHostNodeGetParams(n, &q)); OUT(" same %d %d", q.fn == hf_add, q.userData == o);
      h.userData = 0; say("set", cudaGraphHostNodeSetParams(n, &h)); h.fn = 0; say("set-null-fn",
      cudaGraphHostNodeSetParams(n, &h)); say("set-null", cudaGraphHostNodeSetParams(n, 0));
      say("get-null", cudaGraphHostNodeGetParams(n, 0)); AN("add-null-fn", cudaGraphAddHostNode(&n,
      g, 0, 0, &h)); AN("add-null", cudaGraphAddHostNode(&n, g, 0, 0, 0)); }
  SC("wrong-kind-of-node") { struct cudaHostNodeParams h; struct cudaMemsetParams m; struct
      cudaMemcpy3DParms c3; struct cudaKernelNodeParams K; cudaEvent_t e; cudaGraph_t ch_; struct
      cudaMemAllocNodeParams al; void *p; cudaGraphAddEmptyNode(&a, g, 0, 0); say("host",
      cudaGraphHostNodeGetParams(a, &h)); say("memset", cudaGraphMemsetNodeGetParams(a, &m));
      say("memcpy", cudaGraphMemcpyNodeGetParams(a, &c3)); say("kernel",
      cudaGraphKernelNodeGetParams(a, &K)); say("record", cudaGraphEventRecordNodeGetEvent(a, &e));
      say("wait", cudaGraphEventWaitNodeGetEvent(a, &e)); say("child",
      cudaGraphChildGraphNodeGetGraph(a, &ch_)); say("alloc", cudaGraphMemAllocNodeGetParams(a,
      &al)); say("free", cudaGraphMemFreeNodeGetParams(a, &p)); }
  SC("events") { cudaEvent_t q = 0; AN("record", cudaGraphAddEventRecordNode(&n, g, 0, 0, ev));
      say("get", cudaGraphEventRecordNodeGetEvent(n, &q)); OUT(" same %d", q == ev); say("set",
      cudaGraphEventRecordNodeSetEvent(n, ev)); say("set-null", cudaGraphEventRecordNodeSetEvent(n,
      0)); AN("wait", cudaGraphAddEventWaitNode(&n, g, 0, 0, ev)); say("get",
      cudaGraphEventWaitNodeGetEvent(n, &q)); say("set-null", cudaGraphEventWaitNodeSetEvent(n, 0));
      AN("record-null", cudaGraphAddEventRecordNode(&n, g, 0, 0, 0)); AN("wait-null",
      cudaGraphAddEventWaitNode(&n, g, 0, 0, 0)); }
  SC("child") { cudaGraph_t q = 0; cudaGraphCreate(&g2, 0); cudaGraphAddEmptyNode(&a, g2, 0, 0);
      AN("add", cudaGraphAddChildGraphNode(&n, g, 0, 0, g2)); say("get",
      cudaGraphChildGraphNodeGetGraph(n, &q)); OUT(" clone %d", q != g2); AN("add-null",
      cudaGraphAddChildGraphNode(&n, g, 0, 0, 0)); }
  SC("child-of-itself") { cudaGraph_t g3; cudaGraphCreate(&g3, 0); AN("self",
      cudaGraphAddChildGraphNode(&n, g3, 0, 0, g3)); }
  SC("alloc-free") { cudaGraphCreate(&g2, 0); struct cudaMemAllocNodeParams al; memset(&al, 0,
      sizeof al); al.poolProps.allocType = 1; al.poolProps.location.type = 1; al.bytesize = 4096;
      AN("alloc", cudaGraphAddMemAllocNode(&a, g2, 0, 0, &al)); OUT(" dptr %d", al.dptr != 0);
      struct cudaMemAllocNodeParams q; memset(&q, 0, sizeof q); say("get",
      cudaGraphMemAllocNodeGetParams(a, &q)); OUT(" %zu same %d", q.bytesize, q.dptr == al.dptr);
      say("free", cudaGraphAddMemFreeNode(&b, g2, &a, 1, al.dptr)); void *p = 0; say("get-free",
      cudaGraphMemFreeNodeGetParams(b, &p)); OUT(" %d", p == al.dptr); say("free-twice",
      cudaGraphAddMemFreeNode(&c, g2, &b, 1, al.dptr)); say("free-null", cudaGraphAddMemFreeNode(&c,
      g2, 0, 0, 0)); say("clone", cudaGraphClone(&g, g2)); say("instantiate",
      cudaGraphInstantiate(&x, g2, 0)); say("launch", cudaGraphLaunch(x, st)); say("launch",
      cudaGraphLaunch(x, st)); say("sync", cudaStreamSynchronize(st)); al.bytesize = 0; say("size0",
      cudaGraphAddMemAllocNode(&c, g2, 0, 0, &al)); al.bytesize = 64; al.poolProps.location.id = 9;
      say("device9", cudaGraphAddMemAllocNode(&c, g2, 0, 0, &al)); al.poolProps.location.id = 0;
      al.poolProps.allocType = 0; say("type0", cudaGraphAddMemAllocNode(&c, g2, 0, 0, &al)); } for
      (int at = -1; at < 6; at++)
  SC("mem-attribute-%d", at) { u64 v = 77; say("get", cudaDeviceGetGraphMemAttribute(0, at, &v)); if
      (v != 77) OUT(" set"); v = 0; say("set0", cudaDeviceSetGraphMemAttribute(0, at, &v)); v = 1;
      say("set1", cudaDeviceSetGraphMemAttribute(0, at, &v)); say("null",
      cudaDeviceGetGraphMemAttribute(0, at, 0)); say("device9", cudaDeviceGetGraphMemAttribute(9,
      at, &v)); }
  for (int t = -1; t < 16; t++)
  SC("add-node-zero-type-%d", t) { struct cudaGraphNodeParams P; memset(&P, 0, sizeof P); P.type =
      t; AN("r", cudaGraphAddNode(&n, g, 0, 0, 0, &P)); }
  SC("add-node-memset") { struct cudaGraphNodeParams P; memset(&P, 0, sizeof P); P.type =
      cudaGraphNodeTypeMemset; P.memset.dst = dev; P.memset.elementSize = 1; P.memset.width = 4;
      P.memset.height = 1; AN("r", cudaGraphAddNode(&n, g, 0, 0, 0, &P)); P.memset.value = 3;
      say("set", cudaGraphNodeSetParams(n, &P)); P.type = cudaGraphNodeTypeHost;
      say("set-other-type", cudaGraphNodeSetParams(n, &P)); P.type = cudaGraphNodeTypeMemset;
      P.reserved2 = 1; say("reserved", cudaGraphAddNode(&n, g, 0, 0, 0, &P)); say("null",
      cudaGraphAddNode(&n, g, 0, 0, 0, 0)); }
  SC("conditional") { cudaGraphCreate(&g2, 0); cudaGraphConditionalHandle h = 0; say("handle",
      cudaGraphConditionalHandleCreate(&h, g2, 1, 1)); say("flags-9",
      cudaGraphConditionalHandleCreate(&h, g2, 1, 8)); struct cudaGraphNodeParams P; memset(&P, 0,
      sizeof P); P.type = cudaGraphNodeTypeConditional; P.conditional.handle = h; P.conditional.type
      = cudaGraphCondTypeIf; P.conditional.size = 1; AN("if", cudaGraphAddNode(&n, g2, 0, 0, 0,
      &P)); OUT(" body %d", P.conditional.phGraph_out && P.conditional.phGraph_out[0]); if
      (P.conditional.phGraph_out) { cudaGraphNode_t q; struct cudaMemsetParams m = {dev, 64, 1, 1,
      16, 1}; say("in-body", cudaGraphAddMemsetNode(&q, P.conditional.phGraph_out[0], 0, 0, &m)); }
      say("instantiate", cudaGraphInstantiate(&x, g2, 0)); say("launch", cudaGraphLaunch(x, st));
      say("sync", cudaStreamSynchronize(st)); say("clone", cudaGraphClone(&g, g2)); }
  // structure
  SC("structure") { cudaGraphCreate(&g2, 0); cudaGraphAddEmptyNode(&a, g2, 0, 0);
      cudaGraphAddEmptyNode(&b, g2, &a, 1); cudaGraphAddEmptyNode(&c, g2, 0, 0); k = 77;
      say("count", cudaGraphGetNodes(g2, 0, &k)); OUT(" %zu", k); cudaGraphNode_t q[8] = {JUNK,
      JUNK, JUNK, JUNK, JUNK}; k = 5; say("five", cudaGraphGetNodes(g2, q, &k));
      OUT(" %zu order %d rest %s", k, q[0] == a && q[1] == b && q[2] == c, Z(q[4])); k = 2;
      say("two", cudaGraphGetNodes(g2, q, &k)); OUT(" %zu", k); k = 5; say("roots",
      cudaGraphGetRootNodes(g2, q, &k)); OUT(" %zu %d", k, q[0] == a && q[1] == c); k = 77;
      say("edges", cudaGraphGetEdges(g2, 0, 0, 0, &k)); OUT(" %zu", k); cudaGraphNode_t f[4], t[4];
      k = 4; say("edges", cudaGraphGetEdges(g2, f, t, 0, &k)); OUT(" %zu %d", k, f[0] == a && t[0]
      == b); k = 4; say("from-only", cudaGraphGetEdges(g2, f, 0, 0, &k)); k = 4; say("deps",
      cudaGraphNodeGetDependencies(b, q, 0, &k)); OUT(" %zu %d", k, q[0] == a); k = 4;
      say("dependents", cudaGraphNodeGetDependentNodes(a, q, 0, &k)); OUT(" %zu %d", k, q[0] == b);
      say("add", cudaGraphAddDependencies(g2, &b, &c, 0, 1)); say("add-again",
      cudaGraphAddDependencies(g2, &b, &c, 0, 1)); say("cycle", cudaGraphAddDependencies(g2, &c, &a,
      0, 1)); say("instantiate-cycle", cudaGraphInstantiate(&x, g2, 0)); say("remove",
      cudaGraphRemoveDependencies(g2, &c, &a, 0, 1)); say("remove-again",
      cudaGraphRemoveDependencies(g2, &c, &a, 0, 1)); say("self", cudaGraphAddDependencies(g2, &a,
      &a, 0, 1)); say("null", cudaGraphAddDependencies(g2, 0, 0, 0, 1)); say("count0",
      cudaGraphAddDependencies(g2, 0, 0, 0, 0)); say("destroy-b", cudaGraphDestroyNode(b)); k = 77;
      cudaGraphGetNodes(g2, 0, &k); OUT(" %zu", k); cudaGraph_t cl = 0; say("clone",
      cudaGraphClone(&cl, g2)); n = 0; say("find", cudaGraphNodeFindInClone(&n, a, cl)); OUT(" %s",
      n && n != a ? "other" : "same"); say("find-in-original", cudaGraphNodeFindInClone(&n, a, g2));
      }
  SC("instantiate") { cudaGraphCreate(&g2, 0); struct cudaMemsetParams m = {dev, 64, 0x21, 1, 16,
      1}; cudaGraphAddMemsetNode(&a, g2, 0, 0, &m); x = JUNK; say("plain", cudaGraphInstantiate(&x,
      g2, 0)); u64 fl = 77; say("flags", cudaGraphExecGetFlags(x, &fl)); OUT(" %llu", fl);
      say("upload", cudaGraphUpload(x, st)); say("launch", cudaGraphLaunch(x, st));
      say("null-stream", cudaGraphLaunch(x, 0)); say("legacy", cudaGraphLaunch(x,
      cudaStreamLegacy)); say("per-thread", cudaGraphLaunch(x, cudaStreamPerThread)); say("sync",
      cudaDeviceSynchronize()); unsigned en = 77; say("enabled", cudaGraphNodeGetEnabled(x, a,
      &en)); OUT(" %u", en); say("disable", cudaGraphNodeSetEnabled(x, a, 0)); say("set",
      cudaGraphExecMemsetNodeSetParams(x, a, &m)); m.width = 32; say("set-width",
      cudaGraphExecMemsetNodeSetParams(x, a, &m)); m.dst = 0; say("set-null",
      cudaGraphExecMemsetNodeSetParams(x, a, &m)); struct cudaHostNodeParams h = {host_nop, 0};
      say("set-wrong-kind", cudaGraphExecHostNodeSetParams(x, a, &h)); say("destroy-graph",
      cudaGraphDestroy(g2)); say("launch-after", cudaGraphLaunch(x, st)); say("destroy",
      cudaGraphExecDestroy(x)); }
  EACH(f, 1, 2, 4, 8, 16, 3, 32)
  SC("instantiate-flags-%d", *f) { cudaGraphCreate(&g2, 0); struct cudaMemsetParams m = {dev, 64,
      0x21, 1, 16, 1}; cudaGraphAddMemsetNode(&a, g2, 0, 0, &m); x = JUNK; say("r",
      cudaGraphInstantiate(&x, g2, *f)); OUT(" %s", Z(x)); say("with",
      cudaGraphInstantiateWithFlags(&x, g2, *f)); cudaGraphInstantiateParams p; memset(&p, 0, sizeof
      p); p.flags = *f; p.result_out = 77; p.errNode_out = JUNK; say("params",
      cudaGraphInstantiateWithParams(&x, g2, &p)); OUT(" result %d node %s", p.result_out,
      Z(p.errNode_out)); } SC("instantiate-nulls") { say("out", cudaGraphInstantiate(0, g, 0));
      say("params", cudaGraphInstantiateWithParams(&x, g, 0)); say("flags-out",
      (cudaGraphCreate(&g2, 0), cudaGraphInstantiate(&x, g2, 0), cudaGraphExecGetFlags(x, 0))); }
  SC("empty-graph") { cudaGraphCreate(&g2, 0); say("instantiate", cudaGraphInstantiate(&x, g2, 0));
      say("launch", cudaGraphLaunch(x, st)); say("upload", cudaGraphUpload(x, st)); }
  SC("update") { cudaGraphCreate(&g2, 0); cudaGraph_t h; cudaGraphCreate(&h, 0); struct
      cudaMemsetParams m = {dev, 64, 0x21, 1, 16, 1}; cudaGraphAddMemsetNode(&a, g2, 0, 0, &m);
      m.value = 9; cudaGraphAddMemsetNode(&b, h, 0, 0, &m); cudaGraphInstantiate(&x, g2, 0);
      cudaGraphExecUpdateResultInfo ri; memset(&ri, 0x55, sizeof ri); say("same-shape",
      cudaGraphExecUpdate(x, h, &ri)); OUT(" %d", ri.result); cudaGraphAddEmptyNode(&c, h, 0, 0);
      say("more-nodes", cudaGraphExecUpdate(x, h, &ri)); OUT(" %d node %d from %d", ri.result,
      ri.errorNode != 0, ri.errorFromNode != 0); cudaGraph_t i; cudaGraphCreate(&i, 0);
      cudaGraphAddEmptyNode(&c, i, 0, 0); say("other-type", cudaGraphExecUpdate(x, i, &ri));
      OUT(" %d", ri.result); say("null-info", cudaGraphExecUpdate(x, g2, 0)); say("null-graph",
      cudaGraphExecUpdate(x, 0, &ri)); }
  SC("launch-in-capture") { cudaGraphCreate(&g2, 0); cudaGraphAddEmptyNode(&a, g2, 0, 0);
      cudaGraphInstantiate(&x, g2, 0); cudaStreamBeginCapture(nb, 0); say("launch",
      cudaGraphLaunch(x, nb)); cap_end(nb); }
  SC("dot") { say("r", cudaGraphDebugDotPrint(g, "/tmp/x.dot", 0)); say("null-path",
      cudaGraphDebugDotPrint(g, 0, 0)); say("bad-path", cudaGraphDebugDotPrint(g, "/nonexistent/x",
      0)); say("flags", cudaGraphDebugDotPrint(g, "/tmp/x.dot", 0xffffffff)); }
  SC("user-objects") { int o[8] = {0}; cudaUserObject_t u = JUNK; say("create",
      cudaUserObjectCreate(&u, o, hf_add, 1, cudaUserObjectNoDestructorSync)); say("retain",
      cudaUserObjectRetain(u, 1)); say("release", cudaUserObjectRelease(u, 1)); cudaGraphCreate(&g2,
      0); say("graph-retain", cudaGraphRetainUserObject(g2, u, 1, 0)); say("move",
      cudaGraphRetainUserObject(g2, u, 1, cudaGraphUserObjectMove)); say("graph-release",
      cudaGraphReleaseUserObject(g2, u, 1)); say("destroy", cudaGraphDestroy(g2)); OUT(" called %d",
      o[0]); cudaUserObject_t v = JUNK; say("flags-0", cudaUserObjectCreate(&v, o, hf_add, 1, 0));
      OUT(" %s", Z(v)); say("count-0", cudaUserObjectCreate(&v, o, hf_add, 0, 1)); say("null-fn",
      cudaUserObjectCreate(&v, o, 0, 1, 1)); say("null-out", cudaUserObjectCreate(0, o, hf_add, 1,
      1)); } SC("user-object-null-retain") say("r", cudaUserObjectRetain(0, 1)); }

// ---- libraries, entry points ----
GROUP(library) { S(); cudaLibrary_t l; cudaKernel_t k; void *p; size_t z; unsigned n;
  SC("load-nulls") { l = JUNK; say("code", cudaLibraryLoadData(&l, 0, 0, 0, 0, 0, 0, 0)); OUT(" %s",
      Z(l)); say("out", cudaLibraryLoadData(0, PTX, 0, 0, 0, 0, 0, 0)); }
  SC("load-garbage") { l = JUNK; say("r", cudaLibraryLoadData(&l, "garbage", 0, 0, 0, 0, 0, 0));
      OUT(" %s", Z(l)); } SC("load-empty") say("r", cudaLibraryLoadData(&l, "", 0, 0, 0, 0, 0, 0));
  SC("load-bad-ptx") { l = JUNK; if (!say("load", cudaLibraryLoadData(&l,
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nop()\n{\nbogus;\n}\n", 0, 0,
      0, 0, 0, 0))) { k = JUNK; say("kernel", cudaLibraryGetKernel(&k, l, "nop")); if (k && k !=
      JUNK) say("launch", cudaLaunchKernel((void *)k, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, 0, 0)); }
      } SC("load-file-missing") { l = JUNK; say("r", cudaLibraryLoadFromFile(&l, "/nonexistent", 0,
      0, 0, 0, 0, 0)); OUT(" %s", Z(l)); }
  SC("load-file-null") say("r", cudaLibraryLoadFromFile(&l, 0, 0, 0, 0, 0, 0, 0));
  SC("load-file-directory") say("r", cudaLibraryLoadFromFile(&l, "/", 0, 0, 0, 0, 0, 0));
  SC("load-file-ptx") { FILE *f = fopen("/tmp/xr.ptx", "w"); fputs(PTX, f); fclose(f); l = JUNK; if
      (!say("r", cudaLibraryLoadFromFile(&l, "/tmp/xr.ptx", 0, 0, 0, 0, 0, 0))) { n = 77;
      say("count", cudaLibraryGetKernelCount(&n, l)); OUT(" %u", n); } }
#define LIB MUSTR(cudaLibraryLoadData(&l, PTX, 0, 0, 0, 0, 0, 0));
  SC("kernels") { LIB n = 77; say("count", cudaLibraryGetKernelCount(&n, l)); OUT(" %u", n);
      cudaKernel_t ks[8] = {JUNK, JUNK, JUNK, JUNK}; say("enumerate",
      cudaLibraryEnumerateKernels(ks, 4, l)); OUT(" %s %s %s", Z(ks[0]), Z(ks[1]), Z(ks[2]));
      say("enumerate-1", cudaLibraryEnumerateKernels(ks, 1, l)); say("enumerate-0",
      cudaLibraryEnumerateKernels(ks, 0, l)); say("null", cudaLibraryEnumerateKernels(0, 2, l)); k =
      JUNK; say("get", cudaLibraryGetKernel(&k, l, "set")); OUT(" %s", Z(k)); k = JUNK;
      say("missing", cudaLibraryGetKernel(&k, l, "nosuch")); OUT(" %s", Z(k));
      say("global-as-kernel", cudaLibraryGetKernel(&k, l, "gv")); say("null-name",
      cudaLibraryGetKernel(&k, l, 0)); say("null-out", cudaLibraryGetKernel(0, l, "nop"));
      say("count-null", cudaLibraryGetKernelCount(0, l)); }
  SC("globals") { LIB p = JUNK; z = 77; say("gv", cudaLibraryGetGlobal(&p, &z, l, "gv"));
      OUT(" %s %zu", Z(p), z); attrs(p, p); z = 77; say("cv", cudaLibraryGetGlobal(&p, &z, l,
      "cv")); OUT(" %zu", z); p = JUNK; z = 77; say("missing", cudaLibraryGetGlobal(&p, &z, l,
      "nosuch")); OUT(" %s %zu", Z(p), z); say("kernel-as-global", cudaLibraryGetGlobal(&p, &z, l,
      "nop")); say("no-size", cudaLibraryGetGlobal(&p, 0, l, "gv")); say("no-pointer",
      cudaLibraryGetGlobal(0, &z, l, "gv")); say("neither", cudaLibraryGetGlobal(0, 0, l, "gv"));
      say("null-name", cudaLibraryGetGlobal(&p, &z, l, 0)); p = JUNK; say("managed",
      cudaLibraryGetManaged(&p, &z, l, "gv")); say("unified", cudaLibraryGetUnifiedFunction(&p, l,
      "nop")); } SC("launch") { LIB cudaLibraryGetKernel(&k, l, "set"); unsigned v = 0x5151; void *d
      = dev; void *ar[] = {&d, &v}; say("launch", cudaLaunchKernel((void *)k, (dim3){1, 1, 1},
      (dim3){1, 1, 1}, ar, 0, st)); say("sync", cudaStreamSynchronize(st)); unsigned r = 0;
      cudaMemcpy(&r, dev, 4, 2); OUT(" %x", r); struct cudaFuncAttributes fa; memset(&fa, 0, sizeof
      fa); say("attributes", cudaFuncGetAttributes(&fa, (void *)k)); OUT(" max %d ptx %d binary %d",
      fa.maxThreadsPerBlock, fa.ptxVersion, fa.binaryVersion); const char *nm = 0; say("name",
      cudaFuncGetName(&nm, (void *)k)); OUT(" %s", nm ? nm : "null"); for (int i = 0; i < 3; i++) {
      size_t o = 77, s = 77; SAY(cudaFuncGetParamInfo((void *)k, i, &o, &s), "param%d", i);
      OUT(" %zu %zu", o, s); } int nb_ = 0; say("occupancy",
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb_, (void *)k, 128, 0)); OUT(" %d", nb_);
      cudaFunction_t fn = JUNK; say("func-by-symbol", cudaGetFuncBySymbol(&fn, (void *)k));
      cudaKernel_t kk = JUNK; say("get-kernel", cudaGetKernel(&kk, (void *)k)); OUT(" %s", kk == k ?
      "same" : Z(kk)); for (int a = 7; a < 17; a++) SAY(cudaKernelSetAttributeForDevice(k, a, 1, 0),
      "set%d", a); say("set-device9", cudaKernelSetAttributeForDevice(k, 8, 1, 9)); }
  SC("unload") { LIB cudaLibraryGetKernel(&k, l, "nop"); say("1", cudaLibraryUnload(l)); }
  SC("unload-twice") { LIB say("1", cudaLibraryUnload(l)); say("2", cudaLibraryUnload(l)); }
  SC("launch-after-unload") { LIB cudaLibraryGetKernel(&k, l, "nop"); cudaLibraryUnload(l); say("r",
      cudaLaunchKernel((void *)k, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, 0, 0)); }
  SC("get-after-unload") { LIB cudaLibraryUnload(l); say("r", cudaLibraryGetKernel(&k, l, "nop")); }
  SC("unload-null") say("r", cudaLibraryUnload(0));
  SC("unload-junk") say("r", cudaLibraryUnload(JUNK));
  SC("set-attribute-null") say("r", cudaKernelSetAttributeForDevice(0, 8, 1, 0));
  SC("jit-options") { char log[256] = "x", err[256] = "y"; enum cudaJitOption o[] =
      {cudaJitInfoLogBuffer, cudaJitInfoLogBufferSizeBytes, cudaJitErrorLogBuffer,
      cudaJitErrorLogBufferSizeBytes, cudaJitMaxRegisters}; void *v[] = {log, (void *)256, err,
      (void *)256, (void *)32}; say("ok", cudaLibraryLoadData(&l, PTX, o, v, 5, 0, 0, 0)); o[0] =
      99; say("unknown", cudaLibraryLoadData(&l, PTX, o, v, 1, 0, 0, 0)); say("null-options",
      cudaLibraryLoadData(&l, PTX, 0, v, 1, 0, 0, 0)); }
  SC("jit-null-values") { enum cudaJitOption o[] = {cudaJitMaxRegisters}; say("r",
      cudaLibraryLoadData(&l, PTX, o, 0, 1, 0, 0, 0)); }
  EACH(o, 0, 1, 2) SC("library-option-%d", *o) { enum cudaLibraryOption lo[] = {*o}; void *v[] =
      {(void *)1}; say("r", cudaLibraryLoadData(&l, PTX, 0, 0, 0, lo, v, 1)); } }
GROUP(entrypoints) { S(); static const char *const Y[] = {"cuInit", "cuMemAlloc", "cuMemcpyHtoD",
    "cuStreamQuery", "cuGetProcAddress", "cuCtxCreate", "cuLaunchKernel", "cuNoSuch", "",
    "cudaMalloc", "cuMemAlloc_v2", "cuGraphicsGLRegisterBuffer", "cuDeviceGetUuid"}; void *p; int q;
  for (int i = 0; i < N(Y); i++)
  SC("\"%s\"", Y[i]) { EACH(f, 0, 1, 2, 3, 4) { p = JUNK; q = 77; SAY(cudaGetDriverEntryPoint(Y[i],
      &p, *f, (void *)&q), "flags%d", *f); OUT(" %s %d", Z(p), q); } EACH(v, 0, 1000, 3000, 4000,
      11000, 12000, 12050, 13000, 13010, 14000) { p = JUNK; q = 77;
      SAY(cudaGetDriverEntryPointByVersion(Y[i], &p, *v, 0, (void *)&q), "v%d", *v); OUT(" %s %d",
      Z(p), q); } } Q("null-symbol", cudaGetDriverEntryPoint(0, &p, 0, (void *)&q))
  Q("null-out", cudaGetDriverEntryPoint("cuInit", 0, 0, (void *)&q))
  Q("null-symbol-by-version", cudaGetDriverEntryPointByVersion(0, &p, 12000, 0, (void *)&q))
  Q("null-out-by-version", cudaGetDriverEntryPointByVersion("cuInit", 0, 12000, 0, (void *)&q))
  SC("null-status") { p = JUNK; say("status", cudaGetDriverEntryPoint("cuInit", &p, 0, 0));
      OUT(" %s", Z(p)); p = JUNK; say("status-missing", cudaGetDriverEntryPoint("cuNoSuch", &p, 0,
      0)); OUT(" %s", Z(p)); } SC("same-as-driver") { p = 0;
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &p, 3020, 0, (void *)&q); OUT("%d", p ==
      dlsym(RTLD_DEFAULT, "cuMemAlloc_v2")); cudaGetDriverEntryPoint("cuStreamQuery", &p,
      cudaEnablePerThreadDefaultStream, (void *)&q); OUT(" %d", p == dlsym(RTLD_DEFAULT,
      "cuStreamQuery_ptsz")); cudaGetDriverEntryPoint("cuStreamQuery", &p, cudaEnableDefault, (void
      *)&q); OUT(" %d", p == dlsym(RTLD_DEFAULT, "cuStreamQuery")); }
  SC("export-table") { const void *t = JUNK; cudaUUID_t u; memset(&u, 0, sizeof u); say("zero",
      cudaGetExportTable(&t, &u)); OUT(" %s", Z(t)); }
  SC("export-table-nulls") { const void *t = JUNK; say("id", cudaGetExportTable(&t, 0)); } }

// ---- which calls wait for work that is held back ----
// A stream is held; another thread lets it go after 0.3 s. `waits`: the call came back only then.
static volatile int opened; static void *opener(void *z) { (void)z; usleep(300000); opened = 1; *gh
    = gseq; return 0; }
#define HOLD(name, stream, ...) SC(name) { pthread_t t_; opened = 0; gate(stream); \
    pthread_create(&t_, 0, opener, 0); cudaError_t r_ = (__VA_ARGS__); int o_ = opened; \
    OUT("r=%s %s", E(r_), o_ ? "waits" : "returns"); pthread_join(t_, 0); cudaGetLastError(); }
GROUP(waiting) { S(); void *p = 0, *q = 0, *hp = 0; size_t z, z2; int i; unsigned u; cudaStream_t
    s2; cudaEvent_t e; cudaArray_t a; cudaGraph_t g; cudaGraphExec_t x; cudaGraphNode_t n; struct
    cudaResourceDesc rd; struct cudaTextureDesc td; memset(&td, 0, sizeof td); cudaTextureObject_t
    o; struct cudaPointerAttributes pa; struct cudaMemsetParams mp = {dev, 64, 1, 1, 16, 1};
    cudaMemPool_t pool; BufferDesc b = bd(0, SIZE); HandleDesc d; cudaExternalMemory_t m; char *big
    = malloc(8 * MIB); MUSTR(cudaMalloc(&p, 8 * MIB)); MUSTR(cudaMallocHost(&hp, 8 * MIB));
    MUSTR(cudaStreamCreate(&s2)); MUSTR(cudaEventCreate(&e)); cudaEventRecord(e, st);
    MUSTR(cudaMalloc(&q, MIB)); a = arr(8, 1, 64, 64, 0, 0); MUSTR(cudaGraphCreate(&g, 0));
    MUSTR(cudaGraphAddMemsetNode(&n, g, 0, 0, &mp)); MUSTR(cudaGraphInstantiate(&x, g, 0));
    MUSTR(cudaDeviceGetDefaultMemPool(&pool, 0)); rd = res(0, a); MUSTR(cudaCreateTextureObject(&o,
    &rd, &td, 0)); m = ext_of(ext_fd(SIZE), SIZE); cudaMemset(p, 0, 8 * MIB);
    cudaDeviceSynchronize();
  static const int KB[] = {1, 32, 64, 65, 1024, 8192}; for (int k = 0; k < N(KB); k++) {
  HOLD(L("same-h2d-pageable-%dk", KB[k]), st, cudaMemcpyAsync(p, big, (size_t)KB[k] << 10, 1, st))
  HOLD(L("same-h2d-pinned-%dk", KB[k]), st, cudaMemcpyAsync(p, hp, (size_t)KB[k] << 10, 1, st))
  HOLD(L("same-d2h-pageable-%dk", KB[k]), st, cudaMemcpyAsync(big, p, (size_t)KB[k] << 10, 2, st))
  HOLD(L("same-d2h-pinned-%dk", KB[k]), st, cudaMemcpyAsync(hp, p, (size_t)KB[k] << 10, 2, st))
  HOLD(L("sync-h2d-pageable-%dk", KB[k]), st, cudaMemcpy(p, big, (size_t)KB[k] << 10, 1))
  HOLD(L("sync-h2d-pinned-%dk", KB[k]), st, cudaMemcpy(p, hp, (size_t)KB[k] << 10, 1))
  HOLD(L("sync-h2d-pageable-beside-non-blocking-%dk", KB[k]), nb, cudaMemcpy(p, big, (size_t)KB[k]
      << 10, 1)) }
  HOLD("same-h2h-pageable", st, cudaMemcpyAsync(big, big + MIB, 64, 0, st))
  HOLD("same-h2h-pinned", st, cudaMemcpyAsync(hp, (char *)hp + MIB, 64, 0, st))
  HOLD("same-d2d", st, cudaMemcpyAsync(dev, dev2, 64, 3, st))
  HOLD("sync-d2d", st, cudaMemcpy(dev, dev2, 64, 3))
  HOLD("sync-d2d-beside-non-blocking", nb, cudaMemcpy(dev, dev2, 64, 3))
  HOLD("sync-h2h", st, cudaMemcpy(big, big + MIB, 64, 0))
  HOLD("sync-h2h-beside-non-blocking", nb, cudaMemcpy(big, big + MIB, 64, 0))
  HOLD("sync-0-bytes", st, cudaMemcpy(dev, dev2, 0, 3))
  HOLD("memset", st, cudaMemset(dev, 1, 64))
  HOLD("memset-pinned", st, cudaMemset(hp, 1, 64))
  HOLD("memset-async", st, cudaMemsetAsync(dev, 1, 64, st))
  HOLD("memset-beside-non-blocking", nb, cudaMemset(dev, 1, 64))
  HOLD("to-array-pageable", st, cudaMemcpy2DToArray(a, 0, 0, big, 64, 64, 64, 1))
  HOLD("to-array-async-pageable", st, cudaMemcpy2DToArrayAsync(a, 0, 0, big, 64, 64, 64, 1, st))
  HOLD("from-array-async-pageable", st, cudaMemcpy2DFromArrayAsync(big, 64, a, 0, 0, 64, 64, 2, st))
  HOLD("2d-async-d2h-pageable", st, cudaMemcpy2DAsync(big, 64, dev, 64, 64, 64, 2, st))
  HOLD("malloc-small", st, cudaMalloc(&q, 64))
  HOLD("malloc-large", st, cudaMalloc(&q, 64 * MIB))
  HOLD("free-large", st, cudaFree(q))
  HOLD("free-null", st, cudaFree(0))
  HOLD("free-small", st, cudaFree(dev2))
  HOLD("malloc-host", st, cudaMallocHost(&q, MIB))
  HOLD("free-host", st, cudaFreeHost(q))
  HOLD("host-register", st, cudaHostRegister(big, 4 * MIB, 0))
  HOLD("host-unregister", st, cudaHostUnregister(big))
  HOLD("malloc-array", st, cudaMallocArray(&a, &(struct cudaChannelFormatDesc){8, 0, 0, 0, 1}, 64,
      64, 0)) HOLD("free-array", st, cudaFreeArray(a))
  HOLD("malloc-async", st, cudaMallocAsync(&q, 64, st))
  HOLD("free-async", st, cudaFreeAsync(q, st))
  HOLD("malloc-async-other", st, cudaMallocAsync(&q, 64, nb))
  HOLD("free-of-async", st, cudaFree(q))
  HOLD("pool-trim", st, cudaMemPoolTrimTo(pool, 0))
  HOLD("mem-info", st, cudaMemGetInfo(&z, &z2))
  HOLD("pointer-attributes", st, cudaPointerGetAttributes(&pa, dev))
  HOLD("stream-create", st, cudaStreamCreate(&s2))
  HOLD("stream-destroy-idle", st, cudaStreamDestroy(s2))
  HOLD("stream-sync-other", st, cudaStreamSynchronize(nb))
  HOLD("stream-sync-null", st, cudaStreamSynchronize(0))
  HOLD("stream-sync-per-thread", st, cudaStreamSynchronize(cudaStreamPerThread))
  HOLD("device-sync", nb, cudaDeviceSynchronize())
  HOLD("event-create", st, cudaEventCreate(&e))
  HOLD("event-record", st, cudaEventRecord(e, st))
  HOLD("event-destroy", st, cudaEventDestroy(e))
  HOLD("event-query", st, cudaEventQuery(ev))
  HOLD("wait-event", st, cudaStreamWaitEvent(nb, ev, 0))
  HOLD("host-func", st, cudaLaunchHostFunc(st, host_nop, 0))
  HOLD("graph-instantiate", st, cudaGraphInstantiate(&x, g, 0))
  HOLD("graph-launch-same", st, cudaGraphLaunch(x, st))
  HOLD("graph-launch-other", st, cudaGraphLaunch(x, nb))
  HOLD("graph-upload", st, cudaGraphUpload(x, st))
  HOLD("graph-exec-destroy-idle", st, cudaGraphExecDestroy(x))
  HOLD("texture-create", st, cudaCreateTextureObject(&o, &rd, &td, 0))
  HOLD("texture-destroy", st, cudaDestroyTextureObject(o))
  HOLD("limit-set-stack", st, cudaDeviceSetLimit(cudaLimitStackSize, 8192))
  HOLD("limit-get", st, cudaDeviceGetLimit(&z, 0))
  HOLD("init-device", st, cudaInitDevice(0, 0, 0))
  HOLD("set-device", st, cudaSetDevice(0))
  HOLD("profiler-start", st, cudaProfilerStart())
  HOLD("profiler-stop", st, cudaProfilerStop())
  HOLD("ext-import", st, (d = hd(1, ext_fd(SIZE), SIZE, 0), cudaImportExternalMemory(&m, &d)))
  HOLD("ext-map", st, cudaExternalMemoryGetMappedBuffer(&q, m, &b))
  HOLD("ext-free", st, cudaFree(q))
  HOLD("ext-destroy", st, cudaDestroyExternalMemory(m))
  HOLD("ipc-get", st, cudaIpcGetMemHandle((void *)buf, dev))
  HOLD("begin-capture", st, cudaStreamBeginCapture(nb, 0)) }
// ---- wild handles ----
#define WILD(name, ...) SC(name) { int i = 0; unsigned u = 0; size_t z = 0; void *p = 0; float f; \
    (void)i; (void)u; (void)z; (void)p; (void)f; say("r", __VA_ARGS__); }
GROUP(wild) { calls->quick = 1; S(); struct cudaKernelNodeParams K; WILD("GraphGetNodes",
    cudaGraphGetNodes(JUNK, 0, &z)) WILD("GraphNodeGetType", cudaGraphNodeGetType(JUNK, (void *)&i))
WILD("GraphInstantiate", cudaGraphInstantiate((void *)&p, JUNK, 0)) WILD("GraphLaunch",
    cudaGraphLaunch(JUNK, 0)) WILD("GraphExecDestroy", cudaGraphExecDestroy(JUNK))
WILD("GraphClone", cudaGraphClone((void *)&p, JUNK)) WILD("GraphAddEmptyNode",
    cudaGraphAddEmptyNode((void *)&p, JUNK, 0, 0)) WILD("GraphKernelNodeGetParams",
    cudaGraphKernelNodeGetParams(JUNK, &K)) WILD("GraphDestroyNode", cudaGraphDestroyNode(JUNK))
WILD("StreamWaitEvent", cudaStreamWaitEvent(0, JUNK, 0)) WILD("EventSynchronize",
    cudaEventSynchronize(JUNK)) WILD("EventElapsedTime", cudaEventElapsedTime(&f, JUNK, JUNK))
WILD("StreamGetPriority", cudaStreamGetPriority(JUNK, &i)) WILD("StreamIsCapturing",
    cudaStreamIsCapturing(JUNK, (void *)&i)) WILD("StreamBeginCapture", cudaStreamBeginCapture(JUNK,
    0)) WILD("StreamEndCapture", cudaStreamEndCapture(JUNK, (void *)&p)) WILD("MemPoolGetAttribute",
    cudaMemPoolGetAttribute(JUNK, 4, buf)) WILD("MemPoolTrimTo", cudaMemPoolTrimTo(JUNK, 0))
WILD("DeviceSetMemPool", cudaDeviceSetMemPool(0, JUNK)) WILD("UserObjectRetain",
    cudaUserObjectRetain(JUNK, 1)) WILD("LibraryGetKernel", cudaLibraryGetKernel((void *)&p, JUNK,
    "x")) WILD("FuncGetAttributes", cudaFuncGetAttributes((void *)buf, JUNK)) WILD("LaunchKernel",
    cudaLaunchKernel(JUNK, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, 0, 0)) WILD("FuncGetName",
    cudaFuncGetName((void *)&p, JUNK)) WILD("GetFuncBySymbol", cudaGetFuncBySymbol((void *)&p,
    JUNK)) WILD("GetSymbolAddress", cudaGetSymbolAddress(&p, JUNK)) WILD("MemcpyToSymbol",
    cudaMemcpyToSymbol(JUNK, page, 4, 0, 1)) WILD("ArrayGetMemoryRequirements",
    cudaArrayGetMemoryRequirements((void *)buf, JUNK, 0)) WILD("MipmappedArrayGetSparseProperties",
    cudaMipmappedArrayGetSparseProperties((void *)buf, JUNK))
WILD("GraphicsSubResourceGetMappedArray", cudaGraphicsSubResourceGetMappedArray((void *)&p, JUNK, 0,
    0)) WILD("KernelSetAttributeForDevice", cudaKernelSetAttributeForDevice(JUNK, 8, 1, 0))
WILD("IpcGetEventHandle", cudaIpcGetEventHandle((void *)buf, JUNK)) }
#define GROUPS(X) X(names) X(versions) X(lazy) X(contexts) X(reset) X(lasterror) X(device) \
    X(properties) X(attributes) X(malloc) X(hostmem) X(pointers) X(copy_kinds) X(copy_async) \
    X(copy_ranges) X(copy_arrays) X(channels) X(arrays) X(textures) X(pools) X(ipc) X(ipc_two) \
    X(extmem) X(extsem) X(vulkan_memory) X(vulkan_semaphores) X(gl_absent) X(graphics_null) \
    X(gl_devices_first) X(gl_buffer) X(gl_image) X(egl) X(egl_image) X(vdpau) X(streams) X(events) \
    X(hostfunc) X(capture) X(graphs) X(library) X(entrypoints) X(waiting) X(wild)
int main(int c, char **v) { if (c > 1 && !strcmp(v[1], "-l")) {
#define X(n) puts(#n);
    GROUPS(X) return 0; }
#undef X
#define X(n) calls_reset(); RUN(n);
  for (int i = 1; i < (c > 1 ? c : 2); i++) { probe_only = c > 1 ? v[i] : 0; GROUPS(X) } return 0; }
