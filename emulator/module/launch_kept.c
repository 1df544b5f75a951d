// SPDX-License-Identifier: MIT
// Launches that kernel nodes keep: a function with its configuration and arguments.
#include "launch_command.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "launch_check.h"
#include "lock.h"
#include "trace.h"

static CUresult new_kept(struct em_function *f, struct em_launch_kept **out)
{
    em_assert_locked();
    const struct em_code *code = f->code;
    struct em_launch_kept *k = dm_calloc(
        1, sizeof *k + (code->parameter_count + 1ul) * sizeof *k->pointers + code->parameters_B);
    if (!k)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a kernel node");
    k->pointers = (void **)(void *)(k + 1);
    k->arguments = (unsigned char *)(k->pointers + code->parameter_count + 1);
    for (unsigned i = 0; i < code->parameter_count; i++)
        k->pointers[i] = k->arguments + code->parameters[i].offset_B;
    k->function = f;
    *out = k;
    return CUDA_SUCCESS;
}

static void keep_config(struct em_launch_kept *k, const struct em_launch_config *config)
{
    k->config = *config;
    for (int i = 0; i < EM_LAUNCH_ATTRIBUTES; i++)
        if (config->attributes.given >> i & 1)
            k->values[i] = config->attributes.values[i];
    k->config.attributes.values = k->values;
    k->config.parameters = k->function->code->parameter_count ? k->pointers : NULL;
    k->config.extra = NULL;
    em_object_ref(&k->function->object);
}

CUresult em_launch_keep(const struct em_launch_config *config, struct em_launch_kept **out)
{
    em_assert_locked();
    struct em_function *f;
    CUresult r = em_function_to_launch(config->function, &f);
    if (!r)
        r = em_launch_check(config, f, &(struct em_extent3){0});
    if (!r)
        r = new_kept(f, out);
    if (r)
        return r;
    r = em_launch_arguments(config, f, (*out)->arguments);
    if (r) {
        dm_free(*out);
        *out = NULL;
        return r;
    }
    keep_config(*out, config);
    (*out)->named_kernel = config->function != em_function_handle(f);
    if (em_unlikely(em_tracing_text))
        em_launch_note(config, f->code, (*out)->arguments);
    return CUDA_SUCCESS;
}

CUresult em_launch_keep_copy(const struct em_launch_kept *kept, struct em_launch_kept **out)
{
    CUresult r = new_kept(kept->function, out);
    if (r)
        return r;
    memcpy((*out)->arguments, kept->arguments, kept->function->code->parameters_B);
    keep_config(*out, &kept->config);
    (*out)->named_kernel = kept->named_kernel;
    return CUDA_SUCCESS;
}

uint64_t em_launch_context(const struct em_launch_kept *kept)
{
    return kept->function->object.context->base.object.handle;
}

void em_launch_keep_free(struct em_launch_kept *kept)
{
    em_assert_locked();
    em_object_unref(&kept->function->object);
    dm_free(kept);
}

CUresult em_launch_prepare(const struct em_launch_kept *kept, struct em_command **out)
{
    struct em_launch_space space;
    CUresult r = em_launch_build(&kept->config, kept->function, &space);
    if (r)
        return r;
    em_launch_hold(space.at);
    r = em_command_clone(&space.at->command, out);
    em_command_release(&space.at->command);
    em_launch_space_free(&space);
    return r;
}
