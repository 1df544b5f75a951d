// SPDX-License-Identifier: MIT
// Keeps the list of imports and mappings for the report at exit.
#include "journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "import.h"
#include "lock.h"

enum { ENTRIES_MOST = 4096, REFUSED_MOST = 64 };

struct entry {
    enum em_journal_kind kind;
    uint64_t born_call, died_call; // died_call 0: still there
    const char *died_by;
    char text[400], note[160];
};

static struct {
    struct entry *entries;
    uint32_t count, room;
    uint64_t dropped;
    struct {
        struct dm_fd_identity fd;
        uint64_t call;
        const char *what;
    } refused[REFUSED_MOST];
    unsigned refused_count;
} journal;

static struct entry *new_entry(void)
{
    if (journal.count == ENTRIES_MOST)
        return NULL;
    if (journal.count == journal.room) {
        uint32_t room = journal.room ? 2 * journal.room : 64;
        struct entry *more = dm_realloc(journal.entries, room * sizeof *more);
        if (!more)
            return NULL;
        journal.entries = more;
        journal.room = room;
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

void em_journal_refused_fd(int fd, const struct dm_import_info *info)
{
    em_assert_locked();
    if (journal.refused_count == REFUSED_MOST ||
        dm_fd_remember(fd, &journal.refused[journal.refused_count].fd))
        return;
    journal.refused[journal.refused_count].call = em_call_now();
    journal.refused[journal.refused_count].what = info->what;
    journal.refused_count++;
}

void em_journal_took_fd(int fd)
{
    em_assert_locked();
    for (unsigned i = 0; i < journal.refused_count; i++)
        if (journal.refused[i].fd.fd == fd)
            journal.refused[i--] = journal.refused[--journal.refused_count];
}

// "This transfer of ownership happens only if the call succeeds": after a failed import the program
// still has to close the descriptor.
static void report_refused(void)
{
    for (unsigned i = 0; i < journal.refused_count; i++) {
        char when[64];
        if (!dm_fd_still_ours(&journal.refused[i].fd))
            continue;
        em_call_text(journal.refused[i].call, when, sizeof when);
        em_mistake(M02, CUDA_SUCCESS,
                   "file descriptor %d (%s), whose import failed in %s, was never closed",
                   journal.refused[i].fd.fd, journal.refused[i].what, when);
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
    report_refused();
    if (em_config()->report)
        print_report();
    em_unlock(); // other threads may still be at work: what they note stays
}
