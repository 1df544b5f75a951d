// SPDX-License-Identifier: MIT
// Finds the Vulkan layer and switches it on, as an implicit layer in a folder that every Vulkan
// loader searches, enabled by an environment variable of ours. (For layers in VK_INSTANCE_LAYERS
// the loader prints warnings, which programs can see.)
#include "vulkan_layer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

int vulkan_layer_folder(char *out, size_t capacity)
{
    static const char *const near[] = {"vulkan-layer", "../vulkan-layer", "cardless/vulkan-layer"};
    char library[PATH_MAX], path[PATH_MAX + 64], full[PATH_MAX];
    if (lib_folder(library, sizeof library))
        return -1;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        snprintf(path, sizeof path, "%s/%s/share/vulkan/implicit_layer.d/VkLayer_cardless.json",
                 library, near[i]);
        if (access(path, R_OK) || !realpath(path, full))
            continue;
        // realpath: …/share/vulkan/implicit_layer.d/VkLayer_cardless.json
        for (int up = 0; up < 4; up++)
            *strrchr(full, '/') = 0;
        int n = snprintf(out, capacity, "%s", full);
        return n >= 0 && (size_t)n < capacity ? 0 : -1;
    }
    return -1;
}

// Sets a list in the environment: our entry, then those of `before`, which may be NULL.
static int put_first(const char *variable, const char *ours, const char *before)
{
    char *value = NULL;
    if (asprintf(&value, "%s%s%s", ours, before && *before ? ":" : "", before ? before : "") < 0)
        return -1;
    int r = setenv(variable, value, 1);
    free(value);
    return r;
}

int vulkan_layer_enable(void)
{
    char folder[PATH_MAX], share[PATH_MAX + 8], manifests[PATH_MAX + 64];
    const char *data = getenv("XDG_DATA_DIRS"), *instead = getenv("VK_IMPLICIT_LAYER_PATH");
    if (vulkan_layer_folder(folder, sizeof folder))
        return -1;
    snprintf(share, sizeof share, "%s/share", folder);
    snprintf(manifests, sizeof manifests, "%s/vulkan/implicit_layer.d", share);
    // `cardless run -- cardless run …`
    if (data && strstr(data, share))
        return setenv("CARDLESS_VULKAN_LAYER", "1", 1);
    // "If $XDG_DATA_DIRS is either not set or empty, a value equal to /usr/local/share/:/usr/share/
    // should be used."
    if (put_first("XDG_DATA_DIRS", share, data && *data ? data : "/usr/local/share:/usr/share"))
        return -1;
    // If this is set, newer loaders search only there.
    if (instead && *instead && put_first("VK_IMPLICIT_LAYER_PATH", manifests, instead))
        return -1;
    return setenv("CARDLESS_VULKAN_LAYER", "1", 1);
}
