// SPDX-License-Identifier: MIT
// Loads the Vulkan layer as Vulkan's loader does, on top of a driver that the test simulates.
#pragma once
#include <dlfcn.h>
#include <string.h>

#include "../device-model/expect.h"
#include "dispatch.h"

struct function {
    const char *name;
    PFN_vkVoidFunction function;
};
#define F(name, function)                                                                          \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)(function)                                                 \
    }

static inline PFN_vkVoidFunction find(const struct function *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            return list[i].function;
    return NULL;
}

static PFN_vkGetInstanceProcAddr layer_get;
static PFN_vkGetDeviceProcAddr layer_get_device;

// Loads the library that is the program's argument. Exits if there is none.
static inline void load_layer(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "usage: %s libVkLayer_cardless.so: %s\n", argv[0],
                argc > 1 ? dlerror() : "");
        exit(2);
    }
    layer_get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    layer_get_device = (PFN_vkGetDeviceProcAddr)dlsym(library, "vkGetDeviceProcAddr");
    EXPECT(layer_get && layer_get_device);
}

static inline VkInstance make_instance(PFN_vkGetInstanceProcAddr get)
{
    VkLayerInstanceLink next = {.pfnNextGetInstanceProcAddr = get};
    VkLayerInstanceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                      .function = VK_LAYER_LINK_INFO,
                                      .u.pLayerInfo = &next};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = &link};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)layer_get(NULL, "vkCreateInstance");
    VkInstance instance;
    EXPECT_EQ(create(&info, NULL, &instance), VK_SUCCESS);
    return instance;
}

// Enables two extensions, of which any may be NULL.
static inline VkDevice make_device_with(VkInstance instance, PFN_vkGetInstanceProcAddr get,
                                        PFN_vkGetDeviceProcAddr get_device, const char *first,
                                        const char *second)
{
    VkLayerDeviceLink next = {.pfnNextGetInstanceProcAddr = get,
                              .pfnNextGetDeviceProcAddr = get_device};
    VkLayerDeviceCreateInfo link = {.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                    .function = VK_LAYER_LINK_INFO,
                                    .u.pLayerInfo = &next};
    const char *const names[] = {first, second};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &link,
                               .enabledExtensionCount = (first != NULL) + (second != NULL),
                               .ppEnabledExtensionNames = first ? names : names + 1};
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)layer_get(instance, "vkCreateDevice");
    VkDevice device = VK_NULL_HANDLE;
    EXPECT_EQ(create((VkPhysicalDevice)instance, &info, NULL, &device), VK_SUCCESS);
    return device;
}

static inline VkDevice make_device(VkInstance instance, PFN_vkGetInstanceProcAddr get,
                                   PFN_vkGetDeviceProcAddr get_device, const char *extension)
{
    return make_device_with(instance, get, get_device, extension, NULL);
}

#define CALL(device, name) ((PFN_vk##name)layer_get_device(device, "vk" #name))
