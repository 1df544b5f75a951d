// SPDX-License-Identifier: MIT
// Threads that wait for em_lock: each gets it in the end while others take it in quick succession,
// never two hold it at once, and one that waits for long sleeps. The linker puts the functions
// below in the place of those of the C library.
#include "../harness.h"

#include <pthread.h>
#include <sched.h>

#include "lock.h"

enum {
    THREADS = 4,
    EACH = 20000,
    TURNS = 50,
    SECTIONS_MOST = 100000000, // of all threads, while one of them has TURNS
};

static atomic_int blocked, tried; // calls of pthread_mutex_lock and pthread_mutex_trylock

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (mutex == &em_mutex.mutex)
        blocked++;
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (mutex == &em_mutex.mutex)
        tried++;
    return __real_pthread_mutex_trylock(mutex);
}

static int sum; // guarded by em_lock
static atomic_bool stop;

static void *add(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        em_self.calls++;
        em_lock();
        int before = sum;
        if (i % 64 == 0)
            sched_yield(); // another thread runs while this one holds the lock
        sum = before + 1;
        em_unlock();
    }
    em_cancel_restore(em_thread());
    return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *))
{
    EXPECT_EQ(pthread_create(thread, NULL, body, NULL), 0);
}

TEST(one_at_a_time)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], add);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_EQ(sum, THREADS * EACH);
}

static void *take_again_and_again(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop) && dm_mutex_taken(&em_mutex) < SECTIONS_MOST) {
        em_self.calls++;
        em_lock();
        em_unlock();
    }
    em_cancel_restore(em_thread());
    return NULL;
}

// A thread gets its turns within a bounded number of the others' sections, with the patience of a
// thread that makes few calls, and of one that makes many.
TEST(no_starvation)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], take_again_and_again);
    for (int turns = 0; turns < TURNS; turns++) {
        em_self.calls += turns % 2 ? 1000 : 0;
        em_lock();
        em_unlock();
        if (turns % 2)
            sched_yield();
    }
    const uint64_t sections = dm_mutex_taken(&em_mutex);
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    em_cancel_restore(em_thread());
    printf("# %d turns within %llu sections of all threads\n", TURNS, (unsigned long long)sections);
    EXPECT(sections < SECTIONS_MOST); // the others end at that number
}

static void *take_once(void *unused)
{
    (void)unused;
    em_lock();
    sum++;
    em_unlock();
    em_cancel_restore(em_thread());
    return NULL;
}

// While the lock is held the other thread tries to take it some times, and then sleeps.
TEST(held_for_long)
{
    pthread_t thread;
    const int earlier = atomic_load(&blocked) + atomic_load(&tried); // by the fork of this process
    em_lock();
    int before = atomic_load(&blocked);
    EXPECT_EQ(before + atomic_load(&tried) - earlier, 1); // a free lock is taken by one call
    start(&thread, take_once);
    while (atomic_load(&blocked) == before) // the time limit finds one that spins for ever
        usleep(100);
    EXPECT_EQ(sum, 0);
    int tries = atomic_load(&tried);
    usleep(1000);
    EXPECT_EQ(atomic_load(&tried), tries);
    em_unlock();
    pthread_join(thread, NULL);
    em_cancel_restore(em_thread());
    EXPECT_EQ(sum, 1);
    EXPECT_EQ(atomic_load(&blocked), before + 1);
}

TESTS(CASE(one_at_a_time), CASE(no_starvation), CASE(held_for_long))
