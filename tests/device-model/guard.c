// SPDX-License-Identifier: MIT
// Guarded calls; and that SIGSEGV and SIGBUS otherwise behave as if the guard did not exist: the
// default action, and the program's handlers, installed before or after it. Each case runs in a
// process of its own.
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static uint8_t *none, *readable; // a page without access, and a read-only page

static void make_pages(void)
{
    none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    readable = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(none != MAP_FAILED && readable != MAP_FAILED);
    EXPECT_EQ(munmap(none + 4096, 4096), 0);
}

// Threads may race here, but nothing is ever written.
__attribute__((no_sanitize("thread"))) static void look(void *p)
{
    (void)*(volatile uint8_t *)p;
}

__attribute__((no_sanitize("thread"))) static void touch(void *p)
{
    *(volatile uint8_t *)p = 1;
}

static void expect_fault(void (*fn)(void *), void *p, enum dm_fault_kind kind, bool write)
{
    struct dm_fault f;
    memset(&f, 0xee, sizeof f);
    EXPECT_EQ(dm_guarded(fn, p, &f), -EFAULT);
    EXPECT_EQ(f.address, (uintptr_t)p);
    EXPECT_EQ(f.kind, kind);
#ifdef __x86_64__
    EXPECT_EQ(f.write, write);
    EXPECT(f.instruction != 0);
#endif
}

static void guard_works(void)
{
    expect_fault(look, none + 5, DM_FAULT_PROTECTED, false);
    expect_fault(touch, readable, DM_FAULT_PROTECTED, true);
    EXPECT_EQ(dm_guarded(look, readable, NULL), 0);
}

static void inner(void *p)
{
    uint8_t local = 0;
    EXPECT_EQ(dm_guarded(look, p, NULL), -EFAULT);
    EXPECT_EQ(dm_guarded(touch, &local, NULL), 0);
    EXPECT_EQ(local, 1);
    look(p); // and this fault belongs to the outer call
    EXPECT(!"reached");
}

static void plain(void)
{
    sigset_t before, after;
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_guard_init(), 0);
    sigprocmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < 1000; i++)
        guard_works();
    expect_fault(look, NULL, DM_FAULT_UNMAPPED, false);
    EXPECT_EQ(dm_guarded(inner, none, NULL), -EFAULT);
#ifdef __x86_64__
    struct dm_fault f;
    EXPECT_EQ(dm_guarded(look, (void *)(uintptr_t)0x8000000000000000, &f), -EFAULT);
    EXPECT_EQ(f.kind, DM_FAULT_ADDRESS);
#endif
    sigprocmask(SIG_SETMASK, NULL, &after);
    EXPECT_EQ(sigismember(&before, SIGSEGV), sigismember(&after, SIGSEGV));
    char text[64];
    struct dm_fault g = {.address = 0x7f00dead0000, .kind = DM_FAULT_PKEY, .write = true};
    dm_fault_text(&g, text, sizeof text);
    EXPECT_EQ(strcmp(text, "write to device address 0x7f00dead0000"), 0);
    dm_fault_text(&g, text, 9);
    EXPECT_EQ(strcmp(text, "write to"), 0);
    g.address = 0;
    dm_fault_text(&g, text, sizeof text);
    EXPECT_EQ(strcmp(text, "write to device address 0x0"), 0);
    dm_fault_text(&g, text, 0);
}

static void on_alternate_stack(void)
{
    static char stack[65536];
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};
    EXPECT_EQ(sigaltstack(&s, NULL), 0);
    EXPECT_EQ(dm_guard_init(), 0);
    for (int i = 0; i < 100; i++)
        guard_works();
}

static void default_on_access(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    guard_works();
    look(none);
}

static void default_on_kill(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    raise(SIGSEGV);
}

static void kill_inside(void *arg)
{
    raise(SIGSEGV);
}

// A signal that someone sends is not a fault, even if it arrives in a guarded call.
static void default_on_kill_inside(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    dm_guarded(kill_inside, NULL, NULL);
}

static volatile sig_atomic_t calls_a, calls_b, blocked;
static void *volatile seen;
static sigjmp_buf jump;
static struct sigaction before_a;

static void handler_a(int sig, siginfo_t *info, void *context)
{
    calls_a++;
    seen = info->si_addr;
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    blocked = sigismember(&now, SIGSEGV) + 2 * sigismember(&now, SIGUSR1);
    siglongjmp(jump, 1);
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags, struct sigaction *old)
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGUSR1);
    EXPECT_EQ(sigaction(SIGSEGV, &a, old), 0);
}

static void program_handler_before(void)
{
    install(handler_a, 0, NULL);
    EXPECT_EQ(dm_guard_init(), 0);
    for (volatile int i = 0; i < 50; i++) {
        guard_works();
        EXPECT_EQ(calls_a, i);
        if (sigsetjmp(jump, 1) == 0)
            look(none + 9);
        EXPECT_EQ(calls_a, i + 1);
        EXPECT(seen == none + 9);
        EXPECT_EQ(blocked, 3);
    }
    dm_guard_finish();
    struct sigaction now;
    EXPECT_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    EXPECT(now.sa_sigaction == handler_a);
}

static void fix_page(int sig, siginfo_t *info, void *context)
{
    calls_b++;
    mprotect(none, 4096, PROT_READ | PROT_WRITE);
}

// A handler repairs the page and returns: the access is repeated, with the old signal mask and
// errno.
static void program_handler_returns(void)
{
    install(fix_page, SA_RESETHAND, NULL);
    EXPECT_EQ(dm_guard_init(), 0);
    errno = 77;
    look(none);
    EXPECT_EQ(errno, 77);
    EXPECT_EQ(calls_b, 1);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    EXPECT(!sigismember(&now, SIGSEGV) && !sigismember(&now, SIGUSR1));
    mprotect(none, 4096, PROT_NONE);
    look(none); // SA_RESETHAND: the default action from now on
}

static volatile int passed_on;

// Installed after ours; passes on all faults, by a call.
static void passing_handler(int sig, siginfo_t *info, void *context)
{
    calls_b++;
    EXPECT(calls_b < 1000);
    if (before_a.sa_flags & SA_SIGINFO)
        before_a.sa_sigaction(sig, info, context);
    else
        EXPECT(!"reached");
    passed_on++; // so that the call is no jump
}

// The same by a jump, if compilers make one.
static void jumping_handler(int sig, siginfo_t *info, void *context)
{
    calls_b++;
    before_a.sa_sigaction(sig, info, context);
}

static void passed_on_by(void (*handler)(int, siginfo_t *, void *))
{
    install(handler_a, 0, NULL);
    EXPECT_EQ(dm_guard_init(), 0);
    install(handler, SA_NODEFER, &before_a);
    guard_works(); // also through the program's handler
    EXPECT_EQ(calls_b, 2);
    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(jump, 1) == 0)
            look(none);
        EXPECT_EQ(calls_a, i + 1);
        guard_works();
    }
    // Back on top: ours, then passing_handler, which calls ours, which should continue to handler_a
    // instead of looping.
    EXPECT_EQ(dm_guard_reassert(), 0);
    EXPECT_EQ(dm_guard_reassert(), 0);
    int b = calls_b;
    guard_works();
    EXPECT_EQ(calls_b, b);
    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(jump, 1) == 0)
            look(none);
        EXPECT_EQ(calls_a, 21 + i);
        EXPECT_EQ(calls_b, b + 1 + i);
        guard_works();
    }
}

static void passing_handler_after(void)
{
    passed_on_by(passing_handler);
}

static void jumping_handler_after(void)
{
    passed_on_by(jumping_handler);
}

// A handler that passes faults on, and blocks signals meanwhile, in front of ours.
static void blocking_handler_after(void)
{
    struct sigaction action = {.sa_sigaction = passing_handler, .sa_flags = SA_SIGINFO};
    sigset_t now;
    EXPECT_EQ(dm_guard_init(), 0);
    sigaddset(&action.sa_mask, SIGUSR1);
    EXPECT(!sigaction(SIGSEGV, &action, &before_a));
    for (int i = 0; i < 20; i++)
        guard_works();
    EXPECT(calls_b >= 20);
    sigprocmask(SIG_SETMASK, NULL, &now);
    EXPECT(!sigismember(&now, SIGSEGV) && !sigismember(&now, SIGUSR1));
}

// Other people's memory: the guard also works with a thread's signal mask, and below a handler that
// the program has installed.
static void foreign(void)
{
    sigset_t all, after;
    struct dm_fault f;
    EXPECT_EQ(dm_guard_init(), 0);
    install(handler_a, 0, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(dm_guarded_foreign(look, none + 5, &f), -EFAULT);
        EXPECT_EQ(f.kind, DM_FAULT_PROTECTED);
        EXPECT_EQ(dm_guarded_foreign(look, readable, NULL), 0);
    }
    EXPECT_EQ(calls_a, 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    EXPECT(sigismember(&after, SIGSEGV) && sigismember(&after, SIGBUS) &&
           sigismember(&after, SIGUSR1));
}

static void selfish_handler_after(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    install(handler_a, 0, NULL);
    if (sigsetjmp(jump, 1) == 0)
        look(none);
    EXPECT_EQ(calls_a, 1);
    EXPECT_EQ(dm_guard_reassert(), 0);
    guard_works();
    EXPECT_EQ(calls_a, 1);
    if (sigsetjmp(jump, 1) == 0)
        look(none);
    EXPECT_EQ(calls_a, 2);
    // Program and guard install handlers in turns, many times.
    for (int i = 0; i < 40; i++) {
        install(i % 2 ? handler_a : fix_page, 0, NULL);
        EXPECT_EQ(dm_guard_reassert(), 0);
    }
    guard_works();
    if (sigsetjmp(jump, 1) == 0)
        look(none);
    EXPECT_EQ(calls_a, 3);
    EXPECT_EQ(calls_b, 0);
}

static void ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    EXPECT_EQ(dm_guard_init(), 0);
    raise(SIGSEGV);
    guard_works();
}

static void ignored_access(void)
{
    signal(SIGSEGV, SIG_IGN);
    EXPECT_EQ(dm_guard_init(), 0);
    look(none);
}

static void old_style(int sig)
{
    calls_a++;
    siglongjmp(jump, 1);
}

static void old_style_handler(void)
{
    signal(SIGSEGV, old_style);
    EXPECT_EQ(dm_guard_init(), 0);
    if (sigsetjmp(jump, 1) == 0)
        look(none);
    EXPECT_EQ(calls_a, 1);
}

static void *fault_in_thread(void *arg)
{
    look(none);
    return NULL;
}

static void wait_for_thread(void *arg)
{
    pthread_t t;
    EXPECT_EQ(pthread_create(&t, NULL, fault_in_thread, NULL), 0);
    pthread_join(t, NULL);
}

// A fault of another thread is not a fault of the guarded call.
static void other_thread(void)
{
    EXPECT_EQ(dm_guard_init(), 0);
    dm_guarded(wait_for_thread, NULL, NULL);
}

static void *guard_in_thread(void *arg)
{
    for (int i = 0; i < 2000; i++)
        guard_works();
    return NULL;
}

static void many_threads(void)
{
    pthread_t t[4];
    EXPECT_EQ(dm_guard_init(), 0);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(pthread_create(&t[i], NULL, guard_in_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static volatile sig_atomic_t described;

static void describe(const struct dm_fault *f)
{
    described +=
        f->address == (uintptr_t)none && f->kind == DM_FAULT_PROTECTED && !f->write ? 1 : 100;
}

static void describes(void)
{
    install(handler_a, 0, NULL);
    EXPECT_EQ(dm_guard_init(), 0);
    dm_fault_describe(describe);
    guard_works();
    EXPECT_EQ(described, 0);
    if (sigsetjmp(jump, 1) == 0)
        look(none);
    EXPECT_EQ(described, 1);
    EXPECT_EQ(calls_a, 1);
}

// signal 0: the process should exit with success. A sanitizer's own handler replaces the default
// action and exits with its code.
static void run(const char *name, void (*body)(void), int signal)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        body();
        _exit(signal ? 99 : 0);
    }
    int status;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    bool ok = signal == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                          : WIFSIGNALED(status) && WTERMSIG(status) == signal;
#if SANITIZED
    ok |= signal != 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 99);
#endif
    if (!ok) {
        fprintf(stderr, "%s: status %#x, expected %s %d\n", name, status,
                signal ? "signal" : "exit", signal);
        exit(1);
    }
}

int main(void)
{
    make_pages();
#define RUN(body, signal) run(#body, body, signal)
    RUN(plain, 0);
    RUN(on_alternate_stack, 0);
    RUN(default_on_access, SIGSEGV);
    RUN(default_on_kill, SIGSEGV);
    RUN(default_on_kill_inside, SIGSEGV);
    RUN(program_handler_before, 0);
    RUN(program_handler_returns, SIGSEGV);
    // ThreadSanitizer's sigaction reports the handler that was last set through the C library, not
    // ours. So a program cannot pass a fault on to us, and only dm_guard_reassert helps.
    if (!THREAD_SANITIZER) {
        RUN(passing_handler_after, 0);
        RUN(jumping_handler_after, 0);
        RUN(blocking_handler_after, 0);
    }
    RUN(foreign, 0);
    RUN(selfish_handler_after, 0);
    RUN(ignored, 0);
    RUN(ignored_access, SIGSEGV);
    RUN(old_style_handler, 0);
    RUN(other_thread, SIGSEGV);
    RUN(many_threads, 0);
    RUN(describes, 0);
    return 0;
}
