// SPDX-License-Identifier: MIT
// Functions: attributes, names and parameters.
#include "function.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "library.h"
#include "lock.h"

enum { DYNAMIC_SHARED_DEFAULT_B = 48 << 10, REGISTERS_UNIT = 256, WARP = 32 };

// ---- life ----

static void finish_function(struct em_object *object)
{
    struct em_function *f = (struct em_function *)object;
    em_assert_locked();
    em_object_unref(&f->module->object);
    if (f->kernel)
        em_object_unref(f->kernel);
    dm_free(f->old);
    dm_free(f);
}

void em_function_settings_init(struct em_function_settings *s, const struct em_code *code)
{
    *s = (struct em_function_settings){
        .most_dynamic_shared_B = DYNAMIC_SHARED_DEFAULT_B - (int)code->static_shared_B,
        .carveout = CU_SHAREDMEM_CARVEOUT_DEFAULT,
    };
    for (int i = 0; i < 3; i++)
        s->cluster[i] = (int)code->required_cluster[i];
}

CUresult em_code_load(struct em_code *code, const struct em_device *device)
{
    em_assert_locked();
    return code->executor->prepare ? code->executor->prepare(code, device) : CUDA_SUCCESS;
}

CUresult em_function_load(struct em_function *f)
{
    em_assert_locked();
    if (f->loaded)
        return CUDA_SUCCESS;
    CUresult r = em_code_load(f->code, f->object.context->device);
    if (r)
        return r;
    em_function_settings_init(&f->own, f->code);
    f->loaded = true;
    return CUDA_SUCCESS;
}

CUresult em_function_new(struct em_module *m, struct em_code *code, struct em_function **out)
{
    em_assert_locked();
    struct em_function *f = dm_calloc(1, sizeof *f);
    if (!f)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a function");
    CUresult r = em_object_start(&f->object, EM_FUNCTION, m->object.context, finish_function);
    if (r) {
        dm_free(f);
        return r;
    }
    em_object_ref(&m->object);
    f->module = m;
    f->code = code;
    *out = f;
    return CUDA_SUCCESS;
}

static CUresult find_unloaded(CUfunction handle, CUresult code, struct em_function **out)
{
    em_assert_locked();
    return em_object_get(EM_FUNCTION, handle, code, out);
}

CUresult em_function_find(CUfunction handle, CUresult code, struct em_function **out)
{
    em_assert_locked();
    CUresult r = find_unloaded(handle, code, out);
    return em_unlikely(!r && !(*out)->loaded) ? em_function_load(*out) : r;
}

CUresult em_function_or_kernel(CUfunction handle, CUresult code, struct em_function **out)
{
    em_assert_locked();
    struct em_object *kernel = em_object_peek(EM_KERNEL, (uint64_t)(uintptr_t)handle);
    return em_unlikely(kernel != NULL)
               ? em_kernel_function((struct em_kernel *)kernel, em_self.current, out)
               : em_function_find(handle, code, out);
}

CUresult em_function_to_launch(CUfunction handle, struct em_function **out)
{
    em_assert_locked();
    struct em_pin_again *last = &em_thread()->last_function;
    struct em_object *again = em_object_again(last, (uint64_t)(uintptr_t)handle);
    if (em_likely(again)) {
        *out = (struct em_function *)again;
        return CUDA_SUCCESS;
    }
    const CUresult r = em_function_or_kernel(handle, CUDA_ERROR_INVALID_HANDLE, out);
    if (!r && em_function_handle(*out) == handle) // not that of a library's kernel
        em_object_note(last, &(*out)->object);
    return r;
}

// ---- attributes ----

static unsigned warp_registers(const struct em_code *code)
{
    return (code->registers * WARP + REGISTERS_UNIT - 1) / REGISTERS_UNIT * REGISTERS_UNIT;
}

bool em_code_registers_fit(const struct em_code *code, const struct em_device *device,
                           uint64_t threads)
{
    const uint64_t warps = (threads + WARP - 1) / WARP;
    return warps * warp_registers(code) <=
           (unsigned)em_device_attribute(device, DM_ATTRIBUTE_max_registers_per_block);
}

unsigned em_code_most_threads(const struct em_code *code, const struct em_device *device)
{
    unsigned most = (unsigned)em_device_attribute(device, DM_ATTRIBUTE_max_threads_per_block);
    unsigned registers =
        (unsigned)em_device_attribute(device, DM_ATTRIBUTE_max_registers_per_block);
    unsigned warp = warp_registers(code);
    if (warp && registers / warp * WARP < most)
        most = registers / warp * WARP;
    return code->most_threads && code->most_threads < most ? code->most_threads : most;
}

// The setting that an attribute is, or NULL.
static int *setting_of(struct em_function_settings *s, CUfunction_attribute attribute)
{
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return &s->most_dynamic_shared_B;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return &s->carveout;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return &s->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return &s->non_portable;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return &s->policy;
    default:
        return NULL;
    }
}

struct em_function_settings em_function_settings(const struct em_function *f)
{
    if (!f->inherited)
        return f->own;
    struct em_function_settings all = *f->inherited, own = f->own;
    for (unsigned left = f->own_set; left; left &= left - 1) {
        const CUfunction_attribute a = (CUfunction_attribute)__builtin_ctz(left);
        *setting_of(&all, a) = *setting_of(&own, a);
    }
    return all;
}

CUresult em_code_get_attribute(const struct em_code *code, const struct em_function_settings *s,
                               const struct em_device *device, CUfunction_attribute attribute,
                               int *out)
{
    struct em_function_settings all = *s;
    const int *setting = setting_of(&all, attribute);
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = (int)em_code_most_threads(code, device);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = (int)code->static_shared_B;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *out = (int)code->constant_B;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out = (int)code->local_B;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *out = (int)code->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: // (recorded: x_runtime_k jit_functions/attributes-assert)
        *out = (int)(code->target ? code->target : em_device_architecture(device));
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *out = (int)em_device_architecture(device);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *out = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *out = code->needs_cluster || code->required_cluster[0] != 0;
        return CUDA_SUCCESS;
    default:
        if (setting) {
            *out = *setting;
            return CUDA_SUCCESS;
        }
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attrib (%d) is not a CUfunction_attribute",
                       (int)attribute);
    }
}

// (recorded: func_attributes/set-0 … set-17)
CUresult em_code_set_attribute(const struct em_code *code, struct em_function_settings *s,
                               const struct em_device *device, CUfunction_attribute attribute,
                               int value)
{
    int low = 0, high = INT32_MAX, *to = setting_of(s, attribute);
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        high = em_device_attribute(device, DM_ATTRIBUTE_max_shared_memory_per_block_optin) -
               (int)code->static_shared_B;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        low = CU_SHAREDMEM_CARVEOUT_DEFAULT;
        high = CU_SHAREDMEM_CARVEOUT_MAX_SHARED;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        // "If the value is set during compile time, it cannot be set at runtime. Setting it at
        // runtime will return CUDA_ERROR_NOT_PERMITTED."
        if (code->required_cluster[0])
            return em_fail(CUDA_ERROR_NOT_PERMITTED,
                           "attrib %d: kernel %s was built for clusters of %u x %u x %u blocks",
                           (int)attribute, code->name, code->required_cluster[0],
                           code->required_cluster[1], code->required_cluster[2]);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        low = INT32_MIN;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        high = CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
        break;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d of a function cannot be set",
                       (int)attribute);
    }
    if (value < low || value > high)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "value (%d) of attribute %d must be from %d to %d",
                       value, (int)attribute, low, high);
    *to = value;
    return CUDA_SUCCESS;
}

CUresult em_code_parameter(const struct em_code *code, size_t index, size_t *offset_B,
                           size_t *size_B)
{
    if (index >= code->parameter_count)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "paramIndex (%zu): kernel %s has %u parameters",
                       index, code->name, code->parameter_count);
    *offset_B = code->parameters[index].offset_B;
    if (size_B)
        *size_B = code->parameters[index].size_B;
    return CUDA_SUCCESS;
}

CUresult em_function_get_attribute(CUfunction handle, CUfunction_attribute attribute, int *out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = em_function_find(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r) {
        const struct em_function_settings settings = em_function_settings(f);
        r = em_code_get_attribute(f->code, &settings, f->object.context->device, attribute, out);
    }
    em_unlock();
    // A kernel keeps any number (recorded: x_runtime_k functions/set-14).
    if (!r && attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        *out = *out != 0;
    return r;
}

CUresult em_function_set_attribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = em_function_find(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        r = em_code_set_attribute(f->code, &f->own, f->object.context->device, attribute, value);
    if (!r)
        f->own_set |= 1u << attribute;
    if (!r)
        f->passed = false;
    em_unlock();
    return r;
}

// ---- facts ----

bool em_function_text(uint64_t handle, char *out, size_t size_B)
{
    em_assert_unlocked();
    em_lock();
    const struct em_object *o = em_object_peek(EM_FUNCTION, handle);
    const char *name = o ? ((const struct em_function *)o)->code->name : NULL;
    if (!o) {
        o = em_object_peek(EM_KERNEL, handle);
        name = o ? em_kernel_code((const struct em_kernel *)o)->name : NULL;
    }
    if (o)
        snprintf(out, size_B, "%s #%u (%s)", em_type_name(o->type), o->number, name);
    em_unlock();
    return o != NULL;
}

CUresult em_function_name(CUfunction handle, const char **out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = find_unloaded(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        *out = f->code->name;
    em_unlock();
    return r;
}

CUresult em_function_module(CUfunction handle, CUmodule *out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = find_unloaded(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        *out = em_module_handle(f->module);
    em_unlock();
    return r;
}

CUresult em_function_parameter(CUfunction handle, size_t index, size_t *offset_B, size_t *size_B)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = find_unloaded(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        r = em_code_parameter(f->code, index, offset_B, size_B);
    em_unlock();
    return r;
}

CUresult em_function_check(CUfunction handle, CUresult code)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = em_function_find(handle, code, &f);
    em_unlock();
    return r;
}

CUresult em_function_is_loaded(CUfunction handle, bool *out)
{
    em_assert_unlocked();
    struct em_function *f;
    em_lock();
    CUresult r = find_unloaded(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r)
        *out = f->loaded;
    em_unlock();
    return r;
}

CUresult em_cache_config_check(CUfunc_cache config)
{
    return (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE, "config (%d) is not a CUfunc_cache",
                         (int)config);
}

// ---- launches that are set up one by one ----

// Finds a function and its arguments, which are made at the first call.
static CUresult find_old(CUfunction handle, struct em_old_arguments **out)
{
    em_assert_locked();
    struct em_function *f;
    CUresult r = em_function_find(handle, CUDA_ERROR_INVALID_HANDLE, &f);
    if (r)
        return r;
    if (!f->old)
        f->old = dm_calloc(1, sizeof *f->old);
    if (!f->old)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the arguments of %s",
                       f->code->name);
    *out = f->old;
    return CUDA_SUCCESS;
}

CUresult em_function_set_block(CUfunction handle, int x, int y, int z)
{
    em_assert_unlocked();
    struct em_old_arguments *old;
    em_lock();
    CUresult r = find_old(handle, &old);
    if (!r && (x <= 0 || y <= 0 || z <= 0))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the block (%d x %d x %d) must not be empty", x, y,
                    z);
    if (!r)
        old->threads = (struct em_extent3){(unsigned)x, (unsigned)y, (unsigned)z};
    em_unlock();
    return r;
}

CUresult em_function_set_shared(CUfunction handle, unsigned size_B)
{
    em_assert_unlocked();
    struct em_old_arguments *old;
    em_lock();
    CUresult r = find_old(handle, &old);
    if (!r)
        old->shared_B = size_B;
    em_unlock();
    return r;
}

CUresult em_function_set_parameters_size(CUfunction handle, unsigned size_B)
{
    em_assert_unlocked();
    struct em_old_arguments *old;
    em_lock();
    CUresult r = find_old(handle, &old);
    if (!r && size_B > sizeof old->bytes)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "numbytes (%u) exceeds %zu", size_B,
                    sizeof old->bytes);
    if (!r)
        old->size_B = size_B;
    em_unlock();
    return r;
}

CUresult em_function_set_parameter(CUfunction handle, int offset_B, const void *value,
                                   unsigned size_B)
{
    em_assert_unlocked();
    struct em_old_arguments *old;
    em_lock();
    CUresult r = find_old(handle, &old);
    if (!r && (offset_B < 0 || size_B > sizeof old->bytes ||
               (unsigned)offset_B > sizeof old->bytes - size_B))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "offset (%d) + size (%u) exceeds %zu", offset_B,
                    size_B, sizeof old->bytes);
    if (!r)
        memcpy(old->bytes + offset_B, value, size_B);
    em_unlock();
    return r;
}
