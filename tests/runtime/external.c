// SPDX-License-Identifier: MIT
// Memory of other APIs and processes, and resources of graphics APIs. The driver checks most; these
// are the checks of the runtime.
#include "../harness.h"
#include "rt_exports.h"

#define RT_OK(call) EXPECT_OK((CUresult)(call))
#define RT_ERROR(call, code) EXPECT_ERROR((CUresult)(call), (CUresult)(code))

enum { SIZE_B = 2 << 20 };

// Memory of this driver, as another process would pass it.
static int exported(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle memory;
    CUcontext context;
    int fd = -1;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemCreate(&memory, SIZE_B, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemRelease(memory));
    return fd;
}

static struct cudaExternalMemoryHandleDesc memory_desc(int fd)
{
    return (struct cudaExternalMemoryHandleDesc){
        .type = cudaExternalMemoryHandleTypeOpaqueFd, .handle.fd = fd, .size = SIZE_B};
}

TEST(memory)
{
    struct cudaExternalMemoryHandleDesc desc = memory_desc(exported());
    cudaExternalMemory_t memory;
    void *one, *other;
    unsigned value = 7;
    desc.reserved[3] = 1; // the runtime ignores it
    RT_OK(cudaImportExternalMemory(&memory, &desc));
    const struct cudaExternalMemoryBufferDesc all = {.size = SIZE_B, .reserved = {1}},
                                              last = {.offset = SIZE_B - 4, .size = 4};
    RT_OK(cudaExternalMemoryGetMappedBuffer(&one, memory, &all));
    RT_OK(cudaExternalMemoryGetMappedBuffer(&other, memory, &last));
    EXPECT_OK(cuMemcpyHtoD((CUdeviceptr)one + SIZE_B - 4, &value, 4));
    value = 0;
    EXPECT_OK(cuMemcpyDtoH(&value, (CUdeviceptr)other, 4));
    EXPECT_EQ(value, 7);
    const struct cudaExternalMemoryBufferDesc beyond = {.offset = 4, .size = SIZE_B};
    RT_ERROR(cudaExternalMemoryGetMappedBuffer(&one, memory, &beyond), cudaErrorInvalidValue);
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_OK(cuMemFree((CUdeviceptr)one));
    EXPECT_OK(cuMemFree((CUdeviceptr)other));
    RT_OK(cudaDestroyExternalMemory(memory));
}

TEST(memory_errors)
{
    struct cudaExternalMemoryHandleDesc desc = memory_desc(-1);
    cudaExternalMemory_t memory = NULL;
    const struct cudaExternalMemoryBufferDesc all = {.size = SIZE_B};
    CUcontext context;
    RT_ERROR(cudaImportExternalMemory(NULL, &desc), cudaErrorInvalidValue);
    RT_ERROR(cudaImportExternalMemory(&memory, NULL), cudaErrorInvalidValue);
    RT_ERROR(cudaExternalMemoryGetMappedBuffer(NULL, NULL, &all), cudaErrorInvalidValue);
    EXPECT_OK(cuCtxGetCurrent(&context));
    EXPECT(!context); // wrong arguments start no context
    for (int type = 9; type < 12; type++) {
        desc.type = (enum cudaExternalMemoryHandleType)type;
        RT_ERROR(cudaImportExternalMemory(&memory, &desc), cudaErrorInvalidValue);
    }
    EXPECT(!memory);
    RT_ERROR(cudaDestroyExternalMemory(NULL), cudaErrorInvalidValue);
}

TEST(semaphore_errors)
{
    struct cudaExternalSemaphoreHandleDesc desc = {.type = cudaExternalSemaphoreHandleTypeOpaqueFd,
                                                   .handle.fd = -1};
    cudaExternalSemaphore_t semaphore = NULL;
    RT_ERROR(cudaImportExternalSemaphore(NULL, &desc), cudaErrorInvalidValue);
    RT_ERROR(cudaImportExternalSemaphore(&semaphore, NULL), cudaErrorInvalidValue);
    EXPECT(cudaImportExternalSemaphore(&semaphore, &desc) != cudaSuccess);
    EXPECT(!semaphore);
    RT_ERROR(cudaSignalExternalSemaphoresAsync(NULL, NULL, 1, NULL), cudaErrorInvalidValue);
    RT_ERROR(cudaWaitExternalSemaphoresAsync_ptsz(NULL, NULL, 1, NULL), cudaErrorInvalidValue);
}

TEST(graphics_errors)
{
    cudaGraphicsResource_t missing = NULL;
    void *pointer = &missing;
    size_t size = 5;
    RT_ERROR(cudaGraphicsMapResources(-1, &missing, NULL), cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaGraphicsUnmapResources(1, &missing, NULL), cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaGraphicsResourceGetMappedPointer(&pointer, &size, missing),
             cudaErrorInvalidResourceHandle);
    EXPECT(!pointer);
    EXPECT_EQ(size, 0);
    RT_ERROR(cudaGraphicsSubResourceGetMappedArray(NULL, missing, 0, 0),
             cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaGraphicsUnregisterResource(missing), cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaGLSetGLDevice(0), cudaErrorSetOnActiveProcess);
    RT_ERROR(cudaGLSetGLDevice(99), cudaErrorInvalidDevice);
}

TEST(ipc_errors)
{
    cudaEvent_t event;
    cudaIpcEventHandle_t handle;
    cudaIpcMemHandle_t memory = {0};
    void *pointer;
    RT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    RT_OK(cudaIpcGetEventHandle(&handle, event));
    RT_ERROR(cudaIpcGetEventHandle(NULL, event), cudaErrorInvalidValue);
    RT_ERROR(cudaIpcGetMemHandle(NULL, &memory), cudaErrorInvalidValue);
    RT_ERROR(cudaIpcOpenMemHandle(&pointer, memory, 1), cudaErrorInvalidValue);
    RT_ERROR(cudaIpcCloseMemHandle(NULL), cudaErrorInvalidValue);
    RT_OK(cudaEventDestroy(event));
}

TESTS(CASE(memory), CASE(memory_errors), CASE(semaphore_errors), CASE(graphics_errors),
      CASE(ipc_errors))
