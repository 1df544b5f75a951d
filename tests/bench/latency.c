// SPDX-License-Identifier: MIT
// Median nanoseconds of common driver calls, each beside the time that the real card's driver took
// (recorded: tests/data/silicon/latency.txt).
//
//     latency [RECORDING]
#include <cardless.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "calls.h"
#include "latency_semaphore.h"

enum { BIG_B = 64 << 20 };

static unsigned char host[1 << 20], other[1 << 20];

// Of 64 MiB each.
static CUdeviceptr big[2];

static void start(void)
{
    CUcontext context;
    double t0 = now_ns();
    MUST(cuInit(0));
    double t1 = now_ns();
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    double t2 = now_ns();
    MUST(cuMemAlloc(&big[0], BIG_B));
    double t3 = now_ns();
    MUST(cuMemAlloc(&big[1], BIG_B));
    double t4 = now_ns();
    report("cuInit", t1 - t0);
    report("primary context + current", t2 - t1);
    report("cuInit to first allocation", t3 - t0);
    report("first two 64 MiB allocations", t4 - t2);
}

static void queries(CUdeviceptr p)
{
    CUcontext context;
    CUdeviceptr base;
    size_t size;
    int value;
    BENCH("cuCtxGetCurrent", 1000, cuCtxGetCurrent(&context));
    BENCH("cuDeviceGetAttribute", 1000,
          cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    BENCH("cuPointerGetAttribute memory type", 1000,
          cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    BENCH("cuMemGetAddressRange", 1000, cuMemGetAddressRange(&base, &size, p + 100));
}

static void touch(void *p)
{
    *(volatile char *)p = 1;
}

static void allocation(CUstream s)
{
    CUdeviceptr x;
    void *m;
    BENCH_BESIDE("cuMemAlloc+cuMemFree 4 KiB", 100, m = malloc(4096); touch(m);
                 free(m), cuMemAlloc(&x, 4096); cuMemFree(x));
    BENCH_BESIDE("cuMemAlloc+cuMemFree 16 MiB", 20, m = malloc(16 << 20); touch(m);
                 free(m), cuMemAlloc(&x, 16 << 20); cuMemFree(x));
    BENCH_BESIDE("cuMemAllocAsync+FreeAsync 4 KiB +sync", 100, m = malloc(4096); touch(m);
                 free(m), cuMemAllocAsync(&x, 4096, s); cuMemFreeAsync(x, s);
                 cuStreamSynchronize(s));
}

// The C library copies between the same buffer of the host and another one.
static void copies(CUdeviceptr p, CUdeviceptr q)
{
    BENCH_BESIDE("cuMemcpyHtoD 4 B", 100, memcpy(other, host, 4);
                 KEEP(other), cuMemcpyHtoD(p, host, 4));
    BENCH_BESIDE("cuMemcpyHtoD 64 KiB", 100, memcpy(other, host, 65536);
                 KEEP(other), cuMemcpyHtoD(p, host, 65536));
    BENCH_BESIDE("cuMemcpyHtoD 1 MiB", 20, memcpy(other, host, 1 << 20);
                 KEEP(other), cuMemcpyHtoD(p, host, 1 << 20));
    BENCH_BESIDE("cuMemcpyDtoH 4 B", 100, memcpy(host, other, 4);
                 KEEP(host), cuMemcpyDtoH(host, p, 4));
    BENCH_BESIDE("cuMemcpyDtoH 1 MiB", 20, memcpy(host, other, 1 << 20);
                 KEEP(host), cuMemcpyDtoH(host, p, 1 << 20));
    BENCH_BESIDE("cuMemcpyDtoD 4 KiB + sync", 100, memcpy(other, host, 4096);
                 KEEP(other), cuMemcpyDtoD(q, p, 4096); cuCtxSynchronize());
}

// A card copies this at the speed of its own memory.
static void big_copy(CUdeviceptr p, CUdeviceptr q)
{
    unsigned char *from = malloc(BIG_B), *to = malloc(BIG_B);
    if (!from || !to)
        abort();
    memset(from, 1, BIG_B);
    BENCH_BESIDE("cuMemcpyDtoD 64 MiB + sync", 1, memcpy(to, from, BIG_B);
                 KEEP(to), cuMemcpyDtoD(q, p, BIG_B); cuCtxSynchronize());
    free(from);
    free(to);
}

static void fills(CUdeviceptr p, CUstream s)
{
    BENCH_BESIDE("cuMemsetD8Async 4 KiB enqueue + sync", 100, memset(other, 1, 4096);
                 KEEP(other), cuMemsetD8Async(p, 1, 4096, s); cuStreamSynchronize(s));
    BENCH_BESIDE(
        "cuMemsetD8Async enqueue x100, one sync (each)", 10,
        for (int k = 0; k < 100; k++) {
            memset(other, 1, 64);
            KEEP(other);
        },
        for (int k = 0; k < 100; k++) cuMemsetD8Async(p, 1, 64, s);
        cuStreamSynchronize(s));
}

static void streams(CUstream s, CUstream s2)
{
    CUevent e, x;
    CUstream y;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    BENCH("cuStreamQuery idle", 1000, cuStreamQuery(s));
    BENCH("cuStreamSynchronize idle", 1000, cuStreamSynchronize(s));
    BENCH("cuEventRecord+cuStreamWaitEvent+sync", 100, cuEventRecord(e, s);
          cuStreamWaitEvent(s2, e, 0); cuStreamSynchronize(s2));
    BENCH("cuStreamCreate+Destroy", 20, cuStreamCreate(&y, CU_STREAM_NON_BLOCKING);
          cuStreamDestroy(y));
    BENCH("cuEventCreate+Destroy", 100, cuEventCreate(&x, CU_EVENT_DISABLE_TIMING);
          cuEventDestroy(x));
}

// Threads with memory and a stream each: small copies, fills and events.
enum { SMALL_ROUNDS = 2000, SMALL_CALLS = 4 * SMALL_ROUNDS, SMALL_THREADS = 2 };
struct small_calls {
    CUcontext context;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    atomic_uint *missing; // threads that have not started yet
    pthread_t thread;
    cpu_set_t core;
    double from, to; // of all its calls
};

// `number`: threads should run on different cores if there are so many.
static void small_init(struct small_calls *c, int number)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores))
        abort();
    int at = 0;
    for (int left = number % CPU_COUNT(&cores); left || !CPU_ISSET(at, &cores); at++)
        left -= CPU_ISSET(at, &cores) != 0;
    CPU_ZERO(&c->core);
    CPU_SET(at, &c->core);
    MUST(cuCtxGetCurrent(&c->context));
    MUST(cuMemAlloc(&c->memory, 4096));
    MUST(cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&c->event, CU_EVENT_DISABLE_TIMING));
}

static void *small_run(void *argument)
{
    struct small_calls *c = argument;
    unsigned char bytes[4] = {0};
    pthread_setaffinity_np(pthread_self(), sizeof c->core, &c->core);
    MUST(cuCtxSetCurrent(c->context));
    // A thread that slept here would wake on the core of the one that wakes it.
    for (atomic_fetch_sub(c->missing, 1); atomic_load(c->missing);)
        sched_yield();
    c->from = now_ns();
    for (int i = 0; i < SMALL_ROUNDS; i++) {
        cuMemcpyHtoDAsync(c->memory, bytes, sizeof bytes, c->stream);
        cuMemsetD32Async(c->memory, 1, 16, c->stream);
        cuEventRecord(c->event, c->stream);
        cuStreamSynchronize(c->stream);
    }
    c->to = now_ns();
    return NULL;
}

static void small_finish(const struct small_calls *c)
{
    MUST(cuEventDestroy(c->event));
    MUST(cuStreamDestroy(c->stream));
    MUST(cuMemFree(c->memory));
}

// The time of a call in sum: `count` threads make that many times as many calls as one. It begins
// with the first call and ends with the last one, so it contains no start of a thread.
static double small_ns(struct small_calls *list, unsigned count)
{
    atomic_uint missing = count;
    for (unsigned i = 0; i < count; i++) {
        list[i].missing = &missing;
        if (pthread_create(&list[i].thread, NULL, small_run, &list[i]))
            abort();
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(list[i].thread, NULL);
    double from = list[0].from, to = list[0].to;
    for (unsigned i = 1; i < count; i++) {
        from = list[i].from < from ? list[i].from : from;
        to = list[i].to > to ? list[i].to : to;
    }
    return (to - from) / (count * SMALL_CALLS);
}

static void threads(void)
{
    struct small_calls list[SMALL_THREADS];
    double one[RUNS], all[RUNS];
    for (int i = 0; i < SMALL_THREADS; i++)
        small_init(&list[i], i);
    for (int i = 0; i < RUNS; i++) {
        one[i] = (small_ns(&list[0], 1) + small_ns(&list[1], 1)) / 2;
        all[i] = small_ns(list, SMALL_THREADS);
    }
    qsort(one, RUNS, sizeof *one, by_value);
    qsort(all, RUNS, sizeof *all, by_value);
    report("small calls of one thread", one[RUNS / 2]);
    report("small calls of two threads, in sum", all[RUNS / 2]);
    for (int i = 0; i < SMALL_THREADS; i++)
        small_finish(&list[i]);
}

static void do_nothing(void)
{
}

// A kernel that is a function of the host.
static void host_kernel(CUstream s)
{
    static const cardlessKernelDesc list[] = {{.name = "nothing", .function = do_nothing}};
    static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                             .version = CARDLESS_VERSION,
                                             .kernel_count = 1,
                                             .kernels = list};
    CUmodule module;
    CUfunction f;
    if (cuModuleLoadData(&module, &table) || cuModuleGetFunction(&f, module, "nothing"))
        return; // no libffi
    BENCH("cuLaunchKernel 1x1 + sync, of the host", 100,
          cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
          cuStreamSynchronize(s));
    BENCH("cuLaunchKernel 1x32 + sync, of the host", 100,
          cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL);
          cuStreamSynchronize(s));
    MUST(cuModuleUnload(module));
}

// The kernel of the recording: each thread of a warp stores its number.
static void kernel(CUdeviceptr p, CUstream s)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k(.param .u64 p)\n{\n"
                               ".reg .u64 %rd<3>;\n.reg .u32 %r<3>;\n"
                               "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n"
                               "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                               "add.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r1;\n"
                               "ret;\n}\n";
    CUmodule module;
    CUfunction f;
    void *parameters[] = {&p};
    double start = now_ns();
    MUST(cuModuleLoadData(&module, text));
    report("cuModuleLoadData tiny PTX (first)", now_ns() - start);
    MUST(cuModuleGetFunction(&f, module, "k"));
    BENCH("cuLaunchKernel 1x32 + sync", 100,
          cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, parameters, NULL);
          cuStreamSynchronize(s));
    BENCH("cuLaunchKernel x100 one sync (each)", 10,
          for (int k = 0; k < 100; k++)
              cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, parameters, NULL);
          cuStreamSynchronize(s));
    MUST(cuModuleUnload(module));
}

// A chain of 100 fills of 64 bytes.
static void graphs(CUdeviceptr p, CUstream s)
{
    CUgraph g;
    CUgraphNode last = NULL;
    CUgraphExec x;
    MUST(cuGraphCreate(&g, 0));
    for (int i = 0; i < 100; i++) {
        CUDA_MEMSET_NODE_PARAMS fill = {
            .dst = p + 64 * i, .value = i, .elementSize = 4, .width = 16, .height = 1};
        CUgraphNode before = last;
        MUST(cuGraphAddMemsetNode(&last, g, &before, i != 0, &fill, NULL));
    }
    MUST(cuGraphInstantiate(&x, g, 0));
    BENCH("cuGraphLaunch of 100 memset nodes + sync", 100, cuGraphLaunch(x, s);
          cuStreamSynchronize(s));
    MUST(cuGraphExecDestroy(x));
    MUST(cuGraphDestroy(g));
}

static CUDA_ARRAY3D_DESCRIPTOR arrays(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUarray a;
    CUmipmappedArray m;
    CUDA_MEMCPY2D c;
    memset(&d, 0, sizeof d);
    d.Width = d.Height = 256;
    d.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    d.NumChannels = 4;
    BENCH("cuArray3DCreate+Destroy 256x256x4", 50, cuArray3DCreate(&a, &d); cuArrayDestroy(a));
    BENCH("cuMipmappedArrayCreate+Destroy 9 levels", 50, cuMipmappedArrayCreate(&m, &d, 9);
          cuMipmappedArrayDestroy(m));
    MUST(cuArray3DCreate(&a, &d));
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = host;
    c.srcPitch = 1024;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.WidthInBytes = 1024;
    c.Height = 256;
    BENCH_BESIDE("cuMemcpy2D host->array 256x256x4", 50,
                 for (int y = 0; y < 256; y++) memcpy(other + 1024 * y, host + 1024 * y, 1024);
                 KEEP(other), cuMemcpy2D(&c));
    c.WidthInBytes = 4;
    c.Height = 1;
    BENCH("cuMemcpy2D host->array 1 texel", 100, cuMemcpy2D(&c));
    MUST(cuArrayDestroy(a));
    return d;
}

static void external(CUDA_ARRAY3D_DESCRIPTOR array)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle h;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer;
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image;
    CUexternalMemory m;
    CUmipmappedArray mip;
    CUdeviceptr p;
    int fd;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MUST(cuMemCreate(&h, 8 << 20, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.size = 8 << 20;
    BENCH("cuImportExternalMemory+Destroy 8 MiB", 20,
          desc.handle.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
          cuImportExternalMemory(&m, &desc); cuDestroyExternalMemory(m));
    desc.handle.fd = fd;
    MUST(cuImportExternalMemory(&m, &desc));
    memset(&buffer, 0, sizeof buffer);
    buffer.size = 8 << 20;
    BENCH("cuExternalMemoryGetMappedBuffer+cuMemFree", 50,
          cuExternalMemoryGetMappedBuffer(&p, m, &buffer);
          cuMemFree(p));
    buffer.size = 4 << 20;
    BENCH("the same, another range each time", 50, buffer.offset ^= 4 << 20;
          cuExternalMemoryGetMappedBuffer(&p, m, &buffer); cuMemFree(p));
    memset(&image, 0, sizeof image);
    image.arrayDesc = array;
    image.numLevels = 9;
    BENCH("cuExternalMemoryGetMappedMipmappedArray+Destroy", 50,
          cuExternalMemoryGetMappedMipmappedArray(&mip, m, &image);
          cuMipmappedArrayDestroy(mip));
    MUST(cuDestroyExternalMemory(m));
}

static void virtual_memory(void)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle h;
    CUmemAccessDesc access;
    CUdeviceptr va;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    MUST(cuMemCreate(&h, 2 << 20, &prop, 0));
    MUST(cuMemAddressReserve(&va, 2 << 20, 0, 0, 0));
    BENCH("cuMemMap+SetAccess+Unmap 2 MiB", 50, cuMemMap(va, 2 << 20, 0, h, 0);
          cuMemSetAccess(va, 2 << 20, &access, 1); cuMemUnmap(va, 2 << 20));
}

// Returns this process's resident memory in KiB.
static long resident_KiB(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kib);
    if (f)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    CUstream s, s2;
    semaphores_begin();
    begin(argc, argv);
    long before = resident_KiB();
    start();
    long after = resident_KiB();
    const CUdeviceptr p = big[0], q = big[1];
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&s2, CU_STREAM_NON_BLOCKING));
    queries(p);
    allocation(s);
    copies(p, q);
    big_copy(p, q);
    fills(p, s);
    streams(s, s2);
    threads();
    if (is_cardless())
        host_kernel(s);
    kernel(p, s);
    graphs(p, s);
    external(arrays());
    virtual_memory();
    if (is_cardless())
        semaphores(s);
    report_compared();
    printf("%-48s %9ld KiB\n", "resident memory of an idle process, added", after - before);
    return 0;
}
