// SPDX-License-Identifier: MIT
// docs/learn, lesson 5: two mappings of one import that overlap.
//
//   lesson_5 [wrong]     wrong: reads through one mapping directly after a write through the other
#include "learn.h"

enum { SIZE = 2 << 20, PART = 1 << 20 };

int main(int argc, char **argv)
{
    const int wrong = learn_wrong(argc, argv);
    unsigned char byte = 0;
    learn_start();
    CUexternalMemory memory = learn_import(learn_export(SIZE), SIZE);

    // [map]
    CUdeviceptr left = learn_map(memory, 0, PART);
    CUdeviceptr middle = learn_map(memory, PART / 2, PART);
    printf("the addresses %s\n", left == middle ? "are the same" : "differ");
    // [end]

    // [use]
    CU(cuMemsetD8(left, 5, PART)); // the card may do this later
    if (!wrong)
        CU(cuStreamSynchronize(NULL));
    CU(cuMemcpyDtoH(&byte, middle, 1)); // the byte PART / 2 of `left`
    printf("the other mapping reads %d\n", byte);
    // [end]

    CU(cuMemFree(middle));
    CU(cuMemFree(left));
    CU(cuDestroyExternalMemory(memory));
    return byte != 5;
}
