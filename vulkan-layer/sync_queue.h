// SPDX-License-Identifier: MIT
// Queues: submissions that wait for payloads or signal them.
//
// A queue holds a list of items, one for each batch. A thread of the queue takes the first one,
// waits for its payloads, passes the rest on to the driver, waits for its completion if it has to
// signal payloads, and then removes the item:
//
//   wait for items of other queues that signal the driver's semaphores of this one
//   wait for the payloads in waits[]
//      │ nothing to signal                        │ payloads to signal
//      ▼                                          ▼
//   driver: everything, the fence              driver: the work, a fence of the layer
//                                              wait for that fence
//                                              signal the payloads in signals[]
//                                              driver: the driver's signals, the fence
//                                              signal the fence's payload
//
// As long as the list is not empty, every later submission of the queue joins it. So the driver
// sees the batches in the order of the program, and whoever observes a fence or a semaphore of the
// driver can rely on all earlier signals of payloads. If the list is empty and all payloads are
// there already, the program's own thread passes the batch on.
//
// The program must not use a queue in two threads at once. So only its own thread, if the list is
// empty, or the thread of the queue, if it is not, calls the driver with the queue. The same is
// true of swapchains, but the program may use one while a present to it is held (sync_swapchain.c).
#pragma once
#include "sync_batch.h"

struct vl_item {
    struct vl_item *next;
    struct vl_batch batch;
    VkFence fence;                    // of the driver, or VK_NULL_HANDLE
    struct vl_payload *fence_payload; // of the layer's fence, or NULL
    uint64_t number;                  // counts the items of all queues of the device
    bool signals_passed;              // the driver has got the driver's signals
    bool presents;                    // a present that the driver gets now
    unsigned label_ends;              // vkQueueEndDebugUtilsLabelEXT comes so often after it
    UT_hash_handle hh;                // in sync->by_fence if `fence` is not VK_NULL_HANDLE
};

struct vl_queue {
    VkQueue handle;
    struct vl_sync *sync;
    struct vl_item *first, *last;
    VkFence done;      // notes that the driver has completed the work of an item
    bool done_is_used; // the driver may have it
    pthread_t thread;
    unsigned labels_lost;  // begun while memory was short, and not ended yet
    struct vl_queue *next; // of the device
};

// ---- items (sync_item.c)

void vl_item_free(struct vl_item *item);
// Returns whether the item signals payloads.
bool vl_item_signals(const struct vl_item *item);
// Ends the waits for payloads that can end now. Returns true if those were all.
bool vl_item_acquire(struct vl_item *item);
// Waits for the item's payloads. Returns false if the device is lost or ends.
bool vl_item_wait(struct vl_queue *queue, struct vl_item *item);
// Passes an item on whose payloads were acquired. See the picture above.
VkResult vl_item_pass_on(struct vl_queue *queue, struct vl_item *item);
// Drops an item because the device is lost. The driver only gets those of its signals that it does
// not have yet, because work of other queues may wait for them in the driver.
void vl_item_abandon(struct vl_queue *queue, struct vl_item *item);
// Undoes what a submission that failed has taken from payloads. Precondition: vl_sync_lock held.
void vl_item_undo(struct vl_sync *sync, struct vl_item *item);

// ---- queues (sync_queue.c)

// Passes items on, now or later. Takes them over. Their batches are not resolved yet; `fence` is
// the program's, for the last item. Returns what the driver returns, or VK_SUCCESS, or
// VK_ERROR_OUT_OF_HOST_MEMORY. If it fails, the payloads are as before, unless the device is lost.
VkResult vl_queue_submit(struct vl_queue *queue, struct vl_item *items, VkFence fence);

// Finds or creates the state of a queue. Returns NULL if memory or threads run out.
struct vl_queue *vl_queue_of(struct vl_sync *sync, VkQueue handle);
// Returns NULL if the queue has no state, because it has never held anything.
struct vl_queue *vl_queue_if_any(struct vl_sync *sync, VkQueue handle);
// Returns whether the queue, or any queue of the device if it is NULL, holds items. Precondition:
// vl_sync_lock held.
bool vl_queue_holds(const struct vl_sync *sync, VkQueue handle);
// Ends a debug label after what the queue holds. Returns false if it holds nothing.
bool vl_queue_end_label(struct vl_queue *queue);
// Called before the thread of a queue passes an item on. If it is a present, waits until no thread
// of the program uses its swapchains, and keeps them off until the item is removed.
// (sync_swapchain.c)
void vl_present_begin(struct vl_sync *sync, struct vl_item *item);
// Ends all threads, and frees the queues with what they hold.
void vl_queues_finish(struct vl_sync *sync);
