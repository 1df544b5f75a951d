// SPDX-License-Identifier: MIT
// Mistakes on the Vulkan side of a program (I02, I04 to I07, I11, M06, M07, M13), and some on
// CUDA's side with Vulkan's own memory (M01, B05). Each has a correct twin.
#include "vulkan_memory.h"

// ---- memory

static void import_image_memory(bool dedicated, unsigned flags, uint64_t less)
{
    open_both();
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 7);
    VkMemoryRequirements needs;
    VkImage image = vk_image(&info, &needs);
    VkDeviceMemory memory =
        vk_allocate((struct vk_allocation){.size = needs.size,
                                           .type = vk_memory_type(needs.memoryTypeBits, 0, 0),
                                           .image = dedicated ? image : VK_NULL_HANDLE,
                                           .exportable = true});
    import(vk_fd(memory), needs.size - less, flags);
}

TEST(m06_dedicated_without_flag)
{
    import_image_memory(true, 0, 0);
    EXPECT_DIAGNOSTIC(M06);
}

TEST(m06_flag_without_dedicated)
{
    import_image_memory(false, CUDA_EXTERNAL_MEMORY_DEDICATED, 0);
    EXPECT_DIAGNOSTIC(M06);
}

TEST(m06_twin)
{
    import_image_memory(true, CUDA_EXTERNAL_MEMORY_DEDICATED, 0);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m06_twin_shared_memory)
{
    import_image_memory(false, 0, 0);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m07_a_few_bytes)
{
    import_image_memory(true, CUDA_EXTERNAL_MEMORY_DEDICATED, 64);
    EXPECT_DIAGNOSTIC(M07);
}

TEST(m13_memory_not_declared)
{
    open_both();
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){.size = 65536, .type = 0});
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory,
                                 .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    if (!vk.get_memory_fd(vk.device, &info, &fd) && fd >= 0)
        SKIP("this driver exports memory that was not declared");
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, 65536);
    CUexternalMemory m;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(M13);
}

// ---- images: the twin of all of them first

TEST(images_twin)
{
    VkImageCreateInfo info = vk_image_info(200, 100, 3, 8);
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    struct shared s = share(&info);
    EXPECT_OK(try_image(s.cuda, image(200, 100, 3,
                                      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_COLOR_ATTACHMENT |
                                          CUDA_ARRAY3D_SURFACE_LDST,
                                      8)));
    EXPECT_OK(cuDestroyExternalMemory(s.cuda));
    vkDestroyImage(vk.device, s.image, NULL);
    vkFreeMemory(vk.device, s.memory, NULL);
    vk_close();
    EXPECT_NO_DIAGNOSTIC();
}

// The descriptions of one image that Vulkan and CUDA receive. If a field is 0, both sides use the
// default: 64x64 RGBA8, one layer, one level.
struct descriptions {
    // Vulkan
    uint32_t layers, levels;
    VkFormat format;
    VkImageTiling tiling;
    VkImageUsageFlags usage, more_usage; // instead of the default usage, and in addition to it
    bool undeclared;                     // without VkExternalMemoryImageCreateInfo
    // CUDA
    unsigned height, depth, flags, cuda_levels;
    CUarray_format cuda_format;
};

static void map_described(struct descriptions t)
{
    VkImageCreateInfo info =
        vk_image_info(64, 64, t.layers ? t.layers : 1, t.levels ? t.levels : 1);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d =
        image(64, t.height ? t.height : 64, t.depth, t.flags, t.cuda_levels ? t.cuda_levels : 1);
    info.tiling = t.tiling;
    info.usage = (t.usage ? t.usage : info.usage) | t.more_usage;
    if (t.format)
        info.format = t.format;
    if (t.undeclared)
        info.pNext = NULL;
    if (t.cuda_format)
        d.arrayDesc.Format = t.cuda_format;
    EXPECT_OK(try_image(share(&info).cuda, d));
}

// Maps the image, and expects the diagnostics `reported`, or no diagnostics if it is "".
#define IMAGE_TEST(name, reported, ...)                                                            \
    TEST(name)                                                                                     \
    {                                                                                              \
        map_described((struct descriptions){__VA_ARGS__});                                         \
        EXPECT_STR(test_reported(), reported);                                                     \
    }
#define SAMPLED (VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT)
IMAGE_TEST(m13_image_not_declared, "M13", .undeclared = true)
IMAGE_TEST(i02_layers_forgotten, "I02", .layers = 4)
IMAGE_TEST(i02_layers_as_slices, "I02", .layers = 4, .depth = 4)
IMAGE_TEST(i05_fewer_levels, "I05", .levels = 7, .cuda_levels = 6)
IMAGE_TEST(i06_texels_of_another_size, "I06", .format = VK_FORMAT_R16G16B16A16_SFLOAT)
IMAGE_TEST(i06_twin, "", .format = VK_FORMAT_R16G16B16A16_SFLOAT, .cuda_format = CU_AD_FORMAT_HALF)
IMAGE_TEST(i07_surfaces_without_storage, "I07", .usage = SAMPLED,
           .flags = CUDA_ARRAY3D_SURFACE_LDST)
IMAGE_TEST(i07_twin_without_surfaces, "", .usage = SAMPLED)
IMAGE_TEST(i11_another_extent, "I11", .height = 32)

TEST(i04_color_target_without_flag)
{
    // [I04 wrong]
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    struct shared s = share(&info);
    EXPECT_OK(try_image(s.cuda, image(64, 64, 0, 0, 1)));
    // [end]
    EXPECT_DIAGNOSTIC(I04);
}

TEST(i04_twin)
{
    // [I04 right]
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    struct shared s = share(&info);
    EXPECT_OK(try_image(s.cuda, image(64, 64, 0, CUDA_ARRAY3D_COLOR_ATTACHMENT, 1)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i07_linear)
{
    // [I07 wrong]
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    struct shared s = share(&info);
    EXPECT_OK(try_image(s.cuda, image(64, 64, 0, 0, 1)));
    // [end]
    EXPECT_DIAGNOSTIC(I07);
}

TEST(i07_twin)
{
    // [I07 right]
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    struct shared s = share(&info);
    EXPECT_OK(try_image(s.cuda, image(64, 64, 0, CUDA_ARRAY3D_SURFACE_LDST, 1)));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// Two images in one allocation. The second one is mapped `wrong_by` bytes past the offset that it
// is bound at.
static void two_images(uint64_t wrong_by)
{
    open_both();
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    VkMemoryRequirements needs;
    VkImage first = vk_image(&info, &needs), second = vk_image(&info, &needs);
    uint64_t at = (needs.size + 65535) & ~UINT64_C(65535);
    VkDeviceMemory memory =
        vk_allocate((struct vk_allocation){.size = at + needs.size + 65536,
                                           .type = vk_memory_type(needs.memoryTypeBits, 0, 0),
                                           .exportable = true});
    VkBindImageMemoryInfo binds[2] = {
        {.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, .image = first, .memory = memory},
        {.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
         .image = second,
         .memory = memory,
         .memoryOffset = at},
    };
    // The memory is exported before anything is bound: the record is updated later.
    CUexternalMemory m = import(vk_fd(memory), at + needs.size + 65536, 0);
    VK(vkBindImageMemory2(vk.device, 2, binds));
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    EXPECT_OK(try_image(m, d));
    d.offset = at + wrong_by;
    EXPECT_OK(try_image(m, d));
}

TEST(i11_offset_without_an_image)
{
    two_images(4096);
    EXPECT_DIAGNOSTIC(I11);
}

TEST(i11_twin)
{
    two_images(0);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(i11_memory_of_a_buffer)
{
    uint64_t size;
    open_both();
    VkDeviceMemory memory = buffer_memory(0, 0, &size);
    EXPECT_OK(try_image(import(vk_fd(memory), size, 0), image(64, 64, 0, 0, 1)));
    EXPECT_DIAGNOSTIC(I11);
}

// After an image is destroyed, the driver should know nothing about it, and should report nothing.
TEST(destroyed_image)
{
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    struct shared s = share(&info);
    vkDestroyImage(vk.device, s.image, NULL);
    EXPECT_OK(try_image(s.cuda, image(64, 64, 0, 0, 1)));
    EXPECT_NO_DIAGNOSTIC();
}

// ---- CUDA's side, with Vulkan's memory

TEST(m01_closed_after_import)
{
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    VkImage made;
    uint64_t size;
    open_both();
    VkDeviceMemory memory = image_memory(&info, &made, &size);
    int fd = vk_fd(memory);
    CUexternalMemory m = import(fd, size, CUDA_EXTERNAL_MEMORY_DEDICATED);
    close(fd);
    int reused = vk_fd(memory), other = dup(STDERR_FILENO); // one of them reuses the number
    EXPECT_OK(try_image(m, image(64, 64, 0, 0, 1)));
    EXPECT(other >= 0);
    EXPECT_OK(cuDestroyExternalMemory(m));
    // If the same file is opened again under the same number, the driver cannot detect it. If
    // another file is opened, it can.
    if (reused != fd)
        EXPECT_DIAGNOSTIC(M01);
}

TEST(m01_number_reused)
{
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    VkImage made;
    uint64_t size;
    open_both();
    VkDeviceMemory memory = image_memory(&info, &made, &size);
    int fd = vk_fd(memory);
    CUexternalMemory m = import(fd, size, CUDA_EXTERNAL_MEMORY_DEDICATED);
    close(fd);
    EXPECT_EQ(dup2(STDERR_FILENO, fd), fd); // the program opens another file
    EXPECT_OK(try_image(m, image(64, 64, 0, 0, 1)));
    EXPECT_DIAGNOSTIC(M01);
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT(fcntl(fd, F_GETFD) >= 0); // it belongs to the program
}

static void alias_of_vulkan_memory(bool order)
{
    uint64_t size;
    unsigned char back[16];
    open_both();
    VkDeviceMemory memory = buffer_memory(0, 0, &size);
    CUexternalMemory m = import(vk_fd(memory), size, 0);
    CUdeviceptr a = map_buffer(m, 0, BUFFER_B), b = map_buffer(m, 4096, BUFFER_B - 4096);
    MUST(cuMemsetD8(a, 9, BUFFER_B));
    if (order)
        MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(back, b, sizeof back));
    EXPECT_EQ(back[0], 9);
}

TEST(b05_vulkan_memory)
{
    alias_of_vulkan_memory(false);
    EXPECT_DIAGNOSTIC(B05);
}

TEST(b05_vulkan_memory_twin)
{
    alias_of_vulkan_memory(true);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- another process, and records with false contents

static void produce(int socket)
{
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    VkImage made;
    uint64_t size;
    char byte;
    info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    vk_open();
    VkDeviceMemory memory = image_memory(&info, &made, &size);
    exit(!send_fd(socket, vk_fd(memory), &size, sizeof size) ||
         read(socket, &byte, 1) < 0); // until the other process has ended
}

static void image_of_another_process(unsigned flags)
{
    int ends[2];
    uint64_t size = 0;
    vk_need_layer();
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    if (!fork()) {
        close(ends[0]);
        produce(ends[1]);
    }
    close(ends[1]);
    int fd = receive_fd(ends[0], &size, sizeof size);
    if (fd < 0)
        SKIP("the exporting process has no Vulkan");
    test_context();
    EXPECT_OK(
        try_image(import(fd, size, CUDA_EXTERNAL_MEMORY_DEDICATED), image(64, 64, 0, flags, 1)));
    close(ends[0]);
}

TEST(i04_of_another_process)
{
    image_of_another_process(0);
    EXPECT_DIAGNOSTIC(I04);
}

TEST(i04_of_another_process_twin)
{
    image_of_another_process(CUDA_ARRAY3D_COLOR_ATTACHMENT);
    EXPECT_NO_DIAGNOSTIC();
}

// Random bytes instead of a record: if the record makes no sense, calls should proceed without it.
TEST(hostile_records)
{
    struct dm_vulkan_facts facts;
    struct dm_import_info info;
    unsigned seed = 1;
    test_setting("CARDLESS_REPORT", "1");
    EXPECT(freopen("/dev/null", "w", stderr));
    test_context();
    for (int i = 0; i < 300; i++) {
        int fd = mesa_memfd(65536);
        unsigned char *bytes = (unsigned char *)&facts;
        for (size_t b = 0; b < sizeof facts; b++)
            bytes[b] = i % 3 ? (unsigned char)rand_r(&seed) : 0xff;
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        facts.resource_count = (uint32_t)i % (DM_VULKAN_RESOURCES_MOST + 1);
        for (int r = 0; r < DM_VULKAN_RESOURCES_MOST && i % 2;
             r++) { // otherwise the record makes no sense, and is ignored
            facts.resource[r].kind = DM_VULKAN_IMAGE + r % 2;
            facts.resource[r].dimensions = (uint16_t)(1 + r % 3);
            facts.resource[r].format_name[0] = 0;
        }
        facts.resource[0].offset = 0;
        EXPECT_EQ(dm_vulkan_facts_write(fd, &info, &facts), 0);
        if (i % 5 == 4)
            EXPECT_EQ(pwrite(fd, "x", 1, DM_VULKAN_FACTS_AT + 100), 1);
        CUexternalMemory m = import(fd, 65536, 0);
        EXPECT_OK(try_image(m, image(64, 64, 0, CUDA_ARRAY3D_SURFACE_LDST, 1)));
        EXPECT_OK(cuMemFree(map_buffer(m, 0, 65536)));
        EXPECT_OK(cuDestroyExternalMemory(m));
    }
}

TESTS(CASE(m06_dedicated_without_flag), CASE(m06_flag_without_dedicated), CASE(m06_twin),
      CASE(m06_twin_shared_memory), CASE(m07_a_few_bytes), CASE(m13_memory_not_declared),
      CASE(m13_image_not_declared), CASE(images_twin), CASE(i02_layers_forgotten),
      CASE(i02_layers_as_slices), CASE(i04_color_target_without_flag), CASE(i04_twin),
      CASE(i05_fewer_levels), CASE(i06_texels_of_another_size), CASE(i06_twin), CASE(i07_linear),
      CASE(i07_twin), CASE(i07_surfaces_without_storage), CASE(i07_twin_without_surfaces),
      CASE(i11_offset_without_an_image), CASE(i11_twin), CASE(i11_another_extent),
      CASE(i11_memory_of_a_buffer), CASE(destroyed_image), CASE(m01_closed_after_import),
      CASE(m01_number_reused), CASE(b05_vulkan_memory), CASE(b05_vulkan_memory_twin),
      CASE(i04_of_another_process), CASE(i04_of_another_process_twin), CASE(hostile_records))
