// SPDX-License-Identifier: MIT
// `cardless explore`: runs a test under many orders of its work, and explains the first one that
// fails.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "explore.h"
#include "lib.h"
#include "vulkan_layer.h"

static const char usage[] =
    "usage: cardless explore [options] [--] program [argument …]\n"
    "\n"
    "Runs a test again and again, each time with another order of its copies, fills, host\n"
    "functions, events and semaphores that the API allows. A run fails if its exit status is not\n"
    "0, if a signal ends it, if it takes too long, if it deadlocks (S05), or if the ordering\n"
    "checker reports it (O01 …). The first failing order is reduced to the few decisions that\n"
    "matter, and printed with the command that repeats it.\n"
    "\n"
    "  --schedules N        try at most N orders (1000)\n"
    "  --seed N             the first seed for orders that are drawn (0)\n"
    "  --timeout SECONDS    a run that takes longer has failed (10)\n"
    "  --jobs N             run N at the same time (the processor cores of this process)\n"
    "  --check order|off    let the ordering checker judge each run as well (order)\n"
    "\n"
    "Exit status: 0 if no order fails, 1 if one does, 2 if the arguments are wrong, 3 if none\n"
    "fails and none calls cuInit, 126 if the program cannot be run, 127 if it is not found.\n";

enum { MOST_JOBS = 64, MOST_SCHEDULES = 10000000 };
enum { NOT_CUDA = 3 }; // exit status

static bool read_count(const char *option, const char *value, unsigned most, unsigned *out)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (!errno && *value >= '0' && *value <= '9' && !*end && n && n <= most) {
        *out = (unsigned)n;
        return true;
    }
    fprintf(stderr, "cardless explore: --%s takes a number from 1 to %u, not %s\n", option, most,
            value);
    return false;
}

static bool read_seed(const char *value, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(value, &end, 0);
    if (!errno && *value >= '0' && *value <= '9' && !*end)
        return true;
    fprintf(stderr, "cardless explore: --seed takes a whole number, not %s\n", value);
    return false;
}

static bool read_timeout(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    if (end != value && !*end && *out > 0 && *out < 1e6)
        return true;
    fprintf(stderr, "cardless explore: --timeout takes a number of seconds, not %s\n", value);
    return false;
}

static bool read_check(const char *value, bool *out)
{
    *out = !strcmp(value, "order");
    if (*out || !strcmp(value, "off"))
        return true;
    fprintf(stderr, "cardless explore: --check takes order or off, not %s\n", value);
    return false;
}

static bool apply_option(int option, struct explore *x)
{
    switch (option) {
    case 'n':
        return read_count("schedules", optarg, MOST_SCHEDULES, &x->schedules);
    case 's':
        return read_seed(optarg, &x->seed);
    case 't':
        return read_timeout(optarg, &x->timeout_s);
    case 'j':
        return read_count("jobs", optarg, MOST_JOBS, &x->jobs);
    case 'c':
        return read_check(optarg, &x->check_order);
    default:
        return false;
    }
}

static unsigned own_cores(void)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    return count > MOST_JOBS ? MOST_JOBS : (unsigned)count;
}

// ---- the report ----

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

// Prints the result of a test that no order fails, and returns the exit status.
static int print_passed(const struct found *f)
{
    if (!f->logged) {
        fprintf(stderr, "cardless explore: the program never called Cardless's cuInit, so there "
                        "are no orders to explore; a program that is linked statically, or loads "
                        "another libcuda by its path, does not use Cardless\n");
        return NOT_CUDA;
    }
    if (f->complete && f->orders == 1)
        printf("passed under its only order\n");
    else if (f->complete)
        printf("passed under all %u orders that there are\n", f->orders);
    else
        printf("passed under %u orders: %u with the fewest differences from eager, %u drawn\n",
               f->tried, f->tried - f->seeds, f->seeds);
    return 0;
}

static void print_argument(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    if (*text && !text[strspn(text, plain)]) {
        printf(" %s", text);
        return;
    }
    printf(" '");
    for (; *text; text++)
        printf(*text == '\'' ? "'\\''" : "%c", *text);
    printf("'");
}

static bool is_deadlock(const struct outcome *o)
{
    return o->kind == FAILED_DIAGNOSTIC && !strncmp(o->text, "S05", 3);
}

static void print_command(const struct explore *x, const struct found *f)
{
    char *policy = schedule_text(&f->minimal);
    char path[] = "cardless-schedule.txt"; // the folder for logs is removed
    if (policy && strlen(policy) > POLICY_MOST_B && !schedule_to_file(&policy, path))
        fprintf(stderr, "cardless explore: the schedule is too long for a command line\n");
    const bool deadlock = is_deadlock(&f->outcome);
    const char *ms = getenv("CARDLESS_DEADLOCK_MS");
    printf("\nto repeat it:\n  ");
    if (deadlock)
        printf("CARDLESS_DEADLOCK=abort CARDLESS_DEADLOCK_MS=%s ", ms ? ms : "500");
    printf("cardless run%s --policy",
           f->outcome.kind == FAILED_DIAGNOSTIC && !deadlock ? " --check order" : "");
    print_argument(policy ? policy : "?");
    printf(" --");
    for (char **argument = x->program; *argument; argument++)
        print_argument(*argument);
    printf("\n");
    free(policy);
}

static void print_failed(const struct explore *x, const struct found *f)
{
    char text[1200];
    outcome_text(x, &f->outcome, text, sizeof text);
    printf("FAILED under order %u: %s\n", f->tried, text);
    explore_output(x, stdout);
    if (!f->minimal.count && f->outcome.kind == FAILED_DIAGNOSTIC && !is_deadlock(&f->outcome))
        printf("\nThis is reported in the order of eager. With --check off, only a wrong result or "
               "a\ndeadlock counts as a failure.\n\n");
    else if (!f->minimal.count && f->repeats)
        printf("\nThis is the order of eager: the test fails even if nothing is postponed.\n\n");
    else if (f->minimal.count)
        printf("\n%zu decision%s of this order (marked with *) differ%s from eager:\n\n",
               f->minimal.count, plural(f->minimal.count), f->minimal.count == 1 ? "s" : "");
    char waits[128] = "";
    if (is_deadlock(&f->outcome) &&
        !strncmp(f->outcome.text, "S05: cu", 7)) // "S05: cuStreamSynchronize: the call …"
        snprintf(waits, sizeof waits, "%.*s", (int)strcspn(f->outcome.text + 5, " :"),
                 f->outcome.text + 5);
    explore_picture(x, waits, stdout);
    if (!f->repeats)
        printf(
            "\nIt passed when it was repeated: its threads or its times change the order too.\n");
    print_command(x, f);
}

// The environment of all runs.
static int prepare(struct explore *x)
{
    char ours[PATH_MAX];
    if (lib_folder(ours, sizeof ours))
        return 126;
    if (lib_prepend("LD_LIBRARY_PATH", ours)) {
        fprintf(stderr, "cardless explore: out of memory for the environment\n");
        return 126;
    }
    vulkan_layer_enable();
    run_prepare();
    return temporary_make(&x->folder, "cardless-explore") ? 0 : 126;
}

int cmd_explore(int argc, char **argv)
{
    static const struct option options[] = {
        {"schedules", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"timeout", required_argument, NULL, 't'},
        {"jobs", required_argument, NULL, 'j'},
        {"check", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct explore x = {
        .schedules = 1000, .jobs = own_cores(), .timeout_s = 10, .check_order = true};
    struct found found;
    int c;
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (!apply_option(c, &x))
            return 2;
    }
    if (optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    x.program = argv + optind;
    int status = prepare(&x);
    if (status)
        return status;
    status = explore_search(&x, &found);
    if (run_interrupted()) {
        fprintf(stderr, "cardless explore: interrupted after %u orders\n", found.tried);
        status = 128 + run_interrupted();
    } else if (status) {
        char text[1200];
        outcome_text(&x, &found.outcome, text, sizeof text);
        fprintf(stderr, "cardless explore: %s\n", text);
    } else if (found.failed) {
        print_failed(&x, &found);
        status = 1;
    } else {
        status = print_passed(&found);
    }
    free(found.minimal.list);
    free(found.outcome.decisions);
    temporary_remove(&x.folder);
    return status;
}
