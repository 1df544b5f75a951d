// SPDX-License-Identifier: MIT
// The manual's chapter "Context Management".
#include "context.h"

#include "api_bodies.h"
#include "context_checks.h"
#include "context_facts.h"
#include "device.h"
#include "limit.h"
#include "pointer_check.h"
#include "stream.h"

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev, int affinity_count,
                       const CUexecAffinityParam *affinities, const CUctxCigParam *cig)
{
    struct em_device *device;
    CUresult r = em_device_get(dev, &device);
    if (r)
        return r;
    if (!pctx)
        return em_null("pctx");
    r = api_check_context_flags(flags, CU_CTX_FLAGS_MASK);
    if (r)
        return r;
    if (affinity_count > 0 && !affinities)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "execAffinityParams is NULL, but numExecAffinityParams is %d",
                       affinity_count);
    r = em_readable("execAffinityParams", affinities,
                    affinity_count > 0 ? (uint64_t)affinity_count : 0, sizeof *affinities);
    if (!r)
        r = em_readable("cigParams", cig, 1, sizeof *cig);
    if (r)
        return r;
    // "execAffinityParams and cigParams are mutually exclusive"
    if (affinity_count > 0 && cig)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "execAffinityParams and cigParams exclude each other; set one of them to NULL");
    // "Creating a context with execution affinity is only supported on Volta+ MPS". Cardless has no
    // MPS.
    if (affinity_count > 0)
        return em_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                       "execution affinity (type %d) needs a device that is shared through MPS",
                       (int)affinities[0].type);
    if (cig) {
        bool d3d12 = cig->sharedDataType == CIG_DATA_TYPE_D3D12_COMMAND_QUEUE;
        bool vulkan = cig->sharedDataType == CIG_DATA_TYPE_NV_BLOB;
        if (!d3d12 && !vulkan)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "sharedDataType (%d) is not a CUcigDataType",
                           (int)cig->sharedDataType);
        if (vulkan && !cig->sharedData)
            return em_null("cigParams->sharedData");
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "device %d does not support CUDA in graphics",
                       dev);
    }
    r = api_check_compute_mode(device);
    // Core dumps on the user's request need the same preparations as core dumps on errors, so the
    // driver reports the flag of the latter.
    if (flags & CU_CTX_USER_COREDUMP_ENABLE)
        flags = (flags & ~(unsigned)CU_CTX_USER_COREDUMP_ENABLE) | CU_CTX_COREDUMP_ENABLE;
    return r ? r : em_context_create(device, flags, pctx);
}

CUresult api_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, 0, NULL, NULL);
}

CUresult api_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, 0, NULL, NULL);
}

CUresult api_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                            unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, numParams, paramsArray, NULL);
}

CUresult api_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                            CUdevice dev)
{
    CUctxCreateParams none = {0};
    const CUctxCreateParams *p = ctxCreateParams ? ctxCreateParams : &none;
    return create(pctx, flags, dev, p->numExecAffinityParams, p->execAffinityParams, p->cigParams);
}

CUresult api_cuCtxDestroy_v2(CUcontext ctx)
{
    return em_context_destroy(ctx);
}

CUresult api_cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", flags);
    return em_context_attach(pctx);
}

CUresult api_cuCtxDetach(CUcontext ctx)
{
    return em_context_detach(ctx);
}

CUresult api_cuCtxPushCurrent_v2(CUcontext ctx)
{
    return em_context_push(ctx);
}

CUresult api_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    return em_context_pop(pctx);
}

CUresult api_cuCtxSetCurrent(CUcontext ctx)
{
    return em_context_set_current(ctx);
}

CUresult api_cuCtxGetCurrent(CUcontext *pctx)
{
    *pctx = em_context_handle(em_self.current);
    return CUDA_SUCCESS;
}

CUresult api_cuCtxGetDevice(CUdevice *device)
{
    *device = em_self.current->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult api_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    return em_context_device(ctx, device);
}

CUresult api_cuCtxGetFlags(unsigned int *flags)
{
    *flags = em_context_flags();
    return CUDA_SUCCESS;
}

CUresult api_cuCtxSetFlags(unsigned int flags)
{
    CUresult r = api_check_context_flags(flags, CU_CTX_FLAGS_MASK);
    if (!r)
        em_context_set_flags(flags);
    return r;
}

CUresult api_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    return em_context_id(ctx, ctxId);
}

CUresult api_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    return em_context_api_version(ctx, version);
}

CUresult api_cuCtxSynchronize(void)
{
    return em_context_synchronize(em_self.current);
}

CUresult api_cuCtxSynchronize_v2(CUcontext ctx)
{
    struct em_context *c;
    CUresult r = em_context_get(ctx, CUDA_ERROR_CONTEXT_IS_DESTROYED, &c);
    if (r)
        return r;
    r = em_context_error_state(c) ? em_context_error(c) : em_context_synchronize(c);
    em_context_put(c);
    return r;
}

CUresult api_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    return em_limit_get(em_self.current, limit, pvalue);
}

CUresult api_cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct em_context *context = em_self.current;
    uint64_t rounded = value;
    size_t now = 0;
    CUresult r = em_limit_round(context, limit, &rounded);
    if (!r)
        r = em_limit_get(context, limit, &now);
    if (r)
        return r;
    // The driver waits before it changes the stacks of kernels (recorded: x_runtime,
    // waiting/limit-set-stack).
    if (limit == CU_LIMIT_STACK_SIZE && now != rounded)
        em_context_drain(context);
    em_limit_set(context, limit, rounded);
    return CUDA_SUCCESS;
}

CUresult api_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    *pconfig = em_context_cache_config();
    return CUDA_SUCCESS;
}

CUresult api_cuCtxSetCacheConfig(CUfunc_cache config)
{
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "config (%d) is not a CUfunc_cache", (int)config);
    em_context_set_cache_config(config);
    return CUDA_SUCCESS;
}

// "On devices with fixed shared memory banks, cuCtxSetSharedMemConfig has no effect". All devices
// of Cardless have fixed banks.
CUresult api_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult api_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    if ((unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "config (%d) is not a CUsharedconfig",
                       (int)config);
    return CUDA_SUCCESS;
}

// "A NULL may be passed in for leastPriority or greatestPriority if the value is not desired."
CUresult api_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    const struct dm_device_profile *p = &em_self.current->device->profile;
    if (leastPriority)
        *leastPriority = p->priority_least;
    if (greatestPriority)
        *greatestPriority = p->priority_greatest;
    return CUDA_SUCCESS;
}

// No line of the host's caches persists, so there is nothing to reset.
CUresult api_cuCtxResetPersistingL2Cache(void)
{
    return CUDA_SUCCESS;
}

CUresult api_cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
    // The driver returns the type even if it is not supported.
    *pExecAffinity = (CUexecAffinityParam){.type = type};
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return em_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                       "type (%d) is not a CUexecAffinityType", (int)type);
    // "number of SMs the context is limited to use": all of them.
    pExecAffinity->param.smCount.val =
        (unsigned)em_device_attribute(em_self.current->device, DM_ATTRIBUTE_multiprocessor_count);
    return CUDA_SUCCESS;
}
