// SPDX-License-Identifier: MIT
// libffi, which calls a function whose parameter types are known only at run time. It is loaded
// when the first kernel needs it, so that libcuda.so.1 has no dependency of its own.
#pragma once
#include <cuda.h>

#if EM_HAVE_FFI
#include <ffi.h>
#else // a cross build without the header of the other machine: em_ffi fails
typedef struct ffi_type ffi_type;
typedef struct {
    ffi_type **types;
} ffi_cif;
typedef int ffi_status, ffi_abi;
enum { FFI_DEFAULT_ABI };
#endif

struct em_ffi {
    ffi_status (*prepare)(ffi_cif *cif, ffi_abi abi, unsigned count, ffi_type *result,
                          ffi_type **arguments);
    void (*call)(ffi_cif *cif, void (*function)(void), void *result, void **arguments);
    // By the size in bytes: 1, 2, 4, 8.
    ffi_type *signed_type[9], *unsigned_type[9];
    ffi_type *float_type, *double_type, *pointer_type, *void_type;
};

// Returns libffi's functions. Fails with CUDA_ERROR_NOT_SUPPORTED if the machine lacks it, or if
// this build was made without its header.
// Precondition: em_lock not held.
CUresult em_ffi(const struct em_ffi **out);
