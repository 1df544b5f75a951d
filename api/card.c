// SPDX-License-Identifier: MIT
// The functions of cardless.h for monitoring. They make the list of devices and do not start the
// driver.
#include "cardless_bodies.h"

#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "book.h"
#include "device.h"
#include "driver.h"
#include "error.h"
#include "memory_device.h"

_Static_assert(sizeof((cardlessCard *)0)->name == DM_NAME_SIZE, "a name fits");

// Lists the devices and finds one.
static CUresult find_card(int ordinal, struct em_device **device)
{
    CUresult r = em_list_devices();
    return r ? r : em_device_get(ordinal, device);
}

CUresult api_cardlessCardGetCount(int *count)
{
    CUresult r = em_list_devices();
    if (r == CUDA_ERROR_NO_DEVICE)
        r = CUDA_SUCCESS;
    if (!r)
        *count = em_device_count;
    return r;
}

CUresult api_cardlessCardGet(cardlessCard *card, int ordinal)
{
    struct em_device *device;
    CUresult r = find_card(ordinal, &device);
    if (r)
        return r;
    const uint64_t total_B = device->profile.total_memory;
    *card = (cardlessCard){.total = total_B, .reserved = em_driver_share(total_B)};
    memcpy(card->name, device->profile.name, sizeof card->name);
    return CUDA_SUCCESS;
}

CUresult api_cardlessCardGetUuid(CUuuid *uuid, int ordinal)
{
    struct em_device *device;
    CUresult r = find_card(ordinal, &device);
    if (!r)
        em_device_uuid(device, (unsigned char *)uuid->bytes);
    return r;
}

CUresult api_cardlessCardGetAttribute(int *value, CUdevice_attribute attribute, int ordinal)
{
    struct em_device *device;
    CUresult r = find_card(ordinal, &device);
    if (r)
        return r;
    if ((int)attribute <= 0 || (int)attribute >= DM_ATTRIBUTE_END)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute (%d) is not a CUdevice_attribute",
                       (int)attribute);
    *value = em_device_attribute(device, (enum dm_attribute)attribute);
    return CUDA_SUCCESS;
}

static CUresult read_processes(const struct em_device *device, unsigned *count,
                               cardlessProcess *processes)
{
    const size_t capacity = *count;
    struct dm_book_entry *entries = dm_calloc(capacity ? capacity : 1, sizeof *entries);
    if (!processes && capacity) {
        dm_free(entries);
        return em_fail(CUDA_ERROR_INVALID_VALUE, "processes is NULL, but *count is %u", *count);
    }
    if (!entries)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u processes", *count);
    const size_t found = dm_books_read(em_device_key(device), entries, capacity);
    const uint64_t share = em_driver_share(device->profile.total_memory);
    for (size_t i = 0; i < found && i < capacity; i++) {
        const struct dm_book_entry *e = &entries[i];
        processes[i] = (cardlessProcess){
            .pid = e->pid,
            .contexts = e->contexts,
            .memory = e->used_B > share ? e->used_B - share : 0,
            .busy_ns = e->busy_ns,
            .period_ns = e->period_ns,
        };
    }
    *count = (unsigned)found;
    dm_free(entries);
    return CUDA_SUCCESS;
}

CUresult api_cardlessCardGetProcesses(int ordinal, unsigned *count, cardlessProcess *processes)
{
    struct em_device *device;
    CUresult r = find_card(ordinal, &device);
    return r ? r : read_processes(device, count, processes);
}
