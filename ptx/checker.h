// SPDX-License-Identifier: MIT
// The checker of one block's memory accesses.
#pragma once
#include "block.h"
#include "check.h"

enum { PX_RANGES = 8, PX_SAID = 16 };

struct px_race;

struct px_checker {
    const struct px_checks *checks;
    struct px_block *block;
    struct px_range ranges[PX_RANGES]; // found last
    uint32_t range_count;              // that were ever found
    uint8_t *written;                  // of shared memory, a bit for each byte; NULL: not checked
    uint32_t written_B;                // of `written`
    struct px_race *race;              // NULL: not checked
    struct {
        enum px_finding_kind kind;
        unsigned lines[2];
    } said[PX_SAID]; // found last
    uint32_t said_count;
};

// One operation that accesses memory, for its lanes.
struct px_access {
    const struct kn_op *op; // the form
    uint32_t size_B;        // of each lane
    uint32_t value_B;       // of one value of a vector
    uint32_t register_B;    // of one lane of the register that is stored; 0 for atomics
    bool read, write;
    bool strong; // an atomic, or volatile, relaxed …: two of these are no race
};

// Returns the checker of a block, or NULL if host memory is short.
struct px_checker *px_checker_new(struct px_block *block);
void px_checker_free(struct px_checker *checker);
// The block starts.
void px_checker_start(struct px_checker *checker);
// Reports a mistake, unless it was reported lately.
void px_checker_say(struct px_checker *checker, struct px_finding *finding);
// Fills in one side of a finding.
void px_party_set(struct px_party *party, const struct px_block *block, uint32_t thread,
                  unsigned line, bool write, bool atomic);

// Global memory: checks one lane's access. Returns false if it is outside of all allocations.
bool px_check_global(struct px_checker *checker, const struct px_warp *warp,
                     const struct px_access *access, int lane, uint64_t address);
// Shared memory, at an offset that is inside.
void px_check_shared(struct px_checker *checker, const struct px_warp *warp,
                     const struct px_access *access, int lane, uint32_t offset);

// kn_memory.watch, for operations without px_op_access.
bool px_checker_watch(struct kn_warp *w, const struct kn_op *op, int lane, uint64_t address,
                      uint32_t size_B, bool write);

// kn_op.c of px_op_access.
enum { PX_FLAG_READ = 1, PX_FLAG_WRITE = 2, PX_FLAG_STRONG = 4 };
// The operations before accesses, after operations that lanes execute together, and before fences
// and operations of barriers in memory.
kn_lane_fn px_op_access, px_op_members, px_op_fence, px_op_passed;
