// SPDX-License-Identifier: MIT
// The allocations of the runtime library with test hooks: the linker sends its calls of malloc and
// calloc here (--wrap). They count with those of the driver, so that each fails once.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "hooks.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static pthread_once_t find_once = PTHREAD_ONCE_INIT;
static const struct test_hooks *hooks; // NULL: the driver has no hooks

static void find_hooks(void)
{
    const struct test_hooks *(*find)(void) =
        (const struct test_hooks *(*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cardlessTestHooks");
    hooks = find ? find() : NULL;
}

static bool fails_now(void)
{
    pthread_once(&find_once, find_hooks);
    return hooks && hooks->fails_now();
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}
