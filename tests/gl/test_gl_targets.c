// SPDX-License-Identifier: MIT
// Targets of OpenGL textures: whether each one registers, the array that CUDA gets, and the bytes
// of every level, layer, face and slice in both directions.
#include "context.h"

enum { ROOM = 64 * 64 * 4 * 6 };

static uint8_t want[ROOM], got[ROOM], parts[ROOM];

struct target {
    GLenum target;
    int width, height, depth, levels;
};

static GLuint make(const struct target *t)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(t->target, texture);
    if (t->target == GL_TEXTURE_3D || t->target == GL_TEXTURE_2D_ARRAY ||
        t->target == GL_TEXTURE_CUBE_MAP_ARRAY)
        glTexStorage3D(t->target, t->levels, GL_RGBA8, t->width, t->height, t->depth);
    else if (t->target == GL_TEXTURE_1D)
        glTexStorage1D(t->target, t->levels, GL_RGBA8, t->width);
    else
        glTexStorage2D(t->target, t->levels, GL_RGBA8, t->width, t->height);
    return texture;
}

static void gl_put(const struct target *t, int level, const void *bytes)
{
    int w = t->width >> level, h = t->height >> level,
        d = t->target == GL_TEXTURE_3D ? t->depth >> level : t->depth;
    if (t->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < 6; face++)
            glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, 0, 0, w, h,
                            GL_RGBA, GL_UNSIGNED_BYTE, (const uint8_t *)bytes + face * w * h * 4);
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
            glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, GL_RGBA,
                          GL_UNSIGNED_BYTE, (uint8_t *)bytes + face * w * h * 4);
    else
        glGetTexImage(t->target, level, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

// Checks every level. Each layer or face has its own array; all slices of a 3D texture share one.
static void check_target(const struct target *t)
{
    GLuint texture = make(t);
    CUgraphicsResource r = cu_image(texture, t->target, 0);
    bool stacked = t->target == GL_TEXTURE_2D_ARRAY || t->target == GL_TEXTURE_CUBE_MAP;
    for (int level = 0; level < t->levels; level++) {
        int w = t->width >> level, h = t->height >> level,
            d = t->target == GL_TEXTURE_3D ? t->depth >> level : t->depth;
        size_t slice = (size_t)w * (size_t)h * 4, size = slice * (size_t)d;
        pattern(want, size, (unsigned)level);
        glBindTexture(t->target, texture);
        gl_put(t, level, want);
        EXPECT_EQ(glGetError(), GL_NO_ERROR);
        MUST(cuGraphicsMapResources(1, &r, 0));
        for (int z = 0; z < (stacked ? d : 1); z++) {
            CUarray a;
            MUST(cuGraphicsSubResourceGetMappedArray(&a, r, (unsigned)z, (unsigned)level));
            cu_expect_desc(a, (size_t)w, (size_t)h, t->target == GL_TEXTURE_3D ? (size_t)d : 0,
                           CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
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
        // Writes the last slice.
        pattern(parts, slice, 99);
        CUarray a;
        MUST(cuGraphicsSubResourceGetMappedArray(&a, r, stacked ? (unsigned)d - 1 : 0,
                                                 (unsigned)level));
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
    static const struct target rows[] = {
        {GL_TEXTURE_2D, 32, 16, 1, 3},       {GL_TEXTURE_2D, 40, 24, 1, 1},
        {GL_TEXTURE_3D, 32, 16, 8, 3},       {GL_TEXTURE_2D_ARRAY, 24, 16, 5, 2},
        {GL_TEXTURE_CUBE_MAP, 16, 16, 6, 3}, {GL_TEXTURE_RECTANGLE, 30, 20, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_target(&rows[i]);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(targets_refused)
{
    gl_start(GL_CORE);
    static const struct target rows[] = {{GL_TEXTURE_1D, 32, 1, 1, 1},
                                         {GL_TEXTURE_1D_ARRAY, 32, 5, 1, 1},
                                         {GL_TEXTURE_CUBE_MAP_ARRAY, 32, 32, 12, 1}};
    CUgraphicsResource r;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&rows[i]), rows[i].target, 0),
                     CUDA_ERROR_INVALID_VALUE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, 16, 16), no_storage, unborn, ms, rb;
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, 0x1234, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_CUBE_MAP_POSITIVE_X, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_RENDERBUFFER, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, 0, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, 12345, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 16), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(NULL, t, GL_TEXTURE_2D, 0), CUDA_ERROR_INVALID_VALUE);
    glGenTextures(1, &no_storage);
    glBindTexture(GL_TEXTURE_2D, no_storage);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, no_storage, GL_TEXTURE_2D, 0),
                 CUDA_ERROR_INVALID_VALUE);
    glGenTextures(1, &unborn);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, unborn, GL_TEXTURE_2D, 0),
                 CUDA_ERROR_INVALID_HANDLE);
    glGenTextures(1, &ms);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, ms);
    glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 16, 16, 1);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, ms, GL_TEXTURE_2D_MULTISAMPLE, 0),
                 CUDA_ERROR_INVALID_VALUE);
    rb = gl_renderbuffer(GL_DEPTH_COMPONENT24, 16, 16);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, rb, GL_RENDERBUFFER, 0), CUDA_ERROR_INVALID_VALUE);
    // Texture gather requires a two-dimensional array.
    static const struct target layered = {GL_TEXTURE_2D_ARRAY, 8, 8, 3, 1},
                               solid = {GL_TEXTURE_3D, 8, 8, 3, 1},
                               cube = {GL_TEXTURE_CUBE_MAP, 8, 8, 6, 1};
    unsigned gather = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&layered), GL_TEXTURE_2D_ARRAY, gather),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, make(&solid), GL_TEXTURE_3D, gather),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphicsGLRegisterImage(&r, make(&cube), GL_TEXTURE_CUBE_MAP, gather));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0),
                 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, 0x1234, 0), CUDA_ERROR_INVALID_VALUE);
}

// The array's shape follows from the target that is passed, even if the texture has another target.
TEST(other_target)
{
    gl_start(GL_CORE);
    static const struct target cube = {GL_TEXTURE_CUBE_MAP, 8, 8, 6, 1},
                               line = {GL_TEXTURE_1D, 8, 1, 1, 1};
    cu_expect_desc(cu_map_array(cu_image(gl_texture_2d(GL_RGBA8, 1, 8, 8), GL_TEXTURE_3D, 0), 0, 0),
                   8, 8, 1, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    cu_expect_desc(cu_map_array(cu_image(make(&cube), GL_TEXTURE_2D, 0), 0, 0), 8, 8, 0,
                   CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    cu_expect_desc(cu_map_array(cu_image(make(&line), GL_TEXTURE_2D, 0), 0, 0), 8, 1, 0,
                   CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
}

TESTS(CASE(targets), CASE(targets_refused), CASE(other_target))
