// SPDX-License-Identifier: MIT
// The linker: which symbols go together, images and options. Codes and values are a card's
// (tests/silicon x_modules, and more on an H200), unless a comment says otherwise.
#include "link_parts.h"
#include <elf.h>

struct link_case {
    const char *parts[PARTS];
    unsigned value;
    CUresult added, completed; // of the last part, and of the whole
    const char *log;           // part of it
};
#define GOOD(value, ...)                                                                           \
    {                                                                                              \
        {__VA_ARGS__}, value, CUDA_SUCCESS, CUDA_SUCCESS, NULL                                     \
    }

static void check(const struct link_case *c)
{
    CUlinkState state = begin();
    static const char *const names[] = {"p0", "p1", "p2"};
    void *image = NULL;
    size_t size_B = 0;
    CUresult r = CUDA_SUCCESS;
    for (int i = 0; i < PARTS && c->parts[i]; i++)
        r = add(state, names[i], c->parts[i]);
    EXPECT_ERROR(r, c->added);
    EXPECT_ERROR(cuLinkComplete(state, &image, &size_B), c->completed);
    if (!c->completed && image) {
        EXPECT(size_B > 0 && !memcmp(image, ELFMAG, SELFMAG));
        EXPECT_EQ(run(image), c->value);
    }
    if (c->log && !strstr(error_log, c->log))
        EXPECT_STR(error_log, c->log);
    EXPECT_OK(cuLinkDestroy(state));
}

TEST(symbols)
{
    static const struct link_case cases[] = {
        GOOD(5, READS_G, ".visible .global .u32 g = 5;\n"),
        GOOD(5, ".visible .global .u32 g = 5;\n", READS_G),
        GOOD(5, READS_G, ".weak .global .u32 g = 5;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n"),
        GOOD(6, READS_G, ".weak .global .u32 g = 5;\n", ".visible .global .u32 g = 6;\n"),
        GOOD(6, READS_G, ".visible .global .u32 g = 6;\n", ".weak .global .u32 g = 5;\n"),
        GOOD(5, READS_G, ".weak .global .u32 g = 5;\n", ".weak .global .u32 g = 6;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n", ".common .global .u32 g;\n"),
        GOOD(6, READS_G, ".common .global .u32 g;\n", ".visible .global .u32 g = 6;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n", ".common .global .u32 g[4];\n"),
        GOOD(77, NOTHING, ".global .u32 g = 5;\n", ".global .u32 g = 6;\n"),
        GOOD(5, CALLS_F, F(".visible", 5)),
        GOOD(6, CALLS_F, F(".weak", 5), F(".visible", 6)),
        GOOD(6, CALLS_F, F(".visible", 6), F(".weak", 5)),
        GOOD(5, CALLS_F, F(".weak", 5), F(".weak", 6)),
        GOOD(77, ".weak .entry k(.param .u64 p)\n{\nret;\n}\n",
             ".weak .entry k(.param .u64 p)\n{\nret;\n}\n"),
        GOOD(9,
             ".extern .global .u32 g;\n.visible .global .u64 q = g;\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<2>;\n.reg .b32 %r;\n"
             "ld.param.u64 %x0, [p];\nld.global.u64 %x1, [q];\nld.global.u32 %r, [%x1];\n"
             "st.global.u32 [%x0], %r;\nret;\n}\n",
             ".visible .global .u32 g = 9;\n"),
    };
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(mistakes)
{
#define BAD CUDA_ERROR_INVALID_SOURCE
    static const struct link_case cases[] = {
        {{READS_G}, 0, 0, BAD, "\"g\" is not defined"},
        {{READS_G, ".global .u32 g = 5;\n"}, 0, 0, BAD, "\"g\" is not defined"},
        {{CALLS_F}, 0, 0, BAD, "\"f\" is not defined"},
        {{CALLS_F, F("", 5)}, 0, 0, BAD, "\"f\" is not defined"},
        {{".extern .func f();\n" NOTHING}, 0, 0, BAD, "\"f\" is not defined"},
        {{READS_G, ".visible .global .u32 g = 5;\n", ".visible .global .u32 g = 6;\n"},
         0,
         BAD,
         BAD,
         "p2, line 4: the variable \"g\" is defined twice"},
        {{CALLS_F, F(".visible", 5), F(".visible", 6)},
         0,
         BAD,
         BAD,
         "the function \"f\" is defined twice"},
        {{NOTHING, NOTHING}, 0, BAD, BAD, "the function \"k\" is defined twice"},
        {{READS_G, ".visible .global .u64 g = 5;\n"}, 0, BAD, BAD, "\"g\" has 8 bytes"},
        {{READS_G, ".visible .global .u32 g[4];\n"}, 0, BAD, BAD, "\"g\" has 16 bytes"},
        {{READS_G, ".visible .const .u32 g = 5;\n"}, 0, BAD, BAD, "two spaces"},
        {{CALLS_F, ".visible .func (.param .b64 r) f(.param .b32 a)\n{\nret;\n}\n"},
         0,
         BAD,
         BAD,
         "other parameters"},
        {{".visible .const .b8 a[40000];\n" NOTHING, ".visible .const .b8 b[40000];\n"},
         0,
         0,
         BAD,
         "80000 bytes"},
        // An input with a mistake of its own is left out.
        {{NOTHING, "garbage\n"}, 77, CUDA_ERROR_INVALID_PTX, 0, "p1, line 4: "},
        {{NOTHING, ".visible .entry b()\n{\n.reg .b32 %r;\nadd.u32 %r, %s, 1;\n}\n"},
         77,
         CUDA_ERROR_INVALID_PTX,
         0,
         "p1, line 7: "},
    };
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

// ---- images ----

TEST(images)
{
    ptx_start();
    CUlinkState state = begin();
    void *image = NULL, *again = NULL;
    size_t size_B = 0;
    EXPECT_OK(add(state, NULL, READS_G));
    EXPECT_OK(add(state, "", ".visible .global .u32 g = 5;\n"));
    EXPECT_ERROR(cuLinkComplete(state, NULL, &size_B), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuLinkComplete(state, &image, &size_B));
    EXPECT_ERROR(cuLinkComplete(state, &again, &size_B), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(add(state, "late", NOTHING), CUDA_ERROR_INVALID_VALUE);
    // A program may keep the image in a file.
    char path[64];
    const int fd = memfd_create("image", 0);
    EXPECT_EQ(write(fd, image, size_B), size_B);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT_OK(cuLinkDestroy(state));
    EXPECT_ERROR(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    CUmodule m;
    EXPECT_OK(cuModuleLoad(&m, path));
    EXPECT_OK(cuModuleUnload(m));
    // Cut short, it is damaged.
    for (size_t left = size_B - 1; left > 4; left /= 2) {
        EXPECT_EQ(ftruncate(fd, (off_t)left), 0);
        EXPECT_ONE_SENTENCE(cuModuleLoad(&m, path), CUDA_ERROR_INVALID_IMAGE);
    }
    close(fd);
}

TEST(nothing_added)
{
    ptx_start();
    CUlinkState state = begin();
    CUmodule m;
    void *image = NULL;
    unsigned count = 77;
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_OK(cuModuleLoadData(&m, image));
    EXPECT_OK(cuModuleGetFunctionCount(&count, m));
    EXPECT_EQ(count, 0);
    EXPECT_OK(cuLinkDestroy(state));
}

// An image of an image.
TEST(linked_twice)
{
    ptx_start();
    CUlinkState first = begin(), second = begin();
    void *image;
    size_t size_B;
    EXPECT_OK(add(first, "g", ".visible .global .u32 g = 5;\n"));
    EXPECT_OK(cuLinkComplete(first, &image, &size_B));
    EXPECT_OK(cuLinkAddData(second, CU_JIT_INPUT_CUBIN, image, size_B, "first", 0, NULL, NULL));
    EXPECT_OK(add(second, "k", READS_G));
    EXPECT_OK(cuLinkComplete(second, &image, &size_B));
    EXPECT_EQ(run(image), 5);
    EXPECT_OK(cuLinkDestroy(first));
    EXPECT_OK(cuLinkDestroy(second));
}

// ---- options ----

static CUresult add_with_option(int option)
{
    CUlinkState state = begin();
    CUjit_option o = (CUjit_option)option;
    void *value = (void *)1;
    const char *text = PTX_HEAD NOTHING;
    const CUresult r = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                                     strlen(text) + 1, "p", 1, &o, &value);
    EXPECT_OK(cuLinkDestroy(state));
    return r;
}

TEST(options)
{
    ptx_start();
    CUjit_option o = CU_JIT_FALLBACK_STRATEGY;
    void *value = NULL;
    CUlinkState state;
    EXPECT_ERROR(cuLinkCreate(1, &o, &value, &state), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLinkCreate(1, NULL, NULL, &state), CUDA_ERROR_INVALID_VALUE);
    o = CU_JIT_TARGET;
    value = (void *)122;
    EXPECT_ERROR(cuLinkCreate(1, &o, &value, &state), CUDA_ERROR_INVALID_VALUE);
    value = (void *)30; // known, but not an architecture that is compiled for
    EXPECT_OK(cuLinkCreate(1, &o, &value, &state));
    EXPECT_ERROR(add(state, "p", NOTHING), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_OK(cuLinkDestroy(state));
    EXPECT_OK(add_with_option(CU_JIT_MAX_REGISTERS));
    EXPECT_OK(add_with_option(CU_JIT_OPTIMIZATION_LEVEL));
    EXPECT_ERROR(add_with_option(CU_JIT_TARGET), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(add_with_option(CU_JIT_WALL_TIME), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(add_with_option(-1), CUDA_ERROR_INVALID_VALUE);
}

// The driver compiles for CU_JIT_TARGET.
TEST(targets_of_the_driver)
{
    static const struct {
        int target;
        CUresult added, loaded;
    } cases[] = {
        {75, CUDA_ERROR_INVALID_PTX, 0}, {80, 0, 0}, {120, 0, CUDA_ERROR_NO_BINARY_FOR_GPU}};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_setting("CARDLESS_DEVICES", "h100");
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUjit_option o = CU_JIT_TARGET;
        void *value = (void *)(uintptr_t)cases[i].target, *image;
        CUlinkState state;
        CUmodule m;
        EXPECT_OK(cuLinkCreate(1, &o, &value, &state));
        EXPECT_ERROR(add(state, "p", NOTHING), cases[i].added); // for sm_80
        if (!cases[i].added) {
            EXPECT_OK(cuLinkComplete(state, &image, NULL));
            EXPECT_ERROR(cuModuleLoadData(&m, image),
                         cases[i].target == 80 ? CUDA_ERROR_NO_BINARY_FOR_GPU : cases[i].loaded);
        }
        EXPECT_OK(cuLinkDestroy(state));
    }
}

// Each kernel has the architecture of its own text, of which libraries choose their algorithms.
TEST(architectures_of_the_texts)
{
    static const char newer[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry other(.param .u64 p)\n{\nret;\n}\n";
    ptx_start();
    CUlinkState state = begin();
    void *image = NULL;
    int version = 0;
    EXPECT_OK(add(state, "p0", NOTHING));
    EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)newer, sizeof newer, "p1",
                            0, NULL, NULL));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    CUmodule m = ptx_load(image);
    MUST(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, ptx_kernel(m, "k")));
    EXPECT_EQ(version, 80);
    MUST(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, ptx_kernel(m, "other")));
    EXPECT_EQ(version, 90);
    EXPECT_OK(cuLinkDestroy(state));
}

// "The API can also be used with context-less kernel CUkernel … by casting to CUfunction."
TEST(occupancy_of_a_library_kernel)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    int blocks = 0, of_function = -1;
    ptx_start();
    MUST(cuLibraryLoadData(&library, PTX_HEAD NOTHING, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "k"));
    MUST(cuKernelGetFunction(&f, kernel));
    EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (CUfunction)kernel, 128, 128));
    EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_function, f, 128, 128));
    EXPECT_EQ(blocks, of_function);
    EXPECT_OK(cuLibraryUnload(library));
}

// A kernel that needs about forty registers, because it reads all values before it writes one.
static const char *busy(const char *name, const char *directive)
{
    enum { VALUES = 40 };
    static char text[8192];
    int at = snprintf(text, sizeof text,
                      PTX_HEAD ".visible .entry %s(.param .u64 p)%s\n{\n.reg .b64 %%x;\n"
                               ".reg .b32 %%r<%d>;\nld.param.u64 %%x, [p];\n",
                      name, directive, VALUES);
    for (int i = 0; i < VALUES; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "ld.global.u32 %%r%d, [%%x+%d];\n", i,
                       4 * i);
    for (int i = 0; i < VALUES; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "st.global.u32 [%%x+%d], %%r%d;\n",
                       4 * i, VALUES - 1 - i);
    snprintf(text + at, sizeof text - (size_t)at, "ret;\n}\n");
    return text;
}

static int registers_of(CUmodule module)
{
    int registers = 0;
    EXPECT_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, ptx_kernel(module, "k")));
    EXPECT_OK(cuModuleUnload(module));
    return registers;
}

static int registers_loaded(const char *text, unsigned limit, bool overrides)
{
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OVERRIDE_DIRECTIVE_VALUES};
    void *values[] = {(void *)(uintptr_t)limit, (void *)(uintptr_t)overrides};
    CUmodule module = NULL;
    MUST(cuModuleLoadDataEx(&module, text, 2, options, values));
    return registers_of(module);
}

// The limits are those that NVIDIA's ptxas 13.0 states.
TEST(limit_of_registers)
{
    ptx_start();
    const int without = registers_of(ptx_load(busy("k", "")));
    EXPECT(without > 38 && without <= 64);
    EXPECT_EQ(registers_loaded(busy("k", ""), 38, false), 38);
    EXPECT_EQ(registers_loaded(busy("k", ""), 1, false), 24);
    EXPECT_EQ(registers_loaded(busy("k", ""), 255, false), without);
    EXPECT_EQ(registers_loaded(busy("k", ""), 300, true), without);
    EXPECT_EQ(registers_loaded(busy("k", ".maxnreg 32"), 38, false), 32);
    EXPECT_EQ(registers_loaded(busy("k", ".maxnreg 32"), 38, true), 38);
    // A linked image keeps the linker's limit, whatever it is loaded with.
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)38, *image = NULL;
    CUlinkState state = NULL;
    MUST(cuLinkCreate(1, &option, &value, &state));
    const char *text = busy("k", "");
    EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, "k",
                            0, NULL, NULL));
    MUST(cuLinkComplete(state, &image, NULL));
    EXPECT_EQ(registers_of(ptx_load(image)), 38);
    EXPECT_EQ(registers_loaded(image, 30, true), 38);
    EXPECT_OK(cuLinkDestroy(state));
}

TESTS(CASE(symbols), CASE(mistakes), CASE(images), CASE(nothing_added), CASE(linked_twice),
      CASE(options), CASE(targets_of_the_driver), CASE(architectures_of_the_texts),
      CASE(occupancy_of_a_library_kernel), CASE(limit_of_registers))
