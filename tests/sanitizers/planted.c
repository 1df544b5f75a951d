// SPDX-License-Identifier: MIT
// Leaks 77 bytes, so that the test of this folder can see LeakSanitizer find them.
#include <stdlib.h>

int main(void)
{
    volatile char *leak = malloc(77);
    *leak = 1;
    leak = NULL;
    return 0;
}
