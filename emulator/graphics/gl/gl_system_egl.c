// SPDX-License-Identifier: MIT
// The driver's own contexts on EGL, and EGLImages.
#include <string.h>

#include "gl_library.h"
#include "gl_system.h"
#include "guard.h"

// Numbers of the EGL registry.
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
};

static void *egl_config_of(void *display, int id)
{
    int wanted[] = {EGL_CONFIG_ID, id, EGL_NONE}, count = 0;
    void *config = NULL;
    if (!id || !em_egl.eglChooseConfig(display, wanted, &config, 1, &count) || count != 1)
        return NULL;
    return config;
}

// Any configuration with which a context without surface could be made current on a 1x1 buffer.
static void *egl_config_any(void *display)
{
    int wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                    EGL_NONE},
        count = 0;
    void *config = NULL;
    return em_egl.eglChooseConfig(display, wanted, &config, 1, &count) && count == 1 ? config
                                                                                     : NULL;
}

// Creates a context of OpenGL 3.3, or of the newest version if `newest` is set.
static void *egl_create(const struct em_gl_current *current, void *config, bool newest,
                        const struct em_gl_kind_of_context *kind)
{
    int list[EM_GL_ATTRIBUTES_MAX];
    unsigned count = 0;
    if (!newest) {
        em_gl_add(list, &count, EGL_MAJOR_VERSION, 3);
        em_gl_add(list, &count, EGL_MINOR_VERSION, 3);
    }
    if (kind->robust)
        em_gl_add(list, &count, EGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET);
    if (kind->silent)
        em_gl_add(list, &count, EGL_NO_ERROR, 1);
    list[count] = EGL_NONE;
    return em_egl.eglCreateContext(current->display, config, current->context, list);
}

// The driver's context is always one of OpenGL, because OpenGL ES has no call that reads textures.
// Mesa lets contexts of OpenGL and OpenGL ES share objects.
const char *em_gl_egl_open(const struct em_gl_current *current, struct em_gl_own *own)
{
    int id = 0;
    if (!em_egl.eglBindAPI(EGL_OPENGL_API))
        return "EGL has no OpenGL";
    em_egl.eglQueryContext(current->display, current->context, EGL_CONFIG_ID, &id);
    void *configs[] = {egl_config_of(current->display, id), egl_config_any(current->display)};
    for (unsigned i = 0; i < 4 * EM_GL_KINDS; i++) {
        const struct em_gl_kind_of_context *kind = &em_gl_kinds[i / 4];
        own->config = configs[i / 2 % 2]; // NULL is EGL_NO_CONFIG_KHR
        own->context = egl_create(current, own->config, i % 2 == 0, kind);
        if (!own->context)
            continue;
        own->silent = kind->silent;
        if (em_egl.eglMakeCurrent(current->display, NULL, NULL, own->context))
            return NULL;
        static const int one[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        own->surface =
            own->config ? em_egl.eglCreatePbufferSurface(current->display, own->config, one) : NULL;
        if (own->surface &&
            em_egl.eglMakeCurrent(current->display, own->surface, own->surface, own->context))
            return NULL;
        if (own->surface)
            em_egl.eglDestroySurface(current->display, own->surface);
        em_egl.eglDestroyContext(current->display, own->context);
        own->surface = own->context = NULL;
    }
    return "EGL makes no OpenGL context that shares objects with the current one";
}

void em_gl_egl_close(struct em_gl_own *own)
{
    em_egl.eglMakeCurrent(own->display, NULL, NULL, NULL);
    if (own->surface)
        em_egl.eglDestroySurface(own->display, own->surface);
    em_egl.eglDestroyContext(own->display, own->context);
}

// ---- EGLImages

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
    return address && address % sizeof(void *) == 0 &&
           !dm_guarded_host(read_words, w, sizeof w->word, &fault);
}

// Sets the image's debugging label, because EGL checks the handle when it does that
// (EGL_KHR_debug).
static bool is_image(void *display, void *image, bool *known)
{
    enum { EGL_OBJECT_IMAGE = 0x33b4, EGL_SUCCESS = 0x3000 };
    int (*label)(void *, unsigned, void *, void *) =
        (int (*)(void *, unsigned, void *, void *))em_egl.eglGetProcAddress("eglLabelObjectKHR");
    const char *extensions = em_egl.eglQueryString(NULL, EGL_EXTENSIONS);
    *known = label && extensions && strstr(extensions, "EGL_KHR_debug");
    return *known && label(display, EGL_OBJECT_IMAGE, image, NULL) == EGL_SUCCESS;
}

bool em_gl_context_knows_image(void *display, void *image)
{
    bool known, yes = is_image(display, image, &known);
    if (known)
        return yes;
    struct words w, inner;
    if (!follow((uintptr_t)image, &w))
        return false;
    // Objects of Mesa's EGL begin with a pointer to their display. After four words that all
    // objects have, an image has a pointer to its contents.
    const char *vendor = em_egl.eglQueryString(display, EGL_VENDOR);
    return !vendor || strncmp(vendor, "Mesa", 4) ||
           (w.word[0] == (uintptr_t)display && follow(w.word[4], &inner));
}
