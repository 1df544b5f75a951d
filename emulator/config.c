// SPDX-License-Identifier: MIT
// Reads the CARDLESS_* environment variables.
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct em_config config;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;

static void unknown_value(const char *name, const char *value, const char *allowed)
{
    fprintf(stderr, "cardless: %s=%s is not known and is ignored; it takes %s\n", name, value, allowed);
}

static void read_personality(const char *value)
{
    if (!strcmp(value, "driver-580"))
        config.personality = EM_DRIVER_580;
    else if (strcmp(value, "manual"))
        unknown_value("CARDLESS_PERSONALITY", value, "manual or driver-580");
}

static void read_overlap(const char *value)
{
    if (!strcmp(value, "same"))
        config.overlap = EM_OVERLAP_SAME;
    else if (strcmp(value, "distinct"))
        unknown_value("CARDLESS_OVERLAP", value, "distinct or same");
}

static void read_diagnostics(const char *value)
{
    if (!strcmp(value, "off")) {
        config.sink = EM_SINK_OFF;
    } else if (!strncmp(value, "json:", 5) && value[5]) {
        config.sink = EM_SINK_JSON;
        config.sink_path = value + 5;
    } else if (strcmp(value, "text")) {
        unknown_value("CARDLESS_DIAGNOSTICS", value, "off, text or json:FILE");
    }
}

// A whole number, or false and a word about it.
static bool read_number(const char *name, const char *value, uint64_t *out)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(value, &end, 0);
    if (errno || end == value || *end) {
        unknown_value(name, value, "a number");
        return false;
    }
    *out = number;
    return true;
}

static void read_seed(const char *value)
{
    config.have_seed = read_number("CARDLESS_SEED", value, &config.seed);
}

static void read_fail_alloc(const char *value)
{
    read_number("CARDLESS_FAIL_ALLOC", value, &config.fail_alloc);
}

static void read_copy_threads(const char *value)
{
    uint64_t threads;
    if (!read_number("CARDLESS_COPY_THREADS", value, &threads))
        return;
    if (threads == 1 || threads == 2)
        config.copy_threads = threads;
    else
        unknown_value("CARDLESS_COPY_THREADS", value, "1 or 2");
}

// 32 hexadecimal digits, with or without dashes.
static bool parse_uuid(const char *text, unsigned char out[16])
{
    unsigned digits = 0;
    memset(out, 0, 16);
    for (; *text; text++) {
        int c = tolower((unsigned char)*text);
        if (c == '-')
            continue;
        if (!isxdigit(c) || digits == 32)
            return false;
        out[digits / 2] = (unsigned char)(out[digits / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
        digits++;
    }
    return digits == 32;
}

static void read_uuid(const char *value)
{
    config.have_uuid = parse_uuid(value, config.uuid);
    if (!config.have_uuid)
        unknown_value("CARDLESS_UUID", value, "32 hexadecimal digits");
}

static void read_environment(void)
{
    static const struct {
        const char *name;
        void (*read)(const char *value);
    } readers[] = {
        {"CARDLESS_PERSONALITY", read_personality},   {"CARDLESS_OVERLAP", read_overlap},
        {"CARDLESS_DIAGNOSTICS", read_diagnostics},   {"CARDLESS_SEED", read_seed},
        {"CARDLESS_FAIL_ALLOC", read_fail_alloc},     {"CARDLESS_UUID", read_uuid},
        {"CARDLESS_COPY_THREADS", read_copy_threads},
    };
    config.sink = EM_SINK_TEXT;
    config.copy_threads = 1;
    for (unsigned i = 0; i < sizeof readers / sizeof *readers; i++) {
        const char *value = getenv(readers[i].name);
        if (value && *value)
            readers[i].read(value);
    }
    // strdup: the program may change its environment later; these few bytes live as long as the process.
    const char *text;
    if ((text = getenv("CARDLESS_DEVICES")) && *text)
        config.devices = strdup(text);
    if ((text = getenv("CARDLESS_TRACE")) && *text)
        config.trace_path = strdup(text);
    if (config.sink_path)
        config.sink_path = strdup(config.sink_path);
    config.report = (text = getenv("CARDLESS_REPORT")) && *text && strcmp(text, "0");
}

const struct em_config *em_config(void)
{
    pthread_once(&config_once, read_environment);
    return &config;
}
