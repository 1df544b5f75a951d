// SPDX-License-Identifier: MIT
// Finds Cardless's Vulkan layer in this process (vulkan_facts.h).
#pragma once
#include "vulkan_facts.h"

// Looks for the layer, and gives it a function that reports long waits. Takes the dynamic loader's
// lock, which a library's constructor holds while it calls CUDA. A program may load Vulkan at any
// time, so every import looks again. Precondition: em_lock not held.
void em_vulkan_layer_find(void);
// Returns the layer, or NULL if it was not found yet.
const struct dm_vulkan_layer *em_vulkan_layer(void);
