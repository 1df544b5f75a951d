// SPDX-License-Identifier: MIT
// Harness for test programs of the API. A program is a list of named cases. Each case runs in a
// process of its own with a time limit, and the results are printed in TAP.
//
//     TEST(alloc_zero)
//     {
//         CUdeviceptr p;
//         EXPECT_ERROR(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
//     }
//     TESTS(CASE(alloc_zero), CASE(misuse))
//
// A case forks from a process that has not called the driver, so each case starts with a fresh
// driver. Its process group is killed when it ends. Arguments name the cases to run. With `-n`
// cases run without a fork, for a debugger. A case that calls SKIP counts as skipped. failing.h
// repeats cases with failing allocations.
#pragma once
#include "failing.h"
#include "sanitizers.h"
#include <cuda.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEST_SECONDS = 60, TEST_MOST_FAILURES = 20, TEST_SKIPPED = 77, TEST_MOST_FILES = 64 };

struct test_case {
    const char *name;
    void (*run)(void);
};

static atomic_int test_failures;
// The last code that a call of this thread was not expected to return.
static _Thread_local CUresult test_unexpected;
static char test_diagnostics[64]; // the driver of this case writes its diagnostics to this file

#define TEST(name) static void test_##name(void)

static inline const char *test_code(CUresult r)
{
    const char *name;
    return cuGetErrorName(r, &name) ? "an unknown code" : name;
}

static inline void test_failed(const char *file, int line)
{
    failing_stop(test_unexpected == CUDA_ERROR_OUT_OF_MEMORY, test_diagnostics);
    printf("# %s:%d: ", file, line);
    if (++test_failures > TEST_MOST_FAILURES) {
        printf("too many failures\n");
        exit(1);
    }
}

// What a failed check prints. Apart from the checks, which are compiled in great numbers.
#define TEST_SELDOM static __attribute__((noinline, cold, unused))

TEST_SELDOM void test_bad_condition(const char *file, int line, const char *condition)
{
    test_failed(file, line);
    printf("%s does not hold\n", condition);
}

TEST_SELDOM void test_bad_number(const char *file, int line, const char *got_text, long long got,
                                 const char *want_text, long long want)
{
    test_failed(file, line);
    printf("%s is %lld (%#llx), expected %s = %lld (%#llx)\n", got_text, got, got, want_text, want,
           want);
}

TEST_SELDOM void test_bad_string(const char *file, int line, const char *text, const char *got,
                                 const char *want)
{
    test_failed(file, line);
    printf("%s is \"%s\", expected \"%s\"\n", text, got ? got : "(NULL)", want);
}

TEST_SELDOM void test_bad_code(const char *file, int line, const char *call, CUresult got,
                               CUresult want)
{
    test_unexpected = got;
    test_failed(file, line);
    printf("%s gives %s, expected %s\n", call, test_code(got), test_code(want));
}

TEST_SELDOM void test_cannot_go_on(const char *file, int line, const char *call, CUresult got)
{
    test_unexpected = got;
    test_failed(file, line);
    printf("%s gives %s, the case cannot go on\n", call, test_code(got));
    fflush(stdout);
    exit(1);
}

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            test_bad_condition(__FILE__, __LINE__, #condition);                                    \
    } while (0)

// Compares both values as 64-bit numbers.
#define EXPECT_EQ(got, want)                                                                       \
    do {                                                                                           \
        long long got_ = (long long)(got), want_ = (long long)(want);                              \
        if (got_ != want_)                                                                         \
            test_bad_number(__FILE__, __LINE__, #got, got_, #want, want_);                         \
    } while (0)

#define EXPECT_STR(got, want)                                                                      \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        if (!got_ || strcmp(got_, want_))                                                          \
            test_bad_string(__FILE__, __LINE__, #got, got_, want_);                                \
    } while (0)

#define EXPECT_ERROR(call, code)                                                                   \
    do {                                                                                           \
        CUresult got_ = (call), want_ = (code);                                                    \
        if (got_ != want_)                                                                         \
            test_bad_code(__FILE__, __LINE__, #call, got_, want_);                                 \
    } while (0)

#define EXPECT_OK(call) EXPECT_ERROR(call, CUDA_SUCCESS)

// For calls that the rest of the case depends on: the case ends if the call fails.
#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        if (got_)                                                                                  \
            test_cannot_go_on(__FILE__, __LINE__, #call, got_);                                    \
    } while (0)

#define SKIP(...)                                                                                  \
    do {                                                                                           \
        printf("# " __VA_ARGS__);                                                                  \
        printf("\n");                                                                              \
        fflush(stdout);                                                                            \
        exit(TEST_SKIPPED);                                                                        \
    } while (0)

// Sets one of the driver's settings. Must be called before the first call into the driver.
static inline void test_setting(const char *name, const char *value)
{
    setenv(name, value, 1);
}

// Paths of files that the case has made, in memory that it shares with its parent.
static char (*test_paths)[64];

static inline void test_open_files(void)
{
    const size_t size = TEST_MOST_FILES * sizeof *test_paths;
    if (!test_paths)
        test_paths = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (test_paths == MAP_FAILED) {
        printf("Bail out! out of memory\n");
        exit(1);
    }
}

// Removes the files, however the case has ended.
static inline void test_remove_files(void)
{
    for (unsigned i = 0; i < TEST_MOST_FILES && *test_paths[i]; i++) {
        unlink(test_paths[i]);
        *test_paths[i] = 0;
    }
}

// Returns the path of a file of this case, which does not exist. It is removed after the case.
static inline const char *test_new_file(const char *name)
{
    unsigned i = 0;
    while (i < TEST_MOST_FILES && *test_paths[i])
        i++;
    if (i == TEST_MOST_FILES) {
        printf("# a case has at most %d files\n", TEST_MOST_FILES);
        exit(1);
    }
    snprintf(test_paths[i], sizeof test_paths[i], "/tmp/cardless-test-%ld-%s", (long)getpid(),
             name);
    unlink(test_paths[i]);
    return test_paths[i];
}

// Returns the ids that the driver has reported in this case so far, in order and separated by
// blanks. Plain errors (GENERAL) are left out.
static inline const char *test_reported(void)
{
    static char ids[4096];
    char line[8192];
    FILE *f = fopen(test_diagnostics, "r");
    *ids = 0;
    while (f && fgets(line, sizeof line, f)) {
        char id[64];
        if (sscanf(line, "{\"id\":\"%63[^\"]", id) == 1 && strcmp(id, "GENERAL") &&
            strlen(ids) + strlen(id) + 2 < sizeof ids)
            strcat(strcat(ids, *ids ? " " : ""), id);
    }
    if (f)
        fclose(f);
    return ids;
}

// Expects that exactly this diagnostic, or no diagnostic, has been reported in this case so far.
#define EXPECT_DIAGNOSTIC(id) EXPECT_STR(test_reported(), #id)
#define EXPECT_NO_DIAGNOSTIC() EXPECT_STR(test_reported(), "")

// Returns the number of errors and diagnostics that the driver has reported in this case so far,
// and the code of the last one.
static inline unsigned test_said(char code[64])
{
    char line[8192];
    unsigned lines = 0;
    FILE *f = fopen(test_diagnostics, "r");
    *code = 0;
    while (f && fgets(line, sizeof line, f)) {
        const char *result = strstr(line, "\"result\":\"");
        lines++;
        if (result)
            sscanf(result, "\"result\":\"%63[^\"]", code);
    }
    if (f)
        fclose(f);
    return lines;
}

// Expects that the call returns the code and reports one sentence that names the code.
#define EXPECT_ONE_SENTENCE(call, code)                                                            \
    do {                                                                                           \
        char said_[64];                                                                            \
        unsigned before_ = test_said(said_);                                                       \
        EXPECT_ERROR(call, code);                                                                  \
        EXPECT_EQ(test_said(said_) - before_, 1);                                                  \
        EXPECT_STR(said_, test_code(code));                                                        \
    } while (0)

// Returns the last line of the driver's diagnostics, as JSON, that contains the text; "" if no line
// does.
static inline const char *test_line_with(const char *text)
{
    static char found[8192];
    char line[sizeof found];
    FILE *f = fopen(test_diagnostics, "r");
    *found = 0;
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, text))
            memcpy(found, line, sizeof found);
    if (f)
        fclose(f);
    return found;
}

static inline bool test_was_reported(const char *text)
{
    return *test_line_with(text);
}

// Returns the driver's last line of diagnostics, as JSON, or "".
static inline const char *test_last_line(void)
{
    return test_line_with("");
}

// Expects that the call returns the code and that its message contains the text.
#define EXPECT_MESSAGE(call, code, text)                                                           \
    do {                                                                                           \
        EXPECT_ERROR(call, code);                                                                  \
        if (!strstr(test_last_line(), text)) {                                                     \
            test_failed(__FILE__, __LINE__);                                                       \
            printf("the message \"%s\" does not contain \"%s\"\n", test_last_line(), text);        \
        }                                                                                          \
    } while (0)

// Makes the primary context of device 0 current.
static inline CUcontext test_context(void)
{
    CUcontext c;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, 0));
    MUST(cuCtxSetCurrent(c));
    return c;
}

// Blocks a stream until the program sets the returned word to 1.
static inline atomic_uint *test_hold(CUstream s)
{
    atomic_uint *word;
    CUdeviceptr p;
    MUST(cuMemHostAlloc((void **)&word, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    *word = 0;
    MUST(cuMemHostGetDevicePointer(&p, word, 0));
    MUST(cuStreamWaitValue32(s, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    return word;
}

// Runs each of a case's examples in a process of its own, which starts with a fresh driver and no
// diagnostics. With failing allocations, runs one of them in the case's process: which one depends
// on the allocation that fails.
static inline void test_each(size_t count, void (*run)(size_t example))
{
    if (failing_here()) {
        run(failing_run->n % count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            unlink(test_diagnostics);
            run(i);
            exit(test_failures != 0);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
}

static inline int test_run_one(const struct test_case *c)
{
    test_open_files();
    snprintf(test_diagnostics, sizeof test_diagnostics, "/tmp/cardless-test-%ld.json",
             (long)getpid());
    unlink(test_diagnostics); // another case's, which had the same process number
    char sink[96];
    snprintf(sink, sizeof sink, "json:%s", test_diagnostics);
    test_setting("CARDLESS_DIAGNOSTICS", sink);
    alarm(TEST_SECONDS);
    failing_start();
    c->run();
    fflush(stdout);
    if (failing_here() && !test_failures)
        failing_finish(false);
    test_remove_files();
    return test_failures ? 1 : 0;
}

// Runs the case in a child; returns its wait status.
static inline int test_fork_one(const struct test_case *c)
{
    fflush(stdout);
    test_open_files();
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        exit(test_run_one(c));
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-child, SIGKILL); // processes that the case has started and not waited for
    char path[64];
    snprintf(path, sizeof path, "/tmp/cardless-test-%ld.json", (long)child);
    unlink(path);
    test_remove_files();
    return status;
}

static inline bool test_passed(int status)
{
    return WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == TEST_SKIPPED);
}

static inline void test_explain(int status)
{
    if (WIFSIGNALED(status))
        printf("# %s\n",
               WTERMSIG(status) == SIGALRM ? "took too long" : strsignal(WTERMSIG(status)));
}

static inline bool test_wanted(const struct test_case *c, int first, int argc, char **argv)
{
    bool wanted = first >= argc;
    for (int a = first; a < argc; a++)
        wanted |= !strcmp(argv[a], c->name);
    return wanted;
}

// Runs a case once, in which allocation `n` fails.
static inline void test_run_failing(const struct test_case *c, struct failing_case *f, uint64_t n)
{
    *failing_run = (struct failing_run){.n = n};
    int status = test_fork_one(c);
    failing_note(f);
    if (test_passed(status))
        return;
    f->bad = true;
    test_explain(status);
    printf("# %s: with allocation %llu failing\n", c->name, (unsigned long long)n);
}

// All cases with failing allocations; `mode` is the environment variable. See failing.h.
static inline int test_main_failing(const struct test_case *cases, int count, const char *mode,
                                    int argc, char **argv)
{
    static struct failing_case f[FAILING_MOST_CASES];
    bool all = !strcmp(mode, "all"), busy = true;
    uint64_t only = strncmp(mode, "at:", 3) ? 0 : strtoull(mode + 3, NULL, 10);
    double end = failing_now() + (all ? 1e9 : atof(mode));
    int bad = 0;
    for (int i = 0; i < count; i++) {
        f[i].seed = failing_seed(cases[i].name);
        f[i].guess = FAILING_FIRST_GUESS;
        f[i].done = !test_wanted(&cases[i], 1, argc, argv);
    }
    for (bool first = true; busy && (first || failing_now() < end); first = false) {
        busy = false;
        for (int i = 0; i < count && (first || all || failing_now() < end); i++) {
            if (f[i].done)
                continue;
            busy = true;
            uint64_t fired = f[i].fired;
            test_run_failing(&cases[i], &f[i], only ? only : failing_next(&f[i], all));
            f[i].done |= only || f[i].bad || (all && fired == f[i].fired) ||
                         (f[i].allocations && f[i].spread >= f[i].allocations);
        }
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char total[32] = "an unknown number of";
        bad += f[i].bad;
        if (f[i].allocations)
            snprintf(total, sizeof total, "%llu", (unsigned long long)f[i].allocations);
        printf("%sok %d - %s: %llu of %s allocations failed, the program saw %llu of them\n",
               f[i].bad ? "not " : "", i + 1, cases[i].name, (unsigned long long)f[i].fired, total,
               (unsigned long long)f[i].stopped);
    }
    return bad > 0;
}

static inline int test_main(const struct test_case *cases, int count, int argc, char **argv)
{
    bool here = argc > 1 && !strcmp(argv[1], "-n");
    int first = here ? 2 : 1, bad = 0;
    const char *mode = failing_mode();
    if (mode)
        return test_main_failing(cases, count, mode, argc, argv);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        if (!test_wanted(&cases[i], first, argc, argv)) {
            printf("ok %d - %s # SKIP not asked for\n", i + 1, cases[i].name);
            continue;
        }
        int status = here ? test_run_one(&cases[i]) << 8 : test_fork_one(&cases[i]);
        if (test_passed(status)) {
            printf("ok %d - %s%s\n", i + 1, cases[i].name, WEXITSTATUS(status) ? " # SKIP" : "");
            continue;
        }
        bad++;
        test_explain(status);
        printf("not ok %d - %s\n", i + 1, cases[i].name);
    }
    return bad > 0;
}

// Lists a program's cases and defines its main.
#define TESTS(...)                                                                                 \
    static const struct test_case test_cases[] = {__VA_ARGS__};                                    \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return test_main(test_cases, (int)(sizeof test_cases / sizeof *test_cases), argc, argv);   \
    }
#define CASE(name)                                                                                 \
    {                                                                                              \
#name, test_##name                                                                         \
    }
