// SPDX-License-Identifier: MIT
#include "lock.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sigset_t signals_before; // the signal mask of the thread that holds the mutex

void rt_lock(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&mutex);
    signals_before = before;
}

void rt_unlock(void)
{
    const sigset_t before = signals_before;
    pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// A child has only the thread that called fork. If another thread held the mutex at that moment, it
// would stay locked in the child for ever, and the child would wait for it when it unregisters its
// binaries at exit. So the forking thread takes the mutex before, and both processes release it.
//
// Runs when this library is loaded. If there is no memory for the handlers, forks do without them.
__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(rt_lock, rt_unlock, rt_unlock);
}
