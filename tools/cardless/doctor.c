// SPDX-License-Identifier: MIT
// `cardless doctor`: lists the parts of this machine that interop programs use, and the consequence
// of each one that is missing.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_VULKAN
#include <vulkan/vulkan.h>
#endif

#include "commands.h"
#include "lib.h"
#include "vulkan_layer.h"

static int missing;

// Prints one finding. `consequence` may be NULL.
static void print_finding(bool good, const char *what, const char *found, const char *consequence)
{
    printf("%-4s %-22s %s\n", good ? "ok" : "--", what, found);
    if (consequence && *consequence)
        printf("     %-22s -> %s\n", "", consequence);
    missing += !good;
}

static void check_library(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    if (lib_folder(folder, sizeof folder)) {
        print_finding(
            false, "software card", "libcuda.so.1 not found",
            "it is neither next to this program nor in the installation folder: build it (ninja "
            "-C build)");
        return;
    }
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    print_finding(library, "software card", library ? path : dlerror(),
                  library ? NULL : "the dynamic loader rejects the library on this machine");
}

static void check_other_driver(void)
{
    // By soname, as a program that is started without `cardless run` loads it.
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    Dl_info where;
    void *symbol = library ? dlsym(library, "cuInit") : NULL;
    if (symbol && dladdr(symbol, &where))
        print_finding(true, "libcuda.so.1 by name", where.dli_fname,
                      "programs that are started without `cardless run` load this library");
    else
        print_finding(
            true, "libcuda.so.1 by name", "not installed",
            "no NVIDIA driver here: start programs with `cardless run`, or set LD_LIBRARY_PATH to "
            "the folder of the next line");
}

#ifdef HAVE_VULKAN
static bool has_extension(VkPhysicalDevice device,
                          PFN_vkEnumerateDeviceExtensionProperties enumerate, const char *name)
{
    uint32_t n = 0;
    if (enumerate(device, NULL, &n, NULL))
        return false;
    VkExtensionProperties *all = calloc(n ? n : 1, sizeof *all);
    bool found = false;
    if (all && enumerate(device, NULL, &n, all) >= 0)
        for (uint32_t i = 0; i < n; i++)
            found |= !strcmp(all[i].extensionName, name);
    free(all);
    return found;
}

// What CUDA can import from a device that exports memory, semaphores or both.
static const char *exports_text(bool memory, bool semaphore)
{
    char folder[PATH_MAX];
    if (!memory)
        return "cannot export memory by file descriptor: CUDA cannot import its images";
    if (semaphore)
        return "exports memory and semaphores by file descriptor";
    if (vulkan_layer_folder(folder, sizeof folder))
        return "exports memory by file descriptor, but no semaphores: install Cardless's Vulkan "
               "layer, which provides them";
    return "exports memory by file descriptor; semaphores come from Cardless's Vulkan layer";
}

static void check_vulkan_devices(PFN_vkGetInstanceProcAddr get, VkInstance instance)
{
    PFN_vkEnumeratePhysicalDevices list =
        (PFN_vkEnumeratePhysicalDevices)get(instance, "vkEnumeratePhysicalDevices");
    PFN_vkGetPhysicalDeviceProperties properties =
        (PFN_vkGetPhysicalDeviceProperties)get(instance, "vkGetPhysicalDeviceProperties");
    PFN_vkEnumerateDeviceExtensionProperties extensions =
        (PFN_vkEnumerateDeviceExtensionProperties)get(instance,
                                                      "vkEnumerateDeviceExtensionProperties");
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    if (!list || !properties || !extensions || list(instance, &n, devices) < 0 || !n) {
        print_finding(false, "Vulkan device", "none",
                      "install mesa-vulkan-drivers: it brings lavapipe, Vulkan on the CPU");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        VkPhysicalDeviceProperties p;
        properties(devices[i], &p);
        bool memory =
            has_extension(devices[i], extensions, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
        bool semaphore =
            has_extension(devices[i], extensions, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
        char text[400];
        snprintf(text, sizeof text, "%s%s", p.deviceName,
                 p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? " (on the CPU)" : "");
        print_finding(memory, "Vulkan device", text, exports_text(memory, semaphore));
    }
}

static void check_vulkan(void)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get =
        loader ? (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr") : NULL;
    PFN_vkCreateInstance create = get ? (PFN_vkCreateInstance)get(NULL, "vkCreateInstance") : NULL;
    if (!create) {
        print_finding(false, "Vulkan", "no libvulkan.so.1",
                      "install libvulkan1 and mesa-vulkan-drivers to share memory with Vulkan");
        return;
    }
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    VkInstance instance;
    if (create(&info, NULL, &instance)) {
        print_finding(false, "Vulkan", "vkCreateInstance fails",
                      "install a Vulkan driver: mesa-vulkan-drivers brings lavapipe");
        return;
    }
    check_vulkan_devices(get, instance);
    PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)get(instance, "vkDestroyInstance");
    if (destroy)
        destroy(instance, NULL);
}
#else
static void check_vulkan(void)
{
    print_finding(false, "Vulkan", "not checked",
                  "this build has no Vulkan headers: install libvulkan-dev and build again");
}
#endif

static void check_vulkan_layer(void)
{
    char folder[PATH_MAX];
    bool there = !vulkan_layer_folder(folder, sizeof folder);
    print_finding(
        there, "Vulkan layer",
        there ? folder : "not there: it is built if the Vulkan headers are (libvulkan-dev)",
        there ? "`cardless run` compares CUDA's descriptors with the Vulkan images they describe"
              : "mistakes that need Vulkan's side (B09, I04, I07, M06, M13) are not reported");
}

static void check_library_by_name(const char *what, const char *soname, const char *follows)
{
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    print_finding(library, what, library ? soname : "not found", library ? NULL : follows);
    if (library)
        dlclose(library);
}

static void check_kernel(void)
{
    int fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    print_finding(
        fd >= 0, "/dev/udmabuf", fd >= 0 ? "can be opened" : strerror(errno),
        fd >= 0 ? "dma-bufs work: so does cuMemGetHandleForAddressRange"
                : "no dma-bufs: calls that need them fail as on a card without dma-buf support");
    if (fd >= 0)
        close(fd);
    int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    print_finding(key >= 0, "protection keys", key >= 0 ? "the CPU has them" : strerror(errno),
                  key >= 0 ? "host code that dereferences a device pointer faults, as with a card"
                           : "host code that dereferences a device pointer does not fault");
    if (key >= 0)
        pkey_free(key);
    fd = memfd_create("doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    print_finding(fd >= 0, "memfd", fd >= 0 ? "works" : strerror(errno),
                  fd >= 0 ? NULL : "device memory can be neither allocated nor shared");
    if (fd >= 0)
        close(fd);
    void *space = mmap(NULL, UINT64_C(1) << 40, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    print_finding(space != MAP_FAILED, "address space",
                  space != MAP_FAILED ? "1 TiB can be reserved" : "1 TiB cannot be reserved",
                  space != MAP_FAILED ? NULL
                                      : "Cardless uses a smaller address space; raise `ulimit -v`");
    if (space != MAP_FAILED)
        munmap(space, UINT64_C(1) << 40);
}

static void check_toolkit(void)
{
    const char *folders[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                             "/usr/lib/cuda", "/opt/cuda"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] && snprintf(path, sizeof path, "%s/include/cuda.h", folders[i]) > 0 &&
            !access(path, R_OK)) {
            print_finding(true, "CUDA toolkit", folders[i],
                          "the ABI test compares Cardless's headers with it");
            return;
        }
    }
    print_finding(
        true, "CUDA toolkit", "not installed",
        "not needed: compile driver-API programs with Cardless's headers; the ABI test is skipped");
}

static bool is_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, p, name);
        if (!access(file, X_OK))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

// cuda.h gives many calls a suffix, so that a breakpoint at the name in the source never stops.
static void check_debugger(void)
{
    bool gdb = is_in_path("gdb");
    print_finding(
        true, "gdb", gdb ? "installed" : "not installed",
        "set breakpoints at exported names: cuda.h turns cuMemFree into cuMemFree_v2, so it is "
        "`break cuMemFree_v2`");
}

int cmd_doctor(int argc, char **argv)
{
    if (argc > 1) {
        printf("usage: cardless doctor\n\nChecks this machine for the parts that interop programs "
               "use (Vulkan, OpenGL, dma-bufs, protection keys, toolkit, debugger), and explains "
               "the consequence of each one.\n");
        return strcmp(argv[1], "--help") && strcmp(argv[1], "-h") ? 2 : 0;
    }
    check_other_driver(); // first: once our library is loaded, its soname finds it
    check_library();
    check_vulkan();
    check_vulkan_layer();
    check_library_by_name("EGL", "libEGL.so.1",
                          "install libegl1 and libegl-mesa0 for OpenGL without a display");
    check_library_by_name("GLX", "libGL.so.1",
                          "install libgl1 and libgl1-mesa-dri for OpenGL under X");
    check_kernel();
    check_toolkit();
    check_debugger();
    if (missing)
        printf(
            "\n%d part%s missing (--): this limits the programs that can run here, and is not an "
            "error\n",
            missing, missing == 1 ? " is" : "s are");
    else
        printf("\nnothing is missing\n");
    return 0;
}
