// SPDX-License-Identifier: MIT
// The OpenGL context that is current in a thread, and the driver's own contexts; on EGL and GLX.
#include "gl_context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "gl_library.h"
#include "gl_system.h"
#include "thread.h"

// Asks once in a call of the program. During a call only functions of the program change the answer
// (em_program_end), and gl_guest.c, which does not ask meanwhile. The driver's own threads make no
// calls, and always ask.
static struct em_thread *context_ask(void)
{
    struct em_thread *self = em_thread();
    if (self->entry && self->gl_call == self->calls)
        return self;
    self->gl_system = GL_SYSTEM_NONE;
    self->gl_context = em_gl_have_egl() ? em_egl.eglGetCurrentContext() : NULL;
    self->gl_display = NULL;
    if (self->gl_context) {
        self->gl_system = GL_SYSTEM_EGL;
    } else if (em_gl_have_glx()) {
        self->gl_context = em_glx.glXGetCurrentContext();
        self->gl_system = self->gl_context ? GL_SYSTEM_GLX : GL_SYSTEM_NONE;
    }
    self->gl_call = self->calls;
    return self;
}

struct em_gl_current em_gl_context_current(void)
{
    struct em_thread *self = context_ask();
    const enum gl_system system = (enum gl_system)self->gl_system;
    if (!self->gl_display && system == GL_SYSTEM_EGL)
        self->gl_display = em_egl.eglGetCurrentDisplay();
    else if (!self->gl_display && system == GL_SYSTEM_GLX)
        self->gl_display = em_glx.glXGetCurrentDisplay();
    return (struct em_gl_current){system, self->gl_display, self->gl_context};
}

enum gl_system em_gl_context_system(void)
{
    return (enum gl_system)context_ask()->gl_system;
}

void *em_gl_context_function(enum gl_system system, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "gl%s", name);
    return system == GL_SYSTEM_EGL   ? em_egl.eglGetProcAddress(full)
           : system == GL_SYSTEM_GLX ? em_glx.glXGetProcAddressARB(full)
                                     : NULL;
}

bool em_gl_version_is_at_least(const unsigned char *version, int major, int minor)
{
    int has_major = 0, has_minor = 0;
    bool known = version && sscanf((const char *)version, "%d.%d", &has_major, &has_minor) == 2;
    return known && (has_major > major || (has_major == major && has_minor >= minor));
}

bool em_gl_context_is_usable(const struct em_gl_current *current, const char **version)
{
    enum { PREFIX = 9 };
    const unsigned char *(*get_string)(gl_enum) =
        (const unsigned char *(*)(gl_enum))em_gl_context_function(current->system, "GetString");
    const unsigned char *text = get_string ? get_string(GL_VERSION) : NULL;
    bool es = text && !strncmp((const char *)text, "OpenGL ES", PREFIX);
    if (version)
        *version = text ? (const char *)text : "of no known version";
    return es ? em_gl_version_is_at_least(text + PREFIX, 3, 0)
              : em_gl_version_is_at_least(text, 3, 2);
}

bool em_gl_finish_current(void)
{
    static void (*finish[GL_SYSTEMS])(void); // glFinish of each system; none has no entry
    const enum gl_system system = em_gl_context_system();
    if (system == GL_SYSTEM_NONE)
        return false;
    void (*f)(void) = __atomic_load_n(&finish[system], __ATOMIC_RELAXED);
    if (!f) {
        f = (void (*)(void))em_gl_context_function(system, "Finish");
        __atomic_store_n(&finish[system], f, __ATOMIC_RELAXED);
    }
    if (f)
        f();
    return true;
}

// ---- the driver's own contexts

const char *em_gl_context_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    *own = (struct em_gl_own){.system = current->system, .display = current->display};
    return current->system == GL_SYSTEM_EGL ? em_gl_egl_open(current, own)
                                            : em_gl_glx_open(current, own);
}

// Mesa removes its contexts from its list when the display is terminated, and refuses a handle that
// is not in the list.
bool em_gl_context_lives(const struct em_gl_own *own)
{
    enum { EGL_CONFIG_ID = 0x3028 };
    int id;
    return own->system != GL_SYSTEM_EGL ||
           em_egl.eglQueryContext(own->display, own->context, EGL_CONFIG_ID, &id);
}

bool em_gl_context_use(const struct em_gl_own *own)
{
    if (own->system == GL_SYSTEM_EGL)
        return em_egl.eglMakeCurrent(own->display, own->surface, own->surface, own->context) != 0;
    return em_glx.glXMakeContextCurrent(own->display, own->pbuffer, own->pbuffer, own->context) !=
           0;
}

void em_gl_context_close(struct em_gl_own *own)
{
    if (own->system == GL_SYSTEM_EGL)
        em_gl_egl_close(own);
    else
        em_gl_glx_close(own);
    own->context = NULL;
}

// ---- the end of a display

// Atomic, because no lock of the driver guards it: several threads may set it, always to the same
// function, and Xlib calls close_display in any thread.
static void (*_Atomic display_gone)(void *display);

static int close_display(void *display, void *codes)
{
    (void)codes;
    void (*gone)(void *) = atomic_load(&display_gone);
    gone(display);
    return 0;
}

bool em_gl_watch_display(const struct em_gl_current *current, void (*gone)(void *display))
{
    if (current->system != GL_SYSTEM_GLX || !em_gl_have_xlib())
        return current->system == GL_SYSTEM_EGL; // EGL keeps what a current context needs
    int *codes =
        em_xlib.XAddExtension(current->display); // XExtCodes: the first member is the number
    if (!codes)
        return false;
    atomic_store(&display_gone, gone);
    em_xlib.XESetCloseDisplay(current->display, codes[0], (void *)close_display);
    return true;
}
