// SPDX-License-Identifier: MIT
// libnvcuvid.so.1 and libnvidia-encode.so.1 load, and answer as a card without video engines.
#include <dlfcn.h>

#include "../harness.h"

// CUVIDDECODECAPS, of which the program writes the first words.
union caps {
    struct {
        int codec, format;
        unsigned bits, reserved[3];
        uint8_t is_supported, decoders;
        uint16_t formats;
        unsigned width, height;
    } in;
    unsigned char bytes[88];
};

static void *symbol(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW), *found = handle ? dlsym(handle, name) : NULL;
    if (!found)
        printf("# %s\n", dlerror());
    EXPECT(found);
    return found;
}

TEST(no_codec_is_decoded)
{
    CUresult (*get)(union caps *) =
        (CUresult(*)(union caps *))symbol("libnvcuvid.so.1", "cuvidGetDecoderCaps");
    union caps caps;
    memset(&caps, 0xee, sizeof caps);
    caps.in.codec = 4; // H.264
    EXPECT_EQ(get(&caps), CUDA_ERROR_NOT_INITIALIZED);
    MUST(cuInit(0));
    EXPECT_EQ(get(&caps), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(caps.in.is_supported, 0xee);
    test_context();
    EXPECT_EQ(get(NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(&caps), CUDA_SUCCESS);
    EXPECT_EQ(caps.in.is_supported, 0);
    EXPECT_EQ(caps.in.decoders, 0);
    EXPECT_EQ(caps.in.width, 0);
    EXPECT_EQ(caps.in.codec, 4);
    EXPECT_EQ(caps.bytes[87], 0xee); // reserved3 is the program's
}

TEST(no_decoder_or_parser_is_created)
{
    CUresult (*create)(void **, void *) =
        (CUresult(*)(void **, void *))symbol("libnvcuvid.so.1", "cuvidCreateVideoParser");
    void *parser = NULL;
    char parameters[256] = "";
    EXPECT_EQ(create(&parser, parameters), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(create(NULL, parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(!parser);
}

enum { API_13_0 = 13, LIST_VERSION_2 = 7 << 28 | 2 << 16, NEWER_API = 15 };

TEST(no_encoder_opens)
{
    struct list {
        uint32_t version, reserved;
        void (*function[43])(void);
        void *reserved2[275];
    } list = {.version = API_13_0 | LIST_VERSION_2};
    uint32_t version = 0;
    int (*newest)(uint32_t *) =
        (int (*)(uint32_t *))symbol("libnvidia-encode.so.1", "NvEncodeAPIGetMaxSupportedVersion");
    int (*create)(struct list *) =
        (int (*)(struct list *))symbol("libnvidia-encode.so.1", "NvEncodeAPICreateInstance");
    EXPECT_EQ(newest(&version), 0);
    EXPECT_EQ(version, 13 << 4);
    EXPECT_EQ(newest(NULL), 6);
    EXPECT_EQ(create(NULL), 6);
    EXPECT_EQ(create(&list), 0);
    for (int i = 0; i < 43; i++)
        EXPECT(i == 33 ? !list.function[i] : list.function[i] != NULL);
    void *encoder = NULL;
    int (*open_session)(void *, void **) = (int (*)(void *, void **))list.function[29];
    EXPECT_EQ(open_session(&list, &encoder), 2); // NV_ENC_ERR_UNSUPPORTED_DEVICE
    EXPECT(!encoder);
    struct list newer = {.version = NEWER_API | LIST_VERSION_2};
    EXPECT_EQ(create(&newer), 15); // NV_ENC_ERR_INVALID_VERSION
    EXPECT(!newer.function[0]);
}

TESTS(CASE(no_codec_is_decoded), CASE(no_decoder_or_parser_is_created), CASE(no_encoder_opens))
