// SPDX-License-Identifier: MIT
// Builds with assertions abort if a thread takes mutexes out of order, whether or not another
// thread is there to deadlock with.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutex.h"

#ifdef NDEBUG
int main(void)
{
    return 77; // nothing is checked
}
#else

static struct dm_mutex emulator = DM_MUTEX_INITIALIZER(EMULATOR),
                       diagnostics = DM_MUTEX_INITIALIZER(DIAGNOSTICS),
                       leaf = DM_MUTEX_INITIALIZER(LEAF), other_leaf = DM_MUTEX_INITIALIZER(LEAF);

static void take_in_order(void)
{
    dm_mutex_lock(&emulator);
    dm_mutex_lock(&diagnostics);
    dm_mutex_lock(&leaf);
    dm_mutex_unlock(&leaf);
    dm_mutex_unlock(&diagnostics);
    dm_mutex_unlock(&emulator);
}

static void release_in_any_order(void)
{
    dm_mutex_lock(&emulator);
    dm_mutex_lock(&leaf);
    dm_mutex_unlock(&emulator);
    dm_mutex_unlock(&leaf);
    take_in_order();
}

static void take_one_after_the_other(void)
{
    dm_mutex_lock(&leaf);
    dm_mutex_unlock(&leaf);
    dm_mutex_lock(&emulator);
    dm_mutex_unlock(&emulator);
}

static void initialise_at_run_time(void)
{
    struct dm_mutex m;
    dm_mutex_init(&m, LEAF);
    dm_mutex_lock(&m);
    dm_mutex_unlock(&m);
    dm_mutex_destroy(&m);
    take_in_order();
}

static void *take_emulator(void *unused)
{
    (void)unused;
    dm_mutex_lock(&emulator);
    dm_mutex_unlock(&emulator);
    return NULL;
}

static void take_in_another_thread(void)
{
    pthread_t thread;
    dm_mutex_lock(&leaf); // each thread has its own order
    if (pthread_create(&thread, NULL, take_emulator, NULL))
        abort();
    pthread_join(thread, NULL);
    dm_mutex_unlock(&leaf);
}

static void take_backwards(void)
{
    dm_mutex_lock(&diagnostics);
    dm_mutex_lock(&emulator);
}

static void take_two_leaves(void)
{
    dm_mutex_lock(&leaf);
    dm_mutex_lock(&other_leaf);
}

static void take_under_a_leaf(void)
{
    struct dm_mutex m;
    dm_mutex_init(&m, LEAF);
    dm_mutex_lock(&m);
    dm_mutex_lock(&emulator);
}

static void take_twice(void)
{
    dm_mutex_lock(&emulator);
    dm_mutex_lock(&emulator);
}

static void take_after_wait(void)
{
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    dm_mutex_lock(&diagnostics);
    dm_mutex_wait_until(&diagnostics, &never, &now); // still held when it returns
    dm_mutex_lock(&emulator);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool aborts;
} cases[] = {
    {"in order", take_in_order, false},
    {"released in any order", release_in_any_order, false},
    {"one after the other", take_one_after_the_other, false},
    {"initialised at run time", initialise_at_run_time, false},
    {"in another thread", take_in_another_thread, false},
    {"backwards", take_backwards, true},
    {"two leaves", take_two_leaves, true},
    {"under a leaf", take_under_a_leaf, true},
    {"twice", take_twice, true},
    {"after a wait", take_after_wait, true},
};

int main(void)
{
    int failures = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t child = fork();
        if (!child) {
            static const struct rlimit no_core;
            setrlimit(RLIMIT_CORE, &no_core);
            alarm(10);
            cases[i].run();
            _exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        if (cases[i].aborts ? aborted : status == 0)
            continue;
        fprintf(stderr, "%s: status %#x, expected %s\n", cases[i].name, (unsigned)status,
                cases[i].aborts ? "SIGABRT" : "0");
        failures++;
    }
    return failures != 0;
}
#endif
