// SPDX-License-Identifier: MIT
// docs/learn, lesson 2: two buffers in one piece of memory, each at an offset of its own.
//
//   lesson_2 [wrong]     wrong: maps the second buffer directly after the first one
#include "learn.h"

enum { SIZE = 2 << 20, FIRST_B = 700100, SECOND_B = 600000 };

// [align]
// The next multiple of the alignment, as vkGetBufferMemoryRequirements returns it.
static size_t align_up(size_t offset, size_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}
// [end]

int main(int argc, char **argv)
{
    const int wrong = learn_wrong(argc, argv);
    unsigned char bytes[2];
    learn_start();
    CUexternalMemory memory = learn_import(learn_export(SIZE), SIZE);

    // [place]
    size_t first = 0, second = align_up(first + FIRST_B, 65536);
    if (wrong)
        second = first + FIRST_B; // not a multiple of anything
    printf("buffers at %zu and %zu\n", first, second);
    CUdeviceptr a = learn_map(memory, first, FIRST_B);
    CUdeviceptr b = learn_map(memory, second, SECOND_B);
    // [end]

    // [check]
    CUdeviceptr whole = learn_map(memory, 0, SIZE);
    CU(cuMemsetD8(a, 1, FIRST_B));
    CU(cuMemsetD8(b, 2, SECOND_B));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(&bytes[0], whole + first + FIRST_B - 1, 1));
    CU(cuMemcpyDtoH(&bytes[1], whole + second, 1));
    printf("end of the first: %d, start of the second: %d\n", bytes[0], bytes[1]);
    // [end]

    CU(cuMemFree(whole));
    CU(cuMemFree(b));
    CU(cuMemFree(a));
    CU(cuDestroyExternalMemory(memory));
    return bytes[0] != 1 || bytes[1] != 2;
}
