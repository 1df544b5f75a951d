// SPDX-License-Identifier: MIT
// Launches that take over the place of the last one, and that the scheduler does not know unless
// another thread looks: small kernels of PTX texts, again and again.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kernel_text.h"

static CUdeviceptr out;
static CUstream stream;
static CUmodule module;

static void start(const char *text)
{
    ptx_start();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&out, 1 << 16));
    MUST(cuMemsetD8(out, 0xff, 1 << 16));
    module = ptx_load(text);
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, CUdeviceptr at,
                       unsigned value)
{
    void *parameters[] = {&at, &value};
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL);
}

// out[i] = value + 1000 * threads of a block + i * 3
static const char fill[] = PTX_HEAD
    ".visible .entry fill(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .u32 %r<9>;\n.reg .u64 %rd<5>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [value];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %ctaid.x;\n"
    "mad.lo.u32 %r5, %r4, %r3, %r2;\nmad.lo.u32 %r6, %r3, 1000, %r1;\n"
    "mad.lo.u32 %r7, %r5, 3, %r6;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r7;\nret;\n}\n"
    ".visible .entry other(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .u32 %r<3>;\n.reg .u64 %rd<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [value];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";

TEST(sizes_and_arguments)
{
    static const unsigned blocks[] = {1, 1, 3, 1, 1, 2, 1, 1},
                          threads[] = {32, 7, 7, 7, 64, 64, 1, 32};
    static unsigned got[512];
    start(fill);
    CUfunction f = ptx_kernel(module, "fill"), g = ptx_kernel(module, "other");
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
            const unsigned count = blocks[i] * threads[i], value = 17 * i + round;
            const CUdeviceptr at = out + 256 * (CUdeviceptr)i;
            EXPECT_OK(launch(f, blocks[i], threads[i], at, value));
            if (round % 2)
                EXPECT_OK(launch(g, 1, 32, out + 32768, i));
            EXPECT_OK(cuMemcpyDtoH(got, at, count * sizeof *got));
            for (unsigned n = 0; n < count; n++)
                EXPECT_EQ(got[n], value + 1000 * threads[i] + 3 * n);
        }
    }
}

// Registers that nothing has written read as 0, also if the last launch has written them.
static const char unwritten[] = PTX_HEAD
    ".visible .entry few(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .pred %p;\n.reg .u32 %r<5>;\n.reg .u64 %rd1;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [value];\n"
    "setp.eq.u32 %p, %r1, 0;\n@!%p mov.u32 %r2, %r1;\n@%p bra over;\nmul.lo.u32 %r3, %r1, 2;\n"
    "over:\nst.global.u32 [%rd1], %r2;\nst.global.u32 [%rd1+4], %r3;\nret;\n}\n"
    ".visible .entry many(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .pred %p;\n.reg .u32 %r<20>;\n.reg .u64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [value];\n"
    "mov.u32 %r13, %tid.x;\nmul.wide.u32 %rd2, %r13, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
    "setp.eq.u32 %p, %r1, 0;\n"
    "@!%p mov.u32 %r2, %r1;\n@!%p mov.u32 %r3, %r1;\n@!%p mov.u32 %r4, %r1;\n"
    "@!%p mov.u32 %r5, %r1;\n@!%p mov.u32 %r6, %r1;\n@!%p mov.u32 %r7, %r1;\n"
    "@!%p mov.u32 %r8, %r1;\n@!%p mov.u32 %r9, %r1;\n@!%p mov.u32 %r10, %r1;\n"
    "add.u32 %r11, %r2, %r3;\nadd.u32 %r11, %r11, %r4;\nadd.u32 %r11, %r11, %r5;\n"
    "add.u32 %r11, %r11, %r6;\nadd.u32 %r11, %r11, %r7;\nadd.u32 %r11, %r11, %r8;\n"
    "add.u32 %r11, %r11, %r9;\nadd.u32 %r11, %r11, %r10;\nadd.u32 %r11, %r11, 1234567;\n"
    "add.u32 %r11, %r11, %r13;\nst.global.u32 [%rd1], %r11;\nret;\n}\n";

TEST(unwritten_registers)
{
    start(unwritten);
    CUfunction few = ptx_kernel(module, "few"), many = ptx_kernel(module, "many");
    for (unsigned i = 0; i < 6; i++) {
        const unsigned value = i % 2 ? 0 : 10 + i;
        EXPECT_OK(launch(few, 1, 32, out, value));
        EXPECT_EQ(ptx_word(out), value);
        EXPECT_EQ(ptx_word(out + 4), 2 * value);
        EXPECT_OK(launch(many, 1, 32, out, value));
        EXPECT_EQ(ptx_word(out + 4 * 21), 9 * value + 1234567 + 21);
    }
}

// More backward branches than a block may make in its first turn.
static const char loop[] =
    PTX_HEAD ".visible .entry loop(.param .u64 out, .param .u32 value)\n{\n"
             ".reg .pred %p;\n.reg .u32 %r<4>;\n.reg .u64 %rd1;\n"
             "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [value];\nmov.u32 %r2, 0;\n"
             "again:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, %r1;\n@%p bra again;\n"
             "st.global.u32 [%rd1], %r2;\nret;\n}\n";

TEST(several_turns)
{
    start(loop);
    CUfunction f = ptx_kernel(module, "loop");
    for (unsigned i = 0; i < 4; i++) {
        const unsigned value = i % 2 ? 300000 : 3 + i;
        EXPECT_OK(launch(f, 1, 32, out, value));
        EXPECT_EQ(ptx_word(out), value);
    }
}

TEST(endless_in_a_later_launch)
{
    setenv("CARDLESS_KERNEL_BRANCHES", "100000", 1);
    start(loop);
    CUfunction f = ptx_kernel(module, "loop");
    EXPECT_OK(launch(f, 1, 32, out, 5));
    EXPECT_OK(launch(f, 1, 32, out, 5));
    EXPECT_OK(launch(f, 1, 32, out, 1u << 30));
    EXPECT_ERROR(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_TIMEOUT);
}

static CUresult launch_shared(CUfunction f, unsigned shared_B)
{
    unsigned value = 1;
    void *parameters[] = {&out, &value};
    return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, shared_B, stream, parameters, NULL);
}

// A launch like the last one is checked again if the function has changed.
TEST(limit_changes)
{
    const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    start(fill);
    CUfunction f = ptx_kernel(module, "fill");
    EXPECT_OK(launch_shared(f, 4096));
    EXPECT_OK(launch_shared(f, 4096));
    EXPECT_OK(cuFuncSetAttribute(f, most, 4095));
    EXPECT_ERROR(launch_shared(f, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(launch_shared(f, 4095));
    EXPECT_ERROR(launch_shared(f, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuFuncSetAttribute(f, most, 4096));
    EXPECT_OK(launch_shared(f, 4096));
    EXPECT_ERROR(launch(f, 1, 2048, out, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(launch(f, 0, 32, out, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(launch(f, 1, 32, out, 1));
}

// ---- faults ----

static void launch_often(CUfunction f)
{
    for (unsigned i = 0; i < 100; i++) {
        EXPECT_OK(launch(f, 1, 32, out, i));
        EXPECT_OK(cuStreamSynchronize(stream));
    }
}

static void expect_fault(CUfunction f)
{
    EXPECT_OK(launch(f, 1, 32, out + (UINT64_C(1) << 32), 1));
    EXPECT_ERROR(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(launch(f, 1, 32, out, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_ERROR(cuMemsetD8(out, 0, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(fault_in_a_later_launch)
{
    start(fill);
    CUfunction f = ptx_kernel(module, "fill");
    launch_often(f);
    expect_fault(f);
}

static const char empty[] = PTX_HEAD ".visible .entry empty(.param .u64 out, .param .u32 value)\n"
                                     "{\nret;\n}\n";

// The thread blocks signals immediately before a launch.
TEST(blocked_signals)
{
    sigset_t all, after;
    start(fill);
    CUmodule second = ptx_load(empty);
    CUfunction f = ptx_kernel(module, "fill"), e = ptx_kernel(second, "empty");
    launch_often(f);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    launch_often(e);
    launch_often(f);
    expect_fault(f);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    EXPECT(sigismember(&after, SIGSEGV) && sigismember(&after, SIGBUS));
}

static sigjmp_buf back;
static volatile int handled;

static void handle(int sig)
{
    handled = sig;
    siglongjmp(back, 1);
}

static volatile unsigned *volatile nowhere = (volatile unsigned *)16;

TEST(handlers_of_the_program)
{
    if (SANITIZED)
        SKIP("a sanitizer has its own handlers");
    start(fill);
    CUmodule second = ptx_load(empty);
    CUfunction f = ptx_kernel(module, "fill"), e = ptx_kernel(second, "empty");
    launch_often(f);
    signal(SIGSEGV, handle);
    signal(SIGBUS, handle);
    launch_often(e);
    launch_often(f);
    expect_fault(f);
    EXPECT_EQ(handled, 0);
    if (!sigsetjmp(back, 1))
        *nowhere = 1;
    EXPECT_EQ(handled, SIGSEGV);
}

static bool is_our_handler(void)
{
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    return now.sa_handler == handle;
}

// A kernel that accesses no memory runs with the mask and the handlers of the program as they are.
TEST(kernel_without_accesses)
{
    sigset_t all, after;
    if (SANITIZED)
        SKIP("a sanitizer has its own handlers");
    start(fill);
    CUmodule second = ptx_load(empty);
    CUfunction f = ptx_kernel(module, "fill"), e = ptx_kernel(second, "empty");
    launch_often(f);
    signal(SIGSEGV, handle);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    usleep(1000);
    launch_often(e);
    EXPECT(is_our_handler());
    launch_often(f);
    EXPECT(!is_our_handler());
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    EXPECT(sigismember(&after, SIGSEGV));
    expect_fault(f);
}

// ---- other threads ----

// Stores 1 to `out`, waits until the word after it is not 0, and stores 2.
static const char waits[] = PTX_HEAD
    ".visible .entry wait(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .pred %p;\n.reg .u32 %r<4>;\n.reg .u64 %rd1;\n"
    "ld.param.u64 %rd1, [out];\nst.volatile.global.u32 [%rd1], 1;\n"
    "again:\nld.volatile.global.u32 %r1, [%rd1+4];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
    "st.volatile.global.u32 [%rd1], 2;\nret;\n}\n"
    ".visible .entry wait_and_fail(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .pred %p;\n.reg .u32 %r<4>;\n.reg .u64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nst.volatile.global.u32 [%rd1], 1;\n"
    "again:\nld.volatile.global.u32 %r1, [%rd1+4];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
    "mov.u64 %rd2, 64;\nst.global.u32 [%rd2], 2;\nret;\n}\n";

struct waiting {
    CUcontext context;
    CUfunction f;
    CUdeviceptr at;
    atomic_uint *words;
    CUresult result;
    pthread_t thread;
};

static void *run_waiting(void *argument)
{
    struct waiting *w = argument;
    cuCtxSetCurrent(w->context);
    w->result = launch(w->f, 1, 1, w->at, 0);
    return NULL;
}

// Returns when the kernel runs.
static void begin_waiting(struct waiting *w, const char *name)
{
    void *words;
    if (THREAD_SANITIZER)
        SKIP("the kernel's accesses are races with the test's");
    start(waits);
    MUST(cuCtxGetCurrent(&w->context));
    MUST(cuMemAllocHost(&words, 4096));
    MUST(cuMemHostGetDevicePointer(&w->at, words, 0));
    w->f = ptx_kernel(module, name);
    w->words = words;
    // The next launch takes over the place of this one.
    atomic_store(&w->words[1], 1);
    if (!strcmp(name, "wait")) {
        EXPECT_OK(launch(w->f, 1, 1, w->at, 0));
        EXPECT_OK(cuStreamSynchronize(stream));
    }
    atomic_store(&w->words[0], 0);
    atomic_store(&w->words[1], 0);
    EXPECT_EQ(pthread_create(&w->thread, NULL, run_waiting, w), 0);
    while (!atomic_load(&w->words[0]))
        usleep(100);
}

TEST(others_see_the_kernel)
{
    struct waiting w;
    begin_waiting(&w, "wait");
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuMemsetD8Async(out, 3, 16, stream)); // waits for the kernel
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    atomic_store(&w.words[1], 1);
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(atomic_load(&w.words[0]), 2);
    EXPECT_EQ(ptx_word(out), 0x03030303);
    pthread_join(w.thread, NULL);
    EXPECT_OK(w.result);
}

TEST(others_wait_for_the_fault)
{
    struct waiting w;
    begin_waiting(&w, "wait_and_fail");
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    atomic_store(&w.words[1], 1);
    EXPECT_ERROR(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    pthread_join(w.thread, NULL);
    EXPECT_OK(w.result);
}

static void *release_soon(void *argument)
{
    struct waiting *w = argument;
    usleep(50000);
    atomic_store(&w->words[1], 1);
    return NULL;
}

// The function and its module stay until the kernel has ended.
TEST(module_is_unloaded_meanwhile)
{
    struct waiting w;
    pthread_t thread;
    begin_waiting(&w, "wait");
    EXPECT_EQ(pthread_create(&thread, NULL, release_soon, &w), 0);
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_OK(cuStreamSynchronize(stream));
    pthread_join(w.thread, NULL);
    pthread_join(thread, NULL);
    EXPECT_OK(w.result);
    EXPECT_EQ(atomic_load(&w.words[0]), 2);
}

// The same, but nobody else takes the driver's lock before the kernel has ended.
TEST(module_is_unloaded_after)
{
    start(fill);
    for (unsigned i = 0; i < 40; i++) { // more than there are kept places
        CUmodule m = ptx_load(fill);
        CUfunction f = ptx_kernel(m, "fill");
        EXPECT_OK(launch(f, 1, 32, out, i));
        EXPECT_OK(launch(f, 1, 32, out, i));
        EXPECT_OK(cuModuleUnload(m));
        EXPECT_EQ(ptx_word(out + 4), i + 32000 + 3);
        EXPECT_ERROR(launch(f, 1, 32, out, i), CUDA_ERROR_INVALID_HANDLE);
    }
}

static CUfunction many_function;
static void *launch_many(void *argument)
{
    CUcontext context = argument;
    CUstream own;
    unsigned value = 1;
    CUdeviceptr at = 0;
    void *parameters[] = {&at, &value};
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&at, 4096));
    for (unsigned i = 0; i < 500; i++) {
        value = i;
        EXPECT_OK(cuLaunchKernel(many_function, 1, 1, 1, 32, 1, 1, 0, own, parameters, NULL));
        EXPECT_EQ(ptx_word(at + 4), i + 32000 + 3);
    }
    return NULL;
}

TEST(several_threads_launch)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    CUcontext context;
    start(fill);
    MUST(cuCtxGetCurrent(&context));
    many_function = ptx_kernel(module, "fill");
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, launch_many, context), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

// ---- cancellation ----

static atomic_int ended;

static void *launch_cancelled(void *argument)
{
    int before;
    cuCtxSetCurrent(argument);
    pthread_cancel(pthread_self());
    CUfunction f = ptx_kernel(module, "fill");
    EXPECT_OK(launch(f, 1, 32, out, 9));
    EXPECT_OK(launch(f, 1, 32, out, 9));
    EXPECT_OK(cuStreamSynchronize(stream));
    atomic_store(&ended, 1);
    EXPECT_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
    EXPECT_EQ(before, PTHREAD_CANCEL_ENABLE);
    pthread_testcancel();
    atomic_store(&ended, 2);
    return NULL;
}

// A launch is not a cancellation point, and leaves the state of cancellation as it was.
TEST(cancelled_thread)
{
    pthread_t thread;
    CUcontext context;
    void *result;
    if (SANITIZED)
        SKIP("AddressSanitizer does not see that a cancelled thread leaves its frames");
    start(fill);
    MUST(cuCtxGetCurrent(&context));
    EXPECT_EQ(pthread_create(&thread, NULL, launch_cancelled, context), 0);
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT(result == PTHREAD_CANCELED);
    EXPECT_EQ(atomic_load(&ended), 1);
    EXPECT_EQ(ptx_word(out), 9 + 32000);
}

TESTS(CASE(sizes_and_arguments), CASE(unwritten_registers), CASE(several_turns),
      CASE(endless_in_a_later_launch), CASE(limit_changes), CASE(fault_in_a_later_launch),
      CASE(blocked_signals), CASE(handlers_of_the_program), CASE(kernel_without_accesses),
      CASE(others_see_the_kernel), CASE(others_wait_for_the_fault),
      CASE(module_is_unloaded_meanwhile), CASE(module_is_unloaded_after),
      CASE(several_threads_launch), CASE(cancelled_thread))
