// SPDX-License-Identifier: MIT
// Runs grids of PTX kernels.
//
//     grid ──▶ parts of consecutive blocks, for workers too if no result depends on their order
//              part ──▶ px_run (ptx/grid.h)
#include "ptx_kernel.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "captured.h"
#include "choice.h"
#include "clock.h"
#include "config.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "grid.h"
#include "kernel_heap.h"
#include "kernel_output.h"
#include "lock.h"
#include "memory_device.h"
#include "mutex.h"
#include "pkey.h"
#include "pressure.h"
#include "program.h"
#include "ptx_object.h"
#include "ptx_check.h"
#include "ptx_failure.h"
#include "ptx_step.h"
#include "quirk.h"
#include "schedule_log.h"
#include "scheduler.h"
#include "policy.h"
#include "workers.h"

enum {
    PARTS_MOST = 64,
    // Work that is worth a worker's waking: operations of threads without loops, or time. From
    // PROBE_MIN_OPS on, the time of a block is measured, because loops may be long.
    PART_MIN_OPS = 1 << 21,
    PROBE_MIN_OPS = 1 << 16,
    PART_MIN_NS = 200000,
    REGISTERS_LEAST = 16,
    REGISTERS_MOST = 64,
    STACK_LEAST_B = 16 << 10, // frames here are larger than those of the card's compiler
    STACK_MOST_B = 256 << 20, // of each thread; a card has 512 KiB of local memory for one
};
// Generic addresses of shared and local memory. No allocation has such addresses.
#define SHARED_WINDOW UINT64_C(0x1000000000000)
#define LOCAL_WINDOW UINT64_C(0x1000100000000)

struct ptx_code {
    struct em_code code;
    struct px_module *text;
    unsigned function;
    const struct px_program *program; // NULL until the kernel is asked for
    struct em_parameter *parameters;
    uint64_t block_ns;       // the time that a block took when it was last measured, or 0; atomic
    struct em_ptx_said said; // under em_lock, like the next one
    bool said_empty;         // that a handle names nothing
};

static struct ptx_code *ptx_code(const struct em_code *code)
{
    return (struct ptx_code *)code;
}

CUresult em_ptx_fail(int status, const struct px_report *report, const char *noun)
{
    CUresult code = CUDA_ERROR_NOT_SUPPORTED;
    if (status == -ENOMEM)
        code = CUDA_ERROR_OUT_OF_MEMORY;
    else if ((status == -ENOENT && em_quirk(TEXTURE_QUERY_DROPS_KERNEL)) ||
             (status == -ENODEV && em_quirk(SAMPLER_REFUSES_TEXT)))
        code = CUDA_ERROR_NOT_FOUND;
    else if (status == -EINVAL ||
             (status == -ENOEXEC && em_quirk(UNKNOWN_INSTRUCTION_REFUSES_TEXT)))
        code = CUDA_ERROR_INVALID_PTX;
    else if (status == -EPROTONOSUPPORT)
        code = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    else if (status == -EEXIST || status == -ESRCH) // (recorded: link/duplicate-symbol, unresolved)
        code = CUDA_ERROR_INVALID_SOURCE;
    return em_fail(code, "%s: %s", noun, report->text);
}

// ---- preparing ----

CUresult em_ptx_check_shared(const struct px_module *text, unsigned function,
                             const struct px_program *program, const struct em_device *device)
{
    const int most_B =
        device ? em_device_attribute(device, DM_ATTRIBUTE_max_shared_memory_per_block_optin) : 0;
    if (!device || program->static_shared_B <= (unsigned)most_B)
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_PTX,
                   "kernel %s has %u bytes of static shared memory; a block has at most %d",
                   text->functions[function].name, program->static_shared_B, most_B);
}

// An estimate: the card's compiler decides. A multiple of 8, and no more than a block of 1,024
// threads can have, because an estimate must not refuse a launch.
static unsigned estimate_registers(const struct px_program *program, unsigned most)
{
    unsigned count = (px_pressure(program) + 7) / 8 * 8;
    if (count < REGISTERS_LEAST)
        count = REGISTERS_LEAST;
    if (count > REGISTERS_MOST)
        count = REGISTERS_MOST;
    return most && count > most ? most : count;
}

static CUresult prepare_first(struct em_code *code, const struct em_device *device)
{
    struct ptx_code *c = ptx_code(code);
    struct px_report report = {0};
    char noun[160];
    snprintf(noun, sizeof noun, "kernel %s", code->name);
    int status = px_program_get(c->text, c->function, &c->program, &report);
    if (status) {
        c->program = NULL;
        return em_ptx_fail(status, &report, noun);
    }
    const CUresult r = em_ptx_check_shared(c->text, c->function, c->program, device);
    if (r) {
        c->program = NULL;
        return r;
    }
    const struct px_limits *limits = &c->text->functions[c->function].limits;
    if (c->program->objects.count || c->program->objects.other)
        code->objects = &c->program->objects;
    code->static_shared_B = c->program->static_shared_B;
    code->local_B = c->program->local_B;
    code->prints = c->program->prints;
    code->allocates = c->program->allocates;
    code->never_faults = c->program->never_faults;
    code->registers = estimate_registers(c->program, limits->most_registers);
    return CUDA_SUCCESS;
}

static CUresult prepare(struct em_code *code, const struct em_device *device)
{
    const struct ptx_code *c = ptx_code(code);
    if (c->program) // perhaps made for another device
        return em_ptx_check_shared(c->text, c->function, c->program, device);
    return prepare_first(code, device);
}

// ---- the trace ----

static void print_argument(const struct em_code *code, unsigned parameter, const void *value,
                           char *out, size_t size_B)
{
    const unsigned bytes = code->parameters[parameter].size_B;
    uint64_t v = 0;
    if (bytes > sizeof v) {
        snprintf(out, size_B, "%u bytes", bytes);
        return;
    }
    memcpy(&v, value, bytes);
    snprintf(out, size_B, bytes == sizeof v ? "%#llx" : "%llu", (unsigned long long)v);
}

// ---- running ----

struct ptx_job {
    const struct em_grid *grid;
    struct em_kernel_heap *heap;   // NULL: no kernel of the grid uses malloc
    uint64_t first, blocks, parts; // blocks from `first` on, in so many parts
    bool said_slow;                // atomic
    bool short_of_memory; // of a kernel that prints or allocates, whose blocks run in one part
    struct dm_mutex lock; // guards `failed`, `failed_part` and `failure`
    bool failed;
    uint64_t failed_part; // the first one that has failed
    struct em_ptx_objects objects;
    // The rest is not zeroed, because that takes longer than many a kernel.
    struct px_host host;
    struct px_grid model;
    struct em_kernel_output output; // if the kernel prints
    struct em_ptx_check check;
    struct px_failure failure;
};

// Memory that is not the device's: the driver must know it.
static bool is_known(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write)
{
    em_lock();
    const bool known = em_memory_find(address, size_B) != NULL;
    em_unlock();
    return known;
}

static const void *find_object(void *context, enum kn_object_kind kind, uint64_t handle)
{
    return em_ptx_object_find(&((struct ptx_job *)context)->objects, kind, handle);
}

static void print(void *context, const char *text, size_t size_B, uint64_t record_B)
{
    struct ptx_job *job = context;
    if (!em_kernel_print(&job->output, text, size_B, record_B))
        job->short_of_memory = true;
}

static void complain(void *context, const char *line, size_t size_B)
{
    em_cancel_off();
    em_kernel_complain(line, size_B);
}

static uint64_t allocate(void *context, uint64_t size_B)
{
    struct ptx_job *job = context;
    const uint64_t address = em_kernel_heap_allocate(job->heap, size_B);
    if (address != EM_KERNEL_HEAP_FAILED)
        return address;
    job->short_of_memory = true;
    return 0;
}

static bool free_memory(void *context, uint64_t address, char *why, size_t why_B)
{
    return em_kernel_heap_free(((struct ptx_job *)context)->heap, address, why, why_B);
}

static void set_conditional(uint64_t handle, uint32_t value)
{
    em_capture->set_conditional(handle, value);
}

// Reports once that a launch may never end.
static void slow(void *context, const struct px_slow *slow)
{
    struct ptx_job *job = context;
    if (!__atomic_exchange_n(&job->said_slow, true, __ATOMIC_RELAXED))
        em_ptx_slow_report(slow, job->grid->code->name, job->model.program);
}

static inline __attribute__((always_inline)) bool run_blocks(struct ptx_job *job, uint64_t index)
{
    struct px_grid copy, *part = job->parts > 1 ? &copy : &job->model;
    uint64_t first, count;
    if (job->parts > 1)
        memcpy(part, &job->model, offsetof(struct px_grid, failure));
    if (job->parts > 1) {
        em_part(job->blocks, 1, (unsigned)index, (unsigned)job->parts, &first, &count);
    } else {
        first = 0;
        count = job->blocks;
    }
    uint32_t rights = dm_pkey_enter();
    int status = px_run(part, job->first + first, job->first + first + count);
    dm_pkey_leave(rights);
    if (!status)
        return true;
    dm_mutex_lock(&job->lock);
    if (!job->failed || index < job->failed_part) {
        job->failed = true;
        job->failed_part = index;
        job->failure = part->failure;
    }
    dm_mutex_unlock(&job->lock);
    return false;
}

// Measures the time of the first blocks.
static bool run_part(void *argument, uint64_t index)
{
    struct ptx_job *job = argument;
    if (index)
        return run_blocks(job, index);
    const uint64_t start = dm_now_ns(), count = (job->blocks + job->parts - 1) / job->parts;
    const bool good = run_blocks(job, index);
    __atomic_store_n(&ptx_code(job->grid->code)->block_ns, (dm_now_ns() - start) / count,
                     __ATOMIC_RELAXED);
    return good;
}

// The stack of a thread, by the context's limit.
static uint32_t stack_size(uint64_t limit_B)
{
    const uint64_t size_B = limit_B < STACK_LEAST_B ? STACK_LEAST_B : limit_B;
    return size_B < STACK_MOST_B ? (uint32_t)size_B : STACK_MOST_B;
}

// What is the same for all launches.
static const struct px_host host = {.foreign = is_known,
                                    .object = find_object,
                                    .print = print,
                                    .complain = complain,
                                    .allocate = allocate,
                                    .free = free_memory,
                                    .set_conditional = set_conditional,
                                    .slow = slow,
                                    .shared_window = SHARED_WINDOW,
                                    .local_window = LOCAL_WINDOW};

static void fill_job(struct ptx_job *job, const struct em_grid *grid,
                     const struct px_program *program)
{
    static uint64_t grids; // atomic
    const struct em_config *config = em_config();
    const uint64_t ms = config->kernel_ms;
    job->objects.grid = grid;
    job->host = host;
    job->host.context = job;
    job->host.patience_ns = ms < UINT64_MAX / DM_NS_PER_S ? ms * (DM_NS_PER_S / 1000) : 0;
    job->host.device_first = em_space.base;
    job->host.device_end = em_space.base + em_space.size;
    if (config->check_memory || config->check_race) {
        em_ptx_check_start(&job->check);
        job->host.checks = &job->check.checks;
    }
    struct px_grid *model = &job->model;
    model->stack_B =
        stack_size(__atomic_load_n(&grid->context->limit[CU_LIMIT_STACK_SIZE], __ATOMIC_RELAXED));
    model->program = program;
    model->host = &job->host;
    memcpy(model->blocks, &grid->blocks, sizeof model->blocks);
    memcpy(model->threads, &grid->threads, sizeof model->threads);
    memcpy(model->cluster, &grid->cluster, sizeof model->cluster);
    model->dynamic_shared_B = grid->dynamic_shared_B;
    model->cooperative = grid->cooperative;
    model->arguments = grid->arguments;
    model->variables = grid->variables;
    model->branches_most = config->kernel_branches;
    model->sm_count = grid->multiprocessors;
    if (program->reads_grid_id)
        model->grid_id = em_count(&grids, 1) + 1;
    model->workspace = 0;
}

// Under a policy that decides, the order of blocks, warps and fragments is a decision, because a
// kernel that lacks a barrier may be right in one order.
static uint64_t draw_seed(const struct ptx_job *job)
{
    enum { ORDERS = 16 };
    // The policy does not change after the start of the driver.
    if (!em_scheduler.policy->decide ||
        (job->blocks == 1 && em_extent_volume(job->grid->threads) == 1))
        return 0;
    em_lock();
    const unsigned order = em_choose(ORDERS);
    if (order)
        em_schedule_log_step(job->grid->command, "drawn order");
    em_unlock();
    return order;
}

// The memory of cooperative_groups::this_grid().sync(). It comes from the context's heap of
// kernels, because each grid needs its own for as long as it runs.
static CUresult start_workspace(struct ptx_job *job)
{
    enum { SIZE_B = 8 };
    const CUresult r = em_kernel_heap_get(job->grid->context, &job->heap);
    if (r)
        return r;
    const uint64_t address = em_kernel_heap_allocate(job->heap, SIZE_B);
    if (!address || address == EM_KERNEL_HEAP_FAILED)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "kernel %s: no memory for the barrier of its grid; raise "
                       "CU_LIMIT_MALLOC_HEAP_SIZE",
                       job->grid->code->name);
    const uint32_t rights = dm_pkey_enter();
    *(uint64_t *)(uintptr_t)address = 0;
    dm_pkey_leave(rights);
    job->model.workspace = address;
    return CUDA_SUCCESS;
}

static void finish_workspace(struct ptx_job *job)
{
    char why[64];
    if (job->model.workspace)
        (void)em_kernel_heap_free(job->heap, job->model.workspace, why, sizeof why);
}

// Whether the blocks of a grid are worth a worker's waking, if each takes as long as the last one
// that was measured.
static bool is_long(const struct ptx_job *job)
{
    const uint64_t block_ns =
        __atomic_load_n(&ptx_code(job->grid->code)->block_ns, __ATOMIC_RELAXED);
    return job->blocks > 1 && block_ns >= (PART_MIN_NS + job->blocks - 1) / job->blocks;
}

// Whether workers should run blocks of a grid. If that depends on its loops, and the kernel's last
// launch was short, runs its first block. A drawn order of blocks must not depend on the time.
static bool should_share(struct ptx_job *job)
{
    const struct em_grid *grid = job->grid;
    const struct px_program *program = job->model.program;
    const uint64_t blocks = job->blocks;
    const uint64_t work = blocks * em_extent_volume(grid->threads) * program->op_count;
    if (!program->order_free || grid->cooperative || grid->cluster.x || blocks < 2 ||
        work < PROBE_MIN_OPS || job->host.checks || job->host.stepper || !em_workers_may_help())
        return false;
    if (work >= PART_MIN_OPS || job->model.seed)
        return work >= PART_MIN_OPS;
    if (is_long(job))
        return true;
    job->blocks = 1;
    run_part(job, 0);
    job->first = 1;
    job->blocks = job->failed ? 0 : blocks - 1;
    return is_long(job);
}

static CUresult run_grid(const struct em_grid *grid)
{
    em_assert_unlocked();
    CUresult r = prepare((struct em_code *)grid->code, grid->context->device);
    if (r)
        return r;
    const struct px_program *program = ptx_code(grid->code)->program;
    struct ptx_job job;
    memset(&job, 0, offsetof(struct ptx_job, host));
    job.grid = grid;
    job.blocks = em_extent_volume(grid->blocks);
    job.parts = 1;
    job.lock = (struct dm_mutex)DM_MUTEX_INITIALIZER(LEAF);
    fill_job(&job, grid, program);
    r = program->allocates ? em_kernel_heap_get(grid->context, &job.heap) : CUDA_SUCCESS;
    if (!r && program->reads_workspace && grid->cooperative)
        r = start_workspace(&job);
    if (r)
        return r;
    if (program->prints)
        em_kernel_output_start(&job.output, grid->context);
    job.model.seed = draw_seed(&job);
    if (em_config()->step)
        job.host.stepper = em_ptx_step_start(grid, grid->code->name);
    if (should_share(&job))
        job.parts = job.blocks < PARTS_MOST ? job.blocks : PARTS_MOST;
    // The call may not have disabled cancellation yet (em_launch).
    if (job.parts > 1 || job.host.stepper || job.host.checks)
        em_cancel_off();
    if (job.parts > 1)
        em_workers_run(run_part, &job, job.parts);
    else if (job.blocks)
        run_blocks(&job, 0);
    if (job.host.stepper)
        em_ptx_step_finish();
    finish_workspace(&job);
    if (job.objects.held || job.objects.empty)
        em_ptx_objects_finish(&job.objects, &ptx_code(grid->code)->said_empty);
    if (program->prints)
        em_kernel_output_write(&job.output);
    if (job.host.checks)
        em_ptx_check_report(&job.check, grid->code->name, program, &ptx_code(grid->code)->said);
    if (job.short_of_memory)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "kernel %s: out of host memory for its malloc() or printf()",
                       grid->code->name);
    if (!job.failed)
        return CUDA_SUCCESS;
    return em_ptx_failure_report(&job.failure, grid->code->name, program, &job.objects);
}

static const struct em_executor ptx_executor = {
    .run = run_grid, .prepare = prepare, .detaches = true, .print = print_argument};

// ---- life ----

void em_ptx_kernel_free(struct em_code *code)
{
    em_assert_unlocked();
    if (code)
        dm_free(ptx_code(code)->parameters);
    dm_free(code);
}

static unsigned volume(const uint32_t n[3])
{
    return n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
}

struct em_code *em_ptx_kernel_new(struct px_module *text, unsigned function)
{
    em_assert_unlocked();
    const struct px_function *f = &text->functions[function];
    struct ptx_code *c = dm_calloc(1, sizeof *c);
    struct em_parameter *parameters = dm_calloc(f->parameter_count + 1ul, sizeof *parameters);
    if (!c || !parameters) {
        dm_free(c);
        dm_free(parameters);
        return NULL;
    }
    // An address may be anywhere in a parameter of 8 bytes, and the kernel may write there.
    for (unsigned i = 0; i < f->parameter_count; i++)
        parameters[i] = (struct em_parameter){.offset_B = f->parameters[i].offset_B,
                                              .size_B = f->parameters[i].size_B,
                                              .use = f->parameters[i].size_B == sizeof(uint64_t)
                                                         ? EM_PARAMETER_WRITES
                                                         : EM_PARAMETER_VALUE};
    c->text = text;
    c->function = function;
    c->parameters = parameters;
    c->code = (struct em_code){
        .name = f->name,
        .executor = &ptx_executor,
        .parameters = parameters,
        .parameter_count = f->parameter_count,
        .parameters_B = f->parameters_B,
        .registers = REGISTERS_LEAST,
        .most_threads = volume(f->limits.most_threads),
        .target = f->target,
        .notes_writes = true,
        .most_cluster = f->limits.most_cluster,
        .needs_cluster = f->limits.explicit_cluster,
    };
    for (int i = 0; i < 3; i++) {
        c->code.required_threads[i] = f->limits.required_threads[i];
        c->code.required_cluster[i] = f->limits.required_cluster[i];
    }
    return &c->code;
}
