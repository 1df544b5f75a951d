// SPDX-License-Identifier: MIT
// Reads the CARDLESS_* environment variables, CUDA_LOG_FILE, CUDA_MODULE_LOADING and
// CUDA_VISIBLE_DEVICES.
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "mutex.h"
#include "quirk.h"
#include "schedule_text.h"

// How long a thread waits before its wait is examined. No wait for another process that goes well
// takes so long, and a longer one is reported but not harmed.
enum { DEADLOCK_MS = 10000, KERNEL_MS = 10000 };

static struct em_config config;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;

static void unknown_value(const char *name, const char *value, const char *allowed)
{
    fprintf(stderr, "cardless: %s=%s is ignored, because the value is unknown; use %s\n", name,
            value, allowed);
}

static void read_personality(const char *value)
{
    if (!strcmp(value, "driver-580")) {
        config.personality = EM_DRIVER_580;
        config.quirks = UINT64_MAX;
    } else if (strcmp(value, "manual")) {
        unknown_value("CARDLESS_PERSONALITY", value, "manual or driver-580");
    }
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
    } else if (!strcmp(value, "reader")) {
        config.sink = EM_SINK_READER;
    } else if (!strncmp(value, "json:", 5) && value[5]) {
        config.sink = EM_SINK_JSON;
        config.sink_path = value + 5;
    } else if (strcmp(value, "text")) {
        unknown_value("CARDLESS_DIAGNOSTICS", value, "off, text or json:FILE");
    }
}

static void read_findings(const char *value)
{
    config.findings_path = value;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 0);
    if (errno || !isdigit((unsigned char)*text) || *end) // strtoull takes "-1" for 2^64 - 1
        return false;
    *out = number;
    return true;
}

// Reads a whole number. If the value is not one, reports it and returns false.
static bool read_number(const char *name, const char *value, uint64_t *out)
{
    if (parse_number(value, out))
        return true;
    unknown_value(name, value, "a whole number from 0 to 2^64 - 1, decimal or with 0x");
    return false;
}

static void read_seed(const char *value)
{
    config.have_seed = read_number("CARDLESS_SEED", value, &config.seed);
}

static void read_fail_alloc(const char *value)
{
    read_number("CARDLESS_FAIL_ALLOC", value, &config.fail_alloc);
}

// Reads the list of a schedule, or that of a file if the text is "@FILE".
static bool parse_schedule(const char *text)
{
    return *text == '@'
               ? em_schedule_read_file(text + 1, &config.departures, &config.departure_count)
               : em_schedule_read(text, &config.departures, &config.departure_count);
}

static void read_policy(const char *value)
{
    const char *const file = !strncmp(value, "schedule:@", 10) ? value + 10 : NULL;
    if (!strcmp(value, "parallel"))
        config.policy = EM_PARALLEL;
    else if (!strcmp(value, "lazy"))
        config.policy = EM_LAZY;
    else if (!strncmp(value, "seed:", 5) && parse_number(value + 5, &config.policy_seed))
        config.policy = EM_SEEDED;
    else if (!strncmp(value, "schedule:", 9) && parse_schedule(value + 9))
        config.policy = EM_SCHEDULED;
    else if (file && access(file, R_OK))
        fprintf(stderr,
                "cardless: CARDLESS_POLICY=%s is ignored, because the file cannot be read: %s\n",
                value, strerror(errno));
    else if (strcmp(value, "eager"))
        unknown_value("CARDLESS_POLICY", value,
                      "eager, lazy, parallel, seed:N with a whole number N, or a schedule:LIST or "
                      "schedule:@FILE that cardless explore has printed");
}

static void read_deadlock_ms(const char *value)
{
    read_number("CARDLESS_DEADLOCK_MS", value, &config.deadlock_ms);
}

static void read_deadlock(const char *value)
{
    config.deadlock_aborts = !strcmp(value, "abort");
    if (!config.deadlock_aborts && strcmp(value, "report"))
        unknown_value("CARDLESS_DEADLOCK", value, "report or abort");
}

static void read_kernel_branches(const char *value)
{
    read_number("CARDLESS_KERNEL_BRANCHES", value, &config.kernel_branches);
}

static void read_kernel_ms(const char *value)
{
    read_number("CARDLESS_KERNEL_MS", value, &config.kernel_ms);
}

static void read_schedule_log(const char *value)
{
    config.schedule_log_path = value;
}

static void read_check(const char *value)
{
    const struct {
        const char *word;
        bool *on;
    } words[] = {
        {"order", &config.check_order},  {"memory", &config.check_memory},
        {"race", &config.check_race},    {"exit", &config.check_exits},
        {"abort", &config.check_aborts},
    };
    const char *at = value;
    while (*at) {
        const size_t length = strcspn(at, ",");
        unsigned i = 0;
        while (i < sizeof words / sizeof *words &&
               (strlen(words[i].word) != length || strncmp(words[i].word, at, length)))
            i++;
        if (i == sizeof words / sizeof *words)
            break;
        *words[i].on = true;
        at += length;
        at += *at == ',' && at[1];
    }
    if (!*at && (config.check_order || config.check_memory || config.check_race))
        return;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        *words[i].on = false;
    unknown_value("CARDLESS_CHECK", value,
                  "a list of order, memory and race, and exit or abort after that");
}

enum { NAME_MAX_B = 64 };

// Counts the letters to insert, delete or replace to turn a into b: Levenshtein's distance,
// without regard to case. Both are shorter than NAME_MAX_B.
static unsigned edit_distance(const char *a, size_t a_length, const char *b)
{
    unsigned row[NAME_MAX_B];
    size_t b_length = strlen(b);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned replace = diagonal + (toupper((unsigned char)a[i - 1]) != b[j - 1]);
            unsigned insert_or_delete = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < insert_or_delete ? replace : insert_or_delete;
        }
    }
    return row[b_length];
}

static const char *const quirk_names[] = {
#define EM_QUIRK(name, section, manual, driver, recording) #name,
#include "quirks.def"
#undef EM_QUIRK
};

static void switch_quirk(const char *name, size_t length, bool driver)
{
    const char *nearest = NULL;
    unsigned least = 4;
    for (unsigned i = 0; i < EM_QUIRK_COUNT; i++) {
        unsigned distance = length < NAME_MAX_B ? edit_distance(name, length, quirk_names[i]) : 4;
        if (distance < least) {
            least = distance;
            nearest = quirk_names[i];
        }
        if (strlen(quirk_names[i]) != length || strncmp(quirk_names[i], name, length))
            continue;
        if (driver)
            config.quirks |= UINT64_C(1) << i;
        else
            config.quirks &= ~(UINT64_C(1) << i);
        return;
    }
    fprintf(stderr,
            "cardless: CARDLESS_QUIRKS: '%.*s' is ignored, because it is not the name of a "
            "disagreement; ",
            (int)length, name);
    if (nearest)
        fprintf(stderr, "did you mean %s?\n", nearest);
    else
        fprintf(stderr, "see the page of disagreements, which `tools/docs` makes\n");
}

// Reads a list of names separated by commas: NAME follows the driver, -NAME follows the manual.
// Rows that are not listed follow the personality. Precondition: config.personality is known.
static void read_quirks(const char *value)
{
    while (*value) {
        bool driver = *value != '-';
        value += !driver;
        size_t length = strcspn(value, ",");
        switch_quirk(value, length, driver);
        value += length + (value[length] == ',');
    }
}

// Reads 32 hexadecimal digits, with or without dashes.
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
        out[digits / 2] =
            (unsigned char)(out[digits / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
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

// The rooms that use the next three settings read them without help from here, but cannot report a
// wrong value.
static void check_pkeys(const char *value)
{
    if (strcmp(value, "0") && strcmp(value, "1"))
        unknown_value("CARDLESS_PKEYS", value, "0 or 1");
}

static void check_cpu_mask(const char *value)
{
    uint64_t mask;
    if (!parse_number(value, &mask) || mask > UINT_MAX)
        unknown_value("CARDLESS_CPU_MASK", value,
                      "a whole number from 0 to 2^32 - 1, decimal or with 0x");
}

static void check_vulkan_memory(const char *value)
{
    if (strcmp(value, "noncoherent"))
        unknown_value("CARDLESS_VULKAN_MEMORY", value, "noncoherent");
}

static void check_vulkan_as(const char *value)
{
    if (strcmp(value, "nvidia"))
        unknown_value("CARDLESS_VULKAN_AS", value, "nvidia");
}

// (the CUDA programming guide, "Error Log Management")
static void read_log_file(const char *value)
{
    config.log_path = value;
}

// (the CUDA programming guide, "Lazy Loading")
static void read_module_loading(const char *value)
{
    config.eager_loading = !strcmp(value, "EAGER");
    if (!config.eager_loading && strcmp(value, "LAZY") && strcmp(value, "DEFAULT"))
        unknown_value("CUDA_MODULE_LOADING", value, "LAZY, EAGER or DEFAULT");
}

static void read_report(const char *value)
{
    config.report = !strcmp(value, "1");
    if (!config.report && strcmp(value, "0"))
        unknown_value("CARDLESS_REPORT", value, "0 or 1");
}

static void read_devices(const char *value)
{
    config.devices = value;
}

static void read_trace(const char *value)
{
    config.trace_path = value;
}

static void read_record(const char *value)
{
    config.record_path = value;
}

static void read_record_contents(const char *value)
{
    read_number("CARDLESS_RECORD_CONTENTS", value, &config.record_contents_B);
}

static void read_step(const char *value)
{
    config.step = value;
}

static void read_stop(const char *value)
{
    config.stop = value;
}

static const struct setting {
    const char *name;
    void (*read)(const char *value); // NULL if only tools or tests use the setting
} settings[] = {
    {"CARDLESS_PERSONALITY", read_personality},
    {"CARDLESS_QUIRKS", read_quirks}, // after the personality
    {"CARDLESS_OVERLAP", read_overlap},
    {"CARDLESS_DIAGNOSTICS", read_diagnostics},
    {"CARDLESS_FINDINGS", read_findings},
    {"CARDLESS_SEED", read_seed},
    {"CARDLESS_FAIL_ALLOC", read_fail_alloc},
    {"CARDLESS_UUID", read_uuid},
    {"CARDLESS_POLICY", read_policy},
    {"CARDLESS_SCHEDULE_LOG", read_schedule_log},
    {"CARDLESS_DEADLOCK", read_deadlock},
    {"CARDLESS_DEADLOCK_MS", read_deadlock_ms},
    {"CARDLESS_KERNEL_BRANCHES", read_kernel_branches},
    {"CARDLESS_KERNEL_MS", read_kernel_ms},
    {"CARDLESS_CHECK", read_check},
    {"CARDLESS_STEP", read_step},
    {"CARDLESS_STOP", read_stop},
    {"CARDLESS_DEVICES", read_devices},
    {"CARDLESS_TRACE", read_trace},
    {"CARDLESS_RECORD", read_record},
    {"CARDLESS_RECORD_CONTENTS", read_record_contents},
    {"CARDLESS_REPORT", read_report},
    {"CARDLESS_PKEYS", check_pkeys},
    {"CARDLESS_CPU_MASK", check_cpu_mask},
    {"CARDLESS_VULKAN_MEMORY", check_vulkan_memory},
    {"CARDLESS_VULKAN_AS", check_vulkan_as},
    {"CARDLESS_VULKAN_LAYER", NULL},
    {"CARDLESS_LIBDIR", NULL},
    {"CUDA_LOG_FILE", read_log_file},
    {"CUDA_MODULE_LOADING", read_module_loading},
    {"CUDA_VISIBLE_DEVICES", NULL}, // read_environment, because an empty list has a meaning
};

enum { SETTINGS = sizeof settings / sizeof *settings };

// Reports a variable if its name is almost the name of a setting, because the user most likely
// meant that setting. Other variables may belong to someone else.
static void report_misspelled(const char *variable)
{
    size_t length = strcspn(variable, "=");
    if (strncmp(variable, "CARDLESS", 8) || length >= NAME_MAX_B)
        return;
    for (unsigned i = 0; i < SETTINGS; i++)
        if (strlen(settings[i].name) == length && !strncmp(variable, settings[i].name, length))
            return;
    const char *nearest = NULL;
    unsigned least = 4;
    for (unsigned i = 0; i < SETTINGS; i++) {
        unsigned distance = edit_distance(variable, length, settings[i].name);
        if (distance < least) {
            least = distance;
            nearest = settings[i].name;
        }
    }
    if (nearest)
        fprintf(stderr, "cardless: %.*s is not a setting; did you mean %s?\n", (int)length,
                variable, nearest);
}

// A program that has more rights than the user who starts it (set-user-id, set-group-id, file
// capabilities) must not do as that user's environment says, or it would write files for him.
static void report_ignored(void)
{
    for (char **variable = environ; variable && *variable; variable++) {
        for (unsigned i = 0; i < SETTINGS; i++) {
            size_t length = strlen(settings[i].name);
            if (strncmp(*variable, settings[i].name, length) || (*variable)[length] != '=')
                continue;
            fprintf(stderr,
                    "cardless: %s is ignored, as all settings are, because this program "
                    "runs with more rights than its user (it is set-user-id, for example)\n",
                    settings[i].name);
            return;
        }
    }
}

void em_config_each(void (*see)(const char *name, const char *value))
{
    for (unsigned i = 0; i < SETTINGS; i++) {
        const char *value = secure_getenv(settings[i].name);
        // An empty list of devices hides all of them; other empty values stand for no value.
        if (value && (*value || !strcmp(settings[i].name, "CUDA_VISIBLE_DEVICES")))
            see(settings[i].name, value);
    }
}

static void read_environment(void)
{
    config.sink = EM_SINK_TEXT;
    config.deadlock_ms = DEADLOCK_MS;
    config.kernel_ms = KERNEL_MS;
    if (getauxval(AT_SECURE)) {
        report_ignored();
        return;
    }
    for (unsigned i = 0; i < SETTINGS; i++) {
        const char *value = secure_getenv(settings[i].name);
        if (value && *value && settings[i].read)
            settings[i].read(value);
    }
    config.test = secure_getenv("PYTEST_CURRENT_TEST");
    config.visible_devices = secure_getenv("CUDA_VISIBLE_DEVICES");
    for (char **variable = environ; variable && *variable; variable++)
        report_misspelled(*variable);
    // Copy the strings, because the program may change its environment later. These few bytes live
    // as long as the process.
    const char **kept[] = {&config.devices,           &config.visible_devices,
                           &config.trace_path,        &config.sink_path,
                           &config.schedule_log_path, &config.step,
                           &config.findings_path,     &config.test,
                           &config.record_path,       &config.stop};
    for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *copy = *kept[i] ? strdup(*kept[i]) : NULL;
        if (copy)
            *kept[i] = copy;
    }
}

static bool is_read; // config_once is done

static void read_once(void)
{
    read_environment();
    __atomic_store_n(&is_read, true, __ATOMIC_RELEASE);
}

const struct em_config *em_config_if_read(void)
{
    return __atomic_load_n(&is_read, __ATOMIC_ACQUIRE) ? &config : NULL;
}

const struct em_config *em_config(void)
{
    if (!em_config_if_read())
        pthread_once(&config_once, read_once);
    return &config;
}
