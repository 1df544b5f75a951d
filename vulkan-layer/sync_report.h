// SPDX-License-Identifier: MIT
// Reports submissions that wait for a long time (S05), on stderr, or as libcuda.so.1 reports all
// diagnostics if it is in the process.
#pragma once
#include "sync_batch.h"

// Returns the time after which a wait is reported, from CARDLESS_DEADLOCK_MS; 0: never.
uint64_t vl_long_wait_ns(void);
// Sets the function that reports; NULL: stderr. For libcuda.so.1 (struct dm_vulkan_layer).
void vl_report_with(void (*report)(const char *text));
void vl_report_long_wait(VkQueue queue, const struct vl_use *use);
