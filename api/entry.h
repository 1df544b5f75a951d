// SPDX-License-Identifier: MIT
// The parts that the generated exported functions (entry_N.c) use.
#pragma once
#define CARDLESS_DRIVER // no renaming of functions by the public headers: here every symbol is
                        // meant by its own name
#include <cuda.h>

#include "api_bodies.h"
#include "api_exports.h"
#include "call.h"
#include "pointer_check.h"
#include "stream.h"
#include "trace.h"

// The types of the arguments; generated (description.c).
struct em_description;
extern const struct em_description api_description;

#define EM_EXPORT __attribute__((visibility("default")))

// The stream that a `_ptsz` function uses for the handle that it is given.
static inline CUstream em_per_thread(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

// Finds the stream that a call names and takes a reference to it. This is the one place where a
// call meets its stream, so that `entry->capture` can be checked here against a stream that is
// being captured. No stream is, as long as cuStreamBeginCapture is not supported.
static inline CUresult api_open_stream(const struct em_entry *entry, CUstream handle,
                                       struct em_stream **out)
{
    (void)entry;
    CUresult r = em_stream_get(handle, out);
    if (r)
        *out = NULL; // it may have been found in a context that has failed: there is no reference
    return r;
}
