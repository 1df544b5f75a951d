// SPDX-License-Identifier: MIT
// Threads that wait for another process: how often they spin, counted and not timed; and that a
// signal wakes the thread that waits, and no other one.
#include "../harness.h"

#include <cardless.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "shared_semaphore.h"
#include "spin.h"

enum { SECOND_NS = 1000000000, WAITS = 10000, ROUNDS = 20 };

// A wait of `wait_ns`, which spins as long as it may. Returns whether it spun.
static bool wait_once(struct dm_spin *s, uint64_t *now_ns, uint64_t wait_ns)
{
    uint64_t left_ns = dm_spin_budget(s, *now_ns), spun_ns = left_ns < wait_ns ? left_ns : wait_ns;
    if (left_ns)
        dm_spin_spent(s, spun_ns);
    *now_ns += wait_ns;
    dm_spin_wait_over(s, *now_ns);
    return left_ns;
}

static unsigned spins(struct dm_spin *s, uint64_t *now_ns, unsigned waits, uint64_t wait_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < waits; i++)
        count += wait_once(s, now_ns, wait_ns);
    return count;
}

TEST(long_waits_stop_spinning)
{
    struct dm_spin s = {0};
    uint64_t now_ns = 1;
    EXPECT_EQ(spins(&s, &now_ns, WAITS, SECOND_NS), 3);
    EXPECT_EQ(spins(&s, &now_ns, WAITS, DM_SPIN_SHORT_NS), 0);
}

// Short waits that no spin shortens, as if the other process waited for this thread's core.
TEST(vain_spins_become_rare)
{
    struct dm_spin s = {0};
    uint64_t now_ns = 1;
    unsigned first = spins(&s, &now_ns, WAITS, DM_SPIN_NS + 1), then;
    then = spins(&s, &now_ns, WAITS, DM_SPIN_NS + 1);
    printf("# %u spins in %d waits, then %u\n", first, WAITS, then);
    EXPECT(first > then);
    EXPECT_EQ(then, WAITS / 129); // one after 128 waits without
}

TEST(success_starts_again)
{
    struct dm_spin s = {0};
    uint64_t now_ns = 1;
    EXPECT_EQ(spins(&s, &now_ns, WAITS, 1000), WAITS);
    EXPECT_EQ(spins(&s, &now_ns, 1, SECOND_NS), 1);
    EXPECT_EQ(spins(&s, &now_ns, WAITS, 1000), WAITS);
    EXPECT_EQ(spins(&s, &now_ns, WAITS, SECOND_NS), 3);
    // One short wait passes without a spin. The next one succeeds.
    EXPECT_EQ(spins(&s, &now_ns, WAITS, 1000), WAITS - 1);
}

// A wait that wakes up now and then, because something else has happened, has one budget.
TEST(one_budget_for_a_wait)
{
    struct dm_spin s = {0};
    uint64_t now_ns = 1, spun_ns = 0, left_ns;
    for (int i = 0; i < WAITS; i++) {
        left_ns = dm_spin_budget(&s, now_ns);
        if (!left_ns)
            continue;
        dm_spin_spent(&s, 1000);
        now_ns += 1000;
        spun_ns += 1000;
    }
    EXPECT_EQ(spun_ns, DM_SPIN_NS);
}

// ---- waking ----

static bool have_futex_waitv(void)
{
    return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) < 0 && errno == EINVAL;
}

static CUcontext context;
static CUstream stream;
static pthread_t ran_in;

static void note_thread(void)
{
    ran_in = pthread_self();
}

static void *synchronize(void *unused)
{
    (void)unused;
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamSynchronize(stream));
    return NULL;
}

static void await_callers(const struct dm_semaphore *s, uint32_t callers)
{
    const struct dm_word *w = &s->shared->word;
    while (__atomic_load_n(&w->callers, __ATOMIC_SEQ_CST) != callers) // the time limit ends this
        usleep(100);
    EXPECT_EQ(__atomic_load_n(&w->waiters, __ATOMIC_SEQ_CST), 0);
}

static CUexternalSemaphore import(int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, .handle.fd = fd};
    CUexternalSemaphore s = NULL;
    EXPECT_OK(cuImportExternalSemaphore(&s, &desc));
    return s;
}

// The thread that synchronises is woken, and runs the command after the wait itself. Another one
// that waits too is woken by it, or runs the command, if it has not slept yet.
TEST(signal_wakes_the_thread_that_waits)
{
    static const cardlessKernelDesc list[] = {{.name = "note", .function = note_thread}};
    static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                             .version = CARDLESS_VERSION,
                                             .kernel_count = 1,
                                             .kernels = list};
    struct dm_semaphore other; // as another process has it
    pthread_t first, second;
    CUmodule module;
    CUfunction note = NULL;
    int fd, by_waiters = 0;
    if (!have_futex_waitv())
        SKIP("the kernel has no futex_waitv");
    EXPECT_EQ(dm_semaphore_create(DM_SEMAPHORE_TIMELINE, 0, &other, &fd), 0);
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUexternalSemaphore s = import(fd);
    if (!cuModuleLoadData(&module, &table)) // libffi is there
        EXPECT_OK(cuModuleGetFunction(&note, module, "note"));
    for (uint64_t value = 1; value <= ROUNDS; value++) {
        CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = value};
        EXPECT_OK(cuWaitExternalSemaphoresAsync(&s, &wait, 1, stream));
        if (note)
            EXPECT_OK(cuLaunchKernel(note, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        EXPECT_EQ(pthread_create(&first, NULL, synchronize, NULL), 0);
        await_callers(&other, 1);
        EXPECT_EQ(pthread_create(&second, NULL, synchronize, NULL), 0);
        dm_semaphore_signal(&other, value);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        await_callers(&other, 0);
        by_waiters += pthread_equal(ran_in, first) || pthread_equal(ran_in, second);
    }
    // The thread that watches the words is awake in the beginning, and may be faster.
    if (note)
        EXPECT(by_waiters >= ROUNDS / 2);
    EXPECT_OK(cuStreamDestroy(stream));
    EXPECT_OK(cuDestroyExternalSemaphore(s));
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    dm_semaphore_close(&other);
}

TESTS(CASE(long_waits_stop_spinning), CASE(vain_spins_become_rare), CASE(success_starts_again),
      CASE(one_budget_for_a_wait), CASE(signal_wakes_the_thread_that_waits))
