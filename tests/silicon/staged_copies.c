// SPDX-License-Identifier: MIT
// Copies from pageable memory into an array that cannot be written: up to some size the call
// returns before the device has the bytes, and a later call finds the error.
#include "record.h"

enum { MEMORY_B = 256 << 20, WIDTH = 1024 };
enum { PAGEABLE, PINNED, DEVICE };

// Plane 1 of an NV12 image that is mapped on external memory: the first copy to it ends the
// context.
static CUarray broken_plane(size_t height)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {.numLevels = 1};
    CUexternalMemory memory;
    CUmipmappedArray mip;
    CUarray image, plane;
    d.arrayDesc.Width = WIDTH;
    d.arrayDesc.Height = height;
    d.arrayDesc.Format = CU_AD_FORMAT_NV12;
    d.arrayDesc.NumChannels = 3;
    NEED(record_import(&memory, MEMORY_B, MEMORY_B, 0));
    NEED(cuExternalMemoryGetMappedMipmappedArray(&mip, memory, &d));
    NEED(cuMipmappedArrayGetLevel(&image, mip, 0));
    NEED(cuArrayGetPlane(&plane, image, 1));
    return plane;
}

// In a process of its own, because the context is lost.
static void copy(unsigned kind, unsigned height)
{
    record_context();
    CUDA_MEMCPY2D c = {.srcMemoryType = kind == DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcPitch = WIDTH,
                       .WidthInBytes = WIDTH,
                       .Height = height / 2};
    void *pinned = NULL;
    if (kind == PAGEABLE) {
        c.srcHost = calloc(WIDTH, height);
    } else if (kind == PINNED) {
        NEED(cuMemHostAlloc(&pinned, (size_t)WIDTH * height, 0));
        c.srcHost = pinned;
    } else {
        NEED(cuMemAlloc(&c.srcDevice, (size_t)WIDTH * height));
    }
    c.dstArray = broken_plane(height);
    SAY("copy=%s", record_brief(cuMemcpy2D(&c)));
    SAY(" synchronize=%s", record_brief(cuCtxSynchronize()));
}

GROUP(staged)
{
    static const char *const names[] = {"pageable", "pinned", "device"};
    static const unsigned heights[] = {16,   256,  2048, 4096, 4100, 4112, 4160, 4224,
                                       4352, 4608, 4864, 5120, 5184, 5248, 8192};
    for (unsigned kind = 0; kind < 3; kind++) {
        for (unsigned i = 0; i < sizeof heights / sizeof *heights; i++) {
            if (!CASE("%s-%u", names[kind], heights[i]))
                continue;
            pid_t child = fork();
            if (!child) {
                copy(kind, heights[i]);
                _exit(0);
            }
            int status;
            waitpid(child, &status, 0);
            if (status)
                SAY(" status %d", status);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(staged);
    return 0;
}
