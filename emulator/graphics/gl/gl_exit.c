// SPDX-License-Identifier: MIT
// Delays the exit of the process while threads of the driver's own are inside other libraries.
#include "gl_exit.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { EXIT_SECONDS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool exiting;
static unsigned busy; // threads that are in such a call
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

static void at_exit(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EXIT_SECONDS;
    pthread_mutex_lock(&mutex);
    exiting = true;
    while (busy && !pthread_cond_timedwait(&idle, &mutex, &until))
        ;
    pthread_mutex_unlock(&mutex);
}

// A child process does not have the threads, so its exit waits for nothing.
static void in_child(void)
{
    busy = 0;
    pthread_mutex_init(&mutex, NULL);
}

bool em_gl_exit_enter(void)
{
    static bool watched;
    pthread_mutex_lock(&mutex);
    if (!watched) // registered after the libraries' own handlers, so it runs before them
        watched = !atexit(at_exit) && !pthread_atfork(NULL, NULL, in_child);
    bool may = !exiting;
    busy += may;
    pthread_mutex_unlock(&mutex);
    return may;
}

void em_gl_exit_leave(void)
{
    pthread_mutex_lock(&mutex);
    if (!--busy)
        pthread_cond_signal(&idle);
    pthread_mutex_unlock(&mutex);
}
