// SPDX-License-Identifier: MIT
// The manual's chapters "Device Management" and "Peer Context Memory Access", and the one function
// of GPUDirect RDMA.
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "api_bodies.h"
#include "call.h"
#include "context.h"
#include "context_peer.h"
#include "format.h"
#include "notification.h"
#include "pointer_check.h"
#include "quirk.h"

CUresult api_cuDeviceGet(CUdevice *device, int ordinal)
{
    struct em_device *d;
    CUresult r = em_device_get(ordinal, &d);
    if (!r)
        *device = d->ordinal;
    return r;
}

CUresult api_cuDeviceGetCount(int *count)
{
    *count = em_device_count;
    return CUDA_SUCCESS;
}

// "len: Maximum length of string to store in name". A longer name is cut; the string always ends
// with a zero byte.
CUresult api_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    if (len <= 0)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "len (%d) must be positive", len);
    return em_write_text("name", name, (size_t)len, d->profile.name);
}

CUresult api_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (!r)
        em_device_uuid(d, (unsigned char *)uuid->bytes);
    return r;
}

// "Returned LUID only valid on Windows": on other systems devices have no LUID.
CUresult api_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    return r ? r : em_fail(CUDA_ERROR_NOT_SUPPORTED, "a device has a LUID on Windows only");
}

CUresult api_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (!r)
        *bytes = d->profile.total_memory;
    return r;
}

CUresult api_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    if (attrib <= 0 || attrib >= (int)DM_ATTRIBUTE_END)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attrib (%d) is not a CUdevice_attribute",
                       (int)attrib);
    *pi = d->profile.attribute[attrib];
    return CUDA_SUCCESS;
}

CUresult api_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    const int *a = d->profile.attribute;
    *prop = (CUdevprop){
        .maxThreadsPerBlock = a[DM_ATTRIBUTE_max_threads_per_block],
        .maxThreadsDim = {a[DM_ATTRIBUTE_max_block_dim_x], a[DM_ATTRIBUTE_max_block_dim_y],
                          a[DM_ATTRIBUTE_max_block_dim_z]},
        .maxGridSize = {a[DM_ATTRIBUTE_max_grid_dim_x], a[DM_ATTRIBUTE_max_grid_dim_y],
                        a[DM_ATTRIBUTE_max_grid_dim_z]},
        .sharedMemPerBlock = a[DM_ATTRIBUTE_max_shared_memory_per_block],
        .totalConstantMemory = a[DM_ATTRIBUTE_total_constant_memory],
        .SIMDWidth = a[DM_ATTRIBUTE_warp_size],
        .memPitch = a[DM_ATTRIBUTE_max_pitch],
        .regsPerBlock = a[DM_ATTRIBUTE_max_registers_per_block],
        .clockRate = a[DM_ATTRIBUTE_clock_rate],
        .textureAlign = a[DM_ATTRIBUTE_texture_alignment],
    };
    return CUDA_SUCCESS;
}

CUresult api_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    *major = em_device_attribute(d, DM_ATTRIBUTE_compute_capability_major);
    *minor = em_device_attribute(d, DM_ATTRIBUTE_compute_capability_minor);
    return CUDA_SUCCESS;
}

// "[domain]:[bus]:[device].[function] where domain, bus, device, and function are all hexadecimal
// values. pciBusId should be large enough to store 13 characters including the NULL-terminator."
CUresult api_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    enum { WHOLE = sizeof "0000:00:00.0" };
    struct em_device *d;
    char text[40];
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    snprintf(text, sizeof text, "%04X:%02X:%02X.0",
             em_device_attribute(d, DM_ATTRIBUTE_pci_domain_id),
             em_device_attribute(d, DM_ATTRIBUTE_pci_bus_id),
             em_device_attribute(d, DM_ATTRIBUTE_pci_device_id));
    int capacity = len < 0 && em_quirk(PCI_BUS_ID_NEGATIVE_LENGTH) ? WHOLE - 1 : len;
    if (capacity > 0)
        r = em_write_text("pciBusId", pciBusId, (size_t)capacity, text);
    if (r)
        return r;
    return len >= WHOLE ? CUDA_SUCCESS
                        : em_fail(CUDA_ERROR_INVALID_VALUE,
                                  "len (%d) is too small: the text needs %d bytes", len, WHOLE);
}

// "pciBusId: String in one of the following forms: [domain]:[bus]:[device].[function]
// [domain]:[bus]:[device] [bus]:[device].[function]"
CUresult api_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned domain = 0, bus, slot, function = 0;
    int end = 0;
    size_t length = strlen(pciBusId);
    if (!(sscanf(pciBusId, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 &&
          (size_t)end == length)) {
        function = 0;
        end = 0;
        if (!(sscanf(pciBusId, "%x:%x:%x%n", &domain, &bus, &slot, &end) == 3 &&
              (size_t)end == length)) {
            domain = 0;
            end = 0;
            if (!(sscanf(pciBusId, "%x:%x.%x%n", &bus, &slot, &function, &end) == 3 &&
                  (size_t)end == length))
                return em_fail(CUDA_ERROR_INVALID_VALUE,
                               "\"%.40s\" is not [domain]:[bus]:[device].[function]", pciBusId);
        }
    }
    for (int i = 0; i < em_device_count; i++) {
        const struct em_device *d = &em_devices[i];
        if ((int)domain == em_device_attribute(d, DM_ATTRIBUTE_pci_domain_id) &&
            (int)bus == em_device_attribute(d, DM_ATTRIBUTE_pci_bus_id) &&
            (int)slot == em_device_attribute(d, DM_ATTRIBUTE_pci_device_id) && !function) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    }
    return em_fail(CUDA_ERROR_INVALID_DEVICE, "pciBusId (%.40s) is not the address of a device",
                   pciBusId);
}

// Bytes of an element of a linear texture, or 0 if the format does not allow so many channels. A
// planar format has three channels, and the element is that of a plane.
static uint32_t linear_element_B(const struct dm_format_info *info, unsigned channels)
{
    if (dm_format_planes(info) > 1)
        return channels == 3 ? info->channel_B : 0;
    return dm_format_channels_legal(info, channels) ? dm_format_element_B(info, channels) : 0;
}

CUresult api_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                                unsigned numChannels, CUdevice dev)
{
    const struct dm_format_info *info = dm_format_info((uint32_t)format);
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    uint32_t element_B = info ? linear_element_B(info, numChannels) : 0;
    if (!element_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "format (%#x) with %u channels cannot be a 1D linear texture",
                       (unsigned)format, numChannels);
    *maxWidthInElements = em_device_linear_texels(d, element_B);
    return CUDA_SUCCESS;
}

// Only devices that are shared through MPS support affinity, whatever its type.
CUresult api_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    struct em_device *d;
    CUresult r = em_device_get(dev, &d);
    if (!r)
        *pi = 0;
    return r;
}

static CUresult check_atomics(const CUatomicOperation *operations, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "operations[%u] (%d) is not a CUatomicOperation", i, (int)operations[i]);
    return CUDA_SUCCESS;
}

static unsigned all_atomics(void)
{
    return CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |
           CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
           CU_ATOMIC_CAPABILITY_SCALAR_64;
}

CUresult api_cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
                                               const CUatomicOperation *operations,
                                               unsigned int count, CUdevice dev)
{
    struct em_device *d;
    if (!count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "count must not be 0");
    CUresult r = em_device_get(dev, &d);
    if (r)
        return r;
    bool native = em_device_attribute(d, DM_ATTRIBUTE_host_native_atomic_supported);
    for (unsigned i = 0; i < count; i++)
        capabilities[i] = native ? all_atomics() : 0;
    r = check_atomics(operations, count);
    if (r)
        memset(capabilities, 0, count * sizeof *capabilities);
    return r;
}

// Finds two devices that must differ.
static CUresult get_pair(CUdevice source, CUdevice destination)
{
    struct em_device *a, *b;
    CUresult r = em_device_get_as("srcDevice", source, &a);
    if (!r)
        r = em_device_get_as("dstDevice", destination, &b);
    if (!r && a == b)
        r = em_fail(CUDA_ERROR_INVALID_DEVICE,
                    "srcDevice and dstDevice are both %d; a device is not its own peer", source);
    return r;
}

// All devices of a process are in the same host memory, so each pair supports everything that peers
// may support.
CUresult api_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                     CUdevice dstDevice)
{
    CUresult r = get_pair(srcDevice, dstDevice);
    if (r)
        return r;
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attrib (%d) is not a CUdevice_P2PAttribute",
                       (int)attrib);
    }
}

CUresult api_cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                              const CUatomicOperation *operations,
                                              unsigned int count, CUdevice srcDevice,
                                              CUdevice dstDevice)
{
    if (!count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "count must not be 0");
    CUresult r = get_pair(srcDevice, dstDevice);
    if (!r)
        r = check_atomics(operations, count);
    for (unsigned i = 0; i < count && !r; i++)
        capabilities[i] = all_atomics();
    return r;
}

CUresult api_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    struct em_device *a, *b;
    CUresult r = em_device_get_as("dev", dev, &a);
    if (!r)
        r = em_device_get_as("peerDev", peerDev, &b);
    if (!r)
        *canAccessPeer = a != b;
    return r;
}

CUresult api_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    if (Flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags (%#x) must be 0", Flags);
    return em_context_enable_peer(peerContext);
}

CUresult api_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    return em_context_disable_peer(peerContext);
}

// Only embedded systems with the NvSci libraries have NvSciSync. A missing list is noticed before
// anything else (recorded: updatable_nodes notes/7).
CUresult api_cuDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, CUdevice dev, int flags)
{
    struct em_device *d;
    if (!nvSciSyncAttrList)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "argument nvSciSyncAttrList is NULL");
    CUresult r = em_device_get(dev, &d);
    return r ? r : em_fail(CUDA_ERROR_NOT_SUPPORTED, "this system has no NvSciSync");
}

CUresult api_cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc,
                                               void *userData, CUasyncCallbackHandle *callback)
{
    return em_notification_register(device, callbackFunc, userData, callback);
}

CUresult api_cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback)
{
    return em_notification_unregister(device, callback);
}

// Writes of other devices to device memory are writes to host memory, which are visible at once.
CUresult api_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                        CUflushGPUDirectRDMAWritesScope scope)
{
    const struct em_device *d = em_self.current->device;
    if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "target (%d) is not a CUflushGPUDirectRDMAWritesTarget", (int)target);
    if (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
        scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "scope (%d) is not a CUflushGPUDirectRDMAWritesScope", (int)scope);
    if (!(em_device_attribute(d, DM_ATTRIBUTE_gpu_direct_rdma_flush_writes_options) &
          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "device %d cannot flush writes of GPUDirect RDMA from the host", d->ordinal);
    return CUDA_SUCCESS;
}
