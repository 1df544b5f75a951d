// SPDX-License-Identifier: MIT
// Finds EGL, GLX and Xlib in the process.
#include "gl_library.h"

#include <dlfcn.h>

#include "loaded.h"
#include "mutex.h"

struct em_egl em_egl;
struct em_glx em_glx;
struct em_xlib em_xlib;

// Whether all functions of a library have been found, and how many libraries were loaded at the
// last search that failed.
struct search {
    bool found;
    unsigned long long loaded;
};

static struct dm_mutex found_mutex = DM_MUTEX_INITIALIZER(LEAF);

// Finds a function in the program's own libraries, or in a library that it has opened. Loads
// nothing.
static void *find(const char *library, const char *name)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f)
        return f;
    void *open =
        dlopen(library, RTLD_LAZY | RTLD_NOLOAD); // stays open, because its functions are used
    return open ? dlsym(open, name) : NULL;
}

union functions {
    struct em_egl egl;
    struct em_glx glx;
    struct em_xlib xlib;
};

#define FIND(set, library, function)                                                               \
    set.function = find(library, #function);                                                       \
    if (!set.function)                                                                             \
        return false;
#define X(result, name, arguments) FIND(out->egl, "libEGL.so.1", name)
static bool find_egl(union functions *out)
{
    EGL_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments)                                                                 \
    out->glx.name = find("libGLX.so.0", #name);                                                    \
    if (!out->glx.name)                                                                            \
        out->glx.name = find("libGL.so.1", #name);                                                 \
    if (!out->glx.name)                                                                            \
        return false;
static bool find_glx(union functions *out)
{
    GLX_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments) FIND(out->xlib, "libX11.so.6", name)
static bool find_xlib(union functions *out)
{
    XLIB_FUNCTIONS(X)
    return true;
}
#undef X

// A library may be loaded later, so the search is repeated when the number of libraries has
// changed. The search runs without the mutex, because another thread may be inside the dynamic
// loader, in a constructor that calls CUDA. Two threads may search at the same time.
static bool have(struct search *s, bool (*find_all)(union functions *),
                 void (*keep)(const union functions *))
{
    if (__atomic_load_n(&s->found, __ATOMIC_ACQUIRE))
        return true;
    unsigned long long loaded = em_libraries_loaded();
    if (loaded && __atomic_load_n(&s->loaded, __ATOMIC_RELAXED) == loaded)
        return false;
    union functions functions;
    bool all = find_all(&functions);
    dm_mutex_lock(&found_mutex);
    if (all && !s->found) {
        keep(&functions);
        __atomic_store_n(&s->found, true, __ATOMIC_RELEASE);
    } else if (!all) {
        __atomic_store_n(&s->loaded, loaded, __ATOMIC_RELAXED);
    }
    dm_mutex_unlock(&found_mutex);
    return all;
}

static void keep_egl(const union functions *f)
{
    em_egl = f->egl;
}

bool em_gl_have_egl(void)
{
    static struct search search;
    return have(&search, find_egl, keep_egl);
}

static void keep_glx(const union functions *f)
{
    em_glx = f->glx;
}

bool em_gl_have_glx(void)
{
    static struct search search;
    return have(&search, find_glx, keep_glx);
}

static void keep_xlib(const union functions *f)
{
    em_xlib = f->xlib;
}

bool em_gl_have_xlib(void)
{
    static struct search search;
    return have(&search, find_xlib, keep_xlib);
}
