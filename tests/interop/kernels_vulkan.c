// SPDX-License-Identifier: MIT
// Kernels that use images of Vulkan (lavapipe): textures of every shape that Vulkan has drawn, and
// surfaces of mip levels that Vulkan samples afterwards.
#include "../mistakes/external.h"
#include "kernel_objects.h"
#include "vulkan_sample.h"

static const struct shape {
    struct sampled_shape sampled;
    VkImageType type;
    unsigned flags; // CUDA_ARRAY3D_*
} shapes[] = {
    {{"2d", 16, 8, 1, 4}, VK_IMAGE_TYPE_2D, 0},
    {{"2d", 37, 21, 1, 6}, VK_IMAGE_TYPE_2D, 0},
    {{"1d", 64, 1, 1, 3}, VK_IMAGE_TYPE_1D, 0},
    {{"a2d", 16, 8, 5, 3}, VK_IMAGE_TYPE_2D, CUDA_ARRAY3D_LAYERED},
    {{"3d", 16, 8, 4, 3}, VK_IMAGE_TYPE_3D, 0},
    {{"cube", 16, 16, 6, 5}, VK_IMAGE_TYPE_2D, CUDA_ARRAY3D_CUBEMAP},
};

// An image of Vulkan, and the array through which CUDA sees it.
struct shared_image {
    VkImageCreateInfo info;
    VkImage image;
    VkDeviceMemory memory;
    CUexternalMemory external;
    CUmipmappedArray array;
};

// At `offset` in its memory, or in memory of its own if the offset is 0.
static struct shared_image shared_image(const struct shape *s, uint64_t offset)
{
    const struct sampled_shape *p = &s->sampled;
    const bool slices = s->type == VK_IMAGE_TYPE_3D, plain = p->layers == 1;
    struct shared_image i = {
        .info = vk_image_info(p->width, p->height, slices ? 1 : p->layers, p->levels)};
    VkMemoryRequirements needs;
    i.info.imageType = s->type;
    i.info.extent.depth = slices ? p->layers : 1;
    i.info.flags = s->flags & CUDA_ARRAY3D_CUBEMAP ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    i.info.usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    i.image = vk_image(&i.info, &needs);
    i.memory = vk_allocate((struct vk_allocation){
        .size = offset + needs.size,
        .type = vk_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0),
        .image = offset ? VK_NULL_HANDLE : i.image,
        .exportable = true});
    EXPECT_EQ(offset % needs.alignment, 0);
    VK(vkBindImageMemory(vk.device, i.image, i.memory, offset));
    i.external =
        import(vk_fd(i.memory), offset + needs.size, offset ? 0 : CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d =
        image(p->width, s->type == VK_IMAGE_TYPE_1D ? 0 : p->height, plain ? 0 : p->layers,
              s->flags | CUDA_ARRAY3D_SURFACE_LDST, p->levels);
    d.offset = offset;
    MUST(cuExternalMemoryGetMappedMipmappedArray(&i.array, i.external, &d));
    return i;
}

static void shared_image_end(struct shared_image *i)
{
    EXPECT_OK(cuMipmappedArrayDestroy(i->array));
    EXPECT_OK(cuDestroyExternalMemory(i->external));
    vkDestroyImage(vk.device, i->image, NULL);
    vkFreeMemory(vk.device, i->memory, NULL);
}

// Vulkan fills all levels.
static void draw(const struct shared_image *i, const struct sampled_shape *s)
{
    static uint8_t texels[4 * POINTS_MAX];
    for (unsigned level = 0; level < s->levels; level++) {
        const uint64_t size_B = 4ull * extent_of_level(s->width, level) *
                                extent_of_level(s->height, level) * layers_of_level(s, level);
        fill_level(s, level, texels);
        vk_copy_level(i->image, &i->info, level, texels, size_B, true);
    }
}

static void start(void)
{
    vk_open();
    ptx_start();
}

static void end(void)
{
    vk_close();
    EXPECT_NO_DIAGNOSTIC();
}

TEST(kernel_samples_images)
{
    start();
    for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (uint64_t offset = 0; offset <= 65536; offset += 65536) {
            struct shared_image i = shared_image(&shapes[k], offset);
            draw(&i, &shapes[k].sampled);
            expect_all_texels(&shapes[k].sampled, i.array);
            shared_image_end(&i);
        }
    end();
}

TEST(kernel_filters_an_image)
{
    start();
    struct shared_image i = shared_image(&shapes[0], 0);
    draw(&i, &shapes[0].sampled);
    for (unsigned level = 0; level < shapes[0].sampled.levels; level++)
        expect_means(&shapes[0].sampled, i.array, level);
    shared_image_end(&i);
    end();
}

// Vulkan sees the kernel's texels in level 2, and the old ones in its neighbours.
TEST(vulkan_samples_what_a_kernel_wrote)
{
    enum { WRITTEN = 2, MARK = 7 };
    static uint8_t texels[4 * POINTS_MAX];
    static float got[POINTS_MAX][4];
    start();
    for (unsigned k = 0; k < 2; k++) {
        const struct sampled_shape *s = &shapes[k].sampled;
        struct shared_image image = shared_image(&shapes[k], 0);
        CUarray array;
        draw(&image, s);
        MUST(cuMipmappedArrayGetLevel(&array, image.array, WRITTEN));
        const unsigned w = extent_of_level(s->width, WRITTEN);
        const unsigned h = extent_of_level(s->height, WRITTEN);
        fill_marked(MARK, w, h, texels);
        store_texels(array, texels, w, h);
        for (unsigned level = WRITTEN - 1; level <= WRITTEN + 1; level++) {
            const unsigned width = extent_of_level(s->width, level);
            const unsigned height = extent_of_level(s->height, level);
            vk_sample_level(image.image, &image.info, (int32_t)level, width, height, got);
            for (unsigned i = 0; i < width * height * 4; i++)
                expect_near(got[i / 4][i % 4],
                            sum_at_corner(level == WRITTEN ? MARK : level, i, width, height));
        }
        shared_image_end(&image);
    }
    end();
}

TESTS(CASE(kernel_samples_images), CASE(kernel_filters_an_image),
      CASE(vulkan_samples_what_a_kernel_wrote))
