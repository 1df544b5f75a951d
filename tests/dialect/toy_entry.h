// SPDX-License-Identifier: MIT
// The helpers that the generated functions of the made-up API call.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "describe.h"
#include "toy_bodies.h"
#include "toy_exports.h"

#define TOY_EXPORT __attribute__((visibility("default")))
#define toy_unlikely(x) __builtin_expect(!!(x), 0)
enum { EM_CAPTURE_NODE = 1 };

extern const cardlessTypes toy_body_description;

struct toy_entry {
    const char *name;
    const cardlessTypes *description;
    uint32_t first_argument, arguments;
    unsigned capture;
    const char *list;
};

struct toy_thread {
    const struct toy_entry *entry;
};
struct toy_queue {
    int packed;
    bool of_thread;
};

extern bool toy_tracing;
struct toy_thread *toy_thread(void);

static inline const struct toy_entry *toy_begin(struct toy_thread *self,
                                                const struct toy_entry *entry)
{
    const struct toy_entry *outer = self->entry;
    self->entry = entry;
    return outer;
}

static inline toyError toy_end(struct toy_thread *self, const struct toy_entry *outer, toyError r)
{
    self->entry = outer;
    return r;
}

static inline toyQueue toy_per_thread(toyQueue queue)
{
    return queue ? queue : toyQueueOfThread;
}

toyError toy_need_awake(const struct toy_thread *self);
toyError toy_null(const char *argument);
toyError toy_readable(const char *argument, const void *pointer, int64_t count, size_t size_B);
toyError toy_unsupported(const struct toy_entry *entry, bool *said);
toyError toy_body_open_stream(const struct toy_entry *entry, toyQueue handle,
                              struct toy_queue **out);
void toy_stream_put(struct toy_queue *queue);
bool toy_handle_text(unsigned type, uint64_t handle, char *out, size_t size);
void toy_trace(const struct toy_entry *entry, toyError result, const uint64_t *values,
               struct em_text *before);
