// SPDX-License-Identifier: MIT
// The structs of libraries, for the files that implement them.
#pragma once
#include "image.h"
#include "library.h"

struct em_library {
    struct em_object object; // type EM_LIBRARY, in no context
    struct em_image *image;  // NULL if it was refused
    CUresult refused;        // why, for the calls that need the image
    char *refusal;
    struct em_kernel **kernels; // by code; NULL until asked for
    uint64_t *managed;          // addresses of managed variables, by variable
};

struct em_kernel {
    struct em_object object; // type EM_KERNEL, in no context
    struct em_library *library;
    unsigned code;
    bool loaded;                            // the code is ready, and the settings have its values
    struct em_function_settings settings[]; // by device
};

static inline unsigned em_library_kernels_of(const struct em_library *l)
{
    return l->image ? l->image->code_count : 0;
}

// Takes the lock and finds a library. The lock is held on return even if the handle is invalid.
// Precondition: em_lock NOT held.
CUresult em_library_lock(CUlibrary handle, struct em_library **out);
// Releases the lock and returns `r`. Precondition: em_lock held.
CUresult em_library_unlock(CUresult r);

// Precondition of the functions below: em_lock held.

CUresult em_library_find(CUlibrary handle, struct em_library **out);
// Returns the error for which the image was refused, if it was.
CUresult em_library_need_image(const struct em_library *l);
// The library's module in a context, which is made if it does not exist.
CUresult em_library_get_module(struct em_library *l, struct em_context *context,
                               struct em_module **out);
