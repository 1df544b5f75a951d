// SPDX-License-Identifier: MIT
// Lanes as fibers, barriers, and the functions of cardless.h that kernels call.
#include "host_lane.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "error.h"
#include "guard.h"
#include "host_kernel.h"
#include "lock.h"
#include "mutex.h"
#include "thread_exit.h"
#include "thread_state.h"

enum {
    STACK_B = 128 << 10,
    // A stack with its guard page takes two of the mappings that a process may have (65,530 by
    // default, vm.max_map_count). So lanes have stacks of their own only up to the largest block,
    // and only so many at a time; all others take turns on one stack.
    OWN_MOST = 1024,
    OWN_MOST_IN_PROCESS = 16 << 10,
    KEPT_MOST = 8 << 10 // own stacks of sets that wait for the next grid
};

// ---- the lane that a thread runs ----

struct host_self {
    struct em_host_lane *lane;
};
DM_DECLARE_THREAD_STATE(struct host_self, host_self)
DM_DEFINE_THREAD_STATE(struct host_self, host_self)

// Kernels must not call the driver, as functions of cuLaunchHostFunc must not.
void em_host_enter(struct em_host_lane *lane, struct em_host_scope *outer)
{
    struct host_self *self = host_self();
    *outer = (struct em_host_scope){self->lane, em_self.in_host_function, em_self.in_kernel,
                                    em_program_begin()};
    dm_guard_own_stack();
    self->lane = lane;
    em_self.in_host_function = em_self.in_kernel = true;
}

void em_host_leave(const struct em_host_scope *outer)
{
    host_self()->lane = outer->lane;
    em_self.in_host_function = outer->in_host_function;
    em_self.in_kernel = outer->in_kernel;
    em_program_end(outer->in_program);
}

const cardlessThread *em_host_thread(void)
{
    const struct em_host_lane *lane = host_self()->lane;
    return lane ? &lane->self : NULL;
}

void *em_host_variable(unsigned index)
{
    const struct em_host_lane *lane = host_self()->lane;
    const struct em_grid *grid = lane ? lane->part->grid : NULL;
    return grid && index < grid->variable_count ? (void *)(uintptr_t)grid->variables[index] : NULL;
}

// ---- failures ----

// (recorded: fault/call-wild, trap, brkpt, load-null …)
static CUresult code_of(const struct em_host_lane *lane, const struct dm_fault *fault)
{
    switch (fault->kind) {
    case DM_FAULT_LEFT:
        return lane->part->leaving;
    case DM_FAULT_DIVISION:
    case DM_FAULT_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case DM_FAULT_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default: // a jump to an address without code looks like a read of this address
        return fault->instruction == fault->address && fault->address
                   ? CUDA_ERROR_ILLEGAL_INSTRUCTION
                   : CUDA_ERROR_ILLEGAL_ADDRESS;
    }
}

static void place_failure(struct em_host_lane *lane)
{
    struct em_host_failure *f = &lane->part->failure;
    f->placed = true;
    f->block = lane->self.block;
    f->thread = lane->self.thread;
}

// Whether the stack of a lane is full; if so, *size_B is its size.
static bool stack_is_full(const struct em_host_lane *lane, const struct dm_fault *fault,
                          uint64_t *size_B)
{
    uint64_t low = (uintptr_t)lane->fiber.stack;
    *size_B = lane->fiber.stack_B;
    return (low || dm_guard_stack_bounds(&low, size_B)) && dm_fault_is_overflow(fault, low);
}

void em_host_fail_exit(struct em_host_lane *lane)
{
    place_failure(lane);
    lane->part->result = CUDA_ERROR_LAUNCH_FAILED;
    snprintf(lane->part->failure.text, sizeof lane->part->failure.text,
             "pthread_exit ends a thread of the process, not one of the grid; return from the "
             "kernel instead");
}

void em_host_fail(struct em_host_lane *lane, const struct dm_fault *fault)
{
    uint64_t stack_B;
    struct em_host_failure *f = &lane->part->failure;
    place_failure(lane);
    lane->part->result = code_of(lane, fault);
    if (fault->kind == DM_FAULT_LEFT)
        return; // the text is there
    if (lane->part->result == CUDA_ERROR_ILLEGAL_INSTRUCTION &&
        fault->kind != DM_FAULT_INSTRUCTION) {
        snprintf(f->text, sizeof f->text, "a call or jump to 0x%llx, which is not code",
                 (unsigned long long)fault->address);
        return;
    }
    if (stack_is_full(lane, fault, &stack_B)) {
        snprintf(f->text, sizeof f->text, "the stack of %llu KiB is full",
                 (unsigned long long)stack_B >> 10);
        return;
    }
    dm_fault_text(fault, f->text, sizeof f->text);
    uint64_t past_B;
    const size_t used = strlen(f->text);
    if (fault->kind < DM_FAULT_DIVISION && em_host_past_shared(lane, fault->address, &past_B))
        snprintf(f->text + used, sizeof f->text - used,
                 ", %llu bytes past the %zu bytes of dynamic shared memory",
                 (unsigned long long)past_B, lane->self.dynamic_shared_size);
    else if (fault->kind < DM_FAULT_DIVISION)
        f->address = fault->address;
}

// Ends the grid. `text` has been written.
static void leave(struct em_host_lane *lane, CUresult code)
{
    lane->part->leaving = code;
    dm_guard_leave();
}

void em_host_trap(void)
{
    struct em_host_lane *lane = host_self()->lane;
    if (!lane)
        return;
    snprintf(lane->part->failure.text, sizeof lane->part->failure.text, "cardlessTrap");
    leave(lane, CUDA_ERROR_LAUNCH_FAILED);
}

void em_host_assert(const char *assertion, const char *file, unsigned line, const char *function)
{
    struct em_host_lane *lane = host_self()->lane;
    if (!lane)
        return;
    snprintf(lane->part->failure.text, sizeof lane->part->failure.text,
             "%s:%u: %s: assertion `%s` failed", file, line, function, assertion);
    leave(lane, CUDA_ERROR_ASSERT);
}

// ---- barriers ----

static void yield(struct em_host_lane *lane, enum em_host_wait wait)
{
    lane->wait = wait;
    dm_fiber_switch(&lane->fiber, &lane->part->main, NULL);
}

void em_host_barrier(bool of_grid)
{
    struct em_host_lane *lane = host_self()->lane;
    if (!lane)
        return;
    struct em_host_part *part = lane->part;
    const char *lacks = !part->barriers ? "the flag CARDLESS_KERNEL_BARRIERS in the kernel's table"
                        : of_grid && !part->grid->cooperative
                            ? "a cooperative launch (cuLaunchCooperativeKernel)"
                            : NULL;
    if (lacks && (of_grid || !part->per_block)) {
        snprintf(part->failure.text, sizeof part->failure.text, "%s needs %s",
                 of_grid ? "cardlessGridBarrier" : "cardlessBarrier", lacks);
        leave(lane, CUDA_ERROR_LAUNCH_FAILED);
    }
    if (of_grid)
        yield(lane, EM_HOST_AT_GRID_BARRIER);
    else if (!part->per_block)
        yield(lane, EM_HOST_AT_BARRIER);
}

// ---- sets of lanes, which are kept because their stacks are expensive to make ----

struct lane_set {
    struct lane_set *next;
    uint64_t count;
    struct em_host_lane *lanes;
    struct dm_fiber shared; // of the lanes without a stack of their own; mapped if there are any
    void (*call)(struct em_host_lane *);
};

static struct {
    struct dm_mutex lock;
    struct lane_set *first;
    uint64_t lanes; // of all sets in the list
} spare = {.lock = DM_MUTEX_INITIALIZER(LEAF)};

static uint64_t own_stacks; // in the process; atomic

static void free_set(struct lane_set *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        if (!s->lanes[i].fiber.shares)
            __atomic_fetch_sub(&own_stacks, 1, __ATOMIC_RELAXED);
        dm_fiber_finish(&s->lanes[i].fiber);
    }
    if (s->shared.stack)
        dm_fiber_finish(&s->shared);
    dm_free(s->lanes);
    dm_free(s);
}

static bool own_stack(struct dm_fiber *fiber)
{
    if (__atomic_fetch_add(&own_stacks, 1, __ATOMIC_RELAXED) < OWN_MOST_IN_PROCESS &&
        !dm_fiber_init(fiber, STACK_B))
        return true;
    __atomic_fetch_sub(&own_stacks, 1, __ATOMIC_RELAXED);
    return false;
}

static bool grow_set(struct lane_set *s, uint64_t count)
{
    if (count <= s->count)
        return true;
    struct em_host_lane *more = dm_realloc(s->lanes, count * sizeof *more);
    if (!more)
        return false;
    s->lanes = more;
    for (; s->count < count; s->count++) {
        struct dm_fiber *fiber = &s->lanes[s->count].fiber;
        if (s->count < OWN_MOST && own_stack(fiber))
            continue;
        if (!s->shared.stack && dm_fiber_init(&s->shared, STACK_B))
            return false;
        dm_fiber_init_shared(fiber, &s->shared);
    }
    return true;
}

static struct lane_set *take_spare(void)
{
    dm_mutex_lock(&spare.lock);
    struct lane_set *s = spare.first;
    if (s) {
        spare.first = s->next;
        spare.lanes -= s->count;
    }
    dm_mutex_unlock(&spare.lock);
    return s;
}

void em_host_lanes_give_back(void)
{
    for (struct lane_set *s = take_spare(); s; s = take_spare())
        free_set(s);
}

static struct lane_set *get_set(uint64_t count)
{
    struct lane_set *s = take_spare();
    if (!s)
        s = dm_calloc(1, sizeof *s);
    if (!s || grow_set(s, count))
        return s;
    free_set(s);
    return NULL;
}

// Sets of blocks of the largest size are kept; larger ones are cooperative grids'.
static void put_set(struct lane_set *s)
{
    dm_mutex_lock(&spare.lock);
    const bool keeps = s->count <= OWN_MOST && spare.lanes + s->count <= KEPT_MOST;
    if (keeps) {
        s->next = spare.first;
        spare.first = s;
        spare.lanes += s->count;
    }
    dm_mutex_unlock(&spare.lock);
    if (!keeps)
        free_set(s);
}

// ---- running lanes in turns ----

struct lane_call {
    struct em_host_lane *lane;
    void (*call)(struct em_host_lane *);
};

static void call_lane(void *argument)
{
    const struct lane_call *c = argument;
    c->call(c->lane);
}

// The function of a fiber.
static void lane_main(void *argument)
{
    struct lane_call c = *(struct lane_call *)argument;
    struct dm_fault fault;
    if (dm_guarded(call_lane, &c, &fault))
        em_host_fail(c.lane, &fault);
    c.lane->wait = EM_HOST_ENDED;
}

// Lets the lanes that wait for something go on if all lanes that have not ended wait for it too.
// Returns whether it did.
static bool release(struct em_host_lane *lanes, uint64_t count, enum em_host_wait wait)
{
    bool some = false;
    for (uint64_t i = 0; i < count; i++) {
        if (lanes[i].wait != wait && lanes[i].wait != EM_HOST_ENDED)
            return false;
        some |= lanes[i].wait == wait;
    }
    for (uint64_t i = 0; i < count && some; i++)
        if (lanes[i].wait == wait)
            lanes[i].wait = EM_HOST_RUNS;
    return some;
}

static uint64_t count_waiting(const struct em_host_lane *lanes, uint64_t count,
                              enum em_host_wait wait)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += lanes[i].wait == wait;
    return found;
}

// Some threads wait at one kind of barrier and the others at the other kind.
static CUresult report_deadlock(struct em_host_part *part, const struct em_host_lane *lanes,
                                uint64_t count)
{
    part->failure.placed = false;
    return em_fail(CUDA_ERROR_LAUNCH_TIMEOUT,
                   "kernel %s: deadlock: %llu threads wait in cardlessBarrier and %llu in "
                   "cardlessGridBarrier, and %llu have ended",
                   part->grid->code->name,
                   (unsigned long long)count_waiting(lanes, count, EM_HOST_AT_BARRIER),
                   (unsigned long long)count_waiting(lanes, count, EM_HOST_AT_GRID_BARRIER),
                   (unsigned long long)count_waiting(lanes, count, EM_HOST_ENDED));
}

static CUresult fail_memory(uint64_t count)
{
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "out of host memory for the stacks of %llu threads that wait for each other",
                   (unsigned long long)count);
}

// Runs `blocks` blocks at the same time, from the part's current one on.
static CUresult run_together(struct em_host_part *part, struct lane_set *s, uint64_t blocks)
{
    const uint64_t per_block = part->threads, count = blocks * per_block;
    struct host_self *self = host_self();
    struct em_host_lane *lanes = s->lanes;
    for (;;) {
        uint64_t ended = 0;
        for (uint64_t i = 0; i < count; i++) {
            if (lanes[i].wait == EM_HOST_RUNS) {
                self->lane = &lanes[i];
                if (dm_fiber_switch(&part->main, &lanes[i].fiber, &part->main))
                    return part->result = fail_memory(count);
            }
            if (part->result)
                return part->result;
            ended += lanes[i].wait == EM_HOST_ENDED;
        }
        if (ended == count)
            return CUDA_SUCCESS;
        bool released = release(lanes, count, EM_HOST_AT_GRID_BARRIER);
        for (uint64_t b = 0; b < blocks; b++)
            released |= release(lanes + b * per_block, per_block, EM_HOST_AT_BARRIER);
        if (!released)
            return part->result = report_deadlock(part, lanes, count);
    }
}

static void start_lane(struct em_host_part *part, struct em_host_lane *lane,
                       struct lane_call *argument)
{
    *argument = (struct lane_call){lane, argument->call};
    lane->part = part;
    lane->wait = EM_HOST_RUNS;
    dm_fiber_start(&lane->fiber, lane_main, argument);
}

static cardlessIndex index_in(uint64_t number, cardlessIndex size)
{
    return (cardlessIndex){(unsigned)(number % size.x), (unsigned)(number / size.x % size.y),
                           (unsigned)(number / size.x / size.y)};
}

static CUresult run_blocks(struct em_host_part *part, struct lane_set *s, struct lane_call *calls)
{
    const uint64_t together = part->grid->cooperative ? part->end - part->block : 1;
    CUresult r = CUDA_SUCCESS;
    for (; part->block < part->end && !r; part->block += together) {
        for (uint64_t i = 0; i < together * part->threads; i++) {
            struct em_host_lane *lane = &s->lanes[i];
            uint64_t block = i / part->threads;
            lane->self = part->lane.self;
            lane->self.block = index_in(part->block + block, lane->self.grid_size);
            if (!part->per_block)
                lane->self.thread = index_in(i % part->threads, lane->self.block_size);
            em_host_shared_place(part, lane, block);
            calls[i].call = s->call;
            start_lane(part, lane, &calls[i]);
        }
        r = run_together(part, s, together);
    }
    return r;
}

struct block_run {
    struct em_host_part *part;
    struct lane_set *set;
    struct lane_call *calls;
    CUresult result;
};

static void call_run_blocks(void *argument)
{
    struct block_run *b = argument;
    b->result = run_blocks(b->part, b->set, b->calls);
}

// The lane that was running has called pthread_exit.
static void leave_lane(void *argument)
{
    const struct block_run *b = argument;
    dm_fiber_left(&b->part->main, &host_self()->lane->fiber);
}

// Runs the blocks, and stops when a lane calls pthread_exit.
static CUresult run_blocks_or_exit(struct block_run *b)
{
    if (!dm_call_ends_thread(call_run_blocks, b, leave_lane))
        return b->result;
    em_host_fail_exit(host_self()->lane);
    return b->part->result;
}

CUresult em_host_run_lanes(struct em_host_part *part, void (*call)(struct em_host_lane *))
{
    const uint64_t blocks = part->grid->cooperative ? part->end - part->block : 1;
    const uint64_t count = blocks * part->threads;
    CUresult r = em_host_shared_get(part, blocks);
    if (r)
        return part->result = r;
    struct lane_set *s = get_set(count);
    struct lane_call *calls = s ? dm_alloc(count * sizeof *calls) : NULL;
    if (calls) {
        s->call = call;
        dm_fiber_of_thread(&part->main);
        struct em_host_scope outer;
        em_host_enter(NULL, &outer);
        struct block_run run = {.part = part, .set = s, .calls = calls};
        r = run_blocks_or_exit(&run);
        em_host_leave(&outer);
    } else {
        r = part->result = fail_memory(count);
    }
    dm_free(calls);
    if (s)
        put_set(s);
    em_host_shared_put(part);
    return r;
}
