// SPDX-License-Identifier: MIT
// Pools and pointers into them shared between processes. A pool that can be shared keeps its memory
// in one sparse file; its descriptor stands for the pool, and a pointer is an offset in it.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "pool.h"

// Gives a new pool its file. CUDA_ERROR_OUT_OF_MEMORY. Precondition: em_lock held.
CUresult em_pool_make_file(struct em_pool *pool);

// A new descriptor of the pool; the caller closes it. Takes the lock.
CUresult em_pool_export(CUmemoryPool handle, unsigned type, int *fd);
// The pool that a descriptor stands for. The descriptor stays the caller's. Takes the lock.
CUresult em_pool_import(int fd, CUmemoryPool *out);
// cuMemPoolExportPointer. Takes the lock.
CUresult em_pool_export_pointer(uint64_t address, CUmemPoolPtrExportData *out);
// cuMemPoolImportPointer: the same address for the same pointer until it is freed. Takes the lock.
CUresult em_pool_import_pointer(CUmemoryPool handle, const CUmemPoolPtrExportData *data,
                                uint64_t *out);
