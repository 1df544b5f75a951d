// SPDX-License-Identifier: MIT
// Stream memory operations: words that streams wait for and write.
#include "memory_operation.h"

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "device.h"
#include "fault.h"
#include "graphics.h"
#include "lock.h"
#include "memory.h"
#include "pkey.h"
#include "stream.h"

enum step_kind { STEP_WAIT, STEP_WRITE, STEP_BARRIER };

struct step {
    enum step_kind kind;
    bool wide;      // 64 bits
    bool may_fault; // somebody else may take the word away
    unsigned condition;
    uint64_t address, value;
    bool watched; // somebody wants to know of it
};

// A word is written, or waited for, by a command of one step; a batch is a command that goes on
// where its last wait held it up.
struct operations {
    struct em_command command;
    struct step one;
    struct step *steps; // `one`, or the batch's own; NULL: `one`
    unsigned count, done;
};

// ---- the words

struct access {
    const struct step *step;
    bool met;
};

static bool is_met(const struct step *s, uint64_t word)
{
    switch (s->condition) {
    case CU_STREAM_WAIT_VALUE_GEQ: // "(int32_t)(*addr - value) >= 0 (or int64_t for 64 bit values)"
        return s->wide ? (int64_t)(word - s->value) >= 0
                       : (int32_t)((uint32_t)word - (uint32_t)s->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return word == s->value;
    case CU_STREAM_WAIT_VALUE_AND:
        return word & s->value;
    default: // CU_STREAM_WAIT_VALUE_NOR: "~(*addr | value) != 0"
        return (s->wide ? ~(word | s->value) : (uint32_t) ~(word | s->value)) != 0;
    }
}

// Who else writes or reads the word is the program's affair, and it may do so in any way: no
// business of ThreadSanitizer's, which looks at every atomic access but not at a volatile one here.
// Aligned words are read and written in one piece.
__attribute__((no_sanitize("thread"))) static void look(void *argument)
{
    struct access *a = argument;
    const struct step *s = a->step;
    uint64_t word = s->wide ? *(const volatile uint64_t *)(uintptr_t)s->address
                            : *(const volatile uint32_t *)(uintptr_t)s->address;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    a->met = is_met(s, word);
}

__attribute__((no_sanitize("thread"))) static void store(void *argument)
{
    const struct step *s = ((struct access *)argument)->step;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (s->wide)
        *(volatile uint64_t *)(uintptr_t)s->address = s->value;
    else
        *(volatile uint32_t *)(uintptr_t)s->address = (uint32_t)s->value;
}

static int reach(const struct step *s, bool *met, struct dm_fault *fault)
{
    struct access a = {.step = s, .met = true};
    if (s->kind == STEP_BARRIER) {
        *met = true;
        return 0; // commands of a stream see each other's bytes, as do all that wait for them
    }
    uint32_t rights = dm_pkey_enter();
    int r = (s->may_fault ? dm_guarded_foreign : dm_guarded)(s->kind == STEP_WAIT ? look : store,
                                                             &a, fault);
    dm_pkey_leave(rights);
    *met = a.met;
    return r;
}

// ---- the command

static const struct step *current(const struct operations *o)
{
    return (o->steps ? o->steps : &o->one) + o->done;
}

// A word that faults ends the wait: `run` then says so.
static bool ready(struct em_command *command)
{
    const struct step *s = current((struct operations *)command);
    struct dm_fault fault;
    bool met;
    return s->kind != STEP_WAIT || reach(s, &met, &fault) || met;
}

static CUresult run(struct em_command *command)
{
    struct operations *o = (struct operations *)command;
    for (; o->done < o->count; o->done++) {
        const struct step *s = current(o);
        struct dm_fault fault;
        bool met;
        if (reach(s, &met, &fault))
            return em_device_fault("a stream memory operation", &fault, s->may_fault);
        if (!met)
            return EM_RUN_AGAIN;
    }
    return CUDA_SUCCESS;
}

static unsigned word_B(const struct step *s)
{
    return s->wide ? 8 : 4;
}

// Tells who watches the words what is about to be done with them. Precondition: em_lock NOT held.
static void touch(const struct operations *o)
{
    for (unsigned i = 0; i < o->count; i++) {
        const struct step *s = (o->steps ? o->steps : &o->one) + i;
        if (!s->watched)
            continue;
        em_lock();
        struct em_allocation *a = em_memory_find(s->address, word_B(s));
        if (a)
            em_memory_touch(a, s->address, word_B(s),
                            s->kind == STEP_WAIT ? EM_TOUCH_READ : EM_TOUCH_WRITE);
        em_unlock();
        em_graphics_bring(true);
    }
}

static void finish(struct em_command *command)
{
    struct operations *o = (struct operations *)command;
    for (unsigned i = 0; i < o->count; i++) {
        const struct step *s = (o->steps ? o->steps : &o->one) + i;
        if (s->watched && s->kind == STEP_WRITE)
            em_memory_written(s->address, word_B(s), i < o->done ? CUDA_SUCCESS : command->result);
    }
    dm_free(o->steps);
}

static const struct em_command_ops wait_ops = {
    .name = "wait for a value", .ready = ready, .run = run, .polled = true};
static const struct em_command_ops write_ops = {
    .name = "write of a value", .run = run, .finish = finish};
static const struct em_command_ops batch_ops = {.name = "batch of memory operations",
                                                .ready = ready,
                                                .run = run,
                                                .finish = finish,
                                                .polled = true,
                                                .resumes = true};

// ---- what can be asked for

static CUresult check_wait(const struct em_device *device, unsigned flags)
{
    unsigned condition = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    if (condition > CU_STREAM_WAIT_VALUE_NOR)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags %#x: a wait is for GEQ (0), EQ (1), AND (2) or NOR (3)", flags);
    // "Support for this can be queried with CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR."
    if (condition == CU_STREAM_WAIT_VALUE_NOR &&
        !em_device_attribute(device, DM_ATTRIBUTE_can_use_stream_wait_value_nor))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "this device does not wait for NOR");
    // "Support for this operation is restricted to selected platforms and can be queried with
    // CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES."
    if (flags & CU_STREAM_WAIT_VALUE_FLUSH &&
        !em_device_attribute(device, DM_ATTRIBUTE_can_flush_remote_writes))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "CU_STREAM_WAIT_VALUE_FLUSH: this device cannot flush remote writes");
    return CUDA_SUCCESS;
}

// Precondition: em_lock held.
static CUresult check_word(struct em_context *context, struct step *s)
{
    if (s->wide &&
        !em_device_attribute(context->device, DM_ATTRIBUTE_can_use_64_bit_stream_mem_ops))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "this device has no 64-bit stream memory operations");
    if (s->address % word_B(s))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "addr %#llx is not aligned to the %u bytes of a word",
                       (unsigned long long)s->address, word_B(s));
    // "If the memory was registered via cuMemHostRegister(), the device pointer should be obtained
    // with cuMemHostGetDevicePointer()."
    struct em_reach reach;
    unsigned access =
        s->kind == STEP_WAIT ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUresult r = em_memory_reach(context, s->address, word_B(s), access, "addr",
                                 CUDA_ERROR_INVALID_VALUE, &reach);
    if (r)
        return r;
    s->may_fault = reach.may_fault;
    s->watched = reach.first->watch != NULL;
    return CUDA_SUCCESS;
}

// One word's operation as a step. Precondition: em_lock held.
static CUresult word_step(struct em_context *context, CUstreamBatchMemOpType operation,
                          uint64_t address, uint64_t value, unsigned flags, struct step *out)
{
    bool wait =
        operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    bool wide =
        operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    *out = (struct step){
        .kind = wait ? STEP_WAIT : STEP_WRITE,
        .wide = wide,
        .condition = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH,
        .address = address,
        .value = wide ? value : (uint32_t)value,
    };
    CUresult r = CUDA_SUCCESS;
    if (wait)
        r = check_wait(context->device, flags);
    // CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is for the v1 operations alone.
    else if (flags)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "flags %#x: a write takes CU_STREAM_WRITE_VALUE_DEFAULT (0)", flags);
    return r ? r : check_word(context, out);
}

// Precondition: em_lock held.
static CUresult batch_step(struct em_context *context, const CUstreamBatchMemOpParams *p,
                           struct step *out)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return word_step(context, p->operation, p->waitValue.address, p->waitValue.value64,
                         p->waitValue.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return word_step(context, p->operation, p->writeValue.address, p->writeValue.value64,
                         p->writeValue.flags, out);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: this device cannot flush remote writes");
    case CU_STREAM_MEM_OP_BARRIER:
        if (p->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "flags %#x: a barrier is of type SYS (0) or GPU (1)",
                           p->memoryBarrier.flags);
        *out = (struct step){.kind = STEP_BARRIER};
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "operation %d is no stream memory operation",
                       (int)p->operation);
    }
}

CUresult em_memory_operation(struct em_stream *stream, CUstreamBatchMemOpType operation,
                             uint64_t address, uint64_t value, unsigned flags)
{
    struct operations o = {.command.size_B = sizeof o, .count = 1};
    em_lock();
    CUresult r = word_step(stream->object.context, operation, address, value, flags, &o.one);
    em_unlock();
    if (!r)
        touch(&o);
    o.command.ops = o.one.kind == STEP_WAIT ? &wait_ops : &write_ops;
    if (!r)
        r = em_submit(stream, &o.command, EM_SUBMIT_ASYNC);
    return r;
}

CUresult em_memory_operations(struct em_stream *stream, unsigned count,
                              const CUstreamBatchMemOpParams *operations)
{
    struct operations o = {.command = {.ops = &batch_ops, .size_B = sizeof o}, .count = count};
    CUresult r = CUDA_SUCCESS;
    if (!count)
        return CUDA_SUCCESS;
    o.steps = dm_calloc(count, sizeof *o.steps);
    if (!o.steps)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for %u stream memory operations", count);
    em_lock();
    for (unsigned i = 0; i < count && !r; i++)
        r = batch_step(stream->object.context, &operations[i], &o.steps[i]);
    em_unlock();
    if (r) {
        dm_free(o.steps);
        return r;
    }
    touch(&o);
    return em_submit(stream, &o.command, EM_SUBMIT_ASYNC);
}
