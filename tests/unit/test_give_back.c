// SPDX-License-Identifier: MIT
// After a peak of objects the driver has given its bookkeeping back: the blocks that dm_alloc has
// handed out are counted before and after.
#include "../harness.h"
#include "../sanitizers.h"

#include <malloc.h>

#include "alloc.h"

enum {
    PEAK = SANITIZED ? 10000 : 30000,
    SLACK_B = 768 << 10, // spare nodes and chunks, and the handles that rest before reuse
    HANDLES = 300000,
    SLOT_B = 8 // what stays of a handle: its place in the queue of free ones
};

static uint64_t handle[HANDLES];

static void raise_peak(int count, CUresult (*create)(int), CUresult (*destroy)(int))
{
    for (int i = 0; i < count; i++)
        MUST(create(i));
    for (int i = 0; i < count; i++) // in another order than they were created
        MUST(destroy((int)((int64_t)i * 7919 % count)));
    MUST(cuCtxSynchronize());
}

static int64_t live_B(void)
{
    return dm_alloc_live().bytes;
}

// `kept_B`: what may stay for each object.
static void check_kind(const char *name, int count, CUresult (*create)(int),
                       CUresult (*destroy)(int), int64_t kept_B)
{
    raise_peak(64, create, destroy);
    int64_t before = live_B();
    raise_peak(count, create, destroy);
    int64_t after = live_B();
    printf("# %s: %lld bytes before, %lld after %d objects\n", name, (long long)before,
           (long long)after, count);
    EXPECT(after - before <= SLACK_B + kept_B * count);
    raise_peak(count, create, destroy); // a second peak uses what the first one left
    EXPECT(live_B() - after <= SLACK_B);
}

static CUresult device_create(int i)
{
    return cuMemAlloc((CUdeviceptr *)&handle[i], 512);
}
static CUresult device_destroy(int i)
{
    return cuMemFree(handle[i]);
}
static CUresult pool_create(int i)
{
    return cuMemAllocAsync((CUdeviceptr *)&handle[i], 512, NULL);
}
static CUresult pool_destroy(int i)
{
    return cuMemFreeAsync(handle[i], NULL);
}
static CUresult host_create(int i)
{
    return cuMemHostAlloc((void **)&handle[i], 64, 0);
}
static CUresult host_destroy(int i)
{
    return cuMemFreeHost((void *)(uintptr_t)handle[i]);
}
static CUresult managed_create(int i)
{
    return cuMemAllocManaged((CUdeviceptr *)&handle[i], 64, CU_MEM_ATTACH_GLOBAL);
}
static CUresult reserve_create(int i)
{
    return cuMemAddressReserve((CUdeviceptr *)&handle[i], 2 << 20, 0, 0, 0);
}
static CUresult reserve_destroy(int i)
{
    return cuMemAddressFree(handle[i], 2 << 20);
}
static CUresult event_create(int i)
{
    return cuEventCreate((CUevent *)&handle[i], CU_EVENT_DISABLE_TIMING);
}
static CUresult event_destroy(int i)
{
    return cuEventDestroy((CUevent)(uintptr_t)handle[i]);
}
static CUresult stream_create(int i)
{
    return cuStreamCreate((CUstream *)&handle[i], CU_STREAM_NON_BLOCKING);
}
static CUresult stream_destroy(int i)
{
    return cuStreamDestroy((CUstream)(uintptr_t)handle[i]);
}
static CUresult array_create(int i)
{
    CUDA_ARRAY_DESCRIPTOR d = {4, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    return cuArrayCreate((CUarray *)&handle[i], &d);
}
static CUresult array_destroy(int i)
{
    return cuArrayDestroy((CUarray)(uintptr_t)handle[i]);
}

TEST(memory)
{
    dm_alloc_count();
    test_context();
    check_kind("device memory", PEAK, device_create, device_destroy, 0);
    check_kind("pool memory", PEAK, pool_create, pool_destroy, 0);
    check_kind("page-locked memory", PEAK, host_create, host_destroy, 0);
    check_kind("managed memory", PEAK, managed_create, device_destroy, 0);
    check_kind("address reservations", PEAK, reserve_create, reserve_destroy, 0);
}

TEST(objects)
{
    dm_alloc_count();
    test_context();
    check_kind("events", PEAK, event_create, event_destroy, SLOT_B);
    check_kind("streams", PEAK, stream_create, stream_destroy, SLOT_B);
    check_kind("arrays", PEAK, array_create, array_destroy, SLOT_B);
}

static int64_t resident_B(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        SKIP("/proc/self/statm cannot be read");
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

// Each handle has 72 bytes in the object table, which dm_alloc does not count. Those of the 2^16
// handles that were destroyed last are kept for messages.
TEST(handles)
{
#if SANITIZED
    SKIP("a sanitizer keeps memory that is freed");
#endif
    test_context();
    raise_peak(64, event_create, event_destroy);
    int64_t before = resident_B();
    raise_peak(HANDLES, event_create, event_destroy);
    malloc_trim(0);
    int64_t kept = resident_B() - before;
    printf("# %lld bytes stay resident after %d events\n", (long long)kept, HANDLES);
    EXPECT(kept < 10 << 20); // 2^16 histories, the queue, and what the C library keeps
    uint64_t old = handle[HANDLES / 2];
    EXPECT_ERROR(cuEventQuery((CUevent)(uintptr_t)old), CUDA_ERROR_INVALID_HANDLE);
    for (int i = 0; i < HANDLES; i++) { // the handles of the second peak are new
        MUST(event_create(i));
        if (handle[i] == old)
            EXPECT_EQ(handle[i], 0);
    }
}

// The end of a context should free everything that belongs to it.
TEST(contexts)
{
    CUcontext context;
    dm_alloc_count();
    MUST(cuInit(0));
    int64_t before = 0;
    for (int round = 0; round < 2; round++) {
        MUST(cuCtxCreate(&context, NULL, 0, 0));
        for (int i = 0; i < PEAK; i++)
            MUST(i & 1 ? event_create(i) : device_create(i));
        MUST(cuCtxDestroy(context));
        if (!round)
            before = live_B();
    }
    EXPECT(live_B() - before <= SLACK_B);
    EXPECT(before <= SLACK_B + (int64_t)SLOT_B * PEAK);
}

TESTS(CASE(memory), CASE(objects), CASE(handles), CASE(contexts))
