// SPDX-License-Identifier: MIT
// Threads that disturb each other while they register.
//
// Some threads respecify objects again and again while another thread registers and unregisters
// them. If a texture is respecified, Mesa updates all framebuffers of the share group that have it
// attached, without a lock against the contexts that own the framebuffers. A driver that attached
// the program's textures to framebuffers of its own would crash here.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "context.h"

enum { OBJECTS = 4, ROUNDS = 2000, SECONDS_MAX = 10, EXTENT_MAX = 20 };

static GLuint objects[OBJECTS];
static atomic_bool done;
static EGLContext shared;

static void *specify_textures(void *unused)
{
    gl_use(shared);
    for (int i = 0; !atomic_load(&done); i++) {
        int extent = 1 + i % EXTENT_MAX;
        glBindTexture(GL_TEXTURE_2D, objects[i % OBJECTS]);
        glTexImage2D(GL_TEXTURE_2D, 0, i % 2 ? GL_RGBA8 : GL_R32F, extent, extent, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, NULL);
    }
    gl_use(EGL_NO_CONTEXT);
    return unused;
}

static void *specify_renderbuffers(void *unused)
{
    gl_use(shared);
    for (int i = 0; !atomic_load(&done); i++) {
        int extent = 1 + i % EXTENT_MAX;
        glBindRenderbuffer(GL_RENDERBUFFER, objects[i % OBJECTS]);
        glRenderbufferStorage(GL_RENDERBUFFER, i % 2 ? GL_RGBA8 : GL_R32F, extent, extent);
    }
    gl_use(EGL_NO_CONTEXT);
    return unused;
}

// Registers every object twice, because the second registration looks for the first one's shadow.
static void register_twice(GLuint object, GLenum target)
{
    CUgraphicsResource r[2];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        CUresult result = cuGraphicsGLRegisterImage(&r[count], object, target, 0);
        count += !result;
        // Between two formats, the object may match neither.
        EXPECT(!result || result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_UNKNOWN);
    }
    while (count--)
        EXPECT_OK(cuGraphicsUnregisterResource(r[count]));
}

static void register_while_specified(GLenum target, void *(*specify)(void *))
{
    pthread_t thread;
    test_setting("CARDLESS_DIAGNOSTICS", "off"); // every respecification would report one
    EGLContext own = gl_start(GL_CORE);
    shared = gl_new_context(GL_CORE, own);
    for (int i = 0; i < OBJECTS; i++) {
        if (target == GL_RENDERBUFFER) {
            objects[i] = gl_renderbuffer(GL_RGBA8, 8, 8);
            continue;
        }
        glGenTextures(1, &objects[i]);
        glBindTexture(GL_TEXTURE_2D, objects[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    }
    if (pthread_create(&thread, NULL, specify, NULL))
        exit(1);
    time_t end = time(NULL) + SECONDS_MAX; // sanitizers are slow
    for (int i = 0; i < ROUNDS && time(NULL) < end; i++)
        register_twice(objects[i % OBJECTS], target);
    atomic_store(&done, true);
    pthread_join(thread, NULL);
}

// ---- contexts that cannot be shared

// If eglDestroyContext is called on a current context, the context lives on, but no other context
// can share its objects any more.
static void *register_in_destroyed_contexts(void *cuda)
{
    EXPECT_OK(cuCtxSetCurrent(cuda));
    eglBindAPI(EGL_OPENGL_API);
    while (!atomic_load(&done)) {
        CUgraphicsResource r;
        EGLContext context = gl_new_context(GL_CORE, EGL_NO_CONTEXT);
        gl_use(context);
        GLuint buffer = gl_buffer(64, NULL);
        eglDestroyContext(gl_display, context);
        EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, buffer, 0), CUDA_ERROR_OPERATING_SYSTEM);
        gl_use(EGL_NO_CONTEXT);
    }
    return NULL;
}

// The threads wait for each other's share groups, because another thread's group may turn out to be
// their own.
TEST(groups_that_fail_meanwhile)
{
    enum { THREADS = 3, GROUPS = 40 };
    pthread_t threads[THREADS];
    CUcontext cuda;
    test_setting("CARDLESS_DIAGNOSTICS", "off"); // every refusal would report one
    gl_start(GL_CORE);
    EXPECT_OK(cuCtxGetCurrent(&cuda));
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, register_in_destroyed_contexts, cuda))
            exit(1);
    time_t end = time(NULL) + SECONDS_MAX;
    for (int i = 0; i < GROUPS && time(NULL) < end; i++) {
        EGLContext context = gl_new_context(GL_CORE, EGL_NO_CONTEXT);
        gl_use(context);
        CUgraphicsResource r = cu_buffer(gl_buffer(64, NULL), 0);
        EXPECT_OK(cuGraphicsUnregisterResource(r));
        gl_use(EGL_NO_CONTEXT);
        eglDestroyContext(gl_display, context);
    }
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

// ---- objects that are respecified

TEST(textures_respecified_meanwhile)
{
    register_while_specified(GL_TEXTURE_2D, specify_textures);
}

TEST(renderbuffers_respecified_meanwhile)
{
    register_while_specified(GL_RENDERBUFFER, specify_renderbuffers);
}

TESTS(CASE(textures_respecified_meanwhile), CASE(renderbuffers_respecified_meanwhile),
      CASE(groups_that_fail_meanwhile))
