// SPDX-License-Identifier: MIT
// The variables of captured.h.
#include "captured.h"

const struct em_capture_ops *em_capture;
uint64_t em_captures;
