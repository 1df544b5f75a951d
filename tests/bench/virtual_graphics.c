// SPDX-License-Identifier: MIT
// Mapping graphics resources of the virtual graphics API; the personality is the environment's.
//   virtual_graphics [RECORDING]
#include <cardless.h>

#include "calls.h"

enum { MIB = 1 << 20 };

int main(int argc, char **argv)
{
    static unsigned char bytes[MIB];
    CUcontext context;
    CUstream s;
    CUarray a;
    CUdeviceptr p;
    size_t size;
    cardlessBuffer b;
    cardlessTexture t;
    cardlessTextureDesc d = {CARDLESS_TEXTURE_2D, 512, 512, 0, 0, 1, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUgraphicsResource r, q;
    const char *personality = getenv("CARDLESS_PERSONALITY");
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cardlessBufferCreate(&b, MIB));
    MUST(cardlessTextureCreate(&t, &d));
    printf("the virtual graphics API, CARDLESS_PERSONALITY=%s\n",
           personality ? personality : "manual");
    begin(argc, argv);
    MUST(cardlessRegisterBuffer(&r, b, 0));
    BENCH("cardlessRegisterBuffer+Unregister 1 MiB", 20, cardlessRegisterBuffer(&q, b, 0);
          cuGraphicsUnregisterResource(q));
    BENCH("cuGraphicsMap+GetPointer+Unmap 1 MiB buffer", 1000, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, graphics fills it before", 20, cardlessFillBuffer(b, 0, MIB, 7);
          cuGraphicsMapResources(1, &r, s); cuGraphicsResourceGetMappedPointer(&p, &size, r);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("  the same, CUDA fills all of it", 20, cuGraphicsMapResources(1, &r, s);
          cuGraphicsResourceGetMappedPointer(&p, &size, r); cuMemsetD8Async(p, 7, MIB, s);
          cuGraphicsUnmapResources(1, &r, s));
    BENCH("cardlessReadBuffer 1 MiB", 20, cardlessReadBuffer(b, 0, MIB, bytes));
    MUST(cuGraphicsUnregisterResource(r));
    MUST(cardlessRegisterTexture(&r, t, 0));
    BENCH("cuGraphicsMap+GetArray+Unmap 512x512 image", 1000, cuGraphicsMapResources(1, &r, s);
          cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0); cuGraphicsUnmapResources(1, &r, s));
    return 0;
}
