// SPDX-License-Identifier: MIT
// Two of the driver's own threads, started when first needed. One runs host functions. The other,
// the runner, continues with ready commands when a thread has run its share of them.
#pragma once
#include <stdbool.h>

// Everything here: precondition: em_lock held.

// Starts the thread if it does not run yet. Returns false if there can be no thread.
bool em_service_need_host(void);
bool em_service_need_runner(void);
// There may be work for it.
void em_service_wake_host(void);
void em_service_wake_runner(void);
