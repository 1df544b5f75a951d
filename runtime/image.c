// SPDX-License-Identifier: MIT
// Images: what compiled code passes to __cudaRegisterFatBinary, as a library of the driver.
//
//     ┌ wrapper ───────────────┐     ┌ container ─────────────────────┐
//     │ magic, version         │ ┌──▶│ magic, size of what follows    │
//     │ data ──────────────────┼─┘   │ PTX and machine code           │
//     │ parts (version 2) ─────┼─┐   └────────────────────────────────┘
//     └────────────────────────┘ └──▶ container, container, …, NULL
//
// Version 2 belongs to relocatable device code (nvcc -rdc=true): `data` has the linked machine
// code, and the parts have PTX of each object file, to be linked for other devices.
#include "image.h"

#include <stddef.h>
#include <string.h>

#include "readable.h"

enum { WRAPPER_MAGIC = 0x466243b1, WRAPPER_LINKED = 2 };

struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *const *parts;
};

struct container {
    uint32_t magic;
    uint16_t version, head_B;
    uint64_t rest_B;
};

// With lazy loading, a library can be created from any bytes, and the first use finds mistakes.
static CUresult image_check(CUlibrary library, const struct rt_binary *binary)
{
    const struct rt_symbol *s = binary->symbols;
    while (s && s->kind != RT_FUNCTION)
        s = s->next;
    CUkernel kernel;
    const CUresult result = rt_cu.cuLibraryGetKernel(&kernel, library, s ? s->name : "");
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
}

static CUresult image_load_checked(const void *image, const struct rt_binary *binary,
                                   CUlibrary *library)
{
    CUresult result = rt_cu.cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = image_check(*library, binary);
    if (result != CUDA_SUCCESS)
        (void)rt_cu.cuLibraryUnload(*library);
    return result;
}

static CUresult image_add_part(CUlinkState state, void *part)
{
    const struct container *c = part;
    return rt_cu.cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, part, c->head_B + c->rest_B, NULL, 0,
                               NULL, NULL);
}

// Whether a part has code for the device. nvcc adds its own library for code that launches kernels
// from kernels, which lacks code for some devices. A state that was given such a part fails in the
// end (recorded: x_modules link/cubin-as-cubin), so each part is tried alone.
static bool image_part_fits(void *part)
{
    CUlinkState state;
    if (rt_cu.cuLinkCreate(0, NULL, NULL, &state) != CUDA_SUCCESS)
        return true;
    const CUresult result = image_add_part(state, part);
    (void)rt_cu.cuLinkDestroy(state);
    return result != CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult image_link(void *const *parts, CUlibrary *library)
{
    CUlinkState state;
    void *image;
    size_t size;
    CUresult result = rt_cu.cuLinkCreate(0, NULL, NULL, &state);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned added = 0;
    for (; *parts && result == CUDA_SUCCESS; parts++) {
        if (!image_part_fits(*parts))
            continue;
        result = image_add_part(state, *parts);
        added++;
    }
    if (result == CUDA_SUCCESS && !added)
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (result == CUDA_SUCCESS)
        result = rt_cu.cuLinkComplete(state, &image, &size);
    if (result == CUDA_SUCCESS)
        result = rt_cu.cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
    (void)rt_cu.cuLinkDestroy(state); // ends `image`, of which the library has a copy
    return result;
}

// ---- variables of the host

// The next one that is registered with a binary, from `s` on.
static const struct rt_symbol *host_variable(const struct rt_symbol *s)
{
    while (s && s->kind != RT_HOST_VARIABLE)
        s = s->next;
    return s;
}

static CUresult host_variable_refuse(const char *name)
{
    CUdevice device;
    int pageable = 0;
    CUresult result = rt_cu.cuCtxGetDevice(&device);
    if (result == CUDA_SUCCESS)
        result = rt_cu.cuDeviceGetAttribute(&pageable, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                            device);
    if (result != CUDA_SUCCESS)
        return result;
    if (pageable) {
        (void)rt_fail(cudaErrorNotSupported,
                      "the kernels use the variable %s of the host in place, but the driver has no "
                      "public function that tells them its address",
                      name);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    (void)rt_fail(cudaErrorInvalidValue,
                  "the kernels use the variable %s of the host in place, but the device cannot "
                  "access pageable memory (cudaDevAttrPageableMemoryAccess is 0); pass them a "
                  "pointer to managed or pinned memory",
                  name);
    return CUDA_ERROR_INVALID_VALUE;
}

// A card without access to pageable memory refuses all kernels of a binary if one variable that
// the host has registered is in its image; others do not count (recorded on an H200).
static CUresult host_variables_check(const struct rt_binary *binary, CUlibrary library)
{
    for (const struct rt_symbol *s = host_variable(binary->symbols); s;
         s = host_variable(s->next)) {
        CUdeviceptr address;
        size_t size;
        struct rt_messages unwanted;
        rt_messages_begin(&unwanted);
        const CUresult result = rt_cu.cuLibraryGetGlobal(&address, &size, library, s->name);
        rt_messages_end(&unwanted);
        if (result == CUDA_SUCCESS)
            return host_variable_refuse(s->name);
        if (result != CUDA_ERROR_NOT_FOUND)
            return result;
    }
    return CUDA_SUCCESS;
}

// ---- loading

// Whether the program has registered a wrapper, and lists of parts that can be read.
static cudaError_t image_check_wrapper(const struct wrapper *w)
{
    const size_t first_B = offsetof(struct wrapper, parts);
    cudaError_t error = rt_readable("the fat binary", w, 1, first_B);
    if (error == cudaSuccess && (!w || w->magic != WRAPPER_MAGIC || !w->data))
        return rt_fail(cudaErrorInvalidKernelImage,
                       "the program has registered something else than a fat binary");
    if (error != cudaSuccess || w->version != WRAPPER_LINKED)
        return error;
    error = rt_readable("the fat binary", w, 1, sizeof *w);
    if (error != cudaSuccess || !w->parts)
        return error;
    for (void *const *part = w->parts; error == cudaSuccess; part++) {
        error = rt_readable("the list of linked fat binaries", part, 1, sizeof *part);
        if (error == cudaSuccess && !*part)
            break;
        if (error == cudaSuccess)
            error = rt_readable("a linked fat binary", *part, 1, sizeof(struct container));
    }
    return error;
}

cudaError_t rt_image_check(const struct rt_binary *binary)
{
    return image_check_wrapper(binary->image);
}

bool rt_image_needs_context(const struct rt_binary *binary)
{
    const struct wrapper *w = binary->image;
    return w->version == WRAPPER_LINKED || host_variable(binary->symbols);
}

static CUresult image_load_linked(const struct wrapper *w, const struct rt_binary *binary,
                                  CUlibrary *library)
{
    // A driver that links by itself takes the wrapper. NVIDIA's does not (recorded: x_modules
    // load_binary/fatbin-wrapper).
    if (image_load_checked(w, binary, library) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    if (image_load_checked(w->data, binary, library) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    return image_link(w->parts, library);
}

// Reports the driver's reason for the first attempt, which had the whole image.
static void image_explain(CUresult result, const struct rt_messages *messages)
{
    const int length = (int)strcspn(messages->text, "\n");
    (void)rt_fail(rt_error(result), "the image of relocatable device code cannot be loaded%s%.*s",
                  length ? ": " : "", length, messages->text);
}

static CUresult image_load(const struct rt_binary *binary, CUlibrary *library)
{
    const struct wrapper *w = binary->image;
    if (w->version != WRAPPER_LINKED || !w->parts)
        return rt_cu.cuLibraryLoadData(library, w->data, NULL, NULL, 0, NULL, NULL, 0);

    struct rt_messages messages;
    rt_messages_begin(&messages);
    const CUresult result = image_load_linked(w, binary, library);
    rt_messages_end(&messages);
    if (result != CUDA_SUCCESS)
        image_explain(result, &messages);
    return result;
}

CUresult rt_image_load(const struct rt_binary *binary, CUlibrary *library)
{
    CUresult result = image_load(binary, library);
    if (result != CUDA_SUCCESS)
        return result;
    result = host_variables_check(binary, *library);
    if (result != CUDA_SUCCESS)
        (void)rt_cu.cuLibraryUnload(*library);
    return result;
}
