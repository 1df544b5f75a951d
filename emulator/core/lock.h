// SPDX-License-Identifier: MIT
// The one lock over object tables, the address map and the stream queues. Commands run without it.
#pragma once
#include <pthread.h>
#include <stdbool.h>

extern pthread_mutex_t em_mutex;

// A thread that pthread_cancel ends inside of the driver would leave locks behind: from its first
// lock on a call cannot be cancelled, until it returns.
struct em_cancelling {
    bool off;
    int before; // what pthread_setcancelstate gave
};
extern __thread struct em_cancelling em_cancelling __attribute__((tls_model("initial-exec")));

static inline void em_cancel_off(void)
{
    if (em_cancelling.off)
        return;
    em_cancelling.off = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &em_cancelling.before);
}

// The call returns.
static inline void em_cancel_restore(void)
{
    if (!em_cancelling.off)
        return;
    em_cancelling.off = false;
    pthread_setcancelstate(em_cancelling.before, NULL);
}

static inline void em_lock(void)
{
    em_cancel_off();
    pthread_mutex_lock(&em_mutex);
}

// For a few instructions without a cancellation point among them but em_fail, which looks after
// itself: queries that are to be fast.
static inline void em_lock_briefly(void)
{
    pthread_mutex_lock(&em_mutex);
}

static inline void em_unlock(void)
{
    pthread_mutex_unlock(&em_mutex);
}
