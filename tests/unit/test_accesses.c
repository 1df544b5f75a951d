// SPDX-License-Identifier: MIT
// The accesses of commands from inside: a command with sixteen of them, and commands that wait,
// fail, are refused or are cloned. Each access that was begun is ended once, and no reference is
// left.
#include <stdatomic.h>

#include "access.h"
#include "alloc.h"
#include "error.h"
#include "issue.h"

enum { MANY = 16, SIZE = 4096 };

// ---- memory that counts ----

// The counts are atomic because a case reads them before it lets the stream go on: nothing orders
// that before the driver's thread, which runs the command later.
struct memory {
    bool watched, absent;
    atomic_int asked, begun, fetched, ended, retained, released;
    bool may_wait;
    CUresult result;
    void (*while_fetching)(void);
};

static struct memory *memory_of(const struct em_access *a)
{
    return a->owner;
}

static bool memory_begin(struct em_access *a)
{
    em_assert_locked();
    memory_of(a)->begun++;
    return memory_of(a)->absent;
}

static void memory_fetch(struct em_access *a, bool may_wait)
{
    em_assert_unlocked();
    struct memory *m = memory_of(a);
    m->fetched++;
    m->may_wait = may_wait;
    EXPECT_EQ(m->begun, m->ended + 1);
    if (m->while_fetching)
        m->while_fetching();
}

static void memory_end(struct em_access *a, CUresult result)
{
    em_assert_locked();
    memory_of(a)->ended++;
    memory_of(a)->result = result;
}

static const struct em_watch_ops watch_ops = {
    .begin = memory_begin, .make_resident = memory_fetch, .end = memory_end};

static const struct em_watch_ops *memory_watch(struct em_access *a)
{
    em_assert_locked();
    memory_of(a)->asked++;
    return memory_of(a)->watched ? &watch_ops : NULL;
}

static void memory_retain(struct em_access *a)
{
    em_assert_locked();
    memory_of(a)->retained++;
}

static void memory_release(struct em_access *a)
{
    em_assert_locked();
    memory_of(a)->released++;
}

static const struct em_access_ops memory_ops = {
    .watch = memory_watch, .retain = memory_retain, .release = memory_release};

// ---- a command that uses it ----

static atomic_int runs, command_clones, command_releases, clones_allowed = 1000;
static CUresult run_result;

static CUresult user_run(struct em_command *c)
{
    em_assert_unlocked();
    for (unsigned i = 0; i < c->access_count; i++) {
        const struct em_access *a = &em_command_accesses(c)[i];
        if (a->ops && memory_of(a)->watched)
            EXPECT_EQ(memory_of(a)->begun, memory_of(a)->ended + 1);
    }
    runs++;
    return run_result ? em_fail(run_result, "the test wants it") : CUDA_SUCCESS;
}

static CUresult user_clone(struct em_command *c)
{
    (void)c;
    if (!clones_allowed)
        return CUDA_ERROR_OUT_OF_MEMORY;
    clones_allowed--;
    command_clones++;
    return CUDA_SUCCESS;
}

static void user_release(struct em_command *c)
{
    (void)c;
    command_releases++;
}

static const struct em_command_ops ops = {
    .name = "test", .run = user_run, .clone = user_clone, .release = user_release};

struct user {
    struct em_command command;
    char between[40];
    struct em_access access[MANY];
};

// A command that writes `count` memories; as if it had been prepared, so with a reference to each.
static struct user user_of(struct memory *memories, unsigned count)
{
    struct user u = {.command = {.ops = &ops,
                                 .size_B = sizeof u,
                                 .accesses_at = offsetof(struct user, access),
                                 .access_count = (uint16_t)count}};
    for (unsigned i = 0; i < count; i++) {
        u.access[i] =
            (struct em_access){.ops = &memory_ops, .mode = EM_ACCESS_WRITE, .owner = &memories[i]};
        memories[i].retained++;
    }
    return u;
}

static void expect_over(const struct memory *m, int begun, CUresult result)
{
    EXPECT_EQ(m->begun, begun);
    EXPECT_EQ(m->ended, begun);
    EXPECT_EQ(m->fetched, m->absent ? begun : 0);
    EXPECT_EQ(m->released, m->retained);
    if (begun)
        EXPECT_EQ(m->result, result);
}

TEST(sixteen_accesses)
{
    struct memory m[MANY];
    memset(m, 0, sizeof m);
    for (unsigned i = 0; i < MANY; i++) {
        m[i].watched = i % 4 != 0;
        m[i].absent = i % 4 == 3;
    }
    test_context();
    struct user u = user_of(m, MANY);
    u.access[5] = (struct em_access){.mode = EM_ACCESS_READ, .address = 64, .size_B = 4};
    m[5].released++;
    EXPECT_OK(issue(NULL, &u.command, EM_SUBMIT_SYNC));
    EXPECT_EQ(runs, 1);
    for (unsigned i = 0; i < MANY; i++) {
        EXPECT_EQ(m[i].asked, i != 5);
        expect_over(&m[i], m[i].watched && i != 5, CUDA_SUCCESS);
        EXPECT(!m[i].may_wait);
    }
}

TEST(command_that_waits)
{
    struct memory m = {.watched = true, .absent = true};
    CUstream s;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    atomic_uint *word = test_hold(s);
    struct user u = user_of(&m, 1);
    EXPECT_OK(issue(s, &u.command, EM_SUBMIT_ASYNC));
    memset(&u, 0xff, sizeof u); // the caller's stack is gone
    EXPECT_EQ(m.begun, 1);
    EXPECT_EQ(m.fetched, 1);
    EXPECT(m.may_wait);
    EXPECT_EQ(m.ended, 0);
    EXPECT_EQ(runs, 0);
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(runs, 1);
    expect_over(&m, 1, CUDA_SUCCESS);
}

TEST(command_that_fails)
{
    struct memory m = {.watched = true};
    test_context();
    run_result = CUDA_ERROR_INVALID_VALUE;
    struct user u = user_of(&m, 1);
    EXPECT_ERROR(issue(NULL, &u.command, EM_SUBMIT_SYNC), CUDA_ERROR_INVALID_VALUE);
    expect_over(&m, 1, CUDA_ERROR_INVALID_VALUE);
}

static void fail_context(void)
{
    em_context_set_sticky(em_self.current, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(context_has_failed)
{
    struct memory m = {.watched = true, .absent = true};
    struct em_stream *s;
    test_context();
    MUST(em_stream_get(NULL, &s));
    fail_context();
    struct user u = user_of(&m, 1);
    EXPECT_ERROR(em_submit(s, &u.command, EM_SUBMIT_SYNC), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(command_releases, 1);
    expect_over(&m, 0, CUDA_SUCCESS);
    em_stream_put(s);
}

TEST(context_fails_while_bytes_are_fetched)
{
    struct memory m = {.watched = true, .absent = true, .while_fetching = fail_context};
    test_context();
    struct user u = user_of(&m, 1);
    EXPECT_ERROR(issue(NULL, &u.command, EM_SUBMIT_SYNC), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(command_releases, 1);
    expect_over(&m, 1, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(no_memory_to_wait)
{
    struct memory m = {.watched = true};
    CUstream s;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    atomic_uint *word = test_hold(s);
    struct user u = user_of(&m, 1);
    dm_alloc_fail_after(1);
    EXPECT_ERROR(issue(s, &u.command, EM_SUBMIT_ASYNC), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(dm_alloc_failed());
    expect_over(&m, 1, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(command_releases, 1);
    *word = 1;
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(runs, 0);
}

TEST(context_ends_while_command_waits)
{
    struct memory m = {.watched = true};
    CUcontext context;
    CUstream s;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, NULL, 0, 0));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    test_hold(s);
    struct user u = user_of(&m, 1);
    EXPECT_OK(issue(s, &u.command, EM_SUBMIT_ASYNC));
    EXPECT_OK(cuCtxDestroy(context));
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(command_releases, 1);
    expect_over(&m, 1, CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST(clones)
{
    enum { CLONES = 3 };
    struct memory m[2] = {{.watched = true}, {.watched = true, .absent = true}};
    struct em_command *copy[CLONES];
    test_context();
    struct user u = user_of(m, 2);
    em_lock();
    for (unsigned i = 0; i < CLONES; i++)
        EXPECT_OK(em_command_clone(&u.command, &copy[i]));
    em_command_release(&u.command);
    em_unlock();
    memset(&u, 0xff, sizeof u);
    EXPECT_EQ(m[0].retained, 1 + CLONES);
    EXPECT_EQ(m[0].begun, 0);
    for (unsigned i = 0; i < CLONES - 1; i++) {
        EXPECT_OK(issue(NULL, copy[i], EM_SUBMIT_SYNC));
        dm_free(copy[i]);
    }
    em_lock();
    em_command_free(copy[CLONES - 1]); // never issued
    em_unlock();
    EXPECT_EQ(runs, CLONES - 1);
    EXPECT_EQ(command_releases, 1 + CLONES);
    expect_over(&m[0], CLONES - 1, CUDA_SUCCESS);
    expect_over(&m[1], CLONES - 1, CUDA_SUCCESS);
}

TEST(clone_fails)
{
    struct memory m = {.watched = true};
    struct em_command *copy = NULL;
    test_context();
    struct user u = user_of(&m, 1);
    em_lock();
    dm_alloc_fail_after(1);
    EXPECT_ERROR(em_command_clone(&u.command, &copy), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(dm_alloc_failed());
    clones_allowed = 0;
    EXPECT_EQ(em_command_clone(&u.command, &copy), CUDA_ERROR_OUT_OF_MEMORY);
    em_command_release(&u.command);
    em_unlock();
    EXPECT(!copy);
    EXPECT_EQ(command_releases, 1);
    expect_over(&m, 0, CUDA_SUCCESS);
}

// A command that uses up something, such as one that ends a mapping, cannot be cloned.
TEST(command_that_runs_once)
{
    static const struct em_command_ops once = {.name = "test", .run = user_run, .once = true};
    struct em_command *copy = NULL;
    test_context();
    em_lock();
    EXPECT_ERROR(
        em_command_clone(&(struct em_command){.ops = &once, .size_B = sizeof *copy}, &copy),
        CUDA_ERROR_NOT_SUPPORTED);
    em_unlock();
    EXPECT(!copy);
}

TESTS(CASE(sixteen_accesses), CASE(command_that_waits), CASE(command_that_fails),
      CASE(context_has_failed), CASE(context_fails_while_bytes_are_fetched),
      CASE(no_memory_to_wait), CASE(context_ends_while_command_waits), CASE(clones),
      CASE(clone_fails), CASE(command_that_runs_once))
