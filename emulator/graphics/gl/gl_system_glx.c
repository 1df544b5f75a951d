// SPDX-License-Identifier: MIT
// The driver's own contexts on GLX.
#include <sched.h>
#include <stdatomic.h>

#include "call.h"
#include "gl_library.h"
#include "gl_system.h"
#include "mutex.h"

// Numbers of the GLX registry.
enum {
    GLX_SCREEN = 0x800c,
    GLX_FBCONFIG_ID = 0x8013,
    GLX_RGBA_TYPE = 0x8014,
    GLX_RESET_NOTIFICATION_STRATEGY = 0x8256,
    GLX_LOSE_CONTEXT_ON_RESET = 0x8252,
    GLX_NO_ERROR = 0x31b3,
    GLX_CONTEXT_MAJOR_VERSION = 0x2091,
    GLX_CONTEXT_MINOR_VERSION = 0x2092,
    GLX_CONTEXT_PROFILE_MASK = 0x9126,
    GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT = 2,
    GLX_PBUFFER_HEIGHT = 0x8040,
    GLX_PBUFFER_WIDTH = 0x8041,
};

// The head of XErrorEvent.
struct error_event {
    int type;
    void *display;
    unsigned long resource, serial;
    unsigned char error, request, minor;
};

typedef int error_handler(void *display, void *event);

static struct {
    struct dm_mutex lock; // held while the driver's handler is installed
    error_handler *_Atomic before;
    atomic_int glx; // the extension's major opcode
} handler = {.lock = DM_MUTEX_INITIALIZER(FOREIGN)};

// Ignores the driver's own GLX errors, because Xlib's handler would end the process. Other errors
// go to the program's handler. The process has one handler only, so an error of the program's own
// GLX requests is lost at such a moment.
static int ignore_error(void *display, void *event)
{
    if (((struct error_event *)event)->request == handler.glx)
        return 0;
    error_handler *before = handler.before;
    while (!before) { // another thread is about to set it
        sched_yield();
        before = handler.before;
    }
    const bool outer = em_program_begin();
    const int result = before(display, event);
    em_program_end(outer);
    return result;
}

static void take_handler(void *display)
{
    int glx, event, error;
    dm_mutex_lock(&handler.lock);
    handler.glx = em_xlib.XQueryExtension(display, "GLX", &glx, &event, &error) ? glx : 0;
    error_handler *last = handler.before;
    handler.before = NULL;
    error_handler *before = (error_handler *)em_xlib.XSetErrorHandler((void *)ignore_error);
    handler.before = before == ignore_error
                         ? last
                         : before; // the program may have restored the driver's handler
}

// Restores the program's handler, unless the program has installed another one meanwhile.
static void give_handler_back(void *display)
{
    em_xlib.XSync(display, 0);
    error_handler *before = handler.before;
    void *now = em_xlib.XSetErrorHandler((void *)before);
    if (now != (void *)ignore_error)
        em_xlib.XSetErrorHandler(now);
    dm_mutex_unlock(&handler.lock);
}

static void *glx_config_of(const struct em_gl_current *current)
{
    int id = 0, screen = 0, count = 0;
    em_glx.glXQueryContext(current->display, current->context, GLX_FBCONFIG_ID, &id);
    em_glx.glXQueryContext(current->display, current->context, GLX_SCREEN, &screen);
    void **configs = em_glx.glXGetFBConfigs(current->display, screen, &count), *config = NULL;
    for (int i = 0; i < count && !config; i++) {
        int other = 0;
        if (!em_glx.glXGetFBConfigAttrib(current->display, configs[i], GLX_FBCONFIG_ID, &other) &&
            other == id)
            config = configs[i];
    }
    if (configs)
        em_xlib.XFree(configs);
    return config;
}

// Mesa wants a version too; the driver can work without error checks from 4.5 on.
static void glx_silent(int *list, unsigned *count)
{
    em_gl_add(list, count, GLX_NO_ERROR, 1);
    em_gl_add(list, count, GLX_CONTEXT_MAJOR_VERSION, 4);
    em_gl_add(list, count, GLX_CONTEXT_MINOR_VERSION, 5);
    em_gl_add(list, count, GLX_CONTEXT_PROFILE_MASK, GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT);
}

static const char *glx_make(const struct em_gl_current *current, struct em_gl_own *own)
{
    typedef void *create(void *, void *, void *, int, const int *);
    create *create_attributes = (create *)em_glx.glXGetProcAddressARB("glXCreateContextAttribsARB");
    static const int one[] = {GLX_PBUFFER_WIDTH, 1, GLX_PBUFFER_HEIGHT, 1, 0};
    own->config = glx_config_of(current);
    if (!own->config)
        return "GLX does not know the current context's configuration";
    for (unsigned i = 0; create_attributes && !own->context && i < EM_GL_KINDS; i++) {
        int list[EM_GL_ATTRIBUTES_MAX];
        unsigned count = 0;
        if (em_gl_kinds[i].robust)
            em_gl_add(list, &count, GLX_RESET_NOTIFICATION_STRATEGY, GLX_LOSE_CONTEXT_ON_RESET);
        if (em_gl_kinds[i].silent)
            glx_silent(list, &count);
        list[count] = 0;
        own->context = create_attributes(current->display, own->config, current->context, 1, list);
        own->silent = em_gl_kinds[i].silent;
    }
    if (!own->context)
        own->context = em_glx.glXCreateNewContext(current->display, own->config, GLX_RGBA_TYPE,
                                                  current->context, 1);
    if (!own->context)
        return "GLX makes no context that shares objects with the current one";
    if (em_glx.glXMakeContextCurrent(current->display, 0, 0, own->context))
        return NULL;
    own->pbuffer = em_glx.glXCreatePbuffer(current->display, own->config, one);
    if (own->pbuffer &&
        em_glx.glXMakeContextCurrent(current->display, own->pbuffer, own->pbuffer, own->context))
        return NULL;
    if (own->pbuffer)
        em_glx.glXDestroyPbuffer(current->display, own->pbuffer);
    em_glx.glXDestroyContext(current->display, own->context);
    own->context = NULL;
    return "a GLX context of the driver's own cannot be made current";
}

const char *em_gl_glx_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    if (!em_gl_have_xlib())
        return "GLX without libX11";
    take_handler(current->display);
    const char *why = glx_make(current, own);
    give_handler_back(current->display);
    return why;
}

void em_gl_glx_close(struct em_gl_own *own)
{
    take_handler(own->display);
    em_glx.glXMakeContextCurrent(own->display, 0, 0, NULL);
    if (own->pbuffer)
        em_glx.glXDestroyPbuffer(own->display, own->pbuffer);
    em_glx.glXDestroyContext(own->display, own->context);
    give_handler_back(own->display);
}
