// SPDX-License-Identifier: MIT
// OpenGL and X libraries shut down when the process exits. After that the driver's own threads must
// not call them.
#pragma once
#include <stdbool.h>

// Whether a thread of the driver's own may call such libraries. If so, it calls em_gl_exit_leave
// afterwards, and the process waits with its exit until then, for some seconds at most.
bool em_gl_exit_enter(void);
void em_gl_exit_leave(void);
