// SPDX-License-Identifier: MIT
// Records the memory that the arguments of a call lead to.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "describe.h"
#include "record_write.h"

struct em_entry;

// A call whose arguments are followed: before it, or when it returns.
struct em_record_blobs {
    const struct em_entry *entry;
    const uint64_t *values;
    bool returns;
    CUresult result;
    struct em_record_large { // memory that is too large for the record of its call
        unsigned count;
        struct {
            uint64_t address, size_B;
        } of[16];
    } large;
};
enum { EM_RECORD_LARGE_MOST = 16 };

// Adds the memory that the arguments lead to. Returns false if the record has no space for some of
// it.
bool em_record_add_blobs(struct em_record *record, struct em_record_blobs *blobs);
// Writes a blob but for its address: memory that may be read. Returns the place after it.
uint8_t *em_record_blob(uint8_t *at, const void *bytes, size_t size);

// Whether an argument is recorded before the call, or when it returns.
static inline bool em_record_is_wanted(const cardlessMember *m, bool returns, CUresult result)
{
    const unsigned flags = m->flags;
    if (returns)
        return (flags & (result ? CARDLESS_MEMBER_ALWAYS : CARDLESS_MEMBER_OUTPUT)) != 0;
    return !(flags & CARDLESS_MEMBER_OUTPUT) || flags & CARDLESS_MEMBER_INPUT;
}
