// SPDX-License-Identifier: MIT
// Writes the trace:
//     call 12: cuMemAlloc_v2(dptr=0x7ffd11f0, bytesize=4096) = CUDA_SUCCESS; *dptr=0x302000000
#include "trace.h"

#include <errno.h>
#include <pthread.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "describe.h"
#include "mutex.h"
#include "record.h"
#include "sink.h"
#include "startup.h"

static struct em_sink_file file;
static struct dm_mutex lock = DM_MUTEX_INITIALIZER(TRACE);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void)
{
    const char *path = em_config()->trace_path;
    em_tracing_text = path && em_sink_write(&file, "CARDLESS_TRACE", path, "", 0);
    em_tracing = em_tracing_text;
}

DM_STARTUP void em_trace_start(void)
{
    pthread_once(&once, start);
}

void em_trace_lock(void)
{
    em_cancel_off();
    dm_mutex_lock(&lock);
}

void em_trace_unlock(void)
{
    dm_mutex_unlock(&lock);
}

static struct em_arguments arguments_of(const struct em_entry *entry, const uint64_t *values)
{
    return (struct em_arguments){.description = entry->description,
                                 .first = entry->first_argument,
                                 .count = entry->arguments,
                                 .values = values};
}

struct em_text *em_trace_before(const struct em_entry *entry, const uint64_t *values)
{
    if (em_unlikely(em_self.interrupts))
        return NULL;
    struct em_arguments a = arguments_of(entry, values);
    int saved = errno;
    em_cancel_off();
    struct em_text *before = em_tracing_text ? dm_calloc(1, sizeof *before) : NULL;
    if (before)
        em_describe_arguments(before, &a);
    errno = saved;
    return before;
}

void em_trace_note(struct em_text *note)
{
    if (em_self.trace_note) {
        em_text_finish(em_self.trace_note);
        dm_free(em_self.trace_note);
    }
    em_self.trace_note = note;
}

static __attribute__((noinline)) void trace_text(const struct em_entry *entry, CUresult result,
                                                 const uint64_t *values, struct em_text *before)
{
    struct em_arguments a = arguments_of(entry, values);
    struct em_text line = {.bytes = NULL};
    char call[64];
    struct em_thread *self = em_thread();
    em_record_return(self, entry, result, values);
    int saved = errno;
    em_cancel_off();
    em_call_text(em_call_now(), call, sizeof call);
    em_text_put(&line, "%s: %s(", call, entry->name);
    if (before)
        em_text_append(&line, before);
    else if (a.description)
        em_describe_arguments(&line, &a);
    em_text_put(&line, ") = %s", em_error_name(result));
    if (a.description)
        em_describe_outputs(&line, &a, result != CUDA_SUCCESS);
    if (em_self.trace_note) {
        em_text_put(&line, "; ");
        em_text_append(&line, em_self.trace_note);
        em_trace_note(NULL);
    }
    em_text_end_line(&line);
    if (line.bytes) {
        dm_mutex_lock(&lock);
        em_sink_write(&file, "CARDLESS_TRACE", em_config()->trace_path, line.bytes, line.used);
        dm_mutex_unlock(&lock);
    }
    em_text_finish(&line);
    if (before) {
        em_text_finish(before);
        dm_free(before);
    }
    errno = saved;
}

void em_trace(const struct em_entry *entry, CUresult result, const uint64_t *values,
              struct em_text *before)
{
    struct em_thread *self = em_thread();
    if (em_unlikely(self->interrupts))
        return;
    if (em_unlikely(em_tracing_text))
        trace_text(entry, result, values, before);
    else
        em_record_return(self, entry, result, values);
}
