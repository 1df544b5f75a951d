// SPDX-License-Identifier: MIT
// The handlers for faults, the chain to the handlers installed before, and guarded calls.
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "mutex.h"
#include "pkey.h"
#include "startup.h"
#include "thread_state.h"

#ifndef SEGV_PKUERR
#define SEGV_PKUERR 4
#endif

// The innermost dm_guarded() of a thread.
struct frame {
    sigjmp_buf back;
    struct frame *outer;
    uint32_t pkru;
    struct dm_fault fault;
};
static _Atomic(void (*)(const struct dm_fault *)) describe_hook;

// The kernel's own struct sigaction. We bypass the C library because a sanitizer's wrapper would
// put its own handler before ours, or ignore ours.
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

// The handlers to call for faults that are not ours, the newest last: one for each
// (re)installation.
enum { PREVIOUS_MAX = 8 };
struct chain {
    struct action previous[PREVIOUS_MAX];
    _Atomic int count;
};
// In the order of fault_signals. The last three are installed by dm_guard_traps.
static struct chain chains[5];
static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { MEMORY_SIGNALS = 2, FAULT_SIGNALS = 5 };
static struct dm_mutex installing = DM_MUTEX_INITIALIZER(LEAF);

// The handler must not access thread-local state directly, because a library that is loaded late
// gets its memory from malloc at a thread's first access, and a handler must not call malloc. So
// dm_guarded also makes the state the value of a key, which pthread_getspecific only reads.
struct guard_thread {
    struct frame *innermost; // or NULL
    bool has_key;            // this state is the value of the key in its thread
};
DM_DECLARE_THREAD_STATE(struct guard_thread, guard_thread)
DM_DEFINE_THREAD_STATE(struct guard_thread, guard_thread)
static pthread_key_t thread_key; // its value is the thread's guard_thread, or NULL
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;
static int thread_key_error; // result of pthread_key_create, negative

// A thread that is in the handler has an entry here. `at` is 1 + the index of the chain's handler
// that it is calling. A later handler may call ours as its predecessor, and then needs the handler
// below that index. If all entries are taken, such a handler gets the default action.
enum { HANDLING_MAX = 64 };
static struct handling {
    _Atomic int thread; // 0: free
    int at;
    // Of the fault that `at` belongs to: the kernel's structs, and the frame of on_fault. They stay
    // if a handler leaves by a jump.
    const void *info, *context, *cfa;
} handling[HANDLING_MAX];

// The thread ends, and the value of the key is NULL now. Its other destructors may call dm_guarded.
static void forget_key(void *state)
{
    ((struct guard_thread *)state)->has_key = false;
}

static void make_thread_key(void)
{
    thread_key_error = -pthread_key_create(&thread_key, forget_key);
}

static int have_thread_key(void)
{
    pthread_once(&thread_key_once, make_thread_key);
    return thread_key_error;
}

// Returns the calling thread's entry, or NULL.
static struct handling *find_handling(int thread)
{
    for (int i = 0; i < HANDLING_MAX; i++)
        if (atomic_load(&handling[i].thread) == thread)
            return &handling[i];
    return NULL;
}

// Takes an entry for the calling thread. Returns NULL if all are taken.
static struct handling *new_handling(int thread)
{
    for (int i = 0; i < HANDLING_MAX; i++) {
        int free = 0;
        if (atomic_compare_exchange_strong(&handling[i].thread, &free, thread)) {
            handling[i].at = 0;
            return &handling[i];
        }
    }
    return NULL;
}

#if defined(__x86_64__)
#define KERNEL_SA_RESTORER 0x04000000ul
void dm_guard_sigreturn(void) __attribute__((visibility("hidden")));
__asm__(".text\n.p2align 4\n.hidden dm_guard_sigreturn\n.globl dm_guard_sigreturn\n.type "
        "dm_guard_sigreturn,@function\n"
        "nop\n" // unwinders look up the byte before the return address
        "dm_guard_sigreturn:\n\tmovq $15, %rax\n\tsyscall\n.size dm_guard_sigreturn, . - "
        "dm_guard_sigreturn\n");
#endif

static int kernel_sigaction(int sig, const struct action *set, struct action *old)
{
    struct action a;
    if (set) {
        a = *set;
#if defined(__x86_64__)
        if (!(a.flags & KERNEL_SA_RESTORER)) {
            a.flags |= KERNEL_SA_RESTORER;
            a.restorer = dm_guard_sigreturn;
        }
#endif
    }
    return syscall(SYS_rt_sigaction, (long)sig, set ? &a : NULL, old, 8L) ? -errno : 0;
}

static struct chain *handler_chain(int sig)
{
    int i = 0;
    while (fault_signals[i] != sig)
        i++;
    return &chains[i];
}

// Whether the instruction is the one of __builtin_trap.
__attribute__((no_sanitize("address", "thread"))) static bool is_trap(uint64_t instruction)
{
#if defined(__x86_64__)
    const volatile uint8_t *at = (const volatile uint8_t *)(uintptr_t)instruction;
    return at[0] == 0x0f && at[1] == 0x0b; // ud2
#else
    (void)instruction;
    return false; // its signal is SIGTRAP
#endif
}

static enum dm_fault_kind fault_kind(int sig, int code)
{
    if (sig == SIGFPE)
        return DM_FAULT_DIVISION;
    if (sig == SIGILL)
        return DM_FAULT_INSTRUCTION;
    if (sig == SIGTRAP)
        return DM_FAULT_TRAP;
    if (sig == SIGBUS)
        return code == BUS_ADRERR                               ? DM_FAULT_TRUNCATED
               : code == BUS_MCEERR_AR || code == BUS_MCEERR_AO ? DM_FAULT_POISONED
                                                                : DM_FAULT_ADDRESS;
    switch (code) {
    case SEGV_MAPERR:
        return DM_FAULT_UNMAPPED;
    case SEGV_ACCERR:
        return DM_FAULT_PROTECTED;
    case SEGV_PKUERR:
        return DM_FAULT_PKEY;
    default:
        return DM_FAULT_ADDRESS;
    }
}

#if defined(__aarch64__)
// Records follow the registers. One of them may hold the exception syndrome, whose bit 6 is set for
// a write (in a data abort from a lower level).
static bool fault_is_write(const mcontext_t *context)
{
    struct esr_context esr;
    struct _aarch64_ctx head;
    for (size_t at = 0; at + sizeof esr <= sizeof context->__reserved; at += head.size) {
        memcpy(&head, &context->__reserved[at], sizeof head);
        if (head.magic == ESR_MAGIC) {
            memcpy(&esr, &context->__reserved[at], sizeof esr);
            return esr.esr >> 26 == 0x24 && (esr.esr >> 6 & 1);
        }
        if (head.magic == 0 || head.size < sizeof head)
            break;
    }
    return false;
}
#endif

static void fill_fault(struct dm_fault *f, int sig, const siginfo_t *info,
                       const ucontext_t *context)
{
    f->signal = sig;
    f->kind = fault_kind(sig, info->si_code);
    f->address = (uint64_t)(uintptr_t)info->si_addr;
    f->instruction = f->stack = 0;
    f->write = false;
#if defined(__x86_64__)
    f->instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    f->stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    f->write =
        (context->uc_mcontext.gregs[REG_ERR] & 2) != 0; // bit 1 of the page fault's error code
#elif defined(__aarch64__)
    f->instruction = context->uc_mcontext.pc;
    f->stack = context->uc_mcontext.sp;
    f->write = fault_is_write(&context->uc_mcontext);
#endif
    if (f->kind == DM_FAULT_INSTRUCTION && is_trap(f->instruction))
        f->kind = DM_FAULT_TRAP;
}

// Takes the default action, as if our handler did not exist.
static void take_default_action(int sig, bool by_access)
{
    struct action plain = {.handler = NULL}; // SIG_DFL
    kernel_sigaction(sig, &plain, NULL);
    // The access is repeated when the handler returns. A signal that was sent has to be sent again,
    // and so has a breakpoint, which has already been executed.
    if (!by_access || sig == SIGTRAP)
        syscall(SYS_tgkill, (long)getpid(), syscall(SYS_gettid), (long)sig);
}

// Calls the handler of the chain at index `at` - 1. If `at` is 0, there is no handler.
static void pass_fault_on(int sig, siginfo_t *info, void *context, bool by_access, int at)
{
    struct chain *chain = handler_chain(sig);
    if (at <= 0) {
        take_default_action(sig, by_access);
        return;
    }
    struct action *a = &chain->previous[at - 1];
    void (*handler)(int, siginfo_t *, void *) = a->handler;
    if ((void *)handler == (void *)SIG_IGN) {
        // The kernel does not let a process ignore its own faults.
        if (by_access)
            take_default_action(sig, by_access);
        return;
    }
    if ((void *)handler == (void *)SIG_DFL) {
        take_default_action(sig, by_access);
        return;
    }
    uint64_t block = a->mask | (a->flags & SA_NODEFER ? 0 : UINT64_C(1) << (sig - 1));
    if (block) // undone when the kernel returns to the interrupted code
        syscall(SYS_rt_sigprocmask, (long)SIG_BLOCK, &block, NULL, 8L);
    if (a->flags & SA_RESETHAND)
        a->handler = NULL; // SIG_DFL
    if (a->flags & SA_SIGINFO)
        handler(sig, info, context);
    else
        ((void (*)(int))(void *)handler)(sig);
}

__attribute__((no_sanitize("address", "thread"))) static void on_fault(int sig, siginfo_t *info,
                                                                       void *context)
{
    bool by_access = info->si_code > 0; // 0 and below: sent by kill, sigqueue …
    const struct guard_thread *self = pthread_getspecific(thread_key);
    struct frame *frame = self ? self->innermost : NULL;
    if (by_access && frame) {
        fill_fault(&frame->fault, sig, info, context);
        // As the kernel does at the end of the handler. A handler that is in front of this
        // one may have blocked signals, and a fault that is blocked ends the process.
        syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL,
                8L);
        siglongjmp(frame->back, 1);
    }

    int saved = errno, thread = (int)syscall(SYS_gettid);
    struct handling *own = find_handling(thread), *fresh = own ? NULL : new_handling(thread);
    const struct handling before = own ? *own : (struct handling){0};
    const void *cfa = __builtin_dwarf_cfa();
    // The kernel's signal frame lies exactly where a caller's frame would be, and begins with the
    // ucontext (x86-64) or the siginfo (AArch64). So this distinguishes a call by the kernel from a
    // call by a later handler that passes a fault on.
#if defined(__x86_64__)
    bool outermost = cfa == context;
#elif defined(__aarch64__)
    bool outermost = cfa == (void *)info;
#else
    bool outermost = false;
#endif
    // A handler that passes the fault on runs deeper in the stack, and usually passes on the
    // kernel's arguments.
    bool same = own && (before.info == info || before.context == context) &&
                (uintptr_t)cfa < (uintptr_t)before.cfa;
    outermost |= !same && (own || fresh);
    int next = outermost ? atomic_load(&handler_chain(sig)->count) : before.at - 1;
    struct handling *entry = own ? own : fresh;
    if (entry) {
        entry->at = next;
        entry->info = info;
        entry->context = context;
        entry->cfa = cfa;
    }
    if (by_access && outermost) {
        void (*describe)(const struct dm_fault *) = atomic_load(&describe_hook);
        if (describe) {
            struct dm_fault f;
            fill_fault(&f, sig, info, context);
            describe(&f);
        }
    }
    pass_fault_on(sig, info, context, by_access, next);
    if (own) {
        own->at = before.at;
        own->info = before.info;
        own->context = before.context;
        own->cfa = before.cfa;
    }
    if (fresh)
        atomic_store(&fresh->thread, 0);
    errno = saved;
}

static int install_handler(int sig)
{
    struct chain *chain = handler_chain(sig);
    struct action ours = {.handler = on_fault, .flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK}, now;
    int r = kernel_sigaction(sig, NULL, &now);
    if (r || now.handler == on_fault)
        return r;
    int n = atomic_load(&chain->count);
    if (n == PREVIOUS_MAX) {
        // The program and this library have installed handlers in turns too often: drop the oldest
        // but the first.
        memmove(&chain->previous[1], &chain->previous[2], (PREVIOUS_MAX - 2) * sizeof now);
        n--;
    }
    // If it is the same handler again, the program has restored its own, and there is nothing new
    // below it.
    if (n == 0 || chain->previous[n - 1].handler != now.handler)
        chain->previous[n++] = now;
    else
        chain->previous[n - 1] = now;
    atomic_store(&chain->count, n);
    return kernel_sigaction(sig, &ours, NULL);
}

DM_STARTUP int dm_guard_init(void)
{
    return dm_guard_reassert();
}

// Installs the handlers of fault_signals[from] to fault_signals[to - 1].
static int install_handlers(int from, int to)
{
    int r = have_thread_key();
    if (r)
        return r;
    dm_mutex_lock(&installing);
    for (int i = from; i < to && !r; i++)
        r = install_handler(fault_signals[i]);
    dm_mutex_unlock(&installing);
    return r;
}

int dm_guard_reassert(void)
{
    return install_handlers(0, MEMORY_SIGNALS);
}

static _Atomic bool traps_installed;

int dm_guard_traps(void)
{
    if (atomic_load_explicit(&traps_installed, memory_order_acquire))
        return 0;
    int r = install_handlers(MEMORY_SIGNALS, FAULT_SIGNALS);
    if (!r)
        atomic_store_explicit(&traps_installed, true, memory_order_release);
    return r;
}

int dm_guard_reassert_all(void)
{
    const bool traps = atomic_load_explicit(&traps_installed, memory_order_acquire);
    return install_handlers(0, traps ? FAULT_SIGNALS : MEMORY_SIGNALS);
}

bool dm_guard_is_handler(int sig)
{
    struct action now;
    return !kernel_sigaction(sig, NULL, &now) && now.handler == on_fault;
}

void dm_guard_finish(void)
{
    dm_mutex_lock(&installing);
    for (int i = 0; i < FAULT_SIGNALS; i++) {
        int sig = fault_signals[i], n = atomic_load(&chains[i].count);
        struct action now;
        if (n && !kernel_sigaction(sig, NULL, &now) && now.handler == on_fault) {
            kernel_sigaction(sig, &chains[i].previous[n - 1], NULL);
            atomic_store(&chains[i].count, 0);
        }
    }
    dm_mutex_unlock(&installing);
}

void dm_fault_describe(void (*describe)(const struct dm_fault *fault))
{
    atomic_store(&describe_hook, describe);
}

static int set_thread_key(struct guard_thread *self)
{
    int r = have_thread_key();
    if (r)
        return r;
    r = -pthread_setspecific(thread_key, self);
    self->has_key = !r;
    return r;
}

int dm_guarded(void (*fn)(void *), void *arg, struct dm_fault *fault)
{
    struct frame frame;
    struct guard_thread *volatile const self = guard_thread();
    if (__builtin_expect(!self->has_key, 0)) {
        const int r = set_thread_key(self);
        if (r)
            return r;
    }
    frame.pkru = dm_pkey_bits ? dm_pkru_read() : 0;
    frame.outer = self->innermost;
    if (__builtin_expect(sigsetjmp(frame.back, 0), 0)) {
        self->innermost = frame.outer;
        // This returns from a signal handler, which runs with the kernel's default access rights.
        if (dm_pkey_bits)
            dm_pkru_write(frame.pkru);
        if (fault)
            *fault = frame.fault;
        return -EFAULT;
    }
    self->innermost = &frame;
    atomic_signal_fence(memory_order_seq_cst);
    fn(arg);
    atomic_signal_fence(memory_order_seq_cst);
    self->innermost = frame.outer;
    return 0;
}

// ---- for code that runs a program's functions ----

void dm_guard_leave(void)
{
    struct frame *frame = guard_thread()->innermost;
    if (!frame)
        return;
    frame->fault = (struct dm_fault){.kind = DM_FAULT_LEFT};
    siglongjmp(frame->back, 1);
}

void *dm_guard_exchange(void *calls)
{
    struct guard_thread *self = guard_thread();
    void *before = self->innermost;
    self->innermost = calls;
    return before;
}
