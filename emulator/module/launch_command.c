// SPDX-License-Identifier: MIT
// Builds the command of a launch: its arguments, its objects and the memory that it accesses.
#include "launch_command.h"

#include <string.h>

#include "access.h"
#include "alloc.h"
#include "arithmetic.h"
#include "array_storage.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "guard.h"
#include "kept.h"
#include "launch_check.h"
#include "launch_object.h"
#include "limit.h"
#include "lock.h"
#include "memory.h"
#include "record_content.h"
#include "memory_device.h"
#include "program.h"

static struct em_launch_object *objects_of(const struct em_launch_command *c)
{
    return (struct em_launch_object *)((char *)c + c->objects_at);
}

static void close_freed_memory(void)
{
    if (em_likely(!dm_space_has_open(&em_space)))
        return;
    em_lock();
    em_memory_close_freed();
    em_unlock();
}

// Records host memory that the kernel gets the address of, because the program may write it without
// a call.
static void record_host_memory(struct em_command *command)
{
    const struct em_access *accesses = em_command_accesses(command);
    for (uint32_t i = 0; i < command->access_count; i++) {
        const struct em_access *a = &accesses[i];
        if (a->ops && a->ops->span)
            continue;
        em_lock();
        const struct em_allocation *found = em_memory_find(a->address, a->size_B);
        const bool is_host = found && em_memory_residence(found) != EM_ON_DEVICE;
        em_unlock();
        if (is_host)
            em_record_range(RF_READS, (const void *)(uintptr_t)a->address, a->size_B);
    }
}

static CUresult run_launch(struct em_command *command)
{
    const struct em_launch_command *c = (const struct em_launch_command *)command;
    const bool has_objects = c->function->code->objects; // others access no storage of arrays
    for (uint32_t i = 0; has_objects && i < command->access_count; i++)
        em_storage_before_read(&em_command_accesses(command)[i]);
    close_freed_memory();
    if (em_unlikely(em_recording_contents))
        record_host_memory(command);
    const struct em_grid grid = {
        .code = c->function->code,
        .blocks = c->blocks,
        .threads = c->threads,
        .cluster = c->cluster,
        .dynamic_shared_B = c->shared_B,
        .cooperative = c->cooperative,
        .arguments = (const char *)c + c->arguments_at,
        .variables = c->function->module->variables,
        .variable_count = c->function->module->image->variable_count,
        .multiprocessors = (unsigned)em_device_attribute(c->function->object.context->device,
                                                         DM_ATTRIBUTE_multiprocessor_count),
        .objects = objects_of(c),
        .object_count = c->object_count,
        .context = c->function->object.context,
        .command = command,
    };
    struct dm_book_card *book = grid.context->device->book;
    if (em_likely(book && c->detached))
        dm_book_begin_alone(book);
    else if (book)
        dm_book_begin(book);
    struct dm_guard_signals signals;
    const bool guarded = !grid.code->never_faults;
    if (guarded)
        dm_guard_open(&signals);
    CUresult r = grid.code->executor->run(&grid);
    if (guarded)
        dm_guard_close(&signals);
    if (em_likely(book && c->detached))
        dm_book_end_alone(book);
    else if (book)
        dm_book_end(book);
    if (em_unlikely(r && em_error_is_sticky(r)))
        em_devices_fail(r);
    return r;
}

static CUresult clone_launch(struct em_command *command)
{
    em_assert_locked();
    struct em_launch_command *c = (struct em_launch_command *)command;
    em_object_ref(&c->function->object);
    for (uint32_t i = 0; i < c->object_count; i++)
        if (objects_of(c)[i].object)
            em_object_ref(objects_of(c)[i].object);
    return CUDA_SUCCESS;
}

static void release_launch(struct em_command *command)
{
    em_assert_locked();
    struct em_launch_command *c = (struct em_launch_command *)command;
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
    p->size_B = sizeof(struct em_launch_command) + p->accesses * sizeof(struct em_access) +
                p->objects_B + f->code->parameters_B;
    return r;
}

static CUresult fill_arguments(const struct em_launch_config *config, struct em_function *f,
                               const struct parts *p, struct em_launch_command *c)
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
                 struct em_extent3 cluster, struct em_launch_command *c)
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
    c->cluster = cluster;
    c->shared_B = config->shared_B;
    c->cooperative = config->attributes.cooperative;
    c->detached = false;
}

CUresult em_launch_build(const struct em_launch_config *config, struct em_function *f,
                         struct em_launch_space *space)
{
    em_assert_locked();
    struct parts p;
    space->at = &space->command;
    struct em_extent3 cluster;
    CUresult r = em_launch_check(config, f, &cluster);
    if (!r)
        r = parts_find(config, f, &p);
    if (r)
        return r;
    if (p.size_B > sizeof space->bytes)
        space->at = dm_alloc(p.size_B);
    struct em_launch_command *c = space->at;
    if (!c) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a launch of %s (%zu bytes)",
                    f->code->name, p.size_B);
    } else {
        em_command_init(&c->command, &launch_ops, p.size_B);
        r = fill_arguments(config, f, &p, c);
    }
    if (!r)
        fill(config, f, cluster, c);
    else if (p.early)
        em_launch_objects_drop(p.early, p.objects);
    if (em_unlikely(p.early))
        dm_free(p.early);
    if (r && c != &space->command)
        dm_free(c);
    return r;
}

void em_launch_hold(struct em_launch_command *c)
{
    em_assert_locked();
    em_object_ref(&c->function->object);
}
