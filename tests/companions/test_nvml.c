// SPDX-License-Identifier: MIT
// libnvidia-ml.so.1: its checks, the identity of cards, and the use of cards by processes.
#include <dlfcn.h>
#include <nvml.h>
#include <time.h>

#include "../harness.h"

enum { PROCESSES = 64 };
#define MIB (UINT64_C(1) << 20)

static nvmlDevice_t first_card(void)
{
    nvmlDevice_t card = NULL;
    EXPECT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &card), NVML_SUCCESS);
    return card;
}

// Every function but the few that start the library needs a start, and starts are counted.
TEST(starts_are_counted)
{
    unsigned count = 99;
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(nvmlDeviceGetCount_v2(NULL), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(count, 99);
    EXPECT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    EXPECT_EQ(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS), NVML_SUCCESS);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(nvmlDeviceGetCount_v2(NULL), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}

// A function without a body makes its checks, and never answers success.
TEST(the_rest_is_not_supported)
{
    nvmlReturn_t (*fan)(nvmlDevice_t, unsigned *) =
        (nvmlReturn_t(*)(nvmlDevice_t, unsigned *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetFanSpeed");
    unsigned speed = 99;
    EXPECT(fan);
    EXPECT_EQ(fan(NULL, &speed), NVML_ERROR_UNINITIALIZED);
    nvmlDevice_t card = first_card();
    EXPECT_EQ(fan(card, &speed), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(fan(card, NULL), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(fan(NULL, &speed), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(speed, 99);
}

TEST(handles_are_checked)
{
    char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
    nvmlDevice_t card = first_card(), none = (nvmlDevice_t)((char *)card + 1);
    EXPECT_EQ(nvmlDeviceGetName(card, name, sizeof name), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetName(none, name, sizeof name), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetName((nvmlDevice_t)(void *)name, name, sizeof name),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(1, &none), NVML_ERROR_INVALID_ARGUMENT);
    // A buffer that is one byte too small is not written.
    char small[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "x";
    EXPECT_EQ(nvmlDeviceGetName(card, small, (unsigned)strlen(name)), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_STR(small, "x");
    EXPECT_EQ(nvmlDeviceGetName(card, small, (unsigned)strlen(name) + 1), NVML_SUCCESS);
}

static void expect_uuid(CUdevice device, const char *text)
{
    CUuuid uuid;
    char want[NVML_DEVICE_UUID_BUFFER_SIZE] = "GPU";
    EXPECT_OK(cuDeviceGetUuid_v2(&uuid, device));
    for (int i = 0; i < 16; i++)
        sprintf(want + strlen(want), "%s%02x",
                i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                (unsigned char)uuid.bytes[i]);
    EXPECT_STR(text, want);
}

// Programs match the cards of CUDA and NVML by UUID and by PCI address.
TEST(cards_are_those_of_cuda)
{
    unsigned count = 0;
    test_setting("CARDLESS_DEVICES", "h100,t4");
    EXPECT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 2);
    EXPECT_ERROR(cuDeviceGetCount((int *)&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_OK(cuInit(0));
    for (unsigned i = 0; i < 2; i++) {
        nvmlDevice_t card, found = NULL;
        char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE], cuda_name[sizeof name], bus[32];
        char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
        int major, minor, cuda_major;
        nvmlPciInfo_t pci;
        nvmlMemory_t memory;
        size_t total;
        EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(i, &card), NVML_SUCCESS);
        EXPECT_EQ(nvmlDeviceGetName(card, name, sizeof name), NVML_SUCCESS);
        EXPECT_OK(cuDeviceGetName(cuda_name, sizeof cuda_name, (CUdevice)i));
        EXPECT_STR(name, cuda_name);
        EXPECT_EQ(nvmlDeviceGetUUID(card, uuid, sizeof uuid), NVML_SUCCESS);
        expect_uuid((CUdevice)i, uuid);
        EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid, &found), NVML_SUCCESS);
        EXPECT(found == card);
        EXPECT_EQ(nvmlDeviceGetPciInfo_v3(card, &pci), NVML_SUCCESS);
        EXPECT_OK(cuDeviceGetPCIBusId(bus, sizeof bus, (CUdevice)i));
        EXPECT_STR(pci.busIdLegacy, bus);
        EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(bus, &found), NVML_SUCCESS);
        EXPECT(found == card);
        EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &found), NVML_SUCCESS);
        EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(card, &major, &minor), NVML_SUCCESS);
        EXPECT_OK(cuDeviceGetAttribute(&cuda_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                       (CUdevice)i));
        EXPECT_EQ(major, cuda_major);
        EXPECT_EQ(nvmlDeviceGetMemoryInfo(card, &memory), NVML_SUCCESS);
        EXPECT_OK(cuDeviceTotalMem(&total, (CUdevice)i));
        EXPECT_EQ(memory.total, total);
        EXPECT_EQ(memory.used + memory.free, total);
    }
}

TEST(lookups_that_find_nothing)
{
    nvmlDevice_t card = first_card();
    char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
    nvmlUUID_t by = {.version = nvmlUUID_v1, .type = NVML_UUID_TYPE_ASCII};
    EXPECT_EQ(nvmlDeviceGetUUID(card, uuid, sizeof uuid), NVML_SUCCESS);
    memcpy(by.value.str, uuid, sizeof by.value.str);
    EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&by, &card), NVML_SUCCESS);
    by.version++;
    EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&by, &card), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    uuid[strlen(uuid) - 1] ^= 1;
    EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid, &card), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleByUUID("", &card), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleBySerial("1", &card), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("ffff:ff:1f.0", &card), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("fa:", &card), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("", &card), NVML_ERROR_INVALID_ARGUMENT);
}

TEST(no_card)
{
    unsigned count = 99;
    nvmlDevice_t card;
    test_setting("CARDLESS_DEVICES", "none");
    EXPECT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &card), NVML_ERROR_INVALID_ARGUMENT);
}

// PyTorch asks NVML before it forks its workers, because CUDA cannot be used after a fork.
TEST(a_process_may_fork_after_nvml)
{
    char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
    nvmlDevice_t card = first_card();
    EXPECT_EQ(nvmlDeviceGetUUID(card, uuid, sizeof uuid), NVML_SUCCESS);
    const pid_t child = fork();
    if (!child)
        _exit(cuInit(0) || nvmlDeviceGetUUID(card, uuid, sizeof uuid) ? 1 : 0);
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // After cuInit the child may not use CUDA, but NVML.
    EXPECT_OK(cuInit(0));
    const pid_t second = fork();
    if (!second)
        _exit(cuInit(0) == CUDA_SUCCESS || nvmlDeviceGetUUID(card, uuid, sizeof uuid) ? 1 : 0);
    EXPECT_EQ(waitpid(second, &status, 0), second);
    EXPECT_EQ(status, 0);
}

// The row of a process in the list of a card, or one with pid 0.
static nvmlProcessInfo_t row_of(nvmlDevice_t card, pid_t pid)
{
    nvmlProcessInfo_t rows[PROCESSES];
    unsigned count = PROCESSES;
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(card, &count, rows), NVML_SUCCESS);
    for (unsigned i = 0; i < count && i < PROCESSES; i++)
        if (rows[i].pid == (unsigned)pid)
            return rows[i];
    return (nvmlProcessInfo_t){0};
}

static void say(int fd)
{
    EXPECT_EQ(write(fd, "x", 1), 1);
}

static void hear(int fd)
{
    char c;
    EXPECT_EQ(read(fd, &c, 1), 1);
}

static void use_memory(int to, int from)
{
    CUdeviceptr p, q;
    EXPECT_OK(cuInit(0));
    say(to); // initialised, but without a context
    hear(from);
    test_context();
    MUST(cuMemAlloc(&p, 256 * MIB));
    MUST(cuMemAlloc(&q, 64 * MIB));
    say(to);
    hear(from);
    MUST(cuMemFree(p));
    say(to);
    hear(from);
    raise(SIGKILL);
}

TEST(another_process_is_listed)
{
    int to[2], from[2];
    EXPECT_EQ(pipe(to) | pipe(from), 0);
    const pid_t child = fork();
    if (!child) {
        use_memory(from[1], to[0]);
        _exit(1);
    }
    nvmlDevice_t card = first_card();
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    char name[256] = "";
    hear(from[0]);
    EXPECT_EQ(row_of(card, child).pid, 0);
    say(to[1]);
    hear(from[0]);
    EXPECT_EQ(row_of(card, child).usedGpuMemory, 320 * MIB);
    EXPECT_EQ(row_of(card, child).gpuInstanceId, UINT32_MAX);
    EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(card, &memory), NVML_SUCCESS);
    EXPECT(memory.used >= 320 * MIB); // others may run
    EXPECT_EQ(memory.total, memory.reserved + memory.used + memory.free);
    EXPECT_EQ(nvmlSystemGetProcessName((unsigned)child, name, sizeof name), NVML_SUCCESS);
    EXPECT(strstr(name, "nvml"));
    // A list that is too short: the code, and the right number.
    unsigned count = 0;
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(card, &count, NULL),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT(count >= 1);
    say(to[1]);
    hear(from[0]);
    EXPECT_EQ(row_of(card, child).usedGpuMemory, 64 * MIB);
    say(to[1]);
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFSIGNALED(status));
    EXPECT_EQ(row_of(card, child).pid, 0);
    EXPECT_EQ(nvmlSystemGetProcessName((unsigned)child, name, sizeof name), NVML_ERROR_NOT_FOUND);
}

// A context makes the process appear; its end removes it.
TEST(this_process)
{
    nvmlDevice_t card = first_card();
    EXPECT_OK(cuInit(0));
    EXPECT_EQ(row_of(card, getpid()).pid, 0);
    test_context();
    EXPECT_EQ(row_of(card, getpid()).pid, getpid());
    EXPECT_EQ(row_of(card, getpid()).usedGpuMemory, 0);
    nvmlProcessInfo_v1_t old[PROCESSES];
    unsigned count = PROCESSES, graphics = PROCESSES;
    nvmlReturn_t (*version_1)(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *) =
        (nvmlReturn_t(*)(nvmlDevice_t, unsigned *, nvmlProcessInfo_v1_t *))dlsym(
            RTLD_DEFAULT, "nvmlDeviceGetComputeRunningProcesses");
    EXPECT_EQ(version_1(card, &count, old), NVML_SUCCESS);
    bool listed = false;
    for (unsigned i = 0; i < count; i++)
        listed |= old[i].pid == (unsigned)getpid();
    EXPECT(listed);
    EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses_v3(card, &graphics, NULL), NVML_SUCCESS);
    EXPECT_EQ(graphics, 0);
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    EXPECT_EQ(row_of(card, getpid()).pid, 0);
}

static const char spin[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry spin() {\n"
                           "  .reg .u32 %i;\n  .reg .pred %p;\n  mov.u32 %i, 0;\n"
                           "again:\n  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, 200000;\n"
                           "  @%p bra again;\n  ret;\n}\n";

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// The share of a process in the last second, by its samples.
static unsigned busy_percent(nvmlDevice_t card, pid_t pid)
{
    nvmlProcessUtilizationSample_t samples[PROCESSES];
    unsigned count = PROCESSES;
    const nvmlReturn_t r = nvmlDeviceGetProcessUtilization(card, samples, &count, 0);
    EXPECT(r == NVML_SUCCESS || r == NVML_ERROR_NOT_FOUND);
    for (unsigned i = 0; r == NVML_SUCCESS && i < count; i++)
        if (samples[i].pid == (unsigned)pid)
            return samples[i].smUtil;
    return 0;
}

TEST(kernels_keep_a_card_busy)
{
    CUmodule module;
    CUfunction function;
    nvmlUtilization_t rates;
    nvmlDevice_t card = first_card();
    MUST(cuInit(0));
    test_context();
    MUST(cuModuleLoadData(&module, spin));
    MUST(cuModuleGetFunction(&function, module, "spin"));
    EXPECT_EQ(busy_percent(card, getpid()), 0);
    for (uint64_t end = now_ms() + 1100; now_ms() < end;)
        MUST(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    MUST(cuCtxSynchronize());
    EXPECT(busy_percent(card, getpid()) > 50);
    EXPECT_EQ(nvmlDeviceGetUtilizationRates(card, &rates), NVML_SUCCESS);
    EXPECT(rates.gpu > 50 && rates.gpu <= 100);
    usleep(1200000);
    EXPECT_EQ(busy_percent(card, getpid()), 0);
}

TEST(texts_of_errors)
{
    EXPECT_STR(nvmlErrorString(NVML_SUCCESS), "Success");
    EXPECT_STR(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
    EXPECT_STR(nvmlErrorString((nvmlReturn_t)12345), nvmlErrorString(NVML_ERROR_UNKNOWN));
}

TESTS(CASE(starts_are_counted), CASE(the_rest_is_not_supported), CASE(handles_are_checked),
      CASE(cards_are_those_of_cuda), CASE(lookups_that_find_nothing), CASE(no_card),
      CASE(a_process_may_fork_after_nvml), CASE(another_process_is_listed), CASE(this_process),
      CASE(kernels_keep_a_card_busy), CASE(texts_of_errors))
