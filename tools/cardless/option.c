// SPDX-License-Identifier: MIT
// Values of options that several sub-commands take.
#include "option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_is_number(const char *value)
{
    char *end;
    errno = 0;
    strtoull(value, &end, 0);
    return !errno && *value >= '0' && *value <= '9' && !*end;
}

bool option_is_policy(const char *value)
{
    static const char *const names[] = {"eager", "lazy", "parallel"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i]))
            return true;
    if ((!strncmp(value, "seed:", 5) && option_is_number(value + 5)) ||
        !strncmp(value, "schedule:", 9))
        return true;
    fprintf(stderr,
            "cardless: --policy takes eager, lazy, seed:N, schedule:LIST or parallel, not %s\n",
            value);
    return false;
}
