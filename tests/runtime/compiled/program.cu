// SPDX-License-Identifier: MIT
// A program as nvcc compiles it: launches, templates, symbols, managed variables, and libraries
// that it opens and closes.
#include "check.cuh"
#include <dlfcn.h>
#include <thread>
#include <vector>

struct point {
    double x, y;
    short z[3];
};

template <typename T> struct limits;
template <> struct limits<int> {
    static const int value = 3;
};

__device__ int variable = 5;
static __device__ int hidden = 6;
namespace inside
{
__constant__ float weights[4] = {1, 2, 3, 4};
}
__managed__ int counter = 9;
__managed__ point place = {1, 2, {3, 4, 5}};

template <int N, typename T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value + N + limits<T>::value;
}

__global__ void mixed(char a, double b, point p, int *out)
{
    out[0] = a;
    out[1] = (int)b;
    out[2] = (int)p.y;
    out[3] = p.z[2];
}

__global__ void sum(int *out)
{
    extern __shared__ int row[];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x)
        return;
    int total = 0;
    for (unsigned i = 0; i < blockDim.x; i++)
        total += row[i];
    atomicAdd(out, total);
}

__global__ void variables(int *out)
{
    out[0] = variable++;
    out[1] = hidden;
    out[2] = (int)inside::weights[3];
    atomicAdd(&counter, 1);
    place.x += 0.5;
}

__global__ void __launch_bounds__(64) bounded()
{
}

static int launch_and_return(int *device, int value)
{
    fill<0><<<1, 1>>>(device, value);
    int result = 0;
    OK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

static void launches(int *device)
{
    int host[64];
    fill<4><<<1, 32>>>(device, 100);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host[31], 107);
    mixed<<<1, 1>>>('x', 6.5, point{1, 8, {1, 2, 12}}, device);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 'x');
    EQUAL(host[1], 6);
    EQUAL(host[2], 8);
    EQUAL(host[3], 12);
    OK(cudaMemset(device, 0, 4));
    sum<<<dim3(2, 3), 32, 32 * sizeof(int)>>>(device);
    OK(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 6 * (31 * 32 / 2));
    // An argument that launches a kernel itself, after this one's configuration was stored.
    fill<1><<<1, 2>>>(device, launch_and_return(device, 10));
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host[1], 10 + 3 + 1 + 3);
    bounded<<<1, 65>>>();
    GIVES(cudaGetLastError(), cudaErrorInvalidValue);
    bounded<<<1, 64>>>();
    OK(cudaDeviceSynchronize());
    int value = 1;
    void *arguments[] = {&device, &value};
    OK(cudaLaunchKernel(fill<7, int>, dim3(1), dim3(1), arguments, 0, 0));
    OK(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 11);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    OK(cudaLaunchKernelEx(&config, fill<8, int>, device, 2));
    OK(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 13);
}

static void symbols(int *device)
{
    int host[3], *address;
    size_t size;
    OK(cudaMemcpyToSymbol(variable, &(const int &)41, sizeof(int)));
    const float weight = 8;
    OK(cudaMemcpyToSymbol(inside::weights, &weight, sizeof weight, 3 * sizeof weight));
    OK(cudaGetSymbolSize(&size, inside::weights));
    EQUAL(size, 16);
    OK(cudaGetSymbolAddress((void **)&address, hidden));
    OK(cudaMemset(address, 1, 1));
    EQUAL(counter, 9);
    counter = 20;
    variables<<<1, 1>>>(device);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host[0], 41);
    EQUAL(host[1], 1);
    EQUAL(host[2], 8);
    EQUAL(counter, 21);
    EQUAL(place.x * 10, 15);
    EQUAL(place.z[2], 5);
    OK(cudaGetSymbolAddress((void **)&address, counter));
    EQUAL(address == &counter, 1);
    OK(cudaMemcpyFromSymbol(host, variable, sizeof(int)));
    EQUAL(host[0], 42);
}

static void functions()
{
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, bounded));
    EQUAL(attributes.maxThreadsPerBlock, 64);
    OK(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    int blocks, size, grid;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 128, 0));
    EQUAL(blocks > 0, 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, bounded));
    EQUAL(size, 64);
    cudaFunction_t function;
    OK(cudaGetFuncBySymbol(&function, (const void *)bounded));
}

static void threads()
{
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([t] {
            int *out, value;
            OK(cudaMalloc(&out, sizeof *out));
            fill<9><<<1, 1, 0, cudaStreamPerThread>>>(out, t);
            OK(cudaStreamSynchronize(cudaStreamPerThread));
            OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
            EQUAL(value, t + 12);
            OK(cudaFree(out));
        });
    for (std::thread &t : all)
        t.join();
}

// Each opening registers the library's kernels and variables anew.
static void libraries(const char *path, int *device)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            printf("%s\n", dlerror());
            exit(1);
        }
        int (*next)(int *) = (int (*)(int *))dlsym(library, "library_next");
        EQUAL(next(device), 30);
        EQUAL(next(device), 31);
        EQUAL(dlclose(library), 0);
    }
}

extern int per_thread_streams(); // per_thread.cu

int main(int, char **argv)
{
    int *device;
    OK(cudaMalloc(&device, 256));
    launches(device);
    symbols(device);
    functions();
    threads();
    libraries(argv[1], device);
    EQUAL(per_thread_streams(), 1);
    OK(cudaFree(device));
    OK(cudaDeviceReset());
    OK(cudaMalloc(&device, 256)); // the program goes on with a new context
    variables<<<1, 1>>>(device);
    int host;
    OK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    EQUAL(host, 5);
    printf("all checks hold\n");
    return 0;
}
