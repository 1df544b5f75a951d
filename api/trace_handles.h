// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// cardlessTypes.handle_text of the driver API: `type` is an enum em_type.
bool api_handle_text(unsigned type, uint64_t handle, char *out, size_t size);
