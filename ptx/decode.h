// SPDX-License-Identifier: MIT
// Decoded programs: a program's operations as the lanes of a warp run them, and the layout of the
// registers of a warp.
#pragma once
#include "kn_lanes.h"
#include "program.h"

// The registers that are filled in at one time.
struct px_fills {
    const px_register *registers;
    uint32_t count;
};

// A register of 32 bits that is filled in for each warp: the index of each thread in its block, or
// in the grid.
struct px_index {
    uint32_t at;     // its offset in the register file
    uint32_t thread; // enum px_special: %tid.x, %tid.y or %tid.z; or %warpid
    uint32_t block;  // plus %ctaid.x, %ctaid.y or %ctaid.z; or PX_NONE
    uint32_t factor; // times this,
    uint32_t extent; // or %ntid.x, %ntid.y or %ntid.z; or PX_NONE
};

// The most of them: four special registers, and others.
enum { PX_INDICES_SPECIAL = 4, PX_INDICES_MOST = 12 };

struct px_abreast;

struct px_decoded {
    const struct px_program *program;
    uint64_t number;   // differs from that of every other one of the process, also after its end
    struct kn_op *ops; // ends with the end of the kernel
    uint32_t op_count;
    kn_lane_fn **met;  // by operation of ops: what px_op_meet_first runs for some lanes
    uint32_t *at;      // by operation of the program: the first one of ops for it
    uint32_t *offsets; // by register: in the register file, where temporary ones share places
    uint32_t file_B;   // of a register file, a multiple of 64
    // Registers that are filled in once for a launch or a block. Those of a block are special
    // registers.
    struct px_fills launch, block;
    uint32_t changing; // the first ones of `launch`: those that differ between launches
    // Those that must be cleared before another launch uses the register file (unwritten.h).
    struct px_fills unwritten;
    bool clears_all;                          // or the whole file, instead of the list
    struct px_abreast *abreast;               // abreast.h; or NULL
    struct px_index indices[PX_INDICES_MOST]; // that are filled in for a warp
    uint32_t index_count;
    struct px_fills ranks; // of `launch`, those with addresses in the block's own shared memory
};

enum px_decode_flag {
    PX_DECODE_CHECKED = 1, // with the operations of checker.h
    PX_DECODE_STEPPED = 2, // with the operations of stepping.h, and without px_layout_copies
};

// Returns the decoded form of a program, which is made by the first call with these flags (enum
// px_decode_flag) and lives as long as the program; or NULL if host memory is short. Thread-safe.
const struct px_decoded *px_decode(const struct px_program *program, unsigned flags);
// Bytes of a register of a warp, by its letter (px_register_info).
uint32_t px_register_size(char letter);
// Lists the registers that are filled in, in memory for twice the registers of the program. Adds
// indices in blocks to decoded->indices. `unread` says by register which ones need not be filled
// in, or is NULL. Returns the end of the list.
px_register *px_fills_list(struct px_decoded *decoded, const bool *unread, px_register *list);
void px_decoded_free(struct px_decoded *decoded);
