// SPDX-License-Identifier: MIT
// Kinds of mappings of external memory for scaling.c.
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "scaling.h"

enum { BUFFER_B = 64 << 10 };

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
    (void)count;
    import((uint64_t)(SCALING_MOST + SCALING_BATCH) * BUFFER_B);
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

const struct scaling_kind scaling_external[] = {
    {"mapped external buffer", buffer_start, buffer_create, buffer_use, buffer_look_up,
     buffer_destroy, 1},
    {"overlapping external buffer", overlap_start, overlap_create, buffer_use, buffer_look_up,
     buffer_destroy, 1},
    {0},
};
