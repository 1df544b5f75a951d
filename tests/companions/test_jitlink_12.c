// SPDX-License-Identifier: MIT
// libnvJitLink.so.12: every minor version's names link, and mistakes get the codes of NVIDIA's
// library of 12.9, tried without a card.
#include <dlfcn.h>
#include <nvJitLink.h>

#include "kernel_text.h"

static const char kernel[] =
    PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\nld.param.u64 %x, [p];\n"
             "st.global.u32 [%x], 42;\nret;\n}\n";
enum { MINOR_VERSIONS = 10 };

// A function by its name in a minor version, or in none.
static void *function(const char *name, int minor)
{
    static void *library;
    char full[64];
    if (!library)
        library = dlopen("libnvJitLink.so.12", RTLD_NOW);
    EXPECT(library);
    snprintf(full, sizeof full, minor < 0 ? "%s" : "__%s_12_%d", name, minor);
    void *found = dlvsym(library, full, "libnvJitLink.so.12");
    EXPECT(found);
    return found;
}

// The function of the newest version.
#define CALL(name) ((__typeof__(&__##name##_13_0))function(#name, MINOR_VERSIONS - 1))

static nvJitLinkResult create(nvJitLinkHandle *h, const char *first, const char *second)
{
    const char *const options[] = {first, second};
    return CALL(nvJitLinkCreate)(h, !!first + !!second, options);
}

TEST(version_number)
{
    unsigned major = 0, minor = 0;
    __typeof__(&nvJitLinkVersion) version =
        (__typeof__(&nvJitLinkVersion))function("nvJitLinkVersion", -1);
    EXPECT_EQ(version(&major, &minor), NVJITLINK_SUCCESS);
    EXPECT_EQ(major, 12);
    EXPECT_EQ(minor, 9);
    EXPECT_EQ(version(NULL, &minor), NVJITLINK_ERROR_INVALID_INPUT);
}

TEST(image_runs)
{
    static char image[1 << 14];
    CUdeviceptr p;
    ptx_start();
    MUST(cuMemAlloc(&p, 4));
    for (int minor = -1; minor < MINOR_VERSIONS; minor++) {
        static const char *const arch[] = {"-arch=sm_90"};
        nvJitLinkHandle h = NULL;
        size_t size = 0;
#define IN_MINOR(name) ((__typeof__(&__##name##_13_0))function(#name, minor))
        EXPECT_EQ(IN_MINOR(nvJitLinkCreate)(&h, 1, arch), NVJITLINK_SUCCESS);
        EXPECT_EQ(
            IN_MINOR(nvJitLinkAddData)(h, NVJITLINK_INPUT_PTX, kernel, strlen(kernel), "kernel"),
            NVJITLINK_SUCCESS);
        EXPECT_EQ(IN_MINOR(nvJitLinkComplete)(h), NVJITLINK_SUCCESS);
        EXPECT_EQ(IN_MINOR(nvJitLinkGetLinkedCubinSize)(h, &size), NVJITLINK_SUCCESS);
        EXPECT(size <= sizeof image);
        EXPECT_EQ(IN_MINOR(nvJitLinkGetLinkedCubin)(h, image), NVJITLINK_SUCCESS);
        EXPECT_EQ(IN_MINOR(nvJitLinkDestroy)(&h), NVJITLINK_SUCCESS);
        MUST(cuMemsetD32(p, 0, 1));
        EXPECT_OK(ptx_run(ptx_kernel(ptx_load(image), "k"), 1, 1, (void *[]){&p}));
        EXPECT_EQ(ptx_word(p), 42);
    }
}

// Codes above NVJITLINK_ERROR_UNRECOGNIZED_INPUT are not those of CUDA 12.
TEST(mistakes)
{
    static const struct {
        const char *options[2];
        nvJitLinkResult result;
    } cases[] = {
        {{0}, NVJITLINK_ERROR_MISSING_ARCH},
        {{"-arch=sm_90", "-bogus"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=foo"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_XX"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
        {{"-arch=sm_999"}, NVJITLINK_ERROR_INTERNAL},
        {{"-arch=compute_90"}, NVJITLINK_ERROR_INVALID_INPUT},
        {{"-arch=sm_90", "-ptx"}, NVJITLINK_ERROR_INVALID_INPUT},
        {{"-arch=sm_52"}, NVJITLINK_SUCCESS},
        {{"-arch=sm_101a"}, NVJITLINK_SUCCESS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nvJitLinkHandle h = NULL;
        EXPECT_EQ(create(&h, cases[i].options[0], cases[i].options[1]), cases[i].result);
        if (h)
            EXPECT_EQ(CALL(nvJitLinkDestroy)(&h), NVJITLINK_SUCCESS);
    }
    static const unsigned char lto_ir[64] = {0xed, 0x43, 0x4e, 0x7f};
    nvJitLinkHandle h = NULL;
    EXPECT_EQ(CALL(nvJitLinkDestroy)(&h), NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(CALL(nvJitLinkComplete)(NULL), NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(create(&h, "-arch=sm_90", NULL), NVJITLINK_SUCCESS);
    EXPECT_EQ(CALL(nvJitLinkAddData)(h, NVJITLINK_INPUT_FATBIN, kernel, strlen(kernel), "kernel"),
              NVJITLINK_ERROR_INVALID_INPUT);
    EXPECT_EQ(CALL(nvJitLinkAddData)(h, NVJITLINK_INPUT_ANY, "garbage", 7, "garbage"),
              NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
    EXPECT_EQ(CALL(nvJitLinkAddData)(h, NVJITLINK_INPUT_LTOIR, lto_ir, sizeof lto_ir, "lto"),
              NVJITLINK_ERROR_INTERNAL);
    EXPECT_EQ(CALL(nvJitLinkDestroy)(&h), NVJITLINK_SUCCESS);
}

TESTS(CASE(version_number), CASE(image_runs), CASE(mistakes))
