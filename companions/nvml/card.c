// SPDX-License-Identifier: MIT
// The properties of a card.
#include <stdio.h>
#include <string.h>

#include "identity.h"
#include "nvml_bodies.h"

enum {
    VENDOR_NVIDIA = 0x10de,
    CLASS_DISPLAY = 0x03, // PCI: display controller
    SUBCLASS_3D = 0x02,
};

static nvmlReturn_t attribute(int card, CUdevice_attribute which, int *out)
{
    return ml_result(cardlessCardGetAttribute(out, which, card));
}

nvmlReturn_t ml_uuid_text(int card, char out[ML_UUID_TEXT_SIZE])
{
    CUuuid uuid;
    nvmlReturn_t r = ml_result(cardlessCardGetUuid(&uuid, card));
    char *at = out + sprintf(out, "GPU");
    for (int i = 0; i < 16; i++) {
        const int dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += sprintf(at, "%s%02x", dash ? "-" : "", r ? 0 : (unsigned char)uuid.bytes[i]);
    }
    return r;
}

nvmlReturn_t ml_bus_id(int card, struct ml_bus_id *out)
{
    int domain = 0, bus = 0, device = 0;
    nvmlReturn_t r = attribute(card, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &domain);
    if (!r)
        r = attribute(card, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &bus);
    if (!r)
        r = attribute(card, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &device);
    *out = (struct ml_bus_id){(unsigned)domain, (unsigned)bus, (unsigned)device};
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetName(int device, char *name, unsigned length)
{
    cardlessCard card;
    nvmlReturn_t r = ml_result(cardlessCardGet(&card, device));
    return r ? r : ml_copy_text(card.name, name, length);
}

nvmlReturn_t ml_nvmlDeviceGetIndex(int device, unsigned *index)
{
    *index = (unsigned)device;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetMinorNumber(int device, unsigned *minorNumber)
{
    *minorNumber = (unsigned)device;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetUUID(int device, char *uuid, unsigned length)
{
    char text[ML_UUID_TEXT_SIZE];
    nvmlReturn_t r = ml_uuid_text(device, text);
    return r ? r : ml_copy_text(text, uuid, length);
}

// A profile does not say which product of the vendor it is.
nvmlReturn_t ml_nvmlDeviceGetPciInfo_v3(int device, nvmlPciInfo_t *pci)
{
    struct ml_bus_id id;
    nvmlReturn_t r = ml_bus_id(device, &id);
    if (r)
        return r;
    *pci = (nvmlPciInfo_t){
        .domain = id.domain, .bus = id.bus, .device = id.device, .pciDeviceId = VENDOR_NVIDIA};
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", id.domain & 0xffff,
             id.bus & 0xff, id.device & 0xff);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", id.domain, id.bus & 0xff,
             id.device & 0xff);
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetPciInfoExt(int device, nvmlPciInfoExt_t *pci)
{
    nvmlPciInfo_t info;
    if (pci->version != nvmlPciInfoExt_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t r = ml_nvmlDeviceGetPciInfo_v3(device, &info);
    if (r)
        return r;
    *pci = (nvmlPciInfoExt_t){.version = nvmlPciInfoExt_v1,
                              .domain = info.domain,
                              .bus = info.bus,
                              .device = info.device,
                              .pciDeviceId = info.pciDeviceId,
                              .baseClass = CLASS_DISPLAY,
                              .subClass = SUBCLASS_3D};
    memcpy(pci->busId, info.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

// The clock of the SMs is the graphics clock; a profile lacks that of video.
nvmlReturn_t ml_nvmlDeviceGetMaxClockInfo(int device, nvmlClockType_t type, unsigned *clock)
{
    int kHz = 0;
    if ((unsigned)type >= NVML_CLOCK_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (type == NVML_CLOCK_VIDEO)
        return NVML_ERROR_NOT_SUPPORTED;
    nvmlReturn_t r = attribute(device,
                               type == NVML_CLOCK_MEM ? CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
                                                      : CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                               &kHz);
    *clock = (unsigned)kHz / 1000;
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetComputeMode(int device, nvmlComputeMode_t *mode)
{
    int value = 0;
    nvmlReturn_t r = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &value);
    *mode = (nvmlComputeMode_t)value; // CUcomputemode has the same numbers
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetCudaComputeCapability(int device, int *major, int *minor)
{
    nvmlReturn_t r = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
    return r ? r : attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
}

nvmlReturn_t ml_nvmlDeviceGetEccMode(int device, nvmlEnableState_t *current,
                                     nvmlEnableState_t *pending)
{
    int on = 0;
    nvmlReturn_t r = attribute(device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, &on);
    *current = *pending = on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetMultiGpuBoard(int device, unsigned *multiGpuBool)
{
    int value = 0;
    nvmlReturn_t r = attribute(device, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, &value);
    *multiGpuBool = (unsigned)value;
    return r;
}

// Each card has a board of its own.
nvmlReturn_t ml_nvmlDeviceOnSameBoard(int device1, int device2, int *onSameBoard)
{
    *onSameBoard = device1 == device2;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetMemoryBusWidth(int device, unsigned *busWidth)
{
    int bits = 0;
    nvmlReturn_t r = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bits);
    *busWidth = (unsigned)bits;
    return r;
}

// The generations of cards: each row is valid up to the next one. Cores are those of one SM.
static const struct generation {
    int capability; // major * 10 + minor
    nvmlDeviceArchitecture_t architecture;
    unsigned cores;
} generations[] = {
    {30, NVML_DEVICE_ARCH_KEPLER, 192},     {50, NVML_DEVICE_ARCH_MAXWELL, 128},
    {60, NVML_DEVICE_ARCH_PASCAL, 64},      {61, NVML_DEVICE_ARCH_PASCAL, 128},
    {70, NVML_DEVICE_ARCH_VOLTA, 64},       {75, NVML_DEVICE_ARCH_TURING, 64},
    {80, NVML_DEVICE_ARCH_AMPERE, 64},      {86, NVML_DEVICE_ARCH_AMPERE, 128},
    {89, NVML_DEVICE_ARCH_ADA, 128},        {90, NVML_DEVICE_ARCH_HOPPER, 128},
    {100, NVML_DEVICE_ARCH_BLACKWELL, 128},
};

static nvmlReturn_t find_generation(int device, struct generation *out)
{
    int major = 0, minor = 0;
    nvmlReturn_t r = ml_nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    *out = (struct generation){.architecture = NVML_DEVICE_ARCH_UNKNOWN};
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
        if (major * 10 + minor >= generations[i].capability)
            *out = generations[i];
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetArchitecture(int device, nvmlDeviceArchitecture_t *arch)
{
    struct generation generation;
    nvmlReturn_t r = find_generation(device, &generation);
    *arch = generation.architecture;
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetNumGpuCores(int device, unsigned *numCores)
{
    struct generation generation;
    int processors = 0;
    nvmlReturn_t r = find_generation(device, &generation);
    if (!r)
        r = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors);
    *numCores = generation.cores * (unsigned)processors;
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetBusType(int device, nvmlBusType_t *type)
{
    *type = NVML_BUS_TYPE_PCIE;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceIsMigDeviceHandle(int device, unsigned *isMigDevice)
{
    *isMigDevice = 0;
    return NVML_SUCCESS;
}
