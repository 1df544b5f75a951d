// SPDX-License-Identifier: MIT
// Waits for payloads, alone or together with semaphores and fences of the driver, and the end of
// all waits if the device is lost.
#include <errno.h>

#include "clock.h"
#include "sync.h"

// Nobody can sleep on payloads and on the driver's objects at once, so a wait for any of several
// looks at them in turn, at intervals that grow.
enum { SHORTEST_NS = 20 * 1000, LONGEST_NS = 1000 * 1000 };

uint64_t vl_deadline(uint64_t timeout_ns)
{
    uint64_t now = dm_now_ns();
    return timeout_ns < UINT64_MAX - now ? now + timeout_ns : 0;
}

uint64_t vl_remaining(uint64_t deadline_ns)
{
    uint64_t now = dm_now_ns();
    if (!deadline_ns)
        return UINT64_MAX;
    return deadline_ns > now ? deadline_ns - now : 0;
}

// ---- the end of a device

void vl_wake_all(struct vl_sync *sync)
{
    dm_assert_locked(&vl_sync_lock);
    __atomic_store_n(&sync->over, true, __ATOMIC_SEQ_CST);
    for (const struct vl_sleeper *s = sync->sleepers; s; s = s->next)
        dm_semaphore_wake(s->semaphore);
    pthread_cond_broadcast(&sync->changed);
}

int vl_sleep(struct vl_sync *sync, struct vl_payload *payload, uint64_t value, uint64_t deadline_ns)
{
    struct vl_sleeper self = {.semaphore = &payload->semaphore};
    dm_mutex_lock(&vl_sync_lock);
    self.next = sync->sleepers;
    self.link = &sync->sleepers;
    if (self.next)
        self.next->link = &self.next;
    sync->sleepers = &self;
    dm_mutex_unlock(&vl_sync_lock);
    int status = dm_semaphore_wait_unless(self.semaphore, value, deadline_ns, &sync->over);
    dm_mutex_lock(&vl_sync_lock);
    *self.link = self.next;
    if (self.next)
        self.next->link = self.link;
    dm_mutex_unlock(&vl_sync_lock);
    return status;
}

// ---- waits of the host

// A wait in the driver: for a semaphore or fence whose signal the layer may hold, and drop if the
// device is lost.
static VkResult wait_in_driver(const struct vl_sync *sync, uint64_t deadline_ns,
                               VkResult (*driver)(void *, uint64_t), void *argument)
{
    for (;;) {
        uint64_t left = vl_remaining(deadline_ns), slice = left < VL_SLICE_NS ? left : VL_SLICE_NS;
        VkResult r = driver(argument, slice);
        if (r != VK_TIMEOUT)
            return r;
        VkResult lost = vl_sync_lost(sync);
        if (lost || slice == left)
            return lost ? lost : VK_TIMEOUT;
    }
}

static VkResult wait_for_all(struct vl_sync *sync, const struct vl_host_wait *waits, uint32_t count,
                             uint64_t deadline_ns, VkResult (*driver)(void *, uint64_t),
                             void *argument)
{
    for (uint32_t i = 0; i < count; i++) {
        if (dm_semaphore_reached(&waits[i].payload->semaphore, waits[i].value))
            continue;
        int status = vl_sleep(sync, waits[i].payload, waits[i].value, deadline_ns);
        if (status)
            return status == -ETIMEDOUT ? VK_TIMEOUT : VK_ERROR_DEVICE_LOST;
    }
    return driver ? wait_in_driver(sync, deadline_ns, driver, argument) : VK_SUCCESS;
}

static bool any_reached(const struct vl_host_wait *waits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (dm_semaphore_reached(&waits[i].payload->semaphore, waits[i].value))
            return true;
    return false;
}

static VkResult wait_for_any(struct vl_sync *sync, const struct vl_host_wait *waits, uint32_t count,
                             uint64_t deadline_ns, VkResult (*driver)(void *, uint64_t),
                             void *argument)
{
    for (uint64_t interval = SHORTEST_NS;; interval *= 2) {
        if (interval > LONGEST_NS)
            interval = LONGEST_NS;
        if (any_reached(waits, count))
            return VK_SUCCESS;
        uint64_t left = vl_remaining(deadline_ns), slice = left < interval ? left : interval;
        if (driver) {
            VkResult r = driver(argument, slice);
            if (r != VK_TIMEOUT)
                return r;
        } else if (slice) {
            dm_semaphore_wait(&waits[0].payload->semaphore, waits[0].value, dm_now_ns() + slice);
        }
        VkResult lost = vl_sync_lost(sync);
        if (!left || lost)
            return any_reached(waits, count) ? VK_SUCCESS : lost ? lost : VK_TIMEOUT;
    }
}

VkResult vl_host_wait(struct vl_sync *sync, const struct vl_host_wait *waits, uint32_t count,
                      bool all, uint64_t timeout_ns,
                      VkResult (*driver)(void *argument, uint64_t timeout_ns), void *argument)
{
    VkResult lost = vl_sync_lost(sync);
    if (lost)
        return lost;
    uint64_t deadline_ns = vl_deadline(timeout_ns);
    if (!count)
        return driver ? wait_in_driver(sync, deadline_ns, driver, argument) : VK_SUCCESS;
    // A program that polls must not wait for the time of a system call.
    if (!timeout_ns && !driver && count == 1)
        return any_reached(waits, 1) ? VK_SUCCESS : VK_TIMEOUT;
    bool one = count + (driver != NULL) == 1;
    return all || one ? wait_for_all(sync, waits, count, deadline_ns, driver, argument)
                      : wait_for_any(sync, waits, count, deadline_ns, driver, argument);
}
