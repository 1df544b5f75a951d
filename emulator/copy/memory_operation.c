// SPDX-License-Identifier: MIT
// Stream memory operations: words that streams wait for and write.
#include "memory_operation.h"

#include <stdio.h>

#include "access.h"
#include "alloc.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "command.h"
#include "deadlock.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "memory.h"
#include "memory_fault.h"
#include "order.h"
#include "record.h"
#include "order_signal.h"
#include "outside.h"
#include "pkey.h"
#include "record_content.h"
#include "stream.h"
#include "workers.h"

enum step_kind { STEP_WAIT, STEP_WRITE, STEP_BARRIER };

struct step {
    enum step_kind kind;
    bool wide;      // 64 bits
    bool may_fault; // someone else may take the word away
    unsigned condition;
    uint64_t address, value;
};

// A command of one step waits for a word or writes it. A batch has several: it goes on at the step
// whose wait held it up. The steps and their accesses follow in the same block of memory, so that a
// byte copy of the command is complete; steps[i] belongs to accesses[i].
struct operations {
    struct em_command command;
    unsigned count, done;
    uint32_t steps_at; // bytes from the start of the command
};

// The smallest such block.
struct one_operation {
    struct operations operations;
    struct step step;
    struct em_access access;
};

// ---- the words

// An attempt at a step.
struct attempt {
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

// The program may access the word from other threads in any way it likes, so ThreadSanitizer must
// not look here. It would check atomic accesses even with this attribute, but not volatile ones.
// Aligned words are read and written in one piece.
__attribute__((no_sanitize("thread"))) static void read_word(void *argument)
{
    struct attempt *a = argument;
    const struct step *s = a->step;
    uint64_t word = s->wide ? *(const volatile uint64_t *)(uintptr_t)s->address
                            : *(const volatile uint32_t *)(uintptr_t)s->address;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    a->met = is_met(s, word);
}

__attribute__((no_sanitize("thread"))) static void write_word(void *argument)
{
    const struct step *s = ((struct attempt *)argument)->step;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (s->wide)
        *(volatile uint64_t *)(uintptr_t)s->address = s->value;
    else
        *(volatile uint32_t *)(uintptr_t)s->address = (uint32_t)s->value;
}

// Reads or writes the word of a step. Returns 0, or -EFAULT with the fault.
static int try_step(const struct step *s, bool *met, struct dm_fault *fault)
{
    struct attempt a = {.step = s, .met = true};
    if (s->kind == STEP_BARRIER) {
        *met = true;
        return 0; // the commands of a stream see each other's bytes, and so do all that wait for
                  // them
    }
    uint32_t rights = dm_pkey_enter();
    em_guarded_fn *guarded = s->may_fault ? dm_guarded_foreign : dm_guarded;
    int r = guarded(s->kind == STEP_WAIT ? read_word : write_word, &a, fault);
    dm_pkey_leave(rights);
    *met = a.met;
    return r;
}

// ---- the command

static struct step *steps_of(const struct operations *o)
{
    return (struct step *)((char *)o + o->steps_at);
}

// A word that faults ends the wait, so that `run` reports it.
static bool step_ready(struct em_command *command)
{
    const struct operations *o = (const struct operations *)command;
    const struct step *s = &steps_of(o)[o->done];
    struct dm_fault fault;
    bool met;
    return s->kind != STEP_WAIT || try_step(s, &met, &fault) || met;
}

// ---- for the ordering checker

static unsigned word_B(const struct step *s)
{
    return s->wide ? 8 : 4;
}

static bool ends_wait(uint64_t word, const void *step)
{
    return is_met(step, word);
}

// A write is visible to others from its beginning on, a wait is over at its end.
static void order_write(struct em_command *command, const struct step *s)
{
    em_lock();
    const struct em_allocation *a = em_memory_find(s->address, word_B(s));
    em_order_word_written(s->address, command, s->value, !a || a->host);
    em_unlock();
}

static void order_wait(struct em_command *command, const struct step *s)
{
    em_lock();
    em_order_word_awaited(s->address, command, ends_wait, s);
    em_unlock();
}

// A wait that is over has seen the last write, whatever its value was.
static void record_word(const struct em_command *command, const struct step *s)
{
    bool by_program = false;
    em_lock();
    if (s->kind == STEP_WRITE) {
        em_record_signalled(s->address, 0, command->sequence);
    } else if (!em_record_awaited(s->address, 0, false, command->sequence, "word")) {
        const struct em_allocation *a = em_memory_find(s->address, 0);
        by_program = a && em_memory_residence(a) != EM_ON_DEVICE;
    }
    em_unlock();
    if (by_program && em_recording_contents)
        em_record_range(RF_READS, (const void *)(uintptr_t)s->address, s->wide ? 8 : 4);
}

static CUresult run_steps(struct em_command *command)
{
    struct operations *o = (struct operations *)command;
    for (; o->done < o->count; o->done++) {
        const struct step *s = &steps_of(o)[o->done];
        struct dm_fault fault;
        bool met;
        if (em_unlikely(em_order_on) && s->kind == STEP_WRITE)
            order_write(command, s);
        if (em_unlikely(em_recording) && s->kind == STEP_WRITE)
            record_word(command, s);
        if (try_step(s, &met, &fault))
            return em_device_fault("a stream memory operation", &fault, s->may_fault);
        if (!met)
            return EM_RUN_AGAIN;
        if (em_unlikely(em_order_on) && s->kind == STEP_WAIT)
            order_wait(command, s);
        if (em_unlikely(em_recording) && s->kind == STEP_WAIT)
            record_word(command, s);
    }
    return CUDA_SUCCESS;
}

// The steps before the one that failed have completed.
static void finish_steps(struct em_command *command)
{
    const struct operations *o = (const struct operations *)command;
    for (unsigned i = 0; i < o->done; i++)
        em_access_end(&em_command_accesses(command)[i], CUDA_SUCCESS);
}

static const struct em_command_ops write_ops, batch_ops;

// Whether the command writes the word at this address.
static bool writes_word(const struct em_command *c, const void *address)
{
    const struct operations *o = (const struct operations *)c;
    if (c->ops != &write_ops && c->ops != &batch_ops)
        return false;
    for (unsigned i = o->done; i < o->count; i++)
        if (steps_of(o)[i].kind == STEP_WRITE &&
            steps_of(o)[i].address == *(const uint64_t *)address)
            return true;
    return false;
}

static void explain_wait(const struct em_command *c, struct em_need *need)
{
    static const char *const conditions[] = {">=", "==", "&", "nor"};
    const struct operations *o = (const struct operations *)c;
    if (o->done >= o->count || steps_of(o)[o->done].kind != STEP_WAIT)
        return;
    const struct step *s = &steps_of(o)[o->done];
    snprintf(need->text, sizeof need->text, "the word at %#llx to be %s %llu",
             (unsigned long long)s->address, conditions[s->condition & 3],
             (unsigned long long)s->value);
    em_need_find(need, writes_word, &s->address);
}

static const struct em_command_ops wait_ops = {
    .name = "wait for a value", .ready = step_ready, .run = run_steps, .explain = explain_wait};
static const struct em_command_ops write_ops = {.name = "write of a value", .run = run_steps};
static const struct em_command_ops batch_ops = {.name = "batch of memory operations",
                                                .ready = step_ready,
                                                .run = run_steps,
                                                .explain = explain_wait,
                                                .finish = finish_steps,
                                                .resumes = true};

// ---- checks

static CUresult check_wait(const struct em_device *device, unsigned flags)
{
    unsigned condition = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    if (condition > CU_STREAM_WAIT_VALUE_NOR)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags %#x: the condition must be GEQ (0), EQ (1), AND (2) or NOR (3)",
                       flags);
    // "Support for this can be queried with CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR."
    if (condition == CU_STREAM_WAIT_VALUE_NOR &&
        !em_device_attribute(device, DM_ATTRIBUTE_can_use_stream_wait_value_nor))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "flags %#x: this device does not support waits for NOR", flags);
    // "Support for this operation is restricted to selected platforms and can be queried with
    // CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES."
    if (flags & CU_STREAM_WAIT_VALUE_FLUSH &&
        !em_device_attribute(device, DM_ATTRIBUTE_can_flush_remote_writes))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "flags %#x: this device does not support CU_STREAM_WAIT_VALUE_FLUSH", flags);
    return CUDA_SUCCESS;
}

static CUresult check_word(const struct em_context *context, const struct step *s)
{
    if (s->wide &&
        !em_device_attribute(context->device, DM_ATTRIBUTE_can_use_64_bit_stream_mem_ops))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "this device does not support 64-bit stream memory operations");
    if (s->address % word_B(s))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "addr (%#llx) is not a multiple of the size of a word (%u bytes)",
                       (unsigned long long)s->address, word_B(s));
    return CUDA_SUCCESS;
}

static CUresult check_word_memory(struct em_context *context, struct step *s,
                                  struct em_access *access)
{
    // "If the memory was registered via cuMemHostRegister(), the device pointer should be obtained
    // with cuMemHostGetDevicePointer()."
    bool wait = s->kind == STEP_WAIT;
    struct em_pointer_range checked;
    CUresult r =
        em_memory_check(context, s->address, word_B(s),
                        wait ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                        "addr", CUDA_ERROR_INVALID_VALUE, &checked);
    if (r)
        return r;
    s->may_fault = checked.may_fault;
    em_memory_access(access, checked.first, s->address, word_B(s),
                     wait ? EM_ACCESS_READ : EM_ACCESS_WRITE);
    access->form = EM_FORM_WORD;
    return CUDA_SUCCESS;
}

// One operation as the manual's chapter describes it.
struct request {
    CUstreamBatchMemOpType operation;
    uint64_t address, value;
    unsigned flags;
};

// If `access` is NULL, the memory is not checked.
static CUresult word_step(struct em_context *context, const struct request *q, struct step *step,
                          struct em_access *access)
{
    bool wait = q->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                q->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    bool wide = q->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                q->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    *step = (struct step){
        .kind = wait ? STEP_WAIT : STEP_WRITE,
        .wide = wide,
        .condition = q->flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH,
        .address = q->address,
        .value = wide ? q->value : (uint32_t)q->value,
    };
    CUresult r = CUDA_SUCCESS;
    if (wait)
        r = check_wait(context->device, q->flags);
    // CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is for the v1 operations alone.
    else if (q->flags)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "flags %#x: a write takes CU_STREAM_WRITE_VALUE_DEFAULT (0)", q->flags);
    if (!r)
        r = check_word(context, step);
    return r || !access ? r : check_word_memory(context, step, access);
}

// The same for an operation of a batch.
static CUresult batch_step(struct em_context *context, const CUstreamBatchMemOpParams *p,
                           struct step *step, struct em_access *access)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return word_step(context,
                         &(struct request){p->operation, p->waitValue.address, p->waitValue.value64,
                                           p->waitValue.flags},
                         step, access);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return word_step(context,
                         &(struct request){p->operation, p->writeValue.address,
                                           p->writeValue.value64, p->writeValue.flags},
                         step, access);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "this device does not support CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES");
    case CU_STREAM_MEM_OP_BARRIER:
        if (p->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "flags %#x: the type of a barrier must be SYS (0) or GPU (1)",
                           p->memoryBarrier.flags);
        *step = (struct step){.kind = STEP_BARRIER};
        return CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "operation %d is not a CUstreamBatchMemOpType",
                       (int)p->operation);
    }
}

// ---- prepare and issue

static CUresult prepare_one(struct em_context *context, const struct request *q,
                            struct one_operation *out)
{
    em_assert_locked();
    em_command_init(&out->operations.command, NULL, sizeof *out);
    out->operations.command.accesses_at = offsetof(struct one_operation, access);
    out->operations.command.access_count = 1;
    out->operations.count = 1;
    out->operations.done = 0;
    out->operations.steps_at = offsetof(struct one_operation, step);
    CUresult r = word_step(context, q, &out->step, &out->access);
    out->operations.command.ops = out->step.kind == STEP_WAIT ? &wait_ops : &write_ops;
    out->operations.command.condition =
        out->step.kind == STEP_WAIT ? &em_outside_memory.condition : NULL;
    return r;
}

static CUresult capture_operations(struct em_stream *stream, unsigned count,
                                   const CUstreamBatchMemOpParams *list)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                 .memOp = {.ctx = em_context_handle(stream->object.context),
                                           .count = count,
                                           .paramArray = (CUstreamBatchMemOpParams *)list}};
    return em_capture->add(stream, &p);
}

CUresult em_memory_operation(struct em_stream *stream, CUstreamBatchMemOpType operation,
                             uint64_t address, uint64_t value, unsigned flags)
{
    const struct request q = {operation, address, value, flags};
    struct one_operation o;
    if (em_stream_is_captured(stream)) {
        CUstreamBatchMemOpParams one = {.operation = operation};
        one.waitValue.address = address; // a write has the same members
        one.waitValue.value64 = value;
        one.waitValue.flags = flags;
        return capture_operations(stream, 1, &one);
    }
    em_lock();
    CUresult r = prepare_one(stream->object.context, &q, &o);
    if (!r)
        r = em_issue(stream, &o.operations.command, EM_SUBMIT_ASYNC);
    em_unlock();
    return r;
}

CUresult em_memory_operations_prepare(struct em_context *context, unsigned count,
                                      const CUstreamBatchMemOpParams *list, struct em_command **out)
{
    em_assert_locked();
    const size_t accesses_at = sizeof(struct operations),
                 steps_at = accesses_at + count * sizeof(struct em_access),
                 size_B = steps_at + count * sizeof(struct step);
    struct operations *o = dm_calloc(1, size_B);
    if (!o)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory for %u stream memory operations", count);
    *o = (struct operations){.command = {.ops = &batch_ops,
                                         .condition = &em_outside_memory.condition,
                                         .size_B = (uint32_t)size_B,
                                         .accesses_at = (uint16_t)accesses_at,
                                         .access_count = (uint32_t)count},
                             .count = count,
                             .steps_at = (uint32_t)steps_at};
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && !r; i++)
        r = batch_step(context, &list[i], &steps_of(o)[i], &em_command_accesses(&o->command)[i]);
    if (r) {
        dm_free(o);
        return r;
    }
    *out = &o->command;
    return CUDA_SUCCESS;
}

CUresult em_memory_operations_check(struct em_context *context, unsigned count,
                                    const CUstreamBatchMemOpParams *list)
{
    em_assert_locked();
    struct step step;
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && !r; i++)
        r = batch_step(context, &list[i], &step, NULL);
    return r;
}

CUresult em_memory_operations(struct em_stream *stream, unsigned count,
                              const CUstreamBatchMemOpParams *list)
{
    struct em_command *command;
    if (em_stream_is_captured(stream)) // even an empty batch is a node
        return capture_operations(stream, count, list);
    if (!count)
        return CUDA_SUCCESS;
    em_lock();
    CUresult r = em_memory_operations_prepare(stream->object.context, count, list, &command);
    if (!r) {
        r = em_issue(stream, command, EM_SUBMIT_ASYNC);
        dm_free(command);
    }
    em_unlock();
    return r;
}
