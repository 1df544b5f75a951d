// SPDX-License-Identifier: MIT
// Contexts, pools, streams, events and limits with random arguments. The order and number of the
// draws must not change.
#include "draw.h"
#include "record.h"

enum { GRANULE = 2 << 20, NEW_FLAGS = 77 };

// ---- contexts: the current one, the primary one, flags

enum { OWN_CONTEXTS = 3, CONTEXT_STEPS = 16 };

static CUcontext contexts[1 + OWN_CONTEXTS]; // the primary one, then created ones
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
        SAY("create%d,%x=%s ", k, f, record_ok(r));
        break;
    case 2:
        if (!contexts[k] || !chance(60))
            break;
        SAY("destroy%d=%s ", k, record_ok(cuCtxDestroy(contexts[k])));
        contexts[k] = NULL;
        break;
    case 3:
        SAY("pop=%s,", record_ok(cuCtxPopCurrent(&current)));
        say_which(current);
        break;
    case 4:
        if (contexts[k])
            SAY("push%d=%s ", k, record_ok(cuCtxPushCurrent(contexts[k])));
        break;
    case 5:
        if (contexts[k])
            SAY("set%d=%s ", k, record_ok(cuCtxSetCurrent(contexts[k])));
        break;
    case 6:
        SAY("set-null=%s ", record_ok(cuCtxSetCurrent(NULL)));
        break;
    case 7:
        SAY("retain=%s ", record_ok(cuDevicePrimaryCtxRetain(&contexts[0], 0)));
        retained++;
        break;
    case 8:
        r = cuDevicePrimaryCtxRelease(0);
        SAY("release=%s ", record_ok(r));
        retained -= !r;
        if (!retained)
            contexts[0] = NULL;
        break;
    case 9:
        if (contexts[0])
            SAY("set0=%s ", record_ok(cuCtxSetCurrent(contexts[0])));
        break;
    case 10:
        f = PICK(flags);
        SAY("pflags%x=%s ", f, record_ok(cuDevicePrimaryCtxSetFlags(0, f)));
        break;
    case 11:
        r = cuDevicePrimaryCtxGetState(0, &f, &active);
        SAY("state=%s,%x,%d ", record_ok(r), f, active);
        break;
    case 12:
        r = cuCtxGetFlags(&f);
        SAY("flags=%s,%x ", record_ok(r), r ? 0 : f);
        f = PICK(flags);
        SAY("setflags%x=%s ", f, record_ok(cuCtxSetFlags(f)));
        break;
    case 13:
        SAY("current=%s,", record_ok(cuCtxGetCurrent(&current)));
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

// ---- pools

static void say_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, const char *name)
{
    uint64_t value = 0;
    cuMemPoolGetAttribute(pool, attribute, &value);
    SAY(" %s=%llx", name, (unsigned long long)value);
}

static void use_pool(CUmemoryPool pool)
{
    static const size_t sizes[] = {
        0, 1, 1000, 65536, GRANULE, (size_t)33 * GRANULE, (size_t)1 << 45, SIZE_MAX};
    CUdeviceptr p[3] = {0};
    CUresult r;
    for (int a = 0; a <= 12; a++) {
        uint64_t value = UINT64_C(0x5a5a5a5a5a5a5a5a);
        r = cuMemPoolGetAttribute(pool, (CUmemPool_attribute)a, &value);
        SAY(" %d=%s,%llx", a, record_ok(r),
            r ? 0 : (unsigned long long)(a >= 1 && a <= 3 ? (unsigned)value : value));
    }
    for (int n = 0; n < 4; n++) {
        int a = (int)(draw() % 10);
        uint64_t value = chance(50) ? draw() % 3 : UINT64_C(1) << (draw() % 50);
        SAY(" set%d,%llx", a, (unsigned long long)value);
        SAY("=%s", record_ok(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)a, &value)));
    }
    for (int k = 0; k < 3; k++) {
        size_t size = PICK(sizes);
        r = cuMemAllocFromPoolAsync(&p[k], size, pool, NULL);
        SAY(" a%zx=%s", size, record_ok(r));
        if (r)
            p[k] = 0;
    }
    SAY(" s=%s", record_ok(cuStreamSynchronize(NULL)));
    say_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, "used");
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    for (int k = 0; k < 3; k++)
        if (p[k])
            SAY(" f=%s", record_ok(chance(50) ? cuMemFreeAsync(p[k], NULL) : cuMemFree(p[k])));
    cuStreamSynchronize(NULL);
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    SAY(" trim=%s", record_ok(cuMemPoolTrimTo(pool, (size_t)1 << (draw() % 30))));
    say_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "reserved");
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    access.location.type = (CUmemLocationType)(chance(80) ? 1 : draw() % 5);
    access.location.id = chance(80) ? 0 : 1;
    access.flags = (CUmemAccess_flags)(draw() % 5);
    SAY(" access=%s", record_ok(cuMemPoolSetAccess(pool, &access, 1)));
    CUmemAccess_flags got = (CUmemAccess_flags)9;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    r = cuMemPoolGetAccess(&got, pool, &here);
    SAY(" get=%s,%d", record_ok(r), (int)got);
    int fd = -1;
    r = cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    SAY(" export=%s", record_ok(r));
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
        if (!CASE("create-%d-%d-%d-%d.%d-%zx-%d", i, (int)p.allocType, (int)p.handleTypes,
                  (int)p.location.type, p.location.id, p.maxSize, p.usage))
            continue;
        CUmemoryPool pool = NULL;
        CUresult r = cuMemPoolCreate(&pool, &p);
        SAY("%s", record_name(r));
        if (r)
            continue;
        use_pool(pool);
        SAY(" destroy=%s", record_ok(cuMemPoolDestroy(pool)));
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
        SAY(" %d=%s", priority, record_ok(r));
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
    SAY(" q=%s", record_ok(cuEventQuery(e)));
    SAY(" el=%s", record_ok(cuEventElapsedTime(&ms, e, e)));
    for (unsigned k = 0; k < 4; k++)
        SAY(" rec%u=%s", k, record_ok(cuEventRecordWithFlags(e, NULL, k)));
    cuEventSynchronize(e);
    SAY(" el=%s", record_ok(cuEventElapsedTime(&ms, e, e)));
    for (unsigned k = 0; k < 4; k++)
        SAY(" wait%u=%s", k, record_ok(cuStreamWaitEvent(NULL, e, k)));
    SAY(" ipc=%s", record_ok(cuIpcGetEventHandle(&handle, e)));
    SAY(" d=%s", record_ok(cuEventDestroy(e)));
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
        SAY(" set%d=%s", a, record_ok(cuStreamSetAttribute(s, (CUstreamAttrID)a, &value)));
        memset(&value, 0x5a, sizeof value);
        a = (int)(draw() % 20);
        CUresult r = cuStreamGetAttribute(s, (CUstreamAttrID)a, &value);
        SAY(" get%d=%s", a, record_ok(r));
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

// ---- limits

GROUP(limits)
{
    static const size_t values[] = {
        0, 1, 100, 1024, 4096, 65536, 1 << 20, 8 << 20, (size_t)1 << 30, (size_t)1 << 40, SIZE_MAX};
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

int main(int argc, char **argv)
{
    RUN(contexts);
    RUN(pools);
    RUN(streams);
    RUN(limits);
    return 0;
}
