// SPDX-License-Identifier: MIT
// Gets and sets the properties of contexts: id, device, flags and cache preference.
#include "context_facts.h"

#include "call.h"
#include "device.h"
#include "lock.h"

CUresult em_context_device(CUcontext handle, CUdevice *out)
{
    em_assert_unlocked();
    struct em_context *c;
    CUresult r = em_context_get(handle, CUDA_ERROR_CONTEXT_IS_DESTROYED, &c);
    if (r)
        return r;
    *out = c->device->ordinal;
    em_context_put(c);
    return CUDA_SUCCESS;
}

CUresult em_context_id(CUcontext handle, unsigned long long *out)
{
    em_assert_unlocked();
    struct em_context *c;
    CUresult r = em_context_get(handle, CUDA_ERROR_CONTEXT_IS_DESTROYED, &c);
    if (r)
        return r;
    em_lock();
    if (c->base.error_state == EM_DESTROYED)
        r = em_context_error(c);
    else
        *out = c->id;
    em_unlock();
    em_context_put(c);
    return r;
}

CUresult em_context_api_version(CUcontext handle, unsigned *out)
{
    em_assert_unlocked();
    struct em_context *c;
    CUresult r = em_context_get(handle, CUDA_ERROR_INVALID_CONTEXT, &c);
    if (r)
        return r;
    em_lock();
    if (c->base.error_state == EM_DESTROYED)
        r = em_context_gone(c, CUDA_ERROR_INVALID_CONTEXT);
    else
        *out = c->api_version;
    em_unlock();
    em_context_put(c);
    return r;
}

unsigned em_context_flags(void)
{
    em_assert_unlocked();
    em_lock();
    unsigned flags = em_self.current->flags;
    em_unlock();
    return flags;
}

void em_context_set_flags(unsigned flags)
{
    em_assert_unlocked();
    const unsigned changeable = CU_CTX_SCHED_MASK | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_SYNC_MEMOPS;
    em_lock();
    em_self.current->flags = (flags & changeable) | (em_self.current->flags & ~changeable);
    em_unlock();
}

CUfunc_cache em_context_cache_config(void)
{
    em_assert_unlocked();
    em_lock();
    CUfunc_cache config = em_self.current->cache_config;
    em_unlock();
    return config;
}

void em_context_set_cache_config(CUfunc_cache config)
{
    em_assert_unlocked();
    em_lock();
    em_self.current->cache_config = config;
    em_unlock();
}
