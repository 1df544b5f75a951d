// SPDX-License-Identifier: MIT
// Finds EGL and GLX in the process and makes contexts with them.
#include "gl_window.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"
#include "loaded.h"

// Numbers of the EGL and GLX registries.
enum {
    EGL_PBUFFER_BIT = 1,
    EGL_CONFIG_ID = 0x3028,
    EGL_SURFACE_TYPE = 0x3033,
    EGL_NONE = 0x3038,
    EGL_VENDOR = 0x3053,
    EGL_EXTENSIONS = 0x3055,
    EGL_RENDERABLE_TYPE = 0x3040,
    EGL_HEIGHT = 0x3056,
    EGL_WIDTH = 0x3057,
    EGL_OPENGL_BIT = 8,
    EGL_OPENGL_API = 0x30a2,
    EGL_MAJOR_VERSION = 0x3098,
    EGL_MINOR_VERSION = 0x30fb,
    EGL_RESET_NOTIFICATION_STRATEGY = 0x31bd,
    EGL_LOSE_CONTEXT_ON_RESET = 0x31bf,
    EGL_NO_ERROR = 0x31b3,
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

// X(result, name, arguments)
#define EGL_FUNCTIONS(X)                                                                                                                             \
    X(void *, eglGetCurrentContext, (void))                                                                                                          \
    X(void *, eglGetCurrentDisplay, (void))                                                                                                          \
    X(void *, eglGetProcAddress, (const char *))                                                                                                     \
    X(const char *, eglQueryString, (void *, int))                                                                                                   \
    X(unsigned, eglBindAPI, (unsigned))                                                                                                              \
    X(unsigned, eglQueryContext, (void *, void *, int, int *))                                                                                       \
    X(unsigned, eglChooseConfig, (void *, const int *, void **, int, int *))                                                                         \
    X(void *, eglCreateContext, (void *, void *, void *, const int *))                                                                               \
    X(unsigned, eglDestroyContext, (void *, void *))                                                                                                 \
    X(void *, eglCreatePbufferSurface, (void *, void *, const int *))                                                                                \
    X(unsigned, eglDestroySurface, (void *, void *))                                                                                                 \
    X(unsigned, eglMakeCurrent, (void *, void *, void *, void *))

#define GLX_FUNCTIONS(X)                                                                                                                             \
    X(void *, glXGetCurrentContext, (void))                                                                                                          \
    X(void *, glXGetCurrentDisplay, (void))                                                                                                          \
    X(void *, glXGetProcAddressARB, (const char *))                                                                                                  \
    X(int, glXQueryContext, (void *, void *, int, int *))                                                                                            \
    X(void **, glXGetFBConfigs, (void *, int, int *))                                                                                                \
    X(int, glXGetFBConfigAttrib, (void *, void *, int, int *))                                                                                       \
    X(void *, glXCreateNewContext, (void *, void *, int, void *, int))                                                                               \
    X(void, glXDestroyContext, (void *, void *))                                                                                                     \
    X(uintptr_t, glXCreatePbuffer, (void *, void *, const int *))                                                                                    \
    X(void, glXDestroyPbuffer, (void *, uintptr_t))                                                                                                  \
    X(int, glXMakeContextCurrent, (void *, uintptr_t, uintptr_t, void *))

#define XLIB_FUNCTIONS(X)                                                                                                                            \
    X(int, XFree, (void *))                                                                                                                          \
    X(int, XQueryExtension, (void *, const char *, int *, int *, int *))                                                                             \
    X(int, XSync, (void *, int))                                                                                                                     \
    X(void *, XSetErrorHandler, (void *))                                                                                                            \
    X(int *, XAddExtension, (void *))                                                                                                                \
    X(void *, XESetCloseDisplay, (void *, int, void *))

// Whether all functions of a library are known, and how many libraries had been loaded when they were last looked for in vain.
struct search {
    bool found;
    unsigned long long loaded;
};

#define X(result, name, arguments) result(*name) arguments;
static struct {
    struct search search;
    EGL_FUNCTIONS(X)
} egl;
static struct {
    struct search search;
    GLX_FUNCTIONS(X)
} glx;
static struct {
    struct search search;
    XLIB_FUNCTIONS(X)
} xlib;
#undef X

static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

// A function that the program itself is linked with, or that a library has which it has opened; nothing is loaded that is not there.
static void *find(const char *library, const char *name)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f)
        return f;
    void *open = dlopen(library, RTLD_LAZY | RTLD_NOLOAD); // kept open: its functions are used from now on
    return open ? dlsym(open, name) : NULL;
}

#define FIND(set, library, function)                                                                                                                 \
    if (!(set.function = find(library, #function)))                                                                                                  \
        return false;
#define X(result, name, arguments) FIND(egl, "libEGL.so.1", name)
static bool find_egl(void)
{
    EGL_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments)                                                                                                                   \
    if (!(glx.name = find("libGLX.so.0", #name)) && !(glx.name = find("libGL.so.1", #name)))                                                         \
        return false;
static bool find_glx(void)
{
    GLX_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments) FIND(xlib, "libX11.so.6", name)
static bool find_xlib(void)
{
    XLIB_FUNCTIONS(X)
    return true;
}
#undef X

// What is not there may be loaded later, so it is looked for again when a library has been loaded.
static bool have(struct search *s, bool (*find_all)(void))
{
    if (__atomic_load_n(&s->found, __ATOMIC_ACQUIRE))
        return true;
    unsigned long long loaded = em_libraries_loaded();
    if (loaded && __atomic_load_n(&s->loaded, __ATOMIC_RELAXED) == loaded)
        return false;
    pthread_mutex_lock(&finding);
    bool all = s->found || find_all();
    if (all)
        __atomic_store_n(&s->found, true, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&s->loaded, loaded, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&finding);
    return all;
}

struct em_gl_current em_gl_window_current(void)
{
    struct em_gl_current c = {.system = GL_SYSTEM_NONE};
    if (have(&egl.search, find_egl) && (c.context = egl.eglGetCurrentContext())) {
        c.system = GL_SYSTEM_EGL;
        c.display = egl.eglGetCurrentDisplay();
    } else if (have(&glx.search, find_glx) && (c.context = glx.glXGetCurrentContext())) {
        c.system = GL_SYSTEM_GLX;
        c.display = glx.glXGetCurrentDisplay();
    }
    return c;
}

void *em_gl_window_function(enum gl_system system, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "gl%s", name);
    return system == GL_SYSTEM_EGL ? egl.eglGetProcAddress(full) : system == GL_SYSTEM_GLX ? glx.glXGetProcAddressARB(full) : NULL;
}

bool em_gl_window_is(const unsigned char *version, int major, int minor)
{
    int has_major = 0, has_minor = 0;
    bool known = version && sscanf((const char *)version, "%d.%d", &has_major, &has_minor) == 2;
    return known && (has_major > major || (has_major == major && has_minor >= minor));
}

bool em_gl_window_is_usable(const struct em_gl_current *current, const char **version)
{
    enum { PREFIX = 9 };
    const unsigned char *(*get_string)(gl_enum) = (const unsigned char *(*)(gl_enum))em_gl_window_function(current->system, "GetString");
    const unsigned char *text = get_string ? get_string(GL_VERSION) : NULL;
    bool es = text && !strncmp((const char *)text, "OpenGL ES", PREFIX);
    if (version)
        *version = text ? (const char *)text : "of no known version";
    return es ? em_gl_window_is(text + PREFIX, 3, 0) : em_gl_window_is(text, 3, 2);
}

// "If the reset notification behavior of share_context is different …", and likewise of its no-error mode, "an EGL_BAD_MATCH error is generated"; GLX
// says the same. Contexts do not tell what they are without risking an error, so each kind is tried.
struct kind {
    bool robust, silent;
};
static const struct kind kinds[] = {{false, false}, {true, false}, {false, true}, {true, true}};
enum { KINDS = sizeof kinds / sizeof *kinds, ATTRIBUTES_MAX = 16 };

static void add(int *list, unsigned *count, int name, int value)
{
    list[(*count)++] = name;
    list[(*count)++] = value;
}

// ---- EGL

static void *egl_config_of(void *display, int id)
{
    int wanted[] = {EGL_CONFIG_ID, id, EGL_NONE}, count = 0;
    void *config = NULL;
    if (!id || !egl.eglChooseConfig(display, wanted, &config, 1, &count) || count != 1)
        return NULL;
    return config;
}

// Any configuration with which a context without surface could be made current on a 1x1 buffer.
static void *egl_config_any(void *display)
{
    int wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE}, count = 0;
    void *config = NULL;
    return egl.eglChooseConfig(display, wanted, &config, 1, &count) && count == 1 ? config : NULL;
}

// A context of OpenGL 3.3, or of the newest version that there is.
static void *egl_create(const struct em_gl_current *current, void *config, bool newest, const struct kind *kind)
{
    int list[ATTRIBUTES_MAX];
    unsigned count = 0;
    if (!newest) {
        add(list, &count, EGL_MAJOR_VERSION, 3);
        add(list, &count, EGL_MINOR_VERSION, 3);
    }
    if (kind->robust)
        add(list, &count, EGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET);
    if (kind->silent)
        add(list, &count, EGL_NO_ERROR, 1);
    list[count] = EGL_NONE;
    return egl.eglCreateContext(current->display, config, current->context, list);
}

// Objects are shared among contexts of OpenGL, and by Mesa also between those and contexts of OpenGL ES; one of ES could not read textures.
static const char *egl_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    int id = 0;
    if (!egl.eglBindAPI(EGL_OPENGL_API))
        return "EGL has no OpenGL";
    egl.eglQueryContext(current->display, current->context, EGL_CONFIG_ID, &id);
    void *configs[] = {egl_config_of(current->display, id), egl_config_any(current->display)};
    for (unsigned i = 0; i < 4 * KINDS; i++) {
        const struct kind *kind = &kinds[i / 4];
        own->config = configs[i / 2 % 2]; // NULL is EGL_NO_CONFIG_KHR
        own->context = egl_create(current, own->config, i % 2 == 0, kind);
        if (!own->context)
            continue;
        own->silent = kind->silent;
        if (egl.eglMakeCurrent(current->display, NULL, NULL, own->context))
            return NULL;
        static const int one[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        own->surface = own->config ? egl.eglCreatePbufferSurface(current->display, own->config, one) : NULL;
        if (own->surface && egl.eglMakeCurrent(current->display, own->surface, own->surface, own->context))
            return NULL;
        if (own->surface)
            egl.eglDestroySurface(current->display, own->surface);
        egl.eglDestroyContext(current->display, own->context);
        own->surface = own->context = NULL;
    }
    return "EGL makes no OpenGL context that shares objects with the current one";
}

// ---- GLX

// The head of XErrorEvent.
struct error_event {
    int type;
    void *display;
    unsigned long resource, serial;
    unsigned char error, request, minor;
};

static struct {
    pthread_mutex_t lock; // of whoever has its own handler in
    int (*before)(void *display, void *event);
    int glx; // the extension's major opcode
} handler = {.lock = PTHREAD_MUTEX_INITIALIZER};

// An error of ours must not end the program, which is what Xlib's own handler does; those of others are the program's. Handlers are the process's, so
// that an error of the program's own GLX requests at the same moment is lost.
static int ignore_error(void *display, void *event)
{
    return ((struct error_event *)event)->request == handler.glx || !handler.before ? 0 : handler.before(display, event);
}

static void take_handler(void *display)
{
    int event, error;
    pthread_mutex_lock(&handler.lock);
    if (!xlib.XQueryExtension(display, "GLX", &handler.glx, &event, &error))
        handler.glx = 0;
    handler.before = (int (*)(void *, void *))xlib.XSetErrorHandler((void *)ignore_error);
}

// The program may have set another one meanwhile, which stays.
static void give_handler_back(void *display)
{
    xlib.XSync(display, 0);
    void *now = xlib.XSetErrorHandler((void *)handler.before);
    if (now != (void *)ignore_error)
        xlib.XSetErrorHandler(now);
    pthread_mutex_unlock(&handler.lock);
}

static void *glx_config_of(const struct em_gl_current *current)
{
    int id = 0, screen = 0, count = 0;
    glx.glXQueryContext(current->display, current->context, GLX_FBCONFIG_ID, &id);
    glx.glXQueryContext(current->display, current->context, GLX_SCREEN, &screen);
    void **configs = glx.glXGetFBConfigs(current->display, screen, &count), *config = NULL;
    for (int i = 0; i < count && !config; i++) {
        int other = 0;
        if (!glx.glXGetFBConfigAttrib(current->display, configs[i], GLX_FBCONFIG_ID, &other) && other == id)
            config = configs[i];
    }
    if (configs)
        xlib.XFree(configs);
    return config;
}

// Mesa wants a version with it; 4.5 can be worked with without errors.
static void glx_silent(int *list, unsigned *count)
{
    add(list, count, GLX_NO_ERROR, 1);
    add(list, count, GLX_CONTEXT_MAJOR_VERSION, 4);
    add(list, count, GLX_CONTEXT_MINOR_VERSION, 5);
    add(list, count, GLX_CONTEXT_PROFILE_MASK, GLX_CONTEXT_COMPATIBILITY_PROFILE_BIT);
}

static const char *glx_make(const struct em_gl_current *current, struct em_gl_own *own)
{
    typedef void *create(void *, void *, void *, int, const int *);
    create *create_attributes = (create *)glx.glXGetProcAddressARB("glXCreateContextAttribsARB");
    static const int one[] = {GLX_PBUFFER_WIDTH, 1, GLX_PBUFFER_HEIGHT, 1, 0};
    if (!(own->config = glx_config_of(current)))
        return "GLX does not tell the current context's configuration";
    for (unsigned i = 0; create_attributes && !own->context && i < KINDS; i++) {
        int list[ATTRIBUTES_MAX];
        unsigned count = 0;
        if (kinds[i].robust)
            add(list, &count, GLX_RESET_NOTIFICATION_STRATEGY, GLX_LOSE_CONTEXT_ON_RESET);
        if (kinds[i].silent)
            glx_silent(list, &count);
        list[count] = 0;
        own->context = create_attributes(current->display, own->config, current->context, 1, list);
        own->silent = kinds[i].silent;
    }
    if (!own->context)
        own->context = glx.glXCreateNewContext(current->display, own->config, GLX_RGBA_TYPE, current->context, 1);
    if (!own->context)
        return "GLX makes no context that shares objects with the current one";
    if (glx.glXMakeContextCurrent(current->display, 0, 0, own->context))
        return NULL;
    own->pbuffer = glx.glXCreatePbuffer(current->display, own->config, one);
    if (own->pbuffer && glx.glXMakeContextCurrent(current->display, own->pbuffer, own->pbuffer, own->context))
        return NULL;
    if (own->pbuffer)
        glx.glXDestroyPbuffer(current->display, own->pbuffer);
    glx.glXDestroyContext(current->display, own->context);
    own->context = NULL;
    return "a GLX context of the driver's own cannot be made current";
}

static const char *glx_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    if (!have(&xlib.search, find_xlib))
        return "GLX without libX11";
    take_handler(current->display);
    const char *why = glx_make(current, own);
    give_handler_back(current->display);
    return why;
}

static void glx_close(struct em_gl_own *own)
{
    take_handler(own->display);
    glx.glXMakeContextCurrent(own->display, 0, 0, NULL);
    if (own->pbuffer)
        glx.glXDestroyPbuffer(own->display, own->pbuffer);
    glx.glXDestroyContext(own->display, own->context);
    give_handler_back(own->display);
}

// ---- either

const char *em_gl_window_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    *own = (struct em_gl_own){.system = current->system, .display = current->display};
    return current->system == GL_SYSTEM_EGL ? egl_open(current, own) : glx_open(current, own);
}

void em_gl_window_close(struct em_gl_own *own)
{
    if (own->system == GL_SYSTEM_EGL) {
        egl.eglMakeCurrent(own->display, NULL, NULL, NULL);
        if (own->surface)
            egl.eglDestroySurface(own->display, own->surface);
        egl.eglDestroyContext(own->display, own->context);
    } else {
        glx_close(own);
    }
    own->context = NULL;
}

static void (*display_gone)(void *display);

static int close_display(void *display, void *codes)
{
    (void)codes;
    display_gone(display);
    return 0;
}

bool em_gl_window_watch(const struct em_gl_current *current, void (*gone)(void *display))
{
    if (current->system != GL_SYSTEM_GLX || !have(&xlib.search, find_xlib))
        return current->system == GL_SYSTEM_EGL;       // EGL keeps what a current context needs
    int *codes = xlib.XAddExtension(current->display); // XExtCodes: the first member is the number
    if (!codes)
        return false;
    display_gone = gone;
    xlib.XESetCloseDisplay(current->display, codes[0], (void *)close_display);
    return true;
}

struct words {
    uintptr_t address, word[5];
};

static void read_words(void *arg)
{
    struct words *w = arg;
    memcpy(w->word, (const void *)w->address, sizeof w->word);
}

// Whether an aligned pointer leads to memory that can be read.
static bool follow(uintptr_t address, struct words *w)
{
    struct dm_fault fault;
    w->address = address;
    return address && address % sizeof(void *) == 0 && !dm_guarded(read_words, w, &fault);
}

// Labels are for debugging; that EGL checks what it labels (EGL_KHR_debug) is how it can be asked.
static bool is_image(void *display, void *image, bool *known)
{
    enum { EGL_OBJECT_IMAGE = 0x33b4, EGL_SUCCESS = 0x3000 };
    int (*label)(void *, unsigned, void *, void *) = (int (*)(void *, unsigned, void *, void *))egl.eglGetProcAddress("eglLabelObjectKHR");
    const char *extensions = egl.eglQueryString(NULL, EGL_EXTENSIONS);
    *known = label && extensions && strstr(extensions, "EGL_KHR_debug");
    return *known && label(display, EGL_OBJECT_IMAGE, image, NULL) == EGL_SUCCESS;
}

bool em_gl_window_image_is_likely(void *display, void *image)
{
    bool known, yes = is_image(display, image, &known);
    if (known)
        return yes;
    struct words w, inner;
    if (!follow((uintptr_t)image, &w))
        return false;
    // Objects of Mesa's EGL begin with their display; behind the four words that all have, an image has a pointer to what it shows.
    const char *vendor = egl.eglQueryString(display, EGL_VENDOR);
    return !vendor || strncmp(vendor, "Mesa", 4) || (w.word[0] == (uintptr_t)display && follow(w.word[4], &inner));
}
