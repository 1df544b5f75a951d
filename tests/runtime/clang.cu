// SPDX-License-Identifier: MIT
// CUDA C++ that clang compiles with Cardless's headers alone: launches, symbols, and the device
// functions of clang_device.h. Prints the first line that fails.
#include <cstdio>
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

static int failures;

static void expect(bool holds, int line)
{
    if (!holds && !failures++)
        std::printf("%s:%d does not hold\n", __FILE__, line);
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
    const uint3 at = threadIdx;
    shared[at.x] = numbers[at.x];
    __syncthreads();
    numbers[at.x] = factor * shared[blockDim.x - 1 - at.x];
    atomicAdd(&counter, 1u);
}

__global__ void divide(cuDoubleComplex *numbers)
{
    numbers[0] = cuCmul(numbers[0], cuCdiv(numbers[1], numbers[2]));
    numbers[1].x = CUDART_PI;
    numbers[2].x = -CUDART_INF;
}

template <class T> __global__ void add(T *sum, T value)
{
    atomicAdd(sum, value);
}

// The sum of a warp's lanes, by exchanges between them.
__global__ void sum_lanes(int *sum, unsigned *lanes)
{
    int value = (int)threadIdx.x;
    for (int distance = 16; distance; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    *lanes = __ballot_sync(0xffffffff, threadIdx.x & 1);
    __syncwarp();
    if (threadIdx.x == 0) {
        *sum = atomicCAS(sum, 0, value) + value;
        printf("%d from block %d of %d\n", value, (int)blockIdx.x, (int)gridDim.x);
    }
}

int main()
{
    int *numbers, host[THREADS], three = 3, grid, block;
    unsigned *lanes, count = 0;
    float *sum, result = 0;
    cudaFuncAttributes attributes;
    OK(cudaMalloc(&numbers, sizeof host));
    OK(cudaMalloc(&lanes, sizeof *lanes));
    OK(cudaMalloc(&sum, sizeof *sum));
    for (int i = 0; i < THREADS; i++)
        host[i] = i;
    OK(cudaMemcpy(numbers, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    reverse<<<1, THREADS>>>(numbers);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 3 * (THREADS - 1) && host[THREADS - 1] == 0);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == THREADS);

    OK(cudaMemset(sum, 0, sizeof *sum));
    add<<<dim3(2, 2), dim3(4, 2), 0, cudaStreamPerThread>>>(sum, 0.5f);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDefault));
    EXPECT(result == 16);

    OK(cudaMemset(numbers, 0, sizeof host));
    sum_lanes<<<1, 32>>>(numbers, lanes);
    OK(cudaMemcpy(host, numbers, sizeof *host, cudaMemcpyDefault));
    OK(cudaMemcpy(&count, lanes, sizeof count, cudaMemcpyDefault));
    EXPECT(host[0] == 31 * 32 / 2 && count == 0xaaaaaaaa);

    cuDoubleComplex complex[3] = {{1, 2}, {6, 8}, {0, 2}}, *on_card; // (6 + 8i) / 2i = 4 - 3i
    OK(cudaMalloc(&on_card, sizeof complex));
    OK(cudaMemcpy(on_card, complex, sizeof complex, cudaMemcpyDefault));
    divide<<<1, 1>>>(on_card);
    OK(cudaMemcpy(complex, on_card, sizeof complex, cudaMemcpyDefault));
    EXPECT(complex[0].x == 10 && complex[0].y == 5);
    EXPECT(complex[1].x == CUDART_PI && complex[2].x == -CUDART_INF);

    OK(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT(attributes.sharedSizeBytes == sizeof host);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, reverse));
    EXPECT(grid > 0 && block % 32 == 0);
    reverse<<<1, 4096>>>(numbers);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    return failures != 0;
}
