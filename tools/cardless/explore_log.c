// SPDX-License-Identifier: MIT
// The files that a run writes to the folder for logs: "diagnostics.0" of slot 0, and for each
// process that calls cuInit "schedule.0.1234" and "trace.0.1234".
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore.h"

void explore_log_path(const struct explore *x, unsigned slot, const char *name, char *out,
                      size_t size)
{
    snprintf(out, size, "%s/%s.%u", x->folder.path, name, slot);
}

void explore_process_path(const struct explore *x, unsigned slot, const char *name, pid_t process,
                          char *out, size_t size)
{
    snprintf(out, size, "%s/%s.%u.%ld", x->folder.path, name, slot, (long)process);
}

static int compare_processes(const void *a, const void *b)
{
    const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return x < y ? -1 : x > y;
}

size_t explore_processes(const struct explore *x, unsigned slot, pid_t list[EXPLORE_PROCESSES])
{
    char prefix[32];
    size_t count = 0;
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "schedule.%u.", slot);
    DIR *folder = opendir(x->folder.path);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (!strncmp(e->d_name, prefix, length) && count < EXPLORE_PROCESSES)
            list[count++] = (pid_t)strtol(e->d_name + length, NULL, 10);
    if (folder)
        closedir(folder);
    qsort(list, count, sizeof *list, compare_processes);
    return count;
}

// Whether a file of the folder belongs to a slot: "name.0" or "name.0.1234".
static bool is_of_slot(const char *file, unsigned slot)
{
    const char *dot = strchr(file, '.');
    char *end;
    return dot && strtoul(dot + 1, &end, 10) == slot && end > dot + 1 && (!*end || *end == '.');
}

void explore_remove_logs(const struct explore *x, unsigned slot)
{
    char path[512];
    DIR *folder = opendir(x->folder.path);
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        if (!is_of_slot(e->d_name, slot))
            continue;
        snprintf(path, sizeof path, "%s/%s", x->folder.path, e->d_name);
        unlink(path);
    }
    if (folder)
        closedir(folder);
}
