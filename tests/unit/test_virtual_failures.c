// SPDX-License-Identifier: MIT
// Fails each allocation, and each system call that allocates, once in every call of virtual memory
// management and of memory shared by IPC. Each failure should be CUDA_ERROR_OUT_OF_MEMORY and
// should change nothing, and the call should succeed afterwards.
#include "../harness.h"

#include "fail_each.h"

#define G (UINT64_C(2) << 20)

static CUmemGenericAllocationHandle made, held;
static CUdeviceptr range, window, device;
static CUipcMemHandle ipc;
static int exported = -1, source = -1;

static CUresult reserve(void)
{
    return cuMemAddressReserve(&range, 3 * G, 0, 0, 0);
}

static void free_range(void)
{
    EXPECT_OK(cuMemAddressFree(range, 3 * G));
}

static CUresult create(void)
{
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    return cuMemCreate(&made, 2 * G, &p, 0);
}

static CUresult import(void)
{
    return cuMemImportFromShareableHandle(&made, (void *)(intptr_t)source,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static void release(void)
{
    EXPECT_OK(cuMemRelease(made));
}

static CUresult export(void)
{
    return cuMemExportToShareableHandle(&exported, held, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                        0);
}

static void close_exported(void)
{
    close(exported);
}

static CUresult map(void)
{
    return cuMemMap(window, 2 * G, 0, held, 0);
}

static void unmap(void)
{
    EXPECT_OK(cuMemUnmap(window, 2 * G));
}

static CUresult allow(void)
{
    CUmemAccessDesc d = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(window, 2 * G, &d, 1);
}

static CUresult dma_buf(void)
{
    CUresult r =
        cuMemGetHandleForAddressRange(&exported, device, G, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    return r == CUDA_ERROR_NOT_SUPPORTED ? CUDA_SUCCESS : r; // hosts without udmabuf
}

static CUresult share(void)
{
    return cuIpcGetMemHandle(&ipc, device);
}

static void nothing(void)
{
}

TEST(all)
{
    test_context();
    fail_each("cuMemAddressReserve", reserve, free_range);
    fail_each("cuMemCreate", create, release);
    MUST(create());
    held = made;
    fail_each("cuMemExportToShareableHandle", export, close_exported);
    MUST(cuMemExportToShareableHandle(&source, held, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    fail_each("cuMemImportFromShareableHandle", import, release);
    MUST(cuMemAddressReserve(&window, 2 * G, 0, 0, 0));
    fail_each("cuMemMap", map, unmap);
    MUST(map());
    fail_each("cuMemSetAccess", allow, nothing);
    EXPECT_OK(cuMemsetD8(window, 1, 2 * G));
    unmap();
    MUST(cuMemAlloc(&device, 2 * G));
    fail_each("cuMemGetHandleForAddressRange", dma_buf, close_exported);
    fail_each("cuIpcGetMemHandle", share, nothing);
}

TESTS(CASE(all))
