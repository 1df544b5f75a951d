// SPDX-License-Identifier: MIT
// Handles to ranges of device addresses: dma-bufs, for the drivers of other devices.
#pragma once
#include <cuda.h>
#include <stdint.h>

// Makes a dma-buf of [address, address + size); both are multiples of the page size. *fd is -1 on
// failure. Takes the lock.
CUresult em_range_dma_buf(uint64_t address, uint64_t size, int *fd);
