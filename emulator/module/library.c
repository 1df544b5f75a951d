// SPDX-License-Identifier: MIT
// Libraries: a module for each context that uses one, and kernels whose settings all their
// functions share.
#include "library.h"

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "function.h"
#include "image.h"
#include "lock.h"

struct em_library {
    struct em_object object; // type EM_LIBRARY, in no context
    struct em_image *image;
    struct em_kernel **kernels; // by code; NULL until asked for
    uint64_t *managed;          // addresses of managed variables, by variable
};

struct em_kernel {
    struct em_object object; // type EM_KERNEL, in no context
    struct em_library *library;
    unsigned code;
    struct em_function_settings settings[]; // by device
};

const struct em_code *em_kernel_code(const struct em_kernel *k)
{
    em_assert_locked();
    return k->library->image->codes[k->code];
}

static CUresult find_library(CUlibrary handle, struct em_library **out)
{
    em_assert_locked();
    return em_object_get(EM_LIBRARY, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

static CUresult find_kernel(CUkernel handle, struct em_kernel **out)
{
    em_assert_locked();
    return em_object_get(EM_KERNEL, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

// The calls below take the lock, find their object, and end with `return unlock(r)`. The lock is
// taken also if there is no such object.
static CUresult lock_library(CUlibrary handle, struct em_library **out)
{
    em_lock();
    return find_library(handle, out);
}

static CUresult lock_kernel(CUkernel handle, struct em_kernel **out)
{
    em_lock();
    return find_kernel(handle, out);
}

static CUresult unlock(CUresult r)
{
    em_unlock();
    return r;
}

static CUkernel kernel_handle(const struct em_kernel *k)
{
    return (CUkernel)(uintptr_t)k->object.handle;
}

// ---- life ----

static void finish_library(struct em_object *object)
{
    struct em_library *l = (struct em_library *)object;
    em_assert_locked();
    em_image_unref(l->image);
    dm_free(l->managed);
    dm_free(l->kernels);
    dm_free(l);
}

// Takes over the caller's reference to the image.
static CUresult load(struct em_image *image, CUlibrary *out)
{
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    em_lock();
    struct em_library *l = dm_calloc(1, sizeof *l);
    if (l) {
        l->kernels = dm_calloc(image->code_count + 1ul, sizeof *l->kernels);
        l->managed = dm_calloc(image->variable_count + 1ul, sizeof *l->managed);
    }
    if (!l || !l->kernels || !l->managed)
        em_explain(r, "out of host memory for a library");
    else
        r = em_object_start(&l->object, EM_LIBRARY, NULL, finish_library);
    if (r) {
        em_image_unref(image);
        if (l) {
            dm_free(l->managed);
            dm_free(l->kernels);
        }
        dm_free(l);
    } else {
        l->image = image;
        *out = (CUlibrary)(uintptr_t)l->object.handle;
    }
    em_unlock();
    em_images_free();
    return r;
}

CUresult em_library_load(const void *data, const struct em_load *how, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_image *image;
    CUresult r = em_image_load(data, how, &image);
    return r ? r : load(image, out);
}

CUresult em_library_load_file(const char *path, const struct em_load *how, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_image *image;
    CUresult r = em_image_load_file(path, how, &image);
    return r ? r : load(image, out);
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

static CUresult get_module(struct em_library *l, struct em_context *context, struct em_module **out)
{
    em_assert_locked();
    *out = module_in(l, context);
    if (*out)
        return CUDA_SUCCESS;
    CUresult r = em_need_context();
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
    CUresult r = lock_library(handle, &l);
    for (m = r ? NULL : some_module(l); m && !r; m = r ? NULL : some_module(l)) {
        if (em_context_error_state(m->object.context) == EM_FINE)
            r = em_module_end(m); // releases the lock meanwhile
        else
            em_module_leave_library(m); // it ends with its context
        if (!r)
            r = find_library(handle, &l);
    }
    if (!r) {
        em_module_free_managed(l->image, l->managed);
        for (unsigned i = 0; i < l->image->code_count; i++)
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
    CUresult r = lock_library(handle, &l);
    return unlock(r);
}

// ---- kernels ----

static void finish_kernel(struct em_object *object)
{
    struct em_kernel *k = (struct em_kernel *)object;
    em_assert_locked();
    em_object_unref(&k->library->object);
    dm_free(k);
}

static CUresult get_kernel(struct em_library *l, unsigned code, struct em_kernel **out)
{
    em_assert_locked();
    *out = l->kernels[code];
    if (*out)
        return CUDA_SUCCESS;
    struct em_kernel *k = dm_calloc(1, sizeof *k + (size_t)em_device_count * sizeof *k->settings);
    if (!k)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a kernel");
    CUresult r = em_object_start(&k->object, EM_KERNEL, NULL, finish_kernel);
    if (r) {
        dm_free(k);
        return r;
    }
    em_object_ref(&l->object);
    k->library = l;
    k->code = code;
    for (int i = 0; i < em_device_count; i++)
        em_function_settings_init(&k->settings[i], l->image->codes[code]);
    *out = l->kernels[code] = k;
    return CUDA_SUCCESS;
}

CUresult em_library_kernel(CUlibrary handle, const char *name, CUkernel *out)
{
    em_assert_unlocked();
    struct em_library *l;
    struct em_kernel *k;
    CUresult r = lock_library(handle, &l);
    int code = r ? -1 : em_image_find_code(l->image, name);
    if (!r && code < 0)
        r = em_fail(CUDA_ERROR_NOT_FOUND, "the library has no kernel named %s", name);
    if (!r)
        r = get_kernel(l, (unsigned)code, &k);
    if (!r)
        *out = kernel_handle(k);
    return unlock(r);
}

CUresult em_library_kernel_count(CUlibrary handle, unsigned *out)
{
    em_assert_unlocked();
    struct em_library *l;
    CUresult r = lock_library(handle, &l);
    if (!r)
        *out = l->image->code_count;
    return unlock(r);
}

CUresult em_library_kernels(CUlibrary handle, unsigned count, CUkernel *out)
{
    em_assert_unlocked();
    struct em_library *l;
    CUresult r = lock_library(handle, &l);
    for (unsigned i = 0; !r && i < count && i < l->image->code_count; i++) {
        struct em_kernel *k;
        r = get_kernel(l, i, &k);
        if (!r)
            out[i] = kernel_handle(k);
    }
    return unlock(r);
}

// ---- in a context ----

// Likewise, the library's module in the current context.
static CUresult lock_module(CUlibrary handle, struct em_module **out)
{
    struct em_library *l;
    CUresult r = lock_library(handle, &l);
    return r ? r : get_module(l, em_self.current, out);
}

CUresult em_library_module(CUlibrary handle, CUmodule *out)
{
    em_assert_unlocked();
    struct em_module *m;
    CUresult r = lock_module(handle, &m);
    if (!r)
        *out = em_module_handle(m);
    return unlock(r);
}

CUresult em_library_variable(CUlibrary handle, const char *name, CUdeviceptr *address,
                             size_t *size_B)
{
    em_assert_unlocked();
    struct em_module *m;
    CUresult r = lock_module(handle, &m);
    if (!r)
        r = em_module_find_variable(m, name, address, size_B);
    return unlock(r);
}

// "Managed memory for a library is shared across devices and is registered when the library is
// loaded into at least one context."
CUresult em_library_managed(CUlibrary handle, const char *name, CUdeviceptr *address,
                            size_t *size_B)
{
    em_assert_unlocked();
    struct em_library *l;
    struct em_module *m;
    CUresult r = lock_library(handle, &l);
    const int index = r ? -1 : em_image_find_variable(l->image, name);
    if (!r && (index < 0 || !l->image->variables[index].managed))
        r = em_fail(CUDA_ERROR_NOT_FOUND, "the library has no managed variable named %s", name);
    if (!r && !l->managed[index])
        r = get_module(l, em_self.current, &m);
    if (!r && address)
        *address = l->managed[index];
    if (!r && size_B)
        *size_B = l->image->variables[index].size_B;
    return unlock(r);
}

CUresult em_kernel_function(struct em_kernel *k, struct em_context *context,
                            struct em_function **out)
{
    em_assert_locked();
    struct em_module *m;
    CUresult r = get_module(k->library, context, &m);
    if (!r)
        r = em_module_get_function(m, k->code, out);
    if (!r && !(*out)->kernel) { // a change of one is seen by the other
        (*out)->settings = &k->settings[context->device->ordinal];
        (*out)->kernel = &k->object;
        em_object_ref(&k->object);
    }
    return r;
}

CUresult em_kernel_get_function(CUkernel handle, CUfunction *out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    struct em_function *f;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        r = em_kernel_function(k, em_self.current, &f);
    if (!r)
        *out = em_function_handle(f);
    return unlock(r);
}

// ---- facts ----

CUresult em_kernel_library(CUkernel handle, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        *out = (CUlibrary)(uintptr_t)k->library->object.handle;
    return unlock(r);
}

CUresult em_kernel_name(CUkernel handle, const char **out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        *out = em_kernel_code(k)->name;
    return unlock(r);
}

CUresult em_kernel_parameter(CUkernel handle, size_t index, size_t *offset_B, size_t *size_B)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        r = em_code_parameter(em_kernel_code(k), index, offset_B, size_B);
    return unlock(r);
}

CUresult em_kernel_check(CUkernel handle, CUdevice ordinal)
{
    em_assert_unlocked();
    struct em_kernel *k;
    struct em_device *device;
    CUresult r = lock_kernel(handle, &k);
    em_unlock();
    return r ? r : em_device_get(ordinal, &device);
}

CUresult em_kernel_get_attribute(CUkernel handle, CUdevice ordinal, CUfunction_attribute attribute,
                                 int *out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    struct em_device *device;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        r = em_device_get(ordinal, &device);
    if (!r)
        r = em_code_get_attribute(em_kernel_code(k), &k->settings[ordinal], device, attribute, out);
    return unlock(r);
}

CUresult em_kernel_set_attribute(CUkernel handle, CUdevice ordinal, CUfunction_attribute attribute,
                                 int value)
{
    em_assert_unlocked();
    struct em_kernel *k;
    struct em_device *device;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        r = em_device_get(ordinal, &device);
    if (!r)
        r = em_code_set_attribute(em_kernel_code(k), &k->settings[ordinal], device, attribute,
                                  value);
    return unlock(r);
}
