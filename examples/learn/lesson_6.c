// SPDX-License-Identifier: MIT
// docs/learn, lesson 6: a graphics buffer, which CUDA maps with flags. The graphics API is the
// virtual one of cardless.h, which needs no window and no driver.
//
//   lesson_6 [wrong]     wrong: maps to read only, and writes
#include <cardless.h>

#include "learn.h"

enum { SIZE = 4096 };

static unsigned char graphics_reads(cardlessBuffer buffer)
{
    unsigned char byte = 0;
    CU(cardlessReadBuffer(buffer, 0, 1, &byte));
    return byte;
}

int main(int argc, char **argv)
{
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    CUdeviceptr pointer;
    unsigned char byte;
    size_t size;
    learn_start();

    // [register]
    CU(cardlessBufferCreate(&buffer, SIZE)); // in a real program: glBufferData
    CU(cardlessFillBuffer(buffer, 0, SIZE, 1));
    CU(cardlessRegisterBuffer(&resource, buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE));
    // [end]

    // [read]
    CU(cuGraphicsResourceSetMapFlags(resource, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    CU(cuGraphicsMapResources(1, &resource, NULL));
    CU(cuGraphicsResourceGetMappedPointer(&pointer, &size, resource));
    CU(cuMemcpyDtoH(&byte, pointer, 1));
    if (learn_wrong(argc, argv))
        CU(cuMemsetD8(pointer, 9, size)); // READ_ONLY excludes this
    CU(cuGraphicsUnmapResources(1, &resource, NULL));
    printf("CUDA read %d, graphics reads %d\n", byte, graphics_reads(buffer));
    // [end]

    // [write]
    CU(cuGraphicsResourceSetMapFlags(resource, CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD));
    CU(cuGraphicsMapResources(1, &resource, NULL));
    CU(cuGraphicsResourceGetMappedPointer(&pointer, &size, resource)); // it may be another one
    CU(cuMemsetD8(pointer, 2, size));
    CU(cuGraphicsUnmapResources(1, &resource, NULL));
    printf("graphics reads %d\n", graphics_reads(buffer));
    // [end]

    CU(cuGraphicsUnregisterResource(resource));
    CU(cardlessBufferDestroy(buffer));
    return 0;
}
