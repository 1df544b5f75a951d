// SPDX-License-Identifier: MIT
// A library whose constructor makes calls of CUDA: those of the program that opens it.
void in_constructor(void);

__attribute__((constructor)) static void construct(void)
{
    in_constructor();
}
