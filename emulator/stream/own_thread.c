// SPDX-License-Identifier: MIT
// Threads without signals.
#include "own_thread.h"

#include <pthread.h>
#include <signal.h>

bool em_own_thread(const char *name, const cpu_set_t *cores, void *(*thread_main)(void *),
                   void *arg)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes))
        return false;
    if (cores)
        pthread_attr_setaffinity_np(&attributes, sizeof *cores, cores);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); // dm_guarded needs these two
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&thread, &attributes, thread_main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_setname_np(thread, name);
        pthread_detach(thread);
    }
    return started;
}
