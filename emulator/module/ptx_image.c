// SPDX-License-Identifier: MIT
// Makes images of PTX texts: kernels and variables.
#include "ptx_image.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "image.h"
#include "lock.h"
#include "ptx_kernel.h"
#include "program.h"
#include "quirk.h"

// Kernels of longer texts are lowered when they are asked for.
enum { SHORT_TEXT_B = 256 << 10 };

struct ptx_image {
    struct em_image image;
    struct px_module *text;
    struct em_relocation *relocations; // of all variables
};

static void free_image(struct em_image *image)
{
    struct ptx_image *p = (struct ptx_image *)image;
    em_assert_unlocked();
    for (unsigned i = 0; i < image->code_count; i++)
        em_ptx_kernel_free(image->codes[i]);
    dm_free(image->codes);
    dm_free(image->variables);
    dm_free(p->relocations);
    px_module_free(p->text);
    dm_free(p);
}

static enum em_variable_kind kind_of(const struct px_variable *v)
{
    switch (v->space) {
    case PX_GLOBAL:
    case PX_CONSTANT:
        return v->size_B ? EM_VARIABLE_MEMORY : EM_VARIABLE_INNER;
    case PX_TEXTURE_REFERENCE:
        return EM_VARIABLE_TEXTURE;
    case PX_SURFACE_REFERENCE:
        return EM_VARIABLE_SURFACE;
    default:
        return EM_VARIABLE_INNER;
    }
}

// The image's variables have the indices of the text's.
static void fill_variables(struct ptx_image *p)
{
    struct em_relocation *r = p->relocations;
    for (unsigned i = 0; i < p->text->variable_count; i++) {
        const struct px_variable *v = &p->text->variables[i];
        struct em_variable *to = &p->image.variables[p->image.variable_count++];
        *to = (struct em_variable){.name = v->name,
                                   .kind = kind_of(v),
                                   .size_B = v->size_B,
                                   .alignment_B = v->alignment_B,
                                   .initial = v->initial,
                                   .initial_B = v->initial_B,
                                   .address_of = -1,
                                   .constant = v->space == PX_CONSTANT,
                                   .managed = v->managed,
                                   .hidden = v->declared_at != NULL,
                                   .relocations = r};
        for (unsigned k = 0; k < v->relocation_count; k++) {
            const struct px_relocation *from = &v->relocations[k];
            *r++ = (struct em_relocation){
                .at_B = from->at_B,
                .size_B = from->size_B,
                .shift = from->shift,
                .variable = from->is_function ? -1 : (int)from->symbol,
                .offset = from->offset +
                          (from->is_function ? (int64_t)px_function_address(from->symbol) : 0)};
        }
        to->relocation_count = v->relocation_count;
    }
}

static uint64_t count_relocations(const struct px_module *text)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < text->variable_count; i++)
        count += text->variables[i].relocation_count;
    return count;
}

static CUresult fill_image(struct ptx_image *p)
{
    struct em_image *image = &p->image;
    const struct px_module *text = p->text;
    uint64_t constant_B = 0;
    image->codes = dm_calloc(text->function_count + 1ul, sizeof *image->codes);
    image->variables = dm_calloc(text->variable_count + 1ul, sizeof *image->variables);
    p->relocations = dm_calloc(count_relocations(text) + 1, sizeof *p->relocations);
    bool complete = image->codes && image->variables && p->relocations;
    if (complete)
        fill_variables(p);
    for (unsigned i = 0; complete && i < text->variable_count; i++)
        if (text->variables[i].space == PX_CONSTANT)
            constant_B += text->variables[i].size_B;
    for (unsigned i = 0; complete && i < text->function_count; i++) {
        if (!text->functions[i].is_kernel || !text->functions[i].defined)
            continue;
        struct em_code *code = em_ptx_kernel_new(p->text, i);
        complete = code != NULL;
        if (!complete)
            break;
        code->constant_B = (unsigned)constant_B;
        image->codes[image->code_count++] = code;
    }
    return complete
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                         "out of host memory for a module of %u functions", text->function_count);
}

// A mistake in a kernel refuses the whole text, as the card's compiler does. An instruction that is
// not supported refuses its kernel only, when that is asked for.
CUresult em_ptx_check_kernels(struct px_module *text)
{
    em_assert_unlocked();
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < text->function_count; i++) {
        const struct px_program *program;
        struct px_report report = {0};
        if (!text->functions[i].is_kernel || !text->functions[i].defined)
            continue;
        const int status = px_program_get(text, i, &program, &report);
        if (status == -ENOMEM || status == -EINVAL ||
            (status == -ENOSYS && em_quirk(SURFACE_QUERY_REFUSES_TEXT)) ||
            (status == -ENODEV && em_quirk(SAMPLER_REFUSES_TEXT)) ||
            (status == -ENOEXEC && em_quirk(UNKNOWN_INSTRUCTION_REFUSES_TEXT)))
            return em_ptx_fail(status, &report, "PTX");
        if (!status)
            r = em_ptx_check_shared(text, i, program, em_image_device());
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

// `taken` is `texts`, if the module may take their bytes over, or NULL.
static CUresult parse(const struct em_texts *texts, struct em_texts *taken, enum px_link link,
                      struct px_module **out)
{
    struct px_report report = {0};
    struct px_source *sources = dm_calloc(texts->count + 1ul, sizeof *sources);
    if (!sources)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u PTX texts",
                       texts->count);
    for (unsigned i = 0; i < texts->count; i++)
        sources[i] = (struct px_source){.name = texts->list[i].name,
                                        .text = texts->list[i].bytes,
                                        .size_B = texts->list[i].size_B,
                                        .taken = taken ? &taken->list[i].bytes : NULL};
    const int status = px_module_link(sources, texts->count, link, out, &report);
    dm_free(sources);
    return status ? em_ptx_fail(status, &report, "PTX") : CUDA_SUCCESS;
}

CUresult em_ptx_parse(const struct em_texts *texts, enum px_link link, struct px_module **out)
{
    em_assert_unlocked();
    return parse(texts, NULL, link, out);
}

// (recorded: load_ptx/target-sm_100, jit_options/targets)
CUresult em_ptx_check_target(const struct px_module *text, unsigned architecture)
{
    em_assert_unlocked();
    enum { ARCHITECTURE_LEAST = 50 };
    if (architecture < ARCHITECTURE_LEAST)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "CU_JIT_TARGET (%u) is not an architecture that can be compiled for",
                       architecture);
    if (text->target <= architecture || !em_quirk(PTX_ABOVE_DEVICE))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_PTX, ".target sm_%u is above sm_%u", text->target,
                   architecture);
}

// CU_JIT_TARGET names an architecture that the card's compiler has and the device can run, and that
// is not below the text's (recorded: jit_options/targets).
static CUresult check_load(const struct px_module *text, const struct em_load *load)
{
    if (!load->has_target)
        return em_ptx_check_target(text, load->architecture);
    CUresult r = em_ptx_check_target(text, load->target);
    if (!r && load->target > load->architecture && em_quirk(PTX_ABOVE_DEVICE))
        r = em_fail(CUDA_ERROR_INVALID_SOURCE, "CU_JIT_TARGET (%u) is above the device, sm_%u",
                    load->target, load->architecture);
    return r;
}

static void limit_registers(struct px_module *text, const struct em_register_limit *limit)
{
    for (unsigned i = 0; i < text->function_count && limit->most; i++) {
        struct px_limits *limits = &text->functions[i].limits;
        if (!limits->most_registers || limit->overrides)
            limits->most_registers = limit->most;
    }
}

static bool are_short(const struct em_texts *texts)
{
    uint64_t size_B = 0;
    for (unsigned i = 0; i < texts->count; i++)
        size_B += texts->list[i].size_B;
    return size_B <= SHORT_TEXT_B;
}

CUresult em_ptx_image(struct em_texts *texts, const struct em_load *load, struct em_image **out)
{
    em_assert_unlocked();
    struct ptx_image *p = dm_calloc(1, sizeof *p);
    if (!p)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a module");
    const enum px_link link = texts->lenient      ? PX_LINK_LENIENT
                              : texts->count == 1 ? PX_LINK_USED
                                                  : PX_LINK_COMPLETE;
    CUresult r = parse(texts, texts, link, &p->text);
    if (r) {
        dm_free(p);
        return r;
    }
    p->image.references = 1;
    p->image.free = free_image;
    limit_registers(p->text, &texts->registers);
    if (!texts->lenient)
        r = check_load(p->text, load);
    if (!r)
        r = fill_image(p);
    if (!r && are_short(texts))
        r = em_ptx_check_kernels(p->text);
    if (r)
        free_image(&p->image);
    else
        *out = &p->image;
    return r;
}
