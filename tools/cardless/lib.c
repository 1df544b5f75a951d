// SPDX-License-Identifier: MIT
// Finds the folder with our libcuda.so.1.
#include "lib.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int holds_library(const char *folder, char *out, size_t capacity)
{
    char path[PATH_MAX], full[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) || !realpath(folder, full))
        return 0;
    n = snprintf(out, capacity, "%s", full);
    return n >= 0 && (size_t)n < capacity;
}

int lib_folder(char *out, size_t capacity)
{
    static const char *const near[] = {"lib", "../lib", "../../lib", CARDLESS_FROM_BIN};
    const char *asked = getenv("CARDLESS_LIBDIR");
    if (asked && *asked) {
        if (holds_library(asked, out, capacity))
            return 0;
        fprintf(stderr, "cardless: CARDLESS_LIBDIR=%s: the folder has no libcuda.so.1\n", asked);
        return -1;
    }
    char self[PATH_MAX], folder[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = 0;
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = 0;
        for (size_t i = 0; i < sizeof near / sizeof *near && *near[i]; i++) {
            snprintf(folder, sizeof folder, "%s/%s", self, near[i]);
            if (holds_library(folder, out, capacity))
                return 0;
        }
    }
    if (holds_library(CARDLESS_INSTALL_LIBDIR, out, capacity))
        return 0;
    fprintf(stderr,
            "cardless: libcuda.so.1 is neither next to this program nor in %s; set CARDLESS_LIBDIR "
            "to its folder\n",
            CARDLESS_INSTALL_LIBDIR);
    return -1;
}

int lib_prepend(const char *variable, const char *folder)
{
    const char *before = getenv(variable);
    char *value = NULL;
    if (asprintf(&value, "%s%s%s", folder, before && *before ? ":" : "", before ? before : "") < 0)
        return -1;
    int r = setenv(variable, value, 1);
    free(value);
    return r;
}
