// SPDX-License-Identifier: MIT
// Calls of the runtime that have nothing to do, without and with a capture: which of them obey the
// rules about capture. Each case is a process of its own.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS(X)                                                                                   \
    X("surface", cudaDestroySurfaceObject(0))                                                      \
    X("texture", cudaDestroyTextureObject(0))                                                      \
    X("array", cudaFreeArray(NULL))                                                                \
    X("mipmapped", cudaFreeMipmappedArray(NULL))                                                   \
    X("free", cudaFree(NULL))                                                                      \
    X("host", cudaFreeHost(NULL))                                                                  \
    X("async", cudaFreeAsync(NULL, NULL))                                                          \
    X("malloc-async-0", cudaMallocAsync(&pointer, 0, NULL))                                        \
    X("pitch-0", cudaMallocPitch(&pointer, &pitch, 0, 0))                                          \
    X("malloc-host-0", cudaMallocHost(&pointer, 0))                                                \
    X("memset-0", cudaMemset(NULL, 0, 0))                                                          \
    X("memcpy-0", cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault))                                    \
    X("memset2d-0", cudaMemset2D(NULL, 0, 0, 0, 0))                                                \
    X("get-attributes", cudaPointerGetAttributes(&attributes, NULL))                               \
    X("destroy-junk-texture", cudaDestroyTextureObject(12345))                                     \
    X("valid-devices", cudaSetValidDevices(NULL, 0))

static void *pointer;
static size_t pitch;
static struct cudaPointerAttributes attributes;

static const char *const names[] = {
#define NAME(name, call) name,
    CALLS(NAME)};

static cudaError_t make_call(int number)
{
    int at = 0;
#define MAKE(name, call)                                                                           \
    if (number == at++)                                                                            \
        return call;
    CALLS(MAKE)
    return cudaErrorUnknown;
}

static void run_case(int number, int mode)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    enum cudaStreamCaptureStatus status;
    cudaStreamCreate(&stream);
    cudaError_t plain = make_call(number);
    cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode);
    cudaError_t captured = make_call(number);
    cudaStreamIsCapturing(stream, &status);
    cudaError_t end = cudaStreamEndCapture(stream, &graph);
    printf("nulls/%s-%d | plain %s capture %s status %d end %s\n", names[number], mode,
           cudaGetErrorName(plain), cudaGetErrorName(captured), (int)status, cudaGetErrorName(end));
    fflush(stdout);
}

int main(void)
{
    for (int number = 0; number < (int)(sizeof names / sizeof *names); number++) {
        for (int mode = 0; mode < 3; mode++) {
            int status;
            fflush(stdout);
            pid_t child = fork();
            if (!child) {
                run_case(number, mode);
                _exit(0);
            }
            waitpid(child, &status, 0);
            if (status)
                printf("nulls/%s-%d | CRASH %d\n", names[number], mode, status);
        }
    }
    return 0;
}
