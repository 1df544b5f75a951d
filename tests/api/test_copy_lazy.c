// SPDX-License-Identifier: MIT
// Small copies of memory whose pages the program fills only when they are accessed. Its handler of
// SIGSEGV waits for a thread that itself calls the driver, so the driver must not hold a lock
// while it touches the page.
#include "../harness.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

enum { PAGE_B = 4096, SIZE_B = 64, FILL = 0x5a, LIMIT_S = 20 };

static uint8_t *page;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory, other;
static struct sigaction before;
static int asked[2], answered[2]; // pipes, because a handler may use them
static bool serve;                // the handler fills the page; else it passes the fault on
static int faults;

// What the program does in another thread before it fills a page.
static void *call_driver(void *unused)
{
    char c;
    MUST(cuCtxSetCurrent(context));
    while (read(asked[0], &c, 1) == 1) {
        size_t size;
        CUdeviceptr base;
        MUST(cuMemGetAddressRange(&base, &size, other));
        EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY); // the copy is running
        MUST(cuMemcpyHtoD(other, &c, 1));
        if (write(answered[1], &c, 1) != 1)
            abort();
    }
    return unused;
}

static void on_fault(int number, siginfo_t *info, void *frame)
{
    const uintptr_t at = (uintptr_t)info->si_addr;
    if (at - (uintptr_t)page >= PAGE_B) {
        before.sa_sigaction(number, info, frame);
        return;
    }
    char c = 0;
    struct pollfd answer = {.fd = answered[0], .events = POLLIN};
    faults++;
    if (write(asked[1], &c, 1) != 1 || poll(&answer, 1, LIMIT_S * 1000) != 1 ||
        read(answered[0], &c, 1) != 1) {
        static const char text[] = "not ok - the driver is blocked while a page is filled\n";
        (void)!write(STDOUT_FILENO, text, sizeof text - 1);
        _exit(1);
    }
    if (!serve) {
        before.sa_sigaction(number, info, frame);
        return;
    }
    mprotect(page, PAGE_B, PROT_READ | PROT_WRITE);
    memset(page, FILL, PAGE_B);
}

static void make_lazy(void)
{
    mprotect(page, PAGE_B, PROT_NONE);
    faults = 0;
    serve = true;
}

static void begin(void)
{
    pthread_t thread;
    context = test_context();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&memory, PAGE_B));
    MUST(cuMemAlloc(&other, PAGE_B));
    page = mmap(NULL, PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    if (page == MAP_FAILED || pipe(asked) || pipe(answered) ||
        sigaction(SIGSEGV, &action, &before) || pthread_create(&thread, NULL, call_driver, NULL))
        abort();
}

static void expect_filled(void)
{
    uint8_t back[SIZE_B] = {0};
    EXPECT_EQ(faults, 1);
    EXPECT_OK(cuMemcpyDtoH(back, memory, SIZE_B));
    for (int i = 0; i < SIZE_B; i++)
        EXPECT_EQ(back[i], FILL);
}

TEST(copies_to_the_device)
{
    begin();
    make_lazy();
    EXPECT_OK(cuMemcpyHtoDAsync(memory, page, SIZE_B, stream));
    expect_filled();
    EXPECT_OK(cuMemsetD8(memory, 0, SIZE_B));
    make_lazy();
    EXPECT_OK(cuMemcpyAsync(memory, (CUdeviceptr)(uintptr_t)page, SIZE_B, stream));
    expect_filled();
}

TEST(copies_to_the_host)
{
    begin();
    MUST(cuMemsetD8Async(memory, 7, PAGE_B, stream));
    make_lazy();
    EXPECT_OK(cuMemcpyDtoHAsync(page, memory, SIZE_B, stream));
    EXPECT_EQ(faults, 1);
    EXPECT_EQ(page[SIZE_B - 1], 7);
    EXPECT_EQ(page[SIZE_B], FILL);
}

// A copy that has to wait takes its bytes along when it is submitted.
TEST(staged_copies)
{
    begin();
    atomic_uint *word = test_hold(stream);
    make_lazy();
    EXPECT_OK(cuMemcpyHtoDAsync(memory, page, SIZE_B, stream));
    atomic_store(word, 1);
    EXPECT_OK(cuStreamSynchronize(stream));
    expect_filled();
}

// The fault is reported although the scheduler has learned of the copy only while it ran.
TEST(pages_that_stay_closed)
{
    begin();
    make_lazy();
    serve = false;
    EXPECT_ONE_SENTENCE(cuMemcpyHtoDAsync(memory, page, SIZE_B, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuMemcpyDtoHAsync(page, memory, SIZE_B, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT(faults >= 2);
    make_lazy();
    EXPECT_OK(cuMemcpyHtoDAsync(memory, page, SIZE_B, stream));
    expect_filled();
    EXPECT_OK(cuStreamSynchronize(stream));
}

TESTS(CASE(copies_to_the_device), CASE(copies_to_the_host), CASE(staged_copies),
      CASE(pages_that_stay_closed))
