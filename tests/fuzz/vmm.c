// SPDX-License-Identifier: MIT
// Fuzzes virtual memory management: physical memory that is mapped, mapped again elsewhere,
// protected, unmapped and released, in one reservation. A model keeps which memory is at each
// granule, and one word for each granule of memory, which all its mappings share.
#include "fuzz.h"

enum { GRANULE_B = 2 << 20, GRANULES = 16, MEMORIES = 4, MOST_SIZE = 3, STEPS = 48 };

struct memory {
    CUmemGenericAllocationHandle handle;
    bool alive; // its handle
    unsigned size;
    unsigned word[MOST_SIZE];
};

// The mapping of a granule.
struct place {
    struct memory *memory; // or NULL
    unsigned part;         // granule of the memory; the mapping begins `part` granules before
    unsigned access;
};

struct model {
    CUdeviceptr base;
    struct memory memories[MEMORIES];
    struct place places[GRANULES];
};

static bool starts_mapping(const struct model *m, unsigned at)
{
    return m->places[at].memory && !m->places[at].part;
}

static bool ends_mapping(const struct model *m, unsigned last)
{
    const struct place *p = &m->places[last];
    return p->memory && p->part == p->memory->size - 1;
}

static bool is_free(const struct model *m, unsigned at, unsigned count)
{
    for (unsigned i = at; i < at + count; i++) {
        if (m->places[i].memory)
            return false;
    }
    return true;
}

// Whether [at, at + count) contains whole mappings only.
static bool is_whole(const struct model *m, unsigned at, unsigned count)
{
    const struct place *first = &m->places[at], *last = &m->places[at + count - 1];
    return (!first->memory || starts_mapping(m, at)) &&
           (!last->memory || ends_mapping(m, at + count - 1));
}

static bool is_full(const struct model *m, unsigned at, unsigned count)
{
    for (unsigned i = at; i < at + count; i++) {
        if (!m->places[i].memory)
            return false;
    }
    return true;
}

static bool is_mapped(const struct model *m, const struct memory *memory)
{
    for (unsigned i = 0; i < GRANULES; i++) {
        if (m->places[i].memory == memory)
            return true;
    }
    return false;
}

// ---- calls ----

static void create(struct fuzz_input *in, struct model *m)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    struct memory *memory = &m->memories[fuzz_below(in, MEMORIES)];
    if (memory->alive || is_mapped(m, memory))
        return;
    unsigned size = 1 + fuzz_below(in, MOST_SIZE);
    uint64_t size_B = (uint64_t)size * GRANULE_B;
    if (fuzz_chance(in, 8)) {
        CUmemGenericAllocationHandle handle;
        CUresult r = cuMemCreate(&handle, size_B + 4096, &prop, 0);
        FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "a size of %llu: %d",
                   (unsigned long long)size_B + 4096, (int)r);
        return;
    }
    *memory = (struct memory){.alive = true, .size = size};
    FUZZ_OK(cuMemCreate(&memory->handle, size_B, &prop, 0));
}

static void release(struct fuzz_input *in, struct model *m)
{
    struct memory *memory = &m->memories[fuzz_below(in, MEMORIES)];
    if (!memory->handle)
        return;
    // A handle stays valid for as long as it is mapped, but releasing it again is a mistake that
    // the manual does not define.
    if (!memory->alive && is_mapped(m, memory))
        return;
    CUresult r = cuMemRelease(memory->handle);
    FUZZ_CHECK(!r == memory->alive, "cuMemRelease: %d", (int)r);
    memory->alive = false;
}

static void map(struct fuzz_input *in, struct model *m)
{
    struct memory *memory = &m->memories[fuzz_below(in, MEMORIES)];
    unsigned at = fuzz_below(in, GRANULES), size = memory->size, offset = 0;
    if (!memory->handle || (!memory->alive && is_mapped(m, memory)))
        return;
    if (fuzz_chance(in, 8))
        size = 1 + fuzz_below(in, MOST_SIZE);
    if (fuzz_chance(in, 8))
        offset = fuzz_below(in, 2) * GRANULE_B;
    bool fits = memory->alive && !offset && size == memory->size && at + size <= GRANULES &&
                is_free(m, at, size);
    CUresult r = cuMemMap(m->base + (uint64_t)at * GRANULE_B, (size_t)size * GRANULE_B, offset,
                          memory->handle, 0);
    FUZZ_CHECK(!r == fits, "cuMemMap of %u granules at %u, offset %u: %d", size, at, offset,
               (int)r);
    for (unsigned i = 0; !r && i < size; i++)
        m->places[at + i] = (struct place){.memory = memory, .part = i};
}

// A range of granules; mostly that of a mapping, if there is one.
static unsigned range(struct fuzz_input *in, const struct model *m, unsigned *at)
{
    *at = fuzz_below(in, GRANULES);
    if (!fuzz_chance(in, 4)) {
        for (unsigned i = 0; i < GRANULES && !m->places[*at].memory; i++)
            *at = (*at + 1) % GRANULES;
        const struct place *p = &m->places[*at];
        if (p->memory) {
            *at -= p->part;
            return p->memory->size;
        }
    }
    unsigned rest = GRANULES - *at;
    return 1 + fuzz_below(in, rest < 4 ? rest : 4);
}

static void unmap(struct fuzz_input *in, struct model *m)
{
    unsigned at, count = range(in, m, &at);
    bool fits = is_whole(m, at, count);
    CUresult r = cuMemUnmap(m->base + (uint64_t)at * GRANULE_B, (size_t)count * GRANULE_B);
    FUZZ_CHECK(!r == fits, "cuMemUnmap of %u granules at %u: %d", count, at, (int)r);
    for (unsigned i = 0; !r && i < count; i++)
        m->places[at + i] = (struct place){.memory = NULL};
}

static void protect(struct fuzz_input *in, struct model *m)
{
    static const unsigned flags[] = {CU_MEM_ACCESS_FLAGS_PROT_NONE, CU_MEM_ACCESS_FLAGS_PROT_READ,
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned at, count = range(in, m, &at);
    CUmemAccessDesc desc = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                            .flags = (CUmemAccess_flags)flags[fuzz_below(in, 4)]};
    bool fits = is_whole(m, at, count) && is_full(m, at, count);
    CUresult r =
        cuMemSetAccess(m->base + (uint64_t)at * GRANULE_B, (size_t)count * GRANULE_B, &desc, 1);
    FUZZ_CHECK(!r == fits, "cuMemSetAccess of %u granules at %u: %d", count, at, (int)r);
    for (unsigned i = 0; !r && i < count; i++)
        m->places[at + i].access = desc.flags;
}

// Writes or reads the word of a granule. Returns whether the context still works.
static bool access_word(struct fuzz_input *in, struct model *m, bool write)
{
    unsigned at, value = (unsigned)fuzz_take(in, 2), got = ~value;
    range(in, m, &at);
    struct place *p = &m->places[at];
    CUdeviceptr address = m->base + (uint64_t)at * GRANULE_B + 4096;
    const unsigned need =
        write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    bool allowed = p->memory && (p->access & need) == need;
    CUresult r = write ? cuMemcpyHtoD(address, &value, sizeof value)
                       : cuMemcpyDtoH(&got, address, sizeof got);
    FUZZ_CHECK(!r == allowed, "%s granule %u with access %u: %d", write ? "writing" : "reading", at,
               p->access, (int)r);
    if (!r && write)
        p->memory->word[p->part] = value;
    if (!r && !write)
        FUZZ_CHECK(got == p->memory->word[p->part], "granule %u has %#x, expected %#x", at, got,
                   p->memory->word[p->part]);
    return !fuzz_is_sticky(cuCtxSynchronize());
}

static bool step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 12)) {
    case 0:
    case 1:
        create(in, m);
        return true;
    case 2:
        release(in, m);
        return true;
    case 3:
    case 4:
        map(in, m);
        return true;
    case 5:
        unmap(in, m);
        return true;
    case 6:
    case 7:
    case 8:
        protect(in, m);
        return true;
    default:
        return access_word(in, m, fuzz_chance(in, 2));
    }
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t whole_B = (size_t)GRANULES * GRANULE_B;
    struct fuzz_input in = {data, data + size};
    struct model m;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    FUZZ_OK(cuMemAddressReserve(&m.base, whole_B, 0, 0, 0));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++) {
        if (!step(&in, &m))
            break;
    }
    bool empty = is_free(&m, 0, GRANULES);
    CUresult r = cuMemAddressFree(m.base, whole_B);
    FUZZ_CHECK(!r == empty, "cuMemAddressFree: %d", (int)r);
    if (!empty) {
        FUZZ_OK(cuMemUnmap(m.base, whole_B));
        FUZZ_OK(cuMemAddressFree(m.base, whole_B));
    }
    for (unsigned i = 0; i < MEMORIES; i++) {
        if (m.memories[i].alive)
            FUZZ_OK(cuMemRelease(m.memories[i].handle));
    }
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
