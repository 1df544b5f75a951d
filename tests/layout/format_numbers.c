// SPDX-License-Identifier: MIT
// The format numbers of the device model are those of the driver API: compiling this checks it.
#include "format.h"

#include <cuda.h>
#include <stdio.h>

#define SAME(name, number, kind, channel_B, mask, element_B, block, sampling)                      \
    _Static_assert((int)CU_AD_FORMAT_##name == (int)DM_FORMAT_##name, "CU_AD_FORMAT_" #name);
DM_FORMAT_LIST(SAME)

int main(void)
{
    unsigned count;

    dm_format_all(&count);
    printf("%u formats have the driver API's numbers\n", count);
    return 0;
}
