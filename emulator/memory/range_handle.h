// SPDX-License-Identifier: MIT
// Handles to ranges of device addresses: dma-bufs, for drivers of other devices.
#pragma once
#include <cuda.h>
#include <stdint.h>

// A dma-buf of [address, address + size), both multiples of a page; *fd is -1 on failure. Takes the
// lock.
CUresult em_range_dma_buf(uint64_t address, uint64_t size, int *fd);
