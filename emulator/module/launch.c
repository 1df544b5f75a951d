// SPDX-License-Identifier: MIT
// The command of a launch. In memory:
//
//     │ struct launch_command │ accesses │ objects │ arguments │
//
// There is an access for each address argument, and one for each level of each texture and surface.
#include "kernel_launch.h"

#include <string.h>

#include "access.h"
#include "array_storage.h"
#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "describe.h"
#include "device.h"
#include "error.h"
#include "event.h"
#include "function.h"
#include "launch_check.h"
#include "launch_object.h"
#include "limit.h"
#include "lock.h"
#include "memory.h"
#include "program.h"
#include "stream.h"
#include "trace.h"

struct launch_command {
    struct em_command command;
    struct em_function *function; // a reference
    struct em_extent3 blocks, threads, cluster;
    unsigned shared_B;
    bool cooperative;
    uint32_t objects_at, arguments_at; // in bytes from the start of this struct
    uint32_t object_count;
};

static struct em_launch_object *objects_of(const struct launch_command *c)
{
    return (struct em_launch_object *)((char *)c + c->objects_at);
}

// The memory in which a command is built: the heap for large ones.
struct launch_space {
    union {
        struct launch_command command;
        unsigned char bytes[1536];
    };
    struct launch_command *at;
};

static CUresult run_launch(struct em_command *command)
{
    const struct launch_command *c = (const struct launch_command *)command;
    for (uint32_t i = 0; i < command->access_count; i++)
        em_storage_before_read(&em_command_accesses(command)[i]);
    const struct em_grid grid = {
        .code = c->function->code,
        .blocks = c->blocks,
        .threads = c->threads,
        .cluster = c->cluster,
        .dynamic_shared_B = c->shared_B,
        .cooperative = c->cooperative,
        .arguments = (const char *)c + c->arguments_at,
        .variables = c->function->module->variables,
        .multiprocessors = (unsigned)em_device_attribute(c->function->object.context->device,
                                                         DM_ATTRIBUTE_multiprocessor_count),
        .objects = objects_of(c),
        .object_count = c->object_count,
        .context = c->function->object.context,
        .command = command,
    };
    CUresult r = grid.code->executor->run(&grid);
    if (em_unlikely(r && em_error_is_sticky(r)))
        em_devices_fail(r);
    return r;
}

static CUresult clone_launch(struct em_command *command)
{
    em_assert_locked();
    struct launch_command *c = (struct launch_command *)command;
    em_object_ref(&c->function->object);
    for (uint32_t i = 0; i < c->object_count; i++)
        if (objects_of(c)[i].object)
            em_object_ref(objects_of(c)[i].object);
    return CUDA_SUCCESS;
}

static void release_launch(struct em_command *command)
{
    em_assert_locked();
    struct launch_command *c = (struct launch_command *)command;
    em_launch_objects_drop(objects_of(c), c->object_count);
    em_object_unref(&c->function->object);
}

static const struct em_command_ops launch_ops = {
    .name = "kernel", .run = run_launch, .clone = clone_launch, .release = release_launch};

// ---- building ----

// The number of bytes that a kernel may access from an address on, at most `most`.
static uint64_t accessed_B(const struct em_code *code, const struct em_parameter *p,
                           const unsigned char *arguments, uint64_t most)
{
    uint64_t times = 1, size_B;
    if (p->times) {
        const struct em_parameter *count = &code->parameters[p->times - 1];
        times = 0;
        memcpy(&times, arguments + count->offset_B, count->size_B);
    }
    return dm_mul(p->accessed_B, times, &size_B) && size_B < most ? size_B : most;
}

// Fills in an access for each address that lies in memory that the driver knows. The kernel may
// access any byte of that memory, unless its code says otherwise, but no address is checked: that
// is left to its faults.
static unsigned fill_accesses(const struct em_code *code, const unsigned char *arguments,
                              struct em_access *to)
{
    unsigned count = 0;
    for (unsigned i = 0; i < code->parameter_count; i++) {
        const struct em_parameter *p = &code->parameters[i];
        uint64_t address;
        if (p->use == EM_PARAMETER_VALUE)
            continue;
        memcpy(&address, arguments + p->offset_B, sizeof address);
        struct em_allocation *a = address ? em_memory_find(address, 0) : NULL;
        if (!a)
            continue;
        uint64_t from = a->base, size_B = a->size;
        if (p->accessed_B) {
            from = address;
            size_B = accessed_B(code, p, arguments, a->base + a->size - address);
        }
        if (a->written && !code->notes_writes && p->use == EM_PARAMETER_WRITES)
            em_written_note(a, from, size_B);
        if (size_B)
            em_memory_access(&to[count++], a, from, size_B,
                             p->use == EM_PARAMETER_READS ? EM_ACCESS_READ : EM_ACCESS_WRITE_SOME);
    }
    return count;
}

static unsigned count_addresses(const struct em_code *code)
{
    unsigned count = 0;
    for (unsigned i = 0; i < code->parameter_count; i++)
        count += code->parameters[i].use != EM_PARAMETER_VALUE;
    return count;
}

// The parts of a command that are known before its size.
struct parts {
    unsigned accesses, objects;
    size_t objects_B, size_B;
    void *early; // for kernels with objects: the objects, then the arguments
};

// Reads the arguments of a kernel with objects, and keeps the objects.
static CUresult parts_early(const struct em_launch_config *config, struct em_function *f,
                            struct parts *p)
{
    const struct em_code *code = f->code;
    p->objects = code->objects->count;
    p->objects_B = p->objects * sizeof(struct em_launch_object);
    p->early = dm_alloc(p->objects_B + code->parameters_B + 1);
    if (!p->early)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the arguments of %s",
                       code->name);
    unsigned char *arguments = (unsigned char *)p->early + p->objects_B;
    CUresult r = em_launch_arguments(config, f, arguments);
    if (!r)
        r = em_launch_objects(f, arguments, p->early);
    if (r) {
        dm_free(p->early);
        return r;
    }
    p->accesses += em_launch_object_accesses(f, p->early, NULL);
    return CUDA_SUCCESS;
}

static CUresult parts_find(const struct em_launch_config *config, struct em_function *f,
                           struct parts *p)
{
    *p = (struct parts){.accesses = count_addresses(f->code)};
    CUresult r = f->code->objects ? parts_early(config, f, p) : CUDA_SUCCESS;
    p->size_B = sizeof(struct launch_command) + p->accesses * sizeof(struct em_access) +
                p->objects_B + f->code->parameters_B;
    return r;
}

static CUresult fill_arguments(const struct em_launch_config *config, struct em_function *f,
                               const struct parts *p, struct launch_command *c)
{
    c->objects_at = (uint32_t)(sizeof *c + p->accesses * sizeof(struct em_access));
    c->arguments_at = (uint32_t)(c->objects_at + p->objects_B);
    c->object_count = p->objects;
    if (!p->early)
        return em_launch_arguments(config, f, (unsigned char *)c + c->arguments_at);
    memcpy(objects_of(c), p->early, p->objects_B + f->code->parameters_B);
    return CUDA_SUCCESS;
}

// The rest of a command, which has its arguments and objects.
static void fill(const struct em_launch_config *config, struct em_function *f,
                 struct launch_command *c)
{
    const struct em_code *code = f->code;
    const unsigned char *arguments = (unsigned char *)c + c->arguments_at;
    struct em_access *accesses = (struct em_access *)(void *)(c + 1);
    c->command.accesses_at = sizeof *c;
    c->command.access_count = fill_accesses(code, arguments, accesses);
    if (code->objects)
        c->command.access_count +=
            em_launch_object_accesses(f, objects_of(c), accesses + c->command.access_count);
    if (code->prints)
        em_limit_fix(f->object.context, CU_LIMIT_PRINTF_FIFO_SIZE);
    if (code->allocates)
        em_limit_fix(f->object.context, CU_LIMIT_MALLOC_HEAP_SIZE);
    c->function = f;
    c->blocks = config->blocks;
    c->threads = config->threads;
    c->cluster = em_launch_cluster(config, f);
    c->shared_B = config->shared_B;
    c->cooperative = config->attributes.cooperative;
    em_object_ref(&f->object);
}

// Checks a launch, and builds its command, which holds a reference to the function.
static CUresult build(const struct em_launch_config *config, struct em_function *f,
                      struct launch_space *space)
{
    em_assert_locked();
    struct parts p;
    space->at = &space->command;
    CUresult r = em_launch_check(config, f);
    if (!r)
        r = parts_find(config, f, &p);
    if (r)
        return r;
    if (p.size_B > sizeof space->bytes)
        space->at = dm_alloc(p.size_B);
    struct launch_command *c = space->at;
    if (!c) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a launch of %s (%zu bytes)",
                    f->code->name, p.size_B);
    } else {
        em_command_init(&c->command, &launch_ops, p.size_B);
        r = fill_arguments(config, f, &p, c);
    }
    if (!r)
        fill(config, f, c);
    else if (p.early)
        em_launch_objects_drop(p.early, p.objects);
    dm_free(p.early);
    if (r && c != &space->command)
        dm_free(c);
    return r;
}

static void free_space(struct launch_space *space)
{
    if (space->at != &space->command)
        dm_free(space->at);
}

// ---- the trace ----

// "scale<<<(4,1,1), (32,1,1), 0>>>(0xa0000000000, 3, 100)"
static void note_launch(const struct em_launch_config *config, const struct em_code *code,
                        const unsigned char *arguments)
{
    struct em_text *note = dm_calloc(1, sizeof *note);
    if (!note)
        return;
    em_text_put(note, "%s<<<(%u,%u,%u), (%u,%u,%u), %u>>>(", code->name, config->blocks.x,
                config->blocks.y, config->blocks.z, config->threads.x, config->threads.y,
                config->threads.z, config->shared_B);
    for (unsigned i = 0; i < code->parameter_count; i++) {
        char text[64];
        code->executor->print(code, i, arguments + code->parameters[i].offset_B, text, sizeof text);
        em_text_put(note, "%s%s", i ? ", " : "", text);
    }
    em_text_put(note, ")");
    em_trace_note(note);
}

// ---- launching ----

static CUresult check_context(const struct em_function *f, const struct em_stream *stream)
{
    return f->object.context == stream->object.context
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_HANDLE,
                         "kernel %s was loaded in another context than that of the stream",
                         f->code->name);
}

// The launch attributes with events record them after the kernel, when it has started and
// completed.
static CUresult record_events(const struct em_launch_attributes *attributes,
                              struct em_stream *stream)
{
    CUresult r = CUDA_SUCCESS;
    for (int i = 0; i < 2 && !r; i++) {
        struct em_event *e;
        if (!attributes->completion[i])
            continue;
        r = em_event_get(attributes->completion[i], &e);
        if (r)
            break;
        r = em_event_record(e, stream);
        em_event_put(e);
    }
    return r;
}

CUresult em_launch(const struct em_launch_config *config, struct em_stream *stream)
{
    em_assert_unlocked();
    struct em_function *f;
    struct launch_space space;
    CUresult r;
    if (em_stream_is_captured(stream)) {
        r = em_capture->add_launch(stream, config);
        return r ? r : record_events(&config->attributes, stream);
    }
    em_lock();
    r = em_function_to_launch(config->function, &f);
    if (!r)
        r = check_context(f, stream);
    if (!r)
        r = build(config, f, &space);
    if (!r) {
        if (em_unlikely(em_tracing))
            note_launch(config, f->code, (unsigned char *)space.at + space.at->arguments_at);
        r = em_issue(stream, &space.at->command, EM_SUBMIT_ASYNC);
        free_space(&space);
    }
    em_unlock();
    return r ? r : record_events(&config->attributes, stream);
}

CUresult em_launch_old(CUfunction function, int width, int height, struct em_stream *stream)
{
    struct em_function *f;
    struct em_old_arguments *old = NULL;
    em_lock();
    CUresult r = em_function_find(function, CUDA_ERROR_INVALID_HANDLE, &f);
    if (!r && (!f->old || !f->old->threads.x))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the function has no block; call cuFuncSetBlockShape first");
    // A copy, because another thread may set arguments meanwhile.
    if (!r)
        old = dm_alloc(sizeof *old);
    if (!r && !old)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a launch");
    if (!r)
        *old = *f->old;
    em_unlock();
    if (r)
        return r;
    size_t size_B = old->size_B;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, old->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size_B, CU_LAUNCH_PARAM_END};
    r = em_launch(&(struct em_launch_config){.function = function,
                                             .blocks = {width > 0 ? (unsigned)width : 0,
                                                        height > 0 ? (unsigned)height : 0, 1},
                                             .threads = old->threads,
                                             .shared_B = old->shared_B,
                                             .extra = extra},
                  stream);
    dm_free(old);
    return r;
}

// ---- kernel nodes ----

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
        r = em_launch_check(config, f);
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
    if (em_unlikely(em_tracing))
        note_launch(config, f->code, (*out)->arguments);
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
    struct launch_space space;
    CUresult r = build(&kept->config, kept->function, &space);
    if (r)
        return r;
    r = em_command_clone(&space.at->command, out);
    em_command_release(&space.at->command);
    free_space(&space);
    return r;
}
