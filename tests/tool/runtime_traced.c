// SPDX-License-Identifier: MIT
// A program of the runtime API that is recorded: structs by value and behind pointers, lists,
// unions, a call that makes no call of the driver, and one that fails.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, #call);                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 2 };

static void copy_box(void)
{
    static float texels[DEPTH][HEIGHT][WIDTH];
    const struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
    const struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH};
    struct cudaPitchedPtr memory;
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, extent, cudaArraySurfaceLoadStore));
    const struct cudaMemcpy3DParms copy = {
        .srcPtr = {texels, WIDTH * sizeof(float), WIDTH, HEIGHT},
        .dstArray = array,
        .extent = extent,
        .kind = cudaMemcpyHostToDevice,
    };
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaMalloc3D(&memory, (struct cudaExtent){WIDTH * sizeof(float), HEIGHT, DEPTH}));
    CHECK(cudaMemset3D(memory, 7, (struct cudaExtent){WIDTH * sizeof(float), HEIGHT, DEPTH}));
    CHECK(cudaFree(memory.ptr));

    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    cudaSurfaceObject_t surface;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

static void make_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    CHECK(cudaGraphAddEmptyNode(&nodes[1], graph, nodes, 1));
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// The legacy stream waits for a blocking stream, and the other way round.
static void order_streams(void *memory)
{
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaMemsetAsync(memory, 1, 16, blocking));
    CHECK(cudaMemsetAsync(memory, 2, 16, blocking));
    CHECK(cudaMemsetAsync(memory, 3, 16, NULL));
    CHECK(cudaMemsetAsync(memory, 4, 16, NULL));
    CHECK(cudaMemsetAsync(memory, 5, 16, blocking));
    CHECK(cudaStreamDestroy(blocking));
}

int main(int argc, char **argv)
{
    void *memory;
    cudaStream_t stream;
    cudaEvent_t event;
    float number = 1, back = 0;
    int device;
    CUcontext context;
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaGetDevice(&device));
    if (cuCtxGetCurrent(&context) || !context)
        return 2;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMemcpyAsync(memory, &number, sizeof number, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(cudaStreamLegacy, event, cudaEventWaitDefault));
    CHECK(cudaMemcpy(&back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(cudaGetLastError());
    if (cudaFree((void *)0x1234) == cudaSuccess || cudaPeekAtLastError() == cudaSuccess ||
        cudaGetLastError() == cudaSuccess)
        return 1;
    copy_box();
    make_graph(stream);
    order_streams(memory);
    if (argc > 1 && *argv[1] == 'e')
        _exit(3);
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
    return back != number;
}
