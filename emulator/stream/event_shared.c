// SPDX-License-Identifier: MIT
// Event slots in shared memory. A slot counts the records that all processes make of its event, and
// stores for the last few of them whether they are complete. A record of a process that has ended
// counts as complete, so that nobody waits for it forever.
//
//   memfd of the process that created the events        one slot
//   ┌───────┬────┬────────┬────────┬───                 ┌────────────┬──────┬──────┐
//   │ magic │ id │ slot 0 │ slot 1 │ …                  │ generation │ last │ word │
//   └───────┴────┴────────┴────────┴───                 ├────────────┴──────┴──────┴───────────┐
//                                                       │ RECORDS × number, completed, process │
//   `word` (futex.h) changes when a record              └──────────────────────────────────────┘
//   completes, which wakes those who sleep on it.
#include "event_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "futex.h"
#include "import.h"
#include "lock.h"
#include "outside.h"
#include "process_end.h"

#define POOL_MAGIC UINT64_C(0x33544e5645494443) // "CDIEVNT3"
enum { RECORDS = 32, POOL_SLOTS = 1024 };

// In shared memory: any process may have written anything into it. Aligned words, accessed
// atomically.
struct shared_record {
    uint64_t number;    // of the record that was begun here last
    uint64_t completed; // the same once it is complete
    uint64_t process;   // that began it
};
struct shared_slot {
    uint64_t generation; // of the event that uses it
    uint64_t last;       // number of the last record
    struct dm_word word; // changes when a record completes
    struct shared_record records[RECORDS];
};
struct shared_pool {
    uint64_t magic, id;
    struct shared_slot slots[POOL_SLOTS];
};

// A pool that this process created. Its memory and file stay until the process ends, because
// handles in other processes outlive the event.
struct pool {
    struct pool *next;
    struct shared_pool *shared;
    struct dm_fd_identity file;
    uint32_t used;
    uint32_t free[POOL_SLOTS]; // a ring, so that a slot is reused as late as possible
    uint32_t free_first, free_count;
};
static struct pool *pools; // guarded by em_lock

struct em_event_slot {
    struct shared_slot *shared;
    struct pool *pool;          // of this process, or NULL
    struct shared_pool *mapped; // if `pool` is NULL: the mapping of another process's pool
    uint32_t index;
    uint64_t generation;
    struct em_source source; // the word `changed`, for those who wait in this process
};

// The contents of a CUipcEventHandle.
struct handle {
    uint64_t magic, id;
    int32_t process, fd;
    uint32_t slot, zero;
    uint64_t generation;
};
_Static_assert(sizeof(struct handle) <= sizeof(CUipcEventHandle), "an event handle has 64 bytes");

static uint64_t load(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

// ---- slots of this process ----

static CUresult new_pool(void)
{
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    int fd = -1;
    uint64_t address;
    struct pool *p = dm_calloc(1, sizeof *p);
    if (!p)
        return em_fail(r, "out of host memory for events shared between processes");
    int error = dm_sys_memfd_create("cardless-events", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (error)
        goto no_file;
    error = dm_sys_ftruncate(fd, sizeof(struct shared_pool));
    if (!error && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        error = -errno;
    if (!error)
        error = dm_sys_mmap(0, sizeof(struct shared_pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                            0, &address);
    if (error)
        goto no_mapping;
    error = dm_fd_remember(fd, &p->file);
    if (error)
        goto no_identity;
    p->shared = (struct shared_pool *)(uintptr_t)address;
    if (getrandom(&p->shared->id, sizeof p->shared->id, 0) != sizeof p->shared->id)
        p->shared->id = (uint64_t)getpid() << 32 | (uint32_t)fd;
    store(&p->shared->magic, POOL_MAGIC);
    p->next = pools;
    pools = p;
    return CUDA_SUCCESS;

no_identity:
    dm_sys_munmap(address, sizeof(struct shared_pool));
no_mapping:
    close(fd);
no_file:
    dm_free(p);
    return em_fail(r, "cannot create shared memory for events between processes: %s",
                   strerror(-error));
}

static struct pool *pool_with_free_slot(void)
{
    struct pool *p = pools;
    // If the program has closed the file, other processes cannot find new events there.
    while (p && ((p->used == POOL_SLOTS && !p->free_count) || !dm_fd_still_ours(&p->file)))
        p = p->next;
    return p;
}

static void begin_source(struct em_event_slot *s)
{
    s->source = (struct em_source){.condition.source = &s->source, .word = &s->shared->word};
}

CUresult em_event_slot_create(struct em_event_slot **out)
{
    em_assert_locked();
    if (!pool_with_free_slot()) {
        CUresult r = new_pool();
        if (r)
            return r;
    }
    struct em_event_slot *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for an event shared between processes");
    struct pool *p = s->pool = pool_with_free_slot();
    if (p->used < POOL_SLOTS) {
        s->index = p->used++;
    } else {
        s->index = p->free[p->free_first];
        p->free_first = (p->free_first + 1) % POOL_SLOTS;
        p->free_count--;
    }
    s->shared = &p->shared->slots[s->index];
    s->generation = load(&s->shared->generation) + 1;
    memset(s->shared->records, 0, sizeof s->shared->records);
    store(&s->shared->last, 0);
    store(&s->shared->generation, s->generation);
    begin_source(s);
    dm_word_changed(s->source.word); // for who waits for the event before
    *out = s;
    return CUDA_SUCCESS;
}

void em_event_slot_close(struct em_event_slot *s)
{
    em_assert_locked();
    struct pool *p = s->pool;
    em_source_forget(&s->source);
    if (p)
        p->free[(p->free_first + p->free_count++) % POOL_SLOTS] = s->index;
    else
        dm_sys_munmap((uint64_t)(uintptr_t)s->mapped, sizeof(struct shared_pool));
    dm_free(s);
}

CUresult em_event_slot_export(const struct em_event_slot *s, CUipcEventHandle *out)
{
    if (!dm_fd_still_ours(&s->pool->file))
        return em_fail(
            CUDA_ERROR_MAP_FAILED,
            "the program has closed the driver's file descriptor %d, through which other "
            "processes find the event",
            s->pool->file.fd);
    struct handle h = {
        .magic = POOL_MAGIC,
        .id = s->pool->shared->id,
        .process = getpid(),
        .fd = s->pool->file.fd,
        .slot = s->index,
        .generation = s->generation,
    };
    memcpy(out, &h, sizeof h);
    return CUDA_SUCCESS;
}

// ---- slots of other processes ----

// Maps the pool in a file, provided that nobody can shrink it. Returns 0 or a negative errno.
static int map_pool(int fd, struct shared_pool **out)
{
    struct stat st;
    uint64_t address;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) ||
        st.st_size != (off_t)sizeof(struct shared_pool))
        return -EINVAL;
    int r = dm_sys_mmap(0, sizeof(struct shared_pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0,
                        &address);
    if (!r)
        *out = (struct shared_pool *)(uintptr_t)address;
    return r;
}

CUresult em_event_slot_open(const CUipcEventHandle *handle, struct em_event_slot **out)
{
    struct handle h;
    char path[64];
    struct shared_pool *shared;
    memcpy(&h, handle, sizeof h);
    if (h.magic != POOL_MAGIC || h.process <= 0 || h.fd < 0 || h.slot >= POOL_SLOTS)
        return em_fail(CUDA_ERROR_MAP_FAILED,
                       "the bytes are not an event handle made by cuIpcGetEventHandle");
    // The manual: the handle is for "a different process".
    if (h.process == getpid())
        return em_fail(
            CUDA_ERROR_INVALID_CONTEXT,
            "the event handle was made by this process; only other processes can open it");

    snprintf(path, sizeof path, "/proc/%d/fd/%d", h.process, h.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return em_fail(
            CUDA_ERROR_MAP_FAILED,
            "process %d, which made the event handle, has ended or cannot be accessed (%s: %s)",
            h.process, path, strerror(errno));
    int status = map_pool(fd, &shared);
    close(fd);
    if (status == -ENOMEM)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for an event of another process");
    if (status)
        return em_fail(CUDA_ERROR_MAP_FAILED,
                       "%s, which the event handle names, is not a file of events", path);
    CUresult r = CUDA_SUCCESS;
    struct em_event_slot *s = NULL;
    if (load(&shared->magic) != POOL_MAGIC || shared->id != h.id ||
        load(&shared->slots[h.slot].generation) != h.generation)
        r = em_fail(CUDA_ERROR_MAP_FAILED,
                    "the event of the handle has been destroyed in process %d", h.process);
    else
        s = dm_calloc(1, sizeof *s);
    if (!r && !s)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an event of another process");
    if (r) {
        dm_sys_munmap((uint64_t)(uintptr_t)shared, sizeof *shared);
        return r;
    }
    s->shared = &shared->slots[h.slot];
    s->mapped = shared;
    s->index = h.slot;
    s->generation = h.generation;
    begin_source(s);
    *out = s;
    return CUDA_SUCCESS;
}

// ---- records ----

uint64_t em_event_slot_begin(struct em_event_slot *s)
{
    uint64_t n = __atomic_add_fetch(&s->shared->last, 1, __ATOMIC_ACQ_REL);
    struct shared_record *r = &s->shared->records[n % RECORDS];
    store(&r->process, (uint64_t)getpid());
    store(&r->number, n);
    return n;
}

uint64_t em_event_slot_last(const struct em_event_slot *s)
{
    return load(&s->shared->last);
}

void em_event_slot_complete(struct em_event_slot *s, uint64_t record)
{
    struct shared_record *r = &s->shared->records[record % RECORDS];
    uint64_t before = load(&r->completed);
    while (before < record && !__atomic_compare_exchange_n(&r->completed, &before, record, false,
                                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    dm_word_changed(&s->shared->word);
}

bool em_event_slot_is_complete(const struct em_event_slot *s, uint64_t record)
{
    const struct shared_record *r = &s->shared->records[record % RECORDS];
    if (!record || load(&r->completed) >= record || load(&s->shared->generation) != s->generation)
        return true;
    if (load(&r->number) > record)
        return true; // so many records later that its place is used again
    pid_t process = (pid_t)load(&r->process);
    return load(&r->number) == record && process > 0 && em_process_has_ended(process);
}

struct em_condition *em_event_slot_watch(struct em_event_slot *s, uint64_t record)
{
    em_assert_locked();
    pid_t process = (pid_t)load(&s->shared->records[record % RECORDS].process);
    if (process > 0)
        em_process_watch(process);
    return &s->source.condition;
}
