// SPDX-License-Identifier: MIT
// Kernels that use images of OpenGL: textures of every shape that OpenGL has filled, and surfaces
// of mip levels that OpenGL samples afterwards.
#include "context.h"

#include "../interop/kernel_objects.h"

static const struct shape {
    struct sampled_shape sampled;
    GLenum target;
} shapes[] = {
    {{"2d", 16, 8, 1, 4}, GL_TEXTURE_2D},          {{"2d", 37, 21, 1, 6}, GL_TEXTURE_2D},
    {{"a2d", 16, 8, 5, 5}, GL_TEXTURE_2D_ARRAY},   {{"3d", 16, 8, 4, 5}, GL_TEXTURE_3D},
    {{"cube", 16, 16, 6, 5}, GL_TEXTURE_CUBE_MAP},
};

static void start(void)
{
    gl_use(gl_new_context(GL_CORE, EGL_NO_CONTEXT));
    ptx_start();
}

static void upload(GLenum target, unsigned level, unsigned w, unsigned h, unsigned d,
                   const uint8_t *texels)
{
    const GLint l = (GLint)level;
    const GLsizei width = (GLsizei)w, height = (GLsizei)h, depth = (GLsizei)d;
    if (target == GL_TEXTURE_2D)
        glTexImage2D(target, l, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    else if (target != GL_TEXTURE_CUBE_MAP)
        glTexImage3D(target, l, GL_RGBA8, width, height, depth, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                     texels);
    else
        for (unsigned face = 0; face < 6; face++)
            glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, l, GL_RGBA8, width, height, 0,
                         GL_RGBA, GL_UNSIGNED_BYTE, texels + 4 * w * h * face);
}

// A texture with component_at() in all levels.
static GLuint filled(const struct shape *shape)
{
    static uint8_t texels[4 * POINTS_MAX];
    const struct sampled_shape *s = &shape->sampled;
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(shape->target, texture);
    for (unsigned level = 0; level < s->levels; level++) {
        fill_level(s, level, texels);
        upload(shape->target, level, extent_of_level(s->width, level),
               extent_of_level(s->height, level), layers_of_level(s, level), texels);
    }
    glTexParameteri(shape->target, GL_TEXTURE_MAX_LEVEL, (GLint)s->levels - 1);
    return texture;
}

static CUmipmappedArray mapped(CUgraphicsResource r)
{
    CUmipmappedArray array;
    MUST(cuGraphicsMapResources(1, &r, 0));
    MUST(cuGraphicsResourceGetMappedMipmappedArray(&array, r));
    return array;
}

TEST(kernel_samples_textures)
{
    start();
    for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        CUgraphicsResource r = cu_image(filled(&shapes[k]), shapes[k].target, 0);
        expect_all_texels(&shapes[k].sampled, mapped(r));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_OK(cuGraphicsUnregisterResource(r));
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(kernel_filters_a_texture)
{
    start();
    CUgraphicsResource r = cu_image(filled(&shapes[0]), shapes[0].target, 0);
    const CUmipmappedArray array = mapped(r);
    for (unsigned level = 0; level < shapes[0].sampled.levels; level++)
        expect_means(&shapes[0].sampled, array, level);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_NO_DIAGNOSTIC();
}

// ---- OpenGL samples

static GLuint compiled(GLenum kind, const char *text)
{
    char log[512] = "";
    GLint good = 0;
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!good)
        printf("# %s\n", log);
    EXPECT(good);
    return shader;
}

// A program that covers the viewport, and samples a level at the corners between four texels.
static GLuint sampling_program(void)
{
    const GLuint program = glCreateProgram();
    glAttachShader(program, compiled(GL_VERTEX_SHADER,
                                     "#version 330 core\nvoid main() { gl_Position = "
                                     "vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, "
                                     "1); }\n"));
    glAttachShader(program,
                   compiled(GL_FRAGMENT_SHADER,
                            "#version 330 core\nuniform sampler2D image; uniform int level;\n"
                            "out vec4 colour;\nvoid main() {\n"
                            "vec2 size = vec2(textureSize(image, level));\n"
                            "colour = textureLod(image, (gl_FragCoord.xy + 0.5) / size, "
                            "float(level));\n}\n"));
    glLinkProgram(program);
    glUseProgram(program);
    return program;
}

// OpenGL draws a level of the bound texture into another texture, and reads that.
static void sample_level(GLuint program, int level, unsigned width, unsigned height,
                         uint8_t *colours)
{
    GLuint target, source, vertices;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, (GLint *)&source);
    target = gl_texture_2d(GL_RGBA8, 1, (int)width, (int)height);
    const GLuint framebuffer = gl_framebuffer(target, 0);
    glBindTexture(GL_TEXTURE_2D, source);
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    glViewport(0, 0, (GLsizei)width, (GLsizei)height);
    glUniform1i(glGetUniformLocation(program, "level"), level);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(0, 0, (GLsizei)width, (GLsizei)height, GL_RGBA, GL_UNSIGNED_BYTE, colours);
    EXPECT_EQ(glGetError(), 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteVertexArrays(1, &vertices);
    glDeleteTextures(1, &target);
}

// OpenGL sees the kernel's texels in level 2, and the old ones in its neighbours.
TEST(opengl_samples_what_a_kernel_wrote)
{
    enum { WRITTEN = 2, MARK = 7 };
    static uint8_t texels[4 * POINTS_MAX], got[4 * POINTS_MAX];
    start();
    const GLuint program = sampling_program();
    for (unsigned k = 0; k < 2; k++) {
        const struct sampled_shape *s = &shapes[k].sampled;
        const GLuint texture = filled(&shapes[k]);
        CUgraphicsResource r =
            cu_image(texture, GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
        CUarray array;
        MUST(cuMipmappedArrayGetLevel(&array, mapped(r), WRITTEN));
        const unsigned w = extent_of_level(s->width, WRITTEN);
        const unsigned h = extent_of_level(s->height, WRITTEN);
        fill_marked(MARK, w, h, texels);
        store_texels(array, texels, w, h);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
        for (unsigned level = WRITTEN - 1; level <= WRITTEN + 1; level++) {
            const unsigned width = extent_of_level(s->width, level);
            const unsigned height = extent_of_level(s->height, level);
            sample_level(program, (int)level, width, height, got);
            for (unsigned i = 0; i < width * height * 4; i++)
                expect_near((float)got[i] / 255,
                            sum_at_corner(level == WRITTEN ? MARK : level, i, width, height));
        }
        EXPECT_OK(cuGraphicsUnregisterResource(r));
    }
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(kernel_samples_textures), CASE(kernel_filters_a_texture),
      CASE(opengl_samples_what_a_kernel_wrote))
