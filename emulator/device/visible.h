// SPDX-License-Identifier: MIT
// CUDA_VISIBLE_DEVICES: which cards the program sees, and in which order.
#pragma once
#include "device.h"

// Asks Vulkan for the UUID that names the first card, if CUDA_VISIBLE_DEVICES names cards by UUIDs.
// To be called before em_devices_choose, with no mutex held, because a library is loaded.
void em_devices_choose_prepare(void);

// Moves the cards that CUDA_VISIBLE_DEVICES names to the front of `devices`, in its order, and
// stores their number in *count, which is that of all cards before. Without the variable all cards
// are visible. Returns CUDA_ERROR_INVALID_DEVICE if the list names a card twice, and
// CUDA_ERROR_NO_DEVICE if it names no card.
CUresult em_devices_choose(struct em_device *devices, int *count);
