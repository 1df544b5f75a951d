// SPDX-License-Identifier: MIT
// The manual's chapter "Driver Entry Point Access".
#include "rt.h"

// Manual, cudaGetDriverEntryPointByVersion: the version may be "greater than the CUDA Toolkit
// installed". No function is newer than the driver.
static bool is_known_version(unsigned int version)
{
    int newest = 0;
    return version <= RT_VERSION ||
           (!rt_cu.cuDriverGetVersion(&newest) && version <= (unsigned)newest);
}

// A symbol that the driver does not have is an answer, not an error.
static cudaError_t entry_point_find(const char *symbol, void **function, unsigned int version,
                                    unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status,
                                    cudaStream_t default_stream)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const unsigned long long known = cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream;
    if (!symbol || !function)
        return rt_fail(cudaErrorInvalidValue, "argument %s is NULL", symbol ? "funcPtr" : "symbol");
    if (flags & ~known)
        return rt_fail(cudaErrorInvalidValue,
                       "flags (%#llx) has bits that are not cudaEnable flags", flags);
    if (!is_known_version(version))
        return rt_fail(cudaErrorInvalidValue,
                       "cudaVersion (%u) is not one that this runtime of CUDA %d.%d knows", version,
                       RT_VERSION / 1000, RT_VERSION % 1000 / 10);
    // Manual, cudaEnableDefault: "per-thread if the application is compiled with" per-thread
    // default streams, "else legacy".
    if (flags == cudaEnableDefault)
        flags = default_stream == cudaStreamPerThread ? cudaEnablePerThreadDefaultStream
                                                      : cudaEnableLegacyStream;
    *function = NULL;
    CUresult r = rt_cu.cuGetProcAddress(symbol, function, (int)version, flags, &found);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return r == CUDA_ERROR_NOT_FOUND ? cudaSuccess : rt_error(r);
}

cudaError_t rt_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                       enum cudaDriverEntryPointQueryResult *driverStatus,
                                       cudaStream_t default_stream)
{
    return entry_point_find(symbol, funcPtr, RT_VERSION, flags, driverStatus, default_stream);
}

cudaError_t rt_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                                unsigned int cudaVersion, unsigned long long flags,
                                                enum cudaDriverEntryPointQueryResult *driverStatus,
                                                cudaStream_t default_stream)
{
    return entry_point_find(symbol, funcPtr, cudaVersion, flags, driverStatus, default_stream);
}

// The runtime has no tables of its own.
cudaError_t rt_cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId)
{
    *ppExportTable = NULL;
    return rt_fail(
        cudaErrorInvalidValue,
        "the runtime has no tables of undocumented functions, for which the program asks");
}
