// SPDX-License-Identifier: MIT
// The program's side of the tests on a simulated driver: a device, semaphores, fences, and
// submissions that the layer holds.
#pragma once
#include "fake_driver.h"

static VkDevice device;

static const VkSemaphoreType BINARY = VK_SEMAPHORE_TYPE_BINARY,
                             TIMELINE = VK_SEMAPHORE_TYPE_TIMELINE;

// `exportable`: as OPAQUE_FD, so that the layer provides it. Otherwise it is the driver's.
static inline VkSemaphore semaphore_of(VkSemaphoreType type, bool exportable)
{
    VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                          .handleTypes =
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = exportable ? &export : NULL,
                                      .semaphoreType = type};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &kind};
    VkSemaphore s;
    EXPECT_EQ(CALL(device, CreateSemaphore)(device, &info, NULL, &s), VK_SUCCESS);
    return s;
}

static inline VkFence fence_of(bool exportable)
{
    VkExportFenceCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                      .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                              .pNext = exportable ? &export : NULL};
    VkFence f;
    EXPECT_EQ(CALL(device, CreateFence)(device, &info, NULL, &f), VK_SUCCESS);
    return f;
}

static inline void set(VkSemaphore s, uint64_t value)
{
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s, .value = value};
    EXPECT_EQ(CALL(device, SignalSemaphore)(device, &info), VK_SUCCESS);
}

static inline void idle(void)
{
    EXPECT_EQ(CALL(device, DeviceWaitIdle)(device), VK_SUCCESS);
}

static inline void idle_queue(VkQueue queue)
{
    EXPECT_EQ(CALL(device, QueueWaitIdle)(queue), VK_SUCCESS);
}

// Submits a batch that waits for `wait` and signals `signal`, or VK_NULL_HANDLE. The structs are
// overwritten afterwards.
static inline VkResult submit(VkQueue queue, VkSemaphore wait, uint64_t value, VkSemaphore signal,
                              VkFence fence)
{
    VkPipelineStageFlags stage = 1;
    uint64_t signal_value = 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType =
                                                VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = wait != VK_NULL_HANDLE,
                                            .pWaitSemaphoreValues = &value,
                                            .signalSemaphoreValueCount = signal != VK_NULL_HANDLE,
                                            .pSignalSemaphoreValues = &signal_value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                         .pWaitSemaphores = &wait,
                         .pWaitDstStageMask = &stage,
                         .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                         .pSignalSemaphores = &signal};
    VkResult r = CALL(device, QueueSubmit)(queue, 1, &info, fence);
    memset(&info, 0xff, sizeof info);
    memset(&values, 0xff, sizeof values);
    wait = signal = VK_NULL_HANDLE;
    value = signal_value = 0;
    return r;
}

static inline void hold(VkQueue queue, VkSemaphore wait, uint64_t value, VkSemaphore signal)
{
    EXPECT_EQ(submit(queue, wait, value, signal, VK_NULL_HANDLE), VK_SUCCESS);
}

static inline int number(VkSemaphore s)
{
    return (int)(uintptr_t)s;
}

static inline int semaphore_fd(VkSemaphore s)
{
    VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                    .semaphore = s,
                                    .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    EXPECT_EQ(CALL(device, GetSemaphoreFdKHR)(device, &info, &fd), VK_SUCCESS);
    return fd;
}

static inline VkResult import_semaphore(VkSemaphore s, int fd, bool temporary)
{
    VkImportSemaphoreFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                       .semaphore = s,
                                       .flags = temporary ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0,
                                       .handleType =
                                           VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                       .fd = fd};
    return CALL(device, ImportSemaphoreFdKHR)(device, &info);
}
