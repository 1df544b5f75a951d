// SPDX-License-Identifier: MIT
// A program as nvcc builds it: a kernel, a variable of the device and a copy to it.
#include <cstdio>

__device__ int factor;

__global__ void multiply(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

#ifdef LIBRARY
extern "C" int check(void);
extern "C" int check(void)
#else
int main(void)
#endif
{
    const int n = 100, by = 3;
    int values[n], *p;
    for (int i = 0; i < n; i++)
        values[i] = i;
    cudaError_t e = cudaMalloc(&p, sizeof values);
    if (!e)
        e = cudaMemcpyToSymbol(factor, &by, sizeof by);
    if (!e)
        e = cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    multiply<<<4, 32>>>(p, n);
    if (!e)
        e = cudaGetLastError();
    if (!e)
        e = cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
    if (!e)
        e = cudaFree(p);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += values[i] != by * i;
    printf("result %d %s\n", wrong, cudaGetErrorString(e));
    return e || wrong;
}
