// SPDX-License-Identifier: MIT
// The fuzz target `image`: images that it has built itself. It predicts whether they are loaded,
// which kernels and variables there are, and the words that the kernels write.
#include "image_copy.h"
#include "image_mutate.h"
#include "image_plan.h"
#include "said.h"

enum { DEVICES = 3 };

static const bool all[PLAN_CONTAINERS] = {true, true, true};

static bool is_eager(void)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    return loading && !strcmp(loading, "EAGER");
}

static void check_result(CUresult r, CUresult expected, const char *call)
{
    FUZZ_CHECK(r == expected, "%s: %d, expected %d", call, (int)r, (int)expected);
}

// ---- loading ----

// "cuLibraryLoadData and cuLibraryLoadFromFile take every image, also a wrong one, which has no
// kernels. The first call that needs the image returns the error."
static void load_library(const struct plan *p, const struct copy *c, bool file, CUresult expected,
                         const bool used[])
{
    CUlibrary l;
    CUmodule m;
    CUresult r;
    unsigned count = 0;
    if (file) {
        char path[64];
        const int fd = copy_file(c, path);
        r = SAID(cuLibraryLoadFromFile(&l, path, NULL, NULL, 0, NULL, NULL, 0));
        close(fd);
    } else {
        r = SAID(cuLibraryLoadData(&l, c->image, NULL, NULL, 0, NULL, NULL, 0));
    }
    check_result(r, is_eager() ? expected : CUDA_SUCCESS, "loading the library");
    if (r)
        return;
    r = SAID(cuLibraryGetModule(&m, l));
    check_result(r, expected, "cuLibraryGetModule");
    FUZZ_OK(cuLibraryGetKernelCount(&count, l));
    if (r)
        FUZZ_CHECK(!count, "a refused library has %u kernels", count);
    else
        plan_check(p, m, used);
    FUZZ_OK(cuLibraryUnload(l));
}

static void check_module(const struct plan *p, CUresult r, CUmodule m, CUresult expected,
                         const bool used[])
{
    check_result(r, expected, "loading the module");
    if (r)
        return;
    plan_check(p, m, used);
    FUZZ_OK(cuModuleUnload(m));
}

static void load(const struct plan *p, const struct copy *c, enum image_route route,
                 CUresult expected, const bool used[])
{
    CUmodule m = NULL;
    CUresult r;
    char path[64];
    int fd;
    switch (route) {
    case IMAGE_ROUTE_LIBRARY:
    case IMAGE_ROUTE_LIBRARY_FILE:
        load_library(p, c, route == IMAGE_ROUTE_LIBRARY_FILE, expected, used);
        return;
    case IMAGE_ROUTE_FILE:
        fd = copy_file(c, path);
        r = SAID(cuModuleLoad(&m, path));
        close(fd);
        break;
    case IMAGE_ROUTE_FAT_BINARY:
        r = SAID(cuModuleLoadFatBinary(&m, c->image));
        break;
    default:
        r = SAID(cuModuleLoadData(&m, c->image));
    }
    check_module(p, r, m, expected, used);
}

static enum image_route any_route(struct fuzz_input *in)
{
    static const enum image_route routes[] = {IMAGE_ROUTE_DATA, IMAGE_ROUTE_FAT_BINARY,
                                              IMAGE_ROUTE_LIBRARY, IMAGE_ROUTE_FILE,
                                              IMAGE_ROUTE_LIBRARY_FILE};
    return routes[fuzz_below(in, FUZZ_COUNT(routes))];
}

static void planned_load(struct fuzz_input *in, struct plan *p)
{
    static struct container bytes;
    enum plan_form form;
    plan_one(in, p, &form);
    if (form == PLAN_TEXT)
        plan_text_bytes(p, 0, &bytes);
    else
        plan_container_bytes(p, 0, &bytes);
    const struct copy c = copy_make(bytes.bytes, bytes.size_B);
    load(p, &c, any_route(in), p->containers[0].verdict, all);
    copy_end(&c);
}

// ---- the struct that nvcc's programs have ----

// The verdict of parts that are loaded together; more than one mistake may be found in any order.
static CUresult verdict_of(const struct plan *p, unsigned *mistakes)
{
    CUresult verdict = CUDA_SUCCESS;
    for (unsigned i = 0; i < p->count; i++) {
        *mistakes += p->containers[i].verdict != CUDA_SUCCESS;
        verdict = p->containers[i].verdict ? p->containers[i].verdict : verdict;
    }
    return verdict;
}

// "The same; version 2, of nvcc -rdc=true, links the PTX of its parts." Driver 580 refuses the
// struct.
static void planned_struct(struct fuzz_input *in, struct plan *p)
{
    static struct container bytes;
    struct copy copies[PLAN_CONTAINERS];
    const void *list[PLAN_CONTAINERS + 1] = {NULL};
    const bool linked = fuzz_below(in, 2);
    enum plan_form form = PLAN_FAT;
    unsigned mistakes = 0;
    if (linked)
        plan_several(in, p, true);
    else
        plan_one(in, p, &form);
    for (unsigned i = 0; i < p->count; i++) {
        plan_container_bytes(p, i, &bytes);
        copies[i] = copy_make(bytes.bytes, bytes.size_B);
        list[i] = copies[i].image;
    }
    const struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1, linked ? 2 : 1, list[0], linked ? list : NULL};
    CUmodule m = NULL;
    CUresult expected = verdict_of(p, &mistakes);
    if (p->as_driver)
        expected = CUDA_ERROR_INVALID_IMAGE;
    const CUresult r = SAID(cuModuleLoadFatBinary(&m, &wrapper));
    check_module(p, r, m, mistakes > 1 && r ? r : expected, all);
    for (unsigned i = 0; i < p->count; i++)
        copy_end(&copies[i]);
}

// ---- the linker ----

static void check_added(const struct plan *p, const struct plan_input *input, CUresult r)
{
    CUresult expected = CUDA_SUCCESS;
    unsigned mistakes = 0;
    for (unsigned i = 0; i < input->count; i++) {
        const CUresult verdict = p->containers[input->first + i].verdict;
        mistakes += verdict != CUDA_SUCCESS;
        expected = verdict ? verdict : expected;
    }
    // "After the linker has returned CUDA_ERROR_UNKNOWN for the first time in a process, all its
    // errors are CUDA_ERROR_UNKNOWN" (driver 580).
    const bool any_code = mistakes > 1 || (p->as_driver && r == CUDA_ERROR_UNKNOWN);
    FUZZ_CHECK(any_code && mistakes ? r != CUDA_SUCCESS : r == expected,
               "an input of form %d with %u containers: %d, expected %d", (int)input->form,
               input->count, (int)r, (int)expected);
}

static CUresult add(struct fuzz_input *in, CUlinkState state, enum plan_form form,
                    const struct container *bytes)
{
    static const CUjitInputType types[] = {
        [PLAN_TEXT] = CU_JIT_INPUT_PTX,
        [PLAN_FAT] = CU_JIT_INPUT_FATBINARY,
        [PLAN_OBJECT] = CU_JIT_INPUT_OBJECT,
        [PLAN_LIBRARY] = CU_JIT_INPUT_LIBRARY,
    };
    const struct copy c = copy_make(bytes->bytes, bytes->size_B);
    CUresult r;
    if (fuzz_below(in, 2)) {
        char path[64];
        const int fd = copy_file(&c, path);
        r = SAID(cuLinkAddFile(state, types[form], path, 0, NULL, NULL));
        close(fd);
    } else {
        r = SAID(cuLinkAddData(state, types[form], c.image, c.size_B, "part", 0, NULL, NULL));
    }
    copy_end(&c);
    return r;
}

// Loads the image, or links it again first.
static void use_linked(struct fuzz_input *in, const struct plan *p, const void *image,
                       size_t size_B, const bool used[])
{
    const struct copy c = copy_make(image, size_B);
    if (fuzz_chance(in, 4)) {
        CUlinkState state;
        void *again;
        size_t again_B;
        FUZZ_OK(cuLinkCreate(0, NULL, NULL, &state));
        FUZZ_OK(
            cuLinkAddData(state, CU_JIT_INPUT_CUBIN, c.image, c.size_B, "image", 0, NULL, NULL));
        FUZZ_OK(cuLinkComplete(state, &again, &again_B));
        const struct copy other = copy_make(again, again_B);
        load(p, &other, any_route(in), CUDA_SUCCESS, used);
        copy_end(&other);
        FUZZ_OK(cuLinkDestroy(state));
    } else {
        load(p, &c, any_route(in), CUDA_SUCCESS, used);
    }
    copy_end(&c);
}

static void planned_link(struct fuzz_input *in, struct plan *p)
{
    static struct container bytes;
    bool used[PLAN_CONTAINERS] = {false}, any = false;
    CUlinkState state;
    void *image;
    size_t size_B;
    plan_several(in, p, false);
    FUZZ_OK(cuLinkCreate(0, NULL, NULL, &state));
    for (unsigned i = 0; i < p->input_count; i++) {
        const struct plan_input *input = &p->inputs[i];
        plan_input_bytes(p, input, &bytes);
        check_added(p, input, add(in, state, input->form, &bytes));
        any |= input->good;
        for (unsigned k = 0; k < input->count; k++)
            used[input->first + k] = input->good;
    }
    if (any) {
        check_result(SAID(cuLinkComplete(state, &image, &size_B)), CUDA_SUCCESS, "linking");
        use_linked(in, p, image, size_B, used);
    }
    FUZZ_OK(cuLinkDestroy(state));
}

void image_planned(struct fuzz_input *in)
{
    struct plan p = {.as_driver = fuzz_is_driver_580()};
    CUcontext context;
    int count = 0, major, minor;
    FUZZ_OK(cuInit(0));
    FUZZ_OK(cuDeviceGetCount(&count));
    const CUdevice device = (CUdevice)(fuzz_below(in, DEVICES) % (unsigned)count);
    FUZZ_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    FUZZ_OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    p.architecture = (unsigned)(10 * major + minor);
    FUZZ_OK(cuCtxCreate(&context, NULL, 0, device));
    switch (fuzz_below(in, 4)) {
    case 0:
        planned_struct(in, &p);
        break;
    case 1:
    case 2:
        planned_link(in, &p);
        break;
    default:
        planned_load(in, &p);
    }
    FUZZ_OK(cuCtxDestroy(context));
}
