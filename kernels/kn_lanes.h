// SPDX-License-Identifier: MIT
// Operations over the 32 lanes of a warp: the interpreter of kernels runs a list of them.
//
//     struct kn_op ops[]          struct kn_warp                one register of 32 bits
//     ┌──────────────────┐        ┌─────────────┐              ┌──────┬──────┬───┬───────┐
//     │ run, d, a, b, c  │───────▶│ r ──────────┼─ + offset ──▶│lane 0│lane 1│ … │lane 31│
//     ├──────────────────┤        │ active      │              └──────┴──────┴───┴───────┘
//     │ …                │        │ partial     │              a predicate: one bit a lane
//     └──────────────────┘        └─────────────┘
//
// A form is one operation for one type, such as "add.s32". Its name is the PTX spelling, with
// shortenings that KN_FORM names in its own row. Every instruction set has the same forms at the
// same indices, and gives the same bits.
//
// Registers. A predicate is a uint32_t, bit i for lane i. Other registers are arrays of 32 elements
// of 16, 32, 64 or 128 bits. A value of 8 bits lives in a register of 16 bits, whose upper bits
// forms for 8-bit types ignore when they read it. Every register begins at a multiple of 64 bytes,
// so that whole vectors can be loaded; predicates begin at a multiple of 4.
//
// Constants are registers too: whoever prepares the warp fills them in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { KN_LANES = 32, KN_ROW_LEAST = 8 };

struct kn_op;
struct kn_warp;

// Runs one operation. Returns the operation that runs next, or NULL if the warp has to stop:
// kn_warp.stop says why.
typedef const struct kn_op *kn_lane_fn(const struct kn_op *op, struct kn_warp *w);

struct kn_op {
    kn_lane_fn *run[2]; // by kn_warp.partial: for 32 active lanes without a guard, and for others
    uint32_t d;         // offsets of registers: the first destination,
    uint32_t a, b, c;   // and the first three sources
    // The lanes that take part are active & (predicate at `guard` ^ guard_flip). Without a guard,
    // guard_flip is ~0 and the predicate is one that is always 0.
    uint32_t guard, guard_flip;
    uint32_t line;        // of the PTX text
    uint32_t count;       // of the operands with '*' (kn_form.operands)
    const uint32_t *more; // the other destinations, then the other sources; or NULL
    union {
        int64_t i; // an immediate: an offset, a count, a table of bits …
        uint64_t u;
        const void *p;
        const struct kn_op *to; // a branch's target
    };
};

// Why a warp stops. The values from KN_STOP_OTHER on belong to the caller's own operations.
enum kn_stop {
    KN_STOP_FAULT, // kn_warp.fault describes it
    KN_STOP_OTHER,
};

enum kn_fault_kind {
    KN_FAULT_ADDRESS,    // outside of its space
    KN_FAULT_MISALIGNED, // not a multiple of the access's size
    KN_FAULT_TEXTURE,    // `address` is not the handle of a texture
    KN_FAULT_SURFACE,    // `address` is not the handle of a surface
    KN_FAULT_OUTSIDE,    // outside of the surface whose handle is `address`: see `at`
};

enum kn_fault_space { KN_FAULT_GENERIC, KN_FAULT_SHARED, KN_FAULT_LOCAL, KN_FAULT_PARAM };

struct kn_fault {
    enum kn_fault_kind kind;
    enum kn_fault_space space; // of the operation; `address` is an offset in it
    uint32_t lanes;            // all that fault
    uint64_t address;          // of the lowest of them, as the program computed it
    uint32_t size_B;
    bool write;
    int32_t at[4]; // KN_FAULT_OUTSIDE: x, y, z and layer, as the program gave them
};

// Textures and surfaces.
enum kn_object_kind { KN_OBJECT_TEXTURE, KN_OBJECT_SURFACE };

// Finds the objects of handles, for one thread at a time. Objects that were found stay valid until
// the grid ends.
enum { KN_OBJECTS_RECENT = 8 };
struct kn_objects {
    // Returns a struct kn_texture (kn_sample.h) or a struct kn_image (kn_surface.h), or NULL if the
    // handle is not that of such an object.
    const void *(*find)(const struct kn_objects *objects, enum kn_object_kind kind,
                        uint64_t handle);
    void *owner; // for `find`
    struct {
        uint64_t handle;
        enum kn_object_kind kind;
        const void *object; // NULL: free
    } recent[KN_OBJECTS_RECENT];
};

// The most bytes of a read that may begin in shared memory and end after it.
enum { KN_SHARED_ROOM_B = 16 };

// What memory operations need. One for each block, except `local`.
struct kn_memory {
    char *shared; // the block's shared memory, readable up to a multiple of KN_SHARED_ROOM_B
    uint32_t shared_B;
    const char *parameters; // the launch's block of arguments
    uint32_t parameters_B;
    // Generic addresses: these windows of 2^32 bytes are shared and local memory. All other
    // addresses are global; those in [device_first, device_end) are accessed at once, and for
    // others `foreign` decides.
    uint64_t shared_window, local_window;
    uint64_t device_first, device_end;
    // Returns whether kernels may access size_B bytes of memory outside the device's range.
    bool (*foreign)(const struct kn_memory *memory, uint64_t address, uint32_t size_B, bool write);
    void *owner; // for `foreign`
    // Called for each access of an operation whose lanes access ranges (kn_range), at a generic
    // address that is valid; or NULL. Returns false if the warp has to stop: kn_warp.stop says why.
    bool (*watch)(struct kn_warp *w, const struct kn_op *op, int lane, uint64_t address,
                  uint32_t size_B, bool write);
    struct kn_objects *objects; // NULL: there are no textures and surfaces
    uint64_t *phases;           // counts completed phases of mbarrier objects; or NULL
};

struct kn_warp {
    char *r; // the registers
    uint32_t active;
    uint32_t partial; // 0 if all 32 lanes are active, else 1: the index of kn_op.run
    uint32_t row;     // 32, 16 or 8: so many lanes are neighbours in x, from each multiple on; or 0
    // The same as `active`, 0 or -1 a lane. Changed by kn_warp_activate only; `spread` are the
    // lanes that it has now.
    _Alignas(64) int32_t active_lanes[KN_LANES];
    _Alignas(64) int32_t guard_lanes[KN_LANES]; // scratch of kn_lanes_of
    const struct kn_op *at; // set by each operation that accesses memory or stops
    enum kn_stop stop;
    struct kn_fault fault;
    const struct kn_memory *memory;
    char *local;      // of the warp: byte n of lane i is at local + i * local_B + n
    uint32_t local_B; // of each lane
    uint32_t lanes;   // that exist and have not ended
    uint32_t spread;
    _Alignas(64) uint64_t addresses[KN_LANES]; // scratch of operations that access memory
};

// A row of the table of forms.
struct kn_form {
    const char *name;
    // A letter for each operand: the destinations, '=', the sources. p: a predicate, h: 16 bits,
    // w: 32, l: 64, x: 128. A '*' after a letter: kn_op.count of them, from 1 to 8. 'i': the
    // immediate kn_op.i, which is no register.
    const char *operands;
    kn_lane_fn *run[2]; // as kn_op.run
};

// The forms for the instruction sets in use, `*count` of them. Does not change after the first
// call, except by kn_set_cpu_mask.
const struct kn_form *kn_forms(unsigned *count);
// The forms for exactly these flags, for tests.
const struct kn_form *kn_forms_for(unsigned flags, unsigned *count);
// The index of a form, or -1. Costs a search in a hash table.
int kn_form_find(const char *name);

// Makes `lanes` the active lanes of a warp.
void kn_warp_activate(struct kn_warp *w, uint32_t lanes);

// Runs operations from `op` on until the warp stops.
void kn_warp_run(struct kn_warp *w, const struct kn_op *op);
