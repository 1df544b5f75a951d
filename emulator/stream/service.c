// SPDX-License-Identifier: MIT
// The thread for host functions, and the runner.
#include "service.h"

#include <pthread.h>

#include "lock.h"
#include "own_thread.h"
#include "scheduler.h"

struct service {
    bool started;
    pthread_cond_t wake;
};
static struct service host = {.wake = PTHREAD_COND_INITIALIZER};
static struct service runner = {.wake = PTHREAD_COND_INITIALIZER};

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

static void *runner_main(void *unused)
{
    (void)unused;
    em_lock();
    for (;;) {
        while (!em_scheduler.handed_over)
            em_lock_wait(&runner.wake);
        em_scheduler.handed_over = false;
        while (em_run_one(EM_ANYWHERE))
            ;
    }
    return NULL;
}

static bool start(struct service *service, const char *name, void *(*thread_main)(void *))
{
    em_assert_locked();
    service->started = service->started || em_own_thread(name, NULL, thread_main, NULL);
    return service->started;
}

bool em_service_need_host(void)
{
    return start(&host, "cardless host", host_main);
}

bool em_service_need_runner(void)
{
    return start(&runner, "cardless runner", runner_main);
}

void em_service_wake_host(void)
{
    em_assert_locked();
    pthread_cond_signal(&host.wake);
}

void em_service_wake_runner(void)
{
    em_assert_locked();
    pthread_cond_signal(&runner.wake);
}
