// SPDX-License-Identifier: MIT
// Finds our Vulkan layer, and sets the environment that makes the Vulkan loader use it.
#pragma once
#include <stddef.h>

// Writes the folder of the layer's library and manifest. Returns 0, or -1 if it was not built.
int vulkan_layer_folder(char *out, size_t capacity);
// Sets the environment so that the Vulkan loader puts the layer into every instance. Returns 0, or
// -1 if the layer was not built or memory ran out.
int vulkan_layer_enable(void);
