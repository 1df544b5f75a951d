// SPDX-License-Identifier: MIT
// Switches the redirection of runtimes on: the dynamic loader calls a library of ours (redirect/)
// whenever it loads an object.
#include "redirect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

static bool find(const char *folder, char out[PATH_MAX])
{
    const int n = snprintf(out, PATH_MAX, "%s/libcardless-redirect.so", folder);
    return n > 0 && n < PATH_MAX && !access(out, R_OK);
}

bool redirect_exists(const char *folder)
{
    char library[PATH_MAX];
    return find(folder, library);
}

int redirect_enable(const char *folder)
{
    char library[PATH_MAX];
    const char *before = getenv("LD_AUDIT");
    // `cardless run -- cardless run …`
    if (!find(folder, library) || (before && strstr(before, library)))
        return 0;
    char python[PATH_MAX];
    const int n = snprintf(python, sizeof python, "%s/python", folder);
    if (n > 0 && n < PATH_MAX && !access(python, X_OK) && lib_prepend("PYTHONPATH", python))
        return -1;
    return lib_prepend("LD_AUDIT", library);
}
