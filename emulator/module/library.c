// SPDX-License-Identifier: MIT
// Libraries: images that are loaded when they are needed, with a module for each context that uses
// one.
#include "library_state.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "error.h"
#include "image.h"
#include "lock.h"

CUresult em_library_find(CUlibrary handle, struct em_library **out)
{
    em_assert_locked();
    return em_object_get(EM_LIBRARY, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

CUresult em_library_lock(CUlibrary handle, struct em_library **out)
{
    em_assert_unlocked();
    em_lock();
    return em_library_find(handle, out);
}

CUresult em_library_unlock(CUresult r)
{
    em_assert_locked();
    em_unlock();
    return r;
}

CUresult em_library_need_image(const struct em_library *l)
{
    em_assert_locked();
    return l->image ? CUDA_SUCCESS
                    : em_fail(l->refused, "the library's image cannot be loaded: %s", l->refusal);
}

// ---- life ----

static void free_library(struct em_library *l)
{
    if (!l)
        return;
    dm_free(l->refusal);
    dm_free(l->managed);
    dm_free(l->kernels);
    dm_free(l);
}

static void finish_library(struct em_object *object)
{
    struct em_library *l = (struct em_library *)object;
    em_assert_locked();
    if (l->image)
        em_image_unref(l->image);
    free_library(l);
}

// A library with an image, or with the reason for its refusal. NULL if memory is short.
static struct em_library *new_library(const struct em_image *image, CUresult refused,
                                      const char *why)
{
    struct em_library *l = dm_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->refused = refused;
    l->refusal = dm_calloc(strlen(why) + 1, 1);
    l->kernels = dm_calloc((image ? image->code_count : 0) + 1ul, sizeof *l->kernels);
    l->managed = dm_calloc((image ? image->variable_count : 0) + 1ul, sizeof *l->managed);
    if (l->refusal && l->kernels && l->managed) {
        strcpy(l->refusal, why);
        return l;
    }
    free_library(l);
    return NULL;
}

// Takes over the caller's reference to the image.
static CUresult library_load(struct em_image *image, CUresult refused, const char *why,
                             CUlibrary *out)
{
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    em_lock();
    struct em_library *l = new_library(image, refused, why);
    if (!l)
        em_explain(r, "out of host memory for a library");
    else
        r = em_object_start(&l->object, EM_LIBRARY, NULL, finish_library);
    if (r) {
        if (image)
            em_image_unref(image);
        free_library(l);
    } else {
        l->image = image;
        *out = (CUlibrary)(uintptr_t)l->object.handle;
    }
    em_unlock();
    em_images_free();
    return r;
}

// "If the environment variables are set to LAZY, the library is … only loaded when a function is
// needed": an image that is wrong is refused then (recorded: library/load-empty-string-and-next).
static bool is_refused_later(CUresult r)
{
    return r != CUDA_ERROR_OUT_OF_MEMORY && r != CUDA_ERROR_INVALID_VALUE &&
           r != CUDA_ERROR_FILE_NOT_FOUND && !em_config()->eager_loading;
}

// `r` is the result of loading the image, with its messages in `held`.
static CUresult load_lazily(CUresult r, struct em_image *image, const struct em_message *held,
                            CUlibrary *out)
{
    if (!r || is_refused_later(r))
        return library_load(r ? NULL : image, r, held->text, out);
    return em_fail(r, "%s", held->text);
}

CUresult em_library_load(const void *data, const struct em_load *how, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_image *image = NULL;
    struct em_message held;
    em_message_hold(&held);
    CUresult r = em_image_load(data, how, &image);
    em_message_end(&held);
    return load_lazily(r, image, &held, out);
}

CUresult em_library_load_file(const char *path, const struct em_load *how, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_image *image = NULL;
    struct em_message held;
    em_message_hold(&held);
    CUresult r = em_image_load_file(path, how, &image);
    em_message_end(&held);
    return load_lazily(r, image, &held, out);
}

// The library's module in a context, or NULL.
static struct em_module *module_in(const struct em_library *l, const struct em_context *context)
{
    em_assert_locked();
    struct em_object *o = context ? context->base.objects : NULL;
    while (o && (o->type != EM_MODULE || ((struct em_module *)o)->library != l))
        o = o->next;
    return (struct em_module *)o;
}

CUresult em_library_get_module(struct em_library *l, struct em_context *context,
                               struct em_module **out)
{
    em_assert_locked();
    *out = module_in(l, context);
    if (*out)
        return CUDA_SUCCESS;
    CUresult r = em_need_context();
    if (!r)
        r = em_library_need_image(l);
    if (!r)
        r = em_module_new(context, l->image, l->managed, out);
    if (!r)
        (*out)->library = l;
    return r;
}

// Any of the library's modules, or NULL.
static struct em_module *some_module(const struct em_library *l)
{
    em_assert_locked();
    struct em_module *m = NULL;
    for (struct em_context *c = em_context_next(NULL); c && !m; c = em_context_next(c))
        m = module_in(l, c);
    return m;
}

CUresult em_library_unload(CUlibrary handle)
{
    em_assert_unlocked();
    struct em_library *l;
    struct em_module *m;
    CUresult r = em_library_lock(handle, &l);
    for (m = r ? NULL : some_module(l); m && !r; m = r ? NULL : some_module(l)) {
        if (em_context_error_state(m->object.context) == EM_FINE)
            r = em_module_end(m); // releases the lock meanwhile
        else
            em_module_leave_library(m); // it ends with its context
        if (!r)
            r = em_library_find(handle, &l);
    }
    if (!r) {
        if (l->image)
            em_module_free_managed(l->image, l->managed);
        for (unsigned i = 0; i < em_library_kernels_of(l); i++)
            if (l->kernels[i])
                em_object_retire(&l->kernels[i]->object);
        em_object_retire(&l->object);
    }
    em_unlock();
    em_images_free();
    return r;
}

CUresult em_library_check(CUlibrary handle)
{
    em_assert_unlocked();
    struct em_library *l;
    CUresult r = em_library_lock(handle, &l);
    return em_library_unlock(r);
}

// ---- in a context ----

// Finds the library's module in the current context. The lock is held on return even if the handle
// is invalid.
static CUresult lock_module(CUlibrary handle, struct em_module **out)
{
    struct em_library *l;
    CUresult r = em_library_lock(handle, &l);
    return r ? r : em_library_get_module(l, em_self.current, out);
}

CUresult em_library_module(CUlibrary handle, CUmodule *out)
{
    em_assert_unlocked();
    struct em_module *m;
    CUresult r = lock_module(handle, &m);
    if (!r)
        *out = em_module_handle(m);
    return em_library_unlock(r);
}

CUresult em_library_variable(CUlibrary handle, const char *name, CUdeviceptr *address,
                             size_t *size_B)
{
    em_assert_unlocked();
    struct em_module *m;
    CUresult r = lock_module(handle, &m);
    if (!r)
        r = em_module_find_variable(m, name, address, size_B);
    return em_library_unlock(r);
}

// "Managed memory for a library is shared across devices and is registered when the library is
// loaded into at least one context."
CUresult em_library_managed(CUlibrary handle, const char *name, CUdeviceptr *address,
                            size_t *size_B)
{
    em_assert_unlocked();
    struct em_library *l;
    struct em_module *m;
    CUresult r = em_library_lock(handle, &l);
    if (!r)
        r = em_library_need_image(l);
    const int index = r ? -1 : em_image_find_variable(l->image, name);
    if (!r && (index < 0 || !l->image->variables[index].managed))
        r = em_fail(CUDA_ERROR_NOT_FOUND, "the library has no managed variable named %s", name);
    if (!r && !l->managed[index])
        r = em_library_get_module(l, em_self.current, &m);
    if (!r && address)
        *address = l->managed[index];
    if (!r && size_B)
        *size_B = l->image->variables[index].size_B;
    return em_library_unlock(r);
}
