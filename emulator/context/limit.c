// SPDX-License-Identifier: MIT
// The limits of a context. The device profile holds the numbers, and this file has the rules.
#include "limit.h"

#include "device.h"
#include "error.h"
#include "lock.h"

enum set_rule {
    SET_CLAMPED,  // a value above the maximum becomes the maximum
    SET_CHECKED,  // a value above the maximum is an error
    SET_READONLY, // a program can get the limit, but not set it
};

static const enum set_rule set_rules[DM_LIMIT_COUNT] = {
    [DM_LIMIT_stack_size] = SET_CHECKED,
    [DM_LIMIT_printf_fifo_size] = SET_CLAMPED,
    [DM_LIMIT_malloc_heap_size] = SET_CLAMPED,
    [DM_LIMIT_dev_runtime_sync_depth] = SET_CHECKED,
    [DM_LIMIT_dev_runtime_pending_launch_count] = SET_CLAMPED,
    [DM_LIMIT_max_l2_fetch_granularity] = SET_CHECKED,
    [DM_LIMIT_persisting_l2_cache_size] = SET_CHECKED,
    [DM_LIMIT_shmem_size] = SET_READONLY,
    [DM_LIMIT_cig_enabled] = SET_READONLY,
};

static bool device_has(const struct em_device *device, CUlimit limit)
{
    switch (limit) {
    // "This limit is only applicable to devices of compute capability < 9.0. Attempting to set this
    // limit on devices of other compute capability versions will result in the error
    // CUDA_ERROR_UNSUPPORTED_LIMIT being returned."
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
        return em_device_attribute(device, DM_ATTRIBUTE_compute_capability_major) < 9;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        return em_device_attribute(device, DM_ATTRIBUTE_max_persisting_l2_cache_size) > 0;
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
        return em_device_attribute(device, DM_ATTRIBUTE_d3d12_cig_supported) ||
               em_device_attribute(device, DM_ATTRIBUTE_vulkan_cig_supported);
    default:
        return true;
    }
}

static CUresult check(const struct em_device *device, CUlimit limit)
{
    if ((unsigned)limit >= DM_LIMIT_COUNT)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "limit %d is not a CUlimit", (int)limit);
    if (!device_has(device, limit))
        return em_fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit %s is not supported by device %d (%s)",
                       dm_limit_name(limit), device->ordinal, device->profile.name);
    return CUDA_SUCCESS;
}

CUresult em_limit_get(struct em_context *context, CUlimit limit, size_t *out)
{
    em_assert_unlocked();
    CUresult r = check(context->device, limit);
    if (r)
        return r;
    em_lock();
    *out = context->limit[limit];
    em_unlock();
    return CUDA_SUCCESS;
}

void em_limit_fix(struct em_context *context, CUlimit limit)
{
    em_assert_locked();
    context->limits_fixed |= 1u << limit;
}

static bool is_fixed(const struct em_context *context, CUlimit limit)
{
    em_lock();
    const bool fixed = context->limits_fixed >> limit & 1;
    em_unlock();
    return fixed;
}

CUresult em_limit_round(struct em_context *context, CUlimit limit, uint64_t *wanted)
{
    em_assert_unlocked();
    uint64_t value = *wanted;
    CUresult r = check(context->device, limit);
    if (r)
        return r;
    const struct dm_limit *l = &context->device->profile.limit[limit];
    if (set_rules[limit] == SET_READONLY)
        return em_fail(CUDA_ERROR_NOT_PERMITTED,
                       "limit %s is read-only; only cuCtxGetLimit takes it", dm_limit_name(limit));
    // "Setting CU_LIMIT_PRINTF_FIFO_SIZE must be performed before launching any kernel that uses
    // the printf() device system call, otherwise CUDA_ERROR_INVALID_VALUE will be returned." The
    // same for CU_LIMIT_MALLOC_HEAP_SIZE, and malloc() and free().
    if (is_fixed(context, limit))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "limit %s cannot be set after a kernel that depends on it was launched",
                       dm_limit_name(limit));
    if (value > l->maximum && set_rules[limit] == SET_CHECKED)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE, "value (%llu) exceeds the maximum of limit %s, %llu",
            (unsigned long long)value, dm_limit_name(limit), (unsigned long long)l->maximum);
    if (value < l->minimum)
        value = l->minimum;
    // "The driver is free to modify the requested value to meet h/w requirements". If the sum wraps
    // around, the limit becomes 0, as on a card.
    value = (value + l->granule - 1) / l->granule * l->granule;
    if (value > l->maximum)
        value = l->maximum;
    *wanted = value;
    return CUDA_SUCCESS;
}

void em_limit_set(struct em_context *context, CUlimit limit, uint64_t value)
{
    em_assert_unlocked();
    em_lock();
    __atomic_store_n(&context->limit[limit], value, __ATOMIC_RELAXED);
    em_unlock();
}
