// SPDX-License-Identifier: MIT
// Every kind of image and buffer that Vulkan (lavapipe) exports, mapped in CUDA: CUDA reads what
// Vulkan writes, texel by texel, and vice versa; in memory of their own and at an offset of shared
// memory, in one process and in two. No diagnostic may be reported.
#include "../vulkan.h"

#include "../mistakes/external.h"
#include "../send_fd.h"

static const struct format {
    const char *name;
    VkFormat vulkan;
    CUarray_format cuda;
    unsigned channels, element_B, block_px;
} formats[] = {
    {"R8", VK_FORMAT_R8_UNORM, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, 1},
    {"R8G8", VK_FORMAT_R8G8_UINT, CU_AD_FORMAT_UNSIGNED_INT8, 2, 2, 1},
    {"R8G8B8A8", VK_FORMAT_R8G8B8A8_UNORM, CU_AD_FORMAT_UNORM_INT8X4, 4, 4, 1},
    {"B8G8R8A8", VK_FORMAT_B8G8R8A8_UNORM, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, 1},
    {"A2B10G10R10", VK_FORMAT_A2B10G10R10_UNORM_PACK32, CU_AD_FORMAT_UNORM_INT_101010_2, 4, 4, 1},
    {"R16", VK_FORMAT_R16_SNORM, CU_AD_FORMAT_SNORM_INT16X1, 1, 2, 1},
    {"R16G16B16A16F", VK_FORMAT_R16G16B16A16_SFLOAT, CU_AD_FORMAT_HALF, 4, 8, 1},
    {"R32", VK_FORMAT_R32_SINT, CU_AD_FORMAT_SIGNED_INT32, 1, 4, 1},
    {"R32F", VK_FORMAT_R32_SFLOAT, CU_AD_FORMAT_FLOAT, 1, 4, 1},
    {"R32G32B32A32F", VK_FORMAT_R32G32B32A32_SFLOAT, CU_AD_FORMAT_FLOAT, 4, 16, 1},
    {"BC1", VK_FORMAT_BC1_RGBA_UNORM_BLOCK, CU_AD_FORMAT_BC1_UNORM, 4, 8, 4},
    {"BC3", VK_FORMAT_BC3_SRGB_BLOCK, CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 16, 4},
    {"BC4", VK_FORMAT_BC4_UNORM_BLOCK, CU_AD_FORMAT_BC4_UNORM, 1, 8, 4},
    {"BC5", VK_FORMAT_BC5_SNORM_BLOCK, CU_AD_FORMAT_BC5_SNORM, 2, 16, 4},
    {"BC7", VK_FORMAT_BC7_UNORM_BLOCK, CU_AD_FORMAT_BC7_UNORM, 4, 16, 4},
};

// height 0: 1D; depth 0: not 3D; layers 0: not an array; as in CUDA.
static const struct shape {
    const char *name;
    uint32_t width, height, depth, layers, levels;
    unsigned flags; // CUDA_ARRAY3D_*
} shapes[] = {
    {"1D", 999, 0, 0, 0, 1, 0},
    {"1D mips", 333, 0, 0, 0, 9, 0},
    {"1D array", 333, 0, 0, 5, 1, CUDA_ARRAY3D_LAYERED},
    {"2D", 100, 50, 0, 0, 1, 0},
    {"2D mips", 97, 61, 0, 0, 7, 0},
    {"2D of one texel", 1, 1, 0, 0, 1, 0},
    {"2D narrow", 3, 257, 0, 0, 9, 0},
    {"2D array mips", 65, 33, 0, 6, 7, CUDA_ARRAY3D_LAYERED},
    {"2D array of one layer", 31, 17, 0, 1, 1, CUDA_ARRAY3D_LAYERED},
    {"3D", 33, 20, 9, 0, 1, 0},
    {"3D mips", 17, 31, 13, 0, 5, 0},
    {"cube mips", 60, 60, 0, 6, 6, CUDA_ARRAY3D_CUBEMAP},
    {"cube array", 32, 32, 0, 12, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
};
enum { FORMATS = sizeof formats / sizeof *formats, SHAPES = sizeof shapes / sizeof *shapes };

static char what[128]; // the current case, for messages

static uint32_t of_level(uint32_t extent, uint32_t level)
{
    return extent >> level ? extent >> level : 1;
}

static uint32_t elements(uint32_t extent, const struct format *f, uint32_t level)
{
    return (of_level(extent, level) + f->block_px - 1) / f->block_px;
}

// The box of a level, in rows and slices or layers, as copies count them.
static void level_box(const struct format *f, const struct shape *s, uint32_t level,
                      uint64_t *row_B, uint32_t *rows, uint32_t *slices)
{
    *row_B = (uint64_t)elements(s->width, f, level) * f->element_B;
    *rows = s->height ? elements(s->height, f, level) : 1;
    *slices = s->depth ? of_level(s->depth, level) : s->layers ? s->layers : 1;
}

static uint64_t level_B(const struct format *f, const struct shape *s, uint32_t level)
{
    uint64_t row_B;
    uint32_t rows, slices;
    level_box(f, s, level, &row_B, &rows, &slices);
    return row_B * rows * slices;
}

// Every byte depends on its position, its level and the round. Floats are whole numbers below 2^16,
// so that a conversion cannot hide a difference.
static void fill(unsigned char *bytes, uint64_t size, const struct format *f, uint32_t level,
                 unsigned round)
{
    uint32_t h = 2166136261u + level * 97 + round * 31;
    for (uint64_t i = 0; i < size; i++) {
        h = (h ^ (uint32_t)i) * 16777619u;
        bytes[i] = (unsigned char)(h >> 13);
    }
    if (f->cuda == CU_AD_FORMAT_FLOAT)
        for (uint64_t i = 0; i + 4 <= size; i += 4) {
            float v = (float)(bytes[i] | bytes[i + 1] << 8);
            memcpy(bytes + i, &v, 4);
        }
    if (f->cuda == CU_AD_FORMAT_HALF || f->cuda == CU_AD_FORMAT_SNORM_INT16X1)
        for (uint64_t i = 1; i < size; i += 2)
            bytes[i] &= 0x3f; // no infinities, no NaNs, no negative numbers
}

static void expect_same(const unsigned char *got, const unsigned char *want, uint64_t size,
                        uint32_t level, const char *direction)
{
    for (uint64_t i = 0; i < size; i++) {
        if (got[i] == want[i])
            continue;
        test_failed(__FILE__, __LINE__);
        printf("%s, level %u, %s: byte %llu is %#x, expected %#x\n", what, level, direction,
               (unsigned long long)i, got[i], want[i]);
        return;
    }
}

// ---- Vulkan's side

// Returns false if the driver does not support such images.
static bool image_info(const struct format *f, const struct shape *s, VkImageCreateInfo *info)
{
    VkImageFormatProperties possible;
    snprintf(what, sizeof what, "%s %s", f->name, s->name);
    *info =
        vk_image_info(s->width, s->height ? s->height : 1, s->layers ? s->layers : 1, s->levels);
    info->imageType = s->depth ? VK_IMAGE_TYPE_3D : s->height ? VK_IMAGE_TYPE_2D : VK_IMAGE_TYPE_1D;
    info->format = f->vulkan;
    info->extent.depth = s->depth ? s->depth : 1;
    info->flags = s->flags & CUDA_ARRAY3D_CUBEMAP ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
    info->usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                  VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return !vkGetPhysicalDeviceImageFormatProperties(vk.physical, info->format, info->imageType,
                                                     info->tiling, info->usage, info->flags,
                                                     &possible) &&
           possible.maxMipLevels >= info->mipLevels && possible.maxArrayLayers >= info->arrayLayers;
}

struct bound {
    VkImage image;
    VkDeviceMemory memory;
    uint64_t offset, size; // of the image
    uint64_t allocated;
};

// Binds the image to memory of its own, or between other bytes of a larger allocation.
static struct bound bind_image(const VkImageCreateInfo *info, bool shared)
{
    VkMemoryRequirements needs;
    struct bound b = {.image = vk_image(info, &needs)};
    const uint64_t somewhere = 3 * 4096;
    b.offset = shared ? (somewhere + needs.alignment - 1) / needs.alignment * needs.alignment : 0;
    b.size = needs.size;
    b.allocated = b.offset + needs.size + (shared ? 8192 : 0);
    b.memory = vk_allocate((struct vk_allocation){
        .size = b.allocated,
        .type = vk_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0),
        .image = shared ? VK_NULL_HANDLE : b.image,
        .exportable = true});
    VK(vkBindImageMemory(vk.device, b.image, b.memory, b.offset));
    return b;
}

static void unbind_image(struct bound *b)
{
    vkDestroyImage(vk.device, b->image, NULL);
    vkFreeMemory(vk.device, b->memory, NULL);
}

static void vulkan_levels(VkImage image, const VkImageCreateInfo *info, const struct format *f,
                          const struct shape *s, unsigned round, bool write)
{
    for (uint32_t level = 0; level < s->levels; level++) {
        uint64_t size = level_B(f, s, level);
        unsigned char *want = malloc(size), *got = calloc(1, size);
        fill(want, size, f, level, round);
        vk_copy_level(image, info, level, write ? want : got, size, write);
        if (!write)
            expect_same(got, want, size, level, "CUDA to Vulkan");
        free(want);
        free(got);
    }
}

// ---- CUDA's side

static void cuda_copy(CUarray array, const struct format *f, const struct shape *s, uint32_t level,
                      unsigned char *bytes, bool write)
{
    CUDA_MEMCPY3D c;
    uint64_t row_B;
    uint32_t rows, slices;
    level_box(f, s, level, &row_B, &rows, &slices);
    memset(&c, 0, sizeof c);
    c.srcMemoryType = write ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = write ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = bytes;
    c.srcArray = c.dstArray = array;
    c.srcPitch = c.dstPitch = row_B;
    c.srcHeight = c.dstHeight = rows;
    c.WidthInBytes = row_B;
    c.Height = rows;
    c.Depth = slices;
    MUST(cuMemcpy3D(&c));
}

static void cuda_levels(CUmipmappedArray mip, const struct format *f, const struct shape *s,
                        unsigned round, bool write)
{
    for (uint32_t level = 0; level < s->levels; level++) {
        uint64_t size = level_B(f, s, level);
        unsigned char *want = malloc(size), *got = calloc(1, size);
        CUarray array;
        MUST(cuMipmappedArrayGetLevel(&array, mip, level));
        fill(want, size, f, level, round);
        cuda_copy(array, f, s, level, write ? want : got, write);
        if (!write)
            expect_same(got, want, size, level, "Vulkan to CUDA");
        free(want);
        free(got);
    }
    MUST(cuCtxSynchronize());
}

static CUmipmappedArray map(CUexternalMemory m, uint64_t offset, const struct format *f,
                            const struct shape *s)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d =
        image(s->width, s->height, s->depth ? s->depth : s->layers, s->flags, s->levels);
    CUmipmappedArray mip;
    d.offset = offset;
    d.arrayDesc.Format = f->cuda;
    d.arrayDesc.NumChannels = f->channels;
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, m, &d));
    return mip;
}

// ---- one process

static void guard_bytes(const struct bound *b, bool check)
{
    unsigned char *bytes;
    VK(vkMapMemory(vk.device, b->memory, 0, VK_WHOLE_SIZE, 0, (void **)&bytes));
    for (uint64_t i = 0; i < b->allocated; i++) {
        if (i >= b->offset && i < b->offset + b->size)
            continue;
        if (check)
            EXPECT_EQ(bytes[i], 0xa5);
        bytes[i] = 0xa5;
    }
    vkUnmapMemory(vk.device, b->memory);
}

static bool both_ways(const struct format *f, const struct shape *s, bool shared)
{
    VkImageCreateInfo info;
    if (!image_info(f, s, &info))
        return false;
    struct bound b = bind_image(&info, shared);
    guard_bytes(&b, false);
    CUexternalMemory m =
        import(vk_fd(b.memory), b.allocated, shared ? 0 : CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUmipmappedArray mip = map(m, b.offset, f, s);
    vulkan_levels(b.image, &info, f, s, 1, true);
    cuda_levels(mip, f, s, 1, false);
    cuda_levels(mip, f, s, 2, true);
    vulkan_levels(b.image, &info, f, s, 2, false);
    guard_bytes(&b, true);
    EXPECT_OK(cuMipmappedArrayDestroy(mip));
    EXPECT_OK(cuDestroyExternalMemory(m));
    unbind_image(&b);
    return true;
}

static void all_images(bool shared, int least)
{
    int images = 0;
    vk_open();
    test_context();
    for (int f = 0; f < FORMATS; f++)
        for (int s = 0; s < SHAPES; s++)
            if (formats[f].block_px == 1 || shapes[s].height) // CUDA has no compressed 1D arrays
                images += both_ways(&formats[f], &shapes[s], shared);
    vk_close();
    printf("# %d images\n", images);
    EXPECT(images >= least);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(dedicated_images)
{
    all_images(false, 120);
}

TEST(images_at_an_offset)
{
    all_images(true, 120);
}

// Buffers with and without memory of their own, with odd sizes.
static void buffer_both_ways(uint64_t size, bool dedicated)
{
    VkMemoryRequirements needs;
    unsigned char *mapped, *bytes = malloc(size);
    VkBuffer buffer = vk_buffer(size, true, &needs);
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){
        .size = needs.size,
        .type = vk_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0),
        .buffer = dedicated ? buffer : VK_NULL_HANDLE,
        .exportable = true});
    VK(vkBindBufferMemory(vk.device, buffer, memory, 0));
    VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&mapped));
    CUexternalMemory m =
        import(vk_fd(memory), needs.size, dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0);
    CUdeviceptr p = map_buffer(m, 0, size);
    snprintf(what, sizeof what, "buffer of %llu bytes", (unsigned long long)size);
    fill(mapped, size, &formats[0], 0, 1);
    MUST(cuMemcpyDtoH(bytes, p, size));
    expect_same(bytes, mapped, size, 0, "Vulkan to CUDA");
    fill(bytes, size, &formats[0], 0, 2);
    MUST(cuMemcpyHtoD(p, bytes, size));
    expect_same(mapped, bytes, size, 0, "CUDA to Vulkan");
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuDestroyExternalMemory(m));
    vkDestroyBuffer(vk.device, buffer, NULL);
    vkFreeMemory(vk.device, memory, NULL);
    free(bytes);
}

TEST(buffers)
{
    static const uint64_t sizes[] = {1, 16, 4095, 4097, 65536, 1000003};
    vk_open();
    test_context();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buffer_both_ways(sizes[i], true);
        buffer_both_ways(sizes[i], false);
    }
    vk_close();
    EXPECT_NO_DIAGNOSTIC();
}

// ---- two processes: the child has Vulkan, this one CUDA

struct offer {
    uint64_t offset, allocated;
};

// The pairs that cross processes: each format and each shape at least once.
static bool crosses(int f, int s)
{
    return s % FORMATS == f || (s + 5) % FORMATS == f || (s + 10) % FORMATS == f;
}

static int produce(int socket)
{
    vk_open();
    for (int f = 0; f < FORMATS; f++) {
        for (int s = 0; s < SHAPES; s++) {
            VkImageCreateInfo info;
            char byte;
            if (!crosses(f, s) || (formats[f].block_px > 1 && !shapes[s].height))
                continue;
            if (!image_info(&formats[f], &shapes[s], &info)) {
                EXPECT(0);
                continue;
            }
            struct bound b = bind_image(&info, s % 2);
            vulkan_levels(b.image, &info, &formats[f], &shapes[s], 1, true);
            int fd = vk_fd(b.memory);
            EXPECT(
                send_fd(socket, fd, &(struct offer){b.offset, b.allocated}, sizeof(struct offer)));
            close(fd);
            if (read(socket, &byte, 1) != 1)
                return 1;
            vulkan_levels(b.image, &info, &formats[f], &shapes[s], 2, false);
            unbind_image(&b);
        }
    }
    vk_close();
    fflush(stdout);
    return test_failures > 0;
}

static void consume(int socket, int f, int s)
{
    struct offer offer;
    int fd = receive_fd(socket, &offer, sizeof offer);
    if (fd < 0)
        return; // the exit code of the exporter says why
    snprintf(what, sizeof what, "%s %s of another process", formats[f].name, shapes[s].name);
    CUexternalMemory m = import(fd, offer.allocated, s % 2 ? 0 : CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUmipmappedArray mip = map(m, offer.offset, &formats[f], &shapes[s]);
    cuda_levels(mip, &formats[f], &shapes[s], 1, false);
    cuda_levels(mip, &formats[f], &shapes[s], 2, true);
    EXPECT_OK(cuMipmappedArrayDestroy(mip));
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_EQ(write(socket, "", 1), 1);
}

TEST(images_of_another_process)
{
    int ends[2], status = -1;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        exit(produce(ends[1]));
    }
    close(ends[1]);
    test_context();
    for (int f = 0; f < FORMATS; f++)
        for (int s = 0; s < SHAPES; s++)
            if (crosses(f, s) && (formats[f].block_px == 1 || shapes[s].height))
                consume(ends[0], f, s);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED)
        SKIP("the producer has no Vulkan");
    EXPECT_EQ(status, 0);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(dedicated_images), CASE(images_at_an_offset), CASE(buffers),
      CASE(images_of_another_process))
