// SPDX-License-Identifier: MIT
// Raises SIGUSR1 in the middle of calls: at one of the places before and after the calling thread
// takes a mutex, and before and after it runs a function that runs once.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

static unsigned signal_at; // the place of the signal, counted from 1
static unsigned places;    // at which the program has been since `signal_armed` was set
static bool signal_armed;

static void at_place(void)
{
    if (!signal_armed)
        return;
    if (++places == signal_at) {
        signal_armed = false;
        raise(SIGUSR1);
        signal_armed = true;
    }
}

// These stand for the C library's functions, also in the libraries that the program loads.
#define EXPORT __attribute__((visibility("default")))

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);
    if (!real)
        real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    at_place();
    const int error = real(mutex);
    at_place();
    return error;
}

static void (*run_once)(void);

static void between_places(void)
{
    void (*const run)(void) = run_once;
    at_place();
    run();
    at_place();
}

EXPORT int pthread_once(pthread_once_t *once, void (*run)(void))
{
    static int (*real)(pthread_once_t *, void (*)(void));
    if (!real)
        real = (int (*)(pthread_once_t *, void (*)(void)))dlsym(RTLD_NEXT, "pthread_once");
    run_once = run;
    return real(once, between_places);
}
