// SPDX-License-Identifier: MIT
// Copies pNext chains by a table of the structs that may be in them.
#include "sync_chain.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

// ---- copies

struct vl_copy {
    struct vl_copy *next;
    _Alignas(16) unsigned char bytes[];
};

void *vl_copy(struct vl_copies *copies, const void *from, size_t count, size_t size)
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

void vl_copies_free(struct vl_copies *copies)
{
    for (struct vl_copy *c = copies->first, *next; c; c = next) {
        next = c->next;
        dm_free(c);
    }
    copies->first = NULL;
}

// ---- the structs

// Structs of newer extensions have one of these forms.
struct one_list {
    VkStructureType sType;
    const void *pNext;
    uint32_t count;
    const void *elements;
};
struct two_words {
    VkStructureType sType;
    const void *pNext;
    uint32_t first, second;
};

// A member that points to an array, and the member with the number of its elements.
struct array {
    uint8_t count_at, pointer_at, element_B;
};
enum { MOST_ARRAYS = 3 };

static const struct chain_row {
    VkStructureType type;
    size_t size;
    struct array arrays[MOST_ARRAYS];
} chain_rows[] = {
#define ARRAY(Struct, count, pointer, Element)                                                     \
    {                                                                                              \
        offsetof(Struct, count), offsetof(Struct, pointer), sizeof(Element)                        \
    }
#define ONE_LIST(type, Element)                                                                    \
    {                                                                                              \
        (VkStructureType)(type), sizeof(struct one_list),                                          \
        {                                                                                          \
            ARRAY(struct one_list, count, elements, Element)                                       \
        }                                                                                          \
    }
    // of submissions
    {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
     sizeof(VkTimelineSemaphoreSubmitInfo),
     {ARRAY(VkTimelineSemaphoreSubmitInfo, waitSemaphoreValueCount, pWaitSemaphoreValues, uint64_t),
      ARRAY(VkTimelineSemaphoreSubmitInfo, signalSemaphoreValueCount, pSignalSemaphoreValues,
            uint64_t)}},
    {VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
     sizeof(VkDeviceGroupSubmitInfo),
     {ARRAY(VkDeviceGroupSubmitInfo, waitSemaphoreCount, pWaitSemaphoreDeviceIndices, uint32_t),
      ARRAY(VkDeviceGroupSubmitInfo, commandBufferCount, pCommandBufferDeviceMasks, uint32_t),
      ARRAY(VkDeviceGroupSubmitInfo, signalSemaphoreCount, pSignalSemaphoreDeviceIndices,
            uint32_t)}},
    {VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, sizeof(VkProtectedSubmitInfo), {{0}}},
    {VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR,
     sizeof(VkPerformanceQuerySubmitInfoKHR),
     {{0}}},
    {VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO, sizeof(VkDeviceGroupBindSparseInfo), {{0}}},
    // of presents
    {VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_INFO_KHR,
     sizeof(VkDeviceGroupPresentInfoKHR),
     {ARRAY(VkDeviceGroupPresentInfoKHR, swapchainCount, pDeviceMasks, uint32_t)}},
    {VK_STRUCTURE_TYPE_DISPLAY_PRESENT_INFO_KHR, sizeof(VkDisplayPresentInfoKHR), {{0}}},
    {VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR,
     sizeof(VkPresentRegionsKHR),
     {ARRAY(VkPresentRegionsKHR, swapchainCount, pRegions, VkPresentRegionKHR)}},
    ONE_LIST(VK_STRUCTURE_TYPE_PRESENT_ID_KHR, uint64_t),
    ONE_LIST(VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE, VkPresentTimeGOOGLE),
    ONE_LIST(1000479001, uint64_t),         // VkPresentId2KHR
    ONE_LIST(1000275001, VkFence),          // VkSwapchainPresentFenceInfoEXT
    ONE_LIST(1000275002, VkPresentModeKHR), // VkSwapchainPresentModeInfoEXT
    {(VkStructureType)1000613000, sizeof(struct two_words), {{0}}}, // VkSetPresentConfigNV
#undef ONE_LIST
#undef ARRAY
};

static void report_dropped(VkStructureType type)
{
    static bool reported;
    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        fprintf(stderr,
                "cardless: the Vulkan layer does not know the struct of type %d in the chain of a "
                "submission that has to wait, so the driver does not get it\n",
                type);
}

static void *copy_struct(struct vl_copies *copies, const VkBaseInStructure *from)
{
    const struct chain_row *row = chain_rows, *end = chain_rows + sizeof chain_rows / sizeof *row;
    while (row < end && row->type != from->sType)
        row++;
    if (row == end) {
        report_dropped(from->sType);
        return NULL;
    }
    unsigned char *s = vl_copy(copies, from, 1, row->size);
    for (const struct array *a = row->arrays; s && a < row->arrays + MOST_ARRAYS; a++) {
        uint32_t count;
        void *elements;
        if (!a->element_B)
            break;
        memcpy(&count, s + a->count_at, sizeof count);
        memcpy(&elements, s + a->pointer_at, sizeof elements);
        elements = vl_copy(copies, elements, count, a->element_B);
        memcpy(s + a->pointer_at, &elements, sizeof elements);
    }
    return s;
}

void vl_copy_chain(struct vl_copies *copies, const void **chain)
{
    const VkBaseInStructure *from = *chain;
    *chain = NULL;
    for (; from; from = from->pNext) {
        VkBaseOutStructure *s = copy_struct(copies, from);
        if (!s)
            continue;
        if (s->sType == VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR) {
            VkPresentRegionsKHR *regions = (VkPresentRegionsKHR *)s;
            VkPresentRegionKHR *list = (VkPresentRegionKHR *)regions->pRegions; // our copy
            for (uint32_t i = 0; list && i < regions->swapchainCount; i++)
                VL_COPY(copies, list[i].pRectangles, list[i].rectangleCount);
        }
        s->pNext = (VkBaseOutStructure *)*chain;
        *chain = s;
    }
}
