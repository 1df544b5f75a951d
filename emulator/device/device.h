// SPDX-License-Identifier: MIT
// Devices: the cards that this process sees. The list is made when the driver starts and never
// changes.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "profile.h"

struct em_context;

struct em_device {
    int ordinal;
    struct dm_device_profile profile; // with this device's own place on the bus
    struct em_context *primary;       // NULL: never retained. Guarded by em_lock, as is the next
    unsigned primary_flags;           // what the primary context has or will have: CU_CTX_*
};

extern struct em_device *em_devices;
extern int em_device_count;

// Makes the list of what CARDLESS_DEVICES says. CUDA_ERROR_NO_DEVICE when that is nothing, or
// cannot be read. Called once or until it succeeds.
CUresult em_devices_start(void);

CUresult em_device_bad(CUdevice ordinal) __attribute__((cold));

// "CUDA_ERROR_INVALID_DEVICE: the device ordinal supplied by the user does not correspond to a
// valid CUDA device".
static inline CUresult em_device_get(CUdevice ordinal, struct em_device **out)
{
    *out = NULL;
    if ((unsigned)ordinal >= (unsigned)em_device_count)
        return em_device_bad(ordinal);
    *out = &em_devices[ordinal];
    return CUDA_SUCCESS;
}

// The most texels of so many bytes that a 1D texture of linear memory can have, as
// cuDeviceGetTexture1DLinearMaxWidth tells.
uint64_t em_device_linear_texels(const struct em_device *device, uint64_t texel_B);

static inline int em_device_attribute(const struct em_device *device, enum dm_attribute attribute)
{
    return device->profile.attribute[attribute];
}

// The device's UUID. Device 0 has that of the software Vulkan device where this process can have
// one, so that programs which match devices by UUID find their pair; CARDLESS_UUID sets it. The
// first call may load Vulkan. Precondition: em_lock NOT held.
void em_device_uuid(const struct em_device *device, unsigned char out[16]);

// The UUID of the first software Vulkan device (uuid.c). 0, or a negative errno: there is none.
// Slow.
int em_vulkan_uuid(unsigned char out[16]);
