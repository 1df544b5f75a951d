// SPDX-License-Identifier: MIT
// Whether another process has ended. Nobody should wait for the work of one that has.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

// A process that has ended but whose parent has not collected it counts as ended.
bool em_process_has_ended(pid_t process);

// From now on em_outside_ask_words is called when the process ends. If the system cannot say when
// it does, all words are polled instead. Precondition: em_lock held.
void em_process_watch(pid_t process);
