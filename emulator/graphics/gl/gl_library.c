// SPDX-License-Identifier: MIT
// Finds EGL, GLX and Xlib in the process.
#include "gl_library.h"

#include <dlfcn.h>
#include <pthread.h>

#include "loaded.h"

struct em_egl em_egl;
struct em_glx em_glx;
struct em_xlib em_xlib;

// Whether all functions of a library have been found, and how many libraries were loaded at the
// last search that failed.
struct search {
    bool found;
    unsigned long long loaded;
};

static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

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

#define FIND(set, library, function)                                                               \
    if (!(set.function = find(library, #function)))                                                \
        return false;
#define X(result, name, arguments) FIND(em_egl, "libEGL.so.1", name)
static bool find_egl(void)
{
    EGL_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments)                                                                 \
    if (!(em_glx.name = find("libGLX.so.0", #name)) && !(em_glx.name = find("libGL.so.1", #name))) \
        return false;
static bool find_glx(void)
{
    GLX_FUNCTIONS(X)
    return true;
}
#undef X
#define X(result, name, arguments) FIND(em_xlib, "libX11.so.6", name)
static bool find_xlib(void)
{
    XLIB_FUNCTIONS(X)
    return true;
}
#undef X

// A library may be loaded later, so the search is repeated when the number of libraries has
// changed.
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

bool em_gl_have_egl(void)
{
    static struct search search;
    return have(&search, find_egl);
}

bool em_gl_have_glx(void)
{
    static struct search search;
    return have(&search, find_glx);
}

bool em_gl_have_xlib(void)
{
    static struct search search;
    return have(&search, find_xlib);
}
