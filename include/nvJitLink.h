/* SPDX-License-Identifier: MIT */
/*
 * The linker of device code, libnvJitLink.so.13. Cardless's links PTX with PTX, as cuLinkAddData
 * does, and its "cubin" is an image that Cardless's libcuda.so.1 loads. It makes no machine code.
 *
 * - A handle may be used by one thread at a time. The library keeps no reference to inputs, names
 *   and options after a call.
 * - Sizes are in bytes. A log is empty, or its size includes a final 0.
 * - Every function returns NVJITLINK_ERROR_NULL_INPUT for a NULL argument, except for a name.
 *
 * See docs/reference/modules.md.
 */
#ifndef CARDLESS_NVJITLINK_H
#define CARDLESS_NVJITLINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_MISSING_ARCH = 2,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_PTX_COMPILE = 4,
    NVJITLINK_ERROR_NVVM_COMPILE = 5,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_THREADPOOL = 7,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_FINALIZE = 9,
    NVJITLINK_ERROR_NULL_INPUT = 10,
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_ERROR_ARCH_MISMATCH = 13,
    NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
    NVJITLINK_ERROR_MISSING_FATBIN = 15,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18
} nvJitLinkResult;

typedef enum {
    NVJITLINK_INPUT_NONE = 0,
    NVJITLINK_INPUT_CUBIN = 1, /* an image that this library or cuLinkComplete has made */
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3, /* not supported: NVJITLINK_ERROR_NVVM_COMPILE */
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,
    NVJITLINK_INPUT_LIBRARY = 6,
    NVJITLINK_INPUT_INDEX = 7, /* not supported: NVJITLINK_ERROR_NVVM_COMPILE */
    NVJITLINK_INPUT_ANY = 10   /* decided by the first bytes */
} nvJitLinkInputType;

typedef struct nvJitLink *nvJitLinkHandle;

/*
 * Makes a linker, which nvJitLinkDestroy frees. Options are "-name" or "-name=value" as in NVIDIA's
 * manual; "-arch=sm_N" is required. Options of the compiler have no effect. Errors:
 * MISSING_ARCH; UNRECOGNIZED_OPTION; UNRECOGNIZED_ARCH; INCOMPATIBLE_OPTIONS for "-ptx" without
 * "-lto" and for "-arch=compute_N" without "-ptx"; INTERNAL if there is no driver.
 */
nvJitLinkResult __nvJitLinkCreate_13_0(nvJitLinkHandle *handle, uint32_t numOptions,
                                       const char *const *options);
/* Frees a linker and sets *handle to NULL. NULL_INPUT if it is NULL. */
nvJitLinkResult __nvJitLinkDestroy_13_0(nvJitLinkHandle *handle);
/*
 * Adds an input of `size` bytes; `name` is for messages. Errors: INVALID_INPUT for a size of 0 and
 * for machine code; INCORRECT_INPUT_TYPE if the bytes are of another type; UNRECOGNIZED_INPUT for
 * NVJITLINK_INPUT_ANY if they are of no type; PTX_COMPILE for a mistake in PTX; LTO_NOT_ENABLED for
 * LTO-IR without "-lto"; INTERNAL after nvJitLinkComplete.
 */
nvJitLinkResult __nvJitLinkAddData_13_0(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                        const void *data, size_t size, const char *name);
/* The same with a file. INVALID_INPUT if it cannot be read. */
nvJitLinkResult __nvJitLinkAddFile_13_0(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                        const char *fileName);
/* Links. INTERNAL if a symbol is missing, and if it is called twice. */
nvJitLinkResult __nvJitLinkComplete_13_0(nvJitLinkHandle handle);
/* The size of the image. INTERNAL before nvJitLinkComplete. */
nvJitLinkResult __nvJitLinkGetLinkedCubinSize_13_0(nvJitLinkHandle handle, size_t *size);
/* Copies the image to `cubin`. */
nvJitLinkResult __nvJitLinkGetLinkedCubin_13_0(nvJitLinkHandle handle, void *cubin);
/* INVALID_INPUT without "-ptx"; INTERNAL with it, because no PTX is made of LTO-IR. */
nvJitLinkResult __nvJitLinkGetLinkedPtxSize_13_0(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult __nvJitLinkGetLinkedPtx_13_0(nvJitLinkHandle handle, char *ptx);
/* The sentences about all errors of the handle. */
nvJitLinkResult __nvJitLinkGetErrorLogSize_13_0(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult __nvJitLinkGetErrorLog_13_0(nvJitLinkHandle handle, char *log);
/* Empty. */
nvJitLinkResult __nvJitLinkGetInfoLogSize_13_0(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult __nvJitLinkGetInfoLog_13_0(nvJitLinkHandle handle, char *log);
/* 13 and 0. */
nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor);

#ifndef NVJITLINK_NO_INLINE
static inline nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions,
                                              const char **options)
{
    return __nvJitLinkCreate_13_0(handle, numOptions, options);
}

static inline nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    return __nvJitLinkDestroy_13_0(handle);
}

static inline nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                               const void *data, size_t size, const char *name)
{
    return __nvJitLinkAddData_13_0(handle, inputType, data, size, name);
}

static inline nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                               const char *fileName)
{
    return __nvJitLinkAddFile_13_0(handle, inputType, fileName);
}

static inline nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle)
{
    return __nvJitLinkComplete_13_0(handle);
}

static inline nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)
{
    return __nvJitLinkGetLinkedCubinSize_13_0(handle, size);
}

static inline nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)
{
    return __nvJitLinkGetLinkedCubin_13_0(handle, cubin);
}

static inline nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)
{
    return __nvJitLinkGetLinkedPtxSize_13_0(handle, size);
}

static inline nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)
{
    return __nvJitLinkGetLinkedPtx_13_0(handle, ptx);
}

static inline nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)
{
    return __nvJitLinkGetErrorLogSize_13_0(handle, size);
}

static inline nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)
{
    return __nvJitLinkGetErrorLog_13_0(handle, log);
}

static inline nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)
{
    return __nvJitLinkGetInfoLogSize_13_0(handle, size);
}

static inline nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)
{
    return __nvJitLinkGetInfoLog_13_0(handle, log);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
