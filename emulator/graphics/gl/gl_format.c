// SPDX-License-Identifier: MIT
// The sized internal formats of OpenGL, and the rule that says which of them CUDA sees.
#include "gl_format.h"

#include <stddef.h>

#include "gl_api.h"

// X(internal format, base, kind, bits of the channels): the registry's sized formats. Formats with
// fewer bits than a byte in some channel are given with the bits that the specification names.
#define GL_FORMATS(X)                                                                              \
    X(0x8229, R, UNORM, 8, 0, 0, 0)                 /* R8 */                                       \
    X(0x822a, R, UNORM, 16, 0, 0, 0)                /* R16 */                                      \
    X(0x822b, RG, UNORM, 8, 8, 0, 0)                /* RG8 */                                      \
    X(0x822c, RG, UNORM, 16, 16, 0, 0)              /* RG16 */                                     \
    X(0x822d, R, FLOAT, 16, 0, 0, 0)                /* R16F */                                     \
    X(0x822e, R, FLOAT, 32, 0, 0, 0)                /* R32F */                                     \
    X(0x822f, RG, FLOAT, 16, 16, 0, 0)              /* RG16F */                                    \
    X(0x8230, RG, FLOAT, 32, 32, 0, 0)              /* RG32F */                                    \
    X(0x8231, R, SINT, 8, 0, 0, 0)                  /* R8I */                                      \
    X(0x8232, R, UINT, 8, 0, 0, 0)                  /* R8UI */                                     \
    X(0x8233, R, SINT, 16, 0, 0, 0)                 /* R16I */                                     \
    X(0x8234, R, UINT, 16, 0, 0, 0)                 /* R16UI */                                    \
    X(0x8235, R, SINT, 32, 0, 0, 0)                 /* R32I */                                     \
    X(0x8236, R, UINT, 32, 0, 0, 0)                 /* R32UI */                                    \
    X(0x8237, RG, SINT, 8, 8, 0, 0)                 /* RG8I */                                     \
    X(0x8238, RG, UINT, 8, 8, 0, 0)                 /* RG8UI */                                    \
    X(0x8239, RG, SINT, 16, 16, 0, 0)               /* RG16I */                                    \
    X(0x823a, RG, UINT, 16, 16, 0, 0)               /* RG16UI */                                   \
    X(0x823b, RG, SINT, 32, 32, 0, 0)               /* RG32I */                                    \
    X(0x823c, RG, UINT, 32, 32, 0, 0)               /* RG32UI */                                   \
    X(0x2a10, RGB, UNORM, 3, 3, 2, 0)               /* R3_G3_B2 */                                 \
    X(0x804f, RGB, UNORM, 4, 4, 4, 0)               /* RGB4 */                                     \
    X(0x8050, RGB, UNORM, 5, 5, 5, 0)               /* RGB5 */                                     \
    X(0x8051, RGB, UNORM, 8, 8, 8, 0)               /* RGB8 */                                     \
    X(0x8052, RGB, UNORM, 10, 10, 10, 0)            /* RGB10 */                                    \
    X(0x8053, RGB, UNORM, 12, 12, 12, 0)            /* RGB12 */                                    \
    X(0x8054, RGB, UNORM, 16, 16, 16, 0)            /* RGB16 */                                    \
    X(0x8d62, RGB, UNORM, 5, 6, 5, 0)               /* RGB565 */                                   \
    X(0x8055, RGBA, UNORM, 2, 2, 2, 2)              /* RGBA2 */                                    \
    X(0x8056, RGBA, UNORM, 4, 4, 4, 4)              /* RGBA4 */                                    \
    X(0x8057, RGBA, UNORM, 5, 5, 5, 1)              /* RGB5_A1 */                                  \
    X(0x8058, RGBA, UNORM, 8, 8, 8, 8)              /* RGBA8 */                                    \
    X(0x8059, RGBA, UNORM, 10, 10, 10, 2)           /* RGB10_A2 */                                 \
    X(0x805a, RGBA, UNORM, 12, 12, 12, 12)          /* RGBA12 */                                   \
    X(0x805b, RGBA, UNORM, 16, 16, 16, 16)          /* RGBA16 */                                   \
    X(0x93a1, RGBA, OTHER, 8, 8, 8, 8)              /* BGRA8 */                                    \
    X(0x906f, RGBA, UINT, 10, 10, 10, 2)            /* RGB10_A2UI */                               \
    X(0x8c41, RGB, UNORM, 8, 8, 8, 0)               /* SRGB8 */                                    \
    X(0x8c42, RGBA, UNORM, 8, 8, 8, 8)              /* SRGB_ALPHA */                               \
    X(0x8c43, RGBA, UNORM, 8, 8, 8, 8)              /* SRGB8_ALPHA8 */                             \
    X(0x8fbd, R, UNORM, 8, 0, 0, 0)                 /* SR8 */                                      \
    X(0x8814, RGBA, FLOAT, 32, 32, 32, 32)          /* RGBA32F */                                  \
    X(0x8815, RGB, FLOAT, 32, 32, 32, 0)            /* RGB32F */                                   \
    X(0x881a, RGBA, FLOAT, 16, 16, 16, 16)          /* RGBA16F */                                  \
    X(0x881b, RGB, FLOAT, 16, 16, 16, 0)            /* RGB16F */                                   \
    X(0x8c3a, RGB, FLOAT, 11, 11, 10, 0)            /* R11F_G11F_B10F */                           \
    X(0x8c3d, RGB, OTHER, 9, 9, 9, 5)               /* RGB9_E5 */                                  \
    X(0x8d70, RGBA, UINT, 32, 32, 32, 32)           /* RGBA32UI */                                 \
    X(0x8d71, RGB, UINT, 32, 32, 32, 0)             /* RGB32UI */                                  \
    X(0x8d76, RGBA, UINT, 16, 16, 16, 16)           /* RGBA16UI */                                 \
    X(0x8d77, RGB, UINT, 16, 16, 16, 0)             /* RGB16UI */                                  \
    X(0x8d7c, RGBA, UINT, 8, 8, 8, 8)               /* RGBA8UI */                                  \
    X(0x8d7d, RGB, UINT, 8, 8, 8, 0)                /* RGB8UI */                                   \
    X(0x8d82, RGBA, SINT, 32, 32, 32, 32)           /* RGBA32I */                                  \
    X(0x8d83, RGB, SINT, 32, 32, 32, 0)             /* RGB32I */                                   \
    X(0x8d88, RGBA, SINT, 16, 16, 16, 16)           /* RGBA16I */                                  \
    X(0x8d89, RGB, SINT, 16, 16, 16, 0)             /* RGB16I */                                   \
    X(0x8d8e, RGBA, SINT, 8, 8, 8, 8)               /* RGBA8I */                                   \
    X(0x8d8f, RGB, SINT, 8, 8, 8, 0)                /* RGB8I */                                    \
    X(0x8f94, R, SNORM, 8, 0, 0, 0)                 /* R8_SNORM */                                 \
    X(0x8f95, RG, SNORM, 8, 8, 0, 0)                /* RG8_SNORM */                                \
    X(0x8f96, RGB, SNORM, 8, 8, 8, 0)               /* RGB8_SNORM */                               \
    X(0x8f97, RGBA, SNORM, 8, 8, 8, 8)              /* RGBA8_SNORM */                              \
    X(0x8f98, R, SNORM, 16, 0, 0, 0)                /* R16_SNORM */                                \
    X(0x8f99, RG, SNORM, 16, 16, 0, 0)              /* RG16_SNORM */                               \
    X(0x8f9a, RGB, SNORM, 16, 16, 16, 0)            /* RGB16_SNORM */                              \
    X(0x8f9b, RGBA, SNORM, 16, 16, 16, 16)          /* RGBA16_SNORM */                             \
    X(0x8d48, STENCIL, UINT, 8, 0, 0, 0)            /* STENCIL_INDEX8 */                           \
    X(0x803b, ALPHA, UNORM, 4, 0, 0, 0)             /* ALPHA4 */                                   \
    X(0x803c, ALPHA, UNORM, 8, 0, 0, 0)             /* ALPHA8 */                                   \
    X(0x803e, ALPHA, UNORM, 16, 0, 0, 0)            /* ALPHA16 */                                  \
    X(0x803f, LUMINANCE, UNORM, 4, 0, 0, 0)         /* LUMINANCE4 */                               \
    X(0x8040, LUMINANCE, UNORM, 8, 0, 0, 0)         /* LUMINANCE8 */                               \
    X(0x8042, LUMINANCE, UNORM, 16, 0, 0, 0)        /* LUMINANCE16 */                              \
    X(0x8043, LUMINANCE_ALPHA, UNORM, 4, 4, 0, 0)   /* LUMINANCE4_ALPHA4 */                        \
    X(0x8045, LUMINANCE_ALPHA, UNORM, 8, 8, 0, 0)   /* LUMINANCE8_ALPHA8 */                        \
    X(0x8048, LUMINANCE_ALPHA, UNORM, 16, 16, 0, 0) /* LUMINANCE16_ALPHA16 */                      \
    X(0x804a, INTENSITY, UNORM, 4, 0, 0, 0)         /* INTENSITY4 */                               \
    X(0x804b, INTENSITY, UNORM, 8, 0, 0, 0)         /* INTENSITY8 */                               \
    X(0x804d, INTENSITY, UNORM, 16, 0, 0, 0)        /* INTENSITY16 */                              \
    X(0x8c45, LUMINANCE_ALPHA, UNORM, 8, 8, 0, 0)   /* SLUMINANCE8_ALPHA8 */                       \
    X(0x8c47, LUMINANCE, UNORM, 8, 0, 0, 0)         /* SLUMINANCE8 */                              \
    X(0x8816, ALPHA, FLOAT, 32, 0, 0, 0)            /* ALPHA32F */                                 \
    X(0x8818, LUMINANCE, FLOAT, 32, 0, 0, 0)        /* LUMINANCE32F */                             \
    X(0x8819, LUMINANCE_ALPHA, FLOAT, 32, 32, 0, 0) /* LUMINANCE_ALPHA32F */                       \
    X(0x881c, ALPHA, FLOAT, 16, 0, 0, 0)            /* ALPHA16F */                                 \
    X(0x881e, LUMINANCE, FLOAT, 16, 0, 0, 0)        /* LUMINANCE16F */                             \
    X(0x881f, LUMINANCE_ALPHA, FLOAT, 16, 16, 0, 0) /* LUMINANCE_ALPHA16F */                       \
    X(0x8044, LUMINANCE_ALPHA, UNORM, 6, 2, 0, 0)   /* LUMINANCE6_ALPHA2 */                        \
    X(0x803d, ALPHA, UNORM, 12, 0, 0, 0)            /* ALPHA12 */                                  \
    X(0x8041, LUMINANCE, UNORM, 12, 0, 0, 0)        /* LUMINANCE12 */                              \
    X(0x8046, LUMINANCE_ALPHA, UNORM, 12, 4, 0, 0)  /* LUMINANCE12_ALPHA4 */                       \
    X(0x8047, LUMINANCE_ALPHA, UNORM, 12, 12, 0, 0) /* LUMINANCE12_ALPHA12 */                      \
    X(0x804c, INTENSITY, UNORM, 12, 0, 0, 0)        /* INTENSITY12 */                              \
    X(0x8817, INTENSITY, FLOAT, 32, 0, 0, 0)        /* INTENSITY32F */                             \
    X(0x881d, INTENSITY, FLOAT, 16, 0, 0, 0)        /* INTENSITY16F */                             \
    X(0x8d72, ALPHA, UINT, 32, 0, 0, 0)             /* ALPHA32UI */                                \
    X(0x8d73, INTENSITY, UINT, 32, 0, 0, 0)         /* INTENSITY32UI */                            \
    X(0x8d74, LUMINANCE, UINT, 32, 0, 0, 0)         /* LUMINANCE32UI */                            \
    X(0x8d75, LUMINANCE_ALPHA, UINT, 32, 32, 0, 0)  /* LUMINANCE_ALPHA32UI */                      \
    X(0x8d78, ALPHA, UINT, 16, 0, 0, 0)             /* ALPHA16UI */                                \
    X(0x8d79, INTENSITY, UINT, 16, 0, 0, 0)         /* INTENSITY16UI */                            \
    X(0x8d7a, LUMINANCE, UINT, 16, 0, 0, 0)         /* LUMINANCE16UI */                            \
    X(0x8d7b, LUMINANCE_ALPHA, UINT, 16, 16, 0, 0)  /* LUMINANCE_ALPHA16UI */                      \
    X(0x8d7e, ALPHA, UINT, 8, 0, 0, 0)              /* ALPHA8UI */                                 \
    X(0x8d7f, INTENSITY, UINT, 8, 0, 0, 0)          /* INTENSITY8UI */                             \
    X(0x8d80, LUMINANCE, UINT, 8, 0, 0, 0)          /* LUMINANCE8UI */                             \
    X(0x8d81, LUMINANCE_ALPHA, UINT, 8, 8, 0, 0)    /* LUMINANCE_ALPHA8UI */                       \
    X(0x8d84, ALPHA, SINT, 32, 0, 0, 0)             /* ALPHA32I */                                 \
    X(0x8d85, INTENSITY, SINT, 32, 0, 0, 0)         /* INTENSITY32I */                             \
    X(0x8d86, LUMINANCE, SINT, 32, 0, 0, 0)         /* LUMINANCE32I */                             \
    X(0x8d87, LUMINANCE_ALPHA, SINT, 32, 32, 0, 0)  /* LUMINANCE_ALPHA32I */                       \
    X(0x8d8a, ALPHA, SINT, 16, 0, 0, 0)             /* ALPHA16I */                                 \
    X(0x8d8b, INTENSITY, SINT, 16, 0, 0, 0)         /* INTENSITY16I */                             \
    X(0x8d8c, LUMINANCE, SINT, 16, 0, 0, 0)         /* LUMINANCE16I */                             \
    X(0x8d8d, LUMINANCE_ALPHA, SINT, 16, 16, 0, 0)  /* LUMINANCE_ALPHA16I */                       \
    X(0x8d90, ALPHA, SINT, 8, 0, 0, 0)              /* ALPHA8I */                                  \
    X(0x8d91, INTENSITY, SINT, 8, 0, 0, 0)          /* INTENSITY8I */                              \
    X(0x8d92, LUMINANCE, SINT, 8, 0, 0, 0)          /* LUMINANCE8I */                              \
    X(0x8d93, LUMINANCE_ALPHA, SINT, 8, 8, 0, 0)    /* LUMINANCE_ALPHA8I */

static const struct gl_format formats[] = {
#define X(number, base, kind, ...) {number, GL_BASE_##base, GL_KIND_##kind, {__VA_ARGS__}},
    GL_FORMATS(X)
#undef X
};

const struct gl_format *em_gl_format(uint32_t number)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].number == number)
            return &formats[i];
    return NULL;
}

static const struct {
    uint8_t channels;
    uint32_t format, integer_format;
} bases[] = {
    [GL_BASE_R] = {1, GL_RED, GL_RED_INTEGER},
    [GL_BASE_RG] = {2, GL_RG, GL_RG_INTEGER},
    [GL_BASE_RGB] = {4, GL_RGBA, GL_RGBA_INTEGER}, // three channels take as many bytes as four
    [GL_BASE_RGBA] = {4, GL_RGBA, GL_RGBA_INTEGER},
    [GL_BASE_ALPHA] = {1, GL_ALPHA, GL_ALPHA_INTEGER},
    [GL_BASE_LUMINANCE] = {1, GL_RED, GL_LUMINANCE_INTEGER},
    [GL_BASE_LUMINANCE_ALPHA] = {2, GL_LUMINANCE_ALPHA, GL_LUMINANCE_ALPHA_INTEGER},
    [GL_BASE_INTENSITY] = {1, GL_RED, GL_RED_INTEGER},
    [GL_BASE_STENCIL] = {1, 0, GL_STENCIL_INDEX},
};

// The bits of a channel as the card stores them, or 0 if the channels differ or do not take whole
// bytes. The card packs red, green and blue of fewer than eight bits (565, 5551) and of ten bits
// (1010102). If alpha has as many bits as they have, and in formats of one or two channels, each
// channel takes whole bytes: 2, 4 and 6 bits take eight, 12 bits take sixteen. The card stores
// three half floats in another way.
static unsigned format_stored_bits(const struct gl_format *f)
{
    unsigned most = 0;
    bool alike = true;
    for (unsigned i = 0; i < 4; i++) {
        if (f->bits[i] && most && f->bits[i] != f->bits[0])
            alike = false;
        most = f->bits[i] > most ? f->bits[i] : most;
    }
    bool colours = f->base == GL_BASE_RGB || f->base == GL_BASE_RGBA;
    if (colours &&
        (!alike || most == 10 ||
         (f->base == GL_BASE_RGB && (most < 8 || (f->kind == GL_KIND_FLOAT && most == 16)))))
        return 0;
    return most <= 8 ? 8 : most <= 16 ? 16 : 32;
}

// An image registers if its channels are alike and take whole bytes. Signed normalised formats have
// no CUDA format (recorded: x_graphics image/format-*).
bool em_gl_format_transfer(const struct gl_format *f, struct gl_transfer *out)
{
    static const struct {
        CUarray_format format[3]; // of 8, 16 and 32 bits; 0 if there is no such format
        uint32_t type[3];
    } kinds[] = {
        [GL_KIND_UNORM] = {{CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16},
                           {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT}},
        [GL_KIND_FLOAT] = {{0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
                           {0, GL_HALF_FLOAT, GL_FLOAT}},
        [GL_KIND_UINT] = {{CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                           CU_AD_FORMAT_UNSIGNED_INT32},
                          {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT, GL_UNSIGNED_INT}},
        [GL_KIND_SINT] = {{CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
                           CU_AD_FORMAT_SIGNED_INT32},
                          {GL_BYTE, GL_SHORT, GL_INT}},
        [GL_KIND_OTHER] = {{0}, {0}},
    };
    unsigned bits = format_stored_bits(f), size = bits / 16; // 8, 16, 32: 0, 1, 2
    if (f->kind >= GL_KIND_DEPTH || !bits || !kinds[f->kind].format[size])
        return false;
    bool integer = f->kind == GL_KIND_UINT || f->kind == GL_KIND_SINT;
    out->format = integer ? bases[f->base].integer_format : bases[f->base].format;
    out->type = kinds[f->kind].type[size];
    out->array_format = kinds[f->kind].format[size];
    out->channels = bases[f->base].channels;
    out->element_B = out->channels * bits / 8;
    return true;
}

bool em_gl_format_is_srgb(uint32_t number)
{
    enum {
        SRGB = 0x8c40,
        SRGB8,
        SRGB_ALPHA,
        SRGB8_ALPHA8,
        SLUMINANCE_ALPHA,
        SLUMINANCE8_ALPHA8,
        SLUMINANCE,
        SLUMINANCE8,
        SR8 = 0x8fbd
    };
    return (number >= SRGB && number <= SLUMINANCE8) || number == SR8;
}
