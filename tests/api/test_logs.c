// SPDX-License-Identifier: MIT
// The log of errors: callbacks, dumps, and the file of CUDA_LOG_FILE.
#include "../harness.h"
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <time.h>

enum { MOST = 32000, LINES = 100 };

static char text[MOST];

// Makes an error whose message names the address.
static void fail_at(unsigned address)
{
    EXPECT_ERROR(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

// Reads the log into `text`, and returns its length.
static size_t dump(CUlogIterator *from)
{
    size_t size = sizeof text;
    EXPECT_OK(cuLogsDumpToMemory(from, text, &size, 0));
    EXPECT_EQ(strlen(text), size);
    return size;
}

static unsigned count_lines(void)
{
    unsigned lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    return lines;
}

static const char *last_line(void)
{
    char *end = strrchr(text, '\n');
    if (!end)
        return "";
    while (end > text && end[-1] != '\n')
        end--;
    return end;
}

struct heard {
    unsigned count;
    CUlogLevel level;
    char first[4096], last[4096];
    size_t length;
};

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    struct heard *h = data;
    h->level = level;
    h->length = length;
    if (!h->count++)
        snprintf(h->first, sizeof h->first, "%s", message);
    snprintf(h->last, sizeof h->last, "%s", message);
}

// "[Time][TID][Source][Severity] Message". A call that fails has a second message, its result.
TEST(format)
{
    int hour, minute, second, millisecond, thread, at = 0;
    CUlogIterator begin;
    test_context();
    EXPECT_OK(cuLogsCurrent(&begin, 0));
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    fail_at(0x123);
    EXPECT(dump(&begin) > 0);
    EXPECT_EQ(count_lines(), 2);
    EXPECT_EQ(sscanf(text, "[%d:%d:%d.%d][%d][CUDA][E] %n", &hour, &minute, &second, &millisecond,
                     &thread, &at),
              5);
    EXPECT(at > 0 && strstr(text + at, "dptr") == text + at);
    EXPECT(strstr(text + at, "0x123"));
    EXPECT(
        strstr(last_line(), "[CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2"));
    EXPECT_EQ(thread, syscall(SYS_gettid));
    const int passed = hour * 3600 + minute * 60 + second -
                       (local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec);
    EXPECT((passed + 86400) % 86400 <= 60);
}

TEST(iterators)
{
    CUlogIterator first, second, end;
    test_context();
    EXPECT_OK(cuLogsCurrent(&first, 0));
    fail_at(0x111);
    EXPECT_OK(cuLogsCurrent(&second, 0));
    fail_at(0x222);
    EXPECT_EQ(second - first, 2);
    end = second;
    dump(&end);
    EXPECT_EQ(count_lines(), 2);
    EXPECT(strstr(text, "0x222"));
    EXPECT_EQ(end - second, 2);
    dump(&end); // nothing is left
    EXPECT_EQ(count_lines(), 0);
    dump(&first);
    EXPECT_EQ(count_lines(), 4);
    EXPECT_EQ(first, end);
    dump(NULL);
    EXPECT(strstr(text, "0x111") && strstr(text, "0x222"));
    end += 1000;
    size_t size = sizeof text;
    EXPECT_MESSAGE(cuLogsDumpToMemory(&end, text, &size, 0), CUDA_ERROR_INVALID_VALUE, "iterator");
    EXPECT_EQ(size, 0);
}

TEST(small_buffers)
{
    CUlogIterator begin, at;
    test_context();
    EXPECT_OK(cuLogsCurrent(&begin, 0));
    at = begin;
    size_t size = 0;
    EXPECT_OK(cuLogsDumpToMemory(&at, text, &size, 0)); // no messages
    fail_at(0x111);
    at = begin;
    dump(&at);
    const size_t one = strlen(last_line());
    for (size_t given = 0; given <= one; given++) {
        at = begin;
        size = given;
        memset(text, 'x', one + 2);
        EXPECT_ERROR(cuLogsDumpToMemory(&at, text, &size, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(size, 0);
        EXPECT_EQ(at, begin);
        EXPECT_EQ(text[given], 'x');
        CUlogIterator end;
        EXPECT_OK(cuLogsCurrent(&end, 0));
        begin = end; // the failed dump is a message itself
        fail_at(0x111);
    }
    at = begin;
    size = one + 1;
    EXPECT_OK(cuLogsDumpToMemory(&at, text, &size, 0));
    EXPECT_EQ(size, one);
    EXPECT(strstr(text, "Returning"));
}

// "The final message in buffer will always be the most recent log message".
TEST(cut_dumps)
{
    CUlogIterator begin, at;
    test_context();
    EXPECT_OK(cuLogsCurrent(&begin, 0));
    for (unsigned i = 0; i < 10; i++)
        fail_at(0x1000 + i);
    at = begin;
    const size_t all = dump(&at);
    EXPECT_EQ(count_lines(), 20);
    size_t size = all;
    at = begin;
    EXPECT_OK(cuLogsDumpToMemory(&at, text, &size, 0));
    EXPECT(size < all);
    EXPECT_EQ(strlen(text), size);
    EXPECT(text[0] != '[');      // says that messages are missing
    EXPECT(count_lines() <= 20); // with the one that says so
    EXPECT(strstr(last_line(), "Returning"));
    EXPECT(strstr(text, "0x1009"));
    EXPECT(!strstr(text, "0x1000"));
}

TEST(oldest_are_dropped)
{
    CUlogIterator begin;
    test_context();
    EXPECT_OK(cuLogsCurrent(&begin, 0));
    for (unsigned i = 0; i < 3 * LINES; i++)
        fail_at(0x1000 + i);
    EXPECT(dump(&begin) <= MOST);
    EXPECT(text[0] != '[');
    EXPECT_EQ(count_lines(), LINES + 1);
    EXPECT(strstr(text, "0x112b"));
    dump(NULL);
    EXPECT(text[0] != '[');
}

TEST(refused)
{
    CUlogIterator at = 77;
    size_t size = sizeof text;
    MUST(cuInit(0));
    EXPECT_ERROR(cuLogsCurrent(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLogsCurrent(&at, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(at, 77);
    EXPECT_ERROR(cuLogsDumpToMemory(NULL, NULL, &size, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLogsDumpToMemory(NULL, text, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLogsDumpToMemory(NULL, text, &size, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(size, sizeof text);
    EXPECT_ERROR(cuLogsDumpToFile(NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_MESSAGE(cuLogsDumpToFile(NULL, "/nonexistent/log", 0), CUDA_ERROR_INVALID_VALUE,
                   "/nonexistent/log");
    EXPECT_ERROR(cuLogsRegisterCallback(NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLogsUnregisterCallback(NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuLogsCurrent(&at, 0));
}

// The driver accepts any flags.
TEST(flags_as_the_driver)
{
    CUlogIterator at;
    size_t size = sizeof text;
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    MUST(cuInit(0));
    EXPECT_OK(cuLogsCurrent(&at, 1));
    EXPECT_OK(cuLogsDumpToMemory(&at, text, &size, 7));
}

TEST(file)
{
    const char *path = test_new_file("log.txt");
    CUlogIterator begin;
    test_context();
    EXPECT_OK(cuLogsCurrent(&begin, 0));
    fail_at(0x111);
    fail_at(0x222);
    CUlogIterator at = begin;
    EXPECT_OK(cuLogsDumpToFile(&at, path, 0));
    EXPECT_EQ(at - begin, 4);
    FILE *f = fopen(path, "r");
    EXPECT(f);
    const size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[size] = 0;
    EXPECT_EQ(count_lines(), 4);
    EXPECT(strstr(text, "0x111") && strstr(text, "0x222"));
    struct stat s;
    EXPECT_OK(cuLogsDumpToFile(&at, path, 0)); // no messages: an empty file
    EXPECT(!stat(path, &s) && s.st_size == 0);
}

// The log needs no driver.
TEST(before_start)
{
    CUlogIterator at = 77;
    CUlogsCallbackHandle handle;
    struct heard heard = {0};
    EXPECT_OK(cuLogsCurrent(&at, 0));
    EXPECT_EQ(at, 0);
    EXPECT_OK(cuLogsRegisterCallback(hear, &heard, &handle));
    EXPECT_ERROR(cuCtxGetCurrent(NULL), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(heard.count, 2);
    EXPECT(dump(&at) > 0);
    EXPECT_OK(cuLogsUnregisterCallback(handle));
}

// ---- callbacks ----

TEST(callbacks)
{
    struct heard first = {0}, second = {0};
    CUlogsCallbackHandle one, two;
    test_context();
    EXPECT_OK(cuLogsRegisterCallback(hear, &first, &one));
    fail_at(0x111);
    EXPECT_EQ(first.count, 2);
    EXPECT_EQ(first.level, CU_LOG_LEVEL_ERROR);
    EXPECT_EQ(first.length, strlen(first.last));
    EXPECT(strstr(first.first, "0x111") && !strchr(first.first, '['));
    EXPECT_STR(first.last, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2");
    EXPECT_OK(cuLogsRegisterCallback(hear, &second, &two));
    EXPECT(one != two);
    fail_at(0x222);
    EXPECT_EQ(first.count, 4);
    EXPECT_EQ(second.count, 2);
    EXPECT_OK(cuLogsUnregisterCallback(one));
    fail_at(0x333);
    EXPECT_EQ(first.count, 4);
    EXPECT_EQ(second.count, 4);
    EXPECT_ERROR(cuLogsUnregisterCallback(one), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(second.count, 6);
    EXPECT_OK(cuLogsUnregisterCallback(two));
    fail_at(0x444);
    EXPECT_EQ(second.count, 6);
}

// The driver calls a callback without its locks, so that a callback may call the driver.
static void CUDA_CB call_driver(void *data, CUlogLevel level, char *message, size_t length)
{
    CUdeviceptr p;
    ++*(unsigned *)data;
    EXPECT_OK(cuMemAlloc(&p, 64));
    EXPECT_OK(cuMemFree(p));
    fail_at(0x999); // the log gets this message, callbacks do not
}

TEST(calls_in_callbacks)
{
    unsigned count = 0;
    CUlogsCallbackHandle handle;
    test_context();
    EXPECT_OK(cuLogsRegisterCallback(call_driver, &count, &handle));
    fail_at(0x111);
    EXPECT_EQ(count, 2);
    dump(NULL);
    EXPECT(strstr(text, "0x111") && strstr(text, "0x999"));
    EXPECT_OK(cuLogsUnregisterCallback(handle));
}

static CUlogsCallbackHandle own_handle;

static void CUDA_CB unregister_itself(void *data, CUlogLevel level, char *message, size_t length)
{
    ++*(unsigned *)data;
    EXPECT_OK(cuLogsUnregisterCallback(own_handle));
}

TEST(callback_that_ends_itself)
{
    unsigned count = 0;
    test_context();
    EXPECT_OK(cuLogsRegisterCallback(unregister_itself, &count, &own_handle));
    fail_at(0x111);
    fail_at(0x222);
    EXPECT_EQ(count, 1);
}

static atomic_int entered, left, released;

static void CUDA_CB linger(void *data, CUlogLevel level, char *message, size_t length)
{
    entered = 1;
    while (!released)
        usleep(1000);
    left = 1;
}

static void *fail_there(void *context)
{
    EXPECT_OK(cuCtxSetCurrent(context));
    fail_at(0x111);
    return NULL;
}

static void *release_later(void *unused)
{
    usleep(50000);
    released = 1;
    return NULL;
}

// Nobody is in a callback any more when it has been unregistered.
TEST(unregistering_waits)
{
    pthread_t thread, other;
    CUlogsCallbackHandle handle;
    CUcontext context = test_context();
    EXPECT_OK(cuLogsRegisterCallback(linger, NULL, &handle));
    MUST(pthread_create(&thread, NULL, fail_there, context) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    while (!entered)
        usleep(1000);
    MUST(pthread_create(&other, NULL, release_later, NULL) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    EXPECT_OK(cuLogsUnregisterCallback(handle));
    EXPECT_EQ(left, 1);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
}

// A thread that was in a callback does not exist in a child of fork, and is not awaited there.
TEST(fork_beside_a_callback)
{
    pthread_t thread;
    CUlogsCallbackHandle handle;
    int status = 0;
    CUcontext context = test_context();
    EXPECT_OK(cuLogsRegisterCallback(linger, NULL, &handle));
    MUST(pthread_create(&thread, NULL, fail_there, context) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    while (!entered)
        usleep(1000);
    const pid_t child = fork();
    if (!child) {
        alarm(10);
        _exit(cuLogsUnregisterCallback(handle) & 0xff);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    released = 1;
    pthread_join(thread, NULL);
    EXPECT_OK(cuLogsUnregisterCallback(handle));
}

static void CUDA_CB leave_thread(void *data, CUlogLevel level, char *message, size_t length)
{
    pthread_exit(NULL);
}

TEST(callback_that_exits)
{
    CUlogsCallbackHandle handle;
    test_context();
    EXPECT_OK(cuLogsRegisterCallback(leave_thread, NULL, &handle));
    fail_at(0x111); // goes on
    EXPECT_OK(cuLogsUnregisterCallback(handle));
}

// ---- CUDA_LOG_FILE ----

TEST(log_file)
{
    const char *path = test_new_file("log.txt");
    test_setting("CUDA_LOG_FILE", path);
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    test_context();
    fail_at(0x111);
    fail_at(0x222);
    FILE *f = fopen(path, "r");
    EXPECT(f);
    const size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[size] = 0;
    EXPECT_EQ(count_lines(), 4);
    EXPECT(strstr(text, "0x111") && strstr(text, "0x222"));
}

// Runs `body` in a child whose descriptor `fd` is a pipe, and reads its output into `text`.
static void read_child(int fd, void (*body)(void))
{
    int ends[2];
    EXPECT(!pipe(ends));
    const pid_t child = fork();
    if (!child) {
        dup2(ends[1], fd);
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t n = 1; n > 0; size += n > 0 ? (size_t)n : 0)
        n = read(ends[0], text + size, sizeof text - 1 - size);
    text[size] = 0;
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void fail_once(void)
{
    cuInit(0);
    cuDeviceGet(NULL, 0);
}

TEST(log_on_standard_output)
{
    test_setting("CUDA_LOG_FILE", "stdout");
    read_child(STDOUT_FILENO, fail_once);
    EXPECT_EQ(count_lines(), 2);
    EXPECT(strstr(text, "[CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuDeviceGet"));
    test_setting("CUDA_LOG_FILE", "stderr");
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    read_child(STDERR_FILENO, fail_once);
    EXPECT_EQ(count_lines(), 2);
    EXPECT(strstr(text, "[CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuDeviceGet"));
}

TESTS(CASE(format), CASE(iterators), CASE(small_buffers), CASE(cut_dumps), CASE(oldest_are_dropped),
      CASE(refused), CASE(flags_as_the_driver), CASE(file), CASE(before_start), CASE(callbacks),
      CASE(calls_in_callbacks), CASE(callback_that_ends_itself), CASE(unregistering_waits),
      CASE(fork_beside_a_callback), CASE(callback_that_exits), CASE(log_file),
      CASE(log_on_standard_output))
