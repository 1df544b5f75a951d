// SPDX-License-Identifier: MIT
// Contexts, host memory, imported buffers, pools, streams, events, limits and allocations with arguments drawn at random. The order and number of the
// draws must stay as they are.
#include "draw.h"
#include "record.h"

enum { GRANULE = 2 << 20, HOST_B = 1 << 20, NEW_FLAGS = 77, SOME_POINTER = 5 };

static const char *brief(CUresult code)
{
    return code ? record_name(code) : "ok";
}

// ---- contexts: what is current, the primary one, flags

enum { OWN_CONTEXTS = 3, CONTEXT_STEPS = 16 };

static CUcontext contexts[1 + OWN_CONTEXTS]; // the primary one, and those that were made
static int retained;

static void say_which(CUcontext context)
{
    int which = context ? -2 : -1;
    for (int i = 0; i <= OWN_CONTEXTS; i++)
        if (contexts[i] && contexts[i] == context)
            which = i;
    SAY("%d ", which);
}

static void context_step(void)
{
    static const unsigned flags[] = {0, 1, 2, 4, 8, 16, 3, 9, 12, 20, 24, 32, 64, 128, 255};
    int k = 1 + (int)(draw() % OWN_CONTEXTS), active = 9;
    CUcontext current = NULL;
    unsigned f = NEW_FLAGS;
    CUresult r;
    switch (draw() % 14) {
    case 0:
    case 1:
        if (contexts[k])
            break;
        f = PICK(flags);
        r = cuCtxCreate(&contexts[k], NULL, f, 0);
        if (r)
            contexts[k] = NULL;
        SAY("create%d,%x=%s ", k, f, brief(r));
        break;
    case 2:
        if (!contexts[k] || !chance(60))
            break;
        SAY("destroy%d=%s ", k, brief(cuCtxDestroy(contexts[k])));
        contexts[k] = NULL;
        break;
    case 3:
        SAY("pop=%s,", brief(cuCtxPopCurrent(&current)));
        say_which(current);
        break;
    case 4:
        if (contexts[k])
            SAY("push%d=%s ", k, brief(cuCtxPushCurrent(contexts[k])));
        break;
    case 5:
        if (contexts[k])
            SAY("set%d=%s ", k, brief(cuCtxSetCurrent(contexts[k])));
        break;
    case 6:
        SAY("set-null=%s ", brief(cuCtxSetCurrent(NULL)));
        break;
    case 7:
        SAY("retain=%s ", brief(cuDevicePrimaryCtxRetain(&contexts[0], 0)));
        retained++;
        break;
    case 8:
        r = cuDevicePrimaryCtxRelease(0);
        SAY("release=%s ", brief(r));
        retained -= !r;
        if (!retained)
            contexts[0] = NULL;
        break;
    case 9:
        if (contexts[0])
            SAY("set0=%s ", brief(cuCtxSetCurrent(contexts[0])));
        break;
    case 10:
        f = PICK(flags);
        SAY("pflags%x=%s ", f, brief(cuDevicePrimaryCtxSetFlags(0, f)));
        break;
    case 11:
        r = cuDevicePrimaryCtxGetState(0, &f, &active);
        SAY("state=%s,%x,%d ", brief(r), f, active);
        break;
    case 12:
        r = cuCtxGetFlags(&f);
        SAY("flags=%s,%x ", brief(r), r ? 0 : f);
        f = PICK(flags);
        SAY("setflags%x=%s ", f, brief(cuCtxSetFlags(f)));
        break;
    case 13:
        SAY("current=%s,", brief(cuCtxGetCurrent(&current)));
        say_which(current);
        break;
    }
}

GROUP(contexts)
{
    NEED(cuInit(0));
    for (int i = 0; i < 150; i++) {
        draw_seed(9000 + (uint64_t)i);
        if (!CASE("walk-%d", i))
            continue;
        memset(contexts, 0, sizeof contexts);
        retained = 0;
        cuCtxSetCurrent(NULL);
        for (int step = 0; step < CONTEXT_STEPS; step++)
            context_step();
        SAY("end");
        for (int k = 1; k <= OWN_CONTEXTS; k++)
            if (contexts[k])
                cuCtxDestroy(contexts[k]);
        while (retained-- > 0)
            cuDevicePrimaryCtxRelease(0);
        cuCtxSetCurrent(NULL);
        CUcontext popped;
        while (!cuCtxPopCurrent(&popped))
            ;
        cuDevicePrimaryCtxSetFlags(0, 0);
    }
}

// ---- host memory

static void host_allocation(size_t size, unsigned flags)
{
    void *p = (void *)SOME_POINTER;
    CUresult r = cuMemHostAlloc(&p, size, flags);
    SAY("%s", record_name(r));
    if (r) {
        SAY(" %d", p == (void *)SOME_POINTER);
        return;
    }
    unsigned got = 99;
    CUdeviceptr device = 0;
    SAY(" flags=%s", record_name(cuMemHostGetFlags(&got, p)));
    SAY(",%x dp=%s", got, record_name(cuMemHostGetDevicePointer(&device, p, 0)));
    SAY(",%d align%d", device == (CUdeviceptr)p, (uintptr_t)p % 4096 == 0);
    SAY(" free=%s", record_name(cuMemFreeHost(p)));
}

static void registration(unsigned char *host, size_t offset, size_t size, unsigned flags, const size_t *offsets, unsigned count)
{
    if (size > HOST_B) {
        SAY("skip");
        return;
    }
    if (offset + size > HOST_B)
        size = HOST_B - offset;
    unsigned char *p = host + offset;
    CUresult r = cuMemHostRegister(p, size, flags);
    SAY("%s", record_name(r));
    if (r)
        return;
    unsigned got = 99;
    CUdeviceptr device = 0;
    SAY(" flags=%s", record_name(cuMemHostGetFlags(&got, p)));
    SAY(",%x dp=%s", got, record_name(cuMemHostGetDevicePointer(&device, p, 0)));
    SAY(",%d", device == (CUdeviceptr)p);
    SAY(" again=%s", record_name(cuMemHostRegister(p, size, flags)));
    size_t over = offsets[draw() % count];
    r = cuMemHostRegister(host + over, 8192, 0);
    SAY(" over%zx=%s", over, record_name(r));
    if (!r)
        cuMemHostUnregister(host + over);
    SAY(" mid=%s", record_name(cuMemHostUnregister(p + size / 2 + 1)));
    SAY(" unreg=%s", record_name(cuMemHostUnregister(p)));
}

GROUP(hostalloc)
{
    static const size_t sizes[] = {0, 1, 100, 4096, 65536, HOST_B, SIZE_MAX, (size_t)1 << 50};
    static const size_t offsets[] = {0, 0, 0, 1, 64, 4096, 8192, 65536, 100000};
    record_context();
    unsigned char *host = mmap(NULL, HOST_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 300; i++) {
        draw_seed(3000 + (uint64_t)i);
        unsigned flags = (unsigned)(draw() % 40);
        size_t size = PICK(sizes), offset = PICK(offsets);
        if (CASE("alloc-%d-%zx-%x", i, size, flags))
            host_allocation(size, flags);
        if (CASE("reg-%d-%zx-%zx-%x", i, offset, size, flags))
            registration(host, offset, size, flags, offsets, COUNT(offsets));
    }
}

// Two registrations close by: which bytes of which pages may be registered twice.
GROUP(registered)
{
    static const size_t offsets[] = {0, 1, 64, 4095, 4096, 4097, 8191, 8192};
    static const size_t sizes[] = {1, 63, 64, 4032, 4095, 4096, 4097, 8192};
    static const unsigned flags[] = {0, 1, 2, 3, CU_MEMHOSTREGISTER_READ_ONLY, CU_MEMHOSTREGISTER_READ_ONLY | 2};
    record_context();
    unsigned char *host = mmap(NULL, HOST_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 400; i++) {
        draw_seed(140000 + (uint64_t)i);
        size_t at[3], size[3];
        unsigned flag[3], got;
        for (int k = 0; k < 3; k++) {
            at[k] = PICK(offsets);
            size[k] = PICK(sizes);
            flag[k] = PICK(flags);
        }
        if (!CASE("%d", i))
            continue;
        for (int k = 0; k < 3; k++)
            SAY(" %zu+%zu,%x=%s", at[k], size[k], flag[k], brief(cuMemHostRegister(host + at[k], size[k], flag[k])));
        for (size_t page = 0; page < 5; page++)
            SAY(" %s", brief(cuMemHostGetFlags(&got, host + page * 4096)));
        for (int k = 0; k < 3; k++)
            SAY(" un%d=%s", k, brief(cuMemHostUnregister(host + at[k])));
        for (int k = 0; k < 3; k++)
            cuMemHostUnregister(host + at[k]);
    }
}

// ---- buffers on imported memory

GROUP(extbuf)
{
    enum { MOST = 6 };
    static const size_t real[] = {GRANULE, 4 * GRANULE, 3 * GRANULE};
    static const size_t claims[] = {0,           1,           100,         4096,        65536,       GRANULE - 1,          GRANULE,
                                    GRANULE + 1, 2 * GRANULE, 3 * GRANULE, 4 * GRANULE, 5 * GRANULE, (size_t)64 * GRANULE, (size_t)1 << 47,
                                    SIZE_MAX};
    static const size_t offsets[] = {
        0, 0, 1, 16, 100, 4096, 65536, 65537, GRANULE - 65536, GRANULE - 1, GRANULE, GRANULE + 1, 2 * GRANULE, (size_t)-65536, SIZE_MAX};
    static const size_t sizes[] = {
        0, 1, 100, 4096, 65535, 65536, 65537, GRANULE, GRANULE + 1, 2 * GRANULE, 4 * GRANULE, (size_t)65536 << 30, SIZE_MAX, (size_t)1 << 47};
    record_context();
    for (int i = 0; i < 250; i++) {
        draw_seed(60000 + (uint64_t)i);
        size_t size = PICK(real), claim = chance(70) ? size : PICK(claims), lengths[MOST];
        unsigned flags = chance(90) ? 0 : (unsigned)(draw() % 3);
        CUdeviceptr p[MOST] = {0};
        CUexternalMemory memory;
        if (!CASE("walk-%d", i))
            continue;
        CUresult r = record_import(&memory, size, claim, flags);
        SAY("import%zx/%zx,%x=%s", size, claim, flags, record_name(r));
        if (r)
            continue;
        for (int k = 0; k < MOST; k++) {
            CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {.offset = PICK(offsets)};
            lengths[k] = b.size = PICK(sizes);
            b.flags = chance(97) ? 0 : 1;
            r = cuExternalMemoryGetMappedBuffer(&p[k], memory, &b);
            SAY(" %llx+%llx=%s", b.offset, b.size, brief(r));
            if (r) {
                p[k] = 0;
                continue;
            }
            CUdeviceptr base;
            size_t range;
            unsigned char byte = 0;
            r = cuMemGetAddressRange(&base, &range, p[k] + lengths[k] / 2);
            SAY(",%d,%s,%lld,%zx", (int)(p[k] % 512), brief(r), r ? 0 : (long long)(p[k] - base), r ? 0 : range);
            SAY(",%s", brief(cuMemsetD8(p[k], (unsigned char)(k + 1), lengths[k])));
            SAY(",%s", brief(cuMemcpyDtoH(&byte, p[k] + lengths[k] - 1, 1)));
            SAY(",%d,%s", byte, cuMemsetD8(p[k] + lengths[k], 1, 1) ? "past" : "in");
            cuCtxSynchronize();
        }
        if (chance(50)) {
            SAY(" destroy=%s", brief(cuDestroyExternalMemory(memory)));
            memory = NULL;
        }
        for (int k = 0; k < MOST; k++) {
            unsigned char byte = 0;
            if (!p[k])
                continue;
            SAY(" [%d]=%s", k, brief(cuMemcpyDtoH(&byte, p[k], 1)));
            SAY(",%d free=%s", byte, brief(cuMemFree(p[k])));
        }
        if (memory)
            cuDestroyExternalMemory(memory);
    }
}

// ---- pools

static void say_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, const char *name)
{
    uint64_t value = 0;
    cuMemPoolGetAttribute(pool, attribute, &value);
    SAY(" %s=%llx", name, (unsigned long long)value);
}

static void use_pool(CUmemoryPool pool)
{
    static const size_t sizes[] = {0, 1, 1000, 65536, GRANULE, (size_t)33 * GRANULE, (size_t)1 << 45, SIZE_MAX};
    CUdeviceptr p[3] = {0};
    CUresult r;
    for (int a = 0; a <= 12; a++) {
        uint64_t value = UINT64_C(0x5a5a5a5a5a5a5a5a);
        r = cuMemPoolGetAttribute(pool, (CUmemPool_attribute)a, &value);
        SAY(" %d=%s,%llx", a, brief(r), r ? 0 : (unsigned long long)(a >= 1 && a <= 3 ? (unsigned)value : value));
    }
    for (int n = 0; n < 4; n++) {
        int a = (int)(draw() % 10);
        uint64_t value = chance(50) ? draw() % 3 : UINT64_C(1) << (draw() % 50);
        SAY(" set%d,%llx", a, (unsigned long long)value);
        SAY("=%s", brief(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)a, &value)));
    }
    for (int k = 0; k < 3; k++) {
        size_t size = PICK(sizes);
        r = cuMemAllocFromPoolAsync(&p[k], size, pool, NULL);
        SAY(" a%zx=%s", size, brief(r));
        if (r)
            p[k] = 0;
    }
    SAY(" s=%s", brief(cuStreamSynchronize(NULL)));
    say_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, "used");
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    for (int k = 0; k < 3; k++)
        if (p[k])
            SAY(" f=%s", brief(chance(50) ? cuMemFreeAsync(p[k], NULL) : cuMemFree(p[k])));
    cuStreamSynchronize(NULL);
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    SAY(" trim=%s", brief(cuMemPoolTrimTo(pool, (size_t)1 << (draw() % 30))));
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    access.location.type = (CUmemLocationType)(chance(80) ? 1 : draw() % 5);
    access.location.id = chance(80) ? 0 : 1;
    access.flags = (CUmemAccess_flags)(draw() % 5);
    SAY(" access=%s", brief(cuMemPoolSetAccess(pool, &access, 1)));
    CUmemAccess_flags got = (CUmemAccess_flags)9;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    r = cuMemPoolGetAccess(&got, pool, &here);
    SAY(" get=%s,%d", brief(r), (int)got);
    int fd = -1;
    r = cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    SAY(" export=%s", brief(r));
    if (!r)
        close(fd);
}

GROUP(pools)
{
    record_context();
    for (int i = 0; i < 200; i++) {
        draw_seed(80000 + (uint64_t)i);
        CUmemPoolProps p = {0};
        p.allocType = (CUmemAllocationType)(chance(90) ? 1 : draw() % 4);
        p.handleTypes = (CUmemAllocationHandleType)(chance(60) ? 0 : chance(80) ? 1 : draw() % 10);
        p.location.type = (CUmemLocationType)(chance(85) ? 1 : draw() % 6);
        p.location.id = chance(90) ? 0 : (int)(draw() % 4) - 1;
        p.maxSize = chance(60) ? 0 : (size_t)1 << (draw() % 40);
        p.usage = chance(90) ? 0 : (unsigned short)(draw() % 4);
        if (chance(5))
            p.reserved[draw() % 8] = 1;
        if (!CASE("create-%d-%d-%d-%d.%d-%zx-%d", i, (int)p.allocType, (int)p.handleTypes, (int)p.location.type, p.location.id, p.maxSize, p.usage))
            continue;
        CUmemoryPool pool = NULL;
        CUresult r = cuMemPoolCreate(&pool, &p);
        SAY("%s", record_name(r));
        if (r)
            continue;
        use_pool(pool);
        SAY(" destroy=%s", brief(cuMemPoolDestroy(pool)));
    }
}

// ---- streams and events

static void stream_flags(unsigned flags)
{
    CUstream s = NULL;
    CUresult r = cuStreamCreate(&s, flags);
    SAY("%s", record_name(r));
    if (!r)
        cuStreamDestroy(s);
    for (int priority = -8; priority <= 3; priority++) {
        r = cuStreamCreateWithPriority(&s, flags, priority);
        SAY(" %d=%s", priority, brief(r));
        if (r)
            continue;
        int got = 99;
        cuStreamGetPriority(s, &got);
        SAY(",%d", got);
        cuStreamDestroy(s);
    }
}

static void event_flags(unsigned flags)
{
    CUevent e;
    CUipcEventHandle handle;
    float ms = -1;
    CUresult r = cuEventCreate(&e, flags);
    SAY("%s", record_name(r));
    if (r)
        return;
    SAY(" q=%s", brief(cuEventQuery(e)));
    SAY(" el=%s", brief(cuEventElapsedTime(&ms, e, e)));
    for (unsigned k = 0; k < 4; k++)
        SAY(" rec%u=%s", k, brief(cuEventRecordWithFlags(e, NULL, k)));
    cuEventSynchronize(e);
    SAY(" el=%s", brief(cuEventElapsedTime(&ms, e, e)));
    for (unsigned k = 0; k < 4; k++)
        SAY(" wait%u=%s", k, brief(cuStreamWaitEvent(NULL, e, k)));
    SAY(" ipc=%s", brief(cuIpcGetEventHandle(&handle, e)));
    SAY(" d=%s", brief(cuEventDestroy(e)));
}

static void stream_attributes(void)
{
    CUstream s;
    NEED(cuStreamCreate(&s, (unsigned)(draw() % 2)));
    for (int k = 0; k < 6; k++) {
        CUstreamAttrValue value = {0};
        unsigned words[8];
        int a = (int)(draw() % 20);
        for (int w = 0; w < 8; w++)
            words[w] = chance(70) ? 0 : (unsigned)(draw() % 5);
        memcpy(&value, words, sizeof words);
        SAY(" set%d=%s", a, brief(cuStreamSetAttribute(s, (CUstreamAttrID)a, &value)));
        memset(&value, 0x5a, sizeof value);
        a = (int)(draw() % 20);
        CUresult r = cuStreamGetAttribute(s, (CUstreamAttrID)a, &value);
        SAY(" get%d=%s", a, brief(r));
        memcpy(words, &value, sizeof words);
        if (!r)
            SAY(",%x,%x", words[0], words[1]);
    }
    cuStreamDestroy(s);
}

GROUP(streams)
{
    record_context();
    for (unsigned flags = 0; flags < 20; flags++)
        if (CASE("flags-%u", flags))
            stream_flags(flags);
    for (unsigned flags = 0; flags < 40; flags++)
        if (CASE("event-%u", flags))
            event_flags(flags);
    for (int i = 0; i < 200; i++) {
        draw_seed(20000 + (uint64_t)i);
        if (CASE("attr-%d", i))
            stream_attributes();
    }
}

// ---- limits and allocations

GROUP(limits)
{
    static const size_t values[] = {0, 1, 100, 1024, 4096, 65536, 1 << 20, 8 << 20, (size_t)1 << 30, (size_t)1 << 40, SIZE_MAX};
    record_context();
    for (int limit = -1; limit < 15; limit++)
        for (unsigned i = 0; i < COUNT(values); i++) {
            size_t got = 77;
            if (!CASE("%d-%zx", limit, values[i]))
                continue;
            SAY("%s", record_name(cuCtxSetLimit((CUlimit)limit, values[i])));
            CUresult r = cuCtxGetLimit(&got, (CUlimit)limit);
            SAY(" %s %zx", record_name(r), r ? 0 : got);
        }
    for (int setting = -1; setting < 6; setting++) {
        CUfunc_cache cache = (CUfunc_cache)9;
        CUsharedconfig shared = (CUsharedconfig)9;
        if (!CASE("cache-%d", setting))
            continue;
        SAY("%s", record_name(cuCtxSetCacheConfig((CUfunc_cache)setting)));
        cuCtxGetCacheConfig(&cache);
        SAY(" %d %s", (int)cache, record_name(cuCtxSetSharedMemConfig((CUsharedconfig)setting)));
        cuCtxGetSharedMemConfig(&shared);
        SAY(" %d", (int)shared);
    }
}

// Where a card's free memory decides, not the driver.
static bool depends(size_t width, size_t height)
{
    __uint128_t size = (__uint128_t)width * height;
    return size > (__uint128_t)40 << 30 && size < (__uint128_t)200 << 30;
}

GROUP(allocs)
{
    static const unsigned elements[] = {4, 8, 16, 4, 0, 1, 2, 3, 5, 12, 32, 64};
    record_context();
    for (int i = 0; i < 500; i++) {
        draw_seed(30000 + (uint64_t)i);
        size_t size = draw_size(70000, 50);
        unsigned element = PICK(elements);
        size_t width = draw_size(100000, 70), height = draw_size(1000, 70), pitch = 7, range;
        CUdeviceptr p = SOME_POINTER, base;
        if (size > (size_t)40 << 30 && size < (size_t)90 << 30)
            size = 1;
        if (CASE("alloc-%d-%zx", i, size)) {
            CUresult r = cuMemAlloc(&p, size);
            SAY("%s", record_name(r));
            if (r) {
                SAY(" %d", p == SOME_POINTER);
            } else {
                cuMemGetAddressRange(&base, &range, p);
                SAY(" %zx align512=%d free=%s", range, (int)(p % 512), record_name(cuMemFree(p)));
            }
        }
        if (!CASE("pitch-%d-%zx-%zx-%u", i, width, height, element))
            continue;
        if (depends(width, height)) {
            SAY("skip");
            continue;
        }
        CUresult r = cuMemAllocPitch(&p, &pitch, width, height, element);
        SAY("%s %zx", record_name(r), pitch);
        if (r)
            continue;
        cuMemGetAddressRange(&base, &range, p);
        SAY(" %zx %d", range, (int)(p % 512));
        cuMemFree(p);
    }
}

int main(int argc, char **argv)
{
    RUN(contexts);
    RUN(hostalloc);
    RUN(registered);
    RUN(extbuf);
    RUN(pools);
    RUN(streams);
    RUN(limits);
    RUN(allocs);
    return 0;
}
