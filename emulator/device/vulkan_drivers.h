// SPDX-License-Identifier: MIT
// The Vulkan drivers of this computer, as Vulkan's loader finds them ("Driver Discovery" of its
// LoaderDriverInterface.md), but without the loader, which holds a mutex of its own while it loads
// drivers.
#pragma once

enum { EM_VULKAN_DRIVERS_MAX = 64 };

struct em_vulkan_drivers {
    unsigned count;
    char *library[EM_VULKAN_DRIVERS_MAX]; // as dlopen takes it
};

// Finds the libraries of all drivers, in the order in which Vulkan's loader reads their manifests.
// Leaves out manifests that cannot be read or for which memory runs out, and drivers for another
// architecture or after the 64th. Reads files, and loads nothing. Precondition: em_lock NOT held.
void em_vulkan_drivers_find(struct em_vulkan_drivers *out);

// Frees the names of the libraries.
void em_vulkan_drivers_free(struct em_vulkan_drivers *drivers);
