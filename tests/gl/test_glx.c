// SPDX-License-Identifier: MIT
// The same through GLX, on an X server: contexts that are current on a window's connection, and the
// effects of closing the connection.
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <GL/glxext.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../harness.h"
#include <cudaGL.h>

enum { SIZE = 4096 };

static Display *display;
static GLXPbuffer pbuffer;

static const int es[] = {GLX_CONTEXT_MAJOR_VERSION_ARB,
                         3,
                         GLX_CONTEXT_MINOR_VERSION_ARB,
                         0,
                         GLX_CONTEXT_PROFILE_MASK_ARB,
                         GLX_CONTEXT_ES2_PROFILE_BIT_EXT,
                         None};
static const int core[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3,
                           None};

// Creates a legacy context if `attributes` is NULL.
static GLXContext start(GLXContext share, const int *attributes)
{
    static const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, GLX_RENDER_TYPE, GLX_RGBA_BIT,
                                 None};
    static const int small[] = {GLX_PBUFFER_WIDTH, 16, GLX_PBUFFER_HEIGHT, 16, None};
    int count = 0;
    if (!display && !(display = XOpenDisplay(NULL)))
        SKIP("SKIPPED: no X server");
    GLXFBConfig *configs = glXChooseFBConfig(display, DefaultScreen(display), wanted, &count);
    PFNGLXCREATECONTEXTATTRIBSARBPROC create =
        (PFNGLXCREATECONTEXTATTRIBSARBPROC)glXGetProcAddressARB(
            (const GLubyte *)"glXCreateContextAttribsARB");
    if (!configs || !count || !create)
        SKIP("SKIPPED: GLX has no configuration with a pbuffer");
    GLXContext context = attributes
                             ? create(display, configs[0], share, True, attributes)
                             : glXCreateNewContext(display, configs[0], GLX_RGBA_TYPE, share, True);
    pbuffer = glXCreatePbuffer(display, configs[0], small);
    if (!context || !glXMakeContextCurrent(display, pbuffer, pbuffer, context))
        SKIP("SKIPPED: no GLX context");
    XFree(configs);
    return context;
}

static void round_trip(void)
{
    static uint8_t want[SIZE], got[SIZE];
    GLuint b, t, f;
    CUgraphicsResource r[2];
    CUdeviceptr p;
    CUarray a;
    for (int i = 0; i < SIZE; i++)
        want[i] = (uint8_t)(i * 7 + 3);
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE, want, GL_DYNAMIC_DRAW);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, want);
    MUST(cuGraphicsGLRegisterBuffer(&r[0], b, 0));
    MUST(cuGraphicsGLRegisterImage(&r[1], t, GL_TEXTURE_2D, 0));
    MUST(cuGraphicsMapResources(2, r, 0));
    MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r[0]));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, r[1], 0, 0));
    EXPECT_OK(cuMemcpyDtoH(got, p, SIZE));
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuMemcpyAtoH(got, a, 0, 128));
    EXPECT(!memcmp(got, want, 128));
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    memset(want, 77, 128);
    EXPECT_OK(cuMemcpyHtoA(a, 0, want, 128));
    EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    const uint8_t *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_READ_BIT);
    EXPECT(mapped && mapped[SIZE - 1] == 9);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    glGenFramebuffers(1, &f);
    glBindFramebuffer(GL_FRAMEBUFFER, f);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
    glReadPixels(0, 0, 32, 32, GL_RGBA, GL_UNSIGNED_BYTE, got);
    EXPECT(!memcmp(got, want, SIZE));
    EXPECT_OK(cuGraphicsUnregisterResource(r[0]));
    EXPECT_OK(cuGraphicsUnregisterResource(r[1]));
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
}

TEST(core)
{
    start(NULL, core);
    test_context();
    round_trip();
    EXPECT_NO_DIAGNOSTIC();
}
TEST(compatibility)
{
    start(NULL, NULL);
    test_context();
    round_trip();
}
TEST(es)
{
    start(NULL, es);
    EXPECT(!strncmp((const char *)glGetString(GL_VERSION), "OpenGL ES", 9));
    test_context();
    round_trip();
    EXPECT_NO_DIAGNOSTIC();
}
TEST(shared)
{
    GLXContext first = start(NULL, core);
    start(first, core);
    test_context();
    round_trip();
}

static void need_no_thread_sanitizer(void)
{
    if (THREAD_SANITIZER)
        SKIP("ThreadSanitizer ends the process when a library that it has a suppression for is "
             "unloaded, as the driver of a closed connection is");
}

// Destroys the context and closes its connection, which ends the driver's own contexts too.
static void close_display(GLXContext context)
{
    glXMakeContextCurrent(display, None, None, NULL);
    glXDestroyContext(display, context);
    glXDestroyPbuffer(display, pbuffer);
    XCloseDisplay(display);
    display = NULL;
}

// The program closes its window: first the connection, then CUDA's objects.
TEST(closed)
{
    need_no_thread_sanitizer();
    test_context();
    for (int i = 0; i < 3; i++) {
        GLuint b;
        CUgraphicsResource r;
        GLXContext context = start(NULL, core);
        glGenBuffers(1, &b);
        glBindBuffer(GL_ARRAY_BUFFER, b);
        glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_DYNAMIC_DRAW);
        MUST(cuGraphicsGLRegisterBuffer(&r, b, 0));
        EXPECT_OK(cuGraphicsMapResources(1, &r, 0));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        close_display(context);
        EXPECT_ERROR(cuGraphicsMapResources(1, &r, 0), CUDA_ERROR_UNKNOWN);
    }
}

// ---- X errors of the program

static Display *other; // the connection that they occur on
static atomic_bool enough;
static atomic_int sent, seen;

static int count_error(Display *on, XErrorEvent *event)
{
    (void)event;
    seen += on == other;
    return 0;
}

static void *make_errors(void *unused)
{
    enum { NO_WINDOW = 1 };
    (void)unused;
    while (!enough) {
        XDestroyWindow(other, NO_WINDOW);
        XSync(other, False);
        sent++;
    }
    return NULL;
}

// The program's handler should receive its errors even while the driver, which has to tolerate
// errors of its own, opens and closes contexts.
TEST(errors_reach_the_program)
{
    enum { TIMES = 10 };
    pthread_t thread;
    need_no_thread_sanitizer();
    if (!(other = XOpenDisplay(NULL)))
        SKIP("SKIPPED: no X server");
    test_context();
    XSetErrorHandler(count_error);
    EXPECT_EQ(pthread_create(&thread, NULL, make_errors, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        GLXContext context = start(NULL, core);
        round_trip();
        close_display(context);
    }
    enough = true;
    pthread_join(thread, NULL);
    EXPECT(sent > TIMES);
    EXPECT_EQ(seen, sent);
    EXPECT(XSetErrorHandler(NULL) == count_error);
}

// If a program does not use EGL, the driver does not search for it on every call.
TEST(quick_without_egl)
{
    enum { TIMES = 200, MOST_US = 500 };
    struct timespec from, to;
    GLuint b;
    CUgraphicsResource r;
    start(NULL, NULL);
    test_context();
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, SIZE, NULL, GL_DYNAMIC_DRAW);
    MUST(cuGraphicsGLRegisterBuffer(&r, b, 0));
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < TIMES; i++) {
        EXPECT_OK(cuGraphicsMapResources(1, &r, 0));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    EXPECT(((to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000) / TIMES <
           MOST_US);
}

static void contexts_with(int attribute, int value)
{
    const int attributes[] = {
        GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3, attribute, value, None};
    start(NULL, attributes);
    test_context();
    round_trip();
}

TEST(may_be_lost)
{
    contexts_with(GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, GLX_LOSE_CONTEXT_ON_RESET_ARB);
}

TEST(without_errors)
{
    contexts_with(GLX_CONTEXT_OPENGL_NO_ERROR_ARB, True);
}

TESTS(CASE(may_be_lost), CASE(without_errors), CASE(quick_without_egl), CASE(core),
      CASE(compatibility), CASE(es), CASE(shared), CASE(closed), CASE(errors_reach_the_program))
