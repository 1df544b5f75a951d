// SPDX-License-Identifier: MIT
// The file of a recorded run: its header, and the windows of threads.
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "clock.h"
#include "config.h"
#include "import.h"
#include "record_content.h"
#include "record_file.h"
#include "stop.h"

bool em_recording;
uint32_t *em_record_generation;

enum state { OFF, STARTING, ON, FAILED };
static struct {
    uint32_t state; // enum state; atomic
    uint32_t forks;
    struct dm_fd_identity file;
    struct rf_header *header;
    uint32_t blocks;  // atomic
    uint32_t threads; // atomic
    uint32_t parent;
    pthread_key_t key;
} recorder = {.file.fd = -1};

// ---- the file ----

void em_record_stop(int error)
{
    if (recorder.header && !recorder.header->failed) {
        recorder.header->failed = (uint32_t)error;
        fprintf(stderr,
                "cardless: CARDLESS_RECORD: the file cannot grow, and misses what follows: "
                "%s\n",
                error == EBADF ? "the program has closed its descriptor" : strerror(error));
    }
    em_recording_contents = false;
    __atomic_store_n(&em_recording, false, __ATOMIC_RELAXED);
    __atomic_store_n(&recorder.state, FAILED, __ATOMIC_RELEASE);
}

// Returns 0 if bytes up to `end` may be written, or an errno. A program may close all descriptors,
// and open files of its own under their numbers. Beyond its limit, writing would raise SIGXFSZ.
static int check_file(uint64_t end)
{
    struct rlimit most;
    if (!dm_fd_still_ours(&recorder.file))
        return EBADF;
    return getrlimit(RLIMIT_FSIZE, &most) || end <= most.rlim_cur ? 0 : EFBIG;
}

// Space on the disk is allocated in larger parts ahead, which makes writing faster. It does not
// matter if that fails.
uint32_t em_record_take_blocks(uint32_t count)
{
    enum { AHEAD = 64 };
    const uint32_t block = __atomic_fetch_add(&recorder.blocks, count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&recorder.header->blocks, count, __ATOMIC_RELAXED);
    if (block >= AHEAD && block % AHEAD + count > AHEAD - 1 && !check_file(0))
        fallocate(recorder.file.fd, FALLOC_FL_KEEP_SIZE,
                  (off_t)em_record_block_offset(block + count), (off_t)RF_BLOCK_B * AHEAD);
    return block;
}

int em_record_write(const void *bytes, size_t size, uint64_t offset)
{
    const int error = check_file(offset + size);
    if (error)
        return error;
    while (size) {
        ssize_t n = pwrite(recorder.file.fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? errno : EIO;
        bytes = (const char *)bytes + n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

static void note_clock(unsigned which)
{
    recorder.header->ns[which] = dm_now_ns();
    recorder.header->ticks[which] = dm_ticks();
}

void em_record_tables(const void *tables, size_t size_B, uint32_t id)
{
    const uint32_t count = (uint32_t)((sizeof(struct rf_block) + size_B - 1) / RF_BLOCK_B + 1);
    const uint32_t first = em_record_take_blocks(count);
    const struct rf_block head = {.magic = RF_BLOCK_MAGIC,
                                  .kind = RF_TABLES,
                                  .thread = id,
                                  .sequence = count,
                                  .used_B = (uint32_t)size_B};
    int error = em_record_write(tables, size_B, em_record_block_offset(first) + sizeof head);
    if (!error)
        error = em_record_write(&head, sizeof head, em_record_block_offset(first));
    if (error)
        em_record_stop(error);
    else if (!id)
        recorder.header->tables = first;
}

// Opens a new file. If there is one already, another process of this run has made it, and this one
// adds its number to the name.
static int open_file(const char *path)
{
    char name[PATH_MAX];
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, 0600);
    if (fd < 0 && errno == EEXIST &&
        (size_t)snprintf(name, sizeof name, "%s.%ld", path, (long)getpid()) < sizeof name) {
        unlink(name); // of an earlier process with this number
        fd = open(name, flags, 0600);
    }
    if (fd < 0)
        return -errno;
    flock(fd, LOCK_SH | LOCK_NB); // `cardless run` does not replace the file meanwhile
    const int high = dm_fd_duplicate_high(fd);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

// Of a child that has not begun a recording of its own: a call that a signal handler has forked
// inside of may still go on there. It should report nothing.
static struct rf_header unused = {.failed = ECANCELED};

static void leave_parent(void)
{
    // STARTING: another thread was opening the file. It does not exist in the child.
    if (recorder.state != ON && recorder.state != STARTING)
        return;
    // The file is the parent's. Its windows are not mapped here (MADV_DONTFORK).
    dm_fd_close(&recorder.file);
    recorder.forks++;
    if (em_record_generation)
        *em_record_generation = recorder.forks + 1;
    recorder.parent = (uint32_t)getppid();
    recorder.header = &unused;
    em_record_forget_ids();
    em_recording = em_recording_contents = false; // until the child's first call
    recorder.state = OFF;
}

// A signal handler may have forked inside of a call, which then goes on to write its record.
static void replace_window(struct em_record_thread *t)
{
    if (!t || !t->window)
        return;
    void *at = mmap(t->window, RF_BLOCK_B, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED && at != (void *)t->window) // a kernel that does not know the flag
        munmap(at, RF_BLOCK_B);
}

void em_record_in_child(void)
{
    if (recorder.state == ON)
        replace_window(em_self.record);
    leave_parent();
}

static void *map_block(uint64_t offset)
{
    int error = check_file(offset + RF_BLOCK_B);
    if (!error)
        error = posix_fallocate(recorder.file.fd, (off_t)offset, RF_BLOCK_B);
    if (error) { // a store to the mapping would raise SIGBUS
        errno = error;
        return NULL;
    }
    void *at =
        mmap(NULL, RF_BLOCK_B, PROT_READ | PROT_WRITE, MAP_SHARED, recorder.file.fd, (off_t)offset);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, RF_BLOCK_B, MADV_DONTFORK);
    return at;
}

static bool make_generation(void)
{
    if (em_record_generation) // of the process that this one is a child of
        return true;
    const size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    madvise(page, page_B, MADV_WIPEONFORK);
    em_record_generation = page;
    *em_record_generation = recorder.forks + 1;
    return true;
}

static void close_thread(void *argument);

static bool start(const char *path)
{
    if (!make_generation()) {
        fprintf(stderr, "cardless: CARDLESS_RECORD: %s\n", strerror(errno));
        return false;
    }
    const int fd = open_file(path);
    if (fd < 0) {
        fprintf(stderr, "cardless: CARDLESS_RECORD: cannot open %s: %s\n", path, strerror(-fd));
        return false;
    }
    dm_fd_remember(fd, &recorder.file);
    recorder.blocks = recorder.threads = 0;
    recorder.header = map_block(0);
    if (!recorder.header) {
        fprintf(stderr, "cardless: CARDLESS_RECORD: %s: %s\n", path, strerror(errno));
        dm_fd_close(&recorder.file);
        return false;
    }
    struct rf_header *h = recorder.header;
    h->version = RF_VERSION;
    h->header_B = sizeof *h;
    h->block_B = RF_BLOCK_B;
    h->process = (uint32_t)getpid();
    h->parent = recorder.parent;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    h->realtime_ns = (uint64_t)now.tv_sec * DM_NS_PER_S + (uint64_t)now.tv_nsec;
    em_record_describe_process(h);
    note_clock(0);
    note_clock(1);
    memcpy(h->magic, RF_MAGIC, sizeof h->magic);
    static bool keyed;
    if (!keyed)
        pthread_key_create(&recorder.key, close_thread);
    keyed = true;
    em_tracing = true;
    em_stop_start();
    return true;
}

void em_record_start(void)
{
    const char *path = em_config()->record_path;
    uint32_t expected = OFF;
    if (!path)
        return;
    if (__atomic_compare_exchange_n(&recorder.state, &expected, STARTING, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        const bool works = start(path);
        __atomic_store_n(&em_recording, works, __ATOMIC_RELAXED);
        __atomic_store_n(&recorder.state, works ? ON : FAILED, __ATOMIC_RELEASE);
        if (works)
            em_record_settings(recorder.header);
    }
    while (__atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) == STARTING)
        sched_yield();
}

void em_record_finish(void)
{
    if (!recorder.header || recorder.state != ON || !*em_record_generation)
        return;
    note_clock(1);
    recorder.header->ended = 1;
}

// ---- windows ----

static void begin_window(struct em_record_thread *t)
{
    struct rf_block *w = t->window;
    // First without records, so that they are never those of another number.
    __atomic_store_n(&w->used_B, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&w->sequence, t->sequence, __ATOMIC_RELEASE);
    w->thread = t->number;
    w->ticks = t->ticks = em_record_clock();
    w->kind = RF_WINDOW;
    w->magic = RF_BLOCK_MAGIC;
    t->at = (uint8_t *)(w + 1);
    t->end = (uint8_t *)w + RF_BLOCK_B;
    t->last = t->ended = t->begun = NULL;
    t->last_call = t->last_command = 0;
}

// Copies the full window to the end of the file.
static bool empty_window(struct em_record_thread *t)
{
    struct rf_block *w = t->window;
    const uint32_t block = em_record_take_blocks(1);
    // The kind is written last, so that a reader never sees half a chunk.
    const uint32_t kind = RF_CHUNK;
    int error = em_record_write(w, sizeof *w + w->used_B, em_record_block_offset(block));
    if (!error)
        error = em_record_write(&kind, sizeof kind,
                                em_record_block_offset(block) + offsetof(struct rf_block, kind));
    if (error) {
        em_record_stop(error);
        return false;
    }
    t->sequence++;
    begin_window(t);
    note_clock(1);
    return true;
}

static void name_thread(struct em_record_thread *t)
{
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    struct em_record r = em_record_begin(RF_THREAD, 0, 3 * EM_FIELD_MOST_B + sizeof name);
    em_field(&r, em_self.number);
    em_field(&r, (uint64_t)gettid());
    em_field_text(&r, name);
    em_record_put(&r);
}

struct em_record_thread *em_record_open_thread(void)
{
    struct em_thread *self = em_thread();
    struct em_record_thread *t = self->record;
    if (__atomic_load_n(&recorder.state, __ATOMIC_ACQUIRE) != ON)
        return NULL;
    if (!*em_record_generation) { // a child of _Fork: the file is the parent's
        leave_parent();
        recorder.state = FAILED;
        return NULL;
    }
    if (!t)
        t = self->record = dm_calloc(1, sizeof *t);
    if (!t || (t->failed && t->generation == *em_record_generation))
        return NULL;
    *t = (struct em_record_thread){.generation = *em_record_generation};
    t->number = __atomic_add_fetch(&recorder.threads, 1, __ATOMIC_RELAXED);
    pthread_setspecific(recorder.key, t);
    t->window = map_block(em_record_block_offset(em_record_take_blocks(1)));
    t->failed = !t->window;
    if (t->failed) {
        em_record_stop(errno);
        return NULL;
    }
    if (!dm_guard_stack_bounds(&t->stack, &t->stack_B))
        t->stack = t->stack_B = 0;
    begin_window(t);
    name_thread(t);
    return t;
}

static void close_thread(void *argument)
{
    struct em_record_thread *t = argument;
    em_work_begin(&em_thread_end);
    em_self.record = NULL; // later calls, of other destructors, open a window again
    if (t->window && t->generation && t->generation == *em_record_generation)
        munmap(t->window, RF_BLOCK_B);
    dm_free(t);
    em_work_end(&em_thread_end);
}

// ---- records ----

struct em_record_thread *em_record_make_space(struct em_record_thread *t, size_t size)
{
    const int saved = errno;
    em_cancel_off(); // files are opened and written
    if (!t || !em_record_is_open(t))
        t = em_record_open_thread();
    else if ((size_t)(t->end - t->at) < size && !empty_window(t))
        t = NULL;
    errno = saved;
    return t;
}

void em_record_flag_last(enum rf_kind kind, unsigned flags)
{
    struct em_record_thread *t = em_thread()->record;
    if (t && em_record_is_open(t) && t->last && t->last[2] == kind)
        t->last[3] |= (uint8_t)flags;
}

void em_field_bytes(struct em_record *r, const void *bytes, size_t size)
{
    if (!r->at || !size || (size_t)(r->end - r->at) < size)
        return;
    memcpy(r->at, bytes, size);
    r->at += size;
}

void em_field_text(struct em_record *r, const char *text)
{
    size_t size = text ? strnlen(text, EM_FIELD_TEXT_B - 2) : 0;
    if (!r->at || r->end - r->at < 2)
        return;
    const size_t room = (size_t)(r->end - r->at) - 2;
    size = size < room ? size : room;
    em_field(r, size);
    em_field_bytes(r, text, size);
}
