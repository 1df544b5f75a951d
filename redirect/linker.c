// SPDX-License-Identifier: MIT
// Remembers the linkers that a program asked for.
#include "linker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target.h"

static const char prefix[] = "cardless-original:";

// One major version. The loader keeps the addresses of the paths.
static struct linker {
    const char *file;
    char ours[4096], original[4096];
} linkers[] = {{.file = "libnvJitLink.so.13"}, {.file = "libnvJitLink.so.12"}};

static struct linker *find(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
        const size_t length = strlen(linkers[i].file);
        if (!strncmp(base, linkers[i].file, length) && (!base[length] || base[length] == '.'))
            return &linkers[i];
    }
    return NULL;
}

bool rd_linker_search(const char *name, const char **path)
{
    const bool wants_original = !strncmp(name, prefix, sizeof prefix - 1);
    if (wants_original)
        name += sizeof prefix - 1;
    struct linker *l = find(name);
    if (wants_original) {
        if (strchr(name, '/'))
            *path = name;
        else
            *path = l && *l->original ? l->original : NULL;
        return true;
    }
    if (!l || rd_neighbour(l->file, l->ours, sizeof l->ours))
        return false;
    if (strchr(name, '/') && strcmp(name, l->ours) != 0 && !access(name, R_OK))
        snprintf(l->original, sizeof l->original, "%s", name);
    *path = l->ours;
    return true;
}
