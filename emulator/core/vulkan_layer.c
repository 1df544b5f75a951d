// SPDX-License-Identifier: MIT
// Finds Cardless's Vulkan layer in this process, and reports what it finds wrong.
#include "vulkan_layer.h"

#include <dlfcn.h>

#include "error.h"
#include "loaded.h"

// NULL until the layer is found.
static const struct dm_vulkan_layer *found;

static void report_long_wait(const char *text)
{
    em_mistake(S05, CUDA_SUCCESS, "%s", text);
}

void em_vulkan_layer_find(void)
{
    em_assert_unlocked();
    static unsigned long long looked;
    unsigned long long loaded =
        __atomic_load_n(&found, __ATOMIC_ACQUIRE) ? 0 : em_libraries_loaded();
    if (!loaded || __atomic_exchange_n(&looked, loaded, __ATOMIC_RELAXED) == loaded)
        return;
    // The library is never closed, so that it stays loaded from now on.
    void *library = dlopen(DM_VULKAN_LAYER_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    void *(*get)(void *, const char *) =
        library
            ? (void *(*)(void *, const char *))(uintptr_t)dlsym(library, "vkGetInstanceProcAddr")
            : NULL;
    dm_vulkan_layer_proc proc =
        get ? (dm_vulkan_layer_proc)(uintptr_t)get(NULL, DM_VULKAN_LAYER_PROC) : NULL;
    const struct dm_vulkan_layer *l = proc ? proc() : NULL;
    if (!l || l->version != 2)
        return;
    l->report_with(report_long_wait);
    __atomic_store_n(&found, l, __ATOMIC_RELEASE);
}

const struct dm_vulkan_layer *em_vulkan_layer(void)
{
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}
