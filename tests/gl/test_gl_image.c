// SPDX-License-Identifier: MIT
// OpenGL images: flags are honoured, and the driver copes if the program changes a registered
// texture or renderbuffer.
#include "context.h"

enum { W = 40, H = 24, ROOM = W * H * 4 };

static uint8_t want[ROOM], got[ROOM], parts[ROOM];

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
    gl_texture_2d(GL_RGBA8, 1, 8, 8); // most likely gets the same name
    cu_read_array(cu_map_array(r, 0, 0), W * 4, H, got);
    EXPECT(!memcmp(got, want, W * H * 4));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    rb = gl_renderbuffer(GL_RGBA8, W, H);
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
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    memset(want, 50, sizeof want);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUarray a = cu_map_array(r, 0, 0);
    cu_expect_desc(a, 16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
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

// A dirty box that crosses the new edges is clipped to them. A box outside them is dropped.
TEST(shrunk)
{
    enum { SIDE = 16, NOW = 8, AT = 4 };
    GLuint t;
    gl_start(GL_CORE);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    memset(want, 50, sizeof want);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, NOW, NOW, 0, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUarray a = cu_map_array(r, 0, 0);
    memset(parts, 60, sizeof parts);
    cu_write_array(a, AT * 4, AT, (SIDE - AT) * 4, SIDE - AT, parts);
    cu_write_array(a, NOW * 4, 0, 4, 2, parts);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    for (int i = 0; i < NOW * NOW; i++)
        EXPECT_EQ(got[i * 4], i % NOW >= AT && i / NOW >= AT ? 60 : 50);
    EXPECT_DIAGNOSTIC(G14);
}

// Rows of an odd size, which fit no pack alignment. The driver reads them through a copy.
TEST(resized_to_odd_rows)
{
    enum { SMALL = 5, LARGE = 61 };
    GLuint t;
    gl_start(GL_CORE);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, SMALL, SMALL, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    pattern(want, sizeof want, 7);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, LARGE, LARGE, 0, GL_RED, GL_UNSIGNED_BYTE, want);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, SMALL, SMALL, got);
    for (int y = 0; y < SMALL; y++)
        EXPECT(!memcmp(got + y * SMALL, want + y * LARGE, SMALL));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G14);
}

// More textures than the texture units of a context can hold.
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
    GLuint t = gl_texture_2d(GL_RGBA8, 2, 16, 16);
    pattern(want, 16 * 16 * 4, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, want);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, 64, 16, got);
    EXPECT(!memcmp(got, want, 16 * 16 * 4));
    pattern(want, 16 * 16 * 4, 70);
    cu_write_array(a, 0, 0, 64, 16, want);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    gl_framebuffer(t, 0);
    glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, 16 * 16 * 4));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(map_flags), CASE(deleted), CASE(resized), CASE(shrunk), CASE(resized_to_odd_rows),
      CASE(many), CASE(es))
