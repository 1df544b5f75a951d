// SPDX-License-Identifier: MIT
// The one lock over object tables, the address map and the stream queues. Commands run without it.
#pragma once
#include <pthread.h>

extern pthread_mutex_t em_mutex;

static inline void em_lock(void)
{
    pthread_mutex_lock(&em_mutex);
}

static inline void em_unlock(void)
{
    pthread_mutex_unlock(&em_mutex);
}
