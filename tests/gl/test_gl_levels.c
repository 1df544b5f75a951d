// SPDX-License-Identifier: MIT
// The mip levels that CUDA sees of a texture: as recorded on a card, except if its driver confuses
// the levels because of a base level.
#include "context.h"

enum { SIDE = 16, LEVELS = 5 };

static uint8_t texels[SIDE * SIDE * 4];

// Specifies a level whose bytes are 10 + its number. levels_of gives each level the size that
// belongs to SIDE.
static void level_of(GLenum target, int level, int width, int height)
{
    memset(texels, 10 + level, sizeof texels);
    glTexImage2D(target, level, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

static void levels_of(GLenum target, int first, int last)
{
    for (int level = first; level <= last; level++)
        level_of(target, level, SIDE >> level, SIDE >> level);
}

static GLuint texture(GLenum target)
{
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(target, t);
    return t;
}

static void refused(GLuint t, GLenum target)
{
    CUgraphicsResource r;
    EXPECT_ERROR(cuGraphicsGLRegisterImage(&r, t, target, 0), CUDA_ERROR_INVALID_VALUE);
}

// Registers and maps the texture. CUDA should see `count` levels from `first` on, and as many in
// the mipmapped array.
static CUgraphicsResource has_levels(GLuint t, GLenum target, unsigned first, unsigned count)
{
    CUmipmappedArray m;
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUgraphicsResource r = cu_image(t, target, 0);
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedMipmappedArray(&m, r));
    for (unsigned level = 0; level < first + count + 2; level++) {
        bool there = level >= first && level < first + count;
        EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, level),
                     there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        if (!there)
            continue;
        EXPECT_OK(cuArray3DGetDescriptor(&d, a));
        EXPECT_EQ(d.Width, SIDE >> level);
        EXPECT_OK(cuMipmappedArrayGetLevel(&a, m, level - first));
        EXPECT_OK(cuArray3DGetDescriptor(&d, a));
        EXPECT_EQ(d.Width, SIDE >> level);
    }
    EXPECT_ERROR(cuMipmappedArrayGetLevel(&a, m, count), CUDA_ERROR_INVALID_VALUE);
    return r;
}

static int byte_of_level(CUgraphicsResource r, unsigned layer, unsigned level)
{
    uint8_t texel[4] = {0};
    CUarray a;
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, layer, level));
    cu_read_array(a, 4, 1, texel);
    return texel[3];
}

// A texture with more than one level registers as a complete mip chain.
TEST(chain)
{
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_image(gl_texture_2d(GL_RGBA8, 3, 64, 16), GL_TEXTURE_2D,
                                    CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    CUmipmappedArray m;
    CUarray a, b;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedMipmappedArray(&m, r));
    EXPECT_OK(cuMipmappedArrayGetLevel(&a, m, 6));
    cu_expect_desc(a, 1, 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST);
    EXPECT_ERROR(cuMipmappedArrayGetLevel(&a, m, 7), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 5));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&b, r, 0, 7), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&b, r, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cu_write_array(a, 0, 0, 8, 1, "12345678"); // a level that the texture lacks
    cu_read_array(a, 8, 1, texels);
    EXPECT(!memcmp(texels, "12345678", 8));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

// The texture registers if the level at the base exists.
TEST(without_level_0)
{
    gl_start(GL_CORE);
    GLuint t = texture(GL_TEXTURE_2D);
    refused(t, GL_TEXTURE_2D);
    levels_of(GL_TEXTURE_2D, 1, LEVELS - 1);
    refused(t, GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    CUgraphicsResource r = has_levels(t, GL_TEXTURE_2D, 1, LEVELS - 1);
    for (unsigned level = 1; level < LEVELS; level++)
        EXPECT_EQ(byte_of_level(r, 0, level), 10 + level);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 9);
    refused(t, GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    refused(t, GL_TEXTURE_2D);
}

TEST(base_level)
{
    gl_start(GL_CORE);
    GLuint t = texture(GL_TEXTURE_2D);
    levels_of(GL_TEXTURE_2D, 0, LEVELS - 1);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 2);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 3);
    CUgraphicsResource r = has_levels(t, GL_TEXTURE_2D, 2, LEVELS - 2);
    CUarray a;
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 3));
    memset(texels, 53, sizeof texels);
    cu_write_array(a, 0, 0, 8, 2, texels);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    for (int level = 0; level < LEVELS; level++) {
        glGetTexImage(GL_TEXTURE_2D, level, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        EXPECT_EQ(texels[0], level == 3 ? 53 : 10 + level);
    }
    t = texture(GL_TEXTURE_2D); // a single level, at the base: CUDA sees a complete chain
    level_of(GL_TEXTURE_2D, 1, 8, 8);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    r = has_levels(t, GL_TEXTURE_2D, 1, LEVELS - 1);
    EXPECT_EQ(byte_of_level(r, 0, 1), 11);
    EXPECT_EQ(byte_of_level(r, 0, 2), 0);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT(!strstr(test_reported(), "G14"));
}

// Levels that do not fit the base level are ignored. Levels that do fit may have gaps between them.
TEST(incomplete)
{
    gl_start(GL_CORE);
    GLuint t = texture(GL_TEXTURE_2D);
    level_of(GL_TEXTURE_2D, 0, SIDE, SIDE);
    level_of(GL_TEXTURE_2D, 1, 5, 5);
    has_levels(t, GL_TEXTURE_2D, 0, 1);
    glTexImage2D(GL_TEXTURE_2D, 1, GL_R8, SIDE / 2, SIDE / 2, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    has_levels(t, GL_TEXTURE_2D, 0, 1);
    level_of(GL_TEXTURE_2D, 2, SIDE / 4, SIDE / 4);
    CUgraphicsResource r = has_levels(t, GL_TEXTURE_2D, 0, LEVELS);
    CUarray a;
    EXPECT_EQ(byte_of_level(r, 0, 2), 12);
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 3)); // OpenGL has no such level
    cu_write_array(a, 0, 0, 8, 2, texels);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT(!strstr(test_reported(), "G14"));
}

TEST(faces)
{
    gl_start(GL_CORE);
    GLuint t = texture(GL_TEXTURE_CUBE_MAP);
    for (unsigned face = 0; face < 6; face++) {
        refused(t, GL_TEXTURE_CUBE_MAP);
        level_of(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, SIDE, SIDE);
    }
    has_levels(t, GL_TEXTURE_CUBE_MAP, 0, 1);
    for (unsigned face = 0; face < 3; face++)
        level_of(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 1, SIDE / 2, SIDE / 2);
    CUgraphicsResource r = has_levels(t, GL_TEXTURE_CUBE_MAP, 0, LEVELS);
    for (unsigned face = 0; face < 6; face++) {
        EXPECT_EQ(byte_of_level(r, face, 0), 10);
        EXPECT_EQ(byte_of_level(r, face, 1), face < 3 ? 11 : 0);
    }
    EXPECT(!strstr(test_reported(), "G14"));
    level_of(GL_TEXTURE_CUBE_MAP_NEGATIVE_Z, 0, SIDE / 2, SIDE / 2);
    refused(t, GL_TEXTURE_CUBE_MAP);
}

// GL_GENERATE_MIPMAP once generated the other levels whenever the program wrote level 0. CUDA's
// writes do not trigger this.
TEST(generated_levels)
{
    gl_start(GL_COMPATIBILITY);
    GLuint t = texture(GL_TEXTURE_2D);
    levels_of(GL_TEXTURE_2D, 0, LEVELS - 1);
    glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, 1);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    memset(texels, 99, sizeof texels);
    cu_write_array(cu_map_array(r, 0, 0), 0, 0, SIDE * 4, SIDE, texels);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    for (int level = 0; level < LEVELS; level++) {
        glGetTexImage(GL_TEXTURE_2D, level, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        EXPECT_EQ(texels[0], level ? 10 + level : 99);
    }
    GLint on = 0;
    glGetTexParameteriv(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, &on);
    EXPECT_EQ(on, 1);
}

TESTS(CASE(chain), CASE(without_level_0), CASE(base_level), CASE(incomplete), CASE(faces),
      CASE(generated_levels))
