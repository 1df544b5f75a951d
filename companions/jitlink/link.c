// SPDX-License-Identifier: MIT
// Handles: their inputs, their image and their error log.
//
//     nvJitLinkAddData ──▶ cuLinkAddData ────────────────────▶ cuLinkComplete ──▶ image
//            └──▶ NVIDIA's library ──▶ PTX ──▶ cuLinkAddData ──────┘
//                (LTO-IR only)
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jl.h"
#include "lto.h"
#include "nvjitlink_bodies.h"

enum { LOG_B = 4096 };

struct nvJitLink {
    struct jl_options options;
    CUcontext context;
    CUlinkState state;
    char driver_log[LOG_B]; // of the last call that has failed
    CUjit_option names[4];
    void *values[4];
    struct jl_lto *lto; // NULL without -lto and without NVIDIA's library
    char why_no_lto[128];
    const char *ptx; // of LTO-IR, or NULL
    size_t ptx_B;
    bool completed;
    void *image; // the driver's, or NULL
    size_t image_B;
    char *log; // all errors, or NULL
    size_t log_B;
};

// ---- the error log ----

static void add_to_log(struct nvJitLink *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_to_log(struct nvJitLink *l, const char *format, ...)
{
    char *line;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return; // the log is a courtesy; the code of the error is returned
    const size_t old = l->log_B ? l->log_B - 1 : 0;
    char *grown = realloc(l->log, old + (size_t)length + 2);
    if (grown) {
        memcpy(grown + old, line, (size_t)length);
        memcpy(grown + old + length, "\n", 2);
        l->log = grown;
        l->log_B = old + (size_t)length + 2;
    }
    free(line);
}

// ---- the driver ----

// The functions of this library that call the driver, as the driver's messages name them.
static const cardlessCaller create_caller = {.name = "nvJitLinkCreate"},
                            destroy_caller = {.name = "nvJitLinkDestroy"},
                            add_caller = {.name = "nvJitLinkAddData"},
                            complete_caller = {.name = "nvJitLinkComplete"};

// The handle's context is current only during a call of this library.
static bool enter(struct nvJitLink *l, const cardlessCaller *caller)
{
    *cardlessThisCaller() = caller;
    if (!cuCtxPushCurrent(l->context))
        return true;
    *cardlessThisCaller() = NULL;
    add_to_log(l, "%s: the linker's context has ended", caller->name);
    return false;
}

static void leave(void)
{
    CUcontext popped;
    cuCtxPopCurrent(&popped);
    *cardlessThisCaller() = NULL;
}

static CUresult open_linker(struct nvJitLink *l)
{
    CUdevice device;
    *cardlessThisCaller() = &create_caller;
    CUresult r = cuInit(0);
    if (!r)
        r = cuDeviceGet(&device, 0);
    if (!r)
        r = cuCtxCreate(&l->context, NULL, 0, device);
    if (r) {
        *cardlessThisCaller() = NULL;
        return r;
    }
    l->names[0] = CU_JIT_ERROR_LOG_BUFFER;
    l->values[0] = l->driver_log;
    l->names[1] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    l->values[1] = (void *)(uintptr_t)sizeof l->driver_log;
    unsigned count = 2;
    if (l->options.target) {
        l->names[count] = CU_JIT_TARGET;
        l->values[count++] = (void *)(uintptr_t)l->options.target;
    }
    if (l->options.registers) {
        l->names[count] = CU_JIT_MAX_REGISTERS;
        l->values[count++] = (void *)(uintptr_t)l->options.registers;
    }
    r = cuLinkCreate(count, l->names, l->values, &l->state);
    leave();
    return r;
}

// Reports the failure of a call of the driver. Returns the library's code for it.
static nvJitLinkResult report(struct nvJitLink *l, CUresult result, const char *input)
{
    if (!result)
        return NVJITLINK_SUCCESS;
    const char *name = "unknown error";
    cuGetErrorName(result, &name);
    add_to_log(l, "%s: %s%s%s", input, name, l->driver_log[0] ? ": " : "", l->driver_log);
    l->driver_log[0] = 0;
    switch (result) {
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_NOT_SUPPORTED:
        return NVJITLINK_ERROR_PTX_COMPILE;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNKNOWN: // an object file that cannot be linked
        return NVJITLINK_ERROR_INVALID_INPUT;
    default:
        return NVJITLINK_ERROR_INTERNAL;
    }
}

// ---- life ----

// A context ends with the linkers in it.
static void destroy(struct nvJitLink *l)
{
    if (l->state && enter(l, &destroy_caller)) {
        cuLinkDestroy(l->state);
        leave();
    }
    *cardlessThisCaller() = &destroy_caller;
    if (l->context)
        cuCtxDestroy(l->context);
    *cardlessThisCaller() = NULL;
    jl_lto_close(l->lto);
    free(l->log);
    free(l);
}

// The results of wrong options.
static const char *result_name(nvJitLinkResult r)
{
    switch (r) {
    case NVJITLINK_ERROR_UNRECOGNIZED_OPTION:
        return "NVJITLINK_ERROR_UNRECOGNIZED_OPTION";
    case NVJITLINK_ERROR_MISSING_ARCH:
        return "NVJITLINK_ERROR_MISSING_ARCH";
    case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
        return "NVJITLINK_ERROR_UNSUPPORTED_ARCH";
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
        return "NVJITLINK_ERROR_UNRECOGNIZED_ARCH";
    case NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS:
        return "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS";
    default:
        return "NVJITLINK_ERROR_INTERNAL";
    }
}

nvJitLinkResult jl_nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions,
                                   const char *const *options)
{
    struct nvJitLink *l = calloc(1, sizeof *l);
    if (!l)
        return NVJITLINK_ERROR_INTERNAL;
    char why[256] = "";
    nvJitLinkResult r = jl_options_read(numOptions, options, &l->options, why, sizeof why);
    if (!r && open_linker(l))
        r = NVJITLINK_ERROR_INTERNAL;
    if (!r && l->options.lto)
        l->lto = jl_lto_open(numOptions, options, l->why_no_lto, sizeof l->why_no_lto);
    if (why[0]) {
        *cardlessThisCaller() = &create_caller;
        cardlessReport(&create_caller, result_name(r), why);
        *cardlessThisCaller() = NULL;
    }
    if (r)
        destroy(l);
    else
        *handle = l;
    return r;
}

nvJitLinkResult jl_nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    if (!*handle)
        return NVJITLINK_ERROR_NULL_INPUT;
    destroy(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

// ---- inputs ----

static nvJitLinkResult check_type(struct nvJitLink *l, nvJitLinkInputType *type, const void *data,
                                  size_t size, const char *name)
{
    const nvJitLinkInputType found = jl_input_type(data, size);
    if (*type == NVJITLINK_INPUT_ANY && found == NVJITLINK_INPUT_NONE) {
        add_to_log(l, "%s: the input is of no known type", name);
        return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    }
    if (*type == NVJITLINK_INPUT_ANY)
        *type = found;
    if (!jl_input_matches(found, *type)) {
        add_to_log(l, "%s: the input is not of the nvJitLinkInputType %d", name, (int)*type);
        return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    if (*type == NVJITLINK_INPUT_CUBIN)
        *type = found;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult add_lto(struct nvJitLink *l, nvJitLinkInputType type, const void *data,
                               size_t size, const char *name)
{
    if (!l->options.lto) {
        add_to_log(l, "%s: LTO-IR needs the option -lto", name);
        return NVJITLINK_ERROR_LTO_NOT_ENABLED;
    }
    if (!l->lto) {
        add_to_log(l, "%s: %s; compile to PTX", name, l->why_no_lto);
        return NVJITLINK_ERROR_NVVM_COMPILE;
    }
    const nvJitLinkResult r = jl_lto_add(l->lto, type, data, size, name);
    if (r)
        add_to_log(l, "%s", jl_lto_log(l->lto));
    return r;
}

static CUjitInputType driver_type(nvJitLinkInputType type)
{
    switch (type) {
    case NVJITLINK_INPUT_CUBIN:
        return CU_JIT_INPUT_CUBIN;
    case NVJITLINK_INPUT_FATBIN:
        return CU_JIT_INPUT_FATBINARY;
    case NVJITLINK_INPUT_OBJECT:
        return CU_JIT_INPUT_OBJECT;
    case NVJITLINK_INPUT_LIBRARY:
        return CU_JIT_INPUT_LIBRARY;
    default:
        return CU_JIT_INPUT_PTX;
    }
}

nvJitLinkResult jl_nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                    const void *data, size_t size, const char *name)
{
    struct nvJitLink *l = handle;
    const char *known = name ? name : "(unnamed)";
    if (!size)
        return NVJITLINK_ERROR_INVALID_INPUT;
    if (l->completed) {
        add_to_log(l, "%s: nvJitLinkComplete was called before", known);
        return NVJITLINK_ERROR_INTERNAL;
    }
    if (!enter(l, &add_caller))
        return NVJITLINK_ERROR_INTERNAL;
    nvJitLinkResult r = check_type(l, &inputType, data, size, known);
    if (!r && (inputType == NVJITLINK_INPUT_LTOIR || inputType == NVJITLINK_INPUT_INDEX))
        r = add_lto(l, inputType, data, size, name);
    else if (!r)
        r = report(l,
                   cuLinkAddData(l->state, driver_type(inputType), (void *)(uintptr_t)data, size,
                                 name, 0, NULL, NULL),
                   known);
    leave();
    return r;
}

// Reads a file into memory that the caller frees. NULL if it cannot be read.
static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = NULL;
    if (!fseek(file, 0, SEEK_END)) {
        const long end = ftell(file);
        *size = end < 0 ? 0 : (size_t)end;
        bytes = malloc(*size + 1);
    }
    rewind(file);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

nvJitLinkResult jl_nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                    const char *fileName)
{
    size_t size;
    void *bytes = read_file(fileName, &size);
    if (!bytes) {
        add_to_log(handle, "%s: the file cannot be read", fileName);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    const nvJitLinkResult r = jl_nvJitLinkAddData(handle, inputType, bytes, size, fileName);
    free(bytes);
    return r;
}

// ---- outputs ----

// Turns the LTO-IR into PTX, and adds it to the other inputs.
static nvJitLinkResult complete_lto(struct nvJitLink *l)
{
    nvJitLinkResult r = jl_lto_complete(l->lto, &l->ptx, &l->ptx_B);
    if (r) {
        add_to_log(l, "%s", jl_lto_log(l->lto));
        return r;
    }
    if (l->options.ptx)
        return NVJITLINK_SUCCESS;
    return report(l,
                  cuLinkAddData(l->state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)l->ptx, l->ptx_B,
                                "LTO", 0, NULL, NULL),
                  "LTO");
}

nvJitLinkResult jl_nvJitLinkComplete(nvJitLinkHandle handle)
{
    if (handle->completed) {
        add_to_log(handle, "nvJitLinkComplete was called before");
        return NVJITLINK_ERROR_INTERNAL;
    }
    if (!enter(handle, &complete_caller))
        return NVJITLINK_ERROR_INTERNAL;
    handle->completed = true;
    nvJitLinkResult r = jl_lto_is_used(handle->lto) ? complete_lto(handle) : NVJITLINK_SUCCESS;
    // "Emit ptx after linking instead of cubin".
    if (!r && !handle->options.ptx &&
        report(handle, cuLinkComplete(handle->state, &handle->image, &handle->image_B), "linking"))
        r = NVJITLINK_ERROR_INTERNAL;
    leave();
    return r;
}

nvJitLinkResult jl_nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)
{
    if (!handle->image)
        return NVJITLINK_ERROR_INTERNAL;
    *size = handle->image_B;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult jl_nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)
{
    if (!handle->image)
        return NVJITLINK_ERROR_INTERNAL;
    memcpy(cubin, handle->image, handle->image_B);
    return NVJITLINK_SUCCESS;
}

// PTX is an output only with -ptx.
static nvJitLinkResult check_ptx(const struct nvJitLink *l)
{
    if (!l->options.ptx)
        return NVJITLINK_ERROR_INVALID_INPUT;
    return l->ptx ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

nvJitLinkResult jl_nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)
{
    const nvJitLinkResult r = check_ptx(handle);
    if (!r)
        *size = handle->ptx_B;
    return r;
}

nvJitLinkResult jl_nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)
{
    const nvJitLinkResult r = check_ptx(handle);
    if (!r)
        memcpy(ptx, handle->ptx, handle->ptx_B);
    return r;
}

nvJitLinkResult jl_nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)
{
    *size = handle->log_B;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult jl_nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)
{
    if (handle->log_B)
        memcpy(log, handle->log, handle->log_B);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult jl_nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)
{
    *size = 0;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult jl_nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)
{
    return NVJITLINK_SUCCESS;
}
