// SPDX-License-Identifier: MIT
// Runs floor.comp, and computes its picture on the CPU.
#include "floor.h"

#include <math.h>

#include "picture.h"

static const uint32_t floor_spv[] = {
#include "floor.spv.h"
};

// Objects that exist while the picture is made.
struct show {
    VkShaderModule shader;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkImageView view;
    VkSampler sampler;
};

static void show_pipeline(struct gpu *gpu, struct show *s)
{
    VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof floor_spv,
                                       .pCode = floor_spv};
    VK(vkCreateShaderModule(gpu->device, &shader, NULL, &s->shader));
    VkDescriptorSetLayoutBinding bindings[] = {
        {.binding = 0,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .descriptorCount = 1,
         .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT},
        {.binding = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .descriptorCount = 1,
         .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT}};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 2,
                                           .pBindings = bindings};
    VK(vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &s->set_layout));
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 2 * sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &s->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    VK(vkCreatePipelineLayout(gpu->device, &layout, NULL, &s->layout));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = s->shader,
                  .pName = "main"},
        .layout = s->layout};
    VK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &s->pipeline));
}

static void show_set(struct gpu *gpu, struct show *s, const struct gpu_image *image,
                     const struct gpu_buffer *host)
{
    VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
                                    {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    VK(vkCreateDescriptorPool(gpu->device, &pool, NULL, &s->pool));
    VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, image->levels, 0, 1}};
    VK(vkCreateImageView(gpu->device, &view, NULL, &s->view));
    // Modes that are not named repeat the image.
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                   .magFilter = VK_FILTER_LINEAR,
                                   .minFilter = VK_FILTER_LINEAR,
                                   .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                   .maxLod = VK_LOD_CLAMP_NONE};
    VK(vkCreateSampler(gpu->device, &sampler, NULL, &s->sampler));
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = s->pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &s->set_layout};
    VK(vkAllocateDescriptorSets(gpu->device, &set, &s->set));
    VkDescriptorImageInfo sampled = {s->sampler, s->view, VK_IMAGE_LAYOUT_GENERAL};
    VkDescriptorBufferInfo buffer = {host->buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet writes[] = {{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = s->set,
                                      .dstBinding = 0,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                      .pImageInfo = &sampled},
                                     {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = s->set,
                                      .dstBinding = 1,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffer}};
    vkUpdateDescriptorSets(gpu->device, 2, writes, 0, NULL);
}

static void show_drop(struct gpu *gpu, struct show *s)
{
    vkDestroySampler(gpu->device, s->sampler, NULL);
    vkDestroyImageView(gpu->device, s->view, NULL);
    vkDestroyDescriptorPool(gpu->device, s->pool, NULL);
    vkDestroyPipeline(gpu->device, s->pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, s->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, s->set_layout, NULL);
    vkDestroyShaderModule(gpu->device, s->shader, NULL);
}

void floor_show(struct gpu *gpu, const struct gpu_image *image, const struct gpu_buffer *host,
                uint32_t width, uint32_t height)
{
    struct show s = {0};
    uint32_t size[] = {width, height};
    show_pipeline(gpu, &s);
    show_set(gpu, &s, image, host);
    gpu_begin(gpu);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, VK_QUEUE_FAMILY_EXTERNAL, gpu->family);
    vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, s.pipeline);
    vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, s.layout, 0, 1, &s.set,
                            0, NULL);
    vkCmdPushConstants(gpu->commands, s.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof size, size);
    vkCmdDispatch(gpu->commands, (width + 7) / 8, (height + 7) / 8, 1);
    gpu_image_barrier(gpu, image, VK_IMAGE_LAYOUT_GENERAL, gpu->family, VK_QUEUE_FAMILY_EXTERNAL);
    gpu_submit_and_wait(gpu);
    show_drop(gpu, &s);
}

// ---- the same on the CPU

static uint32_t wrapped(int64_t i, uint32_t size)
{
    int64_t rest = i % size;
    return (uint32_t)(rest < 0 ? rest + size : rest);
}

// Linear filtering of one level of an image that repeats.
static void sample_level(float out[4], const uint8_t *level, uint32_t w, uint32_t h, float u,
                         float v)
{
    float x = u * (float)w - 0.5f, y = v * (float)h - 0.5f;
    float fx = x - floorf(x), fy = y - floorf(y);
    for (int i = 0; i < 4; i++)
        out[i] = 0;
    for (int corner = 0; corner < 4; corner++) {
        uint32_t column = wrapped((int64_t)floorf(x) + (corner & 1), w);
        uint32_t row = wrapped((int64_t)floorf(y) + (corner >> 1), h);
        float weight = (corner & 1 ? fx : 1 - fx) * (corner >> 1 ? fy : 1 - fy);
        for (int i = 0; i < 4; i++)
            out[i] += weight * level[(row * w + column) * 4 + i];
    }
}

static void sample(uint8_t *texel, const uint8_t *chain, const struct gpu_image *image,
                   const float place[2], float lod)
{
    float low[4], high[4], last = (float)image->levels - 1;
    lod = lod < 0 ? 0 : lod > last ? last : lod;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t level = (uint32_t)lod + k < image->levels ? (uint32_t)lod + k : image->levels - 1;
        sample_level(
            k ? high : low, chain + picture_level_offset_B(image->width, image->height, level),
            level_size(image->width, level), level_size(image->height, level), place[0], place[1]);
    }
    for (int i = 0; i < 4; i++)
        texel[i] = (uint8_t)(low[i] + (high[i] - low[i]) * (lod - floorf(lod)) + 0.5f);
}

void floor_expected(uint8_t *picture, uint32_t width, uint32_t height, const uint8_t *chain,
                    const struct gpu_image *image)
{
    const uint32_t horizon = height / 2;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, picture += 4) {
            float right = ((float)x + 0.5f) / (float)width, lod = 0;
            float place[2] = {right, ((float)y + 0.5f) / (float)horizon};
            if (y >= horizon) {
                float depth = (float)horizon / ((float)(y - horizon) + 0.5f);
                float step_x = (float)image->width / (float)width * depth;
                float step_y = (float)image->height / (float)horizon * depth * depth;
                place[0] = (right - 0.5f) * depth;
                place[1] = depth;
                lod = 0.5f * log2f(step_x * step_y);
            }
            sample(picture, chain, image, place, lod);
        }
}
