// SPDX-License-Identifier: MIT
// A library that the program opens several times. Its variable starts at 30 each time.
#include "check.cuh"

__device__ int number = 30;

__global__ void take(int *out)
{
    *out = number++;
}

extern "C" int library_next(int *device)
{
    int value;
    take<<<1, 1>>>(device);
    OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}
