// SPDX-License-Identifier: MIT
// Minimal Vulkan: allocate exportable device-local memory and hand out its opaque fd.
#include <vulkan/vulkan.h>
static VkDevice vkd;
static VkPhysicalDevice vkp;
static uint32_t vk_memtype;
static int vk_ok;
static int vk_start(void)
{
    VkApplicationInfo ai = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                            .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo ici = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &ai};
    VkInstance in;
    VkResult r = vkCreateInstance(&ici, 0, &in);
    if (r) {
        LINE("vkCreateInstance %d", r);
        return -1;
    }
    uint32_t n = 8;
    VkPhysicalDevice pd[8];
    r = vkEnumeratePhysicalDevices(in, &n, pd);
    if (r || !n) {
        LINE("vkEnum %d n %u", r, n);
        return -1;
    }
    vkp = pd[0];
    VkPhysicalDeviceProperties pp;
    vkGetPhysicalDeviceProperties(vkp, &pp);
    LINE("vk device %s", pp.deviceName);
    const char *ex[] = {"VK_KHR_external_memory", "VK_KHR_external_memory_fd",
                        "VK_KHR_external_semaphore", "VK_KHR_external_semaphore_fd"};
    float pr = 1;
    VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                 .queueFamilyIndex = 0,
                                 .queueCount = 1,
                                 .pQueuePriorities = &pr};
    VkDeviceCreateInfo dc = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &q,
                             .enabledExtensionCount = 4,
                             .ppEnabledExtensionNames = ex};
    r = vkCreateDevice(vkp, &dc, 0, &vkd);
    if (r) {
        LINE("vkCreateDevice %d", r);
        return -1;
    }
    VkPhysicalDeviceMemoryProperties mp;
    vkGetPhysicalDeviceMemoryProperties(vkp, &mp);
    vk_memtype = ~0u;
    for (uint32_t i = 0; i < mp.memoryTypeCount; i++)
        if (mp.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) {
            vk_memtype = i;
            break;
        }
    vk_ok = 1;
    return 0;
}
static int vk_mem_fd(size_t size)
{
    VkExportMemoryAllocateInfo e = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                    .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo ma = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                               .pNext = &e,
                               .allocationSize = size,
                               .memoryTypeIndex = vk_memtype};
    VkDeviceMemory m;
    VkResult r = vkAllocateMemory(vkd, &ma, 0, &m);
    if (r) {
        LINE("vkAllocateMemory %d", r);
        return -1;
    }
    PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(vkd, "vkGetMemoryFdKHR");
    VkMemoryGetFdInfoKHR gi = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                               .memory = m,
                               .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    r = get(vkd, &gi, &fd);
    if (r) {
        LINE("vkGetMemoryFd %d", r);
        return -1;
    }
    return fd;
}
