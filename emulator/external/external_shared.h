// SPDX-License-Identifier: MIT
// CARDLESS_OVERLAP=same: buffers mapped on one external memory lie in one window of addresses, so
// that overlapping ranges share their addresses.
#pragma once
#include "imported.h"

// Maps [offset, offset + size), which has been checked. Each such call wants a cuMemFree of the
// address that it got. Precondition: em_lock held.
CUresult em_external_map_shared(struct em_context *context, struct em_imported *imported,
                                uint64_t offset, uint64_t size, uint64_t *out);
