// SPDX-License-Identifier: MIT
// Lazy loading: functions and the images of libraries are loaded when they are needed, or at once
// if CUDA_MODULE_LOADING is EAGER.
#include "kernel_text.h"

#define GOOD ".visible .entry good()\n{\n.shared .b8 s[64];\nst.shared.u8 [s], 1;\nret;\n}\n"
#define BAD ".visible .entry bad()\n{\nfrobnicate.u32 1;\nret;\n}\n"

static const char text[] = PTX_HEAD GOOD BAD;
static const char text_with_mistake[] = PTX_HEAD ".visible .entry k()\n{\nbra NOWHERE;\n}\n";

static void eager(void)
{
    test_setting("CUDA_MODULE_LOADING", "EAGER");
}

static int loading_mode(void)
{
    CUmoduleLoadingMode mode = 0;
    MUST(cuInit(0));
    EXPECT_OK(cuModuleGetLoadingMode(&mode));
    return mode;
}

TEST(mode_is_lazy)
{
    EXPECT_EQ(loading_mode(), CU_MODULE_LAZY_LOADING);
}

TEST(mode_is_eager)
{
    eager();
    EXPECT_EQ(loading_mode(), CU_MODULE_EAGER_LOADING);
}

TEST(mode_is_unknown)
{
    test_setting("CUDA_MODULE_LOADING", "sometimes");
    struct captured c = capture_begin(2);
    EXPECT_EQ(loading_mode(), CU_MODULE_LAZY_LOADING);
    char *said = capture_end(c);
    EXPECT(strstr(said, "CUDA_MODULE_LOADING=sometimes is ignored"));
    free(said);
}

// ---- functions ----

static int state(CUfunction f)
{
    CUfunctionLoadingState s = -1;
    EXPECT_OK(cuFuncIsLoaded(&s, f));
    return (int)s;
}

static CUfunction enumerated(CUmodule m, const char *name)
{
    CUfunction list[2] = {NULL, NULL};
    const char *found;
    MUST(cuModuleEnumerateFunctions(list, 2, m));
    for (int i = 0; i < 2; i++)
        if (!cuFuncGetName(&found, list[i]) && !strcmp(found, name))
            return list[i];
    return NULL;
}

// A kernel that cannot run does not keep the program from the others.
TEST(functions_load_later)
{
    ptx_start();
    CUmodule m = ptx_load(text);
    CUfunction good = enumerated(m, "good"), bad = enumerated(m, "bad"), same = NULL;
    EXPECT_EQ(state(good), CU_FUNCTION_LOADING_STATE_UNLOADED);
    EXPECT_EQ(state(bad), CU_FUNCTION_LOADING_STATE_UNLOADED);
    EXPECT_OK(cuFuncLoad(good));
    EXPECT_EQ(state(good), CU_FUNCTION_LOADING_STATE_LOADED);
    EXPECT_OK(cuFuncLoad(good));
    EXPECT_MESSAGE(cuFuncLoad(bad), CUDA_ERROR_NOT_SUPPORTED, "frobnicate.u32");
    EXPECT_EQ(state(bad), CU_FUNCTION_LOADING_STATE_UNLOADED);
    EXPECT_ERROR(cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuModuleGetFunction(&same, m, "good"));
    EXPECT_EQ(same, good);
    EXPECT_ERROR(cuFuncLoad(NULL), CUDA_ERROR_INVALID_HANDLE);
}

TEST(function_by_name_is_loaded)
{
    ptx_start();
    EXPECT_EQ(state(ptx_kernel(ptx_load(text), "good")), CU_FUNCTION_LOADING_STATE_LOADED);
}

// Calls that need more than the name load the function.
TEST(calls_load_functions)
{
    int bytes = 0;
    ptx_start();
    CUfunction f = enumerated(ptx_load(text), "good");
    EXPECT_OK(ptx_run(f, 1, 1, NULL));
    EXPECT_EQ(state(f), CU_FUNCTION_LOADING_STATE_LOADED);
    f = enumerated(ptx_load(text), "good");
    EXPECT_OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    EXPECT_EQ(bytes, 64);
    EXPECT_EQ(state(f), CU_FUNCTION_LOADING_STATE_LOADED);
}

TEST(functions_load_at_once)
{
    CUfunction list[2];
    eager();
    ptx_start();
    CUmodule m = ptx_load(PTX_HEAD GOOD);
    EXPECT_EQ(state(enumerated(m, "good")), CU_FUNCTION_LOADING_STATE_LOADED);
    EXPECT_ERROR(cuModuleEnumerateFunctions(list, 2, ptx_load(text)), CUDA_ERROR_NOT_SUPPORTED);
}

// ---- libraries ----

static CUresult load(const char *image, CUlibrary *out)
{
    return cuLibraryLoadData(out, image, NULL, NULL, 0, NULL, NULL, 0);
}

// A wrong image is refused by the first call that needs it, and by each later one.
static void refused_later(const char *image, CUresult code, const char *sentence)
{
    CUlibrary l = NULL;
    CUkernel k;
    CUmodule m;
    CUdeviceptr p;
    unsigned count = 7;
    MUST(load(image, &l));
    EXPECT_STR(test_last_line(), "");
    EXPECT_OK(cuLibraryGetKernelCount(&count, l));
    EXPECT_EQ(count, 0);
    EXPECT_OK(cuLibraryEnumerateKernels(&k, 1, l));
    EXPECT_MESSAGE(cuLibraryGetKernel(&k, l, "k"), code, sentence);
    EXPECT_MESSAGE(cuLibraryGetModule(&m, l), code, sentence);
    EXPECT_ERROR(cuLibraryGetGlobal(&p, NULL, l, "g"), code);
    EXPECT_ERROR(cuLibraryGetManaged(&p, NULL, l, "g"), code);
    EXPECT_OK(cuLibraryUnload(l));
    EXPECT_ERROR(cuLibraryUnload(l), CUDA_ERROR_INVALID_HANDLE);
}

TEST(library_of_words)
{
    ptx_start();
    refused_later("words", CUDA_ERROR_INVALID_IMAGE, "cannot be loaded: the image is not PTX");
}

TEST(library_with_a_mistake)
{
    ptx_start();
    refused_later(text_with_mistake, CUDA_ERROR_INVALID_PTX, "cannot be loaded: PTX: line 6: ");
}

TEST(library_of_the_future)
{
    ptx_start();
    refused_later(".version 99.0\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "99.0");
}

TEST(library_with_a_mistake_at_once)
{
    CUlibrary l = NULL;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    eager();
    ptx_start();
    EXPECT_ERROR(cuLibraryLoadData(&l, text_with_mistake, options, values, 2, NULL, NULL, 0),
                 CUDA_ERROR_INVALID_PTX);
    EXPECT(strstr(log, "line 6") != NULL);
    EXPECT_MESSAGE(load(text_with_mistake, &l), CUDA_ERROR_INVALID_PTX, "PTX: line 6: ");
    EXPECT_EQ(l, 0);
    EXPECT_OK(load(PTX_HEAD GOOD, &l));
}

// The file itself is read at once, and belongs to the driver.
TEST(library_files)
{
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
    CUlibrary l = NULL;
    ptx_start();
    EXPECT_ERROR(cuLibraryLoadFromFile(&l, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0),
                 CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_MESSAGE(cuLibraryLoadFromFile(&l, "/nonexistent", NULL, NULL, 0, &preserved, NULL, 1),
                   CUDA_ERROR_INVALID_VALUE, "CU_LIBRARY_BINARY_IS_PRESERVED");
    EXPECT_OK(cuLibraryLoadData(&l, text, NULL, NULL, 0, &preserved, NULL, 1));
}

// Kernels that were listed have their facts too, and only those that are asked for are refused.
TEST(library_kernels)
{
    CUlibrary l = NULL;
    CUkernel list[2] = {NULL, NULL}, k = NULL;
    int bytes = 0, refused = 0, right = 0;
    ptx_start();
    MUST(load(text, &l));
    MUST(cuLibraryEnumerateKernels(list, 2, l));
    for (int i = 0; i < 2; i++) {
        const CUresult r =
            cuKernelGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, list[i], 0);
        refused += r == CUDA_ERROR_NOT_SUPPORTED;
        right += !r && bytes == 64;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(right, 1);
    EXPECT_ERROR(cuLibraryGetKernel(&k, l, "bad"), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuLibraryGetKernel(&k, l, "good"));
    EXPECT_OK(ptx_run((CUfunction)k, 1, 1, NULL));
}

TESTS(CASE(mode_is_lazy), CASE(mode_is_eager), CASE(mode_is_unknown), CASE(functions_load_later),
      CASE(function_by_name_is_loaded), CASE(calls_load_functions), CASE(functions_load_at_once),
      CASE(library_of_words), CASE(library_with_a_mistake), CASE(library_of_the_future),
      CASE(library_with_a_mistake_at_once), CASE(library_files), CASE(library_kernels))
