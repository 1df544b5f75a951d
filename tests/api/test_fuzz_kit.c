// SPDX-License-Identifier: MIT
// cardless_fuzz.h: the reset ends everything, calls fail as asked, and diagnostics end the process.
#include <cardless.h>
#include <cardless_fuzz.h>
#include <dirent.h>

#include "../mistakes/external.h"

enum { SIZE_B = 2 << 20 };

static unsigned left(void)
{
    unsigned count = 0;
    EXPECT_OK(cardlessFuzzLeft(&count, NULL, 0));
    return count;
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

static void leave_imports(int file)
{
    CUmipmappedArray mip;
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = image(64, 64, 0, 0, 1);
    CUexternalMemory memory = import(fcntl(file, F_DUPFD_CLOEXEC, 0), SIZE_B, 0);
    map_buffer(memory, 0, SIZE_B);
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, memory, &d));
}

static void leave_objects(void)
{
    CUstream stream;
    CUevent event;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 16, .Height = 16, .NumChannels = 1, .Format = CU_AD_FORMAT_FLOAT};
    CUdeviceptr p;
    CUgraph graph, captured;
    CUgraphExec exec;
    MUST(cuStreamCreate(&stream, 0));
    MUST(cuEventCreate(&event, 0));
    MUST(cuArrayCreate(&array, &d));
    MUST(cuMemAlloc(&p, 4096));
    MUST(cuMemAllocAsync(&p, 4096, stream));
    MUST(cuMemsetD8Async(p, 1, 4096, stream));
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuStreamEndCapture(stream, &captured));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED)); // and not ended
}

static void leave_memory(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemPoolProps pool_props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    CUmemoryPool pool;
    CUdeviceptr at, p;
    void *host;
    MUST(cuMemCreate(&memory, SIZE_B, &prop, 0));
    MUST(cuMemAddressReserve(&at, 4 * SIZE_B, 0, 0, 0));
    MUST(cuMemMap(at, SIZE_B, 0, memory, 0));
    MUST(cuMemRetainAllocationHandle(&memory, (void *)(uintptr_t)at));
    MUST(cuMemPoolCreate(&pool, &pool_props));
    MUST(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL));
    MUST(cuMemAllocHost(&host, 4096));
    MUST(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
}

static void leave_virtual_objects(void)
{
    cardlessBuffer buffer;
    CUgraphicsResource resource;
    cardlessSemaphore semaphore;
    MUST(cardlessBufferCreate(&buffer, 4096));
    MUST(cardlessRegisterBuffer(&resource, buffer, 0));
    MUST(cuGraphicsMapResources(1, &resource, NULL));
    MUST(cardlessSemaphoreCreate(&semaphore, CARDLESS_SEMAPHORE_TIMELINE, 0));
}

TEST(reset_ends_everything)
{
    CUcontext primary, created;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    int file = own_fd(SIZE_B);
    size_t free_at_first, free_now, total;
    EXPECT_OK(cardlessFuzzReset());
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            MUST(cuDevicePrimaryCtxRetain(&primary, 0));
        MUST(cuCtxSetCurrent(primary));
        MUST(cuMemGetInfo(&free_now, &total));
        if (!round)
            free_at_first = free_now;
        EXPECT_EQ(free_now, free_at_first);
        EXPECT_EQ(left(), 0);
        unsigned descriptors = open_descriptors();
        leave_imports(file);
        leave_memory();
        leave_virtual_objects();
        MUST(cuCtxCreate(&created, NULL, 0, 0));
        leave_imports(file);
        leave_objects();
        EXPECT(left() > 15);
        EXPECT_OK(cardlessFuzzReset());
        EXPECT_EQ(left(), 0);
        if (round == 2) // by then the driver keeps the file and the pools' own ones
            EXPECT(open_descriptors() <= descriptors + 1);
        CUcontext current = primary;
        unsigned flags;
        int active = 1;
        EXPECT_OK(cuCtxGetCurrent(&current));
        EXPECT(!current);
        EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
        EXPECT_EQ(active, 0);
        EXPECT_ERROR(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_ERROR(cuCtxSetCurrent(created), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

TEST(left_names_an_object)
{
    char text[200] = "";
    unsigned count;
    test_context();
    int file = own_fd(SIZE_B);
    EXPECT_OK(cardlessFuzzLeft(&count, text, sizeof text));
    EXPECT_EQ(count, 0);
    EXPECT_STR(text, "");
    CUexternalMemory memory = import(file, SIZE_B, 0);
    EXPECT_OK(cardlessFuzzLeft(&count, text, sizeof text));
    EXPECT_EQ(count, 1);
    EXPECT(!strncmp(text, "CUexternalMemory #1 (cuImportExternalMemory, call ", 50));
    EXPECT_OK(cardlessFuzzLeft(&count, text, 17));
    EXPECT_STR(text, "CUexternalMemory");
    CUdeviceptr p = map_buffer(memory, 0, SIZE_B);
    EXPECT_EQ(left(), 2);
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuDestroyExternalMemory(memory));
    EXPECT_EQ(left(), 0);
    EXPECT_OK(cuMemAddressReserve(&p, SIZE_B, 0, 0, 0));
    EXPECT_EQ(left(), 1);
    EXPECT_OK(cuMemAddressFree(p, SIZE_B));
    EXPECT_EQ(left(), 0);
}

static int has_failed(cardlessFuzzFailure kind)
{
    int failed = -1;
    EXPECT_OK(cardlessFuzzFailed(kind, &failed));
    return failed;
}

TEST(imports_fail)
{
    test_context();
    int file = own_fd(SIZE_B);
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_IMPORT, 2));
    import(fcntl(file, F_DUPFD_CLOEXEC, 0), SIZE_B, 0);
    EXPECT_EQ(has_failed(CARDLESS_FUZZ_IMPORT), 0);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fcntl(file, F_DUPFD_CLOEXEC, 0), SIZE_B);
    CUexternalMemory memory;
    EXPECT_ERROR(cuImportExternalMemory(&memory, &d), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(has_failed(CARDLESS_FUZZ_IMPORT), 1);
    EXPECT_OK(cuImportExternalMemory(&memory, &d)); // the descriptor is still the program's
}

TEST(memory_fails)
{
    CUdeviceptr p;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 16, .Height = 16, .NumChannels = 1, .Format = CU_AD_FORMAT_FLOAT};
    test_context();
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_MEMORY, 1));
    EXPECT_ERROR(cuMemAlloc(&p, 64), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_OK(cuMemAlloc(&p, 64));
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_MEMORY, 1));
    EXPECT_ERROR(cuArrayCreate(&array, &d), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(has_failed(CARDLESS_FUZZ_MEMORY), 1);
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_MEMORY, 1));
    EXPECT_OK(cardlessFuzzReset()); // which turns it off
    test_context();
    EXPECT_OK(cuMemAlloc(&p, 64));
}

TEST(device_is_lost)
{
    CUdeviceptr p;
    CUcontext other;
    unsigned value = 1;
    test_context();
    EXPECT_OK(cuMemAlloc(&p, 64));
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_DEVICE, 2));
    EXPECT_OK(cuMemcpyHtoD(p, &value, sizeof value));
    EXPECT_ERROR(cuMemcpyHtoD(p, &value, sizeof value), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuMemcpyHtoD(p, &value, sizeof value), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuCtxCreate(&other, NULL, 0, 0), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_OK(cardlessFuzzReset());
    test_context();
    EXPECT_OK(cuMemAlloc(&p, 64));
    EXPECT_OK(cuMemcpyHtoD(p, &value, sizeof value));
}

TEST(allocations_fail)
{
    CUstream stream;
    test_context();
    for (unsigned n = 1;; n++) {
        EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_ALLOCATION, n));
        CUresult r = cuStreamCreate(&stream, 0);
        int failed = has_failed(CARDLESS_FUZZ_ALLOCATION);
        EXPECT(!r || (failed && r == CUDA_ERROR_OUT_OF_MEMORY));
        if (!failed)
            break;
        EXPECT(n < 100);
    }
}

TEST(parameters)
{
    int failed;
    EXPECT_ERROR(cardlessFuzzReset(), CUDA_ERROR_NOT_INITIALIZED);
    test_context();
    EXPECT_ERROR(cardlessFuzzFail((cardlessFuzzFailure)4, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessFuzzFailed((cardlessFuzzFailure)-1, &failed), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessFuzzFailed(CARDLESS_FUZZ_IMPORT, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessFuzzAbort(8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cardlessFuzzLeft(NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

// ---- ends of the process ----

static void import_with_wrong_size(void)
{
    import(own_fd(SIZE_B), SIZE_B - 65536, 0);
}

static void free_nothing(void)
{
    cuMemFree(12345);
}

static void leak(void)
{
    import(own_fd(SIZE_B), SIZE_B, 0);
    cardlessFuzzReset();
}

static void behave(void)
{
    CUexternalMemory memory = import(own_fd(SIZE_B), SIZE_B, 0);
    EXPECT_OK(cuDestroyExternalMemory(memory));
    EXPECT_OK(cardlessFuzzReset());
}

static void fail_as_asked(void)
{
    CUdeviceptr p;
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_MEMORY, 1));
    EXPECT_ERROR(cuMemAlloc(&p, 64), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_ERROR(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE); // a consequence, maybe
}

// Runs `body`, which should be short, in a process of its own with these flags. Returns whether it
// was aborted; `text` gets the line that it printed.
static bool is_aborted(unsigned flags, void (*body)(void), char *text, size_t capacity)
{
    int ends[2], status = 0;
    EXPECT_EQ(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        test_context();
        EXPECT_OK(cardlessFuzzAbort(flags));
        body();
        _exit(test_failures != 0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], text, capacity - 1);
    text[n > 0 ? n : 0] = 0;
    close(ends[0]);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFSIGNALED(status) || !WEXITSTATUS(status));
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST(diagnostics_end_the_process)
{
    enum {
        MISTAKES = CARDLESS_FUZZ_ABORT_MISTAKES,
        ERRORS = CARDLESS_FUZZ_ABORT_ERRORS,
        LEAKS = CARDLESS_FUZZ_ABORT_LEAKS,
        ALL = MISTAKES | ERRORS | LEAKS
    };
    static const struct {
        unsigned flags;
        void (*body)(void);
        const char *text; // or NULL: the process does not end
    } cases[] = {
        {MISTAKES, import_with_wrong_size,
         "fuzzing stops here: [M07] cuImportExternalMemory: size"},
        {ERRORS | LEAKS, import_with_wrong_size, NULL},
        {ERRORS, free_nothing, "CUDA_ERROR_INVALID_VALUE"},
        {LEAKS, free_nothing, NULL},
        {LEAKS, leak, "1 left: CUexternalMemory #1"},
        {MISTAKES | ERRORS, leak, NULL},
        {ALL, behave, NULL},
        {ALL, fail_as_asked, NULL},
        {0, leak, NULL},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool aborted = is_aborted(cases[i].flags, cases[i].body, text, sizeof text);
        if (aborted != (cases[i].text != NULL) || (aborted && !strstr(text, cases[i].text))) {
            printf("# case %zu: %s: %s\n", i, aborted ? "aborted" : "went on", text);
            test_failures++;
        }
    }
}

// ---- messages ----

// A handle that is released while its memory is mapped, and a graph that is in another one: both
// end with something else.
static void leave_owned_objects(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    CUgraph outer, inner;
    CUgraphNode node;
    MUST(cuMemCreate(&memory, SIZE_B, &prop, 0));
    MUST(cuMemAddressReserve(&at, SIZE_B, 0, 0, 0));
    MUST(cuMemMap(at, SIZE_B, 0, memory, 0));
    MUST(cuMemRelease(memory));
    MUST(cuGraphCreate(&outer, 0));
    MUST(cuGraphCreate(&inner, 0));
    MUST(cuGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
    MUST(cardlessFuzzReset());
    EXPECT_EQ(left(), 0);
}

TEST(reset_prints_nothing)
{
    char text[1024];
    unsetenv("CARDLESS_DIAGNOSTICS");
    EXPECT(!is_aborted(0, leave_owned_objects, text, sizeof text));
    EXPECT_STR(text, "");
    EXPECT(!is_aborted(0, free_nothing, text, sizeof text));
    EXPECT(strstr(text, "CUDA_ERROR_INVALID_VALUE")); // which is printed
}

// As on a card after a failed kernel, calls that do not use the device still work.
TEST(calls_after_the_device_was_lost)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr p;
    CUgraph graph;
    test_context();
    EXPECT_OK(cuMemAlloc(&p, 64));
    EXPECT_OK(cardlessFuzzFail(CARDLESS_FUZZ_DEVICE, 1));
    cuMemsetD8(p, 1, 64); // is not complete when it returns
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_ERROR(cuMemAlloc(&p, 64), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_ERROR(cuMemCreate(&memory, SIZE_B, &prop, 0), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_OK(cardlessFuzzReset());
    EXPECT_EQ(left(), 0);
}

TESTS(CASE(reset_ends_everything), CASE(left_names_an_object), CASE(imports_fail),
      CASE(memory_fails), CASE(device_is_lost), CASE(allocations_fail), CASE(parameters),
      CASE(diagnostics_end_the_process), CASE(reset_prints_nothing),
      CASE(calls_after_the_device_was_lost))
