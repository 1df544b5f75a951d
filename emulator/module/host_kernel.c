// SPDX-License-Identifier: MIT
// Runs grids of host functions.
//
//     grid ──▶ parts of consecutive blocks ──▶ this thread, and workers under `parallel`
//              part ──▶ block ──▶ function called once,
//                                 or once a thread: one call after the other,
//                                 or each thread in a fiber, if threads wait for each other
//
// Calls run guarded, so that a fault of the function ends the grid and not the process.
#include "host_kernel.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "arithmetic.h"
#include "ffi_library.h"
#include "error.h"
#include "guard.h"
#include "host_lane.h"
#include "kn_float.h"
#include "lock.h"
#include "memory.h"
#include "mutex.h"
#include "pkey.h"
#include "policy.h"
#include "scheduler.h"
#include "thread_exit.h"
#include "workers.h"

enum {
    REGISTERS = 16,
    PARTS_MOST = 64,
    ALIGNMENT_MOST_B = 128, // of a struct
    FEW = 64                // arguments
};

struct host_code {
    struct em_code code;
    void (*function)(void);
    unsigned flags;
    const struct em_ffi *ffi;
    ffi_cif cif;
    const cardlessParam *params;
    ffi_type **types; // of the arguments
    struct em_parameter *parameters;
    unsigned alignment_B; // the largest one of a parameter
};

// ---- parameters ----

bool em_host_parameter_shape(const cardlessParam *param, unsigned *size_B, unsigned *alignment_B)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 8};
    *size_B = *alignment_B = 0;
    if ((unsigned)param->type < sizeof sizes)
        *size_B = *alignment_B = sizes[param->type];
    else if (param->type == CARDLESS_BYTES && param->alignment <= ALIGNMENT_MOST_B &&
             !(param->alignment & (param->alignment - 1))) {
        *size_B = param->size;
        *alignment_B = param->alignment;
    }
    return *size_B && *alignment_B;
}

static ffi_type *type_of(const struct em_ffi *ffi, const cardlessParam *param, unsigned size_B)
{
    switch (param->type) {
    case CARDLESS_FLOAT:
        return ffi->float_type;
    case CARDLESS_DOUBLE:
        return ffi->double_type;
    case CARDLESS_POINTER:
    case CARDLESS_CONST_POINTER:
    case CARDLESS_BYTES:
        return ffi->pointer_type;
    default: // the signed ones have odd numbers
        return param->type % 2 ? ffi->signed_type[size_B] : ffi->unsigned_type[size_B];
    }
}

static enum em_parameter_use use_of(const cardlessParam *param)
{
    return param->type == CARDLESS_POINTER         ? EM_PARAMETER_WRITES
           : param->type == CARDLESS_CONST_POINTER ? EM_PARAMETER_READS
                                                   : EM_PARAMETER_VALUE;
}

static void print_argument(const struct em_code *code, unsigned parameter, const void *value,
                           char *out, size_t size_B)
{
    const struct host_code *h = (const struct host_code *)code;
    const unsigned bytes = code->parameters[parameter].size_B;
    int64_t i = 0;
    double d;
    float f;
    memcpy(&i, value, bytes < sizeof i ? bytes : sizeof i);
    switch (h->params[parameter].type) {
    case CARDLESS_FLOAT:
        memcpy(&f, value, sizeof f);
        snprintf(out, size_B, "%.9g", (double)f);
        return;
    case CARDLESS_DOUBLE:
        memcpy(&d, value, sizeof d);
        snprintf(out, size_B, "%.17g", d);
        return;
    case CARDLESS_POINTER:
    case CARDLESS_CONST_POINTER:
        snprintf(out, size_B, "%#llx", (unsigned long long)i);
        return;
    case CARDLESS_BYTES:
        snprintf(out, size_B, "%u bytes", bytes);
        return;
    case CARDLESS_INT8:
        i = (int8_t)i;
        break;
    case CARDLESS_INT16:
        i = (int16_t)i;
        break;
    case CARDLESS_INT32:
        i = (int32_t)i;
        break;
    case CARDLESS_UINT64:
        snprintf(out, size_B, "%llu", (unsigned long long)i);
        return;
    default:
        break;
    }
    snprintf(out, size_B, "%lld", (long long)i);
}

// ---- one block ----

// Calls the function for the thread in which this is.
static void call(struct em_host_lane *lane)
{
    const struct em_host_part *part = lane->part;
    struct host_code *h = (struct host_code *)part->grid->code;
    h->ffi->call(&h->cif, h->function, NULL, part->arguments);
}

static void next_index(cardlessIndex *at, cardlessIndex size)
{
    if (++at->x < size.x)
        return;
    at->x = 0;
    if (++at->y < size.y)
        return;
    at->y = 0;
    at->z++;
}

static cardlessIndex index_of(uint64_t number, cardlessIndex size)
{
    return (cardlessIndex){(unsigned)(number % size.x), (unsigned)(number / size.x % size.y),
                           (unsigned)(number / size.x / size.y)};
}

// All blocks of a part, if no thread waits for another one.
static void call_plain(void *argument)
{
    struct em_host_part *part = argument;
    struct em_host_lane *lane = &part->lane;
    cardlessThread *self = &lane->self;
    for (; part->block < part->end; part->block++) {
        for (uint64_t n = part->threads; n; n--) {
            call(lane);
            if (n > 1)
                next_index(&self->thread, self->block_size);
        }
        self->thread = (cardlessIndex){0, 0, 0};
        next_index(&self->block, self->grid_size);
    }
}

// The same, guarded.
static void run_plain(void *argument)
{
    struct em_host_part *part = argument;
    if (dm_call_ends_thread(call_plain, part, NULL))
        em_host_fail_exit(&part->lane);
}

// ---- parts ----

struct em_host_job {
    const struct em_grid *grid;
    void **arguments;
    uint64_t blocks, parts;
    struct dm_mutex lock; // guards the rest
    CUresult result;
    uint64_t failed; // the first part that has failed
    struct em_host_failure failure;
};

static void keep_failure(struct em_host_job *job, uint64_t part, const struct em_host_part *p)
{
    dm_mutex_lock(&job->lock);
    if (!job->result || part < job->failed) {
        job->result = p->result;
        job->failed = part;
        job->failure = p->failure;
    }
    dm_mutex_unlock(&job->lock);
}

static CUresult run_part_now(struct em_host_part *part)
{
    const struct em_grid *grid = part->grid;
    const struct host_code *h = (const struct host_code *)grid->code;
    cardlessThread *self = &part->lane.self;
    const bool per_block = h->flags & CARDLESS_KERNEL_PER_BLOCK;
    self->block_size = (cardlessIndex){grid->threads.x, grid->threads.y, grid->threads.z};
    self->grid_size = (cardlessIndex){grid->blocks.x, grid->blocks.y, grid->blocks.z};
    self->block = index_of(part->block, self->grid_size);
    part->threads = per_block ? 1 : em_extent_volume(grid->threads);
    part->lane.part = part;
    part->per_block = per_block;
    part->barriers = h->flags & CARDLESS_KERNEL_BARRIERS;
    if (part->barriers && (!per_block || grid->cooperative))
        return em_host_run_lanes(part, call);
    CUresult r = em_host_shared_get(part, 1);
    if (r)
        return part->result = r;
    em_host_shared_place(part, &part->lane, 0);
    struct em_host_scope outer;
    em_host_enter(&part->lane, &outer);
    struct dm_fault fault;
    if (dm_guarded(run_plain, part, &fault))
        em_host_fail(&part->lane, &fault);
    em_host_leave(&outer);
    em_host_shared_put(part);
    return part->result;
}

// The threads' floating-point state has no effect on kernels.
static CUresult run_part(struct em_host_part *part)
{
    const struct kn_float_state state = kn_float_enter();
    const CUresult r = run_part_now(part);
    kn_float_leave(state);
    return r;
}

// One part of a job; the blocks that it has depend on nothing but its index.
static bool run_some(void *argument, uint64_t index)
{
    struct em_host_job *job = argument;
    struct em_host_part part = {.grid = job->grid, .arguments = job->arguments};
    uint64_t count;
    em_part(job->blocks, 1, (unsigned)index, (unsigned)job->parts, &part.block, &count);
    part.end = part.block + count;
    if (!run_part(&part))
        return true;
    keep_failure(job, index, &part);
    return false;
}

// ---- the grid ----

static CUresult report(const struct em_host_job *job)
{
    const struct em_host_failure *f = &job->failure;
    const struct host_code *h = (const struct host_code *)job->grid->code;
    char where[160], memory[200] = "";
    if (!f->placed) // not a fault: already reported
        return job->result;
    snprintf(where, sizeof where, "kernel %s, block (%u,%u,%u)", h->code.name, f->block.x,
             f->block.y, f->block.z);
    size_t used = strlen(where);
    if (!(h->flags & CARDLESS_KERNEL_PER_BLOCK))
        snprintf(where + used, sizeof where - used, ", thread (%u,%u,%u)", f->thread.x, f->thread.y,
                 f->thread.z);
    if (f->address) {
        em_lock();
        char text[160];
        em_memory_text(f->address, text, sizeof text);
        em_unlock();
        snprintf(memory, sizeof memory, "; %s", text);
    }
    return em_fail(job->result, "%s: %s%s", where, f->text, memory);
}

// The arguments of a grid, as libffi takes them.
struct argument_list {
    void *few[2 * FEW];
    void **at; // the address of each argument
    void *heap;
};

// Fills in the list. A struct must lie as its type requires, so the launch's block of arguments is
// copied if it does not begin at such an address.
static CUresult make_list(const struct em_grid *grid, struct argument_list *list)
{
    const struct host_code *h = (const struct host_code *)grid->code;
    const unsigned count = h->code.parameter_count;
    const size_t list_B = count > FEW ? 2ul * count * sizeof *list->at : 0;
    const bool copies = (uintptr_t)grid->arguments % h->alignment_B;
    const size_t heap_B = list_B + (copies ? h->code.parameters_B + h->alignment_B : 0);
    char *block = (char *)grid->arguments;
    list->heap = heap_B ? dm_alloc(heap_B) : NULL;
    if (heap_B && !list->heap)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the arguments of %s",
                       h->code.name);
    list->at = list_B ? list->heap : list->few;
    if (copies) {
        uintptr_t after = (uintptr_t)list->heap + list_B;
        block = (char *)(dm_div_up(after, h->alignment_B) * h->alignment_B);
        memcpy(block, grid->arguments, h->code.parameters_B);
    }
    void **pointers = list->at + count;
    for (unsigned i = 0; i < count; i++) {
        list->at[i] = block + h->parameters[i].offset_B;
        if (h->params[i].type == CARDLESS_BYTES) { // the function gets its address
            pointers[i] = list->at[i];
            list->at[i] = &pointers[i];
        }
    }
    return CUDA_SUCCESS;
}

static CUresult run_grid(const struct em_grid *grid)
{
    em_assert_unlocked();
    struct argument_list list;
    CUresult r = make_list(grid, &list);
    if (r)
        return r;
    struct em_host_job job = {.grid = grid,
                              .arguments = list.at,
                              .blocks = em_extent_volume(grid->blocks),
                              .parts = 1,
                              .lock = DM_MUTEX_INITIALIZER(LEAF)};
    if (!grid->cooperative && em_scheduler.policy->workers && job.blocks > 1 &&
        em_workers_may_help())
        job.parts = job.blocks < PARTS_MOST ? job.blocks : PARTS_MOST;
    uint32_t rights = dm_pkey_enter();
    if (job.parts == 1)
        run_some(&job, 0);
    else
        em_workers_run(run_some, &job, job.parts);
    dm_pkey_leave(rights);
    dm_free(list.heap);
    return job.result ? report(&job) : CUDA_SUCCESS;
}

static const struct em_executor host_executor = {.run = run_grid, .print = print_argument};

// ---- life ----

void em_host_kernel_free(struct em_code *code)
{
    em_assert_unlocked();
    dm_free(code);
}

static struct em_parameter parameter_of(const cardlessParam *param, unsigned version,
                                        uint32_t offset_B, uint32_t size_B)
{
    struct em_parameter p = {.offset_B = offset_B, .size_B = size_B, .use = use_of(param)};
    if (p.use != EM_PARAMETER_VALUE && version >= EM_HOST_ACCESS_VERSION) {
        p.accessed_B = param->size;
        p.times = param->alignment;
    }
    return p;
}

CUresult em_host_kernel_new(const cardlessModuleDesc *table, unsigned index, struct em_code **out)
{
    em_assert_unlocked();
    const cardlessKernelDesc *desc = &table->kernels[index];
    const struct em_ffi *ffi;
    CUresult r = em_ffi(&ffi);
    if (r)
        return r;
    const size_t count = desc->param_count;
    struct host_code *h =
        dm_calloc(1, sizeof *h + count * (sizeof *h->types + sizeof *h->parameters));
    if (!h)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the kernel %s",
                       desc->name);
    h->types = (ffi_type **)(void *)(h + 1);
    h->parameters = (struct em_parameter *)(void *)(h->types + count);
    uint32_t end_B = 0;
    h->alignment_B = 1;
    for (size_t i = 0; i < count; i++) {
        unsigned size_B, alignment_B;
        em_host_parameter_shape(&desc->params[i], &size_B, &alignment_B);
        if (alignment_B > h->alignment_B)
            h->alignment_B = alignment_B;
        end_B = (end_B + alignment_B - 1) / alignment_B * alignment_B;
        h->parameters[i] = parameter_of(&desc->params[i], table->version, end_B, size_B);
        h->types[i] = type_of(ffi, &desc->params[i], size_B);
        end_B += size_B;
    }
    h->code = (struct em_code){
        .name = desc->name,
        .executor = &host_executor,
        .parameters = h->parameters,
        .parameter_count = desc->param_count,
        .parameters_B = end_B,
        .static_shared_B = desc->static_shared,
        .local_B = desc->local,
        .registers = desc->registers ? desc->registers : REGISTERS,
        .most_threads = desc->max_threads,
    };
    memcpy(h->code.required_threads, desc->required_threads, sizeof desc->required_threads);
    memcpy(h->code.required_cluster, desc->required_cluster, sizeof desc->required_cluster);
    h->function = desc->function;
    h->flags = desc->flags;
    h->ffi = ffi;
    h->params = desc->params;
    if (dm_guard_traps() ||
        ffi->prepare(&h->cif, FFI_DEFAULT_ABI, desc->param_count, ffi->void_type, h->types)) {
        dm_free(h);
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "libffi cannot call functions like that of %s",
                       desc->name);
    }
    *out = &h->code;
    return CUDA_SUCCESS;
}
