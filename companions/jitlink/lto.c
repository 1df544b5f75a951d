// SPDX-License-Identifier: MIT
// Calls NVIDIA's libnvJitLink of the same version.
#include "lto.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of the library, by their part between __nvJitLink and _13_0
// or _12_0. They have the same arguments.
#define FUNCTIONS(X)                                                                               \
    X(Create)                                                                                      \
    X(Destroy)                                                                                     \
    X(AddData)                                                                                     \
    X(Complete)                                                                                    \
    X(GetLinkedPtxSize)                                                                            \
    X(GetLinkedPtx)                                                                                \
    X(GetErrorLogSize)                                                                             \
    X(GetErrorLog)

struct library {
#define MEMBER(name) __typeof__(__nvJitLink##name##_13_0) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

struct jl_lto {
    struct library library;
    nvJitLinkHandle handle;
    bool used;
    char *ptx, *log;
};

// The redirect knows the library that it has replaced, and passes a path after the colon on as it
// is. Without the redirect there is no such name.
static void *open_library(void)
{
    static const char *const names[] = {
        "cardless-original:" JL_SONAME,
        "cardless-original:/usr/local/cuda/lib64/" JL_SONAME,
    };
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

static bool find_functions(void *handle, struct library *out)
{
    bool complete = true;
#define FIND(name)                                                                                 \
    out->name =                                                                                    \
        (__typeof__(out->name))dlsym(handle, "__nvJitLink" #name "_" JL_TEXT(JL_MAJOR) "_0");      \
    complete = complete && out->name;
    FUNCTIONS(FIND)
#undef FIND
    return complete;
}

// The program's options, and -ptx.
static nvJitLinkResult create(struct jl_lto *lto, uint32_t count, const char *const *options)
{
    const char **all = calloc((size_t)count + 1, sizeof *all);
    if (!all)
        return NVJITLINK_ERROR_INTERNAL;
    bool has_ptx = false;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = options[i];
        has_ptx = has_ptx || !strcmp(options[i], "-ptx");
    }
    all[count] = "-ptx";
    nvJitLinkResult r = lto->library.Create(&lto->handle, count + !has_ptx, all);
    if (r)
        lto->handle = NULL; // the library may have written it
    free(all);
    return r;
}

struct jl_lto *jl_lto_open(uint32_t count, const char *const *options, char *why, size_t why_B)
{
    struct jl_lto *lto = calloc(1, sizeof *lto);
    void *library = open_library(); // stays loaded
    if (!lto || !library || !find_functions(library, &lto->library)) {
        snprintf(why, why_B, "NVIDIA's " JL_SONAME ", which reads LTO-IR, was not found");
        free(lto);
        return NULL;
    }
    const nvJitLinkResult r = create(lto, count, options);
    if (!r)
        return lto;
    snprintf(why, why_B, "NVIDIA's " JL_SONAME " returned %d", (int)r);
    free(lto);
    return NULL;
}

void jl_lto_close(struct jl_lto *lto)
{
    if (!lto)
        return;
    lto->library.Destroy(&lto->handle);
    free(lto->ptx);
    free(lto->log);
    free(lto);
}

nvJitLinkResult jl_lto_add(struct jl_lto *lto, nvJitLinkInputType type, const void *data,
                           size_t size, const char *name)
{
    const nvJitLinkResult r = lto->library.AddData(lto->handle, type, data, size, name);
    lto->used = lto->used || !r;
    return r;
}

bool jl_lto_is_used(const struct jl_lto *lto)
{
    return lto && lto->used;
}

nvJitLinkResult jl_lto_complete(struct jl_lto *lto, const char **ptx, size_t *size)
{
    nvJitLinkResult r = lto->library.Complete(lto->handle);
    if (!r)
        r = lto->library.GetLinkedPtxSize(lto->handle, size);
    if (r)
        return r;
    lto->ptx = calloc(*size + 1, 1);
    if (!lto->ptx)
        return NVJITLINK_ERROR_INTERNAL;
    *ptx = lto->ptx;
    r = lto->library.GetLinkedPtx(lto->handle, lto->ptx);
    *size = strlen(lto->ptx) + 1;
    return r;
}

const char *jl_lto_log(struct jl_lto *lto)
{
    size_t size = 0;
    if (lto->library.GetErrorLogSize(lto->handle, &size) || !size)
        return "";
    free(lto->log);
    lto->log = calloc(size + 1, 1);
    return lto->log && !lto->library.GetErrorLog(lto->handle, lto->log) ? lto->log : "";
}
