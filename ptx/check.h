// SPDX-License-Identifier: MIT
// Checks of memory accesses, for programs whose mistakes a card would not show. If a grid has them,
// an operation before each access hands its addresses to the checker:
//
//     kn_op                 px_op_access: is the memory there, was it written, is there a race?
//     kn_op                 ld.global.32:32
//
// Programs are decoded without these operations if there are no checks, which then cost nothing.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum px_finding_kind {
    PX_FOUND_UNWRITTEN,        // a read of global memory that nothing has written
    PX_FOUND_UNWRITTEN_SHARED, // a read of shared memory that the block has not written
    PX_FOUND_RACE,             // in shared memory, with an older access
};

struct px_party {
    unsigned line; // of the PTX text
    uint32_t block[3], thread[3];
    bool write, atomic;
};

// A mistake that does not end the grid.
struct px_finding {
    enum px_finding_kind kind;
    uint32_t block[3];         // whose memory it is
    struct px_party by, older; // `older`: PX_FOUND_RACE
    uint64_t address;          // of the first byte concerned; an offset in shared memory
    uint32_t size_B;           // of the access
};

// Whether two findings are the same mistake: for a race, the same two lines.
static inline bool px_finding_same(enum px_finding_kind kind, const unsigned lines[2],
                                   const struct px_finding *f)
{
    return kind == f->kind && ((lines[0] == f->by.line && lines[1] == f->older.line) ||
                               (lines[1] == f->by.line && lines[0] == f->older.line));
}

// Memory that kernels may access.
struct px_range {
    uint64_t first, end;
    uint8_t *written; // a bit for each byte from `first` on; NULL: all bytes count as written
};

struct px_checks {
    bool memory;   // accesses outside allocations, and reads of bytes that nothing has written
    bool race;     // accesses to shared memory that nothing orders
    void *context; // for the functions below
    // Finds the memory that contains [address, address + size_B). Returns false if that is not in
    // one live allocation. The range stays valid until px_run returns.
    bool (*find)(void *context, uint64_t address, uint32_t size_B, struct px_range *out);
    // Called for each mistake that does not end the grid; most repetitions are left out.
    void (*found)(void *context, const struct px_finding *finding);
};
