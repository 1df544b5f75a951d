// SPDX-License-Identifier: MIT
// Fat binaries: loads what compiled code has registered, when it is first used.
#include "fat_binary.h"

#include "image.h"
#include "own_memory.h"

// Several threads may load a binary at the same time; the first library counts, and the others are
// unloaded. The threads must not wait for each other: one of them may hold the dynamic loader's
// lock, in the constructor of a library, while the driver waits for that lock in another one.
static CUresult binary_load_now(struct rt_binary *binary, CUlibrary *library)
{
    const CUresult result = rt_image_load(binary, library);
    if (result != CUDA_SUCCESS)
        return result;
    CUlibrary first = NULL;
    if (atomic_compare_exchange_strong(&binary->library, &first, *library))
        return CUDA_SUCCESS;
    (void)rt_cu.cuLibraryUnload(*library);
    *library = first;
    return CUDA_SUCCESS;
}

cudaError_t rt_binary_load(struct rt_binary *binary, CUlibrary *library)
{
    *library = atomic_load_explicit(&binary->library, memory_order_acquire);
    if (*library)
        return cudaSuccess;

    cudaError_t error = rt_image_check(binary);
    if (error != cudaSuccess)
        return error;
    // Manual, cudaStreamBeginCapture: a capture restricts the potentially unsafe calls of its
    // thread. It must not notice that the first use of a kernel loads its code.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (rt_image_needs_context(binary)) {
        error = rt_need_context(rt_thread());
        if (error != cudaSuccess)
            return error;
    }
    RT_TRY(rt_cu.cuThreadExchangeStreamCaptureMode(&mode));
    rt_binaries_unload();
    const CUresult result = binary_load_now(binary, library);
    RT_TRY(rt_cu.cuThreadExchangeStreamCaptureMode(&mode));
    return rt_error(result);
}

// Binaries whose libraries are still to be unloaded.
static _Atomic(struct rt_binary *) retired;

void rt_binary_retire(struct rt_binary *binary)
{
    if (!atomic_load(&binary->library)) {
        rt_free(binary);
        return;
    }
    binary->next_retired = atomic_load(&retired);
    while (!atomic_compare_exchange_weak(&retired, &binary->next_retired, binary))
        ;
}

void rt_binaries_unload(void)
{
    if (!atomic_load_explicit(&retired, memory_order_relaxed))
        return;
    for (struct rt_binary *b = atomic_exchange(&retired, NULL), *next; b; b = next) {
        next = b->next_retired;
        (void)rt_cu.cuLibraryUnload(atomic_load(&b->library)); // fails if the driver has ended
        rt_free(b);
    }
}

void rt_binaries_load(void)
{
    static atomic_bool done;
    CUmoduleLoadingMode mode;
    CUlibrary library;
    if (atomic_exchange(&done, true))
        return;
    if (rt_cu.cuModuleGetLoadingMode(&mode) != CUDA_SUCCESS || mode != CU_MODULE_EAGER_LOADING)
        return;
    for (struct rt_binary *b = rt_registry_next(NULL); b; b = rt_registry_next(b))
        (void)rt_binary_load(b, &library);
}

// The error for a symbol that is not registered.
static cudaError_t unknown_function(const void *host)
{
    if (rt_registry_incomplete())
        return rt_fail(cudaErrorMemoryAllocation,
                       "memory ran out when the kernels were registered");
    return rt_fail(cudaErrorInvalidDeviceFunction,
                   host ? "%p is not a kernel of the program" : "the kernel is NULL", host);
}

// Manual, cudaErrorInvalidDeviceFunction: "The requested device function does not exist or is not
// compiled for the proper device architecture."
static cudaError_t symbol_kernel(struct rt_symbol *symbol, CUkernel *kernel)
{
    *kernel = atomic_load_explicit(&symbol->device, memory_order_acquire);
    if (*kernel)
        return cudaSuccess;
    CUlibrary library;
    const cudaError_t error = rt_binary_load(symbol->binary, &library);
    if (error != cudaSuccess)
        return error;
    const CUresult result = rt_cu.cuLibraryGetKernel(kernel, library, symbol->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidDeviceFunction;
    RT_TRY(result);
    rt_registry_set_device(symbol, *kernel);
    return cudaSuccess;
}

cudaError_t rt_registered_kernel(const void *host, CUkernel *kernel)
{
    struct rt_symbol *symbol = host ? rt_registry_find(host) : NULL;
    if (!symbol || symbol->kind != RT_FUNCTION)
        return unknown_function(host);
    return symbol_kernel(symbol, kernel);
}

// Whether the driver knows this kernel or function.
static bool is_handle(const void *func)
{
    struct rt_messages unwanted;
    CUfunction function;
    int value;
    rt_messages_begin(&unwanted);
    const bool known =
        !rt_cu.cuKernelGetFunction(&function, (CUkernel)func) ||
        !rt_cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)func);
    rt_messages_end(&unwanted);
    return known;
}

cudaError_t rt_launchable(const void *func, CUfunction *function)
{
    if (!func)
        return unknown_function(NULL);
    struct rt_symbol *symbol = rt_registry_find(func);
    if (!symbol || symbol->kind != RT_FUNCTION) {
        if (rt_registry_incomplete() && !is_handle(func))
            return unknown_function(func);
        *function = (CUfunction)func;
        return cudaSuccess;
    }
    CUkernel kernel;
    const cudaError_t error = symbol_kernel(symbol, &kernel);
    if (error == cudaSuccess)
        *function = (CUfunction)kernel;
    return error;
}

CUresult rt_kernel_function(CUfunction launchable, CUfunction *function)
{
    struct rt_messages unwanted;
    rt_messages_begin(&unwanted);
    const CUresult result = rt_cu.cuKernelGetFunction(function, (CUkernel)launchable);
    rt_messages_end(&unwanted);
    return result;
}

cudaError_t rt_function(const void *func, CUfunction *function)
{
    CUfunction launchable = NULL;
    const cudaError_t error = rt_launchable(func, &launchable);
    if (error != cudaSuccess)
        return error;
    const CUresult result = rt_kernel_function(launchable, function);
    if (result != CUDA_ERROR_INVALID_HANDLE)
        return rt_error(result);
    *function = launchable; // a function already, or no handle at all
    return cudaSuccess;
}

cudaError_t rt_managed_memory(struct rt_symbol *symbol, void **memory)
{
    *memory = atomic_load_explicit(&symbol->device, memory_order_acquire);
    if (*memory)
        return cudaSuccess;
    CUlibrary library;
    const cudaError_t error = rt_binary_load(symbol->binary, &library);
    if (error != cudaSuccess)
        return error;
    // Manual, cuLibraryGetManaged: managed memory "is registered when the library is loaded into at
    // least one context".
    CUmodule module;
    RT_TRY(rt_cu.cuLibraryGetModule(&module, library));
    CUdeviceptr address;
    size_t size;
    const CUresult result = rt_cu.cuLibraryGetManaged(&address, &size, library, symbol->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidSymbol;
    RT_TRY(result);
    *memory = (void *)address;
    rt_registry_set_device(symbol, *memory);
    __atomic_store_n((void **)symbol->host, *memory, __ATOMIC_RELEASE);
    return cudaSuccess;
}

const void *rt_host_function(CUkernel kernel)
{
    const struct rt_symbol *symbol = rt_registry_find_device(kernel);
    return symbol && symbol->kind == RT_FUNCTION ? symbol->host : kernel;
}
