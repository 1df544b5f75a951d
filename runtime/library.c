// SPDX-License-Identifier: MIT
// Libraries and kernels that the program loads itself. They are the driver's.
#include "rt.h"

// The enumerations have the driver's numbers.
_Static_assert((int)cudaLibraryBinaryIsPreserved == CU_LIBRARY_BINARY_IS_PRESERVED &&
                   sizeof(enum cudaLibraryOption) == sizeof(CUlibraryOption) &&
                   (int)cudaJitMaxRegisters == CU_JIT_MAX_REGISTERS &&
                   sizeof(enum cudaJitOption) == sizeof(CUjit_option),
               "options are passed on as they are");

cudaError_t rt_cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                   enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                   unsigned int numJitOptions,
                                   enum cudaLibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned int numLibraryOptions)
{
    return rt_error(rt_cu.cuLibraryLoadData(
        (CUlibrary *)library, code, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
        (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t rt_cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
                                       enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                       unsigned int numJitOptions,
                                       enum cudaLibraryOption *libraryOptions,
                                       void **libraryOptionValues, unsigned int numLibraryOptions)
{
    return rt_error(rt_cu.cuLibraryLoadFromFile(
        (CUlibrary *)library, fileName, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
        (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

// cuLibraryUnload() answers NULL with CUDA_ERROR_INVALID_VALUE, the runtime does not (recorded:
// library/unload-null).
cudaError_t rt_cudaLibraryUnload(cudaLibrary_t library)
{
    if (!library)
        return rt_fail(cudaErrorInvalidResourceHandle, "argument library is NULL");
    return rt_error(rt_cu.cuLibraryUnload((CUlibrary)library));
}

cudaError_t rt_cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    return rt_error(rt_cu.cuLibraryGetKernel((CUkernel *)pKernel, (CUlibrary)library, name));
}

cudaError_t rt_cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    return rt_error(rt_cu.cuLibraryGetKernelCount(count, (CUlibrary)lib));
}

cudaError_t rt_cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels,
                                           cudaLibrary_t lib)
{
    return rt_error(
        rt_cu.cuLibraryEnumerateKernels((CUkernel *)kernels, numKernels, (CUlibrary)lib));
}

cudaError_t rt_cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library,
                                    const char *name)
{
    return rt_error(rt_cu.cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name));
}

cudaError_t rt_cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    return rt_error(
        rt_cu.cuLibraryGetManaged((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name));
}

cudaError_t rt_cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol)
{
    return rt_error(rt_cu.cuLibraryGetUnifiedFunction(fptr, (CUlibrary)library, symbol));
}

cudaError_t rt_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr,
                                               int value, int device)
{
    CUdevice d;
    RT_TRY(rt_cu.cuDeviceGet(&d, device));
    return rt_error(
        rt_cu.cuKernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel, d));
}
