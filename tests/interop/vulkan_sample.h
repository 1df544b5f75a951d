// SPDX-License-Identifier: MIT
// Vulkan samples a level of an image in a compute shader, sample.comp.
#pragma once

#include "../vulkan.h"
#include "sample.spv.h"

struct vk_sampling {
    VkShaderModule shader;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkImageView view;
    VkSampler sampler;
};

static inline void vk_sampling_pipeline(struct vk_sampling *s)
{
    VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof sample_spv,
                                       .pCode = sample_spv};
    VK(vkCreateShaderModule(vk.device, &shader, NULL, &s->shader));
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
    VK(vkCreateDescriptorSetLayout(vk.device, &set, NULL, &s->set_layout));
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(int32_t)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &s->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    VK(vkCreatePipelineLayout(vk.device, &layout, NULL, &s->layout));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = s->shader,
                  .pName = "main"},
        .layout = s->layout};
    VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &pipeline, NULL, &s->pipeline));
}

static inline void vk_sampling_set(struct vk_sampling *s, VkImage image,
                                   const VkImageCreateInfo *info, VkBuffer out)
{
    VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
                                    {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    VK(vkCreateDescriptorPool(vk.device, &pool, NULL, &s->pool));
    VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = info->format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, info->mipLevels, 0, 1}};
    VK(vkCreateImageView(vk.device, &view, NULL, &s->view));
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                   .magFilter = VK_FILTER_LINEAR,
                                   .minFilter = VK_FILTER_LINEAR,
                                   .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                   .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                   .maxLod = VK_LOD_CLAMP_NONE};
    VK(vkCreateSampler(vk.device, &sampler, NULL, &s->sampler));
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = s->pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &s->set_layout};
    VK(vkAllocateDescriptorSets(vk.device, &set, &s->set));
    VkDescriptorImageInfo sampled = {s->sampler, s->view, VK_IMAGE_LAYOUT_GENERAL};
    VkDescriptorBufferInfo buffer = {out, 0, VK_WHOLE_SIZE};
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
    vkUpdateDescriptorSets(vk.device, 2, writes, 0, NULL);
}

static inline void vk_sampling_run(const struct vk_sampling *s, VkImage image, int32_t level,
                                   uint32_t width, uint32_t height)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkImageMemoryBarrier acquire = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
                                    .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
                                    .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL,
                                    .dstQueueFamilyIndex = 0,
                                    .image = image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0,
                                                         VK_REMAINING_MIP_LEVELS, 0,
                                                         VK_REMAINING_ARRAY_LAYERS}};
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    VK(vkBeginCommandBuffer(vk.commands, &begin));
    vkCmdPipelineBarrier(vk.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 1, &acquire);
    vkCmdBindPipeline(vk.commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipeline);
    vkCmdBindDescriptorSets(vk.commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->layout, 0, 1, &s->set,
                            0, NULL);
    vkCmdPushConstants(vk.commands, s->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof level,
                       &level);
    vkCmdDispatch(vk.commands, width, height, 1);
    vkCmdPipelineBarrier(vk.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    VK(vkEndCommandBuffer(vk.commands));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &vk.commands};
    VK(vkQueueSubmit(vk.queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(vk.queue));
}

static inline void vk_sampling_end(struct vk_sampling *s)
{
    vkDestroySampler(vk.device, s->sampler, NULL);
    vkDestroyImageView(vk.device, s->view, NULL);
    vkDestroyDescriptorPool(vk.device, s->pool, NULL);
    vkDestroyPipeline(vk.device, s->pipeline, NULL);
    vkDestroyPipelineLayout(vk.device, s->layout, NULL);
    vkDestroyDescriptorSetLayout(vk.device, s->set_layout, NULL);
    vkDestroyShaderModule(vk.device, s->shader, NULL);
}

// Vulkan samples a level of a 2D image, which has width * height texels, with a linear filter at
// the corners between four texels.
static inline void vk_sample_level(VkImage image, const VkImageCreateInfo *info, int32_t level,
                                   uint32_t width, uint32_t height, float (*colours)[4])
{
    struct vk_sampling s;
    VkMemoryRequirements needs;
    void *mapped;
    const uint64_t size = (uint64_t)width * height * sizeof *colours;
    VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = size,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer out;
    VK(vkCreateBuffer(vk.device, &create, NULL, &out));
    vkGetBufferMemoryRequirements(vk.device, out, &needs);
    VkDeviceMemory memory = vk_allocate((struct vk_allocation){
        .size = needs.size,
        .type = vk_memory_type(
            needs.memoryTypeBits,
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0)});
    VK(vkBindBufferMemory(vk.device, out, memory, 0));
    VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    vk_sampling_pipeline(&s);
    vk_sampling_set(&s, image, info, out);
    vk_sampling_run(&s, image, level, width, height);
    memcpy(colours, mapped, size);
    vk_sampling_end(&s);
    vkDestroyBuffer(vk.device, out, NULL);
    vkFreeMemory(vk.device, memory, NULL);
}
