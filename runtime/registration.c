// SPDX-License-Identifier: MIT
// The functions by which compiled code registers its fat binaries, kernels and variables.
//
// The names and prototypes are those that nvcc and clang emit calls to. Most are called before
// main, so only rt___cudaInitModule() should ever call the driver.
#include "fat_binary.h"
#include "interrupt.h"

// Refuses a registration by a signal handler that has interrupted malloc or free, or a lookup. A
// library may register while the driver is loaded: that needs no driver.
static bool registration_refused(const char *function)
{
    struct rt_thread *self = rt_thread();
    return __builtin_expect(self->busy, 0) && rt_refuse(self, function);
}

void **rt___cudaRegisterFatBinary(void *fatCubin)
{
    if (registration_refused("__cudaRegisterFatBinary"))
        return NULL;
    return (void **)rt_registry_add(fatCubin);
}

// A kernel may be used from here on. Registration needs no second step, because nothing is loaded
// before the first use.
void rt___cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

void rt___cudaUnregisterFatBinary(void **fatCubinHandle)
{
    if (!registration_refused("__cudaUnregisterFatBinary"))
        rt_registry_remove(fatCubinHandle);
}

// The compiler fills in only the first four arguments.
void rt___cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                               const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                               dim3 *bDim, dim3 *gDim, int *wSize)
{
    if (!registration_refused("__cudaRegisterFunction"))
        rt_registry_symbol(fatCubinHandle, RT_FUNCTION, hostFun, deviceName, 0);
}

void rt___cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                          const char *deviceName, int ext, size_t size, int constant, int global)
{
    if (!registration_refused("__cudaRegisterVar"))
        rt_registry_symbol(fatCubinHandle, RT_VARIABLE, hostVar, deviceName, size);
}

// The host copy of a managed variable is a pointer to its memory. Code that reads it calls
// __cudaInitModule first.
void rt___cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                                 char *deviceAddress, const char *deviceName, int ext, size_t size,
                                 int constant, int global)
{
    if (!registration_refused("__cudaRegisterManagedVar"))
        rt_registry_symbol(fatCubinHandle, RT_MANAGED, hostVarPtrAddress, deviceName, size);
}

// Kernels use a variable of the host in place, which they declare as an external one. Only some
// cards can do that, so it shows when the binary is loaded (image.c). LLVM's runtime library for
// CUDA Fortran declares this function, and no header of NVIDIA's.
void rt___cudaRegisterHostVar(void **fatCubinHandle, const char *deviceName, char *hostVar,
                              size_t size)
{
    if (deviceName && !registration_refused("__cudaRegisterHostVar"))
        rt_registry_symbol(fatCubinHandle, RT_HOST_VARIABLE, hostVar, deviceName, size);
}

// The arguments are not public. NVIDIA's library of 13.0 returns 0, whatever they are, and does
// nothing else (recorded on an H200).
void *rt___cudaGetProcAddress(void)
{
    return NULL;
}

// The host reads or writes a managed variable for the first time. Returns 0 on failure; the code
// calls again before the next access.
char rt___cudaInitModule(void **fatCubinHandle)
{
    struct rt_thread *self = rt_thread();
    if (rt_interrupts(self)) {
        (void)rt_refuse(self, "__cudaInitModule");
        return 0;
    }
    struct rt_binary *binary = rt_registry_hold(fatCubinHandle);
    if (!binary)
        return 0;
    cudaError_t error = rt_need_context(self);
    for (struct rt_symbol *s = binary->symbols; s && error == cudaSuccess; s = s->next) {
        void *memory;
        if (s->kind == RT_MANAGED)
            error = rt_managed_memory(s, &memory);
    }
    rt_registry_release(binary);
    if (error != cudaSuccess)
        self->last_error = error;
    return error == cudaSuccess;
}
