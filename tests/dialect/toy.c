// SPDX-License-Identifier: MIT
// The made-up API: its helpers and its bodies.
#include <stdio.h>
#include <stdlib.h>

#include "toy_entry.h"

static struct toy_thread thread;
static struct toy_queue queues[3] = {[2] = {.of_thread = true}};
static bool awake;
bool toy_tracing;

struct toy_thread *toy_thread(void)
{
    return &thread;
}

toyError toy_need_awake(const struct toy_thread *self)
{
    return awake ? toySuccess : toyErrorAsleep;
}

toyError toy_null(const char *argument)
{
    return toyErrorNull;
}

toyError toy_readable(const char *argument, const void *pointer, int64_t count, size_t size_B)
{
    return count < 0 ? toyErrorUnreadable : toySuccess;
}

toyError toy_unsupported(const struct toy_entry *entry, bool *said)
{
    return toyErrorMissing;
}

toyError toy_body_open_stream(const struct toy_entry *entry, toyQueue handle,
                              struct toy_queue **out)
{
    uintptr_t number = (uintptr_t)handle;
    if (number >= sizeof queues / sizeof *queues)
        return toyErrorQueue;
    *out = &queues[number];
    return toySuccess;
}

void toy_stream_put(struct toy_queue *queue)
{
    queue->packed++;
}

bool toy_handle_text(unsigned type, uint64_t handle, char *out, size_t size)
{
    snprintf(out, size, "toyQueue #%u.%llu", type, (unsigned long long)handle);
    return true;
}

void toy_trace(const struct toy_entry *entry, toyError result, const uint64_t *values,
               struct em_text *before)
{
    struct em_arguments a = {.description = entry->description,
                             .first = entry->first_argument,
                             .count = entry->arguments,
                             .values = values};
    struct em_text line = {.bytes = NULL};
    em_text_put(&line, "%s(", entry->name);
    em_describe_arguments(&line, &a);
    em_text_put(&line, ") = ");
    em_describe_result(&line, a.description, (int64_t)result);
    em_describe_outputs(&line, &a, result != toySuccess);
    em_text_end_line(&line);
    fwrite(line.bytes, 1, line.used, stdout);
    em_text_finish(&line);
}

toyError toy_body_toyOpen(toyQueue *queue, unsigned int flags)
{
    awake = true;
    toy_tracing = getenv("TOY_TRACE") != NULL;
    *queue = toyQueueDefault;
    return toySuccess;
}

toyError toy_body_toyPack(struct toy_queue *queue, const toyBox *boxes, int count, double *weight)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += boxes[i].shape == TOY_ROUND ? boxes[i].size.radius : boxes[i].size.sides.width;
    *weight = sum + 1000 * queue->of_thread;
    return toySuccess;
}
