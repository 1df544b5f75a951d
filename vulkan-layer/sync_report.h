// SPDX-License-Identifier: MIT
// Reports submissions that wait for a long time (S05).
#pragma once
#include "sync_batch.h"

// Returns the time after which a wait is reported, from CARDLESS_DEADLOCK_MS; 0: never.
uint64_t vl_long_wait_ns(void);
void vl_report_long_wait(VkQueue queue, const struct vl_use *use);
