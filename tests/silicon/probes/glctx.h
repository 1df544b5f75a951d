// SPDX-License-Identifier: MIT
// A headless desktop-GL context through EGL's device platform (the NVIDIA driver or Mesa's software
// device).
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#define GLFN(X)                                                                                    \
    X(PFNGLGENBUFFERSPROC, glGenBuffers)                                                           \
    X(PFNGLBINDBUFFERPROC, glBindBuffer) X(PFNGLBUFFERDATAPROC, glBufferData)                      \
        X(PFNGLGETBUFFERSUBDATAPROC, glGetBufferSubData) X(PFNGLTEXSTORAGE2DPROC, glTexStorage2D)  \
            X(PFNGLTEXSTORAGE3DPROC, glTexStorage3D) X(PFNGLTEXSTORAGE1DPROC, glTexStorage1D)      \
                X(PFNGLDELETEBUFFERSPROC, glDeleteBuffers)                                         \
                    X(PFNGLGENRENDERBUFFERSPROC, glGenRenderbuffers) X(PFNGLBINDRENDERBUFFERPROC,  \
                                                                       glBindRenderbuffer)         \
                        X(PFNGLRENDERBUFFERSTORAGEPROC, glRenderbufferStorage)                     \
                            X(PFNGLTEXSUBIMAGE3DPROC, glxTexSubImage3D)                            \
                                X(PFNGLCLEARBUFFERSUBDATAPROC, glClearBufferSubData)               \
                                    X(PFNGLTEXSTORAGE2DMULTISAMPLEPROC, glTexStorage2DMultisample)
#define D(t, n) static t n##_;
GLFN(D)
#undef D
static int gl_start(void)
{
    PFNEGLQUERYDEVICESEXTPROC qd = (void *)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC gpd = (void *)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (!qd || !gpd) {
        LINE("no EGL device platform");
        return -1;
    }
    EGLDeviceEXT dv[16];
    EGLint n = 0;
    qd(16, dv, &n);
    for (int i = 0; i < n; i++) {
        EGLDisplay d = gpd(EGL_PLATFORM_DEVICE_EXT, dv[i], NULL);
        EGLint a, b;
        if (!d || !eglInitialize(d, &a, &b))
            continue;
        if (!eglBindAPI(EGL_OPENGL_API))
            continue;
        EGLint ca[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                       EGL_NONE};
        EGLConfig c;
        EGLint nc = 0;
        eglChooseConfig(d, ca, &c, 1, &nc);
        if (!nc)
            continue;
        EGLint xa[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
        EGLContext x = eglCreateContext(d, c, EGL_NO_CONTEXT, xa);
        if (!x)
            continue;
        if (!eglMakeCurrent(d, EGL_NO_SURFACE, EGL_NO_SURFACE, x))
            continue;
#define D(t, n) n##_ = (t)eglGetProcAddress(#n[2] == 'x' ? "glTexSubImage3D" : #n);
        GLFN(D)
#undef D
        return 0;
    }
    LINE("no GL context of %d devices", n);
    return -1;
}
