// SPDX-License-Identifier: MIT
// Creates, opens, signals and awaits semaphores in shared memory.
#include "shared_semaphore.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "futex.h"
#include "hash.h"
#include "spin.h"

enum { VERSION = 2, FILE_B = 4096 };
_Static_assert(sizeof(struct dm_semaphore_shared) <= FILE_B, "a semaphore has one page");
_Static_assert(offsetof(struct dm_semaphore_shared, value) == 64, "the picture in the header");

const char dm_semaphore_magic[8] = "CLSEMA\0";

static uint64_t check_of(const struct dm_semaphore_shared *s)
{
    return dm_hash(DM_HASH_START, s, offsetof(struct dm_semaphore_shared, check));
}

static int map_file(int fd, struct dm_semaphore_shared **out)
{
    uint64_t address;
    int r = dm_sys_mmap(0, FILE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, &address);
    if (!r)
        *out = (struct dm_semaphore_shared *)(uintptr_t)address;
    return r;
}

int dm_semaphore_create(enum dm_semaphore_kind kind, uint64_t value, struct dm_semaphore *out,
                        int *out_fd)
{
    int fd, r = dm_sys_memfd_create("cardless-semaphore", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (r)
        return r;
    struct dm_semaphore_shared *s;
    r = dm_sys_ftruncate(fd, FILE_B);
    if (!r && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        r = -errno;
    if (!r)
        r = map_file(fd, &s);
    if (r) {
        close(fd);
        return r;
    }
    memcpy(s->magic, dm_semaphore_magic, sizeof s->magic);
    s->version = VERSION;
    s->kind = kind;
    if (getrandom(&s->identity, sizeof s->identity, 0) != sizeof s->identity)
        s->identity = (uint64_t)getpid() << 32 | (uint32_t)fd;
    s->check = check_of(s);
    s->value = kind == DM_SEMAPHORE_BINARY ? value != 0 : value;
    *out = (struct dm_semaphore){.shared = s, .kind = kind, .identity = s->identity};
    *out_fd = fd;
    return 0;
}

static int check_file(int fd)
{
    struct stat st;
    char magic[sizeof dm_semaphore_magic];
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st))
        return -EBADF;
    int seals = S_ISREG(st.st_mode) && !(flags & O_PATH) ? fcntl(fd, F_GET_SEALS) : -1;
    if (seals < 0 || (flags & O_ACCMODE) == O_WRONLY ||
        pread(fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, dm_semaphore_magic, sizeof magic))
        return -ENOTSUP;
    // Without the seal, another process could truncate the file, and accesses would fault.
    return seals & F_SEAL_SHRINK && (flags & O_ACCMODE) == O_RDWR && st.st_size >= FILE_B
               ? 0
               : -EBADMSG;
}

int dm_semaphore_open(int fd, struct dm_semaphore *out)
{
    struct dm_semaphore_shared *s, head;
    int r = check_file(fd);
    if (!r)
        r = map_file(fd, &s);
    if (r)
        return r == -EPERM || r == -EACCES ? -EBADMSG : r; // sealed against writing
    // The copy that is checked is the one that is used.
    memcpy(&head, s, offsetof(struct dm_semaphore_shared, value));
    if (head.version != VERSION || head.check != check_of(&head) ||
        (head.kind != DM_SEMAPHORE_BINARY && head.kind != DM_SEMAPHORE_TIMELINE)) {
        dm_sys_munmap((uint64_t)(uintptr_t)s, FILE_B);
        return -EBADMSG;
    }
    *out = (struct dm_semaphore){.shared = s, .kind = head.kind, .identity = head.identity};
    return 0;
}

void dm_semaphore_close(struct dm_semaphore *semaphore)
{
    if (semaphore->shared)
        dm_sys_munmap((uint64_t)(uintptr_t)semaphore->shared, FILE_B);
    semaphore->shared = NULL;
}

uint64_t dm_semaphore_value(const struct dm_semaphore *semaphore)
{
    uint64_t now = __atomic_load_n(&semaphore->shared->value, __ATOMIC_SEQ_CST);
    return semaphore->kind == DM_SEMAPHORE_BINARY ? now != 0 : now;
}

bool dm_semaphore_reached(const struct dm_semaphore *semaphore, uint64_t value)
{
    uint64_t now = dm_semaphore_value(semaphore);
    return semaphore->kind == DM_SEMAPHORE_BINARY ? now != 0 : now >= value;
}

bool dm_semaphore_acquire_mark(struct dm_semaphore *semaphore, uint64_t value, uint64_t *mark)
{
    if (semaphore->kind == DM_SEMAPHORE_TIMELINE)
        return dm_semaphore_reached(semaphore, value);
    uint64_t before = __atomic_exchange_n(&semaphore->shared->value, 0, __ATOMIC_SEQ_CST);
    if (before)
        *mark = before;
    return before != 0;
}

bool dm_semaphore_acquire(struct dm_semaphore *semaphore, uint64_t value)
{
    uint64_t mark;
    return dm_semaphore_acquire_mark(semaphore, value, &mark);
}

uint64_t dm_semaphore_signal_mark(struct dm_semaphore *semaphore, uint64_t value, uint64_t mark)
{
    struct dm_semaphore_shared *s = semaphore->shared;
    const bool binary = semaphore->kind == DM_SEMAPHORE_BINARY;
    assert(!binary || mark);
    uint64_t before = __atomic_exchange_n(&s->value, binary ? mark : value, __ATOMIC_SEQ_CST);
    dm_word_changed(&s->word);
    return binary ? before != 0 : before;
}

uint64_t dm_semaphore_signal(struct dm_semaphore *semaphore, uint64_t value)
{
    return dm_semaphore_signal_mark(semaphore, value, 1);
}

void dm_semaphore_reset(struct dm_semaphore *semaphore)
{
    __atomic_store_n(&semaphore->shared->value, 0, __ATOMIC_SEQ_CST);
}

static bool is_set(const bool *stop)
{
    return stop && __atomic_load_n(stop, __ATOMIC_SEQ_CST);
}

static void spin(const struct dm_semaphore *semaphore, uint64_t value, const bool *stop,
                 uint64_t begin, uint64_t until)
{
    uint64_t now = begin;
    while (now < until && !dm_semaphore_reached(semaphore, value) && !is_set(stop)) {
        dm_spin_pause();
        now = dm_now_ns();
    }
}

static int sleep_until_reached(struct dm_semaphore *semaphore, uint64_t value, uint64_t deadline_ns,
                               const bool *stop)
{
    struct dm_semaphore_shared *s = semaphore->shared;
    int r = 0;
    __atomic_fetch_add(&s->word.waiters, 1, __ATOMIC_SEQ_CST);
    while (!r) {
        uint32_t seen = __atomic_load_n(&s->word.changed, __ATOMIC_SEQ_CST);
        if (dm_semaphore_reached(semaphore, value))
            break;
        if (is_set(stop))
            r = -ECANCELED;
        else
            r = dm_word_sleep(&s->word.changed, seen, deadline_ns);
    }
    __atomic_fetch_sub(&s->word.waiters, 1, __ATOMIC_SEQ_CST);
    return r;
}

int dm_semaphore_wait_unless(struct dm_semaphore *semaphore, uint64_t value, uint64_t deadline_ns,
                             const bool *stop)
{
    if (dm_semaphore_reached(semaphore, value))
        return 0;
    struct dm_spin history =
        dm_spin_of_history(__atomic_load_n(&semaphore->spins, __ATOMIC_RELAXED));
    uint64_t begin = dm_now_ns(), until = begin + dm_spin_budget(&history, begin);
    if (deadline_ns && deadline_ns < until)
        until = deadline_ns;
    if (begin < until && dm_spin_begin()) {
        spin(semaphore, value, stop, begin, until);
        dm_spin_end();
        dm_spin_spent(&history, dm_now_ns() - begin);
    }
    int r = sleep_until_reached(semaphore, value, deadline_ns, stop);
    dm_spin_wait_over(&history, dm_now_ns());
    __atomic_store_n(&semaphore->spins, dm_spin_history(&history), __ATOMIC_RELAXED);
    return r;
}

int dm_semaphore_wait(struct dm_semaphore *semaphore, uint64_t value, uint64_t deadline_ns)
{
    return dm_semaphore_wait_unless(semaphore, value, deadline_ns, NULL);
}

void dm_semaphore_wake(struct dm_semaphore *semaphore)
{
    dm_word_changed(&semaphore->shared->word);
}
