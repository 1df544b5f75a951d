// SPDX-License-Identifier: MIT
// Notices the end of other processes through pidfds.
#include "process_end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"
#include "lock.h"
#include "outside.h"

struct watched {
    struct em_file_source file;
    pid_t process;
    struct watched *next;
};
static struct watched *all; // guarded by em_lock

// Returns -1 if the process has ended, or if there are no pidfds (Linux before 5.3, valgrind).
static int open_process(pid_t process)
{
    return (int)syscall(SYS_pidfd_open, process, 0);
}

bool em_process_has_ended(pid_t process)
{
    if (kill(process, 0))
        return errno == ESRCH;
    struct pollfd p = {.fd = open_process(process), .events = POLLIN};
    if (p.fd < 0)
        return errno == ESRCH;
    bool ended = poll(&p, 1, 0) == 1;
    close(p.fd);
    return ended;
}

static void ended(struct em_file_source *file)
{
    struct watched *w = (struct watched *)file, **at = &all;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    close(file->fd);
    dm_free(w);
    em_outside_ask_words();
}

void em_process_watch(pid_t process)
{
    em_assert_locked();
    for (const struct watched *w = all; w; w = w->next) {
        if (w->process == process)
            return;
    }
    int fd = open_process(process);
    if (fd < 0 && errno == ESRCH)
        return;
    struct watched *w = dm_alloc(sizeof *w);
    if (w)
        *w = (struct watched){
            .file = {.fd = fd, .readable = ended}, .process = process, .next = all};
    if (w && fd >= 0 && em_file_watch(&w->file)) {
        all = w;
        return;
    }
    if (fd >= 0)
        close(fd);
    dm_free(w);
    em_outside_poll_words();
}
