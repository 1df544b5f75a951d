// SPDX-License-Identifier: MIT
// Attributes of kernels, and the handles that the driver has for them.
#include "fat_binary.h"

// A kernel, whose attributes belong to a device, or the function of a context. The driver keeps any
// number for attribute 14 of a kernel, but 0 or 1 for that of a function (recorded:
// functions/set-14 and x_streams func_attributes/set-14).
struct function_handle {
    CUkernel kernel; // NULL: it is a function
    CUfunction function;
    CUdevice device; // of the kernel
};

static cudaError_t function_handle(const void *func, struct function_handle *handle)
{
    CUfunction launchable, function;
    const cudaError_t error = rt_launchable(func, &launchable);
    if (error != cudaSuccess)
        return error;
    *handle = (struct function_handle){.function = launchable};
    const CUresult result = rt_kernel_function(launchable, &function);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return cudaSuccess; // a function already, or no handle at all
    RT_TRY(result);
    // The driver knows the kernel's attributes even if the context cannot be used any more.
    RT_TRY(rt_cu.cuCtxGetStreamPriorityRange(NULL, NULL));
    handle->kernel = (CUkernel)launchable;
    return rt_error(rt_cu.cuCtxGetDevice(&handle->device));
}

static CUresult function_attribute(const struct function_handle *h, CUfunction_attribute attribute,
                                   int *value)
{
    if (h->kernel)
        return rt_cu.cuKernelGetAttribute(value, attribute, h->kernel, h->device);
    return rt_cu.cuFuncGetAttribute(value, attribute, h->function);
}

cudaError_t rt_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    struct function_handle handle;
    const cudaError_t error = function_handle(func, &handle);
    if (error != cudaSuccess)
        return error;
    if (!attr)
        return rt_fail(cudaErrorInvalidValue, "argument attr is NULL");

    int values[CU_FUNC_ATTRIBUTE_MAX];
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++)
        RT_TRY(function_attribute(&handle, (CUfunction_attribute)i, &values[i]));
    *attr = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES],
        .constSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES],
        .localSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES],
        .maxThreadsPerBlock = values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
        .numRegs = values[CU_FUNC_ATTRIBUTE_NUM_REGS],
        .ptxVersion = values[CU_FUNC_ATTRIBUTE_PTX_VERSION],
        .binaryVersion = values[CU_FUNC_ATTRIBUTE_BINARY_VERSION],
        .cacheModeCA = values[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA],
        .maxDynamicSharedSizeBytes = values[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
        .preferredShmemCarveout = values[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
        .clusterDimMustBeSet = values[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET],
        .requiredClusterWidth = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
        .requiredClusterHeight = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT],
        .requiredClusterDepth = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH],
        .clusterSchedulingPolicyPreference =
            values[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE],
        .nonPortableClusterSizeAllowed =
            values[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED],
    };
    return cudaSuccess;
}

_Static_assert((int)cudaFuncAttributeMaxDynamicSharedMemorySize ==
                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
                   (int)cudaFuncAttributeClusterSchedulingPolicyPreference ==
                       CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
               "attributes have the driver's numbers");

cudaError_t rt_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    struct function_handle h;
    const cudaError_t error = function_handle(func, &h);
    if (error != cudaSuccess)
        return error;
    const CUfunction_attribute attribute = (CUfunction_attribute)attr;
    if (h.kernel)
        return rt_error(rt_cu.cuKernelSetAttribute(attribute, value, h.kernel, h.device));
    return rt_error(rt_cu.cuFuncSetAttribute(h.function, attribute, value));
}

cudaError_t rt_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuFuncSetCacheConfig(function, (CUfunc_cache)cacheConfig));
}

cudaError_t rt_cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuFuncSetSharedMemConfig(function, (CUsharedconfig)config));
}

// Needs no context, because the name belongs to the kernel.
cudaError_t rt_cudaFuncGetName(const char **name, const void *func)
{
    CUfunction function;
    const cudaError_t error = rt_launchable(func, &function);
    if (error != cudaSuccess)
        return error;
    if (!name)
        return rt_fail(cudaErrorInvalidValue, "argument name is NULL");
    struct rt_messages messages;
    rt_messages_begin(&messages);
    const CUresult result = rt_cu.cuKernelGetName(name, (CUkernel)function);
    rt_messages_end(&messages);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return rt_error(rt_cu.cuFuncGetName(name, function));
    return rt_fail_held(&messages, result);
}

cudaError_t rt_cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                    size_t *paramSize)
{
    CUfunction function;
    const cudaError_t error = rt_function(func, &function);
    if (error != cudaSuccess)
        return error;
    return rt_error(rt_cu.cuFuncGetParamInfo(function, paramIndex, paramOffset, paramSize));
}

cudaError_t rt_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    CUkernel kernel;
    if (!kernelPtr)
        return rt_fail(cudaErrorInvalidValue, "argument kernelPtr is NULL");
    const cudaError_t error = rt_registered_kernel(entryFuncAddr, &kernel);
    if (error == cudaSuccess)
        *kernelPtr = (cudaKernel_t)kernel;
    return error;
}

// A NULL output is no error (recorded: functions/by-symbol-nulls).
cudaError_t rt_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CUkernel kernel;
    const cudaError_t error = rt_registered_kernel(symbolPtr, &kernel);
    if (error != cudaSuccess)
        return error;
    CUfunction function;
    RT_TRY(rt_cu.cuKernelGetFunction(&function, kernel));
    if (functionPtr)
        *functionPtr = (cudaFunction_t)function;
    return cudaSuccess;
}
