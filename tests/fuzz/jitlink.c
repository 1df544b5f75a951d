// SPDX-License-Identifier: MIT
// Fuzzes libnvJitLink: options, inputs that image_mutate.c has damaged, and well-formed ones.
// Nothing may crash, leak or hang. Options have predicted results; every refusal of an input has a
// code of the documented ones and a sentence in the log; an image that was linked can be loaded. It
// has all kernels and variables of inputs that the target has built itself (image_plan.h).
//
// The first byte of an input is a route of image_mutate.h, which gives the type; the rest is the
// image, and its size chooses the options. After IMAGE_PLANNED the rest are numbers of which the
// target builds inputs.
#include <nvJitLink.h>

#include "image_mutate.h"
#include "image_plan.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

struct option {
    const char *text;
    nvJitLinkResult result; // of nvJitLinkCreate with -arch=sm_90 before it
};

static const struct option options[] = {
    {"-lto", NVJITLINK_SUCCESS},
    {"-O3", NVJITLINK_SUCCESS},
    {"-ptx", NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS}, // without -lto
    {"-arch=sm_00", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
    {"-no-such-option", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
    {"", NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
};

// Returns NULL if the options are refused, as they should be.
static nvJitLinkHandle make(size_t how)
{
    nvJitLinkHandle handle = NULL;
    const struct option *o =
        how % 8 ? NULL : &options[how / 8 % FUZZ_COUNT(options)]; // else only -arch
    const char *list[] = {"-arch=sm_90", o ? o->text : ""};
    const nvJitLinkResult want = o ? o->result : NVJITLINK_SUCCESS;
    const nvJitLinkResult r = nvJitLinkCreate(&handle, o ? 2 : 1, list);
    FUZZ_CHECK(r == want, "option %s: %d, expected %d", list[1], (int)r, (int)want);
    FUZZ_CHECK(r || handle, "no handle");
    if (r && handle)
        nvJitLinkDestroy(&handle);
    return r ? NULL : handle;
}

// After a refusal: it is one of the documented codes, and the log ends and is not empty.
static void check_refusal(nvJitLinkHandle handle, nvJitLinkResult r, const char *call)
{
    size_t size = 0;
    FUZZ_CHECK(r <= NVJITLINK_ERROR_LTO_NOT_ENABLED && r != NVJITLINK_ERROR_NULL_INPUT,
               "%s returned %d", call, (int)r);
    FUZZ_CHECK(!nvJitLinkGetErrorLogSize(handle, &size) && size > 1, "%s: %d and no log", call,
               (int)r);
    char *log = malloc(size);
    FUZZ_CHECK(!nvJitLinkGetErrorLog(handle, log) && strlen(log) + 1 == size,
               "%s: a log of %zu bytes", call, size);
    free(log);
}

static nvJitLinkInputType type_of(unsigned route)
{
    static const nvJitLinkInputType types[] = {
        [CU_JIT_INPUT_CUBIN] = NVJITLINK_INPUT_CUBIN,
        [CU_JIT_INPUT_PTX] = NVJITLINK_INPUT_PTX,
        [CU_JIT_INPUT_FATBINARY] = NVJITLINK_INPUT_FATBIN,
        [CU_JIT_INPUT_OBJECT] = NVJITLINK_INPUT_OBJECT,
        [CU_JIT_INPUT_LIBRARY] = NVJITLINK_INPUT_LIBRARY,
        [CU_JIT_INPUT_NVVM] = NVJITLINK_INPUT_LTOIR,
    };
    unsigned type = (route - IMAGE_ROUTE_LINK) / 2;
    if (route < IMAGE_ROUTE_LINK)
        return NVJITLINK_INPUT_ANY;
    return type < FUZZ_COUNT(types) ? types[type] : (nvJitLinkInputType)(90 + route);
}

static void load(const void *image)
{
    CUmodule module;
    CUcontext context = fuzz_context();
    CUresult r = cuModuleLoadData(&module, image);
    FUZZ_CHECK(!r, "the linked image was refused: %d", (int)r);
    FUZZ_OK(cuModuleUnload(module));
    FUZZ_OK(cuCtxDestroy(context));
}

static void complete(nvJitLinkHandle handle)
{
    size_t size = 0;
    nvJitLinkResult r = nvJitLinkComplete(handle);
    if (r) {
        check_refusal(handle, r, "nvJitLinkComplete");
        return;
    }
    FUZZ_CHECK(!nvJitLinkGetLinkedCubinSize(handle, &size) && size, "no image");
    void *image = malloc(size);
    FUZZ_CHECK(!nvJitLinkGetLinkedCubin(handle, image), "nvJitLinkGetLinkedCubin");
    load(image);
    free(image);
    r = nvJitLinkComplete(handle);
    FUZZ_CHECK(r == NVJITLINK_ERROR_INTERNAL, "linked twice: %d", (int)r);
}

// ---- well-formed inputs ----

static const unsigned architectures[] = {75, 80, 86, 89, 90, 90, 90, 100, 120};

// "PTX that is added as a cubin is PTX." ANY: the library finds the type.
static nvJitLinkInputType any_type(struct fuzz_input *in, enum plan_form form)
{
    static const nvJitLinkInputType types[] = {
        [PLAN_TEXT] = NVJITLINK_INPUT_PTX,
        [PLAN_FAT] = NVJITLINK_INPUT_FATBIN,
        [PLAN_OBJECT] = NVJITLINK_INPUT_OBJECT,
        [PLAN_LIBRARY] = NVJITLINK_INPUT_LIBRARY,
    };
    if (form == PLAN_TEXT && fuzz_chance(in, 4))
        return NVJITLINK_INPUT_CUBIN;
    return fuzz_chance(in, 4) ? NVJITLINK_INPUT_ANY : types[form];
}

static void add(struct fuzz_input *in, nvJitLinkHandle handle, const struct plan *p,
                const struct plan_input *input)
{
    static struct container bytes;
    plan_input_bytes(p, input, &bytes);
    const nvJitLinkInputType type = any_type(in, input->form);
    const nvJitLinkResult r = nvJitLinkAddData(handle, type, bytes.bytes, bytes.size_B, "part");
    FUZZ_CHECK(!r == input->good, "type %d of form %d with %u containers: %d, expected %d",
               (int)type, (int)input->form, input->count, (int)r, input->good);
    if (r)
        check_refusal(handle, r, "nvJitLinkAddData");
}

// Driver 580 loads only images that were linked for its device.
static void load_planned(const struct plan *p, nvJitLinkHandle handle,
                         const bool used[PLAN_CONTAINERS])
{
    size_t size = 0;
    CUmodule module;
    FUZZ_CHECK(!nvJitLinkGetLinkedCubinSize(handle, &size) && size, "no image");
    void *image = malloc(size);
    FUZZ_CHECK(!nvJitLinkGetLinkedCubin(handle, image), "nvJitLinkGetLinkedCubin");
    CUcontext context = fuzz_context();
    int major, minor;
    FUZZ_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    FUZZ_OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    if (!p->as_driver || p->architecture == (unsigned)(10 * major + minor)) {
        FUZZ_OK(cuModuleLoadData(&module, image));
        plan_check(p, module, used);
        FUZZ_OK(cuModuleUnload(module));
    }
    FUZZ_OK(cuCtxDestroy(context));
    free(image);
}

static void planned(struct fuzz_input *in)
{
    struct plan p = {.as_driver = fuzz_is_driver_580(),
                     .architecture = architectures[fuzz_below(in, FUZZ_COUNT(architectures))]};
    bool used[PLAN_CONTAINERS] = {false}, any = false;
    char option[32];
    const char *list[] = {option};
    nvJitLinkHandle handle;
    snprintf(option, sizeof option, "-arch=sm_%u", p.architecture);
    FUZZ_CHECK(!nvJitLinkCreate(&handle, 1, list), "nvJitLinkCreate with %s", option);
    plan_several(in, &p, false);
    for (unsigned i = 0; i < p.input_count; i++) {
        const struct plan_input *input = &p.inputs[i];
        add(in, handle, &p, input);
        any |= input->good;
        for (unsigned k = 0; k < input->count; k++)
            used[input->first + k] = input->good;
    }
    if (any) {
        const nvJitLinkResult r = nvJitLinkComplete(handle);
        FUZZ_CHECK(!r, "linking %u containers: %d", p.count, (int)r);
        load_planned(&p, handle, used);
    }
    FUZZ_CHECK(!nvJitLinkDestroy(&handle) && !handle, "nvJitLinkDestroy");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > IMAGE_INPUT_B)
        return 0;
    if (data[0] == IMAGE_PLANNED) {
        struct fuzz_input in = {data + 1, data + size};
        planned(&in);
        return 0;
    }
    nvJitLinkHandle handle = make(size);
    if (!handle)
        return 0;
    void *image = malloc(size - 1);
    memcpy(image, data + 1, size - 1);
    const nvJitLinkResult r =
        nvJitLinkAddData(handle, type_of(data[0] % IMAGE_ROUTES), image, size - 1, "part");
    if (r)
        check_refusal(handle, r, "nvJitLinkAddData");
    else
        complete(handle);
    free(image);
    FUZZ_CHECK(!nvJitLinkDestroy(&handle) && !handle, "nvJitLinkDestroy");
    return 0;
}
