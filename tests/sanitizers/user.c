// SPDX-License-Identifier: MIT
// A user's program, built with AddressSanitizer, that asks for the UUID. The driver then asks
// Vulkan, and no leak of a Vulkan driver may be reported as one of this program. With an argument
// the program has a leak of its own, which must be reported.
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

static int is_vulkan_driver(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return strstr(info->dlpi_name, "libvulkan_") != NULL;
}

static void leak(void)
{
    void *volatile lost = malloc(77);
    lost = NULL;
    (void)lost;
}

int main(int argc, char **argv)
{
    CUuuid uuid;
    (void)argv;
    if (cuInit(0) || cuDeviceGetUuid(&uuid, 0))
        return 1;
    if (argc > 1) {
        leak();
        return 0;
    }
    if (!dl_iterate_phdr(is_vulkan_driver, NULL)) {
        puts("skipped: no Vulkan driver was loaded");
        return 77;
    }
    return 0;
}
