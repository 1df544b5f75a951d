// SPDX-License-Identifier: MIT
// The manual's chapter "Device Management": attributes and properties of devices.
#include <string.h>

#include "rt.h"

// The members of cudaDeviceProp that are attributes of the driver: RT_PROPERTY(member, attribute),
// without the prefix CU_DEVICE_ATTRIBUTE_.
#define RT_PROPERTIES                                                                              \
    RT_PROPERTY(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                    \
    RT_PROPERTY(regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                             \
    RT_PROPERTY(warpSize, WARP_SIZE)                                                               \
    RT_PROPERTY(memPitch, MAX_PITCH)                                                               \
    RT_PROPERTY(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                         \
    RT_PROPERTY(maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                 \
    RT_PROPERTY(maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                 \
    RT_PROPERTY(maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                 \
    RT_PROPERTY(maxGridSize[0], MAX_GRID_DIM_X)                                                    \
    RT_PROPERTY(maxGridSize[1], MAX_GRID_DIM_Y)                                                    \
    RT_PROPERTY(maxGridSize[2], MAX_GRID_DIM_Z)                                                    \
    RT_PROPERTY(totalConstMem, TOTAL_CONSTANT_MEMORY)                                              \
    RT_PROPERTY(major, COMPUTE_CAPABILITY_MAJOR)                                                   \
    RT_PROPERTY(minor, COMPUTE_CAPABILITY_MINOR)                                                   \
    RT_PROPERTY(textureAlignment, TEXTURE_ALIGNMENT)                                               \
    RT_PROPERTY(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                    \
    RT_PROPERTY(multiProcessorCount, MULTIPROCESSOR_COUNT)                                         \
    RT_PROPERTY(integrated, INTEGRATED)                                                            \
    RT_PROPERTY(canMapHostMemory, CAN_MAP_HOST_MEMORY)                                             \
    RT_PROPERTY(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH)                                             \
    RT_PROPERTY(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)                             \
    RT_PROPERTY(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH)                                          \
    RT_PROPERTY(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT)                                         \
    RT_PROPERTY(maxTexture2DMipmap[0], MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)                          \
    RT_PROPERTY(maxTexture2DMipmap[1], MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)                         \
    RT_PROPERTY(maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH)                             \
    RT_PROPERTY(maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)                            \
    RT_PROPERTY(maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH)                             \
    RT_PROPERTY(maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH)                             \
    RT_PROPERTY(maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT)                            \
    RT_PROPERTY(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH)                                          \
    RT_PROPERTY(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT)                                         \
    RT_PROPERTY(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH)                                          \
    RT_PROPERTY(maxTexture3DAlt[0], MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE)                             \
    RT_PROPERTY(maxTexture3DAlt[1], MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE)                            \
    RT_PROPERTY(maxTexture3DAlt[2], MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)                             \
    RT_PROPERTY(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH)                                   \
    RT_PROPERTY(maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH)                           \
    RT_PROPERTY(maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS)                          \
    RT_PROPERTY(maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH)                           \
    RT_PROPERTY(maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)                          \
    RT_PROPERTY(maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS)                          \
    RT_PROPERTY(maxTextureCubemapLayered[0], MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)                 \
    RT_PROPERTY(maxTextureCubemapLayered[1], MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)                \
    RT_PROPERTY(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH)                                             \
    RT_PROPERTY(maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH)                                          \
    RT_PROPERTY(maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT)                                         \
    RT_PROPERTY(maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH)                                          \
    RT_PROPERTY(maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT)                                         \
    RT_PROPERTY(maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH)                                          \
    RT_PROPERTY(maxSurface1DLayered[0], MAXIMUM_SURFACE1D_LAYERED_WIDTH)                           \
    RT_PROPERTY(maxSurface1DLayered[1], MAXIMUM_SURFACE1D_LAYERED_LAYERS)                          \
    RT_PROPERTY(maxSurface2DLayered[0], MAXIMUM_SURFACE2D_LAYERED_WIDTH)                           \
    RT_PROPERTY(maxSurface2DLayered[1], MAXIMUM_SURFACE2D_LAYERED_HEIGHT)                          \
    RT_PROPERTY(maxSurface2DLayered[2], MAXIMUM_SURFACE2D_LAYERED_LAYERS)                          \
    RT_PROPERTY(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH)                                   \
    RT_PROPERTY(maxSurfaceCubemapLayered[0], MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)                 \
    RT_PROPERTY(maxSurfaceCubemapLayered[1], MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)                \
    RT_PROPERTY(surfaceAlignment, SURFACE_ALIGNMENT)                                               \
    RT_PROPERTY(concurrentKernels, CONCURRENT_KERNELS)                                             \
    RT_PROPERTY(ECCEnabled, ECC_ENABLED)                                                           \
    RT_PROPERTY(pciBusID, PCI_BUS_ID)                                                              \
    RT_PROPERTY(pciDeviceID, PCI_DEVICE_ID)                                                        \
    RT_PROPERTY(pciDomainID, PCI_DOMAIN_ID)                                                        \
    RT_PROPERTY(tccDriver, TCC_DRIVER)                                                             \
    RT_PROPERTY(asyncEngineCount, ASYNC_ENGINE_COUNT)                                              \
    RT_PROPERTY(unifiedAddressing, UNIFIED_ADDRESSING)                                             \
    RT_PROPERTY(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                           \
    RT_PROPERTY(l2CacheSize, L2_CACHE_SIZE)                                                        \
    RT_PROPERTY(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE)                            \
    RT_PROPERTY(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                       \
    RT_PROPERTY(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                            \
    RT_PROPERTY(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                 \
    RT_PROPERTY(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                   \
    RT_PROPERTY(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                  \
    RT_PROPERTY(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                           \
    RT_PROPERTY(managedMemory, MANAGED_MEMORY)                                                     \
    RT_PROPERTY(isMultiGpuBoard, MULTI_GPU_BOARD)                                                  \
    RT_PROPERTY(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID)                                    \
    RT_PROPERTY(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED)                           \
    RT_PROPERTY(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS)                                      \
    RT_PROPERTY(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                \
    RT_PROPERTY(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED)                          \
    RT_PROPERTY(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)        \
    RT_PROPERTY(cooperativeLaunch, COOPERATIVE_LAUNCH)                                             \
    RT_PROPERTY(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                         \
    RT_PROPERTY(pageableMemoryAccessUsesHostPageTables,                                            \
                PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)                                      \
    RT_PROPERTY(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)               \
    RT_PROPERTY(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                         \
    RT_PROPERTY(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE)                          \
    RT_PROPERTY(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)                       \
    RT_PROPERTY(hostRegisterSupported, HOST_REGISTER_SUPPORTED)                                    \
    RT_PROPERTY(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED)                             \
    RT_PROPERTY(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED)                  \
    RT_PROPERTY(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)           \
    RT_PROPERTY(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                                      \
    RT_PROPERTY(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED)                                 \
    RT_PROPERTY(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)             \
    RT_PROPERTY(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING)                      \
    RT_PROPERTY(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES)                    \
    RT_PROPERTY(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED)          \
    RT_PROPERTY(ipcEventSupported, IPC_EVENT_SUPPORTED)                                            \
    RT_PROPERTY(clusterLaunch, CLUSTER_LAUNCH)                                                     \
    RT_PROPERTY(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS)                                \
    RT_PROPERTIES_OF_VERSION

// Those that only one version of the structure has.
#if RT_MAJOR == 12
#define RT_PROPERTIES_OF_VERSION                                                                   \
    RT_PROPERTY(clockRate, CLOCK_RATE)                                                             \
    RT_PROPERTY(deviceOverlap, GPU_OVERLAP)                                                        \
    RT_PROPERTY(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT)                                     \
    RT_PROPERTY(computeMode, COMPUTE_MODE)                                                         \
    RT_PROPERTY(maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH)                                \
    RT_PROPERTY(memoryClockRate, MEMORY_CLOCK_RATE)                                                \
    RT_PROPERTY(singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)           \
    RT_PROPERTY(cooperativeMultiDeviceLaunch, COOPERATIVE_MULTI_DEVICE_LAUNCH)
#else
#define RT_PROPERTIES_OF_VERSION                                                                   \
    RT_PROPERTY(deviceNumaConfig, NUMA_CONFIG)                                                     \
    RT_PROPERTY(deviceNumaId, NUMA_ID)                                                             \
    RT_PROPERTY(mpsEnabled, MPS_ENABLED)                                                           \
    RT_PROPERTY(hostNumaId, HOST_NUMA_ID)                                                          \
    RT_PROPERTY(gpuPciDeviceID, GPU_PCI_DEVICE_ID)                                                 \
    RT_PROPERTY(gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID)                                           \
    RT_PROPERTY(hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED)
#endif

// The runtime's attributes have the driver's numbers.
cudaError_t rt_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    // A wrong device is reported before a wrong attribute (recorded:
    // attributes/bad-attribute-and-device).
    cudaError_t r = rt_device_check("device", device);
    return r ? r : rt_error(rt_cu.cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
}

static int property(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0; // an older driver may not know it
    rt_cu.cuDeviceGetAttribute(&value, attribute, device);
    return value;
}

cudaError_t rt_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    cudaError_t r = rt_device_check("device", device);
    if (r)
        return r;
    memset(prop, 0, sizeof *prop);
    RT_TRY(rt_cu.cuDeviceGetName(prop->name, sizeof prop->name, device));
    RT_TRY(rt_cu.cuDeviceGetUuid((CUuuid *)&prop->uuid, device));
    RT_TRY(rt_cu.cuDeviceTotalMem(&prop->totalGlobalMem, device));
#define RT_PROPERTY(member, attribute)                                                             \
    prop->member = property(device, CU_DEVICE_ATTRIBUTE_##attribute);
    RT_PROPERTIES
#undef RT_PROPERTY
    return cudaSuccess;
}

// How many of the properties that `wanted` states a device has.
static int properties_met(const struct cudaDeviceProp *wanted, const struct cudaDeviceProp *has)
{
    int met = 0;
#define RT_PROPERTY(member, attribute) met += wanted->member && has->member >= wanted->member;
    RT_PROPERTIES
#undef RT_PROPERTY
    met += wanted->name[0] && !strncmp(wanted->name, has->name, sizeof has->name);
    return met + (wanted->totalGlobalMem && has->totalGlobalMem >= wanted->totalGlobalMem);
}

// Manual: "Returns in *device the device which has properties that best match *prop."
cudaError_t rt_cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    int devices, best = -1, best_met = -1;
    RT_TRY(rt_cu.cuDeviceGetCount(&devices));
    for (int i = 0; i < devices; i++) {
        struct cudaDeviceProp has;
        cudaError_t r = rt_cudaGetDeviceProperties(&has, i);
        if (r)
            return r;
        int met = properties_met(prop, &has);
        if (met > best_met) {
            best_met = met;
            best = i;
        }
    }
    *device = best;
    return cudaSuccess;
}
