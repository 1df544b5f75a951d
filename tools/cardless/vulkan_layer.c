// SPDX-License-Identifier: MIT
// Finds the Vulkan layer and turns it on through the loader's environment variables.
#include "vulkan_layer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

int vulkan_layer_folder(char *out, size_t room)
{
    static const char *const beside[] = {"vulkan-layer", "../vulkan-layer", "cardless/vulkan-layer"};
    char library[PATH_MAX], path[PATH_MAX + 64], full[PATH_MAX];
    if (lib_folder(library, sizeof library))
        return -1;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s/%s/VkLayer_cardless.json", library, beside[i]);
        if (access(path, R_OK) || !realpath(path, full))
            continue;
        *strrchr(full, '/') = 0;
        int n = snprintf(out, room, "%s", full);
        return n >= 0 && (size_t)n < room ? 0 : -1;
    }
    return -1;
}

// A list whose first entry is ours. `before`: what is there already, or NULL.
static int put_first(const char *variable, const char *ours, const char *before)
{
    char *value = NULL;
    if (asprintf(&value, "%s%s%s", ours, before && *before ? ":" : "", before ? before : "") < 0)
        return -1;
    int r = setenv(variable, value, 1);
    free(value);
    return r;
}

// VK_ADD_LAYER_PATH, which leaves the loader's own folders as they are, exists since 1.3.207.
static bool loader_adds_paths(void)
{
    const uint32_t since = 1u << 22 | 3u << 12 | 207;
    uint32_t version = 0;
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*ask)(uint32_t *) = loader ? (int (*)(uint32_t *))(uintptr_t)dlsym(loader, "vkEnumerateInstanceVersion") : NULL;
    bool newer = !loader || (ask && !ask(&version) && version >= since);
    if (loader)
        dlclose(loader);
    return newer;
}

// The folders in which a loader looks for explicit layers by itself.
static char *default_folders(void)
{
    const char *home = getenv("XDG_DATA_HOME"), *config = getenv("XDG_CONFIG_DIRS"), *data = getenv("XDG_DATA_DIRS"), *user = getenv("HOME");
    char lists[4][PATH_MAX], *out = NULL;
    size_t size;
    snprintf(lists[0], PATH_MAX, "%s", config && *config ? config : "/etc/xdg");
    snprintf(lists[1], PATH_MAX, "/etc");
    snprintf(lists[2], PATH_MAX, "%s%s", home && *home ? home : user ? user : "", home && *home ? "" : user ? "/.local/share" : "");
    snprintf(lists[3], PATH_MAX, "%s", data && *data ? data : "/usr/local/share:/usr/share");
    FILE *f = open_memstream(&out, &size);
    if (!f)
        return NULL;
    for (int i = 0; i < 4; i++)
        for (char *save = NULL, *folder = strtok_r(lists[i], ":", &save); folder; folder = strtok_r(NULL, ":", &save))
            fprintf(f, "%s%s/vulkan/explicit_layer.d", ftell(f) ? ":" : "", folder);
    fclose(f);
    return out;
}

static int add_path(const char *folder)
{
    const char *path = getenv("VK_LAYER_PATH");
    // Where it is set the loader looks nowhere else, and not at VK_ADD_LAYER_PATH either.
    if (path && *path)
        return put_first("VK_LAYER_PATH", folder, path);
    if (loader_adds_paths())
        return put_first("VK_ADD_LAYER_PATH", folder, getenv("VK_ADD_LAYER_PATH"));
    char *folders = default_folders();
    int r = put_first("VK_LAYER_PATH", folder, folders);
    free(folders);
    return r;
}

int vulkan_layer_enable(void)
{
    char folder[PATH_MAX];
    const char *layers = getenv("VK_INSTANCE_LAYERS");
    if (vulkan_layer_folder(folder, sizeof folder))
        return -1;
    if (layers && strstr(layers, VULKAN_LAYER_NAME))
        return 0;
    return add_path(folder) || put_first("VK_INSTANCE_LAYERS", VULKAN_LAYER_NAME, layers) ? -1 : 0;
}
