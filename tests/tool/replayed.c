// SPDX-License-Identifier: MIT
// A program whose recorded run is replayed: copies, arrays, memory that it exports and imports,
// streams, events, graphs, a PTX kernel, pinned memory, and threads. Its first argument is a number
// that its data depend on. With a second one, it does only that part.
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check_call.h"

enum { WIDTH = 64, HEIGHT = 48, COUNT = WIDTH * HEIGHT, THREADS = 3 };

static const char kernel_text[] = ".version 7.0\n"
                                  ".target sm_70\n"
                                  ".address_size 64\n"
                                  ".visible .entry add(.param .u64 to, .param .u64 from,\n"
                                  "                    .param .u32 more) {\n"
                                  "    .reg .b64 %a, %b, %o;\n"
                                  "    .reg .b32 %i, %v, %m;\n"
                                  "    mov.u32 %i, %tid.x;\n"
                                  "    mul.wide.u32 %o, %i, 4;\n"
                                  "    ld.param.u64 %a, [to];\n"
                                  "    ld.param.u64 %b, [from];\n"
                                  "    ld.param.u32 %m, [more];\n"
                                  "    add.u64 %a, %a, %o;\n"
                                  "    add.u64 %b, %b, %o;\n"
                                  "    ld.global.u32 %v, [%b];\n"
                                  "    add.u32 %v, %v, %m;\n"
                                  "    st.global.u32 [%a], %v;\n"
                                  "    ret;\n"
                                  "}\n";

static uint32_t salt;
static CUcontext context;

static uint32_t *make_data(void)
{
    uint32_t *data = malloc(COUNT * sizeof *data);
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = i * 2654435761u + salt;
    return data;
}

static void copy_arrays(void)
{
    uint32_t *data = make_data(), *back = calloc(COUNT, sizeof *back);
    CUarray array, level;
    CUmipmappedArray mipmap;
    const CUDA_ARRAY_DESCRIPTOR flat = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    const CUDA_ARRAY3D_DESCRIPTOR deep = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    CHECK(cuArrayCreate(&array, &flat));
    CHECK(cuMipmappedArrayCreate(&mipmap, &deep, 3));
    CHECK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = data,
                          .srcPitch = WIDTH * 4,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = WIDTH * 4 - 8,
                          .Height = HEIGHT - 1};
    CHECK(cuMemcpy2D(&copy));
    copy.dstArray = level;
    copy.WidthInBytes /= 2;
    copy.Height /= 2;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuMemcpyAtoH(back, array, 16, WIDTH));
    const CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                               .srcArray = level,
                               .dstMemoryType = CU_MEMORYTYPE_HOST,
                               .dstHost = back,
                               .dstPitch = WIDTH * 4,
                               .WidthInBytes = copy.WidthInBytes,
                               .Height = copy.Height};
    CHECK(cuMemcpy2D(&out));
    CUDA_ARRAY3D_DESCRIPTOR found;
    CHECK(cuArray3DGetDescriptor(&found, level));
    CHECK(cuMipmappedArrayDestroy(mipmap));
    CHECK(cuArrayDestroy(array));
    free(data);
    free(back);
}

// Exports memory, and imports it as external memory.
static void share_memory(void)
{
    CUmemGenericAllocationHandle memory;
    CUexternalMemory external;
    CUdeviceptr buffer;
    uint32_t value = salt, back;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    size_t size;
    int fd;
    CHECK(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemCreate(&memory, size, &prop, 0));
    CHECK(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd, .size = size};
    CHECK(cuImportExternalMemory(&external, &desc));
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = size};
    CHECK(cuExternalMemoryGetMappedBuffer(&buffer, external, &whole));
    CHECK(cuMemcpyHtoD(buffer + 4096, &value, sizeof value));
    CHECK(cuMemcpyDtoH(&back, buffer + 4096, sizeof back));
    CHECK(cuMemFree(buffer));
    CHECK(cuDestroyExternalMemory(external));
    CHECK(cuMemRelease(memory));
}

static void count_call(void *calls)
{
    ++*(unsigned *)calls;
}

// A kernel reads pinned memory, which the program writes without a call, in a captured graph.
static void launch(void)
{
    CUmodule module;
    CUfunction add;
    CUstream stream, other;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    uint32_t *pinned, back[32], more = 3;
    unsigned calls = 0;
    CHECK(cuModuleLoadData(&module, kernel_text));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuMemAllocHost((void **)&pinned, sizeof back));
    CHECK(cuMemAlloc(&memory, sizeof back));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    for (uint32_t i = 0; i < 32; i++)
        pinned[i] = i * salt;
    void *parameters[] = {&memory, &pinned, &more};
    CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(other, event, 0));
    CHECK(cuMemcpyDtoHAsync(back, memory, sizeof back, other));
    CHECK(cuStreamSynchronize(other));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuLaunchHostFunc(stream, count_call, &calls));
    CHECK(cuMemcpyDtoHAsync(back, memory, sizeof back, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned i = 0; i < 3; i++) {
        pinned[5] = salt + i;
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
    }
    if (back[5] != salt + 2 + more || back[6] != 6 * salt + more || calls != 3)
        exit(1);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(other));
    CHECK(cuMemFree(memory));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuModuleUnload(module));
}

static void add_one(void *number)
{
    ++*(uint32_t *)number;
}

static void CUDA_CB add_two(CUstream stream, CUresult status, void *number)
{
    *(uint32_t *)number += 2;
}

// Functions of the program change pinned memory between copies of their stream.
static void count_in_stream(void)
{
    CUstream stream;
    CUdeviceptr memory;
    uint32_t *pinned, back = 0;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&memory, sizeof back));
    CHECK(cuMemAllocHost((void **)&pinned, sizeof back));
    CHECK(cuMemsetD32Async(memory, 5, 1, stream));
    for (unsigned i = 0; i < 3; i++) {
        CHECK(cuMemcpyDtoHAsync(pinned, memory, sizeof back, stream));
        CHECK(cuLaunchHostFunc(stream, add_one, pinned));
        CHECK(cuMemcpyHtoDAsync(memory, pinned, sizeof back, stream));
        CHECK(cuStreamAddCallback(stream, add_two, pinned, 0));
        CHECK(cuMemcpyHtoDAsync(memory, pinned, sizeof back, stream));
    }
    CHECK(cuMemcpyDtoHAsync(&back, memory, sizeof back, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(memory));
    CHECK(cuStreamDestroy(stream));
    if (back != 5 + 3 * 3)
        exit(1);
}

// Its strides are a list whose length no argument has.
static void encode_tensor(CUdeviceptr memory)
{
    static CUtensorMap map;
    const cuuint64_t sizes[] = {64, 16, 4, 2}, strides[] = {256, 4096, 16384};
    const cuuint32_t box[] = {16, 4, 2, 1}, steps[] = {1, 1, 1, 1};
    CHECK(cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, (void *)(uintptr_t)memory, sizes, strides, box,
        steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

// Outputs that a call leaves as they are, and outputs whose size an argument gives.
static void query(void)
{
    CUstream stream;
    CUstreamCaptureStatus status;
    CUdeviceptr memory, start;
    CUmemorytype type;
    cuuint64_t id = 77;
    CUmemoryPool pool;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL, NULL));
    CHECK(cuMemAlloc(&memory, sizeof id));
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CHECK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 4));
    encode_tensor(memory);
    CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &id));
    CHECK(cuMemFree(memory));
    CHECK(cuStreamDestroy(stream));
    if (type != CU_MEMORYTYPE_DEVICE || start != memory)
        exit(1);
}

static void *run_thread(void *unused)
{
    CUdeviceptr memory;
    uint32_t *data = make_data();
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, COUNT * 4));
    for (unsigned i = 0; i < 20; i++) {
        CHECK(cuMemcpyHtoD(memory, data, COUNT * 4));
        CHECK(cuMemsetD32(memory + 4 * i, i, 2));
        CHECK(cuMemcpyDtoH(data, memory, COUNT * 4));
    }
    CHECK(cuMemFree(memory));
    free(data);
    return NULL;
}

static void *reuse_address(void *unused)
{
    CUdeviceptr memory;
    uint32_t word = 0;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, 4096));
    CHECK(cuMemsetD32(memory, salt, 16));
    CHECK(cuMemcpyDtoH(&word, memory, sizeof word));
    CHECK(cuMemFree(memory));
    if (word != salt)
        exit(1);
    return NULL;
}

// Calls that overlap in time get the same address one after the other.
static void reuse_addresses(void)
{
    enum { ROUNDS = 6, AT_ONCE = 50 };
    pthread_t threads[AT_ONCE];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++)
            pthread_create(&threads[i], NULL, reuse_address, NULL);
        for (unsigned i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char name[64];
    const char *only = argc > 2 ? argv[2] : "";
    salt = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
    if (cuInit(0) == CUDA_ERROR_NO_DEVICE)
        return 0;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < 50 && !strcmp(only, "share"); i++)
        share_memory();
    if (!strcmp(only, "stream"))
        count_in_stream();
    if (!strcmp(only, "query"))
        query();
    if (!strcmp(only, "reuse"))
        reuse_addresses();
    if (*only)
        return 0;
    CHECK(cuDeviceGetName(name, sizeof name, 0));
    copy_arrays();
    share_memory();
    launch();
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_thread, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return cuMemFree(0x1234) == CUDA_SUCCESS;
}
