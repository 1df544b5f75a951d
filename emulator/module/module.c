// SPDX-License-Identifier: MIT
// Modules: their variables and functions, and their end.
#include "module.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "function.h"
#include "image.h"
#include "kn.h"
#include "kn_fill.h"
#include "lock.h"
#include "memory_device.h"
#include "memory_host.h"
#include "pkey.h"

// ---- variables ----

// Writes the initial value. Zeros are not written to fresh memory, so that a large variable does
// not take host memory until it is used.
static void initialise(const struct em_module *m, unsigned index)
{
    const struct em_variable *v = &m->image->variables[index];
    void *to = (void *)(uintptr_t)m->variables[index];
    const uint64_t *address = v->address_of < 0 ? NULL : &m->variables[v->address_of];
    uint32_t rights = dm_pkey_enter();
    if (address)
        memcpy(to, address, sizeof *address);
    else if (v->initial_B)
        kn_copy(to, v->initial, v->initial_B);
    const uint64_t rest_B = address ? 0 : v->size_B - v->initial_B;
    if (rest_B && !em_memory_variable_is_fresh(m->variables[index]))
        kn_fill8_rows((char *)to + v->initial_B, rest_B, 0, rest_B, 1);
    for (unsigned i = 0; i < v->relocation_count; i++) {
        const struct em_relocation *r = &v->relocations[i];
        const uint64_t value =
            ((uint64_t)r->offset + (r->variable < 0 ? 0 : m->variables[r->variable])) >> r->shift;
        memcpy((char *)to + r->at_B, &value, r->size_B < sizeof value ? r->size_B : sizeof value);
    }
    dm_pkey_leave(rights);
}

static enum em_type type_of(enum em_variable_kind kind)
{
    return kind == EM_VARIABLE_TEXTURE ? EM_TEXTURE_REFERENCE : EM_SURFACE_REFERENCE;
}

// The reference of a variable, or NULL if it was never asked for or has ended.
static struct em_object *reference_of(const struct em_module *m, unsigned index)
{
    const enum em_variable_kind kind = m->image->variables[index].kind;
    return kind == EM_VARIABLE_MEMORY || kind == EM_VARIABLE_INNER
               ? NULL
               : em_object_peek(type_of(kind), m->references[index]);
}

static void free_memory(uint64_t address)
{
    struct em_allocation *a = address ? em_memory_find(address, 1) : NULL;
    if (a)
        em_memory_remove(a);
}

// Whether a variable's memory is the library's, and was made for an earlier module.
static bool is_shared(const struct em_module *m, unsigned index)
{
    return m->image->variables[index].managed && m->managed && m->managed[index];
}

static void free_variables(struct em_module *m)
{
    em_assert_locked();
    for (unsigned i = 0; i < m->image->variable_count; i++) {
        struct em_object *reference = reference_of(m, i);
        if (reference)
            em_object_retire(reference);
        if (m->image->variables[i].kind == EM_VARIABLE_MEMORY && !is_shared(m, i))
            free_memory(m->variables[i]);
        m->variables[i] = 0;
    }
}

static CUresult make_memory(struct em_module *m, unsigned index)
{
    const struct em_variable *v = &m->image->variables[index];
    struct em_context *context = m->object.context;
    if (!v->managed)
        return em_memory_alloc_variable(context, v->size_B, &m->variables[index]);
    if (!is_shared(m, index))
        return em_host_new_variable(m->managed ? NULL : context, context->device->ordinal,
                                    v->size_B, &m->variables[index]);
    m->variables[index] = m->managed[index];
    return CUDA_SUCCESS;
}

static CUresult make_variables(struct em_module *m)
{
    const struct em_variable *v = m->image->variables;
    const unsigned count = m->image->variable_count;
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && !r; i++)
        if (v[i].kind == EM_VARIABLE_MEMORY)
            r = make_memory(m, i);
        else if (v[i].kind != EM_VARIABLE_INNER)
            m->variables[i] = EM_REFERENCE_NUMBER(i);
    for (unsigned i = 0; i < count && !r; i++)
        if (v[i].kind == EM_VARIABLE_MEMORY && !is_shared(m, i))
            initialise(m, i);
    for (unsigned i = 0; i < count && !r && m->managed; i++)
        if (v[i].kind == EM_VARIABLE_MEMORY && v[i].managed)
            m->managed[i] = m->variables[i];
    return r;
}

void em_module_free_managed(const struct em_image *image, uint64_t *managed)
{
    em_assert_locked();
    for (unsigned i = 0; i < image->variable_count; i++) {
        free_memory(managed[i]);
        managed[i] = 0;
    }
}

void em_module_leave_library(struct em_module *m)
{
    em_assert_locked();
    for (unsigned i = 0; i < m->image->variable_count; i++)
        if (is_shared(m, i))
            m->variables[i] = 0;
    m->managed = NULL;
    m->library = NULL;
}

CUresult em_module_find_variable(const struct em_module *m, const char *name, CUdeviceptr *address,
                                 size_t *size_B)
{
    em_assert_locked();
    int index = *name ? em_image_find_variable(m->image, name) : -1;
    // (recorded: lookup/globals-1)
    if (!*name || (index < 0 && em_image_find_code(m->image, name) >= 0) ||
        (index >= 0 && m->image->variables[index].kind != EM_VARIABLE_MEMORY))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "name (\"%s\") is not the name of a variable",
                       name);
    if (index < 0)
        return em_fail(CUDA_ERROR_NOT_FOUND, "the module has no variable named %s", name);
    if (address)
        *address = m->variables[index];
    if (size_B)
        *size_B = m->image->variables[index].size_B;
    return CUDA_SUCCESS;
}

// ---- life ----

static void finish_module(struct em_object *object)
{
    struct em_module *m = (struct em_module *)object;
    em_assert_locked();
    em_image_unref(m->image);
    dm_free(m->functions);
    dm_free(m->variables);
    dm_free(m->references);
    dm_free(m);
}

CUresult em_module_new(struct em_context *context, struct em_image *image, uint64_t *managed,
                       struct em_module **out)
{
    em_assert_locked();
    struct em_module *m = dm_calloc(1, sizeof *m);
    if (m) {
        m->functions = dm_calloc(image->code_count + 1ul, sizeof *m->functions);
        m->variables = dm_calloc(image->variable_count + 1ul, sizeof *m->variables);
        m->references = dm_calloc(image->variable_count + 1ul, sizeof *m->references);
    }
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    if (!m || !m->functions || !m->variables || !m->references)
        em_explain(r, "out of host memory for a module");
    else
        r = em_object_start(&m->object, EM_MODULE, context, finish_module);
    if (r) {
        if (m) {
            dm_free(m->functions);
            dm_free(m->variables);
            dm_free(m->references);
        }
        dm_free(m);
        return r;
    }
    m->image = image;
    m->managed = managed;
    em_image_ref(image);
    r = make_variables(m);
    if (r) {
        free_variables(m);
        em_object_retire(&m->object);
        return r;
    }
    *out = m;
    return CUDA_SUCCESS;
}

CUresult em_module_end(struct em_module *m)
{
    em_assert_locked();
    em_object_ref(&m->object);
    // A kernel that runs may use the variables.
    CUresult r = em_memory_wait_idle(m->object.context);
    if (!r && em_module_find(em_module_handle(m), &m)) // another thread has unloaded it meanwhile
        r = CUDA_ERROR_INVALID_HANDLE;
    if (!r) {
        free_variables(m);
        for (unsigned i = 0; i < m->image->code_count; i++)
            if (m->functions[i])
                em_object_retire(&m->functions[i]->object);
        em_object_retire(&m->object);
    }
    em_object_unref(&m->object);
    return r;
}

CUresult em_module_find(CUmodule handle, struct em_module **out)
{
    em_assert_locked();
    return em_object_get(EM_MODULE, handle, CUDA_ERROR_INVALID_HANDLE, out);
}

// ---- loading ----

// Takes over the caller's reference to the image.
static CUresult load(struct em_image *image, CUmodule *out)
{
    struct em_module *m;
    em_lock();
    CUresult r = em_module_new(em_self.current, image, NULL, &m);
    em_image_unref(image);
    if (!r)
        *out = em_module_handle(m);
    em_unlock();
    em_images_free();
    return r;
}

CUresult em_module_load(const void *data, const struct em_load *how, CUmodule *out)
{
    struct em_image *image;
    CUresult r = em_image_load(data, how, &image);
    return r ? r : load(image, out);
}

CUresult em_module_load_file(const char *path, const struct em_load *how, CUmodule *out)
{
    struct em_image *image;
    CUresult r = em_image_load_file(path, how, &image);
    return r ? r : load(image, out);
}

CUresult em_module_unload(CUmodule handle)
{
    em_assert_unlocked();
    struct em_module *m;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    // (recorded: library/module)
    if (!r && m->library)
        r = em_fail(CUDA_ERROR_NOT_PERMITTED,
                    "hmod belongs to a library; unload that (cuLibraryUnload)");
    if (!r)
        r = em_module_end(m);
    em_unlock();
    em_images_free();
    return r;
}

// ---- functions ----

CUresult em_module_get_function(struct em_module *m, unsigned code, struct em_function **out)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    if (!m->functions[code])
        r = em_function_new(m, m->image->codes[code], &m->functions[code]);
    *out = m->functions[code];
    return r || !em_config()->eager_loading ? r : em_function_load(*out);
}

CUresult em_module_function(CUmodule handle, const char *name, CUfunction *out)
{
    em_assert_unlocked();
    struct em_module *m;
    struct em_function *f;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    int code = r ? -1 : em_image_find_code(m->image, name);
    // (recorded: lookup/functions, where the output is set to NULL for a name that does not exist)
    if (!r && !*name)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "name is empty");
    if (!r && code < 0) {
        *out = NULL;
        r = em_fail(CUDA_ERROR_NOT_FOUND, "the module has no kernel named \"%s\"", name);
    }
    if (!r)
        r = em_module_get_function(m, (unsigned)code, &f);
    if (!r)
        r = em_function_load(f);
    if (!r)
        *out = em_function_handle(f);
    em_unlock();
    return r;
}

CUresult em_module_function_count(CUmodule handle, unsigned *out)
{
    em_assert_unlocked();
    struct em_module *m;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    if (!r)
        *out = m->image->code_count;
    em_unlock();
    return r;
}

// "When function loading mode is set to LAZY the function retrieved may be partially loaded."
CUresult em_module_functions(CUmodule handle, unsigned count, CUfunction *out)
{
    em_assert_unlocked();
    struct em_module *m;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    for (unsigned i = 0; !r && i < count && i < m->image->code_count; i++) {
        struct em_function *f;
        r = em_module_get_function(m, i, &f);
        if (!r)
            out[i] = em_function_handle(f);
    }
    em_unlock();
    return r;
}

CUresult em_module_variable(CUmodule handle, const char *name, CUdeviceptr *address, size_t *size_B)
{
    em_assert_unlocked();
    struct em_module *m;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    if (!r)
        r = em_module_find_variable(m, name, address, size_B);
    em_unlock();
    return r;
}

// ---- references ----

static CUresult get_reference(struct em_module *m, const char *name, enum em_variable_kind kind,
                              CUresult (*make)(struct em_context *, struct em_object **),
                              uint64_t *out)
{
    em_assert_locked();
    const int index = em_image_find_variable(m->image, name);
    // (recorded: lookup/texref)
    if (index < 0 || m->image->variables[index].kind != kind)
        return em_fail(CUDA_ERROR_NOT_FOUND, "the module has no %s reference named \"%s\"",
                       kind == EM_VARIABLE_TEXTURE ? "texture" : "surface", name);
    struct em_object *o = reference_of(m, (unsigned)index);
    CUresult r = o ? CUDA_SUCCESS : make(m->object.context, &o);
    if (!r)
        *out = m->references[index] = o->handle;
    return r;
}

CUresult em_module_reference(CUmodule handle, const char *name, enum em_variable_kind kind,
                             CUresult (*make)(struct em_context *, struct em_object **),
                             uint64_t *out)
{
    em_assert_unlocked();
    struct em_module *m;
    em_lock();
    CUresult r = em_module_find(handle, &m);
    if (!r)
        r = get_reference(m, name, kind, make, out);
    em_unlock();
    return r;
}
