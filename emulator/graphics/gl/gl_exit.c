// SPDX-License-Identifier: MIT
// Delays the exit of the process while other threads are inside OpenGL for the driver.
#include "gl_exit.h"

#include <stdlib.h>
#include <time.h>

#include "mutex.h"
#include "thread.h"

enum { EXIT_SECONDS = 2 };

static struct dm_mutex mutex = DM_MUTEX_INITIALIZER(LEAF);
static bool exiting;
static unsigned busy; // threads that are in such a call
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

static void at_exit(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += EXIT_SECONDS;
    dm_mutex_lock(&mutex);
    exiting = true;
    // A signal handler may end the process while its thread is in such a call.
    while (busy > em_self.gl_inside && !dm_mutex_wait_until(&mutex, &idle, &until))
        ;
    dm_mutex_unlock(&mutex);
}

// A child process does not have the threads, so its exit waits for nothing.
static void in_child(void)
{
    busy = 0;
    dm_mutex_init(&mutex, LEAF);
}

bool em_gl_exit_enter(void)
{
    static bool watched;
    dm_mutex_lock(&mutex);
    if (!watched) // registered after the libraries' own handlers, so it runs before them
        watched = !atexit(at_exit) && !pthread_atfork(NULL, NULL, in_child);
    bool may = !exiting;
    busy += may;
    em_self.gl_inside += may;
    dm_mutex_unlock(&mutex);
    return may;
}

void em_gl_exit_leave(void)
{
    dm_mutex_lock(&mutex);
    em_self.gl_inside--;
    if (!--busy)
        pthread_cond_signal(&idle);
    dm_mutex_unlock(&mutex);
}
