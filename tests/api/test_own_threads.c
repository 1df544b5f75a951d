// SPDX-License-Identifier: MIT
// The driver's own threads end when they have had nothing to do for a while, and are there again
// when they are needed. So a process whose first thread has left with pthread_exit ends.
#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "../harness.h"

enum { LARGE_B = 16 << 20, LIMIT_MS = 20000 };

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

// How many threads of the process have names that begin with this.
static unsigned threads_called(const char *start)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *f = fopen(path, "r");
        count += f && fgets(name, sizeof name, f) && !strncmp(name, start, strlen(start));
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

// Expects that the threads end; a busy machine may take its time.
static void expect_no_threads(void)
{
    for (int waited_ms = 0; waited_ms < LIMIT_MS && threads_called("cardless "); waited_ms += 10)
        sleep_ms(10);
    EXPECT_EQ(threads_called("cardless "), 0);
}

static void count_up(void *count)
{
    __atomic_add_fetch((int *)count, 1, __ATOMIC_SEQ_CST);
}

// ---- work for each thread ----

static void use_host(CUstream s)
{
    int calls = 0;
    EXPECT_OK(cuLaunchHostFunc(s, count_up, &calls));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(calls, 1);
}

static void use_object(CUuserObject object, const int *destroyed)
{
    EXPECT_OK(cuUserObjectRelease(object, 1));
    for (int waited_ms = 0; waited_ms < LIMIT_MS && !__atomic_load_n(destroyed, __ATOMIC_SEQ_CST);
         waited_ms++)
        sleep_ms(1);
    EXPECT_EQ(*destroyed, 1);
}

// The word is written by the program, which nobody notices but the thread that watches.
static void use_watch(CUstream s)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    atomic_uint *word = test_hold(s);
    MUST(cuEventRecord(e, s));
    *word = 1;
    EXPECT_OK(cuEventSynchronize(e));
}

static void use_workers(void)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, LARGE_B));
    EXPECT_OK(cuMemsetD8(p, 1, LARGE_B));
    EXPECT_OK(cuMemFree(p));
}

static CUstream start(const char *policy)
{
    CUstream s;
    test_setting("CARDLESS_POLICY", policy);
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

// Two threads stay while work is pending that may need them, and one as long as there is an object.
TEST(threads_end_and_are_started_again)
{
    CUstream s = start("parallel");
    CUuserObject object;
    int calls = 0, destroyed = 0;
    MUST(cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    use_workers();
    atomic_uint *word = test_hold(s);
    MUST(cuLaunchHostFunc(s, count_up, &calls));
    sleep_ms(400);
    EXPECT_EQ(threads_called("cardless host"), 1);
    EXPECT_EQ(threads_called("cardless watch"), 1);
    EXPECT_EQ(threads_called("cardless object"), 1);
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(calls, 1);
    use_object(object, &destroyed);
    expect_no_threads();
    use_host(s);
    use_watch(s);
    use_workers();
    expect_no_threads();
    EXPECT_NO_DIAGNOSTIC();
}

// ---- the end of the process ----

static int written_by_host_function[2]; // a pipe

static void write_byte(void *unused)
{
    (void)unused;
    if (write(written_by_host_function[1], "x", 1) != 1)
        abort();
}

static void leave_main_thread(const char *policy)
{
    static int destroyed;
    CUstream s = start(policy);
    CUuserObject object;
    MUST(cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    use_object(object, &destroyed);
    use_watch(s);
    use_workers();
    use_host(s);
    EXPECT_OK(cuLaunchHostFunc(s, write_byte, NULL));
    if (test_failures)
        exit(1);
    pthread_exit(NULL);
}

// A process ends with its last thread, with status 0, and work that was submitted is done.
static void expect_end(const char *policy)
{
    int status = -1, waited_ms = 0;
    char byte;
    pid_t ended = 0;
    EXPECT_EQ(pipe(written_by_host_function), 0);
    fflush(stdout);
    if (THREAD_SANITIZER)
        SKIP("ThreadSanitizer has a thread of its own, which keeps such a process");
    const pid_t child = fork();
    if (!child)
        leave_main_thread(policy);
    close(written_by_host_function[1]);
    for (; waited_ms < LIMIT_MS && !(ended = waitpid(child, &status, WNOHANG)); waited_ms += 10)
        sleep_ms(10);
    EXPECT_EQ(ended, child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read(written_by_host_function[0], &byte, 1), 1);
    close(written_by_host_function[0]);
}

TEST(process_ends_after_pthread_exit)
{
    expect_end("parallel");
}

// The late runner is one more thread.
TEST(process_ends_after_pthread_exit_lazily)
{
    expect_end("lazy");
}

TESTS(CASE(threads_end_and_are_started_again), CASE(process_ends_after_pthread_exit),
      CASE(process_ends_after_pthread_exit_lazily))
