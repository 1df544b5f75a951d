// SPDX-License-Identifier: MIT
// Handles of cards, and the ways to find one.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "identity.h"
#include "nvml_bodies.h"

// A handle is the address of a card's byte here, which nobody reads.
enum { CARDS_MAX = 64 };
static char cards[CARDS_MAX];

int ml_card_count(void)
{
    int count = 0;
    return cardlessCardGetCount(&count) ? 0 : count < CARDS_MAX ? count : CARDS_MAX;
}

int ml_card_of(nvmlDevice_t device)
{
    const uintptr_t ordinal = (uintptr_t)device - (uintptr_t)cards;
    return ordinal < (uintptr_t)ml_card_count() ? (int)ordinal : -1;
}

nvmlDevice_t ml_handle_of(int card)
{
    return (nvmlDevice_t)(void *)&cards[card];
}

nvmlReturn_t ml_nvmlDeviceGetCount_v2(unsigned *deviceCount)
{
    *deviceCount = (unsigned)ml_card_count();
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    if (index >= (unsigned)ml_card_count())
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = ml_handle_of((int)index);
    return NVML_SUCCESS;
}

// No card has a serial number.
nvmlReturn_t ml_nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t ml_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    for (int card = 0; card < ml_card_count(); card++) {
        char text[ML_UUID_TEXT_SIZE];
        if (!ml_uuid_text(card, text) && !strcasecmp(text, uuid)) {
            *device = ml_handle_of(card);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t ml_nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    if (uuid->version != nvmlUUID_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (uuid->type == NVML_UUID_TYPE_ASCII) {
        char text[NVML_DEVICE_UUID_ASCII_LEN + 1] = "";
        memcpy(text, uuid->value.str, NVML_DEVICE_UUID_ASCII_LEN);
        return ml_nvmlDeviceGetHandleByUUID(text, device);
    }
    if (uuid->type != NVML_UUID_TYPE_BINARY)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int card = 0; card < ml_card_count(); card++) {
        CUuuid own;
        if (!cardlessCardGetUuid(&own, card) &&
            !memcmp(own.bytes, uuid->value.bytes, NVML_DEVICE_UUID_BINARY_LEN)) {
            *device = ml_handle_of(card);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

// "domain:bus:device.function in format %x:%x:%x.%x; the domain and the function may be absent".
static bool read_bus_id(const char *text, struct ml_bus_id *out)
{
    unsigned a, b, c, function = 0;
    int used = 0;
    *out = (struct ml_bus_id){0};
    if (sscanf(text, "%8x:%8x:%8x%n", &a, &b, &c, &used) == 3 && used) {
        *out = (struct ml_bus_id){.domain = a, .bus = b, .device = c};
    } else {
        used = 0;
        if (sscanf(text, "%8x:%8x%n", &a, &b, &used) != 2 || !used)
            return false;
        *out = (struct ml_bus_id){.bus = a, .device = b};
    }
    int more = 0;
    if (!text[used])
        return true;
    return sscanf(text + used, ".%8x%n", &function, &more) == 1 && !text[used + more] && !function;
}

nvmlReturn_t ml_nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    struct ml_bus_id wanted, own;
    // "NVML_ERROR_INVALID_ARGUMENT if pciBusId is invalid or device is NULL".
    if (!read_bus_id(pciBusId, &wanted))
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int card = 0; card < ml_card_count(); card++) {
        if (!ml_bus_id(card, &own) && own.domain == wanted.domain && own.bus == wanted.bus &&
            own.device == wanted.device) {
            *device = ml_handle_of(card);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}
