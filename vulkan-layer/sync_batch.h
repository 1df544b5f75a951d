// SPDX-License-Identifier: MIT
// Batches: copies of one element of vkQueueSubmit, vkQueueSubmit2 or vkQueueBindSparse, of a
// present or of a queue's debug label, that can be passed on to the driver later than the program
// submitted it.
//
//   the program's batch            the layer                      the driver
//   ┌───────────────────┐  waits   ┌───────────────────┐          ┌───────────────────┐
//   │ wait A, wait B    │ ───────> │ waits[]: A        │          │ wait B            │
//   │ commands          │          │                   │ ───────> │ commands          │
//   │ signal C, signal D│          │ signals[]: C      │          │ signal D          │
//   └───────────────────┘          └───────────────────┘          └───────────────────┘
//     A and C have payloads of the layer, B and D are the driver's
#pragma once
#include "sync.h"
#include "sync_chain.h"

// A wait or signal of a payload.
struct vl_use {
    struct vl_payload *payload;
    uint64_t value;
    bool acquired; // the wait has ended
};

// A temporary payload that a wait of the batch took from a semaphore.
struct vl_taken {
    VkSemaphore semaphore;
    struct vl_payload *payload; // NULL: the driver's
};

enum vl_batch_kind {
    VL_BATCH_EMPTY, // a submission of nothing but a fence
    VL_BATCH_SUBMIT,
    VL_BATCH_SUBMIT_2,
    VL_BATCH_SPARSE,
    VL_BATCH_PRESENT,
    VL_BATCH_LABEL_BEGIN,
    VL_BATCH_LABEL_INSERT,
};

struct vl_batch {
    enum vl_batch_kind kind;
    union {
        VkSubmitInfo submit;
        VkSubmitInfo2 submit_2;
        VkBindSparseInfo sparse;
        VkPresentInfoKHR present;
        VkDebugUtilsLabelEXT label;
    } info; // all pointers are into `copies`, except present.pResults
    // In the chain of `info`, or NULL.
    VkTimelineSemaphoreSubmitInfo *timeline;
    VkDeviceGroupSubmitInfo *group;
    struct vl_use *waits, *signals;
    struct vl_taken *taken;
    uint32_t wait_count, signal_count, taken_count;
    // The driver's own.
    uint32_t drivers_waits, drivers_signals;
    struct vl_copies copies;
};

// Copy a batch. Return false if memory runs out; then nothing has changed. Afterwards
// vl_batch_resolve replaces the semaphores that have payloads.
bool vl_batch_from_submit(struct vl_batch *batch, const VkSubmitInfo *info);
bool vl_batch_from_submit_2(struct vl_batch *batch, const VkSubmitInfo2 *info);
bool vl_batch_from_sparse(struct vl_batch *batch, const VkBindSparseInfo *info);
bool vl_batch_from_present(struct vl_batch *batch, const VkPresentInfoKHR *info);
bool vl_batch_from_label(struct vl_batch *batch, enum vl_batch_kind kind,
                         const VkDebugUtilsLabelEXT *info);
void vl_batch_finish(struct vl_batch *batch);
// Forgets what belongs to the program's call, because the batch outlives it.
void vl_batch_detach(struct vl_batch *batch);
// Moves the semaphores that have payloads from `info` to `waits` and `signals`. Cannot fail.
// Precondition: vl_sync_lock held.
void vl_batch_resolve(struct vl_batch *batch, struct vl_sync *sync);

// Gives the temporary payloads back that the waits took. Precondition: vl_sync_lock held.
void vl_batch_give_back(struct vl_batch *batch, struct vl_sync *sync);

// Returns whether the driver signals this semaphore of its own as a part of the batch.
bool vl_batch_signals(const struct vl_batch *batch, VkSemaphore semaphore);
// Returns whether the batch is a present to this swapchain, among others.
bool vl_batch_presents(const struct vl_batch *batch, VkSwapchainKHR swapchain);
// Returns the i-th of the driver's own semaphores that the batch waits for.
VkSemaphore vl_batch_wait(const struct vl_batch *batch, uint32_t i);

// Parts of a batch.
enum { VL_WORK = 1, VL_SIGNALS = 2 }; // waits and commands; the driver's signals
VkResult vl_batch_forward(struct vl_batch *batch, struct vl_device *d, VkQueue queue,
                          unsigned parts, VkFence fence);
