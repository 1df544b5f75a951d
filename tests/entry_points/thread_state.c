// SPDX-License-Identifier: MIT
// Thread-local state is found in each thread of a program that contains the library, and of one
// that loads the library late: with room in the reserve of the C library, and with none left.
//     thread_state                    the library is part of the program
//     thread_state LIBRARY [HOG…]     the library is loaded after the hogs (tls_hog.c)
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "../device-model/expect.h"
#include "thread_state_library.h"

#ifdef THREAD_STATE_INSIDE
static bool (*try)(long value, bool *found) = library_try;
#else
static bool (*try)(long value, bool *found);
#endif

enum { EARLY = 2, THREADS = 4 }; // threads; the early ones run before the library is loaded

struct answer {
    sem_t may_ask;
    bool good, found;
};

static void *ask(void *argument)
{
    struct answer *answer = argument;
    sem_wait(&answer->may_ask);
    answer->good = try((long)(intptr_t)answer, &answer->found);
    return NULL;
}

static void start(pthread_t *thread, struct answer *answer)
{
    EXPECT_EQ(sem_init(&answer->may_ask, 0, 0), 0);
    EXPECT_EQ(pthread_create(thread, NULL, ask, answer), 0);
}

// Returns how many hogs found no room.
static int load(int count, char **paths)
{
    int refused = 0;
    for (int i = 1; i < count; i++)
        refused += !dlopen(paths[i], RTLD_NOW);
    void *library = dlopen(paths[0], RTLD_NOW);
    EXPECT(library);
    *(void **)&try = dlsym(library, "library_try");
    EXPECT(try);
    return refused;
}

int main(int argc, char **argv)
{
    struct answer answers[THREADS + 1] = {0};
    pthread_t threads[THREADS];
    int refused = 0;
    for (int i = 0; i < EARLY; i++)
        start(&threads[i], &answers[i]);
    if (argc > 1)
        refused = load(argc - 1, argv + 1);
    for (int i = EARLY; i < THREADS; i++)
        start(&threads[i], &answers[i]);
    answers[THREADS].good = try(THREADS, &answers[THREADS].found);
    for (int i = 0; i < THREADS; i++) {
        EXPECT_EQ(sem_post(&answers[i].may_ask), 0);
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    }
    for (int i = 0; i <= THREADS; i++) {
        EXPECT(answers[i].good);
        EXPECT_EQ(answers[i].found, answers[0].found);
    }
    printf("%d libraries found no room; the offset %s\n", refused,
           answers[0].found ? "is the same in all threads" : "differs");
#if defined(__x86_64__)
    if (argc == 1)
        EXPECT(answers[0].found); // the linker knows the offset
    if (refused)
        EXPECT(!answers[0].found);
#endif
    return 0;
}
