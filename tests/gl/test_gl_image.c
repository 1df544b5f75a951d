// SPDX-License-Identifier: MIT
// Textures and renderbuffers of OpenGL: what registers and as what array, and the bytes of every kind, both ways.
#include "context.h"

enum { W = 40, H = 24, ROOM = 64 * 64 * 16 * 6 };

static uint8_t want[ROOM], got[ROOM], parts[ROOM];

static void expect_desc(CUarray a, size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    EXPECT_OK(cuArray3DGetDescriptor(&d, a));
    EXPECT_EQ(d.Width, width);
    EXPECT_EQ(d.Height, height);
    EXPECT_EQ(d.Depth, depth);
    EXPECT_EQ(d.Format, format);
    EXPECT_EQ(d.NumChannels, channels);
    EXPECT_EQ(d.Flags, flags);
}

// ---- formats

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

// No bytes that are no number: those of floats may be made quiet on the way.
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
    expect_desc(a, W, H, 0, f->array, f->channels, 0);
    cu_read_array(a, (size_t)W * f->element_B, H, got);
    EXPECT(!memcmp(got, want, size));
    if (memcmp(got, want, size))
        printf("# of format %#x\n", f->internal);
    // A part of it goes back; the rest is as it was.
    fill(f, parts, size, 60);
    cu_write_array(a, (size_t)5 * f->element_B, 3, (size_t)20 * f->element_B, 10, parts);
    for (size_t y = 0; y < 10; y++)
        memcpy(want + ((y + 3) * W + 5) * f->element_B, parts + y * 20 * f->element_B, (size_t)20 * f->element_B);
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

// Three channels take the room of four, four bits that of eight.
TEST(formats_widened)
{
    gl_start(GL_CORE);
    static const struct {
        GLenum internal;
        CUarray_format array;
    } rows[] = {{GL_RGB8, U8},   {GL_SRGB8, U8},    {GL_RGBA4, U8},   {GL_RGBA2, U8},
                {GL_RGB16, U16}, {GL_RGB12, U16},   {GL_RGBA12, U16}, {GL_RGB32F, CU_AD_FORMAT_FLOAT},
                {GL_RGB8UI, U8}, {GL_RGB16UI, U16}, {GL_RGB32I, S32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUgraphicsResource r = cu_image(gl_texture_2d(rows[i].internal, 1, W, H), GL_TEXTURE_2D, 0);
        expect_desc(cu_map_array(r, 0, 0), W, H, 0, rows[i].array, 4, 0);
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
        EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, gl_texture_2d(rows[i], 1, 32, 24), GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// Formats without a size of their own, and of the compatibility profile.
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
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)rows[i].internal, 32, 16, 0, rows[i].format, GL_UNSIGNED_BYTE, want);
        if (glGetError())
            continue;
        CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
        CUarray a = cu_map_array(r, 0, 0);
        expect_desc(a, 32, 16, 0, rows[i].array, rows[i].channels, 0);
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

// ---- targets

struct target {
    GLenum target;
    int width, height, depth, levels;
};

static GLuint make(const struct target *t)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(t->target, texture);
    if (t->target == GL_TEXTURE_3D || t->target == GL_TEXTURE_2D_ARRAY || t->target == GL_TEXTURE_CUBE_MAP_ARRAY)
        glTexStorage3D(t->target, t->levels, GL_RGBA8, t->width, t->height, t->depth);
    else if (t->target == GL_TEXTURE_1D)
        glTexStorage1D(t->target, t->levels, GL_RGBA8, t->width);
    else
        glTexStorage2D(t->target, t->levels, GL_RGBA8, t->width, t->height);
    return texture;
}

static void gl_put(const struct target *t, int level, const void *bytes)
{
    int w = t->width >> level, h = t->height >> level, d = t->target == GL_TEXTURE_3D ? t->depth >> level : t->depth;
    if (t->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < 6; face++)
            glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, 0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE,
                            (const uint8_t *)bytes + face * w * h * 4);
    else if (t->target == GL_TEXTURE_3D || t->target == GL_TEXTURE_2D_ARRAY)
        glTexSubImage3D(t->target, level, 0, 0, 0, w, h, d, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    else
        glTexSubImage2D(t->target, level, 0, 0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

static void gl_get(const struct target *t, int level, void *bytes)
{
    int w = t->width >> level, h = t->height >> level;
    if (t->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < 6; face++)
            glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, GL_RGBA, GL_UNSIGNED_BYTE, (uint8_t *)bytes + face * w * h * 4);
    else
        glGetTexImage(t->target, level, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

// Every level; every layer and face through an array of its own, slices of a 3D texture through one.
static void check_target(const struct target *t)
{
    GLuint texture = make(t);
    CUgraphicsResource r = cu_image(texture, t->target, 0);
    bool stacked = t->target == GL_TEXTURE_2D_ARRAY || t->target == GL_TEXTURE_CUBE_MAP;
    for (int level = 0; level < t->levels; level++) {
        int w = t->width >> level, h = t->height >> level, d = t->target == GL_TEXTURE_3D ? t->depth >> level : t->depth;
        size_t slice = (size_t)w * (size_t)h * 4, size = slice * (size_t)d;
        pattern(want, size, (unsigned)level);
        glBindTexture(t->target, texture);
        gl_put(t, level, want);
        EXPECT_EQ(glGetError(), GL_NO_ERROR);
        MUST(cuGraphicsMapResources(1, &r, 0));
        for (int z = 0; z < (stacked ? d : 1); z++) {
            CUarray a;
            MUST(cuGraphicsSubResourceGetMappedArray(&a, r, (unsigned)z, (unsigned)level));
            expect_desc(a, (size_t)w, (size_t)h, t->target == GL_TEXTURE_3D ? (size_t)d : 0, U8, 4, 0);
            CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                               .srcArray = a,
                               .dstMemoryType = CU_MEMORYTYPE_HOST,
                               .dstHost = got + (size_t)z * slice,
                               .dstPitch = (size_t)w * 4,
                               .dstHeight = (size_t)h,
                               .WidthInBytes = (size_t)w * 4,
                               .Height = (size_t)h,
                               .Depth = stacked ? 1 : (size_t)d};
            EXPECT_OK(cuMemcpy3D(&c));
        }
        EXPECT(!memcmp(got, want, size));
        // The last slice is written.
        pattern(parts, slice, 99);
        CUarray a;
        MUST(cuGraphicsSubResourceGetMappedArray(&a, r, stacked ? (unsigned)d - 1 : 0, (unsigned)level));
        CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = parts,
                           .srcPitch = (size_t)w * 4,
                           .srcHeight = (size_t)h,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = a,
                           .dstZ = stacked ? 0 : (size_t)d - 1,
                           .WidthInBytes = (size_t)w * 4,
                           .Height = (size_t)h,
                           .Depth = 1};
        EXPECT_OK(cuMemcpy3D(&c));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        memcpy(want + size - slice, parts, slice);
        memset(got, 0, size);
        gl_get(t, level, got);
        EXPECT(!memcmp(got, want, size));
        if (memcmp(got, want, size))
            printf("# of target %#x, level %d\n", t->target, level);
    }
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(targets)
{
    gl_start(GL_CORE);
    static const struct target rows[] = {{GL_TEXTURE_2D, 32, 16, 1, 3},       {GL_TEXTURE_2D, 40, 24, 1, 1},
                                         {GL_TEXTURE_3D, 32, 16, 8, 3},       {GL_TEXTURE_2D_ARRAY, 24, 16, 5, 2},
                                         {GL_TEXTURE_CUBE_MAP, 16, 16, 6, 3}, {GL_TEXTURE_RECTANGLE, 30, 20, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_target(&rows[i]);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(targets_refused)
{
    gl_start(GL_CORE);
    static const struct target rows[] = {
        {GL_TEXTURE_1D, 32, 1, 1, 1}, {GL_TEXTURE_1D_ARRAY, 32, 5, 1, 1}, {GL_TEXTURE_CUBE_MAP_ARRAY, 32, 32, 12, 1}};
    CUgraphicsResource r;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&rows[i]), rows[i].target, 0), CUDA_ERROR_INVALID_VALUE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, 16, 16), no_storage, unborn, ms, rb;
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, 0x1234, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_CUBE_MAP_POSITIVE_X, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_RENDERBUFFER, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, 0, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, 12345, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(NULL, t, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    glGenTextures(1, &no_storage);
    glBindTexture(GL_TEXTURE_2D, no_storage);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, no_storage, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    glGenTextures(1, &unborn);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, unborn, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_HANDLE);
    glGenTextures(1, &ms);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, ms);
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 16, 16, 1);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, ms, GL_TEXTURE_2D_MULTISAMPLE, 0), CUDA_ERROR_INVALID_VALUE);
    glGenRenderbuffers(1, &rb);
    glBindRenderbuffer(GL_RENDERBUFFER, rb);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, 16, 16);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, rb, GL_RENDERBUFFER, 0), CUDA_ERROR_INVALID_VALUE);
    // Texture gather is for arrays of two dimensions.
    static const struct target layered = {GL_TEXTURE_2D_ARRAY, 8, 8, 3, 1}, solid = {GL_TEXTURE_3D, 8, 8, 3, 1},
                               cube = {GL_TEXTURE_CUBE_MAP, 8, 8, 6, 1};
    unsigned gather = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&layered), GL_TEXTURE_2D_ARRAY, gather), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&solid), GL_TEXTURE_3D, gather), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphicsGLRegisterImage(&r, make(&cube), GL_TEXTURE_CUBE_MAP, gather));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, 0x1234, 0), CUDA_ERROR_INVALID_VALUE);
}

// The array has the shape that the target given says, whatever the texture's own is.
TEST(other_target)
{
    gl_start(GL_CORE);
    static const struct target cube = {GL_TEXTURE_CUBE_MAP, 8, 8, 6, 1}, line = {GL_TEXTURE_1D, 8, 1, 1, 1};
    expect_desc(cu_map_array(cu_image(gl_texture_2d(GL_RGBA8, 1, 8, 8), GL_TEXTURE_3D, 0), 0, 0), 8, 8, 1, U8, 4, 0);
    expect_desc(cu_map_array(cu_image(make(&cube), GL_TEXTURE_2D, 0), 0, 0), 8, 8, 0, U8, 4, 0);
    expect_desc(cu_map_array(cu_image(make(&line), GL_TEXTURE_2D, 0), 0, 0), 8, 1, 0, U8, 4, 0);
}

TEST(renderbuffer)
{
    gl_start(GL_CORE);
    static const struct format *rows[] = {&formats[0], &formats[2], &formats[3], &formats[9], &formats[12], &formats[18]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct format *f = rows[i];
        GLuint rb, fb;
        size_t size = (size_t)W * H * f->element_B;
        glGenRenderbuffers(1, &rb);
        glBindRenderbuffer(GL_RENDERBUFFER, rb);
        glRenderbufferStorage(GL_RENDERBUFFER, f->internal, W, H);
        glGenFramebuffers(1, &fb);
        glBindFramebuffer(GL_FRAMEBUFFER, fb);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, rb);
        CUgraphicsResource r = cu_image(rb, GL_RENDERBUFFER, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
        CUarray a = cu_map_array(r, 0, 0);
        expect_desc(a, W, H, 0, f->array, f->channels, CUDA_ARRAY3D_SURFACE_LDST);
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

// More than one level registers as the whole chain.
TEST(levels)
{
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_image(gl_texture_2d(GL_RGBA8, 3, 64, 16), GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CUmipmappedArray m;
    CUarray a, b;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedMipmappedArray(&m, r));
    EXPECT_OK(cuMipmappedArrayGetLevel(&a, m, 6));
    expect_desc(a, 1, 1, 0, U8, 4, CUDA_ARRAY3D_SURFACE_LDST);
    EXPECT_ERROR(cuMipmappedArrayGetLevel(&a, m, 7), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 5));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&b, r, 0, 7), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&b, r, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cu_write_array(a, 0, 0, 8, 1, "12345678"); // a level that the texture does not have
    cu_read_array(a, 8, 1, got);
    EXPECT(!memcmp(got, "12345678", 8));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

static void flags_of_data(unsigned flags, bool reaches)
{
    GLuint t = gl_texture_2d(GL_RGBA8, 1, W, H);
    pattern(want, W * H * 4, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, flags);
    CUarray a = cu_map_array(r, 0, 0);
    memset(parts, 0xee, sizeof parts);
    cu_write_array(a, 20, 3, 80, 10, parts);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    for (size_t y = 3; reaches && y < 13; y++)
        memset(want + y * W * 4 + 20, 0xee, 80);
    glBindTexture(GL_TEXTURE_2D, t);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, W * H * 4));
}

TEST(map_flags)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    flags_of_data(CU_GRAPHICS_REGISTER_FLAGS_NONE, true);
    flags_of_data(CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, false);
    flags_of_data(CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD, true);
}

TEST(deleted)
{
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, W, H), rb;
    pattern(want, W * H * 4, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &t);
    gl_texture_2d(GL_RGBA8, 1, 8, 8); // most likely of the same name
    cu_read_array(cu_map_array(r, 0, 0), W * 4, H, got);
    EXPECT(!memcmp(got, want, W * H * 4));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    glGenRenderbuffers(1, &rb);
    glBindRenderbuffer(GL_RENDERBUFFER, rb);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, W, H);
    r = cu_image(rb, GL_RENDERBUFFER, 0);
    cu_write_array(cu_map_array(r, 0, 0), 0, 0, W * 4, H, want);
    glDeleteRenderbuffers(1, &rb);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    memset(got, 0, sizeof got);
    cu_read_array(cu_map_array(r, 0, 0), W * 4, H, got);
    EXPECT(!memcmp(got, want, W * H * 4));
}

TEST(resized)
{
    gl_start(GL_CORE);
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    memset(want, 50, sizeof want);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUarray a = cu_map_array(r, 0, 0);
    expect_desc(a, 16, 16, 0, U8, 4, 0);
    cu_read_array(a, 64, 16, got);
    EXPECT_EQ(got[64 * 7 + 63], 50);
    memset(parts, 60, sizeof parts);
    cu_write_array(a, 0, 0, 64, 16, parts);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT_EQ(got[63], 60);
    EXPECT_EQ(got[64], 50);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// More textures than can be held in texture units.
TEST(many)
{
    enum { COUNT = 300 };
    static CUgraphicsResource r[COUNT];
    static GLuint t[COUNT];
    gl_start(GL_CORE);
    for (unsigned i = 0; i < COUNT; i++) {
        t[i] = gl_texture_2d(GL_R8, 1, 4, 4);
        r[i] = cu_image(t[i], GL_TEXTURE_2D, 0);
    }
    MUST(cuGraphicsMapResources(COUNT, r, 0));
    for (unsigned i = 0; i < COUNT; i++) {
        CUarray a;
        MUST(cuGraphicsSubResourceGetMappedArray(&a, r[i], 0, 0));
        memset(parts, (int)i + 1, 16);
        cu_write_array(a, 0, 0, 4, 4, parts);
    }
    MUST(cuGraphicsUnmapResources(COUNT, r, 0));
    for (unsigned i = 0; i < COUNT; i++) {
        glBindTexture(GL_TEXTURE_2D, t[i]);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_UNSIGNED_BYTE, got);
        EXPECT_EQ(got[15], (uint8_t)(i + 1));
        EXPECT_OK(cuGraphicsUnregisterResource(r[i]));
    }
}

TEST(es)
{
    gl_start(GL_ES);
    GLuint t = gl_texture_2d(GL_RGBA8, 2, 16, 16), fb;
    pattern(want, 16 * 16 * 4, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, 64, 16, got);
    EXPECT(!memcmp(got, want, 16 * 16 * 4));
    pattern(want, 16 * 16 * 4, 70);
    cu_write_array(a, 0, 0, 64, 16, want);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    glGenFramebuffers(1, &fb);
    glBindFramebuffer(GL_FRAMEBUFFER, fb);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
    glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, 16 * 16 * 4));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(formats), CASE(formats_widened), CASE(formats_refused), CASE(formats_unsized), CASE(targets), CASE(targets_refused), CASE(other_target),
      CASE(renderbuffer), CASE(levels), CASE(map_flags), CASE(deleted), CASE(resized), CASE(many), CASE(es))
