// SPDX-License-Identifier: MIT
// Memory handles between processes: a second process, started from the same executable, opens the
// memory that the first one allocated.
#include "../harness.h"

#include <fcntl.h>

#define MIB (UINT64_C(1) << 20)
enum { OPEN = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS };

static void to_text(const CUipcMemHandle *h, char text[129])
{
    for (int i = 0; i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)h->reserved[i]);
}

static void from_text(const char *text, CUipcMemHandle *h)
{
    for (int i = 0; i < 64; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        h->reserved[i] = (char)byte;
    }
}

// Runs this program as `mode` with the handle. Returns its exit status, and its standard output in
// `said` (may be NULL).
static int run_second(const char *mode, const CUipcMemHandle *h, char said[129])
{
    int status = -1, ends[2];
    char text[129];
    to_text(h, text);
    fflush(stdout);
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (said)
            dup2(ends[1], 1);
        execl("/proc/self/exe", "test_ipc", "--second", mode, text, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (said) {
        size_t n = 0;
        for (ssize_t got; n < 128 && (got = read(ends[0], said + n, 128 - n)) > 0;)
            n += (size_t)got;
        said[n] = 0;
    }
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static CUipcMemHandle shared(CUdeviceptr p)
{
    CUipcMemHandle h;
    MUST(cuIpcGetMemHandle(&h, p));
    return h;
}

static void second_uses(const CUipcMemHandle *h)
{
    CUdeviceptr p, again, base;
    CUipcMemHandle mine;
    size_t size;
    unsigned word = 0;
    MUST(cuIpcOpenMemHandle(&p, *h, OPEN));
    EXPECT_OK(cuIpcOpenMemHandle(&again, *h, OPEN));
    EXPECT_EQ(again, p);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, p + 5));
    EXPECT_EQ(base, p);
    EXPECT_EQ(size, 3 * MIB);
    EXPECT_OK(cuMemcpyDtoH(&word, p + 3 * MIB - 4, 4));
    EXPECT_EQ(word, 0x600df00d);
    EXPECT_OK(cuMemsetD32(p, 0xc0ffee, 1));
    EXPECT_ERROR(cuMemsetD32(p, 0, 3 * MIB / 4 + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(&mine, p),
                 CUDA_ERROR_INVALID_VALUE); // imported memory cannot be shared again
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcCloseMemHandle(p + 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuIpcCloseMemHandle(p));
    EXPECT_OK(cuMemcpyDtoH(&word, p, 4)); // opened twice
    EXPECT_OK(cuIpcCloseMemHandle(p));
    EXPECT_ERROR(cuMemcpyDtoH(&word, p, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
}

// Each of these handles is damaged. The driver should report that, and should not crash.
static void second_refuses(const CUipcMemHandle *h)
{
    CUdeviceptr p = 77;
    uint64_t random = 88172645463325252u;
    EXPECT_ERROR(cuIpcOpenMemHandle(&p, *h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcOpenMemHandle(NULL, *h, OPEN), CUDA_ERROR_INVALID_VALUE);
    for (int bit = 0; bit < 512; bit++) {
        CUipcMemHandle bad = *h;
        bad.reserved[bit / 8] ^= (char)(1 << bit % 8);
        EXPECT_ERROR(cuIpcOpenMemHandle(&p, bad, OPEN), CUDA_ERROR_INVALID_VALUE);
    }
    for (int i = 0; i < 1000; i++) {
        CUipcMemHandle bad;
        for (int b = 0; b < 64; b++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            bad.reserved[b] = (char)random;
        }
        EXPECT_ERROR(cuIpcOpenMemHandle(&p, bad, OPEN), CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(p, 77);
}

static void second_finds_nothing(const CUipcMemHandle *h)
{
    CUdeviceptr p = 77;
    EXPECT_ERROR(cuIpcOpenMemHandle(&p, *h, OPEN), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(p, 77);
}

static int second_process(const char *mode, const char *text)
{
    CUipcMemHandle h;
    from_text(text, &h);
    test_context();
    if (!strcmp(mode, "use")) {
        second_uses(&h);
    } else if (!strcmp(mode, "refuse")) {
        second_refuses(&h);
    } else if (!strcmp(mode, "nothing")) {
        second_finds_nothing(&h);
    } else if (!strcmp(mode, "share")) { // and end
        CUdeviceptr p;
        char out[129];
        MUST(cuMemAlloc(&p, MIB));
        h = shared(p);
        to_text(&h, out);
        printf("%s", out);
    }
    fflush(stdout);
    return test_failures > 0;
}

static CUdeviceptr filled(void)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 3 * MIB));
    MUST(cuMemsetD32(p, 0x600df00d, 3 * MIB / 4));
    MUST(cuCtxSynchronize());
    return p;
}

TEST(second_process_uses_it)
{
    unsigned word = 0;
    test_context();
    CUdeviceptr p = filled();
    CUipcMemHandle h = shared(p), inside = shared(p + MIB);
    EXPECT(!memcmp(&h, &inside, sizeof h)); // a handle names the whole allocation
    EXPECT_EQ(run_second("use", &h, NULL), 0);
    EXPECT_OK(cuMemcpyDtoH(&word, p, 4));
    EXPECT_EQ(word, 0xc0ffee);
    EXPECT_EQ(run_second("use", &h, NULL), 0); // from another process
    EXPECT_OK(cuMemFree(p));
}

TEST(damaged_handles)
{
    test_context();
    CUipcMemHandle h = shared(filled());
    EXPECT_EQ(run_second("refuse", &h, NULL), 0);
}

TEST(freed)
{
    CUdeviceptr again;
    test_context();
    CUdeviceptr p = filled();
    CUipcMemHandle h = shared(p);
    EXPECT_OK(cuMemFree(p));
    EXPECT_EQ(run_second("nothing", &h, NULL), 0);
    MUST(cuMemAlloc(&again, 3 * MIB)); // probably at the same address
    CUipcMemHandle new_handle = shared(again);
    EXPECT(memcmp(&h, &new_handle, sizeof h));
    EXPECT_EQ(run_second("nothing", &h, NULL), 0);
}

TEST(context_gone)
{
    CUcontext c;
    CUdeviceptr p;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, 0));
    MUST(cuCtxSetCurrent(c));
    MUST(cuMemAlloc(&p, MIB));
    CUipcMemHandle h = shared(p);
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
    EXPECT_EQ(run_second("nothing", &h, NULL), 0);
}

TEST(process_ended)
{
    char text[129];
    CUipcMemHandle none = {{0}}, h;
    CUdeviceptr p = 77;
    EXPECT_EQ(run_second("share", &none, text), 0); // before the driver starts in this process
    EXPECT_EQ(strlen(text), 128);
    from_text(text, &h);
    test_context();
    EXPECT_ERROR(cuIpcOpenMemHandle(&p, h, OPEN), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(p, 77);
}

TEST(own_process)
{
    CUdeviceptr out = 77;
    test_context();
    CUdeviceptr p = filled();
    CUipcMemHandle h = shared(p);
    EXPECT_ERROR(cuIpcOpenMemHandle(&out, h, OPEN), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuIpcOpenMemHandle(&out, h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, 77);
    EXPECT_ERROR(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcCloseMemHandle(0), CUDA_ERROR_INVALID_VALUE);
}

TEST(only_device_memory)
{
    static char pageable[4096];
    void *host;
    CUdeviceptr managed, pooled;
    CUipcMemHandle h;
    test_context();
    MUST(cuMemAllocHost(&host, 4096));
    MUST(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemAllocAsync(&pooled, 4096, NULL));
    EXPECT_ERROR(cuIpcGetMemHandle(&h, (uintptr_t)host), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(&h, managed), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(&h, pooled), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(&h, (uintptr_t)pageable), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(&h, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuIpcGetMemHandle(NULL, managed), CUDA_ERROR_INVALID_VALUE);
}

// A process can share 65535 allocations at a time. Handles of memory that takes the place of freed
// memory differ from the old ones.
TEST(most_handles)
{
    enum { MOST = 65535, STEP = 1000 };
    static CUdeviceptr p[MOST];
    static CUipcMemHandle old[MOST];
    CUdeviceptr more;
    CUipcMemHandle h;
    test_context();
    for (int i = 0; i < MOST; i++) {
        MUST(cuMemAlloc(&p[i], 512));
        MUST(cuIpcGetMemHandle(&old[i], p[i]));
    }
    MUST(cuMemAlloc(&more, 512));
    EXPECT_ERROR(cuIpcGetMemHandle(&h, more), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_OK(cuIpcGetMemHandle(&h, p[MOST - 1])); // it has a handle already
    EXPECT(!memcmp(&h, &old[MOST - 1], sizeof h));
    for (int i = 0; i < MOST; i += STEP)
        EXPECT_OK(cuMemFree(p[i]));
    for (int i = 0; i < MOST; i += STEP) {
        MUST(cuMemAlloc(&p[i], 512));
        EXPECT_OK(cuIpcGetMemHandle(&h, p[i]));
        EXPECT(memcmp(&h, &old[i], sizeof h));
    }
    EXPECT_ERROR(cuIpcGetMemHandle(&h, more), CUDA_ERROR_OUT_OF_MEMORY);
}

static const struct test_case cases[] = {
    CASE(second_process_uses_it), CASE(damaged_handles), CASE(freed),
    CASE(context_gone),           CASE(process_ended),   CASE(own_process),
    CASE(only_device_memory),     CASE(most_handles),
};

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--second") && strlen(argv[3]) == 128)
        return second_process(argv[2], argv[3]);
    return test_main(cases, (int)(sizeof cases / sizeof *cases), argc, argv);
}
