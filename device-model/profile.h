// SPDX-License-Identifier: MIT
// Device profiles: the properties of a card, as numbers. They are text files (data/devices/),
// either compiled in or supplied by the user.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum dm_attribute {
#define DM_ATTRIBUTE(number, name) DM_ATTRIBUTE_##name = number,
#include "attributes.def"
#undef DM_ATTRIBUTE
    DM_ATTRIBUTE_END // one more than the last; there is no attribute 0
};

// X(name), in the order of the driver API's limits, from 0.
#define DM_LIMITS(X)                                                                               \
    X(stack_size)                                                                                  \
    X(printf_fifo_size)                                                                            \
    X(malloc_heap_size)                                                                            \
    X(dev_runtime_sync_depth)                                                                      \
    X(dev_runtime_pending_launch_count)                                                            \
    X(max_l2_fetch_granularity)                                                                    \
    X(persisting_l2_cache_size)                                                                    \
    X(shmem_size)                                                                                  \
    X(cig_enabled)                                                                                 \
    X(cig_shmem_fallback_enabled)

enum dm_limit_id {
#define X(name) DM_LIMIT_##name,
    DM_LIMITS(X)
#undef X
        DM_LIMIT_COUNT
};

// A requested value is raised to the minimum, rounded up to the granule, and compared with the
// maximum.
struct dm_limit {
    uint64_t initial, minimum, granule, maximum;
};

enum { DM_NAME_SIZE = 128 };

// A device has at least one granule of memory. The maximum is several times the memory of the
// largest card, and eight such devices still fit into the driver's addresses.
#define DM_TOTAL_MEMORY_MIN_B (UINT64_C(2) << 20)
#define DM_TOTAL_MEMORY_MAX_B (UINT64_C(1) << 40)

struct dm_device_profile {
    char id[32];             // the profile's file name without .dev
    char name[DM_NAME_SIZE]; // the driver's name for the card
    uint64_t total_memory;   // bytes
    int priority_least, priority_greatest;
    struct dm_limit limit[DM_LIMIT_COUNT];
    int attribute[DM_ATTRIBUTE_END];
};

// The compiled-in profiles, made by tools/gen/device_profiles.py. They end with one without an id.
// Some have no name: they are complete only as the base of another one.
extern const struct dm_device_profile dm_device_profiles[];

// Finds a compiled-in profile. Returns 0; -ENOENT if no profile has this id; -EINVAL and a message
// in `error` if it is not complete, and *out is then undefined.
int dm_device_find(const char *id, struct dm_device_profile *out, char *error, size_t error_size);

// Reads a profile: lines of `key = value`; `#` begins a comment. `base = ID` copies all values of a
// compiled-in profile and must be the first line. Returns 0, or -EINVAL and a message in `error`
// that names the line or the missing key; *out is then undefined.
int dm_device_parse(const char *id, const char *text, size_t size, struct dm_device_profile *out,
                    char *error, size_t error_size);

const char *dm_limit_name(int limit); // NULL if there is no such limit
