// SPDX-License-Identifier: MIT
// The Vulkan layer: a program gets the same results from Vulkan as without it, and the records in
// exported files are correct, for all forms of the calls and any number of threads.
#include "../vulkan.h"

#include <pthread.h>

#include "import.h"
#include "vulkan_facts.h"

// From AddressSanitizer's library: if a case does not free the driver's memory for its objects on
// purpose, that is not a leak.
void __lsan_disable(void) __attribute__((weak));
static void keeps_objects_alive(void)
{
    if (__lsan_disable)
        __lsan_disable();
}

static bool facts_of(int fd, struct dm_vulkan_facts *facts)
{
    struct dm_import_info info;
    bool good = !dm_import_recognise(fd, &info) && !dm_vulkan_facts_read(fd, &info, facts);
    close(fd);
    return good;
}

TEST(missing_functions)
{
    vk_need_layer();
    vk_open();
    EXPECT(!vkGetDeviceProcAddr(vk.device, "vkNoSuchFunction"));
    EXPECT(!vkGetInstanceProcAddr(vk.instance, "vkNoSuchFunction"));
    EXPECT(!vkGetInstanceProcAddr(NULL, "vkCreateDevice"));
    // VK_KHR_external_memory_fd is the only enabled extension.
    EXPECT(vkGetDeviceProcAddr(vk.device, "vkGetMemoryFdKHR"));
    EXPECT(!vkGetDeviceProcAddr(vk.device, "vkCreateSwapchainKHR"));
    EXPECT(!vkGetDeviceProcAddr(vk.device, "vkGetMemoryHostPointerPropertiesEXT"));
    EXPECT(vkGetDeviceProcAddr(vk.device, "vkCmdDispatch"));
    vk_close();
}

TEST(record_follows)
{
    vk_need_layer();
    vk_open();
    struct dm_vulkan_facts facts;
    VkImageCreateInfo info = vk_image_info(100, 50, 3, 7);
    VkMemoryRequirements image_needs, buffer_needs;
    VkImage image = vk_image(&info, &image_needs);
    VkBuffer buffer = vk_buffer(1000, true, &buffer_needs);
    uint64_t at = (image_needs.size + 4095) & ~UINT64_C(4095);
    VkDeviceMemory memory =
        vk_allocate((struct vk_allocation){.size = at + 4096,
                                           .type = vk_memory_type(image_needs.memoryTypeBits, 0, 0),
                                           .exportable = true});
    EXPECT(facts_of(vk_fd(memory), &facts));
    EXPECT_EQ(facts.resource_count, 0);
    EXPECT_EQ(facts.size, at + 4096);
    EXPECT_EQ(facts.memory, (uint64_t)memory);
    EXPECT_EQ(facts.flags & DM_VULKAN_DEDICATED, 0);
    int fd = vk_fd(memory);
    VK(vkBindBufferMemory(vk.device, buffer, memory, at));
    VK(vkBindImageMemory(vk.device, image, memory, 0));
    EXPECT(facts_of(fd, &facts));
    EXPECT_EQ(facts.resource_count, 2);
    const struct dm_vulkan_resource *r = facts.resource; // images come first
    EXPECT_EQ(r[0].kind, DM_VULKAN_IMAGE);
    EXPECT_EQ(r[0].handle, (uint64_t)image);
    EXPECT_EQ(r[0].dimensions, 2);
    EXPECT_EQ(r[0].width, 100);
    EXPECT_EQ(r[0].height, 50);
    EXPECT_EQ(r[0].layers, 3);
    EXPECT_EQ(r[0].levels, 7);
    EXPECT_EQ(r[0].element_B, 4);
    EXPECT_EQ(r[0].flags, DM_VULKAN_STORAGE | DM_VULKAN_EXTERNAL_OPAQUE_FD);
    EXPECT_STR(r[0].format_name, "R8G8B8A8_UNORM");
    EXPECT_EQ(r[1].kind, DM_VULKAN_BUFFER);
    EXPECT_EQ(r[1].offset, at);
    EXPECT_EQ(r[1].size, 1000);
    vkDestroyImage(vk.device, image, NULL);
    EXPECT(facts_of(vk_fd(memory), &facts));
    EXPECT_EQ(facts.resource_count, 1);
    vkFreeMemory(vk.device, memory, NULL); // before the buffer that is bound to it
    vkDestroyBuffer(vk.device, buffer, NULL);
    vk_close();
}

TEST(more_resources_than_fit)
{
    keeps_objects_alive();
    vk_need_layer();
    vk_open();
    struct dm_vulkan_facts facts;
    VkMemoryRequirements needs;
    VkBuffer buffers[DM_VULKAN_RESOURCES_MOST + 6];
    const int count = sizeof buffers / sizeof *buffers;
    for (int i = 0; i < count; i++)
        buffers[i] = vk_buffer(256, true, &needs);
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){
        .size = 1 << 20, .type = vk_memory_type(needs.memoryTypeBits, 0, 0), .exportable = true});
    for (int i = 0; i < count; i++)
        VK(vkBindBufferMemory(vk.device, buffers[i], memory, (VkDeviceSize)i * 4096));
    EXPECT(facts_of(vk_fd(memory), &facts));
    EXPECT_EQ(facts.resource_count, DM_VULKAN_RESOURCES_MOST);
    EXPECT(facts.flags & DM_VULKAN_MORE_RESOURCES);
    vk_close(); // with all objects still alive
}

// The exporter of memory describes it, not a program that imports it into Vulkan.
TEST(imported_memory_keeps_its_record)
{
    keeps_objects_alive();
    vk_need_layer();
    vk_open();
    struct dm_vulkan_facts facts;
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){.size = 65536, .exportable = true}),
                   again;
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .handleTypes =
                                             VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                      .pNext = &export,
                                      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                      .fd = vk_fd(memory)};
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &import, .allocationSize = 65536};
    VK(vkAllocateMemory(vk.device, &info, NULL, &again));
    EXPECT(facts_of(vk_fd(again), &facts));
    EXPECT_EQ(facts.memory, (uint64_t)memory);
    vk_close();
}

TEST(instances_come_and_go)
{
    keeps_objects_alive();
    vk_need_layer();
    for (int i = 0; i < 4; i++) {
        struct dm_vulkan_facts facts;
        vk.physical = VK_NULL_HANDLE;
        vk_open();
        VkDeviceMemory memory =
            vk_allocate((struct vk_allocation){.size = 65536, .exportable = true});
        EXPECT(facts_of(vk_fd(memory), &facts));
        EXPECT_EQ(facts.resource_count, 0);
        vk_close(); // the memory is not freed: the next device at the same address must not find it
    }
}

static void *make_and_drop(void *arg)
{
    for (int i = 0; i < 50; i++) {
        struct dm_vulkan_facts facts;
        VkImageCreateInfo info = vk_image_info(16 + (uint32_t)i, 16, 1, 1);
        VkMemoryRequirements needs;
        VkImage image = vk_image(&info, &needs);
        VkDeviceMemory memory = vk_allocate(
            (struct vk_allocation){.size = needs.size, .image = image, .exportable = true});
        VK(vkBindImageMemory(vk.device, image, memory, 0));
        EXPECT(facts_of(vk_fd(memory), &facts));
        EXPECT_EQ(facts.resource[0].width, 16 + i);
        EXPECT_EQ(facts.resource[0].handle, (uint64_t)image);
        vkDestroyImage(vk.device, image, NULL);
        vkFreeMemory(vk.device, memory, NULL);
    }
    return arg;
}

TEST(threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    vk_need_layer();
    vk_open();
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, make_and_drop, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    vk_close();
}

// Every memory type appears twice, and each allocation gets the driver's own type.
TEST(noncoherent_types)
{
    keeps_objects_alive();
    test_setting("CARDLESS_VULKAN_MEMORY", "noncoherent");
    vk_need_layer();
    vk_open();
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties2 again = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    vkGetPhysicalDeviceMemoryProperties2(vk.physical, &again);
    EXPECT_EQ(again.memoryProperties.memoryTypeCount, vk.memory.memoryTypeCount);
    EXPECT_EQ(vk.memory.memoryTypeCount % 2, 0);
    uint32_t half = vk.memory.memoryTypeCount / 2;
    vk_buffer(256, true, &needs);
    for (uint32_t i = 0; i < half; i++) {
        VkMemoryPropertyFlags first = vk.memory.memoryTypes[i].propertyFlags,
                              second = vk.memory.memoryTypes[half + i].propertyFlags;
        EXPECT(!(first & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT));
        EXPECT_EQ(first, second & ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        EXPECT_EQ(needs.memoryTypeBits >> i & 1, needs.memoryTypeBits >> (half + i) & 1);
    }
    // A part of a mapping, partly flushed, with the promised alignment.
    unsigned char *bytes, *all;
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){
        .size = 65536,
        .type = vk_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT),
        .exportable = true});
    VK(vkMapMemory(vk.device, memory, 640, 10000, 0, (void **)&bytes));
    EXPECT_EQ(((uintptr_t)bytes - 640) % 64, 0);
    memset(bytes, 1, 10000);
    VkMappedMemoryRange range = {.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                 .memory = memory,
                                 .offset = 640,
                                 .size = 128};
    VK(vkFlushMappedMemoryRanges(vk.device, 1, &range));
    vkUnmapMemory(vk.device, memory);
    VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&all));
    EXPECT_EQ(all[639], 0);
    EXPECT_EQ(all[640], 1);
    EXPECT_EQ(all[767], 1);
    EXPECT_EQ(all[768], 0);                // was never flushed
    vkFreeMemory(vk.device, memory, NULL); // still mapped: vkFreeMemory unmaps it
    vk_close();
}

// ---- another vendor

TEST(as_nvidia)
{
    test_setting("CARDLESS_VULKAN_AS", "nvidia");
    vk_need_layer();
    vk_open();
    VkPhysicalDeviceVulkan12Properties core = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &core};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &driver};
    VkPhysicalDeviceProperties old;
    vkGetPhysicalDeviceProperties2(vk.physical, &all);
    vkGetPhysicalDeviceProperties(vk.physical, &old);
    EXPECT_EQ(all.properties.vendorID, 0x10de);
    EXPECT_EQ(old.vendorID, 0x10de);
    EXPECT_EQ(all.properties.deviceType, VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    EXPECT_EQ(old.deviceType, VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    EXPECT_EQ(driver.driverID, VK_DRIVER_ID_NVIDIA_PROPRIETARY);
    EXPECT_EQ(core.driverID, VK_DRIVER_ID_NVIDIA_PROPRIETARY);
    EXPECT_STR(driver.driverName, "llvmpipe");
    // libcuda still finds the software device, whose UUID the card has.
    CUuuid uuid;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGetUuid(&uuid, 0));
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    all.pNext = &id;
    vkGetPhysicalDeviceProperties2(vk.physical, &all);
    EXPECT_EQ(memcmp(&uuid, id.deviceUUID, sizeof uuid), 0);
    vk_close();
}

TEST(as_itself)
{
    vk_need_layer();
    vk_open();
    VkPhysicalDeviceProperties old;
    vkGetPhysicalDeviceProperties(vk.physical, &old);
    EXPECT(old.vendorID != 0x10de);
    EXPECT_EQ(old.deviceType, VK_PHYSICAL_DEVICE_TYPE_CPU);
    vk_close();
}

// ---- the record's format

static int memfd(uint64_t size)
{
    int fd = memfd_create("facts", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd, (off_t)size), 0);
    return fd;
}

TEST(record_in_an_attribute)
{
    struct dm_import_info info;
    struct dm_vulkan_facts facts, back;
    int fd = memfd(65536);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), -ENODATA);
    memset(&facts, 0, sizeof facts);
    facts.size = 12345;
    if (dm_vulkan_facts_write(fd, &info, &facts))
        SKIP("this kernel has no attributes on memfds");
    EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), 0);
    EXPECT_EQ(back.size, 12345);
}

TEST(invalid_records)
{
    static const struct {
        uint16_t kind, dimensions;
        const char *name;
        int status;
    } cases[] = {
        {DM_VULKAN_IMAGE, 2, "R8_UNORM", 0},
        {DM_VULKAN_IMAGE, 0, "R8_UNORM", -EBADMSG},
        {DM_VULKAN_IMAGE, 4, "R8_UNORM", -EBADMSG},
        {3, 2, "R8_UNORM", -EBADMSG},
        {DM_VULKAN_IMAGE, 2, "R8\x1b[2J", -EBADMSG},
        {DM_VULKAN_IMAGE, 2, "%n%s", -EBADMSG},
        {DM_VULKAN_BUFFER, 0, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dm_import_info info = {.kind = DM_FD_MESA, .payload = 4096};
        struct dm_vulkan_facts facts, back;
        int fd = memfd(8192);
        memset(&facts, 0, sizeof facts);
        facts.resource_count = 1;
        facts.resource[0].kind = cases[i].kind;
        facts.resource[0].dimensions = cases[i].dimensions;
        strcpy(facts.resource[0].format_name, cases[i].name);
        EXPECT_EQ(dm_vulkan_facts_write(fd, &info, &facts), 0);
        EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), cases[i].status);
        uint32_t count = DM_VULKAN_RESOURCES_MOST + 1, right = 1;
        const off_t count_at =
            DM_VULKAN_FACTS_AT + offsetof(struct dm_vulkan_facts, resource_count);
        EXPECT_EQ(pwrite(fd, &count, sizeof count, count_at), sizeof count);
        EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), -EBADMSG);
        EXPECT_EQ(pwrite(fd, &right, sizeof right, count_at), sizeof right);
        EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), cases[i].status);
        facts.resource_count = count;
        EXPECT_EQ(dm_vulkan_facts_write(fd, &info, &facts), -EINVAL);
        EXPECT_EQ(pwrite(fd, "\xff", 1, DM_VULKAN_FACTS_AT + 60), 1);
        EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), -EBADMSG);
        EXPECT_EQ(ftruncate(fd, 1000), 0);
        EXPECT_EQ(dm_vulkan_facts_read(fd, &info, &back), -ENODATA);
        facts.resource_count = right;
        info.payload = 32; // no space before the payload
        EXPECT_EQ(dm_vulkan_facts_write(fd, &info, &facts), -ENOTSUP);
        close(fd);
    }
}

TESTS(CASE(missing_functions), CASE(record_follows), CASE(more_resources_than_fit),
      CASE(imported_memory_keeps_its_record), CASE(instances_come_and_go), CASE(threads),
      CASE(noncoherent_types), CASE(as_nvidia), CASE(as_itself), CASE(record_in_an_attribute),
      CASE(invalid_records))
