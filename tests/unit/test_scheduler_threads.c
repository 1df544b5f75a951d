// SPDX-License-Identifier: MIT
// The scheduler from inside: threads that submit to the same streams.
//   test_scheduler_threads --measure    prints the time of a submission
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "bare_context.h"

// Threads push into one stream: their commands should not overlap.
enum { THREADS = 4, EACH = 3000 };
static int unguarded;
static CUresult count_run(struct em_command *c)
{
    (void)c;
    unguarded++;
    return CUDA_SUCCESS;
}
static const struct em_command_ops count_ops = {.name = "count", .run = count_run};
struct worker {
    struct em_context *context;
    CUstream stream;
};
static void *push_many(void *p)
{
    struct worker *w = p;
    em_self.current = w->context;
    for (int i = 0; i < EACH; i++) {
        struct em_command c = {.ops = &count_ops, .size_B = sizeof c};
        CUstream h = i % 7 == 6 ? NULL : w->stream;
        CHECK_EQ(submit(h, &c, i % 5 ? EM_SUBMIT_ASYNC : EM_SUBMIT_SYNC), CUDA_SUCCESS);
    }
    struct em_command c = {.ops = &count_ops, .size_B = sizeof c};
    CHECK_EQ(submit(CU_STREAM_LEGACY, &c, EM_SUBMIT_SYNC), CUDA_SUCCESS);
    CHECK_EQ(query(CU_STREAM_PER_THREAD) == CUDA_ERROR_NOT_READY || 1, 1);
    return NULL;
}
static void test_threads(void)
{
    struct em_context *c = new_context();
    pthread_t t[THREADS];
    struct worker w = {c, create(0)};
    unguarded = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, push_many, &w);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    CHECK_EQ(unguarded, THREADS * (EACH + 1));
    end_context(c);
}

static void measure(void)
{
    struct em_context *c = new_context();
    struct em_stream *s = get(NULL);
    enum { N = 1000000 };
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < N; i++) {
        struct em_command k = {.ops = &count_ops, .size_B = sizeof k};
        em_submit(s, &k, EM_SUBMIT_ASYNC);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("em_submit of an empty command: %.1f ns\n",
           ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / N);
    em_stream_put(s);
    end_context(c);
}

int main(int argc, char **argv)
{
    setenv("CARDLESS_DIAGNOSTICS", "off", 1);
    __atomic_store_n(&em_driver_state, EM_DRIVER_READY, __ATOMIC_RELEASE);
    alarm(60);
    test_threads();
    if (argc > 1 && !strcmp(argv[1], "--measure"))
        measure();
    em_lock();
    CHECK_EQ(em_object_count(EM_STREAM), 0);
    em_unlock();
    printf("ok\n");
    return 0;
}
