// SPDX-License-Identifier: MIT
// Keeps the list of imports, mappings and graphics resources for the report at exit.
#include "journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "import.h"
#include "lock.h"

enum { ENTRIES_MAX = 4096, REJECTED_MAX = 4096 };

// A line of the report.
struct entry {
    enum em_journal_kind kind;
    uint64_t born_call, died_call; // died_call is 0 until the object ends
    const char *died_by;
    char text[400], note[160]; // end in "..." if they were cut
};

// A file descriptor whose import failed. There is one for each number.
struct rejected {
    struct dm_fd_identity fd;
    uint64_t call;    // the first one that failed
    const char *kind; // "a memfd" and the like
};

static struct {
    struct entry *entries;
    uint32_t count, capacity;
    uint64_t dropped;
    struct rejected *rejected;
    uint32_t rejected_count, rejected_capacity;
    uint64_t rejected_dropped;
} journal;

// Adds room for one more element to an array of at most `most`. Returns false if there cannot be
// more.
static bool grow(void **array, uint32_t count, uint32_t *capacity, uint32_t most, size_t each_B)
{
    if (count < *capacity)
        return true;
    if (count == most)
        return false;
    const uint32_t wanted = *capacity ? 2 * *capacity : 64;
    void *more = dm_realloc(*array, wanted * each_B);
    if (!more)
        return false;
    *array = more;
    *capacity = wanted;
    return true;
}

static struct entry *new_entry(void)
{
    void *entries = journal.entries;
    if (!grow(&entries, journal.count, &journal.capacity, ENTRIES_MAX, sizeof *journal.entries))
        return NULL;
    journal.entries = entries;
    return &journal.entries[journal.count++];
}

__attribute__((format(printf, 3, 0))) static void write_text(char *text, size_t size_B,
                                                             const char *format, va_list args)
{
    const int length = vsnprintf(text, size_B, format, args);
    if (length >= 0 && (size_t)length >= size_B)
        memcpy(text + size_B - sizeof "...", "...", sizeof "...");
}

uint32_t em_journal_begin(enum em_journal_kind kind, const char *format, ...)
{
    em_assert_locked();
    if (!em_config()->report)
        return 0;
    struct entry *e = new_entry();
    if (!e) {
        journal.dropped++;
        return 0;
    }
    *e = (struct entry){.kind = kind, .born_call = em_call_now()};
    va_list args;
    va_start(args, format);
    write_text(e->text, sizeof e->text, format, args);
    va_end(args);
    return journal.count;
}

void em_journal_note(uint32_t entry, const char *format, ...)
{
    em_assert_locked();
    if (!entry)
        return;
    va_list args;
    va_start(args, format);
    write_text(journal.entries[entry - 1].note, sizeof journal.entries->note, format, args);
    va_end(args);
}

void em_journal_end(uint32_t entry)
{
    em_assert_locked();
    if (!entry)
        return;
    journal.entries[entry - 1].died_call = em_call_now();
    journal.entries[entry - 1].died_by = em_entry_name();
}

// Finds the entry of a number, or one whose descriptor was closed meanwhile, or makes one. Returns
// NULL if there is no room.
static struct rejected *rejected_for(int fd)
{
    struct rejected *free = NULL;
    for (uint32_t i = 0; i < journal.rejected_count; i++) {
        struct rejected *r = &journal.rejected[i];
        if (r->fd.fd == fd)
            return r;
        if (!free && journal.rejected_count == journal.rejected_capacity &&
            !dm_fd_still_ours(&r->fd))
            free = r;
    }
    if (free)
        return free;
    void *array = journal.rejected;
    if (!grow(&array, journal.rejected_count, &journal.rejected_capacity, REJECTED_MAX,
              sizeof *journal.rejected))
        return NULL;
    journal.rejected = array;
    free = &journal.rejected[journal.rejected_count++];
    free->fd.fd = -1;
    return free;
}

void em_journal_reject_fd(int fd, const char *kind)
{
    em_assert_locked();
    struct dm_fd_identity now;
    if (dm_fd_remember(fd, &now))
        return;
    struct rejected *r = rejected_for(fd);
    if (!r)
        journal.rejected_dropped++;
    else if (r->fd.fd != fd || !dm_fd_still_ours(&r->fd)) // else it was rejected before
        *r = (struct rejected){now, em_call_now(), kind};
}

void em_journal_accept_fd(int fd)
{
    em_assert_locked();
    for (uint32_t i = 0; i < journal.rejected_count; i++)
        if (journal.rejected[i].fd.fd == fd)
            journal.rejected[i--] = journal.rejected[--journal.rejected_count];
}

// cuImportExternalMemory, cuImportExternalSemaphore: "This transfer of ownership happens only if
// the call succeeds": after a failed import the program should still close the descriptor.
static void report_leaks(void)
{
    for (uint32_t i = 0; i < journal.rejected_count; i++) {
        const struct rejected *r = &journal.rejected[i];
        char when[64];
        if (!dm_fd_still_ours(&r->fd))
            continue;
        em_call_text(r->call, when, sizeof when);
        em_mistake(M02, CUDA_SUCCESS,
                   "file descriptor %d (%s), whose import failed in %s, was never closed", r->fd.fd,
                   r->kind, when);
    }
    if (journal.rejected_dropped)
        em_mistake(M02, CUDA_SUCCESS,
                   "%llu more imports failed, and it is not known whether their file descriptors "
                   "were closed, because %u others were not",
                   (unsigned long long)journal.rejected_dropped, journal.rejected_count);
}

static void print_report(void)
{
    static const char *const indent[] = {[EM_JOURNAL_IMPORT] = "  ",
                                         [EM_JOURNAL_BUFFER] = "    ",
                                         [EM_JOURNAL_MIPMAP] = "    ",
                                         [EM_JOURNAL_GRAPHICS] = "  "};
    if (!journal.count && !journal.dropped) {
        fprintf(stderr, "cardless: report: this program imported no external memory and registered "
                        "no graphics resource\n");
        return;
    }
    fprintf(stderr, "cardless: report: imports, mappings and graphics resources\n");
    for (uint32_t i = 0; i < journal.count; i++) {
        const struct entry *e = &journal.entries[i];
        char call[64];
        em_call_text(e->born_call, call, sizeof call);
        fprintf(stderr, "%s%s%s [%s", indent[e->kind], e->text, e->note, call);
        if (!e->died_call) {
            fprintf(stderr, ", never freed]\n");
            continue;
        }
        em_call_text(e->died_call, call, sizeof call);
        fprintf(stderr, " to %s in %s]\n", e->died_by, call);
    }
    if (journal.dropped)
        fprintf(stderr, "  and %llu more\n", (unsigned long long)journal.dropped);
}

void em_journal_finish(void)
{
    em_lock();
    report_leaks();
    if (em_config()->report)
        print_report();
    em_unlock(); // keeps the list, because other threads may still add to it
}
