// SPDX-License-Identifier: MIT
// A window of EGL, on an X server. The driver does not take the place of a context that draws to a
// window, because eglMakeCurrent gives new buffers to a window that was resized.
#include <X11/Xlib.h>

#include "guest.h"

enum { SIDE = 64 };

static Display *server;

// Makes a context with a window of the X server current.
static void start(void)
{
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_WINDOW_BIT, EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0, visual = 0;
    server = XOpenDisplay(NULL);
    if (!server)
        SKIP("SKIPPED: no X server");
    gl_display = eglGetPlatformDisplay(EGL_PLATFORM_X11_KHR, server, NULL);
    if (!eglInitialize(gl_display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(gl_display, wanted, &config, 1, &count) || !count)
        SKIP("SKIPPED: EGL draws to no window");
    eglGetConfigAttrib(gl_display, config, EGL_NATIVE_VISUAL_ID, &visual);
    const Window root = DefaultRootWindow(server);
    const Window window = XCreateSimpleWindow(server, root, 0, 0, SIDE, SIDE, 0, 0, 0);
    XMapWindow(server, window);
    XSync(server, False);
    const EGLSurface surface =
        eglCreatePlatformWindowSurface(gl_display, config, (void *)&window, NULL);
    const EGLContext context = eglCreateContext(gl_display, config, EGL_NO_CONTEXT, NULL);
    if (!surface || !context || !eglMakeCurrent(gl_display, surface, surface, context))
        SKIP("SKIPPED: no context for a window");
    test_context();
}

TEST(window)
{
    static const uint8_t red[] = {255, 0, 0};
    uint8_t pixel[4];
    start();
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    use(false);
    glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    EXPECT(!memcmp(pixel, red, sizeof red));
    EXPECT(eglSwapBuffers(gl_display, eglGetCurrentSurface(EGL_DRAW)));
}

// Nothing holds the driver back if the window's context is current without the window.
TEST(without_window)
{
    start();
    gl_use(eglGetCurrentContext());
    use(true);
}

TESTS(CASE(window), CASE(without_window))
