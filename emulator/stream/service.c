// SPDX-License-Identifier: MIT
// The thread for host functions, the runner, and the late runner.
#include "service.h"

#include <pthread.h>

#include "clock.h"
#include "lock.h"
#include "own_thread.h"
#include "policy.h"
#include "scheduler.h"

struct service {
    bool started;
    pthread_cond_t wake;
};
static struct service host = {.wake = PTHREAD_COND_INITIALIZER};
static struct service runner = {.wake = PTHREAD_COND_INITIALIZER};
static struct service late = {.wake = PTHREAD_COND_INITIALIZER};

// Waits until there may be work. Returns false if nothing came for so long that the thread ends;
// it stays while any command is pending, because that may need it.
static bool wait_for_work(struct service *service)
{
    em_assert_locked();
    const struct timespec end = em_own_thread_idle_end();
    if (!em_lock_wait_until(&service->wake, &end) || em_context_with_work(UINT64_MAX))
        return true;
    service->started = false;
    return false;
}

static void *host_main(void *unused)
{
    (void)unused;
    em_lock();
    em_scheduler.host_turn = em_turn_of_self();
    do {
        while (em_run_one(EM_HOST_THREAD))
            em_scheduler.host_done++;
    } while (wait_for_work(&host));
    em_unlock();
    return NULL;
}

static void *runner_main(void *unused)
{
    (void)unused;
    em_lock();
    do {
        while (em_scheduler.handed_over) {
            em_scheduler.handed_over = false;
            while (em_run_one(EM_ANYWHERE))
                ;
        }
    } while (wait_for_work(&runner));
    em_unlock();
    return NULL;
}

// Runs all ready commands if no thread has considered them for the policy's late_ms. The time is
// counted in parts. Those do not count in which a busy machine did not run the program.
static void *late_main(void *unused)
{
    enum { PARTS = 10, NS_PER_MS = 1000000 };
    unsigned idle = 0;
    uint64_t points = 0;
    struct em_turn program = em_turn_of_others();
    (void)unused;
    em_lock();
    for (;;) {
        bool stays = true;
        while (stays && (!em_scheduler.ready.first || !em_scheduler.policy->late_ms)) {
            idle = 0;
            stays = wait_for_work(&late);
        }
        if (!stays)
            break;
        uint64_t until_ns =
            dm_now_ns() + (uint64_t)em_scheduler.policy->late_ms * NS_PER_MS / PARTS;
        const struct timespec until = {(time_t)(until_ns / DM_NS_PER_S),
                                       (long)(until_ns % DM_NS_PER_S)};
        while (dm_now_ns() < until_ns)
            em_lock_wait_until(&late.wake, &until);
        bool had_turn = em_had_turn(&program);
        idle = points == em_scheduler.points ? idle + had_turn : 0;
        points = em_scheduler.points;
        if (idle < PARTS)
            continue;
        idle = 0;
        while (em_run_one(EM_ANYWHERE))
            ;
    }
    em_unlock();
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
    if (!host.started) // until the new thread is there
        em_scheduler.host_turn = em_turn_of_others();
    return start(&host, "cardless host", host_main);
}

bool em_service_need_runner(void)
{
    return start(&runner, "cardless runner", runner_main);
}

bool em_service_need_late(void)
{
    return start(&late, "cardless late", late_main);
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

void em_service_wake_late(void)
{
    em_assert_locked();
    pthread_cond_signal(&late.wake);
}
