// SPDX-License-Identifier: MIT
// Prints how the driver is configured, after calls that write a trace and a diagnostic. secure.py
// runs it with and without more rights than the user has.
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include <cuda.h>

#include "config.h"
#include "kn_dsp.h"
#include "pkey.h"
#include "vulkan_drivers.h"

#if HAVE_VULKAN_LAYER
#include "record.h"
#endif

// Drivers that secure.py offers.
static int count_planted(void)
{
    struct em_vulkan_drivers drivers;
    int count = 0;
    em_vulkan_drivers_find(&drivers);
    for (unsigned i = 0; i < drivers.count; i++)
        count += strstr(drivers.library[i], "planted") != NULL;
    em_vulkan_drivers_free(&drivers);
    return count;
}

int main(void)
{
    char name[64] = "no device";
    int count = 0;
    CUdevice device;
    CUuuid uuid = {{0}};
    unsigned long long seed = 0;
    if (cuInit(0) || cuDeviceGetCount(&count))
        return 1;
    if (count && !cuDeviceGet(&device, 0)) {
        cuDeviceGetName(name, sizeof name, device);
        if (em_config()->have_uuid)
            cuDeviceGetUuid(&uuid, device);
    }
    cuDeviceGet(&device, -1); // a mistake, which is reported
    const struct em_config *config = em_config();
    seed = config->have_seed ? config->seed : 0;
    printf("secure %d\n", getauxval(AT_SECURE) != 0);
    printf("personality %d, quirks %#llx, overlap %d, sink %d, policy %d, report %d\n",
           config->personality, (unsigned long long)config->quirks, config->overlap, config->sink,
           config->policy, config->report);
    printf("%d devices, %s, UUID %02x, seed %llu, failing allocation %llu\n", count, name,
           (unsigned char)uuid.bytes[0], seed, (unsigned long long)config->fail_alloc);
    printf("keys %d, kernels %s\n", dm_pkey_bits != 0, kn_cpu_name(kn_cpu_flags()));
    printf("Vulkan drivers %d\n", count_planted());
#if HAVE_VULKAN_LAYER
    printf("non-coherent %d\n", vl_noncoherent());
#endif
    return 0;
}
