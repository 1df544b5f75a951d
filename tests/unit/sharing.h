// SPDX-License-Identifier: MIT
// For tests of calls that share (share.h).
#pragma once
#include "../harness.h"

#include <pthread.h>

#include "command.h"
#include "lock.h"
#include "stream.h"

enum { OFFERS = 100 };

// Does what threads do that compete for em_lock. Sharing stays off while a thread waits for work.
static inline void share_now(CUstream handle)
{
    struct em_stream *s;
    if (em_stream_get(handle, &s))
        return;
    for (int i = 0; i < OFFERS && !em_is_sharing(); i++) { // while commands run, one is not enough
        em_lock();
        em_sharing_wanted = true;
        em_offer_sharing(s);
        em_unlock();
    }
    em_stream_put(s);
    em_cancel_restore(em_thread());
}

static inline void must_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument))
        abort();
}

// The child cannot use the driver, and does not hang in it.
static inline CUresult fork_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 5 : 6);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
