// SPDX-License-Identifier: MIT
// Formats of OpenGL textures and renderbuffers: whether each one registers, the array that CUDA
// gets, and its bytes in both directions.
#include "context.h"

enum { W = 40, H = 24, ROOM = W * H * 16 };

static uint8_t want[ROOM], got[ROOM], parts[ROOM];

struct format {
    GLenum internal, format, type;
    CUarray_format array;
    unsigned channels, element_B;
};

#define U8 CU_AD_FORMAT_UNSIGNED_INT8
#define U16 CU_AD_FORMAT_UNSIGNED_INT16
#define U32 CU_AD_FORMAT_UNSIGNED_INT32
#define S8 CU_AD_FORMAT_SIGNED_INT8
#define S16 CU_AD_FORMAT_SIGNED_INT16
#define S32 CU_AD_FORMAT_SIGNED_INT32

static const struct format formats[] = {
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE, U8, 1, 1},
    {GL_RG8, GL_RG, GL_UNSIGNED_BYTE, U8, 2, 2},
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, U8, 4, 4},
    {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, U8, 4, 4},
    {GL_R16, GL_RED, GL_UNSIGNED_SHORT, U16, 1, 2},
    {GL_RG16, GL_RG, GL_UNSIGNED_SHORT, U16, 2, 4},
    {GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, U16, 4, 8},
    {GL_R16F, GL_RED, GL_HALF_FLOAT, CU_AD_FORMAT_HALF, 1, 2},
    {GL_RG16F, GL_RG, GL_HALF_FLOAT, CU_AD_FORMAT_HALF, 2, 4},
    {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, CU_AD_FORMAT_HALF, 4, 8},
    {GL_R32F, GL_RED, GL_FLOAT, CU_AD_FORMAT_FLOAT, 1, 4},
    {GL_RG32F, GL_RG, GL_FLOAT, CU_AD_FORMAT_FLOAT, 2, 8},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, CU_AD_FORMAT_FLOAT, 4, 16},
    {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, U8, 1, 1},
    {GL_R8I, GL_RED_INTEGER, GL_BYTE, S8, 1, 1},
    {GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, U16, 2, 4},
    {GL_RGBA16I, GL_RGBA_INTEGER, GL_SHORT, S16, 4, 8},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, U32, 1, 4},
    {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, S32, 4, 16},
};

// Avoids NaNs, because a float conversion may turn a signalling NaN into a quiet one.
static void fill(const struct format *f, uint8_t *bytes, size_t size, unsigned seed)
{
    pattern(bytes, size, seed);
    for (size_t i = 0; f->array == CU_AD_FORMAT_FLOAT && i < size / 4; i++)
        ((float *)(void *)bytes)[i] = (float)i * 0.25f - (float)seed;
    for (size_t i = 0; f->array == CU_AD_FORMAT_HALF && i < size / 2; i++)
        ((uint16_t *)(void *)bytes)[i] = (uint16_t)(0x3c00 + (i * 5 + seed) % 1000);
}

static void check_format(const struct format *f)
{
    size_t size = (size_t)W * H * f->element_B;
    GLuint t = gl_texture_2d(f->internal, 1, W, H);
    fill(f, want, size, 3);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, f->format, f->type, want);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_expect_desc(a, W, H, 0, f->array, f->channels, 0);
    cu_read_array(a, (size_t)W * f->element_B, H, got);
    EXPECT(!memcmp(got, want, size));
    if (memcmp(got, want, size))
        printf("# of format %#x\n", f->internal);
    // Writes a part of it. The rest should not change.
    fill(f, parts, size, 60);
    cu_write_array(a, (size_t)5 * f->element_B, 3, (size_t)20 * f->element_B, 10, parts);
    for (size_t y = 0; y < 10; y++)
        memcpy(want + ((y + 3) * W + 5) * f->element_B, parts + y * 20 * f->element_B,
               (size_t)20 * f->element_B);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    memset(got, 0, size);
    glGetTexImage(GL_TEXTURE_2D, 0, f->format, f->type, got);
    EXPECT(!memcmp(got, want, size));
    if (memcmp(got, want, size))
        printf("# of format %#x, back\n", f->internal);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    glDeleteTextures(1, &t);
}

TEST(formats)
{
    gl_start(GL_CORE);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        check_format(&formats[i]);
    EXPECT_NO_DIAGNOSTIC();
}

// Three channels take the space of four, and four-bit channels that of eight-bit ones.
TEST(formats_widened)
{
    gl_start(GL_CORE);
    static const struct {
        GLenum internal;
        CUarray_format array;
    } rows[] = {
        {GL_RGB8, U8},   {GL_SRGB8, U8},    {GL_RGBA4, U8},   {GL_RGBA2, U8},
        {GL_RGB16, U16}, {GL_RGB12, U16},   {GL_RGBA12, U16}, {GL_RGB32F, CU_AD_FORMAT_FLOAT},
        {GL_RGB8UI, U8}, {GL_RGB16UI, U16}, {GL_RGB32I, S32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUgraphicsResource r = cu_image(gl_texture_2d(rows[i].internal, 1, W, H), GL_TEXTURE_2D, 0);
        cu_expect_desc(cu_map_array(r, 0, 0), W, H, 0, rows[i].array, 4, 0);
    }
    GLuint t = gl_texture_2d(GL_RGB8, 1, W, H);
    pattern(want, W * H * 3, 3);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGB, GL_UNSIGNED_BYTE, want);
    cu_read_array(cu_map_array(cu_image(t, GL_TEXTURE_2D, 0), 0, 0), W * 4, H, got);
    EXPECT(!memcmp(got + 4, want + 3, 3));
    EXPECT(!memcmp(got + 4 * (W * H - 1), want + 3 * (W * H - 1), 3));
}

TEST(formats_refused)
{
    gl_start(GL_CORE);
    static const GLenum rows[] = {GL_DEPTH_COMPONENT16,
                                  GL_DEPTH_COMPONENT24,
                                  GL_DEPTH24_STENCIL8,
                                  GL_RGB10_A2,
                                  GL_RGB10_A2UI,
                                  GL_R11F_G11F_B10F,
                                  GL_RGB9_E5,
                                  GL_RGBA8_SNORM,
                                  GL_R16_SNORM,
                                  GL_RGB565,
                                  GL_RGB5_A1,
                                  GL_RGB4,
                                  GL_RGB5,
                                  GL_RGB10,
                                  GL_R3_G3_B2,
                                  GL_RGB16F,
                                  GL_COMPRESSED_RED_RGTC1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUgraphicsResource r;
        EXPECT_ERROR(
            cuGraphicsGLRegisterImage(&r, gl_texture_2d(rows[i], 1, 32, 24), GL_TEXTURE_2D, 0),
            CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// Unsized formats, and formats of the compatibility profile.
TEST(formats_unsized)
{
    gl_start(GL_COMPATIBILITY);
    static const struct {
        GLenum internal, format;
        CUarray_format array;
        unsigned channels;
    } rows[] = {{GL_RGBA, GL_RGBA, U8, 4},
                {GL_RGB, GL_RGB, U8, 4},
                {GL_RED, GL_RED, U8, 1},
                {GL_RG, GL_RG, U8, 2},
                {4, GL_RGBA, U8, 4},
                {GL_ALPHA, GL_ALPHA, U8, 1},
                {GL_LUMINANCE, GL_LUMINANCE, U8, 1},
                {GL_ALPHA8, GL_ALPHA, U8, 1},
                {GL_LUMINANCE8, GL_LUMINANCE, U8, 1},
                {GL_LUMINANCE8_ALPHA8, GL_LUMINANCE_ALPHA, U8, 2},
                {GL_INTENSITY8, GL_LUMINANCE, U8, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        pattern(want, 32 * 16 * 4, (unsigned)i);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)rows[i].internal, 32, 16, 0, rows[i].format,
                     GL_UNSIGNED_BYTE, want);
        if (glGetError())
            continue;
        CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
        CUarray a = cu_map_array(r, 0, 0);
        cu_expect_desc(a, 32, 16, 0, rows[i].array, rows[i].channels, 0);
        if (rows[i].internal != GL_RGB) {
            cu_read_array(a, 32 * rows[i].channels, 16, got);
            EXPECT(!memcmp(got, want, (size_t)32 * 16 * rows[i].channels));
        }
        cu_write_array(a, 0, 0, 32 * rows[i].channels, 16, want + 7);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glGetTexImage(GL_TEXTURE_2D, 0, rows[i].format, GL_UNSIGNED_BYTE, got);
        EXPECT_EQ(got[1], want[8]);
        if (got[1] != want[8])
            printf("# of format %#x\n", rows[i].internal);
    }
}

// ---- renderbuffers

TEST(renderbuffer)
{
    gl_start(GL_CORE);
    static const struct format *rows[] = {&formats[0], &formats[2],  &formats[3],
                                          &formats[9], &formats[12], &formats[18]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct format *f = rows[i];
        size_t size = (size_t)W * H * f->element_B;
        GLuint rb = gl_renderbuffer(f->internal, W, H);
        gl_framebuffer(0, rb);
        CUgraphicsResource r =
            cu_image(rb, GL_RENDERBUFFER, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
        CUarray a = cu_map_array(r, 0, 0);
        cu_expect_desc(a, W, H, 0, f->array, f->channels, CUDA_ARRAY3D_SURFACE_LDST);
        fill(f, want, size, 4);
        cu_write_array(a, 0, 0, (size_t)W * f->element_B, H, want);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        memset(got, 0, size);
        glReadPixels(0, 0, W, H, f->format, f->type, got);
        EXPECT_EQ(glGetError(), GL_NO_ERROR);
        EXPECT(!memcmp(got, want, size));
        if (memcmp(got, want, size))
            printf("# of renderbuffer %#x\n", f->internal);
        a = cu_map_array(r, 0, 0);
        memset(got, 0, size);
        cu_read_array(a, (size_t)W * f->element_B, H, got);
        EXPECT(!memcmp(got, want, size));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_OK(cuGraphicsUnregisterResource(r));
    }
}

TESTS(CASE(formats), CASE(formats_widened), CASE(formats_refused), CASE(formats_unsized),
      CASE(renderbuffer))
