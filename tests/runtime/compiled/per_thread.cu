// SPDX-License-Identifier: MIT
// Compiled with --default-stream per-thread: the NULL stream is the thread's own stream.
#include "check.cuh"

__global__ void write(int *out, int value)
{
    *out = value;
}

int per_thread_streams()
{
    unsigned long long id, own;
    OK(cudaStreamGetId(0, &id));
    OK(cudaStreamGetId(cudaStreamPerThread, &own));
    if (id != own)
        return 0;
    // Recorded: a capture of the NULL stream takes what is launched into it.
    int *out;
    cudaGraph_t graph;
    size_t nodes;
    OK(cudaMalloc(&out, sizeof *out));
    write<<<1, 1>>>(out, 0); // loads the kernel
    OK(cudaStreamBeginCapture(0, cudaStreamCaptureModeRelaxed));
    write<<<1, 1>>>(out, 7);
    OK(cudaStreamEndCapture(0, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    EQUAL(nodes, 1);
    OK(cudaGraphDestroy(graph));
    write<<<1, 1>>>(out, 8);
    int value = 0;
    OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    EQUAL(value, 8);
    OK(cudaFree(out));
    return 1;
}
