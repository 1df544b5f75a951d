// SPDX-License-Identifier: MIT
// Threads that receive no signals but those of their own faults.
#include "own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "alloc.h"
#include "clock.h"
#include "guard.h"

static unsigned alive; // written atomically

// The body of a thread; belongs to the thread.
struct body {
    void *(*main)(void *);
    void *arg;
    char name[16];
};

static void *run_body(void *argument)
{
    struct body body = *(struct body *)argument;
    dm_free(argument);
    // By the thread itself, because the name of another one is set through /proc. Processes whose
    // entries there were used take longer to end.
    pthread_setname_np(pthread_self(), body.name);
    dm_guard_begins(); // nobody changes the mask of this thread
    void *result = body.main(body.arg);
    __atomic_fetch_sub(&alive, 1, __ATOMIC_SEQ_CST);
    return result;
}

unsigned em_own_threads(void)
{
    return __atomic_load_n(&alive, __ATOMIC_SEQ_CST);
}

bool em_own_thread(const char *name, const cpu_set_t *cores, void *(*thread_main)(void *),
                   void *arg)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    struct body *body = dm_alloc(sizeof *body);
    if (!body)
        return false;
    if (pthread_attr_init(&attributes)) {
        dm_free(body);
        return false;
    }
    *body = (struct body){.main = thread_main, .arg = arg};
    snprintf(body->name, sizeof body->name, "%s", name);
    __atomic_fetch_add(&alive, 1, __ATOMIC_SEQ_CST);
    if (cores)
        pthread_attr_setaffinity_np(&attributes, sizeof *cores, cores);
    sigfillset(&all);
    // dm_guarded needs those of faults.
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&thread, &attributes, run_body, body);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!started) {
        __atomic_fetch_sub(&alive, 1, __ATOMIC_SEQ_CST);
        dm_free(body);
    } else {
        pthread_detach(thread);
    }
    return started;
}

struct timespec em_own_thread_idle_end(void)
{
    const uint64_t end_ns = dm_now_ns() + EM_OWN_THREAD_IDLE_MS * (DM_NS_PER_S / 1000);
    return (struct timespec){(time_t)(end_ns / DM_NS_PER_S), (long)(end_ns % DM_NS_PER_S)};
}
