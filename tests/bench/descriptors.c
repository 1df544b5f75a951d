// SPDX-License-Identifier: MIT
// Executions a second of what a fuzzer of an importer does: import a descriptor as OPAQUE_FD, map
// it, copy four bytes, free the mapping, destroy the object. Each execution duplicates the file's
// descriptor, because an import takes one. The time is the processor's, which other work on the
// machine should not change much; the wall clock's rate is beside it.
//
//     descriptors [WORD]     only rows with WORD in their names
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"

enum { FILE_B = 2 << 20, BATCH = 2000, HEADER_B = 4096 };

static int file;
static uint64_t size_B; // to import

// ---- files ----

static int own_file(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    int fd;
    MUST(cuMemCreate(&memory, FILE_B, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemRelease(memory));
    return fd;
}

static int memfd(uint64_t size, unsigned flags)
{
    int fd = memfd_create("descriptors", MFD_CLOEXEC | flags);
    if (fd < 0 || ftruncate(fd, (off_t)size))
        must(CUDA_ERROR_OUT_OF_MEMORY, "memfd_create");
    return fd;
}

// Memory as llvmpipe exports it: {size, offset, uuid}, then the payload.
static int mesa_file(void)
{
    const uint64_t header[4] = {FILE_B + HEADER_B, HEADER_B, UINT64_C(0x7bad0b4a07eeb96c),
                                UINT64_C(0x0f537e69e91b2e01)};
    int fd = memfd(FILE_B + HEADER_B, MFD_ALLOW_SEALING);
    if (pwrite(fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        must(CUDA_ERROR_OUT_OF_MEMORY, "pwrite");
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

static int plain_file(void)
{
    return memfd(FILE_B, 0);
}

static int sealed_file(void)
{
    int fd = memfd(FILE_B, MFD_ALLOW_SEALING);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

// ---- one execution ----

static CUexternalMemory import(void)
{
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                             .handle.fd = fcntl(file, F_DUPFD_CLOEXEC, 0),
                                             .size = size_B};
    MUST(cuImportExternalMemory(&memory, &desc));
    return memory;
}

static void buffer(void)
{
    CUexternalMemory memory = import();
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = size_B};
    CUdeviceptr address;
    unsigned value = 1;
    MUST(cuExternalMemoryGetMappedBuffer(&address, memory, &desc));
    MUST(cuMemcpyHtoD(address, &value, sizeof value));
    MUST(cuMemFree(address));
    MUST(cuDestroyExternalMemory(memory));
}

static void array(void)
{
    CUexternalMemory memory = import();
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .arrayDesc = {.Width = 256,
                      .Height = 256,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 4},
        .numLevels = 1};
    CUmipmappedArray mip;
    CUarray level;
    unsigned value = 1;
    MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, memory, &desc));
    MUST(cuMipmappedArrayGetLevel(&level, mip, 0));
    MUST(cuMemcpyHtoA(level, 0, &value, sizeof value));
    MUST(cuMipmappedArrayDestroy(mip));
    MUST(cuDestroyExternalMemory(memory));
}

static const struct {
    const char *name;
    int (*open)(void);
    void (*run)(void);
} rows[] = {
    {"buffer, exported by Cardless", own_file, buffer},
    {"buffer, exported by llvmpipe", mesa_file, buffer},
    {"buffer, sealed memfd", sealed_file, buffer},
    {"buffer, memfd that may shrink", plain_file, buffer},
    {"mipmapped array, exported by Cardless", own_file, array},
    {"mipmapped array, exported by llvmpipe", mesa_file, array},
    {"mipmapped array, memfd that may shrink", plain_file, array},
};

// ---- measuring ----

static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double median_rate(double *ns)
{
    qsort(ns, RUNS, sizeof *ns, by_value);
    return 1e9 / ns[RUNS / 2];
}

static void measure(const char *name, void (*run)(void))
{
    double wall[RUNS], processor[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double wall_start = now_ns(), processor_start = processor_ns();
        for (int n = 0; n < BATCH; n++)
            run();
        processor[i] = (processor_ns() - processor_start) / BATCH;
        wall[i] = (now_ns() - wall_start) / BATCH;
    }
    printf("%-44s %14.0f %14.0f\n", name, median_rate(processor), median_rate(wall));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    printf("%-44s %14s %14s\n", "executions a second", "processor", "wall clock");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (argc > 1 && !strstr(rows[i].name, argv[1]))
            continue;
        file = rows[i].open();
        size_B = FILE_B;
        measure(rows[i].name, rows[i].run);
        close(file);
    }
    return 0;
}
