// SPDX-License-Identifier: MIT
// FNV-1a, for check sums that detect damage and files of other programs. It does not protect
// against intent.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define DM_HASH_START UINT64_C(0xcbf29ce484222325)

// Adds one unit: a byte, or a word if speed matters more than distribution.
static inline uint64_t dm_hash_unit(uint64_t hash, uint64_t unit)
{
    return (hash ^ unit) * UINT64_C(0x100000001b3);
}

static inline uint64_t dm_hash(uint64_t hash, const void *data, size_t size_B)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < size_B; i++)
        hash = dm_hash_unit(hash, p[i]);
    return hash;
}

static inline uint32_t dm_hash_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}
