// SPDX-License-Identifier: MIT
// The emulator's own threads: one runs host functions; the other, the poller, asks from time to
// time whether something outside has happened, and goes on with work that a thread has handed over.
// Started when first needed.
#pragma once
#include <stdbool.h>

// Starts the thread if it does not run yet. False: no thread could be made. Precondition: em_lock
// held.
bool em_service_need_host(void);
bool em_service_need_poller(void);
// There may be work for it. Precondition: em_lock held.
void em_service_wake_host(void);
void em_service_wake_poller(void);
