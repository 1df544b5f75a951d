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

enum { ENTRIES_MAX = 4096, REJECTED_MAX = 64 };

struct entry {
    enum em_journal_kind kind;
    uint64_t born_call, died_call; // died_call is 0 until the object ends
    const char *died_by;
    char text[400], note[160];
};

static struct {
    struct entry *entries;
    uint32_t count, capacity;
    uint64_t dropped;
    struct {
        struct dm_fd_identity fd;
        uint64_t call;
        const char *kind; // "a memfd" and the like
    } rejected[REJECTED_MAX];
    unsigned rejected_count;
} journal;

static struct entry *new_entry(void)
{
    if (journal.count == ENTRIES_MAX)
        return NULL;
    if (journal.count == journal.capacity) {
        uint32_t capacity = journal.capacity ? 2 * journal.capacity : 64;
        struct entry *more = dm_realloc(journal.entries, capacity * sizeof *more);
        if (!more)
            return NULL;
        journal.entries = more;
        journal.capacity = capacity;
    }
    return &journal.entries[journal.count++];
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
    vsnprintf(e->text, sizeof e->text, format, args);
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
    vsnprintf(journal.entries[entry - 1].note, sizeof journal.entries->note, format, args);
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

void em_journal_reject_fd(int fd, const struct dm_import_info *info)
{
    em_assert_locked();
    if (journal.rejected_count == REJECTED_MAX ||
        dm_fd_remember(fd, &journal.rejected[journal.rejected_count].fd))
        return;
    journal.rejected[journal.rejected_count].call = em_call_now();
    journal.rejected[journal.rejected_count].kind = info->what;
    journal.rejected_count++;
}

void em_journal_accept_fd(int fd)
{
    em_assert_locked();
    for (unsigned i = 0; i < journal.rejected_count; i++)
        if (journal.rejected[i].fd.fd == fd)
            journal.rejected[i--] = journal.rejected[--journal.rejected_count];
}

// "This transfer of ownership happens only if the call succeeds": after a failed import the program
// should still close the descriptor.
static void report_leaks(void)
{
    for (unsigned i = 0; i < journal.rejected_count; i++) {
        char when[64];
        if (!dm_fd_still_ours(&journal.rejected[i].fd))
            continue;
        em_call_text(journal.rejected[i].call, when, sizeof when);
        em_mistake(M02, CUDA_SUCCESS,
                   "file descriptor %d (%s), whose import failed in %s, was never closed",
                   journal.rejected[i].fd.fd, journal.rejected[i].kind, when);
    }
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
        char born[64], died[64];
        em_call_text(e->born_call, born, sizeof born);
        em_call_text(e->died_call, died, sizeof died);
        fprintf(stderr, "%s%s%s [%s", indent[e->kind], e->text, e->note, born);
        if (e->died_call)
            fprintf(stderr, " to %s in %s]\n", e->died_by, died);
        else
            fprintf(stderr, ", never freed]\n");
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
