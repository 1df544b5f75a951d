// SPDX-License-Identifier: MIT
// Functions of the program that run in stream order, in a thread of their own.
#pragma once
#include <cuda.h>

#include "stream.h"

// cuLaunchHostFunc. Not called when the context has failed.
CUresult em_host_function(struct em_stream *stream, CUhostFn function, void *data);
// cuStreamAddCallback: called also when the context has failed, with its error. `handle` is what it
// gets as the stream.
CUresult em_stream_callback(struct em_stream *stream, CUstream handle, CUstreamCallback function,
                            void *data);
