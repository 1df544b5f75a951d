// SPDX-License-Identifier: MIT
// Devices: the cards that this process sees. The list is made when the driver starts and never
// changes.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "book.h"
#include "hidden.h"
#include "profile.h"

struct em_context;

struct em_device {
    int ordinal;
    int card; // its place in CARDLESS_DEVICES, which CUDA_VISIBLE_DEVICES does not change
    struct dm_device_profile profile; // with this device's own address on the PCI bus
    // Guarded by em_lock.
    struct em_context *primary; // NULL until it is retained for the first time
    unsigned primary_flags;     // CU_CTX_* of the primary context, or of the next one
    // Set before the first context begins, and not changed afterwards; NULL if there is no book.
    struct dm_book_card *book;
};

extern DM_HIDDEN struct em_device *em_devices;
extern DM_HIDDEN int em_device_count;

// Makes the list from CARDLESS_DEVICES. Returns CUDA_ERROR_NO_DEVICE if the list is empty or a
// profile cannot be read. If it fails, it may be called again; if it has succeeded, it does
// nothing. Calls must not overlap.
CUresult em_devices_start(void);

// Opens the device's row in the book of this process (book.h), unless it is open. Without a book,
// because the process is out of descriptors or memory, everything else works.
// Precondition: em_lock held.
void em_device_open_book(struct em_device *device);
// Names the device in the books of all processes.
uint64_t em_device_key(const struct em_device *device);

// Reports that the device does not exist. `name` is the argument's.
CUresult em_device_bad_as(const char *name, CUdevice ordinal) __attribute__((cold));

// Whether the `id` of a CUmemLocation of the type DEVICE is a device.
CUresult em_device_check_location(int id);

// "CUDA_ERROR_INVALID_DEVICE: the device ordinal supplied by the user does not correspond to a
// valid CUDA device".
static inline CUresult em_device_get_as(const char *argument, CUdevice ordinal,
                                        struct em_device **out)
{
    *out = NULL;
    if ((unsigned)ordinal >= (unsigned)em_device_count)
        return em_device_bad_as(argument, ordinal);
    *out = &em_devices[ordinal];
    return CUDA_SUCCESS;
}

static inline CUresult em_device_get(CUdevice ordinal, struct em_device **out)
{
    return em_device_get_as("device", ordinal, out);
}

// Returns the result of cuDeviceGetTexture1DLinearMaxWidth: the maximum number of texels of this
// size in a 1D texture of linear memory.
uint64_t em_device_linear_texels(const struct em_device *device, uint64_t texel_B);

static inline int em_device_attribute(const struct em_device *device, enum dm_attribute attribute)
{
    return device->profile.attribute[attribute];
}

// The device's architecture: 90 for sm_90.
static inline unsigned em_device_architecture(const struct em_device *device)
{
    return (unsigned)(em_device_attribute(device, DM_ATTRIBUTE_compute_capability_major) * 10 +
                      em_device_attribute(device, DM_ATTRIBUTE_compute_capability_minor));
}

// Returns the device's UUID. If this process can use a software Vulkan device, card 0 has the same
// UUID, because programs match the devices of CUDA and Vulkan by UUID. CARDLESS_UUID overrides the
// UUID of card 0. The first call may load Vulkan drivers. Precondition: em_lock NOT held.
void em_device_uuid(const struct em_device *device, unsigned char out[16]);

// The two halves of em_device_uuid. The first one may load Vulkan drivers, and needs no list of
// devices. The second one loads nothing: without the first one, it returns a UUID of Cardless's
// own.
void em_device_uuid_find(void);
void em_device_uuid_found(const struct em_device *device, unsigned char out[16]);

// Finds the UUID of the first software Vulkan device (uuid.c). Returns 0, or a negative errno if
// there is no such device. Slow, because it loads Vulkan drivers.
int em_vulkan_uuid(unsigned char out[16]);
