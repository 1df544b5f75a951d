// SPDX-License-Identifier: MIT
// What kernels that are host functions leave in the process: stacks and shared memory that are kept
// for later grids, and the state of the thread.
#include "../harness.h"

#include <cardless.h>
#include <pthread.h>
#include <stdio.h>

#include "call.h"
#include "host_lane.h"

enum { THREADS = 20, LANES = 1024, SLACK = 200, KEPT_LANES = 8 << 10 };

static CUcontext context;
static pthread_barrier_t all_run;

static void wait_once(unsigned threads)
{
    const cardlessThread *t = cardlessThisThread();
    ((unsigned *)t->dynamic_shared)[t->thread.x] = threads;
    cardlessBarrier();
    if (threads > 1 && !t->thread.x)
        pthread_barrier_wait(&all_run);
}

static const cardlessParam params[] = {{.type = CARDLESS_UINT32}};
static const cardlessKernelDesc kernels[] = {{.name = "wait_once",
                                              .function = (void (*)(void))wait_once,
                                              .params = params,
                                              .param_count = 1,
                                              .flags = CARDLESS_KERNEL_BARRIERS}};
static const cardlessModuleDesc table = {
    .magic = CARDLESS_MODULE_MAGIC,
    .version = CARDLESS_VERSION,
    .kernel_count = 1,
    .kernels = kernels,
};

static unsigned mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned count = 0;
    for (int c = fgetc(f); c != EOF; c = fgetc(f))
        count += c == '\n';
    fclose(f);
    return count;
}

static CUfunction load(CUmodule *module)
{
    CUdevice device;
    CUfunction f;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    CUresult r = cuModuleLoadData(module, &table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
    MUST(cuModuleGetFunction(&f, *module, "wait_once"));
    return f;
}

static void launch(CUfunction f, CUstream stream, unsigned threads)
{
    void *arguments[] = {&threads};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, LANES, 1, 1, LANES * 4, stream, arguments, NULL));
    EXPECT_OK(cuStreamSynchronize(stream));
}

// The end of the last table gives everything back.
TEST(given_back)
{
    if (SANITIZED)
        SKIP("a sanitizer maps memory of its own for each fiber");
    CUmodule module;
    CUfunction f = load(&module);
    unsigned before = mappings();
    launch(f, NULL, 1);
    EXPECT(mappings() > before + LANES);
    EXPECT_OK(cuModuleUnload(module));
    unsigned after = mappings();
    printf("# %u mappings before, %u after\n", before, after);
    EXPECT(after < before + SLACK);
}

static void *launch_with_others(void *function)
{
    CUstream stream;
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch(function, stream, THREADS);
    return NULL;
}

// Only so many stacks are kept, however many threads have run kernels at the same time.
TEST(kept)
{
    if (SANITIZED)
        SKIP("a sanitizer maps memory of its own for each fiber");
    CUmodule module;
    CUfunction f = load(&module);
    pthread_t threads[THREADS];
    unsigned before = mappings();
    pthread_barrier_init(&all_run, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, launch_with_others, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned after = mappings();
    printf("# %u mappings before, %u after\n", before, after);
    EXPECT(after < before + 2 * KEPT_LANES + SLACK);
    EXPECT_OK(cuModuleUnload(module));
}

// The end of a scope restores what was before it, and not what was before the outermost one.
TEST(nested_scopes)
{
    struct em_host_part part = {.result = CUDA_SUCCESS};
    struct em_host_lane outer = {.part = &part}, inner = {.part = &part};
    struct em_host_scope a, b;
    EXPECT(!cardlessThisThread());
    em_host_enter(&outer, &a);
    EXPECT(cardlessThisThread() == &outer.self);
    em_host_enter(&inner, &b);
    EXPECT(cardlessThisThread() == &inner.self);
    EXPECT(em_self.in_host_function);
    em_host_leave(&b);
    EXPECT(cardlessThisThread() == &outer.self);
    EXPECT(em_self.in_host_function);
    em_host_leave(&a);
    EXPECT(!cardlessThisThread());
    EXPECT(!em_self.in_host_function);
}

TESTS(CASE(given_back), CASE(kept), CASE(nested_scopes))
