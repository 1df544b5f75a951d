// SPDX-License-Identifier: MIT
// The CUDA version that this driver is.
#pragma once

enum { API_DRIVER_VERSION = 13000 }; // 1000 * major + 10 * minor
