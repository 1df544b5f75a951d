// SPDX-License-Identifier: MIT
// Copies batches, takes the layer's semaphores out of them, and passes them on.
#include "sync_batch.h"

#include <string.h>

// ---- copies

static void copy_chain(struct vl_batch *b, const void **chain)
{
    vl_copy_chain(&b->copies, chain);
    // These are copies, so the casts away from const are allowed.
    b->timeline = (VkTimelineSemaphoreSubmitInfo *)vl_find(
        *chain, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    b->group =
        (VkDeviceGroupSubmitInfo *)vl_find(*chain, VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO);
}

// Arrays that are shorter than the one that they are about are not used: the batch has no timeline.
static void check_lengths(struct vl_batch *b, uint32_t waits, uint32_t signals)
{
    VkTimelineSemaphoreSubmitInfo *t = b->timeline;
    VkDeviceGroupSubmitInfo *g = b->group;
    if (t && t->waitSemaphoreValueCount < waits)
        t->pWaitSemaphoreValues = NULL;
    if (t && t->signalSemaphoreValueCount < signals)
        t->pSignalSemaphoreValues = NULL;
    if (g && g->waitSemaphoreCount < waits)
        g->pWaitSemaphoreDeviceIndices = NULL;
    if (g && g->signalSemaphoreCount < signals)
        g->pSignalSemaphoreDeviceIndices = NULL;
}

static bool batch_complete(struct vl_batch *b, uint32_t waits, uint32_t signals)
{
    check_lengths(b, waits, signals);
    b->drivers_waits = waits;
    b->drivers_signals = signals;
    b->waits = waits ? dm_calloc(waits, sizeof *b->waits) : NULL;
    b->taken = waits ? dm_calloc(waits, sizeof *b->taken) : NULL;
    b->signals = signals ? dm_calloc(signals, sizeof *b->signals) : NULL;
    bool good = !b->copies.failed && (!waits || (b->waits && b->taken)) && (!signals || b->signals);
    if (!good)
        vl_batch_finish(b);
    return good;
}

bool vl_batch_from_submit(struct vl_batch *b, const VkSubmitInfo *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_SUBMIT;
    VkSubmitInfo *s = &b->info.submit;
    *s = *info;
    VL_COPY(&b->copies, s->pWaitSemaphores, s->waitSemaphoreCount);
    VL_COPY(&b->copies, s->pWaitDstStageMask, s->waitSemaphoreCount);
    VL_COPY(&b->copies, s->pCommandBuffers, s->commandBufferCount);
    VL_COPY(&b->copies, s->pSignalSemaphores, s->signalSemaphoreCount);
    copy_chain(b, &s->pNext);
    return batch_complete(b, s->waitSemaphoreCount, s->signalSemaphoreCount);
}

// Copies the chains of structs that are copies already.
static void copy_infos(struct vl_copies *copies, VkSemaphoreSubmitInfo *list, uint32_t count)
{
    for (uint32_t i = 0; list && i < count; i++)
        vl_copy_chain(copies, &list[i].pNext);
}

bool vl_batch_from_submit_2(struct vl_batch *b, const VkSubmitInfo2 *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_SUBMIT_2;
    VkSubmitInfo2 *s = &b->info.submit_2;
    *s = *info;
    VL_COPY(&b->copies, s->pWaitSemaphoreInfos, s->waitSemaphoreInfoCount);
    VL_COPY(&b->copies, s->pCommandBufferInfos, s->commandBufferInfoCount);
    VL_COPY(&b->copies, s->pSignalSemaphoreInfos, s->signalSemaphoreInfoCount);
    copy_infos(&b->copies, (VkSemaphoreSubmitInfo *)s->pWaitSemaphoreInfos,
               s->waitSemaphoreInfoCount);
    copy_infos(&b->copies, (VkSemaphoreSubmitInfo *)s->pSignalSemaphoreInfos,
               s->signalSemaphoreInfoCount);
    VkCommandBufferSubmitInfo *commands = (VkCommandBufferSubmitInfo *)s->pCommandBufferInfos;
    for (uint32_t i = 0; commands && i < s->commandBufferInfoCount; i++)
        vl_copy_chain(&b->copies, &commands[i].pNext);
    copy_chain(b, &s->pNext);
    return batch_complete(b, s->waitSemaphoreInfoCount, s->signalSemaphoreInfoCount);
}

// Copies an array of binds, and the array that each of them points to.
#define COPY_BINDS(copies, Type, binds, count)                                                     \
    do {                                                                                           \
        Type *bind_ = vl_copy(copies, binds, count, sizeof *bind_);                                \
        for (uint32_t i_ = 0; bind_ && i_ < (count); i_++)                                         \
            VL_COPY(copies, bind_[i_].pBinds, bind_[i_].bindCount);                                \
        (binds) = bind_;                                                                           \
    } while (0)

bool vl_batch_from_sparse(struct vl_batch *b, const VkBindSparseInfo *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_SPARSE;
    VkBindSparseInfo *s = &b->info.sparse;
    struct vl_copies *c = &b->copies;
    *s = *info;
    VL_COPY(c, s->pWaitSemaphores, s->waitSemaphoreCount);
    VL_COPY(c, s->pSignalSemaphores, s->signalSemaphoreCount);
    COPY_BINDS(c, VkSparseBufferMemoryBindInfo, s->pBufferBinds, s->bufferBindCount);
    COPY_BINDS(c, VkSparseImageOpaqueMemoryBindInfo, s->pImageOpaqueBinds, s->imageOpaqueBindCount);
    COPY_BINDS(c, VkSparseImageMemoryBindInfo, s->pImageBinds, s->imageBindCount);
    copy_chain(b, &s->pNext);
    return batch_complete(b, s->waitSemaphoreCount, s->signalSemaphoreCount);
}

bool vl_batch_from_present(struct vl_batch *b, const VkPresentInfoKHR *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_PRESENT;
    VkPresentInfoKHR *p = &b->info.present;
    *p = *info;
    VL_COPY(&b->copies, p->pWaitSemaphores, p->waitSemaphoreCount);
    VL_COPY(&b->copies, p->pSwapchains, p->swapchainCount);
    VL_COPY(&b->copies, p->pImageIndices, p->swapchainCount);
    copy_chain(b, &p->pNext);
    return batch_complete(b, p->waitSemaphoreCount, 0);
}

bool vl_batch_from_label(struct vl_batch *b, enum vl_batch_kind kind,
                         const VkDebugUtilsLabelEXT *info)
{
    memset(b, 0, sizeof *b);
    b->kind = kind;
    VkDebugUtilsLabelEXT *l = &b->info.label;
    *l = *info;
    l->pNext = NULL; // nothing extends it
    VL_COPY(&b->copies, l->pLabelName, strlen(l->pLabelName) + 1);
    return batch_complete(b, 0, 0);
}

void vl_batch_detach(struct vl_batch *b)
{
    if (b->kind == VL_BATCH_PRESENT)
        b->info.present.pResults = NULL;
}

bool vl_batch_presents(const struct vl_batch *b, VkSwapchainKHR swapchain)
{
    for (uint32_t i = 0; b->kind == VL_BATCH_PRESENT && i < b->info.present.swapchainCount; i++)
        if (b->info.present.pSwapchains[i] == swapchain)
            return true;
    return false;
}

void vl_batch_finish(struct vl_batch *b)
{
    for (uint32_t i = 0; i < b->wait_count; i++)
        vl_payload_drop(b->waits[i].payload);
    for (uint32_t i = 0; i < b->signal_count; i++)
        vl_payload_drop(b->signals[i].payload);
    for (uint32_t i = 0; i < b->taken_count; i++)
        vl_payload_drop(b->taken[i].payload);
    dm_free(b->waits);
    dm_free(b->taken);
    dm_free(b->signals);
    vl_copies_free(&b->copies);
    b->waits = b->signals = NULL;
    b->taken = NULL;
    b->wait_count = b->signal_count = b->taken_count = 0;
}

// ---- the layer's semaphores

// The arrays of one side (waits or signals) of a batch, which stay parallel. NULL if the batch has
// no such array.
struct side {
    VkSemaphore *semaphores;
    VkPipelineStageFlags *stages;
    uint64_t *values;
    uint32_t *devices;
    VkSemaphoreSubmitInfo *infos; // instead of all of the above
    bool is_wait;
};

// Moves an element towards the front.
static void side_move(const struct side *s, uint32_t from, uint32_t to)
{
    if (s->infos)
        s->infos[to] = s->infos[from];
    else
        s->semaphores[to] = s->semaphores[from];
    if (s->stages)
        s->stages[to] = s->stages[from];
    if (s->values)
        s->values[to] = s->values[from];
    if (s->devices)
        s->devices[to] = s->devices[from];
}

// Finds the payload for the wait of a batch, and notes that the wait takes it if it is temporary.
static struct vl_payload *payload_for_wait(struct vl_batch *b, struct vl_sync *sync,
                                           VkSemaphore handle)
{
    bool temporary;
    struct vl_payload *p = vl_semaphore_for_wait(sync, handle, &temporary);
    if (temporary)
        b->taken[b->taken_count++] = (struct vl_taken){handle, vl_payload_take(p)};
    return p;
}

// Moves the semaphores that have payloads to `uses`. Returns the number of those that stay.
static uint32_t side_split(struct vl_batch *b, struct vl_sync *sync, const struct side *s,
                           uint32_t count, struct vl_use *uses, uint32_t *use_count)
{
    uint32_t stay = 0;
    for (uint32_t i = 0; i < count; i++) {
        VkSemaphore handle = s->infos ? s->infos[i].semaphore : s->semaphores[i];
        struct vl_payload *p =
            s->is_wait ? payload_for_wait(b, sync, handle) : vl_semaphore_for_signal(sync, handle);
        if (p) {
            uint64_t value = s->infos ? s->infos[i].value : s->values ? s->values[i] : 0;
            uses[(*use_count)++] = (struct vl_use){p, value, false};
            continue;
        }
        side_move(s, i, stay++);
    }
    return stay;
}

// The arrays are copies, so the casts away from const are allowed.
static struct side wait_side(const struct vl_batch *b)
{
    struct side s = {.is_wait = true};
    switch (b->kind) {
    case VL_BATCH_SUBMIT:
        s.semaphores = (VkSemaphore *)b->info.submit.pWaitSemaphores;
        s.stages = (VkPipelineStageFlags *)b->info.submit.pWaitDstStageMask;
        break;
    case VL_BATCH_SUBMIT_2:
        s.infos = (VkSemaphoreSubmitInfo *)b->info.submit_2.pWaitSemaphoreInfos;
        break;
    case VL_BATCH_SPARSE:
        s.semaphores = (VkSemaphore *)b->info.sparse.pWaitSemaphores;
        break;
    case VL_BATCH_PRESENT:
        s.semaphores = (VkSemaphore *)b->info.present.pWaitSemaphores;
        break;
    case VL_BATCH_EMPTY:
    case VL_BATCH_LABEL_BEGIN:
    case VL_BATCH_LABEL_INSERT:
        break;
    }
    if (b->timeline)
        s.values = (uint64_t *)b->timeline->pWaitSemaphoreValues;
    if (b->group)
        s.devices = (uint32_t *)b->group->pWaitSemaphoreDeviceIndices;
    return s;
}

static struct side signal_side(const struct vl_batch *b)
{
    struct side s = {.is_wait = false};
    if (b->kind == VL_BATCH_SUBMIT)
        s.semaphores = (VkSemaphore *)b->info.submit.pSignalSemaphores;
    else if (b->kind == VL_BATCH_SUBMIT_2)
        s.infos = (VkSemaphoreSubmitInfo *)b->info.submit_2.pSignalSemaphoreInfos;
    else if (b->kind == VL_BATCH_SPARSE)
        s.semaphores = (VkSemaphore *)b->info.sparse.pSignalSemaphores;
    if (b->timeline)
        s.values = (uint64_t *)b->timeline->pSignalSemaphoreValues;
    if (b->group)
        s.devices = (uint32_t *)b->group->pSignalSemaphoreDeviceIndices;
    return s;
}

void vl_batch_resolve(struct vl_batch *b, struct vl_sync *sync)
{
    dm_assert_locked(&vl_sync_lock);
    struct side waits = wait_side(b), signals = signal_side(b);
    b->drivers_waits = side_split(b, sync, &waits, b->drivers_waits, b->waits, &b->wait_count);
    b->drivers_signals =
        side_split(b, sync, &signals, b->drivers_signals, b->signals, &b->signal_count);
}

void vl_batch_give_back(struct vl_batch *b, struct vl_sync *sync)
{
    dm_assert_locked(&vl_sync_lock);
    for (uint32_t i = 0; i < b->taken_count; i++)
        vl_semaphore_give_back(sync, b->taken[i].semaphore, b->taken[i].payload);
}

bool vl_batch_signals(const struct vl_batch *b, VkSemaphore semaphore)
{
    struct side s = signal_side(b);
    for (uint32_t i = 0; i < b->drivers_signals; i++)
        if ((s.infos ? s.infos[i].semaphore : s.semaphores[i]) == semaphore)
            return true;
    return false;
}

VkSemaphore vl_batch_wait(const struct vl_batch *b, uint32_t i)
{
    struct side s = wait_side(b);
    return s.infos ? s.infos[i].semaphore : s.semaphores[i];
}

// ---- passing on

static void set_group(VkDeviceGroupSubmitInfo *g, uint32_t waits, uint32_t commands,
                      uint32_t signals)
{
    // Each array is either empty or as long as the one that it is about.
    g->waitSemaphoreCount = g->pWaitSemaphoreDeviceIndices ? waits : 0;
    g->commandBufferCount = g->pCommandBufferDeviceMasks ? commands : 0;
    g->signalSemaphoreCount = g->pSignalSemaphoreDeviceIndices ? signals : 0;
}

static VkResult forward_submit(struct vl_batch *b, struct vl_device *d, VkQueue queue,
                               unsigned parts, VkFence fence)
{
    VkSubmitInfo s = b->info.submit;
    s.waitSemaphoreCount = parts & VL_WORK ? b->drivers_waits : 0;
    s.commandBufferCount = parts & VL_WORK ? s.commandBufferCount : 0;
    s.signalSemaphoreCount = parts & VL_SIGNALS ? b->drivers_signals : 0;
    if (b->group)
        set_group(b->group, s.waitSemaphoreCount, s.commandBufferCount, s.signalSemaphoreCount);
    return d->QueueSubmit(queue, 1, &s, fence);
}

static VkResult forward_submit_2(struct vl_batch *b, struct vl_device *d, VkQueue queue,
                                 unsigned parts, VkFence fence)
{
    VkSubmitInfo2 s = b->info.submit_2;
    s.waitSemaphoreInfoCount = parts & VL_WORK ? b->drivers_waits : 0;
    s.commandBufferInfoCount = parts & VL_WORK ? s.commandBufferInfoCount : 0;
    s.signalSemaphoreInfoCount = parts & VL_SIGNALS ? b->drivers_signals : 0;
    return (d->QueueSubmit2 ? d->QueueSubmit2 : d->QueueSubmit2KHR)(queue, 1, &s, fence);
}

static VkResult forward_sparse(struct vl_batch *b, struct vl_device *d, VkQueue queue,
                               unsigned parts, VkFence fence)
{
    VkBindSparseInfo s = b->info.sparse;
    s.waitSemaphoreCount = parts & VL_WORK ? b->drivers_waits : 0;
    s.signalSemaphoreCount = parts & VL_SIGNALS ? b->drivers_signals : 0;
    if (!(parts & VL_WORK))
        s.bufferBindCount = s.imageOpaqueBindCount = s.imageBindCount = 0;
    return d->QueueBindSparse(queue, 1, &s, fence);
}

VkResult vl_batch_forward(struct vl_batch *b, struct vl_device *d, VkQueue queue, unsigned parts,
                          VkFence fence)
{
    VkTimelineSemaphoreSubmitInfo *t = b->timeline;
    if (t) {
        t->waitSemaphoreValueCount =
            t->pWaitSemaphoreValues && parts & VL_WORK ? b->drivers_waits : 0;
        t->signalSemaphoreValueCount =
            t->pSignalSemaphoreValues && parts & VL_SIGNALS ? b->drivers_signals : 0;
    }
    switch (b->kind) {
    case VL_BATCH_SUBMIT:
        return forward_submit(b, d, queue, parts, fence);
    case VL_BATCH_SUBMIT_2:
        return forward_submit_2(b, d, queue, parts, fence);
    case VL_BATCH_SPARSE:
        return forward_sparse(b, d, queue, parts, fence);
    case VL_BATCH_PRESENT:
        b->info.present.waitSemaphoreCount = b->drivers_waits;
        return d->QueuePresentKHR(queue, &b->info.present);
    case VL_BATCH_LABEL_BEGIN:
        d->QueueBeginDebugUtilsLabelEXT(queue, &b->info.label);
        return VK_SUCCESS;
    case VL_BATCH_LABEL_INSERT:
        d->QueueInsertDebugUtilsLabelEXT(queue, &b->info.label);
        return VK_SUCCESS;
    case VL_BATCH_EMPTY:
        break;
    }
    return d->QueueSubmit(queue, 0, NULL, fence);
}
