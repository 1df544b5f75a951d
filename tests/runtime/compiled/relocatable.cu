// SPDX-License-Identifier: MIT
// Relocatable device code (nvcc -rdc=true): compiled twice, and linked across the two object files.
#include "check.cuh"

#ifdef OTHER_UNIT
__device__ int shared_variable = 13;
__device__ int twice(int v)
{
    return 2 * v;
}
__global__ void read(int *out)
{
    *out = shared_variable;
}
void launch_read(int *out)
{
    read<<<1, 1>>>(out);
}
#else
extern __device__ int shared_variable;
extern __device__ int twice(int v);
extern void launch_read(int *out);
__device__ int (*pointer)(int) = twice;

__global__ void call(int *out)
{
    out[0] = twice(21);
    out[1] = shared_variable;
    out[2] = pointer(4);
    shared_variable = 99;
}

int main()
{
    int *device, host[3];
    OK(cudaMalloc(&device, sizeof host));
    call<<<1, 1>>>(device);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 42);
    EQUAL(host[1], 13);
    EQUAL(host[2], 8);
    launch_read(device);
    OK(cudaMemcpy(host, device, sizeof host[0], cudaMemcpyDeviceToHost));
    EQUAL(host[0], 99);
    OK(cudaMemcpyFromSymbol(host, shared_variable, sizeof host[0]));
    EQUAL(host[0], 99);
    printf("all checks hold\n");
    return 0;
}
#endif
