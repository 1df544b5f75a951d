// SPDX-License-Identifier: MIT
// The history of memory for the ordering checker: which commands accessed which bytes last.
//
// For each byte it keeps the last write, and the last read of each stream since then. A write
// replaces all older accesses, because whatever is ordered after it is ordered after them too. A
// read replaces those of its own stream alone, so that it need not be compared with the reads of
// others, however many there are. So a range of memory costs as many records as streams use it,
// however long the program runs.
//
// Everything here: precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "order_point.h"

struct em_entry;

// The bytes of an access.
struct em_footprint {
    uint64_t first, end; // from the first byte to the one after the last; for a box: of the storage
    enum { EM_SPAN, EM_ROWS, EM_BOX } kind;
    union {
        struct {
            uint64_t row_B, pitch_B; // EM_ROWS: of each pitch_B bytes the first row_B ones
        };
        struct { // EM_BOX: of an array
            const void *storage;
            uint32_t level;
            struct dm_position at;
            struct dm_box_extent extent;
        };
    };
};

// Who accesses memory, and when.
struct em_order_who {
    uint64_t key, sequence;         // its component and its epoch there
    struct em_order_launch *launch; // of a step, else NULL; the history keeps a reference
    uint32_t step;                  // 1 + its number
    bool ordered;                   // in the legacy stream or a blocking one
    uint8_t act;                    // enum em_order_act
    uint8_t stream_kind;            // enum em_stream_kind
    uint32_t stream_number;         // of a created stream
    const char *name;               // of the command: "memcpy"
    uint64_t call;                  // that submitted it
    const struct em_entry *entry;
    struct em_order_near *near; // of its stream, or NULL. The history keeps no copy
};

struct em_order_record {
    // Of order_history.c. A search reads them and the ends of `bytes`, so they come together.
    struct em_order_record *left, *right;
    uint64_t furthest; // the highest `end` in this subtree
    uint32_t rank;
    struct em_footprint bytes;
    struct em_order_who who;
    struct em_order_record *next_hit; // of order_history.c
    struct em_order_record **holder;  // a member of em_order_near that points to this, or NULL
    bool alone;                       // a write, and no other record has bytes of it
};

// Whether the two have a byte in common. If so, *first and *end are the range in which it lies.
bool em_footprints_meet(const struct em_footprint *a, const struct em_footprint *b, uint64_t *first,
                        uint64_t *end);

// Whether the two have all bytes in common.
bool em_footprints_are_same(const struct em_footprint *a, const struct em_footprint *b);

// Whether `older` is ordered before the new access. If not, and `conflict` is set, it is reported.
typedef bool em_order_judge(const struct em_order_record *older, const struct em_footprint *bytes,
                            const struct em_order_who *who, bool conflict, void *argument);
// Compares a new access with those of the history, and adds it. A read costs as many calls of
// `judge` as there are writes of its bytes, apart from a constant. Returns false if the host runs
// out of memory; the history then lacks the access.
bool em_history_add(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument);
// The same for an access after which the history of the bytes no longer matters.
void em_history_end(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument);
// Forgets all accesses to [first, end).
void em_history_forget(uint64_t first, uint64_t end);
// To be called before the struct ends.
void em_history_forget_near(struct em_order_near *near);
// Forgets all records that `drop` chooses.
void em_history_sweep(bool (*drop)(const struct em_order_record *, void *argument), void *argument);
uint64_t em_history_count(void);
