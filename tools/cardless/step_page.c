// SPDX-License-Identifier: MIT
// Waits for a program to stop, and lets it go on.
#include "step_page.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct em_stop_page *step_page_make(int *fd)
{
    struct em_stop_page *page = MAP_FAILED;
    *fd = memfd_create("cardless-stop", MFD_CLOEXEC);
    if (*fd >= 0 && !ftruncate(*fd, sizeof *page))
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (page == MAP_FAILED) {
        fprintf(stderr, "cardless step: cannot make a file in memory: %s\n", strerror(errno));
        return NULL;
    }
    page->magic = EM_STOP_MAGIC;
    page->tool = (uint32_t)getpid();
    return page;
}

bool step_page_wait(struct em_stop_page *page, pid_t child, int *status)
{
    const struct timespec most = {.tv_nsec = 20 * 1000 * 1000}; // how late its end is noticed
    for (;;) {
        const uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
        if (state == EM_STOP_STOPPED)
            return true;
        const bool slept = !syscall(SYS_futex, &page->state, FUTEX_WAIT, state, &most, NULL, 0);
        if (!slept && waitpid(child, status, WNOHANG) == child)
            return false;
    }
}

void step_page_go(struct em_stop_page *page)
{
    __atomic_store_n(&page->state, EM_STOP_FREE, __ATOMIC_RELEASE);
    syscall(SYS_futex, &page->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
