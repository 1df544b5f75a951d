// SPDX-License-Identifier: MIT
// Operations that stop a kernel with a failure, and those that read the time.
#include "warp.h"

#include "block.h"
#include "fault.h"
#include "lanes/lanes.inc.h"

const struct kn_op *px_op_trap(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t lanes = kn_mask_of(op, w);
    if (!lanes)
        KN_NEXT;
    if (op->i == PX_TRAP_CALL) // (recorded: fault/call-wild)
        return px_fail(px_warp_of(w), PX_FAILED_INSTRUCTION, lanes, op,
                       "a call of an address that is not a function of the module, or has other "
                       "parameters");
    if (op->i == PX_TRAP_STACK)
        return px_fail(px_warp_of(w), PX_FAILED_STACK, lanes, op,
                       "alloca exceeds the stack of %u bytes (CU_LIMIT_STACK_SIZE, which "
                       "cuCtxSetLimit sets, but at least 16,384)",
                       px_warp_of(w)->block->grid->stack_B);
    if (op->i == PX_TRAP_MISSING)
        return px_fail(px_warp_of(w), PX_FAILED_INSTRUCTION, lanes, op,
                       "a call of a function that is not defined, as far as there is PTX");
    if (op->i == PX_TRAP_CLUSTER)
        return px_fail(px_warp_of(w), PX_FAILED_INSTRUCTION, lanes, op,
                       "the instruction needs a launch with the attribute "
                       "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, also for clusters of one block");
    return px_fail(px_warp_of(w), PX_FAILED_TRAP, lanes, op, "trap was executed");
}

// "Breakpoint: suspends execution"; without a debugger the launch fails (recorded: fault/brkpt).
const struct kn_op *px_op_breakpoint(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t lanes = kn_mask_of(op, w);
    if (!lanes)
        KN_NEXT;
    return px_fail(px_warp_of(w), PX_FAILED_TRAP, lanes, op,
                   "brkpt was executed, and no debugger is attached");
}

const struct kn_op *px_op_unsupported(const struct kn_op *op, struct kn_warp *w)
{
    return px_fail(px_warp_of(w), PX_FAILED_INSTRUCTION, w->active, op,
                   "an operation that cannot run yet");
}

// ---- time ----

// The time is the count of questions, and not the host's, so that every run gives the same one.
const struct kn_op *px_op_clock(const struct kn_op *op, struct kn_warp *w)
{
    struct px_block *block = px_warp_of(w)->block;
    const uint32_t lanes = kn_mask_of(op, w);
    block->clock += 64 + (block->clock >> 6);
    const uint64_t now =
        op->i == PX_CLOCK_HIGH || op->i == PX_CLOCK_TIMER_HIGH ? block->clock >> 32 : block->clock;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        if (op->i == PX_CLOCK_64 || op->i == PX_CLOCK_TIMER)
            KN_REGISTER(uint64_t, op->d)[i] = now;
        else
            KN_REGISTER(uint32_t, op->d)[i] = (uint32_t)now;
    }
    KN_NEXT;
}
