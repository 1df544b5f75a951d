// SPDX-License-Identifier: MIT
// libcudart.so.12: every function and structure whose form CUDA 13 has changed. Where CUDA 12 has
// an older and a newer form, both must give the same result.
#include "rt_exports.h"

#include <dlfcn.h>

#include "../semaphore.h"
#include "program.h"

#define RT_OK(call) EXPECT_OK((CUresult)(call))
#define RT_ERROR(call, code) EXPECT_ERROR((CUresult)(call), (CUresult)(code))
#define RT_MUST(call) MUST((CUresult)(call))

enum { SIZE_B = 2 << 20, PREFIX_B = 728, POISON = 0xa5 };

// A copy of a structure whose last byte is the last one of a page; the next page has no access. A
// function that reads or writes the longer structure of CUDA 13 stops the test.
static void *at_end_of_page(const void *bytes, size_t size_B)
{
    const size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    char *pages =
        mmap(NULL, 2 * page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(pages != MAP_FAILED && !mprotect(pages + page_B, page_B, PROT_NONE));
    return memcpy(pages + page_B - size_B, bytes, size_B);
}
#define AT_END(structure) at_end_of_page(&(structure), sizeof(structure))

TEST(versions)
{
    int version = 0;
    void *found = NULL, *wanted = NULL, *older = &found;
    enum cudaDriverEntryPointQueryResult status;
    CUdriverProcAddressQueryResult driver_status;
    RT_OK(cudaRuntimeGetVersion(&version));
    EXPECT_EQ(version, 12090);
    // The form of the driver's function is that of the runtime's version.
    RT_OK(cudaGetDriverEntryPoint("cuMemcpyBatchAsync", &found, cudaEnableDefault, &status));
    EXPECT_EQ(status, cudaDriverEntryPointSuccess);
    MUST(cuGetProcAddress("cuMemcpyBatchAsync", &wanted, 12090, 0, &driver_status));
    EXPECT(found && found == wanted);
    MUST(cuGetProcAddress("cuMemcpyBatchAsync", &wanted, 13000, 0, &driver_status));
    EXPECT(found != wanted);
    RT_OK(cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &older, 12000, cudaEnableDefault,
                                           &status));
    EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
    EXPECT(!older);
    // A newer version than the runtime's will do, as long as the driver knows it.
    RT_OK(cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &found, 13000, cudaEnableDefault,
                                           &status));
    EXPECT(found == wanted);
    RT_ERROR(cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &found, 13010,
                                              cudaEnableDefault, &status),
             cudaErrorInvalidValue);
}

// The members that CUDA 13 has dropped, with their attributes.
#define DROPPED                                                                                    \
    PROPERTY(clockRate, ClockRate)                                                                 \
    PROPERTY(deviceOverlap, GpuOverlap)                                                            \
    PROPERTY(kernelExecTimeoutEnabled, KernelExecTimeout)                                          \
    PROPERTY(computeMode, ComputeMode)                                                             \
    PROPERTY(maxTexture1DLinear, MaxTexture1DLinearWidth)                                          \
    PROPERTY(memoryClockRate, MemoryClockRate)                                                     \
    PROPERTY(singleToDoublePrecisionPerfRatio, SingleToDoublePrecisionPerfRatio)                   \
    PROPERTY(cooperativeMultiDeviceLaunch, Reserved96)                                             \
    PROPERTY(unifiedFunctionPointers, Max) /* the last member, which has no attribute here */

TEST(properties)
{
    struct cudaDeviceProp poisoned, *now, *before;
    int device = -1, value;
    memset(&poisoned, POISON, sizeof poisoned);
    now = AT_END(poisoned);
    before = AT_END(poisoned);
    RT_OK(cudaGetDeviceProperties_v2(now, 0));
#define PROPERTY(member, attribute)                                                                \
    if (cudaDevAttr##attribute != cudaDevAttrMax) {                                                \
        RT_OK(cudaDeviceGetAttribute(&value, cudaDevAttr##attribute, 0));                          \
        EXPECT_EQ(now->member, value);                                                             \
    }
    DROPPED
#undef PROPERTY
    EXPECT(now->clockRate > 0 && now->memoryClockRate > 0);
    RT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0));
    EXPECT_EQ(now->clusterLaunch, value);
    for (size_t i = 0; i < sizeof now->reserved / sizeof *now->reserved; i++)
        EXPECT_EQ(now->reserved[i], 0);
    RT_OK(cudaChooseDevice(&device, now));
    EXPECT_EQ(device, 0);
    // The structure of CUDA 11 is a shorter one with the same beginning.
    RT_OK(cudaGetDeviceProperties(before, 0));
    EXPECT(!memcmp(now, before, PREFIX_B));
    EXPECT(!memcmp((char *)before + PREFIX_B, &poisoned, sizeof poisoned - PREFIX_B));
    RT_ERROR(cudaGetDeviceProperties_v2(now, 99), cudaErrorInvalidDevice);
    RT_ERROR(cudaGetDeviceProperties(before, 99), cudaErrorInvalidDevice);
    RT_ERROR(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
}

TEST(threads)
{
    size_t limit = 0, same = 0;
    enum cudaFuncCache cache = cudaFuncCachePreferEqual, same_cache = cudaFuncCachePreferNone;
    unsigned flags;
    int active = 1;
    double number = 0.1;
    RT_OK(cudaThreadSetLimit(cudaLimitPrintfFifoSize, 3 << 20));
    RT_OK(cudaThreadGetLimit(&limit, cudaLimitPrintfFifoSize));
    RT_OK(cudaDeviceGetLimit(&same, cudaLimitPrintfFifoSize));
    EXPECT(limit == same && limit >= 3 << 20);
    RT_OK(cudaThreadSetCacheConfig(cudaFuncCachePreferShared));
    RT_OK(cudaThreadGetCacheConfig(&cache));
    RT_OK(cudaDeviceGetCacheConfig(&same_cache));
    EXPECT_EQ(cache, same_cache);
    RT_ERROR(cudaThreadGetCacheConfig(NULL), cudaErrorInvalidValue);
    RT_OK(cudaThreadSynchronize());
    RT_OK(cudaThreadExit());
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    RT_OK(cudaSetDoubleForDevice(&number));
    RT_OK(cudaSetDoubleForHost(&number));
    EXPECT(number == 0.1);
}

TEST(pointers)
{
    struct cudaPointerAttributes poisoned, *attributes;
    void *device;
    memset(&poisoned, POISON, sizeof poisoned);
    attributes = AT_END(poisoned);
    RT_MUST(cudaMalloc(&device, 64));
    RT_OK(cudaPointerGetAttributes(attributes, device));
    EXPECT_EQ(attributes->type, cudaMemoryTypeDevice);
    EXPECT(attributes->devicePointer == device && attributes->device == 0);
    RT_OK(cudaPointerGetAttributes(attributes, &device));
    EXPECT_EQ(attributes->type, cudaMemoryTypeUnregistered);
    EXPECT(attributes->hostPointer == &device);
    RT_OK(cudaFree(device));
}

TEST(textures)
{
    const struct cudaChannelFormatDesc element = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray}, *found;
    struct cudaResourceViewDesc view = {cudaResViewFormatUnsignedInt1, 16, 16, 0, 0, 0, 0, 0},
                                *found_view;
    const struct cudaTextureDesc sampling = {.readMode = cudaReadModeElementType};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    RT_MUST(
        cudaMallocArray(&resource.res.array.array, &element, 16, 16, cudaArraySurfaceLoadStore));
    RT_OK(cudaCreateTextureObject(&texture, AT_END(resource), &sampling, AT_END(view)));
    found = at_end_of_page(&(struct cudaResourceDesc){0}, sizeof *found);
    found_view = at_end_of_page(&(struct cudaResourceViewDesc){0}, sizeof *found_view);
    RT_OK(cudaGetTextureObjectResourceDesc(found, texture));
    EXPECT(found->resType == cudaResourceTypeArray &&
           found->res.array.array == resource.res.array.array);
    RT_OK(cudaGetTextureObjectResourceViewDesc(found_view, texture));
    EXPECT(found_view->format == view.format && found_view->width == 16);
    RT_OK(cudaDestroyTextureObject(texture));
    RT_OK(cudaCreateSurfaceObject(&surface, AT_END(resource)));
    RT_OK(cudaGetSurfaceObjectResourceDesc(found, surface));
    EXPECT(found->res.array.array == resource.res.array.array);
    RT_OK(cudaDestroySurfaceObject(surface));

    // The longest part of the union.
    size_t pitch;
    resource = (struct cudaResourceDesc){.resType = cudaResourceTypePitch2D};
    RT_MUST(cudaMallocPitch(&resource.res.pitch2D.devPtr, &pitch, 64, 16));
    resource.res.pitch2D.desc = element;
    resource.res.pitch2D.width = resource.res.pitch2D.height = 16;
    resource.res.pitch2D.pitchInBytes = pitch;
    RT_OK(cudaCreateTextureObject(&texture, AT_END(resource), &sampling, NULL));
    RT_OK(cudaGetTextureObjectResourceDesc(found, texture));
    EXPECT_EQ(found->res.pitch2D.pitchInBytes, pitch);
    RT_OK(cudaDestroyTextureObject(texture));
}

static int exported_memory(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle memory;
    int fd = -1;
    test_context();
    MUST(cuMemCreate(&memory, SIZE_B, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemRelease(memory));
    return fd;
}

TEST(external_memory)
{
    const struct cudaExternalMemoryHandleDesc desc = {.type = cudaExternalMemoryHandleTypeOpaqueFd,
                                                      .handle.fd = exported_memory(),
                                                      .size = SIZE_B};
    const struct cudaExternalMemoryBufferDesc all = {.size = SIZE_B};
    const struct cudaExternalMemoryMipmappedArrayDesc levels = {
        .formatDesc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
        .extent = {64, 64, 0},
        .numLevels = 1};
    cudaExternalMemory_t memory;
    cudaMipmappedArray_t array;
    void *buffer;
    RT_OK(cudaImportExternalMemory(&memory, AT_END(desc)));
    RT_OK(cudaExternalMemoryGetMappedBuffer(&buffer, memory, AT_END(all)));
    RT_OK(cudaMemset(buffer, 7, SIZE_B));
    RT_OK(cudaExternalMemoryGetMappedMipmappedArray(&array, memory, AT_END(levels)));
    RT_OK(cudaFreeMipmappedArray(array));
    RT_OK(cudaFree(buffer));
    RT_OK(cudaDestroyExternalMemory(memory));
}

TEST(external_semaphores)
{
    test_context();
    const cardlessSemaphore host = semaphore_new(CARDLESS_SEMAPHORE_TIMELINE, 0);
    const struct cudaExternalSemaphoreHandleDesc desc = {
        .type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd,
        .handle.fd = semaphore_fd(host)};
    const struct cudaExternalSemaphoreSignalParams_v1 signal = {.params.fence.value = 5};
    const struct cudaExternalSemaphoreWaitParams_v1 wait = {.params.fence.value = 5};
    const struct cudaExternalSemaphoreSignalParams signal_now = {.params.fence.value = 6};
    const struct cudaExternalSemaphoreWaitParams wait_now = {.params.fence.value = 6};
    cudaExternalSemaphore_t semaphore = NULL;
    cudaStream_t stream;
    RT_MUST(cudaImportExternalSemaphore(&semaphore, AT_END(desc)));
    RT_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    RT_OK(cudaSignalExternalSemaphoresAsync(&semaphore, AT_END(signal), 1, stream));
    RT_OK(cudaWaitExternalSemaphoresAsync(&semaphore, AT_END(wait), 1, NULL));
    RT_OK(cudaDeviceSynchronize());
    MUST(cardlessSemaphoreWait(host, 5, 0));
    RT_OK(cudaSignalExternalSemaphoresAsync_v2(&semaphore, &signal_now, 1, stream));
    RT_OK(cudaWaitExternalSemaphoresAsync_v2_ptsz(&semaphore, &wait_now, 1, NULL));
    RT_OK(cudaDeviceSynchronize());
    MUST(cardlessSemaphoreWait(host, 6, 0));
    RT_ERROR(cudaSignalExternalSemaphoresAsync(NULL, NULL, 1, NULL), cudaErrorInvalidValue);
    RT_ERROR(cudaWaitExternalSemaphoresAsync_ptsz(NULL, NULL, 1, NULL), cudaErrorInvalidValue);
    RT_OK(cudaDestroyExternalSemaphore(semaphore));
}

static int last_location(enum cudaMemRangeAttribute attribute, const void *memory)
{
    int device = -9;
    RT_OK(cudaMemRangeGetAttribute(&device, sizeof device, attribute, memory, SIZE_B));
    return device;
}

TEST(managed_memory)
{
    const struct cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0},
                                 on_host = {cudaMemLocationTypeHost, 0},
                                 wrong = {cudaMemLocationTypeDevice, 99};
    void *m;
    RT_MUST(cudaMallocManaged(&m, SIZE_B, cudaMemAttachGlobal));
    RT_OK(cudaMemAdvise(m, SIZE_B, cudaMemAdviseSetPreferredLocation, 0));
    EXPECT_EQ(last_location(cudaMemRangeAttributePreferredLocation, m), 0);
    RT_OK(cudaMemAdvise_v2(m, SIZE_B, cudaMemAdviseSetPreferredLocation, on_host));
    EXPECT_EQ(last_location(cudaMemRangeAttributePreferredLocation, m), cudaCpuDeviceId);
    RT_OK(cudaMemAdvise_v2(m, SIZE_B, cudaMemAdviseSetPreferredLocation, on_device));
    EXPECT_EQ(last_location(cudaMemRangeAttributePreferredLocation, m), 0);
    RT_OK(cudaMemAdvise(m, SIZE_B, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    EXPECT_EQ(last_location(cudaMemRangeAttributePreferredLocation, m), cudaCpuDeviceId);
    RT_OK(cudaMemPrefetchAsync(m, SIZE_B, 0, NULL));
    EXPECT_EQ(last_location(cudaMemRangeAttributeLastPrefetchLocation, m), 0);
    RT_OK(cudaMemPrefetchAsync_v2(m, SIZE_B, on_host, 0, NULL));
    EXPECT_EQ(last_location(cudaMemRangeAttributeLastPrefetchLocation, m), cudaCpuDeviceId);
    RT_OK(cudaMemPrefetchAsync_v2_ptsz(m, SIZE_B, on_device, 0, NULL));
    EXPECT_EQ(last_location(cudaMemRangeAttributeLastPrefetchLocation, m), 0);
    RT_OK(cudaMemPrefetchAsync_ptsz(m, SIZE_B, cudaCpuDeviceId, NULL));
    EXPECT_EQ(last_location(cudaMemRangeAttributeLastPrefetchLocation, m), cudaCpuDeviceId);
    RT_ERROR(cudaMemAdvise(m, SIZE_B, cudaMemAdviseSetPreferredLocation, 99),
             cudaErrorInvalidDevice);
    EXPECT(cudaMemPrefetchAsync(m, SIZE_B, 99, NULL) != cudaSuccess);
    EXPECT(cudaMemPrefetchAsync_v2(m, SIZE_B, wrong, 0, NULL) != cudaSuccess);
    RT_OK(cudaFree(m));
}

TEST(batches)
{
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t sizes[] = {16, 16}, first = 0, failed = 77;
    unsigned char *m, host[64];
    RT_MUST(cudaMalloc((void **)&m, 64));
    RT_OK(cudaMemset(m, 1, 32));
    RT_OK(cudaMemset(m + 32, 2, 32));
    void *to[] = {m + 16, m + 48}, *from[] = {m + 32, m};
    RT_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, &failed, cudaStreamPerThread));
    RT_OK(cudaMemcpy(host, m, 64, cudaMemcpyDefault));
    EXPECT(host[0] == 1 && host[16] == 2 && host[32] == 2 && host[48] == 1);
    RT_OK(cudaMemcpyBatchAsync_ptsz(to, from, sizes, 2, &how, &first, 1, NULL, NULL));
    // Manual: failIdx is "the index of the copy where a failure was encountered".
    to[1] = NULL;
    RT_ERROR(
        cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, &failed, cudaStreamPerThread),
        cudaErrorInvalidValue);
    EXPECT_EQ(failed, 1);
    // "… SIZE_MAX if the error is not about a specific copy."
    to[1] = m + 48;
    RT_ERROR(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, &failed, NULL),
             cudaErrorInvalidValue);
    EXPECT_EQ(failed, SIZE_MAX);

    struct cudaMemcpy3DBatchOp operation = {
        .src = {cudaMemcpyOperandTypePointer,
                .op.ptr = {m + 16, 16, 1, {cudaMemLocationTypeDevice, 0}}},
        .dst = {cudaMemcpyOperandTypePointer, .op.ptr = {m, 16, 1, {cudaMemLocationTypeDevice, 0}}},
        .extent = {16, 1, 1},
        .srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    RT_OK(cudaMemcpy3DBatchAsync(1, &operation, &failed, 0, cudaStreamPerThread));
    RT_OK(cudaStreamSynchronize(cudaStreamPerThread));
    RT_OK(cudaMemcpy(host, m, 1, cudaMemcpyDefault));
    EXPECT_EQ(host[0], 2);
    operation.extent.width = SIZE_B;
    EXPECT(cudaMemcpy3DBatchAsync(1, &operation, &failed, 0, cudaStreamPerThread) != cudaSuccess);
    EXPECT_EQ(failed, 0);
    RT_OK(cudaFree(m));
}

TEST(events)
{
    cudaEvent_t start, end;
    float old = -1, new = -1;
    RT_MUST(cudaEventCreate(&start));
    RT_MUST(cudaEventCreate(&end));
    RT_ERROR(cudaEventElapsedTime(&old, start, end), cudaErrorInvalidResourceHandle);
    RT_ERROR(cudaEventElapsedTime_v2(&old, start, end), cudaErrorInvalidResourceHandle);
    RT_OK(cudaEventRecord(start, NULL));
    RT_OK(cudaEventRecord(end, NULL));
    RT_OK(cudaEventSynchronize(end));
    RT_OK(cudaEventElapsedTime(&old, start, end));
    RT_OK(cudaEventElapsedTime_v2(&new, start, end));
    EXPECT(old >= 0 && old == new);
    RT_ERROR(cudaEventElapsedTime(NULL, start, end), cudaErrorInvalidValue);
}

TEST(capture)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long first = 1, second = 2, third = 3;
    cudaGraph_t graph = NULL, same = NULL;
    const cudaGraphNode_t *before = NULL, *before_now = NULL;
    const cudaGraphEdgeData *edges = NULL;
    size_t count = 9, count_now = 9;
    cudaStream_t s;
    void *m;
    RT_MUST(cudaMalloc(&m, 64));
    RT_MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT_OK(cudaStreamGetCaptureInfo(s, &status, NULL));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    RT_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    RT_OK(cudaMemsetAsync(m, 1, 64, s));
    RT_OK(cudaStreamGetCaptureInfo(s, &status, &first));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    RT_OK(cudaStreamGetCaptureInfo_v2(s, &status, &second, &graph, &before, &count));
    RT_OK(cudaStreamGetCaptureInfo_v3(s, &status, &third, &same, &before_now, &edges, &count_now));
    EXPECT(first == second && second == third && graph && graph == same);
    EXPECT(count == 1 && count_now == 1 && *before == *before_now);
    RT_OK(cudaStreamUpdateCaptureDependencies(s, NULL, 0, cudaStreamSetCaptureDependencies));
    RT_OK(cudaStreamGetCaptureInfo_v2(s, &status, NULL, NULL, NULL, &count));
    EXPECT_EQ(count, 0);
    RT_OK(cudaMemsetAsync(m, 2, 64, s));
    RT_OK(cudaStreamEndCapture(s, &same));
    EXPECT(same == graph);
    RT_OK(cudaGraphGetRootNodes(graph, NULL, &count));
    EXPECT_EQ(count, 2); // nothing orders the two fills
    RT_OK(cudaGraphDestroy(graph));
}

TEST(graphs)
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b, from[4], to[4], found[4];
    cudaGraphEdgeData data[4];
    struct cudaGraphNodeParams empty = {.type = cudaGraphNodeTypeEmpty};
    size_t count;
    RT_MUST(cudaGraphCreate(&graph, 0));
    RT_OK(cudaGraphAddNode(&a, graph, NULL, 0, &empty));
    RT_OK(cudaGraphAddNode_v2(&b, graph, NULL, NULL, 0, &empty));
    RT_OK(cudaGraphAddDependencies(graph, &a, &b, 1));
    RT_ERROR(cudaGraphAddDependencies_v2(graph, &a, &b, NULL, 1), cudaErrorInvalidValue);
    count = 4;
    RT_OK(cudaGraphGetEdges(graph, from, to, &count));
    EXPECT(count == 1 && from[0] == a && to[0] == b);
    count = 4;
    RT_OK(cudaGraphGetEdges_v2(graph, from, to, data, &count));
    EXPECT(count == 1 && from[0] == a && data[0].type == cudaGraphDependencyTypeDefault);
    count = 4;
    RT_OK(cudaGraphNodeGetDependencies(b, found, &count));
    EXPECT(count == 1 && found[0] == a);
    count = 4;
    RT_OK(cudaGraphNodeGetDependentNodes(a, found, &count));
    EXPECT(count == 1 && found[0] == b);
    RT_OK(cudaGraphRemoveDependencies(graph, &a, &b, 1));
    RT_OK(cudaGraphGetEdges(graph, NULL, NULL, &count));
    EXPECT_EQ(count, 0);
    RT_ERROR(cudaGraphRemoveDependencies(graph, &a, &b, 1), cudaErrorInvalidValue);
    RT_OK(cudaGraphDestroy(graph));
}

// ---- both versions in one process

// A program of CUDA 13 may load a library that was built with CUDA 12. They share the primary
// context, memory and streams, because both are clients of the same driver.
TEST(both_versions)
{
    void *other = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    cudaError_t (*get_version)(int *) =
        (cudaError_t(*)(int *))dlsym(other, "cudaRuntimeGetVersion");
    cudaError_t (*allocate)(void **, size_t) =
        (cudaError_t(*)(void **, size_t))dlsym(other, "cudaMalloc");
    cudaError_t (*last_error)(void) = (cudaError_t(*)(void))dlsym(other, "cudaGetLastError");
    int version = 0;
    void *m = NULL;
    unsigned char byte = 0;
    EXPECT(other && get_version && allocate && last_error);
    RT_OK(get_version(&version));
    EXPECT_EQ(version, 13000);
    RT_OK(allocate(&m, 16));
    RT_OK(cudaMemset(m, 7, 16));
    RT_OK(cudaMemcpy(&byte, m, 1, cudaMemcpyDefault));
    EXPECT_EQ(byte, 7);
    RT_OK(cudaFree(m));
    // Each has errors of its own.
    RT_ERROR(cudaSetDevice(99), cudaErrorInvalidDevice);
    RT_OK(last_error());
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
}

// ---- kernels

static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry store(.param .u64 at, .param .u32 value)\n"
                           "{\n.reg .b64 %a;\n.reg .b32 %v;\nld.param.u64 %a, [at];\n"
                           "ld.param.u32 %v, [value];\nst.global.u32 [%a], %v;\nret;\n}\n";

static void store(unsigned *at, unsigned value)
{
    (void)at;
    (void)value;
}

TEST(several_devices)
{
    struct program_wrapper wrapper = program_wrapper(text);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    struct cudaLaunchParams launches[2];
    unsigned *memory[2], values[2] = {11, 22}, seen = 0;
    void *arguments[2][2];
    cudaStream_t stream[2];
    program_function(handle, store, "store");
    __cudaRegisterFatBinaryEnd(handle);
    test_setting("CARDLESS_DEVICES", "h100,h100");
    for (int i = 0; i < 2; i++) {
        RT_MUST(cudaSetDevice(i));
        RT_MUST(cudaMalloc((void **)&memory[i], 4));
        RT_MUST(cudaStreamCreate(&stream[i]));
        arguments[i][0] = &memory[i];
        arguments[i][1] = &values[i];
        launches[i] = (struct cudaLaunchParams){(void *)store, {1, 1, 1}, {1, 1, 1},
                                                arguments[i],  0,         stream[i]};
    }
    RT_OK(cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0));
    for (int i = 0; i < 2; i++) {
        RT_OK(cudaStreamSynchronize(stream[i]));
        RT_OK(cudaMemcpy(&seen, memory[i], 4, cudaMemcpyDefault));
        EXPECT_EQ(seen, values[i]);
    }
    RT_ERROR(cudaLaunchCooperativeKernelMultiDevice(NULL, 2, 0), cudaErrorInvalidValue);
    RT_ERROR(cudaLaunchCooperativeKernelMultiDevice(launches, 0, 0), cudaErrorInvalidValue);
    RT_ERROR(cudaLaunchCooperativeKernelMultiDevice(launches, 3, 0), cudaErrorInvalidValue);
    // Manual: the stream "cannot be the NULL stream or cudaStreamLegacy or cudaStreamPerThread".
    launches[1].stream = NULL;
    RT_ERROR(cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0), cudaErrorInvalidValue);
    __cudaUnregisterFatBinary(handle);
    program_finish(&wrapper);
}

TESTS(CASE(versions), CASE(properties), CASE(threads), CASE(pointers), CASE(textures),
      CASE(external_memory), CASE(external_semaphores), CASE(managed_memory), CASE(batches),
      CASE(events), CASE(capture), CASE(graphs), CASE(both_versions), CASE(several_devices))
