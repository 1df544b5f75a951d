// SPDX-License-Identifier: MIT
// `cardless info`: prints a table of the cards that a program finds.
#include <cuda.h>
#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "lib.h"

static const char usage[] = "usage: cardless info [--devices NAME[,NAME…]] [--attributes]\n"
                            "\n"
                            "Shows the cards that a program finds if `cardless run` starts it. "
                            "--attributes also prints every attribute of each card.\n";

// The entry points that the table needs. The driver is opened as a program opens it.
static struct {
    CUresult (*init)(unsigned);
    CUresult (*driver_version)(int *);
    CUresult (*count)(int *);
    CUresult (*get)(CUdevice *, int);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*uuid)(CUuuid *, CUdevice);
    CUresult (*total)(size_t *, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*bus)(char *, int, CUdevice);
    CUresult (*error_name)(CUresult, const char **);
} cu;

static int open_driver(void)
{
    static const struct {
        const char *name;
        void *slot;
    } wanted[] = {
        {"cuInit", &cu.init},
        {"cuDriverGetVersion", &cu.driver_version},
        {"cuDeviceGetCount", &cu.count},
        {"cuDeviceGet", &cu.get},
        {"cuDeviceGetName", &cu.name},
        {"cuDeviceGetUuid_v2", &cu.uuid},
        {"cuDeviceTotalMem_v2", &cu.total},
        {"cuDeviceGetAttribute", &cu.attribute},
        {"cuDeviceGetPCIBusId", &cu.bus},
        {"cuGetErrorName", &cu.error_name},
    };
    char folder[PATH_MAX], path[PATH_MAX + 32];
    if (lib_folder(folder, sizeof folder))
        return -1;
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "cardless: %s\n", dlerror());
        return -1;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        if (!symbol) {
            fprintf(stderr, "cardless: %s lacks %s\n", path, wanted[i].name);
            return -1;
        }
        *(void **)wanted[i].slot = symbol;
    }
    return 0;
}

static int attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    cu.attribute(&value, which, device);
    return value;
}

enum { WIDTH = 88 };

// Prints one line of the table.
__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
    char text[WIDTH + 1];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("| %-*s |\n", WIDTH - 2, text);
}

static void print_rule(char c)
{
    putchar('+');
    for (int i = 0; i < WIDTH; i++)
        putchar(c);
    puts("+");
}

static void print_device(CUdevice device)
{
    char name[64] = "", bus[32] = "", uuid_text[48];
    size_t total = 0;
    CUuuid uuid = {{0}};
    cu.name(name, sizeof name, device);
    cu.bus(bus, sizeof bus, device);
    cu.total(&total, device);
    cu.uuid(&uuid, device);
    char *out = uuid_text;
    for (int i = 0; i < 16; i++)
        out += sprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)uuid.bytes[i]);
    line("%3d  %-36s %-18s %8zu MiB   sm_%d%d", device, name, bus, total >> 20,
         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    line("     UUID %s", uuid_text);
    line("     %d multiprocessors, %d threads each, %d KiB L2",
         attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
         attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
         attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) / 1024);
}

static void print_attributes(CUdevice device)
{
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++) {
        int value;
        if (!cu.attribute(&value, (CUdevice_attribute)i, device))
            printf("device %d attribute %3d = %d\n", device, i, value);
    }
}

int cmd_info(int argc, char **argv)
{
    static const struct option options[] = {{"devices", required_argument, NULL, 'd'},
                                            {"attributes", no_argument, NULL, 'a'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int c, all = 0;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'd':
            setenv("CARDLESS_DEVICES", optarg, 1);
            break;
        case 'a':
            all = 1;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "cardless info: unexpected argument '%s'\n%s", argv[optind], usage);
        return 2;
    }
    if (open_driver())
        return 1;
    int version = 0, count = 0;
    CUresult r = cu.init(0);
    if (r) {
        const char *text = "?";
        cu.error_name(r, &text);
        fprintf(stderr, "cardless: cuInit: %s\n", text ? text : "?");
        return 1;
    }
    cu.driver_version(&version);
    cu.count(&count);
    print_rule('=');
    line("Cardless, a software NVIDIA card    CUDA driver API %d.%d    %d device%s", version / 1000,
         version % 1000 / 10, count, count == 1 ? "" : "s");
    print_rule('=');
    for (int i = 0; i < count; i++) {
        CUdevice device;
        if (cu.get(&device, i))
            continue;
        print_device(device);
        print_rule('-');
    }
    for (int i = 0; all && i < count; i++)
        print_attributes(i);
    return 0;
}
