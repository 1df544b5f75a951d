// SPDX-License-Identifier: MIT
// Calls of a library's constructor, while a call of another thread, of CUDA or Vulkan, opens a
// library itself. The constructor's thread holds the dynamic loader's lock, for which the other
// thread waits. So the constructor's calls should wait for nothing that the other thread holds.
#include "expect.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include "program.h"

enum { SECONDS = 20, BLOCKED_US = 50000, TEXT_B = 1024 };

#define EXPORT __attribute__((visibility("default")))

static struct {
    const char *library; // that the first thread's call opens
    void (*call)(void);  // of the constructor
    pthread_t second;
    sem_t begun; // the constructor runs
    bool armed, opened;
} step;

// The constructor of constructor_library.c calls it.
EXPORT void in_constructor(void);
EXPORT void in_constructor(void)
{
    sem_post(&step.begun);
    usleep(BLOCKED_US); // the first thread begins to wait for the loader
    step.call();
}

static void *open_library(void *unused)
{
    (void)unused;
    EXPECT(dlopen(CONSTRUCTOR_LIBRARY, RTLD_NOW));
    return NULL;
}

// Stands for the C library's function, also in libcudart and libcuda.
EXPORT void *dlopen(const char *path, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    if (step.armed && path && strstr(path, step.library)) {
        step.armed = false;
        step.opened = true;
        EXPECT_EQ(pthread_create(&step.second, NULL, open_library, NULL), 0);
        EXPECT_EQ(sem_wait(&step.begun), 0);
    }
    return real(path, flags);
}

// Makes the first call, and the second one in a constructor. Returns whether the first call has
// opened the library.
static bool run_both(const char *library, void (*first)(void), void (*second)(void))
{
    step.library = library;
    step.call = second;
    step.armed = true;
    EXPECT_EQ(sem_init(&step.begun, 0, 0), 0);
    alarm(SECONDS);
    first();
    step.armed = false;
    if (step.opened)
        EXPECT_EQ(pthread_join(step.second, NULL), 0);
    alarm(0);
    return step.opened;
}

static void run(const char *library, void (*call)(void))
{
    EXPECT(run_both(library, call, call));
}

// ---- the driver

static void first_call(void)
{
    int devices = 0;
    RT_OK(cudaGetDeviceCount(&devices));
    EXPECT_EQ(devices, 1);
}

TEST(driver)
{
    run("libcuda.so.1", first_call);
}

// ---- Vulkan

#define VULKAN_DRIVER "libvulkan_" // lavapipe and others of Mesa

static void properties(void)
{
    struct cudaDeviceProp p;
    RT_OK(cudaGetDeviceProperties(&p, 0));
}

// The driver asks the Vulkan drivers for the UUID.
TEST(device_properties)
{
    first_call();
    if (!run_both(VULKAN_DRIVER, properties, properties))
        SKIP("no Vulkan driver was loaded");
}

TEST(visible_device)
{
    int report[2], status = -1;
    char visible[64] = "";
    EXPECT_EQ(pipe(report), 0);
    const pid_t child = fork();
    if (!child) {
        struct cudaDeviceProp p;
        RT_MUST(cudaGetDeviceProperties(&p, 0));
        int n = snprintf(visible, sizeof visible, "GPU-");
        for (int i = 0; i < 16; i++)
            n += snprintf(visible + n, sizeof visible - (size_t)n, "%02x",
                          (unsigned char)p.uuid.bytes[i]);
        _exit(write(report[1], visible, (size_t)n) != n);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT(read(report[0], visible, sizeof visible - 1) > 4);
    test_setting("CUDA_VISIBLE_DEVICES", visible);
    if (!run_both(VULKAN_DRIVER, first_call, first_call))
        SKIP("no Vulkan driver was loaded");
}

static int (*create_instance)(const void *info, const void *allocator, void **instance);

static void use_vulkan(void)
{
    const struct {
        int type; // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
        const void *members[7];
    } info = {.type = 1};
    void *instance;
    EXPECT_EQ(create_instance(&info, NULL, &instance), 0);
}

// The program's own call of Vulkan's loader, which holds its mutex while it loads drivers.
TEST(in_vulkan)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    void *create = library ? dlsym(library, "vkCreateInstance") : NULL;
    if (!create)
        SKIP("no libvulkan.so.1");
    memcpy(&create_instance, &create, sizeof create);
    first_call();
    if (!run_both(VULKAN_DRIVER, use_vulkan, properties))
        SKIP("no Vulkan driver was loaded");
}

// ---- compressed kernels

static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".visible .global .align 4 .u32 number = 5;\n"
                           ".visible .entry one()\n{\nred.global.add.u32 [number], 1;\nret;\n}\n";
static char one; // host function
static unsigned number;

// A block of literals only.
static size_t lz4_of(const char *in, size_t in_B, unsigned char *out)
{
    size_t used = 0, more = in_B - 15;
    out[used++] = 0xf0;
    for (; more >= 255; more -= 255)
        out[used++] = 255;
    out[used++] = (unsigned char)more;
    memcpy(out + used, in, in_B);
    return used + in_B;
}

// A frame with one block that is not compressed (RFC 8878).
static size_t zstd_of(const char *in, size_t in_B, unsigned char *out)
{
    const uint32_t magic = 0xfd2fb528, size_B = (uint32_t)in_B, block = (uint32_t)in_B << 3 | 1;
    memcpy(out, &magic, 4);
    out[4] = 0xa0; // a single segment, whose size has four bytes
    memcpy(out + 5, &size_B, 4);
    memcpy(out + 9, &block, 3);
    memcpy(out + 12, in, in_B);
    return 12 + in_B;
}

static void register_compressed(size_t (*compress)(const char *, size_t, unsigned char *),
                                uint64_t flag)
{
    static struct program_wrapper wrapper;
    char padded[TEXT_B] = ""; // room for what compression adds
    memset(padded, ' ', sizeof padded - 1);
    memcpy(padded, text, sizeof text - 1);
    wrapper = program_wrapper(padded);
    struct program_container *c = (struct program_container *)(uintptr_t)wrapper.data;
    c->entry.compressed_B =
        (uint32_t)compress(text, sizeof text - 1, (unsigned char *)(void *)c->text);
    c->entry.plain_B = sizeof text - 1;
    c->entry.flags |= flag;
    void **binary = __cudaRegisterFatBinary(&wrapper);
    program_function(binary, &one, "one");
    program_variable(binary, &number, "number", sizeof number);
}

static void launch(void)
{
    RT_OK(cudaLaunchKernel(&one, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    RT_OK(cudaDeviceSynchronize());
}

// The kernels of both threads belong to one library, so the variable counts both.
static void launch_both(const char *library)
{
    unsigned count = 0;
    first_call();
    run(library, launch);
    RT_OK(cudaMemcpyFromSymbol(&count, &number, sizeof count, 0, cudaMemcpyDeviceToHost));
    EXPECT_EQ(count, 5 + 2);
}

TEST(lz4)
{
    register_compressed(lz4_of, 0x2000);
    launch_both("liblz4");
}

TEST(zstd)
{
    register_compressed(zstd_of, 0x8000);
    launch_both("libzstd");
}

// ---- kernels that are host functions

static void find_host_kernel(void)
{
    CUlibrary library;
    CUkernel kernel;
    EXPECT_OK(cuLibraryLoadFromFile(&library, KERNELS_LIBRARY, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_OK(cuLibraryEnumerateKernels(&kernel, 1, library));
}

TEST(host_kernels)
{
    first_call();
    run("libffi", find_host_kernel);
}

TESTS(CASE(driver), CASE(device_properties), CASE(visible_device), CASE(in_vulkan), CASE(lz4),
      CASE(zstd), CASE(host_kernels))
