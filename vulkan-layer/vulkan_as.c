// SPDX-License-Identifier: MIT
// Presents software Vulkan as a card of NVIDIA's, if the user asks for it. Many programs offer CUDA
// only if Vulkan's device has NVIDIA's vendor number (ffmpeg), driver number or a discrete type.
// Names and versions stay true, so that a person sees which device it is.
#include "vulkan_as.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

enum { VENDOR_NVIDIA = 0x10de };

static pthread_once_t vulkan_as_once = PTHREAD_ONCE_INIT;
static bool as_nvidia;

static void read_setting(void)
{
    const char *value = secure_getenv("CARDLESS_VULKAN_AS");
    as_nvidia = value && !strcmp(value, "nvidia");
}

bool vl_as_nvidia(void)
{
    pthread_once(&vulkan_as_once, read_setting);
    return as_nvidia;
}

// Returns whether it was a software device. A real card is presented as it is. libcuda.so.1 asks
// the drivers, without layers, and gets the true answers.
static bool change_properties(VkPhysicalDeviceProperties *p)
{
    if (p->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU)
        return false;
    p->vendorID = VENDOR_NVIDIA;
    p->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    return true;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical,
                                                 VkPhysicalDeviceProperties *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    i->GetPhysicalDeviceProperties(physical, out);
    change_properties(out);
}
const PFN_vkGetPhysicalDeviceProperties vl_hook_GetPhysicalDeviceProperties = get_properties;

static VKAPI_ATTR void VKAPI_CALL get_properties_2(VkPhysicalDevice physical,
                                                   VkPhysicalDeviceProperties2 *out)
{
    struct vl_instance *i = vl_instance_of(physical);
    (i->GetPhysicalDeviceProperties2 ? i->GetPhysicalDeviceProperties2
                                     : i->GetPhysicalDeviceProperties2KHR)(physical, out);
    if (!change_properties(&out->properties))
        return;
    // Output structs, which the program owns.
    VkPhysicalDeviceDriverProperties *driver = (VkPhysicalDeviceDriverProperties *)vl_find(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    VkPhysicalDeviceVulkan12Properties *core = (VkPhysicalDeviceVulkan12Properties *)vl_find(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
    if (driver)
        driver->driverID = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    if (core)
        core->driverID = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}
const PFN_vkGetPhysicalDeviceProperties2 vl_hook_GetPhysicalDeviceProperties2 = get_properties_2;
const PFN_vkGetPhysicalDeviceProperties2KHR vl_hook_GetPhysicalDeviceProperties2KHR =
    get_properties_2;
