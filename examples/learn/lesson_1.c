// SPDX-License-Identifier: MIT
// docs/learn, lesson 1: maps memory of another API as a buffer.
//
//   lesson_1 [wrong]     wrong: uses the mapping after the import has ended
#include "learn.h"

enum { SIZE = 2 << 20 };

int main(int argc, char **argv)
{
    const int wrong = learn_wrong(argc, argv);
    unsigned char byte = 0;
    learn_start();

    // [import]
    int fd = learn_export(SIZE); // in a real program: vkGetMemoryFdKHR
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC import = {0};
    CUexternalMemory memory;
    import.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    import.handle.fd = fd;
    import.size = SIZE;
    CU(cuImportExternalMemory(&memory, &import)); // fd belongs to CUDA now
    // [end]

    // [map]
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {0};
    CUdeviceptr pointer;
    buffer.offset = 0;
    buffer.size = SIZE;
    CU(cuExternalMemoryGetMappedBuffer(&pointer, memory, &buffer));
    CU(cuMemsetD8(pointer, 7, SIZE));
    CU(cuMemcpyDtoH(&byte, pointer + SIZE - 1, 1));
    printf("the last byte is %d\n", byte);
    // [end]

    // [wrong]
    if (wrong) {
        CU(cuDestroyExternalMemory(memory));
        CU(cuMemsetD8(pointer, 8, SIZE));
        CU(cuMemFree(pointer));
        return 0;
    }
    // [end]
    // [finish]
    CU(cuMemFree(pointer));
    CU(cuDestroyExternalMemory(memory));
    // [end]
    return byte != 7;
}
