// SPDX-License-Identifier: MIT
// The helper thread and its hand-over. It runs no code of the program's, takes no lock but its own, and is never needed: a command that finds it
// taken, or could not make it, does both parts itself. A child after fork has no helper and needs none, since the driver refuses to work there.
#include "second_core.h"

#include <pthread.h>
#include <sched.h>

#include "funnel.h"
#include "guard.h"
#include "own_thread.h"
#include "pkey.h"
#include "policy.h"

enum state { IDLE, WANTED, DONE };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    bool started, taken;
    enum state state;
    em_guarded_fn *guarded;
    void (*fn)(void *);
    void *arg;
    int status;
    struct dm_fault fault;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t cores_once = PTHREAD_ONCE_INIT;
static bool several_cores;

static void count_cores(void)
{
    cpu_set_t set;
    several_cores = !sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 1;
}

bool em_second_core_for(uint64_t bytes)
{
    if (bytes < EM_SECOND_CORE_MIN_B || !em_funnel.policy->second_core)
        return false;
    pthread_once(&cores_once, count_cores);
    return several_cores;
}

static void *helper_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&helper.lock);
    for (;;) {
        while (helper.state != WANTED)
            pthread_cond_wait(&helper.wake, &helper.lock);
        pthread_mutex_unlock(&helper.lock);
        // Rights are each thread's own.
        uint32_t keys = dm_pkey_enter();
        int status = helper.guarded(helper.fn, helper.arg, &helper.fault);
        dm_pkey_leave(keys);
        pthread_mutex_lock(&helper.lock);
        helper.status = status;
        helper.state = DONE;
        pthread_cond_signal(&helper.done);
    }
    return NULL;
}

// Precondition: helper.lock held.
static bool start(void)
{
    helper.started = helper.started || em_own_thread(helper_main, NULL);
    return helper.started;
}

static bool hand_over(em_guarded_fn *guarded, void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&helper.lock);
    bool ours = !helper.taken && start();
    if (ours) {
        helper.taken = true;
        helper.guarded = guarded;
        helper.fn = fn;
        helper.arg = arg;
        helper.state = WANTED;
        pthread_cond_signal(&helper.wake);
    }
    pthread_mutex_unlock(&helper.lock);
    return ours;
}

static int take_back(struct dm_fault *fault)
{
    pthread_mutex_lock(&helper.lock);
    while (helper.state != DONE)
        pthread_cond_wait(&helper.done, &helper.lock);
    int status = helper.status;
    *fault = helper.fault;
    helper.state = IDLE;
    helper.taken = false;
    pthread_mutex_unlock(&helper.lock);
    return status;
}

int em_second_core_guarded(em_guarded_fn *guarded, void (*fn)(void *), void *first, void *second, struct dm_fault *fault)
{
    struct dm_fault other;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); // the wait is a place where a thread may be cancelled; `second` is on its stack
    bool handed = hand_over(guarded, fn, second);
    int status = guarded(fn, first, fault);
    int other_status = handed ? take_back(&other) : guarded(fn, second, &other);
    if (!status && other_status) {
        *fault = other;
        status = other_status;
    }
    pthread_setcancelstate(cancel, NULL);
    return status;
}
