// SPDX-License-Identifier: MIT
// The names of special registers.
#include "program.h"

#include <string.h>

static const char *const names[] = {
#define PX_SPECIAL_NAME(name, text) text,
    PX_SPECIAL_LIST(PX_SPECIAL_NAME)
#undef PX_SPECIAL_NAME
};

int px_special_find(const char *name, size_t length)
{
    for (int i = 0; i < PX_SPECIAL_COUNT; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    return -1;
}
