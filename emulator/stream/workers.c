// SPDX-License-Identifier: MIT
// The helper thread and its hand-over. It runs no code of the program's, takes no lock but its own,
// and is never needed: a command that finds it taken, or could not make it, does all parts itself.
// A child after fork has no helper and needs none, since the driver refuses to work there.
#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "scheduler.h"
#include "guard.h"
#include "own_thread.h"
#include "pkey.h"
#include "policy.h"

enum state { IDLE, WANTED, BUSY, DONE };

struct job {
    em_guarded_fn *guarded;
    void (*fn)(void *);
    char *parts;
    uint64_t part_B;
    unsigned count, next; // `next` is taken by whoever is free
};

struct outcome {
    int status;
    unsigned part; // that the fault is of
    struct dm_fault fault;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    bool started, taken;
    enum state state;
    struct job *job;
    struct outcome outcome;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .wake = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t cores_once = PTHREAD_ONCE_INIT;
static bool several_cores;
static cpu_set_t cores;

// Those of the process, that is, of its first thread: the one that comes here may be bound to one
// of them.
static void count_cores(void)
{
    several_cores = !sched_getaffinity(getpid(), sizeof cores, &cores) && CPU_COUNT(&cores) > 1;
}

unsigned em_parts(uint64_t bytes, uint64_t units)
{
    if (units < 2 || !em_funnel.policy->second_core)
        return 1;
    pthread_once(&cores_once, count_cores);
    if (!several_cores)
        return 1;
    uint64_t parts = bytes / (EM_SECOND_CORE_MIN_B / 4);
    parts = parts < EM_PARTS_MAX ? parts : EM_PARTS_MAX;
    return (unsigned)(parts < units ? parts : units);
}

void em_part(uint64_t total, uint64_t unit, unsigned part, unsigned parts, uint64_t *from,
             uint64_t *count)
{
    uint64_t units = total / unit, per = units / parts, rest = units % parts;
    uint64_t first = per * part + (part < rest ? part : rest), end = first + per + (part < rest);
    *from = first * unit;
    *count = (part + 1 < parts ? end * unit : total) - *from;
}

static struct outcome work(struct job *job)
{
    struct outcome o = {.status = 0};
    unsigned part;
    while (!o.status && (part = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->count) {
        o.status = job->guarded(job->fn, job->parts + part * job->part_B, &o.fault);
        o.part = part;
    }
    if (o.status) // nobody begins another one
        __atomic_store_n(&job->next, job->count, __ATOMIC_RELAXED);
    return o;
}

static void *helper_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&helper.lock);
    for (;;) {
        while (helper.state != WANTED)
            pthread_cond_wait(&helper.wake, &helper.lock);
        helper.state = BUSY;
        pthread_mutex_unlock(&helper.lock);
        // Rights are each thread's own.
        uint32_t keys = dm_pkey_enter();
        struct outcome o = work(helper.job);
        dm_pkey_leave(keys);
        pthread_mutex_lock(&helper.lock);
        helper.outcome = o;
        helper.state = DONE;
        pthread_cond_signal(&helper.done);
    }
    return NULL;
}

// On all cores: else it is bound where its maker is. Precondition: helper.lock held, several_cores.
static bool start(void)
{
    helper.started = helper.started || em_own_thread("cardless copy", &cores, helper_main, NULL);
    return helper.started;
}

static bool hand_over(struct job *job)
{
    pthread_mutex_lock(&helper.lock);
    bool ours = !helper.taken && start();
    if (ours) {
        helper.taken = true;
        helper.job = job;
        helper.state = WANTED;
        pthread_cond_signal(&helper.wake);
    }
    pthread_mutex_unlock(&helper.lock);
    return ours;
}

// A helper that has not begun will not begin any more.
static struct outcome take_back(void)
{
    struct outcome o = {.status = 0};
    pthread_mutex_lock(&helper.lock);
    while (helper.state == BUSY)
        pthread_cond_wait(&helper.done, &helper.lock);
    if (helper.state == DONE)
        o = helper.outcome;
    helper.state = IDLE;
    helper.taken = false;
    pthread_mutex_unlock(&helper.lock);
    return o;
}

int em_second_core_run(em_guarded_fn *guarded, void (*fn)(void *), void *parts, uint64_t part_B,
                       unsigned count, struct dm_fault *fault)
{
    if (count == 1)
        return guarded(fn, parts, fault);
    struct job job = {
        .guarded = guarded, .fn = fn, .parts = parts, .part_B = part_B, .count = count};
    struct outcome other = {.status = 0};
    int cancel;
    pthread_setcancelstate(
        PTHREAD_CANCEL_DISABLE,
        &cancel); // the wait is a place where a thread may be cancelled; the job is on its stack
    bool handed = hand_over(&job);
    struct outcome o = work(&job);
    if (handed)
        other = take_back();
    if (other.status && (!o.status || other.part < o.part))
        o = other;
    if (o.status)
        *fault = o.fault;
    pthread_setcancelstate(cancel, NULL);
    return o.status;
}
