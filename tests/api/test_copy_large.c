// SPDX-License-Identifier: MIT
// Copies and fills large enough for the workers: bytes, overlap, faults in either half, several
// at once, a fork.
#include "../harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

enum { SIZE = (24 << 20) + 4093 };
static unsigned char *a, *b;

static unsigned char *pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static void pattern(unsigned char *p, size_t size, uint64_t x)
{
    for (size_t i = 0; i < size; i += sizeof x) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const uint64_t word = x ^ x >> 32; // the upper half is the random one
        memcpy(p + i, &word, size - i < sizeof word ? size - i : sizeof word);
    }
}

static CUdeviceptr fresh(size_t size)
{
    CUdeviceptr p;
    test_context();
    MUST(cuMemAlloc(&p, size));
    a = pages(SIZE + 4096), b = pages(SIZE + 4096);
    pattern(a, SIZE, 1);
    return p;
}

// The driver reads its settings when it is first called, which is in the cases.
__attribute__((constructor)) static void use_two_cores(void)
{
    setenv("CARDLESS_POLICY", "parallel", 1);
}

TEST(linear)
{
    CUdeviceptr p = fresh(SIZE), q;
    MUST(cuMemAlloc(&q, SIZE));
    EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
    EXPECT_OK(cuMemcpyDtoD(q, p, SIZE));
    EXPECT_OK(cuMemcpyDtoH(b + 1, q, SIZE));
    EXPECT(!memcmp(a, b + 1, SIZE));
    EXPECT(!b[0] && !b[SIZE + 1]);
}

static void expect_filled(CUdeviceptr p, size_t pitch, size_t width_B, size_t rows,
                          const void *value, size_t value_B, unsigned char around)
{
    memset(a, around, SIZE);
    for (size_t row = 0; row < rows; row++) {
        unsigned char *to = a + row * pitch;
        if (value_B == 1)
            memset(to, *(const unsigned char *)value, width_B);
        for (size_t x = 0; value_B > 1 && x < width_B; x += value_B)
            memcpy(to + x, value, value_B);
    }
    EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
}

TEST(fills)
{
    CUdeviceptr p = fresh(SIZE);
    uint32_t word = 0x12345678;
    uint16_t half = 0xabcd;
    uint8_t byte = 0x5a;
    EXPECT_OK(cuMemsetD8(p, 1, SIZE));
    EXPECT_OK(cuMemsetD8(p, byte, SIZE - 1));
    expect_filled(p, SIZE, SIZE - 1, 1, &byte, 1, 1);
    EXPECT_OK(cuMemsetD8(p, 2, SIZE));
    EXPECT_OK(cuMemsetD16(p, half, (20 << 20) / 2 + 1));
    expect_filled(p, SIZE, (20 << 20) + 2, 1, &half, 2, 2);
    EXPECT_OK(cuMemsetD8(p, 3, SIZE));
    EXPECT_OK(cuMemsetD32(p, word, (16 << 20) / 4 + 3));
    expect_filled(p, SIZE, (16 << 20) + 12, 1, &word, 4, 3);
    EXPECT_OK(cuMemsetD8(p, 4, SIZE));
    EXPECT_OK(cuMemsetD2D32(p, 8192, word, 2001, 1025));
    expect_filled(p, 8192, 8004, 1025, &word, 4, 4);
}

TEST(overlapping)
{
    for (unsigned shift = 1; shift < SIZE / 2; shift *= 37) {
        CUdeviceptr p = fresh(SIZE);
        EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
        EXPECT_OK(cuMemcpyDtoD(p + shift, p, SIZE - shift));
        EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
        EXPECT(!memcmp(b, a, shift) && !memcmp(b + shift, a, SIZE - shift));
        EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
        EXPECT_OK(cuMemcpyDtoD(p, p + shift, SIZE - shift));
        EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
        EXPECT(!memcmp(b, a + shift, SIZE - shift));
        munmap(a, SIZE + 4096), munmap(b, SIZE + 4096);
        cuMemFree(p);
    }
}

static void round_trip_array(size_t width, size_t height, size_t depth, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = width,
                                    .Height = height,
                                    .Depth = depth,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                    .NumChannels = 1,
                                    .Flags = flags};
    CUarray from, to;
    size_t bytes = width * 4 * height * (depth ? depth : 1);
    MUST(cuArray3DCreate(&from, &desc));
    MUST(cuArray3DCreate(&to, &desc));
    CUDA_MEMCPY3D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = a,
                        .srcPitch = width * 4,
                        .srcHeight = height,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = from,
                        .WidthInBytes = width * 4,
                        .Height = height,
                        .Depth = depth ? depth : 1};
    CUDA_MEMCPY3D over = in, out = in;
    over.srcMemoryType = CU_MEMORYTYPE_ARRAY, over.srcArray = from, over.dstArray = to;
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY, out.srcArray = to;
    out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = b, out.dstPitch = width * 4,
    out.dstHeight = height;
    memset(b, 0, bytes);
    EXPECT_OK(cuMemcpy3D(&in));
    EXPECT_OK(cuMemcpy3D(&over));
    EXPECT_OK(cuMemcpy3D(&out));
    EXPECT(!memcmp(a, b, bytes));
    EXPECT_OK(cuArrayDestroy(from));
    EXPECT_OK(cuArrayDestroy(to));
}

TEST(arrays)
{
    fresh(16);
    round_trip_array(2049, 1023, 0, 0);
    round_trip_array(16384, 130, 0, 0);
    round_trip_array(255, 131, 67, 0);
    round_trip_array(511, 300, 19, 0);
    round_trip_array(700, 301, 7, CUDA_ARRAY3D_LAYERED);
    round_trip_array(700, 101, 33, CUDA_ARRAY3D_LAYERED);
}

// A missing page should end the copy with an error, in whichever half it lies, and the next copy
// should work.
TEST(faults)
{
    CUdeviceptr p = fresh(SIZE);
    size_t holes[] = {SIZE / 4 & ~4095ul, SIZE / 4 * 3 & ~4095ul};
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(!munmap(a + holes[i], 4096));
        EXPECT_ERROR(cuMemcpyHtoD(p, a, SIZE), CUDA_ERROR_INVALID_VALUE);
        EXPECT(mmap(a + holes[i], 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == a + holes[i]);
        EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
        EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
        EXPECT(!memcmp(a, b, SIZE));
    }
}

static CUcontext shared;

static void *copy_often(void *arg)
{
    enum { PART = 6 << 20 };
    CUdeviceptr p;
    unsigned char *in = pages(PART), *out = pages(PART);
    pattern(in, PART, (uint32_t)(uintptr_t)arg);
    MUST(cuCtxSetCurrent(shared));
    MUST(cuMemAlloc(&p, PART));
    for (int i = 0; i < 8; i++) {
        memset(out, 0, PART);
        EXPECT_OK(cuMemcpyHtoD(p, in, PART));
        EXPECT_OK(cuMemcpyDtoH(out, p, PART));
        EXPECT(!memcmp(in, out, PART));
    }
    return NULL;
}

TEST(threads)
{
    pthread_t threads[3];
    test_context();
    MUST(cuCtxGetCurrent(&shared));
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, copy_often, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

// One of the driver's workers, or 0.
static pid_t worker_thread(void)
{
    pid_t found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        char path[64], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", e->d_name);
        FILE *comm = fopen(path, "r");
        if (comm && fgets(name, sizeof name, comm) && !strcmp(name, "cardless worker\n"))
            found = (pid_t)atoi(e->d_name);
        if (comm)
            fclose(comm);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

struct bound {
    CUcontext context;
    CUdeviceptr to, from;
    cpu_set_t core;
};

static void *copy_bound(void *argument)
{
    struct bound *to_do = argument;
    EXPECT_EQ(sched_setaffinity(0, sizeof to_do->core, &to_do->core), 0);
    EXPECT_OK(cuCtxSetCurrent(to_do->context));
    EXPECT_OK(cuMemcpyDtoD(to_do->to, to_do->from, 16 << 20));
    return NULL;
}

// If the first large copy is made by a thread that is bound to one core, the worker should start
// nevertheless, and should be free to run on all cores of the process.
TEST(bound_thread)
{
    struct bound of_thread;
    pthread_t thread;
    cpu_set_t cores, of_worker;
    int core = 0;
    sched_getaffinity(0, sizeof cores, &cores);
    if (CPU_COUNT(&cores) < 2)
        SKIP("there is one processor core");
    of_thread.context = test_context();
    MUST(cuMemAlloc(&of_thread.to, 16 << 20));
    MUST(cuMemAlloc(&of_thread.from, 16 << 20));
    EXPECT_EQ(worker_thread(), 0);
    while (!CPU_ISSET(core, &cores))
        core++;
    CPU_ZERO(&of_thread.core);
    CPU_SET(core, &of_thread.core);
    if (pthread_create(&thread, NULL, copy_bound, &of_thread) || pthread_join(thread, NULL))
        exit(1);
    EXPECT(worker_thread());
    EXPECT_EQ(sched_getaffinity(worker_thread(), sizeof of_worker, &of_worker), 0);
    EXPECT(CPU_EQUAL(&of_worker, &cores));
}

// The driver should refuse to work in a child after fork, because the child has no workers. The
// parent should be able to continue.
TEST(forking)
{
    CUdeviceptr p = fresh(SIZE);
    int status = -1;
    EXPECT_OK(cuMemcpyHtoD(p, a, SIZE));
    pid_t child = fork();
    if (!child)
        _exit(cuMemcpyHtoD(p, a, SIZE) == CUDA_SUCCESS);
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    EXPECT_OK(cuMemcpyDtoH(b, p, SIZE));
    EXPECT(!memcmp(a, b, SIZE));
}

TESTS(CASE(linear), CASE(fills), CASE(overlapping), CASE(arrays), CASE(faults), CASE(threads),
      CASE(bound_thread), CASE(forking))
