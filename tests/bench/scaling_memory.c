// SPDX-License-Identifier: MIT
// Kinds of memory for scaling.c.
#include "scaling.h"

#include <sys/mman.h>

#include "calls.h"

enum { PAGE_B = 4096, GRANULE_B = 2 << 20 };

static CUresult device_create(int i)
{
    return cuMemAlloc((CUdeviceptr *)&scaling_handle[i], 512);
}

static CUresult device_use(int i)
{
    return cuMemsetD32(scaling_handle[i], 1, 1);
}

static CUresult device_look_up(int i)
{
    unsigned type;
    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, scaling_handle[i]);
}

static CUresult device_destroy(int i)
{
    return cuMemFree(scaling_handle[i]);
}

static CUresult pool_create(int i)
{
    return cuMemAllocAsync((CUdeviceptr *)&scaling_handle[i], 512, NULL);
}

static CUresult pool_destroy(int i)
{
    return cuMemFreeAsync(scaling_handle[i], NULL);
}

static CUresult host_create(int i)
{
    return cuMemHostAlloc((void **)&scaling_handle[i], 64, 0);
}

static CUresult host_destroy(int i)
{
    return cuMemFreeHost((void *)(uintptr_t)scaling_handle[i]);
}

static CUresult managed_create(int i)
{
    return cuMemAllocManaged((CUdeviceptr *)&scaling_handle[i], 64, CU_MEM_ATTACH_GLOBAL);
}

static unsigned char *pages;

// Pages that belong to one mapping of the process.
static void register_start(int count)
{
    size_t size = (size_t)(count + SCALING_BATCH) * PAGE_B;
    pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (pages == MAP_FAILED)
        must(CUDA_ERROR_OUT_OF_MEMORY, "mmap");
    for (int i = 0; i < count + SCALING_BATCH; i++)
        scaling_handle[i] = (uintptr_t)(pages + (size_t)i * PAGE_B);
}

static CUresult register_create(int i)
{
    return cuMemHostRegister((void *)(uintptr_t)scaling_handle[i], PAGE_B, 0);
}

static CUresult register_destroy(int i)
{
    return cuMemHostUnregister((void *)(uintptr_t)scaling_handle[i]);
}

// The object is a mapping of the process that the driver knows nothing of; creating it registers
// the same page each time.
static void *registered;

static void foreign_start(int count)
{
    registered = mmap(NULL, PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static CUresult foreign_create(int i)
{
    // Neighbours with different rights stay mappings of their own.
    void *p = mmap(NULL, PAGE_B, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    scaling_handle[i] = (uintptr_t)p;
    return p == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult foreign_use(int i)
{
    CUresult r = cuMemHostRegister(registered, PAGE_B, 0);
    return r ? r : cuMemHostUnregister(registered);
}

static CUresult foreign_destroy(int i)
{
    return munmap((void *)(uintptr_t)scaling_handle[i], PAGE_B) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult reserve_create(int i)
{
    return cuMemAddressReserve((CUdeviceptr *)&scaling_handle[i], GRANULE_B, 0, 0, 0);
}

static CUresult reserve_look_up(int i)
{
    uint64_t start;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    void *data = &start;
    return cuPointerGetAttributes(1, &attribute, &data, scaling_handle[i]);
}

static CUresult reserve_destroy(int i)
{
    return cuMemAddressFree(scaling_handle[i], GRANULE_B);
}

static CUresult pools_create(int i)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    return cuMemPoolCreate((CUmemoryPool *)&scaling_handle[i], &props);
}

static CUresult pools_use(int i)
{
    return cuMemPoolTrimTo((CUmemoryPool)(uintptr_t)scaling_handle[i], 0);
}

static CUresult pools_look_up(int i)
{
    uint64_t threshold;
    return cuMemPoolGetAttribute((CUmemoryPool)(uintptr_t)scaling_handle[i],
                                 CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

static CUresult pools_destroy(int i)
{
    return cuMemPoolDestroy((CUmemoryPool)(uintptr_t)scaling_handle[i]);
}

static const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUresult physical_create(int i)
{
    return cuMemCreate((CUmemGenericAllocationHandle *)&scaling_handle[i], GRANULE_B, &prop, 0);
}

static CUresult physical_look_up(int i)
{
    CUmemAllocationProp p;
    return cuMemGetAllocationPropertiesFromHandle(&p, scaling_handle[i]);
}

static CUresult physical_destroy(int i)
{
    return cuMemRelease(scaling_handle[i]);
}

static CUdeviceptr window;
static CUmemGenericAllocationHandle mapped;

// Mappings of one physical allocation in one reservation, at every second place.
static void map_start(int count)
{
    uint64_t size = (uint64_t)(count + SCALING_BATCH) * 2 * GRANULE_B;
    MUST(cuMemAddressReserve(&window, size, 0, 0, 0));
    MUST(cuMemCreate(&mapped, GRANULE_B, &prop, 0));
    for (int i = 0; i < count + SCALING_BATCH; i++)
        scaling_handle[i] = window + (uint64_t)i * 2 * GRANULE_B;
}

static CUresult map_create(int i)
{
    return cuMemMap(scaling_handle[i], GRANULE_B, 0, mapped, 0);
}

static CUresult map_use(int i)
{
    CUmemAccessDesc d = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(scaling_handle[i], GRANULE_B, &d, 1);
}

static CUresult map_destroy(int i)
{
    return cuMemUnmap(scaling_handle[i], GRANULE_B);
}

const struct scaling_kind scaling_memory[] = {
    {"device memory", NULL, device_create, device_use, device_look_up, device_destroy, 1},
    {"pool memory", NULL, pool_create, device_use, device_look_up, pool_destroy, 0},
    {"memory pool", NULL, pools_create, pools_use, pools_look_up, pools_destroy, 0},
    {"page-locked memory", NULL, host_create, device_use, device_look_up, host_destroy, 1},
    {"managed memory", NULL, managed_create, device_use, device_look_up, device_destroy, 1},
    {"registered memory", register_start, register_create, device_use, device_look_up,
     register_destroy, 1},
    {"mapping of the process (register)", foreign_start, foreign_create, foreign_use, NULL,
     foreign_destroy, 0},
    {"address reservation", NULL, reserve_create, NULL, reserve_look_up, reserve_destroy, 0},
    {"physical memory", NULL, physical_create, NULL, physical_look_up, physical_destroy, 0},
    {"virtual mapping", map_start, map_create, map_use, device_look_up, map_destroy, 0},
    {0},
};
