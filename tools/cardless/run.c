// SPDX-License-Identifier: MIT
// `cardless run`: puts our libcuda.so.1 first in the loader's path, then executes the program, in
// this process or, if something has to be done after its end, in a child.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "commands.h"
#include "elf_facts.h"
#include "lib.h"
#include "option.h"
#include "record_format.h"
#include "redirect.h"
#include "report.h"
#include "supervise.h"
#include "vulkan_layer.h"

static const char usage[] =
    "usage: cardless run [options] [--] program [argument …]\n"
    "\n"
    "Runs an unmodified CUDA program on the software card. Exit status and signals are the "
    "program's,\n"
    "unless --error-on fails a run that succeeded.\n"
    "\n"
    "  --personality manual|driver-580  if the manual and the driver disagree, follow this one "
    "(manual)\n"
    "  --quirks [-]NAME[,[-]NAME…]      follow the driver, or with - the manual, in single "
    "disagreements\n"
    "  --devices NAME[,NAME…]           the cards: h100, rtx3080, t4 … or a .dev file (h100)\n"
    "  --diagnostics off|text|json:F    report mistakes as text on stderr, or as JSON to F (text)\n"
    "  --overlap distinct|same          give overlapping mappings of one external memory their own "
    "addresses, or the same ones (distinct)\n"
    "  --policy eager|lazy|seed:N|schedule:LIST|parallel\n"
    "                                   the order of work; parallel: spread large copies and fills "
    "over processor cores (eager)\n"
    "  --check LIST                     order: report work that the program has not ordered; "
    "memory, race:\n"
    "                                   mistakes of kernels; exit: end with code 66 after a "
    "report; "
    "abort: at the first one\n"
    "  --report=junit:FILE, --report=sarif:FILE\n"
    "                                   when the program ends, write the diagnostics of all its "
    "processes\n"
    "  --error-on never|warning|error|ID[,ID]\n"
    "                                   if the program succeeds, end with code 66 after such "
    "diagnostics (never)\n"
    "  --suppressions FILE              hide the diagnostics that the rules of FILE name\n"
    "  --unused-suppressions            list the rules that hid nothing\n"
    "  --report                         when the program ends, list its imports, mappings and "
    "graphics resources\n"
    "  --seed N                         vary addresses and order within the rules, from this "
    "seed\n"
    "  --trace FILE                     write every call with its arguments and result to FILE;\n"
    "                                   a FILE.cardless is a recorded run for `cardless trace`\n"
    "  --trace-contents[=BYTES]         keep the data of a recorded run too, for `cardless "
    "replay`;\n"
    "                                   at most so many bytes (1 GiB)\n"
    "  --redirect on|off                run a static CUDA runtime inside the program, and other "
    "shared\n"
    "                                   ones, on Cardless's own runtime (on)\n"
    "  --vulkan-as nvidia               software Vulkan reports NVIDIA's vendor and driver "
    "numbers, "
    "for programs\n"
    "                                   that offer CUDA only then\n"
    "  --vulkan-layer on|off|noncoherent  record the Vulkan images in exported memory, to check "
    "CUDA's descriptors (on);\n"
    "                                   noncoherent: the program must also flush and invalidate "
    "mapped Vulkan memory\n";

// Finds `program` as execvp does. Returns 0, or -1 if it is not found.
static int find_program(const char *program, char *out, size_t capacity)
{
    if (strchr(program, '/')) {
        snprintf(out, capacity, "%s", program);
        return access(out, X_OK);
    }
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        snprintf(out, capacity, "%.*s/%s", (int)n, n ? p : ".", program);
        if (!access(out, X_OK))
            return 0;
        p += n + (p[n] == ':');
    }
    return -1;
}

// Returns true if a folder of an RPATH holds a libcuda.so.1 that is not ours. `$ORIGIN` stands for
// the program's own folder.
static bool rpath_hides_us(const char *rpath, const char *program, const char *ours, char *found,
                           size_t capacity)
{
    char origin[PATH_MAX];
    if (!realpath(program, origin))
        return false;
    char *slash = strrchr(origin, '/');
    if (slash)
        *slash = 0;
    for (const char *p = rpath; *p;) {
        int n = (int)strcspn(p, ":");
        char folder[2 * PATH_MAX], file[2 * PATH_MAX];
        if (!strncmp(p, "$ORIGIN", 7))
            snprintf(folder, sizeof folder, "%s%.*s", origin, n - 7, p + 7);
        else if (!strncmp(p, "${ORIGIN}", 9))
            snprintf(folder, sizeof folder, "%s%.*s", origin, n - 9, p + 9);
        else
            snprintf(folder, sizeof folder, "%.*s", n, p);
        char full[PATH_MAX];
        if ((size_t)snprintf(file, sizeof file, "%s/libcuda.so.1", folder) < sizeof file &&
            !access(file, R_OK) && !(realpath(folder, full) && !strcmp(full, ours))) {
            snprintf(found, capacity, "%s", file);
            return true;
        }
        p += n + (p[n] == ':');
    }
    return false;
}

static void warn_about_program(const char *program, const char *ours, bool redirected)
{
    struct elf_facts facts;
    char found[PATH_MAX * 2];
    elf_read(program, &facts);
    if (!facts.is_elf)
        return; // a script: its interpreter finds us through the environment
    if (facts.has_device_code && !facts.needs_cudart && !redirected)
        fprintf(stderr,
                "cardless: %s contains NVIDIA's static runtime, which needs private tables of its "
                "driver: run it with --redirect on, or link it with -cudart shared\n",
                program);
    if (!facts.is_dynamic)
        fprintf(stderr, "cardless: %s is statically linked and loads no libcuda.so.1\n", program);
    if (facts.is_setid)
        fprintf(stderr,
                "cardless: %s is set-user-id or set-group-id: the loader ignores LD_LIBRARY_PATH "
                "and will not load Cardless\n",
                program);
    if (facts.rpath[0] && rpath_hides_us(facts.rpath, program, ours, found, sizeof found))
        fprintf(stderr,
                "cardless: %s has an RPATH (%s) that finds %s before Cardless: remove it (patchelf "
                "--remove-rpath) or use RUNPATH\n",
                program, facts.rpath, found);
}

enum layer { LAYER_ON, LAYER_OFF, LAYER_NONCOHERENT };

static bool read_layer(const char *value, enum layer *out)
{
    static const char *const names[] = {
        [LAYER_ON] = "on", [LAYER_OFF] = "off", [LAYER_NONCOHERENT] = "noncoherent"};
    for (int i = 0; i < 3; i++) {
        if (!strcmp(value, names[i])) {
            *out = (enum layer)i;
            return true;
        }
    }
    fprintf(stderr, "cardless: --vulkan-layer takes on, off or noncoherent, not %s\n", value);
    return false;
}

// A missing layer is an error only if the user asked for what it does: programs run without it.
static int start_layer(enum layer layer, bool as_nvidia)
{
    if (layer == LAYER_OFF) {
        if (as_nvidia)
            fprintf(stderr, "cardless: --vulkan-as nvidia needs the Vulkan layer: remove "
                            "--vulkan-layer off\n");
        return as_nvidia ? -1 : 0;
    }
    int r = vulkan_layer_enable();
    if (layer == LAYER_ON && !as_nvidia)
        return 0;
    if (r)
        fprintf(stderr,
                "cardless: %s: this build has no Vulkan layer: install libvulkan-dev and build "
                "again\n",
                as_nvidia ? "--vulkan-as nvidia" : "--vulkan-layer noncoherent");
    if (!r && layer == LAYER_NONCOHERENT)
        r = setenv("CARDLESS_VULKAN_MEMORY", "noncoherent", 1);
    return r;
}

static bool is_one_of(const char *option, const char *value, const char *first, const char *second)
{
    if (!strcmp(value, first) || !strcmp(value, second))
        return true;
    fprintf(stderr, "cardless: --%s takes %s or %s, not %s\n", option, first, second, value);
    return false;
}

static bool is_nvidia(const char *value)
{
    if (!strcmp(value, "nvidia"))
        return true;
    fprintf(stderr, "cardless: --vulkan-as takes nvidia, not %s\n", value);
    return false;
}

static bool is_seed(const char *value)
{
    if (option_is_number(value))
        return true;
    fprintf(stderr, "cardless: --seed takes a whole number from 0 to 2^64 - 1, not %s\n", value);
    return false;
}

// A list of checks, and what a report does to the process.
static bool is_check(const char *value)
{
    static const char *const words[] = {"order", "memory", "race", "exit", "abort"};
    bool checks = false, known = true;
    for (const char *at = value; *at && known;) {
        const size_t length = strcspn(at, ",");
        unsigned i = 0;
        while (i < 5 && (strlen(words[i]) != length || strncmp(words[i], at, length)))
            i++;
        known = i < 5;
        checks |= i < 3;
        at += length;
        at += *at == ',' && at[1];
    }
    if (known && checks)
        return true;
    fprintf(stderr,
            "cardless: --check takes a list of order, memory and race, and exit or abort, not %s\n",
            value);
    return false;
}

// Applies an option about reports. Returns false after printing a message if its value is wrong.
static bool apply_report_option(int option, struct report *report)
{
    switch (option) {
    case 'r':
        return optarg ? report_add(report, optarg) : !setenv("CARDLESS_REPORT", "1", 1);
    case 'E':
        return report_set_error_on(report, optarg);
    case 'S':
        return report_add_suppressions(report, optarg);
    default:
        report->shows_unused = true;
        return true;
    }
}

// A file whose name ends in ".cardless" is a recorded run; any other one is a text.
static bool is_recording(const char *path)
{
    static const char end[] = ".cardless";
    const size_t length = strlen(path), tail = sizeof end - 1;
    return length >= tail && !strcmp(path + length - tail, end);
}

static bool apply_trace(const char *path)
{
    char folder[PATH_MAX], whole[2 * PATH_MAX] = "";
    if (!is_recording(path))
        return !setenv("CARDLESS_TRACE", path, 1);
    if (path[0] != '/' && getcwd(folder, sizeof folder)) // the program may change its folder
        snprintf(whole, sizeof whole, "%s/", folder);
    snprintf(whole + strlen(whole), sizeof whole - strlen(whole), "%s", path);
    return !setenv("CARDLESS_RECORD", whole, 1);
}

static bool apply_trace_contents(const char *most)
{
    most = most ? most : "0x40000000";
    if (option_is_number(most) && strtoull(most, NULL, 0))
        return !setenv("CARDLESS_RECORD_CONTENTS", most, 1);
    fprintf(stderr, "cardless: --trace-contents takes a number of bytes, at least 1, not %s\n",
            most);
    return false;
}

// Removes the recording of an earlier run: the first process of this run makes the file anew.
// Returns false if the file is something else, or cannot be removed, which has been reported.
static bool remove_recording(const char *path)
{
    char magic[sizeof RF_MAGIC] = "";
    FILE *f = fopen(path, "rbe");
    if (!f && errno == ENOENT)
        return true;
    const bool is_ours =
        f && fread(magic, sizeof magic, 1, f) == 1 && !memcmp(magic, RF_MAGIC, sizeof magic);
    // The process that makes a recording keeps a shared lock until it ends.
    const bool in_use = is_ours && flock(fileno(f), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (f)
        fclose(f);
    if (is_ours && !in_use && !unlink(path))
        return true;
    const char *why = strerror(errno);
    if (f && !is_ours)
        why = "it is no recording";
    if (in_use)
        why = "a process is recording to it";
    fprintf(stderr, "cardless: --trace: cannot replace %s: %s\n", path, why);
    return false;
}

// Sets the variable of an option. Returns false if the option or its value is unknown, which has
// been reported.
static bool apply_option(int option, enum layer *layer, bool *redirect, struct report *report)
{
    switch (option) {
    case 'p':
        return is_one_of("personality", optarg, "manual", "driver-580") &&
               !setenv("CARDLESS_PERSONALITY", optarg, 1);
    case 'q':
        return !setenv("CARDLESS_QUIRKS", optarg, 1);
    case 'd':
        return !setenv("CARDLESS_DEVICES", optarg, 1);
    case 'g':
        return !setenv("CARDLESS_DIAGNOSTICS", optarg, 1);
    case 'o':
        return is_one_of("overlap", optarg, "distinct", "same") &&
               !setenv("CARDLESS_OVERLAP", optarg, 1);
    case 'y':
        return option_is_policy(optarg) && !setenv("CARDLESS_POLICY", optarg, 1);
    case 'c':
        return is_check(optarg) && !setenv("CARDLESS_CHECK", optarg, 1);
    case 'r':
    case 'E':
    case 'S':
    case 'U':
        return apply_report_option(option, report);
    case 's':
        return is_seed(optarg) && !setenv("CARDLESS_SEED", optarg, 1);
    case 't':
        return apply_trace(optarg);
    case 'C':
        return apply_trace_contents(optarg);
    case 'v':
        return read_layer(optarg, layer);
    case 'e':
        *redirect = !strcmp(optarg, "on");
        return is_one_of("redirect", optarg, "on", "off");
    case 'a':
        return is_nvidia(optarg) && !setenv("CARDLESS_VULKAN_AS", optarg, 1);
    default:
        return false;
    }
}

// Whether the files that the options name are not the program, and differ from each other.
static bool outputs_are_apart(const struct report *report, const char *trace, const char *json,
                              const char *program)
{
    const char *paths[REPORTS_MOST + 2] = {trace, json};
    const char *options[REPORTS_MOST + 2] = {"trace", "diagnostics"};
    unsigned count = 2;
    for (unsigned i = 0; i < report->count; i++, count++) {
        paths[count] = report->outputs[i].path;
        options[count] = "report";
    }
    for (unsigned i = 0; i < count; i++) {
        if (paths[i] && option_is_file(options[i], paths[i], program))
            return false;
        for (unsigned k = 0; k < i; k++) {
            if (!paths[i] || !paths[k] || strcmp(paths[i], paths[k]) != 0 ||
                !strncmp(paths[i], "/dev/", 5))
                continue;
            fprintf(stderr, "cardless: --%s and --%s: both write to %s\n", options[k], options[i],
                    paths[i]);
            return false;
        }
    }
    return true;
}

int cmd_run(int argc, char **argv)
{
    static const struct option options[] = {
        {"personality", required_argument, NULL, 'p'},
        {"quirks", required_argument, NULL, 'q'},
        {"devices", required_argument, NULL, 'd'},
        {"diagnostics", required_argument, NULL, 'g'},
        {"overlap", required_argument, NULL, 'o'},
        {"policy", required_argument, NULL, 'y'},
        {"check", required_argument, NULL, 'c'},
        {"report", optional_argument, NULL, 'r'},
        {"error-on", required_argument, NULL, 'E'},
        {"suppressions", required_argument, NULL, 'S'},
        {"unused-suppressions", no_argument, NULL, 'U'},
        {"seed", required_argument, NULL, 's'},
        {"trace", required_argument, NULL, 't'},
        {"trace-contents", optional_argument, NULL, 'C'},
        {"vulkan-layer", required_argument, NULL, 'v'},
        {"redirect", required_argument, NULL, 'e'},
        {"vulkan-as", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    enum layer layer = LAYER_ON;
    bool as_nvidia = false, redirect = true, contents = false;
    const char *recording = NULL, *trace = NULL, *json = NULL;
    struct report report = {.count = 0};
    int c;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (!apply_option(c, &layer, &redirect, &report))
            return 2;
        as_nvidia |= c == 'a';
        contents |= c == 'C';
        if (c == 't') {
            trace = optarg;
            recording = is_recording(optarg) ? optarg : NULL;
        }
        if (c == 'g')
            json = !strncmp(optarg, "json:", 5) ? optarg + 5 : NULL;
    }
    if (optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (contents && !getenv("CARDLESS_RECORD")) { // which --trace sets
        fprintf(stderr, "cardless: --trace-contents needs --trace FILE.cardless, because a text "
                        "has no contents\n");
        return 2;
    }
    char ours[PATH_MAX], program[PATH_MAX];
    if (lib_folder(ours, sizeof ours))
        return 126;
    if (!find_program(argv[optind], program, sizeof program))
        warn_about_program(program, ours, redirect && redirect_exists(ours));
    if (lib_prepend("LD_LIBRARY_PATH", ours) || (redirect && redirect_enable(ours))) {
        fprintf(stderr, "cardless: out of memory for the environment\n");
        return 126;
    }
    if (!outputs_are_apart(&report, trace, json, program))
        return 126;
    if ((trace && !option_can_write("trace", trace)) ||
        (json && !option_can_write("diagnostics", json)))
        return 126;
    if (start_layer(layer, as_nvidia) || (recording && !remove_recording(recording)))
        return 126;
    if (report_is_wanted(&report))
        return supervise(argv + optind, &report);
    execvp(argv[optind], argv + optind);
    fprintf(stderr, "cardless: cannot run %s: %s\n", argv[optind], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
