// SPDX-License-Identifier: MIT
// Waits of the host for payloads, alone or together with semaphores and fences of the driver.
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

static VkResult wait_for_all(const struct vl_host_wait *waits, uint32_t count, uint64_t deadline_ns,
                             VkResult (*driver)(void *, uint64_t), void *argument)
{
    for (uint32_t i = 0; i < count; i++)
        if (dm_semaphore_wait(&waits[i].payload->semaphore, waits[i].value, deadline_ns))
            return VK_TIMEOUT;
    return driver ? driver(argument, vl_remaining(deadline_ns)) : VK_SUCCESS;
}

static bool any_reached(const struct vl_host_wait *waits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (dm_semaphore_reached(&waits[i].payload->semaphore, waits[i].value))
            return true;
    return false;
}

static VkResult wait_for_any(const struct vl_host_wait *waits, uint32_t count, uint64_t deadline_ns,
                             VkResult (*driver)(void *, uint64_t), void *argument)
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
        if (!left)
            return any_reached(waits, count) ? VK_SUCCESS : VK_TIMEOUT;
    }
}

VkResult vl_host_wait(struct vl_sync *sync, const struct vl_host_wait *waits, uint32_t count,
                      bool all, uint64_t timeout_ns,
                      VkResult (*driver)(void *argument, uint64_t timeout_ns), void *argument)
{
    VkResult lost = vl_sync_lost(sync);
    if (lost)
        return lost;
    if (!count)
        return driver ? driver(argument, timeout_ns) : VK_SUCCESS;
    uint64_t deadline_ns = vl_deadline(timeout_ns);
    // A program that polls must not wait for the time of a system call.
    if (!timeout_ns && !driver && count == 1)
        return any_reached(waits, 1) ? VK_SUCCESS : VK_TIMEOUT;
    bool one = count + (driver != NULL) == 1;
    return all || one ? wait_for_all(waits, count, deadline_ns, driver, argument)
                      : wait_for_any(waits, count, deadline_ns, driver, argument);
}
