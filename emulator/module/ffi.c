// SPDX-License-Identifier: MIT
// Loads libffi. The header of the build machine describes its structs, which are the same in
// libffi.so.7 and libffi.so.8.
#include "ffi_library.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "error.h"
#include "lock.h"
#include "mutex.h"

static bool find_types(void *library, struct em_ffi *f)
{
    const struct {
        const char *name;
        ffi_type **to;
    } types[] = {
        {"ffi_type_sint8", &f->signed_type[1]},    {"ffi_type_sint16", &f->signed_type[2]},
        {"ffi_type_sint32", &f->signed_type[4]},   {"ffi_type_sint64", &f->signed_type[8]},
        {"ffi_type_uint8", &f->unsigned_type[1]},  {"ffi_type_uint16", &f->unsigned_type[2]},
        {"ffi_type_uint32", &f->unsigned_type[4]}, {"ffi_type_uint64", &f->unsigned_type[8]},
        {"ffi_type_float", &f->float_type},        {"ffi_type_double", &f->double_type},
        {"ffi_type_pointer", &f->pointer_type},    {"ffi_type_void", &f->void_type},
    };
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        *types[i].to = dlsym(library, types[i].name);
        if (!*types[i].to)
            return false;
    }
    return true;
}

// The library stays loaded, because kernels use it until the process ends.
static bool find(struct em_ffi *f)
{
    if (!EM_HAVE_FFI)
        return false;
    void *library = dlopen("libffi.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libffi.so.7", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    *(void **)&f->prepare = dlsym(library, "ffi_prep_cif");
    *(void **)&f->call = dlsym(library, "ffi_call");
    return f->prepare && f->call && find_types(library, f);
}

static struct em_ffi ffi;
static bool have_ffi;
static struct dm_mutex ffi_mutex = DM_MUTEX_INITIALIZER(LEAF); // while `ffi` is filled in

// The search runs without the mutex, because another thread may be inside the dynamic loader, in a
// constructor that calls CUDA. Threads that search at the same time find the same.
static bool load(void)
{
    struct em_ffi found = {0};
    if (__atomic_load_n(&have_ffi, __ATOMIC_ACQUIRE))
        return true;
    if (!find(&found))
        return false;
    dm_mutex_lock(&ffi_mutex);
    if (!have_ffi)
        ffi = found;
    __atomic_store_n(&have_ffi, true, __ATOMIC_RELEASE);
    dm_mutex_unlock(&ffi_mutex);
    return true;
}

CUresult em_ffi(const struct em_ffi **out)
{
    em_assert_unlocked();
    *out = &ffi;
    if (load())
        return CUDA_SUCCESS;
    if (!EM_HAVE_FFI)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "kernels that are host functions need libffi, and this libcuda.so.1 was "
                       "built without its header; build it with libffi-dev");
    return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                   "kernels that are host functions need libffi.so.8 or libffi.so.7; install it "
                   "(Debian, Ubuntu: libffi8)");
}
