// SPDX-License-Identifier: MIT
// The driver's context takes the place of the program's in the thread that calls, if the program
// cannot notice it; else its own thread does the work. The bytes are right both ways, and the
// program's context, surfaces and bound API are afterwards what they were.
#include "guest.h"

enum { FEW_B = 256, THREADS = 3, ROUNDS = 100, TEXTURES = 260, DIRECT_B = 1 << 20 };

static CUcontext cuda;

TEST(without_surface)
{
    test_context();
    for (int flavour = GL_CORE; flavour <= GL_ES; flavour++) {
        const EGLContext context = gl_new_context(flavour, EGL_NO_CONTEXT);
        gl_use(context);
        use(true);
        gl_use(EGL_NO_CONTEXT);
        eglDestroyContext(gl_display, context);
    }
}

// Makes a context with two surfaces current.
static EGLContext start_with_surfaces(EGLSurface surface[2])
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE},
                        size[] = {EGL_WIDTH, 4, EGL_HEIGHT, 4, EGL_NONE};
    EGLConfig config;
    EGLint count;
    const EGLContext context = gl_new_context(GL_CORE, EGL_NO_CONTEXT);
    eglChooseConfig(gl_display, wanted, &config, 1, &count);
    for (int i = 0; i < 2; i++)
        surface[i] = eglCreatePbufferSurface(gl_display, config, size);
    if (!eglMakeCurrent(gl_display, surface[0], surface[1], context))
        SKIP("SKIPPED: the context takes no pbuffer");
    test_context();
    return context;
}

TEST(with_pbuffers)
{
    static const uint8_t red[] = {255, 0, 0, 255};
    EGLSurface surface[2];
    uint8_t pixel[4];
    const EGLContext context = start_with_surfaces(surface);
    use(true);
    EXPECT(eglMakeCurrent(gl_display, surface[0], surface[0], context));
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    use(true);
    glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    EXPECT(!memcmp(pixel, red, sizeof pixel));
}

// Surfaces and contexts that the program has destroyed end when they are no longer current.
TEST(destroyed_surface)
{
    EGLSurface surface[2];
    start_with_surfaces(surface);
    EXPECT(eglDestroySurface(gl_display, surface[1]));
    use(false);
}

TEST(destroyed_context)
{
    const EGLContext context = gl_start(GL_CORE);
    use(true);
    EXPECT(eglDestroyContext(gl_display, context));
    use(false);
}

static void GLAPIENTRY on_message(GLenum source, GLenum type, GLuint id, GLenum severity,
                                  GLsizei length, const GLchar *text, const void *unused)
{
    (void)source, (void)type, (void)id, (void)severity, (void)length, (void)text, (void)unused;
}

// A debug callback may call CUDA, and must not call OpenGL.
TEST(debug_callback)
{
    gl_start(GL_COMPATIBILITY);
    glDebugMessageCallback(on_message, NULL);
    use(false);
    glDebugMessageCallback(NULL, NULL);
    use(true);
}

// The context that is current need not be one of the object's group.
TEST(another_group)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    const CUdeviceptr p = cu_map_pointer(cu_buffer(gl_buffer(BUFFER_B, want), 0));
    gl_use(gl_new_context(GL_ES, EGL_NO_CONTEXT));
    const struct current before = look();
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(pthread_equal(transfer_thread, pthread_self()));
    EXPECT(!memcmp(got, want, BUFFER_B));
    expect_current(&before);
}

// A display that is terminated while a context is current ends the guest, and nothing else.
TEST(terminated)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    const GLuint b = gl_buffer(BUFFER_B, want);
    const CUgraphicsResource r = cu_buffer(b, 0);
    const CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuMemcpyDtoH(got, p, FEW_B));
    EXPECT(pthread_equal(transfer_thread, pthread_self()));
    EXPECT_OK(cuMemsetD8(p, 9, FEW_B));
    memset(want, 9, FEW_B);
    EXPECT(eglTerminate(gl_display));
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(!pthread_equal(transfer_thread, pthread_self()));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
    gl_read_buffer(b, BUFFER_B, got);
    EXPECT(!memcmp(got, want, BUFFER_B));
    use(false);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
}

// The display is used again after it was terminated, while an old resource is still registered.
TEST(terminated_and_initialized)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    const CUgraphicsResource r = cu_buffer(gl_buffer(BUFFER_B, want), 0);
    const CUdeviceptr p = cu_map_pointer(r);
    EXPECT(eglTerminate(gl_display));
    EXPECT(eglInitialize(gl_display, NULL, NULL));
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    gl_use(gl_new_context(GL_CORE, EGL_NO_CONTEXT));
    use(true);
}

// A copy between glBegin and glEnd leaves no error.
TEST(begin_and_end)
{
    gl_start(GL_COMPATIBILITY);
    pattern(want, BUFFER_B, 1);
    const CUgraphicsResource r = cu_buffer(gl_buffer(BUFFER_B, want), 0);
    const CUdeviceptr p = cu_map_pointer(r);
    gl_framebuffer(gl_texture_2d(GL_RGBA8, 1, 4, 4), 0);
    glBegin(GL_TRIANGLES);
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    glEnd();
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    EXPECT(pthread_equal(transfer_thread, pthread_self()));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
}

// Another thread registers a new buffer of the same name while this one copies the old one: the
// driver compares the two, for which it changes a byte of the old one for a moment.
enum { SMALL_B = 64, RENAMED = 3000 };
static GLuint renamed;
static atomic_bool renaming;

static void *register_again(void *context)
{
    eglBindAPI(EGL_OPENGL_API);
    EXPECT(eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, context));
    EXPECT_OK(cuCtxSetCurrent(cuda));
    while (renaming)
        EXPECT_OK(cuGraphicsUnregisterResource(cu_buffer(renamed, 0)));
    return NULL;
}

TEST(renamed_buffer)
{
    pthread_t other;
    uint8_t old[SMALL_B], byte;
    const EGLContext context = gl_start(GL_COMPATIBILITY);
    const EGLContext second = gl_new_context(GL_COMPATIBILITY, context);
    EXPECT_OK(cuCtxGetCurrent(&cuda));
    memset(old, 1, SMALL_B);
    renamed = gl_buffer(SMALL_B, old);
    const CUgraphicsResource r = cu_buffer(renamed, 0);
    glDeleteBuffers(1, &renamed);
    memset(old, 2, SMALL_B);
    glBindBuffer(GL_ARRAY_BUFFER, renamed); // the same name, in a compatibility context
    glBufferData(GL_ARRAY_BUFFER, SMALL_B, old, GL_DYNAMIC_DRAW);
    glFinish();
    renaming = true;
    EXPECT(!pthread_create(&other, NULL, register_again, second));
    for (int i = 0; i < RENAMED; i++) {
        EXPECT_OK(cuMemsetD8(cu_map_pointer(r), (unsigned char)i, SMALL_B));
        unmap(r);
        EXPECT_OK(cuMemcpyDtoH(&byte, cu_map_pointer(r), 1));
        EXPECT_EQ(byte, (uint8_t)i);
        unmap(r);
    }
    renaming = false;
    EXPECT(!pthread_join(other, NULL));
}

// An object that the program has deleted lives on in the guest too.
TEST(deleted)
{
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    GLuint b = gl_buffer(BUFFER_B, want);
    const CUgraphicsResource r = cu_buffer(b, 0);
    glDeleteBuffers(1, &b);
    gl_buffer(BUFFER_B, NULL);
    EXPECT_OK(cuMemcpyDtoH(got, cu_map_pointer(r), BUFFER_B));
    EXPECT(pthread_equal(transfer_thread, pthread_self()));
    EXPECT(!memcmp(got, want, BUFFER_B));
    unmap(r);
}

static CUdeviceptr mapped;

static void *copy_without_opengl(void *unused)
{
    EXPECT_OK(cuCtxSetCurrent(cuda));
    EXPECT_OK(cuMemcpyDtoH(got, mapped, BUFFER_B));
    EXPECT(!pthread_equal(transfer_thread, pthread_self()));
    EXPECT(!eglGetCurrentContext());
    return unused;
}

TEST(thread_without_context)
{
    pthread_t other;
    gl_start(GL_CORE);
    pattern(want, BUFFER_B, 1);
    mapped = cu_map_pointer(cu_buffer(gl_buffer(BUFFER_B, want), 0));
    EXPECT_OK(cuCtxGetCurrent(&cuda));
    EXPECT(!pthread_create(&other, NULL, copy_without_opengl, NULL));
    EXPECT(!pthread_join(other, NULL));
    EXPECT(!memcmp(got, want, BUFFER_B));
}

// Transfers run in the floating-point state that threads begin with.
TEST(floating_point)
{
    gl_start(GL_CORE);
    const CUdeviceptr p = cu_map_pointer(cu_buffer(gl_buffer(BUFFER_B, want), 0));
    fesetround(FE_UPWARD);
#ifdef __GLIBC__
    feenableexcept(FE_INVALID | FE_DIVBYZERO);
#endif
    EXPECT_OK(cuMemcpyDtoH(got, p, BUFFER_B));
    EXPECT(pthread_equal(transfer_thread, pthread_self()));
    EXPECT_EQ(rounding, FE_TONEAREST);
    EXPECT_EQ(fegetround(), FE_UPWARD);
#ifdef __GLIBC__
    EXPECT_EQ(traps, 0);
    EXPECT_EQ(fegetexcept(), FE_INVALID | FE_DIVBYZERO);
#endif
}

// More textures than a context has units. The last ones are not held by the guest.
TEST(many_textures)
{
    static CUgraphicsResource r[TEXTURES];
    gl_start(GL_ES);
    const struct current before = look();
    pattern(want, SIZE, 1);
    for (int i = 0; i < TEXTURES; i++) {
        r[i] = cu_image(gl_texture_2d(GL_RGBA8, 1, WIDTH, HEIGHT), GL_TEXTURE_2D, 0);
        expect_current(&before);
    }
    for (int i = 0; i < TEXTURES; i += TEXTURES - 1) {
        cu_write_array(cu_map_array(r[i], 0, 0), 0, 0, ROW_B, HEIGHT, want);
        unmap(r[i]);
        cu_read_array(cu_map_array(r[i], 0, 0), ROW_B, HEIGHT, got);
        EXPECT(!!pthread_equal(transfer_thread, pthread_self()) == (i == 0));
        EXPECT(!memcmp(got, want, SIZE));
        memset(got, 0, SIZE);
        expect_current(&before);
    }
}

// Threads with contexts of one group work at the same time, each in its own thread or in the
// driver's.
static EGLContext contexts[THREADS];

static void *work(void *argument)
{
    const unsigned id = (unsigned)(uintptr_t)argument;
    static uint8_t mine[THREADS][DIRECT_B], back[THREADS][DIRECT_B];
    eglBindAPI(EGL_OPENGL_API);
    EXPECT(eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, contexts[id]));
    EXPECT_OK(cuCtxSetCurrent(cuda));
    for (unsigned i = 0; i < ROUNDS; i++) {
        pattern(mine[id], DIRECT_B, i * THREADS + id);
        const size_t size_B = i % 2 ? DIRECT_B : FEW_B;
        const GLuint b = gl_buffer(DIRECT_B, mine[id]);
        glFinish();
        const CUgraphicsResource r = cu_buffer(b, 0);
        EXPECT_OK(cuMemcpyDtoH(back[id], cu_map_pointer(r), size_B));
        EXPECT(!memcmp(back[id], mine[id], size_B));
        EXPECT(eglGetCurrentContext() == contexts[id]);
        unmap(r);
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        glDeleteBuffers(1, &b);
    }
    return NULL;
}

TEST(threads)
{
    pthread_t t[THREADS];
    contexts[0] = gl_start(GL_CORE);
    for (int i = 1; i < THREADS; i++)
        contexts[i] = gl_new_context(GL_CORE, contexts[0]);
    EXPECT_OK(cuCtxGetCurrent(&cuda));
    gl_use(EGL_NO_CONTEXT);
    for (uintptr_t i = 0; i < THREADS; i++)
        EXPECT(!pthread_create(&t[i], NULL, work, (void *)i));
    for (int i = 0; i < THREADS; i++)
        EXPECT(!pthread_join(t[i], NULL));
}

TESTS(CASE(without_surface), CASE(with_pbuffers), CASE(destroyed_surface), CASE(destroyed_context),
      CASE(debug_callback), CASE(another_group), CASE(terminated), CASE(terminated_and_initialized),
      CASE(begin_and_end), CASE(renamed_buffer), CASE(deleted), CASE(thread_without_context),
      CASE(floating_point), CASE(many_textures), CASE(threads))
