// SPDX-License-Identifier: MIT
// What was advised for which pages of managed memory, and where they were last prefetched to.
// Remembered, and asked for; it moves nothing.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_allocation;
struct em_advice_map;

// Precondition: em_lock held; [address, address + size) is in `a`, which is managed.
CUresult em_advice_set(struct em_allocation *a, uint64_t address, uint64_t size,
                       CUmem_advise advice, CUmemLocation location);
CUresult em_advice_prefetched(struct em_allocation *a, uint64_t address, uint64_t size,
                              CUmemLocation location);
// An attribute of the whole range; `size_B` is the room at `data`, already checked.
void em_advice_attribute(const struct em_allocation *a, uint64_t address, uint64_t size,
                         CUmem_range_attribute attribute, void *data, uint64_t size_B);

void em_advice_free(struct em_advice_map *map); // NULL is allowed
