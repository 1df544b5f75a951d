// SPDX-License-Identifier: MIT
// Loads libffi. The header of the build machine describes its structs, which are the same in
// libffi.so.7 and libffi.so.8.
#include "ffi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "error.h"
#include "lock.h"
#include "mutex.h"

static struct em_ffi ffi;
static bool have_ffi;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find_types(void *library)
{
    static const struct {
        const char *name;
        ffi_type **to;
    } types[] = {
        {"ffi_type_sint8", &ffi.signed_type[1]},    {"ffi_type_sint16", &ffi.signed_type[2]},
        {"ffi_type_sint32", &ffi.signed_type[4]},   {"ffi_type_sint64", &ffi.signed_type[8]},
        {"ffi_type_uint8", &ffi.unsigned_type[1]},  {"ffi_type_uint16", &ffi.unsigned_type[2]},
        {"ffi_type_uint32", &ffi.unsigned_type[4]}, {"ffi_type_uint64", &ffi.unsigned_type[8]},
        {"ffi_type_float", &ffi.float_type},        {"ffi_type_double", &ffi.double_type},
        {"ffi_type_pointer", &ffi.pointer_type},    {"ffi_type_void", &ffi.void_type},
    };
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        *types[i].to = dlsym(library, types[i].name);
        if (!*types[i].to)
            return false;
    }
    return true;
}

// The library stays loaded, because kernels use it until the process ends.
static void load(void)
{
    if (!EM_HAVE_FFI)
        return;
    void *library = dlopen("libffi.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libffi.so.7", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&ffi.prepare = dlsym(library, "ffi_prep_cif");
    *(void **)&ffi.call = dlsym(library, "ffi_call");
    have_ffi = ffi.prepare && ffi.call && find_types(library);
}

CUresult em_ffi(const struct em_ffi **out)
{
    em_assert_unlocked();
    dm_once(&once, load);
    *out = &ffi;
    if (have_ffi)
        return CUDA_SUCCESS;
    if (!EM_HAVE_FFI)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "kernels that are host functions need libffi, and this libcuda.so.1 was "
                       "built without its header; build it with libffi-dev");
    return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                   "kernels that are host functions need libffi.so.8 or libffi.so.7; install it "
                   "(Debian, Ubuntu: libffi8)");
}
