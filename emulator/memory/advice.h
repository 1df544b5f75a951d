// SPDX-License-Identifier: MIT
// Advice for pages of managed memory, and the location of their last prefetch. The program can read
// both back; neither moves any bytes.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_allocation;
struct em_advice_map;

// Precondition: em_lock held. [address, address + size) is in `a`, which is managed memory.
CUresult em_advice_set(struct em_allocation *a, uint64_t address, uint64_t size,
                       CUmem_advise advice, CUmemLocation location);
CUresult em_advice_prefetched(struct em_allocation *a, uint64_t address, uint64_t size,
                              CUmemLocation location);
// Writes an attribute of the whole range; `size_B` is the size of `data`, which the caller has
// checked.
void em_advice_attribute(const struct em_allocation *a, uint64_t address, uint64_t size,
                         CUmem_range_attribute attribute, void *data, uint64_t size_B);

void em_advice_free(struct em_advice_map *map); // NULL is allowed
