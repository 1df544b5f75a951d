// SPDX-License-Identifier: MIT
// Loads of images: options, logs, and files that are no images.
#include <cardless.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../harness.h"
#include "kernels.h"

static CUmodule module;

static void start_context(void)
{
    CUdevice device;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
}

static void start(void)
{
    start_context();
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
}

// A table consists of pointers, so its bytes in a file are nothing that can be loaded.
TEST(table_in_file)
{
    start();
    const char *path = test_new_file("table");
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CUmodule m;
    CUlibrary l;
    EXPECT(fd >= 0);
    EXPECT_EQ(write(fd, &kernels_table, sizeof kernels_table), sizeof kernels_table);
    EXPECT_ERROR(cuModuleLoad(&m, path), CUDA_ERROR_INVALID_IMAGE);
    MUST(cuLibraryLoadFromFile(&l, path, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_ERROR(cuLibraryGetModule(&m, l), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_OK(cuLibraryUnload(l));
    EXPECT_EQ(ftruncate(fd, 9), 0);
    EXPECT_ERROR(cuModuleLoad(&m, path), CUDA_ERROR_INVALID_IMAGE);
    close(fd);
    EXPECT_OK(cuModuleLoadData(&m, &kernels_table));
    EXPECT_OK(cuModuleUnload(m));
}

// Bytes that begin like a table: what they point to is not there.
TEST(table_of_wild_pointers)
{
    start();
    cardlessKernelDesc kernel = {KERNEL(count_up)};
    cardlessModuleDesc table = {
        .magic = CARDLESS_MODULE_MAGIC, .version = CARDLESS_VERSION, .kernel_count = 1};
    const void *wild = (const void *)0x1230;
    CUmodule m;
    table.kernels = wild;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_VALUE);
    table.kernels = &kernel;
    table.variables = wild;
    table.variable_count = 1;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_VALUE);
    table.variable_count = 0;
    kernel.params = wild;
    kernel.param_count = 2;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_VALUE);
    kernel.param_count = 0;
    kernel.name = wild;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_VALUE);
    kernel.name = "count_up";
    EXPECT_OK(cuModuleLoadData(&m, &table));
    EXPECT_OK(cuModuleUnload(m));
}

static const char no_kernels[] =
    ".version 8.0\n.target sm_90\n.entry k()\n{\nmov.u32 %absent, 0;\n}\n";

static CUresult load_with(const void *image, unsigned count, CUjit_option *options, void **values)
{
    CUmodule m;
    CUresult r = cuModuleLoadDataEx(&m, image, count, options, values);
    if (!r)
        EXPECT_OK(cuModuleUnload(m));
    return r;
}

TEST(load_logs)
{
    start();
    char info[64], error[200];
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME};
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error, (void *)~0ul};
    float ms = -1;
    memset(info, 'x', sizeof info);
    memset(error, 'x', sizeof error);
    EXPECT_OK(load_with(&kernels_table, 5, options, values));
    EXPECT_EQ(info[0], 0);
    EXPECT_EQ(error[0], 0);
    EXPECT_EQ((uintptr_t)values[1], 0);
    EXPECT_EQ((uintptr_t)values[3], 0);
    memcpy(&ms, &values[4], sizeof ms);
    EXPECT(ms >= 0 && ms < 1e6f);
    // The text of the error, also in a buffer that is too short.
    values[1] = (void *)sizeof info;
    values[3] = (void *)sizeof error;
    EXPECT_ERROR(load_with(no_kernels, 5, options, values), CUDA_ERROR_INVALID_PTX);
    EXPECT(strstr(error, "line 5") != NULL);
    EXPECT_EQ((uintptr_t)values[3], strlen(error));
    EXPECT_EQ(info[0], 0);
    values[1] = (void *)sizeof info;
    values[3] = (void *)5;
    error[5] = 'x';
    EXPECT_ERROR(load_with(no_kernels, 5, options, values), CUDA_ERROR_INVALID_PTX);
    EXPECT_EQ(strlen(error), 4);
    EXPECT_EQ(error[5], 'x');
    EXPECT_EQ((uintptr_t)values[3], 4);
    CUlibrary l;
    values[1] = (void *)sizeof info;
    values[3] = (void *)sizeof error;
    EXPECT_OK(cuLibraryLoadData(&l, no_kernels, options, values, 5, NULL, NULL, 0));
    EXPECT_STR(error, ""); // the text is refused later
    // A list that is refused changes nothing.
    values[1] = (void *)sizeof info;
    values[3] = (void *)sizeof error;
    memset(error, 'x', sizeof error);
    EXPECT_ERROR(load_with(no_kernels, 4, &options[1], &values[1]), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(error[0], 'x');
    EXPECT_EQ((uintptr_t)values[3], sizeof error);
}

TEST(load_options)
{
    start();
    static const struct {
        CUjit_option option;
        uintptr_t value;
        CUresult want;
    } cases[] = {
        {CU_JIT_MAX_REGISTERS, 0, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_MAX_REGISTERS, 1, CUDA_SUCCESS},
        {CU_JIT_THREADS_PER_BLOCK, 0, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_THREADS_PER_BLOCK, 32, CUDA_SUCCESS},
        {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 64, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_ERROR_LOG_BUFFER, 0, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_TARGET, CU_TARGET_COMPUTE_90, CUDA_SUCCESS},
        {CU_JIT_TARGET, 999, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_CACHE_MODE, 2, CUDA_SUCCESS},
        {CU_JIT_CACHE_MODE, 3, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_GLOBAL_SYMBOL_COUNT, 0, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_REFERENCED_KERNEL_NAMES, 0, CUDA_ERROR_INVALID_VALUE},
        {CU_JIT_REFERENCED_KERNEL_COUNT, 0, CUDA_SUCCESS},
        {(CUjit_option)35, 0, CUDA_ERROR_INVALID_VALUE},
        {(CUjit_option)-1, 0, CUDA_ERROR_INVALID_VALUE},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUjit_option option = cases[i].option;
        void *value = (void *)cases[i].value;
        EXPECT_EQ(load_with(&kernels_table, 1, &option, &value), cases[i].want);
    }
    CUjit_option both[] = {CU_JIT_TARGET, CU_JIT_THREADS_PER_BLOCK};
    void *values[] = {(void *)90, (void *)256};
    EXPECT_ERROR(load_with(&kernels_table, 2, both, values), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(load_with(&kernels_table, 1, NULL, values), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(load_with(&kernels_table, 0, both, values));
}

// ---- texture and surface references ----

static cardlessModuleDesc table_of(const cardlessVariableDesc *variables, unsigned count)
{
    return (cardlessModuleDesc){.magic = CARDLESS_MODULE_MAGIC,
                                .version = CARDLESS_VERSION,
                                .variables = variables,
                                .variable_count = count};
}

static const cardlessVariableDesc with_references[] = {
    {.name = "word", .size = 4},
    {.name = "texture", .flags = CARDLESS_VARIABLE_TEXTURE},
    {.name = "surface", .flags = CARDLESS_VARIABLE_SURFACE},
};

TEST(references)
{
    start();
    const cardlessModuleDesc table = table_of(with_references, 3);
    CUmodule m, other;
    CUtexref t, again;
    CUsurfref s;
    CUdeviceptr p;
    size_t size;
    int channels = 0;
    CUarray_format format;
    MUST(cuModuleLoadData(&m, &table));
    MUST(cuModuleLoadData(&other, &table));
    EXPECT_OK(cuModuleGetTexRef(&t, m, "texture"));
    EXPECT_OK(cuModuleGetTexRef(&again, m, "texture"));
    EXPECT(t == again);
    EXPECT_OK(cuModuleGetTexRef(&again, other, "texture"));
    EXPECT(t != again);
    EXPECT_OK(cuTexRefSetFormat(t, CU_AD_FORMAT_HALF, 2));
    EXPECT_OK(cuTexRefGetFormat(&format, &channels, t));
    EXPECT_EQ(channels, 2);
    EXPECT_OK(cuModuleGetSurfRef(&s, m, "surface"));
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 8,
                                     .Height = 8,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1,
                                     .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array, got;
    MUST(cuArray3DCreate(&array, &shape));
    EXPECT_OK(cuSurfRefSetArray(s, array, 0));
    EXPECT_OK(cuSurfRefGetArray(&got, s));
    EXPECT(got == array);
    // Names of other kinds.
    EXPECT_ERROR(cuModuleGetTexRef(&t, m, "absent"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleGetTexRef(&t, m, "surface"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleGetTexRef(&t, m, "word"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleGetSurfRef(&s, m, "texture"), CUDA_ERROR_NOT_FOUND);
    EXPECT_ERROR(cuModuleGetGlobal(&p, &size, m, "texture"), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuModuleGetGlobal(&p, &size, m, "word"));
    // References end with their module. One that the program destroys is made anew.
    EXPECT_OK(cuTexRefDestroy(again));
    EXPECT_OK(cuModuleGetTexRef(&again, other, "texture"));
    EXPECT_OK(cuTexRefDestroy(again));
    EXPECT_OK(cuModuleUnload(m));
    EXPECT_ERROR(cuTexRefSetFormat(t, CU_AD_FORMAT_HALF, 2), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuSurfRefGetArray(&got, s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuModuleGetTexRef(&t, m, "texture"), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuModuleUnload(other));
    // Tables have no managed variables.
    CUlibrary l;
    MUST(cuLibraryLoadData(&l, &table, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_ERROR(cuLibraryGetManaged(&p, &size, l, "word"), CUDA_ERROR_NOT_FOUND);
    EXPECT_OK(cuLibraryUnload(l));
}

TEST(wrong_references)
{
    start();
    static const unsigned one = 1;
    static const cardlessVariableDesc wrong[][2] = {
        {{.name = "a", .flags = CARDLESS_VARIABLE_TEXTURE | CARDLESS_VARIABLE_CONSTANT},
         {.name = "b", .size = 4}},
        {{.name = "a", .flags = CARDLESS_VARIABLE_TEXTURE | CARDLESS_VARIABLE_SURFACE},
         {.name = "b", .size = 4}},
        {{.name = "a", .flags = CARDLESS_VARIABLE_TEXTURE, .size = 8}, {.name = "b", .size = 4}},
        {{.name = "a", .flags = CARDLESS_VARIABLE_SURFACE, .initial = &one},
         {.name = "b", .size = 4}},
        {{.name = "a", .flags = CARDLESS_VARIABLE_TEXTURE},
         {.name = "b", .size = 8, .address_of = "a"}},
        {{.name = "a", .flags = 8, .size = 4}, {.name = "b", .size = 4}},
    };
    CUmodule m;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cardlessModuleDesc table = table_of(wrong[i], 2);
        EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_IMAGE);
    }
    cardlessModuleDesc older = table_of(with_references, 3);
    older.version = 3;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &older), CUDA_ERROR_INVALID_IMAGE);
}

TESTS(CASE(references), CASE(wrong_references), CASE(table_in_file), CASE(table_of_wild_pointers),
      CASE(load_logs), CASE(load_options))
