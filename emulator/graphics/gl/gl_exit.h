// SPDX-License-Identifier: MIT
// OpenGL and X libraries take themselves down when the process exits: from then on the driver's own
// threads must not call them.
#pragma once
#include <stdbool.h>

// Whether a thread of the driver's own may call such libraries; it ends that by em_gl_exit_leave.
// The process does not exit in between, unless that takes seconds.
bool em_gl_exit_enter(void);
void em_gl_exit_leave(void);
