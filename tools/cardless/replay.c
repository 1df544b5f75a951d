// SPDX-License-Identifier: MIT
// `cardless replay`: the options, the child, and the report.
#include "replay.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "option.h"
#include "temporary.h"

static const char usage[] =
    "usage: cardless replay [options] FILE\n"
    "\n"
    "Makes the calls of a recorded run again, without the program, and compares their results,\n"
    "their outputs and the bytes that copies write. Record the run with\n"
    "`cardless run --trace FILE.cardless --trace-contents -- program`.\n"
    "\n"
    "  --policy POLICY  the order of work (that of the recorded run): see cardless run --help\n"
    "  --timeout S      give up if no call begins or returns for so many seconds (60)\n"
    "\n"
    "Settings in the environment override those of the recorded run.\n"
    "\n"
    "Exit status: 0; 1 if the runs differ; 2 if the arguments are wrong; 3 if the file cannot be\n"
    "read or is not whole, or the replay did not come to its end.\n";

enum { DIFFERENT = 1, FAILED = 3, TIMEOUT_S = 60 };

static const char *const reasons[] = {"",
#define X(name, text) text,
                                      REPLAY_REASONS(X)
#undef X
};
static const char *const notes[] = {
#define X(name, text) text,
    REPLAY_NOTES(X)
#undef X
};

struct options {
    const char *policy, *file;
    unsigned long timeout_s;
};

// ---- the child ----

// Settings that change results. Others would write files, for example.
static const char *const settings[] = {
    "CARDLESS_PERSONALITY", "CARDLESS_QUIRKS", "CARDLESS_OVERLAP",         "CARDLESS_DEVICES",
    "CARDLESS_SEED",        "CARDLESS_UUID",   "CARDLESS_POLICY",          "CARDLESS_FAIL_ALLOC",
    "CUDA_VISIBLE_DEVICES", "CARDLESS_PKEYS",  "CARDLESS_KERNEL_BRANCHES", "CUDA_MODULE_LOADING",
    "CARDLESS_CHECK",
};

// Removes a word from a list with commas.
static void remove_word(char *list, const char *word)
{
    const size_t length = strlen(word);
    for (char *at = list; *at;) {
        const size_t size = strcspn(at, ",");
        char *next = at + size + (at[size] == ',');
        if (size == length && !strncmp(at, word, size))
            memmove(at, next, strlen(next) + 1);
        else
            at = next;
    }
    const size_t left = strlen(list);
    if (left && list[left - 1] == ',')
        list[left - 1] = 0;
}

static void apply_setting(const char *setting)
{
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
        const size_t length = strlen(settings[i]);
        if (strncmp(setting, settings[i], length) != 0 || setting[length] != '=')
            continue;
        char *value = strdup(setting + length + 1);
        if (value && !strcmp(settings[i], "CARDLESS_CHECK")) { // the replay goes on after a report
            remove_word(value, "exit");
            remove_word(value, "abort");
        }
        if (value)
            setenv(settings[i], value, 0);
        free(value);
    }
}

static void apply_settings(const struct trace_contents *c, const struct options *o,
                           const char *recording)
{
    for (size_t i = 0; i < c->setting_count; i++)
        apply_setting(c->settings[i]);
    if (o->policy)
        setenv("CARDLESS_POLICY", o->policy, 1);
    setenv("CARDLESS_DIAGNOSTICS", "off", 0); // they are part of the recorded run
    setenv("CARDLESS_RECORD", recording, 1);
    setenv("CARDLESS_RECORD_CONTENTS", "1", 1); // hashes only
}

static __attribute__((noreturn)) void run_child(struct replay *replay, const struct options *o,
                                                const char *recording)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    apply_settings(replay->contents, o, recording);
    const bool works = replay_run(replay);
    replay->shared->complete = works;
    exit(works ? 0 : FAILED);
}

// ---- the parent ----

static uint64_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

// Waits for the child. Returns its status, or -1 after it was ended because nothing happened.
static int await(pid_t child, const struct replay_shared *shared, unsigned long timeout_s)
{
    uint64_t progress = 0, since = seconds();
    for (;;) {
        int status;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return status;
        const uint64_t now = __atomic_load_n(&shared->progress, __ATOMIC_RELAXED);
        if (now != progress)
            since = seconds();
        progress = now;
        if (seconds() - since >= timeout_s) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

static void print_call(const struct trace_model *m, uint32_t call, FILE *out)
{
    const struct trace_call *c = &m->calls[call];
    struct em_text text = {.bytes = NULL};
    trace_call_arguments(m, c, &text);
    em_text_end_line(&text);
    fprintf(out, "  ");
    if (m->threads[c->thread].number > 1)
        fprintf(out, "thread %llu ", (unsigned long long)m->threads[c->thread].number);
    fprintf(out, "#%llu %s(%.*s)", (unsigned long long)c->number, trace_call_name(m, c),
            (int)(text.used ? text.used - 1 : 0), text.bytes ? text.bytes : "");
    char place[256];
    trace_call_place(m, c, place, sizeof place);
    fprintf(out, " at %s\n", place);
    em_text_finish(&text);
}

static void print_open(const struct trace_model *m, const struct replay_shared *shared)
{
    for (uint32_t i = 0; i < m->call_count; i++)
        if (shared->calls[i].state == REPLAY_RUNS)
            print_call(m, i, stdout);
}

struct sums {
    size_t made, differ, skipped[REPLAY_REASON_COUNT], noted[REPLAY_NOTE_COUNT];
};

static void count(const struct trace_model *m, const struct replay_shared *shared, struct sums *s)
{
    for (uint32_t i = 0; i < m->call_count; i++) {
        const struct replay_call *c = &shared->calls[i];
        s->made += c->state == REPLAY_SAME || c->state == REPLAY_DIFFERS;
        s->differ += c->state == REPLAY_DIFFERS;
        if (c->state == REPLAY_SKIPPED && c->reason < REPLAY_REASON_COUNT)
            s->skipped[c->reason]++;
        for (unsigned k = 0; k < REPLAY_NOTE_COUNT; k++)
            s->noted[k] += c->notes >> k & 1;
    }
}

// The names of the calls that were left out for a reason.
static void print_names(const struct trace_model *m, const struct replay_shared *shared,
                        unsigned reason)
{
    enum { NAMES_MOST = 8 };
    const char *names[NAMES_MOST];
    size_t used = 0, others = 0;
    for (uint32_t i = 0; i < m->call_count; i++) {
        const struct replay_call *c = &shared->calls[i];
        const char *name = trace_call_name(m, &m->calls[i]);
        size_t k = 0;
        if (c->state != REPLAY_SKIPPED || c->reason != reason)
            continue;
        while (k < used && strcmp(names[k], name))
            k++;
        if (k == NAMES_MOST) {
            others++;
            continue;
        }
        names[k] = name;
        used += k == used;
    }
    for (size_t k = 0; k < used; k++)
        printf("%s%s", k ? ", " : " (", names[k]);
    printf(others ? " and others)" : used ? ")" : "");
}

static void print_sums(const struct trace_model *m, const struct replay_shared *shared,
                       const struct sums *s, const struct replay_writes *writes)
{
    printf("calls made again: %zu, with the same result and outputs: %zu\n", s->made,
           s->made - s->differ);
    printf("copies to the program's memory compared: %zu, calls whose bytes differ: %zu\n",
           writes->compared, writes->differ);
    for (unsigned i = 1; i < REPLAY_REASON_COUNT; i++)
        if (s->skipped[i]) {
            printf("not made: %s: %zu", reasons[i], s->skipped[i]);
            print_names(m, shared, i);
            printf("\n");
        }
    for (unsigned i = 0; i < REPLAY_NOTE_COUNT; i++)
        if (s->noted[i])
            printf("note: %s: %zu\n", notes[i], s->noted[i]);
}

// Says if a difference at this call may come from bytes that the replay does not have: earlier
// calls that were not made, or that needed more than the recording has.
static void print_cause(const struct replay_shared *shared, uint32_t call)
{
    static const enum replay_note lacks[] = {REPLAY_NOTE_MISSING, REPLAY_NOTE_EMPTY,
                                             REPLAY_NOTE_SHARED, REPLAY_NOTE_EXPORT};
    size_t count = 0;
    for (uint32_t i = 0; i < call; i++)
        count += shared->calls[i].state == REPLAY_SKIPPED;
    if (count)
        printf("    possible reason: calls before it that were not made: %zu\n", count);
    for (unsigned k = 0; k < sizeof lacks / sizeof *lacks; k++) {
        count = 0;
        for (uint32_t i = 0; i <= call; i++)
            count += shared->calls[i].notes >> lacks[k] & 1;
        if (count)
            printf("    possible reason: %s: %zu\n", notes[lacks[k]], count);
    }
}

// Says if the recorded run is not whole.
static bool is_complete(const struct trace_model *m)
{
    const struct rf_header *h = &m->file.header;
    if (h->failed)
        printf("the recording is not complete: the file could not grow: %s\n",
               strerror((int)h->failed));
    if (m->file.lost)
        printf("the recording is not complete: parts that are missing: %u\n", m->file.lost);
    if (h->contents_cut)
        printf(
            "note: the limit of --trace-contents was reached, pieces of data that were not kept: "
            "%" PRIu64 "\n",
            h->contents_cut);
    return !h->failed && !m->file.lost;
}

static int report(const struct trace_model *m, const struct trace_contents *contents,
                  const struct replay_shared *shared, const char *recording)
{
    struct sums s = {.made = 0};
    struct replay_writes writes;
    count(m, shared, &s);
    const bool complete = replay_compare_writes(m, contents, recording, shared, &writes);
    if (shared->differs && shared->differs <= m->call_count) {
        printf("the runs differ first at this call:\n");
        print_call(m, shared->differs - 1, stdout);
        printf("    %.*s\n", REPLAY_TEXT_B - 1, shared->difference);
        print_cause(shared, shared->differs - 1);
    }
    if (writes.differ) {
        printf("the bytes that copies wrote differ first at this call:\n");
        print_call(m, writes.first, stdout);
        printf("    %s\n", writes.text);
        print_cause(shared, writes.first);
    }
    print_sums(m, shared, &s, &writes);
    if (s.differ || writes.differ)
        return DIFFERENT;
    return complete && is_complete(m) ? 0 : FAILED;
}

static int end_early(const struct trace_model *m, const struct replay_shared *shared, int status)
{
    if (status == -1)
        printf("the replay was ended, because no call began or returned for too long\n");
    else if (WIFSIGNALED(status))
        printf("the replay ended by signal %d (%s)\n", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
        printf("the replay failed: %.*s\n", REPLAY_TEXT_B - 1, shared->failure);
    printf("calls that had not returned:\n");
    print_open(m, shared);
    return FAILED;
}

static int replay(const struct options *o, const struct trace_model *model,
                  const struct trace_contents *contents)
{
    struct temporary folder;
    char recording[96];
    const size_t size =
        sizeof(struct replay_shared) + model->call_count * sizeof(struct replay_call);
    struct replay_shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "cardless: out of memory\n");
        return FAILED;
    }
    if (!temporary_make(&folder, "cardless-replay"))
        return FAILED;
    snprintf(recording, sizeof recording, "%s/replay.cardless", folder.path);
    struct replay r = {.model = model, .contents = contents, .shared = shared};
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        temporary_forget(&folder);
        run_child(&r, o, recording);
    }
    int result = FAILED;
    if (child < 0)
        fprintf(stderr, "cardless: cannot make a process: %s\n", strerror(errno));
    else {
        const int status = await(child, shared, o->timeout_s);
        result = shared->complete && status == 0 ? report(model, contents, shared, recording)
                                                 : end_early(model, shared, status);
    }
    temporary_remove(&folder);
    munmap(shared, size);
    return result;
}

static int open_and_replay(const struct options *o)
{
    struct trace_model model;
    struct trace_contents contents;
    int result = FAILED;
    if (!trace_open(&model, o->file))
        return FAILED;
    if (!model.file.header.contents_most_B)
        fprintf(stderr,
                "cardless: %s was recorded without the program's data; record it with "
                "--trace-contents\n",
                o->file);
    else if (!trace_contents_read(&model, &contents))
        fprintf(stderr, "cardless: out of memory\n");
    else {
        trace_find_places(&model);
        result = replay(o, &model, &contents);
        trace_contents_free(&contents);
    }
    trace_close(&model);
    return result;
}

// Reads a number of seconds. Returns false after a message.
static bool read_timeout(const char *value, unsigned long *out)
{
    char *end = NULL;
    errno = 0;
    *out = *value >= '0' && *value <= '9' ? strtoul(value, &end, 10) : 0;
    if (end && !*end && !errno && *out)
        return true;
    fprintf(stderr, "cardless replay: --timeout takes a whole number of seconds from 1, not %s\n",
            value);
    return false;
}

// Applies an option. Returns false after a message.
static bool apply_option(int option, struct options *o)
{
    switch (option) {
    case 'y':
        o->policy = optarg;
        return option_is_policy(optarg);
    case 't':
        return read_timeout(optarg, &o->timeout_s);
    default:
        fputs(usage, stderr);
        return false;
    }
}

int cmd_replay(int argc, char **argv)
{
    static const struct option options[] = {
        {"policy", required_argument, NULL, 'y'},
        {"timeout", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.timeout_s = TIMEOUT_S};
    int c;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (!apply_option(c, &o))
            return 2;
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        return 2;
    }
    o.file = argv[optind];
    const int status = open_and_replay(&o);
    return fflush(stdout) || ferror(stdout) ? FAILED : status; // main prints the reason
}
