// SPDX-License-Identifier: MIT
// libnvJitLink.so.13: PTX is linked with PTX, and mistakes get the codes of NVIDIA's library (13.0,
// tried without a card).
#include <nvJitLink.h>

#include "kernel_text.h"

static const char caller[] = PTX_HEAD
    ".extern .func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n"
    ".reg .b32 %r;\nld.param.u64 %x, [p];\n{\n.param .b32 r;\ncall (r), f, ();\n"
    "ld.param.b32 %r, [r];\n}\nst.global.u32 [%x], %r;\nret;\n}\n";
static const char callee[] =
    PTX_HEAD ".visible .func (.param .b32 r) f()\n{\n.reg .b32 %q;\nmov.b32 %q, 42;\n"
             "st.param.b32 [r], %q;\nret;\n}\n";
static const char *const arch[] = {"-arch=sm_90", "-lineinfo"};

static nvJitLinkHandle create(void)
{
    nvJitLinkHandle h = NULL;
    EXPECT_EQ(__nvJitLinkCreate_13_0(&h, 2, arch), NVJITLINK_SUCCESS);
    return h;
}

static nvJitLinkResult add(nvJitLinkHandle h, nvJitLinkInputType type, const char *text)
{
    return nvJitLinkAddData(h, type, text, strlen(text), "input");
}

static const char *error_log(nvJitLinkHandle h)
{
    static char text[1 << 14];
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetErrorLogSize(h, &size), NVJITLINK_SUCCESS);
    EXPECT(size <= sizeof text);
    *text = 0;
    EXPECT_EQ(nvJitLinkGetErrorLog(h, text), NVJITLINK_SUCCESS);
    EXPECT(!size || strlen(text) + 1 == size);
    return text;
}

TEST(image_runs)
{
    static char image[1 << 14];
    size_t size = 0;
    CUdeviceptr p;
    CUcontext current = ptx_start(), after;
    nvJitLinkHandle h = create();
    EXPECT_EQ(add(h, NVJITLINK_INPUT_CUBIN, caller), NVJITLINK_SUCCESS); // as NVRTC's are here
    EXPECT_EQ(nvJitLinkGetLinkedCubinSize(h, &size), NVJITLINK_ERROR_INTERNAL);
    EXPECT_EQ(add(h, NVJITLINK_INPUT_ANY, callee), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkComplete(h), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkGetLinkedPtxSize(h, &size), NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(nvJitLinkGetLinkedCubinSize(h, &size), NVJITLINK_SUCCESS);
    EXPECT(size <= sizeof image);
    EXPECT_EQ(nvJitLinkGetLinkedCubin(h, image), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkComplete(h), NVJITLINK_ERROR_INTERNAL);
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
    EXPECT(!h);
    MUST(cuCtxGetCurrent(&after));
    EXPECT(after == current);
    MUST(cuMemAlloc(&p, 4));
    EXPECT_OK(ptx_run(ptx_kernel(ptx_load(image), "k"), 1, 1, (void *[]){&p}));
    EXPECT_EQ(ptx_word(p), 42);
    // The image is an input, too.
    h = create();
    EXPECT_EQ(nvJitLinkAddData(h, NVJITLINK_INPUT_ANY, image, size, NULL), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
}

// The library starts the driver, and leaves no context.
TEST(without_a_context)
{
    CUcontext current = NULL;
    nvJitLinkHandle h = create();
    EXPECT_EQ(add(h, NVJITLINK_INPUT_PTX, callee), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkComplete(h), NVJITLINK_SUCCESS);
    MUST(cuCtxGetCurrent(&current));
    EXPECT(!current);
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
}

TEST(options)
{
    static const struct {
        const char *options[3];
        nvJitLinkResult result;
    } cases[] = {
        {{0}, NVJITLINK_ERROR_MISSING_ARCH},
        {{"-arch=compute_90"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {{"-arch=sm_90", "-foo"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_90", "-O2"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_90", "-device-stack-protector"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_90", "-Xnvvm=-opt=3", "-optimize-unused-variables=true"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-ptx"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {{"-arch=sm_999"}, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
        {{"-arch=sm_91"}, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
        {{"-arch=sm_70"}, NVJITLINK_ERROR_UNSUPPORTED_ARCH},
        {{"-arch=nonsense"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_121"}, NVJITLINK_SUCCESS},
        {{"-arch", "sm_90"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_x"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_0"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=compute_XX", "-lto", "-ptx"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=lto_x"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=lto_90"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {{"-arch=lto_90", "-lto", "-ptx"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_88"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90a", "-O3", "-maxrregcount=32"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-maxrregcount=", "-maxrregcount=0"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-lto", "-ptx"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-lto=1", "-ptx=1"}, NVJITLINK_SUCCESS},
        {{"-arch=compute_90", "-lto=0", "-ptx=0"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-ptx=1"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
        {{"-arch=sm_90", "-verbose=1", "-time=1"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-lineinfo=1", "-no-cache=1"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_90", "-g=1"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nvJitLinkHandle h = NULL;
        uint32_t count = 0;
        while (count < 3 && cases[i].options[count])
            count++;
        EXPECT_EQ(__nvJitLinkCreate_13_0(&h, count, cases[i].options), cases[i].result);
        EXPECT(!h == !!cases[i].result);
        if (h)
            EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
    }
}

// Sentences are whole, however long the option or the name is.
TEST(long_options)
{
    char option[3000] = "-arch=", path[3000] = "/nonexistent/";
    const char *options[] = {"-arch=sm_90", option};
    nvJitLinkHandle h = NULL;
    memset(option + strlen(option), 'x', sizeof option - 100);
    EXPECT_EQ(__nvJitLinkCreate_13_0(&h, 1, &options[1]), NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
    EXPECT(strstr(test_last_line(), "xxx... is not an architecture; pass sm_N\""));
    EXPECT(strstr(test_last_line(), "\"entry\":\"nvJitLinkCreate\""));
    option[1] = 'b';
    EXPECT_EQ(__nvJitLinkCreate_13_0(&h, 2, options), NVJITLINK_ERROR_UNRECOGNIZED_OPTION);
    EXPECT(strstr(test_last_line(), "\"result\":\"NVJITLINK_ERROR_UNRECOGNIZED_OPTION\""));
    EXPECT(strstr(test_last_line(), "xxx... is not an option of nvJitLink\""));
    memset(path + strlen(path), 'x', sizeof path - 100);
    h = create();
    EXPECT_EQ(nvJitLinkAddFile(h, NVJITLINK_INPUT_PTX, path), NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT(strstr(error_log(h), "xxx: the file cannot be read\n"));
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
}

TEST(mistakes)
{
    static const unsigned char lto[] = {0xed, 0x43, 0x4e, 0x7f, 1, 0};
    nvJitLinkHandle h = create();
    size_t size;
    EXPECT_EQ(add(h, NVJITLINK_INPUT_CUBIN, "garbage"), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
    EXPECT_EQ(add(h, NVJITLINK_INPUT_OBJECT, callee), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
    EXPECT_EQ(add(h, NVJITLINK_INPUT_PTX, "garbage"), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
    EXPECT_EQ(add(h, NVJITLINK_INPUT_ANY, "garbage"), NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
    EXPECT_EQ(add(h, (nvJitLinkInputType)77, callee), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
    EXPECT_EQ(add(h, NVJITLINK_INPUT_PTX, ""), NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(nvJitLinkAddData(h, NVJITLINK_INPUT_LTOIR, lto, sizeof lto, NULL),
              NVJITLINK_ERROR_LTO_NOT_ENABLED);
    EXPECT_EQ(nvJitLinkAddFile(h, NVJITLINK_INPUT_PTX, "/nonexistent"),
              NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(
        add(h, NVJITLINK_INPUT_PTX, PTX_HEAD ".visible .entry k() { mov.b32 %missing, 1; }\n"),
        NVJITLINK_ERROR_PTX_COMPILE);
    EXPECT(strstr(error_log(h), "missing"));
    EXPECT(strstr(test_last_line(), "\"entry\":\"nvJitLinkAddData\""));
    EXPECT(strstr(error_log(h), "/nonexistent"));
    EXPECT_EQ(nvJitLinkAddData(NULL, NVJITLINK_INPUT_PTX, callee, 1, NULL),
              NVJITLINK_ERROR_NULL_INPUT);
    EXPECT_EQ(nvJitLinkGetErrorLogSize(NULL, &size), NVJITLINK_ERROR_NULL_INPUT);
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_ERROR_NULL_INPUT);
    h = create();
    EXPECT_EQ(add(h, NVJITLINK_INPUT_PTX, caller), NVJITLINK_SUCCESS);
    EXPECT_EQ(nvJitLinkComplete(h), NVJITLINK_ERROR_INTERNAL); // f is missing
    EXPECT(strstr(error_log(h), "\"f\""));
    EXPECT(strstr(test_last_line(), "\"entry\":\"nvJitLinkComplete\""));
    EXPECT_EQ(nvJitLinkDestroy(&h), NVJITLINK_SUCCESS);
}

TESTS(CASE(image_runs), CASE(without_a_context), CASE(options), CASE(long_options), CASE(mistakes))
