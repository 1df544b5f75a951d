// SPDX-License-Identifier: MIT
// Failures of grids, described with line, block and thread.
#pragma once
#include "block.h"

struct dm_fault;

// A failure of lanes of a warp, at an operation. Keeps the first failure of a grid. Returns NULL,
// and sets w.stop.
const struct kn_op *px_fail(struct px_warp *warp, enum px_failure_kind kind, uint32_t lanes,
                            const struct kn_op *at, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// After KN_STOP_FAULT.
void px_fail_access(struct px_warp *warp);
// After an access that the host has refused.
void px_fail_fault(struct px_warp *warp, const struct dm_fault *fault);
