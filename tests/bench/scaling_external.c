// SPDX-License-Identifier: MIT
// Kinds of external memory, of mappings on it, and of semaphores for scaling.c.
#include <cardless.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "scaling.h"

enum { BUFFER_B = 8 << 10 };

static CUexternalMemory memory;
static CUdeviceptr target;

static void import(uint64_t size)
{
    int fd = memfd_create("scaling", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size))
        must(CUDA_ERROR_OUT_OF_MEMORY, "memfd_create");
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = size};
    MUST(cuImportExternalMemory(&memory, &desc));
    MUST(cuMemAlloc(&target, 512));
}

static void buffer_start(int count)
{
    import((uint64_t)(count + SCALING_BATCH) * BUFFER_B);
}

static void overlap_start(int count)
{
    (void)count;
    import(BUFFER_B);
}

static CUresult map(int i, uint64_t offset)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.offset = offset, .size = BUFFER_B};
    return cuExternalMemoryGetMappedBuffer((CUdeviceptr *)&scaling_handle[i], memory, &desc);
}

static CUresult buffer_create(int i)
{
    return map(i, (uint64_t)i * BUFFER_B);
}

static CUresult overlap_create(int i)
{
    return map(i, 0);
}

// Not a call that orders work: writes through other mappings stay visible to the check.
static CUresult buffer_use(int i)
{
    return cuMemcpyDtoDAsync(target, scaling_handle[i], 4, NULL);
}

static CUresult buffer_look_up(int i)
{
    unsigned type;
    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, scaling_handle[i]);
}

static CUresult buffer_destroy(int i)
{
    return cuMemFree(scaling_handle[i]);
}

// ---- the memory itself: the same file, imported again and again

static int file;

static void import_start(int count)
{
    (void)count;
    file = memfd_create("scaling", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, BUFFER_B))
        must(CUDA_ERROR_OUT_OF_MEMORY, "memfd_create");
}

static CUresult import_create(int i)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .size = BUFFER_B};
    desc.handle.fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (desc.handle.fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cuImportExternalMemory((CUexternalMemory *)&scaling_handle[i], &desc);
}

static CUresult import_use(int i)
{
    CUdeviceptr p;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = BUFFER_B};
    CUresult r =
        cuExternalMemoryGetMappedBuffer(&p, (CUexternalMemory)(uintptr_t)scaling_handle[i], &desc);
    return r ? r : cuMemFree(p);
}

static CUresult import_destroy(int i)
{
    return cuDestroyExternalMemory((CUexternalMemory)(uintptr_t)scaling_handle[i]);
}

// ---- arrays on it

static CUresult mipmap_create(int i)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .arrayDesc = {.Width = 4,
                      .Height = 4,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 4},
        .numLevels = 1};
    return cuExternalMemoryGetMappedMipmappedArray((CUmipmappedArray *)&scaling_handle[i], memory,
                                                   &desc);
}

static CUresult mipmap_use(int i)
{
    CUarray level;
    return cuMipmappedArrayGetLevel(&level, (CUmipmappedArray)(uintptr_t)scaling_handle[i], 0);
}

static CUresult mipmap_destroy(int i)
{
    return cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)scaling_handle[i]);
}

// ---- semaphores: one timeline, imported again and again

static cardlessSemaphore timeline;
static CUstream stream;
static uint64_t value;

static void semaphore_start(int count)
{
    (void)count;
    MUST(cardlessSemaphoreCreate(&timeline, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUresult semaphore_create(int i)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    if (cardlessSemaphoreExport(timeline, &desc.handle.fd))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = cuImportExternalSemaphore((CUexternalSemaphore *)&scaling_handle[i], &desc);
    if (r)
        close(desc.handle.fd);
    return r;
}

static CUresult semaphore_use(int i)
{
    CUexternalSemaphore s = (CUexternalSemaphore)(uintptr_t)scaling_handle[i];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p = {.params.fence.value = ++value};
    return cuSignalExternalSemaphoresAsync(&s, &p, 1, stream);
}

static CUresult semaphore_destroy(int i)
{
    return cuDestroyExternalSemaphore((CUexternalSemaphore)(uintptr_t)scaling_handle[i]);
}

const struct scaling_kind scaling_external[] = {
    {"mapped external buffer", buffer_start, buffer_create, buffer_use, buffer_look_up,
     buffer_destroy, 1},
    {"overlapping external buffer", overlap_start, overlap_create, buffer_use, buffer_look_up,
     buffer_destroy, 1},
    {"external memory (use: map, free)", import_start, import_create, import_use, NULL,
     import_destroy, 1},
    {"mapped mipmapped array", overlap_start, mipmap_create, mipmap_use, NULL, mipmap_destroy, 1},
    {"external semaphore (use: signal)", semaphore_start, semaphore_create, semaphore_use, NULL,
     semaphore_destroy, 1},
    {0},
};
