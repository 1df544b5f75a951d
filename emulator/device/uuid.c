// SPDX-License-Identifier: MIT
// The UUIDs of devices. Card 0 gets its UUID from a Vulkan driver if the process can load one,
// which is never required.
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "config.h"
#include "device.h"
#include "hash.h"
#include "lock.h"
#include "mutex.h"
#include "vulkan_drivers.h"

// The part of Vulkan that this file needs, copied from the specification, so that building Cardless
// does not need the headers of Vulkan.
enum {
    VK_TYPE_APPLICATION_INFO = 0,
    VK_TYPE_INSTANCE_CREATE_INFO = 1,
    VK_TYPE_PROPERTIES_2 = 1000059001,
    VK_TYPE_ID_PROPERTIES = 1000071004
};
enum {
    VK_DEVICE_IS_CPU = 4,
    VK_INCOMPLETE_RESULT = 5,
    VK_VERSION_1_1 = 1 << 22 | 1 << 12,
    VK_LOADER_INTERFACE = 5, // between Vulkan's loader and drivers, which may choose a lower one
    DEVICES_ASKED = 16
};

struct vk_application_info {
    int type;
    const void *next;
    const char *application;
    uint32_t application_version;
    const char *engine;
    uint32_t engine_version, api_version;
};

struct vk_instance_info {
    int type;
    const void *next;
    uint32_t flags;
    const struct vk_application_info *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
};

struct vk_id_properties {
    int type;
    void *next;
    uint8_t device_uuid[16], driver_uuid[16], device_luid[8];
    uint32_t node_mask, luid_valid;
};

struct vk_properties {
    int type;
    void *next;
    uint32_t api_version, driver_version, vendor, device, device_type;
    char rest[2048]; // more than enough, because the whole struct of Vulkan has 824 bytes
};

typedef void (*vk_function)(void);
typedef vk_function (*vk_get_instance_proc)(void *instance, const char *name);
typedef int (*vk_negotiate)(uint32_t *version);
typedef int (*vk_create_instance)(const struct vk_instance_info *info, const void *allocator,
                                  void **instance);
typedef void (*vk_destroy_instance)(void *instance, const void *allocator);
typedef int (*vk_enumerate_devices)(void *instance, uint32_t *count, void **devices);
typedef void (*vk_get_properties_2)(void *device, struct vk_properties *out);

// Finds the software device's UUID among the devices of an instance.
static int find_uuid(vk_get_instance_proc get, void *instance, unsigned char out[16])
{
    vk_enumerate_devices enumerate =
        (vk_enumerate_devices)get(instance, "vkEnumeratePhysicalDevices");
    vk_get_properties_2 properties_of =
        (vk_get_properties_2)get(instance, "vkGetPhysicalDeviceProperties2");
    void *devices[DEVICES_ASKED];
    uint32_t count = DEVICES_ASKED;
    int r = enumerate && properties_of ? enumerate(instance, &count, devices) : -1;
    if (r && r != VK_INCOMPLETE_RESULT)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vk_id_properties id = {.type = VK_TYPE_ID_PROPERTIES};
        struct vk_properties properties = {.type = VK_TYPE_PROPERTIES_2, .next = &id};
        properties_of(devices[i], &properties);
        if (properties.device_type == VK_DEVICE_IS_CPU) {
            memcpy(out, id.device_uuid, 16);
            return 0;
        }
    }
    return -ENODEV;
}

// Returns the driver's vk_icdGetInstanceProcAddr, or NULL if the library is no driver.
static vk_get_instance_proc load_driver(const char *path)
{
    // The library is never closed, because drivers keep threads and thread keys that need its code,
    // and memory that LeakSanitizer finds through their global variables.
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    vk_get_instance_proc get =
        library ? (vk_get_instance_proc)(uintptr_t)dlsym(library, "vk_icdGetInstanceProcAddr")
                : NULL;
    if (!get)
        return NULL;
    static const char name[] = "vk_icdNegotiateLoaderICDInterfaceVersion";
    vk_negotiate negotiate = (vk_negotiate)(uintptr_t)dlsym(library, name);
    if (!negotiate)
        negotiate = (vk_negotiate)get(NULL, name);
    uint32_t version = VK_LOADER_INTERFACE;
    return negotiate && negotiate(&version) ? NULL : get;
}

static int ask_driver(const char *path, unsigned char out[16])
{
    void *instance = NULL;
    vk_get_instance_proc get = load_driver(path);
    vk_create_instance create = get ? (vk_create_instance)get(NULL, "vkCreateInstance") : NULL;
    struct vk_application_info application = {
        .type = VK_TYPE_APPLICATION_INFO, .application = "cardless", .api_version = VK_VERSION_1_1};
    struct vk_instance_info info = {.type = VK_TYPE_INSTANCE_CREATE_INFO,
                                    .application = &application};
    if (!create || create(&info, NULL, &instance))
        return -ENODEV;
    const int e = find_uuid(get, instance, out);
    vk_destroy_instance destroy = (vk_destroy_instance)get(instance, "vkDestroyInstance");
    if (destroy)
        destroy(instance, NULL);
    return e;
}

// Asks the drivers directly. Vulkan's loader holds a mutex while it calls dlopen: if a library's
// constructor, which runs with the dynamic loader's lock, came to Vulkan's loader as well, the two
// threads would deadlock. The last driver comes first, because Vulkan's loader lists the devices in
// that order.
int em_vulkan_uuid(unsigned char out[16])
{
    struct em_vulkan_drivers drivers;
    int e = -ENODEV;
    em_vulkan_drivers_find(&drivers);
    for (unsigned i = drivers.count; e && i; i--)
        e = ask_driver(drivers.library[i - 1], out);
    em_vulkan_drivers_free(&drivers);
    return e;
}

// Makes a UUID that depends only on the profile and the card, so it is the same on every
// machine. It is of version 8, "custom", of RFC 9562.
static void own_uuid(const struct em_device *device, unsigned char out[16])
{
    for (int half = 0; half < 2; half++) {
        uint64_t h = dm_hash(DM_HASH_START + (uint64_t)half, "cardless", 8);
        h = dm_hash(h, device->profile.id, strlen(device->profile.id));
        h = dm_hash(h, &device->card, sizeof device->card);
        memcpy(out + 8 * half, &h, 8);
    }
    out[6] = (unsigned char)((out[6] & 0x0f) | 0x80);
    out[8] = (unsigned char)((out[8] & 0x3f) | 0x80);
}

// The UUID of Vulkan's software device, once Vulkan was asked for it.
static struct {
    struct dm_mutex lock;
    bool asked, found;
    unsigned char uuid[16];
} vulkan = {.lock = DM_MUTEX_INITIALIZER(LEAF)};

static bool vulkan_was_asked(void)
{
    dm_mutex_lock(&vulkan.lock);
    const bool asked = vulkan.asked;
    dm_mutex_unlock(&vulkan.lock);
    return asked;
}

// Holds no lock while drivers are loaded, because another thread may hold the lock of the dynamic
// loader and be in a constructor that calls CUDA. If two threads ask at the same time, the first
// answer counts.
static void ask_vulkan(void)
{
    unsigned char uuid[16];
    if (vulkan_was_asked())
        return;
    const bool found = !em_vulkan_uuid(uuid);
    dm_mutex_lock(&vulkan.lock);
    if (!vulkan.asked && found)
        memcpy(vulkan.uuid, uuid, sizeof vulkan.uuid);
    vulkan.found = vulkan.asked ? vulkan.found : found;
    vulkan.asked = true;
    dm_mutex_unlock(&vulkan.lock);
}

// Returns false if Vulkan has no software device, or was not asked.
static bool vulkan_answer(unsigned char out[16])
{
    dm_mutex_lock(&vulkan.lock);
    const bool found = vulkan.found;
    if (found)
        memcpy(out, vulkan.uuid, sizeof vulkan.uuid);
    dm_mutex_unlock(&vulkan.lock);
    return found;
}

void em_device_uuid_find(void)
{
    em_assert_unlocked();
    if (!em_config()->have_uuid)
        ask_vulkan();
}

void em_device_uuid_found(const struct em_device *device, unsigned char out[16])
{
    if (!device->card && em_config()->have_uuid)
        memcpy(out, em_config()->uuid, sizeof vulkan.uuid);
    else if (device->card || !vulkan_answer(out))
        own_uuid(device, out);
}

void em_device_uuid(const struct em_device *device, unsigned char out[16])
{
    em_assert_unlocked();
    if (!device->card)
        em_device_uuid_find();
    em_device_uuid_found(device, out);
}
