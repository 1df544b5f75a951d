// SPDX-License-Identifier: MIT
// Pools and pointers into them shared between processes. A pool that can be shared keeps its memory
// in one sparse file. The file's descriptor identifies the pool, and a shared pointer is an offset
// in the file.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "pool.h"

// Creates the file of a new pool, or returns CUDA_ERROR_OUT_OF_MEMORY. Precondition: em_lock held.
CUresult em_pool_make_file(struct em_pool *pool);

// Returns a new descriptor of the pool, which the caller closes. Takes the lock.
CUresult em_pool_export(CUmemoryPool handle, unsigned type, int *fd);
// Returns the pool of a descriptor. The caller keeps the descriptor. Takes the lock.
CUresult em_pool_import(int fd, CUmemoryPool *out);
// cuMemPoolExportPointer. Takes the lock.
CUresult em_pool_export_pointer(uint64_t address, CUmemPoolPtrExportData *out);
// cuMemPoolImportPointer. Returns the same address for the same pointer until it is freed. Takes
// the lock.
CUresult em_pool_import_pointer(CUmemoryPool handle, const CUmemPoolPtrExportData *data,
                                uint64_t *out);
