// SPDX-License-Identifier: MIT
// A program for tool.py to run: initialises the driver and ends. With the argument "import", it
// imports a file as external memory and leaves it imported.
#include <cuda.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .size = 1 << 20};

    if (cuInit(0) || cuDeviceGet(&device, 0))
        return 1;
    if (argc < 2 || strcmp(argv[1], "import"))
        return 0;
    d.handle.fd = memfd_create("tool", MFD_CLOEXEC);
    if (d.handle.fd < 0 || ftruncate(d.handle.fd, (off_t)d.size) ||
        cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuImportExternalMemory(&memory, &d))
        return 1;
    return 0;
}
