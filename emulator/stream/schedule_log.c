// SPDX-License-Identifier: MIT
// Writes the log of a schedule.
#include "schedule_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "call.h"
#include "config.h"
#include "lock.h"
#include "policy.h"
#include "sink.h"
#include "startup.h"
#include "stream.h"

bool em_schedule_logged;
static struct em_sink_file file;
static uint64_t last_call; // the one of the last line `call`

static void write_text(const char *text, int size)
{
    if (size > 0)
        em_sink_write(&file, "CARDLESS_SCHEDULE_LOG", em_config()->schedule_log_path, text,
                      (size_t)size);
}

DM_STARTUP void em_schedule_log_start(void)
{
    em_assert_locked();
    const char *path = em_config()->schedule_log_path;
    em_schedule_logged = path && em_sink_write(&file, "CARDLESS_SCHEDULE_LOG", path, "", 0);
    if (em_schedule_logged) {
        char line[256];
        write_text(line,
                   snprintf(line, sizeof line, "program\t%.200s\n", program_invocation_short_name));
    }
}

static void log_call(void)
{
    char call[64], line[256];
    if (em_call_now() == last_call)
        return;
    last_call = em_call_now();
    em_call_text(last_call, call, sizeof call);
    write_text(line, snprintf(line, sizeof line, "call\t%s\t%s\n", call, em_entry_name()));
}

__attribute__((format(printf, 1, 2))) static void log_line(const char *format, ...)
{
    char line[256];
    va_list arguments;
    em_assert_locked();
    if (em_self.entry && !em_self.in_command) // a command runs in the name of another call
        log_call();
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    write_text(line, size);
}

void em_schedule_log_decision(const struct em_choice *choice, unsigned option)
{
    if (em_schedule_logged)
        log_line("decide\t%" PRIu32 "\t%u\t%u\n", choice->number, choice->options, option);
}

void em_schedule_log_submit(const struct em_command *c)
{
    char text[64];
    if (em_schedule_logged)
        log_line("submit\t%" PRIu64 "\t%s\t%s\n", c->sequence,
                 em_stream_text(c->stream, text, sizeof text), c->ops->name);
}

void em_schedule_log_hold(const struct em_command *c)
{
    if (em_schedule_logged)
        log_line("hold\t%" PRIu64 "\n", c->sequence);
}

void em_schedule_log_run(const struct em_command *c)
{
    if (em_schedule_logged)
        log_line("%s\t%" PRIu64 "\n", em_self.entry ? "run" : "late", c->sequence);
}

void em_schedule_log_step(const struct em_command *c, const char *what)
{
    if (em_schedule_logged)
        log_line("step\t%" PRIu64 "\t%s\n", c->sequence, what);
}

void em_schedule_log_issued(uint64_t tick, const char *what)
{
    if (em_schedule_logged)
        log_line("submit\tg%" PRIu64 "\tgraphics\t%s\n", tick, what);
}

void em_schedule_log_drawn(uint64_t tick)
{
    if (em_schedule_logged)
        log_line("run\tg%" PRIu64 "\n", tick);
}
