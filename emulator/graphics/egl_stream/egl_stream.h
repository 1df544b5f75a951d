// SPDX-License-Identifier: MIT
// EGL streams inside the process: a queue of frames from one CUDA producer to one CUDA consumer,
// each of them in a context of its own. Programs create the streams with cardless.h, because Mesa's
// EGL has no streams. Every function takes em_lock.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_stream;

// CUeglFrame, whose header needs EGL's.
struct em_egl_frame {
    uint64_t plane[3]; // arrays, or addresses of pitched memory
    unsigned width, height, depth, pitch, planes, channels;
    unsigned type;   // CU_EGL_FRAME_TYPE_*
    unsigned color;  // CUeglColorFormat
    unsigned format; // CUarray_format
};
enum { EM_EGL_ARRAY, EM_EGL_PITCH };

// Creates a stream, as EGLStreamKHR. fifo 0: a mailbox, in which a new frame replaces one that has
// not been acquired.
CUresult em_egl_stream_create(unsigned fifo, void **out);
// Connections stay until they are disconnected, but no frames pass through them any more.
CUresult em_egl_stream_destroy(void *stream);

enum em_egl_role { EM_EGL_CONSUMER, EM_EGL_PRODUCER };

// Creates a connection (CUeglStreamConnection) in the current context. On some errors a handle is
// written nevertheless; it can only be disconnected.
CUresult em_egl_connect(void *stream, enum em_egl_role role, uint64_t *connection);
// Ends a connection. Frames in the stream are lost. Frames that a consumer holds end with its
// connection.
CUresult em_egl_disconnect(uint64_t connection, enum em_egl_role role);

// Puts a frame into the EGL stream, and waits until there is capacity for it. The consumer's work
// on the frame begins after all work that is in `stream` at this moment has completed.
CUresult em_egl_present(uint64_t connection, const struct em_egl_frame *frame,
                        struct em_stream *stream);
// Takes the next frame, or the last one again. Waits for a frame for at most `timeout_us`
// microseconds (UINT32_MAX: without a limit). Later work in `stream` runs after the producer's work
// on the frame.
CUresult em_egl_acquire(uint64_t connection, CUgraphicsResource *out, struct em_stream *stream,
                        uint32_t timeout_us);
// Gives a frame back. It returns to the producer as soon as there is a newer one. The producer's
// next use of it waits for the work that is in `stream` at this moment.
CUresult em_egl_release(uint64_t connection, CUgraphicsResource frame, struct em_stream *stream);
// Returns to the producer the oldest frame that the consumer has given back.
CUresult em_egl_return(uint64_t connection, struct em_egl_frame *out, struct em_stream *stream);

// Returns in `out`, which may be NULL, the consumer's view of the frame. Returns false if the
// handle is not that of a frame.
bool em_egl_frame(CUgraphicsResource resource, struct em_egl_frame *out);
