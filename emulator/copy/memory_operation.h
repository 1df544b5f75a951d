// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Memory Operations": streams that wait for words of memory and write
// them.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_command;
struct em_context;
struct em_stream;

// "count … must be less than 256"
enum { EM_MEMORY_OPERATIONS_MOST = 255 };

// One of the five calls on one word: operation is CU_STREAM_MEM_OP_{WAIT,WRITE}_VALUE_{32,64}.
// Takes the lock.
CUresult em_memory_operation(struct em_stream *stream, CUstreamBatchMemOpType operation,
                             uint64_t address, uint64_t value, unsigned flags);
// cuStreamBatchMemOp: checks all operations before it issues the first. Does nothing if `count` is
// 0. Takes the lock.
CUresult em_memory_operations(struct em_stream *stream, unsigned count,
                              const CUstreamBatchMemOpParams *operations);
// Checks a batch, except for the memory that it uses. Precondition: em_lock held.
CUresult em_memory_operations_check(struct em_context *context, unsigned count,
                                    const CUstreamBatchMemOpParams *operations);
// Checks a batch in a context and makes a command of it that can be kept, cloned and issued.
// `count` is not 0. Precondition: em_lock held.
CUresult em_memory_operations_prepare(struct em_context *context, unsigned count,
                                      const CUstreamBatchMemOpParams *operations,
                                      struct em_command **out);
