// SPDX-License-Identifier: MIT
// Raises SIGUSR1 in the middle of calls: at one of the places before and after the calling thread
// takes a mutex, before and after it runs a function that runs once, and inside malloc, calloc and
// free. A handler that interrupts one of these three must not come to any of them: the C library
// would wait for itself.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "sanitizers.h"

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

// A sanitizer has its own.
#if !SANITIZED
static __thread bool allocates;

static void allocation(void)
{
    static const char text[] = "# the handler has come to the interrupted malloc or free\n";
    if (allocates)
        _exit(write(STDOUT_FILENO, text, sizeof text - 1) ? 3 : 4);
    allocates = true;
    at_place();
    allocates = false;
}

void *__libc_malloc(size_t size_B);
void *__libc_calloc(size_t count, size_t size_B);
void __libc_free(void *memory);

EXPORT void *malloc(size_t size_B)
{
    allocation();
    return __libc_malloc(size_B);
}

EXPORT void *calloc(size_t count, size_t size_B)
{
    allocation();
    return __libc_calloc(count, size_B);
}

EXPORT void free(void *memory)
{
    allocation();
    __libc_free(memory);
}
#endif
