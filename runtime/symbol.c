// SPDX-License-Identifier: MIT
// Variables of fat binaries: their addresses, and copies to and from them.
#include "copy_params.h"
#include "fat_binary.h"

static cudaError_t unknown_symbol(const void *symbol)
{
    if (rt_registry_incomplete())
        return rt_fail(cudaErrorMemoryAllocation,
                       "memory ran out when the variables were registered");
    return rt_fail(cudaErrorInvalidSymbol,
                   symbol
                       ? "symbol (%p) is not a variable of the device; pass the variable itself, "
                         "not its name or its address in device memory"
                       : "symbol is NULL",
                   symbol);
}

cudaError_t rt_variable(const void *symbol, CUdeviceptr *address, size_t *size)
{
    struct rt_symbol *s = symbol ? rt_registry_find(symbol) : NULL;
    if (!s || s->kind == RT_FUNCTION || s->kind == RT_HOST_VARIABLE)
        return unknown_symbol(symbol);
    if (s->kind == RT_MANAGED) {
        void *memory;
        const cudaError_t error = rt_managed_memory(s, &memory);
        if (error == cudaSuccess && address)
            *address = (CUdeviceptr)memory;
        if (error == cudaSuccess && size)
            *size = s->size;
        return error;
    }
    // The driver knows the variable's address even if the context cannot be used any more.
    RT_TRY(rt_cu.cuCtxGetStreamPriorityRange(NULL, NULL));
    CUlibrary library;
    const cudaError_t error = rt_binary_load(s->binary, &library);
    if (error != cudaSuccess)
        return error;
    CUdeviceptr where;
    size_t bytes;
    const CUresult result = rt_cu.cuLibraryGetGlobal(&where, &bytes, library, s->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidSymbol;
    RT_TRY(result);
    if (address)
        *address = where;
    if (size)
        *size = bytes;
    return cudaSuccess;
}

cudaError_t rt_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address = 0;
    const cudaError_t error = rt_variable(symbol, &address, NULL);
    if (error == cudaSuccess)
        *devPtr = (void *)address;
    return error;
}

cudaError_t rt_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    return rt_variable(symbol, NULL, size);
}

cudaError_t rt_variable_range(const void *symbol, size_t offset, size_t count, CUdeviceptr *range)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    const cudaError_t error = rt_variable(symbol, &address, &size);
    if (error != cudaSuccess)
        return error;
    if (offset > size || count > size - offset)
        return rt_fail(cudaErrorInvalidValue,
                       "offset (%zu) + count (%zu) exceeds the variable, which has %zu bytes",
                       offset, count, size);
    *range = address + offset;
    return cudaSuccess;
}

// Manual, cudaMemcpyToSymbol: kind "can be either cudaMemcpyHostToDevice,
// cudaMemcpyDeviceToDevice, or cudaMemcpyDefault"; cudaMemcpyFromSymbol: DeviceToHost instead of
// the first. As in other copies, the addresses decide between host and device, except that
// cudaMemcpyDeviceToDevice needs two device addresses (recorded: symbols/kinds-3).
static bool symbol_kind_fits(enum cudaMemcpyKind kind, enum cudaMemcpyKind host)
{
    return kind == host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

struct symbol_copy {
    CUdeviceptr to, from;
    size_t count;
    enum cudaMemcpyKind kind;
};

static CUresult symbol_copy_async(const struct symbol_copy *c, cudaStream_t stream)
{
    if (c->kind == cudaMemcpyDeviceToDevice)
        return rt_cu.cuMemcpyDtoDAsync(c->to, c->from, c->count, stream);
    if (c->kind == cudaMemcpyHostToDevice)
        return rt_cu.cuMemcpyHtoDAsync(c->to, (const void *)c->from, c->count, stream);
    return rt_cu.cuMemcpyAsync(c->to, c->from, c->count, stream);
}

static CUresult symbol_copy_sync(const struct symbol_copy *c, cudaStream_t stream)
{
    if (stream == cudaStreamPerThread) {
        const CUresult result = symbol_copy_async(c, stream);
        return result == CUDA_SUCCESS ? rt_cu.cuStreamSynchronize(stream) : result;
    }
    if (c->kind == cudaMemcpyDeviceToDevice)
        return rt_cu.cuMemcpyDtoD(c->to, c->from, c->count);
    return rt_cu.cuMemcpy(c->to, c->from, c->count);
}

// Prepares a copy to a symbol. If `count` becomes 0, there is nothing to copy.
static cudaError_t symbol_prepare_to(const void *symbol, const void *src, size_t offset,
                                     struct symbol_copy *copy)
{
    if (copy->count == 0)
        return cudaSuccess;
    if (!symbol_kind_fits(copy->kind, cudaMemcpyHostToDevice))
        return rt_copy_against(copy->kind, "a variable of the device as its destination");
    copy->from = (CUdeviceptr)src;
    return rt_variable_range(symbol, offset, copy->count, &copy->to);
}

static cudaError_t symbol_prepare_from(void *dst, const void *symbol, size_t offset,
                                       struct symbol_copy *copy)
{
    if (copy->count == 0)
        return cudaSuccess;
    if (!symbol_kind_fits(copy->kind, cudaMemcpyDeviceToHost))
        return rt_copy_against(copy->kind, "a variable of the device as its source");
    copy->to = (CUdeviceptr)dst;
    return rt_variable_range(symbol, offset, copy->count, &copy->from);
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                  enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct symbol_copy copy = {.count = count, .kind = kind};
    const cudaError_t error = symbol_prepare_to(symbol, src, offset, &copy);
    if (error != cudaSuccess || count == 0)
        return error;
    return rt_error(symbol_copy_sync(&copy, stream));
}

cudaError_t rt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct symbol_copy copy = {.count = count, .kind = kind};
    const cudaError_t error = symbol_prepare_from(dst, symbol, offset, &copy);
    if (error != cudaSuccess || count == 0)
        return error;
    return rt_error(symbol_copy_sync(&copy, stream));
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                       size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct symbol_copy copy = {.count = count, .kind = kind};
    const cudaError_t error = symbol_prepare_to(symbol, src, offset, &copy);
    if (error != cudaSuccess || count == 0)
        return error;
    return rt_error(symbol_copy_async(&copy, stream));
}

cudaError_t rt_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct symbol_copy copy = {.count = count, .kind = kind};
    const cudaError_t error = symbol_prepare_from(dst, symbol, offset, &copy);
    if (error != cudaSuccess || count == 0)
        return error;
    return rt_error(symbol_copy_async(&copy, stream));
}
