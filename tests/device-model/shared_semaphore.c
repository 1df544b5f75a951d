// SPDX-License-Identifier: MIT
// Semaphores in shared memory: their values, waits with and without time limits, two processes, and
// files that only pretend to be semaphores.
#include "shared_semaphore.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "expect.h"
#include "import.h"
#include "spin.h"

enum { SHORT_NS = 20000000, ROUNDS = 10000 };

static void values(void)
{
    static const uint64_t steps[] = {1, 5, 3, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    struct dm_semaphore s, other;
    int fd;
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 7, &s, &fd), 0);
    EXPECT_EQ(dm_semaphore_open(fd, &other), 0);
    EXPECT(s.identity == other.identity && other.kind == DM_SEMAPHORE_TIMELINE);
    uint64_t before = 7;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        EXPECT_EQ(dm_semaphore_signal(i % 2 ? &s : &other, steps[i]), before);
        before = steps[i];
        EXPECT_EQ(dm_semaphore_value(&s), steps[i]);
        EXPECT_EQ(dm_semaphore_value(&other), steps[i]);
        EXPECT(dm_semaphore_reached(&s, steps[i]) && dm_semaphore_acquire(&s, steps[i] - 1));
        EXPECT(steps[i] == UINT64_MAX || !dm_semaphore_reached(&other, steps[i] + 1));
    }
    EXPECT_EQ(dm_semaphore_wait(&s, UINT64_MAX, 0), 0);
    dm_semaphore_close(&s);
    EXPECT_EQ(dm_semaphore_value(&other), UINT64_MAX); // lives while it is mapped or open
    dm_semaphore_close(&other);
    close(fd);
}

static void binary(void)
{
    struct dm_semaphore s;
    int fd;
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_BINARY, 9, &s, &fd), 0);
    EXPECT(dm_semaphore_reached(&s, 100) && dm_semaphore_acquire(&s, 100));
    EXPECT(!dm_semaphore_acquire(&s, 0)); // one wait for each signal
    EXPECT_EQ(dm_semaphore_signal(&s, 0), 0);
    EXPECT_EQ(dm_semaphore_signal(&s, 0), 1); // already signalled: counts once
    EXPECT_EQ(dm_semaphore_wait(&s, 0, 0), 0);
    EXPECT(dm_semaphore_acquire(&s, 0) && !dm_semaphore_acquire(&s, 0));
    uint64_t mark = 0;
    EXPECT_EQ(dm_semaphore_signal_mark(&s, 0, UINT64_MAX), 0);
    EXPECT_EQ(dm_semaphore_value(&s), 1); // a mark is not a value
    EXPECT_EQ(dm_semaphore_signal_mark(&s, 0, 7), 1);
    EXPECT(dm_semaphore_acquire_mark(&s, 0, &mark));
    EXPECT_EQ(mark, 7);
    EXPECT(!dm_semaphore_acquire_mark(&s, 0, &mark));
    EXPECT_EQ(mark, 7);
    dm_semaphore_signal(&s, 0);
    dm_semaphore_reset(&s);
    EXPECT(!dm_semaphore_reached(&s, 0));
    dm_semaphore_close(&s);
    close(fd);
}

static void *signal_later(void *semaphore)
{
    usleep(20000);
    dm_semaphore_signal(semaphore, 3);
    return NULL;
}

static void time_limits(void)
{
    struct dm_semaphore s;
    pthread_t thread;
    int fd;
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &s, &fd), 0);
    uint64_t until = dm_now_ns() + SHORT_NS;
    EXPECT_EQ(dm_semaphore_wait(&s, 1, until), -ETIMEDOUT);
    EXPECT(dm_now_ns() >= until);
    EXPECT_EQ(dm_semaphore_wait(&s, 1, 1), -ETIMEDOUT); // long ago
    EXPECT_EQ(dm_semaphore_wait(&s, 0, 1), 0);          // reached, whatever the time
    EXPECT_EQ(pthread_create(&thread, NULL, signal_later, &s), 0);
    EXPECT_EQ(dm_semaphore_wait(&s, 3, 0), 0);
    pthread_join(thread, NULL);
    EXPECT_EQ(s.shared->word.waiters, 0);
    dm_semaphore_close(&s);
    close(fd);
}

// A thread whose waits are long stops spinning.
static void vain_spins(void)
{
    struct dm_semaphore s;
    int fd;
    bool may_spin = dm_spin_begin();
    if (may_spin)
        dm_spin_end();
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &s, &fd), 0);
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(dm_semaphore_wait(&s, 1, dm_now_ns() + 4 * DM_SPIN_NS), -ETIMEDOUT);
    EXPECT_EQ(dm_spin_of_history(s.spins).vain, may_spin ? 3 : 0);
    dm_semaphore_close(&s);
    close(fd);
}

// Opens the semaphore as another process would: by its descriptor alone.
static void other_process(int there, int back)
{
    struct dm_semaphore a, b;
    EXPECT_EQ(dm_semaphore_open(there, &a), 0);
    EXPECT_EQ(dm_semaphore_open(back, &b), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        EXPECT_EQ(dm_semaphore_wait(&a, i, 0), 0);
        dm_semaphore_signal(&b, i);
    }
    _exit(0);
}

static void ping_pong(void)
{
    struct dm_semaphore a, b;
    int there, back, status;
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &a, &there), 0);
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &b, &back), 0);
    pid_t child = fork();
    if (!child)
        other_process(there, back);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        dm_semaphore_signal(&a, i);
        EXPECT_EQ(dm_semaphore_wait(&b, i, dm_now_ns() + UINT64_C(60) * DM_NS_PER_S), 0);
    }
    EXPECT(waitpid(child, &status, 0) == child && !status);
    dm_semaphore_close(&a);
    dm_semaphore_close(&b);
    close(there);
    close(back);
}

// A process is killed while it sleeps in a wait: signals and waits of others still work.
static void killed_sleeper(void)
{
    struct dm_semaphore s;
    int fd, status;
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_BINARY, 0, &s, &fd), 0);
    pid_t child = fork();
    if (!child) {
        dm_semaphore_wait(&s, 0, 0);
        _exit(1);
    }
    while (!__atomic_load_n(&s.shared->word.waiters, __ATOMIC_SEQ_CST))
        usleep(1000);
    kill(child, SIGKILL);
    EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    EXPECT_EQ(s.shared->word.waiters, 1); // it has left its mark
    EXPECT_EQ(dm_semaphore_wait(&s, 0, dm_now_ns() + SHORT_NS), -ETIMEDOUT);
    dm_semaphore_signal(&s, 0);
    EXPECT_EQ(dm_semaphore_wait(&s, 0, 0), 0);
    dm_semaphore_close(&s);
    close(fd);
}

static void expect_refused(int fd, int error)
{
    struct dm_semaphore s;
    EXPECT_EQ(dm_semaphore_open(fd, &s), error);
    close(fd);
}

// A memfd with these bytes and seals, of `size` bytes.
static int forged(const void *bytes, size_t count, off_t size, int seals)
{
    int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(pwrite(fd, bytes, count, 0), (ssize_t)count);
    EXPECT_EQ(ftruncate(fd, size), 0);
    EXPECT_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void hostile(void)
{
    enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW, PAGE = 4096 };
    struct dm_semaphore s;
    struct dm_import_info info;
    struct dm_semaphore_shared good;
    char path[64];
    int fd, fds[2];
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &s, &fd), 0);
    good = *s.shared;
    EXPECT(ftruncate(fd, 0) && ftruncate(fd, 8192)); // sealed
    EXPECT_EQ(dm_import_recognise(fd, &info), -ENOTSUP);
    EXPECT_EQ(info.kind, DM_FD_SEMAPHORE);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    expect_refused(open(path, O_RDONLY), -EBADMSG);
    expect_refused(open(path, O_WRONLY), -ENOTSUP); // cannot even be recognised

    expect_refused(-1, -EBADF);
    expect_refused(INT32_MAX, -EBADF);
    expect_refused(eventfd(0, 0), -ENOTSUP);
    EXPECT_EQ(pipe(fds), 0);
    close(fds[1]);
    expect_refused(fds[0], -ENOTSUP);
    expect_refused(open("/", O_RDONLY | O_DIRECTORY), -ENOTSUP);
    expect_refused(open("/dev/zero", O_RDWR), -ENOTSUP);
    expect_refused(memfd_create("empty", MFD_ALLOW_SEALING), -ENOTSUP);
    expect_refused(forged(&good, sizeof good, PAGE, SEALS | F_SEAL_WRITE), -EBADMSG);
    expect_refused(forged(&good, sizeof good, PAGE, 0), -EBADMSG); // can be truncated
    expect_refused(forged(&good, sizeof good, PAGE - 1, SEALS), -EBADMSG);
    expect_refused(forged(&good, 4, PAGE, SEALS), -ENOTSUP);
    struct dm_semaphore_shared bad = good;
    bad.version++;
    expect_refused(forged(&bad, sizeof bad, PAGE, SEALS), -EBADMSG);
    bad = good;
    bad.kind = 3;
    expect_refused(forged(&bad, sizeof bad, PAGE, SEALS), -EBADMSG);
    fd = forged(&good, sizeof good, PAGE, SEALS);
    struct dm_semaphore copy;
    EXPECT_EQ(dm_semaphore_open(fd, &copy), 0);
    copy.shared->kind = DM_SEMAPHORE_BINARY; // a hostile writer changes the header later
    EXPECT_EQ(dm_semaphore_signal(&copy, 5), 0);
    EXPECT_EQ(dm_semaphore_value(&copy), 5);
    dm_semaphore_close(&copy);
    dm_semaphore_close(&s);
}

static void failures(void)
{
    struct dm_semaphore s;
    for (uint64_t n = 1;; n++) {
        int fd = -1, before = dup(0);
        close(before);
        dm_alloc_fail_after(n);
        int r = dm_semaphore_create(DM_SEMAPHORE_BINARY, 0, &s, &fd);
        bool failed = dm_alloc_failed();
        EXPECT_EQ(r < 0, failed);
        int after = dup(0);
        close(after);
        EXPECT(!failed || after == before); // no descriptor is left behind
        if (failed)
            continue;
        dm_semaphore_close(&s);
        dm_alloc_fail_after(1);
        EXPECT(dm_semaphore_open(fd, &s) < 0 && dm_alloc_failed());
        close(fd);
        return;
    }
}

int main(void)
{
    values();
    binary();
    time_limits();
    vain_spins();
    ping_pong();
    killed_sleeper();
    hostile();
    failures();
    return 0;
}
