// SPDX-License-Identifier: MIT
// The Vulkan layer on top of a driver that this test simulates. If the driver is simulated,
// functions of newer Vulkan versions (vkMapMemory2) and many objects can be tested with any real
// driver and any headers.
#include "fake_loader.h"

enum { MEMORY_B = 8192, MEMORIES = 3000, COHERENT = 1 };

// ---- the driver: each memory object has its bytes, and handles count from 1 in each device

struct fake_device {
    void *table; // the loader's dispatch table; the layer identifies the device by it
    unsigned char *memory[MEMORIES + 1];
    unsigned count, unmapped;
    bool has_core_names; // vkMapMemory2; otherwise vkMapMemory2KHR
};

static int instance_table, device_tables[2];
static struct fake_device fakes[2] = {{.table = &device_tables[0], .has_core_names = true},
                                      {.table = &device_tables[1]}};
static struct {
    void *table;
} fake_instance = {&instance_table};
static unsigned devices_made;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *out)
{
    (void)info, (void)allocator;
    *out = (VkInstance)&fake_instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    (void)instance, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    (void)physical, (void)info, (void)allocator;
    *out = (VkDevice)&fakes[devices_made++];
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *allocator)
{
    (void)device, (void)allocator;
}

static VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice physical,
                                                    VkPhysicalDeviceMemoryProperties *out)
{
    (void)physical;
    memset(out, 0, sizeof *out);
    out->memoryTypeCount = 1;
    out->memoryHeapCount = 1;
    out->memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDeviceMemory *out)
{
    struct fake_device *d = (struct fake_device *)device;
    (void)allocator;
    EXPECT_EQ(info->memoryTypeIndex, 0); // the driver has one type, whichever the program chose
    EXPECT(d->count < MEMORIES);
    d->memory[++d->count] = calloc(1, MEMORY_B);
    *out = (VkDeviceMemory)(uintptr_t)d->count;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    struct fake_device *d = (struct fake_device *)device;
    (void)allocator;
    free(d->memory[(uintptr_t)memory]);
    d->memory[(uintptr_t)memory] = NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **data)
{
    (void)size, (void)flags;
    *data = ((struct fake_device *)device)->memory[(uintptr_t)memory] + offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL map_2(VkDevice device, const VkMemoryMapInfoKHR *info,
                                            void **data)
{
    return map(device, info->memory, info->offset, info->size, 0, data);
}

static VKAPI_ATTR void VKAPI_CALL unmap(VkDevice device, VkDeviceMemory memory)
{
    (void)memory;
    ((struct fake_device *)device)->unmapped++;
}

static VKAPI_ATTR VkResult VKAPI_CALL unmap_2(VkDevice device, const VkMemoryUnmapInfoKHR *info)
{
    unmap(device, info->memory);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL ranges(VkDevice device, uint32_t count,
                                             const VkMappedMemoryRange *list)
{
    (void)device, (void)count, (void)list;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    const struct function always[] = {F(DestroyDevice, destroy_device),
                                      F(AllocateMemory, allocate),
                                      F(FreeMemory, free_memory),
                                      F(MapMemory, map),
                                      F(UnmapMemory, unmap),
                                      F(FlushMappedMemoryRanges, ranges),
                                      F(InvalidateMappedMemoryRanges, ranges)};
    const struct function core[] = {F(MapMemory2, map_2), F(UnmapMemory2, unmap_2)};
    const struct function khr[] = {F(MapMemory2KHR, map_2), F(UnmapMemory2KHR, unmap_2)};
    PFN_vkVoidFunction f = find(always, sizeof always / sizeof *always, name);
    if (f)
        return f;
    return ((struct fake_device *)device)->has_core_names ? find(core, 2, name)
                                                          : find(khr, 2, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance,
                                                                  const char *name)
{
    const struct function list[] = {
        F(CreateInstance, create_instance), F(DestroyInstance, destroy_instance),
        F(CreateDevice, create_device), F(GetPhysicalDeviceMemoryProperties, memory_properties)};
    (void)instance;
    return find(list, sizeof list / sizeof *list, name);
}

// ---- the program

static VkDeviceMemory make_memory(VkDevice device, uint32_t type)
{
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = MEMORY_B,
                                 .memoryTypeIndex = type};
    VkDeviceMemory memory;
    EXPECT_EQ(CALL(device, AllocateMemory)(device, &info, NULL, &memory), VK_SUCCESS);
    return memory;
}

static unsigned char *driver_bytes(VkDevice device, VkDeviceMemory memory)
{
    return ((struct fake_device *)device)->memory[(uintptr_t)memory];
}

static PFN_vkMapMemory2KHR map_function(VkDevice device)
{
    bool core = ((struct fake_device *)device)->has_core_names;
    // If the driver lacks a name, the layer does not return it.
    EXPECT(!layer_get_device(device, core ? "vkMapMemory2KHR" : "vkMapMemory2"));
    EXPECT(!layer_get_device(device, core ? "vkUnmapMemory2KHR" : "vkUnmapMemory2"));
    return core ? (PFN_vkMapMemory2KHR)CALL(device, MapMemory2) : CALL(device, MapMemory2KHR);
}

static void unmap_by_2(VkDevice device, VkDeviceMemory memory)
{
    VkMemoryUnmapInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_UNMAP_INFO_KHR,
                                 .memory = memory};
    PFN_vkUnmapMemory2KHR unmap_memory = ((struct fake_device *)device)->has_core_names
                                             ? (PFN_vkUnmapMemory2KHR)CALL(device, UnmapMemory2)
                                             : CALL(device, UnmapMemory2KHR);
    EXPECT_EQ(unmap_memory(device, &info), VK_SUCCESS);
}

static void flush(VkDevice device, VkDeviceMemory memory, uint64_t offset, uint64_t size)
{
    VkMappedMemoryRange range = {.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                 .memory = memory,
                                 .offset = offset,
                                 .size = size};
    EXPECT_EQ(CALL(device, FlushMappedMemoryRanges)(device, 1, &range), VK_SUCCESS);
}

// Host writes through vkMapMemory2 are held back until they are flushed, like those through
// vkMapMemory. Either function unmaps a mapping of the other.
static void check_map_2(VkDevice device)
{
    struct fake_device *fake = (struct fake_device *)device;
    VkDeviceMemory memory = make_memory(device, 0);
    unsigned char *bytes = driver_bytes(device, memory), *host;
    VkMemoryMapInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_MAP_INFO_KHR,
                               .memory = memory,
                               .offset = 256,
                               .size = VK_WHOLE_SIZE};
    unsigned unmapped = fake->unmapped;

    EXPECT_EQ(map_function(device)(device, &info, (void **)&host), VK_SUCCESS);
    EXPECT(host != bytes + 256);
    host[0] = host[4096] = 1;
    EXPECT_EQ(bytes[256], 0);
    flush(device, memory, 256, 64);
    EXPECT_EQ(bytes[256], 1);
    EXPECT_EQ(bytes[256 + 4096], 0);
    unmap_by_2(device, memory);
    EXPECT_EQ(bytes[256 + 4096], 0); // was never flushed
    EXPECT_EQ(fake->unmapped, unmapped + 1);

    EXPECT_EQ(CALL(device, MapMemory)(device, memory, 0, MEMORY_B, 0, (void **)&host), VK_SUCCESS);
    host[1] = 2;
    flush(device, memory, 0, VK_WHOLE_SIZE);
    unmap_by_2(device, memory);
    EXPECT_EQ(bytes[1], 2);
    EXPECT_EQ(map_function(device)(device, &info, (void **)&host), VK_SUCCESS);
    EXPECT(host != bytes + 256);
    CALL(device, UnmapMemory)(device, memory);

    // A placed mapping (VK_EXT_map_memory_placed) is the driver's, because the program chose its
    // address.
    info.flags = 1;
    EXPECT_EQ(map_function(device)(device, &info, (void **)&host), VK_SUCCESS);
    EXPECT(host == bytes + 256);
    unmap_by_2(device, memory);
    CALL(device, FreeMemory)(device, memory, NULL);

    // Coherent memory is not copied.
    memory = make_memory(device, COHERENT);
    info.memory = memory;
    info.flags = 0;
    EXPECT_EQ(map_function(device)(device, &info, (void **)&host), VK_SUCCESS);
    EXPECT(host == driver_bytes(device, memory) + 256);
    unmap_by_2(device, memory);
    CALL(device, FreeMemory)(device, memory, NULL);
}

// Handles are numbers that begin at 1 in both devices: the layer should not confuse them.
static void check_many(VkDevice a, VkDevice b)
{
    enum { COUNT = MEMORIES - 10 };
    unsigned char *host;

    for (unsigned i = 0; i < COUNT; i++) {
        VkDeviceMemory in_a = make_memory(a, i % 2), in_b = make_memory(b, !(i % 2));
        EXPECT_EQ((uintptr_t)in_a, (uintptr_t)in_b);
        if (i % 3 == 0)
            CALL(a, FreeMemory)(a, in_a, NULL);
    }
    for (uintptr_t number = fakes[0].count - COUNT + 1; number <= fakes[0].count; number++) {
        unsigned i = (unsigned)(number - (fakes[0].count - COUNT + 1));
        VkDeviceMemory memory = (VkDeviceMemory)number;
        EXPECT_EQ(CALL(b, MapMemory)(b, memory, 0, MEMORY_B, 0, (void **)&host), VK_SUCCESS);
        EXPECT_EQ(host != driver_bytes(b, memory), i % 2 == 1); // type 0 is the non-coherent one
        CALL(b, UnmapMemory)(b, memory);
        CALL(b, FreeMemory)(b, memory, NULL);
        if (i % 3 == 0)
            continue;
        EXPECT_EQ(CALL(a, MapMemory)(a, memory, 0, MEMORY_B, 0, (void **)&host), VK_SUCCESS);
        EXPECT_EQ(host != driver_bytes(a, memory), i % 2 == 0);
        CALL(a, UnmapMemory)(a, memory);
        CALL(a, FreeMemory)(a, memory, NULL);
    }
}

int main(int argc, char **argv)
{
    setenv("CARDLESS_VULKAN_MEMORY", "noncoherent", 1);
    load_layer(argc, argv);
    VkInstance instance = make_instance(get_instance_proc);
    VkDevice a = make_device(instance, get_instance_proc, get_device_proc, NULL),
             b = make_device(instance, get_instance_proc, get_device_proc, NULL);
    check_map_2(a);
    check_map_2(b);
    check_many(a, b);
    CALL(a, DestroyDevice)(a, NULL);
    CALL(b, DestroyDevice)(b, NULL);
    ((PFN_vkDestroyInstance)layer_get(instance, "vkDestroyInstance"))(instance, NULL);
    puts("the layer holds back host writes of both names");
    return 0;
}
