// SPDX-License-Identifier: MIT
// Writes this process's book, and reads those of others.
#include "book.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"

enum { VERSION = 2, PERIOD_WINDOWS = 8 };
static const char magic[8] = "CLBOOK\0"; // with the final 0 eight bytes
static const char link_text[] = "/memfd:cardless-book (deleted)";

static uint64_t load(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static void store(uint64_t *value, uint64_t to)
{
    __atomic_store_n(value, to, __ATOMIC_RELAXED);
}

// The time in steps of a few milliseconds, which costs a fifth of the exact time. On average the
// sums are right, because kernels begin anywhere between two steps.
static uint64_t coarse_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * DM_NS_PER_S + (uint64_t)now.tv_nsec;
}

int dm_book_create(struct dm_book **out)
{
    uint64_t address = 0;
    int fd, r = dm_sys_memfd_create("cardless-book", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (r)
        return r;
    r = dm_sys_ftruncate(fd, sizeof(struct dm_book));
    if (!r)
        r = dm_sys_mmap(0, sizeof(struct dm_book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0,
                        &address);
    if (r) {
        close(fd);
        return r;
    }
    *out = (struct dm_book *)(uintptr_t)address;
    (*out)->version = VERSION;
    (*out)->pid = (uint32_t)getpid();
    memcpy((*out)->magic, magic, sizeof magic);
    return 0; // the descriptor stays open: readers find the book through it
}

void dm_book_begin(struct dm_book_card *card)
{
    if (!__atomic_fetch_add(&card->running, 1, __ATOMIC_RELAXED))
        store(&card->since, coarse_now_ns());
}

static void add_busy(struct dm_book_card *card, uint64_t from, uint64_t to)
{
    const uint64_t kept_ns = DM_BOOK_WINDOW_NS * (DM_BOOK_WINDOWS - 1);
    if (to > kept_ns && from < to - kept_ns)
        from = to - kept_ns;
    while (from < to) {
        const uint64_t number = from / DM_BOOK_WINDOW_NS;
        const uint64_t end = (number + 1) * DM_BOOK_WINDOW_NS, stop = end < to ? end : to;
        struct dm_book_window *window = &card->windows[number % DM_BOOK_WINDOWS];
        // Two threads that meet at the start of a window may lose one of their sums.
        if (load(&window->number) != number) {
            store(&window->busy_ns, 0);
            store(&window->number, number);
        }
        __atomic_fetch_add(&window->busy_ns, stop - from, __ATOMIC_RELAXED);
        from = stop;
    }
}

void dm_book_end(struct dm_book_card *card)
{
    const uint64_t since = load(&card->since);
    if (__atomic_fetch_sub(&card->running, 1, __ATOMIC_RELAXED) == 1)
        add_busy(card, since, coarse_now_ns());
}

void dm_book_begin_alone(struct dm_book_card *card)
{
    store(&card->alone_since, coarse_now_ns());
}

void dm_book_end_alone(struct dm_book_card *card)
{
    const uint64_t since = load(&card->alone_since), now = coarse_now_ns();
    store(&card->alone_since, 0);
    // Time in which others run as well should count once; it may count twice if they end first.
    const bool counted =
        __atomic_load_n(&card->running, __ATOMIC_RELAXED) && load(&card->since) <= since;
    if (now != since && !counted)
        add_busy(card, since, now);
}

// When the first of the kernels that run now has begun, or UINT64_MAX.
static uint64_t running_since(const struct dm_book_card *card)
{
    const uint64_t alone = load(&card->alone_since);
    const uint64_t from = alone ? alone : UINT64_MAX;
    const bool others = __atomic_load_n(&card->running, __ATOMIC_RELAXED);
    return others && load(&card->since) < from ? load(&card->since) : from;
}

uint64_t dm_book_busy(const struct dm_book_card *card, uint64_t now_ns, uint64_t *period_ns)
{
    const uint64_t newest = now_ns / DM_BOOK_WINDOW_NS;
    const uint64_t first = newest < PERIOD_WINDOWS ? 0 : newest - PERIOD_WINDOWS + 1;
    const uint64_t start = first * DM_BOOK_WINDOW_NS;
    uint64_t busy_ns = 0;
    for (int i = 0; i < DM_BOOK_WINDOWS; i++) {
        const uint64_t number = load(&card->windows[i].number);
        if (number >= first && number <= newest)
            busy_ns += load(&card->windows[i].busy_ns);
    }
    const uint64_t since = running_since(card), from = since > start ? since : start;
    busy_ns += from < now_ns ? now_ns - from : 0;
    *period_ns = now_ns - start;
    return busy_ns < *period_ns ? busy_ns : *period_ns;
}

// Opens the book of a process. Returns a descriptor, or -1 if it has no book that may be read.
static int open_book(const char *pid)
{
    char path[64];
    int found = -1;
    snprintf(path, sizeof path, "/proc/%.16s/fd", pid);
    DIR *folder = opendir(path);
    for (const struct dirent *e; folder && found < 0 && (e = readdir(folder));) {
        char link[sizeof link_text];
        const ssize_t n = readlinkat(dirfd(folder), e->d_name, link, sizeof link);
        if (n == sizeof link_text - 1 && !memcmp(link, link_text, (size_t)n))
            found = openat(dirfd(folder), e->d_name, O_RDONLY | O_CLOEXEC);
    }
    if (folder)
        closedir(folder);
    return found;
}

// Reads the card's row of a process. Returns false if it has no context there.
static bool read_entry(const char *pid, uint64_t key, struct dm_book *book,
                       struct dm_book_entry *out)
{
    const int fd = open_book(pid);
    if (fd < 0)
        return false;
    const ssize_t n = pread(fd, book, sizeof *book, 0);
    close(fd);
    if (n != sizeof *book || memcmp(book->magic, magic, sizeof magic) || book->version != VERSION ||
        book->pid != (uint32_t)strtoul(pid, NULL, 10))
        return false;
    for (int i = 0; i < DM_BOOK_CARDS; i++) {
        const struct dm_book_card *card = &book->cards[i];
        if (card->key != key || !card->contexts)
            continue;
        *out = (struct dm_book_entry){
            .pid = book->pid, .contexts = card->contexts, .used_B = card->used_B};
        out->busy_ns = dm_book_busy(card, dm_now_ns(), &out->period_ns);
        return true;
    }
    return false;
}

size_t dm_books_read(uint64_t key, struct dm_book_entry *out, size_t capacity)
{
    size_t count = 0;
    struct dm_book *book = dm_alloc(sizeof *book);
    DIR *processes = book ? opendir("/proc") : NULL;
    for (const struct dirent *e; processes && (e = readdir(processes));) {
        struct dm_book_entry entry;
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || !read_entry(e->d_name, key, book, &entry))
            continue;
        if (count < capacity)
            out[count] = entry;
        count++;
    }
    if (processes)
        closedir(processes);
    dm_free(book);
    return count;
}
