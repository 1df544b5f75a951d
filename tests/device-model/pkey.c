// SPDX-License-Identifier: MIT
// Protection keys: device pages are closed to host code on every thread and in signal handlers, and
// open inside a section, also after a fault in it.
#include "pkey.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "guard.h"
#include "space.h"

enum { GRANULE = 2 << 20 };
static struct dm_space space;
static struct dm_vram vram;
static uint8_t *device, *managed; // a page with the key, and its alias for the host
static bool keys;

static void look(void *p)
{
    (void)*(volatile uint8_t *)p;
}

// Returns true if host code cannot access the page at the moment.
static bool closed(void)
{
    struct dm_fault f;
    int r = dm_guarded(look, device, &f);
    if (r)
        EXPECT_EQ(f.kind, DM_FAULT_PKEY);
    return r != 0;
}

static sem_t go, done;

static void *older_thread(void *arg)
{
    sem_wait(&go);
    EXPECT_EQ(closed(), keys);
    uint32_t rights = dm_pkey_enter();
    EXPECT(!closed());
    dm_pkey_leave(rights);
    EXPECT_EQ(closed(), keys);
    sem_post(&done);
    return NULL;
}

static void *new_thread(void *arg)
{
    EXPECT_EQ(closed(), keys);
    return NULL;
}

static volatile sig_atomic_t in_handler;

static void handler(int sig)
{
    in_handler = 1 + (closed() == keys);
    // A handler may use the library itself.
    uint32_t rights = dm_pkey_enter();
    EXPECT(!closed());
    dm_pkey_leave(rights);
}

static void fault_inside(void *arg)
{
    uint32_t rights = dm_pkey_enter(); // not left: the fault leaves the section
    (void)rights;
    look(NULL);
}

static void sections(void)
{
    EXPECT_EQ(closed(), keys);
    EXPECT_EQ(dm_guarded(look, managed, NULL), 0);
    uint32_t outer = dm_pkey_enter();
    EXPECT(!closed());
    uint32_t inner = dm_pkey_enter();
    EXPECT(!closed());
    uint32_t call = dm_pkey_shut(); // a callback into the program
    EXPECT_EQ(closed(), keys);
    dm_pkey_leave(call);
    EXPECT(!closed());
    dm_pkey_leave(inner);
    EXPECT(!closed());
    // A fault does not take the rights away …
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(dm_guarded(look, NULL, NULL), -EFAULT);
        EXPECT(!closed());
    }
    *device = 5;
    EXPECT_EQ(*managed, 5);
    // … nor does a signal handler, which itself runs without them. (ThreadSanitizer blocks SIGSEGV
    // in handlers, so the kernel would end the process at a fault there.)
    if (!THREAD_SANITIZER) {
        signal(SIGUSR1, handler);
        raise(SIGUSR1);
        EXPECT_EQ(in_handler, 2);
    }
    EXPECT(!closed());
    dm_pkey_leave(outer);
    EXPECT_EQ(closed(), keys);
    // A section that was left by a fault is closed again.
    EXPECT_EQ(dm_guarded(fault_inside, NULL, NULL), -EFAULT);
    EXPECT_EQ(closed(), keys);
}

// The kernel accesses memory with the caller's rights.
static void system_calls(void)
{
    int pipe_fds[2];
    EXPECT_EQ(pipe(pipe_fds), 0);
    ssize_t n = write(pipe_fds[1], device, 1);
    EXPECT_EQ(n, keys ? -1 : 1);
    uint32_t rights = dm_pkey_enter();
    EXPECT_EQ(write(pipe_fds[1], device, 1), 1);
    EXPECT_EQ(read(pipe_fds[0], device + 1, 1), 1);
    dm_pkey_leave(rights);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void describe(const struct dm_fault *f)
{
    char text[100];
    if (dm_space_contains(&space, f->address)) {
        dm_fault_text(f, text, sizeof text);
        if (f->kind == DM_FAULT_PKEY &&
            write(2, "host code: ", 11) + write(2, text, strlen(text)) > 0)
            (void)!write(2, "\n", 1);
    }
}

// Host code that dereferences a device pointer dies as it does with a card, and gets the reason.
static void undefended(void)
{
    int pipe_fds[2], status;
    EXPECT_EQ(pipe(pipe_fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipe_fds[1], 2);
        dm_fault_describe(describe);
        *(volatile uint8_t *)(device + 0x123) = 1;
        _exit(0);
    }
    close(pipe_fds[1]);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    char got[200] = "", want[100];
    EXPECT(read(pipe_fds[0], got, sizeof got - 1) >= 0);
    snprintf(want, sizeof want, "host code: write to device address %#lx\n",
             (unsigned long)(uintptr_t)device + 0x123);
    if (keys) {
        EXPECT(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
        EXPECT_EQ(strncmp(got, want, strlen(want)), 0);
    } else {
        EXPECT_EQ(status, 0);
        EXPECT_EQ(strcmp(got, ""), 0);
    }
    close(pipe_fds[0]);
}

int main(void)
{
    struct dm_physical *p;
    uint64_t a, b;
    pthread_t t;
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    EXPECT_EQ(pthread_create(&t, NULL, older_thread, NULL), 0);

    keys = dm_pkey_init();
    EXPECT_EQ(dm_pkey_init(), keys);
    EXPECT_EQ(dm_pkey() > 0, keys);
    printf("protection keys: %s\n", keys ? "yes" : "no");
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(1) << 33, GRANULE), 0);
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, 0, &p), 0);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, GRANULE, 0, &a), 0);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, GRANULE, 0, &b), 0);
    EXPECT_EQ(dm_space_map(&space, a, p, 0, GRANULE, DM_MAP_READ | DM_MAP_WRITE), 0);
    EXPECT_EQ(dm_space_map(&space, b, p, 0, GRANULE, DM_MAP_READ | DM_MAP_WRITE | DM_MAP_HOST), 0);
    device = (uint8_t *)(uintptr_t)a;
    managed = (uint8_t *)(uintptr_t)b;

    sections();
    sem_post(&go);
    sem_wait(&done);
    pthread_join(t, NULL);
    EXPECT_EQ(pthread_create(&t, NULL, new_thread, NULL), 0);
    pthread_join(t, NULL);
    system_calls();
    undefended();

    // The key follows the access flags.
    EXPECT_EQ(dm_space_protect(&space, a, GRANULE, DM_MAP_READ | DM_MAP_WRITE | DM_MAP_HOST), 0);
    EXPECT(!closed());
    EXPECT_EQ(dm_space_protect(&space, a, GRANULE, DM_MAP_READ), 0);
    EXPECT_EQ(closed(), keys);
    dm_physical_unref(p);
    dm_space_finish(&space);
    dm_vram_finish(&vram);
    dm_pkey_finish();
    return 0;
}
