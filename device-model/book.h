// SPDX-License-Identifier: MIT
// The book of a process: for each card, how much of its memory the process uses and how busy it
// keeps the card. Monitoring programs read the books of all processes.
//
//   process A: memfd "cardless-book" ──┐  mapped; the driver writes numbers into it
//   process B: memfd "cardless-book" ──┤
//                                      └──▶ dm_books_read finds them through /proc/PID/fd
//
// The kernel removes a book when its process ends, however it ends, so nothing has to be cleaned
// up. A reader sees the processes whose /proc/PID/fd it may open: those of its own user, or all of
// its PID namespace for root. Readers take only numbers from a book, and do not trust them.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    DM_BOOK_CARDS = 64,
    DM_BOOK_WINDOWS = 16, // the newest ones; older ones are overwritten
};
#define DM_BOOK_WINDOW_NS UINT64_C(125000000)

struct dm_book_window {
    uint64_t number; // its start, in DM_BOOK_WINDOW_NS of the monotonic clock
    uint64_t busy_ns;
};

// All members are written and read with atomic accesses.
struct dm_book_card {
    uint64_t key;    // names the card in all processes; 0: the process does not use this row
    uint64_t used_B; // memory that is committed
    uint32_t contexts;
    uint32_t running;     // kernels that run now, without the lone one
    uint64_t since;       // when the first of them has begun
    uint64_t alone_since; // when the lone one has begun; 0: it does not run
    struct dm_book_window windows[DM_BOOK_WINDOWS];
};

struct dm_book {
    char magic[8];
    uint32_t version, pid; // of the process that created the book; a fork inherits the file
    struct dm_book_card cards[DM_BOOK_CARDS];
};

// Creates the book of this process. Returns 0 or a negative errno. The book is never closed.
int dm_book_create(struct dm_book **out);

// A kernel begins and ends. Any thread may call them; they take about 10 ns each, because the clock
// is a coarse one.
void dm_book_begin(struct dm_book_card *card);
void dm_book_end(struct dm_book_card *card);
// The same for a kernel of which the process runs only one at a time, in less time.
void dm_book_begin_alone(struct dm_book_card *card);
void dm_book_end_alone(struct dm_book_card *card);

// How many nanoseconds of the last `*period_ns` the card was busy. A period is at most a second.
uint64_t dm_book_busy(const struct dm_book_card *card, uint64_t now_ns, uint64_t *period_ns);

struct dm_book_entry {
    uint32_t pid, contexts;
    uint64_t used_B;
    uint64_t busy_ns, period_ns;
};

// Finds the processes that have a context on the card `key`, in ascending order of their ids as far
// as /proc has that order. Writes at most `capacity` entries, and returns how many there are.
size_t dm_books_read(uint64_t key, struct dm_book_entry *out, size_t capacity);
