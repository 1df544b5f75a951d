// SPDX-License-Identifier: MIT
// The manual's chapters "Execution Control" and "Occupancy".
#include "api_bodies.h"
#include "call.h"
#include "capture.h"
#include "captured.h"
#include "context.h"
#include "error.h"
#include "function.h"
#include "kernel_launch.h"
#include "occupancy.h"
#include "pointer_check.h"
#include "stream.h"

// ---- functions ----

CUresult api_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    return em_function_get_attribute(hfunc, attrib, pi);
}

CUresult api_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    return em_function_set_attribute(hfunc, attrib, value);
}

CUresult api_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    CUresult r = em_function_check(hfunc, CUDA_ERROR_INVALID_HANDLE);
    return r ? r : em_cache_config_check(config);
}

CUresult api_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    CUresult r = em_function_check(hfunc, CUDA_ERROR_INVALID_HANDLE);
    if (!r && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "config (%d) is not a CUsharedconfig", (int)config);
    return r;
}

CUresult api_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    return em_function_module(hfunc, hmod);
}

CUresult api_cuFuncGetName(const char **name, CUfunction hfunc)
{
    return em_function_name(hfunc, name);
}

CUresult api_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                size_t *paramSize)
{
    return em_function_parameter(func, paramIndex, paramOffset, paramSize);
}

CUresult api_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    bool loaded = false;
    CUresult r = em_function_is_loaded(function, &loaded);
    if (!r)
        *state = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return r;
}

// "Finalizes function loading for function. Calling this API with a fully loaded function has no
// effect."
CUresult api_cuFuncLoad(CUfunction function)
{
    return em_function_check(function, CUDA_ERROR_INVALID_HANDLE);
}

// ---- launches ----

CUresult api_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                            unsigned int blockDimZ, unsigned int sharedMemBytes,
                            struct em_stream *hStream, void **kernelParams, void **extra)
{
    const struct em_launch_config c = {.function = f,
                                       .blocks = {gridDimX, gridDimY, gridDimZ},
                                       .threads = {blockDimX, blockDimY, blockDimZ},
                                       .shared_B = sharedMemBytes,
                                       .parameters = kernelParams,
                                       .extra = extra};
    return em_launch(&c, hStream);
}

CUresult api_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX,
                                       unsigned int blockDimY, unsigned int blockDimZ,
                                       unsigned int sharedMemBytes, struct em_stream *hStream,
                                       void **kernelParams)
{
    CUlaunchAttributeValue values[EM_LAUNCH_ATTRIBUTES];
    const struct em_launch_config c = {
        .function = f,
        .blocks = {gridDimX, gridDimY, gridDimZ},
        .threads = {blockDimX, blockDimY, blockDimZ},
        .shared_B = sharedMemBytes,
        .parameters = kernelParams,
        .attributes = {
            .cooperative = true, .given = 1u << CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .values = values}};
    values[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative = 1;
    return em_launch(&c, hStream);
}

// A stream inside a struct. em_stream_put is needed unless it is the default one.
static CUresult open_stream(CUstream handle, struct em_stream *default_stream,
                            struct em_stream **out)
{
    CUresult r = CUDA_SUCCESS;
    *out = default_stream;
    if (handle)
        r = em_stream_get(handle, out);
    if (!r && __atomic_load_n(&em_captures, __ATOMIC_ACQUIRE)) {
        r = em_capture_check(em_self.entry->capture, *out);
        if (r && handle)
            em_stream_put(*out);
    }
    return r;
}

enum { UPDATABLE = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE };

// "On success, a handle will be returned via devNode."
static void return_device_node(const CUlaunchConfig *config, const CUlaunchAttributeValue *value)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUlaunchAttribute *a = &config->attrs[i];
        if ((int)a->id == UPDATABLE)
            a->value.deviceUpdatableKernelNode.devNode = value->deviceUpdatableKernelNode.devNode;
    }
}

CUresult api_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                              void **extra, struct em_stream *default_stream)
{
    CUlaunchAttributeValue values[EM_LAUNCH_ATTRIBUTES];
    struct em_launch_config c = {
        .function = f,
        .blocks = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .threads = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_B = config->sharedMemBytes,
        .parameters = kernelParams,
        .extra = extra,
        .attributes.values = values};
    struct em_stream *s;
    CUresult r = f ? CUDA_SUCCESS : em_null_handle("f");
    if (!r && config->numAttrs && !config->attrs)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "attrs is NULL, but numAttrs is %u",
                    config->numAttrs);
    if (!r)
        r = em_readable("config->attrs", config->attrs, config->numAttrs, sizeof *config->attrs);
    for (unsigned i = 0; i < config->numAttrs && !r; i++)
        r = em_launch_set_attribute(&c.attributes, config->attrs[i].id, &config->attrs[i].value,
                                    false);
    if (!r)
        r = open_stream(config->hStream, default_stream, &s);
    if (r)
        return r;
    r = em_launch(&c, s);
    if (config->hStream)
        em_stream_put(s);
    if (!r && c.attributes.given >> UPDATABLE & 1)
        return_device_node(config, &values[UPDATABLE]);
    return r;
}

// "numDevices: … The hStream of each must be a created stream of another device."
CUresult api_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
                                                  unsigned int numDevices, unsigned int flags)
{
    enum {
        KNOWN = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC |
                CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC
    };
    if (!numDevices || flags & ~(unsigned)KNOWN)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "numDevices (%u) must not be 0, and flags (%#x) must be "
                       "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_*",
                       numDevices, flags);
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < numDevices && !r; i++) {
        const CUDA_LAUNCH_PARAMS *p = &launchParamsList[i];
        struct em_stream *s;
        if (!p->hStream || p->hStream == CU_STREAM_LEGACY || p->hStream == CU_STREAM_PER_THREAD)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "launchParamsList[%u].hStream is a default stream; create one", i);
        r = open_stream(p->hStream, NULL, &s);
        if (r)
            break;
        r = api_cuLaunchCooperativeKernel(p->function, p->gridDimX, p->gridDimY, p->gridDimZ,
                                          p->blockDimX, p->blockDimY, p->blockDimZ,
                                          p->sharedMemBytes, s, p->kernelParams);
        em_stream_put(s);
    }
    return r;
}

// ---- launches that are set up one by one ----

CUresult api_cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
    return em_function_set_block(hfunc, x, y, z);
}

CUresult api_cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
    return em_function_set_shared(hfunc, bytes);
}

CUresult api_cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
    return em_function_set_parameters_size(hfunc, numbytes);
}

CUresult api_cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
    return em_function_set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult api_cuParamSetf(CUfunction hfunc, int offset, float value)
{
    return em_function_set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult api_cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
    return ptr ? em_function_set_parameter(hfunc, offset, ptr, numbytes) : em_null("ptr");
}

static CUresult launch_default(CUfunction f, int width, int height)
{
    struct em_stream *s;
    CUresult r = open_stream(CU_STREAM_LEGACY, NULL, &s);
    if (r)
        return r;
    r = em_launch_old(f, width, height, s);
    em_stream_put(s);
    return r;
}

CUresult api_cuLaunch(CUfunction f)
{
    return launch_default(f, 1, 1);
}

CUresult api_cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
    return launch_default(f, grid_width, grid_height);
}

CUresult api_cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height,
                               struct em_stream *hStream)
{
    return em_launch_old(f, grid_width, grid_height, hStream);
}

// ---- occupancy ----

CUresult api_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                         int blockSize, size_t dynamicSMemSize)
{
    return em_occupancy_blocks(func, blockSize, dynamicSMemSize, 0, numBlocks);
}

CUresult api_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize,
                                                                  unsigned int flags)
{
    return em_occupancy_blocks(func, blockSize, dynamicSMemSize, flags, numBlocks);
}

CUresult api_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit)
{
    return em_occupancy_potential(func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
                                  0, minGridSize, blockSize);
}

CUresult
api_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit,
                                              unsigned int flags)
{
    return em_occupancy_potential(func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
                                  flags, minGridSize, blockSize);
}

CUresult api_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                     int numBlocks, int blockSize)
{
    return em_occupancy_shared(func, numBlocks, blockSize, dynamicSmemSize);
}

CUresult api_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                                const CUlaunchConfig *config)
{
    return em_occupancy_cluster_size(func, config, clusterSize);
}

CUresult api_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                          const CUlaunchConfig *config)
{
    return em_occupancy_clusters(func, config, numClusters);
}
