// SPDX-License-Identifier: MIT
// The manual's chapters "Module Management" and "Library Management".
#include "api_bodies.h"
#include "config.h"
#include "error.h"
#include "function.h"
#include "jit_options.h"
#include "library.h"
#include "module.h"

static struct em_load how(const struct api_jit *jit)
{
    return (struct em_load){.architecture = em_image_architecture(),
                            .has_target = jit && jit->has_target,
                            .target = jit ? jit->target : 0,
                            .registers = jit ? jit->registers : (struct em_register_limit){0}};
}

// ---- modules ----

CUresult api_cuModuleLoad(CUmodule *module, const char *fname)
{
    const struct em_load load = how(NULL);
    return em_module_load_file(fname, &load, module);
}

CUresult api_cuModuleLoadData(CUmodule *module, const void *image)
{
    const struct em_load load = how(NULL);
    return em_module_load(image, &load, module);
}

CUresult api_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                CUjit_option *options, void **optionValues)
{
    struct api_jit jit;
    CUresult r = api_jit_begin(API_JIT_LOAD, options, optionValues, numOptions, &jit);
    if (r)
        return r;
    const struct em_load load = how(&jit);
    r = api_jit_compiles(&jit);
    return api_jit_end(&jit, r ? r : em_module_load(image, &load, module));
}

CUresult api_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    const struct em_load load = how(NULL);
    return em_module_load(fatCubin, &load, module);
}

CUresult api_cuModuleUnload(CUmodule hmod)
{
    return em_module_unload(hmod);
}

// (recorded: device_misc/loading-mode)
CUresult api_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = em_config()->eager_loading ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult api_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    return em_module_function(hmod, name, hfunc);
}

CUresult api_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    return em_module_function_count(mod, count);
}

CUresult api_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                        CUmodule mod)
{
    return em_module_functions(mod, numFunctions, functions);
}

// "dptr … bytes: If one of them is NULL, it is ignored." Outputs of a call that fails are 0
// (recorded: lookup/globals-1).
CUresult api_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    if (!dptr && !bytes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    if (dptr)
        *dptr = 0;
    if (bytes)
        *bytes = 0;
    return em_module_variable(hmod, name, dptr, bytes);
}

// ---- libraries ----

enum { LIBRARY_OPTIONS = CU_LIBRARY_BINARY_IS_PRESERVED + 1 };

// An option may have no value. "Specifying [CU_LIBRARY_BINARY_IS_PRESERVED] with
// cuLibraryLoadFromFile() is invalid and will return CUDA_ERROR_INVALID_VALUE."
static CUresult check_library_options(const CUlibraryOption *options, unsigned count, bool file)
{
    if (count && !options)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "libraryOptions is NULL, but there are %u options",
                       count);
    for (unsigned i = 0; i < count; i++)
        if ((unsigned)options[i] >= LIBRARY_OPTIONS)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "libraryOptions[%u] (%d) is not a CUlibraryOption", i, (int)options[i]);
        else if (file && options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "libraryOptions[%u] is CU_LIBRARY_BINARY_IS_PRESERVED, which is for "
                           "cuLibraryLoadData: the driver reads the file itself",
                           i);
    return CUDA_SUCCESS;
}

CUresult api_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    struct api_jit jit;
    (void)libraryOptionValues;
    CUresult r = check_library_options(libraryOptions, numLibraryOptions, false);
    if (!r)
        r = api_jit_begin(API_JIT_LOAD, jitOptions, jitOptionsValues, numJitOptions, &jit);
    if (r)
        return r;
    const struct em_load load = how(&jit);
    r = api_jit_compiles(&jit);
    return api_jit_end(&jit, r ? r : em_library_load(code, &load, library));
}

CUresult api_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                   CUjit_option *jitOptions, void **jitOptionsValues,
                                   unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned int numLibraryOptions)
{
    struct api_jit jit;
    (void)libraryOptionValues;
    CUresult r = check_library_options(libraryOptions, numLibraryOptions, true);
    if (!r)
        r = api_jit_begin(API_JIT_LOAD, jitOptions, jitOptionsValues, numJitOptions, &jit);
    if (r)
        return r;
    const struct em_load load = how(&jit);
    r = api_jit_compiles(&jit);
    return api_jit_end(&jit, r ? r : em_library_load_file(fileName, &load, library));
}

CUresult api_cuLibraryUnload(CUlibrary library)
{
    return em_library_unload(library);
}

CUresult api_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    return em_library_kernel(library, name, pKernel);
}

CUresult api_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    return em_library_kernel_count(lib, count);
}

CUresult api_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    return em_library_kernels(lib, numKernels, kernels);
}

CUresult api_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    return em_library_module(library, pMod);
}

CUresult api_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                const char *name)
{
    if (!dptr && !bytes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    return em_library_variable(library, name, dptr, bytes);
}

CUresult api_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                 const char *name)
{
    if (!dptr && !bytes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dptr and bytes are both NULL");
    return em_library_managed(library, name, dptr, bytes);
}

// (recorded: library/managed-and-unified)
CUresult api_cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    if (!fptr || !symbol)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", fptr ? "symbol" : "fptr");
    CUresult r = em_library_check(library);
    return r ? r
             : em_fail(CUDA_ERROR_INVALID_VALUE, "the library has no unified function named %s",
                       symbol);
}

// ---- kernels ----

CUresult api_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    return em_kernel_get_function(kernel, pFunc);
}

CUresult api_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    return em_kernel_library(kernel, pLib);
}

CUresult api_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                  CUdevice dev)
{
    return em_kernel_get_attribute(kernel, dev, attrib, pi);
}

CUresult api_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                  CUdevice dev)
{
    return em_kernel_set_attribute(kernel, dev, attrib, val);
}

CUresult api_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    CUresult r = em_kernel_check(kernel, dev);
    return r ? r : em_cache_config_check(config);
}

CUresult api_cuKernelGetName(const char **name, CUkernel hfunc)
{
    return em_kernel_name(hfunc, name);
}

CUresult api_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                  size_t *paramSize)
{
    return em_kernel_parameter(kernel, paramIndex, paramOffset, paramSize);
}
