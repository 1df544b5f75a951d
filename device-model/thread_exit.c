// SPDX-License-Identifier: MIT
// Stops the end of a thread.
//
// pthread_exit unwinds the stack and runs the handlers that pthread_cleanup_push has registered. A
// handler of ours, at the bottom of the program's part of the stack, jumps back instead of
// returning.
#include "thread_exit.h"

#include <pthread.h>
#include <setjmp.h>

struct bottom {
    sigjmp_buf back;
    void (*landed)(void *);
    void *argument;
};

static void jump_back(void *argument)
{
    struct bottom *b = argument;
    if (b->landed)
        b->landed(b->argument);
    siglongjmp(b->back, 1);
}

bool dm_call_ends_thread(void (*fn)(void *), void *argument, void (*landed)(void *))
{
    struct bottom bottom = {.landed = landed, .argument = argument};
    volatile bool ends = true;
    pthread_cleanup_push(jump_back, &bottom);
    if (!sigsetjmp(bottom.back, 0)) {
        fn(argument);
        ends = false;
    }
    pthread_cleanup_pop(0);
    return ends;
}
