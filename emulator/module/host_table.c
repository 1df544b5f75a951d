// SPDX-License-Identifier: MIT
// Checks tables of host functions, makes images of them, and keeps the registry.
#include "host_table.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "host_kernel.h"
#include "host_lane.h"
#include "lock.h"
#include "pointer_check.h"

enum { STATIC_SHARED_MOST_B = 48 << 10 }; // the limit of PTX (recorded: load_ptx/static-shared-48K)

// ---- checks ----

static const cardlessModuleDesc model = {.magic = CARDLESS_MODULE_MAGIC};

// Checks that the memory that a table points to exists: a program can pass the bytes of a file that
// happen to begin like a table.
static CUresult check_there(const char *what, const void *p, uint64_t count, uint64_t each_B)
{
    return count ? em_readable(what, p, count, each_B) : CUDA_SUCCESS;
}

static bool is_integer(cardlessParamType type)
{
    return type >= CARDLESS_INT8 && type <= CARDLESS_UINT64;
}

// The bytes that a kernel accesses through a pointer.
static CUresult check_accessed(const cardlessKernelDesc *k, unsigned i, CUresult code)
{
    const cardlessParam *p = &k->params[i];
    if (p->type != CARDLESS_POINTER && p->type != CARDLESS_CONST_POINTER)
        return CUDA_SUCCESS;
    if (p->alignment && !p->size)
        return em_fail(code,
                       "kernel %s: params[%u] is a pointer of size 0, but its alignment (%u) names "
                       "the parameter with the number of elements; give the size of one",
                       k->name, i, p->alignment);
    if (p->alignment > k->param_count ||
        (p->alignment && !is_integer(k->params[p->alignment - 1].type)))
        return em_fail(code,
                       "kernel %s: params[%u] is a pointer whose alignment (%u) must be the number "
                       "of a parameter of an integer type, from 1 to %u, or 0",
                       k->name, i, p->alignment, k->param_count);
    return CUDA_SUCCESS;
}

static CUresult check_kernel(const cardlessModuleDesc *t, unsigned index, CUresult code)
{
    const cardlessKernelDesc *k = &t->kernels[index];
    if (!k->name || !k->name[0] || !k->function)
        return em_fail(code, "kernels[%u] has no %s", index, k->function ? "name" : "function");
    if (k->param_count && !k->params)
        return em_fail(code, "kernel %s: params is NULL, but param_count is %u", k->name,
                       k->param_count);
    CUresult r = check_there("params", k->params, k->param_count, sizeof *k->params);
    if (r)
        return r;
    if (k->flags & ~(unsigned)(CARDLESS_KERNEL_PER_BLOCK | CARDLESS_KERNEL_BARRIERS))
        return em_fail(code, "kernel %s: flags (%#x) has bits other than CARDLESS_KERNEL_*",
                       k->name, k->flags);
    if (k->static_shared > STATIC_SHARED_MOST_B)
        return em_fail(code, "kernel %s: static_shared (%u) exceeds %u bytes", k->name,
                       k->static_shared, (unsigned)STATIC_SHARED_MOST_B);
    uint64_t end_B = 0;
    for (unsigned i = 0; i < k->param_count; i++) {
        unsigned size_B, alignment_B;
        if (!em_host_parameter_shape(&k->params[i], &size_B, &alignment_B))
            return em_fail(code,
                           "kernel %s: params[%u] has the type %d, %u bytes and an alignment of "
                           "%u; the size must not be 0, and the alignment a power of two up to 128",
                           k->name, i, (int)k->params[i].type, k->params[i].size,
                           k->params[i].alignment);
        r = t->version >= EM_HOST_ACCESS_VERSION ? check_accessed(k, i, code) : CUDA_SUCCESS;
        if (r)
            return r;
        end_B = (end_B + alignment_B - 1) / alignment_B * alignment_B + size_B;
        if (end_B > EM_PARAMETERS_MOST_B)
            return em_fail(code, "kernel %s: the parameters take more than %u bytes", k->name,
                           (unsigned)EM_PARAMETERS_MOST_B);
    }
    return CUDA_SUCCESS;
}

static int find_variable(const cardlessModuleDesc *t, const char *name)
{
    for (unsigned i = 0; i < t->variable_count; i++)
        if (t->variables[i].name && !strcmp(t->variables[i].name, name))
            return (int)i;
    return -1;
}

enum { REFERENCES = CARDLESS_VARIABLE_TEXTURE | CARDLESS_VARIABLE_SURFACE };

// A texture or surface reference has a name and nothing else.
static CUresult check_reference(const cardlessVariableDesc *v, CUresult code)
{
    if (v->flags != CARDLESS_VARIABLE_TEXTURE && v->flags != CARDLESS_VARIABLE_SURFACE)
        return em_fail(
            code,
            "variable %s: flags (%#x) combine CARDLESS_VARIABLE_TEXTURE or _SURFACE with "
            "other bits",
            v->name, v->flags);
    if (v->size || v->initial || v->address_of)
        return em_fail(code,
                       "variable %s is a reference, which has no memory: size must be 0, and "
                       "initial and address_of NULL",
                       v->name);
    return CUDA_SUCCESS;
}

static CUresult check_variable(const cardlessModuleDesc *t, unsigned index, CUresult code)
{
    const cardlessVariableDesc *v = &t->variables[index];
    const unsigned references = t->version >= EM_HOST_ACCESS_VERSION ? REFERENCES : 0;
    if (!v->name || !v->name[0] || (!v->size && !(v->flags & references)))
        return em_fail(code, "variables[%u] has no %s", index, v->size ? "name" : "size");
    if (find_variable(t, v->name) != (int)index)
        return em_fail(code, "two variables have the name %s", v->name);
    if (v->flags & ~(CARDLESS_VARIABLE_CONSTANT | references))
        return em_fail(code, "variable %s: flags (%#x) has bits other than CARDLESS_VARIABLE_*",
                       v->name, v->flags);
    if (v->flags & REFERENCES)
        return check_reference(v, code);
    if (!v->address_of)
        return CUDA_SUCCESS;
    const int other = find_variable(t, v->address_of);
    if (v->initial || v->size != sizeof(uint64_t) || other < 0 ||
        t->variables[other].flags & REFERENCES)
        return em_fail(code,
                       "variable %s is the address of %s: that must be a variable of the table "
                       "with memory, size must be 8, and initial NULL",
                       v->name, v->address_of);
    return CUDA_SUCCESS;
}

static CUresult check_table(const cardlessModuleDesc *t, CUresult code)
{
    if (memcmp(t->magic, model.magic, sizeof t->magic))
        return em_fail(code, "magic is not CARDLESS_MODULE_MAGIC");
    if (t->version < 3 || t->version > CARDLESS_VERSION)
        return em_fail(code,
                       "version (%u) must be the CARDLESS_VERSION of the header, from 3 to %u",
                       t->version, CARDLESS_VERSION);
    if ((t->kernel_count && !t->kernels) || (t->variable_count && !t->variables))
        return em_fail(code, "%s is NULL, but its count is not 0",
                       t->kernel_count && !t->kernels ? "kernels" : "variables");
    CUresult r = check_there("kernels", t->kernels, t->kernel_count, sizeof *t->kernels);
    if (!r)
        r = check_there("variables", t->variables, t->variable_count, sizeof *t->variables);
    for (unsigned i = 0; i < t->kernel_count && !r; i++)
        r = check_there("name", t->kernels[i].name, t->kernels[i].name != NULL, 1);
    for (unsigned i = 0; i < t->kernel_count && !r; i++) {
        r = check_kernel(t, i, code);
        for (unsigned j = 0; j < i && !r; j++)
            if (!strcmp(t->kernels[j].name, t->kernels[i].name))
                r = em_fail(code, "two kernels have the name %s", t->kernels[i].name);
    }
    for (unsigned i = 0; i < t->variable_count && !r; i++)
        r = check_variable(t, i, code);
    return r;
}

// ---- images ----

struct table_image {
    struct em_image image;
    struct em_host_library library;
};

void em_host_library_close(struct em_host_library library)
{
    if (library.handle)
        dlclose(library.handle);
    if (library.file >= 0)
        close(library.file);
}

static uint64_t images; // that exist; atomic

static void free_image(struct em_image *image)
{
    struct table_image *t = (struct table_image *)image;
    em_assert_unlocked();
    if (!__atomic_sub_fetch(&images, 1, __ATOMIC_RELAXED)) {
        em_host_lanes_give_back();
        em_host_shared_give_back();
    }
    for (unsigned i = 0; i < image->code_count; i++)
        em_host_kernel_free(image->codes[i]);
    dm_free(image->codes);
    dm_free(image->variables);
    em_host_library_close(t->library);
    dm_free(t);
}

static enum em_variable_kind kind_of(const cardlessVariableDesc *v)
{
    return v->flags & CARDLESS_VARIABLE_TEXTURE   ? EM_VARIABLE_TEXTURE
           : v->flags & CARDLESS_VARIABLE_SURFACE ? EM_VARIABLE_SURFACE
                                                  : EM_VARIABLE_MEMORY;
}

static CUresult fill_image(struct em_image *image, const cardlessModuleDesc *table)
{
    unsigned constant_B = 0;
    image->codes = dm_calloc(table->kernel_count + 1ul, sizeof *image->codes);
    image->variables = dm_calloc(table->variable_count + 1ul, sizeof *image->variables);
    if (!image->codes || !image->variables)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a module of %u kernels",
                       table->kernel_count);
    for (unsigned i = 0; i < table->variable_count; i++) {
        const cardlessVariableDesc *v = &table->variables[i];
        image->variables[image->variable_count++] = (struct em_variable){
            .name = v->name,
            .kind = kind_of(v),
            .size_B = v->size,
            .initial = v->initial,
            .initial_B = v->initial ? v->size : 0,
            .address_of = v->address_of ? find_variable(table, v->address_of) : -1,
            .constant = v->flags & CARDLESS_VARIABLE_CONSTANT,
        };
        constant_B += v->flags & CARDLESS_VARIABLE_CONSTANT ? (unsigned)v->size : 0;
    }
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < table->kernel_count && !r; i++) {
        struct em_code *code;
        r = em_host_kernel_new(table, i, &code);
        if (r)
            break;
        code->constant_B = constant_B;
        image->codes[image->code_count++] = code;
    }
    return r;
}

CUresult em_host_table_image(const cardlessModuleDesc *table, struct em_host_library library,
                             CUresult code, struct em_image **out)
{
    em_assert_unlocked();
    CUresult r = check_table(table, code);
    struct table_image *t = r ? NULL : dm_calloc(1, sizeof *t);
    if (!r && !t)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a module");
    if (!t) {
        em_host_library_close(library);
        return r;
    }
    t->library = library;
    t->image.references = 1;
    t->image.free = free_image;
    __atomic_add_fetch(&images, 1, __ATOMIC_RELAXED);
    r = fill_image(&t->image, table);
    if (r)
        free_image(&t->image);
    else
        *out = &t->image;
    return r;
}

// ---- the registry ----

struct entry {
    const cardlessModuleDesc *table;
    struct entry *next;
};

static struct entry *registry; // the newest first; under em_lock

static struct entry **find_entry(const cardlessModuleDesc *table)
{
    em_assert_locked();
    struct entry **at = &registry;
    while (*at && (*at)->table != table)
        at = &(*at)->next;
    return at;
}

CUresult em_host_table_register(const cardlessModuleDesc *table)
{
    em_assert_unlocked();
    CUresult r = check_table(table, CUDA_ERROR_INVALID_VALUE);
    if (r)
        return r;
    struct entry *e = dm_alloc(sizeof *e);
    if (!e)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a registered table");
    em_lock();
    if (*find_entry(table)) {
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the table is registered already");
    } else {
        *e = (struct entry){table, registry};
        registry = e;
    }
    em_unlock();
    if (r)
        dm_free(e);
    return r;
}

CUresult em_host_table_unregister(const cardlessModuleDesc *table)
{
    em_assert_unlocked();
    em_lock();
    struct entry **at = find_entry(table), *e = *at;
    if (e)
        *at = e->next;
    em_unlock();
    dm_free(e);
    return e ? CUDA_SUCCESS : em_fail(CUDA_ERROR_NOT_FOUND, "the table is not registered");
}

static bool has_kernels(const cardlessModuleDesc *t, const struct em_text_name *names,
                        unsigned count)
{
    if (t->kernel_count != count)
        return false;
    // The table's names are distinct.
    for (unsigned i = 0; i < count; i++) {
        unsigned j = 0;
        while (j < count && (strlen(t->kernels[i].name) != names[j].length ||
                             memcmp(t->kernels[i].name, names[j].at, names[j].length)))
            j++;
        if (j == count)
            return false;
    }
    return true;
}

bool em_host_table_exists(void)
{
    em_assert_unlocked();
    em_lock();
    const bool exists = registry != NULL;
    em_unlock();
    return exists;
}

const cardlessModuleDesc *em_host_table_for(const struct em_text_name *names, unsigned count)
{
    em_assert_unlocked();
    em_lock();
    struct entry *e = registry;
    while (e && !has_kernels(e->table, names, count))
        e = e->next;
    const cardlessModuleDesc *table = e ? e->table : NULL;
    em_unlock();
    return table;
}
