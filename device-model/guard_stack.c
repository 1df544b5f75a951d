// SPDX-License-Identifier: MIT
// Stacks that are full: an alternate stack for the signal, and whether a fault is an overflow.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "guard.h"
#include "mutex.h"
#include "thread_state.h"

struct stack_thread {
    bool has_stack; // for signals
};
DM_DECLARE_THREAD_STATE(struct stack_thread, stack_thread)
DM_DEFINE_THREAD_STATE(struct stack_thread, stack_thread)

// The alternate stack of a thread is the value of a key, which unmaps it when the thread ends.
enum { SIGNAL_STACK_B = 64 << 10 };
static pthread_key_t stack_key;
static pthread_once_t stack_key_once = PTHREAD_ONCE_INIT;
static int stack_key_error;

static void drop_stack(void *stack)
{
    stack_t now;
    if (!sigaltstack(NULL, &now) && now.ss_sp == stack)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(stack, SIGNAL_STACK_B);
}

static void make_stack_key(void)
{
    stack_key_error = -pthread_key_create(&stack_key, drop_stack);
}

int dm_guard_own_stack(void)
{
    struct stack_thread *self = stack_thread();
    if (self->has_stack)
        return 0;
    pthread_once(&stack_key_once, make_stack_key);
    if (stack_key_error)
        return stack_key_error;
    stack_t now;
    if (sigaltstack(NULL, &now))
        return -errno;
    if (!(now.ss_flags & SS_DISABLE)) { // the program's, or a sanitizer's
        self->has_stack = true;
        return 0;
    }
    void *stack = mmap(NULL, SIGNAL_STACK_B, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    int r = -pthread_setspecific(stack_key, stack);
    if (!r && sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIGNAL_STACK_B}, NULL)) {
        r = -errno;
        pthread_setspecific(stack_key, NULL);
    }
    if (r)
        munmap(stack, SIGNAL_STACK_B);
    else
        self->has_stack = true;
    return r;
}

// ---- overflows ----

enum {
    BELOW_B = 1 << 20, // a function with large variables skips the pages below the stack
    ABOVE_B = 64 << 10 // the kernel may end the stack of the first thread a little earlier
};

static bool is_near(uint64_t address, uint64_t low)
{
    return address + BELOW_B >= low && address < low + ABOVE_B;
}

bool dm_fault_is_overflow(const struct dm_fault *fault, uint64_t low)
{
    return fault->signal == SIGSEGV && is_near(fault->address, low) && is_near(fault->stack, low);
}

bool dm_guard_stack_bounds(uint64_t *low, uint64_t *size_B)
{
    pthread_attr_t attributes;
    void *at = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return false;
    const bool known = !pthread_attr_getstack(&attributes, &at, &size);
    pthread_attr_destroy(&attributes);
    *low = (uint64_t)(uintptr_t)at;
    *size_B = size;
    return known;
}
