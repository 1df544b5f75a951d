// SPDX-License-Identifier: MIT
// Semaphores and fences that this layer provides: those of a handle type that the driver lacks.
//
// A device has a struct vl_sync if the program enabled VK_KHR_external_semaphore(_fd) or
// VK_KHR_external_fence(_fd), and the driver does not offer OPAQUE_FD for all of them. The calls of
// other devices go straight to the driver.
//
// The handle of such a semaphore is one of the driver's, so that other layers and names for
// debuggers work, but the driver never sees it in a submission: the layer keeps the state in a
// payload (sync_object.h). A semaphore that was neither created exportable nor imported has no
// payload and is the driver's own.
#pragma once
#include "dispatch.h"
#include "mutex.h"
#include "record.h"
#include "sync_object.h"

struct vl_queue;

struct vl_sync {
    struct vl_device *device;
    bool semaphore_fd, fence_fd;  // the extensions with functions that the program enabled
    bool binary, timeline, fence; // the layer provides OPAQUE_FD for these
    struct vl_objects semaphores, fences;
    struct vl_queue *queues;
    struct vl_item *by_fence;                // the items that hold a fence of the driver
    struct vl_swapchain_use *swapchain_uses; // threads of the program that call the driver
    uint64_t items;                          // so far, of all queues
    struct vl_sleeper *sleepers;             // the threads that wait for payloads
    pthread_cond_t changed; // a queue has finished an item or got one, or the device ends
    // Atomic, and written with the lock held.
    bool stopping; // vkDestroyDevice: the threads of the queues leave
    bool lost;     // the driver refused a submission that had been accepted before
    bool over;     // stopping or lost: nobody waits for payloads any more
};

// Guards all of the above and the queues. The next layer's functions are called without it.
extern struct dm_mutex vl_sync_lock;

// ---- devices (sync_device.c)

// What vkCreateDevice needs to know. `names` are the extensions that go down to the driver.
struct vl_sync_plan {
    struct vl_sync *sync; // NULL: nothing to do
    const char **names;   // NULL: as the program has passed them
    uint32_t count;
};

// Finds out which extensions of `info` this layer has to provide. Returns VK_SUCCESS or
// VK_ERROR_OUT_OF_HOST_MEMORY.
VkResult vl_sync_prepare(struct vl_instance *i, VkPhysicalDevice physical,
                         const VkDeviceCreateInfo *info, struct vl_sync_plan *plan);
// Frees the plan's memory. The device keeps plan->sync if it was created.
void vl_sync_prepared(struct vl_sync_plan *plan, bool created);
// Ends the threads of the device's queues, drops what they hold, and frees all state.
void vl_sync_finish(struct vl_sync *sync);
// Returns VK_ERROR_DEVICE_LOST if the device is lost, else VK_SUCCESS. A device is lost if the
// driver refuses a submission that the program believes to be accepted.
VkResult vl_sync_lost(const struct vl_sync *sync);
// Marks the device as lost because of the driver's error `r`, says so once, and wakes everybody who
// waits. Precondition: vl_sync_lock held.
void vl_sync_lose(struct vl_sync *sync, VkResult r);

// ---- semaphores (sync_semaphore.c) and fences (sync_fence.c)

// Return true if a submission that uses the handle concerns the layer. Precondition: vl_sync_lock
// held.
bool vl_semaphore_is_ours(struct vl_sync *sync, VkSemaphore handle);
bool vl_fence_is_ours(struct vl_sync *sync, VkFence handle);
// Return the payload that a submitted wait, signal or fence operation acts on, with a reference for
// the caller; NULL if it is the driver's. A wait takes a temporary payload away, as "the import of
// a temporary payload" demands, and sets *temporary. Precondition: vl_sync_lock held.
struct vl_payload *vl_semaphore_for_wait(struct vl_sync *sync, VkSemaphore handle, bool *temporary);
struct vl_payload *vl_semaphore_for_signal(struct vl_sync *sync, VkSemaphore handle);
struct vl_payload *vl_fence_for_signal(struct vl_sync *sync, VkFence handle);
// Puts a temporary payload back that a wait has taken, because the submission failed. `payload` is
// NULL if it is the driver's. Precondition: vl_sync_lock held.
void vl_semaphore_give_back(struct vl_sync *sync, VkSemaphore handle, struct vl_payload *payload);
// Returns whether the semaphore is a timeline. Precondition: vl_sync_lock held.
bool vl_semaphore_is_timeline(struct vl_sync *sync, VkSemaphore handle);
// Returns whether a queue holds the submission of this fence of the driver's. Until it is passed
// on, the driver must not be asked for the fence, because "host access to fence must be externally
// synchronized" with vkQueueSubmit. `changed` is signalled afterwards. Precondition: vl_sync_lock
// held. (sync_queue.c)
bool vl_fence_is_held(struct vl_sync *sync, VkFence handle);
// Waits until no queue holds a submission that signals the semaphore or the fence, of which one may
// be VK_NULL_HANDLE. Returns VK_SUCCESS or VK_ERROR_DEVICE_LOST. (sync_queue.c)
VkResult vl_await_passed_on(struct vl_sync *sync, VkSemaphore semaphore, VkFence fence);
// Waits until the queue, or any queue of the device if it is NULL, holds nothing. (sync_queue.c)
void vl_queue_drain(struct vl_sync *sync, VkQueue handle);

// ---- waits (sync_wait.c)

// A thread that waits for a payload, so that the end of the device can wake it.
struct vl_sleeper {
    struct dm_semaphore *semaphore;
    struct vl_sleeper *next, **link;
};
// Sleeps until the payload reaches `value`, as dm_semaphore_wait_unless does. Returns -ECANCELED if
// the device is lost or ends. The payload is not acquired.
int vl_sleep(struct vl_sync *sync, struct vl_payload *payload, uint64_t value,
             uint64_t deadline_ns);
// Wakes all threads that wait for payloads or for queues of the device, after `lost` or `stopping`
// has changed. Precondition: vl_sync_lock held.
void vl_wake_all(struct vl_sync *sync);
// The longest wait in the driver between two looks at whether the device is lost.
enum { VL_SLICE_NS = 50 * 1000 * 1000 };

// One semaphore or fence that a host wait is about. `payload` NULL: the driver's.
struct vl_host_wait {
    struct vl_payload *payload;
    uint64_t value;
};
// Returns the clock of dm_now_ns at the end of a timeout; 0 if that is beyond what it can count.
uint64_t vl_deadline(uint64_t timeout_ns);
// Returns the time that is left; UINT64_MAX if the deadline is 0.
uint64_t vl_remaining(uint64_t deadline_ns);
// Waits for all or any of `count` payloads, and of what `driver(argument, timeout_ns)` waits for in
// the same way; `driver` may be NULL. Returns VK_SUCCESS, VK_TIMEOUT, the driver's error, or
// VK_ERROR_DEVICE_LOST.
VkResult vl_host_wait(struct vl_sync *sync, const struct vl_host_wait *waits, uint32_t count,
                      bool all, uint64_t timeout_ns,
                      VkResult (*driver)(void *argument, uint64_t timeout_ns), void *argument);
