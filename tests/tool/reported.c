// SPDX-License-Identifier: MIT
// A program that makes mistakes, for reports.py: each argument names one.
#include <cuda.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static CUexternalMemory import(void)
{
    CUexternalMemory memory = NULL;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .size = 65536};
    d.handle.fd = memfd_create("reported", MFD_CLOEXEC);
    if (ftruncate(d.handle.fd, 65536) || cuImportExternalMemory(&memory, &d))
        exit(3);
    return memory;
}

// B01, at one call site.
static void map_too_much(CUexternalMemory memory)
{
    CUdeviceptr p;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.offset = 4096, .size = 65536};
    cuExternalMemoryGetMappedBuffer(&p, memory, &d); // the line of B01
}

// I08: a portability mistake of a call that succeeds.
static void write_without_flag(void)
{
    CUarray array;
    CUsurfObject surface;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    cuArray3DCreate(&array, &d);
    r.res.array.hArray = array;
    cuSurfObjectCreate(&surface, &r);
}

static void launch(void)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k()\n{\n.reg .b64 %x;\nmov.u64 %x, 64;\n"
                               "st.global.u32 [%x], 1;\nret;\n}\n";
    CUmodule module;
    CUfunction k;
    if (cuModuleLoadData(&module, text) || cuModuleGetFunction(&k, module, "k"))
        exit(3);
    cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cuCtxSynchronize();
}

static void start_child(char *self)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        execl(self, self, "map", NULL);
        _exit(9);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(3);
}

int main(int argc, char **argv)
{
    // The child starts before the driver does.
    if (argc > 1 && !strcmp(argv[1], "child"))
        start_child(argv[0]);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context))
        return 3;
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        if (!strcmp(what, "map"))
            map_too_much(import());
        else if (!strcmp(what, "surface"))
            write_without_flag();
        else if (!strcmp(what, "kernel"))
            launch();
        else if (!strcmp(what, "runtime"))
            cudaFree((void *)(uintptr_t)12345); // the line of the runtime
        else if (!strcmp(what, "name"))
            cuModuleLoad(&module, "no \xff\xfe <file> & \x01 \"here\"");
        else if (!strcmp(what, "function"))
            cuModuleGetFunction(&function, NULL, "f");
        else if (!strcmp(what, "many"))
            for (int n = 0; n < 12000; n++)
                cuMemFree(12345);
        else if (!strncmp(what, "exit", 4))
            return atoi(what + 4);
        else if (!strncmp(what, "signal", 6))
            raise(atoi(what + 6));
        else if (!strcmp(what, "sleep"))
            sleep(20);
    }
    return 0;
}
