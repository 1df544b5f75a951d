// SPDX-License-Identifier: MIT
// CARDLESS_OVERLAP=same: all buffers that are mapped on an external memory object lie in one window
// of addresses, so that overlapping ranges share their addresses.
#pragma once
#include "imported.h"

// Maps [offset, offset + size), which has been checked. The program frees the address once for each
// such call. Precondition: em_lock held.
CUresult em_external_map_shared(struct em_context *context, struct em_imported *imported,
                                uint64_t offset, uint64_t size, uint64_t *out);
