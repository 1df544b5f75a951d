// SPDX-License-Identifier: MIT
// Modules and their functions. A module is an image in one context: it owns the image's variables
// there.
//
//     em_library ──one a context──▶ em_module ──▶ em_image   (shared, never changes)
//         │                            │
//         ▼                            ▼
//     em_kernel  ──one a context──▶ em_function ──▶ em_code  (a part of the image)
//
// Lifetimes: a function has a reference to its module, a module to its image. A launch has a
// reference to its function, so that a module can be unloaded at any time.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "code.h"
#include "object.h"

struct em_context;
struct em_library;

// The attributes of a function that a program can set.
struct em_function_settings {
    int most_dynamic_shared_B, carveout, cluster[3], non_portable, policy;
};

struct em_module {
    struct em_object object; // type EM_MODULE
    struct em_image *image;
    struct em_library *library;     // that it belongs to, or NULL. Not a reference
    struct em_function **functions; // by code; NULL until asked for
    uint64_t *variables;            // their addresses, by variable; 0: it has no memory
    uint64_t *managed; // the library's addresses of managed variables; NULL: they are the module's
    uint64_t *references; // handles of texture and surface references; 0 until asked for
};

// Arguments of the launch calls of CUDA 3, which are set one by one.
struct em_old_arguments {
    struct em_extent3 threads;
    unsigned shared_B, size_B;
    unsigned char bytes[EM_PARAMETERS_MOST_B];
};

struct em_function {
    struct em_object object; // type EM_FUNCTION
    struct em_module *module;
    struct em_code *code;
    bool loaded; // the code is ready to run, and `own` has its values
    // Read them by em_function_settings.
    struct em_function_settings own;
    unsigned own_set; // one bit for each CUfunction_attribute that was set for this function
    const struct em_function_settings *inherited; // those of the library's kernel, or NULL
    struct em_object *kernel;                     // that has them: a reference, or NULL
    struct em_old_arguments *old;                 // NULL until set
    // The last launch that has passed em_launch_check, if `own` has not changed since. It had no
    // attributes.
    bool passed;
    struct em_extent3 passed_blocks, passed_threads;
    unsigned passed_shared_B;
};

// ---- loading. Precondition: em_lock not held ----

// The architecture of the current context's device, or of the first device: for em_load.
unsigned em_image_architecture(void);

// cuModuleLoadData and its like, in the current context.
CUresult em_module_load(const void *image, const struct em_load *how, CUmodule *out);
CUresult em_module_load_file(const char *path, const struct em_load *how, CUmodule *out);
CUresult em_module_unload(CUmodule module);

// ---- queries. Precondition: em_lock not held ----

CUresult em_module_function(CUmodule module, const char *name, CUfunction *out);
CUresult em_module_function_count(CUmodule module, unsigned *out);
CUresult em_module_functions(CUmodule module, unsigned count, CUfunction *out);
// `address` and `size_B` may be NULL, but not both.
CUresult em_module_variable(CUmodule module, const char *name, CUdeviceptr *address,
                            size_t *size_B);

// The texture or surface reference of a module, which `make` makes in the module's context if it
// does not exist. It ends with the module. `make` is called with em_lock held.
CUresult em_module_reference(CUmodule module, const char *name, enum em_variable_kind kind,
                             CUresult (*make)(struct em_context *context, struct em_object **out),
                             uint64_t *out);

// Shared with libraries: a variable of a module. Precondition: em_lock held.
CUresult em_module_find_variable(const struct em_module *m, const char *name, CUdeviceptr *address,
                                 size_t *size_B);

// ---- for the other files of this room. Precondition: em_lock held ----

// A module of `image`, to which it takes a reference, in `context`. `managed` has the addresses of
// a library's managed variables, which its modules share, by variable: the first module allocates
// them, and em_module_free_managed frees them. If it is NULL, the module has its own.
CUresult em_module_new(struct em_context *context, struct em_image *image, uint64_t *managed,
                       struct em_module **out);
void em_module_free_managed(const struct em_image *image, uint64_t *managed);
// A module that outlives its library, because its context has failed: the managed variables end.
void em_module_leave_library(struct em_module *m);
// The function of a kernel, which is made if it does not exist. It is not loaded, unless the
// loading mode is eager.
CUresult em_module_get_function(struct em_module *m, unsigned code, struct em_function **out);
CUresult em_module_find(CUmodule handle, struct em_module **out);
// Ends a module and gives its memory back. Waits for the work of its context, for which em_lock is
// released meanwhile.
CUresult em_module_end(struct em_module *m);

static inline CUmodule em_module_handle(const struct em_module *m)
{
    return (CUmodule)(uintptr_t)m->object.handle;
}
static inline CUfunction em_function_handle(const struct em_function *f)
{
    return (CUfunction)(uintptr_t)f->object.handle;
}
