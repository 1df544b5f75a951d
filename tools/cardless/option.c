// SPDX-License-Identifier: MIT
// Values of options that several sub-commands take.
#include "option.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool option_can_write(const char *option, const char *path)
{
    char folder[PATH_MAX] = ".";
    struct stat s;
    const char *name = strrchr(path, '/');
    if (name)
        snprintf(folder, sizeof folder, "%.*s/.", (int)(name - path), path);
    if (strchr(folder, '%'))
        return true;
    if (!stat(path, &s)) {
        if (!S_ISDIR(s.st_mode) && !access(path, W_OK))
            return true;
        errno = S_ISDIR(s.st_mode) ? EISDIR : errno;
    } else if (!access(folder, W_OK | X_OK)) {
        return true;
    }
    fprintf(stderr, "cardless: --%s: cannot write %s: %s\n", option, path, strerror(errno));
    return false;
}

bool option_is_file(const char *option, const char *path, const char *other)
{
    struct stat a, b;
    if (stat(path, &a) || stat(other, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino ||
        !S_ISREG(a.st_mode))
        return false;
    fprintf(stderr, "cardless: --%s: %s would overwrite %s\n", option, path, other);
    return true;
}
