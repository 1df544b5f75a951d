// SPDX-License-Identifier: MIT
// The functions of cardless.h for monitoring. They make the list of devices and do not start the
// driver.
#include <cardless.h>
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "book.h"
#include "call.h"
#include "device.h"
#include "driver.h"
#include "memory_device.h"

_Static_assert(sizeof((cardlessCard *)0)->name == DM_NAME_SIZE, "a name fits");

#define EXPORT __attribute__((visibility("default")))

// Counts the call, checks its pointer, lists the devices and finds the one that it names, and does
// the work, which may use `device`.
#define CALL(function, argument, ordinal, work)                                                    \
    do {                                                                                           \
        static const struct em_entry entry = {.name = #function};                                  \
        struct em_thread *self = em_thread();                                                      \
        const struct em_entry *outer = em_begin(self, &entry);                                     \
        struct em_device *device = NULL;                                                           \
        CUresult r = em_permitted(self);                                                           \
        if (!r)                                                                                    \
            r = (argument) ? em_list_devices() : em_null(#argument);                               \
        if (!r)                                                                                    \
            r = em_device_get(ordinal, &device);                                                   \
        if (!r)                                                                                    \
            r = work;                                                                              \
        return em_end(self, outer, r);                                                             \
    } while (0)

EXPORT CUresult cardlessCardGetCount(int *count)
{
    static const struct em_entry entry = {.name = "cardlessCardGetCount"};
    struct em_thread *self = em_thread();
    const struct em_entry *outer = em_begin(self, &entry);
    CUresult r = em_permitted(self);
    if (!r)
        r = count ? em_list_devices() : em_null("count");
    if (r == CUDA_ERROR_NO_DEVICE)
        r = CUDA_SUCCESS;
    if (!r)
        *count = em_device_count;
    return em_end(self, outer, r);
}

static CUresult describe(cardlessCard *card, const struct em_device *device)
{
    const uint64_t total_B = device->profile.total_memory;
    *card = (cardlessCard){.total = total_B, .reserved = em_driver_share(total_B)};
    memcpy(card->name, device->profile.name, sizeof card->name);
    return CUDA_SUCCESS;
}

EXPORT CUresult cardlessCardGet(cardlessCard *card, int ordinal)
{
    CALL(cardlessCardGet, card, ordinal, describe(card, device));
}

static CUresult find_uuid(CUuuid *uuid, const struct em_device *device)
{
    em_device_uuid(device, (unsigned char *)uuid->bytes);
    return CUDA_SUCCESS;
}

EXPORT CUresult cardlessCardGetUuid(CUuuid *uuid, int ordinal)
{
    CALL(cardlessCardGetUuid, uuid, ordinal, find_uuid(uuid, device));
}

static CUresult read_attribute(int *value, CUdevice_attribute attribute,
                               const struct em_device *device)
{
    if ((int)attribute <= 0 || (int)attribute >= DM_ATTRIBUTE_END)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute (%d) is not a CUdevice_attribute",
                       (int)attribute);
    *value = em_device_attribute(device, (enum dm_attribute)attribute);
    return CUDA_SUCCESS;
}

EXPORT CUresult cardlessCardGetAttribute(int *value, CUdevice_attribute attribute, int ordinal)
{
    CALL(cardlessCardGetAttribute, value, ordinal, read_attribute(value, attribute, device));
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

EXPORT CUresult cardlessCardGetProcesses(int ordinal, unsigned *count, cardlessProcess *processes)
{
    CALL(cardlessCardGetProcesses, count, ordinal, read_processes(device, count, processes));
}
