// SPDX-License-Identifier: MIT
// The manual's chapter "Module Management": the linker.
#include "api_bodies.h"
#include "error.h"
#include "jit_options.h"
#include "linker.h"

// A linker has some bytes for its creator, of which it knows only the size. They are the outputs of
// the options of cuLinkCreate, which its later calls fill in too.
union kept {
    struct em_link_own own;
    struct api_jit_outputs outputs;
};
_Static_assert(sizeof(union kept) == sizeof(struct em_link_own), "the outputs fit");

CUresult api_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                             CUlinkState *stateOut)
{
    struct api_jit jit;
    CUresult r = api_jit_begin(API_JIT_LINK, options, optionValues, numOptions, &jit);
    if (r)
        return r;
    union kept kept = {.own = {{0}}};
    kept.outputs = api_jit_keep(&jit);
    return em_link_create(jit.has_target ? &jit.target : NULL, &jit.registers, &kept.own, stateOut);
}

// Begins a call of a linker, which writes to the outputs of cuLinkCreate's options.
static CUresult begin(CUlinkState state, struct api_jit *out)
{
    union kept kept;
    CUresult r = em_link_own(state, &kept.own);
    if (!r)
        api_jit_again(&kept.outputs, out);
    return r;
}

// Options of one input have no outputs, so those that api_jit_keep returns are dropped.
static CUresult check_input(unsigned count, CUjit_option *options, void **values)
{
    struct api_jit jit;
    CUresult r = api_jit_begin(API_JIT_INPUT, options, values, count, &jit);
    if (!r)
        api_jit_keep(&jit);
    return r;
}

CUresult api_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned int numOptions, CUjit_option *options,
                              void **optionValues)
{
    struct api_jit jit;
    CUresult r = check_input(numOptions, options, optionValues);
    if (!r)
        r = begin(state, &jit);
    if (r)
        return r;
    r = api_jit_compiles(&jit);
    return api_jit_end(&jit, r ? r : em_link_add(state, type, data, size, name));
}

CUresult api_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct api_jit jit;
    CUresult r = check_input(numOptions, options, optionValues);
    if (!r)
        r = begin(state, &jit);
    if (r)
        return r;
    r = api_jit_compiles(&jit);
    return api_jit_end(&jit, r ? r : em_link_add_file(state, type, path));
}

CUresult api_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct api_jit jit;
    CUresult r = begin(state, &jit);
    if (!r && jit.verbose)
        jit.summary = "the inputs are PTX texts, which stay texts in the image";
    return r ? r : api_jit_end(&jit, em_link_complete(state, cubinOut, sizeOut));
}

CUresult api_cuLinkDestroy(CUlinkState state)
{
    return em_link_destroy(state);
}
