// SPDX-License-Identifier: MIT
// Three of the driver's own threads, started when needed. One runs host functions. The runner
// continues with ready commands when a thread has run its share of them. Under a policy that leaves
// ready commands to threads that wait, the late runner runs them if no thread does.
#pragma once
#include <stdbool.h>

// Everything here: precondition: em_lock held.

// Starts the thread if it does not run yet. Returns false if there can be no thread.
bool em_service_need_host(void);
bool em_service_need_runner(void);
bool em_service_need_late(void);
// There may be work for it.
void em_service_wake_host(void);
void em_service_wake_runner(void);
void em_service_wake_late(void);
