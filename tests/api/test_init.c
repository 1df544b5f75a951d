// SPDX-License-Identifier: MIT
// cuInit: its flags, threads, forks, and the settings that select the devices.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../harness.h"
#include "../sanitizers.h"

TEST(flags)
{
    int count;
    EXPECT_ERROR(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuInit(0));
    EXPECT_ERROR(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 1);
}

// A file that does not exist means that nothing ran: how-to/test-*-in-ci.md relies on it.
TEST(diagnostics_file)
{
    const char *path = test_new_file("init.json");
    struct stat status;
    char sink[80];
    snprintf(sink, sizeof sink, "json:%s", path);
    test_setting("CARDLESS_DIAGNOSTICS", sink);
    EXPECT(stat(path, &status) != 0);
    EXPECT_OK(cuInit(0));
    EXPECT_EQ(stat(path, &status), 0);
    EXPECT_EQ(status.st_size, 0);
}

static void *init_in_thread(void *out)
{
    *(CUresult *)out = cuInit(0);
    return NULL;
}

TEST(threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    CUresult results[THREADS];
    int count = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, init_in_thread, &results[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_OK(results[i]);
    }
    EXPECT_OK(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 1);
}

// The whole start should fit into a small stack, such as a library may give its threads. Sanitizers
// need more, and so does Linux on AArch64, where the least stack is of 128 KiB.
TEST(small_stack)
{
    enum { STACK_B = 64 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    CUresult result = CUDA_ERROR_UNKNOWN;
    int count = 0;
    test_setting("CARDLESS_DEVICES", "h100,t4");
    test_setting("CUDA_VISIBLE_DEVICES", "1,0");
    pthread_attr_init(&attributes);
    if (!SANITIZED) {
        const size_t least_B = (size_t)sysconf(_SC_THREAD_STACK_MIN);
        EXPECT_EQ(pthread_attr_setstacksize(&attributes, least_B > STACK_B ? least_B : STACK_B), 0);
    }
    EXPECT_EQ(pthread_create(&thread, &attributes, init_in_thread, &result), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    EXPECT_OK(result);
    EXPECT_OK(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 2);
}

// Returns the result of `run` in a forked child.
static CUresult in_child(CUresult (*run)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        _exit(run() & 0xff);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? (CUresult)WEXITSTATUS(status) : CUDA_ERROR_UNKNOWN;
}

static CUresult init_again(void)
{
    return cuInit(0);
}

static CUresult use_context(void)
{
    CUcontext c;
    return cuCtxGetCurrent(&c);
}

TEST(fork_before_init)
{
    EXPECT_OK(in_child(init_again));
    EXPECT_OK(cuInit(0));
}

TEST(fork_after_init)
{
    CUdevice d;
    test_context();
    EXPECT_ERROR(in_child(init_again), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_ERROR(in_child(use_context), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_OK(cuCtxGetDevice(&d)); // the parent goes on
}

static atomic_bool stop;

static void *busy(void *unused)
{
    while (!stop) {
        CUcontext c;
        if (!cuCtxCreate(&c, NULL, 0, 0))
            cuCtxDestroy(c);
    }
    return unused;
}

// A fork while other threads are inside the driver should not leave the child stuck on their locks.
TEST(fork_among_threads)
{
    pthread_t threads[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, busy, NULL);
    for (int i = 0; i < 20; i++)
        EXPECT_ERROR(in_child(use_context), CUDA_ERROR_NOT_INITIALIZED);
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static CUresult late;

static void at_exit(void)
{
    CUcontext c;
    late = cuCtxGetCurrent(&c);
    if (late)
        _exit(1); // handlers of the program run before the driver goes
}

static void *fork_in_thread(void *out)
{
    pid_t child = fork();
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, out);
    return NULL;
}

TEST(fork_leaves_cancelling_alone)
{
    pthread_t thread;
    int before = -1;
    EXPECT_OK(cuInit(0));
    EXPECT_EQ(pthread_create(&thread, NULL, fork_in_thread, &before), 0);
    pthread_join(thread, NULL);
    EXPECT_EQ(before, PTHREAD_CANCEL_ENABLE);
}

TEST(exit_handlers_still_work)
{
    test_context();
    atexit(at_exit);
}

TEST(no_devices)
{
    test_setting("CARDLESS_DEVICES", "none");
    EXPECT_ERROR(cuInit(0), CUDA_ERROR_NO_DEVICE);
    int count;
    EXPECT_ERROR(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(unknown_device)
{
    test_setting("CARDLESS_DEVICES", "h100,no-such-card");
    EXPECT_ERROR(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

// A file without an end should not keep cuInit.
TEST(profile_is_pipe)
{
    const char *path = test_new_file("pipe.dev");
    EXPECT_EQ(mkfifo(path, 0600), 0);
    test_setting("CARDLESS_DEVICES", path);
    EXPECT_MESSAGE(cuInit(0), CUDA_ERROR_NO_DEVICE, ".dev: not a regular file");
}

TEST(profile_is_device_file)
{
    test_setting("CARDLESS_DEVICES", "/dev/zero");
    EXPECT_MESSAGE(cuInit(0), CUDA_ERROR_NO_DEVICE, "/dev/zero: not a regular file");
}

TEST(profile_is_folder)
{
    test_setting("CARDLESS_DEVICES", "/tmp/");
    EXPECT_MESSAGE(cuInit(0), CUDA_ERROR_NO_DEVICE, "/tmp/: Is a directory");
}

TEST(several_devices)
{
    test_setting("CARDLESS_DEVICES", "h100,h100,rtx3080,t4,rtx2080ti");
    static const int major[] = {9, 9, 8, 7, 7}, minor[] = {0, 0, 6, 5, 5};
    char bus[5][16], name[64];
    int count = 0, a, b;
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 5);
    for (int i = 0; i < 5; i++) {
        CUdevice d;
        EXPECT_OK(cuDeviceComputeCapability(&a, &b, i));
        EXPECT_EQ(a, major[i]);
        EXPECT_EQ(b, minor[i]);
        EXPECT_OK(cuDeviceGetName(name, sizeof name, i));
        EXPECT_OK(cuDeviceGetPCIBusId(bus[i], sizeof bus[i], i));
        EXPECT_OK(cuDeviceGetByPCIBusId(&d, bus[i]));
        EXPECT_EQ(d, i);
        EXPECT_OK(cuDeviceGetAttribute(&a, CU_DEVICE_ATTRIBUTE_WARP_SIZE, i));
        EXPECT_EQ(a, 32);
    }
}

// Writes a profile, starts the driver with it.
static CUresult init_with_bytes(const char *text, size_t size)
{
    const char *path = test_new_file("profile.dev");
    FILE *f = fopen(path, "w");
    fwrite(text, 1, size, f);
    fclose(f);
    test_setting("CARDLESS_DEVICES", path);
    return cuInit(0);
}

static CUresult init_with(const char *text)
{
    return init_with_bytes(text, strlen(text));
}

// The rest of the file must not be lost in silence.
TEST(profile_file_zero_byte)
{
    static const char text[] = "base = h100\n\0name = My card\n";
    EXPECT_MESSAGE(init_with_bytes(text, sizeof text - 1), CUDA_ERROR_NO_DEVICE,
                   "the line contains a zero byte");
}

// Each message names the key, its value and the range.
TEST(profile_file_range)
{
    EXPECT_MESSAGE(init_with("base = h100\nattribute.warp_size = -1\n"), CUDA_ERROR_NO_DEVICE,
                   "line 2: attribute.warp_size (-1) must be a number from 1 to 2147483647");
    EXPECT_MESSAGE(init_with("base = h100\ntotal_memory = 1\n"), CUDA_ERROR_NO_DEVICE,
                   "line 2: total_memory (1) must be a number of bytes from 2097152 to");
}

TEST(profile_file)
{
    size_t total;
    char name[64];
    int sms;
    EXPECT_OK(init_with("# mine\nbase = h100\nname = My card\ntotal_memory = "
                        "0x40000000\nattribute.multiprocessor_count=3 # few\n"));
    EXPECT_OK(cuDeviceTotalMem(&total, 0));
    EXPECT_EQ(total, 1 << 30);
    EXPECT_OK(cuDeviceGetName(name, sizeof name, 0));
    EXPECT_STR(name, "My card");
    EXPECT_OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    EXPECT_EQ(sms, 3);
}

TEST(profile_file_bad)
{
    static const char *const bad[] = {
        "",
        "name",
        "name =",
        "colour = green",
        "base = no-such",
        "base = generic",
        "name = x\nbase = h100",
        "base = h100\nattribute.no_such = 1",
        "base = h100\nattribute.warp_size = many",
        "base = h100\nattribute.warp_size = 99999999999",
        "base = h100\nlimit.no_such.initial = 1",
        "base = h100\nlimit.stack_size.middle = 1",
        "base = h100\nlimit.stack_size.granule = 0",
        "base = h100\ntotal_memory = -1",
        "base = h100\nstream_priority.least = -9",
        "base = h100\ntotal_memory = 18446744073709551615",
        "base = h100\ntotal_memory = 1",
        "base = h100\nattribute.multiprocessor_count = -7",
        "base = h100\nattribute.warp_size = -1",
        "base = h100\nattribute.texture_alignment = 0",
        "base = h100\nattribute.pci_device_id = 2147483647",
        "name = x\ntotal_memory = 0x40000000",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        // Each in a process of its own, because the environment is read once.
        fflush(stdout);
        pid_t child = fork();
        if (!child)
            _exit(init_with(bad[i]) == CUDA_ERROR_NO_DEVICE ? 0 : 1);
        int status;
        waitpid(child, &status, 0);
        if (status)
            printf("# with profile: %s\n", bad[i]);
        EXPECT_EQ(status, 0);
    }
}

// Returns the driver's text on standard error when it reads its settings.
static const char *said_of(const char *name, const char *value)
{
    static char text[1024];
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    setenv(name, value, 1);
    pid_t child = fork(); // the environment is read once a process
    if (!child)
        _exit(cuInit(0) != CUDA_SUCCESS);
    int status;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    dup2(before, STDERR_FILENO);
    close(before);
    unsetenv(name);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

TEST(nonsense_settings)
{
    static const char *const nonsense[][2] = {
        {"CARDLESS_PERSONALITY", "driver"}, {"CARDLESS_SEED", "-1"},
        {"CARDLESS_SEED", "12x"},           {"CARDLESS_FAIL_ALLOC", "-5"},
        {"CARDLESS_OVERLAP", "maybe"},      {"CARDLESS_PKEYS", "maybe"},
        {"CARDLESS_CPU_MASK", "avx2"},      {"CARDLESS_POLICY", "lazily"},
        {"CARDLESS_REPORT", "yes"},         {"CARDLESS_UUID", "1234"},
        {"CARDLESS_VULKAN_MEMORY", "x"},    {"CARDLESS_POLICY", "seed:"},
        {"CARDLESS_POLICY", "seed:1x"},
    };
    for (unsigned i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        char want[128];
        snprintf(want, sizeof want, "cardless: %s=%s is ignored", nonsense[i][0], nonsense[i][1]);
        const char *said = said_of(nonsense[i][0], nonsense[i][1]);
        if (!strstr(said, want))
            printf("# said: %s\n", said);
        EXPECT(strstr(said, want));
    }
}

TEST(cpu_mask)
{
    static const char *const bad[] = {"avx2", "4294967296", "99999999999999999999", "-1"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(strstr(said_of("CARDLESS_CPU_MASK", bad[i]), "a whole number from 0 to 2^32 - 1"));
    EXPECT_STR(said_of("CARDLESS_CPU_MASK", "4294967295"), "");
    EXPECT_STR(said_of("CARDLESS_CPU_MASK", "0x1"), "");
}

TEST(misspelt_settings)
{
    EXPECT(strstr(said_of("CARDLESS_PERSONALTY", "manual"), "did you mean CARDLESS_PERSONALITY?"));
    EXPECT(strstr(said_of("CARDLESS_DEVICE", "t4"), "did you mean CARDLESS_DEVICES?"));
    EXPECT(strstr(said_of("CARDLESSTRACE", "x"), "did you mean CARDLESS_TRACE?"));
    EXPECT_EQ(said_of("CARDLESS_SOMEBODYS_OWN", "1")[0], 0);
    EXPECT_EQ(said_of("CARDLESS_SEED", "0x10")[0], 0);
}

TESTS(CASE(nonsense_settings), CASE(misspelt_settings), CASE(cpu_mask), CASE(flags),
      CASE(diagnostics_file), CASE(threads), CASE(small_stack), CASE(fork_before_init),
      CASE(fork_after_init), CASE(fork_among_threads), CASE(fork_leaves_cancelling_alone),
      CASE(exit_handlers_still_work), CASE(no_devices), CASE(unknown_device), CASE(profile_is_pipe),
      CASE(profile_is_device_file), CASE(profile_is_folder), CASE(several_devices),
      CASE(profile_file), CASE(profile_file_bad), CASE(profile_file_zero_byte),
      CASE(profile_file_range))
