// SPDX-License-Identifier: MIT
// A runtime to be linked statically, with some names of NVIDIA's. Its functions are hidden, as
// those are, and answer a code that no runtime has. With -DSHARED it is a shared runtime.
#include <stddef.h>

#ifdef SHARED
#define RUNTIME __attribute__((visibility("default"), noinline))
#else
#define RUNTIME __attribute__((visibility("hidden"), noinline))
#endif

enum { STANDIN = 77777 };

// What marks an object with device code.
__attribute__((section(".nvFatBinSegment"), used)) static int segment[6];

static volatile int last_call;

// Each function has a number of its own, so that the compiler does not merge two of them.
static __attribute__((noinline)) int answer(int call)
{
    last_call = call;
    return STANDIN;
}

RUNTIME int cudaGetDeviceCount(int *count)
{
    return answer(1);
}

RUNTIME int cudaRuntimeGetVersion(int *version)
{
    return answer(2) + (version != NULL);
}

RUNTIME int cudaMalloc(void **p, size_t size)
{
    return answer(3);
}

RUNTIME int cudaFree(void *p)
{
    return answer(4);
}

RUNTIME int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, int kind)
{
    return answer(5);
}

RUNTIME int cudaGetLastError(void)
{
    return answer(6);
}

#ifdef VERSION_12 // a function that CUDA 13 has dropped
RUNTIME int cudaThreadSynchronize(void)
{
    return answer(7);
}
#endif

#ifdef VERSION_11 // one that CUDA 12 has dropped
RUNTIME int cudaBindTexture(size_t *offset, const void *texture, const void *p, const void *desc,
                            size_t size)
{
    return answer(8);
}
#endif

RUNTIME void **__cudaRegisterFatBinary(void *image)
{
    return answer(99) ? (void **)segment : NULL;
}
