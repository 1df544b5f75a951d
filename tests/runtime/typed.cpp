// SPDX-License-Identifier: MIT
// The overloads of cuda_runtime.h for C++: typed pointers, forms with one location or one set of
// attributes, descriptors of C++ types. Prints the first line that fails.
#include <cstdio>
#include <cuda_runtime.h>

static int failures;

static void expect(bool holds, int line)
{
    if (!holds && !failures++)
        std::printf("%s:%d does not hold\n", __FILE__, line);
}
#define EXPECT(condition) expect(condition, __LINE__)
#define OK(call) EXPECT((call) == cudaSuccess)

struct pixel {
    float r, g;
};

static bool same(cudaChannelFormatDesc a, int x, int y, int z, int w, cudaChannelFormatKind f)
{
    return a.x == x && a.y == y && a.z == z && a.w == w && a.f == f;
}

static void descriptors()
{
    EXPECT(same(cudaCreateChannelDesc<float4>(), 32, 32, 32, 32, cudaChannelFormatKindFloat));
    EXPECT(same(cudaCreateChannelDesc<unsigned char>(), 8, 0, 0, 0, cudaChannelFormatKindUnsigned));
    EXPECT(same(cudaCreateChannelDesc<short2>(), 16, 16, 0, 0, cudaChannelFormatKindSigned));
    EXPECT(same(cudaCreateChannelDesc<pixel>(), 0, 0, 0, 0, cudaChannelFormatKindNone));
    EXPECT(same(cudaCreateChannelDescHalf2(), 16, 16, 0, 0, cudaChannelFormatKindFloat));
    EXPECT(same(cudaCreateChannelDesc<cudaChannelFormatKindUnsignedBlockCompressed6H>(), 16, 16, 16,
                0, cudaChannelFormatKindUnsignedBlockCompressed6H));
}

static void memory()
{
    pixel *device, *pinned, *mapped, *ordered, *managed;
    size_t pitch;
    cudaMemPool_t pool;
    OK(cudaMalloc(&device, 4 * sizeof(pixel)));
    OK(cudaMallocHost(&pinned, 4 * sizeof(pixel)));
    OK(cudaHostAlloc(&mapped, 4 * sizeof(pixel), cudaHostAllocMapped));
    OK(cudaMallocManaged(&managed, 4 * sizeof(pixel)));
    OK(cudaMallocPitch(&ordered, &pitch, 16, 2));
    OK(cudaFree(ordered));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMallocAsync(&ordered, sizeof(pixel), pool, 0));
    OK(cudaFreeAsync(ordered, 0));
    OK(cudaMallocAsync(&ordered, sizeof(pixel), cudaStreamPerThread));
    OK(cudaFreeAsync(ordered, cudaStreamPerThread));

    *pinned = {1, 2};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    pixel *to[] = {device, device + 1}, *from[] = {pinned, pinned};
    const size_t sizes[] = {sizeof(pixel), sizeof(pixel)};
    OK(cudaMemcpyBatchAsync(to, from, sizes, 2, how, cudaStreamPerThread));
    OK(cudaMemcpyAsync(mapped, device + 1, sizeof(pixel), cudaMemcpyDefault, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT(mapped->g == 2);
    OK(cudaFree(device));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(mapped));
}

// Not a kernel: calls of it fail in the C function that the overload has found.
static void not_a_kernel(double, pixel)
{
}

static void kernels()
{
    cudaEvent_t event;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = 1;
    int grid = 7, block = 7;
    EXPECT(cudaLaunchKernelEx(&config, not_a_kernel, 1.5f, pixel{1, 2}) != cudaSuccess);
    EXPECT(cudaLaunchKernel(not_a_kernel, 1, dim3(2, 3), nullptr) != cudaSuccess);
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &block, not_a_kernel) != cudaSuccess);
    EXPECT(grid == 7 && block == 7);
    EXPECT(cudaOccupancyMaxPotentialBlockSize(static_cast<int *>(nullptr), &block, not_a_kernel) ==
           cudaErrorInvalidValue);
    OK(cudaEventCreate(&event, cudaEventDisableTiming));
    OK(cudaEventDestroy(event));
}

static void vectors()
{
    const dim3 size = make_uint3(4, 5, 6);
    const uint3 back = size;
    EXPECT(dim3(7).x == 7 && dim3(7).y == 1 && back.z == 6);
    EXPECT(make_double4_32a(1, 2, 3, 4).w == 4 && alignof(double4_32a) == 32);
    EXPECT(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(uchar4) == 4);
    EXPECT(make_cudaExtent(1, 2, 3).depth == 3 && make_cudaPos(1, 2, 3).y == 2);
}

int main()
{
    vectors();
    descriptors();
    memory();
    kernels();
    return failures != 0;
}
