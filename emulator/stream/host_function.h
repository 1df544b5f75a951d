// SPDX-License-Identifier: MIT
// Functions of the program that run in stream order, in the driver's thread for host functions.
#pragma once
#include <cuda.h>

#include "stream.h"

// cuLaunchHostFunc. The function is not called if the context has failed by then.
CUresult em_host_function(struct em_stream *stream, CUhostFn function, void *data);
// The same as a command that can be kept, cloned and issued. Precondition: em_lock held.
CUresult em_host_function_prepare(CUhostFn function, void *data, struct em_command **out);
// cuStreamAddCallback. The function is called even if the context has failed, with the context's
// error. `handle` is passed to it as its stream.
CUresult em_stream_callback(struct em_stream *stream, CUstream handle, CUstreamCallback function,
                            void *data);
