// SPDX-License-Identifier: MIT
// Exports device memory as a file descriptor, imports it as if it were another API's memory, and
// maps a part of it. The first try fails because of a common mistake: it maps more bytes than the
// memory has.
#include <cuda.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 4 << 20, OFFSET = 65536 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result = (call);                                                                  \
        if (result) {                                                                              \
            fprintf(stderr, "%s: error %d\n", #call, result);                                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main(void)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));

    CUmemAllocationProp properties;
    CUmemGenericAllocationHandle handle;
    int fd;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK(cuMemCreate(&handle, SIZE, &properties, 0));
    CHECK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));

    CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory_desc;
    CUexternalMemory memory;
    memset(&memory_desc, 0, sizeof memory_desc);
    memory_desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    memory_desc.handle.fd = fd;
    memory_desc.size = SIZE;
    CHECK(cuImportExternalMemory(&memory, &memory_desc));

    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer_desc;
    CUdeviceptr buffer;
    memset(&buffer_desc, 0, sizeof buffer_desc);
    buffer_desc.offset = OFFSET;
    buffer_desc.size = SIZE; // the mistake: OFFSET bytes too many
    if (cuExternalMemoryGetMappedBuffer(&buffer, memory, &buffer_desc)) {
        buffer_desc.size = SIZE - OFFSET;
        CHECK(cuExternalMemoryGetMappedBuffer(&buffer, memory, &buffer_desc));
    }
    unsigned char last = 0;
    CHECK(cuMemsetD8(buffer, 7, buffer_desc.size));
    CHECK(cuMemcpyDtoH(&last, buffer + buffer_desc.size - 1, 1));
    printf("share: mapped %llu bytes, the last one is %d\n", buffer_desc.size, last);
    CHECK(cuMemFree(buffer));
    CHECK(cuDestroyExternalMemory(memory));
    CHECK(cuMemRelease(handle));
    return last != 7;
}
