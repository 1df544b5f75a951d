// SPDX-License-Identifier: MIT
// The parts that the generated exported functions (entry_N.c) use.
#pragma once
#define CARDLESS_DRIVER // no renaming of functions by the public headers: here every symbol is
                        // meant by its own name
#include <cuda.h>

#include "api_bodies.h"
#include "api_exports.h"
#include "call.h"
#include "capture.h"
#include "captured.h"
#include "pointer_check.h"
#include "record.h"
#include "stream.h"
#include "trace.h"

// The types of the arguments; generated (description.c).
extern const cardlessTypes api_description;

#define EM_EXPORT __attribute__((visibility("default")))

// The stream that a `_ptsz` function uses for the handle that it is given.
static inline CUstream em_per_thread(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

// Checks the rule for a call without a stream.
static inline CUresult api_check_capture(const struct em_entry *entry)
{
    return em_unlikely(__atomic_load_n(&em_captures, __ATOMIC_ACQUIRE))
               ? em_capture_check(entry->capture, NULL)
               : CUDA_SUCCESS;
}

// For calls that add to a capture: fails if that of their stream is invalid.
static inline CUresult api_check_valid(CUstream handle)
{
    struct em_stream *stream;
    if (em_likely(!__atomic_load_n(&em_captures, __ATOMIC_ACQUIRE)))
        return CUDA_SUCCESS;
    CUresult r = em_stream_get(handle, &stream);
    if (r)
        return r;
    r = em_capture_check_valid(stream);
    em_stream_put(stream);
    return r;
}

// Finds the stream that a call names and takes a reference to it. This is the one place where a
// call meets its stream, so it checks `entry->capture` too.
static inline CUresult api_open_stream(const struct em_entry *entry, CUstream handle,
                                       struct em_stream **out)
{
    CUresult r = em_stream_get(handle, out);
    if (r) {
        *out = NULL; // it may have been found in a context that has failed: there is no reference
    } else if (em_unlikely(__atomic_load_n(&em_captures, __ATOMIC_ACQUIRE))) {
        r = em_capture_check(entry->capture, *out);
        if (r)
            em_stream_put(*out);
        if (r)
            *out = NULL;
    }
    return r;
}
