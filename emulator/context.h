// SPDX-License-Identifier: MIT
// Contexts: created and primary, the per-thread stack of current ones, and what belongs to a context.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct em_device;
struct em_stream;

enum em_trouble { EM_FINE, EM_DESTROYED, EM_STICKY };

struct em_context {
    struct em_object object; // type EM_CONTEXT
    struct em_device *device;
    bool primary;
    int trouble;              // enum em_trouble; not EM_FINE: most calls fail. Written with a release store
    CUresult sticky;          // with EM_STICKY: the asynchronous error that every call returns
    unsigned flags;           // CU_CTX_*
    unsigned api_version;
    uint64_t id;
    struct em_object *objects; // all that was created in it; destroyed with it
    struct em_stream *default_stream; // CU_STREAM_LEGACY
    struct em_stream *streams;        // all, the default ones included (stream.h)
    uint64_t tickets;                 // of commands handed out so far (command.h)
    uint64_t blocking_pending;        // commands not complete in blocking streams, the legacy one not counted
    struct em_allocation *allocations; // all memory that belongs to it (memory.h)
};

// Why a context cannot be used: CUDA_ERROR_CONTEXT_IS_DESTROYED or its sticky error, with a sentence. Takes no lock.
CUresult em_context_trouble(struct em_context *context) __attribute__((cold));

// Makes `code` stick to the context: an asynchronous error after which nothing works until it is destroyed. Takes no lock; the first one stays.
void em_context_stick(struct em_context *context, CUresult code);
