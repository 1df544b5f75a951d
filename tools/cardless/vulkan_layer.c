// SPDX-License-Identifier: MIT
// Finds the Vulkan layer and turns it on: as an implicit layer in a folder that every Vulkan loader
// looks into, enabled by a variable of ours. (Layers asked for by VK_INSTANCE_LAYERS make the
// loader warn, and programs see that.)
#include "vulkan_layer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

int vulkan_layer_folder(char *out, size_t room)
{
    static const char *const beside[] = {"vulkan-layer", "../vulkan-layer",
                                         "cardless/vulkan-layer"};
    char library[PATH_MAX], path[PATH_MAX + 64], full[PATH_MAX];
    if (lib_folder(library, sizeof library))
        return -1;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s/%s/share/vulkan/implicit_layer.d/VkLayer_cardless.json",
                 library, beside[i]);
        if (access(path, R_OK) || !realpath(path, full))
            continue;
        // realpath: …/share/vulkan/implicit_layer.d/VkLayer_cardless.json
        for (int up = 0; up < 4; up++)
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
    // Newer loaders look there and nowhere else where it is set.
    if (instead && *instead && put_first("VK_IMPLICIT_LAYER_PATH", manifests, instead))
        return -1;
    return setenv("CARDLESS_VULKAN_LAYER", "1", 1);
}
