// SPDX-License-Identifier: MIT
// EGL streams inside the process: a queue of frames from one CUDA producer to one CUDA consumer,
// each of them in a context of its own. The streams are made with cardless.h, since Mesa's EGL has
// none. Every function takes em_lock.
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

// Connections, as CUeglStreamConnection, made in the current context. One that is refused may be
// written all the same: it can only be disconnected.
CUresult em_egl_connect(void *stream, enum em_egl_role role, uint64_t *connection);
// Ends a connection. Frames in the stream are lost. Frames that a consumer holds end with its
// connection.
CUresult em_egl_disconnect(uint64_t connection, enum em_egl_role role);

// Puts a frame into the stream; waits for capacity. The consumer's work on the frame begins when
// the work that is in `on` now has completed.
CUresult em_egl_present(uint64_t connection, const struct em_egl_frame *frame,
                        struct em_stream *stream);
// Takes the next frame, for which it waits up to `timeout_us` microseconds (UINT32_MAX: for ever),
// or the last one again; what is put into `on` afterwards comes after the producer's work.
CUresult em_egl_acquire(uint64_t connection, CUgraphicsResource *out, struct em_stream *stream,
                        uint32_t timeout_us);
// Gives it back: when there is a newer one, the producer may have it, and use it when what is in
// `on` now is complete.
CUresult em_egl_release(uint64_t connection, CUgraphicsResource frame, struct em_stream *stream);
// The oldest frame that came back.
CUresult em_egl_return(uint64_t connection, struct em_egl_frame *out, struct em_stream *stream);

// What the consumer sees of the frame behind a resource (`out` may be NULL). False: the handle is
// no such frame.
bool em_egl_frame(CUgraphicsResource resource, struct em_egl_frame *out);
