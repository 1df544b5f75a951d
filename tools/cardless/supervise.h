// SPDX-License-Identifier: MIT
// Runs a program as a child, for what has to happen after it has ended.
#pragma once
#include "report.h"

// Runs the program, whose environment is this process's, and reports as the user wants. Returns the
// exit status: the program's own unless that is 0. If a signal ended the program, the same signal
// ends this process.
int supervise(char **program, struct report *r);
