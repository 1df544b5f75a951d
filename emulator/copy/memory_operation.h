// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Memory Operations": streams that wait for words of memory, and write
// them.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_stream;

// "count … must be less than 256"
enum { EM_MEMORY_OPERATIONS_MOST = 255 };

// One of the five calls on one word: operation is CU_STREAM_MEM_OP_{WAIT,WRITE}_VALUE_{32,64}.
// Takes the lock.
CUresult em_memory_operation(struct em_stream *stream, CUstreamBatchMemOpType operation,
                             uint64_t address, uint64_t value, unsigned flags);
// cuStreamBatchMemOp: all are checked before the first is done; count 0 does nothing. Takes the
// lock.
CUresult em_memory_operations(struct em_stream *stream, unsigned count,
                              const CUstreamBatchMemOpParams *operations);
