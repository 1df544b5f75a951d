// SPDX-License-Identifier: MIT
// Stops the end of a thread.
//
// pthread_exit unwinds the stack and runs the handlers that pthread_cleanup_push has registered. A
// handler of ours, at the bottom of the program's part of the stack, jumps back instead of
// returning.
#include "thread_exit.h"

#include <pthread.h>
#include <setjmp.h>

static void jump_back(void *back)
{
    siglongjmp(*(sigjmp_buf *)back, 1);
}

bool dm_call_ends_thread(void (*fn)(void *), void *argument)
{
    sigjmp_buf back;
    volatile bool ends = true;
    pthread_cleanup_push(jump_back, &back);
    if (!sigsetjmp(back, 0)) {
        fn(argument);
        ends = false;
    }
    pthread_cleanup_pop(0);
    return ends;
}
