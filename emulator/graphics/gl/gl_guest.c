// SPDX-License-Identifier: MIT
// Whether a context of the driver's own may take the place of the program's (EGL only).
#include "gl_guest.h"

#include <string.h>

#include "gl_library.h"

// Numbers of the EGL and GL registries.
enum {
    EGL_CONFIG_ID = 0x3028,
    EGL_LARGEST_PBUFFER = 0x3058,
    EGL_DRAW = 0x3059,
    EGL_READ = 0x305a,
    GL_DEBUG_CALLBACK_FUNCTION = 0x8244,
};

// "Querying EGL_LARGEST_PBUFFER for a non-pbuffer surface is not an error, but value is not
// modified". The question fails if the program has destroyed the surface.
static bool host_surface_may_wait(void *display, void *surface)
{
    int largest = -1;
    return !surface || (em_egl.eglQuerySurface(display, surface, EGL_LARGEST_PBUFFER, &largest) &&
                        largest != -1);
}

static bool host_may_be_debugged(const struct gl_functions *gl)
{
    static const char es[] = "OpenGL ES ";
    const unsigned char *version = gl->GetString(GL_VERSION);
    void *callback = NULL;
    if (!gl->GetPointerv || !version)
        return true;
    bool answers = !strncmp((const char *)version, es, sizeof es - 1)
                       ? em_gl_version_is_at_least(version + sizeof es - 1, 3, 2)
                       : em_gl_version_is_at_least(version, 4, 3);
    if (answers)
        gl->GetPointerv(GL_DEBUG_CALLBACK_FUNCTION, &callback);
    return !answers || callback;
}

bool em_gl_host_find(const struct gl_functions *gl, void *display, struct em_gl_host *host)
{
    const struct em_gl_current current = em_gl_context_current();
    int id;
    if (current.system != GL_SYSTEM_EGL || current.display != display)
        return false;
    *host = (struct em_gl_host){.display = display,
                                .context = current.context,
                                .draw = em_egl.eglGetCurrentSurface(EGL_DRAW),
                                .read = em_egl.eglGetCurrentSurface(EGL_READ)};
    return em_egl.eglQueryContext(display, host->context, EGL_CONFIG_ID, &id) &&
           host_surface_may_wait(display, host->draw) &&
           host_surface_may_wait(display, host->read) && !host_may_be_debugged(gl);
}

void em_gl_host_restore(const struct em_gl_host *host)
{
    em_egl.eglMakeCurrent(host->display, host->draw, host->read, host->context);
}
