// SPDX-License-Identifier: MIT
// Where our Vulkan layer is, and the loader's environment that puts it into a program.
#pragma once
#include <stddef.h>

// The folder with the layer's library and manifest. 0, or -1 where it was not built.
int vulkan_layer_folder(char *out, size_t room);
// Sets the environment so that the Vulkan loader puts the layer into every instance. 0, or -1: not
// built, or no memory.
int vulkan_layer_enable(void);
