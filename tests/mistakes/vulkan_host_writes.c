// SPDX-License-Identifier: MIT
// Host writes to Vulkan memory that is not coherent (B09), with CARDLESS_VULKAN_MEMORY=noncoherent.
// Each mistake has a correct twin.
#include "vulkan_memory.h"

// ---- host writes: CARDLESS_VULKAN_MEMORY=noncoherent

static unsigned char *mapped;

// A buffer in host-visible memory, coherent or not, that the host writes to; returns CUDA's pointer
// to it.
static CUdeviceptr host_memory(bool coherent, VkDeviceMemory *memory)
{
    uint64_t size;
    test_setting("CARDLESS_VULKAN_MEMORY", "noncoherent");
    open_both();
    VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                          is = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    *memory = buffer_memory(visible | (coherent ? is : 0), coherent ? 0 : is, &size);
    VK(vkMapMemory(vk.device, *memory, 0, VK_WHOLE_SIZE, 0, (void **)&mapped));
    memset(mapped + 1000, 0x5a, 100);
    return map_buffer(import(vk_fd(*memory), size, 0), 0, BUFFER_B);
}

static unsigned char read_one(CUdeviceptr p, uint64_t at)
{
    unsigned char back = 0;
    MUST(cuMemcpyDtoH(&back, p + at, 1));
    return back;
}

static VkMappedMemoryRange whole(VkDeviceMemory memory)
{
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = memory, .size = VK_WHOLE_SIZE};
}

TEST(b09_no_flush)
{
    VkDeviceMemory memory;
    // [B09 wrong]
    CUdeviceptr p = host_memory(false, &memory);
    EXPECT_EQ(read_one(p, 900), 0); // the program never wrote these bytes
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_EQ(read_one(p, 1000), 0); // stale, as with a card
    // [end]
    EXPECT_DIAGNOSTIC(B09);
}

TEST(b09_unmapped_without_flush)
{
    VkDeviceMemory memory;
    CUdeviceptr p = host_memory(false, &memory);
    vkUnmapMemory(vk.device, memory);
    EXPECT_EQ(read_one(p, 1000), 0);
    EXPECT_DIAGNOSTIC(B09);
}

TEST(b09_twin)
{
    VkDeviceMemory memory;
    // [B09 right]
    CUdeviceptr p = host_memory(false, &memory);
    VkMappedMemoryRange range = whole(memory);
    VK(vkFlushMappedMemoryRanges(vk.device, 1, &range));
    EXPECT_EQ(read_one(p, 1000), 0x5a);
    // [end]
    MUST(cuMemsetD8(p, 7, BUFFER_B));
    MUST(cuCtxSynchronize());
    EXPECT_EQ(mapped[1000], 0x5a); // not invalidated yet
    VK(vkInvalidateMappedMemoryRanges(vk.device, 1, &range));
    EXPECT_EQ(mapped[1000], 7);
    vkUnmapMemory(vk.device, memory);
    EXPECT_EQ(read_one(p, 1000), 7);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b09_twin_coherent)
{
    VkDeviceMemory memory;
    CUdeviceptr p = host_memory(true, &memory);
    EXPECT_EQ(read_one(p, 1000), 0x5a);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(b09_image)
{
    test_setting("CARDLESS_VULKAN_MEMORY", "noncoherent");
    VkImageCreateInfo info = vk_image_info(64, 64, 1, 1);
    struct shared s = share(&info);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    CUmipmappedArray mip;
    CUarray level;
    unsigned char back[256] = {1};
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, s.cuda, &d));
    MUST(cuMipmappedArrayGetLevel(&level, mip, 0));
    VK(vkMapMemory(vk.device, s.memory, 0, VK_WHOLE_SIZE, 0, (void **)&mapped));
    memset(mapped, 0x5a, 256); // the first row
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = level;
    c.srcY = 1;
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = back;
    c.WidthInBytes = 256;
    c.Height = 1;
    MUST(cuMemcpy2D(&c));
    EXPECT_NO_DIAGNOSTIC();
    c.srcY = 0;
    MUST(cuMemcpy2D(&c));
    EXPECT_EQ(back[0], 0);
    EXPECT_DIAGNOSTIC(B09);
}

TESTS(CASE(b09_no_flush), CASE(b09_unmapped_without_flush), CASE(b09_twin), CASE(b09_twin_coherent),
      CASE(b09_image))
