// SPDX-License-Identifier: MIT
// A program of CUDA 12: compiled with NVIDIA's headers of that version, whose structures and
// prototypes differ from those of CUDA 13. Prints "result 0", or the first line that fails.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

// Device code by clang's own means. The toolkit's words mean nothing unless nvcc compiles.
#include DEVICE_HEADER
#undef __global__
#undef __device__
#undef __constant__
#undef __shared__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

static int failed;

static void expect(bool holds, int line)
{
    if (!holds && !failed)
        failed = line;
}
#define EXPECT(condition) expect(condition, __LINE__)
#define OK(call) EXPECT((call) == cudaSuccess)

enum { THREADS = 64 };

__device__ unsigned counter;
__constant__ int factor;

// Reverses a block's numbers, and multiplies them.
__global__ void reverse(int *numbers)
{
    __shared__ int shared[THREADS];
    const unsigned at = threadIdx.x;
    shared[at] = numbers[at];
    __syncthreads();
    numbers[at] = factor * shared[THREADS - 1 - at];
    atomicAdd(&counter, 1u);
}

static void kernels()
{
    int *numbers, host[THREADS], three = 3;
    unsigned count = 0;
    for (int i = 0; i < THREADS; i++)
        host[i] = i;
    OK(cudaMalloc(&numbers, sizeof host));
    OK(cudaMemcpyToSymbol(&factor, &three, sizeof three));
    OK(cudaMemcpy(numbers, host, sizeof host, cudaMemcpyHostToDevice));
    reverse<<<1, THREADS>>>(numbers);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyFromSymbol(&count, &counter, sizeof count));
    for (int i = 0; i < THREADS; i++)
        EXPECT(host[i] == 3 * (THREADS - 1 - i));
    EXPECT(count == THREADS);

    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, numbers));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == numbers);
    OK(cudaFree(numbers));
}

static void properties()
{
    int version = 0, clock = 0;
    struct {
        cudaDeviceProp of_device;
        unsigned char after[64];
    } p;
    memset(&p, 0xa5, sizeof p);
    OK(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    OK(cudaGetDeviceProperties(&p.of_device, 0));
    OK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
    EXPECT(p.of_device.clockRate == clock && clock > 0 && p.of_device.warpSize == 32);
    EXPECT(p.of_device.major >= 7 && p.of_device.unifiedAddressing == 1);
    for (unsigned char byte : p.after)
        EXPECT(byte == 0xa5);
}

static void managed()
{
    void *m;
    int where = -9;
    OK(cudaMallocManaged(&m, 1 << 20));
    OK(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, m,
                                1 << 20));
    EXPECT(where == cudaCpuDeviceId);
    OK(cudaMemPrefetchAsync(m, 1 << 20, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(m));
}

static void graphs()
{
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph = nullptr, captured;
    cudaGraphExec_t exec;
    const cudaGraphNode_t *before = nullptr;
    size_t count = 9;
    unsigned long long id = 0;
    int *number, host = 0;
    OK(cudaMalloc(&number, 4));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(number, 1, 4, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &before, &count));
    EXPECT(status == cudaStreamCaptureStatusActive && graph && count == 1);
    OK(cudaStreamEndCapture(stream, &captured));
    cudaGraphNode_t first, second;
    OK(cudaGraphAddEmptyNode(&first, captured, nullptr, 0));
    OK(cudaGraphAddEmptyNode(&second, captured, nullptr, 0));
    OK(cudaGraphAddDependencies(captured, &first, &second, 1));
    OK(cudaGraphGetEdges(captured, nullptr, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphInstantiate(&exec, captured, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(&host, number, 4, cudaMemcpyDeviceToHost));
    EXPECT(host == 0x01010101);
}

static void textures()
{
    cudaResourceDesc resource = {}, found;
    cudaTextureDesc sampling = {};
    cudaTextureObject_t texture;
    const cudaChannelFormatDesc element = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    resource.resType = cudaResourceTypeArray;
    OK(cudaMallocArray(&resource.res.array.array, &element, 16, 16));
    OK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    OK(cudaGetTextureObjectResourceDesc(&found, texture));
    EXPECT(found.res.array.array == resource.res.array.array);
    OK(cudaDestroyTextureObject(texture));
}

int main()
{
    properties();
    kernels();
    managed();
    graphs();
    textures();
    printf("result %d\n", failed);
    return failed != 0;
}
