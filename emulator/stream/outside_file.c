// SPDX-License-Identifier: MIT
// The thread that waits until one of a set of file descriptors is readable.
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "command.h"
#include "lock.h"
#include "outside.h"
#include "own_thread.h"

static int epoll = -1; // made once, kept until the process ends
static bool started;

// An event names the descriptor's source by this number and not by its address, which may belong
// to something else by the time that the thread has the lock.
static struct {
    struct em_file_source *source; // NULL: free
    uint32_t generation;
} slots[64];
enum { SLOTS = sizeof slots / sizeof *slots };
static unsigned used; // slots

static void *file_main(void *unused)
{
    (void)unused;
    for (bool idle = false; !idle;) {
        struct epoll_event event;
        int n = epoll_wait(epoll, &event, 1, EM_OWN_THREAD_IDLE_MS);
        if (n < 0 && errno != EINTR)
            return NULL; // the program has closed the descriptor
        em_lock();
        if (n < 1) {
            idle = !n && em_outside_is_idle();
            started = !idle;
            em_unlock();
            continue;
        }
        unsigned slot = event.data.u64 % SLOTS;
        struct em_file_source *s = slots[slot].source;
        if (s && slots[slot].generation == event.data.u64 / SLOTS) {
            em_file_unwatch(s);
            s->readable(s);
            em_progress();
        }
        em_unlock();
    }
    return NULL;
}

static bool start(void)
{
    if (epoll < 0)
        epoll = epoll_create1(EPOLL_CLOEXEC);
    started = started || (epoll >= 0 && em_own_thread("cardless files", NULL, file_main, NULL));
    return started;
}

bool em_files_resume(void)
{
    em_assert_locked();
    return !used || start();
}

bool em_file_watch(struct em_file_source *s)
{
    em_assert_locked();
    unsigned slot = 0;
    while (slot < SLOTS && slots[slot].source)
        slot++;
    if (slot == SLOTS || !start())
        return false;
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint64_t)++slots[slot].generation * SLOTS + slot};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &event))
        return false;
    slots[slot].source = s;
    used++;
    return true;
}

void em_file_unwatch(struct em_file_source *s)
{
    em_assert_locked();
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (slots[slot].source == s) {
            slots[slot].source = NULL;
            used--;
            epoll_ctl(epoll, EPOLL_CTL_DEL, s->fd, NULL);
        }
    }
}
