// SPDX-License-Identifier: MIT
// The model of the fuzz target `sparse`, for its files.
#pragma once
#include "fuzz.h"

enum {
    PAGE_B = 64 << 10,
    MEMORIES = 3,
    MEMORY_PAGES = 32,
    PAGES = MEMORIES * MEMORY_PAGES,
    ARRAYS = 4,
    LEVELS_MOST = 12,
    LIST_MOST = 3,
    BOX_MOST_B = 1 << 14,
    STEPS = 40,
    SPOTS = 6,
    ABSENT = -1,
};

// 64 KiB of memory. Owner: the part whose texels are there in an order of its own, or 0 if they are
// those of a tile.
struct page {
    bool used;
    unsigned owner;
    uint8_t bytes[PAGE_B], known[PAGE_B];
};

extern struct page sp_pages[PAGES];

struct memory {
    CUmemGenericAllocationHandle handle;
    bool alive;
};

struct level {
    unsigned width, height, depth, tiles[3];
    unsigned first; // its first slot
};

// A mip tail, or an array with deferred mapping: the texels of its levels, and the memory in which
// the model knows them.
struct part {
    unsigned id, page_count;
    int *page; // or ABSENT
    uint8_t *bytes, *known;
};

struct array {
    CUarray plain;
    CUmipmappedArray mip;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned texel_B, count, layers;
    const unsigned *tile;
    struct level levels[LEVELS_MOST];
    unsigned tail_first; // level
    uint64_t tail_B;
    int *slot; // the page of each tile outside of the tails, or ABSENT
    unsigned part_count;
    struct part *parts;
};

// A place that was mapped lately: copies mostly begin there, so that they meet.
struct spot {
    const struct array *array;
    unsigned level, x, y, z;
};

struct model {
    bool deep; // 3D
    unsigned log2_texel_B, tile[3], part_id;
    struct memory memories[MEMORIES];
    CUmemGenericAllocationHandle plain; // without CU_MEM_CREATE_USAGE_TILE_POOL
    struct array arrays[ARRAYS];
    CUstream stream;
    struct spot spots[SPOTS];
    unsigned spot_count; // the last ones are kept
};

// The texels of a place: bytes that are known, bytes that are not (NULL), or no memory.
struct place {
    bool mapped;
    uint8_t *bytes, *known;
};

// Whether the model knows the texels in a part's memory.
enum content { NO_MEMORY, UNKNOWN, OWN };

// ---- arrays and texels (sparse_model.c)

bool sp_as_driver(void);
bool sp_is_sparse(const struct array *a);
bool sp_is_deferred(const struct array *a);
bool sp_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d);
uint64_t sp_up(uint64_t value, uint64_t step);
uint64_t sp_chain_B(const struct array *a, unsigned first, bool all);
unsigned sp_clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels);
void sp_lay_out(struct model *m, struct array *a);
void sp_end(struct array *a);
void sp_forget(struct part *p, const struct array *a);
int *sp_slot_of(const struct array *a, unsigned n, unsigned layer, const unsigned tile[3]);
void sp_count_mapped(const struct part *p, bool *any, bool *all, bool *own);
enum content sp_content_of(const struct part *p);
struct part *sp_part_of(const struct array *a, unsigned z);
struct place sp_place_in_part(const struct array *a, enum content content, unsigned n, unsigned x,
                              unsigned y, unsigned z);
void sp_own_part(const struct array *a, struct part *p);
struct place sp_place_in_tile(const struct model *m, const struct array *a, unsigned n, unsigned x,
                              unsigned y, unsigned z, bool write);
CUresult sp_level_of(const struct array *a, unsigned n, CUarray *out);
struct array *sp_any_array(struct fuzz_input *in, struct model *m);

// ---- mapping (sparse_map.c)

void sp_map(struct fuzz_input *in, struct model *m);
void sp_map_nothing(const struct model *m);
