// SPDX-License-Identifier: MIT
// Runs the cases of a test program again and again, each time with another allocation of the driver
// failing (../harness.h; CARDLESS_TEST_FAILURES=SECONDS or =all, with the library of
// tests/failures).
//
// A run with a failed allocation is good if
//   - it ends without a crash, a hang or a sanitizer's report,
//   - the first expectation that does not hold comes after a call failed with
//     CUDA_ERROR_OUT_OF_MEMORY, or after a check (CARDLESS_CHECK) said that it ends because memory
//     ran out, and that check has reported nothing since: the case stops there. If every
//     expectation holds, the driver did without the memory,
//   - everything that the case has left can then be ended: no lock is held, no object survives, no
//     device memory is lost.
//
// "all" lets each allocation of each case fail once. A number of seconds is spent on all cases in
// turn, at least one run for each, with allocations spread over each case's. "at:N" lets only the
// N-th fail, for a debugger: name the case too.
#pragma once
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failures/hooks.h"

enum { FAILING_MOST_CASES = 256 };

// The parent's request to a run and the results of the run, in memory that both share.
struct failing_run {
    uint64_t n; // the allocation that fails
    bool ended; // the case has come to its end, or to where it was stopped: the rest is set
    bool fired, stopped;  // it has failed; the case was stopped by CUDA_ERROR_OUT_OF_MEMORY
    uint64_t allocations; // of the case, if it has not failed
};

static const struct test_hooks *failing_hooks; // NULL: an ordinary run
static struct failing_run *failing_run;
static pid_t failing_process; // of the case; its children have no failures

static inline bool failing_here(void)
{
    return failing_hooks && failing_process == getpid();
}

// The first thread to end its case; the others stop at their next expectation, because their calls
// fail from then on.
static atomic_long failing_ender;

static inline void failing_wait_if_ending(void)
{
    long ender = atomic_load(&failing_ender);
    while (ender && ender != syscall(SYS_gettid))
        pause();
}

// Ends the process of a case: everything that is left must come to its end.
static inline void failing_finish(bool stopped)
{
    char text[512];
    long nobody = 0;
    if (!atomic_compare_exchange_strong(&failing_ender, &nobody, syscall(SYS_gettid)))
        failing_wait_if_ending();
    uint64_t left = failing_hooks->countdown();
    failing_run->fired = !left;
    failing_run->allocations = left ? failing_run->n - left : 0;
    failing_run->stopped = stopped;
    failing_run->ended = true;
    bool ended = failing_hooks->end_everything(text, sizeof text);
    if (!ended)
        printf("# allocation %llu failed: %s\n", (unsigned long long)failing_run->n, text);
    fflush(stdout);
    exit(!ended);
}

// Whether the driver has reported CUDA_ERROR_OUT_OF_MEMORY in this case, by the driver's name or
// the runtime's, or that a check has ended.
static inline bool failing_reported(const char *diagnostics)
{
    char line[8192];
    bool found = false, ended = false, reports = false;
    FILE *f = fopen(diagnostics, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        found = strstr(line, "\"result\":\"CUDA_ERROR_OUT_OF_MEMORY\"") ||
                strstr(line, "\"result\":\"cudaErrorMemoryAllocation\"") ||
                strstr(line, "out of host memory to watch");
        reports |= ended && !strncmp(line, "{\"id\":\"O0", 9); // of the ordering checker
        ended |= strstr(line, "out of host memory for CARDLESS_CHECK") != NULL;
    }
    if (f)
        fclose(f);
    if (reports)
        printf("# a check has ended and reports mistakes\n");
    return found || (ended && !reports);
}

// An expectation does not hold: if an allocation has failed and the program knows, the case ends
// here. `known`: a call has just returned CUDA_ERROR_OUT_OF_MEMORY.
static inline void failing_stop(bool known, const char *diagnostics)
{
    if (!failing_here())
        return;
    failing_wait_if_ending();
    if (failing_hooks->countdown())
        return;
    if (known || failing_reported(diagnostics))
        failing_finish(true);
    printf("# allocation %llu failed and nothing reported it:\n",
           (unsigned long long)failing_run->n);
}

static inline void failing_child(void)
{
    failing_hooks->fail_after(0);
}

// Called in the process of a case before it runs.
static inline void failing_start(void)
{
    if (!failing_hooks)
        return;
    failing_process = getpid();
    pthread_atfork(NULL, NULL, failing_child);
    failing_hooks->fail_after(failing_run->n);
}

static inline double failing_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The parent's figures of a case. How many allocations it has is known as soon as a run has ended
// before its n-th one.
struct failing_case {
    uint64_t allocations; // 0: not known
    uint64_t guess;       // the number of allocations that is assumed meanwhile
    uint64_t spread;      // runs since the number is known
    uint64_t runs, fired, stopped;
    uint64_t seed;
    bool bad, done;
};

enum { FAILING_FIRST_GUESS = 32 }; // most cases have fewer

// Different for each case of a program.
static inline uint64_t failing_seed(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h >> 32;
}

// The next allocation to fail: in order for "all"; else in an order that spreads over all of them
// and meets each once.
static inline uint64_t failing_next(struct failing_case *c, bool all)
{
    if (all)
        return c->runs + 1;
    if (!c->allocations)
        return 1 + (c->seed + c->runs) % c->guess;
    uint64_t stride = c->allocations * 618 / 1000 + 1, a = stride, b = c->allocations;
    while (b) { // the stride and the number of allocations have no common divisor
        uint64_t rest = a % b;
        a = b;
        b = rest;
        if (!b && a != 1) {
            a = ++stride;
            b = c->allocations;
        }
    }
    return 1 + (c->seed + c->spread++ * stride) % c->allocations;
}

// Notes what the run has found.
static inline void failing_note(struct failing_case *c)
{
    c->runs++;
    c->fired += failing_run->fired;
    c->stopped += failing_run->stopped;
    if (failing_run->fired)
        c->guess *= 4;
    else if (!c->allocations)
        c->allocations = failing_run->allocations;
    // Cases that end their process themselves, or skip, are not repeated.
    if (!failing_run->ended || (!failing_run->fired && !failing_run->allocations))
        c->done = true;
}

// The mode of this process, or NULL: CARDLESS_TEST_FAILURES is set and the hooks are there.
static inline const char *failing_mode(void)
{
    const char *mode = getenv("CARDLESS_TEST_FAILURES");
    if (!mode)
        return NULL;
    const struct test_hooks *(*find)(void) =
        (const struct test_hooks *(*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cardlessTestHooks");
    if (!find) {
        printf("Bail out! the driver library has no test hooks\n");
        exit(1);
    }
    unsetenv("CARDLESS_TEST_FAILURES"); // a test that starts itself again starts an ordinary one
    failing_hooks = find();
    failing_run =
        mmap(NULL, sizeof *failing_run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return mode;
}
