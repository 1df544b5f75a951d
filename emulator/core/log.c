// SPDX-License-Identifier: MIT
// The lines of the log of errors in memory and in the file of CUDA_LOG_FILE.
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "config.h"
#include "error.h"
#include "log_callback.h"
#include "sink.h"

// "The maximum size of the buffer is 25600 bytes"; the programming guide: "limited to 100 entries".
enum { LOG_B = 25600, LINES = 100, LINE_B = EM_LOG_MESSAGE_B };

// The lines that are kept, the oldest first. They move to the beginning of the arrays only when the
// arrays are full, because each move would cost as much as the rest of a message. All is guarded by
// the lock of error.c.
static struct {
    char bytes[2 * LOG_B];
    uint32_t first_B, used_B;
    struct line {
        uint32_t length, at; // of the line with its newline; the place of the message in it
        CUlogLevel level;
    } lines[2 * LINES];
    uint32_t first, count;
    uint64_t total; // of all lines ever; its low 32 bits are the iterator of the end
} kept;

static struct em_sink_file file;

static const char dropped[] = "Older messages were dropped: the log keeps the newest 100 messages, "
                              "at most 25600 bytes\n";
static const char left_out[] = "Older messages are left out: the buffer is too small for them\n";

static const struct line *line_at(uint32_t i)
{
    return &kept.lines[kept.first + i];
}

static void drop_oldest(void)
{
    const uint32_t length = line_at(0)->length;
    kept.first_B += length;
    kept.used_B -= length;
    kept.first++;
    kept.count--;
}

static void keep(const char *text, struct line line)
{
    while (kept.count == LINES || kept.used_B + line.length > LOG_B)
        drop_oldest();
    if (kept.first_B + kept.used_B + line.length > sizeof kept.bytes) {
        memmove(kept.bytes, kept.bytes + kept.first_B, kept.used_B);
        kept.first_B = 0;
    }
    if (kept.first + kept.count == 2 * LINES) {
        memmove(kept.lines, line_at(0), kept.count * sizeof *kept.lines);
        kept.first = 0;
    }
    memcpy(kept.bytes + kept.first_B + kept.used_B, text, line.length);
    kept.used_B += line.length;
    kept.lines[kept.first + kept.count++] = line;
    kept.total++;
}

// Writes "[22:21:32.099][25642][CUDA][E] …" and a newline. Returns the length, and the place of the
// message in *at.
static uint32_t write_line(CUlogLevel level, const char *text, char *line, uint32_t *at)
{
    struct timespec now;
    struct tm local = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    *at = (uint32_t)snprintf(line, LINE_B, "[%02d:%02d:%02d.%03ld][%d][CUDA][%c] ", local.tm_hour,
                             local.tm_min, local.tm_sec, now.tv_nsec / 1000000, (int)gettid(),
                             level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
    const int n = snprintf(line + *at, LINE_B - 1 - *at, "%s", text);
    const uint32_t most = LINE_B - 2 - *at;
    uint32_t length = *at + (n < 0 ? 0 : (uint32_t)n < most ? (uint32_t)n : most);
    for (uint32_t i = 0; i < length; i++) // "only a newline" is between messages
        if (line[i] == '\n')
            line[i] = ' ';
    line[length++] = '\n';
    line[length] = 0;
    return length;
}

static void write_file(const char *line, uint32_t length)
{
    const char *path = em_config()->log_path;
    if (!path)
        return;
    if (!strcmp(path, "stdout"))
        em_sink_write_all(STDOUT_FILENO, line, length);
    else if (!strcmp(path, "stderr"))
        em_sink_write_all(STDERR_FILENO, line, length);
    else
        em_sink_write(&file, "CUDA_LOG_FILE", path, line, length);
}

void em_log_add(CUlogLevel level, const char *text)
{
    char line[LINE_B];
    uint32_t at;
    const uint32_t length = write_line(level, text, line, &at);
    em_log_due((CUlogIterator)kept.total);
    keep(line, (struct line){length, at, level});
    write_file(line, length);
    em_self.logged = em_self.entry != NULL;
}

void em_log_leave(struct em_thread *self, const char *entry, bool inside, CUresult result)
{
    char text[256];
    self->logged = false;
    if (result) {
        snprintf(text, sizeof text, "Returning %d (%s) from %s", (int)result, em_error_name(result),
                 entry);
        em_error_lock();
        em_log_add(CU_LOG_LEVEL_ERROR, text);
        em_error_unlock();
        self->logged = false;
    }
    if (!inside)
        em_log_deliver(self);
}

// ---- reading ----

CUlogIterator em_log_end(void)
{
    em_error_lock();
    const CUlogIterator end = (CUlogIterator)kept.total;
    em_error_unlock();
    return end;
}

size_t em_log_most(void)
{
    return LOG_B + sizeof dropped;
}

// The bytes of the lines from line `first` on.
static uint32_t bytes_from(uint32_t first)
{
    uint32_t sum = 0;
    for (uint32_t i = first; i < kept.count; i++)
        sum += line_at(i)->length;
    return sum;
}

bool em_log_message(CUlogIterator number, struct em_log_message *out)
{
    em_error_lock();
    const uint32_t before_end = (uint32_t)kept.total - number;
    const bool found = before_end && before_end <= kept.count;
    if (found) {
        const struct line *line = line_at(kept.count - before_end);
        const char *end = kept.bytes + kept.first_B + kept.used_B;
        out->level = line->level;
        out->length = line->length - 1 - line->at;
        memcpy(out->text, end - bytes_from(kept.count - before_end) + line->at, out->length);
        out->text[out->length] = 0;
    }
    em_error_unlock();
    return found;
}

// A message at the head and the lines from `first` on.
struct extract {
    const char *head;
    uint32_t first;
};

static size_t extract_B(const struct extract *e)
{
    return strlen(e->head) + bytes_from(e->first);
}

// "If the provided value in *size is not large enough to hold all buffered messages, a message will
// be added at the head of the buffer indicating this. … The final message in buffer will always be
// the most recent log message". Returns false if not even that one fits.
static bool fit(struct extract *e, size_t most_B)
{
    if (extract_B(e) <= most_B)
        return true;
    e->head = left_out;
    while (e->first < kept.count && extract_B(e) > most_B)
        e->first++;
    if (e->first < kept.count)
        return true;
    *e = (struct extract){"", kept.count - 1};
    return kept.count && extract_B(e) <= most_B;
}

// Precondition: the lock of error.c held.
static bool read_lines(const CUlogIterator *from, char *text, size_t capacity, size_t *length)
{
    struct extract e = {kept.total > kept.count ? dropped : "", 0};
    if (from) {
        const uint32_t wanted = (uint32_t)kept.total - *from; // lines before the end
        if (wanted <= kept.count)
            e = (struct extract){"", kept.count - wanted};
    }
    if (!capacity)
        return e.first == kept.count;
    if (!fit(&e, capacity - 1))
        return false;
    const size_t head_B = strlen(e.head), lines_B = bytes_from(e.first);
    memcpy(text, e.head, head_B);
    memcpy(text + head_B, kept.bytes + kept.first_B + kept.used_B - lines_B, lines_B);
    *length = head_B + lines_B;
    text[*length] = 0;
    return true;
}

CUresult em_log_read(const CUlogIterator *from, char *text, size_t capacity, size_t *length,
                     CUlogIterator *end)
{
    *length = 0;
    em_error_lock();
    const uint64_t total = kept.total;
    // After 2^32 messages, numbers are used again.
    const bool is_ahead =
        from && (total <= UINT32_MAX ? *from > total : (int32_t)((uint32_t)total - *from) < 0);
    const bool fits = !is_ahead && read_lines(from, text, capacity, length);
    em_error_unlock();
    if (is_ahead)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "*iterator (%u) is after the end of the log (%u); get an iterator from "
                       "cuLogsCurrent",
                       *from, (CUlogIterator)total);
    if (!fits)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "*size (%zu) is too small for a message",
                       capacity);
    *end = (CUlogIterator)total;
    return CUDA_SUCCESS;
}
