// SPDX-License-Identifier: MIT
// A Vulkan driver for test_vulkan_uuid.c, which copies it. The name of the copy says how it
// answers.
#include <dlfcn.h>
#include <string.h>

#include <vulkan/vk_icd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT int driver_instances[2]; // made, and alive

int driver_instances[2];
static uint32_t negotiated;
static VK_LOADER_DATA instance_data, device_data[2];

static bool is_named(const char *text)
{
    Dl_info info;
    return dladdr(&instance_data, &info) && strstr(strrchr(info.dli_fname, '/'), text);
}

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    negotiated = *version;
    return is_named("refuses") ? VK_ERROR_INCOMPATIBLE_DRIVER : VK_SUCCESS;
}

static VkResult create_instance(const VkInstanceCreateInfo *info,
                                const VkAllocationCallbacks *allocator, VkInstance *out)
{
    if (negotiated < 2 || allocator || info->sType != VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO ||
        info->pApplicationInfo->sType != VK_STRUCTURE_TYPE_APPLICATION_INFO ||
        info->pApplicationInfo->apiVersion < VK_API_VERSION_1_1 || info->enabledLayerCount ||
        info->enabledExtensionCount || is_named("fails"))
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    set_loader_magic_value(&instance_data);
    driver_instances[0]++;
    driver_instances[1]++;
    *out = (VkInstance)(void *)&instance_data;
    return VK_SUCCESS;
}

static void destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    (void)allocator;
    driver_instances[1] -= (void *)instance == &instance_data;
}

// Two devices, of which the second one is a software device, unless there is none.
static VkResult enumerate_devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *out)
{
    if ((void *)instance != &instance_data)
        return VK_ERROR_INITIALIZATION_FAILED;
    const uint32_t have = is_named("empty") ? 0 : 2;
    for (uint32_t i = 0; out && i < *count && i < have; i++) {
        set_loader_magic_value(&device_data[i]);
        out[i] = (VkPhysicalDevice)(void *)&device_data[i];
    }
    *count = have;
    return VK_SUCCESS;
}

static void get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    const bool second = (void *)device == &device_data[1];
    if (out->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2)
        return;
    memset(&out->properties, 0xee, sizeof out->properties); // all bytes of the struct are there
    out->properties.deviceType = second && !is_named("hardware")
                                     ? VK_PHYSICAL_DEVICE_TYPE_CPU
                                     : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    VkPhysicalDeviceIDProperties *id = out->pNext;
    if (!id || id->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)
        return;
    memset(id->deviceUUID, is_named("one") ? 1 : 2, sizeof id->deviceUUID);
    memset(id->driverUUID, 0xdd, sizeof id->driverUUID);
    memset(id->deviceLUID, 0xcc, sizeof id->deviceLUID);
    id->deviceNodeMask = 0xbbbbbbbb;
    id->deviceLUIDValid = VK_FALSE;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!strcmp(name, "vkCreateInstance"))
        return instance ? NULL : (PFN_vkVoidFunction)create_instance;
    if ((void *)instance != &instance_data)
        return NULL;
    if (!strcmp(name, "vkEnumeratePhysicalDevices"))
        return (PFN_vkVoidFunction)enumerate_devices;
    if (!strcmp(name, "vkGetPhysicalDeviceProperties2"))
        return (PFN_vkVoidFunction)get_properties;
    if (!strcmp(name, "vkDestroyInstance"))
        return (PFN_vkVoidFunction)destroy_instance;
    return NULL;
}
