// SPDX-License-Identifier: MIT
// Allocates, fills and copies. Valgrind checks the accesses of the program and of the library, and
// the memory that is left at the end.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 20 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult r = (call);                                                                       \
        if (r) {                                                                                   \
            printf("%s: %d\n", #call, r);                                                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr p;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 512, .Height = 512, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    unsigned char *host = malloc(SIZE);
    if (!host)
        return 1;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&p, SIZE));
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuMemsetD8Async(p, 7, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(host, p, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < SIZE; i++)
        if (host[i] != 7) // valgrind also checks that every byte is defined
            return 2;
    for (int i = 0; i < SIZE; i++)
        host[i] = (unsigned char)(i * 7 >> 3);
    CHECK(cuArrayCreate(&array, &desc));
    CHECK(cuMemcpyHtoA(array, 0, host, SIZE / 512)); // the first row
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 2048,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 2048,
                          .Height = 512};
    CHECK(cuMemcpy2D(&copy));
    memset(host, 0, SIZE);
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = host,
                           .dstPitch = 2048,
                           .WidthInBytes = 2048,
                           .Height = 512};
    CHECK(cuMemcpy2D(&copy));
    for (int i = 0; i < SIZE; i++)
        if (host[i] != (unsigned char)(i * 7 >> 3))
            return 3;
    CHECK(cuArrayDestroy(array));
    CHECK(cuMemFree(p));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuDevicePrimaryCtxRelease(0));
    free(host);
    return 0;
}
