// SPDX-License-Identifier: MIT
// Copies batches, takes the layer's semaphores out of them, and passes them on.
#include "sync_batch.h"

#include <stdio.h>
#include <string.h>

// ---- copies

struct vl_copy {
    struct vl_copy *next;
    _Alignas(16) unsigned char bytes[];
};

// Returns a copy of an array; NULL if it is empty, or if memory runs out, which `copies` notes.
static void *copy(struct vl_copies *copies, const void *from, size_t count, size_t size)
{
    if (!from || !count || copies->failed)
        return NULL;
    struct vl_copy *c = dm_alloc(sizeof *c + count * size);
    if (!c) {
        copies->failed = true;
        return NULL;
    }
    memcpy(c->bytes, from, count * size);
    c->next = copies->first;
    copies->first = c;
    return c->bytes;
}

static void copies_free(struct vl_copies *copies)
{
    for (struct vl_copy *c = copies->first, *next; c; c = next) {
        next = c->next;
        dm_free(c);
    }
    copies->first = NULL;
}

// Replaces a pointer to an array by one to a copy.
#define COPY(copies, pointer, count) ((pointer) = copy(copies, pointer, count, sizeof *(pointer)))

// ---- chains

// Structs of these extensions, for headers that lack them, have the form of this one.
struct counted {
    VkStructureType type;
    const void *next;
    uint32_t count;
    const void *elements;
};

static const struct chain_row {
    VkStructureType type;
    size_t size;
    size_t element; // size of an element if it is a struct counted
} chain_rows[] = {
    {VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, sizeof(VkProtectedSubmitInfo), 0},
    {VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR, sizeof(VkPerformanceQuerySubmitInfoKHR),
     0},
    {VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO, sizeof(VkDeviceGroupBindSparseInfo), 0},
    {VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_INFO_KHR, sizeof(VkDeviceGroupPresentInfoKHR),
     sizeof(uint32_t)},
    {VK_STRUCTURE_TYPE_PRESENT_ID_KHR, sizeof(VkPresentIdKHR), sizeof(uint64_t)},
    // VkSwapchainPresentFenceInfoEXT and VkSwapchainPresentModeInfoEXT.
    {(VkStructureType)1000275001, sizeof(struct counted), sizeof(VkFence)},
    {(VkStructureType)1000275002, sizeof(struct counted), sizeof(VkPresentModeKHR)},
};
_Static_assert(offsetof(VkPresentIdKHR, pPresentIds) == offsetof(struct counted, elements) &&
                   offsetof(VkDeviceGroupPresentInfoKHR, pDeviceMasks) ==
                       offsetof(struct counted, elements),
               "these structs begin like struct counted");

static void report_dropped(VkStructureType type)
{
    static bool reported;
    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        fprintf(stderr,
                "cardless: the Vulkan layer does not know the struct of type %d in the chain of a "
                "submission that has to wait, so the driver does not get it\n",
                type);
}

// Puts a struct of the batch in front of a chain.
static void chain_push(const void **chain, void *s)
{
    ((VkBaseOutStructure *)s)->pNext = (VkBaseOutStructure *)*chain;
    *chain = s;
}

static void copy_timeline(struct vl_batch *b, const void *from, const void **chain)
{
    VkTimelineSemaphoreSubmitInfo *t = copy(&b->copies, from, 1, sizeof *t);
    if (!t)
        return;
    COPY(&b->copies, t->pWaitSemaphoreValues, t->waitSemaphoreValueCount);
    COPY(&b->copies, t->pSignalSemaphoreValues, t->signalSemaphoreValueCount);
    b->timeline = t;
    chain_push(chain, t);
}

static void copy_group(struct vl_batch *b, const void *from, const void **chain)
{
    VkDeviceGroupSubmitInfo *g = copy(&b->copies, from, 1, sizeof *g);
    if (!g)
        return;
    COPY(&b->copies, g->pWaitSemaphoreDeviceIndices, g->waitSemaphoreCount);
    COPY(&b->copies, g->pCommandBufferDeviceMasks, g->commandBufferCount);
    COPY(&b->copies, g->pSignalSemaphoreDeviceIndices, g->signalSemaphoreCount);
    b->group = g;
    chain_push(chain, g);
}

static void copy_other(struct vl_batch *b, const VkBaseInStructure *from, const void **chain)
{
    for (size_t i = 0; i < sizeof chain_rows / sizeof *chain_rows; i++) {
        if (chain_rows[i].type != from->sType)
            continue;
        void *s = copy(&b->copies, from, 1, chain_rows[i].size);
        struct counted *list = chain_rows[i].element ? s : NULL;
        if (list)
            list->elements = copy(&b->copies, list->elements, list->count, chain_rows[i].element);
        if (s)
            chain_push(chain, s);
        return;
    }
    report_dropped(from->sType);
}

static void copy_chain(struct vl_batch *b, const void **chain)
{
    const void *from = *chain;
    *chain = NULL;
    for (const VkBaseInStructure *s = from; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            copy_timeline(b, s, chain);
        else if (s->sType == VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO)
            copy_group(b, s, chain);
        else
            copy_other(b, s, chain);
    }
}

// ---- batches

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
    COPY(&b->copies, s->pWaitSemaphores, s->waitSemaphoreCount);
    COPY(&b->copies, s->pWaitDstStageMask, s->waitSemaphoreCount);
    COPY(&b->copies, s->pCommandBuffers, s->commandBufferCount);
    COPY(&b->copies, s->pSignalSemaphores, s->signalSemaphoreCount);
    copy_chain(b, &s->pNext);
    return batch_complete(b, s->waitSemaphoreCount, s->signalSemaphoreCount);
}

bool vl_batch_from_submit_2(struct vl_batch *b, const VkSubmitInfo2 *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_SUBMIT_2;
    VkSubmitInfo2 *s = &b->info.submit_2;
    *s = *info;
    COPY(&b->copies, s->pWaitSemaphoreInfos, s->waitSemaphoreInfoCount);
    COPY(&b->copies, s->pCommandBufferInfos, s->commandBufferInfoCount);
    COPY(&b->copies, s->pSignalSemaphoreInfos, s->signalSemaphoreInfoCount);
    copy_chain(b, &s->pNext);
    return batch_complete(b, s->waitSemaphoreInfoCount, s->signalSemaphoreInfoCount);
}

// Copies an array of binds, and the array that each of them points to.
#define COPY_BINDS(copies, Type, binds, count)                                                     \
    do {                                                                                           \
        Type *bind_ = copy(copies, binds, count, sizeof *bind_);                                   \
        for (uint32_t i_ = 0; bind_ && i_ < (count); i_++)                                         \
            COPY(copies, bind_[i_].pBinds, bind_[i_].bindCount);                                   \
        (binds) = bind_;                                                                           \
    } while (0)

bool vl_batch_from_sparse(struct vl_batch *b, const VkBindSparseInfo *info)
{
    memset(b, 0, sizeof *b);
    b->kind = VL_BATCH_SPARSE;
    VkBindSparseInfo *s = &b->info.sparse;
    struct vl_copies *c = &b->copies;
    *s = *info;
    COPY(c, s->pWaitSemaphores, s->waitSemaphoreCount);
    COPY(c, s->pSignalSemaphores, s->signalSemaphoreCount);
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
    p->pResults = NULL; // the program's, which has returned by then
    COPY(&b->copies, p->pWaitSemaphores, p->waitSemaphoreCount);
    COPY(&b->copies, p->pSwapchains, p->swapchainCount);
    COPY(&b->copies, p->pImageIndices, p->swapchainCount);
    copy_chain(b, &p->pNext);
    return batch_complete(b, p->waitSemaphoreCount, 0);
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
    copies_free(&b->copies);
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
    case VL_BATCH_EMPTY:
        break;
    }
    return d->QueueSubmit(queue, 0, NULL, fence);
}
