// SPDX-License-Identifier: MIT
// The program's side of the page that `cardless step` shares with it (stop_page.h).
#include "stop.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "config.h"
#include "number.h"
#include "record_write.h"
#include "thread.h"

bool em_stops;
static struct em_stop_page *page; // NULL: nothing stops

void em_stop_start(void)
{
    const char *text = em_config()->stop;
    uint32_t fd, nobody = 0;
    struct stat s;
    if (!text || page)
        return;
    // Another process of the run may have closed the descriptor, or use its number for a file.
    if (!dm_parse_u32(&text, &fd) || *text || fd > INT_MAX || fstat((int)fd, &s) ||
        !S_ISREG(s.st_mode) || s.st_size != sizeof *page)
        return;
    struct em_stop_page *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (p == MAP_FAILED)
        return;
    if (p->magic != EM_STOP_MAGIC ||
        !__atomic_compare_exchange_n(&p->process, &nobody, (uint32_t)getpid(), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        munmap(p, sizeof *p);
    else
        page = p;
    em_stops = page != NULL;
}

bool em_stop_is_on(void)
{
    return page && page->process == (uint32_t)getpid();
}

// Sleeps while the state is `state`, but looks once a second whether the tool is alive.
static void wait_while(uint32_t state)
{
    const struct timespec most = {.tv_sec = 1};
    while (__atomic_load_n(&page->state, __ATOMIC_ACQUIRE) == state) {
        if (syscall(SYS_futex, &page->state, FUTEX_WAIT, state, &most, NULL, 0) &&
            errno == ETIMEDOUT && kill((pid_t)page->tool, 0) && errno == ESRCH) {
            __atomic_store_n(&page->off, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&page->state, EM_STOP_FREE, __ATOMIC_RELEASE);
            syscall(SYS_futex, &page->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        }
    }
}

// Takes the page for this thread. Returns false if nothing stops any more.
static bool take(void)
{
    for (;;) {
        uint32_t state = EM_STOP_FREE;
        if (__atomic_load_n(&page->off, __ATOMIC_RELAXED))
            return false;
        if (__atomic_compare_exchange_n(&page->state, &state, EM_STOP_TAKEN, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        wait_while(state);
    }
}

void em_stop_here(enum em_stop_kind kind, const char *name, uint64_t id)
{
    const int saved = errno;
    if (!em_stop_is_on() || !take()) {
        errno = saved;
        return;
    }
    const struct em_record_thread *t = em_thread()->record;
    page->kind = kind;
    page->thread = t ? t->number : 0;
    page->id = id;
    const struct em_entry *by = kind == EM_STOP_CALL ? em_thread()->caller : NULL;
    if (t && t->depth > 1 && t->calls[t->depth - 2].entry == by)
        by = NULL; // there was a stop for it
    snprintf(page->name, sizeof page->name, "%s", name);
    snprintf(page->function, sizeof page->function, "%s", by && by->name ? by->name : "");
    __atomic_store_n(&page->state, EM_STOP_STOPPED, __ATOMIC_RELEASE);
    syscall(SYS_futex, &page->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    wait_while(EM_STOP_STOPPED);
    errno = saved;
}
