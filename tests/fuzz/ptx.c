// SPDX-License-Identifier: MIT
// Fuzzes PTX: loads or links a text, asks for its kernels, and launches each with a small grid.
// Nothing may crash, leak or hang, and every refusal has a code and one sentence.
//
// The first byte of an input says how the text is loaded and launched; the rest is the text, of
// which "//====" separates parts that are linked. ptx_mutate.c makes inputs.
#include <fcntl.h>

#include "context.h"
#include "said.h"

enum {
    TEXT_B = 1 << 16,
    MEMORY_B = 1 << 16,
    PARAMETERS_B = 4096,
    KERNELS_MOST = 8,
    LOG_B = 256,
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("CARDLESS_KERNEL_BRANCHES", "200", 0);
    said_start();
    const int null = open("/dev/null", O_WRONLY); // printf of kernels
    dup2(null, STDOUT_FILENO);
    close(null);
    fuzz_start();
    return 0;
}

// ---- objects that kernels use ----

struct objects {
    CUdeviceptr memory;
    CUarray array;
    CUtexObject texture;
    CUsurfObject surface;
};

static void objects_make(struct objects *o)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                                       .Height = 8,
                                       .Format = CU_AD_FORMAT_FLOAT,
                                       .NumChannels = 4,
                                       .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    FUZZ_OK(cuMemAlloc(&o->memory, MEMORY_B));
    FUZZ_OK(cuMemsetD32(o->memory, 0x3f80, MEMORY_B / 4));
    FUZZ_OK(cuArray3DCreate(&o->array, &d));
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = o->array;
    const CUDA_TEXTURE_DESC t = {.filterMode = CU_TR_FILTER_MODE_LINEAR};
    FUZZ_OK(cuTexObjectCreate(&o->texture, &r, &t, NULL));
    FUZZ_OK(cuSurfObjectCreate(&o->surface, &r));
}

// ---- launches ----

// The codes of failed kernels.
static bool is_kernel_error(CUresult r)
{
    switch (r) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

// Values for all parameters. Returns their size, or SIZE_MAX if they do not fit.
static size_t fill_parameters(CUfunction f, const struct objects *o, unsigned char *out)
{
    const uint64_t values[] = {o->memory, o->texture, o->surface, 3};
    size_t offset_B, size_B, end_B = 0;
    for (unsigned i = 0; !cuFuncGetParamInfo(f, i, &offset_B, &size_B); i++) {
        if (size_B > PARAMETERS_B || offset_B > PARAMETERS_B - size_B)
            return SIZE_MAX;
        for (size_t k = 0; k < size_B; k += 8)
            memcpy(out + offset_B + k,
                   &values[i < 3        ? i
                           : size_B < 8 ? 3
                                        : 0],
                   size_B - k < 8 ? size_B - k : 8);
        end_B = offset_B + size_B;
    }
    return end_B;
}

// Returns whether the context still works.
static bool launch(CUfunction f, const struct objects *o, unsigned how)
{
    static const unsigned threads[] = {1, 32, 33, 64};
    unsigned char parameters[PARAMETERS_B] = {0};
    size_t size_B = fill_parameters(f, o, parameters);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size_B, CU_LAUNCH_PARAM_END};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    attribute.value.cooperative = 1;
    if (how / 8 % 4 == 2) {
        attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim.x = 2;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    }
    const CUlaunchConfig config = {.gridDimX = 1 + how / 4 % 2,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = threads[how % 4],
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = how / 8 % 2 * 1024,
                                   .attrs = &attribute,
                                   .numAttrs = how / 8 % 4 ? 1 : 0};
    if (size_B == SIZE_MAX || SAID(cuLaunchKernelEx(&config, f, NULL, extra)))
        return SAID(cuCtxSynchronize()) == CUDA_SUCCESS;
    const CUresult r = SAID(cuCtxSynchronize());
    FUZZ_CHECK(!r || is_kernel_error(r), "a kernel ended with %d", (int)r);
    return !r;
}

static void use(CUmodule module, unsigned how)
{
    struct objects o;
    CUfunction kernels[KERNELS_MOST];
    unsigned count = 0;
    CUdeviceptr address;
    size_t size_B;
    FUZZ_OK(cuModuleGetFunctionCount(&count, module));
    if (count > KERNELS_MOST)
        count = KERNELS_MOST;
    objects_make(&o);
    SAID(cuModuleGetGlobal(&address, &size_B, module, "g"));
    if (count && SAID(cuModuleEnumerateFunctions(kernels, count, module)))
        return;
    for (unsigned i = 0; i < count; i++) {
        const char *name = NULL;
        CUfunction f;
        int registers, blocks;
        FUZZ_OK(cuFuncGetName(&name, kernels[i]));
        if (SAID(cuModuleGetFunction(&f, module, name)))
            continue;
        FUZZ_CHECK(f == kernels[i], "%s is another function", name);
        FUZZ_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
        SAID(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 0));
        if (!launch(f, &o, how))
            return; // the context has ended
    }
    FUZZ_OK(cuTexObjectDestroy(o.texture));
    FUZZ_OK(cuSurfObjectDestroy(o.surface));
    FUZZ_OK(cuArrayDestroy(o.array));
    FUZZ_OK(cuMemFree(o.memory));
    FUZZ_OK(cuModuleUnload(module));
}

// ---- loading ----

static CUresult load_with_logs(CUmodule *module, const char *text)
{
    static char error[LOG_B], info[LOG_B];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE};
    void *values[] = {error, (void *)(uintptr_t)LOG_B, info, (void *)(uintptr_t)LOG_B, (void *)1};
    memset(error, 'x', sizeof error);
    memset(info, 'x', sizeof info);
    const CUresult r =
        SAID(cuModuleLoadDataEx(module, text, sizeof options / sizeof *options, options, values));
    FUZZ_CHECK(memchr(error, 0, LOG_B) && memchr(info, 0, LOG_B), "a log does not end");
    FUZZ_CHECK(r != CUDA_ERROR_INVALID_PTX || *error, "the error log is empty");
    return r;
}

static CUresult load_linked(CUmodule *module, char *text)
{
    CUlinkState state;
    void *image;
    CUresult r = CUDA_SUCCESS;
    FUZZ_OK(cuLinkCreate(0, NULL, NULL, &state));
    for (char *part = text; part && !r;) {
        char *end = strstr(part, "//====");
        if (end)
            *end = 0;
        r = SAID(
            cuLinkAddData(state, CU_JIT_INPUT_PTX, part, strlen(part) + 1, "part", 0, NULL, NULL));
        part = end ? end + 6 : NULL;
    }
    if (!r)
        r = SAID(cuLinkComplete(state, &image, NULL));
    if (!r)
        r = SAID(cuModuleLoadData(module, image));
    FUZZ_OK(cuLinkDestroy(state));
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > TEXT_B)
        return 0;
    CUcontext context = fuzz_context();
    char *text = malloc(size);
    CUmodule module = NULL;
    CUresult r;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    switch (data[0] / 32 % 3) {
    case 0:
        r = SAID(cuModuleLoadData(&module, text));
        break;
    case 1:
        r = load_with_logs(&module, text);
        break;
    default:
        r = load_linked(&module, text);
    }
    if (!r)
        use(module, data[0] % 32);
    free(text);
    FUZZ_OK(cuCtxDestroy(context));
    em_devices_recover();
    return 0;
}
