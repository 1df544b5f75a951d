// SPDX-License-Identifier: MIT
// The tool's side of the page that it shares with a program that stops before each call
// (emulator/core/stop_page.h).
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "stop_page.h"

// Makes the page. *fd gets a descriptor for the program. Returns NULL after a message.
struct em_stop_page *step_page_make(int *fd);

// Waits until the program stops (true), or has ended: *status gets its wait status.
bool step_page_wait(struct em_stop_page *page, pid_t child, int *status);

// Lets the thread that has stopped go on.
void step_page_go(struct em_stop_page *page);
