// SPDX-License-Identifier: MIT
// OpenGL objects and contexts that need special care: the driver should not lose their bytes, nor
// damage the bytes of others.
#include "context.h"

enum { SIZE = 4096, BAD_ADDRESS = 8 };

static uint8_t bytes[SIZE];

// "If GL_DYNAMIC_STORAGE_BIT is not set, the buffer content may not be directly updated by the
// client". CUDA may still write it.
TEST(storage_without_updates)
{
    static const GLbitfield flags[] = {0, GL_DYNAMIC_STORAGE_BIT, GL_MAP_READ_BIT,
                                       GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT,
                                       GL_CLIENT_STORAGE_BIT};
    gl_start(GL_CORE);
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        GLuint b;
        memset(bytes, 7, SIZE);
        glGenBuffers(1, &b);
        glBindBuffer(GL_ARRAY_BUFFER, b);
        glBufferStorage(GL_ARRAY_BUFFER, SIZE, bytes, flags[i]);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        EXPECT_OK(cuMemsetD8(p + 1, 9, SIZE - 1));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
        EXPECT_EQ(bytes[0], 7);
        EXPECT_EQ(bytes[SIZE - 1], 9);
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        glDeleteBuffers(1, &b);
    }
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT_NO_DIAGNOSTIC();
}

// A buffer may stay mapped by the program if it was mapped with GL_MAP_PERSISTENT_BIT.
TEST(mapped_persistently)
{
    const GLbitfield flags =
        GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    GLuint b;
    gl_start(GL_CORE);
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferStorage(GL_ARRAY_BUFFER, SIZE, NULL, flags);
    volatile uint8_t *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, flags);
    EXPECT(mapped != NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    for (unsigned i = 0; mapped && i < 3; i++) {
        mapped[SIZE - 1] = (uint8_t)(i + 50);
        CUdeviceptr p = cu_map_pointer(r);
        EXPECT_OK(cuMemcpyDtoH(bytes, p, SIZE));
        EXPECT_EQ(bytes[SIZE - 1], i + 50);
        EXPECT_OK(cuMemsetD8(p, (unsigned char)i, 10));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(mapped[9], i);
    }
    EXPECT_NO_DIAGNOSTIC();
}

// A copy over the whole object that fails should change nothing, even if an earlier one has
// succeeded.
TEST(failed_copies)
{
    gl_start(GL_CORE);
    for (int earlier = 0; earlier < 2; earlier++) {
        memset(bytes, 7, SIZE);
        GLuint b = gl_buffer(SIZE, bytes);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        if (earlier)
            EXPECT_OK(cuMemsetD8(p, 9, SIZE));
        EXPECT_ERROR(cuMemcpyHtoD(p, (void *)BAD_ADDRESS, SIZE), CUDA_ERROR_INVALID_VALUE);
        EXPECT_ERROR(cuMemcpyDtoD(p, BAD_ADDRESS, SIZE), CUDA_ERROR_INVALID_VALUE);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), earlier ? 9 : 7);
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(failed_copies_of_images)
{
    enum { SIDE = 16, ROW_B = SIDE * 4 };
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 2, SIDE, SIDE);
    memset(bytes, 7, SIZE);
    for (int level = 0; level < 2; level++)
        glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, SIDE >> level, SIDE >> level, GL_RGBA,
                        GL_UNSIGNED_BYTE, bytes);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = (void *)BAD_ADDRESS,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = cu_map_array(r, 0, 0),
                       .WidthInBytes = ROW_B,
                       .Height = SIDE};
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.srcHost = bytes;
    c.srcPitch = ROW_B;
    c.Height = SIDE + 1; // one row too many
    EXPECT_ERROR(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    memset(bytes, 0, SIZE);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_EQ(bytes[0], 7);
    EXPECT_EQ(bytes[SIDE * ROW_B - 1], 7);
}

// Rows with gaps between them, from the first byte to the last: the bytes in the gaps should stay.
TEST(gaps_between_rows)
{
    enum { ROWS = 8, PITCH_B = 64, ROW_B = 16, ALL_B = (ROWS - 1) * PITCH_B + ROW_B };
    gl_start(GL_CORE);
    for (int fill = 0; fill < 2; fill++) {
        memset(bytes, 7, SIZE);
        GLuint b = gl_buffer(ALL_B, bytes);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = bytes,
                           .srcPitch = ROW_B,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = p,
                           .dstPitch = PITCH_B,
                           .WidthInBytes = ROW_B,
                           .Height = ROWS};
        memset(bytes, 9, SIZE);
        EXPECT_OK(fill ? cuMemsetD2D8(p, PITCH_B, 9, ROW_B, ROWS) : cuMemcpy2D(&c));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, 0), 9);
        EXPECT_EQ(gl_buffer_byte(b, ROW_B), 7);
        EXPECT_EQ(gl_buffer_byte(b, PITCH_B), 9);
        EXPECT_EQ(gl_buffer_byte(b, ALL_B - 1), 9);
    }
}

// The faces of a cube map get different sizes, before or while it is mapped. Reads stay inside the
// cube map's own memory.
static void mixed_faces(bool while_mapped)
{
    enum { SMALL = 16, LARGE = 512, OTHERS = 64 };
    static uint8_t texels[LARGE * LARGE * 4];
    CUdeviceptr other[OTHERS];
    GLuint t;
    gl_start(GL_CORE);
    memset(texels, 0xee, sizeof texels);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_CUBE_MAP, t);
    for (unsigned face = 0; face < 6; face++)
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, SMALL, SMALL, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, texels);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_CUBE_MAP, 0);
    for (int i = 0; i < OTHERS; i++) {
        MUST(cuMemAlloc(&other[i], SIZE));
        MUST(cuMemsetD8(other[i], 0x22, SIZE));
    }
    CUarray a = while_mapped ? cu_map_array(r, 2, 0) : NULL;
    glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_Y, 0, GL_RGBA8, LARGE, LARGE, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, texels);
    a = a ? a : cu_map_array(r, 2, 0);
    cu_read_array(a, SMALL * 4, SMALL, bytes);
    cu_write_array(a, 0, 0, SMALL * 4, SMALL, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G14);
    for (int i = 0; i < OTHERS; i++) {
        MUST(cuMemcpyDtoH(bytes, other[i], SIZE));
        for (unsigned j = 0; j < SIZE; j++)
            EXPECT_EQ(bytes[j], 0x22);
    }
}

TEST(faces_differ_before_map)
{
    mixed_faces(false);
}

TEST(faces_differ_while_mapped)
{
    mixed_faces(true);
}

// If a registered object gets another format, it is left alone, even in a context with
// GL_KHR_no_error.
static void reformatted(EGLint attribute, GLenum format, bool renderbuffer)
{
    enum { SIDE = 64 };
    GLuint o;
    CUgraphicsResource r;
    gl_use(gl_new_context_with(GL_CORE, EGL_NO_CONTEXT, attribute, attribute ? EGL_TRUE : 0));
    test_context();
    if (renderbuffer) {
        o = gl_renderbuffer(GL_RGBA8, SIDE, SIDE);
        r = cu_image(o, GL_RENDERBUFFER, 0);
        glRenderbufferStorage(GL_RENDERBUFFER, format, SIDE, SIDE);
    } else {
        glGenTextures(1, &o);
        glBindTexture(GL_TEXTURE_2D, o);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        r = cu_image(o, GL_TEXTURE_2D, 0);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, SIDE, SIDE, 0,
                     format == GL_RGBA32UI ? GL_RGBA_INTEGER : GL_DEPTH_COMPONENT, GL_UNSIGNED_INT,
                     NULL);
    }
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, SIDE * 4, SIDE / 4, bytes);
    cu_write_array(a, 0, 0, SIDE * 4, SIDE / 4, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G14);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

TEST(reformatted_texture)
{
    reformatted(0, GL_RGBA32UI, false);
}

TEST(reformatted_texture_without_errors)
{
    reformatted(EGL_CONTEXT_OPENGL_NO_ERROR_KHR, GL_DEPTH_COMPONENT24, false);
}

TEST(reformatted_renderbuffer)
{
    reformatted(0, GL_RGBA32UI, true);
}

TEST(reformatted_renderbuffer_without_errors)
{
    reformatted(EGL_CONTEXT_OPENGL_NO_ERROR_KHR, GL_DEPTH_COMPONENT24, true);
}

// The same format, but with several samples per texel.
TEST(multisampled_renderbuffer)
{
    enum { SIDE = 32 };
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_image(gl_renderbuffer(GL_RGBA8, SIDE, SIDE), GL_RENDERBUFFER, 0);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, SIDE, SIDE);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, SIDE * 4, SIDE, bytes);
    cu_write_array(a, 0, 0, SIDE * 4, SIDE, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G14);
}

TEST(resized_renderbuffer)
{
    enum { SIDE = 32 };
    gl_start(GL_CORE);
    GLuint o = gl_renderbuffer(GL_RGBA8, SIDE, SIDE);
    CUgraphicsResource r = cu_image(o, GL_RENDERBUFFER, 0);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE / 4, SIDE / 4);
    gl_framebuffer(0, o);
    glClearColor(1, 1, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    memset(bytes, 7, SIZE);
    CUarray a = cu_map_array(r, 0, 0);
    cu_read_array(a, SIDE * 4, SIDE, bytes);
    EXPECT_EQ(bytes[SIDE / 4 * 4 - 1], 255); // the part that still exists
    EXPECT_EQ(bytes[SIDE / 4 * 4], 0);
    memset(bytes, 9, SIZE);
    cu_write_array(a, 0, 0, SIDE * 4, SIDE, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_DIAGNOSTIC(G14);
    glReadPixels(SIDE / 4 - 1, SIDE / 4 - 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_EQ(bytes[3], 9);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// Only CUDA's writes should be copied back, even from many places. OpenGL's writes between them
// should stay.
TEST(parts)
{
    enum { SIDE = 32, FEW = 5, MANY = 100 };
    static uint8_t texels[SIDE * SIDE * 4];
    gl_start(GL_CORE);
    for (int places = FEW; places <= MANY; places += MANY - FEW) {
        memset(bytes, 7, SIZE);
        GLuint b = gl_buffer(SIZE, bytes);
        CUgraphicsResource r = cu_buffer(b, 0);
        CUdeviceptr p = cu_map_pointer(r);
        for (int i = 0; i < places; i++) {
            int at = i * 37 % MANY * 40; // out of order
            EXPECT_OK(cuMemsetD8(p + (CUdeviceptr)at, 9, 2));
            EXPECT_OK(cuMemsetD8(p + (CUdeviceptr)at + 2, 9, 2));
        }
        memset(bytes, 8, SIZE);
        if (places == FEW) { // (of many places, the bytes between them are written too)
            glBindBuffer(GL_ARRAY_BUFFER, b);
            glBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
        }
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        for (int i = 0; i < MANY; i++) {
            bool written = false;
            for (int k = 0; k < places; k++)
                written = written || k * 37 % MANY == i;
            EXPECT_EQ(gl_buffer_byte(b, (size_t)i * 40 + 3), written ? 9 : places == FEW ? 8 : 7);
            EXPECT_EQ(gl_buffer_byte(b, (size_t)i * 40 + 4), places == FEW ? 8 : 7);
        }
    }
    GLuint t = gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE);
    for (int step = 1; step < 10; step += 2) { // 16, 6, 4, … places a row
        memset(texels, 7, sizeof texels);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
        CUarray a = cu_map_array(r, 0, 0);
        memset(texels, 9, sizeof texels);
        for (int i = 0; i < SIDE * SIDE; i += step)
            cu_write_array(a, (size_t)(i % SIDE) * 4, (size_t)(i / SIDE), 4, 1, texels);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        for (int i = 0; i < SIDE * SIDE; i++)
            EXPECT_EQ(texels[i * 4], i % step ? 7 : 9);
        EXPECT_OK(cuGraphicsUnregisterResource(r));
    }
    EXPECT_NO_DIAGNOSTIC();
}

// OpenGL refuses to copy a buffer that the program has mapped. A context with GL_KHR_no_error would
// not check.
TEST(mapped_without_errors)
{
    gl_use(gl_new_context_with(GL_CORE, EGL_NO_CONTEXT, EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE));
    test_context();
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    EXPECT(glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_WRITE_BIT) != NULL);
    EXPECT_OK(cuMemsetD8(p, 1, SIZE));
    EXPECT_ERROR(cuGraphicsUnmapResources(1, &r, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_DIAGNOSTIC(G07);
    glUnmapBuffer(GL_ARRAY_BUFFER);
}

// More textures than the texture units of a context can hold. The program deletes them. All should
// stay readable and writable, and their names should stay dead.
TEST(many_textures)
{
    enum { COUNT = 300 };
    static GLuint t[COUNT];
    static CUgraphicsResource r[COUNT];
    GLint units = 0;
    test_setting("CARDLESS_DIAGNOSTICS", "off");
    gl_start(GL_COMPATIBILITY);
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    EXPECT(units < COUNT);
    for (int i = 0; i < COUNT; i++) {
        memset(bytes, 1 + i % 200, SIZE);
        t[i] = gl_texture_2d(GL_RGBA8, 2, 4, 4);
        for (int level = 0; level < 2; level++)
            glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, 4 >> level, 4 >> level, GL_RGBA,
                            GL_UNSIGNED_BYTE, bytes);
        r[i] = cu_image(t[i], GL_TEXTURE_2D, 0);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    for (int deleted = 0; deleted < 2; deleted++) {
        for (int i = 0; i < COUNT; i++) {
            uint8_t texel[4] = {0}, other[4] = {250, 250, 250, 250};
            for (unsigned level = 0; level < 2; level++) {
                CUarray a = cu_map_array(r[i], 0, level);
                cu_read_array(a, 4, 1, texel);
                EXPECT_EQ(texel[0], deleted && !level ? 250 : 1 + i % 200);
                if (!level)
                    cu_write_array(a, 0, 0, 4, 1, other);
                EXPECT_OK(cuGraphicsUnmapResources(1, &r[i], 0));
            }
        }
        glDeleteTextures(COUNT, t);
    }
    for (int i = 0; i < COUNT; i++) {
        EXPECT(!glIsTexture(t[i]));
        EXPECT_OK(cuGraphicsUnregisterResource(r[i]));
    }
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

// On a card, a pointer or an array still works after unmap. It leads to the object's own bytes,
// with their current values.
TEST(used_after_unmap)
{
    enum { SIDE = 16 };
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    gl_start(GL_CORE);
    memset(bytes, 3, SIZE);
    GLuint b = gl_buffer(SIZE, bytes), t = gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glFinish();
    CUgraphicsResource r[] = {cu_buffer(b, 0), cu_image(t, GL_TEXTURE_2D, 0)};
    CUdeviceptr p = cu_map_pointer(r[0]);
    CUarray a = cu_map_array(r[1], 0, 0);
    EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    for (int value = 4; value < 6; value++) {
        memset(bytes, 0, SIZE);
        EXPECT_OK(cuMemcpyDtoH(bytes, p, SIZE)); // not fetched while it was mapped
        EXPECT_EQ(bytes[SIZE - 1], value - 1);
        cu_read_array(a, SIDE * 4, SIDE, bytes);
        EXPECT_EQ(bytes[SIDE * SIDE * 4 - 1], value - 1);
        EXPECT_OK(cuMemsetD8(p + 1, (unsigned char)value, SIZE - 1));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), value);
        EXPECT_EQ(gl_buffer_byte(b, 0), 3);
        memset(bytes, value, SIZE);
        cu_write_array(a, 0, 0, SIDE * 4, SIDE, bytes);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        EXPECT_EQ(bytes[0], value);
        EXPECT_OK(cuGraphicsMapResources(2, r, 0)); // the correct order
        EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    }
    EXPECT_OK(cuMemsetD8(p, 8, SIZE)); // the program does not wait, and maps it again
    EXPECT_OK(cuGraphicsMapResources(2, r, 0));
    EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    EXPECT_EQ(gl_buffer_byte(b, 0), 8);
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuGraphicsUnregisterResource(r[0]));
    EXPECT_EQ(gl_buffer_byte(b, 0), 9);
    EXPECT_ERROR(cuMemsetD8(p, 9, SIZE), CUDA_ERROR_INVALID_VALUE);
}

// Under the driver's personality, a pointer is valid as far as cuMemGetAddressRange says. Under the
// manual's, it is valid for the buffer's size.
static void pointer_range(const char *personality, size_t size, size_t want)
{
    test_setting("CARDLESS_PERSONALITY", personality);
    gl_start(GL_CORE);
    CUgraphicsResource r = cu_buffer(gl_buffer(size, NULL), 0);
    CUdeviceptr p = cu_map_pointer(r), base = 0;
    size_t range = 0;
    EXPECT_OK(cuMemGetAddressRange(&base, &range, p));
    EXPECT_EQ(base, p);
    EXPECT_EQ(range, want);
    EXPECT_OK(cuMemcpyDtoH(bytes, p, want));
    EXPECT_ERROR(cuMemcpyDtoH(bytes, p, want + 1), CUDA_ERROR_INVALID_VALUE);
}

TEST(pointer_range_of_the_driver)
{
    // recorded: 512 for 1 to 512 bytes, 1024 for 513, 4608 for 4097
    pointer_range("driver-580", 513, 1024);
}

TEST(pointer_range_of_the_manual)
{
    pointer_range("manual", 513, 513);
}

TESTS(CASE(parts), CASE(reformatted_texture), CASE(reformatted_texture_without_errors),
      CASE(reformatted_renderbuffer), CASE(reformatted_renderbuffer_without_errors),
      CASE(resized_renderbuffer), CASE(multisampled_renderbuffer), CASE(mapped_without_errors),
      CASE(many_textures), CASE(used_after_unmap), CASE(pointer_range_of_the_driver),
      CASE(pointer_range_of_the_manual), CASE(storage_without_updates), CASE(mapped_persistently),
      CASE(failed_copies), CASE(failed_copies_of_images), CASE(gaps_between_rows),
      CASE(faces_differ_before_map), CASE(faces_differ_while_mapped))
