// SPDX-License-Identifier: MIT
// Programs: the lowered body of one kernel, with the functions that it calls.
//
//     PTX statement ──instructions.def, lower_*.c──▶ px_op ──decode.c──▶ kn_op (kn_lanes.h)
//
// A program is a list of operations on virtual registers. Most of them are forms of kn_lanes.h; the
// rest change the flow of control, or concern more than one warp. The operations are in the order
// in which blocks of them are best executed (reverse post-order), so that lanes which have diverged
// meet again if the one at the lowest operation always runs first.
//
// All operands are registers, or kn_op.i. Constants, addresses of variables, kernel parameters and
// special registers are registers that are filled in before the warp starts.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kn_lanes.h"
#include "module.h"

typedef uint32_t px_register; // an index; PX_NONE: no register
#define PX_NONE UINT32_MAX

// Who fills a register in, and when.
enum px_fill {
    PX_FILL_BY_OPS,   // the program
    PX_FILL_CONSTANT, // value
    PX_FILL_VARIABLE, // the address of variable `index` plus `value`: a global or constant one's,
                      // or a shared or local one's offset in its space; `generic` makes the
                      // latter a generic address
    PX_FILL_WINDOW,   // `value` in shared (`index` is PX_SHARED) or local memory (PX_LOCAL), as a
                      // generic address if `generic`
    PX_FILL_FUNCTION, // the address of function `index`: px_function_address
    PX_FILL_ARGUMENT, // `size_B` bytes of the block of arguments at `value`
    PX_FILL_STACK,    // the end of the stack in local memory
    PX_FILL_SPECIAL,  // enum px_special `index`
};

// Special registers that do not change while a warp runs. (%clock and its like are operations.)
#define PX_SPECIAL_LIST(X)                                                                         \
    X(TID_X, "%tid.x")                                                                             \
    X(TID_Y, "%tid.y")                                                                             \
    X(TID_Z, "%tid.z")                                                                             \
    X(NTID_X, "%ntid.x")                                                                           \
    X(NTID_Y, "%ntid.y")                                                                           \
    X(NTID_Z, "%ntid.z")                                                                           \
    X(CTAID_X, "%ctaid.x")                                                                         \
    X(CTAID_Y, "%ctaid.y")                                                                         \
    X(CTAID_Z, "%ctaid.z")                                                                         \
    X(NCTAID_X, "%nctaid.x")                                                                       \
    X(NCTAID_Y, "%nctaid.y")                                                                       \
    X(NCTAID_Z, "%nctaid.z")                                                                       \
    X(LANEID, "%laneid")                                                                           \
    X(WARPID, "%warpid")                                                                           \
    X(NWARPID, "%nwarpid")                                                                         \
    X(SMID, "%smid")                                                                               \
    X(NSMID, "%nsmid")                                                                             \
    X(GRIDID, "%gridid")                                                                           \
    X(LANEMASK_EQ, "%lanemask_eq")                                                                 \
    X(LANEMASK_LE, "%lanemask_le")                                                                 \
    X(LANEMASK_LT, "%lanemask_lt")                                                                 \
    X(LANEMASK_GE, "%lanemask_ge")                                                                 \
    X(LANEMASK_GT, "%lanemask_gt")                                                                 \
    X(CLUSTERID_X, "%clusterid.x")                                                                 \
    X(CLUSTERID_Y, "%clusterid.y")                                                                 \
    X(CLUSTERID_Z, "%clusterid.z")                                                                 \
    X(NCLUSTERID_X, "%nclusterid.x")                                                               \
    X(NCLUSTERID_Y, "%nclusterid.y")                                                               \
    X(NCLUSTERID_Z, "%nclusterid.z")                                                               \
    X(CLUSTER_CTAID_X, "%cluster_ctaid.x")                                                         \
    X(CLUSTER_CTAID_Y, "%cluster_ctaid.y")                                                         \
    X(CLUSTER_CTAID_Z, "%cluster_ctaid.z")                                                         \
    X(CLUSTER_NCTAID_X, "%cluster_nctaid.x")                                                       \
    X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y")                                                       \
    X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z")                                                       \
    X(CLUSTER_CTARANK, "%cluster_ctarank")                                                         \
    X(CLUSTER_NCTARANK, "%cluster_nctarank")                                                       \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster")                                                 \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size")                                                     \
    X(TOTAL_SMEM_SIZE, "%total_smem_size")                                                         \
    X(AGGR_SMEM_SIZE, "%aggr_smem_size")                                                           \
    X(RESERVED_SMEM_BEGIN, "%reserved_smem_offset_begin")                                          \
    X(RESERVED_SMEM_END, "%reserved_smem_offset_end")                                              \
    X(RESERVED_SMEM_CAP, "%reserved_smem_offset_cap")                                              \
    X(RESERVED_SMEM_0, "%reserved_smem_offset_0")                                                  \
    X(RESERVED_SMEM_1, "%reserved_smem_offset_1")                                                  \
    X(CURRENT_GRAPH_EXEC, "%current_graph_exec")                                                   \
    X(ENVREG1, "%envreg1")                                                                         \
    X(ENVREG2, "%envreg2")

enum px_special {
#define PX_SPECIAL_ENUM(name, text) PX_SPECIAL_##name,
    PX_SPECIAL_LIST(PX_SPECIAL_ENUM)
#undef PX_SPECIAL_ENUM
        PX_SPECIAL_COUNT
};

// Finds a special register by its name, which begins with %. Returns an enum px_special, or -1.
int px_special_find(const char *name, size_t length);

struct px_register_info {
    char letter; // as in kn_form.operands: p, h, w, l, x
    enum px_fill fill;
    bool generic;
    bool real; // declared as .f32 or .f64
    bool own;  // PX_FILL_WINDOW: the address of a variable, which in a cluster has the block's rank
    uint32_t index, size_B;
    uint64_t value, value_high; // a predicate's constant: 0 or 1
    const char *name;           // of the PTX text, for messages and for stepping; or NULL
};

enum px_code {
    PX_FORM,          // an operation of kn_lanes.h: `form`
    PX_FORM_TOGETHER, // the same for forms that all lanes of a member mask execute together: shfl,
                      // vote, match, redux, mma …: operand `members` says which register has it
    PX_BRANCH,        // to `target`
    PX_BRANCH_TABLE,  // to one of `targets`, by the value of the first source
    PX_CALL,          // these three are not in programs: outline.c makes calls and returns of
    PX_CALL_REGISTER, // branches
    PX_RETURN,
    PX_EXIT,
    PX_TRAP, // `immediate` is an enum px_trap
    PX_BREAKPOINT,
    PX_BARRIER,      // bar, barrier: `immediate` is an enum px_barrier; sources: number, count,
                     // predicate
    PX_WARP_BARRIER, // bar.warp.sync: source: members
    PX_PHASE_WAIT,   // after mbarrier.test_wait, whose result is the source: lanes for which it is
                     // false wait until a phase is complete, and test again
    PX_CLUSTER_BARRIER, // barrier.cluster: `immediate` is an enum px_cluster_barrier
    PX_BUILTIN,         // a call of the driver's own functions: `immediate` is an enum px_builtin
    PX_CLOCK,           // `immediate` is an enum px_clock
    PX_NANOSLEEP,
    PX_YIELD, // lets other warps run: a hint in loops that wait
};

enum px_trap {
    PX_TRAP_STATEMENT,
    PX_TRAP_CALL,    // of an address that is not a function
    PX_TRAP_CLUSTER, // an instruction that needs a launch with clusters
    PX_TRAP_STACK,   // alloca without enough space
    PX_TRAP_MISSING, // a call of a function that is not defined
};
enum px_barrier {
    PX_BARRIER_SYNC,
    PX_BARRIER_ARRIVE,
    PX_BARRIER_POPC,
    PX_BARRIER_AND,
    PX_BARRIER_OR
};
enum px_cluster_barrier {
    PX_CLUSTER_ARRIVE,
    PX_CLUSTER_ARRIVE_RELAXED, // orders nothing
    PX_CLUSTER_WAIT
};
enum px_clock {
    PX_CLOCK_LOW,        // %clock, 32 bits
    PX_CLOCK_HIGH,       // %clock_hi, 32 bits
    PX_CLOCK_64,         // %clock64
    PX_CLOCK_TIMER,      // %globaltimer, 64 bits, in nanoseconds
    PX_CLOCK_TIMER_LOW,  // %globaltimer_lo, 32 bits
    PX_CLOCK_TIMER_HIGH, // %globaltimer_hi, 32 bits
};
enum px_builtin {
    PX_BUILTIN_VPRINTF,
    PX_BUILTIN_ASSERTFAIL,
    PX_BUILTIN_MALLOC,
    PX_BUILTIN_FREE,
    PX_BUILTIN_SET_CONDITIONAL,
};

struct px_op {
    enum px_code code;
    int form;                    // kn_form_find()
    const px_register *operands; // destinations, then sources
    uint8_t destinations, sources;
    px_register members; // PX_FORM_TOGETHER, or PX_NONE
    px_register guard;   // a predicate, or PX_NONE
    bool guard_not;
    bool uniform; // `.uni`
    bool waits;   // reads memory that other threads may change in order to be seen here: volatile,
                  // acquire and relaxed loads, atomics whose result is used
    bool sum;     // an atomic whose result depends on the order of blocks, but not what it leaves
    bool unread;  // an atomic whose result no operation reads
    bool joins;   // a product or sum without a rounding modifier: see join.h
    bool exchanges;  // the first two sources may be exchanged: see nan_order.h
    bool exchanged;  // they are
    bool parameter;  // reads a parameter of a function that was put into its caller
    bool selects;    // one of two .f32 values: see nan_signs.h
    bool strong;     // volatile, relaxed, acquire or release: no race with another one
    uint32_t target; // an index of ops
    const uint32_t *targets;
    uint32_t target_count;
    int64_t immediate;
    uint32_t line;     // of the PTX text
    uint32_t function; // whose text the line is in
};

// A texture or surface that a program uses: its handle is an argument, or it is a reference.
struct px_object_use {
    enum kn_object_kind kind;
    bool writes;
    uint32_t argument_B; // the offset in the block of arguments, or PX_NONE
    uint32_t variable;   // of the module, or PX_NONE
};
struct px_object_uses {
    const struct px_object_use *list;
    uint32_t count;
    bool other, other_writes; // objects whose handles come from memory
};

// A variable in shared memory whose size is known. The name lies in the module's text.
struct px_shared {
    const char *name;
    uint32_t length, at_B, size_B;
    const struct px_shared *next;
};

struct px_program {
    struct px_module *module;
    uint32_t function;
    const struct px_op *ops;
    uint32_t op_count;
    const struct px_register_info *registers;
    uint32_t register_count;
    // Whether lanes may meet at an operation: it is a branch's target or follows a branch.
    const bool *meets;
    const struct px_shared *shared;
    const uint32_t *shared_at; // by variable: the offset of a shared variable in the block's
                               // static shared memory; extern ones begin at static_shared_B
    const uint32_t *local_at;  // the same for local variables and call frames
    uint32_t static_shared_B, local_B;
    bool uses_barriers, waits, recurses;
    bool prints, allocates; // calls vprintf, or malloc or free
    bool reads_workspace;   // reads the registers that hold px_grid.workspace
    bool reads_grid_id;     // reads %gridid
    bool never_faults;      // accesses no memory but its registers and arguments
    bool has_stack;         // frames of functions follow local_B: px_grid.stack_B bytes for them
    // No result depends on the order of blocks: no atomic whose result is used, no atomic on
    // floats, no cas or exch, no volatile or acquire load, no printf, malloc or clock.
    bool order_free;
    struct px_object_uses objects;
    // Of decode.c, by the launch's enum px_decode_flag; NULL until the first such launch.
    struct px_decoded *decoded[4];
};

// The address of a function: its index + 1, so that no function is NULL.
static inline uint64_t px_function_address(uint32_t index)
{
    return (uint64_t)index + 1;
}

// Writes "byte 4 of buffer in shared memory" for an offset in a block's shared memory.
void px_shared_text(const struct px_program *program, uint64_t offset, char *out, size_t size_B);

void px_program_free(struct px_program *program);
