// SPDX-License-Identifier: MIT
// Keeps and writes the output of kernels.
#include "kernel_output.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "context.h"
#include "lock.h"

void em_kernel_output_start(struct em_kernel_output *output, const struct em_context *context)
{
    em_assert_unlocked();
    *output = (struct em_kernel_output){0};
    em_lock();
    output->most_B = context->limit[CU_LIMIT_PRINTF_FIFO_SIZE];
    em_unlock();
}

// Before the text of each call.
struct record {
    size_t size_B;
    uint64_t record_B;
};

static struct record record_at(const struct em_kernel_output *output, size_t at)
{
    struct record record;
    memcpy(&record, output->bytes + at, sizeof record);
    return record;
}

// Makes space for `more_B` bytes at the end.
static bool reserve(struct em_kernel_output *output, size_t more_B)
{
    if (output->first > output->capacity / 2) {
        memmove(output->bytes, output->bytes + output->first, output->end - output->first);
        output->end -= output->first;
        output->first = 0;
    }
    if (output->capacity - output->end >= more_B)
        return true;
    const size_t capacity = 2 * output->capacity + more_B;
    char *grown = dm_realloc(output->bytes, capacity);
    if (!grown)
        return false;
    output->bytes = grown;
    output->capacity = capacity;
    return true;
}

bool em_kernel_print(struct em_kernel_output *output, const char *text, size_t size_B,
                     uint64_t record_B)
{
    const struct record new = {size_B, record_B};
    while (output->first < output->end && output->used_B + record_B > output->most_B) {
        const struct record old = record_at(output, output->first);
        output->first += sizeof old + old.size_B;
        output->used_B -= old.record_B;
    }
    if (!reserve(output, sizeof new + size_B))
        return false;
    memcpy(output->bytes + output->end, &new, sizeof new);
    memcpy(output->bytes + output->end + sizeof new, text, size_B);
    output->end += sizeof new + size_B;
    output->used_B += record_B;
    return true;
}

void em_kernel_output_write(struct em_kernel_output *output)
{
    em_assert_unlocked();
    for (size_t at = output->first; at < output->end;) {
        const struct record record = record_at(output, at);
        fwrite(output->bytes + at + sizeof record, 1, record.size_B, stdout);
        at += sizeof record + record.size_B;
    }
    fflush(stdout);
    dm_free(output->bytes);
    *output = (struct em_kernel_output){0};
}

void em_kernel_complain(const char *line, size_t size_B)
{
    fwrite(line, 1, size_B, stderr);
    fflush(stderr);
}
