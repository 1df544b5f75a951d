// SPDX-License-Identifier: MIT
// Writes the trace: `call 12: cuMemAlloc_v2(dptr=0x7ffd11f0, bytesize=4096) = CUDA_SUCCESS`.
#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call.h"
#include "config.h"
#include "sink.h"

// A line longer than this is cut; strings of the program are cut long before.
enum { LINE = 2048, STRING = 80 };

static struct em_sink_file file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void)
{
    const char *path = em_config()->trace_path;
    em_tracing = path && em_sink_write(&file, "CARDLESS_TRACE", path, "", 0);
}

void em_trace_start(void)
{
    pthread_once(&once, start);
}

void em_trace_lock(void)
{
    em_cancel_off();
    pthread_mutex_lock(&lock);
}

void em_trace_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct line {
    char text[LINE];
    size_t used;
};

static void put(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line->text + line->used, LINE - 1 - line->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        line->used += (size_t)n < LINE - 1 - line->used ? (size_t)n : LINE - 2 - line->used;
}

// The string that the program passed, in quotes. The program's pointer may be anything: it is read
// through the kernel, which refuses a bad address where a load would fault; in two pieces, since
// the string may end right before an unmapped page.
static void put_string(struct line *line, uint64_t address)
{
    char copy[STRING + 1];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - address % page;
    first = first < STRING ? first : STRING;
    struct iovec to = {copy, STRING};
    struct iovec from[2] = {{(void *)(uintptr_t)address, first},
                            {(void *)(uintptr_t)(address + first), STRING - first}};
    ssize_t got = address ? process_vm_readv(getpid(), &to, 1, from, 2, 0) : -1;
    if (got <= 0) {
        put(line, "0x%llx", (unsigned long long)address);
        return;
    }
    copy[got] = 0;
    put(line, "\"");
    for (const char *c = copy; *c; c++)
        if (*c == '"' || *c == '\\')
            put(line, "\\%c", *c);
        else
            put(line, *c >= ' ' && *c < 127 ? "%c" : "\\x%02x", (unsigned char)*c);
    put(line, "\"%s", strlen(copy) == STRING ? "…" : "");
}

// The kinds are those of tools/gen/driver_table.py: Argument.kind.
static void put_value(struct line *line, char kind, uint64_t value)
{
    switch (kind) {
    case 's':
        put_string(line, value);
        break;
    case 'u':
        put(line, "%llu", (unsigned long long)value);
        break;
    case 'i':
        put(line, "%lld", (long long)(int64_t)value);
        break;
    case 'f': {
        uint32_t bits = (uint32_t)value;
        float f;
        memcpy(&f, &bits, sizeof f);
        put(line, "%g", (double)f);
        break;
    }
    case 'v':
        put(line, "{…}");
        break;
    default: // p pointer, h handle, a device address, x flags
        put(line, "0x%llx", (unsigned long long)value);
    }
}

void em_trace(const struct em_entry *entry, CUresult result, const uint64_t *values)
{
    struct line line = {.used = 0};
    char call[64];
    int saved = errno;
    em_call_text(em_call_now(), call, sizeof call);
    put(&line, "%s: %s(", call, entry->name);
    const char *item = entry->arguments;
    for (size_t i = 0; *item; i++) {
        const char *colon = strchr(item, ':');
        put(&line, "%s%.*s=", i ? ", " : "", (int)(colon - item), item);
        put_value(&line, colon[1], values[i]);
        item = colon + 2;
        item += *item == ' ';
    }
    const char *name = em_error_name(result);
    put(&line, ") = %s", name);
    line.text[line.used++] = '\n';
    em_cancel_off();
    pthread_mutex_lock(&lock);
    em_sink_write(&file, "CARDLESS_TRACE", em_config()->trace_path, line.text, line.used);
    pthread_mutex_unlock(&lock);
    errno = saved;
}
