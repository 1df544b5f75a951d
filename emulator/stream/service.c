// SPDX-License-Identifier: MIT
// The thread for host functions and the poller.
#include "service.h"

#include <pthread.h>
#include <time.h>

#include "command.h"
#include "scheduler.h"
#include "lock.h"
#include "own_thread.h"

enum { POLL_FIRST_NS = 10000, POLL_LAST_NS = 1000000 };

struct service {
    bool started;
    pthread_cond_t wake;
};
static struct service host = {.wake = PTHREAD_COND_INITIALIZER};
static struct service poller = {.wake = PTHREAD_COND_INITIALIZER};

static void *host_main(void *unused)
{
    (void)unused;
    em_lock();
    for (;;) {
        if (!em_run_one(EM_HOST_THREAD))
            em_lock_wait(&host.wake);
    }
    return NULL;
}

static void *poller_main(void *unused)
{
    (void)unused;
    long pause_ns = POLL_FIRST_NS;
    em_lock();
    for (;;) {
        while (!em_funnel.polled && !em_funnel.handed_over) {
            pause_ns = POLL_FIRST_NS;
            em_lock_wait(&poller.wake);
        }
        em_funnel.handed_over = false;
        bool any = false;
        while (em_run_one(EM_ANYWHERE)) // what came first, and what that made ready
            any = true;
        if (any || !em_funnel.polled) {
            pause_ns = POLL_FIRST_NS;
            continue;
        }
        em_unlock();
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        if (pause_ns < POLL_LAST_NS)
            pause_ns *= 2;
        em_lock();
    }
    return NULL;
}

static bool start(struct service *service, const char *name, void *(*thread_main)(void *))
{
    service->started = service->started || em_own_thread(name, NULL, thread_main, NULL);
    return service->started;
}

bool em_service_need_host(void)
{
    return start(&host, "cardless host", host_main);
}

bool em_service_need_poller(void)
{
    return start(&poller, "cardless poll", poller_main);
}

void em_service_wake_host(void)
{
    pthread_cond_signal(&host.wake);
}

void em_service_wake_poller(void)
{
    pthread_cond_signal(&poller.wake);
}
