// SPDX-License-Identifier: MIT
// The model of the fuzz target `pool`, for its files.
#pragma once
#include "fuzz.h"

enum { POOLS = 5, ALLOCATIONS = 8, STEPS = 48, BLOCK_B = 32 << 20, SMALL_MOST_B = 70000 };

// The locations with pools of pinned memory: the device, the host, and its NUMA node.
enum place { DEVICE, HOST, NUMA, PLACES, NOWHERE };

struct pool {
    CUmemoryPool handle; // or NULL
    unsigned made;       // a number that no other pool of the input has
    CUmemPoolProps props;
    enum place place;
    unsigned imported; // `made` of the exported pool, or 0
    bool exported;
    int reuse[3];
    cuuint64_t threshold, used_B, used_high_B;
};

struct allocation {
    CUdeviceptr address; // or 0
    uint64_t size_B;
    unsigned pool; // `made`
    unsigned word; // its number in `words`
    unsigned shared_by;
    bool imported, has_data;
    CUmemPoolPtrExportData data;
};

struct model {
    struct pool pools[POOLS];
    struct allocation allocations[ALLOCATIONS];
    uint32_t words[STEPS + 1];
    unsigned word_count, made;
    unsigned current[PLACES]; // `made`, or 0: the default pool
    CUstream stream;
};

// Any error; the manual does not say which.
#define REFUSED ((CUresult)-1)

// ---- rules (pool_rules.c)

bool pl_is_expected(CUresult r, CUresult expected);
enum place pl_place_of(const CUmemLocation *l);
CUresult pl_judge_props(const CUmemPoolProps *p);
uint64_t pl_capacity_B(const struct pool *p);
CUresult pl_judge_access(const struct pool *p, const CUmemAccessDesc *d);

// ---- pools (pool.c)

struct pool *pl_any_pool(struct fuzz_input *in, struct model *m);
struct pool *pl_pool_made(struct model *m, unsigned made);
void pl_free_imports(struct model *m, const struct pool *p);
void pl_destroy(struct model *m, struct pool *p);
void pl_write_word(struct model *m, const struct allocation *a, uint32_t value);
void pl_check_word(struct model *m, const struct allocation *a);
bool pl_is_reachable(struct model *m, const struct allocation *a);

// ---- sharing, and multicast objects (pool_share.c)

void pl_import_wrong(struct fuzz_input *in);
void pl_share(struct fuzz_input *in, struct model *m);
void pl_export_pointer(struct fuzz_input *in, struct model *m);
void pl_import_pointer(struct fuzz_input *in, struct model *m);
void pl_multicast(struct fuzz_input *in);
