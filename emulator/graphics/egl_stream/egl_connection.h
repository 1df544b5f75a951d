// SPDX-License-Identifier: MIT
// Streams and connections, for the files that implement them. Precondition of everything here:
// em_lock held.
#pragma once
#include "egl_frame.h"
#include "egl_stream.h"

struct em_egl_queue {
    struct em_egl_kept *first, *last;
    unsigned length;
};

struct em_egl_link;

struct em_egl_stream {
    struct em_object object; // type EM_EGL_STREAM
    unsigned fifo;
    bool destroyed;             // by the program, or because one side has disconnected
    bool refuses_producers;     // because one came before the consumer
    struct em_egl_link *end[2]; // the connected ones, by role
    // A frame is in `forth` until it is acquired. The last one that was acquired is `current`: it
    // can be acquired again until there is a newer one, and then goes `back`, as do others once
    // they are released. Each holds a reference.
    struct em_egl_queue forth, back;
    struct em_egl_kept *current;
    // By key, all frames between their presentation and their return: those above, and those that
    // the consumer holds. No references.
    struct em_egl_kept *frames;
};

// One side's connection.
struct em_egl_link {
    struct em_object object; // type EM_EGL_CONNECTION
    enum em_egl_role role;
    // How the driver refused to connect it (EGL_REFUSED_CONNECTIONS).
    enum { EM_EGL_CONNECTED, EM_EGL_TOO_EARLY, EM_EGL_REFUSED } refusal;
    struct em_egl_stream *stream; // a reference
    struct em_egl_view *views;    // of a consumer, by key: a reference to each
};

void em_egl_push(struct em_egl_queue *queue, struct em_egl_kept *frame);
void em_egl_push_first(struct em_egl_queue *queue, struct em_egl_kept *frame);
struct em_egl_kept *em_egl_pop(struct em_egl_queue *queue); // NULL: it is empty
// Removes a frame from the stream's table, if it is there.
void em_egl_unlist(struct em_egl_stream *stream, struct em_egl_kept *frame);

// Finds a side's connection. `other` is the result if the handle is the other side's connection.
CUresult em_egl_get_link(uint64_t connection, enum em_egl_role role, CUresult other,
                         struct em_egl_link **out);
// The same, but CUDA_ERROR_UNKNOWN if the stream is disconnected.
CUresult em_egl_get_open_link(uint64_t connection, enum em_egl_role role, struct em_egl_link **out);
