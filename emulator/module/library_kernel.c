// SPDX-License-Identifier: MIT
// Kernels of libraries. Their functions inherit their settings.
#include "library_state.h"

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "function.h"
#include "image.h"
#include "lock.h"

const struct em_code *em_kernel_code(const struct em_kernel *k)
{
    em_assert_locked();
    return k->library->image->codes[k->code];
}

static CUresult find_kernel(CUkernel handle, struct em_kernel **out)
{
    em_assert_locked();
    return em_object_get(EM_KERNEL, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

// The lock is held on return even if the handle is invalid.
static CUresult lock_kernel(CUkernel handle, struct em_kernel **out)
{
    em_lock();
    return find_kernel(handle, out);
}

static CUkernel kernel_handle(const struct em_kernel *k)
{
    return (CUkernel)(uintptr_t)k->object.handle;
}

// ---- life ----

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
    *out = l->kernels[code] = k;
    return CUDA_SUCCESS;
}

static CUresult load_kernel(struct em_kernel *k, const struct em_device *device)
{
    em_assert_locked();
    if (k->loaded)
        return CUDA_SUCCESS;
    struct em_code *code = k->library->image->codes[k->code];
    CUresult r = em_code_load(code, device);
    if (r)
        return r;
    for (int i = 0; i < em_device_count; i++)
        em_function_settings_init(&k->settings[i], code);
    k->loaded = true;
    return CUDA_SUCCESS;
}

CUresult em_library_kernel(CUlibrary handle, const char *name, CUkernel *out)
{
    em_assert_unlocked();
    struct em_library *l;
    struct em_kernel *k;
    CUresult r = em_library_lock(handle, &l);
    if (!r)
        r = em_library_need_image(l);
    int code = r ? -1 : em_image_find_code(l->image, name);
    if (!r && code < 0)
        r = em_fail(CUDA_ERROR_NOT_FOUND, "the library has no kernel named \"%s\"", name);
    if (!r)
        r = get_kernel(l, (unsigned)code, &k);
    if (!r)
        r = load_kernel(k, em_image_device());
    if (!r)
        *out = kernel_handle(k);
    return em_library_unlock(r);
}

CUresult em_library_kernel_count(CUlibrary handle, unsigned *out)
{
    em_assert_unlocked();
    struct em_library *l;
    CUresult r = em_library_lock(handle, &l);
    if (!r)
        *out = em_library_kernels_of(l);
    return em_library_unlock(r);
}

CUresult em_library_kernels(CUlibrary handle, unsigned count, CUkernel *out)
{
    em_assert_unlocked();
    struct em_library *l;
    CUresult r = em_library_lock(handle, &l);
    for (unsigned i = 0; !r && i < count && i < em_library_kernels_of(l); i++) {
        struct em_kernel *k;
        r = get_kernel(l, i, &k);
        if (!r)
            out[i] = kernel_handle(k);
    }
    return em_library_unlock(r);
}

// ---- in a context ----

CUresult em_kernel_function(struct em_kernel *k, struct em_context *context,
                            struct em_function **out)
{
    em_assert_locked();
    struct em_module *m;
    CUresult r = load_kernel(k, context ? context->device : em_image_device());
    if (!r)
        r = em_library_get_module(k->library, context, &m);
    if (!r)
        r = em_module_get_function(m, k->code, out);
    if (!r)
        r = em_function_load(*out);
    if (!r && !(*out)->kernel) {
        (*out)->inherited = &k->settings[context->device->ordinal];
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
    return em_library_unlock(r);
}

// ---- facts ----

CUresult em_kernel_library(CUkernel handle, CUlibrary *out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        *out = (CUlibrary)(uintptr_t)k->library->object.handle;
    return em_library_unlock(r);
}

CUresult em_kernel_name(CUkernel handle, const char **out)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        *out = em_kernel_code(k)->name;
    return em_library_unlock(r);
}

CUresult em_kernel_parameter(CUkernel handle, size_t index, size_t *offset_B, size_t *size_B)
{
    em_assert_unlocked();
    struct em_kernel *k;
    CUresult r = lock_kernel(handle, &k);
    if (!r)
        r = em_code_parameter(em_kernel_code(k), index, offset_B, size_B);
    return em_library_unlock(r);
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
        r = load_kernel(k, device);
    if (!r)
        r = em_code_get_attribute(em_kernel_code(k), &k->settings[ordinal], device, attribute, out);
    return em_library_unlock(r);
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
        r = load_kernel(k, device);
    if (!r)
        r = em_code_set_attribute(em_kernel_code(k), &k->settings[ordinal], device, attribute,
                                  value);
    return em_library_unlock(r);
}
