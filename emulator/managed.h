// SPDX-License-Identifier: MIT
// Managed memory: one copy that host and device both reach at all times; advice and prefetches are remembered, page by page, and move nothing.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_allocation;
struct em_advice_map;

// cuMemAllocManaged in the current context; size is not 0. Takes the lock.
CUresult em_managed_alloc(uint64_t size, unsigned flags, uint64_t *out);

// Precondition: em_lock held; [address, address + size) is in `a`, which is managed.
CUresult em_managed_advise(struct em_allocation *a, uint64_t address, uint64_t size, CUmem_advise advice, CUmemLocation location);
CUresult em_managed_prefetched(struct em_allocation *a, uint64_t address, uint64_t size, CUmemLocation location);
// An attribute of the whole range; `size_B` is the room at `data`, already checked.
void em_managed_attribute(const struct em_allocation *a, uint64_t address, uint64_t size, CUmem_range_attribute attribute, void *data,
                          uint64_t size_B);

void em_advice_free(struct em_advice_map *map); // NULL is allowed
